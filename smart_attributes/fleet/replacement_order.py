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
        return sorted(self._kept, key=lambda each: each[:2])[:MOST_GROUPS]


def of_document(content: Json, host: str, as_of: str | None) -> list[AtRisk]:
    """Return the groups at risk in an untrusted `triage` document. as_of: note on an old
    document's age, or None.
    """
    told = {
        text_of(each.get('name')): text_of(each.get('to_do'))
        for each in dicts_of(content.get('work'))
    }
    steps = [
        {**step, **({'to_do': told[step['name']]} if told.get(step['name']) else {})}
        for given in dicts_of(content.get('replace_order'))
        if given.get('label') in LABELS
        for step in [shaped('step', given)]
    ]
    found = [(risk(group), group) for group in map(_group, dicts_of(content.get('groups')))]
    return [
        _at_risk(grade, host, group, as_of, _first(group, steps))
        for grade, group in found
        if grade in AT_RISK
    ]


def of_drive(facts: Json) -> Iterator[AtRisk]:
    """Yield the group at risk, if a drive's line of plugin output mentions one. facts: as in
    FleetDrive.
    """
    step = facts.get('replacement') or {}
    grade = OF_CODE[step['code']][1] if step else Risk.PLAIN
    if grade in AT_RISK:
        old = next((note['text'] for note in facts['notes'] if note['code'] == 'result-old'), None)
        named = {
            'id': None,
            'name': None,
            'level': None,
            'used_as': [],
            'tolerates': None,
            'text': step['text'],
        }
        yield _at_risk(
            grade,
            facts['host'],
            named,
            old,
            {
                'name': facts['name'],
                'label': step['label'],
                'code': step['code'],
                'why': step['text'],
                'to_do': facts['to_do'],
            },
        )


def _at_risk(grade: Risk, host: str, group: Json, as_of: str | None, first: Json | None) -> AtRisk:
    return AtRisk(
        grade,
        host,
        {
            'host': host,
            'risk': grade.name.lower(),
            **{key: group[key] for key in OF_A_GROUP},
            'as_of': as_of,
            'first': first,
        },
    )


def first_step(facts: Json) -> str:
    """Return the first step for a group at risk as text; '' if the group's own text already
    contains the step.
    """
    step = facts['first']
    if not step or step['why'] == facts['text']:
        return ''
    return (
        f'{step["name"]}: {step["to_do"]}'
        if 'to_do' in step and step['label'] in (NEXT, COPY)
        else str(step['why'])
    )


def _first(group: Json, steps: Sequence[Json]) -> Json | None:
    """Return the first step for a drive of a group."""
    return next(
        (
            {key: each for key, each in step.items() if key != 'groups'}
            for step in steps
            if group['id'] in step['groups']
        ),
        None,
    )


# --- parts of a document, of any type -------------------------------------------------------------


def _group(given: Json) -> Json:
    return {**shaped('group', given), 'members': list(map(_member, dicts_of(given.get('members'))))}


def _member(given: Json) -> Json:
    drives = dicts_of(given.get('drives'))
    return {
        'state': text_of(given.get('state')) or 'unknown',
        'drives': [
            {'state': state_of(each['state']).name if each.get('state') else None}
            for each in drives
        ],
    }


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
            kept = {**{key: facts[key] for key in FACTS if key in facts}, **self._hidden}
            self._kept.append(Waiting((_risk(facts), drive.rank), kept))
            if len(self._kept) > 2 * MOST_GROUPS:
                self._kept = self._most_urgent()

    def _most_urgent(self) -> list[Waiting]:
        return sorted(self._kept, key=lambda each: each.key)[:MOST_GROUPS]

    def drives(self, groups: Iterable[AtRisk]) -> list[Json]:
        """Return the facts of the drives to replace, most urgent first. groups: all groups at risk
        in the fleet.

        The drives of a host with such a group are adjacent: the drive to replace next, then the
        drives that wait.
        """
        risks = {each.host: each.risk for each in sorted(groups, key=lambda each: -each.risk)}
        kept = self._most_urgent()
        for each in kept:
            host, grade = each.facts['host'], _risk(each.facts)
            if grade in AT_RISK:
                risks[host] = min(grade, risks.get(host, grade))
        return [each.facts for each in sorted(kept, key=lambda each: _key(each, risks))]


def _key(drive: Waiting, risks: Mapping[str, Risk]) -> tuple[object, ...]:
    host = drive.facts['host']
    if host not in risks:
        return Risk.PLAIN, '', 0, drive.key
    label = (drive.facts.get('replacement') or {}).get('label')
    return risks[host], host, LABELS.index(label) if label in LABELS else len(LABELS), drive.key


def _risk(facts: Json) -> Risk:
    """Return the risk of a drive's group, as given by the code in the drive's facts."""
    return risk_of((facts.get('replacement') or {}).get('code') or '')
