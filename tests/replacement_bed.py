"""A bed for doc/how-to/replace-a-drive.md: its commands are typed in a guest whose disks are pulled
or fail.

Each code block of the document has its name in its first line, such as `# Check the new disk`. The
bed fills in the assignments of placeholders, and changes nothing else. It types each block in a
shell with the options that the document demands, and keeps the variables for the next block, as one
session of an admin does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pages
from conftest import Result
from guests import Guest
from qemu import Machine

DOCUMENT = 'doc/how-to/replace-a-drive.md'
KEYS, PASSPHRASE = '/run/keys', 'secret'  # typed when a command asks
# as in the document; $0: the commands
SHELL = ('sh', '-c', f'exec bash -eu -o pipefail -c "$0" <{KEYS}')
SESSION = '/run/session'  # the variables that earlier blocks have set
MIB = 1 << 20
BAD_PLACE = 20 * MIB  # that a failing disk can neither read nor write
# Kind of disk -> how many there are, and the size of each in MiB. btrfs needs large ones.
DISKS = {'small': (34, 36), 'large': (10, 400), 'short': (1, 32), 'failing': (2, 36)}
WWN = 0x5000C500AA000000
BLOCK_SECONDS = 300


def blocks() -> dict[str, str]:
    """Return the document's blocks of commands by the name in their first line."""
    texts = [
        block.text
        for block in pages.blocks(DOCUMENT)
        if block.language == 'sh' and block.text.startswith('# ')
    ]
    named = {text.splitlines()[0][2:]: text for text in texts}
    assert len(named) == len(texts), 'two blocks have the same name'
    return named


def filled(text: str, values: dict[str, str]) -> str:
    """Return a block with these values of its placeholders; AssertionError if it does not assign
    one of them.
    """
    for name, value in values.items():
        text, count = re.subn(
            f'^{name}=.*$', f'{name}={value}', text, flags=re.MULTILINE
        )
        assert count == 1, f'{name} is assigned {count} times in:\n{text}'
    return text


class Bed:
    """A guest with disks, in which the document's commands are typed."""

    def __init__(self, guest: Guest, folder: Path) -> None:
        self.blocks = blocks()
        self.typed: set[str] = set()
        self.free: dict[str, list[int]] = {kind: [] for kind in DISKS}
        devices = ['-device', 'virtio-scsi-pci,id=scsi']
        number = 0
        for kind, (count, size) in DISKS.items():
            for _ in range(count):
                devices += disk(
                    number,
                    folder / f'disk{number}',
                    size=size * MIB,
                    is_failing=kind == 'failing',
                )
                self.free[kind].append(number)
                number += 1
        self.machine = Machine(guest, devices, folder)

    def prepare(self) -> None:
        """Load what the cases need, and let LVM and the passphrases be quick."""
        self.machine.shell(
            'modprobe -a raid1 raid456 dm_raid dm_mirror dm_crypt btrfs vfat; udevadm settle; '
            'sed -i "s/# *polling_interval = 15/polling_interval = 1/" /etc/lvm/lvm.conf; '
            f'yes {PASSPHRASE} | head -20 >{KEYS}'
        )

    def take(self, kind: str = 'small') -> str:
        """Return the stable name of a disk that no case has used."""
        return path(self.free[kind].pop(0))

    def begins(self) -> None:
        """Begin a session without variables."""
        self.machine.shell(f': >{SESSION}')

    def tries(self, name: str, **values: str) -> Result:
        """Type a block of the document; return its exit status and output."""
        self.typed.add(name)
        block = filled(self.blocks[name], values)
        script = f'set -a; . {SESSION}; set -x\n{block}\nset +x; export -p >{SESSION}\n'
        done = self.machine.runs(*SHELL, script, seconds=BLOCK_SECONDS)
        print(
            f'--- {name} {values or ""}: exit status {done.code}\n{done.text.rstrip()}',
            flush=True,
        )
        return done

    def types(self, *names: str, **values: str) -> None:
        """Type blocks that must work. values: of the placeholders of the last one."""
        for name in names:
            done = self.tries(name, **(values if name == names[-1] else {}))
            assert done.code == 0, f'{name}: {done.text}'

    def stops(self, name: str, command: str, **values: str) -> None:
        """Type a block that must end at a command that begins like this."""
        done = self.tries(name, **values)
        commands = [
            line[2:] for line in done.text.splitlines() if line.startswith('+ ')
        ]
        assert done.code and commands[-1].startswith(command), f'{name}: {done}'

    def prepares(self, old: str, new: str, like: str = '', part: str = '') -> None:
        """Begin a session, and prepare the new disk.

        like: disk whose size and partitions the new disk needs; '': the old one.
        part: suffix of the member's partition; '': the member is the whole disk.
        """
        self.begins()
        self.types('Name the disks', OLD=old, NEW=new, LIKE=like or '$OLD')
        self.types('Check the new disk')
        if part:
            self.types('Copy the partition table')
        self.types('Name the members', OLD_PART=f'$OLD{part}', NEW_PART=f'$NEW{part}')

    def pulls(self, disk_path: str) -> None:
        """Pull a disk out of the running machine."""
        number = number_of(disk_path)
        self.machine.controls('device_del', id=f'disk{number}')
        self.machine.shell(
            f'until [ ! -e {disk_path} ]; do sleep 0.2; done; udevadm settle; sleep 1'
        )

    def dies(self, disk_path: str) -> None:
        """Let a disk fail each command from now on; its names stay."""
        self.machine.shell(
            f'echo offline >/sys/block/$(basename $(readlink -e {disk_path}))/device/state'
        )

    def fills(self, folder: str, name: str = 'data', size: str = '6M') -> None:
        """Write a file of random data, and note its checksum."""
        self.machine.shell(
            f'head -c {size} /dev/urandom >{folder}/{name}; sync; mkdir -p /run/sums{folder}; '
            f'cd {folder}; sha256sum {name} >>/run/sums{folder}/sums'
        )

    def reads_back(self, folder: str, elsewhere: str = '') -> None:
        """Check the files of a folder, or of a copy of it elsewhere, past all caches."""
        self.machine.shell(
            f'sync; echo 3 >/proc/sys/vm/drop_caches; cd {elsewhere or folder}; '
            f'sha256sum --check --quiet /run/sums{folder}/sums'
        )

    def contents(self, paths: Sequence[str]) -> str:
        """Return the checksums of whole disks."""
        return self.machine.shell(f'sync; sha256sum {" ".join(paths)}')


def disk(number: int, file: Path, *, size: int, is_failing: bool) -> list[str]:
    """Return QEMU's words for one disk. size: in bytes. is_failing: its sector at BAD_PLACE is
    bad.
    """
    with file.open('wb') as opened:
        opened.truncate(size)
    node = f'file{number}'
    words = [
        '-blockdev',
        f'driver=file,node-name={node},filename={file},cache.no-flush=on,locking=off',
    ]
    if is_failing:
        words += [
            '-blockdev',
            f'driver=blkdebug,node-name=bad{number},image={node},inject-error.0.event=read_aio,'
            f'inject-error.0.sector={BAD_PLACE // 512},inject-error.0.errno=5',
        ]
        node = f'bad{number}'
    words += [
        '-blockdev',
        f'driver=raw,node-name=raw{number},file={node}',
        '-device',
        f'scsi-hd,bus=scsi.0,scsi-id={number},drive=raw{number},id=disk{number},'
        f'wwn={WWN + number:#x},vendor=SEAGATE,product=ST600MM0006,ver=0004,'
        'werror=report,rerror=report',
    ]
    return words


def path(number: int) -> str:
    """Return the stable name of a disk."""
    return f'/dev/disk/by-id/scsi-3{WWN + number:x}'


def number_of(disk_path: str) -> int:
    """Return the number of a disk by its stable name."""
    return int(disk_path.rpartition('scsi-3')[2], 16) - WWN
