"""What can hang in the kernel is read by a child: the check is complete in time, and says what is
missing.
"""

import errno
import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import block_tree
import pytest
from cases import on
from conftest import wait_until_idle
from days import START, Machine, command_at, disk, environment, failing
from test_dependence import surveyed
from test_severity import FAILED, drive

from smart_attributes import child, state_directory
from smart_attributes.child import Child
from smart_attributes.errors import DriveMissing
from smart_attributes.model import Group, Member, State
from smart_attributes.redundancy import dependence, in_time, zpool
from smart_attributes.redundancy.dependence import Question, Seen

LIMIT = 6  # seconds, of -t
# code that runs before the program, in its process
HANGS = """
import os, time
def hangs(*_):
    time.sleep(120)
"""
SYS_HANGS = f"""{HANGS}
from smart_attributes.redundancy import block_devices
block_devices.names_in = hangs
"""
STATE_HANGS = f"""{HANGS}
from smart_attributes import state_directory
state_directory.location = state_directory.ready = state_directory.there = hangs
state_directory.has_a_place = hangs
"""
NO_FORK = """
import os
os.fork = os.abort
"""
# writes down which files of the kernel the process of the check itself opens
WATCHED = """
import os, sys
check = os.getpid()
def watch(event, arguments):
    if event in ('open', 'os.listdir', 'os.scandir') and os.getpid() == check:
        place = str(arguments[0])
        if place.startswith(('/sys', '/proc')):
            with_ = os.open({file!r}, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.write(with_, place.encode() + b'\\n')
            os.close(with_)
sys.addaudithook(watch)
"""


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """One failing and one healthy drive."""
    made = Machine(tmp_path)
    made.holds(sda=failing(), sdb=disk('SERIAL02'))
    return made


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> block_tree.Machine:
    """A mirror of two disks."""
    monkeypatch.setenv('XDG_STATE_HOME', str(tmp_path / 'home'))
    made = block_tree.Machine(tmp_path)
    made.disks('sda', 'sdb')
    made.md('md0', 'raid1', {'sda1': 'in_sync', 'sdb1': 'in_sync,write_error'})
    made.mounted('/dev/md0', '/srv')
    return made


def question(tree: block_tree.Machine, **more: Any) -> Question:
    return Question(
        [on(drive('sda', FAILED)), on(drive('sdb'))], system=tree.system, **more
    )


# --- a check --------------------------------------------------------------------------------------


def output_of(machine: Machine, setup: str, *options: str) -> tuple[float, int, str]:
    """Run a check whose process begins with *setup*.

    Return the seconds until the output was complete, the exit status and the output.
    """
    *interpreter, program = command_at(START)
    place = program.index('\nfrom smart_attributes.main')
    words = machine.words(*options, '-d', '/dev/sda', '-d', '/dev/sdb')
    began = time.monotonic()
    process = subprocess.Popen(
        [*interpreter, program[:place] + setup + program[place:], *words],
        stdout=subprocess.PIPE,
        env=environment(),
    )
    assert process.stdout is not None
    text = os.read(process.stdout.fileno(), 100_000)
    seconds = time.monotonic() - began
    rest, _ = process.communicate(timeout=20)  # the history is written after the output
    assert rest == b''
    return seconds, process.returncode, text.decode()


@pytest.mark.parametrize(
    'setup, missing',
    [
        (SYS_HANGS, ['pools and volumes on the drives']),
        (STATE_HANGS, ['history: it was not read within 2 s']),
        (
            SYS_HANGS + STATE_HANGS,
            ['pools and volumes on the drives', 'history: it was not read within 2 s'],
        ),
    ],
    ids=['sys', 'state', 'both'],
)
def test_an_alert_is_told_in_time_and_what_hangs_is_said(machine, setup, missing):
    seconds, status, text = output_of(machine, setup, '-t', str(LIMIT))

    assert seconds < LIMIT + 1
    assert status == 2 and text.startswith('SMART CRITICAL - sda: ')
    assert [words for words in missing if words not in text] == []
    assert re.search('^OK +sdb ', text, re.MULTILINE)
    # it could have the last copy
    assert SYS_HANGS not in setup or ('; [copy] ' in text and '[replace]' not in text)


def test_a_healthy_check_starts_no_process_for_groups(machine):
    machine.holds(sda=disk())
    machine.setup = NO_FORK

    assert machine.check(START, '--no-history').code == 0


def test_the_process_of_a_check_opens_no_file_of_sys_or_proc(machine, tmp_path):
    """Except for locks and the models of disks, which are memory of the kernel."""
    file = tmp_path / 'opened'
    machine.setup = WATCHED.format(file=str(file))
    result = machine.check(START)
    opened = file.read_text().split() if file.exists() else []

    assert result.code == 2
    of_kernel = re.compile('/proc/locks|/sys/class/[a-z_]+/[^/]+/device/model')
    assert [path for path in opened if not of_kernel.fullmatch(path)] == []


def test_a_signal_while_groups_hang_leaves_the_alert(machine):
    """The daemon's patience may end before -t."""
    words = machine.words('-d', '/dev/sda', '-d', '/dev/sdb')
    *interpreter, program = command_at(START)
    program = program.replace(
        '\nfrom smart_attributes.main', f'{SYS_HANGS}\nfrom smart_attributes.main'
    )
    process = subprocess.Popen(
        [*interpreter, program, *words], stdout=subprocess.PIPE, env=environment()
    )
    wait_until_idle(process.pid)
    process.send_signal(signal.SIGTERM)
    text, _ = process.communicate(timeout=20)

    assert process.returncode == 2 and text.startswith(b'SMART CRITICAL - ')
    assert b'ended by SIGTERM' in text


# --- the groups -----------------------------------------------------------------------------------


def test_what_the_child_sends_is_what_it_has_seen(tree):
    """Groups, members, uses and doubts."""
    asked = question(tree, others=(dependence.Other(drive('sdc').device, True),))
    here = block_tree.read_here(asked)
    sent = in_time.read(asked, '')

    assert sent == here
    [group] = sent.groups
    assert isinstance(group, Group) and isinstance(group.members[0], Member)
    assert any(member.doubts for member in group.members) and sent.problem is None


def test_a_name_that_is_no_text_arrives(tree):
    os.mkdir(os.path.join(os.fsencode(tree.system.sys), b'block', b'sd\xff'))

    assert in_time.read(question(tree), '') == block_tree.read_here(question(tree))


def test_a_program_that_hangs_costs_no_group_that_sys_shows(tree, monkeypatch):
    monkeypatch.setattr(in_time, '_PATIENCE_WITH_PROGRAMS', 0.5)
    monkeypatch.setattr(zpool, 'groups', lambda *_: time.sleep(60))
    found = in_time.read(question(tree, asked=('zpool',)), '')

    assert [group.id for group in found.groups] == ['md0']
    assert found.problem is not None and found.problem.code == 'groups-not-read'


def test_an_error_is_a_remark_as_without_a_child(tree, monkeypatch):
    def fails(_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(dependence, 'listed', fails)
    read = [lambda asked: in_time.read(asked, ''), tree.read]
    remarks = [
        surveyed(tree, [drive('sda', FAILED)], read=each).remarks for each in read
    ]

    assert remarks[0] == remarks[1] and remarks[0][0].code == 'internal-error'


@pytest.mark.parametrize('what', ['pipe', 'fork'])
def test_without_a_process_nothing_is_read_and_this_is_said(tree, monkeypatch, what):
    def refused() -> None:
        raise OSError(errno.EMFILE, 'Too many open files')

    monkeypatch.setattr(os, what, refused)
    found = in_time.read(question(tree), '')

    assert not found.disks and not found.groups and found.problem is not None
    assert 'no process can be started: Too many open files' in found.problem


def test_a_killed_child_is_said(tree, monkeypatch):
    monkeypatch.setattr(
        dependence, 'listed', lambda _: os.kill(os.getpid(), signal.SIGKILL)
    )
    found = in_time.read(question(tree), '')

    assert found.problem is not None and 'was killed' in found.problem


@pytest.mark.parametrize(
    'is_gone, state', [(True, State.CRITICAL), (False, State.WARNING)]
)
def test_a_missing_drive_is_no_better_because_groups_hang(tree, is_gone, state):
    """One of them may be degraded without it, as the last check said."""
    code = DriveMissing.code if is_gone else 'drive-unreadable'
    verdict = drive('sda', problem='is missing')._replace(
        state=State.WARNING, code=code
    )
    problem = in_time.unread('no answer within 1 s')
    found = dependence.examined(
        [on(verdict)], lambda _: [], read=lambda _: Seen(problem=problem)
    )

    assert found.uses[0].verdict.state is state and found.remarks == (problem,)
    assert (
        'not known whether a group lacks a member' in found.uses[0].verdict.explained
    ) == is_gone


def test_one_child_at_most_waits_for_groups(tree, monkeypatch, tmp_path):
    """The next one waits for its lock, where it can be ended."""
    begun = tmp_path / 'begun'

    def hangs(_: object) -> None:
        with open(begun, 'a') as file:
            file.write('x')
        time.sleep(60)

    monkeypatch.setattr(dependence, 'listed', hangs)
    monkeypatch.setattr(in_time, 'PATIENCE', 0.5)
    first = Child(lambda pipe: in_time._send(pipe, question(tree), ''))
    while not begun.exists():
        time.sleep(0.01)
    second = in_time.read(question(tree), '')
    first.leave(ends=True)

    assert second.problem is not None and begun.read_text() == 'x'


# --- the process ----------------------------------------------------------------------------------


def test_a_child_that_sends_too_much_is_ended(monkeypatch):
    monkeypatch.setattr(child, 'LARGEST_SENT', 200_000)

    def work(pipe: child.Pipe) -> None:
        pipe.send(first=True)
        while True:
            pipe.send(b'x' * 100_000)
            pipe.flush()

    endless = Child(work)

    assert endless.wait(time.monotonic() + 20)
    assert next(values for values, _ in endless.messages()) == {'first': True}
    assert len(endless._buffer) < 400_000


def test_messages_of_a_child_that_is_cut_off_in_a_message_arrive():
    def work(pipe: child.Pipe) -> None:
        pipe.send(b'whole', number=1)
        os.write(pipe._descriptor, b'{"number": 2, "size": 9}\nhal')
        time.sleep(60)

    cut = Child(work)
    has_ended = cut.wait(time.monotonic() + 0.5)
    cut.leave(ends=True)

    assert not has_ended
    assert list(cut.messages()) == [({'number': 1}, b'whole')]


def test_without_a_place_for_locks_a_child_works(monkeypatch):
    def unusable(*_: object) -> str:
        raise state_directory.Unusable('no place')

    monkeypatch.setattr(state_directory, 'for_locks', unusable)
    before = signal.alarm(0)
    try:
        assert child.in_turn('x', '') is None
    finally:
        signal.alarm(before)
