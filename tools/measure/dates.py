"""Check the dates at which SSDs are forecast to be worn out, from use and age alone.

A drive that has used less than half of its endurance in more than a year lasts for another year, so
a date within a year is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from smart_attributes.check import drive_notes, forecasts
from smart_attributes.constants import YEAR
from smart_attributes.model import Verdict

LITTLE = 50  # %, below which a drive has more than half of its endurance left


class Lasting(NamedTuple):
    """What one drive has used, and how long it lasts, without history."""

    used: float  # %
    age: float | None  # power-on time in seconds
    left: float | None = None  # seconds; None where it is not known
    earliest: float | None = None

    @property
    def is_half_new(self) -> bool:
        """Tell whether less than half is used of a drive that is older than a year."""
        return self.used < LITTLE and self.age is not None and self.age > YEAR


def lasting(verdict: Verdict) -> Lasting | None:
    """Return how long a drive lasts by its readings of today; None for one that reports no
    endurance.
    """
    numbers = {
        judgement.reading.metric: judgement.reading.number
        for judgement in verdict.judgements
        if judgement.reading.judged
    }
    used, age = (numbers.get(metric) for metric in (drive_notes.ENDURANCE, forecasts.AGE))
    if used is None:
        return None
    soonest = min(
        forecasts.forecasts(verdict, None).values(),
        key=lambda forecast: forecast.left,
        default=None,
    )
    return Lasting(used, age, soonest.left, soonest.earliest) if soonest else Lasting(used, age)


def table(drives: Iterable[tuple[str, Lasting | None]]) -> Iterator[str]:
    """Yield a row a kind: how many drives report their endurance, have a date, are half new; of
    these with a date within a year, and with the early end of its range there. drives: (kind, how
    long it lasts), hard disks left out.
    """
    by_kind: dict[str, list[Lasting]] = {}
    for kind, each in drives:
        if each is not None and kind != 'hdd':
            by_kind.setdefault(kind, []).append(each)
    for kind, all_drives in sorted(by_kind.items()):
        half_new = [each for each in all_drives if each.is_half_new]
        dated = sum(each.left is not None for each in all_drives)
        soon = (
            sum(time is not None and time <= YEAR for time in times)
            for times in ([each.left for each in half_new], [each.earliest for each in half_new])
        )
        cells = ' | '.join(
            f'{count:,}, {100 * count / len(half_new):.1f} %' if half_new else '-' for count in soon
        )
        yield f'| {kind} | {len(all_drives):,} | {dated:,} | {len(half_new):,} | {cells} |'
