"""Access to the SQLite file; only this module uses sqlite3, and each failure becomes an error message.

A check waits for the file no longer than PATIENCE and BUDGET allow. It never closes the file: the last process to close
it waits for the disk, 121 ms where synchronous NORMAL takes 0.2. Processes of this program end without closing it.
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
    # the C module behind sqlite3; sqlite3 itself imports datetime to convert dates: 2 ms of a check
    import _sqlite3 as sqlite3

BUDGET = 0.5            # seconds of CPU for one read or write; protects against a file inflated on purpose
# Pages of -wal that trigger a checkpoint, which waits for the disk for 33 ms or more: 256 KiB, the checks of hours.
# A limit of 16 pages triggered a checkpoint at every second check of 24 drives.
_LOG_PAGES = 64
_LOG_SIZE = 2 ** 18     # bytes; -wal is truncated to it after the first check of a day, which writes many points
# A forged schema cannot run functions of this program; a power cut loses at most the content of -wal.
_SETTINGS = ('trusted_schema = OFF', 'synchronous = NORMAL', f'wal_autocheckpoint = {_LOG_PAGES}',
             f'journal_size_limit = {_LOG_SIZE}')
_INSTRUCTIONS = 20_000  # of SQLite between two checks of the clock

# Start of SQLite's message -> its meaning and the next step. Any other error of SQLite counts as damage.
_HELD = 'another process has locked it; to see which, use fuser'
_REASONS = {
    'database or disk is full': 'the disk is full; free some space',
    'attempt to write a readonly': f'it cannot be written; {directory.ADVICE}',
    'unable to open': f'it cannot be opened; {directory.ADVICE}',
    'database is locked': _HELD, 'database table is locked': _HELD, 'database schema is locked': _HELD,
    'locking protocol': _HELD,
    'interrupted': 'it takes too long to read; to start a new history, move it away',
    'disk I/O': 'the system cannot read or write it; see the kernel log: dmesg -T | tail -50'}
# Why the old file is not used any more; never in SQLite's words, which would quote its content.
DAMAGED = 'the old one was damaged'
GONE = 'the old one was gone or empty'
SET_ASIDE = 'the old one was set aside'
CLONED = 'the old one is that of another machine, as after a disk was cloned (machine-id)'

APPLICATION = 0x534D4152  # "SMAR": identifies the program that owns the database, for file(1)
# The steps from each version of the tables to the next; their number is the version. A released step never changes;
# a new version adds a step at the end.
STEPS = ((
    # Facts about the history itself: begun, machine, lost and why, behind (see clock), thinned; taken N: the smartd log
    # of drive N was imported. Since the second version: sequence and written of the newest commit (see commits),
    # missing, sum (see checksums).
    'CREATE TABLE fact (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID',
    'CREATE TABLE drive (number INTEGER PRIMARY KEY, protocol TEXT NOT NULL, model TEXT NOT NULL, firmware TEXT NOT '
    'NULL, serial TEXT NOT NULL, wwn TEXT NOT NULL, first_read INTEGER NOT NULL, last_read INTEGER NOT NULL)',
    'CREATE TABLE place (address TEXT NOT NULL, drive INTEGER NOT NULL, first INTEGER NOT NULL, gone INTEGER NOT NULL, '
    'scanned INTEGER NOT NULL, PRIMARY KEY (address, drive)) WITHOUT ROWID',
    # absent: when the series was last read, if later checks had no number for it; 0: it is read with its drive.
    'CREATE TABLE series (number INTEGER PRIMARY KEY, drive INTEGER NOT NULL, role TEXT NOT NULL, definition TEXT NOT '
    'NULL, pace INTEGER NOT NULL, absent INTEGER NOT NULL DEFAULT 0, UNIQUE (drive, role, definition))',
    'CREATE TABLE point (series INTEGER NOT NULL, time INTEGER NOT NULL, number REAL NOT NULL, gap INTEGER NOT NULL, '
    'PRIMARY KEY (series, time)) WITHOUT ROWID',
), (
    # Checksums (see checksums): of the series of a drive; of all points of a series but the newest; of all its points.
    'ALTER TABLE drive ADD COLUMN sum INTEGER NOT NULL DEFAULT 0',
    'ALTER TABLE series ADD COLUMN settled INTEGER NOT NULL DEFAULT 0',
    'ALTER TABLE series ADD COLUMN sum INTEGER NOT NULL DEFAULT 0',
), (
    'ALTER TABLE series RENAME COLUMN role TO metric',))


class Database:
    """The database of one folder, opened by one process. Methods raise HistoryUnusable on any failure."""

    def __init__(self, place: HistoryFolder, writes: bool, fill: Callable[[bool, str], None]) -> None:
        """Create the object without opening the file.

        fill: called inside the transaction that creates or upgrades the tables, with whether they are new and why the
        file is new ('': it is the first one).
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
        """Open the file, create it if it is missing, and upgrade its tables to this program's version."""
        with directory.locked(self.folder, alone=False) if self._writes else nullcontext():
            # Read first, so that commits made from now on do not count as lost.
            self.commits = commits.read(self.folder)
            # Checked before SQLite opens it: closing the file later would release SQLite's locks.
            self._inode = directory.which_file(self.folder, is_made=self._writes)
            self._connect()
            version: int = self.value('PRAGMA user_version')  # SQLite opens log and index only now
        if version > len(STEPS) and self.commits and self.commits.version <= len(STEPS):
            raise ValueError('no program has written this version')
        if version > len(STEPS):
            raise HistoryUnusable(f'{self.folder.file} is from a newer version of this program (tables {version}, here '
                                  f'{len(STEPS)}); upgrade this one')
        if version < len(STEPS):
            self._upgrade()

    def guarded(self, work: Callable[[], T], budget: float = BUDGET) -> T:
        """Return the result of *work*, run as the folder's owner; if the file is damaged, run it again on a new file.

        budget: seconds of CPU. Raises HistoryUnusable.
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
        """Set the file aside, unless another check has done so, and open a new one. why: the reason, for messages."""
        self._why = why
        self._connection.close()
        with directory.locked(self.folder, alone=True):
            if directory.which_file(self.folder) == self._inode:
                directory.set_aside(self.folder)
        self.open()

    def run(self, statement: str, *values: object) -> Sequence[tuple[Any, ...]]:
        """Return the rows that a statement selects."""
        return self._connection.execute(statement, values).fetchall()

    def run_all(self, statement: str, rows: Sequence[tuple[object, ...]]) -> None:
        """Run a statement for each row of values."""
        self._connection.executemany(statement, rows)

    def value(self, statement: str, *values: object) -> Any:
        """Return the single value that a statement selects."""
        return self.run(statement, *values)[0][0]

    def version(self) -> tuple[int, int]:
        """Return a pair of numbers that changes once another process has written, or a new file was opened."""
        # SQLite counts per connection, and starts with the same number on a new file.
        return self._connections, self.value('PRAGMA data_version')

    def transaction(self, work: Callable[[], T], is_writing: bool = True) -> T:
        """Return the result of *work*, run as one transaction: either everything is written or nothing."""
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
            # Any other error comes from the content of the tables: an invalid text, or an index that contradicts a row.
            # The next check would fail on it as well.
            reason = next((words for start, words in _REASONS.items() if str(error).startswith(start)), '')
            if not reason or ('readonly' in str(error) and directory.is_writable(self.folder)):
                raise _Damaged(self.folder.file) from None
            raise HistoryUnusable(f'{self.folder.file}: {reason}') from None
        except (TypeError, ValueError, OverflowError, LookupError):
            raise _Damaged(self.folder.file) from None

    def _connect(self) -> None:
        path = self.folder.file.replace('%', '%25').replace('?', '%3f').replace('#', '%23')
        # Without a log, a reader without write permission could not create its index; "immutable" needs none, and is
        # safe because no process is writing.
        mode = 'mode=rw' if self._writes else 'mode=ro' if os.path.exists(self.folder.file + '-wal') else 'immutable=1'
        self._connection = sqlite3.connect(f'file:{path}?{mode}', uri=True, timeout=directory.PATIENCE,
                                           isolation_level=None)
        self._connections += 1
        self._connection.set_progress_handler(lambda: time.process_time() > self._deadline, _INSTRUCTIONS)
        for setting in _SETTINGS:
            self.run(f'PRAGMA {setting}')

    def _upgrade(self) -> None:
        if not self._writes:
            raise HistoryUnusable(f'{self.folder.file} is from an older version of this program; the next check '
                                  f'upgrades it')
        is_ours = self.commits is not None
        # Without a record, the log would look like one whose record was lost.
        self.commits = commits.change(self.folder, lambda record: record)
        with directory.locked(self.folder, alone=True):
            if self.value('PRAGMA journal_mode = WAL') != 'wal':
                raise HistoryUnusable(f'{self.folder.path} is on a file system that SQLite cannot lock; use another '
                                      f'directory with --state-dir')
            if self.transaction(lambda: self._take_steps(is_ours)):
                # Tables that exist only in the log would disappear if the log were damaged. Not synced, since there is
                # nothing to lose yet: the first check syncs after its output is printed.
                for statement in ('synchronous = OFF', 'wal_checkpoint(TRUNCATE)', 'synchronous = NORMAL'):
                    self.run(f'PRAGMA {statement}')

    def _take_steps(self, is_ours: bool) -> bool:
        """Upgrade the tables; return whether there were none. is_ours: there is a record of their commits."""
        version: int = self.value('PRAGMA user_version')  # another check may have been here before the lock
        if version == 0 and self.value('SELECT count(*) FROM sqlite_master'):
            if is_ours:
                raise ValueError('the version of these tables is lost')
            raise HistoryUnusable(f'{self.folder.file} is the database of another program; to start a history, '
                                  f'move it away')
        for statement in (statement for step in STEPS[version:] for statement in step):
            self.run(statement)
        self.run(f'PRAGMA application_id = {APPLICATION}')
        self.run(f'PRAGMA user_version = {len(STEPS)}')
        if version < len(STEPS):
            self._fill(version == 0, self._why or self._why_empty())
        return version == 0

    def _why_empty(self) -> str:
        """Return why the tables are missing, or '' if they never existed."""
        # A check that was killed while setting the file aside has left the file, but no reason.
        if os.path.lexists(self.folder.aside):
            return SET_ASIDE
        return GONE if self.commits and self.commits.sequence else ''


class _Damaged(HistoryUnusable):
    """The file is damaged: this program has not written it in this form. Its content is not quoted."""

    def __init__(self, file: str) -> None:
        super().__init__(f'{file} is damaged; the next check sets it aside')
