"""Temperature does not change the state with each degree: a limit that was passed holds for a
while.
"""

import random
from collections.abc import Iterable, Sequence

import pytest
from days import START, Machine, disk

from smart_attributes.constants import HOUR, MINUTE
from smart_attributes.history import series
from smart_attributes.history.series import CHANGE, History, extended

MARGIN, LIMIT, FAR_BELOW = 3, 60, 50
Sample = tuple[int, float]  # minutes since the beginning, degrees


def by_the_rule(samples: Sequence[Sample]) -> bool:
    """Tell whether the limit holds after the last sample, from all samples: plain, and without
    anything kept.
    """
    holds, cool_since = False, None
    for minute, number in samples:
        if number > LIMIT - MARGIN:
            cool_since = None
        elif cool_since is None:
            cool_since = minute
        is_released = cool_since is not None and minute - cool_since >= 24 * 60
        holds = number > LIMIT or (holds and not is_released and number > FAR_BELOW)
    return holds


def reduced(samples: Iterable[Sample]) -> list[float]:
    """Return the level after each sample, as checks get it from what the history keeps."""
    known, level, levels = History(), None, []
    for minute, number in samples:
        now = minute * MINUTE
        known = History(extended(CHANGE, known, number, now), now)
        known = known._replace(points=tuple(series.peaks_of_day(known.points, now)))
        level = (
            number if level is None else series.level(MARGIN, number, level, known, now)
        )
        levels.append(level)
    return levels


@pytest.mark.parametrize(
    'numbers, expected',
    [
        ([59, 60, 59], [59, 60, 60]),  # ok never above the limit
        ([61, 59, 58], [61, 61, 61]),  # warn within the margin
        ([61, *[57] * 13], [61] * 13 + [60]),  # ok a day at the margin
        ([61, *[57] * 6, 58, *[57] * 12], [61] * 20),  # warn the day begins anew
        # warn a day below the limit but within the margin
        ([65, *[59] * 13], [65] * 13 + [62]),
        ([70, *[40] * 13, 61], [70] + [50] * 12 + [43, 61]),  # ok at once, warn again
        ([40, 84, 45, 59], [40, 84, 55, 59]),  # ok a short peak
    ],
)
def test_a_number_counts_until_it_has_been_lower_for_a_day(numbers, expected):
    """Samples two hours apart; the limit of 60 holds wherever the level is above it."""
    assert (
        reduced((120 * place, number) for place, number in enumerate(numbers))
        == expected
    )


@pytest.mark.parametrize('seed', range(40))
def test_the_level_says_the_same_as_the_rule(seed):
    """Random walks around the limit, with gaps: one number and the peaks of a day hold all that
    matters.
    """
    chance = random.Random(seed)
    samples: list[Sample] = [(0, 55.0)]
    for _ in range(150):
        minute, number = samples[-1]
        samples.append(
            (
                minute + chance.choice([24, 120, 120, 120, 480, 2160]),
                min(max(number + chance.choice([-4, -1, -1, 0, 0, 1, 1, 4]), 50), 66),
            )
        )
    levels = reduced(samples)

    assert [level > LIMIT for level in levels] == [
        by_the_rule(samples[:end]) for end in range(1, len(samples) + 1)
    ]


def test_an_alert_ends_and_says_why_it_lasts(tmp_path):
    """The line says what it waits for; a day later the drive is OK."""
    machine = Machine(tmp_path)
    for hours, degrees in ((0, 56), (1, 52), (24, 50)):
        machine.holds(sda=disk(a194=degrees))
        first = machine.check(START + hours * HOUR).first_line
        assert first.startswith('SMART WARNING - sda: temperature'), hours
    assert f' {degrees} C (warning ' in first and ' 3 C below this ' in first

    assert machine.check(START + 25 * HOUR).first_line.startswith('SMART OK')


@pytest.mark.parametrize('before', [205, 1e30])
def test_a_level_is_not_far_above_the_number(before):
    """Not even if somebody changed the history."""
    assert series.level(MARGIN, 195, before, History(), START) == 205
