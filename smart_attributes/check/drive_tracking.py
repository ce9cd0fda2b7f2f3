"""Messages about drives that are new, gone, moved or in standby.

Pure: the history is passed as values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from ..constants import DAY, MONTH
from ..errors import Coded
from ..history import drive_records
from ..history.drive_records import Change, DrivePlace, Match, Record, Scope
from ..model import Identity, State, Verdict, worst
from ..typed import NamedTuple
from ..wording import duration
from ..words import clean

Met = tuple[str, Identity, Match]  # address, the drive there, its match in history


class Whereabouts(NamedTuple):
    """The address at which one run finds each drive."""

    places: Sequence[DrivePlace]
    records: Mapping[int, Record]
    scope: Scope
    now: int


def found(
    places: Sequence[DrivePlace],
    records: Iterable[Record],
    met: Iterable[Met],
    there: Mapping[str, str],
    scope: Scope,
    now: int,
) -> Whereabouts:
    """Return the current address of each drive.

    places, records: as stored in the history. there: the occupied addresses, each with its slot.
    """
    known = {record.number: record for record in records}
    at: dict[str, int | None] = dict.fromkeys(there)
    for address, identity, match in met:
        if match.record is None and not match.note:
            # The history numbers a new drive only after the result is printed. With a provisional
            # number, the same run can already report which drive the new one replaced.
            number = max(known, default=0) + 1
            known[number] = Record(number, identity, now, now)
            at[address] = number
        else:
            at[address] = match.record.number if match.record else None
    return Whereabouts(drive_records.updated(places, at, scope, now, there), known, scope, now)


def news(known: Whereabouts, hide_serial: bool, is_for_a_person: bool) -> list[Coded]:
    """Return a message for each drive that was replaced, moved or removed recently.

    is_for_a_person: cover one month instead of one day, and add each missing drive until it is back
    or retired.
    """
    told = _recent(known, MONTH if is_for_a_person else DAY)
    left = _missing(known) if is_for_a_person else []
    return [
        _sentence(known, change, hide_serial)
        for change in (*(change for change in left if change not in told), *told)
    ]


def _recent(known: Whereabouts, within: int) -> list[Change]:
    """Return the changes of the last *within* seconds."""
    return [change for change in _changes(known) if known.now - change.since < within]


def _missing(known: Whereabouts) -> list[Change]:
    """Return the known drives that were not found at any address, however long ago they
    disappeared.
    """
    return [change for change in _changes(known) if change.kind == 'missing']


def _changes(known: Whereabouts) -> list[Change]:
    return drive_records.changes(known.places, known.records, known.scope, known.now)


def went(known: Whereabouts, hide_serial: bool, within: int) -> list[Coded]:
    """Return a message for each drive that was replaced, moved or removed in the last *within*
    seconds.
    """
    return [_sentence(known, change, hide_serial) for change in _recent(known, within)]


def came(known: Whereabouts, hide_serial: bool, within: int, begun: int) -> list[Coded]:
    """Return a message for each drive that was added in the last *within* seconds without replacing
    another drive.

    begun: when the history began, in seconds since 1970. Drives first read within a day after that
    do not count as new.
    """
    successors = {change.successor for change in _recent(known, within)}
    new = drive_records.arrived(
        known.places, known.records, known.scope, max(known.now - within, begun + DAY)
    )
    return [
        Coded(
            'drive-new',
            f'{_name(known.records[place.drive].identity, hide_serial)} came to {place.address}'
            f'{_ago(known.now - place.first)}',
            **_fields(known, place.drive, place.address, hide_serial),
        )
        for place in new
        if place.drive not in successors
    ]


def gone(
    known: Whereabouts, hide_serial: bool, is_accepted: Callable[[Identity, int], bool]
) -> list[Coded]:
    """Return a message for each known drive that was not found at any address, however long ago it
    disappeared.

    Drives at places where drives are often removed are left out, and so are accepted drives.
    is_accepted(identity,
    first): whether root has acknowledged that the drive is gone; first: when it came to this
    address.
    """
    return [
        _sentence(known, change, hide_serial)
        for change in _missing(known)
        if not change.is_removable
        and not is_accepted(known.records[change.drive].identity, change.first)
    ]


def seen(known: Whereabouts, address: str) -> Record | None:
    """Return the drive last seen at an address that no longer answers.

    None if the history has no drive at this address, or has the same drive also at another address.
    """
    here = [place for place in known.places if not place.gone]
    there = [place.drive for place in here if place.address == address]
    is_certain = len(there) == 1 and sum(place.drive == there[0] for place in here) == 1
    return known.records[there[0]] if is_certain else None


def last_seen(known: Whereabouts, address: str, hide_serial: bool) -> str:
    """Return a phrase that names the drive last seen at an address and when it was read, or ''
    if unknown.
    """
    record = seen(known, address)
    if record is None:
        return ''
    serial = '' if hide_serial else clean(record.identity.serial)
    name = _name(record.identity, hide_serial=True)
    if serial:
        name += f' (serial {serial})'
    return f'last seen there: {name}, {duration(known.now - record.last_read)} ago'


def _sentence(known: Whereabouts, change: Change, hide_serial: bool) -> Coded:
    drive = _name(known.records[change.drive].identity, hide_serial)
    ago = _ago(known.now - change.since)
    fields = _fields(known, change.drive, change.address, hide_serial)
    if change.kind == 'moved':
        return Coded(
            'drive-moved',
            f'{drive} has moved from {change.address} to {change.now_at}{ago}',
            **fields,
        )
    if change.successor is not None:
        successor = _name(known.records[change.successor].identity, hide_serial)
        return Coded(
            'drive-replaced',
            f'{change.address}: {drive} was replaced by {successor}{ago}',
            **fields,
        )
    serial = fields['serial'] or 'SERIAL'
    return Coded(
        'drive-gone',
        f'{drive} is gone from {change.address}{ago}; history --forget {serial} retires it',
        **fields,
    )


def _fields(
    known: Whereabouts, drive: int, address: str, hide_serial: bool
) -> dict[str, str | None]:
    identity = known.records[drive].identity
    return {
        'address': address,
        'model': clean(identity.model) or None,
        'serial': None if hide_serial else clean(identity.serial) or None,
    }


def _ago(seconds: int) -> str:
    return f', noticed {duration(seconds)} ago' if seconds >= 60 else ''


def _name(identity: Identity, hide_serial: bool) -> str:
    serial = '' if hide_serial else clean(identity.serial)
    return f'{clean(identity.model)} {serial}'.strip() or 'a drive'


def asleep(verdict: Verdict, record: Record | None, now: int, longest: int) -> Verdict:
    """Return the verdict on a drive in standby, with the identity from the history.

    The state is at least WARNING if the drive has not been read for more than *longest* seconds.
    """
    if record is None:
        return verdict
    silence = now - record.last_read
    verdict = verdict._replace(
        identity=record.identity, problem=f'{verdict.problem}; last read {duration(silence)} ago'
    )
    if silence <= longest:
        return verdict
    return verdict._replace(
        state=worst([verdict.state, State.WARNING]),
        problem=f'{verdict.problem}, which is longer than {duration(longest)} (--asleep-max-age)',
        code='asleep-too-long',
    )
