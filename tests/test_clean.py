"""Strings that a drive made up, before they reach a line of output."""

from __future__ import annotations

import pytest

from smart_attributes.words import LIMIT, argument, clean, sentence, visible

HOSTILE = [
    pytest.param('INTEL SSDSC2BB240G4', 'INTEL SSDSC2BB240G4', id='ok-usual-model'),
    pytest.param('', '', id='ok-empty'),
    pytest.param('Größe 5 µm', 'Größe 5 µm', id='ok-letters-of-other-languages'),
    pytest.param('  two   blanks ', 'two blanks', id='blanks-collapsed'),
    pytest.param('two  blanks', 'two blanks', id='two-blanks-inside'),
    pytest.param('a|b', 'a b', id='pipe-starts-perfdata'),
    pytest.param('<script>x</script>', 'script x /script', id='tags-of-a-page'),
    pytest.param('a$(reboot)`reboot`"b\\c', 'a (reboot) reboot b c', id='what-a-shell-obeys'),
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


@pytest.mark.parametrize(
    'name', ['tank', '/srv/data-1', 'vg0/lv_home', '/media/a@b:c%d+e', 'x' * 80]
)
def test_a_harmless_name_is_a_word_of_a_command(name):
    assert argument(name, 'POOL') == name


@pytest.mark.parametrize(
    'name',
    [
        '',
        'a b',
        '$(reboot)',
        '`reboot`',
        'a;reboot',
        'a\nreboot',
        'a\n',
        '-f',
        "it's",
        'a"b',
        'a|b',
        'a&b',
        '~',
        '*',
        'größe',
        'x' * 81,
    ],
)
def test_any_other_name_is_replaced_in_a_command(name):
    """Quotes would not be enough: a daemon removes them from its notifications."""
    assert argument(name, 'POOL') == 'POOL'


def test_every_other_sign_of_ascii_stays():
    """A model of signs is strange, and what is printed is what --match has to find."""
    signs = [chr(code) for code in range(33, 127)]

    assert [sign for sign in signs if clean(f'a{sign}b') != f'a{sign}b'] == list('"$\'<=>\\`|')


def test_a_sentence_keeps_its_quotes_and_may_not_hold_a_bar():
    """An error names a pattern or a file as it is written; a bar would begin perfdata."""
    assert sentence('a|b "c=1" \'d\' \\d$ <b> `x`\n\x1b[2Je', 99) == 'a b "c=1" \'d\' \\d$ b x e'
    assert sentence('M' * 300, 40) == 'M' * 37 + '...'


def test_a_path_keeps_every_sign_that_can_be_seen():
    """It is pasted after -d."""
    assert visible("/a  b'=|<\n\x1b[2J\u202e>") == "/a  b'=|<  >"


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
    assert clean('|' + 'M' * LIMIT) == 'M' * LIMIT, (
        'what takes the place of other signs does not count'
    )


def test_cleaning_twice_changes_nothing():
    """Text passes through more than one place that cleans."""
    for text in ('a|b\n\x1b[31mc', 'M' * 300, "it's = \u202e"):
        assert clean(clean(text)) == clean(text)
