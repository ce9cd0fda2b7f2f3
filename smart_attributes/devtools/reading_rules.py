"""Check a reading: its unit, its interval, and the result for a value that was never set."""
from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from ..constants import HIGHEST_BEYOND, HIGHEST_ENDURANCE
from ..knowledge import decode
from ..knowledge.decode import RAW_BYTES, Formula, Operand, evaluate
from ..knowledge.drive_database import Metric, span
from ..model import AttributeRow
from ..typed import TYPE_CHECKING, Json

if TYPE_CHECKING:
    from ..knowledge.drive_database import Interval

UNSET = (0, 253, 255)       # normalized values that mean "never set"
_UNIT_WORDS = {'': 'a count', '%': 'in percent', 's': 'a time', 'B': 'an amount of data', 'C': 'a temperature'}
_NORMALIZED = ('value', 'worst')


def _unit(spec: Json, _: Formula, metric: Metric) -> Iterator[str]:
    unit, of_metric = spec.get('unit'), _UNIT_WORDS[metric.unit]
    fitting = decode.fitting(metric.name, metric.unit)
    if unit and unit not in fitting:
        advice = f'write {", ".join(fitting)}' if metric.unit else ' or '.join(['leave it out',
                                                                                *(f'write {name}' for name in fitting)])
        yield f'unit {unit} does not fit a metric that is {of_metric}; {advice}'
    if not unit and metric.unit in ('s', 'B') and 'states' not in spec:
        yield f'unit is missing: the metric is {of_metric}; say what one count is worth'


def _interval(spec: Json, formula: Formula, _: Metric) -> Iterator[str]:
    valid = _valid(spec)
    yield from interval_problems(valid)
    lowest, highest = bounds(formula)
    if (valid[0] is not None and valid[0] > highest) or (valid[1] is not None and valid[1] < lowest):
        ends = ', '.join('null' if end is None else f'{end:g}' for end in valid)
        yield f'valid [{ends}] is never reached: {spec["from"]} lies between {lowest:g} and {highest:g}'
    if spec.get('ceiling', 0) > highest:
        yield f'ceiling {spec["ceiling"]} is never reached: {spec["from"]} ends at {highest:g}'


def interval_problems(valid: Interval) -> Iterator[str]:
    """Yield the faults of an interval that are independent of its reading."""
    lowest, highest = valid
    if lowest is not None and highest is not None and lowest > highest:
        yield f'valid [{lowest:g}, {highest:g}] is empty; write the smaller number first'


def _plausible(spec: Json, formula: Formula, metric: Metric) -> Iterator[str]:
    """Yield a sentence for each meaningless value that the reading would accept as a number."""
    valid = _valid(spec)
    # Some drives count beyond the ceiling; they are shown at the ceiling.
    largest = HIGHEST_BEYOND if spec.get('ceiling', math.inf) <= HIGHEST_ENDURANCE else HIGHEST_ENDURANCE
    if formula.minus_from and metric.worse == 'low' and formula.first.column in _NORMALIZED:
        yield f'from "{spec["from"]}" is the part used, {metric.name} the part left; write {formula.first.column}'
    elif formula.minus_from and None in valid:
        yield (f'from "{spec["from"]}" turns an unset value into a number; set valid, for example [0, '
               f'{formula.minus_from - 1}]')
    elif metric.name == 'endurance_used' and (valid[1] is None or valid[1] > largest):
        yield (f'valid must end at {HIGHEST_ENDURANCE} or lower (with "ceiling": {HIGHEST_ENDURANCE}, for drives '
               f'that exceed it, at {HIGHEST_BEYOND}); otherwise, an unrelated raw value becomes a percentage')
    else:
        wrong = [(row, number) for row, number in _figures_of_nothing(formula, metric)
                 if _inside(number, valid) and _inside(number, metric.valid) and number not in spec.get('not', ())]
        for row, number in wrong[:1]:
            yield f'{row}, which means "never set", becomes {number:g} {metric.unit}; narrow valid or list it in "not"'


def _figures_of_nothing(formula: Formula, metric: Metric) -> Iterator[tuple[str, float]]:
    """Yield (description of the row, result of the formula) for rows without meaning."""
    operand = formula.first
    if formula.second or metric.unit != '%':
        return
    # 0 is a valid value for no spare left and for no endurance used.
    values = UNSET if metric.name == 'endurance_used' and formula.minus_from else UNSET[1:]
    raw = str(2 ** (8 * RAW_BYTES) - 1)
    for value in values if operand.column in _NORMALIZED else (0,):
        row = AttributeRow(operand.attribute or 1, '', value, value, None, None, '', raw)
        number = evaluate(formula, row, {row.id: row})
        if number is not None:
            yield f'{operand.column} {value}' if operand.column in _NORMALIZED else 'a raw value of all ones', number


def _states(spec: Json, formula: Formula, metric: Metric) -> Iterator[str]:
    states, highest = spec.get('states', {}), bounds(formula)[1]
    if states and not metric.is_verdict:
        yield f'states give words, but {metric.name} is a number; remove them, or make the metric a verdict'
    if metric.is_verdict and not states:
        yield f'{metric.name} is a verdict; give states, for example {{"100": "passed", "0-10": "failed"}}'
    spans = sorted((*span(key), key) for key in states)
    for start, end, key in spans:
        if start > end:
            yield f'states {key} is empty; write the smaller number first'
        elif start > highest:
            yield f'states {key} is never reached: {spec["from"]} ends at {highest:g}'
    for before, after in zip(spans, spans[1:]):
        if after[0] <= before[1]:
            yield f'states {before[2]} and {after[2]} overlap; give each result one word'


RULES: Sequence[Callable[[Json, Formula, Metric], Iterator[str]]] = (_unit, _interval, _plausible, _states)


def bounds(formula: Formula) -> tuple[float, float]:
    """Return the smallest and the largest number that a formula can give."""
    highest = _highest(formula.first)
    if formula.is_ratio:
        return 0, math.inf
    if formula.second:
        return 0, highest + _highest(formula.second)
    highest /= formula.divisor
    return (formula.minus_from - highest, formula.minus_from) if formula.minus_from else (0, highest)


def _highest(operand: Operand) -> float:
    if operand.column in _NORMALIZED:
        return 255
    return 8 * RAW_BYTES if operand.column == 'bits' else 2 ** (8 * len(operand.bytes)) - 1


def _valid(spec: Json) -> Interval:
    lowest, highest = spec.get('valid') or (None, None)
    return lowest, highest


def _inside(number: float, valid: Interval) -> bool:
    return (valid[0] is None or number >= valid[0]) and (valid[1] is None or number <= valid[1])
