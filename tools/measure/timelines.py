"""Evaluate hard disks that were observed until they failed, to measure how well each state predicts
a failure.

A file of timelines is CSV, plain or gzip: a row for each stretch of power-on hours in which no
counter moved, with the columns `drive`, `model`, `from`, `to` (hours), `failed` (1: the drive
failed at `to`) and raw attributes `a5`, `a197`, ..., empty where the drive has none. The rows of a
drive stand together, in order. The file names no sector sizes; each model's counts show them
(`sectors`).

- A state lasts from the stretch whose counters earn it to the one whose counters do not. A failure
  belongs to the state that the drive was in. Failures per drive-year (8,766 h) of a state show what
  the state means; above 100 % it lasts less than a year.
- An *alarm* is the first time that a drive reaches a state, its first row included; a drive alarms
  once, however often it returns.
- *Failed within 90 days*: of the alarms of drives that failed or were watched for 90 days (2,160
  power-on hours) from then on.
- *Caught* is a failure of a drive that had alarmed before; the *lead* is the power-on time from the
  alarm to the failure.
"""

from __future__ import annotations

import csv
import gzip
import itertools
import json
import re
import statistics
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, Optional

from smart_attributes.constants import HOUR
from smart_attributes.errors import DataError
from smart_attributes.history.past import Past, observations
from smart_attributes.history.series import CHANGE, History, Key, Observation, extended
from smart_attributes.model import AttributeRow, Identity, Report, State, Verdict

from .collection import LONGEST, Sizes

DAY = 24  # hours
YEAR = 365.25 * DAY
LAST_HOUR = 10_000_000  # 1,100 years
CHECK = 300  # seconds from one check to the next
# days after which growth may no longer alert, or be old; tests hold them to thresholds/
TOLD_FOR = (7, 14, 30, 90, 365)
SOON = 90 * DAY  # an alarm is believed when the drive fails this soon
# The alarms: whatever is no longer OK, and CRITICAL alone.
LEVELS = (State.WARNING, State.CRITICAL)
STATES = (State.OK, State.WARNING, State.CRITICAL)
COUNTER = re.compile('a[1-9][0-9]{0,2}')

Counters = tuple[tuple[int, int], ...]  # (attribute, raw number)
Judge = Callable[[Report], Verdict]
# a judge who may know what is remembered
Mindful = Callable[[Report, Optional[Past]], Verdict]


class Stretch(NamedTuple):
    """Power-on hours of a drive in which no counter moved."""

    start: float
    end: float
    counters: Counters

    def parts(self, hours: Iterable[float]) -> Iterator[tuple[float, float]]:
        """Yield (start, end) of its parts: it is cut at these hours, as far as they lie within
        it.
        """
        edges = [
            self.start,
            *sorted({hour for hour in hours if self.start < hour < self.end}),
            self.end,
        ]
        return zip(edges, edges[1:])


class Timeline(NamedTuple):
    """One drive for as long as it was watched."""

    drive: str
    model: str
    physical_block_size: int | None  # bytes; None where no count depends on it
    has_failed: bool  # at the end of the last stretch
    stretches: tuple[Stretch, ...]

    @property
    def worst(self) -> Mapping[int, int]:
        """Return the largest number of each counter; some go back."""
        return dict(
            sorted(
                counter for stretch in self.stretches for counter in stretch.counters
            )
        )

    @property
    def end(self) -> float:
        """Return the hour in which it failed, or was seen for the last time."""
        return self.stretches[-1].end


class Spell(NamedTuple):
    """Power-on hours of a drive in one state."""

    state: State
    start: float
    end: float


# How the stretches of a drive become its states; the only place where they are walked over.
Course = Callable[[Timeline], Iterator[Spell]]


class Alarms(NamedTuple):
    """The alarms of one level."""

    drives: int
    watched: int  # of which the drive failed, or was watched for 90 days more
    soon: int  # of which it failed within these 90 days
    leads: tuple[float, ...]  # hours to the failure, of the drives that failed


class Experience(NamedTuple):
    """What the states were worth on all drives of a file."""

    drives: int
    hours: Mapping[State, float]
    failures: Mapping[State, int]
    alarms: Mapping[State, Alarms]  # by the lowest state that counts as one

    @property
    def drive_years(self) -> float:
        """Return how long all of them were watched."""
        return sum(self.hours.values()) / YEAR

    @property
    def failed(self) -> int:
        """Return how many failed."""
        return sum(self.failures.values())


# --- the file ------------------------------------------------------------------------


def read(path: str) -> Iterator[Timeline]:
    """Yield the drives of a file. Raises DataError with the line that is not one of a drive."""
    sizes = Sizes()
    for timeline in _read(path):
        sizes.add(timeline.model, timeline.worst)
    for timeline in _read(path):
        yield timeline._replace(physical_block_size=sizes.physical(timeline.model))


def _read(path: str) -> Iterator[Timeline]:
    try:
        with (gzip.open if path.endswith('.gz') else open)(
            path, 'rt', encoding='utf-8', newline=''
        ) as lines:
            yield from _timelines(csv.DictReader(lines), path)
    except OSError as error:
        raise DataError(
            f'{path}: {error.strerror or error}; name a file of timelines'
        ) from None
    except (UnicodeDecodeError, EOFError, csv.Error, zlib.error) as error:
        raise DataError(
            f'{path}: {error}; a file of timelines is CSV, plain or gzip'
        ) from None


def _timelines(rows: csv.DictReader[str], path: str) -> Iterator[Timeline]:
    names = rows.fieldnames or ()
    counters = [(name, int(name[1:])) for name in names if COUNTER.fullmatch(name)]
    if not counters or not {'drive', 'model', 'from', 'to', 'failed'} <= set(names):
        raise DataError(
            f'{path}: these are no timelines; the first line names the columns drive, model, from, '
            'to, failed, and attributes: a5, a197'
        )
    for drive, group in itertools.groupby(rows, key=lambda row: row['drive']):
        of_drive = list(group)
        try:
            stretches = tuple(_stretch(row, counters) for row in of_drive)
        except (ValueError, TypeError):
            raise DataError(
                f'{path}, line {rows.line_num} or before it: hours and counters are '
                f'numbers, hours from 0 to {LAST_HOUR:,}'
            ) from None
        yield Timeline(
            drive, of_drive[0]['model'], None, of_drive[-1]['failed'] == '1', stretches
        )


def _stretch(row: Mapping[str, str], counters: Sequence[tuple[str, int]]) -> Stretch:
    start, end = float(row['from']), float(row['to'])
    if not 0 <= start <= end <= LAST_HOUR or any(
        len(row[name] or '') > LONGEST for name, _ in counters
    ):
        raise ValueError
    return Stretch(
        start,
        end,
        tuple((number, int(row[name])) for name, number in counters if row[name]),
    )


def report_of(
    model: str, physical_block_size: int | None, counters: Counters
) -> Report:
    """Return what smartctl would report of a hard disk of which only its model and its counters
    are known.
    """
    rows = tuple(
        AttributeRow(number, '', None, None, None, None, '', str(raw), raw)
        for number, raw in counters
    )
    return Report(
        Identity(
            protocol='ATA',
            model=model,
            spins=True,
            physical_block_size=physical_block_size,
        ),
        attributes=rows,
        smart_status=True,
    )


# --- the walk --------------------------------------------------------------------------


def by_history(judge: Mindful) -> Course:
    """Return the course of a drive that is judged every few minutes with what is remembered of it;
    its power-on time is the clock.
    """

    @lru_cache(maxsize=None)
    def alone(
        model: str, physical_block_size: int | None, counters: Counters
    ) -> tuple[State, tuple[Observation, ...]]:
        verdict = judge(report_of(model, physical_block_size, counters), None)
        all_readings = [judgement.reading for judgement in verdict.judgements]
        return verdict.state, observations(all_readings, None)

    def spells(timeline: Timeline) -> Iterator[Spell]:
        histories: dict[Key, History] = {}
        # hours at which something that alerts for a while may end
        ends: set[float] = set()
        for stretch in timeline.stretches:
            ends.update(stretch.start + days * DAY for days in TOLD_FOR)
            drive = timeline.model, timeline.physical_block_size, stretch.counters
            state, numbers = alone(*drive)
            # Growth alerts on when a number has gone back, so a counter that was ever another
            # number counts as well.
            if any(number for _, number in stretch.counters) or any(
                len(history.points) > 1 for history in histories.values()
            ):
                report = report_of(*drive)
                for start, end in stretch.parts(ends):
                    yield Spell(
                        judge(report, Past(histories, _second(start))).state, start, end
                    )
                    _remember(histories, numbers, stretch)
            else:  # most of all time: what always was 0 has not grown
                yield Spell(state, stretch.start, stretch.end)
                _remember(histories, numbers, stretch)

    return spells


def _remember(
    histories: dict[Key, History], numbers: Iterable[Observation], stretch: Stretch
) -> None:
    """Add what a stretch was like to the series of its drive; it was seen until the stretch
    ended.
    """
    for each in numbers:
        history = histories.get(each.key, History())
        points = extended(CHANGE, history, each.number, _second(stretch.start))
        histories[each.key] = History(points, _second(stretch.end) - CHECK)


def _second(hour: float) -> int:
    return int(hour * HOUR)


def experience(timelines: Iterable[Timeline], course: Course) -> Experience:
    """Return what the states of a course were worth."""
    drives = 0
    hours: dict[State, float] = defaultdict(float)
    failures: dict[State, int] = defaultdict(int)
    first: dict[State, list[tuple[float, bool]]] = {level: [] for level in LEVELS}
    for timeline in timelines:
        drives += 1
        spells = list(course(timeline))
        for spell in spells:
            hours[spell.state] += spell.end - spell.start
        failures[spells[-1].state] += timeline.has_failed
        for level in LEVELS:
            since = next(
                (
                    spell.start
                    for spell in spells
                    if spell.state.urgency >= level.urgency
                ),
                None,
            )
            if since is not None:
                first[level].append((timeline.end - since, timeline.has_failed))
    return Experience(
        drives, hours, failures, {level: alarms(ends) for level, ends in first.items()}
    )


def alarms(ends: Sequence[tuple[float, bool]]) -> Alarms:
    """Return what became of alarms: (hours until the drive was seen for the last time, has it
    failed then).
    """
    return Alarms(
        len(ends),
        sum(has_failed or hours >= SOON for hours, has_failed in ends),
        sum(has_failed and hours <= SOON for hours, has_failed in ends),
        tuple(hours for hours, has_failed in ends if has_failed),
    )


def as_data(total: Experience) -> dict[str, Any]:
    """Return the figures as JSON has them; null where nothing was there to be counted."""
    states = {}
    for state in (
        state for state in State if state in STATES or total.hours.get(state)
    ):
        years, failures = total.hours.get(state, 0) / YEAR, total.failures.get(state, 0)
        states[state.name] = {
            'drive_years': round(years, 1),
            'failures': failures,
            'percent_per_year': percent(failures, years, 2),
        }
    return {
        'drives': total.drives,
        'drive_years': round(total.drive_years, 1),
        'failures': total.failed,
        'states': states,
        **_alarms(total, State.WARNING),
        'critical': _alarms(total, State.CRITICAL),
    }


def _alarms(total: Experience, level: State) -> dict[str, float | None]:
    of_level, years = total.alarms[level], total.drive_years
    return {
        'alarms_per_1000_drive_years': round(1000 * of_level.drives / years, 1)
        if years
        else None,
        'failed_within_90_days_percent': percent(of_level.soon, of_level.watched),
        'caught_percent': percent(len(of_level.leads), total.failed),
        'median_lead_days': round(statistics.median(of_level.leads) / DAY, 1)
        if of_level.leads
        else None,
    }


def percent(part: float, whole: float, digits: int = 1) -> float | None:
    """Return a share in percent; None of nothing."""
    return round(100 * part / whole, digits) if whole else None


def main(path: str, judge: Mindful) -> None:
    """Print what the states of *judge* are worth on the drives of a file.

    Raises DataError where it has none.
    """
    print(json.dumps(as_data(experience(read(path), by_history(judge))), indent=2))
