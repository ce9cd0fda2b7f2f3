"""Read the arrays of Linux' md driver from /sys/block/mdN/md, and mounted btrfs file systems from
/sys/fs/btrfs.

For btrfs, /sys does not show the number of each device, so errors and missing devices are counted
but not named.
Sources: Linux, Documentation/admin-guide/md.rst; state_show, slot_show and array_state_show in
drivers/md/md.c; fs/btrfs/sysfs.c (devinfo since 5.6, error_stats since 5.14).
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

from ..constants import MOST_MEMBERS
from ..model import Group, Member
from ..reading.system import names_in, text_of
from ..words import clean
from . import doubts
from .block_devices import Devices, Kind, udev_notes
from .survival import is_redundant

# Levels that need a device in each slot. raid1 works with empty slots: QNAP builds 32 slots for 4
# devices.
_NEED_ALL_SLOTS = ('raid4', 'raid5', 'raid6', 'raid10')
_LEVELS = ('linear', 'raid0', 'raid1', *_NEED_ALL_SLOTS)
# The states (array_state) of an array that runs; any other word makes its redundancy unknown.
_RUNNING = (
    'suspended',
    'readonly',
    'read-auto',
    'clean',
    'active',
    'write-pending',
    'active-idle',
)
# sync_action -> the activity of a group; any other word makes the redundancy unknown.
ACTIVITIES = {
    '': '',
    'idle': '',
    'frozen': '',
    'resync': 'resync',
    'recover': 'recover',
    'reshape': 'reshape',
    'check': 'check',
    'repair': 'repair',
}
# The flags in the state of a member; any other flag makes its state unknown.
_FLAGS = {
    '',
    'faulty',
    'in_sync',
    'write_mostly',
    'blocked',
    'spare',
    'write_error',
    'want_replacement',
    'replacement',
    'journal',
    'external_bbl',
    'failfast',
}
_WORD = 40


def array(name: str, devices: Devices) -> Group | None:
    """Return an md array; None if it was stopped, or if it is a container that only holds disks
    for other arrays.
    """
    folder = f'{devices.system.sys}/block/{name}/md'
    used = devices.used.get(name, ())
    # Members and doubts are read first. An array that is stopped before that has no members. If it
    # is stopped after that, the next files cannot be read, so its redundancy is unknown.
    action = text_of(f'{folder}/sync_action')
    doubted = tuple(doubts.of_array(_reader_of(folder), is_swap=used == ('swap',)))
    members = _members(name, action, devices)
    level = text_of(f'{folder}/level')
    layout = text_of(f'{folder}/layout')
    slots = min(_number(text_of(f'{folder}/raid_disks')) or 0, MOST_MEMBERS)
    state = text_of(f'{folder}/array_state')
    unknown = _why_unknown(level, action, state, slots, layout)
    # A container has "external:imsm", an array in a container "external:/md127/0".
    is_container = re.match('external:(?!/)', text_of(f'{folder}/metadata_version'))
    if is_container or not members:
        return None
    if level in _NEED_ALL_SLOTS and not unknown:
        members += _missing(slots, members)
    members.sort(key=_place)
    activity = ACTIVITIES.get(action, '')
    group = Group(
        id=name,
        name=name,
        kind='md',
        level='' if unknown else level,
        slots=slots,
        layout=_number(layout) or 0,
        members=tuple(members),
        activity=activity,
        progress=_progress(text_of(f'{folder}/sync_completed')) if activity else None,
        used_as=used,
        unknown=unknown,
    )
    # without redundancy, no other member has the data anyway
    return group._replace(doubts=doubted) if is_redundant(group) else group


def _place(member: Member) -> float:
    """Return a key that sorts members by slot, those without a slot last."""
    return float('inf') if member.slot is None else member.slot


def _reader_of(folder: str) -> doubts.ReadFile:
    """Return a function that returns the content of a file of a folder; UNREAD if it cannot be
    read.
    """
    return lambda file: text_of(f'{folder}/{file}', unread=doubts.UNREAD)


def md_members(array: str, devices: Devices) -> list[str]:
    """Return the kernel's names of an array's devices."""
    return [
        name[4:]
        for name in names_in(f'{devices.system.sys}/block/{array}/md')
        if name.startswith('dev-')
    ]


def _why_unknown(level: str, action: str, state: str, slots: int, layout: str) -> str:
    """Return why the redundancy of an array is unknown, as a clause; '' if it is known."""
    if level and level not in _LEVELS:
        return f'this version does not know the md level "{clean(level, _WORD)}"'
    if state and state not in _RUNNING:
        return f'md reports the state "{clean(state, _WORD)}"'
    has_layout = layout or level != 'raid10'
    if not (level and slots and state and has_layout):
        return (
            'its level, layout, state or number of members could not be read from /sys'
        )
    if action not in ACTIVITIES:
        return f'md reports the activity "{clean(action, _WORD)}"'
    return ''


def _members(array: str, action: str, devices: Devices) -> list[Member]:
    """Return the devices of an array as members. action: content of the file sync_action."""
    md = f'{devices.system.sys}/block/{array}/md'
    level = text_of(f'{md}/level')
    members = []
    for name in md_members(array, devices):
        folder = f'{md}/dev-{name}'
        md_state = text_of(f'{folder}/state')  # "in_sync,write_error"
        flags = md_state.split(',')
        slot = _number(text_of(f'{folder}/slot'))
        is_rebuilding = slot is not None and action in ('recover', 'resync', 'reshape')
        member = devices.member(name, _state(flags, is_rebuilding), slot)
        doubted = tuple(doubts.of_md_member(md_state, level, _reader_of(folder)))
        if not os.path.exists(f'{folder}/block'):
            # The device is gone, and by now, another device may have its name.
            member = member._replace(state='missing', on=())
        # The state of the member is settled here. Its detail has md's own words if they differ from
        # this state, such as "in_sync" for a missing member.
        detail = '' if md_state == member.state else md_state.replace(',', ', ')
        members.append(
            member._replace(
                doubts=doubted,
                role='journal' if 'journal' in flags else '',
                detail=detail,
            )
        )
    return members


def _state(flags: list[str], is_rebuilding: bool) -> str:
    """Return the state of a device, as in Member, by md's flags. is_rebuilding: a rebuild of the
    array runs, and the device has a slot.

    `faulty` has precedence: md adds it to `in_sync` for a bad block.
    """
    if 'faulty' in flags:
        return 'faulty'
    if not _FLAGS.issuperset(flags):
        return 'unknown'
    if 'journal' in flags:  # a journal contains no copy, and the array works without it
        return 'spare'
    if 'in_sync' in flags:
        return 'in_sync'
    if 'spare' in flags:
        return 'rebuilding' if is_rebuilding else 'spare'
    return 'unknown'


def _missing(slots: int, members: Sequence[Member]) -> list[Member]:
    """Return a missing member for each empty slot, except for the slots that faulty devices had.

    md takes the slot from a faulty device and does not show which slot it was. So the first empty
    slots count as those of the faulty devices without a slot, one for each device.
    """
    filled = {member.slot for member in members}
    empty = [slot for slot in range(slots) if slot not in filled]
    faulty_without_slot = [
        member for member in members if member.state == 'faulty' and member.slot is None
    ]
    return [Member('', 'missing', slot) for slot in empty[len(faulty_without_slot) :]]


def with_removed(
    group: Group, notes: Mapping[str, Mapping[str, str]], devices: Devices
) -> Group:
    """Return an array, completed with removed devices that still have the array's UUID, as missing
    members; unchanged if its UUID is not known. The members are sorted by slot.

    Each removed device replaces a missing member without a name. With 1 removed device and 2 such
    members, the second one stays. With 2 removed devices and 1 such member, the array gets both
    devices, and has one more member. notes: udev's, by device.
    """
    uuid = udev_notes(group.id, devices).get('MD_UUID', '').replace(':', '')
    if not uuid:
        return group
    removed = []
    # another path to a member is not a removed device
    disks_of_members = {disk for member in group.members for disk in member.on}
    for name, properties in notes.items():
        is_of_md = properties.get('ID_FS_TYPE') == 'linux_raid_member'
        has_uuid = uuid == properties.get('ID_FS_UUID', '').replace('-', '')
        member = devices.member(name, 'missing')
        if is_of_md and has_uuid and disks_of_members.isdisjoint(member.on):
            removed.append(member)
    named = [member for member in group.members if member.name]
    nameless = [member for member in group.members if not member.name]
    # Each removed device replaces one of the first members without a name.
    members = (*named, *nameless[len(removed) :], *removed)
    return group._replace(members=tuple(sorted(members, key=_place)))


def _number(text: str) -> int | None:
    """Return the number, of at most nine digits, at the start of a text: 4 for "4 (3)"; None
    without a number.
    """
    match = re.match('([0-9]{1,9})(?![0-9])', text)
    return int(match[1]) if match else None


def _progress(completed: str) -> float | None:
    """Return the progress in % from "123 / 456"; None before the start ("none", "delayed")."""
    match = re.fullmatch('([0-9]{1,20}) / (0*[1-9][0-9]{0,19})', completed)
    return min(100 * int(match[1]) / int(match[2]), 100.0) if match else None


# --- btrfs ----------------------------------------------------------------------------------------

# Profile -> level, weakest first. raid1 and raid10 of btrfs lose data with any second device.
_PROFILES = {
    'raid0': 'raid0',
    'single': 'single',
    'dup': 'dup',
    'raid5': 'btrfs-raid5',
    'raid1': 'btrfs-raid1',
    'raid10': 'btrfs-raid10',
    'raid6': 'btrfs-raid6',
    'raid1c3': 'raid1c3',
    'raid1c4': 'raid1c4',
}


def file_systems(devices: Devices) -> list[Group]:
    """Return each mounted btrfs file system."""
    return [
        _file_system(name, devices)
        for name in names_in(f'{devices.system.sys}/fs/btrfs')
        if re.fullmatch('[0-9a-f-]{36}', name)
    ]


def btrfs_members(group: str, devices: Devices) -> list[str]:
    """Return the kernel's names of the devices of a file system. group: such as "btrfs UUID"."""
    return names_in(f'{devices.system.sys}/fs/{group.replace(" ", "/")}/devices')


def _file_system(uuid: str, devices: Devices) -> Group:
    """Return a mounted btrfs file system. Its name is its label, else a mount point, else its UUID."""
    folder = f'{devices.system.sys}/fs/btrfs/{uuid}'
    group_id = f'btrfs {uuid}'
    names = btrfs_members(group_id, devices)
    entries = [f'{folder}/devinfo/{number}' for number in names_in(f'{folder}/devinfo')]
    is_replacing = any(text_of(f'{entry}/replace_target') == '1' for entry in entries)
    # The target of a replacement is among the members, and has a slot, because /sys does not show
    # which device is the target.
    members = devices.members(names, Kind('btrfs'))
    # a missing device has an entry, but no name
    members += [Member('', 'missing', slot) for slot in range(len(names), len(entries))]
    errors = [text_of(f'{entry}/error_stats') for entry in entries]
    has_all_entries = bool(entries) and len(entries) >= len(names)
    has_all_errors = all(text.startswith('write_errs ') for text in errors)
    level, unknown = _btrfs_level(
        _profiles(folder), has_states=has_all_entries and has_all_errors
    )
    used = tuple(
        dict.fromkeys(use for name in names for use in devices.used.get(name, ()))
    )
    label = text_of(f'{folder}/label')
    return Group(
        id=group_id,
        name=label or (used[0] if used else uuid),
        kind='btrfs',
        level=level,
        slots=len(members),
        members=tuple(members),
        activity='replace' if is_replacing else '',
        used_as=used,
        missing=_further_missing(entries, members),
        unknown=unknown,
        doubts=tuple(doubts.of_btrfs_devices('\n'.join(errors))),
    )


def _further_missing(entries: Sequence[str], members: Sequence[Member]) -> int:
    """Return the number of missing devices that are not among the members with the state "missing":
    1 if btrfs reports 3 missing devices, and 2 members are missing.

    entries: the folder of each device in devinfo. Unless its file "missing" is 0, it is missing.
    """
    reported = sum(text_of(f'{entry}/missing') != '0' for entry in entries)
    in_members = sum(member.state == 'missing' for member in members)
    return max(reported - in_members, 0)


def _profiles(folder: str) -> set[str]:
    """Return the profiles that hold data or metadata: several during a conversion, and none if some
    of them cannot be read.
    """
    is_mixed = os.path.isdir(f'{folder}/allocation/mixed')
    kinds = ('mixed', 'system') if is_mixed else ('data', 'metadata', 'system')
    used = set()
    for kind in kinds:
        space = f'{folder}/allocation/{kind}'
        # Each folder is a profile, and the files are facts about the space. A profile that this
        # version does not know is recognized by the files in its folder.
        profiles = [
            name
            for name in names_in(space)
            if name in _PROFILES or names_in(f'{space}/{name}')
        ]
        # A space without profiles has 0 bytes, unless its profiles cannot be read.
        if not profiles and text_of(f'{space}/total_bytes') != '0':
            return set()
        for profile in profiles:
            # If this file cannot be read, the profile counts as used.
            if text_of(f'{space}/{profile}/used_bytes') != '0':
                used.add(profile)
    return used


def _btrfs_level(profiles: set[str], has_states: bool) -> tuple[str, str]:
    """Return the weakest level and '', or '' and why the level is unknown. has_states: /sys has the
    states of all devices.
    """
    unknown = sorted(profiles - set(_PROFILES))
    if unknown:
        name = clean(unknown[0], _WORD)
        return '', f'this version does not know the btrfs profile "{name}"'
    if not profiles:
        return '', 'its profiles could not be read from /sys'
    if not has_states:
        return '', 'the states of its devices could not be read from /sys'
    # _PROFILES has the weakest first
    weakest = next(profile for profile in _PROFILES if profile in profiles)
    return _PROFILES[weakest], ''
