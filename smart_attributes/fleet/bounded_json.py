"""JSON from other machines, parsed in bounded memory and time.

json.loads() takes up to 48 bytes of memory for one byte of text, and no alarm interrupts it. So the tokens are counted
before anything is parsed.
"""
from __future__ import annotations

import json
from typing import Any, Mapping, Union

MEMORY = 192 << 20     # bytes that the objects of one text may take
LONGEST = 30           # digits of a number; int() of a million digits takes half a minute before Python 3.11
# Bytes that each of these signs can cost, measured with Python 3.9 to 3.13 on 64 bits: a list, an object with a key,
# a place in a list, an entry in an object, half a string.
COSTS: Mapping[bytes, int] = {b'[': 112, b'{': 264, b',': 24, b':': 64, b'"': 40}
PLAIN, WIDE = 2, 10    # bytes for one byte of text: the text and its copy; the same where a character takes four bytes


class JsonTooLarge(Exception):
    """A text would take more than MEMORY, or has more bytes than were allowed."""


def cost(text: Union[bytes, bytearray]) -> int:
    """Return how many bytes of memory a JSON text takes at most when it is parsed."""
    is_plain = text.isascii() and b'\\u' not in text
    return len(text) * (PLAIN if is_plain else WIDE) + sum(text.count(sign) * each for sign, each in COSTS.items())


def parse(text: Union[bytes, bytearray]) -> Any:
    """Return what a JSON text holds. Raises JsonTooLarge; ValueError for invalid JSON, also where it is nested too
    deeply.
    """
    if cost(text) > MEMORY:
        raise JsonTooLarge
    try:
        return json.loads(text, parse_int=_number)
    except RecursionError:
        raise ValueError('it is nested too deeply') from None


def _number(digits: str) -> Union[int, float]:
    return int(digits) if len(digits) <= LONGEST else float(digits)
