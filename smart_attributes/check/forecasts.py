"""Forecasts of when a drive wears out, and the reading endurance_time_left that is derived from
them. Pure.

A forecast uses the speed of wear so far to estimate when the endurance is used up, with an early
and a late date. No forecast is made below 2 % used, before 90 days of age, or for a drive that was
written to before and is idle now. The early date matters most, because it shows when to order
drives. The factors of the range are tuned on simulated years (steady, steps, idle, bursts, a
replaced workload; tests/workloads.py), so that the true date is within the range in more than nine
of ten cases. The factors of the estimate come from real drives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..constants import DAY, MONTH, YEAR
from ..model import Forecast, Reading, Source, Verdict
from ..typed import TYPE_CHECKING
from .drive_notes import ENDURANCE, LEAST_USED, TIME_LEFT

if TYPE_CHECKING:
    from ..history.past import Past

    Point = tuple[float, float]  # seconds since 1970, %

SPARE = 'spare_available'
AGE = 'power_on_time'
HISTORY, ESTIMATE = 'history', 'use and age'  # sources of a forecast
ALL = 100.0  # %
# power-on time; before that, most data was written during the installation
YOUNGEST = 90 * DAY
SHORTEST = 60 * DAY  # minimum length of the history
LEAST_GROWN = 3  # minimum growth within the history, in percentage points
SAMPLES = 16  # number of samples taken from the history at equal intervals
RECENT = (2, 6, SAMPLES - 1)  # how many of the last samples each recent period has
TAIL = 0.1  # share of the slopes between samples that is ignored at each end
# factor: at most this much slower than usual, because an idle drive will not stay idle
SLOWEST = 6
WIDER = 1.2  # factor that widens the range, for changes that have not occurred yet
# If only the percentage used and the age are known: factors by which a drive may wear slower and
# faster than so far.
# Source: 3,069 drives of linuxhw/EnterpriseDrive that were reported again (python -m tools.measure
# --forecasts). The range is right for 96.8 % of the SATA SSDs and 97.7 % of the NVMe drives. Its
# early end is far from the middle: one report cannot show that a server will write more, and of 70
# drives with a known end, three wore 6.6, 11 and 12 times as fast as before. One of the 70 wore out
# before the range; with a factor of 4.2 instead of 12, three did.
SLOWER = 6
FASTER = 12
FURTHEST = 50 * YEAR  # a later date is not useful
# ratio: a drive is idle if, at its lifetime rate, it would have grown at least this many times as
# much as it can have grown in the history
IDLE = 3


def time_left(by_metric: Mapping[str, Reading], past: Past | None) -> Reading:
    """Return a reading of how long the endurance of a drive will last, in seconds.

    If the data do not allow a forecast, the reading has no number, and `unknown` states the reason.
    by_metric: the judged readings of the drive that have a number.
    """
    unknown = Reading(TIME_LEFT, None, 's', Source(ESTIMATE))
    used = by_metric.get(ENDURANCE)
    if used is None:
        return unknown._replace(
            unknown='no endurance_used value is evaluated for this drive'
        )
    age = by_metric.get(AGE)
    foreseen = _foreseen(used, age.number if age else None, past)
    if isinstance(foreseen, str):
        return unknown._replace(unknown=foreseen)
    source = HISTORY
    if foreseen.is_estimate:
        source = ESTIMATE
    elif foreseen.left == 0:  # already used up
        source = ENDURANCE
    return Reading(
        TIME_LEFT, round(foreseen.left), 's', Source(source), forecast=foreseen
    )


def sooner(first: Reading, second: Reading) -> Reading:
    """Return the reading with less time left, or the only one with a number, or *first* if no
    reading has a number.
    """
    if second.number is None:
        return first
    if first.number is None or second.number < first.number:
        return second
    return first


def forecasts(verdict: Verdict, past: Past | None) -> Mapping[str, Forecast]:
    """Return a forecast for each metric that will be used up.

    Metrics without a forecast are left out, and so is spare_available if it has no limit.
    """
    by_metric: dict[str, Forecast] = {}
    for judgement in verdict.judgements:
        reading = judgement.reading
        has_limit = judgement.warning or judgement.critical
        if reading.forecast is not None:
            # the reading is endurance_time_left: see time_left()
            by_metric[ENDURANCE] = reading.forecast
        elif reading.metric == SPARE and reading.judged and has_limit:
            # without an age: the estimate by age was measured for endurance_used alone
            foreseen = _foreseen(reading, age=None, past=past)
            if isinstance(foreseen, Forecast):
                by_metric[SPARE] = foreseen
    return by_metric


def _foreseen(reading: Reading, age: float | None, past: Past | None) -> Forecast | str:
    """Return the forecast for a reading, which has a number, or the reason why a forecast cannot be
    made. age: power-on time in seconds; None if unknown.
    """

    def used(number: float) -> float:
        return ALL - number if reading.metric == SPARE else number

    points: list[Point] = []
    now = 0
    if past is not None:
        from ..history.past import key

        now = past.now
        stored = past.histories.get(key(reading))
        if stored:
            points = [(point.time, used(point.number)) for point in stored.points]
    return forecast(points, now, used(reading.number or 0), age)


def forecast(
    points: Sequence[Point], now: float, used: float, age: float | None
) -> Forecast | str:
    """Return a forecast of the time at which *used* reaches 100 %, or the reason why the data are
    insufficient.

    points: the percentages in the history, oldest first; each percentage applies until the next
    point.
    used: the current percentage; it only grows. age: power-on time in seconds; None if unknown.
    now: seconds since 1970.
    """
    left = ALL - used
    if left <= 0:
        return Forecast(0, 0, 0, False)
    life = 0.0  # the rate since the drive was new; 0 if unknown
    if age is not None and age >= YOUNGEST and used >= LEAST_USED:
        life = used / age
    start, used_then = points[0] if points else (now, used)
    watched = now - start
    if watched >= SHORTEST:
        grown = used - used_then
        if grown >= LEAST_GROWN:
            rates = _rates(_sampled(points, now, used), life)
            return _of_rates(left, *rates, is_estimate=False)
        # A rounded percentage can hide a growth of 1.
        largest_possible_growth = max(1.0, grown)
        growth_at_lifetime_rate = life * watched
        # IDLE is a ratio.
        if growth_at_lifetime_rate >= IDLE * largest_possible_growth:
            return 'the drive was used earlier and is idle now'
    if life:
        return _of_rates(left, life / SLOWER, life, life * FASTER, is_estimate=True)
    return _why_no_rate(used, age)


def _why_no_rate(used: float, age: float | None) -> str:
    """Return why the rate since the drive was new is not known. used, age: as in forecast()."""
    if used < LEAST_USED:
        return f'less than {LEAST_USED} % is used'
    if age is None:
        return 'the power-on time is not known'
    return f'the drive has run less than {YOUNGEST / DAY:.0f} days'


def _of_rates(
    left: float, slow: float, usual: float, fast: float, is_estimate: bool
) -> Forecast | str:
    """Calculate a forecast from rates in % per second, or return a reason if the date is too far
    away.
    """
    if left / usual > FURTHEST:
        return f'the date is more than {FURTHEST / YEAR:.0f} years away'
    return Forecast(
        left / usual, left / fast, min(left / slow, 2 * FURTHEST), is_estimate
    )


def _sampled(points: Sequence[Point], now: float, used: float) -> list[Point]:
    """Return the percentages at SAMPLES equidistant times from the first point until now. The last
    one is *used*; any other one is that of the newest point until its time.
    """
    start, _ = points[0]
    samples = []
    for number in range(SAMPLES - 1):
        sampled_at = start + (now - start) * number / (SAMPLES - 1)
        until_then = [percentage for time, percentage in points if time <= sampled_at]
        samples.append((sampled_at, until_then[-1]))
    return [*samples, (now, used)]


def _slopes(samples: Sequence[Point]) -> list[float]:
    """Return the rates between samples that are at least a quarter of the history apart, slowest
    first.
    """
    slopes = []
    for place, (earlier, used_then) in enumerate(samples):
        for later, used in samples[place + SAMPLES // 4 :]:
            slopes.append((used - used_then) / (later - earlier))
    return sorted(slopes)


def _rates(samples: Sequence[Point], life: float) -> tuple[float, float, float]:
    """Return the slow, the usual and the fast rate in % per second. life: the lifetime rate;
    0 if unknown.

    The usual rate is the median of the slopes. If the median is not above 0, the usual rate is the
    mean rate of the whole history.

    The slow rate is the lowest of the usual rate, the lifetime rate if it is known, the slowest
    slope without the tail, and the rates of the recent periods with 1 percentage point less growth.
    Periods of less than a month with at most 1 point of growth are skipped. The slow rate is at
    least usual / SLOWEST. In the end, it is divided by WIDER.

    The fast rate is the highest of the usual rate, the lifetime rate if it is known, the fastest
    slope without the tail, and the rates of all recent periods with 1 percentage point more growth.
    In the end, it is multiplied by WIDER.
    """
    slopes = _slopes(samples)
    start, used_first = samples[0]
    now, used_last = samples[-1]
    usual = slopes[len(slopes) // 2]  # the median
    if usual <= 0:
        usual = (used_last - used_first) / (now - start)
    rates = [usual, life] if life else [usual]
    tail = int(len(slopes) * TAIL)
    slow_rates = [*rates, slopes[tail]]
    fast_rates = [*rates, slopes[-1 - tail]]
    for samples_back in RECENT:
        then, used_then = samples[-1 - samples_back]
        grown = used_last - used_then
        span = now - then
        # A rounded percentage may be wrong by almost one in either direction.
        fast_rates.append((grown + 1) / span)
        # A short period without growth does not show that the drive wears slower.
        is_skipped = span < MONTH and grown <= 1
        if not is_skipped:
            slow_rates.append((grown - 1) / span)
    # The lowest of the rates can be 0 or negative.
    slow = max(min(slow_rates), usual / SLOWEST)
    return slow / WIDER, usual, max(fast_rates) * WIDER
