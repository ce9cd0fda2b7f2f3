"""A Debian with its own kernel, our package and what the tests need, as a disk that QEMU boots.

Needs root.

The system without our package is made once and kept beside the others; ours is
installed into a copy, with the dependencies that apt finds.
"""

import hashlib
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

from chroots import CACHE, Chroot, kept, removed, unpacked
from conftest import ROOT

TOOLS = (
    'sdparm',
    'sg3-utils',
    'procps',
    'iproute2',
    'smartmontools',
    'nagios-nrpe-server',
    'nagios-nrpe-plugin',
    'systemd-sysv',
    'prometheus-node-exporter',
    'python3-prometheus-client',
    'mdadm',
    'lvm2',
    'btrfs-progs',
    'e2fsprogs',
    'dosfstools',
    'cryptsetup-bin',
    'gddrescue',
    'fdisk',
    'gdisk',
    'rsync',
)
DISK_SIZE = '1500M'
# File of tests/guest -> where systemd looks for it.
OURS = {
    'agent': 'usr/local/lib/guest-agent',
    'guest-agent.service': 'etc/systemd/system/guest-agent.service',
    'udev-trigger.conf': 'etc/systemd/system/systemd-udev-trigger.service.d/guest.conf',
}
# What a guest without users and networks can do without: each costs seconds without KVM.
MASKED = (
    'getty.target',
    'getty-static.service',
    'modprobe@drm.service',
    'apt-daily.timer',
    'apt-daily-upgrade.timer',
    'dpkg-db-backup.timer',
    'e2scrub_reap.service',
    'e2scrub_all.timer',
    'fstrim.timer',
    'networking.service',
    'ldconfig.service',
    'systemd-journal-catalog-update.service',
    'nagios-nrpe-server.service',
)
# What the first part of the start needs to find the disk; the rest is loaded by udev, as on any
# machine.
EARLY_MODULES = 'virtio_pci\nvirtio_blk\next4\n'
# Of 380 MB of modules: whatever leads to a drive.
KEPT_MODULES = (
    'block',
    'crypto',
    'lib',
    'fs/ext4',
    'fs/jbd2',
    'fs/mbcache.ko',
    'drivers/ata',
    'drivers/block',
    'drivers/cdrom',
    'drivers/char',
    'drivers/dax',
    'drivers/hwmon',
    'drivers/md',
    'drivers/message',
    'drivers/misc',
    'drivers/nvme',
    'drivers/scsi',
    'drivers/usb',
    'drivers/virtio',
    'fs/btrfs',
    'fs/fat',
    'fs/nls',
)
# Names the archive of a guest, so that another list of tools or modules gets an archive of its own.
CONTENTS = hashlib.sha256(
    repr((TOOLS, EARLY_MODULES, KEPT_MODULES)).encode()
).hexdigest()[:12]


class Guest(NamedTuple):
    """What QEMU boots."""

    kernel: Path
    initrd: Path
    disk: Path


def guest(suite: str, folder: Path, has_ours: bool = True) -> Guest:
    """Return a Debian with kernel and package as files in *folder*.

    has_ours: False leaves out the package.
    """
    chroot = with_kernel(suite, folder / 'root')
    if has_ours:
        chroot.installs_ours()
    add_ours(chroot)
    made = Guest(
        *(
            shutil.copy(next((chroot.root / 'boot').glob(pattern)), folder)
            for pattern in ('vmlinuz-*', 'initrd.img-*')
        ),
        folder / 'disk',
    )
    subprocess.run(
        [
            'mke2fs',
            '-q',
            '-t',
            'ext4',
            '-O',
            '^has_journal',
            '-d',
            str(chroot.root),
            str(made.disk),
            DISK_SIZE,
        ],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    removed(chroot.root)
    return made


def add_ours(chroot: Chroot) -> None:
    """Let systemd start the agent, and nothing that only costs time."""
    for name, path in OURS.items():
        chroot.writes(f'/{path}', (ROOT / 'tests/guest' / name).read_text())
    chroot.does('systemctl', 'enable', 'guest-agent.service')
    chroot.does('systemctl', 'mask', *MASKED)


def with_kernel(suite: str, folder: Path) -> Chroot:
    """Return a Debian with kernel and tools, without our package; the first time it is
    downloaded.
    """

    def download() -> None:
        for old in CACHE.glob(f'{suite}-*.tar'):
            old.unlink()
        chroot = unpacked(suite, folder)
        install_kernel(chroot)
        chroot.installs(*TOOLS)
        chroot.does('apt-get', 'clean')

    return kept(f'{suite}-{CONTENTS}', folder, download)


def install_kernel(chroot: Chroot) -> None:
    """Install the kernel of this Debian, and of its modules those that lead to drives."""
    chroot.installs('initramfs-tools', 'busybox', 'kmod', 'udev', 'zstd')
    chroot.writes('/etc/initramfs-tools/conf.d/guest', 'MODULES=list\n')
    chroot.writes('/etc/initramfs-tools/modules', EARLY_MODULES)
    chroot.installs('linux-image-amd64')
    (version,) = (path.name for path in (chroot.root / 'lib/modules').iterdir())
    thin_out(chroot.root / 'lib/modules' / version / 'kernel')
    chroot.does('depmod', version)


def thin_out(modules: Path) -> None:
    for path in sorted(modules.rglob('*.ko*')):
        if not path.relative_to(modules).as_posix().startswith(KEPT_MODULES):
            path.unlink()
