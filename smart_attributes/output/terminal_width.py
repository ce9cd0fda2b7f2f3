"""The width of the output: the value of COLUMNS, else the terminal's width, else a width suited to pipes."""
from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

NARROWEST = 40        # columns needed for a drive's name; with fewer, states would be truncated
WIDEST = 10_000       # columns that rich can fill in reasonable time
_SIZE = 80, 24        # size of a terminal that does not report it


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
