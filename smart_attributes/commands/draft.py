"""draft: print a new entry for attributes.json, made from one drive."""
from __future__ import annotations

import sys

from ..check.survey import Survey, survey
from ..command_line.options import OK, UNKNOWN, Options
from ..reading.processes import Runner
from ..words import sentence
from . import person


def run(options: Options, runner: Runner) -> int:
    """Print a new database entry for one drive and return 0; without one, print why to stderr and return 3."""
    result = survey(options, runner)
    reports = [report for _, report in person.answered(result)]
    if len(reports) != 1:
        print(_why_no_draft(result, len(reports)), file=sys.stderr)
        return UNKNOWN
    from ..devtools import draft
    text = draft.draft(reports[0], result.judge.database)
    print(text.rstrip(), file=sys.stdout if text.startswith('{') else sys.stderr)
    return OK


def _why_no_draft(result: Survey, answered: int) -> str:
    problems = [] if answered else [f'{verdict.device.name} {verdict.problem}' for verdict in result.verdicts
                                    if verdict.problem]
    return sentence('; '.join(problems), 1000) or (f'a draft needs exactly one drive, but {answered} answered; name '
                                                   'one with -d or --report')
