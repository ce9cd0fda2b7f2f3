"""What is wrong with files of version 1.6, for who proves them."""
from __future__ import annotations

from typing import Any, Iterator, List, Tuple

from ..typed import Json
from ..words import plural
from . import files

DATABASE, USERS = 'database of version 1.6', 'user configuration of version 1.6'


def is_database(_: str, data: Any) -> bool:
    """Tell whether this is a database of version 1.6."""
    return files.is_of_1_6(data) and not files.is_by_path(data)


def is_users(_: str, data: Any) -> bool:
    """Tell whether this is a user configuration of version 1.6."""
    return files.is_of_1_6(data) and files.is_by_path(data)


def examine(path: str) -> Tuple[List[str], List[str]]:
    """Return what cannot be used of a file of version 1.6, and how much is in it. Raises DataError."""
    data = files.read(path)
    if files.is_by_path(data):
        file, entries = files.users(path, data)
    else:
        file, entries = files.database(path, data)
    faults = _faults(file, entries, has_columns=not files.is_by_path(data))
    return list(dict.fromkeys(faults)), [plural(len(entries), 'entry', 'entries')]


def _faults(file: str, entries: Json, has_columns: bool) -> Iterator[str]:
    """Yield what cannot be used. has_columns: the file says itself which column of a number counts."""
    for name, data in entries.items():
        found = files.entry(file, name, data)
        yield from found.faults
        if has_columns:
            yield from files.without_columns(found, f'{file}: {name}')
