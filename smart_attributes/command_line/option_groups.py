"""The groups of options that commands share, as data, and the values that options take."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping

from .. import constants, files
from ..constants import DAY, HOUR, LETTERS
from ..model import State
from ..typed import Any, Json
from ..words import none_of
from .options import LABELS, STATE_WORDS, USER, HelpAll, Option, OptionGroup


def option(*spellings: str, **arguments: Any) -> Option:
    """Return an option. arguments: the arguments of argparse's add_argument()."""
    return spellings, arguments


LONGEST_INTERVAL = 3 * DAY  # between two reads of a vendor's log


# --- values: each function returns the value of an argument, or raises ArgumentTypeError ----------


def _metric_range(text: str) -> tuple[str, str]:
    metric, _, limit = text.partition('=')
    if not metric or not limit:
        raise argparse.ArgumentTypeError(
            f'"{text}" is not metric=RANGE, for example endurance_used=80'
        )
    return metric, limit


def state(text: str) -> State:
    """Return the state with this name, in upper or lower case. Raises ArgumentTypeError."""
    if text.lower() not in STATE_WORDS:
        raise argparse.ArgumentTypeError(none_of(text, STATE_WORDS))
    return State[text.upper()]


def _number(
    name: str, lowest: float, highest: float, kind: Callable[[str], Any]
) -> Callable[[str], Any]:
    """Return a function that reads a number within limits. kind: int or float."""

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
    number, seconds = text[:-1], int(LETTERS.get(text[-1:], 0))
    if not (seconds and number.isascii() and number.isdigit() and 0 < int(number) < 100_000):
        raise argparse.ArgumentTypeError(f'"{text}" is not a time; write 90m, 12h, 7d or 2w')
    return int(number) * seconds


def interval(text: str) -> int | None:
    """Return the number of seconds in a time, 0 for "always" and None for "never".

    Raises ArgumentTypeError.

    A log is used for a week, so a longer interval could leave periods without a log.
    """
    words = {'always': 0, 'never': None}
    time = words[text] if text in words else duration(text)
    if time and time > LONGEST_INTERVAL:
        raise argparse.ArgumentTypeError(f'"{text}" is too long; write at most 3d')
    return time


seconds = _number('number of seconds', 0.1, HOUR, float)
max_output = _number('number of bytes', 2000, 1000000, int)
expected = _number('number of drives', 0, 10000, int)
_attribute = _number('attribute number', 1, 255, int)


# --- groups --------------------------------------------------------------------
# --help of a check has at most 40 lines, one screen; "short" lists the options that it shows.

# Values that begin with @ in option_groups.json: functions above, and constants.
VALUES: Mapping[str, Any] = {
    '@metric_range': _metric_range,
    '@state': state,
    '@duration': duration,
    '@interval': interval,
    '@seconds': seconds,
    '@max_output': max_output,
    '@expected': expected,
    '@attribute': _attribute,
    '@ok': State.OK,
    '@warning': State.WARNING,
    '@critical': State.CRITICAL,
    '@labels': LABELS,
    '@timeout': constants.TIMEOUT,
    '@drive_timeout': constants.DRIVE_TIMEOUT,
    '@help_all': HelpAll,
    '@hidden': argparse.SUPPRESS,
    '@smartctl': constants.SMARTCTL,
    '@output_limit': constants.OUTPUT_LIMIT,
    '@config': files.CONFIG,
    '@user': USER,
}


def options(given: Json, values: Mapping[str, Any] = VALUES) -> tuple[Option, ...]:
    """Return options. given: maps the spellings of each option to arguments of add_argument().
    values: like VALUES.
    """
    return tuple(
        option(
            *spellings.split(),
            **{
                key: values.get(value, value) if isinstance(value, str) else value
                for key, value in arguments.items()
            },
        )
        for spellings, arguments in given.items()
    )


# By name. Several commands share most groups; only fleet has the groups for Icinga and output.
GROUPS = {
    name: OptionGroup(**{**each, 'options': options(each['options'])})
    for name, each in files.data('command_line/option_groups.json').items()
}
