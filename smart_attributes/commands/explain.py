"""explain: the action for each drive and its alerts; with -v all readings, limits and unmapped
attributes.
"""

from __future__ import annotations

from ..check.rulebook import Judge
from ..command_line.options import Options
from ..model import Case, Report, State
from ..reading.processes import Runner
from . import person
from .cases import unshown


def run(options: Options, runner: Runner) -> int:
    """Print the details of each drive; return 0 if at least one drive was read, else 3."""
    overview = person.surveyed(options, runner, options.own.asked)
    survey = overview.survey
    from ..output import explain

    explain.print_faults(survey.faults)
    explain.print_faults(survey.judge.warnings, State.WARNING)
    for case, read in zip(overview.cases, survey.reads):
        _print_drive(case, read.report, survey.judge, options)
    if not overview.cases:
        print('no drives; name one with -d or --report')
    person.print_remarks(overview)
    return person.status(overview.verdicts)


def _print_drive(
    case: Case, report: Report | None, judge: Judge, options: Options
) -> None:
    """Print a drive; if this fails, print the failure."""
    from ..output import explain

    context = report, judge.database, judge.thresholds, options.verbose > 0
    try:
        explain.print_drive(case, *context)
    except Exception as error:
        explain.print_drive(unshown(case, error), *context)
