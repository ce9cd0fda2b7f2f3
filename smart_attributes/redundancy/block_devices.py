"""Describe block devices and volumes from /sys and /proc: the devices below each one, and its mount
points.

Volumes of the device mapper are LVM, LUKS, multipath and others, in /sys/block/dm-N. LVM builds a
volume from inner volumes (images of a mirror, data of a thin pool). Inner volumes are left out: the
members of a volume are the devices below its inner volumes. /sys lacks the level and state of LVM
RAID, see dmsetup.
Sources: Linux, Documentation/ABI/stable/sysfs-block, testing/sysfs-block-dm and
filesystems/proc.rst (mountinfo); LVM2, lib/misc/lvm-string.c (names of inner volumes).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..constants import (
    LARGEST_MOUNT_TABLE,
    LONGEST_GIVEN_NAME,
    MOST_MEMBERS,
    MOST_MOUNT_POINTS,
)
from ..model import Group, Member
from ..reading.system import LINUX, System, names_in, serial_of_disk, text_of
from ..typed import NamedTuple

Names = tuple[str, ...]  # of devices, as in /sys/block
Volumes = Mapping[str, 'Volume']  # by kernel name, such as "dm-3"
# drivers of devices that are not disks
NO_DISKS = ('loop', 'ram', 'zram', 'sr', 'fd', 'zd', 'nbd', 'rbd')


class Kind(NamedTuple):
    """What is known about all groups of a kind."""

    name: str  # as in Group
    level: str = 'single'  # '' if it is not known
    unknown: str = ''  # why the level is not known


class Devices(NamedTuple):
    """All block devices of a machine, except for partitions, and the uses of each device."""

    system: System
    names: frozenset[str]  # disks, arrays and volumes, as in /sys/block
    parts: Mapping[str, str] = {}  # partition -> its disk
    inner: frozenset[str] = frozenset()  # inner volumes of LVM, see inner()
    # device -> mount points, "swap"; "zfs tank" for a pool
    used: Mapping[str, Names] = {}
    titles: Mapping[str, str] = {}  # volume -> its name for people: "vg0/home"
    same: Mapping[str, str] = {}  # further path to a disk -> the first path to it
    # disk -> serial number (vital product data page 80h)
    serials: Mapping[str, str] = {}
    # disk -> all disks of its drive, if there are several: namespaces of an NVMe drive, actuators
    # of a SAS drive
    units: Mapping[str, Names] = {}

    def below(self, name: str) -> Names:
        """Return the disk or group that a member is built on; () if the device is gone."""
        disk = name if name in self.names else self.parts.get(name)
        if not disk:
            return ()
        first_path = self.same.get(disk, disk)
        return (first_path,)

    def member(
        self, name: str, state: str = 'in_sync', slot: int | None = None
    ) -> Member:
        """Return a member of a group; its state is "missing" if the device is gone."""
        below = self.below(name)
        return Member(
            name=self.titles.get(name, name),
            state=state if below else 'missing',
            slot=slot,
            on=below,
        )

    def members(self, names: Iterable[str], kind: Kind) -> list[Member]:
        """Return devices as the members of a group, each in its own slot; of unknown state if the
        level of this kind is unknown.
        """
        state = 'in_sync' if kind.level else 'unknown'
        return [self.member(name, state, slot) for slot, name in enumerate(names)]

    def group(
        self, group_id: str, name: str, kind: Kind, members: Sequence[Member]
    ) -> Group:
        """Return a group that needs all of its members, with its uses."""
        return Group(
            id=group_id,
            name=name,
            kind=kind.name,
            level=kind.level,
            slots=len(members),
            members=tuple(members[:MOST_MEMBERS]),
            used_as=self.used.get(group_id, ()),
            unknown=kind.unknown,
        )


def listed(system: System) -> Devices:
    """Return the block devices of a machine, without their uses."""
    names = names_in(f'{system.sys}/block')
    serials = {name: serial_of_disk(name, system) for name in names}
    return Devices(
        system,
        frozenset(names),
        parts={part: name for name in names for part in _partitions(name, system)},
        same=dict(_paths(serials, system)),
        serials=serials,
        units=_units(serials, system),
    )


def _partitions(disk: str, system: System) -> list[str]:
    """Return the partitions of a disk or an array: "sda1", "md0p1". Those of a volume of the device
    mapper are volumes themselves, and not in its folder.
    """
    return [
        name
        for name in names_in(f'{system.sys}/block/{disk}')
        if name.startswith(disk) and name[len(disk) :].removeprefix('p').isdecimal()
    ]


def _units(serials: Mapping[str, str], system: System) -> dict[str, Names]:
    """Return, for each disk of a drive that has several, all of them: the namespaces of an NVMe
    drive, or the logical units of a SAS drive, one for each actuator. They are pulled together.
    """
    # what the disks of a drive have in common -> these disks
    drives: dict[Names, list[str]] = {}
    for name, serial in serials.items():
        namespace = re.fullmatch('(nvme[0-9]+)n[0-9]+', name)
        device = f'{system.sys}/block/{name}/device'
        if namespace:
            drives.setdefault((namespace[1],), []).append(name)
        elif serial and text_of(f'{device}/wwid').startswith('naa.5'):
            target = os.path.dirname(os.path.realpath(device))
            drives.setdefault((target, serial), []).append(name)
    units: dict[str, Names] = {}
    for disks in drives.values():
        if len(disks) > 1:
            units.update(dict.fromkeys(disks, tuple(disks)))
    return units


def _paths(serials: Mapping[str, str], system: System) -> Iterator[tuple[str, str]]:
    """Yield each further path to a disk, with the first path; both have the same WWN or the same
    multipath volume.

    Each actuator of a disk is a separate logical unit and can fail alone. Some vendors give all
    SSDs of a batch the same WWN, so the serial number (vital product data page 80h) must be known
    and the same, too.
    """
    first: dict[tuple[str, str], str] = {}
    for name, serial in serials.items():
        folder = f'{system.sys}/block/{name}'
        wwid = text_of(f'{folder}/device/wwid')
        if serial and re.fullmatch('naa[.][356][0-9a-f]{15,31}', wwid):
            first_path = first.setdefault((wwid, serial), name)
            if first_path != name:
                yield name, first_path
        if text_of(f'{folder}/dm/uuid').startswith('mpath-'):
            slaves = names_in(f'{folder}/slaves')
            paths = [slave for slave in slaves if slave in serials]
            for path in paths[1:]:
                yield path, paths[0]


# --- mounts and swap ------------------------------------------------------------------------------


def uses(system: System) -> dict[str, Names]:
    """Return the mount points of each device, and "swap" for swap space.

    The key of a ZFS pool is "zfs" and its name. Bind mounts count only for a device without other
    mounts.
    """
    mounts: dict[str, list[str]] = {}
    binds: dict[str, list[str]] = {}
    for mount in _mounts(system):
        # The device number is the same under any path (/dev/root, by-uuid); btrfs and ZFS have
        # no number.
        name = _by_number(mount.number, system) or _by_path(mount.source, mount.kind)
        is_bind = mount.root != '/' and mount.kind != 'btrfs'
        by_device = binds if is_bind else mounts
        by_device.setdefault(name, []).append(mount.point)
    for line in text_of(f'{system.proc}/swaps').splitlines()[1:]:
        path, _, _ = line.partition(' ')  # blanks in it are escaped
        mounts.setdefault(_by_path(path), []).append('swap')
    used = {**binds, **mounts}
    used.pop('', None)  # not on a device
    return {name: _shortened(points) for name, points in used.items()}


class _Mount(NamedTuple):
    """A line of mountinfo."""

    number: str  # "8:1"
    root: str  # the part of the file system that is mounted
    point: str  # escaped
    options: str  # of the mount: "ro,noatime"
    kind: str  # "ext4"
    source: str  # "/dev/sda1"
    of_all: str  # options of the file system, for all its mounts


def _mounts(system: System) -> Iterator[_Mount]:
    """Yield the mounts. Source: proc(5), /proc/pid/mountinfo."""
    table = text_of(f'{system.proc}/self/mountinfo', LARGEST_MOUNT_TABLE)
    for line in table.splitlines():
        # "36 35 8:1 / /srv rw,noatime shared:1 - ext4 /dev/sda1 rw"
        before, _, after = line.partition(' - ')
        fields = before.split(' ')
        further = after.split(' ')
        if len(fields) > 5 and len(further) > 2:
            yield _Mount(*fields[2:6], *further[:3])


def _shortened(points: Sequence[str]) -> Names:
    """Return the first mount points, as people write them."""
    first = map(unescaped, points[:MOST_MOUNT_POINTS])
    return tuple(dict.fromkeys(point[:LONGEST_GIVEN_NAME] for point in first))


def _by_number(number: str, system: System) -> str:
    """Return the kernel name of the device with a number such as "8:1"; '' if there is none, as for
    btrfs, tmpfs and the network ("0:47").
    """
    try:
        return os.path.basename(os.readlink(f'{system.sys}/dev/block/{number}'))
    except (OSError, ValueError):
        return ''


def _by_path(source: str, kind: str = '') -> str:
    """Return the kernel name of a device by its path, "zfs tank" for a dataset of a pool; '' for all
    else. kind: of the file system.
    """
    if kind == 'zfs':
        return f'zfs {unescaped(source).partition("/")[0]}'
    if not source.startswith('/dev/'):
        return ''
    # btrfs keeps the path under which it was made, such as a link in /dev/disk/by-id
    return os.path.basename(os.path.realpath(unescaped(source)))


def mount_of(path: str) -> tuple[str, str, str]:
    """Return the mount point, type and options of a path's file system; the path need not exist."""
    # os.path.ismount() does not recognize bind mounts
    real = f'{os.path.realpath(path)}/'
    # on a system without mountinfo, the file system is unknown
    lowest, kind, options = '/', '', ''
    for mount in _mounts(LINUX):
        point = unescaped(mount.point)
        is_above = real.startswith(point.rstrip('/') + '/')
        # a later mount on the same point hides the earlier one
        if is_above and len(point) >= len(lowest):
            lowest = point
            kind = mount.kind
            options = f'{mount.options},{mount.of_all}'
    return lowest, kind, options


def unescaped(text: str) -> str:
    """Return a path from mountinfo, mounts or swaps without its octal escapes. Source: proc(5)."""
    return re.sub(r'\\([0-3][0-7]{2})', lambda code: chr(int(code[1], 8)), text)


def udev_notes(name: str, devices: Devices) -> dict[str, str]:
    """Return the properties of a device in the udev database; {} if they are missing."""
    folder = f'{devices.parts[name]}/{name}' if name in devices.parts else name
    number = text_of(f'{devices.system.sys}/block/{folder}/dev')
    entry = text_of(f'{devices.system.udev}/b{number}')
    return dict(re.findall('^E:([^=\n]*)=?(.*)$', entry, re.MULTILINE))


# --- volumes of the device mapper -----------------------------------------------------------------

CEPH = Kind('ceph', '', 'only the Ceph cluster knows its redundancy')
BCACHE = Kind('bcache')
DRBD = Kind('drbd', '', 'only DRBD knows the state of its peer')
# Start of the UUID, which the creator of the volume set -> the kind.
_KINDS = (
    ('LVM-', Kind('lvm')),
    ('CRYPT-', Kind('luks')),
    ('part[0-9]+-', Kind('partition')),
    ('mpath-', Kind('multipath')),
    ('', Kind('dm', '', 'its target is not in /sys')),
)
# Patterns that few checks need, so re compiles them at their first use.
_INNER = '_(?:[rm]image|rmeta|mlog|[tc]data|[tc]meta|corig|cvol|wcorig|vdata|iorig|imeta)(?:_|$)'
# image of a mirror; its metadata fails with it
_IMAGE = '_(?:[rm]image|rmeta)_([0-9]{1,4})$'


class Volume(NamedTuple):
    """A volume as the device mapper describes it."""

    name: str  # "vg0-home"
    uuid: str  # "LVM-", 64 letters and, for an inner volume, a suffix
    slaves: Names  # "sda2", "dm-1"


def volumes(names: list[str], system: System) -> dict[str, Volume]:
    """Return each volume by its kernel name, such as "dm-3"."""
    return {
        name: Volume(
            text_of(f'{system.sys}/block/{name}/dm/name'),
            text_of(f'{system.sys}/block/{name}/dm/uuid'),
            tuple(names_in(f'{system.sys}/block/{name}/slaves')),
        )
        for name in names
    }


def inner(every: Volumes) -> frozenset[str]:
    """Return the inner volumes of LVM that hold no copies of their own.

    A volume without a volume on it is not an inner one, whatever its name: the volumes in a thin
    pool may all be inactive.
    """
    used = {slave for volume in every.values() for slave in volume.slaves}
    used_volumes = used.intersection(every)
    return frozenset(name for name in used_volumes if _is_inner(every[name], every))


def _is_inner(volume: Volume, every: Volumes) -> bool:
    """Return whether LVM has made a volume for another one, and it holds no copies of its own."""
    if not volume.uuid.startswith('LVM-') or _images(volume, every):
        return False
    has_suffix = '-' in volume.uuid.removeprefix('LVM-')
    return has_suffix or bool(re.search(_INNER, volume.name))


def _below(slaves: Sequence[str], every: Volumes, devices: Devices) -> list[str]:
    """Return the devices behind *slaves*, through any number of inner volumes. '' represents a
    missing device, which LVM replaces by an empty volume.
    """
    todo = [*reversed(slaves)] or ['']  # a stack: the last one comes next
    visited: set[str] = set()
    below = []
    while todo:
        name = todo.pop()
        if name in visited:
            continue
        visited.add(name)
        if name in devices.inner:
            todo += reversed(every[name].slaves or ('',))
        else:
            below.append(name)
    return below or ['']  # inner volumes that form a circle have no device


def title(volume: Volume) -> str:
    """Return the name of a volume for people, "vg0/home-old" for vg0-home--old of LVM; '' if it has
    no name.
    """
    group, dash, name = volume.name.replace('--', '\0').partition('-')
    if not dash or not volume.uuid.startswith('LVM-'):
        return volume.name
    return f'{group}/{name}'.replace('\0', '-')


def group(name: str, every: Volumes, devices: Devices) -> Group:
    """Return a volume with the devices below it as members.

    In a mirror or RAID, members are in image order.
    """
    volume = every[name]
    called = title(volume) or name
    kind = next(kind for start, kind in _KINDS if re.match(start, volume.uuid))
    if kind.name == 'lvm' and called.startswith('ceph-'):
        kind = CEPH
    images = _images(volume, every)
    if kind.name == 'multipath':
        paths = [devices.member(path) for path in volume.slaves]
        has_path = any(path.on for path in paths)
        members = [_joined(0, paths, 'in_sync' if has_path else 'missing')]
    elif images:
        unknown = 'its level and state are not in /sys; as root, run triage --dmsetup'
        kind = kind._replace(level='', unknown=unknown)
        members = []
        for number in sorted(images):
            below = _below(images[number], every, devices)
            parts = [devices.member(part) for part in below]
            has_all = all(part.on for part in parts)
            members.append(_joined(number, parts, 'unknown' if has_all else 'missing'))
    else:
        members = devices.members(_below(volume.slaves, every, devices), kind)
    return devices.group(group_id=name, name=called, kind=kind, members=members)


def _images(volume: Volume, every: Volumes) -> dict[int, list[str]]:
    """Return the inner volumes of each image of a mirror or RAID, by the image's number; {} for
    other volumes.
    """
    images: dict[int, list[str]] = {}
    for slave in volume.slaves:
        image = re.search(_IMAGE, every[slave].name) if slave in every else None
        if image:
            images.setdefault(int(image[1]), []).append(slave)
    return images


def _joined(slot: int, pieces: Sequence[Member], state: str) -> Member:
    """Return devices as one member, named after them: an image of a mirror or RAID, or the disk that
    several paths lead to.
    """
    names = [piece.name for piece in pieces if piece.name]
    below = [disk for piece in pieces for disk in piece.on]
    return Member(', '.join(names), state, slot, on=tuple(dict.fromkeys(below)))
