"""A real Zabbix reads drives through our template: every value, every state, and every way in which
a check fails.

Part of `make test-zabbix`, which installs what is missing first.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import zabbix
from daemons import Ground, closing, missing, until
from simulator import Machine, names, why_not
from zabbix import Zabbix

if 'TEST_ZABBIX' not in os.environ:
    pytest.skip(
        'Zabbix is not tried: "make test-zabbix" does that', allow_module_level=True
    )

STATES = {'OK': '0', 'WARNING': '1', 'CRITICAL': '2', 'UNKNOWN': '3'}
# bytes that the agent of 6.0 takes from a command. Zabbix, "User parameters"; 7.0: 16 MB
LIMIT = 512 << 10
# of a problem -> state of the plugin
SEVERITIES = {'2': 'WARNING', '3': 'UNKNOWN', '4': 'CRITICAL'}
# Keeps what Zabbix got. Zabbix reads again at any time, so the file is replaced in one step.
KEEPING = """#!/bin/sh
XDG_STATE_HOME={state} {launcher} "$@" {options} >{said}.new 2>&1
mv {said}.new {said}
cat {said}
"""


class Bed(NamedTuple):
    """Zabbix and the folder of all that it runs."""

    zabbix: Zabbix
    ground: Ground

    def watches(self, host: str, options: str, **macros: str) -> Path:
        """Let Zabbix watch a host through the shipped UserParameter; return the file with the
        latest document.

        options: of the plugin, after those of the UserParameter.
        """
        state, said = (
            self.ground.folder / f'state-{host}',
            self.ground.folder / 'state' / f'said-{host}',
        )
        self.ground.own(state.name)
        plugin = self.ground.place(
            f'plugin-{host}',
            KEEPING.format(
                state=state,
                launcher=self.ground.folder / 'share/launcher',
                options=options,
                said=said,
            ),
        )
        plugin.chmod(0o755)
        self.zabbix.watches(
            host, zabbix.parameters(str(plugin), str(state)), INTERVAL='4s', **macros
        )
        return said


@pytest.fixture(scope='module')
def bed(loopback: None) -> Iterator[Bed]:
    """One Zabbix, with the template imported twice: the second time changes nothing."""
    absent = missing('zabbix_server', 'zabbix_agentd', 'php', 'mariadbd') or (
        '' if zabbix.FRONTEND.exists() else 'zabbix-frontend-php'
    )
    if absent:
        pytest.skip(
            f'Zabbix is not tried: missing {absent}; "make test-zabbix" installs it'
        )
    ground = Ground()
    things: list[Any] = [ground]
    try:
        things.append(Zabbix(ground))
        for _ in range(2):
            things[-1].takes(zabbix.template())
        things[-1].watches('silent', '', INTERVAL='4s', NODATA='30s').terminate()
        yield Bed(things[-1], ground)
    finally:
        closing(things)


def wanted(document: dict[str, Any]) -> dict[str, str]:
    """Return the values that Zabbix must have for a document, by key."""
    found = {
        'state': STATES[document['state']],
        'run': document['run'],
        'summary': document['summary'],
        'unread': str(document['unread']),
    }
    for drive in document['drives']:
        found[f'drive.state[{drive["id"]}]'] = STATES[drive['state']]
        found.update(
            (f'drive.{key}[{drive["id"]}]', str(drive[key]))
            for key in ('text', 'to_do', 'name', 'model', 'serial')
            if key in drive
        )
    found.update(
        (f'value[{each["drive"]},{each["metric"]}]', str(each['value']))
        for each in document['readings']
    )
    return {f'smart_attributes.{key}': value for key, value in found.items()}


def differing(bed: Bed, host: str, said: Path) -> dict[str, Any]:
    """Return the values of a document that Zabbix does not have, with those that it has instead."""
    known, document = bed.zabbix.values(host), json.loads(said.read_text())
    return {
        key: (value, known.get(key))
        for key, value in wanted(document).items()
        if key not in known
        or (known[key] != value and not is_number(key, known[key], value))
    }


def is_number(key: str, known: str, value: str) -> bool:
    """Return whether Zabbix only writes a number differently: 1.027478006272e15."""
    return '.value[' in key and float(known) == float(value)


def arrives(bed: Bed, host: str, said: Path, seconds: float = 60) -> None:
    """Wait until Zabbix has all values of the latest document."""
    end = time.monotonic() + seconds
    while not said.exists() or differing(bed, host, said):
        assert time.monotonic() < end, differing(bed, host, said)
        time.sleep(0.5)


def machine(bed: Bed, count: int) -> Machine:
    """Return a machine of so many drives, each with a serial number of its own."""
    if why_not():
        pytest.skip(why_not())
    found = Machine(bed.ground.folder / f'machine-{count}')
    drives, letters = (
        [name for name in names() if not name.endswith('-volume')],
        'abcdefghijklmnopqrstuvwxyz',
    )
    for number in range(count):
        name = drives[number * len(drives) // count]
        letter = ('', 'a', 'b')[number // 26] + letters[number % 26]
        found.add(
            f'/dev/nvme{number}' if 'nvme' in name else f'/dev/sd{letter}',
            name,
            serial=f'EX{count}-{number:02}',
        )
    return found


@pytest.mark.parametrize('count', [24, 60])
def test_zabbix_reads_every_value_of_every_drive(bed, count):
    """Each drive is discovered with its state, its words and all its graphed values, as the
    plugin gave them.
    """
    host, options = f'drives-{count}', f'-p {machine(bed, count).smartctl} --nosudo'
    said = bed.watches(host, options)
    arrives(bed, host, said)
    text = said.read_text()
    document = json.loads(text)
    bed.zabbix.stops(host)

    assert len(text) < LIMIT / 4
    assert len(document['drives']) == count and document['unread'] == 0
    assert {'OK', 'WARNING', 'CRITICAL'} == {
        drive['state'] for drive in document['drives']
    }


# --- states and triggers --------------------------------------------------------------------------

HEALTHY, WORN, FAILING = 'intel-healthy', 'intel-worn', 'hgst-failing'


def opened(bed: Bed, host: str) -> dict[str, str]:
    """Return the open problems of a host: the words of the event, and the state that its
    severity stands for.
    """
    return {
        name: SEVERITIES[problem['severity']]
        for name, problem in bed.zabbix.problems(host).items()
    }


def shows(bed: Bed, host: str, pattern: str, seconds: float = 40) -> str:
    """Wait until a problem of a host begins so; return its words."""

    def found() -> list[str]:
        time.sleep(0.5)
        return [name for name in opened(bed, host) if re.match(pattern, name)]

    return until(found, seconds, f'{pattern} among {opened(bed, host)}')[0]


@pytest.fixture(scope='module')
def states(bed: Bed) -> tuple[Machine, Path]:
    """A healthy, a worn, a failing and an unreadable drive, and the file with their latest
    document.
    """
    if why_not():
        pytest.skip(why_not())
    drives = Machine(bed.ground.folder / 'machine-states')
    for device, name in (
        ('/dev/sda', HEALTHY),
        ('/dev/sdb', WORN),
        ('/dev/sdc', FAILING),
    ):
        drives.add(device, name, serial=f'STATE-{device[-1]}')
    drives.add('/dev/sdd', HEALTHY, serial='STATE-d', denied=True)
    said = bed.watches('states', f'-p {drives.smartctl} --nosudo')
    arrives(bed, 'states', said)
    return drives, said


def test_each_state_of_the_plugin_is_a_problem_with_its_words(bed, states):
    """A healthy drive: none.

    The others: the words of the plugin, with a severity of their own, whole.
    """
    drives = {
        drive['name']: drive for drive in json.loads(states[1].read_text())['drives']
    }
    until(lambda: len(opened(bed, 'states')) == 3, 20, 'three problems')

    assert opened(bed, 'states') == {
        f'{drive["title"]} [{drive["id"]}] {drive["text"]}': drive['state']
        for name, drive in drives.items()
        if name != 'sda'
    }
    assert [drives[name]['state'] for name in ('sda', 'sdb', 'sdc', 'sdd')] == [
        'OK',
        'WARNING',
        'CRITICAL',
        'UNKNOWN',
    ]
    assert len(drives['sdc']['text']) > 100
    assert {
        problem['opdata'] for problem in bed.zabbix.problems('states').values()
    } == {drive['text'] for name, drive in drives.items() if name != 'sda'}


def test_a_drive_that_can_no_longer_be_read_keeps_its_items(bed, states):
    """The history knows which drive was there: its items become UNKNOWN, and its last values
    stay.
    """
    states[0].add('/dev/sdb', WORN, serial='STATE-b', denied=True)
    shows(bed, 'states', r'sdb .*\[STATE-b\] UNKNOWN: ')
    values = bed.zabbix.values('states')

    assert values['smart_attributes.drive.state[STATE-b]'] == STATES['UNKNOWN']
    assert values['smart_attributes.value[STATE-b,endurance_used]'] == '93'
    states[0].add('/dev/sdb', WORN, serial='STATE-b')
    shows(bed, 'states', r'sdb .*\[STATE-b\] WARNING: ')


def test_a_drive_that_disappears_keeps_its_problem(bed, states):
    """It stays as bad as it was when it was last read, and its text says that it is missing."""
    node = states[0].folder / 'dev/sdc'
    before = node.read_text()

    def text() -> str:
        time.sleep(0.5)
        return bed.zabbix.values('states')['smart_attributes.drive.text[STATE-c]']

    node.unlink()
    until(lambda: '[drive-missing]' in text(), 40, 'the text of a missing drive')
    gone, problems = text(), opened(bed, 'states')
    values = bed.zabbix.values('states')
    node.write_text(before)
    until(lambda: '[drive-missing]' not in text(), 40, 'the text of the drive')

    assert 'acknowledge --missing STATE-c' in gone
    assert [state for name, state in problems.items() if '[STATE-c]' in name] == [
        'CRITICAL'
    ]
    assert values['smart_attributes.drive.state[STATE-c]'] == STATES['CRITICAL']
    bed.zabbix.stops('states')


# --- checks that fail -----------------------------------------------------------------------------

GOOD = json.dumps(
    {
        'version': 2,
        'state': 'CRITICAL',
        'summary': 'SMART CRITICAL',
        'run': 'OK: 1 drive: 1 critical',
        'remarks': [],
        'unread': 0,
        'host': 'bed',
        'made': 1,
        'readings': [],
        'drives': [
            {
                'id': 'BAD',
                'name': 'sda',
                'title': 'sda ACME',
                'serial': 'BAD',
                'state': 'CRITICAL',
                'text': 'CRITICAL: pending 16, critical above 8',
                'to_do': 'replace it now',
            }
        ],
    }
)
FAILED = json.dumps(
    {
        'version': 2,
        'state': 'UNKNOWN',
        'code': 'smartctl-missing',
        'error': 'not found',
        'drives': [],
    }
)
NOTHING = r'UNKNOWN: the agent returned nothing: '
# What the plugin does -> what Zabbix says of the run.
FAILURES = {
    f"echo '{FAILED}'": r'UNKNOWN: \[smartctl-missing\] not found$',
    f"echo '{GOOD[:200]}'": r'UNKNOWN: the output is not a JSON document: \{"version": 2',
    ':': r'UNKNOWN: the output is not a JSON document: $',
    ('exec /nonexistent/plugin'): r'UNKNOWN: the output is not a JSON document: '
    r'.*/nonexistent/plugin: not found',
    f"echo warning >&2; echo '{GOOD}'": r'UNKNOWN: the output is not a JSON document: warning',
    'sleep 20': NOTHING,
    'printf \'{"run": "OK: %017000000d"}\' 1': NOTHING,
    'kill -KILL $$': r'UNKNOWN: ',
    'echo null': r'UNKNOWN: ',
}


def test_no_failure_of_the_check_looks_like_ok(bed):
    """Whatever the plugin prints, the run is UNKNOWN at once; the problem of the failing drive
    stays open.
    """
    plugin = bed.ground.place(
        'plugin-fails', f'#!/bin/sh\n. {bed.ground.folder}/behaves\n'
    )
    plugin.chmod(0o755)
    behaves(bed, f"echo '{GOOD}'")
    bed.zabbix.watches(
        'fails', zabbix.parameters(str(plugin), '/nonexistent', 3), INTERVAL='2s'
    )
    failing = shows(
        bed, 'fails', r'sda ACME \[BAD\] CRITICAL: pending 16, critical above 8$'
    )
    for behavior, words in FAILURES.items():
        behaves(bed, behavior)
        until(
            lambda words=words: re.match(
                words, waited(bed).get('smart_attributes.run', '')
            ),
            30,
            f'{words} in {waited(bed)} after {behavior[:50]}',
        )
        until(
            lambda: any(
                name.startswith('SMART UNKNOWN: ') for name in opened(bed, 'fails')
            ),
            10,
            'a problem',
        )
        values = bed.zabbix.values('fails')

        assert values['smart_attributes.state'] == STATES['UNKNOWN'], behavior
        assert values['smart_attributes.drive.state[BAD]'] == STATES['CRITICAL'], (
            behavior
        )
        assert failing in opened(bed, 'fails'), behavior
    behaves(bed, f"echo '{GOOD}'")
    until(
        lambda: list(opened(bed, 'fails')) == [failing],
        20,
        'the end of the problem of the run',
    )


def behaves(bed: Bed, commands: str) -> None:
    """Let the plugin run other commands from now on."""
    bed.ground.place('behaves.new', commands + '\n').replace(
        bed.ground.folder / 'behaves'
    )


def waited(bed: Bed) -> dict[str, str]:
    """Return the values of the host a moment later."""
    time.sleep(0.5)
    return bed.zabbix.values('fails')


def test_an_agent_that_does_not_answer_is_a_problem(bed):
    """Nothing listens there; nobody has to notice by themselves that values are old."""
    assert shows(bed, 'silent', 'SMART UNKNOWN: no data for 30s', 120)
