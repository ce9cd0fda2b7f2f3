"""Examine smartctl: whether it exists, whether root may trust it, and its version."""
from __future__ import annotations

import os
import re
import shlex
from typing import NamedTuple

from .. import files, trust
from ..constants import SMARTCTL
from ..errors import UsageError
from ..model import HowRead
from ..output.doctor_findings import Finding, halves
from ..reading import processes, smartctl_calls
from ..reading.sudoers import FIRST_WITH_JSON

SUBJECT = 'smartctl'
REMAINS = '/usr/sbin/smartd'   # where the package is installed, but its smartctl was deleted
# Paths that distributions and local builds install it to, the usual one first.
PLACES = (SMARTCTL, '/usr/local/sbin/smartctl', '/usr/bin/smartctl', '/usr/local/bin/smartctl',
          '/opt/smartmontools/sbin/smartctl')

ROOT = '/'   # the folder that is taken for /


class Installer(NamedTuple):
    """The words before the names of packages."""

    install: str
    reinstall: str


# By a word of ID or ID_LIKE in os-release(5); the first that fits. Another system gets the words of Debian.
INSTALLERS = {
    'debian': Installer('apt install', 'apt install --reinstall'),
    'suse': Installer('zypper install', 'zypper install --force'),
    'rhel': Installer('dnf install', 'dnf reinstall'),
    'fedora': Installer('dnf install', 'dnf reinstall'),
    'arch': Installer('pacman -S', 'pacman -S'),
    'freebsd': Installer('pkg install', 'pkg install --force')}


def examine(how: HowRead, runner: processes.Runner, deadline: float) -> Finding:
    """Start smartctl without root rights and return the finding for it. deadline: time.monotonic() value."""
    path = how.smartctl
    try:
        smartctl_calls.check_executable(path, as_root=False, through_sudo=not how.nosudo)
    except UsageError as error:
        return missing(str(error), path, next(filter(os.path.isfile, PLACES), ''))
    version = None
    if os.path.exists(path) and not os.stat(path).st_mode & 0o111:
        return Finding(SUBJECT, False, f'{path} is not executable', 'make it executable',
                       f'chmod 0755 {shlex.quote(path)}')
    if os.access(path, os.X_OK):
        answer = next(runner.run([(path, *smartctl_calls.VERSION)], 1, how.drive_timeout, deadline))
        version = smartctl_calls.version(answer.stdout)
        if answer.outcome != 'done' and not version:
            return Finding(SUBJECT, False, f'{path} does not answer: {answer.reason}', *_again(path))
    try:
        fault = '' if how.nosudo and os.geteuid() else trust.fault(path, trust.ROOT)
    except OSError:  # this user may not read the folder; root can
        fault = ''
    return finding(path, version, fault)


def _again(path: str) -> tuple[str, str]:
    """Return the next step and its command for a smartctl that exists but does not work."""
    if path == SMARTCTL:
        return 'install smartmontools again', f'{installer().reinstall} smartmontools'
    return 'look at its output', f'{path} {" ".join(smartctl_calls.VERSION)}'


def missing(sentence: str, path: str, elsewhere: str) -> Finding:
    """Return the finding for a path without smartctl, from the error sentence.

    elsewhere: path of an existing smartctl, or ''.
    """
    words, advice = halves(sentence)
    if elsewhere and elsewhere != path:
        return Finding(SUBJECT, False, words, f'smartctl is at {elsewhere}: use -p {elsewhere} here and in each check, '
                                              f'or omit -p if that is the default path')
    if os.path.lexists(path):
        return Finding(SUBJECT, False, words, advice)
    command = installer().reinstall if os.path.lexists(REMAINS) else installer().install
    return Finding(SUBJECT, False, words, 'install smartmontools', f'{command} smartmontools')


def finding(path: str, version: tuple[int, ...] | None, fault: str) -> Finding:
    """Return the finding for a smartctl that exists.

    version: such as (7, 3); () if it printed none, None if this user may not run it. fault: why root must not run it.
    """
    if fault:
        return Finding(SUBJECT, False, f'{path}: root runs it, but others could change it: {fault}',
                       'make it writable for root only', f'chown root: {path} && chmod go-w {path}')
    if version is None:
        return Finding(SUBJECT, True, f'{path}, only root may run it')
    if not version:
        return Finding(SUBJECT, False, f'{path} does not identify itself as smartctl', *_again(path))
    more = ', read as text; 7.0 and later report more' if version < FIRST_WITH_JSON else ''
    return Finding(SUBJECT, True, f'{path}, version {".".join(map(str, version))}, only root can change it{more}')


def installer() -> Installer:
    """Return the commands of this system."""
    release = files.text(f'{ROOT}/etc/os-release', files.LARGEST)
    words = ' '.join(re.findall(r'^ID(?:_LIKE)?=["\']?([a-z0-9._ -]*)', release, re.MULTILINE)).split()
    return next((each for name, each in INSTALLERS.items() if name in words), INSTALLERS['debian'])
