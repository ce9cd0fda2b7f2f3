"""Gaps in smartctl's text: damaged lines, lost self-tests, a lost end, and what proves that a
log was printed.
"""

import pytest

from smart_attributes.model import Identity, Report
from smart_attributes.reading import completeness, joined_rows, text_report
from smart_attributes.reading.pysmart import lines_by_kind

WELL = Report(Identity('', 'ACME', '1'), smart_status=True)
END = '\n\n'
ROW = '5 Reallocated_Sector_Ct   PO--CK   100   100   010    -    0'
OTHER = '9 Power_On_Hours          -O--CK   100   100   000    -    1'
NO_LINES = lines_by_kind('')
TEST = '# 1  Short offline       Completed without error       00%       668         -'
STATISTIC = '0x01  0x010  4            3188  ---  Power-on Hours'
ATTRIBUTES, STATISTICS = (
    'ID# ATTRIBUTE_NAME          FLAGS    VALUE WORST THRESH FAIL RAW_VALUE',
    'Page  Offset Size        Value Flags Description',
)
DIRECTORY = 'General Purpose Log Directory'
EMPTY_ENTRY = ['Error 3 [1] log entry is empty']


@pytest.mark.parametrize(
    'lines, damaged',
    [
        ([ATTRIBUTES, ROW], []),
        ([ATTRIBUTES, ROW, 'x'], []),
        ([ATTRIBUTES[:-3]], [ATTRIBUTES[:-3]]),
        ([ATTRIBUTES, ROW, 'x', OTHER], [OTHER]),
        ([ATTRIBUTES, ROW, '', OTHER], []),
        ([ROW, 'x', OTHER], []),
        ([ATTRIBUTES, '|||_ K', 'x'], []),
        ([ATTRIBUTES, ROW[:-3]], [ROW[:-3]]),
        ([ATTRIBUTES, ROW + 'x'], [ROW + 'x']),
        ([ATTRIBUTES, ROW, 'or_Ct   PO--CK   100'], ['or_Ct   PO--CK   100']),
        ([STATISTICS, STATISTIC], []),
        ([STATISTICS, STATISTIC[:20]], [STATISTIC[:20]]),
        (['x', 'y'], []),
        (['read: 1', 'write: 1', 'x'], ['read: 1', 'write: 1 x']),
        (['fast | delayed   rewrites', 'read: 1 0 0 1 0 0.026 0', 'verif'], ['verif']),
        ([TEST, '# 2  Short'], ['# 2  Short']),
        (['Error 3 o'], ['Error 3 o']),
        (EMPTY_ENTRY, []),
        (['# 1 ' + 'x' * 397], ['# 1 ' + 'x' * 397]),
    ],
)
def test_a_line_of_a_table_that_is_not_a_row_is_damaged(lines, damaged):
    assert sorted(joined_rows.joined(lines)[1]) == sorted(damaged)


@pytest.mark.parametrize(
    'label, value, is_damaged',
    [
        ('Rotation Rate', '7200 rpm', False),
        ('Rotation Rate', 'Solid State Device', False),
        ('Rotation Rate', 'x', True),
        ('Sector Sizes', '512 bytes logical', False),
        ('Sector Size', 'x', True),
        ('ATA Error Count', '9' * 11, True),
        ('Device Error Count', '7 (x)', False),
        ('read', '1 0 0 1 0 0.026 0', False),
        ('write', '1 0 0 1 0 0.026', True),
        ('Non-medium error count', '7', False),
        ('Percentage used endurance indicator', '7%', False),
        ('Elements in grown defect list', '7 x', True),
        ('Critical Warning', '0x00Temperature: 3 Celsius', True),
        ('-health self-assessment test result', 'FAILED!', True),
        ('SMART overall-health self-assessment test result', 'PASSED', False),
        ('SMART overall-health self-assessment test result', 'PASSE', True),
        ('SMART Health Status', 'x', True),
        ('SMART overall-health se', '', True),
        ('Available Spare', '100%', False),
        ('Data Units Written', '3,357,232 [1.71 TB]', False),
    ],
)
def test_the_value_of_a_line_has_a_form(label, value, is_damaged):
    line = f'{label}: {value}' if value else label

    assert joined_rows.joined([line])[1] == ([line] if is_damaged else [])


@pytest.mark.parametrize(
    'numbers, is_lost',
    [
        ((), False),
        ((1,), False),
        ((1, 2, 3), False),
        ((1, 2, 1, 2), False),
        ((1, 1), False),
        ((2,), True),
        ((1, 3), True),
        ((1, 2, 2), True),
    ],
)
def test_self_tests_are_numbered_from_1_in_each_log(numbers, is_lost):
    text = '\n'.join(TEST.replace('# 1', f'#{number:2}') for number in numbers) + END

    found = text_report.of_text(text, NO_LINES, WELL, set(), ())
    assert any(' self-test log' in gap for gap in found) is is_lost


def test_what_is_damaged_and_what_is_missing_are_one_sentence_each():
    found = text_report.of_text(
        '# 2  Short\n\n', NO_LINES, WELL, set(), ('x' * 70, '# 2  Short')
    )

    assert [(gap.code, gap) for gap in found] == [
        (completeness.UNREAD, f'damaged in the report: "{"x" * 57}...", "# 2 Short"'),
        ('values-missing', 'not in the report: some of the self-test log'),
    ]


NO_TESTS = 'no self-tests have been logged'


def test_a_report_of_everything_lacks_neither_its_end_nor_a_log_that_is_in_its_lines():
    identity = Identity('SCSI', 'ACME', '1', rotation=1)
    report = WELL._replace(
        identity=identity, scsi={'temperature': 1, 'grown_defects': 0}
    )
    lines = lines_by_kind('Error counter logging not supported')

    assert text_report.of_text(NO_TESTS, lines, report, {'-a'}, ()) == ()


@pytest.mark.parametrize(
    'protocol, text, arguments, lost',
    [
        ('ATA', 'x', (), ''),
        ('', ROW, (), 'the empty line after the data'),
        ('', f'{ROW}\n', (), 'the empty line after the data'),
        ('', f'{ROW}\n\n', (), ''),
        ('', f'{ROW}\n\nx', (), ''),
        ('SCSI', 'Temperature: 3 C', ('-A',), 'the empty line after the data'),
        ('ATA', 'x\n\n', ('-a',), 'the selective self-test log'),
        ('ATA', 'Selective Self-tests\nx', ('-a',), ''),
        ('ATA', 'SATA PHY Event Counters\nx', ('-a',), ''),
        (
            'ATA',
            'Selective Self-tests\n\n',
            ('-a', '-x'),
            'the SATA Phy event counters',
        ),
        ('ATA', 'y\nSATA Phy Event Counters\nx', ('-a', '-x'), ''),
        ('ATA', '1 SATA Phy Event Counters', ('-a',), 'the selective self-test log'),
        ('NVMe', 'Error Information (NVMe Log 0x01)\n\n', ('-a',), ''),
        ('NVMe', 'Error Information Log\nx', ('-a',), ''),
        ('NVMe', 'x\n\n', ('-a',), 'the error log'),
        ('SCSI', NO_TESTS, ('-a',), ''),
        ('SCSI', 'x\n\n', ('-A',), ''),
    ],
)
def test_a_text_of_everything_ends_with_its_last_log(protocol, text, arguments, lost):
    assert text_report._missing_end(text, protocol, arguments) == lost


@pytest.mark.parametrize(
    ('protocol', 'fields', 'text', 'arguments'),
    [
        ('ATA', {}, '', '-A'),
        ('ATA', {'general smart values': ''}, '', '-A -a'),
        ('ATA', {'smart capabilities': ''}, f'x\n {DIRECTORY}', '-A -a -x'),
        ('ATA', {}, DIRECTORY, '-A'),
        ('NVMe', {'supported power states': ''}, '', '-A -a'),
        ('NVMe', {'supported power states': ''}, DIRECTORY, '-A -a'),
        ('SCSI', {'error counter log': ''}, '', '-A -a'),
        ('NVMe', {'error counter log': ''}, '', '-A'),
        ('', {}, '', '-A'),
    ],
)
def test_lines_prove_what_smartctl_was_asked_for(protocol, fields, text, arguments):
    assert text_report.likely_arguments(text, fields, protocol) == set(
        arguments.split()
    )


@pytest.mark.parametrize(
    'text, fields, marks',
    [
        ('', {}, []),
        (
            '',
            {'error logging capability': '(0x00) Error logging NOT supported.'},
            ['no ATA error log'],
        ),
        ('', {'error logging capability': '(0x01) Error logging supported.'}, []),
        ('', {'smart error log not supported': ''}, ['no ATA error log']),
        ('', {'x not supported': ''}, []),
        ('', {'smart error log': ''}, []),
        (f'{DIRECTORY} Version 1', {}, ['no device statistics']),
        (f'{DIRECTORY} Version 1\n0x04 Device Statistics log', {}, []),
    ],
)
def test_a_log_that_the_drive_does_not_keep_has_a_mark(text, fields, marks):
    assert list(text_report._marks(text, fields)) == marks
