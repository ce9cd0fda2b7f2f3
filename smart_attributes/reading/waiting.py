"""Which drives a process of an earlier check still waits for: one that hangs costs one process, not one a check.

smartctl gets as its standard input a file that is locked with flock. The lock
belongs to whoever has the file open, so it lasts as long as smartctl, or sudo
in front of it, lasts, however long ago the check has ended that started it.
Nothing has to look through /proc, and nothing is left to clear away.
Imported before the first process starts, so it must be cheap.
"""
from __future__ import annotations

import errno
import fcntl
import os
import time

from .. import state_folder
from ..durations import DAY
from . import commands

TYPE_CHECKING = False  # as type checkers read typing.TYPE_CHECKING, which would be expensive
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .commands import Command

FOLDER = 'waiting'
LONGEST = 120     # characters of a name that are kept as they are; file systems allow 255 bytes
RECORD = 64       # bytes: process and time
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Earlier:
    """The process that has been waiting for a drive, and since when (seconds since 1970; 0: it did not come to write
    that).
    """

    __slots__ = ('pid', 'since')

    def __init__(self, pid: int, since: int) -> None:
        self.pid, self.since = pid, since

    def __str__(self) -> str:
        if not self.since:
            return 'an earlier check is still waiting for it'
        form = '%H:%M' if time.time() - self.since < DAY / 2 else '%Y-%m-%d %H:%M'
        return f'still waiting since {time.strftime(form, time.localtime(self.since))} (process {self.pid})'

    def is_stuck(self, limit: float) -> bool:
        """Tell whether that process has had its time, in seconds: else it belongs to a check that runs beside
        this one.
        """
        return bool(self.since) and time.time() - self.since >= limit


class Waiting:
    """The files of one folder."""

    def __init__(self, state_dir: str = '') -> None:
        self.state_dir = state_dir
        self.why_not = ''                # why nothing can be known of earlier checks
        self._path = ''
        self._folder: state_folder.Folder | None = None
        try:
            self._folder = state_folder.ready(state_dir)
            self._path = state_folder.below(self._folder, FOLDER)
        except state_folder.Unusable as error:
            self.why_not = str(error)
        except OSError as error:
            self.why_not = (f'{error.filename}: {error.strerror}; let the user of the check write there, or name '
                            f'another with --state-dir')

    def begin(self, command: Command) -> int | Earlier:
        """Return the locked file for a process that reads a drive, or who is still at it; -1 where no file can be had.

        Raises OSError where this process has no descriptors left.
        """
        descriptor = self._open(name(command))
        if descriptor < 0:
            return -1
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _blank(descriptor)
        except BlockingIOError:
            earlier = _read(descriptor)
            os.close(descriptor)
            return earlier
        except OSError:  # a file system without locks
            os.close(descriptor)
            return -1
        return descriptor

    def held(self, limit: float) -> Iterator[tuple[str, Earlier]]:
        """Yield the file of each drive that a process has waited for longer than *limit*, in seconds, and which one."""
        if self._folder is None or self.why_not:
            return
        for file in sorted(os.listdir(self._path)):
            descriptor = self._open(file)
            if descriptor >= 0:
                earlier = _read(descriptor)
                if earlier.is_stuck(limit) and _is_locked(descriptor, earlier):
                    yield file, earlier
                os.close(descriptor)

    def _open(self, file: str) -> int:
        if self._folder is None or self.why_not:
            return -1
        try:
            with self._folder:
                return os.open(os.path.join(self._path, file), _FLAGS, 0o600)
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):
                raise  # no room for the process either
            self.why_not = f'{self._path}/{file}: {error.strerror}; let the user of the check alone write there'
            return -1


def _blank(descriptor: int) -> None:
    """Remove who had the file before; truncating the file would take half a millisecond."""
    try:
        os.pwrite(descriptor, b' ' * RECORD, 0)
    except OSError:  # a full disk
        os.ftruncate(descriptor, 0)


def sign(descriptor: int, pid: int) -> None:
    """Write down which process has the file now, and leave it to that process."""
    try:
        os.pwrite(descriptor, b'%d %d\n' % (pid, time.time()), 0)
    except OSError:  # a full disk; the lock alone still tells that somebody is at it
        pass
    finally:
        os.close(descriptor)


def _is_locked(descriptor: int, earlier: Earlier) -> bool:
    """Tell whether a process still has the file.

    Asked only where that process is there: asking takes the lock for a moment, which could keep a check from its drive.
    """
    if not os.path.exists(f'/proc/{earlier.pid}'):
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # a file system without locks
        pass
    return False


def _read(descriptor: int) -> Earlier:
    words = os.pread(descriptor, RECORD, 0).split()
    numbers = [int(word) for word in words if word.isdigit()]
    return Earlier(*numbers) if len(numbers) == 2 else Earlier(0, 0)


def name(command: Command) -> str:
    """Return the file for what a command reads: type and path, or "scan"; and the program, where it is not the usual
    one.
    """
    executable, arguments = commands.split(command)
    address = [arguments[index + 1] for index, word in enumerate(arguments[:-2])
               if word == '-d'] + [arguments[-1].lstrip('-')]
    words = '@'.join([*([] if executable == commands.DEFAULT else [executable]), *address])
    text = ''.join(letter if letter.isascii() and (letter.isalnum() or letter in ',+@._:-') else '!'
                   for letter in words)
    if len(text) <= LONGEST and '!' not in words and text == words.replace('/', '!'):
        return text
    from binascii import crc32  # other letters, and what is too long, are told apart by a sum
    return f'{text[-LONGEST:]}!{crc32(os.fsencode(words)):08x}'
