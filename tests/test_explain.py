"""What explain prints of a drive, line by line."""

from __future__ import annotations

import io
import json
import re
import sys
from typing import Any

import pytest
from conftest import ROOT, run

from smart_attributes.errors import Coded
from smart_attributes.knowledge.drive_database import SpecDatabase
from smart_attributes.knowledge.thresholds import Thresholds
from smart_attributes.model import (
    AttributeRow,
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

DATABASE = SpecDatabase(json.loads((ROOT / 'attributes.json').read_text()))
DAY = 86400
RULE = {'within': '24h', 'warning': 0, 'for': '7d', 'why': 'each one is a failed transfer'}
LIMITS = Thresholds(
    {
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
)
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
READINGS = (
    WORN,
    CRC,
    Judgement(reading('self_test', 0, verdict='passed', state=State.OK, quiet=400 * DAY), State.OK),
    Judgement(reading('temperature', 31, 'C', judged=False), State.OK),
    Judgement(reading('pending', None, judged=False, unknown='255 means no value'), State.OK),
    Judgement(reading('pending', 2), State.OK, critical='8'),
)
VERDICT = Verdict(
    SDA,
    X1,
    State.WARNING,
    READINGS,
    notes=('a note',),
    entry='ACME X1',
    place=Place('slot 7', '/sys/x/locate', ('sda',)),
    depends=(
        Dependence(Group('md0', 'md0', 'md', 'raid1'), 'sda1', 'in_sync', 1, 'md0'),
        Dependence(Group('dm-0', 'vg0', 'lvm', 'single'), 'sda2', 'in_sync', 0, 'vg0'),
    ),
)
REPORT = Report(
    X1,
    attributes=(
        AttributeRow(5, 'Reallocated_Sector_Ct', 100, 100, 10, True, '', '0'),
        AttributeRow(250, 'Odd_Thing', None, None, None, None, '', '1 (2 3)'),
    ),
)
PLACED = [
    'bay         slot 7',
    'locate LED  on: echo 1 > /sys/x/locate; off: echo 0',
    'in use by   md0',
    'in use by   vg0',
]
NOBODY = Verdict(
    Device('/dev/bus/0', 'megaraid,3', 'bus_0_megaraid_3'),
    Identity(),
    State.UNKNOWN,
    problem='cannot be opened',
    code='no-such-device',
    forecasts={'endurance_used': Forecast(0, 0, 0, is_estimate=False)},
)


LONG = 'x' * 600
MEANING = 'About 1 in 3 such ACME disks failed within a year.'


def lines_of(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return what was printed, without the blanks at the ends of lines."""
    return [line.rstrip() for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize(
    'verdict, first, action',
    [
        pytest.param(
            VERDICT,
            '/dev/sda  ACME X1  serial SERIAL1  WARNING',
            'What to do: order a replacement. Reason: endurance_used 86 % (warning above 85)',
            id='alert',
        ),
        pytest.param(
            VERDICT._replace(
                state=State.CRITICAL,
                judgements=(READINGS[-1]._replace(state=State.CRITICAL, against='above 1'),),
            ),
            '/dev/sda  ACME X1  serial SERIAL1  CRITICAL',
            'What to do: replace now. Reason: pending 2 (critical above 1)',
            id='replace',
        ),
        pytest.param(
            VERDICT._replace(
                judgements=(READINGS[-1]._replace(state=State.WARNING, against='above 1'),)
            ),
            '/dev/sda  ACME X1  serial SERIAL1  WARNING',
            'What to do: watch: look again in a month. Reason: pending 2 (warning above 1)',
            id='watch',
        ),
        pytest.param(
            NOBODY,
            'megaraid,3@/dev/bus/0  UNKNOWN',
            'What to do: look for the drive. Reason: [no-such-device] cannot be opened',
            id='not-read',
        ),
        pytest.param(
            VERDICT._replace(state=State.OK, judgements=(CRC,)),
            '/dev/sda  ACME X1  serial SERIAL1  OK',
            'What to do: nothing. Status: health status not reported',
            id='ok',
        ),
        pytest.param(
            Verdict(SDA, X1, State.OK, problem='standby'),
            '/dev/sda  ACME X1  serial SERIAL1  OK',
            'What to do: nothing. Status: standby',
            id='standby',
        ),
        pytest.param(
            VERDICT._replace(
                state=State.OK,
                judgements=(),
                forecasts={
                    'endurance_used': Forecast(60 * DAY, 60 * DAY, 60 * DAY, is_estimate=False)
                },
            ),
            '/dev/sda  ACME X1  serial SERIAL1  OK',
            'What to do: order a replacement now. Reason: endurance_used: used up 1970-03-02 '
            '(between 1970-03-02 and 1970-03-02)',
            id='wears-out',
        ),
    ],
)
def test_the_head_names_the_drive_and_what_to_do_about_it_and_why(verdict, first, action):
    assert explain.head(verdict, hide_serial=False, now=0) == [first, action]


@pytest.mark.parametrize(
    'risk, lines',
    [
        (None, []),
        (Risk('endurance_used', 'SSDs', 0.2, 0.5, 0.4, 0.6, 9, 5, 'About 2.'), ['About 2.']),
    ],
    ids=['unknown', 'known'],
)
def test_the_head_ends_with_how_many_such_drives_failed_if_that_is_known(risk, lines):
    without, known = (
        explain.head(VERDICT._replace(risk=each), hide_serial=False, now=0) for each in (None, risk)
    )

    assert known[len(without) :] == lines


def test_the_head_leaves_out_a_hidden_serial_number():
    assert explain.head(VERDICT, hide_serial=True, now=0)[0] == '/dev/sda  ACME X1  WARNING'


def test_an_alert_has_its_value_its_limit_its_source_and_the_reason():
    grown = CRC._replace(
        state=State.CRITICAL,
        growth='crc_errors grew by 3 in 2 h',
        growth_against='above 0 in 24 h',
        reason='check the cable',
        origin='site.json',
    )
    failed = Judgement(
        reading('self_test', 0, verdict='read failure', state=State.WARNING),
        State.WARNING,
        origin='log',
        reason='a test failed',
    )

    assert list(
        explain._alerts(
            VERDICT._replace(
                judgements=(
                    WORN._replace(reason='rated life', origin='default.json'),
                    grown,
                    failed,
                    CRC,
                )
            )
        )
    ) == [
        'endurance_used  86 %  warning above 85  attribute 233',
        '  rated life (default.json)',
        'crc_errors      3  critical above 0 in 24 h  log',
        '  crc_errors grew by 3 in 2 h',
        '  check the cable (site.json)',
        'self_test       read failure  warning  log',
        '  a test failed',
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
    assert shown == f'self_test  {LONG[:297]}...  warning  log'
    assert (grown, reason) == (f'  {LONG[:297]}...', f'  {LONG[:497]}...')
    assert list(explain._place(Place('slot 7', LONG))) == [
        'bay         slot 7',
        f'locate LED  on: echo 1 > {LONG[:297]}...; off: echo 0',
    ]
    long = VERDICT._replace(
        depends=(VERDICT.depends[0]._replace(said=LONG),),
        replacement=Replacement('next', Coded('replace-next', LONG)),
    )
    assert f'in use by   {LONG[:297]}...' in explain.details(long, False)
    assert explain.head(long, False, 0)[2] == f'Redundancy: {LONG[:297]}...'


def test_a_drive_without_alerts_has_no_lines_about_them():
    assert list(explain._alerts(VERDICT._replace(judgements=(CRC,)))) == []


def test_the_details_name_the_drive_and_its_place():
    assert explain.details(VERDICT, hide_serial=False) == [
        'device      /dev/sda, name sda',
        'model       ACME X1, firmware FW1, type ssd',
        'serial      SERIAL1, WWN 5000c500a1b2c3d4',
        'entry       ACME X1',
        *PLACED,
    ]


def test_the_details_of_an_unknown_drive_have_dashes():
    assert explain.details(NOBODY, hide_serial=False) == [
        'device      megaraid,3@/dev/bus/0, name bus_0_megaraid_3',
        'model       -, firmware -, type -',
        'serial      -, WWN -',
        'entry       none; only metrics that every drive reports in the same way',
        'wears out   endurance_used: used up',
    ]
    assert not [
        line
        for line in explain.details(VERDICT, hide_serial=True)
        if 'SERIAL1' in line or 'WWN' in line
    ]


def test_each_reading_has_its_state_its_source_and_its_limits():
    assert list(explain._reading_rows(VERDICT)) == [
        ('WARNING', 'endurance_used', '86 %', 'attribute 233', 'warning 85, critical 95'),
        ('OK', 'crc_errors', '3', 'log', 'none'),
        ('OK', 'self_test', 'passed', 'log', 'none'),
        ('-', 'temperature', '31 C', 'log', 'not judged'),
        ('-', 'pending', 'unknown', 'log', 'not judged: 255 means no value'),
        ('OK', 'pending', '2', 'log', 'critical 8'),
    ]


def test_each_limit_has_its_origin_and_its_reason():
    assert list(explain._limit_rows(VERDICT, LIMITS)) == [
        ('endurance_used', 'default.json', 'rated life'),
        (
            'crc_errors',
            'default.json',
            'growth within 24h: warning above 0, alerts for 7d: each one is a failed transfer',
        ),
        ('crc_errors', 'default.json', 'growth within 1h: critical above 9, alerts for 1d'),
        ('self_test', 'default.json', 'a test failed'),
        ('self_test', 'default.json, aged', 'long ago'),
        ('pending', 'default.json', 'no limit'),
    ]


@pytest.mark.parametrize(
    'selector',
    [{'family': 'ACME X1'}, {'device': 'sda'}, {'serial': 'SERIAL1'}],
    ids=lambda selector: next(iter(selector)),
)
def test_an_override_of_a_drive_is_a_second_origin(selector):
    site = {
        'overrides': [
            {'for': selector, 'why': 'w', 'metrics': {'endurance_used': {'warning': '70'}}}
        ]
    }
    limits = Thresholds(
        {'metrics': {'endurance_used': {'warning': '85', 'critical': '95', 'why': 'rated life'}}},
        [('site.json', site)],
    )
    [row] = explain._limit_rows(VERDICT._replace(judgements=(WORN,)), limits)

    assert row[1].startswith('default.json, site.json')


@pytest.mark.parametrize(
    'rule, words',
    [
        ({'within': '1h', 'for': '1d'}, 'growth within 1h: no limit, alerts for 1d'),
        (
            {'within': '1h', 'for': '1d', 'warning': None, 'critical': 5},
            'growth within 1h: critical above 5, alerts for 1d',
        ),
        (
            {'within': '1h', 'for': '1d', 'warning': 0, 'critical': 5, 'why': 'w'},
            'growth within 1h: warning above 0, critical above 5, alerts for 1d: w',
        ),
    ],
)
def test_a_rule_of_growth_is_said_in_one_line(rule, words):
    assert explain._growth(rule) == words


def test_attributes_that_no_reading_uses_are_listed():
    known = Identity('ATA', 'INTEL SSDSC2BB240G4', rotation=0)

    assert list(explain._unused_rows(REPORT._replace(identity=known), DATABASE)) == [
        ('250', 'Odd_Thing', '-', '1 (2 3)')
    ]
    assert next(explain._unused_rows(REPORT, DATABASE)) == (
        '5',
        'Reallocated_Sector_Ct',
        '100',
        '0',
    )


def test_an_attribute_that_no_reading_uses_has_its_name_of_the_database():
    """Not the one that smartctl shows, which may be that of another vendor."""
    seagate = Report(
        Identity('ATA', 'ST4000NM0035-1V4107', rotation=7200),
        attributes=(AttributeRow(240, 'Unknown_Attribute', 100, None, None, None, '', '7'),),
    )

    assert list(explain._unused_rows(seagate, DATABASE)) == [
        ('240', 'Head_Flying_Hours', '100', '7')
    ]


def test_everything_is_printed_under_its_title(capsys, monkeypatch):
    monkeypatch.setenv('COLUMNS', '140')
    explain.print_drive(VERDICT, REPORT, DATABASE, LIMITS, hide_serial=True, is_verbose=True)
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]

    assert lines[1].startswith('What to do: ')
    assert [line for line in lines if line in ('readings', 'limits', 'unmapped attributes')] == [
        'readings',
        'limits',
        'unmapped attributes',
    ]
    assert [line.split() for line in lines if line.startswith(('state ', 'metric ', 'id '))] == [
        ['state', 'metric', 'value', 'source', 'limit'],
        ['metric', 'set', 'by', 'why'],
        ['id', 'name', 'value', 'raw'],
    ]
    assert any(line.split() == ['250', 'Odd_Thing', '-', '1', '(2', '3)'] for line in lines)
    assert lines[lines.index('readings') - 1] == '' and lines[-1] == 'note: a note'


OUTPUT = """\
/dev/sda  ACME X1  WARNING
What to do: order a replacement. Reason: endurance_used 86 % (warning above 85)
About 1 in 3 such ACME disks failed within a year.

endurance_used  86 %  warning above 85  attribute 233

device      /dev/sda, name sda
model       ACME X1, firmware FW1, type ssd
entry       ACME X1
bay         slot 7
locate LED  on: echo 1 > /sys/x/locate; off: echo 0
in use by   md0
in use by   vg0

readings
state    metric          value    source         limit
WARNING  endurance_used  86 %     attribute 233  warning 85, critical 95
OK       crc_errors      3        log            none
OK       self_test       passed   log            none
-        temperature     31 C     log            not judged
-        pending         unknown  log            not judged: 255 means no value
OK       pending         2        log            critical 8

limits
metric          set by              why
endurance_used  default.json        rated life
crc_errors      default.json        growth within 24h: warning above 0, alerts for 7d: each one is a failed transfer
crc_errors      default.json        growth within 1h: critical above 9, alerts for 1d
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
    known = VERDICT._replace(risk=Risk('endurance_used', 'SSDs', 0.2, 0.5, 0.4, 0.6, 9, 5, MEANING))
    explain.print_drive(known, REPORT, DATABASE, LIMITS, hide_serial=True, is_verbose=True)

    assert '\n'.join([*lines_of(capsys), '']) == OUTPUT


@pytest.mark.parametrize(
    'farm, lines',
    [
        (
            Farm('S1', 900, asked=DAY),
            ['FARM log    power-on time 900 h, serial S1, read on 1970-01-02'],
        ),
        (Farm('S1'), ['FARM log    power-on time not reported, serial S1']),
        (Farm(hours=900), ['FARM log    power-on time 900 h']),
        (Farm(unread='was locked'), []),
        (None, []),
    ],
)
def test_a_farm_log_that_was_read_has_a_line(farm, lines):
    report = Report(X1, farm=farm)

    assert list(explain._farm(report, DATABASE, hide_serial=False, is_verbose=True)) == lines
    assert list(explain._farm(report, DATABASE, hide_serial=True, is_verbose=True)) == [
        line.replace(', serial S1', '') for line in lines
    ]


def test_the_heads_of_a_disk_are_a_table_of_their_own(capsys):
    """Without -v, too."""
    heads = Farm('S1', heads=(Head(3, 10, 2, 1),))
    explain.print_drive(
        VERDICT, REPORT._replace(farm=heads), DATABASE, LIMITS, hide_serial=True, is_verbose=False
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
    fades = VERDICT._replace(
        state=State.OK,
        judgements=(),
        notes=(),
        forecasts={'endurance_used': Forecast(60 * DAY, 60 * DAY, 60 * DAY, is_estimate=False)},
    )
    explain.print_drive(fades, None, DATABASE, LIMITS, hide_serial=True, is_verbose=False)
    _, action, *_, last = lines_of(capsys)

    assert action.startswith(
        'What to do: order a replacement now. Reason: endurance_used: used up 1970-03-02 '
    )
    assert last.startswith('wears out   endurance_used: used up 1970-03-02 ')


def test_a_title_and_the_head_of_a_table_are_bold_on_a_terminal(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for name in ('NO_COLOR', 'FORCE_COLOR', 'TTY_COMPATIBLE'):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv('TERM', 'xterm')
    monkeypatch.setenv('COLUMNS', '140')
    with monkeypatch.context() as patch:
        patch.setattr(sys, 'stdout', Terminal())
        explain.print_drive(VERDICT, REPORT, DATABASE, LIMITS, hide_serial=True, is_verbose=True)
        text = sys.stdout.getvalue()

    assert '\x1b[1mreadings\x1b[0m\n\x1b[1mstate ' in text
    assert '\x1b[1munmapped attributes\x1b[0m\n\x1b[1mid ' in text


def test_a_cell_and_a_note_are_no_longer_than_their_limit(capsys, monkeypatch):
    monkeypatch.setenv('COLUMNS', '1000')
    odd = AttributeRow(251, f'[red]{LONG}', None, None, None, None, '', '1')
    explain.print_drive(
        VERDICT._replace(notes=(f'[b]{LONG}',)),
        Report(X1, attributes=(odd,)),
        DATABASE,
        LIMITS,
        hide_serial=True,
        is_verbose=True,
    )

    row, note = lines_of(capsys)[-2:]
    assert row.split() == ['251', f'[red]{LONG[:292]}...', '-', '1']
    assert note == f'note: [b]{LONG[:494]}...'


@pytest.mark.parametrize(
    'report, is_verbose', [(REPORT, False), (None, True)], ids=['brief', 'no-report']
)
def test_tables_need_verbosity_and_a_report(report, is_verbose, capsys, monkeypatch):
    """Half of the lines used to be about limits that no one had asked for."""
    monkeypatch.setenv('COLUMNS', '140')
    explain.print_drive(VERDICT, report, DATABASE, LIMITS, hide_serial=True, is_verbose=is_verbose)
    lines = capsys.readouterr().out.splitlines()

    assert lines[2:] == [
        '',
        *explain._alerts(VERDICT),
        '',
        *explain.details(VERDICT, hide_serial=True),
        'note: a note',
    ]


def test_a_table_without_rows_is_left_out(capsys):
    bare = Verdict(SDA, X1, State.OK)
    explain.print_drive(bare, Report(X1), DATABASE, LIMITS, hide_serial=True, is_verbose=True)

    assert capsys.readouterr().out.splitlines()[2:] == [
        '',
        *explain.details(bare, hide_serial=True),
    ]


def test_faults_of_the_run_are_printed_before_the_drives(capsys):
    explain.print_faults(['slot 3 was not read', 'site.json: ' + 'x' * 600])
    first, second = capsys.readouterr().out.splitlines()

    assert first == 'UNKNOWN: slot 3 was not read'
    assert second.startswith('UNKNOWN: site.json: xxx') and len(second) == len('UNKNOWN: ') + 500


@pytest.mark.parametrize('columns', [60, 80])
def test_no_name_of_a_metric_is_cut(columns):
    """A person copies it into -w, or into a limits file."""
    text = run(
        'explain',
        '-v',
        '--report',
        str(ROOT / 'tests/reports/hgst-failed.json'),
        env={'COLUMNS': str(columns), 'LC_ALL': 'C.UTF-8'},
    ).text
    names = {
        line.split()[1]
        for line in text.partition('\nreadings\n')[2].partition('\n\n')[0].splitlines()[1:]
        if re.match('(OK|WARNING|CRITICAL|-) ', line)
    }

    assert names and names <= set(DATABASE.metrics) and '\u2026' not in text
