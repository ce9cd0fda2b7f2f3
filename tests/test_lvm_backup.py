"""Inactive volumes of LVM, by the backup of the metadata that only root can read.

The texts follow LVM2, lib/format_text/export.c, and a file of LVM2 2.03.16 on Ubuntu.
"""

import shutil

import pytest
from block_tree import Machine, groups, lvm_id, metadata
from test_claims import steps

from smart_attributes.redundancy import lvm_backup
from smart_attributes.redundancy.replacement import COPY, NEXT

RAID = {
    'root': ('root_rmeta_0', 'root_rimage_0', 'root_rmeta_1', 'root_rimage_1'),
    'root_rmeta_0': ('sda1',),
    'root_rimage_0': ('sda1',),
    'root_rmeta_1': ('sdb1',),
    'root_rimage_1': ('sdb1',),
}


@pytest.fixture
def machine(tmp_path) -> Machine:
    """Return a machine with a mirror, whose volume "vm" is on md0, and sdb2 beside it."""
    made = Machine(tmp_path)
    made.disk('sda', 'sda1')
    made.disk('sdb', 'sdb1')
    return made


def test_the_metadata_of_a_volume_group():
    backup = lvm_backup.parsed(
        metadata('vg0', ('sda1', 'sdb1'), {**RAID, 'vm': ('sda1', 'sdb1')})
    )

    assert backup
    assert (backup.id, backup.name) == (lvm_id('vg0'), 'vg0')
    assert backup.devices == {'pv0': lvm_id('sda1'), 'pv1': lvm_id('sdb1')}
    assert (backup.volumes['vm'], backup.areas['vm']) == (
        lvm_id('vg0vm'),
        ('pv0', 'pv1'),
    )
    assert backup.areas['root'] == ()


@pytest.mark.parametrize('text', ['', 'x', '}', metadata('vg0', ('sda1',), RAID)[:-3]])
def test_a_text_that_is_not_complete_is_no_metadata(text):
    assert lvm_backup.parsed(text) is None


@pytest.mark.parametrize(
    'volumes, active, expected',
    [
        ({'vm': ('sda1',)}, (), {'vm': ('pv0',)}),
        ({'vm': ('sda1',)}, ('vm',), {}),
        ({'vm': ('sda1',), 'root': ('sda1',)}, ('root',), {'vm': ('pv0',)}),
        # the images of a RAID, also while one of them is replaced by an error target
        (RAID, (), {'root': ('pv0', 'pv1')}),
        (RAID, ('root', 'root_rimage_0', 'root_rmeta_0'), {}),
        ({'old': ('old_mimage_0',), 'old_mimage_0': ('sda1',), 'old_mlog': ('sdb1',)}, (),
         {'old': ('pv0', 'pv1')}),
        # it is empty, and never active
        ({'root': ('sda1',), 'lvol0_pmspare': ('sda1',)}, ('root',), {}),
        # a pool without active volumes
        ({'pool': ('pool_tdata',), 'pool_tdata': ('sda1',)}, (), {'pool_tdata': ('pv0',)}),
    ],
)  # fmt: skip
def test_a_volume_that_the_kernel_does_not_list_is_inactive(volumes, active, expected):
    backup = lvm_backup.parsed(metadata('vg0', ('sda1', 'sdb1'), volumes))

    assert backup
    ids = frozenset(lvm_id(f'vg0{name}') for name in active)
    assert lvm_backup.inactive(backup, ids) == expected


def raid(machine: Machine) -> None:
    """Add an active RAID 1 of LVM on both disks; its level needs dmsetup, so md stands for it."""
    machine.disk('sdc', 'sdc1')
    machine.disk('sdd', 'sdd1')
    machine.md('md0', 'raid1', {'sdc1': 'in_sync', 'sdd1': 'in_sync'})
    machine.lv('dm-0', 'vg0', 'root', 'md0')
    machine.mounted('/dev/mapper/vg0-root', '/', number=machine.numbers['dm-0'])


@pytest.mark.parametrize(
    'volumes, expected',
    [
        ({'root': ('md0',)}, {}),
        ({'root': ('md0',), 'vm': ('sda1',)}, {'lvm vg0/vm': ('single', ('sda',))}),
        ({'root': ('md0',), 'vm': ('md0',)}, {'lvm vg0/vm': ('single', ('md0',))}),
        ({'root': ('md0',), **{name: on for name, on in RAID.items() if name != 'root'},
          'data': ()}, {}),
    ],
)  # fmt: skip
def test_an_inactive_volume_is_a_group_on_its_physical_volumes(
    machine, volumes, expected
):
    raid(machine)
    machine.lv('dm-1', 'vg0', 'home', 'sda1')
    machine.volume_group('vg0', ('md0', 'sda1', 'sdb1'), {**volumes, 'home': ('sda1',)})
    found = groups(machine.system)

    assert {
        group.id: (group.level, group.members[0].on)
        for group in found
        if group.id.startswith('lvm vg0/')
    } == expected
    assert not any(group.unlisted for group in found)


def test_an_inactive_volume_on_one_drive_is_only_here(machine):
    """That of a guest that is stopped, beside a RAID of the same volume group."""
    for number, disk in enumerate(('sda', 'sdb')):
        machine.lv(
            f'dm-{number}', 'vg0', f'root_rimage_{number}', f'{disk}1', suffix='-rimage'
        )
    machine.lv('dm-2', 'vg0', 'root', 'dm-0', 'dm-1')
    machine.mounted('/dev/mapper/vg0-root', '/', number=machine.numbers['dm-2'])
    machine.volume_group('vg0', ('sda1', 'sdb1'), {**RAID, 'vm': ('sdb1',)})
    [vm] = [group for group in groups(machine.system) if group.id == 'lvm vg0/vm']

    assert (vm.level, [(member.name, member.on) for member in vm.members]) == (
        'single',
        [('sdb1', ('sdb',))],
    )


# --- whether it is known --------------------------------------------------------------------------


@pytest.mark.parametrize(
    'volumes, has_udev, is_known',
    [
        ({'root': ('sda1',)}, True, True),
        ({'home': ('sda1',)}, True, False),
        (None, True, False),
        ({'root': ('sda1',)}, False, False),
    ],
    ids=[
        'complete',
        'older than the active volume',
        'missing',
        'without the ids of devices',
    ],
)
def test_without_a_complete_backup_it_is_not_known(
    machine, volumes, has_udev, is_known
):
    machine.lv('dm-0', 'vg0', 'root', 'sda1')
    if volumes:
        machine.volume_group('vg0', ('sda1',), volumes)
    if not has_udev:
        shutil.rmtree(machine.udev_data)

    [root] = [group for group in groups(machine.system) if group.id == 'dm-0']
    assert root.unlisted == ('' if is_known else 'vg0')


@pytest.mark.parametrize('is_readable', [True, False])
def test_a_label_that_rests_on_active_volumes_says_so(machine, is_readable):
    """Only where an inactive volume would be on one drive: a physical volume on a mirror has the
    redundancy of the mirror.
    """
    raid(machine)
    if is_readable:
        machine.volume_group('vg0', ('md0',), {'root': ('md0',), 'vm': ('md0',)})
    step = steps(machine, 'sdc')['sdc']

    assert (step.label, step.why.code) == (NEXT, 'replace-next')
    assert 'inactive volumes' not in step.why


def test_an_inactive_volume_on_a_failing_drive_is_copied_first(machine):
    raid(machine)
    machine.volume_group('vg0', ('md0', 'sda1'), {'root': ('md0',), 'vm': ('sda1',)})
    machine.lv('dm-1', 'vg0', 'swap', 'sda1')
    machine.swap('/dev/dm-1')
    machine.volume_group(
        'vg0', ('md0', 'sda1'), {'root': ('md0',), 'swap': ('sda1',), 'vm': ('sda1',)}
    )
    step = steps(machine, 'sda')['sda']

    assert (step.label, step.why.code) == (COPY, 'no-redundancy')
    assert 'vg0/vm (sda1, not active)' in step.why


@pytest.mark.parametrize('is_readable', [True, False])
def test_a_drive_with_only_swap_may_have_inactive_volumes(machine, is_readable):
    machine.lv('dm-0', 'vg0', 'swap', 'sda1')
    machine.swap('/dev/dm-0')
    if is_readable:
        machine.volume_group('vg0', ('sda1',), {'swap': ('sda1',)})
    step = steps(machine, 'sda')['sda']

    assert (step.label, step.why.code) == (NEXT, 'only-swap')
    assert ('inactive volumes' in step.why) is not is_readable
