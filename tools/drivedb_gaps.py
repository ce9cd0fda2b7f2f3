"""List what a drive database of smartmontools knows and attributes.json does not.

Usage: tools/drivedb_gaps.py DRIVEDB_H. Each entry of the file is asked about with the shortest
model and firmware that
its patterns match: "family" if only a guess reads such a drive here, "attribute" for each name of
an attribute that the entry here does not describe, "warning" if no advisory applies. They are work
to look at, not mistakes.
"""

from __future__ import annotations

import ast
import importlib
import json
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from smart_attributes.knowledge.drive_database import (  # noqa: E402
    FAMILY,
    SpecDatabase,
    generality,
)
from smart_attributes.model import Identity  # noqa: E402

# its name until Python 3.10
PARSER: Any = getattr(re, '_parser', None) or importlib.import_module('sre_parse')
ENTRY = re.compile(r'^  \{ (?=")(.*?)^  \},?$', re.MULTILINE | re.DOTALL)
PART = re.compile(r'"(?:[^"\\]|\\.)*"|,|//[^\n]*')
NAME = re.compile(r'-v ([0-9]+),[^," ]+,([^," ]+)')
SSD = re.compile(
    'SSD|SATADOM|Flash|Solid|SandForce|Phison|Indilinx|JMicron|Silicon Motion|Nytro|M4|C400|MX|PM8',
    re.I,
)


def entries(text: str) -> list[list[str]]:
    """Return (family, model, firmware, warning, presets) of each entry of drivedb.h, those of
    USB bridges left out.
    """
    found = []
    for body in ENTRY.findall(text):
        parts = ['']
        # adjacent strings are one; comments are skipped
        for piece in PART.findall(body):
            parts += [''] if piece == ',' else []
            parts[-1] += ast.literal_eval(piece) if piece.startswith('"') else ''
        if len(parts) >= 5 and not parts[0].startswith(
            ('USB', 'DEFAULT', 'VERSION', '$Id')
        ):
            found.append(parts[:5])
    return found


def example(pattern: Any) -> str:
    """Return the shortest text that a pattern matches. pattern: a regular expression, or what
    its parser made of it.
    """
    parts = PARSER.parse(pattern) if isinstance(pattern, str) else pattern
    return ''.join(
        EXAMPLES[str(kind)](value) for kind, value in parts if str(kind) in EXAMPLES
    )


# What the parser calls a part of a pattern -> the shortest text that the part matches.
EXAMPLES: Mapping[str, Callable[[Any], str]] = {
    'LITERAL': chr,
    'RANGE': lambda ends: chr(ends[0]),
    'ANY': lambda _: 'X',
    'IN': lambda choices: example(choices[:1]),
    'BRANCH': lambda branches: example(branches[1][0]),
    'SUBPATTERN': lambda group: example(group[-1]),
    'MIN_REPEAT': lambda repeated: example(repeated[2]) * repeated[0],
    'MAX_REPEAT': lambda repeated: example(repeated[2]) * repeated[0],
}


def gaps(entry: list[str], database: SpecDatabase) -> list[str]:
    """Return a line for each thing of an entry of drivedb.h that the database lacks."""
    family, pattern, affected, warning, presets = entry
    names = {int(number): label for number, label in NAME.findall(presets)}
    identity = Identity(
        protocol='ATA',
        model=example(pattern),
        firmware=example(affected),
        rotation=0 if SSD.search(family) else 7200,
    )
    numbers = sorted({1, 5, 9, 12, 194, *names})
    spec = database.identify(identity, numbers)
    is_known = any(
        generality(entry) == FAMILY for _, entry in database.claims(identity, numbers)
    )
    where = (
        f'{family or "unnamed"} ({identity.model} {identity.firmware}'.rstrip() + ')'
    )
    found = [] if is_known else [f'family: {where}']
    found += [
        f'attribute: {where}: {number} {label}'
        for number, label in sorted(names.items())
        if number not in spec.names
    ]
    if warning and not database.advisories(identity):
        found.append(f'warning: {where}: {" ".join(warning.split())[:120]}')
    return found


if __name__ == '__main__':
    shipped = SpecDatabase(json.loads((ROOT / 'attributes.json').read_text()))
    known = entries(Path(sys.argv[1]).read_text(errors='replace'))
    lacking = sorted(line for each in known for line in gaps(each, shipped))
    print(*lacking, f'{len(known)} entries, {len(lacking)} gaps', sep='\n')
