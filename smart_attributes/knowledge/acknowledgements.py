"""Acknowledgements: values that an admin accepts and that raise no alert until they get worse. Pure.

An acknowledgement is root's configuration, not history: the same object as an override in thresholds.d, in
acknowledged.json of the configuration folder, or an argument of the command line. A user who can write only the
history file cannot suppress an alert.
"""
from __future__ import annotations

import re
import time

from ..errors import UsageError
from ..model import State
from ..typed import TYPE_CHECKING, Json, NamedTuple
from ..wording import amount
from ..words import clean, sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

FILE = 'acknowledged.json'
_FORM = 'SERIAL:METRIC=VALUE[:UNTIL[:WHY]]'
_WORD = (r'(?P<serial>.+?):(?P<metric>[A-Za-z][^:=]*)=(?P<value>[^:]+)'
         r'(?::(?P<until>[0-9]{4}-[0-9]{2}-[0-9]{2})?(?::(?P<why>.*))?)?')
_NUMBER = r'-?[0-9]{1,30}(?:\.[0-9]{1,30})?'
GONE = 'gone'     # in place of a metric: the drive may be missing
_NOTES = ('why', 'until', 'by', 'at')  # keys of an override, and fields of an acknowledgement


class Acknowledgement(NamedTuple):
    """An accepted value of one metric of one drive."""

    serial: str
    metric: str
    value: float       # base unit
    why: str = ''
    until: str = ''    # last day, "2027-01-31"; '' for no end
    by: str = ''
    at: str = ''       # day
    origin: str = FILE


def parse(text: str) -> Acknowledgement:
    """Return the acknowledgement in an argument of --acknowledged. Raises UsageError if the text is not one."""
    parts = re.fullmatch(_WORD, text)
    if not parts:
        raise UsageError(f'--acknowledged "{clean(text)}" must have the form {_FORM}, such as '
                         'EXAMPLE0001:reallocated=3:2027-01-31:stable')
    serial, metric, value, until, why = parts.groups('')
    if not re.fullmatch(_NUMBER, value):
        raise UsageError(f'--acknowledged "{clean(text)}": {_no_number(value)}')
    if until and not is_day(until):
        raise UsageError(f'--acknowledged "{clean(text)}": {until} is not a day, such as 2027-01-31')
    return Acknowledgement(serial, metric, float(value), why, until, origin='--acknowledged')


def _no_number(value: str) -> str:
    number = re.match(_NUMBER, value)
    if number and not value[number.end():].strip('0123456789.'):
        return 'the number is too long; write at most 30 digits'
    if number and value[number.end():].strip() in ('%', 'C', 'c', '\N{DEGREE SIGN}C'):
        return f'leave out the unit: write {number[0]}'
    return f'"{clean(value)}" is not a number; write one in the base unit of the metric: %, C, seconds, bytes, a count'


def is_day(text: str) -> bool:
    """Return whether a text is a valid calendar date, such as "2027-01-31"."""
    try:
        return time.strftime('%Y-%m-%d', time.strptime(text, '%Y-%m-%d')) == text
    except ValueError:
        return False


def from_overrides(overrides: Iterable[Json], origin: str = FILE) -> Iterator[Acknowledgement]:
    """Yield the acknowledgements in the overrides of a file, which must be valid by its schema."""
    for override in overrides:
        serial, notes = override['for'].get('serial'), {note: override.get(note, '') for note in _NOTES}
        if serial and override.get('gone'):
            yield Acknowledgement(serial, GONE, 0, origin=origin, **notes)
        for metric, limits in override.get('metrics', {}).items():
            if serial and 'acknowledged' in limits:
                yield Acknowledgement(serial, metric, float(limits['acknowledged']), origin=origin, **notes)


def override(accepted: Acknowledgement) -> Json:
    """Return an acknowledgement as an override object for acknowledged.json or thresholds.d."""
    notes = {note: getattr(accepted, note) for note in _NOTES if getattr(accepted, note)}
    what = {'gone': True} if accepted.metric == GONE else {
        'metrics': {accepted.metric: {'acknowledged': accepted.value}}}
    return {'for': {'serial': accepted.serial}, **notes, **what}


def applying(accepted: Sequence[Acknowledgement], serial: str, metric: str, today: str) -> Acknowledgement | None:
    """Return the last unexpired acknowledgement of a drive's metric, or None. today: such as "2026-11-22"."""
    return next((each for each in reversed(accepted) if (each.serial, each.metric) == (serial, metric)
                 and (not each.until or today <= each.until)), None)


def is_silent(accepted: Acknowledgement | None, number: float, falls: bool = False) -> bool:
    """Return whether a number is as good as the accepted value or better. falls: a smaller number is worse."""
    return accepted is not None and (number >= accepted.value if falls else number <= accepted.value)


def telling(accepted: Acknowledgement, unit: str) -> str:
    """Return a text such as "reallocated is acknowledged at 8 by martin on 2026-11-22: stable (acknowledged.json)"."""
    why = f': {sentence(accepted.why, 200)}' if accepted.why else ''
    return (f'{accepted.metric} is acknowledged at {amount(accepted.value, unit)}{given_by(accepted, " ")}{why} '
            f'({accepted.origin})')


def given_by(accepted: Acknowledgement, separator: str) -> str:
    """Return a text such as " by martin on 2026-11-22 until 2027-01-31", without unknown parts."""
    return ''.join(f'{separator}{word} {clean(text)}'
                   for word, text in (('by', accepted.by), ('on', accepted.at), ('until', accepted.until)) if text)


def prevailing(level: State, growth: State = State.OK, is_acknowledged: bool = False,
               override: State | None = None) -> State:
    """Return the state of a reading with limits, in the documented order of precedence.

    level: state by the limits for the reading's age. growth: state by its increase. is_acknowledged: see is_silent().
    override: state by a limit set for this drive alone; None without such a limit.
    """
    if override is not None:
        return override
    # A small increase must not hide a bad level.
    return State.OK if is_acknowledged else max(growth, level, key=lambda state: state.urgency)
