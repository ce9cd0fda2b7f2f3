"""Find the drives that a process has been reading for a long time, by their lock files."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from itertools import islice

from ..constants import MOST_DRIVES
from ..reading.drive_locks import Earlier, Waiting, drive_name, earlier_in, type_and_path
from ..reading.smartctl_calls import is_ours


def held(waiting: Waiting, limit: float) -> Iterator[tuple[str, Earlier]]:
    """Yield each drive that a process has been using for at least *limit* seconds, and that
    process.

    The process ID is given only if this process is verified to be a smartctl, or its sudo, that
    reads this drive.
    """
    for file in () if waiting.why_not else _lock_files(waiting):
        descriptor = waiting.open(file)
        if descriptor >= 0:
            try:
                earlier = earlier_in(descriptor)
                is_held = earlier.is_stuck(limit) and _is_locked(descriptor)
            finally:
                os.close(descriptor)
            if is_held:
                yield _verified(file, earlier)


def _lock_files(waiting: Waiting) -> list[str]:
    """Return the lock files of at most MOST_DRIVES drives."""
    try:
        with os.scandir(waiting.path) as entries:
            files = [entry.name for entry in islice(entries, MOST_DRIVES)]
    except FileNotFoundError:  # the folder was removed, so no drive is locked
        files = []
    return sorted(files)


def _is_locked(descriptor: int) -> bool:
    """Return whether a process has locked the file.

    The test locks the file briefly, which may delay a check.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # a file system without locks
        pass
    return False


def _verified(file: str, earlier: Earlier) -> tuple[str, Earlier]:
    """Return the address that a process reads, and the process, with ID 0 if the process does not
    read this drive.

    The ID in a file may belong to any process, such as 1, and a message must never advise killing
    the wrong process.
    """
    try:
        with open(f'/proc/{earlier.pid}/cmdline', 'rb') as process:
            words = tuple(map(os.fsdecode, process.read().split(b'\0')[:-1]))
    except OSError:
        words = ()
    arguments = next(
        (words[start:] for start in range(1, len(words)) if is_ours(words[start:])), ()
    )
    if arguments and drive_name(('', *arguments)) == file:
        return '@'.join(filter(None, type_and_path(arguments))), earlier
    return file.replace('!', '/'), Earlier(0, earlier.start)
