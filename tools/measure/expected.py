"""Estimate how many alerts of growth rules to expect, from the totals of drives.

A collection has one report of each drive, with its totals and its power-on time. It is not known
when the totals increased. But a growth rule can have alerted only on a drive whose total is larger
than the increase that the rule allows. The number of these drives, divided by the months that all
drives were powered on, is an upper bound. Each drive counts once, however often it alerted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from smart_attributes.constants import MONTH
from smart_attributes.knowledge.thresholds import seconds
from smart_attributes.model import Device, State

if TYPE_CHECKING:
    from smart_attributes.knowledge.drive_database import Metric
    from smart_attributes.knowledge.thresholds import Thresholds
    from smart_attributes.model import Reading, Verdict
    from smart_attributes.typed import Json

# per cent: what a number that falls began with, and what is worn when nothing is left
WHOLE = 100.0
WEAR = 'endurance_used'
KINDS = ('ssd', 'nvme', 'sas')


class Life(NamedTuple):
    """What a drive has come to."""

    seconds: float  # under power
    grown: frozenset[str]  # metrics whose growth may have alarmed
    judged: frozenset[str]  # metrics whose growth is judged, and that the drive has a number of


def life(verdict: Verdict, thresholds: Thresholds, metrics: Mapping[str, Metric]) -> Life | None:
    """Return what a drive has come to; None where it does not report its power-on time."""
    numbers = {
        j.reading.metric: j.reading
        for j in verdict.judgements
        if j.reading.judged and j.reading.number is not None
    }
    age = numbers.get('power_on_time')
    if age is None or not age.number:
        return None
    rules = {
        metric: thresholds.limit(metric, Device(''), verdict.identity, '').growth
        for metric in numbers
    }
    return Life(
        age.number,
        frozenset(
            metric
            for metric, reading in numbers.items()
            if any(may_have_alarmed(reading, rule, metrics) for rule in rules[metric])
        ),
        frozenset(metric for metric in numbers if rules[metric]),
    )


def may_have_alarmed(reading: Reading, rule: Json, metrics: Mapping[str, Metric]) -> bool:
    """Tell whether a drive has come to more than a rule lets pass."""
    number, least = reading.number or 0, 0.0
    if reading.metric in metrics and metrics[reading.metric].worse == 'low':
        number = WHOLE - number
    # a rule about haste: a drive that wears the rest in "gone" wears so much in "within"
    if 'gone' in rule:
        within, gone = seconds(rule['within']), seconds(rule['gone'])
        least = WHOLE * within / (within + gone)
    limits = [
        float(rule[level]) for level in ('warning', 'critical') if rule.get(level) is not None
    ]
    return bool(limits) and number > min(limits) and number >= least


def rows(drives: Sequence[tuple[str, State, Life | None]]) -> Iterator[str]:
    """Yield a row a kind and metric, and for all of a kind together: drives that have the number,
    drives that may have alarmed, and alarms in 1,000 drives and month.

    drives: kind, state and life of each.
    """
    for kind in KINDS:
        pairs = [(state, life) for of, state, life in drives if of == kind and life]
        lives = [life for _, life in pairs]
        counts = {}  # name of the row -> drives, alarming
        metrics = {metric for life in lives for metric in life.judged}
        for metric in sorted(metrics):
            judged = [life for life in lives if metric in life.judged]
            counts[f'growth of `{metric}`'] = (
                len(judged),
                sum(metric in life.grown for life in judged),
            )
        # The names of rows, and the metrics whose growth does not count there.
        for name, ignored in (
            ('limits on totals', metrics),
            ('limits on totals and growth, except wear', {WEAR}),
            ('all', set()),
        ):
            counts[name] = (
                len(lives),
                sum(state is not State.OK or bool(life.grown - ignored) for state, life in pairs),
            )
        months = sum(life.seconds for life in lives) / MONTH
        for name, (number, alarming) in counts.items() if lives else ():
            yield (
                f'| {kind} | {name} | {number:,} | {alarming:,} | {1000 * alarming / months:.2f} |'
            )
