"""Where a drive is and what stands on it: its bay, the light beside it, the arrays, volumes and mounts that it carries.

All from /sys, /proc and udev's notes, which everybody may read; what is not told there is left out, never guessed.
Sources: Linux, Documentation/ABI/testing/sysfs-class-enclosure and sysfs-block, md.rst; systemd, sd-device
(/run/udev/data).
"""
from __future__ import annotations

import os
import re

from ..model import Device, Place
from ..typed import TYPE_CHECKING, NamedTuple
from .device_types import controller

if TYPE_CHECKING:
    from typing import Dict, Iterator, List, Mapping, Tuple

MEMBERS = {'zfs_member': 'ZFS pool', 'LVM2_member': 'LVM', 'linux_raid_member': 'md member', 'crypto_LUKS': 'LUKS',
           'swap': 'swap', 'ceph_bluestore': 'Ceph', 'bcache': 'bcache', 'drbd': 'DRBD'}
POOLED = ('zfs_member', 'linux_raid_member')   # of MEMBERS, those that keep copies on other drives
# What md/sync_action calls what md does now -> the word that /proc/mdstat readers know.
SYNCING = {'recover': 'recovering', 'resync': 'resyncing', 'check': 'checking', 'repair': 'repairing',
           'reshape': 'reshaping', 'frozen': 'frozen'}


class System(NamedTuple):
    """Where Linux tells about itself; other folders in tests."""

    sys: str = '/sys'
    proc: str = '/proc'
    udev: str = '/run/udev/data'


LINUX = System()


def place(device: Device, system: System = LINUX) -> Place:
    """Return where a drive is; an empty Place where nothing tells. Never raises: it is worth a word, no verdict."""
    kind = controller(device.type)
    if kind and kind.bay:
        return Place(bay=_numbered(kind.bay, re.findall('[0-9]+', device.type.rpartition('+')[2].partition(',')[2])))
    return Place() if device.is_recorded else _of_disks(_disks(os.path.basename(os.path.realpath(device.path)), system),
                                                        system)


def _numbered(form: str, numbers: List[str]) -> str:
    try:
        return form.format(*numbers)
    except IndexError:
        return ''


def _of_disks(disks: List[str], system: System) -> Place:
    if not disks:
        return Place()
    bay, light = _bay(disks[0], system)
    carried = [carried for disk in disks for carried in _carried(disk, system)]
    return Place(bay, light, tuple(dict.fromkeys(text for text, _ in carried)), any(array for _, array in carried))


def _disks(name: str, system: System) -> List[str]:
    """Return the block devices of "sda", "sg2" or "nvme0", an NVMe controller having one for each namespace."""
    if os.path.isdir(f'{system.sys}/block/{name}'):
        return [name]
    if name.startswith('sg'):
        return _listed(f'{system.sys}/class/scsi_generic/{name}/device/block')
    # Behind two controllers a namespace is called nvme0n1 though it hangs at both; nvme0c0n1 is a path to it, no disk.
    found = [each for each in _listed(f'{system.sys}/class/nvme/{name}')
             if re.fullmatch('nvme[0-9]+(c[0-9]+)?n[0-9]+', each)]
    return sorted({re.sub('c[0-9]+', '', each) for each in found})


# --- bay and light ---------------------------------------------------------------------------------

def _bay(disk: str, system: System) -> Tuple[str, str]:
    """Return the bay of a disk, and the file that switches the light beside it on."""
    device = f'{system.sys}/block/{disk}/device'
    for name in _listed(device):
        if name.startswith('enclosure_device:'):
            component = f'{device}/{name}'
            number = _content(f'{component}/slot') or name.partition(':')[2].strip()
            locate = os.path.realpath(f'{component}/locate')
            return f'slot {number}', locate if os.path.exists(locate) else ''
    return _pci_slot(os.path.realpath(device), system), ''


def _pci_slot(device: str, system: System) -> str:
    """Return the slot of an NVMe drive, which PCI knows by its bus address without the function."""
    addresses = re.findall('[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}', device)
    slots = {_content(f'{system.sys}/bus/pci/slots/{slot}/address'): slot
             for slot in _listed(f'{system.sys}/bus/pci/slots')}
    return next((f'slot {slots[address]}' for address in reversed(addresses) if address in slots), '')


# --- what it carries ---------------------------------------------------------------------------------

def _carried(disk: str, system: System) -> Iterator[Tuple[str, bool]]:
    """Yield a few words for everything that stands on a disk or its partitions, and whether it is an array or pool."""
    folder = f'{system.sys}/block/{disk}'
    parts = [disk, *sorted(name for name in _listed(folder) if name.startswith(disk))]
    mounts = _mounts(system)
    for part in parts:
        below = folder if part == disk else f'{folder}/{part}'
        holders = _listed(f'{below}/holders')
        for holder in holders:
            yield from _holder(holder, mounts, system)
        if part in mounts:
            yield f'{part} on {mounts[part]}', False
        elif not holders:
            yield from _member(_content(f'{below}/dev'), system)


def _holder(holder: str, mounts: Mapping[str, str], system: System) -> Iterator[Tuple[str, bool]]:
    """Yield an md array with its state, or a device mapper volume, and what stands on that."""
    folder = f'{system.sys}/block/{holder}'
    where = f', {mounts[holder]}' if holder in mounts else ''
    level = _content(f'{folder}/md/level')
    if level:
        yield f'{holder} ({level}{where}, md state: {", ".join(_md_states(f"{folder}/md"))})', True
    else:
        yield f'{_content(f"{folder}/dm/name") or holder}{where and " on" + where[1:]}', False
    for above in _listed(f'{folder}/holders'):
        yield from _holder(above, mounts, system)


def _md_states(md: str) -> Iterator[str]:
    """Yield what md reports, in its own words: of the array ("clean", "degraded", "recovering"), then of each member
    ("sda1 in_sync", "sdb1 faulty"). That md calls a member in_sync says nothing about the health of the drive.
    """
    yield _content(f'{md}/array_state') or 'unknown'
    if _content(f'{md}/degraded') not in ('', '0'):
        yield 'degraded'
    action = _content(f'{md}/sync_action')
    if action not in ('', 'idle'):
        yield SYNCING.get(action, action)
    for name in _listed(md):
        if name.startswith('dev-'):
            yield f'{name[4:]} {_content(f"{md}/{name}/state") or "unknown"}'


def _member(numbers: str, system: System) -> Iterator[Tuple[str, bool]]:
    """Yield what udev found on a disk that the kernel reports no user of, such as a member of a ZFS pool."""
    notes = _content(f'{system.udev}/b{numbers}') if numbers else ''
    found = dict(re.findall('^E:(ID_FS_TYPE|ID_FS_LABEL)=(.*)$', notes, re.MULTILINE))
    kind = MEMBERS.get(found.get('ID_FS_TYPE', ''))
    if kind:
        label = found.get('ID_FS_LABEL', '')
        yield f'{kind} {label}'.rstrip(), found['ID_FS_TYPE'] in POOLED


def _mounts(system: System) -> Dict[str, str]:
    """Return the first mount point of each device, by the kernel's name of it."""
    found: Dict[str, str] = {}
    names = {_content(f'{system.sys}/block/{disk}/dm/name'): disk for disk in _listed(f'{system.sys}/block')
             if disk.startswith('dm-')}
    for line in _content(f'{system.proc}/self/mounts').splitlines():
        source, _, rest = line.partition(' ')
        if source.startswith('/dev/'):
            name = os.path.basename(source)
            point = re.sub(r'\\([0-7]{3})', lambda code: chr(int(code[1], 8)), rest.partition(' ')[0])
            found.setdefault(names.get(name, name), point)
    return found


def _listed(folder: str) -> List[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _content(path: str) -> str:
    try:
        with open(path, encoding='utf-8', errors='replace') as file:
            return file.read(1 << 16).strip()
    except (OSError, ValueError):
        return ''
