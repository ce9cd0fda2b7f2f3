"""Read single values of a JSON document; a value of another type than smartctl documents counts as absent.

A report may come from a ticket, an anonymiser or a program that imitates smartctl.
"""
from __future__ import annotations

import re

from ..constants import HIGHEST_COUNTER
from ..typed import TYPE_CHECKING, Json

if TYPE_CHECKING:
    from typing import Any

SAFE = range(1 - 2 ** 53, 2 ** 53)  # beyond these a JSON number may have been rounded on its way
BYTES = range(256)
OFFSETS = range(8, 512, 8)  # of a device statistic in its page. Source: ACS-4, 9.5


def object_of(data: Json, *path: str) -> Json:
    """Return the object at a path of keys, or an empty one if absent."""
    for key in path:
        value = data.get(key)
        data = value if isinstance(value, dict) else {}
    return data


def list_of(data: Json, key: str) -> list[Any]:
    """Return a list, or an empty one if absent."""
    value = data.get(key)
    return value if isinstance(value, list) else []


def objects_of(data: Json, key: str) -> list[Json]:
    """Return the objects of a list."""
    return [entry for entry in list_of(data, key) if isinstance(entry, dict)]


def words_of(data: Json, key: str) -> list[str] | None:
    """Return a list of strings, or None if it has other items or is absent."""
    value = data.get(key)
    return value if isinstance(value, list) and all(isinstance(word, str) for word in value) else None


def text_of(data: Json, key: str) -> str:
    """Return a string without blanks at its ends, or '' if absent."""
    value = data.get(key)
    return value.strip() if isinstance(value, str) else ''


def integer_of(data: Json, key: str) -> int | None:
    """Return the exact integer, or None if absent.

    If a number might not survive as a JSON number, smartctl adds it as a string, under a key that ends with "_s".
    """
    value: Any = data.get(key)
    if type(value) is int and value in SAFE:
        return value
    exact = data.get(key + '_s')
    if isinstance(exact, str) and exact.isascii() and exact.isdigit() and len(exact) < 40:
        return int(exact)
    # NaN compares with nothing.
    if type(value) in (int, float) and -HIGHEST_COUNTER < value < HIGHEST_COUNTER and value % 1 == 0:
        return int(value)
    return None


def integer_at(data: Json, path: str) -> int | None:
    """Return the integer at a path of keys such as "temperature.current", or None if absent."""
    *parents, key = path.split('.')
    return integer_of(object_of(data, *parents), key)


def byte_of(data: Json, key: str) -> int | None:
    """Return an integer from 0 to 255, or None if absent."""
    value = data.get(key)
    if type(value) is not int:
        value = integer_of(data, key)
    return value if value in BYTES else None


def offset_of(data: Json, key: str) -> int | None:
    """Return the offset of a device statistic in its page, or None if absent."""
    value = integer_of(data, key)
    return value if value in OFFSETS else None


def word_of(data: Json, key: str) -> int | None:
    """Return an integer of at most 64 bits, such as the raw bytes of an attribute, or None if absent."""
    value = integer_of(data, key)
    return value if value is not None and 0 <= value < 2 ** 64 else None


def fraction_of(data: Json, key: str) -> float | None:
    """Return a number that smartctl writes as a string: "71532.573", in some locales "71532,573"."""
    value: Any = data.get(key)
    if isinstance(value, str) and re.fullmatch(r'\d{1,30}(?:[.,]\d{1,9})?', value.strip()):
        return float(value.strip().replace(',', '.'))
    return float(value) if type(value) in (int, float) and 0 <= value < HIGHEST_COUNTER else None
