"""Lines and perfdata of the plugin as drives of a fleet: one line, one table row."""

import pytest
from cases import case
from shipped import DATABASE
from test_plugin_lines import recorded, simulated  # noqa: F401  fixtures

from smart_attributes.errors import Coded
from smart_attributes.fleet import plugin_output
from smart_attributes.fleet.drives import ENDURANCE, Origin, check_row, dated
from smart_attributes.model import Device, Identity, Replacement, State, Verdict
from smart_attributes.output import plugin
from smart_attributes.output.codes import BY_NAME
from smart_attributes.output.plugin import Line
from smart_attributes.redundancy.replacement import OF_CODE
from smart_attributes.work import actions

pytestmark = pytest.mark.xdist_group('lines')  # the fixtures of another file

OK, WARNING, CRITICAL, UNKNOWN = State
NOW = 1_700_000_000
DAY = 86400
METRICS = DATABASE.metrics
FINDING = 'endurance_used 97 %, critical above 95'
REPLACE = '[replace] replace it now'
WORN = Line(CRITICAL, 'sda', 'ACME X1', f'{FINDING}; {REPLACE}', 'EXAMPLE1', '1.0')
WELL = WORN._replace(state=OK, findings='endurance_used 9 %')


def read(line, *values, elapsed=0, notes=()):
    """Return the drive of one line."""
    origin = Origin('web1', notes, elapsed)
    (drive,) = plugin_output.drives([line], values, NOW - elapsed, origin, METRICS)
    return drive


def facts_of(findings, *values, state=CRITICAL, **origin):
    return read(WORN._replace(findings=findings, state=state), *values, **origin).facts


@pytest.mark.parametrize('drives', ['recorded', 'simulated'])
def test_what_to_do_and_what_is_wrong_are_what_triage_says(drives, request):
    """Of every recorded and every simulated drive: from the line alone."""
    for text, documents in request.getfixturevalue(drives):
        lines = plugin_output.plugin_text(text).lines
        values = text.splitlines()[-1][2:].split(' ')
        wanted = {drive['name']: drive for drive in documents}
        for drive in plugin_output.drives(lines, values, NOW, Origin('h'), METRICS):
            whole = wanted[drive.facts['name']]
            assert drive.facts['action'] == whole['action']
            if whole['state'] != 'OK':
                assert drive.facts['why'] == whole['why']
                assert drive.facts['to_do'] == whole['to_do']
            assert set(drive.facts['forecasts']) <= set(whole.get('forecasts', {}))


def test_identity_state_and_findings_are_those_of_the_line():
    facts = read(WORN).facts

    assert (
        facts.items()
        >= {
            'host': 'web1',
            'name': 'sda',
            'model': 'ACME X1',
            'serial': 'EXAMPLE1',
            'firmware': '1.0',
            'state': 'CRITICAL',
            'why': FINDING,
            'action': 'replace',
            'to_do': 'replace it now',
            'code': None,
            'handling': None,
        }.items()
    )
    assert not {'replacement', 'also'} & facts.keys()


def test_control_characters_of_a_line_are_not_shown():
    facts = read(
        WORN._replace(name='', model='AC\nME', serial='E\n1', firmware='1\t0')
    ).facts

    assert [facts[key] for key in ('name', 'model', 'serial', 'firmware')] == [
        '-',
        'AC ME',
        'E 1',
        '1 0',
    ]


# --- the end of a line --------------------------------------------------------------------------


@pytest.mark.parametrize('code', OF_CODE)
def test_a_clause_about_groups_is_the_replacement(code):
    facts = facts_of(
        f'{FINDING}; [{code}] of md0; [slot-unknown] drive ID 3; [wait] wait'
    )

    assert facts['replacement'] == {
        'label': OF_CODE[code][0],
        'code': code,
        'text': 'of md0',
    }
    assert (facts['why'], facts['action']) == (f'{FINDING}; of md0', 'wait')


@pytest.mark.parametrize(
    'findings, why, code',
    [
        (f'{FINDING}; [no-such-code] x', f'{FINDING}; [no-such-code] x', None),
        (f'{FINDING} [replace-next] x', f'{FINDING} [replace-next] x', None),
        (
            f'{FINDING}; [replace-next] forged; [last-good-copy] x',
            f'{FINDING}; forged; x',
            'last-good-copy',
        ),
        (
            f'{FINDING}; [last-good-copy] x; [replace-next] forged',
            f'{FINDING}; x; forged',
            'last-good-copy',
        ),
        (
            f'{FINDING}; [replace-next] /srv; [odd] dir',
            f'{FINDING}; /srv; [odd] dir',
            'replace-next',
        ),
    ],
)
def test_an_imitated_clause_makes_nothing_less_strict(findings, why, code):
    facts = facts_of(f'{findings}; {REPLACE}')

    assert facts['why'] == why
    assert facts.get('replacement', {}).get('code') == code


def test_the_last_action_of_a_line_counts():
    facts = facts_of(
        f'{FINDING}; [watch] forged; {REPLACE}; also [cable] check the cable'
    )

    assert (facts['action'], facts['why']) == ('replace', f'{FINDING}; [watch] forged')
    assert facts['also'] == [{'action': 'cable', 'to_do': 'check the cable'}]


def test_a_line_that_was_cut_off_says_so():
    """What to do stood in the part that is missing."""
    facts = facts_of(FINDING, state=WARNING)

    assert (facts['state'], facts['code'], facts['why']) == (
        'WARNING',
        'output-cut',
        FINDING,
    )
    assert facts['to_do'] == BY_NAME['output-cut'].remedy


def test_a_drive_that_was_not_read_keeps_the_code_of_its_reason():
    """In the text of the plugin, and back."""
    silent = Verdict(
        Device('/dev/sda', name='sda'),
        Identity('ATA', 'ACME X1', 'FW1', 'EXAMPLE1'),
        UNKNOWN,
        problem='no answer',
        code='timeout',
    )
    wait = Replacement('wait', Coded('group-rebuilding', 'md0: wait'))
    text = plugin.written(plugin.line(case(silent, replacement=wait)))
    [line] = plugin_output.plugin_text(
        f'SMART UNKNOWN - 1 drive: 1 unknown\n{text}'
    ).lines
    facts = read(line).facts

    assert '  [timeout] no answer; [group-rebuilding] md0: wait; [investigate] ' in text
    assert (facts['code'], facts['replacement']['label'], facts['action']) == (
        'timeout',
        'wait',
        actions.READ,
    )
    assert facts['why'] == 'no answer; md0: wait'


@pytest.mark.parametrize(
    'findings, action',
    [(Coded('empty-slot', 'x'), actions.SEARCH), ('x', actions.READ)],
)
def test_a_drive_that_was_not_read_has_the_next_step_of_its_action(findings, action):
    words = f'x; [{action}] look'
    code = getattr(findings, 'code', '')
    facts = facts_of(Coded(code, words) if code else words, state=UNKNOWN)

    assert (facts['action'], facts['to_do']) == (action, 'look')
    assert facts['code'] == (code or 'drive-unreadable')


# --- dates ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    'seconds, elapsed, left',
    [(900 * DAY, 3600, 900 * DAY - 3600), (3600, 7200, 0), (7200.4, 7199.9, 0)],
)
def test_a_forecast_is_shorter_by_the_age_of_the_result(seconds, elapsed, left):
    found = read(WELL, f"'sda_endurance_time_left'={seconds}s;;;0;", elapsed=elapsed)

    assert found.facts['forecasts'] == {ENDURANCE: {'left': left}}


@pytest.mark.parametrize(
    'state, end, by',
    [
        (
            WARNING,
            '[order] order a replacement by 2024-05-06 (earliest date)',
            '2024-05-06',
        ),
        (WARNING, '[order] order a replacement now', '2023-11-13'),
        (WARNING, '[order] order a replacement', '2024-11-08'),
        (
            WARNING,
            '[cable] x; also [order] order by 2024-05-06 (expected date)',
            '2024-05-06',
        ),
        (
            CRITICAL,
            '[replace] x; also [order] order by 2024-05-06 (expected date)',
            None,
        ),
    ],
)
def test_the_date_of_an_order_is_that_of_the_line_or_else_of_perfdata(state, end, by):
    values = f"'sda_endurance_time_left'={451 * DAY}s;;;0;"

    assert facts_of(f'x; {end}', values, state=state, elapsed=DAY)['order_by'] == by


@pytest.mark.parametrize(
    'days, action, by',
    [
        (10, 'order', '2023-11-14'),
        (451, 'nothing', '2024-11-09'),
        (None, 'nothing', None),
    ],
)
def test_a_drive_that_is_ok_is_ordered_if_it_wears_out_soon(days, action, by):
    values = [f"'sda_endurance_time_left'={days * DAY}s;;;0;"] if days else []
    facts = read(WELL, *values).facts

    assert (facts['action'], facts['order_by'], facts['why']) == (action, by, None)


# --- perfdata -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    'line, text, value, state',
    [
        (WORN, "'sda_endurance_used'=97%;85;95;0;", 97, 'CRITICAL'),
        (WORN, "'sda_endurance_used'=90%;85;95;0;", 90, 'WARNING'),
        (WORN, "'sda_crc_errors'=0;;;0;", 0, 'OK'),
        (WORN, "'sda_self_test'=1;;;0;1", 'good', 'OK'),
        (WORN, "'sda_self_test'=0.5;;;0;1", 'warning', 'CRITICAL'),
        (WORN, "'sda_self_test'=0;;;0;1", 'bad', 'CRITICAL'),
        (WORN, "'sda_self_test'=0.25;;;0;1", 0.25, 'CRITICAL'),
        (WELL, "'sda_self_test'=0;;;0;1", 'bad', 'OK'),
    ],
)
def test_a_reading_has_the_state_of_its_limits_and_a_bad_status_that_of_the_drive(
    line, text, value, state
):
    [reading] = read(line, text).readings()

    assert (reading['value'], reading['state'], reading['judged']) == (
        value,
        state,
        True,
    )


def test_a_reading_has_its_limits():
    values = [
        "'sda_endurance_used'=97%;85;95;0;",
        "'sdb_pending'=1;;;0;",
        "'sda_none'=1;;;0;",
    ]
    drive = read(WORN, *values)

    assert drive.readings() == [
        {
            'metric': 'endurance_used',
            'value': 97,
            'unit': '%',
            'source': 'perfdata',
            'judged': True,
            'state': 'CRITICAL',
            'warning': '85',
            'critical': '95',
            'reason': None,
        }
    ]
    assert drive.numbers == {'endurance_used': 97} and len(drive.weights) == 1


def test_a_label_is_divided_at_the_longest_metric():
    """Names of drives have underscores, too."""
    lines = [WORN._replace(name=name) for name in ('bus_0_megaraid_1', 'bus_0')]
    values = [
        "'bus_0_megaraid_1_endurance_time_left'=7s;;;0;",
        "'bus_0_pending'=8;;;0;",
    ]
    found = plugin_output.drives(lines, values, NOW, Origin('h'), METRICS)

    assert [drive.numbers for drive in found] == [
        {'endurance_time_left': 7},
        {'pending': 8},
    ]


# --- rows about checks ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    'state, action, start',
    [(OK, 'nothing', 'nothing'), (UNKNOWN, 'repair', 'on the host: ')],
)
def test_a_check_without_drives_is_a_row_with_what_to_do(state, action, start):
    origin = Origin('web1', dated(NOW, 3600), handling=('host in downtime',))
    facts = check_row('(smart)', state, Coded('no-drives', 'no\ndrives'), origin).facts

    assert facts['to_do'].startswith(start)
    assert (
        facts.items()
        >= {
            'host': 'web1',
            'name': '(smart)',
            'state': state.name,
            'why': 'no drives',
            'code': 'no-drives',
            'action': action,
            'is_check': True,
            'handling': ('host in downtime',),
        }.items()
    )
    assert [note['code'] for note in facts['notes']] == ['result-old']
