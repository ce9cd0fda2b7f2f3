"""Roll call: of what was read each drive once, what is nothing left out, and who is missing."""
from __future__ import annotations

from ..coded import Coded
from ..errors import ControllerElsewhere, DriveAbsent, DriveIsNoDrive, DriveNotReached
from ..model import Device, Identity, Read, Report, State
from ..reading import names
from ..reading.identity import distinct, note
from ..typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import List, Optional, Sequence, Tuple


class Inventory(NamedTuple):
    """The reads of a run that count, and sentences about the others."""

    reads: Tuple[Read, ...]       # each drive once, under its final name
    candidates: Tuple[Read, ...]  # those, and the twins and empty slots that do not count
    is_bare: bool                 # every address was read, and none holds a drive
    notes: Tuple[Coded, ...] = ()   # twins, empty slots, drives that answer as another type
    faults: Tuple[Coded, ...] = ()  # slots that were not read in time


def inventory(candidates: Sequence[Read], asked: Sequence[Device], is_scan: bool, label: str) -> Inventory:
    """Return which of the reads count, and under which name.

    candidates: the reads that the options select, in the order of *asked*: the devices that the run addresses.
    is_scan: smartctl's scan found these. label: what names are made of, see --label.
    """
    drives, twins = without_twins(candidates)
    occupied, empty = without_empty(drives, is_scan)
    answered, unseen = without_unseen(occupied, sum(device.optional for device in asked))
    return Inventory(reads=tuple(labelled(answered, label)), candidates=tuple(candidates),
                     is_bare=is_bare(candidates, asked),
                     notes=(*twins, *empty, *reached_otherwise(answered, asked)), faults=unseen)


def in_order(reads: Sequence[Read], asked: Sequence[Device]) -> List[Read]:
    """Return what was read in the order in which it was asked for."""
    places = {device.name: place for place, device in enumerate(asked)}  # the type may have changed on the way
    return sorted(reads, key=lambda read: places[read.device.name])


def looked_at_again(reads: Sequence[Read]) -> List[Read]:
    """Return the reads with the better reason that this machine may have where nobody answered."""
    if all(isinstance(read.outcome, Report) for read in reads):
        return list(reads)
    from ..reading import diagnostics
    return diagnostics.with_better_reasons(reads)


def reached_otherwise(reads: Sequence[Read], asked: Sequence[Device]) -> List[Coded]:
    """Return a note for each drive that does not speak as it was asked to."""
    known = {device.name: device for device in asked}
    return [Coded('type-differs', f'{read.device.name} does not answer as {known[read.device.name].address} and is '
                                  f'read as {read.device.address}; write that')
            for read in reads if read.device.name in known and read.device.type != known[read.device.name].type]


def without_twins(reads: Sequence[Read]) -> Tuple[List[Read], List[Coded]]:
    """Return each drive once, and a note for each further address of it."""
    drives = distinct(reads)
    return [drive.read for drive in drives], [
        Coded('same-drive', f'{drive.read.device.name}: {note(drive)}') for drive in drives if drive.others]


def without_empty(reads: Sequence[Read], is_scan: bool) -> Tuple[List[Read], List[Coded]]:
    """Leave out empty slots of a range, and what a scan took for a drive; a note for each."""
    nothing = [read for read in reads if _is_nothing(read, is_scan)]
    nothing += [] if is_scan else _volumes_of_watched_drives(reads)
    notes = [Coded('nothing-there', f'{read.device.name} {read.outcome}; left out') for read in nothing]
    return [read for read in reads if read not in nothing], notes


def _is_nothing(read: Read, is_scan: bool) -> bool:
    return (isinstance(read.outcome, DriveAbsent) and read.device.optional) or (
        isinstance(read.outcome, DriveIsNoDrive) and is_scan)


def _volumes_of_watched_drives(reads: Sequence[Read]) -> List[Read]:
    """Return the volumes that were named beside the drives behind the same controller: these tell all that there is."""
    volumes = [read for read in reads if isinstance(read.outcome, DriveIsNoDrive) and not read.device.is_recorded]
    if not volumes:
        return []
    from ..reading import controllers
    watched = controllers.watched(reads)
    return [read for read in volumes if controllers.host_of(read.device) in watched]


def without_unseen(reads: Sequence[Read], slots: int) -> Tuple[List[Read], Tuple[Coded, ...]]:
    """Leave out the slots of a range that were not read in time: whether they hold drives is unknown."""
    unseen = [read for read in reads if read.device.optional and isinstance(read.outcome, DriveNotReached)]
    told = (Coded('slots-not-reached', f'{len(unseen)} of {slots} slots were not looked at, time was over; name fewer '
                                       f'slots, or give more time with -t'),)
    return [read for read in reads if read not in unseen], told if unseen else ()


def missing(reads: Sequence[Read], expected: Optional[int]) -> Tuple[Coded, ...]:
    """Return a sentence when fewer drives are there than expected; a sleeping or unreadable one is there, a volume is
    no drive.

    Where a controller was looked for in the wrong place, nobody knows how many there are.
    """
    there = sum(not isinstance(read.outcome, (DriveAbsent, DriveIsNoDrive)) for read in reads)
    if expected is None or there >= expected or any(isinstance(read.outcome, ControllerElsewhere) for read in reads):
        return ()
    return (Coded('drives-missing', f'{expected - there} of {expected} expected drives missing, {there} there; '
                                    'look for a drive that is gone, or correct --expect'),)


def nobody(is_bare: bool, expected: Optional[int], wish: Optional[State]) -> Tuple[State, str]:
    """Return state and sentence for a check without a single drive.

    is_bare: a scan found nothing that could be one. wish: of --no-drives, which is for this alone: a mistyped pattern
    or slots that are all empty stay UNKNOWN.
    """
    if is_bare and wish is not None:
        return wish, f'no drives: smartctl --scan finds none here (--no-drives {wish.name.lower()})'
    if expected == 0:
        return State.OK, 'no drives, as expected (--expect 0)'
    return State.UNKNOWN, Coded('no-drives', 'no drives to check: smartctl --scan finds none, or patterns and empty '
                                             'slots leave none over; name drives with -d, for example -d /dev/sda, or '
                                             'say --no-drives ok where there are none')


def is_bare(reads: Sequence[Read], asked: Sequence[Device]) -> bool:
    """Tell whether all that was asked for was asked, and none of it is a drive."""
    return len(reads) == len(asked) and all(isinstance(read.outcome, (DriveAbsent, DriveIsNoDrive)) for read in reads)


def labelled(reads: Sequence[Read], label: str) -> List[Read]:
    """Return the drives under names made of what --label asks for, each name once."""
    if label == 'device':
        return list(reads)
    devices = names.labelled(list(zip((read.device for read in reads), _labels(reads, label))))
    return [read._replace(device=device) for read, device in zip(reads, devices)]


def _labels(reads: Sequence[Read], label: str) -> List[str]:
    """Return what names are made of, '' where a drive does not tell it."""
    if label == 'by-id':
        from ..reading import by_id
        links = by_id.links()
        return [by_id.name_of(read.device, links) for read in reads]
    identities = [read.identity or Identity() for read in reads]
    return [identity.serial if label == 'serial' else identity.wwn for identity in identities]
