"""Check a reading: unit, interval, result for a value that was never set, and agreement with the
drive's statistics.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from ..constants import HIGHEST_BEYOND, HIGHEST_ENDURANCE
from ..knowledge.decode import (
    COUNTED_IN_SECTORS,
    LOGICAL_SECTORS,
    RAW_BYTES,
    UNITS,
    Formula,
    Operand,
    evaluate,
)
from ..knowledge.drive_database import Metric, is_inside, is_plausible, span
from ..model import AttributeRow
from ..typed import TYPE_CHECKING, Json

if TYPE_CHECKING:
    from ..knowledge.drive_database import Interval

NEVER_SET = (253, 255)  # normalized values; 0 is another one for some metrics
_UNIT_WORDS = {
    '': 'a count',
    '%': 'in percent',
    's': 'a time',
    'B': 'an amount of data',
    'C': 'a temperature',
}


def _unit(spec: Json, _: Formula, metric: Metric) -> Iterator[str]:
    """Yield a unit that does not fit the metric, or a unit that is missing."""
    unit = spec.get('unit')
    of_metric = _UNIT_WORDS[metric.unit]
    units = fitting(metric.name, metric.unit)
    if unit and unit not in units:
        advice = f'write {", ".join(units)}'
        if not metric.unit:
            advice = ' or '.join(['leave it out', *(f'write {name}' for name in units)])
        yield f'"unit": "{unit}" does not fit a metric that is {of_metric}; {advice}'
    if not unit and metric.unit in ('s', 'B') and 'states' not in spec:
        yield (
            f'"unit" is missing: the metric is {of_metric}; write what a raw 1 stands for, such as "h" or "32MiB"'
        )


def fitting(metric: str, base: str) -> Sequence[str]:
    """Return the units in which a drive may count a metric that has this base unit."""
    units = [name for name, (of_unit, _) in UNITS.items() if of_unit == base]
    if metric in COUNTED_IN_SECTORS:
        return units
    return [name for name in units if name != LOGICAL_SECTORS]


def _interval(spec: Json, formula: Formula, _: Metric) -> Iterator[str]:
    """Yield an interval or a ceiling that no result of the formula can reach."""
    valid = _valid(spec)
    yield from interval_problems(valid)
    lowest, highest = bounds(formula)
    first, last = valid
    is_above = first is not None and first > highest
    is_below = last is not None and last < lowest
    if is_above or is_below:
        ends = ', '.join('null' if end is None else f'{end:g}' for end in valid)
        yield (
            f'"valid": [{ends}] can never match: {spec["from"]} is always between {lowest:g} and {highest:g}'
        )
    if spec.get('ceiling', 0) > highest:
        yield f'"ceiling": {spec["ceiling"]} is never reached: {spec["from"]} is at most {highest:g}'


def interval_problems(valid: Interval) -> Iterator[str]:
    """Yield the faults that an interval has regardless of its reading."""
    lowest, highest = valid
    if lowest is not None and highest is not None and lowest > highest:
        yield f'"valid": [{lowest:g}, {highest:g}] is an empty range; write the smaller number first'


def _meaningless(spec: Json, formula: Formula, metric: Metric) -> Iterator[str]:
    """Yield the first reason why the reading would accept a meaningless value as a number; nothing
    if it accepts none.
    """
    valid = _valid(spec)
    if formula.minus_from and metric.worse == 'low' and formula.first.column == 'value':
        yield (
            f'"from": "{spec["from"]}" gives how much is used, but {metric.name} is how much is left; write '
            '"from": "value"'
        )
        return
    if formula.minus_from and None in valid:
        yield (
            f'"from": "{spec["from"]}" turns a raw value that means "not set" into a number; to '
            f'reject that number, write "valid": [0, {formula.minus_from - 1}]'
        )
        return
    _, last = valid
    if metric.name == ENDURANCE and (last is None or last > _largest_valid(spec)):
        yield (
            f'the second number of "valid" must be at most {HIGHEST_ENDURANCE} (at most {HIGHEST_BEYOND} '
            f'if "ceiling" is {HIGHEST_ENDURANCE}); a higher one could accept numbers that are not percentages'
        )
        return
    for description, number in _unset_numbers(formula, metric):
        is_accepted = is_inside(number, valid) and is_plausible(number, metric)
        if is_accepted and number not in spec.get('not', ()):
            yield (
                f'{description} means "never set", but this entry converts it to {number:g} {metric.unit}; '
                f'narrow the range in "valid", or add {number:g} to the "not" list'
            )
            return


def _largest_valid(spec: Json) -> int:
    """Return the largest number of endurance used that "valid" may contain:

    "ceiling": 255 -> 999, because a larger number is reduced: 300 % is shown as 255 %
    "ceiling": 300, or no ceiling -> 255
    """
    if 'ceiling' in spec and spec['ceiling'] <= HIGHEST_ENDURANCE:
        return HIGHEST_BEYOND
    return HIGHEST_ENDURANCE


def _unset_numbers(formula: Formula, metric: Metric) -> Iterator[tuple[str, float]]:
    """Yield (description, result of the formula) for each value that was never set, such as
    ("value 255", -155) for "100 - value". Yield nothing for a formula with two operands, or for a
    metric that is not a percentage.
    """
    if formula.second or metric.unit != '%':
        return
    # any number, if the formula does not name one
    number = formula.first.attribute or 1
    rows = {}
    if formula.first.column == 'value':
        # "100 - value" of 0 would be 100 % of the endurance used, so 0 means "never set" there.
        # Elsewhere, 0 is valid: no endurance has been used, or all spares are used up.
        is_zero_unset = metric.name == ENDURANCE and formula.minus_from != 0
        unset_values = (0, *NEVER_SET) if is_zero_unset else NEVER_SET
        for value in unset_values:
            rows[f'value {value}'] = AttributeRow(number, value=value)
    else:
        ones = str(2 ** (8 * RAW_BYTES) - 1)
        rows['a raw value of all ones'] = AttributeRow(number, raw=ones)
    for description, row in rows.items():
        result = evaluate(formula, row, {number: row})
        if result is not None:
            yield description, result


def _states(spec: Json, formula: Formula, metric: Metric) -> Iterator[str]:
    """Yield the faults of "states", which maps ranges of numbers to words, such as "0-10"."""
    states = spec.get('states', {})
    _, highest = bounds(formula)
    if states and not metric.is_verdict:
        yield (
            f'"states" gives words, but {metric.name} is a number; remove "states", or '
            'use a metric that is a status'
        )
    if metric.is_verdict and not states:
        yield (
            f'{metric.name} is a status; add "states", for example {{"100": "passed", "0-10": "failed"}}'
        )
    spans = sorted((*span(key), key) for key in states)
    for start, end, key in spans:
        if start > end:
            yield f'"states": the range {key} is reversed; write the smaller number first'
        elif start > highest:
            yield f'"states": {key} is never reached: the largest {spec["from"]} is {highest:g}'
    # each range and the next one
    for (_, end, key), (start, _, next_key) in zip(spans, spans[1:]):
        if start <= end:
            yield f'"states": {key} and {next_key} overlap; let each number belong to one of them only'


RULES = (_unit, _interval, _meaningless, _states)


def bounds(formula: Formula) -> tuple[float, float]:
    """Return the smallest and the largest number that a formula can give."""
    highest = _highest(formula.first)
    if formula.is_ratio:
        return 0, math.inf
    # The second number of any other formula is added to the first, without a divisor and without
    # "100 - ".
    if formula.second:
        return 0, highest + _highest(formula.second)
    highest /= formula.divisor
    if formula.minus_from:
        return formula.minus_from - highest, formula.minus_from
    return 0, highest


def _highest(operand: Operand) -> float:
    """Return the largest number that a column or some bytes of the raw value can hold."""
    if operand.column == 'value':
        return 255
    if operand.column == 'bits':  # a count of bits
        return 8 * RAW_BYTES
    return (1 << 8 * len(operand.bytes)) - 1


def _valid(spec: Json) -> Interval:
    """Return the interval of a reading; (None, None) if all numbers are valid."""
    lowest, highest = spec.get('valid') or (None, None)
    return lowest, highest


# --- how far a drive's own statistics confirm a reading -------------------------------------------
# The commands draft and validate share these rules, so that validate never requires a statistic
# that draft distrusts.

# How much an attribute may differ from the statistic: an amount in the base unit, or a share of the
# statistic. Measured on linuxhw/EnterpriseDrive, on drives that report both:
# B: 96.3 % of 30,532 amounts differ by at most a tenth (95.9 % by 3 %; SandForce's by 9 %), 2.9 %
# have restarted at 0.
# s: 99.4 % of 23,308 drives differ by at most two hours, 99.7 % by a quarter (SanDisk's stop in
#    sleep); two differ by a fifth to 45 %; the nearest wrong unit is half an hour for an hour, or
#    half a minute for a minute.
# C: 99.4 % of 26,744 drives differ by at most 5, 99.9 % by 10 (Dell's Intel drives measure in two
#    places); 100 minus the temperature, the most frequent wrong reading, would be as close on only
#    2.7 % of the drives.
TOLERANCES: Mapping[str, tuple[float, float]] = {
    '%': (2, 0),
    'B': (0, 0.1),
    's': (2 * 3600, 0.25),
    'C': (10, 0),
}
# 32-bit sector counts restart at 0 after 2.2 TB, as did 168 of 318 amounts of drives with Silicon
# Motion's controllers, and 411 of 794 of Crucial's MX500 and similar drives. The remainder can
# confirm a unit of 1 GiB or less.
WRAP = 2**32 * 512  # bytes
COARSEST = 2**30  # bytes
ENDURANCE = 'endurance_used'
# page and offset in the device statistics log; its value is in %
ENDURANCE_STATISTIC = (7, 0x008)
# %: at 0 any formula fits, and at 100 a normalized value has stopped
WORN = range(1, 100)
# Full writes after which 0 % used is not credible: flash rated for 3,000 cycles has then used more
# than 3 %. Of 5,136 SSDs that report 0 %, 140 were written this often, and on most of these an
# attribute shows more.
DOUBTFUL_FROM = 100


def is_stated(metric: str, unit: str) -> bool:
    """Return whether a statistic of this metric can confirm the unit of an attribute."""
    return unit in ('%', 'B') or metric in ('power_on_time', 'temperature')


def is_near(number: float, stated: float, unit: str) -> bool:
    """Return whether a reading is close enough to the drive's own statistic. unit: base unit of
    both numbers.
    """
    least, part = TOLERANCES.get(unit, (0, 0.1))
    if abs(number - stated) <= max(least, part * stated):
        return True
    return unit == 'B' and is_remainder(stated, number, COARSEST)


def is_remainder(stated: float, number: float, precision: float) -> bool:
    """Return whether *stated* equals *number* modulo WRAP: a drive that wrote 2.3 TB states 0.1 TB,
    because each overflow of its 32-bit sector count loses 2.2 TB.

    False if *number* is too small for an overflow, or *stated* too large for a remainder. Arguments
    are in bytes. precision: by how much *stated* may be too small or too large.
    """
    if number < WRAP or stated >= WRAP:
        return False
    lost = number - stated
    overflows = round(lost / WRAP)
    return abs(lost - overflows * WRAP) <= precision


def is_stuck_at_zero(metric: str, number: float | None, times_written: int) -> bool:
    """Return whether the statistic of a metric is probably stuck at 0 %. times_written: how many
    times the drive was completely written.
    """
    return metric == ENDURANCE and number == 0 and times_written >= DOUBTFUL_FROM
