"""The database with its commits counted: missing ones are noticed, and urgent ones get to the disk."""
from __future__ import annotations

from ..constants import DAY
from ..typed import TYPE_CHECKING
from . import commits, rows
from .clock import moment
from .database import Database

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeVar

    T = TypeVar('T')

SYNC_EVERY = DAY       # commits that no growth has put on the disk are synced so often


class CountedDatabase(Database):
    """See Database. is_urgent: the last commit must be on the disk before this process ends."""

    is_urgent = False
    _sequence = 0

    def commit(self, now: int, work: Callable[[], T]) -> T:
        """Return the result of *work*; all that it writes is one transaction, and counted outside of the log."""
        def counted() -> T:
            result = work()
            self.count(now)
            return result
        if not (self.commits and self.commits.is_open):
            commits.opened(self.folder)
        result = self.transaction(counted)
        self.commits = commits.committed(self.folder, self._sequence, now, self.tables)
        return result

    def count(self, now: int) -> None:
        """Number a transaction. To be called last in it."""
        self._sequence = rows.count(self, self.commits.sequence if self.commits else 0, now)

    def sync(self, now: int) -> None:
        """Put on the disk what was committed, where it is urgent, and once a day."""
        if self.is_urgent or not self.commits or not 0 <= now - self.commits.synced_at < SYNC_EVERY:
            commits.synced(self.folder, self._sequence, now)
            self.commits, self.is_urgent = commits.read(self.folder), False

    def missing(self, facts: Mapping[str, str], now: int) -> Mapping[str, int]:
        """Return facts about commits that are missing, none where all are there that were counted.

        facts: as they were read after this database was opened. Raises LookupError, ValueError for a damaged fact.
        """
        if self.commits and int(facts['sequence']) >= self.commits.sequence:
            return {}
        return {'missing': now, 'missing_since': moment(facts['written']),
                'missing_until': self.commits.time if self.commits else now, 'uncounted': int(self.commits is None)}

    def unsynced_since(self) -> int | None:
        """Return since when a power cut may have taken commits that no count shows, None where none happened.

        0: since the beginning.
        """
        record = self.commits
        return record.synced_at if record and record.is_open and record.boot != commits.boot_id() else None
