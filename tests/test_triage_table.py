"""The table of triage in its three forms, from rows."""

from __future__ import annotations

import io
import re
import sys

import pytest

from smart_attributes.model import State
from smart_attributes.output import triage_table
from smart_attributes.output.triage_table import DriveRow

BAD = DriveRow(
    State.CRITICAL,
    'sdb',
    'slot 7',
    'ACME X1 LONG',
    'SERIAL22',
    '155 %',
    1.0,
    State.CRITICAL,
    'used up',
    '9 %',
    '61 C',
    '2.5 y',
    '200 TB',
    ('replace now', 'it-fails'),
    'db1',
)
GOOD = DriveRow(
    State.OK,
    'sda',
    '',
    'ACME X1',
    'SERIAL1',
    '3 %',
    0.03,
    State.OK,
    '2030-01',
    '',
    '31 C',
    '',
    '',
    (),
    'db2',
)
PIPE = (
    """\
state     host  drive  bay     model         serial    used   until    spare  temp    age  written  what
CRITICAL  db1   sdb    slot 7  ACME X1 LONG  SERIAL22  155 %  used up    9 %  61 C  2.5 y  200 TB   """
    """replace now; it-fails
OK        db2   sda            ACME X1       SERIAL1     3 %  2030-01         31 C
"""
)
WIDE = (
    """\
state     host  drive  bay     model         serial    used            until    spare  temp    age  written  what
CRITICAL  db1   sdb    slot 7  ACME X1 LONG  SERIAL22  ████████ 155 %  used up    9 %  61 C  2.5 y  200 TB   """
    """replace now; it-fails
OK        db2   sda            ACME X1       SERIAL1   █░░░░░░░   3 %  2030-01         31 C
"""
)
NARROW = """\
CRITICAL  db1 sdb  slot 7  ACME X1 LONG  SERIAL22
                   ████████ 155 %  until used up  spare 9 %  61 C  2.5 y  200 TB
          replace now; it-fails
OK        db2 sda  █░░░░░░░   3 %  until 2030-01             31 C  ACME X1
"""
NARROW_PIPE = """\
CRITICAL  db1 sdb  slot 7  ACME X1 LONG  SERIAL22
                   155 %  until used up  2.5 y  200 TB
          replace now; it-fails
OK        db2 sda    3 %  until 2030-01  ACME X1  SERIAL1
"""
OTHER = GOOD._replace(
    host='db12', until='~2031', spare='100 %', temp='9 C', age='10.5 y', written='3 GB'
)
ALIGNED = """\
CRITICAL  db1 sdb   slot 7  ACME X1 LONG  SERIAL22
                    ████████ 155 %  until used up  spare   9 %   2.5 y  200 TB
          replace now; it-fails
OK        db12 sda  █░░░░░░░   3 %  until ~2031    spare 100 %  10.5 y  3 GB
"""
ONE = (
    'state  drive  model    serial   used  until    temp  what\nOK     sda    ACME X1  '
    'SERIAL1  3 %   2030-01  31 C\n'
)


class Terminal(io.StringIO):
    """Standard output that is a terminal."""

    def isatty(self) -> bool:
        return True


class AsciiTerminal(Terminal):
    """A terminal without other characters."""

    encoding = 'ascii'


@pytest.fixture
def printed(monkeypatch):
    """Return what is printed of rows."""
    for name in ('FORCE_COLOR', 'TTY_COMPATIBLE', 'NO_COLOR', 'COLUMNS'):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv('TERM', 'xterm')

    def of(rows, columns=None, is_terminal=False, told=(), terminal=Terminal):
        if columns:
            monkeypatch.setenv('COLUMNS', str(columns))
        output = terminal() if is_terminal else io.StringIO()
        with monkeypatch.context() as patch:
            patch.setattr(sys, 'stdout', output)
            triage_table.print_rows(rows, told)
        return output.getvalue()

    return of


def plain(text):
    """Return text without colours, and without the blanks that fill its lines."""
    return re.sub('\x1b\\[[0-9;]*m| +(?=\n)', '', re.sub('\x1b\\[[0-9;]*m', '', text))


@pytest.mark.parametrize(
    'columns, is_terminal, text',
    [(None, False, PIPE), (200, True, WIDE), (80, True, NARROW), (60, False, NARROW_PIPE)],
    ids=['pipe', 'wide-terminal', 'narrow-terminal', 'narrow-pipe'],
)
def test_the_table_has_the_form_that_its_width_allows(printed, columns, is_terminal, text):
    assert plain(printed([BAD, GOOD], columns, is_terminal)) == text


def test_a_pipe_gets_no_blanks_at_the_end_of_a_line_and_no_colours(printed):
    assert printed([BAD, GOOD]) == PIPE
    assert printed([BAD, GOOD], 60) == NARROW_PIPE


def test_a_column_that_no_drive_has_is_left_out(printed):
    assert printed([GOOD._replace(host='')], 200) == ONE


@pytest.mark.parametrize('columns', [200, 80])
def test_state_and_bar_of_a_drive_have_the_colour_of_their_state(printed, columns):
    text = printed([BAD, GOOD], columns, True)

    assert '\x1b[1;31mCRITICAL' in text and '\x1b[31m████████\x1b[0m 155 %' in text
    assert '\x1b[32mOK' in text and '\x1b[32m█░░░░░░░\x1b[0m' in text
    assert ('\x1b[1;31m          replace now; it-fails' in text) is (columns == 80)
    assert ('\x1b[1;31mdb1 sdb\x1b[0m\x1b[39m  slot 7' in text) is (columns == 80)


def test_sentences_about_the_run_stand_first_in_their_colour(printed):
    told = [(State.CRITICAL, 'sdc is gone'), (State.UNKNOWN, 'f' * 600), (State.WARNING, 'w')]

    assert printed([GOOD], 600, False, told).splitlines()[:2] == ['sdc is gone', 'f' * 497 + '...']
    assert printed([], 600, True, told).startswith('\x1b[1;31msdc is gone\x1b[0m\n\x1b[35mf')
    assert printed([], 600, True, told[2:]) == '\x1b[33mw\x1b[0m\n'
    assert printed([], 600, False, told[:1]) == 'sdc is gone\n'


@pytest.mark.parametrize(
    'columns, kept',
    [
        (71, ['spare', 'temp', 'age']),
        (70, ['spare', 'age']),
        (65, ['spare', 'age']),
        (64, ['age']),
        (54, ['age']),
        (53, []),
    ],
)
def test_a_narrow_screen_does_without_some_numbers(printed, columns, kept):
    fields = {'spare': 'spare 9 %', 'temp': '61 C', 'age': '2.5 y'}
    line = printed([BAD, GOOD], columns).splitlines()[1]

    assert [name for name, text in fields.items() if text in line] == kept


def test_a_name_that_is_long_takes_a_quarter_of_the_width(printed):
    lines = printed([BAD, GOOD._replace(drive='sdaaaaaaaaaaaaaaaaaaaaa')], 60).splitlines()

    assert lines[0] == 'CRITICAL  db1 sdb          slot 7  ACME X1 LONG  SERIAL22'
    assert lines[3] == 'OK        db2 sdaaaaaaaaaaaaaaaaaaaaa    3 %  until 2030-01'


@pytest.mark.parametrize('columns', [79, 80], ids=['just-enough', 'more'])
def test_the_numbers_of_drives_stand_below_each_other_on_a_narrow_terminal(printed, columns):
    """A number ends, and a word starts, where those of the other drives do."""
    assert plain(printed([BAD, OTHER], columns, True)) == ALIGNED


def test_bars_are_of_ascii_where_the_terminal_has_nothing_else(printed):
    ascii_only = ALIGNED.replace('█', '#').replace('░', '-')

    assert plain(printed([BAD, OTHER], 80, True, terminal=AsciiTerminal)) == ascii_only


def test_the_head_of_the_table_and_the_names_of_drives_are_bold(printed):
    assert printed([BAD, GOOD], 200, True).startswith('\x1b[1mstate ')
    assert '\x1b[1;32mdb2 sda\x1b[0m' in printed([BAD, GOOD], 80, True)


@pytest.mark.parametrize(
    'row, columns',
    [
        pytest.param(BAD, 118, id='all-columns'),
        pytest.param(BAD._replace(what=()), 97, id='no-findings'),
        pytest.param(BAD._replace(used='', filled=None), 103, id='no-wear'),
        pytest.param(BAD._replace(what=('x' * 107,)), 133, id='long-finding'),
        pytest.param(BAD._replace(what=('x' * 132,)), 141, id='very-long-finding'),
    ],
)
def test_a_terminal_gets_one_line_per_drive_if_the_table_fits(printed, row, columns):
    """As soon as it fits: not one column earlier or later."""
    headed = [
        printed([row], width, True).startswith('\x1b[1mstate ') for width in (columns - 1, columns)
    ]

    assert headed == [False, True]


@pytest.mark.parametrize(
    'kept, what, width',
    [
        ((), '', 9),
        (('until',), '', 20),
        (('used',), '', 9 + 5 + 1 + 9),
        (('spare',), '', 9 + 5 + 1),
        ((), 'x' * 36, 45),
        ((), 'x' * 110, 45),
        ((), 'x' * 113, 46),
        ((), 'x' * 300, 109),
    ],
    ids=[
        'nothing',
        'wide-value',
        'bar',
        'wide-title',
        'finding',
        'two-lines',
        'three-lines',
        'very-long',
    ],
)
def test_the_width_of_a_table_is_that_of_its_columns_and_of_a_part_of_the_longest_finding(
    kept, what, width
):
    widest = {'bar': 9, 'used': 5, 'until': 10, 'spare': 3}

    assert triage_table._width([GOOD._replace(what=(what,)), GOOD], kept, widest) == width


def test_a_table_without_drives_has_a_width():
    assert triage_table._width([], (), {'bar': 0}) == 9


def test_a_long_finding_is_folded_in_its_column_and_no_character_is_lost(printed):
    """All other columns keep their width."""
    row = BAD._replace(what=('a' * 120 + ' ' + 'b' * 60,))
    head, first, *others = plain(printed([row, GOOD], 160, True)).splitlines()

    assert head.startswith(WIDE.splitlines()[0])
    assert first.startswith(WIDE.splitlines()[1].partition('replace')[0])
    text = ''.join([first, *others])
    assert (text.count('a'), text.count('b')) == (
        120 + 'sda'.count('a'),
        60 + 'db1sdbdb2'.count('b'),
    )
    assert '…' not in text and len(others) > 1


def test_a_long_finding_takes_no_room_from_a_name_of_several_words(printed):
    model = 'ACME' + ' LONG' * 7
    rows = [BAD._replace(model=model, what=('a' * 60 + ' ' + 'b' * 40,)), GOOD]
    columns = next(width for width in range(150, 170) if 'state ' in printed(rows, width, True))

    assert all(
        model in text.splitlines()[1]
        for text in (plain(printed(rows, columns, True)), plain(printed(rows, 170, True)))
    )


def test_what_does_not_fit_on_a_narrow_terminal_is_cut_or_counted(printed):
    """A name that is cut ends in an ellipsis; findings that do not fit are counted."""
    row = BAD._replace(model=f'ACME {"X" * 60}', what=('a' * 30, 'b' * 30, 'c' * 30))
    name, _, findings = plain(printed([row], 60, True)).splitlines()

    assert name == f'CRITICAL  db1 sdb  slot 7  ACME {"X" * 27}…' and len(name) == 60
    assert findings == ' ' * 10 + 'a' * 30 + '; 2 more'


@pytest.mark.parametrize(
    ('host', 'drive', 'widest', 'width', 'line'),
    [
        ('', 'sda', {'drive': 3}, 80, 'OK        sda  ACME X1  SERIAL1'),
        ('', 'sda', {'drive': 6}, 80, 'OK        sda     ACME X1  SERIAL1'),
        ('db2', 'sda', {'drive': 3, 'host': 3}, 80, 'OK        db2 sda  ACME X1  SERIAL1'),
        ('db2', 'sda', {'drive': 6, 'host': 5}, 80, 'OK        db2 sda       ACME X1  SERIAL1'),
        ('', 'sda', {'drive': 30, 'host': 9}, 40, 'OK        sda         ACME X1  SERIAL1'),
        (
            'db2',
            'sdaaaaaaa',
            {'drive': 9, 'host': 3},
            40,
            'OK        db2 sdaaaaaaa  ACME X1  SERIAL1',
        ),
    ],
    ids=[
        'one-drive',
        'a-longer-drive',
        'host',
        'a-longer-host',
        'a-quarter-at-most',
        'longer-than-a-quarter',
    ],
)
def test_the_models_of_drives_stand_below_each_other(host, drive, widest, width, line):
    row = GOOD._replace(host=host, drive=drive)

    assert triage_table._name_line(row, widest, width).plain == line


@pytest.mark.parametrize(
    'signs, bar',
    [(triage_table.NO_BARS, 0), (('#', '-'), 9), (('\u2588', '\u2591'), 9)],
    ids=['pipe', 'ascii', 'terminal'],
)
def test_the_width_of_a_column_is_that_of_its_widest_cell(signs, bar):
    """A character of an Asian script takes two columns."""
    rows = [GOOD._replace(model='磁盤機'), GOOD._replace(used='100 %', model='X1')]

    assert triage_table._widths(rows, ['model', 'used'], signs) == {
        'bar': bar,
        'model': 6,
        'used': 5,
    }


@pytest.mark.parametrize(
    'output, columns, width',
    [
        (io.StringIO, None, 140),
        (Terminal, None, 80),
        (io.StringIO, '100', 100),
        (Terminal, '100', 100),
        (io.StringIO, '1', 40),
        (io.StringIO, '99999', 10_000),
        (io.StringIO, '²', 140),
        (io.StringIO, '-5', 140),
    ],
)
def test_the_width_is_that_of_columns_else_what_suits_the_output(
    monkeypatch, output, columns, width
):
    """A name of COLUMNS that is not a number counts as none; the height never depends on LINES."""
    for name in ('COLUMNS', 'FORCE_COLOR', 'TTY_COMPATIBLE', 'TERM'):
        monkeypatch.delenv(name, raising=False)
    if columns is not None:
        monkeypatch.setenv('COLUMNS', columns)
    monkeypatch.setenv('LINES', '²')
    monkeypatch.setattr(sys, '__stdout__', None)
    monkeypatch.setattr(sys, 'stdout', output())
    found = triage_table.console(140)

    assert (found.width, found.height) == (width, 24)
