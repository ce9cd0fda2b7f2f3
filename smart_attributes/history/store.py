"""The history store: opened by a check, read before the verdict, written after the output is
printed.

The history adds alerts and dates them but never suppresses an alert, so a forged history does no
more harm than a missing history. A check writes in one transaction, so killed or simultaneous
checks do not damage the history.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress

from .. import files
from ..constants import DAY, MONTH, MOST_DRIVES
from ..errors import HistoryUnusable
from ..model import Identity
from ..state_directory import StateDirectory
from ..typed import NamedTuple, T
from . import directory, drive_records, rows, series
from .database import BUDGET, Database
from .drive_records import DrivePlace, Match, Record, SameDrive, Scope, updated
from .series import LATELY, History, Key, Observation, Point

Histories = Mapping[Key, History]

MACHINE_ID = '/etc/machine-id'
# with a drive's number: when a log of another program about this drive was imported
TAKEN = 'taken '
# Numeric facts about the history, nearly all of them times. lost, lost_before: the last restart and
# the restart before
# it. missing: when missing readings were detected. uncounted: 1 if their number is unknown.
MOMENTS = (
    'begun',
    'lost',
    'lost_before',
    'behind',
    'thinned',
    'thinned_until',
    'written',
    'missing',
    'missing_since',
    'missing_until',
    'uncounted',
)
EXAMINED = 20.0  # seconds of CPU time for examine()
_NOT_READ = (0, 0)


class Sighting(NamedTuple):
    """An address at which a check found a device, and the readings of the drive at this address."""

    address: str
    identity: Identity | None = None  # None: in standby or unreadable
    observations: tuple[Observation, ...] = ()
    slot: str = ''  # see DrivePlace


class DriveHistory(NamedTuple):
    """The history of a drive."""

    match: Match
    # for the metrics in series.PACES, only the newest point
    stored: Mapping[Key, rows.Stored] = {}

    @property
    def histories(self) -> Histories:
        """The histories by series, without the columns that only the database needs."""
        return {key: row.history for key, row in self.stored.items()}


class Losses(NamedTuple):
    """One message for each way in which readings can be lost; '' if nothing was lost in that
    way.
    """

    restart: str = ''  # the file could not be used
    recurring: str = ''  # this happened twice within a day, most recently within the last day
    missing: str = ''  # individual commits were missing


class HistoryStore:
    """The history of one folder, as one process sees it.

    Methods raise HistoryUnusable on any failure.
    """

    def __init__(
        self,
        state: StateDirectory,
        now: int,
        is_same: SameDrive,
        machine: str = '',
        writes: bool = True,
    ) -> None:
        """Open the history. now: the time of this check, seconds since 1970. machine: the ID of
        this machine, or ''; the ID shows whether the disk was cloned from another disk.
        writes: if False, nothing is created or changed, and users other than the owner are allowed.
        """
        self.now, self._is_same, self._machine, self._writes = now, is_same, machine, writes
        self.folder = directory.below(state, is_made=writes)
        self._database = Database(self.folder, writes, self._fill)
        self.not_written = ''  # a message why earlier checks could not write
        self.restarted = ''  # a message about readings that a power cut may have lost
        self.doubt = ''  # a message about a clock that is behind the history
        self._head = rows.Head()
        self._moments: Mapping[str, int] = {}  # the facts in MOMENTS, as numbers
        self._version = _NOT_READ  # changes after another process has written
        self._last: tuple[Sequence[Identity], list[DriveHistory]] | None = None
        # read ahead, by drive_records.name()
        self._expected: dict[tuple[str, ...], DriveHistory] = {}
        if not files.is_there(self.folder.file):
            from . import losses  # noqa: F401  the owner of the folder may be unable to read this program
        self._database.guarded(self._open)

    @property
    def begun(self) -> int:
        """Return the beginning of the history, seconds since 1970."""
        return self._moments.get('begun', self.now)

    @property
    def records(self) -> tuple[Record, ...]:
        """All drives in the history."""
        return self._head.records

    @property
    def places(self) -> tuple[DrivePlace, ...]:
        """The current and former places of all drives; see drive_records."""
        return self._head.places

    @property
    def is_own(self) -> bool:
        """Return whether only root and this user could have written the history."""
        return self.folder.state.is_own

    @property
    def losses(self) -> Losses:
        """Return messages about readings that were lost within the last seven days."""
        if not self._head.facts.keys() & {'lost', 'missing'}:
            return Losses()
        from . import losses

        return Losses(*losses.messages(self._head, self.folder, self.now))

    def knows_since(self, record: Record) -> int:
        """Return when the history of a drive began, in seconds since 1970; 0 if a log of the
        drive was imported.
        """
        return 0 if f'{TAKEN}{record.number}' in self._head.facts else record.first_read

    @property
    def has_taken(self) -> bool:
        """Return whether a log of another program was imported for any drive."""
        return any(name.startswith(TAKEN) for name in self._head.facts)

    def recall(self, identities: Sequence[Identity]) -> list[DriveHistory]:
        """Return the histories of the drives of this run, in the same order."""
        return self._reading(lambda: self._recalled(identities))

    def expect(self, addresses: Collection[str]) -> list[Identity]:
        """Read in advance the histories of the drives last seen at these addresses; return the
        drives' identities.
        """
        here = {
            place.drive for place in self.places if place.address in addresses and not place.gone
        }
        there = [record.identity for record in self.records if record.number in here]
        self._expected = {
            drive_records.name(identity): history
            for identity, history in zip(there, self.recall(there))
            if history.match.record
        }
        return there

    def expected(self, identity: Identity) -> DriveHistory | None:
        """Return the expected result of recall() for a drive that is still at its address; None for
        any other drive.

        The actual result can differ if another drive of this run looks the same, or another process
        writes in between.
        """
        return self._expected.get(drive_records.name(identity))

    def at(self, address: str) -> Record | None:
        """Return the drive that was last seen at an address, for example now in standby; None if
        unknown.
        """
        there = [
            place.drive for place in self.places if place.address == address and not place.gone
        ]
        return next((record for record in self.records if [record.number] == there), None)

    def newest(self, key: Key, of: Sequence[Record]) -> dict[int, float]:
        """Return the newest value of a series for each drive that has this series; the keys are
        the drive numbers.
        """
        found = self._reading(lambda: rows.stored(self._database, of, rows.RECENT))
        return {
            number: stored[key].history.points[-1].number
            for number, stored in found.items()
            if key in stored
        }

    def all_of(self, record: Record) -> Histories:
        """Return all series of a drive with all their points."""
        return self._reading(lambda: self._all_of(record.number))

    def examine(self) -> None:
        """Read and verify the whole history; no check does so.

        Damage is handled as in a check; see `losses`.
        """
        self._reading(self._examine, EXAMINED)
        self._database.guarded(self._database.shorten_log)

    def keep(self, sightings: Sequence[Sighting], scope: Scope) -> list[str]:
        """Write the readings of this check; return a message for each drive that cannot be
        stored.
        """
        if not self._is_thinned:
            from . import upkeep  # noqa: F401  first, as in keep_past()
        try:
            notes = self._writing(lambda: self._kept(sightings, scope))
            with self.folder.state:
                directory.remove_mark(self.folder)
                self._database.sync(self.now)
            self._database.guarded(self._database.shorten_log)
            return notes
        except HistoryUnusable as error:
            with self.folder.state:
                directory.leave_mark(self.folder, str(error))
            raise

    def keep_past(
        self, identity: Identity, past: Mapping[tuple[Key, int], Sequence[Point]], until: int = 0
    ) -> int:
        """Write readings of another program from the time before the history; return how many
        points were written.

        past: points by series and storage interval, oldest first. Points in the period that the
        history already covers
        are not changed. until: when the other program last read the drive, seconds since 1970; 0:
        at the newest point.
        """
        # import this first, because the folder's owner may be unable to read this program
        from . import upkeep

        def work() -> int:
            match, stored = self._recalled([identity])[0]
            if match.note:
                raise HistoryUnusable(f'{identity.model} {identity.serial} {match.note}')
            newest = until or max(
                (points[-1].time for points in past.values() if points), default=self.now
            )
            record = match.record or rows.new_drive(self._database, identity, newest)
            written = sum(
                upkeep.write_past(self._database, record, stored, key, pace, points)
                for (key, pace), points in past.items()
                if points
            )
            upkeep.sum_points(self._database, [record.number])
            self._set(**{f'{TAKEN}{record.number}': self.now})
            return written

        return self._writing(work)

    def forget(self, serial: str) -> int:
        """Remove all drives with this serial number, and their history; return the number of
        drives removed.
        """
        from . import upkeep  # first, as in keep_past()

        def work() -> int:
            gone = [
                record.number
                for record in rows.head(self._database).records
                if record.identity.serial == serial
            ]
            for number in gone:
                upkeep.remove(self._database, number)
                self._database.run('DELETE FROM fact WHERE name = ?', f'{TAKEN}{number}')
            return len(gone)

        return self._writing(work)

    def _reading(self, work: Callable[[], T], budget: float = BUDGET) -> T:
        return self._database.guarded(
            lambda: self._database.transaction(work, is_writing=False), budget
        )

    def _writing(self, work: Callable[[], T]) -> T:
        result = self._database.guarded(lambda: self._database.commit(self.now, work))
        self._version = _NOT_READ  # data_version does not show this process's own writes
        # after a failure, the next check writes it
        with self.folder.state, suppress(HistoryUnusable):
            directory.write_known(self.folder, directory.known_of(self._database.head))
        return result

    def _open(self) -> None:
        """Open and read the database; check the machine ID, the commits, the clock and whether
        writing is possible.
        """
        self._database.open()
        self._read()
        owner = self._head.facts.get('machine', '')
        if self._writes and self._machine and owner and owner != self._machine:
            from . import losses

            self._database.begin_anew(losses.CLONED)
            self._read()
        self._count_commits()
        self._ask_the_clock()
        if self._writes:
            self._try_to_write()

    def _fill(self, why: str) -> None:
        """Write facts and the readable part of old tables into new tables. why: the reason; ''
        for the first tables.
        """
        self._set(
            begun=self.now, machine=self._machine, **({'lost': self.now, 'why': why} if why else {})
        )
        from . import losses

        if why in (losses.DAMAGED, losses.GONE):
            self._set(
                **{
                    **losses.salvaged(
                        self._database, self.folder, self._database.commits, self.now
                    ),
                    'why': why,
                }
            )
        self._database.count(self.now)

    def _count_commits(self) -> None:
        """Check whether commits are missing, or may be missing after a power cut."""
        missing, unsynced = (
            self._database.missing(self._head.facts, self.now),
            self._database.unsynced_since(),
        )
        if missing:
            if self._writes:
                self._database.commit(self.now, lambda: self._set(**missing))
                self._read()
            told = {name: str(fact) for name, fact in missing.items()}
            self._head = self._head._replace(facts={**self._head.facts, **told})
        elif unsynced is not None:
            from . import losses

            self.restarted = (
                f'the system has restarted since the last check; if it lost power, readings since '
                f'{losses.day(unsynced or self.begun)} may be missing; earlier readings still count'
            )

    def _ask_the_clock(self) -> None:
        """Correct the times of points if the clock was wrong.

        While it is unknown when the clock was wrong, readings are stored as if made a second after
        the newest reading.
        """
        latest, since = (
            max((record.last_read for record in self.records), default=0),
            self._moments.get('behind', 0),
        )
        if not since and self.now >= latest:
            return
        from . import upkeep

        if self._writes and upkeep.is_settled(self.now, latest, since):
            self._database.commit(
                self.now, lambda: upkeep.date_anew(self._database, self.records, self.now)
            )
            self._read()
            return
        self.doubt = upkeep.doubt(self.now, latest, since)
        if self._writes and bool(self.doubt) != (since >= upkeep.EARLIEST):
            self._database.commit(self.now, lambda: self._set(behind=self.now if self.doubt else 0))
        if self.doubt:
            self.now = latest + 1

    def _try_to_write(self) -> None:
        """Check, before the output is printed, whether the history can be written afterwards."""
        since, why = directory.mark(self.folder)
        if since:
            from .losses import day

            self.not_written = (
                f'nothing could be written since {day(since)}{f": {why}" if why else ""}'
            )
        self._database.transaction(tuple)

    def _read(self) -> None:
        self._database.transaction(self._all, is_writing=False)

    def _all(self) -> None:
        self._head = rows.head(self._database)
        facts = self._head.facts
        self._moments = {
            name: drive_records.moment(facts[name]) for name in MOMENTS if name in facts
        }
        self._version, self._last, self._expected = self._database.generation(), None, {}

    def _recalled(self, identities: Sequence[Identity]) -> list[DriveHistory]:
        """Return the histories of drives.

        Read the database only if the drives differ or another check has written.
        """
        if self._version != self._database.generation():
            self._all()
        if self._last is None or self._last[0] != identities:
            matches = drive_records.matches(identities, self.records, self._is_same)
            stored = self._stored([match.record for match in matches if match.record])
            self._last = (
                identities,
                [
                    DriveHistory(match, stored[match.record.number] if match.record else {})
                    for match in matches
                ],
            )
        return self._last[1]

    def _stored(self, records: Sequence[Record]) -> dict[int, Mapping[Key, rows.Stored]]:
        """Return the series of drives by drive number.

        Only series that were not read in advance are read now.
        """
        ahead = {
            each.match.record.number: each.stored
            for each in self._expected.values()
            if each.match.record
        }
        lacking = [record for record in records if record.number not in ahead]
        return {**ahead, **(rows.stored(self._database, lacking, rows.RECENT) if lacking else {})}

    def _all_of(self, drive: int) -> dict[Key, History]:
        # The caller's record may be older than this transaction.
        records = [record for record in rows.head(self._database).records if record.number == drive]
        stored = rows.stored(self._database, records, rows.EVERY).get(drive, {})
        return {key: row.history for key, row in stored.items() if row.pace != LATELY}

    def _examine(self) -> None:
        if not self._database.is_sound:
            raise ValueError('SQLite finds the file damaged')
        for record in rows.head(self._database).records:
            rows.stored(self._database, [record], rows.EVERY)
        self._all()

    def _kept(self, sightings: Sequence[Sighting], scope: Scope) -> list[str]:
        identities = [sighting.identity for sighting in sightings if sighting.identity is not None]
        histories = iter(self._recalled(identities))
        drive_at: dict[str, int | None] = {}
        notes, again, changed = [], [], []
        for address, identity, observations, _ in sightings:
            drive_at.setdefault(address, None)
            if identity is None:
                continue
            history = next(histories)
            record, note = self._record(identity, history)
            if record is None:
                notes.append(f'{address} {note}')
                continue
            drive_at[address] = record.number
            # otherwise, a later check has read it
            if record.last_read < self.now or not history.match.record:
                is_changed, is_urgent = rows.write_readings(
                    self._database, record, observations, history.stored, self.now
                )
                changed += [record.number] if is_changed else []
                self._database.is_urgent |= is_urgent
                again.append((record, identity))
        rows.read_again(self._database, again, self.now)
        rows.sum_series(self._database, changed)
        self._keep_places(
            drive_at, scope, {sighting.address: sighting.slot for sighting in sightings}
        )
        self._thin()
        return notes

    def _keep_places(
        self, drive_at: Mapping[str, int | None], scope: Scope, slots: Mapping[str, str]
    ) -> None:
        moved = set(updated(self.places, drive_at, scope, self.now, slots)) - set(self.places)
        rows.write_places(self._database, moved)
        self._database.is_urgent |= bool(moved)

    def _record(self, identity: Identity, history: DriveHistory) -> tuple[Record | None, str]:
        """Return (record, ''), creating the record of a new drive, or (None, reason why the
        drive cannot be stored).
        """
        record, note = history.match
        if not (record or note) and len(self.records) >= MOST_DRIVES:
            note = (
                f'is not stored: the history already has {MOST_DRIVES} drives; to make room, use '
                f'history --forget SERIAL'
            )
        return record if record or note else rows.new_drive(
            self._database, identity, self.now
        ), note

    @property
    def _is_thinned(self) -> bool:
        """Return whether old points were thinned within the last day."""
        return 0 <= self.now - self._moments.get('thinned', self.begun) < DAY

    def _thin(self) -> None:
        """Thin old points once a day, but only the points of one month at a time, because the
        clock can be wrong.
        """
        if self._is_thinned:
            return
        from . import upkeep

        done = self._moments.get('thinned_until', self.begun)
        until = min(self.now - series.KEPT_DAILY, done + MONTH)
        upkeep.thin(self._database, until, self.now)
        self._set(thinned=self.now, thinned_until=max(until, done))

    def _set(self, **facts: object) -> None:
        rows.write_facts(self._database, **facts)
