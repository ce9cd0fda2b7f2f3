"""Hysteresis: a number beyond a limit keeps counting until it has been a margin below the limit for a day. Pure.

This module does not need the limits: it reduces earlier readings to one number, the level up to which limits still
count as exceeded. The history only has to store that number and the highest readings of the last day.
A day, because drives are warmer at some time of each day: after an hour, a drive near its limit would change its state
twice a day.
"""
from __future__ import annotations

from ..constants import DAY
from ..typed import TYPE_CHECKING
from .series import latest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .series import History

SPAN = DAY
# Metric -> margin, in its base unit. Temperature is the only number that fluctuates around its limits.
MARGINS: Mapping[str, float] = {'temperature': 3}
MOST = 200    # no drive has had a higher level; a higher one means that the history was tampered with


def level(margin: float, number: float, before: float, recent: History, now: int) -> float:
    """Return the number to compare with limits: that of this check, or a higher one from earlier checks.

    margin: how far below a limit the number must be, in its unit. before: the result of this function at the previous
    check. recent: the readings, including that of this check.
    """
    day = latest(recent, now, SPAN)
    released = max(point.number for point in day) + margin if day else before
    return max(number, min(before, released)) if before <= MOST else number
