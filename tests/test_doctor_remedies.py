"""Doctor's remedies, run as printed: each breakage of a real installation is named, and repaired
without a circle.

`make test-doctor` runs this; it changes only copies of a folder.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from typing import NamedTuple

import abilities
import pytest
from chroots import Chroot, kept, overlaid, unpacked
from conftest import ROOT, drive

if 'TEST_DOCTOR' not in os.environ:
    pytest.skip(
        'the remedies of doctor are tested by "make test-doctor" only: it takes four minutes',
        allow_module_level=True,
    )
if not abilities.IS_ROOT:
    pytest.skip(
        'only root can break and repair an installation in a chroot', allow_module_level=True
    )

PLUGINS = [f'/usr{local}/lib/nagios/plugins/check_smart_attributes' for local in ('/local', '')]
PATH = 'export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin; '
TREE = '/usr/local/share/check-smart-attributes'
RULE = '/etc/sudoers.d/check-smart-attributes'
STATE = '/var/lib/check-smart-attributes'
MOST_ROUNDS = 3
# The package of smartctl in the bed: a program that has one drive. It is installed and reinstalled
# like Debian's.
SMARTCTL = """#!/bin/sh
case "$*" in
    *--version*) echo 'smartctl 7.3 2022-02-28 r5338 [x86_64-linux-6.1.0] (local build)'; exit;;
    *--scan*) cat /opt/drives/scan; exit;;
esac
for device; do :; done
cat "/opt/drives/${device##*/}"
"""
SCANNED = (
    '{"smartctl":{"argv":["smartctl","--json=c","--scan"],"exit_status":0},'
    '"devices":[{"name":"/dev/sda","type":"scsi"}]}'
)
CONTROL = (
    'Package: smartmontools\nVersion: 9:7.3\nArchitecture: all\nMaintainer: nobody '
    '<nobody@localhost>\n'
    'Description: stands in for smartctl\n'
)
OURS = '/srv/ours'
# An admin at an editor: deletes the lines that the breakage below added.
EDITOR = '#!/bin/sh\nfor file; do :; done\nsed -i /BROKEN/d "$file"\n'


class Breakage(NamedTuple):
    """What breaks an installation, and what doctor has to say first."""

    name: str
    how: str  # shell commands, as root
    words: str  # of the first finding that is not good; a regular expression
    outside: str = ''  # shell commands outside the chroot, in its folder: mounts


def sudoers(name: str, line: str) -> str:
    return (
        f"printf '# of this site\\n%s\\n' '{line}' >/etc/sudoers.d/{name}; chmod 0440 "
        f'/etc/sudoers.d/{name}'
    )


BREAKAGES = (
    Breakage('rule for another user', f'sed -i s/nagios/games/ {RULE}', 'is missing'),
    Breakage(
        'a later file denies smartctl',
        sudoers('zz', 'nagios ALL=(ALL) !/usr/sbin/smartctl'),
        '/etc/sudoers.d/zz, line 2',
    ),
    Breakage(
        'a later file of mode 0644 denies smartctl',
        sudoers('zz', 'ALL ALL=(ALL) ! /usr/sbin/smartctl') + '; chmod 0644 /etc/sudoers.d/zz',
        '/etc/sudoers.d/zz, line 2',
    ),
    Breakage(
        'a later rule asks for a password',
        sudoers('zz', 'nagios ALL=(ALL) PASSWD: ALL'),
        '/etc/sudoers.d/zz',
    ),
    Breakage(
        'a denial at the end of /etc/sudoers',
        'printf "nagios ALL=(ALL) !/usr/sbin/smartctl\\n" >>/etc/sudoers',
        '/etc/sudoers, line',
    ),
    Breakage(
        'a rule that allows everything',
        sudoers('zz', 'nagios ALL=(ALL) NOPASSWD: ALL  # BROKEN'),
        'any arguments',
    ),
    Breakage(
        'requiretty for smartctl',
        sudoers('zz', 'Defaults!/usr/sbin/smartctl requiretty'),
        'requiretty',
    ),
    Breakage('syntax error in the rule', f'echo BROKEN broken >>{RULE}', 'syntax error'),
    Breakage('syntax error in another file', sudoers('zz', 'BROKEN broken'), 'syntax error'),
    Breakage(
        'sudo not installed', 'SUDO_FORCE_REMOVE=yes dpkg --remove sudo', 'sudo is not installed'
    ),
    Breakage('sudoers of another owner', 'chown nagios /etc/sudoers', 'does not belong to root'),
    Breakage('smartctl missing', 'dpkg --remove smartmontools', 'file not found'),
    Breakage('smartctl deleted', 'rm /usr/sbin/smartctl', 'file not found'),
    Breakage('smartctl not executable', 'chmod 0644 /usr/sbin/smartctl', 'not executable'),
    Breakage(
        'smartctl that others can write', 'chmod 0777 /usr/sbin/smartctl', 'others could change it'
    ),
    Breakage(
        'smartctl of another owner', 'chown nagios /usr/sbin/smartctl', 'others could change it'
    ),
    Breakage(
        'smartctl that hangs',
        'printf "#!/bin/sh\\nsleep 600\\n" >/usr/sbin/smartctl',
        'does not answer',
    ),
    Breakage(
        'smartctl that prints garbage',
        'printf "#!/bin/sh\\necho garbage\\n" >/usr/sbin/smartctl',
        'does not identify itself',
    ),
    Breakage('history that others can write', f'chmod 0777 {STATE}', 'writable by others'),
    Breakage('history is a file', f'rm -r {STATE}; echo >{STATE}', 'directory'),
    Breakage(
        'history below a folder that others can write', 'chmod 0777 /var/lib', 'writable by others'
    ),
    Breakage(
        'history damaged',
        f'find {STATE} -name "*.drive" | while read file; do head -c 9999 /dev/zero >$file; done',
        'the old one was damaged',
    ),
    Breakage(
        'full file system',
        '',
        'free on its disk',
        outside=f'mount -t tmpfs -o size=64k,mode=0750,uid=$(stat -c %u .{STATE}) tmpfs .{STATE}',
    ),
    Breakage('program only for root', f'chmod 0700 {TREE}', 'no permission'),
    Breakage('plugin folder only for root', 'chmod 0700 /usr/local/lib', 'no permission'),
    Breakage(
        'plugin missing where the daemon looks', 'mkdir -p /usr/lib/nagios/plugins', 'is missing'
    ),
    Breakage(
        'site file damaged',
        'printf "{}\\nBROKEN\\n" >/etc/check-smart-attributes/thresholds.d/a.json',
        'a.json',
    ),
)
# Without a command that can be run blindly: what an admin has to decide.
UNREPAIRED = {'full file system'}


@pytest.fixture(scope='module')
def installed(tmp_path_factory) -> Iterator[Chroot]:
    """A Debian with a monitoring user, sudo, a smartctl that has a drive, and our program as
    make install writes it.
    """
    folder = tmp_path_factory.mktemp('below')

    def fresh() -> None:
        unpacked('bookworm', folder).installs('python3', 'sudo')

    host = kept('bookworm-sudo', folder, fresh)
    folder.parent.chmod(0o755)
    host.writes('/etc/apt/apt.conf.d/yes', 'APT::Get::Assume-Yes "true";\n')
    _offer_smartctl(host)
    # or sudo waits for a name server
    host.writes('/etc/hosts', f'127.0.0.1 localhost {socket.gethostname()}\n')
    host.does('apt', 'install', 'smartmontools')
    host.writes('/usr/bin/editor', EDITOR)
    (host.root / 'usr/bin/editor').chmod(0o755)
    host.does('useradd', '--system', '--user-group', '--shell', '/usr/sbin/nologin', 'nagios')
    libraries = tmp_path_factory.mktemp('libraries')
    for words in (
        ['sh', 'tools/vendored', sys.executable, str(libraries)],
        ['make', 'install', f'DESTDIR={host.root}', f'LIBRARIES={libraries}'],
    ):
        subprocess.run(words, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    host.does(f'{TREE}/configure-host')
    assert _checks(host), 'the bed itself is broken'
    return host


def _offer_smartctl(host: Chroot) -> None:
    package = host.root / 'srv/smartmontools'
    for name, text, mode in (
        ('usr/sbin/smartctl', SMARTCTL, 0o755),
        ('DEBIAN/control', CONTROL, 0o644),
        ('usr/sbin/smartd', SMARTCTL, 0o755),
        ('opt/drives/scan', SCANNED, 0o644),
    ):
        host.writes(f'/srv/smartmontools/{name}', text)
        (package / name).chmod(mode)
    (package / 'opt/drives/sda').write_bytes(drive('intel-s3500-healthy'))
    host.does(
        'sh',
        '-c',
        f'mkdir -p {OURS} && chmod 755 /srv/smartmontools/DEBIAN && '
        f'dpkg-deb --root-owner-group -b /srv/smartmontools {OURS}',
    )
    index = host.does('dpkg-deb', '-f', f'{OURS}/smartmontools_7.3_all.deb')
    size = (host.root / OURS[1:] / 'smartmontools_7.3_all.deb').stat().st_size
    host.writes(
        f'{OURS}/Packages',
        f'{index.strip()}\nFilename: ./smartmontools_7.3_all.deb\nSize: {size}\n'
        + 'SHA256: '
        + host.does('sha256sum', f'{OURS}/smartmontools_7.3_all.deb').split()[0]
        + '\n',
    )
    host.writes('/etc/apt/sources.list.d/ours.list', f'deb [trusted=yes] file:{OURS} ./\n')
    host.does(
        'apt-get',
        'update',
        '-o',
        'Dir::Etc::sourcelist=/etc/apt/sources.list.d/ours.list',
        '-o',
        'Dir::Etc::sourceparts=-',
        '-o',
        'APT::Get::List-Cleanup=0',
    )


def _checks(host: Chroot) -> bool:
    """Return whether doctor finds nothing and a check of the monitoring user is OK."""
    plugin = next(path for path in PLUGINS if host.has(path))
    check = host.runs(plugin, user='nagios')
    left = _to_do(_doctor(host))
    print(check.stdout, left)
    return check.returncode == 0 and left == []


def _doctor(host: Chroot) -> list[dict[str, str]]:
    """Return the findings; of a doctor that cannot start, its message, which names the command."""
    printed = host.runs(
        'sh', '-c', PATH + 'check_smart_attributes doctor --json --user nagios'
    ).stdout
    document = json.loads(printed) if printed.startswith('{') else {'error': printed}
    words = document.get('error', '')
    named = re.search('run: (.*)', words)
    return document.get('findings') or [
        {'message': words, 'state': 'problem', 'command': named[1] if named else ''}
    ]


def _to_do(findings: list[dict[str, str]]) -> list[dict[str, str]]:
    return [each for each in findings if each['state'] != 'good']


def _repair(host: Chroot, command: str) -> None:
    """Run a command as an admin does who pastes it; mounts that it changes stay changed."""
    words = f'{PATH}export EDITOR=/usr/bin/editor; cd /root; {command}'
    done = subprocess.run(
        ['chroot', str(host.root), 'sh', '-c', words],
        stdin=subprocess.DEVNULL,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=300,
    )
    print(command, done.stdout[-800:], sep='\n')


@pytest.mark.parametrize('breakage', BREAKAGES, ids=lambda each: each.name)
def test_the_printed_commands_repair(installed, breakage, tmp_path):
    """The first command that doctor prints is run as printed, then doctor again; at most three
    times.
    """
    with overlaid(installed.root, tmp_path) as host:
        subprocess.run(['mount', '-t', 'proc', 'proc', str(host.root / 'proc')], check=True)
        if breakage.how:
            host.does('sh', '-c', breakage.how)
        if breakage.outside:
            subprocess.run(['sh', '-c', breakage.outside], cwd=host.root, check=True)
        findings = _doctor(host)
        said = '\n'.join(each['message'] for each in findings)
        assert re.search(breakage.words, said), said
        if breakage.name in UNREPAIRED:
            return
        for _ in range(MOST_ROUNDS):
            command = next((each['command'] for each in _to_do(findings) if each['command']), '')
            if not command:
                break
            _repair(host, command)
            findings = _doctor(host)
        assert _checks(host)
