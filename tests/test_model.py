"""What the values do that pass from stage to stage: the order of states, addresses, exit status."""

from __future__ import annotations

from itertools import permutations

import pytest

from smart_attributes.errors import DriveError
from smart_attributes.model import Device, Identity, Read, Report, Source, State, worst

MOST_URGENT_FIRST = (State.CRITICAL, State.UNKNOWN, State.WARNING, State.OK)


@pytest.mark.parametrize(
    'states',
    [
        *permutations(MOST_URGENT_FIRST, 2),
        *((state,) for state in State),
        MOST_URGENT_FIRST,
        MOST_URGENT_FIRST[::-1],
    ],
)
def test_the_worst_state_is_the_most_urgent_whatever_the_order(states):
    """A drive that cannot be read must not hide one that is dying."""
    assert worst(states) is next(state for state in MOST_URGENT_FIRST if state in states)


def test_no_two_states_are_equally_urgent():
    """Lists that are sorted by urgency have one order."""
    assert sorted(State, key=lambda state: -state.urgency) == list(MOST_URGENT_FIRST)
    assert len({state.urgency for state in State}) == len(State)


def test_without_any_state_all_is_well():
    assert worst(()) is State.OK


@pytest.mark.parametrize(
    ('status', 'bits', 'has_any'),
    [
        (None, 0xFF, False),
        (0, 0xFF, False),
        (1, 1, True),
        (1, 0xFE, False),
        (0x40, 0xC0, True),
        (0x41, 1, True),
        (255, 0x80, True),
        (-9, 0xFF, False),
        (-1, 1, False),
    ],
    ids=[
        'unknown',
        'none',
        'lowest',
        'others',
        'one-of-two',
        'among-others',
        'all',
        'signal',
        'signal-one',
    ],
)
def test_a_bit_of_the_exit_status_is_found(status, bits, has_any):
    assert Report(Identity(), exit_status=status).has_exit_bit(bits) is has_any


@pytest.mark.parametrize(
    ('device', 'address'),
    [
        (Device('/dev/sda'), '/dev/sda'),
        (Device('/dev/bus/0', 'megaraid,6'), 'megaraid,6@/dev/bus/0'),
    ],
    ids=['path', 'type'],
)
def test_an_address_has_the_device_type_in_front(device, address):
    assert device.address == address


@pytest.mark.parametrize(
    ('source', 'name'),
    [
        (Source(attribute=233), 'attribute 233'),
        (Source(attribute=0), 'attribute 0'),
        (Source('SMART log'), 'SMART log'),
        (Source('SMART log', 5), 'attribute 5'),
    ],
    ids=['attribute', 'zero', 'log', 'both'],
)
def test_a_source_is_named_by_its_attribute_or_its_log(source, name):
    assert str(source) == name


def test_what_was_read_has_the_identity_of_the_drive_that_answered():
    identity = Identity(model='ACME')

    assert Read(Device('/dev/sda'), Report(identity)).identity is identity
    assert Read(Device('/dev/sda'), DriveError('no answer')).identity is None
