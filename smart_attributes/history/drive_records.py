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
    order: int = 0  # its place among all drives of the history, by when they came


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
    # the highest Record.order when the drive was found gone: later drives are new, whatever the
    # clock says
    newest: int = 0
    last: int = 0  # when a check last found the drive here
    is_first: bool = False  # the drive was new to the history when it came here
    # the place among the checks that found drives gone, whatever the clock says; 0: it is still here
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

    A match has no record if no record fits the drive; and neither, but a note, if several records
    fit the drive, several drives fit the record, or the drive has no identity of its own.
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
    newest: int,
) -> list[DrivePlace]:
    """Return all places, changed and unchanged, as they are after a run. The places of a drive are
    in the order in which the drive came to them: clocks are set back.

    drive_at: the drive at each occupied address; None for drives that are in standby, unreadable or
    indistinguishable.
    slots: address -> slot, if known. newest: the highest Record.order before this run.
    """
    after = {}
    departure = 1 + max((place.departure for place in places), default=0)
    for place in places:
        after[place.address, place.drive] = place
        is_looked_at = place.address in drive_at or scope.covers(place)
        found = drive_at.get(place.address, -1)  # -1: no drive is there
        # A drive that is not known (None) may be this one.
        if is_looked_at and not place.gone and found not in (None, place.drive):
            left = place._replace(gone=now, newest=newest, departure=departure)
            after[place.address, place.drive] = left
    recorded = {place.drive for place in places}
    for address, drive in drive_at.items():
        if drive is None:
            continue
        before = after.get((address, drive))
        if before is None:
            before = DrivePlace(address, drive, now, is_first=drive not in recorded)
        elif before.gone:
            del after[address, drive]  # the drive has come again
            before = DrivePlace(address, drive, now, is_first=before.is_first)
        after[address, drive] = before._replace(
            is_scanned=before.is_scanned or scope.is_scan,
            slot=slots.get(address) or before.slot,
            last=now,
        )
    return list(after.values())


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
    # the newest current place of each drive
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
    """Return the changes, with a successor for each missing drive of a controller that has got as
    many new drives since.

    A RAID controller gives a new drive a new number, so it is at another address. With fewer new
    drives, it is not known which of the missing ones were replaced.
    """
    successors: dict[int, int] = {}
    missing = [change for change in changes if change.kind == 'missing']
    for controller in {change.place.controller for change in missing} - {''}:
        came = {place.drive for place in places if place.controller == controller}
        new = came.difference(change.successor for change in changes)
        orders = {records[drive].order: drive for drive in new}
        of_controller = [
            change.place for change in missing if change.place.controller == controller
        ]
        successors.update(_one_for_one(of_controller, orders))
    result = [*changes]
    for place, change in enumerate(changes):
        successor = successors.get(change.place.drive)
        if successor is not None:
            result[place] = change._replace(kind='replaced', successor=successor)
    return result


def _one_for_one(
    missing: Sequence[DrivePlace], orders: Mapping[int, int]
) -> dict[int, int]:
    """Return the successor of each missing drive of one controller, as far as it is known.

    missing: the places that these drives have left. orders: the drives that have come to this
    controller, by Record.order. Whenever as many new drives have come as were missing, all of them
    are replaced, in the order in which they came.
    """
    successors: dict[int, int] = {}
    waiting: list[int] = []  # missing drives without a successor so far
    free: list[int] = []  # new drives that have replaced none so far
    # The orders after which drives were missing: until the next one, new drives replace these.
    moments = sorted({place.newest for place in missing})
    for moment, until in zip(moments, [*moments[1:], LATEST]):
        waiting += [place.drive for place in missing if place.newest == moment]
        free += [orders[order] for order in sorted(orders) if moment < order <= until]
        if len(free) >= len(waiting):
            successors.update(zip(waiting, free))
            waiting = []
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
    now_at = here.get(place.drive)
    # This check has found the drive, whatever the clock says.
    is_found = now_at is not None and now_at.last == now
    if now_at and (now_at.first >= place.gone or (is_found and now_at.first == now)):
        return Change('moved', place, now_at=now_at.address)
    # Another service has found the drive at its other place since it was last here.
    if now_at and (now_at.last > place.last or is_found):
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
    of_others = [later for later in places if later.drive != place.drive]
    same_address = [later for later in of_others if later.address == place.address]
    next_left = [
        later.newest for later in same_address if later.departure > place.departure
    ]
    until = min(next_left, default=LATEST)
    successors = []
    for later in of_others:
        order = records[later.drive].order
        is_newer = order > place.newest
        is_in_slot = place.slot != '' and later.slot == place.slot
        is_new_here = (
            later.address == place.address and later.is_first and order <= until
        )
        if (is_in_slot and (is_newer or not later.gone)) or (is_newer and is_new_here):
            successors.append(later.drive)
    return min(successors, key=lambda drive: records[drive].order, default=None)
