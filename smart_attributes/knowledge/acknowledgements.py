"""What an admin has accepted: silent at that value, loud when it grows. Pure.

An acknowledgement is configuration of root, not history: the same object as an override in thresholds.d, in
acknowledged.json of the configuration folder, or a word of the command line. Whoever could write into history only
cannot silence anything.
"""
from __future__ import annotations

import re
import time

from ..errors import UsageError
from ..model import State
from ..typed import TYPE_CHECKING, NamedTuple
from ..words import amount, clean, sentence

if TYPE_CHECKING:
    from typing import Iterable, Iterator, List, Mapping, Optional

FILE = 'acknowledged.json'
FORM = 'SERIAL:METRIC=VALUE[:UNTIL[:WHY]]'
_WORD = (r'(?P<serial>.+?):(?P<metric>[A-Za-z][^:=]*)=(?P<value>[^:]+)'
         r'(?::(?P<until>[0-9]{4}-[0-9]{2}-[0-9]{2})?(?::(?P<why>.*))?)?')
_NUMBER = r'-?[0-9]{1,30}(?:\.[0-9]{1,30})?'


class Acknowledgement(NamedTuple):
    """A value of one metric of one drive that is accepted."""

    serial: str
    metric: str
    value: float       # base unit
    why: str = ''
    until: str = ''    # last day, "2027-01-31"; '' for ever
    by: str = ''
    at: str = ''       # day
    origin: str = FILE


def parse(text: str) -> Acknowledgement:
    """Return what --acknowledged says. Raises UsageError."""
    found = re.fullmatch(_WORD, text)
    if not found:
        raise UsageError(f'--acknowledged "{clean(text)}" is not written {FORM}, such as '
                         f'EXAMPLE0001:reallocated=3:2027-01-31:stable')
    if not re.fullmatch(_NUMBER, found['value']):
        raise UsageError(f'--acknowledged "{clean(text)}": {_no_number(found["value"])}')
    if found['until'] and not is_day(found['until']):
        raise UsageError(f'--acknowledged "{clean(text)}": {found["until"]} is no day, such as 2027-01-31')
    return Acknowledgement(found['serial'], found['metric'], float(found['value']), found['why'] or '',
                           found['until'] or '',
                           origin='--acknowledged')


def _no_number(value: str) -> str:
    plain = re.match(_NUMBER, value)
    if plain and not value[plain.end():].strip('0123456789.'):
        return 'the number is too long; write at most 30 digits'
    if plain and value[plain.end():].strip() in ('%', 'C', 'c', '\N{DEGREE SIGN}C'):
        return f'leave out the unit: write {plain[0]}'
    return f'"{clean(value)}" is not a number; write one in the base unit of the metric: %, C, seconds, bytes, a count'


def is_day(text: str) -> bool:
    """Tell whether a text is a day of the calendar, as "2027-01-31"."""
    try:
        return time.strftime('%Y-%m-%d', time.strptime(text, '%Y-%m-%d')) == text
    except ValueError:
        return False


def from_overrides(overrides: Iterable[Mapping[str, object]], origin: str = FILE) -> Iterator[Acknowledgement]:
    """Yield the acknowledgements among the overrides of a file that has passed its schema."""
    for each in overrides:
        device, metrics = each.get('for', {}), each.get('metrics', {})
        if not isinstance(device, dict) or not isinstance(metrics, dict):
            continue
        for metric, limits in metrics.items():
            if isinstance(limits, dict) and 'acknowledged' in limits and 'serial' in device:
                told = {name: str(each.get(name, '')) for name in ('why', 'until', 'by', 'at')}
                yield Acknowledgement(str(device['serial']), str(metric), float(str(limits['acknowledged'])),
                                      origin=origin, **told)


def override(given: Acknowledgement) -> Mapping[str, object]:
    """Return an acknowledgement as the object that acknowledged.json and thresholds.d hold."""
    told = {name: value for name, value in (('why', given.why), ('until', given.until), ('by', given.by),
                                            ('at', given.at)) if value}
    return {'for': {'serial': given.serial}, **told, 'metrics': {given.metric: {'acknowledged': given.value}}}


def applying(given: Iterable[Acknowledgement], serial: str, metric: str, today: str) -> Optional[Acknowledgement]:
    """Return the acknowledgement that concerns a metric of a drive: the last one given that has not run out; None
    without.

    today: "2026-11-22".
    """
    found: List[Acknowledgement] = [each for each in given if (each.serial, each.metric) == (serial, metric)
                                    and (not each.until or today <= each.until)]
    return found[-1] if found else None


def is_silent(given: Optional[Acknowledgement], number: float, falls: bool = False) -> bool:
    """Tell whether a number is no worse than what was accepted. falls: less is worse."""
    return given is not None and (number >= given.value if falls else number <= given.value)


def telling(given: Acknowledgement, unit: str) -> str:
    """Return "reallocated is acknowledged at 8 by martin on 2026-11-22: stable (acknowledged.json)"."""
    why = f': {sentence(given.why, 200)}' if given.why else ''
    return f'{given.metric} is acknowledged at {amount(given.value, unit)}{given_by(given, " ")}{why} ({given.origin})'


def given_by(given: Acknowledgement, separator: str) -> str:
    """Return " by martin on 2026-11-22 until 2027-01-31", as far as it is known."""
    return ''.join(f'{separator}{word} {clean(text)}'
                   for word, text in (('by', given.by), ('on', given.at), ('until', given.until)) if text)


def prevailing(level: State, growth: State = State.OK, is_acknowledged: bool = False,
               own_word: Optional[State] = None, override: Optional[State] = None) -> State:
    """Return the state of a reading, by the order of precedence that the documents give.

    own_word: the drive's verdict, which nothing here silences. override: what a limit of this very drive says.
    is_acknowledged: see is_silent(). growth: what it rose by. level: as limits have it that hold at its age.
    """
    if own_word is not None:
        return own_word
    if override is not None:
        return override
    if is_acknowledged:
        return State.OK
    # A small growth must not hide that the level is bad, too.
    return max(growth, level, key=_urgency)


def _urgency(state: State) -> int:
    return state.urgency
