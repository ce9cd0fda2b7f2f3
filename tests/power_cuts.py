"""Power cuts at random moments of a row of checks: see power. kills.py runs them.

Two drives are checked. The CRC errors of one grow at every fifth check. After each cut, another
check must give a verdict, and the history must hold all that the checks before the cut had written;
nothing may be damaged.
"""

from __future__ import annotations

import random
import subprocess
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import power
from days import START, command_at, disk, environment, points
from fake_smartctl import FakeSmartctl

from smart_attributes.reading.smartctl_calls import read_arguments

CHECKS, STEP, GROWS_EVERY, CRC = 40, 300, 5, 212
AT_ONCE = 2
SERIAL = 'SERIAL00'


class Cutter:
    """A row of checks that was recorded, and what went wrong after its power was cut."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.seed, self.faults, self.counted = seed, [], Counter()  # type: int, list[str], Counter[str]
        self._folder, self._state, self._trace = folder, folder / 'state', folder / 'trace'
        self._state.mkdir(parents=True)
        self._library = power.library(folder)
        self._fakes = [self._fake(number) for number in range(CHECKS + 1)]
        # operations at the end of each check
        self._ends = [self._recorded(number) for number in range(CHECKS)]
        self._operations = power.operations(self._trace)

    def _fake(self, number: int) -> list[str]:
        """Return the words with which a check finds the drives as they are then."""
        fake = FakeSmartctl(self._folder / f'fake-{number}')
        for path, said in drives(number).items():
            fake.answers(read_arguments(path), said)
        return [
            '-p',
            fake.path,
            '--nosudo',
            *(word for path in drives(number) for word in ('-d', path)),
        ]

    def _recorded(self, number: int) -> int:
        subprocess.run(
            command_at(time_of(number), *self._fakes[number], '--state-dir', str(self._state)),
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            timeout=60,
            env={**environment(), **power.environment(self._library, self._state, self._trace)},
        )
        return len(power.operations(self._trace))

    def run(self, cuts: int) -> None:
        """Cut the power so many times."""
        seeds = [f'{self.seed} {number}' for number in range(cuts)]
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for found in pool.map(self.cut, seeds):
                self.faults += found

    def cut(self, seed: str) -> list[str]:
        """Cut the power once; return what is wrong with the check after it."""
        dice = random.Random(seed)
        moment, kind = dice.randrange(len(self._operations) + 1), dice.choice(power.KINDS)
        disk_ = power.Disk()
        for operation in self._operations[:moment]:
            disk_.does(operation)
        ended = sum(end <= moment for end in self._ends)  # checks
        with power.temporary() as name:
            folder = Path(name)
            disk_.cut(kind, dice, str(self._state), folder)
            done = subprocess.run(
                command_at(time_of(CHECKS), *self._fakes[CHECKS], '--state-dir', name),
                env=environment(),
                check=False,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=60,
            )
            faults = self._faults(
                done.returncode, done.stdout.decode(), ended, points(folder, 'crc_errors')
            )
        self.counted[f'{kind}, {len(faults)} faults'] += 1
        return [
            f'cut {seed!r} at {moment} of {len(self._operations)}, {kind}, after {ended} checks: '
            f'{fault}'
            for fault in faults
        ]

    @staticmethod
    def _faults(
        status: int, text: str, ended: int, held: dict[tuple[str, int], float]
    ) -> list[str]:
        """held: points of the counter after the next check."""
        due = {time_of(number): crc(number) for number in range(ended) if number % GROWS_EVERY == 0}
        lost = {
            moment: number for moment, number in due.items() if held.get((SERIAL, moment)) != number
        }
        faults = [f'stored and lost: {lost}'] if lost else []
        if status not in (0, 1) or 'history' in text:
            faults.append(f'status {status}: {text}')
        return faults


def time_of(number: int) -> int:
    return START + number * STEP


def crc(number: int) -> int:
    return CRC + number // GROWS_EVERY


def drives(number: int) -> dict[str, str]:
    """Return what smartctl says of each drive at a check."""
    import json

    said: dict[str, Any] = {
        '/dev/sda': disk(SERIAL, a199=crc(number)),
        '/dev/sdb': disk('SERIAL01'),
    }
    return {path: json.dumps(each) for path, each in said.items()}
