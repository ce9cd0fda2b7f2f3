"""Verdicts of one run: each drive is judged once, as soon as it has answered, while others are still being read.

The history of a drive is certain only when all have answered: two addresses may turn out to be one drive, or two drives
may be indistinguishable. reason() determines when a verdict is formed again.
"""
from __future__ import annotations

from .. import alarm
from ..errors import DataError, DriveError, SmartError, inside
from ..model import Device, Read, Report, Verdict
from ..typed import TYPE_CHECKING, NamedTuple
from .rulebook import Judge

if TYPE_CHECKING:

    from ..history.past import Past


# Why a verdict is formed.
FIRST = 'the drive has no verdict yet'
OTHER_PAST = 'all drives have answered, and the history has other earlier readings of this drive than expected'


class Formed(NamedTuple):
    """A verdict, the earlier readings that it is based on, and the reason for each time it was formed."""

    verdict: Verdict
    past: Past | None
    reasons: tuple[str, ...]


def reason(formed: Formed | None, past: Past | None) -> str:
    """Return the reason to form a verdict, or '' if the existing one is still valid.

    past: the drive's earlier readings as known now.
    """
    if formed is None:
        return FIRST
    return OTHER_PAST if formed.past != past else ''


class Verdicts:
    """The verdicts so far, kept outside of the functions that the time limit may interrupt."""

    def __init__(self) -> None:
        self.late = ''         # why no more drives are judged
        self.formed: dict[Device, Formed] = {}

    def of(self, read: Read, judge: Judge, past: Past | None) -> Verdict:
        """Return the verdict on a device; UNKNOWN if no time is left to form one.

        past: the earlier readings of the drive.
        """
        formed = self.formed.get(read.device)
        why = reason(formed, past)
        if why and self.late:
            return _unreadable(read, DriveError(f'was read but not evaluated: {self.late}', 'not-judged'), judge)
        if formed is None or why:
            reasons = (*(formed.reasons if formed else ()), why)
            formed = self.formed[read.device] = Formed(verdict(read, judge, past), past, reasons)
        return formed.verdict


def verdict(read: Read, judge: Judge, past: Past | None) -> Verdict:
    """Return the verdict on one device; UNKNOWN if judging fails, so that one drive cannot stop the run."""
    try:
        return alarm.limited(_judged_alone, read, judge, past)
    except DataError as error:
        problem: SmartError = error
    except alarm.TakesTooLong as slow:
        problem = DriveError(f'cannot be evaluated: it took more than {slow}, probably because of a pattern in a data '
                             'file; to find it, run: check_smart_attributes validate', 'judging-failed')
    except Exception as error:  # one drive must not stop the run
        problem = inside(error, 'cannot be evaluated')
    return _unreadable(read, problem, judge)


def _judged_alone(read: Read, judge: Judge, past: Past | None) -> Verdict:
    from . import judging
    if not isinstance(read.outcome, Report):
        return _unreadable(read, read.outcome, judge)
    own = judging.judge(read.device, read.outcome, judge.database, judge.thresholds, judge.rules, past)
    return _beside_1_6(own, read.outcome, judge)


def _unreadable(read: Read, error: SmartError, judge: Judge) -> Verdict:
    from . import judging
    return judging.unreadable(read.device, error, judge.rules, read.identity)


def _beside_1_6(own: Verdict, report: Report, judge: Judge) -> Verdict:
    """Return a verdict together with that of files of version 1.6, if any are given."""
    if judge.old is None:
        return own
    exceptions = judge.thresholds.exceptions(own.device, own.identity, own.entry or '')
    return judge.old.joined(own, report, judge.database, exceptions.ignored_attributes | judge.rules.ignored_attributes,
                            judge.rules.ignored_metrics)
