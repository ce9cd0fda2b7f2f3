"""Who else could change a path: owners, modes, links and access-control lists."""

import os
import subprocess

import abilities
import pytest

from smart_attributes import trust

OTHER, MANY = 65534, 12345  # a user and a group that are nobody's
OWNED, OPEN = 'does not belong to root', 'is writable by others'
ME = abilities.USER
as_root = pytest.mark.skipif(ME != 0, reason='only root can give files away')
needs_acl = abilities.needs('setfacl')


@pytest.fixture
def file(tmp_path):
    """A file of one's own, in a folder of its own."""
    folder = tmp_path / 'folder'
    folder.mkdir(mode=0o755)
    path = folder / 'site.json'
    path.write_text('{}')
    path.chmod(0o644)
    return path


def test_what_only_one_self_could_have_written_is_trusted(file):
    """For root and for everybody else; links of one's own count as well."""
    (file.parent / 'link').symlink_to('../folder/site.json')

    assert trust.fault(str(file), ME) == ''
    assert trust.fault(str(file.parent / 'link'), ME) == ''
    assert trust.fault('/etc/passwd', OTHER) == ''


@as_root
@pytest.mark.parametrize('name', ['site.json', '.', 'link'])
def test_one_step_of_another_owner_is_enough(file, name):
    """`chown -R nagios` of a folder that nobody else may write to: nagios may, file, folder and
    link alike.
    """
    link = file.parent / 'link'
    link.symlink_to('site.json')
    foreign = file.parent / name
    os.chown(foreign, OTHER, -1, follow_symlinks=False)

    assert trust.fault(str(link), 0) == f'{foreign} {OWNED}'.replace('/.', '')
    assert trust.fault(str(link), 1) == f'{foreign} {OWNED} or to you'.replace('/.', '')
    assert trust.fault(str(link), OTHER) == ''


@as_root
def test_a_link_of_another_is_seen_however_deep_it_lies(file, tmp_path):
    """It leads through a folder of another, who can turn it."""
    foreign = tmp_path / 'foreign'
    foreign.mkdir()
    os.chown(foreign, OTHER, -1)
    (foreign / 'back').symlink_to(file)
    (tmp_path / 'first').symlink_to('foreign/back')

    assert trust.fault(str(tmp_path / 'first'), 0) == f'{foreign} {OWNED}'


@as_root
@pytest.mark.parametrize(
    ('name', 'mode', 'group', 'is_open'),
    [
        ('site.json', 0o666, 0, True),
        ('site.json', 0o664, MANY, True),
        ('.', 0o777, 0, True),
        ('.', 0o775, MANY, True),
        # the group of root
        ('site.json', 0o664, 0, False),
        ('site.json', 0o640, MANY, False),
    ],
)
def test_modes_that_let_others_write_are_seen(file, name, mode, group, is_open):
    """In a file, or in a folder in which it could be replaced."""
    changed = file.parent / name
    os.chown(changed, 0, group)
    changed.chmod(mode)

    assert trust.fault(str(file), 0) == (
        f'{changed} {OPEN}'.replace('/.', '') if is_open else ''
    )


@as_root
def test_in_a_folder_like_tmp_the_owner_decides(file):
    """Nobody can replace there what is another's."""
    file.parent.chmod(0o1777)
    assert trust.fault(str(file), 0) == ''

    os.chown(file, OTHER, -1)
    assert trust.fault(str(file), 0) == f'{file} {OWNED}'


@as_root
@needs_acl
@pytest.mark.parametrize(
    ('entry', 'is_foreign'),
    [
        (f'u:{OTHER}:rw', True),
        (f'g:{MANY}:rw', True),
        (f'u:{OTHER}:r', False),
        ('u:0:rw', False),
        (f'u:{OTHER}:rw,m::r', False),
    ],
)
def test_an_access_control_list_counts(file, entry, is_foreign):
    """It shows as bits of root's own group, which would be fine."""
    subprocess.run(['setfacl', '-m', entry, file], check=True)
    assert file.stat().st_gid == 0

    assert trust.fault(str(file), 0) == (f'{file} {OPEN}' if is_foreign else '')


@as_root
@needs_acl
@pytest.mark.parametrize(('user', 'is_foreign'), [(OTHER, False), (OTHER - 1, True)])
def test_an_access_control_list_may_name_oneself(file, user, is_foreign):
    """What I may write is mine."""
    subprocess.run(['setfacl', '-m', f'u:{user}:rw', file], check=True)

    assert bool(trust.fault(str(file), OTHER)) is is_foreign


@as_root
@needs_acl
def test_the_list_and_not_the_mask_says_what_a_group_may(file):
    """setfacl widens the mask, which a plain look takes for the group's own right."""
    os.chown(file, 0, MANY)
    subprocess.run(['setfacl', '-m', 'u:0:rw', file], check=True)
    assert file.stat().st_mode & 0o020
    assert trust.fault(str(file), 0) == ''

    subprocess.run(['setfacl', '-m', 'g::rw', file], check=True)
    assert trust.fault(str(file), 0) == f'{file} {OPEN}'


def test_steps_are_those_of_the_kernel(tmp_path):
    """ ".." leaves the folder that a link leads to, not the one where the link lies."""
    (tmp_path / 'a' / 'b').mkdir(parents=True)
    (tmp_path / 'link').symlink_to('a/b')

    assert list(trust.steps(f'{tmp_path}/link/../x'))[-4:] == [
        f'{tmp_path}/link',
        f'{tmp_path}/a',
        f'{tmp_path}/a/b',
        f'{tmp_path}/a/x',
    ]


def test_steps_leave_out_what_leads_nowhere(file):
    """Doubled slashes and single points are no folders; a link may lead anywhere."""
    (file.parent / 'away').symlink_to(file)
    here = str(file.parent)

    assert list(trust.steps(f'{here}//./site.json')) == list(trust.steps(str(file)))
    assert list(trust.steps(f'{here}/away')) == [
        *trust.steps(here),
        f'{here}/away',
        *list(trust.steps(str(file)))[1:],
    ]


def test_a_whole_path_needs_no_working_directory(tmp_path, monkeypatch):
    """A daemon may stand in a folder that is gone."""
    monkeypatch.chdir(tmp_path)
    tmp_path.rmdir()

    assert [*trust.steps('/etc')] == ['/', '/etc']


def test_a_path_may_be_relative(file, monkeypatch):
    """--thresholds takes what a person types; every folder above counts."""
    monkeypatch.chdir(file.parent)

    assert list(trust.steps('site.json')) == list(trust.steps(str(file)))


@pytest.mark.parametrize(('number', 'is_followed'), [(40, True), (41, False)])
def test_as_many_links_are_followed_as_by_the_kernel(file, number, is_followed):
    """No path that a check can read is refused, and none is looked at for ever."""
    target = file
    for position in range(number):
        link = file.parent / f'link{position}'
        link.symlink_to(target.name)
        target = link
    assert os.path.exists(target) is is_followed

    if is_followed:
        assert trust.fault(str(target), ME) == ''
    else:
        with pytest.raises(OSError, match='symbolic links'):
            trust.fault(str(target), ME)


# --- what must not be quoted ---


def secret(path):
    return trust.foreign_secret(str(path), os.stat(path))


def test_files_that_one_has_led_to_oneself_are_shown(file):
    """Be they secret; and what everybody can read is shown whoever led there."""
    file.chmod(0o600)
    (file.parent / 'link').symlink_to('site.json')

    assert (secret(file), secret(file.parent / 'link'), secret('/etc/passwd')) == (
        '',
        '',
        '',
    )


@as_root
@pytest.mark.parametrize(
    ('folder', 'mode', 'is_shown'),
    [
        (0o755, 0o644, True),
        (0o755, 0o600, False),
        (0o755, 0o640, False),
        (0o700, 0o644, False),
        (0o750, 0o644, False),
    ],
)
def test_a_link_of_another_shows_only_what_he_can_read(
    file, tmp_path, folder, mode, is_shown
):
    """Each folder behind the link counts, as it does for him."""
    link = tmp_path / 'planted.json'
    link.symlink_to(file)
    os.chown(link, OTHER, -1, follow_symlinks=False)
    # pytest-xdist has one level more
    for above in (tmp_path, *list(tmp_path.parents)[:3]):
        above.chmod(above.stat().st_mode | 0o011)
    file.parent.chmod(folder)
    file.chmod(mode)

    assert (secret(link) == '') is is_shown
    assert is_shown or 'who has no access to' in secret(link)


@as_root
def test_his_own_file_is_shown_and_another_ones_is_not(file):
    """He can read it; a second user's private file he cannot."""
    os.chown(file.parent, OTHER, -1)
    os.chown(file, OTHER, -1)
    file.chmod(0o600)
    assert secret(file) == ''
    os.chown(file, OTHER - 1, -1)
    assert 'who has no access to' in secret(file)


@as_root
@pytest.mark.parametrize(
    ('mode', 'group', 'is_shown'),
    [(0o640, MANY, True), (0o640, 4711, False), (0o600, MANY, False)],
)
def test_a_folder_of_a_group_shows_what_the_group_can_read(file, mode, group, is_shown):
    """Each of them could have put a link there."""
    os.chown(file.parent, -1, MANY)
    file.parent.chmod(0o2770)
    os.chown(file, -1, group)
    file.chmod(mode)

    assert (secret(file) == '') is is_shown


@as_root
@needs_acl
def test_a_user_of_a_list_is_not_taken_for_the_group(file):
    """The group can read the file; he need not be in it."""
    os.chown(file.parent, -1, MANY)
    file.parent.chmod(0o770)
    subprocess.run(['setfacl', '-m', f'u:{OTHER}:rwx', str(file.parent)], check=True)
    os.chown(file, -1, MANY)
    file.chmod(0o640)

    assert 'who has no access to' in secret(file)


def test_a_file_that_is_exchanged_meanwhile_is_not_shown(file):
    """What was opened is another one than what stands there now."""
    status = os.stat(file)
    file.rename(file.parent / 'before.json')
    file.write_text('{}')

    assert 'replaced it' in trust.foreign_secret(str(file), status)
