"""migrate: convert files of version 1.6 to limits and entries of this version."""
from __future__ import annotations

import os

from ..check.rulebook import judge_of, site_of
from ..check.survey import survey
from ..command_line.command_options import MigrateOptions
from ..command_line.options import OK, PARTLY, Options
from ..model import Report
from ..reading.processes import Runner
from ..v1_6 import migrate
from ..words import sentence, visible


def run(options: Options, runner: Runner) -> int:
    """Convert files of version 1.6; return 0 if all of their content could be converted, else 1."""
    own: MigrateOptions = options.own
    drives = survey(options, runner) if options.which.devices or options.which.reports or options.which.scan else None
    judge = drives.judge if drives else judge_of(options, site_of(options.data, options.before))
    result = migrate.migration(own.files, migrate.Installation(judge.database, judge.thresholds, [
        migrate.ReportedDrive(read.device, read.outcome) for read in (drives.reads if drives else ())
        if isinstance(read.outcome, Report)]))
    name = os.path.splitext(os.path.basename(own.files[0]))[0] + '.json'
    if own.output:
        for path in migrate.write(result, name, own.output):
            print(f'written: {visible(path)}')
    else:
        for folder, text in (('attributes.d', result.attributes), ('thresholds.d', result.thresholds)):
            print(f'{folder}/{visible(name)}:\n{text}' if text else '', end='')
    for line in migrate.report(result):
        print(sentence(line, 1000))
    return PARTLY if result.lost else OK
