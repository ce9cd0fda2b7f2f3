"""Calculate the failure rates of drives beyond each limit: by value, by time since the last increase, and by family.

A rate is the number of failures per drive-year, from timelines (see `timelines`). A drive counts for a limit while its
value is beyond it, and *at the limit* while its value is at most twice the limit. It counts as *alone* if nothing else
brings it into that state: only then does the limit decide. The age of an increase is the power-on time since then. If
the drive never increased while it was observed, it is the time since its first observation.
"""
from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from smart_attributes.knowledge import ranges
from smart_attributes.model import State

from .collection import PHYSICAL
from .timelines import DAY, LEVELS, YEAR, Counters, Judge, Timeline, report_of

# How old growth is, in hours: its name, and where it ends.
AGES: Sequence[tuple[str, float]] = (
    ('a week', 7 * DAY), ('4 weeks', 28 * DAY), ('3 months', YEAR / 4), ('a year', YEAR), ('longer', float('inf')))
BEYOND, AT, ALONE = 'beyond', 'at', 'alone'
PRECISION = 1e-9  # of the ends of an interval, as a share
SMALL = 10  # percent, below which a decimal tells something


class Rate(NamedTuple):
    """Failures in the time that drives were watched."""

    hours: float = 0
    failures: int = 0

    def __str__(self) -> str:
        if not self.hours:
            return '-'
        return f'{self.percent:.{1 if self.percent < SMALL else 0}f} % ({self.failures})'

    @property
    def percent(self) -> float:
        """Return the failures per drive-year, in percent."""
        return 100 * self.failures * YEAR / self.hours

    def interval(self, level: float = 95) -> tuple[float, float] | None:
        """Return the interval of the rate in percent a year; None without hours. level: in percent."""
        years = self.hours / YEAR
        low, high = poisson_interval(self.failures, level)
        return (100 * low / years, 100 * high / years) if years else None


def poisson_interval(count: int, level: float = 95) -> tuple[float, float]:
    """Return the exact interval of the expected number where *count* was observed. level: in percent.

    Each end is the number with which a count this large, or this small, has half of the remaining probability.
    Source: F. Garwood, Fiducial limits for the Poisson distribution, 1936.
    """
    tail = (1 - level / 100) / 2
    return (_mean(count - 1, 1 - tail) if count else 0.0), _mean(count, tail)


def _mean(most: int, probability: float) -> float:
    """Return the mean of the Poisson distribution in which a number up to *most* has this probability."""
    low, high = 0.0, most + 10 * math.sqrt(most + 1) + 20
    while high - low > PRECISION * high:
        middle = (low + high) / 2
        low, high = (middle, high) if _up_to(most, middle) > probability else (low, middle)
    return (low + high) / 2


def _up_to(most: int, mean: float) -> float:
    """Return the probability of a number up to *most*."""
    return sum(math.exp(number * math.log(mean) - mean - math.lgamma(number + 1)) for number in range(most + 1))


class MetricState(NamedTuple):
    """The judgement of one metric of a drive."""

    number: float
    state: State
    warning: str
    critical: str

    def limit(self, level: State) -> str:
        """Return the range of a level, '' for never."""
        return self.critical if level is State.CRITICAL else self.warning


class Period(NamedTuple):
    """One stretch, or a part of one, as limits see it."""

    family: str
    hours: float
    has_failed: bool
    metrics: Mapping[str, MetricState]
    ages: Mapping[str, float]      # hours since the number last grew, by metric


Key = tuple[str, ...]
Classes = Callable[[Period], Iterable[Key]]
Rates = Mapping[Key, Rate]


def periods(timelines: Iterable[Timeline], judge: Judge) -> Iterator[Period]:
    """Yield the stretches of all drives, cut where growth gets older than one of AGES."""
    @lru_cache(maxsize=None)
    def judged(model: str, block_size: int | None, counters: Counters) -> tuple[str, Mapping[str, MetricState]]:
        verdict = judge(report_of(model, block_size, counters))
        family = f'{verdict.entry or "no entry"}{", sectors of 4 KiB" if block_size == PHYSICAL else ""}'
        return family, {j.reading.metric: MetricState(j.reading.number, j.state, j.warning, j.critical)
                        for j in verdict.judgements
                        if j.reading.judged and j.reading.number is not None and (j.warning or j.critical)}

    for timeline in timelines:
        growth: dict[str, float] = {}   # the hour of the last one, by metric
        before: Mapping[str, MetricState] = {}
        for stretch in timeline.stretches:
            family, metrics = judged(timeline.model, timeline.physical_block_size, stretch.counters)
            growth.update((metric, stretch.start) for metric in metrics if metric not in before
                          or metrics[metric].number > before[metric].number)
            before = metrics
            has_failed = timeline.has_failed and stretch is timeline.stretches[-1]
            for start, end in stretch.parts(hour + age for hour in growth.values() for _, age in AGES):
                ages = {metric: start - hour for metric, hour in growth.items()}
                yield Period(family, end - start, has_failed and end == stretch.end, metrics, ages)


def counted(all_periods: Iterable[Period], tables: Mapping[str, Classes]) -> Mapping[str, Rates]:
    """Return, for each table, the rate of each class that periods belong to."""
    hours: dict[tuple[str, Key], float] = defaultdict(float)
    failures: dict[tuple[str, Key], int] = defaultdict(int)
    for period in all_periods:
        for name, classes in tables.items():
            for key in classes(period):
                hours[name, key] += period.hours
                failures[name, key] += period.has_failed
    return {name: {key: Rate(hours[of, key], failures[of, key]) for of, key in hours if of == name} for name in tables}


# --- classes: keys that a period counts for ---------------------------------------------

def of_limits(period: Period) -> Iterator[Key]:
    """Yield (metric, level, beyond or at or alone), and the same with the family, for each limit that a period is
    beyond.
    """
    for metric, level, judged in beyond(period):
        places = [BEYOND]
        if judged.number <= twice(judged.limit(level)):
            is_alone = not any(other.state.urgency >= level.urgency for name, other in period.metrics.items()
                               if name != metric)
            places += [AT, ALONE] if is_alone else [AT]
        for place in places:
            yield metric, level.name, place
            yield metric, level.name, place, period.family


def beyond(period: Period) -> Iterator[tuple[str, State, MetricState]]:
    """Yield the limits that a period is beyond."""
    for metric, judged in period.metrics.items():
        yield from ((metric, level, judged) for level in LEVELS if judged.state.urgency >= level.urgency
                    and judged.limit(level))


def twice(limit: str) -> float:
    """Return where "at the limit" ends: above 0 at 1, above 40 at 80."""
    number: float = ranges.parse(limit).end
    return max(2 * number, number + 1)


def of_ages(period: Period) -> Iterator[Key]:
    """Yield (metric, level, age of its growth), and the same with the family, for each limit it is beyond."""
    for metric, level, _ in beyond(period):
        age = next(name for name, end in AGES if period.ages[metric] < end)
        yield metric, level.name, age
        yield metric, level.name, age, period.family


def of_values(period: Period) -> Iterator[Key]:
    """Yield (metric, numbers around it), and the same with the family, for each metric: 0, 1, 2, 3-4, 5-8, 9-16, ..."""
    for metric, judged in period.metrics.items():
        yield metric, octave(judged.number)
        yield metric, octave(judged.number), period.family


def octave(number: float) -> str:
    """Return the band that a number lies in; each ends at twice the end of the one before."""
    end = 1
    while end < number:
        end *= 2
    return f'{number:g}' if number <= 2 else f'{end // 2 + 1} to {end}'
