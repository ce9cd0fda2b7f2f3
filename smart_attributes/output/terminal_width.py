"""How wide the output is: the width that COLUMNS names, else the terminal's, else what suits a pipe."""
from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

NARROWEST = 40        # columns that leave room for a drive's name; fewer would cut off states
WIDEST = 10_000       # columns that rich fills in reasonable time
_SIZE = 80, 24        # of a terminal that does not report its own


def console(pipe_width: int) -> Console:
    """Return rich's console for standard output.

    pipe_width: columns where standard output is not a terminal and COLUMNS does not name a width.
    rich itself ignores COLUMNS in a pipe and raises ValueError for values such as "²", so it gets a width
    and a height and never looks. shutil ignores what is not a positive number.
    """
    from rich.console import Console

    usual = _SIZE[0] if Console(width=_SIZE[0], height=_SIZE[1]).is_terminal else pipe_width
    # Its width cannot be changed later with rich 9, which Debian 11 has.
    return Console(width=max(NARROWEST, min(shutil.get_terminal_size((usual, _SIZE[1])).columns, WIDEST)),
                   height=_SIZE[1])
