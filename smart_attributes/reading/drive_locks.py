"""Lock each drive while smartctl reads it, so that a hanging drive blocks one process, not one per
check.

The standard input of smartctl is a file that is locked with flock. The lock belongs to every
process that has the file open, so it lasts until smartctl and its sudo have ended, even if the
check ended long ago. Nothing needs cleaning up.

Each user has one folder of locks, which only that user and root can write to, so a lock in it
belongs to a process of this user. Locks of other users are ignored. This module is imported before
the first process starts, so it must be cheap.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time

from .. import files, state_directory
from ..constants import DAY, LONGEST_DRIVE_NAME

# see typed, which would load collections before the first process starts
TYPE_CHECKING = False
if TYPE_CHECKING:
    from .smartctl_calls import Command

FOLDER = state_directory.WAITING
RECORD = 64  # bytes: process and time
DIGITS = 10  # longest number in a record; a longer one is damaged
NODES = '/sys/dev'
# followed by a SCSI host number; smartctl's name for a MegaRAID controller, not a file
BUS = '/dev/bus/'
# CLOCK_BOOTTIME exists only on Linux. FreeBSD's monotonic clock begins at boot, too:
# clock_gettime(2).
_CLOCK = getattr(time, 'CLOCK_BOOTTIME', time.CLOCK_MONOTONIC)


class Earlier:
    """The process that is using a drive, with the start time of the process.

    pid: 0 if not known. start: seconds since boot, 0 if not known.
    """

    def __init__(self, pid: int = 0, start: float = 0.0) -> None:
        self.pid, self.start = pid, start

    @property
    def since(self) -> str:
        """The start time of the process (with the date if it is more than half a day ago) and
        the process ID, after a blank; each is left out if it is not known.
        """
        process = f' (process {self.pid})' if self.pid else ''
        if not self.start:
            return process
        age = uptime() - self.start
        form = '%H:%M' if age < DAY / 2 else '%Y-%m-%d %H:%M'
        began = time.strftime(form, time.localtime(time.time() - age))
        return f' since {began}{process}'

    def is_stuck(self, limit: float) -> bool:
        """Return whether this process has been using the drive for at least *limit* seconds.

        A process whose start is unknown never counts as stuck, because many short processes may
        have used the drive.
        """
        return bool(self.start) and uptime() - self.start >= limit


class Waiting:
    """The locks of this user."""

    def __init__(self, state_dir: str = '') -> None:
        self.state_dir = state_dir
        self.why_not = ''  # why other checks cannot be detected
        self.path = ''
        try:
            self.path = state_directory.for_locks(FOLDER, state_dir)
        except state_directory.Unusable as error:
            self.why_not = str(error)

    def begin(self, command: Command) -> int | Earlier:
        """Return the locked file of a drive, or the process that is still reading the drive; -1 if
        locking fails.

        Raises OSError if this process has no file descriptors left.
        """
        descriptor = self.open(drive_name(command))
        if descriptor < 0:
            return descriptor
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _blank(descriptor)
        except BlockingIOError:
            earlier = earlier_in(descriptor)
            os.close(descriptor)
            return earlier
        except OSError:  # a file system without locks
            os.close(descriptor)
            return -1
        return descriptor

    def open(self, file: str) -> int:
        """Return the opened lock file of a drive, or -1 if this fails.

        Raises OSError if no descriptor is left.
        """
        if self.why_not:
            return -1
        try:
            return files.open_lock(os.path.join(self.path, file))
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):
                raise  # starting the process would fail for the same reason
            self.why_not = f'{self.path}/{file}: {error.strerror}; make it writable for the monitoring user only'
            return -1


def uptime() -> float:
    """Return the seconds since boot, as in the kernel's start times of processes; clock changes
    do not affect them.
    """
    return time.clock_gettime(_CLOCK)


def _blank(descriptor: int) -> None:
    """Overwrite the record of the previous process, because truncating the file would take half
    a millisecond.
    """
    try:
        os.pwrite(descriptor, b' ' * RECORD, 0)
    except OSError:  # a full disk
        os.ftruncate(descriptor, 0)


def sign(descriptor: int, pid: int) -> None:
    """Record in the lock file which process now holds the lock, and close this process's
    descriptor of the file.
    """
    try:
        os.pwrite(descriptor, b'%d %d\n' % (pid, uptime()), 0)
    except OSError:
        # a full disk; the lock alone still shows that a process reads the drive
        pass
    finally:
        os.close(descriptor)


def earlier_in(descriptor: int) -> Earlier:
    """Return the process recorded in a lock file.

    If the process still runs, its start time is from the kernel.

    A record that is damaged or dated in the future counts as absent.
    """
    line, end, _ = os.pread(descriptor, RECORD, 0).partition(b'\n')
    numbers = [
        int(word) for word in line.split() if word.isdigit() and len(word) <= DIGITS
    ]
    if end and len(numbers) == 2:
        pid, written = numbers
        start = started(str(pid)) or written
        if start <= uptime():
            return Earlier(pid, start)
    return Earlier()


def started(pid: str) -> float:
    """Return when a process began, in seconds since boot, or 0 if it does not exist.

    Source: proc(5), field 22, starttime, in clock ticks.
    """
    try:
        with open(f'/proc/{pid}/stat', 'rb') as file:
            _, _, after_name = file.read().rpartition(b')')
        # "4711 (smartctl) S 1 ...": the fields after the name begin with field 3.
        fields = after_name.split()
        return int(fields[22 - 3]) / os.sysconf('SC_CLK_TCK')
    except (OSError, ValueError, IndexError):
        return 0.0


def drive_name(command: Command) -> str:
    """Return the file name for the drive that a command reads; "scan" for smartctl's scan.

    This is the drive's name in sysfs ("0:0:0:0", "nvme0"). For a drive behind a controller, it is
    the type, the number and the controller's SCSI host ("megaraid,6@host0"). If sysfs does not know
    the path, the path is the name.
    """
    *options, path = command  # "smartctl … -d TYPE PATH", or "smartctl … --scan"
    if not path.startswith('/'):
        return path.lstrip('-')
    device_type = options[-1] if '-d' in options else ''
    # "sat+megaraid,6" -> "megaraid,6" -> "megaraid" and "6"
    _, _, inner_type = device_type.rpartition('+')
    kind, _, arguments = inner_type.partition(',')
    numbers = [word for word in arguments.split(',') if word[:1].isdigit()]
    place = _place(path)
    # The numbers of these types do not select a drive, only an access method of a bridge, or a
    # namespace.
    if not numbers or kind in ('sat', 'nvme', 'sntjmicron'):
        return _file_name(place)
    if path.startswith(BUS):
        place = f'host{path[len(BUS) :]}'
    elif place.count(':') == 3:  # "0:2:1:0", which begins with the SCSI host
        place = f'host{place.partition(":")[0]}'
    return _file_name(f'{kind},{",".join(numbers)}@{place}')


def _place(path: str) -> str:
    """Return the sysfs name of the drive of a device node: "0:0:0:0" for /dev/sda, its partition
    /dev/sda1 and its /dev/sg0, "nvme0" for /dev/nvme0n1, "md0" for the virtual disk /dev/md0; the
    path without links if sysfs does not know it.

    Source: Linux, Documentation/ABI/stable/sysfs-dev; drivers/scsi/sg.c; drivers/nvme/host/core.c.
    """
    try:
        status = os.stat(path)
        folder = 'block' if stat.S_ISBLK(status.st_mode) else 'char'
        node = os.readlink(
            f'{NODES}/{folder}/{os.major(status.st_rdev)}:{os.minor(status.st_rdev)}'
        )
    except OSError:
        return os.path.realpath(path)
    # "…/0000:01:00.0/nvme/nvme0/nvme0n1" -> "nvme0/nvme0n1"
    _, _, below_nvme = node.partition('/nvme/')
    if below_nvme:
        return below_nvme.split('/')[0]
    # "…/0:0:0:0/block/sda/sda1" and "…/0:0:0:0/scsi_generic/sg0" -> "…/0:0:0:0"
    above_block, _, _ = node.partition('/block/')
    drive, _, _ = above_block.partition('/scsi_generic/')
    if drive.endswith('/virtual'):
        # "…/virtual/block/md0": several disks share this folder, so the disk is named.
        return os.path.basename(node)
    return os.path.basename(drive)


def _file_name(words: str) -> str:
    """Return *words* as a file name, with "!" for each slash."""
    return words.replace('/', '!')[-LONGEST_DRIVE_NAME:]
