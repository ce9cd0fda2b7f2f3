"""Alarms to expect of growth, by what drives have come to in their life.

A collection tells of each drive once: its numbers and its power-on time. When they rose nobody knows, but a rule of
growth can only have told on a drive that has come to more than it lets pass. So the drives beyond it, in the months
that they all were under power, are the most that can have alarmed; each counts once, however often it alarmed.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, FrozenSet, Iterator, List, Mapping, NamedTuple, Optional, Sequence

from smart_attributes.durations import MONTH
from smart_attributes.memory import growth
from smart_attributes.model import Device, State

if TYPE_CHECKING:
    from smart_attributes.knowledge.specs import Role
    from smart_attributes.knowledge.thresholds import Json, Thresholds
    from smart_attributes.model import Reading, Verdict

    from .alarms import Alarm

WHOLE = 100.0          # per cent: what a number that falls began with, and what is worn when nothing is left
WEAR = 'endurance_used'
KINDS = ('ssd', 'nvme', 'sas')


class Life(NamedTuple):
    """What a drive has come to."""

    seconds: float            # under power
    grown: FrozenSet[str]     # roles whose growth may have alarmed
    told: FrozenSet[str]      # roles whose growth is judged, and that the drive has a number of


def life(verdict: Verdict, thresholds: Thresholds, roles: Mapping[str, Role]) -> Optional[Life]:
    """Return what a drive has come to; None where it does not tell its power-on time."""
    found = {j.reading.role: j.reading for j in verdict.judgements if j.reading.judged and j.reading.number is not None}
    age = found.get('power_on_time')
    if age is None or not age.number:
        return None
    rules = {role: thresholds.limit(role, Device(''), verdict.identity, '').growth for role in found}
    return Life(age.number, frozenset(role for role, reading in found.items()
                                      if any(may_have_told(reading, rule, roles) for rule in rules[role])),
                frozenset(role for role in found if rules[role]))


def may_have_told(reading: Reading, rule: Json, roles: Mapping[str, Role]) -> bool:
    """Tell whether a drive has come to more than a rule lets pass."""
    number = reading.number or 0
    if reading.role in roles and roles[reading.role].worse == 'low':
        number = WHOLE - number
    limits = [float(rule[level]) for level in ('warning', 'critical') if rule.get(level) is not None]
    return bool(limits) and number > min(limits) and number >= _hasty(rule)


def _hasty(rule: Json) -> float:
    """Return how much is worn at least when a rule about haste tells: who wears the rest in "gone" wears so much in
    "within".
    """
    if 'gone' not in rule:
        return 0
    within, gone = (growth.seconds(rule[name], name, 'thresholds') for name in ('within', 'gone'))
    return WHOLE * within / (within + gone)


# --- the table -------------------------------------------------------------------------

def rows(alarms: Sequence[Alarm]) -> Iterator[str]:
    """Yield a row a kind and role, and for all of a kind together: drives that have the number, drives that may have
    alarmed, and alarms in 1,000 drives and month.
    """
    for kind in KINDS:
        lives = [(each, each.life) for each in alarms if each.kind == kind and each.life]
        months = sum(known.seconds for _, known in lives) / MONTH
        for role in sorted({role for _, known in lives for role in known.told}):
            told = [known for _, known in lives if role in known.told]
            yield _row(kind, f'growth of `{role}`', len(told), sum(role in known.grown for known in told), months)
        levels = [each.state is not State.OK for each, _ in lives]
        others = [bool(known.grown - {WEAR}) for _, known in lives]
        for name, alarming in (('levels, as they stand', levels),
                               ('levels and growth, but of wear', _either(levels, others)),
                               ('all', _either(levels, [bool(known.grown) for _, known in lives]))):
            if lives:
                yield _row(kind, name, len(lives), sum(alarming), months)


def _either(some: Sequence[bool], others: Sequence[bool]) -> List[bool]:
    return [one or other for one, other in zip(some, others)]


def _row(kind: str, name: str, drives: int, alarming: int, months: float) -> str:
    return f'| {kind} | {name} | {drives:,} | {alarming:,} | {1000 * alarming / months:.2f} |'
