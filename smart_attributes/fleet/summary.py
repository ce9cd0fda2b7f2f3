"""The summary of a fleet: counts by model and firmware, firmware defects, and the plan. Pure.

The plan shows the drives to replace, in order; the models to order, with dates; and the firmware to
update.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..constants import YEAR
from ..knowledge.drive_database import SpecDatabase
from ..model import WORST_FIRST, Identity, State
from ..typed import Json, MutableJson
from ..work import actions
from ..work.dates import day
from .plugin_output import FleetDrive
from .replacement_order import ReplacementOrder

NOW = 'now'
UNDATED = 'no forecast'  # sorted after all quarters
PLANNED = 3 * YEAR  # seconds ahead; later orders are not planned yet
UNTOLD = ''
SHOWN = 50  # steps of each kind on the page
SHORTEST_SERIAL = 4  # characters
BUY = 'order'


class Group:
    """A group of drives of one type, and their hosts."""

    def __init__(self) -> None:
        self.states: Counter[str] = Counter()
        self.hosts = 0
        self._host: str | None = None

    def add(self, drive: FleetDrive) -> None:
        """Count a drive; drives of the same host must be added one after another."""
        self.states[drive.facts['state']] += 1
        if drive.facts['host'] != self._host:
            self._host = drive.facts['host']
            self.hosts += 1

    @property
    def drives(self) -> int:
        """Return the number of drives."""
        return sum(self.states.values())


class Summary:
    """Counts drives one by one."""

    def __init__(self, now: float) -> None:
        self.states: Counter[str] = Counter()
        # number of rows about a check instead of a drive, by state
        self.checks: Counter[str] = Counter()
        self.codes: Counter[str] = Counter()  # causes of the rows that are not OK
        self.hosts: set[str] = set()
        self.models: dict[tuple[str, str], Group] = defaultdict(Group)
        self.plan: dict[tuple[str, str], Group] = defaultdict(Group)
        self.replace = ReplacementOrder()
        self.repeats = 0  # times that a drive was reported again
        self._now = now
        # drive -> state in which it is counted; keys are hashes, because text would use more memory
        self._counted: dict[int, str] = {}

    def add(self, drive: FleetDrive) -> None:
        """Count a drive once, in its worst state."""
        facts = drive.facts
        state = facts['state']
        self.hosts.add(facts['host'])
        if facts.get('is_check'):
            self.checks[state] += 1
            self.codes[facts['code']] += state != State.OK.name
            return
        key, model = _key(facts), facts['model'] or UNTOLD
        group = self.models[model, facts['firmware'] or UNTOLD]
        before = self._counted.get(key) if key else None
        if before:
            self.repeats += 1
            if State[state].urgency <= State[before].urgency:
                return
            self.states[before] -= 1
            group.states[before] -= bool(group.states[before])
        self._counted[key] = state
        self.states[state] += 1
        group.add(drive)
        self.replace.add(drive)
        quarter = due(facts, self._now)
        if quarter:
            self.plan[quarter, model].add(drive)


def identifies(serial: str) -> bool:
    """Return whether a serial number can identify a drive: it is long enough and not a single
    repeated character.
    """
    return len(serial) >= SHORTEST_SERIAL and len(set(serial)) > 1


def _key(facts: Json) -> int:
    """Return a number that identifies a drive during this run; 0 if the drive has no unique
    serial number.
    """
    serial, model = facts['serial'] or '', facts['model'] or ''
    return hash((model, serial)) if model and identifies(serial) else 0


def due(facts: Json, now: float) -> str:
    """Return when a replacement must be ordered: "now", "2027-Q1", UNDATED, or '' if no order is
    planned.
    """
    by = facts.get('order_by') or ''
    if actions.needs_spare(facts['action'], State[facts['state']]) or (by and by <= day(now)):
        return NOW
    is_ordered = actions.ORDER in (
        facts['action'],
        *(row['action'] for row in facts.get('also', ())),
    )
    if by and (by <= day(now + PLANNED) or is_ordered):
        return quarter(by)
    return UNDATED if is_ordered else ''


def quarter(by: str) -> str:
    """Return the quarter of a date: "2027-Q1" for "2027-03-04"."""
    return f'{by[:-6]}-Q{(int(by[-5:-3]) + 2) // 3}'


class Defect(NamedTuple):
    """A known firmware defect and the affected drives."""

    model: str
    firmware: str
    group: Group
    words: str
    is_fixed: bool = True  # a firmware version without the defect is known


def defects(summary: Summary, database: SpecDatabase) -> list[Defect]:
    """Return the known firmware defects in the fleet, most affected drives first."""
    result = []
    for (model, firmware), group in summary.models.items():
        if not model or not firmware:
            continue
        for advisory in database.advisories(Identity(model=model, firmware=firmware)):
            words = f'{advisory.effect}; {advisory.action}'
            if advisory.fixed_in:
                words += f', fixed in {advisory.fixed_in}'
            is_fixed = bool(advisory.fixed_in) or not advisory.is_read  # a patch keeps its revision
            result.append(Defect(model, firmware, group=group, words=words, is_fixed=is_fixed))
    return sorted(result, key=lambda defect: (-defect.group.drives, defect.model, defect.firmware))


def planned(summary: Summary) -> list[tuple[tuple[str, str], Group]]:
    """Return ((quarter, model), drives), earliest quarter first."""

    def rank(entry: tuple[tuple[str, str], Group]) -> tuple[Any, ...]:
        (quarter, model), group = entry
        return quarter != NOW, quarter, -group.drives, model

    return sorted(summary.plan.items(), key=rank)


def by_model(summary: Summary) -> list[tuple[tuple[str, str], Group]]:
    """Return ((model, firmware), drives), most alerts first."""

    def rank(entry: tuple[tuple[str, str], Group]) -> tuple[Any, ...]:
        name, group = entry
        alerts = [-group.states[state.name] for state in WORST_FIRST if state is not State.OK]
        return (*alerts, -group.drives, name)

    return sorted(summary.models.items(), key=rank)


def as_json(summary: Summary, defects: Iterable[Defect]) -> MutableJson:
    """Return the summary in the format of the JSON document."""
    return {
        'hosts': len(summary.hosts),
        'drives': sum(summary.states.values()),
        'states': _counts(summary.states),
        'models': [_model(*name, group) for name, group in by_model(summary)],
        'advisories': [_advisory(defect) for defect in defects],
        'plan': [_planned(*name, group) for name, group in planned(summary)],
        'causes': {code: count for code, count in summary.codes.most_common() if count},
    }


def _model(model: str, firmware: str, group: Group) -> Json:
    return {
        'model': model or None,
        'firmware': firmware or None,
        **_group(group),
        **_counts(group.states),
    }


def _planned(when: str, model: str, group: Group) -> Json:
    return {'quarter': when, 'model': model or None, **_group(group)}


def _advisory(defect: Defect) -> Json:
    return {
        'model': defect.model,
        'firmware': defect.firmware,
        **_group(defect.group),
        'what': defect.words,
    }


def _group(group: Group) -> Mapping[str, int]:
    return {'drives': group.drives, 'hosts': group.hosts}


def _counts(states: Counter[str]) -> Mapping[str, int]:
    return {state.name.lower(): states[state.name] for state in WORST_FIRST}


# --- the plan ----------------------------------------------------------------------------


class Step(NamedTuple):
    """A row of the plan; '' means unknown or not applicable."""

    action: str
    by: str = ''  # "now", "2027-Q1", "no forecast"
    host: str = ''
    drive: str = ''
    serial: str = ''
    model: str = ''
    firmware: str = ''
    drives: int = 0
    hosts: int = 0  # 0: unknown
    why: str = ''


def steps(summary: Summary, defects: Sequence[Defect]) -> list[Step]:
    """Return the plan; an update is advised only if a corrected version exists."""
    plan = [_replaced(facts) for facts in summary.replace.drives()]
    for (by, model), group in planned(summary):
        plan.append(Step(BUY, by, model=model, drives=group.drives, hosts=group.hosts))
    for defect in defects:
        action = actions.FIRMWARE if defect.is_fixed else actions.WATCH
        step = Step(
            actions.action(action).words,
            model=defect.model,
            firmware=defect.firmware,
            drives=defect.group.drives,
            hosts=defect.group.hosts,
            why=defect.words,
        )
        plan.append(step)
    return plan


def _replaced(facts: Json) -> Step:
    identity = {key: facts[key] or '' for key in ('serial', 'model', 'firmware')}
    return Step(
        facts.get('to_do') or actions.action(facts['action']).words,
        by=NOW,
        host=facts['host'],
        drive=facts['name'],
        drives=1,
        hosts=1,
        why=facts.get('why') or '',
        **identity,
    )


def first(plan: Sequence[Step], most: int = SHOWN) -> list[Step]:
    """Return the first few steps of each kind: drives to replace, models to order, firmware to
    update.
    """
    counts: Counter[str] = Counter()
    shown = []
    for step in plan:
        kind = '' if step.drive else step.action
        counts[kind] += 1
        if counts[kind] <= most:
            shown.append(step)
    return shown
