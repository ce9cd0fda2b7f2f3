"""A real Zabbix reads drives through our template: every value, every state, and every way in which a check fails.

`make test-zabbix` installs what is missing first; `make test` runs this where it is there.
"""
from __future__ import annotations

import json
import os
import re
import subprocess
import time
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, NamedTuple

import pytest
import zabbix
from daemons import Ground, closing, missing, until
from simulator import Machine, names, why_not
from zabbix import Zabbix

pytestmark = [pytest.mark.long, pytest.mark.skipif('TEST_DAEMONS' not in os.environ,
                                                   reason='Zabbix is not tried: "make test-zabbix" does it')]

STATES = {'OK': '0', 'WARNING': '1', 'CRITICAL': '2', 'UNKNOWN': '3'}
LIMIT = 512 << 10           # bytes that the agent takes from a command. Zabbix 6.0, "User parameters"
SEVERITIES = {'2': 'WARNING', '3': 'UNKNOWN', '4': 'CRITICAL'}  # of a problem -> state of the plugin
# Keeps what Zabbix got. Zabbix reads again at any time, so the file is replaced in one step.
KEEPING = '''#!/bin/sh
XDG_STATE_HOME={state} {launcher} "$@" {options} >{said}.new 2>&1
mv {said}.new {said}
cat {said}
'''


class Bed(NamedTuple):
    """Zabbix and the folder of all that it runs."""

    zabbix: Zabbix
    ground: Ground

    def watches(self, host: str, options: str, **macros: str) -> Path:
        """Let Zabbix watch a host through the shipped UserParameter; return the file with the latest document.

        options: of the plugin, after those of the UserParameter.
        """
        state, said = self.ground.folder / f'state-{host}', self.ground.folder / 'state' / f'said-{host}'
        self.ground.own(state.name)
        plugin = self.ground.place(f'plugin-{host}', KEEPING.format(
            state=state, launcher=self.ground.folder / 'share/launcher', options=options, said=said))
        plugin.chmod(0o755)
        self.zabbix.watches(host, zabbix.parameter(str(plugin), str(state)), INTERVAL='4s', **macros)
        return said


@pytest.fixture(scope='module')
def bed(loopback: None) -> Iterator[Bed]:
    """One Zabbix, with the template imported twice: the second time changes nothing."""
    absent = missing('zabbix_server', 'zabbix_agentd', 'php', 'mariadbd') or (
        '' if zabbix.FRONTEND.exists() else 'zabbix-frontend-php')
    if absent:
        pytest.skip(f'Zabbix is not tried: missing {absent}; "make test-zabbix" installs it')
    ground = Ground()
    things: List[Any] = [ground]
    try:
        things.append(Zabbix(ground))
        for _ in range(2):
            things[-1].takes(zabbix.template())
        yield Bed(things[-1], ground)
    finally:
        closing(things)


def wanted(document: Dict[str, Any]) -> Dict[str, str]:
    """Return the values that Zabbix must have for a document, by key."""
    found = {'state': STATES[document['state']], 'run': document['run'], 'summary': document['summary'],
             'unread': str(document['unread'])}
    for drive in document['drives']:
        found[f'drive.state[{drive["id"]}]'] = STATES[drive['state']]
        found.update((f'drive.{key}[{drive["id"]}]', str(drive[key]))
                     for key in ('text', 'to_do', 'name', 'model', 'serial') if drive[key])
    found.update((f'value[{each["drive"]},{each["metric"]}]', str(each['value'])) for each in document['readings'])
    return {f'smart_attributes.{key}': value for key, value in found.items()}


def differing(bed: Bed, host: str, said: Path) -> Dict[str, Any]:
    """Return the values of a document that Zabbix does not have, with those that it has instead."""
    known, document = bed.zabbix.values(host), json.loads(said.read_text())
    return {key: (value, known.get(key)) for key, value in wanted(document).items()
            if known.get(key) != value and not (key in known and '.value[' in key and float(known[key]) == float(value))}


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
    drives, letters = [name for name in names() if not name.endswith('-volume')], 'abcdefghijklmnopqrstuvwxyz'
    for number in range(count):
        name = drives[number * len(drives) // count]
        letter = ('', 'a', 'b')[number // 26] + letters[number % 26]
        found.add(f'/dev/nvme{number}' if 'nvme' in name else f'/dev/sd{letter}', name,
                  serial=f'EX{count}-{number:02}')
    return found


@pytest.mark.parametrize('count', [24, 60])
def test_zabbix_reads_every_value_of_every_drive(bed, count):
    """Each drive is discovered with its state, its words and all its graphed values, as the plugin gave them."""
    host, options = f'drives-{count}', f'-p {machine(bed, count).smartctl} --nosudo'
    said = bed.watches(host, options)
    arrives(bed, host, said)
    text = said.read_text()
    values, document = bed.zabbix.values(host), json.loads(text)
    bed.zabbix.stops(host)

    assert len(text) < LIMIT / 4
    assert len(document['drives']) == count and document['unread'] == 0
    assert {'OK', 'WARNING', 'CRITICAL'} == {drive['state'] for drive in document['drives']}
    assert numbers_of(values) == pytest.approx(numbers_of_triage(bed, host, options, numbers_of(values)))


def numbers_of(values: Dict[str, str]) -> Dict[str, float]:
    return {match[1]: float(value) for key, value in values.items()
            for match in [re.fullmatch(r'smart_attributes\.value\[(.*)\]', key)] if match}


def numbers_of_triage(bed: Bed, host: str, options: str, like: Dict[str, float]) -> Dict[str, float]:
    """Return what `triage --json` says of the same metrics; of a status in words, the same number as *like*."""
    state = f'--state-dir={bed.ground.folder}/state-{host}'
    done = bed.ground.runs(str(bed.ground.folder / 'share/launcher'), 'triage', '--json', state, *options.split())
    found = {f'{drive["serial"]},{reading["metric"]}': reading['value'] for drive in json.loads(done.stdout)['drives']
             for reading in drive['readings'] if reading['judged'] or reading['metric'] == 'smart_status'}
    return {key: like[key] if isinstance(found[key], str) else found[key] for key in like}


# --- states and triggers ---------------------------------------------------------------------------

HEALTHY, WORN, FAILING = 'intel-healthy', 'intel-worn', 'hgst-failing'


def opened(bed: Bed, host: str) -> Dict[str, str]:
    """Return the open problems of a host: the words of the event, and the state that its severity stands for."""
    return {name: SEVERITIES[problem['severity']] for name, problem in bed.zabbix.problems(host).items()}


def shows(bed: Bed, host: str, pattern: str, seconds: float = 40) -> str:
    """Wait until a problem of a host begins so; return its words."""
    def found() -> List[str]:
        time.sleep(0.5)
        return [name for name in opened(bed, host) if re.match(pattern, name)]
    return until(found, seconds, f'{pattern} among {opened(bed, host)}')[0]


def test_each_state_of_the_plugin_is_a_problem_with_its_words(bed):
    """Healthy: none. Worn, failing, hanging, gone and back again: in the words of the plugin, with its severity."""
    if why_not():
        pytest.skip(why_not())
    drives = Machine(bed.ground.folder / 'machine-states')
    for device, name in (('/dev/sda', HEALTHY), ('/dev/sdb', WORN), ('/dev/sdc', FAILING)):
        drives.add(device, name, serial=f'STATE-{device[-1]}')
    drives.add('/dev/sdd', HEALTHY, serial='STATE-d', denied=True)
    said = bed.watches('states', f'-p {drives.smartctl} --nosudo')
    arrives(bed, 'states', said)
    unread = shows(bed, 'states', 'sdd .*UNKNOWN')
    texts = {drive['id']: drive['text'] for drive in json.loads(said.read_text())['drives']}

    assert opened(bed, 'states') == {
        f'sdb INTEL SSDSC2BB800G6 [STATE-b] {texts["STATE-b"]}': 'WARNING',
        f'sdc HGST HUS726020ALA610 [STATE-c] {texts["STATE-c"]}': 'CRITICAL', unread: 'UNKNOWN'}
