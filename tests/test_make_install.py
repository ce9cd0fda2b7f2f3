"""make install: the files of an installation, a check from there, and make uninstall, which
leaves none.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from abilities import needs
from conftest import ROOT, drive_path

pytestmark = needs('make')

SHARE = 'share/check-smart-attributes'
PLUGIN = 'lib/nagios/plugins/check_smart_attributes'


def made(target: str, folder: Path | str, prefix: str, **variables: str) -> None:
    """Run a target as a packager does, with the umask of a careful root."""
    words = [
        f'{name}={value}'
        for name, value in {'DESTDIR': folder, 'PREFIX': prefix, **variables}.items()
    ]
    done = subprocess.run(
        ['sh', '-c', 'umask 077; exec make --silent "$@"', 'sh', target, *words],
        cwd=ROOT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert done.returncode == 0, done.stdout


def files(folder: Path) -> dict[str, str]:
    """Return the mode of each file below a folder, "link" for a link."""
    return {
        str(path.relative_to(folder)): 'link'
        if path.is_symlink()
        else f'{path.stat().st_mode & 0o777:o}'
        for path in folder.rglob('*')
        if path.is_symlink() or path.is_file()
    }


@pytest.fixture(scope='module')
def installed(tmp_path_factory) -> Path:
    """An installation with the Python of these tests."""
    prefix = tmp_path_factory.mktemp('installed')
    made(
        'install',
        '',
        str(prefix),
        PYTHON=sys.executable,
        PACKAGES=sysconfig.get_path('purelib'),
        CONFIG=f'{prefix}/etc',
    )
    return prefix


def test_a_check_runs_from_there(installed):
    """As a daemon starts it, with the data of the installation; the link serves a shell."""
    plugin = installed / PLUGIN
    check = subprocess.run(
        [str(plugin), '--report', drive_path('intel-worn')],
        capture_output=True,
        text=True,
        cwd='/',
    )

    assert subprocess.check_output([str(plugin), '-V']).startswith(
        b'check_smart_attributes'
    )
    assert check.returncode == 1 and 'endurance_used 86 %' in check.stdout, check.stdout
    assert plugin.read_text().startswith(f'#!{sys.executable} -IS\n')
    assert (installed / 'sbin/check_smart_attributes').samefile(plugin)


def test_each_file_is_readable_and_of_this_prefix(installed):
    modes = files(installed)

    assert {mode for path, mode in modes.items() if '__pycache__' not in path} == {
        '644',
        '755',
        'link',
    }
    assert {
        path for path, mode in modes.items() if mode == '755' and 'examples' not in path
    } == {
        PLUGIN,
        f'{SHARE}/configure-host',
    }
    assert {
        f'{SHARE}/attributes.json',
        f'{SHARE}/thresholds/default.json',
        f'{SHARE}/thresholds/risk.json',
        f'{SHARE}/smart_attributes/schema/attributes.schema.json',
        'share/man/man8/check_smart_attributes.8',
        'share/bash-completion/completions/check_smart_attributes',
        'share/icinga2/include/plugins-contrib.d/check-smart-attributes.conf',
        'lib/systemd/system/check-smart-attributes-metrics.timer',
    } <= set(modes)
    for name in (
        'lib/systemd/system/check-smart-attributes-metrics.service',
        'share/doc/check-smart-attributes/examples/nrpe/check-smart-attributes.cfg',
    ):
        text = (installed / name).read_text()
        assert str(installed) in text and '/usr/' not in text.replace(
            str(installed), ''
        ), name
    example = f'{installed}/share/doc/check-smart-attributes/examples/example-site.json'
    assert example in (installed / 'etc/README').read_text()


def test_links_between_the_documents_lead_somewhere(installed):
    """To a file of the installation; tests and the changelog are in a clone only."""
    documents = installed / 'share/doc/check-smart-attributes'
    links = {
        (page, path)
        for page in (documents / 'README', *documents.rglob('*.md'))
        for path in re.findall(r'\]\(((?!https:)[^)#]+)', page.read_text())
        if not re.search('/(tests|tools|.github)/|CHANGELOG', f'/{path}')
    }

    assert len(links) > 100
    assert [link for link in links if not (link[0].parent / link[1]).exists()] == []


def test_the_examples_hold_the_ansible_role_with_all_that_it_runs(installed):
    role = installed / 'share/doc/check-smart-attributes/examples/ansible/roles'
    tasks = (role / 'check_smart_attributes/tasks/main.yml').read_text()
    used = re.findall(r'role_path \}\}/(\S+?)"?[,\s]', tasks)

    assert set(used) == {'files/verify', 'files/configure-host'}
    assert [
        path for path in used if not (role / 'check_smart_attributes' / path).exists()
    ] == []


def test_uninstall_leaves_nothing_but_what_is_the_sites(tmp_path):
    """Files of other programs stay, and so does the configuration of the site. Libraries of a
    packager come with the program, as in the RPM: the launcher then names no other folder.
    """
    root, libraries = tmp_path / 'root', tmp_path / 'libraries/nagiosplugin'
    (libraries / '__pycache__').mkdir(parents=True)
    (libraries / '__init__.py').touch()
    (libraries / '__pycache__/x.pyc').touch()
    foreign = [
        'usr/lib/nagios/plugins/check_load',
        'etc/check-smart-attributes/thresholds.d/a.json',
    ]
    made('install', root, '/usr', LIBRARIES=str(libraries.parent), PYTHON='/x/python')
    assert len(files(root)) > 200
    for path in foreign:
        (root / path).touch()
    launcher = (root / 'usr' / PLUGIN).read_text()
    assert f"\nsys.path[:] = ['/usr/{SHARE}', *sys.path]\n" in launcher
    assert launcher.startswith('#!/x/python -IS\n')
    assert [path for path in files(root) if 'nagiosplugin' in path] == [
        f'usr/{SHARE}/nagiosplugin/__init__.py'
    ]
    shutil.rmtree(root / 'usr' / SHARE / 'nagiosplugin')  # a packager's
    cache = root / 'usr' / SHARE / 'smart_attributes/__pycache__'
    cache.mkdir()
    (cache / 'main.cpython-311.pyc').touch()
    made('uninstall', root, '/usr')

    assert set(files(root)) == set(foreign)
    assert not (root / 'usr' / SHARE).exists()


def test_a_python_without_libraries_is_named_before_anything_is_copied(tmp_path):
    python = tmp_path / 'python'
    python.write_text('#!/bin/sh\nexit 1\n')
    python.chmod(0o755)
    done = subprocess.run(
        ['make', '--silent', 'install', f'DESTDIR={tmp_path}/root', f'PYTHON={python}'],
        cwd=ROOT,
        text=True,
        capture_output=True,
    )

    assert done.returncode and f'{python} lacks ' in done.stderr
    assert ' python3-nagiosplugin python3-jsonschema' in done.stderr
    assert not (tmp_path / 'root').exists()
