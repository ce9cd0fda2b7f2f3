"""What is kept of a number, and what stays of it when it is old."""

import pytest

from smart_attributes.constants import DAY, MONTH
from smart_attributes.history.drive_file import thinned
from smart_attributes.history.series import (
    CHANGE,
    DAILY,
    HIGHEST,
    History,
    Point,
    extended,
)

MIDNIGHT = 20_700 * DAY
HOUR = 3600


# one number at noon, read for an hour
NOON = History((Point(MIDNIGHT + 12 * HOUR, 7),), MIDNIGHT + 13 * HOUR)


@pytest.mark.parametrize('pace', [DAILY, HIGHEST])
def test_the_first_number_of_a_day_tells_how_long_before_it_somebody_looked(pace):
    """Else growth over a night in which nobody looked would count as that of a moment."""
    now = MIDNIGHT + DAY

    assert extended(pace, NOON, 7, now) == (
        *NOON.points,
        Point(now, 7, 11 * HOUR),
    )


def test_later_numbers_of_a_day_add_nothing_where_one_a_day_is_kept():
    """Not even at its last second."""
    assert extended(DAILY, NOON, 9, MIDNIGHT + DAY - 1) == NOON.points


@pytest.mark.parametrize('number, kept', [(6, 7), (7, 7), (8, 8)])
def test_of_the_highest_numbers_only_a_higher_one_takes_the_place_of_the_last(
    number, kept
):
    """The point keeps its time, and a number that only comes again is no reason to write."""
    found = extended(HIGHEST, NOON, number, MIDNIGHT + 20 * HOUR)

    assert found == (Point(MIDNIGHT + 12 * HOUR, kept),)


def test_a_change_tells_its_time_and_how_long_nobody_looked():
    now = MIDNIGHT + 15 * HOUR

    assert extended(CHANGE, NOON, 6, now) == (
        *NOON.points,
        Point(now, 6, 2 * HOUR),
    )
    assert extended(CHANGE, NOON, 7, now) == NOON.points


def test_of_old_points_the_last_of_a_month_stays_and_of_others_the_last_of_a_day():
    """It says what the number was from then on."""
    start = 700 * MONTH
    old, young = (
        (start, start + DAY, start + 2 * DAY),
        (start + MONTH, start + MONTH + HOUR, start + MONTH + DAY),
    )
    points = [Point(time, number) for number, time in enumerate((*old, *young))]

    assert thinned(points, start + MONTH, CHANGE) == [points[2], points[4], points[5]]


def test_of_the_highest_numbers_the_highest_stays_since_it_was_first_reached():
    """A disk that was hot once in a month was hot, though it has cooled down since."""
    points = [
        Point(700 * MONTH + day * DAY, number)
        for day, number in enumerate((30, 55, 55, 40))
    ]

    assert thinned(points, 701 * MONTH, HIGHEST) == [points[1]]
    assert thinned(points, 0, HIGHEST) == points
