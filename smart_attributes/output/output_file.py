"""A file that others read while we write it: they see the old one or the new one, never half of one."""
from __future__ import annotations

import os
import stat
import tempfile

from ..errors import SmartError
from ..words import visible

MODE = 0o644
PART = 1 << 20   # characters that are encoded at once


def write(text: str, path: str) -> None:
    """Write the file in one step, readable for everybody. Raises SmartError."""
    if os.path.exists(path) and not stat.S_ISREG(os.stat(path).st_mode):
        # The step would put a file in the place of a device: as root, of /dev/null.
        raise SmartError(f'{visible(path)}: cannot be written: it is no regular file; name another')
    try:
        _replaced(text, path)
    except OSError as error:
        raise SmartError(f'{visible(path)}: cannot be written: {error.strerror}; '
                         'name a file in a folder that you may write to') from None


def _replaced(text: str, path: str) -> None:
    folder, name = os.path.split(os.path.abspath(path))
    descriptor, temporary = tempfile.mkstemp(dir=folder, prefix=f'.{name}')
    try:
        with open(descriptor, 'w', encoding='utf-8', errors='replace') as file:
            for start in range(0, len(text), PART):
                file.write(text[start:start + PART])
            os.fchmod(file.fileno(), MODE)
        os.replace(temporary, path)
    except OSError:
        os.unlink(temporary)
        raise
