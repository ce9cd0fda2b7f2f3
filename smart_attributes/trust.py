"""Trust: whether another user could change the file at a path.

The same rule applies to programs and data files.

This module is imported before the first process starts, so it imports only cheap modules.
"""

from __future__ import annotations

import errno
import os
import stat

# see typed, which would load collections before the first process starts
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = 0
LINKS = 40  # links that one path may pass; the limit of the kernel
ACL = 'system.posix_acl_access'
# Source: Linux, include/uapi/linux/posix_acl.h and posix_acl_xattr.h.
_ACL_HEAD, _ACL_ENTRY = 4, '<HHI'  # bytes; tag, permissions, user or group
_USER = 0x02
_GROUP_OBJ = 0x04
_GROUP = 0x08
_WRITE = 2


class PathFault(str):
    """The reason not to rely on a path: a sentence that begins with the folder, link or file
    that is to blame.
    """

    path: str
    is_open: bool  # other users can write there

    def __new__(cls, path: str, words: str, is_open: bool = False) -> PathFault:
        """Return the sentence made of *path* and *words*."""
        fault = super().__new__(cls, f'{path} {words}')
        fault.path, fault.is_open = path, is_open
        return fault


def fault(path: str, user: int) -> str:
    """Return why *user* should not trust the file at *path*, as a PathFault, or '' if only this user
    or root can change it.

    Every folder, link and file on the way is examined. Raises OSError if any is missing or cannot
    be examined.
    """
    trusted = {ROOT, user}
    owners = 'root' if user == ROOT else 'root or to you'
    for part in steps(path):
        status = os.lstat(part)
        if status.st_uid not in trusted:
            return PathFault(part, f'does not belong to {owners}')
        if _others_can_write(part, status, trusted):
            return PathFault(part, 'is writable by others', is_open=True)
    return ''


def foreign_secret(path: str, status: os.stat_result) -> str:
    """Return why a file's content must not be shown; '' if it can be shown.

    The attack: a user who cannot read a file replaces a part of *path* by a link to this file. Root
    follows the link and quotes the file in an error message, which the user can read. So all users
    who can change a part of the way must be able to enter each later folder, and to read the file.
    For example, bob can change /srv/bob, so /srv/bob/report can be shown only if bob can read it.
    A file that was replaced after it was opened is not shown, either.

    status: os.fstat() of the opened file. Raises OSError if a folder on the way cannot be examined.
    """
    trusted = {ROOT, os.geteuid()}
    # who can change one of the parts before *part*
    changers: set[tuple[str, int]] = set()
    for part in steps(path):
        part_status = os.lstat(part)
        # A link can be read by everybody, and the file behind it is a later part.
        all_can_read = stat.S_ISLNK(part_status.st_mode) or all(
            _is_open(part_status, changer) for changer in changers
        )
        if not all_can_read:
            return f'the path may contain a link made by a user who has no access to {part}; {_COPY}'
        # They are added after the test of this part: they can redirect only the way behind it.
        changers |= _changers(part, part_status, trusted)
    # The last part of the way is the file that *path* names now.
    if not os.path.samestat(part_status, status):
        return f'another file replaced it in the meantime; {_COPY}'
    return ''


_COPY = 'copy it to a directory that nobody else can write to'


def _changers(
    path: str, status: os.stat_result, trusted: set[int]
) -> set[tuple[str, int]]:
    """Return who else can change a file, or the files in a folder: ("user", uid), ("group",
    gid), or ("anybody", 0); set() if only the trusted users can.
    """
    changers = set() if status.st_uid in trusted else {('user', status.st_uid)}
    if _others_can_write(path, status, trusted):
        is_world_writable = bool(status.st_mode & stat.S_IWOTH)
        # An access-control list can name several users and groups; they count as anybody.
        if is_world_writable or access_list(path):
            changers.add(('anybody', 0))
        else:
            changers.add(('group', status.st_gid))
    return changers


def _is_open(status: os.stat_result, reader: tuple[str, int]) -> bool:
    """Return whether a reader, as _changers() names it, can read a file or enter a folder."""
    bit = stat.S_IXOTH if stat.S_ISDIR(status.st_mode) else stat.S_IROTH
    if status.st_mode & bit or reader == ('user', status.st_uid):
        return True
    # the same permission for the group is three bits higher
    group_bit = bit << 3
    return bool(status.st_mode & group_bit) and reader == ('group', status.st_gid)


def steps(path: str) -> Iterator[str]:
    """Yield every folder, link and file that the kernel passes on its way to *path*, beginning
    with "/".

    Raises OSError.
    """
    begin = '/' if path.startswith('/') else os.getcwd()
    ahead = os.path.join(begin, path).split('/')
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
        ahead[:0] = target.split('/')  # the target of a link comes before the rest
        if target.startswith('/'):
            here = '/'


def _others_can_write(path: str, status: os.stat_result, trusted: set[int]) -> bool:
    """Return whether a user who is not trusted can write a file, or replace the files in a folder."""
    if stat.S_ISLNK(status.st_mode):
        return False  # a link has no mode of its own; the mode of its folder decides
    if stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX:
        # a sticky folder, such as /tmp: only the owner of a file can replace it
        return False
    if status.st_mode & stat.S_IWOTH:
        return True
    # With an access-control list, the group bits are the most that the list grants to any user or
    # group.
    return bool(status.st_mode & stat.S_IWGRP) and _is_granted(
        access_list(path), status.st_gid, trusted
    )


def access_list(path: str) -> bytes:
    """Return the access-control list of a file; b'' if there is no such list, or if Python
    cannot read it here.
    """
    if not hasattr(os, 'getxattr'):  # as on FreeBSD
        return b''
    try:
        return os.getxattr(path, ACL, follow_symlinks=False)
    except OSError as error:
        if error.errno not in (errno.ENODATA, errno.ENOTSUP):
            raise
    return b''


def _is_granted(acl: bytes, group: int, trusted: set[int]) -> bool:
    """Return whether an untrusted user or a group other than root's can write a file whose group
    bits allow writing.

    group: of the file. acl: its access-control list; b'' if it has none. With such a list, the group
    bits are only a mask, and the list says which users and groups can write. trusted: user ids.
    """
    if not acl:
        return group != ROOT
    from struct import iter_unpack

    for tag, grants, number in iter_unpack(_ACL_ENTRY, acl[_ACL_HEAD:]):
        is_untrusted = {
            _USER: number not in trusted,
            _GROUP: number != ROOT,
            _GROUP_OBJ: group != ROOT,  # the list has no number for this group
        }
        # Other tags repeat bits of the mode, which the caller has examined: those of the owner, the
        # mask, and all other users.
        if grants & _WRITE and is_untrusted.get(tag, False):
            return True
    return False
