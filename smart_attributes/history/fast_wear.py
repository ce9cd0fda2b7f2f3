"""Wear that is faster than a drive's own life so far. Pure."""
from __future__ import annotations

from ..typed import TYPE_CHECKING, NamedTuple
from .series import History

if TYPE_CHECKING:
    from typing import Optional

WORN = 100.0     # per cent


class Wear(NamedTuple):
    """How fast a drive wears."""

    points: float         # per cent within *seconds*
    seconds: int
    worn_in: int          # seconds until nothing is left at this speed

    @property
    def speed(self) -> float:
        """Per cent in a second."""
        return self.points / self.seconds


def wear(history: History, now: int, within: int) -> Optional[Wear]:
    """Return how fast endurance_used has risen in the last *within* seconds; None where history is too young or nothing
    rose.

    The speed is that between two steps: where the counter stands between them is unknown.
    """
    steps = [point for point in history.points[1:] if point.time > now - within]
    before = [point for point in history.points if point.time <= now - within]
    if not steps or not before or steps[-1].number <= before[-1].number:
        return None
    points, seconds = steps[-1].number - before[-1].number, within
    left = max(WORN - steps[-1].number, 0)
    return Wear(points, seconds, int(left * seconds / points))


def is_hasty(found: Wear, used: float, power_on_seconds: float, times: float, gone: int) -> bool:
    """Tell whether a drive wears so many times faster than in its life so far, and has worn out before *gone* seconds.

    used: per cent of its endurance, over power_on_seconds of life.
    """
    return power_on_seconds > 0 and found.speed > times * used / power_on_seconds and found.worn_in < gone
