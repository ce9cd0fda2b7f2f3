"""The program within this process, where mutants are: what tests start as a process elsewhere."""

from __future__ import annotations

import gc
import io
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import days
import pytest
from conftest import ROOT, Result

from smart_attributes import alarm, main
from smart_attributes.reading import addresses, processes

CAUGHT = (signal.SIGTERM, signal.SIGHUP, signal.SIGALRM, signal.SIGVTALRM)


def run(*words: str, **unusual: Any) -> Result:
    """Run the program as conftest.run() does; skips what needs a process of its own."""
    if any(unusual.values()):
        pytest.skip('needs a process of its own')
    with _alone() as printed:
        return Result(_status(words), printed.getvalue())


def run_at(
    now: float,
    *words: str,
    slots: str = '/nonexistent',
    setup: str = '',
) -> Result:
    """Run the program at a time, as days.run_at() does; skips what needs other code before it."""
    if setup:
        pytest.skip('needs a process of its own')
    with (
        mock.patch('time.time', lambda: now),
        mock.patch.object(addresses, 'SLOTS', slots),
    ):
        return run(*words)


def _status(words: Any) -> int:
    runner = processes.Runner()
    code = main.run(list(words), runner)
    for work in runner.later:
        work()
    return code


@contextmanager
def _alone() -> Iterator[io.StringIO]:
    """Take what is printed, and leave nothing of a run behind."""
    handlers = {number: signal.getsignal(number) for number in CAUGHT}
    with ExitStack() as patches:
        printed = io.StringIO()
        for name in ('stdout', 'stderr'):
            patches.enter_context(mock.patch.object(sys, name, printed))
        patches.enter_context(mock.patch.dict(os.environ, days.environment()))
        patches.enter_context(
            mock.patch.object(sys, 'argv', [str(ROOT / 'check_smart_attributes')])
        )
        try:
            yield printed
        finally:
            alarm.disarm()
            gc.enable()
            for number, handler in handlers.items():
                signal.signal(number, handler)
