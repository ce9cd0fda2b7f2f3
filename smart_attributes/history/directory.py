"""The files of history in the state directory, and the mark that is left there when something fails.

Links are refused, and files of another user. Callers act as the owner of the state directory, except where a docstring
says otherwise.
"""
from __future__ import annotations

import errno
import fcntl
import os
import stat
from contextlib import contextmanager, suppress

from .. import files, state_directory, trust
from ..errors import HistoryUnusable
from ..typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = 'history'
FILE = 'history.sqlite'
FORMER, FORMER_FILE = 'memory', 'memory.sqlite'   # their names in snapshots of version 2.0
ASIDE = f'{FILE}.aside'    # one file, whatever happens: a fault that comes back must not fill the disk
LOCK = f'{FILE}.lock'
NOT_WRITTEN = 'not-written'
ADVICE = 'let the user of the check write there, or name another folder with --state-dir'
PATIENCE = 0.1             # seconds to wait for another check
_MODE = 0o644              # readers are others; the folder says who may come in
_REFUSALS = {
    errno.ELOOP: ' is a link; remove it, and history begins anew',
    errno.ENOENT: ' is not there; make it, owned by the user of the check, or name another folder with --state-dir'}


class HistoryFolder(NamedTuple):
    """The folder of history, below the state directory."""

    state: state_directory.StateDirectory    # as a context, what is inside is done as its owner
    path: str

    @property
    def file(self) -> str:
        """The database."""
        return os.path.join(self.path, FILE)

    @property
    def aside(self) -> str:
        """The database as it was before history began anew."""
        return os.path.join(self.path, ASIDE)


def below(state: state_directory.StateDirectory, is_made: bool) -> HistoryFolder:
    """Return the folder of history, made where it is missing and *is_made*; the caller does not act as its owner.

    Raises HistoryUnusable where others can write there.
    """
    path = os.path.join(state.path, NAME)
    with refusals(path):
        if is_made:
            with state:
                _rename_former(os.path.join(state.path, FORMER), path)
            state_directory.below(state, NAME)
        fault = trust.fault(path, state.user)
    if fault:
        raise HistoryUnusable(f'{fault}; let the owner of {state.path} alone write there')
    return HistoryFolder(state, path)


def _rename_former(former: str, path: str) -> None:
    """Give the directory of an earlier snapshot, and its files, the names of today. Raises OSError.

    A check that is killed meanwhile leaves the rest to the next one, so the directory is renamed last.
    """
    if os.path.lexists(path) or os.path.islink(former) or not os.path.isdir(former):
        return
    opened = os.open(former, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX)
        if os.path.lexists(path):   # a check beside this one was faster
            return
        for name in sorted(os.listdir(opened), reverse=True):   # the database itself last: SQLite reads its log with it
            if name.startswith(FORMER_FILE):
                os.rename(name, FILE + name[len(FORMER_FILE):], src_dir_fd=opened, dst_dir_fd=opened)
        os.rename(former, path)
    finally:
        os.close(opened)


@contextmanager
def locked(folder: HistoryFolder, alone: bool) -> Iterator[None]:
    """Hold the lock of opening and setting aside. Raises HistoryUnusable where another process holds it too long.

    alone: to make a file or set it aside; else as one of many that open it. Nobody but the owner can open the lock, and
    so hold it.
    """
    with refusals(folder.path):
        lock = os.open(os.path.join(folder.path, LOCK), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with refusals(folder.path):
            if not files.has_locked(lock, fcntl.LOCK_EX if alone else fcntl.LOCK_SH, PATIENCE):
                raise HistoryUnusable(f'{folder.path} is locked by another process; fuser {LOCK} there tells which')
        yield
    finally:
        os.close(lock)


def which_file(folder: HistoryFolder, is_made: bool = True) -> int:
    """Return the inode of the database, made empty where it is missing and *is_made*.

    Raises HistoryUnusable for links, for anything but a regular file, and for a file of another user.
    """
    flags = (os.O_RDWR | os.O_CREAT if is_made else os.O_RDONLY) | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with refusals(folder.file):
        # Closed again before SQLite opens it: a close would take SQLite's own locks away.
        descriptor = os.open(folder.file, flags, _MODE)
        try:
            status = os.fstat(descriptor)
            if is_made and status.st_size == 0 and status.st_uid == os.geteuid():
                os.fchmod(descriptor, _MODE)  # whatever umask root had
        finally:
            os.close(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1 or status.st_uid != folder.state.user:
        raise HistoryUnusable(f'{folder.file} is no file of the folder\'s owner alone (a link, or another user\'s); '
                              'move it away, and history begins anew')
    return status.st_ino


def set_aside(folder: HistoryFolder) -> None:
    """Move the database away; its index and log first, since they would be applied to the next database."""
    with refusals(folder.file):
        _remove(folder.file + '-shm')
        for tail in ('-wal', ''):
            try:
                os.replace(folder.file + tail, folder.aside + tail)
            except FileNotFoundError:
                _remove(folder.aside + tail)
        # A power cut must not lay the old log over the next database.
        files.flush(folder.path)


def _remove(path: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(path)


def is_writable(folder: HistoryFolder) -> bool:
    """Return whether the system lets this user write each file of the database that is there."""
    return all(os.access(folder.file + tail, os.W_OK, effective_ids=True) for tail in ('', '-wal', '-shm')
               if os.path.lexists(folder.file + tail))


def leave_mark(folder: HistoryFolder, reason: str) -> None:
    """Leave a mark for the next check that this one, whose answer is out already, could not write.

    On a full disk the empty file, which hardly needs room, still shows since when.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    # The mark is there since the first failure, or the next check finds the file system read-only itself.
    with suppress(OSError), open(os.open(os.path.join(folder.path, NOT_WRITTEN), flags, _MODE), 'wb', 0) as file:
        file.write(reason.encode())


def mark(folder: HistoryFolder) -> tuple[int, str]:
    """Return since when nothing could be written (seconds since 1970; 0: all is written), and why."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        with open(os.open(os.path.join(folder.path, NOT_WRITTEN), flags), 'rb', 0) as file:
            return max(int(os.fstat(file.fileno()).st_mtime), 1), file.read(300).decode(errors='replace')
    except FileNotFoundError:
        return 0, ''
    except OSError as error:
        return 1, error.strerror or ''


def remove_mark(folder: HistoryFolder) -> None:
    """Remove the mark: everything is written again. Raises HistoryUnusable."""
    with refusals(folder.path):
        _remove(os.path.join(folder.path, NOT_WRITTEN))


@contextmanager
def refusals(path: str) -> Iterator[None]:
    """Turn an OSError inside into a sentence. Raises HistoryUnusable."""
    try:
        yield
    except OSError as error:
        reason = _REFUSALS.get(error.errno or 0) or f': {error.strerror}; {ADVICE}'
        raise HistoryUnusable(f'{path}{reason}') from None
