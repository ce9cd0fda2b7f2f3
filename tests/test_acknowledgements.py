"""What an acknowledgement of the command line and of a file says, and what is wrong with a
mistyped one.
"""

from __future__ import annotations

import pytest

from smart_attributes.errors import UsageError
from smart_attributes.knowledge import acknowledgements, thresholds
from smart_attributes.knowledge.thresholds import Acknowledgement

FORM = (
    'must have the form SERIAL:METRIC=VALUE[:UNTIL[:WHY]], such as '
    'EXAMPLE0001:reallocated=3:2027-01-31:stable'
)
NO_NUMBER = (
    'is not a number of at most 30 digits; write one in the base unit of the metric: %, C, seconds, '
    'bytes, a count'
)


@pytest.mark.parametrize(
    'text, words',
    [
        ('S1=3', f' {FORM}'),
        ('S1:reallocated=3:soon', f' {FORM}'),
        ('S1:pending=3:2027-02-30', ': 2027-02-30 is not a date such as 2027-01-31'),
        ('S1:pending=x', f': "x" {NO_NUMBER}'),
        ('S1:temperature=50 \N{DEGREE SIGN}C', f': "50 \N{DEGREE SIGN}C" {NO_NUMBER}'),
        (f'S1:pending={"1" * 31}', f': "{"1" * 31}" {NO_NUMBER}'),
        ('S1:pending=1.2.3', f': "1.2.3" {NO_NUMBER}'),
    ],
)
def test_a_mistyped_acknowledgement_is_answered_with_what_to_write(text, words):
    with pytest.raises(UsageError) as refusal:
        acknowledgements.parse(text)

    assert str(refusal.value) == f'--acknowledged "{acknowledgements.clean(text)}"{words}'


@pytest.mark.parametrize('digits', ['1' * 30, f'{"1" * 30}.{"1" * 30}', '-5'])
def test_a_number_of_thirty_digits_is_taken(digits):
    assert acknowledgements.parse(f'S1:pending={digits}').value == float(digits)


@pytest.mark.parametrize(
    'text, is_day',
    [
        ('2027-01-31', True),
        ('2028-02-29', True),
        ('2027-02-29', False),
        ('2027-1-31', False),
        ('', False),
    ],
)
def test_a_day_is_one_of_the_calendar(text, is_day):
    assert acknowledgements.is_day(text) is is_day


def test_an_acknowledgement_of_a_file_has_its_notes_and_its_file():
    """What a note does not say is empty, not absent."""
    override = {
        'for': {'serial': 'S1'},
        'why': 'stable',
        'metrics': {'pending': {'acknowledged': 8}},
    }

    assert list(thresholds.from_overrides([override], 'site.json')) == [
        Acknowledgement('S1', 'pending', 8.0, 'stable', origin='site.json')
    ]
