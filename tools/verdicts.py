#!/usr/bin/env python3
"""Write the evidence for the verdicts: two tables of doc/explanation/verdicts.md, and the data
files beside it.

That is: the failure rate of each state of hard disks, the shares behind their limits, the effect of
every limit on a collection of drives, and what limits report of failed SSDs.

Usage: tools/verdicts.py TIMELINES.csv.gz DRIVES.jsonl.gz SSD_FAILURES.csv.gz
(from the virtual environment: .venv/bin/python tools/verdicts.py ...)
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from measure import accuracy, ssd_failures, timelines  # noqa: E402
from measure import alarms as of_drives  # noqa: E402
from measure.__main__ import shipped_judge  # noqa: E402
from measure.data_rows import as_csv  # noqa: E402

from smart_attributes.errors import SmartError  # noqa: E402
from smart_attributes.knowledge import shipped_data  # noqa: E402
from smart_attributes.knowledge.drive_database import SpecDatabase  # noqa: E402
from smart_attributes.knowledge.thresholds import Thresholds  # noqa: E402

DOCUMENT = ROOT / 'doc' / 'explanation' / 'verdicts.md'
TABLES = DOCUMENT.parent / 'data'
# the tables of the document; the others are data files
SHOWN = ('states', 'alarms')
FILES = {
    'collection': (
        'kind',
        'health_status',
        'ok',
        'warning',
        'critical',
        'with_an_alert',
    ),
    'reasons': ('kind', 'metric', 'critical', 'warning'),
    'defences': (
        'limit',
        'kind',
        'state',
        'drives',
        'beyond',
        'alone',
        'failed_of_these',
        'failed_of_others',
    ),
    'wear': ('drives', 'agree', 'trusted', 'agree_of_these'),
}


def states(known: timelines.Experience) -> Iterator[str]:
    """Yield a row a state."""
    data = timelines.as_data(known)
    for name, state in data['states'].items():
        yield (
            f'| {name} | {state["drive_years"]:,.0f} | {state["failures"]:,} | '
            f'{state["percent_per_year"]} |'
        )


def alarms(known: timelines.Experience) -> Iterator[str]:
    """Yield a row a level at which an admin is told."""
    data = timelines.as_data(known)
    for name, found in (('WARNING or CRITICAL', data), ('CRITICAL', data['critical'])):
        yield (
            f'| {name} | {found["alarms_per_1000_drive_years"]} | '
            f'{found["failed_within_90_days_percent"]} % | '
            f'{found["caught_percent"]} % | {found["median_lead_days"]:.0f} days |'
        )


def wear(comparisons: Sequence[accuracy.Comparison]) -> Iterator[str]:
    """Yield how many worn drives agree with their own statistic as the row of a table."""
    counts = accuracy.worn(comparisons)
    agree = accuracy.percent(counts.agree, counts.drives)
    agree_believed = accuracy.percent(counts.agree_believed, counts.believed)
    yield f'| {counts.drives:,} | {agree} | {counts.believed:,} | {agree_believed} |'


def of_timelines(path: str) -> dict[str, Iterable[str]]:
    """Return the rows of every table about hard disks that were watched until they failed."""
    known = timelines.experience(
        timelines.read(path), timelines.by_history(shipped_judge())
    )
    return {'states': states(known), 'alarms': alarms(known)}


def of_collection(path: str) -> dict[str, Iterable[str]]:
    """Return the rows of every table about a collection of drives."""
    database = SpecDatabase(shipped_data.load(shipped_data.path('attributes.json')))
    limits_of = Thresholds(
        shipped_data.load(shipped_data.path('thresholds/default.json'))
    )
    comparisons: list[accuracy.Comparison] = []
    alarming: list[of_drives.Alarm] = []
    for drive in of_drives.drives(path):
        if drive.report.identity.kind == 'ssd':
            comparisons.append(accuracy.compare(drive, database))
        alarming.append(of_drives.alarm(drive, database, limits_of))
    return {
        **of_drives.tables(alarming, limits_of),
        'wear': wear(comparisons),
    }


def files(tables: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """Return the tables that the document does not show as data files, by their names."""
    return {
        f'{name}.csv': as_csv([dict(zip(FILES[name], cells(row))) for row in rows])
        for name, rows in tables.items()
        if name not in SHOWN
    }


def cells(row: str) -> list[str]:
    """Return the cells of a row of a table, without marks of code and commas in numbers."""
    return [
        re.sub(r'`|(?<=\d),(?=\d{3})', '', cell)
        for cell in row.strip('| ').split(' | ')
    ]


def filled(text: str, rows: dict[str, Iterable[str]]) -> str:
    """Return the document with its tables as they were measured."""
    for name, of_table in (
        (name, of_table) for name, of_table in rows.items() if name in SHOWN
    ):
        start, end = f'<!-- {name} -->\n', f'<!-- end of {name} -->'
        if text.count(start) != 1 or end not in text:
            raise SystemExit(f'{DOCUMENT}: there is no place for the table of {name}')
        before, rest = text.split(start)
        text = before + start + '\n'.join(of_table) + '\n' + rest[rest.index(end) :]
    return text


def main() -> int:
    """Rewrite the document from the files named on the command line."""
    if len(sys.argv) != 4:
        print(__doc__)
        return 1
    on_timelines, drives, failures = sys.argv[1:]
    try:
        rows = {**of_collection(drives), **of_timelines(on_timelines)}
        ssds = ssd_failures.measured(drives, failures, shipped_judge())
        for name, text in {'ssd_failures.csv': as_csv(ssds), **files(rows)}.items():
            (TABLES / name).write_text(text)
        DOCUMENT.write_text(filled(DOCUMENT.read_text(), rows))
    except SmartError as problem:
        print(problem)
        return 1
    print(f'{DOCUMENT}: written')
    return 0


if __name__ == '__main__':
    sys.exit(main())
