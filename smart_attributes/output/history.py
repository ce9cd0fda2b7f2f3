"""The history of a drive as a table, or as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..constants import DOCUMENTS
from ..shown import Shown
from ..wording import amount, columns, local_day
from ..words import clean


class Series(NamedTuple):
    """The history of one metric of a drive, read from one source."""

    metric: str
    definition: str
    unit: str
    points: Sequence[tuple[float, float]]  # seconds since 1970, number


class ShownHistory(NamedTuple):
    """A drive with its history."""

    shown: Shown
    first_read: float  # by a check, seconds since 1970
    last_read: float
    series: Sequence[Series]


def lines(drive: ShownHistory) -> Iterator[str]:
    """Yield a heading and a row for each series: first value, present value, last change, number of
    points and source.

    A metric has two series if the drive reports the metric in two places.
    """
    yield (
        f'{drive.shown.name}, read from {local_day(drive.first_read)} to '
        f'{local_day(drive.last_read)}'
    )
    head = ('metric', 'first', 'last', 'changed', 'points', 'source')
    yield from columns([head, *map(_row, drive.series)])


def _row(series: Series) -> tuple[str, ...]:
    """Return the metric, its first and last value, the day of the last change, the number of
    points and the source.
    """
    _, first = series.points[0]
    moment, last = series.points[-1]
    has_changed = len(series.points) > 1
    return (
        clean(series.metric),
        amount(first, series.unit),
        amount(last, series.unit),
        local_day(moment) if has_changed else '-',
        str(len(series.points)),
        clean(series.definition),
    )


def as_json(drives: Sequence[ShownHistory], reason: Mapping[str, str] = {}) -> str:
    """Return all points as JSON, with times in seconds since 1970.

    reason: why there are no drives: "state", "error" and "code".
    """
    document = {
        'version': DOCUMENTS['history'],
        **reason,
        'drives': list(map(_drive, drives)),
    }
    return json.dumps(document, indent=1)


def _drive(drive: ShownHistory) -> Mapping[str, Any]:
    """Return the JSON object of a drive with all its points."""
    return {
        'model': drive.shown.model or None,
        'serial': drive.shown.serial or None,
        'first_read': round(drive.first_read),
        'last_read': round(drive.last_read),
        'series': [
            {
                'metric': clean(series.metric),
                'definition': clean(series.definition),
                'unit': series.unit,
                'points': [[round(moment), number] for moment, number in series.points],
            }
            for series in drive.series
        ],
    }
