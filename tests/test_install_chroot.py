"""The single file installed by its own command in a fresh Debian: checked as nagios through sudo, upgraded, removed.

`make test-deb` runs this; it needs the single file that `make zipapp` has built, and changes only a folder of its own.
"""
from __future__ import annotations

import os
import re
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from chroots import Chroot, removed, unpacked
from conftest import ROOT, drive

PLUGIN = '/usr/lib/nagios/plugins/check_smart_attributes'
FILE = '/root/check_smart_attributes.pyz'   # where no other user can read it
SMARTCTL = '''#!/bin/sh
case "$*" in *--version*) exec /usr/sbin/smartctl.distrib --version;; esac
for device; do :; done
cat "/opt/drives/${device##*/}"
'''
SITE_FILE = '/etc/check-smart-attributes/thresholds.d/mine.json'
# Prints the seconds of CPU time that ten checks take, with sudo and smartctl.
TEN_CHECKS = ("import os, subprocess, sys\nfor _ in range(10):\n    subprocess.run([sys.argv[1], '-d', '/dev/sda'], "
              "stdout=subprocess.DEVNULL)\ntimes = os.times()\nprint(times.children_user + times.children_system)")

if 'TEST_DEB' not in os.environ:
    pytest.skip('the installation in a chroot is tested by "make test-deb" only: it takes a minute',
                allow_module_level=True)


@pytest.fixture(scope='module', params=['bookworm', 'trixie'])
def host(request, tmp_path_factory) -> Iterator[Chroot]:
    """A Debian with a monitoring agent, and a stand-in for smartctl that has a drive."""
    chroot = unpacked(request.param, tmp_path_factory.mktemp(request.param))
    chroot.installs('python3', 'sudo', 'smartmontools', 'nagios-nrpe-server', 'nagios-nrpe-plugin')
    chroot.does('dpkg-divert', '--local', '--rename', '--add', '/usr/sbin/smartctl')
    chroot.writes('/usr/sbin/smartctl', SMARTCTL)
    (chroot.root / 'usr/sbin/smartctl').chmod(0o755)
    (chroot.root / 'opt/drives').mkdir()
    (chroot.root / 'opt/drives/sda').write_bytes(drive('intel-s3500-healthy'))
    shutil.copy(ROOT / 'dist/check_smart_attributes.pyz', chroot.root / 'root')
    yield chroot
    removed(chroot.root)


def seconds(host: Chroot, program: str) -> float:
    return float(host.does('runuser', '-u', 'nagios', '--', 'python3', '-c', TEN_CHECKS, program)) / 10


def upgraded(host: Chroot) -> None:
    """Give the single file another content, as a later version has."""
    with zipfile.ZipFile(host.root / FILE[1:], 'a') as archive:
        archive.writestr(f'smart_attributes/later{len(archive.namelist())}.txt', 'later')


def test_it_installs_upgrades_and_removes_the_program(host):
    """One command for each; a file of this site survives all."""
    host.runs('sh', '-c', 'getent passwd nagios || useradd --system nagios')
    before = host.files()
    plan = host.does(FILE, 'install')
    assert host.files() == before
    assert plan.splitlines()[-1] == ('nothing was changed; to make these changes, run as root: check_smart_attributes '
                                     'install --yes')

    done = host.does('sh', '-c', f'umask 077 && {FILE} install --yes')   # as careful root shells are set up
    assert done.splitlines() == plan.splitlines()[:-1]
    assert host.does(FILE, 'install', '--yes') == 'nothing to change\n'
    check = host.runs(PLUGIN, '-d', '/dev/sda', user='nagios')
    assert (check.returncode, check.stdout.splitlines()[0]) == (
        0, 'SMART OK - most worn: sda endurance_used 12 %; 1 drive: 1 ok'), check.stdout
    doctor = host.runs('/usr/local/sbin/check_smart_attributes', 'doctor', '--user', 'nagios', '-d', '/dev/sda')
    assert re.findall('^TO DO.*', doctor.stdout, re.MULTILINE) == [], doctor.stdout

    host.writes(SITE_FILE, '{}')
    upgraded(host)
    assert re.search(r'^replace /usr/local/lib/check-smart-attributes/check_smart_attributes',
                     host.does(FILE, 'install', '--yes'), re.MULTILINE)

    host.does('/usr/local/sbin/check_smart_attributes', 'install', '--remove', '--yes')
    left = {path for path in host.files() - before if not re.match('/usr/local/share/(man|bash-completion|doc)', path)}
    assert [path for path in sorted(left) if not path.startswith('/var/lib/check-smart-attributes')] == [
        '/etc/check-smart-attributes', '/etc/check-smart-attributes/attributes.d',
        '/etc/check-smart-attributes/thresholds.d', SITE_FILE]


def test_a_check_takes_a_third_of_the_time_of_the_single_file(host):
    """Its modules are compiled: 51 ms of CPU time instead of 200 ms, sudo and smartctl included, when measured."""
    host.does(FILE, 'install', '--yes')
    shutil.copy(host.root / FILE[1:], host.root / 'opt')

    assert seconds(host, PLUGIN) < seconds(host, '/opt/check_smart_attributes.pyz') * 0.4


def test_checks_that_run_during_upgrades_do_not_fail(host):
    """Each starts from one version, and imports all its modules from that."""
    host.does(FILE, 'install', '--yes')
    loop = f'until [ -e /tmp/end ]; do {PLUGIN} -d /dev/sda >>/tmp/out || echo FAILED $? >>/tmp/out; done'
    checks = subprocess.Popen(['chroot', str(host.root), 'sh', '-c', loop], stdout=subprocess.DEVNULL)
    try:
        for _ in range(3):
            upgraded(host)
            host.does(FILE, 'install', '--yes')
    finally:
        (host.root / 'tmp/end').write_text('')
        checks.wait(60)
    printed = Path(host.root / 'tmp/out').read_text()

    assert printed.count('SMART OK') > 20
    assert 'FAILED' not in printed
    assert len(list((host.root / 'usr/local/lib/check-smart-attributes').glob('2*'))) == 2


def test_a_package_is_not_overwritten(host):
    host.does('mkdir', '/usr/share/check-smart-attributes')
    done = host.runs(FILE, 'install', '--yes')
    host.does('rmdir', '/usr/share/check-smart-attributes')

    assert (done.returncode, 'a package has already installed the program here' in done.stdout) == (3, True)
