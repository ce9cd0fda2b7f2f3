#!/usr/bin/env python3
"""Break what decides, one small thing at a time, and count how often the unit tests notice.

Usage: tools/mutants.py [MODULE...]       (make mutants: all of them, 20 minutes on one core)

mutmut thinks of the mutants; each is tried in a process of its own, in a copy of the tree, by the tests that run the
changed line. One that no test notices must stand in tests/mutants/survivors.txt with its reason: "equal" (the program
does the same), "words only" (an admin reads the same in other words), or "accepted because ...". Exit status 1 where
one does not, or where a module misses its figure. What was measured goes into the table of doc/tests.md at once, so
that a run may be broken off.
"""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Mapping, Sequence

import pytest
from mutations import Change, changes
from survivors import SURVIVORS, Mutant, accepted
from trials import Told, Trials

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / 'doc/tests.md'
TABLE = '<!-- mutants -->\n', '<!-- end of mutants -->'
HEAD = ['| module | mutants | noticed | | measured |', '|---|---|---|---|---|']
# module -> per cent of its mutants that the tests must notice
FIGURES = dict.fromkeys((
    'judge', 'verdicts', 'outlook', 'whereabouts', 'trust', 'words',
    *(f'knowledge/{noun}' for noun in ('acknowledged', 'beginnings', 'decode', 'error_log', 'faults', 'ranges',
                                       'readings', 'self_tests', 'specs', 'thresholds', 'units')),
    *(f'memory/{noun}' for noun in ('changes', 'clock', 'drives', 'forecast', 'growth', 'past', 'series', 'wear')),
), 95)
# Tests of one value each, or of one run of the program in this process, so that thousands of them take minutes.
TESTS = ('test_judge', 'test_verdicts', 'test_readings', 'test_decode', 'test_ranges', 'test_thresholds', 'test_specs',
         'test_beginnings', 'test_faults', 'test_clean', 'test_statements', 'test_trust', 'test_units',
         'test_error_log', 'test_self_tests', 'test_accepting', 'test_lately', 'test_memory_clock',
         'test_memory_series', 'test_memory_drives', 'test_memory_growth', 'test_memory_changes', 'test_memory_store',
         'test_memory_smartd_log', 'test_forged_memory', 'test_remembering', 'test_history', 'test_triage',
         'test_aged', 'test_forecast', 'test_outlook', 'test_whereabouts', 'test_month')
NEEDED = ('smart_attributes', 'tests', 'thresholds', 'attributes.json', 'pyproject.toml')
# What two files of the copy end with: a process would know nothing of mutants.
STARTING = {'conftest': 'run', 'days': 'run_at'}
WITHIN = """

def {0}(*words, **how):
    import within
    return within.{0}(*words, **how)
"""
NEW = 'nobody looked at'


def copy(folder: Path) -> None:
    """Put into *folder* what the unit tests need: what a mutant damages is not the tree."""
    for name in NEEDED:
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, folder / name)
    for file, function in STARTING.items():
        with (folder / f'tests/{file}.py').open('a') as text:
            text.write(WITHIN.format(function))
    shutil.move(folder / 'tests/mutants/within.py', folder / 'tests')


def measured(modules: Sequence[str], told: Told) -> None:
    """Make and try the mutants of some modules, in a copy of the tree. Ends the program where tests fail anyway."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy(folder)
        made = {module: changes(module, folder / f'smart_attributes/{module}.py') for module in modules}
        os.chdir(folder)
        try:
            status = pytest.main([
                '--assert=plain', '--capture=no', '-p', 'no:cacheprovider', '--basetemp', str(folder / 'tmp'),
                *(f'tests/{test}.py' for test in TESTS)], [Trials(made, folder / 'smart_attributes', told)])
        finally:
            os.chdir(ROOT)
        if status:
            raise SystemExit(f'pytest ended with {status}')


def share(number: int, survivors: Sequence[Mutant]) -> float:
    """Return how many per cent of so many mutants were noticed."""
    return 100 * (number - len(survivors)) / number


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
    return before + start + '\n'.join([*HEAD, *(rows[each] for each in FIGURES if each in rows)]) + f'\n{end}' + after


class Report:
    """What is told of each module as soon as it is measured."""

    def __init__(self) -> None:
        self.known, self.measured = accepted(), measured_now()
        self.is_bad = False

    def __call__(self, module: str, made: Sequence[Change], survivors: Sequence[Change]) -> None:
        """Note the row of a module; print it, who survived there for no known reason, and reasons for nobody."""
        found = [change.mutant for change in survivors]
        line = (f'| `{module}` | {len(made)} | {len(made) - len(found)} | {share(len(made), found):.1f} % | '
                f'{self.measured} |')
        new = [mutant for mutant in found if mutant not in self.known]
        gone = [mutant for mutant in self.known
                if mutant.function.partition('.')[0] == module and mutant not in found]
        self.is_bad = self.is_bad or share(len(made), found) < FIGURES[module] or bool(new)
        print(f'{line} survivors: {reasons(found, self.known)}',
              *(f'\n{mutant.function}: ?\n{mutant}' for mutant in new),
              *(f'\n{mutant.function}: in {SURVIVORS.name}, but survives no more; take it out\n{mutant}'
                for mutant in gone), sep='\n', flush=True)
        DOCUMENT.write_text(with_row(DOCUMENT.read_text(), module, line))


def main(modules: Sequence[str]) -> int:
    """Measure *modules*, print a line each and what nobody has looked at; return the exit status."""
    unknown = set(modules) - set(FIGURES)
    if unknown:
        raise SystemExit(f'{", ".join(sorted(unknown))}: not among {", ".join(FIGURES)}')
    start, report = time.monotonic(), Report()
    measured(modules, report)
    print(f'{time.monotonic() - start:.0f} s')
    return 1 if report.is_bad else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:] or list(FIGURES)))
