"""The usual layouts on a real Linux kernel, in QEMU: each drive that `triage` calls "next" is
pulled, and all data is read back.

`make test-kernel` runs this. One guest has two SATA disks for each layout of usual_layouts that
Debian's kernel can make, built with the real tools. The disk sda of each layout fails, then the
disk sdb. As in test_kernel_groups, a limit of the site makes a disk CRITICAL, and each trial starts
with a fresh copy of memory and disks.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence

import abilities
import pytest
from chroots import PLUGIN, removed
from hardware import shelf
from qemu import PATIENCE, QEMU, Machine
from usual_layouts import DISKS, EXTENDED, LAYOUTS, NEXT, SWAP, Layout, Part, partitions

if 'TEST_KERNEL' not in os.environ:
    pytest.skip(
        'layouts are tried on a real kernel by "make test-kernel" only: it takes minutes',
        allow_module_level=True,
    )
if not abilities.path_of(QEMU) or not abilities.IS_ROOT:
    pytest.fail(
        f'{QEMU} is not installed, or we are not root; "make test-kernel" sees to both',
        pytrace=False,
    )
from guests import guest

# Debian's kernel has no ZFS, and nothing in the guest makes an NTFS.
NOT_MADE = ('proxmox_zfs', 'zfs_data_pool', 'next_to_windows')
MADE = {
    str(number): layout for number, layout in enumerate(LAYOUTS, 10) if layout.name not in NOT_MADE
}
SERIALS = [f'{number}-{disk}' for number in MADE for disk in DISKS]
TRIAGE = ('triage', '--dmsetup', '--json', '-t', '600', '--drive-timeout', '300')
SITE = '/etc/check-smart-attributes/thresholds.d/failing.json'
PART_MIB, ARRAY_MIB, VOLUME_MIB = 48, 40, 16
FILES = 3  # of each file system
LOCK = 'printf secret | cryptsetup'
FAST_LUKS = (
    'luksFormat -q --type luks2 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 '
    '--luks2-metadata-size 16k --luks2-keyslots-size 256k'
)

# --- what happens in the guest --------------------------------------------------------------------
DISK = '/dev/disk/by-id/ata-QEMU-SATA_'
START = f"""
until [ $(ls /dev/disk/by-id 2>/dev/null | grep -c ata-QEMU-SATA_) = {len(SERIALS)} ]; do sleep 0.2; done
modprobe -a raid1 dm_raid dm_crypt dm_thin_pool btrfs vfat
"""
SETTLE = f'udevadm settle -t {PATIENCE}'
# For the lines of Script. An EFI partition is FAT, also on an array.
TOOLS = f"""
format() {{ case $2 in */boot-efi) mkfs.vfat $1 >/dev/null;; *) mkfs.ext4 -q -F -O ^has_journal $1;; esac; }}
fill() {{ for n in $(seq {FILES}); do head -c 200k /dev/urandom >$1/file$n; done; }}
mounted() {{ mkdir -p $2; mount $1 $2; fill $2; }}
"""
SUMS = 'sync; sha256sum /srv/*/*/file* >/run/sums'
# Each file that has its checksum, and each device that can be read; apart from the cache.
READ = """
echo 3 >/proc/sys/vm/drop_caches
sha256sum -c /run/sums 2>/dev/null | sed -n 's/: OK$//p'
for device in $(cat /run/devices); do ! cat $device >/dev/null 2>&1 || echo $device; done
"""
PULL = f'echo 1 >/sys/block/$(basename $(readlink -e {DISK}%s))/device/delete'


class Script:
    """A usual_layouts.Server as two scripts: one writes the partitions, the other all the rest."""

    def __init__(self, number: str, layout: Layout) -> None:
        self.number, self.folder = number, f'/srv/{layout.name}'
        self.parting: list[str] = []
        self.making: list[str] = []
        self.paths: dict[str, str] = {}  # name in the layout -> path in the guest
        self.groups: set[str] = set()
        self.swaps: list[str] = []
        self.not_mounted: list[str] = []
        layout.made(self)

    def disks(self, *parts: Part, only_on_sda: Sequence[Part] = ()) -> None:
        for disk in DISKS:
            self._disk(disk, [*parts, *(only_on_sda if disk == 'sda' else ())])

    def _disk(self, disk: str, parts: Sequence[Part]) -> None:
        made = list(partitions(parts))
        is_mbr = any(part.entry_type == EXTENDED for part in made)
        lines = [f'label: {"dos" if is_mbr else "gpt"}']
        for part in made:
            takes_rest = part is made[-1] or part.entry_type == EXTENDED
            size = '' if takes_rest else f'size={PART_MIB}MiB, '
            lines.append(f'{part.number} : {size}type={part.entry_type.removeprefix("0x")}')
            self._part(f'{disk}{part.number}', part.signature)
        text = '\n'.join(lines)
        self.parting.append(f"sfdisk -q {DISK}{self.number}-{disk} <<'END'\n{text}\nEND")

    def _part(self, name: str, signature: str) -> None:
        disk, number = name[:3], name[3:]
        self.paths[name] = path = f'{DISK}{self.number}-{disk}-part{number}'
        if signature == 'vfat':
            self.making.append(f'mkfs.vfat {path} >/dev/null')
        elif signature == 'ext4':
            self.making.append(f'format {path} /; mounted {path} /mnt; umount /mnt')
            self.not_mounted.append(path)

    def mirror(self, name: str, used: str, *members: str) -> None:
        self.paths[name] = path = f'/dev/md{self.number}{name[-1]}'
        below = ' '.join(self.paths[member] for member in members)
        metadata = '1.0' if used == '/boot/efi' else '1.2'
        self.making.append(
            f'mdadm --quiet --create {path} --run --level=1 --size={ARRAY_MIB}M --bitmap=none '
            f'--metadata={metadata} --assume-clean --raid-devices=2 {below}'
        )
        self.uses(name, used)

    def encrypted(self, name: str, used: str, below: str) -> None:
        called = f'{name}_{self.number}'
        self.paths[name] = f'/dev/mapper/{called}'
        self.making.append(
            f'{LOCK} {FAST_LUKS} {self.paths[below]}; {LOCK} open {self.paths[below]} {called}'
        )
        self.uses(name, used)

    def _group(self, group: str, *below: str) -> str:
        called = f'{group}_{self.number}'
        if called not in self.groups:
            self.groups.add(called)
            devices = ' '.join(self.paths[device] for device in below)
            self.making.append(f'vgcreate -q {called} {devices}')
        return called

    def lv(self, group: str, name: str, used: str, below: str) -> None:
        size = VOLUME_MIB / 2 if used == SWAP else VOLUME_MIB
        self._lv(group, name, used, f'-L {size:g}M', below)

    def _lv(self, group: str, name: str, used: str, how: str, *below: str) -> None:
        called = self._group(group, *below)
        self.paths[name] = f'/dev/{called}/{name}'
        self.making.append(f'lvcreate -q -y {how} -n {name} {called}')
        self.uses(name, used)

    def thin(self, group: str, pool: str, name: str, used: str, below: str) -> None:
        how = f'--type thin -L {VOLUME_MIB}M -V {VOLUME_MIB}M --thinpool {pool}'
        self._lv(group, name, used, how, below)

    def lvm_mirror(self, group: str, name: str, used: str, *below: str) -> None:
        self._lv(group, name, used, f'--type raid1 -m1 -L {VOLUME_MIB}M', *below)

    def btrfs(self, used: str, *members: str) -> None:
        devices = ' '.join(self.paths[member] for member in members)
        self.making.append(f'mkfs.btrfs -q -d raid1 -m raid1 {devices}')
        self._mounts(self.paths[members[0]], used)

    def pool(self, name: str, number: str) -> None:
        raise NotImplementedError('ZFS')

    def uses(self, name: str, used: str) -> None:
        path = self.paths[name]
        if used == SWAP:
            self.making.append(f'mkswap {path} >/dev/null; swapon {path}')
            self.swaps.append(path)
        elif used:
            folder = self._folder(used)
            self.making.append(f'format {path} {folder}')
            self._mounts(path, used)

    def _folder(self, used: str) -> str:
        return f'{self.folder}/{used.strip("/").replace("/", "-") or "root"}'

    def _mounts(self, path: str, used: str) -> None:
        self.making.append(f'mounted {path} {self._folder(used)}')


class Server:
    """Debian 13 with all layouts; each trial begins with a fresh copy of it."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        scripts = [Script(number, layout) for number, layout in MADE.items()]
        parting = [line for script in scripts for line in script.parting]
        machine.shell('\n'.join([START, *parting, SETTLE]))
        for script in scripts:
            machine.shell('\n'.join([TOOLS, *script.making]))
        self.swaps = [path for script in scripts for path in script.swaps]
        # swap on a partition of a disk holds nothing after "swapoff", which triage asks for
        devices = [path for path in self.swaps if not path.startswith(DISK)]
        devices += [path for script in scripts for path in script.not_mounted]
        machine.shell(f'{SUMS}; echo {" ".join(devices)} >/run/devices; {SETTLE}')
        self.data = self.readable()
        machine.saves('made')

    def labels(self, failing: str) -> dict[str, str]:
        """Return the label of each disk *failing*, "sda" or "sdb", by its serial number."""
        limits = [
            {
                'for': {'serial': f'{number}-{failing}'},
                'why': 'This disk stands for one that fails.',
                'metrics': {'power_on_time': {'critical': '1'}},
            }
            for number in MADE
        ]
        self.machine.shell(f"cat >{SITE} <<'END'\n{json.dumps({'overrides': limits})}\nEND")
        document = json.loads(self.machine.runs(PLUGIN, *TRIAGE, seconds=PATIENCE).text)
        assert {drive['state'] for drive in document['drives']} == {'OK', 'CRITICAL'}
        serials = {
            drive['device'].rpartition('/')[2]: drive['serial'] for drive in document['drives']
        }
        steps = {serials[step['disks'][0]]: step['label'] for step in document['replace_order']}
        return {serial: label for serial, label in steps.items() if serial.endswith(failing)}

    def pull(self, serials: Sequence[str]) -> None:
        """Pull disks; before that, switch off swap on them."""
        off = [
            f'swapoff {path}'
            for path in self.swaps
            if path.startswith(tuple(f'{DISK}{serial}-' for serial in serials))
        ]
        pulls = [PULL % serial for serial in serials]
        self.machine.shell('\n'.join([*off, *pulls, 'udevadm settle; sleep 1']))

    def readable(self) -> set[str]:
        """Return the files that have their checksum, and the swap devices that can be read."""
        return set(self.machine.shell(READ).split())


@pytest.fixture(scope='module')
def server(tmp_path_factory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp('layouts')
    machine = Machine(guest('trixie', folder), shelf(SERIALS, folder), folder)
    try:
        yield Server(machine)
        print(f'{machine.cpu_seconds():.0f} s of CPU')
    finally:
        machine.ends()
        removed(folder)


@pytest.mark.parametrize('failing', DISKS)
def test_all_data_survives_when_the_drive_of_each_layout_that_comes_next_is_pulled(server, failing):
    """The labels are those of the trees of /sys in test_usual_layouts."""
    server.machine.restores('made')
    labels = server.labels(failing)
    pulled = [serial for serial, label in labels.items() if label == NEXT]
    server.pull(pulled)
    left = server.readable()
    print(f'{failing}: {len(MADE)} layouts, {len(pulled)} pulled, {len(left)} read back')

    assert labels == {
        f'{number}-{failing}': getattr(layout, f'of_{failing}') for number, layout in MADE.items()
    }
    assert server.data - left == set() and len(server.data) > FILES * len(MADE)


def test_data_is_lost_with_each_drive_to_be_copied_first(server):
    """So a loss is noticed, and the label is not only careful."""
    copied = [f'{number}-sda' for number, layout in MADE.items() if layout.of_sda != NEXT]
    server.machine.restores('made')
    server.pull(copied)
    lost = server.data - server.readable()

    assert {path.rpartition('/file')[0] or path for path in lost} == {
        '/srv/ubuntu_with_two_efi_partitions/boot-efi',
        '/srv/with_one_efi_partition/boot-efi',
        '/srv/proxmox_lvm/sda',
        '/srv/proxmox_lvm/vm-sda',
        f'{DISK}{copied[-1]}-part2',
    }
