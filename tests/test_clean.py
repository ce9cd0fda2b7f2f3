"""Strings that a drive made up, before they reach a line of output."""

import pytest

from smart_attributes.words import LIMIT, argument, clean, sentence, visible

HOSTILE = [
    ('INTEL SSDSC2BB240G4', 'INTEL SSDSC2BB240G4'),
    ('', ''),
    ('Größe 5 µm', 'Größe 5 µm'),
    ('  two   blanks ', 'two blanks'),
    ('two  blanks', 'two blanks'),
    ('a|b', 'a b'),  # a bar begins perfdata
    ('<script>x</script>', 'script x /script'),
    ('a$(reboot)`reboot`"b\\c', 'a (reboot) reboot b c'),  # what a shell obeys
    ("x'=9;1;2", 'x 9;1;2'),  # a label
    ('OK\nCRITICAL', 'OK CRITICAL'),
    ('a\r\nb\tc\x00d\x7fe', 'a b c d e'),
    ('\x1b[31mred\x1b[0m', 'red'),
    ('\x1b]0;owned\x07title', 'title'),
    ('\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\', 'link'),
    ('\x9b2Jgone', 'gone'),  # a control sequence of eight bits
    ('\x1bPq#0\x1b\\sixel', 'sixel'),  # a device control string
    ('cut\x1b', 'cut'),
    ('SN\u202e4321', 'SN 4321'),  # right to left
    ('A\u200bB\u2060C\ufeff', 'A B C'),  # of no width
    ('line\u2028para\u2029', 'line para'),
    ('\u3164\u2800', ''),  # printable, but invisible
    ('bad\udc80byte', 'bad byte'),
]


@pytest.mark.parametrize('text, expected', HOSTILE, ids=ascii)
def test_a_string_becomes_one_harmless_line(text, expected):
    """The daemon splits at | ' = and line breaks, a terminal obeys escape sequences. Text passes
    through more than one place that cleans.
    """
    assert clean(text) == clean(clean(text)) == expected


@pytest.mark.parametrize(
    'name', ['/srv/data-1', 'vg0/lv_home', '/media/a@b:c%d+e', 'x' * 80]
)
def test_a_harmless_name_is_a_word_of_a_command(name):
    assert argument(name, 'POOL') == name


@pytest.mark.parametrize(
    'name',
    ['', 'größe', 'a\n', '-f', 'x' * 81, *(f'a{sign}b' for sign in ' $`;\n\'"|&~*')],
)
def test_any_other_name_is_replaced_in_a_command(name):
    """Quotes would not be enough: a daemon removes them from its notifications."""
    assert argument(name, 'POOL') == 'POOL'


def test_every_other_sign_of_ascii_stays():
    """A model of signs is strange, and what is printed is what --match has to find."""
    signs = [chr(code) for code in range(33, 127)]

    assert [sign for sign in signs if clean(f'a{sign}b') != f'a{sign}b'] == list(
        '"$\'<=>\\`|'
    )


def test_a_sentence_keeps_its_quotes_and_may_not_hold_a_bar():
    """An error names a pattern or a file as it is written; a bar would begin perfdata."""
    assert sentence('a|"c=1" \'\\d$ <b> `\n\x1b[2Je', 99) == 'a "c=1" \'\\d$ b e'
    assert sentence('M' * 300, 40) == 'M' * 37 + '...'


def test_a_path_keeps_every_sign_that_can_be_seen():
    """It is pasted after -d."""
    assert visible("/a  b'=|<\n\x1b[2J\u202e>") == "/a  b'=|<  >"


def test_a_long_string_is_shortened_and_says_so():
    """A model of 300 characters must not push perfdata off the line; callers ask for narrow
    columns too. What takes the place of other signs does not count.
    """
    assert clean('M' * 300) == 'M' * (LIMIT - 3) + '...'
    assert [len(clean('M' * 300, limit)) for limit in (0, 1, 3, 4, 200)] == [
        0,
        1,
        3,
        4,
        200,
    ]
    assert clean('M' * LIMIT) == clean('|' + 'M' * LIMIT) == 'M' * LIMIT
