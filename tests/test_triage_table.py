"""The table of triage in its three forms, from rows."""

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
    '2030-01',
    '',
    '31 C',
    '',
    '',
    (),
    'db2',
)
WIDE = (
    """\
state     host  drive  bay     model         serial     used  worn out  spare  temp    age  written  what
CRITICAL  db1   sdb    slot 7  ACME X1 LONG  SERIAL22  155 %  used up     9 %  61 C  2.5 y  200 TB   """
    """replace now; it-fails
OK        db2   sda            ACME X1       SERIAL1     3 %  2030-01          31 C
"""
)
NARROW = """\
state     host  drive  bay      used  worn out  spare  temp    age  written
CRITICAL  db1   sdb    slot 7  155 %  used up     9 %  61 C  2.5 y  200 TB
          ACME X1 LONG, SERIAL22: replace now; it-fails
OK        db2   sda              3 %  2030-01          31 C
"""
NARROWER = """\
state     host  drive  bay      used  worn out  temp    age
CRITICAL  db1   sdb    slot 7  155 %  used up   61 C  2.5 y
          ACME X1 LONG, SERIAL22: replace now; it-fails
OK        db2   sda              3 %  2030-01   31 C
"""
# each cell as wide as its column, or narrower
OTHER = GOOD._replace(
    host='db12', until='~2031', spare='100 %', temp='9 C', age='10.5 y', written='3 GB'
)
ALIGNED = """\
state     host  drive  bay      used  worn out  spare  temp     age
CRITICAL  db1   sdb    slot 7  155 %  used up     9 %  61 C   2.5 y
          ACME X1 LONG, SERIAL22: replace now; it-fails
OK        db12  sda              3 %  ~2031     100 %   9 C  10.5 y
"""
ONE = (
    'state  drive  model    serial   used  worn out  temp  what\nOK     sda    ACME X1  '
    'SERIAL1   3 %  2030-01   31 C\n'
)


class Terminal(io.StringIO):
    """Standard output that is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def printed(monkeypatch):
    """Return what is printed of rows."""
    for name in ('FORCE_COLOR', 'TTY_COMPATIBLE', 'NO_COLOR', 'COLUMNS'):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv('TERM', 'xterm')

    def of(rows, columns=None, is_terminal=False, messages=()):
        if columns:
            monkeypatch.setenv('COLUMNS', str(columns))
        output = Terminal() if is_terminal else io.StringIO()
        with monkeypatch.context() as patch:
            patch.setattr(sys, 'stdout', output)
            triage_table.print_rows(rows, messages)
        return output.getvalue()

    return of


def plain(text):
    """Return text without colours, and without the blanks that fill its lines."""
    return re.sub(' +(?=\n)', '', re.sub('\x1b\\[[0-9;]*m', '', text))


@pytest.mark.parametrize(
    'rows, columns, text',
    [
        ([BAD, GOOD], 200, WIDE),
        ([BAD, GOOD], 80, NARROW),
        ([BAD, GOOD], 60, NARROWER),
        ([BAD, OTHER], 67, ALIGNED),
        ([BAD, OTHER], 75, ALIGNED),
    ],
    ids=['wide', 'narrow', 'narrower', 'aligned-in-just-enough', 'aligned-in-more'],
)
def test_the_table_has_the_form_that_its_width_allows(printed, rows, columns, text):
    """On a terminal, and in a pipe without colours and blanks at the end of a line; a number ends,
    and a word starts, where those of the other drives do.
    """
    assert plain(printed(rows, columns, is_terminal=True)) == text
    assert printed(rows, columns) == text


def test_a_pipe_gets_one_line_for_each_drive(printed):
    assert printed([BAD, GOOD]) == WIDE


def test_a_column_that_no_drive_has_is_left_out(printed):
    assert printed([GOOD._replace(host='')], 200) == ONE


@pytest.mark.parametrize('columns', [200, 80])
def test_a_drive_has_the_colour_of_its_state(printed, columns):
    text = printed([BAD, GOOD], columns, True)

    assert text.startswith('\x1b[1mstate ')
    assert '\x1b[1;91mCRITICAL\x1b[0m  db1' in text and '\x1b[32mOK\x1b[0m  ' in text


def test_sentences_about_the_run_stand_first_in_their_colour(printed):
    messages = [
        (State.CRITICAL, 'sdc is gone'),
        (State.UNKNOWN, 'f' * 600),
        (State.WARNING, 'w'),
    ]

    assert printed([GOOD], 600, False, messages).splitlines()[:2] == [
        'sdc is gone',
        'f' * 497 + '...',
    ]
    assert printed([], 600, True, messages).startswith(
        '\x1b[1;91msdc is gone\x1b[0m\n\x1b[94mf'
    )
    assert printed([], 600, True, messages[2:]) == '\x1b[33mw\x1b[0m\n'
    assert printed([], 600, False, messages[:1]) == 'sdc is gone\n'


@pytest.mark.parametrize('is_terminal', [True, False])
def test_no_width_cuts_a_finding_or_a_line(printed, is_terminal):
    """At each width, the columns that have no room are left out whole."""
    long = BAD._replace(
        what=('a finding of several words', 'another finding', 'x' * 20)
    )
    forms = set()
    for columns in range(40, 200):
        lines = plain(printed([long, GOOD], columns, is_terminal)).splitlines()
        text = ' '.join(' '.join(lines).split())

        assert max(map(len, lines)) <= columns and '…' not in text
        assert all(
            word in text.split()
            for words in long.what
            for word in words.rstrip(';').split()[:-1]
        )
        assert text.count('sdb') == text.count('sda') == 1
        forms.add(tuple(lines[0].split()))

    assert len(forms) >= 6


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
