"""What each partition of a disk holds, and the groups of those that no array, volume, pool or file
system in use holds.

Nothing is left out: what no group accounts for is a signature that is not in use, a type that
holds nothing that counts, or unknown. Types and signatures come from the udev database. Without it,
as in a container, only the partitions that nothing uses are unknown.
Sources: UEFI 2.10, 5.3.3 (EFI system partition, also its type in an MBR); GNU GRUB manual, BIOS
installation; Microsoft, PARTITION_INFORMATION_GPT (reserved partition); util-linux,
include/pt-gpt-partnames.h (PReP, swap) and include/pt-mbr-partnames.h (PReP, extended); OpenZFS,
lib/libefi/rdwr_efi.c (EFI_RESERVED, the ninth partition of a disk); systemd, udev-builtin-blkid.c
(ID_FS_TYPE, ID_FS_AMBIVALENT, ID_PART_ENTRY_TYPE).
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from ..constants import LONGEST_GIVEN_NAME
from ..model import Group
from ..reading.system import System, text_of
from ..typed import NamedTuple
from ..words import clean
from . import block_devices
from .block_devices import NO_DISKS, Devices, Kind

# What a partition, or a disk without partitions, holds.
MEMBER = 'member'  # what it holds counts as that of a group, or of another device
MOUNTED = 'mounted'
SWAP = 'swap'
# a known signature that is not in use: only this disk has the data
SIGNATURE = 'signature'
NOTHING = 'nothing'
UNKNOWN = 'unknown'
# ID_PART_ENTRY_TYPE, as libblkid writes it: a GUID of GPT in lower case, or the number of an MBR.
EFI = ('c12a7328-f81f-11d2-ba4b-00a0c93ec93b', '0xef')
# The types of partitions that hold nothing that counts.
TYPES = (
    *EFI,
    '21686148-6449-6e6f-744e-656564454649',  # BIOS boot
    # Swap. TrueNAS makes one on each disk, and leaves most of them without a signature (middleware,
    # plugins/disk_/configure_swap.py).
    '0657fd6d-a4ab-43c4-84e5-0933c84b4f4f',
    '516e7cb5-6ecf-11d6-8ff8-00022d09712b',
    'e3c9e316-0b5c-4db8-817d-f92df00215ae',  # reserved by Microsoft
    '9e1a2d38-c612-4316-aa26-8b49521e5a8b',  # PReP
    '0x41',
    '0x5',  # extended
    '0xf',
    '0x85',
    '6a945a3b-1dd2-11b2-99a6-080020736631',  # reserved by ZFS
)
# Kinds of the group of a partition of unknown use. On a disk, it may be a copy of what another disk
# has, so its redundancy is unknown. On an array, it is lost with the array, like level "single".
_UNKNOWN_USE = Kind('unknown', '', 'its use is not known')
_UNKNOWN_USE_ON_ARRAY = Kind('unknown')
# Pattern of the ID_FS_TYPE of a member that nothing uses -> its kind. For ZFS, see _pool.
_MEMBERS = (
    ('ceph_bluestore', block_devices.CEPH),
    ('crypto_LUKS|luks', Kind('luks')),
    ('bcache', block_devices.BCACHE),
    ('drbd', block_devices.DRBD),
    ('LVM2_member', Kind('lvm', '', 'no logical volume on it is active')),
    ('[a-z0-9_]+_raid_member', Kind('md', '', 'it is not part of a running array')),
)


class Claim(NamedTuple):
    """What one partition, or one disk without partitions, holds."""

    name: str  # "sda2"
    kind: str  # MEMBER, MOUNTED, SWAP, SIGNATURE, NOTHING or UNKNOWN
    notes: Mapping[str, str] = {}  # udev's, if no group uses the partition


def kind_of(notes: Mapping[str, str]) -> str:
    """Return what a partition holds that nothing uses: SIGNATURE, NOTHING or UNKNOWN.

    A signature counts, whatever the type of the partition is, except for those of swap space and of
    a boot partition. notes: the partition's properties in the udev database, see
    block_devices.udev_notes().
    """
    signature = notes.get('ID_FS_TYPE') or notes.get('ID_FS_AMBIVALENT', '')
    own_type = notes.get('ID_PART_ENTRY_TYPE', '')
    is_boot = signature == 'vfat' and own_type in EFI
    if is_boot or signature == 'swap':
        return NOTHING
    if signature:
        return SIGNATURE
    return NOTHING if own_type in TYPES else UNKNOWN


def claims(members: Collection[str], devices: Devices) -> tuple[Claim, ...]:
    """Return what each partition holds, and each disk, array or volume that has no partitions, or
    is in use itself.

    members: the devices that are members of groups.
    """
    parted = set(devices.parts.values())
    in_use = {*members, *devices.used}
    # These are the first paths to devices that are in use only on a further path.
    in_use_elsewhere = {_by_first_path(name, devices) for name in in_use} - in_use
    claimed = []
    for name in sorted({*devices.names, *devices.parts}):
        disk = devices.parts.get(name, name)
        if disk.rstrip('0123456789') not in NO_DISKS:  # "loop" of "loop0"
            claim = _claim(name, members, devices, in_use_elsewhere)
            if name not in parted or _is_of_disk(claim):
                claimed.append(claim)
    return tuple(claimed)


def _is_of_disk(claim: Claim) -> bool:
    """Return whether a disk with partitions is itself in use, or has a file system of its own. The
    label of a ZFS pool belongs to its last partition, or is older than its partitions.
    """
    if claim.kind != SIGNATURE:
        return claim.kind in (MEMBER, MOUNTED, SWAP)
    is_pool = claim.notes.get('ID_FS_TYPE') == 'zfs_member'
    return not is_pool and claim.notes.get('ID_FS_USAGE') in ('filesystem', 'crypto')


def _by_first_path(name: str, devices: Devices) -> str:
    """Return the name that a disk or partition has on the first path to its disk."""
    disk = devices.parts.get(name, name)
    return devices.same.get(disk, disk) + name[len(disk) :]


def _claim(
    name: str,
    members: Collection[str],
    devices: Devices,
    in_use_elsewhere: Collection[str],
) -> Claim:
    """Return what a partition, disk, array or volume holds. The first of these cases counts:

    - It is in *members*, or its disk is used as a whole: MEMBER. Partitions of such a disk are no
      data of their own: another path to the drive is used, or their table is a leftover.
    - It is in use as swap space: SWAP. It is mounted: MOUNTED.
    - It is on a further path to its disk, or its data is in use on a further path: MEMBER. The data
      of a disk counts only on the first path to it.
    - Nothing uses it: SIGNATURE, NOTHING or UNKNOWN, with udev's notes.

    in_use_elsewhere: the first paths to devices that are in use only on a further path.
    """
    disk = devices.parts.get(name, name)
    is_partition = disk != name
    is_on_used_disk = is_partition and (disk in members or disk in devices.used)
    if name in members or is_on_used_disk:
        return Claim(name, MEMBER)
    if name in devices.used:
        is_swap = devices.used[name] == ('swap',)
        return Claim(name, SWAP if is_swap else MOUNTED)
    is_on_further_path = disk in devices.same
    if is_on_further_path or name in in_use_elsewhere:
        return Claim(name, MEMBER)
    notes = _own_notes(name, devices)
    return Claim(name, kind_of(notes), notes)


def _own_notes(name: str, devices: Devices) -> dict[str, str]:
    """Return udev's notes on a device.

    A partition without a signature inherits that of its disk. The inherited one is left out if the
    partition has a type that holds nothing.
    Source: systemd, 60-persistent-storage.rules, IMPORT{parent}="ID_*".
    """
    notes = block_devices.udev_notes(name, devices)
    of_disk = block_devices.udev_notes(devices.parts.get(name, ''), devices)
    signature = _signature(notes)
    # This is also true if neither has a signature. Then there is nothing to leave out.
    is_inherited = signature == _signature(of_disk)
    if is_inherited and notes.get('ID_PART_ENTRY_TYPE') in TYPES:
        return {key: value for key, value in notes.items() if key not in signature}
    return notes


def _signature(notes: Mapping[str, str]) -> dict[str, str]:
    """Return the notes that are about a signature; {} without one."""
    return {key: value for key, value in notes.items() if key.startswith('ID_FS_')}


# --- groups ---------------------------------------------------------------------------------------


def groups(
    claims: Iterable[Claim], above: Collection[str], devices: Devices
) -> Iterator[Group]:
    """Yield a group for each partition or disk that is mounted, used as swap space, or not in use
    by a group although it may hold data; one group for all members of a ZFS pool.

    above: the ids of the groups so far. Those of arrays and volumes are their names, so an array or
    volume gets no second group for a file system or swap space directly on it.
    """
    pools: dict[str, list[str]] = {}
    for name, holds, notes in claims:
        has_group = name in above
        is_pool = notes.get('ID_FS_TYPE') == 'zfs_member'
        if holds == SIGNATURE and is_pool:
            label = notes.get('ID_FS_LABEL', '')[:LONGEST_GIVEN_NAME]
            pools.setdefault(label or name, []).append(name)
        elif holds == SIGNATURE:
            yield from _of_signature(name, notes, devices, has_group)
        elif holds in (MOUNTED, SWAP) and not has_group:
            kind = 'swap' if holds == SWAP else 'partition'
            yield _alone(name, Kind(kind), devices)
        elif holds == UNKNOWN and not has_group:
            is_on_array = devices.parts.get(name) in above
            unknown = _UNKNOWN_USE_ON_ARRAY if is_on_array else _UNKNOWN_USE
            # A drive without any group is of unknown use anyway. So a disk needs no group here,
            # unless it is one of several namespaces or actuators of a drive (devices.units).
            if name in devices.parts or name in devices.units:
                yield _alone(name, unknown, devices)
    for pool, names in pools.items():
        yield _pool(pool, names, devices)


def _of_signature(
    name: str, notes: Mapping[str, str], devices: Devices, has_group: bool
) -> Iterator[Group]:
    """Yield the group of a device with a signature that is not in use.

    - The signature of a member, as in _MEMBERS: a group, also if the device has one
    - Any other signature, such as that of a file system: a group, but nothing if the device has one

    has_group: the device is an array or volume, which has a group of its own.
    """
    for pattern, kind in _MEMBERS:
        if re.fullmatch(pattern, notes.get('ID_FS_TYPE', '')):
            members = devices.members([name], kind)
            yield devices.group(
                group_id=f'{kind.name} {name}',
                name=members[0].name,
                kind=kind,
                members=members,
            )
            return
    if not has_group:
        # With several signatures, udev reports no type.
        content = clean(notes.get('ID_FS_TYPE', ''), 40) or 'several signatures'
        label = clean(notes.get('ID_FS_LABEL', ''), 40)
        detail = ', '.join(filter(None, (label, content, 'not mounted')))
        yield _alone(name, Kind('partition'), devices, detail)


def is_unknown(group: Group) -> bool:
    """Return whether a group is a partition, or a namespace, of unknown use."""
    return group.kind == _UNKNOWN_USE.name


def _alone(name: str, kind: Kind, devices: Devices, detail: str = '') -> Group:
    """Return the group of one partition. detail: what it holds, if it is not in use."""
    member = devices.member(name, slot=0)._replace(detail=detail)
    group = devices.group(
        group_id=f'{kind.name} {name}',
        name=name,
        kind=kind,
        members=[member],
    )
    return group._replace(used_as=devices.used.get(name, ()))


def _pool(pool: str, names: list[str], devices: Devices) -> Group:
    """Return the group of a ZFS pool. names: the devices with its label."""
    members = [devices.member(name, 'unknown') for name in names]
    kind = Kind('zfs', '', zfs_unknown(pool, devices.system))
    return devices.group(group_id=f'zfs {pool}', name=pool, kind=kind, members=members)


def zfs_unknown(pool: str, system: System) -> str:
    """Return why the redundancy of a pool is unknown: it is not imported, or only `zpool status`
    shows its layout. Before the second reason stands the pool's state, unless it is ONLINE or not
    known.
    """
    folder = f'{system.proc}/spl/kstat/zfs'
    # no pool has another name, but a damaged label may
    is_name = re.fullmatch('[A-Za-z][-A-Za-z0-9_.: ]*', pool)
    state = text_of(f'{folder}/{pool}/state') if is_name else ''
    if not state and os.path.isdir(folder):
        return 'the pool is not imported'
    reason = 'its layout is not in /sys; run triage --zpool'
    if state in ('', 'ONLINE'):
        return reason
    return f'ZFS reports the state "{clean(state, 40)}"; {reason}'
