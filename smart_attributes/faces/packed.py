"""The document, made small for a page of thousands of drives: what recurs stands once. page.js unpacks it.

A reading is a number and twenty times as many words, which are the same on all drives of a model. So the words are
shapes in one table, and a drive's readings are pairs of a shape's number and a value. Of 24,000 drives 13 MB are left
of 104.
"""
from __future__ import annotations

from typing import Any, Dict, List, Mapping

from ..words import amount

Json = Mapping[str, Any]
NOT_SHOWN = ('findings',)  # `why` has them
NAMES = ('host', 'model', 'firmware', 'kind', 'entry', 'state', 'action', 'why')  # that many drives share


class Table:
    """Values that recur, each with its number."""

    def __init__(self) -> None:
        self.values: List[Any] = []
        self._numbers: Dict[Any, int] = {}

    def number(self, key: Any, value: Any) -> int:
        """Return the number of a value, under which it stands once."""
        if key not in self._numbers:
            self._numbers[key] = len(self.values)
            self.values.append(value)
        return self._numbers[key]


def packed(document: Json) -> Json:
    """Return the document with its strings and its readings' words in tables; what is null or empty is left out."""
    strings, shapes = Table(), Table()
    drives = [_drive(drive, strings, shapes) for drive in document['drives']]
    return {**document, 'drives': drives, 'strings': strings.values, 'shapes': shapes.values, 'names': NAMES}


def _drive(drive: Json, strings: Table, shapes: Table) -> Json:
    kept = {key: value for key, value in drive.items() if value not in (None, '', [], {}) and key not in NOT_SHOWN}
    kept.update((name, strings.number(kept[name], kept[name])) for name in NAMES if name in kept)
    kept['notes'] = [strings.number(note, note) for note in drive.get('notes', ())]
    kept['readings'] = [item for reading in drive['readings'] for item in _reading(reading, shapes)]
    return kept


def _reading(reading: Json, shapes: Table) -> List[Any]:
    """Return the number of a reading's shape, and its value."""
    shape = {key: value for key, value in reading.items() if key not in ('value', 'said') and value not in (None, '')}
    if not _follows(reading):
        shape['said'] = reading['said']
    return [shapes.number(tuple(shape.items()), shape), reading['value']]


def _follows(reading: Json) -> bool:
    """Tell whether what is said of a reading is no more than its role and its value."""
    value, said = reading['value'], reading.get('said')
    if said is None or said == value:
        return True
    words = f': {value}' if isinstance(value, str) else f' {amount(value, reading["unit"])}'
    return bool(said == reading['role'] + words)
