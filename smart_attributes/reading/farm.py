"""Read Seagate's Field Accessible Reliability Metrics log (FARM) in smartctl's JSON. Pure.

Source: smartmontools 7.4 and 7.5, farmprint.cpp; both protocols have the same values under different keys.
"""
from __future__ import annotations

from ..errors import DriveError
from ..model import Farm, Head
from ..typed import Json, NamedTuple
from .content import as_text, json_start, loaded
from .identity import serial_key
from .json_values import integer_at, object_of, text_of, word_of

KEY = 'seagate_farm_log'
HEADS = range(24)      # places for heads in each array of the log
_LARGEST = 2 ** 56     # the eighth byte of each number states whether the drive supports it


class _Keys(NamedTuple):
    """The places of the values in the log of one protocol; {} stands for the number of a head."""

    drive: str            # the object with serial number and hours
    hours: str
    reallocated: str
    unrecoverable: str
    repeated: str


_BY_HEAD = 'page_3_error_statistics.cum_lifetime_unrecoverable_by_head_{}.cum_lifetime_unrecoverable_read_'
_LAYOUTS = (
    _Keys('page_1_drive_information', 'poh', 'page_5_reliability_statistics.number_of_reallocated_sectors_by_head_{}',
          _BY_HEAD + 'unique', _BY_HEAD + 'repeating'),
    _Keys('drive_information', 'power_on_hour', 'head_information.number_of_reallocated_sectors_{}',
          'head_information.cum_lifetime_unrecoverable_read_unique_{}',
          'head_information.cum_lifetime_unrecoverable_read_repeating_{}'))


def of_json(data: Json) -> Farm | None:
    """Return the FARM log in a document, or None if it has none or does not say that the drive supports it.

    Values of another type, of an impossible size or of an impossible head count as absent. Neither the date of
    assembly is read, whose bytes smartctl 7.4 swaps, nor the write power-on time, whose unit 7.5 changed.
    """
    log = object_of(data, KEY)
    keys = next((keys for keys in _LAYOUTS if isinstance(log.get(keys.drive), dict)), None)
    if keys is None or log.get('supported') is not True:
        return None
    drive = object_of(log, keys.drive)
    return Farm(text_of(drive, 'serial_number'), possible(word_of(drive, keys.hours)) or None, heads=tuple(
        head for head in (Head(number, *(possible(integer_at(log, place.format(number)))
                                         for place in keys[2:])) for number in HEADS) if any(head[1:])))


def answered(stdout: bytes) -> Farm:
    """Return the log that smartctl printed; an empty one if the disk keeps none. Raises DriveError without a report."""
    text = as_text(stdout)
    start = json_start(text)
    data = loaded(text, start) if start >= 0 else None
    if not isinstance(data, dict) or 'smartctl' not in data:
        raise DriveError('smartctl printed no report')
    return of_json(data) or Farm()


def possible(number: int | None) -> int:
    """Return a number of the log, or 0 if the log cannot contain it."""
    return number if number is not None and 0 <= number < _LARGEST else 0


def beside(farm: Farm | None, serial: str) -> Farm | None:
    """Return the log with the mark that it names another drive, if its serial number contradicts *serial*.

    A SAS drive reports its serial number followed by that of its board; a masked one contradicts nothing.
    """
    if farm is None:
        return None
    own, other = serial_key(serial), serial_key(farm.serial)
    return farm._replace(is_foreign=bool(own and other) and other not in own and own not in other)
