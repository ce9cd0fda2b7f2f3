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
state     host  drive  bay     model         serial    used   worn out  spare  temp    age  written  what
CRITICAL  db1   sdb    slot 7  ACME X1 LONG  SERIAL22  155 %  used up     9 %  61 C  2.5 y  200 TB   """
    """replace now; it-fails
OK        db2   sda            ACME X1       SERIAL1     3 %  2030-01          31 C
"""
)
WIDE = (
    """\
state     host  drive  bay     model         serial    used            worn out  spare  temp    age  written  what
CRITICAL  db1   sdb    slot 7  ACME X1 LONG  SERIAL22  ████████ 155 %  used up     9 %  61 C  2.5 y  200 TB   """
    """replace now; it-fails
OK        db2   sda            ACME X1       SERIAL1   █░░░░░░░   3 %  2030-01          31 C
"""
)
NARROW = """\
state     host  drive  bay     used            worn out  spare  temp    age
CRITICAL  db1   sdb    slot 7  ████████ 155 %  used up     9 %  61 C  2.5 y
          ACME X1 LONG, SERIAL22: replace now; it-fails
OK        db2   sda            █░░░░░░░   3 %  2030-01          31 C
"""
NARROW_PIPE = """\
state     host  drive  bay     used   worn out  temp    age
CRITICAL  db1   sdb    slot 7  155 %  used up   61 C  2.5 y
          ACME X1 LONG, SERIAL22: replace now; it-fails
OK        db2   sda              3 %  2030-01   31 C
"""
OTHER = GOOD._replace(
    host='db12', until='~2031', spare='100 %', temp='9 C', age='10.5 y', written='3 GB'
)
ALIGNED = """\
state     host  drive  bay     used            worn out  spare  temp     age
CRITICAL  db1   sdb    slot 7  ████████ 155 %  used up     9 %  61 C   2.5 y
          ACME X1 LONG, SERIAL22: replace now; it-fails
OK        db12  sda            █░░░░░░░   3 %  ~2031     100 %   9 C  10.5 y
"""
ONE = (
    'state  drive  model    serial   used  worn out  temp  what\nOK     sda    ACME X1  '
    'SERIAL1  3 %   2030-01   31 C\n'
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

    assert '\x1b[1;91mCRITICAL' in text and '\x1b[91m████████\x1b[0m 155 %' in text
    assert '\x1b[32mOK' in text and '\x1b[32m█░░░░░░░\x1b[0m' in text
    assert ('\x1b[1;91m          ACME X1 LONG, SERIAL22: replace' in text) is (columns == 80)


def test_sentences_about_the_run_stand_first_in_their_colour(printed):
    told = [(State.CRITICAL, 'sdc is gone'), (State.UNKNOWN, 'f' * 600), (State.WARNING, 'w')]

    assert printed([GOOD], 600, False, told).splitlines()[:2] == ['sdc is gone', 'f' * 497 + '...']
    assert printed([], 600, True, told).startswith('\x1b[1;91msdc is gone\x1b[0m\n\x1b[94mf')
    assert printed([], 600, True, told[2:]) == '\x1b[33mw\x1b[0m\n'
    assert printed([], 600, False, told[:1]) == 'sdc is gone\n'


@pytest.mark.parametrize('is_terminal', [True, False])
def test_no_width_cuts_a_finding_or_a_line(printed, is_terminal):
    """At each width, the columns that have no room are left out whole."""
    long = BAD._replace(what=('a finding of several words', 'another finding', 'x' * 20))
    forms = set()
    for columns in range(40, 200):
        lines = plain(printed([long, GOOD], columns, is_terminal)).splitlines()
        text = ' '.join(' '.join(lines).split())

        assert max(map(len, lines)) <= columns and '…' not in text
        assert all(
            word in text.split() for words in long.what for word in words.rstrip(';').split()[:-1]
        )
        assert text.count('sdb') == text.count('sda') == 1
        forms.add(tuple(lines[0].split()))

    assert len(forms) >= 6


@pytest.mark.parametrize('columns', [79, 80], ids=['just-enough', 'more'])
def test_the_numbers_of_drives_stand_below_each_other_on_a_narrow_terminal(printed, columns):
    """A number ends, and a word starts, where those of the other drives do."""
    assert plain(printed([BAD, OTHER], columns, True)) == ALIGNED


def test_bars_are_of_ascii_where_the_terminal_has_nothing_else(printed):
    ascii_only = ALIGNED.replace('█', '#').replace('░', '-')

    assert plain(printed([BAD, OTHER], 80, True, terminal=AsciiTerminal)) == ascii_only


def test_the_head_of_the_table_is_bold(printed):
    assert printed([BAD, GOOD], 200, True).startswith('\x1b[1mstate ')
    assert printed([BAD, GOOD], 80, True).startswith('\x1b[1mstate ')


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
