"""When is it used up? A date with its range, and none where the data say nothing."""

import pytest
import workloads

from smart_attributes.check.forecasts import forecast
from smart_attributes.constants import DAY
from smart_attributes.model import Forecast

YEAR = 365 * DAY
NOW = 2e9


@pytest.mark.parametrize('kind', workloads.KINDS)
@pytest.mark.long
def test_the_true_date_lies_within_the_range(kind):
    """In nine of ten simulated lives of each kind, or the range is a promise nobody should order
    drives by.
    """
    told = [
        (life.true_left, forecast(life.points, life.now, life.used, life.age))
        for life in workloads.lives(kind, 300, seed=7)
    ]
    right = [
        found.earliest <= true <= found.latest
        for true, found in told
        if isinstance(found, Forecast)
    ]

    assert len(right) > 200
    assert sum(right) / len(right) >= 0.9


@pytest.mark.parametrize(
    'points, used, age, why',
    [
        ([], 1, 5 * YEAR, 'less than 2 % is used'),
        ([], 20, 89 * DAY, 'the drive has run less than 90 days'),
        ([], 20, None, 'the power-on time is not known'),
        ([], 2, None, 'the power-on time is not known'),
        ([], 2, 2 * YEAR, 'the date is more than 50 years away'),
        (
            [(NOW - YEAR, 60.0)],
            60,
            2 * YEAR,
            'the drive was used earlier and is idle now',
        ),
    ],
)
def test_no_date_where_the_data_say_nothing(points, used, age, why):
    """An invented date would be believed; whoever asked for one hears why."""
    assert forecast(points, NOW, used, age) == why


# --- at the edges -------------------------------------------------------------------------------


def told(points, used, age=None):
    """Return (days left, earliest, latest), and whether it is an estimate; or why there is no date.

    points: (days ago, %).
    """
    found = forecast(
        [(NOW - ago * DAY, float(number)) for ago, number in points], NOW, used, age
    )
    if isinstance(found, str):
        return found
    return (
        round(found.left / DAY),
        round(found.earliest / DAY),
        round(found.latest / DAY),
        found.is_estimate,
    )


def test_a_drive_is_used_up_at_a_hundred_per_cent_and_not_before():
    """Half a per cent may last for weeks."""
    assert forecast([], NOW, 100, YEAR) == Forecast(0, 0, 0, False)
    assert told([], 99.5, 199 * DAY) == (1, 0, 6, True)


def test_the_least_that_tells_of_a_life_tells_of_it():
    """2 % used, 90 days of age: neither is too little any more."""
    assert told([], 2, 90 * DAY) == (4410, 367, 26460, True)


def test_fifty_years_are_a_date_and_more_are_none():
    longest = 50 * 365.25 * DAY

    assert told([], 2, longest * 2 / 98)[0] == 18262
    assert isinstance(told([], 2, longest * 2 / 98 + 1), str)


def test_no_latest_end_is_beyond_a_hundred_years():
    """It would be read as a promise."""
    assert told([], 50, 44 * YEAR) == (44 * 365, round(44 * 365 / 12), 36525, True)


@pytest.mark.parametrize(
    'days, grown, is_estimate',
    [
        (60, 3, False),  # enough
        (59, 3, True),  # too short
        (60, 2, True),  # too little
    ],
)
def test_history_counts_from_sixty_days_and_three_per_cent_on(days, grown, is_estimate):
    """Before that, rounding to whole numbers is most of it."""
    assert told([(days, 50)], 50 + grown, 2000 * DAY)[3] is is_estimate


@pytest.mark.parametrize(
    'grown, spent, is_idle',
    [
        (0, 2.9, False),  # less than three per cent missing
        (0, 3, True),  # three per cent
        (1, 3, True),  # one step may be a rest of before
        (2, 4, False),  # two steps are use
        (2, 6, True),  # six per cent and two steps
    ],
)
def test_idle_is_what_used_a_third_of_its_usual_rate(grown, spent, is_idle):
    """spent: per cent that its whole life would have used in the time that is remembered."""
    days = 2**23 / DAY  # 97; a power of two, so that 3 % are just 3 %
    found = told([(days, 24 - grown)], 24, 24 / spent * days * DAY)

    assert isinstance(found, str) is is_idle


def test_even_use_is_taken_as_it_is_but_for_rounding():
    """5 % every ten days, 5 % left.

    The last twenty days may have been 11 % or 9 %, and both ends are a fifth wider.
    """
    points = [(150 - day, 20 + day / 2) for day in range(0, 150, 10)]

    assert told(points, 95) == (
        10,
        round(5 / (11 / 20 * 1.2)),
        round(5 / (9 / 20 / 1.2)),
        False,
    )


def test_the_rate_of_a_whole_life_belongs_to_the_range():
    """However even the last months were: what was, may come again.

    Never is it six times slower than usual.
    """
    points = [(150 - day, 20 + day / 2) for day in range(0, 150, 10)]

    assert told(points, 95, 250 * DAY)[2] == round(5 / (95 / 250 / 1.2))
    assert told(points, 95, 5000 * DAY)[2] == round(5 / (0.5 / 6 / 1.2))
    assert told(points, 95, 100 * DAY)[1] == round(5 / (95 / 100 * 1.2))


@pytest.mark.parametrize(
    'used, found',
    [
        # ever faster
        (lambda day: int(10 + 60 * (day / 150) ** 2), (75, 31, 169, False)),
        # ever slower
        (lambda day: int(70 - 60 * (1 - day / 150) ** 2), (75, 43, 540, False)),
        (
            lambda day: 10 + 10 * (day >= 5) + 15 * (day >= 125),
            (607, 203, 4368, False),
        ),  # two steps
        (lambda day: 10 + 25 * (day >= 5), (390, 238, 2808, False)),  # one step
    ],
)
def test_uneven_use_widens_the_range(used, found):
    """The numbers are those with which nine of ten simulated lives are right: whoever tunes a
    factor sees here by how much the range of an uneven life moves.
    """
    assert told([(150 - day, used(day)) for day in range(150)], used(150)) == found


@pytest.mark.parametrize(
    'days, grown, latest',
    [
        (60, 1, 56 * 24 / 4 * 1.2),  # one per cent in eight days tells nothing
        (60, 2, 55 * 8 / 1 * 1.2),  # two per cent tell of one at least
        (225, 1, 56 * 15 * 6 * 1.2),  # one per cent in a month may be none
        (222, 1, 56 * 88.8 / 4 * 1.2),  # but not in less than a month
    ],
)
def test_little_growth_lately_is_a_slow_end_where_there_is_enough_of_it_or_of_time(
    days, grown, latest
):
    """A whole number may hide almost one more, or one less.

    In all but the last two of fifteen parts it rose evenly.
    """
    points = [(days - days * part / 15, 30 + part) for part in range(14)]

    assert told(points, 43 + grown)[2] == round(latest)
