"""Find a fleet's most urgent problems: the groups of drives at risk, and the drives to replace, in
order. Pure.

For example, an array that must not lose another member is at risk. If a host has such a group, its
drives come first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ..constants import MOST_GROUPS
from ..redundancy.replacement import AT_RISK, COPY, LABELS, NEXT, OF_CODE, Risk, risk, risk_of
from ..typed import Json
from ..work import actions
from .plugin_output import FleetDrive
from .untrusted import dicts_of, shaped, state_of, text_of

OF_A_GROUP = ('id', 'name', 'level', 'used_as', 'tolerates', 'text')
# kept facts
FACTS = ('host', 'name', 'model', 'serial', 'firmware', 'action', 'to_do', 'why', 'replacement')


class AtRisk(NamedTuple):
    """A group at risk."""

    risk: Risk
    host: str
    facts: Json  # in the format of the JSON document


class GroupsAtRisk:
    """Collects groups at risk one by one and keeps the most urgent."""

    def __init__(self) -> None:
        self.count = 0
        self._kept: list[AtRisk] = []

    def add(self, groups: Iterable[AtRisk]) -> None:
        """Count groups, and keep the most urgent of them."""
        before = len(self._kept)
        self._kept.extend(groups)
        self.count += len(self._kept) - before
        if len(self._kept) > 2 * MOST_GROUPS:
            self._kept = self.worst()

    def worst(self) -> list[AtRisk]:
        """Return the most urgent groups, worst first."""
        return sorted(self._kept, key=lambda group: (group.risk, group.host))[:MOST_GROUPS]


def of_document(content: Json, host: str, as_of: str | None) -> list[AtRisk]:
    """Return the groups at risk in an untrusted `triage` document. as_of: note on an old
    document's age, or None.
    """
    to_do = {}
    for row in dicts_of(content.get('work')):
        to_do[text_of(row.get('name'))] = text_of(row.get('to_do'))
    steps = []
    for row in dicts_of(content.get('replace_order')):
        if row.get('label') in LABELS:
            step = shaped('step', row)
            if to_do.get(step['name']):
                step['to_do'] = to_do[step['name']]
            steps.append(step)
    groups = []
    for row in dicts_of(content.get('groups')):
        group = _group(row)
        grade = risk(group)
        if grade in AT_RISK:
            groups.append(
                _at_risk(grade, host, group=group, as_of=as_of, first=_first(group, steps))
            )
    return groups


def of_drive(facts: Json) -> Iterator[AtRisk]:
    """Yield the group at risk, if a drive's line of plugin output mentions one. facts: as in
    FleetDrive.
    """
    step = facts.get('replacement') or {}
    grade = OF_CODE[step['code']][1] if step else Risk.PLAIN
    if grade not in AT_RISK:
        return
    as_of = [note['text'] for note in facts['notes'] if note['code'] == 'result-old']
    group = {**dict.fromkeys(OF_A_GROUP), 'used_as': [], 'text': step['text']}
    first = {
        'name': facts['name'],
        'label': step['label'],
        'code': step['code'],
        'why': step['text'],
        'to_do': facts['to_do'],
    }
    yield _at_risk(
        grade, facts['host'], group=group, as_of=as_of[0] if as_of else None, first=first
    )


def _at_risk(
    grade: Risk,
    host: str,
    group: Json,
    as_of: str | None,
    first: Json | None,
) -> AtRisk:
    facts = {
        'host': host,
        'risk': grade.name.lower(),
        **{key: group[key] for key in OF_A_GROUP},
        'as_of': as_of,
        'first': first,
    }
    return AtRisk(grade, host, facts)


def first_step(facts: Json) -> str:
    """Return the first step for a group at risk as text; '' if the group's own text already
    contains the step.
    """
    step = facts['first']
    if not step or step['why'] == facts['text']:
        return ''
    if 'to_do' in step and step['label'] in (NEXT, COPY):
        return f'{step["name"]}: {step["to_do"]}'
    return str(step['why'])


def _first(group: Json, steps: Sequence[Json]) -> Json | None:
    """Return the first step for a drive of a group."""
    for step in steps:
        if group['id'] in step['groups']:
            return {key: step[key] for key in step if key != 'groups'}
    return None


# --- parts of a document, of any type -------------------------------------------------------------


def _group(row: Json) -> Json:
    return {**shaped('group', row), 'members': list(map(_member, dicts_of(row.get('members'))))}


def _member(row: Json) -> Json:
    drives = []
    for drive in dicts_of(row.get('drives')):
        state = drive.get('state')
        drives.append({'state': state_of(state).name if state else None})
    return {'state': text_of(row.get('state')) or 'unknown', 'drives': drives}


# --- the drives to replace ---------------------------------------------------------------


class Waiting(NamedTuple):
    """A drive to replace and its sort key within the fleet."""

    key: tuple[object, ...]
    facts: Json  # the items of FACTS that are known


class ReplacementOrder:
    """Collects drives one by one and keeps the most urgent of those to replace."""

    def __init__(self, hide_serial: bool = False) -> None:
        """Create an empty order. hide_serial: omit serial numbers, and also reasons, because
        they may contain some.
        """
        self.count = 0
        self._hidden = {'serial': None, 'why': None} if hide_serial else {}
        self._kept: list[Waiting] = []

    def add(self, drive: FleetDrive) -> None:
        """Count a drive if it must be replaced."""
        facts = drive.facts
        if facts['action'] in actions.REPLACING:
            self.count += 1
            kept = {key: facts[key] for key in FACTS if key in facts}
            kept.update(self._hidden)
            self._kept.append(Waiting((_risk(facts), drive.rank), kept))
            if len(self._kept) > 2 * MOST_GROUPS:
                self._kept = self._most_urgent()

    def _most_urgent(self) -> list[Waiting]:
        return sorted(self._kept, key=lambda drive: drive.key)[:MOST_GROUPS]

    def drives(self, groups: Iterable[AtRisk]) -> list[Json]:
        """Return the facts of the drives to replace, most urgent first. groups: all groups at risk
        in the fleet.

        The drives of a host with such a group are adjacent: the drive to replace next, then the
        drives that wait.
        """
        kept = self._most_urgent()
        grades = [(group.host, group.risk) for group in groups]
        grades += [(drive.facts['host'], _risk(drive.facts)) for drive in kept]
        risks: dict[str, Risk] = {}
        for host, grade in grades:
            if grade in AT_RISK:
                risks[host] = min(grade, risks.get(host, grade))
        return [drive.facts for drive in sorted(kept, key=lambda drive: _key(drive, risks))]


def _key(drive: Waiting, risks: Mapping[str, Risk]) -> tuple[object, ...]:
    host = drive.facts['host']
    if host not in risks:
        return Risk.PLAIN, '', 0, drive.key
    label = (drive.facts.get('replacement') or {}).get('label')
    place = LABELS.index(label) if label in LABELS else len(LABELS)
    return risks[host], host, place, drive.key


def _risk(facts: Json) -> Risk:
    """Return the risk of a drive's group, as given by the code in the drive's facts."""
    return risk_of((facts.get('replacement') or {}).get('code') or '')
