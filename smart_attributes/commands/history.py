"""history: show the stored readings of drives, import smartd's logs, and forget drives."""

from __future__ import annotations

from functools import partial
from shutil import get_terminal_size

from ..check import history_answers
from ..check.history_access import for_writing
from ..check.survey import Survey, survey
from ..command_line.options import OK, UNKNOWN, Options
from ..output import history
from ..reading.processes import Runner
from ..words import sentence
from . import person, smartd_import
from .records.history import HistoryOptions

_NO_HISTORY = 'the history has no readings of these drives'


def run(options: Options, runner: Runner) -> int:
    """Show the history of drives, import smartd's logs, or remove drives; return 0 on success,
    else 3.
    """
    own: HistoryOptions = options.own
    if own.forget:
        removed = sum(map(for_writing(options).forget, own.forget))
        print(
            f'{removed} forgotten'
            if removed
            else 'the history has no drive with that serial number'
        )
        return OK if removed else UNKNOWN
    options = person.with_names(options)
    if own.graph:
        options = options._replace(which=options.which._replace(metrics=(own.graph,)))
    drives = survey(options, runner)
    if not own.imports:
        return _show(drives, options, own.as_json)
    for line in smartd_import.imported(
        person.answered(drives),
        drives.judge.database,
        for_writing(options),
        options.naming.hide_serial,
    ):
        # printed at once, in case the time limit ends the next drive
        print(sentence(line, 1000), flush=True)
    return person.status(drives)


def _show(answers: Survey, options: Options, as_json: bool) -> int:
    drives, hide_serial = _drives(answers, options), options.naming.hide_serial
    if as_json:
        unknown = (
            {}
            if drives
            else person.nobody(answers) or {'state': 'UNKNOWN', 'error': _NO_HISTORY, 'code': None}
        )
        print(history.as_json(drives, hide_serial, unknown))
    else:
        for remark in answers.remarks:
            print(f'note: {sentence(remark, 500)}')
        shown = (
            partial(history.drawn, width=get_terminal_size().columns)
            if options.own.graph
            else history.lines
        )
        print(
            '\n'.join(line for each in drives for line in shown(each, hide_serial)) or _NO_HISTORY
        )
    return OK if drives else UNKNOWN


def _drives(answers: Survey, options: Options) -> list[history.DriveHistory]:
    """Return the history of the drives of a survey, in the form that `output.history` prints."""
    drives = []
    units = {metric: each.unit for metric, each in answers.judge.database.metrics.items()}
    for record, series in filter(
        None,
        (history_answers.drive(answers.history, verdict.device) for verdict in answers.verdicts),
    ):
        all_series = [
            history.Series(
                key.metric,
                key.definition,
                units.get(key.metric.partition(',')[0], ''),
                [(point.time, point.number) for point in each.points],
                each.last_read,
            )
            for key, each in sorted(series.items())
            if each.points
        ]
        drives.append(
            history.drive(
                record.identity,
                (record.first_read, record.last_read),
                all_series,
                options.which.metrics,
            )
        )
    return drives
