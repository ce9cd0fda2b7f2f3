"""A SQLite file of this program: statements, transactions, checksums of rows; only this module uses
sqlite3.

The module `history.database` owns such a file, and decides what happens to an unusable file.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from zlib import crc32

from .typed import TYPE_CHECKING, Any, T

if TYPE_CHECKING:
    import sqlite3
else:
    # the C module behind sqlite3; sqlite3 itself imports datetime to convert dates: 2 ms of a check
    import _sqlite3 as sqlite3

Error = sqlite3.Error
_INSTRUCTIONS = 20_000  # instructions of SQLite between two checks of the clock
# raised when the rows of a damaged file are read
WRONG_CONTENT = (TypeError, ValueError, OverflowError, LookupError)
_HELD = 'another process has locked it; to see which, use fuser'
# Start of SQLite's message -> its meaning and the next step. Any other error of SQLite counts as
# damage.
_REASONS = {
    'database or disk is full': 'the disk is full; free some space',
    'locking protocol': _HELD,
    'database is locked': _HELD,
    'database table is locked': _HELD,
    'database schema is locked': _HELD,
    'disk I/O': 'the system cannot read or write it; see the kernel log: dmesg -T | tail -50',
}


class SqliteFile:
    """An open SQLite file. Its methods raise `Error`."""

    _connection: sqlite3.Connection
    _deadline = float('inf')

    def connect(self, path: str, parameters: str, patience: float, settings: Iterable[str]) -> None:
        """Open a file. parameters: URI query. patience: seconds to wait for a lock. settings:
        PRAGMA arguments.
        """
        path = path.replace('%', '%25').replace('?', '%3f').replace('#', '%23')
        # after //, SQLite expects a host name
        path = f'/{path.lstrip("/")}' if path.startswith('/') else path
        self._connection = sqlite3.connect(
            f'file:{path}?{parameters}', uri=True, timeout=patience, isolation_level=None
        )
        self._connection.set_progress_handler(
            lambda: time.process_time() > self._deadline, _INSTRUCTIONS
        )
        # With trusted_schema off, a forged schema cannot run functions of this program.
        for setting in ('trusted_schema = OFF', *settings):
            self.run(f'PRAGMA {setting}')

    def allow(self, budget: float) -> None:
        """Let statements use *budget* seconds of CPU time from now on."""
        self._deadline = time.process_time() + budget

    def define(self, name: str, function: Callable[..., int]) -> None:
        """Make a Python function available to SQL statements."""
        self._connection.create_function(name, -1, function, deterministic=True)

    def run(self, statement: str, *values: object) -> Sequence[tuple[Any, ...]]:
        """Return the rows that a statement selects."""
        return self._connection.execute(statement, values).fetchall()

    def run_all(self, statement: str, rows: Iterable[tuple[object, ...]]) -> None:
        """Run a statement for each row of values."""
        self._connection.executemany(statement, rows)

    def value(self, statement: str, *values: object) -> Any:
        """Return the single value that a statement selects."""
        return self.run(statement, *values)[0][0]

    def transaction(self, work: Callable[[], T], is_writing: bool = True) -> T:
        """Return the result of *work*, run as one transaction: either everything is written or
        nothing.
        """
        self.run('BEGIN IMMEDIATE' if is_writing else 'BEGIN')
        try:
            result = work()
            self.run('COMMIT')
        except BaseException:
            if self._connection.in_transaction:
                self.run('ROLLBACK')
            raise
        return result

    def create(self, tables: Iterable[str], application: int, version: int) -> None:
        """Create the tables of a new file. application: number by which file(1) identifies the
        program.
        """
        for statement in (
            *tables,
            f'PRAGMA application_id = {application}',
            f'PRAGMA user_version = {version}',
        ):
            self.run(statement)

    @property
    def version(self) -> int:
        """Return the version of the tables; 0 for a new file."""
        version: int = self.value('PRAGMA user_version')
        return version

    @property
    def is_empty(self) -> bool:
        """Return whether the file has no tables."""
        return not self.value('SELECT count(*) FROM sqlite_master')

    @property
    def is_sound(self) -> bool:
        """Return whether SQLite finds no damage to the structure of the whole file."""
        return self.run('PRAGMA integrity_check(1)') == [('ok',)]

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


def reason(error: Exception, reasons: Mapping[str, str]) -> str:
    """Return the reason for a SQLite error, with the next step; '' if the file is damaged.

    reasons: further reasons for one kind of file, keyed by the start of SQLite's message.
    """
    return next(
        (words for start, words in {**_REASONS, **reasons}.items() if str(error).startswith(start)),
        '',
    )


def checksum(*values: object) -> int:
    """Return the checksum of values as SQLite returns them.

    The checksum is the same in every version of Python.

    SQLite notices damage to the structure of a file, but notices damage to content only in the
    write-ahead log.
    """
    return crc32(ascii(values).encode())
