#!/usr/bin/env python3
"""Break functions of the package, one small thing at a time, and count how often tests notice.

Usage: tools/mutants.py [--sample N] [--seed N] [--results FILE] [MODULE[.FUNCTION]...]

mutmut makes the mutants. Of all of them in the package, or in the named modules, a random sample is
tried; the same seed draws the same mutants while their code is the same. Each runs in a process of
its own, in a copy of the tree that it cannot leave (see guard.py), with the tests that run the
changed line. The mutants that no test notices are printed: look at each, as it may do the same as
the code. Mutants whose line no test runs in its own process are counted apart: tests that start or
fork a process may notice them.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import IO

import architecture
import pytest
from mutations import Change, changes, drafts
from trials import ALIVE, NOT_RUN, NOTICED, Told, Trials, spread

ROOT = Path(__file__).resolve().parent.parent
SAMPLE, SEED = 300, 1
# One module answers in minutes: the nearest test files that it is shown to, and their first tests.
FILES, TESTS = 20, 750
SURE = 1.96  # standard deviations on each side of 95 %
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
        distance = min(
            (steps[each] + 1 for each in imported if each in steps), default=FAR + 1
        )
        if file.stem.startswith((f'test_{module.replace("/", "_")}', f'test_{name}')):
            distance = 0
        elif distance > FAR and f"'{name}'" in file.read_text():
            distance = FAR
        if distance <= FAR:
            found[file] = distance, len(imported)
    return {
        file: found[file][0] for file in sorted(found, key=lambda file: found[file])
    }


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
    return frozenset(architecture.imports_from_outside(file)).intersection(
        architecture.MODULES
    )


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


def drawn(made: Iterable[str], sample: int, seed: int) -> list[str]:
    """Return the identities of a random sample of mutants.

    While most mutants stay, so do most of those that a seed draws.
    """

    def draw(identity: str) -> bytes:
        return hashlib.sha256(f'{seed} {identity}'.encode()).digest()

    return sorted(made, key=draw)[:sample]


def made(wanted: Mapping[str, set[str]], sample: int, seed: int) -> list[Change]:
    """Return a sample of the mutants of some functions, or of all functions of a module where none
    is named.
    """

    def source(module: str) -> Path:
        return ROOT / f'smart_attributes/{module}.py'

    modules = list(wanted)
    identities = [
        draft.identity
        for module, of_module in zip(
            modules, spread(lambda m: drafts(m, source(m)), modules)
        )
        for draft in of_module
        if not wanted[module] or draft.function in wanted[module]
    ]
    print(f'{len(identities)} mutants', flush=True)
    # Few of them do the same as the code, which is known only after they are made.
    likely = drawn(identities, sample * 5 // 4, seed)
    found = {
        change.identity: change
        for of_module in spread(lambda m: changes(m, source(m), set(likely)), modules)
        for change in of_module
    }
    return [found[identity] for identity in likely if identity in found][:sample]


def measured(
    tried: Sequence[Change], files: Sequence[str], most: int | None, told: Told
) -> None:
    """Try mutants in a copy of the tree, with the tests of some files, at most so many.

    Ends the program where tests cannot be collected.
    """
    own = {
        module: {
            file.stem for file, distance in tests_of(module).items() if distance <= 1
        }
        for module in {change.module for change in tried}
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / 'project'  # without the shared folder beside it
        folder.parent.chmod(0o755)  # tests as another user enter it
        copy(folder)
        os.environ['TMPDIR'] = tempfile.tempdir = name
        os.chdir(folder)
        words = [
            '--assert=plain',
            '--capture=no',
            '-p',
            'no:cacheprovider',
            '-m',
            'not long',
        ]
        trials = Trials(tried, own, folder / 'smart_attributes', most, told)
        try:
            status = pytest.main([*words, *files], [trials])
        finally:
            os.chdir(ROOT)
        if status:
            raise SystemExit(f'pytest ended with {status}')


def interval(share: int, of: int) -> tuple[float, float]:
    """Return the 95 % interval of a share that a sample has, in per cent.

    Source: Wilson, Probable Inference, the Law of Succession, and Statistical Inference, 1927.
    """
    middle, rest = share + SURE**2 / 2, of + SURE**2
    half = SURE * math.sqrt(share * (of - share) / of + SURE**2 / 4)
    return 100 * (middle - half) / rest, 100 * (middle + half) / rest


class Report:
    """Prints each mutant that is not noticed, and counts all; results: a file for a line each."""

    def __init__(self, results: IO[str] | None = None) -> None:
        self._count: Counter[str] = Counter()
        self._results = results

    def __call__(self, change: Change, result: str) -> None:
        """Take the result of one mutant."""
        self._count[result] += 1
        function = change.mutant.function
        if result == ALIVE:
            print(f'\n{change.module}.{function}:\n{change.mutant}', flush=True)
        if self._results:
            line = (change.module, function, change.identity, result)
            print(*line, sep='\t', file=self._results, flush=True)

    def close(self) -> None:
        """Print the score."""
        noticed, alive, not_run = (
            self._count[each] for each in (NOTICED, ALIVE, NOT_RUN)
        )
        print(
            f'\n{noticed} noticed, {alive} alive, {not_run} not run in process by any test'
        )
        if noticed + alive:
            low, high = interval(noticed, noticed + alive)
            share = 100 * noticed / (noticed + alive)
            print(f'score: {share:.1f} % of those that run ({low:.1f} to {high:.1f} %)')


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
    """Try mutants of the modules and functions of a command line, or of the whole package."""
    parser = argparse.ArgumentParser(description=(__doc__ or '').partition('\n')[0])
    parser.add_argument('--sample', metavar='N', type=int, default=SAMPLE)
    parser.add_argument('--seed', metavar='N', type=int, default=SEED)
    parser.add_argument('--results', metavar='FILE', type=Path, default=os.devnull)
    parser.add_argument('names', metavar='MODULE[.FUNCTION]', nargs='*')
    options = parser.parse_args(words)
    unknown = [name for name in options.names if not named(name)]
    if unknown:
        parser.error(
            f'{", ".join(unknown)}: not among {", ".join(architecture.MODULES)}'
        )
    wanted = {
        module: function
        for name in options.names or architecture.MODULES
        for module, function in named(name).items()
    }
    start = time.monotonic()
    with options.results.open('w') as results:
        os.chdir(ROOT)
        tried, report = made(wanted, options.sample, options.seed), Report(results)
        print(f'{len(tried)} of them, seed {options.seed}', flush=True)
        most = (FILES, TESTS) if options.names else (None, None)
        files = dict.fromkeys(
            str(file) for m in wanted for file in list(tests_of(m))[: most[0]]
        )
        measured(tried, list(files), most[1], report)
        report.close()
    print(f'{time.monotonic() - start:.0f} s')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
