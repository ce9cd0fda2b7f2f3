"""Power cuts: what checks do to the disk is recorded, and played back up to a random moment.

A library that is loaded before the C library (recorder.c) notes each write, truncation, sync, link,
rename and removal below the state directory. Played back, what was synced is there; of the rest
nothing is, or all, or some, or some of it in parts of 512 bytes. Names are kept in the order in
which they were made, as a file system with a journal does. Left out are locks.
"""

from __future__ import annotations

import os
import random
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import abilities

SECTOR = 512
KINDS = ('nothing', 'all', 'some', 'torn')  # of what was not synced
_LEFT_OUT = '/lock'


class Operation(NamedTuple):
    """One record: see recorder.c."""

    what: str
    inode: int
    offset: int
    data: bytes
    paths: tuple[str, ...]


class File:
    """A file: what is on the disk, and what waits to be written there.

    None in a write: its length ends there.
    """

    def __init__(self) -> None:
        self.content = bytearray()
        self.waiting: list[tuple[int, bytes | None]] = []

    def sync(self) -> None:
        """Let the disk have all of it."""
        for offset, data in self.waiting:
            self._apply(offset, data)
        self.waiting = []

    def after(self, kind: str, dice: random.Random) -> bytes:
        """Return what is there after the power was cut."""
        for offset, data in self.waiting:
            if kind == 'all' or (kind != 'nothing' and dice.random() < 0.5):
                if kind == 'torn' and data:
                    for start in range(0, len(data), SECTOR):
                        if dice.random() < 0.5:
                            self._apply(offset + start, data[start : start + SECTOR])
                else:
                    self._apply(offset, data)
        return bytes(self.content)

    def _apply(self, offset: int, data: bytes | None) -> None:
        if data is None:
            del self.content[offset:]
        self.content.extend(bytes(max(offset - len(self.content), 0)))
        if data is not None:
            self.content[offset : offset + len(data)] = data


class Disk:
    """The state directory as a disk without power holds it."""

    def __init__(self) -> None:
        self._files: dict[int, File] = {}  # by inode
        self._names: dict[str, File] = {}  # on the disk
        self._now: dict[str, File] = {}  # as processes see it
        # directory, what changes in it
        self._waiting: list[tuple[str, Callable[[dict[str, File]], None]]] = []

    def does(self, operation: Operation) -> None:
        """Let a process do something to it."""
        what, inode, offset, data, paths = operation
        if what == 'C':
            file = self._files[inode] = File()
            self._name(paths[0], lambda names: names.update({paths[0]: file}))
        elif what == 'R':
            self._name(paths[1], lambda names: _renamed(names, *paths))
        elif what == 'L':
            self._name(paths[1], lambda names: _linked(names, *paths))
        elif what == 'U':
            self._name(paths[0], lambda names: _removed(names, paths[0]))
        elif what == 'S' and inode not in self._files:  # a directory
            for place, change in self._waiting:
                if place == paths[0]:
                    change(self._names)
            self._waiting = [each for each in self._waiting if each[0] != paths[0]]
        elif what == 'S':
            self._files[inode].sync()
        elif what in 'WT' and inode in self._files:
            self._files[inode].waiting.append((offset, data if what == 'W' else None))

    def _name(self, path: str, change: Callable[[dict[str, File]], None]) -> None:
        change(self._now)
        self._waiting.append((os.path.dirname(path), change))

    def cut(self, kind: str, dice: random.Random, below: str, folder: Path) -> None:
        """Write what is left after the power was cut. below: the directory that was recorded."""
        kept = {'nothing': 0, 'all': len(self._waiting)}.get(
            kind, dice.randrange(len(self._waiting) + 1)
        )
        for _, change in self._waiting[:kept]:
            change(self._names)
        files = {id(file): file for file in self._names.values()}
        contents = {place: file.after(kind, dice) for place, file in files.items()}
        for path, file in self._names.items():
            target = folder / os.path.relpath(path, below)
            target.parent.mkdir(parents=True, exist_ok=True)
            if not path.endswith(_LEFT_OUT):
                target.write_bytes(contents[id(file)])


def _renamed(names: dict[str, File], old: str, new: str) -> None:
    # rename() does nothing if both are one file
    if old in names and names[old] is not names.get(new):
        names[new] = names.pop(old)


def _linked(names: dict[str, File], old: str, new: str) -> None:
    if old in names:
        names[new] = names[old]


def _removed(names: dict[str, File], path: str) -> None:
    names.pop(path, None)


def operations(trace: Path) -> list[Operation]:
    """Return what was recorded."""
    data, found, place = trace.read_bytes(), [], 0
    while place < len(data):
        end = data.index(b'\n', place)
        what, inode, offset, length, *paths = data[place:end].decode().split(' ')
        place = end + 1 + int(length)
        found.append(
            Operation(
                what, int(inode), int(offset), data[end + 1 : place], tuple(paths)
            )
        )
    return found


def why_not() -> str:
    """Return why nothing can be recorded on this machine, '' where it can."""
    return abilities.without(os.environ.get('CC', 'cc'))


def library(folder: Path) -> Path:
    """Build the library that records. Raises CalledProcessError."""
    built = folder / 'recorder.so'
    subprocess.run(
        [
            os.environ.get('CC', 'cc'),
            '-O1',
            '-Wall',
            '-Werror',
            '-shared',
            '-fPIC',
            '-o',
            str(built),
            str(Path(__file__).parent / 'recorder.c'),
            '-ldl',
        ],
        check=True,
    )
    return built


def environment(built: Path, below: Path, trace: Path) -> dict[str, str]:
    """Return what makes a process record."""
    return {
        'LD_PRELOAD': str(built),
        'RECORD_BELOW': str(below),
        'RECORD_TO': str(trace),
    }


def temporary() -> tempfile.TemporaryDirectory[str]:
    """Return a folder for one playback."""
    return tempfile.TemporaryDirectory(prefix='check-smart-power-')
