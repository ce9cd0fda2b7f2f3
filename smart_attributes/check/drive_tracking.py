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
    records_by_number = {record.number: record for record in records}
    newest = order = max((record.order for record in records_by_number.values()), default=0)
    at: dict[str, int | None] = dict.fromkeys(there)
    met_drives = list(met)
    for address, identity, match in met_drives:
        if match.record is None and not match.note:
            # The history numbers a new drive only after the result is printed. With a provisional
            # number, the same run can already report which drive the new one replaced.
            number = max(records_by_number, default=0) + 1
            order += 1
            records_by_number[number] = Record(number, identity, now, now, order)
            at[address] = number
        else:
            at[address] = match.record.number if match.record else None
    after = drive_records.updated(places, at, scope, now, there, newest)
    unread = frozenset(there).difference(address for address, _, _ in met_drives)
    names = {
        number: shown(record.identity, hide_serial) for number, record in records_by_number.items()
    }
    return Whereabouts(after, records_by_number, scope, now, names, unread)


def news(
    whereabouts: Whereabouts, with_verdict: Sequence[Missed], is_for_a_person: bool
) -> list[Coded]:
    """Return a message for each drive that was replaced, moved or removed recently.

    with_verdict: the missing drives that have a verdict. is_for_a_person: cover one month instead of one
    day, and add each other missing drive until it is back or retired.
    """
    changes = _recent(whereabouts, MONTH if is_for_a_person else DAY)
    if is_for_a_person:
        absent = [change for change in _missing(whereabouts) if change not in changes]
        changes = [*absent, *changes]
    shown_elsewhere = [missed.change for missed in with_verdict]
    return [_sentence(whereabouts, change) for change in changes if change not in shown_elsewhere]


def _recent(whereabouts: Whereabouts, within: int) -> list[Change]:
    """Return the changes of the last *within* seconds."""
    return [change for change in _changes(whereabouts) if whereabouts.now - change.since < within]


def _missing(whereabouts: Whereabouts) -> list[Change]:
    """Return the known drives that were not found at any address, however long ago they
    disappeared.
    """
    return [change for change in _changes(whereabouts) if change.kind == 'missing']


def _changes(whereabouts: Whereabouts) -> list[Change]:
    changes = drive_records.changes(
        whereabouts.places, whereabouts.records, whereabouts.scope, whereabouts.now
    )
    return drive_records.with_successors(changes, whereabouts.places, whereabouts.records)


def missed(
    whereabouts: Whereabouts, is_accepted: Callable[[Identity, Change], bool]
) -> list[Missed]:
    """Return the known drives that are at no address any more, those that went last first.

    Drives at places that drives often leave are left out, and so are accepted drives.
    is_accepted(identity, change): whether root has accepted that the drive is gone.
    """

    def is_expected(change: Change) -> bool:
        if change.kind != 'missing':
            return True  # its successor is not that of another drive
        if change.is_removable:
            return False
        return not is_accepted(whereabouts.records[change.drive].identity, change)

    of_slots = drive_records.changes(
        whereabouts.places, whereabouts.records, whereabouts.scope, whereabouts.now
    )
    expected = list(filter(is_expected, of_slots))
    after = drive_records.with_successors(expected, whereabouts.places, whereabouts.records)
    changes = [change for change in after if change.kind == 'missing']
    together = Counter(change.since for change in changes)
    return [
        Missed(
            change,
            whereabouts.records[change.drive].identity,
            whereabouts.shown[change.drive],
            together[change.since] > 1,
            _confusable(whereabouts, change),
        )
        for change in sorted(changes, key=lambda change: -change.since)
    ]


def _confusable(whereabouts: Whereabouts, change: Change) -> tuple[str, ...]:
    """Return the addresses at which a missing drive may be, because the kernel's names of disks
    can change while drives sleep.
    """
    if not change.address.startswith('/dev/sd'):
        return ()
    return tuple(sorted(address for address in whereabouts.unread if address.startswith('/dev/sd')))


def seen(whereabouts: Whereabouts, address: str) -> Record | None:
    """Return the drive last seen at an address that no longer answers.

    None if the history has no drive at this address, or has the same drive also at another address.
    """
    here = [place for place in whereabouts.places if not place.gone]
    there = [place.drive for place in here if place.address == address]
    is_certain = len(there) == 1 and sum(place.drive == there[0] for place in here) == 1
    return whereabouts.records[there[0]] if is_certain else None


def last_seen(whereabouts: Whereabouts, address: str) -> str:
    """Return a phrase that names the drive last seen at an address and when it was read, or ''
    if unknown.
    """
    record = seen(whereabouts, address)
    if record is None:
        return ''
    identity = whereabouts.shown[record.number]
    name = identity.model or A_DRIVE
    if identity.serial:
        name += f' (serial {identity.serial})'
    return f'last seen there: {name}, {duration(whereabouts.now - record.last_read)} ago'


def _sentence(whereabouts: Whereabouts, change: Change) -> Coded:
    drive = _name(whereabouts, change.drive)
    ago = _ago(whereabouts.now - change.since)
    fields = _fields(whereabouts, change.drive, change.address)
    if change.kind == 'moved':
        return Coded(
            'drive-moved',
            f'{drive} has moved from {change.address} to {change.now_at}{ago}',
            **fields,
        )
    if change.successor is not None:
        successor = _name(whereabouts, change.successor)
        return Coded(
            'drive-replaced',
            f'{change.address}: {drive} was replaced by {successor}{ago}',
            **fields,
        )
    return Coded('drive-gone', f'{drive} is gone from {change.address}{ago}', **fields)


def _fields(whereabouts: Whereabouts, drive: int, address: str) -> dict[str, str | None]:
    identity = whereabouts.shown[drive]
    return {
        'address': address,
        'model': identity.model or None,
        'serial': identity.serial or None,
    }


def _ago(seconds: int) -> str:
    return f', noticed {duration(seconds)} ago' if seconds >= 60 else ''


def _name(whereabouts: Whereabouts, drive: int) -> str:
    return whereabouts.shown[drive].name or A_DRIVE


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
        details=(
            *verdict.details,
            f'last read {duration(silence)} ago, which is longer than {duration(longest)} '
            '(--asleep-max-age)',
        ),
        step='wake it by reading from it',
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
