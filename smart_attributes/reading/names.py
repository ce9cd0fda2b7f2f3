"""Create short names in [a-z0-9_], each unique among the drives of one run, and find names in /dev/disk.

udev derives by-id from the identity of a drive, and by-path from its socket.
"""
from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..model import Device
from .device_types import base, is_raid


def unique(forms: Iterable[Iterator[str]]) -> list[str]:
    """Return a name for each item: the first of its forms that no other item has.

    forms: possible names of each item, from the shortest to one that is certainly unique.
    """
    left = list(forms)
    names = [next(each) for each in left]
    while True:
        bearers = Counter(names)
        longer = [(place, next(left[place], '')) for place, name in enumerate(names) if bearers[name] > 1]
        if not any(name for _, name in longer):
            return names
        for place, name in longer:
            names[place] = name or names[place]


def named(devices: Iterable[Device]) -> list[Device]:
    """Return the devices, each address once and each with a unique name.

    Each name is as short as possible. It depends on the set of devices, not on their order.
    """
    merged: dict[str, Device] = {}
    for device in devices:
        first = merged.get(device.address, device)
        merged[device.address] = first._replace(optional=first.optional and device.optional)
    return _renamed(list(merged.values()), map(_forms, merged.values()))


def labelled(devices: Sequence[tuple[Device, str]]) -> list[Device]:
    """Return the devices under their labels, lengthened if several are equal; '' keeps the device's name."""
    return _renamed([device for device, _ in devices], (_label_forms(device, label) for device, label in devices))


def _renamed(devices: Sequence[Device], forms: Iterable[Iterator[str]]) -> list[Device]:
    return [device._replace(name=name) for device, name in zip(devices, unique(forms))]


def _forms(device: Device) -> Iterator[str]:
    yield short_name(device)
    yield slug(device.path.replace('/dev/', '', 1) + '_' + device.type)
    yield _certain_name(device)


def _label_forms(device: Device, label: str) -> Iterator[str]:
    yield slug(label) if label else device.name
    yield f'{slug(label)}_{device.name}'
    yield _certain_name(device)


def short_name(device: Device) -> str:
    """Return "sda", "bus_0_megaraid_6", "ata_intel_ssdsc2bb240g4_btwl0000"."""
    path = re.sub(r'^/dev/(disk/by-[a-z]+/)?|^IOService:.*/', '', device.path)
    kind = base(device)
    # Only numbers that select a drive count; "sat,12" and "usbjmicron,x" select an access method.
    numbers = re.findall(r'0x[0-9a-f]+|(?<![0-9a-z])[0-9]+', kind.partition(',')[2])
    picks = numbers and not kind.startswith('sat')
    return slug('_'.join([path, kind.partition(',')[0], *numbers]) if picks else path)


def _certain_name(device: Device) -> str:
    """Return a name that differs even if addresses differ only in punctuation or case: "/dev/sdA" is _2fdev_2fsd_41."""
    return re.sub(r'[^a-z0-9]', lambda sign: f'_{ord(sign[0]):02x}', device.address)


def slug(text: str) -> str:
    """Return *text* in the characters of labels, [a-z0-9_]."""
    return re.sub(r'[^a-z0-9]+', '_', text.lower()).strip('_') or 'drive'


# --- names in /dev/disk -----------------------------------------------------------------------------------

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
