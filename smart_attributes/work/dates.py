"""Convert forecasts to dates: when a drive is worn out, and by when to order its replacement.

Pure.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

from ..constants import DAY, YEAR
from ..typed import TYPE_CHECKING

if TYPE_CHECKING:
    from ..model import Forecast

FAR = 10 * YEAR  # later dates are too uncertain to plan with
LEAD_TIME = 90 * DAY  # time to order, receive and install a drive


def day(when: float, form: str = '%Y-%m-%d') -> str:
    """Return a time as a date. when: seconds since 1970. form: a format of strftime."""
    return time.strftime(form, time.gmtime(when))


def is_day(text: str) -> bool:
    """Return whether a text from another host is a date in the format of day()."""
    try:
        time.strptime(text, '%Y-%m-%d')
    except ValueError:
        return False
    return len(text) == len('2027-03-04')  # strptime accepts 2027-3-4 as well


def order_by(left: Iterable[float], now: float) -> float | None:
    """Return the latest time to order a replacement, in seconds since 1970, or *now* if that time
    is past.

    Return None if the drive has no forecast, or if wear-out is later than FAR. left: for each
    forecast of the drive, the seconds until wear-out. The shortest time, minus LEAD_TIME, counts.
    """
    shortest = min(left, default=None)
    if shortest is None or shortest > FAR:
        return None
    return now + max(shortest - LEAD_TIME, 0)


def is_due(left: Iterable[float], now: float) -> bool:
    """Return whether a replacement must be ordered now. left, now: as in order_by()."""
    return order_by(left, now) == now


def date(left: float, now: float, mark: str = '') -> str:
    """Return the month in which a drive is worn out: "2027-03"; "used up" or ">10 y" if there is no
    such month. left: seconds until then. mark: precedes the month.
    """
    if left <= 0:
        return 'used up'
    if left > FAR:
        return '>10 y'
    return mark + day(now + left, '%Y-%m')


def lasting(metric: str, forecast: Forecast, now: float) -> str:
    """Return "endurance_used: expected to be used up about 2029-03-01 (between 2027-10-20 and 2032-05-02)"."""
    if forecast.left <= 0:
        return f'{metric}: used up'
    expected = day(now + forecast.left)
    range_ = f'between {day(now + forecast.earliest)} and {day(now + forecast.latest)}'
    if forecast.is_estimate:
        expected = f'about {expected}'
        range_ = f'{range_}; estimated only from use and age'
    return f'{metric}: expected to be used up {expected} ({range_})'
