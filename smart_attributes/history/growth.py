"""Calculate how much a number has grown, over what time, and whether this growth still causes an
alert. Pure.

No alert is stored. A rise is stored as a point: when the new number was first seen, and how long
before then the old number was last seen. The rise is reported for a week after it was first seen.
So neither a later check nor a manual run ends an alert. The alert period of a rise between two
checks starts when the rise is detected. A number that falls (a counter that wraps or is reset) has
not grown. A level goes up and down, so its changes are not added up as they are for a counter.
Instead, the two ends of a period are compared. Each end is the median of three readings, so that a
single wrong reading has no effect. If the level has also changed by as much in the good direction,
it only fluctuates.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

from ..constants import DAY, HOUR
from ..errors import Coded
from ..model import GrowthRule, Reading, State
from ..typed import NamedTuple
from ..wording import amount, duration, plain
from .series import History, Point

WORN = 100.0  # per cent
_ABOVE_NOISE = 1.2  # factor by which a change of a level must exceed its noise
# minimum number of values to judge a level that changes at nearly every reading
_FEWEST = 10
# counters of errors; sectors can become good again
ONLY_RESET = ('media_errors', 'reported_uncorrect')


class Rise(NamedTuple):
    """A number that was higher than before."""

    noticed: int  # seconds since 1970
    since: int  # when the previous number was last seen
    before: float
    after: float

    @property
    def size(self) -> float:
        """The difference between the two numbers."""
        return self.after - self.before


class _LevelReading(NamedTuple):
    """A number of a level."""

    time: int  # when it was first read, seconds since 1970
    number: float
    is_again: bool  # it was read more than once in a row


class Growth(NamedTuple):
    """The growth of a series, either because it causes an alert now or because a command has
    requested it.
    """

    state: State
    size: float
    before: float
    after: float
    since: int
    noticed: int
    rule: GrowthRule
    is_level: bool = False  # the two ends of the period are compared

    @property
    def span(self) -> str:
        """The time in which it grew, in words: "24 h"."""
        return duration(self.noticed - self.since)


class GrowthAlert(NamedTuple):
    """Growth of a reading beyond a limit."""

    state: State
    # "crc_errors grew by 14 in 10 min (212 to 226): check cable and backplane"
    words: str
    change: str  # "grew by 14 in 10 min"
    # "above 0 in 24 h", with the limit of the increase as a Nagios range in base units
    against: Coded
    size: float  # size of the growth, base unit
    ago: int  # seconds since the growth was noticed
    left: int  # seconds until the growth is no alert any more


def alert(
    history: History,
    reading: Reading,
    rules: Iterable[GrowthRule],
    now: int,
    falls: bool,
    age: float | None,
) -> GrowthAlert | None:
    """Return the worst growth of a reading that causes an alert now, or None.

    history: includes the reading of this check (see series.with_reading). now: seconds since 1970.
    falls: lower is worse, as with spare blocks. age: the drive's power-on time in seconds, for
    rules about fast wear.
    """
    # a rule whose factor *times* is 0 applies at any speed
    applying = [
        rule for rule in rules if not rule.times or is_hasty(history, rule, now, age)
    ]
    # Spare blocks, capacitors and temperatures are levels, which go up and down; all other metrics
    # are counters.
    grown = worst(
        history, applying, now, is_level=falls or reading.unit == 'C', falls=falls
    )
    if grown is None:
        return None
    limit = grown.rule.critical if grown.state is State.CRITICAL else grown.rule.warning
    period = duration(grown.rule.within)
    threshold = f'above {amount(limit, reading.unit)}'
    # The limit of a level that changed must not read like one of the level itself.
    is_brief = grown.span == period and not grown.is_level
    return GrowthAlert(
        state=grown.state,
        words=sentence(reading.metric, reading.unit, grown, now),
        change=_change(grown, reading.unit),
        against=Coded(
            'growth',
            f'{threshold} in {period}',
            brief=threshold if is_brief else '',
            limit=None if limit is None else plain(limit),
        ),
        size=grown.size,
        ago=now - grown.noticed,
        left=grown.noticed + grown.rule.held - now,
    )


def worst(
    history: History, rules: Iterable[GrowthRule], now: int, is_level: bool, falls: bool
) -> Growth | None:
    """Return the worst growth that causes an alert now; None without an alert. Of equally bad ones,
    return the newest growth of a counter, or the largest change of a level.

    history: includes the reading of this check (see series.with_reading). now: seconds since 1970.
    falls: a lower level is worse.
    """
    alerts = []
    for rule in rules:
        if is_level:
            alerts.append(_level_change(history, rule, now, falls))
        else:
            alerts.append(_newest(rises(history, rule.stands), rule, now))

    def rank(grown: Growth) -> tuple[int, int, float]:
        noticed = 0 if is_level else grown.noticed
        return grown.state.urgency, noticed, grown.size

    return max(filter(None, alerts), key=rank, default=None)


def rises(history: History, stands: int = 0) -> list[Rise]:
    """Return all rises of a series, oldest first.

    stands: if above 0, only rises that have lasted for this number of seconds are returned, and
    each counts as noticed at the end of this time.

    A rise begins at the previous number, or at the number before a short fall (see _base()). With
    readings an hour apart:

    5, 6       one rise, from 5 to 6
    5, 0, 6    one rise, from 5 to 6, because the counter has come back to 5
    5, 0, 3    one rise, from 0 to 3, because it has not
    5, 0, 5    no rise
    """
    result = []
    points = history.points
    for index in range(1, len(points)):
        point = points[index]
        base = _base(points, index)
        if point.number <= base:
            continue
        if stands and _lasted(history, index) < stands:
            continue
        result.append(
            Rise(
                noticed=point.time + stands,
                since=point.time - point.gap,
                before=base,
                after=point.number,
            )
        )
    return result


def _base(points: Sequence[Point], index: int) -> float:
    """Return the number with which to compare the point with this index, which is at least 1.

    Usually, this is the previous number. But a dip of less than a day is skipped if the counter is
    then at least as high as before:

    5 on Monday, 0 at 10:00 on Tuesday, 6 at 11:00 on Tuesday    for the 6, it is 5
    5 on Monday, 0 at 10:00 on Tuesday, 6 at 11:00 on Wednesday  for the 6, it is 0
    5 on Monday, 0 at 10:00 on Tuesday, 4 at 11:00 on Tuesday    for the 4, it is 0
    """
    point = points[index]
    previous = points[index - 1]
    if index > 1 and point.time - previous.time < DAY:
        before_fall = points[index - 2].number
        if previous.number < before_fall <= point.number:
            return before_fall
    return previous.number


def quiet(history: History, now: int, metric: str) -> tuple[int, bool]:
    """Return how long, in seconds, a series has not grown, and whether the history includes the
    last growth.

    If the history does not include the last growth, the first number is the time since the oldest
    point; the actual time is longer. metric: if its counter falls only by a reset, a number above 0
    after a fall is growth after this reset.
    """
    times = [rise.noticed for rise in rises(history)]
    for before, point in zip(history.points, history.points[1:]):
        if metric in ONLY_RESET and 0 < point.number < before.number:
            times.append(point.time)
    if times:
        return max(now - max(times), 0), True
    return max(now - history.points[0].time, 0), False


def _lasted(history: History, index: int) -> int:
    """Return how long, in seconds, the number stayed at least as high as at the point with this
    index.
    """
    start = history.points[index]
    for later in history.points[index + 1 :]:
        if later.number < start.number:
            # The previous number, which was still as high, was last seen this gap before *later*.
            previous_last_seen = later.time - later.gap
            return previous_last_seen - start.time
    return history.last_read - start.time


def _newest(all_rises: Sequence[Rise], rule: GrowthRule, now: int) -> Growth | None:
    """Return the newest growth that causes an alert now, preferably CRITICAL growth; None without
    an alert.

    The growth at a rise is the sum of this rise and all earlier ones within the rule's period. It is
    summed up in one pass, because a counter can have 1,000 rises.
    """
    newest = None
    first = 0  # index of the oldest rise in the period that ends with *rise*
    total = 0.0  # of the rises in this period
    for rise in all_rises:
        total += rise.size
        while all_rises[first].noticed <= rise.noticed - rule.within:
            total -= all_rises[first].size
            first += 1
        size = round(total, 6)  # without rounding errors
        state = state_of(rule, size)
        is_over = now >= rise.noticed + rule.held
        is_less = newest is not None and state.urgency < newest.state.urgency
        if state is State.OK or is_over or is_less:
            continue
        oldest = all_rises[first]
        newest = Growth(
            state=state,
            size=size,
            before=oldest.before,
            after=rise.after,
            since=oldest.since,
            noticed=rise.noticed,
            rule=rule,
        )
    return newest


def state_of(rule: GrowthRule, size: float) -> State:
    """Return the state that a rule gives to growth of this size."""
    if rule.critical is not None and size > rule.critical:
        return State.CRITICAL
    if rule.warning is not None and size > rule.warning:
        return State.WARNING
    return State.OK


# --- levels: spare blocks, capacitors, temperature ----------------------------------------


def _level_change(
    history: History, rule: GrowthRule, now: int, falls: bool
) -> Growth | None:
    """Return the largest change of a level that causes an alert; None if there is none, or if too
    few readings are known.

    For each period that _periods() yields, the level before it is compared with the level at its
    end, and with the level now. The smaller change for the worse is compared with the limits of the
    rule. If it exceeds one, the change until now is reported, unless it is only noise. For a
    temperature with a limit of 10 and without noise:

    before   at the end   now   result
    30       45           42    a rise by 12
    30       45           35    none, because most of the rise has passed
    30       35           45    none, because most of the rise came after this period

    falls: True if lower levels are worse, False if higher levels are.
    """
    sign = -1 if falls else 1
    read = list(_readings(history))
    steady = list(_medians(read))
    # twice the time in which changes are searched, to see how much the level fluctuates
    start_of_noise = now - 2 * (rule.within + rule.held)
    recent = [reading for reading in read if reading.time > start_of_noise]
    noise = _noise(recent, sign)
    if not steady or noise is None:
        return None
    _, level_now = steady[-1]
    changes = []
    for (since, level_before), (noticed, level_at_end) in _periods(steady, rule, now):
        # Both sizes are above 0 if the level has become worse.
        size_at_end = sign * (level_at_end - level_before)
        size_until_now = sign * (level_now - level_before)
        state = state_of(rule, min(size_at_end, size_until_now))
        if state is State.OK or size_until_now <= _ABOVE_NOISE * noise:
            continue
        changes.append(
            Growth(
                state=state,
                size=size_until_now,
                before=level_before,
                after=level_now,
                since=since,
                noticed=noticed,
                rule=rule,
                is_level=True,
            )
        )
    return max(
        changes,
        key=lambda change: (change.state.urgency, change.size, change.noticed),
        default=None,
    )


def _readings(history: History) -> Iterator[_LevelReading]:
    """Yield each number of a series, oldest first."""
    # The newest point has no later one: it was last seen when the series was last read.
    for point, later in zip_longest(history.points, history.points[1:]):
        last_seen = later.time - later.gap if later else history.last_read
        yield _LevelReading(point.time, point.number, is_again=last_seen > point.time)


def _medians(read: Iterable[_LevelReading]) -> Iterator[tuple[int, float]]:
    """Yield the time of each number and the median of the newest three readings at that time; skip
    the numbers until there are three readings.

    A number that was read again counts as two equal readings. It is the median itself, whatever the
    third reading is, and even without a third one.
    """
    newest = []  # at most three numbers
    for time, number, is_again in read:
        if is_again:
            newest = [number, number]
            yield time, number
            continue
        newest = [*newest[-2:], number]
        if len(newest) == 3:
            _, median, _ = sorted(newest)
            yield time, median


def _noise(read: Sequence[_LevelReading], sign: int) -> float | None:
    """Return by how much a level has improved at most since its worst number: 4 for the temperatures
    30, 35, 31; 0 if it has never improved. sign: 1 if higher levels are worse, else -1.

    None if there are fewer than _FEWEST readings, and the level fluctuates: it has improved, or
    less than half of its numbers were read twice in a row. 0 without readings.
    """
    noise = 0.0
    worst_so_far = float('-inf')
    for reading in read:
        worst_so_far = max(worst_so_far, sign * reading.number)
        noise = max(noise, worst_so_far - sign * reading.number)
    if len(read) >= _FEWEST:
        return noise
    has_improved = noise > 0
    is_seldom_repeated = sum(reading.is_again for reading in read) < len(read) / 2
    return None if has_improved or is_seldom_repeated else noise


def _periods(
    steady: Sequence[tuple[int, float]], rule: GrowthRule, now: int
) -> Iterator[tuple[tuple[int, float], tuple[int, float]]]:
    """Yield the begin and the end of each period in which a rule looks for a change, each as a time
    and a number. A period ends at a change in the last rule.held seconds, or now. It begins with the
    number that was valid rule.within seconds before its end, or with the oldest number.

    steady: the time of each change and the number since then, oldest first, as _medians() yields
    them; at least one.
    """
    ends = [(time, number) for time, number in steady if time > now - rule.held]
    ends.append((now, steady[-1][1]))
    times = [time for time, _ in steady]
    for end, number in ends:
        begin = max(bisect_right(times, end - rule.within) - 1, 0)
        yield steady[begin], (end, number)


def is_hasty(history: History, rule: GrowthRule, now: int, age: float | None) -> bool:
    """Return whether wear is over rule.times times its average speed and the drive will wear out
    within rule.gone seconds. The speed is the difference between the newest number and the last one
    before the rule's period, divided by this period.

    False if the history begins within the period, if the age is 0 or unknown (None), or if the
    counter has not risen. history: the series of endurance_used. age: power-on time in seconds.
    """
    start = now - rule.within
    before = [point.number for point in history.points if point.time <= start]
    if not (before and age):
        return False
    used = history.points[-1].number
    grown = used - before[-1]
    speed = grown / rule.within  # per cent per second; the average is used / age
    if grown <= 0 or speed <= rule.times * used / age:
        return False
    # The endurance that is left, divided by the speed. It is multiplied first, because dividing by
    # *speed* would round once more.
    seconds_left = max(WORN - used, 0) * rule.within / grown
    return seconds_left < rule.gone


def sentence(metric: str, unit: str, grown: Growth, now: int) -> str:
    """Return a sentence: "crc_errors grew by 14 in 10 min (212 to 226): check cable and backplane".

    For a level: "capacitor_health fell from 160 % to 135 % in 90 d". The time is that from the last
    reading before the growth to the first after it, not the period of the rule.
    """
    words = f'{metric} {_change(grown, unit)}'
    if not grown.is_level:
        words += f' ({_ends(grown, unit)})'
    ago = now - grown.noticed
    if ago >= HOUR:
        words += f', {duration(ago)} ago'
    if grown.rule.advice:
        words += f': {grown.rule.advice}'
    return words


def _change(grown: Growth, unit: str) -> str:
    """Return "grew by 14 in 10 min"; for a level "fell from 160 % to 135 % in 90 d"."""
    if not grown.is_level:
        return f'grew by {amount(grown.size, unit)} in {grown.span}'
    verb = 'rose' if grown.after > grown.before else 'fell'
    return f'{verb} from {_ends(grown, unit)} in {grown.span}'


def _ends(grown: Growth, unit: str) -> str:
    """Return "212 to 226": the numbers at the two ends of the period. For a counter that was reset
    in the period, return "212 to 226, reset in between".
    """
    ends = f'{amount(grown.before, unit)} to {amount(grown.after, unit)}'
    # The size of a counter's growth is the sum of its rises. After a reset, this is more than the
    # difference between the two ends.
    difference = round(grown.after - grown.before, 6)  # rounded as the size is
    if not grown.is_level and difference != grown.size:
        return f'{ends}, reset in between'
    return ends
