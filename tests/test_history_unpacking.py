"""Compressed logs: what they unpack to, what is said of a damaged one, and how much of a huge
one is unpacked.
"""

from __future__ import annotations

import gzip
import io
import random

import pytest

from smart_attributes.history import unpacking

TEXT = b'one line of smartd\n' * 20_000  # several pieces
# several pieces when it is packed, too
NOISE = random.Random(1).randbytes(3 * unpacking.PIECE)


class Sparing(io.BytesIO):
    """A file that refuses to be read at once."""

    def read(self, size=-1):
        # gzip of Python 3.12 and newer reads two pieces
        assert size is not None and 0 <= size <= 2 * unpacking.PIECE
        return super().read(size)


def unpacked(packed: bytes, most: int = 1 << 20, size: int = 0):
    file = Sparing(packed)
    return unpacking.content(file, size or len(packed), most)


@pytest.mark.parametrize(
    'text',
    [
        TEXT,  # text
        NOISE,  # noise
        b'',  # nothing
        b'x',  # one byte
    ],
)
def test_a_compressed_file_is_unpacked(text):
    packed = gzip.compress(text)

    assert unpacking.kind(io.BytesIO(packed)) == 'gzip'
    assert unpacked(packed) == (text, '')
    assert max(map(len, unpacking.pieces(Sparing(packed))), default=0) <= unpacking.PIECE


def test_a_file_of_several_streams_is_unpacked_as_a_whole():
    """pigz writes such files, and so does cat."""
    packed = gzip.compress(TEXT) + gzip.compress(NOISE) + gzip.compress(b'end')

    assert unpacked(packed) == (TEXT + NOISE + b'end', '')


@pytest.mark.parametrize(
    'end, reason',
    [
        (0, 'Compressed file ended before the end-of-stream marker was reached'),  # cut
        (40, 'CRC check failed'),  # spoilt
    ],
)
def test_of_a_damaged_file_the_content_before_the_damage_is_kept(end, reason):
    packed = gzip.compress(NOISE)
    place = len(packed) * 4 // 5
    text, fault = unpacked(packed[:place] + (b'\xff' * end + packed[place + end :] if end else b''))

    assert text and NOISE.startswith(text[: unpacking.PIECE])
    assert fault.startswith(f'is damaged ({reason}') and fault.endswith(
        '; the lines before the damage were read'
    )


def test_a_gzip_file_with_a_spoilt_block_is_damaged():
    """zlib finds this, not gzip."""
    packed = gzip.compress(TEXT)
    text, fault = unpacked(packed[:10] + b'\xff' * 9 + packed[19:])

    assert text == b'' and fault.startswith(
        'is damaged (Error -3 while decompressing data: invalid block type); '
    )


@pytest.mark.parametrize(
    'most, size, is_refused',
    [
        (len(TEXT), 0, False),
        (len(TEXT) - 1, 0, True),
        (unpacking.PIECE, 0, True),
        (len(TEXT), unpacking.LARGEST_SMARTD_LOGS, False),
        (len(TEXT), unpacking.LARGEST_SMARTD_LOGS + 1, True),
    ],
)
def test_a_file_is_refused_beyond_its_room(most, size, is_refused):
    """A small file can unpack to terabytes."""
    packed = gzip.compress(TEXT)
    if is_refused:
        with pytest.raises(unpacking.UnpackedTooLarge):
            unpacked(packed, most, size)
    else:
        assert unpacked(packed, most, size) == (TEXT, '')


@pytest.mark.parametrize(
    'head, name',
    [
        (b'BZh', 'bzip2'),
        (b'\xfd7zXZ\0', 'xz'),
        (b'\x28\xb5\x2f\xfd', 'zstd'),
        (b'\x04\x22\x4d\x18', 'lz4'),
        (b'\x1f\x9d', 'compress'),
        (b'PK\x03\x04', 'zip'),
    ],
)
def test_another_format_is_named(head, name):
    assert unpacked(head + b'...') == (
        b'',
        f'was not read: only gzip can be read, not {name}; decompress it by hand',
    )
    assert list(unpacking.pieces(io.BytesIO(head + b'...'))) == []


@pytest.mark.parametrize('text', [b'', b'2', b'2026-11-22 00:15:32;\t5;100;0;\n', b'\x1f'])
def test_a_plain_file_is_of_no_kind_and_stays_at_its_beginning(text):
    file = Sparing(text)

    assert unpacking.kind(file) == '' and file.tell() == 0
    assert list(unpacking.pieces(file)) == []
