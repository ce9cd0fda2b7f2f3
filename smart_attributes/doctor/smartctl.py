"""Examine smartctl: whether it exists, whether root may trust it, and its version."""
from __future__ import annotations

import os
import re
from typing import NamedTuple

from .. import files, trust
from ..constants import LARGEST_FILE, SMARTCTL
from ..errors import UsageError
from ..model import HowRead
from ..output.doctor_findings import Finding, found, said
from ..reading import processes, smartctl_calls

FIRST_WITH_JSON = (7, 0)
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
        return found('smartctl-not-executable', path=path)
    if os.access(path, os.X_OK):
        answer = next(runner.run([(path, *smartctl_calls.VERSION)], 1, how.drive_timeout, deadline))
        version = smartctl_calls.version(answer.stdout)
        if answer.outcome != 'done' and not version:
            return _again(found('smartctl-silent', path=path, reason=answer.reason))
    try:
        fault = '' if how.nosudo and os.geteuid() else trust.fault(path, trust.ROOT)
    except OSError:  # this user may not read the folder; root can
        fault = ''
    return finding(path, version, fault)


def _again(finding: Finding) -> Finding:
    """Return the finding for a smartctl that does not work, with the command that brings that of the package back."""
    if finding.fields['path'] != SMARTCTL:
        return finding
    return finding._replace(remedy='install smartmontools again', command=f'{installer().reinstall} smartmontools')


def missing(sentence: str, path: str, elsewhere: str) -> Finding:
    """Return the finding for a path without smartctl, from the error sentence.

    elsewhere: path of an existing smartctl, or ''.
    """
    if elsewhere and elsewhere != path:
        return said('smartctl-elsewhere', sentence, path=path, elsewhere=elsewhere)
    if os.path.lexists(path):
        return said('smartctl-not-usable', sentence, path=path)
    command = installer().reinstall if os.path.lexists(REMAINS) else installer().install
    return said('smartctl-not-installed', sentence, path=path, install=command)


def finding(path: str, version: tuple[int, ...] | None, fault: str) -> Finding:
    """Return the finding for a smartctl that exists.

    version: such as (7, 3); () if it printed none, None if this user may not run it. fault: why root must not run it.
    """
    if fault:
        return found('smartctl-not-trusted', path=path, fault=fault)
    if version is None:
        return found('smartctl-for-root', path=path)
    if not version:
        return _again(found('smartctl-unidentified', path=path))
    number = '.'.join(map(str, version))
    if version < FIRST_WITH_JSON:
        return found('smartctl-without-json', path=path, version=number, install=installer().install)
    return found('smartctl-found', path=path, version=number)


def installer() -> Installer:
    """Return the commands of this system."""
    release = files.text(f'{ROOT}/etc/os-release', LARGEST_FILE)
    words = ' '.join(re.findall(r'^ID(?:_LIKE)?=["\']?([a-z0-9._ -]*)', release, re.MULTILINE)).split()
    return next((each for name, each in INSTALLERS.items() if name in words), INSTALLERS['debian'])
