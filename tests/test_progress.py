"""The line for a person who waits: how many drives answered, who is missing; gone in the end."""

from __future__ import annotations

import io

import pytest

from smart_attributes.commands.person import FORGET, ProgressLine


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def watched(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Make stderr a terminal; pytest takes back one that a fixture has set."""
    stream = Terminal()
    monkeypatch.setattr('sys.stderr', stream)
    monkeypatch.setenv('COLUMNS', '120')
    return stream


@pytest.mark.parametrize(
    'done, waiting, line',
    [
        (21, ['sdc', 'sda', 'sdb'], '21 of 24 drives read in 7 s, waiting for sda, sdb, sdc'),
        (
            20,
            ['sdd', 'sdc', 'sda', 'sdb'],
            '20 of 24 drives read in 7 s, waiting for sda, sdb, sdc and 1 more',
        ),
        (1, ['d\x07e'], '1 of 2 drives read in 7 s, waiting for d e'),
        (1, ['x' * 99], f'1 of 2 drives read in 7 s, waiting for {"x" * 37}...'),
    ],
)
def test_the_line_names_three_drives_that_are_waited_for(monkeypatch, done, waiting, line):
    terminal = watched(monkeypatch)
    clock = iter((100.0, 107.4))
    monkeypatch.setattr('smart_attributes.commands.person.time.monotonic', lambda: next(clock))
    ProgressLine()(done, waiting)

    assert terminal.getvalue() == FORGET + line


def test_the_line_is_shorter_than_the_terminal_and_taken_away_in_the_end(monkeypatch):
    """A line that wraps cannot be taken away."""
    terminal = watched(monkeypatch)
    monkeypatch.setenv('COLUMNS', '19')
    line = ProgressLine()
    line(0, ['sda'])
    line.end()

    assert terminal.getvalue() == f'{FORGET}0 of 1 drives read{FORGET}'


@pytest.mark.parametrize('stream', [io.StringIO(), None], ids=['pipe', 'closed'])
def test_nothing_is_written_to_a_pipe(monkeypatch, stream):
    monkeypatch.setattr('sys.stderr', stream)
    line = ProgressLine()
    line(3, ['sda'])
    line.end()

    assert stream is None or stream.getvalue() == ''
