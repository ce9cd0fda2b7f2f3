"""Names in /dev/disk: by-id, which udev derives from the identity of a drive, and by-path, from its socket."""
from __future__ import annotations

import os
import re

from ..model import Device
from ..typed import TYPE_CHECKING
from .device_types import is_raid

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = '/dev/disk/by-id'
SLOTS = '/dev/disk/by-path'
_LAST = ('wwn-', 'nvme-eui', 'nvme-nvme')  # names without a model in them


def links(folder: str = FOLDER) -> Mapping[str, str]:
    """Return device path -> its name in the folder, preferring names with the model; empty without the folder."""
    try:
        names = sorted(os.listdir(folder), key=lambda name: (not name.startswith(_LAST), name))
    except OSError:
        return {}
    return {os.path.realpath(os.path.join(folder, name)): name for name in names}


def name_of(device: Device, names: Mapping[str, str]) -> str:
    """Return the name of a drive among links(), or '' without one.

    An NVMe drive gets the name of its first namespace, because udev does not name controllers.
    """
    if is_raid(device):
        return ''  # the path is the controller's, and so is its link
    path = os.path.realpath(device.path)
    return names.get(path) or (names.get(f'{path}n1', '') if re.fullmatch(r'.*/nvme[0-9]+', path) else '')


def stable(device: Device, names: Mapping[str, str]) -> Device:
    """Return the device under its name among links(), or unchanged without one."""
    name = name_of(device, names)
    return device._replace(path=f'{FOLDER}/{name}') if name else device
