"""What defends a limit: rates at it, alone, beyond it, and by the age of growth."""
import json
import re

import pytest
from conftest import ROOT
from measure import rates
from measure.timelines import DAY, YEAR, Stretch, Timeline

from smart_attributes.model import Device, Judgement, Reading, Source, State, Verdict

LIMITS = {5: ('reallocated', 20, 1000), 197: ('pending', 0, 8)}


def judge(report):
    """Return a verdict by LIMITS on the raw numbers of a report."""
    judgements = []
    for row in report.attributes:
        metric, warning, critical = LIMITS[row.id]
        state = State.CRITICAL if row.raw_number > critical else State.WARNING if row.raw_number > warning else State.OK
        reading = Reading(metric, row.raw_number, '', Source(attribute=row.id))
        judgements.append(Judgement(reading, state, str(warning), str(critical)))
    return Verdict(Device(''), report.identity, State.OK, tuple(judgements), entry='Acme')


def timeline(*stretches, has_failed=False):
    """Each stretch: start, end, reallocated, pending."""
    return Timeline('1', 'ACME 1', None, has_failed, tuple(
        Stretch(start, end, ((5, reallocated), (197, pending))) for start, end, reallocated, pending in stretches))


def counted(classes, *timelines):
    return rates.counted(rates.periods(timelines, judge), {'table': classes})['table']


def test_a_drive_counts_for_the_limits_that_it_is_beyond():
    """At a limit up to twice it; alone where nothing else reaches the state."""
    found = counted(rates.of_limits, timeline((0, YEAR, 40, 0), (YEAR, 2 * YEAR, 41, 9), has_failed=True))

    assert found['reallocated', 'WARNING', 'beyond'] == (2 * YEAR, 1)
    assert found['reallocated', 'WARNING', 'at'] == found['reallocated', 'WARNING', 'alone'] == (YEAR, 0)
    assert found['pending', 'CRITICAL', 'alone'] == (YEAR, 1)
    assert ('pending', 'WARNING', 'at') not in found, 'above 0, only 1 is at the limit'
    assert ('reallocated', 'CRITICAL', 'beyond') not in found
    assert found['pending', 'CRITICAL', 'at', 'Acme'] == (YEAR, 1)


def test_what_alarms_by_something_else_as_well_is_not_alone():
    """There the state would be the same without this limit."""
    found = counted(rates.of_limits, timeline((0, YEAR, 21, 1)), timeline((0, YEAR, 0, 1)))

    assert found['pending', 'WARNING', 'at'] == (2 * YEAR, 0)
    assert found['pending', 'WARNING', 'alone'] == (YEAR, 0)
    assert ('reallocated', 'WARNING', 'alone') not in found


def test_growth_ages_within_a_stretch_in_which_nothing_moves():
    """A week, three weeks more, and so on; the failure belongs to the age at which it came."""
    found = counted(rates.of_ages, timeline((0, 100, 0, 0), (100, 100 + 100 * DAY, 0, 1), has_failed=True))

    assert {key[2]: (rate.hours / DAY, rate.failures) for key, rate in found.items()} == {
        'a week': (7, 0), '4 weeks': (21, 0), '3 months': (YEAR / 4 / DAY - 28, 0), 'a year': (100 - YEAR / 4 / DAY, 1)}


def test_a_counter_that_goes_back_has_not_grown_and_one_that_returns_has():
    """Pending sectors vanish when they are written."""
    found = counted(rates.of_ages, timeline((0, 7 * DAY, 0, 9), (7 * DAY, 10 * DAY, 0, 1), (10 * DAY, 12 * DAY, 0, 2)))

    assert found['pending', 'WARNING', 'a week'].hours == 9 * DAY
    assert found['pending', 'WARNING', '4 weeks'].hours == 3 * DAY


@pytest.mark.parametrize(('number', 'band'), [
    (0, '0'), (1, '1'), (2, '2'), (3, '3 to 4'), (4, '3 to 4'), (5, '5 to 8'), (1000, '513 to 1024')])
def test_numbers_are_shown_in_bands_that_double(number, band):
    """What matters at 1 does not at 1,000."""
    assert rates.octave(number) == band


@pytest.mark.parametrize(('rate', 'said'), [((YEAR, 1), '100 % (1)'), ((100 * YEAR, 1), '1.0 % (1)'), ((0, 0), '-')])
def test_a_rate_says_what_it_rests_on(rate, said):
    """Three failures are no law."""
    assert str(rates.Rate(*rate)) == said


@pytest.mark.parametrize(('failures', 'level', 'low', 'high'), [
    (0, 95, 0, 3.69), (1, 95, 0.03, 5.57), (5, 95, 1.62, 11.67), (5, 90, 1.97, 10.51), (100, 95, 81.36, 121.63)])
def test_an_interval_is_exact(failures, level, low, high):
    """Garwood's table; an approximation would be below 0 for one failure."""
    assert rates.poisson_interval(failures, level) == pytest.approx((low, high), abs=0.005)
    assert rates.Rate(200 * YEAR, failures).interval(level) == pytest.approx((low / 2, high / 2), abs=0.003)


def test_without_hours_there_is_no_interval():
    assert rates.Rate().interval() is None


def test_each_limit_in_the_document_is_that_of_the_program():
    """Whoever changes one runs `make verdicts`."""
    told = set(re.findall(r'^\| `(\w+)` above (\d+) \| (WARNING|CRITICAL) ',
                          (ROOT / 'doc/explanation/verdicts.md').read_text(), re.MULTILINE))
    metrics = json.loads((ROOT / 'thresholds/default.json').read_text())['metrics']

    measured = ('offline_uncorrectable', 'pending', 'reallocated', 'reported_uncorrect', 'spin_retry')
    assert told == {(metric, limits[level.lower()], level) for metric in measured for level in ('WARNING', 'CRITICAL')
                    for hdd in [metrics[metric]['hdd']] for limits in (hdd, *hdd.get('groups', {}).values())
                    if limits.get(level.lower())}
