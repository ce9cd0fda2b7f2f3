"""The files of history in the state directory, and what is left there when something fails.

Links are refused, and what belongs to another user. Callers act as the owner of the state directory, except where a
docstring says otherwise.
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
    from typing import Iterator, Tuple

NAME = 'history'
FILE = 'history.sqlite'
FORMER, FORMER_FILE = 'memory', 'memory.sqlite'   # their names in snapshots of version 2.0
ASIDE = f'{FILE}.aside'    # one file, whatever happens: a fault that comes back must not fill the disk
LOCK = f'{FILE}.lock'
NOT_WRITTEN = 'not-written'
ADVICE = 'let the user of the check write there, or name another folder with --state-dir'
PATIENCE = 0.1             # seconds to wait for another check
_MODE = 0o644              # readers are others; the folder says who may come in


class Folder(NamedTuple):
    """The folder of history, below that of what lasts."""

    state: state_directory.StateDirectory    # as a context, what is inside is done as its owner
    path: str

    @property
    def file(self) -> str:
        """The database."""
        return os.path.join(self.path, FILE)

    @property
    def aside(self) -> str:
        """What it was before it began anew."""
        return os.path.join(self.path, ASIDE)


def below(state: state_directory.StateDirectory, is_made: bool) -> Folder:
    """Return the folder of history, made where it is not there and *is_made* says so; the caller acts as who he is.

    Raises HistoryUnusable where it is not its owner's alone.
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
    return Folder(state, path)


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
def locked(folder: Folder, alone: bool) -> Iterator[None]:
    """Hold what makes opening and setting aside wait for each other. Raises HistoryUnusable where another process does
    not end.

    alone: for who makes or sets aside; else as one of many that open. Nobody but the owner can open the lock, and so
    hold it.
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


def which_file(folder: Folder, is_made: bool = True) -> int:
    """Return the inode of the database, made empty where it is not there yet and *is_made* says so.

    Raises HistoryUnusable for links, for what is no file, and for what belongs to another user.
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


def set_aside(folder: Folder) -> None:
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


def is_writable(folder: Folder) -> bool:
    """Tell whether the system lets this user write each file of the database that is there."""
    return all(os.access(folder.file + tail, os.W_OK, effective_ids=True) for tail in ('', '-wal', '-shm')
               if os.path.lexists(folder.file + tail))


def leave_mark(folder: Folder, reason: str) -> None:
    """Leave word for the next check that this one, whose answer is out already, could not write.

    On a full disk the empty file, which hardly needs room, still tells since when.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        descriptor = os.open(os.path.join(folder.path, NOT_WRITTEN), flags, _MODE)
    except OSError:  # there since the first failure, or a file system that the next check finds read-only itself
        return
    try:
        os.write(descriptor, reason.encode())
    except OSError:
        pass
    finally:
        os.close(descriptor)


def mark(folder: Folder) -> Tuple[int, str]:
    """Return since when nothing could be written (seconds since 1970; 0: all is written), and why."""
    try:
        descriptor = os.open(os.path.join(folder.path, NOT_WRITTEN),
                             os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return 0, ''
    except OSError as error:
        return 1, error.strerror or ''
    try:
        return max(int(os.fstat(descriptor).st_mtime), 1), os.read(descriptor, 300).decode(errors='replace')
    finally:
        os.close(descriptor)


def remove_mark(folder: Folder) -> None:
    """All is written again."""
    with refusals(folder.path):
        _remove(os.path.join(folder.path, NOT_WRITTEN))


@contextmanager
def refusals(path: str) -> Iterator[None]:
    """Turn what the system refuses inside into a sentence. Raises HistoryUnusable."""
    try:
        yield
    except OSError as error:
        raise HistoryUnusable(_sentence(path, error)) from None


def _sentence(path: str, error: OSError) -> str:
    if error.errno == errno.ELOOP:
        return f'{path} is a link; remove it, and history begins anew'
    if error.errno == errno.ENOENT:
        return f'{path} is not there; make it, owned by the user of the check, or name another folder with --state-dir'
    return f'{path}: {error.strerror}; {ADVICE}'
