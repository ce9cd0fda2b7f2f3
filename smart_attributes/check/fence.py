"""Fence each drive: an exception in the code for one drive makes it UNKNOWN, and its neighbors are told as ever.

Reading and judging one drive have their own fences, in reading/machine and in verdicts. Errors about the whole run,
such as a missing Python package, are left to `main`.
"""
from __future__ import annotations

from ..errors import inside
from ..model import State, Verdict, worst
from ..typed import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Callable, Iterable, Tuple, TypeVar

    from .survey import Survey

    T = TypeVar('T')

UNCOMPARED = 'cannot be compared with its history'


def failed(verdict: Verdict, error: Exception, what: str) -> Verdict:
    """Return the verdict on a drive after an exception in the code for it: UNKNOWN, or CRITICAL if it was so before.

    what: what could not be done, such as "cannot be shown".
    """
    known = f'is {verdict.state.name}, but {what}' if verdict.state is State.CRITICAL else what
    problem = inside(error, known)
    return Verdict(verdict.device, verdict.identity, worst([verdict.state, State.UNKNOWN]), problem=str(problem),
                   code=problem.code, place=verdict.place)


def each(verdicts: Iterable[Verdict], work: Callable[[Verdict], Verdict], what: str) -> Tuple[Verdict, ...]:
    """Return the result of *work* for each verdict; what: as for failed()."""
    return tuple(done(verdict, work, what) for verdict in verdicts)


def done(verdict: Verdict, work: Callable[[Verdict], Verdict], what: str) -> Verdict:
    """Return the result of *work*, or that it failed; what: as for failed()."""
    try:
        return work(verdict)
    except Exception as error:
        return failed(verdict, error, what)


def shown(found: Survey, show: Callable[[Survey], T]) -> Tuple[T, Survey]:
    """Return the result of *show* for a survey, and the survey that it shows.

    If it fails, each drive is shown alone to find out which ones fail. Raises the error if none of them does.
    """
    try:
        return show(found), found
    except Exception:
        fenced = each(found.verdicts, lambda verdict: _shown_alone(found, verdict, show), 'cannot be shown')
        if fenced == found.verdicts:
            raise
        left = found._replace(verdicts=fenced)
        return show(left), left


def _shown_alone(found: Survey, verdict: Verdict, show: Callable[[Survey], T]) -> Verdict:
    show(found._replace(verdicts=(verdict,), reads=(found.reads[found.verdicts.index(verdict)],)))
    return verdict
