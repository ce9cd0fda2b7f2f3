"""The second pass of reading: pages of vendor-specific NVMe logs, which the first call to smartctl
does not read.

The drives whose database entry names such a page are asked when all have answered the first call.
A missing page changes no state.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from .. import alarm
from ..errors import Coded
from ..knowledge import vendor_logs
from ..model import Answer, Read, Report
from ..reading import nvme_log, smartctl_calls
from ..reading.processes import Runner
from ..typed import TYPE_CHECKING
from . import vendor_readings

if TYPE_CHECKING:
    from ..history.past import Past
    from ..reading.smartctl_calls import Command
    from .history_access import Remembered
    from .rulebook import Judge
    from .settings import LogSettings
    from .vendor_readings import Log

OLD_RULE = Coded(
    'sudo-rule-old',
    'the sudoers rule is from an earlier version and lacks newer calls (vendor logs); as root, '
    'install the rule that this prints: check_smart_attributes sudoers',
)


def joined(
    reads: Sequence[Read],
    pages: VendorPages,
    history: Remembered,
    runner: Runner,
    deadline: float,
) -> tuple[Read, ...]:
    """Read the pages that are due; return the results of reading, each with the page of the drive.
    After the time limit, the drives are without the missing pages.

    deadline: value of time.monotonic().
    """
    answers: dict[Command, Answer] = {}
    with suppress(alarm.TimeIsOver):
        calls = []
        for read in reads:
            with suppress(Exception):  # this drive is judged without its page
                call = pages.call(read, history.past(read.device), history.keeps(read.device))
                calls += [call] if call else []
        for answer in runner.run(calls, nvme_log.PATIENCE, deadline):
            answers[answer.command] = answer
    return tuple(_with_page(read, pages, answers) for read in reads)


def _with_page(read: Read, pages: VendorPages, answers: Mapping[Command, Answer]) -> Read:
    """Return the result of reading a drive with its page."""
    with suppress(Exception):  # this drive is judged without its page
        return pages.joined(read, answers)
    return read


def pages_of(judge: Judge, settings: LogSettings) -> VendorPages:
    """Return the pages that a run may read."""
    prefix = smartctl_calls.prefix(settings.how.smartctl, settings.how.nosudo)
    return VendorPages(judge, settings.every, prefix)


class VendorPages:
    """The vendor log pages of NVMe drives whose database entry names such a page."""

    def __init__(self, judge: Judge, every: int, prefix: Command) -> None:
        """Store the settings. every: seconds between two reads of one drive. prefix: smartctl,
        with sudo if needed.
        """
        self._judge, self._every, self._prefix = judge, every, prefix

    def call(self, read: Read, past: Past | None, is_stored: bool) -> Command | None:
        """Return the call that reads the page of a drive, or None if it is not due.

        past: the earlier readings of the drive. is_stored: this run stores when the page was read.
        """
        log, command = log_of(read, self._judge), self._command(read)
        if not log or not command:
            return None
        is_known = is_stored or not self._every
        return command if is_known and is_due(log, past, self._every) else None

    def joined(self, read: Read, answers: Mapping[Command, Answer]) -> Read:
        """Return the result of reading a drive, with the drive's log page if it has been read."""
        log, answer = log_of(read, self._judge), answers.get(self._command(read))
        if not log or not answer or not isinstance(read.outcome, Report):
            return read
        return read._replace(
            outcome=read.outcome._replace(vendor_log=nvme_log.page_of(answer, log[0])),
            remark=OLD_RULE if smartctl_calls.is_refused(answer) else read.remark,
        )

    def _command(self, read: Read) -> Command:
        """Return the call that reads the log of a drive, or () if no log is to be read."""
        log = log_of(read, self._judge)
        controller = nvme_log.controller(read.device) if log else ''
        if not log or not controller:
            return ()
        return (*self._prefix, *smartctl_calls.page_arguments(log[0], controller))


def log_of(read: Read, judge: Judge) -> Log | None:
    """Return the log to read from a drive that has answered; None if no log is to be read."""
    report = read.outcome
    if not isinstance(report, Report) or report.identity.kind != 'nvme' or read.device.is_recorded:
        return None
    log = judge.database.identify(report.identity, ()).log
    return log if log and log[0] in smartctl_calls.PAGES and judge.database.layout(log[1]) else None


def is_due(log: Log, past: Past | None, every: int) -> bool:
    """Return whether it is time to read the log of a drive again. past: the earlier readings of the
    drive.

    Readings that another user could have written must not prevent a check by root from reading the
    log.
    """
    attempt = vendor_readings.last_attempt(past, log)
    return not (past and past.is_own and attempt) or vendor_logs.is_due(
        int(attempt.points[-1].number), past.now - attempt.last_read, every
    )
