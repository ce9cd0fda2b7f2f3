"""Drives that come, go, move and sleep, as a check tells them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Result, run
from days import DAY, HOUR, START, Machine, asleep, disk

from smart_attributes.check import drive_tracking
from smart_attributes.check.drive_tracking import Whereabouts
from smart_attributes.history.drive_records import DrivePlace, Match, Record, Scope
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
    [(0, ''), (300, ', noticed 5 min'), (19 * HOUR, ', noticed 19 h'), (25 * HOUR, None)],
)
def test_another_drive_at_an_address_is_told_for_a_day_whoever_looks(machine, later, ago):
    """A swap is news for the admin on the next morning, too, and then no more."""
    assert told(machine.check(START + HOUR / 2, '--scan')) == []
    machine.holds(sda=disk(), sdb=disk('SERIAL03'))
    machine.check(START + HOUR, '--scan')

    news = told(machine.check(START + HOUR + later, '--scan'))
    assert [f' by ACME HD4000 SERIAL03{ago}' in each for each in news] == (
        [] if ago is None else [True]
    )


def test_a_drive_that_is_gone_is_in_the_first_line_until_it_is_retired(machine):
    """A scan alone would be content with what is left."""
    machine.holds(sda=disk())
    critical = ('--scan', '--gone', 'critical')

    first = machine.check(START + HOUR, '--scan')
    assert first.code == 1
    assert first.first_line.startswith('SMART WARNING - [drive-gone] ACME HD4000 SERIAL02 is ')
    [news] = told(machine.check(START + HOUR, '--scan', '--gone', 'ok'))
    assert ' SERIAL02 ' in news
    later = machine.check(START + 40 * DAY, *critical)
    assert later.code == 2
    assert later.first_line.startswith('SMART CRITICAL - [drive-gone] ACME HD4000 SERIAL02 is ')
    assert 'noticed 40 d ' in later.first_line
    document = machine.folder / 'host.json'
    document.write_text(machine.run(START + 40 * DAY, 'triage', *critical, '--json').text)
    fleet = json.loads(run('fleet', '--json', str(document)).text)['drives']
    assert [drive['action'] for drive in fleet] == ['search', 'nothing']
    quiet = machine.check(START + 40 * DAY, '--scan', '--gone', 'ok')
    assert (quiet.code, told(quiet)) == (0, [])
    machine.run(START + 41 * DAY, 'history', '--forget', 'SERIAL02')
    assert machine.check(START + 41 * DAY, *critical).code == 0


def test_triage_tells_what_checks_no_longer_tell(machine):
    """What was swapped or moved for a month, what is gone until it is retired; as a table, as
    JSON, on the page.
    """
    machine.holds(sda=disk('SERIAL03'))
    machine.check(START + HOUR, '--scan')
    assert told(machine.check(START + 20 * DAY, '--scan')) == []
    page = machine.folder / 'page.html'
    words = 'triage', '--scan', '--gone', 'ok'

    swapped, gone = told(machine.run(START + 20 * DAY, *words))
    assert 'SERIAL03' in swapped and 'SERIAL02' in gone and ' 20 d ' in gone
    assert told(machine.run(START + 20 * DAY, 'triage', '--scan')) == [swapped]
    machine.run(START + 20 * DAY, *words, '--html', str(page))
    assert f'<p class="remark">{swapped}</p>' in page.read_text()
    found = json.loads(machine.run(START + 40 * DAY, *words, '--json').text)
    [remark] = found['remarks']
    assert (found['state'], remark.pop('text')) == ('OK', gone.replace(' 20 d ', ' 40 d '))
    assert remark == {
        'code': 'drive-gone',
        'address': '/dev/sdb',
        'model': 'ACME HD4000',
        'serial': 'SERIAL02',
    }


@pytest.mark.parametrize(
    'options, state, field',
    [(('--history-required', 'critical'), 'CRITICAL', 'notes'), ((), 'OK', 'remarks')],
)
def test_triage_has_the_state_that_is_asked_for_where_history_cannot_be_used(
    machine, options, state, field
):
    """In the table and as JSON; without a wish it is a remark."""
    (machine.state / 'history').rename(machine.state / 'away')
    (machine.state / 'history').write_text('in the way')
    words = ('triage', '--scan', *options)

    found = json.loads(machine.run(START + HOUR, *words, '--json').text)
    assert (found['state'], [note['code'] for note in found[field]]) == (
        state,
        ['history-unusable'],
    )
    assert 'no history: ' in machine.run(START + HOUR, *words).text


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
        first = machine.check(START + hours * HOUR, '--scan').first_line
        assert first.startswith('SMART UNKNOWN - sdb [device-open-failed] ')
        assert seen.format(hours) in first
    page = json.loads(machine.run(START + 5 * HOUR, 'triage', '--scan', '--json').text)
    assert [seen.format(5) in (drive['why'] or '') for drive in page['drives']] == [True, False]
    hidden = machine.check(START + 5 * HOUR, '--scan', '--hide-serial').text
    assert 'there: ACME HD4000, 5 h ' in hidden and 'SERIAL0' not in hidden


def test_a_drive_that_answers_elsewhere_is_not_the_one_that_is_silent(machine):
    """After a start that gave other letters: /dev/sdb was SERIAL02, which is /dev/sda now."""
    machine.holds(sda=disk('SERIAL02'), sdb=silent())

    assert 'last seen there' not in machine.check(START + HOUR, '--scan').text


def test_a_drive_that_a_pattern_leaves_out_is_not_gone(machine):
    """It is there, and nobody wants to know more of it."""
    assert (
        told(machine.check(START + HOUR, '--scan', '--ignore', '/dev/sdb', '--gone', 'critical'))
        == []
    )


def test_a_sleeping_disk_is_no_solid_state_drive(machine):
    """Whether it turns, neither a disk in standby tells nor history."""
    machine.holds(sda=asleep(), sdb=disk('SERIAL02'))

    drives = json.loads(machine.run(START + HOUR, 'triage', '--scan', '--json').text)['drives']
    assert {drive['name']: (drive['model'], drive['kind']) for drive in drives} == {
        'sda': ('ACME HD4000', None),
        'sdb': ('ACME HD4000', 'hdd'),
    }


# --- what is told of values ---------------------------------------------------------------------

DISK, OTHER = (
    Identity(model='ACME HD4000', serial='SERIAL01'),
    Identity(model='ACME HD4000', serial='SERIAL02'),
)
SCAN = Scope(is_scan=True)


def accepts_none(identity: Identity, since: int) -> bool:
    return False


def known(*identities: Identity, **more: Any) -> Whereabouts:
    """Drives that history has known for a day and a scan has found at sda, sdb and so on; where
    they are now.
    """
    records = [
        Record(number, identity, START - DAY, START - DAY)
        for number, identity in enumerate(identities, 1)
    ]
    places = [
        DrivePlace(
            f'/dev/sd{"abc"[record.number - 1]}', record.number, START - DAY, is_scanned=True
        )
        for record in records
    ]
    met = more.get('met', ())
    return drive_tracking.found(
        places, records, met, {address: '' for address, _, _ in met}, SCAN, START
    )


def test_drives_that_are_new_have_numbers_that_no_other_one_has():
    """As history gives them when the answer is out; until then they must not be taken for drives
    that it knows.
    """
    first, second = Identity(serial='SERIAL08'), Identity(serial='SERIAL09')
    met = [('/dev/sdc', first, Match()), ('/dev/sdd', second, Match())]

    assert known(DISK, OTHER, met=met).records == {
        1: Record(1, DISK, START - DAY, START - DAY),
        2: Record(2, OTHER, START - DAY, START - DAY),
        3: Record(3, first, START, START),
        4: Record(4, second, START, START),
    }
    assert list(known(met=met).records) == [1, 2]


def test_a_drive_that_is_not_to_be_told_from_another_takes_nobody_s_place():
    """Something is there; who, nobody knows."""
    found = known(DISK, met=[('/dev/sda', Identity(), Match(note='has no serial number'))])

    assert list(found.records) == [1]
    assert drive_tracking.news(found, False, False) == []


@pytest.mark.parametrize(
    'identity, hides_serial, later, sentence',
    [
        (DISK, False, 59, 'ACME HD4000 SERIAL01 is gone from /dev/sda; history --forget SERIAL01'),
        (
            DISK,
            False,
            60,
            'ACME HD4000 SERIAL01 is gone from /dev/sda, noticed 1 min ago; history --forget '
            'SERIAL01',
        ),
        (DISK, True, 0, 'ACME HD4000 is gone from /dev/sda; history --forget SERIAL'),
        (Identity(), False, 0, 'a drive is gone from /dev/sda; history --forget SERIAL'),
    ],
)
def test_a_drive_that_is_gone_is_named_as_it_may_be(identity, hides_serial, later, sentence):
    """And how history retires it; a check that takes its time tells of its own moment."""
    gone = known(identity)._replace(now=START + later)

    assert drive_tracking.gone(gone, hides_serial, accepts_none) == [f'{sentence} retires it']


def test_who_took_another_one_s_place_did_not_just_come():
    """One of them is told of both."""
    replaced = known(DISK, met=[('/dev/sda', OTHER, Match())])
    came = known(
        DISK,
        met=[('/dev/sda', DISK, Match(Record(1, DISK, 0, START))), ('/dev/sdb', OTHER, Match())],
    )

    assert drive_tracking.came(replaced, False, DAY, START - 9 * DAY) == []
    [news] = drive_tracking.went(replaced, False, DAY)
    assert (news.code, news.fields['serial']) == ('drive-replaced', 'SERIAL01')
    [news] = drive_tracking.came(came, False, DAY, START - 9 * DAY)
    assert (news.code, news.fields['serial']) == ('drive-new', 'SERIAL02')


def test_who_comes_to_a_place_that_was_left_long_ago_is_told_as_new():
    """That another one went there is no news any more, and would tell nobody of this one."""
    left = DrivePlace('/dev/sda', 1, START - 20 * DAY, START - 10 * DAY, is_scanned=True)
    found = drive_tracking.found(
        [left],
        [Record(1, DISK, START - 20 * DAY, START - 10 * DAY)],
        [('/dev/sda', OTHER, Match())],
        {'/dev/sda': ''},
        SCAN,
        START,
    )

    assert drive_tracking.went(found, False, DAY) == []
    [news] = drive_tracking.came(found, False, DAY, START - 30 * DAY)
    assert news == 'ACME HD4000 SERIAL02 came to /dev/sda'


def test_where_nobody_was_seen_nothing_is_said():
    assert drive_tracking.last_seen(known(DISK), '/dev/sdz', False) == ''


@pytest.mark.parametrize('silence, state', [(DAY, State.OK), (DAY + 1, State.WARNING)])
def test_a_drive_may_sleep_for_as_long_as_its_site_says(silence, state):
    verdict = Verdict(Device('/dev/sda'), Identity(), State.OK, (), problem='asleep')
    found = drive_tracking.asleep(verdict, Record(1, DISK, 0, START), START + silence, DAY)

    assert (found.state, found.identity) == (state, DISK)
    assert found.problem.startswith('asleep; last read ')
    assert ('longer than 24 h (--asleep-max-age)' in found.problem) is (state is State.WARNING)


@pytest.mark.parametrize(
    'options, drives',
    [
        (['--ignore', 'SERIAL02'], ['sda']),
        (['--match', 'SERIAL01$'], ['sda']),
        (['--match', 'HD4000', '--ignore', 'SERIAL02'], ['sda']),
    ],
)
def test_patterns_know_a_sleeping_drive_by_its_remembered_name(machine, options, drives):
    """A service for one kind of drives keeps its drives when some sleep."""
    machine.holds(sda=disk(), sdb=asleep())

    text = machine.check(START + HOUR, '--scan', *options).text
    assert [line.split()[1] for line in text.splitlines()[1:] if line.startswith('OK ')] == drives


def test_no_pattern_leaves_out_a_sleeping_drive_that_nobody_remembers(machine):
    """Never OK by silence: who it is cannot be told."""
    machine.holds(sda=disk(), sdb=asleep())

    assert machine.check(START, '--scan', '--no-history', '--ignore', 'SERIAL02').line_of('sdb')


def test_a_sleeping_drive_goes_by_its_remembered_name(machine):
    """In standby it tells neither model nor serial number."""
    machine.holds(sda=asleep(), sdb=disk('SERIAL02'))

    result = machine.check(START + 3 * DAY, '--scan', '--gone', 'critical')

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
