"""smartd's attribute logs -> memory, through each drive's own entry: what a drive has said before memory began."""
from __future__ import annotations

import time
from typing import Any, Iterator, List, Sequence, Tuple

from .errors import MemoryUnusable
from .knowledge import readings
from .memory import smartd_log
from .memory.past import observations
from .memory.series import Observation
from .memory.smartd_log import Row
from .memory.store import Memory
from .model import Report, Verdict
from .words import clean

Found = Tuple[Verdict, Report]
_FIRMWARE = 'its entry holds for one firmware, and the log does not say under which firmware it was written'


def imported(drives: Sequence[Found], database: Any, memory: Memory, folder: str = smartd_log.FOLDER) -> List[str]:
    """Fill memory, and return a sentence for each drive. database: specs.SpecDatabase."""
    paths = smartd_log.logs(folder)
    return [f'{verdict.device.name}: {_of_drive(report, database, memory, paths)}' for verdict, report in drives]


def _of_drive(report: Report, database: Any, memory: Memory, paths: Sequence[str]) -> str:
    identity = report.identity
    path = smartd_log.log_of(identity, paths)
    if path is None:
        return f'smartd has kept no log of {clean(identity.model)} {clean(identity.serial)}'
    if not report.attributes:
        return 'logs of drives without ATA attributes are not read'
    numbers = [row.id for row in report.attributes]
    if any('firmware' in entry for _, entry in database.claims(identity, numbers)):
        return _FIRMWARE
    try:
        log = smartd_log.read(path, int(time.time()))
        spec = database.identify(identity, numbers)
        written = memory.keep_past(identity, smartd_log.points((row, _observed(row, report, spec, database.roles))
                                                               for row in log.rows))
    except MemoryUnusable as error:
        return str(error)
    skipped = f', {log.damaged} damaged lines skipped' if log.damaged else ''
    return f'{written} points from {log.read} lines of {path}{skipped}'


def _observed(row: Row, report: Report, spec: Any, roles: Any) -> Iterator[Observation]:
    """Yield what memory would have kept of a drive whose attributes were those of a row."""
    attributes = tuple(known._replace(value=value, worst=None, raw=str(raw), raw_number=raw)
                       for known in report.attributes if known.id in row.ata for value, raw in [row.ata[known.id]])
    return iter(observations(readings.vendor_readings(report._replace(attributes=attributes), spec, roles)))
