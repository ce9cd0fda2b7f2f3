"""The history files in the state directory, and the mark that a check leaves there if it cannot write.

Links and files of another user are refused. Callers act as the owner of the state directory, unless a docstring
states otherwise.
"""
from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from .. import files, state_directory, trust
from ..errors import HistoryUnusable
from ..typed import NamedTuple

NAME = 'history'
FILE = 'history.sqlite'
ASIDE = f'{FILE}.aside'    # only one such file, so that a recurring fault cannot fill the disk
DAMAGED = f'{FILE}.damaged'   # its name until all that is left of it is copied
LOCK = f'{FILE}.lock'
NOT_WRITTEN = 'not-written'
ADVICE = 'make it writable for the monitoring user, or use another directory with --state-dir'
MOST_LOG = 64 << 20        # bytes of the log of a database that was set aside
PATIENCE = 0.1             # seconds to wait for another check
_MODE = 0o644              # others may read; the permissions of the folder limit access
_REFUSALS = {
    errno.ELOOP: ' is a link; to start a new history, remove it',
    errno.ENOENT: ' does not exist; create it, owned by the monitoring user, or use another directory with --state-dir'}


class HistoryFolder(NamedTuple):
    """The history folder, below the state directory."""

    state: state_directory.StateDirectory    # as a context manager: act as its owner
    path: str

    @property
    def file(self) -> str:
        """The path of the database."""
        return os.path.join(self.path, FILE)

    @property
    def aside(self) -> str:
        """The path of the old database that was set aside when the history restarted."""
        return os.path.join(self.path, ASIDE)

    @property
    def damaged(self) -> str:
        """The path of a damaged database of which not everything has been copied."""
        return os.path.join(self.path, DAMAGED)


def below(state: state_directory.StateDirectory, is_made: bool) -> HistoryFolder:
    """Return the history folder; if it is missing and *is_made*, create it. The caller does not act as its owner.

    Raises HistoryUnusable if it is missing or if others can write to it.
    """
    path = os.path.join(state.path, NAME)
    with refusals(path):
        if is_made:
            state_directory.below(state, NAME)
        fault = trust.fault(path, state.user)
    if fault:
        raise HistoryUnusable(f'{fault}; make it writable only for the owner of {state.path}')
    return HistoryFolder(state, path)


@contextmanager
def locked(folder: HistoryFolder, alone: bool) -> Iterator[None]:
    """Hold the lock for opening the database or setting it aside.

    alone: exclusive, to create the file or set it aside; else shared with other processes that open it. Only the owner
    can open the lock file, so no other user can hold it. Raises HistoryUnusable if it is held longer than PATIENCE.
    """
    with refusals(folder.path):
        lock = os.open(os.path.join(folder.path, LOCK), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with refusals(folder.path):
            if not files.has_locked(lock, fcntl.LOCK_EX if alone else fcntl.LOCK_SH, PATIENCE):
                raise HistoryUnusable(f'{folder.path} is locked by another process; to see which, run: '
                                      f'fuser {folder.path}/{LOCK}')
        yield
    finally:
        os.close(lock)


def which_file(folder: HistoryFolder, is_made: bool = True) -> int:
    """Return the inode of the database; if it is missing and *is_made*, create it empty.

    Raises HistoryUnusable if the file is missing, a link, not a regular file, or owned by another user.
    """
    flags = (os.O_RDWR | os.O_CREAT if is_made else os.O_RDONLY) | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with refusals(folder.file):
        # Closed before SQLite opens it, since closing it later would release SQLite's locks.
        descriptor = os.open(folder.file, flags, _MODE)
        try:
            status = os.fstat(descriptor)
            if is_made and status.st_size == 0 and status.st_uid == os.geteuid():
                os.fchmod(descriptor, _MODE)  # whatever umask root had
            is_ours = stat.S_ISREG(status.st_mode) and status.st_nlink == 1 and status.st_uid == folder.state.user
        finally:
            os.close(descriptor)
    if not is_ours:
        raise HistoryUnusable(f'{folder.file} is a link, or does not belong to the owner of its directory; '
                              'to start a new history, move it away')
    return status.st_ino


def set_aside(folder: HistoryFolder, name: str) -> None:
    """Rename the database and its log to *name*; raise HistoryUnusable if that fails.

    Its index and log go first, since SQLite would apply them to the next database. A log of more than MOST_LOG bytes is
    removed: the file itself has nearly all of its content.
    """
    if name == folder.damaged and os.path.lexists(name):   # an earlier one has not been copied yet
        name = folder.aside
    with refusals(folder.file):
        _remove(folder.file + '-shm')
        with suppress(FileNotFoundError):
            if os.path.getsize(folder.file + '-wal') > MOST_LOG:
                _remove(folder.file + '-wal')
        _rename(folder.file, name)
        # After a power cut, the old log must not be applied to the next database.
        files.flush(folder.path)


def put_aside(folder: HistoryFolder) -> None:
    """Give a damaged database, of which everything is copied, the name under which it is kept."""
    with refusals(folder.file):
        if os.path.lexists(folder.damaged):
            _remove(folder.damaged + '-shm')
            _rename(folder.damaged, folder.aside)


def _rename(file: str, name: str) -> None:
    for tail in ('-wal', ''):
        try:
            os.replace(file + tail, name + tail)
        except FileNotFoundError:
            _remove(name + tail)


def _remove(path: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(path)


def is_writable(folder: HistoryFolder) -> bool:
    """Return whether this user may write to all existing files of the database."""
    return all(os.access(folder.file + tail, os.W_OK, effective_ids=True) for tail in ('', '-wal', '-shm')
               if os.path.lexists(folder.file + tail))


def leave_mark(folder: HistoryFolder, reason: str) -> None:
    """Leave a mark that shows the next check that this one, after printing its output, could not write.

    Even on a full disk, the empty file still shows since when.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    # Errors are ignored: the mark exists since the first failure, or the next check finds the file system read-only.
    with suppress(OSError), open(os.open(os.path.join(folder.path, NOT_WRITTEN), flags, _MODE), 'wb', 0) as file:
        file.write(reason.encode())


def mark(folder: HistoryFolder) -> tuple[int, str]:
    """Return since when nothing could be written (seconds since 1970; 0: there is no such failure), and why."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        with open(os.open(os.path.join(folder.path, NOT_WRITTEN), flags), 'rb', 0) as file:
            return max(int(os.fstat(file.fileno()).st_mtime), 1), file.read(300).decode(errors='replace')
    except FileNotFoundError:
        return 0, ''
    except OSError as error:
        return 1, error.strerror or ''


def remove_mark(folder: HistoryFolder) -> None:
    """Remove the mark, once writing has succeeded again. Raises HistoryUnusable if it cannot be removed."""
    with refusals(folder.path):
        _remove(os.path.join(folder.path, NOT_WRITTEN))


@contextmanager
def refusals(path: str) -> Iterator[None]:
    """Convert an OSError into HistoryUnusable, with the reason and the next step."""
    try:
        yield
    except OSError as error:
        reason = _REFUSALS.get(error.errno or 0) or f': {error.strerror}; {ADVICE}'
        raise HistoryUnusable(f'{path}{reason}') from None
