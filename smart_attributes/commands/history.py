"""history: show the stored readings of drives, and remove drives."""

import sys
from collections.abc import Sequence

from ..check import history_answers
from ..check.history_access import for_writing
from ..check.settings import of_history
from ..check.survey import Survey, survey
from ..command_line.options import OK, UNKNOWN, Options
from ..errors import UsageError
from ..output import history
from ..reading.processes import Runner
from ..shown import shown
from ..words import argument, clean, sentence
from . import person
from .records.history import HistoryOptions

_NO_HISTORY = 'the history has no readings of these drives'


def run(options: Options, runner: Runner) -> int:
    """Show the history of drives, or remove drives; return 0 on success, else 3."""
    own: HistoryOptions = options.own
    if own.remove:
        return _remove(own.remove, options, runner)
    options = person.with_names(options)
    return _show(survey(options, runner), options, own.as_json)


def _remove(serials: Sequence[str], options: Options, runner: Runner) -> int:
    """Remove drives from the history after a question; return the exit status.

    A drive that is missing would no longer be missed, so root must have accepted that first.
    """
    answers = survey(options, runner)
    for verdict in answers.verdicts:
        serial = verdict.identity.serial
        if verdict.is_missing and serial in serials:
            raise UsageError(
                f'{clean(serial)} is missing, and the history holds its last readings; if the '
                'drive was removed for good, run: check_smart_attributes acknowledge --missing '
                f'{argument(serial, "SERIAL")}'
            )
    known = history_answers.serials(answers.history)
    recorded = [serial for serial in serials if serial in known]
    if not recorded:
        print('the history has no drive with that serial number')
        return UNKNOWN
    drives = ', '.join(map(clean, recorded))
    # The question is never in the output of --json.
    print(
        f'Remove all readings of {drives} from the history? [y/N] ',
        end='',
        file=sys.stderr,
        flush=True,
    )
    if sys.stdin is None or sys.stdin.readline().strip().lower() not in ('y', 'yes'):
        print('nothing was removed')
        return UNKNOWN
    store = for_writing(of_history(options))
    removed = sum(map(store.remove, recorded))
    print(f'{removed} removed')
    return OK


def _show(answers: Survey, options: Options, as_json: bool) -> int:
    """Print the history of the drives of a survey; return the exit status, 3 without history."""
    drives = _drives(answers, options)
    if as_json:
        reason = person.why_empty(answers.verdicts, answers.nobody)
        if not drives and not reason:
            reason = {'state': 'UNKNOWN', 'error': _NO_HISTORY, 'code': None}
        print(history.as_json(drives, reason))
    else:
        for remark in answers.remarks:
            print(f'note: {sentence(remark, 500)}')
        lines: list[str] = []
        for drive in drives:
            lines += history.lines(drive)
        print('\n'.join(lines) or _NO_HISTORY)
    return OK if drives else UNKNOWN


def _drives(answers: Survey, options: Options) -> list[history.ShownHistory]:
    """Return the history of the drives of a survey, in the form that `output.history` prints."""
    drives = []
    units = answers.judge.database.units
    metrics = options.which.metrics
    for verdict in answers.verdicts:
        stored_drive = history_answers.drive(answers.history, verdict)
        if stored_drive is None:
            continue
        record, stored = stored_drive
        all_series = [
            history.Series(
                key.metric,
                key.definition,
                units.get(key.metric.partition(',')[0], ''),
                [(point.time, point.number) for point in series.points],
            )
            for key, series in sorted(stored.items())
            if series.points and (not metrics or key.metric in metrics)
        ]
        # a damaged record began again, but the older points of the drive were kept
        oldest = [series.points[0].time for series in stored.values() if series.points]
        drives.append(
            history.ShownHistory(
                shown(record.identity, options.naming.hide_serial),
                min([record.first_read, *oldest]),
                record.last_read,
                all_series,
            )
        )
    return drives
