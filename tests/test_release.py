"""What is released: from a tag of a clean tree, with checksums and what alerts differently; else
a sentence why not.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import sbom
from abilities import needs
from conftest import ROOT, run

from smart_attributes import VERSION

pytestmark = pytest.mark.tools

NOTES = (
    f'# Changelog\n\n## [{VERSION}] - 2026-11-22\n\n### Changes to alerts\n\n- Nothing.\n\n'
    '## [1.6]\n\n- Older.\n'
)


def git(folder: Path, *words: str) -> None:
    subprocess.run(
        [
            'git',
            '-c',
            'user.name=nobody',
            '-c',
            'user.email=nobody@check-smart-attributes.invalid',
            *words,
        ],
        cwd=folder,
        check=True,
        capture_output=True,
    )


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
    done = subprocess.run(
        ['make', '--silent', 'release'],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert done.returncode != 0
    assert (folder / 'dist').is_dir()
    return done.stderr.splitlines()[0]


def test_a_clean_tagged_tree_may_be_released(clone):
    """Nothing is asked for that it does not have."""
    done = subprocess.run(
        ['sh', 'tools/releasable'], cwd=clone, capture_output=True, text=True
    )

    assert (done.returncode, done.stderr) == (0, '')


def uncommitted(folder: Path) -> None:
    (folder / 'new').write_text('')


def untagged(folder: Path) -> None:
    git(folder, 'tag', '--delete', f'v{VERSION}')


def noted(notes: str) -> Callable[[Path], None]:
    """Return what commits another changelog."""

    def change(folder: Path) -> None:
        (folder / 'CHANGELOG').write_text(notes)
        committed(folder)

    return change


@pytest.mark.parametrize(
    'change, words',
    [
        (uncommitted, ': ?? new; '),
        (untagged, f' tag v{VERSION}; '),
        (
            noted('# Changes\n\n## [1.6] - 2020-01-01\n'),
            f'CHANGELOG has no "## [{VERSION}] - DATE"; ',
        ),
        (noted(NOTES.replace('2026-11-22', 'unreleased')), f'no date for {VERSION}; '),
        (noted(NOTES.replace('### Changes to alerts', '')), f' alerts in {VERSION}; '),
        (noted(NOTES.replace('- Nothing.', '')), f' alerts in {VERSION}; '),
    ],
)
def test_what_nobody_could_build_again_or_was_told_of_is_not_released(
    clone, change, words
):
    """The tag says what a version is made of, and an update at night must not bring an alarm that
    nobody was told of.
    """
    change(clone)

    assert words in refusal(clone)


def test_this_version_says_what_alerts_differently():
    """Before all else that is new, while the version is made and not on the day of its release."""
    newest = (ROOT / 'CHANGELOG').read_text().split('\n## ')[1]

    assert newest.startswith(f'[{VERSION}] - ')
    assert re.findall('^### .*', newest, re.MULTILINE)[:1] == ['### Changes to alerts']


def test_no_pinned_file_names_a_registry():
    """Whoever has a mirror uses it; hashes say what is right."""
    for path in (
        *(ROOT / 'requirements').iterdir(),
        ROOT / 'debian/pysmart.requirements',
    ):
        assert '://' not in path.read_text(), path
    assert all(
        '--hash=sha256:' in part
        for path in (ROOT / 'requirements').glob('*.txt')
        for part in re.findall(r'^\S+==(?:.*\\\n)*.*', path.read_text(), re.MULTILINE)
    )


def test_the_library_in_the_debian_package_has_its_licence_told():
    """debian/copyright speaks of the very version that is packed."""
    pinned = (ROOT / 'debian/pysmart.requirements').read_text()
    name, version = re.search(r'^(\S+)==(\S+) ', pinned, re.MULTILINE).groups()
    told = (ROOT / 'debian/copyright').read_text()

    assert f'{name} {version} ' in told
    assert re.search(
        f'^Files: {name.lower()}/\\*\n(.+\n)+License: LGPL-2.1-or-later$',
        told,
        re.MULTILINE,
    )


def test_every_rule_that_a_commit_has_shipped_is_in_the_list_of_the_package():
    """The upgrade replaces these rules; the newest may be missing until it is replaced itself."""
    shallow = subprocess.run(
        ['git', 'rev-parse', '--is-shallow-repository'],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if shallow.stdout.strip() != 'false':
        pytest.skip(
            'the list of shipped rules is not compared: this is not a clone with the whole history'
        )
    shipped = subprocess.run(
        ['sh', 'tools/shipped-rules'],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    listed = (ROOT / 'debian/shipped-rules').read_text().splitlines()

    assert len(shipped.splitlines()) > 1
    assert [line for line in shipped.splitlines()[:-1] if line not in listed] == [], (
        'run: sh tools/shipped-rules >debian/shipped-rules'
    )


# Up to the limit that the script sets for the host.
EXPECTED = re.findall(
    r"^expects (\d) '([^'\n]+)' (?:\$plugin|check_smart_attributes) (.*\$reports\S*)",
    (ROOT / 'debian/tests/plugin').read_text().partition('# A limit')[0],
    re.MULTILINE,
)


@pytest.mark.parametrize(('status', 'words', 'arguments'), EXPECTED)
def test_autopkgtest_expects_what_the_program_prints(status, words, arguments):
    """Only "make test-deb" runs autopkgtest; a changed sentence must not wait for it."""
    done = run(*shlex.split(arguments.replace('$reports', str(ROOT / 'tests/reports'))))

    assert done.code == int(status)
    assert words in done.text


# --- what strangers verify -----------------------------------------------------------------------

KINDS = (
    'check_smart_attributes-2.0.0.tar.gz',
    'library.whl',
    'program.pyz',
    'package.deb',
    'package.rpm',
    'package.deb.cdx.json',
    'verify',
)


@pytest.fixture
def files(tmp_path) -> Path:
    """A folder with a file of each kind, checksums as tools/release writes them, and their
    signature.
    """
    folder = tmp_path / 'files'
    folder.mkdir()
    for name in KINDS:
        (folder / name).write_text(f'content of {name}')
    shutil.copy(ROOT / 'tools/verify', folder)
    summed(folder)
    for name in ('key', 'other'):
        subprocess.run(
            [
                'ssh-keygen',
                '-q',
                '-t',
                'ed25519',
                '-N',
                '',
                '-C',
                name,
                '-f',
                str(tmp_path / name),
            ],
            check=True,
        )
        (tmp_path / f'{name}.signers').write_text(
            f'release {(tmp_path / f"{name}.pub").read_text()}'
        )
    signed(folder)
    return folder


def summed(folder: Path) -> None:
    sums = subprocess.run(
        ['sha256sum', '--', *KINDS], cwd=folder, check=True, capture_output=True
    ).stdout
    (folder / 'SHA256SUMS').write_bytes(sums)


def signed(folder: Path, name: str = 'key') -> None:
    (folder / 'SHA256SUMS.sig').unlink(missing_ok=True)
    subprocess.run(
        [
            'ssh-keygen',
            '-q',
            '-Y',
            'sign',
            '-f',
            str(folder.parent / name),
            '-n',
            'check_smart_attributes',
            'SHA256SUMS',
        ],
        cwd=folder,
        check=True,
        capture_output=True,
    )


def verified(folder: Path, signers: str = '../key.signers') -> tuple[bool, str]:
    """Return whether the files are as they were released, and the last line that the script
    prints.
    """
    done = subprocess.run(
        ['sh', str(ROOT / 'tools/verify'), signers],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    return done.returncode == 0, (done.stdout + done.stderr).splitlines()[-1]


@needs('ssh-keygen')
def test_the_files_of_a_release_are_verified_offline(files):
    """All of them, or those that somebody needs."""
    right = (True, 'verified: files of release 2.0.0')
    assert verified(files) == right
    for name in KINDS[2:]:
        (files / name).unlink()
    assert verified(files) == right
    assert verified(files, '--unsigned') == (
        True,
        'undamaged, but not verified: files of release 2.0.0',
    )


def test_the_program_that_verifies_is_named_where_it_is_missing(tmp_path):
    """A fresh Debian has no ssh-keygen; the files are not to blame."""
    done = subprocess.run(
        ['/bin/sh', str(ROOT / 'tools/verify'), 'signers'],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={'PATH': str(tmp_path)},
    )

    assert (done.returncode, 'apt install openssh-client' in done.stderr) == (1, True)


@needs('ssh-keygen')
@pytest.mark.parametrize('name', KINDS)
def test_a_file_that_was_changed_is_refused(files, name):
    """One byte more, in a file of each kind; with and without a look at the signature."""
    with (files / name).open('a') as file:
        file.write(' ')

    for signers in ('../key.signers', '--unsigned'):
        is_right, said = verified(files, signers)
        assert not is_right and said.endswith(' FAILED')


@needs('ssh-keygen')
def test_checksums_that_fit_changed_files_are_refused(files):
    """Whoever can change the files can make new checksums, but not their signature; nor sign
    with a key of his own.
    """
    (files / 'package.deb').write_text('another one')
    summed(files)
    refused = (
        False,
        'verify: SHA256SUMS is not signed by a key in ../key.signers; do not install these files',
    )

    assert verified(files, '--unsigned')[0]
    assert verified(files) == refused
    signed(files, 'other')
    assert verified(files) == refused
    signed(files)
    lines = (files / 'SHA256SUMS.sig').read_text().splitlines()
    (files / 'SHA256SUMS.sig').write_text(
        '\n'.join([*lines[:-3], lines[-3][::-1], *lines[-2:]])
    )
    assert verified(files) == refused
    (files / 'SHA256SUMS.sig').unlink()
    assert verified(files) == refused


@needs('ssh-keygen')
@pytest.mark.parametrize('name', ['-n.deb', 'with space.rpm', '.hidden', '..hidden'])
def test_a_file_that_is_not_of_the_release_is_refused(files, name):
    """Its name may be like that of the file that somebody looks for."""
    (files / name).write_text('planted')

    is_right, said = verified(files)
    assert not is_right and name in said and ' not in SHA256SUMS' in said


@pytest.mark.long
def test_the_bill_of_materials_lists_what_is_in_the_program(released, tmp_path):
    """Each library with its version, license and pinned hashes; what only builds it is excluded;
    twice the same.
    """
    path = released / 'check_smart_attributes.pyz'
    bill = sbom.bill(path, VERSION, 0, sbom.metadata(path))
    inside = {
        each['name']: each for each in bill['components'] if each['scope'] == 'required'
    }
    pinned = set(
        re.findall(
            '^([a-z0-9-]+)==',
            (ROOT / 'requirements/zipapp.txt').read_text(),
            re.MULTILINE,
        )
    )

    assert set(inside) == pinned and 'nagiosplugin' in pinned
    assert all(
        each['version'] and each['licenses'] and each['properties']
        for each in inside.values()
    )
    assert 'hatchling' in {
        each['name'] for each in bill['components'] if each['scope'] == 'excluded'
    }
    assert json.dumps(bill) == json.dumps(
        sbom.bill(path, VERSION, 0, sbom.metadata(path))
    )


def test_a_program_with_another_library_than_the_pinned_ones_gets_no_bill(
    released, tmp_path
):
    """The bill is of the file, not of what the file ought to be."""
    changed = Path(shutil.copy(released / 'check_smart_attributes.pyz', tmp_path))
    with zipfile.ZipFile(changed, 'a') as archive:
        archive.writestr(
            'planted-1.0.dist-info/METADATA', 'Name: planted\nVersion: 1.0\n'
        )

    with pytest.raises(SystemExit, match=r"'planted', '1.0'"):
        sbom.bill(changed, VERSION, 0, {})
