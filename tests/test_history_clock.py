"""Whether the clock can be believed: by seconds, where the tests of history in its folder go by
days.
"""

from __future__ import annotations

import pytest

from smart_attributes.constants import DAY
from smart_attributes.history import rows, upkeep

START = 1_795_000_000  # 18 November 2026
AHEAD = START + 365 * DAY  # what a wrong clock has once dated


@pytest.mark.parametrize(
    ('now', 'is_right'),
    [
        pytest.param(START, True, id='ok-as-late-as-history'),
        pytest.param(START - DAY, True, id='ok-a-day-behind'),
        pytest.param(START - DAY - 1, False, id='doubted-more-than-a-day-behind'),
    ],
)
def test_a_day_behind_is_a_clock_that_was_set_and_more_is_one_that_is_wrong(now, is_right):
    """Who sets a clock by an hour loses nothing; whoever loses a year is told so."""
    assert (not upkeep.doubt(now, START, 0)) is is_right


def test_doubt_says_by_how_many_days():
    """The admin compares it with the clock on the wall."""
    assert upkeep.doubt(START, START + 3 * DAY + 5, 0) == (
        'the clock is 3 days behind the history; correct the clock within a day, otherwise the '
        'plugin '
        'changes the dates of the stored readings'
    )


@pytest.mark.parametrize(
    ('now', 'since', 'is_settled'),
    [
        pytest.param(START, 0, False, id='not-seen-before'),
        pytest.param(START, START - DAY + 1, False, id='less-than-a-day'),
        pytest.param(START, START - DAY, True, id='a-day'),
        pytest.param(AHEAD - DAY - 1, START, True, id='just-far-enough-behind'),
        pytest.param(AHEAD - DAY, START, False, id='not-far-behind-any-more'),
        pytest.param(AHEAD, START, False, id='not-behind-at-all'),
        pytest.param(upkeep.EARLIEST + DAY, upkeep.EARLIEST, True, id='as-old-as-this-program'),
        pytest.param(START, upkeep.EARLIEST - 1, False, id='older-than-this-program'),
    ],
)
def test_a_clock_is_believed_after_a_day_unless_it_stands_before_this_program_was_written(
    now, since, is_settled
):
    """What history holds was dated wrongly then; an empty battery stays what it is."""
    assert upkeep.is_settled(now, AHEAD, since) is is_settled


@pytest.mark.parametrize('told', [0, 1, rows.LATEST])
def test_a_time_is_read_as_a_number_or_as_text(told):
    """SQLite returns what somebody stored, whatever the column says."""
    assert rows.moment(told) == rows.moment(str(told)) == told


@pytest.mark.parametrize('told', [-1, rows.LATEST + 1, 'noon', '', None])
def test_what_is_no_time_is_refused(told):
    """Who forges history must not make dates that nothing can print."""
    with pytest.raises(ValueError):
        rows.moment(told)
