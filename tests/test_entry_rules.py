"""What is wrong with patterns for models, though they can be used."""

from __future__ import annotations

import pytest

from smart_attributes.devtools import entry_rules


@pytest.mark.parametrize(
    'pattern',
    ['ACME X1', 'ACME [A-Z0-9]+', 'ACME X1[0-9]{3}.*', '(?:ACME|ACNE) X1', 'ACME X1(?:-[0-9]{2}){0,3}', 'AC[|]ME']
)
def test_ordinary_patterns_pass(pattern):
    """What a contributor would write first."""
    assert list(entry_rules.pattern_problems(pattern)) == []


BLANKS = 'has blanks at an end or two in a row, which no model has once it is read; remove them'
STAR = 'has * behind a character, which is that character any number of times; write .* for anything'


@pytest.mark.parametrize(('pattern', 'problems'), [
    (' ACME', [BLANKS]), ('ACME ', [BLANKS]), ('ACME  X1', [BLANKS]),
    ('ACME|ACNE', ['is a choice of whole patterns, which costs every check time; write one pattern for each']),
    ('ACME*', [STAR]), ('ACMEz*', [STAR]), ('ACME0*', [STAR]), ('ACME-*', [STAR]), ('ACME_*', [STAR]),
    (r'ACME\d*', []), ('ACME[0-9]*', []), (' ACM*', [BLANKS, STAR]),
    ('ACM', ['can match with 3 literal characters; name at least 4, or it claims strangers, '
             'unless "first" or "only" tells their attributes as well'])])
def test_the_problems_of_a_pattern_are_said(pattern, problems):
    assert list(entry_rules.pattern_problems(pattern)) == problems


def test_a_short_pattern_is_enough_beside_other_conditions():
    assert list(entry_rules.pattern_problems('ACM', is_alone=False)) == []
