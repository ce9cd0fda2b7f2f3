"""The folder of memory: whose it is, who else could write there, and what is left in it when something fails.

Root and nagios take turns in it. Whatever is done there is done as the folder's owner: root leaves no file that nagios
cannot write, and a link that nagios plants leads root no further than nagios itself could go.
"""

import errno
import fcntl
import os
import stat
import time
from contextlib import contextmanager, suppress
from typing import Iterator, NamedTuple, Tuple

from ..errors import MemoryUnusable
from ..trust import fault

FILE = 'memory.sqlite'
ASIDE = f'{FILE}.aside'    # one file, whatever happens: a fault that comes back must not fill the disk
LOCK = f'{FILE}.lock'
NOT_WRITTEN = 'not-written'
ADVICE = 'let the user of the check write there, or name another folder with --state-dir'
PATIENCE = 0.1             # seconds to wait for another check
_STEP = 0.005
_MODE = 0o644              # readers are others; the folder says who may come in


class Folder(NamedTuple):
    """A folder that its owner alone can write to, or root."""

    path: str
    user: int
    group: int

    @property
    def file(self) -> str:
        """The database."""
        return os.path.join(self.path, FILE)

    @property
    def aside(self) -> str:
        """What it was before it began anew."""
        return os.path.join(self.path, ASIDE)


def looked_at(path: str) -> Folder:
    """Return the folder at *path*. Raises MemoryUnusable where there is none, or where others could write."""
    try:
        status = os.stat(path)
        if not stat.S_ISDIR(status.st_mode):
            raise MemoryUnusable(f'{path} is no folder; remove it, or name another with --state-dir')
        danger = fault(path, status.st_uid)
    except OSError as error:
        raise MemoryUnusable(_sentence(path, error)) from None
    if danger:
        raise MemoryUnusable(f'{danger}; let its owner alone write there, or name another folder with --state-dir')
    return Folder(path, status.st_uid, status.st_gid)


def ready(path: str) -> Folder:
    """Return the folder at *path* for a check that writes: made, where only itself is missing, as the owner of the one above."""
    if not os.path.lexists(path):
        above = looked_at(os.path.dirname(path))
        with as_owner(above), _told(path):
            os.makedirs(path, 0o755, exist_ok=True)
    folder = looked_at(path)
    if os.geteuid() not in (0, folder.user):
        raise MemoryUnusable(f'{path} belongs to user {folder.user}, and the check runs as {os.geteuid()}; '
                             'run it as that user, or name another folder with --state-dir')
    return folder


@contextmanager
def as_owner(folder: Folder) -> Iterator[None]:
    """Act with the rights of the folder's owner inside; whoever is not root does so already."""
    user, group = os.geteuid(), os.getegid()
    if user != 0 or folder.user == 0:
        yield
        return
    os.setegid(folder.group)
    os.seteuid(folder.user)
    try:
        yield
    finally:
        os.seteuid(user)
        os.setegid(group)


@contextmanager
def locked(folder: Folder, alone: bool) -> Iterator[None]:
    """Hold what makes opening and setting aside wait for each other. Raises MemoryUnusable where another process does not end.

    alone: for who makes or sets aside; else as one of many that open. Nobody but the owner can open the lock, and so hold it.
    """
    with _told(folder.path):
        lock = os.open(os.path.join(folder.path, LOCK), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        _wait_for(lock, fcntl.LOCK_EX if alone else fcntl.LOCK_SH, folder)
        yield
    finally:
        os.close(lock)


def _wait_for(lock: int, kind: int, folder: Folder) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            fcntl.flock(lock, kind | fcntl.LOCK_NB)
            return
        except OSError:
            if time.monotonic() > deadline:
                raise MemoryUnusable(f'{folder.path} is locked by another process; fuser {LOCK} there tells which') from None
        time.sleep(_STEP)


def which_file(folder: Folder, is_made: bool = True) -> int:
    """Return the inode of the database, made empty where it is not there yet and *is_made* says so.

    Raises MemoryUnusable for links, for what is no file, and for what belongs to another user.
    """
    flags = (os.O_RDWR | os.O_CREAT if is_made else os.O_RDONLY) | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with _told(folder.file):
        # Closed again before SQLite opens it: a close would take SQLite's own locks away.
        descriptor = os.open(folder.file, flags, _MODE)
        try:
            status = os.fstat(descriptor)
            if is_made and status.st_size == 0 and status.st_uid == os.geteuid():
                os.fchmod(descriptor, _MODE)  # whatever umask root had
        finally:
            os.close(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1 or status.st_uid != folder.user:
        raise MemoryUnusable(f'{folder.file} is no file of the folder\'s owner alone (a link, or another user\'s); '
                             'move it away, and memory begins anew')
    return status.st_ino


def set_aside(folder: Folder) -> None:
    """Move the database out of the way; its log and its index first: left alone, they would be laid over the next one."""
    with _told(folder.file):
        _remove(folder.file + '-shm')
        for tail in ('-wal', ''):
            try:
                os.replace(folder.file + tail, folder.aside + tail)
            except FileNotFoundError:
                _remove(folder.aside + tail)


def _remove(path: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(path)


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
        descriptor = os.open(os.path.join(folder.path, NOT_WRITTEN), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
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
    with _told(folder.path):
        _remove(os.path.join(folder.path, NOT_WRITTEN))


@contextmanager
def _told(path: str) -> Iterator[None]:
    """Turn what the system refuses inside into a sentence."""
    try:
        yield
    except OSError as error:
        raise MemoryUnusable(_sentence(path, error)) from None


def _sentence(path: str, error: OSError) -> str:
    if error.errno == errno.ELOOP:
        return f'{path} is a link; remove it, and memory begins anew'
    if error.errno == errno.ENOENT:
        return f'{path} is not there; make it, owned by the user of the check, or name another folder with --state-dir'
    return f'{path}: {error.strerror}; {ADVICE}'
