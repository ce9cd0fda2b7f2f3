"""What defends a limit: how many of the drives beyond it fail in a year, by value, by age of the growth, by family.

A rate is of drive-years and failures on timelines (see `timelines`). A drive counts for a limit while its number is
beyond it;
*at the limit* while it is beyond it by no more than as much again. *Alone* is where it alarms, or is critical, by
nothing else:
only there a state follows from this limit. Growth is as old as the power-on time since the number last rose, or since
the drive
was first seen where it stood there already.
"""
from collections import defaultdict
from functools import lru_cache
from typing import Callable, Dict, Iterable, Iterator, Mapping, NamedTuple, Optional, Sequence, Tuple

from smart_attributes.devtools.sectors import PHYSICAL
from smart_attributes.knowledge import ranges
from smart_attributes.model import State, Verdict

from .timelines import DAY, LEVELS, YEAR, Counters, Judge, Timeline, report_of

# How old growth is, in hours: its name, and where it ends.
AGES: Sequence[Tuple[str, float]] = (
    ('a week', 7 * DAY), ('4 weeks', 28 * DAY), ('3 months', YEAR / 4), ('a year', YEAR), ('longer', float('inf')))
BEYOND, AT, ALONE = 'beyond', 'at', 'alone'
SMALL = 10  # percent, below which a decimal tells something


class Rate(NamedTuple):
    """Failures in the time that drives were watched."""

    hours: float = 0
    failures: int = 0

    @property
    def percent(self) -> float:
        """Return failures per drive-year in percent."""
        return 100 * self.failures * YEAR / self.hours

    def __str__(self) -> str:
        if not self.hours:
            return '-'
        return f'{self.percent:.{1 if self.percent < SMALL else 0}f} % ({self.failures})'


class Found(NamedTuple):
    """What the judge says of one metric of a drive."""

    number: float
    state: State
    warning: str
    critical: str

    def limit(self, level: State) -> str:
        """Return the range of a level, '' for never."""
        return self.critical if level is State.CRITICAL else self.warning


class Row(NamedTuple):
    """One stretch, or a part of one, as limits see it."""

    family: str
    hours: float
    has_failed: bool
    found: Mapping[str, Found]     # by metric
    ages: Mapping[str, float]      # hours since the number last grew, by metric


Key = Tuple[str, ...]
Classes = Callable[[Row], Iterable[Key]]
Rates = Mapping[Key, Rate]


def rows(timelines: Iterable[Timeline], judge: Judge) -> Iterator[Row]:
    """Yield the stretches of all drives, cut where growth gets older than one of AGES."""
    @lru_cache(maxsize=None)
    def seen(model: str, physical_block_size: Optional[int], counters: Counters) -> Tuple[str, Mapping[str, Found]]:
        verdict = judge(report_of(model, physical_block_size, counters))
        sectors = ', sectors of 4 KiB' if physical_block_size == PHYSICAL else ''
        return f'{verdict.entry or "no entry"}{sectors}', _found(verdict)

    for timeline in timelines:
        grown: Dict[str, float] = {}   # the hour of the last growth
        before: Mapping[str, Found] = {}
        for stretch in timeline.stretches:
            family, found = seen(timeline.model, timeline.physical_block_size, stretch.counters)
            grown.update((metric, stretch.start) for metric in found if metric not in before
                         or found[metric].number > before[metric].number)
            before = found
            last = timeline.has_failed and stretch is timeline.stretches[-1]
            for start, end in _parts(stretch.start, stretch.end, grown.values()):
                ages = {metric: start - hour for metric, hour in grown.items()}
                yield Row(family, end - start, last and end == stretch.end, found, ages)


def _found(verdict: Verdict) -> Mapping[str, Found]:
    return {j.reading.metric: Found(j.reading.number, j.state, j.warning, j.critical) for j in verdict.judgements
            if j.reading.judged and j.reading.number is not None and (j.warning or j.critical)}


def _parts(start: float, end: float, grown: Iterable[float]) -> Iterator[Tuple[float, float]]:
    """Yield the stretch in parts within which no growth changes its age class."""
    inside = {hour + age for hour in grown for _, age in AGES if start < hour + age < end}
    edges = [start, *sorted(inside), end]
    return zip(edges, edges[1:])


def counted(all_rows: Iterable[Row], tables: Mapping[str, Classes]) -> Mapping[str, Rates]:
    """Return, for each table, the rate of each class that rows belong to."""
    hours: Dict[Tuple[str, Key], float] = defaultdict(float)
    failures: Dict[Tuple[str, Key], int] = defaultdict(int)
    for row in all_rows:
        for name, classes in tables.items():
            for key in classes(row):
                hours[name, key] += row.hours
                failures[name, key] += row.has_failed
    return {name: {key: Rate(hours[of, key], failures[of, key]) for of, key in hours if of == name} for name in tables}


# --- classes: keys that a row counts for ------------------------------------------------

def of_limits(row: Row) -> Iterator[Key]:
    """Yield (metric, level, beyond or at or alone), and the same with the family, for each limit that a row is beyond.
    """
    for metric, level, found in beyond(row):
        places = [BEYOND]
        if found.number <= twice(found.limit(level)):
            is_alone = not any(other.state.urgency >= level.urgency for name, other in row.found.items()
                               if name != metric)
            places += [AT, ALONE] if is_alone else [AT]
        for place in places:
            yield metric, level.name, place
            yield metric, level.name, place, row.family


def beyond(row: Row) -> Iterator[Tuple[str, State, Found]]:
    """Yield the limits that a row is beyond."""
    for metric, found in row.found.items():
        yield from ((metric, level, found) for level in LEVELS if found.state.urgency >= level.urgency
                    and found.limit(level))


def twice(limit: str) -> float:
    """Return where "at the limit" ends: above 0 at 1, above 40 at 80."""
    number: float = ranges.parse(limit).end
    return max(2 * number, number + 1)


def of_ages(row: Row) -> Iterator[Key]:
    """Yield (metric, level, age of its growth) for each limit that a row is beyond."""
    for metric, level, _ in beyond(row):
        yield metric, level.name, next(name for name, end in AGES if row.ages[metric] < end)


def of_values(row: Row) -> Iterator[Key]:
    """Yield (metric, numbers around it) for each metric: 0, 1, 2, 3-4, 5-8, 9-16, ..."""
    for metric, found in row.found.items():
        yield metric, octave(found.number)


def octave(number: float) -> str:
    """Return the band that a number lies in; each ends at twice the end of the one before."""
    end = 1
    while end < number:
        end *= 2
    return f'{number:g}' if number <= 2 else f'{end // 2 + 1} to {end}'
