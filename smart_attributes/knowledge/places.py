"""Where a fault stands in a data file, in the words of messages. Pure functions."""
from __future__ import annotations

import json

from ..typed import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any, List, Mapping, Sequence, Union

    Path = Sequence[Union[str, int]]

SHOWN = 60   # characters of a value that a sentence may quote
KINDS: Mapping[str, str] = {
    'object': 'an object', 'array': 'a list', 'string': 'a text', 'integer': 'a whole number', 'number': 'a number',
    'boolean': 'true or false', 'null': 'null'}


def sentence(name: str, where: str, complaint: str) -> str:
    """Return a complaint about a place in a file."""
    return f'{name}: {where}: {complaint}' if where else f'{name}: {complaint}'


def shown(value: Any) -> str:
    """Return a value as JSON writes it, but never at length."""
    if isinstance(value, (dict, list)):
        return KINDS['object' if isinstance(value, dict) else 'array']
    text = json.dumps(value)
    return text if len(text) <= SHOWN else f'{text[:SHOWN]}…"'


def listed(words: Sequence[str], last: str) -> str:
    """Return "a, b or c"."""
    return f' {last} '.join(part for part in (', '.join(words[:-1]), words[-1]) if part)


def place(data: Any, path: Path) -> str:
    """Return where *path* leads, in words: "Intel DC S3500, attribute 233, endurance_used"."""
    words: List[str] = []
    for depth, step in enumerate(path):
        data = _step(data, step)
        before = path[depth - 1] if depth else ''
        if isinstance(step, int):
            words.append(_item(str(before), step, data))
        elif before in _NAMED:
            words.append(f'{_NAMED[str(before)]} {_name(step)}'.strip())
        elif depth == len(path) - 1 or (step not in _NAMED and step not in _ITEMS):
            words.append(_name(step))
    return ', '.join(words)


# What the keys of these are.
_NAMED = {'documents': 'document', 'metrics': 'metric', 'sets': 'set', 'attributes': 'attribute', 'readings': ''}
# What the items of these lists are, and what they are known by.
_ITEMS = {'entries': ('entry', 'family'), 'advisories': ('advisory', 'id'), 'samples': ('sample', 'family'),
          'overrides': ('override', 'for')}


def _item(list_name: str, number: int, item: Any) -> str:
    word, key = _ITEMS.get(list_name, ('item', ''))
    known_by = _step(item, key)
    if isinstance(known_by, dict):
        known_by = ' '.join(str(part) for part in next(iter(known_by.items()), ()))
    if not isinstance(known_by, str) or not known_by:
        return f'{word} {number + 1}'
    return _name(known_by) if word == 'entry' else f'{word} {number + 1}, {_name(known_by)}'


def _step(data: Any, step: Union[str, int]) -> Any:
    try:
        return data[step]
    except (KeyError, IndexError, TypeError):
        return None


def _name(text: Any) -> str:
    return shown(str(text))[1:-1]
