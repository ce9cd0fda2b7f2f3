"""Growth: by how much a number has risen, over what real time, and whether it is still told. Pure.

No alarm is stored. That a rise is told for a week follows from the points: each says when it was noticed, and how long
before that the number was still the old one. So no later check and no manual run ends an alarm, and a rise while nobody
looked counts when it is noticed, with the time that it may have taken. A number that falls back (a counter that wraps
or is reset) has not grown.
"""
from __future__ import annotations

from ..constants import DAY, HOUR, LETTERS, MINUTE
from ..errors import DataError
from ..model import State
from ..typed import TYPE_CHECKING, NamedTuple
from ..words import amount, clean
from .series import History

if TYPE_CHECKING:
    from typing import Iterator, List, Mapping, Optional, Sequence, Tuple

_TOLD_AGO = HOUR      # seconds after which it is said how long ago growth was noticed


class Rule(NamedTuple):
    """When growth is an alarm, and for how long. Several of a metric hold side by side; times are in seconds."""

    within: int                       # how far rises are added up
    held: int                         # how long it is told after it was noticed
    warning: Optional[float] = None   # more than this warns; None never
    critical: Optional[float] = None
    stands: int = 0                   # a rise counts once the number has stayed there so long: for gauges that flip
    advice: str = ''                  # "check cable and backplane"


class Rise(NamedTuple):
    """A number that was found higher than before, or lower where less is worse."""

    noticed: int       # seconds since 1970
    since: int         # when the number before it was last seen
    before: float
    after: float

    @property
    def size(self) -> float:
        """By how much, always positive."""
        return abs(self.after - self.before)


class Growth(NamedTuple):
    """What a series grew by, where that is told now."""

    state: State
    size: float
    before: float
    after: float
    since: int
    noticed: int
    rule: Rule


def rule(data: Mapping[str, object], where: str) -> Rule:
    """Return a rule as thresholds/ writes it: {"within": "24h", "warning": "0", "critical": null, "for": "7d"}.

    where: for the sentence. Raises DataError for what cannot be meant.
    """
    limits = {name: _number(data[name], name, where) for name in ('warning', 'critical') if data.get(name) is not None}
    return Rule(seconds(data.get('within'), 'within', where), seconds(data.get('for'), 'for', where),
                limits.get('warning'),
                limits.get('critical'), seconds(data['stands'], 'stands', where) if 'stands' in data else 0,
                str(data.get('advice', '')))


def seconds(text: object, name: str, where: str) -> int:
    """Return a time such as "24h" in seconds. name, where: for the sentence. Raises DataError."""
    if isinstance(text, str) and text[:-1].isascii() and text[:-1].isdigit() and text[-1] in 'mhd' and int(text[:-1]):
        return int(text[:-1]) * int(LETTERS[text[-1]])
    raise DataError(f'{where}: "{name}" of growth is {clean(str(text))}; write a time such as 10m, 24h or 7d')


def _number(text: object, name: str, where: str) -> float:
    try:
        number = float(str(text))
        if 0 <= number < float('inf'):
            return number
    except ValueError:
        pass
    raise DataError(f'{where}: "{name}" of growth is {clean(str(text))}; write the number above which growth is bad, '
                    f'such as "0"')


def growth(history: History, rules: Sequence[Rule], now: int, falls: bool = False) -> Optional[Growth]:
    """Return the worst growth that is told now, the newest of equals; None where none is.

    history: with the reading of this check in it (see series.with_reading). falls: less is worse, as of spare blocks.
    """
    if len(history.points) < 2:
        return None  # nearly all series of nearly all drives
    told = [each for rule in rules for each in _told(rises(_recent(history, rule, now), falls, rule.stands), rule, now)]
    return max(told, key=_weight, default=None)


def lately(history: History, within: int, now: int, falls: bool = False) -> Optional[Growth]:
    """Return all that a series has grown by in the last *within* seconds, whatever that means; None where nothing.

    It is said of no more time than history has of it.
    """
    found = [rise for rise in rises(history, falls) if now - rise.noticed < within]
    if not found:
        return None
    rule = Rule(min(within, now - history.points[0].time), within)
    return Growth(State.OK, sum(rise.size for rise in found), found[0].before, found[-1].after, found[-1].since,
                  found[-1].noticed, rule)


def _recent(history: History, rule: Rule, now: int) -> History:
    """Return the part of a history that a rule can still tell of: a counter that never rests has a thousand points."""
    start = now - rule.held - rule.within - rule.stands
    older = next((place for place, point in enumerate(reversed(history.points)) if point.time <= start),
                 len(history.points))
    return history._replace(points=history.points[-older - 1:])


def rises(history: History, falls: bool, stands: int = 0) -> List[Rise]:
    """Return all rises of a series that have stood for *stands* seconds, oldest first."""
    found = []
    for place, (before, point) in enumerate(zip(history.points, history.points[1:]), 1):
        is_worse = point.number < before.number if falls else point.number > before.number
        if is_worse and (not stands or _stood(history, place, falls) >= stands):
            found.append(Rise(point.time + stands, point.time - point.gap, before.number, point.number))
    return found


def _stood(history: History, place: int, falls: bool) -> int:
    """Return for how many seconds the number has been seen where the point at *place* put it, or worse."""
    start = history.points[place]
    for later in history.points[place + 1:]:
        if later.number > start.number if falls else later.number < start.number:
            return later.time - later.gap - start.time
    return history.last_read - start.time


def quiet(history: History, now: int, falls: bool = False) -> Tuple[int, bool]:
    """Return for how many seconds a series has not grown, and whether history holds its last growth (else longer)."""
    found = rises(history, falls)
    if found:
        return now - found[-1].noticed, True
    return (now - history.points[0].time if history.points else 0), False


def _told(found: Sequence[Rise], rule: Rule, now: int) -> Iterator[Growth]:
    """Yield the growth at each rise that is told still, with what rose within the rule's time before it."""
    first = 0
    for place, last in enumerate(found):
        while found[first].noticed <= last.noticed - rule.within:
            first += 1
        if now < last.noticed + rule.held:
            added = found[first:place + 1]
            size = sum(rise.size for rise in added)
            state = _state(size, rule)
            if state is not State.OK:
                yield Growth(state, size, added[0].before, last.after, min(rise.since for rise in added), last.noticed,
                             rule)


def _state(size: float, rule: Rule) -> State:
    if rule.critical is not None and size > rule.critical:
        return State.CRITICAL
    return State.WARNING if rule.warning is not None and size > rule.warning else State.OK


def _weight(told: Growth) -> Tuple[int, int, float]:
    return told.state.urgency, told.noticed, told.size


# --- in words --------------------------------------------------------------------------

def sentence(metric: str, unit: str, told: Growth, now: int) -> str:
    """Return "crc_errors grew by 14 in 24 h (212 to 226): check cable and backplane"."""
    is_reset = abs(told.after - told.before) != told.size
    verb = 'grew' if is_reset or told.after > told.before else 'fell'
    span = max(told.noticed - told.since, told.rule.within)
    ago = f', {duration(now - told.noticed)} ago' if now - told.noticed >= _TOLD_AGO else ''
    numbers = f'{amount(told.before, unit)} to {amount(told.after, unit)}' + (', reset in between' if is_reset else '')
    advice = f': {told.rule.advice}' if told.rule.advice else ''
    return f'{metric} {verb} by {amount(told.size, unit)} in {duration(span)} ({numbers}){ago}{advice}'


def duration(seconds: int) -> str:
    """Return a time as a person says it: "10 min", "24 h", "7 d"."""
    if seconds < 2 * HOUR:
        return f'{max(round(seconds / MINUTE), 1)} min'
    return f'{round(seconds / HOUR)} h' if seconds <= 2 * DAY else f'{round(seconds / DAY)} d'
