"""Every reader of foreign data answers, or says in a sentence why not, whatever it is given;
`make fuzz` tries more.
"""

from contextlib import suppress
from pathlib import Path

import pytest
from conftest import ROOT
from foreign import MAIN, READERS, bounded, seeds
from fuzz import LONGEST, in_parts
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as some

from smart_attributes.knowledge import site_file
from smart_attributes.model import Identity, Report
from smart_attributes.reading import text_report

SEEDS = seeds()
FOUND = sorted((Path(__file__).parent / 'found').glob('*-*'))
PARSERS = {
    'json': 'foreign.json_report.parse',
    'text': 'foreign.text_report.parse_text',
}
PIECES = (
    b'{',
    b'}',
    b'[',
    b'"',
    b':',
    b',',
    b'null',
    b'-1',
    b'1e300',
    b'NaN',
    b'9' * 40,
    b'\0',
    b'\xff',
    b'\n',
    b' ',
    b'true',
    b'..',
    b'|',
    b'0',
    b'"x"',
    b'{}',
    b'[]',
    b'\xe2\x80\xa8',
    b'(((((a+)+)+)+)+)$',
    b'9' * 5000,
    b'[' * 5000,
)


def like(reader: str) -> some.SearchStrategy[bytes]:
    """Return inputs for a reader: bytes and words, and its seeds with some places changed."""
    edit = some.tuples(
        some.integers(0, 2**15), some.integers(0, 60), some.sampled_from(PIECES)
    )
    edits = some.lists(edit, max_size=4)
    changed = some.builds(_changed, some.sampled_from(SEEDS[reader]), edits)
    return some.one_of(
        changed,
        changed,
        some.binary(max_size=300),
        some.text(max_size=100).map(str.encode),
    )


def _changed(seed: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    for place, length, piece in edits:
        at = place % (len(seed) + 1)
        seed = seed[:at] + piece + seed[at + length :]
    return seed


@pytest.mark.parametrize('reader', READERS)
@pytest.mark.long
def test_a_reader_answers_whatever_it_is_given(reader):
    """No traceback, no second of CPU, no 200 MB, no OK from nothing, no number that the input
    does not hold.
    """

    @settings(
        max_examples=15 if reader in ('history', 'entries') else 80,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
    )
    @given(like(reader))
    def answers(data: bytes) -> None:
        READERS[reader](data)

    answers()


@pytest.mark.parametrize('path', FOUND, ids=lambda path: path.name)
def test_what_was_found_once_stays_away(path):
    """A file is called READER-what-it-is."""
    READERS[path.name.partition('-')[0]](path.read_bytes())


def _endless(_: bytes) -> None:
    sum(1 for _ in iter(int, 1))


def _endless_and_proud_of_it(data: bytes) -> None:
    with suppress(AssertionError):
        _endless(data)


@pytest.mark.parametrize(
    'fault, error',
    [
        # history
        (lambda data: [0] * 2**28, MemoryError),
        # time
        (_endless, AssertionError),
        # time-and-handled
        (_endless_and_proud_of_it, AssertionError),
        # traceback
        (lambda data: {}[data], KeyError),
    ],
)
def test_what_a_reader_must_not_do_is_noticed(fault, error):
    """Who finds nothing must be able to find something."""
    with pytest.raises(error):
        bounded(fault)(b'')


@pytest.mark.parametrize('reader', MAIN)
@pytest.mark.parametrize(
    'made_up, words',
    [
        # passed
        (Report(Identity(), smart_status=True), 'that it passed'),
        # number
        (Report(Identity(), nvme={'media_errors': 4711}), 'made up'),
    ],
)
def test_what_a_report_does_not_hold_is_noticed(reader, made_up, words, monkeypatch):
    """Of this report, nobody could say that."""
    monkeypatch.setattr(PARSERS[reader], lambda text: made_up)

    with pytest.raises(AssertionError, match=words):
        READERS[reader](b'{"smartctl": {}}')


@pytest.mark.parametrize('reader', MAIN)
def test_an_ok_from_nothing_is_noticed(reader, monkeypatch):
    """The program says UNKNOWN of such a report; here it takes any report for one with counters."""
    identity = Identity(model='ACME')  # without one, the program has another reason
    monkeypatch.setattr(PARSERS[reader], lambda text: Report(identity))
    monkeypatch.setattr(
        'smart_attributes.knowledge.readings._has_counters', lambda report: True
    )

    with pytest.raises(AssertionError, match='OK from nothing'):
        READERS[reader](b'{"smartctl": {}, "model_name": "ACME"}')


@pytest.mark.parametrize(
    'kind, reader', [('attributes', 'entries'), ('thresholds', 'limits')]
)
def test_files_of_a_site_are_sound_before_they_are_changed(kind, reader):
    """What is refused at once would reach nothing behind it."""
    for seed in SEEDS[reader]:
        assert (
            site_file.understood(seed.decode(), kind, 'x.json', 'x.json').mistakes == ()
        )


def test_reports_are_fuzzed_in_small_parts_that_are_reports():
    """A change of a few bytes in twenty thousand would rarely tell anything."""
    parts = [
        part
        for path in sorted((ROOT / 'tests/reports').iterdir())
        for part in in_parts(path.read_bytes())
    ]

    assert len(parts) > 50 and max(map(len, parts)) <= LONGEST
    assert all(
        text_report.parse_report(part)
        for part in parts
        if b'"ata_smart_attributes"' in part
    )
