"""A month of a machine, a check each day at noon: the state of each day is as a careful admin
would want it.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from days import DAY, HOUR, START, Machine, asleep, disk

OK, WARNING, CRITICAL = 0, 1, 2


def month(
    machine: Machine, days: int, drives: dict[int, dict[str, object]], *options: str
) -> list[tuple[int, str]]:
    """Return (exit status, first line) of each day. drives: from this day on these."""
    found = []
    for day in range(days):
        if day in drives:
            machine.holds(**drives[day])  # type: ignore[arg-type]
        result = machine.check(START + day * DAY + 12 * HOUR, '--scan', *options)
        found.append((result.code, result.text))
    return found


def states(found: list[tuple[int, str]]) -> str:
    return ''.join('.WCU'[code] for code, _ in found)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_a_bad_cable_warns_until_a_week_after_it_was_replaced(machine):
    """212 errors of long ago are silent; those of days 3 to 5 are loud, and the new cable is
    trusted on day 12.
    """
    errors = {0: 212, 3: 226, 4: 230, 5: 290}
    found = month(machine, 16, {day: {'sda': disk(a199=number)} for day, number in errors.items()})

    assert states(found) == '...' + 'W' * 9 + '....'
    assert all('check cable' in text for code, text in found if code)


def test_sectors_that_creep_warn_long_before_their_number_does(machine):
    """Three a day: the level that warns would be reached on day 16, growth tells on day 4, and a
    lull ends nothing.
    """
    found = month(
        machine,
        14,
        {0: {'sda': disk()}, **{day: {'sda': disk(a5=3 * (day - 2))} for day in range(3, 10)}},
    )

    assert states(found) == '.' * 4 + 'W' * 10
    assert 'reallocated grew by 18' in found[8][1] and 'reallocated grew by 21' in found[13][1]


@pytest.mark.long
def test_old_sectors_fall_silent_after_90_days_and_are_loud_again_when_they_move(machine):
    """The first look cannot tell how old 120 sectors are; that they stand for 90 days can."""
    found = month(machine, 96, {0: {'sda': disk(a5=120)}, 93: {'sda': disk(a5=140)}}, '-v')

    assert states(found) == 'W' * 90 + '...' + 'WWW'
    assert 'newest more than 91 ' in found[91][1]


def test_many_sectors_in_a_week_are_critical(machine):
    """A disk that loses 120 sectors in two days is on its way out, however far the level's own
    limit is.
    """
    sectors = {0: 0, 2: 60, 3: 120}
    found = month(machine, 6, {day: {'sda': disk(a5=number)} for day, number in sectors.items()})

    assert states(found) == '..WCCC'


def test_a_pending_sector_that_was_written_over_is_remembered(machine):
    """The number is back at 0, the reason is not: 3 in 10 disks with such a past fail within a
    year.
    """
    found = month(machine, 8, {0: {'sda': disk()}, 2: {'sda': disk(a197=1)}, 4: {'sda': disk()}})

    assert states(found) == '..WWWWWW'
    words = ['-d', '/dev/sda', 'pending', '--why', 'written over, long test passed']
    machine.run(START + 8 * DAY, 'acknowledge', *words)
    assert machine.check(START + 8 * DAY + HOUR, '--scan').code == OK


def test_a_swapped_drive_is_told_and_takes_its_alarms_with_it(machine):
    """The new one at its address has no history, and nothing of the old one's is told of it."""
    drives = {
        0: {'sda': disk(), 'sdb': disk('SERIAL02')},
        1: {'sda': disk(), 'sdb': disk('SERIAL02', a197=20)},
        3: {'sda': disk(), 'sdb': disk('SERIAL03')},
    }
    found = month(machine, 6, drives, '--gone', 'critical')

    assert states(found) == '.CC...'
    assert [
        day
        for day, (_, text) in enumerate(found)
        if ' HD4000 SERIAL03' in text and 'was replaced by' in text
    ] == [3]


def test_a_drive_that_falls_asleep_keeps_its_name_until_nobody_knows_how_it_is(machine):
    """Asleep is well for a week; woken and read, it is well again."""
    here = disk('SERIAL02')
    found = month(
        machine,
        14,
        {
            0: {'sda': disk(), 'sdb': here},
            3: {'sda': asleep(), 'sdb': here},
            12: {'sda': disk(), 'sdb': here},
        },
    )

    assert states(found) == '.' * 10 + 'WW' + '..'
    assert all('SERIAL01' in text for _, text in found)
