"""A picture of what the program prints on a terminal: the real program, run on sample drives, as
rich exports it.
"""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Sequence
from pathlib import Path

from described import ROOT
from rich.console import Console
from rich.text import Text

PICTURE = ROOT / 'doc' / 'triage.svg'
DRIVES = 'tests/reports'
COLUMNS = 112
COMMAND = ('check_smart_attributes', 'triage')


def printed(
    columns: int = COLUMNS,
    arguments: Sequence[str] = ('--report', DRIVES),
    **variables: str,
) -> str:
    """Return what `triage` prints on a terminal, colours included; of the sample drives unless
    told otherwise.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack('HHHH', 50, columns, 0, 0))
    arguments = [sys.executable, str(ROOT / COMMAND[0]), *COMMAND[1:], *arguments]
    environment = {
        'TERM': 'xterm-256color',
        'COLORTERM': 'truecolor',
        'PATH': '/usr/bin:/bin',
        'LC_ALL': 'C.UTF-8',
        'XDG_STATE_HOME': os.environ.get('XDG_STATE_HOME', ''),
        **variables,
    }
    process = subprocess.Popen(
        arguments,
        stdout=theirs,
        stderr=theirs,
        stdin=subprocess.DEVNULL,
        cwd=ROOT,
        env=environment,
    )
    os.close(theirs)
    text = b''
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError:  # the other end of a terminal that is gone
            break
        if not chunk:
            break
        text += chunk
    os.close(ours)
    process.wait()
    return text.decode().replace('\r\n', '\n').rstrip()


def picture(shown: str) -> str:
    """Return the SVG of a terminal in which the command was typed."""
    console = Console(
        record=True,
        width=COLUMNS,
        file=io.StringIO(),
        force_terminal=True,
        legacy_windows=False,
    )
    console.print(Text('$ ' + ' '.join(COMMAND), 'bold'))
    console.print(Text.from_ansi(shown))
    return console.export_svg(title=' '.join(COMMAND), unique_id='triage')


def plain(shown: str) -> str:
    """Return the words alone; what a picture must hold to be up to date, whatever rich's version
    makes of colours.
    """
    return re.sub('\x1b\\[[0-9;]*m', '', shown)


def write(path: Path = PICTURE) -> None:
    """Draw the picture anew."""
    path.write_text(picture(printed()) + '\n')
