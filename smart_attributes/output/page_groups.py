"""Groups of drives as the page draws them: a row of members each, those at risk first. Pure."""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ..redundancy import sentences
from ..redundancy.replacement import Risk, risk
from ..typed import Json
from ..wording import listed, plural

DRAWN, NAMED = 64, 12      # groups that are drawn, and groups without redundancy that are named
MEMBERS, EMPTY, DRIVES = 64, 3, 6  # members of a group that are drawn, empty slots of them, and drives of a member
# Class in the page's style, by which a risk or the state of a member is coloured.
OF_RISK: Mapping[Risk, str] = {Risk.BEYOND: 'CRITICAL', Risk.LAST: 'WARNING', Risk.UNSURE: 'UNKNOWN',
                               Risk.DEGRADED: 'WARNING', Risk.UNKNOWN: 'UNKNOWN'}
OF_MEMBER: Mapping[str, str] = {'faulty': 'CRITICAL', 'missing': 'CRITICAL', 'rebuilding': 'WARNING',
                                'unknown': 'UNKNOWN'}


class Groups(NamedTuple):
    """The groups of a machine for the page's template."""

    drawn: Sequence[Json]
    left_out: str = ''         # how many further groups there are
    plain: str = ''            # the groups without redundancy, by name


def groups(document: Json) -> Groups:
    """Return the groups of a document."""
    places = {drive.get('name'): place for place, drive in enumerate(document['drives'])}
    found = sorted(((risk(group), group) for group in document.get('groups', ())), key=lambda each: each[0])
    plain = [group for grade, group in found if grade is Risk.PLAIN]
    others = [(grade, group) for grade, group in found if grade is not Risk.PLAIN]
    left_out = len(others) - DRAWN
    return Groups([_group(grade, group, places) for grade, group in others[:DRAWN]],
                  f'and {plural(left_out, "more group", "more groups")}; triage --json lists all' if left_out > 0
                  else '', _plain(plain))


def _plain(found: Sequence[Json]) -> str:
    """Return the groups without redundancy in one sentence; '' without any."""
    if not found:
        return ''
    names = [f'{group["name"]} ({", ".join(group["used_as"])})' if group['used_as'] else group['name']
             for group in found]
    return f'{plural(len(found), "volume")} without redundancy of their own: {listed(names, NAMED)}'


def _group(grade: Risk, group: Json, places: Mapping[str, int]) -> Json:
    return {'name': group['name'], 'level': sentences.of_level(group['kind'], group['level'] or ''),
            'used_as': group['used_as'], 'state': OF_RISK.get(grade, 'OK'), 'tolerance': _tolerance(group),
            'activity': sentences.BUSY.get(group['activity'], group['activity']), 'progress': group['progress'],
            'members': _members(group, places)}


def _tolerance(group: Json) -> str:
    if group['tolerates'] is not None:
        return sentences.losses(group['tolerates'], group['level'] or '')
    return f'redundancy not known{": " if group["unknown"] else ""}{group["unknown"] or ""}'


def _members(group: Json, places: Mapping[str, int]) -> list[Json]:
    """Return a box for each member, in the order of their slots; of empty slots, the first few have one."""
    ordered = sorted(group['members'], key=lambda member: (member['slot'] is None, member['slot'] or 0))
    empty = [number for number, member in enumerate(ordered) if not member['name']]
    drawn = [_member(member, places) for number, member in enumerate(ordered) if number not in empty[EMPTY:]]
    return [*drawn[:MEMBERS], *_more(len(drawn) - MEMBERS, 'more member'),
            *_more(len(empty) - EMPTY, 'more empty slot'), *_more(group['missing'], 'missing member')]


def _more(count: int, noun: str) -> Iterator[Json]:
    """Yield a box that represents several members, or nothing."""
    if count > 0:
        yield _box(plural(count, noun), 'empty')


def _member(member: Json, places: Mapping[str, int]) -> Json:
    drives = _worst_first(member['drives'])
    if not member['name']:
        return _box('empty slot' if member['slot'] is None else f'slot {member["slot"]}: empty', 'empty')
    own = OF_MEMBER.get(member['state'], '')
    states = (own, *(drive['state'] for drive in drives))
    worst = next((state for state in ('CRITICAL', 'UNKNOWN', 'WARNING') if state in states), '')
    return {**_box(member['name'], worst), 'state': member['state'].replace('_', ' '), 'colour': own,
            'detail': member['detail'], 'more': len(drives) - DRIVES,
            'drives': [{**drive, 'place': places.get(drive['name'])} for drive in drives[:DRIVES]]}


def _box(name: str, kind: str) -> Json:
    """Return a box with a name only. kind: its class in the page's style."""
    return {'name': name, 'kind': kind, 'drives': (), 'more': 0}


def _worst_first(drives: Sequence[Json]) -> list[Json]:
    ranks = ('CRITICAL', 'UNKNOWN', 'WARNING', None, 'OK')
    return sorted(drives, key=lambda drive: ranks.index(drive['state']))
