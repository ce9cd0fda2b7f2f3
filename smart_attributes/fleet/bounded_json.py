"""Parse JSON from other hosts in bounded memory and time.

json.loads() uses up to 48 bytes of memory for one byte of text, and an alarm signal cannot interrupt it. So the tokens
are counted before anything is parsed.
"""
from __future__ import annotations

import json
from typing import Any, Mapping, Union

MEMORY = 192 << 20     # bytes that the objects parsed from one text may use
LONGEST = 30           # digits of a number; int() of a million digits takes half a minute before Python 3.11
# Bytes of memory that each of these characters can cost, measured with 64-bit Python 3.9 to 3.13: a list, an object
# with a key, an item of a list, an entry of an object, half a string.
COSTS: Mapping[bytes, int] = {b'[': 112, b'{': 264, b',': 24, b':': 64, b'"': 40}
PLAIN, WIDE = 2, 10    # bytes per byte of text, for the text and its copy; WIDE: with four-byte characters


class JsonTooLarge(Exception):
    """The parsed text would use more than MEMORY, or the text is longer than allowed."""


def cost(text: Union[bytes, bytearray]) -> int:
    """Return the most bytes of memory that parsing a JSON text can use."""
    is_plain = text.isascii() and b'\\u' not in text
    return len(text) * (PLAIN if is_plain else WIDE) + sum(text.count(sign) * each for sign, each in COSTS.items())


def parse(text: Union[bytes, bytearray]) -> Any:
    """Return the data of a JSON text.

    Raises JsonTooLarge if parsing would use too much memory, ValueError if the JSON is invalid or nested too deeply.
    """
    if cost(text) > MEMORY:
        raise JsonTooLarge
    try:
        return json.loads(text, parse_int=_number)
    except RecursionError:
        raise ValueError('it is nested too deeply') from None


def _number(digits: str) -> Union[int, float]:
    return int(digits) if len(digits) <= LONGEST else float(digits)
