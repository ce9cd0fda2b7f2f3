"""What is wrong with a reading: its unit, its interval, what a value that was never set would become."""
from __future__ import annotations

import math
from typing import Callable, Iterator, Optional, Sequence, Tuple

from ..knowledge import decode, drive_database, units
from ..model import AttributeRow
from ..typed import Json

NO_FIGURES = (0, 253, 255)  # normalized values that mean "never set"
LARGEST_ENDURANCE = 255     # %, as the standards end there
BEYOND_CEILING = 999        # %, where a drive counts on beyond that; the worst of 40,182 is at 470


def _unit(spec: Json, _: decode.Formula, metric: drive_database.Metric) -> Iterator[str]:
    unit = spec.get('unit', '')
    of_metric = _UNIT_WORDS[metric.unit]
    fitting = units.fitting(metric.name, metric.unit)
    if unit and unit not in fitting:
        advice = f'write {", ".join(fitting)}' if metric.unit else ' or '.join(['leave it out',
                                                                                *(f'write {name}' for name in fitting)])
        yield f'unit {unit} does not fit a metric that is {of_metric}; {advice}'
    if not unit and metric.unit in ('s', 'B') and 'states' not in spec:
        yield f'unit is missing: the metric is {of_metric}; say what one count is worth'


_UNIT_WORDS = {'': 'a count', '%': 'in percent', 's': 'a time', 'B': 'an amount of data', 'C': 'a temperature'}


def _interval(spec: Json, formula: decode.Formula, _: drive_database.Metric) -> Iterator[str]:
    valid = _pair(spec.get('valid'))
    yield from interval_problems(valid)
    lowest, highest = bounds(formula)
    if (valid[0] is not None and valid[0] > highest) or (valid[1] is not None and valid[1] < lowest):
        yield (f'valid [{_open(valid[0])}, {_open(valid[1])}] is never reached: {spec["from"]} lies between '
               f'{lowest:g} and {highest:g}')
    if spec.get('ceiling', 0) > highest:
        yield f'ceiling {spec["ceiling"]} is never reached: {spec["from"]} ends at {highest:g}'


def _largest_endurance(spec: Json) -> int:
    """Return what a drive may say it has used, %: some count on, and are shown with the ceiling."""
    return BEYOND_CEILING if spec.get('ceiling', math.inf) <= LARGEST_ENDURANCE else LARGEST_ENDURANCE


def interval_problems(valid: drive_database.Interval) -> Iterator[str]:
    """Yield what is wrong with an interval by itself."""
    lowest, highest = valid
    if lowest is not None and highest is not None and lowest > highest:
        yield f'valid [{lowest:g}, {highest:g}] is empty; write the smaller number first'


def _plausible(spec: Json, formula: decode.Formula, metric: drive_database.Metric) -> Iterator[str]:
    """Yield how a value that means nothing could become a figure."""
    valid = _pair(spec.get('valid'))
    if formula.minus_from and metric.worse == 'low' and formula.first.column in ('value', 'worst'):
        yield f'from "{spec["from"]}" is what is used up, and {metric.name} what is left; write {formula.first.column}'
    elif formula.minus_from and None in valid:
        yield (f'from "{spec["from"]}" turns a value that was never set into a figure; give valid, for example [0, '
               f'{formula.minus_from - 1}]')
    elif metric.name == 'endurance_used' and (valid[1] is None or valid[1] > _largest_endurance(spec)):
        yield (f'valid must end at {LARGEST_ENDURANCE} or before (with "ceiling": {LARGEST_ENDURANCE}, for drives '
               f'that were seen '
               f'beyond it, at {BEYOND_CEILING}), or a raw value of something else becomes a percentage')
    else:
        wrong = [(row, number) for row, number in _figures_of_nothing(formula, metric)
                 if _inside(number, valid) and _inside(number, metric.valid) and number not in spec.get('not', ())]
        for row, number in wrong[:1]:
            yield f'{row}, which means "never set", becomes {number:g} {metric.unit}; narrow valid or list it in "not"'


def _figures_of_nothing(formula: decode.Formula, metric: drive_database.Metric) -> Iterator[Tuple[str, float]]:
    """Yield (what a row says, the formula's number) for rows that say nothing."""
    operand = formula.first
    if formula.second or metric.unit != '%':
        return
    # No spare left is a true 0, and so is no endurance used.
    values = NO_FIGURES if metric.name == 'endurance_used' and formula.minus_from else NO_FIGURES[1:]
    raw = str(2 ** (8 * decode.RAW_BYTES) - 1)
    for value in values if operand.column in ('value', 'worst') else (0,):
        row = AttributeRow(operand.attribute or 1, '', value, value, None, None, '', raw)
        number = decode.evaluate(formula, row, {row.id: row})
        if number is not None:
            yield f'{operand.column} {value}' if operand.column in ('value',
                                                                    'worst') else 'a raw value of all ones', number


def _states(spec: Json, formula: decode.Formula, metric: drive_database.Metric) -> Iterator[str]:
    states = spec.get('states', {})
    if states and not metric.is_verdict:
        yield f'states give words, and {metric.name} is a number; remove them, or let the metric be a verdict'
    if metric.is_verdict and not states:
        yield f'{metric.name} is a verdict; give states, for example {{"100": "passed", "0-10": "failed"}}'
    spans = sorted((*drive_database.span(key), key) for key in states)
    for lowest, highest, key in spans:
        if lowest > highest:
            yield f'states {key} is empty; write the smaller number first'
        elif lowest > bounds(formula)[1]:
            yield f'states {key} is never reached: {spec["from"]} ends at {bounds(formula)[1]:g}'
    for before, after in zip(spans, spans[1:]):
        if after[0] <= before[1]:
            yield f'states {before[2]} and {after[2]} overlap; let each result have one word'


RULES: Sequence[Callable[[Json, decode.Formula, drive_database.Metric], Iterator[str]]] = (_unit, _interval, _plausible,
                                                                                           _states)


def bounds(formula: decode.Formula) -> Tuple[float, float]:
    """Return the smallest and the largest number that a formula can give."""
    highest = _highest(formula.first)
    if formula.is_ratio:
        return 0, math.inf
    if formula.second:
        return 0, highest + _highest(formula.second)
    highest /= formula.divisor
    return (formula.minus_from - highest, formula.minus_from) if formula.minus_from else (0, highest)


def _highest(operand: decode.Operand) -> float:
    if operand.column in ('value', 'worst'):
        return 255
    return 8 * decode.RAW_BYTES if operand.column == 'bits' else 2 ** (8 * len(operand.bytes)) - 1


def _pair(valid: Optional[Sequence[Optional[float]]]) -> drive_database.Interval:
    return (valid[0], valid[1]) if valid else (None, None)


def _open(number: Optional[float]) -> str:
    return 'null' if number is None else f'{number:g}'


def _inside(number: float, valid: drive_database.Interval) -> bool:
    return (valid[0] is None or number >= valid[0]) and (valid[1] is None or number <= valid[1])
