"""A damaged report never lets a drive look better in silence; `make damage REPORTS=2000` tries
many more.
"""

from __future__ import annotations

import pytest
from damage import Desk, main

SEED = 3


@pytest.mark.libraries
def test_no_drive_looks_better_for_damage_without_a_note_that_says_what_is_missing():
    """Cut, swapped, of a wrong type, huge, without keys, rows, sections: recorded reports, and
    simulated drives.
    """
    desk = Desk(SEED)

    assert desk.faults(150) == []
    assert sum(desk.counted.values()) == 150 and len(desk.counted) == 7


def test_a_drive_that_looks_better_in_silence_is_told(monkeypatch, capsys):
    """Who finds nothing must be able to find something: here the reading says nothing of its
    gaps.
    """
    monkeypatch.setattr(
        'smart_attributes.reading.json_report.completeness.of_json',
        lambda data, report, arguments: (),
    )
    monkeypatch.setattr('smart_attributes.reading.text_report.of_text', lambda *report: ())

    assert main(200, SEED, 'section') == 1
    assert 'and nothing is said to be missing' in capsys.readouterr().out
