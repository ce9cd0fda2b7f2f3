"""Failure rates: exact intervals, and which models are reported; on measured disks and on a simulated year."""
from __future__ import annotations

import gzip
import json
import math
import random
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from fleet_days import BEGIN, DAY, Bay, Site

from smart_attributes.constants import HOUR, YEAR
from smart_attributes.fleet import ledger
from smart_attributes.fleet.comparison import Worse
from smart_attributes.fleet.ledger import NAMES, Cell, Rate, Record, Sighting
from smart_attributes.fleet.ledger_file import Ledger
from smart_attributes.model import State

STEP = 13 * DAY // HOUR    # hours from one run to the next


# --- intervals -----------------------------------------------------------------------------------------

# Source: Garwood (1936), table for 90 %; larger ones by the quantiles of the chi-squared distribution.
@pytest.mark.parametrize('failures, low, high', [
    (0, 0, 2.996), (1, 0.0513, 4.744), (2, 0.355, 6.296), (3, 0.818, 7.754), (5, 1.970, 10.513), (10, 5.425, 16.962),
    (20, 13.255, 29.062), (50, 38.965, 63.287)])
def test_an_interval_is_the_one_in_the_tables(failures, low, high):
    """To the digits that are printed there."""
    assert ledger.interval(failures) == pytest.approx((low, high), abs=0.0006)


@pytest.mark.parametrize('failures', [*range(1, 40), 100, 781, 3208])
def test_an_interval_leaves_out_five_percent_on_each_side(failures):
    """Counted with the Poisson distribution itself, term by term."""
    def at_most(count: int, mean: float) -> float:
        return math.fsum(math.exp(k * math.log(mean) - mean - math.lgamma(k + 1)) for k in range(count + 1))

    low, high = ledger.interval(failures)
    assert 1 - at_most(failures - 1, low) == pytest.approx(0.05, abs=1e-9)
    assert at_most(failures, high) == pytest.approx(0.05, abs=1e-9)


# --- what is reported ----------------------------------------------------------------------------------

def cell(model: str, years: float, failures: int, firmware: str = 'A1', band: int = 0) -> Cell:
    return Cell(model, firmware, band, round(years * YEAR), failures)


def test_without_failures_the_interval_begins_at_zero():
    """Exactly: a rest of the calculation would be shown as a rate."""
    assert ledger.interval(0)[0] == 0


def test_cells_are_added_up_by_model_in_the_order_of_names():
    """Of firmware and age bands; models that do not fail more often are not ranked."""
    cells = [cell('BIG', 2, 1, '', 5), cell('ACME', 10, 2), cell('ACME', 20, 3, band=1), cell('ACME', 30, 5, 'A2')]

    cells.append(Cell('BIG', '', 5, 0, 0, 1, 2))
    assert ledger.rates(cells, {'ACME': 50, 'BIG': 9}, {}) == [
        Rate('ACME', 50, 60, 10, 0, 40), Rate('BIG', 9, 2, 1, 2, 5)]
    assert (Rate('A', 1, 0, 0).rate, Rate('A', 1, 0, 0).interval) == (0, (0, math.inf))
    assert ledger.rates_as_json([Rate('A', 1, 0, 0)])[0]['high'] is None


@pytest.fixture(scope='module')
def bad_site(tmp_path_factory) -> Site:
    """One bad model of three: nine of its 40 drives fail within 100 days, one other drive does, and two vanish."""
    site = Site(tmp_path_factory.mktemp('site'))
    for day in range(0, 130, 5):
        hosts = {}
        for host in range(40):
            bays = [Bay(f'{model}{host:03}', model=model, hours=9000 + 24 * day)
                    for model in ('BAD 1', 'GOOD 1', 'GOOD 2')]
            dies = {'BAD 1': 10 * host + 10 if host < 9 else 999, 'GOOD 1': 50 if host == 20 else 999}
            hosts[f'db{host:02}'] = [bay._replace(state='CRITICAL' if day == dies.get(bay.model) else 'OK')
                                     for bay in bays if day <= dies.get(bay.model, 999)
                                     and not (bay.model == 'GOOD 2' and host > 37 and day > 60)]
        site.run(day, hosts, '--json')
    site.hosts = hosts
    return site


def test_a_bad_model_is_named_first_with_the_spare_drives_to_hold(bad_site):
    """In words at the end of the table and above the page, and in a table before the plan."""
    lines = bad_site.run(130, bad_site.hosts).text.splitlines()
    said = next(line for line in lines if line.startswith('note: '))

    assert said == ('note: BAD 1 fails more often than other models of the same age: 9 of 40 drives failed, 38 to '
                    '128 % a year; keep 10 spare drives for three months')
    place = lines.index('failures by model, and spare drives for three months:')
    assert lines[place + 1:place + 5] == [
        '  model   drives  drive-years  failures  vanished       a year  spares  why',
        '  BAD 1       31         12.3         9         0  38 to 128 %      10  more often than others',
        '  GOOD 1      39         14.0         1         0  0.4 to 34 %       3',
        '  GOOD 2      38         13.9         0         2  0.0 to 45 %       4']


def test_the_document_has_both_bounds_of_each_model(bad_site):
    """Of the failures alone, and as if all vanished drives had failed."""
    found = json.loads(bad_site.run(130, bad_site.hosts, '--json').text)
    bad, one, two = found['fleet']['rates']

    assert bad['percent'] == '38 to 128 %'
    assert {key: bad[key] for key in ('worse', 'compared_without', 'worse_firmware', 'spares', 'in_use')} == {
        'worse': True, 'compared_without': [], 'worse_firmware': [], 'spares': 10, 'in_use': 31}
    assert (one['model'], one['failures'], one['vanished'], one['worse']) == ('GOOD 1', 1, 0, False)
    assert (two['model'], two['failures'], two['vanished'], two['in_use']) == ('GOOD 2', 0, 2, 38)
    assert two['high_with_vanished'] > two['high']
    assert 'model-fails-more' in {note['code'] for note in found['notes']}
    assert found['state'] == 'OK'


def test_an_admin_reads_about_a_bad_model_first(bad_site, tmp_path):
    """Above all else on the page, in these words."""
    page = tmp_path / 'page.html'
    assert bad_site.run(130, bad_site.hosts, '--html', str(page)).code == 0
    text = page.read_text()

    places = [text.index(words) for words in ('BAD 1 fails more often than other models', 'id="drives"',
                                              'id="rates-title"', 'id="models-title"')]
    assert places == sorted(places)


def test_the_words_about_a_model_name_what_was_left_out_and_what_vanished():
    """A model that fails less often than the worst one may still fail more often than the rest."""
    rates = [Rate('BAD', 100, 300, 20, 3, 77, Worse(('WORSE',), (('A1', ()), ('A2', ('A1',))))),
             Rate('GOOD', 100, 300, 2, 1, 97), Rate('OLD', 9, 20, 25, 0, 9, Worse(None, (('B1', ()),)))]

    assert list(ledger.said(rates)) == [
        'BAD fails more often than other models of the same age (compared without WORSE): 20 of 100 drives failed, 4.4 '
        'to 11 % a year, with 3 vanished drives counted as failed; keep 3 spare drives for three months',
        'BAD with firmware A1 fails more often than with other firmware; update the firmware if the vendor has '
        'a newer version',
        'BAD with firmware A2 fails more often than with other firmware (compared without A1); update the '
        'firmware if the vendor '
        'has a newer version',
        'OLD with firmware B1 fails more often than with other firmware; update the firmware if the vendor has '
        'a newer version']


# --- measured disks ------------------------------------------------------------------------------------

class Life(NamedTuple):
    """A disk as it was measured."""

    number: str
    model: str
    begin: int         # power-on hours
    end: int
    has_failed: bool


@pytest.fixture(scope='module')
def lives(shared) -> list[Life]:
    """Every 40th of 52,320 hard disks."""
    found: dict[str, Life] = {}
    places: dict[str, int] = {}    # of all disks
    with gzip.open(shared / 'drives/timelines.csv.gz', 'rt') as lines:
        names = next(lines).split(',')[:5]
        for line in lines:
            number = line[:line.index(',')]
            if places.setdefault(number, len(places)) % 40 == 0:
                row = dict(zip(names, line.split(',')))
                begin, end = int(float(row['from'])), int(float(row['to']))
                known = found.get(number)
                found[number] = Life(number, row['model'], known.begin if known else begin, end, row['failed'] == '1')
    return list(found.values())


def sightings(life: Life) -> Iterator[tuple[int, Sighting]]:
    """Yield when a disk is seen, in seconds since its first hour, and as what."""
    hours = life.end - life.begin
    for hour in [*range(0, hours, STEP), hours]:
        is_bad = int(life.has_failed and hour == hours)
        yield hour * HOUR, Sighting(1, 1, State.CRITICAL if is_bad else State.OK, is_bad, BEGIN + hour * HOUR,
                                    (life.begin + hour) * HOUR)


def entered(lives: list[Life]) -> list[Cell]:
    """Return what a ledger counts of disks that each are a host of their own."""
    cells: dict[tuple[str, str, int], list[int]] = defaultdict(lambda: [0, 0])
    for life in lives:
        record = None
        for when, seen in sightings(life):
            record, shares = ledger.updated(record, seen, BEGIN + when)
            for share in shares:
                cells[life.model, '', share.band][0] += share.seconds
        assert record is not None
        has_failed = ledger.ending(record, record.listed + 8 * DAY) == ledger.FAILED
        cells[life.model, '', ledger.band(record.age)][1] += has_failed
    return [Cell(*key, *counts) for key, counts in cells.items()]


def counted(lives: list[Life]) -> dict[tuple[str, ...], tuple[int, int]]:
    """Return (hours, failures) by model, and by model and age band: added up from the data alone."""
    edges = [0, 8766, 17532, 26298, 43830, 10 ** 9]
    hours: Counter[tuple[str, ...]] = Counter()
    failures: Counter[tuple[str, ...]] = Counter()
    for life in lives:
        for name, low, high in zip(NAMES, edges, edges[1:]):
            hours[life.model, '', name] += max(min(life.end, high) - max(life.begin, low), 0)
            failures[life.model, '', name] += life.has_failed and low < life.end <= high
        hours[life.model,] += life.end - life.begin
        failures[life.model,] += life.has_failed
    return {name: (hours[name], failures[name]) for name in hours}


def test_rates_of_measured_disks_equal_the_data_to_the_digit(lives):
    """Every 40th disk is a host; its power-on hours are the time in which `fleet` runs."""
    cells = entered(lives)
    bands = {(each.model, '', NAMES[each.band]): (each.seconds, each.failures) for each in cells}
    found = {(each.model,): each for each in ledger.rates(cells, {}, {})}
    own = counted(lives)

    assert (len(lives), sum(each[1] for name, each in own.items() if len(name) == 1)) == (1_308, 88)
    for name, (hours, failures) in own.items():
        if hours and len(name) > 1:
            assert bands[name] == (pytest.approx(hours * HOUR, rel=1e-12), failures)
        elif hours:
            years = hours / 8766
            assert (found[name].years, found[name].failures) == (pytest.approx(years, rel=1e-12), failures), name
            low, high = ledger.interval(failures)
            assert found[name].interval == pytest.approx((low / years, high / years), rel=1e-12)


def test_the_file_of_a_ledger_counts_measured_disks_alike(lives, tmp_path):
    """Every 400th disk, through the file, in runs of all disks at once."""
    some = lives[::10]
    runs: dict[int, list[tuple[Life, Sighting]]] = defaultdict(list)
    for life in some:
        for when, seen in sightings(life):
            runs[when].append((life, seen))
            if seen.is_failing:
                runs[when + 8 * DAY].append((life, seen))
    path = str(tmp_path / 'ledger')
    for when in sorted(runs):
        book = Ledger(path, BEGIN + when)
        for life, seen in runs[when]:
            if seen.read == BEGIN + when:   # eight days later, its host is read without it
                book.add(life.model, f'DISK{life.number}', '', life.number, (seen.state, seen.is_failing, seen.read,
                                                                            seen.age))
        book.write({life.number for life, _ in runs[when]})
        book.close()
    book = Ledger(path, BEGIN)

    assert sorted(book.cells()) == sorted(entered(some))


# --- a simulated year ----------------------------------------------------------------------------------

HOSTS, BAYS = 25, 8


class Disk(NamedTuple):
    """A drive of the simulated site, and what an oracle knows about it."""

    serial: str | None
    model: str
    firmware: str
    hours: float       # power-on time on the first day
    dies: int          # day on which it is CRITICAL for the first time
    leaves: int        # day on which it is taken out


class Year:
    """A site with 25 hosts for a year. It keeps to a seed, and an oracle counts what is true."""

    def __init__(self, seed: int) -> None:
        self.chance = chance = random.Random(seed)
        self.names = [f'host{number}' for number in range(HOSTS)]
        self.ahead = {name: chance.choice([0, 0, 0, -0.5, 0.7, -40, 300]) for name in self.names}
        self.bays = [[self.disk(0) for _ in range(BAYS)] for _ in self.names]
        self.bays[0][0] = self.bays[1][0] = Disk('TWIN1', 'ACME 1', 'A1', 100, 999, 999)    # a shared enclosure
        for host in range(5):
            self.bays[host][1] = Disk('0000000000', 'ACME 2', 'A1', 100, 30, 60)            # a placeholder
            self.bays[host][2] = Disk(None, 'ACME 2', 'A1', 100, 30, 60)                    # a hidden serial number
        self.days: Counter[str] = Counter()          # true days between first and last run, by serial number
        self.first: dict[str, float] = {}
        self.failed: set[str] = set()

    def disk(self, day: int) -> Disk:
        dies = day + self.chance.randrange(20, 2000)
        leaves = (dies + self.chance.randrange(3, 20) if self.chance.random() < 0.7 else
                  day + self.chance.randrange(20, 900))
        return Disk(f'S{self.chance.randrange(10 ** 9):09}', f'ACME {self.chance.randrange(1, 4)}', 'A1',
                    self.chance.randrange(50_000), dies, leaves)

    def pass_to(self, day: int) -> None:
        """Replace drives, rename and merge hosts, update firmware, set clocks."""
        for bays in self.bays:
            for place, disk in enumerate(bays):
                if disk.leaves <= day:
                    if disk.serial and disk.dies <= disk.leaves and disk.serial in self.first:
                        self.failed.add(disk.serial)
                    bays[place] = self.disk(day)
        if day % 30 == 7:
            host = self.chance.randrange(len(self.names))
            old, new = self.names[host], f'{self.names[host]}x'
            self.names[host], self.ahead[new] = new, self.ahead.pop(old)
            self.ahead[self.chance.choice(self.names)] = self.chance.choice([0, 0.9, -1.5, -3, 20])
        if day % 60 == 11:     # two hosts become one
            merged = self.bays.pop()
            self.ahead.pop(self.names.pop())
            self.bays[self.chance.randrange(10, len(self.bays))] += merged
        if day % 90 == 13:
            self.bays = [[disk._replace(firmware='A2') for disk in bays] for bays in self.bays]

    def hosts(self, day: int) -> dict[str, list[Bay]]:
        for disk in (disk for bays in self.bays for disk in bays if disk.serial):
            self.first.setdefault(disk.serial, day)
            self.days[disk.serial] = day - self.first[disk.serial]
        return {name: [Bay(disk.serial, 'CRITICAL' if disk.dies <= day else 'OK', disk.model, disk.firmware,
                           disk.hours + day * 24) for disk in bays] for name, bays in zip(self.names, self.bays)}


@pytest.mark.parametrize('seed', [pytest.param(0, marks=pytest.mark.long), 2])    # 6 seconds each
def test_a_year_of_a_restless_site_counts_no_day_too_many_and_no_failure_twice(tmp_path, seed):
    """Renamed and merged hosts, twins, placeholders, hidden serial numbers, gaps, and clocks that are wrong."""
    site, year = Site(tmp_path), Year(seed)
    gaps = [range(100, 120), range(200, 245)]
    for day in range(365):
        year.pass_to(day)
        if any(day in gap for gap in gaps) or day % 3:
            continue
        hosts = year.hosts(day)
        clock = {150: 400, 151: 401, 160: 155, 170: -5000}.get(day, day) if seed == 2 else day
        site.run(clock, hosts, '--json', read={name: clock + year.ahead[name] for name in hosts})
    counted: Counter[str] = Counter()
    with sqlite3.connect(site.ledger) as base:
        counted.update({serial: seconds / DAY for serial, seconds in base.execute(
            'SELECT serial, sum(seconds) FROM drive JOIN share ON share.drive = drive.number GROUP BY 1')})
        records = {serial: (Record(*record), whole) for whole, _, _, serial, *record, _ in base.execute(
            'SELECT whole, drive.* FROM drive LEFT JOIN host ON host.name = drive.host')}
    failed = {serial for serial, (record, whole) in records.items() if ledger.ending(record, whole) == ledger.FAILED}
    true_days = {serial: days for serial, days in year.days.items() if ledger.identifies(serial)}
    print(f'\n{sum(counted.values()):.0f} of {sum(true_days.values()):.0f} drive-days; {len(failed)} of '
          f'{len(year.failed)} failures')

    assert [serial for serial, days in counted.items() if days > true_days[serial] + 1e-6] == []
    assert set(records) == set(true_days)
    assert failed <= year.failed
    assert sum(cell.failures for cell in site.cells()) == len(failed)
    assert sum(counted.values()) > 0.6 * sum(true_days.values())
    assert len(failed) > 0.5 * len(year.failed)
