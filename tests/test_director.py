"""A real Icinga Director imports our basket, deploys what follows from it, and Icinga runs it.

Part of `make test-icinga`, which installs the Director, Icinga Web and a database first.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from conftest import ROOT
from daemons import Ground, Icinga, closing, missing, until
from director import MODULES, Director

BASKET = (ROOT / 'contrib/icinga-director/check-smart-attributes.json').read_text()


class Bed(NamedTuple):
    """The Director and the Icinga that it configures."""

    director: Director
    icinga: Icinga


@pytest.fixture(scope='module')
def bed(loopback) -> Iterator[Bed]:
    """Kickstarted: it knows the commands of Icinga, ours among them."""
    absent = missing('icinga2', 'icingacli', 'mariadbd', 'mariadb-install-db') or (
        '' if (MODULES / 'director').exists() else 'director'
    )
    if absent:
        pytest.skip(
            f'the Director is not tried: missing {absent}; "make test-icinga" installs it'
        )
    ground = Ground()
    try:
        command = (ROOT / 'contrib/icinga2/check-smart-attributes.conf').read_text()
        icinga = Icinga(ground, {'check-smart-attributes.conf': command})
        icinga.start()
        yield Bed(Director(ground, icinga), icinga)
    finally:
        closing([ground])


def found_drives(bed: Bed) -> str:
    """Return what our script makes of `list --json` for the Director."""
    found = bed.icinga.ground.runs(bed.icinga.ground.plugin, 'list', '--json')
    script = [sys.executable, str(ROOT / 'contrib/icinga2/host-vars'), '--director']
    return subprocess.run(
        script, input=found.stdout, capture_output=True, text=True, check=True
    ).stdout


def services_of(icinga: Icinga) -> list[str]:
    try:
        return icinga.services()
    except OSError:  # while Icinga takes over the new configuration
        return []


@pytest.mark.long
def test_the_basket_becomes_services_that_run(bed):
    """Restored twice without harm, deployed, checked: a service for all drives, or one for each
    where these are known.
    """
    bed.director.asks('basket', 'restore', given=BASKET)
    bed.director.asks('basket', 'restore', given=BASKET)
    for host in ('bed', 'other'):
        bed.director.creates(
            'host',
            host,
            {
                'object_type': 'object',
                'imports': ['smart'],
                'check_command': 'dummy',
                'vars': {'smart': True},
            },
        )
    bed.director.asks('host', 'set', 'bed', '--json', found_drives(bed))
    bed.director.deploys()
    until(
        lambda: len(services_of(bed.icinga)) == 4,
        30,
        'the services that the Director deployed',
    )

    assert bed.icinga.services('other') == ['smart']
    assert bed.icinga.result('smart', 'other')['state'] == 2
    assert {
        name: bed.icinga.result(name)['state'] for name in bed.icinga.services()
    } == {
        'smart /dev/sda': 0,
        'smart /dev/sdb': 1,
        'smart /dev/sdc': 2,
        'smart /dev/nvme0': 1,
    }
    assert bed.icinga.result('smart /dev/sdb')['command'][1:] == [
        '--device',
        '/dev/sdb',
    ]


@pytest.mark.long
def test_every_option_is_a_field_of_the_command(bed):
    """What the web page offers when a service is made; the kickstart has found the arguments
    themselves.
    """
    bed.director.asks('basket', 'restore', given=BASKET)
    command = json.loads(
        bed.director.asks('command', 'show', 'check-smart-attributes', '--json')
    )
    offered = {field['varname'] for field in json.loads(BASKET)['Datafield'].values()}
    wanted = {
        (argument.get('value') or argument['set_if']).strip('$')
        for argument in command['arguments'].values()
    }

    assert wanted == offered - {'smart', 'smart_drives'}
    assert len(command['fields']) == len(wanted)
