"""The size of the history while 24 drives are checked, each check a process of its own as at a site.

`make year CHECKS=1000 MINUTES=5 SEED=7` runs so many checks, so many simulated minutes apart;
test_year runs a few. Meanwhile one drive is replaced, one vanishes, one moves and moves back, the
clock jumps, and one of 100 checks is killed. tools/bench.py counts what an old history costs.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from days import DAY, START, Machine, command_at, environment, kill
from year_drives import Drive

DRIVES = 24
MOST_BYTES = 5_000_000  # of all files
# bytes of the files that one check replaces, but for the first one of a day
MOST_WRITTEN = 100_000
KILLED = 0.01  # of all checks
REPLACED, MOVED = 1, 2  # drives
JUMPS, JUMP_CHECKS = (-90 * DAY, 5 * DAY), 3  # of the clock; the seed chooses one
REMARK = re.compile(r'(?:no )?history: .*|history-damaged.*')


class Ended(NamedTuple):
    """What became of one check."""

    number: int
    status: int  # exit status; negative: killed
    text: str


class Year:
    """A machine, its checks, and what went wrong with its history."""

    def __init__(
        self, folder: Path, checks: int, step: int, seed: int = 7, drives: int = DRIVES
    ) -> None:
        """step: seconds between two checks."""
        self.checks, self.step, self.start, self.is_eventful = checks, step, START, True
        self.machine, self.drives = Machine(folder), [Drive(slot) for slot in range(drives)]
        self.largest, self.written, self.size = 0, 0, 0  # bytes
        self.states: Counter[int] = Counter()  # exit statuses
        # about the history -> where each was first seen, and its cause
        self.remarks: dict[str, str] = {}
        self.faults: list[str] = []
        self._dice, self._typical, self._is_after_kill = random.Random(seed), 0.2, False
        self._jump, self._jumps_at = self._dice.choice(JUMPS), checks * 6 // 10

    def run(self) -> None:
        """Run all checks."""
        for number in range(self.checks):
            self._happens(number)
            self.machine.holds(**{drive.name: drive.report for drive in self.drives})
            self._check(number)
            self._weigh(number)
            if (number + 1) % 500 == 0:
                print(
                    f'{number + 1} checks: {self.size} bytes',
                    file=sys.stderr,
                    flush=True,
                )

    # --- one check -----------------------------------------------------------------------

    def _happens(self, number: int) -> None:
        """Let the drives get older; replace, remove or move one at its time."""
        for drive in self.drives:
            drive.ages(number * self.step, self.step, self._dice)
        at = [self.checks * tenth // 10 if self.is_eventful else -1 for tenth in range(10)]
        if number == at[2]:
            self.drives[REPLACED].report['serial_number'] = 'EXAMPLE-NEW'
        elif number == at[3]:
            self.drives.pop()
        elif number in (at[4], at[5]):
            self.drives[MOVED].name = f'nvme{99 if number == at[4] else MOVED}'

    def _check(self, number: int) -> None:
        """Run one check, which may be killed, and look at what it says."""
        moment = self._dice.random() < 0.5, self._dice.random()
        is_killed, began = self.is_eventful and self._dice.random() < KILLED, time.monotonic()
        ended = self._run(number, moment if is_killed else None)
        self.states[ended.status] += 1
        for remark in REMARK.findall(ended.text):
            self._remarked(number, remark)
        self._is_after_kill = ended.status < 0
        if ended.status >= 0:
            self._typical = time.monotonic() - began

    def _run(self, number: int, moment: tuple[bool, float] | None) -> Ended:
        is_wrong = self.is_eventful and 0 <= number - self._jumps_at < JUMP_CHECKS
        now = self.start + number * self.step + is_wrong * self._jump
        command = command_at(now, *self.machine.words('--scan'), logs=str(self.machine.logs))
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment(),
            start_new_session=True,
        )
        first = kill(process, moment, self._typical) if moment else b''
        assert process.stdout is not None
        with process.stdout:
            text = (first + process.stdout.read()).decode()
        _, status = os.waitpid(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        return Ended(number, process.returncode, text)

    def _remarked(self, number: int, remark: str) -> None:
        """Note a remark, which must be caused by a kill or by the jump of the clock."""
        since = (number - self._jumps_at) * self.step
        is_jump = self.is_eventful and 0 <= since <= DAY + (JUMP_CHECKS + 1) * self.step
        cause = 'after a kill' if self._is_after_kill else 'clock' if is_jump else 'unexplained'
        if remark not in self.remarks and (cause == 'unexplained' or 'damaged' in remark):
            self.faults.append(f'check {number}: {remark}')
        self.remarks.setdefault(remark, f'{number}, {cause}')

    def _weigh(self, number: int) -> None:
        """Note the size of the history, and of what a check has replaced."""
        files = {
            path.name: path.stat().st_size for path in (self.machine.state / 'history').glob('*')
        }
        self.size, written = (
            sum(files.values()),
            sum(size for name, size in files.items() if name.endswith('.drive')),
        )
        if self.size > MOST_BYTES >= self.largest:
            self.faults.append(f'check {number}: the history takes {self.size} bytes')
        if written > MOST_WRITTEN >= self.written:
            self.faults.append(f'check {number}: wrote {written} bytes')
        self.largest, self.written = max(self.largest, self.size), max(self.written, written)


def main(checks: int, minutes: int, seed: int) -> int:
    """Run so many checks and print what became of the history; 1 where it is too large or
    damaged.
    """
    print(f'{checks} checks of {DRIVES} drives, {minutes} minutes apart, seed {seed}', flush=True)
    with tempfile.TemporaryDirectory(prefix='check-smart-year-') as folder:
        year, began = Year(Path(folder), checks, minutes * 60, seed), time.monotonic()
        year.run()
    print(
        f'{time.monotonic() - began:.0f} s; history: at most {year.largest} bytes, in the end '
        f'{year.size}; written by a check: at most {year.written}',
        f'exit statuses: {dict(year.states)}',
        *(f'remark at check {first}: {remark}' for remark, first in year.remarks.items()),
        *year.faults,
        f'{len(year.faults)} faults',
        sep='\n',
    )
    return 1 if year.faults else 0


if __name__ == '__main__':
    sys.exit(
        main(
            int(sys.argv[1]),
            int(sys.argv[2]),
            int(sys.argv[3]) if len(sys.argv) > 3 else random.SystemRandom().randrange(10**6),
        )
    )
