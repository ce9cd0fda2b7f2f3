"""Run smartctl processes in parallel, read their output, and end them in time.

This module does not parse smartctl's output; each process results in an Answer of bytes. It is imported first
and starts the processes, so it must be cheap: see the note on imports.
"""
from __future__ import annotations

import errno
import os
import select
import time

# ruff: noqa: SIM105 - imports within functions, and contextlib is one of the expensive ones
#
# Drives answer while Python is still importing the rest. Imports that would delay the first process stay out of here:
# typing, re, enum (with it signal), model and errors take 30 ms together, these modules less than 1 ms. Type checkers
# read this name as typing.TYPE_CHECKING.
from ..constants import LARGEST_FILE
from .drive_locks import Earlier, Waiting, sign
from .smartctl_calls import ENVIRONMENT, is_behind_sudo

TYPE_CHECKING = False  # see typed, which would load collections before the first process starts
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from ..model import Answer
    from .smartctl_calls import Command

_CHUNK = 1 << 16         # bytes that Linux keeps in a pipe
GRACE = 0.5              # seconds between SIGTERM and SIGKILL, and again before giving up
SHORTEST_BEAT, LONGEST_BEAT = 0.0001, 0.05  # seconds between two looks at all processes
POLLED = 0.001           # seconds; the shortest timeout of poll()
LINGER = 0.2             # seconds a pipe may stay open after smartctl itself has ended

# `signal` imports enum, 5 ms. POSIX fixes 9 and 15; 13 is SIGPIPE wherever smartctl runs.
SIGKILL, SIGPIPE, SIGTERM = 9, 13, 15

_LATER = (errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM)


class _Process:
    """A running smartctl, and its output so far."""
    __slots__ = ('chunks', 'command', 'pid', 'since', 'sizes', 'started', 'status', 'streams', 'waited')

    def __init__(self, command: Command, pid: int, streams: dict[int, int]) -> None:
        self.command, self.pid = command, pid
        self.started = time.monotonic()
        self.streams = streams                  # open descriptor -> 0 stdout, 1 stderr
        self.chunks: tuple[list[bytes], list[bytes]] = ([], [])
        self.sizes = [0, 0]
        self.status: int | None = None          # exit status, or minus the signal
        self.waited = 0.0                       # seconds spent waiting for another check of the drive
        self.since = self.started               # start of its ending: last pipe closed, SIGTERM sent, or exited

    def reap(self) -> bool:
        """Collect the exit status if there is one; return whether the process has ended."""
        if self.status is None:
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:  # other code already called wait(): the status is lost
                pid, status = self.pid, 0
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
                self.since = time.monotonic()
        return self.status is not None

    def signal(self, number: int) -> bool:
        """Send a signal to its process group; return False without permission."""
        try:
            os.killpg(self.pid, number)
        except ProcessLookupError:
            pass
        except PermissionError:  # all of the group belongs to root
            return False
        return True


def _spawn(command: Command, lock: int) -> _Process:
    """Start *command* with only its pipes and, as standard input, the lock file if it has one. Raises OSError.

    It uses posix_spawn and poll, because importing subprocess costs more CPU than this module needs for 24 drives.
    """
    ends: list[int] = []
    nothing = (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)
    try:
        ends += os.pipe()
        ends += os.pipe()
        pid = _started(command, [nothing if lock < 0 else (os.POSIX_SPAWN_DUP2, lock, 0),
                                 (os.POSIX_SPAWN_DUP2, ends[1], 1), (os.POSIX_SPAWN_DUP2, ends[3], 2)])
    except OSError:
        for end in (*ends, *([lock] if lock >= 0 else [])):
            os.close(end)
        raise
    if lock >= 0:
        sign(lock, pid)
    for theirs, ours in ((ends[1], ends[0]), (ends[3], ends[2])):
        os.close(theirs)
        os.set_blocking(ours, False)
    return _Process(command, pid, {ends[0]: 0, ends[2]: 1})


def _started(command: Command, actions: list[tuple[object, ...]]) -> int:
    """Return the number of the started process, apart from this one, so that one signal ends it and its children.

    In a separate session, without our terminal, sudo and smartctl behave as under a daemon. FreeBSD can only give it a
    process group of its own. Source: FreeBSD, include/spawn.h, which lacks POSIX_SPAWN_SETSID.
    """
    def start(**apart: Any) -> int:
        # Children would inherit that Python ignores SIGPIPE, but an abandoned smartctl must end with its pipe.
        return os.posix_spawn(command[0], command, ENVIRONMENT, file_actions=actions, setsigdef=[SIGPIPE], **apart)
    try:
        return start(setsid=True)
    except NotImplementedError:
        return start(setpgroup=0)


class Runner:
    """The runner of parallel commands, each with its own time limit and all with one deadline.

    Usage: start() the commands that are certain, import the rest, run() all commands, print, close(). Call run() again
    for retries.
    """

    def __init__(self, waiting: Waiting | None = None) -> None:
        self._waiting = waiting
        self.later: list[Callable[[], object]] = []  # work to do after the output
        # The last process of another check that used the drive, and since when any did.
        self._met: dict[Command, tuple[Earlier, float]] = {}
        self._poll = select.poll()
        self._of: dict[int, _Process] = {}
        self._active: list[_Process] = []
        self._dying: list[_Process] = []
        self._added: list[Command] = []
        self._patience: dict[Command, float] = {}  # seconds, of commands that have less time than the others

    def add(self, command: Command, patience: float) -> None:
        """Let the present run() run another command, at most for *patience* seconds."""
        self._added.append(command)
        self._patience[command] = patience

    def start(self, command: Command, jobs: int) -> None:
        """Start *command* unless *jobs* others run. The next run() uses it, or ends it if it is not requested."""
        if self._is_full(jobs) or any(process.command == command for process in self._active):
            return
        try:
            self._begin(command)
        except OSError:
            pass  # run() tries again and reports the reason

    def run(self, commands: Iterable[Command], jobs: int, drive_timeout: float, deadline: float) -> Iterator[Answer]:
        """Run *commands*, at most *jobs* at once, and yield one Answer per distinct command as they end.

        drive_timeout: seconds for one command; deadline: of time.monotonic(), for all of them.
        """
        waiting = list(dict.fromkeys(commands))
        for process in list(self._active):
            if process.command in waiting:
                waiting.remove(process.command)
            else:
                self._end(process)
        while waiting or self._active or self._added:
            waiting += self._added
            self._added.clear()
            answers = self._fill(waiting, jobs, drive_timeout, deadline)
            self._listen(self._pause(drive_timeout, deadline) if not answers else 0)
            # Collect all before yielding any, so that the time that the caller spends on one answer does not count
            # against the other drives.
            answers += self._settle(drive_timeout, deadline)
            yield from answers

    def close(self) -> None:
        """End the running processes in at most two GRACE; leave those that cannot be killed to the kernel."""
        for process in list(self._active):
            self._end(process)
        while self._dying:
            self._escalate()
            time.sleep(0.002 if self._dying else 0)

    def _is_full(self, jobs: int) -> bool:
        """Return whether the maximum of processes run, including those that were sent SIGTERM."""
        return len(self._active) + len(self._dying) >= jobs

    def keep(self, state_dir: str) -> None:
        """From now on, look in the state directory for processes of earlier checks that still wait."""
        if self._waiting is None or self._waiting.state_dir != state_dir:
            self._waiting = Waiting(state_dir)

    @property
    def forgetful(self) -> str:
        """Return why processes of earlier checks are not known, or '' if they are."""
        return self._waiting.why_not if self._waiting else ''

    def _begin(self, command: Command) -> bool:
        """Start a command; False if another check or another address is reading that drive. Raises OSError."""
        lock = self._waiting.begin(command) if self._waiting else -1
        if isinstance(lock, Earlier):
            if not any(lock.pid == process.pid for process in (*self._active, *self._dying)):
                self._met[command] = (lock, self._met.get(command, (lock, time.monotonic()))[1])
            return False
        process = _spawn(command, lock)
        if command in self._met:
            process.waited = process.started - self._met.pop(command)[1]
        self._active.append(process)
        for descriptor in process.streams:
            self._of[descriptor] = process
            self._poll.register(descriptor, select.POLLIN)
        return True

    def _fill(self, waiting: list[Command], jobs: int, drive_timeout: float, deadline: float) -> list[Answer]:
        """Start as many commands as allowed; return answers for those that cannot be started."""
        refused: list[Answer] = []
        for command in list(waiting):
            is_late = time.monotonic() >= deadline
            if not is_late and self._is_full(jobs):
                break
            try:
                if not is_late and self._begin(command):
                    waiting.remove(command)
                    continue
                answer = self._not_begun(command, is_late, drive_timeout)
            except OSError as error:
                if self._active and error.errno in _LATER:
                    break  # out of descriptors or processes: wait for others to end
                answer = _not_started(command, error.strerror or str(error))
            if answer:
                refused.append(answer)
                waiting.remove(command)
        return refused

    def _not_begun(self, command: Command, is_late: bool, drive_timeout: float) -> Answer | None:
        """Return the answer for a command that was not started, or None if it may still start."""
        earlier = self._met[command][0] if command in self._met else None
        if earlier and earlier.is_stuck(self._patience.get(command, drive_timeout)):
            return _not_started(command, str(earlier), 'busy')
        if not is_late:
            return None
        if earlier:
            return _not_started(command, f'another check has been reading it{earlier.since}', 'met')
        return _not_started(command, 'the time limit passed before its turn', 'too late')

    def _pause(self, drive_timeout: float, deadline: float) -> float:
        """Return how long to wait for output, in seconds."""
        now = time.monotonic()
        # A closed pipe shows that a process is ending; its exit status follows within a tenth of a millisecond. If it
        # takes longer, the interval between looks grows.
        over = [now - process.since for process in self._active if not process.streams]
        beat = min([LONGEST_BEAT, *(max(SHORTEST_BEAT, seconds) for seconds in over)])
        ends = [deadline, *(process.started + self._patience.get(process.command, drive_timeout)
                            for process in self._active)]
        return max(0.0, min(beat, min(ends) - now))

    def _listen(self, seconds: float) -> None:
        """Wait at most *seconds* for output, then read all output of the processes that have printed by then.

        Do not read from others: while the last of many drives answer, there is always one more.
        """
        if seconds < POLLED:
            time.sleep(seconds)
        for descriptor, _ in self._poll.poll(seconds * 1000 if seconds >= POLLED else 0):
            self._read(descriptor)

    def _read(self, descriptor: int) -> None:
        """Read the available output and discard what exceeds LARGEST_FILE; endless output must not block the check."""
        process = self._of[descriptor]
        stream = process.streams[descriptor]
        for _ in range(LARGEST_FILE // _CHUNK):
            try:
                chunk = os.read(descriptor, _CHUNK)
            except BlockingIOError:
                return
            if not chunk:
                self._shut(process, descriptor)
                return
            if process.sizes[stream] < LARGEST_FILE:
                process.chunks[stream].append(chunk)
                process.sizes[stream] += len(chunk)

    def _shut(self, process: _Process, descriptor: int) -> None:
        self._poll.unregister(descriptor)
        os.close(descriptor)
        del self._of[descriptor], process.streams[descriptor]
        process.since = time.monotonic()

    def _settle(self, drive_timeout: float, deadline: float) -> list[Answer]:
        """Return the answers of all processes that have ended in any way."""
        self._escalate()
        now = time.monotonic()
        answers = []
        for process in list(self._active):
            outcome, reason = self._outcome(process, now, drive_timeout, deadline)
            if outcome:
                self._end(process)
                answers.append(_answer(process, outcome, reason))
        return answers

    def _outcome(self, process: _Process, now: float, drive_timeout: float, deadline: float) -> tuple[str, str]:
        """Return how *process* ended and why, or '' while it runs."""
        if process.sizes[0] >= LARGEST_FILE:
            return 'overflow', f'the output is larger than {LARGEST_FILE >> 20} MiB'
        if process.reap() and (not process.streams or now - process.since > LINGER):
            return 'done', ''
        patience = self._patience.get(process.command, drive_timeout)
        if now - process.started >= patience:
            return 'timeout', f'no answer within {patience:g} s'
        if now >= deadline:
            return 'cut short', f'no answer after {now - process.started:.1f} s, when the overall time limit passed'
        return '', ''

    def _end(self, process: _Process) -> None:
        """Close the pipes of *process* and, if it still runs, send it SIGTERM."""
        for descriptor in list(process.streams):
            self._shut(process, descriptor)
        if not process.reap() and process.signal(SIGTERM):
            process.since = time.monotonic()
            self._dying.append(process)
        self._active.remove(process)  # last: an alarm may come between two lines, and close() ends what it finds here

    def _escalate(self) -> None:
        """Kill processes that ignored SIGTERM; give up those that survive SIGKILL too, because the kernel blocks them.

        sudo (1.9) accepts signals from its caller and passes SIGTERM to smartctl. SIGKILL would end only sudo, and with
        it the TIMEOUT of the rule, which ends a smartctl that ignores signals.
        """
        now = time.monotonic()
        for process in list(self._dying):
            late = now - process.since
            is_final = is_behind_sudo(process.command)
            if process.reap() or late > 2 * GRACE or (late > GRACE and (is_final or not process.signal(SIGKILL))):
                self._dying.remove(process)


def _answer(process: _Process, outcome: str, reason: str) -> Answer:
    from ..model import Answer
    status = process.status if outcome == 'done' else None
    return Answer(command=process.command, outcome=outcome, reason=reason,
                  status=status if status is not None and status >= 0 else None,
                  signal=-status if status is not None and status < 0 else None,
                  stdout=b''.join(process.chunks[0]), stderr=b''.join(process.chunks[1]),
                  seconds=time.monotonic() - process.started, waited=process.waited)


def _not_started(command: Command, reason: str, outcome: str = 'not started') -> Answer:
    from ..model import Answer
    return Answer(command=command, outcome=outcome, reason=reason)
