"""What an acknowledgement of a file says."""

import pytest

from smart_attributes.knowledge import thresholds
from smart_attributes.knowledge.thresholds import Acknowledgement
from smart_attributes.work import dates


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
    assert dates.is_day(text) is is_day


def test_an_acknowledgement_of_a_file_has_its_notes_and_its_file():
    """What a note does not say is empty, not absent."""
    override = {
        'for': {'serial': 'S1'},
        'why': 'stable',
        'metrics': {'pending': {'acknowledged': 8}},
    }

    assert list(thresholds.from_override(override, 'site.json')) == [
        Acknowledgement('S1', 'pending', 8.0, 'stable', origin='site.json')
    ]
