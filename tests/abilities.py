"""What this machine can do.

Only this module asks. Tests name the ability that they need, and are skipped without it.

Each reason says what is missing. tests/bare.txt lists the reasons in a bare Debian.
"""

from __future__ import annotations

import os
import pty
import shutil
import stat
import subprocess
import tempfile
from functools import lru_cache
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
NOBODY = 65534
USER = os.geteuid()
IS_ROOT = USER == 0
PATH = f'{os.environ.get("PATH", "")}:/usr/sbin:/usr/bin:/sbin:/bin'
AS_NOBODY = ('setpriv', f'--reuid={NOBODY}', f'--regid={NOBODY}', '--clear-groups')


def path_of(program: str) -> str | None:
    """Return the path of a program, in PATH or where root finds it; None if it is not installed."""
    return shutil.which(program, path=PATH)


def spec_of(module: str) -> ModuleSpec | None:
    """Return where a Python package is; None if it is not installed."""
    return find_spec(module)


def needs(*programs: str) -> pytest.MarkDecorator:
    """Return the mark of tests that need programs."""
    return mark(without(*programs))


def without(*programs: str) -> str:
    """Return that programs are not installed, '' if they are."""
    missing = [program for program in programs if not path_of(program)]
    return f'not installed: {" ".join(missing)}' if missing else ''


def skip_without(why: str) -> None:
    """Skip the test that is running if there is a reason to."""
    if why:
        pytest.skip(why)


@lru_cache(maxsize=None)
def no_other_user() -> str:
    """Return why tests cannot become a user who reads this clone, '' if they can."""
    if not IS_ROOT:
        return 'only root can become another user'
    if without('setpriv'):
        return without('setpriv')
    private = next(
        (
            path
            for path in (ROOT, *ROOT.parents)
            if not path.stat().st_mode & stat.S_IXOTH
        ),
        None,
    )
    return (
        f'other users cannot read this clone, because of the mode of {private.name or "/"}'
        if private
        else ''
    )


@lru_cache(maxsize=None)
def no_system_python() -> str:
    """Return why the system's Python cannot run this program as any user, '' if it can."""
    if not os.access('/usr/bin/python3', os.X_OK):
        return '/usr/bin/python3 is not installed'
    missing = [
        module
        for module in LIBRARIES
        if _fails('/usr/bin/python3', '-c', f'import {module}')
    ]
    return (
        f"the system's Python lacks {' '.join(missing)}: apt-get install python3-nagiosplugin "
        f'python3-jsonschema'
        if missing
        else ''
    )


LIBRARIES = ('nagiosplugin', 'jsonschema')


@lru_cache(maxsize=None)
def no_namespaces() -> str:
    """Return why tests cannot mount in a namespace of their own, '' if they can."""
    if not IS_ROOT:
        return 'only root can mount'
    return (
        'this machine lets nobody mount (a container?)'
        if _fails('unshare', '--mount', '--propagation', 'private', 'true')
        else ''
    )


@lru_cache(maxsize=None)
def no_terminal() -> str:
    """Return why tests cannot open a terminal, '' if they can."""
    try:
        for end in pty.openpty():
            os.close(end)
    except OSError:
        return 'this machine gives no terminal (/dev/pts)'
    return ''


@lru_cache(maxsize=None)
def no_disk() -> str:
    """Return why temporary files outlive no restart, '' if they do."""
    kind = subprocess.run(
        ['stat', '-fc', '%T', tempfile.gettempdir()],
        capture_output=True,
        text=True,
        check=False,
    )
    return (
        'temporary files are on a tmpfs, where a history does not last'
        if kind.stdout == 'tmpfs\n'
        else ''
    )


def _fails(*command: str) -> bool:
    try:
        return (
            subprocess.run(
                command, capture_output=True, check=False, timeout=60
            ).returncode
            != 0
        )
    except (OSError, subprocess.TimeoutExpired):
        return True


def mark(why: str) -> pytest.MarkDecorator:
    """Return the mark of tests that are skipped if there is a reason to."""
    return pytest.mark.skipif(bool(why), reason=why or 'able')


as_root = pytest.mark.skipif(
    not IS_ROOT, reason='only root can give files away and become other users'
)
other_user = mark(no_other_user())
user_with_libraries = mark(no_other_user() or no_system_python())
disk = mark(no_disk())
terminal = mark(no_terminal())
namespaces = mark(no_namespaces())
