"""The usual layouts of servers: a failing drive is next where its data has another copy, whatever
partitions the installer has made beside.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from block_tree import Machine
from test_claims import LINUX_DATA

from smart_attributes.reading import system
from smart_attributes.redundancy import dmsetup, zpool
from smart_attributes.redundancy.dependence import groups
from smart_attributes.redundancy.partitions import TYPES
from smart_attributes.redundancy.replacement import COPY, NEXT, Drive, Step, order
from smart_attributes.redundancy.survival import Stack

GUID = {kind: entry_type for entry_type, kind in TYPES.items() if '-' in entry_type}
RAID, LVM, SWAP = 'linux_raid_member', 'LVM2_member', 'swap'
BTRFS = '6e1961f1-5918-4ecc-a22f-948897b409f7'
FINE = 'ONLINE       0     0     0'


class Server:
    """Two disks with the same partitions."""

    def __init__(self, machine: Machine) -> None:
        self.machine, self.volumes, self.printed = machine, 0, dict[tuple[str, ...], str]()

    def disks(self, *parts: tuple[str, str]) -> None:
        """Add sda and sdb. parts: kind of partition in TYPES or '', and signature of each."""
        for disk in ('sda', 'sdb'):
            names = [f'{disk}{number}' for number in range(1, len(parts) + 1)]
            self.machine.disk(disk, *names)
            for name, (kind, signature) in zip(names, parts):
                self.machine.typed(name, GUID.get(kind, kind) or LINUX_DATA, signature)

    def mirror(self, name: str, part: str, used: str = '') -> None:
        """Add an array of the partitions with this number, and use it."""
        self.machine.md(name, 'raid1', {f'sda{part}': 'in_sync', f'sdb{part}': 'in_sync'})
        self.uses(name, used)

    def volume(self, called: str, uuid: str, used: str, *below: str) -> str:
        name = f'dm-{self.volumes}'
        self.volumes += 1
        self.machine.dm(name, called, uuid, *below)
        self.uses(name, used)
        return name

    def lv(self, group: str, called: str, used: str, *below: str, suffix: str = '') -> str:
        name = f'dm-{self.volumes}'
        self.volumes += 1
        self.machine.lv(name, group, called, *below, suffix=suffix)
        self.uses(name, used)
        return name

    def uses(self, name: str, used: str) -> None:
        if used == SWAP:
            self.machine.swap(f'/dev/{name}')
        elif used:
            self.machine.mounted(f'/dev/{name}', used)

    def zfs_member(self, device: str, pool: str) -> None:
        self.machine.udev(device, 'zfs_member', pool, ID_PART_ENTRY_TYPE=LINUX_DATA)
        link = self.machine.sys / 'class/block' / device
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(self.machine.folder(device))

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

    def pool(self, name: str, part: str) -> None:
        """Add a mirror of ZFS."""
        for disk in ('sda', 'sdb'):
            self.zfs_member(f'{disk}{part}', name)
        self.machine.files(self.machine.proc, {f'spl/kstat/zfs/{name}/state': 'ONLINE'})
        rows = (name, '  mirror-0', f'    /dev/sda{part}', f'    /dev/sdb{part}')
        table = '\n'.join(f'\t{row:<20}  {FINE}' for row in rows)
        head = f'\t{"NAME":<20}  STATE     READ WRITE CKSUM'
        self.printed[zpool.COMMAND] = (
            f'  pool: {name}\n state: ONLINE\nconfig:\n\n{head}\n{table}\n\n'
            'errors: No known data errors\n'
        )


def debian_lvm_on_md(server: Server) -> None:
    server.disks(('', RAID), ('', RAID))
    server.mirror('md0', '1', '/boot')
    server.mirror('md1', '2')
    server.lv('vg0', 'root', '/', 'md1')
    server.lv('vg0', 'swap_1', SWAP, 'md1')


def debian_mbr(server: Server) -> None:
    server.disks(('0x83', RAID), ('0x5', ''), ('0x83', RAID))
    server.mirror('md0', '1', '/')
    server.mirror('md1', '3', SWAP)


def ubuntu_bios(server: Server) -> None:
    server.disks(('bios', ''), ('', RAID))
    server.mirror('md0', '2', '/')


def ubuntu_with_two_efi_partitions(server: Server) -> None:
    server.disks(('efi', 'vfat'), ('', RAID))
    server.uses('sda1', '/boot/efi')
    server.mirror('md0', '2', '/')


def with_one_efi_partition(server: Server) -> None:
    server.disks(('', RAID))
    server.machine._device('sda2', server.machine.folder('sda') / 'sda2')
    server.machine.typed('sda2', GUID['efi'], 'vfat')
    server.uses('sda2', '/boot/efi')
    server.mirror('md0', '1', '/')


def proxmox_lvm(server: Server) -> None:
    server.disks(('bios', ''), ('efi', 'vfat'), ('', LVM))
    for disk in ('sda', 'sdb'):
        server.lv(f'pve{disk}', 'root', f'/{disk}', f'{disk}3')
        data = server.lv(f'pve{disk}', 'data_tdata', '', f'{disk}3', suffix='-tdata')
        server.lv(f'pve{disk}', 'data-tpool', '', data, suffix='-tpool')


def proxmox_zfs(server: Server) -> None:
    server.disks(('bios', ''), ('efi', 'vfat'), ('', 'zfs_member'))
    server.pool('rpool', '3')


def rhel(server: Server) -> None:
    """The EFI partition is mirrored, with metadata 1.0."""
    server.disks(('efi', RAID), ('', RAID), ('', RAID))
    server.mirror('md125', '1', '/boot/efi')
    server.mirror('md126', '2', '/boot')
    server.mirror('md127', '3')
    server.lv('rhel', 'root', '/', 'md127')
    server.lv('rhel', 'swap', SWAP, 'md127')


def md_with_swap(server: Server) -> None:
    server.disks(('', RAID), ('', RAID))
    server.mirror('md0', '1', SWAP)
    server.mirror('md1', '2', '/')


def swap_beside_md(server: Server) -> None:
    server.disks(('', SWAP), ('', RAID))
    server.uses('sda1', SWAP)
    server.uses('sdb1', SWAP)
    server.mirror('md0', '2', '/')


def luks_on_md(server: Server) -> None:
    server.disks(('bios', ''), ('', RAID))
    server.mirror('md0', '2')
    server.volume('md0_crypt', 'CRYPT-LUKS2-a', '/', 'md0')


def md_on_luks(server: Server) -> None:
    server.disks(('', 'crypto_LUKS'))
    below = [
        server.volume(f'{disk}_crypt', 'CRYPT-LUKS2-a', '', f'{disk}1') for disk in ('sda', 'sdb')
    ]
    server.machine.md('md0', 'raid1', dict.fromkeys(below, 'in_sync'))
    server.uses('md0', '/')


def lvm_thin(server: Server) -> None:
    server.disks(('', RAID))
    server.mirror('md0', '1')
    meta = server.lv('vg0', 'pool_tmeta', '', 'md0', suffix='-tmeta')
    data = server.lv('vg0', 'pool_tdata', '', 'md0', suffix='-tdata')
    pool = server.lv('vg0', 'pool-tpool', '', meta, data, suffix='-tpool')
    server.lv('vg0', 'vm', '/srv', pool)


def lvm_raid(server: Server) -> None:
    server.disks(('', LVM))
    images = [
        server.lv('vg0', f'root_{kind}_{number}', '', f'{disk}1', suffix=f'-{kind}')
        for number, disk in enumerate(('sda', 'sdb'))
        for kind in ('rmeta', 'rimage')
    ]
    server.lv('vg0', 'root', '/', *images)
    inner = {f'root_{kind}_{number}': (f'{disk}1',) for number, disk in enumerate(('sda', 'sdb'))
             for kind in ('rmeta', 'rimage')}  # fmt: skip
    spare = {'lvol0_pmspare': ('sda1',)}
    server.machine.volume_group('vg0', ('sda1', 'sdb1'), {'root': tuple(inner), **inner, **spare})
    server.printed[dmsetup.COMMAND] = 'vg0-root: 0 8 raid raid1 2 AA 4/4 idle 0 0 -\n'


def btrfs_raid1(server: Server) -> None:
    server.disks(('efi', 'vfat'), ('', 'btrfs'))
    server.machine.btrfs(BTRFS, {'data/raid1': 9}, ('sda2', 'sdb2'), ({}, {}))
    server.machine.mounted('/dev/sda2', '/', 'btrfs', '0:33')


def zfs_data_pool(server: Server) -> None:
    server.disks(('', 'zfs_member'), ('reserved', ''))
    server.pool('tank', '1')


def next_to_windows(server: Server) -> None:
    """Beside a mirror of Linux, the partitions of a Windows that was installed before."""
    server.disks(('msr', ''), ('prep', ''), ('', RAID), ('', 'ntfs'))
    server.mirror('md0', '3', '/')


@pytest.mark.parametrize(
    'layout, of_sda, of_sdb',
    [
        (debian_lvm_on_md, NEXT, NEXT),
        (debian_mbr, NEXT, NEXT),
        (ubuntu_bios, NEXT, NEXT),
        (ubuntu_with_two_efi_partitions, COPY, NEXT),  # the mounted one may be the only one
        (with_one_efi_partition, COPY, NEXT),
        (proxmox_lvm, COPY, COPY),
        (proxmox_zfs, NEXT, NEXT),
        (rhel, NEXT, NEXT),
        (md_with_swap, NEXT, NEXT),
        (swap_beside_md, NEXT, NEXT),
        (luks_on_md, NEXT, NEXT),
        (md_on_luks, NEXT, NEXT),
        (lvm_thin, NEXT, NEXT),
        (lvm_raid, NEXT, NEXT),
        (btrfs_raid1, NEXT, NEXT),
        (zfs_data_pool, NEXT, NEXT),
        (next_to_windows, COPY, COPY),
    ],
    ids=lambda each: getattr(each, '__name__', each),
)
def test_a_failing_drive_of_a_usual_layout(
    tmp_path, monkeypatch, layout: Callable[[Server], None], of_sda, of_sdb
):
    server = Server(Machine(tmp_path))
    layout(server)
    monkeypatch.setattr(system, 'output', lambda command: (server.printed[command], ''))

    assert (failing(server, 'sda').label, failing(server, 'sdb').label) == (of_sda, of_sdb)
    assert 'inactive volumes' not in failing(server, 'sdb').why


def failing(server: Server, name: str) -> Step:
    """Return the step of a drive that fails, as triage of root says it."""
    found = groups(None, server.machine.system)
    for program in (zpool, dmsetup):
        if program.COMMAND in server.printed:
            found, _ = program.completed(found, server.machine.system)
    disks = [disk for disk in ('sda', 'sdb', 'sdc') if disk in server.machine.numbers]
    drives = [Drive(disk, frozenset((disk,)), *[disk == name] * 2) for disk in disks]
    return {step.drive.name: step for step in order(Stack(found), drives)}[name]


def test_a_label_of_lvm_without_its_backup_says_what_it_rests_on(tmp_path, monkeypatch):
    """Also without udev, whose database a container lacks: zpool and LVM name their devices."""
    server = Server(Machine(tmp_path))
    lvm_raid(server)
    (server.machine.lvm / 'vg0').unlink()
    monkeypatch.setattr(system, 'output', lambda command: (server.printed[command], ''))
    step = failing(server, 'sdb')

    assert (step.label, step.why.code) == (NEXT, 'replace-next')
    assert 'lvs -o +devices vg0' in step.why


def test_without_udev_zpool_accounts_for_its_devices(tmp_path, monkeypatch):
    server = Server(Machine(tmp_path))
    server.disks(('', 'zfs_member'))
    server.pool('tank', '1')
    for entry in server.machine.udev_data.iterdir():
        entry.unlink()
    monkeypatch.setattr(system, 'output', lambda command: (server.printed[command], ''))

    assert failing(server, 'sdb').label == NEXT


@pytest.mark.parametrize(
    'section, state, code',
    [('cache', FINE, 'only-log-or-cache'), ('spares', 'AVAIL', 'member-not-used')],
)
def test_a_cache_or_spare_of_a_pool_is_next(tmp_path, monkeypatch, section, state, code):
    """Its label has no name of a pool."""
    server = Server(Machine(tmp_path))
    zfs_data_pool(server)
    server.add_to_pool('sdc1', '', f'\t{section}\n\t{"  /dev/sdc1":<20}  {state}')
    monkeypatch.setattr(system, 'output', lambda command: (server.printed[command], ''))
    step = failing(server, 'sdc')

    assert (step.label, step.why.code) == (NEXT, code)


def test_a_pool_that_is_not_imported_may_have_the_name_of_another(tmp_path, monkeypatch):
    server = Server(Machine(tmp_path))
    zfs_data_pool(server)
    server.add_to_pool('sda3', 'tank')
    monkeypatch.setattr(system, 'output', lambda command: (server.printed[command], ''))

    assert failing(server, 'sda').label == COPY
    assert failing(server, 'sdb').label == NEXT


def test_swap_space_of_an_appliance_has_no_signature(tmp_path):
    """TrueNAS makes a partition for swap on each disk, but uses some of them only."""
    server = Server(Machine(tmp_path))
    server.disks(('0657fd6d-a4ab-43c4-84e5-0933c84b4f4f', ''), ('', RAID))
    server.mirror('md0', '2', '/')

    assert failing(server, 'sdb').label == NEXT
