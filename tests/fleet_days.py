"""A fleet day by day: documents of hosts, and runs of `fleet` with a clock that a test sets."""
from __future__ import annotations

import contextlib
import io
import json
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from conftest import Result

from smart_attributes import main
from smart_attributes.commands import fleet
from smart_attributes.fleet.ledger import Cell
from smart_attributes.fleet.ledger_file import Ledger

DAY = 86_400
BEGIN = 1_800_000_000   # seconds since 1970


class Bay(NamedTuple):
    """A drive in a host."""

    serial: str | None = 'SERIAL1'
    state: str = 'OK'
    model: str = 'ACME 1'
    firmware: str = 'A1'
    hours: float | None = None
    action: str = ''


def documents(folder: Path, hosts: Mapping[str, Iterable[Bay]], read: Mapping[str, float], now: float,
              notes: Sequence[Mapping[str, str]] = ()) -> None:
    """Write the documents of hosts, in place of others. read: seconds since 1970 at which a host was read."""
    folder.mkdir(exist_ok=True)
    for path in folder.iterdir():
        path.unlink()
    for host, bays in hosts.items():
        made = read.get(host, now)
        drives = [_drive(number, bay) for number, bay in enumerate(bays)]
        path = folder / f'{host}.json'
        states = [each['state'] for each in (*drives, *notes)]
        path.write_text(json.dumps({
            'version': 2, 'made': made, 'host': host, 'drives': drives, 'notes': list(notes),
            'state': max(states, key=('OK', 'WARNING', 'UNKNOWN', 'CRITICAL').index, default='OK')}))
        os.utime(path, (now, now))


def _drive(number: int, bay: Bay) -> dict[str, Any]:
    readings = [] if bay.hours is None else [{'metric': 'power_on_time', 'value': bay.hours * 3600, 'judged': True,
                                              'state': 'OK', 'unit': 's', 'source': 'attribute 9'}]
    return {'name': f'sd{chr(97 + number)}', 'model': bay.model, 'serial': bay.serial, 'firmware': bay.firmware,
            'state': bay.state, 'readings': readings,
            'action': bay.action or ('replace' if bay.state == 'CRITICAL' else 'nothing')}


class Site:
    """A site that collects documents and runs `fleet` on them."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.ledger = folder / 'collected', folder / 'ledger'

    def run(self, day: float, hosts: Mapping[str, Iterable[Bay]], *arguments: str,
            read: Mapping[str, float] | None = None, notes: Sequence[Mapping[str, str]] = ()) -> Result:
        """Return the result of a run at a day.

        read: days at which hosts were read, if it was another time. notes: of each document.
        """
        now = BEGIN + day * DAY
        documents(self.folder, hosts, {host: BEGIN + each * DAY for host, each in (read or {}).items()}, now, notes)
        said = io.StringIO()
        with mock.patch.object(fleet, 'time', mock.Mock(time=lambda: now, monotonic=time.monotonic)), \
                contextlib.redirect_stdout(said):
            code = main.run(['fleet', str(self.folder), '--ledger', str(self.ledger), *arguments])
        return Result(code, said.getvalue())

    def cells(self) -> list[Cell]:
        """Return what the ledger counts."""
        book = Ledger(str(self.ledger), BEGIN)
        try:
            return book.cells()
        finally:
            book.close()

    @property
    def days(self) -> float:
        """Return the drive-time of all drives in days."""
        return sum(cell.seconds for cell in self.cells()) / DAY

    @property
    def failures(self) -> int:
        """Return the failures of all drives."""
        return sum(cell.failures for cell in self.cells())
