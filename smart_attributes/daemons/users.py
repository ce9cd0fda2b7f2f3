"""The users whose processes run checks: become one of them, and tell a person from a service."""

import grp  # imported early: after become() the library may be unreadable
import os
import pwd

from ..errors import UsageError


def is_person(number: int) -> bool:
    """Return whether a user is a person, not a service account.

    Source: login.defs(5), UID_MIN, UID_MAX.
    """
    return 1000 <= number <= 60000


def group_of(user: str) -> str:
    """Return the name of a user's primary group; the user's name if that group has no name, or if
    the user does not exist.
    """
    try:
        return grp.getgrgid(pwd.getpwnam(user).pw_gid).gr_name
    except KeyError:
        return user


def become(user: str) -> None:
    """Become another user permanently, with the user's groups and home, as if a daemon started a
    check.

    Raises UsageError if the user does not exist, or if this process is not root.
    """
    try:
        entry = pwd.getpwnam(user)
    except KeyError:
        raise UsageError(
            f'user {user} does not exist; name the user that runs the checks, such as nagios, icinga or naemon'
        ) from None
    number = entry.pw_uid
    group = entry.pw_gid
    if number == os.geteuid():
        return
    if os.geteuid() != 0:
        raise UsageError(
            f'only root can use --user {user}; run doctor as root, or omit --user as {user}'
        )
    os.initgroups(user, group)
    os.setresgid(group, group, group)
    os.setresuid(number, number, number)
    os.environ.pop('XDG_STATE_HOME', None)  # root's value does not apply to the daemon
    os.environ.update(HOME=entry.pw_dir, USER=user, LOGNAME=user)
    os.chdir('/')
