"""Series: the points that are stored for one number of one drive, and how often a point is stored.

Pure.

A series is identified by a drive, a metric and the reading's definition (attribute, formula, unit,
log). If a database entry or a unit changes, a new series begins; this does not count as growth. The
history stores readings, not decisions: each point states when a number was first seen and how long
before that the previous number was last seen. Growth, and how long it is an alert, are derived only
from the points.
"""

from __future__ import annotations

from ..constants import DAY
from ..typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

KEPT_DAILY = 400 * DAY  # points older than this are reduced to one per month
MANY = 320  # a series with more points is treated as changing at every check

# How often a series gets a point.
CHANGE = 0  # at each change of its number: judged counters, states
DAILY = 1  # the first number of each day: constantly changing numbers
HIGHEST = 2  # the highest number of each day
LATELY = 3  # at each change of its number, kept for a day: for hysteresis
# Numbers that change at every check. If each change were stored, six metrics of 24 drives would
# take at least 144 MB a year.
PACES: Mapping[str, int] = {
    'temperature': HIGHEST,
    **dict.fromkeys(
        (
            'power_on_time',
            'power_cycles',
            'start_stop',
            'load_cycles',
            'host_read',
            'host_written',
            'nand_written',
            'ecc_corrected',
            'read_error_rate',
            'seek_error_rate',
            'spin_up_time',
            'erase_count_avg',
            'erase_count_max',
            'capacitor_test_age',
            'capacitor_test_count',
            'capacitor_test_result',
            'non_medium_errors',
            'thermal_throttle',
            'over_temperature_time',
            'temperature_max',
            'error_log_count',
            'hidden_power_on_time',
        ),
        DAILY,
    ),
}


# --- hysteresis: a limit stays exceeded until the number is a margin below it for a day, or far ----
# A whole day is needed because drives are warmer at a certain time of each day. With an hour, a
# drive near its limit would change state twice a day. Only the peaks of a day, and the level that
# keeps limits exceeded, are stored.

# Metric -> margin, in its base unit. Temperature is the only number that fluctuates around its
# limits.
MARGINS: Mapping[str, float] = {'temperature': 3}
# so far below a limit, the limit is no longer exceeded at once: a short peak is over
AT_ONCE = 10


class Point(NamedTuple):
    """A number, and the time when it was first seen."""

    time: int  # seconds since 1970
    number: float  # in the metric's base unit
    # seconds before *time* at which the previous number was last seen: a number is valid from its
    # *time* to the time minus the gap of the next point; 0 for the first point
    gap: int = 0


class Key(NamedTuple):
    """The identity of a series within its drive."""

    metric: str
    # "attribute 5, raw, 512B"; a different text is a different series. For a metric that ends with
    # ", set back", this is Fall.firmware instead, see past.falls()
    definition: str


class History(NamedTuple):
    """The part of a series that is stored."""

    points: tuple[Point, ...] = ()  # oldest first
    last_read: int = 0  # when the newest number was last seen


class Observation(NamedTuple):
    """A number that this check has read, to store in the history."""

    key: Key
    number: float
    pace: int
    # seconds since the previous number was last seen, if the caller knows this better than the
    # series, which then gets it as Point.gap; 0: the series knows
    gap: int = 0


def extended(
    pace: int,
    history: History,
    number: float,
    now: int,
) -> tuple[Point, ...]:
    """Return the points of a series with the number that is read now: with one more point, with a
    higher newest one (HIGHEST), or unchanged. pace: CHANGE, DAILY, HIGHEST or LATELY.
    """
    points = history.points
    if not points:
        return (Point(now, number),)
    last = points[-1]
    is_new = now // DAY > last.time // DAY
    if pace in (CHANGE, LATELY):
        is_new = number != last.number
    if is_new:
        return (*points, Point(now, number, now - history.last_read))
    if pace == HIGHEST and number > last.number:
        return (*points[:-1], last._replace(number=number))
    return points


def with_reading(history: History, number: float, now: int) -> History:
    """Return a history that includes the number from this check.

    Usually, *now* is the time of a new point and of the last reading. If the clock is behind the
    history, a new point gets the time one second after the newest point, and the time of the last
    reading stays as it is.
    """
    time_of_point = now
    if history.points:
        time_of_point = max(now, history.points[-1].time + 1)
    points = extended(CHANGE, history, number=number, now=time_of_point)
    return History(points, last_read=max(now, history.last_read))


def latest(points: Sequence[Point], now: int) -> Sequence[Point]:
    """Return the points of the last day, and the point before them, whose number was valid when
    this day began; () if there is no such point.
    """
    older = [point for point in points if point.time <= now - DAY]
    return points[len(older) - 1 :] if older else ()


def peaks_of_day(points: tuple[Point, ...], now: int) -> tuple[Point, ...]:
    """Return the points that level() needs: the peaks of the last day, and the number before it if
    this was a peak, too.
    """
    return tuple(peaks(latest(points, now) or points))


def peaks(points: Sequence[Point]) -> list[Point]:
    """Return the points without each one that a later point equals or exceeds; the later point gets
    the earlier time.

    For any span that ends now, the highest number stays the same, but may begin a little earlier.
    """
    kept: list[Point] = []
    for point in points:
        begins = point.time
        while kept and kept[-1].number <= point.number:
            begins = kept.pop().time
        kept.append(point._replace(time=begins))
    return kept


def level(
    margin: float,
    number: float,
    before: float,
    recent: History,
    now: int,
) -> float:
    """Return the number to compare with limits: *number*, or a higher one, which keeps a limit
    exceeded until the number has been *margin* below it for a day, or is AT_ONCE below it.

    - *number*, if it is not below *before*
    - otherwise *before*, but at most AT_ONCE above *number*, and at most *margin* above the highest
      number of the last day

    number: the reading of this check. before: the result of this function at the previous check.
    recent: the readings of the last day, including that of this check; if they do not include a
    whole day, its highest number is not known, and the margin does not apply.

    With a margin of 3:

    number   before   last day   at most      result
    55       50       not known  65           55
    51       55       not known  61           55
    51       55       51 to 55   61 and 58    55
    51       55       51         61 and 54    54
    40       54       40 to 51   50 and 54    50
    """
    if number >= before:
        return number
    caps = [number + AT_ONCE]
    day = latest(recent.points, now)
    if day:
        highest_of_day = max(point.number for point in day)
        caps.append(highest_of_day + margin)
    return min(before, *caps)
