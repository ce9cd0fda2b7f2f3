"""The date that smartctl prints in a report. Pure."""

from ..constants import DAY

# "Tue May  5 09:30:24 2020 CEST": asctime(), which no locale changes, then the time zone
_DATE = r'[A-Z][a-z]{2} [A-Z][a-z]{2} {1,2}\d{1,2} \d\d:\d\d:\d\d [12]\d{3}(?!\d)'
# 10 October 2002, the date of the first release of smartmontools: an earlier date is that of a clock
# that was not set.
_EARLIEST = 1_034_208_000


def of_text(text: str) -> int:
    """Return the date in the line "Local Time is", in seconds since 1970; 0 if there is none.

    The time zone is not read, because its abbreviations are not unique, so the time may be wrong by
    14 hours. The dates that depend on it are days.
    """
    import calendar  # only recorded texts need them
    import re
    import time

    date = re.match(_DATE, text)
    if not date:
        return 0
    try:
        return calendar.timegm(time.strptime(date[0], '%a %b %d %H:%M:%S %Y'))
    except ValueError:  # no day of this month
        return 0


def possible(date: float, now: float) -> float:
    """Return the date of a report, or 0 if the clock of its machine was wrong: the date is in the
    future, or from before there was smartctl.
    """
    return date if _EARLIEST <= date <= now + DAY else 0
