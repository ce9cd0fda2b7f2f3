"""Parse the output of `dmsetup status`, which root can run: the level and state of LVM's RAID volumes
and mirrors.

Sources: Linux, Documentation/admin-guide/device-mapper/dm-raid.rst, drivers/md/dm-raid.c
(raid_status) and drivers/md/dm-raid1.c (mirror_status).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from ..errors import Coded
from ..model import Group, Member
from ..reading import system as linux
from ..reading.system import LINUX, System, text_of
from ..typed import NamedTuple
from . import doubts

# --noflush: do not first write the state of other targets to disk.
COMMAND = ('dmsetup', 'status', '--target', 'raid', '--noflush')
# LVM's older mirrors, which LVM has built instead of raid1 until 2012, and on request since
COMMAND_OF_MIRRORS = ('dmsetup', 'status', '--target', 'mirror', '--noflush')
_NOT_REPORTED = 'its level and state are not in /sys, and dmsetup did not report them'
_NOT_UNDERSTOOD = 'the output of dmsetup status is not understood'
_TWICE = 'dmsetup reports that this volume contains more than one RAID'
_LINE = '(.+): [0-9]+ [0-9]+ raid(?: (.*?))? *'
_RAID = (
    '([a-z0-9_]+) ([0-9]{1,3}) ([AaD-]+) ([0-9]{1,20})/([0-9]{1,20}) ([a-z]+) '
    '([0-9]+)(?: [0-9]+(?: [AaD-])?)?'
)
_FIELDS = (
    'raid_type',
    '#devices',
    'health_chars',
    'sync_ratio',
    'sync_action',
    'mismatch_cnt',
    'data_offset',
    'journal_char',
)
# raid_type -> level. Only dmsetup table shows the layout of raid10, but one member may fail in any
# layout.
_LEVELS = {
    'raid0': 'raid0',
    'raid0_meta': 'raid0',
    'raid1': 'raid1',
    'raid4': 'raid4',
    'raid5_n': 'raid5',
    'raid5_la': 'raid5',
    'raid5_ra': 'raid5',
    'raid5_ls': 'raid5',
    'raid5_rs': 'raid5',
    'raid6_zr': 'raid6',
    'raid6_nr': 'raid6',
    'raid6_nc': 'raid6',
    'raid6_n_6': 'raid6',
    'raid6_la_6': 'raid6',
    'raid6_ra_6': 'raid6',
    'raid6_ls_6': 'raid6',
    'raid6_rs_6': 'raid6',
    'raid10': 'raid10-unknown-layout',
    'raid10_near': 'raid10-unknown-layout',
    'raid10_far': 'raid10-unknown-layout',
    'raid10_offset': 'raid10-unknown-layout',
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
    doubts: tuple[Coded, ...] = ()  # as in Group


def statuses(text: str) -> Mapping[str, Status]:
    """Return the state of each RAID volume by its device mapper name, from the output of
    `dmsetup status`. Pure.
    """
    return _by_name(text, _LINE, _status)


def _by_name(
    text: str,
    pattern: str,
    status_of: Callable[[re.Match[str]], Status],
) -> Mapping[str, Status]:
    """Return the state of each volume by its name. pattern: of a line, which begins with the name."""
    states: dict[str, Status] = {}
    for line in text.split('\n'):
        match = re.fullmatch(pattern, line)
        if match:
            name = match[1]
            is_second = name in states
            states[name] = Status('', unknown=_TWICE) if is_second else status_of(match)
    return states


def _status(line: re.Match[str]) -> Status:
    """Return the state of a RAID volume from its line."""
    values = line[2] or ''
    match = re.fullmatch(_RAID, values)
    if not match:
        return Status('', unknown=_NOT_UNDERSTOOD)
    raid_type, devices, health, done, total, action, _ = match.groups()
    if raid_type not in _LEVELS or action not in _ACTIVITIES or int(devices) != len(health):
        return Status('', unknown=_NOT_UNDERSTOOD)
    activity = _ACTIVITIES[action]
    progress = None
    if activity and int(total):
        progress = min(100.0, 100 * int(done) / int(total))
    if activity in ('resync', 'reshape'):
        # During these activities, dm-raid shows the same character for all working members.
        why = f'a {activity} is running, and dm-raid does not report which members are complete'
        return Status(
            level='',
            health=health,
            activity=activity,
            progress=progress,
            unknown=why,
        )
    fields = dict.fromkeys(_FIELDS, '')
    fields.update(zip(_FIELDS, values.split(' ')))
    doubted = tuple(doubts.of_dm_raid(fields))
    return Status(
        level=_LEVELS[raid_type],
        health=health,
        activity=activity,
        progress=progress,
        doubts=doubted,
    )


# Number of copies, their devices, regions in sync, one character for each copy, the log.
_MIRROR_LINE = (
    '(.+): [0-9]+ [0-9]+ mirror ([0-9]{1,3}) (?:[0-9]+:[0-9]+ )+([0-9]{1,20})/([0-9]{1,20}) 1 '
    '([A-Z]+) .*'
)


def statuses_of_mirrors(text: str) -> Mapping[str, Status]:
    """Return the state of each mirror by its device mapper name, as statuses(). Pure."""
    return _by_name(text, _MIRROR_LINE, _status_of_mirror)


def _status_of_mirror(line: re.Match[str]) -> Status:
    """Return the state of a mirror from its line."""
    copies, done, total = (int(line[place]) for place in (2, 3, 4))  # regions in sync, and all
    health = line[5]
    if copies != len(health) or not 0 < total >= done:
        return Status('', unknown=_NOT_UNDERSTOOD)
    if done < total:
        why = 'a resync is running, and only one of its copies is complete'
        return Status(
            level='',
            health=health,
            activity='resync',
            progress=100 * done / total,
            unknown=why,
        )
    if set(health) != {'A'}:
        return Status('', health, unknown=f'dmsetup reports errors of its copies ({health})')
    return Status('raid1', health)


def with_status(group: Group, status: Status) -> Group:
    """Return a volume, completed with its state.

    A member keeps its old state if the old state is worse. Pure.
    """
    places = {member.slot: member for member in group.members if member.slot is not None}
    slots = set(range(len(status.health)))
    is_same = len(places) == len(group.members) and places.keys() <= slots
    unknown = status.unknown or ('' if is_same else 'dmsetup and /sys report different members')
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
    return group._replace(slots=len(members), members=tuple(members), doubts=status.doubts)


def _member(member: Member, state: str) -> Member:
    """Return a member with a new state, unless /sys shows that the member is gone."""
    if member.state in ('faulty', 'missing') and state != 'faulty':
        return member
    return member._replace(state=state)


def completed(
    before: Iterable[Group],
    system: System = LINUX,
    _verdicts: object = (),
) -> tuple[tuple[Group, ...], tuple[Coded, ...]]:
    """Return the groups, in which LVM volumes of unknown level are completed, and the notes."""
    groups = tuple(before)
    names = {
        group.id: text_of(f'{system.sys}/block/{group.id}/dm/name')
        for group in groups
        if group.kind == 'lvm' and not group.level
    }
    if not names:
        return groups, ()
    text, problem = ask()
    states = {**statuses(text)}
    if not problem and not states.keys() >= set(names.values()):
        text, problem = ask(COMMAND_OF_MIRRORS)
        states = {**statuses_of_mirrors(text), **states}
    made = []
    for group in groups:
        if group.id not in names:
            made.append(group)
            continue
        status = states.get(names[group.id], Status('', unknown=_NOT_REPORTED))
        made.append(with_status(group, status))
    return tuple(made), (problem,) if problem else ()


def ask(command: tuple[str, ...] = COMMAND) -> tuple[str, Coded]:
    """Return the output of dmsetup status, or '' and the reason for its absence."""
    text, why = linux.output(command)
    return text, Coded(
        'dmsetup-status-missing', f'the redundancy of LVM volumes is unknown: {why}' if why else ''
    )
