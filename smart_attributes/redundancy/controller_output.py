"""Parse the outputs of RAID controllers' tools into rows, with the same keys for all tools. Pure.

controllers.json has the patterns of each tool.
Sources: outputs of the tools, see tests/controllers/index.json.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from .. import files
from ..constants import LONGEST_LINE, LONGEST_TOOL_OUTPUT
from ..typed import TYPE_CHECKING, Json, NamedTuple

if TYPE_CHECKING:
    Fields = dict[str, str]
    Match = Callable[[str], re.Match[str] | None]

DATA = files.data('redundancy/controllers.json')


class _Start(NamedTuple):
    """The first line of a row."""

    match: Match
    kind: str  # "controller", "drive", or "section" for all other objects


def rows(
    text: str,
    tool: Json,
    controller: str = '',
) -> tuple[Fields, ...]:
    """Return a tool's report on each object; () if it is not complete. controller: used if not
    printed.
    """
    if len(text) > LONGEST_TOOL_OUTPUT or not re.search(tool.get('end', ''), text):
        return ()
    try:
        lines = [*_of_json('', json.loads(text))] if tool.get('json') else text.splitlines()
    except (ValueError, RecursionError):
        return ()
    starts = [_Start(matching(pattern), kind) for kind, pattern in tool['starts']]
    values = {kind: list(map(matching, patterns)) for kind, patterns in tool['fields'].items()}
    objects: list[Fields] = []
    for line in (text[:LONGEST_LINE] for text in lines):
        row = _started(line, starts)
        if row:
            if controller:
                row.setdefault('controller', controller)
            objects.append(row)
        elif objects:
            row = objects[-1]
            for pattern in values.get(row['kind'], ()):
                match = pattern(line)
                add(row, match.groupdict() if match else {})
        if row and row['kind'] != 'drive':
            controller = row.get('controller', controller)
    return tuple(objects)


def _started(
    line: str,
    starts: list[_Start],
) -> Fields:
    """Return the row that a line begins; {} if it begins none."""
    for start in starts:
        match = start.match(line)
        if match:
            row = {'kind': start.kind}
            add(row, match.groupdict())
            return row
    return {}


def matching(pattern: str) -> Match:
    """Return a function that matches a whole line with a pattern."""
    indented = pattern[1:] if pattern.startswith('^') else f'\\s*(?:{pattern})'
    return re.compile(f'{indented}\\s*', re.IGNORECASE).fullmatch


def add(fields: Fields, values: Mapping[str, str | None]) -> None:
    """Add values to a row, except for empty ones. Its field "twice" has the keys with two values."""
    for key, value in values.items():
        text = (value or '').strip()
        if text not in ('', '-', 'N/A') and fields.setdefault(key, text) != text:
            fields['twice'] = f'{fields.get("twice", "")} {key}'.lstrip()
    if 'bay' in fields and 'enclosure' in fields:
        fields['place'] = f'{fields["enclosure"]}:{fields["bay"]}'


def merged(rows: Sequence[Fields]) -> list[Fields]:
    """Return each drive in the rows with the facts about it from all rows.

    Rows are about the same drive if they have the same place or serial number at a controller.
    """
    drives: list[Fields] = []
    by_name: dict[tuple[str, str, str], Fields] = {}
    for row in rows:
        names = [
            (row.get('controller', ''), key, row[key]) for key in ('place', 'serial') if key in row
        ]
        if row['kind'] != 'drive' or 'aside' in row or not names:
            continue
        facts = next((by_name[name] for name in names if name in by_name), None)
        if facts is None:
            facts = {}
            drives.append(facts)
        by_name.update(dict.fromkeys(names, facts))
        add(facts, {key: value for key, value in row.items() if key != 'kind'})
    return drives


# --- lines ----------------------------------------------------------------------------------------


def _of_json(name: str, value: object) -> Iterator[str]:
    """Yield JSON as lines: the name of each object, then its values, objects after plain values."""
    if isinstance(value, list):
        for part in value:
            yield from _of_json(name, part)
    elif isinstance(value, dict):
        yield name
        for key in sorted(value, key=lambda key: _rank(key, value[key])):
            yield from _of_json(' '.join(key.split()), value[key])
    else:
        yield f'{name} : {" ".join(str(value).split())}'


def _rank(key: str, value: object) -> tuple[bool, bool]:
    """Return the rank of a value: objects follow the plain values, and the answer to a command
    follows its status.
    """
    return isinstance(value, (dict, list)), key == 'Response Data'
