"""Parse JSON from other hosts, and read its values, whose type and length may be wrong.

json.loads() uses up to 48 bytes of memory for one byte of text, and an alarm signal cannot
interrupt it. So the limits of texts in `constants` are low.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any

from .. import files
from ..constants import LONGEST_FOREIGN_NUMBER, LONGEST_TEXT, MOST_ENTRIES
from ..model import State
from ..typed import Json
from ..words import visible


def parse(text: bytes | bytearray) -> Any:
    """Return the data of a JSON text.

    Raises ValueError if the JSON is invalid or nested too deeply.
    """
    try:
        return json.loads(text, parse_int=_number)
    except RecursionError:
        raise ValueError('it is nested too deeply') from None


def _number(digits: str) -> int | float:
    """Return an integer; as a float if it is so long that int() would take too much time."""
    return int(digits) if len(digits) <= LONGEST_FOREIGN_NUMBER else float(digits)


_shown = lru_cache(maxsize=4096)(visible)  # drives of a fleet share most of their texts


def state_of(value: Any) -> State:
    """Return the state with this name; UNKNOWN if the name is invalid."""
    is_name = isinstance(value, str) and value in State.__members__
    return State[value] if is_name else State.UNKNOWN


def text_of(value: Any) -> str | None:
    """Return a text, made safe to display; None for any value that is not a text."""
    return _shown(value[:LONGEST_TEXT]) if isinstance(value, str) else None


def dicts_of(value: Any, most: int = MOST_ENTRIES) -> Sequence[Json]:
    """Return the objects in a list, without other values; () for any value that is not a list.

    most: items that are looked at.
    """
    items = value[:most] if isinstance(value, list) else ()
    return [item for item in items if isinstance(item, dict)]


def pairs_of(value: Any) -> Sequence[tuple[str, Any]]:
    """Return the keys and values of an object."""
    return list(islice(value.items(), MOST_ENTRIES)) if isinstance(value, dict) else []


def is_number(value: Any) -> bool:
    """Return whether a value is a number that is safe to calculate with; True and False are not."""
    if isinstance(value, bool):
        return False
    return isinstance(value, (int, float)) and abs(value) < 1e30


def is_point(value: Any) -> bool:
    """Return whether a value is a point of a history: [seconds since 1970, number]."""
    return isinstance(value, list) and len(value) == 2 and all(map(is_number, value))


# The types of values in documents.json.
KINDS: Mapping[str, Callable[[Any], Any]] = {
    'text': text_of,
    'words': lambda value: text_of(value) or '',
    'number': lambda value: value if is_number(value) else None,
    'true': lambda value: value is True,
    'value': lambda value: value if is_number(value) else text_of(value),
    'state': lambda value: state_of(value).name,
}
SHAPES: Mapping[str, Mapping[str, str]] = files.data('fleet/documents.json')


def shaped(part: str, value: Json) -> dict[str, Any]:
    """Return the values of an object that documents.json lists under *part*, each as its type there.

    A value that is missing or of another type becomes what KINDS has for it, such as None. A key
    whose type ends with ? is left out if it is missing.
    """
    values = {}
    for key, kind in SHAPES[part].items():
        is_optional = kind[-1] == '?'
        if key in value or not is_optional:
            values[key] = KINDS[kind.rstrip('?')](value.get(key))
    return values
