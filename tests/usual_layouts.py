"""The usual layouts of servers with two disks, as their installers make them.

test_usual_layouts builds each as a tree of /sys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from block_tree import Machine

from smart_attributes.redundancy import dmsetup, zpool
from smart_attributes.redundancy.replacement import COPY, NEXT

LINUX_DATA = '0fc63daf-8483-4772-8e79-3d69d8477de4'
GUID = {
    'efi': 'c12a7328-f81f-11d2-ba4b-00a0c93ec93b',
    'bios': '21686148-6449-6e6f-744e-656564454649',
    'prep': '9e1a2d38-c612-4316-aa26-8b49521e5a8b',
    'msr': 'e3c9e316-0b5c-4db8-817d-f92df00215ae',
    'reserved': '6a945a3b-1dd2-11b2-99a6-080020736631',
}
RAID, LVM, SWAP, LUKS = 'linux_raid_member', 'LVM2_member', 'swap', 'crypto_LUKS'
EXTENDED = '0x5'
DISKS = 'sda', 'sdb'
BTRFS = '6e1961f1-5918-4ecc-a22f-948897b409f7'
FINE = 'ONLINE       0     0     0'
Part = tuple[str, str]  # key of GUID, or the type of the partition, or ''; signature


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


class Tree:
    """Two disks as a tree of /sys. Partitions, arrays and volumes have names that later ones may
    lie on.

    used: a mount point, SWAP, or '' for a device that something else lies on.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine, self.volumes, self.printed = (
            machine,
            0,
            dict[tuple[str, ...], str](),
        )
        self.names: dict[str, str] = {}  # name of a volume -> the kernel's name

    def disks(self, *parts: Part, only_on_sda: Sequence[Part] = ()) -> None:
        for disk in DISKS:
            made = tuple(partitions(parts if disk == 'sdb' else (*parts, *only_on_sda)))
            self.machine.disk(disk, *(f'{disk}{part.number}' for part in made))
            for part in made:
                self.machine.typed(
                    f'{disk}{part.number}', part.entry_type, part.signature
                )

    def mirror(self, name: str, used: str, *members: str) -> None:
        below = (self.names.get(member, member) for member in members)
        self.machine.md(name, 'raid1', dict.fromkeys(below, 'in_sync'))
        self.uses(name, used)

    def encrypted(self, name: str, used: str, below: str) -> None:
        self.names[name] = self._volume()
        self.machine.dm(self.names[name], name, 'CRYPT-LUKS2-a', below)
        self.uses(self.names[name], used)

    def lv(
        self, group: str, name: str, used: str, *below: str, suffix: str = ''
    ) -> str:
        volume = self._volume()
        self.machine.lv(volume, group, name, *below, suffix=suffix)
        self.uses(volume, used)
        return volume

    def _volume(self) -> str:
        self.volumes += 1
        return f'dm-{self.volumes - 1}'

    def thin(self, group: str, pool: str, name: str, used: str, below: str) -> None:
        meta = self.lv(group, f'{pool}_tmeta', '', below, suffix='-tmeta')
        data = self.lv(group, f'{pool}_tdata', '', below, suffix='-tdata')
        self.lv(
            group,
            name,
            used,
            self.lv(group, f'{pool}-tpool', '', meta, data, suffix='-tpool'),
        )

    def lvm_mirror(self, group: str, name: str, used: str, *below: str) -> None:
        inner = {
            f'{name}_{kind}_{number}': (device,)
            for number, device in enumerate(below)
            for kind in ('rmeta', 'rimage')
        }
        images = [
            self.lv(group, image, '', *devices, suffix=f'-{image.split("_")[1]}')
            for image, devices in inner.items()
        ]
        self.lv(group, name, used, *images)
        spare = {'lvol0_pmspare': below[:1]}
        self.machine.volume_group(group, below, {name: tuple(inner), **inner, **spare})
        self.printed[dmsetup.COMMAND] = (
            f'{group}-{name}: 0 8 raid raid1 2 AA 4/4 idle 0 0 -\n'
        )

    def btrfs(self, used: str, *members: str) -> None:
        self.machine.btrfs(BTRFS, {'data/raid1': 9}, members, ({}, {}))
        self.machine.mounted(f'/dev/{members[0]}', used, 'btrfs', '0:33')

    def uses(self, name: str, used: str) -> None:
        if used == SWAP:
            self.machine.swap(f'/dev/{name}')
        elif used:
            self.machine.mounted(f'/dev/{name}', used)

    def zfs_member(self, device: str, pool: str) -> None:
        self.machine.udev(device, 'zfs_member', pool, ID_PART_ENTRY_TYPE=LINUX_DATA)

    def add_to_pool(self, device: str, pool: str, rows: str = '') -> None:
        """Add a partition with the label of a pool, and what zpool prints of it."""
        disk = device[:3]
        if disk not in self.machine.numbers:
            self.machine.disk(disk)
        folder = self.machine._device(device, self.machine.folder(disk) / device)
        self.machine.files(folder, {'partition': device[3:]})
        self.zfs_member(device, pool)
        if rows:
            before, end, after = self.printed[zpool.COMMAND].partition('\n\nerrors')
            self.printed[zpool.COMMAND] = f'{before}\n{rows}{end}{after}'

    def pool(self, name: str, number: str) -> None:
        for disk in DISKS:
            self.zfs_member(f'{disk}{number}', name)
        self.machine.files(self.machine.proc, {f'spl/kstat/zfs/{name}/state': 'ONLINE'})
        rows = (name, '  mirror-0', f'    /dev/sda{number}', f'    /dev/sdb{number}')
        table = '\n'.join(f'\t{row:<20}  {FINE}' for row in rows)
        head = f'\t{"NAME":<20}  STATE     READ WRITE CKSUM'
        self.printed[zpool.COMMAND] = (
            f'  pool: {name}\n state: ONLINE\nconfig:\n\n{head}\n{table}\n\n'
            'errors: No known data errors\n'
        )


def debian_lvm_on_md(server: Tree) -> None:
    server.disks(('', RAID), ('', RAID))
    server.mirror('md0', '/boot', 'sda1', 'sdb1')
    server.mirror('md1', '', 'sda2', 'sdb2')
    server.lv('vg0', 'root', '/', 'md1')
    server.lv('vg0', 'swap_1', SWAP, 'md1')


def debian_mbr(server: Tree) -> None:
    server.disks(('0x83', RAID), (EXTENDED, ''), ('0x83', RAID))
    server.mirror('md0', '/', 'sda1', 'sdb1')
    server.mirror('md1', SWAP, 'sda5', 'sdb5')


def ubuntu_with_two_efi_partitions(server: Tree) -> None:
    server.disks(('efi', 'vfat'), ('', RAID))
    server.uses('sda1', '/boot/efi')
    server.mirror('md0', '/', 'sda2', 'sdb2')


def with_one_efi_partition(server: Tree) -> None:
    server.disks(('', RAID), only_on_sda=[('efi', 'vfat')])
    server.uses('sda2', '/boot/efi')
    server.mirror('md0', '/', 'sda1', 'sdb1')


def proxmox_lvm(server: Tree) -> None:
    server.disks(('bios', ''), ('efi', 'vfat'), ('', LVM))
    for disk in DISKS:
        server.lv(f'pve{disk}', 'root', f'/{disk}', f'{disk}3')
        server.thin(f'pve{disk}', 'data', 'vm', f'/vm-{disk}', f'{disk}3')


def proxmox_zfs(server: Tree) -> None:
    server.disks(('bios', ''), ('efi', 'vfat'), ('', 'zfs_member'))
    server.pool('rpool', '3')


def rhel(server: Tree) -> None:
    """The EFI partition is mirrored, with metadata 1.0."""
    server.disks(('efi', RAID), ('', RAID), ('', RAID))
    server.mirror('md125', '/boot/efi', 'sda1', 'sdb1')
    server.mirror('md126', '/boot', 'sda2', 'sdb2')
    server.mirror('md127', '', 'sda3', 'sdb3')
    server.lv('rhel', 'root', '/', 'md127')
    server.lv('rhel', 'swap', SWAP, 'md127')


def swap_beside_md(server: Tree) -> None:
    server.disks(('', SWAP), ('', RAID))
    server.uses('sda1', SWAP)
    server.uses('sdb1', SWAP)
    server.mirror('md0', '/', 'sda2', 'sdb2')


def luks_on_md(server: Tree) -> None:
    server.disks(('bios', ''), ('', RAID))
    server.mirror('md0', '', 'sda2', 'sdb2')
    server.encrypted('md0_crypt', '/', 'md0')


def md_on_luks(server: Tree) -> None:
    server.disks(('', LUKS))
    for disk in DISKS:
        server.encrypted(f'{disk}_crypt', '', f'{disk}1')
    server.mirror('md0', '/', 'sda_crypt', 'sdb_crypt')


def lvm_thin(server: Tree) -> None:
    server.disks(('', RAID))
    server.mirror('md0', '', 'sda1', 'sdb1')
    server.thin('vg0', 'pool', 'vm', '/srv', 'md0')


def lvm_raid(server: Tree) -> None:
    server.disks(('', LVM))
    server.lvm_mirror('vg0', 'root', '/', 'sda1', 'sdb1')


def btrfs_raid1(server: Tree) -> None:
    server.disks(('efi', 'vfat'), ('', 'btrfs'))
    server.btrfs('/', 'sda2', 'sdb2')


def zfs_data_pool(server: Tree) -> None:
    server.disks(('', 'zfs_member'), ('reserved', ''))
    server.pool('tank', '1')


def next_to_windows(server: Tree) -> None:
    """Beside a mirror of Linux, the partitions of a Windows that was installed before."""
    server.disks(('msr', ''), ('prep', ''), ('', RAID), ('', 'ntfs'))
    server.mirror('md0', '/', 'sda3', 'sdb3')


def with_an_old_file_system(server: Tree) -> None:
    """Beside a mirror, sda has an ext4 that is not mounted: its data is only there."""
    server.disks(('', RAID), only_on_sda=[('', 'ext4')])
    server.mirror('md0', '/', 'sda1', 'sdb1')


class Layout(NamedTuple):
    """A layout, and the label of each disk when it fails and the other one does not."""

    made: Callable[[Tree], None]
    of_sda: str
    of_sdb: str

    @property
    def name(self) -> str:
        return self.made.__name__


LAYOUTS = (
    Layout(debian_lvm_on_md, NEXT, NEXT),
    Layout(debian_mbr, NEXT, NEXT),
    # the mounted one may be the only one
    Layout(ubuntu_with_two_efi_partitions, COPY, NEXT),
    Layout(with_one_efi_partition, COPY, NEXT),
    Layout(proxmox_lvm, COPY, COPY),
    Layout(proxmox_zfs, NEXT, NEXT),
    Layout(rhel, NEXT, NEXT),
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
