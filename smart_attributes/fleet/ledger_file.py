"""The ledger file, which records the drives of each run. File errors become messages.

Unlike the history of a check, a ledger waits for the disk: it is written once per run, in one transaction with a
rollback journal. A damaged file is not repaired, because a person must decide what to do with it.
"""
from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager

from .. import files
from ..alarm import TimeIsOver
from ..constants import DAY, ENDINGS, LONGEST_IDENTITY, YEAR
from ..errors import Coded, SmartError
from ..model import State
from ..sqlite_file import WRONG_CONTENT, Error, SqliteFile, checksum, reason
from ..wording import plural
from ..words import visible
from ..work import work_list
from . import ledger
from .comparison import Columns, Failure, Span, columns
from .ledger import FAILED, WAIT, Cell, Rate, Record, Share, Sighting, band, ending, updated
from .plugin_output import FleetDrive
from .summary import as_csv

APPLICATION = 0x534D4C47   # "SMLG", for file(1)
VERSION = 3
PATIENCE = 10.0            # seconds to wait for another run
BATCH = 5_000              # drives
NEW = 'to start a new one, move it away'
OLDEST = 100 * YEAR        # seconds; a longer power-on time is invalid
# The statements. Each row has a checksum of its other columns. Damaged rows are deleted, and so are all drives of a
# damaged name or share. These drives count as new again.
SQL = files.data('fleet/ledger.json')
# The sightings of a run are collected in a file, not in RAM.
SETTINGS = ('cell_size_check = ON', 'temp_store = FILE', 'cache_size = -16000')
REASONS: Mapping[str, str] = {
    'attempt to write a readonly': 'it cannot be written; use a path that you can write to',
    'unable to open': 'it cannot be opened; use a path in a directory that you can write to'}


class LedgerUnusable(SmartError):
    """The ledger cannot be used; the fleet is shown without it."""


class Ledger:
    """A ledger, open for one run. Its methods raise LedgerUnusable. lost: number of drives with damaged records."""

    def __init__(self, path: str, now: float) -> None:
        """Open the ledger, and create the file if it is missing. now: the time of this run."""
        self.path, self.now = path, int(now)
        self._words: dict[str, int] = {}
        self._seen: list[tuple[object, ...]] = []
        with self._guarded():
            self._open()

    def _open(self) -> None:
        descriptor = os.open(self.path, os.O_RDONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
        is_regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
        os.close(descriptor)   # before SQLite opens it: closing it later would release SQLite's locks
        if not is_regular:
            raise LedgerUnusable(f'{visible(self.path)} is not a regular file; use another path for the ledger')
        self._base = SqliteFile()
        self._base.connect(self.path, 'mode=rw', PATIENCE, SETTINGS)
        self._base.define('checksum', checksum)
        if self._base.is_empty:
            self._base.transaction(self._create)
        self._examine()
        self._run(*SQL['collecting'])

    def _create(self) -> None:
        if self._base.is_empty:   # no parallel run has created the tables
            self._base.create(SQL['tables'], APPLICATION, VERSION)

    def _examine(self) -> None:
        """Remove drives with damaged records. Raises LedgerUnusable or an SQLite error if the file is not a ledger."""
        if self._base.value('PRAGMA application_id') != APPLICATION:
            raise LedgerUnusable(f'{visible(self.path)} is not a ledger; use another path')
        version = self._base.version
        if version > VERSION:
            raise LedgerUnusable(f'{visible(self.path)} is from a newer version of this program (tables {version}, '
                                 f'here {VERSION}); upgrade this program')
        if version != VERSION or not self._base.is_sound:
            raise Error
        self._base.transaction(lambda: self._run(*SQL['damaged']))
        self.lost: int = self._base.value('SELECT count(*) FROM gone')

    def add(self, model: str, serial: str, firmware: str, host: str, rest: tuple[int, int, int, int | None]) -> None:
        """Collect a sighting. rest: `state`, `is_failing`, `read` and `age`, as in Sighting."""
        place = self._place
        self._seen.append((place(model), serial, place(firmware), place(host), *rest))
        if len(self._seen) >= BATCH:
            with self._guarded():
                self._collect()

    def _place(self, word: str) -> int:
        return self._words.setdefault(word, len(self._words))

    def _collect(self) -> None:
        self._base.run_all('INSERT INTO seen VALUES (?, ?, ?, ?, ?, ?, ?, ?)', self._seen)
        self._seen.clear()

    def write(self, hosts: set[str]) -> None:
        """Write all sightings in one transaction. hosts: the hosts whose drives were all read."""
        with self._guarded():
            self._collect()
            self._base.transaction(lambda: self._write_all(hosts))

    def _write_all(self, hosts: set[str]) -> None:
        numbers = self._numbers(hosts)
        self._base.run_all('INSERT OR REPLACE INTO host VALUES (?1, ?2, checksum(?1, ?2))',
                           ((numbers[self._words[host]], self.now) for host in hosts))
        for start in range(0, self._base.value('SELECT ifnull(max(rowid), 0) FROM seen'), BATCH):
            self._write(start, numbers)

    def _numbers(self, hosts: set[str]) -> Sequence[int]:
        """Return the database numbers of all names in this run, in the order of first use; store new names."""
        for host in hosts:
            self._place(host)
        self._base.run_all('INSERT OR IGNORE INTO name (text) VALUES (?)', zip(self._words))
        self._run('UPDATE name SET sum = checksum(number, text) WHERE sum IS NULL')
        known = dict(self._base.run('SELECT text, number FROM name'))
        numbers = [known[word] for word in self._words]
        self._base.run_all('INSERT INTO word VALUES (?, ?)', enumerate(numbers))
        return numbers

    def _write(self, start: int, numbers: Sequence[int]) -> None:
        """Write the next batch of sightings, which begins after row *start*."""
        records: dict[tuple[int, str], tuple[int, Record | None]] = {}
        shares: list[tuple[int, Share]] = []
        free: int = self._base.value('SELECT ifnull(max(number), 0) FROM drive')
        for model, serial, firmware, host, state, is_failing, read, age, old, _, _, *known, _ in self._base.run(
                SQL['sightings'], start, start + BATCH):
            key = model, serial
            if key not in records:
                free += old is None
                records[key] = (free, None) if old is None else (old, Record(*known))
            number, before = records[key]
            record, added = updated(before, Sighting(numbers[firmware], numbers[host], state, is_failing, read, age),
                                    self.now)
            records[key] = number, record
            shares += ((number, share) for share in added)
        rows = ((number, *key, *(record or ())) for key, (number, record) in records.items())
        self._base.run_all(SQL['enter'], ((*row, checksum(*row)) for row in rows))
        self._base.run_all(SQL['add'], ((number, *share) for number, share in shares))

    def end(self, serial: str, how: str) -> str:
        """Record how a drive ended; return its model. how: one of ENDINGS."""
        with self._guarded():
            return self._base.transaction(lambda: self._ended(serial, how))

    def _ended(self, serial: str, how: str) -> str:
        found = self._base.run(SQL['named'], serial)
        if len(found) != 1:
            known = plural(len(found), 'drive') if found else 'no drive'
            raise LedgerUnusable(f'{visible(self.path)} has {known} with the serial number {visible(serial)}; '
                                 'give the serial number of one drive as fleet --json prints it')
        self._base.run(SQL['end'], how, found[0][0])
        return str(found[0][1])

    def cells(self) -> list[Cell]:
        """Return the drive-time and the count of ended drives, by model, firmware and age band."""
        with self._guarded():
            names = self._names()
            found = {tuple(key): [seconds, 0, 0, 0] for *key, seconds in self._base.run(SQL['times'])}
            for _, model, record, how in self._ended_drives():
                key = model, record.firmware, band(record.age)
                found.setdefault(key, [0, 0, 0, 0])[1 + ENDINGS.index(how)] += 1
            return [Cell(names[model], names[firmware], each, *counts)
                    for (model, firmware, each), counts in found.items()]

    def columns(self) -> Columns:
        """Return the drives in use and the failures, for the comparison of models."""
        with self._guarded():
            names = self._names()
            failures = [Failure(names[model], names[firmware], each, record.last // DAY, record.host)
                        for number, model, record, how in self._ended_drives() if how == FAILED
                        for firmware, each in self._base.run(SQL['latest'], number)]
            return columns((Span(names[model], names[firmware], *rest)
                            for model, firmware, *rest in self._base.run(SQL['spans'])) if failures else (), failures)

    def _names(self) -> Mapping[int, str]:
        return dict(self._base.run('SELECT number, text FROM name'))

    def _ended_drives(self) -> Iterator[tuple[int, int, Record, str]]:
        """Yield four values for each drive that ended: its number, its model, its record, and how it ended."""
        for whole, number, model, _, *known, _ in self._base.run(SQL['ended'], WAIT):
            record = Record(*known)
            how = ending(record, whole)
            if how:
                yield number, model, record, how

    def drives(self) -> dict[str, int]:
        """Return the number of drives of each model."""
        with self._guarded():
            return dict(self._base.run(SQL['drives']))

    def merge(self, path: str) -> int:
        """Add the drives of another ledger; return their number.

        A drive in both ledgers counts once. Its drive-time is the sum of both times if they do not overlap, else the
        longer time. So merging again, or in the other direction, changes nothing.
        """
        with self._guarded():
            os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))     # a missing file must not be created
        Ledger(path, self.now).close()
        with self._guarded():
            self._base.run('ATTACH ? AS other', os.path.abspath(path))
            self._base.transaction(lambda: self._run(*SQL['merge']))
            count: int = self._base.value('SELECT count(*) FROM pair')
            self._run('DROP TABLE pair', 'DROP TABLE place', 'DETACH other')
            return count

    def rows(self) -> Iterator[tuple[str, ...]]:
        """Yield the drives as rows with the columns SQL['exported']; '' means unknown or not applicable."""
        with self._guarded():
            for *row, state, ended in self._base.run(SQL['export']):
                yield (*('' if cell is None else str(cell) for cell in row), State(state).name, ended)

    def close(self) -> None:
        """Close the file."""
        self._base.close()

    def _run(self, *statements: str) -> None:
        for statement in statements:
            self._base.run(statement)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Convert each failure into LedgerUnusable, with the reason and the next step."""
        try:
            yield
        except Error as error:
            why = reason(error, REASONS) or f'it is not a ledger, or is damaged; {NEW}'
        except OSError as error:
            why = f'{error.strerror}; use a path in a directory that you can write to'
        except WRONG_CONTENT:
            why = f'it is damaged; {NEW}'
        else:
            return
        raise LedgerUnusable(f'ledger {visible(self.path)}: {why}')


class Bookkeeper:
    """Records the drives of a run in the ledger. If the ledger cannot be used, the only effect is a note."""

    def __init__(self, path: str, now: float) -> None:
        """Open the ledger. path: '' means no ledger."""
        self.notes: list[Coded] = []
        self.rates: list[Rate] = []            # rates of all models
        self._now, self._nameless = now, 0
        self._hosts: dict[str, bool] = {}      # host -> whether all its drives were read
        self._ledger: Ledger | None = None
        try:
            self._ledger = Ledger(path, now) if path else None
            if self._ledger and self._ledger.lost:
                lost = plural(self._ledger.lost, 'drive')
                self.notes.append(Coded('ledger-damaged', f'ledger: the records of {lost} were damaged and lost; '
                                                          'counting starts again; check the disk: dmesg -T | tail -50'))
        except LedgerUnusable as error:
            self._fail(error)

    @property
    def is_whole(self) -> bool:
        """Return whether all drives of this run are in the ledger."""
        return not any(note.code == 'ledger-unusable' for note in self.notes)

    def add(self, drive: FleetDrive) -> None:
        """Record a drive. For a check's row, record only whether all drives of the host were read."""
        if self._ledger:
            facts = drive.facts
            is_told = facts['state'] == State.OK.name or facts.get('code') in work_list.GONE
            is_whole = (not facts.get('is_check') or is_told) and self._now - drive.read <= ledger.OLD
            self._hosts[facts['host']] = self._hosts.get(facts['host'], True) and is_whole
            if not facts.get('is_check'):
                self._enter(self._ledger, drive)

    def _enter(self, book: Ledger, drive: FleetDrive) -> None:
        facts = drive.facts
        model, serial = facts['model'], facts['serial'] or ''
        if not model or not ledger.identifies(serial):
            self._nameless += bool(model)
            # A drive without a serial number may be any drive of its host. A row without a model may be a dead drive.
            self._hosts[facts['host']] &= not model
            return
        age = round(drive.age) if drive.age is not None and 0 <= drive.age <= OLDEST else None
        try:
            model, serial, firmware = (each[:LONGEST_IDENTITY] for each in (model, serial, facts['firmware'] or ''))
            book.add(model, serial, firmware, facts['host'],
                     (State[facts['state']], int(ledger.is_failing(facts)), int(drive.read), age))
        except LedgerUnusable as error:
            self._fail(error)

    def close(self, unread: set[str], is_cut: bool) -> None:
        """Write the ledger and calculate the rates.

        unread: hosts with a result that could not be read. is_cut: the time limit was reached.
        """
        if self._nameless:
            self.notes.append(Coded('serials-unusable', f'{plural(self._nameless, "drive")} without a serial number of '
                                    'their own: the ledger does not contain them'))
        if self._ledger:
            try:
                if is_cut:
                    raise LedgerUnusable('ledger: the time limit was reached; increase it with -t')
                self._ledger.write({host for host, is_whole in self._hosts.items() if is_whole} - unread)
                self.rates = ledger.rates(self._ledger.cells(), self._ledger.drives(), self._ledger.columns())
            except (LedgerUnusable, TimeIsOver) as error:
                self._fail(error)
            self._hosts.clear()
            self._ledger.close()

    def _fail(self, error: BaseException) -> None:
        if self.is_whole:
            self.notes.append(Coded('ledger-unusable', f'{error}; this run is not in the ledger'))


def record(path: str, ended: Sequence[tuple[str, str]], others: Sequence[str], now: float) -> Iterator[str]:
    """Merge other ledgers, and record how drives ended; yield a line for each. Raises LedgerUnusable.

    ended: pairs of a serial number and one of ledger.ENDINGS. others: paths of the other ledgers.
    """
    with closing(Ledger(path, now)) as book:
        for other in others:
            yield f'merged: {plural(book.merge(other), "drive")} of {visible(other)}'
        for serial, how in ended:
            yield f'recorded: {book.end(serial, how)} {serial} {how}'


def exported(path: str, hide_serial: bool, now: float) -> str:
    """Return the drives of a ledger as CSV. Raises LedgerUnusable."""
    with closing(Ledger(path, now)) as book:
        return as_csv(SQL['exported'], ((model, '' if hide_serial else serial, *rest)
                                        for model, serial, *rest in book.rows()))
