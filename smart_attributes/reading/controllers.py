"""Controllers: which SCSI host of this machine an address means, and whether it is of the right kind."""
from __future__ import annotations

import os
import re

from ..errors import ControllerElsewhere, DriveAbsent, DriveError
from ..model import Device, Read, Report
from ..typed import TYPE_CHECKING
from .device_types import base, controller, is_raid

if TYPE_CHECKING:
    from typing import Collection, Dict, List, Mapping, Optional, Sequence, Set, Tuple

ROOT = '/'  # the folder that stands for /


def relocated(reads: Sequence[Read]) -> Sequence[Read]:
    """Return the reads, those of a controller that is not where its address says with that reason, and once for a
    range.

    Host numbers change at boot; a slot that nobody looked into is not empty.
    """
    silent = _silent(reads)
    if not silent:
        return reads
    reasons = {place: moved(device) for place, device in silent.items()}
    told: Set[Tuple[str, str]] = set()
    kept: List[Read] = []
    for read in reads:
        reason = reasons.get(_place(read.device))
        if reason and read.device.optional and _place(read.device) in told:
            continue
        told.add(_place(read.device))
        kept.append(read._replace(outcome=reason) if reason else read)
    return kept


def _silent(reads: Sequence[Read]) -> Dict[Tuple[str, str], Device]:
    """Return a device of each controller behind which nobody answered: nothing is looked up where all is well."""
    answered = {_place(read.device) for read in reads if not _is_nobody(read)}
    silent: Dict[Tuple[str, str], Device] = {}
    for read in reads:
        if is_raid(read.device) and _place(read.device) not in answered:
            silent.setdefault(_place(read.device), read.device)
    return silent


def _is_nobody(read: Read) -> bool:
    return read.identity is None and type(read.outcome) in (DriveAbsent, DriveError)


def _place(device: Device) -> Tuple[str, str]:
    return base(device).partition(',')[0], device.path


def moved(device: Device) -> Optional[ControllerElsewhere]:
    """Return the reason for an address whose controller has another host number now, None where that is not so."""
    kind = controller(device.type)
    known = hosts()
    here = host_of(device)
    if kind is None or not kind.drivers or here is None or known.get(here) in kind.drivers:
        return None
    others = [number for number, driver in sorted(known.items()) if driver in kind.drivers]
    if not others:
        return None
    numbers = ', '.join(f'host {number}' for number in others)
    through = '' if device.path.startswith('/dev/bus/') else f', which {device.path} belongs to,'
    return ControllerElsewhere(f'is not reached: host {here}{through} has no {kind.name} controller ({numbers} has); '
                               f'write {_written(device, others[0])}')


def _written(device: Device, host: int) -> str:
    """Return what to write instead."""
    kind = controller(device.type)
    if kind and kind.has_bus:
        return f'{device.type}@/dev/bus/{host}' + (' (and so for the whole range)' if device.optional else '')
    return (f'{device.type}@PATH with a path of that controller; smartctl --scan or ls -l /sys/class/scsi_generic '
            f'show which')


def hosts() -> Mapping[int, str]:
    """Return the driver of each SCSI host of this machine."""
    folder = os.path.join(ROOT, 'sys/class/scsi_host')
    try:
        names = os.listdir(folder)
    except OSError:
        return {}
    return {int(name[4:]): _line(os.path.join(folder, name, 'proc_name')) for name in names
            if re.fullmatch('host[0-9]{1,9}', name)}


def host_of(device: Device) -> Optional[int]:
    """Return the number of the SCSI host behind a path, None where nothing tells it."""
    path = _real(device.path)
    bus = re.fullmatch('/dev/bus/([0-9]{1,9})', path)
    if bus:
        return int(bus[1])
    name = os.path.basename(path)
    for folder in ('class/block', 'class/scsi_generic'):
        unit = os.path.basename(os.path.realpath(os.path.join(ROOT, 'sys', folder, name, 'device')))
        address = re.fullmatch('([0-9]{1,9}):[0-9]+:[0-9]+:[0-9]+', unit)  # host:channel:target:unit
        if address:
            return int(address[1])
    return None


def _real(path: str) -> str:
    """Return the path that a link of udev leads to, within ROOT."""
    real = os.path.realpath(os.path.join(ROOT, path.lstrip('/')))
    root = os.path.realpath(ROOT).rstrip('/')
    return real[len(root):] if real.startswith(root + '/') else path


def watched(reads: Sequence[Read]) -> Collection[int]:
    """Return the hosts whose drives behind RAID are in the check and gave a report."""
    found: Dict[Tuple[str, str], Optional[int]] = {}
    for read in reads:
        if isinstance(read.outcome, Report) and is_raid(read.device) and _place(read.device) not in found:
            found[_place(read.device)] = host_of(read.device)
    known = hosts() if found else {}
    kinds = [(controller(name), host) for (name, _), host in found.items() if host is not None]
    return {host for kind, host in kinds if kind and known.get(host) in kind.drivers}


def _line(path: str) -> str:
    try:
        with open(path, encoding='ascii', errors='replace') as file:
            return file.readline(100).strip()
    except OSError:
        return ''
