"""The second pass of reading: logs of single drives that the first call does not read.

They are the pages of NVMe logs in a vendor's format, and Seagate's FARM log for the commands that a person runs. A
drive is asked as soon as it has answered, while others are still being read. A log that is not read changes no state.
"""
from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import product

from .. import state_directory
from ..command_line.options import Options
from ..constants import DAY
from ..errors import DriveError
from ..knowledge import vendor_logs
from ..model import Answer, Farm, Read, Report
from ..reading import nvme_log, smartctl_calls
from ..reading.farm import answered, beside
from ..reading.identity import serial_key
from ..reading.machine import OLD_RULE
from ..reading.processes import Runner
from ..state_directory import StateDirectory
from ..typed import TYPE_CHECKING
from . import vendor_readings

if TYPE_CHECKING:
    from ..history.past import Past
    from ..reading.smartctl_calls import Command
    from .rulebook import Judge
    from .vendor_readings import Log

    Answers = Mapping[Command, Answer]

WEEK = 7 * DAY
SINCE = (7, 4)         # the version of smartctl that introduced -l farm
_NOT_ASKED = ('not started', 'too late', 'met', 'busy')   # values of Answer.outcome


class FurtherLogs:
    """The further logs that a run reads. Each drive is asked once, however many addresses it has."""

    def __init__(self, runner: Runner, kinds: Sequence[VendorPages | FarmLogs]) -> None:
        self._runner, self._kinds = runner, kinds
        self._asked: list[Command] = []
        self._answers: dict[Command, Answer] = {}

    def ask(self, read: Read, past: Past | None, is_stored: bool) -> bool:
        """Let the runner read the logs of a drive that are due; return whether the drive gets any log.

        past: the earlier readings of the drive. is_stored: the history will know when the logs were read.
        """
        calls = [(kind, kind.call(read, past, is_stored)) for kind in self._kinds]
        for kind, call in calls:
            if call and call not in self._asked:
                self._asked.append(call)
                self._runner.add(call, kind.patience)
        return any(call is not None for _, call in calls)

    def take(self, answer: Answer) -> None:
        """Take the answer of a drive that was asked."""
        if answer.command in self._asked:
            self._answers[answer.command] = answer

    def wait(self, jobs: int, deadline: float) -> None:
        """Wait for the drives that were asked after the others had answered. deadline: of time.monotonic()."""
        if time.monotonic() < deadline:
            for answer in self._runner.run((), jobs, nvme_log.PATIENCE, deadline):
                self.take(answer)

    def joined(self, reads: Sequence[Read]) -> tuple[Read, ...]:
        """Return the reads with the logs of their drives."""
        found = list(reads)
        for place, kind in product(range(len(found)), self._kinds):
            with suppress(Exception):  # this drive is judged without that log
                found[place] = kind.joined(found[place], self._answers)
        return tuple(found)


def of_run(judge: Judge, options: Options, runner: Runner, is_for_a_person: bool) -> FurtherLogs:
    """Return the further logs of a run. is_for_a_person: disks may be asked for logs that a check does not read."""
    every, prefix = options.judging.vendor_logs, smartctl_calls.prefix(options.how_read.smartctl,
                                                                       options.how_read.nosudo)
    return FurtherLogs(runner, [*([] if every is None else [VendorPages(judge, every, prefix)]),
                                *([FarmLogs(judge, options)] if is_for_a_person else [])])


class VendorPages:
    """The pages of NVMe drives whose database entry names one."""

    def __init__(self, judge: Judge, every: int, prefix: Command) -> None:
        """Take the settings. every: seconds between two reads of one drive. prefix: smartctl, after sudo if needed."""
        self._judge, self._every, self._prefix = judge, every, prefix
        self.patience = nvme_log.PATIENCE

    def call(self, read: Read, past: Past | None, is_stored: bool) -> Command | None:
        """Return the call that reads the page of a drive if that is due, else None; the others as for ask()."""
        log, command = log_of(read, self._judge), self._command(read)
        is_known = is_stored or not self._every
        return command if log and command and is_known and is_due(log, past, self._every) else None

    def joined(self, read: Read, answers: Answers) -> Read:
        """Return a read with the page of its drive, if that has answered."""
        log, answer = log_of(read, self._judge), answers.get(self._command(read))
        if not log or not answer or not isinstance(read.outcome, Report):
            return read
        is_refused = smartctl_calls.is_refused(answer)
        return read._replace(outcome=read.outcome._replace(vendor_log=nvme_log.page_of(answer, log[0])),
                             remark=OLD_RULE if is_refused else read.remark)

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


class FarmLogs:
    """The FARM logs of Seagate disks: each disk is asked once a week. A check never asks.

    smartctl 7.4 aborts on some disks when it prints this log as JSON, and the sudoers rule does not allow the call:
    only root, or a user who may run smartctl directly, asks. Everyone sees what was answered last.
    """

    def __init__(self, judge: Judge, options: Options) -> None:
        """Read the latest answers; without a directory that remembers them, no disk is asked."""
        from ..history import farm_answers
        self._judge, self._how, self._file = judge, options.how_read, farm_answers
        self._may_ask = os.geteuid() == 0 or options.how_read.nosudo
        self._state = self._place(options)
        self._known = self._before = farm_answers.load(self._state) if self._state else {}
        self.patience = options.how_read.drive_timeout

    def _place(self, options: Options) -> StateDirectory | None:
        with suppress(state_directory.Unusable):
            if not options.history.no_history:
                return (state_directory.ready if self._may_ask else state_directory.there)(options.state_dir)
        return None

    def call(self, read: Read, past: Past | None, is_stored: bool) -> Command | None:
        """Return the call that reads the log of a disk; () if it is known, None without one.

        That the disk is asked is written first: one that hangs, or a full file system, does not lead to further calls.
        """
        serial = self._serial(read)
        if not serial:
            return None
        known = self._known.get(serial)
        is_due = known is None or not 0 <= time.time() - known.asked < WEEK
        asked = {**self._known, serial: Farm(asked=int(time.time()), unread=self._file.UNREAD)}
        if not (is_due and self._may_ask and self._state and self._file.keep(self._state, asked)):
            return () if known else None
        self._known = asked
        return self._command(read)

    def joined(self, read: Read, answers: Answers) -> Read:
        """Return a read with the log of its disk, if that is known, and store what the disk has answered."""
        serial, report = self._serial(read), read.outcome
        if not serial or not isinstance(report, Report):
            return read
        answer = answers.get(self._command(read))
        if answer:
            self._store(serial, answer)
        return read._replace(outcome=report._replace(
            farm=beside(self._known[serial], report.identity.serial))) if serial in self._known else read

    def _store(self, serial: str, answer: Answer) -> None:
        before = {other: farm for other, farm in self._known.items() if other != serial}
        if answer.outcome not in _NOT_ASKED:
            before[serial] = _farm(answer)._replace(asked=int(time.time()))
        elif serial in self._before:
            before[serial] = self._before[serial]
        self._known = before
        if self._state:
            self._file.keep(self._state, before)

    def _serial(self, read: Read) -> str:
        """Return under which serial number the answers of a disk are stored; '' if it keeps no such log."""
        report = read.outcome
        if not isinstance(report, Report) or report.version < SINCE:
            return ''
        spec = self._judge.database.identify(report.identity, [row.id for row in report.attributes])
        return serial_key(report.identity.serial) if spec.keeps_farm else ''

    def _command(self, read: Read) -> Command:
        prefix = smartctl_calls.prefix(self._how.smartctl, self._how.nosudo)
        return (*prefix, *smartctl_calls.farm_arguments(read.device.path, read.device.type))


def _farm(answer: Answer) -> Farm:
    """Return the log that a disk answered with, an empty one if it keeps none, or the reason that it is unread."""
    if answer.outcome != 'done':
        return Farm(unread=answer.reason)
    if answer.signal is not None:
        return Farm(unread=f'smartctl was terminated by signal {answer.signal}')
    try:
        return answered(answer.stdout)
    except DriveError:
        return Farm(unread=f'smartctl ended with exit status {answer.status} and without a log')
