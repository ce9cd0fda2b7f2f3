"""The history of a drive as a table with small graphs, or as JSON."""
from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..constants import DOCUMENTS
from ..model import Identity
from ..wording import amount
from ..words import clean

BARS = '▁▂▃▄▅▆▇█'
WIDTH = 24                # characters of a graph

Points = Sequence[tuple[float, float]]   # seconds since 1970, number


class Series(NamedTuple):
    """The history of one metric of a drive, read from one source."""
    metric: str
    definition: str
    unit: str
    points: Points
    last_read: float


class DriveHistory(NamedTuple):
    """A drive with its history."""
    identity: Identity
    first_read: float
    last_read: float
    series: Sequence[Series]


def drive(identity: Identity, read: tuple[float, float], series: Sequence[Series],
          metrics: Sequence[str] = ()) -> DriveHistory:
    """Return a drive with the series of *metrics* (all series if empty) and the days of its first and last reading.

    read: times of the first and last reading by a check; an import adds earlier readings.
    """
    first, last = (*(each.points[0][0] for each in series), read[0]), (*(each.last_read for each in series), read[1])
    return DriveHistory(identity, min(first), max(last),
                        [each for each in series if not metrics or each.metric in metrics])


def lines(drive: DriveHistory, hide_serial: bool) -> Iterator[str]:
    """Yield a heading and a row for each series: first value, present value, last change, graph and source.

    A metric that a drive reports in two places has two series.
    """
    serial = '' if hide_serial else f' {clean(drive.identity.serial)}'
    yield f'{clean(drive.identity.model)}{serial}, read from {_day(drive.first_read)} to {_day(drive.last_read)}'
    cells = [('metric', 'first', 'last', 'changed', 'points', 'course', 'source'), *map(_row, drive.series)]
    widths = [max(map(len, column)) for column in zip(*cells)]
    for row in cells:
        yield '  '.join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()


def _row(series: Series) -> tuple[str, ...]:
    first, last = series.points[0], series.points[-1]
    changed = _day(last[0]) if len(series.points) > 1 else '-'
    return (clean(series.metric), amount(first[1], series.unit), amount(last[1], series.unit), changed,
            str(len(series.points)), graph(series.points, series.last_read), clean(series.definition))


def graph(points: Points, end: float, width: int = WIDTH) -> str:
    """Return a graph of a number from its first point to *end*.

    The height of each character is the number at the end of the interval that the character covers.

    A number that never changed has no graph: a flat line shows less than the numbers beside it.
    """
    numbers = [number for _, number in points]
    lowest, highest = min(numbers), max(numbers)
    if highest == lowest:
        return ''
    start, signs, place = points[0][0], [], 0
    for step in range(1, width + 1):
        moment = start + (end - start) * step / width
        while place + 1 < len(points) and points[place + 1][0] <= moment:
            place += 1
        signs.append(BARS[round((numbers[place] - lowest) / (highest - lowest) * (len(BARS) - 1))])
    return ''.join(signs)


def as_json(drives: Sequence[DriveHistory], hide_serial: bool, more: Mapping[str, str] = {}) -> str:
    """Return all points as JSON, with times in seconds since 1970.

    more: further keys of the document: "state", "error".
    """
    told = [_drive(each, hide_serial) for each in drives]
    return json.dumps({'version': DOCUMENTS['history'], **more, 'drives': told}, indent=1)


def _drive(drive: DriveHistory, hide_serial: bool) -> Mapping[str, Any]:
    series: list[dict[str, Any]] = [{'metric': clean(each.metric), 'definition': clean(each.definition),
                                     'unit': each.unit,
                                     'points': [[round(moment), number] for moment, number in each.points]}
                                     for each in drive.series]
    return {'model': clean(drive.identity.model) or None,
            'serial': None if hide_serial else clean(drive.identity.serial) or None,
            'first_read': round(drive.first_read), 'last_read': round(drive.last_read), 'series': series}


def _day(moment: float) -> str:
    return time.strftime('%Y-%m-%d', time.localtime(moment))
