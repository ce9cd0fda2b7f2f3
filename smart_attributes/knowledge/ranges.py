"""Nagios ranges: parse the text of a limit, compare numbers with it, and describe it in words.

Source: Monitoring Plugins Development Guidelines, "Threshold and Ranges".
"""

from __future__ import annotations

import re
from functools import cache
from importlib.machinery import PathFinder
from types import ModuleType

from ..constants import LETTERS, LONGEST_BOUND, LONGEST_RANGE
from ..errors import Coded, UsageError
from ..typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nagiosplugin import Range

NAGIOSPLUGIN = 'nagiosplugin'
INFINITY = float('inf')
# Python accepts numbers that a monitoring daemon does not: "1_0", " 85", "1.e3", digits of other
# scripts.
CHARACTERS = frozenset('@~:-.0123456789')
# Units in a range of a metric in seconds: "30d:". Months have no letter, because "m" usually means
# minutes.
_END = re.compile(r'(?<![0-9.])([0-9]*\.?[0-9]+)([dwy])(?=:|$)')

# Compiled only after a mistake, so that a valid check spends no time on it.
_WITH_UNIT = r'(-?(?:[0-9]*\.)?[0-9]+)\s*(%|°?[A-Za-z]+)(?=:|$)'
# Base unit of a metric -> what people write after a number, in lower case, with its size in base
# units.
_SIZES = {
    '%': {'%': 1},
    'C': {'c': 1, '°c': 1},
    'B': {
        'b': 1,
        'kb': 10**3,
        'mb': 10**6,
        'gb': 10**9,
        'tb': 10**12,
        'pb': 10**15,
        'kib': 2**10,
        'mib': 2**20,
        'gib': 2**30,
        'tib': 2**40,
        'pib': 2**50,
    },
    '': {'%': 1},
    's': {'s': 1, 'sec': 1, 'min': 60, 'h': 3600, 'hours': 3600},
}
_BASES = {'B': 'bytes', 's': 'seconds'}  # base units in words


def _range_alone() -> Any:
    """Return nagiosplugin's class Range without importing the rest of the library.

    The package also loads logging and tempfile, for features that are not used here. This takes 17
    ms of CPU time, a quarter of a check, so only the file of Range is loaded; a later import of
    nagiosplugin still loads all of it.
    """
    package = PathFinder.find_spec(NAGIOSPLUGIN)
    spec = PathFinder.find_spec(
        f'{NAGIOSPLUGIN}.range', package.submodule_search_locations if package else None
    )
    if spec is None or spec.loader is None:
        raise ImportError(NAGIOSPLUGIN)
    module = ModuleType(f'{NAGIOSPLUGIN}.range')
    spec.loader.exec_module(module)
    return module.Range


if not TYPE_CHECKING:
    try:
        Range = _range_alone()
    except Exception:  # a version with another file layout: slower, but correct
        from nagiosplugin import Range


@cache
def parse(text: str, unit: str = '') -> Range:
    """Return the range for a text such as "85", "11:", "~:5", "10:20", "@1:5"; for seconds also
    "30d:" or "@1d:2w".

    unit: the base unit of the metric. Raises UsageError for anything else, such as "" or a range
    that starts above its
    end, and for a number that is too large: such a range would never or always alert.
    """
    try:
        if len(text) > LONGEST_RANGE:
            raise ValueError
        plain = in_base_unit(text, unit)
        if not text or set(plain) - CHARACTERS:
            raise ValueError
        if len(plain) > LONGEST_BOUND and INFINITY in map(float, re.findall('[0-9.]+', plain)):
            raise ValueError
        return Range(plain)
    except (ValueError, TypeError, OverflowError):
        raise UsageError(f'"{text[:40]}" is not a Nagios range{_advice(text, unit)}') from None


def in_base_unit(text: str, unit: str) -> str:
    """Return a range in the form that monitoring daemons read: for a metric in seconds,
    "2592000:" for "30d:".
    """
    if unit != 's':
        return text
    return _END.sub(lambda end: _plain(round(float(end[1]) * LETTERS[end[2]])), text)


def _advice(text: str, unit: str) -> str:
    """Return advice for an error message: how to write this limit without units, or the allowed
    forms of a range.
    """
    plain = _without_units(text, unit) if len(text) <= LONGEST_RANGE else ''
    if plain:
        return plain
    if len(text) > LONGEST_BOUND:
        return '; its number is too long'
    if unit == 's':
        return (
            '; write 30d: (bad below 30 days), 5y (bad above 5 years), 1d:2w (bad outside) or '
            '@1d:2w (bad inside), with d, w, y, or seconds without a letter'
        )
    if _END.search(text):
        return (
            f' of a metric that is {f"in {unit}" if unit else "a count"}; d, w and y (days, weeks, '
            'years) are for metrics in seconds, such as endurance_time_left'
        )
    return '; write 85 (bad above 85), 11: (bad below 11), 10:20 (bad outside) or @1:5 (bad inside)'


def _without_units(text: str, unit: str) -> str:
    """Return the advice to write a number such as "180000000" for "50000h"; '' if no unit fits
    the metric.
    """
    sizes = _SIZES.get(unit, {})
    names = [match[2].lower() for match in re.finditer(_WITH_UNIT, text)]
    if not names or not all(name in sizes for name in names):
        return ''

    def in_base_units(match: re.Match[str]) -> str:
        return _plain(float(match[1]) * sizes[match[2].lower()])

    plain = re.sub(_WITH_UNIT, in_base_units, text)
    if set(plain) - CHARACTERS:
        return ''
    if plain == re.sub(_WITH_UNIT, r'\1', text):
        return f'; leave out the unit: write {plain}'
    return f'; write {plain}, in {_BASES[unit]}'


def is_violated(text: str, number: float, unit: str = '') -> bool:
    """Return whether *number* violates the range *text*; False if *text* is ''."""
    # "60" is an upper limit, and no alert for -5 C, although Nagios reads it as 0:60
    if number < 0 and ':' not in text:
        return False
    return bool(text) and not parse(text, unit).match(number)


def excess(text: str, number: float, unit: str = '') -> float:
    """Return how far *number* is beyond the range *text*, as a multiple of the range's end; 0 if
    inside.

    An end between -1 and 1 counts as 1. Return 0 for a range that alerts inside. Raises UsageError
    like parse().
    """
    if not is_violated(text, number, unit) or parse(text, unit).invert:
        return 0.0
    limit = parse(text, unit)
    passed: float = limit.end if number > limit.end else limit.start
    return abs(number - passed) / max(abs(passed), 1)


def describe(text: str, number: float, unit: str = '') -> Coded:
    """Return how *number* violates the range *text*, such as "above 95" or "below 30d", with a
    message code.
    """
    limit = parse(text, unit)
    # An end with a unit letter is shown as written.
    first, _, last = text.lstrip('@').rpartition(':')
    start = first if _END.fullmatch(first) else _plain(limit.start)
    end = last if _END.fullmatch(last) else _plain(limit.end)
    if limit.invert:
        return Coded('inside-limit', f'inside {start} to {end}')
    if number > limit.end:
        return Coded('above-limit', f'above {end}')
    return Coded('below-limit', f'below {start}')


def contradiction(
    warning: str,
    critical: str,
    worse: str,
    unit: str = '',
) -> str:
    """Return why two ranges for one metric are probably a mistake, with the remedy; '' if they are
    plausible.

    warning, critical: '' for no limit. worse: "low" or "high" if only such numbers of the metric
    are bad. Raises UsageError like parse().
    """
    sides = {text: _side(text, unit) for text in (warning, critical) if text}
    for text, (side, _) in sides.items():
        if side and worse in ('low', 'high') and side != worse:
            end = text.rpartition(':')[2] if side == 'high' else text.rstrip(':')
            bad, right = ('above', f'{end}:') if side == 'high' else ('below', end)
            return (
                f'"{text}" alerts {bad} {end}, but {worse} values of this metric are '
                f'bad; write {right}'
            )
    (side, least), (side_of_critical, most) = (
        sides.get(text, ('', 0.0)) for text in (warning, critical)
    )
    is_above, is_below = side == 'high' and least > most, side == 'low' and least < most
    if side == side_of_critical and (is_above or is_below):
        return f'critical {critical} is reached before warning {warning}; exchange them'
    return ''


def _side(text: str, unit: str) -> tuple[str, float]:
    """Return the side on which a range alerts ("high", "low"; '' for both or inside), and the
    end on this side.
    """
    limit = parse(text, unit)
    if limit.invert or (limit.start > 0 and limit.end < INFINITY):
        return '', 0.0
    return ('low', limit.start) if limit.end == INFINITY else ('high', limit.end)


def beyond(number: float, is_floor: bool) -> str:
    """Return the range that alerts above *number*, or below it if *is_floor*."""
    return f'{_plain(number)}:' if is_floor else _plain(number)


def _plain(number: float) -> str:
    return f'{number:g}' if abs(number) < 1e6 else f'{number:.0f}'
