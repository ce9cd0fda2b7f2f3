"""What a rebuild of an array depends on: which disks are members, and how long each retries a bad sector. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from ..model import Group
from ..reading.content import integer_at, object_of, text_of
from ..typed import Json, NamedTuple
from .block_devices import NO_STATUS
from .survival import BY_SLOT, TOLERANCE, Stack


class Recovery(NamedTuple):
    """The time limits that a drive reports for its error recovery."""

    is_supported: bool
    # the longer of the read and write limits; None: at least one is off
    seconds: float | None = None


def redundant(groups: Sequence[Group]) -> dict[str, str]:
    """For each disk in a redundant group, directly or indirectly, return the name of this group."""
    stack = Stack(groups)
    return {
        disk: group.name
        for group in groups
        if _is_redundant(group)
        for disk in stack.disks(group.id)
    }


def _is_redundant(group: Group) -> bool:
    """Return whether a group is redundant when all members work; True for LVM RAID and ZFS, as
    /sys has no level.
    """
    return (
        bool(TOLERANCE.get(group.level))
        or group.level == BY_SLOT
        or group.unknown == NO_STATUS
        or (group.kind == 'zfs' and not group.level)
    )


def recovery(document: Json) -> Recovery | None:
    """Return the time limits in smartctl's JSON; None if the drive was not queried or did not
    answer.
    """
    limited = object_of(document, 'ata_sct_erc')
    if not limited:
        status = integer_at(document, 'smartctl.exit_status')
        is_told = (
            status is not None
            and not status & 7
            and text_of(object_of(document, 'device'), 'protocol') == 'ATA'
        )
        return Recovery(is_supported=False) if is_told else None
    limits = [
        integer_at(limited, f'{what}.deciseconds')
        if object_of(limited, what).get('enabled') is True
        else None
        for what in ('read', 'write')
    ]
    return Recovery(True, max(limit or 0 for limit in limits) / 10 if all(limits) else None)
