"""Count the alerts of the default limits on many drives: states by kind, reasons, and drives beyond
each limit.

A metric is a reason if it is not OK. It is a reason *alone* if nothing else reaches its state: only
then does its limit decide. Drives with the health status FAILED support a limit. Drives that are
PASSED and alert are work for an admin. The error logs and self-test logs of the drives are read
from LOGS in the same folder, if that file exists.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from smart_attributes.knowledge import ranges, shipped_data
from smart_attributes.knowledge.drive_database import SpecDatabase
from smart_attributes.knowledge.thresholds import DriveLimit, Thresholds
from smart_attributes.model import Device, Identity, Report, State

from . import accuracy, collected_logs, collection
from .data_rows import json_lines

if TYPE_CHECKING:
    from smart_attributes.knowledge.thresholds import Bound
    from smart_attributes.typed import Json

KINDS: Mapping[str, Identity] = {
    'hdd': Identity(protocol='ATA', rotation=7200),
    'ssd': Identity(protocol='ATA', rotation=0),
    'nvme': Identity(protocol='NVMe'),
    'sas': Identity(protocol='SCSI'),
}
LOGS = 'logs.jsonl.gz'
SHAPE = (
    'each line is an object with path, errors_logged ([hours, kind]), self_tests '
    '([kind, status, hours])'
)
ALARMS = (State.WARNING, State.CRITICAL)
Figures = dict[str, dict[str, dict[str, Any]]]
"""{"states": {"hdd": {"PASSED": {"OK": 1, ...}}},
"reasons": {"hdd": {"pending": {"WARNING": [drives, of these alone]}}}}, the reasons of drives that report PASSED."""


class Alarm(NamedTuple):
    """One drive as it is judged by default."""

    kind: str
    health: str  # "PASSED", "FAILED" or "not reported"
    state: State
    reasons: tuple[tuple[str, State], ...]
    metrics: frozenset[str] = frozenset()  # of which the drive has a judged number

    def is_alone(self, metric: str, level: State) -> bool:
        """Tell whether only *metric* reaches a level."""
        return not any(
            other != metric and state.urgency >= level.urgency
            for other, state in self.reasons
        )


def drives(path: str) -> Iterator[collection.CollectedDrive]:
    """Yield the drives of a file, with their logs if LOGS is beside it. Raises DataError."""
    beside = os.path.join(os.path.dirname(path), LOGS)
    logs = (
        dict(json_lines(beside, _named_logs, SHAPE)) if os.path.exists(beside) else {}
    )
    for drive in collection.read(path):
        yield (
            drive._replace(
                report=collected_logs.with_logs(drive.report, logs[drive.name])
            )
            if drive.name in logs
            else drive
        )


def _named_logs(line: Json) -> tuple[str, Json]:
    collected_logs.with_logs(Report(Identity()), line)  # raises if they are no logs
    return str(line['path']), line


def alarm(
    drive: collection.CollectedDrive, database: SpecDatabase, thresholds: Thresholds
) -> Alarm:
    """Return how a drive is judged by default."""
    verdict = accuracy.judged(drive, database, thresholds)
    metrics = frozenset(
        j.reading.metric
        for j in verdict.judgements
        if j.reading.judged and j.reading.number is not None
    )
    return Alarm(*accuracy.drive_state(drive, verdict)[:4], metrics)


def figures(alarms: Sequence[Alarm]) -> Figures:
    """Return states and reasons as counts."""
    counts: Figures = {'states': {}, 'reasons': {}}
    for each in alarms:
        states = counts['states'].setdefault(each.kind, {}).setdefault(each.health, {})
        states[each.state.name] = states.get(each.state.name, 0) + 1
        for metric, level in set(each.reasons) if each.health == 'PASSED' else ():
            drives = (
                counts['reasons']
                .setdefault(each.kind, {})
                .setdefault(metric, {})
                .setdefault(level.name, [0, 0])
            )
            drives[0] += 1
            drives[1] += each.is_alone(metric, level)
    return counts


def states(now: Figures) -> Iterator[str]:
    """Yield a row a kind and health: how many drives are in which state."""
    for kind, healths in sorted(now['states'].items()):
        for health, counts in sorted(healths.items()):
            cells = ' | '.join(
                f'{counts.get(state.name, 0):,}' for state in (State.OK, *ALARMS)
            )
            alerting = sum(counts.get(state.name, 0) for state in ALARMS)
            yield f'| {kind} | {health} | {cells} | {_percent(alerting, sum(counts.values()))} |'


def reasons(now: Figures) -> Iterator[str]:
    """Yield a row a kind and metric: how many drives that report PASSED alarm by it, in brackets by
    it alone.
    """
    for kind, metrics in sorted(now['reasons'].items()):
        for metric, counts in sorted(metrics.items()):
            cells = ' | '.join(
                _counted(counts.get(level.name, (0, 0))) for level in reversed(ALARMS)
            )
            yield f'| {kind} | `{metric}` | {cells} |'


def _counted(drives_and_alone: Sequence[int]) -> str:
    drives, alone = drives_and_alone
    return f'{drives:,} ({alone:,})' if drives else '0'


def _percent(part: int, whole: int) -> str:
    return f'{100 * part / whole:.1f} %' if whole else '-'


# --- each limit -----------------------------------------------------------------------


def limits(alarms: Sequence[Alarm], thresholds: Thresholds) -> Iterator[str]:
    """Yield a row a limit: how many drives have the number, are beyond it, by it alone, and report
    FAILED, beyond it and not.
    """
    metrics = {metric for each in alarms for metric in each.metrics}
    for metric in sorted(metrics):
        for kind, identity in KINDS.items():
            limit = thresholds.limit(metric, Device(''), identity, '')
            drives = [
                each for each in alarms if each.kind == kind and metric in each.metrics
            ]
            for level, bound in zip(ALARMS, (limit.warning, limit.critical)):
                if drives and bound is not None:
                    yield (
                        f'| `{metric}` {described(bound)} | {kind} | {level.name} | '
                        f'{" | ".join(_defence(drives, metric, level))} |'
                    )


def _defence(drives: Sequence[Alarm], metric: str, level: State) -> Iterator[str]:
    beyond = [
        each
        for each in drives
        if any(
            name == metric and state.urgency >= level.urgency
            for name, state in each.reasons
        )
    ]
    yield from (
        f'{len(drives):,}',
        f'{len(beyond):,}',
        f'{sum(each.is_alone(metric, level) for each in beyond):,}',
    )
    all_failed, failed = (
        sum(each.health == 'FAILED' for each in part) for part in (drives, beyond)
    )
    yield from (
        _percent(failed, len(beyond)),
        _percent(all_failed - failed, len(drives) - len(beyond)),
    )


def described(bound: Bound) -> str:
    """Return a limit in words: "above 20", "beyond its temperature_limit - 5, else above 55"."""
    if not isinstance(bound, DriveLimit):
        limit = ranges.parse(bound or '')
        return (
            f'below {limit.start:g}'
            if limit.end == math.inf
            else f'above {limit.end:g}'
        )
    offset = (
        f' {"-" if bound.offset < 0 else "+"} {abs(bound.offset):g}'
        if bound.offset
        else ''
    )
    floor = f', at least {bound.at_least:g}' if bound.at_least > -math.inf else ''
    return (
        f'beyond its {bound.reading}{offset}{floor}, else {described(bound.otherwise)}'
    )


def tables(alarms: Sequence[Alarm], thresholds: Thresholds) -> dict[str, Iterable[str]]:
    """Return the rows of each table, as in the data files beside doc/explanation/verdicts.md."""
    counts = figures(alarms)
    return {
        'collection': states(counts),
        'reasons': reasons(counts),
        'defences': limits(alarms, thresholds),
    }


def main(path: str) -> None:
    """Print what the default limits do to the drives of a file. Raises DataError."""
    database = SpecDatabase(shipped_data.load(shipped_data.path('attributes.json')))
    thresholds = Thresholds(
        shipped_data.load(shipped_data.path('thresholds/default.json'))
    )
    alarms = [alarm(drive, database, thresholds) for drive in drives(path)]
    for rows in tables(alarms, thresholds).values():
        print(*rows, '', sep='\n')
