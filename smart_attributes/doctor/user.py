"""As whom checks run, and becoming that user: his rights show by using them."""
from __future__ import annotations

import grp  # all at once: after become() the library may be out of reach
import os
import pwd

from ..command_line.options import PROGRAM, USER
from ..errors import UsageError

AS_HIM = f'look as the user of the checks instead (as root: {PROGRAM} doctor --user {USER})'


def name() -> str:
    """Return the name of the user of this process, the number where there is no name."""
    return name_of(os.geteuid())


def name_of(number: int) -> str:
    """Return the name of a user, the number where there is no name."""
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


def is_person(number: int) -> bool:
    """Tell whether a user is one who logs in, rather than one of a daemon. Source: login.defs(5), UID_MIN, UID_MAX."""
    return 1000 <= number <= 60000


def group_of(user: str) -> str:
    """Return the name of a user's own group, that of the user where there is no group."""
    try:
        return grp.getgrgid(pwd.getpwnam(user).pw_gid).gr_name
    except KeyError:
        return user


def become(user: str) -> None:
    """Go on as another user, with his groups and his home, as a daemon starts a check; there is no way back.

    Raises UsageError where there is no such user, or where this is not root.
    """
    try:
        entry = pwd.getpwnam(user)
    except KeyError:
        raise UsageError(f'there is no user {user}; name the one who runs the checks: nagios, icinga, naemon') from None
    number, group = entry.pw_uid, entry.pw_gid
    if number == os.geteuid():
        return
    if os.geteuid() != 0:
        raise UsageError(f'only root can look at an installation as {user}; run this as root, or as {user} without '
                         f'--user')
    os.initgroups(user, group)
    os.setresgid(group, group, group)
    os.setresuid(number, number, number)
    os.environ.pop('XDG_STATE_HOME', None)  # the one of root's session is not the daemon's
    os.environ.update(HOME=entry.pw_dir, USER=user, LOGNAME=user)
    os.chdir('/')
