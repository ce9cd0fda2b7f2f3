"""Which drives the smartctl of another check reads or waits for: one that hangs costs one process, not one a check.

smartctl gets as its standard input a file that is locked with flock. The lock belongs to every process that has the
file open, so it lasts as long as smartctl, or sudo in front of it, lasts, however long ago the check has ended that
started it. Nothing has to look through /proc, and nothing is left to clear away.

Each user has one folder of locks, which nobody else but root can write to, so a lock in it is one of this user's own
processes. Other users see root's locks; root does not look at theirs. Imported before the first process starts, so it
must be cheap.
"""
from __future__ import annotations

import errno
import fcntl
import os
import stat
import time

from .. import state_directory, trust
from ..constants import DAY
from . import smartctl_calls

TYPE_CHECKING = False  # as type checkers read typing.TYPE_CHECKING, which would be expensive
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .smartctl_calls import Command

FOLDER = 'waiting'
RECORD = 64       # bytes: process and time
DIGITS = 10       # of a number in a record; longer ones are damaged
MOST = 1000       # files that doctor looks at; no machine has as many drives
LOCKS = '/proc/locks'
FRESH = 0.04      # seconds that the content of LOCKS is used for
LONGEST = 120     # characters of a drive's name that are kept as they are; file systems allow 255 bytes
NODES = '/sys/dev'
BUS = '/dev/bus/'  # and the number of a SCSI host; smartctl's name for a MegaRAID controller, no file
# Their numbers choose how a bridge is asked, or a namespace, which is the same drive.
_NO_SLOTS = ('sat', 'nvme', 'sntjmicron')
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Earlier:
    """The process that has a drive, and when it began.

    pid: 0 where it is not known. start: seconds since boot, 0 where it is not known.
    """

    __slots__ = ('pid', 'start')

    def __init__(self, pid: int = 0, start: float = 0.0) -> None:
        self.pid, self.start = pid, start

    @property
    def since(self) -> str:
        """The time of day when it began, with the day where that was not today, and the process."""
        process = f' (process {self.pid})' if self.pid else ''
        age = _now() - self.start
        form = '%H:%M' if age < DAY / 2 else '%Y-%m-%d %H:%M'
        return f' since {time.strftime(form, time.localtime(time.time() - age))}{process}' if self.start else process

    def __str__(self) -> str:
        return f'still waiting{self.since}'

    def is_stuck(self, limit: float) -> bool:
        """Return whether this one process has had the drive for longer than *limit*, in seconds.

        A process whose start is not known is never stuck: it may be one of many short ones.
        """
        return bool(self.start) and _now() - self.start >= limit


class Waiting:
    """The locks of this user."""

    def __init__(self, state_dir: str = '') -> None:
        self.state_dir = state_dir
        self.why_not = ''                # why nothing can be known of other checks
        self.is_crowded = False          # held() left files out
        self.path = ''
        self._locks = ('', 0.0)          # content of LOCKS, and when it was read
        try:
            self.path = state_directory.for_locks(FOLDER, state_dir)
        except state_directory.Unusable as error:
            self.why_not = str(error)

    def begin(self, command: Command) -> int | Earlier:
        """Return the locked file for a process that reads a drive, or the process that still does; -1 without a file.

        Raises OSError where this process has no descriptors left.
        """
        file = drive_name(command)
        descriptor = self._root_has(file) or self._open(file)
        if isinstance(descriptor, Earlier) or descriptor < 0:
            return descriptor
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

    def _root_has(self, file: str) -> Earlier | None:
        """Return the process of root that has a drive, for another user; None where root has none.

        Only root may open root's files, since who opens one can lock it; the kernel's list shows which are locked.
        Source: Linux, fs/locks.c, locks_show().
        """
        try:
            status = None if os.geteuid() == trust.ROOT else os.lstat(f'{state_directory.RUN}/{FOLDER}/{file}')
        except OSError:
            status = None
        if status is None or status.st_uid != trust.ROOT:
            return None
        place = f' {os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino} '
        held = any(place in line and 'FLOCK' in line for line in self._listed().splitlines())
        return Earlier(0, min(_now() - (time.time() - status.st_mtime), _now())) if held else None

    def _listed(self) -> str:
        """Return the locks of this machine; '' where the kernel does not list them."""
        if not self._locks[0] or time.monotonic() - self._locks[1] > FRESH:
            try:
                with open(LOCKS, encoding='ascii') as file:
                    self._locks = (file.read(), time.monotonic())
            except (OSError, ValueError):
                self._locks = ('', 0.0)
        return self._locks[0]

    def held(self, limit: float) -> Iterator[tuple[str, Earlier]]:
        """Yield each drive that a process has had for longer than *limit*, in seconds, and which one.

        The process has a number only where it is verified to be the smartctl, or its sudo, that reads this drive.
        """
        for file in () if self.why_not else self._files():
            descriptor = self._open(file)
            if descriptor >= 0:
                try:
                    earlier = _read(descriptor)
                    is_held = earlier.is_stuck(limit) and _is_locked(descriptor)
                finally:
                    os.close(descriptor)
                if is_held:
                    yield _verified(file, earlier)

    def _files(self) -> list[str]:
        """Return the files of drives, of a crowded folder the first MOST."""
        from itertools import islice
        try:
            with os.scandir(self.path) as entries:
                files = [entry.name for entry in islice(entries, MOST + 1)]
        except FileNotFoundError:   # removed meanwhile: nothing is held
            files = []
        self.is_crowded = len(files) > MOST
        return sorted(files[:MOST])

    def _open(self, file: str) -> int:
        if self.why_not:
            return -1
        try:
            return os.open(os.path.join(self.path, file), _FLAGS, 0o600)
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):
                raise  # no room for the process either
            self.why_not = f'{self.path}/{file}: {error.strerror}; let the user of the check alone write there'
            return -1


def _now() -> float:
    """Return the seconds since boot, which no change of the clock moves; the kernel dates processes by them."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def _blank(descriptor: int) -> None:
    """Remove the previous process; truncating the file would take half a millisecond."""
    try:
        os.pwrite(descriptor, b' ' * RECORD, 0)
    except OSError:  # a full disk
        os.ftruncate(descriptor, 0)


def sign(descriptor: int, pid: int) -> None:
    """Write down which process has the file now, and leave it to that process."""
    try:
        os.pwrite(descriptor, b'%d %d\n' % (pid, _now()), 0)
    except OSError:  # a full disk; the lock alone still shows that somebody reads the drive
        pass
    finally:
        os.close(descriptor)


def _read(descriptor: int) -> Earlier:
    """Return the process that a file names. Its start is the kernel's where the process is there, else the file's.

    A record that is damaged, or dated in the future, counts as not there.
    """
    line, end, _ = os.pread(descriptor, RECORD, 0).partition(b'\n')
    numbers = [int(word) for word in line.split() if word.isdigit() and len(word) <= DIGITS]
    if not end or len(numbers) != 2:
        return Earlier()
    pid, written = numbers
    start = _started(pid) or written
    return Earlier(pid, start) if start <= _now() else Earlier()


def _started(pid: int) -> float:
    """Return when a process began, in seconds since boot; 0 where there is none. Source: proc(5), starttime."""
    try:
        with open(f'/proc/{pid}/stat', 'rb') as file:
            return int(file.read().rpartition(b')')[2].split()[19]) / os.sysconf('SC_CLK_TCK')
    except (OSError, ValueError, IndexError):
        return 0.0


def _is_locked(descriptor: int) -> bool:
    """Return whether a process has the file. Asking takes the lock for a moment, so a check that comes then waits."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # a file system without locks
        pass
    return False


def _verified(file: str, earlier: Earlier) -> tuple[str, Earlier]:
    """Return the address that a process reads, with the process; without its number where it does not read that drive.

    A number in a file may be anybody's, such as 1; no message may advise to kill that.
    """
    try:
        with open(f'/proc/{earlier.pid}/cmdline', 'rb') as process:
            words = tuple(map(os.fsdecode, process.read().split(b'\0')[:-1]))
    except OSError:
        words = ()
    arguments = next((words[start:] for start in range(1, len(words)) if smartctl_calls.is_ours(words[start:])), ())
    if arguments and drive_name(('', *arguments)) == file:
        return '@'.join(filter(None, _type_and_path(arguments))), earlier
    return file.replace('!', '/'), Earlier(0, earlier.start)


def drive_name(command: Command) -> str:
    """Return the file name for the drive that a command reads, or "scan".

    It is the drive's place in sysfs ("0:0:0:0", "nvme0") and, behind a controller, its number and the controller's
    host ("megaraid,6@host0"); where sysfs does not know the path, it is the path.
    """
    kind, path = _type_and_path(smartctl_calls.split(command)[1])
    if not path.startswith('/'):
        return _plain(path.lstrip('-'))
    # Only a drive behind a controller is named by its number: "megaraid,6".
    kind, _, numbers = kind.rpartition('+')[2].partition(',')
    numbers = ','.join(word for word in numbers.split(',') if word[:1].isdigit())
    place = _place(path)
    if not numbers or kind in _NO_SLOTS:
        return _plain(place)
    if path.startswith(BUS):
        place = f'host{path[len(BUS):]}'
    elif place.count(':') == 3:  # "0:2:1:0", of which the first is the SCSI host
        place = f'host{place.partition(":")[0]}'
    return _plain(f'{kind},{numbers}@{place}')


def _type_and_path(arguments: Command) -> tuple[str, str]:
    return arguments[-2] if arguments[-3:-2] == ('-d',) else '', arguments[-1]


def _place(path: str) -> str:
    """Return where sysfs has the drive of a device node, be it a disk, a partition of it or its /dev/sgN.

    Source: Linux, Documentation/ABI/stable/sysfs-dev; drivers/scsi/sg.c; drivers/nvme/host/core.c.
    """
    try:
        status = os.stat(path)
        folder = 'block' if stat.S_ISBLK(status.st_mode) else 'char'
        node = os.readlink(f'{NODES}/{folder}/{os.major(status.st_rdev)}:{os.minor(status.st_rdev)}')
    except OSError:
        return os.path.realpath(path)
    drive, _, below = node.partition('/nvme/')
    if below:
        return below.partition('/')[0]
    drive = node.partition('/block/')[0].partition('/scsi_generic/')[0]
    return os.path.basename(node if drive.endswith('/virtual') else drive)


def _plain(words: str) -> str:
    """Return a name that a file can have."""
    text = ''.join(letter if letter.isascii() and (letter.isalnum() or letter in ',+@._:-') else '!'
                   for letter in words)
    if len(text) <= LONGEST and '!' not in words and text == words.replace('/', '!'):
        return text
    from binascii import crc32  # a sum distinguishes other letters, and what is too long
    return f'{text[-LONGEST:]}!{crc32(os.fsencode(words)):08x}'
