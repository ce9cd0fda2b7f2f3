#!/usr/bin/env python3
"""Break every pure module, one small thing at a time, and count how often the unit tests notice.

Usage: tools/mutants.py [--sample] [MODULE...]

Without MODULE, a sample of each pure module (make mutants); with MODULE, all mutants of these modules, pure or not
(make mutants MODULE=judging), or a sample of theirs with --sample. A module is pure if it imports neither os nor
subprocess, socket, ssl or sqlite3, and is not in commands/, which calls everything. mutmut makes the mutants; each is
tried in a process of its own, in a copy of the tree, by the tests that run the changed line. A mutant that no test
notices must be in tests/mutants/survivors.txt with its reason: "equal" (the program does the same), "words only" (an
admin reads the same in other words), or "accepted because ...". Exit status 1 if one is not, or if a module misses its
figure. The table of doc/explanation/tests.md is updated after each module: a run can be stopped.
"""
from __future__ import annotations

import ast
import os
import random
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
from mutations import Change, changes
from survivors import SURVIVORS, Mutant, accepted
from trials import Told, Trials

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / 'doc/explanation/tests.md'
TABLE = '<!-- mutants -->\n', '<!-- end of mutants -->'
IMPURE = {'os', 'subprocess', 'socket', 'ssl', 'sqlite3'}
STARTERS = 'commands/'      # they call the impure modules and print; tests of the program cover them
FIGURE = 90     # per cent of the mutants of each pure module that the tests must notice
HEAD = [f'| module | mutants | noticed | share | at least {FIGURE} % | measured |', '|---|---|---|---|---|---|']
SAMPLE = 60     # mutants of each module in a sample; each module always has the same ones
# What two files of the copy end with: a process would know nothing of mutants.
STARTING = {'conftest': 'run', 'days': 'run_at'}
WITHIN = """

def {0}(*words, **how):
    import within
    return within.{0}(*words, **how)
"""
NEW = 'nobody looked at'


def pure() -> list[str]:
    """Return the modules that import nothing IMPURE and have a function, without the STARTERS."""
    return [module for module in architecture.MODULES if not module.startswith(STARTERS)
            and not IMPURE.intersection(name for name, _ in architecture.imports(module))
            and 'def ' in (architecture.PACKAGE / f'{module}.py').read_text()]


def tests_of(module: str) -> list[Path]:
    """Return the test files that have a module's name or import it; without any, those that import one of its users."""
    files = {file: _imported(file) for file in sorted(Path('tests').glob('test_*.py'))}
    names = {f'test_{module.replace("/", "_")}', f'test_{module.rpartition("/")[2]}'}
    users = {user for user in architecture.MODULES if (module, True) in architecture.imports(user)}
    return ([file for file, imported in files.items() if file.stem in names or module in imported]
            or [file for file, imported in files.items() if users & imported])


@lru_cache(maxsize=None)
def _imported(file: Path) -> set[str]:
    """Return the modules of the package that a test file imports."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or '').startswith('smart_attributes'):
            package = '/'.join((node.module or '').split('.')[1:])
            found |= {package, *(f'{package}/{alias.name}'.lstrip('/') for alias in node.names)}
    return found.intersection(architecture.MODULES)


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


def sampled(module: str, made: Sequence[Change]) -> list[Change]:
    """Return SAMPLE of the mutants of a module, the same ones in each run as long as the module is the same."""
    kept = set(random.Random(module).sample(range(len(made)), min(SAMPLE, len(made))))  # noqa: S311
    return [change for number, change in enumerate(made) if number in kept]


def measured(modules: Sequence[str], is_sample: bool, told: Told) -> None:
    """Make and try the mutants of some modules, in a copy of the tree. Ends the program where tests fail anyway."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / 'project'     # without the shared folder beside it
        os.chdir(ROOT)
        copy(folder)
        all_made = {module: changes(module, folder / f'smart_attributes/{module}.py') for module in modules}
        made = {module: sampled(module, each) if is_sample else each for module, each in all_made.items()}
        os.chdir(folder)
        try:
            status = pytest.main([
                '--assert=plain', '--capture=no', '-p', 'no:cacheprovider',
                *sorted({str(file) for module in modules for file in tests_of(module)})],
                [Trials(made, folder / 'smart_attributes', told)])
        finally:
            os.chdir(ROOT)
        if status:
            raise SystemExit(f'pytest ended with {status}')


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


def with_row(document: str, module: str, row: str) -> str:
    """Return a document with the row of a module in its table, instead of an older one."""
    start, end = TABLE
    before, rest = document.split(start)
    old, after = rest.split(end)
    rows = {line.split('`')[1]: line for line in old.splitlines() if '`' in line}
    rows[module] = row
    there = [rows[each] for each in sorted(rows) if each in architecture.MODULES]
    return before + start + '\n'.join([*HEAD, *there]) + f'\n{end}' + after


class Report:
    """What is told of each module as soon as it is measured."""

    def __init__(self, is_sample: bool) -> None:
        self.known, self.measured = accepted(), measured_now()
        self.is_sample, self.is_bad = is_sample, False

    def __call__(self, module: str, made: Sequence[Change], survivors: Sequence[Change]) -> None:
        """Note the row of a module; print it, who survived there for no known reason, and reasons for nobody."""
        found, tried = ([change.mutant for change in each] for each in (survivors, made))
        number = f'{len(made)}{" (sample)" if self.is_sample else ""}'
        is_met = share(len(made), found) >= FIGURE
        line = (f'| `{module}` | {number} | {len(made) - len(found)} | {share(len(made), found):.1f} % | '
                f'{"met" if is_met else "missed"} | {self.measured} |')
        new = [mutant for mutant in found if mutant not in self.known]
        gone = [mutant for mutant in self.known
                if mutant.function.partition('.')[0] == module and mutant not in found
                and (mutant in tried or not self.is_sample)]
        self.is_bad = self.is_bad or not is_met or bool(new)
        print(f'{line} survivors: {reasons(found, self.known)}',
              *(f'\n{mutant.function}: ?\n{mutant}' for mutant in new),
              *(f'\n{mutant.function}: in {SURVIVORS.name}, but survives no more; take it out\n{mutant}'
                for mutant in gone), sep='\n', flush=True)
        DOCUMENT.write_text(with_row(DOCUMENT.read_text(), module, line))


def named(word: str) -> list[str]:
    """Return the modules of a name, with or without the folder: check/judging for "judging"."""
    return [module for module in architecture.MODULES if f'/{module}'.endswith(f'/{word}')]


def main(words: Sequence[str]) -> int:
    """Measure the modules of a command line, or a sample of all pure ones; return the exit status."""
    modules = [word for word in words if word != '--sample']
    is_sample = modules == [] or '--sample' in words
    unknown = [word for word in modules if not named(word)]
    if unknown:
        raise SystemExit(f'{", ".join(unknown)}: not among {", ".join(architecture.MODULES)}')
    modules = [module for word in modules for module in named(word)]
    start, report = time.monotonic(), Report(is_sample)
    measured(modules or pure(), is_sample, report)
    print(f'{time.monotonic() - start:.0f} s')
    return 1 if report.is_bad else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
