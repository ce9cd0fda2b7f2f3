"""Forecasts as dates: when something is used up, and by when a replacement must be ordered. Pure."""
from __future__ import annotations

import time
from typing import Iterable, Optional

from ..constants import DAY, YEAR
from ..model import Forecast

FAR = 10 * YEAR           # a date beyond is no plan
LEAD_TIME = 90 * DAY      # to order a drive, to receive and to install it


def day(when: float, form: str = '%Y-%m-%d') -> str:
    """Return a date; seconds since 1970."""
    return time.strftime(form, time.gmtime(when))


def order_by(left: Iterable[float], now: float) -> Optional[float]:
    """Return by when a replacement must be ordered, in seconds since 1970; *now* if that is past.

    None without forecast, and where that is beyond FAR. left: for each forecast of the drive, seconds until it is used
    up; the first of them counts, minus LEAD_TIME.
    """
    first = min(left, default=None)
    return None if first is None or first > FAR else now + max(first - LEAD_TIME, 0)


def date(forecast: Forecast, now: float) -> str:
    """Return the month of a forecast: "2027-03", "~2027-03" where it is an estimate."""
    if forecast.left <= 0:
        return 'used up'
    if forecast.left > FAR:
        return '>10 y'
    return ('~' if forecast.is_estimate else '') + day(now + forecast.left, '%Y-%m')


def lasting(metric: str, forecast: Forecast, now: float) -> str:
    """Return "endurance_used: used up about 2029-03-01 (between 2027-10-20 and 2032-05-02)"."""
    if forecast.left <= 0:
        return f'{metric}: used up'
    about, why = ('about ', '; an estimate from use and age alone') if forecast.is_estimate else ('', '')
    left, earliest, latest = (day(now + seconds) for seconds in (forecast.left, forecast.earliest, forecast.latest))
    return f'{metric}: used up {about}{left} (between {earliest} and {latest}{why})'
