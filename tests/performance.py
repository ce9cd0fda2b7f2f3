"""What was measured, as doc/explanation/performance.md; `make performance` calls it."""
from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path
from typing import List, Sequence

import bench_program

TITLE = """# What a check costs

Made by `make performance`, never by hand. Measured with {smartctl} on {cores} cores of
{processor}, by the Python that runs the package: {python}.

How to read it: a drive decides how long a check takes; what the plugin adds stands here. *Wall* is the time until the
plugin has ended, a median of paired runs; *alone* is one smartctl with the plugin's own arguments, *by hand* are the
smartctl calls for all drives, started at once by a shell: no plugin can be faster. *Own CPU* is the CPU time of
the check without that of smartctl. The last column has what was aimed at.
"""
BESIDE = """
Version 1.6 is the Perl plugin of this name that Debian 13 ships (`monitoring-plugins-check-smart-attributes`). It calls
`smartctl -a` for one drive after the other: identity, health, attributes, error log and self-test log. Ours reads these
of all drives at once, and the device statistics, and of SAS and NVMe drives their own logs. Both CPU times have that
of smartctl in them, for both.
"""


def write(path: Path, rows: Sequence[Sequence[str]]) -> None:
    """Write rows of (what, figure, wanted), and headings, which stand alone."""
    text = [TITLE.format(python=' '.join(bench_program.python()), smartctl=_smartctl(), cores=os.cpu_count(),
                         processor=_processor())]
    for row in rows:
        text += _heading(row[0]) if len(row) == 1 else [f'| {" | ".join(row)} |']
    path.write_text('\n'.join(text) + '\n' + BESIDE)


def _heading(words: str) -> List[str]:
    return ['', f'## {words}', '', '| | | aim |', '|---|---|---|']


def _smartctl() -> str:
    done = subprocess.run(['smartctl', '--version'], capture_output=True, text=True, check=False)
    return ' '.join(done.stdout.split()[:2]) or 'no smartctl'


def _processor() -> str:
    """Return what the kernel calls the processor."""
    for line in Path('/proc/cpuinfo').read_text().splitlines():
        if line.startswith('model name'):
            return line.partition(':')[2].strip()
    return platform.machine()
