"""Drives that come, go and move, by the places that history keeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

import pytest

from smart_attributes.history.drive_records import (
    Change,
    DrivePlace,
    Record,
    Scope,
    changes,
    updated,
    with_successors,
)
from smart_attributes.model import Identity

START = 1_795_000_000
STEP = 300
DAY = 86_400
SDA, SDB = Scope({'/dev/sda'}), Scope({'/dev/sdb'})
SCAN = Scope(is_scan=True)

Run = tuple[int, Scope, dict[str, Optional[int]]]


def after(*runs: Run) -> list[DrivePlace]:
    places: list[DrivePlace] = []
    for now, scope, found in runs:
        newest = max((place.drive for place in places), default=0)
        places = updated(places, found, scope, now, {}, newest)
    return places


def records(first: dict[int, int]) -> dict[int, Record]:
    """Drive -> when history first met it; they came in the order of their numbers."""
    return {
        number: Record(number, Identity(serial=f'S{number}'), time, time, order=number)
        for number, time in first.items()
    }


def kinds(
    places: Sequence[DrivePlace], scope: Scope, now: int, first: dict[int, int]
) -> list[tuple[str, str, int]]:
    return [
        (change.kind, change.place.address, change.place.drive)
        for change in changes(places, records(first), scope, now)
        if now - change.place.gone < DAY
    ]


def test_a_drive_with_another_serial_number_at_its_address_has_replaced_it():
    places = after((START, SDA, {'/dev/sda': 1}), (START + STEP, SDA, {'/dev/sda': 2}))
    first = {1: START, 2: START + STEP}

    [replaced] = changes(places, records(first), SDA, START + STEP)
    left = replaced.place
    assert replaced == Change('replaced', left, successor=2)
    assert (left.address, left.drive, left.first) == ('/dev/sda', 1, START)
    assert (left.gone, left.newest_order) == (START + STEP, 1)
    assert kinds(places, SDA, START + DAY, first) == [('replaced', '/dev/sda', 1)]
    assert kinds(places, SDA, START + STEP + DAY, first) == []


A, B, C = '/dev/sda', '/dev/sdb', '/dev/sdc'
SLOT_0 = 'megaraid,0@/dev/bus/0'
BEHIND = Scope({SLOT_0})
TWO_SERVICES = [(BEHIND, {SLOT_0: 1}), (SDA, {A: 1})] * 3


@pytest.mark.parametrize(
    'runs, scope, news',
    [
        pytest.param(
            [(SCAN, {A: 1, B: 2}), (SCAN, {A: 1}), (SCAN, {A: 1})],
            SCAN,
            [('missing', B, 2)],
            id='missing-although-another-run-has-reported-it',
        ),
        pytest.param(
            [(SCAN, {A: 1}), (SDA, {A: 1}), (SCAN, {})],
            SCAN,
            [('missing', A, 1)],
            id='scanned-then-named',
        ),
        pytest.param(
            [(SDA, {A: 1}), (SCAN, {A: 1}), (SCAN, {})],
            SCAN,
            [('missing', A, 1)],
            id='named-then-scanned',
        ),
        pytest.param(
            [(SCAN, {A: 1, B: 2}), (SCAN, {A: 2})],
            SCAN,
            [('missing', A, 1), ('moved', B, 2)],
            id='letters-that-shift-replace-nothing',
        ),
        pytest.param(
            [(SDA, {A: 1}), (SDB, {B: 2})], SDA, [], id='a-service-for-each-drive'
        ),
        pytest.param(
            [(SDA, {A: 1}), (SDB, {B: 2})], SDB, [], id='and-the-other-service'
        ),
        pytest.param(
            [(BEHIND, {SLOT_0: 1}), (SCAN, {A: 2})], SCAN, [], id='no-scan-finds-it'
        ),
        pytest.param(TWO_SERVICES, SDA, [], id='two-services-for-one-drive'),
        pytest.param(TWO_SERVICES, BEHIND, [], id='and-the-other-one'),
        pytest.param(
            [(SDA, {A: 1}), (BEHIND, {SLOT_0: 1}), (SDA, {})],
            SDA,
            [],
            id='another-service-still-finds-it',
        ),
        pytest.param(
            [(SDA, {A: 1}), (SCAN, {B: 1}), (SCAN, {})],
            SCAN,
            [('missing', B, 1)],
            id='an-address-that-nobody-checks-any-more',
        ),
        pytest.param(
            [(SDA, {A: 1}), (SDA, {A: None})], SDA, [], id='asleep-or-unreadable'
        ),
        pytest.param(
            [(SCAN, {A: 1}), (SCAN, {A: None})], SCAN, [], id='asleep-in-a-scan'
        ),
        pytest.param(
            [(SCAN, {A: 1}), (SCAN, {A: 2}), (SCAN, {C: 2}), (SCAN, {A: 2})],
            SCAN,
            [('replaced', A, 1), ('moved', C, 2)],
            id='a-successor-that-was-elsewhere-in-between',
        ),
    ],
)
def test_what_runs_find_one_after_another_is_news(runs, scope, news):
    places = after(*((START + turn * STEP, *run) for turn, run in enumerate(runs)))

    assert kinds(places, scope, START + len(runs) * STEP, {1: START, 2: START}) == news


def test_a_drive_that_is_found_after_the_clock_was_set_back_has_moved():
    places = after(
        (START, SCAN, {A: 1}),
        (START + 9 * STEP, SCAN, {}),
        (START - STEP, SCAN, {B: 1}),
    )

    [moved] = changes(places, records({1: START}), SCAN, START - STEP)
    assert moved == Change('moved', places[0], now_at=B)
    assert (moved.place.address, moved.place.gone) == (A, START + 9 * STEP)


def test_a_drive_that_comes_back_is_no_longer_missing():
    places = after(
        (START, SDA, {'/dev/sda': 1}),
        (START + STEP, SDA, {}),
        (START + 2 * STEP, SDA, {'/dev/sda': 1}),
    )

    assert kinds(places, SDA, START + 2 * STEP, {1: START}) == []
    here = DrivePlace(
        '/dev/sda', 1, START + 2 * STEP, last=START + 2 * STEP, is_first=True
    )
    assert places == [here]


def at(address: str, drive: int, first: int, gone: int = 0) -> DrivePlace:
    return DrivePlace(address, drive, first, gone, is_scanned=True)


def test_a_drive_that_is_at_two_addresses_has_moved_to_the_newer_one():
    """Places are in the order in which a drive came to them."""
    places = [
        at('/dev/sdc', 1, START, START + STEP),
        at('/dev/sdb', 1, START),
        at('/dev/sda', 1, START + STEP),
    ]

    assert [
        change.now_at
        for change in changes(places, records({1: START}), SCAN, START + 2 * STEP)
    ] == ['/dev/sda']


def test_of_several_places_that_a_drive_has_left_the_last_one_counts():
    """And of those alone where this run looks."""
    left = [
        at('/dev/sdb', 1, START, START + STEP),
        at('/dev/sda', 1, START, START + 2 * STEP),
    ]
    elsewhere = DrivePlace('/dev/sdz', 1, START, START + 3 * STEP)

    for places in ([*left, elsewhere], [elsewhere, *left]):
        assert changes(places, records({1: START}), SCAN, START + 2 * STEP) == [
            Change('missing', left[1])
        ]


def test_what_happened_first_is_told_first_and_at_once_by_address():
    """One line below the other, as it was."""
    gone = [
        at('/dev/sda', 1, START, START + 2 * STEP),
        at('/dev/sdc', 2, START, START + STEP),
        at('/dev/sdb', 3, START, START + STEP),
    ]

    told = changes(
        gone, records({1: START, 2: START, 3: START}), SCAN, START + 2 * STEP
    )
    assert [change.place.drive for change in told] == [3, 2, 1]


# --- successors, and other machines ---------------------------------------------------------------

SAS = 'pci-0000:00:17.0-sas-phy{}-lun-0'
RAID = 'megaraid,{}@/dev/bus/0'


@pytest.mark.parametrize(
    'place, controller, is_removable',
    [
        (DrivePlace('/dev/sda', 1, 0), '', False),
        (DrivePlace('/dev/sda', 1, 0, slot=SAS.format(3)), 'pci-0000:00:17.0', False),
        (
            DrivePlace('/dev/sda', 1, 0, slot='pci-0000:00:17.0-ata-1'),
            'pci-0000:00:17.0',
            False,
        ),
        (
            DrivePlace('/dev/nvme0', 1, 0, slot='pci-0000:01:00.0-nvme-1'),
            'pci-0000:01:00.0',
            False,
        ),
        (
            DrivePlace('/dev/sda', 1, 0, slot='pci-0000:03:00.0-scsi-0:0:1:0'),
            'pci-0000:03:00.0',
            0,
        ),
        (DrivePlace(RAID.format(7), 1, 0), 'megaraid@/dev/bus/0', False),
        (
            DrivePlace('sat+megaraid,7@/dev/bus/0', 1, 0),
            'sat+megaraid@/dev/bus/0',
            False,
        ),
        (DrivePlace('areca,3/2@/dev/sg2', 1, 0), 'areca@/dev/sg2', False),
        (
            DrivePlace(
                '/dev/sda', 1, 0, slot='pci-0000:00:14.0-usb-0:2:1.0-scsi-0:0:0:0'
            ),
            None,
            True,
        ),
        (
            DrivePlace('/dev/sda', 1, 0, slot='pci-0000:05:00.0-fc-0x5006-lun-1'),
            None,
            True,
        ),
        (
            DrivePlace('/dev/sda', 1, 0, slot='ip-10.0.0.1:3260-iscsi-iqn.x-lun-1'),
            None,
            True,
        ),
    ],
)
def test_a_place_belongs_to_a_controller_or_is_one_that_drives_often_leave(
    place, controller, is_removable
):
    assert place.is_removable == is_removable
    assert controller is None or place.controller == controller


def behind_raid(*numbers: int) -> dict[str, int | None]:
    return {RAID.format(number): number for number in numbers}


@pytest.mark.parametrize(
    'before, later, kinds_after',
    [
        pytest.param([1, 2], [2, 3], {1: ('replaced', 3)}, id='another-number'),
        pytest.param([1, 2], [2], {1: ('missing', None)}, id='nobody-came'),
        pytest.param(
            [1, 2, 3],
            [3, 4, 5],
            {1: ('replaced', 4), 2: ('replaced', 5)},
            id='two-for-two',
        ),
        pytest.param(
            [1, 2, 3],
            [3, 4],
            {1: ('missing', None), 2: ('missing', None)},
            id='one-for-two',
        ),
        pytest.param([1, 2], [2, 3, 4], {1: ('replaced', 3)}, id='one-more-came'),
    ],
)
def test_new_drives_of_a_controller_replace_as_many_that_are_missing(
    before, later, kinds_after
):
    """With fewer new ones, nobody knows which of the missing ones they replace."""
    scope = Scope({RAID.format(number) for number in range(9)})
    places = after(
        (START, scope, behind_raid(*before)), (START + STEP, scope, behind_raid(*later))
    )
    recorded = records(dict.fromkeys(range(1, 9), START))
    missing = changes(places, recorded, scope, START + STEP)
    became = with_successors(missing, places, recorded)

    assert {change.kind for change in missing} == {'missing'}
    assert {
        change.place.drive: (change.kind, change.successor) for change in became
    } == kinds_after


@pytest.mark.parametrize(
    'addresses, order',
    [
        pytest.param(('/dev/sda', '/dev/sdb'), 2, id='no-controller'),
        pytest.param((RAID.format(1), '3ware,0@/dev/twa0'), 2, id='another-controller'),
        pytest.param((RAID.format(1), RAID.format(2)), 1, id='was-known-when-it-went'),
    ],
)
def test_a_drive_that_came_elsewhere_or_was_known_before_replaces_nobody(
    addresses, order
):
    recorded = records({1: START, 2: START})
    recorded[2] = recorded[2]._replace(order=order)
    places = [
        DrivePlace(addresses[0], 1, START, gone=START + STEP, newest_order=1),
        DrivePlace(addresses[1], 2, START + STEP),
    ]
    missing = changes(places, recorded, Scope(set(addresses)), START + STEP)

    assert [change.kind for change in missing] == ['missing']
    assert with_successors(missing, places, recorded) == missing


def test_no_drive_is_the_successor_of_two():
    """The one that came first to the address of a drive has replaced that one."""
    places = after(
        (START, SCAN, behind_raid(1, 2)), (START + STEP, SCAN, {RAID.format(1): 3})
    )
    recorded = records({1: START, 2: START, 3: START + STEP})
    became = with_successors(
        changes(places, recorded, SCAN, START + STEP), places, recorded
    )

    assert {change.place.drive: change.successor for change in became} == {
        1: 3,
        2: None,
    }


@pytest.mark.parametrize(
    'order, kind',
    [
        # it was known when the other one went: the letters have shifted
        (1, 'missing'),
        (2, 'replaced'),
    ],
)
@pytest.mark.parametrize('clock', [-9 * DAY, 0, 9 * DAY])
def test_which_drive_is_new_is_told_by_its_order_and_not_by_the_clock(
    order, kind, clock
):
    recorded = records({1: START, 2: START + clock})
    recorded[2] = recorded[2]._replace(order=order)
    places = [
        DrivePlace('/dev/sda', 1, START, gone=START + STEP, newest_order=1),
        DrivePlace('/dev/sda', 2, START + STEP + clock, is_first=True),
    ]

    assert [change.kind for change in changes(places, recorded, SDA, START + STEP)] == [
        kind
    ]


@pytest.mark.parametrize('gone', [0, START + 2 * STEP])
def test_a_new_drive_has_replaced_another_one_even_if_it_has_gone_itself(gone):
    recorded = records({1: START, 2: START + STEP})
    places = [
        DrivePlace('/dev/sda', 1, START, gone=START + STEP, newest_order=1),
        DrivePlace(
            '/dev/sda', 2, START + STEP, gone=gone, newest_order=2, is_first=True
        ),
    ]
    first = changes(places, recorded, SDA, START + 2 * STEP)[0]

    assert (first.place.drive, first.kind, first.successor) == (1, 'replaced', 2)
