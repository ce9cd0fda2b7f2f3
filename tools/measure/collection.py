"""Convert a collection of drives, one JSON line each, to reports.

One JSON object a line, as tools.measure.collect writes it: identity, attribute rows, device
statistics and NVMe log lines as smartctl -x prints them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from smart_attributes.constants import WHEN_FAILED
from smart_attributes.model import AttributeRow, Identity, Report, Statistic
from smart_attributes.reading.content import has_spindle
from smart_attributes.reading.pysmart import NVME_LOG
from smart_attributes.typed import Json

from .data_rows import json_lines

LONGEST = 30  # digits of a number; no drive counter has that many
SHAPE = 'each line is an object with model, attributes, devstat'
HEALTH: Mapping[object, bool] = {'PASSED': True, 'OK': True, 'FAILED!': False}
NVME_LINES = {
    'Critical Warning': 'critical_warning',
    **NVME_LOG,
}
SCSI_LINES = {
    'temperature': 'Current Drive Temperature',
    'drive_trip': 'Drive Trip Temperature',
}

LOGICAL, PHYSICAL = 512, 4096
IN_EIGHTS = PHYSICAL // LOGICAL
# Pending sectors first: Hitachi's designs count pending sectors in logical sectors, but reallocated
# ones in physical sectors. Dell uses 196 in place of 5.
ATTRIBUTES = (197, 5, 196)


class CollectedDrive(NamedTuple):
    """One drive of a collection."""

    name: str  # file and line of the drive in the collection
    report: Report


class Sizes:
    """Sector sizes by model, derived from the counts of the drives of a file that does not give
    them.

    A disk with physical sectors of 4 KiB that counts logical sectors of 512 B loses eight at once.
    Measured on 52,320
    and 18,433 hard disks: by model, nearly all counts are multiples of eight, or about one in
    eight, as by chance.
    """

    def __init__(self) -> None:
        self._drives: dict[int, Counter[str]] = {
            attribute: Counter() for attribute in ATTRIBUTES
        }
        self._in_eights: dict[int, Counter[str]] = {
            attribute: Counter() for attribute in ATTRIBUTES
        }

    def add(self, model: str, counts: Mapping[int, int]) -> None:
        """Add the counts of one drive. counts: raw numbers by attribute."""
        for attribute in ATTRIBUTES:
            if counts.get(attribute):
                self._drives[attribute][model] += 1
                self._in_eights[attribute][model] += counts[attribute] % IN_EIGHTS == 0

    def physical(self, model: str) -> int | None:
        """Return the size of a physical sector in bytes.

        None if no drive of the model has lost a sector; its size then has no effect.
        """
        for attribute in ATTRIBUTES:
            drives = self._drives[attribute][model]
            if drives:
                return (
                    PHYSICAL
                    if 2 * self._in_eights[attribute][model] > drives
                    else LOGICAL
                )
        return None


def read(path: str) -> Iterator[CollectedDrive]:
    """Yield the drives of a plain or gzip file, with sector sizes derived from their counts.

    Raises DataError, with the line number, for a line that is not a drive.
    """
    sizes = Sizes()
    for model, counts in json_lines(path, _counts, SHAPE):
        sizes.add(model, counts)
    reports = json_lines(
        path, lambda facts: (facts.get('path'), report_of(facts)), SHAPE
    )
    for number, (name, report) in enumerate(reports, 1):
        identity = report.identity
        identity = identity._replace(physical_block_size=sizes.physical(identity.model))
        yield CollectedDrive(str(name or number), report._replace(identity=identity))


def _counts(facts: Json) -> tuple[str, Mapping[int, int]]:
    rows = facts.get('attributes', ())
    return _text(facts, 'model'), {
        row[0]: _count(row[7]) or 0 for row in rows if row[0] in ATTRIBUTES
    }


def report_of(facts: Json) -> Report:
    """Return the facts as a smartctl report.

    Raises one of NOT_A_DRIVE if the facts do not describe a drive.
    """
    rows = tuple(_row(*row) for row in facts.get('attributes', ()))
    scsi = {
        key: _count(facts.get('scsi', {}).get(label, ''))
        for key, label in SCSI_LINES.items()
    }
    scsi['percentage_used'] = _count(str(facts.get('scsi_percent_used')))
    return Report(
        _identity(facts)._replace(spins=has_spindle(rows)),
        HEALTH.get(facts.get('health')),
        attributes=rows,
        statistics=dict(_statistics(facts.get('devstat', {}))),
        nvme=dict(_nvme(facts.get('nvme', {}))),
        scsi={key: number for key, number in scsi.items() if number is not None},
        error_count=_count(str(facts.get('errors'))),
    )


def _identity(facts: Json) -> Identity:
    protocol = 'SCSI' if 'vendor' in facts else 'ATA'
    if 'nvme' in facts:
        protocol = 'NVMe'
    model = (
        _text(facts, 'model')
        or f'{_text(facts, "vendor")} {_text(facts, "product")}'.strip()
    )
    rotation = _text(facts, 'rotation')
    return Identity(
        protocol=protocol,
        model=model,
        firmware=_text(facts, 'firmware') or _text(facts, 'revision'),
        rotation=0 if 'Solid' in rotation else _count(rotation),
        family=_text(facts, 'family'),
    )


def _text(facts: Json, key: str) -> str:
    """Return the text at *key*, or '' if it is missing. Raises TypeError if it is not a text."""
    text = facts.get(key) or ''
    if not isinstance(text, str):
        raise TypeError(key)
    return text


def _row(
    number: int,
    name: str,
    flags: str,
    value: object,
    worst: object,
    threshold: object,
    failed: str,
    raw: str,
) -> AttributeRow:
    return AttributeRow(
        number,
        name,
        _count(str(value)),
        _count(str(worst)),
        _count(str(threshold)),
        'P' in flags,
        WHEN_FAILED.get(failed, ''),
        raw,
    )


def _statistics(lines: Json) -> Iterator[tuple[tuple[int, int], Statistic]]:
    for place, (value, flags, name) in lines.items():
        if re.fullmatch('-?[0-9]+', value):
            page, offset = (int(part, 0) for part in place.split(':'))
            yield (page, offset), Statistic(_whole(value), name, flags.replace('-', ''))


def _nvme(lines: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    for label, value in lines.items():
        key, number = NVME_LINES.get(' '.join(label.split())), _count(value)
        if key and number is not None:
            yield key, number


def _count(text: str) -> int | None:
    """Return the number that *text* starts with, as in "3%", "0x01" or "2,020,626 [1.03 TB]";
    None without one.
    """
    match = re.match(r'(0x[0-9a-fA-F]+)|([0-9][0-9,.\s]*)', text)
    if not match:
        return None
    return _whole(match[1], 16) if match[1] else _whole(re.sub('[^0-9]', '', match[2]))


def _whole(digits: str, base: int = 10) -> int:
    """Return the number in *digits*.

    Raises ValueError if it has more digits than any drive counter.
    """
    if len(digits) > LONGEST:
        raise ValueError('too long')
    return int(digits, base)
