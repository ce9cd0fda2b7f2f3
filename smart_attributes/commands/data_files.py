"""The commands about files: entries and limits, files of version 1.6, drives that others have read."""
from __future__ import annotations

import os
from typing import Callable, Mapping

from ..check.rulebook import judge_of, site_of
from ..check.survey import survey
from ..command_line.options import OK, PARTLY, Options
from ..model import Report
from ..reading import processes


def validate(options: Options, runner: processes.Runner) -> int:
    """Print the mistakes in data files; 0 when there are none, 1 otherwise."""
    from ..devtools import validate as validating
    from ..v1_6 import validation
    from ..words import visible
    old = (validating.Kind(validation.DATABASE, validation.is_database, validation.examine),
           validating.Kind(validation.USERS, validation.is_users, validation.examine))
    return validating.main(options.files, options.samples, options.models, options.format,
                           lambda line: print(visible(line)), more_kinds=old)


def measure(options: Options, runner: processes.Runner) -> int:
    """Print how well the database agrees with the drives of a file; 0."""
    from ..devtools import measure as measuring
    return measuring.main(options.files[0], options.write)


def migrate(options: Options, runner: processes.Runner) -> int:
    """Turn files of version 1.6 into files of this one; 0 when all could be carried over, 1 otherwise."""
    found = survey(options, runner) if options.which.devices or options.which.reports or options.which.scan else None
    judge = found.judge if found else judge_of(options, site_of(options.data, options.before))
    from ..v1_6 import migrate as migrating
    from ..words import sentence, visible
    drives = [migrating.Drive(read.device, read.outcome) for read in found.reads
              if isinstance(read.outcome, Report)] if found else []
    result = migrating.outcome(options.files, migrating.Site(judge.database, judge.thresholds, drives))
    name = os.path.splitext(os.path.basename(options.files[0]))[0] + '.json'
    if options.output:
        for path in migrating.write(result, name, options.output):
            print(f'written: {visible(path)}')
    else:
        for folder, text in (('attributes.d', result.attributes), ('thresholds.d', result.thresholds)):
            print(f'{folder}/{visible(name)}:\n{text}' if text else '', end='')
    for line in migrating.report(result):
        print(sentence(line, 1000))
    return PARTLY if result.lost else OK


COMMANDS: Mapping[str, Callable[[Options, processes.Runner], int]] = {
    'validate': validate, 'measure': measure, 'migrate': migrate}
