"""What a drive's own statistics are worth as a witness."""

import pytest

from smart_attributes.devtools import drive_rules, reading_rules
from smart_attributes.devtools.sources import SampleDrive
from smart_attributes.model import Identity


@pytest.mark.parametrize(
    ('number', 'stated', 'unit', 'is_near'),
    [
        (78, 80, '%', True),
        (77, 80, '%', False),
        (3600, 10800, 's', True),
        (3600, 3600 * 4, 's', False),
        (75, 100, 'B', False),
        (91, 100, 'B', True),
        (40, 50, 'C', True),
        (39, 50, 'C', False),
        (2275184 * 2**25, 3077596960 * 512, 'B', True),
        (2275184 * 2**24, 3077596960 * 512, 'B', False),
        (3077596960 * 512, 2275184 * 2**25, 'B', False),
        (5 * reading_rules.WRAP - 2**30, 0, 'B', True),
        (5 * reading_rules.WRAP + 2**30, 0, 'B', True),
        (5 * reading_rules.WRAP - 2**30 - 1, 0, 'B', False),
        (reading_rules.WRAP + 9, reading_rules.WRAP * 3 + 9, 'B', False),
    ],
)
def test_a_reading_is_near_within_what_rounding_and_time_explain(
    number, stated, unit, is_near
):
    """Hours as minutes, 32 MiB as 64 and a turned percentage are far beyond that."""
    assert reading_rules.is_near(number, stated, unit) is is_near


@pytest.mark.parametrize(
    ('metric', 'number', 'times_written', 'is_doubtful'),
    [
        ('endurance_used', 0, 100, True),
        ('endurance_used', 0, 99, False),
        ('endurance_used', 1, 1000, False),
        ('reallocated', 0, 1000, False),
    ],
)
def test_no_wear_after_a_hundred_fills_is_doubtful(
    metric, number, times_written, is_doubtful
):
    """Other counters may be 0 for ever."""
    assert reading_rules.is_stuck_at_zero(metric, number, times_written) is is_doubtful


@pytest.mark.parametrize(
    ('written', 'capacity', 'times_written'),
    [(1000, 10, 100), (999, 10, 99), (None, 10, 0), (1000, None, 0), (1000, 0, 0)],
)
def test_fills_are_known_where_both_numbers_are(written, capacity, times_written):
    """Without one of them nothing is doubted."""
    stated = {} if written is None else {'host_written': written}
    drive = SampleDrive('', Identity(capacity=capacity), (), stated=stated)

    assert drive_rules._times_written(drive, {}) == times_written


@pytest.mark.parametrize(
    ('metric', 'unit', 'is_stated'),
    [
        ('endurance_used', '%', True),
        ('host_written', 'B', True),
        ('power_on_time', 's', True),
        ('temperature', 'C', True),
        ('over_temperature_time', 's', False),
        ('reallocated', '', False),
    ],
)
def test_percentages_amounts_age_and_temperature_tell_a_unit(metric, unit, is_stated):
    assert reading_rules.is_stated(metric, unit) is is_stated


@pytest.mark.parametrize(
    ('number', 'stated', 'is_near'),
    [(90, 100, True), (89, 100, False), (0.5, 0, False), (0, 0, True), (1, 1.5, False)],
)
def test_a_count_without_a_unit_is_near_within_a_tenth(number, stated, is_near):
    assert reading_rules.is_near(number, stated, '') is is_near


@pytest.mark.parametrize(
    ('stated', 'number', 'is_remainder'),
    [
        (0, reading_rules.WRAP, True),
        (0, reading_rules.WRAP - 1, False),
        (reading_rules.WRAP, reading_rules.WRAP, False),
        (reading_rules.WRAP - 1, 2 * reading_rules.WRAP, True),
    ],
)
def test_an_amount_can_be_a_rest_only_below_the_wrap_and_of_a_number_above_it(
    stated, number, is_remainder
):
    assert reading_rules.is_remainder(stated, number, 1) is is_remainder
