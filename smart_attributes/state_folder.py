"""The folder of what lasts from one check to the next: where it is, whose it is, and acting as its owner.

Root and nagios take turns in it. Whatever is done there is done as the folder's
owner: root leaves no file that nagios cannot write, and a link that nagios
plants leads root no further than nagios itself could go. Imported before the
first process starts, so it must be cheap.
"""
from __future__ import annotations

import os

from . import trust

PACKAGE = '/var/lib/check-smart-attributes'  # made by the package, owned by the user of the checks
NAME = 'check-smart-attributes'
_MAKE_IT = 'make it, owned by the user of the check, or name another with --state-dir'
_LET_HIM = 'let the user of the check alone write there, or name another folder with --state-dir'


class Unusable(Exception):
    """Nothing can be kept; str() says where, why and what next."""


class Folder:
    """A folder that its owner, or root, alone can write to; used as a context, what is inside is done as its owner."""

    __slots__ = ('_before', 'group', 'path', 'user')

    def __init__(self, path: str, user: int, group: int) -> None:
        self.path, self.user, self.group = path, user, group
        self._before: list[int] = []

    @property
    def is_own(self) -> bool:
        """Tell whether nobody but root and who runs this could have written there."""
        return self.user in (0, os.geteuid())

    def __enter__(self) -> Folder:
        if os.geteuid() == 0 and self.user != 0:
            self._before = os.getgroups()
            os.setgroups([self.group])
            os.setegid(self.group)
            os.seteuid(self.user)
        return self

    def __exit__(self, *error: object) -> None:
        if os.getuid() == 0 and self.user != 0:
            os.seteuid(0)
            os.setegid(os.getgid())
            os.setgroups(self._before)


def location(given: str = '') -> str:
    """Return where the folder is: *given*, that of the package, or one of this user's own; '' where there is no home.

    Source: XDG Base Directory Specification, XDG_STATE_HOME.
    """
    if given or os.path.isdir(PACKAGE):
        return given or PACKAGE
    home = os.environ.get('XDG_STATE_HOME', '')
    if not home.startswith('/'):
        home = os.path.join(os.path.expanduser('~'), '.local', 'state')
    return os.path.join(home, NAME) if home.startswith('/') else ''


def ready(given: str = '') -> Folder:
    """Return the folder for who writes there; one of this user's own is made. Raises Unusable."""
    path = location(given)
    try:
        if path and not given and path != PACKAGE:
            os.makedirs(path, 0o700, exist_ok=True)
    except OSError as error:
        raise Unusable(f'{path}: {error.strerror}; {_MAKE_IT}') from None
    folder = there(given)
    if os.geteuid() not in (0, folder.user):
        raise Unusable(f'{path} belongs to another user; {_LET_HIM}')
    return folder


def there(given: str = '') -> Folder:
    """Return the folder for who only reads there. Raises Unusable where there is none, or where others could write."""
    path = location(given)
    if not path:
        raise Unusable('this user has no home folder; name a folder of its own with --state-dir')
    try:
        status = os.stat(path)
        fault = trust.fault(path, status.st_uid)
    except OSError as error:
        raise Unusable(f'{path}: {error.strerror}; {_MAKE_IT}') from None
    if fault:
        raise Unusable(f'{fault}; {_LET_HIM}')
    return Folder(path, status.st_uid, status.st_gid)


def below(folder: Folder, name: str) -> str:
    """Return the path of a folder below it, made where it is not there. Raises OSError."""
    path = os.path.join(folder.path, name)
    with folder:
        if not os.path.isdir(path):
            os.makedirs(path, 0o755, exist_ok=True)
    return path
