"""List the disks that have hardware of their own, with what /sys reports about each."""
from __future__ import annotations

import os
import re

from ..typed import TYPE_CHECKING, NamedTuple
from .block_devices import names_in, text_of
from .device_types import CONTROLLERS
from .virtual_devices import not_a_drive, virtual_disk

if TYPE_CHECKING:
    from collections.abc import Iterator

# All other names are of partitions, volumes, optical drives, virtual disks, memory cards or memory.
_DISKS = re.compile(r'[hs]d[a-z]{1,8}|nvme[0-9]{1,9}n[0-9]{1,9}')
_RAID_DRIVERS = frozenset(driver for kind in CONTROLLERS.values() for driver in kind.drivers)


class Disk(NamedTuple):
    """A disk as the kernel knows it. Texts are as the drive or the controller reports them."""

    name: str                     # "sda", "nvme0n1"
    drive: str                    # the same for all namespaces and paths of one drive
    bus: str                      # "ATA", "SCSI", "NVMe" or "USB"
    model: str = ''               # ATA: its first 16 characters
    host: int | None = None       # SCSI host
    driver: str = ''              # of that host: "ahci"
    timeout: int | None = None    # seconds that the kernel waits for a command
    is_drive: bool = True         # not a volume, virtual disk, network disk or removable medium

    @property
    def is_behind_raid(self) -> bool:
        """Return whether a RAID controller is between the kernel and the drive, or its volume."""
        return self.driver in _RAID_DRIVERS


def disks(root: str) -> list[Disk]:
    """Return the disks of this machine. root: the directory to use as /. Unreadable entries count as absent."""
    return list(_disks(os.path.join(root, 'sys')))


def _disks(sys: str) -> Iterator[Disk]:
    for name in names_in(f'{sys}/block'):
        folder = f'{sys}/block/{name}'
        device = os.path.realpath(f'{folder}/device')
        if _DISKS.fullmatch(name) and os.path.isdir(device):
            made = _nvme(name, device) if name.startswith('nvme') else _scsi(name, device, sys)
            is_gone = text_of(f'{folder}/removable') == '1' or text_of(f'{folder}/size') == '0'
            yield made._replace(is_drive=made.is_drive and not is_gone)


def _nvme(name: str, device: str) -> Disk:
    model, is_remote = text_of(f'{device}/model'), text_of(f'{device}/transport') not in ('', 'pcie')
    return Disk(name, name.rpartition('n')[0], 'NVMe', model, is_drive=not (is_remote or virtual_disk(model)))


def _scsi(name: str, device: str, sys: str) -> Disk:
    unit = re.fullmatch('([0-9]{1,9}):[0-9]+:[0-9]+:[0-9]+', os.path.basename(device))  # host:channel:target:unit
    vendor, model, wwid = (text_of(f'{device}/{file}') for file in ('vendor', 'model', 'wwid'))
    full = model if vendor == 'ATA' else f'{vendor} {model}'.strip()
    bus = 'USB' if re.search('/usb[0-9]+/', device) else 'ATA' if vendor == 'ATA' else 'SCSI'
    driver = text_of(f'{sys}/class/scsi_host/host{unit[1]}/proc_name') if unit else ''
    timeout = text_of(f'{device}/timeout')
    is_unique = bus != 'USB' and re.fullmatch('naa.5[0-9a-f]{15}', wwid)  # bridges invent names
    found = Disk(name, wwid if is_unique else name, bus, full, int(unit[1]) if unit else None, driver,
                 int(timeout) if re.fullmatch('[0-9]{1,9}', timeout) else None)
    transport = 'iscsi' if driver.startswith('iscsi') else ''
    is_foreign = virtual_disk(full) or not_a_drive(full, '', transport, wwid.rpartition('.')[2])
    return found._replace(is_drive=found.is_behind_raid or not is_foreign)


def partitioned(name: str, root: str) -> str:
    """Return the disk of a partition, such as "sda" for "sda1"; any other name unchanged."""
    place = os.path.realpath(os.path.join(root, 'sys/class/block', name))
    return os.path.basename(os.path.dirname(place)) if os.path.exists(f'{place}/partition') else name
