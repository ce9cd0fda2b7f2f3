"""Keep the worst drives of a fleet, as many as a page can list, in little memory."""
from __future__ import annotations

import json
from bisect import insort
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ..constants import LARGEST_ROW, LARGEST_TABLE, MOST_ROWS
from ..errors import Coded
from ..output.json_document import note
from ..output.packed_document import Packer, unpacked
from ..typed import TYPE_CHECKING, Json
from .plugin_output import FleetDrive

if TYPE_CHECKING:
    from ..knowledge.severity import Rank

WITHOUT = {'past': {}, 'depends': (), 'notes': (
    note(Coded('readings-left-out', 'its readings are omitted, because they are too large')),)}
_text = json.JSONEncoder(separators=(',', ':')).encode


class WorstDrive(NamedTuple):
    """A drive as it is stored, and its sort key."""

    key: Rank
    action: str
    model: str         # '' if no drive answered
    text: str          # JSON, packed


class Card(NamedTuple):
    """A drive that represents all drives of its model with the same action."""

    place: int         # position among all kept drives
    drive: Json
    drives: int        # number of drives that it represents, including itself


class Kept:
    """Takes drives one by one and keeps the worst of them."""

    def __init__(self, packer: Packer, most: int = MOST_ROWS) -> None:
        self.left_out = 0
        self._packer, self._most, self._size = packer, max(most, 1), 0
        self._rows: list[WorstDrive] = []           # always sorted, so that a drive that is not kept costs only its key

    def add(self, drive: FleetDrive) -> None:
        """Keep a drive, unless enough kept drives are worse."""
        facts = drive.facts
        key = drive.rank
        if len(self._rows) == self._most and key > self._rows[-1].key:
            self.left_out += 1
            return
        text = _text(self._packer.drive(facts, drive.pairs()))
        if len(text) > LARGEST_ROW:
            text = _text(self._packer.drive({**facts, **WITHOUT}, []))
        insort(self._rows, WorstDrive(key, facts['action'], facts.get('model') or '', text))
        self._size += len(text)
        while len(self._rows) > self._most or self._size > LARGEST_TABLE:
            self._size -= len(self._rows.pop().text)
            self.left_out += 1

    def rows(self) -> list[WorstDrive]:
        """Return the kept drives, worst first."""
        return self._rows

    def drives(self, rows: list[WorstDrive]) -> Iterator[dict[str, Any]]:
        """Yield drives in the format of the document."""
        tables = self._packer.tables()
        return (unpacked(json.loads(row.text), tables) for row in rows)

    def taken(self, now: float) -> str:
        """Return the kept drives as packed data for the page's script, and free their memory.

        now: seconds since 1970.
        """
        tables = json.dumps({**self._packer.tables(), 'made': round(now)}, separators=(',', ':'))
        texts = [row.text for row in self.rows()]
        self._rows = []
        head, tail = '{"drives":[', f'],{tables[1:]}'
        if not texts:
            return head + tail
        texts[0] = head + texts[0]
        texts[-1] += tail
        return ','.join(texts)

    def todo(self, actions: Sequence[str], shown: int) -> dict[str, tuple[int, list[Card]]]:
        """Return, for each action, the number of drives and the first cards: one per model, for its worst drive."""
        found: dict[str, dict[tuple[str, int], list[int]]] = {action: {} for action in actions}
        for place, row in enumerate(self.rows()):
            if row.action in found:
                found[row.action].setdefault((row.model, 0 if row.model else place), []).append(place)
        return {action: (sum(map(len, models.values())), self._cards(_spread(list(models.values()), shown)))
                for action, models in found.items() if models}

    def _cards(self, models: Sequence[Sequence[int]]) -> list[Card]:
        """Return a card for each model, for the drive at its first place."""
        drives = self.drives([self._rows[places[0]] for places in models])
        return [Card(places[0], drive, len(places)) for places, drive in zip(models, drives)]


def _spread(models: list[list[int]], shown: int) -> list[list[int]]:
    """Return the places that each card represents: one drive per card if all fit, else one model per card."""
    places = sorted(place for each in models for place in each)
    return [[place] for place in places] if len(places) <= shown else models[:shown]
