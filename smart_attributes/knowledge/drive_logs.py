"""Map the numbers in the ATA, NVMe and SCSI standard logs to metrics, and read self-test logs and
hours in logs. Pure.

Sources: ACS-4 sections 9.5 (device statistics log) and 7.42 (SMART EXECUTE OFF-LINE IMMEDIATE), NVM
Express base specification (SMART / Health Information log, device self-test log), SBC-4 and SPC-5
(log pages, self-test code); the terms are from smartctl.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from .. import files
from ..constants import HOUR
from ..model import Device, Identity, Reading, Report, SelfTest, Source, State
from ..typed import TYPE_CHECKING, NamedTuple
from ..wording import since
from ..words import argument

if TYPE_CHECKING:
    from .drive_database import Interval, Metric

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
    factor: float = 1  # base units per count
    unit: str = ''  # a key of decode.UNITS, if the standard counts in smaller parts


_DATA = files.data('knowledge/standard_logs.json')
ATA: Mapping[tuple[int, int], Standard] = {
    (int(page), int(offset, 16)): Standard(*row)
    for page, rows in _DATA['ata'].items()
    for offset, row in rows.items()
}
# keys of Report.nvme
NVME: Mapping[str, Standard] = {
    key: Standard(*row) for key, row in _DATA['nvme'].items()
}
# keys of Report.scsi
SCSI: Mapping[str, Standard] = {
    key: Standard(*row) for key, row in _DATA['scsi'].items()
}
SCSI_PAGES = 'read', 'write', 'verify'
SCSI_UNCORRECTED: Sequence[str] = tuple(
    f'{page}.total_uncorrected_errors' for page in SCSI_PAGES
)
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

WRAPS = 65536  # ATA logs store hours in 16 bits
# hours by which a log may be ahead of the power-on counter, which is saved only at intervals
CLOCKS_APART = 24


def seconds_since(hour: int, age: float | None) -> float | None:
    """Return the power-on seconds since an hour in a log; None if the hour is in the future or
    *age* is None.

    hour: has 16 bits on ATA, so several times are possible; the latest is used. age: power-on time
    in seconds.
    """
    if age is None or hour > age / HOUR + CLOCKS_APART:
        return None
    ago = (age / HOUR - hour) % WRAPS
    return 0.0 if ago >= WRAPS - CLOCKS_APART else ago * HOUR


def is_odd(report: Report) -> bool:
    """Return whether a SCSI drive reports a sense code, or an unusual status or result of its
    background scan.
    """
    return report.identity.protocol == 'SCSI' and bool(
        report.smart_status is False
        or report.scsi.get('background_unknown')
        or report.scsi.get('background_status', 0) not in _ORDINARY
    )


class WarningBit(NamedTuple):
    """The meaning of one set bit of the NVMe critical warning byte."""

    mask: int
    metric: str
    word: str
    state: State
    brief: str  # *word* in a few words; '' if it is short


NVME_WARNINGS: Sequence[WarningBit] = [
    WarningBit(mask, metric, word=word, state=State[state], brief=brief)
    for mask, metric, word, state, brief in _DATA['nvme_warnings']
]


_TEMPERATURE = 2
# Degrees Celsius. Of 24 NVMe drives that report their upper limit, it is 60 for one, 70 or more for
# the others; a drive may have been above its limit when it warned and below when it was read.
_LOWEST_LIMIT, _NEAR = 60, 10
_COLD = 25  # degrees Celsius; only below can a lower limit be the reason


def warned(warning: WarningBit, log: Mapping[str, int]) -> Reading:
    """Return the reading for a set bit of the critical warning. log: the NVMe health log."""
    reading = Reading(
        warning.metric,
        0,
        source=Source(NVME_LOG),
        verdict=warning.word,
        state=warning.state,
        brief=warning.brief,
    )
    degrees = log.get('temperature')
    upper = log.get('warning_temp_threshold') or _LOWEST_LIMIT
    if warning.mask != _TEMPERATURE or degrees is None or degrees >= upper - _NEAR:
        return reading
    words = (
        f'{degrees} C is below its lower limit, or the sensor is wrong'
        if degrees < _COLD
        else f'{warning.word}, although it is {degrees} C'
    )
    return reading._replace(verdict=words, has_remedy=False)


class NvmeStatus(NamedTuple):
    """What a status code in the NVMe error log says about the drive."""

    code_type: int
    code: int
    metric: str
    word: str
    state: State
    brief: str  # *word* in a few words; '' if it is short


NVME_STATUSES: Sequence[NvmeStatus] = [
    NvmeStatus(
        code_type, code, metric=metric, word=word, state=State[state], brief=brief
    )
    for code_type, code, metric, word, state, brief in _DATA['nvme_statuses']
]
_ADMIN_QUEUE = 0


def refusals(report: Report) -> list[Reading]:
    """Return a reading for each metric that the NVMe error log changes.

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
    for status in NVME_STATUSES:
        if (status.code_type, status.code) in codes and status.metric not in by_metric:
            by_metric[status.metric] = Reading(
                status.metric,
                0 if status.state is State.CRITICAL else 0.5,
                source=Source(ERROR_LOG),
                verdict=status.word,
                state=status.state,
                brief=status.brief,
            )
    return [*by_metric.values()]


# --- self-tests ----------------------------------------------------------------------

WHOLE, SELECTIVE = 'whole', 'selective'
# coverage of each kind of test, by smartctl's name
COVERAGE: Mapping[str, str] = _DATA['self_tests']
ERASED_HOUR = 0xFF00  # from here on: content of a log that was never written
LAST_SCSI_HOUR = 0xFFFF  # SPC-5: means this hour or any later hour
_SELF_TEST_FAILED = 0x80  # bit of smartctl's exit status


class SelfTestResult(NamedTuple):
    """A test that passed or failed."""

    test: SelfTest
    coverage: str
    ago: float | None  # power-on seconds since the test; None if unknown


def results(
    tests: Sequence[SelfTest], identity: Identity, age: float | None
) -> list[SelfTestResult]:
    """Return the tests that passed or failed, newest first. age: the drive's power-on time,
    seconds.
    """
    conclusive = []
    for test in tests:
        coverage = COVERAGE.get(test.kind.lower())
        if not coverage or test.passed is None:
            continue
        is_any_later = identity.protocol == 'SCSI' and test.hours == LAST_SCSI_HOUR
        ago = (
            None
            if test.hours is None or is_any_later
            else seconds_since(test.hours, age)
        )
        is_beyond_end = identity.protocol == 'ATA' and (test.hours or 0) >= ERASED_HOUR
        if ago is not None or age is None or not is_beyond_end:
            conclusive.append(SelfTestResult(test, coverage, ago))
    return conclusive


def _standing(newest_first: Sequence[SelfTestResult]) -> SelfTestResult | None:
    """Return the newest failure that no later passed test supersedes, else the newest test; None
    for an empty list.
    """
    passed: set[str] = set()
    for result in newest_first:
        if result.test.passed:
            passed.add(result.coverage)
        # selective: maybe of another part
        elif WHOLE not in passed and result.coverage not in passed - {SELECTIVE}:
            return result
    return newest_first[0] if newest_first else None


def verdict(
    tests: Sequence[SelfTest],
    identity: Identity,
    age: float | None,
    is_bound: bool = False,
) -> Reading | None:
    """Return the reading `self_test`, or None if the log has no result.

    age: the drive's power-on time, seconds. is_bound: the real power-on time may be longer.
    """
    result = _standing(results(tests, identity, age))
    if result is None:
        return None
    test = result.test
    words, ago = f'{test.kind}: {test.status}', ''
    if test.hours is not None:
        words += f' at {test.hours} h'
        if result.ago is not None:
            ago = f' {passed_since(result.ago, is_bound)}'
            words += f',{ago}'
    number, state = (1, State.OK) if test.passed else (0, State.CRITICAL)
    source = Source(SELF_TEST_LOG)
    return Reading(
        'self_test',
        number,
        source=source,
        verdict=words,
        state=state,
        quiet=result.ago,
        brief='' if test.passed else f'{test.kind} self-test failed{ago}',
    )


def passed_since(seconds: float, is_bound: bool) -> str:
    """Return a text such as "3 d ago", or "more than 3 d ago" if the time is only a bound."""
    return f'more than {since(seconds)}' if is_bound else since(seconds)


def unlisted_failure(report: Report) -> Reading | None:
    """Return the reading `self_test` if smartctl's exit status says that the log contains a failed
    test, but the report does not show it; else None.

    smartctl 7.0 to 7.2 prints the log of a SCSI drive only as text. Whether a later test passed is
    not known, so this is no more than WARNING.
    """
    if not report.has_exit_bit(_SELF_TEST_FAILED) or any(
        test.passed is False for test in report.self_tests
    ):
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
AGE, HIDDEN = 'power_on_time', 'hidden_power_on_time'
CODES = 'power-on-time-set-back', 'power-on-time-behind'
APART = 1000  # hours; a smaller lead is ignored
# hours and share by which such a counter may differ from attribute 9
AGREED = 24, 0.02


def hidden(
    report: Report, age: float | None, metrics: Mapping[str, Metric]
) -> list[Reading]:
    """Return by how much power-on time each log is ahead of the counter; only the largest lead, the
    first, is judged.

    The self-test log and the error log count as one log, the FARM log as another. age: power-on
    time in seconds; None if unknown.
    """
    if age is None:
        return []
    valid = metrics[AGE].valid
    logged, log = max(_logged(report, valid), default=(0, ''))
    hours_apart, share_apart = AGREED
    ahead = []
    for hours, name, apart in (
        (logged, log, APART * HOUR),
        (_farm_hours(report, valid), FARM_LOG, hours_apart * HOUR + share_apart * age),
    ):
        if hours * HOUR > age + apart:
            ahead.append((hours * HOUR - age, name))
    return [
        Reading(HIDDEN, seconds, unit='s', source=Source(name), judged=place == 0)
        for place, (seconds, name) in enumerate(sorted(ahead, reverse=True))
    ]


def age_of(readings: Iterable[Reading]) -> float | None:
    """Return the power-on time that is judged, in seconds; None if the drive reports none."""
    for reading in readings:
        if reading.metric == AGE and reading.judged:
            return reading.number
    return None


def _farm_hours(report: Report, valid: Interval) -> int:
    """Return the hours in the FARM log, or 0 if they are missing or impossible, or belong to
    another drive.
    """
    hours = (
        0 if report.farm is None or report.farm.is_foreign else report.farm.hours or 0
    )
    return hours if hours * HOUR <= (valid[1] or 0) else 0


def _logged(report: Report, valid: Interval) -> Iterator[tuple[int, str]]:
    """Yield (hour, name of the log) for each log entry whose hour is possible."""
    # NVMe drives store hours in 64 bits, others in 16, where the top numbers mean "erased" or "this
    # hour or later".
    end = (valid[1] or 0) / HOUR if report.identity.protocol == 'NVMe' else ERASED_HOUR
    for log, entries in (
        (SELF_TEST_LOG, report.self_tests),
        (ERROR_LOG, report.errors),
    ):
        for entry in entries:
            if entry.hours is not None and entry.hours < end:
                yield entry.hours, log


def extended_self_test(device: Device) -> str:
    """Return the command that starts an extended self-test of a drive."""
    type_of = f'-d {device.type} ' if device.type else ''
    path = 'DEVICE' if device.is_recorded else argument(device.path, 'DEVICE')
    return f'smartctl -t long {type_of}{path}'
