"""Match drives with their records in the history by the same rules as duplicates, not by WWN alone. Pure."""
from __future__ import annotations

from collections import Counter

from ..typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ..model import Identity

    SameDrive = Callable[[Identity, Identity], bool]  # reading's is_same_drive, which this package must not import

NAMELESS = ('has no serial number or WWN of its own; the history does not store it, so its increases do not alert')
AMBIGUOUS = ('cannot be distinguished from another drive by model, serial number and WWN; '
             'the history stores neither, so their increases do not alert')


class Record(NamedTuple):
    """A drive in the history."""

    number: int
    identity: Identity
    first_read: int      # seconds since 1970
    last_read: int
    sum: int = 0         # checksum of the drive's series


class Match(NamedTuple):
    """The record of a drive."""

    record: Record | None = None      # None: new to the history, or cannot be stored
    note: str = ''                    # why it cannot be stored


def matches(identities: Sequence[Identity], records: Sequence[Record], is_same: SameDrive) -> list[Match]:
    """Return the match of each drive of one run.

    A match has no record if several records fit the drive, or several drives fit the record.
    """
    # Nearly always, each drive has an identical record. Comparing all pairs would take longer than everything else.
    exact = {name(record.identity): [record] for record in records}
    fits = [exact.get(name(identity)) or [record for record in records if is_same(identity, record.identity)]
            for identity in identities]
    claims = Counter(record.number for fitting in fits for record in fitting)
    return [_match(place, identities, fitting, claims, is_same) for place, fitting in enumerate(fits)]


def name(identity: Identity) -> tuple[str, str, str, str]:
    """Return the part of an identity that stays the same while the drive is read in the same way."""
    return identity.protocol, identity.model, identity.serial, identity.wwn


def _match(place: int, identities: Sequence[Identity], fitting: Sequence[Record], claims: Mapping[int, int],
           is_same: SameDrive) -> Match:
    """Return the match of the drive at *place*. claims: how many drives of the run fit each record."""
    identity = identities[place]
    if not is_same(identity, identity):
        return Match(note=NAMELESS)
    if fitting:
        is_only = len(fitting) == 1 and claims[fitting[0].number] == 1
        return Match(fitting[0]) if is_only else Match(note=AMBIGUOUS)
    others = (other for number, other in enumerate(identities) if number != place)
    return Match(note=AMBIGUOUS if any(is_same(identity, other) for other in others) else '')
