"""What a state means: the judge run over hard disks that were watched until they failed.

A file of timelines is CSV, plain or gzip: a row for each stretch of power-on hours in which no counter moved, with the
columns
`drive`, `model`, `from`, `to` (hours), `failed` (1: the drive failed at `to`) and raw attributes `a5`, `a197`, ...,
empty where
the drive has none. The rows of a drive stand together, in order.

The file names no sector sizes; each model's counts tell them (`sectors`).

- A state lasts from the stretch whose counters earn it to the one whose counters do not. A failure belongs to the state
that the
  drive was in. Failures per drive-year (8,766 h) of a state say what the state means; above 100 % it lasts less than a
  year.
- An *alarm* is the first time that a drive reaches a state, its first row included; a drive alarms once, however often
it returns.
- *Failed within 90 days*: of the alarms of drives that failed or were watched for 90 days (2,160 power-on hours) from
then on.
- *Caught* is a failure of a drive that had alarmed before; the *lead* is the power-on time from the alarm to the
failure.
"""
import csv
import gzip
import itertools
import json
import re
import statistics
import zlib
from collections import defaultdict
from functools import lru_cache
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from smart_attributes.constants import HOUR
from smart_attributes.devtools.collection import LONGEST
from smart_attributes.devtools.sectors import Sizes
from smart_attributes.errors import DataError
from smart_attributes.history.past import Past, observations
from smart_attributes.history.series import CHANGE, History, Key, Observation, next_point
from smart_attributes.model import AttributeRow, Identity, Report, State, Verdict

DAY = 24                # hours
YEAR = 365.25 * DAY
LAST_HOUR = 10_000_000   # 1,100 years
CHECK = 300             # seconds from one check to the next
# days after which growth may no longer be told, or be old; tests hold them to thresholds/
TOLD_FOR = (7, 14, 30, 90, 365)
SOON = 90 * DAY         # an alarm is believed when the drive fails this soon
# Who alarms: whatever is no longer OK, and CRITICAL alone.
LEVELS = (State.WARNING, State.CRITICAL)
STATES = (State.OK, State.WARNING, State.CRITICAL)
COUNTER = re.compile('a([1-9][0-9]{0,2})')

Counters = Tuple[Tuple[int, int], ...]    # (attribute, raw number)
Judge = Callable[[Report], Verdict]
Mindful = Callable[[Report, Optional[Past]], Verdict]  # a judge who may be told what is remembered
Print = Callable[[str], None]


class Stretch(NamedTuple):
    """Power-on hours of a drive in which no counter moved."""

    start: float
    end: float
    counters: Counters


class Timeline(NamedTuple):
    """One drive for as long as it was watched."""

    drive: str
    model: str
    physical_block_size: Optional[int]  # bytes; None where no count depends on it
    has_failed: bool             # at the end of the last stretch
    stretches: Tuple[Stretch, ...]

    @property
    def worst(self) -> Mapping[int, int]:
        """Return the largest number of each counter; some go back."""
        return dict(sorted(counter for stretch in self.stretches for counter in stretch.counters))

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
    watched: int                 # of which the drive failed, or was watched for 90 days more
    soon: int                    # of which it failed within these 90 days
    leads: Tuple[float, ...]     # hours to the failure, of the drives that failed

    @property
    def median_lead(self) -> Optional[float]:
        """Return how long before the failure half of those that failed had alarmed, in days."""
        return statistics.median(self.leads) / DAY if self.leads else None


class Experience(NamedTuple):
    """What the states were worth on all drives of a file."""

    drives: int
    hours: Mapping[State, float]
    failures: Mapping[State, int]
    alarms: Mapping[State, Alarms]   # by the lowest state that counts as one

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
    """Yield the drives of a file. Raises DataError with the line that is none."""
    sizes = Sizes()
    for timeline in _read(path):
        sizes.add(timeline.model, timeline.worst)
    for timeline in _read(path):
        yield timeline._replace(physical_block_size=sizes.physical(timeline.model))


def _read(path: str) -> Iterator[Timeline]:
    try:
        with (gzip.open if path.endswith('.gz') else open)(path, 'rt', encoding='utf-8', newline='') as lines:
            yield from _timelines(csv.DictReader(lines), path)
    except OSError as error:
        raise DataError(f'{path}: {error.strerror or error}; name a file of timelines') from None
    except (UnicodeDecodeError, EOFError, csv.Error, zlib.error) as error:
        raise DataError(f'{path}: {error}; a file of timelines is CSV, plain or gzip') from None


def _timelines(rows: 'csv.DictReader[str]', path: str) -> Iterator[Timeline]:
    counters = [(name, int(match[1])) for name in rows.fieldnames or () for match in [COUNTER.fullmatch(name)] if match]
    if not counters or not {'drive', 'model', 'from', 'to', 'failed'} <= set(rows.fieldnames or ()):
        raise DataError(f'{path}: these are no timelines; the first line names the columns drive, model, from, to, '
                        f'failed, '
                        'and attributes: a5, a197')
    for drive, of_drive in itertools.groupby(rows, key=lambda row: row['drive']):
        kept = list(of_drive)
        try:
            stretches = tuple(_stretch(row, counters) for row in kept)
        except (ValueError, TypeError):
            raise DataError(f'{path}, line {rows.line_num} or before it: hours and counters are '
                            f'numbers, hours from 0 to {LAST_HOUR:,}') from None
        yield Timeline(drive, kept[0]['model'], None, kept[-1]['failed'] == '1', stretches)


def _stretch(row: Mapping[str, str], counters: Sequence[Tuple[str, int]]) -> Stretch:
    start, end = float(row['from']), float(row['to'])
    if not 0 <= start <= end <= LAST_HOUR or any(len(row[name] or '') > LONGEST for name, _ in counters):
        raise ValueError
    return Stretch(start, end, tuple((number, int(row[name])) for name, number in counters if row[name]))


def report_of(model: str, physical_block_size: Optional[int], counters: Counters) -> Report:
    """Return what smartctl would say of a hard disk of which no more is known than its model and its counters."""
    rows = tuple(AttributeRow(number, '', None, None, None, None, '', str(raw), raw) for number, raw in counters)
    return Report(Identity(protocol='ATA', model=model, spins=True, physical_block_size=physical_block_size),
                  attributes=rows, smart_status=True)


# --- the walk --------------------------------------------------------------------------

def by_levels(judge: Judge) -> Course:
    """Return the course of a drive that is judged by what its counters are, not by how they came to be so."""
    @lru_cache(maxsize=None)  # a tenth of the stretches differ in model or counters
    def state(model: str, physical_block_size: Optional[int], counters: Counters) -> State:
        return judge(report_of(model, physical_block_size, counters)).state

    def spells(timeline: Timeline) -> Iterator[Spell]:
        for stretch in timeline.stretches:
            yield Spell(state(timeline.model, timeline.physical_block_size, stretch.counters), stretch.start,
                        stretch.end)
    return spells


def by_history(judge: Mindful) -> Course:
    """Return the course of a drive that is judged every few minutes with what is remembered of it; its power-on time is
    the clock.
    """
    @lru_cache(maxsize=None)
    def alone(model: str, physical_block_size: Optional[int],
              counters: Counters) -> Tuple[State, Tuple[Observation, ...]]:
        verdict = judge(report_of(model, physical_block_size, counters), None)
        return verdict.state, observations(judgement.reading for judgement in verdict.judgements)

    def spells(timeline: Timeline) -> Iterator[Spell]:
        histories: Dict[Key, History] = {}
        moved: List[float] = []
        for stretch in timeline.stretches:
            moved.append(stretch.start)
            state, seen = alone(timeline.model, timeline.physical_block_size, stretch.counters)
            if any(number for _, number in stretch.counters) or _has_moved(histories):
                report = report_of(timeline.model, timeline.physical_block_size, stretch.counters)
                for start, end in _pieces(stretch, moved):
                    yield Spell(judge(report, Past(histories, _second(start))).state, start, end)
                    _remember(histories, seen, stretch)
            else:  # most of all time: what always was 0 has not grown
                yield Spell(state, stretch.start, stretch.end)
                _remember(histories, seen, stretch)
    return spells


def _pieces(stretch: Stretch, moved: Sequence[float]) -> Iterator[Tuple[float, float]]:
    """Yield the hours of a stretch in the parts between which something that is told for a while may end."""
    ends = {start + days * DAY for start in moved for days in TOLD_FOR}
    hours = [stretch.start, *sorted(hour for hour in ends if stretch.start < hour < stretch.end), stretch.end]
    return zip(hours, hours[1:])


def _has_moved(histories: Mapping[Key, History]) -> bool:
    """Tell whether a counter has ever been another number: growth is told on when it has gone back."""
    return any(len(known.points) > 1 for known in histories.values())


def _remember(histories: Dict[Key, History], seen: Iterable[Observation], stretch: Stretch) -> None:
    """Add what a stretch was like to the series of its drive; it was seen until the stretch ended."""
    for each in seen:
        known = histories.get(each.key, History())
        point = next_point(CHANGE, known, each.number, _second(stretch.start))
        histories[each.key] = History((*known.points, point) if point else known.points, _second(stretch.end) - CHECK)


def _second(hour: float) -> int:
    return int(hour * HOUR)


def experience(timelines: Iterable[Timeline], course: Course) -> Experience:
    """Return what the states of a course were worth."""
    drives = 0
    hours: Dict[State, float] = defaultdict(float)
    failures: Dict[State, int] = defaultdict(int)
    first: Dict[State, List[Tuple[float, bool]]] = {level: [] for level in LEVELS}
    for timeline in timelines:
        drives += 1
        spells = list(course(timeline))
        for spell in spells:
            hours[spell.state] += spell.end - spell.start
        failures[spells[-1].state] += timeline.has_failed
        for level in LEVELS:
            since = next((spell.start for spell in spells if spell.state.urgency >= level.urgency), None)
            if since is not None:
                first[level].append((timeline.end - since, timeline.has_failed))
    return Experience(drives, hours, failures, {level: alarms(found) for level, found in first.items()})


def alarms(found: Sequence[Tuple[float, bool]]) -> Alarms:
    """Return what became of alarms: (hours until the drive was seen for the last time, has it failed then)."""
    return Alarms(len(found), sum(has_failed or hours >= SOON for hours, has_failed in found),
                  sum(has_failed and hours <= SOON for hours, has_failed in found),
                  tuple(hours for hours, has_failed in found if has_failed))


# --- what is said about it -----------------------------------------------------------

def as_data(known: Experience) -> Dict[str, Any]:
    """Return the figures as JSON has them; null where nothing was there to be counted."""
    return {'drives': known.drives, 'drive_years': round(known.drive_years, 1), 'failures': known.failed,
            'states': {state.name: _state(known, state) for state in _states(known)},
            **_alarms(known, State.WARNING), 'critical': _alarms(known, State.CRITICAL)}


def _states(known: Experience) -> Sequence[State]:
    return [state for state in State if state in STATES or known.hours.get(state)]


def _state(known: Experience, state: State) -> Dict[str, Any]:
    years, failures = known.hours.get(state, 0) / YEAR, known.failures.get(state, 0)
    return {'drive_years': round(years, 1), 'failures': failures, 'percent_per_year': percent(failures, years, 2)}


def _alarms(known: Experience, level: State) -> Dict[str, Any]:
    found = known.alarms[level]
    return {'alarms_per_1000_drive_years': round(1000 * found.drives / known.drive_years, 1) if known.drive_years
            else None,
            'failed_within_90_days_percent': percent(found.soon, found.watched),
            'caught_percent': percent(len(found.leads), known.failed),
            'median_lead_days': None if found.median_lead is None else round(found.median_lead, 1)}


def percent(part: float, whole: float, digits: int = 1) -> Optional[float]:
    """Return a share in percent; None of nothing."""
    return round(100 * part / whole, digits) if whole else None


def lines(known: Experience) -> Iterator[str]:
    """Yield the figures as two tables."""
    data = as_data(known)
    yield f'{data["drives"]} drives, {data["drive_years"]:.0f} drive-years, {data["failures"]} failures'
    yield ''
    yield f'{"state":<10} {"drive-years":>12} {"failures":>9} {"failing a year":>15}'
    for name, state in data['states'].items():
        yield (f'{name:<10} {state["drive_years"]:12.0f} {state["failures"]:9} '
               f'{_said(state["percent_per_year"], " %"):>15}')
    yield ''
    yield (f'{"alarm":<20} {"per 1,000 drive-years":>22} {"failed in 90 days":>18} {"failures caught":>16} '
           f'{"median lead":>12}')
    for name, found in (('WARNING or CRITICAL', data), ('CRITICAL', data['critical'])):
        yield (f'{name:<20} {_said(found["alarms_per_1000_drive_years"]):>22} '
               f'{_said(found["failed_within_90_days_percent"], " %"):>18} '
               f'{_said(found["caught_percent"], " %"):>16} {_said(found["median_lead_days"], " d"):>12}')


def _said(number: Optional[float], unit: str = '') -> str:
    return '-' if number is None else f'{number:g}{unit}'


def main(path: str, judge: Mindful, with_history: bool, as_json: bool, write: Print = print) -> None:
    """Print what the states of *judge* are worth on the drives of a file. Raises DataError where it has none."""
    course = by_history(judge) if with_history else by_levels(lambda report: judge(report, None))
    known = experience(read(path), course)
    for line in [json.dumps(as_data(known), indent=2)] if as_json else lines(known):
        write(line)
