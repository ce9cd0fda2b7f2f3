"""Decode the output of a process or the content of a file, and find smartctl's JSON in it."""
from __future__ import annotations

import json
import re

from ..constants import LARGEST_FILE
from ..errors import DriveError, NotAReport
from ..typed import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

# Words at the beginning of smartctl's text and of its JSON. Damage leaves some of them.
_HEAD = 2048
_SIGNS = (b'www.smartmontools.org', b'Bruce Allen', b'=== START OF ', b'\nDevice Model: ', b'\nSerial Number: ',
          b'\nRevision: ', b'\nModel Number: ', b'ID# ATTRIBUTE_NAME', b'"json_format_version"', b'"svn_revision"',
          b'"platform_info"', b'"smartctl":', b'"local_time":')
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


def begins_like_report(data: bytes) -> bool:
    """Return whether a file was probably meant as smartctl's output, although it cannot be read as such."""
    head = data[:_HEAD].replace(b'\0', b'')
    return b'smartctl'.startswith(head.strip()[:8]) or any(sign in head for sign in _SIGNS)


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
