"""Read the arrays of Linux' md driver from /sys/block/mdN/md, and mounted btrfs file systems from /sys/fs/btrfs.

For btrfs, /sys does not have the number of each device, so errors and missing devices are counted but not named.
Sources: Linux, Documentation/admin-guide/md.rst; state_show, slot_show and array_state_show in drivers/md/md.c;
fs/btrfs/sysfs.c (devinfo since 5.6, error_stats since 5.14).
"""
from __future__ import annotations

import os
import re
from collections.abc import Sequence

from ..constants import LONGEST_GIVEN_NAME, MOST_MEMBERS
from ..errors import Coded
from ..model import Group, Member
from ..reading.system import names_in, text_of
from ..typed import TYPE_CHECKING
from ..words import argument, clean
from .block_devices import number_of
from .survival import doubt

if TYPE_CHECKING:
    from .block_devices import Devices

# Level -> whether each place needs a device. An array of level raid1 works with empty places: QNAP builds 32 for 4.
LEVELS = {'linear': False, 'raid0': False, 'raid1': False, 'raid4': True, 'raid5': True, 'raid6': True, 'raid10': True}
ACTIVITIES = ('recover', 'resync', 'reshape', 'check', 'repair')
_AT_REST = ('', 'idle', 'frozen')
_REBUILDING = ('recover', 'resync', 'reshape')
_RUNNING = ('suspended', 'readonly', 'read-auto', 'clean', 'active', 'write-pending', 'active-idle')
_WORD = 40
_REPAIR, _RESYNC = 'mdadm --action=repair /dev/{}', 'mdadm --readwrite /dev/{0}; mdadm --wait /dev/{0}'
# File of an array -> its content if all members have their data, why they may not, and the command that repairs it.
_DOUBTS = (
    ('journal_mode', r'(.*\[write-through\].*)?', 'its journal (write-back) has data that no member has yet',
     'echo write-through > /sys/block/{}/md/journal_mode'),
    ('reshape_position', '(none)?', 'a reshape has not ended', 'mdadm --grow --continue /dev/{}'),
    ('array_state', '(?!read-auto).*', 'a resync may be pending (read-auto)', _RESYNC),
    ('resync_start', '(none)?', 'a resync is pending or was interrupted', _RESYNC),
    ('mismatch_cnt', '0*', 'its members differ from each other (mismatch_cnt)', _REPAIR))
# The same for a file of one member, of which "state" is a list of flags.
_MEMBER_DOUBTS = (
    ('bad_blocks', '', 'has blocks that md cannot read', _REPAIR),
    ('unacknowledged_bad_blocks', '', 'has blocks that md cannot read', _REPAIR),
    ('state', '(?!.*(write_error|blocked)).*', 'could not store data', _REPAIR))
_FLAGS = frozenset(('', 'faulty', 'in_sync', 'write_mostly', 'blocked', 'spare', 'write_error', 'want_replacement',
                    'replacement', 'journal', 'external_bbl', 'failfast'))


def array(name: str, devices: Devices) -> Group | None:
    """Return an md array; None if it was stopped, or holds the disks of other arrays (a container) and no data."""
    md = f'{devices.system.sys}/block/{name}/md'
    text = {key: text_of(f'{md}/{key}') for key in
            ('level', 'raid_disks', 'layout', 'array_state', 'sync_action', 'sync_completed', 'metadata_version')}
    folders = [f'{md}/dev-{each}' for each in md_members(name, devices)]
    if not folders or re.match('external:(?!/)', text['metadata_version']):
        return None
    action = text['sync_action']
    activity = action if action in ACTIVITIES else ''
    slots = min(number_of(text['raid_disks']) or 0, MOST_MEMBERS)
    unknown = _unknown(text['level'], slots, text['layout'], text['array_state']) or (
        f'md reports the activity "{clean(action, _WORD)}"' if action not in (*ACTIVITIES, *_AT_REST) else '')
    members = [_member(folder, activity, devices)._replace(doubts=_doubts(_MEMBER_DOUBTS, folder, name))
               for folder in folders]
    if LEVELS.get(text['level']) and not unknown:
        members += _empty(slots, members)
    return Group(name, name, 'md', '' if unknown else text['level'], slots, number_of(text['layout']) or 0,
                 tuple(sorted(members, key=lambda each: (each.slot is None, each.slot or 0))), activity,
                 _progress(text['sync_completed']) if activity else None, devices.used.get(name, ()), unknown=unknown,
                 doubts=_doubts(_DOUBTS, md, name))


def _doubts(table: Sequence[tuple[str, str, str, str]], folder: str, array: str) -> tuple[Coded, ...]:
    """Return why data may be missing, each with the command that removes the doubt."""
    return tuple(doubt(why, command.format(array)) for file, form, why, command in table
                 if not re.fullmatch(form, text_of(f'{folder}/{file}'), re.DOTALL))


def md_members(name: str, devices: Devices) -> list[str]:
    """Return the kernel's names of an array's devices."""
    names = names_in(f'{devices.system.sys}/block/{name}/md')
    return [each[4:] for each in names if each.startswith('dev-')][:MOST_MEMBERS]


def _unknown(level: str, slots: int, layout: str, state: str) -> str:
    """Return why the redundancy of an array is not known, as a clause; '' if it is."""
    if level and level not in LEVELS:
        return f'this version does not know level "{clean(level, _WORD)}" of md'
    if state and state not in _RUNNING:
        return f'md reports the state "{clean(state, _WORD)}"'
    absent = [what for what, is_there in (('level', level), ('number of members', slots), ('state', state), (
        'layout', layout or level != 'raid10')) if not is_there]
    return f'its {absent[0]} could not be read from /sys' if absent else ''


def _member(folder: str, activity: str, devices: Devices) -> Member:
    text = text_of(f'{folder}/state')
    slot = number_of(text_of(f'{folder}/slot'))
    member = devices.member(os.path.basename(folder)[len('dev-'):],
                            _state(text.split(','), slot is not None and activity in _REBUILDING), slot)
    is_gone = os.path.islink(f'{folder}/block') and not os.path.exists(f'{folder}/block')
    member = member._replace(state='missing', on=()) if is_gone else member
    return member._replace(detail='' if text == member.state else text.replace(',', ', ')[:LONGEST_GIVEN_NAME])


def _state(flags: list[str], is_rebuilding: bool) -> str:
    """Return the state of a device by md's flags; faulty counts most, since md adds it to in_sync for a bad block."""
    if 'faulty' in flags:
        return 'faulty'
    if not _FLAGS.issuperset(flags):
        return 'unknown'
    if 'journal' in flags:   # it holds no copy, and the array can do without it
        return 'spare'
    if 'in_sync' in flags:
        return 'in_sync'
    return 'unknown' if 'spare' not in flags else 'rebuilding' if is_rebuilding else 'spare'


def _empty(slots: int, members: Sequence[Member]) -> list[Member]:
    """Return a member for each empty place. A faulty device has no place any more and counts as an empty one."""
    filled = {each.slot for each in members}
    empty = [Member('', 'missing', slot) for slot in range(slots) if slot not in filled]
    return empty[sum(each.state == 'faulty' and each.slot is None for each in members):]


def _progress(completed: str) -> float | None:
    """Return the progress in % from "123 / 456"; None if it has not begun ("none", "delayed")."""
    done, _, whole = completed.partition(' / ')
    if not (done.isdecimal() and whole.isdecimal()) or len(completed) > _WORD or not int(whole):
        return None
    return min(100 * int(done) / int(whole), 100.0)


# --- btrfs ------------------------------------------------------------------------------------------------

# Profile -> its level, weakest first. RAID1 and RAID10 of btrfs lose data with any second device.
PROFILES = {'raid0': 'raid0', 'single': 'single', 'dup': 'dup', 'raid5': 'btrfs-raid5', 'raid1': 'btrfs-raid1',
            'raid10': 'btrfs-raid10', 'raid6': 'btrfs-raid6', 'raid1c3': 'raid1c3', 'raid1c4': 'raid1c4'}
_SPACES = ('data', 'metadata', 'system', 'mixed')
_ERRORS = re.compile('_errs 0*[1-9]')
_DOUBT = 'btrfs has counted errors of its devices'
_REMEDY = 'btrfs scrub start -B {0} && btrfs device stats -z {0}'
_FILE_SYSTEMS = 256


def file_systems(devices: Devices) -> list[Group]:
    """Return each mounted btrfs file system, named by its label, else by a mount point, else by its UUID."""
    every = [each for each in names_in(f'{devices.system.sys}/fs/btrfs') if re.fullmatch('[0-9a-f-]{36}', each)]
    return [_file_system(uuid, devices) for uuid in every[:_FILE_SYSTEMS]]


def btrfs_members(group: str, devices: Devices) -> list[str]:
    """Return the kernel's names of the devices of a file system. group: its id, "btrfs UUID"."""
    return names_in(f'{devices.system.sys}/fs/{group.replace(" ", "/")}/devices')[:MOST_MEMBERS]


def _file_system(uuid: str, devices: Devices) -> Group:
    folder = f'{devices.system.sys}/fs/btrfs/{uuid}'
    names = btrfs_members(f'btrfs {uuid}', devices)
    entries = [f'{folder}/devinfo/{each}' for each in names_in(f'{folder}/devinfo')[:MOST_MEMBERS]]
    targets = {each for each in entries if text_of(f'{each}/replace_target') == '1'}
    gone = sum(text_of(f'{each}/missing') != '0' for each in entries if each not in targets)
    counters = [text_of(f'{each}/error_stats') for each in entries]
    # The target of a replacement counts like the others, since nobody knows which device it is.
    members = [devices.member(each, slot=slot) for slot, each in enumerate(names)]
    members += [Member('', 'missing', slot) for slot in range(len(names), len(entries))]
    level, unknown = _btrfs_level(_profiles(folder), bool(entries) and all(
        each.startswith('write_errs ') for each in counters))
    used = tuple(dict.fromkeys(use for each in names for use in devices.used.get(each, ())))
    name = text_of(f'{folder}/label')[:LONGEST_GIVEN_NAME] or (used[0] if used else uuid)
    doubts = (doubt(_DOUBT, _REMEDY.format(argument(used[0] if used else '', 'MOUNTPOINT'))),) if any(
        map(_ERRORS.search, counters)) else ()
    # A device that was pulled out is already counted as a member.
    missing = max(gone - sum(member.state == 'missing' for member in members), 0)
    return Group(f'btrfs {uuid}', name, 'btrfs', level, len(members), 0, tuple(members), 'replace' if targets else '',
                 None, used, missing, unknown, doubts)


def _profiles(folder: str) -> set[str]:
    """Return the profiles that hold data or metadata: several during a conversion. An empty one is left from mkfs."""
    places = [(name, f'{folder}/allocation/{space}/{name}')
              for space in _SPACES for name in names_in(f'{folder}/allocation/{space}')]
    return {name for name, place in places
            if (name in PROFILES or names_in(place))  # else it is a file
            and text_of(f'{place}/used_bytes') != '0'}


def _btrfs_level(profiles: set[str], has_states: bool) -> tuple[str, str]:
    """Return the weakest level, or '' and why it is not known. has_states: /sys has the states of all devices."""
    unheard = sorted(profiles - set(PROFILES))
    if unheard:
        return '', f'this version does not know profile "{clean(unheard[0], 40)}" of btrfs'
    if not has_states or not profiles:
        return '', f'{"the states of its devices" if profiles else "its profiles"} could not be read from /sys'
    return next(level for profile, level in PROFILES.items() if profile in profiles), ''
