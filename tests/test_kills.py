"""Checks that are killed leave memory whole; `make kills CHECKS=1000` runs many more than there is time for here."""
from __future__ import annotations

import random
from pathlib import Path

from kills import Killer, main


def test_checks_two_at_a_time_and_killed_lose_nothing_that_was_committed(tmp_path: Path) -> None:
    """No damaged file, no half of a check, no wrong state; integrity_check after each."""
    killer = Killer(tmp_path, 60, random.randrange(10**6))
    killer.run()

    assert killer.faults == [], f'seed {killer.seed}'
    assert killer.killed >= 10 and killer.counted['ended by itself, written'] >= 20, killer.counted


def test_what_goes_wrong_is_told(monkeypatch, capsys) -> None:
    """Who finds nothing must be able to find something: here memory holds what no drive has said."""
    monkeypatch.setattr('kills.newest', lambda points: {key: 1 for key, *_ in points})

    assert main(2, seed=1) == 1
    assert 'and 212 was read' in capsys.readouterr().out
