"""Models that fail more often than others: on simulated fleets, on measured disks, and by the command line.

FLEETS=100 measures what doc/how-to/fleet.md says; each figure is printed with -s.
"""
from __future__ import annotations

import gzip
import math
import os
import random
from collections import Counter

import pytest
from simulated_fleets import Model, lives

from smart_attributes.constants import HOUR
from smart_attributes.fleet import ledger
from smart_attributes.fleet.comparison import LEAST, Failure, Span, Worse, columns, worse
from smart_attributes.fleet.ledger import Rate

FLEETS = int(os.environ.get('FLEETS', '6'))
pytestmark = pytest.mark.timeout(120 + 20 * FLEETS)


def share(most: float) -> int:
    """Return a share of FLEETS; where they are few, one more than it may differ by chance."""
    return math.ceil(most * FLEETS) if FLEETS >= 100 else math.floor(most * FLEETS) - 1


def equals(count: int, drives: int) -> dict[str, Model]:
    return {f'M{number:02}': Model(drives) for number in range(count)}


# --- simulated fleets ----------------------------------------------------------------------------------
# A look at each hour finds what the last one finds: evidence changes only at a failure, and the most so far counts.

@pytest.mark.parametrize('count, drives', [(10, 100), (10, 400), pytest.param(20, 1000, marks=pytest.mark.skipif(
    FLEETS < 100, reason='for FLEETS=100'))])
def test_in_a_fleet_of_equals_no_model_is_flagged(count, drives):
    """In at most 5 of 100, at any hour of three years."""
    flagged = [seed for seed in range(FLEETS) if lives(seed, equals(count, drives)).flagged()]
    print(f'\n{count} models of {drives} drives: {len(flagged)} of {FLEETS} fleets flag something')

    assert len(flagged) <= max(0.05 * FLEETS, 1)


def test_a_model_that_fails_five_times_as_often_is_flagged_soon():
    """In at least 90 of 100, and after at most 10 failures in the median."""
    counts = []
    for seed in range(FLEETS):
        fleet = lives(seed, {**equals(10, 100), 'M00': Model(100, 5)})
        days = sorted(each.day for each in fleet.failures if each.model == 'M00')
        if 'M00' in fleet.flagged():
            counts.append(next(number for number, day in enumerate(days, 1) if 'M00' in fleet.until(day).flagged()))
    median = sorted(counts)[len(counts) // 2]
    print(f'\n{len(counts)} of {FLEETS} flagged, after {median} failures in the median')

    assert len(counts) >= share(0.9)
    assert median <= 10 + 3 * (FLEETS < 100)


def test_a_model_that_is_only_older_is_not_flagged():
    """Old drives fail ten times as often here, and the others are all young."""
    models = {**equals(10, 100), 'M00': Model(100, ages=(4, 6))}
    fleets = [lives(seed, models, rate=lambda age: 0.01 if age < 3 else 0.1) for seed in range(FLEETS)]
    flagged = sum('M00' in fleet.flagged() for fleet in fleets)
    unlike = sum('M00' in each._replace(spans=[span._replace(band=0) for span in each.spans],
                                        failures=[one._replace(band=0) for one in each.failures]).flagged()
                 for each in fleets)
    print(f'\n{flagged} of {FLEETS} flagged; without age bands: {unlike}')

    assert flagged <= 0.01 * FLEETS
    assert unlike >= share(0.5)


def test_a_bad_model_is_found_beside_a_worse_one():
    """In at least 85 of 100: the worse one is left out then, and the message says so."""
    models = {**equals(10, 100), 'M00': Model(100, 20), 'M01': Model(100, 5)}
    found = [lives(seed, models).flagged() for seed in range(FLEETS)]
    both = sum({'M00', 'M01'} <= set(each) for each in found)
    hidden = sum(each.get('M01') == ('M00',) for each in found)
    print(f'\nboth in {both} of {FLEETS}, {hidden} only because the worse one was left out')

    assert both >= share(0.85)
    assert sum(bool(set(each) - {'M00', 'M01'}) for each in found) <= max(0.05 * FLEETS, 1)


def test_the_printed_range_holds_the_rate_although_drives_die_suddenly():
    """40 % vanish without having been CRITICAL; the range of both intervals holds 10 % a year in at least 90 of 100."""
    held, enough, chance, count = 0, 0, random.Random(1), 100
    for _ in range(count):
        died = [chance.random() < 0.4 for _ in range(poisson(chance, 0.1 * 3 * 400))]
        rate = Rate('ACME', 400, 3 * 400, died.count(False), died.count(True), 400)
        held += rate.range[0] <= 0.1 <= rate.range[1]
        enough += poisson(chance, 0.1 * 400 / 4) <= rate.spares
    print(f'\nthe range holds in {held} of {count}, the spare drives suffice in {enough}')

    assert held >= 0.9 * count
    assert 0.85 * count <= enough <= 0.97 * count


def poisson(chance: random.Random, mean: float) -> int:
    """Return a random number of events."""
    count, left = 0, mean - chance.expovariate(1)
    while left > 0:
        count, left = count + 1, left - chance.expovariate(1)
    return count


def test_intervals_equal_those_of_scipy():
    """By the quantiles of the chi-squared distribution there."""
    stats = pytest.importorskip('scipy.stats', reason='scipy is not installed')
    for failures in (1, 2, 10, 128, 3208):
        expected = stats.chi2.ppf(0.05, 2 * failures) / 2, stats.chi2.ppf(0.95, 2 * failures + 2) / 2
        assert ledger.interval(failures) == pytest.approx(expected, rel=1e-9)
    rate = Rate('ACME', 400, 1200, 70, 48, 300)
    assert rate.spares == stats.nbinom.ppf(0.9, 118.5, 1200 / 1275)


# --- by hand -------------------------------------------------------------------------------------------

def spans(**models: int) -> list[Span]:
    return [Span(model, 'A1', 0, 0, 1000, drives) for model, drives in models.items()]


def failed(model: str, count: int, day: int = 0, host: int | None = None, firmware: str = 'A1') -> list[Failure]:
    return [Failure(model, firmware, 0, day + number * (host is None), number if host is None else host)
            for number in range(count)]


def test_evidence_is_counted_as_in_the_paper():
    """Half of the drives, n failures in a row: the mean of (2k / (1 + k))^n over 2, 3, 5 and 10."""
    needed = next(n for n in range(99) if sum((2 * k / (1 + k)) ** n for k in (2, 3, 5, 10)) / 4 >= LEAST * 2)

    assert needed == 9
    for count in (needed - 1, needed):
        found = worse(columns(spans(BAD=50, GOOD=50), failed('BAD', count)), {'BAD': count})
        assert ('BAD' in found) == (count == needed)


def test_one_event_on_a_host_is_one_failure_however_many_drives_die():
    """A power supply that kills a whole host would blame the model in it."""
    assert worse(columns(spans(BAD=50, GOOD=50), failed('BAD', 40, host=1)), {}) == {}
    assert 'BAD' in worse(columns(spans(BAD=50, GOOD=50), failed('BAD', 40)), {})


@pytest.mark.parametrize('models', [{'ONE': 100}, {'ONE': 50, 'TWO': 50}, {'ONE': 90, 'TWO': 10}])
def test_where_every_drive_fails_on_one_day_no_model_is_flagged(models):
    """As in a fleet of a single model."""
    failures = [Failure(model, 'A1', 0, 5, host) for model, drives in models.items() for host in range(drives)]

    assert worse(columns(spans(**models), failures), models) == {}


def test_firmware_is_compared_within_its_model_and_only_after_enough_failures():
    """With 20 failures, or if the model itself is flagged."""
    both = [Span('BAD', 'A1', 0, 0, 1000, 50), Span('BAD', 'A2', 0, 0, 1000, 50), Span('GOOD', 'B1', 0, 0, 1000, 100)]
    some = [each for bad, good in zip(failed('BAD', 20), failed('GOOD', 20)) for each in (
        bad._replace(day=2 * bad.day), good._replace(day=2 * good.day + 1, firmware='B1'))]

    assert worse(columns(both, some[1:]), {'BAD': 19, 'GOOD': 20}) == {}
    assert worse(columns(both, some), {'BAD': 20, 'GOOD': 20}) == {'BAD': Worse(None, (('A1', ()),))}
    assert worse(columns(both, failed('BAD', 12)), {'BAD': 12}) == {'BAD': Worse((), (('A1', ()),))}


def test_a_failed_drive_counts_where_it_was_then():
    """After an update of all others, its firmware would be the only one that fails."""
    moved = [Span('BAD', 'A1', 0, 0, 100, 50), Span('BAD', 'A2', 0, 100, 1000, 50)]
    failures = failed('BAD', 30)

    assert worse(columns(moved, failures), {'BAD': 30}) == {}
    assert worse(columns([moved[0]._replace(drives=1, end=1000), Span('BAD', 'A2', 0, 0, 1000, 50)], failures),
                 {'BAD': 30}) == {'BAD': Worse(None, (('A1', ()),))}


# --- measured disks ------------------------------------------------------------------------------------

def test_models_flagged_after_half_of_the_time_fail_more_often_in_the_other_half(shared):
    """52,320 hard disks; the time of the fleet is the power-on time since each was first seen."""
    disks: dict[str, tuple[str, int, int, bool]] = {}
    with gzip.open(shared / 'drives/timelines.csv.gz', 'rt') as lines:
        next(lines)
        for line in lines:
            number, model, begin, end, has_failed, _ = line.split(',', 5)
            first = disks[number][1] if number in disks else int(float(begin))
            disks[number] = model, first, int(float(end)), has_failed == '1'
    half = max(end - begin for _, begin, end, _ in disks.values()) // 2
    seen, failures, later, events = [], [], Counter(), Counter()
    edges = [0, *(round(edge / HOUR) for edge in ledger.BANDS), 10 ** 9]
    for host, (model, begin, end, has_failed) in enumerate(disks.values()):
        until = min(end, begin + half)
        for band, (low, high) in enumerate(zip(edges, edges[1:])):
            if max(begin, low) < min(until, high):
                seen.append(Span(model, '', band, (max(begin, low) - begin) // 24,
                                 (min(until, high) - begin) // 24 + (until <= high), 1))
        if has_failed and end <= begin + half:
            failures.append(Failure(model, '', ledger.band(end * HOUR), (end - begin) // 24, host))
        later[model] += max(end - begin - half, 0)
        events[model] += has_failed and end > begin + half
    found = {model for model, each in worse(columns(seen, failures), Counter(each.model for each in failures)).items()
             if each.without is not None}
    rates = [sum(events[model] for model in models) / sum(later[model] for model in models)
             for models in (found, set(later) - found)]
    print(f'\nof {len(later)} models flagged after {half // 24} days: {sorted(found)}; later they failed '
          f'{rates[0] * 876600:.1f} % a year, the others {rates[1] * 876600:.1f} %: {rates[0] / rates[1]:.1f} times as '
          'often')

    assert 'ST3000DM001' in found
    assert rates[0] >= 3 * rates[1]
