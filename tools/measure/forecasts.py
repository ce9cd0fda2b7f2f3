"""Compare the forecasts of when drives wear out with the wear that later reports of the same drives
show.

The clock is power-on time. One forecast is made from the first report alone, by use and age.
Another one is made with
history: at the second-to-last report, with all reports before it. Both are compared with the last
report. A drive is within the range if it wore as fast as a drive that reaches 100 % between the
earliest and the latest date; the counter may be off by one percentage point, because it is a whole
number. The end of a drive is known if it reached 100 % between two reports; its date is
interpolated.
"""

from __future__ import annotations

import json
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from smart_attributes.check.drive_notes import ENDURANCE
from smart_attributes.check.forecasts import AGE, ALL, time_left
from smart_attributes.constants import DAY, YEAR
from smart_attributes.history.past import Past, key
from smart_attributes.history.series import History, Point
from smart_attributes.knowledge import shipped_data
from smart_attributes.knowledge.drive_database import SpecDatabase
from smart_attributes.knowledge.thresholds import Thresholds
from smart_attributes.model import Forecast, Reading, Verdict

from . import accuracy, collection
from .followed import FollowedDrive, read_followed

SHORTEST = 60 * DAY  # of power-on time from a forecast to the last report; less tests little
STOPPED = 99  # %; normalized values never show more
LEAST_EXPECTED = 2  # percentage points by the estimate; below it, the speed is mostly rounding
PERCENTILES = (5, 25, 50, 75, 95)
# years and % at the first report; bands of speeds
AGES, USED = (0.25, 1, 2, 3, 4, 6, 100), (2, 3, 5, 10, 20, 50, 100)
FIRST, WITH_HISTORY, LAST = 'first report', 'history', 'last report before the end'
OUTCOMES = WITHIN, FASTER, SLOWER = 'within', 'faster', 'slower'


class Seen(NamedTuple):
    """The wear and the age that a drive reported at one time."""

    wear: Reading
    age: Reading

    @property
    def used(self) -> float:
        """The percentage of the endurance that is used."""
        return self.wear.number or 0

    @property
    def time(self) -> float:
        """The power-on time in seconds."""
        return self.age.number or 0


class Life(NamedTuple):
    """The reports of one drive, oldest first."""

    kind: str
    seen: Sequence[Seen]

    def forecast(self, place: int) -> Forecast | None:
        """Return the forecast at a report, with all earlier reports as its history; None if
        there is none.
        """
        now, before = self.seen[place], self.seen[:place]
        points = tuple(Point(round(each.time), each.used) for each in before)
        past = (
            Past({key(now.wear): History(points, points[-1].time)}, round(now.time))
            if points
            else None
        )
        return (
            time_left({ENDURANCE: now.wear, AGE: now.age}, past).forecast
            if now.used < STOPPED
            else None
        )


class Results(NamedTuple):
    """What became of the forecasts of one kind of drive."""

    outcomes: Mapping[str, Counter[str]]  # by basis of the forecast
    # by report: whether each known end came before the range began
    ends: Mapping[str, list[bool]]
    # first report, and real wear divided by its estimate
    speeds: list[tuple[Seen, float]]


def lives(
    drives: Iterable[FollowedDrive], judged: Callable[[collection.CollectedDrive], Verdict]
) -> Iterator[Life]:
    """Yield the drives, without hard disks, that report wear and age twice, and neither of them
    ever falls.

    If a drive reports wear from several sources, those reports count whose source is the most
    frequent one.
    """
    for drive in drives:
        kind = drive.reports[-1].identity.kind if drive.reports else 'hdd'
        if kind == 'hdd':
            continue
        seen = [
            each
            for report in drive.reports
            for each in _seen(judged(collection.CollectedDrive('', report)))
        ]
        source = statistics.mode(key(each.wear) for each in seen) if seen else None
        seen = [each for each in seen if key(each.wear) == source]
        pairs = list(zip(seen, seen[1:]))
        if pairs and all(one.used <= other.used and one.time <= other.time for one, other in pairs):
            yield Life(kind, seen)


def _seen(verdict: Verdict) -> Iterator[Seen]:
    readings = {
        each.reading.metric: each.reading
        for each in verdict.judgements
        if each.reading.judged and each.reading.number is not None
    }
    if ENDURANCE in readings and AGE in readings:
        yield Seen(readings[ENDURANCE], readings[AGE])


def outcome(forecast: Forecast, now: Seen, last: Seen) -> str:
    """Return whether the wear until the last report is within the range of a forecast, or was
    faster or slower.
    """
    left, passed = ALL - now.used, last.time - now.time
    grown = min(last.used, ALL) - now.used
    if grown > left * passed / forecast.earliest + 1:
        return FASTER
    return SLOWER if grown < min(left, left * passed / forecast.latest) - 1 else WITHIN


def results(all_lives: Iterable[Life]) -> Mapping[str, Results]:
    """Return the results of each kind of drive."""
    found: dict[str, Results] = defaultdict(
        lambda: Results(defaultdict(Counter), defaultdict(list), [])
    )
    for life in all_lives:
        of_kind, last = found[life.kind], life.seen[-1]
        for basis, place in ((FIRST, 0), (WITH_HISTORY, len(life.seen) - 2)):
            forecast, now = life.forecast(place), life.seen[place]
            passed = last.time - now.time
            if forecast and forecast.is_estimate is (basis == FIRST) and passed >= SHORTEST:
                of_kind.outcomes[basis][outcome(forecast, now, last)] += 1
                expected = now.used / now.time * passed
                if basis == FIRST and expected >= LEAST_EXPECTED and last.used < STOPPED:
                    of_kind.speeds.append((now, (last.used - now.used) / expected))
        end = next((place for place, each in enumerate(life.seen) if each.used >= ALL), 0)
        for report, place in ((FIRST, 0), (LAST, end - 1)) if end else ():
            forecast = life.forecast(place)
            if forecast:
                left = _end(*life.seen[end - 1 : end + 1]) - life.seen[place].time
                of_kind.ends[report].append(left < forecast.earliest)
                if report == FIRST:
                    of_kind.speeds.append((life.seen[0], forecast.left / left))
    return found


def _end(before: Seen, after: Seen) -> float:
    """Return the interpolated power-on time at which a drive reached 100 %."""
    return before.time + (after.time - before.time) * (ALL - before.used) / (
        after.used - before.used
    )


def as_data(found: Mapping[str, Results]) -> dict[str, Any]:
    """Return the results for JSON."""
    return {
        kind: {
            'outcomes': {
                basis: {name: counts[name] for name in OUTCOMES}
                for basis, counts in sorted(of_kind.outcomes.items())
            },
            'ends': {
                report: {'known': len(early), 'before_the_range': sum(early)}
                for report, early in sorted(of_kind.ends.items())
            },
            'speed_percentiles': dict(
                zip(map(str, PERCENTILES), _percentiles([speed for _, speed in of_kind.speeds]))
            ),
        }
        for kind, of_kind in sorted(found.items())
    }


def bands(speeds: Sequence[tuple[Seen, float]]) -> Iterator[tuple[str, list[float]]]:
    """Yield the name and the speeds of each band of the age and of the percentage used at the
    first report.
    """
    for unit, edges in (('years', AGES), ('% used', USED)):
        for low, high in zip(edges, edges[1:]):
            yield (
                f'{low:g} to {high:g} {unit}',
                [
                    speed
                    for seen, speed in speeds
                    if low <= (seen.time / YEAR if edges is AGES else seen.used) < high
                ],
            )


def _percentiles(numbers: Sequence[float]) -> list[float]:
    """Return PERCENTILES of *numbers*, or nothing for fewer than two numbers."""
    cuts = statistics.quantiles(numbers, n=100) if len(numbers) > 1 else []
    return [round(cuts[percent - 1], 2) for percent in PERCENTILES if cuts]


def lines(found: Mapping[str, Results]) -> Iterator[str]:
    """Yield the results as four tables."""
    yield f'{"kind":<5} {"forecast from":<27} {"lives":>6} ' + ' '.join(
        f'{name:>16}' for name in OUTCOMES
    )
    data = as_data(found)
    for kind, of_kind in data.items():
        for basis, counts in of_kind['outcomes'].items():
            total = sum(counts.values())
            yield f'{kind:<5} {basis:<27} {total:6} ' + ' '.join(
                _share(count, total) for count in counts.values()
            )
    yield f'\n{"kind":<5} {"forecast from":<27} {"known ends":>10} {"before the range":>16}'
    for kind, of_kind in data.items():
        for report, ends in of_kind['ends'].items():
            yield (
                f'{kind:<5} {report:<27} {ends["known"]:10} '
                f'{_share(ends["before_the_range"], ends["known"])}'
            )
    yield (
        f'\n{"kind":<5} real speed divided by the estimate, percentiles '
        f'{", ".join(map(str, PERCENTILES))}'
    )
    for kind, of_kind in data.items():
        yield f'{kind:<5} {", ".join(map(str, of_kind["speed_percentiles"].values())) or "-"}'
    yield '\nthe same for all kinds by age and use at the first report'
    for band, speeds in bands([speed for of_kind in found.values() for speed in of_kind.speeds]):
        yield f'{band:<16} {len(speeds):6} {", ".join(map(str, _percentiles(speeds))) or "-"}'


def _share(part: int, whole: int) -> str:
    return f'{f"{part} ({100 * part / whole:.1f} %)":>16}'


def main(path: str, as_json: bool) -> None:
    """Print how the forecasts compare with the real wear of the drives of a file.

    Raises DataError.
    """
    database = SpecDatabase(shipped_data.load(shipped_data.path('attributes.json')))
    thresholds = Thresholds(shipped_data.load(shipped_data.path('thresholds/default.json')))
    found = results(
        lives(read_followed(path), lambda drive: accuracy.judged(drive, database, thresholds))
    )
    print(*([json.dumps(as_data(found), indent=1)] if as_json else lines(found)), sep='\n')
