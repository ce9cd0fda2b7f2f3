"""Take several calls of smartctl about one drive, one after the other in a text, as one report.

Pure.
"""

import re
from collections.abc import Sequence

from ..errors import DriveError
from . import report_date
from .failure_reasons import BANNER
from .pysmart import Lines, lines_by_kind, value_of

_BANNER = re.compile(BANNER + r'\d')
# "smartctl -A -d sat /dev/sda", as typed: the type and the path of the device
_TYPED = re.compile(r'\bsmartctl\b(?: .*?(-d *\S+))?.*?\s(/dev/[\w./-]+)')
STATUS = ('smart overall-health self-assessment test result', 'smart health status')
_BLANKED = re.compile(r'[xX]{3}|([^A-Za-z0-9])\1\1')  # "S3Z9XXXXXXX", "****"


def as_one(lines: Sequence[str]) -> Lines:
    """Return the lines of a text by kind; each part is that of the newest call that has it.

    Raises DriveError if the calls are not about one drive, and NotAReport for too many lines.
    """
    calls = [lines_by_kind('\n'.join(part)) for part in _parts(lines)]
    if len(calls) > 1 and not _is_one_drive(calls, lines):
        raise DriveError(
            'contains reports of several drives',
            'several-reports',
            step='save each one in its own file',
        )
    merged, *newer = _by_date(calls)
    for call in newer:
        merged = _merged(merged, call)
    return merged


def _parts(lines: Sequence[str]) -> list[list[str]]:
    """Return the lines of each call, from its banner on; a text without a banner is one call.

    The lines above the first banner are dropped, because they are typed commands. If they contain
    the heading of a section, they are the end of a call that was pasted above its beginning, so
    they are added at the end of the first call.
    """
    parts: list[list[str]] = [[]]
    for line in lines:
        if _BANNER.match(line):
            parts.append([])
        parts[-1].append(line)
    before, *calls = parts
    if not calls:
        return parts
    if any(line.startswith('=== START OF') for line in before):
        calls[0] += before
    return calls


def _is_one_drive(calls: Sequence[Lines], lines: Sequence[str]) -> bool:
    """Return whether nothing contradicts that the calls are about one drive."""
    models = {_model(call) for call in calls} - {''}
    serials = {call.fields.get('serial number', '') for call in calls} - {''}
    typed = set()  # types and paths
    for line in lines:
        typed.update(_TYPED.findall(line))
    if len(models) > 1 or len(serials) > 1 or len(typed) > 1:
        return False
    tables_without_model = sum(_has_table(call) and not _model(call) for call in calls)
    if tables_without_model > 1:
        return False
    # Two calls with the same kind of data need a serial number each, which are then equal.
    for has_data in (_has_table, _has_status):
        having = [call for call in calls if has_data(call)]
        if len(having) > 1 and not all(map(_is_named, having)):
            return False
    return True


def _model(call: Lines) -> str:
    return value_of(call.fields, 'device model', 'model number', 'product')


def _is_named(call: Lines) -> bool:
    """Return whether a call has a serial number that nobody has made unreadable: two drives of one
    model may both be "S3Z9XXXXXXX".
    """
    serial = call.fields.get('serial number', '')
    return bool(re.search(r'\d', serial)) and not _BLANKED.search(serial)


def _has_table(call: Lines) -> bool:
    return bool(call.rows) or 'critical warning' in call.fields or 'read' in call.fields


def _has_status(call: Lines) -> bool:
    return bool(value_of(call.fields, *STATUS))


def _by_date(calls: Sequence[Lines]) -> list[Lines]:
    """Return calls in the order of their dates; one without a date followed the one before it."""
    dated = []
    date = 0
    for call in calls:
        date = report_date.of_text(call.fields.get('local time is', '')) or date
        dated.append((date, call))
    dated.sort(key=lambda pair: pair[0])  # calls of one date keep their order
    return [call for _, call in dated]


def _merged(older: Lines, newer: Lines) -> Lines:
    """Return the lines of two calls: the logs of the newer one, or those of the older one where it
    has none, each label once with the newer value, and the complaints of both.
    """
    merged = {
        name: getattr(newer, name) or getattr(older, name) for name in Lines._fields
    }
    merged['fields'] = {**older.fields, **newer.fields}
    merged['last'] = {**older.last, **newer.last}
    merged['complaints'] = list(dict.fromkeys([*older.complaints, *newer.complaints]))
    return Lines(**merged)
