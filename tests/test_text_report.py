"""smartctl's text: layouts, locales, versions, and what pySMART cannot take."""

import sys
import textwrap
import time

import pytest
from refusals import DISABLED, EMPTY, IDENTITY, NO_DRIVE

from smart_attributes.errors import (
    DriveAsleep,
    DriveError,
    DriveIsNoDrive,
    NotAReport,
    SudoRefused,
)
from smart_attributes.model import AttributeRow, ErrorEntry, SelfTest, Statistic
from smart_attributes.reading import text_report
from smart_attributes.reading.pysmart import lines_by_kind

BANNER = (
    'smartctl 7.2 2020-12-30 r5155 [x86_64-linux-5.10.0] (local build)\n'
    'Copyright (C) 2002-20, Bruce Allen, Christian Franke, www.smartmontools.org\n\n'
)


def report(text, **known):
    """Parse *text* below smartctl's first lines."""
    return text_report.parse_text(BANNER + textwrap.dedent(text), **known)


def ata(body, model='ACME ARGO 500'):
    """A report with an identity and a verdict, so that *body* is all that is asked about."""
    return report(
        f'=== START OF INFORMATION SECTION ===\nDevice Model:     {model}\n\n'
        'SMART overall-health self-assessment test result: PASSED\n\n'
        + textwrap.dedent(body)
    )


# Attribute tables

CLASSIC = """\
    Vendor Specific SMART Attributes with Thresholds:
    ID# ATTRIBUTE_NAME          FLAG     VALUE WORST THRESH TYPE      UPDATED  WHEN_FAILED RAW_VALUE
      5 Reallocated_Sector_Ct   0x0033   005   005   010    Pre-fail  Always   FAILING_NOW 640 (409 5906)
    190 Airflow_Temperature_Cel 0x0022   070   050   060    Old_age   Always   In_the_past 30
    9   Power_On_Hours          0x0032   ---   ---   ---    Old_age   Always       -       45449h+00m+00.000s
    """
BRIEF = """\
    Vendor Specific SMART Attributes with Thresholds:
    ID# ATTRIBUTE_NAME          FLAGS    VALUE WORST THRESH FAIL RAW_VALUE
      5 Reallocated_Sector_Ct   PO--CK   005   005   010    NOW  640 (409 5906)
    190 Airflow_Temperature_Cel -O---K   070   050   060    Past 30
      9 Power_On_Hours          -O--CK   ---   ---   ---    -    45449h+00m+00.000s
                                ||||||_ K auto-keep
                                |______ P prefailure warning
    """
HEXADECIMAL = """\
    Vendor Specific SMART Attributes with Thresholds:
    ID#  ATTRIBUTE_NAME          FLAGS    VALUE WORST THRESH FAIL RAW_VALUE
    0x05 Reallocated_Sector_Ct   PO--CK   0x05  0x05  0x0a   NOW  640 (409 5906)
    0xbe Airflow_Temperature_Cel -O---K   0x46  0x32  0x3c   Past 30
    0x09 Power_On_Hours          -O--CK   ----  ----  ----   -    45449h+00m+00.000s
    """
ROWS = (
    AttributeRow(5, 'Reallocated_Sector_Ct', 5, 5, 10, True, 'now', '640 (409 5906)'),
    AttributeRow(190, 'Airflow_Temperature_Cel', 70, 50, 60, False, 'past', '30'),
    AttributeRow(
        9, 'Power_On_Hours', None, None, None, False, '', '45449h+00m+00.000s'
    ),
)


@pytest.mark.parametrize(
    'table',
    [
        pytest.param(CLASSIC, id='classic'),
        pytest.param(BRIEF, id='brief'),
        pytest.param(HEXADECIMAL, id='hexadecimal'),
        pytest.param(CLASSIC.replace('\n', '\r\n'), id='windows-line-ends'),
        pytest.param(
            '\n'.join(' '.join(line.split()) for line in CLASSIC.splitlines()),
            id='blanks-collapsed-by-a-forum',
        ),
        pytest.param(BRIEF.replace('    ', '\t'), id='tabs'),
    ],
)
def test_every_layout_of_the_attribute_table_gives_the_same_rows(table):
    """-a, -x, -f hex, and what copying does to them; in the printed order."""
    assert ata(table).attributes == ROWS


@pytest.mark.parametrize(
    'raw',
    [
        '0/200164573',
        '-2147483640',
        '0x00000000000c',
        '36 (Min/Max 19/52 #3)',
        '4,21',
        '57h+16m+58.312s',
        '24 (0 20 0 0 0)',
        '1: 23 45',
    ],
)
def test_raw_values_stay_as_printed(raw):
    """Signs, hexadecimal and composites are decoded later, by what the entry says of them."""
    row = (
        f'  7 Seek_Error_Rate         0x000f   083   060   030    Pre-fail  Always       '
        f'-       {raw}'
    )

    assert ata(row).attributes[0].raw == raw


@pytest.mark.parametrize(
    'printed, name',
    [
        pytest.param(
            '169 Unknown Attribute       0x0000   094   000   000    Old_age   Offline      -     '
            '  94',
            'Unknown_Attribute',
            id='name-with-a-blank',
        ),
        pytest.param(
            '202 Percent_Lifetime_Remaining_Now0x0030   099   099   001    Old_age   Offline      '
            '-       1',
            'Percent_Lifetime_Remaining_Now',
            id='name-that-touches-its-flags',
        ),
    ],
)
def test_odd_names_do_not_lose_their_row(printed, name):
    """smartctl before 5.40, and names of local -v options."""
    assert [row.name for row in ata(printed).attributes] == [name]


def test_two_rows_of_one_number_are_both_kept():
    """Broken firmware lists them; an entry may go by the order of the table."""
    row = '  {} Unknown_Attribute       -O--CK   100   100   000    -    {}\n'

    assert [
        (found.id, found.raw)
        for found in ata(
            row.format(9, 1) + row.format(1, 2) + row.format(9, 3)
        ).attributes
    ] == [(9, '1'), (1, '2'), (9, '3')]


# Device statistics, self-tests, errors


@pytest.mark.parametrize(
    'line, place, statistic',
    [
        # since-6.4
        (
            '0x07  0x008  1              78  N--  Percentage Used Endurance Indicator',
            (7, 8),
            Statistic(78, 'Percentage Used Endurance Indicator', 'N'),
        ),
        # until-6.3
        (
            '  7  0x008  1              78~ Percentage Used Endurance Indicator',
            (7, 8),
            Statistic(78, 'Percentage Used Endurance Indicator', 'N'),
        ),
        # until-6.3-plain
        (
            '  1  0x010  4            3188  Power-on Hours',
            (1, 16),
            Statistic(3188, 'Power-on Hours'),
        ),
        pytest.param(
            '0x05  0x010  1             -21  -DC  Average Short Term Temperature',
            (5, 16),
            Statistic(-21, 'Average Short Term Temperature', 'DC'),
            id='negative',
        ),
        pytest.param(
            '0x01  0x1f8  7               0  -D-+ Unknown',
            (1, 0x1F8),
            Statistic(0, 'Unknown', 'D'),
            id='reserved-flag',
        ),
        pytest.param(
            '0xff  0x020  7  72057594037927935  ---  Vendor Specific',
            (255, 32),
            Statistic(72057594037927935, 'Vendor Specific'),
            id='vendor-page',
        ),
    ],
)
def test_device_statistics_of_every_version_are_read(line, place, statistic):
    """pySMART never reads them, and they are the drive's own, standard wear figure."""
    assert ata(line).statistics == {place: statistic}


@pytest.mark.parametrize(
    'lines, expected',
    [
        pytest.param(
            '# 1  Extended offline    Completed: electrical failure 90%      1608         205352',
            [
                SelfTest(
                    'Extended offline', 'Completed: electrical failure', False, 1608
                )
            ],
            id='long-status',
        ),
        pytest.param(
            '#12  Vendor (0x57)       Unknown status (0xc)          140%     65280         -',
            [SelfTest('Vendor (0x57)', 'Unknown status (0xc)', None, 65280)],
            id='garbage',
        ),
        pytest.param(
            '# 1 Short offline Completed without error 00% 47396 -',
            [SelfTest('Short offline', 'Completed without error', True, 47396)],
            id='collapsed',
        ),
    ],
)
def test_ata_self_tests_are_read(lines, expected):
    """Newest first, as printed."""
    assert ata(lines).self_tests == tuple(expected)


@pytest.mark.parametrize('status, is_told', [('0x86', True), ('0x84', False)])
def test_an_offline_data_collection_that_failed_is_a_message(status, is_told):
    found = ata(
        f'Offline data collection status:  ({status})\tOffline data collection activity\n'
        'Self-test execution status:      ( 121)\tThe previous self-test completed having\n'
    )

    assert any('fatal error' in message for message in found.messages) is is_told


ERROR_LOG = """
SMART Error Log Version: 1
ATA Error Count: 7 (device log contains only the most recent five errors)

Error 7 occurred at disk power-on lifetime: 40100 hours (1670 days + 20 hours)
  When the command that caused the error occurred, the device was active or idle.

  After command completion occurred, registers were:
  ER ST SC SN CL CH DH
  -- -- -- -- -- -- --
  40 51 08 bf 0b 34 e0  Error: UNC 8 sectors at LBA = 0x00340bbf = 3410879

  Commands leading to the command that caused the error were:
  CR FR SC SN CL CH DH DC   Powered_Up_Time  Command/Feature_Name
  -- -- -- -- -- -- -- --  ----------------  --------------------
  c8 00 08 bf 0b 34 e0 08      10:35:46.187  READ DMA

Error 6 [1] occurred at disk power-on lifetime: 17401 hours (725 days + 1 hours)
  ER -- ST COUNT  LBA_48  LH LM LL DV DC
  -- -- -- == -- == == == -- -- -- -- --
  40 -- 51 00 00 00 00 00 f7 df 38 a7 00

Error 5 [0] occurred at disk power-on lifetime: 5141 hours (214 days + 5 hours)
  04 -- 71 00 00 00 00 3a 90 c1 06 00 00  Device Fault; Error: ABRT at LBA = 0x3a90c106 = 982565126

Error 4 [3] log entry is empty
"""


def test_the_entries_of_an_error_log_tell_their_kind_and_hour():
    """As -l error and -l xerror print them; commands before an error are none, and an empty
    entry is none.
    """
    assert ata(ERROR_LOG).errors == (
        ErrorEntry(7, ('UNC',), 40100),
        ErrorEntry(6, ('UNC',), 17401),
        ErrorEntry(5, ('ABRT',), 5141),
    )


def test_warnings_of_smartctl_are_kept():
    """They belong to the verdict: an attribute check is no SMART status."""
    found = ata(
        'Warning: This result is based on an Attribute check.\n==> WARNING: A firmware update may '
        'be '
        'available,\n'
        'Read SMART Log Directory failed: scsi error'
    )

    assert len(found.messages) == 2
    assert found.is_status_derived


# NVMe

NVME = """\
    === START OF INFORMATION SECTION ===
    Model Number:                       ACME N1
    Serial Number:                      EXAMPLE0002
    Total NVM Capacity:                 1{0}600{0}321{0}314{0}816 [1,60 TB]
    Namespace 1 Formatted LBA Size:     4096
    Namespace 1 IEEE EUI-64:            a84397 0000677720
    Warning  Comp. Temp. Threshold:     70 Celsius
    Critical Comp. Temp. Threshold:     80 Celsius

    === START OF SMART DATA SECTION ===
    SMART overall-health self-assessment test result: PASSED

    SMART/Health Information (NVMe Log 0x02, NSID 0xffffffff)
    Critical Warning:                   0x00
    Temperature:                        46 Celsius
    Available Spare:                    100%
    Available Spare Threshold:          10%
    Percentage Used:                    112%
    Data Units Read:                    11{0}442{0}052
    Data Units Written:                 36{0}848{0}011 [18,8 TB]
    Power On Hours:                     2{0}144
    Unsafe Shutdowns:                   1{0}298
    Warning  Comp. Temperature Time:    61
    Temperature Sensor 1:               55 Celsius
    """


@pytest.mark.parametrize(
    'group',
    [',', '.', "'", '\u2019', ' ', '\u00a0', '\u202f', '\u2009', ''],
    ids=[
        'comma',
        'dot',
        'apostrophe',
        'typographic-apostrophe',
        'blank',
        'no-break',
        'narrow',
        'thin',
        'none',
    ],
)
def test_numbers_of_every_locale_are_read(group):
    """smartctl prints the thousands separator of its locale; pySMART takes some of them."""
    found = report(NVME.format(group))

    assert found.identity.capacity == 1600321314816
    assert found.nvme == {
        'critical_warning': 0,
        'temperature': 46,
        'available_spare': 100,
        'available_spare_threshold': 10,
        'percentage_used': 112,
        'data_units_read': 11442052,
        'data_units_written': 36848011,
        'power_on_hours': 2144,
        'unsafe_shutdowns': 1298,
        'warning_temp_time': 61,
        'warning_temp_threshold': 70,
        'critical_temp_threshold': 80,
    }


@pytest.mark.parametrize(
    'words', ['12 and 34', '-5', '7 of 9', '\u07c8as active or 0', '1e300']
)
def test_what_is_not_one_number_gives_none(words):
    """Its digits put together are a number that nobody said."""
    found = report(NVME.format(',').replace('2,144', words)).nvme

    assert 'power_on_hours' not in found and found['unsafe_shutdowns'] == 1298


def test_an_nvme_self_test_log_is_read():
    """smartctl 7.4 says the NSID in the headline, where pySMART stops reading."""
    found = report(
        NVME.format(',')
        + """\
    Self-test Log (NVMe Log 0x06, NSID 0xffffffff)
    Self-test status: No self-test in progress
    Num  Test_Description  Status                       Power_on_Hours  Failing_LBA  NSID Seg SCT Code
     0   Extended          Completed: failed segments                3441       4711     1   3 0x2 0x81
     1   Short             Aborted: Controller Reset                  865            -     -   -   -    -
    """
    )

    assert found.self_tests == (
        SelfTest('Extended', 'Completed: failed segments', False, 3441),
        SelfTest('Short', 'Aborted: Controller Reset', None, 865),
    )


# SCSI


# Identity


# Which file is this


def test_junk_around_a_report_is_ignored():
    """Prompts, shell prefixes and rulers of a ticket."""
    text = (
        'root@web1:~# smartctl -a /dev/sda\nSerial Number: NOT-THIS\n'
        + BANNER
        + textwrap.dedent(NVME).format(',')
        + '\n==========\nroot@web1:~#\n'
    )

    assert text_report.parse_text(text).identity.serial == 'EXAMPLE0002'


@pytest.mark.parametrize('encoding', ['utf-16', 'cp1252'])
def test_any_encoding_of_a_recorded_file_is_read(encoding):
    """PowerShell redirects as UTF-16; a French Windows groups digits with a Latin-1 blank."""
    data = (BANNER + textwrap.dedent(NVME).format('\u00a0')).encode(encoding)

    assert text_report.parse_report(data).nvme['data_units_read'] == 11442052


# Hostile text


@pytest.mark.parametrize(
    'line',
    [
        pytest.param('# 1' + ' ' * 5000 + 'x', id='blanks'),
        pytest.param('9 ' + 'a' * 350 + ' ' + 'b' * 40, id='endless-name'),
        pytest.param('# 1  Short offline ' + 'Completed ' * 35, id='endless-status'),
        pytest.param('# 1  Background short ' + '- ' * 180, id='endless-columns'),
        pytest.param(
            '256 Too_Large               0x0033   100   100   010    Pre-fail  Always       -       0',
            id='number-256',
        ),
        pytest.param(
            '  0 Zero                    0x0033   100   100   010    Pre-fail  Always       -       0',
            id='number-0',
        ),
        pytest.param('Temperature: ' + '9' * 300, id='endless-number'),
        pytest.param('0xzz  0x008  1   78  N--  Percentage', id='no-page'),
    ],
)
def test_a_hostile_line_costs_nothing_and_breaks_nothing(line):
    """A model string can look like any line of a report."""
    found = ata((line + '\n') * 200)

    assert found.smart_status is True
    assert found.attributes == ()


def test_more_rows_than_any_drive_has_are_cut_off():
    """pySMART has room for 255."""
    row = '  9 Power_On_Hours          -O--CK   100   100   000    -    {}\n'

    assert len(ata(''.join(map(row.format, range(1000)))).attributes) == 255


def test_a_missing_pysmart_is_a_sentence(monkeypatch):
    """Debian does not package it; JSON reports do not need it."""
    monkeypatch.setitem(sys.modules, 'pySMART.interface', None)
    monkeypatch.setitem(sys.modules, 'pySMART', None)

    with pytest.raises(DriveError) as caught:
        ata(CLASSIC_ROW)

    assert 'pySMART' in str(caught.value) and '--json' in str(caught.value)


@pytest.mark.parametrize(
    'start',
    [
        '# 1 Short Completed',
        '1 Short Completed',
        '# 1 a',
        '# 1 Background',
        '1 a 0x0033',
    ],
)
def test_a_report_of_nothing_but_almost_rows_is_read_soon(start):
    """An expression that shares a run of blanks in every possible way takes minutes for a file
    that fits a mail.
    """
    text = 'smartctl 7.3\n' + f'{start:399}x\n' * 2500
    started = time.process_time()

    with pytest.raises(DriveError):
        text_report.parse_text(text)

    assert time.process_time() - started < 5


# The parts of a report

CLASSIC_ROW = '9 Power_On_Hours          0x0032   100   100   000    Old_age   Always       -       7'
STATISTIC_ROW = '0x01  0x010  4            3188  ---  Power-on Hours'


@pytest.mark.parametrize(
    'text, protocol',
    [
        ('', ''),
        ('x: 1', ''),
        ('Critical Warning: 0x00', 'NVMe'),
        ('Model Number: x', 'NVMe'),
        ('=== START OF SMART DATA SECTION ===', 'NVMe'),
        (f'Model Number: x\n{CLASSIC_ROW}', 'NVMe'),
        (CLASSIC_ROW, 'ATA'),
        (STATISTIC_ROW, 'ATA'),
        (f'Vendor: x\n{CLASSIC_ROW}', 'ATA'),
        ('Vendor: x\nDevice Model: x', 'ATA'),
        ('General SMART Values:', 'ATA'),
        ('Vendor: x', 'SCSI'),
        ('Accumulated power on time, hours: 7', 'SCSI'),
    ],
)
def test_the_labels_of_a_text_show_its_protocol(text, protocol):
    assert text_report._protocol(lines_by_kind(text)) == protocol


@pytest.mark.parametrize(
    'protocol, text, expected',
    [
        ('ATA', '', ('', '', '', '', None, None, '', 512, None)),
        (
            'ATA',
            'Device Model: X\nFirmware Version: 1\nSerial Number: S\nLU WWN Device Id: 5 0001 '
            '22223333\n'
            'Rotation Rate: Solid State Device\nUser Capacity: 1,000 bytes [1 kB]\nModel Family: '
            'F\n'
            'Sector Sizes: 4096 bytes logical, 8192 bytes physical',
            ('X', '1', 'S', '5000122223333', 0, 1000, 'F', 4096, 8192),
        ),
        (
            'ATA',
            'Device Model: [No Information Found]\nFirmware Version: [No Information '
            'Found]\nModel Number: Y\nSerial Number: [No Information Found]\n'
            'Rotation Rate: 7200 rpm\nSector Size: 512 bytes logical/physical',
            ('Y', '', '', '', 7200, None, '', 512, 512),
        ),
        (
            'NVMe',
            'Model Number: Y\nFirmware Version: 2\nNamespace 1 Size/Capacity: 2,000 [2 kB]\n'
            'Namespace 1 Capacity: 7\nNamespace 1 Formatted LBA Size: 4096\nNamespace 1 IEEE '
            'EUI-64: 0025 38b0\n'
            'Total NVM Capacity: 9',
            ('Y', '2', '', '002538b0', None, 2000, '', 4096, None),
        ),
        ('NVMe', 'Namespace 1 Capacity: 7', ('', '', '', '', None, 7, '', 512, None)),
        ('NVMe', 'Total NVM Capacity: 9', ('', '', '', '', None, 9, '', 512, None)),
        (
            'SCSI',
            'Vendor: V\nProduct: P\nRevision: R\nLogical Unit id: 0x50001111\nLogical block size: '
            '520 bytes\n'
            'Physical block size: 4160 bytes',
            ('V P', 'R', '', '50001111', None, None, '', 520, 4160),
        ),
        ('SCSI', 'Product: P', ('P', '', '', '', None, None, '', 512, None)),
        (
            'SCSI',
            'Device: A  B    Version: 7 \nVendor: V',
            ('A B', '7', '', '', None, None, '', 512, None),
        ),
    ],
    ids=range(9),
)
def test_an_identity_is_read_from_the_labels_of_its_protocol(protocol, text, expected):
    identity = text_report._identity(lines_by_kind(text).fields, protocol)

    assert identity == (protocol, *expected[:8], False, expected[8])


@pytest.mark.parametrize(
    'text, expected',
    [
        ('SMART overall-health self-assessment test result: PASSED', (True, '')),
        ('SMART Health Status: OK', (True, '')),
        ('SMART overall-health self-assessment test result: FAILED!', (False, '')),
        ('', (None, '')),
        (
            'SMART overall-health self-assessment test result: UNKNOWN!',
            (None, 'UNKNOWN!'),
        ),
        (
            'SMART Health Status: HARDWARE FAILURE [asc=5d]',
            (False, 'HARDWARE FAILURE [asc=5d]'),
        ),
    ],
    ids=range(6),
)
def test_a_health_status_is_passed_failed_or_unknown(text, expected):
    assert text_report._smart_status(lines_by_kind(text).fields) == expected


@pytest.mark.parametrize(
    'text, number',
    [
        ('', None),
        ('    0   117  82', None),
        ('Pending Defects log (GP Log 0x0c)', 0),
        ('Pending Defects log (GP Log 0x0c)\n    0   117  82\n    1   118   -', 2),
        (
            'Pending Defects log (GP Log 0x0c)\n    0   117  82\n... (30 entries not shown)',
            31,
        ),
        (
            'Pending Defects log (GP Log 0x0c)\n... (x entries not shown)\n... (7 others)',
            0,
        ),
        (
            'Pending Defects log (GP Log 0x0c)\n... (7 others)\n... (30 entries not shown) (x)',
            30,
        ),
    ],
    ids=range(7),
)
def test_pending_defects_are_counted_with_those_that_are_not_shown(text, number):
    assert text_report._pending_defects(lines_by_kind(text)) == number


@pytest.mark.parametrize(
    'text, number',
    [
        ('', None),
        ('SMART Error Log Version: 1\nNo Errors Logged', 0),
        ('SMART Extended Comprehensive Error Log Version: 1\nNo Errors Logged', 0),
        ('ATA Error Count: 7', 7),
        ('ATA Error Count: 7\nDevice Error Count: 9 (x)', 9),
        ('ATA Error Count: 7 (invalid)\nDevice Error Count: 3', 3),
        ('Device Error Count: x\nSMART Error Log Version: 1\nNo Errors Logged', None),
    ],
    ids=range(7),
)
def test_an_error_count_is_the_larger_of_two(text, number):
    assert text_report._error_count(lines_by_kind(text).fields) == number


@pytest.mark.parametrize(
    'numbers, hours',
    [
        ((1, 2, 3), [11, 12, 13]),
        ((1, 2, 1, 2), [11, 12]),
        ((2, 3, 3), [12, 13]),
        ((1, 1), [11]),
        ((0, 1), []),
    ],
    ids=str,
)
def test_the_second_log_of_self_tests_repeats_the_first(numbers, hours):
    rows = [
        f'#{number:2}  Short offline       Completed without error       00%       {10 + number}  '
        f'       -'
        for number in numbers
    ]

    assert [
        test.hours for test in text_report._self_tests(lines_by_kind('\n'.join(rows)))
    ] == hours


@pytest.mark.parametrize(
    'status, words',
    [('( 121)', 'Completed: read failure'), ('(   0)', ''), ('121', ''), ('', '')],
)
def test_the_last_self_test_is_in_the_status_byte(status, words):
    tests = text_report._self_tests(
        lines_by_kind(f'Self-test execution status:      {status}\tx')
    )

    assert [test.status for test in tests] == ([words] if words else [])


@pytest.mark.parametrize(
    'lines, bits',
    [
        ([], None),
        (['- x'], None),
        (['- available spare x'], 1),
        (['- temperature'], 2),
        (['- NVM subsystem reliability'], 4),
        (['- media'], 8),
        (['- volatile memory'], 16),
        (['- persistent memory'], 32),
        (['- media', '- temperature'], 10),
        (['- unknown critical warning(s) (0xc0)', '- media', '- media'], 0xC8),
        (['media'], None),
        (
            [
                '- unknown critical warning(s) (0x40)',
                '- unknown critical warning(s) (0x40)',
            ],
            0x40,
        ),
    ],
    ids=str,
)
def test_the_words_below_a_failed_nvme_drive_are_bits(lines, bits):
    assert text_report._warning_bits(lines) == bits


@pytest.mark.parametrize(
    'text, passed, expected',
    [
        ('', None, {}),
        ('', True, {'critical_warning': 0}),
        ('- media', False, {'critical_warning': 8}),
        ('', False, {}),
        (
            'Warning  Comp. Temp. Threshold: 70 Celsius\nCritical Comp. Temp. Threshold: 80 '
            'Celsius',
            None,
            {'warning_temp_threshold': 70, 'critical_temp_threshold': 80},
        ),
        ('Critical Warning: 0x04\n- media', True, {'critical_warning': 4}),
    ],
    ids=range(6),
)
def test_an_nvme_log_has_its_warning_and_its_thresholds(text, passed, expected):
    assert text_report._nvme(lines_by_kind(text), passed) == expected


@pytest.mark.parametrize(
    'text, expected',
    [
        ('', {}),
        (
            'Current Drive Temperature: 31 C\nDrive Trip Temperature: 60 C',
            {'temperature': 31, 'drive_trip': 60},
        ),
        ('Current Temperature: 32 C', {'temperature': 32}),
        (
            'Current Drive Temperature: 31 C\nCurrent Temperature: 32 C',
            {'temperature': 31},
        ),
        (
            'Accumulated power on time, hours:minutes 22332:41',
            {'power_on_hours': 22332},
        ),
        ('number of hours powered up = 7.50', {'power_on_hours': 7}),
        ('Non-medium error count: 3', {'non_medium_errors': 3}),
        (
            'verify: 1 2 3 4 5 6,5 7',
            {
                'verify.errors_corrected_by_eccfast': 1,
                'verify.errors_corrected_by_eccdelayed': 2,
                'verify.errors_corrected_by_rereads_rewrites': 3,
                'verify.total_errors_corrected': 4,
                'verify.correction_algorithm_invocations': 5,
                'verify.gigabytes_processed': 6.5,
                'verify.total_uncorrected_errors': 7,
            },
        ),
        ('read: 1 2', {}),
    ],
    ids=range(9),
)
def test_the_counters_of_a_sas_drive_come_from_several_lines(text, expected):
    found = text_report._scsi(lines_by_kind(text))

    assert found == expected
    assert all(
        type(number) is (float if 'gigabytes' in key else int)
        for key, number in found.items()
    )


NO_REPORT = 'is not a smartctl report; record with: smartctl -x --json PATH'
REFUSALS = {
    'empty': ('', DriveError, EMPTY),
    'foreign list': (
        'Product: broom\nVendor: ACME\nDevice: none\n',
        NotAReport,
        NO_REPORT,
    ),
    'banner': (BANNER, DriveError, NO_DRIVE),
    'identity': (
        'smartctl 7.2\nDevice Model: X\n',
        DriveError,
        IDENTITY,
    ),
    'sudo': (
        'smartctl 7.2\nDevice Model: X\nsudo: a password is required',
        SudoRefused,
        (
            'cannot be read: sudo asks for a password; '
            'run check_smart_attributes sudoers, and save its output in /etc/sudoers.d'
        ),
    ),
    'asleep': (
        BANNER + 'Device is in STANDBY mode, exit(2)\n',
        DriveAsleep,
        'is in STANDBY mode and was not woken',
    ),
    'tape': (
        'smartctl 7.2\nVendor: X\nDevice type: tape\n',
        DriveIsNoDrive,
        'is not a disk (tape), so it has no SMART; exclude it: --ignore PATH',
    ),
    'disabled': (
        'smartctl 7.2\nSMART Health Status: OK\nElements in grown defect list: 1\nSMART '
        'support is: Disabled\n',
        DriveError,
        DISABLED,
    ),
    'two': (
        BANNER + 'Device Model: X\n' + BANNER + 'Device Model: Y\n',
        DriveError,
        'contains reports of several drives; save each one in its own file',
    ),
}


@pytest.mark.parametrize('case', REFUSALS)
def test_a_text_without_a_verdict_says_why(case):
    """Never OK by silence, never a traceback."""
    text, kind, words = REFUSALS[case]
    with pytest.raises(DriveError) as caught:
        text_report.parse_text(text)

    assert (type(caught.value), str(caught.value)) == (kind, words)
    assert (caught.value.code == 'several-reports') is (case == 'two')


@pytest.mark.parametrize(
    'text, is_empty',
    [
        ('', False),
        ('General SMART Values:\n', True),
        (f'General SMART Values:\n{CLASSIC_ROW}\n', False),
    ],
)
def test_a_passed_alone_is_worth_nothing_where_attributes_were_asked_for(
    text, is_empty
):
    whole = f'smartctl 7.2\n{text}SMART overall-health self-assessment test result: PASSED\n'
    if not is_empty:
        assert text_report.parse_text(whole).smart_status
        return
    with pytest.raises(DriveError, match='no SMART attributes'):
        text_report.parse_text(whole)


@pytest.mark.parametrize(
    'text, version',
    [
        ('smartctl 7.2 x', (7, 2)),
        ('  smartctl version 5.37', (5, 37)),
        ('smartctl pre-7.4', (7, 4)),
        ('x', ()),
    ],
)
def test_a_version_is_in_the_first_line(text, version):
    assert text_report.parse_text(f'{text}\n{CLASSIC_ROW}\n').version == version


WHOLE = f'smartctl 7.2\nDevice Model: X\n{CLASSIC_ROW}\n\n'


def test_a_drive_has_the_logs_of_its_protocol_alone():
    passed = 'SMART overall-health self-assessment test result: PASSED'
    ata = text_report.parse_text(f'{WHOLE}Current Temperature: 7\n{passed}\n')
    nvme = text_report.parse_text('Critical Warning: 0x00\nATA Error Count: 7\n')

    assert (ata.nvme, ata.scsi, nvme.error_count) == ({}, {}, None)


@pytest.mark.parametrize('numbers, kind', [((4, 10), 'hdd'), ((4, 9), 'ssd')])
def test_a_drive_that_counts_starts_of_its_spindle_is_a_hard_disk(numbers, kind):
    rows = ''.join(f'{number}{CLASSIC_ROW[1:]}\n' for number in numbers)

    assert text_report.parse_text(f'smartctl 7.2\n{rows}').identity.kind == kind
