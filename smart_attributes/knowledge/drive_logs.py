"""Map the numbers in the ATA, NVMe and SCSI standard logs to metrics, and read self-test logs and
hours in logs. Pure.

Sources: ACS-4 sections 9.5 (device statistics log) and 7.42 (SMART EXECUTE OFF-LINE IMMEDIATE), NVM
Express base specification (SMART / Health Information log, device self-test log), SBC-4 and SPC-5
(log pages, self-test code); the terms are from smartctl.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from .. import files
from ..constants import HOUR
from ..model import Device, Identity, Reading, Report, SelfTest, Source, State
from ..typed import TYPE_CHECKING, NamedTuple
from ..wording import since
from ..words import argument
from .drive_database import is_plausible

if TYPE_CHECKING:
    from .drive_database import Metrics

DEVICE_STATISTICS = 'device statistics'
NVME_LOG = 'NVMe health log'
SCSI_LOG = 'SCSI log'
SELF_ASSESSMENT = 'health self-assessment'
ATTRIBUTE_CHECK = 'attribute check of smartctl'  # it did not get the self-assessment
SELF_TEST_LOG = 'self-test log'
ERROR_LOG = 'error log'
FARM_LOG = 'FARM log'  # only of Seagate disks
SMARTCTL = 'smartctl'  # source of numbers that smartctl derives with its own database
# source of the wear if the drive does not report any
RATED = 'the share of rated_written'
DERIVED = (SMARTCTL, RATED)
# a greater difference, in percentage points, means that two values of wear contradict each other
FAR = 20

ENDURANCE_PAGE = 7  # the only page whose "normalized" numbers are really normalized


class Standard(NamedTuple):
    """One number of a standard log."""

    metric: str
    factor: float = 1  # base units per count; 0: the logical sector size of the drive
    unit: str = ''  # a key of decode.UNITS, if the standard counts in smaller parts


_DATA = files.data('knowledge/standard_logs.json')
ATA = {
    (int(page), int(offset, 16)): Standard(*row)
    for page, rows in _DATA['ata'].items()
    for offset, row in rows.items()
}
# keys of Report.nvme
NVME = {key: Standard(*row) for key, row in _DATA['nvme'].items()}
# keys of Report.scsi
SCSI = {key: Standard(*row) for key, row in _DATA['scsi'].items()}
SCSI_PAGES = 'read', 'write', 'verify'
SCSI_UNCORRECTED = tuple(f'{page}.total_uncorrected_errors' for page in SCSI_PAGES)
# errors whose correction takes time
SLOW = 'errors_corrected_by_eccdelayed', 'errors_corrected_by_rereads_rewrites'
# statuses of a background scan; all others are in scsi_codes.json
_ORDINARY = frozenset((0, 1, 2, 5, 6, 7, 8, 10))

# A drive without a SMART health status is judged by these values; a temperature or an age alone is
# not enough.
NVME_HEALTH = frozenset(('percentage_used', 'available_spare', 'media_errors'))
SCSI_HEALTH = frozenset(
    ('grown_defects', 'pending_defects', 'percentage_used', *SCSI_UNCORRECTED)
)

# Raw read error rate and seek error rate: a rate recovers, so its worst value shows a bad period. A
# counter never
# recovers: if it was at its threshold and no longer is, its worst value is invalid. On 15 measured
# drives, attribute 5, 179, 180 or 183 has such a worst value, which is always 1.
RATES = frozenset((1, 7))

WRAPS = 65536  # ATA and SCSI logs store hours in 16 bits; NVMe logs in 64 bits
# hours by which a log may be ahead of the power-on counter, which is saved only at intervals
CLOCKS_APART = 24


def seconds_since(hour: int, age: float | None, wraps: float = WRAPS) -> float | None:
    """Return the power-on seconds since an hour in a log; 0 for an hour that is at most
    CLOCKS_APART ahead of the power-on time; None if it is further ahead, or if *age* is None.

    age: power-on time in seconds. wraps: the hour at which the log starts again at 0, so that an
    hour can stand for several times. Of these, the one that is at most CLOCKS_APART ahead counts,
    else the last one in the past. At the power-on hour 65,540, with a log that wraps at 65,536:

    hour 3 -> 1 hour, because it stands for hour 65,539
    hour 5 -> 0, because it stands for hour 65,541, 1 hour ahead
    hour 65,000 -> 540 hours
    """
    if age is None:
        return None
    hours_now = age / HOUR
    if hour > hours_now + CLOCKS_APART:
        return None
    if hour > hours_now:
        return 0.0
    # The log has the same hour again every *wraps* hours.
    hours_since_last = (hours_now - hour) % wraps
    hours_until_next = wraps - hours_since_last
    if hours_until_next <= CLOCKS_APART:
        return 0.0
    return hours_since_last * HOUR


def needs_scsi_codes(report: Report) -> bool:
    """Return whether a SCSI drive reports a failed status, which may have a sense code, or an
    unusual status or result of its background scan; False for other drives.
    """
    return report.identity.protocol == 'SCSI' and bool(
        report.smart_status is False
        or report.scsi.get('background_unknown')
        or report.scsi.get('background_status', 0) not in _ORDINARY
    )


# For each bit of the NVMe critical warning that the standard defines: bit, metric, words, name of
# the state, the same in fewer words ('' if the words are few).
NVME_WARNINGS: Sequence[tuple[int, str, str, str, str]] = _DATA['nvme_warnings']
_TEMPERATURE = 2  # bit
# Degrees Celsius. Of 24 NVMe drives that report their upper limit, it is 60 for one, 70 or more for
# the others; a drive may have been above its limit when it warned and below when it was read.
_LOWEST_LIMIT = 60
_NEAR = 10
_COLD = 25  # degrees Celsius; only below can a lower limit be the reason


def nvme_warnings(log: Mapping[str, int]) -> dict[int, Reading]:
    """Return a reading for each set bit of NVME_WARNINGS, by bit; {} if none is set.

    log: the NVMe health log.
    """
    readings = {}
    bits = log.get('critical_warning', 0)
    for bit, *meaning in NVME_WARNINGS:
        if bits & bit:
            readings[bit] = _in_words(NVME_LOG, *meaning)
    if _TEMPERATURE in readings:
        readings[_TEMPERATURE] = _with_degrees(readings[_TEMPERATURE], log)
    return readings


def _in_words(log: str, metric: str, words: str, state: str, brief: str) -> Reading:
    """Return what a log says about a metric in words as a reading. state: the name of a State."""
    return Reading(
        metric,
        0,
        source=Source(log),
        verdict=words,
        state=State[state],
        brief=brief,
    )


def _with_degrees(warning: Reading, log: Mapping[str, int]) -> Reading:
    """Return the warning about the temperature.

    If the measured temperature is not near the upper limit, the warning states it and has no
    remedy, because cooling does not help then.
    """
    degrees = log.get('temperature')
    upper = log.get('warning_temp_threshold') or _LOWEST_LIMIT
    if degrees is None or degrees >= upper - _NEAR:
        return warning
    words = f'{warning.verdict}, although the drive reports {degrees} C'
    if degrees < _COLD:
        words = f"{degrees} C is below the drive's lower limit, or the sensor is wrong"
    return warning._replace(verdict=words, has_remedy=False)


_ADMIN_QUEUE = 0


def refusals(report: Report) -> list[Reading]:
    """Return the readings that follow from the statuses in the NVMe error log, at most one for
    each metric; [] if none.

    Every entry that smartctl reads counts. The entries have no time, and a drive that refuses
    writes makes no new ones once the host has stopped writing, so an old entry shows no recovery.
    An entry disappears after 16 newer errors, and at a power cycle or a controller reset, at which
    drives should clear this log (NVM Express 1.4, section 5.14.1.1).
    """
    codes = {
        (entry.code_type, entry.code)
        for entry in report.nvme_errors
        if entry.queue != _ADMIN_QUEUE
    }
    by_metric: dict[str, Reading] = {}
    # the most severe status of a metric is the first
    for code_type, code, *meaning in _DATA['nvme_statuses']:
        if (code_type, code) in codes:
            reading = _in_words(ERROR_LOG, *meaning)
            if reading.state is State.WARNING:
                # between 0 (failed) and 1 (passed)
                reading = reading._replace(number=0.5)
            by_metric.setdefault(reading.metric, reading)
    return [*by_metric.values()]


# --- self-tests ----------------------------------------------------------------------

WHOLE = 'whole'
SELECTIVE = 'selective'
# coverage of each kind of test, by smartctl's name
COVERAGE: Mapping[str, str] = _DATA['self_tests']
ERASED_HOUR = 0xFF00  # from here on: content of a log that was never written
LAST_SCSI_HOUR = 0xFFFF  # SPC-5: means this hour or any later hour
_SELF_TEST_FAILED = 0x80  # bit of smartctl's exit status


class SelfTestResult(NamedTuple):
    """A test that passed or failed."""

    test: SelfTest  # its `passed` is not None
    coverage: str
    ago: float | None  # power-on seconds since the test; None if unknown


def results(
    tests: Sequence[SelfTest], identity: Identity, age: float | None
) -> list[SelfTestResult]:
    """Return the tests that passed or failed, newest first; without rows of an ATA log that were
    never written: their hour is ERASED_HOUR or more, and lies in the future. age: the drive's
    power-on time, seconds.
    """
    conclusive = []
    for test in tests:
        coverage = COVERAGE.get(test.kind.lower())
        if not coverage or test.passed is None:
            continue
        hour = test.hours
        if identity.protocol == 'SCSI' and hour == LAST_SCSI_HOUR:
            hour = None
        wraps = math.inf if identity.protocol == 'NVMe' else WRAPS
        ago = None if hour is None else seconds_since(hour, age, wraps)
        looks_erased = identity.protocol == 'ATA' and (hour or 0) >= ERASED_HOUR
        # seconds_since() returns None for such an hour
        is_in_future = age is not None and ago is None
        if looks_erased and is_in_future:
            continue
        conclusive.append(SelfTestResult(test, coverage, ago))
    return conclusive


def _decisive(newest_first: Sequence[SelfTestResult]) -> SelfTestResult | None:
    """Return the newest failure that no later passed test supersedes, else the newest test; None
    for an empty list.

    A later test supersedes a failure if it covered the whole drive, or has the same coverage as the
    failed test. A selective test supersedes no failure.
    """
    covered = set()  # by the later tests that passed
    for result in newest_first:
        is_superseded = WHOLE in covered or result.coverage in covered
        if not result.test.passed and not is_superseded:
            return result
        # Another selective test may have covered a different part.
        if result.test.passed and result.coverage != SELECTIVE:
            covered.add(result.coverage)
    return newest_first[0] if newest_first else None


def self_test(
    tests: Sequence[SelfTest],
    identity: Identity,
    age: float | None,
    is_bound: bool,
) -> Reading | None:
    """Return the reading `self_test`, or None if the log has no result.

    age: the drive's power-on time, seconds. is_bound: the real power-on time may be longer.
    """
    result = _decisive(results(tests, identity, age))
    if result is None:
        return None
    test = result.test
    when = ''
    # In a first line, each character counts, and nearly all SCSI tests run in the background.
    brief = f'{test.kind.removeprefix("Background ")} self-test failed'
    if test.hours is not None:
        when = f' at {test.hours} h'
    if result.ago is not None:
        ago = ago_in_words(result.ago, is_bound)
        when += f', {ago}'
        brief += f' {ago}'
    reading = Reading(
        'self_test',
        1,
        source=Source(SELF_TEST_LOG),
        verdict=f'{test.kind}: {test.status}{when}',
        state=State.OK,
        quiet=result.ago,
    )
    if test.passed:
        return reading
    return reading._replace(number=0, state=State.CRITICAL, brief=brief)


def ago_in_words(seconds: float, is_bound: bool) -> str:
    """Return a text such as "3 d ago", or "more than 3 d ago" if the time is only a bound."""
    return f'more than {since(seconds)}' if is_bound else since(seconds)


def unlisted_failure(report: Report) -> Reading | None:
    """Return the reading `self_test` if smartctl's exit status says that the log contains a failed
    test, but the report does not show it; else None.

    smartctl 7.0 to 7.2 prints the log of a SCSI drive only as text. Whether a later test passed is
    not known, so this is no more than WARNING.
    """
    if not report.has_exit_bit(_SELF_TEST_FAILED):
        return None
    if any(test.passed is False for test in report.self_tests):
        return None
    version = '.'.join(map(str, report.version))
    newer = ' (7.3 prints it)' if report.version < (7, 3) else ''
    words = (
        f'the log contains a failed test that smartctl {version} does not print in JSON{newer}; '
        'to see it, run: smartctl -l selftest DEVICE'
    )
    return Reading(
        'self_test',
        0,
        source=Source(SELF_TEST_LOG),
        verdict=words,
        state=State.WARNING,
        brief='the log contains a failed self-test',
    )


# --- logs that are ahead of the power-on time ------------------------------------------

# Logs are ahead if the power-on counter was reset. In 22,039 of 22,176 dated reports of
# linuxhw/EnterpriseDrive, no log entry is more than 2 hours ahead. The FARM log of Seagate disks
# has its own counter, which differs by a few hours. Recertification resets both counters, so a log
# that agrees, or is missing, does not show that a disk is new.
AGE = 'power_on_time'
HIDDEN = 'hidden_power_on_time'
CODES = 'power-on-time-set-back', 'power-on-time-behind'
APART = 1000 * HOUR  # a smaller lead of the self-test log or the error log is ignored


def tolerance(age: float) -> float:
    """Return by how many seconds another power-on counter of a drive may differ from *age*, the
    seconds in attribute 9.
    """
    return 24 * HOUR + 0.02 * age


def hidden_power_on_time(
    report: Report, age: float | None, metrics: Metrics
) -> list[Reading]:
    """Return by how much power-on time each log is ahead of the counter, the largest lead first;
    only this one is judged. Return [] if no log is ahead, or *age* is None.

    The self-test log and the error log count as one log, the FARM log as another. Hours beyond the
    valid range of the power-on time are ignored. age: power-on time in seconds.
    """
    if age is None:
        return []
    farm_leads = []
    entry_leads = []  # of the self-test log and the error log
    for hours, log in _logged(report):
        seconds = hours * HOUR
        lead = seconds - age
        is_farm = log == FARM_LOG
        ignored_lead = tolerance(age) if is_farm else APART
        if lead > ignored_lead and is_plausible(seconds, metrics[AGE]):
            if is_farm:
                farm_leads.append((lead, log))
            else:
                entry_leads.append((lead, log))
    largest = [max(leads) for leads in (farm_leads, entry_leads) if leads]
    largest.sort(reverse=True)
    return [
        Reading(HIDDEN, lead, unit='s', source=Source(log), judged=place == 0)
        for place, (lead, log) in enumerate(largest)
    ]


def age_of(readings: Iterable[Reading]) -> float | None:
    """Return the power-on time that is judged, in seconds; None if the drive reports none."""
    for reading in readings:
        if reading.metric == AGE and reading.judged:
            return reading.number
    return None


def _logged(report: Report) -> Iterator[tuple[int, str]]:
    """Yield (power-on hours, name of the log) for each entry of the self-test log and the error
    log, and for the FARM log unless it belongs to another drive.

    NVMe drives store hours in 64 bits, others in 16: there, ERASED_HOUR and above are left out,
    because they mean "erased" or "this hour or later".
    """
    is_wide = report.identity.protocol == 'NVMe'
    for log, entries in (
        (SELF_TEST_LOG, report.self_tests),
        (ERROR_LOG, report.errors),
    ):
        for entry in entries:
            if entry.hours is not None and (is_wide or entry.hours < ERASED_HOUR):
                yield entry.hours, log
    farm = report.farm
    if farm and farm.hours is not None and not farm.is_foreign:
        yield farm.hours, FARM_LOG


def extended_self_test(device: Device) -> str:
    """Return the command that starts an extended self-test of a drive, such as "smartctl -t long
    -d sat /dev/sda"; with DEVICE instead of the path if this is not known or not safe for a shell.
    """
    type_option = f'-d {device.type} ' if device.type else ''
    path = 'DEVICE' if device.is_recorded else argument(device.path, 'DEVICE')
    return f'smartctl -t long {type_option}{path}'
