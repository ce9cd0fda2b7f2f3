"""Data files: opened with care, and refused with one sentence that says where and what."""

import json
import os

import abilities
import pytest

from smart_attributes.errors import DataError
from smart_attributes.knowledge import data_file, shipped_data

AS_ROOT = pytest.mark.skipif(
    not abilities.IS_ROOT, reason='needs root: only root can own files of others'
)


ENTRIES = {
    'entries': [
        {
            'family': 'ACME X1',
            'models': ['ACME X1-.*'],
            'source': 'measured on 3 drives',
        }
    ]
}


# --- the shipped files -------------------------------------------------------------


def test_shipped_files_are_found_inside_the_package_first(tmp_path, monkeypatch):
    """A wheel carries them inside; a checkout and the Debian package beside."""
    package = tmp_path / 'smart_attributes'
    package.mkdir()
    (tmp_path / 'attributes.json').write_text('{}')
    monkeypatch.setattr(shipped_data, 'PACKAGE', str(package))
    assert shipped_data.path('attributes.json') == str(tmp_path / 'attributes.json')

    (package / 'attributes.json').write_text('{}')
    assert shipped_data.path('attributes.json') == str(package / 'attributes.json')

    # in a single file
    monkeypatch.setattr(shipped_data, 'PACKAGE', f'{tmp_path}/program.pyz/package')
    assert (
        shipped_data.path('attributes.json')
        == f'{tmp_path}/program.pyz/package/attributes.json'
    )


def test_an_incomplete_installation_says_what_is_missing():
    """Not a traceback: somebody copied only the package."""
    with pytest.raises(
        DataError, match=r'^nothing\.json .*; install check_smart_attributes again$'
    ):
        shipped_data.path('nothing.json')


def test_a_damaged_shipped_file_says_so(tmp_path):
    """A full disk during an update."""
    path = tmp_path / 'attributes.json'
    path.write_text('{"entries": [')

    with pytest.raises(DataError, match='read: Expecting value'):
        shipped_data.load(str(path))


# --- opening -----------------------------------------------------------------------


@pytest.fixture
def site(tmp_path):
    """A good local file."""
    path = tmp_path / 'site.json'
    path.write_text(json.dumps(ENTRIES))
    return path


def unreadable(path):
    with pytest.raises(DataError) as caught:
        data_file.site_text(str(path))
    return str(caught.value)


def test_a_good_file_is_loaded(site):
    """Also with the mark that editors under Windows put before it."""
    assert json.loads(data_file.site_text(str(site))) == ENTRIES

    site.write_text('\ufeff' + json.dumps(ENTRIES), encoding='utf-8')
    assert json.loads(data_file.site_text(str(site))) == ENTRIES


def test_a_link_in_a_folder_of_ones_own_is_followed(site, tmp_path):
    """Configuration management makes such links."""
    (tmp_path / 'link.json').symlink_to('site.json')

    assert json.loads(data_file.site_text(str(tmp_path / 'link.json'))) == ENTRIES


def test_a_link_in_a_folder_that_everybody_writes_to_is_refused(site, tmp_path):
    """Anybody could have put it there, and it could lead anywhere."""
    shared = tmp_path / 'shared'
    shared.mkdir()
    shared.chmod(0o777)
    (shared / 'link.json').symlink_to(site)

    assert f'{shared} is writable' in unreadable(shared / 'link.json')


def huge(path):
    path.touch()
    os.truncate(path, data_file.LARGEST_FILE + 1)


UNREADABLE = {
    'pipe': (
        os.mkfifo,
        ': cannot be read: it is not a regular file; specify a readable file',
    ),
    'folder': (
        os.mkdir,
        ': cannot be read: it is not a regular file; specify a readable file',
    ),
    'nothing': (
        str,
        ': cannot be read: No such file or directory; specify a readable file',
    ),
    'link to itself': (
        lambda path: os.symlink(path, path),
        ': cannot be read: Too many levels of symbolic links; specify a readable file',
    ),
    'huge': (
        huge,
        ': cannot be read: it is larger than 4 MiB; specify a readable file',
    ),
    'Latin-1': (
        lambda path: path.write_bytes('{"comment": "ä"}'.encode('latin-1')),
        ': byte 13 is not UTF-8; save the file as UTF-8',
    ),
}


@pytest.mark.parametrize('case', UNREADABLE)
def test_what_cannot_be_read_is_refused_without_waiting(tmp_path, case):
    """A pipe that nobody writes to would hold the check for ever."""
    make, words = UNREADABLE[case]
    path = tmp_path / 'site.json'
    make(path)

    assert unreadable(path) == f'{path}{words}'
    assert 'cannot be read' in unreadable('a \0')


WRITABLE = (
    'is writable by others; the plugin reads a file only if root alone can change it; to fix this, '
    'use chown, chmod go-w or setfacl -b'
)


@AS_ROOT
@pytest.mark.parametrize(
    'target, mode, group',
    [
        ('site.json', 0o666, 0),
        ('site.json', 0o664, 12345),
        ('.', 0o777, 0),
        ('.', 0o775, 12345),
    ],
)
def test_root_refuses_what_others_can_change(site, target, mode, group):
    """Who can write the file, or replace it in its folder, would tell root what is fine."""
    changed = (site.parent / target).resolve()
    os.chown(changed, 0, group)
    changed.chmod(mode)

    assert unreadable(site) == f'{site}: {changed} {WRITABLE}'


@AS_ROOT
@pytest.mark.parametrize('name', ['link.json', '.'])
def test_root_reads_nothing_through_what_belongs_to_another(tmp_path, name):
    """`chown -R nagios` of the folder: nagios could lead root to any file, whose content would
    stand in the error.
    """
    (tmp_path / 'secret.json').write_text('{"S3CRET": 1}')
    folder = tmp_path / 'folder'
    folder.mkdir(mode=0o755)
    (folder / 'link.json').symlink_to('../secret.json')
    os.chown(folder / name, 12345, -1, follow_symlinks=False)

    sentence = unreadable(folder / 'link.json')

    assert 'belong to root' in sentence
    assert 'S3CRET' not in sentence


@AS_ROOT
def test_root_refuses_a_file_of_others_in_a_folder_like_tmp(site):
    """Everybody can put one there under any name; only root's own are root's."""
    site.parent.chmod(0o1777)
    assert json.loads(data_file.site_text(str(site))) == ENTRIES

    os.chown(site, 12345, 0)
    assert 'belong to root' in unreadable(site)


# --- JSON --------------------------------------------------------------------------


TEXTS = [
    ('{"entries": [}', 'site.json is not valid JSON: line 1, column 14: '),
    (
        '{"entries": []\n "documents": {}}',
        'site.json is not valid JSON: line 2, column 2: ',
    ),
    (
        '\n{"entries": [],\n\n "documents" {}}',
        'site.json is not valid JSON: line 4, column 14: ',
    ),
    (' \n', 'site.json is not valid JSON: line 2, column 1: '),
    ('{"entries": NaN}', 'site.json is not valid JSON: NaN is not a number in JSON'),
    ('[' * 100_000, 'site.json is not valid JSON: it is nested too deeply'),
    (
        '{"a": 1' + '1' * 5000 + '}',
        f'site.json is not valid JSON: the number {"1" * 40}… is too long',
    ),
    ('{"a": ' + '1' * 41 + '}', 'site.json is not valid JSON: the number '),
    ('{"a": 1e999}', 'site.json is not valid JSON: the number 1e999 is too large'),
    ('{"a": -1e999}', 'site.json is not valid JSON: the number -1e999 is too large'),
    # JSON keeps the last one silently, and the first was meant just as much.
    (
        '{"entries": [], "entries": []}',
        'site.json is not valid JSON: an object has the key "entries" twice; keep one',
    ),
]


@pytest.mark.parametrize('text, sentence', TEXTS, ids=range(len(TEXTS)))
def test_what_is_no_json_is_refused_with_line_and_column(text, sentence):
    """An editor jumps there; the line is the one to correct, in whatever words each Python has
    for it.
    """
    with pytest.raises(DataError) as caught:
        data_file.parse(text, 'site.json')
    assert str(caught.value).startswith(sentence)


def test_a_number_of_forty_digits_is_taken():
    """No drive has a longer one."""
    assert data_file.parse('1' * 40, 'site.json') == int('1' * 40)
