"""How many members each level of redundancy can lose. Pure.

Sources: Linux, md.rst, drivers/md/raid10.c (layouts); btrfs.rst, mkfs.btrfs(8) (profiles); zpoolconcepts(7) (vdevs).
"""
from __future__ import annotations

from ..typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..model import Group


class Stripe(NamedTuple):
    """Slots of which some may be lost at the same time."""

    slots: frozenset[int]
    tolerance: int


ALL_BUT_ONE = -1   # every member is a full copy
# Level -> members that it can lose, whichever they are. Copies of btrfs are on any two of its devices, unlike those of
# md raid10, so the profile "raid10" of btrfs can lose one.
TOLERANCE: Mapping[str, int] = {
    'single': 0, 'linear': 0, 'raid0': 0, 'dup': 0,
    'raid1': ALL_BUT_ONE, 'mirror': ALL_BUT_ONE, 'raid4': 1, 'raid5': 1, 'raid6': 2,
    'btrfs-raid1': 1, 'btrfs-raid10': 1, 'raid10-unknown-layout': 1, 'raid1c3': 2, 'raid1c4': 3,
    'btrfs-raid5': 1, 'btrfs-raid6': 2,
    'raidz1': 1, 'raidz2': 2, 'raidz3': 3, 'draid1': 1, 'draid2': 2, 'draid3': 3}
BY_SLOT = 'raid10'   # of md: the slot determines which members hold copies of each other


def stripes(group: Group) -> tuple[Stripe, ...] | None:
    """Return how many slots of a group may be lost, or None if that is not known."""
    if group.unknown or group.slots < 1:
        return None
    if group.level == BY_SLOT:
        return _raid10(group.slots, group.layout)
    tolerance = TOLERANCE.get(group.level)
    if tolerance is None:
        return None
    return (Stripe(frozenset(range(group.slots)), group.slots - 1 if tolerance == ALL_BUT_ONE else tolerance),)


def is_redundant(group: Group) -> bool:
    """Return whether a group can lose a member when all its members are in sync."""
    return all(stripe.tolerance > 0 for stripe in stripes(group) or [Stripe(frozenset(), 0)])


def _raid10(slots: int, layout: int) -> tuple[Stripe, ...] | None:
    """Return the slots that hold the same data, for each chunk of the first stripes.

    layout: bits 0 to 7 near copies, 8 to 15 far copies, 16 offset (copies in the next stripe instead of far away, on
    the same slots as far copies), 17 and 18 how far copies are grouped.
    """
    near, far, grouping = layout & 255, layout >> 8 & 255, layout >> 17
    size = {0: slots, 1: slots // (far or 1), 2: far * near}.get(grouping, 0)
    if not (1 < near * far <= slots and size > 0 and layout >> 19 == 0):
        return None
    found = {frozenset(_copies(chunk * near, slots, near, far, size)) for chunk in range(slots)}
    return tuple(Stripe(each, len(each) - 1) for each in sorted(found, key=sorted))


def _copies(first: int, slots: int, near: int, far: int, size: int) -> frozenset[int]:
    """Return the slots of a chunk's copies. size: slots of a set; the last set also takes the slots left over."""
    last = (slots // size - 1) * size
    found = set()
    for place in range(first, first + near):
        slot = place % slots
        found.add(slot)
        for _ in range(far - 1):
            start, after = slot // size * size, slot + near
            slot = ((after - last) % (size + slots % size) + last if slots % size and after > last
                    else start + after % size)
            found.add(slot)
    return frozenset(found)
