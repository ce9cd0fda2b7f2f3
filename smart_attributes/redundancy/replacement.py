"""The order in which to replace drives without losing data, and how close groups of drives are to
data loss. Pure.

The order depends on the states of all groups of the machine and on the verdicts about their drives.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum

from ..errors import Coded
from ..model import Dependence, Group, Located, Replacement, Use, Verdict
from ..typed import Json, NamedTuple
from ..words import clean, sentence
from . import partitions, sentences
from .survival import TOLERANCE, Stack, is_redundant, stripes

NEXT, COPY, UNKNOWN, LAST, WAIT = 'next', 'copy first', 'unknown', 'last good copy', 'wait'
TEXT = 500  # characters
LABELS = (NEXT, COPY, UNKNOWN, LAST, WAIT)  # in the order to act on them
# if groups require different labels, the first of these counts
STRICTEST = (LAST, COPY, UNKNOWN, WAIT, NEXT)
# Activities during which the members of a group do not all hold their part of the data.
BUSY = ('recover', 'resync', 'reshape', 'replace')
IN_ORDER = ('in_sync', 'spare')  # states of healthy members
FAILING = ('CRITICAL', 'UNKNOWN')  # states of drives that count as lost


class Drive(NamedTuple):
    """One drive of the machine, with those facts from its verdict that affect its groups."""

    name: str  # as in all outputs
    disks: frozenset[str]  # its kernel names
    is_failing: bool = False  # CRITICAL, or it could not be read
    is_to_replace: bool = False  # its verdict advises replacing it or ordering a replacement
    is_judged: bool = True  # False: nothing is known about it, because this run did not read it
    bay: str = ''  # "slot 32:9"


class Step(NamedTuple):
    """The present action for one drive, and the reason for this action."""

    drive: Drive
    label: str  # one of LABELS
    why: Coded
    groups: tuple[str, ...]  # ids of the groups on the drive


class Membership(NamedTuple):
    """A group with the drives below each of its members."""

    group: Group
    tolerates: int | None  # members that may fail in addition to the failing ones; None: unknown
    drives: tuple[tuple[str, ...], ...]  # for each member, the names of the drives below it


class Machine(NamedTuple):
    """All groups of a machine, and the order in which to replace its drives."""

    groups: tuple[Membership, ...]  # groups that tolerate the fewest further losses come first
    steps: tuple[Step, ...]


def order(stack: Stack, drives: Sequence[Drive]) -> tuple[Step, ...]:
    """Return a step for each drive that must be replaced, or that must stay while another drive is
    replaced.

    Even if all drives marked "next" are removed, the data of every group stays complete. No drive
    is "next" while other members may lack the data. drives: most severe first.
    """
    judged = frozenset(disk for drive in drives for disk in drive.disks)
    others = sorted(frozenset().union(*map(stack.disks, stack.groups)) - judged)
    unread = [Drive(disk, frozenset((disk,)), is_judged=False) for disk in others]
    machine = _Machine(stack, (*drives, *unread))
    to_replace = machine.to_replace()
    steps: list[Step] = []
    for drive in to_replace:
        steps.append(machine.step(drive, steps))
    for drive in machine.drives:
        kept = machine.kept(drive)
        if kept and drive not in to_replace:
            steps.append(kept)
    return tuple(sorted(steps, key=lambda step: LABELS.index(step.label)))


class _Machine(NamedTuple):
    """The groups of a machine, and all drives below them."""

    stack: Stack
    drives: Sequence[Drive]

    def to_replace(self) -> list[Drive]:
        """Return the drives to replace: first the drives that a group has dropped, then all
        others by severity.
        """
        dropped = [drive for drive in self.drives if self._is_dropped(drive)]
        others = [drive for drive in self.drives if drive.is_to_replace and drive not in dropped]
        return dropped + others

    def _is_dropped(self, drive: Drive) -> bool:
        return bool(self._dropped_by(drive))

    def _dropped_by(self, drive: Drive) -> list[Group]:
        """Return the groups that have dropped a member on a drive."""
        return [
            group
            for group in self.stack.of(drive.disks)
            if any(
                member.state == 'faulty' and self.stack.is_on(member, drive.disks)
                for member in group.members
            )
        ]

    def step(self, drive: Drive, before: Sequence[Step]) -> Step:
        """Return the step for a drive to replace. before: the steps for the preceding drives."""
        used = [group for group in self.stack.of(drive.disks) if self.stack.carries_data(group)]
        bare = [group for group in used if self._is_bare_swap(drive, group)]
        swaps = ['mapper/' * (group.kind == 'luks') + group.name for group in bare]
        reasons = [
            (group, self._unless_doubtful(drive, group, self._advised(drive, group, before)))
            for group in used
            if group not in bare
        ]
        why = min(
            (reason for _, reason in reasons),
            # a cluster moves only its own data
            key=lambda each: (_strictness(each), each.code == 'leave-cluster'),
            default=sentences.of_drive('only-swap' if swaps else 'use-unknown', drive.name),
        )
        further = [group for group, reason in reasons if reason is not why and _is_copied(reason)]
        why = sentences.with_further(why, further)
        if why.code != 'member-not-used':
            why = sentences.with_dropped(why, self._dropped_by(drive))
        if OF_CODE[why.code][0] == NEXT:
            why = sentences.with_unlisted(why, self._unlisted(drive))
        return self._step(drive, sentences.with_swap(why, swaps))

    def _unlisted(self, drive: Drive) -> list[str]:
        """Return the volume groups of which inactive volumes may lie on only this drive."""
        used = self.stack.of(drive.disks)
        names = [each.unlisted for each in used if self.stack.lost_members(each, drive.disks)]
        return sorted(set(filter(None, names)))

    def _is_bare_swap(self, drive: Drive, group: Group) -> bool:
        """Return whether a group is swap space without redundancy: nothing must be copied, but the
        system uses it. Swap space on redundant storage is data of that storage.
        """
        chain = self.stack.between(drive.disks, group)
        return group.used_as == ('swap',) and all(
            stripes(each) is not None and not is_redundant(each) for each in chain
        )

    def kept(self, drive: Drive) -> Step | None:
        """Return the step for a drive that must stay because it has a redundant group's last
        copy; else None.
        """
        for group in self.stack.of(drive.disks):
            if self.stack.survives(group) and self.stack.survives(group, drive.disks) is False:
                copies = self._last_copies(drive, self.stack.between(drive.disks, group))
                if copies:
                    return self._step(drive, self._needed(copies))
        return None

    def _last_copies(self, drive: Drive, chain: Sequence[Group]) -> list[Group]:
        """Return the redundant groups of which a drive has the last copy; not those that it shares
        with a partition that has no copy.
        """
        return [
            group
            for group in chain
            if is_redundant(group) and self.stack.survives(group, drive.disks) is False
        ]

    def _step(self, drive: Drive, why: Coded) -> Step:
        return Step(
            drive,
            OF_CODE[why.code][0],
            why,
            tuple(group.id for group in self.stack.of(drive.disks)),
        )

    def _advised(self, drive: Drive, group: Group, before: Sequence[Step]) -> Coded:
        """Return the reason for a drive's step, considering only one group that is in use."""
        chain = self.stack.between(drive.disks, group)
        if self.stack.survives(group) is False:
            return sentences.reason('group-incomplete', group)
        survives = self.stack.survives(group, drive.disks)
        if survives is None:
            return _of_unknown(group, chain)
        if survives:
            return self._of_redundant(drive, group, chain, before)
        copies = self._last_copies(drive, chain)
        if copies:
            return self._needed(copies)
        lost = [each for each in chain if self.stack.survives(each, drive.disks) is False]
        return self._only_here(drive, group, lost[0])

    def _only_here(self, drive: Drive, group: Group, lowest: Group) -> Coded:
        """Return the reason to copy the data of a group that needs the drive. lowest: of the groups
        between them.
        """
        if partitions.is_unknown(group):
            return _of_unknown(group, ())
        return sentences.no_redundancy(group, self.stack.lost_members(lowest, drive.disks))

    def _unless_doubtful(self, drive: Drive, group: Group, why: Coded) -> Coded:
        """Return *why*, or the doubt if *why* means "next" but other members may lack this
        drive's data.
        """
        is_aside = why.code == 'only-log-or-cache' and (
            group.kind == 'zfs' or self._is_dropped(drive)
        )
        if is_aside or OF_CODE[why.code][0] != NEXT:
            # a journal may hold data that no member has, unless md has dropped the journal
            return why
        doubt = next(self.stack.doubts(drive.disks, group), None)
        if doubt:
            return sentences.reason('redundancy-doubtful', doubt[0], doubt=sentence(doubt[1], 300))
        data = [self.stack.below(member) for member in group.members if not member.role]
        below = frozenset().union(*data)
        unchecked = [
            each.name
            for each in self.drives
            if not each.is_judged and each != drive and each.disks & below
        ]
        return sentences.unchecked(group, unchecked) if unchecked else why

    def _needed(self, chain: Sequence[Group]) -> Coded:
        """Return the reason not to remove a drive whose loss would mean data loss."""
        weak = self._weakest(chain, frozenset())
        if weak.activity in BUSY:
            return sentences.busy(weak)
        return sentences.last_copy(weak, self._dying(weak) is not None)

    def _dying(self, group: Group) -> Drive | None:
        """Return a failing drive of a group that would lose data with all its failing drives,
        else None.
        """
        failing = [
            each
            for each in self.drives
            if each.is_failing and each.disks & self.stack.disks(group.id)
        ]
        is_lost = (
            self.stack.survives(group, frozenset(disk for each in failing for disk in each.disks))
            is False
        )
        # one that is enough first
        failing.sort(key=lambda each: self.stack.survives(group, each.disks) is not False)
        return failing[0] if is_lost else None

    def _of_redundant(
        self, drive: Drive, group: Group, chain: Sequence[Group], before: Sequence[Step]
    ) -> Coded:
        """Return the reason for a step if the drive's data is also on other drives of the group."""
        holding = [each for each in chain if self.stack.holds(each, drive.disks)]
        if group not in holding:
            return self._of_unused(drive, group, chain)
        busy = next((each for each in holding if each.activity in BUSY), None)
        if busy:
            return sentences.busy(busy)
        lost = frozenset(
            disk for each in self.drives if each.is_failing for disk in each.disks
        ).union(drive.disks, *(step.drive.disks for step in before if step.label == NEXT))
        weak = self._weakest(chain, lost)
        first = next(
            (
                step.drive
                for step in before
                if step.label in (NEXT, COPY)
                and any(each.id in step.groups for each in chain if is_redundant(each))
            ),
            None,
        )
        if first:
            return sentences.reason(
                'second-failing-member'
                if drive.is_failing and first.is_failing
                else 'other-drive-first',
                weak,
                first.name,
                first.bay,
            )
        if self.stack.survives(group, lost) is not True:
            drive_name = sentences.called(drive.name, drive.bay)
            return sentences.reason('data-at-risk', weak, drive=drive_name)
        return sentences.reason('replace-next', weak)

    def _of_unused(self, drive: Drive, group: Group, chain: Sequence[Group]) -> Coded:
        """Return the reason for a drive that holds no group data. chain: the groups from the drive
        up to the group.
        """
        # The lowest one that keeps the drive's data from the group.
        lowest = next(each for each in chain if not self.stack.holds(each, drive.disks))
        own = [each for each in lowest.members if self.stack.is_on(each, drive.disks)]
        if all(member.role for member in own):
            return sentences.only_aside(lowest, own)
        dying = self._dying(group)
        if dying:  # a rebuild would read all data of the dying drive
            return sentences.reason('copy-other-first', lowest, dying.name, dying.bay)
        return sentences.not_used(lowest, self._is_dropped(drive))

    def _weakest(self, chain: Sequence[Group], lost: frozenset[str]) -> Group:
        """Return the redundant group that tolerates the fewest further losses; incomplete groups
        do not count.
        """
        living = [
            each for each in chain if is_redundant(each) and self.stack.survives(each) is not False
        ]
        return min(living or chain, key=lambda each: self.stack.tolerates(each, lost) or 0)


def _strictness(reason: Coded) -> int:
    return STRICTEST.index(OF_CODE[reason.code][0])


def _is_copied(reason: Coded) -> bool:
    """Return whether an admin copies the data of the group that a reason is about."""
    return OF_CODE[reason.code][0] == COPY and reason.code != 'leave-cluster'


def _of_unknown(group: Group, chain: Sequence[Group]) -> Coded:
    """Return the reason to copy the data of a group whose use or redundancy is unknown. chain: the
    groups from the drive up to the group.
    """
    if partitions.is_unknown(group):
        return sentences.of_drive('use-unknown', clean(group.name, 40))
    if group.kind == 'ceph':
        return sentences.reason('leave-cluster', group)
    return sentences.unknown(next((each for each in chain if stripes(each) is None), group))


def machine(groups: Sequence[Group], drives: Sequence[Drive]) -> Machine:
    """Return a machine's groups and the order of replacement. drives: most severe first."""
    stack = Stack(groups)
    failing = frozenset(disk for drive in drives if drive.is_failing for disk in drive.disks)
    names: dict[str, list[str]] = {}  # two actuators of a drive may be read as two drives
    for drive in drives:
        for disk in drive.disks:
            names.setdefault(disk, []).append(drive.name)
    found = [
        Membership(
            group,
            stack.tolerates(group, failing),
            tuple(
                tuple(
                    sorted(
                        {name for disk in stack.below(member) for name in names.get(disk, [disk])}
                    )
                )
                for member in group.members
            ),
        )
        for group in stack.groups.values()
    ]
    return Machine(
        tuple(sorted(found, key=lambda each: (each.tolerates is None, each.tolerates or 0))),
        order(stack, drives),
    )


# --- in the outputs -------------------------------------------------------------------------------


def uses(drives: Sequence[Located], found: Machine) -> tuple[Use, ...]:
    """Return the groups that depend on each drive, and whether the drive may be replaced."""
    steps = {step.drive.name: Replacement(step.label, step.why) for step in found.steps}
    return tuple(
        Use(
            drive.verdict,
            drive.place,
            tuple(_depends(drive.verdict.device.name, found.groups)),
            steps.get(drive.verdict.device.name),
        )
        for drive in drives
    )


def _depends(name: str, groups: Sequence[Membership]) -> Iterator[Dependence]:
    for group, tolerates, drives in groups:
        for member, below in zip(group.members, drives):
            if name in below:
                yield Dependence(
                    group,
                    member.name,
                    member.state,
                    tolerates,
                    sentences.tolerance(group, tolerates),
                )


def document(found: Machine, verdicts: Sequence[Verdict]) -> Json:
    """Return the groups, each with its members and their drives, and the order of replacement."""
    states = {verdict.device.name: verdict.state.name for verdict in verdicts}
    return {
        'groups': [_group(each, states) for each in found.groups],
        'replace_order': list(map(_step, found.steps)),
    }


def _group(found: Membership, states: Json) -> Json:
    group = found.group
    return {
        'id': clean(group.id, TEXT),
        **_properties(group),
        'tolerates': found.tolerates,
        'activity': group.activity or None,
        'progress': group.progress,
        'missing': group.missing,
        'unknown': sentence(group.unknown, TEXT) or None,
        'text': sentence(sentences.tolerance(group, found.tolerates), TEXT),
        'members': [
            {
                'name': clean(member.name, TEXT) or None,
                'state': member.state,
                'slot': member.slot,
                'role': member.role or None,
                'detail': clean(member.detail, TEXT) or None,
                'drives': [{'name': name, 'state': states.get(name)} for name in drives],
            }
            for member, drives in zip(group.members, found.drives)
        ],
    }


def _properties(group: Group) -> Json:
    return {
        'name': clean(group.name, TEXT),
        'kind': group.kind,
        'level': group.level or None,
        'used_as': [clean(use, TEXT) for use in group.used_as],
    }


def _step(step: Step) -> Json:
    return {
        'name': step.drive.name,
        'label': step.label,
        'code': step.why.code,
        'why': sentence(step.why, TEXT),
        'disks': sorted(step.drive.disks),
        'groups': list(step.groups),
    }


def depends(use: Use) -> list[Json]:
    """Return the groups that a drive is a member of."""
    return [
        {
            'group': clean(group.id, TEXT),
            **_properties(group),
            'tolerates': tolerates,
            'member': clean(member, TEXT),
            'member_state': state,
            'text': sentence(said, TEXT),
        }
        for group, member, state, tolerates, said in use.depends
    ]


# --- how close a group is to losing data ----------------------------------------------------------


class Risk(IntEnum):
    """The risk levels of a group, the most urgent first."""

    BEYOND = 0  # it has lost, or is about to lose, more members than it tolerates
    LAST = 1  # it is redundant and tolerates no further loss
    UNSURE = 2  # a drive in it is failing, and its redundancy is unknown
    DEGRADED = 3  # it still tolerates a loss, but a member is not healthy
    UNKNOWN = 4  # its redundancy is unknown, and all its drives are healthy
    REDUNDANT = 5
    PLAIN = 6  # it has no redundancy, and its data can be read


AT_RISK = (Risk.BEYOND, Risk.LAST, Risk.UNSURE)
# Code of a reason (codes.REDUNDANCY) -> the label of its replacement, and the risk of the group.
OF_CODE: Mapping[str, tuple[str, Risk]] = {
    'replace-next': (NEXT, Risk.DEGRADED),
    'member-not-used': (NEXT, Risk.DEGRADED),
    'only-swap': (NEXT, Risk.PLAIN),
    'only-log-or-cache': (NEXT, Risk.PLAIN),
    'data-at-risk': (COPY, Risk.BEYOND),
    'no-redundancy': (COPY, Risk.BEYOND),
    'redundancy-doubtful': (UNKNOWN, Risk.UNSURE),
    'members-not-checked': (UNKNOWN, Risk.UNSURE),
    'redundancy-unknown': (COPY, Risk.UNSURE),
    'use-unknown': (COPY, Risk.UNKNOWN),
    'leave-cluster': (COPY, Risk.UNKNOWN),
    'last-good-copy': (LAST, Risk.LAST),
    'group-incomplete': (LAST, Risk.BEYOND),
    'group-rebuilding': (WAIT, Risk.LAST),
    'copy-other-first': (WAIT, Risk.BEYOND),
    'second-failing-member': (WAIT, Risk.DEGRADED),
    'other-drive-first': (WAIT, Risk.DEGRADED),
}


def risk_of(code: str) -> Risk:
    """Return the risk of the group that a reason concerns. code: the reason's code."""
    return OF_CODE.get(code, ('', Risk.PLAIN))[1]


def grades(found: Machine, verdicts: Sequence[Verdict]) -> dict[str, tuple[Risk, int]]:
    """Return the risk of each group and the group's place in the document, by group id."""
    groups = document(found, verdicts)['groups']
    return {
        each.group.id: (risk(group), place)
        for place, (each, group) in enumerate(zip(found.groups, groups))
    }


def risk(group: Json) -> Risk:
    """Return the risk of a group. group: the object of the group in the JSON document."""
    tolerates = group['tolerates']
    if list(group['used_as']) == ['swap'] and not _is_redundant(group):
        return Risk.PLAIN  # it holds no data
    if tolerates is None:
        return Risk.UNSURE if _has_failing_drive(group) else Risk.UNKNOWN
    if tolerates < 0:
        return Risk.BEYOND
    if not _is_redundant(group):
        return Risk.PLAIN
    if tolerates == 0:
        return Risk.LAST
    is_degraded = (
        group['missing'] > 0
        or group['activity'] in BUSY
        or _has_failing_drive(group)
        or any(member['state'] not in IN_ORDER for member in group['members'])
    )
    return Risk.DEGRADED if is_degraded else Risk.REDUNDANT


def _is_redundant(group: Json) -> bool:
    """Return whether a group can lose a member when all are in sync; a group of one member
    cannot.
    """
    return (
        TOLERANCE.get(group['level'] or '', 1) != 0 and len(group['members']) + group['missing'] > 1
    )


def _has_failing_drive(group: Json) -> bool:
    return any(
        drive['state'] in FAILING for member in group['members'] for drive in member['drives']
    )
