"""Convert the output of smartctl --scan into Devices. Pure functions."""

import re
from collections.abc import Iterable

from ..errors import Coded, SmartError, UsageError
from ..model import Device, DeviceList
from ..words import clean
from . import addresses
from .addresses import quoted


def from_scan(text: str, names: Iterable[str]) -> DeviceList:
    """Return the drives in the JSON of smartctl --scan or --scan-open, with a note on each device
    left out.

    names: files in /dev. Drives above nvme99 are added, because smartctl does not scan for them
    (os_linux.cpp of 7.3).
    Raises SmartError if the text is not the output of a scan.
    """
    devices = []
    notes = []
    is_whole = True
    entries = _entries(text)
    for path, kind, failure in entries:
        try:
            drives = addresses.at(path, _as_needed(kind, path), path)
        except UsageError as error:
            notes.append(_skipped(quoted(path), str(error)))
            is_whole = False
            continue
        what = addresses.of_path(path)  # '' for a drive
        if failure or what:
            reason = clean(failure, 200) or f'it is {what}, not a drive with SMART'
            notes.append(_skipped(path, reason))
            if not what:  # a drive that could not be opened
                is_whole = False
        else:
            devices += drives
    beyond = {
        f'/dev/{name}' for name in names if re.fullmatch('nvme[1-9][0-9]{2,8}', name)
    }
    devices += map(Device, sorted(beyond - {path for path, _, _ in entries}))
    return DeviceList(
        tuple(devices), is_scan=True, is_whole=is_whole, notes=tuple(notes)
    )


def _skipped(found: str, reason: str) -> Coded:
    return Coded('scan-left-out', f'the scan found {found}, which is skipped: {reason}')


def _as_needed(kind: str, path: str) -> str:
    """Return the type to use for a device, or '' if smartctl detects it.

    A scan that does not open devices lists SATA drives as "scsi"; with this type, smartctl would
    not send ATA commands.
    """
    if kind in ('sat', 'ata'):
        is_detected = path.startswith(('/dev/sd', '/dev/hd'))
    elif kind == 'nvme':
        is_detected = path.startswith('/dev/nvme')
    else:
        is_detected = kind == 'scsi'
    return '' if is_detected else kind


def _entries(text: str) -> list[tuple[str, str, str]]:
    """Return the path, the type and the error ('' if none) of each device.

    Raises SmartError if the text is not the output of a scan.
    """
    import json

    try:
        scan = json.loads(text)
        # A scan that finds no drive has no key "devices", but other outputs also lack this key.
        head = scan['smartctl']
        is_scan = not head['exit_status'] and {'--scan', '--scan-open'}.intersection(
            head['argv']
        )
        entries = [
            (device['name'], device['type'], device.get('open_error', ''))
            for device in scan.get('devices', [])
        ]
        if is_scan and all(
            isinstance(word, str) for entry in entries for word in entry
        ):
            return entries
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        pass  # the error below
    raise SmartError(
        'smartctl --scan printed no list of devices',
        'scan-failed',
        step='run it by hand to see its output',
    )
