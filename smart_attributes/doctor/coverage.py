"""Find the disks that no check on this machine reads: compare /sys with the addresses that the
checks use.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

from ..check import reads
from ..check.rulebook import site_of
from ..check.settings import of_reads
from ..command_line.options import Options, Parser
from ..daemons.checks import DaemonCheck
from ..errors import SmartError, UsageError
from ..model import Device
from ..output.doctor_findings import Finding, found
from ..reading import addresses, system
from ..wording import listed
from ..words import clean
from .disks import Disk, disks, reached

SHOWN = 12  # disks that are named; all others are only counted


class Uses(NamedTuple):
    """The addresses that a check uses."""

    addresses: Sequence[str] = ()
    is_scan: bool = False
    # False: at least one address is unknown, for example in a macro
    is_known: bool = True


def examine(
    uses: Sequence[Uses], options: Options, scan: Callable[[], Sequence[Device]]
) -> list[Finding]:
    """Return a finding for the disks that no check reads; [] if there are none.

    Also [] if the addresses of a check are unknown, because the finding would list too many disks.
    scan: runs smartctl --scan.
    """
    present = [disk for disk in disks(system.ROOT) if disk.is_drive]
    if not present or not uses or not all(use.is_known for use in uses):
        return []
    try:
        devices = _devices(uses, scan)
        wanted = allowed(present, options)
    except SmartError:  # that check, or the scan, reports the error
        return []
    names_read: set[str] = set()
    for device in devices:
        names_read.update(reached(device, present))
    drives_read = {disk.drive for disk in present if disk.name in names_read}
    unread: dict[str, Disk] = {}  # drive -> its first disk
    for disk in wanted:
        if disk.drive not in drives_read:
            unread.setdefault(disk.drive, disk)
    return [_finding(list(unread.values()))] if unread else []


def _devices(
    uses: Sequence[Uses], scan: Callable[[], Sequence[Device]]
) -> list[Device]:
    """Return the devices that the checks read. Raises SmartError."""
    devices: list[Device] = []
    for use in uses:
        for address in use.addresses:
            devices += addresses.parse(address)
    if any(use.is_scan for use in uses):
        devices += scan()
    return devices


def allowed(present: Sequence[Disk], options: Options) -> list[Disk]:
    """Return the disks that a check may read: options and local files exclude none of their names
    below /dev.

    Raises SmartError if the local files cannot be used.
    """
    # disk -> its other names, such as /dev/disk/by-id/...
    links: dict[str, list[str]] = {}
    for folder, _, names in os.walk(os.path.join(system.ROOT, 'dev/disk')):
        for name in names:
            path = os.path.join(folder, name)
            disk_name = os.path.basename(os.path.realpath(path))
            link = f'/{os.path.relpath(path, system.ROOT)}'
            links.setdefault(disk_name, []).append(link)
    site = site_of(options.data, options.before)
    wanted = []
    for disk in present:
        paths = (f'/dev/{disk.name}', f'/dev/{disk.drive}', *links.get(disk.name, ()))
        devices: list[Device] = []
        for path in paths:
            with suppress(UsageError):  # no check can use this name either
                devices += addresses.parse(path)
        included = reads.plan(devices, of_reads(options), site)
        if len(included) == len(devices):
            wanted.append(disk)
    return wanted


# --- what the checks read; pure -----------------------------------------------------------


def of_check(check: DaemonCheck) -> Uses:
    """Return the addresses that a check of a daemon uses; is_known is False if its command line
    cannot be understood.
    """
    has_macro = '$' in check.text or '`' in check.text
    index = check.program_index
    if index < 0 or has_macro:
        return Uses(is_known=False)
    parser = Parser(add_help=False)
    parser.add_argument('-d', '--device', action='append', default=[])
    parser.add_argument('-r', '--regex')  # option of version 1.6
    parser.add_argument('--scan', action='store_true')
    try:
        values, _ = parser.parse_known_args(check.words[index + 1 :])
    except UsageError:
        return Uses(is_known=False)
    is_scan = values.scan or not values.device
    return Uses(values.device, is_scan, is_known=values.regex is None)


# --- what is left; pure -------------------------------------------------------------------


def _finding(unread: Sequence[Disk]) -> Finding:
    """Return the finding that names these disks, of which there is at least one."""
    named = listed(list(map(_named, unread)), SHOWN)
    if any(disk.is_behind_raid for disk in unread):
        return found('drives-unmonitored-behind-raid', disks=named)
    options = ' '.join(f'-d /dev/{disk.name}' for disk in unread[:SHOWN])
    return found('drives-unmonitored', disks=named, options=options)


def _named(disk: Disk) -> str:
    model = clean(disk.model)
    return f'{disk.name} ({model})' if model else disk.name
