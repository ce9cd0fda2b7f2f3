"""One drive at several addresses: a few machines of the storm, and a history."""

from __future__ import annotations

import shutil
import time
from collections import Counter
from pathlib import Path

import one_drive
import pytest
from days import HOUR, START
from simulator import Machine, read, why_not

from smart_attributes.check import same_drive
from smart_attributes.check.survey import survey
from smart_attributes.commands.table import understood
from smart_attributes.model import State
from smart_attributes.reading.processes import Runner

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())
SDA, RAID = '/dev/sda', 'megaraid,0@/dev/bus/0'
DRIVE = read('samsung-healthy')


def test_some_machines_show_each_drive_once_and_no_failing_one_as_a_healthy_one(
    tmp_path,
):
    counted: Counter[str] = Counter()
    for number in range(8):
        assert one_drive.faults_of(number, 1, tmp_path / 'machine', counted) == []
    assert counted['failed'] and counted['drives'] > 20


def test_the_oracle_notices_a_derived_status_that_hides_the_one_of_the_drive(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(same_drive, '_status', lambda reports: reports[0])
    faults = [
        fault
        for number in range(12)
        for fault in one_drive.faults_of(number, 1, tmp_path / 'machine', Counter())
    ]

    assert faults


# ms that the second address takes longer, so that it answers last on a busy machine, too
LATER = 200


class Bed:
    """A drive at two addresses, which has counted errors whenever it is read."""

    def __init__(self, folder: Path, wwn: str) -> None:
        self.folder, self.wwn, self.now = folder, wwn, START
        (folder / 'state').mkdir()

    def drives_after(self, counted: int, counted_later: int) -> int:
        """Check the drive an hour later; return as how many drives it is shown."""
        self.now += HOUR
        shutil.rmtree(self.folder / 'machine', ignore_errors=True)
        machine = Machine(self.folder / 'machine')
        for address, count in ((SDA, counted), (RAID, counted_later)):
            drive = DRIVE._replace(wwn=self.wwn)
            for _ in range(count):
                drive = one_drive.with_one_error_more(drive)
            machine.add(address, drive, latency=LATER if address == RAID else 0)
        words = [
            '-p',
            machine.smartctl,
            '--nosudo',
            '--state-dir',
            str(self.folder / 'state'),
        ]
        result = survey(understood([*words, '-d', SDA, '-d', RAID])[1], Runner())
        result.history.keep(result.verdicts)
        return len(result.verdicts)


@pytest.fixture
def bed(tmp_path, monkeypatch, request) -> Bed:
    made = Bed(tmp_path, request.param)
    monkeypatch.setattr(time, 'time', lambda: made.now)
    return made


@pytest.mark.parametrize('bed', [DRIVE.wwn, ''], ids=['strong', 'weak'], indirect=True)
def test_a_drive_that_counts_errors_between_two_reads_stays_one_over_three_checks(bed):
    counts = ((0, 0), (0, 1), (1, 2), (2, 4))

    assert [bed.drives_after(*pair) for pair in counts] == [1, 1, 1, 1]


@pytest.mark.parametrize('bed', [''], ids=['weak'], indirect=True)
def test_a_drive_is_split_after_two_checks_agree(bed):
    counts = ((0, 0), (3, 0), (3, 3), (5, 3), (5, 3))

    assert [bed.drives_after(*pair) for pair in counts] == [1, 1, 1, 1, 2]


def verdicts_of(machine: Machine, folder: Path, *words: str) -> dict[str, State]:
    """Return the state of each drive that a check shows, and store what it read."""
    options = understood(
        ['-p', machine.smartctl, '--nosudo', '--state-dir', str(folder), *words]
    )[1]
    result = survey(options, Runner())
    result.history.keep(result.verdicts)
    return {verdict.device.address: verdict.state for verdict in result.verdicts}


@pytest.fixture
def failing(tmp_path) -> Machine:
    """A machine with a drive that says at one of two addresses that it fails."""
    (tmp_path / 'state').mkdir()
    machine = Machine(tmp_path / 'machine')
    for address in (SDA, RAID):
        machine.add(address, DRIVE._replace(health='FAILED'))
    return machine


@pytest.mark.parametrize('is_checked_there', [True, False])
def test_a_status_that_smartctl_derived_does_not_end_the_one_of_the_drive(
    tmp_path, failing, is_checked_there
):
    both = ('-d', SDA, '-d', RAID) if is_checked_there else ('-d', SDA)

    assert State.CRITICAL in verdicts_of(failing, tmp_path / 'state', *both).values()
    for _ in range(2):
        assert verdicts_of(failing, tmp_path / 'state', '-d', RAID) == {
            RAID: State.CRITICAL
        }


@pytest.mark.parametrize('word', ['sda', SDA, RAID, 'bus_0_megaraid_0', DRIVE.serial])
def test_a_drive_that_is_named_is_read_at_its_other_address_too(
    tmp_path, failing, word
):
    verdicts_of(failing, tmp_path / 'state', '-d', SDA, '-d', RAID)
    words = [
        'explain',
        '-p',
        failing.smartctl,
        '--nosudo',
        '--state-dir',
        str(tmp_path / 'state'),
    ]
    result = survey(understood([*words, word])[1], Runner())

    assert [(each.device.address, each.state) for each in result.verdicts] == [
        (RAID, State.CRITICAL)
    ]
    assert {read.outcome.is_status_derived for read in result.reads} == {False}
