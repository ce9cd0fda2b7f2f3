"""Read the age of the newest errors from the ATA error log. Pure.

The log counts every failed command, including commands that the drive does not support (ABRT). Data errors are those of
the medium: UNC, uncorrectable, and IDNF, sector not found; ICRC is an error of the interface (ACS-4, 6.3).
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..model import ErrorEntry, Reading, Report, Source
from . import drive_logs
from .drive_database import Metric

DATA_ERRORS, INTERFACE_ERRORS = frozenset(('UNC', 'IDNF')), frozenset(('ICRC',))
COUNTED = 'reported_uncorrect'     # the metric that counts data errors
LOGGED, LOGGED_INTERFACE = 'logged_data_errors', 'logged_interface_errors'
PENDING = frozenset(('pending', 'offline_uncorrectable'))


def with_history(readings: Sequence[Reading], report: Report, metrics: Mapping[str, Metric],
                 age: float | None) -> list[Reading]:
    """Return the readings, with the time since the newest data error, and with logged errors not counted elsewhere.

    report: has at least one error. age: the drive's power-on time, seconds.
    """
    quiet, is_bound = newest(report, age)
    dated = [reading._replace(quiet=quiet, quiet_is_bound=is_bound) if reading.metric == COUNTED and reading.number
             else reading for reading in readings]
    if not any(reading.metric == COUNTED and reading.judged and reading.number for reading in dated):
        dated += logged(report.errors, DATA_ERRORS, metrics[LOGGED], age)
    if not INTERFACE_ERRORS.isdisjoint(report.errors[0].kind):
        dated += logged(report.errors, INTERFACE_ERRORS, metrics[LOGGED_INTERFACE], age)
    passed = drive_logs.newest_extended(report.self_tests, report.identity, age)
    if passed is None or any(reading.metric in PENDING and reading.judged and reading.number for reading in dated):
        return dated
    return [reading._replace(is_tested=reading.quiet is not None and passed < reading.quiet) for reading in dated]


def newest(report: Report, age: float | None) -> tuple[float | None, bool]:
    """Return the power-on seconds since the last data error (None: unknown), and whether they may be more."""
    for error in report.errors:
        if not error.kind or not DATA_ERRORS.isdisjoint(error.kind):
            return drive_logs.seconds_since(error.hours, age), False
    # Errors that a full log has dropped are older than all in it; a log that is not full had no data errors.
    is_full = (report.error_count or 0) > len(report.errors)
    return (drive_logs.seconds_since(report.errors[-1].hours, age), True) if is_full else (None, False)


def logged(errors: Iterable[ErrorEntry], kinds: frozenset[str], metric: Metric,
           age: float | None) -> Iterable[Reading]:
    """Yield the number of errors of some kinds that are in the log, and the age of the newest; nothing without any."""
    agos = [drive_logs.seconds_since(error.hours, age) for error in errors if not kinds.isdisjoint(error.kind)]
    known = [ago for ago in agos if ago is not None]
    if agos:
        why = '' if known else 'errors at an hour that does not fit the power-on time'
        yield Reading(metric.name, None if why else len(agos), metric.unit, Source(drive_logs.ERROR_LOG),
                      judged=not why, unknown=why, quiet=min(known, default=None))
