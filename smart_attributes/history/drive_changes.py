"""Drives that come, go and move: what history's places tell, whoever looked in between. Pure.

A place is an address with the drive that was found there. A run closes only places that it looked at: two services
with an address each for the same drive do not move it to and fro. Nothing here is a decision that was stored; what is
told for a day follows from when a place began and when a check first found it left.
"""
from __future__ import annotations

from ..constants import DAY
from ..typed import TYPE_CHECKING, NamedTuple
from .drive_matching import Record

if TYPE_CHECKING:
    from typing import Collection, List, Mapping, Optional, Sequence



class Place(NamedTuple):
    """A drive at an address."""

    address: str
    drive: int                # number of its record
    first: int                # seconds since 1970: found here
    gone: int = 0             # when a check first found it left; 0: it is here
    is_scanned: bool = False  # a scan has found it here


class Scope(NamedTuple):
    """Where one run looked."""

    named: Collection[str] = ()  # addresses on its command line
    is_scan: bool = False        # all that a scan finds

    def covers(self, place: Place) -> bool:
        """Tell whether the run would have found the drive at this place."""
        return place.address in self.named or (self.is_scan and place.is_scanned)


class Change(NamedTuple):
    """What is told about a drive for a day."""

    kind: str                    # "replaced", "moved", "missing"
    address: str                 # where it was
    drive: int
    since: int                   # seconds since 1970: when a check found out
    now_at: str = ''             # "moved": where it is
    successor: Optional[int] = None  # "replaced": the drive in its place


def updated(places: Sequence[Place], found: Mapping[str, Optional[int]], scope: Scope, now: int) -> List[Place]:
    """Return the places as they are after a run, those that changed and those that did not.

    found: each address where something is -> its drive; None: asleep, unreadable or not to be told from another.
    """
    kept = [_looked_at(place, found, scope, now) for place in places]
    after = {(place.address, place.drive): place for place in kept}
    for address, drive in found.items():
        if drive is not None:
            after[address, drive] = _found_at(address, drive, after.get((address, drive)), scope, now)
    return list(after.values())


def _looked_at(place: Place, found: Mapping[str, Optional[int]], scope: Scope, now: int) -> Place:
    """Return a place as left where another drive, or nothing, is at its address."""
    if place.gone or not (place.address in found or scope.covers(place)):
        return place
    stays = place.address in found and found[place.address] in (None, place.drive)
    return place if stays else place._replace(gone=now)


def _found_at(address: str, drive: int, before: Optional[Place], scope: Scope, now: int) -> Place:
    if before is None or before.gone:
        return Place(address, drive, now, is_scanned=scope.is_scan)
    return before._replace(is_scanned=before.is_scanned or scope.is_scan)


def told(places: Sequence[Place], records: Mapping[int, Record], scope: Scope, now: int,
         within: int = DAY) -> List[Change]:
    """Return what went or moved within *within* seconds, of the places where this run looks."""
    return [change for change in changes(places, records, scope) if now - change.since < within]


def missing(places: Sequence[Place], records: Mapping[int, Record], scope: Scope) -> List[Change]:
    """Return the known drives that are nowhere, however long: what --expect-known makes CRITICAL."""
    return [change for change in changes(places, records, scope) if change.kind == 'missing']


def changes(places: Sequence[Place], records: Mapping[int, Record], scope: Scope) -> List[Change]:
    """Return what became of each drive that has left the place where this run looks for it.

    places: as updated() returns them.
    """
    here = {place.drive: place for place in sorted(places, key=_began) if not place.gone}
    left = {place.drive: place for place in sorted(places, key=_ended) if place.gone and scope.covers(place)}
    found = (_became(place, here, records) for place in left.values())
    return sorted((change for change in found if change), key=lambda change: (change.since, change.address))


def arrived(places: Sequence[Place], records: Mapping[int, Record], scope: Scope, since: int) -> List[Place]:
    """Return where the drives are, of those where this run looks, that history has met first after a moment."""
    here = {place.drive: place for place in sorted(places, key=_began) if not place.gone}
    return sorted((place for place in here.values() if scope.covers(place) and records[place.drive].first_read > since),
                  key=lambda place: (place.first, place.address))


def _became(place: Place, here: Mapping[int, Place], records: Mapping[int, Record]) -> Optional[Change]:
    """Return what became of the drive of a place that was left; None: it is where it has been all the time."""
    now_at = here.get(place.drive)
    if now_at:
        is_newer = now_at.first >= place.gone
        return Change('moved', place.address, place.drive, place.gone, now_at=now_at.address) if is_newer else None
    # Only a drive that history has not met before takes another one's place; a known one has moved there, and this one
    # is gone.
    successor = next((other.drive for other in here.values() if other.address == place.address
                      and records[other.drive].first_read >= place.gone), None)
    return Change('replaced' if successor else 'missing', place.address, place.drive, place.gone, successor=successor)


def unread(record: Record, now: int, longest: int) -> int:
    """Return how many seconds a drive has not been read, where that is longer than *longest*; else 0."""
    silence = now - record.last_read
    return silence if silence > longest else 0


def _began(place: Place) -> int:
    return place.first


def _ended(place: Place) -> int:
    return place.gone
