"""Turn a known firmware defect into a reading with its own state. Pure: the date is passed in as a value."""
from __future__ import annotations

import time

from ..constants import HOUR
from ..knowledge.drive_database import Advisory
from ..model import Identity, Reading, Source, State
from ..typed import TYPE_CHECKING

if TYPE_CHECKING:
    pass

ADVISORY_HOURS = 1000  # power-on hours; a firmware defect due within this time is CRITICAL


def reading(advisory: Advisory, identity: Identity, hours: float | None, now: float) -> Reading:
    """Return a known firmware defect as a reading with its own state. hours: the drive's power-on hours."""
    is_near = advisory.hour is not None and hours is not None and hours > advisory.hour - ADVISORY_HOURS
    when = f' ({_countdown(advisory.hour, hours, now)})' if advisory.hour else ''
    fix = f', fixed in {advisory.fixed_in}' if advisory.fixed_in else ''
    words = f'firmware {identity.firmware}{fix}: {advisory.effect}{when}; {advisory.action}'
    return Reading('firmware_advisory', 0, '', Source(advisory.source), words,
                   State.CRITICAL if is_near else advisory.state, has_remedy=bool(advisory.fixed_in))


def _countdown(hour: int, hours: float | None, now: float) -> str:
    if hours is None:
        return f'at {hour} power-on hours'
    if hours >= hour:
        return f'at {hour} power-on hours, and the drive has {hours:.0f}'
    day = time.strftime('%Y-%m-%d', time.gmtime(now + (hour - hours) * HOUR))
    return f'at {hour} power-on hours, {hour - hours:.0f} hours from now, on {day} if it stays switched on'
