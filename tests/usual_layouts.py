"""The usual layouts of servers with two disks, as their installers make them.

Each is described once. The tests build it twice: as a tree of /sys (test_usual_layouts), and with
the real tools on a real kernel (test_kernel_layouts).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol

from smart_attributes.redundancy.partitions import TYPES
from smart_attributes.redundancy.replacement import COPY, NEXT

LINUX_DATA = '0fc63daf-8483-4772-8e79-3d69d8477de4'
GUID = {kind: entry_type for entry_type, kind in TYPES.items() if '-' in entry_type}
RAID, LVM, SWAP, LUKS = 'linux_raid_member', 'LVM2_member', 'swap', 'crypto_LUKS'
EXTENDED = '0x5'
DISKS = 'sda', 'sdb'
Part = tuple[str, str]  # kind of partition in TYPES, or its type, or ''; signature


class Server(Protocol):
    """Two disks. Partitions, arrays and volumes have names that later ones may lie on.

    used: a mount point, SWAP, or '' for a device that something else lies on.
    """

    def disks(self, *parts: Part, only_on_sda: Sequence[Part] = ()) -> None:
        """Add both disks with these partitions."""

    def mirror(self, name: str, used: str, *members: str) -> None:
        """Add an array of md."""

    def encrypted(self, name: str, used: str, below: str) -> None:
        """Add an open volume of LUKS."""

    def lv(self, group: str, name: str, used: str, below: str) -> None:
        """Add a logical volume to the volume group on *below*."""

    def thin(self, group: str, pool: str, name: str, used: str, below: str) -> None:
        """Add a thin pool with one volume to the volume group on *below*."""

    def lvm_mirror(self, group: str, name: str, used: str, *below: str) -> None:
        """Add a volume group with a volume of LVM's raid1."""

    def btrfs(self, used: str, *members: str) -> None:
        """Add a btrfs of which everything is raid1."""

    def pool(self, name: str, number: str) -> None:
        """Add a mirror of ZFS on the partitions with this number."""

    def uses(self, name: str, used: str) -> None:
        """Mount a partition, or use it as swap space."""


class Partition(NamedTuple):
    """A partition of a disk."""

    number: int
    entry_type: str
    signature: str


def partitions(parts: Sequence[Part]) -> Iterator[Partition]:
    """Yield partitions with their numbers; those inside an extended one begin at 5."""
    number = 0
    for kind, signature in parts:
        number += 1
        yield Partition(number, GUID.get(kind, kind) or LINUX_DATA, signature)
        if kind == EXTENDED:
            number = 4


def debian_lvm_on_md(server: Server) -> None:
    server.disks(('', RAID), ('', RAID))
    server.mirror('md0', '/boot', 'sda1', 'sdb1')
    server.mirror('md1', '', 'sda2', 'sdb2')
    server.lv('vg0', 'root', '/', 'md1')
    server.lv('vg0', 'swap_1', SWAP, 'md1')


def debian_mbr(server: Server) -> None:
    server.disks(('0x83', RAID), (EXTENDED, ''), ('0x83', RAID))
    server.mirror('md0', '/', 'sda1', 'sdb1')
    server.mirror('md1', SWAP, 'sda5', 'sdb5')


def ubuntu_bios(server: Server) -> None:
    server.disks(('bios', ''), ('', RAID))
    server.mirror('md0', '/', 'sda2', 'sdb2')


def ubuntu_with_two_efi_partitions(server: Server) -> None:
    server.disks(('efi', 'vfat'), ('', RAID))
    server.uses('sda1', '/boot/efi')
    server.mirror('md0', '/', 'sda2', 'sdb2')


def with_one_efi_partition(server: Server) -> None:
    server.disks(('', RAID), only_on_sda=[('efi', 'vfat')])
    server.uses('sda2', '/boot/efi')
    server.mirror('md0', '/', 'sda1', 'sdb1')


def proxmox_lvm(server: Server) -> None:
    server.disks(('bios', ''), ('efi', 'vfat'), ('', LVM))
    for disk in DISKS:
        server.lv(f'pve{disk}', 'root', f'/{disk}', f'{disk}3')
        server.thin(f'pve{disk}', 'data', 'vm', f'/vm-{disk}', f'{disk}3')


def proxmox_zfs(server: Server) -> None:
    server.disks(('bios', ''), ('efi', 'vfat'), ('', 'zfs_member'))
    server.pool('rpool', '3')


def rhel(server: Server) -> None:
    """The EFI partition is mirrored, with metadata 1.0."""
    server.disks(('efi', RAID), ('', RAID), ('', RAID))
    server.mirror('md125', '/boot/efi', 'sda1', 'sdb1')
    server.mirror('md126', '/boot', 'sda2', 'sdb2')
    server.mirror('md127', '', 'sda3', 'sdb3')
    server.lv('rhel', 'root', '/', 'md127')
    server.lv('rhel', 'swap', SWAP, 'md127')


def md_with_swap(server: Server) -> None:
    server.disks(('', RAID), ('', RAID))
    server.mirror('md0', SWAP, 'sda1', 'sdb1')
    server.mirror('md1', '/', 'sda2', 'sdb2')


def swap_beside_md(server: Server) -> None:
    server.disks(('', SWAP), ('', RAID))
    server.uses('sda1', SWAP)
    server.uses('sdb1', SWAP)
    server.mirror('md0', '/', 'sda2', 'sdb2')


def luks_on_md(server: Server) -> None:
    server.disks(('bios', ''), ('', RAID))
    server.mirror('md0', '', 'sda2', 'sdb2')
    server.encrypted('md0_crypt', '/', 'md0')


def md_on_luks(server: Server) -> None:
    server.disks(('', LUKS))
    for disk in DISKS:
        server.encrypted(f'{disk}_crypt', '', f'{disk}1')
    server.mirror('md0', '/', 'sda_crypt', 'sdb_crypt')


def lvm_thin(server: Server) -> None:
    server.disks(('', RAID))
    server.mirror('md0', '', 'sda1', 'sdb1')
    server.thin('vg0', 'pool', 'vm', '/srv', 'md0')


def lvm_raid(server: Server) -> None:
    server.disks(('', LVM))
    server.lvm_mirror('vg0', 'root', '/', 'sda1', 'sdb1')


def btrfs_raid1(server: Server) -> None:
    server.disks(('efi', 'vfat'), ('', 'btrfs'))
    server.btrfs('/', 'sda2', 'sdb2')


def zfs_data_pool(server: Server) -> None:
    server.disks(('', 'zfs_member'), ('reserved', ''))
    server.pool('tank', '1')


def next_to_windows(server: Server) -> None:
    """Beside a mirror of Linux, the partitions of a Windows that was installed before."""
    server.disks(('msr', ''), ('prep', ''), ('', RAID), ('', 'ntfs'))
    server.mirror('md0', '/', 'sda3', 'sdb3')


def with_an_old_file_system(server: Server) -> None:
    """Beside a mirror, sda has an ext4 that is not mounted: its data is only there."""
    server.disks(('', RAID), only_on_sda=[('', 'ext4')])
    server.mirror('md0', '/', 'sda1', 'sdb1')


class Layout(NamedTuple):
    """A layout, and the label of each disk when it fails and the other one does not."""

    made: Callable[[Server], None]
    of_sda: str
    of_sdb: str

    @property
    def name(self) -> str:
        return self.made.__name__


LAYOUTS = (
    Layout(debian_lvm_on_md, NEXT, NEXT),
    Layout(debian_mbr, NEXT, NEXT),
    Layout(ubuntu_bios, NEXT, NEXT),
    Layout(ubuntu_with_two_efi_partitions, COPY, NEXT),  # the mounted one may be the only one
    Layout(with_one_efi_partition, COPY, NEXT),
    Layout(proxmox_lvm, COPY, COPY),
    Layout(proxmox_zfs, NEXT, NEXT),
    Layout(rhel, NEXT, NEXT),
    Layout(md_with_swap, NEXT, NEXT),
    Layout(swap_beside_md, NEXT, NEXT),
    Layout(luks_on_md, NEXT, NEXT),
    Layout(md_on_luks, NEXT, NEXT),
    Layout(lvm_thin, NEXT, NEXT),
    Layout(lvm_raid, NEXT, NEXT),
    Layout(btrfs_raid1, NEXT, NEXT),
    Layout(zfs_data_pool, NEXT, NEXT),
    Layout(next_to_windows, COPY, COPY),
    Layout(with_an_old_file_system, COPY, NEXT),
)
