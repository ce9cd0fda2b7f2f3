"""`fleet` with several masters, satellites and folders that report the same hosts: each drive
counts once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import run, texts
from test_fleet_answers import Fake, fake, service, told  # noqa: F401  a fixture

LINE = '{state:<8}  {name}  {model}  endurance_used 1 %  {serial}  firmware 1.0'


def check(
    host: str, *drives: tuple[str, str], state: str = 'OK', name: str = 'smart'
) -> dict[str, Any]:
    """Return a service with drives, each a name and a serial number; '' for a hidden one."""
    found = service(host)
    lines = [
        LINE.format(state=state, name=drive, model='ACME X1', serial=serial or '-')
        for drive, serial in drives
    ]
    found['attrs']['last_check_result'].update(
        output=f'SMART {state} - x; {len(lines)} drives: {len(lines)} {state.lower()}\n'
        + '\n'.join(lines)
    )
    return {**found, 'name': f'{host}!{name}'}


class Masters:
    """Two APIs with the same certificate."""

    def __init__(self, first: Fake, second: Fake) -> None:
        self.first, self.second = first, second

    def fleet(self, ours: list[Any], theirs: list[Any], *arguments: str) -> Any:
        for master, services in ((self.first, ours), (self.second, theirs)):
            master.answer = lambda question, services=services: (200, told(*services))
        port = self.second.server.server_address[1]
        done = run(
            'fleet',
            *self.first.arguments,
            '--icinga',
            f'https://127.0.0.1:{port}',
            '--json',
            *arguments,
        )
        return json.loads(done.text)


@pytest.fixture
def masters(fake, tmp_path: Path) -> Iterator[Masters]:  # noqa: F811
    (tmp_path / 'second').mkdir()
    second = Fake(tmp_path / 'second')
    second.shows(fake.certificate, tmp_path / 'fake.key')
    yield Masters(fake, second)
    second.close()


@pytest.mark.parametrize('state', ['OK', 'CRITICAL'])
@pytest.mark.parametrize(
    'serial',
    [  # serial
        'EXAMPLE1',
        # hidden
        '',
    ],
)
def test_a_host_on_two_masters_counts_once(masters, state, serial):
    """Both masters of a zone have all results; a note says so."""
    host = check('db1', ('sda', serial), ('sdb', serial and 'EXAMPLE2'), state=state)
    found = masters.fleet(
        [host, check('db2', ('sda', 'EXAMPLE3'))], [host, check('db3', ('sda', 'EXAMPLE4'))]
    )

    assert sorted((each['host'], each['name']) for each in found['drives']) == [
        ('db1', 'sda'),
        ('db1', 'sdb'),
        ('db2', 'sda'),
        ('db3', 'sda'),
    ]
    assert found['fleet']['drives'] == 4
    assert [note for note in texts(found['notes']) if note.endswith(' counted once): db1')]


def test_another_host_of_the_same_name_is_not_lost(masters):
    """Two sites may each have a db1; the sentence names it, and its drives have the address of
    the second master.
    """
    found = masters.fleet([check('db1', ('sda', 'EXAMPLE1'))], [check('db1', ('sda', 'EXAMPLE2'))])
    port = masters.second.server.server_address[1]

    assert [each['host'] for each in found['drives']] == ['db1', f'db1 (127.0.0.1:{port})']
    assert found['fleet']['hosts'] == 2
    assert [note for note in texts(found['notes']) if note.endswith(' the source): db1')]


def test_a_satellite_shows_the_drives_that_the_master_does_not_know_yet(masters):
    """The master has no result of the check; its row stays, and the host keeps its name."""
    waiting = check('db1')
    waiting['attrs']['last_check_result'] = None
    found = masters.fleet([waiting], [check('db1', ('sda', 'EXAMPLE1'))])

    assert [(each['host'], each['name']) for each in found['drives']] == [
        ('db1', '(smart)'),
        ('db1', 'sda'),
    ]


def test_a_problem_of_a_check_on_two_masters_is_one_row(masters):
    refused = service('db1')
    refused['attrs']['last_check_result'].update(
        output='CHECK_NRPE: Received 0 bytes from daemon', state=3
    )
    found = masters.fleet([refused], [refused])

    assert found['fleet']['causes'] == {'nrpe-refused': 1}


def test_a_drive_that_got_worse_counts_in_its_worst_state(masters):
    """One of the masters may have an old result."""
    found = masters.fleet(
        [check('db1', ('sda', 'EXAMPLE1'))], [check('db1', ('sda', 'EXAMPLE1'), state='CRITICAL')]
    )

    assert (found['state'], found['fleet']['states']) == (
        'CRITICAL',
        {'critical': 1, 'unknown': 0, 'warning': 0, 'ok': 0},
    )
    assert [each['state'] for each in found['drives']] == ['OK', 'CRITICAL']


def test_a_master_that_does_not_answer_hides_no_other(masters):
    """In either order; it is a fault, and the exit status is 3."""
    services = told(check('db1', ('sda', 'EXAMPLE1')))
    for silent, other in ((masters.first, masters.second), (masters.second, masters.first)):
        silent.answer, other.answer = (
            (lambda question: (500, b'')),
            (lambda question: (200, services)),
        )
        port = masters.second.server.server_address[1]
        done = run(
            'fleet', *masters.first.arguments, '--icinga', f'https://127.0.0.1:{port}', '--json'
        )
        found = json.loads(done.text)

        assert (done.code, [each['host'] for each in found['drives']]) == (3, ['db1'])
        assert any('Icinga answered 500' in each for each in texts(found['notes']))


def test_each_master_has_a_name_of_its_own_or_none_has(masters):
    """Its NodeName; a single name for two masters would be a guess."""
    done = run(
        'fleet', *masters.first.arguments, '--icinga', 'https://127.0.0.1:1', '--icinga-name', 'one'
    )

    assert (done.code, 'give --icinga-name once' in done.text) == (3, True)
