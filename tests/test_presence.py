"""A missing drive that root has acknowledged raises nothing until it has been back."""

from __future__ import annotations

from pathlib import Path

import pytest
from days import DAY, HOUR, START, Machine, disk


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Two drives, one of which has vanished since the last check."""
    found = Machine(tmp_path)
    found.holds(sda=disk(), sdb=disk('SERIAL02'))
    found.check(START, '--scan')
    found.holds(sda=disk())
    return found


def state(machine: Machine, now: int, *options: str) -> int:
    return machine.check(now, '--scan', *options).code


def test_an_acknowledged_drive_is_silent_until_it_has_been_back(
    machine: Machine,
) -> None:
    """Only root's file counts. Back once, it is missed again."""
    assert machine.run(START + HOUR, 'acknowledge', '--missing', 'SERIAL03').code == 3
    given = machine.run(
        START + HOUR, 'acknowledge', '--missing', 'SERIAL02', '--until', '2027-01-31'
    )
    assert given.code == 0 and 'acknowledged: SERIAL02 missing, by ' in given.text, (
        given.text
    )

    assert [state(machine, START + days * DAY) for days in (1, 60, 90)] == [0, 0, 1], (
        'until the day given'
    )
    machine.run(
        START + HOUR, 'acknowledge', '--missing', 'SERIAL02', '--why', 'sold to Ann'
    )
    assert [state(machine, START + days * DAY) for days in (91, 92)] == [0, 0]
    machine.holds(sda=disk(), sdb=disk('SERIAL02'))
    assert state(machine, START + 93 * DAY) == 0
    machine.holds(sda=disk())
    assert state(machine, START + 94 * DAY) == 1
    assert machine.run(START + 94 * DAY, 'acknowledge', '--list').text.startswith(
        'SERIAL02 missing, by '
    )
    assert (
        machine.run(
            START + 94 * DAY, 'acknowledge', '--withdraw', 'SERIAL02:missing'
        ).code
        == 0
    )
    assert 'SERIAL02' not in machine.run(START + 94 * DAY, 'acknowledge', '--list').text
