"""The history of one directory as one run sees it: read before the verdicts, changed after the
output.

The history adds alerts and dates them but never suppresses an alert, so a forged history does no
more harm than a missing one. Each drive has a file of its own (see drive_file), so damage, a link
or a forged file costs only this drive. The process of a check never waits for the disk (see
folder).
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from zlib import crc32

from ..constants import DAY, MOST_DRIVES
from ..errors import HistoryAbsent, HistoryUnusable
from ..model import DOUBTED, ONE, SEPARATE, Alias, Identity, LastVerdict
from ..typed import NamedTuple
from ..wording import listed, local_minute, plural
from ..words import clean
from . import drive_file, drive_records, folder, series
from .drive_file import AllSeries, Damaged, DriveHistory, Newer
from .drive_records import DrivePlace, Match, Record, SameDrive, Scope, updated
from .folder import DAYS, DRIVE, FORMER, Contents, StoredFile
from .series import History, Key, Observation, Point

MACHINE_ID = '/etc/machine-id'
SHOWN = 7 * DAY  # for how long damage is reported
PATIENCE = 10.0  # seconds that a run waits for the history; less if -t is short
# Share of this time that always remains, to receive what was read while the drives were being read
LAST_SHARE = 0.1
# seconds that a check waits, after its output, until the readings are on the disk
WRITING_TIME = 2.5
NEWER = (
    'has a history from a newer version of this program, so its readings are not stored; upgrade '
    'this program'
)
FULL = (
    f'is not stored: the history already has {MOST_DRIVES} drives; to make room, run: '
    'check_smart_attributes history --remove SERIAL'
)


class Sighting(NamedTuple):
    """An address at which a check found a device, and the readings of the drive at this address."""

    address: str
    identity: Identity | None = None  # None: in standby or unreadable
    observations: tuple[Observation, ...] = ()
    slot: str = ''  # see DrivePlace
    verdict: LastVerdict = LastVerdict(0)
    # the drive there, which this check did not judge: it sleeps, or the options exclude it; None: it
    # is not known, or was judged
    recognized: Record | None = None
    aliases: tuple[Alias, ...] = ()  # other addresses of the drive


class Parsed(NamedTuple):
    """The drives of a history, and the files that cannot be used."""

    drives: dict[int, DriveHistory]
    # The reason, by number. If the number is in *drives*, too, the former version of the file is
    # used.
    damaged: Mapping[int, str]
    untouched: Mapping[int, str]  # why a file is neither read nor changed, by number


class HistoryStore:
    """The history of one directory, as one process sees it. Methods raise HistoryUnusable."""

    def __init__(
        self,
        state_dir: str,
        now: int,
        is_same: SameDrive,
        machine: str,
        writes: bool,
        patience: float = PATIENCE,
    ) -> None:
        """Start to read the history. now: the time of this check, seconds since 1970.

        state_dir: the argument of --state-dir; '': the usual directory.

        machine: the ID of this machine, or ''; places belong to a machine, so machines can share a
        history. writes: if False, nothing is created or changed. patience: how long to wait, in
        seconds, until the history is read.
        """
        self.now, self.writes = now, writes
        self._state_dir, self._is_same = state_dir, is_same
        self._machine = f'{crc32(machine.encode()):08x}' if machine else ''
        self._patience = patience
        self._until = time.monotonic() + patience
        self._child = folder.reading_child(state_dir, writes)
        self._contents: Contents | None = None
        self._parsed = Parsed({}, {}, {})

    # --- what the reading child has sent ---

    def is_ready(self, seconds: float) -> bool:
        """Return whether the history is read; wait at most this time."""
        until = min(self._until, time.monotonic() + seconds)
        return self._child.wait(until)

    def read(self) -> Contents:
        """Wait for the reading child, at the first call, and return what it has sent."""
        contents = self._received()
        if contents.is_absent:
            raise HistoryAbsent(contents.fault)
        if contents.fault:
            raise HistoryUnusable(contents.fault)
        return contents

    def _received(self) -> Contents:
        """Return what the reading child has sent; at the first call, wait for it."""
        if self._contents is None:
            # even if the time is over: the child has sent much while the drives were being read
            earliest_end = time.monotonic() + LAST_SHARE * self._patience
            until = max(self._until, earliest_end)
            self._contents = folder.contents_of(self._child, until)
            self._parsed = _parsed(self._contents.files)
        return self._contents

    def _parsed_files(self) -> Parsed:
        """Return the drives in the files that read() returns. Raises the same exceptions."""
        self.read()
        return self._parsed

    @property
    def path(self) -> str:
        """The path of the directory, or words for it if it is not known yet."""
        return self._received().path or 'the state directory'

    @property
    def is_there(self) -> bool:
        """Return whether the history was there before this run, as far as it is known."""
        return self._received().is_there

    @property
    def has_directory(self) -> bool:
        """Return whether the state directory, which holds the history, can be used."""
        return self._received().user >= 0

    @property
    def drives(self) -> Mapping[int, DriveHistory]:
        """All drives in the history, by number."""
        return self._parsed_files().drives

    @property
    def is_complete(self) -> bool:
        """Return whether all files were read in time."""
        return self.read().is_complete

    @property
    def slowness(self) -> str:
        """A message that the disk was too slow to read the history in time; '' if it was not."""
        if self.is_complete:
            return ''
        part = 'only part of it was read' if self.drives else 'it was not read'
        return (
            f'{part} within {self._patience:g} s, because its disk is slow or does not answer; '
            f'check the disk that holds {self.path}: dmesg -T'
        )

    @property
    def old_damage(self) -> list[str]:
        """A message for each file that was set aside within the last seven days."""
        return [
            _old_damage(self.drives, f'{self.path}/{name}', moment)
            for name, moment in self.read().aside.items()
            if self.now - moment <= SHOWN
        ]

    @property
    def damage(self) -> list[str]:
        """A message for each file that is damaged, and for those that are not read."""
        parsed = self._parsed_files()
        messages = [*_new_damage(parsed, self.path, is_repaired=self.writes)]
        unread = [
            file for file in self.read().files.values() if file.code == folder.TOO_MUCH
        ]
        if unread:
            messages.append(
                f'the history of {plural(len(unread), "drive")} in {self.path} is not read, '
                'because the files are too large; to remove the history of a drive, run: '
                'check_smart_attributes history --remove SERIAL'
            )
        return messages

    @property
    def not_written(self) -> str:
        """A message why earlier checks could not write; '' if they could."""
        since, why = self.read().not_written
        if not since:
            return ''
        reason = f': {why}' if why else ''
        return f'no reading could be stored after {local_minute(since)}{reason}'

    @property
    def doubt(self) -> str:
        """A message about a clock that is behind the history; '' if it is not."""
        latest = max((record.last_read for record in self.records), default=0)
        if not drive_file.is_behind(latest, self.now):
            return ''
        return (
            f'the clock is {(latest - self.now) // DAY} days behind the history; correct the clock: '
            'if the clock stays behind for a day, the plugin changes the dates of the stored readings'
        )

    # --- drives and places ---

    @property
    def records(self) -> list[Record]:
        """All drives in the history."""
        return [drive.record for drive in self.drives.values()]

    @property
    def places(self) -> list[DrivePlace]:
        """The current and former places of all drives of this machine; see drive_records."""
        return self._places_in(self.drives.values())

    def _places_in(self, drives: Iterable[DriveHistory]) -> list[DrivePlace]:
        """Return the places of these drives on this machine."""
        places = [place for drive in drives for place in drive.places]
        return [place for place in places if place.machine == self._machine]

    def recent_places(self, seconds: int) -> list[DrivePlace]:
        """Return the current places of the drives that a check has read within this time."""
        since = self.now - seconds
        return [
            place
            for place in self.places
            if not place.gone and self.drives[place.drive].record.last_read > since
        ]

    @property
    def is_own(self) -> bool:
        """Return whether only root and this user could have written the history."""
        return self.read().user in (0, os.geteuid())

    def recall(self, identities: Sequence[Identity]) -> list[Match]:
        """Return the record of each drive of this run, in the same order, or a note why it cannot
        be stored; neither for a new drive.
        """
        parsed = self._parsed_files()
        matches = self._matches(parsed, identities)
        return [
            Match(match.record, _why_not_stored(identity, match, parsed))
            for identity, match in zip(identities, matches)
        ]

    def seen_as(self, first: str, second: str) -> str:
        """Return what is known of two addresses: SEPARATE, or ONE or DOUBTED if they led to the same
        drive at the last check.
        """
        for drive in self.drives.values():
            if {first, second} <= self._addresses(drive):
                doubted = {alias.address for alias in drive.aliases if alias.is_doubted}
                return DOUBTED if doubted.intersection((first, second)) else ONE
        return SEPARATE

    def with_aliases(self, addresses: Collection[str]) -> list[str]:
        """Return the other addresses of the drives at these addresses, as of the last check."""
        others: list[str] = []
        for drive in self.drives.values():
            of_drive = self._addresses(drive)
            if of_drive.intersection(addresses):
                others += of_drive.difference(addresses)
        return sorted(others)

    def _addresses(self, drive: DriveHistory) -> set[str]:
        """Return all addresses at which the last check reached a drive."""
        places = self._places_in([drive])
        addresses = {place.address for place in places if not place.gone}
        return addresses | {alias.address for alias in drive.aliases}

    def named(self, identity: Identity) -> Record | None:
        """Return the record with exactly this identity; None if there is none."""
        for record in self.records:
            if drive_records.name(record.identity) == drive_records.name(identity):
                return record
        return None

    def at(self, address: str) -> Record | None:
        """Return the drive last seen at an address, for example now in standby; None if unknown,
        or if the history has several drives there.
        """
        numbers = {
            place.drive
            for place in self.places
            if place.address == address and not place.gone
        }
        if len(numbers) != 1:
            return None
        return self.drives[numbers.pop()].record

    def all_of(self, number: int) -> dict[Key, History]:
        """Return all series of a drive with all their points, those of NUMBER.days included. Series
        that only hysteresis needs are left out.
        """
        name = f'{number}{DAYS}'
        child = folder.reading_child(self._state_dir, is_writing=False, only=name)
        contents = folder.contents_of(child, time.monotonic() + self._patience)
        days = _days_in(contents.files.get(name)) or {}
        drive = self.drives[number]
        result = {}
        for key, history in drive.histories.items():
            if drive.series[key].pace != series.LATELY:
                older = days[key].points if key in days else ()
                points = _whole(older, history.points)
                result[key] = History(points, history.last_read)
        return result

    # --- changes ---

    def keep(self, sightings: Sequence[Sighting], scope: Scope) -> None:
        """Write the readings of this check.

        Raises HistoryUnusable if this fails or takes too long.
        """
        folder.change(
            self._state_dir,
            lambda path: self._kept(path, sightings, scope),
            WRITING_TIME,
        )

    def remove(self, serial: str) -> int:
        """Remove all drives with this serial number, and their files; return how many there
        were.
        """
        return folder.change(self._state_dir, lambda path: self._removed(path, serial))

    # The following methods are called in the writing child, which holds the lock.

    def _kept(self, path: str, sightings: Sequence[Sighting], scope: Scope) -> int:
        """Store the readings of this check; return the number of changed drives."""
        before = _parsed(dict(folder.stored_files(path)))
        # This is a copy, because _store_readings() adds the readings to its drives.
        after = before._replace(drives=dict(before.drives))
        drive_at = self._store_readings(after, sightings)
        slots = {sighting.address: sighting.slot for sighting in sightings}
        here = updated(
            self._places_in(after.drives.values()),
            drive_at,
            scope,
            self.now,
            slots=slots,
            newest_order=newest_order(before.drives),
        )
        drives = {}
        for number, drive in after.drives.items():
            places = [place for place in drive.places if place.machine != self._machine]
            # updated() does not know the machine of a new place
            for place in here:
                if place.drive == number:
                    places.append(place._replace(machine=self._machine))
            drives[number] = drive._replace(places=tuple(places))
        return self._apply(path, before, drives)

    def _store_readings(
        self, after: Parsed, sightings: Sequence[Sighting]
    ) -> dict[str, int | None]:
        """Add the readings to the drives of *after*; return the number of the drive at each
        occupied address, None if it is not known.
        """
        drive_at: dict[str, int | None] = {}
        for sighting in sightings:
            recognized = sighting.recognized
            drive_at[sighting.address] = None  # until its readings are stored
            if recognized and recognized.number in after.drives:
                drive_at[sighting.address] = recognized.number
        read = [
            (sighting, sighting.identity) for sighting in sightings if sighting.identity
        ]
        matches = self._matches(after, [identity for _, identity in read])
        for (sighting, identity), match in zip(read, matches):
            drive = self._drive_for(identity, match, after)
            if drive is None:
                continue
            changed = drive_file.with_readings(
                drive, identity, sighting.observations, sighting.verdict, self.now
            )
            number = drive.record.number
            after.drives[number] = changed._replace(aliases=sighting.aliases)
            drive_at[sighting.address] = number
        return drive_at

    def _matches(self, parsed: Parsed, identities: Sequence[Identity]) -> list[Match]:
        records = [drive.record for drive in parsed.drives.values()]
        return drive_records.matches(identities, records, self._is_same)

    def _drive_for(
        self, identity: Identity, match: Match, parsed: Parsed
    ) -> DriveHistory | None:
        """Return the history to which a drive's readings belong, a new one for a new drive; None
        if they cannot be stored.
        """
        if match.record:
            return parsed.drives[match.record.number]
        if _why_not_stored(identity, match, parsed):
            return None
        # Another drive can have the same checksum.
        number = number_of(identity)
        while number in parsed.drives or number in parsed.untouched:
            number += 1
        order = newest_order(parsed.drives) + 1
        return DriveHistory(Record(number, identity, self.now, self.now, order))

    def _removed(self, path: str, serial: str) -> int:
        """Remove the drives with this serial number; return how many there were."""
        drives = _parsed(dict(folder.stored_files(path))).drives.values()
        numbers = [
            drive.record.number
            for drive in drives
            if drive.record.identity.serial == serial
        ]
        for number in numbers:
            folder.remove(path, number)
        return len(numbers)

    def _apply(
        self, path: str, before: Parsed, drives: Mapping[int, DriveHistory]
    ) -> int:
        """Write the drives that have changed, and set damaged files aside; return how many drives
        were written.
        """
        replaced = {}
        set_aside = [f'{number}{DRIVE}' for number in before.damaged]
        for number, drive in drives.items():
            former = before.drives.get(number)
            if number not in before.damaged and drive == former:
                continue
            contents = {}
            kept, older = drive_file.split(drive)
            if older:
                days = _days_in(folder.read_file(f'{path}/{number}{DAYS}'))
                if days is None:
                    set_aside.append(f'{number}{DAYS}')
                all_days = drive_file.joined(days or {}, older, self.now)
                contents[DAYS] = drive_file.text(
                    DriveHistory(drive.record, series=all_days)
                )
            is_new_day = not former or former.record.last_read // DAY < self.now // DAY
            thin = drive_file.thinned_file(kept, self.now, is_new_day)
            contents[DRIVE] = drive_file.text(thin)
            replaced[number] = contents
        folder.apply(path, replaced, set_aside=set_aside, now=self.now)
        return len(replaced)


# --- drives -------------------------------------------------------------------------------------


def number_of(identity: Identity) -> int:
    """Return the number of a new drive's files."""
    return crc32('\n'.join(drive_records.name(identity)).encode('utf-8', 'replace'))


def newest_order(drives: Mapping[int, DriveHistory]) -> int:
    """Return the highest order of the drives in a history."""
    return max((drive.record.order for drive in drives.values()), default=0)


def _why_not_stored(identity: Identity, match: Match, parsed: Parsed) -> str:
    """Return why a drive without a record cannot be stored; '' if it can, or has a record."""
    if match.record:
        return ''
    reason = match.note or parsed.untouched.get(number_of(identity), '')
    if not reason and len(parsed.drives) >= MOST_DRIVES:
        return FULL
    return reason


def _parsed(stored: Mapping[str, StoredFile]) -> Parsed:
    """Return the drives in the files of a history, and why files cannot be used, by number.

    stored: the files by name. A damaged file is in *damaged*; its drive is in *drives*, too, if the
    former version of the file is intact.
    """
    drives = {}
    damaged = {}
    untouched = {}
    for name, file in stored.items():
        number = folder.number_in(name)
        if number is None or name.endswith(FORMER):
            continue
        if file.code == folder.TOO_MUCH:
            untouched[number] = file.fault
            continue
        try:
            drives[number] = _drive_in(file, number)
        except Newer:
            untouched[number] = NEWER
        except Damaged as error:
            damaged[number] = str(error) or 'its content is damaged'
            # if it is missing, it counts as empty, which is damaged, too
            former = stored.get(f'{number}{FORMER}', StoredFile())
            with suppress(Newer, Damaged):
                drives[number] = _drive_in(former, number)
    return Parsed(drives, damaged, untouched)


def _drive_in(file: StoredFile, number: int = 0) -> DriveHistory:
    """Return the drive in a file. Raises Newer, or Damaged with the reason."""
    if file.fault:
        raise Damaged(file.fault)
    return drive_file.parsed(file.content, number)


def _days_in(file: StoredFile | None) -> AllSeries | None:
    """Return the series of NUMBER.days: {} if the file is missing, None if it cannot be used."""
    if file is None or file.code == folder.MISSING:
        return {}
    try:
        return _drive_in(file).series
    except (Newer, Damaged):
        return None


def _whole(older: Sequence[Point], newer: Sequence[Point]) -> tuple[Point, ...]:
    """Return the points of a series of which the older ones are in NUMBER.days. The newer ones
    replace those of the same time or later.
    """
    if not newer:
        return ()
    return (*(point for point in older if point.time < newer[0].time), *newer)


# --- messages -----------------------------------------------------------------------------------


def _new_damage(parsed: Parsed, path: str, is_repaired: bool) -> Iterator[str]:
    """Yield a message for each damaged file that this run has found."""
    for number, reason in parsed.damaged.items():
        drive = parsed.drives.get(number)
        which = 'a drive'
        loss = 'increases that happened before this check cannot be detected'
        if drive:
            which = _name_of(drive)
            loss = 'some readings may be lost'
        aside = f'; renamed to {number}{folder.ASIDE}' if is_repaired else ''
        yield (
            f'the history of {which} is damaged, so {loss}; wait a week: checks report this until then; if '
            f'it is damaged again, check the disk that holds {path} ({number}{DRIVE}: {reason}{aside})'
        )


def _old_damage(drives: Mapping[int, DriveHistory], path: str, moment: int) -> str:
    """Return the message about a file that was set aside at *moment*."""
    name = path.rpartition('/')[2]
    drive = drives.get(folder.number_in(name) or 0)
    which = _name_of(drive) if drive else 'a drive'
    if DAYS in name:
        loss = 'its readings of earlier days are lost'
    elif drive is None:
        loss = 'it starts again when the drive is next read'
    elif drive.record.first_read < moment:
        # The drive was known before the damage, so the former version of its file was used.
        loss = 'the readings of one check may be lost'
    else:
        # There was no usable former version, so the drive was new to the history afterwards.
        loss = 'increases that happened before then cannot be detected'
    return f'the history of {which} was damaged on {local_minute(moment)}; {loss} (the old file: {path})'


def _name_of(drive: DriveHistory) -> str:
    """Return the addresses of a drive, or its model if it has none."""
    here = [clean(place.address) for place in drive.places if not place.gone]
    return listed(here, 2) if here else clean(drive.record.identity.model) or 'a drive'
