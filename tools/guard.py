"""Keep mutants from harm: a process that has called `stay_within` changes no file outside of one
directory.

A mutant may delete the wrong file or signal the wrong process. An audit hook sees each attempt, and
Python code cannot remove it. What reads is allowed, so a test that passes under the guard proves
what it proves without.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from pathlib import Path

# Where the arguments of an event have paths, each with the place of the directory that it is
# relative to, or None.
# Source: the audit events table of Python's documentation.
PLACES: dict[str, Sequence[tuple[int, int | None]]] = {
    'open': [(0, None)],
    'os.posix_spawn': [(0, None)],
    'os.exec': [(0, None)],
    'os.remove': [(0, 1)],
    'os.rmdir': [(0, 1)],
    'os.mkdir': [(0, 2)],
    'os.chmod': [(0, 2)],
    'os.chown': [(0, 3)],
    'os.utime': [(0, 3)],
    'os.truncate': [(0, None)],
    'os.setxattr': [(0, None)],
    'os.removexattr': [(0, None)],
    'os.rename': [(0, 2), (1, 3)],
    'os.link': [(0, 2), (1, 3)],
    'os.symlink': [(1, 2)],
}
# change a link, not what it leads to
ENTRIES = {'os.remove', 'os.rmdir', 'os.mkdir', 'os.rename', 'os.symlink'}
FORBIDDEN = {'os.system', 'os.spawn', 'subprocess.Popen'}
STARTS = {'os.posix_spawn', 'os.exec'}
PROGRAMS = {os.path.realpath(path) for path in (sys.executable, '/bin/sh')}
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
HARMLESS = ('/dev/null', '/dev/tty', '/proc/self/')
LOCAL = {'127.0.0.1', '::1', 'localhost'}


def stay_within(folder: Path) -> None:
    """Raise PermissionError from now on for what would change anything outside of *folder*, in this
    process.

    Signals reach this process and those that it started; any other is ProcessLookupError.
    Connections stay local.
    """
    inside = os.path.realpath(folder) + os.sep

    def hook(event: str, arguments: Sequence[object]) -> None:
        if event in FORBIDDEN:
            raise PermissionError(errno.EPERM, f'{event}: mutants start no process')
        if event in {'os.kill', 'os.killpg'} and not _is_ours(arguments[0]):
            raise ProcessLookupError(
                errno.ESRCH, f'{event}: {arguments[0]} is a process of others'
            )
        if (
            event == 'socket.connect'
            and isinstance(arguments[1], tuple)
            and arguments[1][0] not in LOCAL
        ):
            raise PermissionError(
                errno.EPERM, f'{event}: {arguments[1]} is another machine'
            )
        if event == 'open' and not (
            isinstance(arguments[2], int) and arguments[2] & WRITES
        ):
            return
        for place, base in PLACES.get(event, ()):
            path = _resolved(
                arguments[place],
                None if base is None else arguments[base],
                event in ENTRIES,
            )
            if not (
                f'{path}{os.sep}'.startswith((inside, *HARMLESS))
                or (event in STARTS and path in PROGRAMS)
            ):
                raise PermissionError(
                    errno.EPERM, f'{event}: {path} is outside of {folder}'
                )

    sys.addaudithook(hook)


def _resolved(path: object, base: object, is_entry: bool) -> str:
    """Return what a path leads to; is_entry: what its directory leads to, and the name there.

    base: the descriptor of the directory that it is relative to, -1 for none.
    """
    if isinstance(path, int):
        return os.path.realpath(f'/proc/self/fd/{path}')
    text = os.fsdecode(path)  # type: ignore[arg-type]
    start = f'/proc/self/fd/{base}' if isinstance(base, int) and base >= 0 else ''
    folder, name = os.path.split(os.path.join(start, text))
    if is_entry and name not in {'', '.', '..'}:
        return os.path.join(os.path.realpath(folder), name)
    return os.path.realpath(os.path.join(folder, name))


def _is_ours(number: object) -> bool:
    """Tell whether a process is this one, or was started by it; 0 is the own group, which has no
    other process.
    """
    try:
        pid = abs(int(number)) if number != -1 else 1  # type: ignore[call-overload]
        while pid > 1 and pid != os.getpid():
            pid = int(
                Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[1]
            )
    except OSError:
        return False
    return number == 0 or pid == os.getpid()
