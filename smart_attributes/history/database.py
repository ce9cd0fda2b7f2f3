"""One SQLite file: the only module that knows sqlite3. Each failure becomes a sentence.

A check never waits for it longer than its patience and its budget, and never closes it: the last to close waits for the
disk, 121 ms where synchronous NORMAL takes 0.2. Processes of this program end without closing anything.
"""
from __future__ import annotations

import os
import time
from contextlib import nullcontext

from ..errors import HistoryUnusable
from ..typed import TYPE_CHECKING
from . import commits, directory

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Sequence
    from typing import Any, TypeVar

    from .commits import Commits
    from .directory import HistoryFolder

    T = TypeVar('T')
else:
    # what sqlite3 is made of; that imports datetime, for texts that look like dates: 2 ms of a check
    import _sqlite3 as sqlite3

BUDGET = 0.5            # seconds of CPU for one reading or writing, before a file that somebody blew up is left alone
# Of -wal, before they are worked in, which waits for the disk, 33 ms and more: 256 KiB, the checks of hours.
# 16 pages were worked in at every second check of 24 drives.
_LOG_PAGES = 64
_LOG_SIZE = 2 ** 18     # bytes that -wal is cut to, after the first check of a day has written a point of each series
# A forged schema runs nothing of ours; a power cut may cost the content of -wal, and no more.
_SETTINGS = ('trusted_schema = OFF', 'synchronous = NORMAL', f'wal_autocheckpoint = {_LOG_PAGES}',
             f'journal_size_limit = {_LOG_SIZE}')
_INSTRUCTIONS = 20_000  # of SQLite's machine between two looks at the clock

# The beginning of SQLite's message -> its meaning and the next step. Everything else that SQLite finds wrong is damage.
_HELD = 'another process holds it; fuser tells which'
_REASONS = {
    'database or disk is full': 'the disk is full; make room',
    'attempt to write a readonly': f'it cannot be written; {directory.ADVICE}',
    'unable to open': f'it cannot be opened; {directory.ADVICE}',
    'database is locked': _HELD, 'database table is locked': _HELD, 'database schema is locked': _HELD,
    'locking protocol': _HELD,
    'interrupted': 'it takes too long to read; move it away, and history begins anew',
    'disk I/O': 'the system refuses to read or write it; see the kernel log'}
# Why the old file is not used any more; never in SQLite's words, which would quote its content.
DAMAGED = 'the old one was damaged'
GONE = 'the old one was gone or empty'
SET_ASIDE = 'the old one was set aside'
CLONED = 'the old one is that of another machine, as after a disk was cloned (machine-id)'

APPLICATION = 0x534D4152  # "SMAR": which program's database it is, for file(1)
# The tables, as the steps that lead from each version to the next; their number is the version. A released step never
# changes; a new version is a new step at the end.
STEPS = ((
    # About history itself: begun, machine, lost and why, behind (see clock), thinned; taken N: smartd's log of a drive;
    # since the second version sequence and written of the newest commit (see commits), missing, sum (see checksums).
    'CREATE TABLE fact (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID',
    'CREATE TABLE drive (number INTEGER PRIMARY KEY, protocol TEXT NOT NULL, model TEXT NOT NULL, firmware TEXT NOT '
    'NULL, serial TEXT NOT NULL, wwn TEXT NOT NULL, first_read INTEGER NOT NULL, last_read INTEGER NOT NULL)',
    'CREATE TABLE place (address TEXT NOT NULL, drive INTEGER NOT NULL, first INTEGER NOT NULL, gone INTEGER NOT NULL, '
    'scanned INTEGER NOT NULL, PRIMARY KEY (address, drive)) WITHOUT ROWID',
    # absent: when it was last read, where later checks had no number for it; 0: whenever its drive was read.
    'CREATE TABLE series (number INTEGER PRIMARY KEY, drive INTEGER NOT NULL, role TEXT NOT NULL, definition TEXT NOT '
    'NULL, pace INTEGER NOT NULL, absent INTEGER NOT NULL DEFAULT 0, UNIQUE (drive, role, definition))',
    'CREATE TABLE point (series INTEGER NOT NULL, time INTEGER NOT NULL, number REAL NOT NULL, gap INTEGER NOT NULL, '
    'PRIMARY KEY (series, time)) WITHOUT ROWID',
), (
    # Checksums, see checksums: of a drive's series; of the points of a series, and of all of them but the newest.
    'ALTER TABLE drive ADD COLUMN sum INTEGER NOT NULL DEFAULT 0',
    'ALTER TABLE series ADD COLUMN settled INTEGER NOT NULL DEFAULT 0',
    'ALTER TABLE series ADD COLUMN sum INTEGER NOT NULL DEFAULT 0',
), (
    'ALTER TABLE series RENAME COLUMN role TO metric',))


class Database:
    """The file of one folder, open in one process. Methods raise HistoryUnusable for whatever goes wrong."""

    def __init__(self, place: HistoryFolder, writes: bool, fill: Callable[[bool, str], None]) -> None:
        """fill: called inside the transaction that makes or changes the tables: whether there were none, and why there
        is a new file ('': it is the first).
        """
        self.folder, self._writes, self._fill = place, writes, fill
        self.commits: Commits | None = None   # the record as it was before the file was opened
        self._deadline, self._why = 0.0, ''
        self._connections = 0

    @property
    def tables(self) -> int:
        """Return the version of the tables."""
        return len(STEPS)

    def open(self) -> None:
        """Open the file, made where it is missing, its tables brought to this program's version."""
        with directory.locked(self.folder, alone=False) if self._writes else nullcontext():
            # Read first: what is committed from now on is no loss.
            self.commits = commits.read(self.folder)
            # Looked at before SQLite does: a close of the file after SQLite's would take SQLite's locks away.
            self._inode = directory.which_file(self.folder, is_made=self._writes)
            self._connect()
            version: int = self.value('PRAGMA user_version')  # SQLite opens log and index only now
        if version > len(STEPS) and self.commits and self.commits.version <= len(STEPS):
            raise ValueError('no program has written this version')
        if version > len(STEPS):
            raise HistoryUnusable(f'{self.folder.file} is of a newer version of this program (tables {version}, here '
                                  f'{len(STEPS)}); update this one')
        if version < len(STEPS):
            self._upgrade()

    def guarded(self, work: Callable[[], T], budget: float = BUDGET) -> T:
        """Return the result of *work*, done as the folder's owner; after damage, once more on a new file.

        budget: seconds of CPU.
        """
        with self.folder.state:
            try:
                return self._within_budget(work, budget)
            except _Damaged:
                if not self._writes:
                    raise
            self._within_budget(lambda: self.begin_anew(DAMAGED))
            return self._within_budget(work, budget)

    def begin_anew(self, why: str) -> None:
        """Set the file aside, unless another check has done so, and open a new one."""
        self._why = why
        self._connection.close()
        with directory.locked(self.folder, alone=True):
            if directory.which_file(self.folder) == self._inode:
                directory.set_aside(self.folder)
        self.open()

    def run(self, statement: str, *values: object) -> Sequence[tuple[Any, ...]]:
        """Return the rows that a statement gives."""
        return self._connection.execute(statement, values).fetchall()

    def run_all(self, statement: str, rows: Sequence[tuple[object, ...]]) -> None:
        """Run a statement for each row of values."""
        self._connection.executemany(statement, rows)

    def value(self, statement: str, *values: object) -> Any:
        """Return the one value that a statement gives."""
        return self.run(statement, *values)[0][0]

    def version(self) -> tuple[int, int]:
        """Return a number that changes as soon as another process has written, or this is another file."""
        # SQLite counts for each connection, and on a new file it begins where it began on the old one.
        return self._connections, self.value('PRAGMA data_version')

    def transaction(self, work: Callable[[], T], is_writing: bool = True) -> T:
        """Return the result of *work*; all of it is written, or nothing."""
        self.run('BEGIN IMMEDIATE' if is_writing else 'BEGIN')
        try:
            result = work()
            self.run('COMMIT')
        except BaseException:
            if self._connection.in_transaction:
                self.run('ROLLBACK')
            raise
        return result

    def _within_budget(self, work: Callable[[], T], budget: float = BUDGET) -> T:
        self._deadline = time.process_time() + budget
        try:
            return work()
        except sqlite3.Error as error:
            # Whatever else keeps SQLite from reading and writing tables of ours is in them: a text that is none, an
            # index that a row contradicts. The next check would meet it as well.
            reason = next((words for start, words in _REASONS.items() if str(error).startswith(start)), '')
            if not reason or ('readonly' in str(error) and directory.is_writable(self.folder)):
                raise _Damaged(self.folder.file) from None
            raise HistoryUnusable(f'{self.folder.file}: {reason}') from None
        except (TypeError, ValueError, OverflowError, LookupError):
            raise _Damaged(self.folder.file) from None

    def _connect(self) -> None:
        path = self.folder.file.replace('%', '%25').replace('?', '%3f').replace('#', '%23')
        # Where there is no log, a reader without rights could not make the index of it; nobody writes then.
        mode = 'mode=rw' if self._writes else 'mode=ro' if os.path.exists(self.folder.file + '-wal') else 'immutable=1'
        self._connection = sqlite3.connect(f'file:{path}?{mode}', uri=True, timeout=directory.PATIENCE,
                                           isolation_level=None)
        self._connections += 1
        self._connection.set_progress_handler(lambda: time.process_time() > self._deadline, _INSTRUCTIONS)
        for setting in _SETTINGS:
            self.run(f'PRAGMA {setting}')

    def _upgrade(self) -> None:
        if not self._writes:
            raise HistoryUnusable(f'{self.folder.file} is of an older version of this program; the next check brings '
                                  f'it up to date')
        is_ours = self.commits is not None
        self.commits = commits.change(self.folder, lambda record: record)  # a log without it would be one that lost it
        with directory.locked(self.folder, alone=True):
            if self.value('PRAGMA journal_mode = WAL') != 'wal':
                raise HistoryUnusable(f'{self.folder.path} is on a file system that SQLite cannot share; name another '
                                      f'with --state-dir')
            if self.transaction(lambda: self._take_steps(is_ours)):
                # Tables that are in the log alone would look like none where the log is damaged. Not synced, since
                # nothing is lost yet: the first check does it once its answer is out.
                for statement in ('synchronous = OFF', 'wal_checkpoint(TRUNCATE)', 'synchronous = NORMAL'):
                    self.run(f'PRAGMA {statement}')

    def _take_steps(self, is_ours: bool) -> bool:
        """Bring the tables up to date; return whether there were none. is_ours: there is a record of their commits."""
        version: int = self.value('PRAGMA user_version')  # another check may have been here before the lock
        if version == 0 and self.value('SELECT count(*) FROM sqlite_master'):
            if is_ours:
                raise ValueError('the version of these tables is lost')
            raise HistoryUnusable(f'{self.folder.file} is the database of another program; move it away, and history '
                                  f'begins')
        for statement in (statement for step in STEPS[version:] for statement in step):
            self.run(statement)
        self.run(f'PRAGMA application_id = {APPLICATION}')
        self.run(f'PRAGMA user_version = {len(STEPS)}')
        if version < len(STEPS):
            self._fill(version == 0, self._why or self._why_empty())
        return version == 0

    def _why_empty(self) -> str:
        """Return why there are no tables, '' where there never were any."""
        # A check that was killed in the middle of setting it aside has left no reason, but the file.
        if os.path.lexists(self.folder.aside):
            return SET_ASIDE
        return GONE if self.commits and self.commits.sequence else ''


class _Damaged(HistoryUnusable):
    """The file is not as this program has written it. Its content is not quoted."""

    def __init__(self, file: str) -> None:
        super().__init__(f'{file} is damaged; the next check sets it aside')
