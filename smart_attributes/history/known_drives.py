"""The list of known drives, in a file beside the database: it survives whatever happens to that.

A check could otherwise not notice that a drive is gone after its history was lost. The file is replaced whenever the
list changes, which is rare. A damaged list is ignored: the database has it, too.
"""
from __future__ import annotations

import json
import os
from zlib import crc32

from .. import files
from ..model import Identity
from ..typed import TYPE_CHECKING, NamedTuple
from . import directory
from .clock import moment
from .drive_changes import DrivePlace
from .drive_matching import Record

if TYPE_CHECKING:
    from .directory import HistoryFolder
    from .rows import Head

FILE = 'drives.json'
_LARGEST = 1 << 20   # bytes; 1,000 drives take 300 kB


class Known(NamedTuple):
    """The drives of a history and where they are."""

    lost: int = 0                           # when the history last restarted, seconds since 1970; 0: never
    drives: tuple[Record, ...] = ()         # without the time when they were last read, which always changes
    places: tuple[DrivePlace, ...] = ()


def of(head: Head) -> Known:
    """Return the known drives of a database."""
    return Known(moment(head.facts.get('lost', 0)),
                 tuple(record._replace(last_read=record.first_read, sum=0) for record in head.records), head.places)


def read(folder: HistoryFolder) -> Known:
    """Return the list; an empty one if it is missing or damaged."""
    try:
        checksum, _, text = files.content(_path(folder), _LARGEST).partition(b'\n')
        if checksum == _checksum(text):
            lost, drives, places = json.loads(text)
            return Known(moment(lost), tuple(_record(*drive) for drive in drives),
                         tuple(DrivePlace(*place) for place in places))
    except (OSError, TypeError, ValueError):
        pass
    return Known()


def write(folder: HistoryFolder, known: Known) -> None:
    """Replace the list if it has changed. Raises HistoryUnusable."""
    if read(folder) == known:
        return
    drives = [(record.number, record.first_read, *record.identity[:5]) for record in known.drives]
    text = json.dumps((known.lost, drives, known.places)).encode()
    new = f'{_path(folder)}.new'
    with directory.refusals(_path(folder)), directory.locked(folder, alone=True):
        file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        with open(file, 'wb', 0) as opened:
            opened.write(_checksum(text) + b'\n' + text)
        os.replace(new, _path(folder))


def _record(number: int, first: int, protocol: str, model: str, firmware: str, serial: str, wwn: str) -> Record:
    return Record(int(number), Identity(protocol, model, firmware, serial, wwn), moment(first), moment(first))


def _path(folder: HistoryFolder) -> str:
    return os.path.join(folder.path, FILE)


def _checksum(text: bytes) -> bytes:
    return b'%08x' % crc32(text)
