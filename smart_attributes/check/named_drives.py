"""Drives that the command line selects by name; if these names are known before reading, only
these drives are read.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Collection, Sequence
from contextlib import suppress
from itertools import chain

from ..command_line.options import Which
from ..constants import YEAR
from ..errors import UsageError
from ..model import Device, Identity, Read
from ..reading import addresses, system
from ..reading.device_types import is_raid
from ..typed import TYPE_CHECKING
from .drive_names import Named, Wanted, named
from .history_access import Remembered, remembered
from .same_drive import distinct
from .settings import HistorySettings, RunSettings

if TYPE_CHECKING:
    from .drive_tracking import MissingDrive


def narrowed(which: Which, history: HistorySettings) -> Which:
    """Return the selection of the drives to read, so that drives without one of the names are not
    read if possible. *which* has at least one name. The selection is one of these:

    - *which* itself, if it has addresses, a scan or reports
    - all drives of this machine, with the names, if the address of a name is not known
    - the addresses of the named drives, without names, if no other address of them is known
    - the addresses of the named drives and their other addresses, with the names, if the last check
      found other addresses of these drives

    With the names, selected() finds the named drives after reading. Raises UsageError for an
    invalid address.
    """
    if which.devices or which.scan or which.reports:
        return which
    past = remembered(history)
    drives = _known(past)
    addresses_by_name = [_addresses_of(name, drives) for name in which.names]
    has_unknown_name = [] in addresses_by_name
    if has_unknown_name:
        # A scan finds the drives that are not behind RAID.
        behind_raid = tuple(device.address for device in drives if is_raid(device))
        return which._replace(devices=behind_raid, scan=True)
    devices = tuple(chain.from_iterable(addresses_by_name))
    # These are other addresses of the drives at the last check. A drive may report its health
    # status only there.
    store = past.read_store()
    aliases = store.with_aliases(devices) if store and store.is_own else []
    if not aliases:
        return which._replace(devices=devices, names=())
    # The names stay, because another drive can be at an alias now.
    return which._replace(devices=(*devices, *aliases))


def _known(history: Remembered) -> list[Device]:
    """Return the drives that checks have read within a year; [] without history."""
    from . import history_answers

    devices = []
    for address in history_answers.in_use(history, int(YEAR)):
        with suppress(UsageError):  # written by another user
            devices += addresses.parse(address)
    return addresses.named(devices)


def _addresses_of(name: str, drives: Sequence[Device]) -> list[str]:
    """Return the addresses that a name means; [] if these are known only after reading the
    drives.

    drives: those that earlier checks have read. Raises UsageError for an invalid address.
    """
    name = name.removeprefix(f'{socket.gethostname()}:')
    if '/dev/' in name:
        return [device.address for device in addresses.parse(name)]
    node = f'/dev/{name}'
    is_node = os.path.exists(node) and not os.path.isdir(node)
    if is_node and re.fullmatch('[a-z]+[0-9a-z]*', name):
        with suppress(UsageError):  # not a drive
            return [device.address for device in addresses.parse(node)]
    of_known = [device.address for device in drives if device.name == name]
    if of_known:
        return of_known
    paths = [
        path
        for path, names in links().items()
        if name in (*names, *map(addresses.slug, names))
    ]
    if len(paths) == 1:
        return paths
    address = addresses.of_short_name(name)
    return [address] if address else []


def links() -> dict[str, list[str]]:
    """Return the names in /dev/disk/by-id for each device path."""
    names_by_path: dict[str, list[str]] = {}
    for name in system.names_in(addresses.FOLDER):
        path = os.path.realpath(os.path.join(addresses.FOLDER, name))
        names_by_path.setdefault(path, []).append(name)
    return names_by_path


def selected(
    reads: Sequence[Read],
    vacated: Sequence[Read],
    missing: Sequence[MissingDrive],
    settings: RunSettings,
    history: Remembered,
) -> tuple[list[Read], list[MissingDrive]]:
    """Return the results of reading the named drives, one for each address of a drive, and those
    of the named drives that are missing.

    vacated: those of *reads* from the former address of a missing drive. Their names are names of
    this drive.

    Raises UsageError.
    """
    wanted = Wanted(settings.which.names, settings.hide_serial)
    by_id = links()
    occupied = [read for read in reads if read not in vacated]
    for drive in distinct(occupied, history.seen_as):
        addressed = (drive.read, *drive.others)
        names = [_named(read, by_id, history) for read in addressed]
        wanted.see(names, item=tuple(read.device for read in addressed))
    # a drive that is there keeps its address and its name, whichever drive had them before
    taken = {read.device.name for read in occupied}
    taken.update(read.device.address for read in occupied)
    for absent in missing:
        address = absent.device.address
        former = []
        if address not in taken:
            former = [
                _named(read, by_id, history)
                for read in vacated
                if read.device.address == address
            ]
        wanted.see([_named_missing(absent, taken), *former], item=(absent.device,))
        taken.update((absent.device.name, address))
    wanted_devices = set(chain.from_iterable(wanted.items()))
    return (
        [read for read in occupied if read.device in wanted_devices],
        [absent for absent in missing if absent.device in wanted_devices],
    )


def _named_missing(drive: MissingDrive, taken: Collection[str]) -> Named:
    """Return the names of a missing drive. The system has no names in /dev/disk/by-id for it, so
    the name that its slot has in /dev/disk/by-path is in their place.

    taken: names and addresses that now mean another drive.
    """
    slot = drive.place.slot
    names = named(
        drive.device,
        drive.identity,
        bay=system.former_place(drive.device).bay,
        by_id=[slot] if slot else [],
        host=socket.gethostname(),
    )
    address = names.name if names.address in taken else names.address
    return Named(address, names.name, names.others.difference(taken))


def _named(read: Read, by_id: dict[str, list[str]], history: Remembered) -> Named:
    """Return the names of a drive at one address. by_id: as from links()."""
    device = read.device
    path = os.path.realpath(device.path)
    names = []
    if not is_raid(device):
        # of the path, or of the first namespace of an NVMe controller
        names = [*by_id.get(path, ()), *by_id.get(f'{path}n1', ())]
    host = socket.gethostname()
    if device.is_recorded:
        host = os.path.basename(os.path.dirname(path))
    identity = read.identity or history.identity_at(device) or Identity()
    return named(device, identity, system.place(device).bay, names, host)
