"""What the default limits do to many drives: states by kind, who alarms for which reason, and how many are beyond each
limit.

A metric is a reason where it is not OK; *alone* where nothing else reaches its state: only there a limit decides.
Drives that report FAILED support a limit; those that report PASSED and alert are what an admin has to look at.
"""
from __future__ import annotations

import json
import math
from collections import Counter
from typing import (
    TYPE_CHECKING,
    Any,
    Dict,
    FrozenSet,
    Iterable,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
)

from smart_attributes.devtools import collection, measure
from smart_attributes.errors import DataError
from smart_attributes.knowledge import data_file, ranges
from smart_attributes.knowledge.drive_database import SpecDatabase
from smart_attributes.knowledge.thresholds import DriveLimit, Thresholds
from smart_attributes.model import Device, Identity, State

from . import dates, expected

if TYPE_CHECKING:
    from smart_attributes.knowledge.thresholds import Bound

KINDS: Mapping[str, Identity] = {
    'hdd': Identity(protocol='ATA', rotation=7200), 'ssd': Identity(protocol='ATA', rotation=0),
    'nvme': Identity(protocol='NVMe'),
    'sas': Identity(protocol='SCSI')}
ALARMS = (State.WARNING, State.CRITICAL)
Figures = Dict[str, Dict[str, Dict[str, Any]]]
"""{"states": {"hdd": {"PASSED": {"OK": 1, ...}}},
"reasons": {"hdd": {"pending": {"WARNING": [drives, of these alone]}}}}, the reasons of drives that say PASSED."""


class Alarm(NamedTuple):
    """One drive as it is judged by default."""

    kind: str
    health: str                      # "PASSED", "FAILED" or "not told"
    state: State
    reasons: Tuple[Tuple[str, State], ...]
    told: FrozenSet[str] = frozenset()  # metrics that the drive has a judged number of
    lasting: Optional[dates.Lasting] = None  # None: it tells no endurance
    life: Optional[expected.Life] = None     # None: it does not tell its power-on time

    def is_alone(self, metric: str, level: State) -> bool:
        """Say whether only *metric* reaches a level."""
        return not any(other != metric and state.urgency >= level.urgency for other, state in self.reasons)


def alarm(drive: collection.Drive, database: SpecDatabase, thresholds: Thresholds) -> Alarm:
    """Return how a drive is judged by default."""
    verdict = measure.judged(drive, database, thresholds)
    known = measure.alarm(drive, verdict)
    return Alarm(known.kind, known.health, known.state, known.reasons,
                 frozenset(j.reading.metric for j in verdict.judgements if j.reading.judged
                           and j.reading.number is not None), dates.lasting(verdict),
                 expected.life(verdict, thresholds, database.metrics))


# --- figures --------------------------------------------------------------------------

def figures(alarms: Sequence[Alarm]) -> Figures:
    """Return states and reasons as counts, which a later run can be compared with."""
    found: Figures = {'states': {}, 'reasons': {}}
    for each in alarms:
        states = found['states'].setdefault(each.kind, {}).setdefault(each.health, {})
        states[each.state.name] = states.get(each.state.name, 0) + 1
        for metric, level in set(each.reasons) if each.health == 'PASSED' else ():
            counts = found['reasons'].setdefault(each.kind, {}).setdefault(metric, {}).setdefault(level.name, [0, 0])
            counts[0] += 1
            counts[1] += each.is_alone(metric, level)
    return found


def states(before: Figures, now: Figures) -> Iterator[str]:
    """Yield a row a kind and health: how many drives are in which state, before and now."""
    for kind, healths in sorted(now['states'].items()):
        for health, counts in sorted(healths.items()):
            was = before['states'].get(kind, {}).get(health, {})
            cells = ' | '.join(_change(was.get(state.name, 0), counts.get(state.name, 0))
                               for state in (State.OK, *ALARMS))
            yield f'| {kind} | {health} | {cells} | {_change(_alarming(was), _alarming(counts))} |'


def _alarming(counts: Mapping[str, int]) -> str:
    drives = sum(counts.values())
    return f'{100 * sum(counts.get(state.name, 0) for state in ALARMS) / drives:.1f} %' if drives else '-'


def reasons(before: Figures, now: Figures) -> Iterator[str]:
    """Yield a row a kind and metric: how many drives that say PASSED alarm by it, in brackets by it alone, before and
    now.
    """
    for kind in sorted({*before['reasons'], *now['reasons']}):
        was, found = before['reasons'].get(kind, {}), now['reasons'].get(kind, {})
        for metric in sorted({*was, *found}):
            cells = ' | '.join(_change(_counted(was, metric, level), _counted(found, metric, level))
                               for level in reversed(ALARMS))
            yield f'| {kind} | `{metric}` | {cells} |'


def _counted(found: Mapping[str, Mapping[str, Sequence[int]]], metric: str, level: State) -> str:
    drives, alone = found.get(metric, {}).get(level.name, (0, 0))
    return f'{drives:,} ({alone:,})' if drives else '0'


def _change(before: Any, now: Any) -> str:
    """Return "859, was 969", or one number where it is the same."""
    words = [f'{count:,}' if isinstance(count, int) else count for count in (now, before)]
    return words[0] if words[0] == words[1] else f'{words[0]}, was {words[1]}'


# --- each limit -----------------------------------------------------------------------

def limits(alarms: Sequence[Alarm], thresholds: Thresholds) -> Iterator[str]:
    """Yield a row a limit: how many drives have the number, are beyond it, by it alone, and say FAILED, beyond it and
    not.
    """
    by_kind: Dict[str, List[Alarm]] = {kind: [each for each in alarms if each.kind == kind] for kind in KINDS}
    for metric in sorted(thresholds.metrics()):
        for kind, identity in KINDS.items():
            limit = thresholds.limit(metric, Device(''), identity, '')
            told = [each for each in by_kind[kind] if metric in each.told]
            for level, bound in zip(ALARMS, (limit.warning, limit.critical)):
                if told and bound is not None:
                    yield f'| `{metric}` {said(bound)} | {kind} | {level.name} | {_defence(told, metric, level)} |'


def _defence(told: Sequence[Alarm], metric: str, level: State) -> str:
    beyond = [each for each in told
              if any(name == metric and state.urgency >= level.urgency for name, state in each.reasons)]
    others = Counter(each.health for each in told) - Counter(each.health for each in beyond)
    cells = (f'{len(told):,}', f'{len(beyond):,}', f'{sum(each.is_alone(metric, level) for each in beyond):,}',
             _failed(Counter(each.health for each in beyond)), _failed(others))
    return ' | '.join(cells)


def _failed(healths: Mapping[str, int]) -> str:
    drives = sum(healths.values())
    return f'{100 * healths["FAILED"] / drives:.1f} %' if drives else '-'


def said(bound: Bound) -> str:
    """Return a limit in words: "above 20", "beyond its temperature_limit - 5, else above 55"."""
    if not isinstance(bound, DriveLimit):
        parsed = ranges.parse(bound or '')
        return f'below {parsed.start:g}' if parsed.end == math.inf else f'above {parsed.end:g}'
    offset = f' {"-" if bound.offset < 0 else "+"} {abs(bound.offset):g}' if bound.offset else ''
    floor = f', at least {bound.at_least:g}' if bound.at_least > -math.inf else ''
    return f'beyond its {bound.reading}{offset}{floor}, else {said(bound.otherwise)}'


# --- the command ----------------------------------------------------------------------

def tables(alarms: Sequence[Alarm], thresholds: Thresholds, before: Figures) -> Dict[str, Iterable[str]]:
    """Return the rows of each table, as doc/verdicts.md has them."""
    now = figures(alarms)
    return {'collection': states(before, now), 'reasons': reasons(before, now), 'defences': limits(alarms, thresholds),
            'dates': dates.table((each.kind, each.lasting) for each in alarms),
            'expected': expected.rows([(each.kind, each.state, each.life) for each in alarms])}


def read_figures(path: str) -> Figures:
    """Return the figures of an earlier run. Raises DataError where a file holds none."""
    data = data_file.load(path)
    if not isinstance(data, dict) or not all(isinstance(data.get(key), dict) for key in ('states', 'reasons')):
        raise DataError(f'{path} holds no figures of an earlier run; write them with: '
                        'python -m tools.measure FILE --verdicts --json')
    return {'states': data['states'], 'reasons': data['reasons']}


def read_alarms(path: str) -> Tuple[List[Alarm], Thresholds]:
    """Return how the drives of a file are judged by the shipped limits, and these. Raises DataError."""
    database = SpecDatabase(data_file.load(data_file.shipped('attributes.json')))
    thresholds = Thresholds(data_file.load(data_file.shipped('thresholds/default.json')))
    return [alarm(drive, database, thresholds) for drive in collection.read(path)], thresholds


def main(path: str, before: str, as_json: bool) -> None:
    """Print what the default limits do to the drives of a file, beside the figures of an earlier run.

    Raises DataError.
    """
    alarms, thresholds = read_alarms(path)
    now = figures(alarms)
    if as_json:
        print(json.dumps(now, indent=1, sort_keys=True))
        return
    for rows in tables(alarms, thresholds, read_figures(before) if before else now).values():
        print(*rows, '', sep='\n')
