"""Measure the share of failed SATA SSDs beyond each limit, beside that of healthy ones of the same
vendors.

A row of the file is one SSD at its failure: `model` (vendor letter and number), raw values (`r_5`)
and normalized ones (`n_5`). ssd_vendors.json names the attributes of each vendor. The data have no
health status: it is FAILED if a pre-fail attribute is at its threshold. They have no logs and no
history, so neither judges the failed drives.

The share of failed drives beyond a limit is that of failures announced; the share of healthy drives
beyond it is that of needless alerts. *More* are the drives beyond a limit that are OK today: what a
new limit would add.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from smart_attributes.errors import DataError
from smart_attributes.knowledge import shipped_data
from smart_attributes.knowledge.risks import LEVEL, POOL, UNKNOWN
from smart_attributes.model import State, Verdict
from smart_attributes.typed import Json

from . import alarms, collection
from .data_rows import Row, csv_rows
from .timelines import Mindful, percent

VENDORS = os.path.join(os.path.dirname(__file__), 'ssd_vendors.json')
SHAPE = 'each row is an SSD with model (vendor letter and number), and attributes: r_5, n_5, ...'
ALL = 'all'
LARGEST = 1e18  # of a raw value
LIMITS: Mapping[str, Sequence[float]] = {
    'reallocated': (0, 5, 10, 20, 50, 100, 200, 500),
    'reported_uncorrect': (0, 1, 2, 5, 10, 20, 100),
    'endurance_used': (80, 85, 90, 95),
    'program_fail': (0, 1, 2, 5, 10, 20),
    'erase_fail': (0, 1, 2, 5, 10),
    'crc_errors': (0, 10, 100, 1000),
    'e2e_error': (0, 1, 10),
    'pending': (0, 1, 10),
    'link_downshift': (0, 10),
}


class Judged(NamedTuple):
    """One SSD as it is judged by default."""

    vendor: str  # letter, '' for another one
    state: State
    metrics: Mapping[str, State]  # those that alert
    numbers: Mapping[str, float]


def judged(vendor: str, verdict: Verdict) -> Judged:
    """Return what a verdict says about an SSD."""
    worst: dict[str, State] = {}
    for each in verdict.judgements:
        if each.state.urgency > worst.get(each.reading.metric, State.OK).urgency:
            worst[each.reading.metric] = each.state
    numbers = {
        j.reading.metric: j.reading.number
        for j in verdict.judgements
        if j.reading.judged and j.reading.number is not None
    }
    return Judged(vendor, verdict.state, worst, numbers)


def facts_of(row: Mapping[str, str], vendors: Json) -> Json:
    """Return the facts of a failed SSD, as a collection has them. Raises one of NOT_A_DRIVE."""
    vendor = vendors[row['model'][0]]
    attributes = []
    for number, (raw, value, flags, threshold) in vendor['attributes'].items():
        if row[value]:
            left = _whole(row[value])
            failing = 'NOW' if left <= threshold and threshold else '-'
            attributes.append(
                [
                    int(number),
                    '',
                    flags,
                    left,
                    left,
                    threshold,
                    failing,
                    str(_whole(row[raw])) if raw and row[raw] else '',
                ]
            )
    has_failed = any(
        failing == 'NOW' and 'P' in flags
        for _, _, flags, _, _, _, failing, _ in attributes
    )
    return {
        'model': vendor['model'],
        'rotation': 'Solid State Device',
        'attributes': attributes,
        'health': 'FAILED!' if has_failed else 'PASSED',
    }


def _whole(text: str) -> int:
    """Return a number without its decimals. Raises ValueError for one that no drive counts to."""
    number = float(text)
    if not 0 <= number <= LARGEST:
        raise ValueError(text)
    return int(number)


def failed(path: str, vendors: Json, judge: Mindful) -> Iterator[Judged]:
    """Yield the SSDs of a file. Raises DataError with the line that is not an SSD."""
    return csv_rows(
        path,
        lambda row: judged(
            row['model'][0], judge(collection.report_of(facts_of(row, vendors)), None)
        ),
        SHAPE,
    )


def healthy(path: str, vendors: Json, judge: Mindful) -> Iterator[Judged]:
    """Yield the SATA SSDs of a collection that report PASSED. Raises DataError."""
    starts = {
        start: letter
        for letter in vendors
        if letter != 'comment'
        for start in vendors[letter]['healthy']
    }
    for drive in alarms.drives(path):
        if drive.report.identity.kind == 'ssd' and drive.report.smart_status:
            verdict = judge(drive.report, None)
            letter = next(
                (
                    starts[start]
                    for start in starts
                    if (verdict.entry or '').startswith(start)
                ),
                '',
            )
            yield judged(letter, verdict)


def rows(failures: Sequence[Judged], sound: Sequence[Judged]) -> list[Row]:
    """Return a row for each vendor and level, metric and level, and possible limit."""
    metrics = [
        '',
        *sorted({metric for each in (*failures, *sound) for metric in each.metrics}),
    ]
    limits = [(metric, level) for metric in metrics for level in alarms.ALARMS]
    found: list[Row] = []
    for vendor in (*sorted({each.vendor for each in failures}), ALL):
        groups = [
            [each for each in drives if vendor in (each.vendor, ALL)]
            for drives in (failures, sound)
        ]
        for metric, level in limits:
            found.append(
                _row(
                    (vendor, metric, level.name),
                    groups,
                    partial(reaches, metric=metric, level=level),
                )
            )
        for metric, numbers in LIMITS.items():
            found += [
                _row(
                    (vendor, metric, f'above {number:g}'),
                    groups,
                    partial(is_above, metric=metric, limit=number),
                )
                for number in numbers
            ]
    return found


def reaches(each: Judged, metric: str, level: State) -> bool:
    """Tell whether an SSD reaches a level, by a metric or, if *metric* is empty, by any."""
    return (
        each.metrics.get(metric, State.OK) if metric else each.state
    ).urgency >= level.urgency


def is_above(each: Judged, metric: str, limit: float) -> bool:
    """Tell whether an SSD has a number above a limit."""
    return each.numbers.get(metric, 0) > limit


def _row(
    names: tuple[str, str, str],
    groups: Sequence[Sequence[Judged]],
    is_beyond: Callable[[Judged], bool],
) -> Row:
    row: dict[str, str | float | None] = dict(zip(('vendor', 'metric', 'limit'), names))
    for name, drives in zip(('failed', 'healthy'), groups):
        beyond = [each for each in drives if is_beyond(each)]
        more = sum(each.state is State.OK for each in beyond)
        row.update(
            {
                name: len(drives),
                f'{name}_beyond': len(beyond),
                f'{name}_percent': percent(len(beyond), len(drives), 2),
                f'{name}_more_percent': percent(more, len(drives), 2),
            }
        )
    return row


def measured(drives: str, failures: str, judge: Mindful) -> list[Row]:
    """Return the rows of two files. Raises DataError."""
    vendors = shipped_data.load(VENDORS)
    ssds = list(failed(failures, vendors, judge))
    if not ssds:
        raise DataError(f'{failures}: no drives; {SHAPE}')
    return rows(ssds, list(healthy(drives, vendors, judge)))


# --- the strata of thresholds/risk.json -----------------------------------------------------------

VENDOR_LETTERS = 'ABC'
YEARLY = 0.009  # share of the fleet's SSDs that fail in a year
BANDS: Mapping[str, Sequence[float]] = {
    'reallocated': (0, 10, 200),
    'reported_uncorrect': (0, 10),
}
GROUPS: Mapping[str, str] = {'B': 'Samsung server SSDs', 'C': 'Micron server SSDs'}
ENOUGH = 5  # healthy SSDs beyond a number, below which their share is too uncertain


def risks(rows: Sequence[Row]) -> list[Json]:
    """Return the strata of SSDs: the share that fails in a year is that of the fleet, times the
    share of failed ones beyond a number for that of healthy ones. In "all vendors", each of the
    three weighs the same.
    """
    counts = {(row['vendor'], row['metric'], row['limit']): row for row in rows}
    found = []
    for metric, numbers in BANDS.items():
        for above in reversed(numbers):
            own = {
                vendor: _risk(counts[vendor, metric, f'above {above:g}'])
                for vendor in VENDOR_LETTERS
            }
            pool = [
                *(sum(each[place] for each in own.values()) for place in (0, 1)),
                None,
                *(
                    round(
                        math.prod(each[place] or 1e-6 for each in own.values())
                        ** (1 / len(own)),
                        3,
                    )
                    for place in (3, 4, 5)
                ),
            ]
            found.append(
                {
                    'metric': metric,
                    'form': LEVEL,
                    'above': above,
                    'days': UNKNOWN,
                    'rows': {
                        **{
                            GROUPS[vendor]: each
                            for vendor, each in own.items()
                            if vendor in GROUPS and each[0] - each[1] >= ENOUGH
                        },
                        POOL: pool,
                    },
                }
            )
    return sorted(found, key=lambda each: -each['rows'][POOL][3])


def _risk(row: Row) -> list[Any]:
    """Return a row of thresholds/risk.json, with the 90 % interval of the quotient of two
    counts.
    """
    failed, sound = (
        float(row[name] or 0) for name in ('failed_beyond', 'healthy_beyond')
    )
    share = (
        YEARLY
        * (failed / float(row['failed'] or 1))
        / (max(sound, 1) / float(row['healthy'] or 1))
    )
    spread = math.exp(1.645 * math.sqrt(1 / max(failed, 1) + 1 / max(sound, 1)))
    return [
        int(failed + sound),
        int(failed),
        None,
        *(round(min(each, 1.0), 3) for each in (share, share / spread, share * spread)),
    ]


def main(drives: str, failures: str, judge: Mindful) -> None:
    """Print what the limits report of failed and of healthy SSDs. Raises DataError."""
    print(json.dumps(measured(drives, failures, judge), indent=1))
