"""draft, validate and migrate: create database entries and limits, and find mistakes in them."""

import os
import sys
from collections.abc import Sequence

from ..check.rulebook import judge_of, site_of
from ..check.survey import Survey, survey
from ..command_line.options import OK, PARTLY, UNKNOWN, Options
from ..model import Read
from ..reading.processes import Runner
from ..words import sentence
from .records.migrate import MigrateOptions
from .records.validate import ValidateOptions


def draft(options: Options, runner: Runner) -> int:
    """Print a new database entry for one drive, or print to stderr why this drive gets none; return 0.

    If not exactly one drive was read, print the reason to stderr and return 3.
    """
    result = survey(options, runner)
    reports = [read.report for read in result.reads if read.report is not None]
    if len(reports) != 1:
        print(_why_no_draft(result, len(reports)), file=sys.stderr)
        return UNKNOWN
    from ..devtools import draft as drafts

    text = drafts.draft(reports[0], result.judge.database)
    is_entry = text.startswith('{')
    print(text.rstrip(), file=sys.stdout if is_entry else sys.stderr)
    return OK


def _why_no_draft(result: Survey, answered: int) -> str:
    """Return why there is no draft. answered: the number of drives that answered, not 1."""
    problems = [
        f'{verdict.device.name} {verdict.explained}'
        for verdict in result.verdicts
        if verdict.problem
    ]
    if problems and not answered:
        return sentence('; '.join(problems), 1000)
    return f'a draft needs exactly one drive, but {answered} answered; name one with -d or --report'


def validate(options: Options, runner: Runner) -> int:
    """Print the mistakes in data files; return 0 without mistakes, else 1."""
    from ..devtools import validate as validation

    own: ValidateOptions = options.own
    return validation.main(own.files, own.format)


def migrate(options: Options, runner: Runner) -> int:
    """Convert files of version 1.6; return 0 if all their limits could be converted, else 1."""
    from ..v1_6 import migrate as conversion

    own: MigrateOptions = options.own
    old = [conversion.old_file(path) for path in own.files]
    which = options.which
    has_selection = which.devices or which.scan or which.reports
    if not has_selection:
        which = which._replace(devices=tuple(conversion.plain_paths(old)))
        options = options._replace(which=which)
    drives: Sequence[Read] = ()
    # If the options select nothing, and the old files have no plain path, no drive is read.
    if has_selection or which.devices:
        drives = survey(options, runner).reads
    judge = judge_of(options, site_of(options.data, None))
    result = conversion.Migration(old, judge.database, drives)
    name = os.path.splitext(os.path.basename(own.files[0]))[0] + '.json'
    os.umask(0o022)  # the monitoring user reads the file
    path = conversion.write(result, name, options.data.config)
    for line in conversion.report(result, path, options.data.config):
        print(sentence(line, 1000))
    return PARTLY if result.lost else OK
