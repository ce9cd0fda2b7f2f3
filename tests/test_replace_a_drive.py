"""The commands of doc/how-to/replace-a-drive.md work, and stop before they cost data.

`make test-replace` types them as written in a QEMU guest: disks are pulled, fail all commands, have
a bad sector, or are healthy. After each replacement, the array is assembled again as after a boot;
its data, identity and profiles must be the same, and its redundancy complete. `make test` only
reads the blocks of the document.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator

import abilities
import pytest
from chroots import removed
from guests import guest
from qemu import QEMU
from replacement_bed import PASSPHRASE, Bed, blocks

# The guest has no ZFS, and no firmware with boot entries.
NOT_TYPED = {'ZFS: replace a device', 'Create the boot entry'}
TYPED = {
    'Name the disks',
    'Check the new disk',
    'Copy the partition table',
    'Name the members',
    'Open a LUKS container on the new disk',
    'md: name the array',
    'md: replace a member that still reads',
    'md: take the old member out',
    'md: remove what md has dropped',
    'md: rebuild on the new disk',
    'LVM: move the volumes of a disk that still reads',
    'LVM: add the new disk',
    'LVM: rebuild a RAID volume',
    'LVM: forget the missing disk',
    'btrfs: note the profiles',
    'btrfs: replace a device that still reads',
    'btrfs: mount without the missing device',
    'btrfs: replace a missing device',
    'btrfs: restore the profiles',
    'Copy the files',
    'Copy the whole disk',
    'Copy the EFI partition',
    'Move the swap space',
    'Check that nothing uses the old disk',
    'Detach the old disk',
}
FAST_LUKS = '--type luks2 --pbkdf pbkdf2 --pbkdf-force-iterations 1000'
PARTITIONS = 'label: gpt\\nsize=4MiB,type=U\\nsize=4MiB,type=S\\ntype=R\\n'

pytestmark = pytest.mark.timeout(0)


def test_every_block_of_the_document_is_typed_or_cannot_be():
    assert set(blocks()) == TYPED | NOT_TYPED


@pytest.mark.parametrize('name', sorted(blocks()))
def test_every_block_is_valid_for_a_shell(name):
    assert subprocess.run(['sh', '-n'], input=blocks()[name], text=True).returncode == 0


@pytest.mark.parametrize('name', sorted(blocks()))
def test_no_block_continues_after_a_failure(name):
    """A shell with -e and pipefail ignores a failure in these."""
    text = blocks()[name]

    assert '||' not in text and '&&' not in text and '\n!' not in text
    assert 'test -z "$(' not in text  # true if the command fails


# --- the guest ------------------------------------------------------------------------------------


@pytest.fixture(scope='module')
def bed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    if 'TEST_REPLACE' not in os.environ:
        pytest.skip('drives are replaced by "make test-replace" only: it takes minutes')
    if not abilities.path_of(QEMU) or not abilities.IS_ROOT:
        pytest.fail(
            f'{QEMU} is not installed, or we are not root; "make test-replace" sees to both',
            pytrace=False,
        )
    folder = tmp_path_factory.mktemp('replace')
    made = Bed(guest('trixie', folder, has_ours=False), folder)
    try:
        made.prepare()
        yield made
    finally:
        made.machine.ends()
        removed(folder)


# --- md -------------------------------------------------------------------------------------------


def makes_array(
    bed: Bed, name: str, level: int, members: list[str], options: str = ''
) -> None:
    """Make an array with a file system and a file. options: further ones of mdadm."""
    bed.machine.shell(
        f'mdadm --quiet --create /dev/{name} --run --level={level} --raid-devices={len(members)} '
        f'--metadata=1.2 --bitmap=internal {options} {" ".join(members)} </dev/null\n'
        f'mdadm --quiet --wait /dev/{name} || :\n'
        f'mkfs.ext4 -q /dev/{name}; mkdir -p /srv/{name}; mount /dev/{name} /srv/{name}'
    )
    bed.fills(f'/srv/{name}')


def identity(bed: Bed, name: str) -> list[str]:
    """Return what must stay of an array, and that it is complete."""
    wanted = (
        'UUID :',
        'Version :',
        'Raid Level :',
        'Array Size :',
        'Raid Devices :',
        'Total Devices :',
        'Bitmap :',
        'Active Devices :',
        'Working Devices :',
        'Failed Devices :',
        'Spare Devices :',
        'Name :',
    )
    lines = bed.machine.does('mdadm', '--detail', f'/dev/{name}').splitlines()
    return [line.strip() for line in lines if any(word in line for word in wanted)]


def is_assembled_again(bed: Bed, name: str) -> None:
    """Stop the array and let mdadm find its members; the data must be there."""
    uuid = bed.machine.shell(
        f'mdadm --detail --export /dev/{name} | sed -n s/MD_UUID=//p'
    ).strip()
    bed.machine.shell(
        f'umount /srv/{name}; udevadm settle; mdadm --quiet --stop /dev/{name}; '
        f'mdadm --quiet --assemble /dev/{name} --uuid={uuid}; mount /dev/{name} /srv/{name}'
    )
    assert bed.machine.does('cat', f'/sys/block/{name}/md/degraded') == '0\n'
    bed.reads_back(f'/srv/{name}')
    assert (
        bed.machine.shell(
            f'echo check >/sys/block/{name}/md/sync_action; mdadm --quiet --wait /dev/{name} || :; '
            f'cat /sys/block/{name}/md/mismatch_cnt'
        )
        == '0\n'
    )


def test_md_copies_a_disk_that_still_reads_with_its_efi_partition_and_swap(bed):
    old, other, new = bed.take(), bed.take(), bed.take()
    bed.machine.shell(
        '\n'.join(
            (
                *(
                    f"printf '{PARTITIONS}' | sfdisk --quiet {disk}"
                    for disk in (old, other)
                ),
                'udevadm settle',
                f'mkfs.vfat {old}-part1; mkdir -p /boot/efi; mount {old}-part1 /boot/efi',
                f'mkswap {old}-part2; swapon {old}-part2',
            )
        )
    )
    bed.fills('/boot/efi', size='64k')
    makes_array(bed, 'md1', 1, [f'{old}-part3', f'{other}-part3'])
    before = identity(bed, 'md1')

    bed.prepares(old, new, part='-part3')
    bed.types('md: name the array', ARRAY='/dev/md1')
    bed.types('md: replace a member that still reads')
    # its other partitions are in use
    bed.stops('Check that nothing uses the old disk', 'test 2 = 0')
    bed.types('Move the swap space', OLD_SWAP='$OLD-part2', NEW_SWAP='$NEW-part2')
    # the new member of the array
    bed.stops('Copy the EFI partition', "test -z '", NEW_EFI='$NEW-part3')
    bed.types('Copy the EFI partition', NEW_EFI='$NEW-part1')
    bed.machine.shell(f'umount /boot/efi; mount -o ro {new}-part1 /boot/efi')
    bed.types('Check that nothing uses the old disk', 'Detach the old disk')

    assert identity(bed, 'md1') == before
    assert bed.machine.runs('test', '-e', old).code == 1
    assert f'/dev/{kernel_name(bed, new)}2' in bed.machine.does('cat', '/proc/swaps')
    bed.reads_back('/boot/efi')
    bed.machine.shell('umount /boot/efi')
    is_assembled_again(bed, 'md1')


def kernel_name(bed: Bed, disk: str) -> str:
    return bed.machine.does('readlink', '-e', disk).strip().rpartition('/')[2]


def test_md_rebuilds_after_a_disk_is_gone(bed):
    first, gone, third, new = (bed.take() for _ in range(4))
    makes_array(bed, 'md2', 5, [first, gone, third])
    before = identity(bed, 'md2')
    bed.pulls(gone)
    bed.fills('/srv/md2', 'later', '2M')

    bed.prepares(gone, new, like=first)
    bed.types('md: name the array', ARRAY='/dev/md2')
    bed.types('md: remove what md has dropped', 'md: rebuild on the new disk')

    assert identity(bed, 'md2') == before
    is_assembled_again(bed, 'md2')


def test_md_rebuilds_after_a_disk_no_longer_responds(bed):
    """md has not noticed it yet."""
    dead, *others, new = (bed.take() for _ in range(5))
    makes_array(bed, 'md3', 6, [dead, *others])
    before = identity(bed, 'md3')
    bed.machine.shell('umount /srv/md3; sleep 2')
    bed.dies(dead)

    bed.prepares(dead, new, like=others[0])
    bed.types('md: name the array', ARRAY='/dev/md3')
    bed.types('md: take the old member out')
    bed.types('md: remove what md has dropped')
    bed.machine.shell('mount /dev/md3 /srv/md3')
    bed.fills('/srv/md3', 'later', '2M')
    bed.types('md: rebuild on the new disk')

    assert identity(bed, 'md3') == before
    is_assembled_again(bed, 'md3')


def test_md_takes_a_member_with_bad_blocks_out(bed):
    """mdadm 4.4 cannot add a disk to an array that has such a member; nothing has changed then."""
    old, other, new = bed.take('failing'), bed.take(), bed.take()
    makes_array(bed, 'md5', 1, [old, other], '--assume-clean')
    before = identity(bed, 'md5')
    assert '1 sectors' in bed.machine.does('mdadm', '--examine-badblocks', old)

    bed.prepares(old, new)
    bed.types('md: name the array', ARRAY='/dev/md5')
    bed.stops('md: replace a member that still reads', 'mdadm /dev/md5 --add-spare ')
    assert identity(bed, 'md5') == before
    bed.types('md: take the old member out')
    bed.types('md: remove what md has dropped')
    bed.types('md: rebuild on the new disk')

    assert identity(bed, 'md5') == before
    is_assembled_again(bed, 'md5')


def test_md_copies_a_member_that_is_encrypted(bed):
    old, other, new = bed.take(), bed.take(), bed.take()
    bed.machine.shell(
        '\n'.join(
            f'printf {PASSPHRASE} | cryptsetup luksFormat {FAST_LUKS} {disk}\n'
            f'printf {PASSPHRASE} | cryptsetup open {disk} {name}'
            for disk, name in ((old, 'old-member'), (other, 'other-member'))
        )
    )
    makes_array(bed, 'md6', 1, ['/dev/mapper/old-member', '/dev/mapper/other-member'])
    before = identity(bed, 'md6')

    bed.prepares(old, new)
    bed.types('Open a LUKS container on the new disk', OFFSET='32768')
    bed.types(
        'Name the members',
        OLD_PART='/dev/mapper/old-member',
        NEW_PART='/dev/mapper/new-member',
    )
    bed.types('md: name the array', ARRAY='/dev/md6')
    bed.types('md: replace a member that still reads')
    bed.stops('Check that nothing uses the old disk', 'test 1 = 0')
    bed.machine.shell('cryptsetup close old-member')
    bed.types('Check that nothing uses the old disk', 'Detach the old disk')

    assert identity(bed, 'md6') == before
    is_assembled_again(bed, 'md6')


def test_md_commands_stop_before_they_change_anything(bed):
    """The new disk is too small, in use, not there, or the array lacks another member."""
    first, second, new = bed.take(), bed.take(), bed.take()
    short = bed.take('short')
    makes_array(bed, 'md4', 1, [first, second])
    bed.machine.shell('umount /srv/md4')
    before = bed.contents([first, second, short]), identity(bed, 'md4')

    for unfit, command in (
        (short, 'test 33554432 -ge 37748736'),
        (second, 'test 2 = 1'),
        (f'{new}0', 'lsblk '),
    ):
        bed.begins()
        bed.types('Name the disks', OLD=first, NEW=unfit, LIKE='$OLD')
        bed.stops('Check the new disk', command)
    bed.begins()
    bed.types('Name the disks', OLD=first, NEW=new, LIKE='$OLD')
    # the disk has no partition
    bed.types('Name the members', OLD_PART='$OLD', NEW_PART='$NEW-part1')
    bed.types('md: name the array', ARRAY='/dev/md4')
    bed.stops('md: replace a member that still reads', 'test -b ')
    assert (bed.contents([first, second, short]), identity(bed, 'md4')) == before

    bed.machine.shell(f'mdadm --quiet /dev/md4 --fail {second}')
    degraded = identity(bed, 'md4')
    bed.stops('md: replace a member that still reads', 'test 1 = 0')
    bed.stops('md: take the old member out', 'test 1 = 0')
    assert identity(bed, 'md4') == degraded
    bed.machine.shell('mount /dev/md4 /srv/md4')
    bed.reads_back('/srv/md4')
    bed.machine.shell('umount /srv/md4; mdadm --quiet --stop /dev/md4')


def test_data_in_the_place_of_a_new_partition_stops_the_commands(bed):
    """Somebody has removed the partition table of a disk that has data."""
    old, new = bed.take(), bed.take()
    bed.machine.shell(
        '\n'.join(
            (
                *(
                    f"printf '{PARTITIONS}' | sfdisk --quiet {disk}"
                    for disk in (old, new)
                ),
                'udevadm settle',
                f'mkfs.ext4 -q {new}-part3; wipefs --quiet --all {new}; udevadm settle',
                f'blockdev --rereadpt {new}; udevadm settle',
            )
        )
    )
    bed.begins()
    bed.types('Name the disks', OLD=old, NEW=new, LIKE='$OLD')
    bed.types('Check the new disk')

    bed.stops('Copy the partition table', "test -z '")
    assert (
        bed.machine.shell(f'wipefs --noheadings --output TYPE {new}-part3') == 'ext4\n'
    )


# --- LVM ------------------------------------------------------------------------------------------


def makes_volumes(
    bed: Bed, group: str, volumes: dict[str, str], disks: list[str]
) -> None:
    """Make a volume group with volumes, each with a file system and a file. volumes: name ->
    options of lvcreate.
    """
    devices = ' '.join(disks)
    bed.machine.shell(f'pvcreate -q {devices}; vgcreate -q -s 1M {group} {devices}')
    for name, options in volumes.items():
        place = f'/srv/{group}-{name}'
        bed.machine.shell(
            f'lvcreate -q -y {options} -n {name} {group}; mkfs.ext4 -q /dev/{group}/{name}; '
            f'mkdir -p {place}; mount /dev/{group}/{name} {place}'
        )
        bed.fills(place, size='4M')


def volumes_of(bed: Bed, group: str) -> str:
    """Return what must stay of a volume group and its volumes."""
    return bed.machine.shell(
        f'vgs --noheadings -o vg_uuid,pv_count,vg_missing_pv_count {group}; '
        f'lvs --noheadings -o lv_name,lv_uuid,segtype,lv_size,stripes,lv_health_status {group}'
    )


def is_activated_again(bed: Bed, group: str, volumes: dict[str, str]) -> None:
    for name in volumes:
        bed.machine.shell(f'umount /srv/{group}-{name}')
    bed.machine.shell(
        f'vgchange -q -an {group}; vgchange -q -ay --activationmode complete {group}'
    )
    for name in volumes:
        place = f'/srv/{group}-{name}'
        bed.machine.shell(f'mount /dev/{group}/{name} {place}')
        bed.reads_back(place)


def test_lvm_moves_the_volumes_of_a_disk_that_still_reads(bed):
    old, other, new = bed.take(), bed.take(), bed.take()
    volumes = {'mirrored': '--type raid1 -m1 -L 12M', 'plain': '-L 12M'}
    makes_volumes(bed, 'vg1', volumes, [old, other])
    before = volumes_of(bed, 'vg1')

    bed.prepares(old, new)
    bed.types('LVM: move the volumes of a disk that still reads', VG='vg1')
    bed.types('Check that nothing uses the old disk', 'Detach the old disk')

    assert volumes_of(bed, 'vg1') == before
    is_activated_again(bed, 'vg1', volumes)


def test_lvm_rebuilds_raid_volumes_after_a_disk_is_gone(bed):
    gone, other, new = bed.take(), bed.take(), bed.take()
    volumes = {'one': '--type raid1 -m1 -L 8M', 'two': '--type raid1 -m1 -L 8M'}
    makes_volumes(bed, 'vg2', volumes, [gone, other])
    before = volumes_of(bed, 'vg2')
    bed.pulls(gone)
    bed.fills('/srv/vg2-one', 'later', '1M')

    bed.prepares(gone, new, like=other)
    bed.types('LVM: add the new disk', VG='vg2')
    bed.types('LVM: rebuild a RAID volume', LV='one')
    # the other volume still has a part there
    bed.stops('LVM: forget the missing disk', 'vgreduce ')
    bed.types('LVM: rebuild a RAID volume', LV='two')
    bed.types('LVM: forget the missing disk')

    assert volumes_of(bed, 'vg2') == before
    is_activated_again(bed, 'vg2', volumes)


# --- btrfs ----------------------------------------------------------------------------------------


def makes_btrfs(bed: Bed, place: str, profiles: str, disks: list[str]) -> None:
    bed.machine.shell(
        f'mkfs.btrfs -q {profiles} {" ".join(disks)}; udevadm settle; mkdir -p {place}; '
        f'mount {disks[0]} {place}'
    )
    bed.fills(place, size='40M')


def profiles(bed: Bed, place: str) -> str:
    """Return the UUID and the profiles of a file system."""
    return bed.machine.shell(
        f'findmnt --noheadings --output UUID {place}; btrfs filesystem df {place} | sed s/:.*//'
    )


def is_mounted_again(bed: Bed, place: str, disks: list[str]) -> None:
    """Mount it from each of its devices, without "degraded"; all copies must be good."""
    for disk in disks:
        bed.machine.shell(
            f'umount {place}; btrfs device scan >/dev/null; mount {disk} {place}'
        )
        bed.reads_back(place)
    assert 'degraded' not in bed.machine.does(
        'findmnt', '--noheadings', '--output', 'OPTIONS', place
    )
    assert (
        'missing' not in bed.machine.does('btrfs', 'filesystem', 'show', place).lower()
    )
    scrub = bed.machine.does('btrfs', 'scrub', 'start', '-B', place)
    assert 'no errors found' in scrub, scrub
    assert bed.machine.runs('btrfs', 'device', 'stats', '--check', disks[-1]).code == 0


def test_btrfs_copies_a_device_that_still_reads(bed):
    old, other, new = (bed.take('large') for _ in range(3))
    makes_btrfs(bed, '/srv/btrfs1', '-d raid1 -m raid1', [old, other])
    before = profiles(bed, '/srv/btrfs1')

    bed.prepares(old, new)
    bed.types('btrfs: note the profiles', MNT='/srv/btrfs1')
    bed.types('btrfs: replace a device that still reads')
    bed.machine.shell(f'umount /srv/btrfs1; mount {other} /srv/btrfs1')
    bed.types('Check that nothing uses the old disk', 'Detach the old disk')

    assert profiles(bed, '/srv/btrfs1') == before
    is_mounted_again(bed, '/srv/btrfs1', [other, new])


def test_btrfs_rebuilds_a_missing_device_and_converts_only_what_the_degraded_mount_wrote(
    bed,
):
    gone, other, new = (bed.take('large') for _ in range(3))
    makes_btrfs(bed, '/srv/btrfs2', '-d raid1 -m raid1', [gone, other])
    before = profiles(bed, '/srv/btrfs2')
    bed.machine.shell('umount /srv/btrfs2')
    bed.pulls(gone)

    bed.prepares(gone, new, like=other)
    bed.types('btrfs: mount without the missing device', MNT='/srv/btrfs2', OTHER=other)
    bed.fills('/srv/btrfs2', 'later', '48M')
    bed.types('btrfs: replace a missing device', DEVID='1')
    assert 'single' in profiles(bed, '/srv/btrfs2').replace('GlobalReserve, single', '')
    bed.types('btrfs: restore the profiles', DATA='raid1', METADATA='raid1')

    assert profiles(bed, '/srv/btrfs2') == before
    is_mounted_again(bed, '/srv/btrfs2', [other, new])


def test_btrfs_keeps_different_profiles_of_data_and_metadata(bed):
    """The disk no longer responds while the file system is in use."""
    first, dead, third, new = (bed.take('large') for _ in range(4))
    makes_btrfs(bed, '/srv/btrfs3', '-d raid5 -m raid1c3', [first, dead, third])
    before = profiles(bed, '/srv/btrfs3')
    bed.dies(dead)
    bed.fills('/srv/btrfs3', 'later', '8M')

    bed.prepares(dead, new, like=first)
    bed.types('btrfs: note the profiles', MNT='/srv/btrfs3')
    bed.types('btrfs: replace a missing device', DEVID='2')
    if profiles(bed, '/srv/btrfs3') != before:
        bed.types('btrfs: restore the profiles', DATA='raid5', METADATA='raid1c3')

    assert profiles(bed, '/srv/btrfs3') == before
    is_mounted_again(bed, '/srv/btrfs3', [first, third, new])


# --- single disks ---------------------------------------------------------------------------------


def test_files_are_copied_only_to_a_mounted_disk(bed):
    old, new = bed.take(), bed.take()
    bed.machine.shell(
        f'mkfs.ext4 -q {old}; mkdir -p /srv/single /srv/new; mount {old} /srv/single'
    )
    bed.fills('/srv/single')
    bed.begins()
    bed.types('Name the disks', OLD=old, NEW=new, LIKE='$OLD')
    bed.types('Check the new disk')
    bed.stops(
        'Copy the files',
        'findmnt --mountpoint /srv/new',
        SOURCE='/srv/single',
        TARGET='/srv/new',
    )
    assert bed.machine.does('ls', '/srv/new') == ''
    bed.machine.shell(f'mkfs.ext4 -q {new}; mount {new} /srv/new; umount /srv/single')
    bed.stops(
        'Copy the files',
        'findmnt --mountpoint /srv/single',
        SOURCE='/srv/single',
        TARGET='/srv/new',
    )
    bed.machine.shell(f'mount {old} /srv/single')

    bed.types('Copy the files', SOURCE='/srv/single', TARGET='/srv/new')

    bed.machine.shell('umount /srv/single')
    bed.reads_back('/srv/single', elsewhere='/srv/new')


def test_a_whole_disk_is_copied_and_compared(bed):
    old, new = bed.take(), bed.take()
    bed.machine.shell(
        f"printf '{PARTITIONS}' | sfdisk --quiet {old}; udevadm settle; mkfs.ext4 -q {old}-part3; "
        f'mkdir -p /srv/whole; mount {old}-part3 /srv/whole'
    )
    bed.fills('/srv/whole')
    bed.begins()
    bed.types('Name the disks', OLD=old, NEW=new, LIKE='$OLD')
    bed.types('Check the new disk')
    bed.stops('Copy the whole disk', 'test 1 = 0')  # it is mounted
    bed.machine.shell('umount /srv/whole; sleep 1')

    bed.types('Copy the whole disk')
    bed.types('Check that nothing uses the old disk', 'Detach the old disk')

    bed.machine.shell(
        f'blockdev --rereadpt {new}; udevadm settle; mount {new}-part3 /srv/whole'
    )
    bed.reads_back('/srv/whole')


def test_a_sector_that_cannot_be_copied_stops_the_commands(bed):
    old, new = bed.take('failing'), bed.take()
    bed.begins()
    bed.types('Name the disks', OLD=old, NEW=new, LIKE='$OLD')
    bed.types('Check the new disk')

    bed.stops('Copy the whole disk', 'ddrescuelog ')


def test_all_blocks_were_typed(bed):
    assert bed.typed == TYPED
