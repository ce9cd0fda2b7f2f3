"""What a `from` of the database says, and the number it gives for a row.

The grammar is small, readable, and never executed:

    [100 - | 200 -] operand [/ N]
    100 * operand / operand
    operand + operand

    operand:  value | worst | raw | raw byte N | raw bytes A-B | bits of raw,
              each optionally followed by: of ID

`raw` is the low 48 bits. Bytes count from 0, the lowest; `raw bytes 5-4` reads
the same bytes the other way round (big-endian). `bits of raw` counts set bits.
"""
from __future__ import annotations

import re
from functools import lru_cache
from typing import Mapping, NamedTuple, Optional, Sequence, Tuple

from .errors import FormulaError
from .model import AttributeRow

RAW_BYTES = 6
LONGEST_RAW = 64  # characters; the longest rendering has half of them
FORMS = 'value, worst, raw, raw byte 0, raw bytes 0-1, bits of raw'

_OPERAND = (r'(?P<{0}>value|worst|raw(?:\ byte\ [0-5]|\ bytes\ [0-5]-[0-5])?|bits\ of\ raw)'
            r'(?:\ of\ (?P<{0}_id>[1-9][0-9]{{0,2}}))?')
_SHAPES = tuple(re.compile(shape.format(_OPERAND.format('first'), _OPERAND.format('second'))) for shape in (
    r'(?:(?P<minus_from>100|200)\ -\ )?{0}(?:\ /\ (?P<divisor>[1-9][0-9]*))?',
    r'(?P<ratio>100)\ \*\ {0}\ /\ {1}',
    r'{0}\ \+\ {1}'))


class Operand(NamedTuple):
    """One number of one row."""

    column: str                 # 'value', 'worst', 'raw' or 'bits'
    bytes: Tuple[int, ...]      # the raw bytes, lowest first
    attribute: Optional[int]    # None: the row that the formula stands at


class Formula(NamedTuple):
    """A parsed `from`."""

    first: Operand
    second: Optional[Operand]
    minus_from: int             # 100 or 200; 0: nothing to subtract from
    divisor: int
    is_ratio: bool              # 100 * first / second

    @property
    def attributes(self) -> Tuple[int, ...]:
        """Numbers of the other rows that the formula reads."""
        operands = (self.first, self.second) if self.second else (self.first,)
        return tuple(o.attribute for o in operands if o.attribute is not None)


@lru_cache(maxsize=None)
def parse(text: str) -> Formula:
    """Return the formula that *text* means. Raises FormulaError."""
    for shape in _SHAPES:
        match = shape.fullmatch(text)
        if match:
            part = match.groupdict()
            second = part.get('second')
            return Formula(first=_operand(part['first'], part['first_id']),
                           second=_operand(second, part['second_id']) if second else None,
                           minus_from=int(part.get('minus_from') or 0),
                           divisor=int(part.get('divisor') or 1),
                           is_ratio='ratio' in part)
    raise FormulaError(f'from "{text}" is not known; write {FORMS}, with 100 - or 200 - before it, / N behind it, '
                       'of ID for another attribute, 100 * A / B for a ratio, or A + B for a sum')


def _operand(text: str, attribute: Optional[str]) -> Operand:
    number = int(attribute) if attribute else None
    if text in ('value', 'worst'):
        return Operand(text, (), number)
    if text == 'bits of raw':
        return Operand('bits', tuple(range(RAW_BYTES)), number)
    return Operand('raw', _byte_numbers(text), number)


def _byte_numbers(text: str) -> Tuple[int, ...]:
    """Bytes of "raw", "raw byte 3", "raw bytes 0-1" or "raw bytes 5-4", lowest first."""
    digits = [int(d) for d in re.findall('[0-9]', text)]
    if not digits:
        return tuple(range(RAW_BYTES))
    first, last = digits[0], digits[-1]
    step = 1 if last >= first else -1
    return tuple(range(first, last + step, step))


def evaluate(formula: Formula, row: AttributeRow, rows: Mapping[int, AttributeRow]) -> Optional[float]:
    """Return the formula's number at *row*, or None where the report does not hold it."""
    first = _number(formula.first, row, rows)
    if first is None:
        return None
    if formula.second is None:
        number = first / formula.divisor if formula.divisor > 1 else first
        return formula.minus_from - number if formula.minus_from else number
    second = _number(formula.second, row, rows)
    if second is None:
        return None
    if formula.is_ratio:
        return 100 * first / second if second else None
    return first + second


def _number(operand: Operand, row: AttributeRow, rows: Mapping[int, AttributeRow]) -> Optional[int]:
    if operand.attribute is not None:
        if operand.attribute not in rows:
            return None
        row = rows[operand.attribute]
    if operand.column == 'value':
        return row.value
    if operand.column == 'worst':
        return row.worst
    number = _join(raw_bytes(row), operand.bytes)
    if operand.column == 'bits' and number is not None:
        return bin(number).count('1')
    return number


def _join(known: Sequence[Optional[int]], numbers: Sequence[int]) -> Optional[int]:
    total = 0
    for position, number in enumerate(numbers):
        byte = known[number]
        if byte is None:
            return None
        total |= byte << (8 * position)
    return total


def raw_bytes(row: AttributeRow) -> Sequence[Optional[int]]:
    """Return raw bytes 0 to 5, low byte first; None where the report does not tell.

    smartctl's JSON carries the number itself. Its text, and reports without
    the number, carry one of the renderings of ata_format_attr_raw_value().
    Source: smartmontools, atacmds.cpp.
    """
    # A time is printed in hours whatever the drive counts in; the number is not.
    if row.raw_number is not None and row.raw_number >= 0 and 'h+' not in row.raw:
        return (row.raw_number & 0xffffffffffff).to_bytes(RAW_BYTES, 'little')
    return printed_bytes(row.raw)


_HEX = re.compile(r'0x([0-9a-f]{1,16})', re.I)
_WORDS = re.compile(r'(\d+) \((\d+) (\d+)\)')           # raw16(raw16): word 0 (word 2 word 1)
_AVERAGE = re.compile(r'(\d+) \(Average (\d+)\)')         # raw16(avg16): word 0 (word 1)
_LOW_24 = re.compile(r'(\d+) \((\d+) (\d+) (\d+)\)')    # raw24(raw8): low 24 bits (byte 5 byte 4 byte 3)
_THREE = re.compile(r'(\d+) (\d+) (\d+)')               # raw16: word 2 word 1 word 0
_SIX = re.compile(r'(\d+) (\d+) (\d+) (\d+) (\d+) (\d+)')  # raw8: byte 5 ... byte 0
_LOW_BYTE = re.compile(r'(\d+) \((\d+) (\d+) (\d+) (\d+) (\d+)\)')  # a temperature: byte 0 (byte 5 ... byte 1)
_LAYOUTS = ((_WORDS, (0, 2, 1), 2), (_THREE, (2, 1, 0), 2), (_SIX, (5, 4, 3, 2, 1, 0), 1),
            (_LOW_BYTE, (0, 5, 4, 3, 2, 1), 1))
_HALVES = re.compile(r'(\d+)/(\d+)')                    # raw24/raw24 or raw24/raw32: high / low
_HOURS = re.compile(r'(\d+)h\+\d+m(?:\+[\d.]+s)?(?: \(.*\))?')
_LEADING = re.compile(r'(-?\d+)(?: \(.*\))?')           # "28 (Min/Max 20/32)": only the number is certain


@lru_cache(maxsize=4096)
def printed_bytes(raw: str) -> Sequence[Optional[int]]:
    """Return raw bytes 0 to 5 of a RAW_VALUE as printed, None where it does not hold them."""
    if len(raw) > LONGEST_RAW:
        return (None,) * RAW_BYTES
    if raw.isdecimal():
        return _little(int(raw), RAW_BYTES)
    match = _HEX.fullmatch(raw)
    if match:
        return _little(int(match.group(1), 16), RAW_BYTES)
    for pattern, order, width in _LAYOUTS:
        match = pattern.fullmatch(raw)
        if match:
            return _placed([int(group) for group in match.groups()], order, width)
    return _partial_bytes(raw)


def _partial_bytes(raw: str) -> Sequence[Optional[int]]:
    match = _LOW_24.fullmatch(raw)
    if match:
        low, *high = (int(group) for group in match.groups())
        return (*_little(low, 3), *(byte & 0xff for byte in reversed(high)))
    match = _AVERAGE.fullmatch(raw)
    if match:
        return (*_little(int(match.group(1)), 2), *_little(int(match.group(2)), 2), None, None)
    match = _HALVES.fullmatch(raw)
    if match:
        # raw24/raw24 and raw24/raw32 print alike; three low bytes are sure in both.
        return (*_little(int(match.group(2)) & 0xffffff, 3), None, None, None)
    match = _HOURS.fullmatch(raw)
    if match:
        return (*_little(int(match.group(1)), 4), None, None)
    match = _LEADING.fullmatch(raw)
    if match and 0 <= int(match.group(1)) < 256:
        return (int(match.group(1)), None, None, None, None, None)
    return (None,) * RAW_BYTES


def _little(number: int, count: int) -> Tuple[int, ...]:
    return tuple((number >> (8 * position)) & 0xff for position in range(count))


def _placed(groups: Sequence[int], order: Sequence[int], width: int) -> Sequence[Optional[int]]:
    """Put each printed *group* of *width* bytes at the place that *order* gives it."""
    placed: list[Optional[int]] = [None] * RAW_BYTES
    for group, place in zip(groups, order):
        placed[place * width:(place + 1) * width] = _little(group, width)
    return tuple(placed)
