"""How wide and high the output is."""

from __future__ import annotations

import io
import sys

import pytest

from smart_attributes.output import triage_table


class Terminal(io.StringIO):
    """Standard output that is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    'output, columns, width',
    [
        (io.StringIO, None, 140),
        (Terminal, None, 80),
        (io.StringIO, '100', 100),
        (Terminal, '100', 100),
        (io.StringIO, '1', 40),
        (io.StringIO, '99999', 10_000),
        (io.StringIO, '²', 140),
        (io.StringIO, '-5', 140),
    ],
)
def test_the_width_is_that_of_columns_else_what_suits_the_output(
    monkeypatch, output, columns, width
):
    """A name of COLUMNS that is not a number counts as none; the height never depends on LINES."""
    for name in ('COLUMNS', 'FORCE_COLOR', 'TTY_COMPATIBLE', 'TERM'):
        monkeypatch.delenv(name, raising=False)
    if columns is not None:
        monkeypatch.setenv('COLUMNS', columns)
    monkeypatch.setenv('LINES', '²')
    monkeypatch.setattr(sys, '__stdout__', None)
    monkeypatch.setattr(sys, 'stdout', output())
    found = triage_table.console(140)

    assert (found.width, found.height) == (width, 24)
