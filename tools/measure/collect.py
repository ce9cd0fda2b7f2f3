"""Write drives.jsonl.gz, the collection that tools.measure reads, from a clone of linuxhw's data.

The clone has one report of smartctl -x for each drive, in KIND/VENDOR/PREFIX/MODEL/ID. The same
clone always gives the same file. A statistic without a number is left out, because no tool reads it.

Usage, in the directory of the project:
  .venv/bin/python -m tools.measure.collect CLONE DRIVES.jsonl.gz [--all]
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from smart_attributes import files
from smart_attributes.constants import LARGEST_FILE
from smart_attributes.errors import DataError, NotAReport, SmartError
from smart_attributes.reading.content import as_text
from smart_attributes.reading.pysmart import Lines, leading, lines_by_kind
from smart_attributes.typed import Json
from smart_attributes.wording import plural
from smart_attributes.words import sentence

PROGRAM = 'python -m tools.measure.collect'
DATA_SET = 'https://github.com/linuxhw/EnterpriseDrive'  # licence CC BY 4.0
LONGEST = 2000  # characters of an error message
KINDS = ('HDD', 'NVMe', 'SSD')  # directories of the clone
FIFTHS, CHOSEN = 5, 3  # the project's figures are measured on three of five drives
# of an attribute, bit 0 first. Source: smartmontools atacmds.h, ATTRIBUTE_FLAGS_*
FLAGS = 'POSRCK'
NO_VALUE = 255  # above this, a column is "---" in smartctl's output
HEALTH_LOG = 'SMART/Health Information (NVMe Log 0x02'
# The key of a row, and the label in smartctl's output in lower case. The order is that of the row.
IDENTITY = {
    'family': 'model family',
    'model': 'device model',
    'vendor': 'vendor',
    'product': 'product',
    'revision': 'revision',
    'transport': 'transport protocol',
    'firmware': 'firmware version',
    'capacity': 'user capacity',
    'rotation': 'rotation rate',
    'in_db': 'device is',
    'sata': 'sata version is',
}
SCSI_TEMPERATURES = ('Current Drive Temperature', 'Drive Trip Temperature')


def row_of(path: str, text: str) -> Json:
    """Return the row of the drive at *path* in the clone. Keys without a value are left out.

    text: its report. Raises NotAReport if the text is not the report of a drive.
    """
    banner = re.search(r'^smartctl (\d+\.\d+)', text, re.MULTILINE)
    if not banner:
        raise NotAReport(
            'is not a smartctl report: the line with the version is missing'
        )
    lines = lines_by_kind(text)
    fields = lines.fields
    identity = {key: fields.get(label, '') for key, label in IDENTITY.items()}
    identity['model'] = identity['model'] or fields.get('model number', '')
    if not identity['model'] and not identity['product']:
        raise NotAReport('is not the report of a drive: the model is missing')
    row: Json = {
        'path': path,
        'smartctl': banner[1],
        **identity,
        'health': fields.get('smart overall-health self-assessment test result')
        or fields.get('smart health status'),
        'errors': _error_count(lines),
        'attributes': [_attribute(line) for line in lines.rows],
        'devstat': dict(map(_statistic, lines.statistics)),
        'nvme': _health_log(text),
        'scsi_percent_used': fields.get('percentage used endurance indicator'),
        'scsi': {
            label: fields[label.lower()]
            for label in SCSI_TEMPERATURES
            if label.lower() in fields
        },
    }
    return {key: value for key, value in row.items() if value}


def _error_count(lines: Lines) -> str:
    """Return how many errors the drive has logged, or '' if the report does not have this log."""
    for label in ('device error count', 'ata error count'):
        if label in lines.fields:
            return str(leading(lines.fields[label]) or 0)
    return '0' if 'no errors logged' in lines.fields else ''


def _attribute(line: str) -> list[int | str | None]:
    """Return the columns of a classic row as `smartctl -x` prints them."""
    number, name, flags, value, worst, threshold, _, _, failed, raw = line.split(
        None, 9
    )
    letters = [
        letter if int(flags, 16) >> bit & 1 else '-' for bit, letter in enumerate(FLAGS)
    ]
    columns = [_column(printed) for printed in (value, worst, threshold)]
    return [int(number), name, ''.join(letters), *columns, failed, raw]


def _column(printed: str) -> int | None:
    return None if int(printed) > NO_VALUE else int(printed)


def _statistic(match: re.Match[str]) -> tuple[str, list[str]]:
    """Return the place of a device statistic, such as "7:0x008", and [value, flags, description]."""
    page = int(match['page'], 16 if 'x' in match['page'] else 10)
    return f'{page}:{match["offset"]}', [
        match['number'],
        match['flags'] or '---',
        match['name'],
    ]


def _health_log(text: str) -> dict[str, str]:
    """Return the lines of the NVMe health log, with their labels as printed."""
    log: dict[str, str] = {}
    for line in text.partition(HEALTH_LOG)[2].splitlines()[1:]:
        label, separator, value = line.partition(':')
        if not separator:
            break
        log[label.strip()] = value.strip()
    return log


# --- the clone ----------------------------------------------------------------------------------


def is_chosen(path: str) -> bool:
    """Return whether the project's figures are measured on the drive at *path*, as on three fifths
    of the drives.
    """
    digest = hashlib.sha1(
        path.encode('utf-8', 'surrogateescape'), usedforsecurity=False
    ).digest()
    return digest[0] % FIFTHS < CHOSEN


def paths(clone: Path, is_whole: bool) -> list[str]:
    """Return the paths of the reports in the clone, sorted.

    is_whole: return those of all drives, not only of the chosen ones.
    """
    reports = [
        file.relative_to(clone).as_posix()
        for kind in KINDS
        for file in clone.glob(f'{kind}/*/*/*/*')
    ]
    return sorted(path for path in reports if is_whole or is_chosen(path))


def rows(clone: Path, is_whole: bool, bad: list[str]) -> Iterator[Json]:
    """Yield the rows of the reports in the clone.

    bad: receives a sentence for each file from which no row can be read.
    """
    for path in paths(clone, is_whole):
        try:
            yield row_of(path, as_text(files.content(str(clone / path), LARGEST_FILE)))
        except OSError as error:
            bad.append(f'{path} cannot be read: {error.strerror}')
        except SmartError as error:
            bad.append(f'{path} {error}')


def write(clone: Path, target: Path, is_whole: bool, bad: list[str]) -> int:
    """Write the collection, and return the number of its drives.

    bad: as for rows(). Raises DataError if the clone has no drive, or if the file cannot be
    written; an existing file then stays as it is.
    """
    unfinished = target.with_name(f'{target.name}.part')
    count = 0
    try:
        with (
            unfinished.open('wb') as packed,
            gzip.GzipFile('', 'wb', fileobj=packed, mtime=0) as collection,
        ):
            for row in rows(clone, is_whole, bad):
                line = json.dumps(row, separators=(',', ':'))
                collection.write(f'{line}\n'.encode())
                count += 1
        if count:
            os.replace(unfinished, target)
        else:
            os.unlink(unfinished)
    except OSError as error:
        raise DataError(
            f'{target}: {error.strerror}; give a file that can be written'
        ) from None
    if not count:
        raise DataError(
            f'{clone}: no reports of drives found; give a clone of {DATA_SET}'
        )
    return count


def main(words: Sequence[str]) -> int:
    """Write the collection that the words of a command line name.

    Return 0, or 1 with a sentence on standard error.
    """
    parser = argparse.ArgumentParser(
        PROGRAM, description=f'Read a clone of {DATA_SET}.'
    )
    parser.add_argument(
        'clone', type=Path, metavar='CLONE', help='directory of the clone'
    )
    parser.add_argument('target', type=Path, metavar='FILE', help='gzip file to write')
    parser.add_argument(
        '--all', action='store_true', help='write all drives, not three in five'
    )
    options = parser.parse_args(words)
    bad: list[str] = []
    status = 0
    try:
        count = write(options.clone, options.target, options.all, bad)
        print(f'{options.target}: {plural(count, "drive")}; files left out: {len(bad)}')
    except DataError as error:
        bad.append(str(error))
        status = 1
    for problem in bad:
        print(sentence(problem, LONGEST), file=sys.stderr)
    return status


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
