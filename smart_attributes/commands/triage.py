"""triage: show all drives in a table, as JSON, or as an HTML page."""

from __future__ import annotations

import socket
import time

from ..check import fence, history_answers
from ..check.survey import Survey
from ..command_line.options import Options
from ..errors import Coded
from ..reading.processes import Runner
from ..typed import Json, MutableJson
from ..words import sentence
from . import person, smartd_import
from .records.triage import TriageOptions


def run(options: Options, runner: Runner) -> int:
    """Print the table or write the documents; return 0 if at least one drive was read, else 3."""
    own: TriageOptions = options.own
    found = _with_lately(
        _with_unread_logs(person.surveyed(options, runner, own.asked), options), options, own.since
    )
    is_document = own.as_json or own.html is not None
    return person.status((_write if is_document else _print_table)(found, options))


def _write(found: Survey, options: Options) -> Survey:
    """Print the document, or write it as a page; return the survey shown.

    Programs read only the printed document, so this document states why it has no drives.
    """
    from ..output import json_document

    own: TriageOptions = options.own

    def shown(each: Survey) -> tuple[str, str]:
        document = _document(each, options)
        return (
            json_document.as_text({**person.nobody(each), **document}) if own.as_json else '',
            '' if own.html is None else _page(document),
        )

    (text, html), found = fence.shown(found, shown)
    if own.html is not None:
        person.write(html, own.html)
    print(text or f'written: {own.html}')
    return found


def _page(document: Json) -> str:
    from ..output import page

    return page.page(document, f'Drives of {socket.gethostname()}', time.time())


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
