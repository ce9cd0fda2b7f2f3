"""The contents of the charts of a page, and of its bays.

The template draws them as lists and SVG, without script. A chart needs two points in time: a drive
without a history is in none. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import ceil
from statistics import median
from typing import Any, NamedTuple

from ..constants import DAY, MONTH, YEAR
from ..history.series import PACES
from ..typed import Json
from ..work.dates import day

# numbers of points: maximum in a chart; minimum and maximum in a line
POINTS = 5000
FEWEST = 5
ENOUGH = 60
WARMER = 4  # °C above the usual temperature that are reported
NEVER = 100 * YEAR  # after all forecasts
# "slot 7", "slot 32:9", "bay 1I:1:3", "slot 2 of enclosure 0", "enclosure 2 slot 10"
_BAY = re.compile(
    '(?:(?P<before>.+) )?(?:slot|bay|port|channel) (?:(?P<box>.+):)?(?P<number>[0-9]+)'
    '(?: of (?P<after>.+))?'
)

Points = Sequence[Sequence[float]]  # time in seconds since 1970, and number


class Course(NamedTuple):
    """The values of one metric of a drive over time."""

    drive: Json
    metric: str
    unit: str
    begin: float  # seconds since 1970
    last: float  # the present number
    low: float
    high: float
    points: Points  # oldest first, the last point is the present value
    # None if there was no forecast, or if the value has reached its end
    forecast: Json | None
    rate: float  # average increase per month in the last year
    usual: float  # median
    is_usual: bool  # the present value is not much higher
    # shown for temperatures: since when the number is closer to the present than to the usual one
    warm_since: float
    # time and size of the rises, by day; a lower number is a reset
    rises: Points


def charts(document: Json, now: float) -> dict[str, Any]:
    """Return each chart's courses, and under "begin" the time of the first reading of all.

    now: seconds since 1970. Points after *now*, which a clock that was set back can leave, are
    omitted.
    """
    courses = []
    for drive in document['drives']:
        for reading in drive['readings']:
            if reading.get('judged') and isinstance(reading['value'], (int, float)):
                course = _course(drive, reading, now)
                if course.begin < now:  # else there is only the present value
                    courses.append(course)
    wear = [course for course in courses if course.metric == 'endurance_used']
    warm = [course for course in courses if course.metric == 'temperature']
    # counters of events; the others change at every check, or have a unit
    rose = [
        course
        for course in courses
        if course.rises and not course.unit and course.metric not in PACES
    ]
    wear.sort(key=_wear)
    warm.sort(key=_warmth, reverse=True)
    return {
        'wear': wear,
        'temperature': warm,
        'rose': rose,
        'begin': min((course.begin for course in courses), default=now),
    }


def _wear(course: Course) -> tuple[float, float]:
    """Return the time that a drive has left, then its wear; less comes first, and the most worn of
    those without a forecast.
    """
    left = course.forecast['left'] if course.forecast else NEVER
    return left, -course.last


def _warmth(course: Course) -> tuple[float, float]:
    """Return how much warmer than usual a drive is, if that is noticeable, then its temperature."""
    excess = course.last - course.usual
    return excess if excess >= WARMER else 0, course.last


def _course(drive: Json, reading: Json, now: float) -> Course:
    """Return the course of a reading. It ends with the present value; without a history, this is
    its only point.
    """
    metric = reading['metric']
    value = reading['value']
    past = drive.get('past', {}).get(metric, ())
    points = [*sorted(point for point in past if point[0] < now), [now, value]]
    numbers = [number for _, number in points]
    usual = median(numbers)
    year_began, number_then = next(point for point in points if point[0] >= now - YEAR)
    span = now - year_began
    rate: float = 0
    if span >= DAY:
        rate = max(0, value - number_then) / span * MONTH
    forecast = drive.get('forecasts', {}).get(metric)
    has_ended = forecast and forecast['left'] <= 0
    return Course(
        drive=drive,
        metric=metric,
        unit=reading['unit'],
        begin=points[0][0],
        last=value,
        low=min(numbers),
        high=max(numbers),
        points=points,
        forecast=None if has_ended else forecast,
        rate=rate,
        usual=usual,
        is_usual=value < usual + WARMER,
        warm_since=_warm_since(points, halfway=(value + usual) / 2),
        rises=_rises(points),
    )


def _warm_since(points: Points, halfway: float) -> float:
    """Return the time of the point that follows the last number below *halfway*. If no number is
    below it, return the time of the first point. The last point is not compared: it is the present
    number, and no point follows it.
    """
    warm_since = points[0][0]
    for (_, number), (next_time, _) in zip(points, points[1:]):
        if number < halfway:
            warm_since = next_time
    return warm_since


def _rises(points: Points) -> Points:
    """Return a point for each day on which the number has risen: the time of the last rise of that
    day, and the sum of all its rises; [] without any.
    """
    by_day: dict[str, tuple[float, float]] = {}
    for (_, before), (moment, number) in zip(points, points[1:]):
        if number > before:
            date = day(moment)
            _, earlier_rises = by_day.get(date, (0, 0))
            by_day[date] = (moment, earlier_rises + number - before)
    return list(by_day.values())


def thinned(points: Points, most: int) -> Points:
    """Return about *most* points: the first, the last, and the highest point of each interval
    between these two.
    """
    inner = points[1:-1]
    size = ceil(len(inner) / max(most - 2, 1))
    if size <= 1:
        return points
    intervals = [inner[start : start + size] for start in range(0, len(inner), size)]
    highest = [max(interval, key=lambda point: point[1]) for interval in intervals]
    return [points[0], *highest, points[-1]]


def shares(points: Points, lines: int) -> Points:
    """Return the points of one line, thinned to its share of a chart with *lines* lines."""
    return thinned(points, max(FEWEST, min(ENOUGH, POINTS // lines)))


def shelves(drives: Sequence[Json]) -> list[tuple[str, list[Json]]]:
    """Return each enclosure's drives in bay order; [] if no drive has a bay."""
    if not any(drive.get('bay') for drive in drives):
        return []
    by_shelf: dict[str, list[Json]] = {}
    for drive in drives:
        shelf, number = _bay(drive)
        by_shelf.setdefault(shelf, []).append({**drive, 'number': number})
    for bays in by_shelf.values():
        bays.sort(key=lambda drive: _natural(f'{drive["number"]} {drive["name"]}'))
    return [(shelf, by_shelf[shelf]) for shelf in sorted(by_shelf, key=_natural)]


def _bay(drive: Json) -> tuple[str, str]:
    """Return the enclosure of a drive, behind its controller if it has one, and the bay there.

    The bay "slot 32:9" becomes ("enclosure 32", "9"), "slot 1 of enclosure 0" ("enclosure 0", "1"),
    and "enclosure 2 slot 10" ("enclosure 2", "10"). A bay of another form is kept: ("", "behind the
    fan"). Without a bay, the result is ("slot unknown", "").
    """
    controller = drive['device'] if drive.get('type') else ''
    bay = drive.get('bay') or ''
    if not bay:
        return f'{controller} slot unknown'.strip(), ''
    match = _BAY.fullmatch(bay)
    if not match:
        return controller, bay
    box = f'enclosure {match["box"]}' if match['box'] else ''
    enclosure = match['before'] or match['after'] or box
    return f'{controller} {enclosure}'.strip(), match['number']


def _natural(text: str) -> list[str]:
    """Return the key for natural order, by the numbers in a text: slot 9 before slot 10."""
    return [part.zfill(9) for part in re.split('([0-9]+)', text)]
