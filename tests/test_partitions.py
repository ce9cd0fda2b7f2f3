"""What partitions hold, by entries of the udev database, and by what is in use."""

from collections.abc import Mapping

import pytest
from block_tree import Machine

from smart_attributes.redundancy import block_devices, partitions
from smart_attributes.redundancy.partitions import (
    EFI,
    MEMBER,
    MOUNTED,
    NOTHING,
    SIGNATURE,
    SWAP,
    TYPES,
    UNKNOWN,
    kind_of,
)

LINUX_DATA = '0fc63daf-8483-4772-8e79-3d69d8477de4'
LINUX_SWAP = '0657fd6d-a4ab-43c4-84e5-0933c84b4f4f'
BIOS_BOOT = '21686148-6449-6e6f-744e-656564454649'
RESERVED = 'e3c9e316-0b5c-4db8-817d-f92df00215ae'  # by Microsoft


def noted(
    entry_type: str = '', signature: str = '', ambivalent: str = ''
) -> Mapping[str, str]:
    """Return udev's properties of a partition, without those that it does not write."""
    properties = {
        'ID_PART_ENTRY_TYPE': entry_type,
        'ID_FS_TYPE': signature,
        'ID_FS_AMBIVALENT': ambivalent,
    }
    return {key: text for key, text in properties.items() if text}


@pytest.mark.parametrize(
    'notes, expected',
    [
        *((noted(entry_type), NOTHING) for entry_type in TYPES),
        *((noted(entry_type, 'vfat'), NOTHING) for entry_type in EFI),
        (noted(LINUX_DATA, 'swap'), NOTHING),
        (noted(BIOS_BOOT, 'swap'), NOTHING),
        # a signature counts whatever the type says
        (noted(LINUX_SWAP, 'ext4'), SIGNATURE),
        (noted(LINUX_DATA, 'ext4'), SIGNATURE),
        (noted(EFI[0], 'ext4'), SIGNATURE),
        (noted(RESERVED, 'ntfs'), SIGNATURE),
        (noted('0x5', 'vfat'), SIGNATURE),
        (
            noted(EFI[0], ambivalent='filesystem:ext4:1.0 filesystem:vfat:FAT32'),
            SIGNATURE,
        ),
        # not known is not nothing
        (noted(LINUX_DATA), UNKNOWN),
        (noted('0x83'), UNKNOWN),
        (noted('0xef0'), UNKNOWN),
        (noted('0x82'), UNKNOWN),  # swap, or Solaris
        ({}, UNKNOWN),
    ],
)
def test_a_partition_that_nothing_uses_holds_what_udev_noted(notes, expected):
    assert kind_of(notes) == expected


def test_each_partition_of_a_disk_is_accounted_for_once(tmp_path):
    """Also a disk without partitions; a disk with partitions only if it is in use itself."""
    machine = Machine(tmp_path)
    machine.disk('sda', *(f'sda{number}' for number in range(1, 9)))
    machine.disk('sdb')
    machine.disk('sdc', 'sdc1')
    machine.disk('sdd', 'sdd1')
    machine.disk('sde', 'sde1')
    machine.disk('loop0', bus='virtual')
    machine.md('md0', 'raid1', {'sda1': 'in_sync', 'sdc': 'in_sync'})
    machine.mounted('/dev/md0', '/')
    machine.mounted('/dev/sda2', '/boot')
    machine.swap('/dev/sda3')
    machine.typed('sda4', LINUX_DATA, 'ext4')
    machine.typed('sda5', BIOS_BOOT)
    machine.typed('sda6', LINUX_DATA, 'swap')
    machine.typed('sda7', LINUX_DATA)
    machine.udev('sdd', 'ext4', ID_FS_USAGE='filesystem')
    machine.udev('sde', 'zfs_member', 'tank', ID_FS_USAGE='filesystem')
    devices = block_devices.listed(machine.system)
    devices = devices._replace(used=block_devices.uses(machine.system))
    held = partitions.claims({'sda1', 'sdc'}, devices)

    assert {claim.name: claim.kind for claim in held} == {
        'md0': MOUNTED,
        'sda1': MEMBER,
        'sda2': MOUNTED,
        'sda3': SWAP,
        'sda4': SIGNATURE,
        'sda5': NOTHING,
        'sda6': NOTHING,
        'sda7': UNKNOWN,
        'sda8': UNKNOWN,
        'sdb': UNKNOWN,
        'sdc': MEMBER,
        'sdc1': MEMBER,  # a leftover of the table that the array has overwritten
        'sdd': SIGNATURE,
        'sdd1': UNKNOWN,
        'sde1': UNKNOWN,
    }
    assert len(held) == len({claim.name for claim in held})


def test_a_partition_in_use_through_another_path_is_in_use(tmp_path):
    machine = Machine(tmp_path)
    machine.disks('sda', 'sdb')
    devices = block_devices.listed(machine.system)._replace(same={'sdb': 'sda'})

    for used in ('sda1', 'sdb1'):
        assert {claim.kind for claim in partitions.claims({used}, devices)} == {MEMBER}
    kinds = {claim.name: claim.kind for claim in partitions.claims(set(), devices)}
    assert kinds == {'sda1': UNKNOWN, 'sdb': MEMBER, 'sdb1': MEMBER}
