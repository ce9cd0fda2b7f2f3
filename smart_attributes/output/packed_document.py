"""The document in compact form, for a page with thousands of drives: each repeated value is stored only once.

page.js unpacks it. A reading is a number and twenty times as much text, which is the same for all drives of a model. So
a table stores each text as a shape, and a drive's readings are pairs of shape number and value. This reduces the
document of 24,000 drives from 104 MB to 13 MB.
"""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..typed import Json
from ..wording import amount

NOT_SHOWN = ('findings', 'last_seen', 'replacement', 'reason', 'risk', 'place')  # contained in `why`, or in the order
# Values shared by drives.
NAMES = ('host', 'model', 'firmware', 'kind', 'entry', 'state', 'action', 'to_do', 'why', 'meaning')


class Table:
    """A table of repeated values, each with its number."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._numbers: dict[Any, int] = {}

    def number(self, key: Any, value: Any) -> int:
        """Return the number of a value; add the value to the table if it is new."""
        if key not in self._numbers:
            self._numbers[key] = len(self.values)
            self.values.append(value)
        return self._numbers[key]


class Packer:
    """Packs drives one by one and holds the tables that the drives share."""

    def __init__(self) -> None:
        self.strings, self.shapes = Table(), Table()

    @property
    def size(self) -> int:
        """Return the number of values in the tables."""
        return len(self.strings.values) + len(self.shapes.values)

    def drive(self, drive: Json, pairs: list[Any]) -> dict[str, Any]:
        """Return a drive with numbers in place of strings, without null and empty values. pairs: packed readings."""
        kept = {key: value for key, value in drive.items() if value not in (None, '', [], {}) and key not in NOT_SHOWN}
        kept.update((name, self.strings.number(kept[name], kept[name])) for name in NAMES if name in kept)
        kept['notes'] = [self.strings.number((note['code'], note['text']), {key: note[key] for key in ('code', 'text')})
                         for note in drive.get('notes', ())]
        kept['readings'] = pairs
        if 'depends' in kept:
            kept['depends'] = [{'text': each['text']} for each in kept['depends']]
        return kept

    def readings(self, readings: Iterable[Json]) -> list[Any]:
        """Return two values for each reading: the number of its shape, then the reading's value."""
        return [item for reading in readings for item in self._reading(reading)]

    def _reading(self, reading: Json) -> tuple[int, Any]:
        shape = {key: value for key, value in reading.items()
                 if key not in ('value', 'said') and value not in (None, '')}
        if not _follows(reading):
            shape['said'] = reading['said']
        return self.shapes.number(tuple(shape.items()), shape), reading['value']

    def tables(self) -> Json:
        """Return the tables that are needed for unpacking."""
        return {'strings': self.strings.values, 'shapes': self.shapes.values, 'names': NAMES}


def unpacked(drive: Json, tables: Json) -> dict[str, Any]:
    """Return a drive as it was before packing, but without null and empty values."""
    strings, shapes, pairs = tables['strings'], tables['shapes'], drive['readings']
    return {**drive, **{name: strings[drive[name]] for name in NAMES if name in drive},
            'notes': [strings[note] for note in drive['notes']],
            'readings': [{**shapes[shape], 'value': value} for shape, value in zip(pairs[::2], pairs[1::2])]}


def packed(document: Json) -> Json:
    """Return the document, with strings and the texts of readings moved to tables."""
    packer = Packer()
    drives = [packer.drive(drive, packer.readings(drive['readings'])) for drive in document['drives']]
    return {**document, 'drives': drives, **packer.tables()}


def _follows(reading: Json) -> bool:
    """Return whether the text of a reading only repeats the metric and the value."""
    value, said = reading['value'], reading.get('said')
    if said is None or said == value:
        return True
    words = f': {value}' if isinstance(value, str) else f' {amount(value, reading["unit"])}'
    return bool(said == reading['metric'] + words)
