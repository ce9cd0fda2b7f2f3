"""Compare the hours in a drive's own logs with its power-on time: a counter that was set back is behind them. Pure.

Of 22,176 dated reports of linuxhw/EnterpriseDrive, 22,039 have no entry more than 2 hours ahead of the counter. The
FARM log of Seagate disks has a counter of its own, which agrees within hours. Recertification resets both counters, so
a log that agrees, or is missing, does not show that a disk is new.
"""
from __future__ import annotations

from time import localtime, strftime

from ..coded import Coded
from ..constants import HOUR
from ..model import Reading, Report, Source
from ..typed import TYPE_CHECKING
from ..wording import amount
from . import standards
from .self_tests import ERASED_HOUR

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ..model import Farm
    from .drive_database import Interval, Metric

AGE, HIDDEN = 'power_on_time', 'hidden_power_on_time'
CODES = 'power-on-time-set-back', 'power-on-time-behind'
APART = 1000                      # hours; a log that is less far ahead contradicts nothing
WIDE = ((1, 0x010), (3, 0x008))   # device statistics of 32 bits, in hours: power-on, spindle motor (ACS-4, 9.5)
AGREED = 24, 0.02                 # hours and share by which such a statistic may differ from attribute 9


def hidden(report: Report, found: Iterable[Reading], metrics: Mapping[str, Metric]) -> list[Reading]:
    """Return the power-on time by which each log is ahead of the counter; the largest is judged, and comes first.

    The self-test log and the error log count as one, the FARM log as another. found: the readings of the drive.
    """
    age = next((each.number for each in found if each.metric == AGE and each.judged), None)
    if age is None:
        return []
    logged, log = max(_logged(report, metrics[AGE].valid), default=(0, ''))
    witnesses = ((logged, log, APART * HOUR),
                 (_farm_hours(report, metrics[AGE].valid), standards.FARM_LOG, AGREED[0] * HOUR + AGREED[1] * age))
    ahead = sorted(((hours * HOUR - age, name) for hours, name, apart in witnesses if hours * HOUR > age + apart),
                   reverse=True)
    return [Reading(HIDDEN, seconds, 's', Source(name), judged=place == 0)
            for place, (seconds, name) in enumerate(ahead)]


def _farm_hours(report: Report, valid: Interval) -> int:
    """Return the hours in the FARM log, or 0 if they are missing, impossible or those of another drive."""
    hours = 0 if report.farm is None or report.farm.is_foreign else report.farm.hours or 0
    return hours if hours * HOUR <= (valid[1] or 0) else 0


def _logged(report: Report, valid: Interval) -> Iterator[tuple[int, str]]:
    """Yield the hours in the logs, each with the name of its log, without those that are impossible."""
    # The logs of NVMe drives have 64 bits for an hour, the others 16, of which the largest mean "erased" or "or later".
    end = (valid[1] or 0) / HOUR if report.identity.protocol == 'NVMe' else ERASED_HOUR
    logs = ((standards.SELF_TEST_LOG, report.self_tests), (standards.ERROR_LOG, report.errors))
    yield from ((entry.hours, log) for log, entries in logs for entry in entries
                if entry.hours is not None and entry.hours < end)


def notes(report: Report, found: Sequence[Reading]) -> tuple[str, list[str]]:
    """Return the code for a counter that is behind a log of the drive, and a note for each log that is ahead."""
    code, verb = ((CODES[0], 'was set back') if is_certain(report, found) else
                  (CODES[1], 'was set back, or ran over'))
    return code, [f'the {each.source} is {amount(each.number, "s")} ahead of the power-on time: its counter {verb}'
                  for each in found if each.metric == HIDDEN]


def farm_notes(farm: Farm) -> Iterator[Coded]:
    """Yield a note on a FARM log that could not be read, or that names another drive."""
    if farm.unread:
        yield Coded('farm-unread', f'the FARM log could not be read on {strftime("%Y-%m-%d", localtime(farm.asked))}: '
                                   f'{farm.unread}')
    if farm.is_foreign:
        yield Coded('farm-foreign', 'the FARM log names another serial number than the drive, so its hours are not '
                                    'compared')


def is_certain(report: Report, found: Iterable[Reading]) -> bool:
    """Return whether no counter of 16 bits that ran over explains a log that is ahead of the power-on time."""
    hours = {each.source.attribute is None: (each.number or 0) / HOUR for each in found if each.metric == AGE}
    counted = hours.get(False, hours.get(True, 0.0))  # by the attribute if there is one
    return report.identity.protocol != 'ATA' or any(
        abs(report.statistics[place].number - counted) <= AGREED[0] + AGREED[1] * counted
        for place in WIDE if place in report.statistics)
