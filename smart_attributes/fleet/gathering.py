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
        told = services.told(service, self.reader, self.now)
        for words in told.remarks:
            self.remarks.setdefault(words, []).append(f'{service.host}!{service.name}')
        drives = self._named_apart(told.drives, source)
        self.summary.groups.add(
            group for drive in drives for group in replacement_order.of_drive(drive.facts)
        )
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
        host, marks = (
            drives[0].facts['host'] if drives else '',
            [self._mark(each.facts) for each in drives],
        )
        known = [
            self.summary.has(each.facts) if mark is None else mark in self._nameless
            for each, mark in zip(drives, marks)
            if not each.facts.get('is_check')
        ]
        left = [each for each, mark in zip(drives, marks) if mark not in self._nameless]
        self._nameless.update(mark for mark in marks if mark is not None)
        if not known or self._sources.setdefault(host, source) == source:
            return left
        self._same['hosts-merged' if any(known) else 'hosts-renamed'][host] = None
        return (
            left
            if any(known)
            else [
                each._replace(facts={**each.facts, 'host': f'{host} ({visible(source)})'})
                for each in drives
            ]
        )

    def _mark(self, facts: Json) -> int | None:
        """Return an identifying number for a check's row or a drive without a unique serial
        number, else None.
        """
        is_check = facts.get('is_check')
        return (
            hash(
                (
                    facts['host'],
                    facts['name'],
                    facts['state'],
                    facts['why' if is_check else 'model'],
                )
            )
            if is_check or self.summary.has(facts) is None
            else None
        )

    def of_documents(self, paths: Sequence[str], reports: Reports) -> Iterator[FleetDrive]:
        """Yield the drives in documents of `triage`. reports: called with the paths of all other
        files, if any.
        """
        others: list[str] = []
        old: list[str] = []
        for path in _files(paths):
            try:
                found = triage_documents.read(path)
                if found is None:
                    others.append(path)
                for told in found or ():
                    yield from self._of_document(told, old)
                    del told  # free it before the next document is read
            except (OSError, SmartError) as error:
                self._lack(f'{visible(path)}: {getattr(error, "strerror", "") or error}')
        for told in self._of_reports(others, reports) if others else ():
            yield from self._of_document(told, old)
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
        return (Document(host, content, self.now, 'smartctl') for host, content in by_host.items())

    def _of_document(self, told: Document, old: list[str]) -> Iterator[FleetDrive]:
        self.asked += 1
        if self.now - told.made > triage_documents.OLD:
            old.append(told.host)
        yield from self._from(told.host, partial(self._drives_of, told))

    def _drives_of(self, told: Document) -> list[FleetDrive]:
        old = next((note['text'] for note in told.as_of(self.now)), None)
        drives = self._named_apart(
            list(triage_documents.drives(told, self.reader, self.now)), told.path
        )
        self.summary.groups.add(
            (group for drive in drives for group in replacement_order.of_drive(drive.facts))
            if 'is_fleet' in told.content
            else replacement_order.of_document(told.content, told.host, old)
        )
        return drives

    def said(self) -> list[Coded]:
        """Return the messages about the fleet as a whole, faults first."""
        repeats = self.summary.repeats
        twice = plural(
            repeats,
            'drive is reported twice by its host',
            'drives are reported twice by their host',
        )
        return [
            Coded(each.code, sentence(each, NOTE))
            for each in (
                *self.faults,
                *self.notes,
                *services.sentences(self.remarks),
                *_of_twins(self.summary),
                *([Coded('drives-repeated', twice)] if repeats else ()),
            )
        ]

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
        told = [State[name] for name in (*self.summary.states, *self.summary.checks)]
        return worst([*told, *([State.UNKNOWN] if self.faults or not told else [])])


def _of_twins(found: summary.Summary) -> list[Coded]:
    """Return a list with one message about drives that several hosts report; [] if there are no
    such drives.
    """
    if not found.twins:
        return []
    shared = '; '.join(
        f'{f"{each.model} {each.serial}".rstrip()} is on {each.hosts[0]} and {each.hosts[1]}'
        for each in found.twins[:NAMED]
    )
    more = f' and {found.twin_count - NAMED} more' if found.twin_count > NAMED else ''
    return [
        Coded(
            'drives-shared',
            f'drives reported by more than one host (shared enclosure, or moved): {shared}{more}',
        )
    ]


def _named(things: Sequence[str], words: str) -> str:
    """Return text such as "5 files skipped: a, b, c and 2 more". words: such as "file skipped"."""
    thing, _, rest = words.partition(' ')
    return f'{plural(len(things), thing)} {rest}: {listed(things, NAMED)}'


def _hidden(drive: FleetDrive) -> FleetDrive:
    """Return the drive with its serial numbers removed."""
    facts = {**drive.facts, 'serial': None}
    if drive.serials:
        facts.update(
            {
                key: [
                    {**each, 'text': _unnamed(each['text'] or '', drive.serials)}
                    for each in facts[key]
                ]
                for key in ('notes', 'findings')
                if key in facts
            }
        )
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
    begun = max(
        (
            length
            for serial in serials
            for length in range(LEAST + 1, len(serial))
            if whole.endswith(serial[:length])
        ),
        default=0,
    )
    return whole[:-begun] + SERIAL + words[len(whole) :] if begun else words


def _files(paths: Sequence[str]) -> Iterator[str]:
    """Yield files, and the files in folders at any depth. Hidden files are left out."""
    for path in paths:
        if not os.path.isdir(path):
            yield path
        for folder, folders, names in os.walk(path):
            folders[:] = sorted(name for name in folders if not name.startswith('.'))
            yield from (
                os.path.join(folder, name) for name in sorted(names) if not name.startswith('.')
            )
