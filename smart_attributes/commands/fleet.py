"""fleet: show the drives of many hosts, read from Icinga 2 or from folders of documents."""
from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Callable

from .. import alarm
from ..check.rulebook import judge_of, site_of
from ..check.survey import survey
from ..coded import Coded
from ..command_line.command_options import FleetOptions
from ..command_line.options import Options
from ..constants import DOCUMENT
from ..errors import NotAReport, SmartError, UsageError
from ..fleet import groups_at_risk, plan, rates, services, summary, table, triage_documents
from ..fleet.bookkeeping import Bookkeeper, record
from ..fleet.plugin_output import AGE, WEAR, FleetDrive, Reader
from ..fleet.worst_drives import MOST, Kept
from ..knowledge.drive_database import SpecDatabase
from ..model import State, Verdict, worst
from ..output import json_document, output_file
from ..output.packed_document import Packer
from ..reading import processes
from ..typed import TYPE_CHECKING, MutableJson
from ..wording import plural
from ..words import sentence, visible

if TYPE_CHECKING:
    from ..fleet.results import Service

NOTE = 500             # characters
SERIAL, LEAST = 'SERIAL', 3  # replaces a serial number; a longer part of one at the end of a message is hidden too
COMMA = ',\n'
SHOWING = 3            # time reserves that are kept for the output
CARDS = 6              # per recommended action: the plan follows below, and the table has all drives
NAMED = 3              # examples named in a message
MOST_DISTINCT = 500_000  # strings and limits that drives share; 10,000 honest hosts have 30,000
# The keys of every drive in the document, even if unknown.
KEYS: Mapping[str, Any] = dict.fromkeys(('device', 'type', 'model', 'serial', 'firmware', 'kind', 'entry', 'why',
                                         'order_by', 'code', 'handling'))
OF_A_READING: Mapping[str, Any] = {'unit': '', 'warning': None, 'critical': None, 'reason': None}


class Fleet:
    """The collected data of a fleet: counts of all drives, and messages."""

    def __init__(self, options: Options, now: float) -> None:
        self.now = now
        self.database: SpecDatabase = judge_of(options, site_of(options.data, None)).database
        self.packer = Packer()
        ledger = options.own.ledger
        self.reader = Reader(self.database.metrics, self.packer, (WEAR, AGE) if ledger else (WEAR,))
        self.summary = summary.Summary(now, options.naming.hide_serial)
        self.books = Bookkeeper(ledger, now)
        self.remarks: dict[Coded, list[str]] = {}   # message -> services that it applies to
        self.faults: list[Coded] = []             # sources that could not be read
        self.notes: list[Coded] = []
        self.asked = 0                            # services, or documents
        self.is_whole = False                     # all drives are counted
        self.is_cut = False                       # the time limit was reached
        self._unread: set[str] = set()            # hosts with a result that could not be read
        self._begun = time.monotonic()

    def drives(self, options: Options, runner: processes.Runner) -> Iterator[FleetDrive]:
        """Yield each drive once; a source that cannot be read is a fault. Raises UsageError without any source.

        If nothing could be read at all, SmartError or TimeIsOver is raised instead.
        """
        sources: list[Iterator[FleetDrive]] = []
        own: FleetOptions = options.own
        if own.files:
            sources.append(self._of_documents(options, runner))
        if own.icinga:
            sources.append(self._of_icinga(own))
        if not sources:
            raise UsageError('fleet needs --icinga URL, or directories with output of triage --json; for examples, '
                             'use --help')
        for source in sources:
            try:
                yield from self._bounded(filter(self._is_counted, source), options.how_read.timeout)
            except (SmartError, alarm.TimeIsOver) as error:
                if not self.asked:
                    raise
                self._lack(f'{error}; only drives read before that are shown')
                self.is_cut = self.is_cut or isinstance(error, alarm.TimeIsOver)
        self.summary.close()
        self.is_whole = not self.is_cut
        self.books.close(self._unread, self.is_cut)

    def _is_counted(self, drive: FleetDrive) -> bool:
        self.books.add(drive)
        return self.summary.add(drive)

    def _bounded(self, drives: Iterable[FleetDrive], timeout: float) -> Iterator[FleetDrive]:
        """Yield drives. Raises TimeIsOver if only the time for the output is left, SmartError if RAM runs short."""
        end = self._begun + timeout - SHOWING * alarm.reserve(timeout)
        for drive in drives:
            yield drive
            if time.monotonic() > end:
                raise alarm.TimeIsOver(f'time limit of {timeout:g} s exceeded (increase it with -t)')
            if self.packer.size > MOST_DISTINCT:
                raise SmartError('the messages and limits of these drives take too much memory')

    def _from(self, source: str, drives: Callable[[], Iterable[FleetDrive]]) -> Iterator[FleetDrive]:
        """Yield the drives of one service or document; a program error in it becomes a fault and affects no others."""
        try:
            yield from alarm.limited(drives)
        except Exception as error:
            self._unread.add(source.partition('!')[0])
            self._lack(f'{visible(source)} cannot be read ({type(error).__name__}); please report this with the '
                       'output of triage --json on that host')

    def _lack(self, words: str) -> None:
        self.faults.append(Coded('not-gathered', words))

    def _of_icinga(self, wanted: FleetOptions) -> Iterator[FleetDrive]:
        from ..fleet import icinga
        api = icinga.Icinga(icinga.Access(wanted.icinga, wanted.api_user, wanted.password_file, wanted.certificate,
                                          wanted.key, wanted.authority, wanted.icinga_name))
        try:
            names = api.names(wanted.filter)
            if not names:
                of_filter = ' and matches --filter' if wanted.filter else ''
                self.faults.append(Coded('no-services', 'Icinga returned no service that runs this plugin'
                                         f'{of_filter}, by its CheckCommand or by output that begins with "SMART "'))
            if wanted.hosts is not None:
                self._note_hosts(api.hosts(wanted.hosts), names)
            for service in api.services(names):
                self.asked += 1
                yield from self._from(f'{service.host}!{service.name}', partial(self._of_service, service))
        finally:
            api.close()
            self._unread.update(visible(name.partition('!')[0]) for name in api.unread)
            for name, why in api.unread.items():
                self._lack(f'{visible(name)}: {why}')
        gone = len(names) - self.asked - len(api.unread)
        if gone > 0:
            self.notes.append(Coded('services-removed',
                                    f'{gone} of {len(names)} services were removed while Icinga was queried'))

    def _of_service(self, service: Service) -> list[FleetDrive]:
        told = services.told(service, self.reader, self.now)
        for words in told.remarks:
            self.remarks.setdefault(words, []).append(f'{service.host}!{service.name}')
        self.summary.groups.add(group for drive in told.drives for group in groups_at_risk.of_drive(drive.facts))
        return told.drives

    def _note_hosts(self, hosts: Sequence[str], services_of_them: Sequence[str]) -> None:
        checked = {name.partition('!')[0] for name in services_of_them}
        without = [visible(host) for host in hosts if host not in checked]
        if without:
            self.notes.append(Coded('hosts-without-check', _named(
                without, f'host of {len(hosts)} without a service that runs this plugin')))

    def _of_documents(self, options: Options, runner: processes.Runner) -> Iterator[FleetDrive]:
        others: list[str] = []
        old: list[str] = []
        for path in _files(options.own.files):
            try:
                told = triage_documents.read(path)
            except (OSError, SmartError) as error:
                self._lack(f'{visible(path)}: {getattr(error, "strerror", "") or error}')
                continue
            if told is None:
                others.append(path)
            else:
                yield from self._of_document(told, old)
            told = None  # free it before the next one is read
        for told in self._of_reports(others, options, runner) if others else ():
            yield from self._of_document(told, old)
        if not (self.asked or others or self.faults):
            self._lack(f'{", ".join(map(visible, options.own.files))}: no files found; save the output of triage '
                       f'--json there, one file per host')
        if old:
            self.notes.append(Coded('result-old', _named(old, 'document older than two days')))

    def _of_reports(self, paths: Sequence[str], options: Options,
                    runner: processes.Runner) -> Iterator[triage_documents.Document]:
        """Yield one document for each folder with smartctl reports; the name of the folder is the host name."""
        found = survey(options._replace(which=options.which._replace(reports=tuple(paths))), runner)
        by_host: dict[str, list[Verdict]] = {}
        skipped = []
        for verdict, read in zip(found.verdicts, found.reads):
            if isinstance(read.outcome, NotAReport):
                skipped.append(visible(read.device.path))
            else:
                folder = os.path.dirname(os.path.abspath(read.device.path))
                by_host.setdefault(visible(os.path.basename(folder)), []).append(found.history.told(verdict))
        if skipped:
            self.notes.append(Coded('file-skipped', _named(
                skipped, 'file skipped, neither output of triage --json nor of smartctl')))
        for host, verdicts in by_host.items():
            yield triage_documents.Document(host,
                                            json_document.document(verdicts, (), options.naming.hide_serial, self.now),
                                            self.now)

    def _of_document(self, told: triage_documents.Document, old: list[str]) -> Iterator[FleetDrive]:
        self.asked += 1
        if self.now - told.made > triage_documents.OLD:
            old.append(told.host)
        yield from self._from(told.host, partial(self._drives_of, told))

    def _drives_of(self, told: triage_documents.Document) -> list[FleetDrive]:
        old = next((note['text'] for note in told.as_of(self.now)), None)
        self.summary.groups.add(groups_at_risk.of_document(told.content, told.host, old))
        return list(triage_documents.drives(told, self.reader, self.packer, self.now))

    def said(self) -> list[Coded]:
        """Return the messages about the fleet as a whole, faults first."""
        repeats = self.summary.repeats
        twice = plural(repeats, 'drive is reported twice by its host', 'drives are reported twice by their host')
        return [Coded(each.code, sentence(each, NOTE)) for each in (
            *self.faults, *self.books.notes, *self.notes, *services.sentences(self.remarks), *_of_twins(self.summary),
            *([Coded('drives-repeated', twice)] if repeats else ()))]

    def steps(self) -> list[plan.Step]:
        """Return the plan."""
        return plan.steps(self.summary, summary.defects(self.summary, self.database))

    def state(self) -> State:
        """Return the worst state of all drives and checks; at least UNKNOWN with faults or without any state."""
        told = [State[name] for name in (*self.summary.states, *self.summary.checks)]
        return worst([*told, *([State.UNKNOWN] if self.faults or not told else [])])


def _of_twins(found: summary.Summary) -> list[Coded]:
    """Return a message about drives that more than one host reports; [] without such drives."""
    if not found.twins:
        return []
    shared = '; '.join(f'{f"{each.model} {each.serial}".rstrip()} is on {each.hosts[0]} and {each.hosts[1]}'
                       for each in found.twins[:NAMED])
    more = f' and {found.twin_count - NAMED} more' if found.twin_count > NAMED else ''
    return [Coded('drives-shared', 'drives reported by more than one host (shared enclosure, or moved): '
                                   f'{shared}{more}')]


def _named(things: Sequence[str], words: str) -> str:
    """Return text such as "5 files skipped: a, b, c and 2 more". words: begin with the noun in the singular."""
    more = f' and {len(things) - NAMED} more' if len(things) > NAMED else ''
    thing, _, rest = words.partition(' ')
    return f'{plural(len(things), thing)} {rest}: {", ".join(things[:NAMED])}{more}'


def run(options: Options, runner: processes.Runner) -> int:
    """Show the drives of a fleet; return 0 if all sources and the ledger could be used and a drive was found, else 3.
    """
    own: FleetOptions = options.own
    if own.ended and not own.ledger:
        raise UsageError('--ended needs --ledger FILE, the ledger that has the drive')
    if own.ended:
        for line in record(own.ledger, own.ended, time.time()):
            print(line)
        if not (own.files or own.icinga):
            return 0
    fleet = Fleet(options, time.time())
    drives = fleet.drives(options, runner)
    show = _print_json if own.as_json else _write_page if own.html else _print_table
    try:
        show(fleet, _hidden(drives) if options.naming.hide_serial else drives, own)
    finally:
        if own.plan and fleet.is_whole:  # also if Jinja2 is missing: the plan does not need it
            output_file.write(plan.as_csv(fleet.steps()), own.plan)
    return 0 if fleet.summary.states and not fleet.faults and fleet.books.is_whole else 3


def _hidden(drives: Iterable[FleetDrive]) -> Iterator[FleetDrive]:
    for drive in drives:
        facts = {**drive.facts, 'serial': None}
        if drive.serials:
            facts.update({key: [{**each, 'text': _unnamed(each['text'] or '', drive.serials)} for each in facts[key]]
                          for key in ('notes', 'findings') if key in facts})
            facts['why'] = _unnamed(facts.get('why') or '', drive.serials)
        yield drive._replace(facts=facts)


def _unnamed(words: str, serials: Sequence[str]) -> str:
    """Return a message without serial numbers, including the start of one where the message was cut off."""
    longest_first = sorted(serials, key=len, reverse=True)
    words = re.sub('|'.join(map(re.escape, longest_first)), SERIAL, words)  # in one pass: inserted text stays
    whole = words.removesuffix('...')
    begun = max((length for serial in serials for length in range(LEAST + 1, len(serial))
                 if whole.endswith(serial[:length])), default=0)
    return whole[:-begun] + SERIAL + words[len(whole):] if begun else words


def _readable(fleet: Fleet, drives: Iterable[FleetDrive]) -> Iterator[FleetDrive]:
    """Yield drives with readable reasons: "endurance used" instead of the metric name endurance_used."""
    for drive in drives:
        why = drive.facts.get('why')
        yield drive._replace(facts={**drive.facts, 'why': fleet.reader.readable(why)}) if why else drive


def _files(paths: Sequence[str]) -> Iterator[str]:
    """Yield files, and those in folders at any depth without hidden ones."""
    for path in paths:
        if not os.path.isdir(path):
            yield path
        for folder, folders, names in os.walk(path):
            folders[:] = sorted(name for name in folders if not name.startswith('.'))
            yield from (os.path.join(folder, name) for name in sorted(names) if not name.startswith('.'))


# --- output --------------------------------------------------------------------------

def _print_json(fleet: Fleet, drives: Iterable[FleetDrive], own: FleetOptions) -> None:
    """Print the document while drives are being read, one drive per line, to use little RAM."""
    print(f'{{"version": {DOCUMENT}, "made": {round(fleet.now)}, "drives": [')
    readings = Readings(fleet.packer)
    try:
        for place, drive in enumerate(drives):
            facts = json.dumps({**KEYS, **drive.facts})
            sys.stdout.write(f'{COMMA if place else ""}{facts[:-1]}, "readings": [{readings.text(drive.pairs())}]}}')
    except alarm.TimeIsOver as over:
        fleet.faults.append(Coded('time-over', f'{over}; only drives read before that are listed; increase -t'))
    print(f'\n], "state": "{fleet.state().name}", "notes": {json.dumps(list(map(json_document.note, fleet.said())))}, '
          f'"fleet": {json.dumps(_counted(fleet))}}}')


def _counted(fleet: Fleet) -> MutableJson:
    """Return what is known of the fleet as a whole, in the format of the JSON document."""
    return {**summary.as_json(fleet.summary, summary.defects(fleet.summary, fleet.database)),
            'rates': rates.as_json(fleet.books.rates), 'steps': [step._asdict() for step in fleet.steps()]}


class Readings:
    """Readings as JSON. The text that all drives of a model share is encoded only once."""

    def __init__(self, packer: Packer) -> None:
        self._shapes = packer.shapes.values
        self._texts: dict[int, str] = {}

    def text(self, pairs: Sequence[Any]) -> str:
        """Return the packed readings of a drive as JSON, without the brackets of the list."""
        return ', '.join(self._begun(shape) + (json.dumps(value) if isinstance(value, str) or value is None
                                               else str(value)) + '}'
                         for shape, value in zip(pairs[::2], pairs[1::2]))

    def _begun(self, shape: int) -> str:
        if shape not in self._texts:
            self._texts[shape] = json.dumps({**OF_A_READING, **self._shapes[shape]})[:-1] + ', "value": '
        return self._texts[shape]


def _keep(fleet: Fleet, drives: Iterable[FleetDrive], most: int = MOST) -> Kept:
    kept = Kept(fleet.packer, most)
    for drive in drives:
        kept.add(drive)
    return kept


def _write_page(fleet: Fleet, drives: Iterable[FleetDrive], own: FleetOptions) -> None:
    from ..output import page
    kept = _keep(fleet, _readable(fleet, drives))
    told = _counted(fleet)
    told.update(planned=plan.first(fleet.steps()))
    left = [f'the table lists the {len(kept.rows())} worst drives; the counts above include {kept.left_out} more'
            ] if kept.left_out else []
    todo = {action: (count, [page.said(card.drive, card.place, card.drives) for card in found])
            for action, (count, found) in kept.todo(page.ACTIONS, CARDS).items()}
    counts = {state.name: fleet.summary.states[state.name] for state in table.worst_first()}
    content = page.Content(kept.taken(fleet.now), counts, todo, fleet.faults,
                           [*left, *fleet.said()[len(fleet.faults):]], fleet=told,
                           made_by='check_smart_attributes fleet')
    output_file.write(page.rendered(content, f'Drives of {visible(_whose(own))}', fleet.now),
                      str(own.html))
    print(f'written: {visible(str(own.html))}')
    for words in fleet.said():
        print(f'note: {words}')


def _whose(wanted: FleetOptions) -> str:
    """Return the name of the fleet for the title of the page."""
    return wanted.icinga_name or wanted.icinga.partition('//')[2].partition('/')[0] or 'all hosts'


def _print_table(fleet: Fleet, drives: Iterable[FleetDrive], own: FleetOptions) -> None:
    from ..output import triage_table
    kept = _keep(fleet, drives, own.limit or MOST)
    rows = kept.rows()
    known = summary.defects(fleet.summary, fleet.database)
    for line in table.heading(fleet.summary, known):
        print(line)
    triage_table.print_rows(table.rows(kept.drives(rows), fleet.now),
                            [(State.UNKNOWN, fault) for fault in fleet.faults])
    if kept.left_out:
        print(f'{kept.left_out} more drives, none of them worse; --limit N shows more, --html {MOST:,}, --json all')
    for words in fleet.said()[len(fleet.faults):]:
        print(f'note: {words}')
