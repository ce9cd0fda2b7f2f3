"""explain: the action for each drive and its alerts; with -v all readings, limits and unmapped
attributes.
"""

from __future__ import annotations

from ..check import fence
from ..check.survey import Survey
from ..command_line.options import Options
from ..model import Read, Report, State, Verdict
from ..reading.processes import Runner
from . import person


def run(options: Options, runner: Runner) -> int:
    """Print the details of each drive; return 0 if at least one drive was read, else 3."""
    found = person.surveyed(options, runner, options.own.asked)
    from ..output import explain

    explain.print_faults(found.faults)
    explain.print_faults(found.judge.warnings, State.WARNING)
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
        explain.print_drive(
            verdict,
            report,
            found.judge.database,
            found.judge.thresholds,
            options.naming.hide_serial,
            options.verbose > 0,
        )

    fence.show(verdict, show)
