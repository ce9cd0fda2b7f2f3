"""Decode the output of a process or the content of a file, find smartctl's JSON in it, and read single values.

A value of another type than smartctl documents counts as absent, because a report may come from a ticket, an
anonymiser or a program that imitates smartctl.
"""
from __future__ import annotations

import json
import re

from ..constants import HIGHEST_COUNTER, LARGEST_FILE
from ..errors import DriveError, NotAReport
from ..typed import TYPE_CHECKING, Json

if TYPE_CHECKING:
    from typing import Any

SAFE = range(1 - 2 ** 53, 2 ** 53)  # beyond these a JSON number may have been rounded on its way
BYTES = range(256)
OFFSETS = range(8, 512, 8)  # of a device statistic in its page. Source: ACS-4, 9.5

# Patterns for the identifiers of a single drive, in JSON and text -> their replacement.
_NAMES = ((r'("(?:serial_number|logical_unit_id)"\s*:\s*")(?:[^"\\]|\\.)*', r'\1'),
          (r'("(?:wwn|eui64)"\s*:\s*)\{[^{}]*\}', r'\1{}'),
          (r'^((?:Serial [Nn]umber|LU WWN Device Id|Logical Unit id|Namespace \d+ IEEE EUI-64):).*', r'\1'))


def as_text(data: bytes) -> str:
    """Return the text of a recorded file in any common encoding.

    PowerShell redirects as UTF-16; a thousands separator may be a Latin-1 blank (A0) or a Windows apostrophe (92).
    Raises DriveError for a file that is too large to be a report.
    """
    if len(data) > LARGEST_FILE:
        raise NotAReport(f'is not a smartctl report: it is larger than {LARGEST_FILE >> 20} MiB')
    if data[:2] in (b'\xff\xfe', b'\xfe\xff'):
        return data.decode('utf-16', 'replace')
    if max(data[:64:2].count(0), data[1:64:2].count(0)) * 4 > len(data[:64]):  # a single one is damage
        return data.decode('utf-16-le' if data[1:2] == b'\0' else 'utf-16-be', 'replace')
    try:
        return data.decode('utf-8').removeprefix('\ufeff')  # the utf-8-sig codec would be another import
    except UnicodeDecodeError:
        return data.decode('cp1252', 'replace')


def nameless(text: str) -> str:
    """Return smartctl's output, JSON or text, without serial numbers and world wide names."""
    for name, rest in _NAMES:
        text = re.sub(name, rest, text, flags=re.MULTILINE)
    return text


def looks_like_json(text: str) -> bool:
    """Return whether a JSON object starts somewhere on a line of its own."""
    return json_start(text) >= 0


def json_start(text: str) -> int:
    """Return the index at which the JSON starts, or -1 without JSON.

    smartctl 7.0 to 7.2 prints "Pending defect count:" before its JSON, and a login shell may print text as well.
    """
    if text[:1] == '{':
        return 0
    if '{' not in text:
        return -1  # usually nothing follows a report, so do not compile a pattern
    match = re.search(r'^[ \t\ufeff]*\{(?=\s*["}]|\s*$)', text, re.MULTILINE)
    return match.end() - 1 if match else -1


def loaded(text: str, start: int) -> Any:
    """Return the one JSON document that starts at *start*. Raises DriveError if it is damaged or not the only one."""
    try:
        data, end = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        # json also raises ValueError for a number of more than 4300 digits (Python 3.11).
        raise DriveError('is damaged JSON: cut off or modified; record it again with smartctl --json -x',
                         'report-damaged') from None
    if looks_like_json(text[end:]):
        raise DriveError('contains several reports; save each one in its own file', 'several-reports')
    return data


# --- values of JSON ----------------------------------------------------------------------------------------

def object_of(data: Json, *path: str) -> Json:
    """Return the object at a path of keys, or an empty one if absent."""
    for key in path:
        value = data.get(key)
        data = value if isinstance(value, dict) else {}
    return data


def list_of(data: Json, key: str) -> list[Any]:
    """Return a list, or an empty one if absent."""
    value = data.get(key)
    return value if isinstance(value, list) else []


def objects_of(data: Json, key: str) -> list[Json]:
    """Return the objects of a list."""
    return [entry for entry in list_of(data, key) if isinstance(entry, dict)]


def words_of(data: Json, key: str) -> list[str] | None:
    """Return a list of strings, or None if it has other items or is absent."""
    value = data.get(key)
    return value if isinstance(value, list) and all(isinstance(word, str) for word in value) else None


def text_of(data: Json, key: str) -> str:
    """Return a string without blanks at its ends, or '' if absent."""
    value = data.get(key)
    return value.strip() if isinstance(value, str) else ''


def integer_of(data: Json, key: str) -> int | None:
    """Return the exact integer, or None if absent.

    If a number might not survive as a JSON number, smartctl adds it as a string, under a key that ends with "_s".
    """
    value: Any = data.get(key)
    if type(value) is int and value in SAFE:
        return value
    exact = data.get(key + '_s')
    if isinstance(exact, str) and exact.isascii() and exact.isdigit() and len(exact) < 40:
        return int(exact)
    # NaN compares with nothing.
    if type(value) in (int, float) and -HIGHEST_COUNTER < value < HIGHEST_COUNTER and value % 1 == 0:
        return int(value)
    return None


def integer_at(data: Json, path: str) -> int | None:
    """Return the integer at a path of keys such as "temperature.current", or None if absent."""
    *parents, key = path.split('.')
    return integer_of(object_of(data, *parents), key)


def byte_of(data: Json, key: str) -> int | None:
    """Return an integer from 0 to 255, or None if absent."""
    value = data.get(key)
    if type(value) is not int:
        value = integer_of(data, key)
    return value if value in BYTES else None


def offset_of(data: Json, key: str) -> int | None:
    """Return the offset of a device statistic in its page, or None if absent."""
    value = integer_of(data, key)
    return value if value in OFFSETS else None


def word_of(data: Json, key: str) -> int | None:
    """Return an integer of at most 64 bits, such as the raw bytes of an attribute, or None if absent."""
    value = integer_of(data, key)
    return value if value is not None and 0 <= value < 2 ** 64 else None


def fraction_of(data: Json, key: str) -> float | None:
    """Return a number that smartctl writes as a string: "71532.573", in some locales "71532,573"."""
    value: Any = data.get(key)
    if isinstance(value, str) and re.fullmatch(r'\d{1,30}(?:[.,]\d{1,9})?', value.strip()):
        return float(value.strip().replace(',', '.'))
    return float(value) if type(value) in (int, float) and 0 <= value < HIGHEST_COUNTER else None
