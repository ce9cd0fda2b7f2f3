"""Write perfdata, the values that a daemon graphs, in base units and under stable labels.

Source: Monitoring Plugins Development Guidelines, "Performance data". All fields are always
printed, and labels are always quoted, so that a value can be found by its position.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..knowledge import ranges
from ..knowledge.drive_database import Metric, Metrics
from ..model import Judgement, Verdict
from ..typed import NamedTuple
from ..wording import plain

# Printed as the drive reports it, even if its status is ignored or a more precise status is printed
# as well.
OWN_WORD = 'smart_status'
UNITS = '%sB'  # units printed after a number


class Value(NamedTuple):
    """One value of the perfdata."""

    text: str  # 'sda_endurance_used'=9%;85;95;0;
    metric: str
    limits: str = ''  # warning and critical limit, joined; only the length matters


def values(verdicts: Iterable[Verdict], metrics: Metrics, is_all: bool) -> list[Value]:
    """Return the values of all drives, sorted, such as "'sda_endurance_used'=9%;85;95;0;".

    is_all: include all metrics, not only the graphed ones.
    """
    return sorted(
        _value(verdict.device.name, judgement, metrics[judgement.reading.metric])
        for verdict in verdicts
        for judgement in verdict.judgements
        if is_graphed(judgement, is_all)
    )


def is_graphed(judgement: Judgement, is_all: bool) -> bool:
    """Return whether a reading has a number to print. is_all: include all metrics, not only the
    graphed ones.
    """
    reading = judgement.reading
    return (
        reading.number is not None
        and (reading.judged or reading.metric == OWN_WORD)
        and (judgement.graphed or is_all)
    )


def _value(name: str, judgement: Judgement, metric: Metric) -> Value:
    """Return a drive's reading with its label and the metric's bounds.

    Nagios does not know the unit C (Celsius).
    """
    reading = judgement.reading
    ends = [
        '' if end is None else plain(end) for end in (metric.minimum, metric.maximum)
    ]
    limits = [
        ranges.in_base_unit(text, reading.unit)
        for text in (judgement.warning, judgement.critical)
    ]
    number = plain(reading.number or 0) + reading.unit.replace('C', '')
    return Value(
        f"'{name}_{reading.metric}'={number};{';'.join([*limits, *ends])}",
        reading.metric,
        ''.join(limits),  # only the length matters
    )
