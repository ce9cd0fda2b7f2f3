"""Describe block devices by /sys and /proc: what each lies on, and where it is mounted.

Sources: Linux, Documentation/ABI/stable/sysfs-block and filesystems/proc.rst (mountinfo).
"""
from __future__ import annotations

import os
import re
from collections.abc import Mapping

from ..constants import LARGEST_MOUNT_TABLE, LONGEST_GIVEN_NAME, MOST_MOUNT_POINTS
from ..model import Member
from ..reading.system import names_in, text_of
from ..typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ..reading.system import System

_FS = re.compile('^E:(ID_FS_TYPE|ID_FS_LABEL)=(.*)$', re.MULTILINE)
_is_part = re.compile('p?[0-9]+').fullmatch  # what the name of a partition adds to that of its disk: sda1, md0p1


class Devices(NamedTuple):
    """All block devices of a machine without partitions, and how those in use are used."""

    system: System
    names: frozenset[str]                       # disks, arrays and volumes, as in /sys/block
    parts: Mapping[str, str] = {}               # partition -> its disk
    inside: Mapping[str, tuple[str, ...]] = {}  # inner volume of LVM -> the devices that it lies on
    used: Mapping[str, tuple[str, ...]] = {}    # device -> mount points, "swap"; "zfs tank" for a pool
    titles: Mapping[str, str] = {}              # volume -> what people call it: "vg0/home"

    def below(self, name: str) -> tuple[str, ...]:
        """Return the disks and groups that a member lies on, or () if the device is gone."""
        found = (each if each in self.names else self.parts.get(each, '') for each in self.inside.get(name, (name,)))
        return tuple(dict.fromkeys(each for each in found if each))

    def member(self, name: str, state: str = 'in_sync', slot: int | None = None) -> Member:
        """Return a member of a group, in state missing if its device is gone."""
        below = self.below(name)
        return Member(self.titles.get(name, name)[:LONGEST_GIVEN_NAME], state if below else 'missing', slot, below)


def listed(system: System) -> Devices:
    """Return the block devices of a machine; nothing is known of their use yet."""
    names = names_in(f'{system.sys}/block')
    # A volume of the device mapper has no partitions: these are volumes, too.
    parts = {part: name for name in names if not name.startswith('dm-')
             for part in names_in(f'{system.sys}/block/{name}') if part.startswith(name) and _is_part(part[len(name):])}
    return Devices(system, frozenset(names), parts)


# --- mounts and swap --------------------------------------------------------------------------------------

def uses(system: System, mapped: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Return the mount points of each device, and "swap" for swap space. mapped: name of a volume -> "dm-3".

    The mounts of a ZFS pool are under "zfs" and its name. Bind mounts count only where nothing else is mounted.
    """
    found: dict[str, list[str]] = {}
    bound: dict[str, list[str]] = {}
    numbers: dict[str, str] = {}
    for line in text_of(f'{system.proc}/self/mountinfo', LARGEST_MOUNT_TABLE).splitlines():
        fields, _, rest = (part.split(' ') for part in line.partition(' - '))
        if len(fields) > 4 and len(rest) > 1:
            if fields[2] not in numbers:
                numbers[fields[2]] = _by_number(fields[2], system)
            # The number names a device in whatever way it was mounted (/dev/root, by-uuid); btrfs and ZFS have none.
            name = numbers[fields[2]] or _by_path(rest[1], rest[0], mapped)
            is_bind = fields[3] != '/' and rest[0] != 'btrfs'
            (bound if is_bind else found).setdefault(name, []).append(fields[4])
    for line in text_of(f'{system.proc}/swaps').splitlines()[1:]:
        found.setdefault(_by_path(re.split('[ \t]', line)[0], '', mapped), []).append('swap')
    return {name: tuple(dict.fromkeys(_unescaped(point)[:LONGEST_GIVEN_NAME] for point in points[:MOST_MOUNT_POINTS]))
            for name, points in {**bound, **found}.items() if name}


def _by_number(number: str, system: System) -> str:
    try:
        # Major number 0 has no device: btrfs, tmpfs, the network.
        return '' if number.startswith('0:') else os.path.basename(os.readlink(f'{system.sys}/dev/block/{number}'))
    except (OSError, ValueError):
        return ''


def _by_path(source: str, kind: str, mapped: Mapping[str, str]) -> str:
    if kind == 'zfs':
        return f'zfs {_unescaped(source).partition("/")[0]}'
    name = os.path.basename(_unescaped(source))
    return mapped.get(name, name) if source.startswith('/dev/') else ''


def _unescaped(text: str) -> str:
    return re.sub(r'\\([0-3][0-7]{2})', lambda code: chr(int(code[1], 8)), text)


def number_of(text: str) -> int | None:
    """Return the number at the start of a text, of at most nine digits: 4 of "4 (3)"; None if it has none."""
    found = re.match('[0-9]{1,9}(?![0-9])', text)
    return int(found[0]) if found else None


def udev_values(name: str, devices: Devices) -> dict[str, str]:
    """Return ID_FS_TYPE and ID_FS_LABEL of a device from the udev database; {} if it has neither."""
    folder = f'{devices.parts[name]}/{name}' if name in devices.parts else name
    number = text_of(f'{devices.system.sys}/block/{folder}/dev')
    notes = text_of(f'{devices.system.udev}/b{number}') if number else ''
    return dict(_FS.findall(notes))
