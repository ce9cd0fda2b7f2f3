"""The groups of a machine with the drives of their members, and the order in which to replace these drives. Pure."""
from __future__ import annotations

from ..typed import TYPE_CHECKING, NamedTuple
from .replacement import order
from .survival import Stack

if TYPE_CHECKING:
    from typing import Optional, Sequence, Tuple

    from ..model import Group
    from .replacement import Drive, Step


class Membership(NamedTuple):
    """A group with the drives of its members."""

    group: Group
    tolerates: Optional[int]  # members that may fail beside those that are failing; None: unknown
    drives: Tuple[Tuple[str, ...], ...]  # for each member, the names of the drives below it


class Machine(NamedTuple):
    """All groups of a machine, and the order in which to replace its drives."""

    groups: Tuple[Membership, ...]  # those that tolerate the fewest further losses first
    steps: Tuple[Step, ...]


def machine(groups: Sequence[Group], drives: Sequence[Drive]) -> Machine:
    """Return a machine. drives: the most severe first."""
    stack = Stack(groups)
    failing = frozenset(disk for drive in drives if drive.is_failing for disk in drive.disks)
    names = {disk: drive.name for drive in drives for disk in drive.disks}
    found = [Membership(group, stack.tolerates(group, failing), tuple(
        tuple(sorted({names.get(disk, disk) for each in member.on for disk in stack.disks(each)}))
        for member in group.members)) for group in stack.groups.values()]
    return Machine(tuple(sorted(found, key=lambda each: (each.tolerates is None, each.tolerates or 0))),
                   order(stack, drives))
