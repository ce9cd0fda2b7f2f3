#!/usr/bin/env python3
"""Break every function, one small thing at a time, and count how often the unit tests notice.

Usage: tools/mutants.py [--all] [MODULE[.FUNCTION]...]

Without a name, all modules; make mutants MODULE=judging tries one. mutmut makes the mutants. A
sample of those of each module is tried, drawn by their hashes, and the share that tests notice is
an estimate; --all, or the name of a function, tries all of them. Each runs in a process of its own,
in a copy of the tree that it cannot leave (see guard.py), with the tests that run the changed line.
The mutants that no test notices are printed: look at each, as it may do the same as the code. Exit
status 1 if tests notice fewer than 90 % of the mutants of a module.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import architecture
import pytest
from mutations import Change, changes
from trials import Told, Trials, spread

ROOT = Path(__file__).resolve().parent.parent
FIGURE = 90  # per cent of the mutants of each module that the tests must notice
SAMPLE = 60  # mutants of each module that are tried
FILES = 20  # of tests that one module is shown to, the nearest first
FAR = 9
# What two files of the copy end with: a process would know nothing of mutants.
STARTING = {'conftest': 'run', 'days': 'run_at'}
WITHIN = """

def {0}(*words, **how):
    import within
    return within.{0}(*words, **how)
"""


def tests_of(module: str) -> dict[Path, int]:
    """Return the test files that may reach a module, the nearest first, each with its distance.

    The distance is 0 with the module's name, 1 if the file imports the module, 2 if it imports one
    of its users, and so on; a file that names the module or its command in quotes is FAR. Among
    equals, one that imports little is first.
    """
    name, steps, found = module.rpartition('/')[2], _steps_to(module), {}
    for file in sorted(Path('tests').glob('test_*.py')):
        imported = _imported(file)
        distance = min((steps[each] + 1 for each in imported if each in steps), default=FAR + 1)
        if file.stem.startswith((f'test_{module.replace("/", "_")}', f'test_{name}')):
            distance = 0
        elif distance > FAR and f"'{name}'" in file.read_text():
            distance = FAR
        if distance <= FAR:
            found[file] = distance, len(imported)
    return {file: found[file][0] for file in sorted(found, key=lambda file: found[file])}


def _steps_to(module: str) -> dict[str, int]:
    """Return how many imports lead from each module to this one."""
    steps, last = {module: 0}, {module}
    while last:
        last = {
            user
            for user in architecture.MODULES
            if user not in steps and not last.isdisjoint(_used(user))
        }
        steps.update(dict.fromkeys(last, max(steps.values()) + 1))
    return steps


@lru_cache(maxsize=None)
def _used(module: str) -> frozenset[str]:
    return frozenset(name for name, is_ours in architecture.imports(module) if is_ours)


@lru_cache(maxsize=None)
def _imported(file: Path) -> frozenset[str]:
    """Return the modules of the package that a test file imports."""
    return frozenset(architecture.imports_from_outside(file)).intersection(architecture.MODULES)


def copy(folder: Path) -> None:
    """Copy the project into *folder*, so that a mutant damages nothing."""
    names = subprocess.run(
        ['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'],  # noqa: S607
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    for name in filter(os.path.exists, names.rstrip('\0').split('\0')):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(name, folder / name)
    for file, function in STARTING.items():
        with (folder / f'tests/{file}.py').open('a') as text:
            text.write(WITHIN.format(function))


def drawn(made: Sequence[Change]) -> list[Change]:
    """Return SAMPLE of the mutants of a module, the same ones in each run, whatever changes
    beside them.
    """

    def draw(change: Change) -> bytes:
        return hashlib.sha256(repr(tuple(change.mutant)).encode()).digest()

    return sorted(sorted(made, key=draw)[:SAMPLE], key=made.index)


def measured(wanted: Mapping[str, set[str]], is_sample: bool, told: Told) -> None:
    """Make and try the mutants of some functions, or of all of a module where none is named, in a
    copy of the tree.

    Ends the program where tests fail anyway.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / 'project'  # without the shared folder beside it
        folder.parent.chmod(0o755)  # tests as another user enter it
        os.chdir(ROOT)
        copy(folder)
        made = dict(
            zip(
                wanted,
                spread(
                    lambda module: [
                        change
                        for change in changes(module, folder / f'smart_attributes/{module}.py')
                        if change.mutant.function in (wanted[module] or {change.mutant.function})
                    ],
                    list(wanted),
                ),
            )
        )
        tried = {
            module: drawn(each) if is_sample and not wanted[module] else each
            for module, each in made.items()
        }
        near = {module: tests_of(module) for module in wanted}
        files = dict.fromkeys(str(file) for each in near.values() for file in list(each)[:FILES])
        os.environ['TMPDIR'] = tempfile.tempdir = name
        os.chdir(folder)
        try:
            status = pytest.main(
                [
                    '--assert=plain',
                    '--capture=no',
                    '-p',
                    'no:cacheprovider',
                    '-m',
                    'not long',
                    *files,
                ],
                [
                    Trials(
                        tried,
                        {
                            module: {file.stem for file, distance in each.items() if distance <= 1}
                            for module, each in near.items()
                        },
                        folder / 'smart_attributes',
                        told,
                    )
                ],
            )
        finally:
            os.chdir(ROOT)
        if status:
            raise SystemExit(f'pytest ended with {status}')


class Report:
    """Prints the result of each module as soon as it is measured."""

    def __init__(self) -> None:
        self.is_bad = False

    def __call__(self, module: str, made: Sequence[Change], survivors: Sequence[Change]) -> None:
        """Print how many mutants of a module were noticed, and each that was not."""
        noticed = len(made) - len(survivors)
        percent = 100 * noticed / len(made) if made else 100.0
        self.is_bad = self.is_bad or percent < FIGURE
        print(
            f'{module}: {noticed} of {len(made)}, {percent:.1f} %; '
            f'{"met" if percent >= FIGURE else "missed"}'
        )
        for change in survivors:
            print(f'\n{change.mutant.function}:\n{change.mutant}', flush=True)


def named(word: str) -> dict[str, set[str]]:
    """Return the modules of a name, with or without their folder, each with the one function
    that the name has.
    """
    name, _, function = word.partition('.')
    found = (
        [name]
        if name in architecture.MODULES
        else [module for module in architecture.MODULES if module.endswith(f'/{name}')]
    )
    return {module: {function} - {''} for module in found}


def main(words: Sequence[str]) -> int:
    """Measure the modules and functions of a command line, or all modules; return the exit
    status.
    """
    asked = [word for word in words if word != '--all']
    unknown = [word for word in asked if not named(word)]
    if unknown:
        raise SystemExit(f'{", ".join(unknown)}: not among {", ".join(architecture.MODULES)}')
    wanted = {
        module: function
        for word in asked or architecture.MODULES
        for module, function in named(word).items()
    }
    start, report = time.monotonic(), Report()
    measured(wanted, '--all' not in words, report)
    print(f'{time.monotonic() - start:.0f} s')
    return 1 if report.is_bad else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
