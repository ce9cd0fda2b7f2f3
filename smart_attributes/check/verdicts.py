"""Verdicts of one run: each formed once of the same, as soon as its drive has answered, while others still think.

What history knows of a drive is certain only when all have answered: two may turn out to be one, or to be told apart by
nothing. A verdict that was formed of something else than what is known then is formed anew.
"""
from __future__ import annotations

from .. import alarm
from ..errors import DataError, DriveError, SmartError
from ..model import Device, Read, Report, Verdict
from ..typed import TYPE_CHECKING
from .rulebook import Judge

if TYPE_CHECKING:
    from typing import Dict, Optional, Tuple

    from ..history.past import Past


class Verdicts:
    """What has been judged so far, where no alarm can take it away."""

    def __init__(self) -> None:
        self.late = ''         # why nothing is judged any more
        self._formed: Dict[Device, Tuple[Optional[Past], Verdict]] = {}

    def of(self, read: Read, judge: Judge, past: Optional[Past]) -> Verdict:
        """Return the verdict on a device, UNKNOWN where it is too late to form one. past: what history knows of it."""
        formed = self._formed.get(read.device)
        if formed is None or formed[0] != past:
            if self.late:
                return _unreadable(read, DriveError(f'was read and not judged: {self.late}', 'not-judged'), judge)
            formed = self._formed[read.device] = past, verdict(read, judge, past)
        return formed[1]


def verdict(read: Read, judge: Judge, past: Optional[Past]) -> Verdict:
    """Return the verdict on one device; whatever goes wrong with it stays with it."""
    try:
        return alarm.limited(_judged_alone, read, judge, past)
    except DataError as error:
        problem: SmartError = error
    except alarm.TakesTooLong as slow:
        problem = DriveError(f'cannot be judged: {slow} were not enough; a pattern in a data file may never end, '
                             'check_smart_attributes validate names it', 'judging-failed')
    except Exception as error:  # one drive must not take the others with it
        problem = DriveError(f'cannot be judged: {type(error).__name__} inside check_smart_attributes; '
                             'please report it with the output of smartctl --json -x', 'judging-failed')
    return _unreadable(read, problem, judge)


def _judged_alone(read: Read, judge: Judge, past: Optional[Past]) -> Verdict:
    from . import judging
    if not isinstance(read.outcome, Report):
        return _unreadable(read, read.outcome, judge)
    own = judging.judge(read.device, read.outcome, judge.database, judge.thresholds, judge.rules, past)
    return _beside_1_6(own, read.outcome, judge)


def _unreadable(read: Read, error: SmartError, judge: Judge) -> Verdict:
    from . import judging
    return judging.unreadable(read.device, error, judge.rules, read.identity)


def _beside_1_6(own: Verdict, report: Report, judge: Judge) -> Verdict:
    """Return a verdict with what files of version 1.6 add to it, where there are any."""
    if judge.old is None:
        return own
    exceptions = judge.thresholds.exceptions(own.device, own.identity, own.entry or '')
    return judge.old.joined(own, report, judge.database, exceptions.ignored_attributes | judge.rules.ignored_attributes,
                            judge.rules.ignored_metrics)
