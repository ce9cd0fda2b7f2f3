"""What earlier checks have read: opened, recalled before the verdict, kept after the answer is out.

History adds alarms and ages them; it silences nothing, so a forged one does no more harm than none. All that a check
writes is one transaction: two at once, or one that is killed, leave nothing half done.
"""
from __future__ import annotations

import time

from ..constants import DAY, MONTH
from ..errors import HistoryUnusable
from ..model import Identity
from ..state_directory import StateDirectory
from ..typed import TYPE_CHECKING, NamedTuple
from . import clock, commits, directory, drive_matching, rows, series
from .counted_database import CountedDatabase
from .database import CLONED, DAMAGED, GONE, SET_ASIDE
from .drive_changes import Place, Scope, updated
from .drive_matching import Match, Record
from .series import LATELY, History, Key, Observation, Point

if TYPE_CHECKING:
    from typing import Dict, List, Mapping, Optional, Sequence, Tuple

    from .drive_matching import SameDrive

    Histories = Mapping[Key, History]

MOST_DRIVES = 1000     # a drive that makes up a serial number at each check must not fill the disk
LOSS_TOLD = 7 * DAY
MACHINE_ID = '/etc/machine-id'
TAKEN = 'taken '       # before a drive's number: when the log of another program about it was taken
# The facts about history that are numbers, nearly all times. missing: when it was found that readings are missing;
# uncounted: 1 where nobody knows how many.
MOMENTS = ('begun', 'lost', 'behind', 'thinned', 'thinned_until', 'written', 'missing', 'missing_since',
           'missing_until', 'uncounted')
EXAMINED = 20.0        # seconds of CPU for reading all that there is
_NOT_READ = (0, 0)


class Kept(NamedTuple):
    """What a check hands over about an address where something is."""

    address: str
    identity: Optional[Identity] = None   # None: asleep or unreadable
    observations: Tuple[Observation, ...] = ()


class Recalled(NamedTuple):
    """What history knows of a drive."""

    match: Match
    stored: Mapping[Key, rows.Stored] = {}   # of moving series (see series.PACES) only the newest point

    @property
    def histories(self) -> Histories:
        """By series, without what is the database's own."""
        return {key: row.history for key, row in self.stored.items()}


def machine_id(path: str = MACHINE_ID) -> str:
    """Return what tells this machine from those that its disk is cloned to, '' where nothing does."""
    try:
        with open(path, encoding='ascii', errors='replace') as file:
            return file.read(64).strip()
    except OSError:
        return ''


class HistoryStore:
    """The history of one folder, as one process sees it. Raises HistoryUnusable, a sentence, and nothing else."""

    def __init__(self, state: StateDirectory, now: int, is_same: SameDrive, machine: str = '',
                 writes: bool = True) -> None:
        """Open it. now: seconds since 1970, the time of this check. machine: see machine_id().

        writes: False for who only looks: nothing is made or changed then, and other users may do so.
        """
        self.now, self._is_same, self._machine, self._writes = now, is_same, machine, writes
        self.folder = directory.below(state, is_made=writes)
        self._database = CountedDatabase(self.folder, writes, self._fill)
        self.not_written = ''   # why the checks before this one could not write, a sentence
        self.restarted = ''     # what a power cut may have taken, a sentence for the first check after a restart
        self.records: Tuple[Record, ...] = ()   # all drives that history knows
        self.places: Tuple[Place, ...] = ()     # where they are, and were; see changes
        self._facts: Mapping[str, str] = {}     # about history itself; see schema
        self._moments: Mapping[str, int] = {}   # those of them that are times
        self._version = _NOT_READ               # another one as soon as another process has written
        self._last: Optional[Tuple[Sequence[Identity], List[Recalled]]] = None
        self._expected: Dict[Tuple[str, ...], Recalled] = {}   # read ahead, by what a drive is called
        self._database.guarded(self._open)

    @property
    def begun(self) -> int:
        """Since when it remembers, seconds since 1970."""
        return self._moments.get('begun', self.now)

    @property
    def is_own(self) -> bool:
        """Tell whether nobody but root and who runs this could have written it."""
        return self.folder.state.is_own

    @property
    def loss(self) -> str:
        """What was lost within the last seven days, a sentence; '' where nothing was."""
        lost, why = self._moments.get('lost', 0), self._facts.get('why', '')
        if not lost or self.now - lost > LOSS_TOLD:
            return ''
        why = why if why in (DAMAGED, GONE, SET_ASIDE, CLONED) else DAMAGED   # nothing else is quoted
        return (f'history began anew on {_day(lost)}, because {why}; growth before that is not judged '
                f'(the old file: {self.folder.aside})')

    @property
    def missing(self) -> str:
        """Which readings were lost within the last seven days while older ones are there, a sentence; '' where none."""
        found, since, until = (self._moments.get(name, 0) for name in ('missing', 'missing_since', 'missing_until'))
        if not found or self.now - found > LOSS_TOLD:
            return ''
        loss, cause = (('may be missing', f'{commits.FILE} was damaged or removed')
                       if self._moments.get('uncounted') else
                       ('were lost', 'a file of the history was damaged or removed, or the system lost power'))
        return (f'readings from {_day(since)} to {_day(until)} {loss}, because {cause}; earlier readings still count; '
                f'if there was no power failure, check the disk: dmesg -T | tail -50')

    def knows_since(self, record: Record) -> int:
        """Return since when it knows a drive, seconds since 1970; 0: what another program knew of it was taken."""
        return 0 if _taken(record.number) in self._facts else record.first_read

    @property
    def has_taken(self) -> bool:
        """Tell whether anything is known of the time before history."""
        return any(name.startswith(TAKEN) for name in self._facts)

    def recall(self, found: Sequence[Identity]) -> List[Recalled]:
        """Return what is known of the drives of this run, in their order."""
        return self._database.guarded(lambda: self._database.transaction(lambda: self._recalled(found),
                                                                         is_writing=False))

    def expect(self, addresses: Sequence[str]) -> List[Identity]:
        """Read ahead what is known of the drives last seen at these addresses; return their identities."""
        wanted = set(addresses)
        here = {place.drive for place in self.places if place.address in wanted and not place.gone}
        there = [record.identity for record in self.records if record.number in here]
        self._expected = {drive_matching.name(identity): recalled for identity,
                          recalled in zip(there, self.recall(there))
                          if recalled.match.record}
        return there

    def expected(self, identity: Identity) -> Optional[Recalled]:
        """Return what recall() tells of a drive that is where it was, unless another one of this run looks like it or
        somebody writes meanwhile; None of any other drive.
        """
        return self._expected.get(drive_matching.name(identity))

    def at(self, address: str) -> Optional[Record]:
        """Return the drive that is at an address as far as history knows: the name of one that sleeps."""
        there = [place.drive for place in self.places if place.address == address and not place.gone]
        return next((record for record in self.records if [record.number] == there), None)

    def all_of(self, record: Record) -> Histories:
        """Return all that history holds of a drive, each point of the moving series as well."""
        return self._database.guarded(lambda: self._database.transaction(lambda: self._all_of(record.number),
                                                                         is_writing=False))

    def examine(self) -> None:
        """Read all that there is, as no check does. Damage is dealt with as ever, and told by `loss`."""
        self._database.guarded(lambda: self._database.transaction(self._examined, is_writing=False), EXAMINED)
        self._database.guarded(self._read)

    def keep(self, reads: Sequence[Kept], scope: Scope) -> List[str]:
        """Write what this check has read; return a sentence for each drive that is not remembered."""
        try:
            notes = self._database.guarded(lambda: self._database.commit(self.now, lambda: self._kept(reads, scope)))
            with self.folder.state:
                directory.remove_mark(self.folder)
                self._database.sync(self.now)
            return notes
        except HistoryUnusable as error:
            with self.folder.state:
                directory.leave_mark(self.folder, str(error))
            raise

    def keep_past(self, identity: Identity, past: Mapping[Tuple[Key, int], Sequence[Point]], until: int = 0) -> int:
        """Write what another program has read of a drive before history did; return how many points.

        past: by series and pace, oldest first. Of the time that history itself knows, nothing is touched. until: when
        the other program read the drive last, seconds since 1970; 0: at the newest point.
        """
        return self._database.guarded(lambda: self._database.commit(
            self.now, lambda: self._past_kept(identity, past, until)))

    def forget(self, serial: str) -> int:
        """Remove the drives with a serial number and all that is known of them; return how many."""
        return self._database.guarded(lambda: self._database.commit(self.now, lambda: self._forgotten(serial)))

    # --- opening -----------------------------------------------------------------------

    def _open(self) -> None:
        """Open the database and read it, once machine, clock and file system are as they should be."""
        self._database.open()
        self._read()
        owner = self._facts.get('machine', '')
        if self._writes and self._machine and owner and owner != self._machine:
            self._database.begin_anew(CLONED)
            self._read()
        self._count_commits()
        self._ask_the_clock()
        if self._writes:
            self._try_to_write()

    def _fill(self, is_new: bool, why: str) -> None:
        """Give new tables their facts, and tables of an older version the checksums that they lack."""
        if is_new:
            self._set(begun=self.now, machine=self._machine, **({'lost': self.now, 'why': why} if why else {}))
        else:
            rows.sum_points(self._database, [number for number, in self._database.run('SELECT number FROM drive')])
        self._database.count(self.now)

    def _count_commits(self) -> None:
        """Find out whether commits are missing, or may be."""
        missing, unsynced = self._database.missing(self._facts, self.now), self._database.unsynced_since()
        if missing:
            if self._writes:
                self._database.commit(self.now, lambda: self._set(**missing))
                self._read()
            self._moments = {**self._moments, **missing}
        elif unsynced is not None:
            self.restarted = (f'the system has restarted since the last check; if it lost power, readings since '
                              f'{_day(unsynced or self.begun)} may be missing; earlier readings still count')

    def _ask_the_clock(self) -> None:
        """Date anew what a wrong clock has dated. Raises HistoryUnusable while nobody can tell which time is right."""
        latest, since = max((record.last_read for record in self.records), default=0), self._moments.get('behind', 0)
        if self._writes and clock.is_settled(self.now, latest, since):
            self._database.commit(self.now, self._date_anew)
            return self._read()
        doubt = clock.doubt(self.now, latest, since)
        if self._writes and bool(doubt) != (since >= clock.EARLIEST):
            self._database.commit(self.now, lambda: self._set(behind=self.now if doubt else 0))
        if doubt:
            raise HistoryUnusable(doubt)
        return None

    def _date_anew(self) -> None:
        """Date all that lies ahead of the clock as of just now: the numbers are right, the times were not."""
        run, now = self._database.run, self.now - 1
        run('DELETE FROM point WHERE time > ? AND time < (SELECT max(time) FROM point AS newest WHERE newest.series = '
            'point.series)', now)
        run('UPDATE OR REPLACE point SET time = ?, gap = 0 WHERE time > ?', now, now)
        run('UPDATE drive SET first_read = min(first_read, ?), last_read = min(last_read, ?)', now, now)
        run('UPDATE place SET first = min(first, ?), gone = min(gone, ?)', now, now)
        run('UPDATE series SET absent = min(absent, ?)', now)
        rows.sum_points(self._database, [record.number for record in self.records])
        self._set(behind=0, thinned=now)

    def _try_to_write(self) -> None:
        """Find out before the answer is printed whether anything can be written after it."""
        since, why = directory.mark(self.folder)
        if since:
            self.not_written = f'nothing could be written since {_day(since)}' + (f': {why}' if why else '')
        self._database.transaction(tuple)

    # --- reading -----------------------------------------------------------------------

    def _read(self) -> None:
        self._database.transaction(self._all, is_writing=False)

    def _all(self) -> None:
        self._facts, self.records, self.places = rows.head(self._database)
        self._moments = {name: clock.moment(self._facts[name]) for name in MOMENTS if name in self._facts}
        self._version, self._last, self._expected = self._database.version(), None, {}

    def _recalled(self, found: Sequence[Identity]) -> List[Recalled]:
        """Return what is known of drives; read again only where another check has written, or others are asked for."""
        if self._version != self._database.version():
            self._all()
        if self._last is None or self._last[0] != found:
            matched = drive_matching.matches(found, self.records, self._is_same)
            stored = self._stored([match.record for match in matched if match.record])
            self._last = found, [Recalled(match, stored[match.record.number] if match.record else {})
                                 for match in matched]
        return self._last[1]

    def _stored(self, records: Sequence[Record]) -> Dict[int, Mapping[Key, rows.Stored]]:
        """Return the series of drives by their numbers, as they were read ahead or from the database."""
        known = {each.match.record.number: each.stored for each in self._expected.values() if each.match.record}
        lacking = [record for record in records if record.number not in known]
        return {**known, **(rows.stored(self._database, lacking, rows.RECENT) if lacking else {})}

    def _all_of(self, drive: int) -> Dict[Key, History]:
        # The record of who asks may be older than this transaction.
        found = [record for record in rows.head(self._database).records if record.number == drive]
        stored = rows.stored(self._database, found, rows.EVERY).get(drive, {})
        return {key: row.history for key, row in stored.items() if row.pace != LATELY}

    def _examined(self) -> None:
        if self._database.run('PRAGMA integrity_check(1)') != [('ok',)]:
            raise ValueError('SQLite finds the file damaged')
        for record in rows.head(self._database).records:
            rows.stored(self._database, [record], rows.EVERY)

    # --- writing, inside a transaction --------------------------------------------------

    def _kept(self, reads: Sequence[Kept], scope: Scope) -> List[str]:
        known = [(read, read.identity) for read in reads if read.identity is not None]
        recalled = self._recalled([identity for _, identity in known])
        seen: Dict[str, Optional[int]] = {read.address: None for read in reads}
        notes, again, changed = [], [], []
        for (read, identity), history in zip(known, recalled):
            record, note = self._record(identity, history)
            if record is None:
                notes.append(f'{read.address} {note}')
                continue
            seen[read.address] = record.number
            # else another check has read it later than this one
            if record.last_read < self.now or not history.match.record:
                is_changed, is_urgent = rows.write_readings(self._database, record, read.observations, history.stored,
                                                            self.now)
                changed += [record.number] if is_changed else []
                self._database.is_urgent |= is_urgent
                again.append((record, identity))
        rows.read_again(self._database, again, self.now)
        rows.sum_series(self._database, changed)
        moved = set(updated(self.places, seen, scope, self.now)) - set(self.places)
        rows.write_places(self._database, moved)
        self._database.is_urgent |= bool(moved)
        self._thin()
        self._forget_picture()
        return notes

    def _record(self, identity: Identity, history: Recalled) -> Tuple[Optional[Record], str]:
        """Return the record of a drive, a new one for a new drive; or None, and why."""
        record, note = history.match
        if not (record or note) and len(self.records) >= MOST_DRIVES:
            note = f'is not remembered: history knows {MOST_DRIVES} drives already; history --forget SERIAL makes room'
        return record if record or note else rows.new_drive(self._database, identity, self.now), note

    def _past_kept(self, identity: Identity, past: Mapping[Tuple[Key, int], Sequence[Point]], until: int) -> int:
        match, stored = self._recalled([identity])[0]
        if match.note:
            raise HistoryUnusable(f'{identity.model} {identity.serial} {match.note}')
        newest = until or max((points[-1].time for points in past.values() if points), default=self.now)
        record = match.record or rows.new_drive(self._database, identity, newest)
        written = sum(rows.write_past(self._database, record, stored, key, pace, points)
                      for (key, pace), points in past.items() if points)
        rows.sum_points(self._database, [record.number])
        self._set(**{_taken(record.number): self.now})
        self._forget_picture()
        return written

    def _forgotten(self, serial: str) -> int:
        gone = [record.number for record in rows.head(self._database).records if record.identity.serial == serial]
        for number in gone:
            rows.remove(self._database, number)
            self._database.run('DELETE FROM fact WHERE name = ?', _taken(number))
        self._forget_picture()
        return len(gone)

    def _thin(self) -> None:
        """Once a day, thin what is older than it is kept whole; at most a month's worth, since a clock can be wrong."""
        last, done = (self._moments.get(name, self.begun) for name in ('thinned', 'thinned_until'))
        if 0 <= self.now - last < DAY:
            return
        until = min(self.now - series.KEPT_DAILY, done + MONTH)
        rows.thin(self._database, until, self.now)
        self._set(thinned=self.now, thinned_until=max(until, done))

    def _forget_picture(self) -> None:
        """What was read before this process wrote is old; its own writing does not show in data_version."""
        self._version = _NOT_READ

    def _set(self, **facts: object) -> None:
        rows.write_facts(self._database, **facts)


def _taken(drive: int) -> str:
    """Return the name of the fact about the log of a drive."""
    return f'{TAKEN}{drive}'


def _day(moment: int) -> str:
    return time.strftime('%Y-%m-%d %H:%M', time.localtime(moment))
