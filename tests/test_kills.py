"""Checks that are killed leave history whole; `make kills CHECKS=1000` runs many more than there
is time for here.
"""

from __future__ import annotations

import random
from pathlib import Path

import power
import pytest
from kills import Killer, main
from power_cuts import Cutter


@pytest.mark.long
def test_checks_two_at_a_time_and_killed_lose_nothing(tmp_path: Path) -> None:
    """No damaged file, no drive between two checks, no wrong state."""
    killer = Killer(tmp_path, 60, random.randrange(10**6))
    killer.run()

    assert killer.faults == [], f'seed {killer.seed}'
    assert killer.killed >= 10 and killer.counted['ended by itself, written'] >= 20, killer.counted


@pytest.mark.skipif(bool(power.why_not()), reason=power.why_not())
@pytest.mark.long
def test_a_power_cut_loses_nothing_that_a_check_has_written(tmp_path: Path) -> None:
    """With and without what was not synced, in parts, torn at 512 bytes; the check after it
    gives a verdict.
    """
    cutter = Cutter(tmp_path, random.randrange(10**6))
    cutter.run(24)

    assert cutter.faults == [], f'seed {cutter.seed}'


@pytest.mark.long
def test_what_goes_wrong_is_told(monkeypatch, capsys) -> None:
    """Who finds nothing must be able to find something: here history holds what no drive has
    said.
    """
    monkeypatch.setattr('kills.newest', lambda points: {key: 1 for key, *_ in points})

    assert main(2, seed=1) == 1
    assert 'and 212 was read' in capsys.readouterr().out
