"""Find the state directory, which holds history and locks, and check the directory's owner.

Root and nagios both use this directory. In it, a process of root's becomes the directory's owner
(see history.folder). So root creates no file that nagios cannot write, and a link planted by nagios
gives root no more access than nagios has. This module is imported before the first process starts,
so it must be cheap.
"""

from __future__ import annotations

import os

from . import constants, trust

# made by the package, owned by the monitoring user
PACKAGE = '/var/lib/check-smart-attributes'
NAME = 'check-smart-attributes'
HISTORY = 'history'  # the folder below it that holds the history
WAITING = 'waiting'  # the folder of locks, see for_locks()
# owned by root, for locks; like processes, it does not survive a reboot
RUN = f'{constants.RUN}/{NAME}'
_HOME = '~/.local/state'
# the next step in the message about a directory that is missing, or that others can write to
_CREATE = 'create it, owned by the monitoring user, or use another one with --state-dir'
_RESTRICT = 'let only the monitoring user write to it; or use another directory with --state-dir'


class Unusable(Exception):
    """The state directory cannot be used; str() gives the path, the reason and the next step.

    what, remedy: the two parts of the sentence. path: the faulty path or ''. is_open: others can
    write to *path*.
    """

    def __init__(
        self,
        what: str,
        remedy: str = '',
        path: str = '',
        is_open: bool = False,
    ) -> None:
        super().__init__(f'{what}; {remedy}' if remedy else what)
        self.what, self.remedy, self.path, self.is_open = what, remedy, path, is_open


class StateDirectory:
    """A directory writable only by its owner and root."""

    def __init__(self, path: str, user: int, group: int) -> None:
        self.path, self.user, self.group = path, user, group


def location(state_dir: str) -> str:
    """Return the path of the state directory: *state_dir* if it is not '', else PACKAGE if it exists,
    else this user's own directory, which may be missing, else '' if the user has no home.

    Source: XDG Base Directory Specification, XDG_STATE_HOME.
    """
    if state_dir:
        return state_dir
    if os.path.isdir(PACKAGE):
        return PACKAGE
    return _of_environment(_HOME)


def _of_environment(home: str = '') -> str:
    """Return this user's own state directory, below XDG_STATE_HOME, else below *home*; '' if
    neither is absolute.
    """
    homes = os.environ.get('XDG_STATE_HOME', ''), os.path.expanduser(home)
    for folder in homes:
        if folder.startswith('/'):
            return os.path.join(folder, NAME)
    return ''


def has_a_place(state_dir: str) -> bool:
    """Return whether there is a place for the state directory: *state_dir*, PACKAGE, or an existing
    home; False for a user without a home directory, such as nobody.
    """
    place = location(state_dir)
    if not place:
        return False
    if place in (state_dir, PACKAGE):
        return True
    homes = (os.environ.get('XDG_STATE_HOME', ''), os.path.expanduser('~'))
    return any(map(os.path.isdir, homes))


def ready(state_dir: str) -> StateDirectory:
    """Return the state directory for writing; create the directory if it is this user's own.

    Raises Unusable.
    """
    path = location(state_dir)
    # An admin creates *state_dir*, the package creates PACKAGE, and '' means that this user has no
    # home. If such a directory is missing, there() raises Unusable.
    is_own = path not in (state_dir, PACKAGE, '')
    if is_own:
        try:
            os.makedirs(path, 0o700, exist_ok=True)
        except OSError as error:
            raise Unusable(f'{path}: {error.strerror}', _CREATE, path) from None
    directory = there(state_dir)
    if os.geteuid() not in (0, directory.user):
        raise Unusable(f'{path} belongs to another user', _RESTRICT, path)
    return directory


def there(state_dir: str) -> StateDirectory:
    """Return the state directory for reading.

    Raises Unusable if the directory is missing or others can write to it.
    """
    path = location(state_dir)
    if not path:
        raise Unusable(
            'this user has no home directory',
            'give this user a state directory with --state-dir',
        )
    try:
        status = os.stat(path)
        fault = trust.fault(path, status.st_uid)
    except OSError as error:
        raise Unusable(f'{path}: {error.strerror}', _CREATE, path) from None
    if isinstance(fault, trust.PathFault):
        raise Unusable(fault, _RESTRICT, path=fault.path, is_open=fault.is_open)
    return StateDirectory(path, status.st_uid, status.st_gid)


def for_locks(name: str, state_dir: str) -> str:
    """Return the path of the lock folder *name*, which only this user and root can write to. Create
    the folder if it is missing.

    All checks of one user share the folder. state_dir: the argument of --state-dir, used only if the
    default places are unusable. Raises Unusable.
    """
    fault = 'this user has no home directory'  # if there is no place at all
    for place in _places_of_locks(state_dir):
        path = os.path.join(place, name)
        try:
            # The package or an admin creates these two.
            fault = _prepare(place, path, must_exist=place in (state_dir, PACKAGE))
        except OSError as error:
            fault = f'{error.filename}: {error.strerror}'
        if not fault:
            return path
    raise Unusable(fault, _RESTRICT)


def _places_of_locks(state_dir: str) -> list[str]:
    """Return the directories that may hold locks, in order of preference; [] if there are none."""
    if os.geteuid() == trust.ROOT:
        places = [_of_environment(), RUN, state_dir]
    else:
        package = PACKAGE if os.path.isdir(PACKAGE) else ''
        places = [package, _of_environment(_HOME), state_dir]
    return [place for place in places if place]


def _prepare(place: str, path: str, must_exist: bool) -> str:
    """Return why the lock folder *path* cannot be used; '' if it can. Create it if it is missing.

    *place*, the directory for this folder, is created as well if it is missing. But if it
    *must_exist* and is missing, nothing is created, and OSError is raised. Other errors raise
    OSError, too.
    """
    user = os.geteuid()
    if not os.path.isdir(path):
        if not must_exist:
            os.makedirs(place, 0o755 if user == trust.ROOT else 0o700, exist_ok=True)
        # If *place* must exist but is missing, trust.fault() raises OSError.
        fault = trust.fault(place, user)
        if fault:
            return fault
        # Now *place* exists, so only *path* is created. A parallel check may have done so already.
        os.makedirs(path, 0o755, exist_ok=True)
    fault = trust.fault(path, user)
    if fault:
        return fault
    if not os.access(path, os.W_OK | os.X_OK):
        return f'{path} is not writable'
    return ''
