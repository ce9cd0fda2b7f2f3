"""Read the age of the newest data errors from the ATA error log. Pure.

The log counts every failed command, including commands that the drive does not support (ABRT) and repeated transfers
(ICRC). Data errors are those of the medium: UNC, uncorrectable, and IDNF, sector not found (ACS-4, 6.3).
"""
from __future__ import annotations

from ..constants import HOUR
from ..model import ErrorEntry, Reading, Report, Source
from ..typed import TYPE_CHECKING
from . import standards
from .drive_database import Metric

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

DATA_ERRORS = frozenset(('UNC', 'IDNF'))
RECENT = 1000 * HOUR
COUNTED = 'reported_uncorrect'     # the metric that counts the same errors
RECENT_METRIC = 'recent_data_errors'


def with_history(readings: Sequence[Reading], report: Report, metrics: Mapping[str, Metric],
                 age: float | None) -> list[Reading]:
    """Return the readings, with the time since the newest data error, and with recent errors not counted elsewhere.

    age: the drive's power-on time, seconds.
    """
    if not report.errors:
        return list(readings)
    quiet, is_bound = newest(report, age)
    dated = [reading._replace(quiet=quiet, quiet_is_bound=is_bound) if reading.metric == COUNTED and reading.number
             else reading for reading in readings]
    is_counted = any(reading.metric == COUNTED and reading.judged and reading.number for reading in dated)
    return dated if is_counted else [*dated, *recent(report, metrics, age)]


def newest(report: Report, age: float | None) -> tuple[float | None, bool]:
    """Return the power-on seconds since the last data error (None: unknown), and whether they may be more."""
    for error in report.errors:
        if not error.kind or _is_data_error(error):
            return standards.seconds_since(error.hours, age), False
    # Errors that a full log has dropped are older than all in it; a log that is not full had no data errors.
    is_full = (report.error_count or 0) > len(report.errors)
    return (standards.seconds_since(report.errors[-1].hours, age), True) if is_full else (None, False)


def recent(report: Report, metrics: Mapping[str, Metric], age: float | None) -> Iterable[Reading]:
    """Yield the number of data errors in the last RECENT seconds, but nothing if the log holds no data errors."""
    agos = [standards.seconds_since(error.hours, age) for error in report.errors if _is_data_error(error)]
    fresh = [ago for ago in agos if ago is not None and ago <= RECENT]
    if agos:
        why = '' if fresh or None not in agos else 'data errors at an hour that does not fit the power-on time'
        yield Reading(RECENT_METRIC, None if why else len(fresh), metrics[RECENT_METRIC].unit,
                      Source(standards.ERROR_LOG), judged=not why, unknown=why, quiet=min(fresh, default=None))


def _is_data_error(error: ErrorEntry) -> bool:
    return not DATA_ERRORS.isdisjoint(error.kind)
