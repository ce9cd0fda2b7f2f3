"""Read drives that validate entries: samples with their expected readings, and measured models.

Both are text that a person pasted. A mistake in it is returned as a sentence, so that the rest can be validated.
"""
from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..errors import DataError
from ..knowledge import data_file, schema_errors, vendor_logs
from ..model import WHEN_FAILED, AttributeRow, Identity, Report
from ..typed import Json

SHOWN = 80  # characters of a line that a sentence may quote


class SampleDrive(NamedTuple):
    """A drive to match with entries: a sample or a row of models.csv."""

    place: str                        # "intel.json: sample 3, INTEL SSDSC2BB240G4"
    identity: Identity
    rows: tuple[AttributeRow, ...]
    family: str | None = None         # family of the entry that must be selected; None: any
    expect: Json | None = None
    stated: Mapping[str, float] = {}  # the drive's own statistics, by metric
    page: bytes | None = None         # the vendor's log

    @property
    def attributes(self) -> Sequence[int]:
        """Return the attribute numbers in the order of the drive's table."""
        return [row.id for row in self.rows]

    @property
    def report(self) -> Report:
        """Return the report built from the drive's rows."""
        return Report(self.identity, attributes=self.rows)


Result = tuple[list[SampleDrive], list[str]]  # the drives, and the mistakes as sentences


def read(path: str, kinds: Mapping[str, str]) -> Result:
    """Return the samples of a file, or of all JSON files of a folder.

    kinds: "hdd" or "ssd" by family; families without a kind are missing.
    """
    drives: list[SampleDrive] = []
    problems: list[str] = []
    files = [path]
    if os.path.isdir(path):
        files = sorted(os.path.join(path, name) for name in os.listdir(path) if name.endswith('.json'))
    for file in files:
        name = os.path.basename(file)
        try:
            data, faults = data_file.parse(data_file.read_text(file), name, 'samples')
        except DataError as problem:
            problems.append(str(problem))
            continue
        # A sample has the same form in a separate file and next to its entry.
        faults = faults or schema_errors.schema_problems({'entries': [], 'samples': data}, 'attributes', name)
        of_file, wrong_rows = ([], []) if faults else drives_of(name, data, kinds)
        drives += of_file
        problems += [*faults, *wrong_rows]
    return drives, problems


def drives_of(name: str, samples: Sequence[Json], kinds: Mapping[str, str]) -> Result:
    """Return the drives that the samples of the file *name* describe. samples: valid by their schema."""
    drives, problems = [], []
    for number, sample in enumerate(samples, 1):
        place = f'{name}: sample {number}, {sample["model"] or "without model"}'
        rows = [(line, parse_row(line)) for line in sample['lines']]
        problems += [f'{place}: {json.dumps(line[:SHOWN])} is not a row of an attribute table; paste one from '
                     f'smartctl -A or -x' for line, row in rows if row is None]
        identity = _identity(sample['model'], sample.get('firmware', ''),
                             sample.get('kind') or kinds.get(sample['family'], 'ssd'))
        identity = identity._replace(physical_block_size=sample.get('physical_block_size'),
                                     capacity=sample.get('capacity'))
        drives.append(SampleDrive(place, identity, tuple(row for _, row in rows if row is not None), sample['family'],
                                  sample['expect'], sample.get('stated', {}), _page(sample)))
    return drives, problems


def _page(sample: Json) -> bytes | None:
    """Return the bytes of a sample's log page."""
    page = bytearray(vendor_logs.PAGE)
    for offset, text in sample.get('page', {}).items():
        part = bytes.fromhex(text)
        page[int(offset):int(offset) + len(part)] = part
    return bytes(page[:vendor_logs.PAGE]) if 'page' in sample else None


def measured(path: str) -> Result:
    """Return the drives of a CSV file: model, firmware, attributes (numbers separated by blanks), optional kind."""
    name = os.path.basename(path)
    try:
        rows = list(csv.DictReader(io.StringIO(data_file.read_text(path), newline='')))
    except (DataError, csv.Error) as problem:
        return [], [f'{name}: {problem}']
    drives = []
    for number, row in enumerate(rows, 2):
        numbers = (row.get('attributes') or '').split()
        if row.get('model') is None or row.get('firmware') is None or not all(word.isdecimal() for word in numbers):
            return [], [f'{name}: line {number} must have the columns model, firmware and attributes; '
                        'separate the numbers of attributes by blanks']
        table = tuple(AttributeRow(int(word), '', None, None, None, None, '', '') for word in numbers)
        identity = _identity(row['model'], row['firmware'], row.get('kind') or 'ssd')
        drives.append(SampleDrive(f'{name}: line {number}, {row["model"]}', identity, table))
    return drives, []


def _identity(model: str, firmware: str, kind: str) -> Identity:
    protocol = {'nvme': 'NVMe', 'sas': 'SCSI'}.get(kind, 'ATA')
    return Identity(protocol=protocol, model=model, firmware=firmware, rotation=7200 if kind == 'hdd' else 0)


_ROW = re.compile(r'\s*(?P<id>\d{1,3}) (?P<name>\S+)\s+(?P<flags>0x[0-9a-f]{4}|[A-Z+-]{6,8})'
                  r'\s+(?P<value>\d+|---)\s+(?P<worst>\d+|---)\s+(?P<threshold>\d+|---)'
                  r'(?:\s+(?P<type>Pre-fail|Old_age)\s+(?:Always|Offline))?'
                  r'\s+(?P<failed>-|FAILING_NOW|In_the_past|NOW|Past)\s+(?P<raw>\S.*?)\s*')


def parse_row(line: str) -> AttributeRow | None:
    """Return a row of smartctl's classic (-A) or brief (-x) attribute table; None: the line is not one."""
    match = _ROW.fullmatch(line)
    if match is None or not 1 <= int(match['id']) <= 255:
        return None
    value, worst, threshold = (None if text == '---' else int(text)
                               for text in match.group('value', 'worst', 'threshold'))
    prefail = match['type'] == 'Pre-fail' or match['flags'].startswith('P')
    return AttributeRow(int(match['id']), match['name'], value, worst, threshold, prefail, WHEN_FAILED[match['failed']],
                        match['raw'])
