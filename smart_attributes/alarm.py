"""Alarms: the end of the time limit, the end of the CPU time for one drive, and signals that end
the program.

An alarm can interrupt the program at any point, even in an endless regular expression. This module
is imported before the first process starts, so it must be cheap: it uses `_signal`, because
`signal` imports enum (5 ms).
"""

from __future__ import annotations

import os
import sys

# see typed, which would load collections before the first process starts
TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal as _signal
    from collections.abc import Callable
    from typing import TypeVar

    T = TypeVar('T')
else:
    import _signal

OUTPUT_TIME = 1.0  # seconds that the reader of the output has
# seconds that the program has to print its results after a signal that ends it
GRACE = 1.0
_ENDINGS = {
    int(_signal.SIGTERM): 'SIGTERM',
    int(_signal.SIGHUP): 'SIGHUP',
    int(_signal.SIGINT): 'SIGINT',
}


class TimeIsOver(BaseException):
    """The error that ends a command; str() gives the reason.

    A handler of `Exception` does not catch this error.
    """

    is_late = False  # more time would have helped


class _Late(TimeIsOver):
    is_late = True


class TakesTooLong(Exception):
    """The error that ends the work on one drive. The other drives have time limits of their own."""


class _Granted:
    """The CPU time that one drive may take, in seconds."""

    share = 0.0  # unlimited: arm() was not called, so the command has no time limit


def obey() -> None:
    """Let SIGTERM, SIGHUP and SIGINT raise TimeIsOver, except the signals that were already
    ignored.
    """
    for number in _ENDINGS:
        if _signal.getsignal(number) in (_signal.SIG_DFL, _signal.default_int_handler):
            _signal.signal(number, _end)
    # for the patterns of a command without a time limit
    _signal.signal(_signal.SIGVTALRM, _too_long)


def reserve(seconds: float) -> float:
    """Return how many seconds of a time limit to reserve for judging drives; printing gets the
    same number.
    """
    return min(2.0, seconds / 10)


def arm(seconds: float) -> None:
    """Raise TimeIsOver after *seconds* minus the time reserved for printing, and again when the
    reserved time ends.

    limited() then grants each drive a tenth of *seconds* as CPU time, but at least one second,
    because the first drive also pays for imports, and at most half of *seconds*.
    """
    _Granted.share = min(seconds / 2, max(1.0, seconds / 10))

    def end(number: int, frame: object) -> None:
        raise _Late(f'time limit of {seconds:g} s exceeded')

    _signal.signal(_signal.SIGALRM, end)
    _signal.signal(_signal.SIGVTALRM, _too_long)
    _signal.setitimer(_signal.ITIMER_REAL, seconds - reserve(seconds), reserve(seconds))


def time_left() -> float:
    """Return the seconds until the next alarm, which interrupts the work to keep the time reserved
    for printing; infinite without a time limit.
    """
    seconds, _ = _signal.getitimer(_signal.ITIMER_REAL)
    return seconds or float('inf')


def disarm() -> None:
    """Cancel all alarms."""
    _Granted.share = 0.0
    _signal.setitimer(_signal.ITIMER_REAL, 0)
    _signal.setitimer(_signal.ITIMER_VIRTUAL, 0)


def ignore() -> None:
    """Ignore all signals, because only the end of the process is left to do."""
    disarm()
    for number in (*_ENDINGS, int(_signal.SIGALRM)):
        _signal.signal(number, _signal.SIG_IGN)


def limited(
    function: Callable[..., T], *arguments: object, seconds: float | None = None
) -> T:
    """Return the result of function(*arguments).

    Raises TakesTooLong when the drive has used its CPU time.

    seconds: CPU time; None: the share that arm() grants each drive, or unlimited without arm(). A
    call inside another stops the clock of the other. The limit is CPU time, so that a good drive
    does not become UNKNOWN on a busy machine.
    """
    share = _Granted.share if seconds is None else seconds
    outer = _signal.setitimer(_signal.ITIMER_VIRTUAL, share, share)
    try:
        return function(*arguments)
    finally:
        _signal.setitimer(_signal.ITIMER_VIRTUAL, *outer)


def in_time(work: Callable[[str], T]) -> T:
    """Return work(''), or work(reason) if TimeIsOver interrupts the first call. With a reason, the
    work must be quick.

    The second call has the time until the next alarm: the reserve, or GRACE after a signal.
    """
    try:
        return work('')
    except TimeIsOver as over:
        return work(str(over))


class _Conclusion:
    """The output of a check. conclude() sets it, _write() writes it, and _leave() ends the process
    with its status.
    """

    rest = b''  # not written yet
    status = 3  # exit status that belongs to the output
    descriptor = 1
    is_begun = False  # a part of the output may be written


def conclude(text: str, status: int) -> None:
    """Write the output of a check. The verdicts are final, so nothing is computed again.

    From now on, a signal makes the process end with this exit status; so does the alarm after
    OUTPUT_TIME, if nobody reads the output. Raises OSError if the output cannot be written.
    """
    try:
        descriptor = sys.stdout.fileno()
    except (AttributeError, OSError, ValueError):
        # stdout is closed, or is an object of a test or of a program that calls this one
        print(text, end='')
        return
    _Conclusion.descriptor = descriptor
    _Conclusion.rest = text.encode(sys.stdout.encoding, 'replace')
    _Conclusion.status = status
    # Alarms and signals now call _leave(), because the work that they ended is done. Ignored signals
    # stay ignored.
    for number in _ENDINGS:
        if _signal.getsignal(number) != _signal.SIG_IGN:
            _signal.signal(number, _leave)
    _signal.signal(_signal.SIGALRM, _leave)
    # The time limit of the work no longer counts.
    disarm()
    _signal.setitimer(_signal.ITIMER_REAL, OUTPUT_TIME, OUTPUT_TIME)
    _write()
    disarm()


def _write() -> None:
    """Write the rest of the output. A signal can interrupt this at any point, see _leave()."""
    while _Conclusion.rest:
        _Conclusion.is_begun = True
        count = os.write(_Conclusion.descriptor, _Conclusion.rest)
        _Conclusion.rest = _Conclusion.rest[count:]


def _leave(number: int, frame: object) -> None:
    """End the process with its status; write the output first if nothing of it is written yet."""
    try:
        if not _Conclusion.is_begun:
            _write()
    finally:
        os._exit(_Conclusion.status)


def _end(number: int, frame: object) -> None:
    """Raise TimeIsOver because of a signal. If the command has a time limit, let SIGALRM raise it
    again after GRACE, in case the printing does not end.
    """
    for ending in _ENDINGS:  # a second signal would interrupt the printing
        _signal.signal(ending, _signal.SIG_IGN)
    has_time_limit = _Granted.share > 0
    if has_time_limit:
        _signal.setitimer(_signal.ITIMER_REAL, GRACE, GRACE)
    raise TimeIsOver(f'ended by {_ENDINGS[number]}')


def _too_long(number: int, frame: object) -> None:
    """Raise TakesTooLong because the virtual timer of limited() has ended."""
    raise TakesTooLong(f'{_Granted.share:g} s of CPU time')
