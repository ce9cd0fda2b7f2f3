"""Read the arrays of Linux' md driver from /sys/block/mdN/md.

Source: Linux, Documentation/admin-guide/md.rst, and state_show, slot_show and array_state_show in drivers/md/md.c.
"""
from __future__ import annotations

import os
import re

from ..model import Group, Member
from ..typed import TYPE_CHECKING
from ..words import clean
from .block_devices import MEMBERS, NAME, names_in, number_of, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .block_devices import Devices

# Level -> whether each place needs a device. An array of level raid1 works with empty places: QNAP builds 32 for 4.
LEVELS = {'linear': False, 'raid0': False, 'raid1': False, 'raid4': True, 'raid5': True, 'raid6': True, 'raid10': True}
ACTIVITIES = ('recover', 'resync', 'reshape', 'check', 'repair')
_AT_REST = ('', 'idle', 'frozen')
_REBUILDING = ('recover', 'resync', 'reshape')
_RUNNING = ('suspended', 'readonly', 'read-auto', 'clean', 'active', 'write-pending', 'active-idle')
_WORD = 40
_REPAIR, _RESYNC = 'echo repair > /sys/block/{}/md/sync_action', 'mdadm --readwrite /dev/{0}; mdadm --wait /dev/{0}'
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
    folders = [f'{md}/dev-{each}' for each in members_of(name, devices)]
    if not folders or re.match('external:(?!/)', text['metadata_version']):
        return None
    action = text['sync_action']
    activity = action if action in ACTIVITIES else ''
    slots = min(number_of(text['raid_disks']) or 0, MEMBERS)
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


def _doubts(table: Sequence[tuple[str, str, str, str]], folder: str, array: str) -> tuple[str, ...]:
    """Return why data may be missing, each with the command that removes the doubt."""
    return tuple(f'{why}; run: {command.format(array)}' for file, form, why, command in table
                 if not re.fullmatch(form, text_of(f'{folder}/{file}'), re.DOTALL))


def members_of(name: str, devices: Devices) -> list[str]:
    """Return the kernel's names of an array's devices."""
    return [each[4:] for each in names_in(f'{devices.system.sys}/block/{name}/md') if each.startswith('dev-')][:MEMBERS]


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
    return member._replace(detail='' if text == member.state else text.replace(',', ', ')[:NAME])


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
