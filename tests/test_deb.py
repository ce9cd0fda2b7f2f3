"""The Debian package in fresh Debian 11, 12 and 13: installed, upgraded, run as nagios through
sudo, purged.

`make test-deb` builds the package and runs this; it takes minutes, so nothing
else does. Each file system is a folder of its own that nothing is left of.
"""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from chroots import (
    EXAMPLES,
    OUR_LIST,
    PACKAGE,
    PLUGIN,
    UNATTENDED,
    Chroot,
    built,
    newest,
    overlaid,
    removed,
    unpacked,
    version_1_6,
)
from conftest import ROOT, perfdata

from smart_attributes import VERSION

DATABASE = '/etc/nagios-plugins/config/check_smartdb.json'
COMMANDS_1_6 = '/etc/nagios-plugins/config/smart_attributes.cfg'
COMMANDS = '/etc/nagios-plugins/config/check_smart_attributes.cfg'
NRPE = '/etc/nagios/nrpe.d/check-smart-attributes.cfg'
README = '/etc/check-smart-attributes/README'
LONG_NAME = 'package-has-long-file-name'  # of the .buildinfo of a snapshot
NAMED_AS_WE_ARE = re.compile('check[-_]smart|smart[-_]attributes')
SITE_LIMITS = '/etc/check-smart-attributes/thresholds.d/site.json'
RULE = '/etc/sudoers.d/check-smart-attributes'
# A service of Debian's host.
SERVICE_OF_NAGIOS = """
define service {{
	use	generic-service
	host_name	localhost
	service_description	{name}
	check_command	{name}
}}
"""
# The command of version 1.6 in use, and a command that a site made of what 1.6 lacked.
SITE_OF_NAGIOS = (
    SERVICE_OF_NAGIOS.format(name='smart_attributes_all')
    + """
define command {
	command_name	check_smart_attributes
	command_line	/usr/lib/nagios/plugins/check_smart_attributes $ARG1$
}
"""
)
# Answers by the device alone: earlier packages ask with other arguments.
SMARTCTL = """#!/bin/sh
case "$*" in *--scan*) exec cat /opt/drives/scan;; *--version*) exec /usr/sbin/smartctl.distrib --version;; esac
for device; do :; done
cat "/opt/drives/${device##*/}" && [ "$device" != /dev/sdd ] || exit 2
"""
# Only the table of a SATA drive needs pySMART.
SATA = """\
smartctl 7.3 2022-02-28 r5338 [x86_64-linux-6.1.0] (local build)
Device Model:     INTEL SSDSC2BB240G4
Vendor Specific SMART Attributes with Thresholds:
ID# ATTRIBUTE_NAME          FLAG     VALUE WORST THRESH TYPE      UPDATED  WHEN_FAILED RAW_VALUE
  5 Reallocated_Sector_Ct   0x0032   100   100   000    Old_age   Always       -       0
"""

if 'TEST_DEB' not in os.environ:
    pytest.skip(
        'the package is tested by "make test-deb" only: it takes minutes',
        allow_module_level=True,
    )


@pytest.fixture(scope='module', params=['bookworm', 'trixie'])
def suite(request) -> str:
    """Debian 12 and 13."""
    return request.param


@pytest.fixture(scope='module')
def fresh(suite, tmp_path_factory) -> Iterator[Chroot]:
    """A Debian with nothing but our package and what it needs, and a stand-in for smartctl that
    has drives.
    """
    chroot = unpacked(suite, tmp_path_factory.mktemp(suite))
    chroot.installs_ours()
    stand_in(chroot)
    yield chroot
    removed(chroot.root)


def stand_in(chroot: Chroot) -> None:
    """Put a smartctl with four drives in the place of the real one, as an administrator would;
    sdd is absent.
    """
    chroot.does('dpkg-divert', '--local', '--rename', '--add', '/usr/sbin/smartctl')
    chroot.has_drives()
    chroot.writes('/usr/sbin/smartctl', SMARTCTL)
    (chroot.root / 'usr/sbin/smartctl').chmod(0o755)


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
        # critical-failing
        (['-d', '/dev/sdc'], 2, 'SMART CRITICAL - sdc'),
        # unknown-absent
        (['-d', '/dev/sdd'], 3, 'sdd was not found: '),
        # warning-scan
        ([], 1, '2 drives: 1 warning, 1 ok'),
    ],
)
def test_nagios_runs_it_through_sudo(fresh, arguments, code, words):
    """Nothing is configured: the package brings user, rule and data."""
    done = fresh.runs(PLUGIN, *arguments, user='nagios')

    assert done.returncode == code, done.stdout
    assert words in done.stdout.splitlines()[0]
    assert perfdata(done.stdout) or code == 3


def test_doctor_finds_nothing_to_do(fresh):
    """In a new installation that nobody has touched."""
    assert_healthy(fresh)


def test_the_rule_is_what_the_command_prints(fresh):
    """It was written when the package was installed, for this sudo."""
    assert fresh.does(PLUGIN, 'sudoers') == fresh.reads(RULE)
    assert fresh.does('stat', '-c', '%U %G %a', RULE) == 'root root 440\n'


def test_what_is_only_recommended_is_asked_for(fresh):
    """A check of drives wants none of it; tables want rich, the page Jinja2, and pySMART what it
    stands on.
    """
    fresh.writes('/tmp/sata.txt', SATA)
    table = fresh.runs('check_smart_attributes', 'triage')
    text = fresh.runs(PLUGIN, '--report', '/tmp/sata.txt')
    page = fresh.runs('check_smart_attributes', 'triage', '--html', '/tmp/drives.html')

    assert (table.returncode, text.returncode, page.returncode) == (3, 3, 3)
    assert 'apt install python3-jinja2' in page.stdout
    assert not fresh.has('/tmp/drives.html')
    assert 'apt install python3-rich' in table.stdout
    assert re.search('package (chardet|humanfriendly) ', text.stdout)


def test_the_timer_of_the_metrics_is_off_and_its_service_works(fresh):
    """With the prometheus_client of this Debian; whoever has no Prometheus is not bothered."""
    fresh.installs('python3-prometheus-client')
    fresh.does('mkdir', '-p', '/var/lib/prometheus/node-exporter')
    unit = fresh.reads('/usr/lib/systemd/system/check-smart-attributes-metrics.service')
    words = (
        re.search('^ExecStart=(.*)$', unit, re.MULTILINE)[1]
        .replace('$OPTIONS', '--scan')
        .split()
    )

    assert fresh.does(*words) == ''
    assert 'smart_drive_state{device="sdb"} 1.0' in fresh.reads(
        '/var/lib/prometheus/node-exporter/smart.prom'
    )
    assert not fresh.has(
        '/etc/systemd/system/timers.target.wants/check-smart-attributes-metrics.timer'
    )
    assert fresh.has('/usr/lib/systemd/system/check-smart-attributes-metrics.timer')


def test_its_version_is_that_of_the_package(fresh):
    """apt and -V tell the same; a commit that is no release has its own and comes before the
    release.
    """
    version = fresh.does('dpkg-query', '-W', '-f', '${Version}', PACKAGE)

    assert fresh.does(PLUGIN, '-V').startswith(
        f'check_smart_attributes {version.rpartition("-")[0]}, attributes.json of 20'
    )
    fresh.does('dpkg', '--compare-versions', version, 'le', f'{VERSION}-1')
    fresh.does('dpkg', '--compare-versions', version, 'gt', '1.6-156-g498eafa-2')


def test_the_script_for_icinga_is_where_the_page_says(fresh):
    """Executable, though no PATH leads there."""
    line = re.search(
        r'# (check_smart_attributes list --json \| \S+/host-vars)$',
        (ROOT / 'doc/how-to/icinga.md').read_text(),
        re.MULTILINE,
    )[1]

    assert (
        fresh.does('sh', '-c', line) == 'vars.smart_drives = ["/dev/sda", "/dev/sdb"]\n'
    )


def test_the_modules_are_compiled_and_not_in_anybodys_way(fresh):
    """A check that compiles each time is three times as slow; private modules are nobody else's."""
    compiled = fresh.does(
        'find', '/usr/share/check-smart-attributes', '-name', '*.pyc'
    ).splitlines()
    importing = fresh.runs('python3', '-c', 'import smart_attributes')

    assert any('smart_attributes/__pycache__/main' in path for path in compiled)
    assert any('pySMART/__pycache__/device' in path for path in compiled)
    assert 'ModuleNotFoundError' in importing.stdout


def field(package: Path, name: str) -> str:
    """Return a field of the control file of a package."""
    return subprocess.run(
        ['dpkg-deb', '-f', str(package), name],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()


def related(name: str) -> list[str]:
    """Return the packages in a field of ours, the first of alternatives."""
    return [
        re.split(r'[ (|:]', part.strip())[0]
        for part in field(newest('*.deb'), name).split(',')
    ]


@pytest.fixture(scope='module')
def prepared(suite, tmp_path_factory) -> Iterator[Chroot]:
    """A Debian with what ours and the old package depend on, and the user that every daemon
    makes; to be copied.
    """
    chroot = unpacked(suite, tmp_path_factory.mktemp(f'{suite}-prepared'))
    chroot.installs(*related('Depends'), 'libjson-perl')
    chroot.does(
        'adduser',
        '--system',
        '--group',
        '--home',
        '/var/lib/nagios',
        '--no-create-home',
        '--quiet',
        'nagios',
    )
    chroot.writes('/root/files', '\n'.join(chroot.files()))
    yield chroot
    removed(chroot.root)


@pytest.fixture
def copy(prepared, tmp_path) -> Iterator[Chroot]:
    """One of its own for each test."""
    with overlaid(prepared.root, tmp_path) as chroot:
        yield chroot


@pytest.fixture(scope='module')
def monitored(prepared, tmp_path_factory) -> Iterator[Chroot]:
    """The same with Icinga 2, Nagios 4, NRPE, drives, and all that any package of ours may ask
    for; to be copied.
    """
    with overlaid(prepared.root, tmp_path_factory.mktemp('monitored')) as chroot:
        chroot.installs(
            'icinga2-bin',
            'icinga2-common',
            'nagios4-core',
            'nagios-nrpe-server',
            'nagios-nrpe-plugin',
            *related('Recommends'),
        )
        stand_in(chroot)
        chroot.writes('/root/files', '\n'.join(chroot.files()))
        yield chroot


@pytest.fixture
def machine(monitored, tmp_path) -> Iterator[Chroot]:
    """A monitored machine of its own for each test."""
    with overlaid(monitored.root, tmp_path) as chroot:
        yield chroot


def left_over(chroot: Chroot) -> set[str]:
    """Return the files that are there after a purge and were not before, or the other way round."""
    chroot.does('apt-get', 'purge', '-y', '-q', PACKAGE)
    return chroot.files() ^ set(chroot.reads('/root/files').splitlines())


def test_sudo_rs_gets_lines_that_it_understands(copy, suite):
    """The sudo of newer systems knows neither expressions nor TIMEOUT; it takes over where its
    folder stands first in PATH.
    """
    if suite == 'bookworm':
        pytest.skip('sudo-rs is not tried: Debian 12 has none')
    copy.installs('sudo-rs')
    copy.installs_ours()
    stand_in(copy)
    first = ('env', 'PATH=/usr/lib/cargo/bin:/usr/sbin:/usr/bin:/sbin:/bin')
    copy.writes(
        '/etc/sudoers.d/check-smart-attributes', copy.does(*first, PLUGIN, 'sudoers')
    )
    one, all_ = (
        copy.runs(*first, PLUGIN, *arguments, user='nagios')
        for arguments in (['-d', '/dev/sdb'], [])
    )
    other = copy.runs(*first, PLUGIN, '-d', '/dev/sdc', user='nagios')

    assert '(sudo-rs ' in copy.reads('/etc/sudoers.d/check-smart-attributes').replace(
        '"', ''
    )
    assert (one.returncode, all_.returncode) == (1, 1), one.stdout + all_.stdout
    assert other.returncode == 3 and '[sudo-' in other.stdout


def test_the_daemons_of_this_debian_find_what_the_package_brings(machine):
    """Icinga 2 and Nagios 4 as their packages configure them: nobody has to edit or copy a file.

    NRPE wants the example.
    """
    machine.installs_ours()
    # 2.13 dumps unasked
    machine.does('sh', '-c', 'icinga2 daemon -C --dump-objects || icinga2 daemon -C')
    listed = machine.does(
        'icinga2',
        'object',
        'list',
        '--type',
        'CheckCommand',
        '--name',
        'check-smart-attributes',
    )
    nagios = machine.does('nagios4', '-v', '/etc/nagios4/nagios.cfg')
    before = machine.asks_nrpe()
    machine.does(
        'cp', f'{EXAMPLES}/nrpe/check-smart-attributes.cfg', '/etc/nagios/nrpe.d/'
    )
    asked = machine.asks_nrpe()
    machine.starts_nagios()

    assert "Object 'check-smart-attributes'" in listed
    assert '"/usr/lib/nagios/plugins/check_smart_attributes"' in listed
    assert 'Total Errors:   0' in nagios and 'smart_attributes_drives' in machine.reads(
        COMMANDS
    )
    assert 'not defined' in before.stdout
    assert asked.returncode == 1, asked.stdout
    assert asked.stdout.startswith('SMART WARNING - sdb: used write endurance 86 %')


def test_an_agent_may_get_the_command_from_its_masters_as_well(machine):
    """Through a global zone, as the page on Icinga proposes; of this Debian's Icinga."""
    machine.installs_ours()
    machine.does(
        'sh',
        '-c',
        'mkdir -p /etc/icinga2/zones.d/global-templates && '
        'cp /usr/share/icinga2/include/plugins-contrib.d/check-smart-attributes.conf '
        '/etc/icinga2/zones.d/global-templates/',
    )

    assert 'Finished validating' in machine.does('icinga2', 'daemon', '-C')


def test_removed_and_purged_it_leaves_nothing(copy):
    """Each file of before, and no other."""
    copy.installs_ours()
    copy.writes('/var/lib/check-smart-attributes/history', 'x')
    copy.runs(PLUGIN, user='nagios')
    copy.does('apt-get', 'remove', '-y', '-q', PACKAGE)

    assert left_over(copy) == set()


def test_a_purge_keeps_the_limits_of_the_site_and_says_so(copy):
    """Nobody else has them; the sentence has the command that deletes them."""
    copy.installs_ours()
    copy.writes(SITE_LIMITS, '{"metrics": {}}')
    copy.does('apt-get', 'remove', '-y', '-q', PACKAGE)
    said = copy.does('apt-get', 'purge', '-y', '-q', PACKAGE)
    kept = copy.reads(SITE_LIMITS)
    copy.does('sh', '-c', re.search('To delete them, run: (.*)', said)[1])

    assert kept == '{"metrics": {}}'
    assert copy.files() == set(copy.reads('/root/files').splitlines())


# --- other packages before it: upgrades that nobody watches --------------------------------------

# Packages that this repository could build before.
EARLIER = [
    # first
    '86399e1',
    # last 2.0-1
    '884cc70',
    # last with the rule of dpkg
    'f6bc614',
    # last 2.0~git
    '3ff0fdc',
    # release candidate
    '41dc5c9',
]
# What daemons, mail of sudo about this host's name, and these tests write beside the package.
OF_OTHERS = re.compile(
    r'/var/(lib|spool|cache)/(nagios4|icinga2|exim4)|/var/mail/|/etc/nagios4/conf\.d/site\.cfg'
    rf'|/srv/|{re.escape(OUR_LIST)}'
)


def earlier(commit: str) -> Path:
    """Return the package as an earlier commit builds it; skip where this clone does not have
    that commit.
    """
    try:
        return built(commit, candidate() if commit == '41dc5c9' else '')
    except LookupError as error:
        pytest.skip(f'an upgrade from this package is not tried: {error}')


def candidate() -> str:
    """Return the version of a release candidate that ours replaces; a snapshot sorts before
    2.0.0~rc1.
    """
    return (
        f'{VERSION}~rc1'
        if package_version(newest('*.deb')) == f'{VERSION}-1'
        else f'{VERSION}~git1.rc1'
    )


def installs_earlier(chroot: Chroot, package: Path, *options: str) -> None:
    shutil.copy(package, chroot.root / 'tmp/earlier.deb')
    chroot.installs(*options, '/tmp/earlier.deb')


def package_version(package: Path) -> str:
    return field(package, 'Version')


def conffiles(chroot: Chroot) -> list[str]:
    """Return what dpkg counts as configuration files of the package, whether it still ships them
    or not.
    """
    listed = chroot.does('dpkg-query', '-W', '-f', '${Conffiles}', PACKAGE)
    return [line.split()[0] for line in listed.splitlines() if line.strip()]


def change(chroot: Chroot, paths: Iterable[str]) -> dict[str, str]:
    """Change these files as an administrator could; return what is in them now."""
    for path in paths:
        chroot.writes(
            path, chroot.reads(path) + ('\n' if path == DATABASE else '\n# changed\n')
        )
    return {path: chroot.reads(path) for path in paths}


def defined(chroot: Chroot) -> list[str]:
    """Return the names of our commands, once for each definition that Nagios reads."""
    text = chroot.does('sh', '-c', 'cat /etc/nagios-plugins/config/*smart*.cfg')
    return re.findall(r'^\s*command_name\s+(\S+)', text, re.MULTILINE)


def points(chroot: Chroot) -> set[tuple[float, ...]]:
    """Return what the history holds of a drive, time and value, where the installed package
    keeps one.
    """
    done = chroot.runs('check_smart_attributes', 'history', '-d', '/dev/sdb', '--json')
    drives = json.loads(done.stdout)['drives'] if done.returncode == 0 else []
    return {
        tuple(point)
        for one in drives
        for series in one['series']
        for point in series['points']
    }


def assert_works(chroot: Chroot) -> None:
    """Ours is installed, nothing is half done: the daemons start, and nagios reads drives
    through sudo.
    """
    done = chroot.runs(PLUGIN, user='nagios')

    assert (done.returncode, '2 drives: 1 warning, 1 ok' in done.stdout) == (1, True), (
        done.stdout
    )
    assert (
        chroot.does('stat', '-c', '%U %G %a', '/var/lib/check-smart-attributes')
        == 'nagios nagios 750\n'
    )
    assert 'Total Errors:   0' in chroot.does(
        'nagios4', '-v', '/etc/nagios4/nagios.cfg'
    )
    assert 'Finished validating' in chroot.does('icinga2', 'daemon', '-C')
    assert chroot.does('visudo', '-c')
    assert (
        chroot.does('dpkg-query', '-W', '-f', '${db:Status-Status} ${Version}', PACKAGE)
        == f'installed {package_version(newest("*.deb"))}'
    )
    # units that moved from /lib to /usr/lib are there
    damaged = chroot.does('dpkg', '--verify', PACKAGE).splitlines()
    # c: a file that the admin may change
    assert [line for line in damaged if ' c ' not in line] == []


def assert_healthy(chroot: Chroot) -> None:
    """Doctor finds nothing to do."""
    said = chroot.does('check_smart_attributes', 'doctor', '--user', 'nagios')

    assert 'No problems found.' in said.splitlines(), said


@pytest.fixture
def before_upgrade(machine) -> Chroot:
    """A monitored machine with version 1.6 as Debian packages it; Nagios uses its command and
    one of the site's.
    """
    installs_earlier(machine, version_1_6())
    machine.writes('/etc/nagios4/conf.d/site.cfg', SITE_OF_NAGIOS)
    assert machine.has(DATABASE) and machine.has(COMMANDS_1_6)
    return machine


@pytest.mark.parametrize(
    'changed',
    [  # unchanged
        [],
        # commands changed
        [COMMANDS_1_6],
        # all changed
        [COMMANDS_1_6, DATABASE],
    ],
)
def test_an_unattended_upgrade_from_version_1_6(before_upgrade, changed):
    """Its file of commands stays byte for byte, and no other file defines its command."""
    kept = change(before_upgrade, changed)
    commands = before_upgrade.reads(COMMANDS_1_6)
    before_upgrade.offers_ours()
    before_upgrade.does(*UNATTENDED, 'full-upgrade')

    assert_works(before_upgrade)
    if not changed:
        assert_healthy(before_upgrade)
    assert before_upgrade.reads(COMMANDS_1_6) == commands
    assert sorted(defined(before_upgrade)) == [
        'smart_attributes_all',
        'smart_attributes_drives',
        'smart_attributes_nrpe',
    ]
    assert before_upgrade.does(PLUGIN, 'sudoers') == before_upgrade.reads(RULE)
    assert {path: before_upgrade.reads(path) for path in kept} == kept
    assert before_upgrade.has(DATABASE) is (DATABASE in changed)
    assert {
        path for path in left_over(before_upgrade) if not OF_OTHERS.match(path)
    } == set()


@pytest.mark.parametrize(
    'is_changed',
    [  # unchanged
        False,
        # changed
        True,
    ],
)
@pytest.mark.parametrize('commit', EARLIER)
def test_an_unattended_upgrade_from_an_earlier_package(machine, commit, is_changed):
    """A changed file stays, also a rule that does not allow the new calls: root renews it. The
    others are gone, but for the rule, which is made anew, and the README.
    """
    package = earlier(commit)
    installs_earlier(machine, package)
    shipped, names = conffiles(machine), defined(machine)
    machine.writes(
        '/etc/nagios4/conf.d/site.cfg',
        ''.join(SERVICE_OF_NAGIOS.format(name=name) for name in names),
    )
    machine.runs(PLUGIN, user='nagios')
    known = points(machine)
    kept = change(machine, {*shipped, RULE} if is_changed else ())
    machine.offers_ours()
    machine.does(*UNATTENDED, 'full-upgrade')

    assert {path: machine.reads(path) for path in kept} == kept
    if is_changed:
        assert '[sudo-rule-missing]' in machine.runs(PLUGIN, user='nagios').stdout
        machine.writes(RULE, machine.does(PLUGIN, 'sudoers'))
    assert_works(machine)
    if not is_changed:
        assert_healthy(machine)
    # The database of a snapshot is not read, but kept. The first packages wrote none, and the next ones
    # in another folder.
    assert bool(known) is (package_version(package) != '2.0-1')
    assert machine.has('/var/lib/check-smart-attributes/history/history.sqlite') is (
        commit == '41dc5c9'
    )
    assert sorted(set(defined(machine)) & set(names)) == sorted(names)
    assert is_changed or machine.does(PLUGIN, 'sudoers') == machine.reads(RULE)
    assert is_changed or {path for path in shipped if machine.has(path)} <= {
        RULE,
        README,
    }
    assert {path for path in left_over(machine) if not OF_OTHERS.match(path)} == set()


def test_an_upgrade_asks_nothing_and_stops_no_timer(machine):
    """The package has no file that dpkg would ask about; the timer of the metrics goes on where
    it is enabled.
    """
    machine.writes('/run/systemd/system/here', '')
    machine.writes(
        '/usr/bin/deb-systemd-invoke', '#!/bin/sh\necho "$*" >>/tmp/invoked\n'
    )
    machine.does('chmod', '755', '/usr/bin/deb-systemd-invoke')
    machine.installs_ours()
    machine.installs_ours('--reinstall')

    assert conffiles(machine) == []
    assert not machine.has('/tmp/invoked') or 'stop' not in machine.reads(
        '/tmp/invoked'
    )


def test_an_upgrade_of_an_agent_says_how_nrpe_gets_its_command_back(machine):
    """2.0-1 defined it for NRPE, where it could override the site's; nobody else may define it
    here.
    """
    installs_earlier(machine, earlier('86399e1'))
    said = machine.installs_ours()
    line = re.search(
        rf'^cp \S+ {re.escape(str(Path(NRPE).parent))}/$', said, re.MULTILINE
    )[0]
    before = machine.asks_nrpe()
    machine.does('sh', '-c', line)

    assert f'{NRPE} is removed' in said
    assert 'not defined' in before.stdout
    assert machine.asks_nrpe().stdout.startswith(
        'SMART WARNING - sdb: used write endurance 86 %'
    )


def test_an_upgrade_keeps_a_database_that_was_changed_and_says_so(before_upgrade):
    """Its limits do not apply, so checks that name it are WARNING with the command, until
    somebody runs it.
    """
    change(before_upgrade, [DATABASE])
    said = before_upgrade.installs_ours()

    assert before_upgrade.has(DATABASE)
    assert f'{DATABASE} was changed' in said
    assert f'check_smart_attributes migrate {DATABASE}' in said
    assert 'is kept' not in before_upgrade.does('dpkg-reconfigure', PACKAGE)


def test_after_an_upgrade_a_check_that_names_an_unchanged_database_is_silent(
    before_upgrade,
):
    """At its old path, as Icinga's template wants it, and as a copy that a site made."""
    before_upgrade.does('cp', DATABASE, '/etc/copy.json')
    before_upgrade.installs_ours()
    plain, *named = (
        before_upgrade.runs(PLUGIN, *words, '-d', '/dev/sda', user='nagios')
        for words in ([], ['-dbj', DATABASE], ['-dbj', '/etc/copy.json'])
    )

    assert plain.returncode == 0, plain.stdout
    assert [done.stdout for done in named] == [plain.stdout] * 2


def test_after_an_upgrade_limits_of_a_site_warn_until_they_are_migrated(before_upgrade):
    """The command of the warning, typed as root, ends it for the monitoring user."""
    database = json.loads(before_upgrade.reads(DATABASE))
    database['Devices']['Mine'] = {
        'Device': ['INTEL SSDSC2BB150G7'],
        'ID#': {'233': {'value': 'VALUE'}},
        'Threshs': {'233': ['12:', '10:']},
    }
    before_upgrade.writes(DATABASE, json.dumps(database))
    before_upgrade.installs_ours()
    words = PLUGIN, '-dbj', DATABASE, '-d', '/dev/sdb'
    before = before_upgrade.runs(*words, user='nagios')
    said = before_upgrade.does(
        *re.search(r'as root, run: ([^;\n]*)', before.stdout)[1].split()
    )
    after = before_upgrade.runs(*words, user='nagios')

    assert (
        before.returncode == 1
        and '[limits-not-migrated]' in before.stdout.splitlines()[0]
    ), before.stdout
    assert (
        'written: /etc/check-smart-attributes/thresholds.d/check_smartdb.json'
        in said.splitlines()
    )
    assert after.returncode == 0 and '(check)' not in after.stdout, after.stdout


@pytest.mark.parametrize(
    'is_changed',
    [  # changed
        True,
        # unchanged
        False,
    ],
)
def test_nagios_starts_after_an_upgrade_and_after_going_back(
    before_upgrade, is_changed
):
    """With a service of 1.6 and a command of the site's own; what a site has changed stays in
    force both times.
    """
    commands = (
        change(before_upgrade, [COMMANDS_1_6])
        if is_changed
        else {COMMANDS_1_6: before_upgrade.reads(COMMANDS_1_6)}
    )
    before_upgrade.starts_nagios()
    files = before_upgrade.files()
    before_upgrade.installs_ours()
    before_upgrade.starts_nagios()
    installs_earlier(before_upgrade, version_1_6(), '--allow-downgrades')
    before_upgrade.starts_nagios()

    assert before_upgrade.reads(COMMANDS_1_6) == commands[COMMANDS_1_6]
    left = [
        path for path in before_upgrade.files() - files if NAMED_AS_WE_ARE.search(path)
    ]
    assert left == []
    assert 'smart' not in before_upgrade.reads('/var/lib/ucf/hashfile')


def test_an_upgrade_that_fails_leaves_what_there_was(before_upgrade):
    """Half way: another package has a file of ours, so dpkg gives up."""
    text = before_upgrade.reads(DATABASE)
    before_upgrade.writes(
        '/tmp/other/DEBIAN/control',
        'Package: other\nVersion: 1\nArchitecture: all\n'
        'Maintainer: nobody <nobody@check-smart-attributes.invalid>\nDescription: has a file of '
        'ours\n',
    )
    before_upgrade.writes(
        '/tmp/other/usr/share/check-smart-attributes/attributes.json', '{}'
    )
    before_upgrade.does(
        'dpkg-deb', '--root-owner-group', '-b', '/tmp/other', '/tmp/other.deb'
    )
    before_upgrade.installs('/tmp/other.deb')
    shutil.copy(newest('*.deb'), before_upgrade.root / 'tmp/ours.deb')
    done = before_upgrade.runs('dpkg', '-i', '/tmp/ours.deb')

    assert done.returncode != 0 and 'trying to overwrite' in done.stdout
    assert before_upgrade.reads(DATABASE) == text
    assert before_upgrade.has(COMMANDS_1_6) and not before_upgrade.has(
        DATABASE + '.dpkg-remove'
    )
    assert before_upgrade.does(
        'dpkg-query', '-W', '-f', '${Version} ${db:Status-Status}', PACKAGE
    ).startswith('1.6')
    assert (
        before_upgrade.does('dpkg-query', '-W', '-f', '${db:Status-Status}', PACKAGE)
        == 'installed'
    )


def test_the_command_of_version_1_6_goes_on_to_work(before_upgrade):
    """A service of Nagios that names smart_attributes_all need not be touched; its drives are
    those below /dev.
    """
    before_upgrade.installs_ours()
    before_upgrade.does('touch', '/dev/sda', '/dev/sdb')
    line = re.search(
        r'smart_attributes_all\n\tcommand_line\t(.*)',
        before_upgrade.reads(COMMANDS_1_6),
    )
    done = before_upgrade.runs('sh', '-c', line[1].replace('$$', '$'), user='nagios')

    assert done.returncode == 1, done.stdout
    assert '2 drives' in done.stdout


# --- Debian 11: sudo knows no expressions, and the libraries are older; Ubuntu 22.04 has the same
# sudo


@pytest.fixture(scope='module')
def bare_11(tmp_path_factory) -> Iterator[Chroot]:
    """A Debian 11 with Python, smartctl and sudo, without drives."""
    chroot = unpacked('bullseye', tmp_path_factory.mktemp('bullseye'))
    chroot.installs('python3', 'smartmontools', 'sudo')
    yield chroot
    removed(chroot.root)


def test_the_single_file_program_wants_nothing_but_python(bare_11):
    """3.9.2, the oldest that is promised; table and text come from libraries that are in the
    file.
    """
    program = newest('check_smart_attributes.pyz', ROOT / 'dist')
    for path in (
        program,
        ROOT / 'tests/reports/seagate-sas-healthy.txt',
        ROOT / 'tests/reports/intel-worn.json',
    ):
        shutil.copy(path, bare_11.root / 'tmp')
    pip, answer = (
        bare_11.runs('python3', '-c', 'import nagiosplugin'),
        bare_11.runs(f'/tmp/{program.name}'),
    )
    table = bare_11.does(
        f'/tmp/{program.name}', 'triage', '--report', '/tmp/intel-worn.json'
    )
    text = bare_11.does(
        f'/tmp/{program.name}', '--report', '/tmp/seagate-sas-healthy.txt'
    )

    assert 'ModuleNotFoundError' in pip.stdout
    assert answer.returncode == 3 and '[no-drives]' in answer.stdout
    assert 'INTEL SSDSC2BB150G7' in table and 'SMART OK' in text


@pytest.mark.parametrize(
    'package',
    [
        # 1.6
        version_1_6,
        # last 2.0~git
        (lambda: earlier('3ff0fdc')),
        # release candidate
        (lambda: earlier('41dc5c9')),
    ],
)
def test_an_unattended_upgrade_of_debian_11(bare_11, tmp_path, package):
    """Its sudo gets the lines for its drives."""
    with overlaid(bare_11.root, tmp_path) as chroot:
        stand_in(chroot)
        installs_earlier(chroot, package())
        chroot.offers_ours()
        chroot.does(*UNATTENDED, 'full-upgrade')
        done = chroot.runs(PLUGIN, user='nagios')

        assert (done.returncode, '2 drives: 1 warning, 1 ok' in done.stdout) == (
            1,
            True,
        ), done.stdout
        assert_healthy(chroot)
        assert chroot.does(PLUGIN, 'sudoers') == chroot.reads(RULE)


@pytest.fixture(scope='module')
def installed_11(bare_11) -> str:
    """What is said where there are no drives yet to write a rule for."""
    return bare_11.installs_ours()


@pytest.fixture(scope='module')
def debian_11(bare_11, installed_11) -> Chroot:
    """The package and drives, and the rule written as the installation has advised."""
    stand_in(bare_11)
    bare_11.does('dpkg-reconfigure', PACKAGE)
    return bare_11


def test_without_drives_it_installs_and_says_what_gets_the_rule(bare_11, installed_11):
    """No file that this sudo would stumble over, and no failed installation."""
    assert 'no drives found' in installed_11
    assert ' is not written' in installed_11
    assert f'run: dpkg-reconfigure {PACKAGE}' in installed_11
    assert not bare_11.has(RULE)
    assert bare_11.does('visudo', '-c')


def test_an_old_sudo_gets_a_line_for_each_drive(debian_11):
    """1.9.5 would take an expression for a mistake, and then refuse everything to everybody."""
    all_, one = (
        debian_11.runs(PLUGIN, *arguments, user='nagios')
        for arguments in ([], ['-d', '/dev/sda'])
    )
    off = ('/usr/sbin/smartctl', '-s', 'off', '/dev/sda')
    other = debian_11.runs('sudo', '-n', *off, user='nagios')

    assert debian_11.does('stat', '-c', '%U %G %a', RULE) == 'root root 440\n'
    assert f'{RULE}: parsed OK' in debian_11.does('visudo', '-c')
    assert (all_.returncode, one.returncode) == (1, 0), all_.stdout + one.stdout
    assert other.returncode == 1 and 'password' in other.stdout


def test_a_rule_that_an_admin_has_changed_stays(debian_11):
    """For a drive that no scan finds; the next configuration would print the rule without it."""
    wanted = debian_11.does(PLUGIN, 'sudoers', '-d', '/dev/sdc')
    before = debian_11.reads(RULE)
    refused = debian_11.runs(PLUGIN, '-d', '/dev/sdc', user='nagios')
    debian_11.writes(RULE, wanted)
    debian_11.does('dpkg-reconfigure', PACKAGE)
    kept, read = (
        debian_11.reads(RULE),
        debian_11.runs(PLUGIN, '-d', '/dev/sdc', user='nagios'),
    )
    debian_11.writes(RULE, before)

    assert (refused.returncode, read.returncode) == (3, 2), refused.stdout + read.stdout
    assert kept == wanted


def test_the_libraries_of_debian_11_are_new_enough(debian_11, tmp_path):
    """jsonschema 3.2, rich 9.11, Jinja2 2.11, chardet 4, prometheus_client 0.9."""
    debian_11.installs(
        *(
            f'python3-{name}'
            for name in (
                'chardet',
                'humanfriendly',
                'jinja2',
                'prometheus-client',
                'rich',
            )
        )
    )
    debian_11.writes('/tmp/mine.json', '{"metrix": {}}')

    assert 'INTEL SSDSC2BB150G7' in debian_11.does('check_smart_attributes', 'triage')
    assert 'written: /tmp/drives.html' in debian_11.does(
        'check_smart_attributes', 'triage', '--html', '/tmp/drives.html'
    )
    assert 'smart_drive_state{device="sdb"} 1.0' in debian_11.does(
        'check_smart_attributes', 'metrics'
    )
    assert 'SMART OK' in debian_11.does(
        PLUGIN, '--report', '/tmp/seagate-sas-healthy.txt'
    )
    words = ('-d', '/dev/sda', '--thresholds', '/tmp/mine.json')
    assert 'did you mean' in debian_11.runs(PLUGIN, *words).stdout


# --- what others say about it --------------------------------------------------------------------


def test_lintian_has_nothing_to_say():
    """Errors and warnings; hints about a watch file are for packages inside Debian."""
    said = subprocess.run(
        [
            'lintian',
            '--fail-on',
            'error,warning',
            '--allow-root',
            '--suppress-tags',
            LONG_NAME,
            str(newest('*.changes')),
        ],
        capture_output=True,
        text=True,
    )

    assert said.returncode == 0, said.stdout
    assert tags(said.stdout) == []


def tags(text: str) -> list[str]:
    return [line for line in text.splitlines() if line[:2] in ('E:', 'W:')]


def test_autopkgtest_passes(suite, tmp_path):
    """As Debian's own machines would test it."""
    chroot = unpacked(suite, tmp_path / 'chroot')
    package = [str(newest('*.deb')), str(newest('*.dsc'))]
    done = subprocess.run(
        [
            'autopkgtest',
            '--no-built-binaries',
            *package,
            '--',
            'chroot',
            str(chroot.root),
        ],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=1800,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    passed = re.findall(r'^(\w+) +PASS$', done.stdout + done.stderr, re.MULTILINE)
    assert set(passed) == {'plugin', 'readme'}  # some versions repeat them in a summary
    removed(chroot.root)
