"""The kind of each line of smartctl's text."""

import pytest

from smart_attributes.errors import NotAReport
from smart_attributes.reading import pasted, pysmart
from smart_attributes.reading.pysmart import lines_by_kind

ROW = '  5 Reallocated_Sector_Ct   0x0033   100   100   010    Pre-fail  Always       -       0'
STATISTIC = '0x01  0x010  4            3188  ND-  Power-on Hours'
ATA_TEST = (
    '# 1  Short offline       Completed without error       00%       668         -'
)
SCSI_TEST = '# 1  Background short  Completed                   -     668                 - [-   -    -]'
NVME_TEST = (
    ' 0   Short              Completed without error                 668           '
    ' -   -   -   -    -'
)
PENDING = '    0            11723104     8211'
ERROR = (
    'Error 30 [5] occurred at disk power-on lifetime: 17401 hours (725 days + 1 hours)'
)
REGISTERS = '  40 51 08 bf 0b 34 e0  Error: UNC 8 sectors at LBA = 0x00340bbf = 3410879'
TOO_LONG = 'is not a smartctl report: it has more than 3000 lines'
LONG = '  84 -- 51 00 57 00 00 01 14 50 4b 01 00'
COMPLAINT = 'Warning! Drive Identity Structure error: invalid SMART checksum.'


@pytest.mark.parametrize(
    'line, kind',
    [
        (' '.join(ROW.replace('010', '10').split()), 'rows'),
        (STATISTIC, 'statistics'),
        ('  1  0x010  4            3188~ Power-on Hours', 'statistics'),
        (ATA_TEST, 'ata_tests'),
        (SCSI_TEST, 'scsi_tests'),
        (NVME_TEST, 'nvme_tests'),
        (PENDING, 'pending'),
        (ERROR, 'errors'),
        (COMPLAINT, 'complaints'),
        ('- available spare has fallen below threshold', 'warnings'),
        ('7 x', ''),
        ('# x', ''),
        ('Error 3 x', ''),
        (REGISTERS, ''),
        ('', ''),
        ('# ' + 'x' * 400, ''),
        (f'{ROW}{"x" * 400}', ''),
    ],
)
def test_a_line_has_a_kind(line, kind):
    _, _, *kinds = lines_by_kind(line)
    found = {
        name: [getattr(each, 'string', each) for each in lines]
        for name, lines in zip(pysmart.Lines._fields[2:], kinds)
        if lines
    }

    assert found == ({kind: [line.strip()]} if kind else {})


@pytest.mark.parametrize(
    'line, name, value',
    [
        ('Device Model:     ACME: X', 'device model', 'ACME: X'),
        ('  Raw  VALUE \t = 7 ', 'raw value', '7'),
        ('No Errors Logged', 'no errors logged', ''),
        ('a = b: c', 'a = b', 'c'),
        ('- media', '- media', ''),
        ('Warning: x', 'warning', 'x'),
        ('x' * 400, 'x' * 400, ''),
    ],
)
def test_a_line_that_is_not_a_row_has_a_label_and_a_value(line, name, value):
    lines = lines_by_kind(line)

    assert (lines.fields, lines.last) == ({name: value}, {name: value})


@pytest.mark.parametrize('line', [ROW, ATA_TEST, '7 x', '', 'x' * 401])
def test_a_row_and_a_line_that_is_too_long_have_no_label(line):
    assert lines_by_kind(line).fields == {}


def test_a_line_that_is_too_long_hides_no_other():
    assert lines_by_kind(f'{"x" * 401}\nA: 1').fields == {'a': '1'}


def test_of_equal_labels_the_first_and_the_last_value_are_kept():
    lines = lines_by_kind(
        'A: 1\nB: 2\na: 3\n number of hours powered up = 4\nAccumulated power on time, hours: 5'
    )

    assert lines.fields == {
        'a': '1',
        'b': '2',
        'number of hours powered up': '4',
        pysmart.POWER_ON: '5',
    }
    assert lines.last == {'a': '3', 'b': '2', pysmart.POWER_ON: '5'}


def test_the_registers_of_an_error_are_the_first_ones_below_it():
    lines = lines_by_kind(
        f'{REGISTERS}\n{ERROR}\n  ER ST\n{REGISTERS}\n{LONG}\n{ERROR}\n{LONG}'
    )

    assert [
        (
            part.groupdict().get('number'),
            part.groupdict().get('error'),
            part.groupdict().get('words'),
        )
        for part in lines.errors
    ] == [
        ('30', None, None),
        (None, '40', 'Error: UNC 8 sectors at LBA = 0x00340bbf = 3410879'),
        ('30', None, None),
        (None, '84', None),
    ]


def test_rows_are_added_in_their_order():
    brief = '  9 Power_On_Hours          -O--CK   ---   ---   000    -    7'

    assert lines_by_kind(f'{brief}\n{ROW}').rows == [
        '9 Power_On_Hours 0x0032 999 999 0 Old_age Always - 7',
        '5 Reallocated_Sector_Ct 0x0033 100 100 10 Pre-fail Always - 0',
    ]


@pytest.mark.parametrize(
    'line, is_row',
    [
        (STATISTIC, True),
        (ATA_TEST, True),
        (SCSI_TEST, True),
        (ERROR, True),
        ('Error 4 [3] log entry is empty', True),
        ('0x05  0x010  1               -  ---  Average', True),
        ('0x01  =====  =  =  ===  == General', True),
        ('7 x', False),
        ('# x', False),
        ('x', False),
        ('0x05  0x010  1  x', False),
        (f'#{STATISTIC}', False),
    ],
)
def test_a_row_was_read_or_has_no_content(line, is_row):
    assert pysmart.is_row(line) is is_row


def test_a_text_has_a_number_of_lines_that_a_report_can_have():
    """An empty line may follow each of them."""
    assert len(pasted.plain_lines('x\n' * 6000)) == 6001
    with pytest.raises(NotAReport) as caught:
        pasted.plain_lines('x\n' * 6001)
    assert str(caught.value) == TOO_LONG
