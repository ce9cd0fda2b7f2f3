"""A few turns of each kind of the storm; `make storm` takes many more."""

from __future__ import annotations

import random
from pathlib import Path

import power
import pytest
import storm
from damage import Damage, damaged
from days import disk
from flips import Flips
from kills import Kills


@pytest.mark.libraries
@pytest.mark.long
def test_no_drive_looks_better_for_damage_without_a_note_that_says_what_is_missing(
    tmp_path,
):
    """Cut, swapped, of a wrong type, huge, without keys, rows, sections: recorded reports, and
    simulated drives. No other drive of the folder changes.
    """
    bed = Damage(tmp_path, 3)

    assert [fault for number in range(150) for fault in bed.turn(number)] == []
    assert sum(bed.counted.values()) == 150 and len(bed.counted) > 12


@pytest.mark.long
def test_no_bit_of_the_history_is_lost_in_silence(tmp_path):
    """In the files of a drive, in their former versions and in those of older points, young and
    old.
    """
    bed = Flips(tmp_path, seed := random.randrange(10**6))

    assert [fault for number in range(24) for fault in bed.turn(number)] == [], (
        f'seed {seed}'
    )
    assert (
        sum(count for what, count in bed.counted.items() if what.endswith('said')) >= 6
    )


@pytest.mark.long
def test_checks_two_at_a_time_and_killed_lose_nothing(tmp_path):
    """No damaged file, no drive between two checks, no wrong state."""
    bed = Kills(tmp_path, seed := random.randrange(10**6))

    assert bed.turn(0) == [], f'seed {seed}'
    assert (
        sum(bed.counted[f'killed, {end}'] for end in ('written', 'not written')) >= 10
    )
    assert bed.counted['ended by itself, written'] >= 20, bed.counted


@pytest.mark.skipif(bool(power.why_not()), reason=power.why_not())
@pytest.mark.long
def test_a_power_cut_loses_nothing_that_a_check_has_written(tmp_path):
    """With and without what was not synced, in parts, torn at 512 bytes; the check after it
    gives a verdict.
    """
    assert Kills(tmp_path, seed := random.randrange(10**6)).turn(1) == [], (
        f'seed {seed}'
    )


# --- who finds nothing must be able to find something ---------------------------------------


@pytest.mark.long
def test_a_drive_that_looks_better_in_silence_is_told(tmp_path, monkeypatch):
    """Here the reading says nothing of its gaps."""
    reading = 'smart_attributes.reading'
    monkeypatch.setattr(
        f'{reading}.json_report.completeness.of_json', lambda *report: ()
    )
    monkeypatch.setattr(f'{reading}.text_report.of_text', lambda *report: ())
    monkeypatch.setattr('damage.wrecked', lambda *report: damaged(*report, 'section'))
    bed = Damage(tmp_path, 3)

    assert any(
        'in silence' in fault for number in range(200) for fault in bed.turn(number)
    )


@pytest.mark.long
def test_what_history_has_lost_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr('kills.CRC', 7)
    monkeypatch.setattr('kills.KILLED_CHECKS', 2)
    monkeypatch.setattr('kills.disk', lambda serial, **raw: disk(serial, a199=212))

    assert any('and 7 was read' in fault for fault in Kills(tmp_path, 1).turn(0))


def test_a_fault_is_printed_with_its_turn_and_ends_in_status_1(monkeypatch, capsys):
    class Bed:
        counted = storm.Counter({'drives': 3})

        def __init__(self, folder: Path, seed: int) -> None:
            self.turn = lambda number: [f'{seed} is wrong'][: number == 1]

    moments = iter([0.0, 1.0, 9.0, 9.0])
    monkeypatch.setattr(storm, 'KINDS', {'flips': Bed})
    monkeypatch.setattr('storm.time.monotonic', lambda: next(moments))

    assert storm.main(['--seed', '7', '--minutes', '0.1']) == 1
    told = capsys.readouterr().out
    assert (
        'flips, turn 1: 7 is wrong' in told
        and '1 faults in 2 turns, 9 s: 3 drives' in told
    )
