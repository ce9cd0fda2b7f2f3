"""The usual layouts of servers: a failing drive is next where its data has another copy, whatever
partitions the installer has made beside.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from block_tree import Machine
from usual_layouts import (
    DISKS,
    LAYOUTS,
    LINUX_DATA,
    RAID,
    SWAP,
    Part,
    lvm_raid,
    partitions,
    zfs_data_pool,
)

from smart_attributes.reading import system
from smart_attributes.redundancy import dmsetup, zpool
from smart_attributes.redundancy.dependence import groups
from smart_attributes.redundancy.replacement import COPY, NEXT, Drive, Step, order
from smart_attributes.redundancy.survival import Stack

BTRFS = '6e1961f1-5918-4ecc-a22f-948897b409f7'
FINE = 'ONLINE       0     0     0'


class Tree:
    """A usual_layouts.Server as a tree of /sys."""

    def __init__(self, machine: Machine) -> None:
        self.machine, self.volumes, self.printed = machine, 0, dict[tuple[str, ...], str]()
        self.names: dict[str, str] = {}  # name of a volume -> the kernel's name

    def disks(self, *parts: Part, only_on_sda: Sequence[Part] = ()) -> None:
        for disk in DISKS:
            made = tuple(partitions([*parts, *(only_on_sda if disk == 'sda' else ())]))
            self.machine.disk(disk, *(f'{disk}{part.number}' for part in made))
            for part in made:
                self.machine.typed(f'{disk}{part.number}', part.entry_type, part.signature)

    def mirror(self, name: str, used: str, *members: str) -> None:
        below = (self.names.get(member, member) for member in members)
        self.machine.md(name, 'raid1', dict.fromkeys(below, 'in_sync'))
        self.uses(name, used)

    def encrypted(self, name: str, used: str, below: str) -> None:
        self.names[name] = self._volume()
        self.machine.dm(self.names[name], name, 'CRYPT-LUKS2-a', below)
        self.uses(self.names[name], used)

    def lv(self, group: str, name: str, used: str, *below: str, suffix: str = '') -> str:
        volume = self._volume()
        self.machine.lv(volume, group, name, *below, suffix=suffix)
        self.uses(volume, used)
        return volume

    def _volume(self) -> str:
        self.volumes += 1
        return f'dm-{self.volumes - 1}'

    def thin(self, group: str, pool: str, name: str, used: str, below: str) -> None:
        meta = self.lv(group, f'{pool}_tmeta', '', below, suffix='-tmeta')
        data = self.lv(group, f'{pool}_tdata', '', below, suffix='-tdata')
        self.lv(group, name, used, self.lv(group, f'{pool}-tpool', '', meta, data, suffix='-tpool'))

    def lvm_mirror(self, group: str, name: str, used: str, *below: str) -> None:
        inner = {
            f'{name}_{kind}_{number}': (device,)
            for number, device in enumerate(below)
            for kind in ('rmeta', 'rimage')
        }
        images = [
            self.lv(group, image, '', *devices, suffix=f'-{image.split("_")[1]}')
            for image, devices in inner.items()
        ]
        self.lv(group, name, used, *images)
        spare = {'lvol0_pmspare': below[:1]}
        self.machine.volume_group(group, below, {name: tuple(inner), **inner, **spare})
        self.printed[dmsetup.COMMAND] = f'{group}-{name}: 0 8 raid raid1 2 AA 4/4 idle 0 0 -\n'

    def btrfs(self, used: str, *members: str) -> None:
        self.machine.btrfs(BTRFS, {'data/raid1': 9}, members, ({}, {}))
        self.machine.mounted(f'/dev/{members[0]}', used, 'btrfs', '0:33')

    def uses(self, name: str, used: str) -> None:
        if used == SWAP:
            self.machine.swap(f'/dev/{name}')
        elif used:
            self.machine.mounted(f'/dev/{name}', used)

    def zfs_member(self, device: str, pool: str) -> None:
        self.machine.udev(device, 'zfs_member', pool, ID_PART_ENTRY_TYPE=LINUX_DATA)
        link = self.machine.sys / 'class/block' / device
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(self.machine.folder(device))

    def add_to_pool(self, device: str, pool: str, rows: str = '') -> None:
        """Add a partition with the label of a pool, and what zpool prints of it."""
        disk = device[:3]
        if disk not in self.machine.numbers:
            self.machine.disk(disk)
        folder = self.machine._device(device, self.machine.folder(disk) / device)
        self.machine.files(folder, {'partition': device[3:]})
        self.zfs_member(device, pool)
        if rows:
            before, end, after = self.printed[zpool.COMMAND].partition('\n\nerrors')
            self.printed[zpool.COMMAND] = f'{before}\n{rows}{end}{after}'

    def pool(self, name: str, number: str) -> None:
        for disk in DISKS:
            self.zfs_member(f'{disk}{number}', name)
        self.machine.files(self.machine.proc, {f'spl/kstat/zfs/{name}/state': 'ONLINE'})
        rows = (name, '  mirror-0', f'    /dev/sda{number}', f'    /dev/sdb{number}')
        table = '\n'.join(f'\t{row:<20}  {FINE}' for row in rows)
        head = f'\t{"NAME":<20}  STATE     READ WRITE CKSUM'
        self.printed[zpool.COMMAND] = (
            f'  pool: {name}\n state: ONLINE\nconfig:\n\n{head}\n{table}\n\n'
            'errors: No known data errors\n'
        )


@pytest.fixture
def tree(tmp_path, monkeypatch) -> Tree:
    """A machine without disks; a command prints what has been made for it."""
    made = Tree(Machine(tmp_path))
    monkeypatch.setattr(system, 'output', lambda command: (made.printed[command], ''))
    return made


@pytest.mark.parametrize('layout', LAYOUTS, ids=lambda each: each.name)
def test_a_failing_drive_of_a_usual_layout(tree, layout):
    layout.made(tree)

    assert [failing(tree, disk).label for disk in DISKS] == [layout.of_sda, layout.of_sdb]
    assert 'inactive volumes' not in failing(tree, 'sdb').why


def failing(tree: Tree, name: str) -> Step:
    """Return the step of a drive that fails, as triage of root says it."""
    found = groups(None, tree.machine.system)
    for program in (zpool, dmsetup):
        if program.COMMAND in tree.printed:
            found, _ = program.completed(found, tree.machine.system)
    disks = [disk for disk in (*DISKS, 'sdc') if disk in tree.machine.numbers]
    drives = [Drive(disk, frozenset((disk,)), *[disk == name] * 2) for disk in disks]
    return {step.drive.name: step for step in order(Stack(found), drives)}[name]


def test_a_label_of_lvm_without_its_backup_says_what_it_rests_on(tree):
    """Also without udev, whose database a container lacks: zpool and LVM name their devices."""
    lvm_raid(tree)
    (tree.machine.lvm / 'vg0').unlink()
    step = failing(tree, 'sdb')

    assert (step.label, step.why.code) == (NEXT, 'replace-next')
    assert 'lvs -o +devices vg0' in step.why


def test_without_udev_zpool_accounts_for_its_devices(tree):
    tree.disks(('', 'zfs_member'))
    tree.pool('tank', '1')
    for entry in tree.machine.udev_data.iterdir():
        entry.unlink()

    assert failing(tree, 'sdb').label == NEXT


@pytest.mark.parametrize(
    'section, state, code',
    [('cache', FINE, 'only-log-or-cache'), ('spares', 'AVAIL', 'member-not-used')],
)
def test_a_cache_or_spare_of_a_pool_is_next(tree, section, state, code):
    """Its label has no name of a pool."""
    zfs_data_pool(tree)
    tree.add_to_pool('sdc1', '', f'\t{section}\n\t{"  /dev/sdc1":<20}  {state}')
    step = failing(tree, 'sdc')

    assert (step.label, step.why.code) == (NEXT, code)


def test_a_pool_that_is_not_imported_may_have_the_name_of_another(tree):
    zfs_data_pool(tree)
    tree.add_to_pool('sda3', 'tank')

    assert failing(tree, 'sda').label == COPY
    assert failing(tree, 'sdb').label == NEXT


def test_swap_space_of_an_appliance_has_no_signature(tree):
    """TrueNAS makes a partition for swap on each disk, but uses some of them only."""
    tree.disks(('0657fd6d-a4ab-43c4-84e5-0933c84b4f4f', ''), ('', RAID))
    tree.mirror('md0', '/', 'sda2', 'sdb2')

    assert failing(tree, 'sdb').label == NEXT
