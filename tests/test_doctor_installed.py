"""doctor and the command install know the same parts: what one misses, the other brings."""
from __future__ import annotations

from pathlib import Path

import pytest

from smart_attributes import files
from smart_attributes.doctor import installed, start
from smart_attributes.installation import disk, plan

PLUGIN = '/usr/lib64/nagios/plugins/check_smart_attributes'
OURS = 'object CheckCommand "mine" {\n  command = [ PluginDir + "/check_smart_attributes" ]\n}\n'
ITL = 'object CheckCommand "smart" {\n  command = [ PluginDir + "/check_ide_smart" ]\n}\n'


@pytest.fixture
def root(tmp_path, monkeypatch) -> Path:
    monkeypatch.setattr(installed, 'ROOT', str(tmp_path))
    return tmp_path


def put(root: Path, path: str, text: str = '') -> None:
    (root / path.strip('/')).parent.mkdir(parents=True, exist_ok=True)
    (root / path.strip('/')).write_text(text)


def asked(program: str = '/opt/x.pyz') -> list[list[str]]:
    return [[finding.subject, finding.command] for finding in installed.examine(program)]


@pytest.mark.parametrize('paths, missing', [
    ({}, []),
    ({'/usr/lib64/nagios/plugins/check_load': ''}, ['plugin']),
    ({PLUGIN: ''}, []),
    ({PLUGIN: '', '/etc/icinga2/conf.d/a.conf': ITL}, ['CheckCommand']),
    ({PLUGIN: '', '/etc/icinga2/conf.d/a.conf': OURS}, []),
    ({PLUGIN: '', '/etc/icinga2/conf.d/a.conf': '', '/var/lib/icinga2/api/zones/global/x/a.conf': OURS}, []),
    ({PLUGIN: '', '/etc/icinga2/zones.d/a.conf': '', f'{plan.ICINGA_FOLDERS[0]}/{plan.CHECK_COMMAND}': ''}, []),
], ids=['no-daemon', 'no-plugin', 'plugin', 'icinga', 'own-command', 'command-of-the-master', 'command'])
def test_a_part_that_is_missing_is_named_with_the_command_that_installs_it(root, paths, missing):
    for path, text in paths.items():
        put(root, path, text)

    assert asked() == [[subject, '/opt/x.pyz install --yes'] for subject in missing]


@pytest.mark.parametrize('text, has_installer, command', [
    ('whole', True, None), ('changed', True, 'install --yes'), ('changed', False, '')])
def test_a_program_that_differs_from_what_was_installed_is_damaged(root, monkeypatch, text, has_installer, command):
    """Libraries, data and compiled files count; a run may not need them today."""
    tree, installer = f'{plan.TREES}/1', root / plan.INSTALLER[1:]
    put(root, f'{tree}/smart_attributes/a.py', 'whole')
    host = disk.Disk(str(root))
    host.record({tree: host.look([tree])[tree].digest})
    put(root, f'{tree}/smart_attributes/a.py', text)
    monkeypatch.setattr(files, 'PROGRAM', f'{tree}/smart_attributes')
    monkeypatch.setattr(files, '_INSTALLER', str(installer))
    if has_installer:
        put(root, plan.INSTALLER)

    found = installed.damage()

    assert [f'{installer} {command}' in each.command if command else each.command == command for each in found] == (
        [] if command is None else [True])


def test_a_part_of_a_package_comes_with_the_package(root):
    put(root, '/usr/lib/nagios/plugins/check_load')
    (root / plan.OF_PACKAGE[1:]).mkdir(parents=True)

    finding, = installed.examine('/x')
    assert finding.remedy == 'install the package again'
    assert finding.command.endswith(' monitoring-plugins-check-smart-attributes')


@pytest.mark.parametrize('release, command', [
    ('ID=debian\n', 'apt install'), ('ID=ubuntu\nID_LIKE=debian\n', 'apt install'),
    ('ID="rhel"\nID_LIKE="fedora"\n', 'dnf install'), ('ID="rocky"\nID_LIKE="rhel centos fedora"\n', 'dnf install'),
    ('ID=fedora\n', 'dnf install'), ('ID="opensuse-leap"\nID_LIKE="suse opensuse"\n', 'zypper install'),
    ("ID='sles'\nID_LIKE='suse'\n", 'zypper install'), ('ID=freebsd\n', 'pkg install'), ('ID=arch\n', 'pacman -S'),
    ('VERSION_ID=9\nPLATFORM_ID=rhel\nID=own\n', 'apt install'), ('', 'apt install')])
def test_the_system_names_its_own_command_for_packages(root, monkeypatch, release, command):
    """Lines of os-release as these systems have them; none of them but Debian was tried."""
    monkeypatch.setattr(start, 'ROOT', str(root))
    put(root, '/etc/os-release', release)

    assert start.installer().install == command


@pytest.mark.parametrize('place, is_slow', [('usr', True), ('x.pyz', True), ('home', False)])
def test_a_program_that_is_compiled_at_each_start_is_slow(root, monkeypatch, place, is_slow):
    """In a system folder, or as a single file; a checkout that its owner can write is compiled by the first run."""
    (root / 'x.pyz').write_text('')
    for folder in ('usr', 'home'):
        (root / folder / 'smart_attributes').mkdir(parents=True)
    monkeypatch.setattr(installed, 'SYSTEM_FOLDERS', (f'{root}/usr/',))
    monkeypatch.setattr(files, 'PROGRAM', f'{root}/{place}/smart_attributes')

    assert [subject for subject, _ in asked()] == ['start-up'] * is_slow


def test_this_program_is_known_to_be_compiled(root, monkeypatch, tmp_path):
    monkeypatch.setattr(files, 'PROGRAM', str(tmp_path))
    (tmp_path / 'main.py').write_text('')
    assert not installed.is_compiled()
    import py_compile
    py_compile.compile(str(tmp_path / 'main.py'))
    assert installed.is_compiled()


def test_after_the_installation_nothing_is_missing(root):
    """Of the items that install makes, doctor finds what it asks for."""
    put(root, '/usr/lib64/nagios/plugins/check_load')
    put(root, '/etc/icinga2/conf.d/a.conf')
    here = disk.Disk(str(root))
    from smart_attributes.installation import host
    facts = plan.Facts(plugin_folder=host.plugin_folder(here), icinga_folder=host.icinga_folder(here),
                        shared=dict.fromkeys(plan.SHARED, ''))
    assert len(asked()) == 2
    for item in plan.of_program(facts):
        put(root, item.path)

    assert asked() == []
