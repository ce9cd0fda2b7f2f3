#!/usr/bin/env python3
"""Write the evidence for the verdicts into doc/explanation/verdicts.md and the data files beside it.

That is: the failure rate of each state of hard disks, the rates behind each of their limits, the effect of every
limit on a collection of drives, what became of drives that were seen again, and what limits report of failed SSDs.

Usage: tools/verdicts.py TIMELINES.csv.gz DRIVES.jsonl.gz HISTORY.jsonl.gz SSD_FAILURES.csv.gz
(from the virtual environment: .venv/bin/python tools/verdicts.py ...)
"""
from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Callable

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from measure import accuracy, rates, seen_again, ssd_failures, timelines  # noqa: E402
from measure import alarms as of_drives  # noqa: E402
from measure.__main__ import shipped_judge  # noqa: E402
from measure.data_rows import Row, as_csv  # noqa: E402
from measure.rates import AGES, ALONE, AT, BEYOND, Rate, Rates  # noqa: E402

from smart_attributes.errors import SmartError  # noqa: E402
from smart_attributes.knowledge import shipped_data  # noqa: E402
from smart_attributes.knowledge.drive_database import SpecDatabase  # noqa: E402
from smart_attributes.knowledge.thresholds import Thresholds  # noqa: E402
from smart_attributes.model import State  # noqa: E402

DOCUMENT = ROOT / 'doc' / 'explanation' / 'verdicts.md'
TABLES = DOCUMENT.parent / 'data'
BEFORE = ROOT / 'tools' / 'verdicts_before.json'
VENDORS = {'A': 'Intel', 'B': 'Samsung', 'C': 'Micron'}
LEVELS = (State.WARNING.name, State.CRITICAL.name)
TELLING = 20  # failures beyond a limit, below which a family says little; looks, below which a reason does
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


def limits(found: Rates, said: Callable[[str, str], str]) -> Iterator[str]:
    """Yield a row a limit: what happens at it, at it where nothing else alarms, and beyond it."""
    for metric, level in _limits(found):
        cells = ' | '.join(str(found.get((metric, level, where), Rate())) for where in (AT, ALONE, BEYOND))
        yield f'| `{metric}` {said(metric, level)} | {level} | {cells} |'


def ages(found: Rates, said: Callable[[str, str], str]) -> Iterator[str]:
    """Yield a row a limit: what happens beyond it, by the time since the number last grew."""
    for metric, level in _limits(found):
        cells = ' | '.join(str(found.get((metric, level, name), Rate())) for name, _ in AGES)
        yield f'| `{metric}` {said(metric, level)} | {cells} |'


def families(found: Rates, said: Callable[[str, str], str]) -> Iterator[str]:
    """Yield a row a limit and family that tells something."""
    for metric, level in _limits(found):
        telling = (key[3] for key, rate in found.items() if key[:3] == (metric, level, BEYOND) and key[3:]
                   and rate.failures >= TELLING)
        for family in sorted(telling):
            cells = ' | '.join(str(found.get((metric, level, where, family), Rate())) for where in (AT, ALONE, BEYOND))
            yield f'| `{metric}` {said(metric, level)} | {family} | {cells} |'


def values(found: Rates) -> Iterator[str]:
    """Yield a row a metric and band of numbers."""
    of_all = ((*key, rate) for key, rate in found.items() if len(key) == 2)
    for metric, band, rate in sorted(of_all, key=lambda each: (each[0], float(each[1].split()[0]))):
        yield f'| `{metric}` | {band} | {rate.hours / timelines.YEAR:,.0f} | {rate} |'


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


def with_intervals(found: Mapping[str, Rates]) -> list[Row]:
    """Return all rates of hard disks with their intervals. found: rates by table."""
    return [{'table': name, 'class': ', '.join(key), 'drive_years': round(rate.hours / timelines.YEAR, 2),
             'failures': rate.failures, 'percent_a_year': round(rate.percent, 1),
             **dict(zip(('low', 'high'), (round(end, 1) for end in rate.interval() or ())))}
            for name, of_table in found.items() for key, rate in sorted(of_table.items()) if rate.hours]


def _limits(found: Rates) -> list[tuple[str, str]]:
    return [(metric, level) for metric in sorted({key[0] for key in found}) for level in LEVELS
            if any(key[:2] == (metric, level) for key in found)]


def of_timelines(path: str) -> dict[str, Iterable[str]]:
    """Return the rows of every table about hard disks that were watched until they failed."""
    judge, metrics = shipped_judge(), shipped_data.load(shipped_data.path('thresholds/default.json'))['metrics']

    def said(metric: str, level: str) -> str:
        # Limits of one level are equal where several vendors have it; those without rates have no critical one.
        hdd = metrics[metric]['hdd']
        found = (fields.get(level.lower()) for fields in (hdd, *hdd.get('groups', {}).values()))
        return f'above {next(filter(None, found))}'

    known = timelines.experience(timelines.read(path), timelines.by_levels(lambda report: judge(report, None)))
    remembered = timelines.experience(timelines.read(path), timelines.by_history(judge))
    found = rates.counted(rates.periods(timelines.read(path), lambda report: judge(report, None)),
                          {'limits': rates.of_limits, 'ages': rates.of_ages, 'values': rates.of_values})
    write('hard_disk_rates.csv', with_intervals(found))
    return {'states': states(known), 'alarms': alarms(known), 'states with history': states(remembered),
            'alarms with history': alarms(remembered), 'limits': limits(found['limits'], said),
            'ages': ages(found['ages'], said), 'families': families(found['limits'], said),
            'values': values(found['values'])}


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
