"""The size of the history while 24 drives are checked.

`make year CHECKS=1000 MINUTES=5 SEED=7` runs so many checks, at most 1,000, so many simulated minutes
apart; test_year runs a few. Meanwhile one drive is replaced, one vanishes, one moves and moves back,
and the clock jumps. tools/bench.py counts what an old history costs.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path

from days import DAY, START, Machine
from year_drives import Drive

DRIVES = 24
MOST_CHECKS = 1000
MOST_BYTES = 5_000_000  # of all files
# bytes of the files that one check replaces, but for the first one of a day
MOST_WRITTEN = 100_000
REPLACED, MOVED = 1, 2  # drives
JUMPS, JUMP_CHECKS = (-90 * DAY, 5 * DAY), 3  # of the clock; the seed chooses one
REMARK = re.compile(r'(?:no )?history: .*|history-damaged.*')


class Year:
    """A machine, its checks, and what went wrong with its history."""

    def __init__(
        self, folder: Path, checks: int, step: int, seed: int = 7, drives: int = DRIVES
    ) -> None:
        """step: seconds between two checks."""
        self.checks, self.step = checks, step
        self.machine, self.drives = (
            Machine(folder),
            [Drive(slot) for slot in range(drives)],
        )
        self.largest, self.written, self.size = 0, 0, 0  # bytes
        self.states: Counter[int] = Counter()  # exit statuses
        # about the history, and where each was first seen
        self.remarks: dict[str, int] = {}
        self.faults: list[str] = []
        self._dice = random.Random(seed)
        self._jump, self._jumps_at = self._dice.choice(JUMPS), checks * 6 // 10

    def run(self) -> None:
        """Run all checks."""
        for number in range(self.checks):
            self._happens(number)
            self.machine.holds(**{drive.name: drive.report for drive in self.drives})
            self._check(number)
            self._weigh(number)

    # --- one check -----------------------------------------------------------------------

    def _happens(self, number: int) -> None:
        """Let the drives get older; replace, remove or move one at its time."""
        for drive in self.drives:
            drive.ages(number * self.step, self._dice)
        at = [self.checks * tenth // 10 for tenth in range(10)]
        if number == at[2]:
            self.drives[REPLACED].report['serial_number'] = 'EXAMPLE-NEW'
        elif number == at[3]:
            self.drives.pop()
        elif number in (at[4], at[5]):
            self.drives[MOVED].name = f'nvme{99 if number == at[4] else MOVED}'

    def _check(self, number: int) -> None:
        """Run one check, and look at what it says of the history: only the jump of the clock
        explains a remark.
        """
        since = number - self._jumps_at
        now = START + number * self.step + (0 <= since < JUMP_CHECKS) * self._jump
        done = self.machine.run(now, '--scan')
        self.states[done.code] += 1
        is_jump = 0 <= since <= DAY / self.step + JUMP_CHECKS + 1
        for remark in REMARK.findall(done.text):
            if remark not in self.remarks and (not is_jump or 'damaged' in remark):
                self.faults.append(f'check {number}: {remark}')
            self.remarks.setdefault(remark, number)

    def _weigh(self, number: int) -> None:
        """Note the size of the history, and of what a check has replaced."""
        files = {
            path.name: path.stat().st_size
            for path in (self.machine.state / 'history').glob('*')
        }
        self.size, written = (
            sum(files.values()),
            sum(size for name, size in files.items() if name.endswith('.drive')),
        )
        if self.size > MOST_BYTES >= self.largest:
            self.faults.append(f'check {number}: the history takes {self.size} bytes')
        if written > MOST_WRITTEN >= self.written:
            self.faults.append(f'check {number}: wrote {written} bytes')
        self.largest, self.written = (
            max(self.largest, self.size),
            max(self.written, written),
        )


def main(words: list[str]) -> int:
    """Return 1 where the history is too large or damaged."""
    parser = argparse.ArgumentParser(description=(__doc__ or '').partition('\n')[0])
    parser.add_argument('--checks', type=int, default=MOST_CHECKS)
    parser.add_argument(
        '--minutes', type=int, default=5, help='of simulated time between two'
    )
    parser.add_argument(
        '--seed', type=int, default=random.SystemRandom().randrange(10**6)
    )
    options = parser.parse_args(words)
    if not 0 < options.checks <= MOST_CHECKS:
        parser.error(f'--checks: 1 to {MOST_CHECKS}')
    print(options, flush=True)
    with tempfile.TemporaryDirectory(prefix='check-smart-year-') as folder:
        year = Year(Path(folder), options.checks, options.minutes * 60, options.seed)
        year.run()
    print(
        f'history: at most {year.largest} bytes, in the end {year.size}; written by a check: at '
        f'most {year.written}',
        f'exit statuses: {dict(year.states)}',
        *(
            f'remark at check {first}: {remark}'
            for remark, first in year.remarks.items()
        ),
        *year.faults,
        f'{len(year.faults)} faults',
        sep='\n',
    )
    return 1 if year.faults else 0


if __name__ == '__main__':
    os.environ.setdefault('XDG_STATE_HOME', '/nonexistent')
    sys.exit(main(sys.argv[1:]))
