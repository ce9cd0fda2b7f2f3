"""Describe places and values of a data file for messages. Pure functions."""
from __future__ import annotations

import json

from ..typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    Path = Sequence[str | int]

SHOWN = 60   # characters of a value that a sentence may quote
KINDS: Mapping[str, str] = {
    'object': 'an object', 'array': 'a list', 'string': 'a text', 'integer': 'a whole number', 'number': 'a number',
    'boolean': 'true or false', 'null': 'null'}


def sentence(name: str, where: str, complaint: str) -> str:
    """Return an error message for a place in a file."""
    return f'{name}: {where}: {complaint}' if where else f'{name}: {complaint}'


def shown(value: Any) -> str:
    """Return a value as JSON, shortened to SHOWN characters."""
    if isinstance(value, (dict, list)):
        return KINDS['object' if isinstance(value, dict) else 'array']
    text = json.dumps(value)
    return text if len(text) <= SHOWN else f'{text[:SHOWN]}…"'


def listed(words: Sequence[str], last: str) -> str:
    """Return the words as a list such as "a, b or c"."""
    return f' {last} '.join(part for part in (', '.join(words[:-1]), words[-1]) if part)


# Names for the keys of these objects.
_NAMED = {'documents': 'document', 'metrics': 'metric', 'sets': 'set', 'attributes': 'attribute', 'readings': ''}
# Names for the items of these lists, and the key that identifies an item.
_ITEMS = {'entries': ('entry', 'family'), 'advisories': ('advisory', 'id'), 'samples': ('sample', 'family'),
          'overrides': ('override', 'for')}


def place(data: Any, path: Path) -> str:
    """Return *path* in words, such as "Intel DC S3500, attribute 233, endurance_used"."""
    words: list[str] = []
    for depth, step in enumerate(path):
        data = _step(data, step)
        before = str(path[depth - 1]) if depth else ''
        if isinstance(step, int):
            words.append(_item(before, step, data))
        elif before in _NAMED:
            words.append(f'{_NAMED[before]} {_name(step)}'.strip())
        elif depth == len(path) - 1 or (step not in _NAMED and step not in _ITEMS):
            words.append(_name(step))
    return ', '.join(words)


def _item(list_name: str, number: int, item: Any) -> str:
    word, key = _ITEMS.get(list_name, ('item', ''))
    name = _step(item, key)
    if isinstance(name, dict):
        name = ' '.join(str(part) for part in next(iter(name.items()), ()))
    if not isinstance(name, str) or not name:
        return f'{word} {number + 1}'
    return _name(name) if word == 'entry' else f'{word} {number + 1}, {_name(name)}'


def _step(data: Any, step: str | int) -> Any:
    try:
        return data[step]
    except (KeyError, IndexError, TypeError):
        return None


def _name(text: Any) -> str:
    return shown(str(text))[1:-1]
