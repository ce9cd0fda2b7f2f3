"""Map the numbers in the ATA, NVMe and SCSI standard logs to metrics, and read self-test logs and hours in logs. Pure.

Sources: ACS-4 sections 9.5 (device statistics log) and 7.42 (SMART EXECUTE OFF-LINE IMMEDIATE), NVM Express base
specification (SMART / Health Information log, device self-test log), SBC-4 and SPC-5 (log pages, self-test code); the
terms are smartctl's.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..constants import HOUR
from ..model import Identity, Reading, Report, SelfTest, Source, State
from ..typed import TYPE_CHECKING, NamedTuple
from ..wording import since
from .decode import LOGICAL_SECTORS

if TYPE_CHECKING:
    from .drive_database import Interval, Metric

DEVICE_STATISTICS = 'device statistics'
NVME_LOG = 'NVMe health log'
SCSI_LOG = 'SCSI log'
SELF_ASSESSMENT = 'health self-assessment'
SELF_TEST_LOG = 'self-test log'
ERROR_LOG = 'error log'
FARM_LOG = 'FARM log'     # only of Seagate disks
SMARTCTL = 'smartctl'  # source of numbers that smartctl derives with its own database
RATED = 'the share of rated_written'  # source of the wear if the drive does not report any
DERIVED = (SMARTCTL, RATED)
FAR = 20  # a greater difference, in percentage points, means that two values of wear contradict each other

SECTORS = 0  # the factor is the drive's logical sector size
ENDURANCE_PAGE = 7  # the only page whose "normalized" numbers are really normalized


class Standard(NamedTuple):
    """One number of a standard log."""
    metric: str
    factor: float = 1  # base units per count
    unit: str = ''     # a key of decode.UNITS, if the standard counts in smaller parts


# (page, offset) of the device statistics log. 3:0x030 (mechanical start failures) is not used: about 950 of 15,500
# measured disks count thousands of such failures although attribute 10 (spin retries) is 0.
ATA: Mapping[tuple[int, int], Standard] = {
    (1, 0x008): Standard('power_cycles'), (1, 0x010): Standard('power_on_time', HOUR),
    (1, 0x018): Standard('host_written', SECTORS), (1, 0x028): Standard('host_read', SECTORS),
    (1, 0x040): Standard('pending'), (3, 0x020): Standard('reallocated'),
    # Reallocation candidates are pending sectors. Of 192 disks that have any, 186 have the same number in attribute
    # 197, 3 have one eighth of it there (in sectors of 4 KiB), and 4 have no attribute 197.
    (3, 0x038): Standard('pending', unit=LOGICAL_SECTORS),
    (4, 0x008): Standard('reported_uncorrect'), (5, 0x008): Standard('temperature'),
    (5, 0x020): Standard('temperature_max'), (5, 0x050): Standard('over_temperature_time', 60),
    (5, 0x058): Standard('temperature_limit'), (6, 0x018): Standard('crc_errors'),
    (7, 0x008): Standard('endurance_used')}

# keys of Report.nvme
NVME: Mapping[str, Standard] = {
    'percentage_used': Standard('endurance_used'), 'available_spare': Standard('spare_available'),
    'media_errors': Standard('media_errors'), 'critical_warning': Standard('critical_warning'),
    'temperature': Standard('temperature'), 'warning_temp_threshold': Standard('temperature_limit'),
    'critical_temp_threshold': Standard('temperature_critical_limit'),
    'warning_temp_time': Standard('over_temperature_time', 60),
    'critical_comp_time': Standard('critical_temperature_time', 60),
    'power_on_hours': Standard('power_on_time', HOUR), 'power_cycles': Standard('power_cycles'),
    'unsafe_shutdowns': Standard('unsafe_shutdowns'), 'num_err_log_entries': Standard('error_log_count'),
    'data_units_written': Standard('host_written', 512000), 'data_units_read': Standard('host_read', 512000)}

# keys of Report.scsi
SCSI: Mapping[str, Standard] = {
    'percentage_used': Standard('endurance_used'), 'grown_defects': Standard('reallocated'),
    'pending_defects': Standard('pending'), 'temperature': Standard('temperature'),
    'drive_trip': Standard('temperature_limit'), 'power_on_hours': Standard('power_on_time', HOUR),
    'start_stop_cycles': Standard('start_stop'), 'load_unload_cycles': Standard('load_cycles'),
    'background_pending': Standard('pending'), 'background_recovered': Standard('background_recovered'),
    'non_medium_errors': Standard('non_medium_errors'), 'write.gigabytes_processed': Standard('host_written', 1e9),
    'read.gigabytes_processed': Standard('host_read', 1e9)}
SCSI_PAGES = 'read', 'write', 'verify'
SCSI_UNCORRECTED: Sequence[str] = tuple(f'{page}.total_uncorrected_errors' for page in SCSI_PAGES)
SLOW = 'errors_corrected_by_eccdelayed', 'errors_corrected_by_rereads_rewrites'  # counters of errors that take time
_ORDINARY = frozenset((0, 1, 2, 5, 6, 7, 8, 10))  # statuses of a background scan; all others are in scsi_codes.json

# A drive without a SMART health status is judged by these values; a temperature or an age alone is not enough.
NVME_HEALTH = frozenset(('percentage_used', 'available_spare', 'media_errors'))
SCSI_HEALTH = frozenset(('grown_defects', 'pending_defects', 'percentage_used', *SCSI_UNCORRECTED))

# Raw read error rate and seek error rate: a rate recovers, so its worst value shows a bad period. A counter never
# recovers: if it was at its threshold and no longer is, its worst value is invalid. On 15 measured drives, attribute
# 5, 179, 180 or 183 has such a worst value, which is always 1.
RATES = frozenset((1, 7))

WRAPS = 65536  # ATA logs store hours in 16 bits
CLOCKS_APART = 24  # hours by which a log may be ahead of the power-on counter, which is saved only at intervals


def seconds_since(hour: int, age: float | None) -> float | None:
    """Return the power-on seconds since an hour in a log; None if the hour is in the future or *age* is None.

    hour: has 16 bits on ATA, so several times are possible; the latest is used. age: power-on time in seconds.
    """
    if age is None or hour > age / HOUR + CLOCKS_APART:
        return None
    ago = (age / HOUR - hour) % WRAPS
    return 0.0 if ago >= WRAPS - CLOCKS_APART else ago * HOUR


def is_odd(report: Report) -> bool:
    """Return whether a SCSI drive reports a sense code, or an unusual status or result of its background scan."""
    return report.identity.protocol == 'SCSI' and bool(
        report.smart_status is False or report.scsi.get('background_unknown')
        or report.scsi.get('background_status', 0) not in _ORDINARY)


class WarningBit(NamedTuple):
    """The meaning of one set bit of the NVMe critical warning byte."""
    mask: int
    metric: str
    word: str
    state: State


# Each of these bits makes the health status FAILED; only the temperature recovers by itself.
NVME_WARNINGS: Sequence[WarningBit] = (
    WarningBit(0x01, 'spare_warning', 'spare below its threshold', State.CRITICAL),
    WarningBit(0x02, 'temperature_warning', 'temperature outside its limits', State.WARNING),
    WarningBit(0x04, 'reliability', 'reliability degraded by media or internal errors, or rated life used up',
               State.CRITICAL),
    WarningBit(0x08, 'write_protect', 'read-only', State.CRITICAL),
    WarningBit(0x10, 'power_loss_protection', 'volatile memory backup failed', State.CRITICAL),
    WarningBit(0x20, 'persistent_memory', 'persistent memory region unreliable or read-only', State.CRITICAL))


# --- self-tests ----------------------------------------------------------------------

WHOLE, SELECTIVE, UNKNOWN = 'whole', 'selective', 'unknown'
# Coverage of each kind of test that a standard defines, by smartctl's name. Other kinds (vendor-specific, reserved,
# aborted) are not listed because only the vendor knows their meaning.
COVERAGE = {
    'offline': 'offline', 'short offline': 'short', 'extended offline': WHOLE, 'conveyance offline': 'conveyance',
    'selective offline': SELECTIVE, 'short captive': 'short', 'extended captive': WHOLE,
    'conveyance captive': 'conveyance', 'selective captive': SELECTIVE, 'default': 'default',
    'background short': 'short', 'background long': WHOLE, 'foreground short': 'short', 'foreground long': WHOLE,
    'short': 'short', 'extended': WHOLE, 'last self-test': UNKNOWN}
ERASED_HOUR = 0xff00   # this hour and higher ones mean that the log was never written
LAST_SCSI_HOUR = 0xffff  # SPC-5: means this hour or any later one


class SelfTestResult(NamedTuple):
    """A test that passed or failed."""
    test: SelfTest
    coverage: str
    ago: float | None  # power-on seconds since the test; None if unknown


def results(tests: Sequence[SelfTest], identity: Identity, age: float | None) -> list[SelfTestResult]:
    """Return the tests that passed or failed, newest first. age: the drive's power-on time, seconds."""
    conclusive = []
    for test in tests:
        coverage = COVERAGE.get(test.kind.lower())
        if coverage and test.passed is not None:
            is_any_later = identity.protocol == 'SCSI' and test.hours == LAST_SCSI_HOUR
            ago = None if test.hours is None or is_any_later else seconds_since(test.hours, age)
            if ago is not None or age is None or (test.hours or 0) < ERASED_HOUR or identity.protocol != 'ATA':
                conclusive.append(SelfTestResult(test, coverage, ago))
    return conclusive


def _standing(newest_first: Sequence[SelfTestResult]) -> SelfTestResult | None:
    """Return the newest failure that no later passed test supersedes, else the newest test; None without tests."""
    passed: set[str] = set()
    for result in newest_first:
        if result.test.passed:
            passed.add(result.coverage)
        elif WHOLE not in passed and result.coverage not in passed - {SELECTIVE}:  # selective: maybe of another part
            return result
    return newest_first[0] if newest_first else None


def verdict(tests: Sequence[SelfTest], identity: Identity, age: float | None, is_bound: bool = False) -> Reading | None:
    """Return the reading self_test, or None if the log has no result.

    age: the drive's power-on time, seconds. is_bound: the real time may be longer.
    """
    result = _standing(results(tests, identity, age))
    if result is None:
        return None
    test = result.test
    ago = f', {"more than " * is_bound}{since(result.ago)}' if result.ago is not None else ''
    when = '' if test.hours is None else f' at {test.hours} h{ago}'
    return Reading('self_test', 1 if test.passed else 0, '', Source(SELF_TEST_LOG),
                   f'{test.kind}: {test.status}{when}', State.OK if test.passed else State.CRITICAL, quiet=result.ago)


# --- logs that are ahead of the power-on time ------------------------------------------

# They are ahead if the power-on counter was reset. In 22,039 of 22,176 dated reports of linuxhw/EnterpriseDrive, no log
# entry is more than 2 hours ahead. The FARM log of Seagate disks has its own counter, which differs by a few hours.
# Recertification resets both counters, so a log that agrees, or is missing, does not show that a disk is new.
AGE, HIDDEN = 'power_on_time', 'hidden_power_on_time'
CODES = 'power-on-time-set-back', 'power-on-time-behind'
APART = 1000                      # hours; a smaller lead is ignored
AGREED = 24, 0.02                 # hours and share by which such a counter may differ from attribute 9


def hidden(report: Report, found: Iterable[Reading], metrics: Mapping[str, Metric]) -> list[Reading]:
    """Return the power-on time by which each log is ahead of the counter; the largest lead is judged, and comes first.

    The self-test log and the error log count as one log, the FARM log as another. found: the readings of the drive.
    """
    age = next((each.number for each in found if each.metric == AGE and each.judged), None)
    if age is None:
        return []
    logged, log = max(_logged(report, metrics[AGE].valid), default=(0, ''))
    witnesses = ((logged, log, APART * HOUR),
                 (_farm_hours(report, metrics[AGE].valid), FARM_LOG, AGREED[0] * HOUR + AGREED[1] * age))
    ahead = sorted(((hours * HOUR - age, name) for hours, name, apart in witnesses if hours * HOUR > age + apart),
                   reverse=True)
    return [Reading(HIDDEN, seconds, 's', Source(name), judged=place == 0)
            for place, (seconds, name) in enumerate(ahead)]


def _farm_hours(report: Report, valid: Interval) -> int:
    """Return the hours in the FARM log, or 0 if they are missing or impossible, or belong to another drive."""
    hours = 0 if report.farm is None or report.farm.is_foreign else report.farm.hours or 0
    return hours if hours * HOUR <= (valid[1] or 0) else 0


def _logged(report: Report, valid: Interval) -> Iterator[tuple[int, str]]:
    """Yield the hours in the logs, each with the name of its log, without impossible hours."""
    # Hours have 64 bits on NVMe drives, and 16 bits on others, where the largest numbers mean "erased" or "or later".
    end = (valid[1] or 0) / HOUR if report.identity.protocol == 'NVMe' else ERASED_HOUR
    logs = ((SELF_TEST_LOG, report.self_tests), (ERROR_LOG, report.errors))
    yield from ((entry.hours, log) for log, entries in logs for entry in entries
                if entry.hours is not None and entry.hours < end)
