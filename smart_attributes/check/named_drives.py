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
from ..errors import HistoryUnusable, UsageError
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
    """Return a selection of only the named drives, or all drives of this machine if a name
    cannot be resolved.

    Raises UsageError for an invalid address.
    """
    if which.devices or which.scan or which.reports:
        return which
    drives = _known(history)
    named_addresses = [_read_as(word, drives) for word in which.names]
    if all(named_addresses):
        devices = tuple(chain.from_iterable(named_addresses))
        others = _other_addresses(history, devices)
        names = which.names if others else ()
        return which._replace(devices=(*devices, *others), names=names)
    # a scan finds all others
    everywhere = tuple(device.address for device in drives if is_raid(device))
    return which._replace(devices=everywhere, scan=True)


def _other_addresses(history: HistorySettings, devices: Collection[str]) -> list[str]:
    """Return the other addresses at which the last check reached these drives: one of them may be
    the only one at which a drive reports its health status.
    """
    with suppress(HistoryUnusable):
        store = remembered(history).store
        return store.with_aliases(devices) if store and store.is_own else []
    return []


def _known(history: HistorySettings) -> list[Device]:
    """Return the drives that earlier checks have read."""
    from . import history_answers

    devices = []
    with suppress(HistoryUnusable):
        for address in history_answers.in_use(remembered(history), int(YEAR)):
            with suppress(UsageError):  # written by another user
                devices += addresses.parse(address)
    return addresses.named(devices)


def _read_as(word: str, drives: Sequence[Device]) -> list[str]:
    """Return the addresses that a name means; [] if these are known only after reading the
    drives.
    """
    word = word.removeprefix(f'{socket.gethostname()}:')
    if '/dev/' in word:
        return [device.address for device in addresses.parse(word)]
    node = f'/dev/{word}'
    is_node = os.path.exists(node) and not os.path.isdir(node)
    if is_node and re.fullmatch('[a-z]+[0-9a-z]*', word):
        with suppress(UsageError):  # not a drive
            return [device.address for device in addresses.parse(node)]
    checked = [device.address for device in drives if device.name == word]
    if checked:
        return checked
    by_id = [
        path
        for path, names in links().items()
        if word in (*names, *map(addresses.slug, names))
    ]
    if len(by_id) == 1:
        return by_id
    through = addresses.of_short_name(word)
    return [through] if through else []


def links() -> dict[str, list[str]]:
    """Return the names in /dev/disk/by-id for each device path."""
    names_by_path: dict[str, list[str]] = {}
    for name in system.names_in(addresses.FOLDER):
        names_by_path.setdefault(
            os.path.realpath(os.path.join(addresses.FOLDER, name)), []
        ).append(name)
    return names_by_path


def selected(
    reads: Sequence[Read],
    missing: Sequence[MissingDrive],
    settings: RunSettings,
    history: Remembered,
) -> tuple[list[Read], list[MissingDrive]]:
    """Return the results of reading the named drives, one for each address of a drive, and those
    of the named drives that are missing.

    Raises UsageError.
    """
    wanted, by_id = Wanted(settings.which.names, settings.hide_serial), links()
    drives = [(drive.read, *drive.others) for drive in distinct(reads, history.seen_as)]
    for place, addressed in enumerate(drives):
        wanted.see([_named(read, by_id, history) for read in addressed], place)
    present = {read.device.name for read in reads}
    for place, drive in enumerate(missing, len(drives)):
        wanted.see([_named_missing(drive, present)], place)
    kept: list[Device] = []
    missing_drives = []
    for place in wanted.items():
        if place < len(drives):
            kept += [read.device for read in drives[place]]
        else:
            missing_drives.append(missing[place - len(drives)])
    return [read for read in reads if read.device in kept], missing_drives


def _named_missing(drive: MissingDrive, present: Collection[str]) -> Named:
    """Return the names of a missing drive, with that of the slot in which it was.

    present: the names of the drives that are there, one of which may have its former name.
    """
    slots = [drive.missed.change.slot] if drive.missed.change.slot else []
    bay = system.former_place(drive.device).bay
    names = named(drive.device, drive.missed.identity, bay, slots, socket.gethostname())
    return names._replace(others=names.others.difference(present))


def _named(read: Read, by_id: dict[str, list[str]], history: Remembered) -> Named:
    device, path = read.device, os.path.realpath(read.device.path)
    names: list[str] = []
    if not is_raid(device):
        names = [*by_id.get(path, ()), *by_id.get(f'{path}n1', ())]
    host = (
        os.path.basename(os.path.dirname(path))
        if device.is_recorded
        else socket.gethostname()
    )
    return named(
        device,
        read.identity or history.name(device) or Identity(),
        system.place(device).bay,
        names,
        host,
    )
