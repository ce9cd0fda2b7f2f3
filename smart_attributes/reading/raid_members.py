"""Find the members of redundant groups: md arrays, LVM RAID and btrfs on several devices."""
from __future__ import annotations

import os
import re

from ..model import Group, Member
from ..typed import TYPE_CHECKING
from .hardware import partitioned
from .location import names_in, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator


def groups(root: str) -> list[Group]:
    """Return what the kernel knows about arrays, with level and members only. root: the directory to use as /."""
    return [*_mapped(root), *_btrfs(root)]


def _mapped(root: str) -> Iterator[Group]:
    """Yield md arrays and volumes of the device mapper; LVM keeps the metadata of a RAID in volumes NAME_rmeta_N."""
    blocks = os.path.join(root, 'sys/block')
    for name in names_in(blocks):
        level, title = text_of(f'{blocks}/{name}/md/level'), text_of(f'{blocks}/{name}/dm/name')
        if level or title:
            is_raid = re.search('_rmeta_[0-9]+$', title) and text_of(f'{blocks}/{name}/dm/uuid').startswith('LVM-')
            yield Group(name, title or name, 'md' if level else 'lvm', level or ('raid1' if is_raid else ''),
                        members=_members(names_in(f'{blocks}/{name}/slaves'), root))


def _btrfs(root: str) -> Iterator[Group]:
    place = os.path.join(root, 'sys/fs/btrfs')
    for name in names_in(place):
        levels = [level for level in names_in(f'{place}/{name}/allocation/data') if level.startswith('raid')]
        if levels:
            yield Group(f'btrfs {name}', text_of(f'{place}/{name}/label') or name, 'btrfs', f'btrfs-{levels[-1]}',
                        members=_members(names_in(f'{place}/{name}/devices'), root))


def _members(names: list[str], root: str) -> tuple[Member, ...]:
    return tuple(Member(name, 'unknown', on=(partitioned(name, root),)) for name in names)
