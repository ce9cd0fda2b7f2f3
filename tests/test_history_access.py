"""History in a check: what is told because of it, when it is written, and what is said where it
cannot be used.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from conftest import drive, run
from days import DAY, HOUR, START, Machine, disk

from smart_attributes import state_directory
from smart_attributes.check import history_access, history_answers, last_verdict
from smart_attributes.check.drive_tracking import Whereabouts
from smart_attributes.check.history_access import READS, WRITES, Remembered
from smart_attributes.check.reads import Reads
from smart_attributes.check.settings import HistorySettings, of_history
from smart_attributes.command_line.options import HistoryUse
from smart_attributes.commands import table
from smart_attributes.errors import DriveAbsent, DriveIsNoDrive, HistoryUnusable
from smart_attributes.history.store import HistoryStore
from smart_attributes.model import (
    Device,
    Identity,
    Judgement,
    LastVerdict,
    Read,
    Reading,
    Report,
    Source,
    State,
    Verdict,
)
from smart_attributes.reading import addresses, json_report
from smart_attributes.reading.identity import is_same_drive
from smart_attributes.reading.machine import DeviceList
from smart_attributes.reading.smartctl_calls import read_arguments


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def grown(machine: Machine, *options: str) -> None:
    """Two checks, an hour apart, between which crc_errors rose."""
    machine.holds(sda=disk(a199=212))
    assert machine.check(START, *options).code == 0
    machine.holds(sda=disk(a199=226))


@pytest.mark.parametrize('later, code', [(6 * DAY, 1), (8 * DAY, 0)])
def test_growth_is_told_for_seven_days_whoever_looks(machine, later, code):
    """A manual run and three soft states end no alarm: nothing that was decided is stored."""
    grown(machine)
    for minutes in (60, 61, 65):
        machine.check(START + minutes * 60)

    assert machine.check(START + HOUR + later).code == code


def test_history_that_cannot_be_used_is_said_without_v(machine):
    """Whoever relies on growth must know that nobody looks at it.

    Where there is a history, this is a WARNING.
    """
    machine.holds(sda=disk())
    absent = machine.check(START, '--state-dir', '/dev/null/absent')
    unusable = machine.check(START, '--state-dir', '/dev/null')
    (machine.state / 'history').write_text('in the way')

    assert (absent.code, unusable.code) == (0, 1)
    assert '\nnote: no history: ' in absent.text
    assert unusable.first_line.startswith('SMART WARNING - [history-unusable] ')
    assert machine.check(START).first_line.startswith(
        'SMART WARNING - [history-unusable] no history: '
    )
    assert machine.check(START, '--history-required', 'ok').code == 0
    assert 'note: no history: ' in machine.run(START, 'explain', '-d', '/dev/sda').text


@pytest.mark.parametrize(
    'home, is_said', [('/dev/null/absent', False), ('/proc', True)]
)
def test_where_a_user_has_no_home_there_is_no_history_to_be_missed(fake, home, is_said):
    """Nothing is meant to last there; --state-dir gives it a place.

    A home that cannot be written is another matter.
    """
    fake.answers(read_arguments('/dev/sda'), drive('intel-worn'))

    result = run(
        '-p',
        fake.path,
        '--nosudo',
        '-d',
        '/dev/sda',
        env={'HOME': home, 'XDG_STATE_HOME': ''},
    )

    assert ('no history' in result.text) == is_said


def test_triage_shows_the_past_and_changes_nothing(machine):
    """A person who looks is no check: nothing grows because of it, and root leaves no files."""
    grown(machine)
    before = files(machine)

    found = json.loads(
        machine.run(START + HOUR, 'triage', '-d', '/dev/sda', '--json').text
    )['drives'][0]

    assert found['state'] == 'WARNING'
    assert found['past']['crc_errors'] == [[START, 212]]
    assert files(machine) == before


def files(machine):
    """What is in history's folder, and when it was written."""
    return sorted(
        (file.name, file.stat().st_mtime_ns) for file in machine.state.glob('history/*')
    )


def test_triage_without_any_history_says_nothing_of_it(machine, state_home):
    """No check has remembered anything yet: nothing is missing, and none is made."""
    result = run('triage', '--nosudo', '-p', '/bin/true', '-d', '/dev/null')

    assert 'no history' not in result.text
    assert not os.path.exists(
        os.path.join(state_home, 'check-smart-attributes', 'history')
    )


# --- tables of cases, without a run of the program ------------------------------------------------

SDA, OTHER = Device('/dev/sda', name='sda'), Device('/dev/sdb', name='sdb')
INTEL = Read(SDA, json_report.parse(drive('intel-s3500-healthy')))
SLEEPING = Verdict(SDA, Identity(), State.OK, problem='sleeps')


@pytest.fixture
def history(tmp_path):
    """Return the history that a check at a time has; each is a process of its own elsewhere."""
    (tmp_path / 'state').mkdir()

    def opened(now: int, writes: bool = True) -> HistoryStore:
        return HistoryStore(
            str(tmp_path / 'state'),
            now,
            is_same_drive,
            'machine',
            writes=writes,
        )

    return opened


def met(history: HistoryStore, *settings: HistorySettings) -> Remembered:
    """Return the history of a check that read one Intel drive."""
    known = Remembered(history, *settings)
    recall(known, INTEL)
    return known


def recall(known: Remembered, *reads: Read) -> Whereabouts | None:
    """Look up the drives at these addresses."""
    stage = Reads(DeviceList(tuple(read.device for read in reads)), reads)
    answered = tuple(read for read in reads if isinstance(read.outcome, Report))
    return known.recall(stage, answered, reads, {})


def verdict_of(read: Read, number: float = 8.0, state: State = State.OK) -> Verdict:
    assert isinstance(read.outcome, Report)
    return Verdict(
        read.device,
        read.outcome.identity,
        state,
        (Judgement(Reading('crc_errors', number, '', Source('', 199, 'raw')), state),),
    )


def test_without_history_no_drive_has_a_past():
    known = Remembered()

    assert (
        known.past(SDA),
        known.identity_at(SDA),
        history_answers.drive(known, SLEEPING),
    ) == (None, None, None)
    assert (known.remarks, recall(known, INTEL)) == ((), None)
    assert known.asleep(SLEEPING) == SLEEPING and known.notes(SLEEPING) == ()


def breaks(*_):
    raise HistoryUnusable('disk full')


def test_history_that_cannot_be_read_is_not_used_and_says_why(history, monkeypatch):
    monkeypatch.setattr(HistoryStore, 'read', breaks)
    known = met(history(START))

    assert (known.read_store(), known.past(SDA)) == (None, None)
    [remark] = known.remarks
    assert remark.code == 'history-unusable' and 'disk full' in remark


def test_history_that_cannot_be_written_stops_nothing(history, monkeypatch):
    monkeypatch.setattr(HistoryStore, 'keep', breaks)

    met(history(START)).keep([verdict_of(INTEL)])


def test_each_remark_about_the_history_has_its_code(history, monkeypatch):
    store = history(START)
    for name in ('slowness', 'not_written', 'doubt'):
        monkeypatch.setattr(HistoryStore, name, name)
    monkeypatch.setattr(HistoryStore, 'damage', ['damaged'])
    monkeypatch.setattr(HistoryStore, 'old_damage', ['twice'])
    known = Remembered(store)

    assert [(each.code, each) for each in known.remarks] == [
        ('clock-behind', 'history: doubt'),
    ]
    assert [(each.code, each) for each in known.losses] == [
        ('history-slow', 'history: slowness'),
        ('history-not-written', 'history: not_written'),
        ('history-damaged', 'damaged'),
        ('history-damaged', 'twice'),
    ]


@pytest.mark.parametrize(
    'is_whole, not_written, is_written',
    [
        (False, '', True),
        (True, '', False),
        (False, 'read-only', False),
        (True, 'read-only', False),
    ],
)
def test_readings_are_stored_by_a_check_that_can_write(
    history, monkeypatch, is_whole, not_written, is_written
):
    monkeypatch.setattr(HistoryStore, 'not_written', not_written)

    access = READS if is_whole else WRITES
    settings = HistorySettings(HistoryUse(access))

    assert met(history(START), settings).keeps(SDA) is is_written
    assert not Remembered().keeps(SDA)


@pytest.mark.parametrize(
    'is_own, state, quiet, told',
    [
        (False, State.WARNING, DAY, 1),
        (True, State.WARNING, DAY, 0),
        (False, State.OK, DAY, 0),
        (False, State.WARNING, None, 0),
    ],
)
def test_ages_from_a_history_of_another_user_are_named(
    history, monkeypatch, is_own, state, quiet, told
):
    monkeypatch.setattr(HistoryStore, 'is_own', is_own)
    dated = tuple(
        Judgement(Reading(metric, 8, '', Source('', 199, 'raw'), quiet=quiet), state)
        for metric in ('crc_errors', 'reallocated')
    )
    notes = met(history(START)).notes(verdict_of(INTEL)._replace(judgements=dated))

    assert [each.code for each in notes] == ['history-not-trusted'] * told
    assert all(' crc_errors and reallocated ' in each for each in notes)


def test_a_silent_drive_keeps_its_place_and_its_slot(history, monkeypatch):
    monkeypatch.setattr(addresses, 'name_of', lambda *_: 'pci-0-ata-1')
    met(history(START)).keep([verdict_of(INTEL)])
    met(history(START + HOUR)).keep([verdict_of(INTEL)._replace(problem='is silent')])

    assert [
        (each.address, each.slot, each.gone) for each in history(START + DAY).places
    ] == [('/dev/sda', 'pci-0-ata-1', 0)]


def test_a_drive_that_was_kept_has_a_past_at_the_next_check(history):
    first = met(history(START))
    first.keep([verdict_of(INTEL, 8)])
    second = met(history(START + HOUR))
    known = second.past(SDA)

    assert known is not None and known.now == START + HOUR
    assert {
        key.metric: [point.number for point in series.points]
        for key, series in known.histories.items()
    } == {'crc_errors': [8]}
    [drive] = second.read_store().drives.values()
    assert drive.verdict == LastVerdict(START)
    assert second.identity_at(SDA).serial == INTEL.outcome.identity.serial
    record, series = history_answers.drive(second, SLEEPING)
    assert record.identity.serial == INTEL.outcome.identity.serial
    assert [key.metric for key in series] == ['crc_errors']


def test_a_drive_that_could_not_be_read_is_not_kept(history):
    first = met(history(START))
    first.keep([verdict_of(INTEL)._replace(problem='is silent')])

    assert history_answers.drive(met(history(START + HOUR)), SLEEPING) is None


def test_a_fault_of_ours_in_one_drive_keeps_no_history_from_another(
    history, monkeypatch
):
    work = last_verdict.of

    def broken(verdict, now):
        if verdict.device == SDA:
            raise ZeroDivisionError
        return work(verdict, now)

    monkeypatch.setattr(last_verdict, 'of', broken)
    other = Read(
        OTHER,
        INTEL.outcome._replace(identity=Identity('ATA', 'OTHER', serial='SERIAL02')),
    )
    known = Remembered(history(START))
    recall(known, INTEL, other)
    known.keep([verdict_of(INTEL), verdict_of(other)])

    assert [record.identity.serial for record in history(START + DAY).records] == [
        'SERIAL02'
    ]


@pytest.mark.parametrize('outcome', [DriveAbsent('x'), DriveIsNoDrive('x')])
def test_a_slot_that_is_empty_holds_nobody(history, outcome):
    known = Remembered(history(START))
    recall(known, Read(SDA, outcome))

    assert known._slots == {}


@pytest.mark.parametrize(
    'words, is_used',
    [
        (('-d', '/dev/sda'), True),  # check
        (('-d', '/dev/sda', '--no-history'), False),  # switched off
        (('--report', '/tmp'), False),  # recorded
        (('list',), False),  # list
        (('triage',), True),  # triage
        (('explain', '-d', '/dev/sda'), True),  # explain
    ],
)
def test_history_is_used_by_checks_and_by_people_who_look(tmp_path, words, is_used):
    (tmp_path / 'state').mkdir()
    where = () if words[0] == 'list' else ('--state-dir', str(tmp_path / 'state'))
    options = table.understood([*words, *where])[1]
    known = history_access.remembered(of_history(options))

    assert bool(known.read_store() or known.trouble) is is_used


@pytest.mark.parametrize('command, is_for_a_person', [([], False), (['explain'], True)])
def test_a_check_reads_only_what_it_needs_of_the_history(
    history, tmp_path, command, is_for_a_person
):
    met(history(START)).keep([verdict_of(INTEL)])
    words = [*command, '-d', '/dev/sda', '--state-dir', str(tmp_path / 'state')]
    options = table.understood(words)[1]
    known = history_access.remembered(of_history(options))

    assert known.is_for_a_person is is_for_a_person


@pytest.mark.parametrize(
    'place, given, xdg, home, has_one',
    [
        ('', '', '', '/', False),
        ('/s', '/s', None, '/absent', True),
        (state_directory.PACKAGE, '', None, '/absent', True),
        ('/h/s', '', None, '/absent', False),
        ('/h/s', '', '', '/absent', False),
        ('/h/s', '', '/', '/absent', True),
        ('/h/s', '', '/absent', '/', True),
    ],
)
def test_a_history_has_a_place_if_it_is_given_or_a_home_is_there(
    monkeypatch, place, given, xdg, home, has_one
):
    monkeypatch.setattr(state_directory, 'location', lambda _: place)
    monkeypatch.setenv('HOME', home)
    monkeypatch.delenv('XDG_STATE_HOME', raising=False)
    if xdg is not None:
        monkeypatch.setenv('XDG_STATE_HOME', xdg)

    assert state_directory.has_a_place(given) is has_one


@pytest.mark.parametrize(
    'state, later, is_own, told',
    [
        (State.OK, HOUR, True, True),  # ok
        (State.CRITICAL, HOUR, True, True),  # critical
        (State.OK, 25 * HOUR, True, False),  # too old
        (State.OK, HOUR, False, False),  # ok but foreign
        (State.CRITICAL, HOUR, False, True),  # critical and foreign
    ],
)
def test_a_run_knows_the_last_state_of_drives_that_it_does_not_cover(
    history, monkeypatch, state, later, is_own, told
):
    """A history that another user could have written adds doubt and takes none."""
    other = INTEL._replace(device=OTHER)
    first = Remembered(history(START))
    recall(first, other)
    first.keep([verdict_of(other, state=state)])
    second = Remembered(history(START + later))
    recall(second)
    monkeypatch.setattr(HistoryStore, 'is_own', is_own)

    assert second.states_elsewhere() == ([('/dev/sdb', state)] if told else [])


def test_a_drive_of_this_run_is_no_other(history):
    met(history(START)).keep([verdict_of(INTEL)])

    assert met(history(START + HOUR)).states_elsewhere() == []
    assert Remembered().states_elsewhere() == []
