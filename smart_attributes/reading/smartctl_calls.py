"""The command lines of smartctl: program and arguments, with or without sudo.

This module is imported before the first process starts, so it must be cheap: see the note in
`processes`.
"""

from __future__ import annotations

import os
import stat

from .. import trust
from ..constants import IS_FREEBSD, SMARTCTL

# see typed, which would load collections before the first process starts
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from ..model import Answer

    Command = tuple[str, ...]

# The whole environment of smartctl and of sudo. LC_ALL=C keeps thousands separators and translated
# words out of the output.
ENVIRONMENT = {
    'LC_ALL': 'C',
    'PATH': '/usr/sbin:/usr/bin:/sbin:/bin' + ':/usr/local/bin' * IS_FREEBSD,
}

# The command lines. The sudoers rule, the simulator and the benchmarks depend on every word and on
# the order. Only SCSI disks have the page "background", which the JSON contains since 7.3. "-l
# defects" is not needed: "-l error" prints the SCSI page, and the device statistics contain the ATA
# count.
LOGS = ('error', 'selftest', 'devstat', 'ssd', 'background')
JSON = ('--json=c',)
FARM = (*JSON, '-l', 'farm')  # not used by a check, and not allowed by the sudoers rule
SCAN = (*JSON, '--scan')
VERSION = ('--version',)
# Vendor log pages. A page is read only from NVMe models whose database entry names it, because the
# man page warns that reading other pages may have side effects.
PAGES = ('0xC0', '0xCA', '0xD0', '0xE1')


def read_arguments(
    path: str, device_type: str = '', skip: Collection[str] = ()
) -> Command:
    """Return the arguments that read one drive.

    skip: members of LOGS that must not be read because reading them can harm this drive, such as
    {"selftest"}.
    """
    logs: list[str] = []
    for log in LOGS:
        if log not in skip:
            logs += '-l', log
    standby = '--nocheck=standby'
    return (*JSON, standby, '-i', '-H', '-A', *logs, *_of_type(device_type), path)


def farm_arguments(path: str, device_type: str) -> Command:
    """Return the arguments that read the FARM log of a Seagate disk; this needs smartctl 7.4."""
    return (*FARM, *_of_type(device_type), path)


def _of_type(device_type: str) -> Command:
    return ('-d', device_type) if device_type else ()


def page_arguments(page: str, controller: str) -> Command:
    """Return the arguments that read one page, such as "0xC0", of an NVMe controller, such as
    "/dev/nvme0".
    """
    # "u" adds the dump to the JSON, which has no key for it
    return ('--json=cu', '-l', f'nvmelog,{page},0x200', controller)


def is_refused(answer: Answer) -> bool:
    """Return whether sudo refused a command because no rule allows it.

    Source: sudo 1.9, plugins/sudoers/check.c and logging.c; sudo-rs 0.2, src/common/error.rs.
    """
    words = (
        b'password is required',
        b'is not allowed to execute',
        b'authentication is required',
        b"I'm afraid I can't do that",
    )
    return (
        is_behind_sudo(answer.command)
        and not answer.stdout
        and any(phrase in answer.stderr for phrase in words)
    )


def prefix(executable: str, nosudo: bool) -> Command:
    """Return the beginning of the command, before the arguments: `sudo -n` (unless the user is
    root) and smartctl.

    Raises UsageError if sudo is needed but missing.
    """
    if nosudo or os.geteuid() == 0:
        return (executable,)
    return (find_sudo(), '-n', executable)


def arguments_in(command: Command) -> Command:
    """Return the arguments of smartctl in a command, which may begin with sudo."""
    return command[3:] if is_behind_sudo(command) else command[1:]


def is_behind_sudo(command: Command) -> bool:
    """Return whether a command is run through sudo."""
    return command[1:2] == ('-n',)


def find_sudo() -> str:
    """Return sudo's absolute path. Raises UsageError if sudo is missing.

    The caller's PATH is used, which gives the caller no additional rights.
    """
    path = program('sudo', f'{os.environ.get("PATH", "")}:{ENVIRONMENT["PATH"]}')
    if path:
        return path
    from ..errors import UsageError

    raise UsageError(
        'sudo is not installed, and only root may read drives; install sudo, '
        'or use --nosudo if this user may run smartctl directly',
        'sudo-missing',
    )


def program(name: str, folders: str) -> str:
    """Return the absolute path of a program in the first of these folders that has it; '' if none
    has.

    folders: separated by colons; relative ones are ignored.
    """
    for folder in folders.split(':'):
        path = os.path.join(folder, name)
        if path.startswith('/') and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return ''


def check_executable(path: str, as_root: bool, through_sudo: bool) -> None:
    """Raise UsageError unless *path* can be run as smartctl and is safe to run.

    as_root: the check runs as root, so no other user may be able to change the file. through_sudo:
    sudo runs the file, so this user only needs to see that it exists.
    """
    fault = _fault(path, as_root, through_sudo)
    if fault:
        from ..errors import UsageError

        raise UsageError(f'{path}: {fault}', 'smartctl-missing')


def _fault(path: str, as_root: bool, through_sudo: bool) -> str:
    """Return why a program must not be run as smartctl, '' if it may; see check_executable()."""
    if not path.startswith('/'):
        return f'not an absolute path; give the path of smartctl with -p, such as {SMARTCTL}'
    try:
        status = os.stat(path)
    except PermissionError:
        unseen = 'this user cannot access it; use sudo, or give another path with -p'
        return '' if through_sudo else unseen
    except (OSError, ValueError):
        return 'file not found; install smartmontools, or give the path of smartctl with -p'
    if not stat.S_ISREG(status.st_mode):
        return f'not a program; give the path of smartctl with -p, such as {SMARTCTL}'
    if not through_sudo and not os.access(path, os.X_OK):
        return 'this user cannot execute it; check its mode, or give the path of smartctl with -p'
    # another user could have replaced the program
    foreign = trust.fault(path, trust.ROOT) if as_root else ''
    return (
        f'other users can change this program ({foreign}), so it is not run as root; use {SMARTCTL}'
        if foreign
        else ''
    )


def version(stdout: bytes) -> tuple[int, ...]:
    """Return smartctl's version, such as (7, 3), from the output of VERSION; () if missing.

    "smartctl 7.3 2022-02-28 r5338 …", "smartctl pre-7.4 …", "smartctl version 5.38 …".
    """
    import re  # only doctor needs it

    line = re.match(rb'smartctl (?:version )?(?:pre-)?(\d{1,4})\.(\d{1,4})\b', stdout)
    return tuple(map(int, line.groups())) if line else ()
