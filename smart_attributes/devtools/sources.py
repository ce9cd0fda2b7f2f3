"""Read what is validated: files with entries, samples with their expected readings, and measured
models.

People pasted the text of samples and models, so a mistake is returned as a sentence, and the rest
is validated.
"""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from .. import files
from ..constants import LOG_PAGE, WHEN_FAILED
from ..errors import DataError
from ..knowledge import data_file, formatting, schema_errors, site_file
from ..knowledge.drive_database import SpecDatabase
from ..model import AttributeRow, Identity, Report
from ..typed import Json


class SampleDrive(NamedTuple):
    """A drive to match with entries: a sample or a row of models.csv."""

    place: str  # "intel.json: sample 3, INTEL SSDSC2BB240G4"
    identity: Identity
    rows: tuple[AttributeRow, ...]
    family: str | None = None  # family of the entry that must be selected; None: any
    expect: Json | None = None  # what a sample reads, by metric; None: a measured model
    stated: Mapping[str, float] = {}  # the drive's own statistics, by metric
    page: bytes | None = None  # the vendor's log

    @property
    def attributes(self) -> Sequence[int]:
        """Return the attribute numbers in the order of the drive's table."""
        return [row.id for row in self.rows]

    @property
    def report(self) -> Report:
        """Return a report that is built from the drive's rows."""
        return Report(self.identity, attributes=self.rows)


class EntriesFile(NamedTuple):
    """The content of a file with entries."""

    name: str
    path: str
    text: str
    data: Json

    @property
    def is_whole(self) -> bool:
        """Return whether this is a complete database, not an addition to the shipped database."""
        return 'date' in self.data


class Claim(NamedTuple):
    """A drive with the highest-ranked entries that match the drive."""

    drive: SampleDrive
    winners: Sequence[tuple[str, Json]]


class Context(NamedTuple):
    """Data that the rules may use in addition to the validated file."""

    database: SpecDatabase
    shipped: SpecDatabase  # without additions
    sources: Sequence[EntriesFile]  # the complete database first
    documents: Mapping[str, Json]


# the drives, and the mistakes as sentences
Result = tuple[list[SampleDrive], list[str]]


def read_sources(paths: Sequence[str]) -> tuple[list[EntriesFile], list[str]]:
    """Return the valid parts of the files, complete databases first, and a sentence for each
    schema error and each unreadable file.
    """
    sources = []
    problems = []
    for path in paths:
        try:
            source, faults = read_source(path)
        except DataError as problem:
            problems.append(str(problem))
            continue
        sources.append(source)
        problems += faults
    return sorted(sources, key=lambda source: not source.is_whole), problems


def read_source(path: str) -> tuple[EntriesFile, list[str]]:
    """Return the valid parts of a file, and its schema errors as sentences.

    Raises DataError if the file cannot be read or is not JSON.
    """
    name = os.path.basename(path)
    text = data_file.read_text(path)
    if text.startswith('smartctl ') or '"json_format_version"' in text[:1000]:
        raise DataError(
            f'{name} is output of smartctl, not a database entry; to create one, run: '
            f'check_smart_attributes draft --report {path}'
        )
    data = data_file.parse(text, name)
    problems = schema_errors.schema_problems(data, 'attributes', name)
    if problems:
        data = site_file.sound(data, 'attributes')
    return EntriesFile(name, path, text=text, data=data), problems


def rewrite(path: str, schema_name: str) -> bool:
    """Rewrite the file in the usual layout, and return whether it changed.

    Raises DataError if the file cannot be read or written, or does not fit its schema.
    """
    text = data_file.read_text(path)
    data = schema_errors.checked(text, schema_name, os.path.basename(path))
    usual = formatting.formatted(data)
    if usual != text:
        try:
            files.replace(usual, os.path.realpath(path), os.stat(path).st_mode & 0o777)
        except OSError as error:
            raise DataError(f'{path}: cannot be written: {error.strerror}') from None
    return usual != text


def read_samples(sources: Sequence[EntriesFile], folder: str) -> Result:
    """Return the samples in the files, and in the JSON files of *folder*, which may be missing."""
    kinds = {}  # family -> "hdd" or "ssd", if its entry has the key
    for source in sources:
        for entry in source.data['entries']:
            if 'kind' in entry:
                kinds[entry['family']] = entry['kind']
    results = [
        drives_of(source.name, source.data.get('samples', ()), kinds)
        for source in sources
    ]
    for path in sorted(Path(folder).glob('*.json')):
        results.append(_drives_in(path, kinds))
    drives = []
    problems = []
    for of_file, mistakes in results:
        drives += of_file
        problems += mistakes
    return drives, problems


def _drives_in(path: Path, kinds: Mapping[str, str]) -> Result:
    """Return the drives in a file of samples; none if its form is wrong."""
    name = path.name
    try:
        data = data_file.parse(data_file.read_text(str(path)), name)
    except DataError as problem:
        return [], [str(problem)]
    # A sample has the same form in a separate file and next to its entry.
    problems = schema_errors.schema_problems(
        {'entries': [], 'samples': data}, 'attributes', name
    )
    return ([], problems) if problems else drives_of(name, data, kinds)


def drives_of(name: str, samples: Sequence[Json], kinds: Mapping[str, str]) -> Result:
    """Return the drives that the samples of the file *name* describe, and a mistake for each line
    that is not a row.

    samples: already validated by the schema. kinds: the kind of drives of a family, if it is known.
    """
    drives = []
    problems = []
    for number, sample in enumerate(samples, 1):
        place = f'{name}: sample {number}, {sample["model"] or "without model"}'
        rows = []
        for line in sample['lines']:
            row = parse_row(line)
            if row:
                rows.append(row)
            else:
                problems.append(
                    f'{place}: {json.dumps(line[:80])} is not a row of an attribute table; '
                    'paste one from smartctl -A or -x'
                )
        kind = sample.get('kind') or kinds.get(sample['family'], 'ssd')
        identity = _identity(sample['model'], sample.get('firmware', ''), kind)
        drive = SampleDrive(
            place,
            identity._replace(
                physical_block_size=sample.get('physical_block_size'),
                capacity=sample.get('capacity'),
            ),
            tuple(rows),
            family=sample['family'],
            expect=sample['expect'],
            stated=sample.get('stated', {}),
            page=_page(sample),
        )
        drives.append(drive)
    return drives, problems


def _page(sample: Json) -> bytes | None:
    """Return the log page of a sample, with zeros where the sample has no bytes; None if it has no
    page.
    """
    if 'page' not in sample:
        return None
    page = bytearray(LOG_PAGE)
    for offset, digits in sample['page'].items():
        part = bytes.fromhex(digits)
        page[int(offset) : int(offset) + len(part)] = part
    # bytes after the end of the page lengthen the array
    return bytes(page[:LOG_PAGE])


def measured(path: str) -> Result:
    """Return the drives of a CSV file, none if it is missing; or no drive and one mistake.

    Its columns: model, firmware, attributes (IDs separated by blanks), optional kind.
    """
    name = os.path.basename(path)
    if not os.path.exists(path):
        return [], []
    try:
        rows = list(csv.DictReader(data_file.read_text(path).splitlines()))
    except (DataError, csv.Error) as problem:
        return [], [f'{name}: {problem}']
    drives = []
    for number, row in enumerate(rows, 2):  # line 1 names the columns
        try:
            ids = [int(word) for word in row['attributes'].split()]
            identity = _identity(
                row['model'], row['firmware'], row.get('kind') or 'ssd'
            )
        except (KeyError, AttributeError, ValueError):
            return [], [
                f'{name}: line {number} must have the columns model, firmware and attributes; '
                'separate the attribute IDs with spaces'
            ]
        table = tuple(map(AttributeRow, ids))
        drives.append(
            SampleDrive(f'{name}: line {number}, {row["model"]}', identity, table)
        )
    return drives, []


def _identity(model: str, firmware: str, kind: str) -> Identity:
    """Return the identity of a drive of this kind: "hdd", "ssd", "nvme" or "sas"."""
    return Identity(
        protocol={'nvme': 'NVMe', 'sas': 'SCSI'}.get(kind, 'ATA'),
        model=model,
        firmware=firmware,
        rotation=7200 if kind == 'hdd' else 0,
    )


_ROW = re.compile(
    r'\s*(?P<id>\d{1,3}) (?P<name>\S+)\s+(?P<flags>0x[0-9a-f]{4}|[A-Z+-]{6,8})'
    r'\s+(?P<value>\d+|---)\s+(?P<worst>\d+|---)\s+(?P<threshold>\d+|---)'
    r'(?:\s+(?P<type>Pre-fail|Old_age)\s+(?:Always|Offline))?'
    r'\s+(?P<failed>-|FAILING_NOW|In_the_past|NOW|Past)\s+(?P<raw>\S.*?)\s*'
)


def parse_row(line: str) -> AttributeRow | None:
    """Return a row of smartctl's classic (-A) or brief (-x) attribute table; None if the line is
    not such a row.
    """
    match = _ROW.fullmatch(line)
    if match is None or not 1 <= int(match['id']) <= 255:
        return None
    prefail = match['type'] == 'Pre-fail' or match['flags'].startswith('P')
    return AttributeRow(
        int(match['id']),
        match['name'],
        value=_number(match['value']),
        worst=_number(match['worst']),
        threshold=_number(match['threshold']),
        prefail=prefail,
        when_failed=WHEN_FAILED[match['failed']],
        raw=match['raw'],
    )


def _number(column: str) -> int | None:
    return None if column == '---' else int(column)
