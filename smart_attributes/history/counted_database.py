"""The database with counted commits: missing ones are detected, and urgent ones are synced to the disk."""
from __future__ import annotations

from ..constants import DAY
from ..typed import TYPE_CHECKING
from . import commits, rows
from .clock import moment
from .database import VERSION, Database

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeVar

    T = TypeVar('T')

SYNC_EVERY = DAY       # interval at which commits without growth are synced


class CountedDatabase(Database):
    """A Database that counts its commits. is_urgent: sync() must put the last commit on the disk."""

    is_urgent = False
    head = rows.Head()    # facts, drives and places as the last commit has written them
    _sequence = 0

    def commit(self, now: int, work: Callable[[], T]) -> T:
        """Return the result of *work*, run as one transaction that is also counted in the commit record.

        Raises HistoryUnusable if the record cannot be written.
        """
        def counted() -> T:
            result = work()
            self.count(now)
            return result
        if not (self.commits and self.commits.is_open):
            commits.opened(self.folder)
        result = self.transaction(counted)
        self.commits = commits.committed(self.folder, self._sequence, now, VERSION)
        return result

    def count(self, now: int) -> None:
        """Number the current transaction. Call this last in it."""
        self._sequence, self.head = rows.count(self, self.commits.sequence if self.commits else 0, now)

    def sync(self, now: int) -> None:
        """Sync the commits to the disk if they are urgent or a day has passed since the last sync."""
        if self.is_urgent or not self.commits or not 0 <= now - self.commits.synced_at < SYNC_EVERY:
            commits.synced(self.folder, self._sequence, now)
            self.commits, self.is_urgent = commits.read(self.folder), False

    def missing(self, facts: Mapping[str, str], now: int) -> Mapping[str, int]:
        """Return facts about missing commits; none if every counted commit is present.

        facts: as read after this database was opened. Raises LookupError or ValueError for a damaged fact.
        """
        if self.commits and int(facts['sequence']) >= self.commits.sequence:
            return {}
        return {'missing': now, 'missing_since': moment(facts['written']),
                'missing_until': self.commits.time if self.commits else now, 'uncounted': int(self.commits is None)}

    def unsynced_since(self) -> int | None:
        """Return since when commits may have been lost to a power cut without a count that shows it.

        In seconds since 1970; 0: since the beginning. None if the system has not restarted with unsynced commits.
        """
        record = self.commits
        return record.synced_at if record and record.is_open and record.boot != commits.boot_id() else None
