#!/usr/bin/env python3
"""Break what decides, one small thing at a time, and count how often the unit tests notice.

Usage: tools/mutants.py [MODULE...]       (make mutants: all of them, half an hour on two busy cores)

mutmut makes the mutants and runs the tests, in a copy of the tree. A mutant that no test notices must stand in
tests/mutants/survivors.txt with its reason: "equal" (the program does the same), "words only" (an admin reads the same
in other words), or "accepted because ...". Exit status 1 where one does not, or where a module misses its figure.
"""
from __future__ import annotations

import ast
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
from collections import Counter
from pathlib import Path
from typing import Dict, List, Mapping, NamedTuple, Sequence, Tuple

ROOT = Path(__file__).resolve().parent.parent
SURVIVORS = ROOT / 'tests/mutants/survivors.txt'
# module -> per cent of its mutants that the tests must notice
FIGURES = dict.fromkeys((
    'judge', 'outlook', 'whereabouts', 'trust', 'words',
    *(f'knowledge/{noun}' for noun in ('acknowledged', 'decode', 'error_log', 'faults', 'ranges', 'readings',
                                       'self_tests', 'specs', 'thresholds', 'units')),
    *(f'memory/{noun}' for noun in ('changes', 'clock', 'drives', 'forecast', 'growth', 'past', 'series', 'wear')),
), 95)
# Tests of one value each, or of one run of the program in this process, so that thousands of them take minutes.
TESTS = ('test_judge', 'test_readings', 'test_decode', 'test_ranges', 'test_thresholds', 'test_specs', 'test_faults',
         'test_clean', 'test_statements', 'test_trust', 'test_units', 'test_error_log', 'test_self_tests',
         'test_accepting', 'test_lately', 'test_memory_growth', 'test_memory_changes', 'test_memory_store',
         'test_aged', 'test_forecast', 'test_outlook', 'test_whereabouts', 'test_month')
NEEDED = ('smart_attributes', 'tests', 'thresholds', 'attributes.json', 'pyproject.toml')
# What two files of the copy end with: a process would know nothing of mutants.
STARTING = {'conftest': 'run', 'days': 'run_at'}
WITHIN = """

def {0}(*words, **how):
    import within
    return within.{0}(*words, **how)
"""
# mutmut leaves decorated functions alone; without its cache a function answers the same.
CACHE = re.compile(r'^@lru_cache\(.*\)\n', re.MULTILINE)
REASON = re.compile(r'equal|words only|accepted because .+')
NEW = 'nobody looked at'


class Mutant(NamedTuple):
    """One change to one function."""

    function: str           # "judge._hours", "knowledge/specs.SpecDatabase.claims"
    before: Tuple[str, ...]  # the statements that it takes out, and those that it puts in, a line each
    after: Tuple[str, ...]

    def __str__(self) -> str:
        """As in the file of survivors."""
        return '\n'.join([*(f'- {line}' for line in self.before), *(f'+ {line}' for line in self.after)])


def copy(folder: Path, modules: Sequence[str]) -> None:
    """Put into *folder* what the unit tests need, and mutmut's settings."""
    for name in NEEDED:
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, folder / name)
    for file, function in STARTING.items():
        with (folder / f'tests/{file}.py').open('a') as text:
            text.write(WITHIN.format(function))
    shutil.move(folder / 'tests/mutants/within.py', folder / 'tests')
    for module in modules:
        source = folder / f'smart_attributes/{module}.py'
        source.write_text(CACHE.sub('', source.read_text()))
    (folder / 'setup.cfg').write_text('\n'.join([
        '[mutmut]', 'source_paths = smart_attributes', 'also_copy =', *(f'  {name}' for name in NEEDED),
        'only_mutate =', *(f'  smart_attributes/{module}.py' for module in modules),
        'pytest_add_cli_args_test_selection =', *(f'  tests/{name}.py' for name in TESTS), '']))


def run_mutmut(folder: Path) -> None:
    """Make and try the mutants of a copy. Ends the program where the unit tests fail without one."""
    done = subprocess.run([sys.executable, '-m', 'mutmut', 'run', '--max-children', str(os.cpu_count() or 1)],
                          check=False,
                          cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise SystemExit(f'mutmut ended with {done.returncode}:\n{done.stdout[-3000:]}')


def results(module: str) -> Tuple[str, int, List[Mutant]]:
    """Return what mutmut found out about one module; the working directory is the copy."""
    from mutmut.mutation.data import SourceFileMutationData
    from mutmut.stats import status_by_exit_code

    path = Path(f'smart_attributes/{module}.py')
    data = SourceFileMutationData(path=path)
    data.load()
    status = {name: status_by_exit_code[code] for name, code in data.exit_code_by_key.items()}
    unknown = {state for state in status.values() if state not in ('killed', 'timeout', 'survived', 'no tests')}
    if unknown:
        raise SystemExit(f'mutmut did not measure {module}: {", ".join(sorted(unknown))}')
    survivors = [mutant(module, name, *versions(name, path))
                 for name, state in status.items() if state in ('survived', 'no tests')]
    return module, len(status), survivors


def versions(name: str, path: Path) -> Tuple[str, str]:
    """Return the function that mutmut changed, before and after."""
    from libcst import Module
    from mutmut.mutation.diff_apply import read_functions_from_index

    found = read_functions_from_index(name, path)
    if found is None:
        raise SystemExit(f'mutmut has not written what it made of {name}')
    was, is_now = (Module([function]).code for function in found)
    return was, is_now


def mutant(module: str, name: str, was: str, is_now: str) -> Mutant:
    """Return the mutant that mutmut calls *name*: "smart_attributes.judge.x__hours__mutmut_3".

    was, is_now: its function, before and after. What differs is told in statements: where a line is wrapped
        changes with what stands before it.
    """
    function = name.rpartition('.')[2].partition('__mutmut_')[0]
    place = function[1:].replace('ǁ', '.').strip('.') if 'ǁ' in function else function[2:]
    before, after = (ast.unparse(ast.parse(textwrap.dedent(code))).splitlines() for code in (was, is_now))
    lines = [line for line in difflib.unified_diff(before, after, n=0) if not line.startswith(('---', '+++'))]
    return Mutant(f'{module}.{place}', *(tuple(line[1:].strip() for line in lines if line[0] == sign) for sign in '-+'))


def accepted() -> Dict[Mutant, str]:
    """Return the survivors that somebody looked at, with their reasons."""
    found = {}
    for block in SURVIVORS.read_text().strip().split('\n\n') if SURVIVORS.exists() else ():
        head, *lines = block.splitlines()
        function, _, reason = head.partition(': ')
        if not REASON.fullmatch(reason):
            raise SystemExit(f'{SURVIVORS}: "{head}" gives no reason: write equal, words only or accepted because ...')
        found[Mutant(function, *(tuple(line[2:] for line in lines if line[0] == sign) for sign in '-+'))] = reason
    return found


def measured(modules: Sequence[str]) -> List[Tuple[str, int, List[Mutant]]]:
    """Return (module, number of mutants, survivors) of each module."""
    with tempfile.TemporaryDirectory() as folder:
        copy(Path(folder), modules)
        run_mutmut(Path(folder))
        os.chdir(folder)  # where mutmut looks for its results
        try:
            return [results(module) for module in modules]
        finally:
            os.chdir(ROOT)


def summary(module: str, number: int, survivors: Sequence[Mutant], known: Mapping[Mutant, str]) -> Tuple[str, bool]:
    """Return the line of a module, and whether it misses its figure."""
    killed = 100 * (number - len(survivors)) / number
    reasons = Counter(known.get(mutant, NEW).partition(' because')[0] for mutant in survivors)
    classes = ', '.join(f'{count} {reason}' for reason, count in sorted(reasons.items()))
    words = (f'{module:20} {number:4} mutants, {killed:5.1f} % killed (at least {FIGURES[module]} %); survivors: '
             f'{classes or "none"}')
    return words, killed < FIGURES[module]


def main(modules: Sequence[str]) -> int:
    """Measure *modules*, print a line each and what nobody has looked at; return the exit status."""
    unknown = set(modules) - set(FIGURES)
    if unknown:
        raise SystemExit(f'{", ".join(sorted(unknown))}: not among {", ".join(FIGURES)}')
    start, known = time.monotonic(), accepted()
    found = measured(modules)
    lines = [summary(*one, known) for one in found]
    print(*(line for line, _ in lines), sep='\n')
    survivors = [mutant for _, _, of_module in found for mutant in of_module]
    new = [mutant for mutant in survivors if mutant not in known]
    for mutant in new:
        print(f'\n{mutant.function}: ?\n{mutant}')
    gone = [mutant for mutant in known if mutant.function.partition('.')[0] in modules and mutant not in survivors]
    for mutant in gone:
        print(f'\n{mutant.function}: in {SURVIVORS.name}, but survives no more; take it out\n{mutant}')
    print(f'\n{len(new)} survivors are not in {SURVIVORS.name}, {len(gone)} there survive no more; '
          f'{time.monotonic() - start:.0f} s')
    return 1 if new or any(is_missed for _, is_missed in lines) else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:] or list(FIGURES)))
