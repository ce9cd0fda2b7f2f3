"""What a drive's own statistics are worth as a witness for what its attributes mean. Pure.

What draft states and what prove demands follow from one rule, so that the one never asks for what the other doubts.
"""
from typing import Mapping, Optional, Tuple

# The roles that vendors count in units of their own, with how far their attribute may be from the statistic: at least
# so much in the base unit, and such a part. The drive goes on between its log and its attributes, and vendors round;
# some count no hours of sleep, and measure at two places.
TOLERANCES: Mapping[str, Tuple[float, float]] = {'%': (2, 0), 'B': (0, 0.1), 's': (2 * 3600, 0.25), 'C': (10, 0)}
STATED_ROLES = ('power_on_time', 'temperature')  # and whatever is a percentage or an amount of data
ENDURANCE = 'endurance_used'
# Fills of the whole drive after which 0 % used is not to be believed: flash of 3,000 cycles has used more than three.
# Of 5,136 SSDs that state 0 %, 140 were filled so often, and on most of these an attribute says more.
FILLS = 100


def is_stated(role: str, unit: str) -> bool:
    """Say whether a statistic of this role tells in which unit an attribute counts."""
    return unit in ('%', 'B') or role in STATED_ROLES


def is_near(number: float, stated: float, unit: str) -> bool:
    """Say whether a reading is what the drive itself states."""
    least, part = TOLERANCES.get(unit, (0, 0.1))
    return abs(number - stated) <= max(least, part * stated)


def fills(written: Optional[float], capacity: Optional[float]) -> int:
    """Return how many times over a drive was written, 0 where that is not known. Both in bytes."""
    return int(written / capacity) if written and capacity else 0


def is_doubtful(role: str, number: Optional[float], filled: int) -> bool:
    """Tell a figure that stands still from one that has nothing to count yet: 0 % of a drive that was filled
    so often.
    """
    return role == ENDURANCE and number == 0 and filled >= FILLS
