"""Calculate by how much a level has got worse: spare blocks, capacitors, temperature. Pure.

A level goes up and down, so its changes must not be added up as those of a counter are. The ends of a period are
compared, each the median of three readings: one wrong reading changes nothing. A level that has got better by as much
only wobbles.
"""
from __future__ import annotations

from itertools import zip_longest

from ..model import State
from ..typed import TYPE_CHECKING
from .growth import Growth, GrowthRule, state_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from .series import History

_BEYOND = 1.2   # how much larger than its noise a change must be
_OF = 3         # readings of which the median is taken
_ENOUGH = 10    # numbers of a level that changes at nearly every reading, before which nothing is known about it


def worst(history: History, rules: Sequence[GrowthRule], now: int, falls: bool) -> Growth | None:
    """Return the worst change of a level that is an alert now, or None. falls: lower is worse; else higher is."""
    found = [change for change in (_change(history, rule, now, falls) for rule in rules) if change]
    return max(found, key=lambda each: (each.state.urgency, each.size), default=None)


def lately(history: History, within: int, now: int, falls: bool) -> Growth | None:
    """Return by how much a level has got worse in the last *within* seconds; None if it has not."""
    change = _change(history, GrowthRule(min(within, now - history.points[0].time), 0, warning=0), now, falls)
    return change._replace(state=State.OK) if change else None


def _change(history: History, rule: GrowthRule, now: int, falls: bool) -> Growth | None:
    """Return the largest change within the period of a rule that is at most rule.held old and still lasts."""
    sign = -1 if falls else 1
    read = list(_readings(history))
    steady = [(time, sorted(numbers)[len(numbers) // 2]) for time, numbers in _newest(read)]
    noise = _noise([reading for reading in read if reading[0] > now - 2 * (rule.within + rule.held)], sign)
    if not steady or noise is None:
        return None
    last, changes = steady[-1][1], []
    for start, end in _periods(steady, rule, now):
        size = sign * (last - start[1])
        state = state_of(rule, min(size, sign * (end[1] - start[1])))
        if size > _BEYOND * noise and state is not State.OK:
            changes.append(Growth(state, size, start[1], last, start[0], end[0], rule, is_level=True))
    return max(changes, key=lambda each: (each.state.urgency, each.size, each.noticed), default=None)


def _readings(history: History) -> Iterator[tuple[int, float, bool]]:
    """Yield when each number was first read, the number, and whether it was read again."""
    for point, later in zip_longest(history.points, history.points[1:]):
        yield point.time, point.number, (later.time - later.gap if later else history.last_read) > point.time


def _newest(read: Iterable[tuple[int, float, bool]]) -> Iterator[tuple[int, Sequence[float]]]:
    """Yield the newest three readings at each change, from the third reading on."""
    numbers: list[float] = []
    for time, number, is_again in read:
        numbers = [*numbers, *[number] * (1 + is_again)][-_OF:]
        if len(numbers) == _OF or is_again:
            yield time, numbers


def _noise(read: Sequence[tuple[int, float, bool]], sign: int) -> float | None:
    """Return the largest amount by which a level has got better; None if too little is known of one that wobbles."""
    noise, worst = 0.0, float('-inf')
    for _, number, _ in read:
        worst = max(worst, sign * number)
        noise = max(noise, worst - sign * number)
    is_restless = noise > 0 or 2 * sum(is_again for _, _, is_again in read) < len(read)
    return None if is_restless and len(read) < _ENOUGH else noise


def _periods(steady: Sequence[tuple[int, float]], rule: GrowthRule,
             now: int) -> Iterator[tuple[tuple[int, float], tuple[int, float]]]:
    """Yield the ends of each period of a rule that ends at a change at most rule.held ago, and of the one until now."""
    first = 0
    for end, number in [*((time, number) for time, number in steady if time > now - rule.held), (now, steady[-1][1])]:
        while first + 1 < len(steady) and steady[first + 1][0] <= end - rule.within:
            first += 1
        yield steady[first], (end, number)
