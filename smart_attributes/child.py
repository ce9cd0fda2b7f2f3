"""Child processes for work that can block: the check waits as long as it wants, and takes what the
child has sent by then.

The kernel can block a process that reads a dead disk, an array or a controller that hangs, for
ever; no signal ends it, and no alarm interrupts it. So a check lets a child read them. The child
sends plain values and the content of files through a pipe; the check decides.

A child that is blocked cannot be ended. With in_turn(), each child waits until the previous one of
the same kind and user has ended: one child can hang, and not one for each check. These locks are
beside the locks of drives.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

from . import files, state_directory
from .constants import LARGEST_SENT
from .typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import signal as _signal
else:
    import _signal  # signal would import enum

_LIFE = 60  # seconds that a child reads; if its check was killed, nobody else ends it
_DESCRIPTORS = 4096  # highest number of an open file of a check
_CHUNK = 1 << 16
_SIGNALS = (
    _signal.SIGALRM,
    _signal.SIGVTALRM,
    _signal.SIGTERM,
    _signal.SIGHUP,
    _signal.SIGINT,
)


class Child:
    """A process that works apart from the check and sends what it finds."""

    def __init__(self, work: Callable[[Pipe], object]) -> None:
        """Start the process, which runs *work*.

        If it cannot be started, the only message is {"fault": the reason}.
        """
        self._buffer = bytearray()
        self._pid = 0
        self._pipe = sending = -1
        former_mask = _signal.pthread_sigmask(_signal.SIG_BLOCK, _SIGNALS)
        try:
            self._pipe, sending = os.pipe()
            self._pid = os.fork()
            if self._pid == 0:
                _run(sending, work)
        except OSError as error:
            self._buffer += _message(
                fault=f'no process can be started: {error.strerror}'
            )
            self._close()
        finally:
            _signal.pthread_sigmask(_signal.SIG_SETMASK, former_mask)
            if sending >= 0:
                os.close(sending)

    def wait(self, until: float) -> bool:
        """Receive what the process sends, until *until*, a value of time.monotonic(). Return whether
        nothing more will come, because the process has ended or was left.

        After LARGEST_SENT bytes, the process is ended.
        """
        while self._pipe >= 0:  # until _close() or leave() closes it
            patience = max(until - time.monotonic(), 0)
            readable, _, _ = select.select([self._pipe], [], [], patience)
            if not readable:
                return False
            chunk = os.read(self._pipe, _CHUNK)
            self._buffer += chunk
            if not chunk:  # the process has ended
                self._close()
                # a daemon can ignore the end of processes
                with suppress(ChildProcessError):
                    os.waitpid(self._pid, 0)
            elif len(self._buffer) > LARGEST_SENT:
                self.leave(ends=True)
        return True

    def messages(self) -> Iterator[tuple[dict[str, Any], bytes]]:
        """Yield the messages that wait() has received completely: names and values, and bytes that
        belong to them. _message() describes the format.
        """
        begin = 0
        while True:
            line_end = self._buffer.find(b'\n', begin)
            if line_end < 0:
                return
            values = json.loads(self._buffer[begin:line_end])
            content_begin = line_end + 1
            content_end = content_begin + values.pop('size')
            if content_end > len(self._buffer):
                return
            yield values, bytes(self._buffer[content_begin:content_end])
            begin = content_end

    def leave(self, ends: bool) -> None:
        """Receive nothing more. Do nothing if the process has ended, was left before, or could not
        be started.

        ends: True ends the process (later, if the kernel blocks it now); False lets it go on alone.
        """
        # In each of these cases, _close() has set the descriptor of the pipe to -1; but the process
        # may have ended since it was last waited for.
        if self._pipe >= 0:
            with suppress(ProcessLookupError):
                if ends:
                    os.kill(self._pid, _signal.SIGKILL)
            self._close()
            with suppress(ChildProcessError):
                os.waitpid(self._pid, os.WNOHANG)

    def _close(self) -> None:
        if self._pipe >= 0:
            os.close(self._pipe)
        self._pipe = -1


class Pipe:
    """The child's end of the pipe. The child never waits for its check while it holds a lock."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor, self._rest = descriptor, bytearray()
        os.set_blocking(descriptor, False)

    def send(self, content: bytes = b'', /, **values: object) -> None:
        """Send a message, or keep it if the pipe is full."""
        self._rest += _message(content, **values)
        self._write()

    def flush(self) -> None:
        """Wait until everything is sent."""
        os.set_blocking(self._descriptor, True)
        self._write()

    def _write(self) -> None:
        with suppress(BlockingIOError):
            while self._rest:
                del self._rest[: os.write(self._descriptor, self._rest)]


def _message(content: bytes = b'', /, **values: object) -> bytes:
    """Return a message: a line with the values and the number of bytes after it, then these bytes."""
    return (
        json.dumps({**values, 'size': len(content)}).encode('ascii') + b'\n' + content
    )


def _run(sending: int, work: Callable[[Pipe], object]) -> None:
    """Run *work* in a new child process, and end the process."""
    try:
        _detach(sending)
        pipe = Pipe(sending)
        work(pipe)
        pipe.flush()
    finally:
        os._exit(0)


def _detach(sending: int) -> None:
    """Give up everything that belongs to the check: the handlers of its signals, and its open files.

    sending: the only open file that stays, the end of the pipe to which the child writes.
    """
    for number in _SIGNALS:
        if _signal.getsignal(number) != _signal.SIG_IGN:
            _signal.signal(number, _signal.SIG_DFL)
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, _SIGNALS)
    # 0 to 2 lead to /dev/null: a file that got the number of standard error would receive its messages
    null_device = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        if descriptor != sending:
            os.dup2(null_device, descriptor)
    # A daemon waits until all processes have closed its pipes, and a drive is locked by open files.
    # So this closes 3, 4, 5 ... except *sending*. If *sending* is below 3, the first range is empty.
    os.closerange(3, sending)
    os.closerange(max(3, sending + 1), _DESCRIPTORS)


# --- locks, used in a child ---------------------------------------------------------------------


def in_turn(name: str, state_dir: str) -> int | None:
    """Wait until the previous child of this name and user has ended; return the locked file, None
    without locks. This process then lives for _LIFE seconds at most.

    state_dir: the argument of --state-dir.
    """
    _signal.alarm(_LIFE)
    try:
        lock = opened_lock(name, state_dir)
        fcntl.flock(lock, fcntl.LOCK_EX)
        return lock
    except (OSError, state_directory.Unusable):
        return None


def opened_lock(name: str, state_dir: str) -> int:
    """Open the lock of this name. Raises OSError or state_directory.Unusable."""
    return files.open_lock(path_of_lock(name, state_dir))


def path_of_lock(name: str, state_dir: str) -> str:
    """Return the path of a lock. Raises state_directory.Unusable."""
    return f'{state_directory.for_locks(state_directory.WAITING, state_dir)}/{name}'
