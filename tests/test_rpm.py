"""The RPM on Debian 11, 12 and 13 with an empty rpm database: installed, upgraded, run through
sudo, removed.

`make test-rpm` builds the package and runs this. Python and sudo are those of Debian. Stub packages
with the names of RHEL and SUSE satisfy the dependencies, so rpm resolves them as it does there.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import pytest
from chroots import PACKAGE, SCANNED, Chroot, newest, overlaid, removed, unpacked
from conftest import ROOT, perfdata

PLUGIN = '/usr/lib64/nagios/plugins/check_smart_attributes'
PLUGIN_OF_SUSE = '/usr/lib/nagios/plugins/check_smart_attributes'
COMMAND = '/usr/sbin/check_smart_attributes'
SHARE = '/usr/share/check-smart-attributes'
STATE = '/var/lib/check-smart-attributes'
CONFIG = '/etc/check-smart-attributes'
RULE = '/etc/sudoers.d/check-smart-attributes'
UNITS = '/usr/lib/systemd/system'
RPM = '/srv/rpm'
SPEC = ROOT / f'build/rpm/{PACKAGE}.spec'
MACHINE = (
    'bash',
    'coreutils',
    'findutils',
    'grep',
    'sed',
    'python3',
    'smartmontools',
    'sudo',
)
AGENTS = ('icinga2', 'nrpe')

# Answers by the device alone, and as smartctl 7.4 for its version.
SMARTCTL = """#!/bin/sh
case "$*" in
    *--scan*) exec cat /opt/drives/scan;;
    *--version*|-V) echo 'smartctl 7.4 2023-08-01 r5530 [x86_64-linux] (local build)'; exit;;
esac
for device; do :; done
cat "/opt/drives/${device##*/}" && [ "$device" != /dev/sdd ] || exit 2
"""
STUB = """
Name: {name}
Version: {version}
Release: 1
Summary: Stub
License: GPL-3.0-or-later
BuildArch: noarch
AutoReqProv: no
{provides}
%description
Stub.
{scripts}
%install
cp -a {tree}/. %{{buildroot}}
%files -f {tree}.files
"""

if 'TEST_RPM' not in os.environ:
    pytest.skip(
        'the RPM is tested by "make test-rpm" only: it takes minutes',
        allow_module_level=True,
    )


class Stub(NamedTuple):
    """A package that has the name of one of RHEL or SUSE, with the files and users that matter
    to ours.
    """

    name: str
    version: str = '1'
    provides: str = ''
    user: str = ''
    links: Mapping[str, str] = MappingProxyType({})
    texts: Mapping[str, str] = MappingProxyType({})

    def built(self, folder: Path) -> Path:
        """Build the package with rpmbuild, as the distribution does."""
        tree = folder / f'{self.name}-tree'
        for path, text in self.texts.items():
            file = Path(f'{tree}{path}')
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
            file.chmod(0o755)
        for path, target in self.links.items():
            Path(f'{tree}{path}').parent.mkdir(parents=True, exist_ok=True)
            os.symlink(target, f'{tree}{path}')
        tree.mkdir(exist_ok=True)
        Path(f'{tree}.files').write_text(
            ''.join(f'{path}\n' for path in (*self.texts, *self.links)) or '\n'
        )
        spec = folder / f'{self.name}.spec'
        make_user = (
            f'%pre\ngetent passwd {self.user} >/dev/null || useradd --system '
            f'--user-group {self.user}\n'
        )
        spec.write_text(
            STUB.format(
                name=self.name,
                version=self.version,
                tree=tree,
                provides=self.provides and f'Provides: {self.provides}',
                scripts=make_user if self.user else '',
            )
        )
        return rpmbuild(spec, folder / self.name)


def rpmbuild(spec: Path, folder: Path, *options: str) -> Path:
    done = subprocess.run(
        ['rpmbuild', '-bb', '--define', f'_topdir {folder}', *options, str(spec)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return newest('*.rpm', folder / 'RPMS/noarch')


def stubs(python: str) -> dict[str, Stub]:
    """Return the packages that a host has. python: what /usr/bin/python3 is on this Debian, such
    as "python3.11".
    """
    return {
        stub.name: stub
        for stub in (
            Stub('bash', provides='/bin/sh'),
            *(Stub(name) for name in ('coreutils', 'findutils', 'grep', 'sed', 'sudo')),
            Stub('python3', version=python[6:], links={'/usr/bin/python3': python}),
            Stub(
                'smartmontools', version='7.4', texts={'/usr/sbin/smartctl': SMARTCTL}
            ),
            Stub('icinga2', user='icinga', texts={f'{UNITS}/icinga2.service': ''}),
            Stub('nrpe', user='nrpe', texts={f'{UNITS}/nrpe.service': ''}),
        )
    }


class Host(NamedTuple):
    """A Debian whose packages are, to rpm, stubs; they are in /srv/stubs."""

    chroot: Chroot

    def rpm(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self.chroot.runs(RPM, *words)

    def does_rpm(self, *words: str) -> str:
        return self.chroot.does(RPM, *words)

    def installs(self, *names: str) -> str:
        return self.does_rpm('-U', *(f'/srv/stubs/{name}.rpm' for name in names))

    def installs_ours(self, package: Path | None = None) -> str:
        shutil.copy(
            package or newest('*.rpm', ROOT / 'dist'), self.chroot.root / 'srv/ours.rpm'
        )
        return self.does_rpm('-U', '/srv/ours.rpm')

    def removes_ours(self) -> str:
        return self.does_rpm('-e', PACKAGE)

    def checks(
        self, *arguments: str, user: str = 'icinga'
    ) -> subprocess.CompletedProcess[str]:
        return self.chroot.runs(PLUGIN, *arguments, user=user)

    def files(self) -> set[str]:
        return {path for path in self.chroot.files() if not path.startswith('/srv/')}

    def owner(self, path: str) -> str:
        return self.chroot.does('stat', '-c', '%U %G %a', path).strip()

    def points(self) -> set[tuple[float, ...]]:
        """Return what the history holds of a drive, as root sees it: time and value."""
        document = json.loads(
            self.chroot.does(COMMAND, 'history', '-d', '/dev/sdb', '--json')
        )
        return {
            tuple(point)
            for one in document['drives']
            for series in one['series']
            for point in series['points']
        }


def prepare(chroot: Chroot, folder: Path) -> Host:
    """Install the programs of Debian, and put stub packages and the recordings of drives into
    place.
    """
    chroot.installs('rpm', 'sudo', 'python3')
    # of the package filesystem on RHEL and SUSE
    (chroot.root / 'usr/share/licenses').mkdir()
    # Debian 11 and 12 want to be asked twice
    option = re.findall('--force-debian', chroot.does('rpm', '--help'))[:1]
    chroot.writes(RPM, f'#!/bin/sh\nexec rpm {" ".join(option)} "$@"\n')
    (chroot.root / 'srv/rpm').chmod(0o755)
    python = os.readlink(chroot.root / 'usr/bin/python3')
    target = chroot.root / 'srv/stubs'
    target.mkdir(parents=True)
    for name, stub in stubs(python).items():
        shutil.copy(stub.built(folder), target / f'{name}.rpm')
    chroot.has_drives()
    return Host(chroot)


@pytest.fixture(scope='module', params=['bullseye', 'bookworm', 'trixie'])
def suite(request) -> str:
    """Python 3.9, 3.11 and 3.13, as in RHEL 9, SLES 15 and Tumbleweed; bullseye has the sudo of
    RHEL 8 and 9.
    """
    return request.param


@pytest.fixture(scope='module')
def bare(suite, tmp_path_factory) -> Iterator[Host]:
    """A host without any package of rpm's; to be copied."""
    chroot = unpacked(suite, tmp_path_factory.mktemp(suite))
    yield prepare(chroot, tmp_path_factory.mktemp(f'{suite}-stubs'))
    removed(chroot.root)


@pytest.fixture
def host(bare, tmp_path) -> Iterator[Host]:
    """A host of its own for each test, with what ours depends on and an Icinga agent."""
    with overlaid(bare.chroot.root, tmp_path) as chroot:
        copy = Host(chroot)
        copy.installs(*MACHINE, 'icinga2')
        yield copy


@pytest.fixture(scope='module')
def monitored(bare, tmp_path_factory) -> Iterator[Host]:
    """A host with Icinga and NRPE, and our package."""
    with overlaid(bare.chroot.root, tmp_path_factory.mktemp('monitored')) as chroot:
        copy = Host(chroot)
        copy.installs(*MACHINE, *AGENTS)
        copy.installs_ours()
        yield copy


# --- installed -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    'arguments, code, words',
    [
        # ok-healthy
        (['-d', '/dev/sda'], 0, 'SMART OK'),
        # warning-worn
        (
            ['-d', '/dev/sdb'],
            1,
            'sdb: used write endurance 86 % (warning above 85)',
        ),
        # warning-scan
        ([], 1, '2 drives: 1 warning, 1 ok'),
    ],
)
def test_the_monitoring_user_runs_it_through_sudo(monitored, arguments, code, words):
    """Nothing is configured: the package brings rule and data."""
    done = monitored.checks(*arguments)

    assert done.returncode == code, done.stdout
    assert words in done.stdout.splitlines()[0]
    assert perfdata(done.stdout)


def test_another_monitoring_user_needs_a_history_of_its_own(monitored):
    """Both users have the sudo rule, but the history of the package belongs to the first one."""
    monitored.checks('-d', '/dev/sda')
    without = monitored.checks('-d', '/dev/sda', user='nrpe')
    monitored.chroot.does('install', '-d', '-o', 'nrpe', '/var/lib/nrpe-smart')
    own = monitored.checks(
        '-d', '/dev/sda', '--state-dir', '/var/lib/nrpe-smart', user='nrpe'
    )

    assert without.stdout.startswith('SMART WARNING - [history-unusable] '), (
        without.stdout
    )
    assert own.stdout.startswith('SMART OK'), own.stdout


@pytest.mark.parametrize(
    'device, code, words',
    [
        # critical-failing
        ('/dev/sdc', 2, 'SMART CRITICAL - sdc'),
        # unknown-absent
        ('/dev/sdd', 3, 'sdd [no-such-device] '),
    ],
)
def test_a_drive_that_is_added_is_read(host, suite, device, code, words):
    """With the sudo of RHEL 8 and 9, which needs a line for each drive, after the command that
    the document names.
    """
    host.installs_ours()
    before = host.checks('-d', device)
    host.chroot.writes('/opt/drives/scan', SCANNED.replace('/dev/sda', device))
    said = host.chroot.does(f'{SHARE}/configure-host')
    done = host.checks('-d', device)

    assert ('sudo-' in before.stdout, 'replace' in said) == (
        (True, True) if suite == 'bullseye' else (False, False)
    )
    assert done.returncode == code, done.stdout
    assert words in done.stdout.splitlines()[0]


def test_the_rule_suits_this_sudo(monitored, suite):
    """sudo 1.9.5 of RHEL 8 and 9 knows no regular expressions and gets one line for each drive."""
    assert monitored.owner(RULE) == 'root root 440'
    assert ('not support regular' in monitored.chroot.reads(RULE)) is (
        suite == 'bullseye'
    )
    assert monitored.chroot.does('visudo', '-c')


def test_plugins_are_where_the_daemons_of_each_distribution_look(monitored):
    """PluginDir is below /usr/lib64 on RHEL and below /usr/lib on SUSE; root's shell looks in
    /usr/sbin.
    """
    versions = {
        monitored.chroot.does(path, '-V') for path in (PLUGIN, PLUGIN_OF_SUSE, COMMAND)
    }
    version = monitored.does_rpm('-q', '--qf', '%{VERSION}', PACKAGE)

    assert len(versions) == 1
    assert versions.pop().startswith(f'check_smart_attributes {version}, ')


def test_doctor_finds_nothing_to_do(monitored):
    """After the installation no step is left."""
    done = monitored.chroot.runs(COMMAND, 'doctor', '--user', 'icinga')

    assert done.returncode == 0, done.stdout


def test_root_sees_the_history_of_the_checks(monitored):
    """triage and history of root read what the monitoring user has stored, in a directory that
    survives a reboot.
    """
    monitored.checks()

    assert monitored.owner(STATE) == 'icinga icinga 750'
    assert monitored.points()
    assert 'sdb' in monitored.chroot.does(COMMAND, 'triage')
    assert not monitored.chroot.has('/run/check-smart-attributes/history')


def test_rpm_finds_no_changed_file(monitored):
    """What is made on the host is known to rpm as such, so an audit with rpm -V is quiet."""
    done = monitored.rpm('-V', PACKAGE)

    assert (done.returncode, done.stdout) == (0, '')


def test_all_commands_have_their_libraries(monitored):
    """Tables, the page, metrics and text reports need libraries that RHEL does not have."""
    chroot = monitored.chroot
    shutil.copy(ROOT / 'tests/reports/seagate-sas-healthy.txt', chroot.root / 'tmp')

    assert 'written: /tmp/drives.html' in chroot.does(
        COMMAND, 'triage', '--html', '/tmp/drives.html'
    )
    assert 'smart_drive_state{device="sdb"} 1.0' in chroot.does(COMMAND, 'metrics')
    assert 'SMART OK' in chroot.does(PLUGIN, '--report', '/tmp/seagate-sas-healthy.txt')


# --- other hosts ---------------------------------------------------------------------------------


def test_a_newer_python_beside_the_old_one_is_used(bare, suite, tmp_path):
    """On RHEL 8 and SLES 15 python3 is 3.6, and another package has a newer one."""
    with overlaid(bare.chroot.root, tmp_path) as chroot:
        copy, real = Host(chroot), os.readlink(bare.chroot.root / 'usr/bin/python3')
        (chroot.root / 'usr/bin/python3').unlink()
        for stub in (
            Stub(
                'python3',
                version='3.6',
                texts={'/usr/bin/python3': '#!/bin/sh\nexit 1\n'},
            ),
            Stub('python3.11'),
        ):
            shutil.copy(
                stub.built(tmp_path), chroot.root / f'srv/stubs/{stub.name}.rpm'
            )
        copy.installs(*MACHINE, 'python3.11', 'icinga2')
        copy.installs_ours()

        assert os.readlink(f'{chroot.root}{SHARE}/python') == f'/usr/bin/{real}'
        assert copy.checks('-d', '/dev/sda').returncode == 0


def test_a_monitoring_agent_that_is_installed_later_gets_its_rule(bare, tmp_path):
    """The order of installation does not matter."""
    with overlaid(bare.chroot.root, tmp_path) as chroot:
        copy = Host(chroot)
        copy.installs(*MACHINE)
        said = copy.installs_ours()
        before = chroot.has(RULE)
        copy.installs('icinga2')

        assert 'no monitoring user' in said
        assert not before
        assert copy.checks('-d', '/dev/sda').returncode == 0
        assert copy.owner(STATE) == 'icinga icinga 750'


# --- upgraded and removed ------------------------------------------------------------------------


@pytest.fixture(scope='module')
def earlier(tmp_path_factory) -> Path:
    """An earlier build of the package, with a module that the present one no longer has."""
    folder = tmp_path_factory.mktemp('earlier')
    text = re.sub('^Release:.*', 'Release: 0', SPEC.read_text(), flags=re.MULTILINE)
    extra = 'mkdir smart_attributes/gone\ntouch smart_attributes/gone/away.py\n'
    (folder / SPEC.name).write_text(text.replace('%install\n', f'%install\n{extra}'))
    return rpmbuild(folder / SPEC.name, folder, '--define', f'_sourcedir {SPEC.parent}')


def test_an_upgrade_keeps_the_history_and_drops_old_modules(host, earlier):
    """Also where rpm does not know the files: compiled modules and the history."""
    host.installs_ours(earlier)
    host.checks()
    known, had = (
        host.points(),
        host.chroot.has(f'{SHARE}/smart_attributes/gone/__pycache__'),
    )
    host.installs_ours()
    done = host.checks()

    assert done.returncode == 1, done.stdout
    assert known and known <= host.points()
    assert had and not host.chroot.has(f'{SHARE}/smart_attributes/gone')
    assert host.chroot.has(f'{SHARE}/smart_attributes/__pycache__')
    assert host.owner(STATE) == 'icinga icinga 750'


def test_an_upgrade_keeps_what_a_site_has_changed(host, earlier):
    """A rule for a drive of the site's own, its limits, and its command for NRPE."""
    host.installs_ours(earlier)
    rule = host.chroot.reads(RULE) + '\n# changed\n'
    own = {
        RULE: rule,
        f'{CONFIG}/thresholds.d/site.json': '{"metrics": {}}\n',
        '/etc/nrpe.d/check-smart-attributes.cfg': 'command[x]=/bin/true\n',
    }
    for path, text in own.items():
        host.chroot.writes(path, text)
    host.installs_ours()
    after_upgrade = {path: host.chroot.reads(path) for path in own}
    host.removes_ours()

    assert after_upgrade == own
    assert {path: host.chroot.reads(path) for path in own} == own


def test_removed_it_leaves_nothing_but_the_history(host):
    """Each file of before, and no other; the history serves again after a new installation."""
    before = host.files()
    host.installs_ours()
    host.checks()
    known = host.points()
    host.removes_ours()
    left = host.files() ^ before
    host.installs_ours()

    assert known
    assert {path for path in left if not path.startswith(STATE)} == set()
    assert f'{STATE}' in left
    assert known <= host.points()


# --- the package itself --------------------------------------------------------------------------


@pytest.mark.parametrize(
    'earlier, later',
    [
        ('2.0.0~git20261123084626.890.c10d8ac', '2.0.0'),
        ('2.0.0', '2.0.0+git20261224080000.340.5d6e7f8'),
    ],
)
def test_rpm_sorts_versions_as_dpkg_does(earlier, later):
    """tools/version writes "+" after a release: the "^" of newer rpms is unknown to rpm 4.14."""
    said = subprocess.run(
        ['rpm', '--eval', f'%{{lua: print(rpm.vercmp("{earlier}", "{later}"))}}'],
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    assert said.strip() == '-1'


def test_rpmlint_has_nothing_to_say():
    """No errors and no warnings, but those that rpm/rpmlint.toml answers."""
    done = subprocess.run(
        [
            'rpmlint',
            '--config',
            str(ROOT / 'rpm/rpmlint.toml'),
            str(newest('*.rpm', ROOT / 'dist')),
        ],
        capture_output=True,
        text=True,
    )

    assert re.search(' 0 errors, 0 warnings', done.stdout), done.stdout
