"""Checks that are killed: two at a time, a third of them at a random moment, and the history is
whole after each.

`make kills` runs 1,000 of them and then cuts the power as often, see power_cuts; test_kills does a
few.
Three drives are checked: the first one stands still, the CRC errors of the second rise at every
check from a third of the way on, the third loses sectors at a half and many at three quarters. So
the state of each check is known beforehand, whichever of those before it were killed: no number
that history has lost, and none that it made up, leaves it as it is.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import power
from days import START, command_at, disk, environment, kill, stored
from fake_smartctl import FakeSmartctl
from power_cuts import Cutter

from smart_attributes.reading.smartctl_calls import read_arguments

# seconds of simulated time between two checks; 1,000 are over before a day is
STEP = 60
AT_ONCE = 2
AIMED_AT = 0.55  # of all; some have ended by then, and a third is killed
# of those that are killed: history is written then, which is a hundredth of the time
AFTER_THE_ANSWER = 0.5
CRC, DEFECTS, MANY = 212, 20, 150
OK, WARNING, CRITICAL = 0, 1, 2
METRICS = ('crc_errors', 'reallocated')
Points = dict[tuple[str, str, int], float]  # serial number, metric and time


class Ended(NamedTuple):
    """What became of one check."""

    number: int
    status: int  # exit status; negative: killed
    text: str
    latest: int  # number of the newest check that had begun when it ended


class Killer:
    """A machine, its history, and what went wrong with them."""

    def __init__(self, folder: Path, checks: int, seed: int) -> None:
        self.checks, self.seed, self.faults = checks, seed, []  # type: int, int, list[str]
        self.counted: Counter[str] = Counter()
        self._folder, self._state, self._dice = folder, folder / 'state', random.Random(seed)
        self._state.mkdir()
        self._begun, self._last_read, self._seen = 0, 0, {}  # type: int, int, Points
        self._typical = 0.3  # seconds of a check
        self._lock = threading.Lock()

    @property
    def killed(self) -> int:
        """How many checks were killed before they had ended."""
        return sum(count for what, count in self.counted.items() if what.startswith('killed'))

    def run(self) -> None:
        """Run all checks; the first alone, since from it on there is something to lose."""
        self._one(0, None)
        moments = [self._moment() for _ in range(1, self.checks)]
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(self._one, range(1, self.checks), moments))

    def _moment(self) -> tuple[bool, float] | None:
        """Return when a check is killed: whether counted from its answer, and the part of the
        time; None: never.
        """
        if self._dice.random() >= AIMED_AT:
            return None
        return self._dice.random() < AFTER_THE_ANSWER, self._dice.random()

    def _one(self, number: int, moment: tuple[bool, float] | None) -> None:
        with self._lock:
            self._begun = max(self._begun, number)
        began = time.monotonic()
        process = subprocess.Popen(
            self._command(number),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment(),
            start_new_session=True,
        )
        first = kill(process, moment, self._typical) if moment else b''
        text = (first + process.communicate(timeout=60)[0]).decode()
        if moment is None:
            self._typical = time.monotonic() - began
        with self._lock:
            self._looked_at(Ended(number, process.returncode, text, self._begun))

    # --- drives ------------------------------------------------------------------------

    def _command(self, number: int) -> list[str]:
        fake = FakeSmartctl(self._folder / f'fake-{number}')
        words = []
        for place, said in enumerate(drives(number, self.checks)):
            fake.answers(read_arguments(f'/dev/sd{place}'), json.dumps(said))
            words += ['-d', f'/dev/sd{place}']
        return command_at(
            time_of(number), '-p', fake.path, '--nosudo', '--state-dir', str(self._state), *words
        )

    # --- what must hold after each -----------------------------------------------------

    def _looked_at(self, ended: Ended) -> None:
        faults = [
            *self._faults_of_file(),
            *(self._faults_of_answer(ended) if ended.status >= 0 else ()),
        ]
        self.faults += [f'check {ended.number}: {fault}' for fault in faults]
        end = 'killed' if ended.status < 0 else 'ended by itself'
        self.counted[
            f'{end}, {"" if self._last_read >= time_of(ended.number) else "not "}written'
        ] += 1

    def _faults_of_file(self) -> list[str]:
        """Return what is wrong with the files of the history, and keep in mind what they hold.

        A kill leaves each drive as the newest check that has replaced its file has read it.
        """
        if list(self._state.glob('history/*.damaged')):
            return ['a file was set aside as damaged']
        drives = stored(self._state)
        found: Points = {
            (serial, key.metric, point.time): point.number
            for serial, drive in drives.items()
            for key, series in drive.series.items()
            for point in series.points
            if key.metric in METRICS
        }
        lost = {point for point, value in self._seen.items() if found.get(point) != value}
        self._seen = found
        self._last_read = min((drive.record.last_read for drive in drives.values()), default=0)
        told = newest(found)
        faults = [f'stored and lost: {sorted(lost)}'] if lost else []
        for serial, drive in drives.items():
            known = numbers((drive.record.last_read - START) // STEP, self.checks)
            for metric in METRICS:
                value = told.get((serial, metric))
                if value != known[serial, metric]:
                    faults.append(
                        f'{metric} of {serial} is {value}, and {known[serial, metric]:g} was read'
                    )
        return faults

    def _faults_of_answer(self, ended: Ended) -> list[str]:
        """Return what is wrong with what a daemon was told."""
        if 'no history: ' in ended.text:
            self.counted['said that there was no history'] += 1
            return []
        if 'history' in ended.text:
            return [f'a loss was reported, and nothing is lost: {ended.text}']
        right = {state_of(number, self.checks) for number in range(ended.number, ended.latest + 1)}
        words = f'state {ended.status} instead of {right}: {ended.text.splitlines()[0]}'
        return [] if ended.status in right else [words]


def time_of(number: int) -> int:
    return START + number * STEP


def numbers(number: int, checks: int) -> dict[tuple[str, str], float]:
    """Return what a check reads: CRC errors and reallocated sectors of each drive."""
    crc = CRC + max(number - checks // 3, 0)
    defects = (0, DEFECTS, MANY)[(number >= checks // 2) + (number >= checks * 3 // 4)]
    return {
        ('SERIAL00', 'crc_errors'): CRC,
        ('SERIAL01', 'crc_errors'): crc,
        ('SERIAL02', 'crc_errors'): CRC,
        ('SERIAL00', 'reallocated'): 0,
        ('SERIAL01', 'reallocated'): 0,
        ('SERIAL02', 'reallocated'): defects,
    }


def drives(number: int, checks: int) -> list[dict[str, Any]]:
    """Return what smartctl says of each drive at a check."""
    read = numbers(number, checks)
    return [
        disk(serial, a5=int(read[serial, 'reallocated']), a199=int(read[serial, 'crc_errors']))
        for serial in ('SERIAL00', 'SERIAL01', 'SERIAL02')
    ]


def state_of(number: int, checks: int) -> int:
    """Return the state that a check must have, whichever of those before it were killed."""
    if number >= checks * 3 // 4:
        return CRITICAL
    return WARNING if number > checks // 3 else OK


def newest(points: Points) -> dict[tuple[str, str], float]:
    """Return the last number of each series."""
    return {
        (serial, metric): value
        for (serial, metric, _), value in sorted(points.items(), key=lambda item: item[0][2])
    }


def main(checks: int, seed: int) -> int:
    """Run so many checks, cut the power as often, and print what became of it; 1 where anything
    was lost or wrong.
    """
    print(f'{checks} checks, seed {seed}', flush=True)
    os.environ.setdefault('XDG_STATE_HOME', '/nonexistent')
    with tempfile.TemporaryDirectory(prefix='check-smart-kills-') as folder:
        killer, began = Killer(Path(folder), checks, seed), time.monotonic()
        killer.run()
        _print(killer.faults, killer.counted, began)
        if power.why_not():
            print(f'no power cuts: {power.why_not()}')
            return 1
        cutter, began = Cutter(Path(folder) / 'power', seed), time.monotonic()
        cutter.run(checks)
        _print(cutter.faults, cutter.counted, began)
    return 1 if killer.faults or cutter.faults else 0


def _print(faults: list[str], counted: Mapping[str, int], began: float) -> None:
    print(*faults, sep='\n')
    print(
        f'{len(faults)} faults in {time.monotonic() - began:.0f} s: '
        + ', '.join(f'{count} {what}' for what, count in sorted(counted.items())),
        flush=True,
    )


if __name__ == '__main__':
    sys.exit(
        main(
            int(sys.argv[1]),
            int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(10**6),
        )
    )
