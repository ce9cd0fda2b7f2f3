"""The second pass of reading: read logs that the first call to smartctl does not read.

They are pages of vendor-specific NVMe logs and, only for commands that a person runs, Seagate's
FARM log. The drives are asked for these logs when all have answered the first call. A missing log
changes no state.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress

from .. import alarm
from ..errors import Coded, DriveError
from ..knowledge import vendor_logs
from ..model import Answer, Device, Farm, HowRead, Read
from ..reading import nvme_log, smartctl_calls
from ..reading.farm import answered, marked_if_foreign
from ..reading.processes import Runner
from ..typed import TYPE_CHECKING, NamedTuple
from . import vendor_readings

if TYPE_CHECKING:
    from typing import Union

    from ..history.past import Past
    from ..reading.smartctl_calls import Command
    from .history_access import Remembered
    from .rulebook import Judge
    from .vendor_readings import Log

    Kind = Union['VendorPages', 'FarmLogs']

# outcomes of a call that was not started: no time was left, or another check used the drive
NOT_STARTED = ('not started', 'too late', 'met', 'busy')
OLD_RULE = Coded(
    'sudo-rule-old',
    'the sudoers rule is from an earlier version and does not allow newer calls (vendor logs); '
    'as root, install the rule printed by: check_smart_attributes sudoers',
)


def joined(
    reads: Sequence[Read],
    kinds: Sequence[Kind],
    runner: Runner,
    deadline: float,
) -> tuple[Read, ...]:
    """Read the logs that are due; return the results of reading, each with the further logs of the
    drive. After the time limit, the drives are without the missing logs.

    deadline: value of time.monotonic().
    """
    complete = {read.device: read for read in reads}
    with suppress(alarm.TimeIsOver):
        for kind in kinds:
            calls = _calls(reads, kind)
            for answer in runner.run(list(calls), kind.patience, deadline):
                for device in calls[answer.command]:
                    with suppress(Exception):  # this drive is judged without that log
                        complete[device] = kind.joined(complete[device], answer)
    return tuple(complete[read.device] for read in reads)


def _calls(reads: Sequence[Read], kind: Kind) -> dict[Command, list[Device]]:
    """Return the calls that read the logs of one kind that are due, each with the devices whose log
    it reads: the namespaces of one NVMe drive have the same log.
    """
    calls: dict[Command, list[Device]] = {}
    for read in reads:
        with suppress(Exception):  # this drive is judged without its log
            call = kind.call(read)
            if call:
                calls.setdefault(call, []).append(read.device)
    return calls


def kinds_of(
    judge: Judge, how: HowRead, history: Remembered, is_for_a_person: bool
) -> list[Kind]:
    """Return the further logs that a run may read. is_for_a_person: as for survey().

    The sudoers rule does not allow to read FARM logs, so only root, or a user who may run smartctl
    directly, reads them.
    """
    every = judge.rules.asked.vendor_logs
    prefix = smartctl_calls.prefix(how.smartctl, how.nosudo)
    kinds: list[Kind] = []
    if every is not None:
        kinds.append(VendorPages(judge, every, prefix, history))
    if is_for_a_person and (os.geteuid() == 0 or how.nosudo):
        kinds.append(FarmLogs(judge, how.drive_timeout, prefix))
    return kinds


class VendorPages(NamedTuple):
    """The vendor log pages of NVMe drives whose database entry names such a page."""

    judge: Judge
    every: int  # seconds between two reads of one drive
    prefix: Command  # smartctl, with sudo if needed
    history: Remembered
    patience: float = nvme_log.PATIENCE  # seconds that a drive has to answer

    def call(self, read: Read) -> Command:
        """Return the call that reads the page of a drive, or () if it is not due."""
        device = read.device
        # without a stored date, the page would be read at each check
        if self.every and not self.history.keeps(device):
            return ()
        log = log_of(read, self.judge)
        controller = nvme_log.controller(device)
        past = self.history.past(device)
        if not log or not controller or not is_time_to_read(log, past, self.every):
            return ()
        page, _ = log
        return (*self.prefix, *smartctl_calls.page_arguments(page, controller))

    def joined(self, read: Read, answer: Answer) -> Read:
        """Return the result of reading a drive, with the log page in the answer to call()."""
        log = log_of(read, self.judge)
        report = read.report
        if log is None or report is None:
            return read
        page, _ = log
        vendor_log = nvme_log.page_of(answer, page)
        complete = read._replace(outcome=report._replace(vendor_log=vendor_log))
        if smartctl_calls.is_refused(answer):
            return complete._replace(remark=OLD_RULE)
        return complete


def log_of(read: Read, judge: Judge) -> Log | None:
    """Return the log to read from a drive that has answered; None if no log is to be read.

    A page is only read if the sudoers rule has it and its layout is known.
    """
    report = read.report
    if report is None or report.identity.kind != 'nvme' or read.device.is_recorded:
        return None
    log = judge.database.identify(report.identity, ()).log
    if log is None:
        return None
    page, layout = log
    is_allowed = page in smartctl_calls.PAGES
    return log if is_allowed and layout in judge.database.layouts else None


def is_time_to_read(log: Log, past: Past | None, every: int) -> bool:
    """Return whether it is time to read the log of a drive again. past: the earlier readings of the
    drive.

    Readings that another user could have written must not prevent a check by root from reading the
    log.
    """
    attempt = vendor_readings.last_attempt(past, log)
    if past is None or not past.is_own or attempt is None:
        return True
    status = int(attempt.points[-1].number)  # stored as the number of a reading
    return vendor_logs.is_due(status, past.now - attempt.last_read, every)


class FarmLogs(NamedTuple):
    """The FARM logs of Seagate disks, which no check reads: smartctl 7.4 aborts on some disks when
    it prints this log as JSON.
    """

    judge: Judge
    patience: float  # seconds that a disk has to answer
    prefix: Command  # smartctl

    def call(self, read: Read) -> Command:
        """Return the call that reads the log of a disk; () if the disk keeps no FARM log."""
        report = read.report
        device = read.device
        # -l farm came with smartctl 7.4
        if report is None or report.version < (7, 4) or device.is_recorded:
            return ()
        numbers = [row.id for row in report.attributes]
        if not self.judge.database.identify(report.identity, numbers).keeps_farm:
            return ()
        return (*self.prefix, *smartctl_calls.farm_arguments(device.path, device.type))

    def joined(self, read: Read, answer: Answer) -> Read:
        """Return the result of reading a disk, with the log in the answer to call(); unchanged if
        the call was not started.
        """
        report = read.report
        if report is None or answer.outcome in NOT_STARTED:
            return read
        farm = marked_if_foreign(_farm(answer), report.identity.serial)
        return read._replace(outcome=report._replace(farm=farm))


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
            unread=f'smartctl returned only exit status {answer.status}, no log'
        )
