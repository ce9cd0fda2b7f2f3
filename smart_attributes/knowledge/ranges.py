"""Nagios ranges: parse the text of a limit, compare numbers with it, and describe it in words.

Source: Monitoring Plugins Development Guidelines, "Threshold and Ranges".
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from functools import cache
from types import ModuleType

from ..constants import LETTERS, LONGEST_RANGE
from ..errors import Coded, UsageError
from ..typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nagiosplugin import Range

NAGIOSPLUGIN = 'nagiosplugin'
INFINITY = float('inf')
# Python accepts numbers that a monitoring daemon does not: "1_0", " 85", "1.e3", digits of other
# scripts.
CHARACTERS = frozenset('@~:-.0123456789')
# An end with a unit, in a range of a metric in seconds: "30d" in "30d:". Months have no letter,
# because "m" usually means minutes.
_END_IN_DAYS = r'(?<![0-9.])([0-9]*\.?[0-9]+)([dwy])(?=:|$)'


def _range_alone() -> Any:
    """Return nagiosplugin's class Range without importing the rest of the library.

    The package also loads logging and tempfile, for features that are not used here. This takes 17
    ms of CPU time, a quarter of a check, so only the file of Range is loaded; a later import of
    nagiosplugin still loads all of it.
    """
    package = _spec(NAGIOSPLUGIN, None)
    spec = _spec(f'{NAGIOSPLUGIN}.range', package.submodule_search_locations)
    module = ModuleType(spec.name)
    spec.loader.exec_module(module)
    return module.Range


def _spec(name: str, path: Sequence[str] | None) -> Any:
    """Return where Python finds a module, as an import would; `importlib` costs 2 M instructions."""
    specs = (finder.find_spec(name, path) for finder in sys.meta_path)
    return next(spec for spec in specs if spec)


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
    that starts above its end, and for a number that is too large: such a range would never or always alert.
    """
    try:
        if len(text) > LONGEST_RANGE:
            raise ValueError
        plain = in_base_unit(text, unit)
        if not text or not CHARACTERS.issuperset(plain):
            raise ValueError
        return Range(plain)
    except (ValueError, TypeError, OverflowError):
        raise UsageError(
            f'"{text[:40]}" is not a Nagios range{_advice(text, unit)}'
        ) from None


def in_base_unit(text: str, unit: str) -> str:
    """Return a range in the form that monitoring daemons read: for a metric in seconds,
    "2592000:" for "30d:". A text with other letters, such as "12h:", is returned unchanged.
    """
    if unit != 's':
        return text
    return re.sub(
        _END_IN_DAYS, lambda end: _plain(round(float(end[1]) * LETTERS[end[2]])), text
    )


def _advice(text: str, unit: str) -> str:
    """Return advice that continues the sentence '"85%" is not a Nagios range':

    - very long text -> "; its number is too long"
    - a number with the unit of the metric, "85%", or a count with "%" -> "; leave out the unit:
      write 85"
    - anything else for a metric in seconds -> its forms, '; write "30d:" ...'
    - "30d:" for another metric -> " of a metric that is a count; d, w and y ..."
    - anything else -> the forms of a range, '; write "85" ...'
    """
    if len(text) > LONGEST_RANGE:
        return '; its number is too long'
    # A count has no unit, but people write "%" after it.
    superfluous = unit or '%'
    without_unit = re.sub(
        rf'(?<=[0-9])\s*°?{superfluous}(?=:|$)', '', text, flags=re.IGNORECASE
    )
    if without_unit != text and CHARACTERS.issuperset(without_unit):
        return f'; leave out the unit: write {without_unit}'
    if unit == 's':
        return (
            '; write "30d:" (bad below 30 days), "5y" (bad above 5 years), "1d:2w" (bad outside) or '
            '"@1d:2w" (bad inside); units are d, w and y; a number without a unit is in seconds'
        )
    if re.search(_END_IN_DAYS, text):
        kind = f'in {unit}' if unit else 'a count'
        return (
            f' of a metric that is {kind}; d, w and y (days, weeks, '
            'years) are for metrics in seconds, such as endurance_time_left'
        )
    return '; write "85" (bad above 85), "11:" (bad below 11), "10:20" (bad outside) or "@1:5" (bad inside)'


def is_violated(text: str, number: float, unit: str = '') -> bool:
    """Return whether *number* violates the range *text*; False if *text* is ''. Raises UsageError
    like parse().
    """
    # "60" is an upper limit, and no alert for -5 C, although Nagios reads it as 0:60
    if number < 0 and ':' not in text:
        return False
    return bool(text) and not parse(text, unit).match(number)


def excess(text: str, number: float, unit: str) -> float:
    """Return how far *number* is beyond the range *text*, as a multiple of the range's end; 0 if
    inside.

    An end between -1 and 1 counts as 1. Return 0 for a range that alerts inside. Raises UsageError
    like parse().
    """
    if not is_violated(text, number, unit):
        return 0.0
    limit = parse(text, unit)
    if limit.invert:
        return 0.0
    passed: float = limit.end if number > limit.end else limit.start
    return abs(number - passed) / max(abs(passed), 1)


def describe(text: str, number: float, unit: str) -> Coded:
    """Return how *number* violates the range *text*, such as "above 95" or "below 30d", with a
    message code.
    """
    limit = parse(text, unit)
    # An end with a unit letter is shown as written.
    first, _, last = text.lstrip('@').rpartition(':')
    start = first if re.fullmatch(_END_IN_DAYS, first) else _plain(limit.start)
    end = last if re.fullmatch(_END_IN_DAYS, last) else _plain(limit.end)
    if limit.invert:
        return Coded('inside-limit', f'inside {start} to {end}')
    if number > limit.end:
        return Coded('above-limit', f'above {end}')
    return Coded('below-limit', f'below {start}')


def contradiction(warning: str, critical: str, worse: str, unit: str = '') -> str:
    """Return why two ranges for one metric are probably a mistake, with the remedy; '' if they are
    plausible.

    warning, critical: '' for no limit. worse: "low" or "high" if only such numbers of the metric
    are bad. Raises UsageError like parse().
    """
    for text in (warning, critical):
        side, _ = _side(text, unit)
        if side == 'high' and worse == 'low':
            end = text.rpartition(':')[2]
            return (
                f'"{text}" alerts above {end}, but low values of this metric are bad; '
                f'to alert below {end}, write "{end}:" (with the colon)'
            )
        if side == 'low' and worse == 'high':
            end = text.rstrip(':')
            return (
                f'"{text}" alerts below {end}, but high values of this metric are bad; '
                f'to alert above {end}, write "{end}"'
            )
    warning_side, warning_end = _side(warning, unit)
    critical_side, critical_end = _side(critical, unit)
    if not warning_side or warning_side != critical_side:
        return ''
    is_swapped = warning_end > critical_end
    if warning_side == 'low':
        is_swapped = warning_end < critical_end
    if is_swapped:
        return f'critical {critical} is reached before warning {warning}; swap them'
    return ''


def _side(text: str, unit: str) -> tuple[str, float]:
    """Return the side on which a range alerts, and the end on this side:

    - "11:" -> ("low", 11)
    - "85", "~:85" or "-5:85" -> ("high", 85), because few numbers are below 0
    - "10:20", which alerts on both sides; "@1:5", which alerts inside; '' -> ('', 0)
    """
    if not text:
        return '', 0.0
    limit = parse(text, unit)
    if limit.invert:
        return '', 0.0
    if limit.end == INFINITY:
        return 'low', limit.start
    if limit.start <= 0:
        return 'high', limit.end
    return '', 0.0


def beyond(number: float, is_floor: bool) -> str:
    """Return the range that alerts above *number*, or below it if *is_floor*."""
    return f'{_plain(number)}:' if is_floor else _plain(number)


def _plain(number: float) -> str:
    """Return a number as in a range, large ones without exponent: "85", "0.5", "2592000"."""
    return f'{number:.6f}'.rstrip('0').rstrip('.')
