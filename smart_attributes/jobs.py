"""The jobs: each takes options, prints, and returns an exit status."""
from __future__ import annotations

import sys
from typing import Callable, List, Mapping, Sequence

from . import cli, smartctl
from .cli import Options
from .errors import UsageError
from .model import Report
from .survey import Survey, survey

OK, UNKNOWN = 0, 3


def do(argv: Sequence[str], runner: smartctl.Runner) -> int:
    """Run the job of a command line. Raises SmartError where it cannot be done."""
    options = cli.parse(argv)
    if options.show_version:
        return _version(options)
    return JOBS[options.job](options, runner)


def check(options: Options, runner: smartctl.Runner) -> int:
    """Print what a monitoring daemon reads; the exit status is the state."""
    found = survey(options, runner, _load_plugin)
    from . import plugin
    face = plugin.Face(options.verbose, options.hide_serial, options.all_perfdata)
    transcript = _transcript(found) if options.verbose >= 3 else []
    outcome = plugin.render(found.verdicts, found.judge.database.roles, face, found.failures, _notes(found),
                            transcript=transcript)
    print(outcome.text, end='')
    return int(outcome.state)


def _load_plugin() -> None:
    from . import json_report, plugin  # noqa: F401  needed only when the drives have answered


def _notes(found: Survey) -> List[str]:
    database = found.judge.database
    return [*found.notes, f'attributes.json {database.version} of {database.date}']


def _transcript(found: Survey) -> List[str]:
    from .clean import sentence
    return [f'  {read.device.name}: {sentence(line, 500)}' for read in found.reads for line in read.transcript.splitlines()]


def triage(options: Options, runner: smartctl.Runner) -> int:
    """Print the table; 0 when at least one drive was read."""
    found = survey(options, runner)
    from . import triage as face
    if options.as_json:
        print(face.as_json(found.verdicts, found.failures, options.hide_serial))
    else:
        face.print_table(found.verdicts, found.failures, options.hide_serial)
        _print_notes(found, options)
    return _was_read(found)


def _print_notes(found: Survey, options: Options) -> None:
    from .clean import sentence
    for note in found.notes:
        print(f'note: {sentence(note, 500)}')
    if options.verbose:
        for verdict in found.verdicts:
            for note in verdict.notes:
                print(f'{verdict.device.name}: {sentence(note, 500)}')


def _was_read(found: Survey) -> int:
    return OK if any(not verdict.problem for verdict in found.verdicts) else UNKNOWN


def list_(options: Options, runner: smartctl.Runner) -> int:
    """Print addresses with who answers there; 0 when at least one drive does."""
    found = survey(options, runner)
    from . import listing
    print(listing.as_json(found.reads, found.verdicts, options.hide_serial) if options.as_json
          else listing.as_text(found.reads, options.hide_serial))
    return _was_read(found)


def explain(options: Options, runner: smartctl.Runner) -> int:
    """Print all about each drive; 0 when at least one was read."""
    found = survey(options, runner)
    from . import explain as face
    for verdict, read in zip(found.verdicts, found.reads):
        report = read.outcome if isinstance(read.outcome, Report) else None
        face.print_drive(verdict, report, found.judge.database, found.judge.thresholds, options.hide_serial)
    if not found.verdicts:
        print('no drives; name one with -d or --report')
    return _was_read(found)


def sudoers(options: Options, runner: smartctl.Runner) -> int:
    """Print a file for /etc/sudoers.d."""
    from . import sudoers as rules
    print(rules.text(options, runner))
    return OK


def draft(options: Options, runner: smartctl.Runner) -> int:
    """Print a new entry for one drive."""
    found = survey(options, runner)
    known = [read.outcome for read in found.reads if isinstance(read.outcome, Report)]
    if len(known) != 1:
        raise UsageError(f'a draft is made from one drive, and {len(known)} answered; name it with -d or --report')
    from . import draft as drafting
    print(drafting.draft(known[0], found.judge.database))
    return OK


def prove(options: Options, runner: smartctl.Runner) -> int:
    """Print the mistakes in data files; 0 when there are none, 1 otherwise."""
    from . import prove as proving
    return proving.main(options.files, options.samples, options.models, options.format)


def measure(options: Options, runner: smartctl.Runner) -> int:
    """Print how true the database is; 0."""
    from . import measure as measuring
    return measuring.main(options.files[0], options.write)


def _version(options: Options) -> int:
    from .cli import PROGRAM
    from .survey import shipped_database
    database = shipped_database(options)
    print(f'{PROGRAM} {VERSION}, attributes.json {database.get("version")} of {database.get("date")}, Python {sys.version.split()[0]}')
    return OK


VERSION = '2.0'
Job = Callable[[Options, smartctl.Runner], int]
JOBS: Mapping[str, Job] = {
    'check': check, 'triage': triage, 'list': list_, 'explain': explain, 'sudoers': sudoers, 'draft': draft, 'prove': prove, 'measure': measure}
