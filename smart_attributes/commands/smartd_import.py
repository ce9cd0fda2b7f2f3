"""Import smartd's attribute logs into the history, decoded by the database entry of each drive."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..constants import DAY
from ..errors import HistoryUnusable
from ..history import smartd_log
from ..history.past import key, observations
from ..history.series import Key, Observation
from ..history.smartd_log import Log, LogRow
from ..history.store import HistoryStore
from ..knowledge import readings
from ..model import Device, Identity, Reading, Report, Verdict
from ..reading.content import ERROR_COUNTERS, NVME_KEYS
from ..shown import Shown, shown
from ..wording import amount, local_day

Answer = tuple[Verdict, Report]
# smartd's names for the numbers of a SCSI drive -> smartctl's names, as in Report.scsi.
_SCSI: Mapping[str, str] = {
    'temperature': 'temperature',
    'non-medium-errors': 'non_medium_errors',
    **{
        f'{command}-{column}': f'{command}.{counter}'
        for command in ('read', 'write', 'verify')
        for column, counter in zip(smartd_log.ERROR_COUNTERS, ERROR_COUNTERS)
    },
}
_FIRMWARE = (
    'the database entry applies to one firmware, and the log does not show which '
    'firmware the drive had'
)


def imported(
    drives: Sequence[Answer], database: Any, history: HistoryStore, hide_serial: bool
) -> Iterator[str]:
    """Import the logs drive by drive, and yield messages about each drive after the drive's
    readings are stored.

    database: drive_database.SpecDatabase.
    """
    paths = smartd_log.logs()
    for verdict, report in drives:
        identity = shown(report.identity, hide_serial)
        for sentence in _of_drive(report, identity, database, history, paths):
            yield f'{verdict.device.name}: {sentence}'


def unread(drives: Sequence[Answer], database: Any, since: Callable[[Device], int]) -> str:
    """Return a message about logs that begin earlier than the history; '' if no log does.

    since: returns when the history of a drive begins, in seconds since 1970.
    """
    paths, now = smartd_log.logs(), int(time.time())
    moments = []
    for verdict, report in drives if paths else ():
        own = smartd_log.logs_of(report.identity, paths)
        begun = (
            smartd_log.begun(own, now)
            if own and not _is_of_one_firmware(report, database)
            else None
        )
        moments += [begun] if begun and begun < since(verdict.device) - DAY else []
    if not moments:
        return ''
    return (
        f'smartd has logged values of {len(moments)} of these drives since '
        f'{local_day(min(moments))}; '
        f'to import them, run: check_smart_attributes history --import'
    )


def _of_drive(
    report: Report, identity: Shown, database: Any, history: HistoryStore, paths: Sequence[str]
) -> Iterator[str]:
    """Yield a message about the imported points of a drive, and a message for each log that was
    not read completely.
    """
    own = smartd_log.logs_of(report.identity, paths)
    is_hidden = identity.serial is None  # the name of a log contains it, its ending does not
    if not own:
        yield f'smartd has no log of {identity.name}'
    elif _is_of_one_firmware(report, database):
        yield _FIRMWARE
    else:
        log = smartd_log.read(own, int(time.time()))
        if log.read or not log.faults:
            yield _stored(log, report, database, history, _source(log, own, is_hidden))
        for path, words in log.faults:
            yield f'{f"its log *{smartd_log.ending(path)}" if is_hidden else path} {words}'


def _is_of_one_firmware(report: Report, database: Any) -> bool:
    """Return whether the meaning of a drive's attributes depends on the firmware version, which
    logs do not contain.
    """
    return bool(report.attributes) and any(
        'firmware' in entry for _, entry in database.claims(report.identity, _numbers(report))
    )


def _numbers(report: Report) -> list[int]:
    return [row.id for row in report.attributes]


def _stored(log: Log, report: Report, database: Any, history: HistoryStore, source: str) -> str:
    """Store the readings of a drive's logs; return a message with the number of points, or with
    the error.
    """
    try:
        spec = database.identify(report.identity, _numbers(report))
        twins = _twins(readings.readings(report, spec, database.metrics))
        written = history.keep_past(
            report.identity,
            smartd_log.points(
                (row, _observed(row, report, spec, database.metrics, twins)) for row in log.rows
            ),
            log.rows[-1].time if log.rows else history.now,
        )
    except HistoryUnusable as error:
        return str(error)
    return f'{written} points from {source}'


def _source(log: Log, paths: Sequence[str], is_hidden: bool) -> str:
    """Return text such as "17 lines of FILE and 2 rotated logs", and name the parts that were
    not read.
    """
    newest = min(paths, key=lambda path: (len(smartd_log.ending(path)), path))
    rotated = f' and {len(paths) - 1} rotated log{"s"[: len(paths) > 2]}' if len(paths) > 1 else ''
    skipped = f', {log.damaged} damaged lines skipped' if log.damaged else ''
    skipped += f', {amount(log.left_out, "B")} of older lines not read' if log.left_out else ''
    return f'{log.read} lines of {"its log" if is_hidden else newest}{rotated}{skipped}'


def _twins(own: Iterable[Reading]) -> Mapping[Key, Sequence[Key]]:
    """Return, for each series of an attribute, the series from other logs with the same metric and
    value.

    If a drive reports a counter in two places, smartd may log the place that is not judged.
    """
    numbers = [reading for reading in own if reading.number is not None and reading.state is None]
    in_logs = [reading for reading in numbers if reading.source.attribute is None]
    twins: dict[Key, list[Key]] = {}
    for reading in numbers:
        if reading.source.attribute is not None:
            twins[key(reading)] = [
                key(logged)
                for logged in in_logs
                if (logged.metric, logged.number) == (reading.metric, reading.number)
            ]
    return twins


def _observed(
    row: LogRow, report: Report, spec: Any, metrics: Any, twins: Mapping[Key, Sequence[Key]]
) -> Iterator[Observation]:
    """Yield the observations that a check would have stored at the time of a row."""
    if row.named:
        logged_readings = readings.standard_readings(
            _of_names(report.identity, row.named), metrics, {}
        )
    else:
        attributes = []
        for attribute in report.attributes:
            if attribute.id in row.ata:
                value, raw = row.ata[attribute.id]
                attributes.append(
                    attribute._replace(value=value, worst=None, raw=str(raw), raw_number=raw)
                )
        logged = report._replace(attributes=tuple(attributes))
        logged_readings = readings.vendor_readings(logged, spec, metrics)
    for observation in observations(logged_readings):
        yield observation
        for twin in twins.get(observation.key, ()):
            yield observation._replace(key=twin)


def _of_names(identity: Identity, named: Mapping[str, float]) -> Report:
    """Return the numbers of an NVMe or SCSI drive under smartctl's names."""
    if identity.protocol == 'NVMe':
        names = {key.replace('_', '-'): key for key in NVME_KEYS}
        return Report(
            identity,
            nvme={names[name]: int(number) for name, number in named.items() if name in names},
        )
    return Report(
        identity, scsi={_SCSI[name]: number for name, number in named.items() if name in _SCSI}
    )
