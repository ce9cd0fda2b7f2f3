#!/usr/bin/env python3
"""Write the evidence for the verdicts into doc/explanation/verdicts.md.

That is: the failure rate of each state of hard disks, the rates behind each of their limits, and the effect of every
limit on a collection of drives.

Usage: tools/verdicts.py TIMELINES.csv.gz DRIVES.jsonl.gz    (from the virtual environment: .venv/bin/python
tools/verdicts.py ...)
"""
from __future__ import annotations

import sys
from pathlib import Path
from typing import Callable, Collection, Dict, Iterable, Iterator, List, Optional, Sequence

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from measure import alarms as of_drives  # noqa: E402
from measure import rates, timelines  # noqa: E402
from measure.rates import AGES, ALONE, AT, BEYOND, Rate, Rates  # noqa: E402

from smart_attributes.check import judging  # noqa: E402
from smart_attributes.check.rulebook import Site, judge_of  # noqa: E402
from smart_attributes.command_line.options import Options  # noqa: E402
from smart_attributes.devtools import collection, measure  # noqa: E402
from smart_attributes.errors import SmartError  # noqa: E402
from smart_attributes.history.past import Past  # noqa: E402
from smart_attributes.knowledge import data_file  # noqa: E402
from smart_attributes.knowledge.drive_database import SpecDatabase  # noqa: E402
from smart_attributes.knowledge.thresholds import Thresholds  # noqa: E402
from smart_attributes.model import Device, Report, State, Verdict  # noqa: E402

DOCUMENT = ROOT / 'doc' / 'explanation' / 'verdicts.md'
BEFORE = ROOT / 'tools' / 'verdicts_before.json'
LEVELS = (State.WARNING.name, State.CRITICAL.name)
TELLING = 20  # failures beyond a limit, below which a family says little


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
    for (metric, band), rate in sorted(found.items(), key=lambda item: (item[0][0], float(item[0][1].split()[0]))):
        yield f'| `{metric}` | {band} | {rate.hours / timelines.YEAR:,.0f} | {rate} |'


def fifths(comparisons: Sequence[measure.Comparison], documented: Collection[str]) -> Iterator[str]:
    """Yield the fifths of the models and their sum as rows of a table."""
    found = list(measure.fifths(comparisons, documented))
    for name, fifth in (*enumerate(found, 1), ('all', measure.Fifth(*map(sum, zip(*found))))):
        shares = (measure.percent(fifth.agree, fifth.drives), measure.percent(fifth.left_out, fifth.drives),
                  f'{fifth.believed:,}', measure.percent(fifth.agree_believed, fifth.believed))
        yield f'| {name} | {fifth.drives:,} | {" | ".join(shares)} |'


def _limits(found: Rates) -> List[tuple[str, str]]:
    return [(metric, level) for metric in sorted({key[0] for key in found}) for level in LEVELS
            if any(key[:2] == (metric, level) for key in found)]


def of_timelines(path: str) -> Dict[str, Iterable[str]]:
    """Return the rows of every table about hard disks that were watched until they failed."""
    with_files = judge_of(Options(), Site())

    def verdict(report: Report, past: Optional[Past] = None) -> Verdict:
        return judging.judge(Device('', name='drive'), report, with_files.database, with_files.thresholds,
                             with_files.rules, past)

    def said(metric: str, level: str) -> str:
        limit = with_files.thresholds.limit(metric, Device(''), timelines.report_of('', None, ()).identity, '')
        return f'above {limit.critical if level == State.CRITICAL.name else limit.warning}'

    known = timelines.experience(timelines.read(path), timelines.by_levels(verdict))
    remembered = timelines.experience(timelines.read(path), timelines.by_history(verdict))
    found = rates.counted(rates.periods(timelines.read(path), verdict),
                          {'limits': rates.of_limits, 'ages': rates.of_ages, 'values': rates.of_values})
    return {'states': states(known), 'alarms': alarms(known), 'states with history': states(remembered),
            'alarms with history': alarms(remembered), 'limits': limits(found['limits'], said),
            'ages': ages(found['ages'], said), 'families': families(found['limits'], said),
            'values': values(found['values'])}


def of_collection(path: str) -> Dict[str, Iterable[str]]:
    """Return the rows of every table about a collection of drives."""
    data = data_file.load(data_file.shipped('attributes.json'))
    database, limits_of = SpecDatabase(data), Thresholds(data_file.load(data_file.shipped('thresholds/default.json')))
    comparisons: List[measure.Comparison] = []
    alarming: List[of_drives.Alarm] = []
    for drive in collection.read(path):
        comparisons += [measure.compare(drive, database)] if drive.report.identity.kind == 'ssd' else []
        alarming.append(of_drives.alarm(drive, database, limits_of))
    return {**of_drives.tables(alarming, limits_of, of_drives.read_figures(str(BEFORE))),
            'wear': fifths(comparisons, measure.documented_families(data))}


def filled(text: str, rows: Dict[str, Iterable[str]]) -> str:
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
    if len(sys.argv) != 3:
        print(__doc__)
        return 1
    try:
        DOCUMENT.write_text(filled(DOCUMENT.read_text(), {**of_timelines(sys.argv[1]), **of_collection(sys.argv[2])}))
    except SmartError as problem:
        print(problem)
        return 1
    print(f'{DOCUMENT}: written')
    return 0


if __name__ == '__main__':
    sys.exit(main())
