"""Alarms to expect of growth, by what drives have come to in their life.

A collection tells of each drive once: its numbers and its power-on time. When they rose nobody knows, but a rule of
growth can only have told on a drive that has come to more than it lets pass. So the drives beyond it, in the months
that they all were under power, are the most that can have alarmed; each counts once, however often it alarmed.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, FrozenSet, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from smart_attributes.constants import MONTH
from smart_attributes.history import growth
from smart_attributes.model import Device, State

if TYPE_CHECKING:
    from smart_attributes.knowledge.drive_database import Metric
    from smart_attributes.knowledge.thresholds import Thresholds
    from smart_attributes.model import Reading, Verdict
    from smart_attributes.typed import Json

WHOLE = 100.0          # per cent: what a number that falls began with, and what is worn when nothing is left
WEAR = 'endurance_used'
KINDS = ('ssd', 'nvme', 'sas')


class Life(NamedTuple):
    """What a drive has come to."""

    seconds: float            # under power
    grown: FrozenSet[str]     # metrics whose growth may have alarmed
    told: FrozenSet[str]      # metrics whose growth is judged, and that the drive has a number of


def life(verdict: Verdict, thresholds: Thresholds, metrics: Mapping[str, Metric]) -> Optional[Life]:
    """Return what a drive has come to; None where it does not tell its power-on time."""
    found = {j.reading.metric: j.reading for j in verdict.judgements if j.reading.judged
             and j.reading.number is not None}
    age = found.get('power_on_time')
    if age is None or not age.number:
        return None
    rules = {metric: thresholds.limit(metric, Device(''), verdict.identity, '').growth for metric in found}
    return Life(age.number, frozenset(metric for metric, reading in found.items()
                                      if any(may_have_told(reading, rule, metrics) for rule in rules[metric])),
                frozenset(metric for metric in found if rules[metric]))


def may_have_told(reading: Reading, rule: Json, metrics: Mapping[str, Metric]) -> bool:
    """Tell whether a drive has come to more than a rule lets pass."""
    number = reading.number or 0
    if reading.metric in metrics and metrics[reading.metric].worse == 'low':
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

def rows(drives: Sequence[Tuple[str, State, Optional[Life]]]) -> Iterator[str]:
    """Yield a row a kind and metric, and for all of a kind together: drives that have the number, drives that may have
    alarmed, and alarms in 1,000 drives and month.

    drives: kind, state and life of each.
    """
    for kind in KINDS:
        lives = [(state, life) for of, state, life in drives if of == kind and life]
        months = sum(known.seconds for _, known in lives) / MONTH
        for metric in sorted({metric for _, known in lives for metric in known.told}):
            told = [known for _, known in lives if metric in known.told]
            yield _row(kind, f'growth of `{metric}`', len(told), sum(metric in known.grown for known in told), months)
        levels = [state is not State.OK for state, _ in lives]
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
