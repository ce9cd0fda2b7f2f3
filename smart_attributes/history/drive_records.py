"""The drives of a history: which record belongs to a drive, and which drives were added, removed or
moved. Pure.

The rules that match drives with records also detect duplicates; they do not rely on the WWN alone.
A place is an address and the drive that was found there. A run marks only places within its scope
as left, so a drive that two services check at different addresses is not reported as moved. No
decision is stored. A change is reported for a day after a drive was first found at a place or first
found to have left it. A missing drive is reported until it is back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from operator import attrgetter

from ..constants import DAY
from ..model import Identity
from ..typed import NamedTuple

# reading's is_same_drive, which this package must not import
SameDrive = Callable[[Identity, Identity], bool]

LATEST = 2**36  # the year 4147: a larger number is not a time
NAMELESS = (
    'has no serial number or WWN of its own; the history does not store it, so '
    'increases cause no alerts'
)
AMBIGUOUS = (
    'cannot be distinguished from another drive by model, serial number and WWN; '
    'the history stores neither drive, so increases cause no alerts'
)


class Record(NamedTuple):
    """A drive in the history."""

    number: int
    identity: Identity
    first_read: int  # seconds since 1970
    last_read: int


class Match(NamedTuple):
    """The record of a drive."""

    record: Record | None = None  # None: the drive is new to the history, or cannot be stored
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

    @property
    def is_removable(self) -> bool:
        """Return whether drives are often removed from this place, such as a USB port."""
        return '-usb-' in self.slot


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
    address: str  # where the drive was
    drive: int
    since: int  # seconds since 1970: when a check noticed the change
    now_at: str = ''  # "moved": its new address
    successor: int | None = None  # "replaced": the drive in its place
    is_removable: bool = False  # drives often leave this place: USB
    first: int = 0  # when the drive came to that address


def matches(
    identities: Sequence[Identity], records: Sequence[Record], is_same: SameDrive
) -> list[Match]:
    """Return the match of each drive of one run.

    A match has no record if several records fit the drive, or several drives fit the record.
    """
    # Nearly always, a record has exactly the drive's identity. Comparing all pairs would take more
    # time than the rest.
    exact = {name(record.identity): [record] for record in records}
    fits = [
        exact.get(name(identity))
        or [record for record in records if is_same(identity, record.identity)]
        for identity in identities
    ]
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
    """Return the match of a drive. claims: how many drives of the run fit each record."""
    if not is_same(identity, identity):
        return Match(note=NAMELESS)
    if fitting:
        is_only = len(fitting) == 1 and claims[fitting[0].number] == 1
        return Match(fitting[0]) if is_only else Match(note=AMBIGUOUS)
    alike = sum(is_same(identity, other) for other in identities)  # itself is one of them
    return Match(note=AMBIGUOUS if alike > 1 else '')


def updated(
    places: Sequence[DrivePlace],
    drive_at: Mapping[str, int | None],
    scope: Scope,
    now: int,
    slots: Mapping[str, str],
) -> list[DrivePlace]:
    """Return all places, changed and unchanged, as they are after a run.

    drive_at: the drive at each occupied address; None for drives that are in standby, unreadable or
    indistinguishable.
    slots: address -> slot, if known.
    """
    after = {}
    for place in places:
        is_looked_at = not place.gone and (place.address in drive_at or scope.covers(place))
        is_left = is_looked_at and drive_at.get(place.address, -1) not in (None, place.drive)
        after[place.address, place.drive] = place._replace(gone=now) if is_left else place
    for address, drive in drive_at.items():
        if drive is not None:
            before = after.get((address, drive))
            if before is None or before.gone:
                before = DrivePlace(address, drive, now)
            after[address, drive] = before._replace(
                is_scanned=before.is_scanned or scope.is_scan,
                slot=slots.get(address) or before.slot,
            )
    return list(after.values())


def changes(
    places: Sequence[DrivePlace], records: Mapping[int, Record], scope: Scope, now: int
) -> list[Change]:
    """Return the changes, oldest first: one for each drive that has left a place within the scope
    of this run.

    places: the result of updated().
    """
    here = _present(places)
    gone = sorted(
        (place for place in places if place.gone and scope.covers(place)), key=attrgetter('gone')
    )
    left = {place.drive: place for place in gone}
    became = (_change(place, here, records, now) for place in left.values())
    return sorted(filter(None, became), key=attrgetter('since', 'address'))


def arrived(
    places: Sequence[DrivePlace], records: Mapping[int, Record], scope: Scope, since: int
) -> list[DrivePlace]:
    """Return the places of new drives within the scope of this run, oldest first.

    Drives that were first read after *since* (in seconds since 1970) are new.
    """
    new = [
        place
        for place in _present(places).values()
        if scope.covers(place) and records[place.drive].first_read > since
    ]
    return sorted(new, key=attrgetter('first', 'address'))


def _present(places: Sequence[DrivePlace]) -> dict[int, DrivePlace]:
    """Return the newest current place of each drive."""
    return {
        place.drive: place for place in sorted(places, key=attrgetter('first')) if not place.gone
    }


def _change(
    place: DrivePlace, here: Mapping[int, DrivePlace], records: Mapping[int, Record], now: int
) -> Change | None:
    """Return what happened to a drive that left a place; None if another service still reads it
    at another place.
    """
    now_at = here.get(place.drive)
    if now_at and now_at.first >= place.gone:
        return Change('moved', place.address, place.drive, place.gone, now_at=now_at.address)
    # If the drive was read within the last day, another service checks it at its other place.
    if now_at and now - records[place.drive].last_read < DAY:
        return None
    successor = next(
        (other.drive for other in here.values() if _replaces(other, place, records)), None
    )
    return Change(
        'replaced' if successor else 'missing',
        place.address,
        place.drive,
        place.gone,
        successor=successor,
        is_removable=place.is_removable,
        first=place.first,
    )


def _replaces(other: DrivePlace, place: DrivePlace, records: Mapping[int, Record]) -> bool:
    """Return whether another drive is in the slot or at the address that a drive has left.

    A drive at the same address must be new to the history, because the device names of known drives
    can change.
    """
    return (place.slot != '' and other.slot == place.slot) or (
        other.address == place.address and records[other.drive].first_read >= place.gone
    )
