"""A limit of version 1.6 at a number of an attribute -> a limit of ours at a metric.

What an attribute means is asked of attributes.json: the formula that gives the
reading converts the limit as well.
"""

from typing import Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from ..knowledge import ranges, standards
from ..knowledge.drive_database import DriveSpec, ReadingSpec
from ..knowledge.ranges import INFINITY
from ..knowledge.units import UNITS
from ..words import literally
from . import files
from .files import ERROR_COUNT, RAW, VALUE

FIRST_COLUMN = {VALUE: 'value', RAW: 'raw'}


class Meaning(NamedTuple):
    """How a number of version 1.6 gives a reading of ours: factor * number + offset, in the metric's base unit."""

    metric: str
    factor: float = 1
    offset: float = 0


def of_reading(item: ReadingSpec, column: str) -> Optional[Meaning]:
    """Return how *column* of an attribute gives a reading.

    None where the reading is made of something else, is a word, or is never judged.
    """
    formula, first = item.formula, item.formula.first
    is_whole = first.column == 'value' or first.bytes == tuple(range(len(first.bytes)))
    if (first.column != FIRST_COLUMN[column] or not is_whole or formula.attributes or formula.second or item.states
            or item.is_trap):
        return None
    unit = UNITS[item.unit][1] if item.unit else 1
    return Meaning(item.metric, (-1 if formula.minus_from else 1) * unit / formula.divisor, formula.minus_from * unit)


def of_standard(number: int, protocol: str) -> Optional[Meaning]:
    """Return what a number means that is no attribute, or None. protocol: "NVMe", "SCSI", "ATA"."""
    if protocol == 'NVMe':
        key, _, old_factor = files.NVME[number] if number < len(files.NVME) else ('', '', 1)
        known = standards.NVME.get(key)
        return Meaning(known.metric, known.factor / old_factor) if known else None
    if protocol == 'SCSI':
        key = files.SAS[number][0] if number < len(files.SAS) else ''
        if key in standards.SCSI_UNCORRECTED:
            return Meaning('reported_uncorrect')
        return Meaning(standards.SCSI[key].metric, standards.SCSI[key].factor) if key in standards.SCSI else None
    return Meaning('error_log_count') if number == ERROR_COUNT else None


def of_specs(number: int, column: str, specs: Iterable[DriveSpec]) -> List[Meaning]:
    """Return what several entries read in *column* of an attribute, each meaning once."""
    found = (of_reading(item, column) for spec in specs for item in spec.readings if item.attribute == number)
    return list(dict.fromkeys(meaning for meaning in found if meaning))


def columns_of(spec: DriveSpec) -> Mapping[int, str]:
    """Return, by attribute, the column that an entry reads, where it reads only one."""
    seen = {(item.attribute, item.formula.first.column) for item in spec.readings}
    return {number: VALUE if column == 'value' else RAW for number, column in seen
            if column in ('value', 'raw') and sum(number == other for other, _ in seen) == 1}


def converted(text: str, shift: Optional[int], meaning: Meaning) -> str:
    """Return a range of version 1.6 as one of ours.

    A shift becomes part of the limit: above 2 behind "r8" is above 767 before it.
    """
    limit = ranges.parse(text)
    # Nothing that is counted here is ever negative.
    start = -INFINITY if limit.start == 0 and not limit.invert else limit.start
    ends = sorted(meaning.factor * end + meaning.offset for end in _before_shift(start, limit.end, shift or 0))
    return ('@' if limit.invert else '') + _range(*ends)


def _before_shift(start: float, end: float, shift: int) -> Tuple[float, float]:
    size = 2 ** abs(shift)
    return (start / size, end / size) if shift > 0 else (start * size, end * size + size - 1)


def _range(start: float, end: float) -> str:
    if end == INFINITY:
        return f'{_number(start)}:'
    if start == -INFINITY:
        return _number(end) if end >= 0 else f'~:{_number(end)}'
    return f'{_number(start)}:{_number(end)}'


def _number(number: float) -> str:
    return str(int(number)) if number == int(number) else f'{number:.6f}'.rstrip('0')


def patterns(models: Sequence[str]) -> List[str]:
    """Return expressions for whole models; version 1.6 compared their ends, which matters where the vendor is
    left out.
    """
    return [('' if ' ' in model or '_' in model else '(?:.*[ _])?') + literally(' '.join(model.split()))
            for model in dict.fromkeys(models)]
