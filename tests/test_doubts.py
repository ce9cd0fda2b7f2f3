"""Whether "next" ever loses data: random machines of several layers, of which copies in doubt may
be stale.

The oracle knows nothing of survival or replacement. For each machine it makes worlds: which of the
copies in doubt are stale, which drives that nobody checked are dead, and where a journal holds
data. It then removes all drives that are "next", and reads.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import pytest
from test_redundancy import FEWEST, RAID10, is_readable

from smart_attributes.model import Group, Member
from smart_attributes.redundancy.replacement import NEXT, UNKNOWN, Drive, Step, order
from smart_attributes.redundancy.survival import Stack, doubt

LEVELS = (
    'raid1',
    'raid1',
    'raid5',
    'raid6',
    'raid10',
    'raid0',
    'single',
    'btrfs-raid1',
    'raid1c3',
    'mirror',
    'raidz2',
)
ACTIVITIES = ('', '', '', '', 'check', 'repair', 'recover', 'resync')
LEAST = {'single': 1, 'raid10': 4}  # members
DOUBT = doubt('may be stale', 'repair it')
WORLDS = 24  # of a machine


class World(NamedTuple):
    """What is true of a machine, among all that its layers admit."""

    # group and number of its member: copies without the data
    stale: frozenset[tuple[str, int]]
    dead: frozenset[str]  # disks
    journals: frozenset[str]  # groups with data that only their spares have
    # group -> slots of the devices that btrfs counts as missing
    gone: Mapping[str, frozenset[int]]


def made(chance: random.Random) -> list[Group]:
    """Return the groups of a machine: arrays of partitions and of arrays, in up to three layers."""
    disks, groups = (
        [f'sd{letter}' for letter in 'abcdefghij'[: chance.randint(2, 10)]],
        list[Group](),
    )
    # of some disks, two partitions are used
    free = list(disks) * chance.choice((1, 1, 2))
    for layer in range(chance.choice((1, 1, 2, 3))):
        for _ in range(chance.choice((1, 2, 2, 3))):
            level = chance.choice(LEVELS)
            layout = chance.choice([*RAID10]) if level == 'raid10' else 0
            least = LEAST.get(level) or FEWEST.get(level, 2)
            chance.shuffle(free)
            on = free[:1]
            if level != 'single':
                on = free[: chance.choice((least, least, least + 1, least + 2))]
            if len(on) >= least and (
                layer or not any(each.startswith('md') for each in on)
            ):
                free = free[len(on) :]
                groups.append(array(chance, f'md{len(groups)}', level, layout, on))
        free = [
            *free,
            *(
                each.id
                for each in groups
                if each.id not in free
                and not any(
                    each.id in member.on for other in groups for member in other.members
                )
            ),
        ]
    return groups


def array(
    chance: random.Random, name: str, level: str, layout: int, on: Sequence[str]
) -> Group:
    odd = chance.choice((0, 0, 0.1, 0.3))

    def likely(share: float = 1.0) -> bool:
        return chance.random() < odd * share

    odd_states = ('rebuilding', 'faulty', 'unknown')
    members = [
        Member(
            f'{each}1',
            chance.choice(odd_states) if likely(0.3) else 'in_sync',
            slot,
            (each,),
            doubts=(DOUBT,) if likely() else (),
        )
        for slot, each in enumerate(on)
    ]
    slots = len(members)
    if (
        level != 'single'
        and slots > FEWEST.get(level, 2)
        and level != 'raid10'
        and chance.random() < 0.2
    ):
        slots -= 1
        members[-1] = members[-1]._replace(state='spare', slot=None)
    missing = int(likely(0.5)) if level in ('btrfs-raid1', 'raid1c3') else 0
    return Group(
        name,
        name,
        'md',
        level,
        slots,
        layout,
        tuple(members),
        chance.choice(ACTIVITIES) if likely() else '',
        used_as=('/srv',) if chance.random() < 0.2 else (),
        missing=missing,
        doubts=(DOUBT,) if likely(0.6) else (),
    )


def judged(chance: random.Random, groups: Sequence[Group]) -> list[Drive]:
    """Return the drives of a machine, those that are failing first; some were not read."""
    disks = sorted(
        {
            each
            for group in groups
            for member in group.members
            for each in member.on
            if each[:2] == 'sd'
        }
    )
    failing = {
        disk for disk in disks if chance.random() < chance.choice((0.1, 0.3))
    } or {chance.choice(disks)}
    read = set(disks) - {
        disk
        for disk in disks
        if disk not in failing and chance.random() < chance.choice((0, 0, 0.1))
    }
    return sorted(
        (
            Drive(
                disk,
                frozenset((disk,)),
                disk in failing and chance.random() < 0.8,
                disk in failing,
            )
            for disk in read
        ),
        key=lambda drive: (not drive.is_failing, not drive.is_to_replace),
    )


# --- the oracle -----------------------------------------------------------------------------------


def worlds(
    chance: random.Random, groups: Sequence[Group], drives: Sequence[Drive]
) -> Iterator[World]:
    """Yield worlds that the layers admit.

    The first has all copies in doubt stale; others spare a part of each array.

    A doubt about an array may concern any of its members, one about a member that one.
    """
    judged_disks = {disk for drive in drives for disk in drive.disks}
    unread = {
        each
        for group in groups
        for member in group.members
        for each in member.on
        if each[:2] == 'sd'
    } - judged_disks
    named = {
        (group.id, place)
        for group in groups
        for place, member in enumerate(group.members)
        if member.doubts or member.state == 'unknown'
    }
    open_ones = {
        group.id: list(range(len(group.members))) for group in groups if group.doubts
    }
    spares = {
        group.id
        for group in groups
        if group.doubts and any(member.state == 'spare' for member in group.members)
    }
    for number in range(
        WORLDS
        if named or open_ones or unread or any(group.missing for group in groups)
        else 1
    ):
        share = 1.0 if number == 0 else chance.random()
        stale = {each for each in named if chance.random() < share}
        for group, places in open_ones.items():
            stale |= {
                (group, place)
                for place in chance.sample(places, chance.randint(0, len(places)))
            }
        gone = {
            group.id: frozenset(chance.sample(range(group.slots), group.missing))
            for group in groups
            if group.missing
        }
        yield World(
            frozenset(stale),
            frozenset(disk for disk in unread if chance.random() < share),
            frozenset(group for group in spares if chance.random() < share / 2),
            gone,
        )


def reads(
    name: str, groups: Mapping[str, Group], world: World, removed: frozenset[str]
) -> bool:
    """Return whether all data of a disk or array can be read in a world."""
    if name not in groups:
        return name not in removed and name not in world.dead
    group = groups[name]
    held = [
        all(reads(each, groups, world, removed) for each in member.on)
        for member in group.members
    ]
    left = frozenset(
        member.slot
        for place, (member, holds) in enumerate(zip(group.members, held))
        if holds
        and member.slot is not None
        and member.state in ('in_sync', 'unknown')
        and (name, place) not in world.stale
        and member.slot not in world.gone.get(name, ())
    )
    journal = all(
        holds for member, holds in zip(group.members, held) if member.state == 'spare'
    )
    return is_readable(group.level, group.layout, group.slots, left) and (
        journal or name not in world.journals
    )


def lost(
    groups: Sequence[Group], steps: Sequence[Step], every: Iterator[World]
) -> list[tuple[str, World]]:
    """Return the arrays with data that the removal of all drives that are "next" loses, each
    with the world.
    """
    by_id = {group.id: group for group in groups}
    inside = {
        each for group in groups for member in group.members for each in member.on
    }
    removed = frozenset(
        disk for step in steps if step.label == NEXT for disk in step.drive.disks
    )
    data = [group.id for group in groups if group.used_as or group.id not in inside]
    return [
        (name, world)
        for world in every
        if removed
        for name in data
        if reads(name, by_id, world, frozenset())
        and not reads(name, by_id, world, removed)
    ]


def tried(machines: int, seed: int = 42) -> tuple[int, dict[str, int]]:
    """Return how many machines lose data, and how often each label was given."""
    chance, bad = random.Random(seed), 0
    labels: dict[str, int] = {}
    while sum(labels.values()) < machines:
        groups = made(chance)
        if groups:
            drives = judged(chance, groups)
            steps = order(Stack(groups), drives)
            told = next(
                (step.label for step in steps if step.label in (NEXT, UNKNOWN)), 'other'
            )
            labels[told] = labels.get(told, 0) + 1
            bad += bool(lost(groups, steps, worlds(chance, groups, drives)))
    return bad, labels


@pytest.mark.parametrize(
    'machines',
    [1000, pytest.param(100_000, marks=[pytest.mark.long, pytest.mark.timeout(1200)])],
)
def test_no_drive_that_is_next_takes_data_with_it(machines):
    bad, labels = tried(machines)

    assert bad == 0
    # so that the rule is tried
    assert labels[NEXT] > machines / 5 and labels[UNKNOWN] > machines / 20
