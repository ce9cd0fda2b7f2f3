"""A real NRPE and a real Nagios 4 run the plugin through the files that we ship.

`make test-icinga` installs what is missing first; `make test` runs this where it is there.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import abilities
import pytest
from conftest import ROOT, drive, perfdata
from daemons import Ground, Nagios, Nrpe, closing, missing
from test_budget import TIME_LEFT, fleet

NRPE_COMMANDS = (ROOT / 'contrib/nrpe/check-smart-attributes.cfg').read_text()
NAGIOS_COMMANDS = (ROOT / 'contrib/nagios/smart_attributes.cfg').read_text()
CHECK_NRPE = '/usr/lib/nagios/plugins/check_nrpe'
# Service -> check_command, as an administrator writes it.
SERVICES = {
    'healthy': 'smart_attributes_drives!-d /dev/sda',
    'worn': 'smart_attributes_drives!-d /dev/sdb',
    'failing': 'smart_attributes_drives!-d /dev/sdc',
    'absent': 'smart_attributes_drives!-d /dev/sdd',
    'all': 'smart_attributes_all',
    'all unasked': 'smart_attributes_drives',
    'through NRPE': 'smart_attributes_nrpe',
}
FLEETS = (24, 60, 150)  # drives
RUNS = 3
SIXTY = [f'sixty drives {number}' for number in range(5)]


def lacking(*programs: str) -> None:
    absent = missing(*programs) or (
        '' if abilities.path_of(CHECK_NRPE) else 'check_nrpe'
    )
    if absent:
        pytest.skip(
            f'Nagios and NRPE are not tried: missing {absent}; "make test-icinga" installs them'
        )


@pytest.fixture(scope='module')
def nrpe(loopback) -> Iterator[Nrpe]:
    """One NRPE, with the commented examples of its file switched on."""
    lacking('nrpe')
    ground = Ground()
    try:
        daemon = Nrpe(
            ground, re.sub('^#command', 'command', NRPE_COMMANDS, flags=re.MULTILINE)
        )
        daemon.start()
        yield daemon
    finally:
        closing([ground])


def sixty_drives(ground: Ground) -> Path:
    """Return a folder with recordings of as many healthy drives."""
    report = drive('intel-s3500-healthy').decode()
    serial = re.search('"serial_number":\\s*"(.*?)"', report)[1]
    for number in range(60):
        ground.place(
            f'sixty/drive{number}.json', report.replace(serial, f'EXAMPLE{number:04}')
        )
    return ground.folder / 'sixty'


@pytest.fixture(scope='module')
def nagios(nrpe) -> Iterator[Nagios]:
    """One Nagios 4 that also asks that NRPE."""
    lacking('nrpe', 'nagios4')
    ground = Ground()
    try:
        recorded = f'smart_attributes_drives!--report {sixty_drives(ground)}'
        services = {**SERVICES, **dict.fromkeys(SIXTY, recorded)}
        daemon = Nagios(
            ground,
            NAGIOS_COMMANDS.replace(' -t 60 ', f' -p {nrpe.port} -t 60 '),
            services,
        )
        daemon.start()
        yield daemon
    finally:
        closing([ground])


def test_nrpe_passes_state_text_and_perfdata(nrpe):
    """All drives, without arguments: Debian's NRPE takes none."""
    done = nrpe.asks('-t', '60', '-c', 'check_smart_attributes')

    assert done.returncode == 2
    assert done.stdout.startswith('SMART CRITICAL - sdc: ')
    assert '4 drives' in done.stdout.splitlines()[0]
    assert {label.split('_')[0] for label in perfdata(done.stdout)} == {
        'sda',
        'sdb',
        'sdc',
        'nvme0',
    }


def test_nrpe_passes_a_range_without_brackets(nrpe):
    """Its example line is understood by NRPE, the shell and the plugin: eight slots are asked
    for.
    """
    before = len(nrpe.ground.fake.calls())
    nrpe.asks('-t', '60', '-c', 'check_smart_attributes_raid')

    asked = [call.partition(' -d ')[2] for call in nrpe.ground.fake.calls()[before:]]
    assert sorted(asked) == [f'megaraid,{slot} /dev/bus/0' for slot in range(8)]


@pytest.mark.parametrize(
    'service, code, words',
    [
        ('healthy', 0, 'SMART OK - '),
        ('worn', 1, 'SMART WARNING - sdb: used write endurance 86 % '),
        ('failing', 2, 'SMART CRITICAL - sdc: '),
        ('absent', 3, 'SMART UNKNOWN - sdd was not found'),
        ('all', 2, '4 drives'),
        ('all unasked', 2, '4 drives'),
        ('through NRPE', 2, '4 drives'),
    ],
)
def test_nagios_keeps_state_text_and_perfdata(nagios, service, code, words):
    """First line, drive lines and perfdata each where Nagios looks for them; through the file
    that we ship.
    """
    result = nagios.result(service)
    values = (
        perfdata(f'\n| {result["performance_data"]}')
        if result['performance_data']
        else {}
    )

    assert int(result['current_state']) == code, result['plugin_output']
    assert words in result['plugin_output']
    assert re.search(
        r'^(OK|WARNING|CRITICAL|UNKNOWN) +[a-z0-9]+ ', result['long_plugin_output']
    )
    assert bool(values) == (code != 3)
    assert '|' not in result['plugin_output'] + result['long_plugin_output']


@contextmanager
def nagios_behind_nrpe() -> Iterator[tuple[Nagios, Ground]]:
    """One Nagios 4 that asks an NRPE for fleets of drives, by the command that we ship; service:
    "24 drives".

    The second is where the recordings are.
    """
    lacking('nrpe', 'nagios4')
    grounds: list[Ground] = []
    try:
        grounds += [Ground(), Ground()]
        [shipped] = re.findall(
            r'^command\[check_smart_attributes\]=(.*)$', NRPE_COMMANDS, re.MULTILINE
        )
        server = Nrpe(
            grounds[0],
            ''.join(
                f'command[of{drives}]={shipped} --no-history --report '
                f'{grounds[0].folder}/of{drives}\n'
                for drives in FLEETS
            ),
        )
        server.start()
        ask = f'{CHECK_NRPE} -H 127.0.0.1 -p {server.port} -t 60 -c of'
        daemon = Nagios(
            grounds[1],
            ''.join(
                f'define command {{\n\tcommand_name\tof{drives}\n\tcommand_line\t'
                f'{ask}{drives}\n}}\n'
                for drives in FLEETS
            ),
            {f'{drives} drives': f'of{drives}' for drives in FLEETS},
        )
        daemon.start()
        yield daemon, grounds[0]
    finally:
        closing(grounds)


@pytest.mark.long
def test_nothing_is_cut_behind_nrpe_and_the_series_stay(loopback):
    """Nagios keeps 8,192 bytes of what check_nrpe prints: perfdata of 24 drives ended within a
    number.
    """
    cut, series = [], {drives: set() for drives in FLEETS}
    with nagios_behind_nrpe() as (nagios, ground):
        for run in range(RUNS):
            for drives in FLEETS:
                fleet(ground.folder / f'of{drives}', drives, random.Random(run))
            for drives, result in zip(
                FLEETS, nagios.results([f'{drives} drives' for drives in FLEETS])
            ):
                cut += [(drives, run)] if not is_whole(ground, drives, result) else []
                labels = perfdata(f'\n| {result["performance_data"]}')
                series[drives].add(
                    tuple(sorted(label for label in labels if TIME_LEFT not in label))
                )

    assert cut == []
    assert {drives: len(found) for drives, found in series.items()} == dict.fromkeys(
        FLEETS, 1
    )
    assert all(
        len(labels) >= drives for drives, found in series.items() for labels in found
    )


def is_whole(ground: Ground, drives: int, result: dict[str, str]) -> bool:
    """Tell whether Nagios has what the plugin prints, byte for byte."""
    printed = ground.runs(
        ground.plugin,
        '--max-output',
        '8000',
        '--no-history',
        '--report',
        f'{ground.folder}/of{drives}',
    ).stdout
    return whole(result) == printed.rstrip('\n').replace(';', ':')


@contextmanager
def load() -> Iterator[None]:
    """Keep every processor busy, and one more."""
    busy = [
        subprocess.Popen(['sh', '-c', 'while :; do :; done'])
        for _ in range((os.cpu_count() or 1) + 1)
    ]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


@pytest.mark.long
def test_sixty_drives_arrive_whole_under_load(nagios):
    """Nagios 4.4 reads a pipe whose writer has ended only once, 4 to 8 kB: whoever leaves at
    once loses the rest.
    """
    ground = nagios.ground
    printed = ground.runs(
        f'{ground.plugins}/check_smart_attributes', '--report', f'{ground.folder}/sixty'
    ).stdout
    cut = []
    with load():
        for _ in range(4):
            results = nagios.results(SIXTY)
            cut += [
                result
                for result in results
                if whole(result) != printed.rstrip('\n').replace(';', ':')
            ]

    assert len(printed) > 10000
    assert [len(whole(result)) for result in cut] == []


def whole(result: dict[str, str]) -> str:
    """Return the plugin's output, put together again from where Nagios keeps its parts."""
    text = '\n'.join(
        [
            result['plugin_output'],
            result['long_plugin_output'].replace('\\n', '\n').rstrip('\n'),
        ]
    )
    # as Nagios does in the first line
    return f'{text}\n| {result["performance_data"]}'.replace(';', ':')
