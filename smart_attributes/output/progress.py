"""How far the reading of drives is: one line on the terminal of a person who waits, and nothing anywhere else."""
from __future__ import annotations

import shutil
import sys
from typing import Collection, Optional, TextIO

from ..words import clean

NAMED = 3        # drives that are still waited for
FORGET = '\r\x1b[K'


class ProgressLine:
    """A line that is written anew as the drives answer, and is gone in the end."""

    def __init__(self, stream: Optional[TextIO] = None) -> None:
        self._stream = stream or sys.stderr
        self._is_watched = self._stream.isatty()
        self._is_shown = False

    def __call__(self, done: int, waiting: Collection[str]) -> None:
        """Tell that *done* drives have answered and these have not."""
        if self._is_watched and waiting:
            self._write(FORGET + _line(done, waiting)[:shutil.get_terminal_size().columns - 1])
            self._is_shown = True

    def end(self) -> None:
        """Take the line away, whatever came of the reading."""
        if self._is_shown:
            self._write(FORGET)
            self._is_shown = False

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:  # nobody looks any more
            self._is_watched = False


def _line(done: int, waiting: Collection[str]) -> str:
    """Return "14 of 24 drives read, waiting for sdb, sdc, sdd and 7 more"."""
    named = ', '.join(clean(name, limit=40) for name in sorted(waiting)[:NAMED])
    more = f' and {len(waiting) - NAMED} more' if len(waiting) > NAMED else ''
    return f'{done} of {done + len(waiting)} drives read, waiting for {named}{more}'
