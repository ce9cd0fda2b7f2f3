"""Decode a vendor's NVMe log page by its layout in attributes.json. Pure.

Nothing is guessed: a page with another layout, and a page that the drive has not filled in, give no
readings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..constants import DAY, LOG_PAGE
from ..errors import Coded
from ..model import Identity, Reading, Report, Source
from ..typed import Json, NamedTuple
from ..words import clean
from . import decode
from .drive_database import Metrics, is_inside, is_plausible, unknown

STATUS = 'vendor_log_status'
READ, HANGS, UNREAD, FOREIGN, EMPTY = range(5)  # values of this metric
# seconds for which a number is still used if later checks cannot read it
KEPT = 7 * DAY

# Status -> code and text of the note.
_NOTES = {
    HANGS: (
        'vendor-log-hangs',
        'the drive did not answer in time when {page} was read; checks skip this log for 24 hours',
    ),
    UNREAD: (
        'vendor-log-unread',
        '{page} could not be read; to see the reason, run: {command}',
    ),
    FOREIGN: (
        'vendor-log-foreign',
        'the layout of {page} differs from {layout}, so this log is not used',
    ),
    EMPTY: ('vendor-log-empty', '{page} has no content'),
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
    """Return the status READ and the numbers of a page, or the reason why it has none: FOREIGN,
    EMPTY, or UNREAD (wrong length).
    """
    if len(page) != LOG_PAGE:
        return Decoded(UNREAD)
    if _is_empty(layout, page):
        return Decoded(EMPTY)
    rows: dict[int, bytes] | None = {}
    if 'rows' in layout:
        rows = _rows(page, size=layout['rows'], most=layout.get('row_count'))
    # rows is None: the page is not made of rows
    if rows is None or not _has_layout(layout, page):
        return Decoded(FOREIGN)
    numbers = []
    for field in layout['fields']:
        part = rows.get(field['row']) if 'row' in field else page
        if part is None:  # the page does not have the field's row
            continue
        number = _number(field, part)
        if number is not None:
            numbers.append((field, number))
    return Decoded(READ if numbers else EMPTY, tuple(numbers))


def _number(field: Json, part: bytes) -> float | None:
    """Return the number of a field: as stored, minus another number ("minus"), or its share of
    another number in % ("share_of"). If the drive does not count the other number, nothing is
    subtracted, and the share is None. If the other number is 0, the share is None, too.

    part: the page, or the row of the field.
    """
    number = _number_at(field['offset'], field, part)
    operand = field.get('minus') or field.get('share_of')
    if not operand:
        return number
    second = _number_at(operand['offset'], field, part)
    # A drive sets all bits of a number that it does not count. _readings() rejects a field whose
    # first number is not counted, because the result is implausible.
    all_ones = 256 ** field['length'] - 1
    if second == all_ones:
        return number if 'minus' in field else None
    if 'minus' in field:
        return number - second
    return 100 * number / second if second else None


def _number_at(offset: int, field: Json, part: bytes) -> int:
    """Return the number at an offset, with the length and the byte order of *field*."""
    end = offset + field['length']
    return int.from_bytes(part[offset:end], field.get('order', 'little'))


def _is_empty(layout: Json, page: bytes) -> bool:
    """Return whether no field is set, except fields that even emulated drives set, such as
    version and GUID.
    """
    rest = bytearray(page)
    for offset, length in layout.get('always_set', ()):
        rest[offset : offset + length] = bytes(length)
    # a drive may fill such a page with 0xFF instead of 0
    return not any(rest) or set(page) == {0xFF}


def _has_layout(layout: Json, page: bytes) -> bool:
    """Return whether a page has the GUID and the version of the layout, as far as the layout
    defines them.
    """
    guid = layout.get('guid')
    version = layout.get('version')
    if guid and not page.startswith(bytes.fromhex(guid['bytes']), guid['offset']):
        return False
    if not version:
        return True
    number = _number_at(version['offset'], version, page)
    return bool(version['least'] <= number <= version.get('most', 0xFFFF))


def _rows(page: bytes, size: int, most: int | None) -> dict[int, bytes] | None:
    """Return the rows of a page by number, which is their first byte; None if a number occurs
    twice.

    Rows with number 0 are unused. size: bytes of a row. most: number of rows; None: all that fit.
    """
    rows: dict[int, bytes] = {}
    for start in range(0, LOG_PAGE - size + 1, size)[:most]:
        number = page[start]
        if number in rows:
            return None
        if number:
            rows[number] = page[start : start + size]
    return rows


def of_drive(
    report: Report,
    log: tuple[str, str],
    layout: Json,
    metrics: Metrics,
    stored: Mapping[str, float],
) -> VendorLog:
    """Return the readings and notes of a drive's vendor log, from this check or else from an
    earlier check; nothing if no check has tried to read it.

    log: page and name of the layout. stored: maps metrics to numbers from an earlier check.
    """
    source = source_of(*log)
    page = report.vendor_log
    if page is not None and page.status == READ:
        result = decoded(layout, page.data)
    elif page is not None:
        result = Decoded(page.status)
    elif STATUS in stored:
        result = Decoded(int(stored[STATUS]))
    else:
        return VendorLog()
    if result.numbers:
        readings = _readings(source, result, metrics=metrics, identity=report.identity)
    else:
        readings = _from_history(
            source, result.status, layout=layout, metrics=metrics, stored=stored
        )
    notes = _notes(source, result.status)
    if page and page.failure:
        notes = (*notes, page.failure)
    status = Reading(
        STATUS, result.status, source=source, judged=False, is_stored=page is None
    )
    return VendorLog((status, *readings), notes)


def source_of(page: str, layout: str) -> Source:
    """Return the source for readings from a page such as "0xC0"."""
    return Source(f'NVMe log {page}', definition=layout)


def _readings(
    source: Source,
    result: Decoded,
    metrics: Metrics,
    identity: Identity,
) -> Iterator[Reading]:
    """Yield a reading for each number of a page; without a number if it is not plausible."""
    for field, count in result.numbers:
        metric = metrics[field['metric']]
        number = decode.in_base_unit(count, field.get('unit', ''), identity)
        is_valid = is_inside(count, field.get('valid', (0, None)))
        if count in field.get('not', ()):
            yield unknown(metric, source, f'{count} means "no value"')
        elif is_valid and is_plausible(number, metric):
            yield Reading(metric.name, number, unit=metric.unit, source=source)
        else:
            yield unknown(metric, source, f'{number:g} is not a plausible value')


def _from_history(
    source: Source,
    status: int,
    layout: Json,
    metrics: Metrics,
    stored: Mapping[str, float],
) -> Iterator[Reading]:
    """Yield the numbers from an earlier check, so that their limits also apply to checks that do
    not read the log; nothing if the page turned out to be foreign or empty.
    """
    if status not in (READ, HANGS, UNREAD):
        return
    for name in names(layout):
        if name in stored:
            yield Reading(
                name,
                stored[name],
                unit=metrics[name].unit,
                source=source,
                is_stored=True,
            )


def names(layout: Json) -> list[str]:
    """Return the metrics of a layout, each once."""
    return list(dict.fromkeys(field['metric'] for field in layout['fields']))


def _notes(source: Source, status: int) -> tuple[Coded, ...]:
    """Return the note on a page that gave no numbers; () for a page that was read. source: as from
    source_of().
    """
    if status not in _NOTES:
        return ()
    code, words = _NOTES[status]
    number = source.log.rpartition(' ')[2]  # "0xC0"
    sentence = words.format(
        page=source.log,
        layout=clean(source.definition),
        command=f'smartctl -l nvmelog,{number},0x200 /dev/nvmeN',
    )
    return (Coded(code, sentence),)


def is_due(status: int, seconds: int, every: int) -> bool:
    """Return whether a page is to be read again.

    status: result of the last attempt, *seconds* ago. every: seconds between two reads.
    """
    if status == HANGS:  # wait longer
        return seconds >= max(every, DAY)
    return seconds >= every
