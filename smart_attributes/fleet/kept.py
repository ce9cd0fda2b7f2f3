"""The drives that are shown one by one: the worst of a fleet, as many as a page can hold, in little memory."""
from __future__ import annotations

import json
from bisect import insort
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Tuple

from ..faces.advice import NOTHING
from ..faces.packed import Packer, unpacked
from ..model import State
from .drives import Drive

Json = Mapping[str, Any]
MOST = 25_000          # drives; a page of 24,000 has 6 MB, or 13 where their documents have reasons and sources
ROW = 32 << 10         # bytes of one; 600 are usual
MEMORY = 64 << 20      # bytes of all
WITHOUT = {'past': {}, 'carries': (), 'notes': ('its readings are left out: they would take too much room',)}
Key = Tuple[int, float, str, str]
_text = json.JSONEncoder(separators=(',', ':')).encode


class Row(NamedTuple):
    """A drive as it is kept, and what it is ordered by."""

    key: Key           # worst first, then most worn
    action: str
    text: str          # JSON, packed


class Kept:
    """Takes drives one by one and keeps the worst."""

    def __init__(self, packer: Packer, most: int = MOST) -> None:
        self.left_out = 0
        self._packer, self._most, self._size = packer, max(most, 1), 0
        self._rows: List[Row] = []           # always ordered: what comes too late costs no more than its key

    def add(self, drive: Drive) -> None:
        """Keep a drive, unless enough are worse."""
        facts = drive.facts
        key = (-State[facts['state']].urgency, -drive.used, facts['host'], facts['name'])
        if len(self._rows) == self._most and key > self._rows[-1].key:
            self.left_out += 1
            return
        text = _text(self._packer.drive(facts, drive.pairs()))
        if len(text) > ROW:
            text = _text(self._packer.drive({**facts, **WITHOUT}, []))
        insort(self._rows, Row(key, facts['action'], text))
        self._size += len(text)
        while len(self._rows) > self._most or self._size > MEMORY:
            self._size -= len(self._rows.pop().text)
            self.left_out += 1

    def rows(self) -> List[Row]:
        """Return what is kept, the worst first."""
        return self._rows

    def drives(self, rows: List[Row]) -> Iterator[Dict[str, Any]]:
        """Yield drives as the document has them."""
        tables = self._packer.tables()
        return (unpacked(json.loads(row.text), tables) for row in rows)

    def taken(self, now: float) -> str:
        """Return all that is kept as the page's script unpacks it, and keep it no longer: it is large."""
        tables = json.dumps({**self._packer.tables(), 'made': round(now)}, separators=(',', ':'))
        texts = [row.text for row in self.rows()]
        self._rows = []
        head, tail = '{"drives":[', f'],{tables[1:]}'
        if not texts:
            return head + tail
        texts[0] = head + texts[0]
        texts[-1] += tail
        return ','.join(texts)

    def todo(self, actions: Tuple[str, ...], shown: int) -> Dict[str, Tuple[int, List[Tuple[int, Json]]]]:
        """Return what to do -> with how many drives, and the first of them with their places among all."""
        places: Dict[str, List[int]] = {action: [] for action in actions}
        rows = self.rows()
        for place, row in enumerate(rows):
            if row.action != NOTHING and row.action in places:
                places[row.action].append(place)
        return {action: (len(found), list(zip(found[:shown], self.drives([rows[place] for place in found[:shown]]))))
                for action, found in places.items() if found}
