"""Find what keeps this user from entering, reading or executing a path, and name users."""

from __future__ import annotations

import os
import pwd
import stat
from collections.abc import Iterator

from .typed import NamedTuple

_NOEXEC = getattr(os, 'ST_NOEXEC', 0)  # on FreeBSD, Python lacks this constant


class Barrier(NamedTuple):
    """A path for which this user lacks permission."""

    path: str
    mode: int = 0  # permission bits
    owner: str = ''
    whom: str = 'o'  # the user's permission class, as chmod names it: u, g, o
    # path is the mount point of a file system that executes nothing
    is_noexec: bool = False


def on_the_way(path: str, needed: int) -> Iterator[Barrier]:
    """Yield what keeps this user from a path: a directory above it, or the path itself; nothing if
    the path can be used or is missing.

    needed: rights as os.access() has them.
    """
    steps = path.split('/')
    for number in range(1, len(steps)):
        folder = '/'.join(steps[:number]) or '/'
        if os.path.isdir(folder) and not os.access(folder, os.X_OK):
            yield barrier(folder)
            return
    if not os.path.exists(path) or os.access(path, needed):
        return
    is_executable = os.stat(path).st_mode & 0o111
    if os.statvfs(path).f_flag & _NOEXEC and is_executable:
        # the mount point of its file system
        while not os.path.ismount(path):
            path = os.path.dirname(path)
        yield Barrier(path, is_noexec=True)
    else:
        yield barrier(path)


def unreadable(folder: str) -> Iterator[Barrier]:
    """Yield the files and folders below a folder that this user may not read, except *.pyc."""
    for here, below, names in os.walk(folder):
        for name in (*below, *names):
            path = os.path.join(here, name)
            needed = os.R_OK | os.X_OK if name in below else os.R_OK
            if not name.endswith('.pyc') and not os.access(path, needed):
                yield barrier(path)


def barrier(path: str) -> Barrier:
    """Return a path with its permissions and owner; without them if it no longer exists."""
    try:
        status = os.stat(path)
    except OSError:  # removed in the meantime
        return Barrier(path)
    groups = {os.getegid(), *os.getgroups()}
    letter = whom(status.st_uid, status.st_gid, os.geteuid(), groups)
    return Barrier(path, stat.S_IMODE(status.st_mode), name_of(status.st_uid), letter)


def name_of(user: int) -> str:
    """Return the name of the user with this ID, or the ID if the user has no name."""
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return str(user)


def whom(owner: int, group: int, user: int, groups: set[int]) -> str:
    """Return the permission class that applies to a user, as chmod names it: u, g or o."""
    if owner == user:
        return 'u'
    return 'g' if group in groups else 'o'


def is_denied(folder: str) -> bool:
    """Return whether this user lacks permission to read or write a folder or a file in the
    folder; False if the folder is missing.
    """
    if not os.path.isdir(folder):
        return False
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        return True
    paths = [os.path.join(folder, name) for name in os.listdir(folder)]
    return not all(os.access(path, os.R_OK | os.W_OK) for path in paths)
