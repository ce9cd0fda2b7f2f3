"""Which disks of /sys an address reaches."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ..model import Device
from ..reading import system
from ..reading.device_types import controller
from ..reading.system import Disk, System, disks_of, partitioned


def reached(device: Device, disks: Sequence[Disk]) -> Sequence[str]:
    """Return the names of the disks at an address; for a RAID controller, the names of all its
    disks.
    """
    root, kind = system.ROOT, controller(device.type)
    if kind:
        # None for a node that only the driver creates, such as /dev/twa0
        host = system.host_of(device)
        behind = [disk for disk in disks if disk.driver in kind.drivers] if kind.drivers else disks
        return [disk.name for disk in behind if host in (None, disk.host)]
    name = os.path.basename(os.path.realpath(os.path.join(root, device.path.lstrip('/'))))
    return disks_of(Device(f'/dev/{partitioned(name, root)}'), System(os.path.join(root, 'sys')))
