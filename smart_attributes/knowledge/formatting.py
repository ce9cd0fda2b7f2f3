"""Write data files in one fixed layout, so that a diff shows only real changes."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from ..typed import Any, Json
from .drive_database import generality

WIDTH = 160  # columns of a formatted file

# Each item of these objects and lists gets its own line, even if it is short, so that a diff shows
# only real changes.
_OPEN = re.compile(
    '|documents|metrics|layouts|layouts/[^/]+(/fields)?|(sets|entries|advisories|samples)(/[^/]+(/attributes|/lines)?)?'
)


def formatted(data: Json) -> str:
    """Return *data* in the fixed layout of its file.

    Documents, metrics, sets, layouts, entries and advisories are sorted. The order of attributes is
    kept because it is significant. Characters outside ASCII are escaped, so that the text is safe
    on any terminal.
    """
    ordered = dict(data)
    for key in ('documents', 'metrics', 'sets', 'layouts'):
        if key in ordered:
            ordered[key] = dict(sorted(ordered[key].items()))
    if 'entries' in ordered:
        ordered['entries'] = sorted(
            ordered['entries'],
            key=lambda entry: (-generality(entry), natural(entry['family'])),
        )
    if 'advisories' in ordered:
        ordered['advisories'] = sorted(
            ordered['advisories'], key=lambda advisory: natural(advisory['id'])
        )
    return _laid_out(ordered, '') + '\n'


def samples(data: Sequence[Json]) -> str:
    """Return samples in the fixed layout of a sample file."""
    return _laid_out(data, 'samples') + '\n'


def natural(text: str) -> list[str | int]:
    """Return a sort key by which "Intel 330" comes before "Intel 1500"."""
    key: list[str | int] = []
    for position, part in enumerate(re.split('([0-9]+)', text)):
        is_number = (
            position % 2 == 1
        )  # the first part is the text before the first number
        key.append(int(part) if is_number else part.casefold())
    return key


def _laid_out(
    value: Any,
    path: str,
    before: str = '',
    indent: int = 0,
) -> str:
    """Return *value* on one line if it fits after *before*, else with one item on each line."""
    text = json.dumps(value)
    if not value or not isinstance(value, (dict, list)):
        return text
    if not _OPEN.fullmatch(path) and indent + len(before) + len(text) < WIDTH:
        return text
    is_object = isinstance(value, dict)
    items = value.items() if isinstance(value, dict) else enumerate(value)
    lines = []
    for key, item in items:
        start = f'{json.dumps(key)}: ' if is_object else ''
        item_text = _laid_out(
            item, f'{path}/{key}'.lstrip('/'), before=start, indent=indent + 1
        )
        lines.append(' ' * (indent + 1) + start + item_text)
    first, last = '{}' if is_object else '[]'
    return '\n'.join((first, ',\n'.join(lines), ' ' * indent + last))
