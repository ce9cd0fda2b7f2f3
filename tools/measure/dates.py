"""Which dates are told to solid state drives: one that comes within a year to a drive that is half as good as new would
be believed, and be wrong.
"""
from typing import Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from smart_attributes.check import forecasts
from smart_attributes.constants import YEAR
from smart_attributes.model import Verdict

LITTLE = 50        # %, below which a drive has more than half of its endurance left


class Lasting(NamedTuple):
    """What one drive has used, and how long it lasts, without history."""

    used: float                      # %
    age: Optional[float]             # power-on time in seconds
    left: Optional[float] = None     # seconds; None where the data do not say
    earliest: Optional[float] = None

    @property
    def is_half_new(self) -> bool:
        """Say whether less than half is used of a drive that is older than a year."""
        return self.used < LITTLE and self.age is not None and self.age > YEAR


def lasting(verdict: Verdict) -> Optional[Lasting]:
    """Return how long a drive lasts by what it says today; None for one that tells no endurance."""
    known = {judgement.reading.metric: judgement.reading.number for judgement in verdict.judgements
             if judgement.reading.judged}
    used, age = (known.get(metric) for metric in (forecasts.ENDURANCE, forecasts.AGE))
    if used is None:
        return None
    soonest = min(forecasts.forecasts(verdict, None).values(), key=lambda forecast: forecast.left, default=None)
    return Lasting(used, age, soonest.left, soonest.earliest) if soonest else Lasting(used, age)


def table(drives: Iterable[Tuple[str, Optional[Lasting]]]) -> Iterator[str]:
    """Yield a row a kind: how many drives tell their endurance, have a date, are half new; of these with a date within
    a year, and with the early end of its range there. drives: (kind, how long it lasts), hard disks left out.
    """
    by_kind: Dict[str, List[Lasting]] = {}
    for kind, each in drives:
        if each is not None and kind != 'hdd':
            by_kind.setdefault(kind, []).append(each)
    for kind, told in sorted(by_kind.items()):
        half_new = [each for each in told if each.is_half_new]
        cells = ' | '.join((_share(half_new, [each.left for each in half_new]),
                            _share(half_new, [each.earliest for each in half_new])))
        yield (f'| {kind} | {len(told):,} | {sum(each.left is not None for each in told):,} | {len(half_new):,} | '
               f'{cells} |')


def _share(drives: Sequence[Lasting], times: Sequence[Optional[float]]) -> str:
    """Return how many of the times lie within a year: "22, 0.6 %"."""
    soon = sum(time is not None and time <= YEAR for time in times)
    return f'{soon:,}, {100 * soon / len(drives):.1f} %' if drives else '-'
