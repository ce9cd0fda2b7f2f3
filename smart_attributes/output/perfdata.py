"""Verdicts -> perfdata: the values that a daemon graphs, in base units, under labels that stay; and values read back.

Source: Monitoring Plugins Development Guidelines, "Performance data". All fields are always printed and labels always
quoted, so that a value can be found by its place.
"""
from __future__ import annotations

import re

from ..knowledge import ranges
from ..knowledge.drive_database import Metric
from ..model import Judgement, Verdict
from ..typed import TYPE_CHECKING, NamedTuple
from ..words import plain

if TYPE_CHECKING:
    from typing import Iterable, List, Mapping, Optional, Sequence, Tuple, Union

    # "sda_temperature", 22, and its limits "warning;critical;minimum;maximum". A plain tuple, for a fleet has millions
    # of them.
    ReadBack = Tuple[str, Union[int, float], str]

# Printed as the drive says it, also where its word is not followed or better words stand beside it.
OWN_WORD = 'smart_status'
OLD = 'labels of version 1.6'
OLD_LIMIT = 'legacy_limit'  # several on one drive; their labels stand in Verdict.old_values
UNITS = '%sB'               # that stand behind a number
_DIGITS = '[0-9]{1,30}'      # more are no number of a drive, and int() refuses 5,000


class Value(NamedTuple):
    """A value to print."""

    text: str                   # 'sda_endurance_used'=9%;85;95;0;
    metric: str
    limits: str = ''            # for warning and critical, joined: only their length counts


def values(verdicts: Iterable[Verdict], metrics: Mapping[str, Metric], is_all: bool) -> List[Value]:
    """Return the values of all drives, ordered: 'sda_endurance_used'=9%;85;95;0; - of each graphed metric, or of all.
    """
    return sorted(_value(verdict.device.name, judgement, metrics.get(judgement.reading.metric))
                  for verdict in verdicts for judgement in verdict.judgements if is_graphed(judgement, is_all))


def is_graphed(judgement: Judgement, is_all: bool) -> bool:
    """Tell whether there is a number of a reading that is drawn: of a graphed metric, or of any."""
    reading = judgement.reading
    return (reading.number is not None and (reading.judged or reading.metric == OWN_WORD)
            and is_possible(judgement, is_all))


def is_possible(judgement: Judgement, is_all: bool) -> bool:
    """Tell whether a reading is drawn at checks where it has a number."""
    return judgement.reading.metric != OLD_LIMIT and (judgement.graphed or is_all)


def _value(name: str, judgement: Judgement, metric: Optional[Metric]) -> Value:
    """Return the value of a drive's reading under its label, with the ends of its metric. Nagios knows no unit C."""
    reading = judgement.reading
    ends = ['' if end is None else plain(end) for end in ((metric.minimum, metric.maximum) if metric else (None, None))]
    limits = [ranges.in_base_unit(text, reading.unit) for text in (judgement.warning, judgement.critical)]
    return Value(_printed(f'{name}_{reading.metric}', reading.number or 0, reading.unit.replace('C', ''), *limits,
                          *ends),
                 reading.metric, ''.join(limits))


def _printed(label: str, number: float, unit: str, *limits: str) -> str:
    return f"'{label}'={plain(number)}{unit};{';'.join(limits)}"


def old_values(verdicts: Iterable[Verdict], printed: Sequence[Value]) -> List[Value]:
    """Return the values under labels of version 1.6, ordered; none that is *printed* already."""
    found = {value.label: _printed(value.label, value.number, '', value.warning, value.critical, '', '')
             for verdict in verdicts for value in verdict.old_values}
    taken = {value.text.partition('=')[0] for value in printed}
    return [Value(text, OLD) for label, text in sorted(found.items()) if f"'{label}'" not in taken]


# --- read back ---------------------------------------------------------------------

def read(texts: Iterable[str]) -> List[ReadBack]:
    """Return the values that texts such as "'sda_temperature'=22;60;70;;" hold; what was cut, or is no number, holds
    none: all our values have limits, be they empty. Numbers and labels that are longer than any of ours are none.
    """
    found = re.findall(rf"^'?([^'=\n]{{1,200}})'?=(-?{_DIGITS}(?:\.{_DIGITS})?)[{UNITS}]?;([\w.:;@~-]{{0,200}})$",
                       '\n'.join(texts), re.MULTILINE | re.ASCII)
    return [(label, float(number) if '.' in number else int(number), limits) for label, number, limits in found]


def levels(limits: str) -> Tuple[str, str]:
    """Return the ranges for warning and critical."""
    warning, _, rest = limits.partition(';')
    return warning, rest.partition(';')[0]
