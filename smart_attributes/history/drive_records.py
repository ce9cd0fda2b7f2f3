"""The drives of a history: which record belongs to a drive, and which drives were added, removed or
moved. Pure.

The rules that match drives with records also detect duplicates; they do not rely on the WWN alone.
A place is an address and the drive that was found there. A run marks only places within its scope
as left, so a drive that two services check at different addresses is not reported as moved. No
decision is stored. A change is reported for a day after a drive was first found at a place or first
found to have left it. A missing drive is reported until it is back.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from operator import attrgetter

from ..model import Identity
from ..typed import NamedTuple

# reading's is_same_drive, which this package must not import
SameDrive = Callable[[Identity, Identity], bool]

LATEST = 2**36  # the year 4147: a larger number is not a time
NAMELESS = (
    'has no serial number or WWN of its own; the history does not store this drive, so increases '
    'of its values cause no alerts'
)
AMBIGUOUS = (
    'cannot be distinguished from another drive by model, serial number and WWN; '
    'the history stores neither drive, so increases of their values cause no alerts'
)


# parts of names in /dev/disk/by-path, which systemd's udev-builtin-path_id makes
_OUTSIDE = ('-usb-', '-fc-', '-iscsi-')
_BELOW = re.compile('-(?:ata|sas|scsi|nvme)-')


class Record(NamedTuple):
    """A drive in the history."""

    number: int
    identity: Identity
    first_read: int  # seconds since 1970
    last_read: int
    order: int = (
        0  # its number among all drives of the history: 1 for the first that came
    )


class Match(NamedTuple):
    """The record of a drive."""

    # None: the drive is new to the history, or cannot be stored
    record: Record | None = None
    note: str = ''  # why the drive cannot be stored


class DrivePlace(NamedTuple):
    """A drive at an address."""

    address: str
    drive: int  # number of the drive's record
    first: int  # seconds since 1970: when the drive was first found here
    gone: int = 0  # when a check first found the drive gone; 0: it is still here
    is_scanned: bool = False  # a scan has found the drive here
    # name in /dev/disk/by-path: it depends only on the socket; '' if unknown
    slot: str = ''
    machine: str = ''  # checksum of the ID of the machine
    # the highest Record.order in the history when the drive was found gone, 0: it is still here; a
    # drive with a higher order came later, whatever the clock says
    newest_order: int = 0
    last: int = 0  # when a check last found the drive here
    is_first: bool = False  # the drive was new to the history when it came here
    # number of the check that found the drive gone, counted from 1 for the first check that found a
    # drive gone, whatever the clock says; 0: it is still here
    departure: int = 0

    @property
    def is_removable(self) -> bool:
        """Return whether drives often leave this place: a USB port, or a volume of a SAN."""
        return any(bus in self.slot for bus in _OUTSIDE)

    @property
    def controller(self) -> str:
        """The controller to which this place belongs; '' if unknown."""
        device_type, _, path = self.address.rpartition('@')
        if device_type:
            return f'{device_type.partition(",")[0]}@{path}'
        return _BELOW.split(self.slot)[0]


class Scope(NamedTuple):
    """The addresses that one run covers."""

    named: Collection[str] = ()  # addresses on its command line
    is_scan: bool = False  # all addresses that a scan finds

    def covers(self, place: DrivePlace) -> bool:
        """Return whether the run would have found the drive at this place."""
        return place.address in self.named or (self.is_scan and place.is_scanned)


class Change(NamedTuple):
    """A drive that left an address; the change is reported for a day."""

    kind: str  # "replaced", "moved", "missing"
    place: DrivePlace  # where the drive was
    now_at: str = ''  # "moved": its new address
    successor: int | None = None  # "replaced": the drive in its place


def matches(
    identities: Sequence[Identity], records: Sequence[Record], is_same: SameDrive
) -> list[Match]:
    """Return the match of each drive of one run, in the same order.

    A match has a record if only one record fits the drive, and only this drive fits the record. It
    has a note if several fit, or if the drive has no identity of its own. A new drive has neither.
    """
    # Nearly always, a record has exactly the drive's identity. Comparing all pairs would take more
    # time than the rest.
    exact = {name(record.identity): [record] for record in records}
    fits = []
    for identity in identities:
        fitting = exact.get(name(identity))
        if not fitting:
            fitting = [
                record for record in records if is_same(identity, record.identity)
            ]
        fits.append(fitting)
    claims = Counter(record.number for fitting in fits for record in fitting)
    return [
        _match(identity, identities, fitting=fitting, claims=claims, is_same=is_same)
        for identity, fitting in zip(identities, fits)
    ]


def name(identity: Identity) -> tuple[str, str, str, str]:
    """Return the parts of an identity that do not change as long as the drive is read in the
    same way.
    """
    return identity.protocol, identity.model, identity.serial, identity.wwn


def _match(
    identity: Identity,
    identities: Sequence[Identity],
    fitting: Sequence[Record],
    claims: Mapping[int, int],
    is_same: SameDrive,
) -> Match:
    """Return the match of a drive. fitting: the records that fit it. claims: how many drives of the
    run fit each record, by its number.
    """
    # Without a serial number or WWN, a drive is not recognized as itself.
    if not is_same(identity, identity):
        return Match(note=NAMELESS)
    if fitting:
        is_only = len(fitting) == 1 and claims[fitting[0].number] == 1
        return Match(fitting[0]) if is_only else Match(note=AMBIGUOUS)
    # itself is one of them
    alike = sum(is_same(identity, neighbour) for neighbour in identities)
    return Match(note=AMBIGUOUS if alike > 1 else '')


def updated(
    places: Sequence[DrivePlace],
    drive_at: Mapping[str, int | None],
    scope: Scope,
    now: int,
    slots: Mapping[str, str],
    newest_order: int,
) -> list[DrivePlace]:
    """Return all places, changed and unchanged, as they are after a run. The places of a drive are
    in the order in which the drive came to them, its last place at the end. If clocks are set back,
    only this order shows it.

    drive_at: the drive at each occupied address; None for drives that are in standby, unreadable or
    indistinguishable.
    slots: address -> slot, if known. newest_order: the highest Record.order before this run.
    """
    after = {}
    departure = 1 + max((place.departure for place in places), default=0)
    for place in places:
        key = place.address, place.drive
        if not place.gone and _has_left(place, drive_at, scope):
            after[key] = place._replace(
                gone=now, newest_order=newest_order, departure=departure
            )
        else:
            after[key] = place
    recorded = {place.drive for place in places}
    for address, drive in drive_at.items():
        if drive is None:
            continue
        key = address, drive
        current = after.get(key)
        if current is None or current.gone:
            after.pop(
                key, None
            )  # if the drive comes again, its new entry is the last one
            is_first = current.is_first if current else drive not in recorded
            current = DrivePlace(address, drive, now, is_first=is_first)
        after[key] = current._replace(
            is_scanned=current.is_scanned or scope.is_scan,
            slot=slots.get(address) or current.slot,
            last=now,
        )
    return list(after.values())


def _has_left(
    place: DrivePlace, drive_at: Mapping[str, int | None], scope: Scope
) -> bool:
    """Return whether a run has found that the drive of a place is no longer there."""
    if place.address not in drive_at:
        return scope.covers(place)
    # A drive that is not known (None) may be this one.
    return drive_at[place.address] not in (None, place.drive)


def changes(
    places: Sequence[DrivePlace],
    records: Mapping[int, Record],
    scope: Scope,
    now: int,
) -> list[Change]:
    """Return the changes, oldest first: one for each drive that has left a place within the scope
    of this run, about the last such place.

    places: the result of updated(). records: by number.
    """
    # In these, the last place of a drive replaces its earlier ones.
    here = {place.drive: place for place in places if not place.gone}
    left = {
        place.drive: place for place in places if place.gone and scope.covers(place)
    }
    became = [
        _change(place, places, here=here, records=records, now=now)
        for place in left.values()
    ]
    return sorted(filter(None, became), key=attrgetter('place.gone', 'place.address'))


def with_successors(
    changes: Sequence[Change],
    places: Sequence[DrivePlace],
    records: Mapping[int, Record],
) -> list[Change]:
    """Return the changes, with a successor for each missing drive of a controller that has got at
    least as many new drives since.

    A RAID controller gives a new drive a new number, so it is at another address. With fewer new
    drives, it is not known which of the missing ones were replaced; see _one_for_one().
    """
    missing: dict[str, list[DrivePlace]] = {}  # by controller
    for change in changes:
        controller = change.place.controller
        if change.kind == 'missing' and controller:
            missing.setdefault(controller, []).append(change.place)
    known = {change.successor for change in changes}
    successors = {}
    for controller, left in missing.items():
        there = {place.drive for place in places if place.controller == controller}
        drive_by_order = {records[drive].order: drive for drive in there - known}
        successors.update(_one_for_one(left, drive_by_order))
    result = []
    for change in changes:
        successor = successors.get(change.place.drive)
        if successor is None:
            result.append(change)
        else:
            result.append(change._replace(kind='replaced', successor=successor))
    return result


def _one_for_one(
    missing: Sequence[DrivePlace], drive_by_order: Mapping[int, int]
) -> dict[int, int]:
    """Return the successor of each missing drive of one controller, as far as it is known.

    missing: the places that these drives have left. drive_by_order: the drives that have ever been
    at this controller and have no other predecessor, by Record.order.

    As soon as as many new drives have come as are missing, they replace these, in the order in which
    they came. If A left after the drive with order 3 had come, and B after that with order 5, the
    drive with order 4 replaces A, that with order 5 none, and that with order 6 replaces B.
    """
    successors: dict[int, int] = {}
    free = []  # new drives that have replaced none so far
    by_departure = sorted(missing, key=attrgetter('newest_order'))
    for order in sorted(drive_by_order):
        free.append(drive_by_order[order])
        waiting = [
            place.drive
            for place in by_departure
            if place.newest_order < order and place.drive not in successors
        ]
        if len(free) >= len(waiting):
            successors.update(zip(waiting, free))
            free = []
    return successors


def _change(
    place: DrivePlace,
    places: Sequence[DrivePlace],
    here: Mapping[int, DrivePlace],
    records: Mapping[int, Record],
    now: int,
) -> Change | None:
    """Return what happened to a drive that left a place; None if another service still reads it
    at another place.
    """
    other = here.get(place.drive)
    if other is not None:
        # The times of *place* can be later than now, if the clock was set back; therefore a drive
        # that this run has read is tested first.
        is_read_now = other.last == now
        came_now = is_read_now and other.first == now
        came_after_leaving = came_now or other.first >= place.gone
        if came_after_leaving:
            return Change('moved', place, now_at=other.address)
        was_seen_there_later = is_read_now or other.last > place.last
        if was_seen_there_later:
            return None
    # A successor counts even if it has gone itself since.
    successor = _successor(place, places, records)
    kind = 'replaced' if successor else 'missing'
    return Change(kind, place, successor=successor)


def _successor(
    place: DrivePlace, places: Sequence[DrivePlace], records: Mapping[int, Record]
) -> int | None:
    """Return the drive that has come into the slot or to the address that a drive has left; None
    if there is none.

    At the same address, it must be new to the history and have come to this address first, because
    the device names of known drives can change. It replaces the drive that left the address last.
    """
    others = [other for other in places if other.drive != place.drive]
    at_address = [other for other in others if other.address == place.address]
    left_later = [other for other in at_address if other.departure > place.departure]
    # A drive that came even later replaces a drive that left later.
    highest_order = min((other.newest_order for other in left_later), default=LATEST)
    successors = []
    for other in others:
        order = records[other.drive].order
        came_later = order > place.newest_order
        if place.slot != '' and other.slot == place.slot:
            # a drive that came earlier, to another place, can be in the slot now
            is_successor = came_later or not other.gone
        else:
            is_new_there = other.is_first and other.address == place.address
            is_successor = is_new_there and came_later and order <= highest_order
        if is_successor:
            successors.append(other.drive)
    return min(successors, key=lambda drive: records[drive].order, default=None)
