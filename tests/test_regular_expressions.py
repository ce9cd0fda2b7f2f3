"""Which regular expressions of a person can be used, and end on every text."""
from __future__ import annotations

import contextlib
import json
import random
import re
import time

import pytest
from conftest import ROOT, drive_path, run

from smart_attributes.knowledge import data_errors, regular_expressions

HGST = drive_path('hgst-failed')


@pytest.mark.parametrize(('pattern', 'literals'), [
    ('ACME X1', 7),
    ('ACME?', 3), ('ACME*', 3), ('ACME+', 4), ('A{3}', 3), ('A{2,}', 2), ('(?:AB){2}', 4),
    ('(?:ABC|D)', 1), ('(?:ABC|)', 0),
    ('[ABC]X[^]]', 1), (r'\d\.\w', 1), ('.^$', 0), ('(?!ABCD)X', 1), ('(?=ABCD)', 0), ('(?P<capacity>240)G', 4),
    ('A(?:B(?:CD|E)|FGH)', 3),
    ('(?i)acme', 4), ('A[|]B', 2), (r'A\|B', 3), ('A{}', 3), ('{}', 2), ('A{,}', 0), ('A(?#of B)', 1),
    ('(?P<n>A)(?P=n)', 1), ('(A)?(?(1)BC|DEF)', 2), ('(?-i:AB)', 2), ('(?i-s:AB)', 2)])
def test_literals_are_the_characters_that_every_match_contains(pattern, literals):
    """Four of them keep an entry from claiming strangers."""
    assert regular_expressions.shape(pattern).literals == literals


@pytest.mark.parametrize('pattern',
                         ['(?:[A-Z]+)+X', '(?:A+)(?#once)+X', '(?:A|AA)*X', '(?:A?){2,}X', '((AB)*C?)+',
                          '(?:(?:A+)B)+', r'(?:\w+\s?)*X'])
def test_repetitions_within_repetitions_are_found(pattern):
    """A model name is what the firmware wants it to be; one of forty characters must not take for ever."""
    assert regular_expressions.shape(pattern).is_nested


@pytest.mark.parametrize(('pattern', 'words'), [
    ('Gr(a+)+X', 'has a repetition inside another'),
    ('(a{1,40}){1,40}X', 'unlimited repetitions'),
    ('.*.*.*.*.*X', 'has 5 unlimited repetitions; use at most 4'),
    ('(a?){40}X', 'so many alternatives and repetitions'),
    ('(?:(?:(?:){1000}){1000}){1000}', 'so many alternatives and repetitions'),
    ('a{99999999999}', 'is not a valid regular expression: '),
    ('(' * 3000 + ')' * 3000, 'is not a valid regular expression: '),
    ('[0-9', 'is not a valid regular expression: unterminated character set')])
def test_what_cannot_be_used_is_said(pattern, words):
    """Before it meets a name: Python's engine cannot be stopped."""
    assert words in regular_expressions.fault(pattern)


def test_a_repetition_in_another_is_refused_with_what_to_write():
    assert regular_expressions.fault('Gr(a+)+X') == (
        'has a repetition inside another, which can take forever on some names; use one level, like [A-Z0-9]+')


def test_a_condition_on_an_unknown_group_is_refused():
    """Python 3.9 raises another error there than all newer versions."""
    assert regular_expressions.fault('(?(1)A)').startswith('is not a valid regular expression: ')


def test_whatever_compiles_has_a_shape():
    """A site may write what nobody thought of, such as "{}", which is two characters; it must end no check."""
    rolls = random.Random(3)
    pieces = ['{}', '{', '}', '{,}', '{2}', '*', '+', '?', '(', ')', '(?:', '(?#x)', '(?-i:', '(?(1)', '(?P=n)', '|',
              'A', r'\d', '[ab]', '(?=', '(?<=', '(?P<n>', r'\1', '.', '^', '(?i)']
    shapes = []
    while len(shapes) < 2000:
        pattern = ''.join(rolls.choices(pieces, k=rolls.choice([1, 2, 3, 4, 5, 6])))
        with contextlib.suppress(re.error, RuntimeError):
            re.compile(pattern)
            shapes.append(regular_expressions.shape(pattern))

    assert all(shape.size > 0 for shape in shapes)


def test_every_shipped_pattern_can_be_used():
    """What the data have is what the rule must admit."""
    data = json.loads((ROOT / 'attributes.json').read_text())

    assert [(pattern, regular_expressions.fault(pattern)) for _, _, pattern in data_errors.patterns(data)
            if regular_expressions.fault(pattern)] == []


def test_a_pattern_that_passes_is_quick_on_hostile_names():
    """The proof that the rules about repetitions are enough."""
    rolls = random.Random(3)
    pieces = ['A', 'B', '[AB]', '.', '(A|B)', '(?:AB)', '*', '+', '?', '{2,4}', '{1,9}', '.*', '(', ')', '|', 'X']
    quick = 0
    while quick < 300:
        pattern = ''.join(rolls.choices(pieces, k=rolls.choice([10, 20, 30])))
        if regular_expressions.fault(pattern):
            continue
        before = time.process_time()
        re.fullmatch(pattern, 'AB' * 20 + '!')
        re.fullmatch(pattern, 'A' * 40)
        assert time.process_time() - before < 5, pattern
        quick += 1


@pytest.mark.parametrize('pattern', ['(' * 3000 + ')' * 3000, 'a{99999999999}'], ids=['deep', 'huge'])
def test_such_a_pattern_on_the_command_line_is_a_mistake_with_a_sentence(pattern):
    """Its parser gives up in ways of its own."""
    result = run('--report', HGST, '--match', pattern, timeout=20)

    assert (result.code, len(result.text.splitlines())) == (3, 1)
    assert 'is not a valid regular expression' in result.text


@pytest.mark.parametrize(('pattern', 'shape'), [
    ('', (0, 0, False, 0, 1)), ('ABC', (3, 0, False, 0, 3)), ('A{3}', (3, 0, False, 0, 3)),
    ('A{1,3}', (1, 0, False, 2, 3)), ('A{,4}', (0, 0, False, 3, 4)), ('A{1,40}', (1, 1, False, 0, 40)),
    ('A|B', (1, 0, False, 1, 2)), ('(?:A|B|C)', (1, 0, False, 2, 3)), ('A*', (0, 1, False, 0, 1)),
    ('(?:A?B){2}', (2, 0, False, 2, 4))])
def test_a_pattern_is_counted_as_if_its_repetitions_were_written_out(pattern, shape):
    """Literals, repetitions without end, nesting, choices, parts."""
    assert regular_expressions.shape(pattern) == shape


@pytest.mark.parametrize(('pattern', 'fault'), [
    ('(?:a?){24}', False), ('(?:a?){25}', True), ('a{10000}', False), ('a{10001}', True)])
def test_a_pattern_at_its_limits_can_be_used(pattern, fault):
    words = ('has so many alternatives and repetitions that it can take forever on some names; write several simpler '
             'ones')

    assert regular_expressions.fault(pattern) == (words if fault else '')


@pytest.mark.parametrize(('length', 'quoted'), [(60, f'"{"a" * 60}"'), (61, f'"{"a" * 60}…"')])
def test_a_long_pattern_is_quoted_in_part(length, quoted):
    assert regular_expressions.quoted('a' * length) == quoted
