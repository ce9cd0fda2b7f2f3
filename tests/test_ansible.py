"""The Ansible role, run by the real Ansible in fresh Debian systems: it installs, and a second run
changes nothing.

`make test-ansible` runs this with the packages that `make packages` has built; it takes minutes, so
nothing else does.
"""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import abilities
import pytest
from chroots import PLUGIN, Chroot, newest, overlaid, removed, unpacked
from conftest import ROOT, drive

if 'TEST_ANSIBLE' not in os.environ:
    pytest.skip(
        'the Ansible role is tested by "make test-ansible" only: it takes minutes',
        allow_module_level=True,
    )
if not abilities.IS_ROOT:
    pytest.skip('only root can run Ansible in a chroot', allow_module_level=True)

ROLE = ROOT / 'contrib/ansible'
ANSIBLE = ROOT / '.venv-ansible/bin'
# One drive, worn to 86 %; smartctl's own -V.
SMARTCTL = """#!/bin/sh
case "$*" in
    *--version*) exec /usr/sbin/smartctl.distrib "$@";;
    *--scan*) exec cat /opt/drives/scan;;
esac
exec cat /opt/drives/sdb
"""
SCANNED = (
    '{"smartctl":{"argv":["smartctl","--json=c","--scan"],"exit_status":0},'
    '"devices":[{"name":"/dev/sdb","type":"scsi"}]}'
)
# The default of the role.
SIGNERS = re.search(
    'check_smart_attributes_signers: "(.*)"',
    (ROLE / 'roles/check_smart_attributes/defaults/main.yml').read_text(),
)[1]
LIMITS = {
    'metrics': {'endurance_used': {'warning': '90', 'why': 'new drives are ordered'}}
}


@pytest.fixture(scope='module', params=['bookworm', 'trixie'])
def managed(request, tmp_path_factory) -> Iterator[Chroot]:
    """A host as Ansible wants it, with Python, and with a drive."""
    host = unpacked(request.param, tmp_path_factory.mktemp(request.param))
    host.installs('python3', 'smartmontools', 'sudo', 'adduser')
    host.does('dpkg-divert', '--local', '--rename', '--add', '/usr/sbin/smartctl')
    host.writes('/usr/sbin/smartctl', SMARTCTL)
    (host.root / 'usr/sbin/smartctl').chmod(0o755)
    host.writes('/opt/drives/scan', SCANNED)
    (host.root / 'opt/drives/sdb').write_bytes(drive('intel-worn'))
    host.does(
        'adduser',
        '--system',
        '--group',
        '--no-create-home',
        '--home',
        '/var/lib/nagios',
        '--quiet',
        'nagios',
    )
    # or sudo waits for a name server
    host.writes('/etc/hosts', f'127.0.0.1 localhost {os.uname().nodename}\n')
    yield host
    removed(host.root)


@pytest.fixture
def host(managed, tmp_path) -> Iterator[Chroot]:
    """One of its own for each test."""
    with overlaid(managed.root, tmp_path) as chroot:
        yield chroot


def play(host: Chroot, **variables: object) -> tuple[int, int, str]:
    """Run the playbook with these variables; return how many tasks changed something, how many
    failed, and all text.

    Without `signers`, it trusts those who built the files.
    """
    variables.setdefault('signers', '')
    # not -e, which would change the connection of the controller, too
    inventory = Path(f'{host.root}.hosts')
    inventory.write_text(
        'managed ansible_connection=community.general.chroot '
        f'ansible_host={host.root} ansible_python_interpreter=/usr/bin/python3\n'
    )
    words = {
        f'check_smart_attributes_{name}': value for name, value in variables.items()
    }
    playbook = [
        str(ANSIBLE / 'ansible-playbook'),
        '-i',
        str(inventory),
        '-e',
        json.dumps(words),
        'playbook.yml',
    ]
    mounted = 'mount -t proc proc "$0/proc" && exec "$@"'
    done = subprocess.run(
        [
            'unshare',
            '--mount',
            '--propagation',
            'private',
            'sh',
            '-c',
            mounted,
            str(host.root),
            *playbook,
        ],
        cwd=ROLE,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=900,
        env={
            **os.environ,
            'ANSIBLE_NOCOWS': '1',
            'ANSIBLE_HOST_KEY_CHECKING': '0',
            'ANSIBLE_FORCE_COLOR': '0',
            'LC_ALL': 'C.UTF-8',
            'PATH': f'{ANSIBLE}:/usr/sbin:/usr/bin:/sbin:/bin',
        },
    )
    print(done.stdout)
    counted = re.search(
        r'^managed +: .*changed=(\d+).*failed=(\d+)', done.stdout, re.MULTILINE
    )
    return int(counted[1]), int(counted[2]), done.stdout


@pytest.mark.parametrize(
    'pattern',
    [  # package
        '*.deb',
        # single file
        '*.pyz',
    ],
)
def test_it_installs_and_a_second_run_changes_nothing(host, pattern):
    """The limit of the site applies, and doctor finds nothing to do; without the limit, the
    drive warns.
    """
    file = str(newest(pattern, ROOT / 'dist'))
    first = play(host, file=file, limits=LIMITS)
    plugin = PLUGIN if host.has(PLUGIN) else PLUGIN.replace('/usr/', '/usr/local/')
    limited = host.runs(plugin, user='nagios')
    second = play(host, file=file, limits=LIMITS)
    third = play(host, file=file, limits={})

    assert first[0] >= 3 and first[1] == 0, first[2]
    assert second[:2] == (0, 0), second[2]
    assert third[:2] == (1, 0), third[2]
    assert limited.stdout.startswith('SMART OK'), limited.stdout
    assert host.runs(plugin, user='nagios').stdout.startswith(
        'SMART WARNING - sdb: used write endurance 86 %'
    )


def test_a_host_without_drives_is_in_order(host):
    """For doctor, and where alerts are accepted; a second run changes nothing."""
    host.writes(
        '/opt/drives/scan', SCANNED.replace('{"name":"/dev/sdb","type":"scsi"}', '')
    )
    file = str(newest('*.deb', ROOT / 'dist'))
    first = play(host, file=file, accept_as_found='as found in a test')
    second = play(host, file=file, accept_as_found='as found in a test')

    assert first[1] == 0, first[2]
    assert 'nothing to acknowledge: no drives' in first[2]
    assert second[:2] == (0, 0), second[2]


def test_a_file_that_nobody_signed_is_not_installed_by_default(host):
    """Only an empty list of signers, which an admin has to write, installs it."""
    refused = play(host, file=str(newest('*.deb', ROOT / 'dist')), signers=SIGNERS)

    assert refused[:2] == (0, 1), refused[2]
    assert not host.has(PLUGIN)


def test_alerts_are_accepted_once(host):
    """What is worse a day later is news; without the reason, nothing is accepted."""
    file = str(newest('*.deb', ROOT / 'dist'))
    never = play(host, file=file)
    alerting = host.runs(PLUGIN, user='nagios')
    first = play(host, file=file, accept_as_found='as found in a test')
    accepted = host.runs(PLUGIN, user='nagios')
    host.does(PLUGIN, 'acknowledge', '--withdraw', 'EXAMPLE0003')
    second = play(host, file=file, accept_as_found='as found in a test')

    assert (never[1], first[1], second[:2]) == (0, 0, (0, 0)), second[2]
    assert alerting.stdout.startswith('SMART WARNING')
    assert 'acknowledged: sdb endurance_used 86 %' in first[2]
    assert accepted.stdout.startswith('SMART OK'), accepted.stdout
    assert host.runs(PLUGIN, user='nagios').stdout.startswith('SMART WARNING')


def test_what_doctor_finds_fails_the_play(host):
    """With its output, which has the command that repairs it."""
    host.writes('/etc/sudoers.d/zz', 'nagios ALL=(ALL) !/usr/sbin/smartctl\n')
    _, failed, printed = play(
        host, file=str(newest('*.deb', ROOT / 'dist')), limits=LIMITS
    )

    assert failed == 1
    assert '/etc/sudoers.d/zz' in printed
