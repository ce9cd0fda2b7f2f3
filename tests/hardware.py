"""The controllers and drives of the guest, as QEMU is told; each drive is empty and found by its
serial number.

What QEMU cannot be: an ATA drive or an NVMe one that wears or fails (its numbers
are fixed, but for the warning bits), a drive behind MegaRAID that has SMART (its
SCSI disks have none), a SATA drive behind a RAID controller or a USB bridge.
"""

from collections.abc import Sequence
from pathlib import Path

WARNING_RELIABILITY = 4  # bit 2 of NVMe's critical warning
MEDIUM = 16 * 1024 * 1024
DISK_SIZE = 300 * 1024 * 1024  # btrfs makes no file system on much less
PORTS = 6  # of an AHCI controller; QEMU's machine has one of its own
# How smartctl knows a hard disk behind MegaRAID; QEMU's own name is that of a virtual disk.
REAL_NAME = 'vendor=SEAGATE,product=ST600MM0006,ver=0004'


def medium(name: str) -> dict[str, object]:
    """Return what a drive keeps nothing on."""
    return {'driver': 'null-co', 'node-name': name, 'size': MEDIUM, 'read-zeroes': True}


def drive(name: str, device: str) -> list[str]:
    """Return a drive that the monitor knows as *name*, on a medium that outlasts it."""
    words = ','.join(
        f'{key}={"on" if value is True else value}'
        for key, value in medium(f'{name}-medium').items()
    )
    return ['-blockdev', words, '-device', f'{device},drive={name}-medium,id={name}']


def port(name: str, number: int) -> list[str]:
    """Return a slot of PCI Express where something can be pulled."""
    return ['-device', f'pcie-root-port,id={name},chassis={number},slot={number}']


def ahci() -> list[str]:
    return [
        *drive('sata', 'ide-hd,bus=ide.0,serial=SATA0001,model=QEMU-SATA'),
        '-device',
        'ide-cd,bus=ide.1',
    ]


def nvme() -> list[str]:
    """Return a good one, one that warns, and one behind two controllers."""
    return [
        *port('slot1', 1),
        *drive('good', 'nvme,serial=NVME0001,bus=slot1'),
        *port('slot2', 2),
        *drive(
            'warning',
            f'nvme,serial=NVME0002,bus=slot2,smart_critical_warning={WARNING_RELIABILITY}',
        ),
        '-device',
        'nvme-subsys,id=shelf',
        '-device',
        'nvme,serial=NVME0003,subsys=shelf,id=path1',
        '-device',
        'nvme,serial=NVME0003,subsys=shelf,id=path2',
        *drive('shared', 'nvme-ns,nsid=1,shared=on,bus=path1'),
    ]


def megaraid() -> list[str]:
    return [
        '-device',
        'megasas-gen2,id=raid',
        *drive(
            'raid0',
            f'scsi-hd,bus=raid.0,scsi-id=0,serial=RAID0001,wwn=0x5000c50000000a01,{REAL_NAME}',
        ),
        *drive(
            'raid1',
            f'scsi-hd,bus=raid.0,scsi-id=1,serial=RAID0002,wwn=0x5000c50000000a02,{REAL_NAME}',
        ),
    ]


def virtual() -> list[str]:
    """Return the disk that most virtual machines have, and its optical drive."""
    return [
        '-device',
        'virtio-scsi-pci,id=virtio',
        *drive('virtual', 'scsi-hd,bus=virtio.0,serial=VIRT0001'),
        '-device',
        'scsi-cd,bus=virtio.0',
    ]


def usb() -> list[str]:
    return [
        '-device',
        'qemu-xhci,id=xhci',
        *drive('usb', 'usb-storage,bus=xhci.0,serial=USB0001'),
    ]


def everything() -> list[str]:
    return [*ahci(), *nvme(), *megaraid(), *virtual(), *usb()]


def shelf(serials: Sequence[str], folder: Path) -> list[str]:
    """Return SATA disks that keep what is written to them.

    QEMU can save and restore their contents.
    """
    words: list[str] = []
    for number, serial in enumerate(serials):
        controller, place = divmod(number, PORTS)
        if controller and not place:
            words += ['-device', f'ich9-ahci,id=ahci{controller}']
        file = folder / f'shelf-{number}'
        with open(file, 'wb') as disk:
            disk.truncate(DISK_SIZE)
        words += [
            '-drive',
            f'if=none,id=shelf{number},file={file},format=raw,snapshot=on',
            '-device',
            f'ide-hd,bus={f"ahci{controller}" if controller else "ide"}.{place},drive=shelf{number},'
            f'serial={serial},model=QEMU-SATA,rotation_rate=7200',
        ]
    return words
