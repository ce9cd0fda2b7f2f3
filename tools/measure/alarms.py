"""Count the alerts of the default limits on many drives: states by kind, reasons, and drives beyond
each limit.

A metric is a reason if it is not OK. It is a reason *alone* if nothing else reaches its state: only
then does its limit decide. Drives with the health status FAILED support a limit. Drives that are
PASSED and alert are work for an admin. The error logs and self-test logs of the drives are read
from LOGS in the same folder, if that file exists.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from smart_attributes.errors import DataError
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
            other != metric and state.urgency >= level.urgency for other, state in self.reasons
        )


def drives(path: str) -> Iterator[collection.CollectedDrive]:
    """Yield the drives of a file, with their logs if LOGS is beside it. Raises DataError."""
    beside = os.path.join(os.path.dirname(path), LOGS)
    logs = dict(json_lines(beside, _named_logs, SHAPE)) if os.path.exists(beside) else {}
    for drive in collection.read(path):
        yield (
            drive._replace(report=collected_logs.with_logs(drive.report, logs[drive.name]))
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
    """Return states and reasons as counts, which a later run can be compared with."""
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


def states(before: Figures, now: Figures) -> Iterator[str]:
    """Yield a row a kind and health: how many drives are in which state, before and now."""
    for kind, healths in sorted(now['states'].items()):
        for health, counts in sorted(healths.items()):
            was = before['states'].get(kind, {}).get(health, {})
            cells = ' | '.join(
                _change(was.get(state.name, 0), counts.get(state.name, 0))
                for state in (State.OK, *ALARMS)
            )
            shares = (
                _percent(sum(each.get(state.name, 0) for state in ALARMS), sum(each.values()))
                for each in (was, counts)
            )
            yield f'| {kind} | {health} | {cells} | {_change(*shares)} |'


def reasons(before: Figures, now: Figures) -> Iterator[str]:
    """Yield a row a kind and metric: how many drives that report PASSED alarm by it, in brackets by
    it alone, before and now.
    """
    for kind in sorted({*before['reasons'], *now['reasons']}):
        both = [each['reasons'].get(kind, {}) for each in (before, now)]
        for metric in sorted({metric for each in both for metric in each}):
            cells = ' | '.join(
                _change(*(_counted(each.get(metric, {}).get(level.name, (0, 0))) for each in both))
                for level in reversed(ALARMS)
            )
            yield f'| {kind} | `{metric}` | {cells} |'


def _counted(drives_and_alone: Sequence[int]) -> str:
    drives, alone = drives_and_alone
    return f'{drives:,} ({alone:,})' if drives else '0'


def _change(before: int | str, now: int | str) -> str:
    """Return "859, was 969", or one number where it is the same."""
    was, words = (f'{count:,}' if isinstance(count, int) else count for count in (before, now))
    return words if words == was else f'{words}, was {was}'


def _percent(part: int, whole: int) -> str:
    return f'{100 * part / whole:.1f} %' if whole else '-'


# --- each limit -----------------------------------------------------------------------


def limits(alarms: Sequence[Alarm], thresholds: Thresholds) -> Iterator[str]:
    """Yield a row a limit: how many drives have the number, are beyond it, by it alone, and report
    FAILED, beyond it and not.
    """
    for metric in sorted(thresholds.metrics()):
        for kind, identity in KINDS.items():
            limit = thresholds.limit(metric, Device(''), identity, '')
            drives = [each for each in alarms if each.kind == kind and metric in each.metrics]
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
        if any(name == metric and state.urgency >= level.urgency for name, state in each.reasons)
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
        return f'below {limit.start:g}' if limit.end == math.inf else f'above {limit.end:g}'
    offset = f' {"-" if bound.offset < 0 else "+"} {abs(bound.offset):g}' if bound.offset else ''
    floor = f', at least {bound.at_least:g}' if bound.at_least > -math.inf else ''
    return f'beyond its {bound.reading}{offset}{floor}, else {described(bound.otherwise)}'


def tables(
    alarms: Sequence[Alarm], thresholds: Thresholds, before: Figures
) -> dict[str, Iterable[str]]:
    """Return the rows of each table, as in the data files beside doc/explanation/verdicts.md."""
    now = figures(alarms)
    return {
        'collection': states(before, now),
        'reasons': reasons(before, now),
        'defences': limits(alarms, thresholds),
    }


def read_figures(path: str) -> Figures:
    """Return the figures of an earlier run. Raises DataError where a file holds none."""
    data = shipped_data.load(path)
    if not isinstance(data, dict) or not all(
        isinstance(data.get(key), dict) for key in ('states', 'reasons')
    ):
        raise DataError(
            f'{path} holds no figures of an earlier run; write them with: '
            'python -m tools.measure FILE --verdicts --json'
        )
    return {'states': data['states'], 'reasons': data['reasons']}


def main(path: str, before: str, as_json: bool) -> None:
    """Print what the default limits do to the drives of a file, beside the figures of an earlier
    run.

    Raises DataError.
    """
    database = SpecDatabase(shipped_data.load(shipped_data.path('attributes.json')))
    thresholds = Thresholds(shipped_data.load(shipped_data.path('thresholds/default.json')))
    alarms = [alarm(drive, database, thresholds) for drive in drives(path)]
    now = figures(alarms)
    if as_json:
        print(json.dumps(now, indent=1, sort_keys=True))
        return
    for rows in tables(alarms, thresholds, read_figures(before) if before else now).values():
        print(*rows, '', sep='\n')
