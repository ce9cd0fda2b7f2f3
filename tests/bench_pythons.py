"""The cost of a check with each Python that the project supports; bench.py calls it.

Debian's Pythons run in the file systems that `make test-pythons` keeps; the others are those of
this machine. Each figure is the least of many runs, since the Pythons are compared and other
programs only add to it.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Callable

import abilities
import nagiosplugin
import pythons
from bench_program import found, launcher
from chroots import CACHE, removed
from fake_smartctl import FakeSmartctl

from smart_attributes.reading import smartctl_calls

ROOT = Path(__file__).resolve().parent.parent
REPORT = ROOT / 'tests/reports/intel-s3500-healthy.json'
RUNS = 40
# Those of bench.py: what, figure, wanted; and (wall, cpu) of one run of a command, ms.
Line = Callable[[str, str, str], None]
Run = Callable[[Sequence[str]], Sequence[float]]


def bench_pythons(folder: Path, line: Line, run: Run) -> None:
    """Print a row for each version: measured, or why not."""
    copied(folder)
    for version, suite in pythons.SUITES.items():
        if suite and is_kept(version):
            with debian(version, folder) as command:
                bench(folder, [*command, f'/usr/bin/python{version}'], suite, line, run)
        elif not suite and pythons.host_python(version):
            bench(folder, [pythons.host_python(version)], '', line, run)
        else:
            line(
                f'Python {version}',
                f'skipped: make test-pythons VERSIONS={version} installs it'
                if suite
                else 'skipped: neither Debian nor this machine has it',
                '',
            )


def copied(folder: Path) -> None:
    """Copy the program and its library: Python writes its compiled modules there, so no start
    has to compile.
    """
    library = Path(nagiosplugin.__file__).parent
    for part in (ROOT / 'smart_attributes', ROOT / 'thresholds', library):
        shutil.copytree(part, folder / part.name, ignore=shutil.ignore_patterns('__pycache__'))
    shutil.copy(ROOT / 'attributes.json', folder)


def is_kept(version: str) -> bool:
    """Return whether `make test-pythons` has this Python, and we may enter its file system."""
    return abilities.IS_ROOT and (CACHE / f'{pythons.archive(version)}.tar').exists()


@contextmanager
def debian(version: str, shown: Path) -> Iterator[list[str]]:
    """Yield the start of a command line that runs in the Debian with this Python. shown: a
    folder to show inside.
    """
    root = Path(tempfile.mkdtemp(prefix='check-smart-attributes-bench-'))
    places = {'/proc': root / 'proc', str(shown): Path(f'{root}{shown}')}
    try:
        pythons.prepared(version, root)
        for source, place in places.items():
            place.mkdir(parents=True, exist_ok=True)
            subprocess.run(['mount', '--bind', source, str(place)], check=True)
        yield ['/usr/sbin/chroot', str(root)]
    finally:
        for place in places.values():
            subprocess.run(['umount', '--lazy', str(place)], check=False, stderr=subprocess.DEVNULL)
        removed(root)


def bench(folder: Path, python: Sequence[str], suite: str, line: Line, run: Run) -> None:
    """Print the cost of one check, and of the interpreter alone."""
    *enter, path = python
    version = found(*enter, path)[1]
    fake = FakeSmartctl(folder / version)
    fake.answers(smartctl_calls.read_arguments('/dev/sda'), REPORT.read_bytes(), before='sleep 0.1')
    start = launcher(folder / version / 'check_smart_attributes', path, folder)
    (wall, cpu), (alone, of_smartctl), (_, bare), (_, nothing) = (
        least(run, [*enter, *command])
        for command in (
            (start, '-p', fake.path, '-d', '/dev/sda', '--no-history'),
            (fake.path, *smartctl_calls.read_arguments('/dev/sda')),
            (path, '-IS', '-c', 'pass'),
            ('/bin/true',),
        )
    )
    line(
        f'Python {version}{f" of Debian {suite}" if suite else ""}, one drive that takes 100 ms',
        f'{wall:.0f} ms wall, ratio {wall / alone:.2f}; own CPU {cpu - of_smartctl:.0f} ms, of '
        f'which Python alone '
        f'{bare - nothing:.0f} ms',
        '',
    )


def least(run: Run, command: Sequence[str]) -> tuple[float, float]:
    """Return the least wall and the least CPU time of RUNS runs, ms."""
    wall, cpu = zip(*(run(command) for _ in range(RUNS)))
    return min(wall), min(cpu)
