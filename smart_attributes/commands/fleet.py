"""fleet: show the drives of many hosts, read from Icinga 2 or from folders of documents."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import zip_longest
from typing import Any

from .. import alarm
from ..check.rulebook import database_of
from ..command_line.options import Options
from ..constants import DOCUMENTS, MOST_OTHERS, MOST_ROWS
from ..errors import Coded, NotAReport, UsageError
from ..fleet import summary, table
from ..fleet.gathering import Fleet
from ..fleet.plugin_output import AGE, ENDURANCE, FleetDrive
from ..fleet.table import Kept
from ..model import WORST_FIRST, Device, Identity, Outlook, State, Verdict
from ..output.json_document import document, note
from ..reading.processes import Runner
from ..typed import TYPE_CHECKING, Json
from ..words import visible
from . import person
from .records.fleet import FleetOptions

if TYPE_CHECKING:
    from ..fleet.icinga import Icinga

COMMA = ',\n'
# The keys that each drive has in the document, even if their values are unknown.
KEYS: Mapping[str, Any] = dict.fromkeys(
    (
        'device',
        'type',
        'model',
        'serial',
        'firmware',
        'kind',
        'entry',
        'why',
        'order_by',
        'code',
        'handling',
    )
)
OF_A_READING: Mapping[str, Any] = {'unit': '', 'warning': None, 'critical': None, 'reason': None}


def run(options: Options, runner: Runner) -> int:
    """Show the drives of a fleet; return 3 if a source failed or no drive was found, else 0."""
    own: FleetOptions = options.own
    fleet = fleet_of(options, time.time())
    drives = fleet.drives(_sources(fleet, options, runner), options.how_read.timeout)
    if own.drives:
        drives = _only(drives, own.drives, options.naming.hide_serial)
    show = _print_table
    if own.html:
        show = _write_page
    if own.as_json:
        show = _print_json
    try:
        show(fleet, drives, own)
    finally:
        if own.plan and fleet.is_whole:  # even if Jinja2 is missing, which the plan does not need
            person.write(summary.as_csv(summary.Step._fields, fleet.steps()), own.plan)
    return 0 if fleet.summary.states and not fleet.faults else 3


def _only(
    drives: Iterable[FleetDrive], names: Sequence[str], hide_serial: bool
) -> Iterator[FleetDrive]:
    """Return the drives with these names.

    Raises UsageError if a name matches no drive, or several.
    """
    from ..check.drive_names import Wanted, named

    wanted = Wanted(names, hide_serial)
    chosen = {}
    for place, drive in enumerate(drives):
        facts, host = drive.facts, drive.facts['host']
        device = Device(facts.get('device') or '', facts.get('type') or '', facts['name'])
        own = named(
            device, Identity(serial=facts.get('serial') or ''), facts.get('bay') or '', (), host
        )
        if wanted.see(
            [own._replace(address=f'{host}:{device.name}', others=own.others | {device.address})],
            place,
        ):
            chosen[place] = drive
    return iter([chosen[place] for place in wanted.items()])


def fleet_of(options: Options, now: float) -> Fleet:
    """Return an empty fleet. now: seconds since 1970."""
    return Fleet(database_of(options.data), now, options.naming.hide_serial)


def _sources(fleet: Fleet, options: Options, runner: Runner) -> Iterator[Iterator[FleetDrive]]:
    """Yield the drives of each source that is given. Raises UsageError if no source is given."""
    own: FleetOptions = options.own
    if not (own.files or own.icinga):
        raise UsageError(
            'fleet needs --icinga URL, or directories with output of triage --json; for examples, '
            'use --help'
        )
    if own.files:
        yield fleet.of_documents(own.files, partial(_of_reports, options, runner, fleet.now))
    if own.icinga_name and len(own.icinga_name) != len(own.icinga):
        raise UsageError('give --icinga-name once for each --icinga, in the same order')
    for url, name in zip_longest(own.icinga, own.icinga_name, fillvalue=''):
        yield fleet.of_icinga(partial(_icinga, own, url, name), own.filter, own.hosts)


def _icinga(own: FleetOptions, url: str, name: str) -> Icinga:
    from ..fleet import icinga

    return icinga.Icinga(
        icinga.Access(
            url, own.api_user, own.password_file, own.certificate, own.key, own.authority, name
        )
    )


def _of_reports(
    options: Options, runner: Runner, now: float, paths: Sequence[str]
) -> tuple[Mapping[str, Json], Sequence[str]]:
    """Return a document for each folder with smartctl reports, by folder name, and the paths of
    all other files.
    """
    from ..check import history_answers
    from ..check.survey import survey
    from .cases import alone

    reports = survey(options._replace(which=options.which._replace(reports=tuple(paths))), runner)
    by_host: dict[str, list[tuple[Verdict, Outlook]]] = {}
    skipped = []
    for verdict, read in zip(reports.verdicts, reports.reads):
        if isinstance(read.outcome, NotAReport):
            skipped.append(visible(read.device.path))
        else:
            folder = os.path.dirname(os.path.abspath(read.device.path))
            outlook = history_answers.outlook(reports.history, verdict)
            host = visible(os.path.basename(folder))
            by_host.setdefault(host, []).append((verdict, outlook))
    documents = {
        host: document(alone(drives, options, now), (), now) for host, drives in by_host.items()
    }
    return documents, skipped


def _readable(fleet: Fleet, drives: Iterable[FleetDrive]) -> Iterator[FleetDrive]:
    """Yield drives with readable reasons: "endurance used" instead of the metric name
    endurance_used.
    """
    for drive in drives:
        why = drive.facts.get('why')
        yield (
            drive._replace(facts={**drive.facts, 'why': fleet.reader.readable(why)})
            if why
            else drive
        )


def _print_json(fleet: Fleet, drives: Iterable[FleetDrive], own: FleetOptions) -> None:
    """Print the document while drives are being read, one drive per line, to use little RAM."""
    print(f'{{"version": {DOCUMENTS["fleet"]}, "made": {round(fleet.now)}, "drives": [')
    try:
        for place, drive in enumerate(drives):
            readings = [{**OF_A_READING, **reading} for reading in drive.readings()]
            text = json.dumps({**KEYS, **drive.facts, **drive.further(), 'readings': readings})
            sys.stdout.write(f'{COMMA if place else ""}{text}')
    except alarm.TimeIsOver as over:
        fleet.faults.append(
            Coded('time-over', f'{over}; only drives read before that are listed; increase -t')
        )
    print(
        f'\n], "state": "{fleet.state().name}", "notes": '
        f'{json.dumps(list(map(note, fleet.said())))}, '
        f'"fleet": {json.dumps(fleet.counted())}}}'
    )


def _write_page(fleet: Fleet, drives: Iterable[FleetDrive], own: FleetOptions) -> None:
    from ..output import page, page_charts, page_drives

    kept = Kept(MOST_OTHERS, table.in_page, page_drives.is_urgent)
    ranges = page_charts.FleetRanges()
    for drive in _readable(fleet, drives):
        kept.add(drive)
        ranges.add(drive.facts, {ENDURANCE: drive.used, AGE: drive.age})
    fleet_counts = fleet.counted()
    # the list has the rest
    fleet_counts.update(planned=summary.first([step for step in fleet.steps() if not step.drive]))
    first = [{**drive, 'place': place} for place, drive in enumerate(kept.drives(page.READ))]
    urgent, others = zip(kept.kept, (kept.urgent, kept.others))
    counts = {state.name: fleet.summary.states[state.name] for state in WORST_FIRST}
    content = page.Content(
        kept.taken(fleet.now),
        counts,
        first,
        page_drives.sentence('list', urgent, others, 'fleet --json'),
        fleet.faults,
        fleet.said()[len(fleet.faults) :],
        charts=ranges.charts(),
        fleet=fleet_counts,
        made_by='check_smart_attributes fleet',
    )
    person.write(page.rendered(content, f'Drives of {visible(_whose(own))}', fleet.now), own.html)
    print(f'written: {visible(own.html)}')
    for words in fleet.said():
        print(f'note: {words}')


def _whose(wanted: FleetOptions) -> str:
    """Return the name of the fleet for the title of the page."""
    return (
        ', '.join(
            wanted.icinga_name
            or [url.partition('//')[2].partition('/')[0] for url in wanted.icinga]
        )
        or 'all hosts'
    )


def _print_table(fleet: Fleet, drives: Iterable[FleetDrive], own: FleetOptions) -> None:
    from ..output import triage_table

    kept = Kept(own.limit or MOST_ROWS, table.in_table)
    for drive in drives:
        kept.add(drive)
    for line in table.heading(fleet.summary, fleet.defects()):
        print(line)
    triage_table.print_rows(
        table.rows(kept.drives(), fleet.now), [(State.UNKNOWN, fault) for fault in fleet.faults]
    )
    if kept.left_out:
        print(
            f'{kept.left_out} more drives, none of them worse; to see more, use --limit N (up to '
            f'{MOST_ROWS:,}) or --json (all)'
        )
    for words in fleet.said()[len(fleet.faults) :]:
        print(f'note: {words}')
