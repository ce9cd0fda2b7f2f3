"""draft, validate and migrate: create database entries and limits, and find mistakes in them."""
from __future__ import annotations

import os
import sys

from ..check.rulebook import judge_of, site_of
from ..check.survey import Survey, survey
from ..command_line.command_options import MigrateOptions, ValidateOptions
from ..command_line.options import OK, PARTLY, UNKNOWN, Options
from ..model import Report
from ..reading.processes import Runner
from ..words import sentence, visible
from . import person


def draft(options: Options, runner: Runner) -> int:
    """Print a new database entry for one drive and return 0; if impossible, print why to stderr and return 3."""
    result = survey(options, runner)
    reports = [report for _, report in person.answered(result)]
    if len(reports) != 1:
        print(_why_no_draft(result, len(reports)), file=sys.stderr)
        return UNKNOWN
    from ..devtools import draft as drafts
    text = drafts.draft(reports[0], result.judge.database)
    print(text.rstrip(), file=sys.stdout if text.startswith('{') else sys.stderr)
    return OK


def _why_no_draft(result: Survey, answered: int) -> str:
    problems = [] if answered else [f'{verdict.device.name} {verdict.problem}' for verdict in result.verdicts
                                    if verdict.problem]
    return sentence('; '.join(problems), 1000) or (f'a draft needs exactly one drive, but {answered} answered; name '
                                                   'one with -d or --report')


def validate(options: Options, runner: Runner) -> int:
    """Print the mistakes in data files; return 0 without mistakes, else 1."""
    from ..devtools import validate as validation
    from ..v1_6 import files as old_files
    own: ValidateOptions = options.own
    more = (validation.FileKind('database of version 1.6', lambda _, data: old_files.is_of_1_6(data)
                                and not old_files.is_by_path(data), old_files.examine),
            validation.FileKind('user configuration of version 1.6', lambda _, data: old_files.is_of_1_6(data)
                                and old_files.is_by_path(data), old_files.examine))
    return validation.main(own.files, own.samples, own.models, own.format, lambda line: print(visible(line)),
                           more_kinds=more)


def migrate(options: Options, runner: Runner) -> int:
    """Convert files of version 1.6; return 0 if all their content could be converted, else 1."""
    from ..v1_6 import migrate as conversion
    own: MigrateOptions = options.own
    drives = survey(options, runner) if options.which.devices or options.which.reports or options.which.scan else None
    judge = drives.judge if drives else judge_of(options, site_of(options.data, options.before))
    result = conversion.migration(own.files, conversion.Installation(judge.database, judge.thresholds, [
        conversion.ReportedDrive(read.device, read.outcome) for read in (drives.reads if drives else ())
        if isinstance(read.outcome, Report)]))
    name = os.path.splitext(os.path.basename(own.files[0]))[0] + '.json'
    if own.output:
        for path in conversion.write(result, name, own.output):
            print(f'written: {visible(path)}')
    else:
        for folder, text in (('attributes.d', result.attributes), ('thresholds.d', result.thresholds)):
            print(f'{folder}/{visible(name)}:\n{text}' if text else '', end='')
    for line in conversion.report(result):
        print(sentence(line, 1000))
    return PARTLY if result.lost else OK
