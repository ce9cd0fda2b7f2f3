"""Ledgers of several masters merged, exported as CSV, and asked by the queries of doc/how-to/fleet.md."""
from __future__ import annotations

import csv
import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, run
from fleet_days import BEGIN, DAY, Bay, Site

from smart_attributes.fleet import ledger
from smart_attributes.fleet.ledger_file import Ledger

GUIDE = (ROOT / 'doc/how-to/fleet.md').read_text()


def written(path: Path, days: range, *bays: Bay, host: str = 'db1') -> Path:
    """Write a ledger of a host that is read each day."""
    for day in days:
        book = Ledger(str(path), BEGIN + day * DAY)
        for bay in bays:
            book.add(bay.model, bay.serial or '', bay.firmware, host,
                     (('OK', 'WARNING', 'CRITICAL').index(bay.state), int(bay.state == 'CRITICAL'), BEGIN + day * DAY,
                      (1000 + day) * DAY))
        book.write({host})
        book.close()
    return path


def merged(path: Path, other: Path) -> None:
    assert run('fleet', '--ledger', str(path), '--merge', str(other)).code == 0


def content(path: Path) -> tuple[Any, ...]:
    """Return what a ledger says, without its own numbers; a damaged row would be missing."""
    book = Ledger(str(path), BEGIN + 900 * DAY)
    found = sorted(book.cells()), sorted(book.drives().items()), sorted(book.rows()), book.lost
    book.close()
    return found


def days(path: Path) -> dict[str, float]:
    return {row[1]: float(row[7]) for row in content(path)[2]}


ONE, TWO, THREE = Bay('EXAMPLE1'), Bay('EXAMPLE2', model='ACME 2'), Bay('EXAMPLE3', firmware='B7')


def test_drives_of_both_count_once_and_others_are_added(tmp_path):
    """The two masters saw a drive at the same time; each has one that the other has not."""
    ours = written(tmp_path / 'a', range(0, 21), ONE, TWO)
    theirs = written(tmp_path / 'b', range(5, 16), TWO, THREE, host='db2')
    done = run('fleet', '--ledger', str(ours), '--merge', str(theirs))

    assert (done.code, done.text) == (0, f'merged: 2 drives of {theirs}\n')
    assert days(ours) == {'EXAMPLE1': 20, 'EXAMPLE2': 20, 'EXAMPLE3': 10}
    assert {row[1]: row[3] for row in content(ours)[2]} == {'EXAMPLE1': 'db1', 'EXAMPLE2': 'db1', 'EXAMPLE3': 'db2'}


def test_the_ledger_with_more_time_of_a_drive_counts(tmp_path):
    ours = written(tmp_path / 'a', range(5, 11), ONE)
    merged(ours, written(tmp_path / 'b', range(0, 31), ONE))

    assert days(ours) == {'EXAMPLE1': 30}


def test_times_of_a_drive_that_moved_are_added(tmp_path):
    """It was ten days on one site, then on the other."""
    ours = written(tmp_path / 'a', range(0, 11), ONE)
    theirs = written(tmp_path / 'b', range(20, 36), ONE, host='db9')
    merged(ours, theirs)

    assert days(ours) == {'EXAMPLE1': 25}
    assert content(ours)[2][0][3:6] == ('db9', '2027-01-15', '2027-02-19')


@pytest.mark.parametrize('later', [range(5, 16), range(20, 36)])
def test_merging_again_or_in_both_directions_changes_nothing(tmp_path, later):
    """As two masters do that merge each other's ledger each night."""
    ours = written(tmp_path / 'a', range(0, 11), ONE, TWO, Bay('EXAMPLE4', state='CRITICAL'))
    theirs = written(tmp_path / 'b', later, TWO, THREE, Bay('EXAMPLE4', state='WARNING'), host='db2')
    merged(ours, theirs)
    first = content(ours)
    for path, other in ((theirs, ours), (ours, theirs), (theirs, ours)):
        merged(path, other)

    assert content(ours) == content(theirs) == first


def test_a_failure_is_known_after_the_merge(tmp_path):
    """With the state and the host of the newest run, or as a person recorded it."""
    ours = written(tmp_path / 'a', range(0, 11), ONE, TWO)
    theirs = written(tmp_path / 'b', range(9, 15), ONE._replace(state='CRITICAL'), host='db2')
    written(theirs, range(15, 30), THREE, host='db2')
    assert run('fleet', '--ledger', str(ours), '--ended', 'EXAMPLE2=retired').code == 0
    merged(ours, theirs)

    assert {row[1]: row[9] for row in content(ours)[2]} == {
        'EXAMPLE1': ledger.FAILED, 'EXAMPLE2': ledger.RETIRED, 'EXAMPLE3': ''}


@pytest.mark.parametrize('spoil, said', [
    (lambda path: path.unlink(), 'No such file or directory'),
    (lambda path: path.write_text('no ledger' * 999), 'it is not a ledger, or is damaged'),
    (lambda path: sqlite3.connect(path).execute('PRAGMA user_version = 9').close(), 'is from a newer version')])
def test_what_is_no_ledger_is_not_merged(tmp_path, spoil, said):
    """Ours stays as it was, and no file is made."""
    ours, theirs = written(tmp_path / 'a', range(0, 3), ONE), written(tmp_path / 'b', range(0, 3), TWO)
    spoil(theirs)
    before, was = content(ours), theirs.exists()
    done = run('fleet', '--ledger', str(ours), '--merge', str(theirs))

    assert (done.code, said in done.text) == (3, True)
    assert (content(ours), theirs.exists()) == (before, was)


def test_a_damaged_row_is_not_merged(tmp_path):
    ours, theirs = written(tmp_path / 'a', range(0, 3), ONE), written(tmp_path / 'b', range(0, 3), TWO, THREE)
    with sqlite3.connect(theirs) as base:
        base.execute('UPDATE share SET seconds = 9e9 WHERE drive = 2')
    merged(ours, theirs)

    assert days(ours) == {'EXAMPLE1': 2, 'EXAMPLE2': 2}


# --- CSV -----------------------------------------------------------------------------------------------

@pytest.fixture(scope='module')
def tables(tmp_path_factory) -> Path:
    """A folder with drives.csv, the export of a ledger, and plan.csv."""
    folder = tmp_path_factory.mktemp('csv')
    site = Site(folder)
    bad = Bay('EXAMPLE3', model='=ACME', state='CRITICAL')
    for day in range(0, 30, 3):
        site.run(day, {'db1': [Bay('EXAMPLE1', hours=2400 + 24 * day), *([bad] if day < 9 else [])],
                       'db2': [Bay('EXAMPLE2', state='CRITICAL')]},
                 '--export', str(folder / 'drives.csv'), '--plan', str(folder / 'plan.csv'))
    return folder


def test_the_export_has_a_line_for_each_drive_and_how_it_ended(tables):
    """A model is never a formula; an age that no host told is empty."""
    with (tables / 'drives.csv').open() as lines:
        rows = [tuple(row.values()) for row in csv.DictReader(lines)]

    assert rows == [
        ("'=ACME", 'EXAMPLE3', 'A1', 'db1', '2027-01-15', '2027-01-21', '', '6.0', 'CRITICAL', 'failed'),
        ('ACME 1', 'EXAMPLE1', 'A1', 'db1', '2027-01-15', '2027-02-11', '127.0', '27.0', 'OK', ''),
        ('ACME 1', 'EXAMPLE2', 'A1', 'db2', '2027-01-15', '2027-02-11', '', '27.0', 'CRITICAL', '')]


def test_an_export_needs_no_source_and_can_hide_serial_numbers(tables, tmp_path):
    path = tmp_path / 'x.csv'

    assert run('fleet', '--ledger', str(tables / 'ledger'), '--export', str(path), '--hide-serial').code == 0
    assert 'EXAMPLE' not in path.read_text() and 'ACME 1,,A1' in path.read_text()
    assert '--export needs --ledger FILE' in run('fleet', '--export', str(path)).text


QUERIES = re.findall(r'```sql\n(.*?)```', GUIDE, re.DOTALL)
ANSWERS = [[('ACME 1', 'EXAMPLE2', 'db2', 'CRITICAL')], [('now', '1')],
           [('=ACME', 1, 1), ('ACME 1', 2, 0)]]


def plain(rows: list[tuple[Any, ...]]) -> list[tuple[str, ...]]:
    return [tuple(str(cell).lstrip("'") for cell in row) for row in rows]


def expected(rows: list[tuple[Any, ...]], answers: list[tuple[Any, ...]]) -> bool:
    return [row[:len(answer)] for row, answer in zip(plain(rows), plain(answers))] == plain(answers)


def test_the_guide_shows_three_queries():
    assert len(QUERIES) == 3


@pytest.mark.parametrize('number', range(3))
def test_sqlite_answers_the_queries_of_the_guide(tables, number):
    """After `.import --csv`, which makes a table of text."""
    with sqlite3.connect(':memory:') as base:
        for name in ('drives', 'plan'):
            with (tables / f'{name}.csv').open() as lines:
                head, *rows = csv.reader(lines)
            base.execute(f'CREATE TABLE {name} ({", ".join(f"{column} TEXT" for column in head)})')
            base.executemany(f'INSERT INTO {name} VALUES ({", ".join("?" * len(head))})', rows)
        rows = base.execute(QUERIES[number]).fetchall()

    assert expected(rows, ANSWERS[number]), rows


@pytest.mark.parametrize('number', range(3))
def test_duckdb_answers_the_queries_of_the_guide(tables, number, monkeypatch):
    """It reads the files as tables."""
    duckdb = pytest.importorskip('duckdb', reason='duckdb is not installed')
    monkeypatch.chdir(tables)
    query = re.sub(r'\bFROM (drives|plan)\b', r"FROM '\1.csv'", QUERIES[number])
    rows = duckdb.sql(query).fetchall()

    assert expected(rows, ANSWERS[number]), rows
