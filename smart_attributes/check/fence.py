"""Fences around the work on one drive: an exception makes only this drive UNKNOWN.

failed() is the verdict after an exception, and shown() is the fence around printing.

An exception while a report is parsed becomes a DriveError in reading/machine.py. Errors about the
whole run, such as a missing Python package, are left to `main`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .. import alarm
from ..errors import DriveAsleep, DriveError, DriveWithState, SmartError
from ..model import Device, Identity, State, Verdict, worst
from ..typed import TYPE_CHECKING, Any, T
from ..words import argument

if TYPE_CHECKING:
    from typing import TypeVar

    Drive = TypeVar('Drive', bound=Any)

PATH = 'PATH'  # in the next step of an error: the path of the device
UNJUDGED = 'cannot be evaluated'
UNCOMPARED = 'cannot be compared with its history'
UNDECIDED = 'has no recommended action'
UNSHOWN = 'cannot be shown'


def failed(verdict: Verdict, error: Exception, what: str) -> Verdict:
    """Return the verdict on a drive whose processing raised an exception: UNKNOWN, but CRITICAL
    remains CRITICAL.

    what: the part that failed, such as "cannot be shown".
    """
    if verdict.state is State.CRITICAL:
        what = f'is {verdict.state.name}, but {what}'
    problem = _problem(error, what)
    return Verdict(
        verdict.device,
        verdict.identity,
        worst([verdict.state, State.UNKNOWN]),
        problem=problem.why,
        code=problem.code,
        step=problem.step,
    )


def _problem(error: Exception, what: str) -> SmartError:
    """Return an exception as an error of the drive. what: the part that failed."""
    if isinstance(error, SmartError):  # a mistake in a local file
        if what == UNJUDGED:
            return error  # the mistake alone explains why
        return DriveError(f'{what}: {error.why}', error.code, step=error.step)
    if isinstance(error, alarm.TakesTooLong):
        return DriveError(f'{what}: this took more than {error}', 'judging-failed')
    from ..failures import inside

    return inside(error, what)


def tried(
    verdict: Verdict, work: Callable[[Verdict], T], what: str, otherwise: T
) -> tuple[Verdict, T]:
    """Return a verdict and the result of *work*; after an exception, the result of failed() and
    *otherwise*. what: as for failed().
    """
    try:
        return verdict, work(verdict)
    except Exception as error:
        return failed(verdict, error, what), otherwise


def shown(
    drives: Sequence[Drive],
    show: Callable[[Sequence[Drive]], T],
    unshown: Callable[[Drive, Exception], Drive],
) -> tuple[T, tuple[Drive, ...]]:
    """Return the result of *show* for the drives, and the drives as they were shown.

    If *show* fails, each drive is shown separately, to find the drives that cannot be shown. If no
    single drive causes the error, the error is raised again.

    unshown: returns what is shown instead of a drive after an exception.
    """

    def tested(drive: Drive) -> Drive:
        """Return the drive if it can be shown alone, or what is shown instead of it."""
        try:
            show((drive,))
            return drive
        except Exception as error:
            return unshown(drive, error)

    try:
        return show(drives), tuple(drives)
    except Exception:
        fenced = tuple(map(tested, drives))
        if fenced == tuple(drives):
            raise
        return show(fenced), fenced


def unreadable(
    device: Device, error: SmartError, asleep: State, identity: Identity | None = None
) -> Verdict:
    """Return the verdict on a drive that has no report: UNKNOWN, the state *asleep* for a drive in
    standby, or the state of the error, which is at least WARNING.
    """
    state = State.UNKNOWN
    if isinstance(error, DriveAsleep):
        state = asleep
    elif isinstance(error, DriveWithState):
        state = worst([State.WARNING, State[error.state.upper()]])
    step = error.step
    if not device.is_recorded:
        # so that an admin can paste its command
        step = step.replace(PATH, argument(device.path, PATH))
    return Verdict(
        device,
        identity or Identity(),
        state,
        problem=error.why,
        code=error.code,
        step=step,
    )
