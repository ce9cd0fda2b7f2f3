"""One value of a JSON document: absent, unless it is what it should be.

A report may come from a ticket, an anonymiser or a program that speaks like smartctl.
"""
from __future__ import annotations

import re

from ..typed import TYPE_CHECKING, Json

if TYPE_CHECKING:
    from typing import Any, List, Mapping, Optional


SAFE = range(1 - 2 ** 53, 2 ** 53)  # beyond these a JSON number may have been rounded on its way
BYTES = range(256)
_LARGEST = 2 ** 128       # the widest counter there is (NVMe)


def object_of(data: Mapping[str, Any], key: str) -> Json:
    """Return an object, empty where there is none."""
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def list_of(data: Mapping[str, Any], key: str) -> List[Any]:
    """Return a list, empty where there is none."""
    value = data.get(key)
    return value if isinstance(value, list) else []


def objects_of(data: Mapping[str, Any], key: str) -> List[Json]:
    """Return the objects of a list."""
    return [entry for entry in list_of(data, key) if isinstance(entry, dict)]


def text_of(data: Mapping[str, Any], key: str) -> str:
    """Return a text without outer blanks, '' where there is none."""
    value = data.get(key)
    return value.strip() if isinstance(value, str) else ''


def integer_of(data: Mapping[str, Any], key: str) -> Optional[int]:
    """Return a whole number, exactly.

    Where smartctl doubts that a number survives as a JSON number it adds the same
    as a string, with "_s" at the end of the name.
    """
    value: Any = data.get(key)
    if type(value) is int and value in SAFE:
        return value
    exact = data.get(key + '_s')
    if isinstance(exact, str) and exact.isascii() and exact.isdigit() and len(exact) < 40:
        return int(exact)
    if type(value) in (int, float) and -_LARGEST < value < _LARGEST and value % 1 == 0:  # NaN compares with nothing
        return int(value)
    return None


def byte_of(data: Mapping[str, Any], key: str) -> Optional[int]:
    """Return a whole number from 0 to 255."""
    value = data.get(key)
    if type(value) is not int:
        value = integer_of(data, key)
    return value if value in BYTES else None


def word_of(data: Mapping[str, Any], key: str) -> Optional[int]:
    """Return a whole number of at most 64 bits: the raw bytes of an attribute."""
    value = integer_of(data, key)
    return value if value is not None and 0 <= value < 2 ** 64 else None


def fraction_of(data: Mapping[str, Any], key: str) -> Optional[float]:
    """Return a number that smartctl writes as a string: "71532.573", in some locales "71532,573"."""
    value: Any = data.get(key)
    if isinstance(value, str) and re.fullmatch(r'\d{1,30}(?:[.,]\d{1,9})?', value.strip()):
        return float(value.strip().replace(',', '.'))
    if type(value) in (int, float) and 0 <= value < _LARGEST:
        return float(value)
    return None
