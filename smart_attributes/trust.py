"""Who else could change what lies at a path: one rule for programs and data files.

Imported before the first process starts, so it imports nothing that costs.
"""
from __future__ import annotations

import errno
import os
import stat

TYPE_CHECKING = False  # as type checkers read it; typing itself costs more than all of this module
if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = 0
LINKS = 40  # one after the other, as the kernel allows
ACL = 'system.posix_acl_access'
# Source: Linux, include/uapi/linux/posix_acl.h and posix_acl_xattr.h.
_ACL_HEAD, _ACL_ENTRY = 4, 8
_USER, _GROUP_OBJ, _GROUP = 0x02, 0x04, 0x08
_WRITE = 2


class Fault(str):
    """Why nobody should rely on a path, in words that begin with the folder, link or file that is at fault."""

    path: str
    is_open = False   # others can write there

    def __new__(cls, path: str, words: str) -> Fault:
        """Return the sentence of both."""
        made = super().__new__(cls, f'{path} {words}')
        made.path = path
        return made


def fault(path: str, user: int) -> str:
    """Return why *user* should not rely on what lies at *path*; '' where only he or root could have put it there.

    Every folder, link and file on the way counts. Raises OSError where one of them is not there or cannot be looked at.
    """
    trusted = {ROOT, user}
    owner = 'root' if user == ROOT else 'root or to you'
    for part in steps(path):
        status = os.lstat(part)
        if status.st_uid not in trusted:
            return Fault(part, f'does not belong to {owner}')
        if _others_can_write(part, status, trusted):
            found = Fault(part, 'is writable by others')
            found.is_open = True
            return found
    return ''


def foreign_secret(path: str, status: os.stat_result) -> str:
    """Return why the content of a file must not be shown; '' where all who could have led *path* to it can read it.

    A link of another user leads root to any file, and error messages quote what they complain of. status: of the
    opened file. Raises OSError where the way to it cannot be looked at.
    """
    user = os.geteuid()
    leading: set[tuple[str, int]] = set()
    last = None
    for part in steps(path):
        last = os.lstat(part)
        if not stat.S_ISLNK(last.st_mode) and not all(_is_open(last, other) for other in leading):
            return f'another user could have led this path to it and cannot read it ({part}); {_COPY}'
        leading |= _leading(part, last, {ROOT, user})
    if last is None or (last.st_dev, last.st_ino) != (status.st_dev, status.st_ino):
        return f'another file has taken its place meanwhile; {_COPY}'
    return ''


_COPY = 'copy it to a folder that nobody else can write to'


def _leading(path: str, status: os.stat_result, trusted: set[int]) -> set[tuple[str, int]]:
    """Return who else decides what lies at or below a path: ("user", uid), ("group", gid), or ("anybody", 0)."""
    found = set() if status.st_uid in trusted else {('user', status.st_uid)}
    if _others_can_write(path, status, trusted):
        is_one_group = not status.st_mode & stat.S_IWOTH and not _list_of(path)
        found.add(('group', status.st_gid) if is_one_group else ('anybody', 0))
    return found


def _is_open(status: os.stat_result, other: tuple[str, int]) -> bool:
    """Tell whether someone else can read a file, or enter a folder."""
    bit = stat.S_IXOTH if stat.S_ISDIR(status.st_mode) else stat.S_IROTH
    kind, number = other
    return bool(status.st_mode & bit or (kind == 'user' and status.st_uid == number)
                or (kind == 'group' and status.st_gid == number and status.st_mode & bit << 3))


def steps(path: str) -> Iterator[str]:
    """Yield every folder, link and file that the kernel passes on its way to *path*. Raises OSError."""
    ahead = os.path.join(os.getcwd() if not path.startswith('/') else '/', path).split('/')
    here = '/'
    links = 0
    yield here
    while ahead:
        part = ahead.pop(0)
        if part in ('', '.'):
            continue
        if part == '..':
            here = os.path.dirname(here)
            continue
        step = os.path.join(here, part)
        yield step
        if not os.path.islink(step):
            here = step
            continue
        links += 1
        if links > LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        target = os.readlink(step)
        ahead[:0] = target.split('/')
        here = '/' if target.startswith('/') else here


def _others_can_write(path: str, status: os.stat_result, trusted: set[int]) -> bool:
    if stat.S_ISLNK(status.st_mode):
        return False  # a link has no mode of its own; its folder decides
    if stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX:
        return False  # as in /tmp: what one owns there, nobody else can replace
    if status.st_mode & stat.S_IWOTH:
        return True
    # Where there is an access-control list, the bits of the group are the most that it grants to anybody.
    return bool(status.st_mode & stat.S_IWGRP) and _is_granted(_access_list(path), status.st_gid, trusted)


def _list_of(path: str) -> bytes:
    """Return the access-control list of a file; nothing where it has none."""
    try:
        return os.getxattr(path, ACL, follow_symlinks=False)
    except OSError as error:
        if error.errno not in (errno.ENODATA, errno.ENOTSUP):
            raise
    return b''


def _access_list(path: str) -> bytes:
    """Return the access-control list of a file; without one, that which says that its group may write."""
    plain = bytes(_ACL_HEAD) + _GROUP_OBJ.to_bytes(2, 'little') + _WRITE.to_bytes(2, 'little') + bytes(4)
    return _list_of(path) or plain


def _is_granted(acl: bytes, group: int, trusted: set[int]) -> bool:
    """Tell whether an access-control list lets a user beside the *trusted*, or a group other than root's, write."""
    rows = [acl[start:start + _ACL_ENTRY] for start in range(_ACL_HEAD, len(acl), _ACL_ENTRY)]
    entries = [(int.from_bytes(row[:2], 'little'), int.from_bytes(row[2:4], 'little'),
                int.from_bytes(row[4:], 'little'))
               for row in rows]
    for tag, grants, number in entries:
        is_foreign = (tag == _USER and number not in trusted) or (tag == _GROUP and number != ROOT) or (
            tag == _GROUP_OBJ and group != ROOT)
        if is_foreign and grants & _WRITE:
            return True
    return False
