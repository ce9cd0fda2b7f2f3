"""The plan of a machine: which steps it has, in which order, and what their commands contain."""
from __future__ import annotations

import itertools
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import block_tree
import pytest
from conftest import ROOT

from smart_attributes.errors import Coded
from smart_attributes.model import Device, Group, Identity, Judgement, Member, Reading, Source, State, Verdict
from smart_attributes.output import triage_table
from smart_attributes.reading.system import System
from smart_attributes.redundancy import block_devices, dependence, replacement
from smart_attributes.redundancy.surroundings import Around, surroundings
from smart_attributes.redundancy.survival import doubt
from smart_attributes.work import plan, work_list
from smart_attributes.work.plan_steps import PlanStep

DATA = json.loads((ROOT / 'smart_attributes/work/plan.json').read_text())
STEPS = ROOT / 'tests/plan_steps.txt'
EFI = 'E:ID_PART_ENTRY_TYPE=c12a7328-f81f-11d2-ba4b-00a0c93ec93b\nE:ID_FS_TYPE=vfat'
UUID = '0123abcd-0000-0000-0000-000000000000'
MD_UUID = '3aaa0122:29827cfa:5331ad66:ca767371'
DIFFERS = doubt('its members differ from each other', 'COMMAND', 'mismatch_cnt')
GROUPS = (Group('md0', 'md0', 'md', 'raid1', used_as=('/srv',)), Group('dm-0', 'vg0/home', 'lvm', 'raid1'),
          Group('btrfs 0123', 'pool', 'btrfs', 'raid1', used_as=('/b',)),
          Group('zfs tank/mirror-0', 'tank/mirror-0', 'zfs', 'mirror'),
          Group('/c0/v1', 'c0 v1', 'hardware', 'raid1'), Group('sda1', 'sda1', 'swap', 'single', used_as=('swap',)))
FAILS = Judgement(Reading('pending', 500.0, '', Source()), State.CRITICAL, concern='data')


@pytest.fixture
def machine(tmp_path: Path) -> block_tree.Machine:
    return block_tree.Machine(tmp_path / 'machine')


def verdict(name: str, is_failing: bool) -> Verdict:
    return Verdict(Device(f'/dev/{name}', name=name), Identity('ATA', 'ACME'),
                   State.CRITICAL if is_failing else State.OK, (FAILS,) * is_failing)


def tasks(machine: block_tree.Machine, failing: Sequence[str] = (),
          healthy: Sequence[str] = (), unread: Sequence[str] = ()) -> tuple[plan.Task, ...]:
    """Return the plan of a machine. failing, healthy: the drives that were checked. unread: that do not answer."""
    verdicts = [verdict(name, name in failing) for name in (*failing, *healthy)]
    verdicts += [Verdict(Device(f'/dev/{name}', name=name), Identity('ATA', 'ACME'), State.UNKNOWN,
                         problem='it does not answer', code='timeout') for name in unread]
    found = dependence.examined(tuple(verdicts), lambda each: work_list.drives(each, 0), system=machine.system)
    assert not found.remarks, found.remarks
    if found.machine is None:
        return ()
    items = work_list.in_order(work_list.with_items(found.verdicts, 0), found.machine, 0)
    return plan.plan(found.machine, items, around([each.group for each in found.machine.groups], machine.system))


def around(groups: Sequence[Group], system: System, has_led_tool: bool = False) -> Around:
    """Return the surroundings of groups, whether or not this host has ledctl."""
    return surroundings(groups, system)._replace(has_led_tool=has_led_tool)


def codes(task: plan.Task) -> list[str]:
    return [step.code for step in task.steps]


def commands(found: Sequence[plan.Task]) -> list[str]:
    return [each for task in found for step in task.steps
            for each in (step.see, *step.run, step.until, step.check) if each]


def mirror(machine: block_tree.Machine, **states: str) -> None:
    machine.disks('sda', 'sdb')
    machine.md('md0', 'raid1', {'sda1': states.get('sda', 'in_sync'), 'sdb1': states.get('sdb', 'in_sync')})
    machine.mounted('/dev/md0', '/srv')


def raid5_with_a_spare(machine: block_tree.Machine) -> None:
    for name in ('sda', 'sdb', 'sdc', 'sdd'):
        machine.disk(name)
    machine.md('md0', 'raid5', {**dict.fromkeys(('sda', 'sdb', 'sdc'), 'in_sync'), 'sdd': 'spare none'}, raid_disks='3')


def system_disk(machine: block_tree.Machine) -> None:
    machine.disk('sda', 'sda1', 'sda2', 'sda3')
    machine.disk('sdb', 'sdb1', 'sdb2', 'sdb3')
    machine.md('md0', 'raid1', {'sda2': 'in_sync', 'sdb2': 'in_sync'})
    machine.mounted('/dev/md0', '/')
    machine.swap('/dev/sda3')
    machine.files(machine.udev_data, {f'b{machine.numbers["sda1"]}': EFI})
    (machine.sys / 'firmware/efi').mkdir(parents=True)


def only_copy_is_dying(machine: block_tree.Machine) -> None:
    mirror(machine, sdb='faulty none')


def container(machine: block_tree.Machine) -> None:
    machine.disk('sda')
    machine.disk('sdb')
    machine.md('md126', 'raid1', {'sda': 'in_sync', 'sdb': 'in_sync'}, metadata_version='external:/md127/0')


def container_with_a_spare(machine: block_tree.Machine) -> None:
    container(machine)
    machine.disk('sdc')
    machine.md('md127', '', dict.fromkeys(('sda', 'sdb', 'sdc'), 'spare none'), array_state='inactive',
               metadata_version='external:imsm')


def btrfs(machine: block_tree.Machine) -> None:
    machine.disks('sda', 'sdb')
    machine.btrfs(UUID, {'data/raid1': 5, 'metadata/raid1': 5}, ('sda1', 'sdb1'), ({}, {}), 'pool')
    machine.mounted('/dev/sda1', '/b', 'btrfs', '0:50')


def btrfs_with_errors(machine: block_tree.Machine, state: str = 'running') -> None:
    machine.disks('sda', 'sdb')
    machine.btrfs(UUID, {'data/raid1': 5, 'metadata/raid1': 5}, ('sda1', 'sdb1'),
                  ({'error_stats': block_tree.errors(write=5)}, {}), 'pool')
    machine.mounted('/dev/sda1', '/b', 'btrfs', '0:50')
    machine.files(machine.folder('sda'), {'device/state': state})


def btrfs_with_a_dead_disk(machine: block_tree.Machine) -> None:
    btrfs_with_errors(machine, 'offline')


def btrfs_with_a_missing_device(machine: block_tree.Machine) -> None:
    machine.disks('sda')
    machine.btrfs(UUID, {'data/raid1': 5, 'metadata/raid1': 5}, ('sda1',), ({}, {'missing': 1}), 'pool')
    machine.mounted('/dev/sda1', '/b', 'btrfs', '0:50')


def volume(machine: block_tree.Machine) -> None:
    machine.disks('sda')
    machine.dm('dm-0', 'vg0-home', 'LVM-' + 'a' * 64, 'sda1')
    machine.mounted('/dev/mapper/vg0-home', '/home', number=machine.numbers['dm-0'])


def encrypted_mirror(machine: block_tree.Machine) -> None:
    machine.disks('sda', 'sdb')
    machine.dm('dm-0', 'a', 'CRYPT-LUKS2-' + '0' * 32, 'sda1')
    machine.dm('dm-1', 'b', 'CRYPT-LUKS2-' + '1' * 32, 'sdb1')
    machine.btrfs(UUID, {'data/raid1': 5, 'metadata/raid1': 5}, ('dm-0', 'dm-1'), ({}, {}), 'pool')
    machine.mounted('/dev/mapper/a', '/b', 'btrfs', '0:50')


def encrypted_array_without_a_member(machine: block_tree.Machine) -> None:
    machine.disks('sda', 'sdb', 'sdc')
    machine.dm('dm-0', 'a', 'CRYPT-LUKS2-' + '0' * 32, 'sda1')
    machine.dm('dm-1', 'b', 'CRYPT-LUKS2-' + '1' * 32, 'sdb1')
    machine.md('md0', 'raid5', {'dm-0': 'in_sync', 'dm-1': 'in_sync'}, raid_disks='3')


def encrypted_swap(machine: block_tree.Machine) -> None:
    machine.disks('sda')
    machine.dm('dm-0', 'cryptswap', 'CRYPT-PLAIN-cryptswap', 'sda1')
    machine.swap('/dev/dm-0')


def volume_on_two_partitions(machine: block_tree.Machine) -> None:
    machine.disk('sda', 'sda1', 'sda2')
    machine.dm('dm-0', 'vg0-guest', 'LVM-' + 'a' * 64, 'sda1', 'sda2')


def system_that_dropped_a_disk(machine: block_tree.Machine) -> None:
    """Make a complete array whose dropped disk has the EFI partition."""
    for name in ('sda', 'sdb', 'sdc'):
        machine.disk(name, f'{name}1', f'{name}2')
    machine.md('md0', 'raid1', {'sda2': 'faulty none', 'sdb2': 'in_sync', 'sdc2': 'in_sync'}, raid_disks='2')
    machine.mounted('/dev/md0', '/')
    machine.files(machine.udev_data, {f'b{machine.numbers["sda1"]}': EFI})
    (machine.sys / 'firmware/efi').mkdir(parents=True)


def dead_system_disk(machine: block_tree.Machine) -> None:
    system_disk(machine)
    machine.mounted('/dev/sda1', '/boot/efi', 'vfat')
    machine.files(machine.udev_data, {f'b{machine.numbers["sdb1"]}': EFI})
    machine.files(machine.folder('sda'), {'device/state': 'offline'})


def bad_blocks(*states: str, level: str = 'raid1') -> Callable[[block_tree.Machine], None]:
    """Return a function that makes a mirror whose first member has bad blocks. 'missing': a place without a member."""
    def made(machine: block_tree.Machine) -> None:
        members = {f'sd{letter}1': state for letter, state in zip('abc', states) if state != 'missing'}
        machine.disks(*(name[:3] for name in members))
        folder = machine.md('md0', level, members, raid_disks=str(len(states)),
                            layout='258' if level == 'raid10' else '0')
        machine.files(folder / 'md/dev-sda1', {'bad_blocks': '2048 8'})
    return made


def mirror_of_three_that_lost_one(machine: block_tree.Machine) -> None:
    machine.disks('sda', 'sdb', 'sdc')
    machine.md('md0', 'raid1', {'sda1': 'faulty none', 'sdb1': 'in_sync', 'sdc1': 'in_sync'}, raid_disks='3')


def container_that_differs(machine: block_tree.Machine) -> None:
    container(machine)
    machine.files(machine.sys / 'block/md126/md', {'mismatch_cnt': '128'})


def partition(machine: block_tree.Machine) -> None:
    machine.disks('sda')
    machine.mounted('/dev/sda1', '/data')


def ceph(machine: block_tree.Machine) -> None:
    machine.disk('sda')
    machine.udev('sda', 'ceph_bluestore')


def rebuilding(machine: block_tree.Machine) -> None:
    machine.disks('sda', 'sdb')
    machine.md('md0', 'raid1', {'sda1': 'in_sync', 'sdb1': 'spare'}, sync_action='recover', sync_completed='1 / 4')


def doubtful(machine: block_tree.Machine) -> None:
    machine.disks('sda', 'sdb')
    machine.md('md0', 'raid1', {'sda1': 'in_sync', 'sdb1': 'in_sync'}, mismatch_cnt='128')


def raid6_without_a_member(machine: block_tree.Machine, **texts: str) -> None:
    machine.disks('sda', 'sdb', 'sdc')
    machine.md('md0', 'raid6', {'sda1': 'in_sync', 'sdb1': 'in_sync', 'sdc1': 'in_sync'}, raid_disks='4', **texts)


def raid6_without_a_member_whose_others_differ(machine: block_tree.Machine) -> None:
    raid6_without_a_member(machine, mismatch_cnt='8')


def raid5_that_differs(machine: block_tree.Machine) -> None:
    machine.disks('sda', 'sdb', 'sdc')
    machine.md('md0', 'raid5', {'sda1': 'in_sync', 'sdb1': 'in_sync', 'sdc1': 'in_sync'}, mismatch_cnt='8')


def removed(machine: block_tree.Machine, array: str = MD_UUID, **texts: str) -> None:
    """Make an array without sdb1, which was taken out of it and is still connected. array: its UUID."""
    machine.disks('sda', 'sdb', 'sdc')
    machine.md('md0', 'raid1', {'sda1': 'in_sync', 'sdc1': 'in_sync'}, **texts)
    machine.files(machine.udev_data, {f'b{machine.numbers["md0"]}': f'E:MD_UUID={array}',
                                      f'b{machine.numbers["sdb1"]}': 'E:ID_FS_TYPE=linux_raid_member\nE:ID_FS_UUID='
                                      + MD_UUID.replace(':', '-')})


def removed_and_not_replaced(machine: block_tree.Machine) -> None:
    removed(machine, raid_disks='3')


def journal(machine: block_tree.Machine, **texts: str) -> None:
    """Make an array with a journal on sdd1 and a spare on sde1."""
    machine.disks('sda', 'sdb', 'sdc', 'sdd', 'sde')
    machine.md('md0', 'raid5', {'sda1': 'in_sync', 'sdb1': 'in_sync', 'sdc1': 'in_sync', 'sdd1': 'journal none',
                                'sde1': 'spare none'},
               **{'raid_disks': '3', 'consistency_policy': 'journal',
                  'journal_mode': '[write-through] write-back', **texts})


def in_doubt_beside_a_partition(machine: block_tree.Machine) -> None:
    """Make a mounted partition beside a member of an array that is in doubt."""
    machine.disk('sda', 'sda1', 'sda2')
    machine.disk('sdb', 'sdb1', 'sdb2')
    machine.md('md0', 'raid1', {'sda1': 'in_sync', 'sdb1': 'in_sync'}, sync_action='frozen')
    machine.mounted('/dev/sda2', '/data')


def journal_with_data(machine: block_tree.Machine) -> None:
    journal(machine, journal_mode='write-through [write-back]')


def multipath(machine: block_tree.Machine) -> None:
    """Make a mirror of the second partitions of two disks, the first of which has two paths."""
    machine.disk('sda', 'sda1', 'sda2')   # the kernel finds the partitions on each path, too
    machine.disk('sdb', 'sdb1', 'sdb2')
    machine.disk('sdc', 'sdc1', 'sdc2')
    machine.dm('dm-0', 'mpatha', 'mpath-35000c500a1b2c3d4', 'sda', 'sdb')
    machine.dm('dm-1', 'mpatha-part2', 'part2-mpath-35000c500a1b2c3d4', 'dm-0')
    machine.md('md0', 'raid1', {'dm-1': 'in_sync', 'sdc2': 'in_sync'})
    machine.mounted('/dev/md0', '/srv')


def pool(machine: block_tree.Machine) -> None:
    machine.disks('sda')
    machine.udev('sda1', 'zfs_member', 'tank')


JOURNAL = ['journal-unmount', 'md-journal']
START = ['new-disk', 'partitions']
PLANS = [
    # what the machine is, its failing and healthy drives, and for each task its code and its steps
    pytest.param(mirror, 'sda', 'sdb', {'replace-next': [
        *START, 'md-add', 'md-replace', 'md-remove', 'pull', 'again']}, id='mirror'),
    pytest.param(raid5_with_a_spare, 'sda', 'sdb sdc sdd', {'replace-next': [
        'md-replace', 'md-remove', 'new-disk', 'md-spare', 'pull', 'again']}, id='a-spare-is-used-at-once'),
    pytest.param(raid5_with_a_spare, 'sda sdd', 'sdb sdc', {
        'replace-next': ['new-disk', 'md-add', 'md-replace', 'md-remove', 'pull', 'again'],
        'member-not-used': ['md-drop', 'pull', 'again']}, id='a-failing-spare-is-not'),
    pytest.param(system_disk, 'sda', 'sdb', {'replace-next': [
        *START, 'swap-off', 'swap-new', 'md-add', 'md-replace', 'md-remove', 'efi', 'boot-entry', 'pull', 'again']},
        id='swap-and-an-efi-partition-that-nothing-mounts'),
    pytest.param(only_copy_is_dying, 'sda', 'sdb', {'last-good-copy': [
        'copy-place', 'copy-files', *START, 'md-add', 'again']}, id='copied-before-a-rebuild'),
    pytest.param(only_copy_is_dying, '', 'sda sdb', {
        'member-not-used': [*START, 'md-drop', 'md-add', 'pull', 'again']}, id='one-task-for-a-group'),
    pytest.param(mirror, 'sda sdb', '', {'data-at-risk': [
        'copy-place', 'copy-files', *START, 'md-add', 'md-replace', 'md-remove', 'pull', 'again']}, id='both-fail'),
    pytest.param(container, 'sda', 'sdb', {'replace-next': [
        'new-disk', 'container-add', 'container-fail', 'container-remove', 'pull', 'again']}, id='container'),
    pytest.param(container_with_a_spare, 'sda', 'sdb sdc', {'replace-next': [
        'container-spare', 'container-fail', 'container-remove', 'new-disk', 'container-add', 'pull', 'again']},
        id='container-with-a-spare'),
    pytest.param(btrfs, 'sda', 'sdb', {'replace-next': [*START, 'btrfs-replace', 'pull', 'again']}, id='btrfs'),
    pytest.param(btrfs_with_errors, 'sda', 'sdb', {'redundancy-doubtful': ['remedy', 'again']}, id='btrfs-in-doubt'),
    pytest.param(btrfs_with_a_dead_disk, 'sda', 'sdb', {'replace-next': [
        *START, 'btrfs-replace-dead', 'remedy', 'pull', 'again']}, id='btrfs-with-a-dead-disk'),
    pytest.param(btrfs_with_a_missing_device, '', 'sda', {'last-good-copy': [*START, 'btrfs-restore', 'again']},
                 id='btrfs-with-a-missing-device'),
    pytest.param(volume, 'sda', '', {'no-redundancy': [
        *START, 'lvm-extend', 'lvm-move', 'lvm-reduce', 'pull', 'again']}, id='lvm'),
    pytest.param(encrypted_mirror, 'sda', 'sdb', {'replace-next': [
        *START, 'luks-format', 'btrfs-replace', 'pull', 'again']}, id='a-layer-between'),
    pytest.param(partition, 'sda', '', {'no-redundancy': [*START, 'unmount', 'copy-part', 'pull', 'again']},
                 id='partition'),
    pytest.param(ceph, 'sda', '', {'leave-cluster': [
        'ceph-find', 'ceph-out', 'ceph-destroy', 'new-disk', 'ceph-create', 'pull', 'again']}, id='ceph'),
    pytest.param(rebuilding, '', 'sda sdb', {'group-rebuilding': ['md-wait', 'again']}, id='rebuilding'),
    pytest.param(doubtful, 'sda', 'sdb', {'redundancy-doubtful': [
        'copy-place', 'copy-half', 'copy-half', 'remedy', 'md-compare', 'again']}, id='in-doubt'),
    pytest.param(mirror, 'sda', '', {'members-not-checked': ['look']}, id='not-checked'),
    pytest.param(raid6_without_a_member, '', 'sda sdb sdc', {
        'degraded': [*START, 'md-add', 'again']}, id='a-group-that-lacks-a-member-only'),
    pytest.param(raid6_without_a_member_whose_others_differ, '', 'sda sdb sdc', {
        'degraded': [*START, 'copy-place', 'copy-half', 'copy-half', 'copy-half', 'md-add', 'again']},
        id='a-rebuild-that-overwrites-a-parity'),
    pytest.param(raid5_that_differs, 'sda', 'sdb sdc', {'redundancy-doubtful': [
        'copy-place', 'copy-half', 'copy-half', 'copy-half', 'remedy', 'md-compare', 'again']},
        id='a-repair-that-overwrites-a-parity'),
    pytest.param(removed, 'sdb', 'sda sdc', {'member-not-used': ['pull', 'again']}, id='taken-out-and-not-yet-pulled'),
    pytest.param(removed_and_not_replaced, 'sdb', 'sda sdc', {
        'member-not-used': [*START, 'md-add', 'pull', 'again']}, id='taken-out-and-not-yet-replaced'),
    pytest.param(journal, 'sdd', 'sda sdb sdc sde', {'only-log-or-cache': [
        *START, *JOURNAL, 'pull', 'again']}, id='journal'),
    pytest.param(journal_with_data, 'sdd', 'sda sdb sdc sde', {
        'redundancy-doubtful': ['remedy', 'md-compare', 'again']}, id='journal-with-data'),
    pytest.param(in_doubt_beside_a_partition, 'sda', 'sdb', {'no-redundancy': [
        *START, 'unmount', 'copy-part', 'copy-place', 'copy-half', 'copy-half', 'remedy', 'md-compare', 'md-add',
        'md-replace', 'md-remove', 'pull', 'again']},
        id='in-doubt-beside-a-partition'),
    pytest.param(multipath, 'sda', 'sdb sdc', {'replace-next': [
        *START, 'md-add', 'md-replace', 'md-remove', 'pull', 'again']}, id='partition-of-a-multipath-volume'),
    pytest.param(raid6_without_a_member, 'sda sdb', 'sdc', {
        'degraded': ['copy-place', 'copy-array', *START, 'md-add', 'again']}, id='dying-together'),
    # mdadm 4.4 copies the superblock of the first member, whose list of bad blocks Linux 6.8 refuses on the new disk:
    # mdadm, pull request 154.
    pytest.param(bad_blocks('in_sync', 'in_sync'), 'sda', 'sdb', {'replace-next': [
        *START, 'md-rewrite', 'md-add', 'md-replace', 'md-remove', 'pull', 'again']}, id='own-bad-blocks'),
    pytest.param(bad_blocks('in_sync', 'in_sync', 'faulty none'), 'sda sdb', 'sdc', {'degraded': [
        'copy-place', 'copy-array', *START, 'md-rewrite', 'md-add', 'again']}, id='bad-blocks-of-another-member'),
    pytest.param(bad_blocks('in_sync', 'in_sync', level='raid10'), 'sda', 'sdb', {'replace-next': [
        *START, 'md-add', 'md-replace', 'md-remove', 'pull', 'again']}, id='bad-blocks-that-no-repair-rewrites'),
    pytest.param(bad_blocks('in_sync', 'missing'), '', 'sda', {'last-good-copy': [*START, 'md-add', 'again']},
                 id='bad-blocks-of-the-last-copy'),
    pytest.param(mirror_of_three_that_lost_one, 'sdb sdc', 'sda', {
        'degraded': ['copy-place', 'copy-array', *START, 'md-add', 'again']}, id='all-others-are-dying'),
    pytest.param(volume_on_two_partitions, 'sda', '', {'no-redundancy': [
        *START, *['lvm-extend', 'lvm-move', 'lvm-reduce'] * 2, 'pull', 'again']}, id='lvm-on-two-partitions'),
    pytest.param(encrypted_array_without_a_member, '', 'sda sdb sdc', {
        'last-good-copy': [*START, 'luks-format', 'md-add', 'again']}, id='a-new-member-is-encrypted-too'),
    pytest.param(encrypted_swap, 'sda', '', {'only-swap': [*START, 'swap-off', 'swap-crypt', 'pull', 'again']},
                 id='encrypted-swap'),
    pytest.param(system_that_dropped_a_disk, 'sda', 'sdb sdc', {'member-not-used': [
        'md-drop', 'set-new', 'efi', 'boot-entry', 'pull', 'again']}, id='a-new-disk-of-an-earlier-task'),
    pytest.param(dead_system_disk, 'sda', 'sdb', {'no-redundancy': [
        *START, 'md-dead', 'md-drop', 'md-add', 'unmount-dead', 'swap-dead', 'efi', 'boot-entry', 'pull', 'again']},
        id='nothing-is-copied-from-a-dead-system-disk'),
    pytest.param(container_that_differs, 'sda', 'sdb', {'redundancy-doubtful': [
        'copy-place', 'copy-half', 'copy-half', 'remedy', 'md-compare', 'again']}, id='container-that-differs'),
    pytest.param(pool, 'sda', '', {'redundancy-unknown': [
        'ask-zfs', 'again']}, id='zfs-not-asked'),
    pytest.param(mirror, '', 'sda sdb', {}, id='nothing-to-do')]


@pytest.mark.parametrize('build, failing, healthy, expected', PLANS)
def test_a_plan_has_the_steps_in_their_order(machine, build: Callable[[block_tree.Machine], None], failing, healthy,
                                             expected):
    build(machine)

    assert {task.code: codes(task) for task in tasks(machine, failing.split(), healthy.split())} == expected


@pytest.mark.parametrize('build, failing, healthy, expected', PLANS)
def test_each_command_is_complete(machine, build, failing, healthy, expected):
    """Without a placeholder, and with nothing else that an admin must set but NEW, COPY, OSD and LOADER."""
    build(machine)
    found = commands(tasks(machine, failing.split(), healthy.split()))

    names = {name for text in found for name in re.findall(r'\$(?:\{)?([A-Za-z]\w*)', text)}
    assert names <= {'NEW', 'COPY', 'OSD', 'LOADER', 'all', 'member'}   # the last are set by the command itself
    assert [text for text in found if re.search('[{}]|DEVICE|(?<!--output )MOUNTPOINT|ARRAY', text)] == []


@pytest.mark.parametrize('build, failing, healthy, expected', PLANS)
def test_what_an_admin_sets_is_set_before_it_is_used(machine, build, failing, healthy, expected):
    """NEW and COPY; a new disk is encrypted itself, and nothing is read from a dead one."""
    build(machine)
    for task in tasks(machine, failing.split(), healthy.split()):
        found = [' '.join((step.code, *step.run, step.see)) for step in task.steps]
        for name, setters in {'"$NEW"': ('new-disk', 'set-new'), '"$COPY"': ('copy-place',)}.items():
            assert next((text for text in found if name in text), setters[0]).startswith(setters)
        assert not [text for text in found if 'luksFormat' in text and not re.search('f8[)]" "[$]NEW"-part1', text)]
        from_dead = [text for text in found if re.search('(?:if=|mount |ddrescue .*idirect )/dev/sda', text)]
        assert build is not dead_system_disk or [text.split()[0] for text in from_dead] == ['md-dead']   # "it is dead"


def test_all_subvolumes_of_btrfs_are_copied(machine):
    """Each has a device number of its own, where cp --one-file-system ends."""
    machine.disks('sda', 'sdb')
    machine.btrfs(UUID, {'data/raid1': 5, 'metadata/raid1': 5}, ('sda1', 'sdb1'), ({}, {}), 'pool')
    machine.mounted('/dev/sda1', '/', 'btrfs', '0:50', '/@')
    machine.mounted('/dev/sda1', '/home', 'btrfs', '0:50', '/@home')

    found = commands(tasks(machine, ['sda', 'sdb']))

    assert ("unshare --mount sh -c 'all=$(mktemp -d); for member in /dev/sda1 /dev/sdb1; do mount -o ro,subvolid=5 "
            '$member $all && break; done && cp --archive $all/. "$0"/\' "$COPY"') in found


def test_a_partition_that_is_still_mounted_is_found_under_any_name(machine):
    """/proc/mounts has the kernel's name; the command has a link that stays."""
    partition(machine)
    machine.files(machine.udev_data, {f'b{machine.numbers["sda1"]}': 'S:disk/by-id/ata-ACME_X1-part1'})

    [task] = tasks(machine, ['sda'])

    assert [step.see or step.check for step in task.steps if step.code in ('unmount', 'copy-part')] == [
        "test -z \"$(lsblk --noheadings --output MOUNTPOINT /dev/disk/by-id/ata-ACME_X1-part1 | tr -d ' \\n')\""] * 2


def test_volumes_of_one_group_get_one_new_disk_and_forget_the_old_one_at_the_end(machine):
    machine.disks('sdb', 'sdc', 'sdd')
    for place, name in ((0, 'data'), (10, 'more')):
        machine.dm(f'dm-{place}', f'vg0-{name}_rimage_0', 'LVM-' + 'a' * 64 + '0')
        machine.dm(f'dm-{place + 1}', f'vg0-{name}_rimage_1', 'LVM-' + 'a' * 64 + '1', 'sdb1')
        machine.dm(f'dm-{place + 2}', f'vg0-{name}', 'LVM-' + 'b' * 64, f'dm-{place}', f'dm-{place + 1}')
    status = ''.join(f'vg0-{name}: 0 32768 raid raid1 2 DA 32768/32768 idle 0 0 -\n' for name in ('data', 'more'))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(block_devices, 'ask', lambda: (status, Coded('', '')))
        found = dependence.examined((verdict('sdb', False),), lambda each: work_list.drives(each, 0),
                                    system=machine.system, asked=('dmsetup',))
    assert found.machine

    [task] = plan.plan(found.machine, work_list.in_order(found.verdicts, found.machine, 0),
                       around([each.group for each in found.machine.groups], machine.system))

    assert codes(task) == [*START, 'lvm-extend', 'lvm-repair', 'lvm-repair', 'lvm-forget', 'again']


def test_the_members_of_an_array_are_never_set_faulty_while_they_are_needed():
    """--replace sets the old member faulty when the new one is complete; all else would be a loss of redundancy."""
    failing = [entry for kind in DATA['groups'].values() for operation in kind.values() for entry in operation
               if any('--fail' in command for command in entry.get('run', ()))]

    assert {entry['code']: entry['see'].split('"')[0] for entry in failing} == {
        'md-dead': '! dd if={member} of=/dev/null bs=64k count=1 iflag=direct status=none',
        'md-drop': '! grep -q in_sync /sys/block/{id}/md/dev-{kernel}/state',
        'md-journal': 'grep -q readonly /sys/block/{id}/md/array_state', 'container-fail': 'test '}


def test_the_command_names_a_device_by_a_link_that_stays(machine):
    mirror(machine)
    machine.files(machine.udev_data, {
        f'b{machine.numbers["sda1"]}': 'S:disk/by-id/wwn-0x5000-part1\nS:disk/by-id/ata-ACME_X1-part1'})

    assert any(command == 'mdadm /dev/md0 --replace /dev/disk/by-id/ata-ACME_X1-part1'
               for command in commands(tasks(machine, ['sda'], ['sdb'])))


@pytest.mark.parametrize('point', ['/a b', '/$(reboot)', '/a;reboot', "/a'b", '/a`b`', '/a>b'])
def test_no_command_contains_a_hostile_name(machine, point):
    mirror(machine, sdb='faulty none')
    (machine.proc / 'self/mountinfo').write_text('')
    machine.mounted('/dev/md0', point.replace(' ', r'\040'))
    machine.files(machine.udev_data, {f'b{machine.numbers["sda"]}': f'S:disk/by-id/ata-{point[1:]}'})
    found = commands(tasks(machine, ['sda'], ['sdb']))

    assert 'cp --archive --one-file-system MOUNTPOINT/. "$COPY"/' in found
    assert [text for text in found if point[1:] in text] == []


def test_another_path_to_a_disk_in_use_is_no_unused_disk(machine):
    """Without a multipath volume, nothing in /sys but the WWN says that sdc is sda again."""
    mirror(machine)
    machine.disk('sdc')
    assert 'sdc looks unused' in tasks(machine, ['sda'], ['sdb'])[0].steps[0].what
    for name in ('sda', 'sdc'):
        machine.files(machine.folder(name), {'device/wwid': 'naa.5000c500a1b2c3d4'})

    assert 'unused' not in tasks(machine, ['sda'], ['sdb'])[0].steps[0].what


@pytest.mark.parametrize('change', ['another UUID', 'an unknown level', 'a second path'])
def test_only_a_device_of_a_running_array_was_taken_out_of_it(machine, change):
    removed(machine, MD_UUID[::-1] if change == 'another UUID' else MD_UUID)
    for name in ('sda', 'sdb') if change == 'a second path' else ():
        machine.files(machine.folder(name), {'device/wwid': 'naa.5000c500a1b2c3d4'})
    if change == 'an unknown level':
        machine.files(machine.sys / 'block/md0/md', {'level': 'raid7'})

    assert [task.code for task in tasks(machine, ['sdb'], ['sda', 'sdc'])] == ['redundancy-unknown']


def test_a_member_that_was_taken_out_fills_an_empty_place(machine):
    removed(machine, raid_disks='4')
    machine.files(machine.sys / 'block/md0/md', {'level': 'raid6'})

    group, = (each for each in dependence.groups(None, machine.system) if each.id == 'md0')
    assert [(each.name, each.state) for each in group.members] == [
        ('sda1', 'in_sync'), ('sdc1', 'in_sync'), ('', 'missing'), ('sdb1', 'missing')]


def test_a_member_of_a_stripe_that_was_copied_is_not_used(machine):
    """The copy has the same UUID, and md uses the copy."""
    removed(machine)
    machine.files(machine.sys / 'block/md0/md', {'level': 'raid0'})

    assert [task.code for task in tasks(machine, ['sdb'], ['sda', 'sdc'])] == ['member-not-used']


def test_a_journal_that_md_has_dropped_is_exchanged_without_its_data(machine):
    journal(machine, journal_mode='')
    machine.files(machine.sys / 'block/md0/md/dev-sdd1', {'state': 'faulty,journal'})

    assert [task.code for task in tasks(machine, ['sdd'], ['sda', 'sdb', 'sdc', 'sde'])] == ['only-log-or-cache']


def test_a_drive_that_does_not_answer_and_was_dropped_has_a_task(machine):
    machine.disks('sda', 'sdb', 'sdc', 'sdd')
    machine.md('md0', 'raid6', {**dict.fromkeys(('sda1', 'sdb1', 'sdc1'), 'in_sync'), 'sdd1': 'faulty none'})

    assert codes(tasks(machine, [], ['sda', 'sdb', 'sdc'], ['sdd'])[0]) == [
        *START, 'md-drop', 'md-add', 'pull', 'again']


def of_lvm(machine: block_tree.Machine, members: str, status: str, failing: str) -> plan.Task:
    """Return the only task for a failing drive below an LVM volume with these members."""
    names = members.split()
    for place, name in enumerate(names):
        machine.dm(f'dm-{place}', f'vg0-data_rimage_{place}', f'LVM-{"a" * 64}{place}', f'{name}1')
    machine.dm('dm-9', 'vg0-data', 'LVM-' + 'b' * 64, *(f'dm-{place}' for place in range(len(names))))
    found, _ = block_devices.completed(dependence.groups(None, machine.system), lambda: (
        f'vg0-data: 0 32768 raid {status} 0 -', Coded('', '')), machine.system)
    drives = [replacement.Drive(name, frozenset((name,)), *(name == failing,) * 2) for name in names]
    judged = replacement.machine(found, drives)
    item = work_list.with_items(replacement.with_replacements([verdict(failing, True)], judged), 0)[0].item
    task, = plan.plan(judged, [item], around(found, machine.system))
    return task


@pytest.mark.parametrize('state, expected', [('running', ['lvm-extend', 'lvm-move', 'lvm-reduce']),
                                             ('offline', ['lvm-extend', 'lvm-repair', 'lvm-forget'])])
def test_nothing_is_moved_off_a_dead_disk(machine, state, expected):
    machine.disks('sda', 'sdb')
    machine.files(machine.folder('sda'), {'device/state': state})
    task = of_lvm(machine, 'sda sdb', 'raid1 2 AA 32768/32768 idle 0', 'sda')

    assert [code for code in codes(task) if code.startswith('lvm-')] == expected


def test_a_missing_disk_of_lvm_is_replaced_before_members_that_differ_are_repaired(machine):
    """LVM refuses the repair until then, and forgets which volumes differ."""
    machine.disks('sda', 'sdb', 'sdc')
    task = of_lvm(machine, 'sda sdb sdc', 'raid1 3 DAA 32768/32768 idle 8', 'sdb')

    assert codes(task) == [*START, 'copy-place', 'copy-half', 'copy-half', 'lvm-extend', 'lvm-repair', 'lvm-forget',
                           'remedy', 'lvm-compare', 'again']


def test_a_complete_array_that_has_dropped_a_dead_disk_needs_no_new_one(machine):
    machine.disks('sda', 'sdb', 'sdc')
    machine.md('md0', 'raid1', {'sda1': 'faulty none', 'sdb1': 'in_sync 0', 'sdc1': 'in_sync 1'}, raid_disks='2')
    machine.files(machine.folder('sda'), {'device/state': 'offline'})

    assert codes(tasks(machine, ['sda'], ['sdb', 'sdc'])[0]) == ['md-drop', 'pull', 'again']


def test_nothing_is_moved_off_a_dead_disk_below_a_mirror(machine):
    """The mirror gets the new disk; the volume group has died with its only disk."""
    machine.disks('sda', 'sdb')
    machine.dm('dm-0', 'vg0-half', 'LVM-' + 'a' * 64, 'sda1')
    machine.md('md0', 'raid1', {'dm-0': 'in_sync', 'sdb1': 'in_sync'})
    machine.files(machine.folder('sda'), {'device/state': 'offline'})

    found = codes(tasks(machine, ['sda'], ['sdb'])[0])
    assert [code for code in found if code.startswith(('md-', 'lvm-'))] == ['md-dead', 'md-drop', 'md-add']


@pytest.mark.parametrize('state, expected', [
    ('running', ['md-add', 'md-replace', 'md-remove', 'swap-off', 'swap-new']),
    ('offline', ['md-dead', 'md-drop', 'md-add', 'swap-dead'])])
def test_a_dead_disk_is_replaced_without_reading_from_it(machine, state, expected):
    system_disk(machine)
    machine.files(machine.folder('sda'), {'device/state': state})

    found = codes(tasks(machine, ['sda'], ['sdb'])[0])
    assert sorted(code for code in found if code.startswith(('md-', 'swap-'))) == sorted(expected)


@pytest.mark.parametrize('build', [mirror, in_doubt_beside_a_partition])
@pytest.mark.parametrize('state, source', [('running', 'sda'), ('offline', 'sdb')])
def test_the_partitions_of_a_dead_disk_are_those_of_its_partner(machine, build, state, source):
    build(machine)
    machine.files(machine.folder('sda'), {'device/state': state})
    found = tasks(machine, ['sda'], ['sdb'])

    assert [step.what for task in found for step in task.steps if step.code == 'partitions'] == [
        f'Give the new disk the partitions of {source}']


def test_a_spare_that_lacks_data_is_not_used(machine):
    """By its fields, not by its words: a flag that says no more than "spare" changes nothing."""
    raid5_with_a_spare(machine)
    machine.files(machine.sys / 'block/md0/md/dev-sdd', {'state': 'spare,failfast'})
    assert codes(tasks(machine, ['sda'], ['sdb', 'sdc', 'sdd'])[0])[0] == 'md-replace'
    machine.files(machine.sys / 'block/md0/md/dev-sdd', {'state': 'spare,write_error'})

    assert codes(tasks(machine, ['sda'], ['sdb', 'sdc', 'sdd'])[0])[0] == 'new-disk'


def test_a_partition_of_a_multipath_volume_is_replaced_by_a_partition(machine):
    multipath(machine)
    found = commands(tasks(machine, ['sda'], ['sdb', 'sdc']))

    assert 'mdadm /dev/md0 --add "$NEW"-part2' in found
    assert 'test "$(sfdisk --dump "$NEW" | grep -c \' : start=\')" = 2' in found
    assert 'mdadm /dev/md0 --replace /dev/mapper/mpatha-part2' in found


def test_a_drive_whose_use_is_not_known_has_a_task(machine):
    """A drive behind a RAID controller, whose volumes nothing describes."""
    assert [task.code for task in tasks(machine, ['sda'])] == []
    mirror(machine)
    found = tasks(machine, ['sda', 'sdz'], ['sdb'])

    assert [(task.code, task.drive) for task in found] == [('replace-next', 'sda'), ('use-unknown', 'sdz')]


def test_each_reason_has_a_task_or_waits_for_another():
    waiting = {'copy-other-first', 'second-failing-member', 'other-drive-first'}

    parts = {code.partition(' ')[0] for code in DATA['parts']}
    assert set(replacement.OF_CODE) - parts == waiting
    assert parts == {code.partition(' ')[0] for code in DATA['titles']}
    assert {part for parts in DATA['parts'].values() for part in parts} == set(plan._PART)


def test_a_drive_beside_a_dead_one_is_replaced_without_a_scrub(machine):
    """A scrub fails as long as a dead disk is a member."""
    btrfs_with_a_dead_disk(machine)

    found = {task.code: codes(task) for task in tasks(machine, ['sdb'], unread=['sda'])}

    assert found['data-at-risk'][-4:] == ['partitions', 'btrfs-replace', 'pull', 'again']
    assert not any('remedy' in each for code, each in found.items() if code == 'data-at-risk')


def test_the_table_of_steps_has_only_known_keys():
    entries = [*DATA['steps'].values(), *(entry for kind in DATA['groups'].values() for operation in kind.values()
                                          for entry in operation)]

    assert {key for entry in entries for key in entry} == {
        'code', 'what', 'need', 'see', 'run', 'until', 'check', 'spare', 'lacks', 'held', 'dead', 'bad'}
    assert {operation for kind in DATA['groups'].values() for operation in kind} <= set(DATA['operations'])


def test_triage_prints_each_command_on_a_line_of_its_own(machine, monkeypatch):
    monkeypatch.setenv('COLUMNS', '60')
    mirror(machine)
    lines = triage_table.plan(tasks(machine, ['sda'], ['sdb']))

    assert '      run: mdadm /dev/md0 --replace /dev/sda1' in lines
    assert [line for line in lines if len(line) > 60 and not re.match(' +(see|run|wait|check): ', line)] == []


def test_each_title_and_each_step_reads_as_before(tmp_path):
    """Read all changes of plan_steps.txt before you accept them with ACCEPT=1: an admin will type these."""
    titles: set[str] = set()
    steps: set[str] = set()
    for task in (*of_machines(tmp_path), *of_groups(tmp_path / 'groups')):
        titles.add(f'{task.code}: {task.title}\n')
        steps.update(told(step) for step in task.steps)
    found = ''.join((*sorted(titles), '\n', *sorted(steps)))

    if 'ACCEPT' in os.environ:
        STEPS.write_text(found)
    assert STEPS.read_text() == found


def of_machines(folder: Path) -> Iterator[plan.Task]:
    """Yield all tasks of the machines above."""
    for number, (build, failing, healthy, _) in enumerate(each.values for each in PLANS):
        machine = block_tree.Machine(folder / str(number))
        build(machine)
        yield from tasks(machine, failing.split(), healthy.split())


def of_groups(folder: Path) -> Iterator[plan.Task]:
    """Yield all tasks for groups of each kind in each state, also those that /sys alone does not show."""
    machine = block_tree.Machine(folder)
    machine.disks('sda', 'sdb')
    machine.files(machine.folder('sda'), {'device/state': 'offline'})
    for group in GROUPS:
        for level, states, failing, change in itertools.product(
                (group.level, 'raid0'), (('in_sync', 'in_sync'), ('faulty', 'in_sync'), ('missing', 'in_sync'),
                                         ('in_sync', 'rebuilding')),
                (('sda',), ('sda', 'sdb'), ()), ({}, {'unknown': 'it is strange'}, {'doubts': (DIFFERS,)})):
            if level == 'raid0' and (change or group.kind == 'swap'):
                continue
            members = tuple(Member(f'{name}1', state, slot, (name,) * (state != 'missing'))
                            for slot, (name, state) in enumerate(zip(('sda', 'sdb'), states)))
            activity = 'recover' if 'rebuilding' in states else ''
            changed = group._replace(level=level, slots=2, members=members, activity=activity, **change)
            yield from planned(changed, failing, machine.system)
            if not change:
                yield from planned(changed, failing, machine.system, is_there=False)
    good = Member('sdb', 'in_sync', 1, ('sdb',))
    for group, member in ((GROUPS[1], Member('sdx, sda, sdy', 'in_sync', 0, ('sda',))),   # an image on three devices
                          (GROUPS[0]._replace(level='raid5'), Member('sda', 'spare', None, ('sda',), role='journal'))):
        yield from planned(group._replace(slots=2, members=(member, good)), ('sda',), machine.system)


def planned(group: Group, failing: Sequence[str], system: System, is_there: bool = True) -> tuple[plan.Task, ...]:
    """Return the plan for one group on two drives. is_there: whether the kernel still knows the drives."""
    judged = replacement.machine([group], [replacement.Drive(name, frozenset((name,)), *(name in failing,) * 2)
                                           for name in ('sda', 'sdb')])
    verdicts = replacement.with_replacements([verdict(name, name in failing) for name in ('sda', 'sdb')], judged)
    items = work_list.in_order(work_list.with_items(verdicts, 0), judged, 0)
    known = around([group], system, has_led_tool=True)
    return plan.plan(judged, items, known if is_there else known._replace(sizes={}))


def told(step: PlanStep) -> str:
    return f'{step.code}: {step.what}\n' + ''.join(
        f'    {key} {each}\n' for key, texts in (('need', [step.need]), ('see', [step.see]), ('run', step.run),
                                                 ('until', [step.until]), ('check', [step.check]))
        for each in texts if each)
