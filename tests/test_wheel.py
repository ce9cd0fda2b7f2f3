"""The wheel, as pip and pipx install it: a working plugin with its data, far from any clone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT, drive_path

REPORT = drive_path('intel-worn')

pytestmark = pytest.mark.long  # 20 seconds: it is built and installed


def does(*command: str) -> str:
    done = runs(*command, **os.environ)
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope='module')
def wheel(released) -> Path:
    """The wheel of this clone, which other tests use as well."""
    [found] = released.glob('*.whl')
    return found


@pytest.fixture(scope='module')
def installed(wheel, tmp_path_factory) -> Iterator[Path]:
    """The plugin in a fresh virtual environment."""
    folder = tmp_path_factory.mktemp('wheel') / 'venv'
    does(sys.executable, '-m', 'venv', str(folder))
    does(str(folder / 'bin/pip'), 'install', '--quiet', f'{wheel}[page]')
    yield folder / 'bin/check_smart_attributes'
    shutil.rmtree(folder)


def runs(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        list(map(str, command)),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        cwd='/',
        env={'PATH': '/usr/bin:/bin', 'LC_ALL': 'C', **environment},
    )


def test_pip_installs_a_plugin_with_its_data(installed):
    """Entries and limits come with it; nothing is looked for in a clone."""
    done = runs(installed, '--report', REPORT)

    assert done.returncode == 1
    assert 'used write endurance 86 % (warning above 85)' in done.stdout.splitlines()[0]
    assert str(ROOT) not in does(
        str(installed.parent / 'python'),
        '-I',
        '-c',
        'import smart_attributes; print(smart_attributes.__file__)',
    )


@pytest.mark.parametrize(
    'arguments, words',
    [
        (['-V'], 'attributes.json'),
        (['triage', '--report', REPORT], 'INTEL'),
        (['draft', '--report', REPORT], '"models"'),
        (['sudoers'], 'NOPASSWD'),
        (['--report', drive_path('seagate-sas-healthy')], 'SMART OK'),
    ],
    ids=['version', 'triage', 'draft', 'sudoers', 'text'],
)
def test_every_command_finds_what_it_needs(installed, arguments, words):
    """Libraries and data; draft reads more of them than a check."""
    done = runs(installed, *arguments)

    assert done.returncode == 0, done.stdout
    assert words in done.stdout


def test_parts_that_are_no_python_are_in_it(installed, tmp_path):
    """Template, script and style of the page, and the schemas of local files."""
    page, mine = tmp_path / 'drives.html', tmp_path / 'mine.json'
    mine.write_text('{"rolls": {}}')
    shown = runs(installed, 'triage', '--html', page, '--report', REPORT)
    checked = runs(installed, '--report', REPORT, '--thresholds', mine)

    assert shown.returncode == 0, shown.stdout
    for part in ('Content-Security-Policy', ':root {', "'use strict'", 'EXAMPLE0003'):
        assert part in page.read_text()
    assert checked.returncode == 3 and 'rolls' in checked.stdout
