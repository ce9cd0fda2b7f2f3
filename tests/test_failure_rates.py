"""Failure rates: exact intervals, and which models are reported; on measured disks and on a simulated year."""
from __future__ import annotations

import csv
import gzip
import json
import math
import random
import re
import sqlite3
from collections import Counter, defaultdict
from typing import Dict, Iterator, List, NamedTuple, Optional, Set, Tuple

import pytest
from fleet_days import BEGIN, DAY, Bay, Site

from smart_attributes.constants import HOUR, YEAR
from smart_attributes.fleet import ledger, rates
from smart_attributes.fleet.ledger import NAMES, Cell, Record, Sighting
from smart_attributes.fleet.ledger_file import Ledger
from smart_attributes.fleet.rates import Rate
from smart_attributes.model import State

STEP = 13 * DAY // HOUR    # hours from one run to the next


# --- intervals -----------------------------------------------------------------------------------------

# Source: Garwood (1936), table for 90 %; larger ones by the quantiles of the chi-squared distribution.
@pytest.mark.parametrize('failures, low, high', [
    (0, 0, 2.996), (1, 0.0513, 4.744), (2, 0.355, 6.296), (3, 0.818, 7.754), (5, 1.970, 10.513), (10, 5.425, 16.962),
    (20, 13.255, 29.062), (50, 38.965, 63.287)])
def test_an_interval_is_the_one_in_the_tables(failures, low, high):
    """To the digits that are printed there."""
    assert rates.interval(failures) == pytest.approx((low, high), abs=0.0006)


@pytest.mark.parametrize('failures', [*range(1, 40), 100, 781, 3208])
def test_an_interval_leaves_out_five_percent_on_each_side(failures):
    """Counted with the Poisson distribution itself, term by term."""
    def at_most(count: int, mean: float) -> float:
        return math.fsum(math.exp(k * math.log(mean) - mean - math.lgamma(k + 1)) for k in range(count + 1))

    low, high = rates.interval(failures)
    assert 1 - at_most(failures - 1, low) == pytest.approx(0.05, abs=1e-9)
    assert at_most(failures, high) == pytest.approx(0.05, abs=1e-9)


# --- what is reported ----------------------------------------------------------------------------------

def cell(model: str, years: float, failures: int, firmware: str = 'A1', band: int = 0) -> Cell:
    return Cell(model, firmware, band, max(round(years), failures), round(years * YEAR), failures)


@pytest.mark.parametrize('cells, reported', [
    ([cell('BAD', 100, 9), cell('GOOD', 900, 8)], ['BAD']),
    ([cell('FEW', 10, 4), cell('GOOD', 900, 1)], []),                        # four failures rank nobody
    ([cell('FIVE', 10, 5), cell('GOOD', 900, 1)], ['FIVE']),
    ([cell('LIKE', 100, 9), cell('GOOD', 900, 60)], []),                     # 5 % a year may be the rest's 6.7 %
    ([cell('ALONE', 100, 9)], []), ([], []),                                 # no rest to compare with
    ([cell('MANY', 1000, 12), cell('TWO', 0.5, 0)], []),                     # nor is one of two drives
    ([cell('MIXED', 100, 9, 'A1'), cell('MIXED', 2000, 1, 'A2'), cell('GOOD', 900, 8)],
     ['MIXED A1']),
    ([cell('AGED', 300, 1), cell('AGED', 100, 20, band=4), cell('GOOD', 900, 8)], ['AGED A1 above 5 y', 'AGED'])])
def test_a_group_is_reported_if_it_fails_more_often_than_the_rest(cells, reported):
    """With five failures or more, so that chance does not rank models."""
    found = rates.high(rates.of_cells(cells, {}))

    assert [' '.join(each.name) for each in found] == reported


def test_without_failures_the_interval_begins_at_zero():
    """Exactly: a rest of the calculation would be shown as a rate."""
    assert rates.interval(0)[0] == 0


LOW, HIGH = 1.9701, 10.5130     # of five failures


@pytest.mark.parametrize('rate, rates_, interval, is_high', [
    (Rate(('A',), 9, 1, 5, 100, 2), (5, 0.02), (LOW, HIGH), True),
    (Rate(('A',), 9, 10, 5, 100, 2), (0.5, 0.02), (LOW / 10, HIGH / 10), True),
    (Rate(('A',), 9, 1, 4, 100, 0), (4, 0), (1.3663, 9.1535), False),        # too few failures
    (Rate(('A',), 9, 1, 5, 100, 200), (5, 2), (LOW, HIGH), False),           # the rest may fail as often
    (Rate(('A',), 9, 1, 5, 0.52, 0), (5, 0), (LOW, HIGH), True),             # the rest would have had 1.02 failures
    (Rate(('A',), 9, 1, 5, 0.50, 0), (5, 0), (LOW, HIGH), False),            # or 0.99
    (Rate(('A',), 1, 0, 0, 0, 0), (0, 0), (0, math.inf), False),             # seen once
    (Rate(('A',), 9, 0, 9, 100, 0), (0, 0), (0, math.inf), False)])
def test_a_rate_is_high_if_its_interval_is_above_a_rest_that_is_large_enough(rate, rates_, interval, is_high):
    assert (rate.rate, rate.rest) == rates_
    assert rate.interval == pytest.approx(interval, abs=0.00005)
    assert rate.is_high is is_high


def test_cells_are_added_up_by_model_firmware_and_age():
    """The highest lower end is first; a drive can be in several age bands, so their numbers are not added up."""
    cells = [cell('ACME', 10, 2), cell('ACME', 20, 3, band=1), cell('ACME', 30, 5, 'A2'), cell('BIG', 2, 1, '', 5)]
    found = rates.of_cells(cells, {('ACME',): 50, ('ACME', 'A1'): 22})

    assert [(each.name, each.drives, each.years, each.failures, each.rest_years, each.rest_failures)
            for each in found] == [
        (('ACME',), 50, 60, 10, 2, 1), (('ACME', 'A1'), 22, 30, 5, 32, 6), (('ACME', 'A2'), 0, 30, 5, 32, 6),
        (('ACME', 'A2', 'up to 1 y'), 30, 30, 5, 32, 6),
        (('ACME', 'A1', '1 to 2 y'), 20, 20, 3, 42, 8), (('ACME', 'A1', 'up to 1 y'), 10, 10, 2, 52, 9),
        (('BIG',), 0, 2, 1, 60, 10), (('BIG', ''), 0, 2, 1, 60, 10), (('BIG', '', 'unknown'), 2, 2, 1, 60, 10)]


@pytest.mark.parametrize('name, title', [
    (('ACME 1',), 'ACME 1'), (('ACME 1', 'A1'), 'ACME 1, firmware A1'), (('ACME 1', ''), 'ACME 1, firmware -'),
    (('ACME 1', 'A1', '1 to 2 y'), 'ACME 1, firmware A1, power-on time 1 to 2 y')])
def test_a_group_has_a_title(name, title):
    assert rates.title(name) == title


@pytest.mark.parametrize('names, broadest', [
    ([('A',), ('A', '1'), ('A', '1', 'x')], [('A',)]), ([('A', '1'), ('A', '1', 'x'), ('B', '1', 'x')],
                                                        [('A', '1'), ('B', '1', 'x')]),
    ([('A', '1', 'x'), ('A',)], [('A',)]), ([], [])])
def test_parts_of_a_group_that_is_named_are_left_out(names, broadest):
    assert [each.name for each in rates.broadest([Rate(name, 9, 1, 5, 100, 2) for name in names])] == broadest


@pytest.mark.parametrize('rate, said', [(0, '0 %'), (0.00812, '0.81 %'), (0.0996, '10 %'), (1.234, '120 %'),
                                        (9.99, '1000 %'), (0.00004, '0.004 %')])
def test_a_rate_has_two_digits(rate, said):
    assert rates.percent(rate) == said


def test_a_rate_is_shown_with_its_interval_and_the_rest(tmp_path):
    """In the document and above the table; the sentence names how many more are in use."""
    site = Site(tmp_path)
    bad = [Bay(f'BAD{number}', model='BAD') for number in range(8)]
    good = [Bay(f'GOOD{number}', model='GOOD', hours=9000) for number in range(20)]
    for day in range(0, 100, 10):
        failing = [each._replace(state='CRITICAL') if day == 50 else each for each in bad[:6]] if day <= 50 else []
        done = site.run(day, {'db1': [*failing, *bad[6:], *good]}, '--json')
    found = json.loads(done.text)
    years = (6 * 50 + 2 * 90) / 365.25

    [rate] = found['fleet']['rates']
    assert (rate['model'], rate['firmware'], rate['age'], rate['drives'], rate['failures']) == ('BAD', None, None, 8, 6)
    assert rate['drive_years'] == round(years, 2)
    assert (rate['rate'], rate['low'], rate['high']) == pytest.approx((6 / years, 2.6130 / years, 11.8424 / years),
                                                                    rel=1e-4)
    assert (rate['rest_drive_years'], rate['rest_failures'], rate['rest_rate']) == (round(20 * 90 / 365.25, 2), 0, 0)
    said = ('BAD: annualized failure rate 200 % to 900 % (6 failures, 8 drives); all other drives: 0 %; 2 more in use')
    assert {'code': 'failure-rate', 'text': said} in found['notes']
    table = site.run(100, {'db1': [*bad[6:], *good]}).text
    assert 'fail more often than all other drives here, per year:\n  model' in table
    assert f'note: {said[:20]}' in table
    page = tmp_path / 'page.html'
    assert site.run(101, {'db1': [*bad[6:], *good]}, '--html', str(page)).code == 0
    words = ' '.join(re.sub('<[^>]*>', ' ', page.read_text().partition('<body')[2]).split())
    assert ' 22 ok BAD: annualized failure rate 190 % to 860 % (6 failures, 8 drives)' in words
    assert ' Have spare drives BAD 2 1 annualized failure rate 190 % to 860 %' in words
    assert ' All other drives BAD all all 8 1.4 6 440 % 190 % to 860 % 0 %' in words


# --- measured disks ------------------------------------------------------------------------------------

class Life(NamedTuple):
    """A disk as it was measured."""

    number: str
    model: str
    begin: int         # power-on hours
    end: int
    has_failed: bool


@pytest.fixture(scope='module')
def lives(shared) -> List[Life]:
    """52,320 hard disks."""
    found: Dict[str, Life] = {}
    with gzip.open(shared / 'drives/timelines.csv.gz', 'rt') as lines:
        for row in csv.DictReader(lines):
            begin, end = int(float(row['from'])), int(float(row['to']))
            known = found.get(row['drive'])
            found[row['drive']] = Life(row['drive'], row['model'], known.begin if known else begin, end,
                                       row['failed'] == '1')
    return list(found.values())


def sightings(life: Life) -> Iterator[Tuple[int, Sighting]]:
    """Yield when a disk is seen, in seconds since its first hour, and as what."""
    hours = life.end - life.begin
    for hour in [*range(0, hours, STEP), hours]:
        is_bad = int(life.has_failed and hour == hours)
        yield hour * HOUR, Sighting(1, 1, State.CRITICAL if is_bad else State.OK, is_bad, BEGIN + hour * HOUR,
                                    (life.begin + hour) * HOUR)


def entered(lives: List[Life]) -> List[Cell]:
    """Return what a ledger counts of disks that each are a host of their own."""
    cells: Dict[Tuple[str, str, int], List[int]] = defaultdict(lambda: [0, 0, 0])
    for life in lives:
        record, bands = None, set()
        for when, seen in sightings(life):
            record, shares = ledger.updated(record, seen, BEGIN + when)
            for share in shares:
                cells[life.model, '', share.band][1] += share.seconds
                bands.add(share.band)
        assert record is not None
        for band in bands:
            cells[life.model, '', band][0] += 1
        has_failed = ledger.ending(record, record.listed + 8 * DAY) == ledger.FAILED
        cells[life.model, '', ledger.band(record.age)][2] += has_failed
    return [Cell(*key, *counts) for key, counts in cells.items()]


def counted(lives: List[Life]) -> Dict[Tuple[str, ...], Tuple[int, int]]:
    """Return (hours, failures) by model, and by model and age band: added up from the data alone."""
    edges = [0, 8766, 17532, 26298, 43830, 10 ** 9]
    hours: Counter[Tuple[str, ...]] = Counter()
    failures: Counter[Tuple[str, ...]] = Counter()
    for life in lives:
        for name, low, high in zip(NAMES, edges, edges[1:]):
            hours[life.model, '', name] += max(min(life.end, high) - max(life.begin, low), 0)
            failures[life.model, '', name] += life.has_failed and low < life.end <= high
        hours[life.model,] += life.end - life.begin
        failures[life.model,] += life.has_failed
    return {name: (hours[name], failures[name]) for name in hours}


def test_rates_of_measured_disks_equal_the_data_to_the_digit(lives):
    """Each disk is a host; its power-on hours are the time in which `fleet` runs."""
    found = {each.name: each for each in rates.of_cells(entered(lives), {})}
    own = counted(lives)
    all_hours, all_failures = (sum(each[place] for name, each in own.items() if len(name) == 1) for place in (0, 1))

    assert (len(lives), all_failures) == (52_320, 3_208)
    for name, (hours, failures) in own.items():
        if hours:
            years = hours / 8766
            assert (found[name].years, found[name].failures) == (pytest.approx(years, rel=1e-12), failures), name
            assert found[name].rate == pytest.approx(failures / years, rel=1e-12)
            low, high = rates.interval(failures)
            assert found[name].interval == pytest.approx((low / years, high / years), rel=1e-12)
            assert found[name].rest == pytest.approx((all_failures - failures) / ((all_hours - hours) / 8766))


def test_the_file_of_a_ledger_counts_measured_disks_alike(lives, tmp_path):
    """Every fortieth disk, through the file, in runs of all disks at once."""
    some = lives[::40]
    runs: Dict[int, List[Tuple[Life, Sighting]]] = defaultdict(list)
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


def test_models_reported_after_half_of_the_time_fail_three_times_as_often_later(lives):
    """What the first half of the data says about models holds in the other half, for the same or other disks."""
    half = max(each.end - each.begin for each in lives) // 2    # hours; all disks begin on the first day
    early = [each._replace(end=min(each.end, each.begin + half),
                           has_failed=each.has_failed and each.end <= each.begin + half) for each in lives]
    late = [each._replace(begin=each.begin + half) for each in lives if each.end > each.begin + half]
    reported = {each.name[0] for each in rates.high(rates.of_cells(entered(early), {})) if len(each.name) == 1}
    own = counted(late)
    rate = {is_in: sum(own[name][1] for name in own if len(name) == 1 and (name[0] in reported) == is_in) /
            sum(own[name][0] for name in own if len(name) == 1 and (name[0] in reported) == is_in) * 8766
            for is_in in (True, False)}
    print(f'\n{len(reported)} models: {rate[True]:.2%} a year in the other half, all others {rate[False]:.2%}: '
          f'{rate[True] / rate[False]:.1f} times')

    assert rate[True] >= 3 * rate[False]


# --- a simulated year ----------------------------------------------------------------------------------

HOSTS, BAYS = 50, 8


class Disk(NamedTuple):
    """A drive of the simulated site, and what an oracle knows about it."""

    serial: Optional[str]
    model: str
    firmware: str
    hours: float       # power-on time on the first day
    dies: int          # day on which it is CRITICAL for the first time
    leaves: int        # day on which it is taken out


class Year:
    """A site with 50 hosts for a year. It keeps to a seed, and an oracle counts what is true."""

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
        self.first: Dict[str, float] = {}
        self.failed: Set[str] = set()

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

    def hosts(self, day: int) -> Dict[str, List[Bay]]:
        for disk in (disk for bays in self.bays for disk in bays if disk.serial):
            self.first.setdefault(disk.serial, day)
            self.days[disk.serial] = day - self.first[disk.serial]
        return {name: [Bay(disk.serial, 'CRITICAL' if disk.dies <= day else 'OK', disk.model, disk.firmware,
                           disk.hours + day * 24) for disk in bays] for name, bays in zip(self.names, self.bays)}


@pytest.mark.parametrize('seed', range(3))
def test_a_year_of_a_restless_site_counts_no_day_too_many_and_no_failure_twice(tmp_path, seed):
    """Renamed and merged hosts, twins, placeholders, hidden serial numbers, gaps, and clocks that are wrong."""
    site, year = Site(tmp_path), Year(seed)
    gaps = [range(100, 120), range(200, 245)]
    for day in range(365):
        year.pass_to(day)
        if any(day in gap for gap in gaps) or (day % 3 and seed):
            continue
        hosts = year.hosts(day)
        clock = {150: 400, 151: 401, 160: 155, 170: -5000}.get(day, day) if seed == 2 else day
        site.run(clock, hosts, '--json', read={name: clock + year.ahead[name] for name in hosts})
    counted: Counter[str] = Counter()
    with sqlite3.connect(site.ledger) as base:
        counted.update({serial: seconds / DAY for serial, seconds in base.execute(
            'SELECT serial, sum(seconds) FROM drive JOIN share ON share.drive = drive.number GROUP BY 1')})
        records = {serial: (Record(*record), whole) for whole, _, _, serial, *record in base.execute(
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
