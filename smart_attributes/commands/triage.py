"""triage: show all drives in a table, as JSON, or as an HTML page."""

from __future__ import annotations

import socket
import time
from collections.abc import Mapping, Sequence
from importlib import import_module

from ..check import fence
from ..command_line.options import Options
from ..model import Case
from ..reading.processes import Runner
from ..typed import MutableJson
from ..words import sentence
from . import person
from .cases import Overview, unshown
from .records.triage import TriageOptions


def run(options: Options, runner: Runner) -> int:
    """Print the table or write the documents; return 0 if at least one drive was read, else 3."""
    own: TriageOptions = options.own
    overview = person.surveyed(options, runner, own.asked)
    if own.formats:
        _write(overview, options, dict(own.formats))
    else:
        _print_table(overview, options)
    return person.status(overview.verdicts)


def _write(
    overview: Overview, options: Options, paths: Mapping[str, str | None]
) -> None:
    """Print or write the document in each format.

    paths: module of output/ for a format -> the file to write; None: standard output.
    """

    def texts(cases: Sequence[Case]) -> dict[str, str]:
        document = _document(cases, overview, options)
        return {
            module: import_module(f'..output.{module}', __package__).as_text(document)
            for module in paths
        }

    # a drive that cannot be shown is in the documents as UNKNOWN
    by_module, _ = fence.shown(overview.cases, texts, unshown)
    for module, path in paths.items():
        if path is not None:
            person.write(by_module[module], path)
    printed = [by_module[module] for module, path in paths.items() if path is None]
    print('\n'.join(printed or [f'written: {path}' for path in paths.values()]))


def _print_table(overview: Overview, options: Options) -> None:
    """Print the table and the lines below it."""
    from ..output import plugin, triage_table
    from ..work.work_list import in_order

    rows, cases = fence.shown(
        overview.cases, lambda drives: triage_table.rows(drives, time.time()), unshown
    )
    triage_table.print_rows(rows, overview.survey.told)
    person.print_remarks(overview)
    verdicts = [case.verdict for case in cases]
    if options.verbose:
        for verdict in verdicts:
            for note in verdict.notes:
                print(f'{verdict.device.name}: {sentence(note, 500)}')
    if cases:  # printed last, because a terminal shows the last lines
        items = in_order(cases, overview.machine)
        for line in triage_table.work_list(items, plugin.count(verdicts)):
            print(line)


def _document(
    cases: Sequence[Case], overview: Overview, options: Options
) -> MutableJson:
    """Return the document of triage; without drives, it states why it has none."""
    from ..output import json_document
    from ..redundancy import replacement
    from ..work.work_list import in_order

    now = time.time()
    survey = overview.survey
    machine = overview.machine
    verdicts = [case.verdict for case in cases]
    of_this_host = {} if options.which.reports else {'host': socket.gethostname()}
    of_groups = replacement.document(machine, verdicts) if machine else {}
    return {
        # Without drives, both of these have a "state". The second one counts, because it includes
        # the states of the messages.
        **person.why_empty(verdicts, survey.nobody),
        **json_document.document(cases, survey.told, now, overview.remarks),
        **of_groups,
        'work': json_document.work_list(in_order(cases, machine)),
        **of_this_host,
        'made': int(now),
    }
