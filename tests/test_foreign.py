"""Every reader of foreign data answers, or says in a sentence why not, whatever it is given; `make fuzz` tries more."""
from __future__ import annotations

from pathlib import Path

import pytest
from foreign import READERS, bounded, seeds
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as some

SEEDS = seeds()
FOUND = sorted((Path(__file__).parent / 'found').glob('*-*'))
PIECES = (b'{', b'}', b'[', b'"', b':', b',', b'null', b'-1', b'1e300', b'NaN', b'9' * 40, b'\0', b'\xff', b'\n', b' ',
          b'true', b'..', b'|', b'0', b'"x"', b'{}', b'[]', b'\xe2\x80\xa8', b'(((((a+)+)+)+)+)$', b'9' * 5000,
          b'[' * 5000)


def like(reader: str) -> some.SearchStrategy[bytes]:
    """Return inputs for a reader: bytes and words, and its seeds with some places changed."""
    edit = some.tuples(some.integers(0, 2 ** 15), some.integers(0, 60), some.sampled_from(PIECES))
    edits = some.lists(edit, max_size=4)
    changed = some.builds(_changed, some.sampled_from(SEEDS[reader]), edits)
    return some.one_of(changed, changed, some.binary(max_size=300), some.text(max_size=100).map(str.encode))


def _changed(seed: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    for place, length, piece in edits:
        at = place % (len(seed) + 1)
        seed = seed[:at] + piece + seed[at + length:]
    return seed


@pytest.mark.parametrize('reader', READERS)
def test_a_reader_answers_whatever_it_is_given(reader: str) -> None:
    """No traceback, no second of CPU, no 200 MB, no OK from nothing, no number that the input does not hold."""
    @settings(max_examples=15 if reader in ('memory', 'entries') else 80, derandomize=True, deadline=None,
              database=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate, Phase.shrink])
    @given(like(reader))
    def answers(data: bytes) -> None:
        READERS[reader](data)

    answers()


@pytest.mark.parametrize('path', FOUND, ids=lambda path: path.name)
def test_what_was_found_once_stays_away(path: Path) -> None:
    """A file is called READER-what-it-is."""
    READERS[path.name.partition('-')[0]](path.read_bytes())


@pytest.mark.parametrize('fault, error', [
    (lambda data: [0] * 2 ** 28, MemoryError), (lambda data: sum(1 for _ in iter(int, 1)), AssertionError),
    (lambda data: {}[data], KeyError)], ids=['memory', 'time', 'traceback'])
def test_what_a_reader_must_not_do_is_noticed(fault, error) -> None:
    """Who finds nothing must be able to find something."""
    with pytest.raises(error):
        bounded(fault)(b'')
