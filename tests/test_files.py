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

as_root = pytest.mark.skipif(not abilities.IS_ROOT or not os.path.exists('/proc/kmsg'),
                             reason='only root may read /proc/kmsg')


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
    """The kernel calls /proc/kmsg a regular file, and whoever reads it waits for the next message."""
    before = time.monotonic()
    result = run(option, '/proc/kmsg', '--report', 'tests/reports/hgst-failed.json', timeout=20)

    assert time.monotonic() - before < SOON
    assert 'inside check_smart_attributes' not in result.text
    assert 'Resource temporarily unavailable' in result.text or 'Operation not permitted' in result.text
