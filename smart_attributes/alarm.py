"""Alarms: the end of the time limit, of the CPU time of one drive, and signals that end the program.

An alarm raises its error wherever the program is, also in a regular expression that never ends. Imported before the
first process starts, so it must be cheap: `signal` imports enum, which takes 5 ms; `_signal` is the module behind it.
"""
from __future__ import annotations

TYPE_CHECKING = False  # as type checkers read typing.TYPE_CHECKING, which would be expensive
if TYPE_CHECKING:
    import signal as _signal
    from collections.abc import Callable
    from typing import TypeVar

    T = TypeVar('T')
else:
    import _signal

GRACE = 1.0  # seconds from a signal that ends the program until it must have printed its results
_ENDINGS = {int(_signal.SIGTERM): 'SIGTERM', int(_signal.SIGHUP): 'SIGHUP', int(_signal.SIGINT): 'SIGINT'}


class TimeIsOver(BaseException):
    """Ends the work of a command; str() says why. A handler of Exception does not catch it."""

    is_late = False  # more time would have helped


class _Late(TimeIsOver):
    is_late = True


class TakesTooLong(Exception):
    """Ends the work on one drive; the others have their own time."""


class _Granted:
    """The CPU time that one drive may take, in seconds; 0 while there is no limit."""

    share = 0.0


def obey() -> None:
    """Let SIGTERM, SIGHUP and SIGINT raise TimeIsOver, unless this process was started with them ignored."""
    for number in _ENDINGS:
        if _signal.getsignal(number) in (_signal.SIG_DFL, _signal.default_int_handler):
            _signal.signal(number, _end)


def reserve(seconds: float) -> float:
    """Return the seconds of a time limit that are kept for judging the drives read by then, and again for printing."""
    return min(2.0, seconds / 10)


def arm(seconds: float) -> None:
    """Let TimeIsOver be raised after *seconds*, less the reserve for printing, and again after each further reserve.

    limited() then grants each drive a tenth, on small limits more, since the first one pays for imports, too.
    """
    _Granted.share = min(seconds / 2, max(1.0, seconds / 10))
    _signal.signal(_signal.SIGALRM, lambda number, frame: _raise(_Late(f'time was over after {seconds:g} s')))
    _signal.signal(_signal.SIGVTALRM, lambda number, frame: _raise(TakesTooLong(f'{_Granted.share:g} s of computing')))
    _signal.setitimer(_signal.ITIMER_REAL, seconds - reserve(seconds), reserve(seconds))


def disarm() -> None:
    """Cancel all alarms."""
    _Granted.share = 0.0
    _signal.setitimer(_signal.ITIMER_REAL, 0)
    _signal.setitimer(_signal.ITIMER_VIRTUAL, 0)


def limited(function: Callable[..., T], *arguments: object) -> T:
    """Return function(*arguments). Raises TakesTooLong after the CPU time of one drive.

    CPU time, since a machine under load must not make a good drive UNKNOWN.
    """
    _signal.setitimer(_signal.ITIMER_VIRTUAL, _Granted.share, _Granted.share)  # a share of 0, without arm(), sets none
    try:
        return function(*arguments)
    finally:
        _signal.setitimer(_signal.ITIMER_VIRTUAL, 0)


def _end(number: int, frame: object) -> None:
    for ending in _ENDINGS:  # a second signal would interrupt the printing
        _signal.signal(ending, _signal.SIG_IGN)
    if _Granted.share:
        _signal.setitimer(_signal.ITIMER_REAL, GRACE, GRACE)
    raise TimeIsOver(f'ended by {_ENDINGS[number]}')


def _raise(error: BaseException) -> None:
    raise error
