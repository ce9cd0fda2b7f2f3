"""Write data files in one fixed layout, so that a diff shows only real changes."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from ..typed import Any, Json
from .drive_database import generality

WIDTH = 160  # columns of a formatted file

# Paths of objects and lists whose items each get their own line, even if they are short, so that a
# diff shows only real changes: the whole file (''), "/documents" ...
_OPEN = re.compile(
    '|/documents|/metrics|/layouts|/layouts/[^/]+(/fields)?|/(sets|entries|advisories|samples)(/[^/]+(/attributes|/lines)?)?'
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
    return _laid_out(data, '/samples') + '\n'


def natural(text: str) -> list[str | int]:
    """Return a sort key by which "Intel 330" comes before "Intel 1500"."""
    key: list[str | int] = []
    for position, part in enumerate(re.split('([0-9]+)', text)):
        # the first part is the text before the first number
        is_number = position % 2 == 1
        key.append(int(part) if is_number else part.casefold())
    return key


def _laid_out(value: Any, path: str, indent: str = '', label: str = '') -> str:
    """Return *value*, after its indent and its label, on one line if it fits there and its path is
    not in _OPEN; else with one item on each line. A value without items is always on one line.

    label: the key before the value, such as '"models": '; '' for an item of a list.
    """
    start = indent + label
    text = start + json.dumps(value)
    if not value or not isinstance(value, (dict, list)):
        return text
    if not _OPEN.fullmatch(path) and len(text) < WIDTH:
        return text
    item_indent = f'{indent} '
    if isinstance(value, dict):
        opening, closing = '{', '}'
        items = [
            _laid_out(item, f'{path}/{key}', item_indent, f'{json.dumps(key)}: ')
            for key, item in value.items()
        ]
    else:
        opening, closing = '[', ']'
        items = [
            _laid_out(item, f'{path}/{place}', item_indent)
            for place, item in enumerate(value)
        ]
    return '\n'.join((start + opening, ',\n'.join(items), indent + closing))
