"""A year of 24 drives in history: how large it becomes, its log included, and what a check costs after it.

`make year` reads them every 5 minutes, as a daemon does, and takes long; bench.py, every 4 hours: what moves all the
time gets a point a day, however often it is read, and counters move as often.
"""
from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Tuple

from conftest import ROOT

from smart_attributes import state_directory
from smart_attributes.history.drive_changes import Scope
from smart_attributes.history.past import observations
from smart_attributes.history.series import CHANGE, DAY, HIGHEST, Observation
from smart_attributes.history.store import HistoryStore, Sighting, machine_id
from smart_attributes.knowledge import data_file, drive_database, readings
from smart_attributes.model import Identity
from smart_attributes.reading import json_report
from smart_attributes.reading.identity import is_same_drive

DRIVES = 24
DAYS = 365
LIMIT = 5_000_000          # bytes
# Real drives of each kind, one after the other in the slots.
REPORTS = ('intel-s3500-healthy', 'hgst-failed', 'nvme-worn', 'intel-worn')
RISES_A_YEAR = 12          # of each counter of each drive
BUSY = 0                   # the drive with a counter that moves at every check
Read = Tuple[Identity, Tuple[Observation, ...]]


def address(slot: int) -> str:
    return f'/dev/sd{chr(97 + slot)}'


def output(slot: int) -> bytes:
    """Return what smartctl says of the drive in a slot: a real one under a name of its own."""
    report = json.loads((ROOT / f'tests/reports/{REPORTS[slot % len(REPORTS)]}.json').read_bytes())
    report['serial_number'] = f'EXAMPLE-Y{slot:02}'
    report.pop('wwn', None)
    return json.dumps(report).encode()


def read(slot: int) -> Read:
    """Return who the drive is, and the numbers that a check remembers of it."""
    report = json_report.parse(output(slot))
    database = drive_database.SpecDatabase(data_file.load(str(ROOT / 'attributes.json')))
    spec = database.identify(report.identity, [row.id for row in report.attributes])
    return report.identity, observations(readings.readings(report, spec, database.metrics))


class Year:
    """Drives that get older, and the history of those who read them."""

    def __init__(self, state: Path, end: int, step: int, seed: int = 7) -> None:
        """end: seconds since 1970. step: seconds between two checks."""
        self.largest, self.checks = 0, 0
        self._folder, self._end, self._step, self._dice = state / 'history', end, step, random.Random(seed)
        self._drives = [read(slot) for slot in range(DRIVES)]
        self._history = HistoryStore(state_directory.ready(str(state)), end - DAYS * DAY, is_same_drive, machine_id())

    def passes(self) -> None:
        """Let each check write what it reads, and note how large history has been."""
        for now in range(self._end - DAYS * DAY, self._end, self._step):
            self._history.now = now
            self._drives = [(identity, tuple(self._moved(slot, each) for each in found))
                            for slot, (identity, found) in enumerate(self._drives)]
            self._history.keep([Sighting(address(slot), *drive) for slot, drive in enumerate(self._drives)],
                               Scope(is_scan=True))
            self.largest = max(self.largest, sum(path.stat().st_size for path in self._folder.iterdir()))
            self.checks += 1

    def _moved(self, slot: int, found: Observation) -> Observation:
        """Return a number as the next check reads it."""
        if found.pace == HIGHEST:
            return found._replace(number=self._dice.randrange(25, 45))
        if found.pace == CHANGE and not (slot == BUSY and found.key.metric == 'crc_errors'):
            return found._replace(number=found.number + (self._dice.random() < RISES_A_YEAR * self._step / DAYS / DAY))
        return found._replace(number=found.number + self._step)


def main(step: int) -> int:
    """Let a year pass and print what is kept of it; 1 where that is too much."""
    with tempfile.TemporaryDirectory(prefix='check-smart-year-') as folder:
        year, began = Year(Path(folder), int(time.time()), step), time.monotonic()
        year.passes()
        sizes = ', '.join(f'{path.name} {path.stat().st_size}' for path in sorted((Path(folder) / 'history').iterdir()))
    print(f'{year.checks} checks of {DRIVES} drives in {time.monotonic() - began:.0f} s: at most {year.largest} bytes, '
          f'in the end {sizes}; at most {LIMIT} are wanted')
    return int(year.largest > LIMIT)


if __name__ == '__main__':
    sys.exit(main(60 * int(sys.argv[1]) if len(sys.argv) > 1 else 300))
