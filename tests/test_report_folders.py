"""A folder of reports: each file is judged, UNKNOWN, or counted in the first line."""

import errno
import gzip
import os
from pathlib import Path
from typing import Any

import pytest
from conftest import drive, run

from smart_attributes.errors import NotAReport
from smart_attributes.model import Read, Report
from smart_attributes.reading import recorded

FAILED = drive('hgst-failed')


@pytest.fixture
def folder(tmp_path) -> Path:
    """A folder with the report of a healthy drive."""
    (tmp_path / 'sda.json').write_bytes(drive('intel-s3500-healthy'))
    return tmp_path


BAD = {
    'blanks': lambda path: path.write_bytes(FAILED + b' ' * (5 << 20)),
    'cut': lambda path: path.write_bytes(FAILED[: len(FAILED) // 2]),
    'compressed': lambda path: path.write_bytes(gzip.compress(FAILED)),
    'fifo': os.mkfifo,
    'broken link': lambda path: path.symlink_to('/nonexistent'),
    'link to a folder': lambda path: path.symlink_to('/'),
    'empty': Path.touch,
}


@pytest.mark.parametrize('kind', BAD)
def test_a_file_named_like_a_report_and_not_read_is_unknown(folder, kind):
    BAD[kind](folder / 'a.json')

    result = run('--report', str(folder))

    assert result.code == 3
    assert result.first_line.startswith('SMART UNKNOWN - a ')
    assert result.line_of('a').startswith('UNKNOWN')


@pytest.mark.parametrize('kind', sorted({*BAD} - {'empty', 'cut'}))
def test_other_files_are_counted_in_the_first_line(folder, kind):
    BAD[kind](folder / 'a.bin')
    (folder / 'notes.md').write_text('call the vendor')

    result = run('--report', str(folder))

    assert result.code == 0
    assert '2 files' in result.first_line and ': a.bin, notes.md' in result.first_line


def test_folders_of_hosts_are_no_files(folder):
    """Nor is one a report whose name has a dot, or the word that names of reports have."""
    for name in ('web1.example.org', 'smart.old'):
        (folder / name).mkdir()
        (folder / name / 'sdb.json').write_bytes(drive('intel-worn'))

    result = run('--report', str(folder))

    assert result.code == 1
    assert (
        '3 drives: 2 warning, 1 ok' in result.first_line
        and 'file' not in result.first_line
    )


def test_a_folder_that_cannot_be_listed_is_unknown(folder, monkeypatch):
    """As one of another user; root may list every folder."""
    closed = folder / 'closed'
    closed.mkdir()
    listed = os.scandir

    def refused(path: str) -> Any:
        if path == str(closed):
            raise PermissionError(errno.EACCES, 'Permission denied', path)
        return listed(path)

    monkeypatch.setattr(os, 'scandir', refused)
    reads: list[Read] = []

    assert recorded.read_files([str(folder)], reads) == []
    assert [type(read.outcome) for read in reads] == [Report, NotAReport]
    assert reads[1].device.path == str(closed)
