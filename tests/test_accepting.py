"""The job acknowledge: what it writes is what checks read, and nothing else becomes silent by it."""
from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import run
from days import DAY, START, Machine, disk

WHY = ('--why', 'stable since 2024')


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    found = Machine(tmp_path)
    found.holds(sda=disk(a5=50, a197=2), sdb=disk('SERIAL02', a5=60))
    return found


def accept(machine: Machine, *words: str, now: float = START):
    return machine.run(now, 'acknowledge', *words)


def test_an_accepted_number_is_silent_in_every_check_until_it_grows(machine):
    """As it stands now; other roles and other drives are as loud as before."""
    assert machine.check(START, '-d', '/dev/sda').code == 1
    done = accept(machine, '-d', '/dev/sda', 'reallocated', 'pending', *WHY)

    assert (done.code, done.first_line.startswith('acknowledged: SERIAL01 pending 2, by ')) == (0, True)
    assert machine.check(START, '-d', '/dev/sda').code == 0
    assert machine.check(START, '-d', '/dev/sdb').code == 1
    machine.holds(sda=disk(a5=51, a197=2))
    assert 'reallocated 51' in machine.check(START, '-d', '/dev/sda').first_line


def test_what_is_accepted_is_told_with_why(machine):
    """In -v, where a person asks."""
    accept(machine, '-d', '/dev/sda', 'pending', *WHY)

    assert '(acknowledged.json)' in machine.check(START, '-d', '/dev/sda', '-v').text
    assert ': stable since 2024' in machine.run(START, 'explain', '-d', '/dev/sda').text


def test_it_ends_on_its_day(machine):
    """Until 24 November, that day included."""
    accept(machine, '-d', '/dev/sdb', 'reallocated', *WHY, '--until', '2026-11-24')

    assert [machine.check(START + days * DAY, '-d', '/dev/sdb').code for days in (0, 4, 5)] == [0, 0, 1]


def test_a_whole_machine_is_accepted_as_it_was_found(machine):
    """At roll-out: all that alarms, and no more; a growth from then on is news."""
    done = accept(machine, '-d', '/dev/sda', '-d', '/dev/sdb', '--all', '--why', 'as found')

    assert done.code == 0
    assert [line.split(',')[0] for line in done.text.splitlines()] == [
        'acknowledged: SERIAL01 pending 2', 'acknowledged: SERIAL01 reallocated 50',
        'acknowledged: SERIAL02 reallocated 60']
    assert machine.check(START).code == 0


def test_the_word_of_the_drive_is_refused(machine):
    """Health FAILED is never silent, and who tries is told; what can be accepted is."""
    failed = disk(a5=50)
    failed['smart_status'] = {'passed': False}
    machine.holds(sda=failed)

    done = accept(machine, '-d', '/dev/sda', '--all', *WHY)

    assert done.code == 1
    assert 'not acknowledged: sda smart_status: FAILED: is the word of the drive itself' in done.text
    assert machine.check(START).code == 2


def test_what_was_accepted_is_listed_and_withdrawn(machine):
    """By serial number and role, also of a drive that is gone."""
    accept(machine, '-d', '/dev/sda', '-d', '/dev/sdb', 'reallocated', *WHY)

    assert len(accept(machine, '--list').text.splitlines()) == 2
    assert accept(machine, '--withdraw', 'SERIAL01:reallocated').code == 0
    assert [line.split()[0] for line in accept(machine, '--list').text.splitlines()] == ['SERIAL02']
    assert accept(machine, '--withdraw', 'SERIAL02').code == 0
    assert accept(machine, '--list').first_line == 'nothing is acknowledged'
    assert machine.check(START, '-d', '/dev/sda').code == 1


@pytest.mark.parametrize('words', [
    ['-d', '/dev/sda', 'reallocated'], ['-d', '/dev/sda', 'reallocated', '--why', 'short'], ['reallocated', *WHY],
    [*WHY],
    ['-d', '/dev/sda', 'reallocated', *WHY, '--until', '2026-02-30'], ['-d', '/dev/sda', 'reallocated', '--all', *WHY],
    ['-d', '/dev/sda', 'helium', *WHY], ['--withdraw', 'NOBODY']],
    ids=['no-why', 'short-why', 'no-drive', 'nothing', 'no-day', 'both', 'a-role-it-does-not-tell', 'withdraw-unknown'])
def test_what_cannot_be_meant_changes_nothing(machine, words):
    """With a sentence, and exit status 3."""
    assert accept(machine, *words).code == 3
    assert list(machine.config.iterdir()) == []


@pytest.mark.parametrize('serial', ['000', 'N/A'])
def test_a_number_that_many_drives_tell_as_their_serial_number_accepts_nothing(tmp_path, serial):
    """What is accepted of one of them would be silent on all."""
    machine = Machine(tmp_path)
    machine.holds(sda=disk(serial, a5=50), sdb=disk(serial, a5=50))

    done = accept(machine, '-d', '/dev/sda', 'reallocated', *WHY)

    assert (done.code, 'tells no serial number by which it would be known again' in done.text) == (3, True)


def test_a_day_that_is_past_accepts_nothing(machine):
    """It would be said to be acknowledged, and alarm on."""
    done = accept(machine, '-d', '/dev/sdb', 'reallocated', *WHY, '--until', '2026-11-19')

    assert done.text == ('SMART UNKNOWN - --until 2026-11-19 is past; name the last day on which the number is '
                         'accepted\n')


def test_the_list_tells_what_has_ended(machine):
    """On the day after its last one."""
    accept(machine, '-d', '/dev/sdb', 'reallocated', *WHY, '--until', '2026-11-20')

    assert ['which is past' in accept(machine, '--list', now=START + days * DAY).text for days in (0, 1)] == [
        False, True]


def test_what_is_withdrawn_is_told(machine):
    """By the name that the list gives it, too: a drive may call itself what cannot be pasted."""
    machine.holds(sda=disk("O'NEIL 01", a5=50))
    accept(machine, '-d', '/dev/sda', 'reallocated', *WHY)

    assert accept(machine, '--withdraw', 'ONEIL 01').text.startswith('withdrawn: ONEIL 01 reallocated 50, by ')
    assert accept(machine, '--list').first_line == 'nothing is acknowledged'


def test_the_command_line_names_a_day_of_the_calendar(machine):
    """As a text, 2026-13-45 stands behind all days of the year."""
    done = machine.check(START, '--acknowledged', 'SERIAL01:reallocated=50:2026-13-45')

    assert (done.code, '2026-13-45 is no day, such as 2027-01-31' in done.text) == (3, True)


def test_no_serial_number_is_told_where_none_is_wanted(machine):
    """Not with what has ended either."""
    accept(machine, '-d', '/dev/sda', 'reallocated', *WHY, '--until', '2026-11-20')

    told = machine.check(START + DAY, '-d', '/dev/sda', '--hide-serial', '-vv').text
    assert 'acknowledged.json: the override for this serial number ended on 2026-11-20' in told
    assert 'SERIAL01' not in told


def test_a_file_with_a_mistake_is_not_written_over(machine):
    """Somebody has been at it by hand; what he meant must not be lost."""
    (machine.config / 'acknowledged.json').write_text('{"overrides": [')

    assert accept(machine, '-d', '/dev/sda', 'reallocated', *WHY).code == 3
    assert (machine.config / 'acknowledged.json').read_text() == '{"overrides": ['


def test_a_file_that_others_can_write_silences_nothing(machine):
    """Only root, or the user of the check, accepts."""
    accept(machine, '-d', '/dev/sdb', 'reallocated', *WHY)
    (machine.config / 'acknowledged.json').chmod(0o666)

    assert machine.check(START, '-d', '/dev/sdb').code == 3


def test_the_file_is_proved_like_one_of_limits(machine):
    """prove finds mistakes that a person made in it, and what has ended."""
    accept(machine, '-d', '/dev/sda', 'reallocated', *WHY)
    file = machine.config / 'acknowledged.json'
    assert run('prove', str(file)).code == 0

    data = json.loads(file.read_text())
    data['overrides'][0]['for'] = {'device': 'sda'}
    file.write_text(json.dumps(data))
    assert 'with "serial" in "for"' in run('prove', str(file)).text
