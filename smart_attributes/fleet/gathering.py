"""Collect the drives of a fleet from its sources, and record which sources could not be read.

The sources are an Icinga server, documents from `triage --json`, and smartctl reports. Each drive
is read once; a source, service or document that cannot be read does not affect the others.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from .. import alarm
from ..errors import Coded, SmartError
from ..knowledge.drive_database import SpecDatabase
from ..model import State, worst
from ..typed import TYPE_CHECKING, Json, MutableJson
from ..wording import listed, plural
from ..words import sentence, visible
from . import replacement_order, services, summary, triage_documents
from .plugin_output import FleetDrive, Reader
from .triage_documents import Document

if TYPE_CHECKING:
    from .icinga import Icinga
    from .services import Service

    # Called with paths; returns a document for each host with smartctl's reports, and the paths of
    # all other files.
    Reports = Callable[[Sequence[str]], tuple[Mapping[str, Json], Sequence[str]]]

NOTE = 500  # characters
# replaces a serial number, even if cut off after more than LEAST characters
SERIAL, LEAST = 'SERIAL', 3
SHOWING = 3  # time reserves that are kept for the output
NAMED = 3  # examples named in a message
# Code of a note on hosts that several sources have -> its words.
_SAME = {
    'hosts-merged': 'host in several sources (each drive is counted once)',
    'hosts-renamed': 'host with a name that another source uses for a host with other drives '
    '(shown with the source)',
}


class Fleet:
    """The collected data of a fleet: counts of all drives, and messages."""

    def __init__(self, database: SpecDatabase, now: float, hide_serial: bool = False) -> None:
        """Create an empty fleet. now: seconds since 1970."""
        self.now, self.database, self._hide_serial = now, database, hide_serial
        self.reader = Reader(database.metrics)
        self.summary = summary.Summary(now, hide_serial)
        self.remarks: dict[Coded, list[str]] = {}  # message -> services that it applies to
        self.faults: list[Coded] = []  # sources that could not be read
        self.notes: list[Coded] = []
        self.asked = 0  # number of services or documents
        self.is_whole = False  # all drives are counted
        # host -> the first source that has drives of this host
        self._sources: dict[str, str] = {}
        self._same: dict[str, dict[str, None]] = {code: {} for code in _SAME}
        self._nameless: set[int] = set()  # rows, and drives without a unique serial number
        self._checked: set[str] = set()  # hosts that have a service
        self._hosts: dict[str, None] = {}  # names of the hosts that match --hosts
        self._begun = time.monotonic()

    def drives(
        self, sources: Iterable[Iterator[FleetDrive]], timeout: float
    ) -> Iterator[FleetDrive]:
        """Yield each drive of the sources once; record a fault for each source that cannot be read.

        timeout: seconds for the whole run. Raises SmartError or TimeIsOver if nothing could be read
        at all.
        """
        errors: list[SmartError | alarm.TimeIsOver] = []
        for source in sources:
            try:
                for drive in self._bounded(filter(self.summary.add, source), timeout):
                    yield _hidden(drive) if self._hide_serial else drive
            except (SmartError, alarm.TimeIsOver) as error:
                errors.append(error)
                self._lack(f'{error}; only drives read before that are shown')
        if errors and not self.asked:
            raise errors[0]
        self._note_hosts()
        self.summary.close()
        self.is_whole = not any(isinstance(error, alarm.TimeIsOver) for error in errors)

    def _bounded(self, drives: Iterable[FleetDrive], timeout: float) -> Iterator[FleetDrive]:
        """Yield drives. Raises TimeIsOver if only the time for the output is left."""
        end = self._begun + timeout - SHOWING * alarm.reserve(timeout)
        for drive in drives:
            yield drive
            if time.monotonic() > end:
                raise alarm.TimeIsOver(
                    f'time limit of {timeout:g} s exceeded (increase it with -t)'
                )

    def _from(
        self, source: str, drives: Callable[[], Iterable[FleetDrive]]
    ) -> Iterator[FleetDrive]:
        """Yield the drives of one service or document; a program error affects only this service
        or document.
        """
        try:
            yield from alarm.limited(drives)
        except Exception as error:
            self._lack(
                f'{visible(source)} cannot be read ({type(error).__name__}); please report this '
                'with the output of triage --json on that host'
            )

    def _lack(self, words: str) -> None:
        self.faults.append(Coded('not-gathered', words))

    def of_icinga(
        self, connection: Callable[[], Icinga], condition: str, hosts: str | None
    ) -> Iterator[FleetDrive]:
        """Yield the drives from Icinga. condition: value of --filter. hosts: value of --hosts,
        or None.
        """
        before, api = self.asked, connection()
        try:
            names = api.names(condition)
            if not names:
                of_filter = ' and matches --filter' if condition else ''
                self.faults.append(
                    Coded(
                        'no-services',
                        f'{api.where}: Icinga returned no service that runs this plugin'
                        f'{of_filter} (known by its CheckCommand or output beginning with "SMART '
                        f'")',
                    )
                )
            self._checked.update(name.partition('!')[0] for name in names)
            self._hosts.update(dict.fromkeys(api.hosts(hosts) if hosts is not None else ()))
            for service in api.services(names):
                self.asked += 1
                yield from self._from(
                    f'{service.host}!{service.name}', partial(self._of_service, service, api.where)
                )
        finally:
            api.close()
            for name, why in api.unread.items():
                self._lack(f'{visible(name)}: {why}')
        gone = len(names) - (self.asked - before) - len(api.unread)
        if gone > 0:
            self.notes.append(
                Coded(
                    'services-removed',
                    f'{gone} of {len(names)} services were removed while Icinga was queried',
                )
            )

    def _of_service(self, service: Service, source: str) -> list[FleetDrive]:
        result = services.drives_of(service, self.reader, self.now)
        for words in result.remarks:
            self.remarks.setdefault(words, []).append(f'{service.host}!{service.name}')
        drives = self._named_apart(result.drives, source)
        for drive in drives:
            self.summary.groups.add(replacement_order.of_drive(drive.facts))
        return drives

    def _note_hosts(self) -> None:
        without = [visible(host) for host in self._hosts if host not in self._checked]
        of_all = f'host of {len(self._hosts)} without a service that runs this plugin'
        self._note('hosts-without-check', without, of_all)
        for code, words in _SAME.items():
            self._note(code, list(self._same[code]), words)

    def _note(self, code: str, things: Sequence[str], words: str) -> None:
        if things:
            self.notes.append(Coded(code, _named(things, words)))

    def _named_apart(self, drives: list[FleetDrive], source: str) -> list[FleetDrive]:
        """Return the drives of a host, except for drives that another source has already reported.

        If another source has a host with the same name but other drives, this host is a different
        one and is renamed.
        """
        marks = [self._mark(drive.facts) for drive in drives]
        left: list[FleetDrive] = []
        has_drives = is_same_host = False
        for drive, mark in zip(drives, marks):
            is_nameless = mark in self._nameless
            if not is_nameless:
                left.append(drive)
            if not drive.facts.get('is_check'):
                has_drives = True
                is_met = is_nameless if mark is not None else self.summary.has(drive.facts)
                is_same_host = is_same_host or bool(is_met)
        self._nameless.update(mark for mark in marks if mark is not None)
        host = drives[0].facts['host'] if drives else ''
        if not has_drives or self._sources.setdefault(host, source) == source:
            return left
        if is_same_host:
            self._same['hosts-merged'][host] = None
            return left
        self._same['hosts-renamed'][host] = None
        name = f'{host} ({visible(source)})'
        return [drive._replace(facts={**drive.facts, 'host': name}) for drive in drives]

    def _mark(self, facts: Json) -> int | None:
        """Return an identifying number for a check's row or a drive without a unique serial
        number, else None.
        """
        is_check = facts.get('is_check')
        if not is_check and self.summary.has(facts) is not None:
            return None
        what = facts['why' if is_check else 'model']
        return hash((facts['host'], facts['name'], facts['state'], what))

    def of_documents(self, paths: Sequence[str], reports: Reports) -> Iterator[FleetDrive]:
        """Yield the drives in documents of `triage`. reports: called with the paths of all other
        files, if any.
        """
        others: list[str] = []
        old: list[str] = []
        for path in _files(paths):
            try:
                documents = triage_documents.read(path)
                if documents is None:
                    others.append(path)
                for document in documents or ():
                    yield from self._of_document(document, old)
                    del document  # free it before the next document is read
            except (OSError, SmartError) as error:
                self._lack(f'{visible(path)}: {getattr(error, "strerror", "") or error}')
        for document in self._of_reports(others, reports) if others else ():
            yield from self._of_document(document, old)
        if not (self.asked or others or self.faults):
            self._lack(
                f'{", ".join(map(visible, paths))}: no files found; save the output of triage '
                f'--json there, one file per host'
            )
        self._note('result-old', old, 'document older than two days')

    def _of_reports(self, paths: Sequence[str], reports: Reports) -> Iterator[Document]:
        """Yield one document for each host that has smartctl reports."""
        by_host, skipped = reports(paths)
        words = 'file skipped (not output of triage --json or of smartctl)'
        self._note('file-skipped', skipped, words)
        return (
            Document(host, content, made=self.now, path='smartctl')
            for host, content in by_host.items()
        )

    def _of_document(self, document: Document, old: list[str]) -> Iterator[FleetDrive]:
        self.asked += 1
        if self.now - document.made > triage_documents.OLD:
            old.append(document.host)
        yield from self._from(document.host, partial(self._drives_of, document))

    def _drives_of(self, document: Document) -> list[FleetDrive]:
        drives = self._named_apart(
            list(triage_documents.drives(document, self.reader, self.now)), document.path
        )
        if 'is_fleet' in document.content:
            for drive in drives:
                self.summary.groups.add(replacement_order.of_drive(drive.facts))
        else:
            notes = document.as_of(self.now)
            as_of = notes[0]['text'] if notes else None
            groups = replacement_order.of_document(document.content, document.host, as_of)
            self.summary.groups.add(groups)
        return drives

    def said(self) -> list[Coded]:
        """Return the messages about the fleet as a whole, faults first."""
        repeats = self.summary.repeats
        twice = plural(
            repeats,
            'drive is reported twice by its host',
            'drives are reported twice by their host',
        )
        messages = [*self.faults, *self.notes, *services.sentences(self.remarks)]
        messages += _of_twins(self.summary)
        if repeats:
            messages.append(Coded('drives-repeated', twice))
        return [Coded(message.code, sentence(message, NOTE)) for message in messages]

    def steps(self) -> list[summary.Step]:
        """Return the plan: drives to replace, models to order, and firmware to update."""
        return summary.steps(self.summary, self.defects())

    def defects(self) -> list[summary.Defect]:
        """Return the known firmware defects."""
        return summary.defects(self.summary, self.database)

    def counted(self) -> MutableJson:
        """Return the data about the fleet as a whole, formatted for the JSON document."""
        return {
            **summary.as_json(self.summary, self.defects()),
            'steps': [step._asdict() for step in self.steps()],
        }

    def state(self) -> State:
        """Return the worst state of all drives and checks; at least UNKNOWN if there are faults
        or no states at all.
        """
        states = [State[name] for name in (*self.summary.states, *self.summary.checks)]
        if self.faults or not states:
            states.append(State.UNKNOWN)
        return worst(states)


def _of_twins(counted: summary.Summary) -> list[Coded]:
    """Return a list with one message about drives that several hosts report; [] if there are no
    such drives.
    """
    if not counted.twins:
        return []
    shared = []
    for twin in counted.twins[:NAMED]:
        drive = f'{twin.model} {twin.serial}'.rstrip()
        shared.append(f'{drive} is on {twin.hosts[0]} and {twin.hosts[1]}')
    rest = counted.twin_count - NAMED
    words = 'drives reported by more than one host (shared enclosure, or moved)'
    end = f' and {rest} more' if rest > 0 else ''
    return [Coded('drives-shared', f'{words}: {"; ".join(shared)}{end}')]


def _named(things: Sequence[str], words: str) -> str:
    """Return text such as "5 files skipped: a, b, c and 2 more". words: such as "file skipped"."""
    thing, _, rest = words.partition(' ')
    return f'{plural(len(things), thing)} {rest}: {listed(things, NAMED)}'


def _hidden(drive: FleetDrive) -> FleetDrive:
    """Return the drive with its serial numbers removed."""
    facts = {**drive.facts, 'serial': None}
    if drive.serials:
        for key in ('notes', 'findings'):
            if key in facts:
                facts[key] = [
                    {**row, 'text': _unnamed(row['text'] or '', drive.serials)}
                    for row in facts[key]
                ]
        facts['why'] = _unnamed(facts.get('why') or '', drive.serials)
    return drive._replace(facts=facts)


def _unnamed(words: str, serials: Sequence[str]) -> str:
    """Return a message with its serial numbers hidden, including one that is cut off at the end
    of the message.
    """
    longest_first = sorted(serials, key=len, reverse=True)
    # in one pass, to keep inserted text
    words = re.sub('|'.join(map(re.escape, longest_first)), SERIAL, words)
    whole = words.removesuffix('...')
    cut = 0
    for serial in serials:
        for length in range(LEAST + 1, len(serial)):
            if length > cut and whole.endswith(serial[:length]):
                cut = length
    return whole[:-cut] + SERIAL + words[len(whole) :] if cut else words


def _files(paths: Sequence[str]) -> Iterator[str]:
    """Yield files, and the files in folders at any depth. Hidden files are left out."""
    for path in paths:
        if not os.path.isdir(path):
            yield path
        for folder, folders, names in os.walk(path):
            folders[:] = sorted(name for name in folders if not name.startswith('.'))
            for name in sorted(names):
                if not name.startswith('.'):
                    yield os.path.join(folder, name)
