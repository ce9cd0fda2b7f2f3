"""The second pass of reading: read logs that the first call to smartctl does not read.

They are pages of vendor-specific NVMe logs and, only for commands that a person runs, Seagate's
FARM log. The drives are asked for these logs when all have answered the first call. A missing log
changes no state.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress

from .. import alarm
from ..errors import Coded, DriveError
from ..knowledge import vendor_logs
from ..model import Answer, Farm, Read, Report
from ..reading import nvme_log, smartctl_calls
from ..reading.farm import answered, beside
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

    Answers = Mapping[Command, Answer]

OLD_RULE = Coded(
    'sudo-rule-old',
    'the sudoers rule is from an earlier version and lacks newer calls (vendor logs); as root, '
    'install the rule printed by: check_smart_attributes sudoers',
)
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
            call = kind.call(
                read, history.past(read.device), history.keeps(read.device)
            )
            calls += [call] if call else []
    return calls


def _with_logs(
    read: Read, kinds: Sequence[VendorPages | FarmLogs], answers: Answers
) -> Read:
    """Return the result of reading a drive with its further logs."""
    for kind in kinds:
        with suppress(Exception):  # this drive is judged without that log
            read = kind.joined(read, answers)
    return read


def kinds_of(judge: Judge, settings: LogSettings) -> list[VendorPages | FarmLogs]:
    """Return the further logs that a run may read.

    The sudoers rule does not allow to read FARM logs, so only root, or a user who may run smartctl
    directly, reads them.
    """
    how = settings.how
    prefix = smartctl_calls.prefix(how.smartctl, how.nosudo)
    kinds: list[VendorPages | FarmLogs] = []
    if settings.vendor_logs is not None:
        kinds.append(VendorPages(judge, settings.vendor_logs, prefix))
    if settings.is_for_a_person and (os.geteuid() == 0 or how.nosudo):
        kinds.append(FarmLogs(judge, how.drive_timeout, prefix))
    return kinds


class VendorPages:
    """The vendor log pages of NVMe drives whose database entry names such a page."""

    def __init__(self, judge: Judge, every: int, prefix: Command) -> None:
        """Store the settings. every: seconds between two reads of one drive. prefix: smartctl,
        with sudo if needed.
        """
        self._judge, self._every, self._prefix = judge, every, prefix
        self.patience = nvme_log.PATIENCE

    def call(self, read: Read, past: Past | None, is_stored: bool) -> Command:
        """Return the call that reads the page of a drive, or () if it is not due.

        past: the earlier readings of the drive. is_stored: this run stores when the page was read.
        """
        log = log_of(read, self._judge)
        is_known = is_stored or not self._every
        if not log or not is_known or not is_due(log, past, self._every):
            return ()
        return self._command(read, log)

    def joined(self, read: Read, answers: Answers) -> Read:
        """Return the result of reading a drive, with the drive's log page if it has been read."""
        log = log_of(read, self._judge)
        answer = answers.get(self._command(read, log)) if log else None
        if not log or not answer or not isinstance(read.outcome, Report):
            return read
        return read._replace(
            outcome=read.outcome._replace(vendor_log=nvme_log.page_of(answer, log[0])),
            remark=OLD_RULE if smartctl_calls.is_refused(answer) else read.remark,
        )

    def _command(self, read: Read, log: Log) -> Command:
        """Return the call that reads the log of a drive, or () if it has no NVMe controller."""
        controller = nvme_log.controller(read.device)
        if not controller:
            return ()
        return (*self._prefix, *smartctl_calls.page_arguments(log[0], controller))


def log_of(read: Read, judge: Judge) -> Log | None:
    """Return the log to read from a drive that has answered; None if no log is to be read."""
    report = read.outcome
    if (
        not isinstance(report, Report)
        or report.identity.kind != 'nvme'
        or read.device.is_recorded
    ):
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
    """The FARM logs of Seagate disks, which no check reads: smartctl 7.4 aborts on some disks when
    it prints this log as JSON.
    """

    def __init__(self, judge: Judge, patience: float, prefix: Command) -> None:
        """Store the settings. patience: seconds that a disk has to answer. prefix: smartctl."""
        self._judge, self._prefix, self.patience = judge, prefix, patience

    def call(self, read: Read, past: Past | None, is_stored: bool) -> Command:
        """Return the call that reads the log of a disk; () if the disk keeps no FARM log."""
        report = read.outcome
        if (
            not isinstance(report, Report)
            or report.version < SINCE
            or read.device.is_recorded
        ):
            return ()
        spec = self._judge.database.identify(
            report.identity, [row.id for row in report.attributes]
        )
        return self._command(read) if spec.keeps_farm else ()

    def joined(self, read: Read, answers: Answers) -> Read:
        """Return the result of reading a disk, with its log if it was asked for it."""
        report, answer = read.outcome, answers.get(self._command(read))
        if not answer or answer.outcome in _NOT_ASKED or not isinstance(report, Report):
            return read
        return read._replace(
            outcome=report._replace(farm=beside(_farm(answer), report.identity.serial))
        )

    def _command(self, read: Read) -> Command:
        device = read.device
        return (*self._prefix, *smartctl_calls.farm_arguments(device.path, device.type))


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
        return Farm(
            unread=f'smartctl ended with exit status {answer.status} and without a log'
        )
