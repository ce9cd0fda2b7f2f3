"""Convert limits of version 1.6, which apply to attributes, to limits of this version, which apply to metrics. Pure.

attributes.json defines the meaning of an attribute: the formula for the reading also converts the limit.
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ..knowledge import drive_logs, ranges
from ..knowledge.decode import UNITS
from ..knowledge.drive_database import DriveSpec, ReadingSpec
from ..knowledge.ranges import INFINITY
from ..words import literally
from . import files
from .files import ERROR_COUNT, RAW, VALUE

COLUMNS = {VALUE: 'value', RAW: 'raw'}   # column of version 1.6 -> our name


class Meaning(NamedTuple):
    """The formula from a number of version 1.6 to our reading: factor * number + offset, in the metric's base unit."""
    metric: str
    factor: float = 1
    offset: float = 0


def of_reading(item: ReadingSpec, column: str) -> Meaning | None:
    """Return the formula that converts *column* of an attribute to a reading.

    Return None if the reading has another source, is a status word, or is never judged.
    """
    formula, first = item.formula, item.formula.first
    is_whole = first.bytes == tuple(range(len(first.bytes)))   # VALUE does not have bytes
    if (first.column != COLUMNS[column] or not is_whole or formula.attributes or formula.second or item.states
            or item.is_trap):
        return None
    unit = UNITS[item.unit][1] if item.unit else 1
    return Meaning(item.metric, (-1 if formula.minus_from else 1) * unit / formula.divisor, formula.minus_from * unit)


def of_standard(number: int, protocol: str) -> Meaning | None:
    """Return the meaning of a number that is not an attribute, or None. protocol: "NVMe", "SCSI" or "ATA"."""
    if protocol not in ('NVMe', 'SCSI'):
        return Meaning('error_log_count') if number == ERROR_COUNT else None
    log, known = (files.NVME, drive_logs.NVME) if protocol == 'NVMe' else (files.SAS, drive_logs.SCSI)
    if number >= len(log):
        return None
    key, _, old_factor = log[number]
    if protocol == 'SCSI' and key in drive_logs.SCSI_UNCORRECTED:
        return Meaning('reported_uncorrect')
    return Meaning(known[key].metric, known[key].factor / old_factor) if key in known else None


def of_specs(number: int, column: str, specs: Iterable[DriveSpec]) -> list[Meaning]:
    """Return the distinct meanings that several entries give to *column* of an attribute."""
    meanings = (of_reading(item, column) for spec in specs for item in spec.readings if item.attribute == number)
    return list(dict.fromkeys(meaning for meaning in meanings if meaning))


def columns_of(spec: DriveSpec) -> Mapping[int, str]:
    """Return the column of each attribute for which an entry reads only one column."""
    pairs = {(item.attribute, item.formula.first.column) for item in spec.readings}
    counts = Counter(number for number, _ in pairs)
    ours = {name: column for column, name in COLUMNS.items()}
    return {number: ours[name] for number, name in pairs if name in ours and counts[number] == 1}


def converted(text: str, shift: int | None, meaning: Meaning) -> str:
    """Return a range of version 1.6 as a range of this version.

    A shift becomes part of the limit: "above 2" after the shift "r8" equals "above 767" before the shift.
    """
    limit, size = ranges.parse(text), 2 ** abs(shift or 0)
    # These numbers are never negative.
    start, end = -INFINITY if limit.start == 0 and not limit.invert else limit.start, limit.end
    start, end = (start / size, end / size) if (shift or 0) > 0 else (start * size, end * size + size - 1)
    low, high = sorted(meaning.factor * bound + meaning.offset for bound in (start, end))
    sign = '@' if limit.invert else ''
    if high == INFINITY:
        return f'{sign}{_number(low)}:'
    if low == -INFINITY:
        return f'{sign}{"~:" if high < 0 else ""}{_number(high)}'
    return f'{sign}{_number(low)}:{_number(high)}'


def _number(number: float) -> str:
    return str(int(number)) if number == int(number) else f'{number:.6f}'.rstrip('0')


def patterns(models: Sequence[str]) -> list[str]:
    """Return expressions that match whole models, with or without a vendor; version 1.6 compared only their ends."""
    return [('' if ' ' in model or '_' in model else '(?:.*[ _])?') + literally(' '.join(model.split()))
            for model in dict.fromkeys(models)]
