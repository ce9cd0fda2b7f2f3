"""The files of a history other than the database: lock, commit record, list of known drives, and
failure mark.

These files are in the state directory. Links are refused, and so are files of another user. Callers
must act as the owner of the state directory, unless a docstring states otherwise.

The commit record states how many commits a reader must find in the database. SQLite stops reading
its log at the first damaged frame and reports no error, so a damaged or removed log looks like a
slightly older history. The record is written after each commit and read before the database; if the
database is behind it, the commits in between are lost.

After a power cut, everything that was not synced may be missing, including the newest record. The
record therefore also has a boot ID, and the time since which commits may be missing from the disk.
The "open" mark is synced before the first
unsynced commit. Sources: SQLite, "Write-Ahead Logging" and "The WAL-mode File Format"; proc(5),
boot_id.

The list of known drives is kept outside the database, so that a check notices missing drives even
if the database is lost. The file is replaced only when the list changes. A damaged list is ignored;
the database has a copy.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from zlib import crc32

from .. import files, state_directory, trust
from ..constants import LARGEST_SMALL_FILE
from ..errors import HistoryUnusable
from ..model import Identity
from ..typed import NamedTuple
from .drive_records import DrivePlace, Record, moment
from .rows import Head

FILE = 'history.sqlite'
ASIDE = f'{FILE}.aside'  # only one such file, so that a recurring error cannot fill the disk
DAMAGED = f'{FILE}.damaged'  # name of a damaged file until its readable content is copied
LOCK = f'{FILE}.lock'
COMMITS = f'{FILE}.commits'
NOT_WRITTEN = 'not-written'
ADVICE = 'make it writable for the monitoring user, or use another directory with --state-dir'
PATIENCE = 0.1  # seconds to wait for another check
# seconds of CPU time for copying the rest of a damaged file; 5 MB take 0.5 s
SALVAGE = 5.0
# a power cut loses at most the content of -wal
SETTINGS = ('synchronous = NORMAL', 'wal_autocheckpoint = 0')
VERSION = 4  # version of the tables
_MODE = 0o644  # others may read; the permissions of the folder limit access
_REFUSALS = {
    errno.ELOOP: ' is a link; to start a new history, remove it',
    errno.ENOENT: ' does not exist; create it, owned by the monitoring user, or use another '
    'directory with --state-dir',
}
BOOT_ID = '/proc/sys/kernel/random/boot_id'
OPENING_TIME = 0.5  # seconds to wait until the "open" mark is on the disk
# seconds to wait until the commits are on the disk; after that, the child process continues alone
SYNC_TIME = 2.0
# bytes, less than a sector: after a power cut, either the old or the new record is complete
_SIZE = 160
_TRIES, _PAUSE = 3, 0.002
_NO_BOOT_ID = '-'
DRIVES = 'drives.json'
_READING = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITING = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class HistoryFolder(NamedTuple):
    """The history folder, below the state directory."""

    # as a context manager: act as the owner of the directory
    state: state_directory.StateDirectory
    path: str
    file: str  # the database
    aside: str  # the old database that was set aside when the history restarted
    damaged: str  # a damaged database that has not been completely copied


def _path(place: HistoryFolder, name: str) -> str:
    return os.path.join(place.path, name)


def below(state: state_directory.StateDirectory, is_made: bool) -> HistoryFolder:
    """Return the history folder; create a missing folder if *is_made* is true.

    The caller need not act as the owner.

    Raises HistoryUnusable if the folder is missing or if other users can write to it.
    """
    path = os.path.join(state.path, state_directory.HISTORY)
    with refusals(path):
        if is_made:
            state_directory.below(state, state_directory.HISTORY)
        fault = trust.fault(path, state.user)
    if fault:
        raise HistoryUnusable(f'{fault}; make it writable only for the owner of {state.path}')
    return HistoryFolder(
        state, path, *(os.path.join(path, name) for name in (FILE, ASIDE, DAMAGED))
    )


@contextmanager
def locked(folder: HistoryFolder, alone: bool) -> Iterator[None]:
    """Hold the lock that a process needs before it opens the database or sets it aside.

    alone: lock exclusively, to create the file or set it aside; else share the lock with processes
    that open the file. Only the owner can open the lock file, so no other user can lock it. Raises
    HistoryUnusable after PATIENCE.
    """
    with refusals(folder.path):
        lock = os.open(
            _path(folder, LOCK), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
        )
    try:
        with refusals(folder.path):
            if not files.has_locked(lock, fcntl.LOCK_EX if alone else fcntl.LOCK_SH, PATIENCE):
                raise HistoryUnusable(
                    f'{folder.path} is locked by another process; to see which, run: '
                    f'fuser {folder.path}/{LOCK}'
                )
        yield
    finally:
        os.close(lock)


def which_file(folder: HistoryFolder, is_made: bool = True) -> int:
    """Return the inode of the database file; if *is_made* is true, create a missing file as an
    empty file.

    Raises HistoryUnusable if the file is missing, a link, not a regular file, or owned by another
    user.
    """
    flags = _READING | (os.O_RDWR | os.O_CREAT if is_made else 0)
    with refusals(folder.file):
        # Close the file before SQLite opens it, because closing it later would release SQLite's
        # locks.
        descriptor = os.open(folder.file, flags, _MODE)
        try:
            status = os.fstat(descriptor)
            if is_made and status.st_size == 0 and status.st_uid == os.geteuid():
                os.fchmod(descriptor, _MODE)  # regardless of the umask of root
            is_ours = (
                stat.S_ISREG(status.st_mode)
                and status.st_nlink == 1
                and status.st_uid == folder.state.user
            )
        finally:
            os.close(descriptor)
    if not is_ours:
        raise HistoryUnusable(
            f'{folder.file} is a link, or does not belong to the owner of its directory; '
            'to start a new history, move it away'
        )
    return status.st_ino


def is_writable(folder: HistoryFolder) -> bool:
    """Return whether this user may write to all existing files of the database."""
    return all(
        os.access(folder.file + tail, os.W_OK, effective_ids=True)
        for tail in ('', '-wal', '-shm')
        if os.path.lexists(folder.file + tail)
    )


def leave_mark(folder: HistoryFolder, reason: str) -> None:
    """Leave a mark, so that the next check reports that this check could not write the history.

    On a full disk, the mark stays empty, but the time of the file still shows when the failure
    began.
    """
    # Errors are ignored: either the first failure left the mark, or the next check finds the file
    # system read-only.
    with (
        suppress(OSError),
        open(os.open(_path(folder, NOT_WRITTEN), _WRITING | os.O_EXCL, _MODE), 'wb', 0) as file,
    ):
        file.write(reason.encode())


def mark(folder: HistoryFolder) -> tuple[int, str]:
    """Return since when nothing could be written (in seconds since 1970; 0: no failure), and the
    reason.
    """
    try:
        with open(os.open(_path(folder, NOT_WRITTEN), _READING), 'rb', 0) as file:
            return max(int(os.fstat(file.fileno()).st_mtime), 1), file.read(300).decode(
                errors='replace'
            )
    except FileNotFoundError:
        return 0, ''
    except OSError as error:
        return 1, error.strerror or ''


def remove_mark(folder: HistoryFolder) -> None:
    """Remove the mark after writing has succeeded again.

    Raises HistoryUnusable if it cannot be removed.
    """
    with refusals(folder.path), suppress(FileNotFoundError):
        os.unlink(_path(folder, NOT_WRITTEN))


@contextmanager
def refusals(path: str) -> Iterator[None]:
    """Convert an OSError into HistoryUnusable, with the reason and the next step."""
    try:
        yield
    except OSError as error:
        reason = _REFUSALS.get(error.errno or 0) or f': {error.strerror}; {ADVICE}'
        raise HistoryUnusable(f'{path}{reason}') from None


class Commits(NamedTuple):
    """The content of the record; times are in seconds since 1970."""

    sequence: int = 0  # number of the newest commit
    time: int = 0  # time of the check that made the newest commit
    synced: int = 0  # number of the newest commit that is certainly on the disk
    synced_at: int = 0
    is_open: int = 0  # 1: later commits may be missing from the disk
    version: int = 0  # version of the tables
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


def read_commits(place: HistoryFolder) -> Commits | None:
    """Return the record, or None if it is missing or damaged.

    Retry, because another process may be writing it.
    """
    for _ in range(_TRIES):
        text = _text(place)
        record = _parsed(text)
        if record or not text:
            return record
        time.sleep(_PAUSE)
    return None


def change_commits(
    place: HistoryFolder, changed: Callable[[Commits], Commits], is_synced: bool = False
) -> Commits:
    """Lock the record, replace it by the result of *changed*, and return the new record.

    is_synced: wait until the record is on the disk. Raises HistoryUnusable if the record cannot be
    locked or written.
    """
    with refusals(_path(place, COMMITS)), locked(place, alone=True):
        after = changed(_parsed(_text(place)) or Commits())
        file = os.open(_path(place, COMMITS), _WRITING, _MODE)
        try:
            os.fchmod(file, _MODE)  # regardless of the umask of root
            os.pwrite(file, _content(after), 0)
            if os.fstat(file).st_size > _SIZE:
                os.ftruncate(file, _SIZE)
        finally:
            os.close(file)
    if is_synced:
        files.flush(_path(place, COMMITS))
    return after


def open_commits(place: HistoryFolder) -> None:
    """Write the "open" mark to the disk before unsynced commits are made.

    Raises HistoryUnusable.
    """
    change_commits(place, lambda record: record._replace(is_open=1))
    in_a_child(lambda: files.flush(_path(place, COMMITS)), OPENING_TIME)


def count_commit(place: HistoryFolder, sequence: int, now: int) -> Commits:
    """Count a commit in the record, and return the record.

    Another check may already have counted a later commit.

    Raises HistoryUnusable.
    """
    return change_commits(
        place,
        lambda record: record._replace(
            sequence=max(sequence, record.sequence),
            time=now,
            is_open=1,
            version=VERSION,
            boot=boot_id(),
        ),
    )


def sync_commits(place: HistoryFolder, sequence: int, now: int) -> None:
    """Sync all commits to the disk, then update the record and sync the record.

    A child process does this, because a busy or failing disk can take minutes and must not delay
    the end of the check. It is harmless if the child process outlives the check.
    """

    def work() -> None:
        # SQLite's locks belong to the parent process, so closing files here does not release the
        # locks.
        for path in (place.file + '-wal', place.file, place.path, place.state.path):
            files.flush(path)
        change_commits(
            place,
            lambda record: record._replace(
                synced=max(sequence, record.synced),
                synced_at=now,
                is_open=int(record.sequence > sequence),
            ),
            is_synced=True,
        )

    in_a_child(work, SYNC_TIME)


def in_a_child(work: Callable[[], object], seconds: float) -> None:
    """Run *work* in a child process and wait at most *seconds*.

    If no process can be created, *work* is not run.
    """
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


def _text(place: HistoryFolder) -> bytes:
    with suppress(OSError), open(os.open(_path(place, COMMITS), _READING), 'rb', 0) as file:
        return file.read(_SIZE + 1)
    return b''


def _content(commits: Commits) -> bytes:
    """Return the record as a line of fixed size; the line begins with a checksum."""
    line = ' '.join(map(str, commits)).encode('ascii', 'replace')
    return b'%08x %s\n' % (crc32(line), line.ljust(_SIZE - 10))


def _parsed(text: bytes) -> Commits | None:
    """Return the content of a record, or None if it is incomplete or damaged."""
    line = text[9:].strip(b' \n')
    *numbers, boot = line.split(b' ')
    if (
        len(text) != _SIZE
        or text[:9] != b'%08x ' % crc32(line)
        or len(numbers) != len(Commits._fields) - 1
        or not all(map(bytes.isdigit, numbers))
    ):
        return None
    return Commits._make([*map(int, numbers), boot.decode('ascii', 'replace')])


# --- the list of known drives -----------------------------------------------------------


class Known(NamedTuple):
    """The drives of a history and their places."""

    # when the history last restarted, seconds since 1970; 0: never
    lost: int = 0
    # without the time of the last reading, which changes at each check
    drives: tuple[Record, ...] = ()
    places: tuple[DrivePlace, ...] = ()


def known_of(head: Head) -> Known:
    """Return the known drives of a database."""
    return Known(
        moment(head.facts.get('lost', 0)),
        tuple(record._replace(last_read=record.first_read, sum=0) for record in head.records),
        head.places,
    )


def read_known(folder: HistoryFolder) -> Known:
    """Return the list of known drives; an empty list if the file is missing or damaged."""
    try:
        checksum, _, text = files.content(_path(folder, DRIVES), LARGEST_SMALL_FILE).partition(
            b'\n'
        )
        if checksum == _checksum(text):
            lost, drives, places = json.loads(text)
            return Known(
                moment(lost),
                tuple(_record(*drive) for drive in drives),
                tuple(DrivePlace(*place) for place in places),
            )
    # the owner can write anything into the file
    except (OSError, TypeError, ValueError, RecursionError):
        pass
    return Known()


def write_known(folder: HistoryFolder, known: Known) -> None:
    """Replace the list of known drives if it has changed. Raises HistoryUnusable."""
    if read_known(folder) == known:
        return
    drives = [(record.number, record.first_read, *record.identity[:5]) for record in known.drives]
    text = json.dumps((known.lost, drives, known.places)).encode()
    with refusals(_path(folder, DRIVES)):
        files.replace(f'{_checksum(text).decode()}\n{text.decode()}', _path(folder, DRIVES))


def _record(
    number: int, first: int, protocol: str, model: str, firmware: str, serial: str, wwn: str
) -> Record:
    return Record(
        int(number), Identity(protocol, model, firmware, serial, wwn), moment(first), moment(first)
    )


def _checksum(text: bytes) -> bytes:
    return b'%08x' % crc32(text)
