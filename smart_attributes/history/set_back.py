"""Counters that can only rise and were lower than at an earlier check: they were set back, or ran over. Pure.

The check that notices it stores the former number in a series of its own, from which later checks report it.
"""
from __future__ import annotations

import time

from ..coded import Coded
from ..constants import DAY, HOUR, MONTH
from ..typed import TYPE_CHECKING, NamedTuple
from ..wording import amount
from ..words import clean
from .past import key
from .series import CHANGE, Key, Observation

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..model import Reading
    from .past import Past

# By how much a counter has to fall: base units, and share of its number. Steps of 1 % in endurance_used are rounding.
LEAST: Mapping[str, tuple[float, float]] = {
    'power_on_time': (DAY, 0.02), 'power_cycles': (1, 0.02), 'host_written': (0, 0.02), 'nand_written': (0, 0.02),
    'endurance_used': (1, 0)}
RUNS_OVER = 65000 * HOUR   # counters of 16 bits run over after 65,536 h, those of old Seagate disks after 78,187 h
REPORTED = MONTH
_BESIDE = ', set back'


class Fall(NamedTuple):
    """A counter that was lower than before."""

    reading: Reading
    before: float
    since: int       # when the number before it was last seen, seconds since 1970
    noticed: int     # when it was first seen lower, seconds since 1970
    firmware: str    # "(firmware 1.0 before, 1.1 after)", '' if it did not change


def falls(past: Past, readings: Iterable[Reading], firmware: str, within: int = REPORTED) -> list[Fall]:
    """Return the falls of the last *within* seconds, stored or new, of the counters that a drive reports.

    firmware: that of the drive now.
    """
    found = []
    for reading in readings:
        if reading.metric in LEAST and reading.judged and reading.number is not None:
            stored = _stored(past, reading)
            new = _new(past, reading, firmware)
            found += stored + [each for each in new if each.before not in {other.before for other in stored}]
    return [fall for fall in found if past.now - fall.noticed < within]


def _stored(past: Past, reading: Reading) -> list[Fall]:
    return [Fall(reading, point.number, point.time - point.gap, point.time, name.definition)
            for name, history in past.histories.items() if name.metric == reading.metric + _BESIDE
            for point in history.points]


def _new(past: Past, reading: Reading, firmware: str) -> list[Fall]:
    known = past.histories.get(key(reading))
    before, (least, share) = known.points[-1].number if known and known.points else 0, LEAST[reading.metric]
    if known is None or before - (reading.number or 0) <= max(least, share * before):
        return []
    is_changed = past.firmware not in ('', firmware)
    words = f'(firmware {clean(past.firmware)} before, {clean(firmware)} after)' if is_changed else ''
    return [Fall(reading, before, known.last_read, past.now, words)]


def observations(past: Past, readings: Sequence[Reading], firmware: str) -> tuple[Observation, ...]:
    """Return the former numbers to store of the counters that this check found lower."""
    return tuple(Observation(Key(fall.reading.metric + _BESIDE, fall.firmware), fall.before, CHANGE,
                             past.now - fall.since)
                 for fall in falls(past, readings, firmware) if fall.noticed == past.now)


def note(fall: Fall) -> Coded:
    """Return the sentence about a fall: "power_on_time was set back between ... and ...: it was 28000 h before"."""
    is_certain = fall.reading.metric == 'power_on_time' and fall.before < RUNS_OVER
    verb = 'was set back' if is_certain else 'was set back or ran over'
    start, end = (time.strftime('%Y-%m-%d %H:%M', time.localtime(moment)) for moment in (fall.since, fall.noticed))
    return Coded('counter-set-back', f'{fall.reading.metric} {verb} between {start} and {end}{fall.firmware and " "}'
                                     f'{fall.firmware}: it was {amount(fall.before, fall.reading.unit)} before',
                 metric=fall.reading.metric, before=fall.before, since=fall.since, noticed=fall.noticed)
