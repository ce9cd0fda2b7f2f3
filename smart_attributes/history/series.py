"""Series: the points that are kept of one number of one drive, and how often. Pure.

A series is a drive, a metric and the reading's definition (attribute, grammar, unit, log). When an entry of the
database changes, or a unit, another series begins, and nothing has grown. History holds readings and no decision: each
point says when a number was first seen and how long before that the one before it was last seen, so that growth, and
for how long it is an alert, follow from the points alone, whichever check looked in between.
"""
from __future__ import annotations

from ..constants import DAY, MONTH
from ..typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

KEPT_DAILY = 400 * DAY   # older points are thinned to one a month
KEPT_WHOLE = 2 * DAY     # of a series that changes at every check, older points are thinned to one a day
MANY = 500               # points from which on a series counts as one that changes at every check

# How often a series gets a point.
CHANGE = 0    # whenever its number changes: counters that are judged, states
DAILY = 1     # the first number of each day: numbers that move all the time
HIGHEST = 2   # the highest number of each day
LATELY = 3    # whenever its number changes, for an hour: for hysteresis alone
# Numbers that move at every check; kept at each change, six metrics of 24 drives would take 144 MB a year and more.
PACES: Mapping[str, int] = {'temperature': HIGHEST, **dict.fromkeys((
    'power_on_time', 'power_cycles', 'start_stop', 'load_cycles', 'host_read', 'host_written', 'nand_written',
    'ecc_corrected', 'read_error_rate', 'seek_error_rate', 'spin_up_time', 'erase_count_avg', 'erase_count_max',
    'capacitor_test_age', 'capacitor_test_count', 'capacitor_test_result', 'non_medium_errors', 'thermal_throttle',
    'over_temperature_time', 'temperature_max', 'error_log_count'), DAILY)}


class Point(NamedTuple):
    """A number when it was first seen."""

    time: int          # seconds since 1970
    number: float      # in the metric's base unit
    gap: int = 0       # seconds since the number before it was last seen; 0 for the first of a series


class Key(NamedTuple):
    """Which series of a drive."""

    metric: str
    definition: str    # "attribute 5, raw, 512B": other words, another series


class History(NamedTuple):
    """The part of a series that history holds."""

    points: tuple[Point, ...] = ()   # oldest first
    last_read: int = 0               # when the newest number was last seen


class Observation(NamedTuple):
    """A number of this check, for history."""

    key: Key
    number: float
    pace: int


def pace(metric: str) -> int:
    """Return how often a series of this metric gets a point."""
    return PACES.get(metric, CHANGE)


def next_point(pace: int, history: History, number: float, now: int) -> Point | None:
    """Return the point that a number adds to its series, or replaces where the time is the same; None: nothing new."""
    if not history.points:
        return Point(now, number)
    last = history.points[-1]
    if pace in (CHANGE, LATELY):
        return Point(now, number, now - history.last_read) if number != last.number else None
    if now // DAY > last.time // DAY:
        return Point(now, number, now - history.last_read)
    return last._replace(number=number) if pace == HIGHEST and number > last.number else None


def with_reading(history: History, number: float, now: int) -> History:
    """Return a history with the number of this check in it."""
    point = next_point(CHANGE, history, number, now)
    return History((*history.points, point) if point else history.points, now)


def latest(history: History, now: int, span: int) -> list[Point]:
    """Return the points of the last *span* seconds, with the one that held when they began. [] if that is not known."""
    begins = [place for place, point in enumerate(history.points) if point.time <= now - span]
    return list(history.points[begins[-1]:]) if begins else []


def thinned(points: Sequence[Point], old: int, pace: int = CHANGE) -> list[Point]:
    """Return the points that stay: of those before *old* one of each month, of the others one of each day.

    It is the last one, which says what the number was from then on; of a series of highest numbers, the highest.
    """
    newest: dict[tuple[int, int], Point] = {}
    for point in points:
        span = MONTH if point.time < old else DAY
        before = newest.get((span, point.time // span))
        if pace != HIGHEST or before is None or point.number > before.number:
            newest[span, point.time // span] = point
    return list(newest.values())


def day_limit(count: int, now: int) -> int:
    """Return the time before which a series of so many points is thinned to one a day: 0 where it hardly moves."""
    return now - KEPT_WHOLE if count > MANY else 0
