"""The line for a person who waits: how many drives answered, who is missing; gone in the end."""

from __future__ import annotations

import io

import pytest

from smart_attributes.commands.person import FORGET, ProgressLine


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Closed(Terminal):
    tried = 0

    def write(self, text: str) -> int:
        self.tried += 1
        raise BrokenPipeError(32, 'Broken pipe')


@pytest.fixture(autouse=True)
def columns(monkeypatch):
    monkeypatch.setenv('COLUMNS', '120')


@pytest.mark.parametrize(
    'done, waiting, line',
    [
        (21, ['sdc', 'sda', 'sdb'], '21 of 24 drives read in 0 s, waiting for sda, sdb, sdc'),
        (
            20,
            ['sdd', 'sdc', 'sda', 'sdb'],
            '20 of 24 drives read in 0 s, waiting for sda, sdb, sdc and 1 more',
        ),
        (1, ['d\x07e'], '1 of 2 drives read in 0 s, waiting for d e'),
        (1, ['x' * 99], f'1 of 2 drives read in 0 s, waiting for {"x" * 37}...'),
    ],
)
def test_the_line_names_three_drives_that_are_waited_for(done, waiting, line):
    stream = Terminal()
    ProgressLine(stream)(done, waiting)

    assert stream.getvalue() == FORGET + line


def test_the_line_is_shorter_than_the_terminal(monkeypatch):
    """A line that wraps cannot be taken away."""
    monkeypatch.setenv('COLUMNS', '19')
    stream = Terminal()
    ProgressLine(stream)(0, ['sda'])

    assert stream.getvalue().endswith('0 of 1 drives read')


def test_the_line_says_for_how_long_drives_have_been_read(monkeypatch):
    clock = iter((100.0, 107.4))
    monkeypatch.setattr('smart_attributes.commands.person.time.monotonic', lambda: next(clock))
    stream = Terminal()
    ProgressLine(stream)(1, ['sda'])

    assert ' in 7 s, ' in stream.getvalue()


def test_the_line_is_taken_away_once():
    stream = Terminal()
    line = ProgressLine(stream)
    line.end()
    assert stream.getvalue() == ''
    line(0, ['sda'])
    line.end()
    line.end()

    assert stream.getvalue().count(FORGET) == 2 and stream.getvalue().endswith(FORGET)


@pytest.mark.parametrize(
    'stream, waiting', [(io.StringIO(), ['sda']), (Terminal(), [])], ids=['pipe', 'all-answered']
)
def test_nothing_is_written_to_a_pipe_or_when_all_answered(stream, waiting):
    line = ProgressLine(stream)
    line(3, waiting)
    line.end()

    assert stream.getvalue() == ''


def test_a_terminal_that_is_gone_is_no_error_and_is_left_alone():
    stream = Closed()
    line = ProgressLine(stream)
    line(0, ['sda'])
    line(1, ['sdb'])

    assert stream.tried == 1
    line.end()
