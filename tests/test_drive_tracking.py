"""Drives that come, go, move and sleep, as a check tells them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from conftest import Result, run
from days import DAY, HOUR, START, Machine, asleep, disk, failing

from smart_attributes.check import drive_tracking
from smart_attributes.check.drive_tracking import Whereabouts
from smart_attributes.history import drive_file
from smart_attributes.history.drive_records import (
    DrivePlace,
    Match,
    Record,
    Scope,
)
from smart_attributes.model import Device, Identity, State, Verdict


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    found = Machine(tmp_path)
    found.holds(sda=disk(), sdb=disk('SERIAL02'))
    assert found.check(START, '--scan').code == 0
    return found


def told(result: Result) -> list:
    """Return what is told without -v of the run as a whole."""
    assert 'list of devices' not in result.text
    return [
        line[6:]
        for line in result.text.splitlines()
        if line.startswith('note: ') and 'attributes.json' not in line
    ]


@pytest.mark.parametrize(
    'later, ago',
    [
        (0, ''),
        (300, ', noticed 5 min'),
        (19 * HOUR, ', noticed 19 h'),
        (25 * HOUR, None),
    ],
)
def test_another_drive_at_an_address_is_told_for_a_day_whoever_looks(
    machine, later, ago
):
    """A swap is news for the admin on the next morning, too, and then no more."""
    assert told(machine.check(START + HOUR / 2, '--scan')) == []
    machine.holds(sda=disk(), sdb=disk('SERIAL03'))
    machine.check(START + HOUR, '--scan')

    news = told(machine.check(START + HOUR + later, '--scan'))
    assert [f' by ACME HD4000 SERIAL03{ago}' in each for each in news] == (
        [] if ago is None else [True]
    )


def drives_of(result: Result) -> dict[str, tuple]:
    """Return state, code of the problem and action of each drive in triage's JSON."""
    return {
        drive['name']: (drive['state'], drive['code'], drive['action'])
        for drive in json.loads(result.text)['drives']
    }


def test_a_drive_that_is_gone_is_in_the_first_line(machine):
    """A scan alone would be content with what is left."""
    machine.holds(sda=disk())

    first = machine.check(START + HOUR, '--scan')
    assert first.first_line.startswith('SMART WARNING - sdb is missing ')
    [news] = told(machine.check(START + HOUR, '--scan', '--missing', 'ok'))
    assert ' SERIAL02 ' in news
    later = machine.check(START + 40 * DAY, '--scan')
    assert ' 2026-11-20 01:00); ' in later.first_line  # since when
    document = machine.folder / 'host.json'
    document.write_text(
        machine.run(START + 40 * DAY, 'triage', '--scan', '--json').text
    )
    fleet = json.loads(run('fleet', '--json', str(document)).text)['drives']
    assert [drive['action'] for drive in fleet] == ['search', 'nothing']


def test_a_command_for_a_missing_drive_contains_nothing_that_a_shell_would_run(machine):
    """A serial number is made up by the drive, and admins paste the command as root."""
    machine.holds(sda=disk(), sdb=disk('S1;reboot'))
    machine.check(START + HOUR, '--scan')
    machine.holds(sda=disk())

    text = machine.check(START + 2 * HOUR, '--scan').text

    assert set(re.findall(r'acknowledge --missing (\S+)', text)) == {'sdb'}


@pytest.mark.parametrize(
    'forged', [{'concern': 'x'}, {'remedy': 'x'}, {'words': 'a|b\nOK'}]
)
def test_what_another_version_has_stored_does_not_stop_the_display(machine, forged):
    machine.holds(sda=disk(), sdb=failing('SERIAL02'))
    machine.check(START + HOUR, '--scan')
    for path in (machine.state / 'history').glob('*.drive'):
        drive = drive_file.parsed(path.read_bytes(), 0)
        findings = tuple(
            finding._replace(**forged) for finding in drive.verdict.findings
        )
        verdict = drive.verdict._replace(findings=findings)
        path.write_bytes(drive_file.text(drive._replace(verdict=verdict)))
    machine.holds(sda=disk(), sdb=asleep())

    result = machine.check(START + 2 * HOUR, '--scan')
    assert (result.code, 'internal-error' in result.text) == (2, False)
    assert result.first_line.startswith('SMART CRITICAL - sdb: ')
    assert result.first_line.count('|') == 0
    page = machine.run(START + 2 * HOUR, 'triage', '--scan', '--json')
    assert drives_of(page)['sdb'] == ('CRITICAL', 'asleep', 'copy')


def test_triage_tells_what_checks_no_longer_tell(machine):
    """What was swapped or moved for a month, what is gone until root accepts it; as a table, as
    JSON, on the page.
    """
    machine.holds(sda=disk(), sdb=disk('SERIAL02'), sdc=disk('SERIAL04'))
    machine.check(START + HOUR / 2, '--scan')
    machine.holds(sda=disk('SERIAL03'), sdc=disk('SERIAL04'))
    machine.check(START + HOUR, '--scan')
    assert told(machine.check(START + 20 * DAY, '--scan')) == []
    page = machine.folder / 'page.html'
    words = 'triage', '--scan', '--missing', 'ok'

    swapped, gone = told(machine.run(START + 20 * DAY, *words))
    assert 'SERIAL03' in swapped and 'SERIAL02' in gone and ' 20 d ' in gone
    assert told(machine.run(START + 20 * DAY, 'triage', '--scan')) == [swapped]
    machine.run(START + 20 * DAY, *words, '--html', str(page))
    assert f'<p class="remark">{swapped}</p>' in page.read_text()
    found = json.loads(machine.run(START + 40 * DAY, *words, '--json').text)
    [remark] = found['remarks']
    assert (found['state'], remark.pop('text')) == (
        'OK',
        gone.replace(' 20 d ', ' 40 d '),
    )
    assert remark == {
        'code': 'drive-missing',
        'address': '/dev/sdb',
        'model': 'ACME HD4000',
        'serial': 'SERIAL02',
    }


def silent() -> dict[str, Any]:
    """What smartctl says of a drive that is there and does not answer."""
    said = asleep()
    said['smartctl']['messages'] = [
        {
            'string': 'Smartctl open device: /dev/sdb [SAT] failed: Input/output error',
            'severity': 'error',
        }
    ]
    return said


def test_a_drive_that_falls_silent_is_named_as_it_was_seen_last(machine):
    """Its line cannot tell who it is, and somebody has to pull the right one; so in every face."""
    machine.holds(sda=disk(), sdb=silent())
    seen = 'last seen there: ACME HD4000 (serial SERIAL02), {} h ago'

    for hours in (5, 6):
        result = machine.check(START + hours * HOUR, '--scan')
        assert result.first_line.startswith('SMART UNKNOWN - sdb ')
        assert seen.format(hours) in result.text
    page = json.loads(machine.run(START + 5 * HOUR, 'triage', '--scan', '--json').text)
    assert [seen.format(5) in (drive['why'] or '') for drive in page['drives']] == [
        True,
        False,
    ]
    hidden = machine.check(START + 5 * HOUR, '--scan', '--hide-serial').text
    assert 'there: ACME HD4000, 5 h ' in hidden and 'SERIAL0' not in hidden


def test_a_drive_that_answers_elsewhere_is_not_the_one_that_is_silent(machine):
    """After a start that gave other letters: /dev/sdb was SERIAL02, which is /dev/sda now."""
    machine.holds(sda=disk('SERIAL02'), sdb=silent())

    assert 'last seen there' not in machine.check(START + HOUR, '--scan').text


def test_a_drive_that_a_pattern_leaves_out_is_not_gone(machine):
    """It is there, and nobody wants to know more of it."""
    assert (
        told(
            machine.check(
                START + HOUR, '--scan', '--ignore', '/dev/sdb', '--missing', 'critical'
            )
        )
        == []
    )


def test_a_sleeping_disk_is_no_solid_state_drive(machine):
    """Whether it turns, neither a disk in standby tells nor history."""
    machine.holds(sda=asleep(), sdb=disk('SERIAL02'))

    drives = json.loads(machine.run(START + HOUR, 'triage', '--scan', '--json').text)[
        'drives'
    ]
    assert {drive['name']: (drive['model'], drive['kind']) for drive in drives} == {
        'sda': ('ACME HD4000', None),
        'sdb': ('ACME HD4000', 'hdd'),
    }


# --- what is told of values ---------------------------------------------------------------------

DISK, OTHER, THIRD = (
    Identity(model='ACME HD4000', serial='SERIAL01'),
    Identity(model='ACME HD4000', serial='SERIAL02'),
    Identity(model='ACME HD4000', serial='SERIAL03'),
)
MET_THIRD = Record(3, THIRD, 0, START, 3)
SCAN = Scope(is_scan=True)


def accepts_none(identity: Identity, place: DrivePlace, device: Device) -> bool:
    return False


def known(*identities: Identity, hide_serial: bool = False, **more: Any) -> Whereabouts:
    """Drives that history has known for a day and a scan has found at sda, sdb and so on; where
    they are now.
    """
    records = [
        Record(number, identity, START - DAY, START - DAY, order=number)
        for number, identity in enumerate(identities, 1)
    ]
    places = [
        DrivePlace(
            f'/dev/sd{"abc"[record.number - 1]}',
            record.number,
            START - DAY,
            is_scanned=True,
        )
        for record in records
    ]
    met = more.get('met', ())
    return drive_tracking.found(
        places,
        records,
        met,
        {address: '' for address, _, _ in met},
        SCAN,
        START,
        hide_serial,
    )


def test_drives_that_are_new_have_numbers_that_no_other_one_has():
    """As history gives them when the answer is out; until then they must not be taken for drives
    that it knows.
    """
    first, second = Identity(serial='SERIAL08'), Identity(serial='SERIAL09')
    met = [('/dev/sdc', first, Match()), ('/dev/sdd', second, Match())]

    assert known(DISK, OTHER, met=met).records == {
        1: Record(1, DISK, START - DAY, START - DAY, order=1),
        2: Record(2, OTHER, START - DAY, START - DAY, order=2),
        3: Record(3, first, START, START, order=3),
        4: Record(4, second, START, START, order=4),
    }
    assert list(known(met=met).records) == [1, 2]


def test_a_drive_that_is_not_to_be_told_from_another_takes_nobody_s_place():
    """Something is there; who, nobody knows."""
    found = known(
        DISK, met=[('/dev/sda', Identity(), Match(note='has no serial number'))]
    )

    assert list(found.records) == [1]
    assert drive_tracking.news(found, [], False) == []


def test_a_drive_that_is_gone_is_missed_unless_it_is_accepted():
    asked = []

    def accepts(identity: Identity, place: DrivePlace, device: Device) -> bool:
        asked.append((identity, place.first))
        return identity == OTHER

    here = known(DISK, OTHER, THIRD, met=[('/dev/sdc', THIRD, Match(MET_THIRD))])
    [missed] = drive_tracking.missed(here, State.WARNING, accepts)

    assert (missed.identity, missed.place.address) == (DISK, '/dev/sda')
    assert asked == [(DISK, START - DAY), (OTHER, START - DAY)]
    assert [
        drive.state
        for drive in drive_tracking.missed(here, State.WARNING, accepts_none)
    ] == [State.CRITICAL] * 2


@pytest.mark.parametrize(
    'place, missed',
    [
        ({}, [DISK]),
        ({'slot': 'pci-0000:00:14.0-usb-0:2:1.0-scsi-0:0:0:0'}, []),  # it is taken home
        ({'is_scanned': False}, []),  # a scan does not look there
        ({'gone': START - 9 * DAY, 'newest_order': 2}, [DISK]),  # since then
    ],
)
def test_where_a_drive_was_decides_whether_it_is_missed(place, missed):
    left = DrivePlace('/dev/sda', 1, START - 99 * DAY, is_scanned=True)._replace(
        **place
    )
    places = [left, DrivePlace('/dev/sdc', 2, START - DAY, is_scanned=True)]
    records = [Record(1, DISK, 0, 0, 1), Record(2, OTHER, 0, START, 2)]
    met = [('/dev/sdc', OTHER, Match(records[1]))]
    here = drive_tracking.found(places, records, met, {'/dev/sdc': ''}, SCAN, START)

    assert [
        drive.identity
        for drive in drive_tracking.missed(here, State.WARNING, accepts_none)
    ] == missed


@pytest.mark.parametrize(
    'unread, confusable, unless',
    [
        ([], (), ''),
        (['/dev/sdb'], ('/dev/sdb',), '; it may be one that was not read: sdb'),
        (
            ['/dev/sdb', '/dev/sdd'],
            ('/dev/sdb', '/dev/sdd'),
            '; it may be one that was not read: sdb, sdd',
        ),
        (['/dev/nvme0', '/dev/sg4'], (), ''),
    ],
)
def test_a_drive_that_may_sleep_under_another_name_is_one_of_several(
    unread, confusable, unless
):
    """The kernel gives the names of disks anew; those that sleep do not say who they are."""
    records = [Record(1, DISK, 0, 0, 1), Record(2, OTHER, 0, START, 2)]
    places = [DrivePlace('/dev/sda', 1, 0, is_scanned=True)]
    met = [('/dev/sdc', OTHER, Match(records[1]))]
    there = dict.fromkeys(['/dev/sdc', *unread], '')
    here = drive_tracking.found(places, records, met, there, SCAN, START)

    [missed] = drive_tracking.missed(here, State.WARNING, accepts_none)
    assert missed.confusable == confusable
    assert f'){unless}; check the slot' in str(missed.read.outcome)


@pytest.mark.parametrize(
    'identity, hides_serial, later, fields, ago',
    [
        (DISK, False, 59, {'model': 'ACME HD4000', 'serial': 'SERIAL01'}, False),
        (DISK, False, 60, {'model': 'ACME HD4000', 'serial': 'SERIAL01'}, True),
        (DISK, True, 0, {'model': 'ACME HD4000', 'serial': None}, False),
        (Identity(), False, 0, {'model': None, 'serial': None}, False),
    ],
)
def test_a_drive_that_is_gone_is_named_as_it_may_be(
    identity, hides_serial, later, fields, ago
):
    """A check that takes its time tells of its own moment."""
    gone = known(identity, hide_serial=hides_serial)._replace(now=START + later)

    [news] = drive_tracking.news(gone, [], False)
    assert (news.code, news.fields) == (
        'drive-missing',
        {'address': '/dev/sda', **fields},
    )
    assert (', noticed ' in news) is ago
    shown = drive_tracking.missed(gone, State.WARNING, accepts_none)
    assert drive_tracking.news(gone, shown, True) == []


def test_who_took_another_one_s_place_has_replaced_it():
    """One of them is told of both."""
    replaced = known(DISK, met=[('/dev/sda', OTHER, Match())])
    [news] = drive_tracking.news(replaced, [], False)
    assert (news.code, news.fields['serial']) == ('drive-replaced', 'SERIAL01')


@pytest.mark.parametrize('silence, state', [(DAY, State.OK), (DAY + 1, State.WARNING)])
def test_a_drive_may_sleep_for_as_long_as_its_site_says(silence, state):
    verdict = Verdict(Device('/dev/sda'), Identity(), State.OK, (), problem='asleep')
    found = drive_tracking.asleep(
        verdict, Record(1, DISK, 0, START), START + silence, DAY
    )

    assert (found.state, found.identity) == (state, DISK)
    assert found.code == ('asleep-too-long' if state is State.WARNING else '')
    is_said = 'last read 24 h ago (--asleep-max-age 24 h)' in found.explained
    assert is_said is (state is State.WARNING)


@pytest.mark.parametrize(
    'options, drives',
    [
        (['--ignore', 'SERIAL02'], ['sda']),
        (['--match', 'SERIAL01$'], ['sda']),
    ],
)
def test_patterns_know_a_sleeping_drive_by_its_remembered_name(
    machine, options, drives
):
    """A service for one kind of drives keeps its drives when some sleep."""
    machine.holds(sda=disk(), sdb=asleep())

    text = machine.check(START + HOUR, '--scan', *options).text
    assert [
        line.split()[1] for line in text.splitlines()[1:] if line.startswith('OK ')
    ] == drives


def test_no_pattern_leaves_out_a_sleeping_drive_that_nobody_remembers(machine):
    """Never OK by silence: who it is cannot be told."""
    machine.holds(sda=disk(), sdb=asleep())

    assert machine.check(
        START, '--scan', '--no-history', '--ignore', 'SERIAL02'
    ).line_of('sdb')


def test_a_sleeping_drive_goes_by_its_remembered_name(machine):
    """In standby it tells neither model nor serial number."""
    machine.holds(sda=asleep(), sdb=disk('SERIAL02'))

    result = machine.check(START + 3 * DAY, '--scan', '--missing', 'critical')

    assert result.code == 0
    assert result.line_of('sda').startswith('OK        sda  ACME HD4000  ')
    assert '; last read 3 d ' in result.line_of('sda')
    assert result.line_of('sda').endswith('  SERIAL01  firmware 1.0')
    assert told(result) == []


@pytest.mark.parametrize(
    'days, options, code',
    [
        (6, [], 0),
        (8, [], 1),
        (2, ['--asleep-max-age', '36h'], 1),
        (8, ['--asleep', 'critical'], 2),
    ],
)
def test_a_drive_that_sleeps_for_too_long_is_a_warning(machine, days, options, code):
    """Nobody knows how it is."""
    machine.holds(sda=asleep(), sdb=disk('SERIAL02'))

    result = machine.check(START + days * DAY, '--scan', *options)

    assert result.code == code
    assert ('--asleep-max-age' in result.line_of('sda')) == (code != 0)
