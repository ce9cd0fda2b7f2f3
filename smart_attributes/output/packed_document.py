"""The document, made small for a page of thousands of drives: what recurs stands once. page.js unpacks it.

A reading is a number and twenty times as many words, which are the same on all drives of a model. So the words are
shapes in one table, and a drive's readings are pairs of a shape's number and a value. Of 24,000 drives 13 MB are left
of 104.
"""
from __future__ import annotations

from typing import Any, Dict, Iterable, List, Tuple

from ..typed import Json
from ..words import amount

NOT_SHOWN = ('findings', 'last_seen')  # `why` has them
NAMES = ('host', 'model', 'firmware', 'kind', 'entry', 'state', 'action', 'to_do', 'why')  # that many drives share


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


class Packer:
    """Packs drives, one by one; holds the tables that they share."""

    def __init__(self) -> None:
        self.strings, self.shapes = Table(), Table()

    @property
    def size(self) -> int:
        """Return how many values the tables hold."""
        return len(self.strings.values) + len(self.shapes.values)

    def drive(self, drive: Json, pairs: List[Any]) -> Dict[str, Any]:
        """Return a drive with its strings as numbers, without null and empty values. pairs: its readings, packed."""
        kept = {key: value for key, value in drive.items() if value not in (None, '', [], {}) and key not in NOT_SHOWN}
        kept.update((name, self.strings.number(kept[name], kept[name])) for name in NAMES if name in kept)
        kept['notes'] = [self.strings.number((note['code'], note['text']), {key: note[key] for key in ('code', 'text')})
                         for note in drive.get('notes', ())]
        kept['readings'] = pairs
        return kept

    def readings(self, readings: Iterable[Json]) -> List[Any]:
        """Return the number of each reading's shape, and its value behind it."""
        return [item for reading in readings for item in self._reading(reading)]

    def _reading(self, reading: Json) -> Tuple[int, Any]:
        shape = {key: value for key, value in reading.items()
                 if key not in ('value', 'said') and value not in (None, '')}
        if not _follows(reading):
            shape['said'] = reading['said']
        return self.shapes.number(tuple(shape.items()), shape), reading['value']

    def tables(self) -> Json:
        """Return the tables, for whoever unpacks."""
        return {'strings': self.strings.values, 'shapes': self.shapes.values, 'names': NAMES}


def unpacked(drive: Json, tables: Json) -> Dict[str, Any]:
    """Return a drive as it was packed, without what was null or empty."""
    strings, shapes, pairs = tables['strings'], tables['shapes'], drive['readings']
    return {**drive, **{name: strings[drive[name]] for name in NAMES if name in drive},
            'notes': [strings[note] for note in drive['notes']],
            'readings': [{**shapes[shape], 'value': value} for shape, value in zip(pairs[::2], pairs[1::2])]}


def packed(document: Json) -> Json:
    """Return the document with its strings and its readings' words in tables."""
    packer = Packer()
    drives = [packer.drive(drive, packer.readings(drive['readings'])) for drive in document['drives']]
    return {**document, 'drives': drives, **packer.tables()}


def _follows(reading: Json) -> bool:
    """Tell whether what is said of a reading is no more than its metric and its value."""
    value, said = reading['value'], reading.get('said')
    if said is None or said == value:
        return True
    words = f': {value}' if isinstance(value, str) else f' {amount(value, reading["unit"])}'
    return bool(said == reading['metric'] + words)
