"""The third stage of a run: each drive is judged once, as soon as it has answered, while others are
still being read.

The history of a drive is certain only after all drives have answered: two addresses may turn out to
be one drive, or two drives may be indistinguishable. In both cases, the verdict on each such drive
is formed again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from .. import alarm
from ..command_line.options import Options
from ..errors import DriveError, SmartError
from ..model import Answer, Device, Identity, Read, Report, State, Verdict
from ..reading.processes import Runner
from ..typed import TYPE_CHECKING, NamedTuple
from . import fence
from .history_access import Remembered, remembered
from .inventory import Inventory, described
from .reads import Listener
from .rulebook import Judge

if TYPE_CHECKING:
    from ..history.past import Past
    from .further_logs import FurtherLogs


# bits of smartctl's exit status: health FAILED, a pre-fail attribute at its threshold
_FAILING = 0b11000


class Formed(NamedTuple):
    """A verdict, and what it is based on."""

    verdict: Verdict
    report: Report
    past: Past | None


class Verdicts(Listener):
    """The verdicts of a run.

    This listener receives the answers of the drives, and asks drives for further logs.
    """

    def __init__(
        self,
        judge: Judge,
        options: Options,
        runner: Runner,
        meanwhile: Callable[[], object] = tuple,
        is_for_a_person: bool = False,
    ) -> None:
        """Start without verdicts. meanwhile: called while drives are being read.
        is_for_a_person: as for survey().
        """
        self.judge, self._options, self._runner, self._meanwhile = judge, options, runner, meanwhile
        self._is_for_a_person = is_for_a_person
        self._logs: FurtherLogs | None = None
        self.history = Remembered()
        self.formed: dict[Device, Formed] = {}
        self._late = ''  # why drives are no longer judged

    # --- while drives are being read ----------------------------------------------------

    def begin(self, devices: Sequence[Device]) -> None:
        """Open the history, and prepare to judge the drives that were last seen at these
        addresses.
        """
        self.history = remembered(self._options)
        self.judge.prepare(self.history.expect(devices))
        self._meanwhile()

    def hear(self, read: Read) -> None:
        """Judge a drive that has answered, unless its verdict can depend on other drives or on a
        further log.

        A verdict can depend on other drives in two cases: the drive is at a new address, or drives
        have names other than device names. Exceptions, such as that of an unknown drive, are ignored;
        of() judges the drive again.
        """
        with suppress(Exception):
            if not isinstance(read.outcome, Report):
                return
            past = self.history.likely_past(read.outcome.identity)
            if self._is_asked(read, past, past is not None and self.history.is_written):
                return
            if self._options.naming.label == 'device':
                self.on(read, past)

    def take(self, answer: Answer) -> None:
        """Pass on the answer of a drive that was asked for a further log."""
        if self._logs:
            self._logs.take(answer)

    def _is_asked(self, read: Read, past: Past | None, is_stored: bool) -> bool:
        """Start reading the further logs of a drive; return whether any log is being read or
        already known.
        """
        if self._logs is None and self._may_have_logs(read):
            from . import further_logs

            self._logs = further_logs.of_run(
                self.judge, self._options, self._runner, self._is_for_a_person
            )
        return self._logs is not None and self._logs.ask(read, past, is_stored)

    def _may_have_logs(self, read: Read) -> bool:
        """Return whether a drive has a further log that this run may read."""
        report = read.outcome
        if not isinstance(report, Report) or read.device.is_recorded:
            return False
        may_have_page = bool(report.nvme) and self._options.judging.vendor_logs is not None
        if not may_have_page and not self._is_for_a_person:
            return False  # true for most drives of a check, so their entry is not looked up
        spec = self.judge.database.identify(report.identity, [row.id for row in report.attributes])
        return (may_have_page and spec.log is not None) or (
            spec.keeps_farm and self._is_for_a_person
        )

    def completed(self, drives: Inventory, deadline: float) -> Inventory:
        """Request the further logs of drives at new addresses; return the inventory with all
        further logs.

        deadline: value of time.monotonic().
        """
        with suppress(alarm.TimeIsOver):  # the drives are judged without the missing logs
            for read in drives.reads:
                with suppress(Exception):  # this drive is judged without its logs
                    self._is_asked(
                        read, self.history.past(read.device), self.history.keeps(read.device)
                    )
            if self._logs:
                self._logs.wait(deadline)
        return drives._replace(reads=self._logs.joined(drives.reads)) if self._logs else drives

    def of(self, drives: Inventory, late: str = '') -> tuple[Verdict, ...]:
        """Return the verdict on each drive; drives that are not judged within the time limit are
        UNKNOWN.

        late: why no more drives are judged, or ''.
        """

        def judged(late: str) -> tuple[Verdict, ...]:
            self._late = late
            in_order = sorted(drives.reads, key=self._urgency)
            found = {read.device: self._fenced(read, drives) for read in in_order}
            return tuple(found[read.device] for read in drives.reads)

        return judged(late) if late else alarm.twice(judged)

    def _urgency(self, read: Read) -> int:
        """Return the place of a drive in the order of judging, in case the time ends: first those
        that smartctl calls failing, then those whose last verdict was worst.
        """
        if isinstance(read.outcome, Report) and read.outcome.has_exit_bit(_FAILING):
            return 0
        drive = self.history.drive_of(read.device, read.identity)
        last = drive.verdict.state if drive and drive.verdict else State.OK
        return len(State) - last.urgency

    def _fenced(self, read: Read, drives: Inventory) -> Verdict:
        """Return the verdict on a drive with additions from the history; an exception affects
        only this drive.
        """
        unjudged = Verdict(read.device, read.identity or Identity(), State.OK)
        judged = fence.done(
            unjudged, lambda _: self.on(read, self.history.past(read.device)), fence.UNJUDGED
        )
        hide_serial = self._options.naming.hide_serial
        return fence.done(
            judged,
            lambda verdict: described(verdict, read, drives, self.history, hide_serial, self.judge),
            fence.UNCOMPARED,
        )

    def on(self, read: Read, past: Past | None) -> Verdict:
        """Return the verdict on a device; UNKNOWN if no time is left to form a verdict.

        past: the earlier readings of the drive. The verdict is formed again only if these readings,
        or the report, differ from those of which it was first formed. Raises DataError for a mistake
        in a local file, TakesTooLong, and any exception of a program error.
        """
        if not isinstance(read.outcome, Report):  # a missing drive can have the device of another
            return _unreadable(read, read.outcome, self.judge)
        formed = self.formed.get(read.device)
        if formed and formed.report is read.outcome and formed.past == past:
            return formed.verdict
        if self._late:
            return _unreadable(
                read,
                DriveError(f'was read but not evaluated: {self._late}', 'not-judged'),
                self.judge,
            )
        judged = alarm.limited(verdict, read, self.judge, past)
        self.formed[read.device] = Formed(judged, read.outcome, past)
        return judged


def verdict(read: Read, judge: Judge, past: Past | None) -> Verdict:
    """Return the verdict on one device. Raises DataError for a mistake in a local file."""
    if not isinstance(read.outcome, Report):
        return _unreadable(read, read.outcome, judge)
    from . import judging

    return judging.judge(
        read.device, read.outcome, judge.database, judge.thresholds, judge.rules, past
    )


def _unreadable(read: Read, error: SmartError, judge: Judge) -> Verdict:
    return fence.unreadable(read.device, error, judge.rules.asleep, read.identity)
