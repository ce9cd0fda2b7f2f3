"""Hysteresis: a number that was beyond a limit counts until it has been below by a margin for an hour. Pure.

Limits are not known here, and need not be: earlier readings are reduced to one number, the highest limit that is still
exceeded. That number and the readings of the last hour are all that the history has to hold.
"""
from __future__ import annotations

from ..constants import HOUR
from ..typed import TYPE_CHECKING
from .series import latest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .series import History

SPAN = HOUR
# Metric -> margin, in its base unit. Temperature is the only number that goes to and fro around its limits.
MARGINS: Mapping[str, float] = {'temperature': 3}
MOST = 200    # no drive has had a higher level: somebody has changed the history


def level(margin: float, number: float, before: float, recent: History, now: int) -> float:
    """Return the number that limits are to be compared with: that of this check, or a higher one of earlier checks.

    margin: how far below the number must be, in its unit. before: the result of this function at the check before.
    recent: the readings, with that of this check.
    """
    hour = latest(recent, now, SPAN)
    released = max(point.number for point in hour) + margin if hour else before
    return max(number, min(before, released)) if before <= MOST else number
