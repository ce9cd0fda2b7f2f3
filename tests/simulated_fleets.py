"""Simulated fleets: drives that fail by chance, with the rate of their model and age, and are replaced."""
from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping
from typing import NamedTuple

from smart_attributes.constants import DAY, YEAR
from smart_attributes.fleet import ledger
from smart_attributes.fleet.comparison import Columns, Failure, Span, columns, worse

DAYS = YEAR / DAY
BAYS = 24              # drives of a host
Flagged = dict[str, tuple[str, ...]]    # models that fail more often, and those left out of their comparison


class Model(NamedTuple):
    """Drives of one model in a fleet."""

    drives: int
    times: float = 1                            # its rate in relation to the others
    ages: tuple[float, float] = (0, 3)          # in years, when the fleet is first seen


class Lives(NamedTuple):
    """All drives of a fleet over its time."""

    spans: list[Span]
    failures: list[Failure]

    def until(self, day: int) -> Lives:
        """Return what is known at a day. What a run finds depends on the failures until then only."""
        return self._replace(failures=[each for each in self.failures if each.day <= day])

    def columns(self) -> Columns:
        return columns(self.spans, self.failures)

    def flagged(self) -> Flagged:
        """Return the models that any run until now has flagged, as evidence is the most so far."""
        found = worse(self.columns(), Counter(each.model for each in self.failures))
        return {model: each.without for model, each in found.items() if each.without is not None}


def lives(seed: int, models: Mapping[str, Model], years: float = 3,
          rate: Callable[[float], float] = lambda age: 0.02) -> Lives:
    """Return a fleet. rate: failures a year at an age in years."""
    chance, found = random.Random(seed), Lives([], [])
    place = 0
    for name, model in models.items():
        for _ in range(model.drives):
            place += 1
            now, age = 0.0, chance.uniform(*model.ages)
            while now < years:
                now, age = _lived(found, chance, name, place // BAYS, now, age, years, rate, model.times)
    return found


def _lived(found: Lives, chance: random.Random, name: str, host: int, now: float, age: float, years: float,
           rate: Callable[[float], float], times: float) -> tuple[float, float]:
    """Let a drive live until it fails or the age band ends; return the time and the age of the drive there then."""
    band = ledger.band(age * YEAR)
    edge = min(ledger.BANDS[band] / YEAR - age + 1e-9 if band < len(ledger.BANDS) else years, years - now)
    wait = chance.expovariate(rate(age) * times)
    has_failed, end = wait < edge, now + min(wait, edge)
    found.spans.append(Span(name, '', band, int(now * DAYS), int(end * DAYS) + has_failed, 1))
    if has_failed:
        found.failures.append(Failure(name, '', band, int(end * DAYS), host))
    return end, 0.0 if has_failed else age + edge
