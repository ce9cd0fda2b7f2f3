"""When is it used up? A date with its range, and none where the data say nothing."""
from __future__ import annotations

import json
from typing import Any, Dict

import pytest
import workloads
from conftest import drive_path, run

from smart_attributes.durations import DAY
from smart_attributes.memory.forecast import forecast
from smart_attributes.model import Forecast

YEAR = 365 * DAY
NOW = 2e9


def straight(days: int, per_day: float, used: float):
    """A memory of a number that grew evenly to *used*."""
    return [(NOW - (days - day) * DAY, used - (days - day) * per_day) for day in range(0, days, 7)]


@pytest.mark.parametrize('kind', workloads.KINDS)
def test_the_true_date_lies_within_the_range(kind):
    """In nine of ten simulated lives of each kind, or the range is a promise nobody should order drives by."""
    told = [(life.true_left, forecast(life.points, life.now, life.used, life.age))
            for life in workloads.lives(kind, 300, seed=7)]
    right = [found.earliest <= true <= found.latest for true, found in told if isinstance(found, Forecast)]

    assert len(right) > 200
    assert sum(right) / len(right) >= 0.9


def test_an_even_use_goes_on_evenly():
    """40 % left at 10 % a hundred days are four hundred days."""
    found = forecast(straight(200, 0.1, 60), NOW, 60, 3 * YEAR)

    assert isinstance(found, Forecast) and not found.is_estimate
    assert found.left == pytest.approx(400 * DAY, rel=0.1)
    assert found.earliest < found.left < found.latest < 6 * found.earliest


def test_without_a_memory_power_on_time_gives_an_estimate():
    """Half used in two years: two more, if all stays as it was."""
    assert forecast([], NOW, 50, 2 * YEAR) == Forecast(2 * YEAR, 2 * YEAR / 2.5, 2 * YEAR * 2.5, True)


@pytest.mark.parametrize('used, age, why', [
    pytest.param(1, 5 * YEAR, 'less than 2 % is used', id='hardly-used'),
    pytest.param(20, 89 * DAY, 'it has run for less than 90 days', id='new'),
    pytest.param(20, None, 'the power-on time is not known', id='age-not-known')])
def test_no_date_where_the_data_say_nothing(used, age, why):
    """An invented date would be believed; whoever asked for one hears why."""
    assert forecast([], NOW, used, age) == why


def test_no_date_for_a_drive_that_stands_idle():
    """Used by 30 % a year once, and by nothing for a year."""
    assert forecast([(NOW - YEAR, 60.0)], NOW, 60, 2 * YEAR) == 'it was used once and stands idle now'


def test_a_slow_drive_is_not_idle():
    """2 % a year leave no trace in a quarter of a year."""
    found = forecast([(NOW - 90 * DAY, 10.0)], NOW, 10, 5 * YEAR)

    assert isinstance(found, Forecast) and found.is_estimate


def test_what_is_used_up_has_no_time_left():
    """More than 100 % is possible and no date in the past."""
    assert forecast([], NOW, 120, YEAR) == Forecast(0, 0, 0, False)


def test_a_date_beyond_any_plan_is_none():
    """2 % in two years: a hundred years."""
    assert forecast([], NOW, 2, 2 * YEAR) == 'it is more than 50 years away'


def test_a_new_workload_moves_the_early_end():
    """The last month writes four times as much as the year before."""
    slow = straight(300, 0.05, 60)
    before = forecast(slow, NOW, 60, 3 * YEAR)
    points = [(time - 40 * DAY, used - 8) for time, used in slow] + [(NOW - day * DAY, 60 - day * 0.2)
                                                                     for day in range(39, 0, -3)]
    after = forecast(points, NOW, 60, 3 * YEAR)

    assert isinstance(before, Forecast) and isinstance(after, Forecast)
    assert after.earliest < before.earliest / 2


def triaged(report: str, *arguments: str) -> Dict[str, Any]:
    """Return what `triage` tells of the drive of a report."""
    drive: Dict[str, Any]
    [drive] = json.loads(run('triage', '--json', '--report', report, *arguments).text)['drives']
    return drive


@pytest.mark.parametrize('name', ['intel-worn', 'nvme-worn'])
def test_a_drive_without_memory_is_told_an_estimate(name):
    """Through the program, and marked as what it is."""
    told = triaged(drive_path(name))['forecasts']['endurance_used']

    assert told['estimate']
    assert told['earliest'] < told['left'] < told['latest']


def test_where_endurance_has_no_limit_it_has_no_date(tmp_path):
    """As on hard disks, some of which tell one and mean nothing by it."""
    limits = {'roles': {'endurance_used': {'warning': None, 'critical': None, 'why': 'tried'}}}
    (tmp_path / 'mine.json').write_text(json.dumps(limits))
    drive = triaged(drive_path('intel-worn'), '--thresholds', str(tmp_path / 'mine.json'))

    assert [each['value'] for each in drive['readings'] if each['role'] == 'endurance_used' and each['judged']] == [86]
    assert 'forecasts' not in drive
