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
    # 1 for the drive that came to the history first, 2 for the next one
    order: int = 0


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
    # the highest Record.order in the history when the drive was found gone; 0: it is still here. A
    # drive with a higher order came after this one had left, whatever the clock says
    newest_order: int = 0
    last: int = 0  # when a check last found the drive here
    is_first: bool = False  # the drive was new to the history when it came here
    # of two places, the one with the higher number was left later, whatever the clock says: 1 for the
    # first check that found a drive gone, 2 for the next such check; 0: it is still here
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
        _match(identity, identities, fitting, claims, is_same)
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
    # All drives that this run finds gone get this number; see DrivePlace.departure.
    departure_number = 1 + max((place.departure for place in places), default=0)
    after = {}
    for place in places:
        key = place.address, place.drive
        if not place.gone and _has_left(place, drive_at, scope):
            after[key] = place._replace(
                gone=now, newest_order=newest_order, departure=departure_number
            )
        else:
            after[key] = place
    recorded = {place.drive for place in places}
    for address, drive in drive_at.items():
        if drive is None:
            continue
        key = address, drive
        current = after.get(key)
        if current is None:
            current = DrivePlace(address, drive, now, is_first=drive not in recorded)
        elif current.gone:
            # The drive is back. Nothing else stays of the earlier entry, and the new one is the last.
            del after[key]
            current = DrivePlace(address, drive, now, is_first=current.is_first)
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
    places: Sequence[DrivePlace], records: Mapping[int, Record], scope: Scope, now: int
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
    became = [_change(place, places, here, records, now) for place in left.values()]
    return sorted(filter(None, became), key=attrgetter('place.gone', 'place.address'))


def with_successors(
    changes: Sequence[Change],
    places: Sequence[DrivePlace],
    records: Mapping[int, Record],
) -> list[Change]:
    """Return the changes in the same order. A change of kind "missing" becomes "replaced" if
    _one_for_one() finds the drive's successor among the drives of the same controller; all other
    changes stay as they are.

    A RAID controller gives a new drive a new number, so the new drive is at another address.

    changes: at most one for each drive, as changes() returns them.
    """
    missing: dict[str, list[DrivePlace]] = {}  # by controller
    for change in changes:
        controller = change.place.controller
        if change.kind == 'missing' and controller:
            missing.setdefault(controller, []).append(change.place)
    # Each of these drives has replaced another drive already.
    replacements = {change.successor for change in changes if change.kind == 'replaced'}
    successors = {}
    for controller, places_left in missing.items():
        ever_there = {place.drive for place in places if place.controller == controller}
        # A missing drive is a candidate, too: it may have replaced a drive that left before it.
        candidates = [records[drive] for drive in ever_there - replacements]
        successors.update(_one_for_one(places_left, candidates))
    result = []
    for change in changes:
        drive = change.place.drive
        if change.kind == 'missing' and drive in successors:
            result.append(change._replace(kind='replaced', successor=successors[drive]))
        else:
            result.append(change)
    return result


def _one_for_one(
    missing: Sequence[DrivePlace], candidates: Sequence[Record]
) -> dict[int, int]:
    """Return the successors of the missing drives of one controller: drive -> its successor.

    missing: the places that these drives have left. candidates: all drives that have ever been at
    this controller and have no other predecessor. It is not known which drive replaces which, so
    missing drives have no successor until as many drives have come as are missing. The first that
    came then replaces the first that left, and so on:

        A leaves    A is missing
        B leaves    A and B are missing
        X comes     not known: X may replace A or B
        Y comes     X replaces A, Y replaces B
        Z comes     no drive is missing, so Z replaces none
    """
    successors: dict[int, int] = {}
    leaving = sorted(missing, key=attrgetter('newest_order'))
    # The drives that have left, and those that have come since. As soon as both lists have the same
    # length, their drives are paired, and both lists begin anew.
    waiting = []
    newcomers = []
    for candidate in sorted(candidates, key=attrgetter('order')):
        while leaving and leaving[0].newest_order < candidate.order:
            waiting.append(leaving.pop(0).drive)
        if not waiting:
            continue
        newcomers.append(candidate.number)
        if len(newcomers) == len(waiting):
            successors.update(zip(waiting, newcomers))
            waiting, newcomers = [], []
    return successors


def _change(
    place: DrivePlace,
    places: Sequence[DrivePlace],
    here: Mapping[int, DrivePlace],
    records: Mapping[int, Record],
    now: int,
) -> Change | None:
    """Return what happened to a drive that left a place:

    - "moved": it came to its present place after it had left this one
    - None: it came there before, and was found there later than here; another service reads it
    - "replaced": neither, and another drive is its successor
    - "missing": neither, and it has no successor

    here: the present place of each drive that has one, by drive.
    """
    present = here.get(place.drive)
    if present is not None:
        if _is_at_or_after(present.first, place.gone, now):
            return Change('moved', place, now_at=present.address)
        # + 1: a drive that was found at both places at the same time was not found later.
        if _is_at_or_after(present.last, place.last + 1, now):
            return None
        # The drive was last found here, so it may have left its present place, too.
    # Another drive is the successor even if it has gone itself since.
    successor = _successor(place, places, records)
    kind = 'missing' if successor is None else 'replaced'
    return Change(kind, place, successor=successor)


def _is_at_or_after(time: int, start: int, now: int) -> bool:
    """Return whether *time* is *start* or later. The time of this run (*now*) always counts as
    later, because *start* can be from a clock that was ahead.
    """
    return time == now or time >= start


def _successor(
    place: DrivePlace, places: Sequence[DrivePlace], records: Mapping[int, Record]
) -> int | None:
    """Return the drive that replaced the one that has left a place; None if there is none.

    A successor took the slot or the address of this place, see _took_slot() and _took_address(). Of
    several successors, the one that came to the history first is returned.

    Times are not compared, because clocks can be wrong. Instead, Record.order numbers the drives as
    they came, and newest_order is the highest of these numbers when a drive left:

        A (order 1) leaves              its newest_order is 1
        X (order 2) comes, and leaves   its newest_order is 2
        Y (order 3) comes               X replaced A: 1 < 2 <= 2; Y replaced X, not A: 3 > 2
    """
    # A drive with a higher order came when another drive had left this address after the drive of
    # *place*. So it replaced that other drive.
    highest_order = min(
        (
            later.newest_order
            for later in places
            if later.address == place.address and later.departure > place.departure
        ),
        default=LATEST,
    )
    successors = []
    for candidate in places:
        order = records[candidate.drive].order
        has_slot = _took_slot(candidate, order, place)
        has_address = _took_address(candidate, order, place, highest_order)
        if candidate.drive != place.drive and (has_slot or has_address):
            successors.append(candidate.drive)
    return min(successors, key=lambda drive: records[drive].order, default=None)


def _took_slot(candidate: DrivePlace, order: int, place: DrivePlace) -> bool:
    """Return whether another drive took the slot that the drive of *place* has left: it is there
    now, or was there and came to the history after that drive had left.

    candidate: a place of the other drive. order: of its record. False if the slot is not known.
    """
    if place.slot == '' or candidate.slot != place.slot:
        return False
    return not candidate.gone or order > place.newest_order


def _took_address(
    candidate: DrivePlace, order: int, place: DrivePlace, highest_order: int
) -> bool:
    """Return whether another drive took the address that the drive of *place* has left: it came to
    the history at this address, after that drive had left and before another one left it.

    A drive that came to the history elsewhere does not count, because the device names of known
    drives can change. highest_order: see _successor().
    """
    if candidate.address != place.address or not candidate.is_first:
        return False
    return place.newest_order < order <= highest_order
