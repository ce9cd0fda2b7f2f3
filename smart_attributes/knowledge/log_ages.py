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

from collections.abc import Iterable, Iterator, Mapping, Sequence
from time import localtime, strftime

from ..constants import HOUR
from ..errors import Coded
from ..model import ErrorEntry, Farm, Identity, Reading, Report, SelfTest, Source, State
from ..wording import amount, since
from . import drive_logs
from .drive_database import Metric
from .drive_logs import SelfTestResult

# 32-bit device statistics, in hours: power-on, spindle motor (ACS-4, 9.5)
WIDE = ((1, 0x010), (3, 0x008))
DATA_ERRORS, INTERFACE_ERRORS = frozenset(('UNC', 'WP', 'IDNF')), frozenset(('ICRC',))
COUNTED = 'reported_uncorrect'  # the metric that counts data errors
LOGGED, LOGGED_INTERFACE = 'logged_data_errors', 'logged_interface_errors'
PENDING = frozenset(('pending', 'offline_uncorrectable'))


def with_history(
    readings: Sequence[Reading], report: Report, metrics: Mapping[str, Metric], age: float | None
) -> list[Reading]:
    """Return the readings; add the time since the newest data error, and the logged errors that no
    reading counts.

    report: must have at least one error. age: the drive's power-on time, seconds.
    """
    quiet, is_bound = newest(report, age)
    dated = [
        reading._replace(quiet=quiet, quiet_is_bound=is_bound)
        if reading.metric == COUNTED and reading.number
        else reading
        for reading in readings
    ]
    if not any(
        reading.metric == COUNTED and reading.judged and reading.number for reading in dated
    ):
        dated += logged(report.errors, DATA_ERRORS, metrics[LOGGED], age)
    if not INTERFACE_ERRORS.isdisjoint(report.errors[0].kind):
        dated += logged(report.errors, INTERFACE_ERRORS, metrics[LOGGED_INTERFACE], age)
    passed = newest_extended(report.self_tests, report.identity, age)
    ago = passed.ago if passed else None
    if ago is None or any(
        reading.metric in PENDING and reading.judged and reading.number for reading in dated
    ):
        return dated
    return [
        reading._replace(is_tested=reading.quiet is not None and ago < reading.quiet)
        for reading in dated
    ]


def newest(report: Report, age: float | None) -> tuple[float | None, bool]:
    """Return the power-on seconds since the last data error (None: unknown), and whether the
    time may be longer.
    """
    for error in report.errors:
        if not error.kind or not DATA_ERRORS.isdisjoint(error.kind):
            return drive_logs.seconds_since(error.hours, age), False
    # A full log has dropped errors that are older than all errors in it. A log that is not full has
    # all errors.
    is_full = (report.error_count or 0) > len(report.errors)
    return (
        (drive_logs.seconds_since(report.errors[-1].hours, age), True) if is_full else (None, False)
    )


def logged(
    errors: Iterable[ErrorEntry], kinds: frozenset[str], metric: Metric, age: float | None
) -> Iterable[Reading]:
    """Yield the number of logged errors of some kinds and the age of the newest error; nothing
    without such errors.
    """
    agos = [
        drive_logs.seconds_since(error.hours, age)
        for error in errors
        if not kinds.isdisjoint(error.kind)
    ]
    known = [ago for ago in agos if ago is not None]
    if agos:
        why = '' if known else 'the hour of the errors does not fit the power-on time'
        yield Reading(
            metric.name,
            None if why else len(agos),
            metric.unit,
            Source(drive_logs.ERROR_LOG),
            judged=not why,
            unknown=why,
            quiet=min(known, default=None),
        )


def newest_extended(
    tests: Sequence[SelfTest], identity: Identity, age: float | None
) -> SelfTestResult | None:
    """Return the newest extended test that passed, or None if no extended test has passed.

    age: the drive's power-on time, seconds.
    """
    return next(
        (
            result
            for result in drive_logs.results(tests, identity, age)
            if result.coverage == drive_logs.WHOLE and result.test.passed
        ),
        None,
    )


def freshness(
    tests: Sequence[SelfTest], identity: Identity, age: float | None, most: float, is_bound: bool
) -> Reading:
    """Return the reading `self_test_age`: whether the newest extended test that passed is recent
    enough.

    most: the maximum age, in seconds of power-on time. age: the drive's power-on time, seconds.
    is_bound: the real power-on time may be longer.
    """
    newest = newest_extended(tests, identity, age)
    is_fresh = newest is not None and newest.ago is not None and newest.ago <= most
    when = (
        'none known'
        if newest is None
        else f'{"more than " * is_bound}{since(newest.ago)}'
        if newest.ago is not None
        else 'at an unknown time'
    )
    advice = (
        ''
        if is_fresh
        else f' (limit: {round(most / HOUR / 24)} days); to start one, run: smartctl -t long DEVICE'
    )
    return Reading(
        'self_test_age',
        1 if is_fresh else 0.5,
        '',
        Source(drive_logs.SELF_TEST_LOG),
        f'newest extended self-test that passed: {when}{advice}',
        State.OK if is_fresh else State.WARNING,
    )


def clock_notes(report: Report, found: Sequence[Reading]) -> list[Coded]:
    """Return a note for each log whose hours are ahead of the drive's power-on time."""
    code, verb = (
        (drive_logs.CODES[0], 'was set back')
        if is_certain(report, found)
        else (drive_logs.CODES[1], 'was set back, or overflowed')
    )
    return [
        Coded(
            code,
            f'the {each.source} is {amount(each.number, "s")} ahead of the power-on time: '
            f'the power-on counter {verb}',
        )
        for each in found
        if each.metric == drive_logs.HIDDEN
    ]


def farm_notes(farm: Farm) -> Iterator[Coded]:
    """Yield a note on a FARM log that could not be read, or that belongs to another drive."""
    if farm.unread:
        yield Coded(
            'farm-unread',
            f'the FARM log could not be read on {strftime("%Y-%m-%d", localtime(farm.asked))}: '
            f'{farm.unread}',
        )
    if farm.is_foreign:
        yield Coded(
            'farm-foreign',
            'the FARM log and the drive have different serial numbers, so the hours are not '
            'compared',
        )


def is_certain(report: Report, found: Iterable[Reading]) -> bool:
    """Return whether the power-on counter was certainly reset and cannot be a 16-bit counter
    that wrapped around.
    """
    hours = {
        each.source.attribute is None: (each.number or 0) / HOUR
        for each in found
        if each.metric == drive_logs.AGE
    }
    counted = hours.get(False, hours.get(True, 0.0))  # the attribute's hours if there are any
    return report.identity.protocol != 'ATA' or any(
        abs(report.statistics[place].number - counted)
        <= drive_logs.AGREED[0] + drive_logs.AGREED[1] * counted
        for place in WIDE
        if place in report.statistics
    )
