"""Compare the machine's clock with the times in the history. Pure.

If the clock is slightly behind (set back by a minute or an hour), nothing is written until it has caught up. If it is
days behind, it is wrong now (an empty board battery at start-up) or was wrong before (a year ahead for an hour). These
cases cannot be distinguished at once, so a clock that stays far behind for a day is considered right. Meanwhile the
readings are stored as if no time passed, so that no growth is lost.
"""

from ..constants import DAY

SLACK = DAY
EARLIEST = 1_767_225_600  # 1 January 2026: this program did not exist before
LATEST = 2 ** 36          # the year 4147: a larger number is not a time

RIGHT = ''


def moment(value: object) -> int:
    """Return a time from the database in seconds since 1970. Raises ValueError if it is not a valid time."""
    seconds = int(str(value))
    if not 0 <= seconds <= LATEST:
        raise ValueError
    return seconds


def doubt(now: int, latest: int, behind_since: int) -> str:
    """Return why the clock is in doubt, for a message; '' if it is not. All times are in seconds since 1970.

    latest: the latest time in the history. behind_since: when a clock far behind that was first seen; 0: never.
    """
    if now >= latest - SLACK or is_settled(now, latest, behind_since):
        return RIGHT
    return (f'the clock is {(latest - now) // DAY} days behind the history; correct it, otherwise the stored readings '
            'get new dates after a day')


def is_settled(now: int, latest: int, behind_since: int) -> bool:
    """Return whether the clock has been far behind for a day, so the times in the history must have been wrong.

    A clock that showed a time before the first day of this program gives no start from which to count that day.
    """
    return now < latest - SLACK and EARLIEST <= behind_since <= now - DAY
