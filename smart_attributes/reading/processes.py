"""Processes of smartctl: started in parallel, listened to, ended in time.

Nothing here understands what smartctl says about a drive; a process becomes an
Answer of bytes. This module is imported first and starts the processes, so it
must be cheap: see the note on imports.
"""
from __future__ import annotations

import errno
import os
import select
import time

from .commands import ENVIRONMENT

# ruff: noqa: SIM105 - imports within functions, and contextlib is one of the expensive ones
#
# Drives answer while Python is still importing the rest. What would delay the
# first process stays out of here: typing, re, enum (with it signal), model and
# errors take 30 ms together, these modules less than 1 ms. Type checkers
# read this name as typing.TYPE_CHECKING.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..model import Answer
    from .commands import Command

MAX_OUTPUT = 4 << 20     # bytes of one stream; the longest report known has 0.1 MB
_CHUNK = 1 << 16         # bytes that Linux keeps in a pipe
GRACE = 0.5              # seconds between SIGTERM and SIGKILL, and again before giving up
LINGER = 0.2             # seconds a pipe may stay open after smartctl itself has ended

# `signal` imports enum, 5 ms. POSIX fixes 9 and 15; 13 is SIGPIPE wherever smartctl runs.
SIGKILL, SIGPIPE, SIGTERM = 9, 13, 15

_LATER = (errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM)


class _Process:
    """A smartctl that was started, and what it has printed so far."""

    __slots__ = ('chunks', 'command', 'pid', 'since', 'sizes', 'started', 'status', 'streams')

    def __init__(self, command: Command, pid: int, streams: dict[int, int]) -> None:
        self.command = command
        self.pid = pid
        self.started = time.monotonic()
        self.streams = streams                  # open descriptor -> 0 stdout, 1 stderr
        self.chunks: tuple[list[bytes], list[bytes]] = ([], [])
        self.sizes = [0, 0]
        self.status: int | None = None       # exit status, or minus the signal
        self.since = self.started               # when it began to be over: last pipe shut, or ended, or told to

    def reap(self) -> bool:
        """Collect the exit status if there is one; tell whether it has ended."""
        if self.status is None:
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:  # someone else's wait(): nothing left to learn
                pid, status = self.pid, 0
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
                self.since = time.monotonic()
        return self.status is not None

    def signal(self, number: int) -> bool:
        """Send a signal to all of its group; False where that is not ours to do."""
        try:
            os.killpg(self.pid, number)
        except ProcessLookupError:
            pass
        except PermissionError:  # root's in every respect
            return False
        return True


def _spawn(command: Command) -> _Process:
    """Start *command* with nothing but its pipes. Raises OSError.

    posix_spawn and poll rather than subprocess: importing that costs more CPU
    than everything this module does for 24 drives.
    """
    ends: list[int] = []
    try:
        ends += os.pipe()
        ends += os.pipe()
        pid = os.posix_spawn(
            command[0], command, ENVIRONMENT,
            file_actions=[(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                          (os.POSIX_SPAWN_DUP2, ends[1], 1), (os.POSIX_SPAWN_DUP2, ends[3], 2)],
            # Away from our terminal and group: sudo and smartctl behave as under a daemon.
            setsid=True,
            # Python ignores SIGPIPE and children would inherit that: an
            # abandoned smartctl has to end when its pipe is gone.
            setsigdef=[SIGPIPE])
    except OSError:
        for end in ends:
            os.close(end)
        raise
    os.close(ends[1])
    os.close(ends[3])
    return _Process(command, pid, {ends[0]: 0, ends[2]: 1})


class Runner:
    """Runs commands in parallel; each gets its own time limit, all of them a deadline.

    Usage: start() what is surely needed, import the rest, run() everything,
    print, close(). run() may be called again, for what the first answers call for.
    """

    def __init__(self) -> None:
        self._poll = select.poll()
        self._of: dict[int, _Process] = {}
        self._active: list[_Process] = []
        self._dying: list[_Process] = []

    def start(self, command: Command, jobs: int) -> None:
        """Start *command* now, unless *jobs* others run; a later run() with the same command picks it up, one without it ends it."""
        if self._is_full(jobs) or any(process.command == command for process in self._active):
            return
        try:
            self._enlist(_spawn(command))
        except OSError:
            pass  # run() tries again, and then says why it cannot

    def run(self, commands: Iterable[Command], jobs: int, drive_timeout: float, deadline: float) -> Iterator[Answer]:
        """Run *commands*, at most *jobs* at once, and yield one Answer for each different one, as they end.

        drive_timeout: seconds for one command; deadline: of time.monotonic(), for all of them.
        """
        waiting = list(dict.fromkeys(commands))
        for process in list(self._active):
            if process.command in waiting:
                waiting.remove(process.command)
            else:
                self._end(process)
        waiting.reverse()
        while waiting or self._active:
            answers = self._fill(waiting, jobs, deadline)
            self._listen(self._pause(drive_timeout, deadline) if not answers else 0)
            # All at once, before anything is yielded: while the caller works
            # on one answer, time passes that is not the other drives' fault.
            answers += self._settle(drive_timeout, deadline)
            yield from answers

    def close(self) -> None:
        """End what still runs. Takes two GRACE at most: what cannot be killed is left to the kernel."""
        for process in list(self._active):
            self._end(process)
        while self._dying:
            self._escalate()
            time.sleep(0.002 if self._dying else 0)

    def _is_full(self, jobs: int) -> bool:
        """Tell whether as many processes run as may; one that was told to end still runs."""
        return len(self._active) + len(self._dying) >= jobs

    def _enlist(self, process: _Process) -> None:
        self._active.append(process)
        for descriptor in process.streams:
            self._of[descriptor] = process
            self._poll.register(descriptor, select.POLLIN)

    def _fill(self, waiting: list[Command], jobs: int, deadline: float) -> list[Answer]:
        """Start what there is room for; return the answers of those that cannot be started."""
        refused: list[Answer] = []
        while waiting and (not self._is_full(jobs) or time.monotonic() >= deadline):
            if time.monotonic() >= deadline:
                refused.append(_not_started(waiting.pop(), 'its turn did not come in time', 'too late'))
                continue
            try:
                self._enlist(_spawn(waiting[-1]))
            except OSError as error:
                if self._active and error.errno in _LATER:
                    break  # out of descriptors or processes: wait for others to end
                refused.append(_not_started(waiting[-1], error.strerror or str(error)))
            waiting.pop()
        return refused

    def _pause(self, drive_timeout: float, deadline: float) -> float:
        """Return how long to wait for output, in seconds."""
        now = time.monotonic()
        # Ends are noticed by shut pipes and then collected. The exit comes
        # within the millisecond; only oddities wait for the slow beat.
        just_over = any(not process.streams and now - process.since < 0.02 for process in self._active)
        beat = 0.001 if just_over else 0.05
        ends = [process.started + drive_timeout for process in self._active] + [deadline]
        return max(0.0, min(beat, min(ends) - now))

    def _listen(self, seconds: float) -> None:
        """Wait for output at most *seconds*, then take all that is there."""
        ready = self._poll.poll(seconds * 1000)
        rounds = 0
        while ready and rounds < MAX_OUTPUT // _CHUNK:  # whoever prints without end must not keep us here
            for descriptor, _ in ready:
                self._read(descriptor)
            ready = self._poll.poll(0)
            rounds += 1

    def _read(self, descriptor: int) -> None:
        process = self._of[descriptor]
        stream = process.streams[descriptor]
        chunk = os.read(descriptor, _CHUNK)
        if not chunk:
            self._shut(process, descriptor)
        elif process.sizes[stream] < MAX_OUTPUT:
            process.chunks[stream].append(chunk)
            process.sizes[stream] += len(chunk)

    def _shut(self, process: _Process, descriptor: int) -> None:
        self._poll.unregister(descriptor)
        os.close(descriptor)
        del self._of[descriptor], process.streams[descriptor]
        process.since = time.monotonic()

    def _settle(self, drive_timeout: float, deadline: float) -> list[Answer]:
        """Return the answers of all processes that are over, in whatever way."""
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
        """Return how *process* ended and why, or '' while it goes on."""
        if process.sizes[0] >= MAX_OUTPUT:
            return 'overflow', f'it printed more than {MAX_OUTPUT >> 20} MiB'
        if process.reap() and (not process.streams or now - process.since > LINGER):
            return 'done', ''
        if now - process.started >= drive_timeout:
            return 'timeout', f'no answer within {drive_timeout:g} s'
        if now >= deadline:
            return 'timeout', f'no answer after {now - process.started:.1f} s, when the time for all drives was over'
        return '', ''

    def _end(self, process: _Process) -> None:
        """Take leave of *process*: shut its pipes and, if it still runs, tell it to end."""
        for descriptor in list(process.streams):
            self._shut(process, descriptor)
        if not process.reap() and process.signal(SIGTERM):
            process.since = time.monotonic()
            self._dying.append(process)
        self._active.remove(process)  # last: an alarm may come between two lines, and close() ends what it finds here

    def _escalate(self) -> None:
        """Kill what has not obeyed SIGTERM; give up what survives that too, stuck in the kernel.

        sudo (1.9) may be signalled by whoever called it and hands SIGTERM on to
        smartctl; SIGKILL then ends only sudo, and smartctl as soon as the kernel lets go of it.
        """
        now = time.monotonic()
        for process in list(self._dying):
            late = now - process.since
            if process.reap() or late > 2 * GRACE or (late > GRACE and not process.signal(SIGKILL)):
                self._dying.remove(process)


def _answer(process: _Process, outcome: str, reason: str) -> Answer:
    from ..model import Answer
    status = process.status if outcome == 'done' else None
    return Answer(command=process.command, outcome=outcome, reason=reason,
                  status=status if status is not None and status >= 0 else None,
                  signal=-status if status is not None and status < 0 else None,
                  stdout=b''.join(process.chunks[0]), stderr=b''.join(process.chunks[1]),
                  seconds=time.monotonic() - process.started)


def _not_started(command: Command, reason: str, outcome: str = 'not started') -> Answer:
    from ..model import Answer
    return Answer(command=command, outcome=outcome, reason=reason)
