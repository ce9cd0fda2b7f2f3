"""What the charts and the map of a page show; the template draws them as SVG and lists, so that they need no script. Pure.

Each chart has a sentence that names the drive to look at, and a table of its numbers. Times are seconds since 1970.
"""
from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil
from statistics import median
from typing import NamedTuple

from ..constants import DAY, MONTH, YEAR
from ..history.series import PACES
from ..typed import Json, MutableJson
from ..wording import amount, listed, plural
from ..work.dates import FAR, day

NAMED, ROWS, LISTED = 6, 11, 200  # lines with a name, counters that are drawn, and rows of a table
POINTS, FEWEST, MOST = 8000, 6, 60   # of all lines of a chart; of one line
HOLE = 3 * DAY                    # without a reading: the line of temperatures is interrupted
WARMER = 4                        # °C above the usual temperature of a drive that are worth a word
DAYS = 10                         # on which a counter rose, in a row of the table
OF_FLEET: Mapping[str, tuple[str, str, float]] = {   # metric -> title, unit, and by what numbers are divided
    'endurance_used': ('Wear', '%', 1), 'power_on_time': ('Age', 'y', YEAR)}
COLOURS = 8                       # of arrays on the map

Points = Sequence[Sequence[float]]   # time, number


class Course(NamedTuple):
    """A number of a drive over time, up to now."""

    drive: Json
    points: Points     # oldest first, the last one is of now
    unit: str
    metric: str
    usual: float       # median

    @property
    def last(self) -> float:
        """Return the present number."""
        return self.points[-1][1]

    @property
    def name(self) -> str:
        """Return the name of the drive."""
        return str(self.drive['name'])

    @property
    def forecast(self) -> Json | None:
        """Return when the number reaches its end; None without a forecast, and for one that has reached it."""
        found: Json | None = self.drive.get('forecasts', {}).get(self.metric)
        return found if found and found['left'] > 0 else None

    @property
    def rate(self) -> float:
        """Return by how much a number rose each month of the last year; 0 if less than a day of it is known."""
        since = [point for point in self.points if point[0] >= self.points[-1][0] - YEAR]
        span = since[-1][0] - since[0][0]
        return max(0, since[-1][1] - since[0][1]) / span * MONTH if span >= DAY else 0


def charts(document: Json, now: float) -> list[Json]:
    """Return the charts of a document that have something to show."""
    found = list(_courses(document['drives'], now))
    wear, warm = ([each for each in found if each.metric == name] for name in ('endurance_used', 'temperature'))
    return [*([_wear(wear, now)] if wear else ()), *([_temperature(warm, now)] if warm else ()),
            *_counters(found, document.get('groups', ()), now)]


def _courses(drives: Sequence[Json], now: float) -> Iterator[Course]:
    """Yield the course of each judged number. Points after *now*, from a clock that was set back, are omitted."""
    for drive in drives:
        for each in drive['readings']:
            if each.get('judged') and isinstance(each['value'], (int, float)):
                past = sorted(point for point in drive.get('past', {}).get(each['metric'], ()) if point[0] < now)
                points = [*past, [now, each['value']]]
                yield Course(drive, points, each['unit'], each['metric'], median(number for _, number in points))


def thinned(points: Points, most: int) -> Points:
    """Return about *most* points: the first, the last, and the highest of each interval between them."""
    size = ceil((len(points) - 2) / max(most - 2, 1))
    inner = points[1:-1]
    return points if size <= 1 else [points[0], *(max(inner[at:at + size], key=lambda each: each[1])
                                                  for at in range(0, len(inner), size)), points[-1]]


def _wear(found: list[Course], now: float) -> Json:
    """Return the chart of wear, with the range of each forecast: the drive that is worn out first is the first one."""
    found.sort(key=lambda each: (each.forecast['left'] if each.forecast else 10 * FAR, -each.last))
    fastest, first, begin = max(found, key=lambda each: each.rate), found[0].forecast, _begin(found, now)
    ahead = min(max([90 * DAY, *(each.forecast['latest'] for each in found[:NAMED] if each.forecast)]),
                max(YEAR, 2 * (now - begin)))
    said = [f'Wears fastest: {fastest.name}, {fastest.rate:.2g} % a month' if fastest.rate else
            'The history shows no wear', *([f'Worn out first: {found[0].name}, {_until(found[0], now)}']
                                           if first and first['left'] < FAR else [])]
    high = 100 if max(each.last for each in found) > 30 or (first and first['left'] < ahead) else 40
    return _lines(found, {'id': 'wear', 'title': 'Wear', 'unit': '%', 'said': said, 'begin': begin,
                          'end': now + ahead, 'low': 0, 'high': high, 'rows': [(each, (
                              amount(each.last, '%'), f'{each.rate:.2g} %' if each.rate else '', _until(each, now),
                              each.drive.get('order_by') or '')) for each in found[:LISTED]],
                          'head': ('drive', 'used', 'each month', 'worn out', 'order by')})


def _until(each: Course, now: float) -> str:
    if not each.forecast:
        return 'used up' if each.metric in each.drive.get('forecasts', {}) else ''
    first, last = ('after 10 years' if each.forecast[key] > FAR else day(now + each.forecast[key])
                   for key in ('earliest', 'latest'))
    return first if first == last else f'{first} to {last}'


def _temperature(found: list[Course], now: float) -> Json:
    """Return the chart of temperatures: the drive that is warmest for its own measure is the first one."""
    found.sort(key=lambda each: (min(each.usual - each.last, 1 - WARMER), -each.last))
    first, numbers = found[0], [number for each in found for _, number in each.points]
    warmer = [each for each in found if each.last - each.usual >= WARMER]
    if warmer:
        said = [f'Warmer than usual: {first.name}, by {first.last - first.usual:g} °C since {_warm_since(first)}',
                *([f'{plural(len(warmer) - 1, "more drive is", "more drives are")} warmer, too'] if warmer[1:] else [])]
    else:
        said = [f'Warmest: {first.name}, {first.last:g} °C', 'No drive is warmer than usual']
    return _lines(found, {'id': 'temperature', 'title': 'Temperature', 'unit': '°C', 'said': said, 'end': now,
                          'begin': _begin(found, now), 'low': min(numbers) // 10 * 10,
                          'high': ceil((max(numbers) + 1) / 10) * 10, 'rows': [(each, (
                              f'{each.last:g} °C', f'{each.usual:g} °C', _highest(each),
                              _warm_since(each) if each in warmer else '')) for each in found[:LISTED]],
                          'head': ('drive', 'now', 'usual', 'highest', 'warmer since')})


def _warm_since(each: Course) -> str:
    """Return the day since when a drive has been nearer to its present temperature than to its usual one."""
    cool = [place for place, (_, number) in enumerate(each.points) if number < (each.last + each.usual) / 2]
    return day(each.points[cool[-1] + 1 if cool else 0][0])


def _highest(each: Course) -> str:
    moment, number = max(each.points, key=lambda point: point[1])
    return f'{number:g} °C on {day(moment)}'


def _lines(found: Sequence[Course], chart: MutableJson) -> Json:
    most = max(FEWEST, min(MOST, POINTS // len(found)))
    words = ['; '.join(filter(None, cells)) for _, cells in chart['rows']]
    return {**chart, 'named': NAMED, 'lines': [
        {'drive': each.drive, 'last': each.last, 'points': thinned(each.points, most), 'forecast': each.forecast,
         'words': words[place] if place < NAMED else f'{each.last:g} {chart["unit"]}'}
        for place, each in enumerate(found)]}


def _begin(found: Sequence[Course], now: float) -> float:
    return min([now - DAY, *(each.points[0][0] for each in found)])


# --- counters: the days on which they rose -------------------------------------------------------------------------

def _counters(found: Sequence[Course], groups: Sequence[Json], now: float) -> Iterator[Json]:
    """Yield the chart of the counters that rose, if there is a history.

    A drive whose first reading is later than those of the others replaced another one: its array was rebuilt then.
    """
    began: dict[str, float] = {}
    for each in found:
        began[each.name] = min(began.get(each.name, now), each.points[0][0])
    first = min(began.values(), default=now)
    came = {name: moment for name, moment in began.items() if moment - first > 2 * DAY and moment < now}
    rose = [(each, rises) for each in found if not each.unit and each.metric not in PACES
            for rises in [_rises(each)] if rises]
    said = [f'Counters rose on {plural(len({each.name for each, _ in rose}), "drive")}']
    if rose:
        moment, rise, each = max(((*rises[-1], each) for each, rises in rose), key=lambda last: last[0])
        said.append(f'Last: {each.name} {_words(each)}, by {rise:g} on {day(moment)}')
    yield from [{
        'id': 'counters', 'title': 'Counters', 'unit': '', 'said': said if rose else ['No counter rose'],
        'begin': first, 'end': now, 'low': 0, 'high': 1, 'named': 0, 'lines': (), 'dots': [
            (each.drive, _words(each), [(*rise, day(rise[0])) for rise in rises[-MOST:]]) for each, rises in rose[:ROWS]],
        'marks': sorted((moment, name) for name, moment in came.items())[-3:], 'rows': [
            (each, (_words(each), f'{each.points[0][1]:g} to {each.last:g}', listed([
                f'{day(moment)} (+{rise:g})' for moment, rise in reversed(rises)], DAYS),
                _beside(each.name, rises, came, groups))) for each, rises in rose[:LISTED]],
        'head': ('drive', 'counter', 'value', 'rose on', 'new member of its array')}] if first < now else []


def _rises(each: Course) -> list[tuple[float, float]]:
    """Return when a counter rose and by how much, by day. A lower number is a reset."""
    found: dict[str, tuple[float, float]] = {}
    for (_, before), (moment, number) in zip(each.points, each.points[1:]):
        if number > before:
            found[day(moment)] = moment, found.get(day(moment), (0, 0))[1] + number - before
    return list(found.values())


def _beside(own: str, rises: Sequence[tuple[float, float]], came: Json, groups: Sequence[Json]) -> str:
    """Return how much a counter rose before and after another drive came to an array of this one."""
    members = [(group['name'], {drive['name'] for member in group['members'] for drive in member['drives']})
               for group in groups]
    return '; '.join(f'{name} in {group}, {day(came[name])}: '
                     f'+{sum(rise for moment, rise in rises if moment < came[name]):g} before, '
                     f'+{sum(rise for moment, rise in rises if moment >= came[name]):g} since'
                     for group, names in members if own in names for name in sorted(names & came.keys() - {own}))


def _words(each: Course) -> str:
    return each.metric.replace('_', ' ')


# --- a fleet: ranges by host and by model ----------------------------------------------------------------------------

def of_fleet(drives: Iterable[Json], rates: Sequence[Json]) -> list[Json]:
    """Return charts of wear and age by host and by model, and of the failure rates of a ledger, highest first."""
    found: dict[tuple[str, str], dict[str, list[float]]] = {(metric, key): {} for metric in OF_FLEET for key in (
        'model', 'host')}
    for drive in drives:
        for each in drive['readings']:
            if each['metric'] in OF_FLEET and each.get('judged') and isinstance(each['value'], (int, float)):
                for key in ('model', 'host'):
                    number = each['value'] / OF_FLEET[each['metric']][2]
                    found[each['metric'], key].setdefault(drive.get(key) or '', []).append(number)
    failing = [(each['model'], each['low'] * 100, each['rate'] * 100, each['high'] * 100, (
        each['drives'], f'{each["failures"]} in {each["drive_years"]:g} drive-years'))
        for each in rates if each['high'] is not None and each['drive_years'] >= 1]
    return [*(_ranges(f'{OF_FLEET[metric][0]} by {key}', OF_FLEET[metric][1], [
        (name, min(each), median(each), max(each), (len(each), '')) for name, each in by.items() if name])
        for (metric, key), by in found.items() if by),
        *([_ranges('Failures a year by model', '%', failing)] if failing else [])]


def _ranges(title: str, unit: str, found: list[tuple[str, float, float, float, tuple[int, str]]]) -> Json:
    """Return a chart of ranges. found: name, lowest, middle, and highest number, drives, and a remark."""
    found.sort(key=lambda each: (-each[3], each[0]))
    low, middle, high = found[0][1:4] if found else (0, 0, 0)
    return {'id': title.lower().replace(' ', '-'), 'title': title, 'unit': unit, 'ranges': found[:ROWS], 'high': max(
        1, high), 'said': [f'Highest: {found[0][0]}, {low:.3g} to {high:.3g} {unit}, middle {middle:.3g} {unit}'],
        'head': (title.rpartition(' ')[2], 'lowest', 'middle', 'highest', 'drives', ''), 'rows': [
            (name, (*(f'{number:.3g} {unit}' for number in numbers), *more)) for name, *numbers, more in found[:LISTED]]}


# --- the map: bays by enclosure, else by controller ------------------------------------------------------------------

def shelves(drives: Sequence[Json], groups: Sequence[Json]) -> list[tuple[str, list[Json]]]:
    """Return the drives of each enclosure in the order of their bays, each with the number of its array among *groups*.
    """
    colours = {drive['name']: place for place, group in reversed([*enumerate(groups[:COLOURS])])
               for member in group['members'] for drive in member['drives']}
    found: dict[str, list[Json]] = {}
    for each in drives:
        bay, kind = each.get('bay') or '', (each.get('type') or '').partition(',')[0]
        shelf = bay.rstrip('0123456789') if bay else f'{kind} on {each["device"]}' if kind else ''
        found.setdefault(shelf.strip(), []).append({
            **each, 'number': bay[len(shelf):], 'colour': colours.get(each['name'], '')})
    return [(shelf, sorted(found[shelf], key=lambda drive: (int(drive['number'] or 0), drive['name'])))
            for shelf in sorted(found, key=lambda shelf: [part.zfill(9) for part in re.split('([0-9]+)', shelf)])]
