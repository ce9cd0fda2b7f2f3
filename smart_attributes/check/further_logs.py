"""The second pass of reading: read logs that the first call to smartctl does not read.

They are pages of vendor-specific NVMe logs and, only for commands that a person runs, Seagate's
FARM log. The drives are asked for these logs when all have answered the first call. A missing log
changes no state.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

from .. import alarm, state_directory
from ..constants import DAY
from ..errors import Coded, DriveError
from ..knowledge import vendor_logs
from ..model import Answer, Farm, Read, Report
from ..reading import nvme_log, smartctl_calls
from ..reading.farm import answered, beside
from ..reading.identity import serial_key
from ..reading.processes import Runner
from ..state_directory import StateDirectory
from ..typed import TYPE_CHECKING
from . import vendor_readings

if TYPE_CHECKING:
    from ..history.past import Past
    from ..reading.smartctl_calls import Command
    from .history_access import Remembered
    from .rulebook import Judge
    from .settings import LogSettings
    from .vendor_readings import Log

    Answers = Mapping[Command, Answer]

OLD_RULE = Coded(
    'sudo-rule-old',
    'the sudoers rule is from an earlier version and lacks newer calls (vendor logs); as root, '
    'install the rule that this prints: check_smart_attributes sudoers',
)
WEEK = 7 * DAY
SINCE = (7, 4)  # the version of smartctl that introduced -l farm
_NOT_ASKED = ('not started', 'too late', 'met', 'busy')  # values of Answer.outcome


def joined(
    reads: Sequence[Read],
    kinds: Sequence[VendorPages | FarmLogs],
    history: Remembered,
    runner: Runner,
    deadline: float,
) -> tuple[Read, ...]:
    """Read the logs that are due; return the results of reading, each with the further logs of the
    drive. After the time limit, the drives are without the missing logs.

    deadline: value of time.monotonic().
    """
    answers: dict[Command, Answer] = {}
    with suppress(alarm.TimeIsOver):
        for kind in kinds:
            calls = _calls(reads, kind, history)
            for answer in runner.run(calls, kind.patience, deadline):
                answers[answer.command] = answer
    return tuple(_with_logs(read, kinds, answers) for read in reads)


def _calls(
    reads: Sequence[Read], kind: VendorPages | FarmLogs, history: Remembered
) -> list[Command]:
    """Return the calls that read the logs of one kind that are due."""
    calls = []
    for read in reads:
        with suppress(Exception):  # this drive is judged without its log
            call = kind.call(read, history.past(read.device), history.keeps(read.device))
            calls += [call] if call else []
    return calls


def _with_logs(read: Read, kinds: Sequence[VendorPages | FarmLogs], answers: Answers) -> Read:
    """Return the result of reading a drive with its further logs."""
    for kind in kinds:
        with suppress(Exception):  # this drive is judged without that log
            read = kind.joined(read, answers)
    return read


def kinds_of(judge: Judge, settings: LogSettings) -> list[VendorPages | FarmLogs]:
    """Return the further logs that a run may read."""
    kinds: list[VendorPages | FarmLogs] = []
    if settings.vendor_logs is not None:
        prefix = smartctl_calls.prefix(settings.how.smartctl, settings.how.nosudo)
        kinds.append(VendorPages(judge, settings.vendor_logs, prefix))
    if settings.is_for_a_person:
        kinds.append(FarmLogs(judge, settings))
    return kinds


class VendorPages:
    """The vendor log pages of NVMe drives whose database entry names such a page."""

    def __init__(self, judge: Judge, every: int, prefix: Command) -> None:
        """Store the settings. every: seconds between two reads of one drive. prefix: smartctl,
        with sudo if needed.
        """
        self._judge, self._every, self._prefix = judge, every, prefix
        self.patience = nvme_log.PATIENCE

    def call(self, read: Read, past: Past | None, is_stored: bool) -> Command | None:
        """Return the call that reads the page of a drive, or None if it is not due.

        past: the earlier readings of the drive. is_stored: this run stores when the page was read.
        """
        log, command = log_of(read, self._judge), self._command(read)
        if not log or not command:
            return None
        is_known = is_stored or not self._every
        return command if is_known and is_due(log, past, self._every) else None

    def joined(self, read: Read, answers: Answers) -> Read:
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
    return (
        log
        if log and log[0] in smartctl_calls.PAGES and judge.database.layouts.get(log[1])
        else None
    )


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


class FarmLogs:
    """The FARM logs of Seagate disks: each disk is asked once a week, and never by a check.

    smartctl 7.4 aborts on some disks when it prints this log as JSON, and the sudoers rule does not
    allow the call, so only root, or a user who may run smartctl directly, can request the log. All
    users see the latest answer.
    """

    def __init__(self, judge: Judge, settings: LogSettings) -> None:
        """Load the stored answers; without a directory for new answers, do not request logs from
        any disk.
        """
        from . import farm_answers

        self._judge, self._how, self._file = judge, settings.how, farm_answers
        self._may_ask = os.geteuid() == 0 or settings.how.nosudo
        self._state: StateDirectory | None = None
        place = state_directory.ready if self._may_ask else state_directory.there
        with suppress(state_directory.Unusable):
            if settings.state_dir is not None:
                self._state = place(settings.state_dir)
        self._known = self._before = farm_answers.load(self._state) if self._state else {}
        self.patience = settings.how.drive_timeout

    def call(self, read: Read, past: Past | None, is_stored: bool) -> Command | None:
        """Return the call that reads the log of a disk; () if the log is already known, None if it
        is not to be read.

        The request is stored before the call, so neither a hanging disk nor a full file system
        leads to further calls.
        """
        serial = self._serial(read)
        if not serial:
            return None
        stored = self._known.get(serial)
        is_due = stored is None or not 0 <= time.time() - stored.asked < WEEK
        asked = {**self._known, serial: Farm(asked=int(time.time()), unread=self._file.UNREAD)}
        if not (is_due and self._may_ask and self._state and self._file.keep(self._state, asked)):
            return () if stored else None
        self._known = asked
        return self._command(read)

    def joined(self, read: Read, answers: Answers) -> Read:
        """Store the answer of a disk; return the result of reading the disk, with the log if it
        is known.
        """
        serial, report = self._serial(read), read.outcome
        if not serial or not isinstance(report, Report):
            return read
        answer = answers.get(self._command(read))
        if answer:
            stored = dict(self._known)
            stored.pop(serial, None)
            if answer.outcome not in _NOT_ASKED:
                stored[serial] = _farm(answer)._replace(asked=int(time.time()))
            elif serial in self._before:
                stored[serial] = self._before[serial]
            self._known = stored
            if self._state:
                self._file.keep(self._state, stored)
        farm = self._known.get(serial)
        if farm is None:
            return read
        return read._replace(outcome=report._replace(farm=beside(farm, report.identity.serial)))

    def _serial(self, read: Read) -> str:
        """Return the serial number under which a disk's answers are stored; '' if the disk keeps
        no FARM log.
        """
        report = read.outcome
        if not isinstance(report, Report) or report.version < SINCE:
            return ''
        spec = self._judge.database.identify(report.identity, [row.id for row in report.attributes])
        return serial_key(report.identity.serial) if spec.keeps_farm else ''

    def _command(self, read: Read) -> Command:
        prefix = smartctl_calls.prefix(self._how.smartctl, self._how.nosudo)
        return (*prefix, *smartctl_calls.farm_arguments(read.device.path, read.device.type))


def _farm(answer: Answer) -> Farm:
    """Return the log in an answer, an empty log if the disk has no such log, or a log with an
    error in *unread*.
    """
    if answer.outcome != 'done':
        return Farm(unread=answer.reason)
    if answer.signal is not None:
        return Farm(unread=f'smartctl was terminated by signal {answer.signal}')
    try:
        return answered(answer.stdout)
    except DriveError:
        return Farm(unread=f'smartctl ended with exit status {answer.status} and without a log')
