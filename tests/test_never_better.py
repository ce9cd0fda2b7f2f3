"""A state falls only by a newer reading of the drive, by its replacement, or by root's word.

Each case is one that a review found, with the real program on drives that say what they are told
to.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import abilities
import block_tree
import pytest
from conftest import ROOT, Result
from days import (
    DAY,
    HOUR,
    START,
    Machine,
    asleep,
    command_at,
    disk,
    environment,
    killed,
    stored,
)
from fake_smartctl import FakeSmartctl
from test_forged_history import Shared

from smart_attributes.reading.smartctl_calls import read_arguments

Said = dict[str, Any]  # what smartctl prints about a drive

GONE = 'CRITICAL drive-missing'
SLOT = 'pci-0000:00:17.0-ata-{}'
USB = 'pci-0000:00:14.0-usb-0:2:1.0-scsi-0:0:0:0'
FIBRE, ISCSI = (
    'pci-0000:05:00.0-fc-0x50-lun-3',
    'ip-10.0.0.9:3260-iscsi-iqn.2026-11.example-lun-1',
)
_LINE = re.compile(r'^(OK|WARNING|CRITICAL|UNKNOWN) +(\S+)(.*)$', re.MULTILINE)


def failing(serial: str = 'BBBB2222', **raw: int) -> Said:
    """Return what smartctl says of a disk whose health status is FAILED."""
    return {**disk(serial, **{'a5': 2000, **raw}), 'smart_status': {'passed': False}}


def refused(reason: str) -> Said:
    """Return what smartctl says of a device that it cannot read."""
    return {
        'json_format_version': [1, 0],
        'smartctl': {
            'version': [7, 3],
            'exit_status': 2,
            'messages': [{'string': reason, 'severity': 'error'}],
        },
    }


UNREADABLE = refused('Read Device Identity failed: Input/output error')
ABSENT = refused('Smartctl open device: /dev/sdb failed: No such device')
NO_ANSWER = {'json_format_version': [1, 0], 'smartctl': {'exit_status': 2}}
A, C, D = disk('AAAA1111'), disk('CCCC3333'), disk('DDDD4444')
B = failing()
ALL = {'sda': A, 'sdb': B, 'sdc': C}
WITHOUT_B = {'sda': A, 'sdc': C}
each_event = pytest.mark.parametrize(
    'event', [{}, {'sdb': asleep()}, {'sdb': UNREADABLE}]
)


def verdicts(result: Result) -> dict[str, str]:
    """Return the state and the first code of each drive by name, and those of each message about
    the check by code.
    """
    shown = {}
    for state, name, words in _LINE.findall(result.text):
        code = re.search(r'  \[([a-z-]+)\]', words)  # at the beginning of a column
        if name == '(check)' and code:
            shown[code[1]] = state
        else:
            shown[name] = f'{state} {code[1]}' if code else state
    return shown


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Three drives, of which sdb was FAILED one hour ago."""
    made = Machine(tmp_path)
    made.holds(**ALL)
    first = made.check(START - HOUR, '--scan')
    assert verdicts(first) == {'sda': 'OK', 'sdb': 'CRITICAL', 'sdc': 'OK'}
    return made


@pytest.fixture
def plain(tmp_path: Path) -> Machine:
    """A machine that no check has seen."""
    return Machine(tmp_path)


def scan(machine: Machine, now: float, *options: str, **drives: Said) -> Result:
    """Let a machine hold only these drives, and check it."""
    machine.holds(**drives)
    return machine.check(now, '--scan', *options)


# --- A1 to A3: a FAILED drive is not read ---------------------------------------------------------


@pytest.mark.parametrize(
    ('event', 'expected'),
    [
        ({}, GONE),
        ({'sdb': ABSENT}, GONE),
        ({'sdb': asleep()}, 'CRITICAL asleep'),
        ({'sdb': UNREADABLE}, 'CRITICAL identify-failed'),
        ({'sdb': NO_ANSWER}, 'CRITICAL'),
    ],
    ids=['gone', 'absent', 'asleep', 'unreadable', 'no answer'],
)
def test_a_failed_drive_that_is_not_read_stays_critical(machine, event, expected):
    """For months, and however often it is checked."""
    for now in (START, START + HOUR, START + 8 * DAY, START + 200 * DAY):
        result = scan(machine, now, **WITHOUT_B, **event)

        shown = verdicts(result)
        assert result.code == 2
        assert shown.pop('sdb').startswith(expected)
        assert shown == {'sda': 'OK', 'sdc': 'OK'}
        assert 'FAILED' in result.first_line


@each_event
def test_a_newer_reading_ends_it(machine, event):
    scan(machine, START, **WITHOUT_B, **event)
    result = scan(machine, START + HOUR, **WITHOUT_B, sdb=disk('BBBB2222'))

    assert (result.code, verdicts(result)['sdb']) == (0, 'OK')
    assert scan(machine, START + 2 * HOUR, **WITHOUT_B, sdb=asleep()).code == 0


@pytest.mark.parametrize(('level', 'code'), [('raid1', 2), ('', 1)])
def test_a_healthy_drive_that_leaves_an_array_is_critical(plain, tmp_path, level, code):
    tree = block_tree.Machine(tmp_path / 'tree')
    tree.disks('sda', 'sdb')
    if level:
        tree.md('md0', level, {'sda1': 'in_sync', 'sdb1': 'in_sync'})
        tree.mounted('/dev/md0', '/srv')
    plain.holds(sda=A, sdb=disk('BBBB2222'))
    assert in_tree(plain, tree, START).code == 0
    tree.pull('sdb')
    if level:
        tree.files(
            tree.sys / 'block/md0/md', {'degraded': '1', 'dev-sdb1/state': 'faulty'}
        )
    plain.holds(sda=A)
    result = in_tree(plain, tree, START + HOUR)

    assert (result.code, verdicts(result)['sdb'].split()[1]) == (code, 'drive-missing')


def in_tree(machine: Machine, tree: block_tree.Machine, now: float) -> Result:
    """Run a check on a machine whose /sys is a tree of this test."""
    *interpreter, program = command_at(now)
    setup = (
        'from smart_attributes.reading import system\n'
        f'system.LINUX = system.System(*{tuple(tree.system)!r})\n'
    )
    place = program.index('\nimport sys, time') + 1
    done = subprocess.run(
        [
            *interpreter,
            program[:place] + setup + program[place:],
            *machine.words('--scan'),
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        env=environment(),
        timeout=60,
        check=False,
    )
    return Result(done.returncode, done.stdout.decode())


# --- A4, A5: all or many are gone -----------------------------------------------------------------


@pytest.mark.parametrize('options', [(), ('--no-drives', 'ok'), ('--expect', '0')])
def test_no_drives_where_the_history_knows_some_is_critical(machine, options):
    result = scan(machine, START, *options)

    shown = verdicts(result)
    assert (result.code, shown.pop('drives-missing')) == (2, 'CRITICAL')
    assert '3 of 3 drives' in result.first_line
    assert shown == dict.fromkeys(['sda', 'sdb', 'sdc'], GONE)


# --- A6: a history that cannot be used ------------------------------------------------------------


@abilities.other_user
@abilities.needs('setpriv')
def test_a_history_of_another_user_is_in_the_first_line(open_place):
    shared = Shared(open_place)
    shared.holds(**ALL)
    assert shared.by_nobody(START).code == 2
    for path in (shared.state, *shared.state.rglob('*')):
        os.chown(path, 1234, 1234)
    shared.holds(sda=A)
    result = shared.by_nobody(START + HOUR)

    assert (result.code, verdicts(result)['history-unusable']) == (1, 'WARNING')
    assert '[history-unusable]' in result.first_line


# --- A7, A8: a missing drive is shown, and its readings are kept ----------------------------------


@pytest.mark.parametrize('word', ['BBBB2222', 'sdb', '/dev/sdb', SLOT.format(2)])
@pytest.mark.parametrize('command', ['history', 'triage'])
def test_a_missing_drive_is_shown_by_its_names(machine, command, word):
    slots = {'sda': SLOT.format(1), 'sdb': SLOT.format(2), 'sdc': SLOT.format(3)}
    machine.has_slots(**slots)
    scan(machine, START - HOUR / 2, **ALL)
    machine.has_slots(sda=slots['sda'], sdc=slots['sdc'])
    scan(machine, START, **WITHOUT_B)
    if word == '/dev/sdb':
        machine.holds(**WITHOUT_B, sdb=ABSENT)
    result = machine.run(START + HOUR, command, word, '--json')

    (drive,) = json.loads(result.text)['drives']
    assert drive['serial'] == 'BBBB2222'
    if command == 'triage':
        assert (drive['state'], drive['code']) == ('CRITICAL', 'drive-missing')
        metrics = {finding['metric'] for finding in drive['last']['findings']}
        assert metrics == {'smart_status', 'reallocated'}


@pytest.mark.parametrize(
    ('word', 'serial'),
    [('BBBB2222', 'BBBB2222'), ('BBBB2229', 'BBBB2229'), ('sdb', 'BBBB2229')],
)
def test_explain_tells_a_missing_drive_from_one_with_nearly_its_number(
    machine, word, serial
):
    similar = disk('BBBB2229')
    scan(machine, START - HOUR / 2, **ALL, sdd=similar)
    scan(machine, START, **WITHOUT_B, sdb=similar)  # known, at its address
    result = machine.run(START + HOUR, 'explain', word)

    named = re.search(r'^serial +(\w+)', result.text, re.MULTILINE)
    assert named and named[1] == serial
    if serial == 'BBBB2222':
        assert 'drive-missing' in result.text and 'reallocated 2000' in result.text


@pytest.mark.parametrize(
    ('words', 'serials'),
    [
        (['sdb_missing'], ['BBBB2222']),
        (['sdb', 'sdb_missing'], ['CCCC3333', 'BBBB2222']),
        (['sdb', 'AAAA1111'], ['AAAA1111', 'CCCC3333']),
    ],
)
def test_a_missing_drive_is_shown_by_the_name_that_a_check_gives_it(
    machine, words, serials
):
    moved = {'sda': A, 'sdb': C}
    assert verdicts(scan(machine, START, **moved))['sdb_missing'] == GONE
    result = machine.run(START + HOUR, 'triage', '--json', *words)

    drives = json.loads(result.text)['drives']
    assert sorted(drive['serial'] for drive in drives) == sorted(serials)


def test_a_missing_drive_is_told_if_a_pattern_leaves_out_the_one_at_its_address(
    machine,
):
    similar = disk('BBBB2229')
    scan(machine, START - HOUR / 2, **ALL, sdd=similar)
    for now in (START, START + HOUR):
        result = scan(machine, now, '--ignore', 'BBBB2229', **WITHOUT_B, sdb=similar)

        assert (result.code, verdicts(result)) == (
            2,
            {'sda': 'OK', 'sdb': GONE, 'sdc': 'OK'},
        )
    since = re.findall(r'since \S+ (\d\d:\d\d)', result.first_line)
    assert since == ['00:00']  # stored by the check before


@pytest.mark.parametrize('options', [('--ignore', 'BBBB'), ('--match', '(AAAA|CCCC)')])
def test_a_missing_drive_that_a_pattern_leaves_out_is_not_told(machine, options):
    result = scan(machine, START, *options, **WITHOUT_B)

    assert (result.code, verdicts(result)) == (0, {'sda': 'OK', 'sdc': 'OK'})


def test_one_missing_drive_that_is_asked_for_is_not_all_of_them(machine):
    scan(machine, START, **WITHOUT_B)
    machine.holds(**WITHOUT_B, sdb=ABSENT)
    results = [
        machine.run(START + HOUR, 'triage', word) for word in ('BBBB2222', '/dev/sdb')
    ]

    assert ['drive-missing' in result.text for result in results] == [True, True]
    results.append(machine.check(START + HOUR, '--scan', '--match', 'BBBB'))
    assert not [result for result in results if 'drives-missing' in result.text]


# --- A10: places belong to a machine --------------------------------------------------------------


def on_machine(machine: Machine, name: str) -> None:
    """Let the next checks be those of a machine with this ID."""
    file = machine.folder / f'id-{name}'
    file.write_text(f'{name}\n')
    machine.setup = (
        f'from smart_attributes.history import store\nstore.MACHINE_ID = {str(file)!r}'
    )


def test_two_machines_with_one_directory_report_growth_and_miss_drives(plain):
    for step, errors in enumerate((0, 60, 120)):
        for name in 'AB':
            on_machine(plain, name)
            drives = {
                'sda': disk(f'SERIAL{name}1', a199=errors),
                'sdb': failing(f'SERIAL{name}2'),
            }
            result = scan(plain, START + step * HOUR, **drives)
            expected = 'WARNING' if step else 'OK'
            assert verdicts(result) == {'sda': expected, 'sdb': 'CRITICAL'}
    for name in 'AB':
        on_machine(plain, name)
        result = scan(plain, START + 3 * HOUR, sda=disk(f'SERIAL{name}1', a199=120))
        assert verdicts(result)['sdb'] == GONE


def test_a_new_machine_id_restarts_no_counter(plain):
    """In a container, each check can have another one."""
    seen = []
    for step, errors in enumerate((0, 60, 120)):
        on_machine(plain, str(step))
        seen.append(
            verdicts(scan(plain, START + step * HOUR, sda=disk(a199=errors)))['sda']
        )

    assert seen == ['OK', 'WARNING', 'WARNING']


# --- A12: one exit --------------------------------------------------------------------------------

# Runs a check, and forks at each distinct line of the program after judging has begun: the child
# sends itself a signal and goes on. At the end, the parent writes down what became of each child.
SIGNALLED = """
import json, os, sys
sys.path.insert(0, {root!r})
sys.argv[0] = {root!r} + '/check_smart_attributes'
from smart_attributes.main import main
from smart_attributes.check import fence
from smart_attributes.output import plugin
step, number, parent, lines, children = {step}, {number}, os.getpid(), set(), []
has_begun = False

def trace(frame, event, argument):
    global has_begun
    code = frame.f_code
    if 'smart_attributes' not in code.co_filename:
        return None
    has_begun = has_begun or f'{{code.co_filename}} {{code.co_name}}'.endswith({first!r})
    place = f'{{code.co_filename}}:{{frame.f_lineno}}'
    if not has_begun or event != 'line' or place in lines:
        return trace
    lines.add(place)
    if len(lines) % step:
        return trace
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        sys.settrace(None)
        os.dup2(writing, 1)
        os.close(reading)
        os.close(writing)
        os.kill(os.getpid(), number)
        return None
    os.close(writing)
    with open(reading, 'rb') as output:
        text = output.read().decode()
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    children.append((place, status, text))
    return trace

leave = os._exit
def leave_with_results(status):
    if os.getpid() == parent:
        sys.settrace(None)
        os.write(2, json.dumps(children).encode())
    leave(status)
os._exit = leave_with_results
sys.settrace(trace)
main()
"""
STATES = ('OK', 'WARNING', 'CRITICAL', 'UNKNOWN')
REPORTS = [A, B, C, D, disk('EEEE5555', a5=100), failing('FFFF6666')]


@pytest.fixture
def reports(tmp_path: Path) -> list[str]:
    """Return options for six recorded reports, two of them of FAILED drives."""
    words = []
    for number, report in enumerate(REPORTS):
        file = tmp_path / f'drive{number}.json'
        file.write_text(json.dumps(report))
        words += ['--report', str(file)]
    return words


class Child(NamedTuple):
    """A check that has sent itself a signal."""

    place: str  # "file:line"
    status: int
    text: str

    @property
    def is_right(self) -> bool:
        """Return whether the exit status is that of the first line, and there is one first line.

        If the output was written before the signal, the status is that of the check: CRITICAL.
        """
        if not self.text:
            return self.status == 2
        head = f'SMART {STATES[self.status]} - '
        return self.text.startswith(head) and self.text.count('\nSMART ') == 0


def signalled(words: list[str], number: int, step: int, first: str) -> list[Child]:
    """Return what became of the children of a check that got a signal at each step-th line.

    first: the file and the function with which the lines begin.
    """
    program = SIGNALLED.format(root=str(ROOT), step=step, number=number, first=first)
    done = subprocess.run(
        [sys.executable, '-I', '-c', program, *words, '-t', '600'],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=environment(),
        timeout=600,
        check=False,
    )
    assert (done.returncode, done.stdout[:17]) == (2, b'SMART CRITICAL - '), done
    return [Child(*values) for values in json.loads(done.stderr)]


@pytest.mark.parametrize(
    ('number', 'step', 'least'),
    [
        (signal.SIGALRM, 10, 60),
        (signal.SIGTERM, 10, 60),
        pytest.param(signal.SIGALRM, 1, 600, marks=pytest.mark.long),
        pytest.param(signal.SIGTERM, 1, 600, marks=pytest.mark.long),
        pytest.param(signal.SIGHUP, 1, 600, marks=pytest.mark.long),
    ],
)
def test_a_signal_at_any_line_leaves_the_exit_status_of_the_first_line(
    reports, number, step, least
):
    children = signalled(reports, number, step, 'check/verdicts.py all')

    assert len(children) >= least
    assert [child for child in children if not child.is_right] == []


@pytest.mark.parametrize('number', [signal.SIGALRM, signal.SIGTERM])
def test_a_signal_after_judging_changes_no_verdict(reports, number):
    """Each child says what the undisturbed check says, or has said so before."""
    children = signalled(reports, number, 20, 'check/survey.py described')

    assert len(children) >= 10
    assert {child.status for child in children} == {2}


@pytest.mark.parametrize('disturbance', ['', 'SIGTERM', 'SIGALRM'])
def test_a_reader_that_does_not_read_does_not_hold_the_check(reports, disturbance):
    """The pipe is full. The process ends with its status, after about a second."""
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
    os.set_blocking(writing, False)
    with suppress(BlockingIOError):
        while True:
            os.write(writing, b'x' * 4096)
    os.set_blocking(writing, True)
    process = subprocess.Popen(
        command_at(START, *reports, '-vvv'),
        stdin=subprocess.DEVNULL,
        stdout=writing,
        env=environment(),
    )
    wait_until_it_writes(process.pid)
    began = time.monotonic()
    if disturbance:
        process.send_signal(signal.Signals[disturbance])
    status = process.wait(timeout=30)
    seconds = time.monotonic() - began
    os.close(reading)
    os.close(writing)

    assert status == 2
    assert seconds < 5  # one second on an idle machine


def wait_until_it_writes(pid: int) -> None:
    """Wait until a process blocks in a pipe."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        if 'pipe_w' in Path(f'/proc/{pid}/wchan').read_text():
            return
        time.sleep(0.02)


# --- A13: which one is missing --------------------------------------------------------------------


def test_which_drive_is_missing_is_open_while_names_may_have_moved(plain):
    scan(plain, START, sda=A, sdb=B, sdc=C, sdd=D)
    result = scan(plain, START + HOUR, sda=asleep(), sdb=asleep(), sdc=asleep())

    (line,) = [line for line in result.text.splitlines() if ' sdd ' in line]
    assert result.code == 2  # one of them was FAILED
    assert 'it may be one that was not read: sda, sdb and 1 more' in line


SDB_IN_SLOT_5 = """
from smart_attributes.reading import system
system.place = lambda device: system.Place('slot 5' if device.name == 'sdb' else '')
"""


@pytest.mark.parametrize(
    'words, name',
    [
        (['sda', 'sdb'], 'sdb'),
        (['AAAA1111', 'BBBB2222', '--label', 'serial'], 'bbbb2222'),
        (['slot 5'], 'sdb'),  # only the empty address tells the bay
    ],
)
def test_a_missing_drive_and_its_empty_address_have_one_name(plain, words, name):
    scan(plain, START, sda=A, sdb=B)
    plain.holds(sda=A, sdb=ABSENT)
    plain.setup = SDB_IN_SLOT_5

    result = plain.run(START + HOUR, 'triage', '--scan', *words)

    assert 'drive-missing' in result.line_of(name)


def test_a_name_means_one_drive_though_several_had_its_address(plain):
    scan(plain, START, sda=A, sdb=B, sdc=C)
    scan(plain, START + HOUR, sda=A, sdb=C)
    result = plain.run(START + HOUR, 'triage', '--scan', '/dev/sdb')
    assert 'CCCC3333' in result.text

    scan(plain, START + DAY, sda=A)
    result = plain.run(START + DAY, 'triage', '--scan', 'sdb', 'sdb_missing')
    assert result.text.count('drive-missing') == 2


def test_the_serial_number_that_the_kernel_knows_names_the_missing_drive(plain):
    plain.setup = (
        'from smart_attributes.reading import system\n'
        "system.serial_of = lambda device: dict(sda='AAAA1111', sdb='CCCC3333', sdc='DDDD4444')"
        '.get(device.name)'
    )
    scan(plain, START, sda=A, sdb=B, sdc=C, sdd=D)
    result = scan(plain, START + HOUR, sda=asleep(), sdb=asleep(), sdc=asleep())

    shown = verdicts(result)
    line = next(
        line
        for line in result.text.splitlines()
        if GONE.split()[1] in line and 'BB' in line
    )
    assert result.code == 2 and 'BBBB2222' in line
    assert [shown[name] for name in ('sda', 'sdb', 'sdc')] == ['OK'] * 3


# --- A15: the worst first -------------------------------------------------------------------------

SLOW_JUDGE = """
from smart_attributes.check import judging
import time
judge, read = judging.judge, []
def slowly(device, *rest):
    time.sleep(0.6)
    return judge(device, *rest)
judging.judge = slowly
"""


@pytest.mark.parametrize('is_known', [True, False])
def test_the_worst_drives_are_judged_first_if_time_is_short(plain, is_known):
    names = 'abcdefgh'
    drives = {f'sd{name}': disk(f'SERIAL0{name}') for name in names}
    drives['sdf'] = failing()
    drives['sdg'] = disk('SERIAL0g', a5=100)  # WARNING, which smartctl does not tell
    drives['sdf']['smartctl'] = {**drives['sdf']['smartctl'], 'exit_status': 8}
    if is_known:
        scan(plain, START, **drives)
    plain.setup = SLOW_JUDGE
    result = scan(plain, START + HOUR, '-t', '3', **drives)

    shown = verdicts(result)
    assert (result.code, shown['sdf']) == (2, 'CRITICAL')
    assert 'UNKNOWN not-judged' in shown.values()
    if is_known:
        assert shown['sdg'].startswith('WARNING')


# --- twenty situations ----------------------------------------------------------------------------


@pytest.mark.parametrize('slot', [USB, FIBRE, ISCSI], ids=['usb', 'fc', 'iscsi'])
def test_a_drive_that_is_often_taken_away_is_not_missed(plain, slot):
    """A disk for backups, a volume of a SAN."""
    plain.has_slots(sda=SLOT.format(1), sdb=slot)
    scan(plain, START, sda=A, sdb=B)
    plain.has_slots(sda=SLOT.format(1))

    assert verdicts(scan(plain, START + HOUR, sda=A)) == {'sda': 'OK'}


def site_file(machine: Machine, override: dict[str, Any]) -> None:
    """Write an override into a file of the site."""
    folder = machine.config / 'thresholds.d'
    folder.mkdir(exist_ok=True)
    override = {'why': 'for this test', **override}
    (folder / 'site.json').write_text(json.dumps({'overrides': [override]}))


@pytest.mark.parametrize('state', ['FAILED', 'OK'])
def test_a_disk_that_moves_between_hosts_with_one_history_has_its_newest_verdict(
    plain, state
):
    on_machine(plain, 'old')
    scan(plain, START, **ALL)
    on_machine(plain, 'new')
    scan(plain, START, sda=D)
    scan(plain, START + HOUR, sda=D, sdb=B if state == 'FAILED' else disk('BBBB2222'))
    on_machine(plain, 'old')
    shown = verdicts(scan(plain, START + 2 * HOUR, **WITHOUT_B))

    assert shown['sdb'] == (GONE if state == 'FAILED' else 'WARNING drive-missing')


@pytest.mark.parametrize('has_slots', [True, False])
def test_a_known_drive_at_the_address_of_the_failed_one_ends_nothing(plain, has_slots):
    """After a restart, names have no gap."""
    if has_slots:
        plain.has_slots(sda=SLOT.format(1), sdb=SLOT.format(2), sdc=SLOT.format(3))
    scan(plain, START, **ALL)
    if has_slots:
        plain.has_slots(sda=SLOT.format(1), sdb=SLOT.format(3))
    result = scan(plain, START + HOUR, sda=A, sdb=C)

    shown = verdicts(result)
    assert result.code == 2
    assert (shown['sdb'], shown['sdb_missing']) == ('OK', GONE)


class Controller(Machine):
    """Drives behind a RAID controller."""

    def holds_at(self, numbers: dict[int, Said], bus: str = '/dev/bus/0') -> None:
        """Put drives at device IDs of a controller; the other IDs up to 9 are empty."""
        self._drives = {}
        for number in range(10):
            empty = refused(
                f'Smartctl open device: {bus} [megaraid_disk_{number:02}] failed: INQUIRY failed'
            )
            self._drives[f'megaraid,{number}@{bus}'] = numbers.get(number, empty)
        self._range = f'megaraid,[0-9]@{bus}'

    def look(self, now: float) -> Result:
        """Run a check of all device IDs."""
        return self.run(now, '-d', self._range)

    def _smartctl(self) -> str:
        fake = FakeSmartctl(self.folder / 'fake')
        for address, said in self._drives.items():
            device_type, _, path = address.rpartition('@')
            fake.answers(
                read_arguments(path, device_type),
                json.dumps(said),
                said['smartctl']['exit_status'],
            )
        return fake.path


def test_a_controller_gives_a_new_disk_another_number(tmp_path):
    """As many new drives as are missing replace them; fewer do not."""
    raid = Controller(tmp_path)
    raid.holds_at({1: A, 2: B, 3: C})
    raid.look(START)
    raid.holds_at({1: A, 3: C})
    assert raid.look(START + HOUR).code == 2
    raid.holds_at({1: A, 3: C, 7: D})
    result = raid.look(START + 2 * HOUR)

    assert result.code == 0 and 'drive-missing' not in result.text
    raid.holds_at({7: D, 8: disk('EEEE5555')})
    assert raid.look(START + 3 * HOUR).code == 2  # two are missing, one is new


def test_a_controller_that_gets_another_name_loses_no_drive(tmp_path):
    raid = Controller(tmp_path)
    raid.holds_at({1: A, 2: B, 3: C})
    raid.look(START)
    raid.holds_at({1: A, 2: B, 3: C}, bus='/dev/bus/6')
    result = raid.look(START + HOUR)

    assert sorted(verdicts(result).values()) == ['CRITICAL', 'OK', 'OK']
    raid.holds_at({1: A, 2: asleep(), 3: C}, bus='/dev/bus/6')
    assert raid.look(START + 2 * HOUR).code == 2


def test_a_new_drive_in_another_slot_of_the_controller_replaces_it(plain):
    plain.has_slots(sda=SLOT.format(1), sdb=SLOT.format(2), sdc=SLOT.format(3))
    scan(plain, START, **ALL)
    plain.has_slots(sda=SLOT.format(1), sdc=SLOT.format(3))
    assert scan(plain, START + HOUR, **WITHOUT_B).code == 2
    plain.has_slots(sda=SLOT.format(1), sdc=SLOT.format(3), sdd=SLOT.format(4))

    assert scan(plain, START + 2 * HOUR, **WITHOUT_B, sdd=D).code == 0


def test_a_new_drive_whose_slot_is_not_known_replaces_only_that_of_its_address(machine):
    scan(machine, START, **WITHOUT_B)
    assert verdicts(scan(machine, START + HOUR, **WITHOUT_B, sdd=D))['sdb'] == GONE
    result = scan(machine, START + 2 * HOUR, **WITHOUT_B, sdd=D, sdb=disk('EEEE5555'))

    assert result.code == 0 and 'drive-missing' not in result.text


def test_one_of_two_paths_is_lost(plain):
    """The drive still answers at the other one."""
    scan(plain, START, sda=A, sdb=B, sdc=B)
    result = scan(plain, START + HOUR, sda=A, sdb=B)
    assert verdicts(result) == {'sda': 'OK', 'sdb': 'CRITICAL'}

    assert verdicts(scan(plain, START + 2 * HOUR, sda=A))['sdb'] == GONE


def test_a_machine_that_becomes_virtual_misses_its_drives_until_root_says_so(machine):
    for days in (0, 9):
        assert scan(machine, START + days * DAY, '--no-drives', 'ok').code == 2
    assert machine.run(START + 9 * DAY, 'acknowledge', '--missing', '--all').code == 0
    assert scan(machine, START + 10 * DAY, '--no-drives', 'ok').code == 0


def test_a_recorded_report_neither_reads_nor_writes_the_history(machine):
    """Not even one that says that the drive is fine."""
    report = machine.folder / 'report.json'
    report.write_text(json.dumps(disk('BBBB2222')))
    before = contents(machine)

    assert machine.run(START, '--report', str(report)).code == 0
    assert contents(machine) == before
    assert scan(machine, START + HOUR, **WITHOUT_B, sdb=asleep()).code == 2


def contents(machine: Machine) -> dict[str, bytes]:
    """Return the files below the state directory, by path."""
    return {
        str(path): path.read_bytes()
        for path in machine.state.rglob('*')
        if path.is_file()
    }


def test_a_service_of_one_drive_warns_if_it_goes(plain):
    """It does not know that the machine has no drive left, unless the history knows no other."""
    plain.holds(sda=A, sdb=D)
    plain.check(START, '-d', '/dev/sda')
    plain.check(START, '-d', '/dev/sdb')
    plain.holds(sda=A, sdb=ABSENT)
    result = plain.check(START + HOUR, '-d', '/dev/sdb')
    assert (result.code, verdicts(result)) == (1, {'sdb': 'WARNING drive-missing'})

    plain.holds(sda=ABSENT, sdb=ABSENT)
    assert plain.check(START + 2 * HOUR, '-d', '/dev/sda').code == 2


def test_two_services_that_check_one_host_agree(machine):
    """A satellite names the drives, an agent scans."""
    machine.holds(**ALL)
    named = ('-d', '/dev/sda', '-d', '/dev/sdb', '-d', '/dev/sdc')
    machine.check(START, *named)
    machine.holds(**WITHOUT_B, sdb=ABSENT)
    by_name = machine.check(START + HOUR, *named)
    machine.holds(**WITHOUT_B)
    by_scan = machine.check(START + HOUR + 1, '--scan')

    assert (
        verdicts(by_name)
        == verdicts(by_scan)
        == {'sda': 'OK', 'sdb': GONE, 'sdc': 'OK'}
    )
    machine.run(START + 2 * HOUR, 'acknowledge', '--missing', 'BBBB2222')
    assert machine.check(START + 3 * HOUR, '--scan').code == 0


def test_growth_is_a_floor_only_as_long_as_its_alert_lasts(plain):
    scan(plain, START, sda=disk(a199=0))
    assert scan(plain, START + HOUR, sda=disk(a199=60)).code == 1

    codes_asleep = [
        scan(plain, START + HOUR + days * DAY, sda=asleep()).code
        for days in (0.1, 5, 7)
    ]
    assert codes_asleep == [1, 1, 0]


@pytest.mark.parametrize(
    'said, action',
    [
        (asleep(), '[order-copy] copy the data now, and order a replacement'),
        (
            UNREADABLE,
            '[investigate] for RAID or USB, give the right type (TYPE@/dev/sda); also '
            '[order-copy] copy the data now, and order a replacement',
        ),
    ],
    ids=['asleep', 'unreadable'],
)
def test_a_drive_that_is_not_read_keeps_the_action_of_its_finding(plain, said, action):
    """Also one that followed from a measured risk, which is not stored."""
    before = scan(plain, START, sda=disk(a197=6))
    after = scan(plain, START + HOUR, sda=said)

    assert '; [order-copy] copy the data now, and order a replacement' in before.text
    assert f'; {action}  ' in after.text


def test_heat_does_not_hide_that_data_must_be_copied(plain):
    """The temperature decides the state, and says nothing once the drive sleeps."""
    before = scan(plain, START, sda=disk(a197=6, a194=75))
    after = scan(plain, START + HOUR, sda=asleep())

    copy = '[order-copy] copy the data now, and order a replacement'
    assert (before.code, after.code) == (2, 1)
    assert f'; [cooling] check the cooling; also {copy}  ' in before.text
    assert f'; {copy}  ' in after.text


@pytest.mark.parametrize('limit', [{'warning': '200'}, {'warning': None}])
def test_a_limit_that_root_has_raised_since_ends_it(plain, limit):
    scan(plain, START, sda=disk('AAAA1111', a5=100))
    assert scan(plain, START + HOUR, sda=asleep()).code == 1
    site_file(plain, {'for': {'serial': 'AAAA1111'}, 'metrics': {'reallocated': limit}})

    assert scan(plain, START + 2 * HOUR, sda=asleep()).code == 0


def test_a_limit_that_root_has_lowered_since_raises_nothing(plain):
    """The drive is judged by it when it is read again."""
    scan(plain, START, sda=disk('AAAA1111', a5=100))
    site_file(
        plain,
        {'for': {'serial': 'AAAA1111'}, 'metrics': {'reallocated': {'critical': '50'}}},
    )

    assert scan(plain, START + HOUR, sda=asleep()).code == 1


def test_an_acknowledgement_that_has_ended_is_no_longer_one(plain):
    scan(plain, START, sda=disk('AAAA1111', a5=100))
    why = ('--why', 'stable for years', '--until', '2026-11-22')
    plain.run(START, 'acknowledge', 'AAAA1111', 'reallocated', *why)

    seen = [scan(plain, START + days * DAY, sda=asleep()).code for days in (1, 2, 3, 6)]
    assert seen == [0, 0, 1, 1]


@each_event
def test_a_remembered_verdict_does_not_feed_itself(machine, event):
    before = stored(machine.state)['BBBB2222'].verdict
    texts = []
    for hours in range(1, 6):
        result = scan(machine, START + hours * HOUR, **WITHOUT_B, **event)
        texts.append(re.sub(r'\d+ (min|h) ago', 'AGO', result.line_of('sdb')))
        assert stored(machine.state)['BBBB2222'].verdict == before

    assert set(texts) == {texts[0]}


def drive_file(machine: Machine, serial: str) -> Path:
    """Return the file of a drive in the history."""
    files = (machine.state / 'history').glob('*.drive')
    return next(file for file in files if serial.encode() in file.read_bytes())


def test_a_damaged_file_of_a_missing_drive_ends_no_alert(machine):
    """The former version stays beside it."""
    scan(machine, START - HOUR / 2, **ALL)
    file = drive_file(machine, 'BBBB2222')
    scan(machine, START, **WITHOUT_B)
    file.write_bytes(b'x' + file.read_bytes()[1:])
    result = scan(machine, START + HOUR, **WITHOUT_B)

    assert verdicts(result)['sdb'] == GONE
    assert '[history-damaged]' in result.text
    assert verdicts(scan(machine, START + 2 * HOUR, **WITHOUT_B))['sdb'] == GONE


def test_a_deleted_history_knows_nothing_and_claims_nothing(machine):
    """Its owner can end a remembered alert, but never a present one."""
    shutil.rmtree(machine.state / 'history')
    result = scan(machine, START, **WITHOUT_B, sdb=asleep())
    assert (result.code, 'BBBB2222' in result.text) == (0, False)

    assert scan(machine, START + HOUR, **ALL).code == 2


@pytest.mark.parametrize('part', [0.2, 0.6, 1.0, 1.4])
def test_a_check_that_is_killed_loses_no_stored_verdict(machine, part):
    """Before its output, and after it, while a child stores the readings."""
    began = time.monotonic()
    scan(machine, START - HOUR / 2, **ALL)
    typical = time.monotonic() - began
    command = command_at(START, *machine.words('--scan'))
    killed(command, (part > 1, part if part <= 1 else part - 1), typical)
    result = scan(machine, START + HOUR, **WITHOUT_B, sdb=asleep())

    assert (result.code, verdicts(result)['sdb']) == (2, 'CRITICAL asleep')


def test_a_disk_too_slow_to_store_a_verdict_is_said(plain):
    plain.setup = (
        'import errno, os\n'
        'def full(*_):\n    raise OSError(errno.ENOSPC, "No space left on device")\n'
        'os.fsync = os.fdatasync = full\n'
    )
    scan(plain, START, **ALL)
    plain.setup = ''
    result = scan(plain, START + HOUR, **WITHOUT_B, sdb=asleep())

    assert (result.code, verdicts(result)['history-not-written']) == (1, 'WARNING')
    assert '[history-not-written]' in result.first_line
    assert scan(plain, START + 2 * HOUR, **WITHOUT_B, sdb=asleep()).code == 0
