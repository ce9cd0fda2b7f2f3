"""The table of triage in its three forms, from rows."""
from __future__ import annotations

import io
import re
import sys

import pytest

from smart_attributes.model import State
from smart_attributes.output import triage_table
from smart_attributes.output.table_cells import DriveRow

BAD = DriveRow(
    State.CRITICAL, 'sdb', 'slot 7', 'ACME X1 LONG', 'SERIAL22', '155 %', 1.0, State.CRITICAL, 'used up',
    '9 %', '61 C', '2.5 y', '200 TB',
    ('replace now', 'it fails'), 'db1')
GOOD = DriveRow(
    State.OK, 'sda', '', 'ACME X1', 'SERIAL1', '3 %', 0.03, State.OK, '2030-01', '', '31 C', '', '', (), 'db2')
PIPE = """\
state     host  drive  bay     model         serial    used   until    spare  temp    age  written  what
CRITICAL  db1   sdb    slot 7  ACME X1 LONG  SERIAL22  155 %  used up    9 %  61 C  2.5 y  200 TB   """ \
    """replace now; it fails
OK        db2   sda            ACME X1       SERIAL1     3 %  2030-01         31 C
"""
WIDE = """\
state     host  drive  bay     model         serial    used            until    spare  temp    age  written  what
CRITICAL  db1   sdb    slot 7  ACME X1 LONG  SERIAL22  ████████ 155 %  used up    9 %  61 C  2.5 y  200 TB   """ \
    """replace now; it fails
OK        db2   sda            ACME X1       SERIAL1   █░░░░░░░   3 %  2030-01         31 C
"""
NARROW = """\
CRITICAL  db1 sdb  slot 7  ACME X1 LONG  SERIAL22
          ████████ 155 %  until used up  spare 9 %  61 C  2.5 y  200 TB
          replace now; it fails
OK        db2 sda  ACME X1  SERIAL1
          █░░░░░░░   3 %  until 2030-01             31 C
"""
NARROW_PIPE = """\
CRITICAL  db1 sdb  slot 7  ACME X1 LONG  SERIAL22
          155 %  until used up  spare 9 %  2.5 y  200 TB
          replace now; it fails
OK        db2 sda  ACME X1  SERIAL1
            3 %  until 2030-01
"""
ONE = 'state  drive  model    serial   used  until    temp  what\nOK     sda    ACME X1  SERIAL1  3 %   2030-01  31 C\n'


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

    def of(rows, columns=None, is_terminal=False, told=()):
        if columns:
            monkeypatch.setenv('COLUMNS', str(columns))
        output = Terminal() if is_terminal else io.StringIO()
        with monkeypatch.context() as patch:
            patch.setattr(sys, 'stdout', output)
            triage_table.print_rows(rows, told)
        return output.getvalue()

    return of


def plain(text):
    """Return text without colours, and without the blanks that fill its lines."""
    return re.sub('\x1b\\[[0-9;]*m| +(?=\n)', '', re.sub('\x1b\\[[0-9;]*m', '', text))


@pytest.mark.parametrize('columns, is_terminal, text', [
    (None, False, PIPE), (200, True, WIDE), (80, True, NARROW), (60, False, NARROW_PIPE)],
    ids=['pipe', 'wide-terminal', 'narrow-terminal', 'narrow-pipe'])
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
    assert '\x1b[32mOK' in text and '\x1b[32m█░░░░░░░\x1b[0m   3 %' in text
    assert ('\x1b[1;31m          replace now; it fails' in text) is (columns == 80)
    assert ('\x1b[1;31mdb1 sdb\x1b[0m\x1b[39m  slot 7' in text) is (columns == 80)


def test_sentences_about_the_run_stand_first_in_their_colour(printed):
    told = [(State.CRITICAL, 'sdc is gone'), (State.UNKNOWN, 'f' * 600)]

    assert printed([GOOD], 600, False, told).splitlines()[:2] == ['sdc is gone', 'f' * 497 + '...']
    assert printed([], 600, True, told).startswith('\x1b[1;31msdc is gone\x1b[0m\n\x1b[35mf')
    assert printed([], 600, False, told[:1]) == 'sdc is gone\n'


@pytest.mark.parametrize('columns, kept', [(62, ['spare', 'temp', 'age']), (61, ['spare', 'age']),
                                           (56, ['spare', 'age']), (55, ['age']), (45, ['age']), (44, [])])
def test_a_narrow_screen_does_without_some_numbers(printed, columns, kept):
    fields = {'spare': 'spare 9 %', 'temp': '61 C', 'age': '2.5 y'}
    line = printed([BAD, GOOD], columns).splitlines()[1]

    assert [name for name, text in fields.items() if text in line] == kept


def test_a_name_that_is_long_takes_a_quarter_of_the_width(printed):
    lines = printed([BAD, GOOD._replace(drive='sdaaaaaaaaaaaaaaaaaaaaa')], 60).splitlines()

    assert lines[0] == 'CRITICAL  db1 sdb          slot 7  ACME X1 LONG  SERIAL22'
    assert lines[3] == 'OK        db2 sdaaaaaaaaaaaaaaaaaaaaa  ACME X1  SERIAL1'
