"""What regular files hold, and that nothing else is waited for."""

from __future__ import annotations

import errno
import os
import signal
import time

import abilities
import pytest
from conftest import SOON, run

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
    before = time.monotonic()
    result = run(option, '/proc/kmsg', '--report', 'tests/reports/hgst-failed.json', timeout=20)

    assert time.monotonic() - before < SOON
    assert 'inside check_smart_attributes' not in result.text
    assert (
        'Resource temporarily unavailable' in result.text
        or 'Operation not permitted' in result.text
    )


def test_why_a_file_is_not_read_is_said(tmp_path):
    path = tmp_path / 'file'
    path.touch()
    for other, number, why in (
        (tmp_path, errno.EINVAL, 'it is not a regular file'),
        ('a\0b', errno.EINVAL, 'embedded null byte'),
    ):
        with pytest.raises(OSError, match=why) as caught:
            files.content(str(other), 10)
        assert caught.value.errno == number
    with pytest.raises(NotADirectoryError):
        files.content(f'{path}/inside', 10)
    with pytest.raises(files.NotShown, match=f'{path} has 0 bytes'):
        files.content(str(path), 10, lambda name, status: f'{name} has {status.st_size} bytes')
    os.truncate(path, 4 << 20)
    with pytest.raises(OSError, match='larger than 3 MiB'):
        files.content(str(path), 3 << 20)


def test_a_file_inside_the_single_file_program_is_read_from_it(tmp_path, monkeypatch):
    class Loader:
        def get_data(self, path: str) -> bytes:
            return path.encode()

    (tmp_path / 'program').touch()
    monkeypatch.setattr(files, 'PROGRAM', f'{tmp_path}/program/package')
    monkeypatch.setattr(files, '__loader__', Loader())

    assert (
        files.content(f'{tmp_path}/program/package/x', 10)
        == f'{tmp_path}/program/package/x'.encode()
    )
    with pytest.raises(NotADirectoryError):
        files.content(f'{tmp_path}/program/x', 10)


def test_text_is_read_and_replaced_whatever_it_holds(tmp_path, monkeypatch):
    path = tmp_path / 'file'
    path.write_bytes(b'a\xffb')
    assert files.text(str(path), 10) == 'a\ufffdb'
    assert files.text(str(path), 2) == ''

    monkeypatch.chdir(tmp_path)
    for text, written in (('a\ud800b', b'a?b'), (['one', 'two'], b'onetwo')):
        files.replace(text, 'file', 0o604)
        assert (path.read_bytes(), path.stat().st_mode & 0o777) == (written, 0o604)
