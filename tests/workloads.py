"""Simulated years of solid state drives, day by day until they are used up; shares nothing with
the estimator.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator
from typing import Callable, NamedTuple

DAY = 86400


class Life(NamedTuple):
    """A drive that was watched for a while."""

    # what a history holds: whole percents, at each change
    points: list[tuple[float, float]]
    now: float
    used: float
    age: float
    true_left: float


def steady(rate: float, rnd: random.Random, watched: range) -> Iterator[float]:
    """The same every day, more or less."""
    while True:
        yield rate * rnd.lognormvariate(0, 0.3)


def steps(rate: float, rnd: random.Random, watched: range) -> Iterator[float]:
    """Other programs move in and out, about every eight months, for ever."""
    now = rate
    while True:
        if rnd.random() < 1 / 250:
            now = rate * rnd.lognormvariate(0, 0.5)
        yield now * rnd.lognormvariate(0, 0.3)


def idle(rate: float, rnd: random.Random, watched: range) -> Iterator[float]:
    """A month of work, a month of rest."""
    works = True
    while True:
        if rnd.random() < 1 / 30:
            works = not works
        yield (rate if works else rate / 50) * rnd.lognormvariate(0, 0.3)


def bursts(rate: float, rnd: random.Random, watched: range) -> Iterator[float]:
    """Half of all is written on one day of twenty."""
    while True:
        yield rate * (0.5 + (rnd.expovariate(0.1) if rnd.random() < 0.05 else 0))


def replaced(rate: float, rnd: random.Random, watched: range) -> Iterator[float]:
    """While it is watched the machine gets another task: a fifth to five times the writing."""
    change, factor = (
        rnd.choice(watched[:-14]),
        math.exp(rnd.uniform(-math.log(5), math.log(5))),
    )
    for day in itertools.count():
        yield rate * rnd.lognormvariate(0, 0.3) * (factor if day >= change else 1)


KINDS: dict[str, Callable[[float, random.Random, range], Iterator[float]]] = {
    function.__name__: function for function in (steady, steps, idle, bursts, replaced)
}


def lives(kind: str, count: int, seed: int) -> Iterator[Life]:
    """Yield lives that were watched for four months to two years at some time before their end."""
    rnd = random.Random(seed)
    while count:
        watched = rnd.choice((120, 200, 300, 400, 600))
        today = rnd.randrange(100, 1500) + watched
        # 2 to 40 % a year
        rate = math.exp(rnd.uniform(math.log(2), math.log(40))) / 365
        used = list(
            _until_used_up(KINDS[kind](rate, rnd, range(today - watched, today)))
        )
        if len(used) <= today + 5:
            continue
        count -= 1
        yield Life(
            list(_changes(used, today - watched, today)),
            today * DAY,
            int(used[today - 1]),
            today * DAY,
            (len(used) - today) * DAY,
        )


def _until_used_up(days: Iterator[float]) -> Iterator[float]:
    used, day = 0.0, 0
    while used < 100 and day < 40000:
        used += next(days)
        day += 1
        yield used


def _changes(used: list[float], first: int, last: int) -> Iterator[tuple[float, float]]:
    before = None
    for day in range(first, last):
        if int(used[day]) != before:
            before = int(used[day])
            yield day * DAY, float(before)
