"""Strings that a drive made up, before they reach a line of output."""
from __future__ import annotations

import pytest

from smart_attributes.words import LIMIT, clean

HOSTILE = [
    pytest.param('INTEL SSDSC2BB240G4', 'INTEL SSDSC2BB240G4', id='ok-usual-model'),
    pytest.param('', '', id='ok-empty'),
    pytest.param('Größe 5 µm', 'Größe 5 µm', id='ok-letters-of-other-languages'),
    pytest.param('  two   blanks ', 'two blanks', id='blanks-collapsed'),
    pytest.param('a|b', 'a b', id='pipe-starts-perfdata'),
    pytest.param("x'=9;1;2", 'x 9;1;2', id='quote-and-equals-make-a-label'),
    pytest.param('OK\nCRITICAL', 'OK CRITICAL', id='line-break'),
    pytest.param('a\r\nb\tc\x00d\x7fe', 'a b c d e', id='control-characters'),
    pytest.param('\x1b[31mred\x1b[0m', 'red', id='colour'),
    pytest.param('\x1b]0;owned\x07title', 'title', id='window-title'),
    pytest.param('\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\', 'link', id='hyperlink'),
    pytest.param('\x9b2Jgone', 'gone', id='eight-bit-control-sequence'),
    pytest.param('\x1bPq#0\x1b\\sixel', 'sixel', id='device-control-string'),
    pytest.param('cut\x1b', 'cut', id='escape-at-the-end'),
    pytest.param('SN\u202e4321', 'SN 4321', id='right-to-left-override'),
    pytest.param('A\u200bB\u2060C\ufeff', 'A B C', id='zero-width'),
    pytest.param('line\u2028para\u2029', 'line para', id='unicode-line-breaks'),
    pytest.param('\u3164\u2800', '', id='printable-but-invisible'),
    pytest.param('bad\udc80byte', 'bad byte', id='undecodable-byte'),
]


@pytest.mark.parametrize('text, expected', HOSTILE)
def test_a_string_becomes_one_harmless_line(text, expected):
    """The daemon splits at | ' = and line breaks, a terminal obeys escape sequences."""
    assert clean(text) == expected


def test_a_long_string_is_shortened_and_says_so():
    """A model of 300 characters must not push perfdata off the line."""
    cleaned = clean('M' * 300)

    assert len(cleaned) == LIMIT
    assert cleaned.endswith('...')


def test_the_limit_holds_for_any_length():
    """Callers ask for narrow columns too."""
    assert [len(clean('M' * 300, limit)) for limit in (0, 1, 3, 4, 200)] == [0, 1, 3, 4, 200]


def test_a_string_of_exactly_the_limit_is_left_alone():
    """The shortening starts one character later."""
    assert clean('M' * LIMIT) == 'M' * LIMIT


def test_cleaning_twice_changes_nothing():
    """Text passes through more than one place that cleans."""
    for text in ('a|b\n\x1b[31mc', 'M' * 300, "it's = \u202e"):
        assert clean(clean(text)) == clean(text)
