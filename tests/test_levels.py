"""Levels go up and down: the ends of a period are compared, and noise is no loss."""

from __future__ import annotations

import random
from collections.abc import Iterable

import pytest
from shipped import DEFAULTS

from smart_attributes.constants import DAY, HOUR, MINUTE
from smart_attributes.history import drive_file, growth, series
from smart_attributes.history.growth import Growth
from smart_attributes.history.series import History
from smart_attributes.knowledge.thresholds import growth_rule
from smart_attributes.model import GrowthRule, Reading, Source

SPARE = Reading('spare_available', 97, '%', Source(log='NVMe health'))
RULE = GrowthRule(7 * DAY, 30 * DAY, warning=2)
LEVELS = ('spare_available', 'system_spare_available', 'capacitor_health')
Days = Iterable[tuple[float, float]]  # day and number


def history(readings: Days) -> History:
    """What the history holds after these readings."""
    found = History()
    for day, number in readings:
        found = series.with_reading(found, number, int(day * DAY))
    return found


def told(
    *readings: tuple[float, float], rule: GrowthRule = RULE, falls: bool = True
) -> Growth | None:
    return growth.worst(
        history(readings),
        [rule],
        int(readings[-1][0] * DAY),
        is_level=True,
        falls=falls,
    )


@pytest.mark.parametrize(
    'readings, size',
    [
        pytest.param([(0, 100), (1, 100), (2, 96), (3, 96)], 4, id='fell'),
        pytest.param([(0, 100), (1, 100), (2, 96)], None, id='one-reading-is-no-proof'),
        pytest.param(
            [(0, 100), (1, 100), (2, 98), (3, 98)], None, id='no-more-than-the-limit'
        ),
        pytest.param(
            [(0, 100), (1, 100), (2, 99), (3, 99), (4, 97), (5, 97), (6, 96)],
            3,
            id='fell-step-by-step',
        ),
        pytest.param(
            [(0, 100), (1, 100), (2, 10), (3, 100), (4, 100)],
            None,
            id='one-wrong-reading',
        ),
        pytest.param([(0, 96), (1, 96), (2, 100), (3, 100)], None, id='rose'),
        pytest.param(
            [(0, 100), (1, 100), (2, 96), (3, 96), (4, 100), (5, 100)],
            None,
            id='came-back',
        ),
        pytest.param(
            [(0, 100), (1, 100), (2, 96), (3, 96), (31, 96)], 4, id='told-for-30-days'
        ),
        pytest.param(
            [(0, 100), (1, 100), (2, 96), (3, 96), (33, 96)], None, id='and-no-longer'
        ),
        pytest.param(
            [(0, 100), (1, 96), (2, 92), (3, 88)], None, id='too-little-is-known'
        ),
        pytest.param(
            [(0, 100), (1, 100), (10, 99), (20, 98), (30, 97), (40, 96), (41, 96)],
            None,
            id='slowly',
        ),
        pytest.param([(0, 100)], None, id='the-first'),
    ],
)
def test_a_level_is_compared_at_the_ends_of_the_period(readings, size):
    found = told(*readings)

    assert (found and found.size) == size


@pytest.mark.parametrize(
    'readings, falls, words',
    [
        (
            [(0, 160), (1, 160), (2, 135), (3, 135)],
            True,
            'capacitor_health fell from 160 % to 135 % in 3 d',
        ),
        (
            [(0, 30), (1, 30), (2, 45), (3, 45)],
            False,
            'capacitor_health rose from 30 % to 45 % in 3 d',
        ),
    ],
)
def test_a_sentence_says_from_where_to_where(readings, falls, words):
    found = told(*readings, falls=falls)

    assert growth.sentence('capacitor_health', '%', found, 2 * DAY) == words


def rule_of(metric: str) -> GrowthRule:
    return growth_rule(DEFAULTS['metrics'][metric]['growth'])


def alerts(metric: str, numbers: Iterable[tuple[int, float]]) -> list[int]:
    """Return the times of the checks that alert, with a history that is thinned once a day as
    the real one is.
    """
    known, found, rule = History(), [], rule_of(metric)
    for now, number in numbers:
        known = series.with_reading(known, number, now)
        if now % DAY == 0:
            before = (
                now - drive_file.KEPT_WHOLE if len(known.points) > series.MANY else 0
            )
            old = [point for point in known.points if point.time < before]
            kept = drive_file.thinned(old, 0, series.CHANGE) if old else []
            known = known._replace(
                points=(
                    *kept,
                    *(point for point in known.points if point.time >= before),
                )
            )
        if (
            (now // HOUR) % 6 == 0
            and now % HOUR == 0
            and growth.worst(known, [rule], now, is_level=True, falls=True)
        ):
            found.append(now)
    return found


@pytest.mark.long
@pytest.mark.parametrize('interval', [5 * MINUTE, HOUR, 6 * HOUR, DAY])
@pytest.mark.parametrize('metric', LEVELS)
def test_noise_of_five_per_cent_is_no_alert_for_a_year(metric, interval):
    for seed, level in ((1, 160), (2, 100), (3, 95)):
        chance = random.Random(seed)
        noisy = (
            (now, round(level * (1 + chance.uniform(-0.05, 0.05))))
            for now in range(0, 365 * DAY, interval)
        )

        assert alerts(metric, noisy) == [], (seed, level)


@pytest.mark.parametrize('noise', [0, 0.05])
@pytest.mark.parametrize('interval', [5 * MINUTE, HOUR, 6 * HOUR, DAY])
def test_a_capacitor_that_loses_20_points_in_90_days_is_found_within_a_week(
    interval, noise
):
    chance = random.Random(interval)

    def number(now: int) -> float:
        true = 160 - 20 * min(max(now - 30 * DAY, 0) / (90 * DAY), 1)
        return round(true * (1 + chance.uniform(-noise, noise)))

    found = alerts(
        'capacitor_health',
        ((now, number(now)) for now in range(0, 140 * DAY, interval)),
    )

    assert found and found[0] <= (30 + 90 + 7) * DAY
