"""The groups of drives of a fleet that are at risk, such as arrays that can lose no further member. Pure."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ..output.advice import NOTHING, REPLACE, in_its_groups
from ..output.group_risk import AT_RISK, OF_CODE, Risk, risk
from ..redundancy.replacement import COPY, LABELS, NEXT
from ..typed import Json
from .untrusted import dicts_of, state_of, text_of, texts_of, whole_of

OF_A_GROUP = ('id', 'name', 'level', 'used_as', 'tolerates', 'text')
MOST = 1_000           # groups that are kept; further ones are only counted


class AtRisk(NamedTuple):
    """A group at risk."""

    risk: Risk
    host: str
    facts: Json        # in the format of the JSON document


class GroupsAtRisk:
    """Takes groups at risk one by one and keeps the most urgent of them."""

    def __init__(self) -> None:
        self.count = 0
        self._kept: list[AtRisk] = []

    def add(self, groups: Iterable[AtRisk]) -> None:
        """Count groups, and keep the most urgent."""
        before = len(self._kept)
        self._kept.extend(groups)
        self.count += len(self._kept) - before
        if len(self._kept) > 2 * MOST:
            self._kept = self.worst()

    def worst(self) -> list[AtRisk]:
        """Return the most urgent groups, worst first."""
        return sorted(self._kept, key=lambda each: each[:2])[:MOST]


def of_document(content: Json, host: str, as_of: str | None) -> list[AtRisk]:
    """Return the groups at risk in a document of triage, of any content. as_of: its age in words if it is old."""
    steps = list(filter(None, map(_step, dicts_of(content.get('replace_order')))))
    found = [(risk(group), group) for group in map(_group, dicts_of(content.get('groups')))]
    return [_at_risk(grade, host, group, as_of, _first(group, steps)) for grade, group in found if grade in AT_RISK]


def of_drive(facts: Json) -> Iterator[AtRisk]:
    """Yield the group at risk that a drive's line in the plugin's text is about. facts: those of a FleetDrive."""
    step = facts.get('replacement') or {}
    grade = OF_CODE[step['code']][1] if step else Risk.PLAIN
    if grade in AT_RISK:
        old = next((note['text'] for note in facts['notes'] if note['code'] == 'result-old'), None)
        named = {'id': None, 'name': None, 'level': None, 'used_as': [], 'tolerates': None, 'text': step['text']}
        yield _at_risk(grade, facts['host'], named, old, {
            'name': facts['name'], 'label': step['label'], 'code': step['code'], 'why': step['text']})


def _at_risk(grade: Risk, host: str, group: Json, as_of: str | None, first: Json | None) -> AtRisk:
    return AtRisk(grade, host, {'host': host, 'risk': grade.name.lower(), **{key: group[key] for key in OF_A_GROUP},
                                'as_of': as_of, 'first': first})


def first_step(facts: Json) -> str:
    """Return the first step for a group at risk in words; '' if the text of the group has them."""
    step = facts['first']
    if not step or step['why'] == facts['text']:
        return ''
    if step['label'] in (NEXT, COPY):
        action = NOTHING if step['code'] == 'member-not-used' else REPLACE
        return f'{step["name"]}: {in_its_groups(action, step["label"])}'
    return str(step['why'])


def _first(group: Json, steps: Sequence[Json]) -> Json | None:
    """Return the first step for a drive of a group."""
    return next(({key: each for key, each in step.items() if key != 'groups'} for step in steps
                 if group['id'] in step['groups']), None)


# --- parts of a document, of any type -------------------------------------------------------------------

def _step(given: Json) -> Json | None:
    label = text_of(given.get('label'))
    if label not in LABELS:
        return None
    return {'name': text_of(given.get('name')) or '-', 'label': label, 'code': text_of(given.get('code')) or '',
            'why': text_of(given.get('why')) or '', 'groups': texts_of(given.get('groups'))}


def _group(given: Json) -> Json:
    level = text_of(given.get('level')) or ''
    return {'id': text_of(given.get('id')) or '', 'name': text_of(given.get('name')) or '-', 'level': level,
            'used_as': texts_of(given.get('used_as')), 'tolerates': whole_of(given.get('tolerates')),
            'text': text_of(given.get('text')) or '', 'missing': whole_of(given.get('missing')) or 0,
            'activity': text_of(given.get('activity')), 'members': list(map(_member, dicts_of(given.get('members'))))}


def _member(given: Json) -> Json:
    drives = dicts_of(given.get('drives'))
    return {'state': text_of(given.get('state')) or 'unknown',
            'drives': [{'state': state_of(each['state']).name if each.get('state') else None} for each in drives]}
