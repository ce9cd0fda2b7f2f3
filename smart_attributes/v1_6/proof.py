"""What is wrong with files of version 1.6, for who proves them."""
from __future__ import annotations

from typing import Any, Iterator, List, Tuple

from . import legacy

DATABASE, USERS = 'database of version 1.6', 'user configuration of version 1.6'


def is_database(_: str, data: Any) -> bool:
    """Tell whether this is a database of version 1.6."""
    return legacy.is_of_1_6(data) and not legacy.is_by_path(data)


def is_users(_: str, data: Any) -> bool:
    """Tell whether this is a user configuration of version 1.6."""
    return legacy.is_of_1_6(data) and legacy.is_by_path(data)


def examine(path: str) -> Tuple[List[str], List[str]]:
    """Return what cannot be used of a file of version 1.6, and how much is in it. Raises DataError."""
    data = legacy.read(path)
    if legacy.is_by_path(data):
        file, entries = legacy.users(path, data)
    else:
        file, entries = legacy.database(path, data)
    faults = _faults(file, entries, has_columns=not legacy.is_by_path(data))
    return list(dict.fromkeys(faults)), [f'{len(entries)} {"entry" if len(entries) == 1 else "entries"}']


def _faults(file: str, entries: legacy.Json, has_columns: bool) -> Iterator[str]:
    """Yield what cannot be used. has_columns: the file says itself which column of a number counts."""
    for name, data in entries.items():
        found = legacy.entry(file, name, data)
        yield from found.faults
        if has_columns:
            yield from legacy.without_columns(found, f'{file}: {name}')
