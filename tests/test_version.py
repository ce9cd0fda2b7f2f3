"""The order in which apt sorts versions: a snapshot comes after all that was built before and
before the release.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import abilities
import pytest
from conftest import ROOT

from smart_attributes import VERSION

pytestmark = [
    pytest.mark.tools,
    pytest.mark.skipif(
        not abilities.path_of('dpkg'),
        reason='dpkg is not installed: versions are compared by it alone',
    ),
]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """One commit, with the line that the version is read from."""
    (tmp_path / 'smart_attributes').mkdir()
    (tmp_path / 'smart_attributes/__init__.py').write_text("VERSION = '2.1.0'\n")
    git(tmp_path, 'init', '-q')
    git(tmp_path, 'add', '.')
    return tmp_path


def git(folder: Path, *words: str, date: str = '2026-11-22T12:00:00+0000') -> None:
    identity = {
        f'GIT_{who}_{what}': 'x'
        for who in ('AUTHOR', 'COMMITTER')
        for what in ('NAME', 'EMAIL')
    }
    dates = {'GIT_COMMITTER_DATE': date, 'GIT_AUTHOR_DATE': date}
    subprocess.run(
        ['git', *words], cwd=folder, check=True, env={**os.environ, **identity, **dates}
    )


def version(folder: Path) -> str:
    done = subprocess.run(
        ['sh', str(ROOT / 'tools/version')],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def out_of_order(versions: list[str]) -> list[str]:
    """Return the neighbours that dpkg does not sort as they are listed, as packages of this
    repository.
    """
    return [
        f'{one} {other}'
        for one, other in zip(versions, versions[1:])
        if subprocess.run(
            ['dpkg', '--compare-versions', f'{one}-1', 'lt', f'{other}-1']
        ).returncode
    ]


def test_a_snapshot_sorts_after_all_earlier_commits_and_before_the_release(clone):
    """By the time in UTC: 23:30 in Berlin is before 22:45 in London.

    Rebased commits share a second or are older than their parents.
    """
    found = ['1.6-156-g498eafa']
    for date in (
        '2026-11-22T23:30:00+0100',
        *['2026-11-22T22:45:00+0000'] * 12,
        '2026-11-22T22:45:01+0000',
        '2026-11-22T22:40:00+0000',
    ):
        git(clone, 'commit', '-q', '--allow-empty', '-m', date, date=date)
        found.append(version(clone))
    git(clone, 'tag', 'v2.1.0')
    found.append(version(clone))

    assert out_of_order(found) == []
    assert found[1].startswith('2.1.0~git20261122223000.1.')
    assert found[-1] == '2.1.0'


def test_a_snapshot_after_the_release_sorts_between_it_and_the_next(clone):
    """Whether VERSION is still that of the release or has been raised; a commit before the
    release stays before it.
    """
    found = []
    for day, words in ((22, ['before']), (23, ['released']), (24, ['after'])):
        date = f'2026-11-{day}T12:00:00+0000'
        git(clone, 'commit', '-q', '--allow-empty', '-m', *words, date=date)
        if day == 23:
            git(clone, 'tag', 'v2.1.0')
        found.append(version(clone))
    git(clone, 'checkout', '-q', 'HEAD~2')
    again = version(clone)
    git(clone, 'checkout', '-q', '-')
    (clone / 'smart_attributes/__init__.py').write_text("VERSION = '2.1.1'\n")
    found.append(version(clone))

    assert out_of_order([*found, '2.1.1']) == []
    assert again == found[0]
    assert found[2].startswith('2.1.0+git20261124120000.3.')


def test_this_version_sorts_after_every_package_that_was_built_before():
    """Packages were 2.0-1 for two days, then 2.0~git..., which apt takes for older."""
    for built in ('2.0', '2.0~git20261122165216.3ff0fdc+changed'):
        assert out_of_order([built, f'{VERSION}~git']) == []


@pytest.mark.parametrize(
    'date',
    ['2020-11-22T12:00:00+0000', '2099-11-22T12:00:00+0000'],
    ids=['past', 'future'],
)
def test_what_is_not_committed_is_newer_than_its_commit_and_older_than_the_next(
    clone, date
):
    """Who tries a change installs it over the package of before, also where a clock has gone
    wrong.
    """
    git(clone, 'commit', '-q', '-m', 'one', date=date)
    before = version(clone)
    (clone / 'attributes.json').write_text('{}')
    found = [before, version(clone)]
    git(clone, 'add', '.')
    git(clone, 'commit', '-q', '-m', 'two', date='2099-11-22T12:00:00+0000')

    assert found[1].endswith('.modified')
    assert out_of_order([*found, version(clone)]) == []
