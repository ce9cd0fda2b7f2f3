"""Parse the outputs of RAID controllers' tools into rows, with the same keys for all tools. Pure.

controllers.json has the patterns of each tool.
Sources: outputs of the tools, see tests/controllers/index.json.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping

from .. import files
from ..constants import LONGEST_LINE
from ..typed import TYPE_CHECKING, Json

if TYPE_CHECKING:
    # returns the match of a line; None if the line does not match
    MatchFunction = Callable[[str], re.Match[str] | None]

Fields = dict[str, str]
DATA = files.data('redundancy/controllers.json')


def rows(text: str, tool: Json, controller: str = '') -> tuple[Fields, ...]:
    """Return a tool's report on each object; () if it is not complete. tool: an entry of "tools".
    controller: its number, unless the tool prints it.
    """
    if not re.search(tool.get('end', ''), text):
        return ()
    try:
        lines = _lines(text, tool)
    except (ValueError, RecursionError):
        return ()
    starts = [(matching(pattern), name) for name, pattern in tool['starts']]
    # kind of a row -> what finds its values in a line
    finders = {
        kind: list(map(matching, patterns)) for kind, patterns in tool['fields'].items()
    }
    objects = []
    # the row of the controller, array or volume to which the next rows belong
    above = {'controller': controller}
    for long_line in lines:
        line = long_line[:LONGEST_LINE]
        row = _started(line, starts, above)
        if row:
            objects.append(row)
            if row['kind'] not in ('part', 'drive'):
                above = row
        elif objects:
            row = objects[-1]
            for find in finders.get(row['kind'], ()):
                match = find(line)
                if match:
                    add(row, match.groupdict())
    return tuple(objects)


def _started(
    line: str, starts: list[tuple[MatchFunction, str]], above: Fields
) -> Fields:
    """Return the row that a line begins; {} if it is not the first line of an object.

    starts: what matches a first line, and a key of "kinds" in controllers.json. The entry of
    "kinds" is the kind of the row, then the keys of the values that the row takes from *above*:
    "drive of array" has ["drive", "controller", "where"].
    """
    for find_start, name in starts:
        match = find_start(line)
        if match:
            kind, *inherited = DATA['kinds'][name]
            row = {'kind': kind}
            add(row, {key: above.get(key) for key in inherited})
            add(row, match.groupdict())
            return row
    return {}


def matching(pattern: str) -> MatchFunction:
    """Return a function that matches a whole line with a pattern."""
    # "^" stands for: not indented
    indented = pattern[1:] if pattern.startswith('^') else f'\\s*(?:{pattern})'
    return re.compile(f'{indented}\\s*', re.IGNORECASE).fullmatch


def meaning(table: Mapping[str, str], text: str) -> str | None:
    """Return the meaning of a text; None if no pattern in the table matches it."""
    for pattern, words in table.items():
        if matching(pattern)(text):
            return words
    return None


def add(fields: Fields, values: Mapping[str, str | None]) -> None:
    """Add values to a row, except for empty ones. If a key already has a different value, the row
    keeps that value, and its field "twice" gets the key.

    The field "place" is made from "enclosure" and "bay": "32:9".
    """
    for key, value in values.items():
        text = (value or '').strip()
        if text in ('', '-', 'N/A'):
            continue
        if fields.setdefault(key, text) != text:
            fields['twice'] = f'{fields.get("twice", "")} {key}'.lstrip()
    if 'bay' in fields and 'enclosure' in fields:
        fields['place'] = f'{fields["enclosure"]}:{fields["bay"]}'


# --- lines ----------------------------------------------------------------------------------------


def _lines(text: str, tool: Json) -> list[str]:
    """Return the lines of an output. Raises ValueError or RecursionError for invalid JSON."""
    if tool.get('json'):
        return list(_of_json('', json.loads(text)))
    return text.splitlines()


def _of_json(name: str, value: object) -> Iterator[str]:
    """Yield JSON as lines: the name of each object, then its values, objects after plain values."""
    if isinstance(value, list):
        for part in value:
            yield from _of_json(name, part)
    elif isinstance(value, dict):
        yield name
        for key, part in sorted(value.items(), key=_rank):
            yield from _of_json(' '.join(key.split()), part)
    else:
        yield f'{name} : {" ".join(str(value).split())}'


def _rank(item: tuple[str, object]) -> tuple[bool, bool]:
    """Return the rank of a key and its value: objects follow the plain values, and the answer to a
    command follows its status.
    """
    key, value = item
    return isinstance(value, (dict, list)), key == 'Response Data'
