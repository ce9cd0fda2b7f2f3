"""Read the vendor's log of each drive whose database entry names one, as soon as the drive has answered.

The model is certain then. A page that is not read in time, or not at all, adds a note and changes no state.
"""
from __future__ import annotations

import time

from ..knowledge import vendor_logs
from ..model import Report
from ..reading import nvme_log, smartctl_calls
from ..reading.machine import OLD_RULE
from ..typed import TYPE_CHECKING
from . import vendor_readings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..history.past import Past
    from ..model import Answer, LogPage, Read
    from ..reading.processes import Runner
    from ..reading.smartctl_calls import Command
    from .rulebook import Judge
    from .vendor_readings import Log


class LogPages:
    """The pages that a run reads. Each drive is asked once, however many addresses it has."""

    def __init__(self, runner: Runner, judge: Judge, every: int, prefix: Command) -> None:
        """Read no page yet. every: seconds between two reads of one drive. prefix: smartctl, after sudo if needed."""
        self._runner, self._judge, self._every, self._prefix = runner, judge, every, prefix
        self._pages: dict[Command, LogPage | None] = {}   # None: not answered yet
        self._refused: list[Command] = []

    def ask(self, read: Read, past: Past | None) -> bool:
        """Let the runner read the page of a drive if it is due; return whether it does.

        past: the earlier readings of the drive.
        """
        command, log = self._command(read), log_of(read, self._judge)
        if not command or not log or command in self._pages or not is_due(log, past, self._every):
            return command in self._pages
        self._pages[command] = None
        self._runner.add(command, nvme_log.PATIENCE)
        return True

    def take(self, answer: Answer) -> None:
        """Take the answer of a drive that was asked."""
        if answer.command in self._pages:
            number = next(page for page in smartctl_calls.PAGES if f',{page},' in answer.command[-2])
            self._pages[answer.command] = nvme_log.page_of(answer, number)
            if smartctl_calls.is_refused(answer.command, answer.stdout, answer.stderr):
                self._refused.append(answer.command)

    def wait(self, jobs: int, deadline: float) -> None:
        """Wait for the drives that were asked after the others had answered. deadline: of time.monotonic()."""
        if time.monotonic() < deadline:
            for answer in self._runner.run((), jobs, nvme_log.PATIENCE, deadline):
                self.take(answer)

    def with_pages(self, reads: Sequence[Read]) -> list[Read]:
        """Return reads; those of drives that were asked have their page."""
        return [self._with_page(read, self._command(read)) for read in reads]

    def _with_page(self, read: Read, command: Command) -> Read:
        page = self._pages.get(command)
        if not page or not isinstance(read.outcome, Report):
            return read
        return read._replace(outcome=read.outcome._replace(vendor_log=page),
                             remark=OLD_RULE if command in self._refused else read.remark)

    def _command(self, read: Read) -> Command:
        """Return the call that reads the log of a drive, or () if it has none to read."""
        log = log_of(read, self._judge)
        controller = nvme_log.controller(read.device) if log else ''
        return (*self._prefix, *smartctl_calls.page_arguments(log[0], controller)) if log and controller else ()


def log_of(read: Read, judge: Judge) -> Log | None:
    """Return the log to read from a drive that has answered; None without one."""
    report = read.outcome
    if not isinstance(report, Report) or report.identity.kind != 'nvme' or read.device.is_recorded:
        return None
    log = judge.database.identify(report.identity, ()).log
    return log if log and log[0] in smartctl_calls.PAGES and judge.database.layout(log[1]) else None


def is_due(log: Log, past: Past | None, every: int) -> bool:
    """Return whether the last read of a drive's log is old enough. past: the drive's earlier readings.

    Another user who could have written them must not keep a check by root from reading the log.
    """
    attempt = vendor_readings.last_attempt(past, log)
    return not (past and past.is_own and attempt) or vendor_logs.is_due(int(attempt.points[-1].number),
                                                                        past.now - attempt.last_read, every)
