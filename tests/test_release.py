"""What is released: from a tag of a clean tree, with checksums and what alerts differently; else a sentence why not."""
from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT, run

from smart_attributes import VERSION

NOTES = (f'# Changelog\n\n## [{VERSION}] - 2026-11-22\n\n### Changes to alerts\n\n- Nothing.\n\n'
         '## [1.6]\n\n- Older.\n')


def git(folder: Path, *words: str) -> None:
    subprocess.run(['git', '-c', 'user.name=nobody', '-c', 'user.email=nobody@check-smart-attributes.invalid', *words],
                   cwd=folder, check=True, capture_output=True)


@pytest.fixture
def clone(tmp_path) -> Path:
    """What the refusals look at, committed and tagged; CHANGELOG as a release wants it."""
    for name in ('Makefile', 'tools/releasable', 'smart_attributes/__init__.py'):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / 'CHANGELOG').write_text(NOTES)
    git(tmp_path, 'init', '--quiet')
    committed(tmp_path)
    git(tmp_path, 'tag', f'v{VERSION}')
    return tmp_path


def committed(folder: Path) -> None:
    git(folder, 'add', '--all')
    git(folder, 'commit', '--quiet', '--message', 'as it is')


def refusal(folder: Path) -> str:
    """Return what `make release` says before it touches anything."""
    (folder / 'dist').mkdir(exist_ok=True)
    done = subprocess.run(['make', '--silent', 'release'], cwd=folder, capture_output=True, text=True, timeout=60)

    assert done.returncode != 0
    assert (folder / 'dist').is_dir()
    return done.stderr.splitlines()[0]


def test_a_clean_tagged_tree_may_be_released(clone):
    """Nothing is asked for that it does not have."""
    done = subprocess.run(['sh', 'tools/releasable'], cwd=clone, capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (0, '')


def test_what_is_not_committed_is_not_released(clone):
    """Nobody could build it a second time."""
    (clone / 'new').write_text('')

    assert refusal(clone) == 'release: there is what is not committed: ?? new; commit it or take it away'


def test_a_commit_without_the_tag_of_its_version_is_not_released(clone):
    """The tag says what a version is made of."""
    git(clone, 'tag', '--delete', f'v{VERSION}')

    assert refusal(clone).startswith(f'release: this commit has no tag v{VERSION}; once its tests have passed: git '
                                     'tag ')


@pytest.mark.parametrize('notes, sentence', [
    pytest.param('# Changes\n\n## [1.6] - 2020-01-01\n', f'release: CHANGELOG has no "## [{VERSION}] - DATE"; ',
                 id='nothing about this version'),
    pytest.param(NOTES.replace('2026-11-22', 'unreleased'), f'release: CHANGELOG has no date for {VERSION}; ',
                 id='no date'),
    pytest.param(NOTES.replace('### Changes to alerts', ''),
                 f'release: CHANGELOG does not name the changes to alerts in {VERSION}; ', id='not what alerts'),
    pytest.param(NOTES.replace('- Nothing.', ''),
                 f'release: CHANGELOG does not name the changes to alerts in {VERSION}; ', id='nothing below it')])
def test_changes_are_told_before_they_are_released(clone, notes, sentence):
    """An update at night must not bring an alarm that nobody was told of."""
    (clone / 'CHANGELOG').write_text(notes)
    committed(clone)

    assert refusal(clone).startswith(sentence)


def test_this_version_says_what_alerts_differently():
    """Before all else that is new, while the version is made and not on the day of its release."""
    newest = (ROOT / 'CHANGELOG').read_text().split('\n## ')[1]

    assert newest.startswith(f'[{VERSION}] - ')
    assert re.findall('^### .*', newest, re.MULTILINE)[:1] == ['### Changes to alerts']


def test_no_pinned_file_names_a_registry():
    """Whoever has a mirror uses it; hashes say what is right."""
    for path in (*(ROOT / 'requirements').iterdir(), ROOT / 'debian/pysmart.requirements'):
        assert '://' not in path.read_text(), path
    assert all('--hash=sha256:' in part
               for path in (ROOT / 'requirements').glob('*.txt')
               for part in re.findall(r'^\S+==(?:.*\\\n)*.*', path.read_text(), re.MULTILINE))


def test_the_library_in_the_debian_package_has_its_licence_told():
    """debian/copyright speaks of the very version that is packed."""
    pinned = (ROOT / 'debian/pysmart.requirements').read_text()
    name, version = re.search(r'^(\S+)==(\S+) ', pinned, re.MULTILINE).groups()
    told = (ROOT / 'debian/copyright').read_text()

    assert f'{name} {version} as published' in told
    assert re.search(f'^Files: {name.lower()}/\\*\n(.+\n)+License: LGPL-2.1-or-later$', told, re.MULTILINE)


def test_every_rule_that_a_commit_has_shipped_is_in_the_list_of_the_package():
    """The upgrade replaces these rules; the newest may be missing until it is replaced itself."""
    shallow = subprocess.run(['git', 'rev-parse', '--is-shallow-repository'], cwd=ROOT, capture_output=True, text=True)
    if shallow.stdout.strip() != 'false':
        pytest.skip('the list of shipped rules is not compared: this is not a clone with the whole history')
    shipped = subprocess.run(['sh', 'tools/shipped-rules'], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    listed = (ROOT / 'debian/shipped-rules').read_text().splitlines()

    assert len(shipped.splitlines()) > 1
    assert [line for line in shipped.splitlines()[:-1] if line not in listed] == [], \
        'run: sh tools/shipped-rules >debian/shipped-rules'


# Up to the limit that the script sets for the host.
EXPECTED = re.findall(r"^expects (\d) '([^'\n]+)' (?:\$plugin|check_smart_attributes) (.*\$reports\S*)",
                      (ROOT / 'debian/tests/plugin').read_text().partition('# A limit')[0], re.MULTILINE)


@pytest.mark.parametrize(('status', 'words', 'arguments'), EXPECTED)
def test_autopkgtest_expects_what_the_program_prints(status, words, arguments):
    """Only "make test-deb" runs autopkgtest; a changed sentence must not wait for it."""
    done = run(*shlex.split(arguments.replace('$reports', str(ROOT / 'tests/reports'))))

    assert done.code == int(status)
    assert words in done.text


def test_the_expectations_of_autopkgtest_are_found():
    assert len(EXPECTED) >= 9
