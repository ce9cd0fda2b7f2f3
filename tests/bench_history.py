"""What history costs a check, on its first day and after a year; bench.py calls it.

Own CPU is that of the plugin and of smartctl, which is a script here, without that of so many
scripts alone; each is the least of 20 runs, since whatever else runs on the machine only adds to
it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Callable

import performance
import year
from bench_program import plugin
from days import DAY
from fake_smartctl import FakeSmartctl
from year_drives import Drive

from smart_attributes.reading import smartctl_calls

RUNS = 20
# each with one check: a number that moves all the time gets one point a day, however often it is
# read
DAYS = 365
# Those of bench.py: what, figure, wanted; and wall and CPU (ms) of one run.
Line = Callable[[str, str, str], None]
Run = Callable[[Sequence[str]], Sequence[float]]


def bench_history(folder: Path, line: Line, run: Run) -> None:
    """Print a row for one drive and for 24: without history, with it, after a year."""
    new, old = folder / 'new', folder / 'old'
    new.mkdir()
    old.mkdir()
    passed = year.Year(old, DAYS, DAY)
    passed.start, passed.is_eventful = int(time.time()) - DAYS * DAY, False
    passed.run()
    bed = Bed(folder, run, passed.drives)
    size = passed.largest / 1e6
    line(
        'history of 24 drives after a year, log included',
        f'{size:.1f} MB at most',
        performance.aim('at most 5 MB', size, most=5, digits=1),
    )
    for count in (1, year.DRIVES):
        without, first, later = (
            bed.own_cpu(count, options)
            for options in (
                ['--no-history'],
                ['--state-dir', str(new)],
                ['--state-dir', str(passed.machine.state)],
            )
        )
        line(
            f'{"one drive" if count == 1 else f"{count} drives"} with history, own CPU',
            f'{first:.0f} ms, after a year {later:.0f} ms, without history {without:.0f} ms',
            performance.aim('at most 60 ms', max(first, later), most=60) if count == 1 else '',
        )


class Bed:
    """A machine of 24 drives that answer at once."""

    def __init__(self, folder: Path, run: Run, drives: Sequence[Drive]) -> None:
        self._fake, self._run, self._drives = FakeSmartctl(folder / 'remembered'), run, drives
        for drive in drives:
            self._fake.answers(self._arguments(drive), json.dumps(drive.report))

    def own_cpu(self, count: int, options: list[str]) -> float:
        """Return the CPU time of a check of so many drives without their smartctl, ms."""
        words = [word for drive in self._drives[:count] for word in ('-d', f'/dev/{drive.name}')]
        check = [plugin(), '-p', self._fake.path, '--nosudo', *words, *options]
        return self._least(check) - count * self._least(
            [self._fake.path, *self._arguments(self._drives[0])]
        )

    def _least(self, command: Sequence[str]) -> float:
        return min(self._run(command)[1] for _ in range(RUNS + 2))

    @staticmethod
    def _arguments(drive: Drive) -> Sequence[str]:
        return smartctl_calls.read_arguments(f'/dev/{drive.name}')
