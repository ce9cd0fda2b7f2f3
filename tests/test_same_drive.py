"""same_drive: several addresses of one drive, and the report that they make together."""

import pytest

from smart_attributes.check.drive_facts import differ
from smart_attributes.check.same_drive import Distinct, distinct, merged, note
from smart_attributes.errors import DriveError
from smart_attributes.model import (
    DOUBTED,
    ONE,
    SEPARATE,
    AttributeRow,
    ErrorEntry,
    Farm,
    Identity,
    LogPage,
    NvmeError,
    Read,
    Report,
    SelfTest,
    Statistic,
)
from smart_attributes.reading.addresses import parse

SSD = Identity(
    protocol='ATA', model='MODEL X1', serial='S0A1B2C3', wwn='5000c500a1b2c3d4'
)
NVME = Identity(protocol='NVMe', model='MODEL N1', serial='N0A1B2C3')


def read(text, identity):
    return Read(parse(text)[0], Report(identity))


def unread(text, identity):
    return Read(parse(text)[0], DriveError('returns no SMART data').of(identity))


def drives_of(*reads: Read, seen: str = SEPARATE) -> list[Distinct]:
    """Return the drives at these addresses. seen: what the history says about any two."""
    return distinct(reads, lambda *_: seen)


def kept(*reads):
    return [
        tuple(place.device.address for place in (drive.read, *drive.others))
        for drive in drives_of(*reads)
    ]


def test_every_address_given_up_is_named():
    [drive] = drives_of(
        read('megaraid,6@/dev/bus/0', SSD), read('/dev/sda', SSD), read('/dev/sg0', SSD)
    )

    assert note(drive) == 'also reached as /dev/sda, /dev/sg0'


def test_of_two_addresses_the_one_that_tells_is_kept():
    """Be it the plain one; what is wrong with the other is told beside it."""
    answer = read('/dev/sda', SSD)
    found = (
        unread('megaraid,6@/dev/bus/0', SSD),
        answer._replace(outcome=answer.outcome._replace(smart_status=True)),
    )
    [drive] = drives_of(*found)

    assert kept(*found) == [('/dev/sda', 'megaraid,6@/dev/bus/0')]
    assert (
        note(drive)
        == 'also reached as megaraid,6@/dev/bus/0, which returns no SMART data'
    )


TABLE = (
    AttributeRow(5, 'x', 100, 100, 10, True, '', '7'),
    AttributeRow(9, 'x', 100, 100, 0, False, '', '1000'),
    AttributeRow(12, 'x', 100, 100, 0, False, '', '30'),
    AttributeRow(194, 'x', 60, 60, 0, False, '', '40'),
    AttributeRow(197, 'x', 100, 100, 0, False, '', '3'),
    AttributeRow(233, 'x', 90, 90, 0, False, '', '0'),
    AttributeRow(241, 'x', 100, 100, 0, False, '', '5000000'),
)
REPORT = Report(SSD._replace(capacity=480 * 10**9), smart_status=True, attributes=TABLE)
HEALTH = {
    'power_on_hours': 1000,
    'power_cycles': 30,
    'percentage_used': 10,
    'media_errors': 7,
    'data_units_written': 1_000_000,
}
LOGS = {
    'power_on_hours': 1000,
    'start_stop_cycles': 30,
    'grown_defects': 7,
    'percentage_used': 10,
}


def with_raw(report: Report, id_: int, raw: int) -> Report:
    rows = tuple(
        row._replace(raw=str(raw)) if row.id == id_ else row
        for row in report.attributes
    )
    return report._replace(attributes=rows)


def with_value(report: Report, id_: int, value: int) -> Report:
    rows = tuple(
        row._replace(value=value) if row.id == id_ else row for row in report.attributes
    )
    return report._replace(attributes=rows)


def with_health(report: Report, **changes: int) -> Report:
    return report._replace(nvme={**HEALTH, **changes})


def with_logs(report: Report, **changes: int) -> Report:
    return report._replace(scsi={**LOGS, **changes})


CAPACITY = REPORT.identity._replace(capacity=10**9)
HOURS, WRITTEN, USED = (1, 0x10), (1, 0x18), (7, 8)


NINE = Statistic(9, 'x')


@pytest.mark.parametrize(
    'other, strong, weak',
    [
        (REPORT, False, False),
        (REPORT._replace(identity=CAPACITY), True, True),
        (with_raw(REPORT, 12, 31), True, True),  # power cycles
        (with_raw(REPORT, 9, 1002), False, False),  # power-on hours
        (with_raw(REPORT, 9, 1010), True, True),
        (with_value(REPORT, 233, 89), False, False),  # remaining life
        (with_value(REPORT, 233, 88), True, True),
        (with_raw(REPORT, 241, 8_000_000), False, False),  # written sectors
        (with_raw(REPORT, 241, 20_000_000), True, True),
        (with_raw(REPORT, 5, 8), False, True),  # errors, more and less
        (with_raw(REPORT, 5, 6), True, True),
        (with_raw(REPORT, 197, 0), False, False),  # pending sectors
        (with_raw(REPORT, 194, 20), False, False),  # temperature
        (REPORT._replace(attributes=()), False, False),
        (REPORT._replace(smart_status=False), False, True),
        (REPORT._replace(smart_status=False, is_status_derived=True), False, False),
        (REPORT._replace(smart_status=None), False, False),
    ],
)
def test_two_drives_with_one_identity_differ_in_what_no_drive_counts_in_two_seconds(
    other, strong, weak
):
    """If serial number and WWN are equal, the drive may have counted errors in between."""
    assert differ(REPORT, other, 2, may_count=True) is strong
    assert differ(REPORT, other, 2, may_count=False) is weak


@pytest.mark.parametrize(
    'part, before, after, strong, weak',
    [
        ('statistics', {HOURS: NINE}, {HOURS: Statistic(10, 'x')}, False, False),
        ('statistics', {HOURS: NINE}, {HOURS: Statistic(11, 'x')}, True, True),
        ('statistics', {USED: NINE}, {USED: Statistic(11, 'x')}, True, True),
        ('statistics', {WRITTEN: NINE}, {WRITTEN: Statistic(10**7, 'x')}, True, True),
        ('nvme', HEALTH, {'power_on_hours': 1001}, False, False),
        ('nvme', HEALTH, {'power_on_hours': 1003}, True, True),
        ('nvme', HEALTH, {'power_cycles': 31}, True, True),
        ('nvme', HEALTH, {'percentage_used': 12}, True, True),
        ('nvme', HEALTH, {'media_errors': 8}, False, True),
        ('nvme', HEALTH, {'data_units_written': 1_030_000}, False, False),
        ('nvme', HEALTH, {'data_units_written': 1_040_000}, True, True),
        ('nvme', {'critical_warning': 1}, {'critical_warning': 4}, False, True),
        ('nvme', HEALTH, {'critical_warning': 2}, False, False),  # temperature
        ('scsi', LOGS, {'power_on_hours': 1003}, True, True),
        ('scsi', LOGS, {'start_stop_cycles': 31}, True, True),
        ('scsi', LOGS, {'percentage_used': 12}, True, True),
        ('scsi', LOGS, {'grown_defects': 8}, False, True),
    ],
)
def test_the_logs_tell_two_drives_with_one_identity_apart(
    part, before, after, strong, weak
):
    one, other = (
        REPORT._replace(**{part: log}) for log in (before, {**before, **after})
    )

    assert differ(one, other, 2, may_count=True) is strong
    assert differ(one, other, 2, may_count=False) is weak


def at(address: str, report: Report, ended: float = 0) -> Read:
    return Read(parse(address)[0], report, ended=ended)


SERIAL = REPORT._replace(identity=REPORT.identity._replace(wwn=''))


@pytest.mark.parametrize(
    'seen, counted, drives, is_doubted',
    [
        (SEPARATE, 9, 2, False),
        (ONE, 9, 1, False),
        (ONE, 1, 1, True),  # two checks must agree
        (DOUBTED, 9, 1, False),
        (DOUBTED, 1, 2, False),
    ],
)
def test_a_drive_known_as_one_is_split_when_two_checks_agree(
    seen, counted, drives, is_doubted
):
    reads = [at('/dev/sda', SERIAL, 2), at('/dev/sdb', with_raw(SERIAL, 5, counted), 3)]
    apart = drives_of(*reads, seen=seen)

    assert len(apart) == drives
    assert apart[0].is_doubted is is_doubted


def test_namespaces_that_share_an_eui64_are_one_drive_only_by_their_counters():
    report = with_health(
        REPORT._replace(identity=NVME._replace(wwn='0025385b11b00001'), attributes=())
    )
    more = with_health(report, media_errors=8)

    assert len(drives_of(at('/dev/nvme0n1', report), at('/dev/nvme1n1', more))) == 1
    assert len(drives_of(at('/dev/nvme0n1', report), at('/dev/nvme1n2', more))) == 2


# --- the merged report ----------------------------------------------------------------------------

ALMOST = REPORT._replace(is_status_derived=True)
FAILED = REPORT._replace(smart_status=False)


@pytest.mark.parametrize(
    'plain, raid, status, is_derived',
    [
        (FAILED, ALMOST, False, False),
        (ALMOST, FAILED, False, False),
        (FAILED._replace(is_status_derived=True), REPORT, True, False),
        (REPORT, FAILED, False, False),
        (ALMOST, ALMOST, True, True),
        (REPORT._replace(smart_status=None), ALMOST, True, True),
    ],
)
def test_the_worst_status_that_the_drive_itself_reported_counts(
    plain, raid, status, is_derived
):
    [drive] = drives_of(at('/dev/sda', plain), at('megaraid,0@/dev/bus/0', raid))

    assert drive.read.outcome.smart_status is status
    assert drive.read.outcome.is_status_derived is is_derived


@pytest.mark.parametrize(
    'plain, raid, kept',
    [(FAILED, ALMOST, 'megaraid,0@/dev/bus/0'), (FAILED, REPORT, '/dev/sda')],
)
def test_of_two_disputed_statuses_the_address_of_the_failure_is_kept(plain, raid, kept):
    """It may be the one to pull."""
    [drive] = drives_of(at('/dev/sda', plain), at('megaraid,0@/dev/bus/0', raid))

    assert drive.read.device.address == kept


TESTS = (SelfTest('Extended', 'Completed: read failure', False, 900),)


@pytest.mark.parametrize(
    'answer, drives',
    [(ALMOST, 2), (REPORT._replace(smart_status=None), 2), (REPORT, 1), (FAILED, 1)],
)
@pytest.mark.parametrize(
    'silent',
    [
        DriveError('does not answer').of(SSD),
        Report(SSD, smart_status=None, exit_status=4),
    ],
)
def test_an_address_that_failed_stays_apart_unless_another_one_has_the_status(
    answer, drives, silent
):
    """It may be the only one at which the drive says that it fails."""
    reads = [Read(parse('/dev/sda')[0], silent), at('megaraid,0@/dev/bus/0', answer)]

    assert len(drives_of(*reads)) == drives
    assert len(drives_of(*reads[::-1])) == drives


def test_the_newest_self_test_and_all_entries_of_the_nvme_error_log_count():
    """Each controller of an NVMe drive keeps a log of its own."""
    newer = SelfTest('Extended', 'Completed: read failure', False, 950)
    entries = NvmeError(1, 0, 1, 0x82), NvmeError(9, 1, 1, 0x82)
    one = REPORT._replace(self_tests=TESTS * 3, nvme_errors=entries[:1])
    other = REPORT._replace(self_tests=(newer,), nvme_errors=entries)

    for report in (merged([one, other]), merged([other, one])):
        assert report.self_tests == (newer,)
        assert set(report.nvme_errors) == set(entries)


ENTRIES = (ErrorEntry(3, ('UNC',), 800),)


@pytest.mark.parametrize(
    'field, value',
    [
        ('attributes', TABLE),
        ('statistics', {USED: Statistic(9, 'x')}),
        ('self_tests', TESTS),
        ('errors', ENTRIES),
        ('error_count', 3),
        ('derived', {'endurance_used': 3}),
        ('nvme', {'critical_warning': 1, 'available_spare': 100}),
        ('farm', Farm(hours=9)),
        ('vendor_log', LogPage('0xC0', b'x')),
    ],
)
def test_a_part_that_one_address_lacks_is_that_of_the_other_one(field, value):
    bare = Report(REPORT.identity, smart_status=True)
    whole = bare._replace(**{field: value})

    assert getattr(merged([bare, whole]), field) == value
    assert getattr(merged([whole, bare]), field) == value


def test_an_error_log_without_a_count_is_not_lost_beside_an_empty_one():
    counted = REPORT._replace(errors=(), error_count=0)
    uncounted = REPORT._replace(errors=ENTRIES, error_count=None)

    for reports in ([counted, uncounted], [uncounted, counted]):
        assert (merged(reports).errors, merged(reports).error_count) == (ENTRIES, 0)


def test_an_error_log_that_one_address_lacks_is_not_taken_for_unread():
    empty = REPORT._replace(errors=(), error_count=0)
    unread = REPORT._replace(errors=(), error_count=None)

    for reports in ([empty, unread], [unread, empty]):
        assert merged(reports).error_count == 0


@pytest.mark.parametrize(
    'one, other, expected',
    [
        # the log of self-tests has a failed one, which one report does not list
        (0, 0x80, 0x80),
        (0x40, 0x10, 0x50),
        (4, 0, 4),  # a command that failed says nothing of the drive
        (0, 4, 0),
    ],
)
def test_what_smartctl_found_at_any_address_stays_in_the_exit_status(
    one, other, expected
):
    reports = [REPORT._replace(exit_status=one), REPORT._replace(exit_status=other)]

    assert merged(reports).exit_status == expected


@pytest.mark.parametrize('plain, raid, bit', [(FAILED, ALMOST, 8), (REPORT, ALMOST, 0)])
def test_the_exit_status_agrees_with_the_status_that_counts(plain, raid, bit):
    """smartctl derived another one behind the controller."""
    wrong = raid._replace(exit_status=8 - bit)

    assert merged([wrong, plain._replace(exit_status=bit)]).exit_status == bit


@pytest.mark.parametrize(
    'good, bad',
    [
        (REPORT, with_raw(REPORT, 5, 2000)),
        (REPORT, with_raw(REPORT, 197, 20)),
        (with_health(REPORT), with_health(REPORT, media_errors=9)),
        (REPORT._replace(nvme={'a': 1}), REPORT._replace(nvme={'available_spare': 5})),
        (with_logs(REPORT), with_logs(REPORT, grown_defects=9)),
    ],
)
def test_of_two_tables_the_one_with_more_errors_counts(good, bad):
    for one in (merged([good, bad]), merged([bad, good])):
        assert (one.attributes, dict(one.scsi)) == (bad.attributes, dict(bad.scsi))
        assert one.nvme.items() >= bad.nvme.items()


def test_the_warnings_of_all_addresses_count():
    one, other = (
        with_health(REPORT, critical_warning=1),
        with_health(REPORT, critical_warning=4),
    )

    assert merged([one, other]).nvme['critical_warning'] == 5


def test_the_identity_is_that_of_the_most_complete_report():
    scsi = Report(
        SSD._replace(protocol='SCSI', model='ATA MODEL', wwn='', rotation=None)
    )
    one = merged([scsi, SERIAL._replace(identity=SERIAL.identity._replace(rotation=0))])

    assert (one.identity.protocol, one.identity.model, one.identity.rotation) == (
        'ATA',
        'MODEL X1',
        0,
    )
    assert merged([SERIAL, REPORT]).identity.wwn == SSD.wwn


def test_who_did_not_say_who_it_is_stays_alone():
    """Two addresses without an answer are two addresses."""
    assert kept(unread('/dev/sda', Identity()), unread('/dev/sdb', Identity())) == [
        ('/dev/sda',),
        ('/dev/sdb',),
    ]


def test_two_recordings_of_one_drive_are_two_reports():
    """Someone wants to compare them."""
    recorded = read('/dev/sda', SSD)
    recorded = recorded._replace(device=recorded.device._replace(is_recorded=True))

    assert len(drives_of(recorded, recorded)) == 2
