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

from ..errors import FormulaError
from ..model import AttributeRow
from ..typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Callable, List, Mapping, Optional, Sequence, Tuple

RAW_BYTES = 6
LONGEST = 64  # characters of a raw value or a formula; the longest rendering has half of them
FORMS = 'value, worst, raw, raw byte 0, raw bytes 0-1, bits of raw'


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
    formula = _formula(text)
    if formula is None:
        raise FormulaError(f'from "{text[:LONGEST]}" is not known; {_advice(text)}')
    return formula


def _formula(text: str) -> Optional[Formula]:
    words = text.split(' ')
    try:
        formula = _ratio(words) if words[:2] == ['100', '*'] else _sum_or_difference(words)
    except (ValueError, IndexError):
        return None
    return None if words else formula


def _advice(text: str) -> str:
    """Return what to write in place of *text*, which is not a formula: the nearest one, else all that there are."""
    spaced = ' '.join(re.sub('([-+*/])', r' \1 ', text[:LONGEST].lower()).split())
    near = re.sub('bytes? ([0-9]) - ([0-9])', r'bytes \1-\2', spaced)
    near = re.sub('bytes ([0-9])(?!-)', r'byte \1', near)
    if _formula(near):
        return f'did you mean "{near}"?'
    return (f'write {FORMS}, with 100 - or 200 - before it, / N behind it, of ID for another attribute, '
            '100 * A / B for a ratio, or A + B for a sum')


# Each of these takes its words from the front of the list. What is left over in
# the end is a mistake, and so is a word that is missing or no number.

def _ratio(words: List[str]) -> Optional[Formula]:
    del words[:2]
    first = _operand(words)
    return Formula(first, _operand(words), 0, 1, True) if words.pop(0) == '/' else None


def _sum_or_difference(words: List[str]) -> Optional[Formula]:
    minus_from = int(words[0]) if words[:2] in (['100', '-'], ['200', '-']) else 0
    if minus_from:
        del words[:2]
    first = _operand(words)
    if words[:1] == ['+'] and not minus_from:
        del words[0]
        return Formula(first, _operand(words), 0, 1, False)
    divisor = 1
    if words[:1] == ['/']:
        divisor = _number_word(words[1], 1, 2**48)
        del words[:2]
    return Formula(first, None, minus_from, divisor, False)


def _operand(words: List[str]) -> Operand:
    word = words.pop(0)
    if word in ('value', 'worst'):
        return Operand(word, (), _attribute(words))
    if word == 'bits' and words[:2] == ['of', 'raw']:
        del words[:2]
        return Operand('bits', tuple(range(RAW_BYTES)), _attribute(words))
    if word != 'raw':
        raise ValueError
    return Operand('raw', _byte_numbers(words), _attribute(words))


def _byte_numbers(words: List[str]) -> Tuple[int, ...]:
    """Take "byte 3", "bytes 0-1", "bytes 5-4" or nothing; return the bytes, lowest first."""
    if words[:1] == ['byte']:
        del words[0]
        return (_number_word(words.pop(0), 0, RAW_BYTES - 1),)
    if words[:1] != ['bytes']:
        return tuple(range(RAW_BYTES))
    del words[0]
    first, last = (_number_word(word, 0, RAW_BYTES - 1) for word in words.pop(0).split('-'))
    step = 1 if last >= first else -1
    return tuple(range(first, last + step, step))


def _attribute(words: List[str]) -> Optional[int]:
    """Take "of 230" or nothing."""
    if words[:1] != ['of']:
        return None
    del words[0]
    return _number_word(words.pop(0), 1, 255)


def _number_word(word: str, lowest: int, highest: int) -> int:
    """Return the number that *word* is, written as a person writes it. Raises ValueError."""
    number = int(word)
    if str(number) != word or not lowest <= number <= highest:
        raise ValueError
    return number


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


_HEX = r'(?i:0x([0-9a-f]{1,16}))'
_WORDS = r'(\d+) \((\d+) (\d+)\)'           # raw16(raw16): word 0 (word 2 word 1)
_LOW_24 = r'(\d+) \((\d+) (\d+) (\d+)\)'    # raw24(raw8): low 24 bits (byte 5 byte 4 byte 3)
_THREE = r'(\d+) (\d+) (\d+)'               # raw16: word 2 word 1 word 0
_SIX = r'(\d+) (\d+) (\d+) (\d+) (\d+) (\d+)'  # raw8: byte 5 ... byte 0
_LOW_BYTE = r'(\d+) \((\d+) (\d+) (\d+) (\d+) (\d+)\)'  # a temperature: byte 0 (byte 5 ... byte 1)
_LAYOUTS = ((_WORDS, (0, 2, 1), 2), (_THREE, (2, 1, 0), 2), (_SIX, (5, 4, 3, 2, 1, 0), 1),
            (_LOW_BYTE, (0, 5, 4, 3, 2, 1), 1))
_AVERAGE = r'(\d+) \(Average (\d+)\)'         # raw16(avg16): word 0 (word 1)
_HALVES = r'(\d+)/(\d+)'                    # raw24/raw24 or raw24/raw32: high / low
_HOURS = r'(\d+)h\+\d+m(?:\+[\d.]+s)?(?: \(.*\))?'
_LEADING = r'(-?\d+)(?: \(.*\))?'           # "28 (Min/Max 20/32)": only the number is certain
_NOTHING = (None,) * RAW_BYTES


@lru_cache(maxsize=4096)
def printed_bytes(raw: str) -> Sequence[Optional[int]]:
    """Return raw bytes 0 to 5 of a RAW_VALUE as printed, None where it does not hold them."""
    if len(raw) > LONGEST:
        return _NOTHING
    if raw.isdecimal():
        return _little(int(raw), RAW_BYTES)
    # A pattern is compiled where its signs are there: most drives need one or two of these.
    return _worded_bytes(raw) if raw.strip('0123456789 ()') else _grouped_bytes(raw)


def _grouped_bytes(raw: str) -> Sequence[Optional[int]]:
    """Return the bytes of a value that is printed as several numbers, with blanks and parentheses."""
    for pattern, order, width in _LAYOUTS:
        match = re.fullmatch(pattern, raw)
        if match:
            return _placed([int(group) for group in match.groups()], order, width)
    match = re.fullmatch(_LOW_24, raw)
    if match:
        low, *high = (int(group) for group in match.groups())
        return (*_little(low, 3), *(byte & 0xff for byte in reversed(high)))
    return _leading_byte(raw)


def _worded_bytes(raw: str) -> Sequence[Optional[int]]:
    """Return the bytes of a value that is printed with other signs, too."""
    hexadecimal = re.fullmatch(_HEX, raw) if raw[1:2] in ('x', 'X') else None
    if hexadecimal:
        return _little(int(hexadecimal.group(1), 16), RAW_BYTES)
    for sign, pattern, bytes_of in _SIGNS:
        match = re.fullmatch(pattern, raw) if sign in raw else None
        if match:
            return bytes_of(*map(int, match.groups()))
    return _leading_byte(raw)


def _leading_byte(raw: str) -> Sequence[Optional[int]]:
    match = re.fullmatch(_LEADING, raw)
    return (int(match.group(1)), *_NOTHING[1:]) if match and 0 <= int(match.group(1)) < 256 else _NOTHING


def _hours(count: int) -> Sequence[Optional[int]]:
    return (*_little(count, 4), None, None)


def _average(total: int, average: int) -> Sequence[Optional[int]]:
    return (*_little(total, 2), *_little(average, 2), None, None)


def _halves(high: int, low: int) -> Sequence[Optional[int]]:
    """Return the bytes of "high / low", of which either 24 or 32 bits are low."""
    if low >= 2**24:
        return (*_little(low, 4), *_little(high, 2))
    # Both formats print alike here; where nothing stands above, it does not matter which one it is.
    return _little(low, RAW_BYTES) if high == 0 else (*_little(low, 3), None, None, None)


_SIGNS: Sequence[Tuple[str, str, Callable[..., Sequence[Optional[int]]]]] = (
    ('h+', _HOURS, _hours), ('Average', _AVERAGE, _average), ('/', _HALVES, _halves))


def _little(number: int, count: int) -> Tuple[int, ...]:
    return tuple((number >> (8 * position)) & 0xff for position in range(count))


def _placed(groups: Sequence[int], order: Sequence[int], width: int) -> Sequence[Optional[int]]:
    """Put each printed *group* of *width* bytes at the place that *order* gives it."""
    placed: list[Optional[int]] = [None] * RAW_BYTES
    for group, place in zip(groups, order):
        placed[place * width:(place + 1) * width] = _little(group, width)
    return tuple(placed)
