"""Find models that fail more often than others of the same age, by a test that may be repeated at each run. Pure.

If all models fail equally often, a failed drive is of a given model with probability p, the model's share of all drives
in the age band on the failure day. The evidence that a model fails k times as often is multiplied by k / (1 - p + k p)
at each failure of this model, and by 1 / (1 - p + k p) at each failure of another model. If a model fails as often as
others, the probability that its evidence ever exceeds c is at most 1 / c, however often the test is run.
Source: ter Schure, Pérez-Ortiz, Ly and Grünwald, The Safe Logrank Test, 2020.
"""
from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

TIMES = (2, 3, 5, 10)      # assumed ratios to the failure rate of other models; evidence is the mean over these ratios
LEAST = 40                 # sufficient evidence, per compared group; it uses half of an error budget of 5 %
ENOUGH = 20                # minimum number of failures of a model whose firmware versions are compared
Without = tuple[str, ...]  # models, or versions, that were left out of a comparison


class Span(NamedTuple):
    """Drives with one model and firmware that were in use, in one age band, on the same days. Days count from 1970."""
    model: str
    firmware: str
    band: int
    begin: int
    end: int           # the day after the last day
    drives: int


class Failure(NamedTuple):
    """A failure of a drive. Failures on one host on one day count as one, because they are likely to have one cause."""
    model: str
    firmware: str
    band: int
    day: int
    host: int


class Column(NamedTuple):
    """Data of a model or firmware by stratum, oldest first; a stratum is one age band on one day with failures."""
    at_risk: Sequence[int]         # drives
    failed: Mapping[int, float]    # failures by stratum


Columns = Mapping[tuple[str, str], Column]


class Worse(NamedTuple):
    """A model that fails more often than the others, or that has a firmware version which fails more often."""
    without: Without | None = None     # None: the model does not fail more often
    firmware: Sequence[tuple[str, Without]] = ()


def columns(spans: Iterable[Span], failures: Sequence[Failure]) -> Columns:
    """Return the data of each model and each firmware, as Column."""
    strata = sorted({(each.band, each.day) for each in failures})
    in_time = sorted(range(len(strata)), key=lambda place: strata[place][::-1])
    changes: defaultdict[tuple[str, str], array[int]] = defaultdict(lambda: array('q', bytes(8 * len(strata) + 8)))
    for span in spans:
        for day, drives in ((span.begin, span.drives), (span.end, -span.drives)):
            changes[span[:2]][bisect_left(strata, (span.band, day))] += drives
    together = Counter((each.day, each.host) for each in failures)
    failed: defaultdict[tuple[str, str], Counter[int]] = defaultdict(Counter)
    for each in failures:
        place = bisect_left(strata, each[2:4])
        failed[each[:2]][place] += 1 / together[each.day, each.host]  # type: ignore[assignment]
    found = {}
    for group, change in changes.items():
        at_risk = list(accumulate(change))
        found[group] = Column(array('q', (at_risk[place] for place in in_time)),
                              {number: failed[group][place] for number, place in enumerate(in_time)})
    return found


def worse(found: Columns, failures: Mapping[str, int]) -> Mapping[str, Worse]:
    """Return the models and firmware versions that fail more often than others. failures: grouped by model."""
    by_model: defaultdict[str, dict[str, Column]] = defaultdict(dict)
    for (model, firmware), column in found.items():
        by_model[model][firmware] = column
    models = dict(_worse({model: _summed(each.values()) for model, each in by_model.items()}, len(by_model)))
    examined = {model: each for model, each in by_model.items() if model in models or failures.get(model, 0) >= ENOUGH}
    compared = sum(map(len, examined.values()))
    each = {model: Worse(models.get(model), tuple(_worse(versions, compared))) for model, versions in examined.items()}
    return {model: it for model, it in each.items() if it != Worse()}


def _summed(given: Iterable[Column]) -> Column:
    at_risk, failed = zip(*given)
    return Column(array('q', map(sum, zip(*at_risk))), {
        stratum: sum(each[stratum] for each in failed) for stratum in failed[0]})


def _worse(groups: Mapping[str, Column], compared: int) -> Iterator[tuple[str, Without]]:
    """Yield each group that fails more often than the others, with the groups left out of the comparison.

    compared: number of compared groups. A very bad group hides other bad groups, so later rounds omit it.
    """
    rest, out = dict(groups), list[str]()
    while rest:
        whole = _summed(rest.values())
        found = [name for name in sorted(rest) if _evidence(rest[name], whole) >= math.log(LEAST * compared)]
        yield from ((name, tuple(out)) for name in found)
        out += found
        rest = {name: column for name, column in rest.items() if found and name not in found}


def _evidence(own: Column, whole: Column) -> float:
    """Return the natural logarithm of the highest evidence so far that a group fails more often than the others."""
    most, logs = 0.0, [0.0] * len(TIMES)
    for stratum, count in whole.failed.items():
        share, found = own.at_risk[stratum] / (whole.at_risk[stratum] or 1), own.failed[stratum]
        if share and count:
            logs = [each + found * math.log(times) - count * math.log1p(share * (times - 1))
                    for each, times in zip(logs, TIMES)]
        if found:
            most = max(most, max(logs) + math.log(sum(math.exp(each - max(logs)) for each in logs) / len(TIMES)))
    return most
