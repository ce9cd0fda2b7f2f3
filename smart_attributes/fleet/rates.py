"""Failure rates of the models in a fleet, with exact intervals. Pure: a rate compares no model with another one."""
from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from ..constants import YEAR
from ..typed import MutableJson
from .ledger import Cell

TAIL = 0.05            # on each side of a 90 % interval
STEPS = 60             # of a bisection, for more digits than a float has


class Rate(NamedTuple):
    """The failure rate of a model."""

    model: str
    drives: int
    years: float       # drive-years
    failures: int

    @property
    def rate(self) -> float:
        """Return the annualized failure rate: failures per drive-year."""
        return self.failures / self.years if self.years else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Return the 90 % interval of the failure rate."""
        low, high = interval(self.failures)
        return (low / self.years, high / self.years) if self.years else (0.0, math.inf)


@lru_cache(maxsize=None)
def interval(failures: int) -> tuple[float, float]:
    """Return the exact 90 % interval of the expected number of failures, if so many were counted.

    Source: Garwood, Fiducial Limits for the Poisson Distribution, Biometrika 28 (1936): half the quantiles of the
    chi-squared distribution with 2 n and 2 n + 2 degrees of freedom.
    """
    return _quantile(failures, TAIL) if failures else 0.0, _quantile(failures + 1, 1 - TAIL)


def _quantile(shape: int, share: float) -> float:
    """Return the quantile of the gamma distribution."""
    low, high = 0.0, shape + 10 * math.sqrt(shape) + 10
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if _gamma(shape, middle) < share else (low, middle)
    return (low + high) / 2


def _gamma(shape: int, end: float) -> float:
    """Return the regularized lower incomplete gamma function by its series, DLMF 8.7.1 and 8.11.4. end: above 0."""
    term = total = 1.0
    place = shape
    while term > total * 1e-17:
        place += 1
        term *= end / place
        total += term
    return total * math.exp(shape * math.log(end) - end - math.lgamma(shape + 1))


def of_cells(cells: Sequence[Cell], drives: Mapping[tuple[str, ...], int]) -> list[Rate]:
    """Return the rate of each model, in the order of their names. drives: number of drives of each model."""
    seconds: Counter[str] = Counter()
    failures: Counter[str] = Counter()
    for cell in cells:
        seconds[cell.model] += cell.seconds
        failures[cell.model] += cell.failures
    return [Rate(model, drives.get((model,), 0), seconds[model] / YEAR, failures[model]) for model in sorted(seconds)]


def as_json(found: Iterable[Rate]) -> list[MutableJson]:
    """Return rates in the format of the JSON document. The interval of a model without drive-time has no upper end."""
    return [{'model': each.model, 'drives': each.drives, 'drive_years': round(each.years, 2),
             'failures': each.failures, 'rate': each.rate, 'low': each.interval[0],
             'high': each.interval[1] if each.years else None} for each in found]
