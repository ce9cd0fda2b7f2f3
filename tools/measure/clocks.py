"""Count the reports that are said to hide power-on time, by how far their logs are ahead of their
counter.

A line of the file is a report: `kind`, `model`, `firmware`, `attribute_9` (name, raw value as
printed), `statistics_hours` and `spindle_hours` (device statistics 1:0x010 and 3:0x008),
`self_tests` (kind, result, hours) and `errors` (hours). The class of a report is computed here from
these numbers alone.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from smart_attributes.devtools import sources
from smart_attributes.errors import DataError
from smart_attributes.model import AttributeRow, ErrorEntry, Identity, Report, SelfTest, Statistic
from smart_attributes.typed import Json

from .collection import NOT_A_DRIVE
from .timelines import Mindful

# which attributes a model has, to find its entry
MODELS = Path(__file__).parents[2] / 'tests' / 'models.csv'
ERASED = 0xFF00
AHEAD = ((1000, 'more than 1,000 h'), (25, '25 to 1,000 h'), (-1e9, 'less, or unknown'))
CODES = ('power-on-time-set-back', 'power-on-time-behind')
NOTHING = 'not named'
# (ahead, whether a counter of 32 bits agrees, code): reports
Named = Counter[tuple[str, str, str]]


class Dated(NamedTuple):
    """A report, and what its numbers say without any entry."""

    report: Report
    ahead: str
    agrees: str


def dated(facts: Json, attributes: Iterable[int] = ()) -> Dated:
    """Return a line of the file. attributes: the numbers in the table of such a drive."""
    raw = (facts['attribute_9'] or ['', ''])[1]
    tests = tuple(
        SelfTest(kind, result, None, hours) for kind, result, hours in facts['self_tests']
    )
    errors = tuple(ErrorEntry(number, (), hours) for number, hours in enumerate(facts['errors'], 1))
    wide = {
        place: Statistic(hours, 'hours')
        for place, hours in (
            ((1, 0x010), facts['statistics_hours']),
            ((3, 0x008), facts['spindle_hours']),
        )
        if hours is not None
    }
    rows = tuple(
        AttributeRow(number, '', None, None, None, None, '', raw if number == 9 else '')
        for number in sorted({*attributes, *([9] if raw else [])})
    )
    identity = Identity(
        'ATA', facts['model'], facts['firmware'], rotation=7200 if facts['kind'] == 'hdd' else 0
    )
    report = Report(
        identity, True, attributes=rows, statistics=wide, self_tests=tests, errors=errors
    )
    digits = re.match('[0-9]+', raw)
    hours = int(digits[0]) if digits else facts['statistics_hours']
    logged = [
        hour
        for hour in (*(test[2] for test in facts['self_tests']), *facts['errors'])
        if hour is not None and hour < ERASED
    ]
    if hours is None or not logged:
        return Dated(report, AHEAD[-1][1], '-')
    agrees = any(abs(each.number - hours) <= 24 + 0.02 * hours for each in wide.values())
    return Dated(
        report,
        next(name for least, name in AHEAD if max(logged) - hours > least),
        'yes' if agrees else 'no',
    )


def read(path: str) -> Iterator[Dated]:
    """Yield the reports of a plain or gzip file.

    Raises DataError, with the line number, for a line that is none.
    """
    tables = {
        (drive.identity.model, drive.identity.firmware): drive.attributes
        for drive in sources.measured(str(MODELS))[0]
    }
    by_model = {model: attributes for (model, _), attributes in tables.items()}
    number = 0
    try:
        with (gzip.open if path.endswith('.gz') else open)(path, 'rt', encoding='utf-8') as lines:
            for line in lines:
                number += 1
                facts = json.loads(line)
                model = facts['model']
                yield dated(facts, tables.get((model, facts['firmware']), by_model.get(model, ())))
    except NOT_A_DRIVE as error:
        raise DataError(
            f'{path}, line {number}: {type(error).__name__}: not a report with its hours'
        ) from None
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(
            f'{path}: {getattr(error, "strerror", None) or "not a complete gzip file"}'
        ) from None


def named(reports: Iterable[Dated], judge: Mindful) -> Named:
    """Return how many reports of each class get each code."""
    counts: Named = Counter()
    for each in reports:
        codes = {note.code for note in judge(each.report, None).notes}
        counts[
            each.ahead, each.agrees, next((code for code in CODES if code in codes), NOTHING)
        ] += 1
    return counts


def lines(counts: Named) -> Iterator[str]:
    """Yield a table: a row for each class."""
    yield f'| logs ahead by | counter of 32 bits agrees | reports | {" | ".join(CODES)} |'
    yield '|---|---|---|---|---|'
    for ahead, agrees in sorted({(ahead, agrees) for ahead, agrees, _ in counts}):
        of_class = [counts[ahead, agrees, code] for code in (*CODES, NOTHING)]
        yield f'| {ahead} | {agrees} | {sum(of_class):,} | {of_class[0]:,} | {of_class[1]:,} |'


def main(path: str, judge: Mindful, as_json: bool) -> None:
    """Print the table. Raises DataError for a file without such reports."""
    counts = named(read(path), judge)
    data = [[*name, count] for name, count in sorted(counts.items())]
    print(json.dumps(data) if as_json else '\n'.join(lines(counts)))
