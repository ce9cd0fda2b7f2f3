"""Which record of history a drive is: found again as two addresses of one drive are, not by its WWN alone. Pure."""
from __future__ import annotations

from collections import Counter

from ..typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ..model import Identity

    SameDrive = Callable[[Identity, Identity], bool]  # reading's is_same_drive; this room does not know reading

NAMELESS = ('has neither a serial number nor a WWN that tells it from others; it is not remembered, and its growth is '
            'not judged')
AMBIGUOUS = ('cannot be told from another drive by model, serial number and WWN; '
             'neither is remembered, and their growth is not judged')


class Record(NamedTuple):
    """A drive in the history."""

    number: int
    identity: Identity
    first_read: int      # seconds since 1970
    last_read: int
    sum: int = 0         # checksum of its series


class Match(NamedTuple):
    """The record of a drive."""

    record: Record | None = None      # None: new to history, or not to be remembered
    note: str = ''                    # why it is not to be remembered


def matches(identities: Sequence[Identity], records: Sequence[Record], is_same: SameDrive) -> list[Match]:
    """Return the record of each drive of one run; where two fit, or two drives fit one, none."""
    # Nearly always each drive is known just as it is; comparing each with each would cost more than all the rest.
    exact = {name(record.identity): [record] for record in records}
    fits = [exact.get(name(identity)) or [record for record in records if is_same(identity, record.identity)]
            for identity in identities]
    claims = Counter(record.number for fitting in fits for record in fitting)
    return [_match(place, identities, fitting, claims, is_same) for place, fitting in enumerate(fits)]


def name(identity: Identity) -> tuple[str, str, str, str]:
    """Return the part of an identity that does not change as long as a drive is read in one way."""
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
