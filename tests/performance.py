"""Write doc/explanation/performance.md from the measured figures; `make performance` calls it."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Sequence
from pathlib import Path

import bench_program

TITLE = """# The cost of a check

`make performance` writes this page; do not edit it. Measured with {smartctl} on {cores} cores of
{processor}, with the Python that runs the package: {python}.

The drives take most of the time of a check. This page shows what the plugin adds. The last measurement met {met} of
{aims} aims.

- *Wall*: time from start to end of the plugin, the median of paired runs.
- *Alone*: time of one smartctl call with the plugin's arguments.
- *By hand*: time of the smartctl calls for all drives, started together by a shell. No plugin can be faster.
- *Ratio*: wall time of the plugin divided by that of smartctl, alone or by hand.
- *Own CPU*: CPU time of the check without that of smartctl.
- *Aim*: the figure to reach, and whether this measurement met it. Rows without an aim are for information.
"""


def aim(
    words: str,
    measured: float,
    most: float | None = None,
    least: float | None = None,
    digits: int = 0,
) -> str:
    """Return an aim and whether a figure met it, such as "at most 50 ms: missed".

    words: the aim. measured: the figure. most, least: the bounds, in the same unit. digits:
    decimals on the page.
    """
    shown = round(measured, digits)
    is_met = (most is None or shown <= most) and (least is None or shown >= least)
    return f'{words}: {"met" if is_met else "missed"}'


def write(path: Path, rows: Sequence[Sequence[str]]) -> None:
    """Write the page: a row of three strings (subject, figure, aim), a row of one string is a
    heading.
    """
    met, missed = (sum(row[-1].count(f': {word}') for row in rows) for word in ('met', 'missed'))
    text = [
        TITLE.format(
            python=' '.join(bench_program.python()),
            smartctl=_smartctl(),
            cores=os.cpu_count(),
            processor=_processor(),
            met=met,
            aims=met + missed,
        )
    ]
    for row in rows:
        text += _heading(row[0]) if len(row) == 1 else [f'| {" | ".join(row)} |']
    path.write_text('\n'.join(text) + '\n')


def _heading(words: str) -> list[str]:
    return ['', f'## {words}', '', '| measured | figure | aim |', '|---|---|---|']


def _smartctl() -> str:
    done = subprocess.run(['smartctl', '--version'], capture_output=True, text=True, check=False)
    return ' '.join(done.stdout.split()[:2]) or 'no smartctl'


def _processor() -> str:
    """Return what the kernel calls the processor."""
    for line in Path('/proc/cpuinfo').read_text().splitlines():
        if line.startswith('model name'):
            return line.partition(':')[2].strip()
    return platform.machine()
