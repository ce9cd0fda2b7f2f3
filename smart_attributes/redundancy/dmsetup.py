"""Parse the output of `dmsetup status`, which root can run: the level and state of LVM's RAID
volumes.

Sources: Linux, Documentation/admin-guide/device-mapper/dm-raid.rst, drivers/md/dm-raid.c
(raid_status).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ..errors import Coded
from ..model import Group, Member
from ..reading import system as linux
from ..reading.system import LINUX, System, text_of
from ..typed import NamedTuple
from . import doubts

# --noflush: do not first write the state of other targets to disk.
COMMAND = ('dmsetup', 'status', '--target', 'raid', '--noflush')
_NOT_REPORTED = 'its level and state are not in /sys, and dmsetup did not report them'
_NOT_UNDERSTOOD = 'the output of dmsetup status is not understood'
_TWICE = 'dmsetup reports that this volume contains more than one RAID'
_LINE = '(.+): [0-9]+ [0-9]+ raid(?: (.*?))? *'
_RAID = (
    '(?P<level>raid[0-9]+)(?:_[a-z0-9_]+)? (?P<devices>[0-9]{1,3}) (?P<health>[AaD-]+) '
    '(?P<done>[0-9]{1,20})/(?P<total>[0-9]{1,20}) (?P<sync_action>[a-z]+) '
    '(?P<mismatch_cnt>[0-9]+)(?: [0-9]+(?: [AD-])?)?'
)
# Level of raid_type -> level. Only dmsetup table shows the layout of raid10, but one member may
# fail in any layout.
_LEVELS = {
    'raid0': 'raid0',
    'raid1': 'raid1',
    'raid4': 'raid4',
    'raid5': 'raid5',
    'raid6': 'raid6',
    'raid10': 'raid10-unknown-layout',
}
# Character in health_chars -> state of a member.
_STATES = {'A': 'in_sync', 'a': 'rebuilding', 'D': 'faulty', '-': 'missing'}
# sync_action -> the activity of a group; any other word makes the redundancy unknown.
ACTIVITIES = {
    'idle': '',
    'frozen': '',
    'resync': 'resync',
    'recover': 'recover',
    'reshape': 'reshape',
    'check': 'check',
    'repair': 'repair',
}
_ACTIVITIES = {'init': 'resync', **ACTIVITIES}


class Status(NamedTuple):
    """The state of a RAID volume as the device mapper reports it."""

    level: str  # '' if it is not known
    health: str = ''  # one character for each member, in order
    activity: str = ''  # as in Group
    progress: float | None = None  # progress of the activity, %
    unknown: str = ''  # why the level is not known
    doubts: tuple[str, ...] = ()  # as in Group


def statuses(text: str) -> Mapping[str, Status]:
    """Return the state of each RAID volume by its device mapper name, from the output of
    `dmsetup status`. Pure.
    """
    states: dict[str, Status] = {}
    for line in text.split('\n'):
        match = re.fullmatch(_LINE, line)
        if match:
            name = match[1]
            is_second = name in states
            states[name] = (
                Status('', unknown=_TWICE) if is_second else _status(match[2] or '')
            )
    return states


def _status(values: str) -> Status:
    """Return the state of a RAID volume from the values in its line."""
    match = re.fullmatch(_RAID, values)
    if not match:
        return Status('', unknown=_NOT_UNDERSTOOD)
    health, action, total = match['health'], match['sync_action'], int(match['total'])
    is_whole = int(match['devices']) == len(health)
    if match['level'] not in _LEVELS or action not in _ACTIVITIES or not is_whole:
        return Status('', unknown=_NOT_UNDERSTOOD)
    activity = _ACTIVITIES[action]
    status = Status(_LEVELS[match['level']], health, activity)
    if activity and total:
        status = status._replace(progress=min(100.0, 100 * int(match['done']) / total))
    if activity in ('resync', 'reshape'):
        # During these activities, dm-raid shows the same character for all working members.
        why = f'a {activity} is running, and dm-raid does not report which members are complete'
        return status._replace(level='', unknown=why)
    return status._replace(doubts=tuple(doubts.of_dm_raid(match.groupdict())))


def with_status(group: Group, status: Status) -> Group:
    """Return a volume, completed with its state.

    A member keeps its old state if the old state is worse. Pure.
    """
    places = {
        member.slot: member for member in group.members if member.slot is not None
    }
    slots = set(range(len(status.health)))
    is_same = len(places) == len(group.members) and places.keys() <= slots
    unknown = status.unknown or (
        '' if is_same else 'dmsetup and /sys report different members'
    )
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
        member = places.get(slot, Member('', 'missing', slot))
        members.append(_member(member, _STATES[letter]))
    return group._replace(
        slots=len(members), members=tuple(members), doubts=status.doubts
    )


def _member(member: Member, state: str) -> Member:
    """Return a member with a new state, unless /sys shows that the member is gone."""
    if member.state in ('faulty', 'missing') and state != 'faulty':
        return member
    return member._replace(state=state)


def completed(
    before: Iterable[Group],
    system: System = LINUX,
    _drives: object = (),
) -> tuple[tuple[Group, ...], tuple[Coded, ...], tuple[()]]:
    """Return three values: the groups, in which LVM volumes of unknown level are completed; notes;
    and no slots.
    """
    groups = tuple(before)
    asked = [group for group in groups if group.kind == 'lvm' and not group.level]
    if not asked:
        return groups, (), ()
    text, why = linux.output(COMMAND)
    states = statuses(text)
    made = {}
    for group in asked:
        name = text_of(f'{system.sys}/block/{group.id}/dm/name')
        made[group.id] = with_status(
            group, states.get(name, Status('', unknown=_NOT_REPORTED))
        )
    problem = Coded(
        'dmsetup-status-missing', f'the redundancy of LVM volumes is unknown: {why}'
    )
    completed_groups = tuple(made.get(group.id, group) for group in groups)
    return completed_groups, (problem,) if why else (), ()
