"""Real drives that get older; year.py lets 24 of them do so.

The temperature and the amounts read and written change at each check, and so do the CRC errors of
one drive. An attribute and a statistic that count the same agree.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

from conftest import ROOT
from days import HOUR

BUSY = 0  # the drive whose CRC errors rise at each check
# Real drives of each kind, one after the other in the slots.
REPORTS = ('intel-s3500-healthy', 'hgst-failed', 'nvme-worn', 'intel-worn')
# What changes, and its names: of attributes, of statistics and in the NVMe log.
HOURS, READ, WRITTEN, TEMPERATURE, CRC = (
    'hours',
    'read',
    'written',
    'temperature',
    'crc',
)
NAMES = {
    HOURS: ('Power_On_Hours', 'power_on_hours'),
    READ: ('Host_Reads_32MiB', 'Logical Sectors Read', 'data_units_read'),
    WRITTEN: (
        'Host_Writes_32MiB',
        'NAND_Writes_32MiB',
        'Logical Sectors Written',
        'data_units_written',
    ),
    TEMPERATURE: (
        'Temperature_Case',
        'Temperature_Internal',
        'Temperature_Celsius',
        'Current Temperature',
        'temperature',
    ),
    CRC: ('CRC_Error_Count', 'UDMA_CRC_Error_Count', 'Number of Interface CRC Errors'),
}
KINDS = {name: kind for kind, names in NAMES.items() for name in names}
SECTORS = 65_536  # in 32 MiB


class Drive:
    """A real drive under a serial number of its own, which gets older."""

    def __init__(self, slot: int) -> None:
        kind = REPORTS[slot % len(REPORTS)]
        self.name, self._is_busy = (
            f'nvme{slot}' if 'nvme' in kind else f'sd{chr(97 + slot)}',
            slot == BUSY,
        )
        self.report: dict[str, Any] = json.loads(
            (ROOT / f'tests/reports/{kind}.json').read_bytes()
        )
        self.report.pop('wwn', None)
        self.report['serial_number'] = f'EXAMPLE-Y{slot:02}'
        self._counted: Counter[str] = Counter()
        self._numbers = list(self._found())

    def _found(self) -> Iterator[tuple[str, dict[str, Any], str, int]]:
        """Yield each number that changes: its name, where it stands, its key there, and what it
        is.
        """
        rows = [
            row
            for page in self.report.get('ata_device_statistics', {}).get('pages', ())
            for row in page['table']
        ]
        log = self.report.get('nvme_smart_health_information_log', {})
        for row in self.report.get('ata_smart_attributes', {}).get('table', ()):
            if row['name'] in KINDS:
                row['raw'].pop('value', None)
                yield (
                    row['name'],
                    row['raw'],
                    'string',
                    int(row['raw']['string'].split()[0]),
                )
        yield from (
            (row['name'], row, 'value', row['value'])
            for row in rows
            if row['name'] in KINDS
        )
        yield from ((name, log, name, log[name]) for name in log if name in KINDS)

    def ages(self, seconds: int, dice: random.Random) -> None:
        """Let the drive report its numbers so many seconds after the first check."""
        self._counted[CRC] += self._is_busy
        self._counted.update(
            {READ: dice.randrange(1, 20), WRITTEN: dice.randrange(1, 20)}
        )
        self._counted[HOURS], temperature = seconds // HOUR, dice.randrange(25, 45)
        for name, place, key, first in self._numbers:
            more = self._counted[KINDS[name]] * (
                SECTORS if name.startswith('Logical') else 1
            )
            number = temperature if KINDS[name] == TEMPERATURE else first + more
            place[key] = str(number) if key == 'string' else number
