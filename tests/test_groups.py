"""What holds data on a disk, from /sys, /proc and udev: arrays, volumes, pools, file systems,
used partitions.
"""

import os
import tempfile

import pytest
from block_tree import Machine, errors, groups
from cases import on

from smart_attributes.model import Device, Identity, Member, State, Verdict
from smart_attributes.reading.system import System, disks_of, text_of
from smart_attributes.redundancy.dependence import DEEPEST_GROUPS, examined
from smart_attributes.redundancy.replacement import Drive
from smart_attributes.redundancy.survival import Stack

UUID = '6e1961f1-5918-4ecc-a22f-948897b409f7'
LV = 'LVM-' + 'a' * 64
EFI = 'c12a7328-f81f-11d2-ba4b-00a0c93ec93b'
RESERVED = '6a945a3b-1dd2-11b2-99a6-080020736631'


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def found(machine):
    """Return the groups of a machine by their id."""
    result = groups(machine.system)
    by_id = {group.id: group for group in result}

    assert len(by_id) == len(result)
    # lower ones first, so that nobody needs recursion
    for place, group in enumerate(result):
        assert not {group.id for group in result[place:]} & {
            each for member in group.members for each in member.on
        }
    return by_id


def states(group):
    return {member.name: member.state for member in group.members}


# --- md -------------------------------------------------------------------------------------------


def test_a_healthy_array(machine):
    """Each member with its place and the disk below its partition."""
    machine.disks('sda', 'sdb')
    machine.md('md0', 'raid1', {'sda1': 'in_sync', 'sdb1': 'in_sync,write_mostly'})
    machine.mounted('/dev/md0', '/srv/my\\040data')
    machine.udev('sda1', 'linux_raid_member', 'host:0')
    [md0] = found(machine).values()

    assert md0[:6] == ('md0', 'md0', 'md', 'raid1', 2, 0)
    assert md0.members == (
        Member('sda1', 'in_sync', 0, ('sda',)),
        Member('sdb1', 'in_sync', 1, ('sdb',), 'in_sync, write_mostly'),
    )
    assert (md0.activity, md0.progress, md0.used_as, md0.missing, md0.unknown) == (
        '',
        None,
        ('/srv/my data',),
        0,
        '',
    )


@pytest.mark.parametrize(
    'state, action, expected',
    [
        ('in_sync', 'idle', 'in_sync'),
        ('in_sync,blocked', 'idle', 'in_sync'),
        ('in_sync,want_replacement', 'recover', 'in_sync'),
        ('in_sync,replacement', 'idle', 'in_sync'),
        ('faulty', 'idle', 'faulty'),
        ('faulty,write_error', 'idle', 'faulty'),
        # a bad block that is not recorded yet
        ('faulty,in_sync,blocked', 'idle', 'faulty'),
        ('spare', 'recover', 'rebuilding'),
        ('spare,replacement', 'recover', 'rebuilding'),
        ('spare', 'resync', 'rebuilding'),
        ('spare', 'reshape', 'rebuilding'),
        ('spare', 'idle', 'spare'),
        ('spare', 'frozen', 'spare'),
        ('spare', 'check', 'spare'),
        ('journal', 'idle', 'spare'),
        ('in_sync,journal', 'idle', 'spare'),
        ('faulty,journal', 'idle', 'faulty'),
        ('quantum', 'idle', 'unknown'),
        ('', 'idle', 'unknown'),
    ],
)
def test_the_state_of_a_member_by_the_flags_of_md(machine, state, action, expected):
    """Only in_sync without faulty is a copy; a word of a newer kernel is none."""
    machine.disks('sda', 'sdb')
    machine.md(
        'md0', 'raid5', {'sda1': 'in_sync', 'sdb1': f'{state} 1'}, sync_action=action
    )

    member = found(machine)['md0'].members[1]
    assert (member.name, member.state, member.slot) == ('sdb1', expected, 1)
    assert member.detail == ('' if state == expected else state.replace(',', ', '))


def test_a_spare_without_a_place_is_not_rebuilding(machine):
    """It waits; another one may be rebuilt meanwhile."""
    machine.disks('sda', 'sdb', 'sdc')
    machine.md(
        'md0',
        'raid1',
        {'sda1': 'in_sync', 'sdb1': 'spare 1', 'sdc1': 'spare none'},
        raid_disks='2',
        sync_action='recover',
        sync_completed='123 / 456',
    )
    md0 = found(machine)['md0']

    assert states(md0) == {'sda1': 'in_sync', 'sdb1': 'rebuilding', 'sdc1': 'spare'}
    assert [member.slot for member in md0.members] == [0, 1, None]
    assert (md0.activity, round(md0.progress, 1)) == ('recover', 27.0)


@pytest.mark.parametrize('action', ['idle', 'frozen', 'defragment', ''])
def test_no_activity_has_no_progress(machine, action):
    machine.disks('sda')
    machine.md(
        'md0', 'raid1', {'sda1': 'in_sync'}, sync_action=action, sync_completed='5 / 10'
    )

    assert found(machine)['md0'][7:9] == ('', None)


def test_a_faulty_member_stands_for_its_place(machine):
    """On a real kernel its slot is "none", and the place that it had is empty: one member is
    lost, not two.
    """
    machine.disks('sda', 'sdb', 'sdc')
    machine.md(
        'md0',
        'raid6',
        {'sda1': 'in_sync 0', 'sdb1': 'faulty none', 'sdc1': 'in_sync 2'},
        raid_disks='4',
    )

    assert [(each.name, each.state) for each in found(machine)['md0'].members] == [
        ('sda1', 'in_sync'),
        ('sdc1', 'in_sync'),
        ('', 'missing'),
        ('sdb1', 'faulty'),
    ]


@pytest.mark.parametrize(
    'level, expected',
    [
        ('raid5', [1]),
        ('raid6', [1]),
        ('raid4', [1]),
        ('raid10', [1]),
        ('raid1', []),
        ('raid0', []),
    ],
)
def test_an_empty_place_is_missing_except_in_a_mirror(machine, level, expected):
    """After "mdadm --remove" only the number of places tells."""
    machine.disks('sda', 'sdc')
    machine.md('md0', level, {'sda1': 'in_sync 0', 'sdc1': 'in_sync 2'}, raid_disks='3')
    members = found(machine)['md0'].members

    assert [
        member.slot
        for member in members
        if member.state == 'missing' and not member.name
    ] == expected


def test_a_reshape_has_the_new_number_of_members(machine):
    """md writes "4 (3)"."""
    machine.disks('sda', 'sdb')
    machine.md(
        'md0',
        'raid10',
        {'sda1': 'in_sync', 'sdb1': 'in_sync'},
        raid_disks='4 (3)',
        layout='258 (513)',
        sync_action='reshape',
    )

    assert found(machine)['md0'][4:6] == (4, 258)


@pytest.mark.parametrize('pulled', [True, False])
def test_a_member_whose_disk_is_gone_is_missing(machine, pulled):
    """md may not have noticed: nothing was written since."""
    machine.disks('sda', 'sdb')
    folder = machine.md('md0', 'raid1', {'sda1': 'in_sync', 'sdb1': 'in_sync'})
    if pulled:
        machine.pull('sdb')
    else:
        (folder / 'md/dev-sdb1/block').unlink()
        (folder / 'md/dev-sdb1/block').symlink_to('../../gone')

    assert found(machine)['md0'].members[1] == Member(
        'sdb1', 'missing', 1, (), 'in_sync'
    )


@pytest.mark.parametrize(
    'texts, reason',
    [
        ({'array_state': 'inactive'}, 'the state "inactive"'),
        ({'array_state': 'x' * 4096}, 'xxx..."'),
        ({'level': 'raid7'}, 'level "raid7"'),
        ({'level': '\x1b[31mred'}, 'level "red"'),
        ({'level': ''}, 'members could not'),
        ({'raid_disks': ''}, 'members could not'),
        ({'array_state': ''}, 'members could not'),
        ({'layout': ''}, 'members could not'),
    ],
)
def test_what_md_does_not_say_makes_the_redundancy_unknown(machine, texts, reason):
    """Never assumed; the members are still named."""
    machine.disks('sda', 'sdb')
    machine.md(
        'md0',
        **{
            'level': 'raid10',
            'members': {'sda1': 'in_sync', 'sdb1': 'in_sync'},
            **texts,
        },
    )
    md0 = found(machine)['md0']

    assert (md0.level, states(md0)) == ('', {'sda1': 'in_sync', 'sdb1': 'in_sync'})
    assert reason in md0.unknown and len(md0.unknown) < 100


@pytest.mark.parametrize(
    'state',
    ['clean', 'active', 'readonly', 'read-auto', 'write-pending', 'active-idle'],
)
def test_an_array_that_runs_is_known(machine, state):
    machine.disks('sda')
    machine.md('md0', 'linear', {'sda1': 'in_sync'}, array_state=state, sync_action='')

    assert found(machine)['md0'][3] == 'linear'


def test_a_container_and_a_stopped_array_hold_no_data(machine):
    """The disks of an Intel RAID are in a container and in an array within."""
    machine.disk('sda')
    machine.md(
        'md127',
        '',
        {'sda': 'spare none'},
        array_state='inactive',
        metadata_version='external:imsm',
    )
    machine.md(
        'md126', 'raid1', {'sda': 'in_sync'}, metadata_version='external:/md127/0'
    )
    machine.md('md5', '', {}, array_state='clear')

    assert list(found(machine)) == ['md126']


# --- the device mapper ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    'name, uuid, expected',
    [
        ('vg0-home--old', LV, ('vg0/home-old', 'lvm', 'single', '')),
        ('a---b', LV, ('a-/b', 'lvm', 'single', '')),
        ('luks-1', 'CRYPT-LUKS2-0123-luks-1', ('luks-1', 'luks', 'single', '')),
        ('mpatha', 'mpath-3600508', ('mpatha', 'multipath', 'single', '')),
        (
            'mpatha-part1',
            'part1-mpath-3600508',
            ('mpatha-part1', 'partition', 'single', ''),
        ),
        ('isw_x', 'DMRAID-isw_x', ('isw_x', 'dm', '', 'its target')),
        ('', '', ('dm-0', 'dm', '', 'its target')),
        (
            'ceph--a1-osd--block--b2',
            LV,
            ('ceph-a1/osd-block-b2', 'ceph', '', 'only the'),
        ),
    ],
)
def test_a_volume_by_the_program_that_made_it(machine, name, uuid, expected):
    """The start of its UUID; other targets may do anything with their members."""
    machine.disks('sda')
    machine.dm('dm-0', name, uuid, 'sda1')
    [group] = found(machine).values()

    assert (*group[1:4], ' '.join(group.unknown.split()[:2])) == expected
    assert group.members == (
        Member('sda1', 'in_sync' if group.level else 'unknown', 0, ('sda',)),
    )


def test_a_volume_without_devices_lacks_one_without_a_name(machine):
    machine.dm('dm-0', 'vg0-lost', LV)
    [group] = found(machine).values()

    assert group.members == (Member('', 'missing', 0),)


def mirror(machine):
    """LVM RAID1: an image and its metadata on each disk."""
    machine.disks('sda', 'sdb')
    for number, part in enumerate(('sda1', 'sdb1')):
        machine.dm(f'dm-{2 * number}', f'vg0-home_rmeta_{number}', LV + '-rmeta', part)
        machine.dm(f'dm-{2 * number + 1}', f'vg0-home_rimage_{number}', LV, part)
    return machine.dm('dm-4', 'vg0-home', LV, 'dm-0', 'dm-1', 'dm-2', 'dm-3')


def test_raid_of_lvm_is_one_group_on_partitions(machine):
    """Its level is not in /sys, so a person has to ask as root; the images are in order."""
    mirror(machine)
    machine.mounted('/dev/mapper/vg0-home', '/home', number=machine.numbers['dm-4'])
    [home] = found(machine).values()

    assert home[:5] == ('dm-4', 'vg0/home', 'lvm', '', 2)
    assert home.members == (
        Member('sda1', 'unknown', 0, ('sda',)),
        Member('sdb1', 'unknown', 1, ('sdb',)),
    )
    assert '--dmsetup' in home.unknown
    assert home.used_as == ('/home',)


def test_an_image_that_lvm_left_out_is_missing(machine):
    """With one disk absent at boot, LVM puts an empty volume in its place."""
    machine.disks('sda')
    machine.dm('dm-0', 'vg0-home_rimage_0', LV, 'sda1')
    machine.dm('dm-1', 'vg0-home_rimage_1-missing_0_0', LV + '-missing_0_0')
    machine.dm('dm-2', 'vg0-home_rimage_1', LV, 'dm-1')
    machine.dm('dm-3', 'vg0-home', LV, 'dm-0', 'dm-2')

    assert found(machine)['dm-3'].members == (
        Member('sda1', 'unknown', 0, ('sda',)),
        Member('', 'missing', 1),
    )


def test_an_image_on_two_disks_needs_both(machine):
    machine.disks('sda', 'sdb', 'sdc')
    machine.dm('dm-0', 'vg0-home_rimage_0', LV, 'sda1', 'sdb1')
    machine.dm('dm-1', 'vg0-home_rimage_1', LV, 'sdc1')
    machine.dm('dm-2', 'vg0-home', LV, 'dm-0', 'dm-1')

    assert found(machine)['dm-2'].members[0] == Member(
        'sda1, sdb1', 'unknown', 0, ('sda', 'sdb')
    )
    machine.pull('sdb')
    assert found(machine)['dm-2'].members[0] == Member(
        'sda1, sdb1', 'missing', 0, ('sda',)
    )


def test_images_are_in_their_order_and_whole(machine):
    """The status of the device mapper has them in this order; LVM may have left out a part of
    one.
    """
    machine.disks('sda', 'sdb')
    machine.dm('dm-0', 'vg0-home_rimage_1', LV, 'sda1')
    machine.dm('dm-1', 'vg0-home_rimage_0-missing_1_0', LV + '-missing_1_0')
    machine.dm('dm-2', 'vg0-home_rimage_0', LV, 'dm-1', 'sdb1')
    machine.dm('dm-3', 'vg0-home', LV, 'dm-0', 'dm-2')

    assert found(machine)['dm-3'].members == (
        Member('sdb1', 'missing', 0, ('sdb',)),
        Member('sda1', 'unknown', 1, ('sda',)),
    )


def test_a_thin_volume_lies_on_the_disks_of_its_pool(machine):
    """The parts of the pool are nothing that an admin made; the pool may hold inactive volumes."""
    machine.disks('sda', 'sdb')
    machine.dm('dm-0', 'vg0-pool_tmeta', LV + '-tmeta', 'sda1')
    machine.dm('dm-1', 'vg0-pool_tdata', LV + '-tdata', 'sda1', 'sdb1')
    machine.dm('dm-2', 'vg0-pool-tpool', LV + '-tpool', 'dm-0', 'dm-1')
    machine.dm('dm-3', 'vg0-pool', LV + '-pool', 'dm-2')
    machine.dm('dm-4', 'vg0-thin', LV, 'dm-2')
    groups_found = found(machine).values()
    on_both = 'single', {'sda1': 'in_sync', 'sdb1': 'in_sync'}

    assert {each.name: (each.level, states(each)) for each in groups_found} == {
        'vg0/pool': on_both,
        'vg0/thin': on_both,
    }


def test_a_thin_volume_on_a_mirror_lies_on_that(machine):
    """The mirror is an inner volume, but where the copies are."""
    mirror(machine)
    machine.files(
        (machine.sys / 'block/dm-4').resolve() / 'dm',
        {'name': 'vg0-pool_tdata', 'uuid': LV + '-tdata'},
    )
    machine.dm('dm-5', 'vg0-pool-tpool', LV + '-tpool', 'dm-4')
    machine.dm('dm-6', 'vg0-thin', LV, 'dm-5')
    groups_found = found(machine)

    assert list(groups_found) == ['dm-4', 'dm-6']
    assert groups_found['dm-6'].members == (
        Member('vg0/pool_tdata', 'in_sync', 0, ('dm-4',)),
    )


def test_layers_from_disk_to_mount(machine):
    """md, LUKS, LVM: each by the name that people know it by."""
    machine.disks('sda', 'sdb', 'sdc')
    machine.md('md0', 'raid1', {'sda1': 'in_sync', 'sdb1': 'in_sync'})
    machine.dm('dm-0', 'crypt', 'CRYPT-LUKS2-x', 'md0')
    machine.dm('dm-1', 'vg0-root', LV, 'dm-0', 'sdc1')
    machine.mounted('/dev/mapper/vg0-root', '/', number=machine.numbers['dm-1'])
    groups_found = found(machine)

    assert list(groups_found) == ['md0', 'dm-0', 'dm-1']
    assert groups_found['dm-1'].members == (
        Member('crypt', 'in_sync', 0, ('dm-0',)),
        Member('sdc1', 'in_sync', 1, ('sdc',)),
    )


# --- btrfs ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    'profiles, level',
    [
        ({'data/raid1': 9, 'metadata/raid1': 9, 'system/raid1': 9}, 'btrfs-raid1'),
        ({'data/raid10': 9, 'metadata/raid1c4': 9}, 'btrfs-raid10'),
        ({'data/raid5': 9, 'metadata/raid1c3': 9}, 'btrfs-raid5'),
        ({'data/raid6': 9, 'metadata/raid1c3': 9}, 'btrfs-raid6'),
        ({'data/raid1c4': 9, 'metadata/raid1c3': 9}, 'raid1c3'),
        # during a conversion
        ({'data/single': 9, 'data/raid1': 9, 'metadata/raid1': 9}, 'single'),
        # left from mkfs
        ({'data/single': 0, 'data/raid1': 9, 'metadata/raid1': 9}, 'btrfs-raid1'),
        ({'data/raid1': 9, 'metadata/dup': 9}, 'dup'),
        ({'mixed/raid0': 9, 'system/raid1': 9}, 'raid0'),
    ],
)
def test_the_weakest_profile_of_btrfs_counts(machine, profiles, level):
    """A file system is lost with its metadata."""
    machine.disks('sda', 'sdb')
    machine.btrfs(UUID, profiles, ('sda1', 'sdb1'), ({}, {}), 'pool')
    machine.mounted('/dev/sdb1', '/data', 'btrfs', '0:40', '/@data')
    machine.mounted('/dev/sdb1', '/top', 'btrfs', '0:40')
    [group] = found(machine).values()

    assert group[:6] == (f'btrfs {UUID}', 'pool', 'btrfs', level, 2, 0)
    assert group.members == (
        Member('sda1', 'in_sync', 0, ('sda',)),
        Member('sdb1', 'in_sync', 1, ('sdb',)),
    )
    assert (group.used_as, group.missing, group.unknown) == (('/data', '/top'), 0, '')


@pytest.mark.parametrize(
    'label, mounted, name',
    [('pool', '/data', 'pool'), ('', '/data', '/data'), ('', '', UUID)],
)
def test_a_btrfs_is_named_by_its_label_else_by_its_first_mount_point(
    machine, label, mounted, name
):
    machine.btrfs(UUID, {'data/raid1': 9}, ('sda1', 'sdb1'), ({}, {}), label)
    if mounted:
        machine.mounted('/dev/sda1', mounted, 'btrfs', '0:40')

    assert found(machine)[f'btrfs {UUID}'].name == name


@pytest.mark.skipif(
    not os.access('/dev/shm', os.W_OK), reason='no link can be made in /dev'
)
def test_a_btrfs_made_by_a_link_in_dev_is_mounted_all_the_same(machine):
    """Linux 6.12 shows the path under which it was made, such as /dev/disk/by-id/ata-..."""
    machine.btrfs(UUID, {'data/raid1': 9}, ('sda1', 'sdb1'), ({}, {}))
    with tempfile.TemporaryDirectory(dir='/dev/shm') as folder:
        os.symlink('/dev/sda1', f'{folder}/ata-QEMU-part1')
        machine.mounted(f'{folder}/ata-QEMU-part1', '/data', 'btrfs', '0:40')

        assert found(machine)[f'btrfs {UUID}'].used_as == ('/data',)


@pytest.mark.parametrize(
    'told, missing',
    [
        ({'missing': 1}, 1),
        ({'error_stats': errors(write=3)}, 0),
        ({'error_stats': errors(generation=1)}, 0),
        ({'error_stats': errors(corruption=10)}, 0),
        ({'error_stats': errors(read=5)}, 0),
        ({'error_stats': errors(flush=1)}, 0),
        ({'missing': 1, 'error_stats': errors(write=3)}, 1),
        ({}, 0),
    ],
)
def test_missing_devices_are_counted_without_a_name_and_errors_cast_a_doubt(
    machine, told, missing
):
    """/sys does not say which device has which number, and counted errors may be long corrected."""
    machine.disks('sda', 'sdb')
    machine.btrfs(UUID, {'data/raid1': 9}, ('sda1', 'sdb1'), ({}, told))

    group = found(machine)[f'btrfs {UUID}']
    assert (group.missing, bool(group.doubts)) == (missing, 'error_stats' in told)


def test_a_pulled_disk_is_counted_once(machine):
    """It has failed to write, too."""
    machine.disks('sda', 'sdb')
    machine.btrfs(
        UUID,
        {'data/raid1': 9},
        ('sda1', 'sdb1'),
        ({}, {'error_stats': errors(write=3)}),
    )
    machine.pull('sdb')
    group = found(machine)[f'btrfs {UUID}']

    assert (group.missing, states(group)) == (0, {'sda1': 'in_sync', 'sdb1': 'missing'})


def test_a_disk_that_was_absent_at_mount_has_a_number_only(machine):
    """It is a member without a name, and counted once."""
    machine.disks('sda')
    machine.btrfs(UUID, {'data/raid1': 9}, ('sda1',), ({}, {'missing': 1}))
    group = found(machine)[f'btrfs {UUID}']

    assert group.members == (
        Member('sda1', 'in_sync', 0, ('sda',)),
        Member('', 'missing', 1),
    )
    assert (group.slots, group.missing) == (2, 0)


@pytest.mark.parametrize(
    'source, names, missing',
    [
        ({}, ['sda1', 'sdb1', 'sdc1'], 0),
        ({'missing': 1}, ['sda1', 'sdc1', ''], 0),
        ({'error_stats': errors(write=1)}, ['sda1', 'sdb1', 'sdc1'], 0),
    ],
)
def test_a_replacement_of_btrfs(machine, source, names, missing):
    """The target has number 0 and no whole copy; which device it is, /sys does not say."""
    machine.disks('sda', 'sdb', 'sdc')
    machine.btrfs(
        UUID,
        {'data/raid1': 9},
        tuple(filter(None, names)),
        ({}, source, {'replace_target': 1, 'error_stats': errors(write=1)}),
    )
    group = found(machine)[f'btrfs {UUID}']

    assert [member.name for member in group.members] == names
    assert (group.slots, group.activity, group.missing) == (3, 'replace', missing)


@pytest.mark.parametrize(
    'profiles, states, reason',
    [
        (
            {'data/raid1c9': 9, 'metadata/raid1': 9},
            ({},),
            'profile "raid1c9"',
        ),
        ({'data/raid1': 9}, (), 'of its devices'),
        (
            {'data/raid1': 9},
            ({'error_stats': 'invalid'},),
            'of its devices',
        ),
        ({}, ({},), 'profiles could not'),
    ],
)
def test_what_btrfs_does_not_say_makes_the_redundancy_unknown(
    machine, profiles, states, reason
):
    machine.disks('sda')
    machine.btrfs(UUID, profiles, ('sda1',), states)
    group = found(machine)[f'btrfs {UUID}']

    assert (group.level, group.name) == ('', UUID)
    assert reason in group.unknown


# --- disks and partitions -------------------------------------------------------------------------


def test_a_mounted_partition_and_swap(machine):
    """A bind mount is no other use; btrfs is at home in subvolumes."""
    machine.disk('nvme0n1', 'nvme0n1p1', 'nvme0n1p2', 'nvme0n1p3')
    machine.disk('sda', 'sda1')  # a partition table that a file system has overwritten
    machine.disk('sdb')
    machine.mounted('/dev/sdb', '/bound', root='/folder')
    machine.mounted('/dev/root', '/', number=machine.numbers['nvme0n1p2'])
    machine.mounted('/dev/nvme0n1p2', '/etc/hosts', root='/var/hosts')
    machine.mounted('/dev/sda', '/whole')
    machine.typed('nvme0n1p1', EFI, 'vfat')
    machine.swap('/dev/nvme0n1p3')
    groups_found = found(machine)

    assert {
        group.id: (group.kind, group.level, group.used_as)
        for group in groups_found.values()
    } == {
        'partition nvme0n1p2': ('partition', 'single', ('/',)),
        'swap nvme0n1p3': ('swap', 'single', ('swap',)),
        'partition sda': ('partition', 'single', ('/whole',)),
        'partition sdb': ('partition', 'single', ('/bound',)),
    }
    assert groups_found['partition nvme0n1p2'].members == (
        Member('nvme0n1p2', 'in_sync', 0, ('nvme0n1',)),
    )
    assert groups_found['partition sda'].members[0].on == ('sda',)


@pytest.mark.parametrize(
    'kind, expected',
    [
        ('ceph_bluestore', [('ceph', '')]),
        ('LVM2_member', [('lvm', '')]),
        ('linux_raid_member', [('md', '')]),
        ('isw_raid_member', [('md', '')]),
        ('crypto_LUKS', [('luks', 'single')]),
        ('bcache', [('bcache', 'single')]),
        ('drbd', [('drbd', '')]),
        ('ext4', [('partition', 'single')]),
        ('swap', []),
        ('', [('unknown', '')]),
    ],
)
def test_a_member_of_something_that_does_not_run(machine, kind, expected):
    """It may hold data, but nothing uses it."""
    machine.disks('sda')
    machine.udev('sda1', kind)

    groups_found = found(machine).values()

    assert [(group.kind, group.level) for group in groups_found] == expected
    assert all(bool(group.unknown) is not bool(group.level) for group in groups_found)


def test_a_pool_of_zfs(machine):
    """Its layout needs zpool; the state is there for everybody."""
    for disk in ('sda', 'sdb', 'sdc'):
        machine.disk(disk, f'{disk}1', f'{disk}9')
        machine.udev(f'{disk}1', 'zfs_member', 'tank' if disk < 'sdc' else 'old')
        machine.typed(f'{disk}9', RESERVED)
        # it finds the labels at the end of the disk, too
        machine.udev(disk, 'zfs_member', 'tank')
    machine.files(machine.proc, {'spl/kstat/zfs/tank/state': 'DEGRADED'})
    machine.mounted('tank/home', '/home', 'zfs', '0:41', '/')
    groups_found = found(machine)
    tank = groups_found['zfs tank']

    assert (tank[1:4], states(tank)) == (
        ('tank', 'zfs', ''),
        {'sda1': 'unknown', 'sdb1': 'unknown'},
    )
    assert tank.used_as == ('/home',)
    assert '"DEGRADED"' in tank.unknown
    assert 'not imported' in groups_found['zfs old'].unknown


def test_other_drivers_that_lie_on_disks(machine):
    """The unknown is named; a cache may hold what is not on the disk yet."""
    machine.disks('sda', 'sdb', 'sdc', 'sdd')
    machine.stacked('bcache0', 'sda1', 'sdb1')
    machine.stacked('drbd0', 'sdc1')
    machine.stacked('novel0', 'sdd1')

    assert {
        group.id: (group.kind, group.level, group.slots)
        for group in found(machine).values()
    } == {
        'bcache0': ('bcache', 'single', 2),
        'drbd0': ('drbd', '', 1),
        'novel0': ('dm', '', 1),
    }


def test_a_pool_on_a_volume(machine):
    """ZFS on LUKS shows no holder, as on a disk."""
    machine.disks('sda')
    machine.dm('dm-0', 'crypt', 'CRYPT-LUKS2-x', 'sda1')
    machine.udev('dm-0', 'zfs_member', 'tank')

    assert found(machine)['zfs tank'].members == (
        Member('crypt', 'unknown', None, ('dm-0',)),
    )


def test_a_partition_of_an_array(machine):
    machine.disk('sda')
    folder = machine.md('md0', 'raid1', {'sda': 'in_sync'})
    machine._device('md0p1', folder / 'md0p1')
    machine.mounted('/dev/md0p1', '/srv')

    assert found(machine)['partition md0p1'].members == (
        Member('md0p1', 'in_sync', 0, ('md0',)),
    )


def test_the_partitions_of_a_path_to_a_drive_are_not_in_use(machine):
    """Multipath holds the disk; what udev found on its partition is seen twice."""
    machine.disks('sda')
    machine.udev('sda1', 'LVM2_member')
    machine.dm('dm-0', 'mpatha', 'mpath-x', 'sda')

    assert list(found(machine)) == ['dm-0']


@pytest.mark.parametrize(
    'wwids, expected',
    [
        (('naa.5000c500a1b2c3d4', 'naa.5000c500a1b2c3d4'), 1),
        (('naa.5000c500a1b2c3d4 S1', 'naa.5000c500a1b2c3d5 S1'), 1),
        (('t10.ATA X', 't10.ATA X'), 1),
        (('', ''), 1),
        (('naa.5000c500a1b2c3d4 S1', 'naa.5000c500a1b2c3d4 S1'), 0),
        (('naa.5000c500a1b2c3d4 S1', 'naa.5000c500a1b2c3d4 S2'), 1),
    ],
    ids=['no-serial', 'two-actuators', 'no-wwn', 'none', 'two-paths', 'wwn-of-a-batch'],
)
def test_two_paths_to_a_disk_are_one_disk(machine, wwids, expected):
    """A mirror of a disk with itself tolerates nothing.

    The actuators of a disk are separate logical units.
    """
    machine.disks('sda', 'sdb')
    for name, text in zip(('sda', 'sdb'), wwids):
        wwid, _, serial = text.partition(' S')
        machine.files(
            machine.folder(name),
            {'device/wwid': wwid, 'device/vpd_pg80': f'\0\x80\0\x08{serial}'},
        )
    machine.md('md0', 'raid1', {'sda1': 'in_sync', 'sdb1': 'in_sync'})
    stack = Stack(groups(machine.system))

    assert stack.tolerates(stack.groups['md0'], frozenset()) == expected


def test_a_mirror_of_multipath_volumes_counts_disks(machine):
    """sda and sdb lead to one disk, sdc and sdd to the other."""
    machine.disks('sda', 'sdb', 'sdc', 'sdd')
    machine.dm('dm-0', 'mpatha', 'mpath-a', 'sda', 'sdb')
    machine.dm('dm-1', 'mpathb', 'mpath-b', 'sdc', 'sdd')
    machine.md('md0', 'raid1', {'dm-0': 'in_sync', 'dm-1': 'in_sync'})
    groups = found(machine)
    stack = Stack(groups.values())

    assert groups['dm-0'].members == (Member('sda, sdb', 'in_sync', 0, ('sda',)),)
    assert stack.disks('md0') == {'sda', 'sdc'}
    assert stack.survives(groups['md0'], {'sda'}) and not stack.survives(
        groups['md0'], {'sda', 'sdc'}
    )


def test_a_path_that_is_gone_changes_nothing_and_a_disk_without_paths_is_missing(
    machine,
):
    machine.disks('sda', 'sdb')
    machine.dm('dm-0', 'mpatha', 'mpath-a', 'sda', 'sdb')
    machine.pull('sda')

    assert found(machine)['dm-0'].members == (
        Member('sda, sdb', 'in_sync', 0, ('sdb',)),
    )

    machine.pull('sdb')

    assert found(machine)['dm-0'].members == (Member('sda, sdb', 'missing', 0, ()),)


def test_a_drive_that_was_read_through_its_second_path_is_in_the_group(machine):
    machine.disks('sda', 'sdb')
    machine.dm('dm-0', 'mpatha', 'mpath-a', 'sda', 'sdb')
    machine.mounted('/dev/mapper/mpatha', '/srv', number=machine.numbers['dm-0'])
    drive = Verdict(Device('/dev/sdb', name='sdb'), Identity('SCSI', 'ACME'), State.OK)
    seen = examined(
        [on(drive)],
        lambda placed: [Drive('sdb', frozenset(placed[0].place.disks))],
        machine.read,
    )

    assert seen.uses[0].place.disks == ('sdb', 'sda')
    assert [each.group.id for each in seen.uses[0].depends] == ['dm-0']


@pytest.mark.parametrize('name', ['loop0', 'zram0', 'sr0', 'zd0'])
def test_files_and_memory_are_no_disks(machine, name):
    machine.disk(name, bus='virtual')
    machine.mounted(f'/dev/{name}', '/snap')

    assert found(machine) == {}


# --- bad input ------------------------------------------------------------------------------------


def test_volumes_that_lie_on_each_other_are_unknown(machine):
    """Not even the kernel can build these, but nobody may hang on them."""
    machine.disks('sda')
    machine.dm('dm-0', 'x', 'CRYPT-1', 'sda1')
    machine.dm('dm-1', 'y', 'CRYPT-2', 'dm-0')
    (machine.folder('dm-0') / 'slaves/dm-1').symlink_to(machine.folder('dm-1'))
    machine.dm('dm-2', 'z', 'CRYPT-3', 'sda1')
    groups_found = found(machine)

    assert {
        name: (group.level, bool(group.unknown)) for name, group in groups_found.items()
    } == {
        'dm-0': ('', True),
        'dm-1': ('', True),
        'dm-2': ('single', False),
    }


def test_inner_volumes_that_lie_on_each_other_end_there(machine):
    machine.dm('dm-0', 'vg-a_tdata', LV)
    machine.dm('dm-1', 'vg-b_tdata', LV, 'dm-0')
    (machine.folder('dm-0') / 'slaves/dm-1').symlink_to(machine.folder('dm-1'))
    machine.dm('dm-2', 'vg-thin', LV, 'dm-1')

    assert found(machine)['dm-2'].members == (Member('', 'missing', 0),)


def test_a_tower_of_volumes_is_read_to_a_limit(machine):
    machine.disks('sda')
    machine.dm('dm-0', 'x', 'CRYPT-1', 'sda1')
    for number in range(1, 3 * DEEPEST_GROUPS):
        machine.dm(f'dm-{number}', 'x', 'CRYPT-1', f'dm-{number - 1}')
    levels = [group.level for group in groups(machine.system)]

    assert levels == ['single'] * DEEPEST_GROUPS + [''] * 2 * DEEPEST_GROUPS


@pytest.mark.parametrize(
    'make',
    [
        os.mkfifo,
        os.mkdir,
        lambda path: os.symlink(path, path),
        lambda path: os.symlink('/dev/zero', path),
    ],
    ids=['pipe', 'folder', 'loop', 'device'],
)
@pytest.mark.parametrize(
    'file', ['level', 'raid_disks', 'array_state', 'dev-sda1/state', 'dev-sda1/slot']
)
def test_a_file_that_blocks_or_cannot_be_read(machine, make, file):
    """The group is unknown, or its member is; nothing waits and no device is opened."""
    machine.disks('sda', 'sdb')
    folder = machine.md('md0', 'raid1', {'sda1': 'in_sync', 'sdb1': 'in_sync'})
    (folder / 'md' / file).unlink()
    make(folder / 'md' / file)
    md0 = found(machine)['md0']

    assert (
        md0.unknown
        or {'sda1': 'unknown'}.items() <= states(md0).items()
        or md0.members[1].slot is None
    )


def test_a_file_system_on_an_array_is_mounted_once(machine):
    """The array below it is not what is mounted."""
    machine.disk('sda')
    machine.md('md0', 'raid1', {'sda': 'in_sync'})
    machine.btrfs(UUID, {'data/single': 9}, ('md0',), ({},))
    machine.mounted('/dev/md0', '/data', 'btrfs', '0:40')

    assert [(group.id, group.used_as) for group in groups(machine.system)] == [
        ('md0', ()),
        (f'btrfs {UUID}', ('/data',)),
    ]


def test_only_regular_files_are_read(tmp_path):
    """A long one of /proc comes in pages."""
    (tmp_path / 'file').write_text('x')

    (tmp_path / 'link').symlink_to('file')
    assert (
        text_of(str(tmp_path / 'file')),
        text_of(str(tmp_path / 'link')),
        text_of('/dev/zero'),
    ) == ('x', '', '')
    assert len(text_of('/proc/self/maps', 1 << 22)) > 8192


def test_files_and_mount_points_without_end(machine):
    """Of a file 64 KiB are read, of a mount point 200 characters kept."""
    machine.disks('sda')
    line = f'40 27 8:1 / /{"p" * 4000} rw - ext4 /dev/sda1 rw'
    machine.files(machine.proc, {'self/mountinfo': line, 'swaps': 'x' * 100_000})
    [group] = found(machine).values()

    assert [len(point) for point in group.used_as] == [200]


def test_a_mount_table_beyond_its_limit_is_read_as_far_as_it_goes(machine):
    """The disks are mounted first, a host of containers mounts overlays without end."""
    machine.disks('sda')
    first = '40 27 8:1 / /srv rw - ext4 /dev/sda1 rw'
    overlay = f'50 40 0:50 / /c rw - overlay overlay rw,lowerdir={"l" * 900}'
    machine.files(
        machine.proc, {'self/mountinfo': '\n'.join([first] + [overlay] * 5000)}
    )

    assert [group.used_as for group in found(machine).values()] == [('/srv',)]


@pytest.mark.parametrize(
    'line',
    [
        '',
        '-',
        ' - ',
        '40 27 8:1 / - ext4 /dev/sda1',
        '40 27 8:1 / /x rw - ext4',
        '\0 \0 \0',
        '40 27 ../../x / /x rw - ext4 /dev/ rw',
        '40 27 9:9 / /x rw - ext4 \\777 rw',
    ],
)
def test_lines_that_are_no_mounts(machine, line):
    machine.disks('sda')
    machine.files(machine.proc, {'self/mountinfo': line, 'swaps': line})

    assert list(found(machine)) == ['unknown sda1']


def test_a_machine_that_changes_while_it_is_read(machine, monkeypatch):
    """Whatever vanishes between two looks counts as absent."""
    mirror(machine)
    machine.disks('sdc', 'sdd')
    machine.md('md0', 'raid5', {'sdc1': 'in_sync', 'sdd1': 'in_sync'})
    machine.btrfs(UUID, {'data/raid1': 9}, ('sdc1',), ({},))
    machine.udev('sdd1', 'zfs_member', 'tank')
    calls = {'left': -1}

    def vanishing(real):
        def call(*args, **kwargs):
            if calls['left'] == 0:
                raise FileNotFoundError('gone')
            calls['left'] -= 1
            return real(*args, **kwargs)

        return call

    for name in ('listdir', 'open', 'read', 'stat', 'readlink'):
        monkeypatch.setattr(f'os.{name}', vanishing(getattr(os, name)))
    whole = groups(machine.system)
    steps = -1 - calls['left']
    assert steps > 50
    for left in range(steps):
        calls['left'] = left
        for group in groups(machine.system):
            assert group.id in {each.id for each in whole} | {
                'zfs tank'
            } or group.id.startswith(('dm-', 'md ', 'unknown '))
            assert group.level or group.unknown


def test_a_machine_without_sysfs(tmp_path):
    assert groups(System(*[str(tmp_path / 'no')] * 3)) == ()


@pytest.mark.parametrize(
    'path, expected',
    [
        ('/dev/sda', ['sda']),
        ('/dev/nvme0', ['nvme0n1', 'nvme0n2']),
        ('/dev/sg2', ['sdb']),
        ('/dev/sdz', []),
    ],
)
def test_the_disks_of_a_drive(machine, path, expected):
    """An NVMe controller has one for each namespace."""
    machine.disks('sda')
    for folder in (
        'nvme/nvme0/nvme0c0n1',
        'nvme/nvme0/nvme0n2',
        'scsi_generic/sg2/device/block/sdb',
    ):
        (machine.sys / 'class' / folder).mkdir(parents=True)

    assert disks_of(Device(path), machine.system) == expected
    assert disks_of(Device(path, is_recorded=True), machine.system) == []
