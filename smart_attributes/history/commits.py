"""Files next to the database that show what it has lost: the commit record, and the list of known drives.

The commit record states how many commits a reader must find.
SQLite stops reading its log at the first damaged frame without an error, so a flipped bit, a truncated log or a removed
log looks like a slightly older history. The record is written after each commit and read before the database. If the
database is behind the record, the commits in between are lost.

After a power cut, everything that was not synced may be missing, including the newest record. The record therefore also
states since when commits may not be on the disk, and the boot ID of the system that wrote it. The "open" mark is synced
before the first commit that is not. Sources: SQLite, "Write-Ahead Logging" and "The WAL-mode File Format"; proc(5),
boot_id.

The list of known drives survives whatever happens to the database: a check could otherwise not notice that a drive is
gone. It is replaced whenever it changes, which is rare. A damaged list is ignored, since the database has it, too.
"""
from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from zlib import crc32

from .. import files
from ..model import Identity
from ..typed import TYPE_CHECKING, NamedTuple
from . import directory
from .drive_records import DrivePlace, Record
from .rows import moment

if TYPE_CHECKING:
    from .directory import HistoryFolder
    from .rows import Head

FILE = f'{directory.FILE}.commits'
BOOT_ID = '/proc/sys/kernel/random/boot_id'
OPENING_TIME = 0.5   # seconds to wait until the "open" mark is on the disk
SYNC_TIME = 2.0      # seconds to wait until the commits are; the child process continues syncing after that
_SIZE = 160          # bytes, less than a sector: after a power cut, the old record or the new one is complete
_TRIES, _PAUSE = 3, 0.002
_NO_BOOT_ID = '-'
DRIVES = 'drives.json'
_LARGEST = 1 << 20   # bytes of the list of drives; 1,000 drives take 300 kB


class Commits(NamedTuple):
    """The content of the record; times are in seconds since 1970."""

    sequence: int = 0     # number of the newest commit
    time: int = 0         # of the check that made the newest commit
    synced: int = 0       # number of the newest commit that is certainly on the disk
    synced_at: int = 0
    is_open: int = 0      # 1: later commits may not be on the disk
    version: int = 0      # of the tables
    boot: str = _NO_BOOT_ID  # boot ID of the system when the record was written


def boot_id() -> str:
    """Return the boot ID of the running system, or '-' if the kernel provides none."""
    return ''.join(identifier(BOOT_ID).split()) or _NO_BOOT_ID


def identifier(path: str) -> str:
    """Return the identifier that a system file contains, or '' if the file cannot be read."""
    try:
        with open(path, encoding='ascii', errors='replace') as file:
            return file.read(64).strip()
    except OSError:
        return ''


def read(place: HistoryFolder) -> Commits | None:
    """Return the record, or None if it is missing or damaged. Retries, since another process may be writing it."""
    for _ in range(_TRIES):
        text = _text(place)
        record = _parsed(text)
        if record or not text:
            return record
        time.sleep(_PAUSE)
    return None


def change(place: HistoryFolder, changed: Callable[[Commits], Commits], is_synced: bool = False) -> Commits:
    """Replace the record by the result of *changed* under a lock, and return the new record.

    is_synced: wait until it is on the disk. Raises HistoryUnusable if it cannot be locked or written.
    """
    with directory.refusals(_path(place)), directory.locked(place, alone=True):
        after = changed(_parsed(_text(place)) or Commits())
        file = os.open(_path(place), os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o644)
        try:
            os.fchmod(file, 0o644)  # whatever umask root had
            os.pwrite(file, _content(after), 0)
            if os.fstat(file).st_size > _SIZE:
                os.ftruncate(file, _SIZE)
        finally:
            os.close(file)
    if is_synced:
        files.flush(_path(place))
    return after


def opened(place: HistoryFolder) -> None:
    """Set the "open" mark on the disk before commits that are not synced. Raises HistoryUnusable."""
    change(place, lambda record: record._replace(is_open=1))
    in_a_child(lambda: files.flush(_path(place)), OPENING_TIME)


def committed(place: HistoryFolder, sequence: int, now: int, version: int) -> Commits:
    """Count a commit, and return the record. Another check may already have counted a later commit.

    Raises HistoryUnusable.
    """
    return change(place, lambda record: record._replace(
        sequence=max(sequence, record.sequence), time=now, is_open=1, version=version, boot=boot_id()))


def synced(place: HistoryFolder, sequence: int, now: int) -> None:
    """Sync all commits to the disk, then update the record: the files first, the record after them.

    A child process does this, since a busy or failing disk can take minutes and must not delay the end of the check. It
    does no harm if the child process outlives the check.
    """
    def work() -> None:
        # SQLite's locks belong to the parent process, so closing files here does not release them.
        for path in (place.file + '-wal', place.file, place.path, place.state.path):
            files.flush(path)
        change(place, lambda record: record._replace(synced=max(sequence, record.synced), synced_at=now,
                                                     is_open=int(record.sequence > sequence)), is_synced=True)
    in_a_child(work, SYNC_TIME)


def in_a_child(work: Callable[[], object], seconds: float) -> None:
    """Run *work* in a child process, and wait at most *seconds* for its end. Skipped if no process can be created."""
    try:
        child = os.fork()
    except OSError:
        return
    if child == 0:
        try:
            for descriptor in (0, 1, 2):  # a daemon waits until all processes have closed them
                with suppress(OSError):
                    os.close(descriptor)
            work()
        finally:
            os._exit(0)
    end = time.monotonic() + seconds
    while os.waitpid(child, os.WNOHANG) == (0, 0) and time.monotonic() < end:
        time.sleep(_PAUSE)


def _path(place: HistoryFolder, name: str = FILE) -> str:
    return os.path.join(place.path, name)


def _text(place: HistoryFolder) -> bytes:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with suppress(OSError), open(os.open(_path(place), flags), 'rb', 0) as file:
        return file.read(_SIZE + 1)
    return b''


def _content(commits: Commits) -> bytes:
    """Return the record as a line of fixed size that begins with its checksum."""
    line = ' '.join(map(str, commits)).encode('ascii', 'replace')
    return b'%08x %s\n' % (crc32(line), line.ljust(_SIZE - 10))


def _parsed(text: bytes) -> Commits | None:
    """Return the content of a record, or None if it is incomplete or damaged."""
    line = text[9:].strip(b' \n')
    *numbers, boot = line.split(b' ')
    if (len(text) != _SIZE or text[:9] != b'%08x ' % crc32(line) or len(numbers) != len(Commits._fields) - 1
            or not all(map(bytes.isdigit, numbers))):
        return None
    return Commits._make([*map(int, numbers), boot.decode('ascii', 'replace')])


# --- the list of known drives -----------------------------------------------------------

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
        checksum, _, text = files.content(_path(folder, DRIVES), _LARGEST).partition(b'\n')
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
    with directory.refusals(_path(folder, DRIVES)):
        files.replace(f'{_checksum(text).decode()}\n{text.decode()}', _path(folder, DRIVES))


def _record(number: int, first: int, protocol: str, model: str, firmware: str, serial: str, wwn: str) -> Record:
    return Record(int(number), Identity(protocol, model, firmware, serial, wwn), moment(first), moment(first))


def _checksum(text: bytes) -> bytes:
    return b'%08x' % crc32(text)
