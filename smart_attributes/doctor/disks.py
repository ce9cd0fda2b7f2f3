"""The disks of this machine as Linux describes them in /sys, and which of them an address reaches."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from ..model import Device
from ..reading import system
from ..reading.device_types import CONTROLLERS, UNREAD, controller
from ..reading.failure_reasons import not_a_drive, virtual_disk
from ..reading.system import System, disks_of, names_in, text_of
from ..typed import NamedTuple

_RAID_DRIVERS = frozenset(
    (*UNREAD, *(driver for kind in CONTROLLERS.values() for driver in kind.drivers))
)


class Disk(NamedTuple):
    """A disk as the kernel knows it, with texts as the drive or the controller reports them."""

    name: str  # "sda", "nvme0n1"
    drive: str  # the same for all namespaces and paths of one drive
    model: str = ''  # ATA: its first 16 characters
    host: int | None = None  # SCSI host
    driver: str = ''  # driver of this host: "ahci"
    # not a volume, virtual disk, network disk or removable medium
    is_drive: bool = True

    @property
    def is_behind_raid(self) -> bool:
        """Return whether the disk is a drive or a volume behind a RAID controller."""
        return self.driver in _RAID_DRIVERS


def disks(root: str) -> list[Disk]:
    """Return the disks of this machine. root: the directory to use as /.

    Unreadable entries count as absent.
    """
    sys = os.path.join(root, 'sys')
    present = []
    for name in names_in(f'{sys}/block'):
        folder = f'{sys}/block/{name}'
        device = os.path.realpath(f'{folder}/device')
        # other names belong to volumes, optical drives, virtual disks, memory cards or memory
        is_disk = re.fullmatch('[hs]d[a-z]{1,8}|nvme[0-9]{1,9}n[0-9]{1,9}', name)
        if not is_disk or not os.path.isdir(device):
            continue
        is_nvme = name.startswith('nvme')
        disk = _nvme(name, device) if is_nvme else _scsi(name, device, sys)
        # a memory card, or a card reader without one
        is_medium = text_of(f'{folder}/removable') == '1'
        if is_medium or text_of(f'{folder}/size') == '0':
            disk = disk._replace(is_drive=False)
        present.append(disk)
    return present


def _nvme(name: str, device: str) -> Disk:
    """Return an NVMe disk; one in a network or a virtual machine is no drive."""
    model = text_of(f'{device}/model')
    is_remote = text_of(f'{device}/transport') not in ('', 'pcie')
    return Disk(
        name,
        name.rpartition('n')[0],
        model,
        is_drive=not (is_remote or virtual_disk(model)),
    )


def _scsi(name: str, device: str, sys: str) -> Disk:
    """Return a SATA, SAS or USB disk, or a volume of a RAID controller. device, sys: folders."""
    vendor = text_of(f'{device}/vendor')
    model = text_of(f'{device}/model')
    wwid = text_of(f'{device}/wwid')
    full_model = model if vendor == 'ATA' else f'{vendor} {model}'.strip()
    drive = name
    is_usb = re.search('/usb[0-9]+/', device)  # USB bridges invent names
    if not is_usb and re.fullmatch('naa.5[0-9a-f]{15}', wwid):
        drive = wwid
    host = None
    driver = ''
    # host:channel:target:unit
    unit = re.fullmatch('([0-9]{1,9}):[0-9]+:[0-9]+:[0-9]+', os.path.basename(device))
    if unit:
        host = int(unit[1])
        driver = text_of(f'{sys}/class/scsi_host/host{unit[1]}/proc_name')
    disk = Disk(name, drive, full_model, host, driver)
    transport = 'iscsi' if driver.startswith('iscsi') else ''
    wwn = wwid.rpartition('.')[2]
    why_no_drive = virtual_disk(full_model) or not_a_drive(
        full_model, '', transport, wwn
    )
    # A volume of a RAID controller counts as one, because a check must read the drives behind it.
    return disk._replace(is_drive=disk.is_behind_raid or not why_no_drive)


def reached(device: Device, disks: Sequence[Disk]) -> Sequence[str]:
    """Return the names of the disks at an address; for a RAID controller, the names of all its
    disks.
    """
    root = system.ROOT
    kind = controller(device.type)
    if kind:
        # None for a node that only the driver creates, such as /dev/twa0
        host = system.host_of(device)
        names = []
        for disk in disks:
            may_be_on_host = host is None or host == disk.host
            has_driver = not kind.drivers or disk.driver in kind.drivers
            if may_be_on_host and has_driver:
                names.append(disk.name)
        return names
    path = os.path.join(root, device.path.lstrip('/'))
    disk_name = os.path.basename(os.path.realpath(path))
    # "sda" for the partition "sda1"
    place = os.path.realpath(os.path.join(root, 'sys/class/block', disk_name))
    if os.path.exists(f'{place}/partition'):
        disk_name = os.path.basename(os.path.dirname(place))
    return disks_of(Device(f'/dev/{disk_name}'), System(os.path.join(root, 'sys')))
