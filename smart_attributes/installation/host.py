"""Facts about this host that an installation depends on."""
from __future__ import annotations

import glob
import os
import pwd

from .. import files
from ..errors import SmartError, UsageError
from ..reading import smartctl_calls, sudoers
from ..state_directory import PACKAGE as STATE
from ..typed import TYPE_CHECKING
from .changes import ROOT
from .disk import Disk
from .parts import USERS, Facts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..model import HowRead
    from ..reading.processes import Runner

README = os.path.join(files.PROGRAM, 'installation', 'README')
_EXAMPLE = 'example-site.json'
_EXAMPLES = ('/usr/local/share/doc/check-smart-attributes', '/usr/share/doc/*check-smart-attributes*',
             '/usr/share/doc/packages/*check-smart-attributes*', '/usr/share/doc/*check-smart-attributes*/examples')


def facts(named: Sequence[str], again: str, how: HowRead, runner: Runner, drives: sudoers.Drives, disk: Disk) -> Facts:
    """Return the facts. named: users of the command line. again: command that repeats the installation.

    drives: returns the drives, for a sudo without regular expressions. Raises UsageError for a user that is missing.
    """
    users = monitoring_users(named)
    rule, why = _rule(users, how, runner, drives) if users else ('', '')
    owner = disk.look([STATE]).get(STATE)
    return Facts(users, rule, why, owner.owner if owner and owner.owner != ROOT else '', _readme(disk), again)


def monitoring_users(named: Sequence[str] = ()) -> list[str]:
    """Return the users that run checks: those named, else the usual ones that exist. Raises UsageError."""
    missing = [user for user in named if not _exists(user)]
    if missing:
        raise UsageError(f'user {missing[0]} does not exist; name the user that runs the checks, such as {USERS[0]}')
    return list(dict.fromkeys(named)) or [user for user in USERS if _exists(user)]


def _exists(user: str) -> bool:
    try:
        return bool(pwd.getpwnam(user))
    except KeyError:
        return False


def _rule(users: Sequence[str], how: HowRead, runner: Runner, drives: sudoers.Drives) -> tuple[str, str]:
    """Return the text of a rule for all users and '', or '' and why it cannot be written."""
    try:
        smartctl_calls.find_sudo()
    except UsageError:
        return '', 'sudo is not installed; install it'
    try:
        texts = [sudoers.text(sudoers.RuleRequest(user), how, runner, drives) for user in users]
    except SmartError as error:
        return '', str(error)
    return '\n'.join([*texts, '']), ''


def _readme(disk: Disk) -> str:
    found = (path for pattern in _EXAMPLES for path in glob.glob(disk.at(f'{pattern}/{_EXAMPLE}')))
    example = next(found, f'thresholds/{_EXAMPLE} of the source archive')
    return files.content(README, files.LARGEST).decode().replace('{example}', example)
