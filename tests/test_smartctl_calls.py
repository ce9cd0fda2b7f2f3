"""The command lines of smartctl, and which program may be run as it."""

import json
import os
import subprocess

import abilities
import pytest
from conftest import NOBODY

from smart_attributes.constants import SMARTCTL
from smart_attributes.errors import UsageError
from smart_attributes.model import Answer
from smart_attributes.reading import smartctl_calls
from smart_attributes.reading.smartctl_calls import (
    check_executable,
    prefix,
    read_arguments,
    version,
)

needs_root = abilities.other_user
needs_smartctl = pytest.mark.skipif(
    not os.access(SMARTCTL, os.X_OK), reason='no smartctl is installed'
)


LOGS = ' '.join(f'-l {log}' for log in smartctl_calls.LOGS)


# The command lines


def test_a_drive_is_read_with_exactly_these_words():
    """sudoers rules and the simulator depend on each of them."""
    assert (
        ' '.join(read_arguments('/dev/sda'))
        == f'--json=c --nocheck=standby -i -H -A {LOGS} /dev/sda'
    )


def test_a_type_stands_before_the_path():
    """The path is last, as smartctl and the sudoers rule want it."""
    assert read_arguments('/dev/bus/0', 'megaraid,6')[-3:] == (
        '-d',
        'megaraid,6',
        '/dev/bus/0',
    )


def test_a_log_that_can_harm_a_drive_is_left_out():
    """A site file says "skip": ["selftest"] for such drives; the other logs stay."""
    arguments = read_arguments('/dev/sda', skip={'selftest'})

    assert 'selftest' not in arguments
    assert ' '.join(arguments).count(LOGS.replace('-l selftest ', '')) == 1


@needs_smartctl
@pytest.mark.parametrize(
    'arguments',
    [
        read_arguments('/dev/null'),
        read_arguments('/dev/null', 'scsi'),
        smartctl_calls.SCAN,
    ],
    ids=' '.join,
)
def test_the_real_smartctl_understands_every_word(arguments):
    """A mistyped word would end each check with smartctl's usage text."""
    printed = subprocess.run(
        [SMARTCTL, *arguments], capture_output=True, timeout=20
    ).stdout

    assert b'UNRECOGNIZED' not in printed and b'INVALID ARGUMENT' not in printed
    assert json.loads(printed)['smartctl']['version'] >= [7, 0]


@needs_root
def test_root_needs_no_sudo():
    """sudo as root costs time and can be forbidden."""
    assert prefix('/usr/sbin/smartctl', nosudo=False) == ('/usr/sbin/smartctl',)


# Which program


@pytest.mark.parametrize(
    'path, words',
    [
        pytest.param('smartctl', 'absolute path', id='relative'),
        pytest.param('/nowhere/smartctl', 'file not found', id='missing'),
        pytest.param('/usr/bin', 'not a program', id='a-folder'),
        pytest.param('/dev/null', 'not a program', id='a-device'),
        pytest.param('/etc/passwd', 'cannot execute', id='not-executable'),
        pytest.param('/usr/bin/\0', 'file not found', id='impossible'),
    ],
)
def test_a_wrong_program_is_named_with_what_to_do(path, words):
    """The sentence is all that an admin sees of it."""
    with pytest.raises(UsageError, match=words):
        check_executable(path, as_root=False, through_sudo=False)


def test_an_installed_program_is_fine():
    """Whoever runs the check; /bin may be a link to /usr/bin."""
    check_executable('/bin/sh', as_root=False, through_sudo=False)
    check_executable('/bin/sh', as_root=True, through_sudo=False)


@needs_root
def test_a_program_below_a_sticky_folder_is_as_safe_as_its_owner(fake):
    """In /tmp nobody can replace what root owns; tests and trials live there."""
    check_executable(fake.path, as_root=True, through_sudo=False)


def _belongs_to_another(folder):
    os.chown(folder / 'smartctl', NOBODY, -1)


def _behind_a_link_that_another_can_turn(folder):
    foreign = folder / 'foreign'
    foreign.mkdir()
    os.chown(foreign, NOBODY, -1)
    (foreign / 'link').symlink_to('/bin/sh')
    (folder / 'smartctl').unlink()
    (folder / 'smartctl').symlink_to('foreign/link')


@needs_root
@pytest.mark.parametrize(
    'spoil',
    [
        _belongs_to_another,
        _behind_a_link_that_another_can_turn,
    ],
)
def test_root_runs_no_program_that_another_could_change(fake, spoil):
    """-p in a service definition must not be a way to become root."""
    spoil(fake.folder)

    with pytest.raises(UsageError, match='users can change'):
        check_executable(fake.path, as_root=True, through_sudo=False)


# What it is


@pytest.mark.parametrize(
    'stdout, expected',
    [
        (b'smartctl 7.3 2022-02-28 r5338 [x86_64-linux-6.1.0] (local build)\n', (7, 3)),
        (
            b'smartctl pre-7.4 2023-03-21 r5470 [x86_64-linux-6.2.7] (CircleCI)\n',
            (7, 4),
        ),
        (
            b'smartctl version 5.38 [x86_64-redhat-linux-gnu] Copyright (C) 2002-8 Bruce Allen\n',
            (5, 38),
        ),
        (
            b'smartctl 5.40 2010-10-16 r3189 [x86_64-unknown-linux-gnu] (SUSE RPM)\n',
            (5, 40),
        ),
        (b'', ()),
        (b'smartctl', ()),
        (b'sudo: a password is required\n', ()),
    ],
)
def test_the_version_is_told_from_whatever_was_printed(stdout, expected):
    """It explains why a drive cannot be read, so it must not need a good answer."""
    assert version(stdout) == expected


# What sudo says


def test_what_smartctl_says_is_no_refusal_of_sudo():
    behind = ('/usr/bin/sudo', '-n', '/x', *read_arguments('/dev/sda'))

    assert not smartctl_calls.is_refused(
        Answer(behind, 'done', stdout=b'{}', stderr=b'sudo: a password is required')
    )
    assert not smartctl_calls.is_refused(
        Answer(behind, 'done', stderr=b'sudo: unable to resolve host x')
    )
    assert not smartctl_calls.is_refused(
        Answer(behind[2:], 'done', stderr=b'sudo: a password is required')
    )


# Decided without a process: what other users see, on any machine


@pytest.mark.parametrize(
    'stderr, is_refused',
    [
        (b'sudo: a password is required', True),
        (b'user is not allowed to execute', True),
        (b'sudo: authentication is required', True),
        (b"I'm afraid I can't do that", True),
        (b'Permission denied', False),
        (b'sudo: unable to resolve host x', False),
    ],
)
def test_what_sudo_says_is_a_refusal_if_the_program_has_said_nothing(
    stderr, is_refused
):
    answer = Answer(('/usr/bin/sudo', '-n', SMARTCTL), 'done', status=1, stderr=stderr)

    assert smartctl_calls.is_refused(answer) is is_refused
    assert not smartctl_calls.is_refused(answer._replace(stdout=b'x'))
    assert not smartctl_calls.is_refused(answer._replace(command=(SMARTCTL,)))


def test_a_user_needs_sudo_unless_told_otherwise(monkeypatch, tmp_path):
    monkeypatch.setattr(os, 'geteuid', lambda: 1000)
    monkeypatch.setenv('PATH', 'relative')
    monkeypatch.setitem(smartctl_calls.ENVIRONMENT, 'PATH', str(tmp_path))
    with pytest.raises(UsageError, match='not installed') as caught:
        prefix(SMARTCTL, nosudo=False)
    assert caught.value.code == 'sudo-missing'

    (tmp_path / 'sudo').touch(0o755)
    assert prefix(SMARTCTL, nosudo=False) == (str(tmp_path / 'sudo'), '-n', SMARTCTL)
    assert prefix(SMARTCTL, nosudo=True) == (SMARTCTL,)


NO_ACCESS = 'this user cannot access it; use sudo, or give another path with -p'
NOT_FOUND = (
    'file not found; install smartmontools, or give the path of smartctl with -p'
)
NOT_EXECUTABLE = (
    'this user cannot execute it; check its mode, or give the path of smartctl with -p'
)


@pytest.mark.parametrize(
    'error, through_sudo, fault',
    [
        (PermissionError(), True, ''),
        (PermissionError(), False, NO_ACCESS),
        (FileNotFoundError(), True, NOT_FOUND),
    ],
)
def test_a_program_that_cannot_be_seen_is_a_fault_of_its_own(
    monkeypatch, error, through_sudo, fault
):
    def fails(_: str) -> os.stat_result:
        raise error

    monkeypatch.setattr(os, 'stat', fails)

    assert smartctl_calls._fault(SMARTCTL, False, through_sudo) == fault


@pytest.mark.parametrize('through_sudo', [True, False])
def test_only_sudo_may_run_what_a_user_may_not(monkeypatch, tmp_path, through_sudo):
    (tmp_path / 'smartctl').touch()
    monkeypatch.setattr(os, 'access', lambda *_: False)

    assert smartctl_calls._fault(str(tmp_path / 'smartctl'), False, through_sudo) == (
        '' if through_sudo else NOT_EXECUTABLE
    )


def test_the_farm_log_is_read_with_the_type_of_a_disk_if_it_has_one():
    assert smartctl_calls.farm_arguments('/dev/sda', '') == (
        *smartctl_calls.FARM,
        '/dev/sda',
    )
    assert smartctl_calls.farm_arguments('/dev/sda', 'sat') == (
        *smartctl_calls.FARM,
        '-d',
        'sat',
        '/dev/sda',
    )
