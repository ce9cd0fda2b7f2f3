"""Find the bay and locate LED of a drive.

All data is from /sys, which every user may read. Data missing there is left out, never guessed.
Source: Linux, Documentation/ABI/testing/sysfs-class-enclosure.
"""
from __future__ import annotations

import os
import re

from ..model import Device, Place
from ..typed import TYPE_CHECKING
from .block_devices import LINUX, disks_of, names_in, text_of
from .device_types import base, controller

if TYPE_CHECKING:
    from .block_devices import System


def place(device: Device, system: System = LINUX) -> Place:
    """Return the location of a drive, or an empty Place if it is not known. Never raises."""
    kind = controller(device.type)
    if kind and kind.bay:
        return Place(bay=kind.bay.format(*re.findall('[0-9]+', base(device).partition(',')[2])))
    disks = disks_of(device, system)
    return Place(*_bay(disks[0], system)) if disks else Place()


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
