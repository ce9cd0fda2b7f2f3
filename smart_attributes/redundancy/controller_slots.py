"""Find which drive of a run is which drive in the output of a RAID controller's tool, and its slot.

A wrong slot has the wrong disk pulled, so a drive is joined only with certainty: by its serial
number, or by the controller and the controller's ID of the drive. The controller is that of the
same PCI address, or the only one. Whatever contradicts this leaves the slot unknown.
Source: smartctl(8) on the numbers of megaraid and aacraid; "slots" in controllers.json has the
commands for locate LEDs, see its "sources".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from ..model import Place, Verdict
from ..reading import device_types
from ..reading import system as linux
from ..typed import Json, NamedTuple

# fields that tell a drive from others; none of them may have two values
_IDENTITY = frozenset(
    ('controller', 'place', 'location', 'number', 'channel', 'id', 'serial')
)
# least number of characters of a serial number that is part of another one
_SERIAL = 6


class ToolDrive(NamedTuple):
    """A drive in the output of a tool."""

    # an entry of "tools" in controllers.json, with the "program" that was run
    tool: Json
    fields: Mapping[str, str]  # "key" is unique
    pci: str  # address of its controller, as the tool writes it; '': not printed
    is_of_only_controller: bool  # the tool reports no other controller


def slot(fields: Mapping[str, str], tool: Json) -> Place:
    """Return the slot of a drive and the commands for its LED; an empty Place if its tool does not
    tell them.
    """
    facts = [fields.get(key, '') for key in ('controller', 'place', 'location')]
    text = ' '.join(filter(None, facts))
    for pattern, bay, on, off in tool['slots']:
        match = re.fullmatch(pattern, text)
        if match:
            words = {'program': tool['program'], **match.groupdict()}
            return Place(
                bay=bay.format(**words),
                locate=on.format(**words),
                locate_off=off.format(**words),
            )
    return Place()


def joined(
    drives: Iterable[ToolDrive], verdicts: Sequence[Verdict]
) -> Mapping[str, Verdict]:
    """Return the verdict on each drive by its key, without drives of which this is uncertain."""
    single = {name for name in device_types.CONTROLLERS if _is_single(name, verdicts)}
    candidates = {}
    for drive in drives:
        # "twice" has the fields that the tool printed with two different values.
        if _IDENTITY.isdisjoint(drive.fields.get('twice', '').split()):
            candidates[drive.fields['key']] = [
                verdict for verdict in verdicts if _is_same(drive, verdict, single)
            ]
    times_found = Counter(
        verdict.device for found in candidates.values() for verdict in found
    )
    certain = {}
    for key, found in candidates.items():
        # a verdict that fits several drives is certain for none of them
        if len(found) == 1 and times_found[found[0].device] == 1:
            certain[key] = found[0]
    return certain


def _is_single(name: str, verdicts: Sequence[Verdict]) -> bool:
    """Return whether this machine has only one controller for drives of a type, such as "megaraid";
    False without such drives.
    """
    # the number of the controller's host, or the device path if the host is not known
    controllers_with_drives = set()
    for verdict in verdicts:
        if type_of(verdict) == name:
            host = linux.host_of(verdict.device)
            controllers_with_drives.add(
                verdict.device.path if host is None else str(host)
            )
    # Controllers without drives have a host, too. Where /sys shows no hosts, only the controllers
    # with drives count.
    drivers = device_types.CONTROLLERS[name].drivers
    hosts = [driver for driver in linux.hosts().values() if driver in drivers]
    return len(controllers_with_drives) == 1 and len(hosts) <= 1


def type_of(verdict: Verdict) -> str:
    """Return the name of a drive's type, such as "megaraid"."""
    return device_types.base(verdict.device).partition(',')[0]


def _is_same(drive: ToolDrive, verdict: Verdict, single: Collection[str]) -> bool:
    """Return whether these are certainly the same drive. single: types of which this machine has
    only one controller.
    """
    serial = drive.fields.get('serial', '')
    same_serial = _is_same_serial(serial, verdict.identity.serial)
    if not device_types.is_raid(verdict.device):
        return same_serial is True
    same_number = _is_same_number(drive, verdict)
    same_controller = _is_same_controller(drive, verdict)
    # A single "no" is enough.
    if False in (same_serial, same_number, same_controller):
        return False
    # From here on, each of the three is True or None.
    if same_serial is True:
        return True
    # Another drive may have the number of a missing one.
    if same_number is None or verdict.is_missing:
        return False
    is_only_controller = drive.is_of_only_controller and type_of(verdict) in single
    return same_controller is True or is_only_controller


def _is_same_serial(of_tool: str, of_drive: str) -> bool | None:
    """Return whether serial numbers are equal, or one is part of the other; None if not known.

    MegaCli adds the model to a serial number, and smartctl prints more of one of a SAS drive than
    ssacli.
    """
    serials = [
        re.sub('[^0-9A-Z]', '', serial.upper()) for serial in (of_tool, of_drive)
    ]
    short, long = sorted(serials, key=len)
    if not short:
        return None
    return short in long if len(short) >= _SERIAL else short == long


def _is_same_number(drive: ToolDrive, verdict: Verdict) -> bool | None:
    """Return whether the controller's ID of a drive is that in the address; None if not known."""
    try:
        pattern = drive.tool['address'].format(**drive.fields)
    except KeyError:  # the tool does not print the numbers of an address
        return None
    return bool(re.fullmatch(pattern, device_types.base(verdict.device)))


def _is_same_controller(drive: ToolDrive, verdict: Verdict) -> bool | None:
    """Return whether the tool and Linux report the same PCI address for the controller; None if one
    of them reports no address.
    """
    host = linux.host_of(verdict.device)
    if host is None:
        return None
    tool_address = _pci(drive.pci)
    system_address = linux.pci_address(host)
    if tool_address and system_address:
        return tool_address == system_address
    return None


def _pci(text: str) -> str:
    """Return a PCI address as Linux writes it, from "00:3b:00:00" or "0000:3b:00.0", else ''."""
    parts = re.fullmatch(
        '([0-9a-f]+):([0-9a-f]+):([0-9a-f]+)[:.]([0-9a-f]+)', text.lower()
    )
    if not parts:
        return ''
    domain, bus, device, function = (int(part, 16) for part in parts.groups())
    return f'{domain:04x}:{bus:02x}:{device:02x}.{function:x}'
