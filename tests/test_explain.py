"""What explain prints of a drive, line by line."""

import re
from typing import Any

import pytest
from cases import case
from shipped import DATABASE

from smart_attributes.errors import Coded
from smart_attributes.knowledge.thresholds import Thresholds
from smart_attributes.model import (
    AttributeRow,
    Case,
    Dependence,
    Device,
    Farm,
    Forecast,
    Group,
    Head,
    Identity,
    Judgement,
    Place,
    Reading,
    Replacement,
    Report,
    Risk,
    Source,
    State,
    Verdict,
)
from smart_attributes.output import explain
from smart_attributes.shown import shown as shown_identity

SPEC = DATABASE.identify(Identity(), [])
DAY = 86400
RULE = {
    'within': '24h',
    'warning': 0,
    'for': '7d',
    'why': 'each one is a failed transfer',
}
DEFAULTS = {
    'metrics': {
        'endurance_used': {'warning': '85', 'critical': '95', 'why': 'rated life'},
        'crc_errors': {'growth': [RULE, {'within': '1h', 'critical': 9, 'for': '1d'}]},
        'self_test': {
            'warning': '0',
            'why': 'a test failed',
            'aged': {'after': '365d', 'why': 'long ago', 'warning': '1'},
        },
        'pending': {'why': 'no limit'},
    }
}
LIMITS = Thresholds(DEFAULTS)
SDA = Device('/dev/sda', name='sda')
X1 = Identity('ATA', 'ACME X1', 'FW1', 'SERIAL1', '5000c500a1b2c3d4', 0)


def reading(metric: str, number: Any = 1, unit: str = '', **more: Any) -> Reading:
    return Reading(metric, number, unit, more.pop('source', Source('log')), **more)


WORN = Judgement(
    reading('endurance_used', 86, '%', source=Source(attribute=233)),
    State.WARNING,
    '85',
    '95',
    'above 85',
    remedy='order',
)
CRC = Judgement(reading('crc_errors', 3), State.OK)
PENDING = Judgement(reading('pending', 2), State.OK, against='above 1')
READINGS = (
    WORN,
    CRC,
    Judgement(
        reading('self_test', 0, verdict='passed', state=State.OK, quiet=400 * DAY),
        State.OK,
    ),
    Judgement(reading('temperature', 31, 'C', judged=False), State.OK),
    Judgement(
        reading('pending', None, judged=False, unknown='255 means "no value"'), State.OK
    ),
    PENDING._replace(against='', critical='8'),
)
VERDICT = Verdict(
    SDA,
    X1,
    State.WARNING,
    READINGS,
    notes=('a note',),
    entry='ACME X1',
)
USE: dict[str, Any] = {
    'place': Place(
        'slot 7',
        'ledctl locate=/dev/sda',
        ('sda',),
        locate_off='ledctl locate_off=/dev/sda',
    ),
    'depends': (
        Dependence(Group('md0', 'md0', 'md', 'raid1'), 'sda1', 'in_sync', 1, 'md0'),
        Dependence(Group('dm-0', 'vg0', 'lvm', 'single'), 'sda2', 'in_sync', 0, 'vg0'),
    ),
}
REPORT = Report(
    X1,
    attributes=(
        AttributeRow(5, 'Reallocated_Sector_Ct', 100, 100, 10, True, '', '0'),
        AttributeRow(250, 'Odd_Thing', None, None, None, None, '', '1 (2 3)'),
    ),
)
NOBODY = Verdict(
    Device('/dev/bus/0', 'megaraid,3', 'bus_0_megaraid_3'),
    Identity(),
    State.UNKNOWN,
    problem='cannot be opened',
    code='no-such-device',
)
USED_UP = {'forecasts': {'endurance_used': Forecast(0, 0, 0, is_estimate=False)}}


LONG = 'x' * 600


def hidden(verdict: Verdict, **facts: Any) -> Case:
    """Return a drive on which groups depend, without its serial number."""
    return case(verdict, hide_serial=True, **USE, **facts)


MEANING = 'About 1 in 3 such ACME disks failed within a year.'


def lines_of(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return what was printed, without the blanks at the ends of lines."""
    return [line.rstrip() for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize(
    'verdict, end, action',
    [
        (
            VERDICT._replace(
                state=State.CRITICAL,
                judgements=(PENDING._replace(state=State.CRITICAL),),
            ),
            'ACME X1  serial SERIAL1  CRITICAL',
            'replace it now. Reason: pending 2 (critical above 1)',
        ),
        (
            VERDICT._replace(judgements=(PENDING._replace(state=State.WARNING),)),
            'SERIAL1  WARNING',
            'look again in a month. Reason: pending 2 (warning above 1)',
        ),
        (
            NOBODY,
            'megaraid,3@/dev/bus/0  UNKNOWN',
            'look for the drive. Reason: [no-such-device] cannot be opened',
        ),
        (
            VERDICT._replace(state=State.OK, judgements=(CRC,)),
            'SERIAL1  OK',
            'nothing. Status: health status not reported',
        ),
        (
            Verdict(SDA, X1, State.OK, problem='standby'),
            'SERIAL1  OK',
            'nothing. Status: standby',
        ),
    ],
    ids=['replace', 'watch', 'not-read', 'ok', 'standby'],
)
def test_the_head_names_the_drive_and_what_to_do_about_it_and_why(verdict, end, action):
    first, second = explain.head(case(verdict, **USE))

    assert first.endswith(end)
    assert second == f'What to do: {action}'


def test_an_alert_has_its_value_its_limit_its_source_and_the_reason():
    grown = CRC._replace(
        state=State.CRITICAL,
        growth='crc_errors grew by 3',
        growth_against='above 0',
        reason='check',
        origin='site.json',
    )
    failed = Judgement(
        reading('self_test', 0, verdict='failure', state=State.WARNING),
        State.WARNING,
        origin='log',
        reason='failed',
    )
    judgements = (
        WORN._replace(reason='life', origin='default.json'),
        grown,
        failed,
        CRC,
    )

    assert list(explain._alerts(VERDICT._replace(judgements=judgements))) == [
        'endurance_used  86 %  warning above 85  attribute 233',
        '  life (default.json)',
        'crc_errors      3  critical above 0  log',
        '  crc_errors grew by 3',
        '  check (site.json)',
        'self_test       failure  warning  log',
        '  failed',
    ]


def test_no_text_of_an_alert_or_a_place_is_longer_than_its_limit():
    """A file or a drive may contain a text of any length."""
    alert = Judgement(
        reading('self_test', 0, verdict=LONG, state=State.WARNING),
        State.WARNING,
        origin='log',
        growth=LONG,
        reason=LONG,
    )
    shown, grown, reason = explain._alerts(VERDICT._replace(judgements=(alert,)))
    long = case(
        VERDICT,
        place=USE['place'],
        depends=(USE['depends'][0]._replace(said=LONG),),
        replacement=Replacement('next', Coded('replace-next', LONG)),
    )
    *_, used = explain.details(long)
    redundancy = explain.head(long)[2]

    lines = (shown, grown, used, redundancy)

    assert reason == f'  {LONG[:497]}...'
    assert [line.count(f'{LONG[:297]}...') for line in lines] == [1] * 4
    assert redundancy.startswith('Redundancy: ')


@pytest.mark.parametrize(
    'shown, line, start',
    [
        (case(VERDICT), 2, 'serial      SERIAL1, WWN 5000c500a1b2c3d4'),
        (case(NOBODY, **USED_UP), 1, 'model       -, firmware -, type -'),
        (case(NOBODY, **USED_UP), 2, 'serial      -, WWN -'),
        (case(NOBODY, **USED_UP), 3, 'entry       none; '),
        (case(NOBODY, **USED_UP), 4, 'wears out   endurance_used: '),
    ],
)
def test_the_details_name_the_drive_or_have_dashes(shown, line, start):
    """What else is known of a drive stands in OUTPUT."""
    assert explain.details(shown)[line].startswith(start)


def test_an_override_of_a_drive_is_a_second_origin():
    metrics = {'endurance_used': {'warning': '70'}}
    override = {'for': {'serial': 'SERIAL1'}, 'why': 'w', 'metrics': metrics}
    limits = Thresholds(DEFAULTS, [('site.json', {'overrides': [override]})])
    rows = explain._limit_rows(VERDICT._replace(judgements=(WORN,)), limits)

    assert [(origin, why) for _, origin, why in rows] == [
        ('default.json', 'rated life'),
        ('site.json: this serial number', 'w'),
    ]


@pytest.mark.parametrize(
    'limits, words',
    [
        ({}, 'no limit'),
        ({'warning': None, 'critical': 5}, 'critical above 5'),
        ({'warning': 0, 'critical': 5}, '0, critical above 5'),
    ],
)
def test_a_rule_of_growth_is_said_in_one_line(limits, words):
    assert f' {words}; ' in explain._growth({'within': '1h', 'for': '1d', **limits})


def test_attributes_that_no_reading_uses_are_listed():
    """With the name of the database, not the one that smartctl shows, which may be that of
    another vendor.
    """
    intel = Identity('ATA', 'INTEL SSDSC2BB240G4', rotation=0)
    seagate = Report(
        Identity('ATA', 'ST4000NM0035-1V4107', rotation=7200),
        attributes=(
            AttributeRow(240, 'Unknown_Attribute', 100, None, None, None, '', '7'),
        ),
    )

    rows = [
        list(explain._unused_rows(report, DATABASE.identify(report.identity, [])))
        for report in (REPORT._replace(identity=intel), seagate)
    ]
    assert rows == [
        [('250', 'Odd_Thing', '-', '1 (2 3)')],
        [('240', 'Head_Flying_Hours', '100', '7')],
    ]


OUTPUT = """\
/dev/sda  ACME X1  WARNING
What to do: order a replacement. Reason: endurance_used 86 % (warning above 85)

endurance_used  86 %  warning above 85  attribute 233
  About 1 in 3 such ACME disks failed within a year.

device      /dev/sda, name sda
model       ACME X1, firmware FW1, type ssd
entry       ACME X1
bay         slot 7
locate LED  on: ledctl locate=/dev/sda; off: ledctl locate_off=/dev/sda
in use by   md0
in use by   vg0

readings
state    metric          value    source         limit
WARNING  endurance_used  86 %     attribute 233  warning 85, critical 95
OK       crc_errors      3        log            none
OK       self_test       passed   log            none
-        temperature     31 C     log            not judged
-        pending         unknown  log            not judged: 255 means "no value"
OK       pending         2        log            critical 8

limits
metric          set by              why
endurance_used  default.json        rated life
crc_errors      default.json        growth within 24h: warning above 0; an alert lasts 7d: each one is a failed transfer
crc_errors      default.json        growth within 1h: critical above 9; an alert lasts 1d
self_test       default.json        a test failed
self_test       default.json, aged  long ago
pending         default.json        no limit

unmapped attributes
id   name                   value  raw
5    Reallocated_Sector_Ct  100    0
250  Odd_Thing              -      1 (2 3)
note: a note
"""


def test_the_whole_output_is_as_an_admin_reads_it(capsys, monkeypatch):
    monkeypatch.setenv('COLUMNS', '140')
    known = VERDICT._replace(
        risk=Risk('endurance_used', 'SSDs', 0.2, 0.5, 0.4, 0.6, 9, 5, MEANING)
    )
    explain.print_drive(hidden(known), REPORT, DATABASE, LIMITS, is_verbose=True)

    assert '\n'.join([*lines_of(capsys), '']) == OUTPUT


@pytest.mark.parametrize(
    'farm, lines',
    [
        (Farm('S1', 900), ['power-on time 900 h, serial S1']),
        (Farm('S1'), ['power-on time not reported, serial S1']),
        (Farm(hours=900), ['power-on time 900 h']),
        (Farm(unread='was locked'), []),
        (None, []),
    ],
)
def test_a_farm_log_that_was_read_has_a_line(farm, lines):
    shown, hidden = (
        [
            line.removeprefix('FARM log    ')
            for line in explain._farm(farm, SPEC, shown_identity(X1, is_hidden), True)
        ]
        for is_hidden in (False, True)
    )

    assert shown == lines
    assert hidden == [line.replace(', serial S1', '') for line in lines]


def test_the_heads_of_a_disk_are_a_table_of_their_own(capsys):
    """Without -v, too."""
    heads = Farm('S1', heads=(Head(3, 10, 2, 1),))
    explain.print_drive(
        hidden(VERDICT), REPORT._replace(farm=heads), DATABASE, LIMITS, is_verbose=False
    )
    lines = lines_of(capsys)
    start = lines.index('heads')

    assert [line.split() for line in lines[start + 1 : start + 3]] == [
        ['head', 'reallocated', 'unrecoverable', 'repeated'],
        ['3', '10', '2', '1'],
    ]


def test_a_forecast_is_counted_from_now(capsys, monkeypatch):
    monkeypatch.setenv('COLUMNS', '140')
    monkeypatch.setattr('time.time', lambda: 0)
    lasts = {
        'endurance_used': Forecast(60 * DAY, 60 * DAY, 60 * DAY, is_estimate=False)
    }
    fades = VERDICT._replace(state=State.OK, judgements=(), notes=())
    explain.print_drive(
        hidden(fades, forecasts=lasts), None, DATABASE, LIMITS, is_verbose=False
    )
    _, action, *_, last = lines_of(capsys)

    assert ' order ' in action
    assert [
        ' endurance_used: expected to be used up 1970-03-02 ' in line
        for line in (action, last)
    ] == [True] * 2
    assert last.startswith('wears out ')


@pytest.mark.parametrize(
    'report, is_verbose', [(REPORT, False), (None, True)], ids=['brief', 'no-report']
)
def test_tables_need_verbosity_and_a_report(report, is_verbose, capsys, monkeypatch):
    """Half of the lines used to be about limits that no one had asked for."""
    monkeypatch.setenv('COLUMNS', '140')
    explain.print_drive(
        hidden(VERDICT), report, DATABASE, LIMITS, is_verbose=is_verbose
    )
    lines = capsys.readouterr().out.splitlines()

    assert lines[2:] == [
        '',
        *explain._alerts(VERDICT),
        '',
        *explain.details(hidden(VERDICT)),
        'note: a note',
    ]


def test_a_table_without_rows_is_left_out(capsys):
    bare = Verdict(SDA, X1, State.OK)
    shown = case(bare, hide_serial=True)
    explain.print_drive(shown, Report(X1), DATABASE, LIMITS, is_verbose=True)

    assert capsys.readouterr().out.splitlines()[2:] == [
        '',
        *explain.details(shown),
    ]


def test_faults_of_the_run_are_printed_before_the_drives(capsys):
    explain.print_faults(['slot 3', 'site.json: ' + 'x' * 600])
    first, second = capsys.readouterr().out.splitlines()

    assert first == 'UNKNOWN: slot 3'
    assert (
        second.startswith('UNKNOWN: site.json: xxx')
        and len(second) == len('UNKNOWN: ') + 500
    )


def test_no_name_of_a_metric_is_cut(capsys, monkeypatch):
    """A person copies it into -w, or into a limits file."""
    monkeypatch.setenv('COLUMNS', '60')
    explain.print_drive(hidden(VERDICT), REPORT, DATABASE, LIMITS, is_verbose=True)
    text = capsys.readouterr().out
    names = re.findall(r'^(?:OK|WARNING|-) +(\S+)', text, re.MULTILINE)

    assert names == [each.reading.metric for each in READINGS]
    assert '\u2026' not in text


def test_a_long_line_continues_below_its_text(capsys, monkeypatch):
    """Not in the first column, where the names of the lines are."""
    monkeypatch.setenv('COLUMNS', '60')
    explain.print_drive(
        case(VERDICT._replace(entry='Family of ' + ' and '.join(40 * ['drives']))),
        None,
        DATABASE,
        LIMITS,
        is_verbose=False,
    )
    lines = capsys.readouterr().out.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith('entry '))

    assert max(map(len, lines)) <= 60
    assert lines[at + 1].startswith(12 * ' ' + 'drives')
