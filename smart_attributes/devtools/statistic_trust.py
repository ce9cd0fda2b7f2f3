"""What a drive's own statistics are worth as a witness for what its attributes mean. Pure.

What draft states and what validate demands follow from one rule, so that the one never asks for what the other doubts.
"""
from __future__ import annotations

from collections.abc import Mapping

# How far an attribute may be from the statistic: at least so much in the base unit, and such a part. Measured on
# linuxhw/EnterpriseDrive, on drives that say both:
# B: 96.3 % of 30,532 amounts are within a tenth (95.9 % within 3 %; SandForce's lie at 9 %), 2.9 % have begun again.
# s: 99.4 % of 23,308 drives are within two hours, 99.7 % within a quarter (SanDisk's stop in sleep); two lie between a
#    fifth and 45 %, and the nearest wrong unit is half an hour, or half a minute for a minute.
# C: 99.4 % of 26,744 drives are within 5, 99.9 % within 10 (Intel's of Dell measure at two places); 100 minus the
#    temperature, the commonest wrong reading, would be so near on 2.7 %.
TOLERANCES: Mapping[str, tuple[float, float]] = {'%': (2, 0), 'B': (0, 0.1), 's': (2 * 3600, 0.25), 'C': (10, 0)}
# Sectors that are stated in 32 bits begin again at 0 after 2.2 TB: 168 of 318 amounts of Silicon Motion's controllers,
# 411 of 794 of Crucial's MX500 and its like. What is left of them tells a count of 1 GiB and less.
WRAP = 2**32 * 512       # bytes
COARSEST = 2**30         # bytes
STATED_METRICS = ('power_on_time', 'temperature')  # and whatever is a percentage or an amount of data
ENDURANCE = 'endurance_used'
ENDURANCE_STATISTIC = (7, 0x008)  # page and offset of the device statistics log, %
WORN = range(1, 100)  # %: at 0 everything fits, and at 100 a normalized value has stopped
# Fills of the whole drive after which 0 % used is not to be believed: flash of 3,000 cycles has used more than three.
# Of 5,136 SSDs that state 0 %, 140 were filled so often, and on most of these an attribute says more.
FILLS = 100


def is_stated(metric: str, unit: str) -> bool:
    """Return whether a statistic of this metric shows in which unit an attribute counts."""
    return unit in ('%', 'B') or metric in STATED_METRICS


def is_near(number: float, stated: float, unit: str) -> bool:
    """Return whether a reading is what the drive itself states."""
    least, part = TOLERANCES.get(unit, (0, 0.1))
    return abs(number - stated) <= max(least, part * stated) or (unit == 'B' and is_rest(stated, number, COARSEST))


def is_rest(stated: float, number: float, precision: float) -> bool:
    """Return whether a stated amount is what 32 bits hold of the number of sectors. All in bytes."""
    beyond = (stated - number) % WRAP
    return stated < WRAP <= number and min(beyond, WRAP - beyond) <= precision


def fills(written: float | None, capacity: float | None) -> int:
    """Return how many times over a drive was written, 0 where that is not known. Both in bytes."""
    return int(written / capacity) if written and capacity else 0


def is_doubtful(metric: str, number: float | None, filled: int) -> bool:
    """Return whether a figure may be stuck rather than have nothing to count yet: 0 % of a drive filled so often."""
    return metric == ENDURANCE and number == 0 and filled >= FILLS
