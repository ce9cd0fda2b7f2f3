#!/usr/bin/env python3
"""Run a ring of tests and compare its CPU time with its budget.

Usage: tools/budget.py RING COMMAND...
       tools/budget.py --list
       tools/budget.py --yardstick

A ring is what one command proves; each has a budget of CPU minutes on a machine on which the
yardstick, a fixed piece of Python, takes one second with the system's Python. So a slow machine
has more time, but a slow build of Python does not. The exit status is that of the command, or 1 if
it took more than twice its budget and CI is set: only `.ci/run` sets it.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import NamedTuple

TOO_MUCH = 2  # times the budget


class Ring(NamedTuple):
    """What one command proves."""

    minutes: float  # of CPU on the machine of the yardstick
    proves: str


RINGS = {
    'quick': Ring(
        0.5, 'make quick: one case of the functions that run 99 % of the lines'
    ),
    'test': Ring(4, 'make test: style, types, and all tests but the long ones'),
    'ci': Ring(
        14, '.ci/run: README in a bare Debian, then all tests with real daemons'
    ),
    'proof': Ring(
        30, 'make proof PART=...: one of the parts that need guests, roots or hours'
    ),
}
_TURNS = 6_300_000
_SYSTEM_PYTHON = '/usr/bin/python3'


def yardstick() -> float:
    """Return the CPU seconds of a fixed piece of Python: numbers, texts, lists and calls."""
    began = time.process_time()
    words: dict[str, int] = {}
    for turn in range(_TURNS):
        word = str(turn % 997)
        words[word] = words.get(word, 0) + _next(turn)
    return time.process_time() - began


def _measured() -> float:
    """Return the yardstick of the system's Python, or of this one if there is none."""
    python = _SYSTEM_PYTHON if os.path.exists(_SYSTEM_PYTHON) else sys.executable
    done = subprocess.run(
        [python, __file__, '--yardstick'], stdout=subprocess.PIPE, text=True, check=True
    )
    return float(done.stdout)


def _next(number: int) -> int:
    return (number * 1103515245 + 12345) % 2**31


def children_minutes() -> float:
    """Return the CPU minutes of all processes that have ended below this one."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) / 60


def main(words: Sequence[str]) -> int:
    """Run the command of a ring; return its exit status, or 1 if it took far too long."""
    if words[:1] == ['--list']:
        for name, ring in RINGS.items():
            print(f'{name:<6}{ring.minutes:>5g} min  {ring.proves}')
        return 0
    if words[:1] == ['--yardstick']:
        print(yardstick())
        return 0
    ring = RINGS[words[0]]
    status = subprocess.run(words[1:], check=False).returncode
    minutes = children_minutes()
    seconds = min(_measured() for _ in range(2))
    minutes /= seconds
    print(
        f'{words[0]}: {minutes:.1f} of {ring.minutes:g} CPU minutes '
        f'(measured with a yardstick of {seconds:.2f} s)',
        flush=True,
    )
    is_too_much = 'CI' in os.environ and minutes > TOO_MUCH * ring.minutes
    return status or int(is_too_much)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
