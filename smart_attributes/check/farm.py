"""Ask Seagate disks for their FARM log once a week, for the commands that a person runs. A check never asks.

smartctl 7.4 aborts on some disks when it prints this log as JSON, and the sudoers rule does not allow the call: only
root, or a user who may run smartctl directly, asks. Everyone sees what was answered last.
"""
from __future__ import annotations

import os
import time

from .. import state_directory
from ..constants import DAY
from ..errors import DriveError
from ..history import farm_answers
from ..model import Farm, Read, Report
from ..reading import smartctl_calls
from ..reading.farm import answered, beside
from ..reading.identity import serial_key
from ..typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..command_line.options import Options
    from ..model import Answer, HowRead
    from ..reading.processes import Runner
    from ..state_directory import StateDirectory
    from .rulebook import Judge

WEEK = 7 * DAY
SINCE = (7, 4)         # the version of smartctl that introduced -l farm
_NOT_ASKED = ('not started', 'too late', 'met', 'busy')   # values of Answer.outcome


def completed(reads: Sequence[Read], judge: Judge, options: Options, runner: Runner,
              deadline: float) -> Iterator[tuple[int, Read]]:
    """Yield the place and the new read of each disk whose FARM log is known, after asking those that are due.

    deadline: of time.monotonic(), for all of them.
    """
    disks = {place: serial_key(read.outcome.identity.serial) for place, read in enumerate(reads)
             if isinstance(read.outcome, Report) and _keeps_one(read.outcome, judge)}
    state = _state(options) if any(disks.values()) else None
    if state is None:
        return
    known = farm_answers.load(state)
    due = {serial: reads[place] for place, serial in disks.items() if serial and _is_due(known.get(serial))}
    if due and _may_ask(options.how_read):
        known = _asked(due, known, state, options.how_read, runner, deadline)
    for place, serial in disks.items():
        report = reads[place].outcome
        if serial in known and isinstance(report, Report):
            yield place, reads[place]._replace(outcome=report._replace(
                farm=beside(known[serial], report.identity.serial)))


def _keeps_one(report: Report, judge: Judge) -> bool:
    spec = judge.database.identify(report.identity, [row.id for row in report.attributes])
    return spec.keeps_farm and report.version >= SINCE


def _state(options: Options) -> StateDirectory | None:
    """Return the directory that remembers the answers; None without one: then no disk is asked."""
    if options.history.no_history:
        return None
    try:
        return (state_directory.ready if _may_ask(options.how_read) else state_directory.there)(options.state_dir)
    except state_directory.Unusable:
        return None


def _may_ask(how: HowRead) -> bool:
    return os.geteuid() == 0 or how.nosudo


def _is_due(farm: Farm | None) -> bool:
    return farm is None or not 0 <= time.time() - farm.asked < WEEK


def _asked(due: Mapping[str, Read], known: Mapping[str, Farm], state: StateDirectory, how: HowRead, runner: Runner,
           deadline: float) -> dict[str, Farm]:
    """Return the known answers with those of the disks that are due.

    That they are asked is written first: a disk that hangs, or a full file system, does not lead to further calls.
    """
    now = int(time.time())
    if not farm_answers.keep(state, {**known, **dict.fromkeys(due, Farm(asked=now, unread=farm_answers.UNREAD))}):
        return dict(known)
    found, prefix = dict(known), smartctl_calls.prefix(how.smartctl, how.nosudo)
    serials = {(*prefix, *smartctl_calls.farm_arguments(read.device.path, read.device.type)): serial
               for serial, read in due.items()}
    for answer in runner.run(list(serials), how.jobs, how.drive_timeout, deadline):
        if answer.outcome not in _NOT_ASKED:
            found[serials[answer.command]] = _farm(answer)._replace(asked=now)
    farm_answers.keep(state, found)
    return found


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
