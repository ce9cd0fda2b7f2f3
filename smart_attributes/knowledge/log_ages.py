"""Read log data that only a few drives or options need: the ages of errors and self-tests, and
notes on logs. Pure.

The ATA error log counts every failed command, including commands that the drive does not support
(ABRT). Data errors
are errors of the medium: UNC (uncorrectable), IDNF (sector not found), and WP, which is smartctl's
name for the UNC bit if the command was a write. ICRC is an error of the interface (ACS-4, 6.3). In
linuxhw/EnterpriseDrive, 22 of the 31 disks with WP but neither UNC nor IDNF in their log have lost
sectors; of the 349 disks with only ICRC, only 28 have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..constants import DAY, HOUR
from ..errors import Coded
from ..model import ErrorEntry, Farm, Identity, Reading, Report, SelfTest, Source, State
from ..wording import amount
from . import drive_logs
from .drive_database import Metric, Metrics, unknown
from .drive_logs import SelfTestResult

# 32-bit device statistics, in hours: power-on, spindle motor (ACS-4, 9.5); page and offset
WIDE_STATISTICS = ((1, 0x010), (3, 0x008))
DATA_ERRORS = frozenset(('UNC', 'WP', 'IDNF'))
INTERFACE_ERRORS = frozenset(('ICRC',))
COUNTED = 'reported_uncorrect'  # the metric that counts data errors
PENDING = frozenset(('pending', 'offline_uncorrectable'))


def with_logs(
    readings: Sequence[Reading],
    report: Report,
    metrics: Metrics,
    age: float | None,
) -> list[Reading]:
    """Return the readings with what the error log and the self-test log add: the time since the
    newest data error, the logged data errors if no reading counts them, the logged interface errors
    if the newest error is one, and later extended tests (see _with_test()).

    report: must have at least one error. age: the drive's power-on time, seconds; None: unknown.
    """
    quiet, is_bound = since_data_error(report, age)
    dated = [*readings]
    for place, reading in enumerate(readings):
        if reading.metric == COUNTED and reading.number:
            dated[place] = reading._replace(quiet=quiet, quiet_is_bound=is_bound)
    if not _is_counted(dated, COUNTED):
        dated += logged(
            report.errors, DATA_ERRORS, metric=metrics['logged_data_errors'], age=age
        )
    # if any other error is newer than the interface errors, the cable has worked since
    newest_error = report.errors[0]
    if INTERFACE_ERRORS.intersection(newest_error.kinds):
        dated += logged(
            report.errors,
            INTERFACE_ERRORS,
            metric=metrics['logged_interface_errors'],
            age=age,
        )
    passed = newest_extended(report.self_tests, report.identity, age)
    # with pending sectors, a passed test does not show that the drive is sound
    has_pending = _is_counted(dated, *PENDING)
    if passed is None or passed.ago is None or has_pending:
        return dated
    return [_with_test(reading, passed.ago) for reading in dated]


def _with_test(reading: Reading, tested_ago: float) -> Reading:
    """Return a reading, marked with `is_tested` if its newest event is older than a test."""
    if reading.quiet is None or reading.quiet <= tested_ago:
        return reading
    return reading._replace(is_tested=True)


def _is_counted(readings: Iterable[Reading], *metrics: str) -> bool:
    """Return whether a judged reading of one of these metrics is above 0."""
    return any(
        reading.metric in metrics and reading.judged and reading.number
        for reading in readings
    )


def since_data_error(report: Report, age: float | None) -> tuple[float | None, bool]:
    """Return the power-on seconds since the newest data error, None if unknown or if there was
    none, and whether the time may be longer.

    If a full log lists no data error, the time is that of its oldest error, and may be longer.
    report: must have at least one error. age: as of with_logs().
    """
    # The newest error comes first. An entry without a kind may be a data error.
    for error in report.errors:
        if not error.kinds or not DATA_ERRORS.isdisjoint(error.kinds):
            return drive_logs.seconds_since(error.hours, age), False
    # A full log has dropped errors that are older than all errors in it. A log that is not full has
    # all errors.
    if len(report.errors) < (report.error_count or 0):
        return drive_logs.seconds_since(report.errors[-1].hours, age), True
    return None, False


def logged(
    errors: Iterable[ErrorEntry],
    kinds: frozenset[str],
    metric: Metric,
    age: float | None,
) -> Iterable[Reading]:
    """Yield one reading with the number of logged errors of some kinds and the time since the
    newest of them; without a number if no time is known. Yield nothing without such errors.
    """
    ages = [
        drive_logs.seconds_since(error.hours, age)
        for error in errors
        if not kinds.isdisjoint(error.kinds)
    ]
    known = [seconds for seconds in ages if seconds is not None]
    source = Source(drive_logs.ERROR_LOG)
    if known:
        yield Reading(
            metric.name, len(ages), unit=metric.unit, source=source, quiet=min(known)
        )
    elif ages:
        yield unknown(
            metric,
            source,
            'the power-on hours logged with the errors do not match the power-on time',
        )


def newest_extended(
    tests: Sequence[SelfTest], identity: Identity, age: float | None
) -> SelfTestResult | None:
    """Return the newest extended test that passed, or None if no extended test has passed.

    age: the drive's power-on time, seconds.
    """
    for result in drive_logs.results(tests, identity, age):
        if result.coverage == drive_logs.WHOLE and result.test.passed:
            return result
    return None


def freshness(
    tests: Sequence[SelfTest],
    identity: Identity,
    age: float | None,
    most: float,
    is_bound: bool,
) -> Reading:
    """Return the reading `self_test_age`: whether the newest extended test that passed is recent
    enough.

    most: the maximum age, in seconds of power-on time. age: the drive's power-on time, seconds.
    is_bound: the real power-on time may be longer.
    """
    passed = newest_extended(tests, identity, age)
    is_recent = False
    if passed is None:
        when = 'none known'
    elif passed.ago is None:
        when = 'at an unknown time'
    else:
        when = drive_logs.ago_in_words(passed.ago, is_bound)
        is_recent = passed.ago <= most
    words = f'newest extended self-test that passed: {when}'
    if not is_recent:
        days = round(most / DAY)
        words += f' (limit: {days} days); to start one, run: smartctl -t long DEVICE'
    return Reading(
        'self_test_age',
        1 if is_recent else 0.5,  # 0 would be a failed status
        source=Source(drive_logs.SELF_TEST_LOG),
        verdict=words,
        state=State.OK if is_recent else State.WARNING,
    )


def clock_notes(
    report: Report, readings: Sequence[Reading], leads: Sequence[Reading]
) -> list[Coded]:
    """Return a note for each log whose hours are ahead of the drive's power-on time.

    leads: by how much, from hidden_power_on_time(); at least one.
    """
    set_back, behind = drive_logs.CODES
    code = behind
    verb = 'was set back or overflowed'
    if has_not_overflowed(report, readings):
        code = set_back
        verb = 'was set back'
    notes = []
    for lead in leads:
        ahead = f'{amount(lead.number, "s")} ahead of the power-on time'
        words = f'the {lead.source} is {ahead}: the power-on counter {verb}'
        notes.append(Coded(code, words))
    return notes


def farm_notes(farm: Farm) -> Iterator[Coded]:
    """Yield a note on a FARM log that could not be read, or that belongs to another drive."""
    if farm.unread:
        yield Coded('farm-unread', f'the FARM log could not be read: {farm.unread}')
    if farm.is_foreign:
        yield Coded(
            'farm-foreign',
            'the FARM log and the drive have different serial numbers, so the hours are not '
            'compared',
        )


def has_not_overflowed(report: Report, readings: Iterable[Reading]) -> bool:
    """Return whether the power-on counter has certainly not overflowed, as one of 16 bits does:
    True for NVMe and SCSI drives, and for an ATA drive if a 32-bit statistic agrees with the
    counter; False for any other ATA drive.

    readings: of a drive that reports its power-on time.
    """
    if report.identity.protocol != 'ATA':
        return True
    ages = [reading for reading in readings if reading.metric == drive_logs.AGE]
    attributes = [age for age in ages if age.source.attribute is not None]
    # Without such an attribute, the counter is the statistic itself, which agrees.
    counter = attributes[0] if attributes else ages[0]
    counted = counter.number or 0
    for place in WIDE_STATISTICS:
        if place in report.statistics:
            apart = abs(report.statistics[place].number * HOUR - counted)
            if apart <= drive_logs.tolerance(counted):
                return True
    return False
