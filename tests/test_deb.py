"""The Debian package in fresh Debian 11, 12 and 13: installed, upgraded, run as nagios through sudo, purged.

`make test-deb` builds the package and runs this; it takes minutes, so nothing
else does. Each file system is a folder of its own that nothing is left of.
"""
from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Iterator, List, Set

import pytest
from chroots import EXAMPLES, PACKAGE, PLUGIN, Chroot, newest, removed, unpacked
from conftest import ROOT, drive, perfdata
from daemons import ABSENT
from fake_smartctl import FakeSmartctl

from smart_attributes.jobs import VERSION
from smart_attributes.reading.commands import SCAN, read_arguments

DATABASE = '/etc/nagios-plugins/config/check_smartdb.json'
KEPT = '/etc/check-smart-attributes/check_smartdb-1.6.json'
COMMANDS = '/etc/nagios-plugins/config/smart_attributes.cfg'
RULE = '/etc/sudoers.d/check-smart-attributes'
# A service of Debian's host with the command of version 1.6, and a command that a site made of what 1.6 lacked.
SITE_OF_NAGIOS = """
define service {
	use	generic-service
	host_name	localhost
	service_description	SMART
	check_command	smart_attributes_all
}
define command {
	command_name	check_smart_attributes
	command_line	/usr/lib/nagios/plugins/check_smart_attributes $ARG1$
}
"""

if 'TEST_DEB' not in os.environ:
    pytest.skip('the package is tested by "make test-deb" only: it takes minutes', allow_module_level=True)


@pytest.fixture(scope='module', params=['bookworm', 'trixie'])
def suite(request) -> str:
    """Debian 12 and 13."""
    return request.param


@pytest.fixture(scope='module')
def fresh(suite, tmp_path_factory) -> Iterator[Chroot]:
    """A Debian with nothing but our package and what it needs, and a stand-in for smartctl that has drives."""
    chroot = unpacked(suite, tmp_path_factory.mktemp(suite))
    chroot.installs_ours()
    stand_in(chroot)
    yield chroot
    removed(chroot.root)


def stand_in(chroot: Chroot) -> None:
    """Put a smartctl with four drives in the place of the real one, as an administrator would."""
    chroot.does('dpkg-divert', '--local', '--rename', '--add', '/usr/sbin/smartctl')
    fake = FakeSmartctl(chroot.root / 'opt/fake')
    for name, path in (('intel-s3500-healthy', '/dev/sda'), ('intel-worn', '/dev/sdb'), ('hgst-failed', '/dev/sdc')):
        fake.answers(read_arguments(path), drive(name))
    fake.answers(read_arguments('/dev/sdd'), ABSENT, status=2)
    fake.answers(SCAN, '{"smartctl":{"argv":["smartctl","--json=c","--scan"],"exit_status":0},"devices":['
                 '{"name":"/dev/sda","type":"scsi"},{"name":"/dev/sdb","type":"scsi"}]}')
    script = Path(fake.path).read_text().replace(str(chroot.root), '')
    (chroot.root / 'usr/sbin/smartctl').write_text(script)
    (chroot.root / 'usr/sbin/smartctl').chmod(0o755)


@pytest.mark.parametrize('arguments, code, words', [
    pytest.param(['-d', '/dev/sda'], 0, 'SMART OK', id='ok-healthy'),
    pytest.param(['-d', '/dev/sdb'], 1, 'sdb endurance_used 86 % (warning above 85)', id='warning-worn'),
    pytest.param(['-d', '/dev/sdc'], 2, 'SMART CRITICAL - sdc', id='critical-failing'),
    pytest.param(['-d', '/dev/sdd'], 3, 'sdd is not there: No such device', id='unknown-absent'),
    pytest.param(['-d', '/dev/sdd', '-d', '/dev/sdc'], 2, '2 drives: 1 critical, 1 unknown', id='critical-one-absent'),
    pytest.param([], 1, '2 drives: 1 warning, 1 ok', id='warning-scan')])
def test_nagios_runs_it_through_sudo(fresh, arguments, code, words):
    """Nothing is configured: the package brings user, rule and data."""
    done = fresh.runs(PLUGIN, *arguments, user='nagios')

    assert done.returncode == code, done.stdout
    assert words in done.stdout.splitlines()[0]
    assert perfdata(done.stdout) or code == 3


def test_nagios_may_do_nothing_else(fresh):
    """The rule is not "smartctl" as a whole."""
    done = fresh.runs('sudo', '-n', '/usr/sbin/smartctl', '-s', 'off', '/dev/sda', user='nagios')

    assert done.returncode == 1
    assert 'a password is required' in done.stdout


def test_the_rule_is_what_the_job_prints(fresh):
    """It was written when the package was installed, for this sudo."""
    assert fresh.does(PLUGIN, 'sudoers') == fresh.reads(RULE)
    assert fresh.does('stat', '-c', '%U %G %a', RULE) == 'root root 440\n'


def test_what_is_only_recommended_is_asked_for(fresh):
    """A check of drives wants none of it; tables want rich, the page Jinja2, and pySMART what it stands on."""
    shutil.copy(ROOT / 'tests/reports/seagate-sas-healthy.txt', fresh.root / 'tmp')
    table, text = fresh.runs('check_smart_attributes', 'triage'), fresh.runs(PLUGIN, '--report',
                                                                             '/tmp/seagate-sas-healthy.txt')

    page = fresh.runs('check_smart_attributes', 'triage', '--html', '/tmp/drives.html')

    assert (table.returncode, text.returncode, page.returncode) == (3, 3, 3)
    assert 'Jinja2, which is not installed; apt install python3-jinja2' in page.stdout
    assert not fresh.has('/tmp/drives.html')
    assert 'the Python package rich is not installed; apt install python3-rich' in table.stdout
    assert re.search('pySMART reads, and (chardet|humanfriendly) is not installed', text.stdout)


@pytest.fixture(scope='module')
def recommended(fresh) -> Chroot:
    """What apt installs beside the package unless told otherwise; the tests before it have seen the package alone."""
    names = subprocess.run(['dpkg-deb', '-f', str(newest('*.deb')), 'Recommends'], check=True, capture_output=True,
                           text=True).stdout
    fresh.installs(*(re.split(r'[ (]', part.strip())[0] for part in names.split(',')))
    return fresh


def test_the_table_is_there_for_a_person_at_a_terminal(recommended):
    """In the PATH of root, with what the package recommends."""
    table = recommended.does('check_smart_attributes', 'triage')

    assert 'CRITICAL' not in table
    assert table.index('sdb') < table.index('sda')


def test_the_page_is_written_for_a_person_in_a_browser(recommended):
    """With its template, script and style, which are no modules and are installed all the same."""
    assert 'written: /tmp/drives.html' in recommended.does('check_smart_attributes', 'triage', '--html',
                                                           '/tmp/drives.html')
    page = recommended.reads('/tmp/drives.html')

    assert recommended.does('stat', '-c', '%a', '/tmp/drives.html') == '644\n'
    assert 'INTEL SSDSC2BB150G7' in page
    for name in ('page.js', 'page.css'):
        assert (ROOT / 'smart_attributes/faces' / name).read_text().strip() in page


def test_text_of_an_old_smartctl_is_understood(recommended):
    """pySMART comes with the package."""
    shutil.copy(ROOT / 'tests/reports/seagate-sas-healthy.txt', recommended.root / 'tmp')

    assert 'SMART OK' in recommended.does(PLUGIN, '--report', '/tmp/seagate-sas-healthy.txt')


def test_the_timer_of_the_metrics_is_off_and_its_service_works(recommended):
    """With the prometheus_client of this Debian; whoever has no Prometheus is not bothered."""
    recommended.installs('python3-prometheus-client')
    recommended.does('mkdir', '-p', '/var/lib/prometheus/node-exporter')
    unit = recommended.reads('/lib/systemd/system/check-smart-attributes-metrics.service')
    words = re.search('^ExecStart=(.*)$', unit, re.MULTILINE)[1].replace('$OPTIONS', '--scan').split()

    assert recommended.does(*words) == ''
    assert 'smart_drive_state{device="sdb"} 1.0' in recommended.reads('/var/lib/prometheus/node-exporter/smart.prom')
    assert not recommended.has('/etc/systemd/system/timers.target.wants/check-smart-attributes-metrics.timer')
    assert recommended.has('/lib/systemd/system/check-smart-attributes-metrics.timer')


def test_nothing_of_the_callers_is_imported(fresh):
    """Python in isolated mode: neither PYTHONPATH nor the folder of the caller puts a module in the place of ours."""
    for module in ('json', 'argparse', 're', 'nagiosplugin'):
        fresh.writes(f'/tmp/planted/{module}.py', 'raise SystemExit("planted")\n')
    done = fresh.runs('sh', '-c', f'cd /tmp/planted && PYTHONPATH=/tmp/planted {PLUGIN} -d /dev/sda')

    assert 'SMART OK' in done.stdout, done.stdout


def test_its_version_is_that_of_the_package(fresh):
    """apt and -V tell the same; a commit that is no release has its own and comes before the release."""
    version = fresh.does('dpkg-query', '-W', '-f', '${Version}', PACKAGE)

    assert fresh.does(PLUGIN,
                      '-V').startswith(f'check_smart_attributes {version.rpartition("-")[0]}, attributes.json of 20')
    fresh.does('dpkg', '--compare-versions', version, 'le', f'{VERSION}-1')
    fresh.does('dpkg', '--compare-versions', version, 'gt', '1.6-156-g498eafa-2')


def test_the_script_for_icinga_is_where_the_page_says(fresh):
    """Executable, though no PATH leads there."""
    line = re.search(r'# (check_smart_attributes list --json \| \S+/host-vars)$', (ROOT / 'doc/icinga.md').read_text(),
                     re.MULTILINE)[1]

    assert fresh.does('sh', '-c', line) == 'vars.smart_drives = ["/dev/sda", "/dev/sdb"]\n'


def test_the_modules_are_compiled_and_not_in_anybodys_way(fresh):
    """A check that compiles each time is three times as slow; private modules are nobody else's."""
    compiled = fresh.does('find', '/usr/share/check-smart-attributes', '-name', '*.pyc').splitlines()
    importing = fresh.runs('python3', '-c', 'import smart_attributes')

    assert any('smart_attributes/__pycache__/main' in path for path in compiled)
    assert any('pySMART/__pycache__/device' in path for path in compiled)
    assert 'ModuleNotFoundError' in importing.stdout


@pytest.fixture(scope='module')
def prepared(suite, tmp_path_factory) -> Iterator[Chroot]:
    """A Debian with what ours and the old package depend on, and the user that every daemon makes; to be copied."""
    chroot = unpacked(suite, tmp_path_factory.mktemp(f'{suite}-prepared'))
    control = subprocess.run(['dpkg-deb', '-f', str(newest('*.deb')), 'Depends'], check=True, capture_output=True,
                             text=True).stdout
    needed = [re.split(r'[ (|:]', part.strip())[0] for part in control.split(',')]
    chroot.installs(*needed, 'libjson-perl')
    chroot.does('adduser', '--system', '--group', '--home', '/var/lib/nagios', '--no-create-home', '--quiet', 'nagios')
    chroot.writes('/root/files', '\n'.join(chroot.files()))
    yield chroot
    removed(chroot.root)


@pytest.fixture
def copy(prepared, tmp_path) -> Iterator[Chroot]:
    """One of its own for each test."""
    subprocess.run(['cp', '-a', '--reflink=auto', f'{prepared.root}/.', str(tmp_path)], check=True)
    yield Chroot(tmp_path)
    removed(tmp_path)


def left_over(chroot: Chroot) -> Set[str]:
    """Return the files that are there after a purge and were not before, or the other way round."""
    chroot.does('apt-get', 'purge', '-y', '-q', PACKAGE)
    return chroot.files() ^ set(chroot.reads('/root/files').splitlines())


def test_sudo_rs_gets_lines_that_it_understands(copy, suite):
    """The sudo of newer systems knows neither expressions nor TIMEOUT; it takes over where its folder stands first in
    PATH.
    """
    if suite == 'bookworm':
        pytest.skip('sudo-rs is not tried: Debian 12 has none')
    copy.installs('sudo-rs')
    copy.installs_ours()
    stand_in(copy)
    first = ('env', 'PATH=/usr/lib/cargo/bin:/usr/sbin:/usr/bin:/sbin:/bin')
    copy.writes('/etc/sudoers.d/check-smart-attributes', copy.does(*first, PLUGIN, 'sudoers'))
    one, all_ = (copy.runs(*first, PLUGIN, *arguments, user='nagios') for arguments in (['-d', '/dev/sdb'], []))
    other = copy.runs(*first, PLUGIN, '-d', '/dev/sdc', user='nagios')

    assert '(sudo-rs ' in copy.reads('/etc/sudoers.d/check-smart-attributes').replace('"', '')
    assert (one.returncode, all_.returncode) == (1, 1), one.stdout + all_.stdout
    assert 'sudo does not allow user nagios' in other.stdout or 'sudo wants a password' in other.stdout


def test_the_daemons_of_this_debian_find_what_the_package_brings(copy):
    """Icinga 2 and Nagios 4 as their packages configure them: nobody has to edit or copy a file. NRPE wants the
    example.
    """
    copy.installs_ours()
    stand_in(copy)
    copy.installs('icinga2-bin', 'icinga2-common', 'nagios4-core', 'nagios-nrpe-server', 'nagios-nrpe-plugin')
    copy.does('sh', '-c', 'icinga2 daemon -C --dump-objects || icinga2 daemon -C')  # 2.13 dumps unasked
    listed = copy.does('icinga2', 'object', 'list', '--type', 'CheckCommand', '--name', 'check-smart-attributes')
    nagios = copy.does('nagios4', '-v', '/etc/nagios4/nagios.cfg')
    before = copy.asks_nrpe()
    copy.does('cp', f'{EXAMPLES}/nrpe/check-smart-attributes.cfg', '/etc/nagios/nrpe.d/')
    asked = copy.asks_nrpe()
    copy.starts_nagios()

    assert "Object 'check-smart-attributes' of type 'CheckCommand'" in listed
    assert '* command = [ "/usr/lib/nagios/plugins/check_smart_attributes" ]' in listed
    assert 'Total Errors:   0' in nagios and 'smart_attributes_drives' in copy.reads(COMMANDS)
    assert "Command 'check_smart_attributes' not defined" in before.stdout
    assert asked.returncode == 1, asked.stdout
    assert asked.stdout.startswith('SMART WARNING - sdb endurance_used 86 %')


def test_an_nrpe_command_of_the_sites_own_wins(copy):
    """Debian's NRPE reads nrpe_local.cfg first, and what is read last counts."""
    copy.installs('nagios-nrpe-server', 'nagios-nrpe-plugin')
    copy.writes('/etc/nagios/nrpe_local.cfg', f'command[check_smart_attributes]={PLUGIN} -d /dev/sdc\n')
    copy.installs_ours()
    stand_in(copy)

    assert copy.asks_nrpe().stdout.startswith('SMART CRITICAL - sdc ')


def test_an_agent_may_get_the_command_from_its_masters_as_well(copy):
    """Through a global zone, as the page on Icinga proposes; of this Debian's Icinga."""
    copy.installs_ours()
    copy.installs('icinga2-bin', 'icinga2-common')
    copy.does('sh', '-c', 'mkdir -p /etc/icinga2/zones.d/global-templates && '
              'cp /usr/share/icinga2/include/plugins-contrib.d/check-smart-attributes.conf '
              '/etc/icinga2/zones.d/global-templates/')

    assert 'Finished validating the configuration' in copy.does('icinga2', 'daemon', '-C')


def test_removed_and_purged_it_leaves_nothing(copy):
    """Each file of before, and no other; also what a site put into our folders."""
    copy.installs_ours()
    copy.writes('/etc/check-smart-attributes/thresholds.d/site.json', '{"roles": {}}')
    copy.writes('/var/lib/check-smart-attributes/history', 'x')
    copy.runs(PLUGIN, user='nagios')
    copy.does('apt-get', 'remove', '-y', '-q', PACKAGE)
    kept = copy.has('/etc/check-smart-attributes/thresholds.d/site.json')

    assert kept
    assert left_over(copy) == set()


# --- version 1.6 before it -----------------------------------------------------------------------

def install_old(chroot: Chroot, suite: str, *options: str) -> None:
    """Install Debian's package of version 1.6; Debian 12 has none and gets one with its files."""
    if suite != 'bookworm':
        chroot.installs(*options, f'{PACKAGE}=1.6*')
        return
    for path, text in ((PLUGIN, '#!/bin/sh\necho "OK (sda) |"\n'), (DATABASE, '{"Devices": {}}\n'),
                       (COMMANDS,
                        f'define command{{\n\tcommand_name\tsmart_attributes_all\n\tcommand_line\t{PLUGIN}\n}}\n'),
                       ('/DEBIAN/conffiles', f'{DATABASE}\n{COMMANDS}\n'),
                       ('/DEBIAN/control', f'Package: {PACKAGE}\nVersion: 1.6-156-g498eafa-2\nArchitecture: all\n'
                        'Maintainer: nobody <nobody@check-smart-attributes.invalid>\nDescription: stand-in for '
                        'version 1.6\n')):
        chroot.writes(f'/tmp/old{path}', text)
    chroot.does('chmod', '755', f'/tmp/old{PLUGIN}')
    chroot.does('dpkg-deb', '--root-owner-group', '-b', '/tmp/old', '/tmp/old.deb')
    chroot.installs(*options, '/tmp/old.deb')


@pytest.fixture
def before_upgrade(copy, suite) -> Chroot:
    """Version 1.6 as Debian packages it."""
    install_old(copy, suite)
    assert copy.has(DATABASE) and copy.has(COMMANDS)
    return copy


def test_an_upgrade_takes_the_old_files_away(before_upgrade):
    """Nobody changed them, nobody needs them; the command of Nagios is defined once, in the file of before."""
    before_upgrade.installs_ours()
    definitions = before_upgrade.does('grep', '-rl', 'smart_attributes_all', '/etc/nagios-plugins').split()
    conffiles = before_upgrade.does('dpkg-query', '-W', '-f', '${Conffiles}', PACKAGE)

    assert not before_upgrade.has(DATABASE)
    assert before_upgrade.has(KEPT)
    assert definitions == [COMMANDS]
    assert [line for line in conffiles.splitlines() if 'obsolete' in line and DATABASE not in line] == []
    assert left_over(before_upgrade) == set()


def test_an_upgrade_keeps_a_database_that_was_changed_and_says_so(before_upgrade):
    """Its limits go on to hold for checks that name it."""
    before_upgrade.writes(DATABASE, before_upgrade.reads(DATABASE) + '\n')
    said = before_upgrade.installs_ours()

    assert before_upgrade.has(DATABASE)
    assert f'{DATABASE} was changed on this machine and is kept' in said
    assert f'check_smart_attributes migrate {DATABASE}' in said
    again = before_upgrade.does('dpkg-reconfigure', PACKAGE)
    assert 'is kept' not in again
    assert left_over(before_upgrade) == set()


def test_after_an_upgrade_graphs_under_the_old_labels_go_on(before_upgrade, suite):
    """A check that names the database at its old path, as Icinga's template wants it."""
    if suite == 'bookworm':
        pytest.skip('labels of version 1.6 are not tried: Debian 12 has no package with its database')
    before_upgrade.installs_ours()
    stand_in(before_upgrade)
    done = before_upgrade.runs(PLUGIN, '-dbj', DATABASE, '-d', '/dev/sdb', user='nagios')

    assert done.returncode == 1, done.stdout
    assert "'sdb_Media_Wearout_Indicator'=" in done.stdout.splitlines()[-1]


@pytest.mark.parametrize('is_changed', [True, False], ids=['changed', 'unchanged'])
def test_nagios_starts_after_an_upgrade_and_after_going_back(before_upgrade, suite, is_changed):
    """With a service of 1.6 and a command of the site's own; what a site has changed stays in force both times."""
    before_upgrade.installs('nagios4-core')
    before_upgrade.writes('/etc/nagios4/conf.d/site.cfg', SITE_OF_NAGIOS)
    if is_changed:
        before_upgrade.writes(COMMANDS, before_upgrade.reads(COMMANDS) + '# changed\n')
    before_upgrade.starts_nagios()
    before_upgrade.installs_ours('-o', 'Dpkg::Options::=--force-confold')
    before_upgrade.starts_nagios()
    in_force = '# changed' in before_upgrade.reads(COMMANDS)
    install_old(before_upgrade, suite, '--allow-downgrades', '-o', 'Dpkg::Options::=--force-confold')
    before_upgrade.starts_nagios()

    assert in_force is is_changed
    assert ('# changed' in before_upgrade.reads(COMMANDS)) is is_changed


def test_an_upgrade_that_fails_leaves_what_there_was(before_upgrade):
    """Half way: another package has a file of ours, so dpkg gives up."""
    text = before_upgrade.reads(DATABASE)
    before_upgrade.writes('/tmp/other/DEBIAN/control', 'Package: other\nVersion: 1\nArchitecture: all\n'
                          'Maintainer: nobody <nobody@check-smart-attributes.invalid>\nDescription: has a file of '
                          'ours\n')
    before_upgrade.writes('/tmp/other/usr/share/check-smart-attributes/attributes.json', '{}')
    before_upgrade.does('dpkg-deb', '--root-owner-group', '-b', '/tmp/other', '/tmp/other.deb')
    before_upgrade.installs('/tmp/other.deb')
    shutil.copy(newest('*.deb'), before_upgrade.root / 'tmp/ours.deb')
    done = before_upgrade.runs('dpkg', '-i', '/tmp/ours.deb')

    assert done.returncode != 0 and 'trying to overwrite' in done.stdout
    assert before_upgrade.reads(DATABASE) == text
    assert before_upgrade.has(COMMANDS) and not before_upgrade.has(DATABASE + '.dpkg-remove')
    assert before_upgrade.does('dpkg-query', '-W', '-f', '${Version} ${db:Status-Status}', PACKAGE).startswith('1.6')
    assert before_upgrade.does('dpkg-query', '-W', '-f', '${db:Status-Status}', PACKAGE) == 'installed'


def test_the_command_of_version_1_6_goes_on_to_work(before_upgrade):
    """A service of Nagios that names smart_attributes_all need not be touched."""
    before_upgrade.installs_ours()
    stand_in(before_upgrade)
    text = before_upgrade.reads(COMMANDS)
    line = re.search(r'smart_attributes_all\n\tcommand_line\t(.*)', text)
    done = before_upgrade.runs('sh', '-c', line[1].replace('$$', '$'), user='nagios')

    assert done.returncode == 1, done.stdout
    assert '2 drives' in done.stdout


# --- Debian 11: sudo knows no expressions, and the libraries are older; Ubuntu 22.04 has the same sudo ------------

@pytest.fixture(scope='module')
def bare_11(tmp_path_factory) -> Iterator[Chroot]:
    """A Debian 11 with Python, smartctl and sudo, without drives."""
    chroot = unpacked('bullseye', tmp_path_factory.mktemp('bullseye'))
    chroot.installs('python3', 'smartmontools', 'sudo')
    yield chroot
    removed(chroot.root)


def test_the_single_file_program_wants_nothing_but_python(bare_11):
    """3.9.2, the oldest that is promised; table and text come from libraries that are in the file."""
    program = newest('check_smart_attributes.pyz', ROOT / 'dist')
    for path in (program, ROOT / 'tests/reports/seagate-sas-healthy.txt', ROOT / 'tests/reports/intel-worn.json'):
        shutil.copy(path, bare_11.root / 'tmp')
    pip, answer = bare_11.runs('python3', '-c', 'import nagiosplugin'), bare_11.runs(f'/tmp/{program.name}')
    table = bare_11.does(f'/tmp/{program.name}', 'triage', '--report', '/tmp/intel-worn.json')
    text = bare_11.does(f'/tmp/{program.name}', '--report', '/tmp/seagate-sas-healthy.txt')

    assert 'ModuleNotFoundError' in pip.stdout
    assert (answer.returncode, answer.stdout[:30]) == (3, 'SMART UNKNOWN - no drives to c')
    assert 'INTEL SSDSC2BB150G7' in table and 'SMART OK' in text


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
    assert 'there are no drives to write lines for' in installed_11
    assert f'{RULE} is not written. What mends it, once that is done: dpkg-reconfigure {PACKAGE}' in installed_11
    assert not bare_11.has(RULE)
    assert bare_11.does('visudo', '-c')


def test_an_old_sudo_gets_a_line_for_each_drive(debian_11):
    """1.9.5 would take an expression for a mistake, and then refuse everything to everybody."""
    all_, one = (debian_11.runs(PLUGIN, *arguments, user='nagios') for arguments in ([], ['-d', '/dev/sda']))
    other = debian_11.runs('sudo', '-n', '/usr/sbin/smartctl', '-s', 'off', '/dev/sda', user='nagios')

    assert 'knows no regular expressions' in debian_11.reads(RULE)
    assert debian_11.does('stat', '-c', '%U %G %a', RULE) == 'root root 440\n'
    assert f'{RULE}: parsed OK' in debian_11.does('visudo', '-c')
    assert (all_.returncode, one.returncode) == (1, 0), all_.stdout + one.stdout
    assert 'a password is required' in other.stdout


def test_a_rule_that_an_admin_has_changed_stays(debian_11):
    """For a drive that no scan finds; the next configuration would print the rule without it."""
    wanted = debian_11.does(PLUGIN, 'sudoers', '-d', '/dev/sdc')
    before = debian_11.reads(RULE)
    refused = debian_11.runs(PLUGIN, '-d', '/dev/sdc', user='nagios')
    debian_11.writes(RULE, wanted)
    debian_11.does('dpkg-reconfigure', PACKAGE)
    kept, read = debian_11.reads(RULE), debian_11.runs(PLUGIN, '-d', '/dev/sdc', user='nagios')
    debian_11.writes(RULE, before)

    assert (refused.returncode, read.returncode) == (3, 2), refused.stdout + read.stdout
    assert kept == wanted


def test_the_libraries_of_debian_11_are_new_enough(debian_11, tmp_path):
    """jsonschema 3.2, rich 9.11, Jinja2 2.11, chardet 4, prometheus_client 0.9."""
    debian_11.installs(*(f'python3-{name}'
                         for name in ('chardet', 'humanfriendly', 'jinja2', 'prometheus-client', 'rich')))
    debian_11.writes('/tmp/mine.json', '{"rolls": {}}')

    assert 'INTEL SSDSC2BB150G7' in debian_11.does('check_smart_attributes', 'triage')
    assert 'written: /tmp/drives.html' in debian_11.does('check_smart_attributes', 'triage', '--html',
                                                         '/tmp/drives.html')
    assert 'smart_drive_state{device="sdb"} 1.0' in debian_11.does('check_smart_attributes', 'metrics')
    assert 'SMART OK' in debian_11.does(PLUGIN, '--report', '/tmp/seagate-sas-healthy.txt')
    assert 'did you mean roles?' in debian_11.runs(PLUGIN, '-d', '/dev/sda', '--thresholds', '/tmp/mine.json').stdout


def test_purged_from_debian_11_it_leaves_no_rule(debian_11):
    """dpkg does not know the file, which is none of the package's."""
    debian_11.does('apt-get', 'purge', '-y', '-q', PACKAGE)

    assert debian_11.does('sh', '-c', 'ls /etc/sudoers.d') == 'README\n'
    assert PACKAGE not in debian_11.reads('/var/lib/ucf/registry')


# --- what others say about it --------------------------------------------------------------------

def test_lintian_has_nothing_to_say():
    """Errors and warnings; hints about a watch file are for packages inside Debian."""
    said = subprocess.run(['lintian', '--fail-on', 'error,warning', '--allow-root', str(newest('*.changes'))],
                          capture_output=True, text=True)

    assert said.returncode == 0, said.stdout
    assert tags(said.stdout) == []


def tags(text: str) -> List[str]:
    return [line for line in text.splitlines() if line[:2] in ('E:', 'W:')]


def test_autopkgtest_passes(suite, tmp_path):
    """As Debian's own machines would test it."""
    chroot = unpacked(suite, tmp_path / 'chroot')
    package = [str(newest('*.deb')), str(newest('*.dsc'))]
    done = subprocess.run(['autopkgtest', '--no-built-binaries', *package, '--', 'chroot', str(chroot.root)],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)

    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r'^plugin +PASS$', done.stdout + done.stderr, re.MULTILINE)
    removed(chroot.root)
