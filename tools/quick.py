#!/usr/bin/env python3
"""Choose the test functions of `make quick`, and write their names to tests/quick.txt.

Usage: tools/quick.py

The first case of each function runs once, with the lines that it runs and the CPU time that it
takes; then functions are taken, those with the most new lines a second first, until they run 99 %
of the lines that all of them run. Lines in processes of their own do not count, nor cases that
fail. Run it after tests were moved: `make quick` leaves out a name that is gone.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / 'tests/quick.txt'
SHARE = 0.99  # of the lines
_STARTS = 0.01  # seconds that a function takes at least, with its fixtures


class Lines:
    """A plugin of pytest that notes what the first case of each function runs and takes."""

    def __init__(self) -> None:
        self.of: dict[str, tuple[set[tuple[str, int]], float]] = {}
        self._passed: set[str] = set()

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep the first case of each function."""
        first: dict[str, pytest.Item] = {}
        for item in items:
            first.setdefault(function_of(item), item)
        items[:] = first.values()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item):  # type: ignore[no-untyped-def]
        """Trace one case."""
        import coverage

        measured = coverage.Coverage(
            data_file=None, source=[str(ROOT / 'smart_attributes')]
        )
        began = time.process_time()
        measured.start()
        yield
        measured.stop()
        if item.nodeid not in self._passed:
            return
        data = measured.get_data()
        lines = {
            (file, line)
            for file in data.measured_files()
            for line in data.lines(file) or ()
        }
        self.of[function_of(item)] = lines, time.process_time() - began

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note which cases pass."""
        if report.when == 'call' and report.passed:
            self._passed.add(report.nodeid)


def function_of(item: pytest.Item) -> str:
    """Return the name of the function of a case: "tests/test_x.py::test_y"."""
    return item.nodeid.partition('[')[0].partition('@')[0]


def chosen(of: dict[str, tuple[set[tuple[str, int]], float]]) -> list[str]:
    """Return the functions that run SHARE of all lines, sorted by name."""
    everything = set().union(*(lines for lines, _ in of.values()))
    left, names = set(everything), []
    while len(left) > (1 - SHARE) * len(everything):
        best = max(
            of, key=lambda name: len(of[name][0] & left) / (of[name][1] + _STARTS)
        )
        names.append(best)
        left -= of[best][0]
    return sorted(names)


def main() -> int:
    """Run all functions, and write the names of those that are chosen."""
    lines = Lines()
    with tempfile.TemporaryDirectory() as folder:
        words = ['-q', '-m', 'not long and not tools', '-p', 'no:cacheprovider']
        status = pytest.main(
            [*words, f'--basetemp={folder}/tests', str(ROOT / 'tests')], [lines]
        )
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        return int(status)
    names = chosen(lines.of)
    LIST.write_text('\n'.join(names) + '\n')
    seconds = sum(lines.of[name][1] for name in names)
    print(f'{len(names)} of {len(lines.of)} functions, {seconds:.0f} s of CPU, traced')
    return 0


if __name__ == '__main__':
    sys.exit(main())
