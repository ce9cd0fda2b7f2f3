"""Sentences about groups of drives, with the codes of codes.json. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import Coded
from ..model import Group, Member
from ..wording import listed, plural
from ..words import clean, sentence
from .survival import TOLERANCE

# Code of a reason -> its sentence. group: the group in words; faulty: the same with its members
# that are not in sync;
# name: the name of the group; first: the name of the drive to replace first; drive: the name of the
# drive. The others are clauses from the functions below.
_SENTENCES = {
    'replace-next': '{group} has its data on other members, too: replace this drive, then wait '
    'until {name} is rebuilt',
    'member-not-used': '{faulty} {todo}',
    'only-swap': 'the drive holds only swap space: replace it',
    'only-log-or-cache': '{faulty} has only its {devices} on this drive, and no data: {todo}',
    'data-at-risk': '{group} has more failing members than it tolerates: copy the data first, '
    'then replace {drive}',
    'redundancy-doubtful': 'the data of {group} may be missing on its other members, because '
    '{doubt}',
    'redundancy-unknown': 'redundancy of {group} not known{why}; copy the data first',
    'use-unknown': 'use of {drive} not known: look for data on it, and copy it first',
    'leave-cluster': '{group} belongs to a cluster, which moves its data to other drives first',
    'last-good-copy': 'last good copy of {faulty}: {todo}, do not pull this drive',
    'group-incomplete': '{faulty} lacks more members than it tolerates: keep all its drives until '
    'the data is recovered',
    'group-rebuilding': '{group} is {doing} ({progress}): wait',
    'copy-other-first': 'the data of {faulty} is only on failing drives, such as {first}: copy it '
    'before you rebuild anything',
    'second-failing-member': 'second failing member of {group}: replace {first} first',
    'other-drive-first': '{group} has another member to replace: replace {first} first',
}
KINDS = {
    'lvm': 'LVM',
    'luks': 'LUKS',
    'zfs': 'ZFS',
    'btrfs': 'btrfs',
    'ceph': 'Ceph',
    'multipath': 'multipath',
    'dm': 'device mapper',
}
BUSY = {
    'recover': 'rebuilding',
    'resync': 'resyncing',
    'reshape': 'reshaping',
    'replace': 'replacing a member',
    'check': 'being checked',
    'repair': 'being repaired',
}


def called(name: str, bay: str) -> str:
    """Return the name of a drive in a sentence, with its slot: "bus_0_megaraid_2, slot 32:9"."""
    return f'{name}, {bay}' if bay else name


def named(group: Group, *more: str) -> str:
    """Return text such as "md0 (raid1, /srv)" for a group. more: further words for the
    parentheses.
    """
    words = [of_level(group.kind, group.level), *group.used_as[:2], *more]
    told = ', '.join(clean(word, 60) for word in words if word)
    return f'{clean(group.name, 60)} ({told})' if told else clean(group.name, 60)


def of_level(kind: str, level: str) -> str:
    """Return the kind and the level of a group in words: "LVM raid1", "raid5"."""
    level = '' if level == 'single' else level.replace('btrfs-', '').replace('-unknown-layout', '')
    return ' '.join(part for part in (KINDS.get(kind, ''), level) if part)


def tolerance(group: Group, left: int | None) -> str:
    """Return a group's name and its tolerance in words. left: how many further members it can
    lose; None: unknown.
    """
    if group.kind == 'unknown':
        return f'{named(group)}, use not known'
    if left is None:
        return f'{named(group, *_faults(group))}, redundancy not known'
    doing = f', {BUSY.get(group.activity, group.activity)}' if group.activity else ''
    words = (*_faults(group), *dict.fromkeys(_idle(group)))
    return f'{named(group, *words)}{doing}, {losses(left, group.level)}'


def _idle(group: Group) -> list[str]:
    """Return what lies on the members of a partition or volume that is not in use."""
    is_idle = group.kind in ('partition', 'lvm') and not group.used_as
    return [clean(member.detail, 100) for member in group.members] if is_idle else []


def losses(left: int, level: str) -> str:
    """Return how many further members a group can lose, in words. left: negative if it has lost
    too many.
    """
    if TOLERANCE.get(level) == 0:
        return 'no redundancy'
    if left < 0:
        return 'has more failing or missing members than it tolerates'
    return f'tolerates {left or "no"} further {"loss" if left < 2 else "losses"}'


def reason(code: str, group: Group, first: str = '', first_bay: str = '', **values: str) -> Coded:
    """Return a reason with its sentence. first: the drive to replace first. values: others in
    the sentence.
    """
    said = _SENTENCES[code].format(
        group=named(group),
        faulty=named(group, *_faults(group)),
        name=clean(group.name, 60),
        first=called(first, first_bay),
        **values,
    )
    return Coded(code, said, group=group.id, **({'first': first} if first else {}))


def of_drive(code: str, drive: str) -> Coded:
    """Return a reason that is not about a group, with its sentence."""
    return Coded(code, _SENTENCES[code].format(drive=drive))


def busy(group: Group) -> Coded:
    """Return the message that a group stays incomplete until its rebuild or other activity ends."""
    done = '' if group.progress is None else f' {group.progress:.0f} %'
    return reason(
        'group-rebuilding',
        group,
        doing=BUSY.get(group.activity, group.activity),
        progress=f'{group.activity}{done}',
    )


def last_copy(group: Group, is_dying: bool) -> Coded:
    """Return the message that no other drive has the data. is_dying: a drive that the group
    needs is failing.
    """
    bad = [
        clean(member.name, 40) for member in group.members if member.name and _is_bad(member.state)
    ]
    first = f'replace {", ".join(bad)}' if bad else 'add a new member'
    return reason(
        'last-good-copy',
        group,
        todo=f'copy the data first, then {first}' if is_dying else f'{first} first',
    )


def _is_bad(state: str) -> bool:
    return state not in ('in_sync', 'spare')


def _faults(group: Group) -> list[str]:
    """Return the members that are not in sync, each with its state: "sdb1 faulty", "1 member
    missing".
    """
    told = [
        f'{f"{member.role} device " if member.role else ""}{clean(member.name, 40)} {member.state}'
        for member in group.members
        if member.name and _is_bad(member.state)
    ]
    gone = group.missing + sum(not member.name for member in group.members)
    return [*told[:3], *([f'{plural(gone, "member")} missing'] if gone else [])]


def unchecked(group: Group, names: Sequence[str]) -> Coded:
    """Return the message that members of a group were not checked. names: names of their drives."""
    return Coded(
        'members-not-checked',
        f'{named(group)} has members on {listed(names, 3)}, which '
        f'{"was" if len(names) == 1 else "were"} not checked: check all members in one run, then '
        'decide: check_smart_attributes triage',
        group=group.id,
        unchecked=list(names),
    )


def not_used(group: Group, is_dropped: bool = True) -> Coded:
    """Return the message that a group does not need the data on a drive. is_dropped: False for a
    spare or a rebuild.
    """
    return reason(
        'member-not-used',
        group,
        todo='no longer uses this drive: replace it, or add it again if only its cable was at fault'
        if is_dropped
        else 'needs no data on this drive: replace it',
    )


def only_aside(group: Group, members: Sequence[Member]) -> Coded:
    """Return the message that a drive holds only logs, caches or an array's journal. members:
    these devices.
    """
    roles = ' and '.join(dict.fromkeys(member.role for member in members))
    is_used = any(not _is_bad(member.state) for member in members)
    pool = 'array' if group.kind == 'md' else 'pool'
    told = (
        f'replace or remove the {roles} in the {pool} before you pull the drive'
        if is_used
        else 'replace it'
    )
    return reason('only-log-or-cache', group, devices=roles, todo=told)


def no_redundancy(group: Group, members: Sequence[Member]) -> Coded:
    """Return the message that the data is on only one drive. members: the partitions on that
    drive.
    """
    use = _use(group)
    names = [clean(member.name, 40) for member in members if member.name != use]
    where = ', '.join(filter(None, (*names, *dict.fromkeys(_idle(group)))))
    return Coded(
        'no-redundancy',
        f'no redundancy known for {use}{f" ({where})" if where else ""}: copy the data first',
        group=group.id,
    )


def _use(group: Group) -> str:
    return clean(group.used_as[0] if group.used_as else group.name, 60)


def with_further(why: Coded, groups: Sequence[Group]) -> Coded:
    """Return a reason that also names the other groups whose data is copied first."""
    if not groups:
        return why
    names = listed(list(dict.fromkeys(map(_use, groups))), 3)
    return Coded(why.code, f'{why}; also copy the data of {names}', **why.fields)


def unknown(group: Group) -> Coded:
    """Return the message that the redundancy of a group is unknown, and why."""
    return reason(
        'redundancy-unknown',
        group,
        why=f': {sentence(group.unknown, 200)}' if group.unknown else '',
    )


def with_dropped(why: Coded, groups: Sequence[Group]) -> Coded:
    """Return a reason that also names the groups that have dropped a member on the drive, unless the
    reason is about them.
    """
    about = why.fields.get('group')
    more = [named(each, *_faults(each)) for each in groups if each.id != about]
    if not more:
        return why
    verb = 'uses' if len(more) == 1 else 'use'
    return Coded(why.code, f'{why}; {" and ".join(more)} no longer {verb} it', **why.fields)


def with_unlisted(why: Coded, names: Sequence[str]) -> Coded:
    """Return a reason that also says that inactive volumes were not looked for. names: their volume
    groups.
    """
    if not names:
        return why
    groups = [clean(name, 40) for name in names]
    whose = ' and '.join(groups)
    return Coded(
        why.code,
        f'{why}; inactive volumes of {whose} on it are not known, see: '
        f'lvs -o +devices {" ".join(groups)}',
        **why.fields,
    )


def with_swap(why: Coded, swaps: Sequence[str]) -> Coded:
    """Return a reason that also says to switch off the swap space of a drive. swaps: the swap
    partitions.
    """
    names = ' and '.join(clean(name, 40) for name in swaps)
    return (
        Coded(why.code, f'{why}; before that, switch off swap on {names}', **why.fields)
        if swaps
        else why
    )
