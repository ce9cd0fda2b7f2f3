"""The output of a process or the content of a file: its characters, and where smartctl's JSON starts in them."""
from __future__ import annotations

import json
import re

from ..errors import DriveError, NotAReport
from ..files import LARGEST
from ..typed import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

# The names of a single drive, in JSON and in text -> what is left of them.
_NAMES = ((r'("(?:serial_number|logical_unit_id)"\s*:\s*")(?:[^"\\]|\\.)*', r'\1'),
          (r'("(?:wwn|eui64)"\s*:\s*)\{[^{}]*\}', r'\1{}'),
          (r'^((?:Serial [Nn]umber|LU WWN Device Id|Logical Unit id|Namespace \d+ IEEE EUI-64):).*', r'\1'))


def as_text(data: bytes) -> str:
    """Return the characters of a recorded file, whatever wrote it.

    PowerShell redirects as UTF-16; a thousands separator may be a Latin-1 blank (A0) or a Windows apostrophe (92).
    Raises DriveError for a file that is too large to be a report.
    """
    if len(data) > LARGEST:
        raise NotAReport(f'is not a smartctl report: it is larger than {LARGEST >> 20} MiB')
    if data[:2] in (b'\xff\xfe', b'\xfe\xff'):
        return data.decode('utf-16', 'replace')
    if b'\0' in data[:64]:
        return data.decode('utf-16-le' if data[1:2] == b'\0' else 'utf-16-be', 'replace')
    try:
        return data.decode('utf-8').removeprefix('\ufeff')  # its own codec would be one import more
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
    """Return where the JSON starts, -1 where there is none.

    smartctl 7.0 to 7.2 prints "Pending defect count:" before its JSON, and a login shell may print something, too.
    """
    if text[:1] == '{':
        return 0
    if '{' not in text:
        return -1  # nearly always what follows a report: nothing, and no reason to compile a pattern for it
    match = re.search(r'^[ \t\ufeff]*\{(?=\s*["}]|\s*$)', text, re.MULTILINE)
    return match.end() - 1 if match else -1


def loaded(text: str, start: int) -> Any:
    """Return the one JSON document that starts at *start*. Raises DriveError for a damaged one, and for several."""
    try:
        data, end = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        # ValueError also for a number of more than 4300 digits (Python 3.11).
        raise DriveError('is damaged JSON: cut off in the middle, or changed; record it again with smartctl --json -x',
                         'report-damaged') from None
    if looks_like_json(text[end:]):
        raise DriveError('holds several reports; write each to a file of its own', 'several-reports')
    return data
