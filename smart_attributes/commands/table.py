"""The commands: each takes options, prints, and returns an exit status."""
from __future__ import annotations

import sys
import time

from .. import alarm
from ..check.survey import Survey, find, plan, survey
from ..command_line import parsers
from ..command_line.options import OK, PARTLY, UNKNOWN, Options
from ..model import Lately, Report, State, Verdict, worst
from ..reading import processes
from ..reading.machine import Found, Plan
from ..typed import TYPE_CHECKING
from ..version import VERSION

if TYPE_CHECKING:
    from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

    from ..output.history import Drive as HistoryOfDrive
    from ..output.plugin import Outcome, Whole

    Command = Callable[[Options, processes.Runner], int]


def do(argv: Sequence[str], runner: processes.Runner) -> int:
    """Run the command of a command line. Raises SmartError where it cannot be done."""
    options = parsers.parse(argv)
    if options.show_version:
        return _version(options)
    if options.command in LIMITED:
        alarm.arm(options.how_read.timeout)
    return COMMANDS[options.command](options, runner)


def check(options: Options, runner: processes.Runner) -> int:
    """Print what a monitoring daemon reads; the exit status is the state."""
    found = survey(options, runner, _load_plugin)
    try:
        outcome = _rendered(found, options)
    except alarm.TimeIsOver:  # all is known: it only remains to be said
        outcome = _rendered(found, options)
    print(outcome.text, end='')
    runner.later.append(lambda: found.history.keep(found.verdicts))
    return int(outcome.state)


def _rendered(found: Survey, options: Options) -> Outcome:
    from ..output import plugin
    face = plugin.Face(options.verbose, options.naming.hide_serial, options.all_perfdata, options.max_output)
    transcript = _transcript(found, options.naming.hide_serial) if options.verbose >= 3 else []
    return plugin.render(found.verdicts, found.judge.database.metrics, face, _whole(found), transcript)


def _whole(found: Survey) -> Whole:
    from ..output import plugin
    return plugin.Whole(found.failures, found.faults, found.demands, found.remarks, _notes(found), found.nobody)


def _load_plugin() -> None:
    from ..history import forecast  # noqa: F401  needed only when the drives have answered
    from ..output import plugin  # noqa: F401  needed only when the drives have answered
    from ..reading import json_report  # noqa: F401  needed only when the drives have answered


def _notes(found: Survey) -> List[str]:
    database = found.judge.database
    return [*found.notes, f'attributes.json of {database.date}']


def _transcript(found: Survey, hide_serial: bool) -> List[str]:
    from ..reading.content import nameless
    from ..words import sentence
    shown = nameless if hide_serial else str
    return [f'  {read.device.name}: {sentence(line, 500)}' for read in found.reads
            for line in shown(read.transcript).splitlines()]


def triage(options: Options, runner: processes.Runner) -> int:
    """Print the table; 0 when at least one drive was read."""
    found = _with_lately(_with_unread_logs(_for_a_person(options, runner), options), options)
    if options.html:
        _write_page(found, options)
    if options.as_json:
        from ..output import json_document
        print(json_document.as_text({**_nobody(found), **_document(found, options)}))
    elif options.html:
        print(f'written: {options.html}')
    else:
        from ..output import triage_table as face
        face.print_table(found.verdicts, found.failures, options.naming.hide_serial, found.faults, found.demands)
        _print_notes(found, options)
        _print_lately(found.lately)
    return _was_read(found)


def _with_lately(found: Survey, options: Options) -> Survey:
    """Return a survey that tells what grew, came and went in the time that is asked for."""
    if not options.since:
        return found
    worse = {metric: each.worse for metric, each in found.judge.database.metrics.items()}
    lately = found.history.lately(found.verdicts, options.since, worse, options.naming.hide_serial)
    return found._replace(lately=lately, remarks=tuple(words for words in found.remarks if words not in lately.went))


def _with_unread_logs(found: Survey, options: Options) -> Survey:
    """Return a survey that tells of values which smartd has kept and history does not have."""
    if options.no_history or options.which.reports or found.history.trouble:
        return found
    from . import smartd_import
    words = smartd_import.unread(_answered(found), found.judge.database, found.history.since)
    return found._replace(remarks=(*found.remarks, words)) if words else found


def _nobody(found: Survey) -> Dict[str, str]:
    """Return the keys of a JSON document that say why it has no drives, where that is a fault."""
    state, words = found.nobody
    return {} if found.verdicts or state is State.OK else {'state': state.name, 'error': words}


def _document(found: Survey, options: Options) -> Dict[str, Any]:
    import socket

    from ..output import json_document
    now = time.time()
    of_this_host = {} if options.which.reports else {'host': socket.gethostname()}
    return {**json_document.document(found.verdicts, found.failures, options.naming.hide_serial, now, found.faults,
                                     found.demands, found.remarks, found.lately), **of_this_host, 'made': int(now)}


def _for_a_person(options: Options, runner: processes.Runner) -> Survey:
    """Return a survey that also says where each drive is, what uses it and how long it lasts."""
    from ..reading.location import place
    found = _watched(options, runner)
    return found._replace(verdicts=tuple(found.history.told(verdict)._replace(place=place(verdict.device))
                                         for verdict in found.verdicts))


def _watched(options: Options, runner: processes.Runner) -> Survey:
    """Return the survey, telling who waits at a terminal how far it is."""
    from ..output.progress import ProgressLine
    line = ProgressLine()
    try:
        return survey(options, runner, watch=line)
    finally:
        line.end()


def _write_page(found: Survey, options: Options) -> None:
    import socket

    from ..output import output_file, page
    content = _document(found, options)
    output_file.write(page.page(content, f'Drives of {socket.gethostname()}', time.time()), str(options.html))


def _print_notes(found: Survey, options: Options) -> None:
    from ..words import sentence
    _print_remarks(found)
    if options.verbose:
        for verdict in found.verdicts:
            for note in verdict.notes:
                print(f'{verdict.device.name}: {sentence(note, 500)}')


def _print_remarks(found: Survey) -> None:
    from ..words import sentence
    for note in (*found.remarks, *found.notes):
        print(f'note: {sentence(note, 500)}')


def _print_lately(lately: Optional[Lately]) -> None:
    from ..output.table_cells import lately_lines
    print(''.join(f'{line}\n' for line in lately_lines(lately)) if lately else '', end='')


def _was_read(found: Survey) -> int:
    return OK if any(not verdict.problem for verdict in found.verdicts) else UNKNOWN


def list_(options: Options, runner: processes.Runner) -> int:
    """Print addresses with who answers there; 0 when at least one drive does."""
    found = survey(options, runner)
    from ..output import drive_list
    told = found.verdicts, _addresses(found, options), options.naming.hide_serial
    print(drive_list.as_json(*told, _nobody(found)) if options.as_json else drive_list.as_text(*told))
    return _was_read(found)


def _addresses(found: Survey, options: Options) -> List[str]:
    """Return what to paste after -d for each drive."""
    if options.naming.label != 'by-id':
        return [verdict.device.address for verdict in found.verdicts]
    from ..reading import by_id
    known = by_id.links()
    return [by_id.stable(verdict.device, known).address for verdict in found.verdicts]


def explain(options: Options, runner: processes.Runner) -> int:
    """Print all about each drive; 0 when at least one was read."""
    found = _for_a_person(options, runner)
    from ..output import explain as face
    face.print_faults(found.faults)
    for verdict, read in zip(found.verdicts, found.reads):
        report = read.outcome if isinstance(read.outcome, Report) else None
        face.print_drive(verdict, report, found.judge.database, found.judge.thresholds, options.naming.hide_serial)
    if not found.verdicts:
        print('no drives; name one with -d or --report')
    _print_remarks(found)
    return _was_read(found)


def sudoers(options: Options, runner: processes.Runner) -> int:
    """Print a file for /etc/sudoers.d."""
    from ..reading import sudoers as rules
    asked = rules.Asked(options.user, options.literal, options.types, bool(options.which.devices))

    def drives() -> Tuple[Found, Sequence[Plan]]:
        found = find(options, runner, time.monotonic() + options.how_read.timeout)
        return found, plan(found.devices, options)
    print(rules.text(asked, options.how_read, runner, drives))
    return OK


def draft(options: Options, runner: processes.Runner) -> int:
    """Print a new entry for one drive, which goes into a file; why there is none goes to the person."""
    found = survey(options, runner)
    known = [read.outcome for read in found.reads if isinstance(read.outcome, Report)]
    if len(known) != 1:
        print(_why_no_draft(found, len(known)), file=sys.stderr)
        return UNKNOWN
    from ..devtools import draft as drafting
    text = drafting.draft(known[0], found.judge.database)
    print(text.rstrip(), file=sys.stdout if text.startswith('{') else sys.stderr)
    return OK


def _why_no_draft(found: Survey, answered: int) -> str:
    from ..words import sentence
    problems = [f'{verdict.device.name} {verdict.problem}' for verdict in found.verdicts if verdict.problem
                and not answered]
    return sentence('; '.join(problems),
                    1000) or f'a draft is made from one drive, and {answered} answered; name it with -d or --report'


def _with_files(options: Options, runner: processes.Runner) -> int:
    """Do a command that is about files."""
    from . import data_files
    return data_files.COMMANDS[options.command](options, runner)


def acknowledge(options: Options, runner: processes.Runner) -> int:
    """Accept numbers of drives, list what is accepted, or withdraw it; 0 when all could be done, 1 otherwise."""
    from .acknowledge import acknowledge as acknowledged
    return acknowledged(options, runner)


def history(options: Options, runner: processes.Runner) -> int:
    """Show what history holds of drives, fill it or make it forget; 0 when it could be done."""
    from ..words import sentence
    if options.forget:
        from ..check.history_access import for_writing
        forgotten = sum(map(for_writing(options).forget, options.forget))
        print(f'{forgotten} forgotten' if forgotten else 'history knows no drive of that serial number')
        return OK if forgotten else UNKNOWN
    found = survey(options, runner)
    if options.imports:
        for line in _imported(found, options):
            print(sentence(line, 1000), flush=True)  # also where the time ends before the next drive
        return _was_read(found)
    drives = _remembered(found, options)
    from ..output import history as face
    for remark in found.remarks if not options.as_json else ():
        print(f'note: {sentence(remark, 500)}')
    unknown = {} if drives else _nobody(found) or {'state': 'UNKNOWN', 'error': _NO_HISTORY}
    print(face.as_json(drives, options.naming.hide_serial, unknown) if options.as_json else
          '\n'.join(line for each in drives for line in face.lines(each, options.naming.hide_serial))
          or _NO_HISTORY)
    return OK if drives else UNKNOWN


def _imported(found: Survey, options: Options) -> Iterator[str]:
    from ..check.history_access import for_writing
    from . import smartd_import
    return smartd_import.imported(_answered(found), found.judge.database, for_writing(options),
                                  options.naming.hide_serial)


def _answered(found: Survey) -> List[Tuple[Verdict, Report]]:
    return [(verdict, read.outcome) for verdict, read in zip(found.verdicts, found.reads)
            if isinstance(read.outcome, Report)]


def _remembered(found: Survey, options: Options) -> List[HistoryOfDrive]:
    """Return what history holds of the drives of a survey, as faces.history shows it."""
    from ..output import history as face
    drives = []
    units = {metric: each.unit for metric, each in found.judge.database.metrics.items()}
    for verdict in found.verdicts:
        known = found.history.drive(verdict.device)
        if known:
            series = [face.Series(key.metric, key.definition, units.get(key.metric, ''),
                                  [(point.time, point.number) for point in each.points], each.last_read)
                      for key, each in sorted(known[1].items()) if each.points]
            drives.append(face.drive(known[0].identity, (known[0].first_read, known[0].last_read), series,
                                     options.metrics))
    return drives


def metrics(options: Options, runner: processes.Runner) -> int:
    """Print or write what Prometheus reads; 0 when a drive answered, asleep or not."""
    from ..output import metrics as face
    from ..output import output_file
    found = survey(options, runner, face.library)
    run = face.Run(tuple(map(found.history.told, found.verdicts)), _state_of_the_run(found), time.time(),
                   options.naming.hide_serial)
    text = face.text(face.metrics(run, found.judge.database.metrics), options.openmetrics)
    if options.output:
        output_file.write(text, options.output)
    else:
        print(text, end='')
    _complain(found)
    runner.later.append(lambda: found.history.keep(found.verdicts))
    return OK if any(not verdict.problem or verdict.state is State.OK for verdict in found.verdicts) else UNKNOWN


def _state_of_the_run(found: Survey) -> State:
    """Return the state of what concerns no single drive."""
    from ..output import plugin
    return worst([*plugin.states(_whole(found)), *([] if found.verdicts else [found.nobody[0]])])


def _complain(found: Survey) -> None:
    """Say on standard error, which a journal keeps, what a number alone does not tell."""
    from ..words import coded, problem, sentence
    whole = _whole(found)
    for words in (*whole.failures, *whole.faults, *(words for _, words in whole.demands), *whole.remarks,
                  *(() if found.verdicts else [found.nobody[1]]),
                  *(f'{verdict.device.name} {coded(problem(verdict))}' for verdict in found.verdicts
                    if verdict.problem)):
        print(sentence(coded(words), 500), file=sys.stderr)


def doctor(options: Options, runner: processes.Runner) -> int:
    """Look at this installation as the user of its checks; 0 when all is good, 1 otherwise."""
    from ..doctor import examination
    from ..output import doctor_findings
    faces = examination.Faces(lambda found: _rendered(found, options).text, lambda found: _addresses(found, options))
    found = examination.examined(options, runner, faces)
    print((doctor_findings.as_json if options.as_json else doctor_findings.as_text)(found))
    return OK if found.is_good else PARTLY


def fleet(options: Options, runner: processes.Runner) -> int:
    """Show the drives of many hosts; 0 when all could be asked and a drive was told."""
    from .fleet_input import gather
    return gather(options, runner)


def _version(options: Options) -> int:
    from ..check.rulebook import shipped_database
    from ..command_line.options import PROGRAM
    database = shipped_database(options.data.config)
    print(f'{PROGRAM} {VERSION}, attributes.json of {database.get("date")}, Python {sys.version.split()[0]}')
    return OK


_NO_HISTORY = 'nothing is remembered of these drives'
# What has a time limit: whatever reads drives. The others work for a person, who can end them.
LIMITED = ('check', 'triage', 'list', 'explain', 'draft', 'acknowledge', 'history', 'metrics', 'doctor', 'fleet')
COMMANDS: Mapping[str, Command] = {
    'check': check, 'triage': triage, 'list': list_, 'explain': explain, 'sudoers': sudoers, 'draft': draft,
    'validate': _with_files, 'measure': _with_files, 'migrate': _with_files,
    'acknowledge': acknowledge,
    'history': history, 'metrics': metrics, 'doctor': doctor, 'fleet': fleet}
