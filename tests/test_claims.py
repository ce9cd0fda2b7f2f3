"""What lies on a failing drive beside its arrays decides whether the drive is next."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from block_tree import Machine
from usual_layouts import GUID, LINUX_DATA

from smart_attributes.redundancy.dependence import groups
from smart_attributes.redundancy.partitions import TYPES
from smart_attributes.redundancy.replacement import COPY, LAST, NEXT, WAIT, Drive, Step, order
from smart_attributes.redundancy.survival import Stack

LV, CRYPT = 'LVM-' + 'a' * 64, 'CRYPT-LUKS2-' + 'b' * 32


@pytest.fixture
def machine(tmp_path) -> Machine:
    return Machine(tmp_path)


def steps(machine: Machine, *failing: str, healthy: str = 'sda sdb sdc sdd') -> dict[str, Step]:
    """Return the step of each drive that has one. healthy: names of drives that need nothing,
    unless they fail.
    """
    present = [name for name in healthy.split() if name in machine.numbers]
    drives = [Drive(name, frozenset((name,)), True, True) for name in failing]
    drives += [Drive(name, frozenset((name,))) for name in present if name not in failing]
    return {step.drive.name: step for step in order(Stack(groups(None, machine.system)), drives)}


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


# --- dropped members ------------------------------------------------------------------------------


def mounted(machine: Machine) -> None:
    machine.mounted('/dev/md0', '/')


def on_lvm(machine: Machine) -> None:
    machine.dm('dm-0', 'vg0-root', LV, 'md0')
    machine.mounted('/dev/mapper/vg0-root', '/', number=machine.numbers['dm-0'])


def on_luks(machine: Machine) -> None:
    machine.dm('dm-0', 'md0_crypt', CRYPT, 'md0')
    machine.mounted('/dev/mapper/md0_crypt', '/', number=machine.numbers['dm-0'])


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


LAYERS = (mounted, on_lvm, on_luks, on_lvm_on_luks, swap, swap_on_lvm, not_mounted)


@pytest.mark.parametrize('lays', LAYERS)
@pytest.mark.parametrize('failing', [(), ('sdb',)])
def test_a_dropped_member_is_one_whatever_lies_on_its_array(
    machine, lays: Callable[[Machine], None], failing: tuple[str, ...]
):
    mirror(machine, sdb1='faulty none')
    lays(machine)
    found = steps(machine, *failing)

    assert {name: (step.label, step.why.code) for name, step in found.items()} == {
        'sdb': (NEXT, 'member-not-used'),
        'sda': (LAST, 'last-good-copy'),
    }
    assert found['sdb'].why.fields['group'] == 'md0' and 'sdb1 faulty' in found['sdb'].why


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
        name: (step.label, step.why.code) for name, step in steps(machine, 'sda', 'sdb').items()
    } == {'sda': (COPY, 'data-at-risk'), 'sdb': (WAIT, 'second-failing-member')}


@pytest.mark.parametrize('level', ['raid0', ''])
def test_swap_space_without_redundancy_is_switched_off(machine, level):
    machine.disks('sda', 'sdb')
    if level:
        machine.md('md0', level, {'sda1': 'in_sync', 'sdb1': 'in_sync'})
    machine.swap('/dev/md0' if level else '/dev/sda1')
    step = steps(machine, 'sda')['sda']

    assert (step.label, step.why.code) == (NEXT, 'only-swap')
    assert ('switch off swap on md0' if level else 'switch off swap on sda1') in step.why
