"""Read regular files only: a pipe could block forever, and a file may be larger than RAM.

This module is imported before the first process starts, so it must be cheap.
"""

from __future__ import annotations

import errno
import os
import stat
import time

from .constants import LARGEST_FILE

# see typed, which would load collections before the first process starts
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

CONFIG = '/etc/check-smart-attributes'  # the folder of local configuration files
# the package: a folder, or a path inside the single-file program
PROGRAM = os.path.dirname(os.path.realpath(__file__))
_CHUNK = 1 << 20
_STEP = 0.005  # seconds between two attempts to lock a file


class NotRegular(OSError):
    """The path leads to a folder, a pipe or a terminal.

    Reading a pipe or a terminal could block forever.
    """


class NotShown(PermissionError):
    """The content of this file must not be shown; strerror gives the reason and the next step."""


def data(name: str) -> Any:
    """Return the content of a JSON file of the package.

    Raises OSError or ValueError if the installation is damaged.
    """
    import json  # only after the first process has started

    return json.loads(content(f'{PROGRAM}/{name}', LARGEST_FILE))


def content(
    path: str, most: int, fault: Callable[[str, os.stat_result], str] | None = None
) -> bytes:
    """Return the bytes of a regular file.

    Raises OSError: NotRegular, or EFBIG for more than *most* bytes.

    fault: gets the path and the status of the opened file; returns why the content must not be
    shown, or ''. Reading a file under /proc raises EAGAIN instead of blocking. A file inside the
    single-file program is read from that program.
    """
    try:
        descriptor = os.open(
            path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
        )
    except NotADirectoryError:
        if not path.startswith(f'{PROGRAM}/'):
            raise
        data: bytes = __loader__.get_data(path)  # type: ignore[name-defined]
        return data
    except ValueError as error:  # a null character in the path
        raise OSError(errno.EINVAL, str(error)) from None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise NotRegular(errno.EINVAL, 'it is not a regular file')
        reason = fault(path, status) if fault else ''
        if reason:
            raise NotShown(errno.EACCES, reason)
        return _all_of(descriptor, most)
    finally:
        os.close(descriptor)


def text(path: str, most: int) -> str:
    """Return a file as text, or '' if this user cannot read the file or it has more than *most*
    bytes.
    """
    try:
        return content(path, most).decode('utf-8', 'replace')
    except OSError:
        return ''


def _all_of(descriptor: int, most: int) -> bytes:
    """Return the content of an open file. Raises OSError for more than *most* bytes."""
    chunks: list[bytes] = []
    size = 0
    while size <= most:
        chunk = os.read(descriptor, _CHUNK)
        if not chunk:
            return b''.join(chunks)
        chunks.append(chunk)
        size += len(chunk)
    raise OSError(errno.EFBIG, f'it is larger than {most >> 20} MiB')


def replace(
    text: str | Sequence[str], path: str, mode: int = 0o644, is_durable: bool = False
) -> None:
    """Replace a file atomically. Raises OSError.

    text: the new content, or its parts. mode: permission bits; by default, all users can read the
    file. is_durable: return when the new file is on the disk, so that it survives a power cut.
    """
    folder, name = os.path.split(os.path.abspath(path))
    # tempfile is not used: a check may write as the owner of its directory, who may be unable to
    # load that module.
    temporary = os.path.join(folder, f'.{name}{os.urandom(8).hex()}')
    descriptor = os.open(
        temporary,
        os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC,
        0o600,
    )
    try:
        with open(descriptor, 'w', encoding='utf-8', errors='replace') as file:
            file.writelines([text] if isinstance(text, str) else text)
            os.fchmod(file.fileno(), mode)
        if is_durable:
            flush(temporary)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    if is_durable:
        flush(folder)


def flush(path: str) -> None:
    """Sync a file, or the entries of a folder, to the disk. Raises OSError."""
    descriptor = os.open(
        path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    )
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def open_lock(path: str) -> int:
    """Open a file to lock, and create it if it is missing; only this user can open it.

    Raises OSError, also if it is a link.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    return os.open(path, flags, 0o600)


def has_locked(descriptor: int, patience: float) -> bool:
    """Lock an open file with flock; return False if another process holds the lock for more than
    *patience* seconds.

    Raises OSError if the file system does not support locks.
    """
    from fcntl import LOCK_EX, LOCK_NB, flock

    deadline = time.monotonic() + patience
    while True:
        try:
            flock(descriptor, LOCK_EX | LOCK_NB)
            return True
        except BlockingIOError:
            if time.monotonic() > deadline:
                return False
        time.sleep(_STEP)


def is_there(path: str) -> bool:
    """Return whether a path exists, even if it is not readable."""
    try:
        os.lstat(path)
        return True
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError):  # the caller gets the reason when it opens the path
        return True
