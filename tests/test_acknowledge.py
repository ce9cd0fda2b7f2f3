"""The command acknowledge: what it writes is what checks read, and nothing else becomes silent
by it.
"""

import fcntl
import json
import os
import re
import resource
import subprocess
from pathlib import Path
from typing import Any

import pytest
from days import DAY, START, Machine, command_at, disk, environment, failing

from smart_attributes.errors import DataError
from smart_attributes.knowledge import acknowledgements

WHY = ('--why', 'stable since 2024')


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    found = Machine(tmp_path)
    found.holds(sda=disk(a5=50, a197=2), sdb=disk('SERIAL02', a5=60))
    return found


def accept(machine: Machine, *words: str, now: float = START):
    return machine.run(now, 'acknowledge', *words)


def kept_values(machine: Machine) -> dict[tuple[str, str], float]:
    """Return the value that is acknowledged for each serial number and metric."""
    file = acknowledgements.document((machine.config / 'acknowledged.json').read_text())
    return {(kept.serial, kept.metric): kept.value for kept in file.acknowledgements}


def test_an_accepted_number_is_silent_in_every_check_until_it_grows(machine):
    """As it stands now; other metrics and other drives are as loud as before."""
    assert machine.check(START, '-d', '/dev/sda').code == 1
    done = accept(machine, '-d', '/dev/sda', 'reallocated', 'pending', *WHY)

    assert (done.code, done.first_line) == (
        0,
        'acknowledged: sda pending 2, warning above 0 (serial number SERIAL01)',
    )
    silent = machine.check(START, '-d', '/dev/sda', '-v')
    assert (silent.code, '(acknowledged.json)' in silent.text) == (0, True)
    assert ': stable since 2024' in machine.run(START, 'explain', '-d', '/dev/sda').text
    assert machine.check(START, '-d', '/dev/sdb').code == 1
    machine.holds(sda=disk(a5=51, a197=2))
    assert '51 reallocated sectors' in machine.check(START, '-d', '/dev/sda').first_line


def test_it_ends_on_its_day(machine):
    """Until 24 November, that day included."""
    accept(machine, '-d', '/dev/sdb', 'reallocated', *WHY, '--until', '2026-11-24')

    assert [
        machine.check(START + days * DAY, '-d', '/dev/sdb').code for days in (0, 4, 5)
    ] == [
        0,
        0,
        1,
    ]
    listed = [accept(machine, '--list', now=START + days * DAY).text for days in (4, 5)]
    assert [', expired' in text for text in listed] == [False, True]


def test_a_whole_machine_is_accepted_as_it_was_found(machine):
    """At roll-out: all that alarms, and no more; a growth from then on is news."""
    machine.holds(sda=disk(a187=2), sdb=disk('SERIAL02', a5=60), sdc=disk('SERIAL03'))
    done = accept(machine, '--all', '--why', 'as found')

    assert done.code == 0
    assert kept_values(machine) == {
        ('SERIAL01', 'reported_uncorrect'): 2,
        ('SERIAL02', 'reallocated'): 60,
    }
    assert machine.check(START).code == 0
    assert accept(machine, '--all', '--why', 'as found').text.startswith(
        'nothing to acknowledge'
    )


@pytest.mark.parametrize(
    'failing',
    [
        # replace now: more sectors pending than disks survive
        {'a197': 100},
        # copy the data now, and order a replacement
        {'a197': 16},
        # check the cooling; also copy the data now, and order a replacement
        {'a197': 16, 'a194': 75},
    ],
)
def test_all_accepts_no_drive_that_must_be_copied_and_its_name_does(machine, failing):
    """Nobody has seen it yet: a playbook runs --all on hosts whose output nobody reads."""
    machine.holds(sda=disk(a5=50, **failing), sdb=disk('SERIAL02', a5=60))
    state = machine.check(START, '-d', '/dev/sda').code
    done = accept(machine, '--all', '--why', 'as found')

    assert done.code == 1
    assert set(kept_values(machine)) == {('SERIAL02', 'reallocated')}
    assert machine.check(START, '-d', '/dev/sda').code == state
    step = re.search(
        'run: check_smart_attributes acknowledge (sda --why) WHY', done.text
    )
    assert step, done.text
    assert accept(machine, *step[1].split(), 'as found').code == 0
    assert machine.check(START).code == 0


def test_an_acknowledged_error_never_ends_the_copy_before_a_firmware_update(machine):
    crucial = {
        'model_name': 'M4-CT256M4SSD2',
        'firmware_version': '0002',
        'rotation_rate': 0,
    }
    machine.holds(sda={**disk(a187=3, a9=100), **crucial})
    before = machine.check(START)
    all_refused = accept(machine, '--all', '--why', 'as found')
    is_silent = (machine.config / 'acknowledged.json').exists()
    accept(machine, 'sda', *WHY)
    after = machine.check(START)

    assert '[watch] ' in before.text
    assert 'copy the data now, then update the firmware' in before.text
    assert (all_refused.code, is_silent) == (1, False)
    assert kept_values(machine) == {('SERIAL01', 'reported_uncorrect'): 3}
    assert 'copy the data now, then update the firmware' in after.first_line


def test_the_name_of_a_drive_accepts_all_that_it_alerts_by(machine):
    """Each value is printed, and other drives alert as before."""
    done = accept(machine, 'sda', *WHY)

    assert (done.code, len(done.text.splitlines())) == (0, 2)
    assert kept_values(machine) == {
        ('SERIAL01', 'pending'): 2,
        ('SERIAL01', 'reallocated'): 50,
    }
    assert machine.check(START, '-d', '/dev/sda').code == 0
    assert machine.check(START, '-d', '/dev/sdb').code == 1


def test_the_word_of_the_drive_is_refused(machine):
    """Health FAILED is never silent, and who tries is told; what can be accepted is."""
    machine.holds(sda=failing(a5=50))

    done = accept(machine, 'sda', *WHY)

    assert done.code == 1
    assert set(kept_values(machine)) == {('SERIAL01', 'reallocated')}
    assert 'not acknowledged: sda smart_status' in done.text
    assert machine.check(START).code == 2


REPORTS = str(Path(__file__).parent / 'reports')


@pytest.mark.parametrize(
    'words, status, kept',
    [
        (('--report', REPORTS), 3, set()),
        (
            ('--report', REPORTS, 'wd_gold_healthy'),
            0,
            {('EXAMPLE0008', 'reallocated')},
        ),
        (
            ('--report', f'{REPORTS}/wd-gold-healthy.json'),
            0,
            {('EXAMPLE0008', 'reallocated')},
        ),
        (('-d', '/dev/sda', '-d', '/dev/sdb', 'sdb'), 0, {('SERIAL02', 'reallocated')}),
        (('-d', '/dev/sd[ab]'), 3, set()),
    ],
)
def test_a_metric_is_acknowledged_on_the_named_drives_only(
    machine, words, status, kept
):
    """Options of a service may read many drives, and a name chooses among them."""
    accept(machine, 'sdb', 'reallocated', *WHY)
    accept(machine, '--withdraw', 'SERIAL02')

    assert accept(machine, *words, 'reallocated', *WHY).code == status
    assert set(kept_values(machine)) == kept


def test_what_was_accepted_is_listed_and_withdrawn(machine):
    """By serial number and metric, also of a drive that is gone."""
    accept(machine, '-d', '/dev/sda', '-d', '/dev/sdb', 'reallocated', *WHY)

    assert len(accept(machine, '--list').text.splitlines()) == 2
    assert accept(machine, '--withdraw', 'SERIAL01:reallocated').code == 0
    assert [
        line.split()[0] for line in accept(machine, '--list').text.splitlines()
    ] == ['SERIAL02']
    assert accept(machine, '--withdraw', 'SERIAL02').code == 0
    assert accept(machine, '--list').first_line == 'nothing is acknowledged'
    assert machine.check(START, '-d', '/dev/sda').code == 1


@pytest.mark.parametrize(
    'words',
    [
        ['-d', '/dev/sda', 'reallocated'],
        ['-d', '/dev/sda', 'reallocated', '--why', 'short'],
        ['reallocated', *WHY],
        [*WHY],
        ['--scan', *WHY],
        ['sda', 'sectors', *WHY],
        ['sda', 'SERIAL09', *WHY],
        ['sda', '--missing', 'sdb', '--all', *WHY],
        ['-d', '/dev/sda', 'reallocated', *WHY, '--until', '2026-02-30'],
        ['-d', '/dev/sda', 'reallocated', *WHY, '--until', '2026-11-19'],
        ['-d', '/dev/sda', 'reallocated', '--all', *WHY],
        ['-d', '/dev/sda', 'helium', *WHY],
        ['--withdraw', 'NOBODY'],
        ['--missing', *WHY],
        ['--withdraw', 'SERIAL01', 'pending'],
    ],
)
def test_what_cannot_be_meant_changes_nothing(machine, words):
    """With a sentence, and exit status 3."""
    assert accept(machine, *words).code == 3
    assert not (machine.config / 'acknowledged.json').exists()


@pytest.mark.parametrize('serial', ['000', 'N/A'])
def test_a_number_that_many_drives_tell_as_their_serial_number_accepts_nothing(
    tmp_path, serial
):
    """What is accepted of one of them would be silent on all."""
    machine = Machine(tmp_path)
    machine.holds(sda=disk(serial, a5=50), sdb=disk(serial, a5=50))

    done = accept(machine, '-d', '/dev/sda', 'reallocated', *WHY)

    assert (done.code, 'no serial number' in done.text) == (3, True)


def test_what_is_withdrawn_is_told(machine):
    """By the name that the list gives it, too: a drive may call itself what cannot be pasted."""
    machine.holds(sda=disk("O'NEIL 01", a5=50))
    accept(machine, '-d', '/dev/sda', 'reallocated', *WHY)

    assert accept(machine, '--withdraw', 'ONEIL 01').text.startswith(
        'withdrawn: ONEIL 01 reallocated 50, by '
    )
    assert accept(machine, '--list').first_line == 'nothing is acknowledged'


def test_no_serial_number_is_told_where_none_is_wanted(machine):
    """Not with what has ended either."""
    accept(machine, '-d', '/dev/sda', 'reallocated', *WHY, '--until', '2026-11-20')

    told = machine.check(START + DAY, '-d', '/dev/sda', '--hide-serial', '-vv').text
    assert 'acknowledged.json: ' in told
    assert ' 2026-11-20' in told
    assert 'SERIAL01' not in told


# --- a file that a site has written into ---

SITE: dict[str, Any] = {
    'comment': 'kept by the storage team',
    'x-ticket': 4711,
    'metrics': {'temperature': {'warning': '45', 'critical': '48'}},
    'overrides': [
        {
            'for': {'serial': 'SERIAL01'},
            'why': 'watched by the storage team',
            'metrics': {
                'temperature': {'critical': '20', 'warning': '15'},
                'pending': {'acknowledged': 1, 'warning': '0', 'critical': '3'},
            },
        },
        {
            'for': {'model': 'ACME .*'},
            'why': 'a bad batch of 2024',
            'x-batch': 'B7',
            'skip': ['selftest'],
        },
        {
            'for': {'serial': 'OTHER001'},
            'why': 'looked at in 2024',
            'by': 'anna',
            'metrics': {'pending': {'acknowledged': 7}},
        },
    ],
}


@pytest.fixture
def kept(machine: Machine) -> Path:
    """acknowledged.json with what a site wrote into it."""
    file = machine.config / 'acknowledged.json'
    file.write_text(json.dumps(SITE))
    return file


# The first override of SITE without its acknowledgement.
LIMITS_LEFT = {
    **SITE['overrides'][0],
    'metrics': {
        'temperature': {'critical': '20', 'warning': '15'},
        'pending': {'warning': '0', 'critical': '3'},
    },
}


def overrides(file: Path) -> list[Any]:
    return list(json.loads(file.read_text())['overrides'])


def test_acknowledge_keeps_limits_overrides_metrics_and_unknown_keys(machine, kept):
    """It adds its own override, leaves the others, and reports the mistakes among them: a check is
    UNKNOWN because of them.
    """
    done = accept(machine, '-d', '/dev/sdb', 'reallocated', *WHY)

    data = json.loads(kept.read_text())
    assert done.code == 0 and 'unknown key "x-ticket"' in done.text
    assert {**data, 'overrides': data['overrides'][:3]} == SITE
    assert [(new['for'], new['metrics']) for new in data['overrides'][3:]] == [
        ({'serial': 'SERIAL02'}, {'reallocated': {'acknowledged': 50 + 10}})
    ]


def test_a_second_acknowledgement_replaces_the_first_one_alone(machine, kept):
    """Limits beside it in the same override stay."""
    accept(machine, '-d', '/dev/sda', 'pending', *WHY)

    first, *_, last = overrides(kept)
    assert first == LIMITS_LEFT
    assert (last['for'], last['metrics']) == (
        {'serial': 'SERIAL01'},
        {'pending': {'acknowledged': 2}},
    )


@pytest.mark.parametrize('name', ['SERIAL01', 'SERIAL01:pending'])
def test_withdraw_removes_the_acknowledgement_alone(machine, kept, name):
    """The override goes only where nothing else is in it."""
    assert accept(machine, '--withdraw', name, '--withdraw', 'OTHER001').code == 0

    assert overrides(kept) == [LIMITS_LEFT, SITE['overrides'][1]]


def test_acknowledge_refuses_a_file_that_it_cannot_change_safely(machine):
    """It leaves every byte, and says how to go on."""
    text = '{"overrides": [], "overrides": []}'
    file = machine.config / 'acknowledged.json'
    file.write_text(text)
    for words in (
        ['-d', '/dev/sda', 'reallocated', *WHY],
        ['--withdraw', 'SERIAL01'],
        ['--list'],
    ):
        done = accept(machine, *words)
        assert (done.code, file.read_text()) == (3, text)
        assert str(file) in done.text


def test_an_acknowledgement_through_a_link_changes_the_file_behind_it(
    machine, tmp_path
):
    """Configuration management links files into the folder; the link stays."""
    behind = tmp_path / 'managed.json'
    behind.write_text(json.dumps({'metrics': SITE['metrics']}))
    (machine.config / 'acknowledged.json').symlink_to(behind)
    accept(machine, '-d', '/dev/sdb', 'reallocated', *WHY)

    assert (machine.config / 'acknowledged.json').is_symlink()
    assert set(json.loads(behind.read_text())) == {'metrics', 'overrides'}


def test_what_acknowledge_writes_fits_the_schema_of_checks(machine, monkeypatch):
    """SUDO_USER may be longer than "by" may be."""
    monkeypatch.setattr(
        'days.environment', lambda: {**environment(), 'SUDO_USER': 'x' * 100}
    )
    accept(machine, '-d', '/dev/sdb', 'reallocated', *WHY)

    assert machine.check(START, '-d', '/dev/sdb').code == 0


# --- several at once, and what fails half way ---


def start(found: list[str], *words: str, **more: Any) -> subprocess.Popen[bytes]:
    """Start an acknowledge. found: words with which it finds the machine, whose smartctl is
    written only once.
    """
    return subprocess.Popen(
        command_at(START, 'acknowledge', *found, *words),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment(),
        **more,
    )


def texts(started: list[subprocess.Popen[bytes]]) -> list[str]:
    return [process.communicate(timeout=60)[0].decode() for process in started]


def test_six_at_once_keep_all_their_numbers(machine):
    """Each says that it kept two, and the file has all twelve."""
    machine.holds(
        **{f'sd{letter}': disk(f'SERIAL{letter}', a5=50, a197=2) for letter in 'abcdef'}
    )
    found = machine.words()
    said = texts([start(found, f'sd{letter}', *WHY) for letter in 'abcdef'])

    assert sum(text.count('acknowledged: ') for text in said) == 12
    assert len(accept(machine, '--list').text.splitlines()) == 12


def test_waiting_for_the_lock_is_bounded(machine, monkeypatch):
    """With a sentence that names the file, and nothing changed."""
    from smart_attributes.commands import acknowledge
    from smart_attributes.errors import DataError

    monkeypatch.setattr(acknowledge, 'PATIENCE', 0.05)
    accept(machine, '-d', '/dev/sdb', 'reallocated', *WHY)
    file = machine.config / 'acknowledged.json'
    before = file.read_bytes()
    with open(f'{file}.lock', 'rb') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(DataError, match=f'fuser {file}.lock'):
            acknowledge.withdraw(str(machine.config), ['SERIAL02'])

    assert file.read_bytes() == before


def test_nobody_else_can_hold_the_lock(machine):
    """Only its owner can open it, and one that is not his alone is refused."""
    accept(machine, '-d', '/dev/sdb', 'reallocated', *WHY)
    lock = machine.config / 'acknowledged.json.lock'
    assert lock.stat().st_mode & 0o777 == 0o600
    lock.chmod(0o644)

    done = accept(machine, '-d', '/dev/sda', 'reallocated', *WHY)
    assert (done.code, f'rm {lock}' in done.text) == (3, True)


def test_a_folder_that_others_can_write_to_is_refused(machine):
    """There, another user could put a file in the place of the lock."""
    machine.config.chmod(0o777)

    done = accept(machine, '-d', '/dev/sdb', 'reallocated', *WHY)
    assert (done.code, f'{machine.config} is writable' in done.text) == (3, True)
    assert list(machine.config.iterdir()) == []


def test_a_full_disk_leaves_the_file_whole(machine):
    """It is written beside and put in place in one step; nothing else remains."""
    accept(machine, '-d', '/dev/sdb', 'reallocated', *WHY)
    file = machine.config / 'acknowledged.json'
    before, files = file.read_bytes(), sorted(os.listdir(machine.config))

    def small() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    said = texts(
        [
            start(
                machine.words(), '-d', '/dev/sda', 'reallocated', *WHY, preexec_fn=small
            )
        ]
    )

    assert 'error: ' in said[0] and 'File too large' in said[0]
    assert (file.read_bytes(), sorted(os.listdir(machine.config))) == (before, files)


# --- what is refused and what is not ---


def test_a_recorded_report_is_acknowledged_as_a_drive_is(machine, tmp_path):
    """Help offers --report."""
    report = tmp_path / 'sdb.json'
    report.write_text(json.dumps(disk('SERIAL02', a5=60)))
    done = accept(machine, '--report', str(report), 'reallocated', *WHY)

    assert (
        done.code,
        done.first_line.startswith('acknowledged: sdb reallocated 60, '),
    ) == (0, True)
    assert machine.check(START, '-d', '/dev/sdb').code == 0


@pytest.mark.parametrize('state, code', [('ok', 0), ('warning', 3)])
def test_a_machine_without_drives_has_nothing_to_acknowledge(machine, state, code):
    """A playbook accepts on all hosts, and some have no drives."""
    machine.holds()
    done = accept(machine, '--all', '--scan', '--no-drives', state, *WHY)

    assert (done.code, 'no drives' in done.text) == (code, True)


def test_a_drive_is_acknowledged_by_the_name_and_without_the_serial_number_of_the_check(
    machine,
):
    """With the options of a check that names drives by serial number, or hides these."""
    hidden = accept(machine, '-d', '/dev/sda', 'pending', '--hide-serial', *WHY)
    listed = accept(machine, '--list', '--hide-serial')
    named = accept(machine, '-d', '/dev/sda', 'pending', '--label', 'serial', *WHY)

    assert [done.code for done in (hidden, listed, named)] == [0, 0, 0]
    assert 'SERIAL01' not in hidden.text + listed.text
    assert 'acknowledged: serial01 pending' in named.text


# --- what is acknowledged is seen ---


def test_the_first_line_counts_acknowledged_drives_and_their_lines_name_the_metric(
    machine,
):
    """Without -v; 16 pending sectors looked like none."""
    machine.holds(
        sda=disk(a197=16), sdb=disk('SERIAL02', a5=60, a197=16), sdc=disk('SERIAL03')
    )
    accept(machine, 'sda', 'sdb', *WHY)
    done = machine.check(START)

    assert (done.code, done.first_line.split('; ')[-1]) == (
        0,
        '3 drives: 1 ok, 2 acknowledged',
    )
    assert 'pending 16 (acknowledged)' in done.line_of('sda')
    assert done.line_of('sdb').count('(acknowledged)') == 2
    assert 'acknowledged' not in done.line_of('sdc')


def test_an_acknowledgement_that_silences_nothing_is_not_counted(machine):
    """The number is harmless, or has passed what was accepted."""
    machine.holds(sda=disk(a197=5))
    accept(machine, 'sda', 'pending', *WHY)
    machine.holds(sda=disk(a197=0))
    done = machine.check(START)

    assert (done.code, done.first_line.split('; ')[-1]) == (0, '1 drive: 1 ok')


def test_performance_data_is_the_same_with_an_acknowledgement(machine):
    """Graphs and their limits know nothing of it."""
    before = machine.check(START).text.splitlines()[-1]
    accept(machine, 'sda', 'sdb', *WHY)
    after = machine.check(START)

    assert (after.code, after.text.splitlines()[-1]) == (0, before)


@pytest.mark.parametrize(
    'text, words',
    [
        ('{', 'acknowledged.json'),
        ('{"overrides": [], "overrides": []}', '"overrides"'),
        ('[]', 'acknowledged.json: write '),
        ('{"overrides": {}}', 'must be a list of objects'),
        ('{"overrides": [1]}', 'must be a list of objects'),
        ('{"metrics": {"temperature": {"warning": 1e999}}}', '1e999'),
    ],
)
def test_a_file_in_which_a_change_could_lose_something_is_an_error(text, words):
    with pytest.raises(DataError, match=words):
        acknowledgements.document(text)


ENDED = {('SERIAL01', 'pending')}


@pytest.mark.parametrize(
    'metrics, left',
    [
        ({'pending': {'acknowledged': 2, 'why': 'w'}}, None),
        ({'pending': {'why': 'w'}}, {'pending': {'why': 'w'}}),
        (
            {'pending': {'acknowledged': 2, 'why': 'w', 'warning': 5}},
            {'pending': {'why': 'w', 'warning': 5}},
        ),
        (
            {'pending': {'acknowledged': 2}, 'reallocated': {'acknowledged': 3}},
            {'reallocated': {'acknowledged': 3}},
        ),
        (3, 3),
        ({'pending': 3}, {'pending': 3}),
    ],
)
def test_what_stands_beside_an_ended_acknowledgement_stays(metrics, left):
    override = {'for': {'serial': 'SERIAL01'}, 'why': 'w'}
    before = {'overrides': [{**override, 'metrics': metrics}], 'comment': 'c'}

    assert acknowledgements.without(before, ENDED) == {
        'overrides': [] if left is None else [{**override, 'metrics': left}],
        'comment': 'c',
    }


@pytest.mark.parametrize('device', ['SERIAL01', {'serial': 3}, None])
def test_an_override_of_no_serial_number_stays(device):
    override = {'for': device, 'metrics': {'pending': {'acknowledged': 2}}}

    assert acknowledgements.without({'overrides': [override]}, ENDED) == {
        'overrides': [override]
    }


def test_what_protects_a_drive_stays_without_a_metric():
    protecting = {
        'for': {'serial': 'SERIAL01'},
        'why': 'its log hangs it',
        'skip': ['selftest'],
    }
    before = {**protecting, 'metrics': {'pending': {'acknowledged': 2}}}

    assert acknowledgements.without({'overrides': [before]}, ENDED) == {
        'overrides': [protecting]
    }
