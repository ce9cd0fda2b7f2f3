"""The order in which the drives of a fleet are to be replaced: groups at risk first, their
drives by their labels.
"""

from typing import Any

import pytest

from smart_attributes.fleet import replacement_order
from smart_attributes.fleet.drives import FleetDrive
from smart_attributes.fleet.replacement_order import ReplacementOrder
from smart_attributes.redundancy.replacement import OF_CODE
from smart_attributes.work import actions


def drive(
    host: str,
    name: str = 'sda',
    code: str = '',
    state: str = 'CRITICAL',
    action: str = actions.REPLACE,
    **facts: Any,
) -> FleetDrive:
    """Return a drive. code: of the reason for its place in the order of its host."""
    replacement = (
        {'replacement': {'label': OF_CODE[code][0], 'code': code, 'text': 'x'}}
        if code
        else {}
    )
    return FleetDrive(
        {
            'host': host,
            'name': name,
            'state': state,
            'action': action,
            'serial': f'EXAMPLE{name}',
            'model': None,
            'firmware': None,
            'to_do': action,
            'why': f'EXAMPLE{name} fails',
            **replacement,
            **facts,
        },
        list,
    )


def ordered(drives: list[FleetDrive]) -> list[str]:
    order = ReplacementOrder()
    for each in drives:
        order.add(each)
    return [f'{step.host} {step.drive}' for step in order.steps()]


@pytest.mark.parametrize(
    'action, count',
    [
        (actions.REPLACE, 1),
        (actions.COPY, 1),
        (actions.KEEP, 1),
        (actions.WAIT, 1),
        (actions.REJOIN, 1),
        (actions.ORDER, 0),
        (actions.COOLING, 0),
        (actions.NOTHING, 0),
    ],
)
def test_drives_to_be_replaced_now_or_after_others_are_in_the_order(action, count):
    order = ReplacementOrder()
    order.add(drive('db1', action=action))

    assert len(order.steps()) == count


@pytest.mark.parametrize(
    'drives, names',
    [
        # by state, host and name
        (
            [drive('b'), drive('a', state='WARNING'), drive('a')],
            ['a sda', 'b sda', 'a sda'],
        ),
        (
            [drive('b', 'sda'), drive('a', 'sdb'), drive('a')],
            ['a sda', 'a sdb', 'b sda'],
        ),
        # a host with a group at risk is first, the worst of these before others
        (
            [
                drive('a'),
                drive('b', code='last-good-copy'),
                drive('c', code='data-at-risk'),
            ],
            ['c sda', 'b sda', 'a sda'],
        ),
        # hosts of the same risk by name, with all of their drives
        (
            [
                drive('b', 'sda', 'last-good-copy'),
                drive('a', 'sdb', 'last-good-copy'),
                drive('b', 'sdb', 'last-good-copy'),
                drive('a', 'sda', 'last-good-copy'),
            ],
            ['a sda', 'a sdb', 'b sda', 'b sdb'],
        ),
        # a reason that is not about a risk does not move a drive
        ([drive('b', code='only-swap'), drive('a')], ['a sda', 'b sda']),
        # within a host by label: the one to replace next, to copy, to keep, to wait; one without a
        # label is last
        (
            [
                drive('a', 'sda', 'second-failing-member'),
                drive('a', 'sdb', 'last-good-copy'),
                drive('a', 'sdc'),
                drive('a', 'sdd', 'no-redundancy'),
                drive('a', 'sde', 'replace-next'),
            ],
            ['a sde', 'a sdd', 'a sdb', 'a sda', 'a sdc'],
        ),
    ],
)
def test_the_order_of_drives(drives, names):
    assert ordered(drives) == names
    assert ordered(drives[::-1]) == names


def test_two_drives_of_one_name_are_both_in_the_order():
    """Two results of one host can have the same drive."""
    assert ordered([drive('a', model='X'), drive('a', model='Y')]) == ['a sda', 'a sda']


def test_the_most_urgent_are_kept(monkeypatch):
    """A fleet of any size needs bounded memory."""
    monkeypatch.setattr(replacement_order, 'MOST_GROUPS', 3)
    order, most = ReplacementOrder(), 0
    for number in range(20):
        order.add(
            drive(f'h{number:02}', state='CRITICAL' if number % 5 == 4 else 'WARNING')
        )
        most = max(most, len(order._kept))

    assert most == 6
    assert [step.host for step in order.steps()] == ['h04', 'h09', 'h14']
