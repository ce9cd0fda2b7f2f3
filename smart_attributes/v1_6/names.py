"""The names of version 1.6 for drives and attributes, used in its labels and as keys of its user configuration."""
from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence

from ..model import Device

# Paths that version 1.6 used for drives behind a controller, by the name of the type.
_PATHS: Mapping[str, Callable[[str, str], str]] = {
    'megaraid': lambda numbers, path: f'/dev/megaraid{numbers}',
    '3ware': lambda numbers, path: f'/dev/3ware{numbers}',
    'areca': lambda numbers, path: f'/dev/areca_{numbers.replace("/", "_")}',
    'aacraid': lambda numbers, path: f'/dev/aacraid_{numbers.replace(",", "_")}',
    'cciss': lambda numbers, path: f'/dev/cciss_{numbers}_{os.path.basename(path)}'}


def slug(text: str) -> str:
    """Return a name as version 1.6 used it in labels: no brackets, _ for spaces, no characters that daemons misread."""
    return re.sub(r'[^A-Za-z0-9_/.:+-]', '', re.sub(r'\s+', '_', text.strip()))


def old_path(device: Device) -> str:
    """Return the path of a device in version 1.6, used as a key of user configurations and to start its labels."""
    if device.is_recorded:
        return f'/dev/{device.name}'
    name, _, slots = device.type.rpartition('+')[2].partition(',')
    if name in _PATHS:
        return _PATHS[name](slots, device.path)
    return device.path if device.path.startswith('/dev/disk/') else os.path.realpath(device.path)


def old_names(devices: Sequence[Device]) -> dict[str, str]:
    """Return the start of each device's labels in version 1.6, by our name.

    Version 1.6 omitted the controller. If two drives would have the same name, ours is used.
    """
    names = {device.name: slug(re.sub('^/dev/(disk/by-[a-z]+/)?', '', old_path(device))) for device in devices}
    taken = list(names.values())
    return {name: old if old and taken.count(old) == 1 else name for name, old in names.items()}


def keys_of(device: Device) -> frozenset[str]:
    """Return the keys of a device in user configurations."""
    return frozenset((old_path(device), device.path if not device.type else '', device.address))
