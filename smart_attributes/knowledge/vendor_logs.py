"""Decode a vendor's NVMe log page by its layout in attributes.json. Pure.

Nothing is guessed: a page with another layout, and a page that the drive has not filled in, give no
readings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..constants import DAY
from ..errors import Coded
from ..model import Identity, Reading, Report, Source
from ..typed import Json, NamedTuple
from ..words import clean
from . import decode
from .drive_database import Metric, is_inside, is_plausible, unknown

PAGE = 512  # bytes of a page
ROW_ID = 0  # offset of a row's number in the row
STATUS = 'vendor_log_status'
READ, HANGS, UNREAD, FOREIGN, EMPTY = range(5)  # values of this metric
AFTER_HANGING = DAY  # seconds to wait after a page that the drive did not return in time
# seconds for which a number is still used if later checks cannot read it
KEPT = 7 * DAY

# Status -> code and text of the note.
_NOTES = {
    HANGS: (
        'vendor-log-hangs',
        'the drive did not answer in time when {} was read; no check reads this log for a day',
    ),
    UNREAD: ('vendor-log-unread', '{} could not be read; to see the reason, run: {}'),
    FOREIGN: ('vendor-log-foreign', 'the layout of {} differs from {}, so it is not used'),
    EMPTY: ('vendor-log-empty', '{} has no content'),
}


class Decoded(NamedTuple):
    """A page: its status and its numbers."""

    status: int
    numbers: tuple[tuple[Json, float], ...] = ()  # each with its field in the layout


class VendorLog(NamedTuple):
    """The vendor log of one drive: its readings, from this check or from the history, and notes
    on it.
    """

    readings: tuple[Reading, ...] = ()
    notes: tuple[Coded, ...] = ()


def decoded(layout: Json, page: bytes) -> Decoded:
    """Return the numbers of a page, or the reason why it has none: FOREIGN, EMPTY, or UNREAD
    (wrong length).
    """
    if len(page) != PAGE:
        return Decoded(UNREAD)
    if _is_empty(layout, page):
        return Decoded(EMPTY)
    rows = _rows(page, layout['rows'], layout.get('row_count', PAGE)) if 'rows' in layout else {}
    if rows is None or not _has_layout(layout, page):
        return Decoded(FOREIGN)
    found = []
    for field in layout['fields']:
        part = rows.get(field['row']) if 'row' in field else page
        number = _number(field, part) if part is not None else None
        if number is not None:
            found.append((field, number))
    return Decoded(READ if found else EMPTY, tuple(found))


def _number(field: Json, part: bytes) -> float | None:
    """Return the number of a field; None if it is a share of a number that the drive does not
    report.

    A drive sets all bits of a number that it does not count. No valid range includes such a number.
    """
    number, *others = (
        int.from_bytes(
            part[place['offset'] : place['offset'] + field['length']], field.get('order', 'little')
        )
        for place in (field, *(field[key] for key in ('minus', 'share_of') if key in field))
    )
    counted = [0 if other == 256 ** field['length'] - 1 else other for other in others]
    if 'minus' in field:
        return number - counted[0]
    return number if not counted else 100 * number / counted[0] if counted[0] else None


def _is_empty(layout: Json, page: bytes) -> bool:
    """Return whether no field is set, except fields that even emulated drives set, such as
    version and GUID.
    """
    rest = bytearray(page)
    for offset, length in layout.get('always_set', ()):
        rest[offset : offset + length] = bytes(length)
    return not any(rest) or set(page) == {0xFF}


def _has_layout(layout: Json, page: bytes) -> bool:
    """Return whether a page has the GUID and the version of the layout, as far as the layout
    defines them.
    """
    guid, version = layout.get('guid'), layout.get('version')
    if guid and page[guid['offset'] : guid['offset'] + PAGE // 32] != bytes.fromhex(guid['bytes']):
        return False
    return not version or version['least'] <= int.from_bytes(
        page[version['offset'] : version['offset'] + version['length']], 'little'
    ) <= version.get('most', 0xFFFF)


def _rows(page: bytes, size: int, count: int) -> dict[int, bytes] | None:
    """Return the rows of a page by number; None if a number occurs twice.

    Rows with number 0 are unused.
    """
    rows: dict[int, bytes] = {}
    for start in range(0, PAGE - size + 1, size)[:count]:
        number = page[start + ROW_ID]
        if number in rows:
            return None
        if number:
            rows[number] = page[start : start + size]
    return rows


def of_drive(
    report: Report,
    log: tuple[str, str],
    layout: Json,
    metrics: Mapping[str, Metric],
    stored: Mapping[str, float],
) -> VendorLog:
    """Return the readings and notes of a drive's vendor log, from this check or else from an
    earlier check.

    log: page and name of the layout. stored: maps metrics to numbers from an earlier check.
    """
    source, page = source_of(*log), report.vendor_log
    if page is None:
        if STATUS not in stored:
            return VendorLog()
        status = int(stored[STATUS])
        return VendorLog(
            (
                _status(source, status, is_stored=True),
                *_from_history(source, status, layout, metrics, stored),
            ),
            _notes(source, status),
        )
    result = decoded(layout, page.data) if page.status == READ else Decoded(page.status)
    readings = (
        _readings(source, result, metrics, report.identity)
        if result.status == READ
        else _from_history(source, result.status, layout, metrics, stored)
    )
    failure = (page.failure,) if page.failure else ()
    return VendorLog(
        (_status(source, result.status), *readings), (*_notes(source, result.status), *failure)
    )


def source_of(page: str, layout: str) -> Source:
    """Return the source for readings from a page such as "0xC0"."""
    return Source(f'NVMe log {page}', definition=layout)


def _status(source: Source, status: float, is_stored: bool = False) -> Reading:
    return Reading(STATUS, status, '', source, judged=False, is_stored=is_stored)


def _readings(
    source: Source, result: Decoded, metrics: Mapping[str, Metric], identity: Identity
) -> Iterator[Reading]:
    for field, count in result.numbers:
        metric = metrics[field['metric']]
        number = decode.in_base_unit(count, field.get('unit', ''), identity)
        is_valid = is_inside(count, field.get('valid', (0, None)))
        if count in field.get('not', ()):
            yield unknown(metric, source, f'{count} means no value')
        elif is_valid and is_plausible(number, metric):
            yield Reading(metric.name, number, metric.unit, source)
        else:
            yield unknown(metric, source, f'{number:g} is not a plausible value')


def _from_history(
    source: Source,
    status: int,
    layout: Json,
    metrics: Mapping[str, Metric],
    stored: Mapping[str, float],
) -> Iterator[Reading]:
    """Yield the numbers from an earlier check, so that their limits also apply to checks that do
    not read the log.
    """
    for name in names(layout) if status in (READ, HANGS, UNREAD) else ():
        if name in stored:
            yield Reading(name, stored[name], metrics[name].unit, source, is_stored=True)


def names(layout: Json) -> list[str]:
    """Return the metrics of a layout, each once."""
    return list(dict.fromkeys(field['metric'] for field in layout['fields']))


def _notes(source: Source, status: int) -> tuple[Coded, ...]:
    if status not in _NOTES:
        return ()
    code, words = _NOTES[status]
    by_hand = f'smartctl -l nvmelog,{source.log.rpartition(" ")[2]},0x200 /dev/nvmeN'
    detail = clean(source.definition) if status == FOREIGN else by_hand
    return (Coded(code, words.format(source.log, detail)),)


def is_due(status: int, seconds: int, every: int) -> bool:
    """Return whether a page is to be read again.

    status: result of the last attempt, *seconds* ago. every: seconds between two reads.
    """
    return seconds >= (max(every, AFTER_HANGING) if status == HANGS else every)
