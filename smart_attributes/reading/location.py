"""Find the bay and locate LED of a drive, and the arrays, volumes and mounts that use it.

All data is from /sys, /proc and the udev database, which every user may read. Data missing there is left out, never
guessed.
Sources: Linux, Documentation/ABI/testing/sysfs-class-enclosure and sysfs-block, md.rst; systemd, sd-device
(/run/udev/data).
"""
from __future__ import annotations

import os
import re

from ..model import Device, Place
from ..typed import TYPE_CHECKING, NamedTuple
from .device_types import base, controller

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MEMBERS = {'zfs_member': 'ZFS pool', 'LVM2_member': 'LVM', 'linux_raid_member': 'md member', 'crypto_LUKS': 'LUKS',
           'swap': 'swap', 'ceph_bluestore': 'Ceph', 'bcache': 'bcache', 'drbd': 'DRBD'}
POOLED = ('zfs_member', 'linux_raid_member')   # those of MEMBERS with copies on other drives
# Current action in md/sync_action -> the word used in /proc/mdstat.
SYNCING = {'recover': 'recovering', 'resync': 'resyncing', 'check': 'checking', 'repair': 'repairing',
           'reshape': 'reshaping', 'frozen': 'frozen'}


class System(NamedTuple):
    """The folders in which Linux describes the system; tests use other ones."""

    sys: str = '/sys'
    proc: str = '/proc'
    udev: str = '/run/udev/data'


LINUX = System()


def place(device: Device, system: System = LINUX) -> Place:
    """Return the location of a drive, or an empty Place if it is not known. Never raises."""
    kind = controller(device.type)
    if kind and kind.bay:
        return Place(bay=kind.bay.format(*re.findall('[0-9]+', base(device).partition(',')[2])))
    disks = [] if device.is_recorded else disks_of(os.path.basename(os.path.realpath(device.path)), system)
    if not disks:
        return Place()
    bay, light = _bay(disks[0], system)
    carried = [carried for disk in disks for carried in _carried(disk, system)]
    return Place(bay, light, tuple(dict.fromkeys(text for text, _ in carried)), any(array for _, array in carried))


def disks_of(name: str, system: System) -> list[str]:
    """Return the block devices of "sda", "sg2" or "nvme0"; an NVMe controller has one for each namespace."""
    if os.path.isdir(f'{system.sys}/block/{name}'):
        return [name]
    if name.startswith('sg'):
        return names_in(f'{system.sys}/class/scsi_generic/{name}/device/block')
    # A namespace behind two controllers is named nvme0n1, although both reach it; nvme0c0n1 is a path, not a disk.
    return sorted({re.sub('c[0-9]+', '', each) for each in names_in(f'{system.sys}/class/nvme/{name}')
                   if re.fullmatch('nvme[0-9]+(c[0-9]+)?n[0-9]+', each)})


# --- bay and locate LED ---------------------------------------------------------------------------------

def _bay(disk: str, system: System) -> tuple[str, str]:
    """Return the bay of a disk, and the file that switches its locate LED on."""
    device = f'{system.sys}/block/{disk}/device'
    for name in names_in(device):
        if name.startswith('enclosure_device:'):
            component = f'{device}/{name}'
            number = text_of(f'{component}/slot') or name.partition(':')[2].strip()
            locate = os.path.realpath(f'{component}/locate')
            return f'slot {number}', locate if os.path.exists(locate) else ''
    # PCI lists the slot of an NVMe drive under its bus address without the function.
    addresses = re.findall('[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}', os.path.realpath(device))
    slots = {text_of(f'{system.sys}/bus/pci/slots/{slot}/address'): slot
             for slot in names_in(f'{system.sys}/bus/pci/slots')}
    return next((f'slot {slots[address]}' for address in reversed(addresses) if address in slots), ''), ''


# --- users of a drive ---------------------------------------------------------------------------------

def _carried(disk: str, system: System) -> Iterator[tuple[str, bool]]:
    """Yield a short description of each user of a disk or its partitions, and whether it is an array or pool."""
    folder = f'{system.sys}/block/{disk}'
    mounts = _mounts(system)
    for part in [disk, *sorted(name for name in names_in(folder) if name.startswith(disk))]:
        below = folder if part == disk else f'{folder}/{part}'
        holders = names_in(f'{below}/holders')
        for holder in holders:
            yield from _holder(holder, mounts, system)
        if part in mounts:
            yield f'{part} on {mounts[part]}', False
        elif not holders:
            yield from _member(text_of(f'{below}/dev'), system)


def _holder(holder: str, mounts: Mapping[str, str], system: System) -> Iterator[tuple[str, bool]]:
    """Yield an md array with its state, or a device mapper volume, and the users of it."""
    folder = f'{system.sys}/block/{holder}'
    level = text_of(f'{folder}/md/level')
    if level:
        where = f', {mounts[holder]}' if holder in mounts else ''
        yield f'{holder} ({level}{where}, md state: {", ".join(_md_states(f"{folder}/md"))})', True
    else:
        where = f' on {mounts[holder]}' if holder in mounts else ''
        yield f'{text_of(f"{folder}/dm/name") or holder}{where}', False
    for above in names_in(f'{folder}/holders'):
        yield from _holder(above, mounts, system)


def _md_states(md: str) -> Iterator[str]:
    """Yield the states that md reports for the array ("clean", "degraded", "recovering") and for each member.

    A member is such as "sda1 in_sync" or "sdb1 faulty"; in_sync does not mean that the drive is healthy.
    """
    yield text_of(f'{md}/array_state') or 'unknown'
    if text_of(f'{md}/degraded') not in ('', '0'):
        yield 'degraded'
    action = text_of(f'{md}/sync_action')
    if action not in ('', 'idle'):
        yield SYNCING.get(action, action)
    for name in names_in(md):
        if name.startswith('dev-'):
            yield f'{name[4:]} {text_of(f"{md}/{name}/state") or "unknown"}'


def _member(numbers: str, system: System) -> Iterator[tuple[str, bool]]:
    """Yield what udev found on a disk for which the kernel reports no user, such as a member of a ZFS pool."""
    notes = text_of(f'{system.udev}/b{numbers}') if numbers else ''
    values = dict(re.findall('^E:(ID_FS_TYPE|ID_FS_LABEL)=(.*)$', notes, re.MULTILINE))
    kind = MEMBERS.get(values.get('ID_FS_TYPE', ''))
    if kind:
        yield f'{kind} {values.get("ID_FS_LABEL", "")}'.rstrip(), values['ID_FS_TYPE'] in POOLED


def _mounts(system: System) -> dict[str, str]:
    """Return the first mount point of each device, by its kernel name."""
    mounts: dict[str, str] = {}
    names = {text_of(f'{system.sys}/block/{disk}/dm/name'): disk for disk in names_in(f'{system.sys}/block')
             if disk.startswith('dm-')}
    for line in text_of(f'{system.proc}/self/mounts').splitlines():
        source, _, rest = line.partition(' ')
        if source.startswith('/dev/'):
            name = os.path.basename(source)
            point = re.sub(r'\\([0-7]{3})', lambda code: chr(int(code[1], 8)), rest.partition(' ')[0])
            mounts.setdefault(names.get(name, name), point)
    return mounts


def names_in(folder: str) -> list[str]:
    """Return the sorted names in a folder; none if it cannot be read."""
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def text_of(path: str) -> str:
    """Return the text of a small file without surrounding whitespace, or '' if it cannot be read."""
    try:
        with open(path, encoding='utf-8', errors='replace') as file:
            return file.read(1 << 16).strip()
    except (OSError, ValueError):
        return ''
