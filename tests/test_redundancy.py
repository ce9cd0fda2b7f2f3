"""The order of replacement against an oracle that removes drives and asks whether the data can
still be read.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

import pytest
from cases import bad, sound, worn

from smart_attributes.model import Group, Member
from smart_attributes.redundancy import sentences
from smart_attributes.redundancy import survival as levels
from smart_attributes.redundancy.replacement import (
    COPY,
    LAST,
    NEXT,
    REBUILDING,
    WAIT,
    Drive,
    Step,
    machine,
    order,
)
from smart_attributes.redundancy.survival import Stack

PRIME = 257  # of the field in which the oracle computes parity
# Level -> how many data members of n there are; the others hold parity.
PARITY: dict[str, int] = {
    'raid0': 0,
    'linear': 0,
    'single': 0,
    'raid4': 1,
    'raid5': 1,
    'raid6': 2,
    'raidz1': 1,
    'raidz2': 2,
    'raidz3': 3,
    'draid1': 1,
    'draid2': 2,
    'draid3': 3,
}
MIRRORS = ('raid1', 'mirror')
# Copies on any of the devices, wherever there is room: profile of btrfs -> number of copies.
ANYWHERE = {
    'btrfs-raid1': 2,
    'raid1c3': 3,
    'raid1c4': 4,
    'btrfs-raid10': 2,
    'btrfs-raid5': 2,
    'btrfs-raid6': 3,
}
RAID10 = {0x102: 'near 2', 0x103: 'near 3'}
FEWEST = {
    'raid5': 2,
    'raid4': 2,
    'raid6': 4,
    'raidz1': 2,
    'raidz2': 3,
    'raidz3': 4,
    'raid1c3': 3,
    'raid1c4': 4,
    'btrfs-raid6': 3,
}
STATES = ('in_sync', 'rebuilding', 'faulty', 'missing')
# state of the member, whether its drive is failing
KINDS = tuple(itertools.product(STATES, (False, True)))
LEVELS: list[tuple[str, int]] = [
    *((name, 0) for name in (*PARITY, *MIRRORS, *ANYWHERE) if 'draid' not in name),
    *(('raid10', layout) for layout in RAID10),
]


# --- the oracle -----------------------------------------------------------------------------------


def shares(data: Sequence[int], parity: int) -> list[int]:
    """Return data and parity of a stripe: values of the polynomial through the data at further
    places.
    """
    return [
        interpolated(dict(enumerate(data)), place)
        for place in range(len(data) + parity)
    ]


def interpolated(points: dict[int, int], place: int) -> int:
    """Return the value at a place of the polynomial through some points."""
    total = 0
    for x, y in points.items():
        for other in points:
            if other != x:
                y = y * (place - other) * pow(x - other, -1, PRIME) % PRIME
        total += y
    return total % PRIME


@lru_cache(maxsize=None)
def is_readable(level: str, layout: int, slots: int, left: frozenset[int]) -> bool:
    """Write data to an array, keep only the slots that are left, and tell whether all of it can
    be read back.
    """
    if level in MIRRORS:
        return bool(left)
    if level in ANYWHERE:
        return all(
            left & set(places)
            for places in itertools.combinations(range(slots), ANYWHERE[level])
        )
    if level == 'raid10':
        return all(left & places for places in raid10_places(layout, slots))
    data = [17 + 31 * slot for slot in range(slots - PARITY[level])]
    written = shares(data, PARITY[level])
    kept = dict(
        itertools.islice(((slot, written[slot]) for slot in sorted(left)), len(data))
    )
    return len(kept) == len(data) and [
        interpolated(kept, place) for place in range(len(data))
    ] == [each % PRIME for each in data]


def raid10_places(layout: int, slots: int) -> Iterator[frozenset[int]]:
    """Yield the slots of each chunk: its copies follow each other."""
    copies = layout & 255
    row = [chunk for chunk in range(slots) for _ in range(copies)]
    for chunk in range(slots):
        yield frozenset(
            place % slots for place, what in enumerate(row) if what == chunk
        )


# --- one array -----------------------------------------------------------------------------------


def disk(slot: int) -> str:
    return f'sd{chr(97 + slot)}'


def array(
    level: str, layout: int, kinds: Sequence[tuple[str, bool]], activity: str = ''
) -> Group:
    """Return an array of partitions; a member that is missing has no disk, a faulty one no slot,
    as in md.
    """
    return Group(
        'md0',
        'md0',
        'md',
        level,
        len(kinds),
        layout,
        tuple(
            Member(
                '' if state == 'missing' else f'{disk(slot)}1',
                state,
                None if state == 'faulty' else slot,
                () if state == 'missing' else (disk(slot),),
            )
            for slot, (state, _) in enumerate(kinds)
        ),
        activity=activity,
        used_as=('/srv',),
    )


def drives(kinds: Sequence[tuple[str, bool]]) -> list[Drive]:
    """Return the drives of an array, those that are failing first."""
    found = [
        Drive(disk(slot), frozenset((disk(slot),)), failing, failing)
        for slot, (state, failing) in enumerate(kinds)
        if state != 'missing'
    ]
    return sorted(found, key=lambda drive: not drive.is_failing)


def disks(steps: Sequence[Step], label: str) -> frozenset[str]:
    return frozenset(
        name for step in steps if step.label == label for name in step.drive.disks
    )


def examine(
    level: str, layout: int, kinds: Sequence[tuple[str, bool]], activity: str = ''
) -> None:
    """Compare the order for one array with what the oracle can still read."""
    group = array(level, layout, kinds, activity)
    stack, steps = Stack([group]), order(Stack([group]), drives(kinds))
    good = frozenset(
        slot for slot, (state, _) in enumerate(kinds) if state == 'in_sync'
    )
    failing = frozenset(slot for slot, (_, fails) in enumerate(kinds) if fails)

    def readable(without: frozenset[str]) -> bool:
        return is_readable(
            level,
            layout,
            len(kinds),
            frozenset(slot for slot in good if disk(slot) not in without),
        )

    case = (level, layout, kinds, activity, steps)
    assert stack.survives(group, frozenset()) is readable(frozenset()), case
    if not readable(frozenset()):
        assert not disks(steps, NEXT) & {disk(slot) for slot in good}, case
        return
    assert readable(disks(steps, NEXT)), case
    assert not any(
        readable(step.drive.disks) for step in steps if step.label == LAST
    ), case
    told = {step.drive.name: step.label for step in steps}
    assert all(
        told.get(disk(slot), '') for slot in failing if kinds[slot][0] != 'missing'
    ), case
    # whoever holds the last copy is named, and never as one to replace
    for slot in good:
        assert (
            readable(frozenset((disk(slot),)))
            or told.get(disk(slot)) in (WAIT if activity in REBUILDING else LAST, COPY)
            or not levels.is_redundant(group)
        ), case
    if (
        len(failing & good) == 1 == len(failing | set(range(len(kinds))) - good)
        and not activity
    ):
        (one,) = failing
        expected = NEXT if readable(frozenset((disk(one),))) else COPY
        assert told[disk(one)] == expected, case  # not more careful than needed


def tolerated(level: str, layout: int, slots: int, good: frozenset[int]) -> int:
    """Return how many of the good slots may be lost, whichever they are; below 0 if none is left
    to lose.
    """
    if not is_readable(level, layout, slots, good):
        return -1
    return next(
        number - 1
        for number in range(1, slots + 2)
        if number > len(good)
        or not all(
            is_readable(level, layout, slots, good - set(lost))
            for lost in itertools.combinations(sorted(good), number)
        )
    )


def fits(level: str, layout: int, number: int) -> bool:
    least = FEWEST.get(level, ANYWHERE.get(level, max(layout & 255, 1)))
    return least <= number


@pytest.mark.parametrize(('level', 'layout'), LEVELS)
def test_all_states_of_up_to_three_members(level, layout):
    for number in (1, 2, 3):
        if fits(level, layout, number):
            for kinds in itertools.product(KINDS, repeat=number):
                examine(level, layout, kinds)


@pytest.mark.parametrize('arrays', [1000, pytest.param(30_000, marks=pytest.mark.long)])
def test_random_states_of_four_to_eight_members(arrays):
    chance = random.Random(78)
    for _ in range(arrays):
        level, layout = chance.choice(LEVELS)
        number = chance.choice((4, 5, 6, 7, 8))
        kinds = tuple(
            chance.choice(KINDS if chance.random() < 0.5 else KINDS[:1])
            for _ in range(number)
        )
        activity = chance.choice(('', '', '', 'recover', 'resync', 'reshape', 'check'))
        if fits(level, layout, number):
            examine(level, layout, kinds, activity)


@pytest.mark.parametrize(('level', 'layout'), LEVELS)
def test_tolerates_as_many_losses_as_the_oracle(level, layout):
    for number in range(1, 7):
        if fits(level, layout, number):
            for states in itertools.product(('in_sync', 'faulty'), repeat=number):
                group = array(level, layout, [(state, False) for state in states])
                good = frozenset(
                    slot for slot, state in enumerate(states) if state == 'in_sync'
                )
                found: int | None = Stack([group]).tolerates(group, frozenset())
                assert found is not None
                assert max(found, -1) == min(
                    tolerated(level, layout, number, good), number - 1
                ), (
                    states,
                    found,
                )


# --- arrays on arrays, and what is not known ------------------------------------------------------

NONE: Mapping[str, str] = MappingProxyType({})


def group(
    name: str,
    level: str,
    *members: str,
    used: str = '',
    states: Mapping[str, str] = NONE,
    **more: object,
) -> Group:
    """Return a group of these disks and groups; all members are in sync but for *states*."""
    return Group(
        name,
        name,
        'md',
        level,
        len(members),
        0,
        tuple(
            Member(each, states.get(each, 'in_sync'), slot, (each,))
            for slot, each in enumerate(members)
        ),
        used_as=(used,) if used else (),
    )._replace(**more)  # type: ignore[arg-type]


MIRRORED = [
    group('md0', 'raid1', 'sda', 'sdb'),
    group('md1', 'raid1', 'sdc', 'sdd'),
    group('md2', 'raid0', 'md0', 'md1', used='/srv'),
]
STRIPED = [
    group('md0', 'raid0', 'sda', 'sdb'),
    group('md1', 'raid0', 'sdc', 'sdd'),
    group('md2', 'raid1', 'md0', 'md1', used='/srv'),
]
UNKNOWN = group('tank', '', 'sda', 'sdb', unknown='run triage --zpool')
TWO_ON_EACH = [
    group('md0', 'raid1', 'sda', 'sdb', used='/', states={'sdb': 'faulty'}),
    group('md1', 'raid1', 'sda', 'sdb', used='/srv'),
]


def ordered(groups: Sequence[Group], *drives: Drive) -> tuple[Step, ...]:
    """Return the steps for these drives, and all others of these groups, which are healthy."""
    stack, known = Stack(groups), {disk for drive in drives for disk in drive.disks}
    below = {disk for group in groups for disk in stack.disks(group.id)}
    return order(stack, [*drives, *map(sound, sorted(below - known))])


@pytest.mark.parametrize(
    ('groups', 'failing', 'labels', 'code'),
    [
        (MIRRORED, 'a', {'sda': NEXT}, 'replace-next'),
        (
            MIRRORED,
            'ac',
            {'sda': NEXT, 'sdc': NEXT},
            'replace-next',
        ),  # of two mirrors, one half each
        (MIRRORED, 'ab', {'sda': COPY, 'sdb': WAIT}, 'data-at-risk'),
        (STRIPED, 'a', {'sda': NEXT}, 'replace-next'),
        (STRIPED, 'ab', {'sda': NEXT, 'sdb': WAIT}, 'replace-next'),
        # half of each copy
        (STRIPED, 'ac', {'sda': COPY, 'sdc': WAIT}, 'data-at-risk'),
        (
            [group('sda1', 'single', 'sda', used='/')],
            'a',
            {'sda': COPY},
            'no-redundancy',
        ),
        ([group('sda1', 'single', 'sda', used='/')], '', {}, ''),
        ([], 'a', {'sda': COPY}, 'use-unknown'),  # nobody knows what is on it
        ([UNKNOWN], 'a', {'sda': COPY}, 'redundancy-unknown'),
        (
            [UNKNOWN, group('md0', 'raid1', 'sda', 'sdb', used='/')],
            'a',
            {'sda': COPY},
            'redundancy-unknown',
        ),
        (
            [group('md0', 'raid1', 'sda', 'sdb', used='/', states={'sdb': 'unknown'})],
            'a',
            {'sda': COPY},
            'redundancy-unknown',
        ),
        (
            [group('md0', 'raid9', 'sda', 'sdb', used='/')],
            'a',
            {'sda': COPY},
            'redundancy-unknown',
        ),
        # one drive is in two arrays: it is what the stricter one says
        (
            TWO_ON_EACH,
            'a',
            {'sdb': COPY, 'sda': LAST},
            'data-at-risk',
        ),
        (
            TWO_ON_EACH,
            '',
            {'sdb': NEXT, 'sda': LAST},
            'member-not-used',
        ),
        (
            [
                group('md0', 'raid1', 'sda', 'sdb', used='/'),
                group(
                    'md1',
                    'raid1',
                    'sda',
                    'sdb',
                    used='/srv',
                    activity='recover',
                    states={'sdb': 'rebuilding'},
                ),
            ],
            'b',
            {'sdb': NEXT, 'sda': WAIT},
            'replace-next',
        ),
        (
            [group('fs', 'btrfs-raid1', 'sda', 'sdb', 'sdc', used='/srv', missing=1)],
            '',
            {'sda': LAST, 'sdb': LAST, 'sdc': LAST},
            'last-good-copy',
        ),
        (
            [group('fs', 'raid1c3', 'sda', 'sdb', 'sdc', used='/srv', missing=1)],
            'a',
            {'sda': NEXT},
            'replace-next',
        ),
    ],
)
def test_groups_on_groups(groups, failing, labels, code):
    found = ordered(groups, *(bad(f'sd{each}') for each in failing))

    assert {step.drive.name: step.label for step in found} == labels
    assert [step.why.code for step in found][:1] == [code][: len(found)]


RAID1 = group('md0', 'raid1', 'sda', 'sdb', used='/srv')


@pytest.mark.parametrize(
    ('groups', 'failing', 'code', 'swap'),
    [
        (
            [
                group(
                    'md0',
                    'raid5',
                    'sda',
                    'sdb',
                    'sdc',
                    states={'sdb': 'missing', 'sdc': 'missing'},
                )
            ],
            'a',
            'group-incomplete',
            '',
        ),
        (
            [RAID1, group('sda2', 'single', 'sda', used='swap', kind='swap')],
            'a',
            'replace-next',
            'sda2',
        ),
        (
            [group('sda2', 'single', 'sda', used='swap', kind='swap')],
            'a',
            'only-swap',
            'sda2',
        ),
    ],
)
def test_the_first_step_has_its_reason_and_names_swap(groups, failing, code, swap):
    found = ordered(groups, *(bad(f'sd{each}') for each in failing))

    assert (found[0].why.code, found[0].why.partition('swap on ')[2]) == (code, swap)


@pytest.mark.parametrize(
    ('state', 'words'), [('spare', '/srv) '), ('rebuilding', 'rebuilding) ')]
)
def test_a_failing_spare_was_not_dropped(state, words):
    array_of_three = group(
        'md0', 'raid1', 'sda', 'sdb', 'sdc', used='/srv', states={'sdc': state}
    )
    found = ordered([array_of_three], bad('sdc'))

    assert (found[0].label, found[0].why.code) == (NEXT, 'member-not-used')
    assert words in found[0].why


@pytest.mark.parametrize(
    ('state', 'words'),
    [
        ('faulty', 'no longer uses this drive'),
        ('spare', 'needs none of the data on this drive'),
    ],
)
def test_each_array_that_has_dropped_the_drive_is_named(state, words):
    """An array with the drive as a spare has not."""
    aside = {'sdb': state}
    md0 = group('md0', 'raid1', 'sda', 'sdc', 'sdb', used='/', states=aside, slots=2)
    dropping = {'sdb': 'faulty'}
    md1 = group('md1', 'raid1', 'sda', 'sdb', used='/srv', states=dropping)
    why = ordered([md0, md1], bad('sdb'))[0].why

    assert words in why
    assert why.endswith('md1 (raid1, /srv, sdb faulty) no longer uses it')


@pytest.mark.parametrize(('failing', 'at_risk'), [('ab', 'md0'), ('d', 'home')])
def test_the_lowest_group_whose_data_is_at_risk_is_named(failing, at_risk):
    """Whoever copies one volume would lose the others on the array."""
    mirror = group(
        'md0', 'raid1', 'sda', 'sdb', 'sdc', states={'sdc': 'spare'}, slots=2
    )
    home = group('home', 'linear', 'md0', 'sdd', used='/home')
    dying = [bad(f'sd{letter}') for letter in failing]
    spare = sound('sdc')._replace(is_to_replace=True)
    steps = {step.drive.name: step for step in ordered([mirror, home], *dying, spare)}

    assert steps['sdc'].why.code == 'copy-other-first'
    assert steps['sdc'].why.fields['group'] == at_risk


def test_an_array_below_that_is_lost_with_the_drive_does_not_keep_its_data():
    lower = group('md1', 'raid1', 'sda', 'sdb', states={'sdb': 'missing'})
    upper = group('md0', 'raid1', 'md1', 'sdc', 'sdd', used='/')
    why = ordered([lower, upper], bad('sda'))[0].why

    assert (why.code, why.fields['group']) == ('replace-next', 'md0')


def test_a_group_that_is_only_on_the_drive_to_replace_is_not_the_data_at_risk():
    """It is rebuilt, and holds nothing; its data is on the other one, which is failing, too."""
    luks = [group(f'dm-{disk}', 'single', f'sd{disk}') for disk in 'ab']
    rebuilding = {'dm-a': 'rebuilding'}
    array = group('md0', 'raid1', 'dm-a', 'dm-b', used='/', states=rebuilding)
    steps = ordered([*luks, array], bad('sda'), bad('sdb'))

    assert {
        step.why.fields['first'] for step in steps if 'first' in step.why.fields
    } == {'sdb'}


NESTED = [
    group('md1', 'raid1', 'sda', 'sdb'),
    group('md0', 'raid1', 'md1', 'sdc', 'sdd', used='/'),
]


def test_of_nested_groups_the_one_that_tolerates_least_is_named():
    """Whatever their names are."""
    assert [each.id for each in Stack(NESTED).between({'sda'}, NESTED[1])] == [
        'md1',
        'md0',
    ]
    [step] = ordered(NESTED, bad('sda'))

    assert (step.label, step.why.fields['group']) == (NEXT, 'md1')


def test_a_group_that_is_mounted_and_a_member_has_data_of_its_own():
    both = [NESTED[0]._replace(used_as=('/home',)), NESTED[1]]

    assert [Stack(groups).carries_data(groups[0]) for groups in (NESTED, both)] == [
        False,
        True,
    ]
    assert Stack(NESTED).carries_data(NESTED[1])


# --- levels, and which group is named -------------------------------------------------------------


@pytest.mark.parametrize(
    'layout, slots, copies, tolerance',
    [
        (0x102, 4, [{0, 1}, {2, 3}], 1),
        (0x102, 3, [{0, 1}, {0, 2}, {1, 2}], 1),
        (0x103, 4, [{0, 1, 2}, {0, 1, 3}, {0, 2, 3}, {1, 2, 3}], 2),
        # of far copies, and of those in the next stripe (offset), only the number counts
        (0x201, 4, [{0, 1, 2, 3}], 1),
        (0x10201, 4, [{0, 1, 2, 3}], 1),
        (0x202, 5, [{0, 1, 2, 3, 4}], 3),
    ],
)
def test_the_slots_of_raid10_that_hold_the_same_data(layout, slots, copies, tolerance):
    """As drivers/md/raid10.c of Linux places them."""
    found = levels.stripes(Group('md0', 'md0', 'md', 'raid10', slots, layout))

    assert found is not None
    assert {stripe.slots for stripe in found} == {frozenset(slots) for slots in copies}
    assert {stripe.tolerance for stripe in found} == {tolerance}


@pytest.mark.parametrize(
    ('layout', 'slots'),
    [(0, 4), (0x101, 4), (0x1, 4), (0x100, 4), (0x301, 2), (0x20201, 4), (0x40201, 4)],
)
def test_a_layout_of_raid10_with_other_copies_is_unknown(layout, slots):
    assert levels.stripes(Group('md0', 'md0', 'md', 'raid10', slots, layout)) is None


@pytest.mark.parametrize(
    'more', [{'unknown': 'x'}, {'slots': 0}, {'level': ''}, {'level': 'raid9'}]
)
def test_what_is_not_known_has_no_tolerance(more):
    unknown = group('md0', 'raid1', 'sda', 'sdb')._replace(**more)

    assert levels.stripes(unknown) is None and not levels.is_redundant(unknown)
    assert Stack([unknown]).tolerates(unknown, frozenset()) is None


def test_a_group_of_unknown_redundancy_survives_as_it_is():
    assert Stack([UNKNOWN]).survives(UNKNOWN, frozenset()) is True
    assert Stack([UNKNOWN]).survives(UNKNOWN, frozenset(('sdx',))) is True
    assert Stack([UNKNOWN]).survives(UNKNOWN, frozenset(('sda',))) is None


def test_a_drive_that_no_group_needs_more_than_another_names_the_unknown_one():
    """The mirror below the pool is known."""
    pool = group('tank', '', 'md0', unknown='run triage --zpool')
    found = ordered([RAID1._replace(used_as=()), pool], bad('sda'))

    assert [(step.label, step.why.code) for step in found] == [(NEXT, 'replace-next')]
    lost = ordered([pool._replace(members=group('', '', 'sda').members)], bad('sda'))
    assert [(step.label, step.why.fields) for step in lost] == [
        (COPY, {'group': 'tank'})
    ]


RAID6 = group('md0', 'raid6', 'sda', 'sdb', 'sdc', 'sdd', used='/')
NEAR_PAIRS = RAID6._replace(level='raid10', layout=0x102)
REBUILT = group(
    'md0', 'raid6', 'sda', 'sdb', 'sdc', 'sdd', used='/', states={'sdd': 'rebuilding'}
)
BROKEN = group('md0', 'raid1', 'sda', 'sdb', states={'sda': 'faulty'}, missing=1)


@pytest.mark.parametrize(
    ('groups', 'drives', 'expected'),
    [
        (
            [RAID6],
            (bad('sdb'), worn('sda')),
            [('sdb', NEXT, 'replace-next'), ('sda', WAIT, 'other-drive-first')],
        ),
        # of two mirrors on each other's drives, one half each
        (
            [NEAR_PAIRS],
            (worn('sda'), worn('sdc')),
            [('sda', NEXT, 'replace-next'), ('sdc', WAIT, 'other-drive-first')],
        ),
        # the other partition of sdb holds the only copy of a group that can be read
        (
            [BROKEN, group('md1', 'raid1', 'md0', 'sda', used='/')],
            (worn('sdb'),),
            [('sdb', NEXT, 'replace-next'), ('sda', LAST, 'last-good-copy')],
        ),
        # even if the array could lose the failing member, as raid6 can
        *(
            (
                [REBUILT._replace(activity=activity)],
                (bad('sda'),),
                [('sda', WAIT, 'group-rebuilding')],
            )
            for activity in REBUILDING
        ),
    ],
    ids=['failing before worn', 'lost for later ones', 'only copy', *REBUILDING],
)
def test_each_drive_has_its_place_and_the_reason(groups, drives, expected):
    found = ordered(groups, *drives)

    assert [(step.drive.name, step.label, step.why.code) for step in found] == expected
    assert {step.why.fields['group'] for step in found} == {groups[-1].id}


def test_the_group_that_tolerates_least_is_named():
    inner, outer = (
        group('md1', 'raid6', 'sda', 'sdb', 'sdc', 'sdd'),
        group('md0', 'raid1', 'md1', 'sde', used='/', states={'sde': 'missing'}),
    )
    found = ordered([outer, inner], bad('sda'))

    assert [(step.why.code, step.why.fields, step.groups) for step in found] == [
        ('replace-next', {'group': 'md0'}, ('md0', 'md1'))
    ]


def test_the_groups_at_risk_come_first_and_name_their_drives():
    groups = [
        UNKNOWN,
        RAID1,
        group('md1', 'raid6', 'sdc', 'sdd', 'sde', 'sdf'),
        group('sdg1', 'single', 'sdg'),
    ]
    found = machine(
        groups,
        [
            Drive('left', frozenset(('sda',)), True, True),
            Drive('right', frozenset(('sdb',)), True),
        ],
    )

    assert [(each.group.id, each.tolerates) for each in found.groups] == [
        ('md0', -1),
        ('sdg1', 0),
        ('md1', 2),
        ('tank', None),
    ]
    assert [each.drives for each in found.groups][:2] == [
        (('left',), ('right',)),
        (('sdg',),),
    ]


# --- sentences ------------------------------------------------------------------------------------

LONG = 'x' * 300
SHORT = 'x' * 57 + '...'


@pytest.mark.parametrize(
    ('changed', 'said'),
    [
        ({}, 'md0 (raid1, /srv)'),
        ({'kind': 'lvm'}, 'md0 (LVM raid1, /srv)'),
        ({'kind': 'zfs'}, 'md0 (ZFS raid1, /srv)'),
        ({'kind': 'btrfs', 'level': 'btrfs-raid10'}, 'md0 (btrfs raid10, /srv)'),
        ({'kind': 'luks', 'level': 'single'}, 'md0 (LUKS, /srv)'),
        ({'kind': 'ceph', 'level': ''}, 'md0 (Ceph, /srv)'),
        ({'kind': 'multipath', 'level': ''}, 'md0 (multipath, /srv)'),
        ({'kind': 'dm', 'level': ''}, 'md0 (device mapper, /srv)'),
        ({'kind': 'lvm', 'level': 'raid10-unknown-layout'}, 'md0 (LVM raid10, /srv)'),
        ({'level': 'single', 'used_as': ()}, 'md0'),
        ({'used_as': ('/a', '/b', '/c')}, 'md0 (raid1, /a, /b)'),
        ({'name': LONG, 'used_as': (LONG,)}, f'{SHORT} (raid1, {SHORT})'),
        ({'name': 'a|b\nc'}, 'a b c (raid1, /srv)'),
    ],
)
def test_a_group_is_named_with_its_kind_its_level_and_its_use(changed, said):
    assert sentences.named(RAID1._replace(**changed)) == said


def test_more_words_about_a_group_stand_in_the_same_parentheses():
    assert sentences.named(RAID1, 'one', '', 'two') == 'md0 (raid1, /srv, one, two)'


IDLE = Member('sda2', 'in_sync', detail='backup, ext4, not mounted')


def named(*names: str) -> list[Member]:
    return [Member(name, 'in_sync') for name in names]


NAME_OF_41 = 'x' * 41  # a name is cut at 40 characters
CUT = 'x' * 37 + '...'


def with_states(*states: str, **more: object) -> Group:
    """Return RAID1 with a member in each of these states, sda first."""
    members = (
        Member(f'{disk(slot)}', state, slot) for slot, state in enumerate(states)
    )
    return RAID1._replace(members=tuple(members), **more)  # type: ignore[arg-type]


FAULTY = with_states('in_sync', 'faulty', 'spare')
BAD = RAID1._replace(
    members=(
        Member('sda', 'in_sync'),
        Member('sdb', 'faulty'),
        Member(NAME_OF_41, 'missing'),
    )
)
JOURNAL = Member('sda', 'in_sync', role='journal')
LOGS = [
    Member('sda', 'in_sync', role='log'),
    Member('sdb', 'faulty', role='cache'),
    Member('sdc', 'faulty', role='log'),
]
AT_RISK = sentences.reason('data-at-risk', RAID1, drive='sda')


@pytest.mark.parametrize(
    ('said', 'text'),
    [
        (
            sentences.tolerance(RAID1, None),
            'md0 (raid1, /srv), redundancy not known',
        ),
        (
            sentences.tolerance(group('sdd1', '', 'sdd', kind='unknown'), None),
            'sdd1, use not known',
        ),
        (
            sentences.tolerance(
                group('sda2', 'single', kind='partition', members=(IDLE,)), 0
            ),
            'sda2 (backup, ext4, not mounted), no redundancy',
        ),
        (sentences.tolerance(RAID1, 0), 'md0 (raid1, /srv), tolerates no further loss'),
        (sentences.tolerance(RAID1, 1), 'md0 (raid1, /srv), tolerates 1 further loss'),
        (
            sentences.tolerance(RAID1, 2),
            'md0 (raid1, /srv), tolerates 2 further losses',
        ),
        (
            sentences.tolerance(RAID1, -1),
            'md0 (raid1, /srv), has more failing or missing members than it tolerates',
        ),
        (
            sentences.tolerance(RAID1._replace(level='single'), -1),
            'md0 (/srv), no redundancy',
        ),
        (
            sentences.tolerance(RAID1._replace(activity='check'), 1),
            'md0 (raid1, /srv), being checked, tolerates 1 further loss',
        ),
        (
            sentences.tolerance(RAID1._replace(activity='repair', missing=1), 1),
            'md0 (raid1, /srv, 1 member missing), being repaired, tolerates 1 further '
            'loss',
        ),
        (
            sentences.tolerance(RAID1._replace(missing=2), None),
            'md0 (raid1, /srv, 2 members missing), redundancy not known',
        ),
        (
            sentences.tolerance(
                with_states(
                    *['faulty'] * 4, 'spare', missing=1, level='raid6', used_as=()
                )._replace(
                    members=(
                        *with_states(*['faulty'] * 4, 'spare').members,
                        Member('', 'missing', 6),
                    )
                ),
                0,
            ),
            'md0 (raid6, sda faulty, sdb faulty, sdc faulty, 2 members missing), '
            'tolerates no further loss',
        ),
        (
            sentences.busy(RAID1._replace(activity='recover')),
            'md0 (raid1, /srv) is rebuilding (recover)',
        ),
        (
            sentences.busy(RAID1._replace(activity='replace', progress=0.4)),
            'md0 (raid1, /srv) is replacing a member (replace 0 %)',
        ),
        (
            sentences.last_copy(RAID1._replace(missing=1), True),
            'last good copy of md0 (raid1, /srv, 1 member missing): copy the data first, then add '
            'a new member',
        ),
        (
            sentences.last_copy(FAULTY, True),
            'last good copy of md0 (raid1, /srv, sdb faulty): copy the data first, then replace '
            'sdb',
        ),
        (
            sentences.last_copy(BAD, False),
            f'last good copy of md0 (raid1, /srv, sdb faulty, {CUT} missing): replace sdb, {CUT} '
            'first',
        ),
        (
            sentences.reason('second-failing-member', RAID1, 'sda'),
            'replace sda before this drive: sda is failing, too',
        ),
        (sentences.unlisted([]), ''),
        (
            sentences.unlisted(['vg0', 'vg1']),
            'inactive volumes of vg0 and vg1 may also be on this drive; to list them, '
            'run: lvs -o +devices vg0 vg1',
        ),
        (sentences.also_dropped(AT_RISK, [RAID1]), ''),
        (
            sentences.also_dropped(AT_RISK, [FAULTY._replace(id='md1', name='md1')]),
            'md1 (raid1, /srv, sdb faulty) no longer uses it',
        ),
        (sentences.swap([]), ''),
        (
            sentences.swap(
                [
                    RAID1._replace(name='sda2'),
                    RAID1._replace(name='swap', kind='luks'),
                    RAID1._replace(name=NAME_OF_41),
                ]
            ),
            f'before that, switch off swap on sda2 and mapper/swap and {CUT}',
        ),
        (sentences.continued(AT_RISK, ['', '']), str(AT_RISK)),
        (sentences.continued(AT_RISK, ['one', '', 'two']), f'{AT_RISK}; one; two'),
        (
            sentences.unchecked(RAID1, list('abcd')),
            'md0 (raid1, /srv) has members on a, b, c and 1 more, which were not checked; '
            'before you decide, run: check_smart_attributes triage',
        ),
        (
            sentences.unchecked(RAID1, list('abc')),
            'md0 (raid1, /srv) has members on a, b, c, which were not checked; '
            'before you decide, run: check_smart_attributes triage',
        ),
        (
            sentences.not_used(FAULTY, is_dropped=True),
            (
                'md0 (raid1, /srv, sdb faulty) no longer uses this drive; if only its cable '
                'was at fault, add it again'
            ),
        ),
        (
            sentences.not_used(FAULTY, is_dropped=False),
            'md0 (raid1, /srv, sdb faulty) needs none of the data on this drive',
        ),
        (
            sentences.no_redundancy(RAID1, named('sda1', '/srv', NAME_OF_41)),
            f'no redundancy known for /srv (sda1, {CUT})',
        ),
        (
            sentences.no_redundancy(group('sda1', 'single', 'sda'), named('sda1')),
            'no redundancy known for sda1',
        ),
        (
            sentences.no_redundancy(
                group('sda2', 'single', kind='partition', members=(IDLE,)), [IDLE]
            ),
            'no redundancy known for sda2 (backup, ext4, not mounted)',
        ),
        (
            sentences.unknown(RAID1._replace(unknown=LONG)),
            f'redundancy of md0 (raid1, /srv) not known: {"x" * 197}...',
        ),
        (
            sentences.unknown(RAID1),
            'redundancy of md0 (raid1, /srv) not known',
        ),
        (
            sentences.only_aside(RAID1, [JOURNAL]),
            'the drive holds no data; it is only the journal of md0 (raid1, /srv): first replace or '
            'remove the journal in the array, then pull the drive',
        ),
        (
            sentences.only_aside(RAID1._replace(kind='zfs'), LOGS),
            'the drive holds no data; it is only the log and cache of md0 (ZFS raid1, /srv): first '
            'replace or remove the log and cache in the pool, then pull the drive',
        ),
        (
            sentences.only_aside(RAID1, LOGS[1:]),
            'the drive holds no data; it is only the cache and log of md0 (raid1, /srv): replace it',
        ),
        (
            sentences.of_drive('use-unknown', 'sda'),
            'use of sda not known: check whether it holds data',
        ),
    ],
)
def test_what_is_said_of_a_group(said, text):
    assert said == text


def test_reasons_have_their_fields():
    assert [
        (each.code, each.fields)
        for each in (
            AT_RISK,
            sentences.continued(AT_RISK, ['words']),
            sentences.reason('other-drive-first', RAID1, 'sda'),
            sentences.unchecked(RAID1, list('abcd')),
            sentences.no_redundancy(RAID1, []),
        )
    ] == [
        *[('data-at-risk', {'group': 'md0'})] * 2,
        ('other-drive-first', {'group': 'md0', 'first': 'sda'}),
        ('members-not-checked', {'group': 'md0', 'unchecked': list('abcd')}),
        ('no-redundancy', {'group': 'md0'}),
    ]


def test_nothing_calls_a_drive_safe_to_pull():
    from conftest import ROOT

    texts = ''.join(
        path.read_text().lower()
        for path in (ROOT / 'smart_attributes').rglob('*')
        if path.suffix in ('.py', '.json', '.html', '.js')
    )

    assert [
        words
        for words in ('safe to pull', 'safe to remove', 'safe to replace', 'safely')
        if words in texts
    ] == []
