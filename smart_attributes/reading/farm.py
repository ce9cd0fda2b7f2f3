"""Read Seagate's Field Accessible Reliability Metrics log (FARM) in smartctl's JSON and text. Pure.

Source: smartmontools 7.4 and 7.5, farmprint.cpp; both protocols have the same values under
different keys.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..constants import HIGHEST_IN_FARM
from ..model import Farm, Head
from ..typed import Json, NamedTuple
from ..words import clean
from .content import (
    FARM_LOG,
    document_of,
    integer_at,
    integer_of,
    messages_in,
    object_of,
    text_of,
)
from .identity import serial_key

# Not compiled here, because a check that reads JSON needs neither pattern.
_SECTION = (
    r'^[ \t]*Seagate Field Access Reliability Metrics log \(FARM\).*(?:\n[ \t]*\S.*)*'
)
_LINE = r'^[ \t]*([A-Z][^:\n]{1,80}):[ \t]*(\S{0,30})(?!\S)'


class _Keys(NamedTuple):
    """The places of values in the log of one protocol."""

    drive: str  # the object with serial number and hours
    hours: str
    # as many as smartctl supports; for more heads, it would print unrelated memory
    heads: int
    counts: tuple[str, ...]  # in the order of Head; {} is replaced by the head's number


_UNREAD_SECTORS = 'page_3_error_statistics.cum_lifetime_unrecoverable_by_head_{}.cum_lifetime_unrecoverable_read_'
_KEYS = (
    _Keys(
        drive='page_1_drive_information',
        hours='poh',
        heads=24,
        counts=(
            'page_5_reliability_statistics.number_of_reallocated_sectors_by_head_{}',
            f'{_UNREAD_SECTORS}unique',
            f'{_UNREAD_SECTORS}repeating',
        ),
    ),
    _Keys(
        drive='drive_information',
        hours='power_on_hour',
        heads=20,
        counts=(
            'head_information.number_of_reallocated_sectors_{}',
            'head_information.cum_lifetime_unrecoverable_read_unique_{}',
            'head_information.cum_lifetime_unrecoverable_read_repeating_{}',
        ),
    ),
)


def of_json(data: Json) -> Farm | None:
    """Return the FARM log in a document, or None if the log is missing or the drive does not report
    that it supports it.

    Values with a wrong type or an impossible size, and values of impossible heads, count as absent.
    Two values are not read: the date of assembly, whose bytes smartctl 7.4 swaps, and the write
    power-on time, whose unit 7.5 changed.
    """
    log = object_of(data, FARM_LOG)
    if log.get('supported') is True:
        for keys in _KEYS:
            if isinstance(log.get(keys.drive), dict):
                return _of_protocol(log, keys)
    return None


def _of_protocol(log: Json, keys: _Keys) -> Farm:
    """Return the content of a log with the keys of its protocol."""
    heads = []
    for number in range(keys.heads):
        counts = [_count_at(log, place.format(number)) for place in keys.counts]
        if any(counts):
            heads.append(Head(number, *counts))
    drive = object_of(log, keys.drive)
    hours = count_of(drive, keys.hours) or None
    return Farm(text_of(drive, 'serial_number'), hours, tuple(heads))


def paths() -> Iterator[str]:
    """Yield the places of all numbers in the log."""
    for keys in _KEYS:
        yield f'{keys.drive}.{keys.hours}'
        for head in range(keys.heads):
            yield from (place.format(head) for place in keys.counts)


def cut(text: str) -> tuple[str, Farm | None]:
    """Return smartctl's text without the FARM log, and the FARM log; other logs have some of the
    same labels.
    """
    section = re.search(_SECTION, text, re.MULTILINE)
    if not section:
        return text, None
    return text[: section.start()] + text[section.end() :], _of_text(section[0])


def _of_text(section: str) -> Farm | None:
    """Return the log, parsed from lines of text."""
    values: dict[str, object] = {}
    head = ''
    for label, value in re.findall(_LINE, section, re.MULTILINE):
        if not value:
            # "Cum Lifetime Unrecoverable by head 3:", above counts that do not name their head
            head = label.split()[-1]
            continue
        number = int(value) if re.fullmatch('[0-9]{1,39}', value) else value
        values.setdefault(_key_of(label, head), number)
    # the two objects in which of_json() looks for a value
    log = {
        'supported': True,
        'drive_information': values,
        'head_information': values,
    }
    return of_json({FARM_LOG: log})


def _key_of(label: str, head: str) -> str:
    """Return the key of a line in a SAS drive's JSON; head: number in the heading above the line.

    "Power on Hours" -> power_on_hour
    "Number of Reallocated Sectors by Head 3" -> number_of_reallocated_sectors_3
    "Cumulative Lifetime Unrecoverable Read Unique" -> cum_lifetime_unrecoverable_read_unique_3
    """
    name = label.lower().replace('cumulative', 'cum').replace(' by head', '')
    name = name.replace('hours', 'hour')
    key = re.sub(' +', '_', name)
    if key.endswith(('read_unique', 'read_repeating')):
        return f'{key}_{head}'
    return key


def answered(stdout: bytes) -> Farm:
    """Return the log that smartctl printed, an empty log if the disk keeps none, or a log whose
    `unread` is an error.

    Raises DriveError if smartctl printed no JSON.
    """
    data = document_of(stdout)
    return of_json(data) or Farm(unread=_complaint(data))


def _complaint(data: Json) -> str:
    """Return why smartctl could not read the log: its first error, or else its exit status.

    Return '' if this error says that the log is not supported, or if there is no error and the exit
    status is 0 or absent: the disk keeps no such log.
    """
    for severity, text in messages_in(data):
        if severity == 'error':
            if 'not supported' in text:
                return ''
            return f'smartctl reports "{clean(text)}"'
    status = integer_at(data, 'smartctl.exit_status')
    return f'smartctl ended with exit status {status}' if status else ''


def count_of(data: Json, key: str) -> int | None:
    """Return a number of the log, or None if it is absent or impossible."""
    number = integer_of(data, key)
    return number if number is not None and 0 <= number < HIGHEST_IN_FARM else None


def _count_at(log: Json, path: str) -> int:
    *parents, key = path.split('.')
    return count_of(object_of(log, *parents), key) or 0


def marked_if_foreign(farm: Farm | None, serial: str) -> Farm | None:
    """Return the log, marked as that of another drive if its serial number contradicts *serial*;
    None for None.

    The log of a SAS drive has the drive's and then the board's serial number. A masked number
    contradicts no number.
    """
    if farm is None:
        return None
    own = serial_key(serial)
    logged = serial_key(farm.serial)
    # The key of a masked number is '', which every text contains.
    is_own = logged in own or own in logged
    return farm._replace(is_foreign=not is_own)
