"""Random machines for plans_bed: how each is made in the guest, where its data is, and what ails it."""
from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

BLOCKS = 96          # known blocks of a data set
PASSWORD = 'echo -n secret | '
LUKS = 'luksFormat --batch-mode --type luks1 --pbkdf-force-iterations 1000'
PARTS = 'label: gpt\\nsize=4MiB,type=U\\nsize=4MiB,type=S\\ntype=R\\n'
EFI, SWAP, REST = '1', '2', '3'   # numbers of these partitions
MD_HEALTHY = 'test "$(cat /sys/block/{0}/md/degraded)" = 0 && ! grep -q recover /sys/block/{0}/md/sync_action'
LV_HEALTHY = ('test -z "$(lvs --noheadings -o lv_health_status {0} | tr -d " \\n")" && '
              'lvs --noheadings -o sync_percent {0} | grep -q 100.00')
BTRFS_HEALTHY = '! grep -qsx 1 /sys/fs/btrfs/*/devinfo/*/missing'
LOWEST_HEALTHY = 'true'


class Data(NamedTuple):
    """A data set of a machine."""

    name: str
    path: str                  # device, or directory of a file system
    is_folder: bool
    array: str = ''            # what holds it redundantly: "md0", "vg0/data", or a mount point of btrfs; '': nothing
    kind: str = ''             # of the array: "md", "lvm", "btrfs"
    level: str = ''
    members: tuple[str, ...] = ()   # of the array, as kernel names
    tolerates: int = 0         # members that may be lost
    healthy: str = LOWEST_HEALTHY   # command whose exit status is 0 if no member lacks


class Plan(NamedTuple):
    """A machine to make."""

    what: str                  # in words
    script: str
    disks: tuple[str, ...]
    sets: tuple[Data, ...]
    idle: tuple[str, ...]      # disks that nothing uses


class Draw:
    """Draws a machine. small, large: disks of 32 and of 132 MB."""

    def __init__(self, chance: random.Random, small: Sequence[str], large: Sequence[str]) -> None:
        self.chance, self.small, self.large = chance, list(small), list(large)
        self.used: list[str] = []
        self.lines = ['set -ex', 'modprobe -a raid0 raid1 raid10 raid456 dm_raid dm_crypt btrfs vfat']
        self.sets: list[Data] = []
        self.words: list[str] = []

    def likely(self, share: float) -> bool:
        return self.chance.random() < share

    def take(self, count: int, is_large: bool = False) -> list[str]:
        source = self.large if is_large else self.small
        taken = [source.pop(0) for _ in range(count)]
        self.used += taken
        return taken

    # --- layers ----------------------------------------------------------------------------------------

    def members(self, count: int) -> list[str]:
        """Return devices: whole disks, or the last of three partitions."""
        disks = self.take(count)
        if not self.likely(0.5):
            return disks
        self.words.append('on partitions')
        self.lines += [f"printf '{PARTS}' | sfdisk --quiet --wipe always /dev/{disk}" for disk in disks]
        self.lines += ['udevadm settle']
        if self.likely(0.6):
            self.efi(disks[0] + EFI)
        if self.likely(0.6):
            self.swap(disks[self.chance.randrange(count)] + SWAP)
        return [disk + REST for disk in disks]

    def efi(self, part: str) -> None:
        self.words.append('EFI')
        self.lines += [f'mkfs.vfat -s 8 /dev/{part} >/dev/null']
        self.mount(f'/dev/{part}', Data(f'efi-{part}', f'/srv/{part}', True))
        if self.likely(0.5):
            self.lines += [f'umount /srv/{part}']
            self.sets[-1] = self.sets[-1]._replace(path=f'/dev/{part}', is_folder=False, name=f'unmounted-{part}')

    def swap(self, part: str) -> None:
        self.words.append('swap')
        self.lines += [f'mkswap -q /dev/{part}', f'swapon /dev/{part}']

    def mount(self, device: str, data: Data) -> None:
        self.lines += [f'mkdir -p {data.path}', f'mount {device} {data.path}']
        self.sets.append(data)

    def ext4(self, device: str, name: str, data: Data) -> None:
        self.lines += [f'mkfs.ext4 -q -F -b 4096 -O ^has_journal {device}']
        self.mount(device, data._replace(name=name, path=f'/srv/{name}', is_folder=True))

    def md(self, name: str, level: int, members: Sequence[str], options: str = '') -> None:
        chunk = '--chunk=64' if level not in (1,) else ''
        bitmap = '' if 'journal' in options or level == 0 else (
            f'--bitmap={self.chance.choice(("internal", "none"))}')
        clean = '' if level == 0 else '--assume-clean'
        self.lines += [f'mdadm --quiet --create /dev/{name} --run {clean} --level={level} {chunk} {bitmap} '
                       f'--metadata=1.2 --raid-devices={len(members)} {" ".join(f"/dev/{each}" for each in members)} '
                       f'{options} </dev/null', 'udevadm settle']

    def top(self, device: str, name: str, data: Data) -> None:
        """Put something on an array: nothing, a file system, LVM or LUKS."""
        what = self.chance.choice(('raw', 'ext4', 'ext4', 'lvm', 'luks'))
        self.words.append(what)
        if what == 'raw':
            self.sets.append(data._replace(name=name, path=device, is_folder=False))
        elif what == 'ext4':
            self.ext4(device, name, data)
        elif what == 'lvm':
            self.lines += [f'pvcreate -q {device}', f'vgcreate -q -s 1M vg-{name} {device}',
                           f'lvcreate -q -y -l 80%FREE -n top vg-{name}']
            self.ext4(f'/dev/vg-{name}/top', name, data)
        else:
            self.lines += [f'{PASSWORD}cryptsetup {LUKS} {device} -',
                           f'{PASSWORD}cryptsetup open {device} crypt-{name}']
            self.ext4(f'/dev/mapper/crypt-{name}', name, data)

    # --- kinds of machines -----------------------------------------------------------------------------

    def array(self) -> None:
        """Draw an md array with what it may have beside its members."""
        level = self.chance.choice((1, 1, 5, 5, 6, 10))
        count = self.chance.choice({1: (2, 2, 3), 5: (3, 4), 6: (4, 5), 10: (4, 4, 3)}[level])
        self.words.append(f'md raid{level} of {count}')
        members, options = self.members(count), ''
        if level in (5, 6) and self.likely(0.4):
            options = f'--write-journal /dev/{self.take(1)[0]}'
        if self.likely(0.3):
            options += f' --spare-devices=1 /dev/{self.take(1)[0]}'
        self.md('md0', level, members, options)
        if 'journal' in options:
            self.words.append('journal')   # write-through: with write-back on so small a disk, md of Linux 6.12 hangs
        self.words += ['spare'] * ('spare' in options)
        self.top('/dev/md0', 'md0', self.redundant('md0', level, members))

    def mirror(self) -> None:
        """Draw the simplest machine."""
        self.words.append('md raid1 of 2')
        members = self.take(2)
        self.md('md0', 1, members)
        self.sets.append(self.redundant('md0', 1, members)._replace(name='md0', path='/dev/md0'))

    def redundant(self, name: str, level: int, members: Sequence[str]) -> Data:
        lost = {1: len(members) - 1, 5: 1, 6: 2, 10: 1}[level]
        return Data('', '', False, name, 'md', f'raid{level}', tuple(members), lost, MD_HEALTHY.format(name))

    def lvm(self) -> None:
        kind, count, options = self.chance.choice((
            ('raid1', 2, '-m1 --nosync -L 16M'), ('raid1', 3, '-m2 --nosync -L 16M'),
            ('raid5', 3, '-i2 -I64k --nosync -L 24M'), ('raid6', 5, '-i3 -I64k -L 24M'),
            ('raid10', 4, '-i2 -m1 -I64k --nosync -L 24M'), ('linear', 2, '-L 40M')))
        self.words.append(f'LVM {kind} of {count}')
        members = self.members(count)
        devices = ' '.join(f'/dev/{each}' for each in members)
        self.lines += [f'pvcreate -q {devices}', f'vgcreate -q -s 1M vg0 {devices}',
                       f'lvcreate -q -y --type {kind} {options} -n data vg0',
                       'while lvs --noheadings -o sync_percent vg0/data | grep -q "[0-9]" && '
                       'lvs --noheadings -o sync_percent vg0/data | grep -qv 100.00; do sleep 0.5; done']
        lost = {'raid1': count - 1, 'raid5': 1, 'raid6': 2, 'raid10': 1, 'linear': 0}[kind]
        data = Data('', '', False, 'vg0/data' * (kind != 'linear'), 'lvm' * (kind != 'linear'), kind, tuple(members),
                    lost, LV_HEALTHY.format('vg0/data') if lost else LOWEST_HEALTHY)
        self.ext4('/dev/vg0/data', 'data', data)

    def btrfs(self) -> None:
        count = self.chance.choice((2, 2, 3, 4))
        self.words.append(f'btrfs raid1 of {count}')
        members = self.take(count, is_large=True)
        devices = ' '.join(f'/dev/{each}' for each in members)
        self.lines += [f'mkfs.btrfs -q -f -d raid1 -m raid1 {devices}', 'udevadm settle',
                       'btrfs device scan >/dev/null']
        self.mount(f'/dev/{members[0]}', Data('btrfs', '/srv/btrfs', True, '/srv/btrfs', 'btrfs', 'raid1',
                                              tuple(members), 1, BTRFS_HEALTHY))

    def nested(self) -> None:
        kind = self.chance.choice(('md on md', 'md on LVM', 'md on LUKS'))
        self.words.append(kind)
        if kind == 'md on md':
            members = self.take(4)
            self.md('md1', 1, members[:2])
            self.md('md2', 1, members[2:])
            self.md('md0', 0, ['md1', 'md2'])
            healthy = f'{MD_HEALTHY.format("md1")} && {MD_HEALTHY.format("md2")}'
            self.top('/dev/md0', 'md0', Data('', '', False, 'md0', 'nested', 'raid10', tuple(members), 1, healthy))
        elif kind == 'md on LVM':
            members = self.take(2)
            for each in members:
                self.lines += [f'pvcreate -q /dev/{each}', f'vgcreate -q -s 1M vg-{each} /dev/{each}',
                               f'lvcreate -q -y -L 24M -n half vg-{each}']
            self.md('md0', 1, [f'vg-{each}/half' for each in members])
            self.top('/dev/md0', 'md0', self.redundant('md0', 1, members)._replace(kind='nested'))
        else:
            members = self.take(2)
            for each in members:
                self.lines += [f'{PASSWORD}cryptsetup {LUKS} /dev/{each} -',
                               f'{PASSWORD}cryptsetup open /dev/{each} crypt-{each}']
            self.md('md0', 1, [f'mapper/crypt-{each}' for each in members])
            self.ext4('/dev/md0', 'md0', self.redundant('md0', 1, members)._replace(kind='nested'))

    def single(self) -> None:
        """Draw a disk with one file system, or with partitions of several uses."""
        disk, = self.take(1)
        self.words.append('single')
        if self.likely(0.5):
            self.ext4(f'/dev/{disk}', disk, Data('', '', True, members=(disk,)))
            return
        self.lines += [f"printf '{PARTS}' | sfdisk --quiet --wipe always /dev/{disk}", 'udevadm settle']
        self.efi(disk + EFI)
        self.swap(disk + SWAP)
        self.ext4(f'/dev/{disk}{REST}', disk, Data('', '', True, members=(disk + REST,)))


KINDS = {'array': 0.42, 'lvm': 0.2, 'btrfs': 0.15, 'nested': 0.13, 'single': 0.1}


def drawn(chance: random.Random, small: Sequence[str], large: Sequence[str], kind: str = '') -> Plan:
    """Return a machine. kind: of KINDS; '': any."""
    draw = Draw(chance, small, large)
    getattr(draw, kind or chance.choices(list(KINDS), list(KINDS.values()))[0])()
    if kind != 'mirror' and draw.likely(0.2):
        draw.single()
    idle = draw.take(1, is_large='btrfs' in draw.words[0]) if kind != 'mirror' and draw.likely(0.35) else []
    draw.words += ['an unused disk'] * len(idle)
    return Plan(', '.join(draw.words), '\n'.join(draw.lines), tuple(draw.used), tuple(draw.sets), tuple(idle))
