"""endurance_time_left: graphed where it is known, judged only where a site asks, silent about
nothing it was asked.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import drive, drive_path, perfdata, run
from days import DAY, HOUR, START, Machine

from smart_attributes.check.forecasts import TIME_LEFT, forecasts, sooner, time_left
from smart_attributes.history import past
from smart_attributes.history.series import History, Point
from smart_attributes.model import (
    Device,
    Identity,
    Judgement,
    Reading,
    Source,
    State,
    Verdict,
)

ASKED = ('-w', 'endurance_time_left=30d:')
LABEL = 'sda_endurance_time_left'


def ssd(used: int, days: float) -> dict[str, Any]:
    """What smartctl says of an NVMe drive that has used so many per cent within so many days
    under power.
    """
    said: dict[str, Any] = json.loads(drive('nvme-worn'))
    said['nvme_smart_health_information_log'].update(
        percentage_used=used, power_on_hours=int(days * DAY / HOUR)
    )
    return said


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine without drives."""
    return Machine(tmp_path)


@pytest.mark.parametrize(
    'options, code, warning',
    [((), 0, ''), (('-w', 'endurance_time_left=200d:'), 1, '17280000:')],
)
def test_it_is_graphed_in_seconds_and_judged_where_a_site_asks(
    machine, options, code, warning
):
    """84 % used in 840 days; the limit is told as it was written.

    By default an alarm would come too early for one site and too late for another.
    """
    machine.holds(sda=ssd(84, 840))
    result = machine.check(START, *options)

    assert result.code == code
    assert perfdata(result.text)[LABEL] == (160 * DAY, 's', warning, '', '0', '')
    assert ('(13 to 960, estimated' in result.first_line) is bool(options)
    assert ('warning below 200d)' in result.first_line) is bool(options)


def test_a_drive_without_a_value_says_why_where_somebody_asks(machine):
    """It is well as far as anybody knows, and not UNKNOWN, which nobody could mend; but it is
    not silent either.
    """
    machine.holds(sda=ssd(1, 2000))
    asked, unasked = machine.check(START, *ASKED, '-v'), machine.check(START, '-v')

    assert (asked.code, unasked.code) == (0, 0)
    assert 'endurance_time_left from use ' in asked.text
    assert 'endurance_time_left' not in unasked.text
    assert LABEL not in perfdata(asked.text)


def test_a_site_may_judge_it_instead_of_what_is_used(tmp_path):
    """Time left is what it orders by; 86 % used for years is nothing to it."""
    limits = {
        'metrics': {
            'endurance_used': {'warning': None, 'critical': None},
            'endurance_time_left': {
                'warning': '1y:',
                'critical': '@~:1w',
                'why': 'three months to order',
            },
        }
    }
    (tmp_path / 'mine.json').write_text(json.dumps(limits))
    result = run(
        '--report',
        drive_path('intel-worn'),
        '--thresholds',
        str(tmp_path / 'mine.json'),
    )

    assert result.code == 1
    assert 'intel_worn: rated endurance lasts 192 days' in result.first_line
    assert 'warning below 1y)' in result.first_line
    assert perfdata(result.text)['intel_worn_endurance_time_left'][2:4] == (
        '31557600:',
        '@~:604800',
    )


def test_explain_and_triage_tell_the_same_time_as_the_check(machine):
    """One number, one place where it is made."""
    machine.holds(sda=ssd(84, 840))
    [told] = json.loads(
        machine.run(START, 'triage', '--json', '-d', '/dev/sda', *ASKED).text
    )['drives']
    reading = next(
        each for each in told['readings'] if each['metric'] == 'endurance_time_left'
    )
    explained = machine.run(START, 'explain', '-v', '-d', '/dev/sda', *ASKED).text

    assert reading['value'] == told['forecasts']['endurance_used']['left'] == 160 * DAY
    assert reading['warning'] == '2592000:'
    assert '160 days' in explained
    assert 'warning 30d:' in explained


def lasting(days):
    """Return a reading of so many days that are left; None: nobody knows."""
    return Reading(TIME_LEFT, days and days * DAY, 's', Source(str(days)))


@pytest.mark.parametrize(
    'one, other, days', [(9, 5, 5), (5, 9, 5), (None, 5, 5), (5, None, 5), (0, 5, 0)]
)
def test_of_two_times_the_sooner_counts(one, other, days):
    """And one that is known before one that is not."""
    assert sooner(lasting(one), lasting(other)) == lasting(days)


def test_of_two_equal_times_the_first_counts():
    """A drive behind two addresses tells the same twice; what is said must not change with the
    order of words.
    """
    one, other = (
        Reading(TIME_LEFT, 5 * DAY, 's', Source(log))
        for log in ('use and age', 'history')
    )

    assert sooner(one, other) is one and sooner(other, one) is other


@pytest.mark.parametrize(
    'used, known, source, days',
    [
        (50, [], 'use and age', 1000),  # estimated
        (60, [(200, 40), (100, 50)], 'history', 400),  # remembered
        (100, [(200, 40), (100, 50)], 'endurance_used', 0),  # used up
    ],
)
def test_a_time_says_what_it_is_made_of(used, known, source, days):
    """In seconds, and with its range."""
    endurance = Reading('endurance_used', used, '%', Source('NVMe health log'))
    age = Reading('power_on_time', 1000 * DAY, 's', Source('NVMe health log'))
    remembered = {
        past.key(endurance): History(
            tuple(Point(START - ago * DAY, number) for ago, number in known), START
        )
    }
    found = time_left(
        {'endurance_used': endurance, 'power_on_time': age},
        past.Past(remembered, START),
    )

    assert (found.source, found.unit, found.unknown) == (Source(source), 's', '')
    assert found.number == pytest.approx(days * DAY, rel=0.2) and found.number == round(
        found.forecast.left
    )


def test_a_time_that_is_not_known_is_one_of_seconds_all_the_same():
    """It keeps its place in the tables, beside those of other drives."""
    told = time_left({}, None)
    assert told._replace(unknown='') == Reading(
        TIME_LEFT, None, 's', Source('use and age')
    )
    assert 'no endurance_used' in told.unknown
    ageless = time_left(
        {'endurance_used': SPARE._replace(metric='endurance_used')}, None
    )
    assert 'power-on time' in ageless.unknown


def test_of_two_times_that_nobody_knows_the_first_says_why():
    first = lasting(None)._replace(unknown='the drive has run less than 90 days')

    assert sooner(first, lasting(None)) == first


SPARE = Reading('spare_available', 70, '%', Source('NVMe health log'))


def spare_lasts(limit, number=70, remembered=True, reading=SPARE):
    """Return for how many days spare blocks last that have fallen from 90 % to *number* in 200
    days; None: not told.
    """
    reading = reading._replace(number=number)
    history = History(
        (
            Point(START - 200 * DAY, 90),
            Point(START - 100 * DAY, (90 + number) / 2, DAY),
            Point(START - DAY, number, DAY),
        ),
        START,
    )
    known = past.Past({past.key(reading): history} if remembered else {}, START)
    verdict = Verdict(
        Device('/dev/sda'),
        Identity(),
        State.OK,
        (Judgement(reading, State.OK, **limit),),
    )
    told = forecasts(verdict, known)
    return round(told[reading.metric].left / DAY) if reading.metric in told else None


@pytest.mark.parametrize(
    'limit',
    [{'warning': '11:'}, {'critical': '5:'}, {'warning': '11:', 'critical': '5:'}],
)
def test_spare_blocks_are_gone_when_they_have_fallen_to_nothing(limit):
    """A tenth of a per cent a day: 70 % last for 700 days."""
    assert spare_lasts(limit) == pytest.approx(700, rel=0.2)
    assert spare_lasts(limit, number=0) == 0


def test_nothing_is_foreseen_of_what_has_no_limit_is_not_judged_or_not_remembered():
    """Nor of what is no spare block, whatever its limit."""
    limit = {'warning': '11:', 'critical': '5:'}

    assert spare_lasts({}) is None
    assert spare_lasts(limit, reading=SPARE._replace(judged=False)) is None
    assert spare_lasts(limit, reading=SPARE._replace(metric='temperature')) is None
    assert spare_lasts(limit, remembered=False) is None
