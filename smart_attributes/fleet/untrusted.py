"""Parse JSON from other hosts in bounded memory and time, and read its values, whose type and
length may be wrong.

json.loads() uses up to 48 bytes of memory for one byte of text, and an alarm signal cannot
interrupt it. So the tokens are counted before anything is parsed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any

from .. import files
from ..constants import (
    HIGHEST_COUNT,
    LARGEST_PARSED,
    LONGEST_FOREIGN_NUMBER,
    LONGEST_TEXT,
    MOST_ENTRIES,
)
from ..model import State
from ..typed import Json
from ..words import visible

# Bytes of memory that each of these characters can cost, measured with 64-bit Python 3.9 to 3.13:
# for a list, an object with a key, a further item, a further entry, half a string.
COSTS: Mapping[bytes, int] = {b'[': 112, b'{': 264, b',': 24, b':': 64, b'"': 40}
# bytes per byte of text, for the text and its copy; WIDE: text with four-byte characters
PLAIN, WIDE = 2, 10


class JsonTooLarge(Exception):
    """The parsed text would use more than LARGEST_PARSED, or the text is longer than allowed."""


def cost(text: bytes | bytearray) -> int:
    """Return the maximum memory, in bytes, that parsing a JSON text can use."""
    is_plain = text.isascii() and b'\\u' not in text
    return len(text) * (PLAIN if is_plain else WIDE) + sum(
        text.count(sign) * each for sign, each in COSTS.items()
    )


def parse(text: bytes | bytearray) -> Any:
    """Return the data of a JSON text.

    Raises JsonTooLarge if parsing would use too much memory, ValueError if the JSON is invalid or
    nested too deeply.
    """
    if cost(text) > LARGEST_PARSED:
        raise JsonTooLarge
    try:
        return _DECODER.decode(text.decode(json.detect_encoding(text), 'surrogatepass'))
    except RecursionError:
        raise ValueError('it is nested too deeply') from None


def _number(digits: str) -> int | float:
    return int(digits) if len(digits) <= LONGEST_FOREIGN_NUMBER else float(digits)


_shown = lru_cache(maxsize=4096)(visible)  # drives of a fleet share most of their texts
_DECODER = json.JSONDecoder(parse_int=_number)  # json.loads would make a decoder for each text


def state_of(given: Any) -> State:
    """Return the state with this name; UNKNOWN if the name is invalid."""
    return State[given] if isinstance(given, str) and given in State.__members__ else State.UNKNOWN


def text_of(given: Any) -> str | None:
    """Return a text, made safe to display; None for any value that is not a text."""
    return _shown(given[:LONGEST_TEXT]) if isinstance(given, str) else None


def texts_of(given: Any) -> list[str]:
    """Return the texts in a list, without other values."""
    return (
        [_shown(each[:LONGEST_TEXT]) for each in given[:MOST_ENTRIES] if isinstance(each, str)]
        if isinstance(given, list)
        else []
    )


def dicts_of(given: Any) -> Sequence[Json]:
    """Return the objects in a list, without other values."""
    return (
        [each for each in given[:MOST_ENTRIES] if isinstance(each, dict)]
        if isinstance(given, list)
        else []
    )


def pairs_of(given: Any) -> Sequence[tuple[str, Any]]:
    """Return the keys and values of an object."""
    return list(islice(given.items(), MOST_ENTRIES)) if isinstance(given, dict) else []


def is_number(given: Any) -> bool:
    """Return whether a value is a number that is safe to calculate with."""
    return isinstance(given, (int, float)) and not isinstance(given, bool) and abs(given) < 1e30


def is_point(given: Any) -> bool:
    """Return whether a value is a point of a history: [seconds since 1970, number]."""
    return isinstance(given, list) and len(given) == 2 and all(map(is_number, given))


def whole_of(given: Any) -> int | None:
    """Return a whole number; None if the value has another type, or is too large for a count of
    drives.
    """
    return (
        int(given)
        if is_number(given) and given == int(given) and abs(given) <= HIGHEST_COUNT
        else None
    )


# The types of values in documents.json.
KINDS: Mapping[str, Callable[[Any], Any]] = {
    'text': text_of,
    'words': lambda given: text_of(given) or '',
    'name': lambda given: text_of(given) or '-',
    'texts': texts_of,
    'whole': whole_of,
    'count': lambda given: whole_of(given) or 0,
    'number': lambda given: given if is_number(given) else None,
    'true': lambda given: given is True,
    'value': lambda given: given if is_number(given) else text_of(given),
    'state': lambda given: state_of(given).name,
}
SHAPES: Mapping[str, Sequence[tuple[str, Callable[[Any], Any], bool]]] = {
    part: [(key, KINDS[kind.rstrip('?')], kind[-1] == '?') for key, kind in keys.items()]
    for part, keys in files.data('fleet/documents.json').items()
    if part != 'comment'
}


def shaped(part: str, given: Json) -> dict[str, Any]:
    """Return a part of a document, with values of the types that documents.json defines under
    the part's name.
    """
    return {
        key: kind(given.get(key))
        for key, kind, may_lack in SHAPES[part]
        if not may_lack or key in given
    }
