"""Sentences about groups of drives, with the codes of codes.json. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

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
    'replace-next': '{group} keeps all its data without this drive; after the replacement, wait until '
    '{name} is rebuilt',
    'member-not-used': '{faulty} {todo}',
    'only-swap': 'the drive holds only swap space',
    'only-log-or-cache': 'the drive holds no data; it is only the {devices} of {faulty}: {todo}',
    'data-at-risk': 'more members of {group} are failing than it tolerates; {drive} is one of them',
    'redundancy-doubtful': 'the other members of {group} may lack some of its data, because {doubt}',
    'redundancy-unknown': 'redundancy of {group} not known{why}',
    'use-unknown': 'use of {drive} not known: check whether it holds data',
    'leave-cluster': '{group} belongs to a cluster, which must move the data to other '
    'drives before you replace this one',
    'last-good-copy': 'last good copy of {faulty}: {todo}',
    'group-incomplete': '{faulty} has lost too many members: keep all its drives until the data is recovered',
    'group-rebuilding': '{group} is {doing} ({progress})',
    'copy-other-first': 'the data of {faulty} is only on failing drives, such as {first}: copy it '
    'before you rebuild anything',
    'second-failing-member': 'replace {first} before this drive: {first} is failing, too',
    'other-drive-first': 'replace another member of {group} first: {first}',
}
# Code of a reason -> a clause for the first line of a check, after the action.
_BRIEF = {
    'replace-next': '{name} keeps its data',
    'member-not-used': '{name} does not use it',
    'only-swap': 'it holds only swap space',
    'only-log-or-cache': 'it holds no data of {name}',
    'data-at-risk': '{name} has too many failing members',
    'redundancy-doubtful': 'it may have the only copy of some data of {name}',
    'leave-cluster': 'it belongs to {name}',
    'last-good-copy': 'it is the last good copy of {name}',
    'group-incomplete': '{name} has lost too many members',
    'group-rebuilding': '{name} is {doing}',
    'copy-other-first': 'the data of {name} is only on failing drives',
    'second-failing-member': '{first} comes first',
    'other-drive-first': '{first} comes first',
    'members-not-checked': 'not all members of {name} were checked',
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
# activity of a group -> what the group is doing
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


def named(group: Group, *further: str) -> str:
    """Return text such as "md0 (raid1, /srv)" for a group. further: words for the parentheses."""
    words = [of_level(group.kind, group.level), *group.used_as[:2], *further]
    facts = ', '.join(clean(word, 60) for word in words if word)
    name = clean(group.name, 60)
    return f'{name} ({facts})' if facts else name


def of_level(kind: str, level: str) -> str:
    """Return the kind and the level of a group in words: "LVM raid1", "raid5"."""
    words = [KINDS.get(kind, '')]
    if level != 'single':
        words.append(level.replace('btrfs-', '').replace('-unknown-layout', ''))
    return ' '.join(filter(None, words))


def tolerance(group: Group, left: int | None) -> str:
    """Return a group's name and its tolerance in words: "md0 (raid1, /srv), tolerates no further
    loss". left: how many further members it can lose; None: unknown.
    """
    if group.kind == 'unknown':
        return f'{named(group)}, use not known'
    if left is None:
        return f'{named(group, *_faults(group))}, redundancy not known'
    words = [named(group, *_faults(group), *_content_unused(group))]
    if group.activity:
        words.append(BUSY[group.activity])
    return ', '.join((*words, losses(left, group.level)))


def _content_unused(group: Group) -> list[str]:
    """Return what lies on the members of a partition or volume that is not in use, such as "ext4, not
    mounted"; [] for other groups.
    """
    if group.used_as or group.kind not in ('partition', 'lvm'):
        return []
    return list(dict.fromkeys(clean(member.detail, 100) for member in group.members))


def losses(left: int, level: str) -> str:
    """Return how many further members a group can lose, in words. left: negative if it has lost
    too many.
    """
    if TOLERANCE.get(level) == 0:
        return 'no redundancy'
    if left < 0:
        return 'has more failing or missing members than it tolerates'
    if left == 0:
        return 'tolerates no further loss'
    return f'tolerates {plural(left, "further loss", "further losses")}'


def reason(
    code: str,
    group: Group,
    first: str = '',
    first_bay: str = '',
    **values: str,
) -> Coded:
    """Return a reason with its sentence. first, first_bay: name and slot of the drive to replace
    first. values: further parts of the sentence.
    """
    text = _SENTENCES[code].format(
        group=named(group),
        faulty=named(group, *_faults(group)),
        name=clean(group.name, 60),
        first=called(first, first_bay),
        **values,
    )
    fields = {'first': first} if first else {}
    return Coded(code, text, group=group.id, **fields)


def brief(why: Coded, groups: Mapping[str, Group]) -> str:
    """Return a reason in a few words; '' if they would say no more than the action. groups: by id."""
    if why.code == 'only-swap':
        return _BRIEF[why.code]  # names no group
    group = groups.get(why.fields.get('group', ''))
    if group is None:
        return ''
    return _BRIEF.get(why.code, '').format(
        name=clean(group.name, 30),
        first=why.fields.get('first', ''),
        doing=BUSY.get(group.activity, ''),
    )


def of_drive(code: str, drive: str) -> Coded:
    """Return a reason that is not about a group, with its sentence."""
    return Coded(code, _SENTENCES[code].format(drive=drive))


def busy(group: Group) -> Coded:
    """Return the message that a group stays incomplete until its rebuild or other activity ends."""
    done = '' if group.progress is None else f' {group.progress:.0f} %'
    return reason(
        'group-rebuilding',
        group,
        doing=BUSY[group.activity],
        progress=f'{group.activity}{done}',
    )


def last_copy(group: Group, is_dying: bool) -> Coded:
    """Return the message that no other drive has the data. is_dying: a drive that the group
    needs is failing.
    """
    bad = [member for member in group.members if member.name and _is_bad(member)]
    names = ', '.join(clean(member.name, 40) for member in bad)
    first = f'replace {names}' if bad else 'add a new member'
    todo = f'copy the data first, then {first}' if is_dying else f'{first} first'
    return reason('last-good-copy', group, todo=todo)


def _is_bad(member: Member) -> bool:
    """Return whether a member lacks data; False for a spare, which needs none."""
    return member.state not in ('in_sync', 'spare')


def _faults(group: Group) -> list[str]:
    """Return the first members that are not in sync, each with its state, and the number of missing
    ones: "sdb1 faulty", "1 member missing".
    """
    faults = []
    for member in group.members:
        if member.name and _is_bad(member):
            role = f'{member.role} device ' if member.role else ''
            faults.append(f'{role}{clean(member.name, 40)} {member.state}')
    words = faults[:3]
    nameless = sum(not member.name for member in group.members)
    missing = group.missing + nameless
    if missing:
        words.append(f'{plural(missing, "member")} missing')
    return words


def unchecked(group: Group, names: Sequence[str]) -> Coded:
    """Return the message that members of a group were not checked. names: names of their drives."""
    were = 'was' if len(names) == 1 else 'were'
    return Coded(
        'members-not-checked',
        f'{named(group)} has members on {listed(names, 3)}, which {were} not checked; before '
        'you decide, run: check_smart_attributes triage',
        group=group.id,
        unchecked=list(names),
    )


def not_used(group: Group, is_dropped: bool) -> Coded:
    """Return the message that a group does not need the data on a drive. is_dropped: False for a
    spare or a rebuild.
    """
    todo = 'needs none of the data on this drive'
    if is_dropped:
        todo = 'no longer uses this drive; if only its cable was at fault, add it again'
    return reason('member-not-used', group, todo=todo)


def only_aside(group: Group, members: Sequence[Member]) -> Coded:
    """Return the message that a drive holds only logs, caches or an array's journal. members:
    these devices.
    """
    roles = ' and '.join(dict.fromkeys(member.role for member in members))
    is_used = any(not _is_bad(member) for member in members)
    pool = 'array' if group.kind == 'md' else 'pool'
    todo = 'replace it'
    if is_used:
        todo = f'first replace or remove the {roles} in the {pool}, then pull the drive'
    return reason('only-log-or-cache', group, devices=roles, todo=todo)


def no_redundancy(group: Group, members: Sequence[Member]) -> Coded:
    """Return the message that the data is on only one drive: "no redundancy known for /srv (sda1)".
    members: the partitions on that drive.
    """
    use = _use(group)
    # _use() returns the name of a partition that is not mounted; do not print it twice
    names = [clean(member.name, 40) for member in members if member.name != use]
    places = ', '.join(filter(None, (*names, *_content_unused(group))))
    where = f'{use} ({places})' if places else use
    return Coded('no-redundancy', f'no redundancy known for {where}', group=group.id)


def _use(group: Group) -> str:
    """Return the first use of a group, such as "/srv"; its name if it has none."""
    first_use = group.used_as[0] if group.used_as else group.name
    return clean(first_use, 60)


def unknown(group: Group) -> Coded:
    """Return the message that the redundancy of a group is unknown, and why."""
    why = f': {sentence(group.unknown, 200)}' if group.unknown else ''
    return reason('redundancy-unknown', group, why=why)


# --- a reason with further words ------------------------------------------------------------------


def continued(why: Coded, words: Iterable[str]) -> Coded:
    """Return a reason with further words, each after a semicolon. words: from the functions below;
    '' adds nothing.
    """
    return Coded(why.code, '; '.join(filter(None, (why, *words))), **why.fields)


def also_copied(groups: Sequence[Group]) -> str:
    """Return that the data of further groups is copied first; '' without groups."""
    names = list(dict.fromkeys(map(_use, groups)))
    return f'also copy the data of {listed(names, 3)}' if names else ''


def also_dropped(why: Coded, dropping: Sequence[Group]) -> str:
    """Return that groups no longer use the drive, without the group that *why* is about; '' without
    such groups.

    dropping: the groups that have dropped a member on the drive.
    """
    others = [group for group in dropping if group.id != why.fields.get('group')]
    if not others:
        return ''
    names = ' and '.join(named(group, *_faults(group)) for group in others)
    use = 'uses' if len(others) == 1 else 'use'
    return f'{names} no longer {use} it'


def unlisted(names: Sequence[str]) -> str:
    """Return that inactive volumes were not looked for; '' without names. names: their volume
    groups.
    """
    if not names:
        return ''
    groups = [clean(name, 40) for name in names]
    where = f'inactive volumes of {" and ".join(groups)} may also be on this drive'
    return f'{where}; to list them, run: lvs -o +devices {" ".join(groups)}'


def swap(groups: Sequence[Group]) -> str:
    """Return that the swap space on a drive is to be switched off; '' without groups. groups: those
    that are only swap space.
    """
    names = []
    for group in groups:
        name = clean(group.name, 40)
        names.append(f'mapper/{name}' if group.kind == 'luks' else name)
    return f'before that, switch off swap on {" and ".join(names)}' if names else ''
