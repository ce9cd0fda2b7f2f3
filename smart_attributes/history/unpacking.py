"""Unpack gzip files, as logrotate writes them, up to a size limit: a small file can unpack to
terabytes.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from functools import partial
from typing import BinaryIO

from ..constants import LARGEST_SMARTD_LOGS

PIECE = 1 << 16  # bytes unpacked at once


class UnpackedTooLarge(Exception):
    """Raised if a file unpacks to more bytes than allowed, or is itself larger than
    LARGEST_SMARTD_LOGS.
    """


def content(file: BinaryIO, size: int, most: int) -> tuple[bytes, str]:
    """Return the unpacked content of a compressed file, and an error message or ''.

    For a damaged file, return the content before the damage. size: the file's size in bytes. most:
    the number of bytes that may be unpacked. Raises UnpackedTooLarge.
    """
    name = kind(file)
    if name != 'gzip':
        return b'', f'was not read: only gzip can be read, not {name}; decompress it by hand'
    if size > LARGEST_SMARTD_LOGS:
        raise UnpackedTooLarge
    text = io.BytesIO()
    try:
        for piece in pieces(file):
            if text.tell() + len(piece) > most:
                raise UnpackedTooLarge
            text.write(piece)
    except (EOFError, OSError) as error:
        return text.getvalue(), f'is damaged ({error}); the lines before the damage were read'
    return text.getvalue(), ''


def pieces(file: BinaryIO) -> Iterator[bytes]:
    """Yield the unpacked content of a gzip file; yield nothing for another kind of file.

    Raises EOFError and OSError.
    """
    if kind(file) != 'gzip':
        return
    import gzip
    import zlib

    try:
        with gzip.GzipFile(fileobj=file) as unpacked:
            yield from iter(partial(unpacked.read1, PIECE), b'')
    except zlib.error as error:
        raise EOFError(str(error)) from None


def kind(file: BinaryIO) -> str:
    """Return the compression that the first bytes show, such as "gzip", or ''.

    The file position is 0 afterwards.
    """
    head = file.read(6)  # length of the longest signature
    file.seek(0)
    for start, name in _KINDS.items():
        if head.startswith(start):
            return name
    return ''


# The first bytes of compressed files. Source: RFC 1952, RFC 8878 and magic(5) of file 5.44.
_KINDS: Mapping[bytes, str] = {
    b'\x1f\x8b': 'gzip',
    b'BZh': 'bzip2',
    b'\xfd7zXZ\0': 'xz',
    b'\x28\xb5\x2f\xfd': 'zstd',
    b'\x04\x22\x4d\x18': 'lz4',
    b'\x1f\x9d': 'compress',
    b'PK\x03\x04': 'zip',
}
