"""Whether "next" ever loses data that lies beside arrays: random machines, from /sys to the labels.

The oracle shares no code with the package. The generator notes of each piece of data which sets of
disks hold a copy; the oracle removes all drives that are "next", and counts the copies left. What
an admin cannot see, such as a partition without a signature, counts as data.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from block_tree import Machine, groups

from smart_attributes.redundancy.replacement import (
    LAST,
    NEXT,
    UNKNOWN,
    Drive,
    Step,
    order,
)
from smart_attributes.redundancy.survival import Stack

LINUX = '0fc63daf-8483-4772-8e79-3d69d8477de4'
EFI = 'c12a7328-f81f-11d2-ba4b-00a0c93ec93b'
EMPTY = {  # type -> the signature that belongs to it
    EFI: 'vfat',
    '21686148-6449-6e6f-744e-656564454649': '',
    'e3c9e316-0b5c-4db8-817d-f92df00215ae': '',
    '9e1a2d38-c612-4316-aa26-8b49521e5a8b': '',
    '6a945a3b-1dd2-11b2-99a6-080020736631': '',
    '0x5': '',
}
UNKNOWN_CODES = ('use-unknown', 'redundancy-unknown', 'redundancy-doubtful')
UUID = '6e1961f1-5918-4ecc-a22f-{:012d}'


class Datum(NamedTuple):
    """A piece of data, and the disks that hold a copy of it."""

    what: str
    copies: tuple[str, ...]
    is_hidden: bool = False  # an inactive volume that no readable file lists


class Made:
    """A random machine, with what lies on it."""

    def __init__(self, chance: random.Random, folder: Path) -> None:
        self.chance, self.machine = chance, Machine(folder)
        self.disks = [
            f'sd{letter}' for letter in 'abcd'[: chance.choice((1, 2, 2, 3, 4))]
        ]
        self.parts = dict.fromkeys(self.disks, 0)
        self.data: list[Datum] = []
        self.is_evident = True  # there is evidence of everything
        self.arrays = self.volumes = 0
        # what uses a disk: one with nothing but empty partitions has no use that is known
        self.used: set[str] = set()
        for disk in self.disks:
            self.machine.disk(disk)
        for _ in range(chance.choice((0, 1, 1, 2, 3)) if len(self.disks) > 1 else 0):
            self.array() if chance.random() < 0.8 else self.btrfs()
        for disk in self.disks:
            for _ in range(chance.choice((0, 1, 1, 2))):
                self.part_of(disk)
        if chance.random() < 0.1:  # a container
            shutil.rmtree(self.machine.udev_data)
            self.is_evident = False

    def part(self, disk: str, entry_type: str = LINUX, signature: str = '') -> str:
        """Add a partition to a disk; return its name."""
        self.parts[disk] += 1
        name = f'{disk}{self.parts[disk]}'
        self.machine._device(name, self.machine.folder(disk) / name)
        self.machine.files(self.machine.folder(name), {'partition': self.parts[disk]})
        self.machine.typed(name, entry_type, signature)
        return name

    def holds(self, what: str, *disks: str, is_hidden: bool = False) -> None:
        self.data.append(Datum(what, disks, is_hidden))
        self.used.update(disks)

    # --- on several disks -------------------------------------------------------------------------

    def array(self) -> None:
        """Add a mirror, of which a member may be dropped, with something on it."""
        disks = self.chance.sample(self.disks, self.chance.randint(2, len(self.disks)))
        dropped = self.chance.choice(disks) if self.chance.random() < 0.2 else ''
        members = {
            self.part(disk, signature='linux_raid_member'): 'faulty none'
            if disk == dropped
            else 'in_sync'
            for disk in disks
        }
        name = f'md{self.arrays}'
        self.arrays += 1
        self.used.update(disks)
        self.machine.md(name, 'raid1', members)
        copies = [disk for disk in disks if disk != dropped]
        for what in self.on(name):
            self.holds(what, *copies)

    def btrfs(self) -> None:
        disks = self.chance.sample(self.disks, 2)
        parts = [self.part(disk, signature='btrfs') for disk in disks]
        self.arrays += 1
        uuid = UUID.format(self.arrays)
        self.machine.btrfs(uuid, {'data/raid1': 9}, tuple(parts), ({}, {}))
        self.holds('btrfs', *disks)

    def on(self, name: str) -> list[str]:
        """Put something on an array or partition; return the data."""
        kind = self.chance.choice(
            (
                'mounted',
                'mounted',
                'swap',
                'idle',
                'luks',
                'lvm',
                'lvm',
                'parts',
                'locked',
                'pool',
            )
        )
        if kind == 'parts' and not name.startswith('md'):
            kind = 'mounted'
        if kind == 'mounted':
            self.machine.mounted(f'/dev/{name}', f'/srv/{name}')
        elif kind == 'swap':
            self.machine.swap(f'/dev/{name}')
        elif kind == 'idle':
            self.machine.typed(name, LINUX, self.chance.choice(('ext4', 'xfs', 'ntfs')))
        elif kind == 'locked':
            self.machine.typed(name, LINUX, 'crypto_LUKS')
        elif kind == 'luks':
            volume = self.volume(f'{name}_crypt', 'CRYPT-LUKS2-' + 'b' * 32, name)
            return [f'{kind} {each}' for each in self.on(volume)]
        elif kind == 'lvm':
            return self.lvm(name)
        elif kind == 'pool':
            self.thin_pool(name)
        else:
            self.parted(name)
        # swap space on redundant storage is data of that storage
        return (
            [f'{kind} on {name}']
            if kind != 'swap' or name.startswith('md')
            else ['swap']
        )

    def volume(self, called: str, uuid: str, below: str) -> str:
        name = f'dm-{self.volumes}'
        self.volumes += 1
        self.machine.dm(name, called, uuid, below)
        return name

    def thin_pool(self, name: str) -> None:
        """Make a physical volume with a thin pool, of which no volume is active."""
        group = f'vg{self.volumes}'
        below = name
        for called, suffix in (
            ('p_tdata', '-tdata'),
            ('p-tpool', '-tpool'),
            ('p', '-pool'),
        ):
            volume = f'dm-{self.volumes}'
            self.volumes += 1
            self.machine.lv(volume, group, called, below, suffix=suffix)
            below = volume

    def parted(self, name: str) -> None:
        """Partition an array; what is on it has its redundancy, whether it is known or not."""
        for number, signature in enumerate(('ext4', '', 'swap'), 1):
            part = f'{name}p{number}'
            self.machine._device(part, self.machine.folder(name) / part)
            self.machine.typed(part, LINUX, signature)

    def lvm(self, name: str) -> list[str]:
        """Make a physical volume with an active volume, and perhaps one that is not active."""
        group = f'vg{self.volumes}'
        active = f'dm-{self.volumes}'
        self.volumes += 1
        self.machine.lv(active, group, 'a', name)
        is_swap = self.chance.random() < 0.3
        if is_swap:
            self.machine.swap(f'/dev/{active}')
        elif self.chance.random() < 0.8:
            self.machine.mounted(f'/dev/{active}', f'/{group}')
        volumes = {'a': (name,)}
        if self.chance.random() < 0.4:
            volumes['vm'] = (name,)
        self.machine.volume_group(group, (name,), volumes)
        if self.chance.random() < 0.2:
            (self.machine.lvm / group).unlink()
            self.is_evident = False
            return [
                'swap' if is_swap else 'lv',
                *('hidden' for each in volumes if each == 'vm'),
            ]
        return [
            'swap' if is_swap else 'lv',
            *(each for each in volumes if each == 'vm'),
        ]

    # --- on one disk ------------------------------------------------------------------------------

    def part_of(self, disk: str) -> None:
        kind = self.chance.choice(
            ('empty', 'empty', 'empty', 'swap', 'data', 'efi', 'nothing')
        )
        if kind == 'empty':
            entry_type = self.chance.choice([*EMPTY])
            self.part(disk, entry_type, EMPTY[entry_type])
        elif kind == 'swap':
            self.part(disk, signature='swap')
        elif kind == 'efi':
            self.machine.mounted(f'/dev/{self.part(disk, EFI, "vfat")}', '/boot/efi')
            self.holds('efi', disk)
        elif kind == 'nothing':
            if self.chance.random() < 0.3:
                self.part(disk)
                self.holds('unknown', disk)
                self.is_evident = False
        elif kind == 'data':
            self.used.add(disk)
            for what in self.on(self.part(disk)):
                if what != 'swap' and not what.endswith(' swap'):
                    self.holds(what, disk, is_hidden=what.endswith('hidden'))


def judged(chance: random.Random, disks: Sequence[str]) -> list[Drive]:
    """Return all drives of a machine, of which at least one is failing, those first."""
    failing = {disk for disk in disks if chance.random() < 0.2} or {
        chance.choice(disks)
    }
    drives = [
        Drive(disk, frozenset((disk,)), disk in failing, disk in failing)
        for disk in disks
    ]
    return sorted(drives, key=lambda drive: not drive.is_failing)


def lost(made: Made, steps: Sequence[Step]) -> list[str]:
    """Return the data that is lost with all drives that are "next"."""
    removed = {step.drive.name: step for step in steps if step.label == NEXT}
    return [
        datum.what
        for datum in made.data
        if removed.keys() >= set(datum.copies)
        and not (datum.is_hidden and 'inactive volumes' in removed[datum.copies[0]].why)
    ]


def too_careful(
    made: Made, drives: Sequence[Drive], steps: Sequence[Step]
) -> list[str]:
    """Return the failing drives that are not "next" although their data has other copies, on a
    machine with all evidence.
    """
    failing = {drive.name for drive in drives if drive.is_failing}
    others = [
        step
        for step in steps
        if step.drive.is_to_replace is False and step.label != LAST
    ]
    # a dropped member comes first
    if not made.is_evident or len(failing) > 1 or others:
        return []
    needed = any(failing >= set(datum.copies) for datum in made.data)
    return [
        step.drive.name
        for step in steps
        if step.drive.is_failing
        and step.label != NEXT
        and not needed
        and step.drive.name in made.used
    ]


class Tally(NamedTuple):
    """What was found on many machines."""

    bad: list[str]
    labels: dict[str, int]
    evident: int  # steps of drives to replace on machines with all evidence
    # of these, the ones whose label or reason is that something is not known
    unknown: int


def tried(folder: Path, machines: int, seed: int) -> Tally:
    chance = random.Random(seed)
    bad: list[str] = []
    labels: dict[str, int] = {}
    evident = unknown = 0
    for number in range(machines):
        shutil.rmtree(folder, ignore_errors=True)
        made = Made(chance, folder)
        drives = judged(chance, made.disks)
        steps = order(Stack(groups(made.machine.system)), drives)
        bad += [f'{number}: loses {what}' for what in lost(made, steps)]
        bad += [
            f'{number}: {name} is not next' for name in too_careful(made, drives, steps)
        ]
        for step in steps:
            labels[step.label] = labels.get(step.label, 0) + 1
            if (
                made.is_evident
                and step.drive.is_to_replace
                and step.drive.name in made.used
            ):
                evident += 1
                unknown += step.label == UNKNOWN or step.why.code in UNKNOWN_CODES
    return Tally(bad, labels, evident, unknown)


@pytest.mark.parametrize(
    'machines',
    [300, pytest.param(1_000, marks=[pytest.mark.long, pytest.mark.timeout(3600)])],
)
def test_no_drive_that_is_next_takes_data_with_it(tmp_path, machines):
    found = tried(tmp_path / 'machine', machines, 67)

    assert found.bad == []
    assert found.labels[NEXT] > machines / 5  # so that the rule is tried
    assert found.evident > machines / 4 and found.unknown <= found.evident / 100
