"""Predict the failures of each model from the other models, to see how far the shares of
thresholds/risk.json hold.

Models differ beyond chance: their rates are spread by a Gamma distribution, so counts are by a
negative binomial one. Its shape is fitted on the other models, by moments. The rate of a stratum
without the model has an uncertainty of its
own, which adds to that of the shape: a model with few others beside it gets a wide interval.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from smart_attributes.knowledge.risks import POOL

from .risk import OTHERS, WHOLE, Entries, Stratum

LEAST = 3.0  # expected failures of a model in a stratum, from which on it is predicted
COVERAGE = 0.9  # of the predictive interval


class Model(NamedTuple):
    """What became of the disks of one model in one stratum, and what the other models let
    expect.
    """

    group: str
    stratum: Stratum
    name: str
    failures: int
    expected: float
    others: int  # failures of the other models in this stratum


def models(of: Entries) -> Iterator[Model]:
    """Yield each model with LEAST expected failures within a year, by the rate of its vendor's
    other models.
    """
    for (group, stratum), entries in of.items():
        if group in (POOL, OTHERS):
            continue
        lives: dict[str, float] = defaultdict(float)
        failures: dict[str, int] = defaultdict(int)
        for each in entries:
            lives[each.model] += min(each.hours, WHOLE)
            failures[each.model] += each.has_failed and each.hours <= WHOLE
        for name, hours in lives.items():
            rest, at_risk = sum(failures.values()) - failures[name], sum(lives.values()) - hours
            if rest and at_risk and rest * hours / at_risk >= LEAST:
                yield Model(group, stratum, name, failures[name], rest * hours / at_risk, rest)


def shape(others: Sequence[Model]) -> float:
    """Return the shape of the Gamma distribution of the rates of models; infinite if they do not
    differ.

    By moments of the quotients of counted and expected failures, so that a model of many disks
    weighs no more than another.
    """
    beyond = sum(
        ((each.failures - each.expected) ** 2 - each.expected) / each.expected**2 - 1 / each.others
        for each in others
    )
    return len(others) / beyond if beyond > 0 else math.inf


def interval(expected: float, size: float) -> tuple[int, int]:
    """Return the central interval of a negative binomial count of this mean and shape."""
    tail, total, count, low = (1 - COVERAGE) / 2, 0.0, 0, -1
    while True:
        total += math.exp(_log_probability(count, expected, size))
        if low < 0 and total > tail:
            low = count
        if total >= 1 - tail:
            return low, count
        count += 1


def _log_probability(count: int, mean: float, size: float) -> float:
    if size == math.inf:
        return count * math.log(mean) - mean - math.lgamma(count + 1)
    return (
        math.lgamma(count + size)
        - math.lgamma(size)
        - math.lgamma(count + 1)
        + size * math.log(size / (size + mean))
        + count * math.log(mean / (size + mean))
    )


def coverage(of: Entries) -> Mapping[str, tuple[int, int]]:
    """Return, by vendor, how many of its models' counts lie within their interval, and how many
    were predicted.
    """
    found = list(models(of))
    held: dict[str, list[bool]] = defaultdict(list)
    for each in found:
        spread = shape(
            [other for other in found if (other.group, other.name) != (each.group, each.name)]
        )
        low, high = interval(each.expected, 1 / (1 / spread + 1 / each.others))
        held[each.group].append(low <= each.failures <= high)
    return {group: (sum(those), len(those)) for group, those in held.items()}
