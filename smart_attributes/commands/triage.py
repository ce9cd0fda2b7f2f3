"""triage: show all drives in a table, as JSON, or as an HTML page."""

from __future__ import annotations

import socket
import time

from ..check import fence, history_answers
from ..check.survey import Survey
from ..command_line.options import Options
from ..errors import Coded
from ..reading.processes import Runner
from ..typed import MutableJson
from ..words import sentence
from . import person, smartd_import
from .records import TriageOptions


def run(options: Options, runner: Runner) -> int:
    """Print the table or write the documents; return 0 if at least one drive was read, else 3."""
    own: TriageOptions = options.own
    found = _with_lately(
        _with_unread_logs(person.surveyed(options, runner, own.asked), options), options, own.since
    )
    return person.status((_write if own.forms else _print_table)(found, options))


def _write(found: Survey, options: Options) -> Survey:
    """Write the document to a file for each form that has a file name; print the other forms.

    Return the survey shown.

    Programs read only the printed document, so this document states why it has no drives.
    """

    def shown(each: Survey) -> list[tuple[str, str | None]]:
        document = _document(each, options)
        return [
            (text({**({} if file else person.nobody(each)), **document}), file)
            # if a form is given twice, the last file counts
            for text, file in dict(options.own.forms).items()
        ]

    texts, found = fence.shown(found, shown)
    for text, file in texts:
        if file is not None:
            person.write(text, file)
        else:
            print(text)
    if all(file for _, file in texts):
        print(f'written: {", ".join(file for _, file in texts if file)}')
    return found


def _print_table(found: Survey, options: Options) -> Survey:
    """Print the table and the lines below it; return the survey that it shows."""
    from ..output import plugin, triage_table
    from ..work.work_list import in_order

    rows, found = fence.shown(
        found,
        lambda each: triage_table.rows(each.verdicts, options.naming.hide_serial, time.time()),
    )
    triage_table.print_rows(rows, found.told)
    person.print_remarks(found)
    for verdict in found.verdicts if options.verbose else ():
        for note in verdict.notes:
            print(f'{verdict.device.name}: {sentence(note, 500)}')
    for line in triage_table.lately_lines(found.lately) if found.lately else ():
        print(line)
    if found.verdicts:  # printed last, because a terminal shows the last lines
        items = in_order(found.verdicts, found.machine)
        for line in triage_table.work_list(items, plugin.count(found.verdicts)):
            print(line)
    return found


def _with_lately(found: Survey, options: Options, since: int) -> Survey:
    """Return a survey with the increases and the added and removed drives of the last *since*
    seconds.
    """
    if not since:
        return found
    worse = {metric: each.worse for metric, each in found.judge.database.metrics.items()}
    lately = history_answers.lately(
        found.history, found.verdicts, found.whereabouts, since, worse, options.naming.hide_serial
    )
    return found._replace(
        lately=lately,
        remarks=tuple(
            each for each in found.remarks if not any(map(each.is_about_the_same, lately.went))
        ),
    )


def _with_unread_logs(found: Survey, options: Options) -> Survey:
    """Return a survey with a remark if smartd has logged values that the history does not have."""
    if options.history.no_history or options.which.reports or found.history.trouble:
        return found
    words = smartd_import.unread(
        person.answered(found),
        found.judge.database,
        lambda device: history_answers.since(found.history, device),
    )
    return (
        found._replace(remarks=(*found.remarks, Coded('smartd-logs-unread', words)))
        if words
        else found
    )


def _document(found: Survey, options: Options) -> MutableJson:
    from ..output import json_document
    from ..redundancy import replacement
    from ..work.work_list import in_order

    now = time.time()
    of_this_host = {} if options.which.reports else {'host': socket.gethostname()}
    of_groups = {**replacement.document(found.machine, found.verdicts)} if found.machine else {}
    items = in_order(found.verdicts, found.machine, now)
    return {
        **json_document.document(
            found.verdicts,
            found.failures,
            options.naming.hide_serial,
            now,
            found.faults,
            found.demands,
            found.remarks,
            found.lately,
        ),
        **of_groups,
        'work': json_document.work_list(items),
        **of_this_host,
        'made': int(now),
    }
