"""Drives as people describe them: tests/drives/*.json, one file for each, named after the scenario.

A description holds what smartctl prints of the drive, in smartctl's own words: lines of
`smartctl -x` may be pasted. With "like" a drive is another one with some lines changed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).resolve().parent.parent / 'drives'

# "  5 Reallocated_Sector_Ct   PO--CK   100   100   010    -    0"
_ROW = re.compile(
    r' *(\d+) +(\S+) +([-A-Z]{6}) +(\d+) +(\d+) +(\d+|---) +(-|NOW|Past) +(\S.*)'
)
# "0x07  0x008  1              86  N--  Percentage Used Endurance Indicator"
_STATISTIC = re.compile(
    r' *0x([0-9a-f]{2}) +0x([0-9a-f]{3}) +\d +(-?\d+|-) +([-NDC]{3})\S* +(\S.*)'
)


class Row(NamedTuple):
    """One row of the attribute table."""

    id: int
    name: str  # smartctl's own; for the reader only
    flags: str  # "PO--CK"
    value: int
    worst: int
    threshold: int | None  # None: printed as "---"; the drive has no threshold for it
    failed: str  # "-", "NOW", "Past"; smartctl concludes it from the numbers before
    raw: str  # as printed


class Statistic(NamedTuple):
    """One entry of the ATA device statistics."""

    page: int
    offset: int
    number: int | None  # None: supported, not valid
    flags: str  # "N--"
    name: str


class SelfTest(NamedTuple):
    """One entry of the self-test log, in smartctl's words."""

    kind: str
    status: str
    hours: int


class Description(NamedTuple):
    """A drive. Numbers are in the units of smartctl's JSON."""

    name: str  # of the file
    what: str = ''  # the scenario, a sentence
    origin: str = ''
    protocol: str = 'ATA'  # "ATA", "NVMe" or "SCSI", as smartctl names it
    vendor: str = ''  # SCSI only
    model: str = ''
    firmware: str = ''
    serial: str = ''
    wwn: str = ''  # hexadecimal digits; NVMe: EUI-64
    capacity: int = 0  # bytes
    physical_block_size: int = 4096  # bytes; disks until 2010 or so have 512
    rotation: int | None = None  # rounds per minute, 0 solid state; None not told
    # or "FAILED"; SCSI: "5d/10", additional sense code and qualifier
    health: str = 'PASSED'
    attributes: tuple[Row, ...] = ()
    # attribute -> hexadecimal digits, where the printed raw value is ambiguous
    raw_bytes: Mapping[str, str] = {}
    statistics: tuple[Statistic, ...] = ()
    errors: int = 0  # of the ATA error log
    self_tests: tuple[SelfTest, ...] = ()  # newest first
    # ATA: limits of error recovery for reading and writing, 0.1 s; 0 off; () unsupported
    erc: tuple[int, ...] = ()
    link: int = 3  # SATA: 1, 2 or 3 for 1.5, 3 or 6 Gb/s
    farm: Mapping[str, Any] = {}  # Seagate's log: see ata.farm_log
    log: Mapping[str, Any] = {}  # NVMe: health log; SCSI: see pages.py
    # NVMe: warning and critical, degrees Celsius
    temperature_limits: tuple[int, ...] = ()
    # what the plugin must make of it: see tests/test_simulated_machines.py
    expect: Mapping[str, Any] = {}


def names() -> list[str]:
    """Return the names of all drives."""
    return sorted(path.stem for path in FOLDER.glob('*.json'))


def read(name: str) -> Description:
    """Return one drive. A mistake in its file is an error that names file and place."""
    facts = _facts(name)
    try:
        return _described(name, facts)
    except (TypeError, ValueError) as error:
        raise ValueError(f'tests/drives/{name}.json: {error}') from None


def _facts(name: str) -> dict[str, Any]:
    """Return the file's content, laid over that of the drive it is like."""
    facts: dict[str, Any] = json.loads((FOLDER / f'{name}.json').read_text())
    if 'like' not in facts:
        return facts
    other = _facts(facts.pop('like'))
    for key in ('attributes', 'statistics'):
        facts[key] = _changed(other.get(key, []), facts.get(key, []))
    for key in ('log', 'raw_bytes'):
        facts[key] = {**other.get(key, {}), **facts.get(key, {})}
    other.pop('expect', None)
    return {**other, **facts}


def _changed(lines: list[str], changes: list[str]) -> list[str]:
    """Return the lines with those exchanged that are about the same attribute or statistic."""

    def about(line: str) -> list[str]:
        return line.split()[:2] if line.strip().startswith('0x') else line.split()[:1]

    by_subject = {tuple(about(line)): line for line in changes}
    kept = [by_subject.pop(tuple(about(line)), line) for line in lines]
    return [*kept, *by_subject.values()]


def _described(name: str, facts: dict[str, Any]) -> Description:
    facts = dict(facts)
    for key, convert in (
        ('attributes', _row),
        ('statistics', _statistic),
        ('self_tests', _self_test),
    ):
        facts[key] = tuple(convert(line) for line in facts.get(key, []))
    return Description(name, **facts)


def _row(line: str) -> Row:
    match = _ROW.fullmatch(line)
    if not match:
        raise ValueError(f'"{line}" is no row of the table that smartctl -x prints')
    number, title, flags, value, worst, threshold, failed, raw = match.groups()
    return Row(
        int(number),
        title,
        flags,
        int(value),
        int(worst),
        None if threshold == '---' else int(threshold),
        failed,
        raw.rstrip(),
    )


def _statistic(line: str) -> Statistic:
    match = _STATISTIC.fullmatch(line)
    if not match:
        raise ValueError(
            f'"{line}" is no line of the device statistics that smartctl -x prints'
        )
    page, offset, number, flags, title = match.groups()
    return Statistic(
        int(page, 16),
        int(offset, 16),
        None if number == '-' else int(number),
        flags,
        title,
    )


def _self_test(words: list[Any]) -> SelfTest:
    return SelfTest(*words)


def undated(first_line: str) -> str:
    """Return a first line without the date by which to order a replacement, and without the path in
    the command of a self-test.
    """
    first_line = re.sub(r' \(smartctl -t long [^)]*\)', '', first_line)
    return re.sub(
        r'order a replacement (?:now|by [0-9-]+ \([a-z ]+\))',
        'order a replacement',
        first_line,
    )
