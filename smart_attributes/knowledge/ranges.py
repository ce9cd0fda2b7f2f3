"""Nagios ranges: the text of a limit, what it means, and how to say it.

Source: Monitoring Plugins Development Guidelines, "Threshold and Ranges".
"""
from __future__ import annotations

from functools import lru_cache

from ..errors import UsageError
from .nagios import Range

INFINITY = float('inf')
# Python reads more as a number than a daemon does: "1_0", " 85", "1.e3", digits of other scripts.
CHARACTERS = frozenset('@~:-.0123456789')


@lru_cache(maxsize=None)
def parse(text: str) -> Range:
    """Return the range that *text* means: "85", "11:", "~:5", "10:20", "@1:5".

    Raises UsageError for anything else, also for "" and for a range that
    starts above its end.
    """
    try:
        if not text or set(text) - CHARACTERS:
            raise ValueError
        return Range(text)
    except (ValueError, TypeError):
        raise UsageError(f'"{text[:40]}" is no Nagios range; write 85 (bad above 85), 11: (bad below 11), '
                         '10:20 (bad outside) or @1:5 (bad inside)') from None


def is_violated(text: str, number: float) -> bool:
    """Say whether *number* lies where the range *text* alerts; never for ''."""
    return bool(text) and not parse(text).match(number)


def describe(text: str, number: float) -> str:
    """Say which side of the range *text* the violating *number* is on: "above 95", "below 11"."""
    limit = parse(text)
    if limit.invert:
        return f'inside {_plain(limit.start)} to {_plain(limit.end)}'
    if number > limit.end:
        return f'above {_plain(limit.end)}'
    return f'below {_plain(limit.start)}'


def above(number: float) -> str:
    """Return the range that alerts above *number*."""
    return _plain(number)


def below(number: float) -> str:
    """Return the range that alerts below *number*."""
    return f'{_plain(number)}:'


def _plain(number: float) -> str:
    return f'{number:g}' if abs(number) < 1e6 else f'{number:.0f}'
