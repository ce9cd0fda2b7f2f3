"""Debian's Icinga 2, Nagios 4 and NRPE, configured with the blocks of README and of the page on Nagios, word by word:
the states of doc/reference/states.md reach them.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import closing
from string import ascii_lowercase
from typing import NamedTuple

import pages
import pytest
from conftest import drive
from doctor_bed import PLUGIN, UNITS, Bed, lacking

pytestmark = [pytest.mark.xdist_group('doctor'), pytest.mark.long]
DOCS = '/usr/share/doc/check-smart-attributes'
# README's path of the Debian package, whose name Debian's policy requires
DEBIAN_DOCS = '/usr/share/doc/monitoring-plugins-check-smart-attributes'
NAGIOS_HOST = (
    'define host {\n\tuse linux-server\n\thost_name storage1\n\taddress 127.0.0.1\n}\n'
)


def drive_with_serial(serial: str, report: str = 'intel-s3500-healthy') -> str:
    return re.sub(
        '("serial_number":\\s*)"[^"]*"', rf'\1"{serial}"', drive(report).decode()
    )


DRIVES = {
    f'/dev/sd{letter}': drive_with_serial(f'EXAMPLE{number:04}')
    for number, letter in enumerate(ascii_lowercase[:24])
}
ONE_FAILED = {**DRIVES, '/dev/sdc': drive_with_serial('EXAMPLE0002', 'hgst-failed')}
WITHOUT_ONE = {path: report for path, report in DRIVES.items() if path != '/dev/sdc'}


class Situation(NamedTuple):
    """What a host has."""

    drives: Mapping[str, str]
    state: int
    words: str  # in the first line
    before: Mapping[str, str] = {}  # drives that an earlier check has read
    may_lack_drives: bool = False  # as README's comment in the host object says


SITUATIONS = {
    '24-drives': Situation(DRIVES, 0, '24 drives: 24 ok'),
    'failed': Situation(ONE_FAILED, 2, 'sdc: health status FAILED'),
    'vanished': Situation(WITHOUT_ONE, 1, 'sdc is missing', before=DRIVES),
    'vanished-after-it-failed': Situation(
        WITHOUT_ONE, 2, 'sdc is missing', before=ONE_FAILED
    ),
    'all-vanished': Situation({}, 2, 'missing', before=DRIVES, may_lack_drives=True),
    'no-drives': Situation({}, 3, '[no-drives]'),
    'no-drives-allowed': Situation({}, 0, 'no drives', may_lack_drives=True),
}


def block(page: str, language: str, words: str) -> str:
    """Return the block of a page with these words."""
    [found] = [
        shown.text
        for shown in pages.blocks(page)
        if shown.language == language and words in shown.text
    ]
    return found


@pytest.fixture(scope='module')
def base() -> Iterator[Bed]:
    """A machine with the documents' blocks, and nothing else, in its daemons."""
    if lacking():
        pytest.skip(lacking())
    with closing(Bed()) as bed:
        bed.install()
        bed.run(f'ln -s {DOCS} {DEBIAN_DOCS}; rm /etc/icinga2/conf.d/smart.conf')
        bed.run(block('README', 'sh', 'services.conf'))
        bed.write(
            '/etc/icinga2/conf.d/storage1.conf', block('README', 'icinga2', 'storage1')
        )
        bed.write(
            '/etc/nagios/nrpe_local.cfg',
            block('doc/how-to/nagios.md', 'nrpe', 'command[check_smart_attributes]'),
        )
        service = block('doc/how-to/nagios.md', 'nagios', 'smart_attributes_nrpe')
        bed.write('/etc/nagios4/conf.d/smart_service.cfg', NAGIOS_HOST + service)
        yield bed


@pytest.fixture
def bed(base: Bed) -> Iterator[Bed]:
    """A copy of it, which no check has run on."""
    with closing(Bed(base)) as copy:
        copy.run('rm -rf /var/lib/check-smart-attributes/*')
        yield copy


def allows_no_drives(bed: Bed) -> None:
    """Do what README says about a host that may have no drives, and the same in NRPE."""
    bed.run(
        'sed -i "s|# vars.smart_attributes_no|vars.smart_attributes_no|" /etc/icinga2/conf.d/storage1.conf'
    )
    bed.run('sed -i "s/$/ --no-drives ok/" /etc/nagios/nrpe_local.cfg')


@pytest.mark.parametrize('name', SITUATIONS)
def test_the_documented_state_reaches_each_daemon(bed, name):
    """Icinga runs the plugin itself; Nagios asks NRPE."""
    situation = SITUATIONS[name]
    if situation.before:
        bed.has(situation.before)
        bed.run(
            f'setpriv --reuid=nagios --regid=nagios --init-groups {PLUGIN}',
            is_checked=False,
        )
    bed.has(situation.drives)
    if situation.may_lack_drives:
        allows_no_drives(bed)
    for daemon in UNITS:
        bed.restart(daemon)

    states = {daemon: bed.state(daemon, 'storage1;smart') for daemon in UNITS}

    first_lines = [output.splitlines()[0] for _, output in states.values()]
    assert {daemon: state for daemon, (state, _) in states.items()} == dict.fromkeys(
        UNITS, situation.state
    ), states
    assert [line for line in first_lines if situation.words not in line] == []
