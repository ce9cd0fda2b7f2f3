"""Parse the formula in the key `from` of an entry, evaluate it for an attribute row, and convert
the unit.

The grammar is small and readable. A formula is never executed as code:

    [100 - | 200 -] operand [/ N]
    100 * operand / operand
    operand + operand

    operand:  value | raw | raw byte N | raw bytes A-B | bits of raw,
              each optionally followed by: of ID

`raw` is the low 48 bits of the raw value. Byte 0 is the lowest. `raw bytes 5-4` reads the same
bytes as `raw bytes 4-5`, but in reverse order (big-endian). `bits of raw` counts the set bits.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache

from ..constants import LONGEST_RAW, MOST_SECTORS_IN_ONE
from ..errors import FormulaError
from ..model import AttributeRow, Identity
from ..typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    # raw bytes, low byte first; None for a byte that the report lacks
    Bytes = Sequence[int | None]

RAW_BYTES = 6
FORMS = (
    'write "value", "raw", "raw byte 0", "raw bytes 0-1" or "bits of raw"; to use another '
    'attribute, add its ID, such as "raw of 230"; or write a formula such as "100 - value", '
    '"raw / 100", "raw + raw of 231" or "100 * raw of 17 / raw of 16"'
)


class Operand(NamedTuple):
    """An operand of a formula: one number of one attribute row."""

    column: str  # 'value', 'raw' or 'bits'
    bytes: tuple[int, ...]  # the raw bytes, lowest first
    attribute: int | None  # None: the row that the formula belongs to

    @property
    def has_lowest_bytes(self) -> bool:
        """Return whether the raw bytes are the lowest ones, in this order: True for "raw" and "raw
        bytes 0-1", False for "raw byte 1" and "raw bytes 1-0"; True for "value", which has none.
        """
        return self.bytes == _ALL_BYTES[: len(self.bytes)]


class Formula(NamedTuple):
    """The parsed formula from the key `from` of an entry."""

    first: Operand
    second: Operand | None = None
    minus_from: int = 0  # 100 or 200; 0: nothing to subtract from
    divisor: int = 1
    is_ratio: bool = False  # 100 * first / second

    @property
    def is_value(self) -> bool:
        """Return whether the result is the normalized value of the formula's own row."""
        is_own_value = self.first.column == 'value' and self.first.attribute is None
        is_changed = self.second or self.minus_from or self.divisor != 1
        return is_own_value and not is_changed

    @property
    def attributes(self) -> tuple[int, ...]:
        """Return the IDs of the other attributes that the formula reads."""
        attributes = [self.first.attribute]
        if self.second:
            attributes.append(self.second.attribute)
        return tuple(number for number in attributes if number is not None)


_ALL_BYTES = tuple(range(RAW_BYTES))
# (column, bytes) of each operand without "of ID".
_OPERANDS = {
    'value': ('value', ()),
    'raw': ('raw', _ALL_BYTES),
    'bits of raw': ('bits', _ALL_BYTES),
    **{f'raw byte {byte}': ('raw', (byte,)) for byte in _ALL_BYTES},
    **{
        f'raw bytes {first}-{last}': (
            'raw',
            tuple(range(first, last + 1) or range(first, last - 1, -1)),
        )
        for first in _ALL_BYTES
        for last in _ALL_BYTES
    },
}


@cache
def parse(text: str) -> Formula:
    """Return the formula in *text*. Raises FormulaError if *text* is not a formula."""
    try:
        return _formula(text)
    except (ValueError, KeyError):
        raise FormulaError(
            f'"from": "{text[:LONGEST_RAW]}" is not a formula; {FORMS}'
        ) from None


def _formula(text: str) -> Formula:
    """Return the formula.

    Raises KeyError for an invalid operand, and ValueError for an invalid number.
    """
    start = text[:6]
    rest = text[6:]
    if start == '100 * ':
        first, second = rest.split(' / ')
        return Formula(_operand(first), _operand(second), is_ratio=True)
    if ' + ' in text:
        first, second = text.split(' + ')
        return Formula(_operand(first), _operand(second))
    minus_from = 0
    quotient = text
    if start in ('100 - ', '200 - '):
        minus_from = int(text[:3])
        quotient = rest
    operand, slash, digits = quotient.partition(' / ')
    divisor = _whole(digits, 2**48) if slash else 1
    return Formula(_operand(operand), minus_from=minus_from, divisor=divisor)


def _operand(text: str) -> Operand:
    """Return the operand in a text:

    "raw byte 1" -> the byte 1 of the formula's own row
    "raw byte 1 of 230" -> the byte 1 of the row of attribute 230

    Raises KeyError or ValueError like _formula().
    """
    # "bits of raw" is here, too: its " of " does not name an attribute.
    if text in _OPERANDS:
        return Operand(*_OPERANDS[text], None)
    own_operand, _, attribute = text.rpartition(' of ')
    return Operand(*_OPERANDS[own_operand], _whole(attribute, 255))


def _whole(digits: str, most: int) -> int:
    """Return the number from 1 to *most* in *digits*.

    Raises ValueError for any other number or notation.
    """
    number = int(digits)
    if str(number) != digits or not 1 <= number <= most:
        raise ValueError(digits)
    return number


def evaluate(
    formula: Formula, row: AttributeRow, rows: Mapping[int, AttributeRow]
) -> float | None:
    """Return the result of the formula for *row*, or None if the report lacks a number for it."""
    first = _number(formula.first, row, rows)
    if first is None:
        return None
    if formula.second is None:
        # a number that is not divided stays an integer
        quotient = first / formula.divisor if formula.divisor > 1 else first
        return formula.minus_from - quotient if formula.minus_from else quotient
    second = _number(formula.second, row, rows)
    if second is None:
        return None
    if formula.is_ratio:
        return 100 * first / second if second else None
    return first + second


def signed_byte(formula: Formula, number: float) -> float:
    """Return the result of a formula for a temperature: drives store degrees in one signed byte.

    Only the result of "raw byte N" alone is changed: 250 becomes -6. Source: smartmontools,
    ata_format_attr_raw_value(), format tempminmax.
    """
    if formula.second or formula.minus_from or formula.divisor != 1:
        return number
    is_byte = formula.first.column == 'raw' and len(formula.first.bytes) == 1
    return number - 256 if is_byte and number > 127 else number


def _number(
    operand: Operand, row: AttributeRow, rows: Mapping[int, AttributeRow]
) -> int | None:
    """Return the number of an operand; None if the report lacks its row, its value or one of its
    bytes. row: the row that the formula belongs to.
    """
    if operand.attribute is not None:
        if operand.attribute not in rows:
            return None
        row = rows[operand.attribute]
    if operand.column == 'value':
        return row.value
    content = raw_bytes(row)
    number = 0
    for position, place in enumerate(operand.bytes):
        byte = content[place]
        if byte is None:
            return None
        number += byte << (8 * position)
    return bin(number).count('1') if operand.column == 'bits' else number


def raw_bytes(row: AttributeRow) -> Bytes:
    """Return raw bytes 0 to 5, low byte first; None for each byte that the report lacks.

    smartctl's JSON contains these bytes as one number. smartctl's text, and reports without the
    number, contain one of the formats of ata_format_attr_raw_value(). Source: smartmontools,
    atacmds.cpp.
    """
    # smartctl prints a time in hours, but gives the number in the drive's own unit, such as minutes.
    if row.raw_number is not None and row.raw_number >= 0 and 'h+' not in row.raw:
        return (row.raw_number & 0xFFFFFFFFFFFF).to_bytes(RAW_BYTES, 'little')
    return printed_bytes(row.raw)


_NOTHING: tuple[int | None, ...] = (None,) * RAW_BYTES
# For each format: its pattern; first byte and byte count of each number.
_LAYOUTS = (
    # raw16(raw16)
    (r'(\d+) \((\d+) (\d+)\)', ((0, 2), (4, 2), (2, 2))),
    # raw16
    (r'(\d+) (\d+) (\d+)', ((4, 2), (2, 2), (0, 2))),
    # raw8
    (
        r'(\d+) (\d+) (\d+) (\d+) (\d+) (\d+)',
        ((5, 1), (4, 1), (3, 1), (2, 1), (1, 1), (0, 1)),
    ),
    # tempminmax
    (
        r'(\d+) \((\d+) (\d+) (\d+) (\d+) (\d+)\)',
        ((0, 1), (5, 1), (4, 1), (3, 1), (2, 1), (1, 1)),
    ),
    # raw24(raw8)
    (r'(\d+) \((\d+) (\d+) (\d+)\)', ((0, 3), (5, 1), (4, 1), (3, 1))),
    (r'(\d+)h\+\d+m(?:\+[\d.]+s)?(?: \(.*\))?', ((0, 4),)),
    # raw16(avg16)
    (r'(\d+) \(Average (\d+)\)', ((0, 2), (2, 2))),
)


@lru_cache(maxsize=4096)
def printed_bytes(raw: str) -> Bytes:
    """Return raw bytes 0 to 5 of a printed RAW_VALUE; None for each byte that the text lacks: all
    bytes for an unknown format.
    """
    if len(raw) > LONGEST_RAW:
        return _NOTHING
    if raw.isdecimal():
        return _little(int(raw), RAW_BYTES)
    hexadecimal = re.fullmatch(r'0[xX]([0-9a-fA-F]{1,16})', raw)
    if hexadecimal:
        return _little(int(hexadecimal[1], 16), RAW_BYTES)
    for pattern, places in _LAYOUTS:
        match = re.fullmatch(pattern, raw)
        if match:
            content = [*_NOTHING]
            for digits, (first, count) in zip(match.groups(), places):
                content[first : first + count] = _little(int(digits), count)
            return tuple(content)
    halves = re.fullmatch(r'(\d+)/(\d+)', raw)  # raw24/raw24 or raw24/raw32: high / low
    if halves:
        return _half_bytes(int(halves[1]), int(halves[2]))
    return _lowest_byte(raw)


def _lowest_byte(raw: str) -> Bytes:
    """Return the byte of a text such as "28 (Min/Max 20/32)", where only the number is certain."""
    number = re.fullmatch(r'(-?\d+)(?: \(.*\))?', raw)
    if number and -128 <= int(number[1]) < 256:
        return (int(number[1]) & 0xFF, *_NOTHING[1:])
    return _NOTHING


def _half_bytes(high: int, low: int) -> Bytes:
    """Return raw bytes 0 to 5 of "high/low", which smartctl prints for two layouts:

    raw24/raw32: low is in bytes 0 to 3, high in bytes 4 and 5;
    raw24/raw24: low is in bytes 0 to 2, high in bytes 3 to 5.

    1/16777216 -> 0, 0, 0, 1, 1, 0, because only the first layout has so large a low part
    0/5 -> 5, 0, 0, 0, 0, 0, because this is the same in both layouts
    1/5 -> 5, 0, 0, None, None, None, because the layout is not known
    """
    if low >= 2**24:
        return (*_little(low, 4), *_little(high, 2))
    if high == 0:
        return _little(low, RAW_BYTES)
    return (*_little(low, 3), None, None, None)


def _little(number: int, count: int) -> tuple[int, ...]:
    """Return the lowest *count* bytes of a number, low byte first."""
    return tuple((number >> (8 * position)) & 0xFF for position in range(count))


# --- the units in which drives count ------------------------------------------------

# Disks with 4 KiB sectors usually present each sector as eight of 512 B, and some count errors in
# these small sectors.
LOGICAL_SECTORS = 'logical sectors'
# metrics
COUNTED_IN_SECTORS = frozenset(('reallocated', 'pending', 'offline_uncorrectable'))

# Unit of the source: (base unit, factor). For logical sectors, the factor applies if the sector
# size is unknown.
UNITS = {
    '%': ('%', 1),
    'C': ('C', 1),
    LOGICAL_SECTORS: ('', 1 / MOST_SECTORS_IN_ONE),
    's': ('s', 1),
    'min': ('s', 60),
    'h': ('s', 3600),
    'us': ('s', 1e-6),
    'B': ('B', 1),
    '512B': ('B', 512),
    '16KiB': ('B', 16384),
    '1MiB': ('B', 2**20),
    '16MiB': ('B', 2**24),
    '32MiB': ('B', 2**25),
    '1GiB': ('B', 2**30),
    '1GB': ('B', 1e9),
}


def in_base_unit(count: float, unit: str, identity: Identity) -> float:
    """Convert *count* from *unit* to the base unit; the unit '' is the base unit itself."""
    if unit == LOGICAL_SECTORS:  # round up, so that no sector is lost
        return math.ceil(count / logical_in_physical(identity))
    if not unit:
        return count
    _, factor = UNITS[unit]
    return count * factor


def counted_sectors(count: float, unit: str, identity: Identity) -> int | None:
    """Return the drive's own count if the drive counts smaller sectors than the limits refer to,
    else None; None for 0, too.
    """
    if count and unit == LOGICAL_SECTORS and logical_in_physical(identity) > 1:
        return int(count)
    return None


def logical_in_physical(identity: Identity) -> float:
    """Return the logical sectors per physical sector: 8 for 512 B in 4096 B; 1 if not reported."""
    physical = identity.physical_block_size or identity.sector_size
    return min(max(physical / identity.sector_size, 1), MOST_SECTORS_IN_ONE)
