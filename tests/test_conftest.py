"""What holds for all tests."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import abilities
import daemons
import pytest
from conftest import ROOT

SKIPPED = """
import pytest

@pytest.mark.skipif(True, reason='sudo is not installed')
def test_marked(): pass

def test_on_its_way(): pytest.skip('the rule is not tried: missing sudo')

def test_for_another_reason(): pytest.skip('only root can try that')
"""


@pytest.mark.parametrize(
    'promised, words',
    [
        pytest.param({}, '3 skipped', id='here'),
        pytest.param({'TEST_DAEMONS': '1'}, '1 failed, 1 skipped, 1 error', id='in-ci'),
    ],
)
def test_where_all_programs_are_promised_none_is_missed_in_silence(tmp_path: Path, promised, words):
    """124 tests, all of sudo among them, were once skipped in CI, and nobody saw it."""
    (tmp_path / 'test_some.py').write_text(SKIPPED)
    environment = {name: value for name, value in os.environ.items() if name != 'TEST_DAEMONS'}
    done = subprocess.run(
        [sys.executable, '-m', 'pytest', '-p', 'conftest', '-p', 'no:cacheprovider', str(tmp_path)],
        cwd=tmp_path,
        env={**environment, 'PYTHONPATH': f'{ROOT / "tests"}:{ROOT}', **promised},
        capture_output=True,
        text=True,
    )

    assert words in done.stdout.splitlines()[-1]


SPREAD = """
import os, pytest

@pytest.fixture(scope='module')
def costly(): pass

{mark}
@pytest.mark.parametrize('number', range(8))
def test_some(number{fixture}): print('ran on', os.environ['PYTEST_XDIST_WORKER'])
"""


@pytest.mark.parametrize(
    'mark, fixture, workers',
    [
        pytest.param('', '', 2, id='apart'),
        pytest.param('', ', costly', 1, id='same-fixture'),
        pytest.param('@pytest.mark.xdist_group("time")', '', 1, id='same-group'),
    ],
)
@pytest.mark.long
def test_tests_that_share_a_fixture_or_a_group_run_on_one_worker(
    tmp_path: Path, mark, fixture, workers
):
    """pytest 9.2 ignored the groups of pytest-xdist 3.8 without a word."""
    pytest.importorskip('xdist')
    (tmp_path / 'test_some.py').write_text(SPREAD.format(mark=mark, fixture=fixture))
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith('PYTEST_XDIST')
    }
    done = subprocess.run(
        [
            sys.executable,
            '-m',
            'pytest',
            '-rP',
            '-n',
            '2',
            '--dist',
            'loadgroup',
            '-p',
            'conftest',
            '-p',
            'no:cacheprovider',
            str(tmp_path),
        ],
        cwd=tmp_path,
        env={**environment, 'PYTHONPATH': f'{ROOT / "tests"}:{ROOT}'},
        capture_output=True,
        text=True,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith('ran on gw')]

    assert len(lines) == 8, done.stdout
    assert len(set(lines)) == workers


def test_no_two_workers_take_the_same_port(monkeypatch):
    """Each starts daemons while others do."""
    taken = []
    for worker in ('gw0', 'gw1', 'gw7'):
        monkeypatch.setenv('PYTEST_XDIST_WORKER', worker)
        taken.append(set(daemons.ports_of_worker()))

    assert all(len(ports) == 120 for ports in taken)
    assert len(set.union(*taken)) == 360


def test_a_port_that_is_in_use_is_not_given_away(monkeypatch):
    """A daemon of another run of the tests may have it."""
    with socket.create_server(('127.0.0.1', 0)) as server:
        used = server.getsockname()[1]
        monkeypatch.setattr(daemons, 'PORTS', iter([used, next(daemons.PORTS)]))

        assert daemons.free_port() != used


SIGNALS = """
import signal, subprocess, sys
{first}
subprocess.run([sys.executable, '-c', 'import signal; print(*(signal.getsignal(each) is signal.SIG_IGN for each in '
                '(signal.SIGHUP, signal.SIGINT)))'])
"""


@pytest.mark.parametrize('first, ignored', [('', 'True True'), ('import conftest', 'False False')])
def test_programs_start_with_signals_that_nohup_ignores(first, ignored):
    """Else those that test SIGHUP or SIGINT fail under `nohup make test` and in the background
    of a shell.
    """
    done = subprocess.run(
        [
            'sh',
            '-c',
            'trap "" HUP INT; exec "$@"',
            'sh',
            sys.executable,
            '-c',
            SIGNALS.format(first=first),
        ],
        env={**os.environ, 'PYTHONPATH': str(ROOT / 'tests')},
        capture_output=True,
        text=True,
    )

    assert done.stdout.strip() == ignored, done.stderr


WITHOUT_LOOPBACK = ['unshare', '--map-root-user', '--net']
SERVERS = ('director', 'fleet_answers', 'fleet_icinga', 'icinga', 'nagios')


def test_without_loopback_tests_of_servers_are_skipped_and_say_why():
    """A sandbox has no network at all."""
    abilities.skip_without(abilities.no_namespaces())
    environment = {name: value for name, value in os.environ.items() if name != 'TEST_DAEMONS'}
    done = subprocess.run(
        [
            *WITHOUT_LOOPBACK,
            sys.executable,
            '-m',
            'pytest',
            '-p',
            'no:cacheprovider',
            *(f'tests/test_{name}.py' for name in SERVERS),
        ],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )

    assert done.returncode == 0, done.stdout[-3000:]
    assert 'the loopback interface is missing' in done.stdout
