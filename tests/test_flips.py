"""What a check and doctor say of a flipped bit in the history; see storm.py for many of them."""

from pathlib import Path

import pytest
from days import DAY, HOUR, Machine, disk
from flips import NOW, SAID, flip


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Three checks of a drive whose errors did not grow; they grow now."""
    found = Machine(tmp_path)
    found.holds(sda=disk(a199=10))
    for hours in (3, 2, 1):
        found.check(NOW - hours * HOUR)
    found.holds(sda=disk(a199=99))
    return found


def file_of(machine: Machine, ending: str) -> Path:
    [path] = machine.state.glob(f'history/*{ending}')
    return path


def test_growth_that_damage_hides_is_reported_as_a_loss(machine):
    for ending in ('.drive', '.former'):
        flip(file_of(machine, ending), 8 * 400)
    told = machine.check(NOW)

    assert (
        told.code == 1
        and 'increases that happened before this check cannot be detected' in told.text
    )
    assert [SAID in machine.check(NOW + days * DAY).text for days in (6, 8)] == [
        True,
        False,
    ]
