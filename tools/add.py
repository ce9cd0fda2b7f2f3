#!/usr/bin/env python3
"""Move the entries and samples of a file of your own to where the shipped ones stand: attributes.json and tests/samples.

Usage: make add FILE=my-entry.json      (or .venv/bin/python tools/add.py my-entry.json)
"""
from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any, Dict, List

from smart_attributes.errors import DataError
from smart_attributes.knowledge import complaints, datafile, formatting
from smart_attributes.workshop import draft, prove

ROOT = Path(__file__).resolve().parent.parent

Json = Dict[str, Any]


def merged(shipped: Json, own: Json) -> Json:
    """Return the shipped data with everything of *own* but its samples, and without what draft wrote for its reader."""
    tables: Json = {key: {**shipped.get(key, {}), **own[key]} for key in ('documents', 'roles', 'sets') if key in own}
    return {**shipped, **tables, 'entries': [*shipped['entries'], *map(finished, own['entries'])],
            'advisories': [*shipped.get('advisories', ()), *own.get('advisories', ())]}


def finished(entry: Json) -> Json:
    """Return a drafted entry without hints, and without the attributes that nobody gave a meaning."""
    rows = {number: row and without_hint(row) for number, row in entry.get('attributes', {}).items()}
    kept = {number: row for number, row in rows.items() if row is None or row == entry['attributes'][number] or len(row) > 1}
    return {**entry, 'attributes': kept} if kept else {key: value for key, value in entry.items() if key != 'attributes'}


def without_hint(row: Json) -> Json:
    """Return an attribute with the comment that a person wrote, if any."""
    comment = re.sub(f'^{draft.HINT.pattern}', '', row.get('comment', ''))
    return {key: value for key, value in {**row, 'comment': comment}.items() if key != 'comment' or value}


def add(path: str, root: Path) -> List[str]:
    """Write the files under *root* and return their paths. Raises DataError where nothing can be added."""
    own = complaints.checked(datafile.read_text(path), 'attributes', Path(path).name)
    slug = re.sub('[^a-z0-9]+', '-', own['entries'][0]['family'].lower()).strip('-') if own['entries'] else ''
    database, proof = root / 'attributes.json', root / 'tests' / 'samples' / f'{slug}.json'
    if not slug or proof.exists():
        raise DataError(f'{proof} is there already; give the entry another family' if slug else f'{path} has no entry; add one')
    database.write_text(formatting.formatted(merged(json.loads(database.read_text()), own), 'attributes'))
    proof.write_text(json.dumps(own.get('samples', []), indent=1) + '\n')
    return [str(database), str(proof)]


def main() -> int:
    """Add the file named on the command line where it is without mistakes, and prove the whole."""
    if len(sys.argv) != 2:
        print(__doc__)
        return 1
    try:
        findings = prove.examine(sys.argv[1:], None, None)
        if findings.problems or findings.notes:
            print(*findings.problems, *findings.notes, 'nothing was added; correct that first', sep='\n')
            return 1
        for path in add(sys.argv[1], ROOT):
            print(f'{path}: written')
    except DataError as problem:
        print(problem)
        return 1
    return prove.main()


if __name__ == '__main__':
    sys.exit(main())
