"""Compressed logs: what they unpack to, what is said of a damaged one, and how much of a huge one is unpacked."""
from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import sys
from functools import partial

import pytest

from smart_attributes.history import unpacking

TEXT = b'one line of smartd\n' * 20_000                            # several pieces
NOISE = random.Random(1).randbytes(3 * unpacking.PIECE)            # several pieces when it is packed, too
PACKED = {'gzip': gzip.compress, 'bzip2': partial(bz2.compress, compresslevel=1), 'xz': lzma.compress}


class Sparing(io.BytesIO):
    """A file that refuses to be read at once."""

    def read(self, size=-1):
        assert size is not None and 0 <= size <= 2 * unpacking.PIECE  # gzip of Python 3.12 and newer reads two pieces
        return super().read(size)


def unpacked(packed: bytes, most: int = 1 << 20, size: int = 0):
    file = Sparing(packed)
    return unpacking.content(file, unpacking.kind(file), size or len(packed), most)


@pytest.mark.parametrize('text', [TEXT, NOISE, b'', b'x'], ids=['text', 'noise', 'nothing', 'one-byte'])
@pytest.mark.parametrize('name', PACKED)
def test_a_compressed_file_is_unpacked(name, text):
    packed = PACKED[name](text)

    assert unpacking.kind(io.BytesIO(packed)) == name
    assert unpacked(packed) == (text, '')
    assert max(map(len, unpacking.pieces(Sparing(packed))), default=0) <= unpacking.PIECE


@pytest.mark.parametrize('name', PACKED)
def test_a_file_of_several_streams_is_unpacked_as_a_whole(name):
    """pbzip2, pixz and pigz write such files, and so does cat."""
    packed = PACKED[name](TEXT) + PACKED[name](NOISE) + PACKED[name](b'end')

    assert unpacked(packed) == (TEXT + NOISE + b'end', '')


@pytest.mark.parametrize(('end', 'reason'), [
    (0, {'gzip': 'Compressed file ended before the end-of-stream marker was reached', 'bzip2': 'cut off',
         'xz': 'cut off'}),
    (40, {'gzip': 'CRC check failed', 'bzip2': 'Invalid data stream', 'xz': 'Corrupt input data'})],
    ids=['cut', 'spoilt'])
@pytest.mark.parametrize('name', PACKED)
def test_of_a_damaged_file_the_content_before_the_damage_is_kept(name, end, reason):
    packed = PACKED[name](NOISE)
    place = len(packed) * 4 // 5
    text, fault = unpacked(packed[:place] + (b'\xff' * end + packed[place + end:] if end else b''))

    assert text and NOISE.startswith(text[:unpacking.PIECE])
    assert fault.startswith(f'is damaged ({reason[name]}') and fault.endswith('; the lines before the damage were read')


def test_a_gzip_file_with_a_spoilt_block_is_damaged():
    """zlib finds this, not gzip."""
    packed = gzip.compress(TEXT)
    text, fault = unpacked(packed[:10] + b'\xff' * 9 + packed[19:])

    assert text == b'' and fault.startswith('is damaged (Error -3 while decompressing data: invalid block type); ')


@pytest.mark.parametrize(('most', 'size', 'is_refused'), [
    (len(TEXT), 0, False), (len(TEXT) - 1, 0, True), (unpacking.PIECE, 0, True),
    (len(TEXT), unpacking.LARGEST_SMARTD_LOGS, False), (len(TEXT), unpacking.LARGEST_SMARTD_LOGS + 1, True)])
@pytest.mark.parametrize('name', PACKED)
def test_a_file_is_refused_beyond_its_room(name, most, size, is_refused):
    """A small file can unpack to terabytes."""
    packed = PACKED[name](TEXT)
    if is_refused:
        with pytest.raises(unpacking.UnpackedTooLarge):
            unpacked(packed, most, size)
    else:
        assert unpacked(packed, most, size) == (TEXT, '')


def test_xz_that_needs_more_memory_than_the_strongest_level_is_damaged():
    """Its header names the dictionary that unpacking would allocate: 128 MiB, to unpack one byte."""
    packed = bytes.fromhex('fd377a585a000004e6d6b446020021011e0000009b0751660100007800000000'
                           '45aeef83f8ee160a00011901a52c81cc1fb6f37d010000000004595a')

    assert lzma.decompress(packed) == b'x'
    assert unpacked(packed) == (b'', 'is damaged (Memory usage limit exceeded); the lines before the damage were read')


@pytest.mark.parametrize(('head', 'name'), [
    (b'\x28\xb5\x2f\xfd', 'zstd'), (b'\x04\x22\x4d\x18', 'lz4'), (b'\x1f\x9d', 'compress'), (b'PK\x03\x04', 'zip')])
def test_a_format_that_python_cannot_unpack_is_named(head, name):
    assert unpacked(head + b'...') == (b'', f'was not read: Python cannot decompress {name}; decompress it by hand')
    assert list(unpacking.pieces(io.BytesIO(head + b'...'))) == []


@pytest.mark.parametrize('text', [b'', b'2', b'2026-11-22 00:15:32;\t5;100;0;\n', b'\x1f'])
def test_a_plain_file_is_of_no_kind_and_stays_at_its_beginning(text):
    file = Sparing(text)

    assert unpacking.kind(file) == '' and file.tell() == 0
    assert list(unpacking.pieces(file)) == []


@pytest.mark.parametrize(('name', 'module'), [('gzip', 'zlib'), ('bzip2', '_bz2'), ('xz', '_lzma')])
def test_a_python_without_the_module_says_so(name, module, monkeypatch):
    """Some are built without bzip2 or xz."""
    packed = PACKED[name](TEXT)
    for loaded in (module, 'bz2', 'lzma', 'gzip'):
        monkeypatch.delitem(sys.modules, loaded, raising=False)
    monkeypatch.setitem(sys.modules, module, None)

    assert unpacked(packed) == (b'', f'was not read: this Python lacks the module {module}; decompress it by hand')
