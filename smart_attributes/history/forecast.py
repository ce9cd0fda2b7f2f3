"""Forecast: when endurance is used up, from how fast it was used until now, with the range that the past allows. Pure.

There is a date only where the data support one: none below 2 % used or 90 days of age, none where a drive that used to
be written is idle. The range is the purpose: to order drives in time, you need the early end of it. The factors are
tuned on simulated years (steady, steps, idle, bursts, a replaced workload; tests/workloads.py), so that the true date
lies within the range in more than nine of ten cases.
"""
from __future__ import annotations

from ..constants import DAY, MONTH, YEAR
from ..model import Forecast
from ..typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    Point = tuple[float, float]  # seconds since 1970, %

YOUNGEST = 90 * DAY         # of power-on time; before that the installation is most of what was written
LEAST_USED = 2              # %; below it, rounding to whole numbers is most of the figure
SHORTEST = 60 * DAY         # of history
LEAST_GROWN = 3             # % within history
SAMPLES = 16                # taken from history, equally far apart
RECENT = (2, 6, SAMPLES - 1)  # how many of the last samples describe the present
# Without growth in a month, it is the slow end of the range.
TAIL = 0.1                  # of all slopes between samples that are left out at either end
SLOWEST = 6                 # times slower than usual; a drive that is idle now will not be so for ever
WIDER = 1.2                 # the range, for changes that the past has not shown yet
AGE_ALONE = 2.5             # likewise, where nothing is known but used and age
LONGEST = 50 * YEAR         # a later date is of no use
IDLE = 3                    # times as much as its life's rate would have used, and nothing was


def forecast(points: Sequence[Point], now: float, used: float, age: float | None, end: float = 100) -> Forecast | str:
    """Return how long it is until *used* reaches *end*; a sentence why that is unknown where the data do not suffice.

    points: the number in history, oldest first, each holding until the next one.
    used: the number now, %, growing. age: power-on time in seconds, None where it is not known.
    """
    left = end - used
    if left <= 0:
        return Forecast(0, 0, 0, False)
    life = used / age if age is not None and age >= YOUNGEST and used >= LEAST_USED else None
    if points and now - points[0][0] >= SHORTEST:
        grown, span = used - points[0][1], now - points[0][0]
        if grown >= LEAST_GROWN:
            return _of_rates(left, *_rates(_sampled(points, now, used), life), is_estimate=False)
        if life is not None and life * span >= IDLE * max(1.0, grown):
            return 'it was used once and stands idle now'
    if life:
        return _of_rates(left, life / AGE_ALONE, life, life * AGE_ALONE, is_estimate=True)
    if used < LEAST_USED:
        return f'less than {LEAST_USED} % is used'
    return 'the power-on time is not known' if age is None else f'it has run for less than {YOUNGEST / DAY:.0f} days'


def _of_rates(left: float, slow: float, usual: float, fast: float, is_estimate: bool) -> Forecast | str:
    """Return the forecast from rates, in % a second; a sentence where the date is too far away."""
    if left / usual > LONGEST:
        return f'it is more than {LONGEST / YEAR:.0f} years away'
    return Forecast(left / usual, left / fast, min(left / slow, 2 * LONGEST), is_estimate)


def _sampled(points: Sequence[Point], now: float, used: float) -> list[Point]:
    """Return the number at SAMPLES times from the first point until now."""
    first, place, samples = points[0][0], 0, []
    for number in range(SAMPLES - 1):
        time = first + (now - first) * number / (SAMPLES - 1)
        while place + 1 < len(points) and points[place + 1][0] <= time:
            place += 1
        samples.append((time, points[place][1]))
    return [*samples, (now, used)]


def _rates(samples: Sequence[Point], life: float | None) -> tuple[float, float, float]:
    """Return the slow, the usual and the fast rate that the samples show; life: the rate of all its years."""
    slopes = sorted((later[1] - earlier[1]) / (later[0] - earlier[0]) for place, earlier in enumerate(samples)
                    for later in samples[place + SAMPLES // 4:])
    whole = (samples[-1][1] - samples[0][1]) / (samples[-1][0] - samples[0][0])
    usual = slopes[len(slopes) // 2] if slopes[len(slopes) // 2] > 0 else whole
    recent = [(samples[-1][1] - samples[-1 - back][1], samples[-1][0] - samples[-1 - back][0]) for back in RECENT]
    known = [usual] if life is None else [usual, life]
    tail = int(len(slopes) * TAIL)
    # A whole number may hide almost one more, or one less.
    slow = min([*known, slopes[tail], *((grown - 1) / time for grown, time in recent if grown > 1 or time >= MONTH)])
    fast = max([*known, slopes[-1 - tail], *((grown + 1) / time for grown, time in recent)])
    return max(slow, usual / SLOWEST) / WIDER, usual, fast * WIDER
