#!/usr/bin/env python3
"""Break every function, one small thing at a time, and count how often the unit tests notice.

Usage: tools/mutants.py [--all] [MODULE[.FUNCTION]...]

Without a name, all modules; make mutants MODULE=judging tries one. mutmut makes the mutants. A sample of those of each
module is tried, drawn by their hashes, and the share that tests notice is an estimate; --all, or the name of a
function, tries all of them. Each runs in a process of its own, in a copy of the tree that it cannot leave (see
guard.py), with the tests that run the changed line. A mutant that no test notices must be in
tests/mutants/survivors.txt with its reason: "equal" (the program does the same), "words only" (an admin reads the same
in other words), or "accepted because ...". A function that is "left out because ..." is not tried. Exit status 1 if a
reason is missing, or if a module misses its figure. tests/mutants/figures.txt is updated after each module: a run can
be stopped.
"""
from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import architecture
import pytest
from mutations import Change, changes, functions
from survivors import SURVIVORS, Mutant, accepted
from trials import Told, Trials, spread

ROOT = Path(__file__).resolve().parent.parent
FIGURES = ROOT / 'tests/mutants/figures.txt'
HEAD = '# module: mutants noticed of those tried, share, day and commit. Written by make mutants.'
FIGURE = 90     # per cent of the mutants of each module that the tests must notice
SAMPLE = 60     # mutants of each module that are tried
FILES = 20      # of tests that one module is shown to, the nearest first
FAR = 9
# What two files of the copy end with: a process would know nothing of mutants.
STARTING = {'conftest': 'run', 'days': 'run_at'}
WITHIN = """

def {0}(*words, **how):
    import within
    return within.{0}(*words, **how)
"""
NEW = 'nobody looked at'


def tests_of(module: str) -> dict[Path, int]:
    """Return the test files that may reach a module, the nearest first, each with its distance.

    The distance is 0 with the module's name, 1 if the file imports the module, 2 if it imports one of its users, and so
    on; a file that names the module or its command in quotes is FAR. Among equals, one that imports little is first.
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
        last = {user for user in architecture.MODULES if user not in steps and not last.isdisjoint(_used(user))}
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
    names = subprocess.run(['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'], cwd=ROOT,  # noqa: S607
                           stdout=subprocess.PIPE, text=True, check=True).stdout
    for name in filter(os.path.exists, names.rstrip('\0').split('\0')):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(name, folder / name)
    for file, function in STARTING.items():
        with (folder / f'tests/{file}.py').open('a') as text:
            text.write(WITHIN.format(function))
    shutil.move(folder / 'tests/mutants/within.py', folder / 'tests')


def drawn(made: Sequence[Change]) -> list[Change]:
    """Return SAMPLE of the mutants of a module, the same ones in each run, whatever changes beside them."""
    def draw(change: Change) -> bytes:
        return hashlib.sha256(repr(tuple(change.mutant)).encode()).digest()

    return sorted(sorted(made, key=draw)[:SAMPLE], key=made.index)


def measured(wanted: Mapping[str, set[str]], is_sample: bool, told: Told) -> None:
    """Make and try the mutants of some functions, or of all of a module where none is named, in a copy of the tree.

    Ends the program where tests fail anyway.
    """
    left_out = {mutant.function for mutant in accepted() if not mutant.before and not mutant.after}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / 'project'     # without the shared folder beside it
        folder.parent.chmod(0o755)          # tests as another user enter it
        os.chdir(ROOT)
        copy(folder)
        made = dict(zip(wanted, spread(lambda module: [
            change for change in changes(module, folder / f'smart_attributes/{module}.py')
            if change.mutant.function not in left_out and change.mutant.function in (
                wanted[module] or {change.mutant.function})], list(wanted))))
        tried = {module: drawn(each) if is_sample and not wanted[module] else each for module, each in made.items()}
        near = {module: tests_of(module) for module in wanted}
        files = dict.fromkeys(str(file) for each in near.values() for file in list(each)[:FILES])
        os.environ['TMPDIR'] = tempfile.tempdir = name
        os.chdir(folder)
        try:
            status = pytest.main([
                '--assert=plain', '--capture=no', '-p', 'no:cacheprovider', '-m', 'not long', *files],
                [Trials(tried, {module: {file.stem for file, distance in each.items() if distance <= 1}
                                for module, each in near.items()}, folder / 'smart_attributes', told)])
        finally:
            os.chdir(ROOT)
        if status:
            raise SystemExit(f'pytest ended with {status}')


def covered_lines() -> str:
    """Return how many of the package's lines mutants cover, in words, and which functions they leave out."""
    left_out = {mutant.function: reason for mutant, reason in accepted().items() if not mutant.before + mutant.after}
    lines, inside, lost = 0, 0, 0
    for module in architecture.MODULES:
        text = (architecture.PACKAGE / f'{module}.py').read_text()
        found = functions(text)
        lines += text.count('\n')
        inside += sum(map(len, found.values()))
        lost += sum(len(span) for name, span in found.items() if name in left_out) if found else text.count('\n')
    head = (f'mutants cover {100 * (lines - lost) / lines:.1f} % of the lines of the package '
            f'({lines}, of which {inside} are in functions)')
    return '\n'.join([head, *(f'{name}: {reason}' for name, reason in left_out.items())])


def share(number: int, survivors: Sequence[Mutant]) -> float:
    """Return how many per cent of so many mutants were noticed; 100 where there is none."""
    return 100 if not number else 100 * (number - len(survivors)) / number


def reasons(survivors: Sequence[Mutant], known: Mapping[Mutant, str]) -> str:
    """Return why mutants may survive, in words: "2 accepted, 1 equal"."""
    counts = Counter(known.get(mutant, NEW).partition(' because')[0] for mutant in survivors)
    return ', '.join(f'{count} {reason}' for reason, count in sorted(counts.items())) or 'none'


def measured_now() -> str:
    """Return the day and the commit of what is measured, and whether it is just that."""
    def git(*words: str) -> str:
        return subprocess.run(['git', *words], cwd=ROOT, stdout=subprocess.PIPE, text=True,  # noqa: S607
                              check=True).stdout.strip()

    changed = git('status', '--porcelain', 'smart_attributes', 'tests')
    return (f'{time.strftime("%Y-%m-%d", time.gmtime())}, {git("rev-parse", "--short", "HEAD")}'
            f'{" and changes" if changed else ""}')


def with_row(text: str, module: str, row: str) -> str:
    """Return the text of FIGURES with the row of a module instead of an older one; modules that are gone have none."""
    rows = {line.partition(':')[0]: line for line in [*text.splitlines()[1:], f'{module}: {row}']}
    return '\n'.join([HEAD, *(rows[each] for each in sorted(rows) if each in architecture.MODULES)]) + '\n'


class Report:
    """What is told of each module as soon as it is measured."""

    def __init__(self, whole: Mapping[str, set[str]]) -> None:
        self.known, self.measured, self.is_bad = accepted(), measured_now(), False
        self.whole = whole

    def __call__(self, module: str, made: Sequence[Change], survivors: Sequence[Change]) -> None:
        """Note the row of a module; print it, who survived there for no known reason, and reasons for nobody."""
        found, tried = ([change.mutant for change in each] for each in (survivors, made))
        percent = share(len(made), found)
        row = f'{len(made) - len(found)} of {len(made)}, {percent:.1f} %, {self.measured}'
        new = [mutant for mutant in found if mutant not in self.known]
        gone = [mutant for mutant in tried if mutant in self.known and mutant not in found]
        self.is_bad = self.is_bad or percent < FIGURE or bool(new)
        print(f'{module}: {row}; {"met" if percent >= FIGURE else "missed"}; survivors: {reasons(found, self.known)}',
              *(f'\n{mutant.function}: ?\n{mutant}' for mutant in new),
              *(f'\n{mutant.function}: in {SURVIVORS.name}, but survives no more; take it out\n{mutant}'
                for mutant in gone), sep='\n', flush=True)
        if not self.whole[module]:
            FIGURES.write_text(with_row(FIGURES.read_text(), module, row))


def named(word: str) -> dict[str, set[str]]:
    """Return the modules of a name, with or without their folder, each with the one function that the name has."""
    name, _, function = word.partition('.')
    found = [name] if name in architecture.MODULES else [
        module for module in architecture.MODULES if module.endswith(f'/{name}')]
    return {module: {function} - {''} for module in found}


def main(words: Sequence[str]) -> int:
    """Measure the modules and functions of a command line, or all modules; return the exit status."""
    asked = [word for word in words if word != '--all']
    unknown = [word for word in asked if not named(word)]
    if unknown:
        raise SystemExit(f'{", ".join(unknown)}: not among {", ".join(architecture.MODULES)}')
    wanted = {module: function for word in asked or architecture.MODULES for module, function in named(word).items()}
    start, report = time.monotonic(), Report(wanted)
    measured(wanted, '--all' not in words, report)
    print(covered_lines(), f'{time.monotonic() - start:.0f} s', sep='\n')
    return 1 if report.is_bad else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
