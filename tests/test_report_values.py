"""The content of a report: what is enough for a verdict, and the values that JSON and text
share.
"""

import pytest

from smart_attributes.errors import DriveIsNoDrive
from smart_attributes.model import (
    AttributeRow,
    ErrorEntry,
    Identity,
    Report,
    SelfTest,
    Statistic,
)
from smart_attributes.reading import content

ROW = AttributeRow(5, 'x', 100, 100, 10, True, '', '0')
ATA, SAS, NVME = (
    Identity('ATA', 'ACME'),
    Identity('SCSI', 'ACME'),
    Identity('NVMe', 'ACME'),
)
QEMU = Identity('ATA', 'QEMU HARDDISK')
DISABLED = 'has SMART disabled'
EMPTY = 'reports no SMART attributes'


@pytest.mark.parametrize(
    'report, is_enough',
    [
        (Report(ATA), False),
        (Report(ATA, smart_status=False), True),
        (Report(ATA, attributes=(ROW,)), True),
        (Report(ATA, statistics={(1, 8): Statistic(0, 'x')}), True),
        (Report(ATA, error_count=0), True),
        (Report(ATA, self_tests=(SelfTest('x', 'x', None, 1),)), True),
        (Report(SAS, scsi={'temperature': 0}), False),
        (Report(SAS, scsi={'temperature': 0, 'drive_trip': 0}), False),
        (Report(SAS, scsi={'grown_defects': 0}), True),
        (
            Report(
                NVME, nvme={'warning_temp_threshold': 70, 'critical_temp_threshold': 80}
            ),
            False,
        ),
        (Report(NVME, nvme={'critical_warning': 0}), True),
    ],
    ids=range(11),
)
def test_a_report_about_health_holds_more_than_temperatures(report, is_enough):
    assert content.has_smart_data(report) is is_enough


@pytest.mark.parametrize(
    'report, is_disabled, is_asked, words',
    [
        (Report(ATA), False, True, ''),
        (Report(ATA), True, True, DISABLED),
        (Report(ATA, smart_status=True), False, False, ''),
        (Report(ATA, smart_status=True), False, True, EMPTY),
        (Report(ATA, smart_status=False), True, True, ''),
        (Report(ATA, smart_status=True, attributes=(ROW,)), False, True, ''),
        (Report(QEMU), False, True, 'virtual disk of QEMU'),
        (Report(QEMU), True, True, 'virtual disk of QEMU'),
        (Report(SAS, smart_status=True, scsi={'grown_defects': 0}), False, True, ''),
    ],
    ids=range(9),
)
def test_a_report_without_verdict_has_a_reason(report, is_disabled, is_asked, words):
    problem = content.known_problem(report, 'disk', 'SAS', is_disabled, is_asked)

    assert words in str(problem) if words else problem is None


@pytest.mark.parametrize(
    'report, kind, transport, words',
    [
        (Report(SAS, smart_status=True), 'disk', 'SAS', ''),
        (Report(SAS, smart_status=True), 'CD/DVD', '', 'is not a disk'),
        (Report(SAS, smart_status=True), 'disk', 'iSCSI', 'iSCSI volume'),
        (Report(ATA, True), 'CD/DVD', '', ''),
        (Report(SAS, smart_status=False), 'CD/DVD', '', ''),
        (Report(SAS, scsi={'grown_defects': 0}), 'CD/DVD', '', ''),
        (Report(SAS, scsi={'temperature': 0}), 'CD/DVD', '', 'is not a disk'),
        (Report(SAS._replace(model='ACME RAID 1'), True), 'disk', '', 'RAID volume'),
        (Report(SAS._replace(wwn='6' + '0' * 31), True), 'disk', '', 'RAID volume'),
    ],
    ids=range(9),
)
def test_the_ok_of_a_volume_says_nothing_about_its_drives(
    report, kind, transport, words
):
    problem = content.known_problem(
        report, kind, transport, is_disabled=False, is_table_asked=False
    )

    assert (
        words in str(problem) and isinstance(problem, DriveIsNoDrive)
        if words
        else problem is None
    )


@pytest.mark.parametrize(
    'numbers, spins',
    [
        ((4, 10), True),
        ((4,), False),
        ((10,), False),
    ],
)
def test_a_spindle_is_known_by_two_attributes(numbers, spins):
    assert content.has_spindle(ROW._replace(id=number) for number in numbers) is spins


@pytest.mark.parametrize(
    'number, count, expected',
    [
        (None, 4, Statistic(4, 'Pending Error Count')),
        (None, 0, Statistic(0, 'Pending Error Count')),
        (None, None, None),
        (None, -1, None),
        (7, 4, Statistic(7, 'own')),
    ],
    ids=str,
)
def test_the_length_of_the_pending_defects_log_is_a_statistic(number, count, expected):
    own = {} if number is None else {(1, 0x40): Statistic(number, 'own')}

    assert content.with_pending(own, count) == (
        {} if expected is None else {(1, 0x40): expected}
    )


@pytest.mark.parametrize(
    'printed, digits',
    [
        ('5000C500a1b2c3d4', '5000c500a1b2c3d4'),
        ('0x5000c500', '5000c500'),
        ('0X5000C500', '5000c500'),
        ('5000c50', ''),
        ('0' * 32, '0' * 32),
        ('0' * 33, ''),
        ('5000c500xxxxxxxx', ''),
        ('0x', ''),
    ],
)
def test_a_world_wide_name_is_hexadecimal_digits(printed, digits):
    assert content.wwn_of(printed) == digits


@pytest.mark.parametrize(
    'words, register, kind',
    [
        ('Error: UNC 8 sectors at LBA = 1', 0x84, ('UNC',)),
        ('Device Fault; Error: ICRC, ABRT at', None, ('ICRC', 'ABRT')),
        ('', 0xD4, ('ICRC', 'UNC', 'IDNF', 'ABRT')),
        ('', 0x2B, ()),
        ('', None, ()),
        ('no Error: UNC', 0x04, ('ABRT',)),
    ],
)
def test_the_kind_of_an_error_is_in_its_words_else_in_the_register(
    words, register, kind
):
    assert content.error_entry(3, 70, words, register) == ErrorEntry(3, kind, 70)


@pytest.mark.parametrize(
    'status, words',
    [
        (None, ''),
        (0x00, ''),
        (0x10, ''),
        (0x2F, ''),
        (0x30, 'Fatal or unknown error'),
        (0x4F, 'Completed: unknown failure'),
        (0x50, 'Completed: electrical failure'),
        (0x60, 'Completed: servo/seek failure'),
        (0x79, 'Completed: read failure'),
        (0x80, 'Completed: handling damage??'),
        (0x90, ''),
        (0xF9, ''),
    ],
)
def test_only_a_failed_last_self_test_has_an_entry(status, words):
    expected = (SelfTest('Last self-test', words, False, None),) if words else ()

    assert content.last_self_test(status) == expected
    assert not words or content.self_test_passed(words) is False


@pytest.mark.parametrize(
    'status, passed',
    [
        ('Completed without error', True),
        ('Completed', True),
        ('Completed: read failure', False),
        ('Completed: handling damage??', False),
        ('Completed, segment failed', False),
        ('Failed in first segment', False),
        ('Fatal or unknown error', False),
        ('Fatal or unknown test error', False),
        ('Unknown error, incomplete', False),
        ('Completed: unknown failed segment', False),
        ('Aborted by host', None),
        ('Aborted (device reset ?)', None),
        ('Aborted: unknown reason', None),
        ('Interrupted (host reset)', None),
        ('Self-test routine in progress', None),
        ('Self test in progress ...', None),
        ('Unknown status (0xc)', None),
        ('', None),
        ('Aborted: a segment failed', None),
        ('A fatal error', None),
    ],
)
def test_a_self_test_proves_what_its_words_say(status, passed):
    """The words of ATA, SCSI and NVMe; unknown ones prove nothing."""
    assert content.self_test_passed(status) is passed
