"""Find the disks that no check on this machine reads: compare /sys with the addresses that the
checks use.
"""

from __future__ import annotations

import os
import re
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
from ..wording import plural
from ..words import clean
from .disks import Disk, disks, reached

SHOWN = 12  # disks that are named; all others are only counted
_MACRO = re.compile('[$`]')


class Uses(NamedTuple):
    """The addresses that a check uses."""

    addresses: Sequence[str] = ()
    is_scan: bool = False
    # False: at least one address is unknown, for example in a macro
    is_known: bool = True


def examine(
    uses: Sequence[Uses], options: Options, scan: Callable[[], Sequence[Device]]
) -> list[Finding]:
    """Return a finding for the disks that no check reads.

    Without known checks, return no finding, because the finding would list all disks. scan: runs
    smartctl --scan.
    """
    there = [disk for disk in disks(system.ROOT) if disk.is_drive]
    if not there or not uses or not all(use.is_known for use in uses):
        return []
    try:
        devices = [
            device
            for use in uses
            for address in use.addresses
            for device in addresses.parse(address)
        ]
        devices += scan() if any(use.is_scan for use in uses) else ()
        wanted = allowed(there, options)
    except SmartError:  # that check, or the scan, reports the error
        return []
    read = {
        name for device in dict.fromkeys(devices) for name in reached(device, there)
    }
    drives = {disk.drive for disk in there if disk.name in read}
    left: dict[str, Disk] = {}  # by drive
    for disk in wanted:
        if disk.drive not in drives:
            left.setdefault(disk.drive, disk)
    return [_finding(list(left.values()))] if left else []


def allowed(disks_there: Sequence[Disk], options: Options) -> list[Disk]:
    """Return the disks that neither options nor local files exclude under any of their names below
    /dev.

    Raises SmartError if the local files cannot be used.
    """
    paths: dict[str, list[str]] = {}
    for folder, _, names in os.walk(os.path.join(system.ROOT, 'dev/disk')):
        for name in names:
            path = os.path.join(folder, name)
            spelt = f'/{os.path.relpath(path, system.ROOT)}'
            paths.setdefault(os.path.basename(os.path.realpath(path)), []).append(spelt)
    site, wanted = site_of(options.data, options.before), []
    for disk in disks_there:
        devices: list[Device] = []
        for path in (
            f'/dev/{disk.name}',
            f'/dev/{disk.drive}',
            *paths.get(disk.name, ()),
        ):
            with suppress(UsageError):  # no check can use this name either
                devices += addresses.parse(path)
        if len(reads.plan(devices, of_reads(options), site)) == len(devices):
            wanted.append(disk)
    return wanted


# --- what the checks read; pure -----------------------------------------------------------


def of_check(check: DaemonCheck) -> Uses:
    """Return the addresses that a check of a daemon uses."""
    parser = Parser(add_help=False)
    parser.add_argument('-d', '--device', action='append', default=[])
    parser.add_argument('-r', '--regex')  # option of version 1.6
    parser.add_argument('--scan', action='store_true')
    try:
        values = parser.parse_known_args(check.words[check.place + 1 :])[0]
    except UsageError:
        return Uses(is_known=False)
    is_known = (
        check.place >= 0 and values.regex is None and not _MACRO.search(check.text)
    )
    return Uses(values.device, values.scan or not values.device, is_known)


# --- what is left; pure -------------------------------------------------------------------


def _finding(left: Sequence[Disk]) -> Finding:
    """Return the finding that names these disks."""
    rest = f' and {plural(len(left) - SHOWN, "more disk")}' if len(left) > SHOWN else ''
    named = f'{", ".join(map(_named, left[:SHOWN]))}{rest}'
    if any(disk.is_behind_raid for disk in left):
        return found('drives-unmonitored-behind-raid', disks=named)
    options = ' '.join(f'-d /dev/{disk.name}' for disk in left[:SHOWN])
    return found('drives-unmonitored', disks=named, options=options)


def _named(disk: Disk) -> str:
    model = clean(disk.model)
    return f'{disk.name} ({model})' if model else disk.name
