"""explain: the action for each drive and its alerts; with -v all readings, limits and unmapped attributes."""
from __future__ import annotations

import time

from .. import files
from ..check import fence
from ..check.survey import Survey
from ..command_line.options import Options
from ..constants import LARGEST_FILE
from ..model import Read, Report, State, Verdict
from ..reading.content import nameless
from ..reading.processes import Runner
from ..work.dates import day
from . import person


def run(options: Options, runner: Runner) -> int:
    """Print the details of each drive; return 0 if at least one drive was read, else 3."""
    found = person.surveyed(options, runner)
    from ..output import explain
    explain.print_faults(found.faults)
    explain.print_faults(found.judge.warnings, State.WARNING)
    if options.own.rma:
        for verdict, read in zip(found.verdicts, found.reads):
            _print_return_form(verdict, read, options.naming.hide_serial)
        return person.status(found)
    for verdict, read in zip(found.verdicts, found.reads):
        _print_drive(found, verdict, read, options)
    if not found.verdicts:
        print('no drives; name one with -d or --report')
    person.print_remarks(found)
    return person.status(found)


def _print_drive(found: Survey, verdict: Verdict, read: Read, options: Options) -> None:
    from ..output import explain
    report = read.outcome if isinstance(read.outcome, Report) else None

    def show(verdict: Verdict) -> None:
        explain.print_drive(verdict, report, found.judge.database, found.judge.thresholds, options.naming.hide_serial,
                            options.verbose > 0)
    fence.show(verdict, show)


def _print_return_form(verdict: Verdict, read: Read, hide_serial: bool) -> None:
    """Print the text for a vendor's return form, with nothing about other drives or this machine."""
    from ..output import return_form

    def show(shown: Verdict) -> None:
        said = _said(read, hide_serial) if shown is verdict else ''  # a drive that cannot be shown is not quoted
        print('\n'.join(return_form.lines(shown, said, day(time.time()), hide_serial)))
        print()
    fence.show(verdict, show)


def _said(read: Read, hide_serial: bool) -> str:
    """Return the smartctl command and its output, or the recorded report."""
    said = files.text(read.device.path, LARGEST_FILE) if read.device.is_recorded else read.transcript
    return nameless(said) if hide_serial else said
