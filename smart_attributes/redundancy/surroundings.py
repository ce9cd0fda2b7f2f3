"""Read facts about a machine for the commands of a plan: stable names, partitions, unused disks, and how it boots.

These facts are in /sys and the udev database, which every user may read; unreadable facts are left out.
Sources: systemd, sd-device (/run/udev/data); UEFI 2.10, 5.3.3 (partition types); GNU GRUB manual, BIOS installation.
"""
from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping

from ..constants import LONGEST_GIVEN_NAME
from ..model import Group
from ..reading.system import LINUX, names_in, text_of
from ..typed import TYPE_CHECKING, NamedTuple
from ..words import argument
from .block_devices import NO_DISKS, container_of, listed, number_of, title, udev_notes, volumes

if TYPE_CHECKING:
    from ..reading.system import System
    from .block_devices import Devices, Volume

EFI, BIOS = 'efi', 'bios'
_TYPES = {'c12a7328-f81f-11d2-ba4b-00a0c93ec93b': EFI, '0xef': EFI, '21686148-6449-6e6f-744e-656564454649': BIOS}
_LINK = re.compile('^S:(disk/by-id/.+)$', re.MULTILINE)
_VALUE = re.compile('^E:(ID_FS_TYPE|ID_PART_TABLE_TYPE|ID_PART_ENTRY_TYPE)=(.*)$', re.MULTILINE)
_LAST = ('disk/by-id/wwn-', 'disk/by-id/nvme-eui.', 'disk/by-id/lvm-', 'disk/by-id/dm-')   # names without the model
_DEAD = ('offline', 'transport-offline', 'dead')   # states of SCSI and NVMe
_SECTOR = 512   # bytes, independent of the disk's own sector size
_DELETE = ('device/delete', 'device/device/remove')


class Part(NamedTuple):
    """A partition of a disk."""
    disk: str
    number: int
    role: str = ''      # EFI, BIOS (a BIOS boot partition), or ''


class Around(NamedTuple):
    """The facts about a machine that the commands of a plan need. Keys are kernel names."""
    paths: Mapping[str, str] = {}              # disk, partition, volume -> path that stays the same
    kernel: Mapping[str, str] = {}             # title of a volume -> its kernel name
    parts: Mapping[str, Part] = {}             # by partition
    sizes: Mapping[str, int] = {}              # disk -> bytes
    deletes: Mapping[str, str] = {}            # disk -> file that detaches it from the system
    unused: tuple[str, ...] = ()               # disks without known content, the smallest first
    missing: Mapping[str, tuple[str, ...]] = {}  # btrfs group -> device IDs of its missing devices
    containers: Mapping[str, str] = {}         # array in a container (imsm, ddf) -> the container
    has_efi: bool = False                      # the machine was started by UEFI
    has_led_tool: bool = False
    dead: frozenset[str] = frozenset()         # disks that the kernel has given up
    asked: str = ''                            # options of triage for the programs that were run: " --zpool"

    def path(self, name: str) -> str:
        """Return the path of a disk, a partition or a volume (by its title), quoted for a command."""
        return argument(self.paths.get(self.kernel.get(name, name)) or f'/dev/{name}', 'DEVICE')


def surroundings(groups: Iterable[Group], system: System = LINUX) -> Around:
    """Return the facts that a plan for these groups needs."""
    groups, devices = tuple(groups), listed(system)
    every = volumes([name for name in devices.names if name.startswith('dm-')], system)
    notes = {name: udev_notes(name, devices) for name in (*devices.names, *devices.parts)}
    paths = {name: _path(name, text) for name, text in notes.items()}
    paths.update({name: f'/dev/mapper/{volume.name}' for name, volume in every.items() if volume.name})
    parts = {name: Part(disk, number_of(number) or 0,
                        _TYPES.get(dict(_VALUE.findall(notes[name])).get('ID_PART_ENTRY_TYPE', ''), ''))
             for name, disk, number in _parts(devices, every)}
    sizes = {name: _SECTOR * int(text) for name in devices.names
             for text in [text_of(f'{system.sys}/block/{name}/size')] if re.fullmatch('[0-9]{1,15}', text)}
    used = {*devices.same, *(each for group in groups for member in group.members for each in member.on)}
    unused = [name for name in devices.names if name not in used and sizes.get(name) and not _VALUE.search(notes[name])
              and name not in devices.parts.values() and not names_in(f'{system.sys}/block/{name}/holders')
              and name.rstrip('0123456789') not in (*NO_DISKS, 'md', 'dm-')]
    return Around(paths, {title(volume): name for name, volume in every.items() if title(volume)}, parts, sizes,
                  {name: path for name in devices.names for file in _DELETE
                   for path in [f'{system.sys}/block/{name}/{file}'] if os.path.exists(path)},
                  tuple(sorted(unused, key=lambda name: (sizes[name], name))),
                  {group.id: tuple(each for each in names_in(folder) if text_of(f'{folder}/{each}/missing') == '1')
                   for group in groups for folder in [f'{system.sys}/fs/{group.id.replace(" ", "/")}/devinfo']},
                  {group.id: found for group in groups for found in [container_of(text_of(
                      f'{system.sys}/block/{group.id}/md/metadata_version'))] if found},
                  os.path.isdir(f'{system.sys}/firmware/efi'), os.access('/usr/sbin/ledctl', os.X_OK),
                  frozenset(each for each in sizes if text_of(f'{system.sys}/block/{each}/device/state') in _DEAD))


def _parts(devices: Devices, every: Mapping[str, Volume]) -> Iterator[tuple[str, str, str]]:
    """Yield each partition with its disk and its number. In a multipath volume, the first path counts as the disk."""
    for name, disk in devices.parts.items():
        yield name, disk, text_of(f'{devices.system.sys}/block/{disk}/{name}/partition')
    for name, volume in every.items():
        found = re.match('part([0-9]+)-mpath-', volume.uuid)
        yield from ((name, path, found[1]) for below in volume.slaves if found and below in every
                    for path in every[below].slaves[:1])


def _path(name: str, notes: str) -> str:
    """Return a path that is made from device data; a path that includes the model is preferred."""
    links = sorted(_LINK.findall(notes), key=lambda link: (link.startswith(_LAST), link))
    return f'/dev/{links[0][:LONGEST_GIVEN_NAME]}' if links and not name.startswith('md') else f'/dev/{name}'
