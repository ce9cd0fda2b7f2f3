"""smartd's attribute logs -> history, through each drive's own entry: what a drive has said before history began."""
from __future__ import annotations

import time
from typing import Any, Callable, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple

from ..constants import DAY
from ..errors import HistoryUnusable
from ..history import smartd_log
from ..history.past import key, observations
from ..history.series import Key, Observation
from ..history.smartd_log import Log, Row
from ..history.store import HistoryStore
from ..knowledge import readings
from ..model import Device, Reading, Report, Verdict
from ..reading.report_common import ERROR_COUNTERS
from ..words import amount, clean

Found = Tuple[Verdict, Report]
# smartd's names of a SCSI drive's numbers -> smartctl's, as Report.scsi has them.
_SCSI: Mapping[str, str] = {
    'temperature': 'temperature', 'non-medium-errors': 'non_medium_errors',
    **{f'{command}-{column}': f'{command}.{counter}' for command in ('read', 'write', 'verify')
       for column, counter in zip(smartd_log.ERROR_COUNTERS, ERROR_COUNTERS)}}
_FIRMWARE = 'its entry holds for one firmware, and the log does not say under which firmware it was written'


def imported(drives: Sequence[Found], database: Any, history: HistoryStore, hide_serial: bool = False) -> Iterator[str]:
    """Fill the history drive by drive, and yield a sentence after each, which is stored by then.

    database: specs.SpecDatabase.
    """
    paths = smartd_log.logs()
    for verdict, report in drives:
        for sentence in _of_drive(report, database, history, paths, hide_serial):
            yield f'{verdict.device.name}: {sentence}'


def unread(drives: Sequence[Found], database: Any, since: Callable[[Device], int]) -> str:
    """Return a sentence about logs that reach further back than history does, '' where none do.

    since: when history of a drive begins, seconds since 1970.
    """
    paths, now = smartd_log.logs(), int(time.time())
    begun = [moment for verdict, report in drives if paths
             for moment in [_begun(report, database, paths, now)] if moment and moment < since(verdict.device) - DAY]
    if not begun:
        return ''
    day = time.strftime('%Y-%m-%d', time.localtime(min(begun)))
    return (f'smartd has kept values of {len(begun)} of these drives since {day}: '
            f'check_smart_attributes history --import takes them into history')


def _begun(report: Report, database: Any, paths: Sequence[str], now: int) -> Optional[int]:
    """Return since when smartd has kept values of a drive, None where it has none that can be taken."""
    own = smartd_log.logs_of(report.identity, paths)
    return smartd_log.begun(own, now) if own and not _is_of_one_firmware(report, database) else None


def _of_drive(report: Report, database: Any, history: HistoryStore, paths: Sequence[str],
              hide_serial: bool) -> Iterator[str]:
    """Yield what was taken of a drive, and a sentence for each log that could not be read, or not whole."""
    identity = report.identity
    own = smartd_log.logs_of(identity, paths)
    if not own:
        yield f'smartd has kept no log of {clean(identity.model)}{"" if hide_serial else " " + clean(identity.serial)}'
    elif _is_of_one_firmware(report, database):
        yield _FIRMWARE
    else:
        log = smartd_log.read(own, int(time.time()))
        if log.read or not log.faults:
            yield _kept(log, report, database, history, _from(log, own, hide_serial))
        yield from (f'{_name(fault.path, hide_serial)} {fault.words}' for fault in log.faults)


def _kept(log: Log, report: Report, database: Any, history: HistoryStore, source: str) -> str:
    """Store what the logs of a drive tell; return how much that is, or why nothing was stored."""
    try:
        spec = database.identify(report.identity, _numbers(report))
        twins = _twins(readings.readings(report, spec, database.metrics))
        written = history.keep_past(report.identity, smartd_log.points(
            (row, _doubled(_observed(row, report, spec, database.metrics), twins)) for row in log.rows),
            log.rows[-1].time if log.rows else 0)
    except HistoryUnusable as error:
        return str(error)
    return f'{written} points from {source}'


def _from(log: Log, paths: Sequence[str], hide_serial: bool) -> str:
    """Return "17 lines of FILE and 2 rotated logs", and what of them was not read."""
    newest = min(paths, key=lambda path: (len(smartd_log.ending(path)), path))
    rotated = f' and {len(paths) - 1} rotated log{"s"[:len(paths) > 2]}' if len(paths) > 1 else ''
    skipped = f', {log.damaged} damaged lines skipped' if log.damaged else ''
    skipped += f', {amount(log.left_out, "B")} of older lines not read' if log.left_out else ''
    return f'{log.read} lines of {"its log" if hide_serial else newest}{rotated}{skipped}'


def _name(path: str, hide_serial: bool) -> str:
    """Return how to call a log. Its name holds the serial number of the drive, its ending does not."""
    return f'its log *{smartd_log.ending(path)}' if hide_serial else path


def _is_of_one_firmware(report: Report, database: Any) -> bool:
    """Tell whether what the attributes of a drive mean depends on its firmware, which no log tells."""
    return any('firmware' in entry for _, entry in database.claims(report.identity, _numbers(report)))


def _numbers(report: Report) -> List[int]:
    return [row.id for row in report.attributes]


def _twins(said: Iterable[Reading]) -> Mapping[Key, Sequence[Key]]:
    """Return the series of an attribute -> those of the logs that tell the same number for the same metric.

    A counter that a drive tells in two places is judged in one of them, and smartd logs the other.
    """
    numbers = [reading for reading in said if reading.number is not None and reading.state is None]
    in_logs = [reading for reading in numbers if reading.source.attribute is None]
    return {key(reading): [key(other) for other in in_logs
                           if (other.metric, other.number) == (reading.metric, reading.number)]
            for reading in numbers if reading.source.attribute is not None}


def _doubled(observed: Iterable[Observation], twins: Mapping[Key, Sequence[Key]]) -> Iterator[Observation]:
    for each in observed:
        yield each
        yield from (each._replace(key=other) for other in twins.get(each.key, ()))


def _observed(row: Row, report: Report, spec: Any, metrics: Any) -> Iterator[Observation]:
    """Yield what history would have kept of a drive that said what a row says."""
    return iter(observations(_of_scsi(row, report, metrics) if row.scsi else _of_ata(row, report, spec, metrics)))


def _of_ata(row: Row, report: Report, spec: Any, metrics: Any) -> Iterable[Reading]:
    attributes = tuple(known._replace(value=value, worst=None, raw=str(raw), raw_number=raw)
                       for known in report.attributes if known.id in row.ata for value, raw in [row.ata[known.id]])
    return readings.vendor_readings(report._replace(attributes=attributes), spec, metrics)


def _of_scsi(row: Row, report: Report, metrics: Any) -> Iterable[Reading]:
    said = {_SCSI[name]: number for name, number in row.scsi.items() if name in _SCSI}
    return readings.standard_readings(Report(report.identity, scsi=said), metrics, {})
