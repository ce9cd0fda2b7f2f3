"""Checksums of what the database holds, since SQLite has none of its own for what has left its log. Pure.

They form a tree: a series has one of its points, a drive one of its series, and one over all facts, drives and places
includes those of the drives. So a changed number is noticed, and a missing row as well. CRC-32 finds accidents; it does
not stop the owner of the file, whose history no check of another user trusts (see store).
"""
from __future__ import annotations

from itertools import chain
from zlib import crc32

from ..typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from struct import Struct, error, pack

    from .series import Point
else:
    # what struct is made of, without a module around it
    from _struct import Struct, error, pack

_ONE = Struct('<3d').pack


def of_points(points: Sequence[Point], before: int = 0) -> int:
    """Return the checksum of points, oldest first. before: that of the points in front of them.

    Raises ValueError for a field that is not a number.
    """
    try:
        if len(points) == 1:   # nearly all series of nearly all drives
            return crc32(_ONE(*points[0]), before)
        numbers = list(chain.from_iterable(points))
        return crc32(pack(f'<{len(numbers)}d', *numbers), before)
    except (error, OverflowError):
        raise ValueError('not a number') from None


def of_rows(*tables: Sequence[tuple[object, ...]]) -> int:
    """Return the checksum of rows as the database returns them: numbers and texts, the same in each Python."""
    return crc32(ascii(tables).encode())
