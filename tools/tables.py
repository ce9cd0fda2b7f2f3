#!/usr/bin/env python3
"""Fill the tables of the documents from what they describe; the tests fail when one is out of date.

Usage: tools/tables.py          (from the project's virtual environment: .venv/bin/python tools/tables.py)
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Callable, NamedTuple

import architecture

from smart_attributes.knowledge import severity
from smart_attributes.knowledge.drive_database import SpecDatabase
from smart_attributes.model import State
from smart_attributes.output import metrics as face
from smart_attributes.reading import device_types, smartctl_calls

ROOT = Path(__file__).resolve().parent.parent

KINDS = ('hdd', 'ssd', 'nvme', 'sas')
CONCERNS = {
    'health': 'the drive reports that it fails',
    'data': 'data was lost',
    'protection': 'the drive is read-only or lost its power-loss protection',
    'errors': 'the drive has errors; those that increase come first',
    'wear': 'the drive is worn',
    'cooling': 'the drive is too hot',
    'cable': 'the cable, or another part that connects the drive, is faulty',
    'firmware': 'the firmware has a known defect',
}


def data(name: str) -> dict[str, Any]:
    """Return a data file."""
    content: dict[str, Any] = json.loads((ROOT / name).read_text())
    return content


def metric_names() -> list[str]:
    """One row a metric."""
    limits = data('thresholds/default.json')['metrics']
    return [
        f'| `{name}`{", graphed" if limits.get(name, {}).get("graph") else ""} | '
        f'{metric["unit"] or "count" if not metric.get("verdict") else "verdict"} | '
        f'{metric["meaning"]} |'
        for name, metric in sorted(data('attributes.json')['metrics'].items())
    ]


def concerns() -> list[str]:
    """One row a kind of finding, with its metrics."""
    kinds = [
        (severity.kind(metric.remedy, metric.concern), name)
        for name, metric in sorted(
            SpecDatabase(data('attributes.json')).metrics.items()
        )
    ]
    return [
        f'| {number}. {concern}: {words} | '
        + ', '.join(f'`{name}`' for kind, name in kinds if kind == concern)
        + ' |'
        for number, (concern, words) in enumerate(CONCERNS.items(), 1)
    ]


def metrics() -> list[str]:
    """One row for each metric of a run, a drive or a group; the document says how the others are
    named.
    """
    known = SpecDatabase(data('attributes.json')).metrics
    rows = [
        (metric.name, metric.labels, metric.help)
        for metric in face.metrics((), known, State.OK, 0)
    ]
    return [
        '| metric | labels | meaning |',
        '|---|---|---|',
        *(
            f'| `{name}` | {", ".join(labels)} | {said} |'
            for name, labels, said in rows
        ),
    ]


def limits() -> list[str]:
    """One row for each metric and kind that can alert.

    Their reasons are in the data, where `explain -v` finds them.
    """
    known = data('attributes.json')['metrics']
    rows = []
    for name, metric in sorted(data('thresholds/default.json')['metrics'].items()):
        change = 'decrease' if known[name]['worse'] == 'low' else 'increase'
        rows.append(limit_row(f'`{name}`', metric, change))
        rows.extend(
            limit_row(
                f'`{name}`, {kind}',
                metric[kind],
                change,
                rows[-1] and 'warning' in metric[kind],
            )
            for kind in KINDS
            if kind in metric
        )
    return [row for row in rows if row]


def limit_row(
    name: str, limit: dict[str, Any], change: str, is_exception: object = False
) -> str:
    """Return the row of one metric or kind, or '' if it sets no range and no growth.
    change: as for grown(). is_exception: print it anyway.
    """
    if 'like' in limit:
        return f'| {name} | as for SATA | as for SATA | as for SATA drives of the same vendor |'
    cells = (
        said(limit, 'warning'),
        said(limit, 'critical'),
        grown(limit.get('growth'), change),
    )
    return (
        f'| {name} | {" | ".join(cells)} |'
        if is_exception or {*cells} - {'', 'never'}
        else ''
    )


def grown(rules: Any, change: str) -> str:
    """Return limits of growth as a person reads them: "any increase in 24 h: WARNING for 7 d".
    change: "increase", or "decrease" if low numbers are worse; only the first limit names it.
    """
    several = [rules] if isinstance(rules, dict) else rules or ()
    parts: list[str] = []
    for rule in several:
        for name in ('warning', 'critical'):
            least = rule.get(name)
            if least is None:
                continue
            by = f'{change} of more than {least}'
            if least == '0':
                by = f'any {change}'
            elif parts:
                by = f'more than {least}'
            parts.append(
                f'{by} in {spaced(rule["within"])}: '
                f'{name.upper()} for {spaced(rule["for"])}'
            )
    return '; '.join(parts)


def said(limit: dict[str, Any], field: str) -> str:
    """Return a limit as a person reads it."""
    value = limit.get(field)
    if isinstance(value, dict):
        sign = ''
        if value.get('plus'):
            sign = f' + {value["plus"]}'
        elif value.get('minus'):
            sign = f' - {value["minus"]}'
        floor = f', at least {value["at_least"]}' if 'at_least' in value else ''
        return f'`{value["drive"]}`{sign}{floor}, else {value["else"]}'
    return 'never' if value is None and field in limit else value or ''


def spaced(time: str) -> str:
    """Return a time such as "24h" with its unit as documents write it: "24 h"."""
    return f'{time[:-1]} {time[-1]}'


def logs() -> list[str]:
    """One sentence: the logs that a check reads."""
    return [
        f'You can skip these logs: {", ".join(f"`{log}`" for log in smartctl_calls.LOGS)}.'
    ]


def layouts() -> list[str]:
    """One row a layout of vendors' logs, with the drives that have it and its metrics."""
    database = data('attributes.json')
    rows = ['| layout | drives | metrics |', '|---|---|---|']
    for name, layout in sorted(database['layouts'].items()):
        families = [
            entry['family']
            for entry in database['entries']
            if name in entry.get('logs', {}).values()
        ]
        metric_list = ', '.join(f'`{field["metric"]}`' for field in layout['fields'])
        rows.append(f'| `{name}` | {"; ".join(families)} | {metric_list} |')
    return rows


class Documented(NamedTuple):
    """What doc/how-to/raid.md says of a controller, beside its entry in device_types.TYPES."""

    example: str  # an address: "megaraid,6@/dev/bus/0"
    products: str  # brands, models and drivers
    paths: str  # which paths lead to the controller
    # "7.5": a version of smartctl that supports the type, if 7.3 does not
    since: str = ''


CONTROLLERS = {
    'areca': Documented('areca,1/1@/dev/sg2', 'Areca', "the controller's `/dev/sgM`"),
    '3ware': Documented(
        '3ware,0@/dev/twa0',
        '3ware',
        '`/dev/twa0`, `/dev/twl0` (9750) or `/dev/twe0` (8000 and older)',
    ),
    'hpt': Documented(
        'hpt,1/3@/dev/sda', 'HighPoint RocketRAID', 'any volume, such as `/dev/sda`'
    ),
    'megaraid': Documented(
        'megaraid,6@/dev/bus/0',
        'MegaRAID (LSI, Avago, Broadcom up to 95xx, Dell PERC up to 11, Lenovo, Fujitsu, Intel, Supermicro)',
        '`/dev/bus/H`, or any volume, such as `/dev/sda`',
    ),
    'aacraid': Documented(
        'aacraid,0,0,4@/dev/sg3',
        'Adaptec, Microsemi and Dell CERC, with the driver aacraid',
        'any volume, such as `/dev/sda`, or `/dev/sgM`',
    ),
    'cciss': Documented(
        'cciss,1@/dev/sg0',
        'HP and HPE Smart Array',
        "the controller's `/dev/sgM`, or `/dev/cciss/c0d0` with the old driver",
    ),
    'sssraid': Documented(
        'sssraid,8,1@/dev/bus/0',
        'RAMAXEL, with the driver sssraid',
        '`/dev/bus/H`',
        '7.5',
    ),
}


def controllers() -> list[str]:
    """One row a controller, in the order of the alphabet, and one for drives that need no type."""
    rows = []
    for entry in device_types.TYPES:
        if entry.controller:
            forms = ' or '.join(f'`{form}`' for form in spellings(entry.form))
            documented = CONTROLLERS[entry.name]
            since = (
                f' (smartctl {documented.since} or newer)' if documented.since else ''
            )
            rows.append(
                f'| {documented.products} | {forms}{since} | {documented.paths} |'
            )
    return [
        '| controller | type | path |',
        '|---|---|---|',
        *sorted(rows, key=str.lower),
        '| host bus adapter, JBOD, software RAID | none | `/dev/sda` |',
    ]


def spellings(form: str) -> list[str]:
    """Return the form of a type without and with its optional part: "areca,N[/E]" is areca,N and
    areca,N/E.
    """
    return list(dict.fromkeys((re.sub(r'\[.*\]', '', form), re.sub(r'[][]', '', form))))


def refused() -> list[str]:
    """One row a reason, with the types that smartctl knows and a check must not use."""
    reasons = dict.fromkeys(device_types.REFUSED.values())
    return ['| types | reason |', '|---|---|'] + [
        f'| {", ".join(f"`{name}`" for name, why in device_types.REFUSED.items() if why == reason)} | {reason} |'
        for reason in reasons
    ]


def known_metrics() -> list[str]:
    """One line a metric, for editors to propose."""
    found = sorted(data('attributes.json')['metrics'].items())
    lines = [
        f'        "{name}": {{"description": {json.dumps(said_metric(metric))}}},'
        for name, metric in found
    ]
    return [*lines[:-1], lines[-1].rstrip(',')]


def said_metric(metric: dict[str, Any]) -> str:
    """Return meaning and unit of a metric."""
    unit = f'in {metric["unit"]}' if metric['unit'] else 'a count'
    if metric.get('verdict'):
        unit = 'a verdict'
    return f'{metric["meaning"]}; {unit}.'


SCHEMA = 'smart_attributes/schema/attributes.schema.json'
SCHEMA_TABLE = '"$comment": "tools/tables.py writes these",\n      "properties": {\n'
TABLES: dict[str, dict[str, Callable[[], list[str]]]] = {
    'doc/reference/metrics.md': {'metrics': metric_names, 'concerns': concerns},
    'doc/reference/limits.md': {'limits': limits},
    'doc/explanation/vendor-logs.md': {'layouts': layouts},
    'doc/contributing/architecture.md': {'drawing': architecture.drawing},
    'doc/how-to/raid.md': {'controllers': controllers, 'refused': refused},
    'doc/reference/harmful-drives.md': {'logs': logs},
    'doc/how-to/metrics.md': {'metrics': metrics},
    SCHEMA: {'known_metrics': known_metrics},
}


def filled(document: str) -> str:
    """Return a document with its tables as they should be."""
    text = (ROOT / document).read_text()
    for name, rows in TABLES[document].items():
        # JSON has no comments to put around a table.
        start, end = (
            (SCHEMA_TABLE, '      }')
            if document == SCHEMA
            else (f'<!-- {name} -->\n', f'<!-- end of {name} -->')
        )
        if text.count(start) != 1:
            raise SystemExit(f'{document}: there is no place for the table of {name}')
        before, rest = text.split(start)
        text = before + start + '\n'.join(rows()) + '\n' + rest[rest.index(end) :]
    return text


def main() -> None:
    """Rewrite every document that is out of date."""
    for document in TABLES:
        text = filled(document)
        if text != (ROOT / document).read_text():
            (ROOT / document).write_text(text)
            print(f'{document}: tables filled')


if __name__ == '__main__':
    main()
