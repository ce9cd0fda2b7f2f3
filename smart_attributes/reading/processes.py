"""Run smartctl processes in parallel, read their output, and end them in time.

This module does not parse smartctl's output; an Answer contains it as bytes. The module is imported
first and starts
the processes, so it must be cheap: see the note on imports.
"""

from __future__ import annotations

import errno
import os
import select
import time

# ruff: noqa: SIM105 - contextlib is an expensive import
#
# Drives answer while Python is still importing the rest. This module avoids imports that would delay the first process:
# typing, re, enum (which signal needs), model and errors take 30 ms together; the imports used here take less than
# 1 ms. Type checkers treat the name TYPE_CHECKING as typing.TYPE_CHECKING.
from ..constants import IS_FREEBSD, LARGEST_FILE, PARALLEL
from .drive_locks import Earlier, Waiting, sign
from .smartctl_calls import ENVIRONMENT, is_behind_sudo

# see typed, which would load collections before the first process starts
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from ..model import Answer
    from .smartctl_calls import Command

_CHUNK = 1 << 16  # bytes that a pipe of Linux can hold
GRACE = 0.5  # seconds between SIGTERM and SIGKILL, and from SIGKILL until giving up
SHORTEST_BEAT, LONGEST_BEAT = 0.001, 0.05  # seconds between two polls of all processes
LINGER = 0.2  # seconds a pipe may stay open after smartctl itself has ended
NICENESS = 10  # of smartctl, added to that of the plugin
# load average per core; from there on, a smartctl of lower priority might not end in time
BUSY = 4

# `signal` would import enum (5 ms). POSIX defines 9 and 15; 13 is SIGPIPE on every system that
# smartctl runs on.
SIGKILL = 9
SIGPIPE = 13
SIGTERM = 15


class _Process:
    """A running smartctl, and its output so far."""

    def __init__(self, command: Command, pid: int, streams: dict[int, int]) -> None:
        self.command, self.pid = command, pid
        self.started = time.monotonic()
        # descriptor of each pipe that is open -> place in `output`
        self.streams = streams
        self.output = (bytearray(), bytearray())  # stdout, stderr
        self.status: int | None = None  # exit status, or the negative signal number
        # seconds spent waiting for another check of the drive
        self.waited = 0.0
        # when it last closed a pipe, got SIGTERM, or exited; before that, its start
        self.ending_since = self.started

    def reap(self) -> bool:
        """Return whether the process has ended; at the first such call, set *status* to its exit
        status and *ending_since* to the present time.
        """
        if self.status is None:
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:
                # other code has already called wait(), so the status is lost
                pid, status = self.pid, 0
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
                self.ending_since = time.monotonic()
        return self.status is not None

    def signal(self, number: int) -> bool:
        """Send a signal to the process group; return False if this is not permitted, otherwise
        True, even if the process has ended.
        """
        try:
            os.killpg(self.pid, number)
        except ProcessLookupError:
            pass
        except PermissionError:  # all processes of the group belong to root
            return False
        return True


def _spawn(command: Command, lock: int) -> _Process:
    """Start *command* with pipes as its output and the lock file as its input, and return it.

    lock: the descriptor of the lock file, -1 if there is none; this process's copy is closed, on
    success as well as on failure. Raises OSError.

    This uses posix_spawn and poll, because importing subprocess costs more CPU than this module needs
    for 24 drives.
    """
    opened = [] if lock < 0 else [lock]
    try:
        output, write_output = os.pipe()
        opened += output, write_output
        errors, write_errors = os.pipe()
        opened += errors, write_errors
        pid = _started(command, lock, write_output, write_errors)
    except OSError:
        for descriptor in opened:
            os.close(descriptor)
        raise
    if lock >= 0:
        sign(lock, pid)  # also closes it
    os.close(write_output)
    os.close(write_errors)
    os.set_blocking(output, False)
    os.set_blocking(errors, False)
    return _Process(command, pid, streams={output: 0, errors: 1})


def _started(command: Command, lock: int, output: int, errors: int) -> int:
    """Start a process in its own group, so that one signal ends it and its children; return the
    process ID.

    lock, output, errors: descriptors for its streams; if lock is -1, its input is empty. A lock
    file as the input stays locked until smartctl and its sudo have ended.

    sudo gets its own session, where it behaves as under a daemon (not on FreeBSD, which lacks
    POSIX_SPAWN_SETSID). Unless the host is busy, smartctl has a lower priority, so that we can
    parse answers while other drives are read.
    """
    has_session = is_behind_sudo(command) and not IS_FREEBSD
    group: dict[str, Any] = {'setsid': True} if has_session else {'setpgroup': 0}
    nothing = (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)
    stdin = nothing if lock < 0 else (os.POSIX_SPAWN_DUP2, lock, 0)
    # Python ignores SIGPIPE. Children would inherit this, but an abandoned smartctl must end when
    # its pipe closes.
    pid = os.posix_spawn(
        command[0],
        command,
        ENVIRONMENT,
        file_actions=[
            stdin,
            (os.POSIX_SPAWN_DUP2, output, 1),
            (os.POSIX_SPAWN_DUP2, errors, 2),
        ],
        setsigdef=[SIGPIPE],
        **group,
    )
    if has_session:  # sudo belongs to root, so its priority cannot be changed
        return pid
    try:
        if os.getloadavg()[0] < BUSY * (os.cpu_count() or 1):
            os.setpriority(os.PRIO_PROCESS, pid, os.nice(0) + NICENESS)
    except OSError:  # it has already ended, or belongs to root
        pass
    return pid


class Runner:
    """Runs commands in parallel. Each command has its own time limit, and all share one deadline.

    Usage: start() the commands that are certainly needed, import other modules, run() all commands,
    print, close(). Call run() again for retries.
    """

    def __init__(self) -> None:
        self._locks: Waiting | None = None
        self.later: list[Callable[[], object]] = []  # work to do after the output
        # prints the output of a check, to which an exit status belongs
        self.conclude: Callable[[str, int], object] = lambda text, _: print(
            text, end=''
        )
        # For a command that must wait: the smartctl of another check that is reading the drive, and
        # when the command began to wait, as a value of time.monotonic().
        self._readers: dict[Command, Earlier] = {}
        self._waiting_since: dict[Command, float] = {}
        self._poll = select.poll()
        self._by_descriptor: dict[int, _Process] = {}
        self._active: list[_Process] = []
        self._dying: list[_Process] = []

    def start(self, command: Command) -> None:
        """Start *command* unless it is running, or PARALLEL commands are.

        The next run() ends *command* if it is not needed.
        """
        running = [process.command for process in self._active]
        if self._is_full() or command in running:
            return
        try:
            self._begin(command)
        except OSError:
            pass  # run() tries again and reports the reason

    def run(
        self, commands: Iterable[Command], drive_timeout: float, deadline: float
    ) -> Iterator[Answer]:
        """Run *commands*, at most PARALLEL at once, and yield an Answer for each distinct command
        when it ends.

        A process that start() or an earlier call has left goes on if *commands* has its command;
        otherwise it is ended, without an Answer.

        drive_timeout: seconds for one command. deadline: a value of time.monotonic(), for all
        commands together.
        """
        waiting = list(dict.fromkeys(commands))  # not started yet
        for process in list(self._active):
            if process.command in waiting:
                waiting.remove(process.command)  # it is running already
            else:
                self._end(process)  # removes it from _active
        # _fill() takes commands from *waiting* and adds their processes to _active; _settle()
        # removes the processes that have an answer.
        while waiting or self._active:
            if time.monotonic() < deadline:
                answers = self._fill(waiting, drive_timeout)
            else:
                answers = [
                    self._too_late(command, drive_timeout) for command in waiting
                ]
                waiting.clear()
            seconds = 0 if answers else self._longest_wait(deadline)
            # Read the output that is there after this wait. Do not wait for further output: while
            # many drives answer, more output keeps arriving.
            for descriptor, _ in self._poll.poll(seconds * 1000):
                self._read(descriptor)
            # Collect all answers before yielding the first, so that the time that the caller spends
            # on one answer does not count against the other drives.
            answers += self._settle(drive_timeout, deadline)
            yield from answers

    def close(self) -> None:
        """End the running processes within 2 * GRACE seconds; leave processes that cannot be
        killed to the kernel.
        """
        for process in list(self._active):
            self._end(process)
        while self._dying:
            time.sleep(0.002)
            self._escalate()

    def _is_full(self) -> bool:
        """Return whether the maximum number of processes is running, including processes that
        were sent SIGTERM.
        """
        return len(self._active) + len(self._dying) >= PARALLEL

    def lock_drives_in(self, state_dir: str) -> None:
        """From now on, lock each drive that is read, with a file in the state directory: then other
        checks of this user wait. A drive that cannot be locked is read all the same.
        """
        if self._locks is None or self._locks.state_dir != state_dir:
            self._locks = Waiting(state_dir)

    @property
    def why_forgetful(self) -> str:
        """Return why processes of earlier checks cannot be detected, or '' if they can."""
        return self._locks.why_not if self._locks else ''

    def _begin(self, command: Command) -> bool:
        """Start a command; return False if another check or command is already using the drive.

        Raises OSError.
        """
        # begin() returns the process that is reading the drive, or else a lock; -1 without a lock.
        reader_or_lock = self._locks.begin(command) if self._locks else -1
        if isinstance(reader_or_lock, Earlier):
            own_pids = [process.pid for process in (*self._active, *self._dying)]
            is_of_another_check = reader_or_lock.pid not in own_pids
            if is_of_another_check:
                self._readers[command] = reader_or_lock
                self._waiting_since.setdefault(command, time.monotonic())
            return False
        process = _spawn(command, reader_or_lock)
        self._readers.pop(command, None)
        since = self._waiting_since.pop(command, process.started)
        process.waited = process.started - since
        self._active.append(process)
        for descriptor in process.streams:
            self._by_descriptor[descriptor] = process
            self._poll.register(descriptor, select.POLLIN)
        return True

    def _fill(self, waiting: list[Command], drive_timeout: float) -> list[Answer]:
        """Start as many commands as allowed; return answers for the commands that cannot be
        started. Both kinds are removed from *waiting*; the others may start later.
        """
        refused = []
        for command in list(waiting):
            if self._is_full():
                break
            try:
                if self._begin(command):
                    waiting.remove(command)
                    continue
                refusal = self._busy(command, drive_timeout)
            except OSError as error:
                is_exhausted = error.errno in (
                    errno.EMFILE,
                    errno.ENFILE,
                    errno.EAGAIN,
                    errno.ENOMEM,
                )
                if self._active and is_exhausted:
                    # no descriptors or processes are left: wait for others to end
                    break
                refusal = _not_started(command, error.strerror or str(error))
            if refusal:
                waiting.remove(command)
                refused.append(refusal)
        return refused

    def _busy(self, command: Command, drive_timeout: float) -> Answer | None:
        """Return the answer for a command whose drive another check has been reading for at least
        *drive_timeout* seconds, so the drive hangs; None if the command may still start.
        """
        reader = self._readers.get(command)
        if reader and reader.is_stuck(drive_timeout):
            reason = f'smartctl has been waiting{reader.since}'
            return _not_started(command, reason, 'busy')
        return None

    def _too_late(self, command: Command, drive_timeout: float) -> Answer:
        """Return the answer for a command that was not started before the deadline."""
        reader = self._readers.get(command)
        if not reader:
            reason = 'the time limit passed before its turn'
            return _not_started(command, reason, 'too late')
        # another check reads the drive; it hangs, or merely needs time
        reason = f'another check has been reading the drive{reader.since}'
        in_use = _not_started(command, reason, 'met')
        return self._busy(command, drive_timeout) or in_use

    def _longest_wait(self, deadline: float) -> float:
        """Return how long to wait for output, in seconds; never beyond the deadline, because the
        time after it is for judging.
        """
        # A closed pipe shows that a process is ending; its exit status follows soon.
        is_ending = any(not process.streams for process in self._active)
        beat = SHORTEST_BEAT if is_ending else LONGEST_BEAT
        return max(0.0, min(beat, deadline - time.monotonic()))

    def _read(self, descriptor: int) -> None:
        """Read the available output and keep at most LARGEST_FILE bytes: endless output must not
        block the check.
        """
        process = self._by_descriptor[descriptor]
        output = process.output[process.streams[descriptor]]
        for _ in range(LARGEST_FILE // _CHUNK):
            try:
                chunk = os.read(descriptor, _CHUNK)
            except BlockingIOError:
                return
            if not chunk:
                self._shut(process, descriptor)
                return
            if len(output) < LARGEST_FILE:
                output.extend(chunk)

    def _shut(self, process: _Process, descriptor: int) -> None:
        """Close a pipe of a process, and record the time, because the process may be ending."""
        self._poll.unregister(descriptor)
        os.close(descriptor)
        del self._by_descriptor[descriptor], process.streams[descriptor]
        process.ending_since = time.monotonic()

    def _settle(self, drive_timeout: float, deadline: float) -> list[Answer]:
        """Return the answers of all processes that have ended or exceeded a limit."""
        self._escalate()
        now = time.monotonic()
        answers = []
        for process in list(self._active):
            outcome, reason = self._outcome(process, now, drive_timeout, deadline)
            if outcome:
                self._end(process)
                answers.append(_answer(process, outcome, reason))
        return answers

    def _outcome(
        self, process: _Process, now: float, drive_timeout: float, deadline: float
    ) -> tuple[str, str]:
        """Return how *process* ended and why; both texts are '' while it is running."""
        if len(process.output[0]) >= LARGEST_FILE:
            return 'overflow', f'the output is larger than {LARGEST_FILE >> 20} MiB'
        if process.reap():
            # A child of the process can keep the pipes open after its end. ending_since: when it
            # ended, or when the last pipe was closed, if that was later.
            is_complete = not process.streams or now - process.ending_since > LINGER
            if is_complete:
                return 'done', ''
        if now - process.started >= drive_timeout:
            return 'timeout', f'no answer within {drive_timeout:g} s'
        if now >= deadline:
            return (
                'cut short',
                f'no answer before the overall time limit ({now - process.started:.1f} s)',
            )
        return '', ''

    def _end(self, process: _Process) -> None:
        """Close the pipes of *process* and, if it still runs, send it SIGTERM."""
        for descriptor in list(process.streams):
            self._shut(process, descriptor)
        if not process.reap() and process.signal(SIGTERM):
            process.ending_since = time.monotonic()
            self._dying.append(process)
        # last, so that after an alarm between two lines, close() still finds it
        self._active.remove(process)

    def _escalate(self) -> None:
        """Forget the processes that have ended after SIGTERM, and those that cannot be ended; kill
        those that ignore SIGTERM.
        """
        for process in list(self._dying):
            may_still_end = _kill_if_late(process)
            if not may_still_end:
                self._dying.remove(process)


def _kill_if_late(process: _Process) -> bool:
    """Kill a process that ignores SIGTERM; return whether it may still end.

    False: it has ended, it survives SIGKILL, because the kernel blocks it, or it must not be
    killed.

    sudo (1.9) accepts signals from its caller and passes SIGTERM to smartctl. SIGKILL would end
    only sudo, so the TIMEOUT of its rule would no longer end a smartctl that ignores signals.
    """
    if process.reap():
        return False
    since_sigterm = time.monotonic() - process.ending_since
    if since_sigterm <= GRACE:
        return True
    survives_sigkill = since_sigterm > 2 * GRACE
    if survives_sigkill or is_behind_sudo(process.command):
        return False
    return process.signal(SIGKILL)


def _answer(process: _Process, outcome: str, reason: str) -> Answer:
    from ..model import Answer

    # If this program has ended it, its status says nothing.
    status = process.status if outcome == 'done' else None
    signal = None
    if status is not None and status < 0:
        signal = -status
        status = None
        reason = f'terminated by signal {signal}'
    ended = time.monotonic()
    return Answer(
        command=process.command,
        outcome=outcome,
        reason=reason,
        status=status,
        signal=signal,
        stdout=bytes(process.output[0]),
        stderr=bytes(process.output[1]),
        seconds=ended - process.started,
        waited=process.waited,
        ended=ended,
    )


def _not_started(command: Command, reason: str, outcome: str = 'not started') -> Answer:
    from ..model import Answer

    return Answer(command=command, outcome=outcome, reason=reason)
