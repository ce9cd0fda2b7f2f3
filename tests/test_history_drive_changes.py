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
    arrived,
    changes,
    updated,
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
        places = updated(places, found, scope, now, {})
    return places


def records(first: dict[int, int]) -> dict[int, Record]:
    """Drive -> when history first met it."""
    return {
        number: Record(number, Identity(serial=f'S{number}'), time, time)
        for number, time in first.items()
    }


def kinds(
    places: Sequence[DrivePlace], scope: Scope, now: int, first: dict[int, int]
) -> list[tuple[str, str, int]]:
    return [
        (change.kind, change.address, change.drive)
        for change in changes(places, records(first), scope, now)
        if now - change.since < DAY
    ]


def test_a_drive_with_another_serial_number_at_its_address_has_replaced_it():
    places = after((START, SDA, {'/dev/sda': 1}), (START + STEP, SDA, {'/dev/sda': 2}))
    first = {1: START, 2: START + STEP}

    assert changes(places, records(first), SDA, START + STEP) == [
        Change('replaced', '/dev/sda', 1, START + STEP, successor=2, first=START)
    ]
    assert kinds(places, SDA, START + DAY, first) == [('replaced', '/dev/sda', 1)]
    assert kinds(places, SDA, START + STEP + DAY, first) == []


def test_a_drive_found_elsewhere_has_moved():
    places = after((START, SCAN, {'/dev/sda': 1}), (START + STEP, SCAN, {'/dev/sdb': 1}))

    assert changes(places, records({1: START}), SCAN, START + STEP) == [
        Change('moved', '/dev/sda', 1, START + STEP, now_at='/dev/sdb')
    ]


def test_a_drive_found_nowhere_is_missing_and_told_whoever_looked_meanwhile():
    """A manual run must not be the only one to learn of it."""
    places = after(
        (START, SCAN, {'/dev/sda': 1, '/dev/sdb': 2}),
        (START + STEP, SCAN, {'/dev/sda': 1}),
        (START + 2 * STEP, SCAN, {'/dev/sda': 1}),
    )

    assert kinds(places, SCAN, START + 2 * STEP, {1: START, 2: START}) == [
        ('missing', '/dev/sdb', 2)
    ]


@pytest.mark.parametrize(
    'scopes',
    [
        (SCAN, SDA),  # a scan first
        (SDA, SCAN),  # a scan later
    ],
)
def test_a_drive_that_a_scan_has_found_once_is_missed_by_the_next_scan(scopes):
    """Though an admin has looked at it by its address in between, or before."""
    places = after(
        *((START + place * STEP, scope, {'/dev/sda': 1}) for place, scope in enumerate(scopes)),
        (START + 2 * STEP, SCAN, {}),
    )

    assert kinds(places, SCAN, START + 2 * STEP, {1: START}) == [('missing', '/dev/sda', 1)]


def test_letters_that_shift_after_one_is_gone_replace_nothing():
    """sdb is sda now: the drive of sda is missing, and nobody has put another in its place."""
    places = after(
        (START, SCAN, {'/dev/sda': 1, '/dev/sdb': 2}), (START + STEP, SCAN, {'/dev/sda': 2})
    )

    assert kinds(places, SCAN, START + STEP, {1: START, 2: START}) == [
        ('missing', '/dev/sda', 1),
        ('moved', '/dev/sdb', 2),
    ]


def test_what_a_run_did_not_look_at_is_not_missing():
    """A service for each drive."""
    places = after((START, SDA, {'/dev/sda': 1}), (START + STEP, SDB, {'/dev/sdb': 2}))

    assert kinds(places, SDA, START + STEP, {1: START, 2: START}) == []
    assert kinds(places, SDB, START + STEP, {1: START, 2: START}) == []


def test_what_only_a_command_line_named_no_scan_misses():
    """A scan does not find what is behind some controllers."""
    places = after(
        (START, Scope({'megaraid,0@/dev/bus/0'}), {'megaraid,0@/dev/bus/0': 1}),
        (START + STEP, SCAN, {'/dev/sda': 2}),
    )

    assert kinds(places, SCAN, START + STEP, {1: START, 2: START}) == []


def test_two_services_with_an_address_each_for_one_drive_do_not_move_it():
    raid = Scope({'megaraid,0@/dev/bus/0'})
    runs = [
        (
            START + STEP * place,
            *((SDA, {'/dev/sda': 1}) if place % 2 else (raid, {'megaraid,0@/dev/bus/0': 1})),
        )
        for place in range(6)
    ]
    places = after(*runs)

    assert kinds(places, SDA, START + 6 * STEP, {1: START}) == []
    assert kinds(places, raid, START + 6 * STEP, {1: START}) == []


def test_a_drive_that_one_of_its_two_addresses_loses_has_not_moved():
    """It is where another service has found it all the time."""
    raid = Scope({'megaraid,0@/dev/bus/0'})
    places = after(
        (START, SDA, {'/dev/sda': 1}),
        (START + STEP, raid, {'megaraid,0@/dev/bus/0': 1}),
        (START + 2 * STEP, SDA, {}),
    )

    assert kinds(places, SDA, START + 2 * STEP, {1: START}) == []


@pytest.mark.parametrize(
    'scope',
    [
        SDA,  # named
        SCAN,  # scanned
    ],
)
def test_a_drive_that_sleeps_or_cannot_be_read_is_there(scope):
    places = after((START, scope, {'/dev/sda': 1}), (START + STEP, scope, {'/dev/sda': None}))

    assert kinds(places, scope, START + STEP, {1: START}) == []


def test_a_drive_that_comes_back_is_no_longer_missing():
    places = after(
        (START, SDA, {'/dev/sda': 1}),
        (START + STEP, SDA, {}),
        (START + 2 * STEP, SDA, {'/dev/sda': 1}),
    )

    assert kinds(places, SDA, START + 2 * STEP, {1: START}) == []
    assert places == [DrivePlace('/dev/sda', 1, START + 2 * STEP)]


def test_an_expected_drive_stays_missing():
    """--gone critical, until it is forgotten."""
    places = after((START, SDA, {'/dev/sda': 1}), (START + STEP, SDA, {}))

    (change,) = changes(places, records({1: START}), SDA, START + 30 * DAY)
    assert (change.kind, change.drive) == ('missing', 1)
    assert kinds(places, SDA, START + 30 * DAY, {1: START}) == []


def at(address: str, drive: int, first: int, gone: int = 0) -> DrivePlace:
    return DrivePlace(address, drive, first, gone, is_scanned=True)


def test_a_drive_that_is_at_two_addresses_has_moved_to_the_newer_one():
    """Whatever the order in which history keeps its places, and however their names are sorted."""
    places = [
        at('/dev/sda', 1, START + STEP),
        at('/dev/sdb', 1, START),
        at('/dev/sdc', 1, START, START + STEP),
    ]

    for each in (places, places[::-1]):
        assert [
            change.now_at for change in changes(each, records({1: START}), SCAN, START + 2 * STEP)
        ] == ['/dev/sda']


def test_of_several_places_that_a_drive_has_left_the_last_one_counts():
    """And of those alone where this run looks."""
    left = [at('/dev/sda', 1, START, START + 2 * STEP), at('/dev/sdb', 1, START, START + STEP)]
    elsewhere = DrivePlace('/dev/sdz', 1, START, START + 3 * STEP)

    for each in ([*left, elsewhere], [elsewhere, *left[::-1]]):
        assert changes(each, records({1: START}), SCAN, START + 2 * STEP) == [
            Change('missing', '/dev/sda', 1, START + 2 * STEP, first=START)
        ]


def test_what_happened_first_is_told_first_and_at_once_by_address():
    """One line below the other, as it was."""
    gone = [
        at('/dev/sda', 1, START, START + 2 * STEP),
        at('/dev/sdc', 2, START, START + STEP),
        at('/dev/sdb', 3, START, START + STEP),
    ]

    told = changes(gone, records({1: START, 2: START, 3: START}), SCAN, START + 2 * STEP)
    assert [change.drive for change in told] == [3, 2, 1]


def test_a_drive_has_arrived_that_history_met_after_a_moment_where_this_run_looks():
    """Where it is now; the first come, first told."""
    places = [
        at('/dev/sda', 1, START + STEP),
        at('/dev/sdb', 2, START),
        at('/dev/sdc', 3, START + 2 * STEP, START + DAY),
        at('/dev/sdd', 4, START - 1),
        DrivePlace('/dev/sde', 5, START + STEP),
        at('/dev/sdf', 6, START + STEP),
        at('/dev/sda', 7, START),
        at('/dev/sdg', 7, START - STEP),
    ]
    met = records(
        {
            1: START + STEP,
            2: START,
            3: START + STEP,
            4: START + 1,
            5: START + STEP,
            6: START + STEP,
            7: START + 9,
        }
    )

    for each in (places, places[::-1]):
        assert [(place.address, place.drive) for place in arrived(each, met, SCAN, START)] == [
            ('/dev/sdd', 4),
            ('/dev/sda', 7),
            ('/dev/sda', 1),
            ('/dev/sdf', 6),
        ]
