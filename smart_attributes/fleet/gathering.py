"""Collect the drives of a fleet from its sources, and record which sources could not be read.

The sources are an Icinga server or documents from `triage --json`. A source, service or document
that cannot be read does not affect the others.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence

from .. import alarm
from ..errors import Coded, SmartError
from ..knowledge.drive_database import SpecDatabase
from ..model import State, worst
from ..typed import TYPE_CHECKING, MutableJson
from ..wording import listed, plural
from ..words import sentence
from . import services, summary, triage_documents
from .drives import FleetDrive

if TYPE_CHECKING:
    from .icinga import Icinga

NOTE = 500  # characters
ONLY_READ = 'only the drives that were already read are shown'


class Fleet:
    """The collected data of a fleet: counts of all drives, and messages."""

    def __init__(self, database: SpecDatabase, now: float) -> None:
        """Create an empty fleet. now: seconds since 1970."""
        self.now, self.database = now, database
        self.summary = summary.Summary(now)
        self.faults: list[Coded] = []  # sources that could not be read
        self.notes: list[Coded] = []
        self.has_read_any = False  # a service or a document
        self._begun = time.monotonic()
        self._old: list[str] = []  # hosts or services whose result is out of date
        self._hidden: list[str] = []  # services whose host Icinga does not show

    def drives(
        self, source: Iterator[FleetDrive], timeout: float
    ) -> Iterator[FleetDrive]:
        """Yield and count each drive of the source; record a fault if it cannot be read to its
        end.

        timeout: seconds for the whole run. Raises SmartError or TimeIsOver if nothing could be read
        at all.
        """
        # The alarm would leave one reserve of time for the output. A fleet has much output, so this
        # leaves three.
        end = self._begun + timeout - 3 * alarm.reserve(timeout)
        try:
            for drive in source:
                self.summary.add(drive)
                yield drive
                if time.monotonic() > end:
                    self._lack(
                        f'time limit of {timeout:g} s exceeded (increase it with -t); '
                        f'{ONLY_READ}'
                    )
                    return
        except (SmartError, alarm.TimeIsOver) as error:
            if not self.has_read_any:
                raise
            self._lack(f'{error}; {ONLY_READ}')

    def _from(self, source: str, drives: Iterator[FleetDrive]) -> Iterator[FleetDrive]:
        """Yield the drives of one service or document; a program error affects only this service
        or document, and is recorded as a fault.
        """
        try:
            yield from alarm.limited(list, drives)
        except Exception as error:
            self._lack(
                f'{source} cannot be read ({type(error).__name__}); please report this '
                'with the output of "triage --json" on that host'
            )

    def _lack(self, words: str) -> None:
        """Record a fault: a source that could not be read."""
        self.faults.append(Coded('not-gathered', sentence(words, NOTE)))

    def of_icinga(self, api: Icinga, condition: str) -> Iterator[FleetDrive]:
        """Yield the drives from Icinga. condition: value of --filter."""
        try:
            names = api.names(condition)
            if not names:
                of_filter = ' and matches --filter' if condition else ''
                self.faults.append(
                    Coded(
                        'no-services',
                        f'{api.where}: Icinga returned no service that runs this plugin{of_filter} '
                        '(recognized by its CheckCommand, or by output that begins with "SMART ")',
                    )
                )
            for service in api.services(names):
                self.has_read_any = True
                yield from self._from(str(service), self._of_service(service))
        finally:
            api.close()
            for name, why in api.unread.items():
                self._lack(f'{name}: {why}')
        self._note(
            'result-old',
            self._old,
            'service with a result older than two check intervals',
        )
        self._note(
            'downtime-hidden',
            self._hidden,
            'service whose host may be in downtime: to see downtimes of hosts, this ApiUser needs the '
            'permission objects/query/Host',
        )

    def _of_service(self, service: services.Service) -> Iterator[FleetDrive]:
        """Yield the drives of a service, and record whether its result is old or its host hidden."""
        drives, is_old = services.drives_of(service, self.database.metrics, self.now)
        if is_old:
            self._old.append(str(service))
        if not service.is_host_shown:
            self._hidden.append(str(service))
        yield from drives

    def of_documents(self, paths: Sequence[str]) -> Iterator[FleetDrive]:
        """Yield the drives in documents of `triage`. paths: of files and folders."""
        for path in _files(paths):
            try:
                document = triage_documents.read(path)
            except (OSError, SmartError) as error:
                why = getattr(error, 'strerror', '') or error
                self._lack(f'{path}: {why}')
                continue
            self.has_read_any = True
            if self.now - document.made > triage_documents.OLD:
                self._old.append(document.host)
            drives = triage_documents.drives(document, self.database.metrics, self.now)
            yield from self._from(document.host, drives)
        if not (self.has_read_any or self.faults):
            self._lack(
                f'{", ".join(paths)}: no files found; save the output of "triage --json" there as HOST.json'
            )
        self._note('result-old', self._old, 'document older than two days')

    def _note(self, code: str, names: Sequence[str], words: str) -> None:
        """Add a note such as "5 files skipped: a, b, c and 2 more", if there are names. words: such
        as "file skipped".
        """
        if names:
            thing, _, rest = words.partition(' ')
            number = plural(len(names), thing)
            note = f'{number} {rest}: {listed(names, 3)}'
            self.notes.append(Coded(code, sentence(note, NOTE)))

    def said(self) -> list[Coded]:
        """Return the messages about the fleet as a whole, faults first."""
        return [*self.faults, *self.remarks()]

    def remarks(self) -> list[Coded]:
        """Return the messages that are no faults."""
        repeats = self.summary.repeats
        if not repeats:
            return self.notes
        words = plural(repeats, 'drive is', 'drives are')
        return [
            *self.notes,
            Coded('drives-repeated', f'{words} reported twice, but counted only once'),
        ]

    def counted(self) -> MutableJson:
        """Return the data about the fleet as a whole, formatted for the JSON document."""
        steps = summary.steps(self.summary, self.database)
        return summary.as_json(self.summary, steps)

    def state(self) -> State:
        """Return the worst state of all drives and checks; at least UNKNOWN if there are faults
        or no states at all.
        """
        states = [State[name] for name in (*self.summary.states, *self.summary.checks)]
        if self.faults or not states:
            states.append(State.UNKNOWN)
        return worst(states)


def _files(paths: Sequence[str]) -> Iterator[str]:
    """Yield files, and the files in folders at any depth whose name ends with .json. Hidden files
    are left out.
    """
    for path in paths:
        if not os.path.isdir(path):
            yield path
            continue
        for folder, subfolders, names in os.walk(path):
            # os.walk() enters only what is left in this list
            subfolders[:] = sorted(
                name for name in subfolders if not name.startswith('.')
            )
            for name in sorted(names):
                if name.endswith('.json') and not name.startswith('.'):
                    yield os.path.join(folder, name)
