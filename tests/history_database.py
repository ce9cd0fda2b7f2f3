"""The database of a history that has nothing but its tables, for tests of single modules."""

from __future__ import annotations

from pathlib import Path

from smart_attributes import state_directory
from smart_attributes.history import directory
from smart_attributes.history.database import Database


def empty(state: Path, now: int) -> Database:
    """Return a new database in a state directory, with one commit: that of its tables. now:
    seconds since 1970.
    """
    folder = directory.below(state_directory.ready(str(state)), is_made=True)
    made = Database(folder, True, lambda *_: made.count(now))
    made.guarded(made.open)
    return made
