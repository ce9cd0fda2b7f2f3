"""Sentences about groups of drives, with the codes of codes.json. Pure."""
from __future__ import annotations

from collections.abc import Sequence

from ..errors import Coded
from ..model import Group, Member
from ..wording import listed, plural
from ..words import argument, clean, sentence
from .survival import TOLERANCE

KINDS = {'lvm': 'LVM', 'luks': 'LUKS', 'zfs': 'ZFS', 'btrfs': 'btrfs', 'ceph': 'Ceph', 'multipath': 'multipath',
         'dm': 'device mapper'}
BUSY = {'recover': 'rebuilding', 'resync': 'resyncing', 'reshape': 'reshaping', 'replace': 'replacing a member',
        'check': 'being checked', 'repair': 'being repaired'}


def named(group: Group, *more: str) -> str:
    """Return a group as "md0 (raid1, /srv)". more: further words for the parentheses."""
    words = [of_level(group.kind, group.level), *group.used_as[:2], *more]
    told = ', '.join(clean(word, limit=60) for word in words if word)
    return f'{clean(group.name, limit=60)} ({told})' if told else clean(group.name, limit=60)


def of_level(kind: str, level: str) -> str:
    """Return the kind and the level of a group in words: "LVM raid1", "raid5"."""
    level = '' if level == 'single' else level.replace('btrfs-', '').replace('-unknown-layout', '')
    return ' '.join(part for part in (KINDS.get(kind, ''), level) if part)


def tolerance(group: Group, left: int | None) -> str:
    """Return a group and how many further members it can lose. left: this number; None if unknown."""
    if left is None:
        return f'{named(group, *_faults(group))}, redundancy not known'
    doing = f', {BUSY.get(group.activity, group.activity)}' if group.activity else ''
    return f'{named(group, *_faults(group))}{doing}, {losses(left, group.level)}'


def losses(left: int, level: str) -> str:
    """Return how many further members a group can lose, in words. left: negative if it has lost too many."""
    if TOLERANCE.get(level) == 0:
        return 'no redundancy'
    if left < 0:
        return 'has more failing or missing members than it tolerates'
    return f'tolerates {left or "no"} further {"loss" if left < 2 else "losses"}'


def busy(group: Group) -> Coded:
    """Return that a group is not complete until its activity ends."""
    done = '' if group.progress is None else f' {group.progress:.0f} %'
    return Coded('group-rebuilding', f'{named(group)} is {BUSY.get(group.activity, group.activity)} '
                                     f'({group.activity}{done}): wait', group=group.id)


def last_copy(group: Group, is_dying: bool) -> Coded:
    """Return that a group has no other copy of the data on a drive. is_dying: a drive that it needs is failing."""
    bad = [clean(member.name, limit=40) for member in group.members if member.name and _is_bad(member.state)]
    first = f'replace {", ".join(bad)}' if bad else 'add a new member'
    todo = f'copy the data first, then {first}' if is_dying else f'{first} first'
    return Coded('last-good-copy', f'last good copy of {named(group, *_faults(group))}: {todo}, do not pull this drive',
                 group=group.id)


def _is_bad(state: str) -> bool:
    return state not in ('in_sync', 'spare')


def _faults(group: Group) -> list[str]:
    """Return the members that are not in sync, each with its state: "sdb1 faulty", "1 member missing"."""
    told = [f'{f"{member.role} device " if member.role else ""}{clean(member.name, limit=40)} {member.state}'
            for member in group.members if member.name and _is_bad(member.state)]
    gone = group.missing + sum(not member.name for member in group.members)
    return [*told[:3], *([f'{plural(gone, "member")} missing'] if gone else [])]


def copied_first(group: Group, name: str) -> Coded:
    """Return that the only copy of the data is on a failing drive, and must be copied before any rebuild."""
    return Coded('copy-other-first', f'the only copy of {named(group, *_faults(group))} is on {name}, which is '
                                     'failing: copy it before you rebuild anything', group=group.id, first=name)


def other_first(group: Group, first: str, are_failing: bool) -> Coded:
    """Return that another drive comes first. are_failing: both drives are failing."""
    code, words = (('second-failing-member', f'second failing member of {named(group)}') if are_failing else
                   ('other-drive-first', f'{named(group)} has another member to replace'))
    return Coded(code, f'{words}: replace {first} first', group=group.id, first=first)


def at_risk(group: Group, drive: str) -> Coded:
    """Return that a group cannot lose all its failing members."""
    return Coded('data-at-risk', f'{named(group)} has more failing members than it tolerates: copy the data first, '
                                 f'then replace {drive}', group=group.id)


def may_be_replaced(group: Group) -> Coded:
    """Return that a group has the data on other members."""
    return Coded('replace-next', f'{named(group)} has its data on other members, too: replace this drive, then wait '
                                 f'until {clean(group.name, limit=60)} is rebuilt', group=group.id)


def doubtful(group: Group, doubt: str) -> Coded:
    """Return that other members of a group may not hold its data. doubt: why, and the command to find out."""
    return Coded('redundancy-doubtful', f'the data of {named(group)} may be missing on its other members, because '
                                        f'{sentence(doubt, 300)}', group=group.id)


def unchecked(group: Group, names: Sequence[str]) -> Coded:
    """Return that members of a group were not checked. names: of their drives."""
    return Coded('members-not-checked', f'{named(group)} has members on {listed(names, 3)}, which '
                 f'{"was" if len(names) == 1 else "were"} not checked: check all members in one run, then decide: '
                 'check_smart_attributes triage', group=group.id, unchecked=list(names))


def not_used(group: Group, is_dropped: bool = True) -> Coded:
    """Return that a group needs nothing on a drive. is_dropped: False for a spare, or if not yet rebuilt."""
    told = ('no longer uses this drive: replace it, or add it again if only its cable was at fault' if is_dropped else
            'needs no data on this drive: replace it')
    return Coded('member-not-used', f'{named(group, *_faults(group))} {told}', group=group.id)


def only_aside(group: Group, members: Sequence[Member]) -> Coded:
    """Return that a drive has only log or cache devices of a pool, or an array's journal. members: these devices."""
    roles = ' and '.join(dict.fromkeys(member.role for member in members))
    is_used = any(not _is_bad(member.state) for member in members)
    pool = 'array' if group.kind == 'md' else 'pool'
    told = f'replace or remove the {roles} in the {pool} before you pull the drive' if is_used else 'replace it'
    return Coded('only-log-or-cache', f'{named(group, *_faults(group))} has only its {roles} on this drive, and no '
                                      f'data: {told}', group=group.id)


def no_redundancy(group: Group, members: Sequence[str]) -> Coded:
    """Return that data is on only one drive. members: the partitions of the drive."""
    use = clean(group.used_as[0], limit=60) if group.used_as else clean(group.name, limit=60)
    where = ', '.join(clean(name, limit=40) for name in members if name != use)
    return Coded('no-redundancy', f'no redundancy known for {use}{f" ({where})" if where else ""}: copy the data '
                                  'first', group=group.id)


def unknown(group: Group) -> Coded:
    """Return that the redundancy of a group is unknown, and why."""
    why = f': {sentence(group.unknown, 200)}' if group.unknown else ''
    return Coded('redundancy-unknown', f'redundancy of {named(group)} not known{why}; copy the data first',
                 group=group.id)


def leave_cluster(group: Group) -> Coded:
    """Return that a cluster has to move its data off a drive first."""
    return Coded('leave-cluster', f'{named(group)} belongs to a cluster, which moves its data to other drives first',
                 group=group.id)


def incomplete(group: Group) -> Coded:
    """Return that a group has lost too many members already."""
    return Coded('group-incomplete', f'{named(group, *_faults(group))} lacks more members than it tolerates: keep all '
                                     'its drives until the data is recovered', group=group.id)


def only_swap() -> Coded:
    """Return that a drive holds swap space and nothing else."""
    return Coded('only-swap', 'the drive holds only swap space: replace it')


def with_swap(why: Coded, swaps: Sequence[str]) -> Coded:
    """Return a reason with the commands that end the use of swap space on a drive. swaps: its partitions."""
    told = ''.join(f'; before that, run: swapoff {argument(f"/dev/{name}", "DEVICE")}' for name in swaps)
    return Coded(why.code, why + told, **why.fields) if swaps else why


def use_unknown(drive: str) -> Coded:
    """Return that it is not known what is on a drive."""
    return Coded('use-unknown', f'use of {drive} not known: look for data on it, and copy it first')
