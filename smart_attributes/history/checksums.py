"""Checksums of the database content, since SQLite itself only protects the content of its log. Pure.

They form a tree: each series has a checksum of its points, and each drive one of its series. A seal over the latter,
the row of the drive and its places shows for each drive alone whether it is intact, and one checksum over all facts
and seals shows a missing drive. A changed number is detected, and so is a missing row. CRC-32 detects accidental damage
only. It does not detect changes by the owner of the file, whose history is not trusted by checks of other users (see
store).
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
    # the C module behind struct; it is imported faster
    from _struct import Struct, error, pack

_ONE = Struct('<3d').pack


def of_points(points: Sequence[Point], before: int = 0) -> int:
    """Return the checksum of points, oldest first. before: the checksum of all earlier points.

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
    """Return the checksum of rows as the database returns them. It is the same in every version of Python."""
    return crc32(ascii(tables).encode())


NO_SERIES = of_rows([])   # checksum of a drive that has no number to store
