"""Copy what is left of a damaged history, drive by drive: damage to one drive costs that drive's readings only.

The list of known drives is also kept in a file beside the database, so that it survives whatever happens to that: a
check could otherwise not notice that a drive is gone. The file is replaced whenever the list changes, which is rare. A
damaged list is ignored, since the database has it, too.
"""
from __future__ import annotations

import json
import os
from zlib import crc32

from .. import files
from ..model import Identity
from ..typed import TYPE_CHECKING, NamedTuple
from . import directory, rows
from .clock import moment
from .drive_changes import DrivePlace
from .drive_matching import Record

if TYPE_CHECKING:
    from .database import Connection, OldFile
    from .directory import HistoryFolder
    from .rows import Head

FILE = 'drives.json'
_LARGEST = 1 << 20   # bytes; 1,000 drives take 300 kB


class Known(NamedTuple):
    """The drives of a history and where they are."""

    lost: int = 0                           # when the history last restarted, seconds since 1970; 0: never
    drives: tuple[Record, ...] = ()         # without the time when they were last read, which always changes
    places: tuple[DrivePlace, ...] = ()


def known_of(head: Head) -> Known:
    """Return the known drives of a database."""
    return Known(moment(head.facts.get('lost', 0)),
                 tuple(record._replace(last_read=record.first_read, sum=0) for record in head.records), head.places)


def read_known(folder: HistoryFolder) -> Known:
    """Return the list; an empty one if it is missing or damaged."""
    try:
        checksum, _, text = files.content(_path(folder), _LARGEST).partition(b'\n')
        if checksum == _checksum(text):
            lost, drives, places = json.loads(text)
            return Known(moment(lost), tuple(_record(*drive) for drive in drives),
                         tuple(DrivePlace(*place) for place in places))
    except (OSError, TypeError, ValueError, RecursionError):   # the owner can write anything there
        pass
    return Known()


def write_known(folder: HistoryFolder, known: Known) -> None:
    """Replace the list if it has changed. Raises HistoryUnusable."""
    if read_known(folder) == known:
        return
    drives = [(record.number, record.first_read, *record.identity[:5]) for record in known.drives]
    text = json.dumps((known.lost, drives, known.places)).encode()
    with directory.refusals(_path(folder)):
        files.replace(f'{_checksum(text).decode()}\n{text.decode()}', _path(folder))


def _record(number: int, first: int, protocol: str, model: str, firmware: str, serial: str, wwn: str) -> Record:
    return Record(int(number), Identity(protocol, model, firmware, serial, wwn), moment(first), moment(first))


def _path(folder: HistoryFolder) -> str:
    return os.path.join(folder.path, FILE)


def _checksum(text: bytes) -> bytes:
    return b'%08x' % crc32(text)


# --- copying -----------------------------------------------------------------------------

def copy(old: OldFile, new: Connection, known: Known, last_read: int) -> list[Record]:
    """Copy all drives of a damaged history to a new one; return those whose readings are lost.

    known: drives that the history had, even if no part of it is left. last_read: when the last check read them.
    """
    listed = {record.number: (record._replace(last_read=max(last_read, record.first_read)),
                              tuple(place for place in known.places if place.drive == record.number))
              for record in known.drives}
    numbers = old.part(lambda: [int(number) for number, in old.run('SELECT number FROM drive')]) or ()
    lost = (_copied(old, new, number, listed.get(number)) for number in sorted({*listed, *numbers}))
    return [record for record in lost if record]


def _copied(old: OldFile, new: Connection, number: int,
            listed: tuple[Record, tuple[DrivePlace, ...]] | None) -> Record | None:
    """Copy one drive; return it if its readings are lost. listed: as the list of known drives has it."""
    intact = old.part(lambda: rows.drive(old, number))
    found = intact or listed
    if found is None:
        return None   # a row that is damaged, or that belongs to no drive
    record, places = found
    stored = old.part(lambda: rows.stored(old, [record], rows.EVERY)[number]) if intact else None
    rows.write_drive(new, record)
    rows.write_places(new, places)
    if stored is None:
        return record
    rows.write_stored(new, number, stored)
    return None
