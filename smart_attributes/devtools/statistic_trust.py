"""Decide how far a drive's own statistics confirm the meaning of its attributes. Pure.

The commands draft and validate share these rules, so that validate never requires a statistic that draft distrusts.
"""
from __future__ import annotations

from collections.abc import Mapping

# How far an attribute may be from the statistic: this much in the base unit, or this share of it. Measured on
# linuxhw/EnterpriseDrive, on drives that report both:
# B: 96.3 % of 30,532 amounts are within a tenth (95.9 % within 3 %; SandForce's lie at 9 %), 2.9 % have begun again.
# s: 99.4 % of 23,308 drives are within two hours, 99.7 % within a quarter (SanDisk's stop in sleep); two lie between a
#    fifth and 45 %, and the nearest wrong unit is half an hour, or half a minute for a minute.
# C: 99.4 % of 26,744 drives are within 5, 99.9 % within 10 (Intel's of Dell measure at two places); 100 minus the
#    temperature, the commonest wrong reading, would be so near on 2.7 %.
TOLERANCES: Mapping[str, tuple[float, float]] = {'%': (2, 0), 'B': (0, 0.1), 's': (2 * 3600, 0.25), 'C': (10, 0)}
# Sector counts of 32 bits restart at 0 after 2.2 TB: 168 of 318 amounts of Silicon Motion's controllers,
# 411 of 794 of Crucial's MX500 and its like. The remainder confirms a unit of 1 GiB or less.
WRAP = 2**32 * 512       # bytes
COARSEST = 2**30         # bytes
STATED_METRICS = ('power_on_time', 'temperature')  # and all percentages and amounts of data
ENDURANCE = 'endurance_used'
ENDURANCE_STATISTIC = (7, 0x008)  # page and offset of the device statistics log, %
WORN = range(1, 100)  # %: at 0 any formula fits, and at 100 a normalized value has stopped
# Full writes after which 0 % used is not credible: flash rated for 3,000 cycles has used more than three.
# Of 5,136 SSDs that report 0 %, 140 were written that often, and on most of these an attribute shows more.
FILLS = 100


def is_stated(metric: str, unit: str) -> bool:
    """Return whether a statistic of this metric can confirm the unit of an attribute."""
    return unit in ('%', 'B') or metric in STATED_METRICS


def is_near(number: float, stated: float, unit: str) -> bool:
    """Return whether a reading is close enough to the drive's own statistic. unit: base unit of both."""
    least, part = TOLERANCES.get(unit, (0, 0.1))
    return abs(number - stated) <= max(least, part * stated) or (unit == 'B' and is_rest(stated, number, COARSEST))


def is_rest(stated: float, number: float, precision: float) -> bool:
    """Return whether *stated* equals *number* after an overflow of a 32-bit sector count. All in bytes."""
    beyond = (stated - number) % WRAP
    return stated < WRAP <= number and min(beyond, WRAP - beyond) <= precision


def fills(written: float | None, capacity: float | None) -> int:
    """Return how many times a drive was completely written; 0 if unknown. Both arguments are in bytes."""
    return int(written / capacity) if written and capacity else 0


def is_doubtful(metric: str, number: float | None, filled: int) -> bool:
    """Return whether a statistic may be stuck at 0 %, because the drive was completely written so often."""
    return metric == ENDURANCE and number == 0 and filled >= FILLS
