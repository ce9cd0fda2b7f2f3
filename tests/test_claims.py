"""What lies on a failing drive beside its arrays decides whether the drive is next."""

import pytest
from block_tree import Machine, groups, metadata
from cases import bad, sound
from test_severity import FAILED, drive
from usual_layouts import GUID, LINUX_DATA

from smart_attributes.model import Device, Identity, Located, Verdict
from smart_attributes.redundancy import dependence
from smart_attributes.redundancy.partitions import TYPES
from smart_attributes.redundancy.replacement import COPY, LAST, NEXT, WAIT, Step, order
from smart_attributes.redundancy.survival import Stack
from smart_attributes.work import work_list

LV, CRYPT = 'LVM-' + 'a' * 64, 'CRYPT-LUKS2-' + 'b' * 32


@pytest.fixture
def machine(tmp_path) -> Machine:
    return Machine(tmp_path)


def steps(
    machine: Machine, *failing: str, healthy: str = 'sda sdb sdc sdd'
) -> dict[str, Step]:
    """Return the step of each drive that has one. healthy: names of drives that need nothing,
    unless they fail.
    """
    present = [name for name in healthy.split() if name in machine.numbers]
    drives = [bad(name) for name in failing]
    drives += [sound(name) for name in present if name not in failing]
    return {
        step.drive.name: step for step in order(Stack(groups(machine.system)), drives)
    }


def mirror(machine: Machine, *parts: str, **states: str) -> None:
    """Add two disks with these partitions, of which the first ones are md0."""
    for disk in ('sda', 'sdb'):
        machine.disk(disk, *(f'{disk}{part}' for part in ('1', *parts)))
    machine.md('md0', 'raid1', {**dict.fromkeys(('sda1', 'sdb1'), 'in_sync'), **states})


# --- partitions beside an array -------------------------------------------------------------------


@pytest.mark.parametrize(
    'entry_type, signature, label, code',
    [
        (LINUX_DATA, 'ext4', COPY, 'no-redundancy'),
        (LINUX_DATA, 'crypto_LUKS', COPY, 'no-redundancy'),
        (LINUX_DATA, 'LVM2_member', COPY, 'redundancy-unknown'),
        (LINUX_DATA, '', COPY, 'use-unknown'),
        (LINUX_DATA, 'swap', NEXT, 'replace-next'),
        *((entry_type, '', NEXT, 'replace-next') for entry_type in TYPES),
        (GUID['efi'], 'vfat', NEXT, 'replace-next'),
        (GUID['efi'], 'ext4', COPY, 'no-redundancy'),
    ],
)
def test_a_partition_that_nothing_uses(machine, entry_type, signature, label, code):
    mirror(machine, '2')
    machine.mounted('/dev/md0', '/')
    machine.typed('sdb2', entry_type, signature)
    machine.typed('sda2', LINUX_DATA)  # of a healthy drive
    step = steps(machine, 'sdb')['sdb']

    assert (step.label, step.why.code) == (label, code)


@pytest.mark.parametrize(
    'entry_type, label', [(GUID['reserved'], NEXT), (LINUX_DATA, COPY)]
)
def test_an_old_label_of_a_disk_is_no_signature_of_its_partitions(
    machine, entry_type, label
):
    """udev gives the signature of a disk also to its partitions that have none."""
    mirror(machine, '2')
    label_of_disk = {'ID_FS_USAGE': 'filesystem', 'ID_FS_UUID': '1234'}
    machine.udev('sdb', 'zfs_member', 'tank', **label_of_disk)
    machine.udev(
        'sdb2', 'zfs_member', 'tank', ID_PART_ENTRY_TYPE=entry_type, **label_of_disk
    )

    assert steps(machine, 'sdb')['sdb'].label == label


def test_the_file_system_that_is_not_mounted_is_named(machine):
    mirror(machine, '2')
    machine.udev('sdb2', 'ext4', 'backup', ID_PART_ENTRY_TYPE=LINUX_DATA)

    assert 'sdb2 (backup, ext4, not mounted)' in steps(machine, 'sdb')['sdb'].why


def test_without_udev_only_a_partition_that_nothing_uses_is_unknown(machine):
    """As in a container."""
    mirror(machine)
    assert steps(machine, 'sdb')['sdb'].label == NEXT
    machine._device('sdb2', machine.folder('sdb') / 'sdb2')

    assert steps(machine, 'sdb')['sdb'].why.code == 'use-unknown'


@pytest.mark.parametrize('signature', ['ext4', ''])
def test_a_partition_of_an_array_has_the_redundancy_of_the_array(machine, signature):
    mirror(machine)
    for part in ('md0p1', 'md0p2'):
        machine._device(part, machine.folder('md0') / part)
    machine.mounted('/dev/md0p1', '/')
    machine.typed('md0p2', LINUX_DATA, signature)

    assert steps(machine, 'sdb')['sdb'].label == NEXT
    assert steps(machine, 'sda', 'sdb')['sda'].label == COPY


def idle_thin_pool(machine: Machine) -> None:
    """The pool of a host whose guests are all stopped."""
    machine.lv('dm-0', 'vg0', 'pool_tmeta', 'sdb2', suffix='-tmeta')
    machine.lv('dm-1', 'vg0', 'pool_tdata', 'sdb2', suffix='-tdata')
    machine.lv('dm-2', 'vg0', 'pool-tpool', 'dm-0', 'dm-1', suffix='-tpool')
    machine.lv('dm-3', 'vg0', 'pool', 'dm-2', suffix='-pool')
    machine.volume_group('vg0', ('sdb2',), {'pool_tdata': ('sdb2',), 'vm': ('pool',)})


def volume_named_like_an_inner_one(machine: Machine) -> None:
    machine.dm('dm-0', 'data_cvol_1-home', LV, 'sdb2')


def volume_named_like_a_partition(machine: Machine) -> None:
    """A member of the array has the name of the partition beside it."""
    machine.disks('sdc')
    machine.dm('dm-0', 'sdb2', CRYPT, 'sdc1')
    machine.md('md1', 'raid1', {'dm-0': 'in_sync'})
    machine.typed('sdb2', LINUX_DATA, 'ext4')


def cache_of_the_array(machine: Machine) -> None:
    machine.stacked('bcache0', 'md0', 'sdb2')


def cluster_and_file_system(machine: Machine) -> None:
    """Only the data of the cluster is moved by it."""
    machine.dm('dm-0', 'ceph--db-db1', LV, 'sdb2')
    machine._device('sdb3', machine.folder('sdb') / 'sdb3')
    machine.mounted('/dev/sdb3', '/srv')


@pytest.mark.parametrize(
    'lays',
    [
        idle_thin_pool,
        volume_named_like_an_inner_one,
        volume_named_like_a_partition,
        cache_of_the_array,
        cluster_and_file_system,
    ],
)
def test_what_lies_only_here_is_copied_first(machine, lays):
    mirror(machine, '2')
    lays(machine)
    found = steps(machine, 'sdb')

    # no drive must stay: the array is complete
    assert {name: (step.label, step.why.code) for name, step in found.items()} == {
        'sdb': (COPY, 'no-redundancy')
    }


def test_all_that_lies_only_here_is_named(machine):
    mirror(machine, '2', '3', '4')
    machine.mounted('/dev/sdb2', '/srv')
    machine.typed('sdb3', LINUX_DATA, 'ext4')
    machine.typed('sdb4', LINUX_DATA)

    assert 'also copy the data of sdb3, sdb4' in steps(machine, 'sdb')['sdb'].why


def with_a_second_namespace(machine: Machine) -> str:
    machine.disk('nvme0n2')
    machine.disk('nvme0n1', 'nvme0n1p1')
    return 'nvme0n1p1'


def with_a_second_actuator(machine: Machine) -> str:
    """A file system that is not mounted is on the second one; the drive is read at the first."""
    for number, disk in enumerate(('sda', 'sdb')):
        unit = f'0:0:0:{number}'
        folder = machine.disk(disk, f'{disk}1', bus=f'pci0/host0/target0:0:0/{unit}')
        (folder / 'device').symlink_to('../..')
        page = '\0\x80\0\x08ABCD1234'
        wwid = f'naa.5000c500a1b2c3d{number}'
        machine.files(folder.parents[1], {'wwid': wwid, 'vpd_pg80': page})
    machine.typed('sdb1', LINUX_DATA, 'ext4')
    return 'sda1'


@pytest.mark.parametrize(
    'makes, code',
    [
        (with_a_second_namespace, 'use-unknown'),
        (with_a_second_actuator, 'no-redundancy'),
    ],
)
def test_who_pulls_a_drive_pulls_all_its_disks(machine, makes, code):
    part = makes(machine)
    machine.disks('sdc')
    machine.md('md0', 'raid1', {part: 'in_sync', 'sdc1': 'in_sync'})

    assert replaced(
        machine, drive(machine.folder(part).parent.name, FAILED), 'sdc'
    ) == (COPY, code)


def replaced(machine: Machine, failing: Verdict, healthy: str) -> tuple[str, str]:
    """Return the label of a drive that fails, as a run that reads two drives decides it."""
    found = dependence.examined(
        [Located(failing), Located(drive(healthy))],
        lambda placed: work_list.drives(placed, 0),
        read=machine.read,
    )
    step = found.uses[0].replacement
    return (step.label, str(step.why.code)) if step else ('', '')


def test_two_disks_without_a_serial_number_are_two_disks(machine):
    """A vendor gave both the same WWN."""
    mirror(machine)
    machine.disks('sdc')
    machine.typed('sdc1', LINUX_DATA, 'ext4')
    for disk in ('sda', 'sdc'):
        page = {'device/wwid': 'naa.5000c500a1b2c3d4', 'device/vpd_pg80': '\0\x80\0\0'}
        machine.files(machine.folder(disk), page)

    assert replaced(machine, drive('sdc', FAILED), 'sdb') == (COPY, 'no-redundancy')


def drbd(machine: Machine) -> None:
    machine.stacked('drbd0', 'md0')
    machine.mounted('/dev/drbd0', '/srv')


def idle_volume_group(machine: Machine) -> None:
    machine.udev('md0', 'LVM2_member')


def unknown_target(machine: Machine) -> None:
    machine.dm('dm-0', 'stratis-1-pool', 'stratis-1-private', 'md0')


@pytest.mark.parametrize('lays', [drbd, idle_volume_group, unknown_target])
def test_of_an_array_nothing_is_lost_with_one_disk(machine, lays):
    """Whatever is on it, even if its own redundancy is unknown."""
    mirror(machine)
    lays(machine)

    assert steps(machine, 'sdb')['sdb'].why.code == 'replace-next'
    assert [step.why.code for step in steps(machine, 'sda', 'sdb').values()] == [
        'data-at-risk',
        'second-failing-member',
    ]


def test_a_partition_of_a_multipath_volume_may_hold_nothing_that_counts(machine):
    parts = []
    for number, paths in enumerate(('ab', 'cd')):
        volume, part, empty = (f'dm-{3 * number + place}' for place in range(3))
        for path in paths:
            machine.disk(f'sd{path}')
        machine.dm(
            volume,
            f'mpath{number}',
            f'mpath-{number}',
            *(f'sd{path}' for path in paths),
        )
        machine.dm(part, f'mpath{number}p1', f'part1-mpath-{number}', volume)
        machine.dm(empty, f'mpath{number}p9', f'part9-mpath-{number}', volume)
        machine.typed(empty, GUID['reserved'])
        parts.append(part)
    machine.md('md0', 'raid1', dict.fromkeys(parts, 'in_sync'))

    assert steps(machine, 'sda')['sda'].label == NEXT


def test_a_copy_of_the_backup_of_a_volume_group_may_be_old(machine):
    mirror(machine, '2')
    machine.lv('dm-0', 'vg0', 'swap', 'sdb2')
    machine.swap('/dev/dm-0')
    machine.volume_group('vg0', ('sdb2',), {'swap': ('sdb2',), 'vm': ('sdb2',)})
    old = metadata('vg0', ('sdb2',), {'swap': ('sdb2',)})
    (machine.lvm / 'vg0.old').write_text(old)

    assert steps(machine, 'sdb')['sdb'].label == COPY


def test_a_controller_may_pass_a_drive_through(machine):
    """The kernel has a disk with its serial number: the groups on that are its groups."""
    mirror(machine)
    for disk, serial in (('sda', 'ABCD1234'), ('sdb', 'ABCD5678')):
        machine.files(
            machine.folder(disk), {'device/vpd_pg80': f'\0\x80\0\x08{serial}'}
        )
    device = Device('/dev/bus/0', 'megaraid,1', 'bus_0_megaraid_1')
    for serial, code in (
        ('ABCD5678', 'replace-next'),
        ('ABCD9999', 'redundancy-unknown'),
    ):
        behind = drive('', FAILED)._replace(
            device=device, identity=Identity(serial=serial)
        )

        assert replaced(machine, behind, 'sda')[1] == code


# --- dropped members ------------------------------------------------------------------------------


def mounted(machine: Machine) -> None:
    machine.mounted('/dev/md0', '/')


def on_lvm(machine: Machine) -> None:
    machine.dm('dm-0', 'vg0-root', LV, 'md0')
    machine.mounted('/dev/mapper/vg0-root', '/', number=machine.numbers['dm-0'])


def on_lvm_on_luks(machine: Machine) -> None:
    machine.dm('dm-0', 'md0_crypt', CRYPT, 'md0')
    machine.dm('dm-1', 'vg0-root', LV, 'dm-0')
    machine.mounted('/dev/mapper/vg0-root', '/', number=machine.numbers['dm-1'])


def swap(machine: Machine) -> None:
    machine.swap('/dev/md0')


def swap_on_lvm(machine: Machine) -> None:
    machine.dm('dm-0', 'vg0-swap_1', LV, 'md0')
    machine.swap('/dev/dm-0')


def not_mounted(machine: Machine) -> None:
    machine.udev('md0', 'ext4', ID_FS_USAGE='filesystem')


LAYERS = (mounted, on_lvm, on_lvm_on_luks, swap, swap_on_lvm, not_mounted)


@pytest.mark.parametrize('lays', LAYERS)
@pytest.mark.parametrize('failing', [(), ('sdb',)])
def test_a_dropped_member_is_one_whatever_lies_on_its_array(machine, lays, failing):
    mirror(machine, sdb1='faulty none')
    lays(machine)
    found = steps(machine, *failing)

    assert {name: (step.label, step.why.code) for name, step in found.items()} == {
        'sdb': (NEXT, 'member-not-used'),
        'sda': (LAST, 'last-good-copy'),
    }
    assert (
        found['sdb'].why.fields['group'] == 'md0' and 'sdb1 faulty' in found['sdb'].why
    )


def test_a_dropped_member_beside_other_data_is_copied_first_and_named(machine):
    """Also on a healthy drive."""
    mirror(machine, '2', sdb1='faulty none')
    mounted(machine)
    machine.typed('sdb2', LINUX_DATA, 'ext4')
    step = steps(machine)['sdb']

    assert (step.label, step.why.code) == (COPY, 'no-redundancy')
    assert step.why.endswith('md0 (raid1, /, sdb1 faulty) no longer uses it')


@pytest.mark.parametrize('lays', LAYERS)
def test_a_failing_member_of_a_healthy_array_has_its_data_on_others(machine, lays):
    mirror(machine)
    lays(machine)
    found = steps(machine, 'sdb')

    assert {name: (step.label, step.why.code) for name, step in found.items()} == {
        'sdb': (NEXT, 'replace-next')
    }


# --- swap space -----------------------------------------------------------------------------------


@pytest.mark.parametrize('lays', [swap, swap_on_lvm])
def test_swap_space_on_a_mirror_is_data_of_the_mirror(machine, lays):
    """Nothing is to be switched off, and if both halves fail, it is not "only swap space"."""
    mirror(machine)
    lays(machine)

    assert 'swap on' not in steps(machine, 'sdb')['sdb'].why
    assert {
        name: (step.label, step.why.code)
        for name, step in steps(machine, 'sda', 'sdb').items()
    } == {'sda': (COPY, 'data-at-risk'), 'sdb': (WAIT, 'second-failing-member')}


@pytest.mark.parametrize('level', ['raid0', ''])
def test_swap_space_without_redundancy_is_switched_off(machine, level):
    machine.disks('sda', 'sdb')
    if level:
        machine.md('md0', level, {'sda1': 'in_sync', 'sdb1': 'in_sync'})
    machine.swap('/dev/md0' if level else '/dev/sda1')
    step = steps(machine, 'sda')['sda']

    assert (step.label, step.why.code) == (NEXT, 'only-swap')
    assert (
        'switch off swap on md0' if level else 'switch off swap on sda1'
    ) in step.why
