"""The third stage of a run: each drive is judged once, when all drives have answered."""

from __future__ import annotations

from .. import alarm
from ..errors import FEWER, DriveError, SmartError
from ..model import Device, Identity, Read, Report, State, Verdict
from ..typed import TYPE_CHECKING
from . import fence
from .history_access import Remembered
from .inventory import Inventory, described
from .rulebook import Judge

if TYPE_CHECKING:
    from ..history.past import Past


class Verdicts:
    """The verdicts of a run. A verdict that was formed before the time limit stays."""

    def __init__(self, drives: Inventory, history: Remembered, judge: Judge) -> None:
        """Start without verdicts."""
        self._drives = drives
        self._history = history
        self._judge = judge
        self._formed: dict[Device, Verdict] = {}

    def all(self, late: str) -> tuple[Verdict, ...]:
        """Return the verdict on each drive, in the order of the reads, but judge the most urgent
        drives first, because the time limit may end this.

        late: why no more drives are judged, or ''. A drive that was not judged before is UNKNOWN.
        """
        verdicts = {
            read.device: self._fenced(read, late)
            for read in sorted(self._drives.reads, key=self._place_in_order)
        }
        return tuple(verdicts[read.device] for read in self._drives.reads)

    def _place_in_order(self, read: Read) -> int:
        """Return the place of a drive in the order of judging, the lowest first:

        - 0, if smartctl calls the drive failing
        - 1 to 4, by its last verdict: CRITICAL, UNKNOWN, WARNING, and OK or no verdict
        """
        # health FAILED, or a pre-fail attribute at its threshold
        if read.report is not None and read.report.has_exit_bit(0b11000):
            return 0
        drive = self._history.drive_of(read.device, read.identity)
        last = drive.verdict.state if drive else State.OK
        # The urgency of the four states is 0 to 3.
        return len(State) - last.urgency

    def _fenced(self, read: Read, late: str) -> Verdict:
        """Return the verdict on a drive with additions from the history. late: why no more drives
        are judged, or ''.

        An exception affects only this drive, whose verdict then states the problem. It is UNKNOWN,
        or CRITICAL if the drive was found CRITICAL before.
        """
        try:
            judged = self._on(read, late)
        except Exception as error:
            unjudged = Verdict(read.device, read.identity or Identity(), State.UNKNOWN)
            judged = fence.failed(unjudged, error, fence.UNJUDGED)
        try:
            return described(judged, read, self._drives, self._history, self._judge)
        except Exception as error:
            return fence.failed(judged, error, fence.UNCOMPARED)

    def _on(self, read: Read, late: str) -> Verdict:
        """Return the verdict on a device; UNKNOWN if no time is left to form a verdict. late: as for
        all().

        Raises DataError for a mistake in a local file, TakesTooLong, and any exception of a program
        error.
        """
        # A drive without a report is unreadable or missing. Its verdict is not stored in *_formed*,
        # because a missing drive can have the device of another drive.
        if read.report is None:
            return verdict(read, self._judge, None)
        if read.device in self._formed:
            return self._formed[read.device]
        if late:
            problem = f'was read but not evaluated: {late}'
            error = DriveError(problem, 'not-judged', step=FEWER)
            return _unreadable(read, error, self._judge)
        past = self._history.past(read.device)
        judged = alarm.limited(verdict, read, self._judge, past)
        self._formed[read.device] = judged
        return judged


def verdict(read: Read, judge: Judge, past: Past | None) -> Verdict:
    """Return the verdict on one device; on one that could not be read, its error as a verdict.

    Raises DataError for a mistake in a local file. past: as for judging.judge().
    """
    if not isinstance(read.outcome, Report):
        return _unreadable(read, read.outcome, judge)
    from . import judging

    return judging.judge(
        read.device, read.outcome, judge.database, judge.thresholds, judge.rules, past
    )


def _unreadable(read: Read, error: SmartError, judge: Judge) -> Verdict:
    return fence.unreadable(read.device, error, judge.rules.asked.asleep, read.identity)
