"""What apt takes for newer."""
from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT

pytestmark = pytest.mark.skipif(not shutil.which('dpkg'),
                                reason='dpkg is not installed: versions are compared by it alone')


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """One commit, with the line that the version is read from."""
    (tmp_path / 'smart_attributes').mkdir()
    (tmp_path / 'smart_attributes/jobs.py').write_text("VERSION = '2.0'\n")
    git(tmp_path, 'init', '-q')
    git(tmp_path, 'add', '.')
    return tmp_path


def git(folder: Path, *words: str, date: str = '') -> None:
    identity = {f'GIT_{who}_{what}': 'x' for who in ('AUTHOR', 'COMMITTER') for what in ('NAME', 'EMAIL')}
    subprocess.run(['git', *words], cwd=folder, check=True,
                   env={**os.environ, **identity,
                        **({'GIT_COMMITTER_DATE': date, 'GIT_AUTHOR_DATE': date} if date else {})})


def version(folder: Path) -> str:
    done = subprocess.run(['sh', str(ROOT / 'tools/version')], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_apt_takes_the_later_commit_for_newer(clone):
    """Wherever it was made: 23:30 in Berlin is before 22:45 in London. The release comes after all of them."""
    found = ['1.6-156-g498eafa']
    for date in ('2026-11-22T23:30:00+0100', '2026-11-22T22:45:00+0000', '2026-11-22T22:45:01+0000'):
        git(clone, 'commit', '-q', '--allow-empty', '-m', date, date=date)
        found.append(version(clone))
    git(clone, 'tag', 'v2.0')
    found.append(version(clone))

    assert [f'{one} {other}' for one, other in zip(found, found[1:])
            if subprocess.run(['dpkg', '--compare-versions', one, 'lt', other]).returncode] == []
    assert found[1].startswith('2.0~git20261122223000.')
    assert found[-1] == '2.0'


def test_what_is_not_committed_is_newer_than_its_commit(clone):
    """Who tries a change installs it over the package of before."""
    git(clone, 'commit', '-q', '-m', 'one', date='2020-11-22T12:00:00+0000')
    before = version(clone)
    (clone / 'attributes.json').write_text('{}')

    assert version(clone).endswith('+changed')
    subprocess.run(['dpkg', '--compare-versions', before, 'lt', version(clone)], check=True)
