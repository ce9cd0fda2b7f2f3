"""Types of partitions, by entries of the udev database."""

from __future__ import annotations

import pytest

from smart_attributes.redundancy.partitions import BIOS_BOOT, EFI, partition_type

ENTRY = """S:disk/by-partuuid/0a1b2c3d-01
E:ID_PART_ENTRY_SCHEME={scheme}
E:ID_PART_ENTRY_TYPE={type}
E:ID_PART_ENTRY_NUMBER=1
"""


@pytest.mark.parametrize(
    'scheme, entry_type, expected',
    [
        ('gpt', 'c12a7328-f81f-11d2-ba4b-00a0c93ec93b', EFI),
        ('dos', '0xef', EFI),
        ('gpt', '21686148-6449-6e6f-744e-656564454649', BIOS_BOOT),
        ('gpt', '0fc63daf-8483-4772-8e79-3d69d8477de4', ''),  # data of Linux
        ('dos', '0xef0', ''),
        ('gpt', '', ''),
    ],
)
def test_a_partition_has_the_type_that_udev_noted(scheme, entry_type, expected):
    assert partition_type(ENTRY.format(scheme=scheme, type=entry_type)) == expected


@pytest.mark.parametrize('notes', ['', 'E:ID_FS_TYPE=vfat\n', 'E:OLD_ID_PART_ENTRY_TYPE=0xef\n'])
def test_a_partition_without_a_noted_type_has_none(notes):
    """The content of a partition does not show its type."""
    assert partition_type(notes) == ''
