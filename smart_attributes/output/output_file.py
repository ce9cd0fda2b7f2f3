"""Write an output file atomically, so that other programs see the old file or the new one, never a partial one."""
from __future__ import annotations

import os
import stat
from collections.abc import Sequence

from .. import files
from ..errors import SmartError
from ..words import visible


def write(text: str | Sequence[str], path: str) -> None:
    """Replace the file at *path* atomically; all users can read it. Raises SmartError if it cannot be written.

    text: of the file, or its parts.
    """
    if os.path.exists(path) and not stat.S_ISREG(os.stat(path).st_mode):
        # The replacement would turn a device into a regular file: as root, even /dev/null.
        raise SmartError(f'{visible(path)}: cannot be written: it is not a regular file; use another path')
    try:
        files.replace(text, path)
    except OSError as error:
        raise SmartError(f'{visible(path)}: cannot be written: {error.strerror}; '
                         'use a path in a directory that you can write to') from None
