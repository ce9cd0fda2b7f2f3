"""What makes a regular expression dangerous though it compiles."""

from __future__ import annotations

import random
import re

import pytest

from smart_attributes.workshop import patterns


@pytest.mark.parametrize(
    ('pattern', 'literals'),
    [
        ('ACME X1', 7),
        ('ACME?', 3),
        ('ACME*', 3),
        ('ACME+', 4),
        ('A{3}', 3),
        ('A{2,}', 2),
        ('(?:AB){2}', 4),
        ('(?:ABC|D)', 1),
        ('(?:ABC|)', 0),
        ('[ABC]X[^]]', 1),
        (r'\d\.\w', 1),
        ('.^$', 0),
        ('(?!ABCD)X', 1),
        ('(?=ABCD)', 0),
        ('(?P<capacity>240)G', 4),
        ('A(?:B(?:CD|E)|FGH)', 3),
        ('(?i)acme', 4),
        ('A[|]B', 2),
        (r'A\|B', 3),
    ],
)
def test_literals_are_the_characters_that_every_match_contains(pattern, literals):
    """Four of them keep an entry from claiming strangers."""
    assert patterns.shape(pattern).literals == literals


@pytest.mark.parametrize(
    'pattern', ['ACME X1', 'ACME [A-Z0-9]+', 'ACME X1[0-9]{3}.*', '(?:ACME|ACNE) X1', 'ACME X1(?:-[0-9]{2}){0,3}', 'AC[|]ME']
)
def test_ordinary_patterns_pass(pattern):
    """What a contributor would write first."""
    assert list(patterns.model_problems(pattern)) == []


@pytest.mark.parametrize('pattern', ['(?:[A-Z]+)+X', '(?:A|AA)*X', '(?:A?){2,}X', '((AB)*C?)+', '(?:(?:A+)B)+', r'(?:\w+\s?)*X'])
def test_repetitions_within_repetitions_are_found(pattern):
    """A model name is what the firmware wants it to be; one of forty characters must not take for ever."""
    assert patterns.shape(pattern).is_nested


def test_a_pattern_that_passes_is_quick_on_hostile_names():
    """The proof that the two rules about repetitions are enough."""
    rolls = random.Random(3)
    pieces = ['A', 'B', '[AB]', '.', '(A|B)', '(?:AB)', '*', '+', '?', '{2,4}', '(', ')', '|', 'X']
    quick = 0
    while quick < 300:
        pattern = ''.join(rolls.choices(pieces, k=10))
        try:
            compiled = re.compile(pattern)
        except re.error:
            continue
        if not list(patterns.runaway_problems(pattern)):
            compiled.fullmatch('AB' * 30 + '!')
            quick += 1
