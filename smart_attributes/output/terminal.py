"""Terminals: their width for rich, or a width suited to pipes, and a progress line while drives are read."""
from __future__ import annotations

import shutil
import sys
from collections.abc import Collection
from typing import TextIO

from ..typed import TYPE_CHECKING
from ..wording import listed
from ..words import clean

if TYPE_CHECKING:
    from rich.console import Console

NARROWEST = 40        # columns needed for a drive's name; with fewer, states would be truncated
WIDEST = 10_000       # columns that rich can fill in reasonable time
_SIZE = 80, 24        # size of a terminal that does not report it
NAMED = 3        # pending drives listed by name
FORGET = '\r\x1b[K'


def console(pipe_width: int) -> Console:
    """Return rich's console for standard output.

    pipe_width: columns to use if standard output is not a terminal and COLUMNS is not set to a width.
    rich itself ignores COLUMNS in a pipe and raises ValueError for values such as "²", so this sets
    both width and height. shutil ignores values that are not positive numbers.
    """
    from rich.console import Console

    usual = _SIZE[0] if Console(width=_SIZE[0], height=_SIZE[1]).is_terminal else pipe_width
    # With rich 9, which Debian 11 has, the width cannot be changed later.
    return Console(width=max(NARROWEST, min(shutil.get_terminal_size((usual, _SIZE[1])).columns, WIDEST)),
                   height=_SIZE[1])


class ProgressLine:
    """A line that is rewritten as drives answer, and erased at the end."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._is_watched = self._stream.isatty()
        self._is_shown = False

    def __call__(self, done: int, waiting: Collection[str]) -> None:
        """Show that *done* drives have answered and that those in *waiting* have not."""
        if self._is_watched and waiting:
            self._write(FORGET + _line(done, waiting)[:shutil.get_terminal_size().columns - 1])
            self._is_shown = True

    def end(self) -> None:
        """Erase the line, even if reading the drives failed."""
        if self._is_shown:
            self._write(FORGET)
            self._is_shown = False

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:  # the terminal is gone
            self._is_watched = False


def _line(done: int, waiting: Collection[str]) -> str:
    """Return "14 of 24 drives read, waiting for sdb, sdc, sdd and 7 more"."""
    named = listed([clean(name, limit=40) for name in sorted(waiting)], NAMED)
    return f'{done} of {done + len(waiting)} drives read, waiting for {named}'
