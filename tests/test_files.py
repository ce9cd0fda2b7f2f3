"""What regular files hold, and that nothing else is waited for."""

import errno
import os
import signal
from types import SimpleNamespace

import abilities
import pytest
from conftest import run

from smart_attributes import files

as_root = pytest.mark.skipif(
    not abilities.IS_ROOT or not os.path.exists('/proc/kmsg'),
    reason='only root may read /proc/kmsg',
)


def test_a_file_of_exactly_the_size_is_read_and_one_byte_more_is_not(tmp_path):
    """What is larger is no file of ours, and no parser shall see it."""
    path = tmp_path / 'file'
    path.write_bytes(b'x' * 1000)
    assert files.content(str(path), 1000) == b'x' * 1000

    with pytest.raises(OSError, match='larger than') as caught:
        files.content(str(path), 999)
    assert caught.value.errno == errno.EFBIG


def test_pipes_and_folders_are_not_waited_for(tmp_path):
    """Nobody writes to the other end."""
    os.mkfifo(tmp_path / 'pipe')
    signal.alarm(10)
    try:
        for path in (tmp_path / 'pipe', tmp_path, '/dev/null'):
            with pytest.raises(files.NotRegular):
                files.content(str(path), 10)
    finally:
        signal.alarm(0)


@pytest.mark.xdist_group('time')
@as_root
@pytest.mark.parametrize('option', ['--report', '--thresholds', '--attributes'])
def test_a_file_that_only_looks_regular_is_not_waited_for(option):
    """The kernel calls /proc/kmsg a regular file, and whoever reads it waits for the next
    message.
    """
    text = run(
        option, '/proc/kmsg', '--report', 'tests/reports/hgst-failed.json', timeout=20
    ).text

    assert '[internal-error]' not in text and 'inside check_smart' not in text
    assert 'temporarily unavailable' in text or 'Operation not permitted' in text


@pytest.mark.parametrize(
    'name, error, why',
    [
        ('', errno.EINVAL, 'not a regular'),
        ('file/inside', errno.ENOTDIR, 'Not a directory'),
        ('large', errno.EFBIG, 'larger than 3 MiB'),
    ],
)
def test_why_a_file_is_not_read_is_said(tmp_path, name, error, why):
    (tmp_path / 'file').touch()
    (tmp_path / 'large').touch()
    os.truncate(tmp_path / 'large', 4 << 20)

    with pytest.raises(OSError, match=why) as caught:
        files.content(f'{tmp_path}/{name}', 3 << 20)

    assert caught.value.errno == error


def test_a_name_that_no_file_can_have_is_an_error_like_others():
    with pytest.raises(OSError, match='null') as caught:
        files.content('a\0b', 10)

    assert caught.value.errno == errno.EINVAL


def test_a_caller_may_refuse_a_file_by_its_status(tmp_path):
    (tmp_path / 'file').touch()
    with pytest.raises(files.NotShown, match='file: 0'):
        files.content(
            str(tmp_path / 'file'), 10, lambda name, status: f'{name}: {status.st_size}'
        )


def test_a_file_inside_the_single_file_program_is_read_from_it(tmp_path, monkeypatch):
    program = tmp_path / 'program'
    program.touch()
    loader = SimpleNamespace(get_data=str.encode)
    monkeypatch.setattr(files, 'PROGRAM', f'{program}/package')
    monkeypatch.setattr(files, '__loader__', loader)

    assert files.content(f'{program}/package/x', 10) == f'{program}/package/x'.encode()
    with pytest.raises(NotADirectoryError):
        files.content(f'{program}/x', 10)


def test_text_is_read_and_replaced_whatever_it_holds(tmp_path, monkeypatch):
    path = tmp_path / 'file'
    path.write_bytes(b'a\xffb')
    assert files.text(str(path), 10) == 'a\ufffdb'
    assert files.text(str(path), 2) == ''

    monkeypatch.chdir(tmp_path)
    for text, written in (('a\ud800b', b'a?b'), (['one', 'two'], b'onetwo')):
        files.replace(text, 'file', 0o604)
        assert (path.read_bytes(), path.stat().st_mode & 0o777) == (written, 0o604)
