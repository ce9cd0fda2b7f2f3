"""Forecasts as dates: months, orders, ranges."""

import pytest

from smart_attributes.constants import DAY, YEAR
from smart_attributes.model import Forecast
from smart_attributes.work import dates

NOW = 1_795_348_800  # 2026-11-22


@pytest.mark.parametrize(
    'when, form, said',
    [
        (NOW, '%Y-%m-%d', '2026-11-22'),
        (0, '%Y', '1970'),
        (NOW - 43_201, '%Y-%m-%d', '2026-11-21'),
    ],
)
def test_a_day_is_that_of_utc(when, form, said):
    assert dates.day(when, form) == said


@pytest.mark.parametrize(
    'left, by',
    [
        ([], None),
        ([10 * YEAR + 1], None),
        ([10 * YEAR], NOW + 10 * YEAR - 90 * DAY),
        ([100 * DAY], NOW + 10 * DAY),
        ([90 * DAY], NOW),
        ([3 * DAY], NOW),
        ([-3 * DAY], NOW),
        ([900 * DAY, 100 * DAY], NOW + 10 * DAY),
    ],
)
def test_an_order_is_due_90_days_before_the_first_forecast(left, by):
    assert dates.order_by(left, NOW) == by


@pytest.mark.parametrize(
    'left, is_estimate, said',
    [
        (0, False, 'used up'),
        (-5, True, 'used up'),
        (1, False, '2026-11'),
        (40 * DAY, False, '2027-01'),
        (40 * DAY, True, '~2027-01'),
        (10 * YEAR, False, '2036-11'),
        (10 * YEAR + 1, False, '>10 y'),
        (10 * YEAR + 1, True, '>10 y'),
    ],
)
def test_a_forecast_is_a_month(left, is_estimate, said):
    assert dates.date(left, NOW, '~' if is_estimate else '') == said


@pytest.mark.parametrize(
    'forecast, said',
    [
        (Forecast(0, 0, 0, False), 'spare_available: used up'),
        (Forecast(-1, 0, 0, True), 'spare_available: used up'),
        (
            Forecast(100 * DAY, 50 * DAY, 200 * DAY, False),
            'spare_available: expected to be used up 2027-03-02 (between 2027-01-11 and 2027-06-10)',
        ),
        (
            Forecast(1, 1, 1, True),
            'spare_available: expected to be used up about 2026-11-22 (between 2026-11-22 and 2026-11-22; '
            'estimated only from use and age)',
        ),
    ],
)
def test_a_forecast_has_its_range(forecast, said):
    assert dates.lasting('spare_available', forecast, NOW) == said
