"""fleet: show the drives of many hosts, read from Icinga 2 or from folders of documents."""

import json
import sys
import time
from collections.abc import Iterable, Iterator

from .. import alarm
from ..check.rulebook import database_of
from ..command_line.options import Options
from ..constants import DOCUMENTS, MOST_OTHERS, MOST_ROWS
from ..errors import Coded, UsageError
from ..fleet import table
from ..fleet.drives import FleetDrive
from ..fleet.gathering import ONLY_READ, Fleet
from ..model import WORST_FIRST, State
from ..output.json_document import note
from ..reading.processes import Runner
from ..words import visible
from . import person
from .records.fleet import FleetOptions


def run(options: Options, runner: Runner) -> int:
    """Show the drives of a fleet; return 3 if a source failed or no drive was found, else 0."""
    own: FleetOptions = options.own
    fleet = Fleet(database_of(options.data), time.time())
    # The sources are read only while one of the functions below loops over this iterator. Only then
    # does it fill fleet.summary and fleet.faults.
    drives = fleet.drives(_source(fleet, own), options.how_read.timeout)
    if own.as_json:
        _print_json(fleet, drives)
    elif own.html:
        _write_page(fleet, drives, own.html)
    else:
        _print_table(fleet, drives, own.limit or MOST_ROWS)
    return 0 if fleet.summary.states and not fleet.faults else 3


def _source(fleet: Fleet, own: FleetOptions) -> Iterator[FleetDrive]:
    """Return the drives of the source that is given.

    Raises UsageError unless one is given, and SmartError if its options cannot be used.
    """
    if bool(own.files) == bool(own.icinga):
        raise UsageError(
            'fleet needs either --icinga URL, or directories with files written by "triage '
            '--json"; for examples, use --help'
        )
    if own.files:
        return fleet.of_documents(own.files)
    from ..fleet.icinga import Icinga

    api = Icinga(
        own.icinga,
        own.api_user,
        own.password_file,
        authority=own.authority,
        name=own.icinga_name,
    )
    return fleet.of_icinga(api, own.filter)


def _print_json(fleet: Fleet, drives: Iterable[FleetDrive]) -> None:
    """Print the document while drives are being read, one drive per line, to use little RAM."""
    print(f'{{"version": {DOCUMENTS["fleet"]}, "made": {round(fleet.now)}, "drives": [')
    try:
        for place, drive in enumerate(drives):
            text = json.dumps({**drive.facts, 'readings': drive.readings()})
            separator = ',\n' if place else ''
            # one call, so that no separator is left without a drive if the time ends
            sys.stdout.write(separator + text)
    except alarm.TimeIsOver as over:
        fleet.faults.append(
            Coded(
                'time-over',
                f'{over}; {ONLY_READ}; increase -t',
            )
        )
    print(
        f'\n], "state": "{fleet.state().name}", "notes": '
        f'{json.dumps(list(map(note, fleet.said())))}, "fleet": {json.dumps(fleet.counted())}}}'
    )


def _write_page(fleet: Fleet, drives: Iterable[FleetDrive], path: str) -> None:
    """Write the page, with the most urgent drives in full and the others as counts."""
    from ..output import page, page_drives

    kept = table.Kept(MOST_OTHERS, table.in_page, page_drives.is_urgent)
    for drive in drives:
        kept.add(drive)
    first = [
        {**drive, 'place': place} for place, drive in enumerate(kept.drives(page.READ))
    ]
    urgent = kept.counts(is_urgent=True)
    others = kept.counts(is_urgent=False)
    data = kept.taken(fleet.now)  # the drives are no longer in *kept*
    counts = {state.name: fleet.summary.states[state.name] for state in WORST_FIRST}
    content = page.Content(
        data,
        counts,
        drives=first,
        shown=page_drives.sentence(urgent, others),
        notes=fleet.faults,
        remarks=fleet.remarks(),
        fleet=fleet.counted(),
    )
    person.write(page.rendered(content, 'Drives of all hosts', fleet.now), path)
    print(f'written: {visible(path)}')
    for words in fleet.said():
        print(f'note: {words}')


def _print_table(fleet: Fleet, drives: Iterable[FleetDrive], limit: int) -> None:
    """Print the worst drives and the notes. limit: the greatest number of drives."""
    from ..output import triage_table

    kept = table.Kept(limit, table.in_table)
    for drive in drives:
        kept.add(drive)
    for line in table.heading(fleet.summary):
        print(line)
    triage_table.print_rows(
        table.rows(kept.drives(), fleet.now),
        [(State.UNKNOWN, fault) for fault in fleet.faults],
    )
    listed, added = kept.counts(is_urgent=False)
    if added > listed:
        print(
            f'{added - listed} more drives, none worse than those above; to see more, use --limit N (up to '
            f'{MOST_ROWS:,}) or --json (all)'
        )
    for words in fleet.remarks():
        print(f'note: {words}')
