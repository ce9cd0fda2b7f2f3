"""Try mutants: the unit tests that run a changed line, in a process of their own, until one of them
fails.

pytest collects the tests once; every test without a mutant, and every mutant, is then a fork of
that process. So nothing that one of them leaves behind, a cache least of all, hides what another
one does. As many forks run at a time as the machine has cores.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import resource
import select
import signal
import struct
import subprocess
import sys
import time
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from math import ceil
from pathlib import Path
from typing import (
    Any,
    Callable,
    NamedTuple,
    TypeVar,
)
from unittest import mock

import pytest
from _pytest.runner import runtestprotocol
from guard import stay_within
from mutations import Change

# The exit statuses of a process: what mutants may exit with themselves is none of them.
PASSED, FAILED, SKIPPED = range(40, 43)
# A test hangs that takes longer than PATIENCE seconds and ten times what it takes without a mutant.
PATIENCE = 20.0
MEMORY = 2 << 30  # bytes
# All tests of a module's own files are asked, then others, the quickest first, until so many
# seconds are spent. A mutant that no test has noticed by then survives.
LONGEST = 15.0
# A test that takes more seconds of CPU while its lines are watched is not a unit test, and is not
# asked. The kernel counts whole seconds, so it may take up to one more.
UNIT = 2
# As many of the tests that noticed the last mutants of the same function are asked first.
LIKELY = 8
Task = TypeVar('Task')
Done = TypeVar('Done')
Told = Callable[[Change, str], None]
NOTICED, ALIVE, NOT_RUN = 'noticed', 'alive', 'not-run'


class Covered(NamedTuple):
    """What a test does without a mutant."""

    seconds: float
    changes: frozenset[int]  # those of which it runs a line, as places in the list


NOTHING = Covered(0, frozenset())


class Trials:
    """A plugin of pytest: what it collects is asked about each mutant.

    own: by module, the names of the test files that are asked first. most: so many tests are asked
    at all. told: called with each mutant and with NOTICED, ALIVE, or NOT_RUN if no test runs its
    line in the process of the test.
    """

    def __init__(
        self,
        changes: Sequence[Change],
        own: Mapping[str, set[str]],
        package: Path,
        most: int | None,
        told: Told,
    ) -> None:
        self._changes, self._own, self._package, self._told = (
            changes,
            own,
            package,
            told,
        )
        self._most = most
        self._items: list[pytest.Item] = []
        self._covered: list[Covered] = []
        self._likely: dict[str, deque[int]] = defaultdict(lambda: deque(maxlen=LIKELY))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run everything here; pytest has nothing left to do."""
        import coverage

        self._items, self._watch = (
            session.items[: self._most],
            coverage.Coverage(
                data_file=None, config_file=False, include=[f'{self._package}/*']
            ),
        )
        self._watch.start()  # takes 40 ms the first time
        self._watch.stop()
        with mock.patch.object(subprocess.Popen, '__init__', no_process):
            self._covered = list(spread(self._alone, range(len(self._items))))
            self._try_all()
        return True

    def _try_all(self) -> None:
        """Try all mutants, those of one function after each other, and tell about each."""
        functions: dict[tuple[str, str], list[int]] = defaultdict(list)
        for number, change in enumerate(self._changes):
            functions[change.module, change.mutant.function].append(number)
        groups = list(functions.values())
        for numbers, results in zip(groups, spread(self._results, groups)):
            for number, result in zip(numbers, results):
                self._told(self._changes[number], result)

    def _results(self, numbers: Sequence[int]) -> list[str]:
        return [self._result(number) for number in numbers]

    def _alone(self, number: int) -> Covered:
        """Run one test without a mutant.

        One that fails, takes long or starts a process notices nothing.
        """
        item = self._items[number]
        file = self._package.parent / f'covered-{os.getpid()}'
        status, _ = ended(
            *forked(lambda _: self._watched(item, file)), lambda _: 0, limit=300
        )
        if status == FAILED:
            print(
                f'{item.nodeid} fails or takes long without any mutant, and is not asked',
                flush=True,
            )
        return pickle.loads(file.read_bytes()) if status == PASSED else NOTHING  # noqa: S301

    def _watched(self, item: pytest.Item, file: Path) -> int:
        """Run one test, and write down which lines it runs."""
        self._take_folder()
        start = time.process_time()
        resource.setrlimit(
            resource.RLIMIT_CPU, (ceil(start + UNIT), ceil(start + UNIT))
        )
        self._watch.start()
        status = run(item, None)
        self._watch.stop()
        data = self._watch.get_data()
        lines = {
            module: frozenset(data.lines(str(self._package / f'{module}.py')) or ())
            for module in {change.module for change in self._changes}
        }
        ran = frozenset(
            number
            for number, change in enumerate(self._changes)
            if not lines[change.module].isdisjoint(change.lines)
        )
        file.write_bytes(pickle.dumps(Covered(time.process_time() - start, ran)))
        return status

    def _take_folder(self) -> None:
        """Put temporary files of this process where only its parent's next one clears them, and
        harm nothing else.
        """
        stay_within(self._package.parent.parent)
        factory: Any = self._items[0].config._tmp_path_factory  # type: ignore[attr-defined]
        factory._given_basetemp = self._package.parent / f'tmp-{os.getppid()}'
        sys.modules['conftest'].STATE_HOME = str(factory.getbasetemp())  # type: ignore[attr-defined]

    def _result(self, place: int) -> str:
        """Return NOTICED if any test fails, dies or hangs with a mutant."""
        change, asked = self._changes[place], self._asked(place)
        if not asked:
            return NOT_RUN

        def work(writer: int) -> int:
            self._take_folder()
            change.make()
            for number, following in zip(asked, [*asked[1:], None]):
                os.write(writer, struct.pack('I', number))
                if (
                    run(
                        self._items[number],
                        None if following is None else self._items[following],
                    )
                    == FAILED
                ):
                    return FAILED
            return PASSED

        status, last = ended(
            *forked(work), lambda number: PATIENCE + 10 * self._covered[number].seconds
        )
        if status == FAILED and last is not None:
            self._likely[change.mutant.function].appendleft(last)
        return ALIVE if status == PASSED else NOTICED

    def _asked(self, place: int) -> list[int]:
        """Return the tests that run a changed line: first those that noticed such mutants, then
        its own.
        """
        change = self._changes[place]
        able = [
            number for number, test in enumerate(self._covered) if place in test.changes
        ]
        likely = [
            number
            for number in dict.fromkeys(self._likely[change.mutant.function])
            if number in able
        ]
        others = sorted(
            set(able) - set(likely),
            key=lambda number: self._order(change.module, number),
        )
        spent = accumulate(self._covered[number].seconds for number in others)
        return [
            *likely,
            *(
                number
                for number, seconds in zip(others, spent)
                if seconds < LONGEST or self._is_own(change.module, number)
            ),
        ]

    def _order(self, module: str, number: int) -> tuple[bool, float]:
        """Return by what tests are sorted: those of a module's own files come first, then the
        quick ones.
        """
        return not self._is_own(module, number), self._covered[number].seconds

    def _is_own(self, module: str, number: int) -> bool:
        return self._items[number].path.stem in self._own[module]


def no_process(*_: Any, **__: Any) -> None:
    """Skip a test that starts a process: no mutant would be in it."""
    pytest.skip('starts a process')


def spread(work: Callable[[Task], Done], tasks: Sequence[Task]) -> Iterator[Done]:
    """Yield what *work* returns for each task, in their order, from as many processes as the
    machine has cores.
    """
    if not tasks:
        return
    with multiprocessing.get_context('fork').Pool(
        os.cpu_count(), _take, (work,)
    ) as pool:
        yield from pool.imap(_do, tasks)


def _take(work: Callable[[Any], Any]) -> None:
    """Keep, in a process of the pool, what it does with each task; and let the pool end this
    process with SIGTERM.
    """
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _do.work = work  # type: ignore[attr-defined]


def _do(task: Any) -> Any:
    return _do.work(task)  # type: ignore[attr-defined]


def run(item: pytest.Item, following: pytest.Item | None) -> int:
    """Run one test."""
    reports = runtestprotocol(item, log=False, nextitem=following)
    return max(FAILED if report.failed else PASSED for report in reports) or (
        SKIPPED if any(report.skipped for report in reports) else PASSED
    )


def forked(work: Callable[[int], int]) -> tuple[int, int]:
    """Start a process that ends with what *work* returns; returns its number, and where what it
    writes is read.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child:
        os.close(writer)
        return child, reader
    status = FAILED
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        nowhere = os.open(os.devnull, os.O_RDWR)
        for number in range(3):
            os.dup2(nowhere, number)
        status = work(writer)
    finally:
        os._exit(status)


def ended(
    child: int, reader: int, patience: Callable[[int], float], limit: float = 60
) -> tuple[int, int | None]:
    """Wait for a process, and end what is left of it; returns its exit status and the last number
    that it wrote.

    limit: seconds to wait for its first number. patience: seconds after each number. One that takes
    longer FAILED.
    """
    end, last = os.pidfd_open(child), None
    try:
        while True:
            ready, _, _ = select.select([end, reader], [], [], limit)
            written = os.read(reader, 4) if reader in ready else b''
            if written:
                last = struct.unpack('I', written)[0]
                limit = patience(last)
            elif end in ready or not ready:
                break
    finally:
        os.close(end)
        os.close(reader)
    kill(child)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return (FAILED if status < 0 else status), last


def kill(child: int) -> None:
    """End a process and those that it started."""
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:
        os.kill(child, signal.SIGKILL)
