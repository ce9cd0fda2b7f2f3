"""The usual layouts of servers: a failing drive is next where its data has another copy, whatever
partitions the installer has made beside.
"""

import pytest
from block_tree import Machine, groups
from usual_layouts import (
    DISKS,
    FINE,
    LAYOUTS,
    Tree,
    lvm_raid,
    zfs_data_pool,
)

from smart_attributes.reading import system
from smart_attributes.redundancy import dmsetup, zpool
from smart_attributes.redundancy.dependence import Seen
from smart_attributes.redundancy.replacement import COPY, NEXT, Drive, Step, order
from smart_attributes.redundancy.survival import Stack


@pytest.fixture
def tree(tmp_path, monkeypatch) -> Tree:
    """A machine without disks; a command prints what has been made for it."""
    made = Tree(Machine(tmp_path))
    monkeypatch.setattr(system, 'output', lambda command: (made.printed[command], ''))
    return made


@pytest.mark.parametrize('layout', LAYOUTS, ids=lambda each: each.name)
def test_a_failing_drive_of_a_usual_layout(tree, layout):
    layout.made(tree)

    assert [failing(tree, disk).label for disk in DISKS] == [
        layout.of_sda,
        layout.of_sdb,
    ]
    assert 'inactive volumes' not in failing(tree, 'sdb').why


def failing(tree: Tree, name: str) -> Step:
    """Return the step of a drive that fails, as triage of root says it."""
    found = groups(tree.machine.system)
    for program in (zpool, dmsetup):
        if program.COMMAND in tree.printed:
            view = program.completed(Seen(groups=found), tree.machine.system)
            found = view.groups or ()
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
