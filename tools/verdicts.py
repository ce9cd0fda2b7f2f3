#!/usr/bin/env python3
"""Write the evidence for the verdicts into doc/explanation/verdicts.md and the data files beside it.

That is: the failure rate of each state of hard disks, the shares behind their limits, the effect of every
limit on a collection of drives, what became of drives that were seen again, and what limits report of failed SSDs.

Usage: tools/verdicts.py TIMELINES.csv.gz DRIVES.jsonl.gz HISTORY.jsonl.gz SSD_FAILURES.csv.gz
(from the virtual environment: .venv/bin/python tools/verdicts.py ...)
"""
from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from measure import accuracy, risk, seen_again, ssd_failures, timelines  # noqa: E402
from measure import alarms as of_drives  # noqa: E402
from measure import limits as hard_disks  # noqa: E402
from measure.__main__ import shipped_judge  # noqa: E402
from measure.data_rows import Row, as_csv  # noqa: E402

from smart_attributes.errors import SmartError  # noqa: E402
from smart_attributes.knowledge import shipped_data  # noqa: E402
from smart_attributes.knowledge.drive_database import SpecDatabase  # noqa: E402
from smart_attributes.knowledge.risks import LEVEL, POOL, RISE, UNKNOWN  # noqa: E402
from smart_attributes.knowledge.thresholds import Thresholds  # noqa: E402
from smart_attributes.model import State  # noqa: E402

DOCUMENT = ROOT / 'doc' / 'explanation' / 'verdicts.md'
TABLES = DOCUMENT.parent / 'data'
BEFORE = ROOT / 'tools' / 'verdicts_before.json'
VENDORS = {'A': 'Intel', 'B': 'Samsung', 'C': 'Micron'}
LEVELS = (State.WARNING.name, State.CRITICAL.name)
TELLING = 20  # looks, below which a reason says little
MANY = 5      # drives of a class, below which the data file leaves it out


def states(known: timelines.Experience) -> Iterator[str]:
    """Yield a row a state."""
    data = timelines.as_data(known)
    for name, state in data['states'].items():
        yield f'| {name} | {state["drive_years"]:,.0f} | {state["failures"]:,} | {state["percent_per_year"]} % |'


def alarms(known: timelines.Experience) -> Iterator[str]:
    """Yield a row a level at which an admin is told."""
    data = timelines.as_data(known)
    for name, found in (('WARNING or CRITICAL', data), ('CRITICAL', data['critical'])):
        yield (f'| {name} | {found["alarms_per_1000_drive_years"]} | {found["failed_within_90_days_percent"]} % | '
               f'{found["caught_percent"]} % | {found["median_lead_days"]:.0f} days |')


def fifths(comparisons: Sequence[accuracy.Comparison], documented: Collection[str],
           sets: accuracy.Sets) -> Iterator[str]:
    """Yield the fifths of the models and their sum as rows of a table."""
    found = list(accuracy.fifths(comparisons, documented, sets))
    for name, fifth in (*enumerate(found, 1), ('all', accuracy.Fifth(*map(sum, zip(*found))))):
        shares = (accuracy.percent(fifth.agree, fifth.drives), accuracy.percent(fifth.left_out, fifth.drives),
                  f'{fifth.believed:,}', accuracy.percent(fifth.agree_believed, fifth.believed))
        yield f'| {name} | {fifth.drives:,} | {" | ".join(shares)} |'


def gone(found: Iterable[Row]) -> Iterator[str]:
    """Yield a row for each vendor, state and reason of hard disks that tells something."""
    for row in found:
        if row['kind'] == 'hdd' and not row['newest_error'] and int(row['looks'] or 0) >= TELLING and (
                row['state'] in LEVELS or row['reason'] == seen_again.QUIET):
            again = f'{row["critical_percent"]} % | {row["lost_data_percent"]} % ({row["quiet_lost_data_percent"]})'
            ends = f'{row["low"]} to {row["high"]}'
            yield (f'| {row["vendor"]} | {row["state"]} | {row["reason"]} | {int(row["looks"] or 0):,} | '
                   f'{row["gone_percent"]} % ({ends}) | {row["quiet_gone_percent"]} % | {again} |')


def announced(found: Iterable[Row]) -> Iterator[str]:
    """Yield a row for each vendor of SSDs and level: the share of failed and of healthy drives that it reports."""
    for row in found:
        if not row['metric'] and row['limit'] in LEVELS:
            name = f'{row["vendor"]}, like {VENDORS[str(row["vendor"])]}' if row['vendor'] in VENDORS else row['vendor']
            yield (f'| {name} | {row["limit"]} | {int(row["failed"] or 0):,} | {row["failed_percent"]} % | '
                   f'{int(row["healthy"] or 0):,} | {row["healthy_percent"]} % |')


def strata() -> Iterator[str]:
    """Yield a row for each stratum of a recent increase and of a number without a date, as in thresholds/risk.json."""
    data = shipped_data.load(shipped_data.path(risk.FILE))
    groups = (*hard_disks.GROUPS, POOL)
    for form, days, words in ((RISE, 14, 'rose by more than {} in a week, within the last 14 days'),
                              (LEVEL, UNKNOWN, 'above {}, not known since when')):
        for metric in sorted(hard_disks.METRICS):
            of_metric = [each for each in data['hdd'] if each['metric'] == metric and each['form'] == form
                         and each['days'] == days]
            for each in sorted(of_metric, key=lambda each: each['above']):
                cells = ' | '.join(_share(each['rows'].get(group)) for group in groups)
                yield f'| `{metric}` | {words.format(each["above"])} | {cells} |'


def _share(row: Sequence[float] | None) -> str:
    return '-' if row is None else f'{100 * row[2]:.0f} % / {100 * row[3]:.0f} % ({row[0]:g})'


def of_timelines(path: str) -> dict[str, Iterable[str]]:
    """Return the rows of every table about hard disks that were watched until they failed."""
    judge = shipped_judge()
    known = timelines.experience(timelines.read(path), timelines.by_levels(lambda report: judge(report, None)))
    remembered = timelines.experience(timelines.read(path), timelines.by_history(judge))
    return {'states': states(known), 'alarms': alarms(known), 'states with history': states(remembered),
            'alarms with history': alarms(remembered), 'strata': strata()}


def of_collection(path: str) -> dict[str, Iterable[str]]:
    """Return the rows of every table about a collection of drives."""
    data = shipped_data.load(shipped_data.path('attributes.json'))
    database = SpecDatabase(data)
    limits_of = Thresholds(shipped_data.load(shipped_data.path('thresholds/default.json')))
    comparisons: list[accuracy.Comparison] = []
    alarming: list[of_drives.Alarm] = []
    for drive in of_drives.drives(path):
        comparisons += [accuracy.compare(drive, database)] if drive.report.identity.kind == 'ssd' else []
        alarming.append(of_drives.alarm(drive, database, limits_of))
    return {**of_drives.tables(alarming, limits_of, of_drives.read_figures(str(BEFORE))),
            'wear': fifths(comparisons, accuracy.documented_families(data), accuracy.wear_sets(data))}


def of_outcomes(drives: str, history: str, failures: str) -> dict[str, Iterable[str]]:
    """Return the rows of every table about drives that were seen again, and about SSDs that failed."""
    again = seen_again.rows(seen_again.read(history, shipped_judge()))
    ssds = ssd_failures.measured(drives, failures, shipped_judge())
    write('seen_again.csv', [row for row in again if int(row['drives'] or 0) >= MANY])
    write('ssd_failures.csv', ssds)
    return {'seen again': gone(again), 'failed SSDs': announced(ssds)}


def write(name: str, found: Sequence[Row]) -> None:
    """Write a data file beside the document."""
    TABLES.mkdir(exist_ok=True)
    (TABLES / name).write_text(as_csv(found))


def filled(text: str, rows: dict[str, Iterable[str]]) -> str:
    """Return the document with its tables as they were measured."""
    for name, of_table in rows.items():
        start, end = f'<!-- {name} -->\n', f'<!-- end of {name} -->'
        if text.count(start) != 1 or end not in text:
            raise SystemExit(f'{DOCUMENT}: there is no place for the table of {name}')
        before, rest = text.split(start)
        text = before + start + '\n'.join(of_table) + '\n' + rest[rest.index(end):]
    return text


def main() -> int:
    """Rewrite the document from the files named on the command line."""
    if len(sys.argv) != 5:
        print(__doc__)
        return 1
    on_timelines, drives, history, failures = sys.argv[1:]
    try:
        rows = {**of_outcomes(drives, history, failures), **of_collection(drives), **of_timelines(on_timelines)}
        DOCUMENT.write_text(filled(DOCUMENT.read_text(), rows))
    except SmartError as problem:
        print(problem)
        return 1
    print(f'{DOCUMENT}: written')
    return 0


if __name__ == '__main__':
    sys.exit(main())
