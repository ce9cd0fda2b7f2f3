"""Convert an admin's addresses into Devices, and name these Devices.

Names are short and consist of [a-z0-9_]; each name is unique among the drives of one run. In
/dev/disk, udev makes the by-id names from the identity of a drive, and the by-path names from the
socket.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import prod

from ..constants import LONGEST_PATH, MOST_SLOTS
from ..errors import UsageError
from ..model import Device
from ..words import TYPED, clean, nearest
from .device_types import (
    BY_NAME,
    CONTROLLERS,
    REFUSED,
    TUNNELS,
    TYPES,
    UNREAD,
    DeviceType,
    base,
    is_raid,
)

# One slot, "0-7", or "[0-7,16]". A list needs no brackets if the type takes only one number.
_SLOT = r'(\[[0-9,-]+\]|[0-9]+(?:-[0-9]+)?)'
_ONLY_SLOT = r'(\[[0-9,-]+\]|[0-9]+(?:-[0-9]+)?(?:,[0-9]+(?:-[0-9]+)?)*)'

# With all characters of udev's names under /dev/disk. No part may begin with a dot, as ".." does.
_PATH = '/dev(?:/[A-Za-z0-9_:+=@-][A-Za-z0-9._:+=@-]*)+'
# Links to other files, memory, terminals, and a device that reboots the machine if it is opened and
# closed.
_NO_DRIVES = {
    'shm',
    'fd',
    'stdin',
    'stdout',
    'stderr',
    'mqueue',
    'hugepages',
    'mem',
    'kmem',
    'port',
    'kmsg',
    'core',
    'log',
    'initctl',
    'console',
    'ptmx',
    'pts',
    'input',
    'net',
    'cpu',
    'snapshot',
}


def parse(text: str) -> list[Device]:
    """Return the devices that an address names: one device, or one for each slot of a range.

    Forms: TYPE@PATH, PATH, a line of smartctl's scan ("PATH -d TYPE"), and the forms of the
    original plugin ("megaraid6,/dev/sda", "cciss,1_/dev/sg2", …). Only named() makes the names
    unique. Raises UsageError.
    """
    device_type, path = _split(text)
    if device_type:  # the original plugin took "megaraid6" and "areca1/1"
        # at the start, or after the plus of "sat+megaraid6"
        glued = rf'(^|\+)({"|".join(CONTROLLERS)})(?=[0-9\[])'
        device_type = re.sub(glued, r'\1\2,', device_type)
    return at(path, device_type, text)


def at(path: str, device_type: str, text: str) -> list[Device]:
    """Return the devices of a type (or of a range of types) at a path, never none; each device has
    its short name, and those of a range are optional.

    text: the address as written, for the error message. Raises UsageError.
    """
    _check_path(path, text)
    types, is_range = _expand(device_type, path, text)
    devices = [Device(path, exact, optional=is_range) for exact in types]
    return [device._replace(name=short_name(device)) for device in devices]


def _split(text: str) -> tuple[str, str]:
    """Return the type and the path of an address; neither is checked.

    The type is '' if the address is only a path, or if only a blank, a comma or "_" is before the
    path. Raises UsageError if the address has no path, if it has no separator before the path, or
    if only "@" is before the path.
    """
    if not text.isascii() or not text.isprintable():
        raise UsageError(
            f'{quoted(ascii(text)[1:-1])} contains characters that a device address cannot have; '
            'type it again by hand'
        )
    if text.startswith('/dev/') and ' ' not in text:
        return '', text
    scanned = re.fullmatch(r'(\S+) -d (\S+)(?: #.*)?', text)
    if scanned:  # a line of smartctl's scan
        return scanned[2], scanned[1]
    path = re.search('/dev(?:/.*|$)', text)
    if not path:
        raise UsageError(_without_path(text))
    before_path = re.sub(r'^-d ?', '', text[: path.start()])
    if not before_path:
        return '', path[0]
    has_only_at_sign = before_path == '@'
    # The original plugin took the other separators: "cciss,1_/dev/sg2".
    has_separator = before_path.endswith(('@', ',', ' ', '_'))
    if has_only_at_sign or not has_separator:
        raise UsageError(
            f'{quoted(text)}: write type and device as TYPE@PATH, such as megaraid,6@/dev/bus/0'
        )
    return before_path[:-1], path[0]  # without the separator


def quoted(text: str) -> str:
    """Return the text from the admin (or a scan) in a form that is safe to quote in a sentence."""
    return f'"{clean(text)}"'


def _without_path(text: str) -> str:
    """Return the message for an address that names no path under /dev."""
    address = of_short_name(text)
    if address:
        return f'{quoted(text)} is the name of a device; write its address, {address}'
    if re.fullmatch(r'[a-z][a-z0-9]{1,15}', text):
        return f'{quoted(text)} is not a device; write /dev/{text}'
    return (
        f'{quoted(text)} is not a device; write a path such as /dev/sda, or TYPE@PATH such as '
        'megaraid,6@/dev/bus/0'
    )


def _check_path(path: str, text: str) -> None:
    """Raise UsageError unless a path can be that of a drive. text: the address as written."""
    if len(path) > LONGEST_PATH or not re.fullmatch(_PATH, path):
        raise UsageError(
            f'{quoted(text)} contains no valid device path; write one under /dev, such as '
            '/dev/sda, made of letters, digits and the characters . _ : + = @ -'
        )
    name = path.split('/')[2]
    if name in _NO_DRIVES or name.startswith(('tty', 'vcs', 'watchdog')):
        raise UsageError(
            f'{quoted(text)} is not a drive; write the path of a drive, such as /dev/sda'
        )


def _expand(device_type: str, path: str, text: str) -> tuple[list[str], bool]:
    """Return the exact types into which a type expands, and whether the type is a range.

    smartctl detects the type '' itself. path, text: for the messages. Raises UsageError.
    """
    if device_type in ('', 'auto'):
        return [''], False
    match = re.match(TUNNELS, device_type)
    tunnel = match[0] if match else ''  # "sat+" in "sat+megaraid,6"
    inner_type = device_type[len(tunnel) :]
    entry = _entry(inner_type, text)
    if tunnel and not entry.is_scsi:
        raise UsageError(
            f'{quoted(text)}: {entry.name} does not work through {tunnel}; write '
            f'{clean(inner_type)}@{path}'
        )
    if entry.slots:
        expanded, is_range = _slots(entry, inner_type, text)
        return [tunnel + exact for exact in expanded], is_range
    if not re.fullmatch(re.escape(entry.name) + entry.arguments, inner_type):
        raise UsageError(f'{quoted(text)}: write the type as {entry.form}')
    return [device_type], False


def _entry(inner_type: str, text: str) -> DeviceType:
    """Return the entry of TYPES for a type: the one named "megaraid" for "megaraid,4".

    inner_type: the type without a tunnel such as "sat+". text: the address as written, for the
    messages. Raises UsageError if the type is unknown, or if a check must not use it.
    """
    # Any of these signs ends the name: "megaraid,6", "areca[1-2]", "sntasmedia/sat".
    name = re.split(r'[,/+\[\]]', inner_type)[0]
    if name in REFUSED:
        raise UsageError(
            f'{quoted(text)}: the type {name} is not allowed, because it {REFUSED[name]}'
        )
    if name in UNREAD:
        raise UsageError(f'{quoted(text)}: {UNREAD[name]}')
    if name not in BY_NAME:
        forms = ', '.join(entry.form for entry in TYPES)
        # "did you mean megaraid? use one of ...", or only "use one of ..." if no type is similar
        advice = f'{nearest(name, BY_NAME, TYPED)} use one of {forms}'.lstrip()
        raise UsageError(f'{quoted(text)}: unknown type "{clean(name)}"; {advice}')
    return BY_NAME[name]


def _slots(entry: DeviceType, inner_type: str, text: str) -> tuple[list[str], bool]:
    """Return the types into which a type expands ("a,[0-1]" into "a,0" and "a,1"), and whether
    it contains ranges. Raises UsageError.
    """
    slot_pattern = _SLOT if len(entry.slots) > 1 else _ONLY_SLOT
    optional = {'[': '(?:', ']': ')?'}
    # "areca,N[/E]" -> areca,SLOT(?:/SLOT)?, with one group in each SLOT
    type_pattern = ''
    for part in re.findall('[A-Z]+|.', entry.form):
        is_slot = part.isupper()
        type_pattern += slot_pattern if is_slot else optional.get(part, re.escape(part))
    match = re.fullmatch(type_pattern, inner_type)
    if not match:
        raise UsageError(
            f'{quoted(text)}: write the type as {entry.form}; '
            'replace the capital letters with numbers, or with ranges such as [0-7,16]'
        )
    written_slots = [slot for slot in match.groups() if slot is not None]
    choices = [
        _numbers(written, limits, entry, text)
        for written, limits in zip(written_slots, entry.slots)
    ]
    count = prod(map(len, choices))
    if count > MOST_SLOTS:
        raise UsageError(
            f'{quoted(text)} covers {count} slots, more than the maximum of {MOST_SLOTS}; name '
            'fewer'
        )
    expanded = [
        f'{entry.name},' + entry.separator.join(map(str, numbers))
        for numbers in product(*choices)
    ]
    has_ranges = not all(map(str.isdigit, written_slots))
    return expanded, has_ranges


def _numbers(
    written: str, limits: tuple[int, int], entry: DeviceType, text: str
) -> list[int]:
    """Return the slots in a text such as "6", "0-7" or "[0-7,16]", each once, in the order
    written. Raises UsageError for a slot outside of *limits* (lowest, highest).
    """
    numbers = {}  # a set that keeps the order
    for item in written.strip('[]').split(','):
        ends = re.fullmatch(r'([0-9]{1,6})(?:-([0-9]{1,6}))?', item)
        if not ends:
            raise UsageError(
                f'{quoted(text)}: {written} is not a range; write it like 0-7 or [0-7,16]'
            )
        low = int(ends[1])
        high = int(ends[2] or ends[1])
        if low > high:
            raise UsageError(
                f'{quoted(text)}: the range {item} runs backwards; write {high}-{low}'
            )
        if low < limits[0] or high > limits[1]:
            raise UsageError(
                f'{quoted(text)}: in {entry.form}, the number must be from {limits[0]} to {limits[1]}'
            )
        numbers.update(dict.fromkeys(range(low, high + 1)))
    return list(numbers)


def unique(forms: Iterable[Iterator[str]]) -> list[str]:
    """Return a name for each item: the first of its possible names that no other item has, or else
    its last one.

    forms: possible names of each item, from the shortest to one that is certainly unique.
    """
    longer_forms = list(forms)
    # This takes the first form of each item, so the longer ones are left.
    names = list(map(next, longer_forms))
    has_changed = True
    while has_changed:
        has_changed = False
        bearers = Counter(names)
        shared = [place for place, name in enumerate(names) if bearers[name] > 1]
        # Each item with a shared name gets its next form, if it has any left.
        for place in shared:
            longer = next(longer_forms[place], '')
            if longer:
                names[place] = longer
                has_changed = True
    return names


def named(devices: Iterable[Device]) -> list[Device]:
    """Return the devices without repeated addresses, each with a unique name.

    Each name is as short as possible. It depends on the set of devices, not on their order. An
    address is optional only if it came from ranges alone.
    """
    merged: dict[str, Device] = {}
    for device in devices:
        first = merged.get(device.address, device)
        merged[device.address] = first._replace(
            optional=first.optional and device.optional
        )
    return _renamed(list(merged.values()), map(_forms, merged.values()))


def labelled(devices: Sequence[Device], labels: Iterable[str]) -> list[Device]:
    """Return the devices, named by their labels.

    Equal labels are lengthened; for the label '', the name is kept.
    """
    return _renamed(devices, map(_label_forms, devices, labels))


def _renamed(devices: Sequence[Device], forms: Iterable[Iterator[str]]) -> list[Device]:
    return [device._replace(name=name) for device, name in zip(devices, unique(forms))]


def _forms(device: Device) -> Iterator[str]:
    """Yield the possible names of a device, shortest first."""
    yield short_name(device)
    yield slug(device.path.replace('/dev/', '', 1) + '_' + device.type)
    yield _certain_name(device)


def _label_forms(device: Device, label: str) -> Iterator[str]:
    """Yield the possible names of a device with a label, shortest first; '' is no label."""
    yield slug(label) if label else device.name
    yield f'{slug(label)}_{device.name}'
    yield _certain_name(device)


def short_name(device: Device) -> str:
    """Return a short name: "sda", "bus_0_megaraid_6", "ata_intel_ssdsc2bb240g4_btwl0000"."""
    path = device.path.removeprefix('/dev/')
    if device.path.startswith('/dev/disk/'):
        path = re.sub('^disk/by-[a-z]+/', '', path)
    kind, _, arguments = base(device).partition(',')
    # Only numbers that select a drive count; "sat,12" and "usbjmicron,x" select an access method.
    if not arguments or kind == 'sat':
        return slug(path)
    numbers = re.findall(r'0x[0-9a-f]+|(?<![0-9a-z])[0-9]+', arguments)
    if not numbers:
        return slug(path)
    return slug('_'.join([path, kind, *numbers]))


def of_short_name(name: str) -> str:
    """Return the address of a drive behind a controller, from its short name; '' if the name has
    another form.

    bus_0_megaraid_6 means megaraid,6@/dev/bus/0.
    """
    parts = re.fullmatch(f'([a-z0-9_]+)_({"|".join(CONTROLLERS)})_([0-9_]+)', name)
    if not parts:
        return ''
    path, kind, slots = parts.groups()
    numbers = slots.replace('_', BY_NAME[kind].separator)
    address = f'{kind},{numbers}@/dev/{path.replace("_", "/")}'
    try:
        names = [device.name for device in parse(address)]
    except UsageError:
        return ''
    # The address counts only if it leads to one drive with this very name. It may lead to several
    # slots, or a "_" of the path may have become a slash.
    return address if names == [name] else ''


def _certain_name(device: Device) -> str:
    """Return a unique name even if addresses differ only in punctuation or case: _2fdev_2fsd_41
    for "/dev/sdA".
    """
    return re.sub(r'[^a-z0-9]', lambda sign: f'_{ord(sign[0]):02x}', device.address)


def slug(text: str) -> str:
    """Return *text* with only the characters of labels, [a-z0-9_]."""
    if text.isascii() and text.isalnum():  # saves 0.2 % of a check
        return text.lower()
    return re.sub(r'[^a-z0-9]+', '_', text.lower()).strip('_') or 'drive'


FOLDER = '/dev/disk/by-id'
SLOTS = '/dev/disk/by-path'


def links(folder: str = FOLDER) -> Mapping[str, str]:
    """Map each device path to its name in the folder, preferring names with the model; {} if the
    folder is missing.
    """
    try:
        names = os.listdir(folder)
    except OSError:
        return {}
    # The names with a model are last, because the last name of a path stays. Names that begin with
    # these words have no model.
    names.sort(
        key=lambda name: (not name.startswith(('wwn-', 'nvme-eui', 'nvme-nvme')), name)
    )
    return {os.path.realpath(os.path.join(folder, name)): name for name in names}


def name_of(device: Device, names: Mapping[str, str]) -> str:
    """Return the name of a drive in *names* (the result of links()), or '' if the drive has none.

    An NVMe drive gets the name of its first namespace, because udev does not name controllers.
    """
    if is_raid(device):
        return ''  # the path and its link belong to the controller
    path = os.path.realpath(device.path)
    name = names.get(path, '')
    if not name and re.fullmatch(r'.*/nvme[0-9]+', path):
        return names.get(f'{path}n1', '')
    return name


def stable(device: Device, names: Mapping[str, str]) -> Device:
    """Return the device under its name in *names* (the result of links()), or unchanged if it
    has none.
    """
    name = name_of(device, names)
    return device._replace(path=f'{FOLDER}/{name}') if name else device


# --- devices that are no drives -------------------------------------------------------------------

# Block devices that never have SMART, with their type. FreeBSD's scan lists cd(4), sa(4) and
# ses(4).
_PATHS = (
    ('/dev/(?:sr|scd|cdrom)[^/]*|/dev/cd[0-9]+', 'an optical drive'),
    ('/dev/ses[0-9]+', 'an enclosure'),
    ('/dev/(?:vd|xvd)[a-z][^/]*', 'a virtual disk (virtio or Xen)'),
    ('/dev/n?s[at][0-9][^/]*', 'a tape drive'),
    ('/dev/z?ram[^/]*', 'memory'),
    ('/dev/fd[^/]*', 'a floppy drive'),
    (
        '/dev/(?:loop|md|dm-|mapper/|bcache|zd)[^/]*',
        'a device made of files or other disks',
    ),
    ('/dev/(?:nbd|d?rbd)[^/]*|/dev/disk/by-path/.*iscsi.*', 'a network disk'),
)


def of_path(path: str) -> str:
    """Return the type of a device without SMART, from its path: "an optical drive"; '' if the
    device may be a drive.
    """
    # To compile the patterns would take longer than the rest of the scan.
    if path.startswith(('/dev/sd', '/dev/nvme', '/dev/sg', '/dev/bus/')):
        return ''
    for pattern, kind in _PATHS:
        if re.fullmatch(pattern, path):
            return kind
    return ''
