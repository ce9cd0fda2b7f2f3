"""Become the monitoring user, start the program and smartctl as this user, and find what
prevents the start.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import suppress

from .. import access, files, trust
from ..access import Barrier
from ..command_line.options import PROGRAM, USER
from ..constants import LARGEST_FILE, SMARTCTL
from ..errors import UsageError
from ..installers import installer
from ..model import Answer, HowRead
from ..output.doctor_findings import Finding, found, said
from ..reading import processes, smartctl_calls
from ..words import clean

AS_HIM = f'run doctor for the monitoring user instead (as root: {PROGRAM} doctor --user {USER})'
PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIMITS = os.path.join(os.path.dirname(PACKAGE), 'thresholds')
# directories that Python must be able to list
LISTED = (os.path.dirname(PACKAGE), os.path.dirname(os.__file__))


def examine(
    path: str, user: str, how: HowRead, runner: processes.Runner, deadline: float
) -> Finding:
    """Start the program at a path as this user, and return the finding; bad also if this user
    cannot read the limits.
    """
    answer = next(runner.run([command(path)], how.drive_timeout, deadline))
    starts = answer.status == 0 and answer.stdout.startswith(PROGRAM.encode())
    barriers = access.unreadable(LIMITS) if starts else _barriers(path)
    barrier = next(barriers, None)
    if barrier:
        return _blocked(path, user, barrier)
    if not starts:
        return not_started(path, user, answer)
    version = answer.stdout.decode(errors='replace').partition(' ')[2]
    return found(
        'program-starts', path=path, user=user, version=clean(version, limit=200)
    )


def command(path: str) -> tuple[str, ...]:
    """Return the command that starts the program, using this Python if the file itself is not
    executable.
    """
    if _lacks_execute_bits(path):
        return sys.executable, path, '-V'
    return path, '-V'


def _lacks_execute_bits(path: str) -> bool:
    return os.path.exists(path) and not os.stat(path).st_mode & 0o111


def _barriers(program: str) -> Iterator[Barrier]:
    """Yield the paths that this user may not enter, read or execute."""
    is_started_directly = command(program)[0] == program
    rights = {
        program: os.R_OK | os.X_OK if is_started_directly else os.R_OK,
        sys.executable: os.X_OK,
        **dict.fromkeys((*LISTED, PACKAGE), os.R_OK | os.X_OK),
    }
    for path, needed in rights.items():
        yield from access.on_the_way(os.path.realpath(path), needed)
    for folder in (PACKAGE, LIMITS):
        yield from access.unreadable(folder)


def _code(barrier: Barrier) -> str:
    """Return the code of the finding for a path that prevents the start."""
    path = barrier.path
    if barrier.is_noexec:
        return 'mounted-noexec'
    if path in LISTED:  # Python lists the files in these to find modules
        return 'directory-not-listed'
    if path.startswith((PACKAGE, LIMITS)):
        return 'package-not-readable'
    return 'directory-closed' if os.path.isdir(path) else 'program-not-executable'


# --- interpretation; pure -----------------------------------------------------------------


def _blocked(path: str, user: str, barrier: Barrier) -> Finding:
    """Return the finding for a program that does not start because of its rights at a path."""
    return found(
        _code(barrier),
        user=user,
        path=path,
        obstacle=barrier.path,
        mode=f'{barrier.mode:04o}',
        owner=barrier.owner,
        # the folder that the remedy of package-not-readable makes readable
        package=os.path.dirname(barrier.path),
        whom=barrier.whom,
    )


def not_started(path: str, user: str, answer: Answer) -> Finding:
    """Return the finding for a program that does not start although this user may start it."""
    first_line = files.text(path, LARGEST_FILE).partition('\n')[0]
    interpreter = first_line.removeprefix('#!').split(' ')[0]
    if interpreter and not os.path.exists(interpreter):
        return found(
            'program-without-python',
            user=user,
            path=path,
            interpreter=interpreter,
            python=sys.executable,
        )
    # the program reports this itself if it cannot use a data file of its own package
    if b'[configuration-error]' in answer.stdout:
        # the Debian package and the RPM have the same name
        install = f'{installer().reinstall} monitoring-plugins-check-smart-attributes'
        return found('program-damaged', reason=_text(answer.stdout), install=install)
    reason = answer.reason or f'exit status {answer.status}'
    printed = _text(answer.stderr or answer.stdout)
    return found(
        'program-does-not-start',
        user=user,
        path=path,
        reason=f'{reason}: {printed}' if printed else reason,
        call=shlex.join(command(path)),  # for an admin who wants to see it fail
    )


def _text(output: bytes) -> str:
    return output.decode('utf-8', 'replace').strip()[:300]


# --- smartctl: whether it exists, whether root may trust it, and its version ------------------

# Paths where distributions and local builds install smartctl, the usual path first.
PLACES = (
    SMARTCTL,
    '/usr/local/sbin/smartctl',
    '/usr/bin/smartctl',
    '/usr/local/bin/smartctl',
    '/opt/smartmontools/sbin/smartctl',
)


def examine_smartctl(
    how: HowRead, runner: processes.Runner, deadline: float
) -> Finding:
    """Start smartctl without root rights and return the finding for smartctl. deadline:
    time.monotonic() value.
    """
    path = how.smartctl
    uses_sudo = not how.nosudo
    try:
        smartctl_calls.check_executable(path, as_root=False, through_sudo=uses_sudo)
    except UsageError as error:
        return _missing(str(error), path)
    if _lacks_execute_bits(path):
        return found('smartctl-not-executable', path=path)
    version = None  # this user may not start it
    if os.access(path, os.X_OK):
        call = (path, *smartctl_calls.VERSION)
        answer = next(runner.run([call], how.drive_timeout, deadline))
        version = smartctl_calls.version(answer.stdout)
        if answer.outcome != 'done' and not version:
            return found('smartctl-silent', path=path, reason=answer.reason)
    fault = ''
    if uses_sudo or os.geteuid() == 0:  # root runs it
        with suppress(OSError):  # this user cannot read the folder; root can
            fault = trust.fault(path, trust.ROOT)
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
        return found('smartctl-unidentified', path=path)
    number = '.'.join(map(str, version))
    if version < (7, 0):
        return found(
            'smartctl-without-json',
            path=path,
            version=number,
            install=installer().install,
        )
    return found('smartctl-found', path=path, version=number)


def _missing(sentence: str, path: str) -> Finding:
    """Return the finding for a path without smartctl, made from the error sentence."""
    elsewhere = next(filter(os.path.isfile, PLACES), '')
    if elsewhere and elsewhere != path:
        return said('smartctl-elsewhere', sentence, path=path, elsewhere=elsewhere)
    if os.path.lexists(path):
        return said('smartctl-not-usable', sentence, path=path)
    # the rest of its package
    is_package_there = os.path.lexists('/usr/sbin/smartd')
    command = installer().reinstall if is_package_there else installer().install
    return said('smartctl-not-installed', sentence, path=path, install=command)
