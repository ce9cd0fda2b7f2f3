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

if TYPE_CHECKING:
    from typing import Dict, Iterator, List, Mapping, Tuple

MEMBERS = {'zfs_member': 'ZFS pool', 'LVM2_member': 'LVM', 'linux_raid_member': 'md member', 'crypto_LUKS': 'LUKS',
           'swap': 'swap',
           'ceph_bluestore': 'Ceph', 'bcache': 'bcache', 'drbd': 'DRBD'}
# What the numbers of a type say about the bay. A MegaRAID number is the controller's own, not that of the bay.
NUMBERED = {'megaraid': 'drive {0} of the controller', 'sssraid': 'slot {1} of enclosure {0}', 'areca': 'slot {0}',
            '3ware': 'port {0}',
            'cciss': 'drive {0} of the controller', 'hpt': 'channel {1} of controller {0}',
            'aacraid': 'drive {2} of channel {1}'}


class System(NamedTuple):
    """Where Linux tells about itself; other folders in tests."""

    sys: str = '/sys'
    proc: str = '/proc'
    udev: str = '/run/udev/data'


LINUX = System()


def place(device: Device, system: System = LINUX) -> Place:
    """Return where a drive is; an empty Place where nothing tells. Never raises: it is worth a word, no verdict."""
    kind, _, numbers = device.type.rpartition('+')[2].partition(',')
    if kind in NUMBERED:
        return Place(bay=_numbered(NUMBERED[kind], re.findall('[0-9]+', numbers)))
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
    carried = [text for disk in disks for text in _carried(disk, system)]
    return Place(bay, light, tuple(dict.fromkeys(carried)))


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

def _carried(disk: str, system: System) -> Iterator[str]:
    """Yield a few words for everything that stands on a disk or its partitions."""
    folder = f'{system.sys}/block/{disk}'
    parts = [disk, *sorted(name for name in _listed(folder) if name.startswith(disk))]
    mounts = _mounts(system)
    for part in parts:
        below = folder if part == disk else f'{folder}/{part}'
        holders = _listed(f'{below}/holders')
        for holder in holders:
            yield from _holder(holder, part, mounts, system)
        if part in mounts:
            yield f'{part} on {mounts[part]}'
        elif not holders:
            yield from _member(_content(f'{below}/dev'), system)


def _holder(holder: str, part: str, mounts: Mapping[str, str], system: System) -> Iterator[str]:
    """Yield an md array with its other members, or a device mapper volume, and what stands on that."""
    folder = f'{system.sys}/block/{holder}'
    where = f', {mounts[holder]}' if holder in mounts else ''
    level = _content(f'{folder}/md/level')
    if level:
        states = _states(folder)
        own = '' if states.get(part, 'in_sync') == 'in_sync' else f', {part} {states[part]}'
        others = ', '.join(f'{name} {"OK" if state == "in_sync" else state}' for name, state in states.items()
                           if name != part)
        yield f'{holder} ({level}{own}{", with " + others if others else ""}{where})'
    else:
        yield f'{_content(f"{folder}/dm/name") or holder}{where and " on" + where[1:]}'
    for above in _listed(f'{folder}/holders'):
        yield from _holder(above, holder, mounts, system)


def _states(array: str) -> Dict[str, str]:
    """Return what md says of each member: in_sync, faulty, spare."""
    members = [name for name in _listed(f'{array}/md') if name.startswith('dev-')]
    return {name[4:]: _content(f'{array}/md/{name}/state') or 'not told' for name in members}


def _member(numbers: str, system: System) -> Iterator[str]:
    """Yield what udev has found on a disk that nothing else of the kernel's speaks of: ZFS keeps its disks to
    itself.
    """
    notes = _content(f'{system.udev}/b{numbers}') if numbers else ''
    found = dict(re.findall('^E:(ID_FS_TYPE|ID_FS_LABEL)=(.*)$', notes, re.MULTILINE))
    kind = MEMBERS.get(found.get('ID_FS_TYPE', ''))
    if kind:
        label = found.get('ID_FS_LABEL', '')
        yield f'{kind} {label}'.rstrip()


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
