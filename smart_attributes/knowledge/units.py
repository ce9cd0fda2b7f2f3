"""Convert the units in which drives count to the base unit of a metric."""
from __future__ import annotations

import math

from ..model import Identity
from ..typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Disks with sectors of 4 KiB usually show each as eight of 512 B, and some count errors in sectors of 512 B.
LOGICAL_SECTORS = 'logical sectors'
COUNTED_IN_SECTORS = frozenset(('reallocated', 'pending', 'offline_uncorrectable'))  # metrics
MOST_IN_ONE = 8  # the largest ratio of any disk; a larger one would hide errors and is not used

# Unit of the source: (base unit, factor). For sectors: the factor if their size is unknown.
UNITS: Mapping[str, tuple[str, float]] = {
    '%': ('%', 1), 'C': ('C', 1), LOGICAL_SECTORS: ('', 1 / MOST_IN_ONE),
    's': ('s', 1), 'min': ('s', 60), 'h': ('s', 3600), 'ms': ('s', 1e-3), 'us': ('s', 1e-6), '30s': ('s', 30),
    'B': ('B', 1), '512B': ('B', 512), '4KiB': ('B', 4096), '8KiB': ('B', 8192), '16KiB': ('B', 16384),
    '1MiB': ('B', 2**20), '16MiB': ('B', 2**24), '32MiB': ('B', 2**25),
    '1GiB': ('B', 2**30), '16GiB': ('B', 2**34), '64GiB': ('B', 2**36), '1GB': ('B', 1e9), '64GB': ('B', 64e9)}


def fitting(metric: str, base: str) -> Sequence[str]:
    """Return the units in which a drive may count a metric that has this base unit."""
    return [name for name, (of_unit, _) in UNITS.items() if of_unit == base
            and (name != LOGICAL_SECTORS or metric in COUNTED_IN_SECTORS)]


def in_base_unit(count: float, unit: str, identity: Identity) -> float:
    """Return *count* of *unit* in the base unit; '' is the base unit itself."""
    if unit == LOGICAL_SECTORS:  # round up, so that no sector is lost
        return math.ceil(count / logical_in_physical(identity))
    return count * UNITS[unit][1] if unit else count


def counted_sectors(count: float, unit: str, identity: Identity) -> int | None:
    """Return the drive's own count if it is in smaller sectors than the limits, else None."""
    return int(count) if count and unit == LOGICAL_SECTORS and logical_in_physical(identity) > 1 else None


def logical_in_physical(identity: Identity) -> float:
    """Return the logical sectors in a physical one, such as 8 of 512 B in 4096 B; 1 if the drive does not report it."""
    physical = identity.physical_block_size or identity.sector_size
    return min(max(physical / identity.sector_size, 1), MOST_IN_ONE)
