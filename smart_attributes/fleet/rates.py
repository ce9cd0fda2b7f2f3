"""Failure rates of the models in a fleet, with exact intervals, and those above the rate of all other drives. Pure."""
from __future__ import annotations

import math
from collections import Counter
from functools import lru_cache
from typing import Dict, Iterable, List, Mapping, NamedTuple, Sequence, Tuple

from ..constants import YEAR
from ..typed import MutableJson
from .ledger import NAMES, Cell

LEAST = 5              # failures from which a rate is reported
TAIL = 0.05            # on each side of a 90 % interval
STEPS = 60             # of a bisection, for more digits than a float has
Name = Tuple[str, ...]  # model; model and firmware; model, firmware and age band


class Rate(NamedTuple):
    """The failure rate of a group of drives, and of the rest of the fleet."""

    name: Name
    drives: int
    years: float       # drive-years
    failures: int
    rest_years: float
    rest_failures: int

    @property
    def rate(self) -> float:
        """Return the annualized failure rate: failures per drive-year."""
        return self.failures / self.years if self.years else 0.0

    @property
    def rest(self) -> float:
        """Return the annualized failure rate of all other drives."""
        return self.rest_failures / self.rest_years if self.rest_years else 0.0

    @property
    def interval(self) -> Tuple[float, float]:
        """Return the 90 % interval of the failure rate."""
        low, high = interval(self.failures)
        return (low / self.years, high / self.years) if self.years else (0.0, math.inf)

    @property
    def is_high(self) -> bool:
        """Return whether the rate is above that of the rest, with enough failures to say so.

        The rest must be large enough to have had one failure at the lower end of the interval.
        """
        low = self.interval[0]
        return self.failures >= LEAST and low > self.rest and low * self.rest_years >= 1


@lru_cache(maxsize=None)
def interval(failures: int) -> Tuple[float, float]:
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


def of_cells(cells: Sequence[Cell], drives: Mapping[Name, int]) -> List[Rate]:
    """Return the rates of each model, of its firmware and of their age bands; highest lower end first.

    drives: number of drives of each model and of its firmware; a drive can be in several age bands.
    """
    seconds: Counter[Name] = Counter()
    failures: Counter[Name] = Counter()
    counted: Dict[Name, int] = dict(drives)
    for cell in cells:
        name = cell.model, cell.firmware, NAMES[cell.band]
        counted[name] = cell.drives
        for length in (1, 2, 3):
            seconds[name[:length]] += cell.seconds
            failures[name[:length]] += cell.failures
    all_seconds, all_failures = sum(cell.seconds for cell in cells), sum(cell.failures for cell in cells)
    found = [Rate(name, counted.get(name, 0), time / YEAR, failures[name], (all_seconds - time) / YEAR,
                  all_failures - failures[name]) for name, time in seconds.items()]
    return sorted(found, key=lambda each: (-each.interval[0], each.name))


def high(found: Sequence[Rate]) -> List[Rate]:
    """Return the rates that are above those of the rest; a part of a group that is the whole group is left out."""
    known = {each.name: each for each in found}
    return [each for each in found if each.is_high and not (
        len(each.name) > 1 and each[2:] == known[each.name[:-1]][2:])]


def broadest(high: Sequence[Rate]) -> List[Rate]:
    """Return the rates without those of parts of another group in the list."""
    names = {rate.name for rate in high}
    return [rate for rate in high if not any(rate.name[:length] in names for length in range(1, len(rate.name)))]


def title(name: Name) -> str:
    """Return a group of drives in words, such as "ACME 1, firmware A1, power-on time 1 to 2 y"."""
    parts = ('', 'firmware ', 'power-on time ')
    return ', '.join(f'{words}{each or "-"}' for words, each in zip(parts, name))


def percent(rate: float) -> str:
    """Return a rate in percent with two significant digits, such as "0.81 %" and "120 %"."""
    return f'{float(f"{100 * rate:.2g}"):.15g} %'


def as_json(high: Iterable[Rate]) -> List[MutableJson]:
    """Return rates in the format of the JSON document."""
    return [{**dict(zip(('model', 'firmware', 'age'), (*each.name, None, None))), 'drives': each.drives,
             'drive_years': round(each.years, 2), 'failures': each.failures, 'rate': each.rate,
             'low': each.interval[0], 'high': each.interval[1], 'rest_drive_years': round(each.rest_years, 2),
             'rest_failures': each.rest_failures, 'rest_rate': each.rest} for each in high]
