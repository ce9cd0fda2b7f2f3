"""Become the monitoring user, start the program and smartctl as this user, and find what
prevents the start.
"""

from __future__ import annotations

import grp  # imported early: after become() the library may be unreadable
import os
import pwd
import re
import shlex
import stat
import sys
from collections.abc import Iterator
from typing import NamedTuple

from .. import files, trust
from ..command_line.options import PROGRAM, USER
from ..constants import LARGEST_FILE, SMARTCTL
from ..errors import UsageError
from ..model import Answer, HowRead
from ..output.doctor_findings import Finding, found, said
from ..reading import processes, smartctl_calls
from ..words import clean

AS_HIM = f'run doctor for the monitoring user instead (as root: {PROGRAM} doctor --user {USER})'
PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# directories that Python must be able to list
LISTED = (os.path.dirname(PACKAGE), os.path.dirname(os.__file__))
_NOEXEC = getattr(os, 'ST_NOEXEC', 0)  # on FreeBSD, Python lacks this constant
_SHOWN = 300  # characters of the program's output


def name_of(number: int) -> str:
    """Return the name of the user with this ID, or the ID if the user has no name."""
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


def is_person(number: int) -> bool:
    """Return whether a user is a person, not a service account.

    Source: login.defs(5), UID_MIN, UID_MAX.
    """
    return 1000 <= number <= 60000


def group_of(user: str) -> str:
    """Return the name of a user's primary group, or the user's name if that group has no name."""
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
            f'user {user} does not exist; name the user that runs the checks, such as nagios, '
            f'icinga or naemon'
        ) from None
    number, group = entry.pw_uid, entry.pw_gid
    if number == os.geteuid():
        return
    if os.geteuid() != 0:
        raise UsageError(
            f'only root can examine an installation as {user}; run doctor as root, or as {user} '
            f'without --user'
        )
    os.initgroups(user, group)
    os.setresgid(group, group, group)
    os.setresuid(number, number, number)
    os.environ.pop('XDG_STATE_HOME', None)  # root's value does not apply to the daemon
    os.environ.update(HOME=entry.pw_dir, USER=user, LOGNAME=user)
    os.chdir('/')


class Barrier(NamedTuple):
    """A path that the program needs and for which this user lacks permission."""

    path: str
    code: str  # code of the finding
    mode: int = 0  # permission bits
    owner: str = ''
    whom: str = 'o'  # the user's permission class, as chmod names it: u, g, o


def examine(
    path: str, user: str, how: HowRead, runner: processes.Runner, deadline: float
) -> Finding:
    """Start the program at a path as this user, and return the finding."""
    answer = next(runner.run([command(path)], how.drive_timeout, deadline))
    if is_started(answer):
        version = clean(answer.stdout.decode(errors='replace').partition(' ')[2], limit=200)
        return found('program-starts', path=path, user=user, version=version)
    return finding(path, user, answer, next(_barriers(path), None))


def command(path: str) -> tuple[str, ...]:
    """Return the command that starts the program, using this Python if the file itself is not
    executable.
    """
    try:
        is_executable = bool(os.stat(path).st_mode & 0o111)
    except OSError:
        is_executable = True
    return (path, '-V') if is_executable else (sys.executable, path, '-V')


def _barriers(program: str) -> Iterator[Barrier]:
    """Yield the paths that this user may not enter, read or execute."""
    rights = {
        program: os.R_OK | (os.X_OK if command(program)[0] == program else 0),
        sys.executable: os.X_OK,
        **dict.fromkeys((*LISTED, PACKAGE), os.R_OK | os.X_OK),
    }
    for path, needed in rights.items():
        yield from _on_the_way(os.path.realpath(path), needed)
    for folder, below, names in os.walk(PACKAGE):
        for name in (*below, *(name for name in names if not name.endswith('.pyc'))):
            path = os.path.join(folder, name)
            if not os.access(path, os.R_OK | (os.X_OK if name in below else 0)):
                yield _barrier(path, 'package-not-readable')


def _on_the_way(path: str, needed: int) -> Iterator[Barrier]:
    steps = path.split('/')
    for folder in ('/'.join(steps[:number]) or '/' for number in range(1, len(steps))):
        if os.path.isdir(folder) and not os.access(folder, os.X_OK):
            yield _barrier(folder, _code(folder))
            return
    if os.path.exists(path) and not os.access(path, needed):
        is_noexec = os.statvfs(path).f_flag & _NOEXEC and os.stat(path).st_mode & 0o111
        yield Barrier(_mount(path), 'mounted-noexec') if is_noexec else _barrier(path, _code(path))


def _code(path: str) -> str:
    if path in LISTED:  # Python lists the files in these to find modules
        return 'directory-not-listed'
    return (
        'package-not-readable'
        if path == PACKAGE
        else 'directory-closed'
        if os.path.isdir(path)
        else 'program-not-executable'
    )


def _mount(path: str) -> str:
    """Return the mount point of the file system that holds a path."""
    while not os.path.ismount(path):
        path = os.path.dirname(path)
    return path


def _barrier(path: str, code: str) -> Barrier:
    try:
        status = os.stat(path)
    except OSError:  # removed in the meantime
        return Barrier(path, code)
    return Barrier(
        path,
        code,
        stat.S_IMODE(status.st_mode),
        name_of(status.st_uid),
        whom(status.st_uid, status.st_gid, os.geteuid(), {os.getegid(), *os.getgroups()}),
    )


# --- interpretation; pure -----------------------------------------------------------------


def whom(owner: int, group: int, user: int, groups: set[int]) -> str:
    """Return the permission class that applies to a user, as chmod names it: u, g or o."""
    return 'u' if owner == user else 'g' if group in groups else 'o'


def is_started(answer: Answer) -> bool:
    """Return whether the answer came from this program."""
    return answer.status == 0 and answer.stdout.startswith(PROGRAM.encode())


def finding(path: str, user: str, answer: Answer, barrier: Barrier | None) -> Finding:
    """Return the finding for a program that does not start. barrier: path that prevents it; None if
    unknown.
    """
    if barrier:
        return found(
            barrier.code,
            user=user,
            path=path,
            obstacle=barrier.path,
            mode=f'{barrier.mode:04o}',
            owner=barrier.owner,
            package=PACKAGE,
            whom=barrier.whom,
        )
    ending = answer.reason or (
        f'signal {answer.signal}' if answer.status is None else f'exit status {answer.status}'
    )
    printed = (answer.stderr or answer.stdout).decode('utf-8', 'replace').strip()[:_SHOWN]
    reason = f'{ending}{": " if printed else ""}{printed}'
    return found(
        'program-does-not-start',
        user=user,
        path=path,
        reason=reason,
        call=shlex.join(command(path)),
    )


# --- smartctl: whether it exists, whether root may trust it, and its version ------------------

FIRST_WITH_JSON = (7, 0)
# exists if the package is installed, even if its smartctl was deleted
REMAINS = '/usr/sbin/smartd'
# Paths where distributions and local builds install smartctl, the usual path first.
PLACES = (
    SMARTCTL,
    '/usr/local/sbin/smartctl',
    '/usr/bin/smartctl',
    '/usr/local/bin/smartctl',
    '/opt/smartmontools/sbin/smartctl',
)

ROOT = '/'  # the folder to use as /


class Installer(NamedTuple):
    """The commands that install packages, without the names of the packages."""

    install: str
    reinstall: str


# Word of ID or ID_LIKE in os-release(5) -> commands; the first match counts. Other systems get
# Debian's commands.
INSTALLERS = {
    'debian': Installer('apt install', 'apt install --reinstall'),
    'arch': Installer('pacman -S', 'pacman -S'),
    'suse': Installer('zypper install', 'zypper install --force'),
    **dict.fromkeys(('rhel', 'fedora'), Installer('dnf install', 'dnf reinstall')),
    'freebsd': Installer('pkg install', 'pkg install --force'),
}


def examine_smartctl(how: HowRead, runner: processes.Runner, deadline: float) -> Finding:
    """Start smartctl without root rights and return the finding for smartctl. deadline:
    time.monotonic() value.
    """
    path = how.smartctl
    try:
        smartctl_calls.check_executable(path, as_root=False, through_sudo=not how.nosudo)
    except UsageError as error:
        return _missing(str(error), path)
    version = None
    if os.path.exists(path) and not os.stat(path).st_mode & 0o111:
        return found('smartctl-not-executable', path=path)
    if os.access(path, os.X_OK):
        answer = next(runner.run([(path, *smartctl_calls.VERSION)], how.drive_timeout, deadline))
        version = smartctl_calls.version(answer.stdout)
        if answer.outcome != 'done' and not version:
            return _again(found('smartctl-silent', path=path, reason=answer.reason))
    try:
        fault = '' if how.nosudo and os.geteuid() else trust.fault(path, trust.ROOT)
    except OSError:  # this user may not read the folder; root can
        fault = ''
    if fault:
        return found('smartctl-not-trusted', path=path, fault=fault)
    return _of_version(path, version)


def _of_version(path: str, version: tuple[int, ...] | None) -> Finding:
    """Return the finding for a smartctl that root may run.

    version: such as (7, 3); () if not printed; None if this user may not run smartctl.
    """
    if version is None:
        return found('smartctl-for-root', path=path)
    if not version:
        return _again(found('smartctl-unidentified', path=path))
    number = '.'.join(map(str, version))
    if version < FIRST_WITH_JSON:
        return found(
            'smartctl-without-json', path=path, version=number, install=installer().install
        )
    return found('smartctl-found', path=path, version=number)


def _again(finding: Finding) -> Finding:
    """Return the finding for a smartctl that does not work, with the command that reinstalls the
    package's smartctl.
    """
    if finding.fields['path'] != SMARTCTL:
        return finding
    return finding._replace(
        remedy='install smartmontools again', command=f'{installer().reinstall} smartmontools'
    )


def _missing(sentence: str, path: str) -> Finding:
    """Return the finding for a path without smartctl, made from the error sentence."""
    elsewhere = next(filter(os.path.isfile, PLACES), '')
    if elsewhere and elsewhere != path:
        return said('smartctl-elsewhere', sentence, path=path, elsewhere=elsewhere)
    if os.path.lexists(path):
        return said('smartctl-not-usable', sentence, path=path)
    command = installer().reinstall if os.path.lexists(REMAINS) else installer().install
    return said('smartctl-not-installed', sentence, path=path, install=command)


def installer() -> Installer:
    """Return the commands that install packages on this system."""
    release = files.text(f'{ROOT}/etc/os-release', LARGEST_FILE)
    words = ' '.join(
        re.findall(r'^ID(?:_LIKE)?=["\']?([a-z0-9._ -]*)', release, re.MULTILINE)
    ).split()
    return next((each for name, each in INSTALLERS.items() if name in words), INSTALLERS['debian'])
