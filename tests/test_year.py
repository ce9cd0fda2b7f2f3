"""`make year` runs many more checks than there is time for here; see year.py."""

from __future__ import annotations

from pathlib import Path

import pytest
from year import Year

pytestmark = pytest.mark.tools


def test_a_dozen_checks_are_counted_and_find_nothing_wrong(tmp_path: Path) -> None:
    """Also when a drive is replaced, one vanishes, one moves, and the clock jumps."""
    year = Year(tmp_path, 12, 300, drives=4)
    year.run()

    assert year.faults == []
    assert sum(year.states.values()) == 12 and year.states[2] >= 4, year.states
    assert year.largest > 10_000 and any(
        'the clock is' in remark for remark in year.remarks
    ), year.remarks


def test_a_history_that_is_too_large_is_a_fault(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr('year.MOST_BYTES', 10_000)
    year = Year(tmp_path, 2, 300, drives=4)
    year.run()

    assert any('the history takes' in fault for fault in year.faults), year.faults
