"""Verdicts when all drives have answered, and which drives have further logs."""

from __future__ import annotations

from functools import lru_cache

import pytest
from conftest import drive
from days import HOUR, START, Machine, disk

from smart_attributes import alarm
from smart_attributes.check import rulebook, verdicts
from smart_attributes.check.history_access import Remembered
from smart_attributes.check.inventory import Inventory
from smart_attributes.commands import table
from smart_attributes.errors import DataError, DriveAsleep, DriveError
from smart_attributes.model import Device, Read, State
from smart_attributes.reading import json_report

WWN = {'naa': 5, 'oui': 0xC50, 'id': 0x1A2B3C4D}
OF_A_DISK = Device('/dev/sda', name='sda')


@pytest.fixture
def machine(tmp_path) -> Machine:
    return Machine(tmp_path)


@pytest.fixture(scope='module')
def judge() -> rulebook.Judge:
    options = table.understood(['--no-history', '--config', '/nonexistent'])[1]
    return rulebook.judge_of(options, rulebook.site_of(options.data, options.before))


@lru_cache
def read(name: str = 'micron-5200-healthy') -> Read:
    return Read(OF_A_DISK, json_report.parse(drive(name)))


def verdicts_of(judge: rulebook.Judge, *reads: Read) -> verdicts.Verdicts:
    return verdicts.Verdicts(Inventory(reads, (), is_bare=False), Remembered(), judge)


def test_when_it_is_too_late_what_was_judged_stays_and_the_others_are_unknown(judge):
    """A drive that nobody judged is never well."""
    judging = verdicts_of(judge, read())
    (early,) = judging.all('')
    other = Read(Device('/dev/sdb', name='sdb'), read().outcome)
    judging._drives = Inventory((read(), other), (), is_bare=False)
    first, second = judging.all('time limit of 55 s exceeded')

    assert (early.state, first) == (State.OK, early)
    assert (second.state, second.code) == (State.UNKNOWN, 'not-judged')
    assert '55 s' in second.problem


@pytest.mark.parametrize(
    'error, code, words',
    [
        (DataError('site.json: x'), 'configuration-error', 'site.json: x'),
        (alarm.TakesTooLong('5.5 s of'), 'judging-failed', '5.5 s of'),
        (KeyError('x'), 'internal-error', 'smartctl --json -x'),
    ],
)
def test_what_goes_wrong_with_one_drive_is_told_of_that_drive(
    judge, error, code, words
):
    """By its name and its serial number; the others are judged."""

    class Broken:
        def identify(self, *_: object) -> None:
            raise error

    broken = judge._replace(database=Broken())  # type: ignore[arg-type]
    (told,) = verdicts_of(broken, read()).all('')

    assert (told.state, told.code, told.device) == (State.UNKNOWN, code, OF_A_DISK)
    assert told.explained.endswith(words)
    assert told.identity.serial and told.identity == read().identity


def test_a_drive_that_gives_no_report_is_unknown_and_one_that_sleeps_is_well(judge):
    """Each with the words of what read it."""
    told = verdicts.verdict(
        read()._replace(outcome=DriveError('is silent')), judge, None
    )
    asleep = verdicts.verdict(
        read()._replace(outcome=DriveAsleep('is asleep')), judge, None
    )

    assert (told.state, told.problem, asleep.state) == (
        State.UNKNOWN,
        'is silent',
        State.OK,
    )


def test_growth_of_a_drive_that_cannot_be_distinguished_is_not_told(machine):
    """Alone the disk is the one that history knows; beside two that share half of its name each,
    nobody is.
    """
    machine.holds(sda={**disk(a199=212), 'wwn': WWN})
    assert machine.check(START).code == 0
    machine.holds(sda={**disk(a199=226), 'wwn': WWN})
    assert 'grew by 14' in machine.check(START + HOUR).first_line

    machine.holds(
        sda={**disk(a199=240), 'wwn': WWN},
        sdb=disk(),
        sdc={**disk(serial=''), 'wwn': WWN},
    )
    result = machine.check(START + 2 * HOUR, '-v')

    assert result.code == 0 and 'grew' not in result.text
    assert 'cannot be distinguished' in result.text
