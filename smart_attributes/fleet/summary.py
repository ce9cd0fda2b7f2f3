"""The summary of a fleet: counts by model and firmware, firmware defects, and the plan. Pure.

The plan shows the drives to replace, in order; the models to order, with dates; and the firmware to
update.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..constants import YEAR
from ..knowledge.drive_database import SpecDatabase
from ..model import WORST_FIRST, Identity, State
from ..typed import Json, MutableJson
from ..work import actions
from ..work.dates import day
from .drives import FleetDrive
from .replacement_order import NOW, ReplacementOrder, Step

UNDATED = 'no forecast'  # sorted after all quarters


class Group:
    """A group of drives of one type, and their hosts."""

    def __init__(self) -> None:
        self.states: Counter[str] = Counter()
        self.hosts = 0
        self._host = ''  # of the last drive

    def add(self, drive: FleetDrive) -> None:
        """Count a drive; drives of the same host must be added one after another."""
        self.states[drive.facts['state']] += 1
        host = drive.facts['host']
        if host != self._host:
            self._host = host
            self.hosts += 1

    @property
    def drives(self) -> int:
        """Return the number of drives."""
        return sum(self.states.values())


class _Counted(NamedTuple):
    """How a drive is counted."""

    state: str
    of_firmware: Group  # in Summary.models
    of_order: Group  # in Summary.plan


class Summary:
    """Counts drives one by one."""

    def __init__(self, now: float) -> None:
        self.states: Counter[str] = Counter()
        # number of rows about a check instead of a drive, by state
        self.checks: Counter[str] = Counter()
        self.codes: Counter[str] = Counter()  # causes of the rows that are not OK
        self.hosts: set[str] = set()
        self.models: dict[tuple[str, str], Group] = defaultdict(Group)
        # by the time of the order, see due(), and the model
        self.plan: dict[tuple[str, str], Group] = defaultdict(Group)
        self.replace = ReplacementOrder()
        self.repeats = 0  # times that a drive was reported again
        self._now = now
        # To use little memory for a drive, its key is a hash, and equal values are one object:
        # _shared has this object for each value.
        self._counted: dict[int, _Counted] = {}
        self._shared: dict[_Counted, _Counted] = {}

    def add(self, drive: FleetDrive) -> None:
        """Count a drive once, in its worst state: a repeat counts only if it is worse, and then
        instead of the earlier report. A row about a check counts as a check.
        """
        facts = drive.facts
        state = facts['state']
        self.hosts.add(facts['host'])
        if facts.get('is_check'):
            self.checks[state] += 1
            if state != State.OK.name:
                self.codes[facts['code']] += 1
            return
        key = _key(facts)
        # Reports with the key 0 are not stored, so each counts as another drive.
        earlier = self._counted.get(key)
        if earlier:
            self.repeats += 1
            if State[state].urgency <= State[earlier.state].urgency:
                return
            self._subtract(earlier)
        model = facts['model'] or ''
        of_firmware = self.models[model, facts['firmware'] or '']
        by = due(facts, self._now)
        # A repeat without a date can be from a host that does not read the drive, or misses it. So
        # the drive stays in the order that was planned for the earlier report.
        of_order = earlier.of_order if earlier and not by else self.plan[by, model]
        if key:
            counted = _Counted(state, of_firmware, of_order)
            # To save memory, equal values are stored as one object: the first of them.
            self._counted[key] = self._shared.setdefault(counted, counted)
        self.states[state] += 1
        self.replace.add(drive)
        of_firmware.add(drive)
        of_order.add(drive)

    def _subtract(self, earlier: _Counted) -> None:
        """Undo the count of an earlier report; its host stays counted."""
        self.states[earlier.state] -= 1
        for group in (earlier.of_firmware, earlier.of_order):
            group.states[earlier.state] -= 1


def _key(facts: Json) -> int:
    """Return a number that identifies a drive during this run; 0 if it has no unique serial number,
    such as "0000".
    """
    serial = facts['serial'] or ''
    model = facts['model'] or ''
    is_unique = len(serial) >= 4 and len(set(serial)) > 1
    return hash((model, serial)) if model and is_unique else 0


def due(facts: Json, now: float) -> str:
    """Return when a replacement must be ordered: "now", "2027-Q1", UNDATED if an order is advised
    without a date, or '' if no order is planned. A date more than three years from now counts only
    if an order is advised.
    """
    by = facts['order_by']
    state = State[facts['state']]
    is_overdue = by and by <= day(now)
    if is_overdue or actions.needs_spare(facts['action'], state):
        return NOW
    further = [row['action'] for row in facts.get('also', ())]
    is_order_advised = actions.ORDER in (facts['action'], *further)
    if not by:
        return UNDATED if is_order_advised else ''
    is_soon = by <= day(now + 3 * YEAR)
    return quarter(by) if is_order_advised or is_soon else ''


def quarter(by: str) -> str:
    """Return the quarter of a date: "2027-Q1" for "2027-03-04"."""
    year, month, _ = by.split('-')
    return f'{year}-Q{(int(month) + 2) // 3}'


def by_model(summary: Summary) -> list[tuple[tuple[str, str], Group]]:
    """Return ((model, firmware), drives), sorted by the number of CRITICAL drives, the greatest
    first, then by those of UNKNOWN, WARNING and OK drives, then by name.
    """

    def rank(entry: tuple[tuple[str, str], Group]) -> tuple[Any, ...]:
        name, group = entry
        return (*(-group.states[state.name] for state in WORST_FIRST), name)

    with_drives = [entry for entry in summary.models.items() if entry[1].drives]
    return sorted(with_drives, key=rank)


def as_json(summary: Summary, plan: Sequence[Step]) -> MutableJson:
    """Return the summary in the format of the JSON document."""
    return {
        'hosts': len(summary.hosts),
        'drives': sum(summary.states.values()),
        'states': _counts(summary.states),
        'models': [_model(*name, group) for name, group in by_model(summary)],
        'causes': dict(summary.codes.most_common()),
        'steps': [step._asdict() for step in plan],
    }


def _model(model: str, firmware: str, group: Group) -> Json:
    return {
        'model': model or None,
        'firmware': firmware or None,
        'drives': group.drives,
        'hosts': group.hosts,
        **_counts(group.states),
    }


def _counts(states: Counter[str]) -> Mapping[str, int]:
    return {state.name.lower(): states[state.name] for state in WORST_FIRST}


# --- the plan ----------------------------------------------------------------------------


def steps(summary: Summary, database: SpecDatabase) -> list[Step]:
    """Return the plan: drives to replace, then models to order, earliest quarter first, then known
    firmware defects.
    """
    orders = [
        Step('order', by, model=model, drives=group.drives, hosts=group.hosts)
        for (by, model), group in summary.plan.items()
        if by and group.drives
    ]
    # "now", "2027-Q1", "2027-Q2", "no forecast"
    orders.sort(key=lambda step: (step.by != NOW, step.by, -step.drives, step.model))
    return [*summary.replace.steps(), *orders, *firmware_steps(summary, database)]


def firmware_steps(summary: Summary, database: SpecDatabase) -> list[Step]:
    """Return the known firmware defects in the fleet, most affected drives first.

    An update is advised only if a corrected version or a patch exists.
    """
    plan = []
    for (model, firmware), group in summary.models.items():
        if not (model and firmware and group.drives):
            continue
        for advisory in database.advisories(Identity(model=model, firmware=firmware)):
            action = actions.FIRMWARE if advisory.has_correction else actions.WATCH
            why = f'{advisory.effect}; {advisory.action}'
            if advisory.fixed_in:
                why += f', fixed in {advisory.fixed_in}'
            plan.append(
                Step(
                    actions.action(action).words,
                    model=model,
                    firmware=firmware,
                    drives=group.drives,
                    hosts=group.hosts,
                    why=why,
                )
            )
    return sorted(plan, key=lambda step: (-step.drives, step.model, step.firmware))
