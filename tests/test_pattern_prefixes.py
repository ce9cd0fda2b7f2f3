"""beginnings: which patterns may match a model, without compiling them."""

from __future__ import annotations

import json
import random
import re

import pytest
from conftest import ROOT

from smart_attributes.knowledge import pattern_prefixes

# Pieces of patterns, between tildes.
PIECES = (
    r'A~B~ ~-~[AB]~[^A]~[|]~[(]~[]]~(A|B)~(A1|B)~[0-9]~[1B]~(?:AB|)~|~?~*~{0,1}~{2}~+~\|~\(~.~.*~'
    '(A[B1]|B.*)~(A|B)+~(A[|]B|A)~1'
)
SHIPPED = json.loads((ROOT / 'attributes.json').read_text())


@pytest.mark.parametrize(
    ('pattern', 'beginning'),
    [
        ('INTEL SSDSC2BB[0-9]{3}G4', 'INTEL SSDSC2BB'),
        ('ABC?D', 'AB'),
        ('ABC+', 'ABC'),
        ('ABC{0,2}', 'AB'),
        ('ABC|DEF', ''),
        ('A(BC|DE)', 'A'),
        (r'AB\|CD', 'AB|CD'),
        ('AB[|]CD', 'AB'),
        ('AB[(]C|D', ''),
        (r'AB[\](]C|D', ''),
        (r'A\.?2', 'A'),
        (r'A\d', 'A'),
        ('(?i)abc', ''),
    ],
)
def test_the_beginning_is_what_every_match_starts_with(pattern, beginning):
    """It is compared before the pattern is compiled, so it may be too short but never wrong."""
    assert pattern_prefixes.literal_beginning(pattern) == beginning


@pytest.mark.parametrize(
    ('pattern', 'text', 'is_compiled'),
    [
        ('INTEL SSDSC2[BC]W[0-9]{3}A3.*', 'INTEL SSDSC2BB240G4', False),
        ('INTEL SSDSC2[BC]B[0-5].*', 'INTEL SSDSC2BB240G4', True),
        ('INTEL SSDSC2[BC]B.*', 'INTEL SSDSC2BB240G4', False),
        ('WDC.*', 'IDC', False),
        ('ACME', 'ACM', False),
        ('ACM[EF]', 'ACM', False),
        ('ACM[EF]?', 'ACM', True),
        ('A.*', 'A\nB', False),
        ('ACME|ADAM', 'ADAM', True),
        ('AC(ME|MA)', 'ACM', False),
        ('(SD|A) [0-9]+.*', 'INTEL 1', False),
        (r'M\.(2|3) .*', 'M.3 1', False),
        ('A|B', 'C', True),
    ],
)
def test_a_pattern_is_compiled_only_where_the_first_places_leave_it_open(
    monkeypatch, pattern, text, is_compiled
):
    """Most patterns of a vendor differ from a model at a place that is a letter or a set of
    letters.
    """
    compiled, real = [], re.fullmatch
    expected = real(pattern, text) is not None
    monkeypatch.setattr(re, 'fullmatch', lambda *words: compiled.append(words) or real(*words))

    assert pattern_prefixes.matches_pattern(pattern, text) is expected
    assert compiled == [(pattern, text)] * is_compiled


def test_the_quick_comparison_agrees_with_re_on_random_patterns():
    """Compiling is skipped for most patterns; that must not change which ones match."""
    rolls = random.Random(11)
    compared = matched = 0
    while compared < 2000:
        pattern = ''.join(rolls.choices(PIECES.split('~'), k=rolls.randint(1, 7)))
        try:
            compiled = re.compile(pattern)
        except re.error:
            continue
        by_beginning = pattern_prefixes.ByBeginning([((pattern,), 1)])
        for _ in range(8):
            text = ''.join(rolls.choices('AB -|(1', k=rolls.randint(0, 5)))
            expected = compiled.fullmatch(text) is not None
            assert pattern_prefixes.matches_pattern(pattern, text) == expected, (pattern, text)
            assert by_beginning.matching(text) == [1] * expected, (pattern, text)
            matched += expected
        compared += 1
    assert matched > 500  # otherwise this has proved little


@pytest.mark.parametrize(
    ('pattern', 'first'),
    [
        ('INTEL .*', 'I'),
        ('S?T1', ''),
        ('S(T|X)1', 'S'),
        (r'\(S[0-9]', '('),
        (r'\[?x', ''),
        (r'\d+', ''),
        ('[0-9]+GB', '0123456789'),
        ('[Mm]icron', 'Mm'),
        ('[A-Z]x', ''),
        ('[^A]x', ''),
        ('[AB]?x', ''),
        (r'(1\.8|2\.5)"', '12'),
        ('(A?B|C)D', ''),
        ('(A|B)?C', ''),
        ('((A|B)|C)D', ''),
        ('(A|B)|C', ''),
        ('(?i:micron)', ''),
        ('', ''),
    ],
)
def test_the_first_characters_are_all_that_a_match_may_start_with(pattern, first):
    assert pattern_prefixes.first_characters(pattern) == first


def test_every_shipped_pattern_tells_its_first_characters():
    """One that does not is compiled by each check of each drive."""
    patterns = [
        pattern
        for what in ('entries', 'advisories')
        for each in SHIPPED[what]
        for pattern in each.get('models', ())
    ]

    assert [pattern for pattern in patterns if not pattern_prefixes.first_characters(pattern)] == []


def test_what_fits_a_model_comes_in_its_order_with_what_fits_all():
    sorted_ = pattern_prefixes.ByBeginning(
        [(('B1', 'A1'), 1), ((), 2), (('C1',), 3), (('A2', '.*1'), 4), (('[AC]1',), 5)]
    )

    assert [sorted_.matching(text) for text in ('A1', 'A2', 'B1', 'C1', 'D', '')] == [
        [1, 2, 4, 5],
        [2, 4],
        [1, 2, 4],
        [2, 3, 4, 5],
        [2],
        [2],
    ]
