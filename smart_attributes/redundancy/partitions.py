"""The types of partitions that hold no data of their own, by the udev database. Pure.

Sources: UEFI 2.10, 5.3.3 (EFI system partition, also its type in an MBR); GNU GRUB manual, BIOS
installation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

EFI, BIOS_BOOT = 'efi', 'bios'
# ID_PART_ENTRY_TYPE, as libblkid writes it: a GUID of GPT in lower case, or the number of an MBR.
TYPES: Mapping[str, str] = {
    'c12a7328-f81f-11d2-ba4b-00a0c93ec93b': EFI,
    '0xef': EFI,
    '21686148-6449-6e6f-744e-656564454649': BIOS_BOOT,
}
_ENTRY_TYPE = re.compile('^E:ID_PART_ENTRY_TYPE=(.*)$', re.MULTILINE)


def partition_type(notes: str) -> str:
    """Return EFI or BIOS_BOOT; '' for any other partition, and for a partition whose type is
    unknown.

    notes: the partition's entry in the udev database, see block_devices.udev_notes().
    """
    entry_type = _ENTRY_TYPE.search(notes)
    return TYPES.get(entry_type[1], '') if entry_type else ''
