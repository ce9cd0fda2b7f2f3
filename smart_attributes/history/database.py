"""Access to the SQLite file; only this module uses sqlite3, and each failure becomes an error message.

A check waits for the file no longer than PATIENCE and BUDGET allow. It never closes the file: the last process to close
it waits for the disk, 121 ms where synchronous NORMAL takes 0.2. Processes of this program end without closing it, so
SQLite never starts its log from the beginning: shorten_log() does that once the log is long.
"""
from __future__ import annotations

import os
import time
from contextlib import nullcontext, suppress

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
SALVAGE = 5.0           # seconds of CPU for copying what is left of a damaged file: 5 MB take 0.5
# Bytes of the log (-wal) from which it is copied into the file and truncated, which waits for the disk for 33 ms or
# more. They are the checks of an hour or more: 24 drives with changing values write 33 to 84 kB at each check.
LOG_SIZE = 2 ** 18
# A forged schema cannot run functions of this program; a power cut loses at most the content of -wal.
_SETTINGS = ('trusted_schema = OFF', 'synchronous = NORMAL', 'wal_autocheckpoint = 0')
_INSTRUCTIONS = 20_000  # of SQLite between two checks of the clock
_WRONG_CONTENT = (TypeError, ValueError, OverflowError, LookupError)   # what reading the rows of a damaged file raises

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
SNAPSHOT = 'the old one is that of a snapshot before the release of 2.0.0'
CLONED = 'the old one is that of another machine, as after a disk was cloned (machine-id)'

APPLICATION = 0x534D4152  # "SMAR": identifies the program that owns the database, for file(1)
# Version of the tables. 1 to 3 were those of snapshots before 2.0.0, which nobody has: such a file is set aside.
VERSION = 4
_TABLES = (
    # Facts about the history itself: begun, machine, lost, lost_before, why and losers (see store), behind (see clock),
    # thinned, sequence and written of the newest commit (see commits), missing, sum (see checksums); taken N: the
    # smartd log of drive N was imported.
    'CREATE TABLE fact (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID',
    # sum: checksum of the drive's series. seal: checksum of this row and of the drive's places.
    'CREATE TABLE drive (number INTEGER PRIMARY KEY, protocol TEXT NOT NULL, model TEXT NOT NULL, firmware TEXT NOT '
    'NULL, serial TEXT NOT NULL, wwn TEXT NOT NULL, first_read INTEGER NOT NULL, last_read INTEGER NOT NULL, '
    'sum INTEGER NOT NULL, seal INTEGER NOT NULL DEFAULT 0)',
    'CREATE TABLE place (address TEXT NOT NULL, drive INTEGER NOT NULL, first INTEGER NOT NULL, gone INTEGER NOT NULL, '
    'scanned INTEGER NOT NULL, slot TEXT NOT NULL, PRIMARY KEY (address, drive)) WITHOUT ROWID',
    # absent: when the series was last read, if later checks had no number for it; 0: it is read with its drive.
    # settled, sum: checksums of all points but the newest, and of all points.
    'CREATE TABLE series (number INTEGER PRIMARY KEY, drive INTEGER NOT NULL, metric TEXT NOT NULL, definition TEXT '
    'NOT NULL, pace INTEGER NOT NULL, absent INTEGER NOT NULL DEFAULT 0, settled INTEGER NOT NULL DEFAULT 0, '
    'sum INTEGER NOT NULL DEFAULT 0, UNIQUE (drive, metric, definition))',
    'CREATE TABLE point (series INTEGER NOT NULL, time INTEGER NOT NULL, number REAL NOT NULL, gap INTEGER NOT NULL, '
    'PRIMARY KEY (series, time)) WITHOUT ROWID')


class Connection:
    """An open database file. Methods raise sqlite3.Error."""

    _connection: sqlite3.Connection
    _deadline = 0.0

    def connect(self, path: str, mode: str, budget: float) -> None:
        """Open a file. mode: a parameter of SQLite's URI. budget: seconds of CPU for all that follows."""
        path = path.replace('%', '%25').replace('?', '%3f').replace('#', '%23')
        self.allow(budget)
        self._connection = sqlite3.connect(f'file:{path}?{mode}', uri=True, timeout=directory.PATIENCE,
                                           isolation_level=None)
        self._connection.set_progress_handler(lambda: time.process_time() > self._deadline, _INSTRUCTIONS)
        for setting in _SETTINGS:
            self.run(f'PRAGMA {setting}')

    def allow(self, budget: float) -> None:
        """Allow so many seconds of CPU from now on."""
        self._deadline = time.process_time() + budget

    def run(self, statement: str, *values: object) -> Sequence[tuple[Any, ...]]:
        """Return the rows that a statement selects."""
        return self._connection.execute(statement, values).fetchall()

    def run_all(self, statement: str, rows: Sequence[tuple[object, ...]]) -> None:
        """Run a statement for each row of values."""
        self._connection.executemany(statement, rows)

    def value(self, statement: str, *values: object) -> Any:
        """Return the single value that a statement selects."""
        return self.run(statement, *values)[0][0]

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


class OldFile(Connection):
    """A damaged file that was set aside, of which each part is read alone."""

    def __init__(self, folder: HistoryFolder) -> None:
        """Open the file. If it is missing, no part of it can be read."""
        self._connection = sqlite3.connect(':memory:')
        if os.path.lexists(folder.damaged):
            self.part(lambda: self.connect(folder.damaged, 'mode=rw', SALVAGE))

    def part(self, work: Callable[[], T]) -> T | None:
        """Return the result of *work*; None if what it reads is damaged."""
        try:
            return work()
        except (sqlite3.Error, *_WRONG_CONTENT):
            return None


class Database(Connection):
    """The database of one folder, opened by one process. Methods raise HistoryUnusable on any failure."""

    def __init__(self, place: HistoryFolder, writes: bool, fill: Callable[[str], None]) -> None:
        """Create the object without opening the file.

        fill: called inside the transaction that creates the tables, with why the file is new ('': it is the first one).
        """
        self.folder, self._writes, self._fill = place, writes, fill
        self.commits: Commits | None = None   # the record as it was before the file was opened
        self._why = ''
        self._connections = 0

    def open(self) -> None:
        """Open the file, and create it if it is missing. Tables of a snapshot are set aside."""
        with directory.locked(self.folder, alone=False) if self._writes else nullcontext():
            # Read first, so that commits made from now on do not count as lost.
            self.commits = commits.read(self.folder)
            # Checked before SQLite opens it: closing the file later would release SQLite's locks.
            self._inode, version = directory.which_file(self.folder, is_made=self._writes)
            # SQLite would read the log of a snapshot, which can have gigabytes.
            is_old = self._is_of_a_snapshot(version)
            if not is_old:
                version = self._opened()
                is_old = self._is_of_a_snapshot(version)
            if version == VERSION and self._writes:   # a check that was killed has copied everything
                directory.put_aside(self.folder)
        if is_old and not self._writes:
            raise HistoryUnusable(f'{self.folder.file} is that of a snapshot before the release of 2.0.0; the next '
                                  f'check starts a new history')
        if is_old:
            self.begin_anew(SNAPSHOT)
        elif not version:
            self._create()
        elif version > VERSION and not (self.commits and self.commits.version <= VERSION):
            raise HistoryUnusable(f'{self.folder.file} is from a newer version of this program (tables {version}, here '
                                  f'{VERSION}); upgrade this one')
        elif version != VERSION:
            raise ValueError('no program has written this version')

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
        if self._connections:
            self.close()
        with directory.locked(self.folder, alone=True):
            if directory.which_file(self.folder)[0] == self._inode:
                directory.set_aside(self.folder, self.folder.damaged if why == DAMAGED else self.folder.aside)
        self.open()

    def shorten_log(self) -> None:
        """Copy a long log into the file and truncate it. A check that reads meanwhile leaves that to the next one."""
        with suppress(OSError):
            if os.path.getsize(f'{self.folder.file}-wal') > LOG_SIZE:
                self.allow(SALVAGE)
                self.run('PRAGMA wal_checkpoint(TRUNCATE)')

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
        self.allow(budget)
        try:
            return work()
        except sqlite3.Error as error:
            # Any other error comes from the content of the tables: an invalid text, or an index that contradicts a row.
            # The next check would fail on it as well.
            reason = next((words for start, words in _REASONS.items() if str(error).startswith(start)), '')
            if not reason or ('readonly' in str(error) and directory.is_writable(self.folder)):
                raise _Damaged(self.folder.file) from None
            raise HistoryUnusable(f'{self.folder.file}: {reason}') from None
        except _WRONG_CONTENT:
            raise _Damaged(self.folder.file) from None

    def _opened(self) -> int:
        """Let SQLite open the file; return the version of the tables."""
        # Without a log, a reader without write permission could not create its index; "immutable" needs none, and is
        # safe because no process is writing.
        mode = 'mode=rw' if self._writes else 'mode=ro' if os.path.exists(self.folder.file + '-wal') else 'immutable=1'
        self._connections += 1
        self.connect(self.folder.file, mode, BUDGET)
        version: int = self.value('PRAGMA user_version')   # SQLite opens log and index only now
        self.allow(BUDGET)   # reading a log of gigabytes, which a killed process has left, takes longer
        return version

    def _is_of_a_snapshot(self, version: int) -> bool:
        """Return whether a snapshot has written tables of this version; else it is a damaged number, or our own."""
        return 0 < version < VERSION and not (self.commits and self.commits.version >= VERSION)

    def _create(self) -> None:
        if not self._writes:
            raise HistoryUnusable(f'{self.folder.file} is empty; the next check starts the history')
        is_ours = self.commits is not None
        # Without a record, the log would look like one whose record was lost.
        self.commits = commits.change(self.folder, lambda record: record)
        with directory.locked(self.folder, alone=True):
            if self.value('PRAGMA journal_mode = WAL') != 'wal':
                raise HistoryUnusable(f'{self.folder.path} is on a file system that SQLite cannot lock; use another '
                                      f'directory with --state-dir')
            if self.transaction(lambda: self._make_tables(is_ours)):
                # Tables that exist only in the log would disappear if the log were damaged. Synced only if there is
                # something to lose: the first check syncs after its output is printed.
                is_copied = os.path.lexists(self.folder.damaged)
                self.run(f'PRAGMA synchronous = {"NORMAL" if is_copied else "OFF"}')
                self.run('PRAGMA wal_checkpoint(TRUNCATE)')
                self.run('PRAGMA synchronous = NORMAL')
                directory.put_aside(self.folder)

    def _make_tables(self, is_ours: bool) -> bool:
        """Create the tables; return whether there were none. is_ours: there is a record of their commits."""
        if self.value('PRAGMA user_version'):  # another check has been here before the lock
            return False
        if self.value('SELECT count(*) FROM sqlite_master'):
            if is_ours:
                raise ValueError('the version of these tables is lost')
            raise HistoryUnusable(f'{self.folder.file} is the database of another program; to start a history, '
                                  f'move it away')
        for statement in (*_TABLES, f'PRAGMA application_id = {APPLICATION}', f'PRAGMA user_version = {VERSION}'):
            self.run(statement)
        self.allow(SALVAGE)
        self._fill(self._why or self._why_empty())
        return True

    def _why_empty(self) -> str:
        """Return why the tables are missing, or '' if they never existed."""
        # A check that was killed while it copied a damaged file has left that file, but no reason.
        if os.path.lexists(self.folder.damaged):
            return DAMAGED
        return GONE if self.commits and self.commits.sequence else ''


class _Damaged(HistoryUnusable):
    """The file is damaged: this program has not written it in this form. Its content is not quoted."""

    def __init__(self, file: str) -> None:
        super().__init__(f'{file} is damaged; the next check repairs it')
