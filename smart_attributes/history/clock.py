"""Whether the machine's clock can be believed, by what history holds. Pure.

A clock that stands a little behind (set by a minute, by an hour) only means that nothing is written until it has caught
up. One that stands days behind is wrong now, or was wrong before: an empty battery of the board at start-up, or a year
too much for an hour. Nobody can tell at once. What stays so for a day is right.
"""

from ..constants import DAY

SLACK = DAY
EARLIEST = 1_767_225_600  # 1 January 2026: this program is not older
LATEST = 2 ** 36          # the year 4147: a number beyond is no time

RIGHT = ''


def moment(value: object) -> int:
    """Return a time as the database holds it, in seconds since 1970. Raises ValueError for what is none."""
    found = int(str(value))
    if not 0 <= found <= LATEST:
        raise ValueError
    return found


def doubt(now: int, latest: int, behind_since: int) -> str:
    """Return why the clock cannot be believed, '' where it can. All in seconds since 1970.

    latest: the latest time that history holds. behind_since: since when a clock far behind it has been seen; 0: it has
    not.
    """
    if now >= latest - SLACK or is_settled(now, latest, behind_since):
        return RIGHT
    days = (latest - now) // DAY
    return (f'the clock stands {days} days before what history holds; set it right, or what is stored is dated anew '
            f'after a day')


def is_settled(now: int, latest: int, behind_since: int) -> bool:
    """Tell whether a clock far behind has gone on for a day, so that the times in history must have been wrong.

    What one said that stood before this program was written is no time from which a day could be counted.
    """
    return now < latest - SLACK and EARLIEST <= behind_since <= now - DAY
