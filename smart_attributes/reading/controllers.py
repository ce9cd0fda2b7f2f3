"""Find the SCSI host that an address refers to, and check that its controller is of the right type."""
from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping, Sequence

from ..errors import ControllerElsewhere, DriveAbsent, DriveError
from ..model import Device, Read, Report
from .device_types import base, controller, is_raid
from .system import names_in, text_of

ROOT = '/'  # the folder used as /


def relocated(reads: Sequence[Read]) -> Sequence[Read]:
    """Return the reads, with a better reason for controllers that are not at their address; only one for a range.

    Host numbers change at boot, and a slot that was never examined must not count as empty.
    """
    # If a drive behind the controller answered, skip the lookup.
    answered = {_place(read.device) for read in reads
                if read.identity or type(read.outcome) not in (DriveAbsent, DriveError)}
    unanswered = {_place(read.device): read.device for read in reversed(reads)
              if is_raid(read.device) and _place(read.device) not in answered}
    reasons = {place: moved(device) for place, device in unanswered.items()}
    reported: set[tuple[str, str]] = set()
    result: list[Read] = []
    for read in reads:
        place = _place(read.device)
        reason = reasons.get(place)
        if not (reason and read.device.optional and place in reported):
            result.append(read._replace(outcome=reason) if reason else read)
        reported.add(place)
    return result


def _place(device: Device) -> tuple[str, str]:
    return base(device).partition(',')[0], device.path


def moved(device: Device) -> ControllerElsewhere | None:
    """Return an error if the controller of an address now has another host number, otherwise None."""
    kind, drivers, here = controller(device.type), hosts(), host_of(device)
    if kind is None or not kind.drivers or here is None or drivers.get(here) in kind.drivers:
        return None
    others = [number for number, driver in sorted(drivers.items()) if driver in kind.drivers]
    if not others:
        return None
    numbers = ', '.join(f'host {number}' for number in others)
    through = '' if device.path.startswith('/dev/bus/') else f' (of {device.path})'
    advice = f'{device.type}@PATH with a path of that controller, as in smartctl --scan or ' \
             f'ls -l /sys/class/scsi_generic'
    if kind.has_bus:
        advice = f'{device.type}@/dev/bus/{others[0]}' + (' (likewise for the whole range)' if device.optional else '')
    return ControllerElsewhere(f'was not found: host {here}{through} has no {kind.name} controller, but {numbers} has '
                               f'one; write {advice}')


def hosts() -> Mapping[int, str]:
    """Return the driver of each SCSI host of this machine."""
    folder = os.path.join(ROOT, 'sys/class/scsi_host')
    return {int(name[4:]): text_of(f'{folder}/{name}/proc_name') for name in names_in(folder)
            if re.fullmatch('host[0-9]{1,9}', name)}


def host_of(device: Device) -> int | None:
    """Return the number of the SCSI host behind a path, or None if it is not known."""
    path = os.path.realpath(os.path.join(ROOT, device.path.lstrip('/')))  # the target of a udev link, within ROOT
    root = os.path.realpath(ROOT).rstrip('/')
    path = path[len(root):] if path.startswith(root + '/') else device.path
    bus = re.fullmatch('/dev/bus/([0-9]{1,9})', path)
    if bus:
        return int(bus[1])
    for folder in ('class/block', 'class/scsi_generic'):
        unit = os.path.basename(os.path.realpath(os.path.join(ROOT, 'sys', folder, os.path.basename(path), 'device')))
        address = re.fullmatch('([0-9]{1,9}):[0-9]+:[0-9]+:[0-9]+', unit)  # host:channel:target:unit
        if address:
            return int(address[1])
    return None


def watched(reads: Sequence[Read]) -> Collection[int]:
    """Return the hosts with at least one drive behind RAID that is in the check and returned a report."""
    devices = {_place(read.device): read.device for read in reads
               if isinstance(read.outcome, Report) and is_raid(read.device)}
    drivers = hosts() if devices else {}
    kinds = [(controller(device.type), host_of(device)) for device in devices.values()]
    return {host for kind, host in kinds if kind and host is not None and drivers.get(host) in kind.drivers}
