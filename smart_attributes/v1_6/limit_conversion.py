"""Convert limits of version 1.6, which apply to attributes, to limits of this version, which apply
to metrics. Pure.

attributes.json defines the meaning of an attribute: the formula for the reading also converts the
limit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..constants import HOUR
from ..errors import UsageError
from ..knowledge import ranges
from ..knowledge.decode import UNITS
from ..knowledge.drive_database import DriveSpec
from ..knowledge.ranges import INFINITY

COLUMNS = {'VALUE': 'value', 'RAW_VALUE': 'raw'}  # column of version 1.6 -> our name
GB = 1e9


class Meaning(NamedTuple):
    """The formula from a number of version 1.6 to our reading: factor * number + offset, in the
    metric's base unit.
    """

    metric: str
    factor: float = 1
    offset: float = 0


# The meanings of numbers that are not attribute numbers, by protocol. Version 1.6 counted the lines
# of smartctl's log.
LOGS = {
    'NVMe': {
        0: Meaning('critical_warning'),
        1: Meaning('temperature'),
        2: Meaning('spare_available'),
        4: Meaning('endurance_used'),
        5: Meaning('host_read', GB),
        6: Meaning('host_written', GB),
        10: Meaning('power_cycles'),
        11: Meaning('power_on_time', HOUR),
        12: Meaning('unsafe_shutdowns'),
        13: Meaning('media_errors'),
        14: Meaning('error_log_count'),
        15: Meaning('over_temperature_time', 60),
        16: Meaning('critical_temperature_time', 60),
    },
    'SCSI': {
        0: Meaning('reallocated'),
        6: Meaning('host_read', GB),
        7: Meaning('reported_uncorrect'),
        13: Meaning('host_written', GB),
        14: Meaning('reported_uncorrect'),
    },
    'ATA': {1024: Meaning('error_log_count')},
}


def limits_of(data: Any) -> tuple[str, str]:
    """Return the warning and the critical limit as Nagios ranges.

    Raises UsageError, with the reason, for others.
    """
    if not isinstance(data, list) or len(data) < 2:
        raise UsageError('it is not a list of two limits, warning and critical')
    if len(data) > 2:
        raise UsageError(
            'this version cannot shift the bits of a raw value before comparing the value'
        )
    return _range(data[0]), _range(data[1])


def _range(data: Any) -> str:
    """Return a limit as a Nagios range; "0" for an empty text, as in version 1.6.

    Raises UsageError for any other text that is not a range, and for a value such as null or true.
    """
    text = ''
    if type(data) in (str, int, float):
        text = str(data).strip() or '0'
    # parse() raises the error for other values, too, because '' is not a range.
    ranges.parse(text)
    return text


def of_attribute(number: int, column: str, spec: DriveSpec) -> list[Meaning]:
    """Return the meanings of *column* of an attribute for drives of an entry; several if it has
    several readings.

    Left out are readings that have another source, are a status word, or are never judged.
    """
    meanings = []
    for item in spec.readings:
        formula = item.formula
        first = formula.first
        if item.attribute != number or first.column != COLUMNS.get(column):
            continue
        # Such a formula also reads another number: "raw of 230", "100 * raw / raw of 16".
        if formula.attributes or formula.second:
            continue
        if item.states or item.is_trap:
            continue
        # Version 1.6 compared the whole raw value. "raw bytes 0-1" gives the same number as long as
        # the higher bytes are 0; bytes in the middle are another number.
        if not first.has_lowest_bytes:
            continue
        unit: float = 1
        if item.unit:
            _, unit = UNITS[item.unit]
        # reading = (minus_from - number / divisor) * unit; without minus_from, number / divisor * unit
        factor = unit / formula.divisor
        if formula.minus_from:
            factor = -factor
        meaning = Meaning(item.metric, factor, offset=formula.minus_from * unit)
        if meaning not in meanings:
            meanings.append(meaning)
    return meanings


def column_of(number: int, spec: DriveSpec) -> str:
    """Return the column of an attribute, VALUE or RAW_VALUE, if an entry reads only one column of
    it, else ''.
    """
    ours = {
        item.formula.first.column for item in spec.readings if item.attribute == number
    }
    for column, name in COLUMNS.items():
        if ours == {name}:
            return column
    return ''


def converted(text: str, meaning: Meaning) -> str:
    """Return a range of version 1.6 as a range of this version. With a formula that does not change
    numbers:

    version 1.6             this version
    "20:"                   "20:"
    "20:80"                 "20:80"
    "80", "0:80", "~:80"    "80"
    "~:-5"                  "~:-5"
    "@20:80"                "@20:80"
    "@0:80"                 "@0:80"
    "0:", "~:"              UsageError, because no end of the range is a limit

    A text that is not a range raises UsageError, too.
    """
    limit = ranges.parse(text)
    # The numbers are never negative, so "80" alerts only above 80, like "~:80". But "@0:80" alerts
    # between its ends: there, 0 is a limit.
    start = limit.start
    if start == 0 and not limit.invert:
        start = -INFINITY
    # A negative factor exchanges the two ends.
    low, high = sorted(
        meaning.factor * bound + meaning.offset for bound in (start, limit.end)
    )
    if low == -INFINITY and high == INFINITY:
        raise UsageError(f'"{text}" gives every value the same state')
    sign = '@' if limit.invert else ''
    if low > -INFINITY:
        floor = ranges.beyond(low, is_floor=True)  # "20:"
    elif high < 0:
        floor = '~:'  # without it, "-5" would begin at 0
    else:
        floor = ''
    ceiling = ''
    if high < INFINITY:
        ceiling = ranges.beyond(high, is_floor=False)  # "80"
    return f'{sign}{floor}{ceiling}'
