"""The ledger of a fleet: drive-time, endings and its file, by the command line and case by case."""
from __future__ import annotations

import json
import os
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, run
from fleet_days import BEGIN, DAY, Bay, Site

from smart_attributes.constants import YEAR
from smart_attributes.fleet import ledger, ledger_file, plugin_output, services
from smart_attributes.fleet.ledger import FAILED, RETIRED, UNKNOWN, Record, Share, Sighting
from smart_attributes.fleet.ledger_file import Bookkeeper, Ledger, LedgerUnusable
from smart_attributes.fleet.plugin_output import FleetDrive
from smart_attributes.knowledge.drive_database import SpecDatabase
from smart_attributes.model import State
from smart_attributes.output.packed_document import Packer

NOW = 1_800_000_000
RECORD = Record(1, 1, 0, NOW, NOW, NOW, NOW, None, State.OK, 0, None)
SEEN = Sighting(1, 1, State.OK, 0, NOW, None)


@pytest.fixture
def site(tmp_path) -> Site:
    return Site(tmp_path)


# --- drive-time ----------------------------------------------------------------------------------------

def followed(*sightings: Any) -> float:
    """Return the drive-time in days after sightings: the day of each run, or with the day of the result."""
    record, seconds = None, 0
    for each in sightings:
        day, read = each if isinstance(each, tuple) else (each, each)
        record, shares = ledger.updated(record, SEEN._replace(read=NOW + round(read * DAY)), NOW + round(day * DAY))
        seconds += sum(share.seconds for share in shares)
    return seconds / DAY


@pytest.mark.parametrize('sightings, days', [
    ((0,), 0), ((0, 1), 1), ((0, 1, 2.5), 2.5), ((0, 14), 14),
    ((0, 15), 0), ((0, 7, 40, 45), 12),                           # months without a run
    ((0, (1, 0.9), (2, 1.9)), 1.9),                               # as far as results reach
    (((0, -1), (1, 0.5), (1.5, 0.5), (2, 1.8)), 1.8),             # one result read twice, and one from before the run
    ((0, (5, 0.2), (9, 8.9)), 8.9),                               # an old result counts when a new one comes
    ((0, (5, 9), (9, 9)), 9),                                     # a result from the future is one of now
    ((0, 10, 5, 6, 12), 12), ((0, 3, 1, 3, 1, 3), 3),             # the clock goes back and forth: each day counts once
    ((0, 1, 900, 2, 3, 4), 3),                                    # one run in a wrong year
    ((0, 1, 900, 901, 2, 3, 4), 4),                               # two runs there
    ((0, 1, -9000, 2, 3), 2),                                     # a clock without a battery
    ((0, 1, 1, 1, 2), 2)])
def test_a_day_counts_once_and_only_between_two_results(sightings, days):
    """A rate is failures per drive-time, so time that nobody saw must not make a model look reliable."""
    assert followed(*sightings) == pytest.approx(days, abs=0.001)


@pytest.mark.parametrize('age, expected', [
    (None, [(ledger.UNKNOWN_AGE, 10)]), (0.5, [(0, 10)]), (1, [(0, 10)]), (1 + 4 * DAY / YEAR, [(1, 4), (0, 6)]),
    (10 * DAY / YEAR, [(0, 10)]), (4.5, [(3, 10)]), (5 + 1 * DAY / YEAR, [(4, 1), (3, 9)]), (90, [(4, 10)])])
def test_drive_time_is_divided_where_an_age_band_ends(age, expected):
    """So rates by age are exact, however rarely `fleet` runs."""
    seen = SEEN._replace(read=NOW + 10 * DAY, age=None if age is None else round(age * YEAR))
    _, shares = ledger.updated(RECORD, seen, NOW + 10 * DAY)

    ends = accumulate((days for _, days in expected), initial=0)
    assert shares == [Share(1, band, State.OK, days * DAY, (NOW + (10 - end - days) * DAY) // DAY)
                      for (band, days), end in zip(expected, ends)]


def test_the_newest_of_two_results_counts():
    """A host that is off, or an enclosure that two hosts share: each run lists the drive twice."""
    known = RECORD._replace(last=NOW - DAY, until=NOW - DAY, listed=NOW - DAY)
    record, shares = ledger.updated(known, SEEN, NOW)
    older = SEEN._replace(read=NOW - 600, state=State.CRITICAL, is_failing=1, host=2)

    assert sum(share.seconds for share in shares) == DAY
    assert ledger.updated(record, older, NOW) == (record, ())


KNOWN = Record(1, 2, 3, NOW - 90 * DAY, NOW - DAY, NOW - DAY, NOW - DAY, 5000, State.OK, 0, None)


@pytest.mark.parametrize('seen, changed, seconds', [
    ({}, {'last': NOW, 'until': NOW}, DAY),
    ({'read': NOW - 60}, {'last': NOW - 60, 'until': NOW - 60}, DAY - 60),
    ({'read': NOW - DAY + 1}, {'last': NOW - DAY + 1, 'until': NOW - DAY + 1}, 1),
    ({'read': NOW - DAY}, {}, 0), ({'read': NOW - 2 * DAY}, {}, 0),        # read before the last run
    ({'host': 7}, {'last': NOW, 'until': NOW, 'host': 7, 'former': 2}, DAY),
    ({'firmware': 8, 'age': 9000}, {'last': NOW, 'until': NOW, 'firmware': 8, 'age': 9000}, DAY),
    ({'state': State.CRITICAL, 'is_failing': 1}, {'last': NOW, 'until': NOW, 'state': State.CRITICAL, 'is_failing': 1},
     DAY),
    ({'state': State.UNKNOWN, 'is_failing': 1}, {'last': NOW, 'until': NOW}, DAY)])     # not read: as it was before
def test_a_record_is_that_of_the_last_sighting(seen, changed, seconds):
    """A drive that cannot be read keeps its state, one without a power-on time its age."""
    record, shares = ledger.updated(KNOWN, Sighting(1, 2, State.OK, 0, NOW, None)._replace(**seen), NOW)

    assert record == KNOWN._replace(listed=NOW, **changed)
    assert sum(share.seconds for share in shares) == seconds


@pytest.mark.parametrize('known, read, changed, seconds', [
    ({'last': NOW - 5 * DAY}, 2 * DAY, {'last': NOW - 2 * DAY, 'until': NOW - DAY}, 0),   # as old as may be
    ({'last': NOW - 5 * DAY}, 2 * DAY + 1, {}, 0),                                        # too old to count
    ({'last': NOW - DAY, 'until': NOW + DAY}, 0, {'last': NOW}, 0),                       # counted by a clock ahead
    ({'until': NOW + ledger.GAP}, 0, {'last': NOW}, 0),
    ({'until': NOW + ledger.GAP + 1}, 0, {'last': NOW, 'until': NOW}, DAY),               # that clock was wrong
    ({'until': NOW + ledger.GAP + 1}, 3 * DAY, {'until': 0}, 0),
    ({'last': NOW + DAY}, 0, {'last': NOW}, 0),
    ({'ended': RETIRED}, 0, {'last': NOW, 'until': NOW}, DAY)])
def test_a_record_depends_on_the_one_before(known, read, changed, seconds):
    before = KNOWN._replace(**known)
    record, shares = ledger.updated(before, Sighting(1, 2, State.OK, 0, NOW - read, None), NOW)

    assert record == before._replace(listed=NOW, **changed)
    assert sum(share.seconds for share in shares) == seconds


def test_a_new_drive_has_a_record_and_no_drive_time():
    """Its host may have read it before."""
    assert ledger.updated(None, Sighting(5, 6, State.CRITICAL, 1, NOW - 60, 7200), NOW) == (
        Record(5, 6, 0, NOW, NOW, NOW, NOW, 7200, State.CRITICAL, 1, None), ())


def test_one_result_on_two_hosts_is_that_of_the_first():
    """Both read the drive of a shared enclosure in the same second."""
    known = KNOWN._replace(last=NOW, listed=NOW)

    assert ledger.updated(known, SEEN._replace(host=9), NOW) == (known, ())


@pytest.mark.parametrize('serial, identifies', [
    ('EXAMPLE0001', True), ('ABAB', True), ('ABC', False), ('', False), ('000', False),
    ('0000000000', False), ('        ', False)])
def test_a_placeholder_identifies_no_drive(serial, identifies):
    """Many drives share it."""
    assert ledger.identifies(serial) is identifies


# --- endings -------------------------------------------------------------------------------------------

@pytest.mark.parametrize('days, is_failing, ended, ending', [
    (1, 1, None, None), (7, 1, None, None), (8, 1, None, FAILED), (8, 0, None, UNKNOWN), (None, 1, None, None),
    (-900, 1, None, None), (8, 1, RETIRED, RETIRED), (8, 1, UNKNOWN, UNKNOWN), (0, 0, FAILED, FAILED)])
def test_gone_alone_is_never_failed(days, is_failing, ended, ending):
    """A drive that was sold, moved or is on a host that is off must not count against its model."""
    record = RECORD._replace(is_failing=is_failing, ended=ended)

    assert ledger.ending(record, None if days is None else NOW + days * DAY) == ending


@pytest.mark.parametrize('state, action, is_failing', [
    ('CRITICAL', 'replace', True), ('CRITICAL', 'cooling', False),
    ('CRITICAL', 'cable', False),
    ('CRITICAL', 'firmware', False), ('WARNING', 'replace', False), ('UNKNOWN', '', False)])
def test_heat_is_no_failure_of_the_drive(state, action, is_failing):
    """Nor are its cable and its firmware."""
    assert ledger.is_failing({'state': state, 'action': action}) is is_failing


OTHER = Bay('SERIAL9')
BAD = Bay(state='CRITICAL')
ENDINGS = {
    'replaced while critical': ([{'db1': [BAD, OTHER]}, {'db1': [Bay('SERIAL2'), OTHER]}], 1),
    'gone while critical': ([{'db1': [BAD, OTHER]}, {'db1': [OTHER]}], 1),
    'gone while unreadable after critical': (
        [{'db1': [BAD, OTHER]}, {'db1': [Bay(state='UNKNOWN'), OTHER]}, {'db1': [OTHER]}], 1),
    'gone while ok': ([{'db1': [Bay(), OTHER]}, {'db1': [OTHER]}], 0),
    'gone while unread': ([{'db1': [BAD, OTHER]}, {'db1': [OTHER, Bay(None, 'UNKNOWN', '')]}], 1),
    'gone with its host': ([{'db1': [BAD, OTHER], 'db2': [Bay('SERIAL8')]}, {'db2': [Bay('SERIAL8')]}], 0),
    'moved': ([{'db1': [BAD, OTHER], 'db2': []}, {'db1': [OTHER], 'db2': [BAD]}], 0),
    'back again': ([{'db1': [BAD, OTHER]}, {'db1': [OTHER]}, {'db1': [Bay(), OTHER]}], 0),
    'back, then gone': ([{'db1': [BAD, OTHER]}, {'db1': [OTHER]}, {'db1': [BAD, OTHER]}, {'db1': [OTHER]}], 1),
    'on a renamed host': ([{'db1': [BAD, OTHER]}, {'new1': [BAD, OTHER]}, {'new1': [OTHER]}], 1),
    'a twin remains': ([{'db1': [BAD, OTHER], 'db2': [Bay()]}, {'db1': [OTHER], 'db2': [Bay()]}], 0),
    'a host that hides serial numbers': ([{'db1': [BAD, OTHER]}, {'db1': [BAD._replace(serial=None)]}], 0),
}


@pytest.mark.parametrize('name', ENDINGS)
def test_a_failure_is_a_drive_that_left_its_host_while_failing(site, name):
    """Each case lasts ten days in daily runs."""
    stages, failures = ENDINGS[name]
    for number, hosts in enumerate(stages):
        for day in range(10):
            site.run(number * 10 + day, hosts)

    assert site.failures == failures


def test_a_check_that_was_not_complete_ends_no_drive(site):
    """A host whose check reports a fault of its own may have more drives."""
    site.run(0, {'db1': [BAD, OTHER]})
    for day in range(1, 20):
        site.run(day, {'db1': [OTHER]}, notes=[{'code': 'timeout', 'text': 'no answer', 'state': 'UNKNOWN'}])
    assert site.failures == 0
    for day in range(20, 30):
        site.run(day, {'db1': [OTHER]}, notes=[{'code': 'drive-gone', 'text': 'SERIAL1 is gone', 'state': 'CRITICAL'}])
    assert site.failures == 1


def test_a_host_that_is_not_read_any_more_ends_no_drive(site):
    """Its last document stays in the folder and gets old."""
    site.run(0, {'db1': [BAD, OTHER]})
    for day in range(1, 20):
        site.run(day, {'db1': [OTHER]}, read={'db1': 1})

    assert site.failures == 0


def test_a_host_with_a_result_that_could_not_be_read_ends_no_drive(site):
    """Its drives may be in that result."""
    facts = {'model': 'ACME', 'firmware': '', 'state': 'CRITICAL'}
    drives = [FleetDrive({**facts, 'host': host, 'serial': f'SERIAL{host}'}, list, read=BEGIN)
              for host in ('db1', 'db2', 'db3')]
    books = Bookkeeper(str(site.ledger), BEGIN)
    for drive in drives:
        books.add(drive)
    books.close({'db2'}, False)
    with sqlite3.connect(site.ledger) as base:
        hosts = {host for host, in base.execute('SELECT text FROM host JOIN name ON name.number = host.name')}

    assert (hosts, books.notes) == ({'db1', 'db3'}, [])


def drive(host: str = 'db1', age: Any = None, read: float = BEGIN, **facts: Any) -> FleetDrive:
    return FleetDrive({'model': 'ACME', 'serial': 'SERIAL1', 'firmware': 'A1', 'state': 'OK', 'host': host, **facts},
                      list, read=read, age=age)


def booked(site: Site, *drives: FleetDrive, unread: Any = ()) -> Any:
    """Enter drives; return them as they are in the ledger, the hosts that were read as a whole, and the notes."""
    books = Bookkeeper(str(site.ledger), BEGIN)
    for each in drives:
        books.add(each)
    books.close(set(unread), False)
    with sqlite3.connect(site.ledger) as base:
        rows = base.execute('SELECT one.text, serial, two.text, state, is_failing, age FROM drive '
                            'JOIN name one ON one.number = model JOIN name two ON two.number = firmware').fetchall()
        hosts = {host for host, in base.execute('SELECT text FROM host JOIN name ON name.number = host.name')}
    return rows, hosts, [(note.code, str(note)) for note in books.notes]


@pytest.mark.parametrize('facts, row', [
    ({}, ('ACME', 'SERIAL1', 'A1', 0, 0, None)), ({'firmware': None}, ('ACME', 'SERIAL1', '', 0, 0, None)),
    ({'state': 'CRITICAL', 'action': 'replace', 'age': 7200.4}, ('ACME', 'SERIAL1', 'A1', 2, 1, 7200)),
    ({'state': 'CRITICAL', 'action': 'cable'}, ('ACME', 'SERIAL1', 'A1', 2, 0, None)),
    ({'age': 0}, ('ACME', 'SERIAL1', 'A1', 0, 0, 0)), ({'age': 0.6}, ('ACME', 'SERIAL1', 'A1', 0, 0, 1)),
    ({'age': -1}, ('ACME', 'SERIAL1', 'A1', 0, 0, None)),
    ({'age': 100 * YEAR}, ('ACME', 'SERIAL1', 'A1', 0, 0, 100 * YEAR)),
    ({'age': 100 * YEAR + 1}, ('ACME', 'SERIAL1', 'A1', 0, 0, None)),      # damaged
    ({'model': 'M' * 81, 'serial': 'S1' * 41, 'firmware': 'F' * 81}, ('M' * 80, 'S1' * 40, 'F' * 80, 0, 0, None))])
def test_a_drive_is_entered_with_what_its_host_says(site, facts, row):
    """Words of any length, and a power-on time of up to a century."""
    assert booked(site, drive(**facts)) == ([row], {'db1'}, [])


@pytest.mark.parametrize('drives, hosts, count', [
    ([drive(serial=None)], set(), 1), ([drive(serial='0000')], set(), 1), ([drive(), drive(serial='')], set(), 1),
    ([drive(serial=''), drive(serial=None), drive()], set(), 2),
    ([drive(model='', serial=None, state='UNKNOWN')], {'db1'}, 0),    # may be the one that died
    ([drive(model='', serial=None), drive()], {'db1'}, 0), ([drive('db1', serial=None), drive('db2')], {'db2'}, 1),
    ([drive(is_check=True, state='UNKNOWN'), drive(model='', serial=None)], set(), 0),
    ([drive(), drive(is_check=True, state='OK')], {'db1'}, 0),
    ([drive(), drive(is_check=True, state='CRITICAL', code='drive-gone')], {'db1'}, 0),
    ([drive(), drive(is_check=True, state='CRITICAL', code='timeout')], set(), 0),
    ([drive(), drive(is_check=True, state='CRITICAL')], set(), 0),
    ([drive(is_check=True, state='UNKNOWN'), drive()], set(), 0),
    ([drive(read=BEGIN - ledger.OLD)], {'db1'}, 0), ([drive(read=BEGIN - ledger.OLD - 1)], set(), 0),
    ([drive('db3')], set(), 0)])
def test_a_host_is_read_as_a_whole_if_no_drive_of_it_can_be_another_one(site, drives, hosts, count):
    """Else a drive that is not in the result could be there all the same."""
    _, found, notes = booked(site, *drives, unread={'db3'})
    said = f'{count} drive{"s" * (count > 1)} without a serial number of their own: the ledger does not contain them'

    assert (found, notes) == (hosts, [('serials-unusable', said)] * bool(count))


def test_without_a_ledger_nothing_is_entered_and_nothing_is_missing():
    books = Bookkeeper('', BEGIN)
    books.add(drive())
    books.close(set(), True)

    assert (books.notes, books.rates, books.is_whole) == ([], [], True)


def test_a_run_that_the_time_limit_ended_is_not_in_the_ledger(site):
    """Drives that it did not read would be gone."""
    site.run(0, {'db1': [OTHER]})
    before = site.ledger.read_bytes()
    books = Bookkeeper(str(site.ledger), BEGIN + DAY)
    books.close(set(), True)

    assert books.notes == ['ledger: the time limit was reached; increase it with -t; this run is not in the ledger']
    assert (books.is_whole, site.ledger.read_bytes()) == (False, before)


def test_a_disk_that_fills_up_while_drives_are_read_is_one_sentence(site, monkeypatch):
    """The fleet is shown all the same, and the sentence is not repeated for each drive."""
    site.run(0, {'db1': [OTHER]})
    monkeypatch.setattr(ledger_file, 'BATCH', 1)
    monkeypatch.setitem(ledger_file.SQL, 'collecting', ['SELECT 1'])
    done = site.run(1, {'db1': [OTHER, Bay()]})

    assert (done.code, done.text.count('this run is not in the ledger')) == (3, 1)
    assert '2 drives on 1 host: 2 ok' in done.text


def test_a_drive_that_cannot_be_entered_is_one_note_with_its_reason(site, monkeypatch):
    monkeypatch.setattr(ledger_file, 'BATCH', 1)
    monkeypatch.setitem(ledger_file.SQL, 'collecting', ['SELECT 1'])
    books = Bookkeeper(str(site.ledger), BEGIN)
    for serial in ('SERIAL1', 'SERIAL2'):
        books.add(drive(serial=serial))

    assert books.notes == [f'ledger {site.ledger}: it is not a ledger, or is damaged; to start a new one, move it '
                           'away; this run is not in the ledger']


def test_the_age_of_a_drive_comes_from_perfdata_too():
    """Only with a ledger is it read for every drive."""
    text = services.plugin_text('SMART OK - 1 drive: 1 ok\n'
                                'OK        sda  ACME 1  endurance_used 1 %  SERIAL1  firmware 1')
    metrics = SpecDatabase(json.loads((ROOT / 'attributes.json').read_text())).metrics
    ages = [plugin_output.Reader(metrics, Packer(), always).drives(
        text.lines, ["'sda_power_on_time'=10800s;;;0;"], plugin_output.Origin('db1', now=BEGIN, elapsed=60))
        for always in ((plugin_output.WEAR,), (plugin_output.WEAR, plugin_output.AGE))]

    assert [[(each.age, each.read) for each in found] for found in ages] == [
        [(None, BEGIN - 60)], [(10800, BEGIN - 60)]]


def test_a_person_records_how_drives_ended(site):
    """Only a person knows that a drive was replaced early, or that a CRITICAL one was sold."""
    site.run(0, {'db1': [BAD, OTHER]})
    one = run('fleet', '--ledger', str(site.ledger), '--ended', 'SERIAL9=failed', '--ended', 'SERIAL1=retired')
    assert (one.code, one.text) == (0, 'recorded: ACME 1 SERIAL9 failed\nrecorded: ACME 1 SERIAL1 retired\n')

    for day in range(1, 12):
        site.run(day, {'db1': [Bay('SERIAL7')]})
    assert site.failures == 1
    assert run('fleet', '--ledger', str(site.ledger), '--ended', 'SERIAL9=unknown').code == 0
    assert site.failures == 0


@pytest.mark.parametrize('words, said', [
    (['--ended', 'NOBODY=failed'], 'has no drive with the serial number NOBODY'),
    (['--ended', 'SERIAL1=failed'], 'has 2 drives with the serial number SERIAL1'),
    (['--ended', 'SERIAL1=gone'], '"SERIAL1=gone" is not SERIAL=HOW; choose HOW from failed, retired, unknown'),
    (['--ended', '=failed'], 'is not SERIAL=HOW')])
def test_an_ending_of_no_known_drive_is_refused(site, words, said):
    """With a sentence."""
    site.run(0, {'db1': [Bay(), Bay(model='ACME 2')]})
    done = run('fleet', '--ledger', str(site.ledger), *words)

    assert done.code == 3
    assert said in done.text
    assert '--ended needs --ledger FILE' in run('fleet', '--ended', 'SERIAL1=failed').text


# --- the file ------------------------------------------------------------------------------------------

def test_drives_without_a_serial_number_are_only_counted(site):
    """Nothing follows them from one run to the next."""
    done = site.run(0, {'db1': [Bay(None), Bay('0000000')], 'db2': [Bay(None)]})
    site.run(1, {'db1': [Bay(None), Bay('0000000')], 'db2': [Bay(None)]})

    assert '3 drives without a serial number of their own: the ledger does not contain them' in done.text
    assert site.cells() == []


def test_twins_count_as_one_drive(site):
    """A shared enclosure is read by two hosts."""
    for day in range(5):
        site.run(day, {'db1': [Bay()], 'db2': [Bay()], 'db3': [Bay(), Bay()]})

    assert site.days == 4
    assert json.loads(site.run(5, {'db1': [Bay()]}, '--json').text)['fleet']['rates'][0]['drives'] == 1


def damaged(path) -> None:
    content = bytearray(path.read_bytes())
    content[4096:] = b'\xa5' * (len(content) - 4096)
    path.write_bytes(content)


def newer(path) -> None:
    with sqlite3.connect(path) as base:
        base.execute('PRAGMA user_version = 7')


def foreign(path) -> None:
    path.unlink()
    with sqlite3.connect(path) as base:
        base.execute('CREATE TABLE theirs (a)')


SPOILED = {
    'damaged': (damaged, 'is damaged; to start a new one, move it away'),
    'truncated': (lambda path: os.truncate(path, 5000), 'is damaged; to start a new one, move it away'),
    'newer': (newer, 'is from a newer version of this program (tables 7, here 3); upgrade this program'),
    'foreign': (foreign, 'is not a ledger; use another path'),
    'text': (lambda path: path.write_text('a page of drives\n' * 99), 'it is not a ledger, or is damaged'),
    'a pipe': (lambda path: (path.unlink(), os.mkfifo(path)), 'is not a regular file'),
    'a folder': (lambda path: (path.unlink(), path.mkdir()), 'Is a directory; use a path in a directory that'),
    'a link': (lambda path: (path.rename(f'{path}.x'), path.symlink_to(f'{path}.x')), 'Too many levels of symbolic'),
    'older': (lambda path: sqlite3.connect(path).execute('PRAGMA user_version = 1').close(), 'or is damaged; to start'),
    'no table': (lambda path: sqlite3.connect(path).execute('DROP TABLE share').close(), 'is damaged')}


@pytest.mark.parametrize('change', [
    "UPDATE drive SET last = 'x' WHERE number = 1", 'UPDATE drive SET state = 1 - state WHERE number = 1',
    'UPDATE share SET seconds = seconds + 1 WHERE drive = 1', "UPDATE drive SET ended = 'failed' WHERE number = 1",
    "UPDATE name SET text = 'ACMF 1' WHERE text = 'ACME 1'"])
def test_a_damaged_row_costs_its_drive_only(change, tmp_path):
    """It is counted anew, and a note says so; the others keep their time."""
    path = filled(tmp_path / 'ledger')
    with sqlite3.connect(path) as base:
        base.execute(change)
    base.close()
    book = Ledger(str(path), BEGIN + 30 * DAY)

    assert book.lost == 1
    assert sorted(cell.seconds for cell in book.cells()) == [20 * DAY] * 9


def filled(path) -> Path:
    """Return a ledger of ten drives, each of its own model, seen for twenty days."""
    for day in (0, 10, 20):
        book = Ledger(str(path), BEGIN + day * DAY)
        for number in range(1, 11):
            book.add(f'ACME {number}', f'EXAMPLE{number}', 'A1', 'db1', (0, 0, BEGIN + day * DAY, 9 * YEAR))
        book.write({'db1'})
        book.close()
    return path


def flips(count: int, seed: int, folder: Path) -> list[str]:
    """Flip bits of a ledger, or whole bytes; return each that changed a record in silence."""
    dice, silent = random.Random(seed), []
    whole = filled(folder / 'whole').read_bytes()
    for number in range(count):
        content, place = bytearray(whole), dice.randrange(100, len(whole))
        content[place] ^= 1 << dice.randrange(8) if number % 2 else dice.randrange(1, 256)
        path = folder / 'flipped'
        path.write_bytes(content)
        try:
            book = Ledger(str(path), BEGIN + 30 * DAY)
            found = sorted(book.cells()), book.lost
            book.close()
        except LedgerUnusable:
            continue
        right = [cell for cell in sorted(Ledger(str(folder / 'whole'), BEGIN + 30 * DAY).cells()) if cell in found[0]]
        if found[0] != right or 10 - len(found[0]) != found[1]:
            silent.append(f'byte {place} of {len(whole)}: {found[1]} drives lost, {len(found[0])} models')
    return silent


def test_no_flipped_bit_changes_a_record_in_silence(tmp_path):
    """`make flips` tries 600."""
    assert flips(60, 7, tmp_path) == []


@pytest.mark.parametrize('name', SPOILED)
def test_a_fleet_is_shown_without_its_ledger(site, name):
    """One sentence, no rate, and the file is left as it is for a person."""
    for day in range(3):
        site.run(day, {'db1': [BAD, OTHER]})
    spoil, said = SPOILED[name]
    spoil(site.ledger)
    before = site.ledger.read_bytes() if site.ledger.is_file() else b''
    done = site.run(3, {'db1': [BAD, OTHER]})

    assert done.code == 3
    [note] = [line for line in done.text.splitlines() if line.startswith('note: ')]
    assert said in note
    assert '2 drives on 1 host: 1 critical, 1 ok' in done.text
    assert 'annualized' not in done.text
    assert (site.ledger.read_bytes() if site.ledger.is_file() else b'') == before


def test_each_damaged_page_is_noticed(site):
    """Also one that this run does not need, since the next one may."""
    site.run(0, {f'db{host}': [Bay(f'SERIAL{host}X{number}') for number in range(24)] for host in range(20)})
    whole = site.ledger.read_bytes()
    for start in range(4096, len(whole), 4096):
        site.ledger.write_bytes(whole[:start] + b'\xa5' * 4096 + whole[start + 4096:])
        with pytest.raises(LedgerUnusable, match='is damaged; to start a new one, move it away'):
            Ledger(str(site.ledger), BEGIN)


def test_only_its_owner_can_read_a_ledger(site):
    """It has serial numbers."""
    site.run(0, {'db1': [OTHER]})

    assert site.ledger.stat().st_mode & 0o777 == 0o600


def test_a_folder_that_cannot_be_written_is_one_sentence(site):
    """As is a folder that does not exist."""
    site.ledger = site.folder / 'missing/ledger'
    done = site.run(0, {'db1': [OTHER]})

    assert done.code == 3
    assert 'No such file or directory; use a path in a directory that you can write to' in done.text


@pytest.mark.parametrize('room', range(4096, 80_000, 8_192))
def test_on_a_full_disk_the_ledger_stays_as_it_was(site, room, tmp_path):
    """The limit on the size of a file stands in for it: SQLite reports both alike."""
    site.run(0, {'db1': [OTHER]})
    hosts = {f'db{host}': [Bay(f'SERIAL{host}X{number}', firmware='F' * 50) for number in range(24)]
             for host in range(30)}
    child = os.fork()
    if not child:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
        code = 9
        try:
            book = Ledger(str(site.ledger), BEGIN + DAY)
            for host, bays in hosts.items():
                for bay in bays:
                    book.add(bay.model, bay.serial or '', bay.firmware, host, (0, 0, BEGIN + DAY, None))
            book.write(set(hosts))
        except LedgerUnusable as error:
            code = 7 if 'disk' in str(error) or 'system cannot' in str(error) else 8
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7

    for day in (1, 2):
        assert site.run(day, {'db1': [OTHER]}).code == 0
    assert site.days == 2


# The arguments are the folder of the package, the ledger, and the time of each run.
WRITES = '''
import sys
sys.path.insert(0, sys.argv[1])
from smart_attributes.fleet.ledger_file import Ledger
for now in map(int, sys.argv[3:]):
    book = Ledger(sys.argv[2], now)
    for host in range(10):
        for number in range(24):
            book.add("ACME 1", f"SERIAL{host}X{number}", "A1", f"db{host}", (0, 0, now, None))
    print(flush=True)
    book.write({"db1"})
    book.close()
'''


def writing(site, *days):
    """Start a process that enters 240 drives on each of these days; it prints a line before it writes."""
    times = [str(BEGIN + day * DAY) for day in days]
    return subprocess.Popen([sys.executable, '-c', WRITES, str(ROOT), str(site.ledger), *times],
                            stdout=subprocess.PIPE)


def test_a_killed_run_leaves_the_ledger_whole_and_the_next_one_goes_on(site):
    """SIGKILL at twenty moments of a run; whatever it wrote, it wrote all of it or nothing."""
    hosts = {f'db{host}': [Bay(f'SERIAL{host}X{number}') for number in range(24)] for host in range(10)}
    site.run(0, hosts)
    for turn in range(20):
        child = writing(site, 1)
        assert child.stdout and child.stdout.readline()
        time.sleep(turn * 0.001)
        child.kill()
        child.wait()
        child.stdout.close()
        assert round(site.days, 3) in (0, 240)
    site.run(2, hosts)
    assert site.days == 480


def test_two_runs_at_once_count_each_day_once(site):
    """An hourly run and one by hand."""
    hosts = {f'db{host}': [Bay(f'SERIAL{host}X{number}') for number in range(24)] for host in range(10)}
    site.run(0, hosts)
    children = [writing(site, *range(1, 6)) for _ in range(3)]

    assert [child.wait() for child in children] == [0, 0, 0]
    assert site.days <= 5 * 240
    assert site.days >= 4 * 240


def test_a_year_of_a_restless_drive_takes_about_a_kilobyte(site):
    """It changes its state, its host and its firmware all the time; 365 runs."""
    drives = 40
    for day in range(365):
        book = Ledger(str(site.ledger), BEGIN + day * DAY)
        for number in range(drives):
            turn = day + number
            book.add('ACME 1', f'EXAMPLE000000{number:04}', f'A{turn % 3}', f'host-{turn % 7}.example.org',
                     (turn % 4, int(turn % 4 == 2), BEGIN + day * DAY, turn * DAY * 5))
        book.write({f'host-{number}.example.org' for number in range(7)})
        book.close()

    tables = 12 * 4096     # of an empty ledger, and pages that are not full
    assert (site.ledger.stat().st_size - tables) / drives <= 1100
