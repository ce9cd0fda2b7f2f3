"""The file of a ledger: only this module of `fleet` uses sqlite3, and each failure becomes an error message.

history/database is not used: it is made for checks, which never wait for the disk and set a damaged file aside. A
ledger is written once per run, in one transaction with a rollback journal, and a damaged one is left to a person.
"""
from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from zlib import crc32

from ..errors import SmartError
from ..wording import plural
from ..words import visible
from .ledger import FAILED, Cell, Record, Share, Sighting, band, ending, updated

APPLICATION = 0x534D4C47   # "SMLG", for file(1)
VERSION = 2
PATIENCE = 10.0            # seconds to wait for another run
BATCH = 5_000              # drives
NEW = 'to start a new one, move it away'
# Each row has a checksum of its other columns, because SQLite notices damage of its structure only.
TABLES = (
    # of models, firmware and hosts
    'CREATE TABLE name (number INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE, sum INTEGER)',
    # whole: newest run that read all its drives
    'CREATE TABLE host (name INTEGER PRIMARY KEY, whole INTEGER NOT NULL, sum INTEGER NOT NULL)',
    # As in ledger.Record.
    'CREATE TABLE drive (number INTEGER PRIMARY KEY, model INTEGER NOT NULL, serial TEXT NOT NULL, firmware INTEGER '
    'NOT NULL, host INTEGER NOT NULL, former INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, until '
    'INTEGER NOT NULL, listed INTEGER NOT NULL, age INTEGER, state INTEGER NOT NULL, is_failing INTEGER NOT NULL, '
    'ended TEXT, sum INTEGER NOT NULL, UNIQUE (serial, model))',
    'CREATE TABLE share (drive INTEGER NOT NULL, firmware INTEGER NOT NULL, band INTEGER NOT NULL, state INTEGER NOT '
    'NULL, seconds INTEGER NOT NULL, sum INTEGER NOT NULL, PRIMARY KEY (drive, firmware, band, state)) WITHOUT ROWID',
    f'PRAGMA application_id = {APPLICATION}', f'PRAGMA user_version = {VERSION}')
CHECKED = ('checksum(number, model, serial, firmware, host, former, first, last, until, listed, age, state, '
           'is_failing, ended)')
# Damaged rows go, and with a name or a share all drives that have it; these are counted again from now on.
DAMAGED = (
    'CREATE TEMP TABLE lost AS SELECT number AS name FROM name WHERE sum IS NOT checksum(number, text)',
    'DELETE FROM host WHERE sum <> checksum(name, whole) OR name IN lost',
    'CREATE TEMP TABLE gone AS SELECT number FROM drive WHERE model IN lost OR firmware IN lost OR host IN '  # noqa: S608
    f'lost OR former IN lost OR sum <> {CHECKED}',
    'INSERT INTO gone SELECT DISTINCT drive FROM share WHERE drive NOT IN gone AND (firmware IN lost OR sum <> '
    'checksum(drive, firmware, band, state, seconds) OR drive NOT IN (SELECT number FROM drive))',
    'DELETE FROM share WHERE drive IN gone', 'DELETE FROM drive WHERE number IN gone',
    'DELETE FROM name WHERE number IN lost')
# A forged schema cannot run functions. The sightings of a run are collected in a file, not in memory.
SETTINGS = ('trusted_schema = OFF', 'cell_size_check = ON', 'temp_store = FILE', 'cache_size = -16000')
COLLECTED = ('CREATE TEMP TABLE seen (model INTEGER, serial TEXT, firmware INTEGER, host INTEGER, state INTEGER, '
             'is_failing INTEGER, read INTEGER, age INTEGER)')
WORDS = 'CREATE TEMP TABLE word (place INTEGER PRIMARY KEY, number INTEGER)'
SIGHTINGS = ('SELECT word.number, seen.serial, seen.firmware, seen.host, seen.state, seen.is_failing, seen.read, '
             'seen.age, drive.* FROM seen JOIN word ON word.place = seen.model LEFT JOIN drive ON drive.serial = '
             'seen.serial AND drive.model = word.number WHERE seen.rowid > ? AND seen.rowid <= ? ORDER BY seen.rowid')
# REPLACE would take each drive out of the index and put it back.
ENTER = ('INSERT INTO drive VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (number) DO UPDATE SET '
         'firmware = excluded.firmware, host = excluded.host, former = excluded.former, last = excluded.last, until = '
         'excluded.until, listed = excluded.listed, age = excluded.age, state = excluded.state, is_failing = '
         'excluded.is_failing, sum = excluded.sum')
ADD = ('INSERT INTO share VALUES (?1, ?2, ?3, ?4, ?5, checksum(?1, ?2, ?3, ?4, ?5)) ON CONFLICT (drive, firmware, '
       'band, state) DO UPDATE SET seconds = seconds + excluded.seconds, sum = checksum(drive, firmware, band, '
       'state, seconds + excluded.seconds)')
END = 'UPDATE drive SET ended = ?1, sum = {} WHERE number = ?2'.format(CHECKED.replace('ended', '?1'))  # noqa: S608
# Start of SQLite's message -> its meaning and the next step. Any other error counts as damage.
REASONS: Mapping[str, str] = {
    'database or disk is full': 'the disk is full; free some space',
    'attempt to write a readonly': 'it cannot be written; use a path that you can write to',
    'unable to open': 'it cannot be opened; use a path in a directory that you can write to',
    'database is locked': 'another process has locked it; to see which, use fuser',
    'disk I/O': 'the system cannot read or write it; see the kernel log: dmesg -T | tail -50'}


class LedgerUnusable(SmartError):
    """The ledger cannot be used; the fleet is shown without it."""


def checksum(*values: object) -> int:
    """Return the checksum of the values of a row, as SQLite returns them."""
    return crc32(ascii(values).encode())


class Ledger:
    """A ledger that is open for one run. Methods raise LedgerUnusable. lost: number of drives with damaged records."""

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
        self._base = sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None)
        self._base.create_function('checksum', -1, checksum, deterministic=True)
        for setting in SETTINGS:
            self._base.execute(f'PRAGMA {setting}')
        if not self._value('SELECT count(*) FROM sqlite_master'):
            with self._transaction():
                if not self._value('SELECT count(*) FROM sqlite_master'):   # no other run was faster
                    self._run(*TABLES)
        self._examine()
        self._run(COLLECTED, WORDS)

    def _examine(self) -> None:
        """Remove the drives with damaged records. Raises LedgerUnusable or an error of SQLite for other files."""
        if self._value('PRAGMA application_id') != APPLICATION:
            raise LedgerUnusable(f'{visible(self.path)} is not a ledger; use another path')
        version = self._value('PRAGMA user_version')
        if version != VERSION:
            age, step = ('a newer', 'upgrade this one') if version > VERSION else ('an older', NEW)
            raise LedgerUnusable(f'{visible(self.path)} is from {age} version of this program (tables {version}, here '
                                 f'{VERSION}); {step}')
        if self._value('PRAGMA integrity_check(1)') != 'ok':
            raise sqlite3.DatabaseError
        with self._transaction():
            self._run(*DAMAGED)
        self.lost: int = self._value('SELECT count(*) FROM gone')

    def add(self, model: str, serial: str, firmware: str, host: str, rest: tuple[int, int, int, int | None]) -> None:
        """Collect a sighting. rest: state, is_failing, read and age, as in Sighting."""
        place = self._place
        self._seen.append((place(model), serial, place(firmware), place(host), *rest))
        if len(self._seen) >= BATCH:
            with self._guarded():
                self._collect()

    def _place(self, word: str) -> int:
        return self._words.setdefault(word, len(self._words))

    def _collect(self) -> None:
        self._base.executemany('INSERT INTO seen VALUES (?, ?, ?, ?, ?, ?, ?, ?)', self._seen)
        self._seen.clear()

    def write(self, hosts: set[str]) -> None:
        """Write all sightings in one transaction. hosts: those whose drives were all read."""
        with self._guarded():
            self._collect()
            with self._transaction():
                numbers = self._numbers(hosts)
                self._base.executemany('INSERT OR REPLACE INTO host VALUES (?1, ?2, checksum(?1, ?2))',
                                       ((numbers[self._words[host]], self.now) for host in hosts))
                for start in range(0, self._value('SELECT ifnull(max(rowid), 0) FROM seen'), BATCH):
                    self._write(start, numbers)

    def _numbers(self, hosts: set[str]) -> Sequence[int]:
        """Return the numbers of all words of this run, in the order of their places; store new ones."""
        for host in hosts:
            self._place(host)
        self._base.executemany('INSERT OR IGNORE INTO name (text) VALUES (?)', zip(self._words))
        self._run('UPDATE name SET sum = checksum(number, text) WHERE sum IS NULL')
        known = dict(self._base.execute('SELECT text, number FROM name'))
        numbers = [known[word] for word in self._words]
        self._base.executemany('INSERT INTO word VALUES (?, ?)', enumerate(numbers))
        return numbers

    def _write(self, start: int, numbers: Sequence[int]) -> None:
        """Write a batch of sightings, those after row *start*."""
        records: dict[tuple[int, str], tuple[int, Record | None]] = {}
        shares: list[tuple[int, Share]] = []
        free: int = self._value('SELECT ifnull(max(number), 0) FROM drive')
        for model, serial, firmware, host, state, is_failing, read, age, old, _, _, *known, _ in self._base.execute(
                SIGHTINGS, (start, start + BATCH)):
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
        self._base.executemany(ENTER, ((*row, checksum(*row)) for row in rows))
        self._base.executemany(ADD, ((number, *share) for number, share in shares))

    def end(self, serial: str, how: str) -> str:
        """Record how a drive ended, one of ENDINGS; return its model."""
        with self._guarded(), self._transaction():
            found = self._base.execute('SELECT drive.number, text FROM drive JOIN name ON name.number = model '
                                       'WHERE serial = ?', (serial,)).fetchall()
            if len(found) != 1:
                known = plural(len(found), 'drive') if found else 'no drive'
                raise LedgerUnusable(f'{visible(self.path)} has {known} with the serial number {visible(serial)}; '
                                     'give the serial number of one drive as fleet --json prints it')
            self._base.execute(END, (how, found[0][0]))
            return str(found[0][1])

    def cells(self) -> list[Cell]:
        """Return drives, drive-time and failures by model, firmware and age band."""
        with self._guarded():
            names: Mapping[int, str] = dict(self._base.execute('SELECT number, text FROM name'))
            found = {tuple(key): [drives, seconds, 0] for *key, drives, seconds in self._base.execute(
                'SELECT model, share.firmware, band, count(DISTINCT drive), sum(seconds) FROM share '
                'JOIN drive ON drive.number = share.drive GROUP BY 1, 2, 3')}
            for whole, _, model, _, *known, _ in self._base.execute(
                    'SELECT whole, drive.* FROM drive LEFT JOIN host ON host.name = drive.host '
                    'WHERE is_failing OR ended IS NOT NULL'):
                record = Record(*known)
                if ending(record, whole) == FAILED:
                    cell = found.setdefault((model, record.firmware, band(record.age)), [0, 0, 0])
                    cell[2] += 1
                    cell[0] = max(cell[0], cell[2])
            return [Cell(names[model], names[firmware], each, *counts)
                    for (model, firmware, each), counts in found.items()]

    def drives(self) -> dict[tuple[str, ...], int]:
        """Return the number of drives of each model, and of each model with its newest firmware."""
        found: dict[tuple[str, ...], int] = {}
        with self._guarded():
            names: Mapping[int, str] = dict(self._base.execute('SELECT number, text FROM name'))
            for model, firmware, count in self._base.execute(
                    'SELECT model, firmware, count(*) FROM drive GROUP BY 1, 2'):
                found[names[model], names[firmware]] = count
                found[names[model],] = found.get((names[model],), 0) + count
        return found

    def close(self) -> None:
        """Close the file."""
        self._base.close()

    def _value(self, statement: str) -> Any:
        return self._base.execute(statement).fetchone()[0]

    def _run(self, *statements: str) -> None:
        for statement in statements:
            self._base.execute(statement)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Write everything or nothing, alone."""
        self._base.execute('BEGIN IMMEDIATE')
        try:
            yield
            self._base.execute('COMMIT')
        except BaseException:
            if self._base.in_transaction:
                self._base.execute('ROLLBACK')
            raise

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Convert each failure into LedgerUnusable, with the reason and the next step."""
        try:
            yield
        except sqlite3.Error as error:
            reason = next((words for start, words in REASONS.items() if str(error).startswith(start)),
                          f'it is not a ledger, or is damaged; {NEW}')
        except OSError as error:
            reason = f'{error.strerror}; use a path in a directory that you can write to'
        except (TypeError, ValueError, OverflowError, LookupError):
            reason = f'it is damaged; {NEW}'
        else:
            return
        raise LedgerUnusable(f'ledger {visible(self.path)}: {reason}')
