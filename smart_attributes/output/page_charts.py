"""The contents of the map and the charts of a page.

The template draws them as lists and SVG, without script. Pure.
"""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil
from statistics import median
from typing import Any, NamedTuple

from ..constants import DAY, MONTH, YEAR
from ..history.series import PACES
from ..typed import Json
from ..work.dates import day

# numbers of points: maximum in a chart; minimum and maximum in a line
POINTS, FEWEST, ENOUGH = 5000, 5, 60
# a drive whose first reading is this long after its machine's first reading replaced another drive
LATER = 2 * DAY
LISTED = 200  # rows of the table of a chart of ranges
WARMER = 4  # °C above the usual temperature that are reported
COLOURS = 8  # number of colours for arrays on the map
OF_FLEET: Mapping[str, tuple[str, str, float]] = {  # metric -> title, unit, divisor of the numbers
    'endurance_used': ('Wear', '%', 1),
    'power_on_time': ('Age', 'y', YEAR),
}

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
    forecast: Json | None  # None if there was no forecast, or if the value has reached its end
    rate: float  # average increase per month in the last year
    usual: float  # median
    is_usual: bool  # the present value is not much higher
    # time at which it became closer to the present value than to the usual one
    warm: float
    # time and size of the rises, by day; a lower number is a reset
    rises: Sequence[tuple[float, float]]


def charts(document: Json, now: float) -> dict[str, Any]:
    """Return each chart's courses, and under "came" the first readings of drives that were added
    after the others.

    now: seconds since 1970. Points after *now*, which a clock that was set back can leave, are
    omitted.
    """
    found = [
        _course(drive, each, now)
        for drive in document['drives']
        for each in drive['readings']
        if each.get('judged') and isinstance(each['value'], (int, float))
    ]
    wear, warm = (
        [each for each in found if each.metric == name]
        for name in ('endurance_used', 'temperature')
    )
    began: dict[str, float] = {}
    for each in found:
        began[each.drive['name']] = min(began.get(each.drive['name'], now), each.begin)
    first = min(began.values(), default=now)
    came = {name: begin for name, begin in began.items() if first + LATER < begin < now}
    return {
        'wear': sorted(
            wear,
            key=lambda each: (each.forecast['left'] if each.forecast else 100 * YEAR, -each.last),
        ),
        'temperature': sorted(
            warm, key=lambda each: (min(each.usual - each.last, 1 - WARMER), -each.last)
        ),
        'rose': [
            each for each in found if each.rises and not each.unit and each.metric not in PACES
        ],
        'came': came,
        'begin': first,
        'fellows': {name: sorted(_fellows(name, document, came)) for name in began},
    }


def _course(drive: Json, reading: Json, now: float) -> Course:
    metric, value = reading['metric'], reading['value']
    past = sorted(point for point in drive.get('past', {}).get(metric, ()) if point[0] < now)
    points, forecast = [*past, [now, value]], drive.get('forecasts', {}).get(metric)
    numbers, year = (
        [number for _, number in points],
        [point for point in points if point[0] >= now - YEAR],
    )
    usual = median(numbers)
    cool = [place for place, (_, number) in enumerate(points[:-1]) if number < (value + usual) / 2]
    rises: dict[str, tuple[float, float]] = {}
    for (_, before), (moment, number) in zip(points, points[1:]):
        if number > before:
            rises[day(moment)] = moment, rises.get(day(moment), (0, 0))[1] + number - before
    span = now - year[0][0]
    return Course(
        drive,
        metric,
        reading['unit'],
        points[0][0],
        value,
        min(numbers),
        max(numbers),
        points,
        forecast if forecast and forecast['left'] > 0 else None,
        max(0, value - year[0][1]) / span * MONTH if span >= DAY else 0,
        usual,
        value < usual + WARMER,
        points[cool[-1] + 1 if cool else 0][0],
        list(rises.values()),
    )


def _fellows(own: str, document: Json, came: Iterable[str]) -> Iterator[tuple[str, str]]:
    """For each array of a drive, yield the array's name with the name of each other member drive
    in *came*.
    """
    for group in document.get('groups', ()) if came else ():
        names = {drive['name'] for member in group['members'] for drive in member['drives']}
        yield from (
            (group['name'], name) for name in (names - {own}).intersection(came) if own in names
        )


def thinned(points: Points, most: int) -> Points:
    """Return about *most* points: the first, the last, and the highest point of each interval
    between these two.
    """
    size, inner = ceil((len(points) - 2) / max(most - 2, 1)), points[1:-1]
    return (
        points
        if size <= 1
        else [
            points[0],
            *(
                max(inner[at : at + size], key=lambda each: each[1])
                for at in range(0, len(inner), size)
            ),
            points[-1],
        ]
    )


def shares(points: Points, lines: int) -> Points:
    """Return the points of one line, thinned to its share of a chart with *lines* lines."""
    return thinned(points, max(FEWEST, min(ENOUGH, POINTS // lines)))


class FleetRanges:
    """Collects the wear and the age of all drives of a fleet one by one, by model and by host."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, str], defaultdict[str, array[float]]] = {
            (metric, key): defaultdict(lambda: array('d'))
            for metric in OF_FLEET
            for key in ('model', 'host')
        }

    def add(self, drive: Json, numbers: Mapping[str, float | None]) -> None:
        """Add a drive. numbers: its values by metric; None if it does not report the metric."""
        for (metric, key), by_name in self._numbers.items():
            number = numbers[metric]
            if number is not None:
                by_name[drive.get(key) or 'not known'].append(number)

    def charts(self) -> dict[str, Any]:
        """Return the lowest, middle and highest number of each model and host, and its drives,
        highest first.
        """
        found = []
        for (metric, key), by_name in self._numbers.items():
            title, unit, divisor = OF_FLEET[metric]
            rows = [
                (
                    name,
                    min(numbers) / divisor,
                    median(numbers) / divisor,
                    max(numbers) / divisor,
                    len(numbers),
                )
                for name, numbers in by_name.items()
            ]
            rows.sort(key=lambda row: (-row[3], row[0]))
            if rows:
                found.append((f'{title} by {key}', unit, rows[:LISTED]))
        return {'ranges': found}


def shelves(drives: Sequence[Json], groups: Sequence[Json]) -> list[tuple[str, list[Json]]]:
    """Return each enclosure's drives in bay order; each drive has the number of its array among
    *groups*.
    """
    colours = {
        drive['name']: place
        for place, group in reversed([*enumerate(groups[:COLOURS])])
        for member in group['members']
        for drive in member['drives']
    }
    found: dict[str, list[Json]] = {}
    for each in drives:
        bay, kind = each.get('bay') or '', (each.get('type') or '').partition(',')[0]
        shelf = bay.rstrip('0123456789') if bay else f'{kind} on {each["device"]}' if kind else ''
        found.setdefault(shelf.strip(), []).append(
            {**each, 'number': bay[len(shelf) :], 'colour': colours.get(each['name'], '')}
        )
    return [
        (shelf, sorted(found[shelf], key=lambda drive: (int(drive['number'] or 0), drive['name'])))
        for shelf in sorted(
            found, key=lambda shelf: [part.zfill(9) for part in re.split('([0-9]+)', shelf)]
        )
    ]
