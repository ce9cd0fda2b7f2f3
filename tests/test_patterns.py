"""Which regular expressions of a data file can be used, and that matching ends on every text."""

import json
import random
import re

import pytest
from conftest import ROOT

from smart_attributes import alarm
from smart_attributes.knowledge import data_errors, patterns


@pytest.mark.parametrize(
    ('pattern', 'words'),
    [
        ('a{99999999999}', 'expression: '),
        ('(' * 3000 + ')' * 3000, 'expression: '),
        ('(?:(?:(?:){1000}){1000}){1000}X', 'repeats '),
        ('[0-9', 'expression: unterminated'),
        ('(?(1)A)', 'expression: '),
    ],
    ids=['huge', 'deep', 'memory', 'set', 'unknown-group'],
)
def test_what_cannot_be_used_is_said(pattern, words):
    """Python 3.9 raises another error for an unknown group than newer versions."""
    assert words in patterns.error_in(pattern)


def test_every_shipped_pattern_can_be_used():
    data = json.loads((ROOT / 'attributes.json').read_text())

    assert [
        pattern
        for *_, pattern in data_errors.patterns(data)
        if patterns.error_in(pattern)
    ] == []


@pytest.mark.parametrize(
    'pattern', ['(a+)+X', '(a{1,40}){1,40}X', '(?:(?:a?){1000}){1000}X']
)
def test_a_pattern_that_never_ends_is_ended_once_and_not_used_again(
    pattern, monkeypatch
):
    """Without a time limit of the command, too."""
    monkeypatch.setattr(patterns, '_too_slow', {})
    monkeypatch.setattr(patterns, 'MATCHING_TIME', 0.1)
    alarm.obey()

    assert not patterns.fits(pattern, 'a' * 60)
    assert not patterns.fits(pattern, 'aX')
    (sentence,) = patterns.too_slow()
    assert f' "{pattern}" with "aaa' in sentence


@pytest.mark.parametrize(
    ('pattern', 'text', 'expected'),
    [
        ('ACME.*', 'ACME X1', True),
        ('ACME', 'ACME X1', False),
        ('(a+)+', 'a' * 60, True),
    ],
)
def test_a_pattern_that_ends_is_matched_with_the_whole_text(pattern, text, expected):
    assert patterns.fits(pattern, text) is expected
    assert patterns.too_slow() == []


@pytest.mark.parametrize(
    ('length', 'quoted'), [(60, f'"{"a" * 60}"'), (61, f'"{"a" * 60}…"')]
)
def test_a_long_pattern_is_quoted_in_part(length, quoted):
    assert patterns.quoted('a' * length) == quoted


# --- models ---------------------------------------------------------------------------------------

# Pieces of patterns, between tildes.
PIECES = (
    r'A~B~ ~-~[AB]~[^A]~[|]~[(]~[]]~(A|B)~(A1|B)~[0-9]~[1B]~(?:AB|)~|~?~*~{0,1}~{2}~+~\|~\(~.~.*~'
    r'(A[B1]|B.*)~(A\.|B)~(A|B)+~(A[|]B|A)~1'
)


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
        if patterns.has_top_level_bar(pattern):
            continue
        for _ in range(8):
            text = ''.join(rolls.choices('AB -|(1', k=rolls.randint(0, 5)))
            expected = compiled.fullmatch(text) is not None
            assert patterns.matches_pattern(pattern, text) == expected, (pattern, text)
            matched += expected
        compared += 1
    assert matched > 300  # otherwise this has proved little


@pytest.mark.parametrize(
    ('pattern', 'text', 'is_compiled'),
    [
        ('INTEL SSDSCKW[0-9]{3}A3.*', 'INTEL SSDSC2BB240G4', False),
        ('INTEL SSDSC2[BC]B[0-5].*', 'INTEL SSDSC2BB240G4', True),
        ('WDC.*', 'IDC', False),
        ('ACME?', 'ACM', True),
        ('(SD|A) [0-9]+.*', 'INTEL 1', False),
        (r'(1\.8|2\.5)"? SSD', '1.5" SSD', False),
        ('(SD|INTEL) [0-9]+.*', 'INTEL 1', True),
        ('(SD|A)?INTEL', 'INTEL', True),
        ('[0-9]+GB', 'INTEL 1', False),
        ('[0-9]*INTEL', 'INTEL', True),
    ],
)
def test_a_pattern_is_compiled_only_for_a_text_that_begins_with_its_letters(
    monkeypatch, pattern, text, is_compiled
):
    """Compiling all of them takes longer than a check."""
    compiled, real = [], re.fullmatch
    monkeypatch.setattr(
        re, 'fullmatch', lambda *words: compiled.append(words) or real(*words)
    )
    patterns.matches_pattern(pattern, text)

    assert compiled == ([(pattern, text)] if is_compiled else [])


@pytest.mark.parametrize(
    ('pattern', 'has_bar'),
    [('ABC|DEF', True), ('A(BC|DE)', False), ('AB[|]CD', False), (r'AB\|CD', False)],
)
def test_a_bar_that_joins_whole_patterns_is_told(pattern, has_bar):
    assert patterns.has_top_level_bar(pattern) is has_bar
