"""What people paste: no alarm becomes OK, no healthy drive CRITICAL, whatever was done to the text.

The reports lie beside the project (../shared/corpus, ../shared/cases); nothing is copied here.
"""

import json
import random
import subprocess
import sys
import textwrap
from pathlib import Path

import pasting
import pytest
from conftest import ROOT, SHARED, drive, run
from pasting import ALARMS

from smart_attributes.errors import DriveError
from smart_attributes.model import State
from smart_attributes.reading import joined_rows, text_report
from smart_attributes.reading.pasted import plain_lines

SOME_WIDTHS = 60, 68, 72, 76, 80, 98
beside = pytest.mark.skipif(
    not (SHARED / 'cases').is_dir(), reason='no ../shared/corpus beside the project'
)
OK, WARNING, CRITICAL, UNKNOWN = State
# Case -> the state, and a code of a finding, the action or a note that the right answer has.
CASES = {
    '01-wrapped-72': (CRITICAL, 'replace'),
    '02-wrapped-88': (CRITICAL, 'replace'),
    '03-wrapped-four-rows': (CRITICAL, 'replace'),
    '04-wrapped-sas': (CRITICAL, 'replace'),
    '05-nvme-read-only': (CRITICAL, 'replace'),
    '06-nvme-write-protected': (WARNING, 'read-only'),
    '07-nvme-worn-bit2': (CRITICAL, 'order'),
    '08-nvme-failed-bit2': (CRITICAL, 'replace'),
    '09-nvme-cold': (WARNING, 'watch'),
    '10-life-attribute-prefail': (CRITICAL, 'order'),
    '11-text-then-brace': (OK, 'nothing'),
    # Its firmware has a defect that the database has known since these cases were written.
    '12-session-of-calls': (WARNING, 'firmware-defect'),
    '13-sas-background-header': (OK, 'nothing'),
    '14-nvme-no-final-blank-line': (OK, 'nothing'),
    '15-sas-ssd-old-report': (OK, 'nothing'),
    '16-attributes-without-identity': (UNKNOWN, 'unknown-model'),
    '17-areca-volume': (UNKNOWN, 'raid-volume'),
    '18-en-dash': (CRITICAL, 'replace'),
    '19-line-numbers': (CRITICAL, 'replace'),
    '20-line-end-backslash': (OK, 'nothing'),
    '21-noformat': (CRITICAL, 'replace'),
}
DAMAGED = ('rows-unread', 'values-damaged')


def codes(said):
    findings = {finding['code'] for finding in said['findings']}
    return {
        said['action'],
        said['code'],
        *findings,
        *(note['code'] for note in said['notes']),
    }


@pytest.fixture(scope='module')
def cases():
    paths = sorted((SHARED / 'cases').glob('*.txt'))
    return pasting.judged({path.stem: path.read_bytes() for path in paths})


@beside
@pytest.mark.parametrize('case', CASES)
def test_each_case_has_its_right_answer(cases, case):
    state, code = CASES[case]
    said = cases[case]

    assert (said['state'], len(cases)) == (state.name, len(CASES))
    assert code in codes(said)
    assert not codes(said).intersection(DAMAGED)


@beside
def test_a_case_says_what_its_table_holds(cases):
    """The numbers, and the date from which a forecast counts."""
    values = {
        case: {each['metric']: each['value'] for each in said['readings']}
        for case, said in cases.items()
    }

    for case in (
        '01-wrapped-72',
        '02-wrapped-88',
        '18-en-dash',
        '19-line-numbers',
        '21-noformat',
    ):
        assert (values[case]['reported_uncorrect'], values[case]['pending']) == (
            68,
            16,
        ), case
    assert values['04-wrapped-sas']['reported_uncorrect'] == 800
    assert values['10-life-attribute-prefail']['endurance_used'] == 90
    assert values['12-session-of-calls']['spare_available'] == 100
    assert [
        finding['code'] for finding in cases['12-session-of-calls']['findings']
    ] == ['firmware-defect']


# --- every report, in every shape ---------------------------------------------------------


@pytest.fixture(scope='module')
def texts():
    return pasting.corpus()


def some(texts, number, every):
    return {name: texts[name] for name in sorted(texts)[number % every :: every]}


@beside
@pytest.mark.libraries
def test_a_shape_of_a_mail_a_wiki_or_a_chat_changes_no_state(texts):
    """A few reports in each; `python tests/pasting.py` takes all of them."""
    chosen = some(texts, random.randrange(40), 40)
    for what, sums in pasting.figures(chosen, pasting.SHAPES):
        assert sums.faults == [], what
        assert sums.kept >= sums.alarms - 1 and sums.ok >= sums.healthy - 1, what


@beside
@pytest.mark.libraries
@pytest.mark.parametrize('change', pasting.OF_A_WIDTH)
def test_no_width_makes_an_alarm_ok_or_a_healthy_drive_critical(texts, change):
    chosen = some(texts, random.randrange(40), 40)
    for what, sums in pasting.figures(
        chosen, pasting.widths(change, (60, 72, 80, 88, 95))
    ):
        assert sums.faults == [], what


@beside
@pytest.mark.long
@pytest.mark.libraries
def test_no_report_is_judged_better_or_worse_for_its_shape(texts):
    """At some widths; `python tests/pasting.py` takes each one."""
    sums = dict(pasting.figures(texts, pasting.SHAPES))
    for change in pasting.OF_A_WIDTH:
        sums |= dict(pasting.figures(texts, pasting.widths(change, SOME_WIDTHS)))

    assert [fault for each in sums.values() for fault in each.faults] == []
    whole = [each for what, each in sums.items() if is_whole(what)]
    assert sum(each.kept for each in whole) >= 0.95 * sum(each.alarms for each in whole)
    assert sum(each.ok for each in whole) >= 0.98 * sum(each.healthy for each in whole)


def is_whole(what: str) -> bool:
    """Return whether tables are whole in a shape: "cut 80" has lost columns."""
    kind, _, width = what.partition(' ')
    return kind != 'cut' and not (width.isdigit() and int(width) < 72)


@beside
@pytest.mark.long
@pytest.mark.libraries
def test_no_damaged_line_makes_an_alarm_ok(texts):
    states = pasting.states(texts)
    alarms = {name: text for name, text in texts.items() if states[name] in ALARMS}

    assert pasting.of_mutants(alarms, 1, 2000).faults == []


def test_what_became_of_states_is_counted():
    sums = pasting.Figures()
    sums.add(
        'x',
        {'a': CRITICAL, 'b': WARNING, 'c': OK, 'd': OK},
        {'a': OK, 'b': WARNING, 'c': CRITICAL},
    )

    assert (
        sums.alarms,
        sums.kept,
        sums.lost,
        sums.healthy,
        sums.ok,
        sums.critical,
    ) == (
        2,
        1,
        1,
        2,
        1,
        1,
    )
    assert sums.faults == ['x: a was CRITICAL, is OK', 'x: c was OK, is CRITICAL']


@pytest.mark.libraries
def test_shapes_one_upon_the_other_hide_no_alarm(tmp_path):
    bed = pasting.Pasting(tmp_path, seed := random.randrange(10**6))

    assert bed.turn(0) == [], f'seed {seed}'


# --- lines --------------------------------------------------------------------------------

HEADING = 'ID# ATTRIBUTE_NAME          FLAG     VALUE WORST THRESH TYPE      UPDATED  WHEN_FAILED RAW_VALUE'
ROW = '5 Reallocated_Sector_Ct   0x0033   063   054   036    Pre-fail  Always       -       48000'
MODEL = 'Device Model:     ST2000DM001-9YN164'


@pytest.mark.parametrize(
    'pasted',
    [
        f'> {MODEL}\n> {ROW}',
        f'Jo> {MODEL}\nJo>   {ROW}',
        f'>> {MODEL}\n> > {ROW}',
        f'  98  {MODEL}\n  99  {ROW}',
        f'{MODEL}\\\n{ROW}\\',
        f'{MODEL}\u00a0\n' + ROW.replace(' - ', ' \u2013 '),
        f'{MODEL}\r\n{ROW}\r\n',
        f'{MODEL}<br>{ROW.replace(" ", "&nbsp;")}<br/>',
        f'{{code}}{MODEL}\n{ROW}{{code}}',
        f'```text\n{MODEL}\n{ROW}\n```',
        f'| {MODEL} |\n|---|:--|---|\n| {ROW} |',
        f'\x1b[1m{MODEL}\x1b[0m\n{ROW}',
        f'"text": "{MODEL}\\n{ROW}\\n\\n"}}',
        f'{MODEL}=20\n{ROW[:50]}=\n{ROW[50:]}',
        f'{MODEL}\n{ROW}  <-- look',
        f'{MODEL}\n' + ROW.replace('_', '\\_'),
    ],
)
def test_what_stands_around_a_line_is_removed(pasted):
    lines = [' '.join(line.split()) for line in plain_lines(pasted)]

    assert [' '.join(MODEL.split()), ' '.join(ROW.split())] == [
        line for line in lines if line[:1] in '|D5' and len(line) > 8
    ]


@pytest.mark.parametrize(
    'lines, whole',
    [
        (textwrap.wrap(ROW, 72), [ROW]),
        (textwrap.wrap(ROW, 40, break_on_hyphens=False), [ROW]),
        ([ROW, 'Thanks'], [ROW, 'Thanks']),
        (
            [ROW.replace('48000', '40 (Min/Max'), '30/42)'],
            [ROW.replace('48000', '40 (Min/Max 30/42)')],
        ),
        ([*textwrap.wrap(HEADING, 68), ROW], [HEADING, ROW]),
        (
            [f'{ROW} {ROW.replace("5 Re", "197 Re")}'],
            [ROW, ROW.replace('5 Re', '197 Re')],
        ),
        ([ROW, ROW], [ROW]),
        (
            ['read: 1 0 0 1', '0 0.026 550', 'write: 1 0 0 1 0 0 0'],
            ['read: 1 0 0 1 0 0.026 550', 'write: 1 0 0 1 0 0 0'],
        ),
        (['Critical Warning:', '0x00'], ['Critical Warning: 0x00']),
        (
            ['Model Number: ACME', 'ONE', 'Serial Number: X', 'yes'],
            ['Model Number: ACME ONE', 'Serial Number: X', 'yes'],
        ),
        (
            ['Model Number: ACME', 'sudo: a password is required'],
            ['Model Number: ACME', 'sudo: a password is required'],
        ),
    ],
)
def test_wrapped_rows_are_joined_by_the_grammar_of_their_table(lines, whole):
    joined, unread = joined_rows.joined(lines)

    assert [' '.join(line.split()) for line in joined if line] == [
        ' '.join(line.split()) for line in whole
    ]
    assert unread == []


FLASH = '229 Flash_ID 0x0002 100 001 000 Old_age Always - 0x517693'
RATE = '188 Command_Timeout -O--CK 100 100 000 - 0 0'
FAULT = (
    '04 -- 71 00 00 00 00 03 47 ce 2c 00 00 Device Fault; Error: ABRT at LBA = 0x2c = 4'
)


@pytest.mark.parametrize(
    'lines, is_broken',
    [
        ([FLASH, '94a451'], True),
        ([ROW, '12'], False),  # or else the beginning of attribute 12
        ([ROW, '3'], True),
        ([ROW, '480001'], True),
        ([FAULT, '4'], True),
        ([RATE, '0'], False),  # one number of three
        ([RATE, 'ab'], False),
        (['Error 3 occurred at disk power-on lifetime: 12', '34'], False),
        ([f'> {ROW}', '3'], True),
        ([f'> {ROW}', '> 3'], False),
        ([HEADING[:70], HEADING[70:]], True),
        ([f'{MODEL} 1', '2'], False),
    ],
)
def test_a_number_that_was_broken_at_a_column_is_one_number(lines, is_broken):
    plain = [line.removeprefix('> ') for line in lines]

    assert plain_lines('\n'.join(lines)) == ([''.join(plain)] if is_broken else plain)


@pytest.mark.parametrize(
    'numbers, is_shifted',
    [
        ((), False),
        ((1, 5, 9, 197), False),
        ((1, 9, 5, 197), True),
        ((9, 5, 197), True),
        ((1, 197, 9, 5, 198), True),
        ((1, 248, 12, 197, 9), True),
        ((5, 9, 240, 165, 167), False),
        ((*range(1, 20), 254, 223), False),
    ],
)
def test_rows_that_were_swapped_are_noticed(numbers, is_shifted):
    assert joined_rows.is_shifted(numbers) is is_shifted


def test_a_ruled_heading_of_smartctl_in_a_box_is_no_rule_of_a_table():
    """Without it, the registers of an error would be those of no error."""
    assert plain_lines('-- -- -- == -- == -- -- \u2502') == ['-- -- -- == -- == -- --']
    assert plain_lines('-----|') == ['']


# --- reports ------------------------------------------------------------------------------

BANNER = 'smartctl 7.3 2022-02-28 r5338 [x86_64-linux] (local build)\n'
PASSED = 'SMART overall-health self-assessment test result: {}\n'
WORDS = {
    'PASSED': True,
    'PASSED and more': True,
    'PASSED"': True,
    'PASSEDx': None,
    'FAILED!': False,
    'FAILED': False,
    'FAILED! here': False,
    'UNKNOWN!': None,
    'odd': None,
}


@pytest.mark.parametrize('words', WORDS)
def test_passed_with_anything_behind_it_is_never_a_failure(words):
    report = text_report.parse_text(
        f'{BANNER}{MODEL}\n{PASSED.format(words)}{HEADING}\n{ROW}\n\n'
    )

    assert report.smart_status is WORDS[words]
    is_unread = any(gap.code == 'rows-unread' for gap in report.gaps)
    assert is_unread is (words in ('PASSEDx', 'odd'))


def test_a_value_that_smartctl_calls_not_available_is_no_tag_and_no_damage():
    lines = [
        'Current Drive Temperature:     <not available>',
        '<b>SMART Health Status: OK</b>',
    ]

    assert plain_lines('\n'.join(lines)) == [lines[0], 'SMART Health Status: OK']
    assert joined_rows.joined(lines[:1])[1] == []


def test_a_number_that_was_cut_with_its_column_is_not_judged():
    """Of 48000, 4 is left."""
    table = f'{HEADING[:-8]}\n{ROW[:-4]}\n\n'
    report = text_report.parse_text(f'{BANNER}{MODEL}\n{table}')

    assert [(row.id, row.value, row.raw) for row in report.attributes] == [(5, 63, '')]
    assert 'rows-unread' in [gap.code for gap in report.gaps]


def of(model, *more, serial='S1', day=''):
    date = f'Local Time is:    Sat Jan {day} 12:00:00 2016 UTC\n' if day else ''
    return ''.join(
        [
            BANNER,
            f'Device Model: {model}\nSerial Number: {serial}\n' if model else '',
            date,
            *more,
        ]
    )


TABLE = f'{HEADING}\n{ROW}\n\n'
NEWER = TABLE.replace('48000', '48008')


@pytest.mark.parametrize(
    'calls, raw',
    [
        ([of('A'), of('', TABLE)], '48000'),
        ([of('', TABLE), of('A', PASSED.format('PASSED'))], '48000'),
        ([of('A', TABLE, day='10'), of('A', NEWER, day='11')], '48008'),
        ([of('A', NEWER, day='11'), of('A', TABLE, day='10')], '48008'),
        (
            [
                '$ smartctl -i /dev/sda\n',
                of('A'),
                '$ smartctl -A /dev/sda\n',
                of('', TABLE),
            ],
            '48000',
        ),
        (
            [
                '$ smartctl -i /dev/sda\n',
                of('A'),
                '$ smartctl -A /dev/sdb\n',
                of('', TABLE),
            ],
            None,
        ),
        ([of('A'), of('B', TABLE)], None),
        ([of('A'), of('A', TABLE, serial='S2')], None),
        ([of('A'), of('', TABLE), of('', NEWER)], None),
        # who made the serial numbers unreadable can have pasted two drives
        ([of('A', TABLE, serial='XXXXXXXX'), of('A', NEWER, serial='XXXXXXXX')], None),
        ([of('A', TABLE, serial='S3Z9xxxx'), of('A', NEWER, serial='S3Z9xxxx')], None),
        (
            [of('A', TABLE, serial='[removed]'), of('A', NEWER, serial='[removed]')],
            None,
        ),
        ([of('A', TABLE, serial=''), of('A', NEWER, serial='')], None),
        (
            [
                of('A', PASSED.format('FAILED!'), serial='****'),
                of('A', PASSED.format('PASSED'), TABLE, serial='****'),
            ],
            None,
        ),
    ],
)
def test_calls_about_one_drive_are_one_report_and_the_newest_counts(calls, raw):
    if raw is None:
        with pytest.raises(DriveError) as caught:
            text_report.parse_text(''.join(calls))
        assert caught.value.code == 'several-reports'
    else:
        report = text_report.parse_text(''.join(calls))
        assert [row.raw for row in report.attributes] == [raw]
        assert report.identity.model == 'A'


def test_a_quoted_json_report_is_read():
    whole = json.dumps(json.loads(drive('samsung-worn-out')), indent=1)
    quoted = '\n'.join(f'> {line}' for line in whole.split('\n'))

    assert text_report.parse_report(quoted.encode()) == text_report.parse_report(
        whole.encode()
    )


def test_json_of_another_program_is_no_part_of_a_text():
    text = f'{BANNER}{MODEL}\n{TABLE}{{\n"more": 1}}\n'
    assert (
        text_report.parse_report(text.encode()).identity.model == 'ST2000DM001-9YN164'
    )


@pytest.mark.parametrize('value', [None, 'x', [], {}])
def test_a_damaged_entry_of_a_table_of_json_is_never_ok(value):
    said = json.loads(drive('nvme-worn'))
    log = said['nvme_smart_health_information_log']
    log.update(percentage_used=1, media_errors=0, available_spare=100)
    healthy = pasting.judged({'a': json.dumps(said)})['a']
    log['data_units_read'] = value
    damaged = pasting.judged({'a': json.dumps(said)})['a']

    assert healthy['state'] == 'OK'
    assert (damaged['state'], damaged['findings'][0]['code']) == (
        'UNKNOWN',
        'rows-unread',
    )


def test_a_table_of_which_no_row_can_be_read_names_no_bridge():
    text = f'{BANNER}{MODEL}\nGeneral SMART Values:\n{PASSED.format("PASSED")}{HEADING}\n{ROW[:40]}\n'
    with pytest.raises(DriveError) as caught:
        text_report.parse_text(text)

    assert caught.value.code == 'report-damaged' and ROW[:38].split()[1] in str(
        caught.value
    )


# --- where reports come from --------------------------------------------------------------


def test_triage_reads_standard_input():
    words = [
        sys.executable,
        str(ROOT / 'check_smart_attributes'),
        'triage',
        '--json',
        '--no-history',
    ]
    done = subprocess.run(
        [*words, '--report', '-'],
        input=f'{BANNER}{MODEL}\n{TABLE}'.encode(),
        capture_output=True,
        check=False,
    )

    [said] = json.loads(done.stdout)['drives']
    assert (said['model'], said['state']) == ('ST2000DM001-9YN164', 'CRITICAL')


def test_a_folder_of_tickets_is_read(tmp_path):
    """Mails without a report are left out; a text that is no mail may be a lost report."""
    mail = 'From: jo@example.org\nSubject: {}\n\nHello,\n\n{}\nThanks\n'
    (tmp_path / '1.txt').write_text(
        mail.format('disk', f'> {BANNER}> {MODEL}\n> {HEADING}\n> {ROW}\n')
    )
    (tmp_path / '2.txt').write_text(mail.format('lunch', 'at noon?'))
    (tmp_path / '3.txt').write_text('at noon?\n')
    said = json.loads(
        run('triage', '--json', '--no-history', '--report', str(tmp_path)).text
    )

    assert {Path(each['device']).name: each['state'] for each in said['drives']} == {
        '1.txt': 'CRITICAL',
        '3.txt': 'UNKNOWN',
    }
