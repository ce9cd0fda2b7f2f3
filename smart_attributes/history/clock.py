"""Whether the machine's clock agrees with what history holds. Pure.

A clock that is a little behind (set back by a minute, by an hour) only means that nothing is written until it has
caught up. One that is days behind is wrong now, or was wrong before: an empty battery of the board at start-up, or a
year too much for an hour. Nobody can know which at once. A clock that stays there for a day is taken for right.
"""

from ..constants import DAY

SLACK = DAY
EARLIEST = 1_767_225_600  # 1 January 2026: this program is not older
LATEST = 2 ** 36          # the year 4147: a larger number is not a time

RIGHT = ''


def moment(value: object) -> int:
    """Return a time as the database holds it, in seconds since 1970. Raises ValueError for anything else."""
    seconds = int(str(value))
    if not 0 <= seconds <= LATEST:
        raise ValueError
    return seconds


def doubt(now: int, latest: int, behind_since: int) -> str:
    """Return why the clock is doubted, '' where it is not. All in seconds since 1970.

    latest: the latest time that history holds. behind_since: since when a clock far behind it has been seen; 0: never.
    """
    if now >= latest - SLACK or is_settled(now, latest, behind_since):
        return RIGHT
    return (f'the clock stands {(latest - now) // DAY} days before what history holds; set it right, or what is stored '
            'is dated anew after a day')


def is_settled(now: int, latest: int, behind_since: int) -> bool:
    """Return whether a clock far behind has gone on for a day, so that the times in history must have been wrong.

    A clock that was before the first day of this program gives no time from which that day could be counted.
    """
    return now < latest - SLACK and EARLIEST <= behind_since <= now - DAY
