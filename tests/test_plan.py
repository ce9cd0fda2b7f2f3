"""The plan of a machine: which steps it has, in which order, and what their commands contain."""
from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import block_tree
import pytest
from conftest import ROOT

from smart_attributes.model import Device, Identity, Judgement, Reading, Source, State, Verdict
from smart_attributes.output import triage_table
from smart_attributes.redundancy import dependence, replacement
from smart_attributes.redundancy.surroundings import surroundings
from smart_attributes.work import plan, work_list

DATA = json.loads((ROOT / 'smart_attributes/work/plan.json').read_text())
EFI = 'E:ID_PART_ENTRY_TYPE=c12a7328-f81f-11d2-ba4b-00a0c93ec93b\nE:ID_FS_TYPE=vfat'
UUID = '0123abcd-0000-0000-0000-000000000000'
FAILS = Judgement(Reading('pending', 500.0, '', Source()), State.CRITICAL, concern='data')


@pytest.fixture
def machine(tmp_path: Path) -> block_tree.Machine:
    return block_tree.Machine(tmp_path / 'machine')


def tasks(machine: block_tree.Machine, failing: Sequence[str] = (),
          healthy: Sequence[str] = ()) -> tuple[plan.Task, ...]:
    """Return the plan of a machine. failing, healthy: the drives that were checked."""
    verdicts = [Verdict(Device(f'/dev/{name}', name=name), Identity('ATA', 'ACME'),
                        State.CRITICAL if name in failing else State.OK, (FAILS,) * (name in failing))
                for name in (*failing, *healthy)]
    found = dependence.examined(tuple(verdicts), lambda each: work_list.drives(each, 0), system=machine.system)
    assert not found.remarks, found.remarks
    if found.machine is None:
        return ()
    items = work_list.in_order(work_list.with_items(found.verdicts, 0), found.machine, 0)
    return plan.plan(found.machine, items, surroundings([each.group for each in found.machine.groups], machine.system))


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


def raid6_without_a_member(machine: block_tree.Machine) -> None:
    machine.disks('sda', 'sdb', 'sdc')
    machine.md('md0', 'raid6', {'sda1': 'in_sync', 'sdb1': 'in_sync', 'sdc1': 'in_sync'}, raid_disks='4')


def pool(machine: block_tree.Machine) -> None:
    machine.disks('sda')
    machine.udev('sda1', 'zfs_member', 'tank')


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
    assert names <= {'NEW', 'COPY', 'OSD', 'LOADER'}
    assert [text for text in found if re.search('[{}]|DEVICE|(?<!--output )MOUNTPOINT|ARRAY', text)] == []


def test_the_members_of_an_array_are_never_set_faulty_while_they_are_needed():
    """--replace sets the old member faulty when the new one is complete; all else would be a loss of redundancy."""
    failing = [entry for kind in DATA['groups'].values() for operation in kind.values() for entry in operation
               if any('--fail' in command for command in entry.get('run', ()))]

    assert {entry['code']: entry['see'].split('"')[0] for entry in failing} == {
        'md-drop': '! grep -q in_sync /sys/block/{id}/md/dev-{kernel}/state', 'container-fail': 'test '}


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


def test_a_drive_whose_use_is_not_known_has_a_task(machine):
    """A drive behind a RAID controller, whose volumes nothing describes."""
    assert [task.code for task in tasks(machine, ['sda'])] == []
    mirror(machine)
    verdicts = tasks(machine, ['sda', 'sdz'], ['sdb'])

    assert [(task.code, task.drive) for task in verdicts] == [('replace-next', 'sda'), ('use-unknown', 'sdz')]


def test_each_reason_has_a_task_or_waits_for_another():
    waiting = {'copy-other-first', 'second-failing-member', 'other-drive-first'}

    parts = {code.partition(' ')[0] for code in DATA['parts']}
    assert set(replacement.OF_CODE) - parts == waiting
    assert parts == {code.partition(' ')[0] for code in DATA['titles']}
    assert {part for parts in DATA['parts'].values() for part in parts} == set(plan._PART)


def test_the_table_of_steps_has_only_known_keys():
    entries = [*DATA['steps'].values(), *(entry for kind in DATA['groups'].values() for operation in kind.values()
                                          for entry in operation)]

    assert {key for entry in entries for key in entry} == {
        'code', 'what', 'need', 'see', 'run', 'until', 'check', 'spare', 'lacks'}
    assert {operation for kind in DATA['groups'].values() for operation in kind} <= set(DATA['operations'])


def test_triage_prints_each_command_on_a_line_of_its_own(machine, monkeypatch):
    monkeypatch.setenv('COLUMNS', '60')
    mirror(machine)
    lines = triage_table.plan(tasks(machine, ['sda'], ['sdb']))

    assert '      run: mdadm /dev/md0 --replace /dev/sda1' in lines
    assert [line for line in lines if len(line) > 60 and not re.match(' +(see|run|wait|check): ', line)] == []
