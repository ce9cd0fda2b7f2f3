"""Gaps in smartctl's text: damaged lines, lost self-tests, a lost end, and what proves that a
log was printed.
"""

from __future__ import annotations

import pytest

from smart_attributes.model import Identity, Report
from smart_attributes.reading import text_report

WELL = Report(Identity('', 'ACME', '1'), smart_status=True)
END = '\n\n'
ROW = '  5 Reallocated_Sector_Ct   PO--CK   100   100   010    -    0'
TEST = '# 1  Short offline       Completed without error       00%       668         -'
STATISTIC = '0x01  0x010  4            3188  ---  Power-on Hours'
ATTRIBUTES, STATISTICS = (
    'ID# ATTRIBUTE_NAME  FLAGS',
    'Page  Offset Size        Value Flags Description',
)
DIRECTORY = 'General Purpose Log Directory'
EMPTY_ENTRY = ['Error 3 [1] log entry is empty']
COUNTERS = 'fast | delayed   rewrites  corrected  invocations'


@pytest.mark.parametrize(
    'lines, damaged',
    [
        ([ATTRIBUTES, ROW], []),
        ([ATTRIBUTES, 'x'], ['x']),
        ([ATTRIBUTES, '', 'x'], []),
        ([ATTRIBUTES, '|||_ K', 'x'], []),
        (['VALUE WORST', 'x'], ['x']),
        ([STATISTICS, STATISTIC], []),
        ([STATISTICS, ROW], [ROW.strip()]),
        (['x', 'y'], []),
        ([ATTRIBUTES, 'x', STATISTICS, STATISTIC, 'y'], ['x', 'y']),
        ([COUNTERS, 'read: 1', 'write: 1', 'x'], ['x']),
        ([TEST, '# 2  Short'], ['# 2  Short']),
        (['Error 3 x'], ['Error 3 x']),
        (EMPTY_ENTRY, []),
        (['# 1' + 'x' * 397], ['# 1' + 'x' * 397]),
        ([ATTRIBUTES, f'{ROW.strip():<399}x'], []),
        ([ATTRIBUTES, ROW.strip() + 'x' * 400], [ROW.strip() + 'x' * 400]),
    ],
)
def test_a_line_of_a_table_that_is_not_a_row_is_damaged(lines, damaged):
    assert list(text_report._unfit_lines('\n'.join(lines))) == damaged


VALUES = [
    ('ATA', 'rotation rate', '7200 rpm', False),
    ('ATA', 'rotation rate', 'Solid State Device', False),
    ('ATA', 'rotation rate', 'x', True),
    ('ATA', 'sector sizes', '512 bytes logical', False),
    ('ATA', 'sector size', 'x', True),
    ('ATA', 'ata error count', '9' * 11, True),
    ('ATA', 'device error count', '7 (x)', False),
    ('SCSI', 'read', '1 0 0 1 0 0.026 0', False),
    ('SCSI', 'write', '1 0 0 1 0 0.026', True),
    ('SCSI', 'non-medium error count', '7', False),
    ('SCSI', 'percentage used endurance indicator', '7%', False),
    ('SCSI', 'elements in grown defect list', '7 x', True),
    ('NVMe', 'rotation rate', 'x', False),
]


@pytest.mark.parametrize('protocol, label, value, is_damaged', VALUES)
def test_the_value_of_a_line_has_a_form(protocol, label, value, is_damaged):
    report = WELL._replace(identity=Identity(protocol, 'ACME', '1', rotation=1))
    found = text_report.of_text(END, {label: value}, report, ())

    assert [f'"{label}: {value}"' in gap for gap in found if gap.code == 'values-damaged'] == (
        [True] * is_damaged
    )


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

    found = text_report.of_text(text, {}, WELL, ())
    assert [' self-test log' in gap for gap in found] == [True] * is_lost


def test_what_is_damaged_and_what_is_missing_are_one_sentence_each():
    text = f'{ATTRIBUTES}\n{"x" * 70}\n# 2  Short'

    assert text_report.of_text(text, {}, WELL, ()) == (
        f'damaged in the report: "{"x" * 57}...", "# 2 Short"',
        'not in the report: some of the self-test log, its end (it was cut off, or smartctl was '
        'not asked for all logs)',
    )


NO_TESTS = 'no self-tests have been logged'


def test_a_report_of_everything_lacks_neither_its_end_nor_a_log_that_is_in_its_lines():
    identity = Identity('SCSI', 'ACME', '1', rotation=1)
    report = WELL._replace(identity=identity, scsi={'temperature': 1, 'grown_defects': 0})
    fields = {'error counter logging not supported': ''}

    assert text_report.of_text(NO_TESTS, fields, report, ('-a',)) == ()


@pytest.mark.parametrize(
    'protocol, text, arguments, is_ended',
    [
        ('ATA', 'x\n\n', (), True),
        ('ATA', 'x\n \t\n ', (), True),
        ('ATA', 'x\n', (), False),
        ('', 'x', (), False),
        ('ATA', 'x\n\n', ('-a',), False),
        ('ATA', 'Selective Self-tests\nx', ('-a',), True),
        ('ATA', ' SATA PHY Event Counters\nx', ('-a',), True),
        ('ATA', 'Selective Self-tests\n\n', ('-a', '-x'), False),
        ('ATA', 'y\nSATA Phy Event Counters\nx', ('-a', '-x'), True),
        ('ATA', '1 SATA Phy Event Counters', ('-a',), False),
        ('NVMe', 'Error Information (NVMe Log 0x01)\n\n', ('-a', '-x'), True),
        ('NVMe', 'Error Information Log\nx', ('-a',), False),
        ('NVMe', 'x\n\n', ('-a',), False),
        ('SCSI', NO_TESTS, ('-a',), True),
        ('SCSI', 'x\n\n', ('-A',), True),
    ],
)
def test_a_text_ends_with_its_last_log_or_an_empty_line(protocol, text, arguments, is_ended):
    assert text_report._is_ended(text, protocol, arguments) is is_ended


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
    assert text_report.likely_arguments(text, fields, protocol) == set(arguments.split())


@pytest.mark.parametrize(
    'text, fields, marks',
    [
        ('', {}, []),
        (
            '',
            {'error logging capability': '(0x00) Error logging NOT supported.'},
            ['error_logging_supported'],
        ),
        ('', {'error logging capability': '(0x01) Error logging supported.'}, []),
        ('', {'smart error log not supported': ''}, ['error_logging_supported']),
        ('', {'x not supported': ''}, []),
        ('', {'smart error log': ''}, []),
        (f'{DIRECTORY} Version 1', {}, ['no device statistics']),
        (f'{DIRECTORY} Version 1\n0x04 Device Statistics log', {}, []),
    ],
)
def test_a_log_that_the_drive_does_not_keep_has_a_mark(text, fields, marks):
    assert list(text_report._marks(text, fields)) == marks
