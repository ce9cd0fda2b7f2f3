"""A tree of /sys with disks, arrays and controllers, in a folder that tests use as /."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def write(folder: Path, files: dict[str, str]) -> Path:
    """Write small files into a folder, which is made; return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(f'{text}\n')
    return folder


def link(path: Path, target: Path) -> None:
    """Make a symbolic link, with the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)


def disk(
    root: Path,
    name: str,
    model: str = 'ST4000NM0035-1V4',
    vendor: str = 'ATA',
    driver: str = 'ahci',
    host: int = 0,
    bus: str = 'pci0000:00',
    **files: str,
) -> None:
    """Add a SCSI or SATA disk with one partition. files: of its device folder, and "size" and
    "removable".
    """
    block_files = {key: files.pop(key) for key in ('removable', 'size') if key in files}
    target = (
        sum(1 for _ in (root / 'sys/block').iterdir())
        if (root / 'sys/block').exists()
        else 0
    )
    device = write(
        root
        / f'sys/devices/{bus}/host{host}/target{host}:0:{target}/{host}:0:{target}:0',
        {'vendor': f'{vendor:8}', 'model': f'{model:16}', 'timeout': '30', **files},
    )
    block = write(
        device / 'block' / name, {'size': '7814037168', 'removable': '0', **block_files}
    )
    write(block / f'{name}1', {'partition': '1'})
    link(block / 'device', device)
    for folder in ('block', 'class/block'):
        link(root / 'sys' / folder / name, block)
    link(root / f'sys/class/block/{name}1', block / f'{name}1')
    write(root / f'sys/class/scsi_host/host{host}', {'proc_name': driver})


def nvme(
    root: Path,
    number: int,
    namespaces: int = 1,
    port: Sequence[str] = ('16.0 GT/s PCIe', '4'),
    most: Sequence[str] = ('16.0 GT/s PCIe', '4'),
    now: Sequence[str] = ('16.0 GT/s PCIe', '4'),
    **files: str,
) -> None:
    """Add an NVMe drive in a PCIe slot. port, most, now: speed and width of the slot, of the
    drive, and in use.
    """
    slot = write(
        root / f'sys/devices/pci0000:00/0000:00:0{number}.0',
        {'max_link_speed': port[0], 'max_link_width': port[1]},
    )
    pci = write(
        slot / '0000:01:00.0',
        {
            'max_link_speed': most[0],
            'max_link_width': most[1],
            'current_link_speed': now[0],
            'current_link_width': now[1],
        },
    )
    drive = write(
        pci / f'nvme/nvme{number}',
        {'model': 'EXAMPLE NVMe', 'transport': 'pcie', **files},
    )
    link(drive / 'device', pci)
    link(root / f'sys/class/nvme/nvme{number}', drive)
    for namespace in range(1, namespaces + 1):
        name = f'nvme{number}n{namespace}'
        link(write(drive / name, {'size': '1000', 'removable': '0'}) / 'device', drive)
        link(root / 'sys/block' / name, drive / name)


def array(root: Path, name: str, *members: str, level: str) -> None:
    """Add an md array whose members are in sync."""
    folder = root / 'sys/block' / name
    write(
        folder / 'md',
        {
            'level': level,
            'raid_disks': str(len(members)),
            'layout': '0',
            'array_state': 'clean',
            'sync_action': 'idle',
            'sync_completed': 'none',
            'metadata_version': '1.2',
        },
    )
    for slot, member in enumerate(members):
        link(
            write(folder / f'md/dev-{member}', {'state': 'in_sync', 'slot': str(slot)})
            / 'block',
            root / 'sys',
        )
