"""The record of commits: a small file beside the database that says how many of them a reader must find.

SQLite ends reading its log at the first damaged frame without an error: a flipped bit, a cut or a removed log look like
a history that is a little older. The record is written after each commit and read before the database is, so a
database that is behind it has lost the commits between.

After a power cut, everything that was not synced may be missing, the newest record included. So a record says as well
since when commits may not be on the disk, and during which run of the system it was written. "open" is itself synced
before the first commit that is not. Sources: SQLite, "Write-Ahead Logging" and "The WAL-mode File Format"; proc(5),
boot_id.
"""
from __future__ import annotations

import os
import time
from contextlib import suppress
from zlib import crc32

from ..files import flush
from ..typed import TYPE_CHECKING, NamedTuple
from . import directory

if TYPE_CHECKING:
    from collections.abc import Callable

    from .directory import HistoryFolder

FILE = f'{directory.FILE}.commits'
BOOT_ID = '/proc/sys/kernel/random/boot_id'
OPENING_TIME = 0.5   # seconds to wait until the disk has the mark that commits follow
SYNC_TIME = 2.0      # and until it has the commits; a process that is left behind goes on syncing
_SIZE = 160          # bytes, below a sector: a power cut leaves the old record or the new one
_TRIES, _PAUSE = 3, 0.002
_NO_BOOT_ID = '-'


class Commits(NamedTuple):
    """The content of the record; times are in seconds since 1970."""

    sequence: int = 0     # number of the newest commit
    time: int = 0         # of the check that made it
    synced: int = 0       # number of the newest commit that is on the disk for certain
    synced_at: int = 0
    is_open: int = 0      # 1: commits may have followed that are not
    version: int = 0      # of the tables
    boot: str = _NO_BOOT_ID  # the run of the system


def boot_id() -> str:
    """Return the name of this run of the system, the same for each where the kernel gives none."""
    return ''.join(identifier(BOOT_ID).split()) or _NO_BOOT_ID


def identifier(path: str) -> str:
    """Return the name that the system keeps in a file, '' where it cannot be read."""
    try:
        with open(path, encoding='ascii', errors='replace') as file:
            return file.read(64).strip()
    except OSError:
        return ''


def read(place: HistoryFolder) -> Commits | None:
    """Return the record, None where it is missing or damaged. Tries again, since a writer may be in the middle."""
    for _ in range(_TRIES):
        text = _text(place)
        record = _parsed(text)
        if record or not text:
            return record
        time.sleep(_PAUSE)
    return None


def change(place: HistoryFolder, changed: Callable[[Commits], Commits], is_synced: bool = False) -> Commits:
    """Replace the record by the result of *changed*, one process after the other; return it.

    is_synced: wait until the disk has it. Raises HistoryUnusable.
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
        flush(_path(place))
    return after


def opened(place: HistoryFolder) -> None:
    """Note on the disk that commits follow which are not there yet. Raises HistoryUnusable."""
    change(place, lambda record: record._replace(is_open=1))
    in_a_child(lambda: flush(_path(place)), OPENING_TIME)


def committed(place: HistoryFolder, sequence: int, now: int, version: int) -> Commits:
    """Count a commit, and return the record. Another check may have counted a later one already."""
    return change(place, lambda record: record._replace(
        sequence=max(sequence, record.sequence), time=now, is_open=1, version=version, boot=boot_id()))


def synced(place: HistoryFolder, sequence: int, now: int) -> None:
    """Have the disk write all commits, then note that: files first, the record after them.

    Done by a process of its own, since a busy or dying disk can take minutes for it: the answer must not wait that
    long for the end of the check. It does no harm if that process outlives the check.
    """
    def work() -> None:
        # SQLite's locks belong to the parent, so that closing files here takes none of them away.
        for path in (place.file + '-wal', place.file, place.path, place.state.path):
            flush(path)
        change(place, lambda record: record._replace(synced=max(sequence, record.synced), synced_at=now,
                                                     is_open=int(record.sequence > sequence)), is_synced=True)
    in_a_child(work, SYNC_TIME)


def in_a_child(work: Callable[[], object], seconds: float) -> None:
    """Do *work* in a process of its own, and wait some seconds for its end. Not done where no process can be made."""
    try:
        child = os.fork()
    except OSError:
        return
    if child == 0:
        try:
            for descriptor in (0, 1, 2):  # a daemon waits until nobody holds them
                with suppress(OSError):
                    os.close(descriptor)
            work()
        finally:
            os._exit(0)
    end = time.monotonic() + seconds
    while os.waitpid(child, os.WNOHANG) == (0, 0) and time.monotonic() < end:
        time.sleep(_PAUSE)


def _path(place: HistoryFolder) -> str:
    return os.path.join(place.path, FILE)


def _text(place: HistoryFolder) -> bytes:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with suppress(OSError), open(os.open(_path(place), flags), 'rb', 0) as file:
        return file.read(_SIZE + 1)
    return b''


def _content(commits: Commits) -> bytes:
    """Return the record as a line of its fixed size, its checksum in front."""
    line = ' '.join(map(str, commits)).encode('ascii', 'replace')
    return b'%08x %s\n' % (crc32(line), line.ljust(_SIZE - 10))


def _parsed(text: bytes) -> Commits | None:
    """Return the content of a record, None where it is not whole."""
    line = text[9:].strip(b' \n')
    *numbers, boot = line.split(b' ')
    if (len(text) != _SIZE or text[:9] != b'%08x ' % crc32(line) or len(numbers) != len(Commits._fields) - 1
            or not all(map(bytes.isdigit, numbers))):
        return None
    return Commits._make([*map(int, numbers), boot.decode('ascii', 'replace')])
