"""Trees of /sys, /proc and udev as Linux 6 lays them out, for tests of what lies on disks."""

import os
import re
import shutil
from pathlib import Path

from smart_attributes.model import Group
from smart_attributes.reading.system import System
from smart_attributes.redundancy import block_devices, dependence
from smart_attributes.redundancy.dependence import Question, Seen, seen


def groups(system: System) -> tuple[Group, ...]:
    """Return the groups of a machine, lower ones first."""
    return tuple(dependence.groups(block_devices.listed(system)))


class Machine:
    """A machine whose disks, arrays and volumes are written one by one."""

    def __init__(self, root: Path) -> None:
        self.system = System(
            *(str(root / name) for name in ('sys', 'proc', 'udev', 'lvm'))
        )
        self.sys, self.proc, self.udev_data, self.lvm = (
            Path(folder) for folder in self.system
        )
        for folder in ('block', 'dev/block', 'fs/btrfs'):
            (self.sys / folder).mkdir(parents=True)
        for folder in (self.proc / 'self', self.udev_data):
            folder.mkdir(parents=True)
        self.numbers: dict[str, str] = {}
        self.files(
            self.proc,
            {
                'self/mountinfo': '22 27 0:21 / /proc rw,relatime - proc proc rw',
                'swaps': 'Filename\t\t\t\tType\t\tSize\tUsed\tPriority',
            },
        )

    def read(self, question: Question) -> Seen:
        """Answer a question about this machine."""
        return read_here(question._replace(system=self.system))

    @staticmethod
    def files(folder: Path, texts: dict) -> None:
        """Write files with these texts below a folder, each with the line break of /sys."""
        for name, text in texts.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(f'{text}\n')

    def folder(self, name: str) -> Path:
        """Return the folder of a disk or partition."""
        return (self.sys / 'dev/block' / self.numbers[name]).resolve()

    def _device(self, name: str, folder: Path) -> Path:
        number = self.numbers[name] = (
            f'{8 + len(self.numbers) // 200}:{len(self.numbers) % 200}'
        )
        self.files(folder, {'dev': number, 'size': '1953525168'})
        (folder / 'holders').mkdir()
        (self.sys / 'dev/block' / number).symlink_to(
            os.path.relpath(folder, self.sys / 'dev/block')
        )
        return folder

    def disk(
        self,
        name: str,
        *parts: str,
        bus: str = 'pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0',
    ) -> Path:
        """Add a disk with its partitions; a virtual one has slaves."""
        folder = self._device(name, self.sys / 'devices' / bus / 'block' / name)
        (folder / 'slaves').mkdir()
        (self.sys / 'block' / name).symlink_to(
            os.path.relpath(folder, self.sys / 'block')
        )
        for number, part in enumerate(parts, 1):
            self._device(part, folder / part)
            self.files(folder / part, {'partition': number})
        return folder

    def pull(self, name: str) -> None:
        """Take a disk out: arrays and volumes keep links to it that lead nowhere."""
        shutil.rmtree(self.folder(name))
        (self.sys / 'block' / name).unlink()

    def disks(self, *names: str) -> None:
        """Add disks with one partition each."""
        for name in names:
            self.disk(name, f'{name}1')

    def stacked(self, name: str, *slaves: str) -> Path:
        """Add a device that lies on others; a slave without a folder is gone, and its link leads
        nowhere.
        """
        folder = self.disk(name, bus='virtual')
        for slave in slaves:
            (folder / 'slaves' / slave).symlink_to(
                self.folder(slave) if slave in self.numbers else '../../gone'
            )
            if slave in self.numbers:
                (self.folder(slave) / 'holders' / name).symlink_to(folder)
        return folder

    def md(self, name: str, level: str, members: dict, **texts: str) -> Path:
        """Add an array. members: name -> "state" or "state slot"; without a slot it is the next
        one.
        """
        folder = self.stacked(name, *members)
        self.files(
            folder / 'md',
            {
                'level': level,
                'raid_disks': len(members),
                'array_state': 'clean',
                'layout': '0',
                'sync_action': 'idle',
                'sync_completed': 'none',
                'metadata_version': '1.2',
                'consistency_policy': 'resync',
                'reshape_position': 'none',
                'resync_start': 'none',
                'mismatch_cnt': 0,
                'last_sync_action': 'check',
                **texts,
            },
        )
        for place, (member, told) in enumerate(members.items()):
            state, _, slot = told.partition(' ')
            self.files(
                folder / f'md/dev-{member}',
                {
                    'state': state,
                    'slot': slot or place,
                    'errors': 0,
                    'bad_blocks': '',
                    'unacknowledged_bad_blocks': '',
                },
            )
            (folder / f'md/dev-{member}/block').symlink_to(
                self.folder(member) if member in self.numbers else '../../../../gone'
            )
        return folder

    def dm(self, name: str, called: str, uuid: str, *slaves: str) -> Path:
        """Add a volume of the device mapper."""
        folder = self.stacked(name, *slaves)
        self.files(folder / 'dm', {'name': called, 'uuid': uuid, 'suspended': 0})
        return folder

    def lv(
        self, name: str, of_group: str, called: str, *slaves: str, suffix: str = ''
    ) -> Path:
        """Add an active volume of LVM. suffix: of the UUID of an inner volume."""
        uuid = f'LVM-{lvm_id(of_group)}{lvm_id(of_group + called)}{suffix}'
        return self.dm(name, f'{of_group}-{called}', uuid, *slaves)

    def volume_group(self, name: str, devices: tuple, volumes: dict) -> None:
        """Write the backup of a volume group, and what udev found on its devices.

        volumes: name -> devices that it lies on, or inner volumes.
        """
        self.lvm.mkdir(exist_ok=True)
        (self.lvm / name).write_text(metadata(name, devices, volumes))
        for device in devices:
            self.udev(device, 'LVM2_member', ID_FS_UUID=dashed(lvm_id(device)))

    def btrfs(
        self, uuid: str, profiles: dict, devices: tuple, states: tuple, label: str = ''
    ) -> Path:
        """Add a mounted btrfs. profiles: "data/raid1" -> used bytes. states: for each device
        number, its files.

        A space without a profile has the last one.
        """
        folder, spaces = (
            self.sys / 'fs/btrfs' / uuid,
            {each.partition('/')[0] for each in profiles},
        )
        needed = (
            {'system', 'mixed'} if 'mixed' in spaces else {'system', 'data', 'metadata'}
        )
        profiles = {
            **profiles,
            **{
                f'{space}/{list(profiles)[-1].partition("/")[2]}': 9
                for space in needed - spaces
                if profiles
            },
        }
        self.files(
            folder / 'allocation',
            {f'{each}/used_bytes': used for each, used in profiles.items()},
        )
        self.files(
            folder,
            {
                'label': label,
                'allocation/data/total_bytes': 1,
                'allocation/global_rsv_size': 1,
            },
        )
        (folder / 'devices').mkdir()
        for device in devices:
            (folder / 'devices' / device).symlink_to(
                self.folder(device) if device in self.numbers else '../../gone'
            )
        for number, told in enumerate(states, 1):
            self.files(
                folder / f'devinfo/{number}',
                {
                    'missing': 0,
                    'replace_target': 0,
                    'writeable': 1,
                    'error_stats': errors(),
                    **told,
                },
            )
        return folder

    def mounted(
        self,
        source: str,
        point: str,
        kind: str = 'ext4',
        number: str = '',
        root: str = '/',
    ) -> None:
        """Mount a device; its number is that of the device unless the file system has none."""
        number = number or self.numbers.get(source.rpartition('/')[2], '0:40')
        with (self.proc / 'self/mountinfo').open('a') as file:
            file.write(
                f'40 27 {number} {root} {point} rw,relatime shared:1 - {kind} {source} rw\n'
            )

    def swap(self, source: str) -> None:
        """Use a device as swap space."""
        with (self.proc / 'swaps').open('a') as file:
            file.write(
                f'{source}                               partition\t1048572\t\t0\t\t-2\n'
            )

    def udev(self, name: str, kind: str, label: str = '', **properties: str) -> None:
        """Write what udev found on a device. properties: such as ID_PART_ENTRY_TYPE."""
        found = {'ID_FS_USAGE': 'raid', **properties}
        if kind:
            found = {'ID_FS_TYPE': kind, 'ID_FS_LABEL': label, **found}
        lines = [f'E:{key}={value}' for key, value in found.items()]
        self.files(
            self.udev_data,
            {f'b{self.numbers[name]}': '\n'.join(['S:disk/by-id/x', *lines])},
        )

    def typed(self, name: str, entry_type: str, kind: str = '') -> None:
        """Write the type of a partition, and what udev found on it."""
        self.udev(name, kind, ID_PART_ENTRY_TYPE=entry_type, ID_FS_USAGE='')


def read_here(question: Question) -> Seen:
    """Return what is seen in this process, which waits for it."""
    *_, last = seen(question)
    return last


def lvm_id(name: str) -> str:
    """Return an id of LVM without dashes."""
    return re.sub('[^A-Za-z0-9]', '', name).ljust(32, '0')


def dashed(identity: str) -> str:
    """Return an id of LVM as LVM and udev write it."""
    parts = (0, 6), (6, 10), (10, 14), (14, 18), (18, 22), (22, 26), (26, 32)
    return '-'.join(identity[first:last] for first, last in parts)


def metadata(name: str, devices: tuple, volumes: dict) -> str:
    """Return the metadata of a volume group as LVM2 2.03 writes it."""
    numbers = {device: f'pv{number}' for number, device in enumerate(devices)}
    of_devices = ''.join(
        f"""
\t\t{number} {{
\t\t\tid = "{dashed(lvm_id(device))}"
\t\t\tdevice = "/dev/{device}"\t# Hint only
\t\t\tstatus = ["ALLOCATABLE"]
\t\t}}
"""
        for device, number in numbers.items()
    )
    of_volumes = ''
    for volume, on in volumes.items():
        stripes = '\n'.join(
            f'\t\t\t\t\t"{numbers.get(device, device)}", 0' for device in on
        )
        of_volumes += f"""
\t\t{volume} {{
\t\t\tid = "{dashed(lvm_id(name + volume))}"
\t\t\tstatus = ["READ", "WRITE", "VISIBLE"]
\t\t\tsegment_count = 1

\t\t\tsegment1 {{
\t\t\t\tstart_extent = 0
\t\t\t\ttype = "striped"

\t\t\t\tstripes = [
{stripes}
\t\t\t\t]
\t\t\t}}
\t\t}}
"""
    return f"""# Generated by LVM2 version 2.03.16(2) (2022-05-18): Sun Nov 22 12:00:00 2026

contents = "Text Format Volume Group"
version = 1

description = "Created *after* executing 'lvcreate -n x {name}'"

creation_host = "db1"\t# Linux db1 6.12.0 #1 SMP x86_64
creation_time = 1795348800\t# Sun Nov 22 12:00:00 2026

{name} {{
\tid = "{dashed(lvm_id(name))}"
\tseqno = 7
\tformat = "lvm2"\t\t\t# informational
\tstatus = ["RESIZEABLE", "READ", "WRITE"]
\textent_size = 8192\t\t# 4 Megabytes

\tphysical_volumes {{
{of_devices}\t}}

\tlogical_volumes {{
{of_volumes}\t}}

}}
"""


def errors(**counts: int) -> str:
    """Return the text of btrfs' error_stats."""
    return '\n'.join(
        f'{name}_errs {counts.get(name, 0)}'
        for name in ('write', 'read', 'flush', 'corruption', 'generation')
    )
