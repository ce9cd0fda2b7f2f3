"""The database of a history: a SQLite file that never delays a check for long.

Lost commits are detected.

A check waits for the file no longer than PATIENCE and BUDGET allow. A check never closes the file,
because the last process to close it waits 121 ms for the disk; a commit with synchronous NORMAL
takes 0.2 ms. Since the file is never closed, SQLite never restarts its log; shorten_log() truncates
a long log. A damaged file is set aside, and the readable part of its content is copied (see
losses.py).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress

from ..constants import DAY
from ..errors import HistoryUnusable
from ..sqlite_file import WRONG_CONTENT, Error, SqliteFile, reason
from ..typed import T
from . import directory, drive_records, rows
from .directory import Commits, HistoryFolder

# seconds of CPU time for one read or write; protects against a file inflated on purpose
BUDGET = 0.5
# When the log (-wal) exceeds this size in bytes, it is copied into the file and truncated. This
# takes 33 ms or more. The log then has the checks of an hour or more: 24 drives with changing
# values write 33 to 84 kB per check.
LOG_SIZE = 2**18
SYNC_EVERY = DAY  # interval at which commits without growth are synced
_REASONS = {
    'attempt to write a readonly': f'it cannot be written; {directory.ADVICE}',
    'unable to open': f'it cannot be opened; {directory.ADVICE}',
    'interrupted': 'it takes too long to read; to start a new history, move it away',
}


class Database(SqliteFile):
    """The database of one history folder, opened by one process.

    Methods raise HistoryUnusable on any failure.

    Commits are counted, so missing commits are detected. is_urgent: sync() must write the last
    commit to the disk.
    """

    is_urgent = False
    head = rows.Head()  # facts, drives and places as written by the last commit
    _sequence = 0

    def __init__(self, place: HistoryFolder, writes: bool, fill: Callable[[str], None]) -> None:
        """Create the object without opening the file.

        fill: called in the transaction that creates tables, with the reason for the new file; ''
        for the first file.
        """
        self.folder, self._writes, self._fill = place, writes, fill
        self.commits: Commits | None = None  # the commit record before the file was opened
        self._why = ''
        self._connections = 0

    def open(self) -> None:
        """Open the file, and create it if it is missing."""
        with directory.locked(self.folder, alone=False) if self._writes else nullcontext():
            # Read this first, so that commits made from now on do not count as lost.
            self.commits = directory.read_commits(self.folder)
            # Check the file before SQLite opens it, because closing it later would release SQLite's
            # locks.
            self._inode = directory.which_file(self.folder, is_made=self._writes)
            version = self._opened()
            if (
                version == directory.VERSION
                and self._writes
                and os.path.lexists(self.folder.damaged)
            ):
                from . import losses

                # a damaged file, from a check that was killed after copying it
                losses.put_aside(self.folder)
        if not version:
            self._create()
        elif version > directory.VERSION and not (
            self.commits and self.commits.version <= directory.VERSION
        ):
            raise HistoryUnusable(
                f'{self.folder.file} is from a newer version of this program (tables {version}, '
                f'here '
                f'{directory.VERSION}); upgrade this program'
            )
        elif version != directory.VERSION:
            raise ValueError('no program has written this version')

    def guarded(self, work: Callable[[], T], budget: float = BUDGET) -> T:
        """Run *work* as the folder's owner and return its result; if the file is damaged, run
        *work* on a new file.

        budget: seconds of CPU time. Raises HistoryUnusable.
        """
        with self.folder.state:
            try:
                return self._within_budget(work, budget)
            except _Damaged:
                if not self._writes:
                    raise
            from . import losses

            self._within_budget(lambda: self.begin_anew(losses.DAMAGED))
            return self._within_budget(work, budget)

    def begin_anew(self, why: str) -> None:
        """Set the file aside, unless another check has done so, and open a new file. why: the
        reason, for messages.
        """
        from . import losses

        self._why = why
        if self._connections:
            self.close()
        with directory.locked(self.folder, alone=True):
            if directory.which_file(self.folder) == self._inode:
                losses.set_aside(
                    self.folder, self.folder.damaged if why == losses.DAMAGED else self.folder.aside
                )
        self.open()

    def shorten_log(self) -> None:
        """Copy a long log into the file and truncate the log.

        While another check reads, do nothing.
        """
        with suppress(OSError):
            if os.path.getsize(f'{self.folder.file}-wal') > LOG_SIZE:
                self.allow(directory.SALVAGE)
                self.run('PRAGMA wal_checkpoint(TRUNCATE)')

    def generation(self) -> tuple[int, int]:
        """Return two numbers; at least one changes if another process writes, or if a new file
        is opened.
        """
        # SQLite's number applies only to one connection, and a new file can have the same number
        # again.
        return self._connections, self.value('PRAGMA data_version')

    def commit(self, now: int, work: Callable[[], T]) -> T:
        """Run *work* as one transaction, count the transaction in the commit record, and return the
        result of *work*.

        Raises HistoryUnusable if the record cannot be written.
        """

        def counted() -> T:
            result = work()
            self.count(now)
            return result

        if not (self.commits and self.commits.is_open):
            directory.open_commits(self.folder)
        result = self.transaction(counted)
        self.commits = directory.count_commit(self.folder, self._sequence, now)
        return result

    def count(self, now: int) -> None:
        """Give the current transaction a number. Call this at the end of the transaction."""
        self._sequence, self.head = rows.count(
            self, self.commits.sequence if self.commits else 0, now
        )

    def sync(self, now: int) -> None:
        """Sync the commits to the disk if one is urgent or a day has passed since the last sync."""
        if self.is_urgent or not self.commits or not 0 <= now - self.commits.synced_at < SYNC_EVERY:
            directory.sync_commits(self.folder, self._sequence, now)
            self.commits, self.is_urgent = directory.read_commits(self.folder), False

    def missing(self, facts: Mapping[str, str], now: int) -> Mapping[str, int]:
        """Return facts about missing commits, or no facts if every counted commit is present.

        facts: as read after this database was opened. Raises LookupError or ValueError for a
        damaged fact.
        """
        if self.commits and int(facts['sequence']) >= self.commits.sequence:
            return {}
        return {
            'missing': now,
            'missing_since': drive_records.moment(facts['written']),
            'missing_until': self.commits.time if self.commits else now,
            'uncounted': int(self.commits is None),
        }

    def unsynced_since(self) -> int | None:
        """Return the time since which a power cut may have removed both commits and their count.

        The time is in seconds since 1970; 0: since the history began. None if no unsynced commits
        existed at a restart.
        """
        record = self.commits
        return (
            record.synced_at
            if record and record.is_open and record.boot != directory.boot_id()
            else None
        )

    def _within_budget(self, work: Callable[[], T], budget: float = BUDGET) -> T:
        self.allow(budget)
        try:
            return work()
        except Error as error:
            # Any other error is due to the content of the tables: an invalid text, or an index that
            # contradicts a row. The next check would fail, too.
            why = reason(error, _REASONS)
            if not why or ('readonly' in str(error) and directory.is_writable(self.folder)):
                raise _Damaged(self.folder.file) from None
            raise HistoryUnusable(f'{self.folder.file}: {why}') from None
        except WRONG_CONTENT:
            raise _Damaged(self.folder.file) from None

    def _opened(self) -> int:
        """Let SQLite open the file; return the version of the tables."""
        # If the log is missing, a reader without write permission cannot create the log's index.
        # "immutable" needs no index, and is safe because no process is writing.
        mode = (
            'mode=rw'
            if self._writes
            else 'mode=ro'
            if os.path.exists(self.folder.file + '-wal')
            else 'immutable=1'
        )
        self._connections += 1
        self.allow(BUDGET)
        self.connect(self.folder.file, mode, directory.PATIENCE, directory.SETTINGS)
        version = self.version  # SQLite opens log and index only now
        # stops reading a log of gigabytes, which a killed process may have left
        self.allow(BUDGET)
        return version

    def _create(self) -> None:
        if not self._writes:
            raise HistoryUnusable(f'{self.folder.file} is empty; the next check starts the history')
        from . import losses

        before = self.commits
        # A log without a commit record would look like a log whose commit record was lost.
        self.commits = directory.change_commits(self.folder, lambda record: record)
        losses.create(self, self.folder, before, self._why, self._fill)


class _Damaged(HistoryUnusable):
    """The file is damaged: this program never writes such content.

    Messages do not quote the content.
    """

    def __init__(self, file: str) -> None:
        super().__init__(f'{file} is damaged; the next check repairs it')
