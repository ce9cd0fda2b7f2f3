"""Which record of history a drive is: found again as two addresses of one drive are, not by its WWN alone. Pure."""
from __future__ import annotations

from collections import Counter

from ..model import Identity
from ..typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Callable, List, Mapping, Optional, Sequence, Tuple

    SameDrive = Callable[[Identity, Identity], bool]  # reading's is_same_drive; this room does not know reading


NAMELESS = ('has neither a serial number nor a WWN that tells it from others; it is not remembered, and its growth is '
            'not judged')
AMBIGUOUS = ('cannot be told from another drive by model, serial number and WWN; '
             'neither is remembered, and their growth is not judged')


class Record(NamedTuple):
    """A drive that history knows."""

    number: int
    identity: Identity
    first_read: int      # seconds since 1970
    last_read: int
    sum: int = 0         # checksum of its series


class Match(NamedTuple):
    """What history has to do with a drive."""

    record: Optional[Record] = None   # None: new to history, or not to be remembered
    note: str = ''                    # why it is not to be remembered


def matches(found: Sequence[Identity], known: Sequence[Record], is_same: SameDrive) -> List[Match]:
    """Return the record of each drive of one run; where two fit, or two drives fit one, none."""
    # Nearly always each drive is known just as it is; comparing each with each would cost more than all the rest.
    exact = {name(record.identity): record for record in known}
    fits = [_fitting(identity, known, exact, is_same) for identity in found]
    claims = Counter(record.number for fitting in fits for record in fitting)
    return [_match(place, found, fitting, claims, is_same) for place, fitting in enumerate(fits)]


def name(identity: Identity) -> Tuple[str, str, str, str]:
    """Return what does not change as long as a drive is asked in one way."""
    return identity.protocol, identity.model, identity.serial, identity.wwn


def _fitting(identity: Identity, known: Sequence[Record], exact: Mapping[Tuple[str, str, str, str], Record],
             is_same: SameDrive) -> List[Record]:
    record = exact.get(name(identity))
    return [record] if record else [record for record in known if is_same(identity, record.identity)]


def _match(place: int, found: Sequence[Identity], fitting: Sequence[Record], claims: Mapping[int, int],
           is_same: SameDrive) -> Match:
    identity = found[place]
    if not is_same(identity, identity):
        return Match(note=NAMELESS)
    if len(fitting) > 1 or any(claims[record.number] > 1 for record in fitting):
        return Match(note=AMBIGUOUS)
    if fitting:
        return Match(fitting[0])
    others = (other for number, other in enumerate(found) if number != place)
    return Match(note=AMBIGUOUS if any(is_same(identity, other) for other in others) else '')
