"""What the values do that pass from stage to stage: the order of states, addresses, exit status."""

from itertools import permutations

import pytest

from smart_attributes.errors import DriveError
from smart_attributes.model import Device, Identity, Read, Report, Source, State, worst

MOST_URGENT_FIRST = (State.CRITICAL, State.UNKNOWN, State.WARNING, State.OK)


@pytest.mark.parametrize('states', [*permutations(MOST_URGENT_FIRST, 2)])
def test_the_worst_state_is_the_most_urgent_whatever_the_order(states):
    """A drive that cannot be read must not hide one that is dying. Without any, all is well."""
    assert worst(states) is min(states, key=MOST_URGENT_FIRST.index)
    assert worst(()) is State.OK


def test_no_two_states_are_equally_urgent():
    """Lists that are sorted by urgency have one order."""
    assert sorted(State, key=lambda state: -state.urgency) == list(MOST_URGENT_FIRST)
    assert len({state.urgency for state in State}) == len(State)


@pytest.mark.parametrize(
    ('status', 'bits', 'has_any'),
    [
        (None, 0xFF, False),
        (0, 0xFF, False),
        (1, 0xFE, False),
        (0x41, 1, True),
        (255, 0x80, True),
    ],
)
def test_a_bit_of_the_exit_status_is_found(status, bits, has_any):
    assert Report(Identity(), exit_status=status).has_exit_bit(bits) is has_any


def test_an_address_has_the_device_type_in_front():
    assert Device('/dev/sda').address == '/dev/sda'
    assert Device('/dev/bus/0', 'megaraid,6').address == 'megaraid,6@/dev/bus/0'


def test_a_source_is_named_by_its_attribute_or_its_log():
    sources = [Source(attribute=0), Source('SMART log'), Source('SMART log', 5)]

    assert [str(source) for source in sources] == [
        'attribute 0',
        'SMART log',
        'attribute 5',
    ]


def test_what_was_read_has_the_identity_of_the_drive_that_answered():
    identity = Identity(model='ACME')

    assert Read(Device('/dev/sda'), Report(identity)).identity is identity
    assert Read(Device('/dev/sda'), DriveError('no answer')).identity is None
