"""What `doctor` found, as a screen and as JSON."""
from __future__ import annotations

import json

import pytest

from smart_attributes.output import doctor_findings
from smart_attributes.output.doctor_findings import Examination, Finding, Paste

GOOD = Finding('smartctl', True, 'version 7.3')
BAD = Finding('sudo rule', False, 'missing', 'install it, as root', 'check_smart_attributes sudoers')
OPEN = Finding('/dev/sda', None, 'could not be read')


@pytest.fixture(autouse=True)
def columns(monkeypatch):
    monkeypatch.setenv('COLUMNS', '80')


@pytest.mark.parametrize('found, is_good', [((), True), ((GOOD,), True), ((GOOD, BAD), False), ((GOOD, OPEN), False)])
def test_an_examination_is_good_if_every_finding_is(found, is_good):
    assert Examination('db1', found).is_good is is_good


def test_the_screen_says_what_is_good_and_what_to_do():
    assert doctor_findings.as_text(Examination('db1', [GOOD, BAD, OPEN])) == '\n'.join([
        'db1',
        'good   smartctl   version 7.3',
        'TO DO  sudo rule  missing',
        '       -> install it, as root:',
        '          check_smart_attributes sudoers',
        '-      /dev/sda   could not be read',
        '',
        '1 to do, 1 could not be checked yet: start at the top, then run this again.'])


@pytest.mark.parametrize('found, last', [
    ([GOOD], 'No problems found.'),
    ([BAD, BAD], '2 to do: start at the top, then run this again.'),
    ([OPEN, GOOD], '1 could not be checked yet: start at the top, then run this again.')])
def test_the_last_line_counts_what_is_left(found, last):
    assert doctor_findings.as_text(Examination('db1', found)).splitlines()[-2:] == ['', last]


def test_a_cure_without_a_command_ends_without_a_colon():
    text = doctor_findings.as_text(Examination('db1', [BAD._replace(command='')]))

    assert text.splitlines()[2] == '       -> install it, as root'


def test_no_findings_are_a_title_and_a_summary():
    assert doctor_findings.as_text(Examination('db1', ())) == 'db1\n\nNo problems found.'


@pytest.mark.parametrize('columns, width', [('20', 79), ('80', 79), ('100', 99), ('110', 109), ('300', 109)])
def test_words_are_wrapped_at_the_width_of_the_terminal(monkeypatch, columns, width):
    """Not below 80 columns and not above 110; lines go on below the words."""
    monkeypatch.setenv('COLUMNS', columns)
    _, first, *rest, _, _ = doctor_findings.as_text(Examination('t', [GOOD._replace(words='abcd ' * 60)])).splitlines()

    assert width - 5 < len(first) <= width and len(rest) >= 2
    assert all(line.startswith(' ' * 17 + 'abcd') for line in rest)


def test_a_long_word_is_not_broken():
    """A path is copied from the screen."""
    path = '/very-long' * 12
    assert path in doctor_findings.as_text(Examination('t', [GOOD._replace(words=f'see {path}')])).splitlines()[2]


@pytest.mark.parametrize('subject, start', [('x' * 24, 33), ('x' * 30, 39)])
def test_a_long_subject_widens_the_column_up_to_24(subject, start):
    lines = doctor_findings.as_text(Examination('t', [GOOD, Finding(subject, True, 'words')])).splitlines()

    assert lines[1].index('version') == 33
    assert lines[2].index('words') == start


def test_a_finding_without_words_is_its_subject():
    assert doctor_findings.as_text(Examination('t', [Finding('a', True, '')])).splitlines()[1] == 'good   a'


def test_words_are_cut_after_600_characters():
    text = doctor_findings.as_text(Examination('t', [GOOD._replace(words='word ' * 200)]))

    assert 110 < text.count('word') <= 120


def test_lines_to_paste_stand_below_with_their_place():
    text = doctor_findings.as_text(Examination('db1', [GOOD],
                                               [Paste('NRPE', 'a=1\nb=2'), Paste('sudo\x07ers', 'c\x1b[2J')]))

    assert text.splitlines()[3:] == [
        'No problems found.', 'Lines to paste for these drives:', '  NRPE:', '    a=1', '    b=2',
                                     '  sudo ers:', '    c']


def test_what_has_no_shape_is_not_shown():
    text = doctor_findings.as_text(Examination('d\x07b', [Finding('s\x07', False, 'w\x07w', 'c\x07c', 'x\x07y')]))

    assert text.splitlines()[:4] == ['d b', 'TO DO  s   w w', '       -> c c:', '          x y']


def test_json_says_the_same():
    assert json.loads(doctor_findings.as_json(Examination('db1', [BAD, OPEN], [Paste('NRPE', 'a=1')]))) == {
        'version': 2, 'good': False, 'title': 'db1', 'findings': [
            {'subject': 'sudo rule', 'good': False, 'words': 'missing', 'cure': 'install it, as root',
             'command': 'check_smart_attributes sudoers'},
            {'subject': '/dev/sda', 'good': None, 'words': 'could not be read', 'cure': None, 'command': None}],
        'paste': [{'place': 'NRPE', 'text': 'a=1'}]}
    assert doctor_findings.as_json(Examination('', ())).splitlines()[1] == ' "version": 2,'


@pytest.mark.parametrize('last, lines', [('x' * 59, 1), ('x' * 60, 2)])
def test_a_line_leaves_the_last_column_free(last, lines):
    """18 columns of head, 61 of words, on a terminal of 80."""
    told = doctor_findings.as_text(Examination('t', [GOOD, BAD._replace(words=f'a {last}', cure='',
                                                                        command='')])).splitlines()

    assert len(told) == 2 + lines + 2
