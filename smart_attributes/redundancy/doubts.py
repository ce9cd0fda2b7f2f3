"""Reasons to doubt that a group of drives has its data on its other members, from what the kernel
shows. Pure.

Sources: Linux, Documentation/admin-guide/md.rst, drivers/md/md.c and raid5.c (md); fs/btrfs/sysfs.c
(btrfs); Documentation/admin-guide/device-mapper/dm-raid.rst, drivers/md/dm-raid.c, raid_status
(dm-raid); tried on Linux 6.12. tests/group_sources.json lists all that these show, and why the rest
is not read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from .survival import doubt

# text in place of an unreadable file; it raises a doubt, unless some arrays lack this file
UNREAD = '?'
ReadFile = Callable[[str], str]  # a file of /sys/block/mdN/md -> its content, or UNREAD
_HAS_BAD_BLOCKS = 'has blocks that md cannot read'


def of_array(read: ReadFile, is_swap: bool) -> Iterator[str]:
    """Yield each doubt about an md array.

    read: returns the content of a file of /sys/block/mdN/md, or UNREAD. is_swap: the array is only
    swap space.
    """
    if _may_have_data_in_journal(read):
        yield doubt(
            'its journal (write-back) may have data that no member has yet',
            'switch its journal to write-through',
        )
    if read('reshape_position') != 'none':
        yield doubt('a reshape has not ended', 'continue the reshape')
    state = read('array_state')
    if 'read-auto' in state:
        yield doubt('a resync may be pending (read-auto)', 'let it resync')
    action = read('sync_action')
    if action in ('frozen', '', UNREAD):
        yield doubt('a rebuild may be on hold (frozen)', 'let it rebuild')
    if 'repair' in action:
        yield doubt('a repair has not ended', 'wait until the repair has ended')
    # Also after a crash: md sets resync_start to 0 while data is written.
    if read('resync_start') != 'none':
        remedy = 'let it resync'
        if state == 'readonly':
            remedy = 'make it writable, and wait for the resync'
        yield doubt('a resync is pending or was interrupted', remedy)
    # Nobody knows which copy is right until a repair has made the copies equal; a repair does not
    # reset the count. Of swap space, a count is not an error: memory that changes while it is
    # written differs between the copies of raid1 and raid10, and is not read again (md(4)).
    is_equalized = read('last_sync_action') in ('repair', 'resync')
    if not is_swap and read('mismatch_cnt') != '0' and not is_equalized:
        yield doubt(
            'its members differ from each other (mismatch_cnt)', 'repair the array'
        )


def _may_have_data_in_journal(read: ReadFile) -> bool:
    """Return whether a journal may have data that no member has yet.

    - The mode of a working journal is "write-through [write-back]": True
    - "[write-through] write-back": False
    - There is no mode, and the policy is "journal", or this version does not know it: True
    - There is no mode, and the policy is "bitmap", "resync" or "ppl": False
    - There is no mode, and no policy, because the kernel is old: False
    """
    mode = read('journal_mode')
    # raid1 and raid10 lack this file, and it is empty without a working journal.
    if mode not in ('', UNREAD):
        return '[write-through]' not in mode
    policy = read('consistency_policy')
    if policy == UNREAD:
        return False
    return policy not in ('bitmap', 'resync', 'ppl')


def of_md_member(state: str, level: str, read: ReadFile) -> Iterator[str]:
    """Yield each doubt about a member of an md array.

    state: its flags, "in_sync,write_error". level: the array's. read: returns the content of a file
    of /sys/block/mdN/md/dev-NAME, or UNREAD.
    """
    # As long as this flag is set, a repair skips the blocks that could not be written; tried on
    # Linux 6.12.
    if 'write_error' in state:
        yield doubt(
            'could not store data', 'clear its write_error flag, then repair the array'
        )
    if 'blocked' in state:
        yield doubt('has failed, but mdmon has not recorded this', 'start mdmon')
    # not empty: there are bad blocks, or the list is UNREAD
    if read('bad_blocks'):
        # Until a repair, mdadm 4.4 and older cannot add a disk: they give it an empty list of bad
        # blocks, which Linux refuses since 6.8 (mdadm, pull request 154; Linux, commit
        # 1726c7746783). A repair of raid10 does not change these blocks; tried on Linux 6.12.
        remedy = 'let a spare replace it' if level == 'raid10' else 'repair the array'
        yield doubt(_HAS_BAD_BLOCKS, remedy)
    if read('unacknowledged_bad_blocks'):
        yield doubt(_HAS_BAD_BLOCKS, 'repair the array')


def of_btrfs_devices(error_stats: str) -> Iterator[str]:
    """Yield each doubt about all devices of a btrfs file system. error_stats: of all devices, in
    /sys/fs/btrfs.

    A count, even of read errors, does not show whether the copy has been corrected since. A scrub
    corrects all copies, and fails if it cannot. No file has the name of a device, so a doubt
    concerns all devices.
    """
    if re.search('_errs 0*[1-9]', error_stats):
        yield doubt(
            'btrfs has counted errors on its devices',
            'scrub the file system, then reset its error counts',
        )


def of_dm_raid(fields: Mapping[str, str]) -> Iterator[str]:
    """Yield each doubt about a RAID volume of LVM. fields: of its line in dmsetup status, see dmsetup."""
    action = fields['sync_action']
    if action in ('idle', 'frozen') and fields['done'] != fields['total']:
        yield doubt('its rebuild has not ended', 'refresh the volume')
    if action == 'repair':
        yield doubt('a repair has not ended', 'wait until the repair has ended')
    # dm-raid sets the count to 0 unless the last action was a check.
    if fields['mismatch_cnt'] != '0':
        yield doubt(
            'its members differ from each other (mismatch count of dm-raid)',
            'repair the volume',
        )
