"""The values that options take: each function converts an argument, or raises ArgumentTypeError."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from ..constants import DAY, HOUR, LETTERS
from ..model import State
from ..typed import Any
from ..words import TYPED, nearest

STATE_WORDS = tuple(state.name.lower() for state in State)


def metric_range(text: str) -> tuple[str, str]:
    """Return metric and range of "endurance_used=80". Raises ArgumentTypeError."""
    metric, _, limit = text.partition('=')
    if not metric or not limit:
        raise argparse.ArgumentTypeError(
            f'"{text}" is not of the form METRIC=RANGE, for example endurance_used=80'
        )
    return metric, limit


def state(text: str) -> State:
    """Return the state with this name, in upper or lower case. Raises ArgumentTypeError."""
    if text.lower() not in STATE_WORDS:
        guess = nearest(text, STATE_WORDS, TYPED)
        end = f'; {guess}' if guess else ''
        raise argparse.ArgumentTypeError(
            f'"{text}" is not valid here; use {", ".join(STATE_WORDS)}{end}'
        )
    return State[text.upper()]


def _number(
    name: str,
    lowest: float,
    highest: float,
    kind: Callable[[str], Any],
) -> Callable[[str], Any]:
    """Return a function that reads a number within limits, or raises ArgumentTypeError. kind: int or
    float. name: what the number is, for the message.
    """

    def convert(text: str) -> Any:
        try:
            number = kind(text)
        except ValueError:
            number = None
        if number is None or not lowest <= number <= highest:
            raise argparse.ArgumentTypeError(
                f'"{text}" is not a valid {name} ({lowest:g} to {highest:g})'
            )
        return number

    return convert


def duration(text: str) -> int:
    """Return the number of seconds in a time such as 7d. Raises ArgumentTypeError."""
    digits = text[:-1]
    letter = text[-1:]
    is_number = digits.isascii() and digits.isdigit()
    if is_number and 0 < int(digits) < 100_000 and letter in LETTERS:
        return int(digits) * int(LETTERS[letter])
    raise argparse.ArgumentTypeError(
        f'"{text}" is not a time; write 90m, 12h, 7d or 2w'
    )


def interval(text: str) -> int | None:
    """Return the number of seconds in a time, 0 for "always" and None for "never".

    Raises ArgumentTypeError.

    A log is used for a week (vendor_logs.KEPT). With at most 3 days between two reads, one of them
    can fail before the log is too old.
    """
    words = {'always': 0, 'never': None}
    if text in words:
        return words[text]
    time = duration(text)
    if time > 3 * DAY:
        raise argparse.ArgumentTypeError(f'"{text}" is too long; write at most 3d')
    return time


seconds = _number('number of seconds', 0.1, highest=HOUR, kind=float)
max_output = _number('number of bytes', 2000, highest=1000000, kind=int)
expected = _number('number of drives', 0, highest=10000, kind=int)
attribute = _number('attribute number', 1, highest=255, kind=int)
