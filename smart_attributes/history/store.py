"""The history of one directory as one run sees it: read before the verdicts, changed after the
output.

The history adds alerts and dates them but never suppresses an alert, so a forged history does no
more harm than a missing one. Each drive has a file of its own (see drive_file), so damage, a link
or a forged file costs only this drive. The process of a check never waits for the disk (see
folder).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from zlib import crc32

from ..constants import DAY, MOST_DRIVES, MOST_SERIES
from ..errors import HistoryUnusable
from ..model import Identity
from ..typed import TYPE_CHECKING, NamedTuple
from ..wording import listed, plural
from ..words import clean
from . import drive_file, drive_records, folder, series
from .drive_file import AllSeries, Damaged, DriveHistory, LastVerdict, Newer
from .drive_records import DrivePlace, Match, Record, SameDrive, Scope, updated
from .folder import DAYS, DRIVE, FORMER, Changes, Contents, StoredFile
from .series import History, Key, Observation, Point

if TYPE_CHECKING:
    from ..state_directory import StateDirectory

Histories = Mapping[Key, History]

MACHINE_ID = '/etc/machine-id'
SHOWN = 7 * DAY  # for how long damage is reported
PATIENCE = 10.0  # seconds that a run waits for the history; less if -t is short
# seconds that a check waits, after its output, until the readings are on the disk
WRITING_TIME = 2.5
_CHANGING_TIME = 30.0  # seconds that a command waits which imports or forgets
NEWER = (
    'has a history from a newer version of this program, which is not changed; upgrade this program'
)
FULL = (
    f'is not stored: the history already has {MOST_DRIVES} drives; to make room, use history '
    f'--forget '
    'SERIAL'
)


class Sighting(NamedTuple):
    """An address at which a check found a device, and the readings of the drive at this address."""

    address: str
    identity: Identity | None = None  # None: in standby or unreadable
    observations: tuple[Observation, ...] = ()
    slot: str = ''  # see DrivePlace
    verdict: LastVerdict | None = None


class Recalled(NamedTuple):
    """What the history knows of a drive of this run."""

    match: Match
    drive: DriveHistory | None = None

    @property
    def histories(self) -> Histories:
        """The series of the drive; those that change all the time have only their newest point."""
        return self.drive.histories if self.drive else {}


class Parsed(NamedTuple):
    """The drives of a history, and the files that cannot be used."""

    drives: Mapping[int, DriveHistory] = {}
    # The reason, by number. If the number is in *drives*, too, the former version of the file is
    # used.
    damaged: Mapping[int, str] = {}
    untouched: Mapping[int, str] = {}  # why a file is neither read nor changed, by number


class HistoryStore:
    """The history of one directory, as one process sees it. Methods raise HistoryUnusable."""

    def __init__(
        self,
        state: StateDirectory,
        now: int,
        is_same: SameDrive,
        machine: str = '',
        writes: bool = True,
        patience: float = PATIENCE,
    ) -> None:
        """Start to read the history. now: the time of this check, seconds since 1970.

        machine: the ID of this machine, or ''; places belong to a machine, so machines can share a
        history. writes: if False, nothing is created or changed. patience: how long to wait, in
        seconds, until the history is read.
        """
        self.now, self.writes = now, writes
        self.path = folder.path_of(state)
        self._state, self._is_same = state, is_same
        self._machine = f'{crc32(machine.encode()):08x}' if machine else ''
        self._patience = patience
        self._until = time.monotonic() + patience
        self._child = folder.reading_child(state, writes)
        self._contents: Contents | None = None
        self._parsed = Parsed()
        self._records: tuple[Record, ...] = ()
        self._places: tuple[DrivePlace, ...] = ()
        self._expected: dict[tuple[str, ...], Recalled] = {}

    # --- what the reading child has sent ---

    def is_ready(self, seconds: float) -> bool:
        """Return whether the history is read; wait at most this time."""
        until = min(self._until, time.monotonic() + seconds)
        return self._contents is not None or self._child.is_ready(until)

    def read(self) -> Contents:
        """Wait for the reading child, at the first call, and return what it has sent."""
        if self._contents is None:
            contents = folder.contents_of(self._child, self._until)
            self._parsed = _parsed(contents.files)
            self._records = tuple(drive.record for drive in self._parsed.drives.values())
            self._places = _places_of(self._parsed.drives, self._machine)
            self._contents = contents
        if self._contents.fault:
            raise HistoryUnusable(self._contents.fault)
        if self._contents.is_missing and not self.writes:
            raise HistoryUnusable(f'{self.path} does not exist; the next check starts the history')
        return self._contents

    @property
    def is_complete(self) -> bool:
        """Return whether all files were read in time."""
        return self.read().is_complete

    @property
    def slowness(self) -> str:
        """A message that the disk was too slow to read the history in time; '' if it was not."""
        if self.is_complete:
            return ''
        known = len(self._parsed.drives)
        part = f'only {plural(known, "drive")} were read' if known else 'it was not read'
        return (
            f'{part} within {self._patience:g} s, because its disk is slow or does not answer; '
            f'check '
            f'the disk with {self.path}: dmesg -T'
        )

    @property
    def old_damage(self) -> list[str]:
        """A message for each file that was set aside within the last seven days."""
        return [
            _old_damage(self._parsed, f'{self.path}/{name}', moment)
            for name, moment in self.read().aside.items()
            if self.now - moment <= SHOWN
        ]

    @property
    def damage(self) -> list[str]:
        """A message for each file that is damaged, and for those that are not read."""
        self.read()
        messages = [*_new_damage(self._parsed, self.path, is_repaired=self.writes)]
        unread = sum(reason == folder.TOO_MUCH for reason in self._parsed.untouched.values())
        if unread:
            messages.append(
                f'{plural(unread, "drive")} in {self.path} not read, because the files of the '
                f'history '
                'are too large; to make room, use history --forget SERIAL'
            )
        return messages

    @property
    def not_written(self) -> str:
        """A message why earlier checks could not write; '' if they could."""
        since, why = self.read().not_written
        if not since:
            return ''
        return f'readings could not be written since {day(since)}{f": {why}" if why else ""}'

    @property
    def snapshot(self) -> str:
        """A message about the database of an unpublished version; '' if there is none."""
        if not self.read().has_snapshot:
            return ''
        return (
            f'{self.path}/{folder.SNAPSHOT} is from an unpublished version and is not read; '
            f'earlier '
            f'increases cannot be detected (it is renamed to {folder.SNAPSHOT}.aside)'
        )

    @property
    def doubt(self) -> str:
        """A message about a clock that is behind the history; '' if it is not."""
        self.read()
        drives = self._parsed.drives.values()
        behind = [drive for drive in drives if drive_file.is_behind(drive, self.now)]
        if not behind:
            return ''
        latest = max(drive.record.last_read for drive in behind)
        return (
            f'the clock is {(latest - self.now) // DAY} days behind the history; correct the '
            'clock within a day, otherwise the plugin changes the dates of the stored readings'
        )

    # --- drives and places ---

    @property
    def begun(self) -> int:
        """Return the beginning of the history, seconds since 1970."""
        self.read()
        moments = [place.first for place in self.places]
        moments += [
            drive.imported or drive.record.first_read for drive in self._parsed.drives.values()
        ]
        return min(moments, default=self.now)

    @property
    def records(self) -> tuple[Record, ...]:
        """All drives in the history."""
        self.read()
        return self._records

    @property
    def places(self) -> tuple[DrivePlace, ...]:
        """The current and former places of all drives of this machine; see drive_records."""
        self.read()
        return self._places

    @property
    def is_own(self) -> bool:
        """Return whether only root and this user could have written the history."""
        return self._state.is_own

    def knows_since(self, record: Record) -> int:
        """Return when the history of a drive began, in seconds since 1970; 0 if a log was
        imported.
        """
        self.read()
        drive = self._parsed.drives.get(record.number)
        return 0 if drive and drive.imported else record.first_read

    @property
    def has_taken(self) -> bool:
        """Return whether a log of another program was imported for any drive."""
        self.read()
        return any(drive.imported for drive in self._parsed.drives.values())

    def recall(self, identities: Sequence[Identity]) -> list[Recalled]:
        """Return what is known of the drives of this run, in the same order."""
        matches = drive_records.matches(identities, self.records, self._is_same)
        recalled = []
        for identity, match in zip(identities, matches):
            if match.record:
                recalled.append(Recalled(match, self._parsed.drives[match.record.number]))
            else:
                recalled.append(
                    Recalled(Match(note=_why_not_stored(identity, match, self._parsed)))
                )
        return recalled

    def expect(self, addresses: Collection[str]) -> list[Identity]:
        """Find in advance the drives last seen at these addresses; return their identities."""
        here = {
            place.drive for place in self.places if place.address in addresses and not place.gone
        }
        there = [record.identity for record in self.records if record.number in here]
        self._expected = {
            drive_records.name(identity): recalled
            for identity, recalled in zip(there, self.recall(there))
            if recalled.drive
        }
        return there

    def expected(self, identity: Identity) -> Recalled | None:
        """Return the expected result of recall() for a drive still at its address; None for others.

        The actual result can differ if another drive of this run looks the same.
        """
        return self._expected.get(drive_records.name(identity))

    def at(self, address: str) -> Record | None:
        """Return the drive last seen at an address, for example now in standby; None if unknown."""
        there = [
            place.drive for place in self.places if place.address == address and not place.gone
        ]
        return self._parsed.drives[there[0]].record if len(there) == 1 else None

    def verdict_of(self, record: Record) -> LastVerdict | None:
        """Return the last verdict on a drive; None if no check has stored one."""
        drive = self._parsed.drives.get(record.number)
        return drive.verdict if drive else None

    def all_of(self, record: Record) -> Histories:
        """Return all series of a drive with all their points."""
        days, _ = self._days_of(record.number)
        drive = self._parsed.drives[record.number]
        return {
            key: history._replace(points=_whole(days.get(key), history.points))
            for key, history in drive.histories.items()
            if drive.series[key].pace != series.LATELY
        }

    def examine(self) -> list[str]:
        """Read also the files that no check reads; return a message for each damaged one."""
        faults = []
        for record in self.records:
            _, fault = self._days_of(record.number)
            if fault:
                faults.append(f'{self.path}/{record.number}{DAYS}: {fault}')
        return faults

    def _days_of(self, number: int) -> tuple[AllSeries, str]:
        """Return the series in NUMBER.days, and why it cannot be used, or ''."""
        name = f'{number}{DAYS}'
        child = folder.reading_child(self._state, is_writing=False, only=(name,))
        contents = folder.contents_of(child, time.monotonic() + self._patience)
        if not contents.is_complete:
            return {}, f'it was not read within {self._patience:g} s'
        return _days_in(contents.files.get(name))

    # --- changes ---

    def keep(self, sightings: Sequence[Sighting], scope: Scope) -> None:
        """Write the readings of this check.

        Raises HistoryUnusable if this fails or takes too long.
        """
        self._change(lambda path: self._kept(path, sightings, scope), WRITING_TIME)

    def keep_past(
        self,
        identity: Identity,
        past: Mapping[tuple[Key, int], Sequence[Point]],
        until: int = 0,
    ) -> int:
        """Write readings of another program from before the history; return how many were written.

        past: points by series and pace, oldest first. Points in the period that the history already
        covers are not changed. until: when the other program last read the drive, seconds since
        1970; 0: at the newest point.
        """
        return self._change(lambda path: self._kept_past(path, identity, past, until))

    def forget(self, serial: str) -> int:
        """Remove all drives with this serial number, and their files; return how many there
        were.
        """
        return self._change(lambda path: self._forgotten(path, serial))

    def _change(self, work: Callable[[str], int], seconds: float = _CHANGING_TIME) -> int:
        return folder.change(self._state, work, seconds)

    # The following methods are called in the writing child, which holds the lock.

    def _now_in(self, path: str) -> Parsed:
        """Return the drives as they are now."""
        seen = self._contents.files if self._contents else {}
        return _parsed(folder.changed_since(path, seen), seen, self._parsed)

    def _kept(self, path: str, sightings: Sequence[Sighting], scope: Scope) -> int:
        """Store the readings of this check; return the number of changed drives."""
        before = self._now_in(path)
        drives = dict(before.drives)
        drive_at = self._store_readings(before, drives, sightings)
        slots = {sighting.address: sighting.slot for sighting in sightings}
        places = updated(
            _places_of(drives, self._machine), drive_at, scope, now=self.now, slots=slots
        )
        _set_places(drives, places, self._machine)
        folder.set_snapshot_aside(path)
        return self._apply(path, before, drives)

    def _store_readings(
        self, before: Parsed, drives: dict[int, DriveHistory], sightings: Sequence[Sighting]
    ) -> dict[str, int | None]:
        """Add the readings to the drives; return the number of the drive at each occupied
        address.
        """
        drive_at: dict[str, int | None] = {sighting.address: None for sighting in sightings}
        seen = {
            sighting.address: (sighting, sighting.identity)
            for sighting in sightings
            if sighting.identity is not None
        }
        identities = [identity for _, identity in seen.values()]
        records = [drive.record for drive in drives.values()]
        matches = drive_records.matches(identities, records, self._is_same)
        for (sighting, identity), match in zip(seen.values(), matches):
            drive = self._drive_for(identity, match, before, drives)
            if drive is None:
                continue
            if not drive_file.is_stored_already(drive, self.now):
                drive = drive_file.with_readings(
                    drive, identity, sighting.observations, sighting.verdict, self.now
                )
            drives[drive.record.number] = drive
            drive_at[sighting.address] = drive.record.number
        return drive_at

    def _drive_for(
        self,
        identity: Identity,
        match: Match,
        before: Parsed,
        drives: Mapping[int, DriveHistory],
    ) -> DriveHistory | None:
        """Return the history to which a drive's readings belong; None if they cannot be stored."""
        if match.record:
            return drives[match.record.number]
        if _why_not_stored(identity, match, before) or len(drives) >= MOST_DRIVES:
            return None
        number = number_of(identity)
        while number in drives or number in before.untouched:
            number += 1
        return drive_file.new(number, identity, self.now)

    def _kept_past(
        self,
        path: str,
        identity: Identity,
        past: Mapping[tuple[Key, int], Sequence[Point]],
        until: int,
    ) -> int:
        """Store readings of another program; return how many were written."""
        before = self._now_in(path)
        drives = dict(before.drives)
        records = [drive.record for drive in drives.values()]
        (match,) = drive_records.matches([identity], records, self._is_same)
        drive = self._drive_for(identity, match, before, drives)
        if drive is None:
            note = _why_not_stored(identity, match, before)
            raise HistoryUnusable(f'{identity.model} {identity.serial} {note}')
        if not match.record:
            newest = [points[-1].time for points in past.values() if points]
            read = until or max(newest, default=self.now)
            drive = drive._replace(record=drive.record._replace(first_read=read, last_read=read))
        days, _ = _days_in(folder.read_file(f'{path}/{drive.record.number}{DAYS}'))
        written, drive = _with_past(drive, days, past)
        drives[drive.record.number] = drive._replace(imported=self.now)
        self._apply(path, before, drives)
        return written

    def _forgotten(self, path: str, serial: str) -> int:
        numbers = [
            number
            for number, drive in self._now_in(path).drives.items()
            if drive.record.identity.serial == serial
        ]
        names = [name for number in numbers for name in folder.files_of(path, number)]
        folder.apply(path, Changes(removed=names), self.now)
        return len(numbers)

    def _apply(self, path: str, before: Parsed, drives: Mapping[int, DriveHistory]) -> int:
        """Write the drives that have changed, and set damaged files aside; return their number."""
        replaced: dict[int, dict[str, bytes]] = {}
        set_aside = [f'{number}{DRIVE}' for number in before.damaged]
        for number, drive in drives.items():
            if number not in before.damaged and drive == before.drives.get(number):
                continue
            kept, older = drive_file.split(drive)
            replaced[number] = {}
            if older:
                days, fault = _days_in(folder.read_file(f'{path}/{number}{DAYS}'))
                if fault:
                    set_aside.append(f'{number}{DAYS}')
                everything = drive_file.joined(days, older, self.now)
                content = drive_file.text(DriveHistory(drive.record, series=everything))
                replaced[number][DAYS] = content
            former = before.drives.get(number)
            is_new_day = former is None or former.record.last_read // DAY < self.now // DAY
            thin = drive_file.thinned_file(kept, self.now, is_new_day)
            replaced[number][DRIVE] = drive_file.text(thin)
        folder.apply(path, Changes(replaced, set_aside), self.now)
        return len(replaced)


# --- drives -------------------------------------------------------------------------------------


def number_of(identity: Identity) -> int:
    """Return the number of a new drive's files."""
    return crc32('\n'.join(drive_records.name(identity)).encode('utf-8', 'replace'))


def _why_not_stored(identity: Identity, match: Match, parsed: Parsed) -> str:
    """Return why a drive without a record cannot be stored; '' if it can."""
    if match.note:
        return match.note
    reason = parsed.untouched.get(number_of(identity), '')
    return reason or (FULL if len(parsed.drives) >= MOST_DRIVES else '')


def day(moment: int) -> str:
    """Return a time in seconds since 1970 as a local date with hours and minutes."""
    return time.strftime('%Y-%m-%d %H:%M', time.localtime(moment))


def _parsed(
    stored: Mapping[str, StoredFile],
    seen: Mapping[str, StoredFile] | None = None,
    before: Parsed | None = None,
) -> Parsed:
    """Return the drives in the files. seen, before: files that were parsed already, and the
    result.
    """
    drives: dict[int, DriveHistory] = {}
    damaged: dict[int, str] = {}
    untouched: dict[int, str] = {}
    for name, file in stored.items():
        number = folder.number_in(name)
        if number is None or name.endswith(FORMER):
            continue
        if seen and before and file is seen.get(name) and number in before.drives:
            drives[number] = before.drives[number]
            if number in before.damaged:
                damaged[number] = before.damaged[number]
            continue
        try:
            drives[number] = _drive_in(file, number)
        except Newer:
            untouched[number] = NEWER
        except Damaged as error:
            if file.fault == folder.TOO_MUCH:
                untouched[number] = file.fault
                continue
            damaged[number] = str(error)
            with suppress(Newer, Damaged):
                drives[number] = _drive_in(stored.get(f'{number}{FORMER}'), number)
    return Parsed(drives, damaged, untouched)


def _drive_in(file: StoredFile | None, number: int = 0) -> DriveHistory:
    """Return the drive in a file. Raises Newer, or Damaged with the reason."""
    if file is None or file.fault:
        raise Damaged(file.fault if file else folder.MISSING)
    try:
        return drive_file.parsed(file.content, number)
    except Damaged:
        raise Damaged('its content is damaged') from None


def _days_in(file: StoredFile | None) -> tuple[AllSeries, str]:
    """Return the series of NUMBER.days, and why it cannot be used; '' if it can or is missing."""
    if file is None or file.fault == folder.MISSING:
        return {}, ''
    try:
        return _drive_in(file).series, ''
    except Newer:
        return {}, 'it is from a newer version of this program'
    except Damaged as error:
        return {}, str(error)


def _whole(older: drive_file.Series | None, newer: Sequence[Point]) -> tuple[Point, ...]:
    """Return the points of a series whose older points are in NUMBER.days."""
    if older is None or not newer:
        return tuple(newer)
    return (*(point for point in older.points if point.time < newer[0].time), *newer)


def _with_past(
    drive: DriveHistory,
    days: AllSeries,
    past: Mapping[tuple[Key, int], Sequence[Point]],
) -> tuple[int, DriveHistory]:
    """Return how many points were added, and the drive with them and with those of NUMBER.days."""
    stored = dict(drive.series)
    written = 0
    for (key, pace), points in past.items():
        if not points or (key not in stored and len(stored) >= MOST_SERIES):
            continue
        before = stored.get(key, drive_file.Series(pace, absent=points[-1].time))
        whole = _whole(days.get(key), before.points)
        most = drive_file.most_of(key.definition)
        older = [
            point
            for point in points
            if 0 <= point.number <= most and (not whole or point.time < whole[0].time)
        ]
        if older and whole:  # the former first point has a predecessor now
            whole = (whole[0]._replace(gap=whole[0].time - older[-1].time), *whole[1:])
        stored[key] = before._replace(points=(*older, *whole))
        written += len(older)
    return written, drive._replace(series=stored)


# --- messages -----------------------------------------------------------------------------------


def _new_damage(parsed: Parsed, path: str, is_repaired: bool) -> Iterator[str]:
    """Yield a message for each damaged file that this run has found."""
    for number, reason in parsed.damaged.items():
        drive = parsed.drives.get(number)
        if drive:
            which = f' ({_name_of(drive)})'
            loss = 'its former version is used, so the readings of one check may be lost'
        else:
            which = ''
            loss = 'the earlier increases of this drive cannot be detected'
        aside = f'; it is renamed to {number}{folder.ASIDE}' if is_repaired else ''
        yield f'{path}/{number}{DRIVE}{which}: {reason}; {loss}{aside}'


def _old_damage(parsed: Parsed, path: str, moment: int) -> str:
    """Return the message about a file that was set aside at *moment*."""
    name = path.rpartition('/')[2]
    drive = parsed.drives.get(folder.number_in(name) or 0)
    which = _name_of(drive) if drive else 'a drive'
    if DAYS in name:
        loss = 'the numbers of earlier days are lost'
    elif drive is None:
        loss = 'it begins anew when the drive is read again'
    elif drive.record.first_read < moment:
        loss = 'the readings of one check may be lost'
    else:
        loss = 'its earlier increases cannot be detected'
    return f'the history of {which} was damaged on {day(moment)}; {loss} (the old file: {path})'


def _name_of(drive: DriveHistory) -> str:
    """Return the addresses of a drive, or its model if it has none."""
    here = [clean(place.address) for place in drive.places if not place.gone]
    return listed(here, 2) if here else clean(drive.record.identity.model) or 'a drive'


# --- places -------------------------------------------------------------------------------------


def _places_of(drives: Mapping[int, DriveHistory], machine: str) -> tuple[DrivePlace, ...]:
    return tuple(
        place for drive in drives.values() for place in drive.places if place.machine == machine
    )


def _set_places(
    drives: dict[int, DriveHistory], places: Sequence[DrivePlace], machine: str
) -> None:
    """Give each drive its places on this machine."""
    here: dict[int, list[DrivePlace]] = {number: [] for number in drives}
    for place in places:
        here[place.drive].append(place._replace(machine=machine))
    for number, drive in drives.items():
        elsewhere = [place for place in drive.places if place.machine != machine]
        places_now = tuple(sorted((*elsewhere, *here[number])))
        if places_now != drive.places:
            drives[number] = drive._replace(places=places_now)
