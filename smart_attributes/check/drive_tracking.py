"""Messages about drives that are new, gone, moved or in standby.

Pure: the history is passed as values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from ..constants import DAY, MONTH
from ..errors import Coded
from ..history import drive_records
from ..history.drive_records import Change, DrivePlace, Match, Record, Scope
from ..model import Device, Identity, State, Verdict, worst
from ..shown import Shown, shown
from ..typed import NamedTuple
from ..wording import duration, listed, local_minute

A_DRIVE = 'a drive'
Met = tuple[str, Identity, Match]  # address, the drive there, its match in history


class Whereabouts(NamedTuple):
    """The address at which one run finds each drive."""

    places: Sequence[DrivePlace]
    records: Mapping[int, Record]
    scope: Scope
    now: int
    shown: Mapping[int, Shown]  # the identity of each drive as outputs show it, by number
    unread: frozenset[str] = frozenset()  # addresses of drives that did not say which they are


class Missed(NamedTuple):
    """A known drive that is at no address any more, and is expected back or to be retired."""

    change: Change
    identity: Identity
    shown: Shown  # the identity as outputs show it
    is_one_of_many: bool  # another one disappeared at the same time
    # addresses of drives that did not say which they are: one of them may be this drive
    confusable: tuple[str, ...]


class Gone(NamedTuple):
    """A missing drive, with the device and the state under which it is shown."""

    device: Device
    state: State
    missed: Missed


def found(
    places: Sequence[DrivePlace],
    records: Iterable[Record],
    met: Iterable[Met],
    there: Mapping[str, str],
    scope: Scope,
    now: int,
    hide_serial: bool = False,
) -> Whereabouts:
    """Return the current address of each drive.

    places, records: as stored in the history. there: the occupied addresses, each with its slot.
    """
    known = {record.number: record for record in records}
    newest = order = max((record.order for record in known.values()), default=0)
    at: dict[str, int | None] = dict.fromkeys(there)
    met_drives = list(met)
    for address, identity, match in met_drives:
        if match.record is None and not match.note:
            # The history numbers a new drive only after the result is printed. With a provisional
            # number, the same run can already report which drive the new one replaced.
            number = max(known, default=0) + 1
            order += 1
            known[number] = Record(number, identity, now, now, order)
            at[address] = number
        else:
            at[address] = match.record.number if match.record else None
    after = drive_records.updated(places, at, scope, now, there, newest)
    unread = frozenset(there).difference(address for address, _, _ in met_drives)
    names = {number: shown(record.identity, hide_serial) for number, record in known.items()}
    return Whereabouts(after, known, scope, now, names, unread)


def news(known: Whereabouts, with_verdict: Sequence[Missed], is_for_a_person: bool) -> list[Coded]:
    """Return a message for each drive that was replaced, moved or removed recently.

    with_verdict: the missing drives that have a verdict. is_for_a_person: cover one month instead of one
    day, and add each other missing drive until it is back or retired.
    """
    told = _recent(known, MONTH if is_for_a_person else DAY)
    left = _missing(known) if is_for_a_person else []
    shown_elsewhere = [missed.change for missed in with_verdict]
    return [
        _sentence(known, change)
        for change in (*(change for change in left if change not in told), *told)
        if change not in shown_elsewhere
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
    changes = drive_records.changes(known.places, known.records, known.scope, known.now)
    return drive_records.with_successors(changes, known.places, known.records)


def went(known: Whereabouts, within: int) -> list[Coded]:
    """Return a message for each drive that was replaced, moved or removed in the last *within*
    seconds.
    """
    return [_sentence(known, change) for change in _recent(known, within)]


def came(known: Whereabouts, within: int, begun: int) -> list[Coded]:
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
            f'{_name(known, place.drive)} came to {place.address}{_ago(known.now - place.first)}',
            **_fields(known, place.drive, place.address),
        )
        for place in new
        if place.drive not in successors
    ]


def missed(known: Whereabouts, is_accepted: Callable[[Identity, Change], bool]) -> list[Missed]:
    """Return the known drives that are at no address any more, those that went last first.

    Drives at places that drives often leave are left out, and so are drives of another machine and
    accepted drives. is_accepted(identity, change): whether root has accepted that the drive is gone.
    """
    others = {change.drive for change in anew(known)}

    def is_expected(change: Change) -> bool:
        if change.kind != 'missing':
            return True  # its successor is not that of another drive
        if change.is_removable or change.drive in others:
            return False
        return not is_accepted(known.records[change.drive].identity, change)

    of_slots = drive_records.changes(known.places, known.records, known.scope, known.now)
    expected = list(filter(is_expected, of_slots))
    after = drive_records.with_successors(expected, known.places, known.records)
    changes = [change for change in after if change.kind == 'missing']
    together = Counter(change.since for change in changes)
    return [
        Missed(
            change,
            known.records[change.drive].identity,
            known.shown[change.drive],
            together[change.since] > 1,
            _confusable(known, change),
        )
        for change in sorted(changes, key=lambda change: -change.since)
    ]


def anew(known: Whereabouts) -> list[Change]:
    """Return the missing drives of another machine, see drive_records.begun_anew()."""
    if known.unread:
        return []  # one of these may be a known drive
    here = [place for place in known.places if not place.gone and known.scope.covers(place)]
    return drive_records.begun_anew(_changes(known), here, known.records)


def _confusable(known: Whereabouts, change: Change) -> tuple[str, ...]:
    """Return the addresses at which a missing drive may be, because the kernel's names of disks
    can change while drives sleep.
    """
    if not change.address.startswith('/dev/sd'):
        return ()
    return tuple(sorted(each for each in known.unread if each.startswith('/dev/sd')))


def seen(known: Whereabouts, address: str) -> Record | None:
    """Return the drive last seen at an address that no longer answers.

    None if the history has no drive at this address, or has the same drive also at another address.
    """
    here = [place for place in known.places if not place.gone]
    there = [place.drive for place in here if place.address == address]
    is_certain = len(there) == 1 and sum(place.drive == there[0] for place in here) == 1
    return known.records[there[0]] if is_certain else None


def last_seen(known: Whereabouts, address: str) -> str:
    """Return a phrase that names the drive last seen at an address and when it was read, or ''
    if unknown.
    """
    record = seen(known, address)
    if record is None:
        return ''
    identity = known.shown[record.number]
    name = identity.model or A_DRIVE
    if identity.serial:
        name += f' (serial {identity.serial})'
    return f'last seen there: {name}, {duration(known.now - record.last_read)} ago'


def _sentence(known: Whereabouts, change: Change) -> Coded:
    drive = _name(known, change.drive)
    ago = _ago(known.now - change.since)
    fields = _fields(known, change.drive, change.address)
    if change.kind == 'moved':
        return Coded(
            'drive-moved',
            f'{drive} has moved from {change.address} to {change.now_at}{ago}',
            **fields,
        )
    if change.successor is not None:
        successor = _name(known, change.successor)
        return Coded(
            'drive-replaced',
            f'{change.address}: {drive} was replaced by {successor}{ago}',
            **fields,
        )
    return Coded('drive-gone', f'{drive} is gone from {change.address}{ago}', **fields)


def _fields(known: Whereabouts, drive: int, address: str) -> dict[str, str | None]:
    identity = known.shown[drive]
    return {
        'address': address,
        'model': identity.model or None,
        'serial': identity.serial or None,
    }


def _ago(seconds: int) -> str:
    return f', noticed {duration(seconds)} ago' if seconds >= 60 else ''


def _name(known: Whereabouts, drive: int) -> str:
    return known.shown[drive].name or A_DRIVE


def asleep(verdict: Verdict, record: Record | None, now: int, longest: int) -> Verdict:
    """Return the verdict on a drive in standby, with the identity from the history.

    The state is at least WARNING if the drive has not been read for more than *longest* seconds.
    """
    if record is None:
        return verdict
    silence = now - record.last_read
    verdict = verdict._replace(identity=record.identity)
    if silence <= longest:
        return verdict
    return verdict._replace(
        state=worst([verdict.state, State.WARNING]),
        problem=f'{verdict.problem}; last read {duration(silence)} ago, which is longer than '
        f'{duration(longest)} (--asleep-max-age)',
        code='asleep-too-long',
    )


def as_gone(missed: Missed) -> str:
    """Return why a drive has no reading: since when it is missing."""
    since = f'has been missing since {local_minute(missed.change.since)}'
    names = [address.rpartition('/')[2] for address in missed.confusable]
    if not names:
        return since
    if len(names) == 1:
        return f'{since}, or is {names[0]}, which was not read'
    return f'{since}, or is one of {listed(names, 4)}, which were not read'


def to_find(name: str) -> str:
    """Return the next step for a missing drive. name: as `acknowledge --gone` accepts it."""
    return (
        'check its slot, cable and controller, and dmesg -T; if you removed it for good, run: '
        f'check_smart_attributes acknowledge --gone {name}'
    )
