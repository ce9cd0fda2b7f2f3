"""Describe block devices by /sys and /proc: what each lies on, where it is mounted, and the text of small files.

Every user may read all of this. No device is opened, and data that cannot be read counts as absent.
Sources: Linux, Documentation/ABI/stable/sysfs-block and filesystems/proc.rst (mountinfo).
"""
from __future__ import annotations

import os
import re
import stat

from ..model import Member
from ..typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Dict, FrozenSet, List, Mapping, Optional, Tuple

    from ..model import Device

FILE = 1 << 16            # bytes of a small file that are read
_TABLE = 1 << 22          # of mountinfo: a host of containers has thousands of mounts
NAME = 200                # characters of a name that somebody has chosen
MEMBERS = 1024            # of one group
_POINTS = 8               # mount points of one device
_PART = re.compile(r'(.*[0-9])p[0-9]+|(.*[^0-9])[0-9]+')  # the disk of a partition's name: nvme0n1p1, sda1


class System(NamedTuple):
    """The folders in which Linux describes the system; tests use other ones."""

    sys: str = '/sys'
    proc: str = '/proc'
    udev: str = '/run/udev/data'


LINUX = System()


class Devices(NamedTuple):
    """All block devices of a machine without partitions, and how those in use are used."""

    system: System
    names: FrozenSet[str]                       # disks, arrays and volumes, as in /sys/block
    inside: Mapping[str, Tuple[str, ...]] = {}  # inner volume of LVM -> the devices that it lies on
    used: Mapping[str, Tuple[str, ...]] = {}    # device -> mount points, "swap"; "zfs tank" for a pool
    titles: Mapping[str, str] = {}              # volume -> what people call it: "vg0/home"

    def below(self, name: str) -> Tuple[str, ...]:
        """Return the disks and groups that a member lies on, or () if the device is gone."""
        found = (self._itself(each) for each in self.inside.get(name, (name,)))
        return tuple(dict.fromkeys(each for each in found if each))

    def _itself(self, name: str) -> str:
        if name in self.names:
            return name
        disk = disk_of(name)
        return disk if disk in self.names and os.path.isdir(f'{self.system.sys}/block/{disk}/{name}') else ''

    def member(self, name: str, state: str = 'in_sync', slot: Optional[int] = None) -> Member:
        """Return a member of a group, in state missing if its device is gone."""
        below = self.below(name)
        return Member(self.titles.get(name, name)[:NAME], state if below else 'missing', slot, below)


def listed(system: System) -> Devices:
    """Return the block devices of a machine; nothing is known of their use yet."""
    return Devices(system, frozenset(names_in(f'{system.sys}/block')))


def disk_of(name: str) -> str:
    """Return the disk of a partition by its name: "sda" of sda1, "nvme0n1" of nvme0n1p2; '' if it has no number."""
    found = _PART.fullmatch(name)
    return (found[1] or found[2]) if found else ''


def disks_of(device: Device, system: System = LINUX) -> List[str]:
    """Return the kernel's names of a drive's disks; an NVMe controller has one for each namespace, a report none."""
    name = os.path.basename(os.path.realpath(device.path))
    if device.is_recorded:
        return []
    if os.path.isdir(f'{system.sys}/block/{name}'):
        return [name]
    if name.startswith('sg'):
        return names_in(f'{system.sys}/class/scsi_generic/{name}/device/block')
    # A namespace behind two controllers is named nvme0n1, although both reach it; nvme0c0n1 is a path, not a disk.
    return sorted({re.sub('c[0-9]+', '', each) for each in names_in(f'{system.sys}/class/nvme/{name}')
                   if re.fullmatch('nvme[0-9]+(c[0-9]+)?n[0-9]+', each)})


# --- mounts and swap --------------------------------------------------------------------------------------

def uses(system: System, mapped: Mapping[str, str]) -> Dict[str, Tuple[str, ...]]:
    """Return the mount points of each device, and "swap" for swap space. mapped: name of a volume -> "dm-3".

    The mounts of a ZFS pool are under "zfs" and its name. Bind mounts count only where nothing else is mounted.
    """
    found: Dict[str, List[str]] = {}
    bound: Dict[str, List[str]] = {}
    numbers: Dict[str, str] = {}
    for line in text_of(f'{system.proc}/self/mountinfo', _TABLE).splitlines():
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
    return {name: tuple(dict.fromkeys(_unescaped(point)[:NAME] for point in points[:_POINTS]))
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


# --- small files ------------------------------------------------------------------------------------------

def names_in(folder: str) -> List[str]:
    """Return the sorted names in a folder; none if it cannot be read."""
    try:
        return sorted(os.listdir(folder))
    except (OSError, ValueError):
        return []


def text_of(path: str, limit: int = FILE) -> str:
    """Return the text of a small file without surrounding whitespace, or '' if it cannot be read.

    Only regular files are opened, so a device or a pipe neither is touched nor delays the caller.
    """
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return ''
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            return _content(file, limit).decode(errors='replace').strip()
        finally:
            os.close(file)
    except (OSError, ValueError):
        return ''


def _content(file: int, limit: int) -> bytes:
    content = b''
    while len(content) < limit:  # /proc returns one page at a time
        more = os.read(file, limit - len(content))
        if not more:
            break
        content += more
    return content


def number_of(text: str) -> Optional[int]:
    """Return the number at the start of a text, of at most nine digits: 4 of "4 (3)"; None if it has none."""
    found = re.match('[0-9]{1,9}(?![0-9])', text)
    return int(found[0]) if found else None


def udev_values(name: str, system: System) -> Dict[str, str]:
    """Return ID_FS_TYPE and ID_FS_LABEL of a device from the udev database; {} if it has neither."""
    folder = f'{disk_of(name)}/{name}' if not os.path.isdir(f'{system.sys}/block/{name}') else name
    number = text_of(f'{system.sys}/block/{folder}/dev')
    notes = text_of(f'{system.udev}/b{number}') if number else ''
    return dict(re.findall('^E:(ID_FS_TYPE|ID_FS_LABEL)=(.*)$', notes, re.MULTILINE))


def partitions(disk: str, system: System) -> List[str]:
    """Return the names of a disk's partitions, sorted."""
    return [name for name in names_in(f'{system.sys}/block/{disk}') if name.startswith(disk) and disk_of(name) == disk]
