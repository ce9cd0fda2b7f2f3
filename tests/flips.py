"""Flipped bits in the files of the history: the next checks say the same as without, or what was
lost.

Each turn of the storm flips a bit in a fresh copy of a history of one of three ages. The drives have
errors that grew before the flip and others that grow after it, so a history that is older, shorter
or wrong changes what a check says. One drive never changes.
"""

import itertools
import random
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from days import DAY, HOUR, START, Machine, disk

NOW = START + 400 * DAY
ENDINGS = ('.drive', '.former', '.days')
SAID = 'history-damaged'  # in the output of a check that has found damage


class Age(NamedTuple):
    """A history: when checks wrote it."""

    hours: Sequence[int]  # before NOW


AGES: dict[str, Age] = {
    'one check': Age([1]),
    'three checks': Age([3, 2, 1]),
    'many days': Age([day * 24 for day in range(12, 0, -1)]),
}


class Flips:
    """A bed of storm: histories of each age, and what checks say after a bit was flipped."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._seed = seed
        self.counted: Counter[str] = Counter()
        self._machine, self._saved = Machine(folder), folder / 'saved'
        self._saved.mkdir()
        self._right = {name: self._made(name, age) for name, age in AGES.items()}
        kinds = itertools.product(AGES, ENDINGS)
        files = [
            sorted((self._saved / name / 'history').glob(f'*{end}'))
            for name, end in kinds
        ]
        self._files = [of_kind for of_kind in files if of_kind]

    def _made(self, name: str, age: Age) -> tuple[str, ...]:
        """Write a history and keep it; return what the next checks say."""
        for place, hours in enumerate(age.hours):
            self._holds(place)
            self._machine.check(NOW - hours * HOUR)
        shutil.move(str(self._machine.state), self._saved / name)
        self._holds(40)
        return self._said(name)

    def _holds(self, place: int) -> None:
        """Let the cable of a drive, and the sectors of another, be as bad as at a check."""
        self._machine.holds(
            sda=disk('SERIAL00', a199=212 + place),
            sdb=disk('SERIAL01', a199=7),
            sdc=disk('SERIAL02', a5=20 + place // 3),
        )

    def _said(self, name: str, file: str = '', bit: int = 0) -> tuple[str, ...]:
        """Return what two checks say of a history, one bit of it flipped."""
        shutil.rmtree(self._machine.state, ignore_errors=True)
        shutil.copytree(self._saved / name, self._machine.state)
        if file:
            flip(self._machine.state / 'history' / file, bit)
        return tuple(
            f'{done.code} {done.text}'
            for done in (self._machine.check(NOW), self._machine.check(NOW + HOUR))
        )

    def turn(self, number: int) -> list[str]:
        """Flip a bit, in turn in each kind of file of each age."""
        dice = random.Random(f'{self._seed} {number}')
        path = dice.choice(self._files[number % len(self._files)])
        bit, age = dice.randrange(8 * path.stat().st_size), path.parent.parent.name
        said = self._said(age, path.name, bit)
        faults = []
        if any(SAID in text for text in said):
            end = 'said'
        elif said == self._right[age]:
            end = 'nothing lost'
        else:
            end = 'SILENT'
            faults.append(f'{age}, {path.name}, bit {bit}: {"".join(said)}')
        self.counted[f'{path.suffix} {end}'] += 1
        return faults


def flip(path: Path, bit: int) -> None:
    """Flip one bit of a file."""
    data = bytearray(path.read_bytes())
    data[bit // 8] ^= 1 << bit % 8
    path.write_bytes(data)
