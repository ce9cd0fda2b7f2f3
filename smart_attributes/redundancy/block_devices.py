"""Describe block devices and volumes from /sys, /proc and `dmsetup`: the devices below each one,
and its mount points.

Volumes of the device mapper are LVM, LUKS, multipath and others, in /sys/block/dm-N. LVM builds a
volume from inner volumes (images of a mirror, data of a thin pool). Inner volumes are left out: the
members of a volume are the devices below its inner volumes. /sys lacks the level and state of LVM
RAID, which root can read with `dmsetup status`.
Sources: Linux, Documentation/ABI/stable/sysfs-block, testing/sysfs-block-dm and
filesystems/proc.rst (mountinfo); LVM2, lib/misc/lvm-string.c (names of inner volumes); Linux,
Documentation/admin-guide/device-mapper/dm-raid.rst, drivers/md/dm-raid.c (raid_status) and
drivers/md/dm-raid1.c (mirror_status).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping

from ..constants import LARGEST_MOUNT_TABLE, LONGEST_GIVEN_NAME, MOST_MEMBERS, MOST_MOUNT_POINTS
from ..errors import Coded
from ..model import Group, Member
from ..reading import system as linux
from ..reading.system import LINUX, PAGE_HEAD, System, names_in, text_of
from ..typed import NamedTuple
from . import doubts

# drivers of devices that are not disks
NO_DISKS = ('loop', 'ram', 'zram', 'sr', 'fd', 'zd', 'nbd', 'rbd')


class Devices(NamedTuple):
    """All block devices of a machine, except for partitions, and the uses of each device."""

    system: System
    names: frozenset[str]  # disks, arrays and volumes, as in /sys/block
    parts: Mapping[str, str] = {}  # partition -> its disk
    # inner volume of LVM -> the devices that it is built on
    inside: Mapping[str, tuple[str, ...]] = {}
    # device -> mount points, "swap"; "zfs tank" for a pool
    used: Mapping[str, tuple[str, ...]] = {}
    titles: Mapping[str, str] = {}  # volume -> its name for people: "vg0/home"
    same: Mapping[str, str] = {}  # further path to a disk -> the first path to it
    serials: Mapping[str, str] = {}  # disk -> serial number (vital product data page 80h)
    # disk -> all disks of its drive, if there are several: namespaces, actuators
    units: Mapping[str, tuple[str, ...]] = {}

    def below(self, name: str) -> tuple[str, ...]:
        """Return the disks and groups that a member is built on, or () if the device is gone."""
        found = (
            each if each in self.names else self.parts.get(each, '')
            for each in self.inside.get(name, (name,))
        )
        return tuple(dict.fromkeys(self.same.get(each, each) for each in found if each))

    def member(self, name: str, state: str = 'in_sync', slot: int | None = None) -> Member:
        """Return a member of a group; its state is "missing" if the device is gone."""
        below = self.below(name)
        return Member(
            self.titles.get(name, name)[:LONGEST_GIVEN_NAME],
            state if below else 'missing',
            slot,
            below,
        )


def listed(system: System) -> Devices:
    """Return the block devices of a machine, without their uses."""
    names = names_in(f'{system.sys}/block')
    # Partitions (sda1, md0p1). Partitions of a device-mapper volume are volumes themselves.
    parts = {
        part: name
        for name in names
        if not name.startswith('dm-')
        for part in names_in(f'{system.sys}/block/{name}')
        if part.startswith(name) and part[len(name) :].removeprefix('p').isdecimal()
    }
    serials = {name: _serial(name, system) for name in names}
    return Devices(
        system,
        frozenset(names),
        parts,
        same=dict(_paths(serials, system)),
        serials=serials,
        units=_units(serials, system),
    )


def _units(serials: Mapping[str, str], system: System) -> dict[str, tuple[str, ...]]:
    """Return, for each disk of a drive that has several, all of them: the namespaces of an NVMe
    drive, or the logical units of a SAS drive, one for each actuator. Who pulls the drive pulls all.
    """
    drives: dict[tuple[str, ...], list[str]] = {}
    for name, serial in serials.items():
        namespace = re.fullmatch('(nvme[0-9]+)n[0-9]+', name)
        device = f'{system.sys}/block/{name}/device'
        if namespace:
            drives.setdefault((namespace[1],), []).append(name)
        elif serial and text_of(f'{device}/wwid').startswith('naa.5'):
            target = os.path.dirname(os.path.realpath(device))
            drives.setdefault((target, serial), []).append(name)
    return {name: tuple(disks) for disks in drives.values() if len(disks) > 1 for name in disks}


def _serial(name: str, system: System) -> str:
    """Return the serial number in vital product data page 80h of a disk; '' if it is not known."""
    return text_of(f'{system.sys}/block/{name}/device/vpd_pg80')[PAGE_HEAD:].strip('\0 ')


def _paths(serials: Mapping[str, str], system: System) -> Iterator[tuple[str, str]]:
    """Yield each further path to a disk, with the first path; both have the same WWN or the same
    multipath volume.

    Each actuator of a disk is a separate logical unit and can fail alone. Some vendors give all
    SSDs of a batch the same WWN, so the serial number (vital product data page 80h) must be known
    and the same, too.
    """
    present, first = frozenset(serials), dict[tuple[str, ...], str]()
    for name, serial in serials.items():
        wwid = text_of(f'{system.sys}/block/{name}/device/wwid')
        if serial and re.fullmatch('naa[.][356][0-9a-f]{15,31}', wwid):
            other = first.setdefault((wwid, serial), name)
            if other != name:
                yield name, other
        if text_of(f'{system.sys}/block/{name}/dm/uuid').startswith('mpath-'):
            one, *others = sorted(
                present.intersection(names_in(f'{system.sys}/block/{name}/slaves'))
            ) or ['']
            yield from ((other, one) for other in others)


# --- mounts and swap ------------------------------------------------------------------------------


def uses(system: System, mapped: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Return the mount points of each device, and "swap" for swap space. mapped: name of a volume
    -> "dm-3".

    The key of a ZFS pool is "zfs" and its name. Bind mounts count only for a device without other
    mounts.
    """
    found: dict[str, list[str]] = {}
    bound: dict[str, list[str]] = {}
    for line in text_of(f'{system.proc}/self/mountinfo', LARGEST_MOUNT_TABLE).splitlines():
        fields, _, rest = (part.split(' ') for part in line.partition(' - '))
        if len(fields) > 4 and len(rest) > 1:
            # The device number is the same under any path (/dev/root, by-uuid); btrfs and ZFS have
            # no number.
            name = _by_number(fields[2], system) or _by_path(rest[1], rest[0], mapped)
            is_bind = fields[3] != '/' and rest[0] != 'btrfs'
            (bound if is_bind else found).setdefault(name, []).append(fields[4])
    for line in text_of(f'{system.proc}/swaps').splitlines()[1:]:
        found.setdefault(
            _by_path(line.partition(' ')[0].partition('\t')[0], '', mapped), []
        ).append('swap')
    return {
        name: tuple(
            dict.fromkeys(
                unescaped(point)[:LONGEST_GIVEN_NAME] for point in points[:MOST_MOUNT_POINTS]
            )
        )
        for name, points in {**bound, **found}.items()
        if name
    }


def _by_number(number: str, system: System) -> str:
    try:
        # Major number 0 means no device: btrfs, tmpfs, the network.
        return (
            ''
            if number.startswith('0:')
            else os.path.basename(os.readlink(f'{system.sys}/dev/block/{number}'))
        )
    except (OSError, ValueError):
        return ''


def _by_path(source: str, kind: str, mapped: Mapping[str, str]) -> str:
    if kind == 'zfs':
        return f'zfs {unescaped(source).partition("/")[0]}'
    if not source.startswith('/dev/'):
        return ''
    path = unescaped(source)
    # btrfs keeps the path under which it was made, such as a link in /dev/disk/by-id
    return mapped.get(os.path.basename(path)) or os.path.basename(os.path.realpath(path))


def mount_of(path: str) -> tuple[str, str, str]:
    """Return the mount point, type and options of a path's file system; the path need not exist.

    Source: proc(5).
    """
    real = os.path.realpath(path) + '/'  # os.path.ismount() does not recognize bind mounts
    # a system without this file: the file system is unknown
    lines = [
        line.split(' ') for line in text_of('/proc/self/mounts', LARGEST_MOUNT_TABLE).splitlines()
    ]
    mounts = [(unescaped(words[1]), words[2], words[3]) for words in lines]
    above = [mount for mount in mounts if real.startswith(mount[0].rstrip('/') + '/')]
    # the last mount hides others
    return max(reversed(above), key=lambda mount: len(mount[0]), default=('/', '', ''))


def unescaped(text: str) -> str:
    """Return a path from mountinfo, mounts or swaps without its octal escapes. Source: proc(5)."""
    return re.sub(r'\\([0-3][0-7]{2})', lambda code: chr(int(code[1], 8)), text)


def number_of(text: str) -> int | None:
    """Return the number, of at most nine digits, at the start of a text: 4 for "4 (3)"; None
    without a number.
    """
    digits = text[: len(text) - len(text.lstrip('0123456789'))]
    return int(digits) if 0 < len(digits) < 10 else None


def container_of(metadata: str) -> str:
    """Return the container that has an array, '' if it has none. metadata: metadata_version:
    "external:/md127/0".
    """
    found = re.match('external:/([A-Za-z0-9_]+)/', metadata)
    return found[1] if found else ''


def udev_notes(name: str, devices: Devices) -> dict[str, str]:
    """Return the properties of a device in the udev database; {} if they are missing."""
    folder = f'{devices.parts[name]}/{name}' if name in devices.parts else name
    number = text_of(f'{devices.system.sys}/block/{folder}/dev')
    entry = text_of(f'{devices.system.udev}/b{number}') if number else ''
    return dict(re.findall('^E:([^=\n]*)=?(.*)$', entry, re.MULTILINE))


# --- volumes of the device mapper -----------------------------------------------------------------

NO_STATUS = 'its level and state are not in /sys; as root, run triage --dmsetup'
CEPH = 'only the Ceph cluster knows its redundancy'
PEER = 'only DRBD knows the state of its peer'
_TARGET = 'its target is not in /sys'
# Start of the UUID -> kind, level, reason if the level is unknown. The creator of the volume set
# the UUID.
KINDS = (
    ('LVM-', 'lvm', 'single', ''),
    ('CRYPT-', 'luks', 'single', ''),
    ('part[0-9]+-', 'partition', 'single', ''),
    ('mpath-', 'multipath', 'single', ''),
    ('', 'dm', '', _TARGET),
)
# Patterns that few checks need, so re compiles them at their first use.
_INNER = '_(?:[rm]image|rmeta|mlog|[tc]data|[tc]meta|corig|cvol|wcorig|vdata|iorig|imeta)(?:_|$)'
_IMAGE = '_(?:[rm]image|rmeta)_([0-9]{1,4})$'  # image of a mirror; its metadata fails with it


class Volume(NamedTuple):
    """A volume as the device mapper describes it."""

    name: str  # "vg0-home"
    uuid: str  # "LVM-", 64 letters and, for an inner volume, a suffix
    slaves: tuple[str, ...]  # "sda2", "dm-1"


def volumes(names: list[str], system: System) -> dict[str, Volume]:
    """Return each volume by its kernel name, such as "dm-3"."""
    return {
        name: Volume(
            text_of(f'{system.sys}/block/{name}/dm/name'),
            text_of(f'{system.sys}/block/{name}/dm/uuid'),
            tuple(names_in(f'{system.sys}/block/{name}/slaves')[:MOST_MEMBERS]),
        )
        for name in names
    }


def inner(every: Mapping[str, Volume]) -> dict[str, tuple[str, ...]]:
    """Return the inner volumes of LVM that hold no copies of their own, each with the devices below
    it. A volume that no other volume is built on is shown, whatever its name: the volumes in a thin
    pool may all be inactive.

    '' represents a missing device, which LVM replaces by an empty volume.
    """
    used = {slave for volume in every.values() for slave in volume.slaves}
    hidden = {
        name
        for name, volume in every.items()
        if name in used
        and volume.uuid.startswith('LVM-')
        and not _images(volume, every)
        and ('-' in volume.uuid[4:] or re.search(_INNER, volume.name))
    }
    return {name: _through(every[name].slaves or ('',), hidden, every) for name in hidden}


def _through(
    slaves: tuple[str, ...], hidden: set[str], every: Mapping[str, Volume]
) -> tuple[str, ...]:
    """Return the devices below *slaves*, through any number of inner volumes.

    Each volume is visited only once.
    """
    todo, seen, found = list(slaves), set(), []
    for name in todo:  # the loop adds to this list
        if name in seen:
            continue
        seen.add(name)
        if name in hidden:
            todo += every[name].slaves or ('',)
        else:
            found.append(name)
    return tuple(found[:MOST_MEMBERS]) or ('',)


def volume_name(name: str) -> str:
    """Return the usual name of an LVM volume: "vg0/home-old" for vg0-home--old."""
    group, dash, volume = name.replace('--', '\0').partition('-')
    return f'{group}/{volume}'.replace('\0', '-') if dash else name


def title(volume: Volume) -> str:
    """Return the name of a volume for people; '' if it has no name."""
    return (volume_name(volume.name) if volume.uuid.startswith('LVM-') else volume.name)[
        :LONGEST_GIVEN_NAME
    ]


def group(name: str, every: Mapping[str, Volume], devices: Devices) -> Group:
    """Return a volume with the devices below it as members.

    In a mirror or RAID, members are in image order.
    """
    volume, called = every[name], title(every[name]) or name
    kind, level, unknown = next(row[1:] for row in KINDS if re.match(row[0], volume.uuid))
    if kind == 'lvm' and called.startswith('ceph-'):
        kind, level, unknown = 'ceph', '', CEPH
    images = _images(volume, every)
    if kind == 'multipath':
        members = [_one_disk(volume.slaves, devices)]
    elif images:
        level, unknown = '', NO_STATUS
        members = [_image(number, images[number], devices) for number in sorted(images)]
    else:
        state = 'in_sync' if level else 'unknown'
        members = [
            devices.member(each, state, slot)
            for slot, each in enumerate(_below(volume.slaves, devices))
        ]
    return Group(
        name,
        called,
        kind,
        level,
        len(members),
        0,
        tuple(members[:MOST_MEMBERS]),
        used_as=devices.used.get(name, ()),
        unknown=unknown,
    )


def _images(volume: Volume, every: Mapping[str, Volume]) -> dict[int, list[str]]:
    """Return the inner volumes of each image of a mirror or RAID, by the image's number; {} for
    other volumes.
    """
    images: dict[int, list[str]] = {}
    for slave in volume.slaves:
        found = re.search(_IMAGE, every[slave].name) if slave in every else None
        if found:
            images.setdefault(int(found[1]), []).append(slave)
    return images


def _image(number: int, parts: list[str], devices: Devices) -> Member:
    """Return an image as a member named after its devices, such as "sdb1"; missing if a device
    is missing.
    """
    pieces = [devices.member(each) for each in _below(tuple(parts), devices)]
    state = 'unknown' if all(piece.on for piece in pieces) else 'missing'
    return Member(
        ', '.join(piece.name for piece in pieces if piece.name)[:LONGEST_GIVEN_NAME],
        state,
        number,
        tuple(dict.fromkeys(disk for piece in pieces for disk in piece.on)),
    )


def _one_disk(paths: tuple[str, ...], devices: Devices) -> Member:
    """Return the only member of a multipath volume: the disk that all of its paths lead to."""
    found = [devices.member(path) for path in paths]
    dead = [
        path
        for path in paths
        if text_of(f'{devices.system.sys}/block/{path}/device/state') == 'offline'
    ]
    on = tuple(dict.fromkeys(disk for path in found for disk in path.on))
    return Member(
        ', '.join(paths)[:LONGEST_GIVEN_NAME],
        'in_sync' if on else 'missing',
        0,
        on,
        f'{", ".join(dead)} offline'[:LONGEST_GIVEN_NAME] if dead else '',
    )


def _below(slaves: tuple[str, ...], devices: Devices) -> tuple[str, ...]:
    """Return the devices behind *slaves*, with each inner volume replaced by its own devices."""
    return tuple(
        dict.fromkeys(
            each for slave in slaves or ('',) for each in devices.inside.get(slave, (slave,))
        )
    )


# --- dmsetup status -------------------------------------------------------------------------------

# --noflush: do not first write the state of other targets to disk.
COMMAND = ('dmsetup', 'status', '--target', 'raid', '--noflush')
# LVM's older mirrors, which LVM has built instead of raid1 until 2012, and on request since
COMMAND_OF_MIRRORS = ('dmsetup', 'status', '--target', 'mirror', '--noflush')
_NOT_REPORTED = 'its level and state are not in /sys, and dmsetup did not report them'
_NOT_UNDERSTOOD = 'the output of dmsetup status is not understood'
_TWICE = 'dmsetup reports that this volume contains more than one RAID'
_LINE = '(.+): [0-9]+ [0-9]+ raid(?: (.*))?'
_RAID = (
    '([a-z0-9_]+) ([0-9]{1,3}) ([AaD-]+) ([0-9]{1,20})/([0-9]{1,20}) ([a-z]+) '
    '([0-9]+)(?: [0-9]+(?: [AaD-])?)?'
)
_FIELDS = (
    'raid_type',
    '#devices',
    'health_chars',
    'sync_ratio',
    'sync_action',
    'mismatch_cnt',
    'data_offset',
    'journal_char',
)
# raid_type -> level. Only dmsetup table shows the layout of raid10, but one member may fail in any
# layout.
_LEVELS = {
    'raid0': 'raid0',
    'raid0_meta': 'raid0',
    'raid1': 'raid1',
    'raid4': 'raid4',
    'raid5_n': 'raid5',
    'raid5_la': 'raid5',
    'raid5_ra': 'raid5',
    'raid5_ls': 'raid5',
    'raid5_rs': 'raid5',
    'raid6_zr': 'raid6',
    'raid6_nr': 'raid6',
    'raid6_nc': 'raid6',
    'raid6_n_6': 'raid6',
    'raid6_la_6': 'raid6',
    'raid6_ra_6': 'raid6',
    'raid6_ls_6': 'raid6',
    'raid6_rs_6': 'raid6',
    'raid10': 'raid10-unknown-layout',
    'raid10_near': 'raid10-unknown-layout',
    'raid10_far': 'raid10-unknown-layout',
    'raid10_offset': 'raid10-unknown-layout',
}
# Character in health_chars -> state of a member.
_STATES = {'A': 'in_sync', 'a': 'rebuilding', 'D': 'faulty', '-': 'missing'}
# sync_action -> the activity of a group; any other word makes the redundancy unknown.
ACTIVITIES = {
    'idle': '',
    'frozen': '',
    'resync': 'resync',
    'recover': 'recover',
    'reshape': 'reshape',
    'check': 'check',
    'repair': 'repair',
}
_ACTIVITIES = {'init': 'resync', **ACTIVITIES}


class Status(NamedTuple):
    """The state of a RAID volume as the device mapper reports it."""

    level: str  # '' if it is not known
    health: str = ''  # one character for each member, in order
    activity: str = ''  # as in Group
    progress: float | None = None  # progress of the activity, %
    unknown: str = ''  # why the level is not known
    text: str = ''  # all fields, as reported


def statuses(text: str) -> Mapping[str, Status]:
    """Return the state of each RAID volume by its device mapper name, from the output of
    `dmsetup status`. Pure.
    """
    found: dict[str, Status] = {}
    for line in text.split('\n'):
        match = re.fullmatch(_LINE, line.rstrip(' '))
        if match:
            found[match[1]] = (
                _status(match[2] or '') if match[1] not in found else Status('', unknown=_TWICE)
            )
    return found


def _status(text: str) -> Status:
    """Return the RAID state from the text after the word "raid"."""
    match = re.fullmatch(_RAID, text)
    if (
        not match
        or match[1] not in _LEVELS
        or match[6] not in _ACTIVITIES
        or int(match[2]) != len(match[3])
    ):
        return Status('', unknown=_NOT_UNDERSTOOD)
    done, total = int(match[4]), int(match[5])
    activity = _ACTIVITIES[match[6]]
    progress = min(100.0, 100 * done / total) if activity and total else None
    if activity in ('resync', 'reshape'):
        # During these activities, dm-raid shows the same character for all working members.
        return Status(
            '',
            match[3],
            activity,
            progress,
            f'a {activity} is running, and dm-raid does not report which members are complete',
        )
    return Status(_LEVELS[match[1]], match[3], activity, progress, text=text)


# Number of copies, their devices, regions in sync, one character for each copy, the log.
_MIRROR_LINE = (
    '(.+): [0-9]+ [0-9]+ mirror ([0-9]{1,3}) (?:[0-9]+:[0-9]+ )+([0-9]{1,20})/([0-9]{1,20}) 1 '
    '([A-Z]+) .*'
)


def statuses_of_mirrors(text: str) -> Mapping[str, Status]:
    """Return the state of each mirror by its device mapper name, as statuses(). Pure."""
    found: dict[str, Status] = {}
    for line in text.split('\n'):
        match = re.fullmatch(_MIRROR_LINE, line)
        if match:
            status = _status_of_mirror(int(match[2]), int(match[3]), int(match[4]), match[5])
            is_second = match[1] in found
            found[match[1]] = Status('', unknown=_TWICE) if is_second else status
    return found


def _status_of_mirror(copies: int, done: int, total: int, health: str) -> Status:
    """Return the state of a mirror. done, total: regions in sync, and all."""
    if copies != len(health) or not 0 < total >= done:
        return Status('', unknown=_NOT_UNDERSTOOD)
    if done < total:
        return Status(
            '',
            health,
            'resync',
            100 * done / total,
            'a resync is running, and only one of its copies is complete',
        )
    if set(health) != {'A'}:
        return Status('', health, unknown=f'dmsetup reports errors of its copies ({health})')
    return Status('raid1', health)


def with_status(group: Group, status: Status) -> Group:
    """Return a volume, completed with its state.

    A member keeps its old state if the old state is worse. Pure.
    """
    unknown = status.unknown
    places = {member.slot: member for member in group.members if member.slot is not None}
    if not unknown and (
        len(places) < len(group.members) or not set(places) <= set(range(len(status.health)))
    ):
        unknown = 'dmsetup and /sys report different members'
    if unknown:
        return group._replace(
            level='', unknown=unknown, activity=status.activity, progress=status.progress
        )
    members = tuple(
        _member(places.get(place, Member('', 'missing', place)), _STATES[character])
        for place, character in enumerate(status.health)
    )
    fields = {**dict.fromkeys(_FIELDS, ''), **dict(zip(_FIELDS, status.text.split(' ')))}
    return group._replace(
        level=status.level,
        slots=len(members),
        members=members,
        activity=status.activity,
        progress=status.progress,
        unknown='',
        doubts=tuple(doubts.of_dm_raid(fields)) if status.text else (),
    )


def _member(member: Member, state: str) -> Member:
    """Return a member with a new state, unless /sys shows that the member is gone."""
    return (
        member
        if member.state in ('faulty', 'missing') and state != 'faulty'
        else member._replace(state=state)
    )


def completed(
    known: Iterable[Group],
    system: System = LINUX,
    _drives: object = (),
) -> tuple[tuple[Group, ...], tuple[Coded, ...]]:
    """Return the known groups, in which LVM volumes of unknown level are completed, and the notes."""
    known = tuple(known)
    names = {
        group.id: text_of(f'{system.sys}/block/{group.id}/dm/name')
        for group in known
        if group.kind == 'lvm' and not group.level
    }
    if not names:
        return known, ()
    text, problem = ask()
    found = {**statuses(text)}
    if not problem and not found.keys() >= set(names.values()):
        text, problem = ask(COMMAND_OF_MIRRORS)
        found = {**statuses_of_mirrors(text), **found}
    nothing = Status('', unknown=_NOT_REPORTED)
    return tuple(
        with_status(group, found.get(names[group.id], nothing)) if group.id in names else group
        for group in known
    ), (problem,) if problem else ()


def ask(command: tuple[str, ...] = COMMAND) -> tuple[str, Coded]:
    """Return the output of dmsetup status, or '' and the reason for its absence."""
    text, why = linux.output(command)
    return text, Coded(
        'dmsetup-status-missing', f'the redundancy of LVM volumes is unknown: {why}' if why else ''
    )
