"""Messages about drives that are new, missing, moved or in standby.

Pure: the history is passed as values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from ..constants import DAY, LONGEST_GIVEN_NAME, MONTH
from ..errors import Coded, DriveMissing, UsageError
from ..history import drive_records
from ..history.drive_records import Change, DrivePlace, Match, Record, Scope
from ..model import Device, Identity, Read, State, Verdict, worst
from ..reading import addresses
from ..shown import Shown, shown
from ..typed import NamedTuple
from ..wording import duration, listed, local_minute
from ..words import argument, clean

A_DRIVE = 'a drive'


class Whereabouts(NamedTuple):
    """The addresses at which one run finds the drives, and those that they have left."""

    places: Sequence[DrivePlace]
    records: Mapping[int, Record]
    scope: Scope
    now: int
    # the identity of each drive as outputs show it, by number
    shown: Mapping[int, Shown]
    # addresses of drives that did not say which they are
    unread: frozenset[str]


class MissingDrive(NamedTuple):
    """A known drive that is at no address any more, and is expected back or to be retired."""

    device: Device  # under which it is shown
    state: State  # CRITICAL if another one disappeared at the same time
    place: DrivePlace  # where it was
    identity: Identity
    shown: Shown  # the identity as outputs show it
    # addresses of drives that did not say which they are: one of them may be this drive
    confusable: tuple[str, ...]

    @property
    def read(self) -> Read:
        """The result of reading it: since when it is missing, and how to find it."""
        name = argument(self.shown.serial or '', self.device.name)
        step = (
            'check the slot and cable; see dmesg -T; if you removed the drive for good, run: '
            f'check_smart_attributes acknowledge --missing {name}'
        )
        error = DriveMissing(_missing_since(self), step, self.state.name)
        return Read(self.device, error.of(self.identity))


def found(
    places: Sequence[DrivePlace],
    records: Sequence[Record],
    met: Sequence[tuple[str, Identity, Match]],
    slots: Mapping[str, str],
    scope: Scope,
    now: int,
    hide_serial: bool = False,
) -> Whereabouts:
    """Return where each drive is now and where it was before, with a provisional record for each new
    drive.

    places, records: as stored in the history. met: the drives that answered, each with its address
    and its match in the history. slots: the slot, or '', of each occupied address.
    """
    records_by_number = {record.number: record for record in records}
    last_number = max(records_by_number, default=0)
    newest = max((record.order for record in records), default=0)
    new_drives = 0
    # the number of the drive at each occupied address; None: it did not say which it is
    number_at: dict[str, int | None] = dict.fromkeys(slots)
    for address, identity, match in met:
        record = match.record
        if record is None and not match.note:
            # The history numbers a new drive only after the result is printed. With a provisional
            # number, the same run can already report which drive the new one replaced.
            new_drives += 1
            number = last_number + new_drives
            record = Record(number, identity, now, now, order=newest + new_drives)
            records_by_number[number] = record
        number_at[address] = record.number if record else None
    unread = frozenset(slots).difference(address for address, _, _ in met)
    identities = {
        number: shown(record.identity, hide_serial)
        for number, record in records_by_number.items()
    }
    return Whereabouts(
        drive_records.updated(
            places,
            number_at,
            scope,
            now,
            slots=slots,
            newest_order=newest,
        ),
        records_by_number,
        scope,
        now,
        shown=identities,
        unread=unread,
    )


def news(
    whereabouts: Whereabouts,
    with_verdict: Sequence[MissingDrive],
    is_for_a_person: bool,
) -> list[Coded]:
    """Return a message for each drive that was replaced, moved or removed recently.

    with_verdict: the missing drives that have a verdict. is_for_a_person: cover one month instead of one
    day, and add each other missing drive until it is back or retired.
    """
    within = MONTH if is_for_a_person else DAY
    shown_elsewhere = [drive.place for drive in with_verdict]
    sentences = []
    for change in _changes(whereabouts):
        is_recent = whereabouts.now - change.place.gone < within
        is_awaited = is_for_a_person and change.kind == 'missing'
        if (is_recent or is_awaited) and change.place not in shown_elsewhere:
            sentences.append(_sentence(whereabouts, change))
    return sentences


def _changes(
    whereabouts: Whereabouts,
    is_missed: Callable[[DrivePlace], bool] = lambda place: True,
) -> list[Change]:
    """Return the changes, each with the drive that came instead.

    is_missed: whether to count a drive that is missing from this place. All other changes count,
    so that the successor of a replaced drive is not taken for that of a missing one.
    """
    places = whereabouts.places
    records = whereabouts.records
    changes = drive_records.changes(places, records, whereabouts.scope, whereabouts.now)
    counted = [
        change
        for change in changes
        if change.kind != 'missing' or is_missed(change.place)
    ]
    return drive_records.with_successors(counted, places, records)


def missed(
    whereabouts: Whereabouts,
    state: State,
    is_accepted: Callable[[Identity, DrivePlace, Device], bool],
) -> list[MissingDrive]:
    """Return the known drives that are at no address any more, those that went last first.

    Drives at places that drives often leave are left out, and so are accepted drives. Drives that
    disappear together share the cause, such as a controller, so they are CRITICAL. state: of any
    other missing drive. is_accepted(identity, place, device): whether root has accepted that the
    drive is missing from this place.
    """

    def is_missed(place: DrivePlace) -> bool:
        identity = whereabouts.records[place.drive].identity
        device = _device_at(place.address)
        return not (place.is_removable or is_accepted(identity, place, device))

    changes = _changes(whereabouts, is_missed)
    places = [change.place for change in changes if change.kind == 'missing']
    drives_gone_at = Counter(place.gone for place in places)
    missing_drives = []
    for place in sorted(places, key=lambda place: -place.gone):
        is_one_of_many = drives_gone_at[place.gone] > 1
        missing_drives.append(
            MissingDrive(
                _device_at(place.address),
                State.CRITICAL if is_one_of_many else state,
                place,
                whereabouts.records[place.drive].identity,
                whereabouts.shown[place.drive],
                _confusable(whereabouts, place.address),
            )
        )
    return missing_drives


def _device_at(address: str) -> Device:
    """Return the device of an address in the history, which another user may have written."""
    try:
        return addresses.parse(address)[0]
    except UsageError:
        name = addresses.slug(address)[:LONGEST_GIVEN_NAME]
        return Device(clean(address), name=name)


def _confusable(whereabouts: Whereabouts, left: str) -> tuple[str, ...]:
    """Return the addresses at which a missing drive may be, because the kernel's names of disks
    can change while drives sleep; () if its name cannot change. left: its former address.
    """
    if not left.startswith('/dev/sd'):
        return ()
    unread = sorted(whereabouts.unread)
    return tuple(address for address in unread if address.startswith('/dev/sd'))


def seen(whereabouts: Whereabouts, address: str) -> Record | None:
    """Return the drive last seen at an address that no longer answers.

    None if the history has no drive at this address, or has the same drive also at another address.
    """
    present = [place for place in whereabouts.places if not place.gone]
    drives = [place.drive for place in present if place.address == address]
    if len(drives) != 1:
        return None
    drive = drives[0]
    addresses_of_drive = [place.address for place in present if place.drive == drive]
    return whereabouts.records[drive] if addresses_of_drive == [address] else None


def last_seen(whereabouts: Whereabouts, record: Record) -> str:
    """Return a phrase that names the drive last seen at an address and when it was read."""
    identity = whereabouts.shown[record.number]
    serial = f' (serial {identity.serial})' if identity.serial else ''
    ago = duration(whereabouts.now - record.last_read)
    return f'last seen there: {identity.model or A_DRIVE}{serial}, {ago} ago'


def _sentence(whereabouts: Whereabouts, change: Change) -> Coded:
    """Return the message that a drive was replaced, moved or removed, and when this was noticed."""
    place = change.place
    identity = whereabouts.shown[place.drive]
    drive = identity.name or A_DRIVE
    code = 'drive-missing'
    words = f'{drive} is missing from {place.address}'
    if change.kind == 'moved':
        code = 'drive-moved'
        words = f'{drive} has moved from {place.address} to {change.now_at}'
    elif change.successor is not None:
        successor = whereabouts.shown[change.successor].name or A_DRIVE
        code = 'drive-replaced'
        words = f'{place.address}: {drive} was replaced by {successor}'
    seconds = whereabouts.now - place.gone
    ago = f', noticed {duration(seconds)} ago' if seconds >= 60 else ''
    return Coded(
        code,
        f'{words}{ago}',
        address=place.address,
        model=identity.model or None,
        serial=identity.serial or None,
    )


def _missing_since(drive: MissingDrive) -> str:
    """Return since when a drive is missing, and which addresses may be its own."""
    since = f'is missing (since {local_minute(drive.place.gone)})'
    names = [address.rpartition('/')[2] for address in drive.confusable]
    if not names:
        return since
    return f'{since}; it may be one that was not read: {listed(names, 2)}'


def asleep(verdict: Verdict, record: Record, now: int, longest: int) -> Verdict:
    """Return the verdict on a drive in standby, with the identity from the history.

    The state is at least WARNING if the drive has not been read for more than *longest* seconds.
    """
    silence = now - record.last_read
    identified = verdict._replace(identity=record.identity)
    if silence <= longest:
        return identified
    return identified._replace(
        state=worst([verdict.state, State.WARNING]),
        problem=f'is in standby, last read {duration(silence)} ago '
        f'(--asleep-max-age {duration(longest)})',
        step='wake it by reading from it',
        code='asleep-too-long',
    )
