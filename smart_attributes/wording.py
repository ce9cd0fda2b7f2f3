"""Numbers, periods and readings as text for people."""

from __future__ import annotations

import time
from collections.abc import Container, Iterable, Sequence

from .constants import DAY, HOUR, MINUTE, YEAR
from .model import Forecast, Reading

_SIZES = ('B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB')
HEALTH = 'smart_status'
NOT_REPORTED = 'health status not reported'
# first word of the reason if other numbers of the drive contradict this number
IMPLAUSIBLE = 'implausible'
SPEAKS_FOR_ITSELF = (
    'unknown_model',
    'vendor_threshold',
    'vendor_threshold_past',
    'firmware_advisory',
)


def plain(number: float) -> str:
    """Return *number* without exponent and without meaningless decimals: "97", "0.025"."""
    if number == int(number):
        return str(int(number))
    decimals = 6 if abs(number) < 1 else 2
    text = f'{number:.{decimals}f}'.rstrip('0').rstrip('.')
    return '0' if text == '-0' else text


def plural(number: int, word: str, words: str = '') -> str:
    """Return a number and a noun: "1 entry", "2 entries". words: the plural, unless it is the
    noun plus "s".
    """
    if number == 1:
        return f'{number} {word}'
    return f'{number} {words or word + "s"}'


def listed(names: Sequence[str], most: int) -> str:
    """Return at most *most* names and the number of the others: "a, b and 3 more"."""
    text = ', '.join(names[:most])
    others = len(names) - most
    return f'{text} and {others} more' if others > 0 else text


def columns(rows: Iterable[Sequence[str]], right: Container[int] = ()) -> list[str]:
    """Return rows as lines with aligned cells. right: places of the columns with numbers."""
    cells = list(rows)
    widths = [max(map(len, column)) for column in zip(*cells)]
    lines = []
    for row in cells:
        line = ''
        for place, (cell, width) in enumerate(zip(row, widths)):
            aligned = cell.rjust(width) if place in right else cell.ljust(width)
            line += f'{aligned}  '
        lines.append(line.rstrip())
    return lines


def amount(number: float | None, unit: str) -> str:
    """Return a reading's number as text for people: "97 %", "21473 h", "12.3 TB", "unknown"."""
    if number is None:
        return 'unknown'
    if unit == 's' and number >= HOUR:
        return f'{plain(round(number / HOUR, 1))} h'
    if unit == 'B':
        power = 0
        while number >= 999.5 and power < len(_SIZES) - 1:
            number /= 1000
            power += 1
        return f'{number:.3g} {_SIZES[power]}'
    return f'{plain(number)} {unit}'.rstrip()


def quantity(reading: Reading) -> str:
    """Return the number of a numeric reading as text: "97 %", "255 % or more", "1 (8 logical
    sectors)".
    """
    if reading.forecast is not None:
        return _foreseen(reading.forecast)
    number = amount(reading.number, reading.unit)
    if reading.logical_sectors is not None:
        number = f'{number} ({plural(reading.logical_sectors, "logical sector")})'
    return f'{number} or more' if reading.at_ceiling else number


def _foreseen(forecast: Forecast) -> str:
    """Return a forecast as text: "400 days (160 to 1000, estimated from use and age)"."""
    if forecast.left <= 0:
        return '0 days'
    reason = ', estimated from use and age' if forecast.is_estimate else ''
    span = f'{forecast.earliest / DAY:.0f} to {forecast.latest / DAY:.0f}'
    return f'{forecast.left / DAY:.0f} days ({span}{reason})'


def since(seconds: float) -> str:
    """Return how long ago something happened, as text for people: "5 h ago", "40 days ago", "3.2
    years ago".
    """
    if seconds < 2 * DAY:
        return f'{round(seconds / HOUR)} h ago'
    if seconds < YEAR:
        return f'{round(seconds / DAY)} days ago'
    return f'{seconds / YEAR:.1f} years ago'


def duration(seconds: int) -> str:
    """Return a number of seconds as text, rounded to a suitable unit: "10 min", "24 h", "7 d"."""
    if seconds < 2 * HOUR:
        return f'{max(round(seconds / MINUTE), 1)} min'
    if seconds <= 2 * DAY:
        return f'{round(seconds / HOUR)} h'
    return f'{round(seconds / DAY)} d'


def local_day(moment: float) -> str:
    """Return a time in seconds since 1970 as a local date: "2026-11-22"."""
    return time.strftime('%Y-%m-%d', time.localtime(moment))


def local_minute(moment: float) -> str:
    """Return a time in seconds since 1970 as a local date with hours and minutes."""
    return time.strftime('%Y-%m-%d %H:%M', time.localtime(moment))


def statement(reading: Reading) -> str:
    """Return a reading as a statement: "endurance_used 97 %", "self_test Short offline:
    Completed".
    """
    if reading.metric in SPEAKS_FOR_ITSELF:
        return reading.verdict
    if reading.state is not None:
        return f'{reading.metric}: {reading.verdict}'
    if reading.metric == HEALTH:
        return NOT_REPORTED
    words = f'{reading.metric} {quantity(reading)}'
    if reading.quiet is not None:
        bound = 'more than ' if reading.quiet_is_bound else ''
        words += f', newest {bound}{since(reading.quiet)}'
    return f'{words} ({reading.unknown})' if reading.unknown else words
