"""Values of documents from other hosts, case by case: any type, any length."""

import pytest

from smart_attributes.fleet import untrusted
from smart_attributes.model import State

NAN = float('nan')


@pytest.mark.parametrize(
    'given, is_number',
    [
        (0, True),
        (2.5, True),
        (9.9e29, True),
        (1e30, False),
        (-1e30, False),
        (10**400, False),
        (NAN, False),
        (True, False),
        ('7', False),
    ],
)
def test_only_numbers_that_can_be_calculated_with_are_numbers(given, is_number):
    """JSON has true, NaN and numbers of any length."""
    assert untrusted.is_number(given) is is_number


@pytest.mark.parametrize(
    'given, is_point',
    [
        ([1_800_000_000, 16], True),
        ([1_800_000_000.5, -2.5], True),
        ([1_800_000_000], False),
        ([1_800_000_000, 16, 16], False),
        ([1_800_000_000, '16'], False),
        ([True, 16], False),
        ((1_800_000_000, 16), False),
        ('16', False),
        (None, False),
    ],
)
def test_a_point_of_a_history_is_two_numbers(given, is_point):
    assert untrusted.is_point(given) is is_point


def test_long_lists_objects_and_texts_are_cut_off():
    """A host can send a document of megabytes."""
    assert untrusted.pairs_of({str(number): number for number in range(300)})[-1] == (
        '199',
        199,
    )
    assert untrusted.dicts_of([{'a': number} for number in range(300)])[-1] == {
        'a': 199
    }
    assert len(untrusted.text_of('x' * 501) or '') == 500


@pytest.mark.parametrize(
    'given, state',
    [
        ('CRITICAL', State.CRITICAL),
        ('ok', State.UNKNOWN),
        (0, State.UNKNOWN),
        ([], State.UNKNOWN),
    ],
)
def test_what_is_no_state_is_unknown(given, state):
    """A number is not taken for a state: OK is 0."""
    assert untrusted.state_of(given) is state
