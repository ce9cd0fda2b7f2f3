"""A progress line while drives are read, shown only on a terminal."""
from __future__ import annotations

import shutil
import sys
from typing import Collection, Optional, TextIO

from ..words import clean, listed

NAMED = 3        # pending drives listed by name
FORGET = '\r\x1b[K'


class ProgressLine:
    """A line that is rewritten as drives answer, and erased at the end."""

    def __init__(self, stream: Optional[TextIO] = None) -> None:
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
