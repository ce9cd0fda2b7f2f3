"""Parse the output of `dmsetup status`, which root can run: the level and state of LVM's RAID
volumes.

Sources: Linux, Documentation/admin-guide/device-mapper/dm-raid.rst, drivers/md/dm-raid.c
(raid_status).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..errors import Coded
from ..model import Group, Member
from ..reading import system as linux
from ..reading.system import System, text_of
from ..typed import NamedTuple
from . import doubts
from .arrays import ACTIVITIES
from .dependence import Seen
from .survival import TOLERANCE

# --noflush: do not first write the state of other targets to disk.
COMMAND = ('dmsetup', 'status', '--target', 'raid', '--noflush')
_RAID = (
    '(?P<level>raid[0-9]+)(?:_[a-z0-9_]+)? (?P<devices>[0-9]{1,3}) (?P<health>[AaD-]+) '
    '(?P<done>[0-9]{1,20})/(?P<total>[0-9]{1,20}) (?P<sync_action>[a-z]+) '
    '(?P<mismatch_cnt>[0-9]+)(?: [0-9]+(?: [AD-])?)?'
)
# Character in health_chars -> state of a member.
_STATES = {'A': 'in_sync', 'a': 'rebuilding', 'D': 'faulty', '-': 'missing'}
_ACTIVITIES = {'init': 'resync', **ACTIVITIES}


class Status(NamedTuple):
    """The state of a RAID volume as the device mapper reports it."""

    level: str  # '' if it is not known
    health: str = ''  # one character for each member, in order
    activity: str = ''  # as in Group
    progress: float | None = None  # progress of the activity, %
    unknown: str = ''  # why the level is not known
    doubts: tuple[str, ...] = ()  # as in Group


_NOT_UNDERSTOOD = Status('', unknown='the output of dmsetup status is not understood')
_NOT_REPORTED = Status(
    '', unknown='its level and state are not in /sys, and dmsetup did not report them'
)


def statuses(text: str) -> Mapping[str, Status]:
    """Return the state of each RAID volume by its device mapper name, from the output of
    `dmsetup status`. Pure.
    """
    states: dict[str, Status] = {}
    for line in text.split('\n'):
        # "vg0-home: 0 204800 raid raid1 2 AA 204800/204800 idle 0"
        match = re.fullmatch('(.+): [0-9]+ [0-9]+ raid(?: (.*?))? *', line)
        if not match:
            continue
        # a RAID volume of LVM has one segment, so one line
        name, values = match.groups('')
        states[name] = _status(values)
    return states


def _status(values: str) -> Status:
    """Return the state of a RAID volume from the values in its line; with an empty level, and why
    it is unknown, for values that this version does not know.
    """
    match = re.fullmatch(_RAID, values)
    if not match:
        return _NOT_UNDERSTOOD
    health = match['health']
    action = match['sync_action']
    total = int(match['total'])
    has_all_members = int(match['devices']) == len(health)
    level = match['level']
    if level == 'raid10':
        # Only dmsetup table shows its layout, but one member may fail in any layout.
        level = 'raid10-unknown-layout'
    is_known = level in TOLERANCE and action in _ACTIVITIES
    if not is_known or not has_all_members:
        return _NOT_UNDERSTOOD
    activity = _ACTIVITIES[action]
    progress = None
    if activity and total:
        progress = min(100.0, 100 * int(match['done']) / total)
    status = Status(level, health, activity, progress)
    if activity in ('resync', 'reshape'):
        # During these activities, dm-raid shows the same character for all working members.
        why = f'a {activity} is running, and dm-raid does not report which members are in sync'
        return status._replace(level='', unknown=why)
    return status._replace(doubts=tuple(doubts.of_dm_raid(match.groupdict())))


def with_status(group: Group, status: Status) -> Group:
    """Return a volume of unknown level (*group*), completed with what dmsetup reports about it.
    Pure.

    The level stays unknown if dmsetup does not report it, or reports other members than /sys. A
    member that is missing according to /sys stays missing, unless dmsetup reports it as faulty.
    """
    member_in = {member.slot: member for member in group.members}
    slots = set(range(len(status.health)))
    unknown = status.unknown
    if not unknown and not member_in.keys() <= slots:
        unknown = 'dmsetup and /sys report different members'
    group = group._replace(
        level='' if unknown else status.level,
        unknown=unknown,
        activity=status.activity,
        progress=status.progress,
    )
    if unknown:
        return group
    members = []
    for slot, letter in enumerate(status.health):
        member = member_in.get(slot, Member('', 'missing', slot))
        reported = _STATES[letter]
        if member.state != 'missing' or reported == 'faulty':
            member = member._replace(state=reported)
        members.append(member)
    return group._replace(
        slots=len(members), members=tuple(members), doubts=status.doubts
    )


def completed(view: Seen, system: System, _drives: object = ()) -> Seen:
    """Return what was seen, with the LVM volumes of unknown level completed, and a note if dmsetup
    failed. It is unchanged if there are no such volumes.

    _drives: not used; each module in dependence.PROGRAMS has such a function.
    """
    groups = {group.id: group for group in view.groups}
    asked = [
        group for group in groups.values() if group.kind == 'lvm' and not group.level
    ]
    if not asked:
        return view
    text, why = linux.output(COMMAND)
    states = statuses(text)
    for group in asked:
        name = text_of(f'{system.sys}/block/{group.id}/dm/name')
        groups[group.id] = with_status(group, states.get(name, _NOT_REPORTED))
    notes = view.notes
    if why:
        problem = f'the redundancy of LVM volumes is unknown: {why}'
        notes = (*notes, Coded('dmsetup-status-missing', problem))
    return view._replace(groups=tuple(groups.values()), notes=notes)
