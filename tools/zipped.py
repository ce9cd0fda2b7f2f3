#!/usr/bin/env python3
"""Make a folder a program of one file, the same byte for byte wherever, whenever and by whomever it
is made.

Usage: tools/zipped.py FOLDER PROGRAM SECONDS        (the time of all files in it, since 1970)

Python's own zipapp takes files in the order in which a folder lists them, with their times and
modes.
"""

from __future__ import annotations

import sys
import time
import zipfile
from pathlib import Path

# -I: nothing of the caller's is imported. -S: nothing that is installed, either; all that is needed
# is in the file.
FIRST_LINE = b'#!/usr/bin/python3 -IS\n'
READABLE = 0o100644 << 16


def write(folder: Path, program: Path, seconds: int) -> None:
    """Write the program. It is executable; what is in it is readable."""
    date = time.gmtime(seconds)[:6]
    program.unlink(missing_ok=True)
    with program.open('xb') as file:
        file.write(FIRST_LINE)
        with zipfile.ZipFile(file, 'w', zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(path for path in folder.rglob('*') if path.is_file()):
                info = zipfile.ZipInfo(path.relative_to(folder).as_posix(), date)
                info.external_attr, info.compress_type = READABLE, zipfile.ZIP_DEFLATED
                archive.writestr(info, path.read_bytes())
    program.chmod(0o755)


if __name__ == '__main__':
    write(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
