"""triage: show all drives in a table, as JSON, or as an HTML page."""

from __future__ import annotations

import socket
import time
from collections.abc import Sequence

from ..check import fence
from ..command_line.options import Options
from ..model import Case
from ..reading.processes import Runner
from ..typed import Json, MutableJson
from ..words import sentence
from . import person
from .cases import Overview, unshown
from .records.triage import TriageOptions


def run(options: Options, runner: Runner) -> int:
    """Print the table or write the documents; return 0 if at least one drive was read, else 3."""
    own: TriageOptions = options.own
    overview = person.surveyed(options, runner, own.asked)
    if own.as_json or own.html is not None:
        _write(overview, options)
    else:
        _print_table(overview, options)
    return person.status(overview)


def _write(overview: Overview, options: Options) -> None:
    """Print the document, or write it as a page.

    Programs read only the printed document, so this document states why it has no drives.
    """
    from ..output import json_document

    own: TriageOptions = options.own

    def documents(cases: Sequence[Case]) -> tuple[str, str]:
        document = _document(cases, overview, options)
        nobody = person.nobody(overview)
        return (
            json_document.as_text({**nobody, **document}) if own.as_json else '',
            '' if own.html is None else _page(document),
        )

    (text, html), _ = fence.shown(overview.cases, documents, unshown)
    if own.html is not None:
        person.write(html, own.html)
    print(text or f'written: {own.html}')


def _page(document: Json) -> str:
    from ..output import page

    return page.page(document, f'Drives of {socket.gethostname()}', time.time())


def _print_table(overview: Overview, options: Options) -> None:
    """Print the table and the lines below it."""
    from ..output import plugin, triage_table
    from ..work.work_list import in_order

    rows, cases = fence.shown(
        overview.cases, lambda drives: triage_table.rows(drives, time.time()), unshown
    )
    triage_table.print_rows(rows, overview.survey.told)
    person.print_remarks(overview.remarks, overview.notes)
    verdicts = [case.verdict for case in cases]
    for verdict in verdicts if options.verbose else ():
        for note in verdict.notes:
            print(f'{verdict.device.name}: {sentence(note, 500)}')
    if cases:  # printed last, because a terminal shows the last lines
        items = in_order(cases, overview.machine)
        for line in triage_table.work_list(items, plugin.count(verdicts)):
            print(line)


def _document(cases: Sequence[Case], overview: Overview, options: Options) -> MutableJson:
    from ..output import json_document
    from ..redundancy import replacement
    from ..work.work_list import in_order

    now, survey, machine = time.time(), overview.survey, overview.machine
    verdicts = [case.verdict for case in cases]
    of_this_host = {} if options.which.reports else {'host': socket.gethostname()}
    return {
        **json_document.document(
            cases,
            survey.failures,
            now,
            survey.faults,
            survey.demands,
            overview.remarks,
        ),
        **(replacement.document(machine, verdicts) if machine else {}),
        'work': json_document.work_list(in_order(cases, machine)),
        **of_this_host,
        'made': int(now),
    }
