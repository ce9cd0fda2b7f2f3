"""Messages about drives that are new, missing, moved or in standby.

Pure: the history is passed as values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from ..constants import DAY, MONTH
from ..errors import Coded, DriveMissing
from ..history import drive_records
from ..history.drive_records import Change, DrivePlace, Match, Record, Scope
from ..model import Device, Identity, Read, State, Verdict, worst
from ..shown import Shown, shown
from ..typed import NamedTuple
from ..wording import duration, listed, local_minute
from ..words import argument

A_DRIVE = 'a drive'
Met = tuple[str, Identity, Match]  # address, the drive there, its match in history


class Whereabouts(NamedTuple):
    """The address at which one run finds each drive."""

    places: Sequence[DrivePlace]
    records: Mapping[int, Record]
    scope: Scope
    now: int
    # the identity of each drive as outputs show it, by number
    shown: Mapping[int, Shown]
    # addresses of drives that did not say which they are
    unread: frozenset[str] = frozenset()


class Missed(NamedTuple):
    """A known drive that is at no address any more, and is expected back or to be retired."""

    change: Change
    identity: Identity
    shown: Shown  # the identity as outputs show it
    is_one_of_many: bool  # another one disappeared at the same time
    # addresses of drives that did not say which they are: one of them may be this drive
    confusable: tuple[str, ...]


class MissingDrive(NamedTuple):
    """A missing drive, with the device and the state under which it is shown."""

    device: Device
    state: State
    missed: Missed

    @property
    def read(self) -> Read:
        """The result of reading it: since when it is missing, and how to find it."""
        name = argument(self.missed.shown.serial or '', self.device.name)
        step = (
            'check its slot and cable; see dmesg -T; if you removed it for good, run: '
            f'check_smart_attributes acknowledge --missing {name}'
        )
        error = DriveMissing(_since(self.missed), step, self.state.name)
        return Read(self.device, error.of(self.missed.identity))


def found(
    places: Sequence[DrivePlace],
    records: Iterable[Record],
    met: Sequence[Met],
    there: Mapping[str, str],
    scope: Scope,
    now: int,
    hide_serial: bool = False,
) -> Whereabouts:
    """Return the current address of each drive.

    places, records: as stored in the history. there: the occupied addresses, each with its slot.
    """
    records_by_number = {record.number: record for record in records}
    newest = order = max(
        (record.order for record in records_by_number.values()), default=0
    )
    at: dict[str, int | None] = dict.fromkeys(there)
    for address, identity, match in met:
        record = match.record
        if record is None and not match.note:
            # The history numbers a new drive only after the result is printed. With a provisional
            # number, the same run can already report which drive the new one replaced.
            number = max(records_by_number, default=0) + 1
            order += 1
            record = records_by_number[number] = Record(
                number, identity, now, now, order
            )
        at[address] = record.number if record else None
    after = drive_records.updated(places, at, scope, now, there, newest)
    unread = frozenset(there).difference(address for address, _, _ in met)
    names = {
        number: shown(record.identity, hide_serial)
        for number, record in records_by_number.items()
    }
    return Whereabouts(after, records_by_number, scope, now, names, unread)


def news(
    whereabouts: Whereabouts, with_verdict: Sequence[Missed], is_for_a_person: bool
) -> list[Coded]:
    """Return a message for each drive that was replaced, moved or removed recently.

    with_verdict: the missing drives that have a verdict. is_for_a_person: cover one month instead of one
    day, and add each other missing drive until it is back or retired.
    """
    within = MONTH if is_for_a_person else DAY
    shown_elsewhere = [missed.change for missed in with_verdict]
    sentences = []
    for change in _with_successors(whereabouts, _changes(whereabouts)):
        is_recent = whereabouts.now - change.since < within
        is_awaited = is_for_a_person and change.kind == 'missing'
        if (is_recent or is_awaited) and change not in shown_elsewhere:
            sentences.append(_sentence(whereabouts, change))
    return sentences


def _changes(whereabouts: Whereabouts) -> list[Change]:
    return drive_records.changes(
        whereabouts.places, whereabouts.records, whereabouts.scope, whereabouts.now
    )


def _with_successors(
    whereabouts: Whereabouts, changes: Sequence[Change]
) -> list[Change]:
    return drive_records.with_successors(
        changes, whereabouts.places, whereabouts.records
    )


def missed(
    whereabouts: Whereabouts, is_accepted: Callable[[Identity, Change], bool]
) -> list[Missed]:
    """Return the known drives that are at no address any more, those that went last first.

    Drives at places that drives often leave are left out, and so are accepted drives.
    is_accepted(identity, change): whether root has accepted that the drive is missing.
    """

    def is_expected(change: Change) -> bool:
        if change.kind != 'missing':
            return True  # its successor is not that of another drive
        if change.is_removable:
            return False
        return not is_accepted(whereabouts.records[change.drive].identity, change)

    expected = list(filter(is_expected, _changes(whereabouts)))
    after = _with_successors(whereabouts, expected)
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
    return tuple(
        sorted(
            address for address in whereabouts.unread if address.startswith('/dev/sd')
        )
    )


def seen(whereabouts: Whereabouts, address: str) -> Record | None:
    """Return the drive last seen at an address that no longer answers.

    None if the history has no drive at this address, or has the same drive also at another address.
    """
    here = [place for place in whereabouts.places if not place.gone]
    there = [place.drive for place in here if place.address == address]
    is_certain = len(there) == 1 and sum(place.drive == there[0] for place in here) == 1
    return whereabouts.records[there[0]] if is_certain else None


def last_seen(whereabouts: Whereabouts, record: Record) -> str:
    """Return a phrase that names the drive last seen at an address and when it was read."""
    identity = whereabouts.shown[record.number]
    serial = f' (serial {identity.serial})' if identity.serial else ''
    ago = duration(whereabouts.now - record.last_read)
    return f'last seen there: {identity.model or A_DRIVE}{serial}, {ago} ago'


def _sentence(whereabouts: Whereabouts, change: Change) -> Coded:
    identity = whereabouts.shown[change.drive]
    drive = identity.name or A_DRIVE
    code, words = 'drive-missing', f'{drive} is missing from {change.address}'
    if change.kind == 'moved':
        code, words = (
            'drive-moved',
            f'{drive} has moved from {change.address} to {change.now_at}',
        )
    elif change.successor is not None:
        successor = whereabouts.shown[change.successor].name or A_DRIVE
        code, words = (
            'drive-replaced',
            f'{change.address}: {drive} was replaced by {successor}',
        )
    seconds = whereabouts.now - change.since
    ago = f', noticed {duration(seconds)} ago' if seconds >= 60 else ''
    return Coded(
        code,
        f'{words}{ago}',
        address=change.address,
        model=identity.model or None,
        serial=identity.serial or None,
    )


def _since(missed: Missed) -> str:
    """Return since when a drive is missing, and which addresses may be its own."""
    since = f'is missing (since {local_minute(missed.change.since)})'
    names = [address.rpartition('/')[2] for address in missed.confusable]
    if not names:
        return since
    if len(names) == 1:
        return f'{since}, or is {names[0]}, which was not read'
    return f'{since}, or is one of {listed(names, 4)}, which were not read'


def asleep(verdict: Verdict, record: Record, now: int, longest: int) -> Verdict:
    """Return the verdict on a drive in standby, with the identity from the history.

    The state is at least WARNING if the drive has not been read for more than *longest* seconds.
    """
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
