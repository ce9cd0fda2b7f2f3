"""Checks that are killed, and power that is cut: the history is whole after each.

Every other turn of the storm runs a row of checks, two at a time, a third of them killed at a
random moment; the others cut the power at random moments of a row of checks, see power. Three
drives are checked: the first one stands still, the CRC errors of the second rise at every check
from a third of the way on, the third loses sectors at a half and many at three quarters. So the
state of each check is known beforehand, whichever of those before it were killed: no number that
history has lost, and none that it made up, leaves it as it is.
"""

from __future__ import annotations

import json
import random
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import power
from days import START, Killed, command_at, disk, environment, killed, stored
from fake_smartctl import FakeSmartctl

from smart_attributes.history.drive_file import DriveHistory
from smart_attributes.reading.smartctl_calls import read_arguments

KILLED_CHECKS, RECORDED_CHECKS, CUTS = 60, 40, 24  # of a row, of a turn
STEP = 60  # seconds of simulated time between two checks
AT_ONCE = 2
AIMED_AT = 0.55  # of all checks; some have ended by then, and a third is killed
# of those that are killed: history is written then, which is a hundredth of the time
AFTER_THE_ANSWER = 0.5
CRC, DEFECTS, MANY = 212, 20, 150
OK, WARNING, CRITICAL = 0, 1, 2
METRICS = ('crc_errors', 'reallocated')
SERIALS = ('SERIAL00', 'SERIAL01', 'SERIAL02')
Points = dict[tuple[str, str, int], float]  # serial number, metric and time


def time_of(number: int) -> int:
    return START + number * STEP


def command(number: int, words: Sequence[str], state: Path) -> list[str]:
    return command_at(time_of(number), *words, '--state-dir', str(state))


class Row(NamedTuple):
    """So many checks, one after the other."""

    folder: Path
    checks: int

    def words(self, number: int) -> list[str]:
        """Return the words with which a check finds the drives as they are then."""
        fake = FakeSmartctl(self.folder / f'fake-{number}')
        read, words = self.numbers(number), ['-p', fake.path, '--nosudo']
        for place, serial in enumerate(SERIALS):
            crc, defects = (int(read[serial, metric]) for metric in METRICS)
            said = json.dumps(disk(serial, a5=defects, a199=crc))
            fake.answers(read_arguments(f'/dev/sd{place}'), said)
            words += ['-d', f'/dev/sd{place}']
        return words

    def numbers(self, number: int) -> dict[tuple[str, str], float]:
        """Return what a check reads, by serial number and metric."""
        rising = CRC + max(number - self.checks // 3, 0)
        lost = (0, DEFECTS, MANY)[
            (number >= self.checks // 2) + (number >= self.checks * 3 // 4)
        ]
        values = ((CRC, 0), (rising, 0), (CRC, lost))
        return {
            (serial, metric): value
            for serial, read in zip(SERIALS, values)
            for metric, value in zip(METRICS, read)
        }

    def state(self, number: int) -> int:
        """Return the state that a check must have, whichever of those before it were killed."""
        if number >= self.checks * 3 // 4:
            return CRITICAL
        return WARNING if number > self.checks // 3 else OK


def faults_of(status: int, text: str, right: set[int]) -> list[str]:
    """Return what is wrong with what a daemon was told. right: the states that it may have."""
    if 'history' in text:
        return [f'a loss was reported, and nothing is lost: {text}']
    return [] if status in right else [f'state {status} instead of {right}: {text}']


def points_of(drives: dict[str, DriveHistory]) -> Points:
    """Return what the histories of drives hold."""
    return {
        (serial, key.metric, point.time): point.number
        for serial, drive in drives.items()
        for key, series in drive.series.items()
        for point in series.points
        if key.metric in METRICS
    }


class Killer:
    """A row of checks that are killed, and what went wrong."""

    def __init__(self, folder: Path, checks: int, seed: str) -> None:
        self._row, self._state = Row(folder, checks), folder / 'state'
        self._state.mkdir(parents=True)
        self.faults: list[str] = []
        self.counted: Counter[str] = Counter()
        self._dice = random.Random(seed)
        self._begun, self._seen = 0, Points()
        self._typical = 0.3  # seconds of a check
        self._lock = threading.Lock()

    def run(self) -> None:
        """Run all checks; the first alone, since from it on there is something to lose."""
        self._one(0, None)
        moments = [self._moment() for _ in range(1, self._row.checks)]
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(self._one, range(1, self._row.checks), moments))

    def _moment(self) -> tuple[bool, float] | None:
        """Return when a check is killed, see days.killed(); None: never."""
        if self._dice.random() >= AIMED_AT:
            return None
        return self._dice.random() < AFTER_THE_ANSWER, self._dice.random()

    def _one(self, number: int, moment: tuple[bool, float] | None) -> None:
        with self._lock:
            self._begun = max(self._begun, number)
        began = time.monotonic()
        words = self._row.words(number)
        ended = killed(command(number, words, self._state), moment, self._typical)
        if moment is None:
            self._typical = time.monotonic() - began
        with self._lock:
            faults = self._faults_of_files(number, ended) + self._faults_of_answer(
                number, ended
            )
            self.faults += [f'check {number}: {fault}' for fault in faults]

    def _faults_of_files(self, number: int, ended: Killed) -> list[str]:
        """Return what is wrong with the files of the history, and keep in mind what they hold.

        A kill leaves each drive as the newest check that has replaced its file has read it.
        """
        if list(self._state.glob('history/*.damaged')):
            return ['a file was set aside as damaged']
        # read once: the other check may write meanwhile
        drives = stored(self._state)
        read_at = {serial: drive.record.last_read for serial, drive in drives.items()}
        is_written = min(read_at.values(), default=0) >= time_of(number)
        end = 'killed' if ended.status < 0 else 'ended by itself'
        self.counted[f'{end}, {"" if is_written else "not "}written'] += 1
        points = points_of(drives)
        lost = {
            point for point, value in self._seen.items() if points.get(point) != value
        }
        self._seen = points
        faults = [f'stored and lost: {sorted(lost)}'] if lost else []
        newest = {
            place[:2]: points[place]
            for place in sorted(points, key=lambda place: place[2])
        }
        for serial, moment in read_at.items():
            read = self._row.numbers((moment - START) // STEP)
            faults += [
                f'{metric} of {serial} is {newest.get((serial, metric))}, '
                f'and {read[serial, metric]:g} was read'
                for metric in METRICS
                if newest.get((serial, metric)) != read[serial, metric]
            ]
        return faults

    def _faults_of_answer(self, number: int, ended: Killed) -> list[str]:
        if ended.status < 0:
            return []
        if 'no history: ' in ended.text:
            self.counted['said that there was no history'] += 1
            return []
        right = {self._row.state(met) for met in range(number, self._begun + 1)}
        return faults_of(ended.status, ended.text, right)


class Cutter:
    """A row of checks that was recorded: its power can be cut at any moment."""

    def __init__(self, folder: Path) -> None:
        self._row, self._state = Row(folder, RECORDED_CHECKS), folder / 'state'
        self._state.mkdir(parents=True)
        self.counted: Counter[str] = Counter()
        self._trace, self._library = folder / 'trace', power.library(folder)
        # operations at the end of each check
        self._ends = [self._recorded(number) for number in range(RECORDED_CHECKS)]
        self._operations = power.operations(self._trace)
        self._words = self._row.words(RECORDED_CHECKS)

    def _recorded(self, number: int) -> int:
        subprocess.run(
            command(number, self._row.words(number), self._state),
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            timeout=60,
            env={
                **environment(),
                **power.environment(self._library, self._state, self._trace),
            },
        )
        return len(power.operations(self._trace))

    def cut(self, seed: str) -> list[str]:
        """Cut the power once; return what is wrong with the check after it: it must give its
        verdict, and hold all that the checks before the cut had read.
        """
        dice = random.Random(seed)
        moment, kind = (
            dice.randrange(len(self._operations) + 1),
            dice.choice(power.KINDS),
        )
        disk_ = power.Disk()
        for operation in self._operations[:moment]:
            disk_.does(operation)
        ended = sum(end <= moment for end in self._ends)  # checks
        with power.temporary() as name:
            disk_.cut(kind, dice, str(self._state), Path(name))
            next_ = killed(command(RECORDED_CHECKS, self._words, Path(name)), None, 0)
            # without a check before it, the lost sectors did not grow
            faults = faults_of(
                next_.status, next_.text, {CRITICAL} if ended else {WARNING, CRITICAL}
            )
            held = points_of(stored(Path(name)))
        lost = sorted(
            point
            for point, value in self._due(ended).items()
            if held.get(point) != value
        )
        faults += [f'stored and lost: {lost}'] if lost else []
        self.counted[f'power cuts, {kind} kept'] += 1
        return [
            f'cut {seed!r} at {moment}, {kind}, after {ended} checks: {fault}'
            for fault in faults
        ]

    def _due(self, ended: int) -> Points:
        """Return each number that changed in the checks that had ended."""
        due = Points()
        for number in range(ended):
            before, read = self._row.numbers(number - 1), self._row.numbers(number)
            changed = [key for key in read if number == 0 or read[key] != before[key]]
            due.update({(*key, time_of(number)): read[key] for key in changed})
        return due


class Kills:
    """A bed of storm: rows of killed checks and, every second turn, power cuts."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._folder, self._seed = folder, seed
        self.counted: Counter[str] = Counter()
        self._cutter: Cutter | None = None

    def turn(self, number: int) -> list[str]:
        """Run a row of checks, or cut the power CUTS times."""
        seed = f'{self._seed} {number}'
        if number % 2 == 0:
            killer = Killer(self._folder / str(number), KILLED_CHECKS, seed)
            killer.run()
            self.counted += killer.counted
            return killer.faults
        self._cutter = self._cutter or Cutter(self._folder / 'power')
        with ThreadPoolExecutor(AT_ONCE) as pool:
            faults = list(
                pool.map(self._cutter.cut, [f'{seed} {cut}' for cut in range(CUTS)])
            )
        self.counted += self._cutter.counted
        self._cutter.counted.clear()
        return [fault for of_cut in faults for fault in of_cut]
