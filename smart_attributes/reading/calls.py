"""Take several calls of smartctl about one drive, one after the other in a text, as one report.

Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..errors import DriveError
from . import report_date
from .failure_reasons import BANNER
from .pysmart import Lines, lines_by_kind, value_of

_BANNER = re.compile(BANNER + r'\d')
# "smartctl -A -d sat /dev/sda", as typed: the type and the path of the device
_TYPED = re.compile(r'\bsmartctl\b(?: .*?(-d *\S+))?.*?\s(/dev/[\w./-]+)')
_MODEL = ('device model', 'model number', 'product')
STATUS = ('smart overall-health self-assessment test result', 'smart health status')
_BLANKED = re.compile(r'[xX]{3}|([^A-Za-z0-9])\1\1')  # "S3Z9XXXXXXX", "****"


def as_one(lines: Sequence[str]) -> Lines:
    """Return the lines of a text by kind; each part is that of the newest call that has it.

    Raises DriveError if the calls are not about one drive, and NotAReport for too many lines.
    """
    starts = [number for number, line in enumerate(lines) if _BANNER.match(line)]
    if not starts:
        return lines_by_kind('\n'.join(lines))
    before = lines[: starts[0]]
    ends = [*starts[1:], len(lines)]
    parts = [lines[start:end] for start, end in zip(starts, ends)]
    if any(line.startswith('=== START OF') for line in before):
        parts[0] = [*parts[0], *before]
    calls = [lines_by_kind('\n'.join(part)) for part in parts]
    if len(calls) > 1 and not _is_one_drive(calls, lines):
        raise DriveError(
            'contains reports of several drives',
            'several-reports',
            step='save each one in its own file',
        )
    oldest, *newer = _by_date(calls)
    for call in newer:
        oldest = _merged(oldest, call)
    return oldest


def _is_one_drive(calls: Sequence[Lines], lines: Sequence[str]) -> bool:
    """Return whether nothing contradicts that the calls are about one drive."""
    models = {value_of(call.fields, *_MODEL) for call in calls} - {''}
    serials = {call.fields.get('serial number', '') for call in calls} - {''}
    devices = {match.groups() for line in lines for match in _TYPED.finditer(line)}
    nameless = [
        call for call in calls if _is_table(call) and not value_of(call.fields, *_MODEL)
    ]
    if any(len(different) > 1 for different in (models, serials, devices, nameless)):
        return False
    for has in (_is_table, _is_status):
        having = [call for call in calls if has(call)]
        if len(having) > 1 and not all(map(_is_named, having)):
            return False
    return True


def _is_named(call: Lines) -> bool:
    """Return whether a call has a serial number that nobody has made unreadable: two drives of one
    model may both be "S3Z9XXXXXXX".
    """
    serial = call.fields.get('serial number', '')
    return bool(re.search(r'\d', serial)) and not _BLANKED.search(serial)


def _is_table(call: Lines) -> bool:
    return bool(call.rows) or 'critical warning' in call.fields or 'read' in call.fields


def _is_status(call: Lines) -> bool:
    return bool(value_of(call.fields, *STATUS))


def _by_date(calls: Sequence[Lines]) -> list[Lines]:
    """Return calls in the order of their dates; one without a date followed the one before it."""
    date, dated = 0, []
    for call in calls:
        date = report_date.of_text(call.fields.get('local time is', '')) or date
        dated.append((date, call))
    return [call for _, call in sorted(dated, key=lambda pair: pair[0])]


def _merged(older: Lines, newer: Lines) -> Lines:
    merged = {
        name: getattr(newer, name) or getattr(older, name) for name in Lines._fields
    }
    merged['fields'] = {**older.fields, **newer.fields}
    merged['last'] = {**older.last, **newer.last}
    merged['complaints'] = list(dict.fromkeys([*older.complaints, *newer.complaints]))
    return Lines(**merged)
