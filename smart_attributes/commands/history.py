"""history: what is stored of drives, the import of smartd's logs, and drives that are forgotten."""
from __future__ import annotations

from typing import TYPE_CHECKING, Iterator, List

from ..check.history_access import for_writing
from ..check.survey import Survey, survey
from ..command_line.options import OK, UNKNOWN, HistoryOptions, Options
from ..reading.processes import Runner
from ..words import sentence
from . import person, smartd_import

if TYPE_CHECKING:
    from ..output.history import Drive

_NO_HISTORY = 'nothing is remembered of these drives'


def run(options: Options, runner: Runner) -> int:
    """Show what history holds of drives, fill it or make it forget; 0 when it could be done."""
    own: HistoryOptions = options.own
    if own.forget:
        forgotten = sum(map(for_writing(options).forget, own.forget))
        print(f'{forgotten} forgotten' if forgotten else 'history knows no drive of that serial number')
        return OK if forgotten else UNKNOWN
    found = survey(options, runner)
    if own.imports:
        for line in _imported(found, options):
            print(sentence(line, 1000), flush=True)  # also where the time ends before the next drive
        return person.status(found)
    return _show(found, options, own.as_json)


def _imported(found: Survey, options: Options) -> Iterator[str]:
    return smartd_import.imported(person.answered(found), found.judge.database, for_writing(options),
                                  options.naming.hide_serial)


def _show(found: Survey, options: Options, as_json: bool) -> int:
    from ..output import history
    drives = _drives(found, options)
    for remark in found.remarks if not as_json else ():
        print(f'note: {sentence(remark, 500)}')
    unknown = {} if drives else person.nobody(found) or {'state': 'UNKNOWN', 'error': _NO_HISTORY}
    print(history.as_json(drives, options.naming.hide_serial, unknown) if as_json else
          '\n'.join(line for each in drives for line in history.lines(each, options.naming.hide_serial))
          or _NO_HISTORY)
    return OK if drives else UNKNOWN


def _drives(found: Survey, options: Options) -> List[Drive]:
    """Return what history holds of the drives of a survey, as output.history shows it."""
    from ..output import history
    drives = []
    units = {metric: each.unit for metric, each in found.judge.database.metrics.items()}
    for verdict in found.verdicts:
        known = found.history.drive(verdict.device)
        if known:
            series = [history.Series(key.metric, key.definition, units.get(key.metric, ''),
                                     [(point.time, point.number) for point in each.points], each.last_read)
                      for key, each in sorted(known[1].items()) if each.points]
            drives.append(history.drive(known[0].identity, (known[0].first_read, known[0].last_read), series,
                                        options.which.metrics))
    return drives
