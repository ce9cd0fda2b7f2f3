#!/usr/bin/env python3
"""Move the entries and samples of a file of your own to where the shipped ones stand:
attributes.json and tests/samples.

Usage: make add FILE=my-entry.json      (or .venv/bin/python tools/add.py my-entry.json)
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from smart_attributes.devtools import validate
from smart_attributes.errors import DataError
from smart_attributes.knowledge import data_file, formatting, schema_errors

ROOT = Path(__file__).resolve().parent.parent

Json = dict[str, Any]

# Text that a draft writes about a row; comments of a person or of the earlier entry follow.
HINT = re.compile(
    'VALUE [-0-9]+, WORST [-0-9]+, RAW [^;]*'
    '(; interpreted (?:as|alike) [^;]*|; [^;]* that the drive itself reports)*(; )?'
)


def merged(shipped: Json, own: Json) -> Json:
    """Return the shipped data with everything of *own* but its samples, and without what draft
    wrote for its reader.
    """
    tables: Json = {
        key: {**shipped.get(key, {}), **own[key]}
        for key in ('documents', 'metrics', 'sets')
        if key in own
    }
    return {
        **shipped,
        **tables,
        'entries': [*shipped['entries'], *map(finished, own['entries'])],
        'advisories': [*shipped.get('advisories', ()), *own.get('advisories', ())],
    }


def finished(entry: Json) -> Json:
    """Return a drafted entry without hints, and without the attributes that nobody gave a
    meaning.
    """
    rows = {
        number: row and without_hint(row)
        for number, row in entry.get('attributes', {}).items()
    }
    kept = {
        number: row
        for number, row in rows.items()
        if row is None or row == entry['attributes'][number] or len(row) > 1
    }
    return (
        {**entry, 'attributes': kept}
        if kept
        else {key: value for key, value in entry.items() if key != 'attributes'}
    )


def without_hint(row: Json) -> Json:
    """Return an attribute with the comment that a person wrote, if any."""
    comment = re.sub(f'^{HINT.pattern}', '', row.get('comment', ''))
    return {
        key: value
        for key, value in {**row, 'comment': comment}.items()
        if key != 'comment' or value
    }


def add(path: str, root: Path) -> list[str]:
    """Write the files under *root* and return their paths.

    Raises DataError where nothing can be added.
    """
    own = schema_errors.checked(
        data_file.read_text(path), 'attributes', Path(path).name
    )
    if not own['entries']:
        raise DataError(f'{path} has no entry; add one')
    database = root / 'attributes.json'
    shipped = json.loads(database.read_text())
    known = {entry['family'] for entry in shipped['entries']}
    for family in (
        entry['family'] for entry in own['entries'] if entry['family'] in known
    ):
        raise DataError(
            f'attributes.json has an entry {family} already; give yours another family, or change '
            f'that one'
        )
    proof = samples_file(own['entries'][0]['family'], root / 'tests' / 'samples')
    proven = json.loads(proof.read_text()) if proof.exists() else []
    database.write_text(formatting.formatted(merged(shipped, own)))
    proof.write_text(formatting.samples([*proven, *own.get('samples', [])]))
    return [str(database), str(proof)]


def samples_file(family: str, folder: Path) -> Path:
    """Return where the samples of a family's vendor stand: wd-sandisk.json for "WD Blue"; a new
    file for a new vendor.
    """
    vendor = (re.findall('[a-z0-9]+', family.lower()) or ['others'])[0]
    return next(
        (
            path
            for path in sorted(folder.glob('*.json'))
            if vendor in path.stem.split('-')
        ),
        folder / f'{vendor}.json',
    )


def main() -> int:
    """Add the file named on the command line where it is without mistakes, and validate the
    whole.
    """
    if len(sys.argv) != 2:
        print(__doc__)
        return 1
    try:
        validation = validate.examine(sys.argv[1:])
        if validation.problems:
            print(
                *validation.problems,
                'nothing was added; correct that first',
                sep='\n',
            )
            return 1
        for path in add(sys.argv[1], ROOT):
            print(f'{path}: written')
    except DataError as problem:
        print(problem)
        return 1
    return validate.main()


if __name__ == '__main__':
    sys.exit(main())
