"""The order in which to replace drives without losing data, and how close groups of drives are to
data loss. Pure.

The order depends on the states of all groups of the machine and on the verdicts about their drives.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum

from ..errors import Coded
from ..model import Dependence, Group, Located, Member, Replacement, Use, Verdict
from ..typed import Json, NamedTuple
from ..words import clean, sentence
from . import partitions, sentences
from .survival import TOLERANCE, Disks, Stack, is_redundant

NEXT = 'next'
COPY = 'copy first'
UNKNOWN = 'unknown'
LAST = 'last good copy'
WAIT = 'wait'
TEXT = 500  # characters
LABELS = (NEXT, COPY, UNKNOWN, LAST, WAIT)  # in the order to act on them
# if groups require different labels, the first of these counts
STRICTEST = (LAST, COPY, UNKNOWN, WAIT, NEXT)
# Activities during which the members of a group do not all hold their part of the data.
REBUILDING = ('recover', 'resync', 'reshape', 'replace')
FAILING = ('CRITICAL', 'UNKNOWN')  # states of drives that count as lost


class Drive(NamedTuple):
    """One drive of the machine, with those facts from its verdict that affect its groups."""

    name: str  # as in all outputs
    disks: Disks  # its kernel names
    is_failing: bool = False  # CRITICAL, or it could not be read
    # its verdict advises replacing it or ordering a replacement
    is_to_replace: bool = False
    # False: nothing is known about it, because this run did not read it
    is_judged: bool = True
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
    # members that may fail in addition to the failing ones; None: unknown
    tolerates: int | None
    # for each member, the names of the drives below it
    drives: tuple[tuple[str, ...], ...]


class Machine(NamedTuple):
    """All groups of a machine, and the order in which to replace its drives."""

    # groups that tolerate the fewest further losses come first
    groups: tuple[Membership, ...]
    steps: tuple[Step, ...]


def order(stack: Stack, drives: Sequence[Drive]) -> tuple[Step, ...]:
    """Return a step for each drive that must be replaced, or that must stay while another drive is
    replaced.

    Even if all drives marked "next" are removed, the data of every group stays complete. No drive
    is "next" while other members may lack the data. drives: most severe first.
    """
    every = _with_unread(stack, drives)
    cases = [_Case(drive, stack.of(drive.disks), every, stack) for drive in every]
    # drives that a group has dropped come first
    to_replace = [case for case in cases if case.dropped_by()]
    to_replace += [
        case for case in cases if case.drive.is_to_replace and case not in to_replace
    ]
    steps: list[Step] = []
    for case in to_replace:
        steps.append(case.step(steps))
    for case in cases:
        kept = case.kept()
        if kept and case not in to_replace:
            steps.append(kept)
    return tuple(sorted(steps, key=lambda step: LABELS.index(step.label)))


def _with_unread(stack: Stack, drives: Sequence[Drive]) -> tuple[Drive, ...]:
    """Return these drives, then one for each other disk below a group, under its kernel name: this
    run did not read the drives of these disks.
    """
    below = frozenset().union(*map(stack.disks, stack.groups))
    unread = [
        Drive(disk, frozenset((disk,)), is_judged=False)
        for disk in sorted(below - _disks(drives))
    ]
    return (*drives, *unread)


def _disks(drives: Iterable[Drive]) -> Disks:
    """Return the disks of all these drives."""
    return frozenset().union(*(drive.disks for drive in drives))


class _Case(NamedTuple):
    """One drive of a machine, with all drives and all groups of the machine."""

    drive: Drive
    groups: list[Group]  # those that are built on the drive
    drives: Sequence[Drive]
    stack: Stack

    def chain(self, group: Group) -> list[Group]:
        """Return the groups from the drive up to *group*, lowest first."""
        return self.stack.between(self.drive.disks, group)

    def is_needed_by(self, group: Group) -> bool:
        """Return whether a group certainly loses data without the drive: no other member has it."""
        return self.stack.loses(group, self.drive.disks)

    def dropped_by(self) -> list[Group]:
        """Return the groups that have dropped a member on the drive."""
        dropping = []
        for group in self.groups:
            faulty = [member for member in group.members if member.state == 'faulty']
            if any(map(self._is_below, faulty)):
                dropping.append(group)
        return dropping

    def _is_below(self, member: Member) -> bool:
        """Return whether a member is built on the drive."""
        return bool(self.stack.below(member) & self.drive.disks)

    def step(self, earlier: Sequence[Step]) -> Step:
        """Return the step for a drive to replace: for the strictest of the reasons that the groups
        on it give. earlier: the steps for the preceding drives.
        """
        in_use = list(filter(self.stack.carries_data, self.groups))
        swaps = list(filter(self._is_bare_swap, in_use))
        with_data = [group for group in in_use if group not in swaps]
        reasons = [(self._reason(group, earlier), group) for group in with_data]
        reasons.sort(key=_strictness)
        if reasons:
            why, _ = reasons[0]
        else:
            code = 'only-swap' if swaps else 'use-unknown'
            why = sentences.of_drive(code, self.drive.name)
        # the admin copies the data of these groups, too
        also_copied = [
            group
            for reason, group in reasons[1:]
            if _label(reason) == COPY and reason.code != 'leave-cluster'
        ]
        return self._step(self._continued(why, also_copied, swaps))

    def _continued(
        self, why: Coded, also_copied: Sequence[Group], swaps: Sequence[Group]
    ) -> Coded:
        """Return the reason for the step with what else an admin must know. also_copied: groups
        whose data is also to be copied first. swaps: those that are only swap space.
        """
        # with any other label, the admin copies or keeps all data anyway
        unlisted = self._unlisted_volume_groups() if _label(why) == NEXT else []
        words = [
            sentences.also_copied(also_copied),
            sentences.also_dropped(why, self.dropped_by()),
            sentences.unlisted(unlisted),
            sentences.swap(swaps),
        ]
        return sentences.continued(why, words)

    def _unlisted_volume_groups(self) -> list[str]:
        """Return the names of the LVM volume groups that may have inactive volumes on only this
        drive; [] if there are none.

        A volume group is included if its inactive volumes are not known, and one of its active
        volumes loses a member with the drive.
        """
        # Group.unlisted of an active volume is the name of its volume group, or '' if the inactive
        # volumes of that are known. It is '' for all other groups.
        return sorted(
            {
                group.unlisted
                for group in self.groups
                if group.unlisted and self.stack.lost_members(group, self.drive.disks)
            }
        )

    def _is_bare_swap(self, group: Group) -> bool:
        """Return whether a group is swap space without redundancy: nothing must be copied, but the
        system uses it. Swap space on redundant storage is data of that storage.
        """
        if group.used_as != ('swap',):
            return False
        return all(is_redundant(lower) is False for lower in self.chain(group))

    def kept(self) -> Step | None:
        """Return the step for a drive that must stay because it has the last copy of the data of a
        group that still survives; None if the drive may go.
        """
        for group in self.groups:
            if self.stack.survives(group) and self.is_needed_by(group):
                last_copy = self._last_copy(group)
                if last_copy:
                    return self._step(last_copy)
        return None

    def _step(self, why: Coded) -> Step:
        """Return the step for the drive, with this reason."""
        return Step(
            self.drive, _label(why), why, tuple(group.id for group in self.groups)
        )

    def _reason(self, group: Group, earlier: Sequence[Step]) -> Coded:
        """Return the reason for the drive's step, considering only one group that is in use. If the
        drive could be replaced now, but other members may lack its data, this doubt is the reason.
        """
        why = self._without_doubts(group, earlier)
        if _label(why) != NEXT:
            return why
        # A log or cache of ZFS, or a journal that md has dropped, holds no data that members lack.
        if why.code == 'only-log-or-cache' and (
            group.kind == 'zfs' or self.dropped_by()
        ):
            return why
        return self._doubt(group) or why

    def _without_doubts(self, group: Group, earlier: Sequence[Step]) -> Coded:
        """Return the reason for the drive's step, considering only one group that is in use.

        Members in sync count as complete, whatever doubts there are.
        """
        # The data of the group is already lost.
        if self.stack.loses(group):
            return sentences.reason('group-incomplete', group)
        survives = self.stack.survives(group, self.drive.disks)
        if survives:
            return self._if_survives(group, earlier)
        chain = self.chain(group)
        if survives is None:
            return _of_unknown(group, chain)
        # From here on, the group certainly loses its data without the drive.
        last_copy = self._last_copy(group)
        if last_copy:
            return last_copy
        # It is not known whether a partition of unknown use has any data.
        if partitions.is_unknown(group):
            return _of_unknown(group, chain)
        # This is the lowest group that loses data without the drive. There is one, because *group*
        # loses data itself.
        lowest = next(filter(self.is_needed_by, chain))
        lost = self.stack.lost_members(lowest, self.drive.disks)
        return sentences.no_redundancy(group, lost)

    def _doubt(self, group: Group) -> Coded | None:
        """Return why other members of a group may lack this drive's data: the first doubt about
        them, or that their drives were not checked; None if there is no such reason.
        """
        first = next(self.stack.doubts(self.drive.disks, group), None)
        if first:
            doubted, doubt = first
            return sentences.reason(
                'redundancy-doubtful', doubted, doubt=sentence(doubt, 300)
            )
        with_data = [member for member in group.members if not member.role]
        below = frozenset().union(*map(self.stack.below, with_data))
        unread = [
            drive.name
            for drive in self.drives
            if not drive.is_judged and drive != self.drive and drive.disks & below
        ]
        return sentences.unchecked(group, unread) if unread else None

    def _last_copy(self, group: Group) -> Coded | None:
        """Return the reason not to remove a drive with the last copy of the data of a redundant
        group, from the drive up to *group*; None if there is no such group. If there are several,
        the reason is about the weakest one: it is being rebuilt, or has no other copy.

        Groups without redundancy do not count: each drive has the only copy of its data.
        """
        needing = [
            lower
            for lower in self.chain(group)
            if is_redundant(lower) and self.is_needed_by(lower)
        ]
        if not needing:
            return None
        weakest = self._weakest(needing)
        if weakest.activity in REBUILDING:
            return sentences.busy(weakest)
        return sentences.last_copy(weakest, is_dying=self._dying(weakest) is not None)

    def _dying(self, group: Group) -> Drive | None:
        """Return a failing drive of a group that loses data if all its failing drives fail; None if
        it survives without them. If one drive alone would be enough, it is returned.
        """
        disks = self.stack.disks(group.id)
        failing = [
            drive for drive in self.drives if drive.is_failing and drive.disks & disks
        ]
        if not failing or not self.stack.loses(group, _disks(failing)):
            return None
        enough = [drive for drive in failing if self.stack.loses(group, drive.disks)]
        return (enough or failing)[0]

    def _if_survives(self, group: Group, earlier: Sequence[Step]) -> Coded:
        """Return the reason for a step if the group survives when only this drive is removed: the
        drive has no data of the group, a group is being rebuilt, or the reason beside other drives.
        """
        with_data = [
            lower
            for lower in self.chain(group)
            if self.stack.holds(lower.id, self.drive.disks)
        ]
        if group not in with_data:
            return self._if_unused(group)
        for lower in with_data:
            if lower.activity in REBUILDING:
                return sentences.busy(lower)
        return self._beside_others(group, earlier)

    def _beside_others(self, group: Group, earlier: Sequence[Step]) -> Coded:
        """Return the reason for a step if the group survives without this drive, and has all its
        data. It is the first of these: another drive comes first; more members are failing than
        the group tolerates; the drive comes next.
        """
        drive = self.drive
        chain = self.chain(group)
        removed = [step.drive for step in earlier if step.label == NEXT]
        failing = [other for other in self.drives if other.is_failing]
        # if each failing drive fails completely
        lost_at_worst = _disks([drive, *removed, *failing])
        weakest = self._weakest(chain, lost_at_worst)
        before = _replaced_before(chain, earlier)
        if before:
            is_second = drive.is_failing and before.is_failing
            code = 'second-failing-member' if is_second else 'other-drive-first'
            return sentences.reason(code, weakest, before.name, before.bay)
        if not self.stack.survives(group, lost_at_worst):
            return sentences.reason(
                'data-at-risk', weakest, drive=sentences.called(drive.name, drive.bay)
            )
        # A group below may be lost without the drive, although *group* survives.
        survivor = group if self.stack.loses(weakest, drive.disks) else weakest
        return sentences.reason('replace-next', survivor)

    def _if_unused(self, group: Group) -> Coded:
        """Return the reason for a step if the drive holds no data of the group. It is the first of
        these: the drive is only a log, cache or journal; the group loses data if all its failing
        drives fail; the drive is not used.
        """
        # In the lowest group without data on the drive, the drive is a spare, is rebuilt, was dropped,
        # or is a log, cache or journal.
        lowest = next(
            lower
            for lower in self.chain(group)
            if not self.stack.holds(lower.id, self.drive.disks)
        )
        on_drive = list(filter(self._is_below, lowest.members))
        is_only_aside = all(member.role for member in on_drive)
        if is_only_aside:
            return sentences.only_aside(lowest, on_drive)
        if self._dying(group):
            # A rebuild puts load on the failing drives before the data is copied. The data at risk
            # is that of the lowest such group: of an array rather than of one volume on it.
            for lower in self.chain(group):
                dying = self._dying(lower)
                has_its_data = self.stack.loses(group, self.stack.disks(lower.id))
                if dying and has_its_data:
                    return sentences.reason(
                        'copy-other-first', lower, dying.name, dying.bay
                    )
        return sentences.not_used(lowest, is_dropped=lowest in self.dropped_by())

    def _weakest(self, groups: Sequence[Group], lost: Disks = frozenset()) -> Group:
        """Return the group that tolerates the fewest further losses after those of *lost*, 0 if
        unknown. Groups without redundancy, or that have lost data, count only if all are like that.
        """
        protecting = [
            group
            for group in groups
            if is_redundant(group) and not self.stack.loses(group)
        ]
        return min(
            protecting or groups,
            key=lambda group: self.stack.tolerates(group, lost) or 0,
        )


def _replaced_before(groups: Sequence[Group], earlier: Sequence[Step]) -> Drive | None:
    """Return the first drive that an earlier step replaces now and that shares a redundant group
    with these groups; None if there is none. earlier: the steps for the preceding drives.
    """
    redundant = {group.id for group in groups if is_redundant(group)}
    for step in earlier:
        if step.label in (NEXT, COPY) and not redundant.isdisjoint(step.groups):
            return step.drive
    return None


def _label(reason: Coded) -> str:
    """Return the label of a step with this reason: one of LABELS."""
    return OF_CODE[reason.code][0]


def _strictness(reason_of: tuple[Coded, Group]) -> tuple[int, bool]:
    """Return a key that sorts reasons, each with its group, the strictest one first.

    "leave-cluster" comes after the others with its label: a cluster moves only its own data, and
    the admin must copy the rest.
    """
    reason, _ = reason_of
    return STRICTEST.index(_label(reason)), reason.code == 'leave-cluster'


def _of_unknown(group: Group, chain: Sequence[Group]) -> Coded:
    """Return the reason to copy the data of a group whose use or redundancy is unknown. chain: the
    groups from the drive up to the group.
    """
    if partitions.is_unknown(group):
        return sentences.of_drive('use-unknown', clean(group.name, 40))
    if group.kind == 'ceph':
        return sentences.reason('leave-cluster', group)
    for lower in chain:
        if is_redundant(lower) is None:
            return sentences.unknown(lower)
    return sentences.unknown(group)


def machine(groups: Sequence[Group], drives: Sequence[Drive]) -> Machine:
    """Return a machine's groups and the order of replacement. drives: most severe first."""
    stack = Stack(groups)
    failing = _disks(drive for drive in drives if drive.is_failing)
    every = _with_unread(stack, drives)
    memberships = []
    for group in stack.groups.values():
        below = tuple(_names(stack.below(member), every) for member in group.members)
        memberships.append(Membership(group, stack.tolerates(group, failing), below))
    # those closest to data loss first, unknown ones last
    memberships.sort(key=lambda group: (group.tolerates is None, group.tolerates or 0))
    return Machine(tuple(memberships), order(stack, drives))


def _names(disks: Disks, drives: Iterable[Drive]) -> tuple[str, ...]:
    """Return the sorted names of the drives that have any of these disks. Two actuators of a drive
    may be read as two drives.
    """
    return tuple(sorted({drive.name for drive in drives if drive.disks & disks}))


# --- in the outputs -------------------------------------------------------------------------------


def uses(drives: Sequence[Located], machine: Machine) -> tuple[Use, ...]:
    """Return the groups that depend on each drive, and whether the drive may be replaced."""
    groups = {membership.group.id: membership.group for membership in machine.groups}
    replacements = {}
    for step in machine.steps:
        replacements[step.drive.name] = Replacement(
            step.label, step.why, sentences.brief(step.why, groups)
        )
    uses = []
    for verdict, place in drives:
        name = verdict.device.name
        dependences = tuple(_dependences(name, machine.groups))
        uses.append(Use(verdict, place, dependences, replacements.get(name)))
    return tuple(uses)


def _dependences(name: str, groups: Sequence[Membership]) -> Iterator[Dependence]:
    """Yield the groups that are built on a drive, once for each member on it. name: of the drive."""
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


def document(machine: Machine, verdicts: Sequence[Verdict]) -> Json:
    """Return the groups, each with its members and their drives, and the order of replacement."""
    states = {verdict.device.name: verdict.state.name for verdict in verdicts}
    return {
        'groups': [_group(membership, states) for membership in machine.groups],
        'replace_order': list(map(_step, machine.steps)),
    }


def _group(membership: Membership, states: Json) -> Json:
    """Return a group with its members. states: of the drives, by name."""
    group, tolerates, drives = membership
    return {
        'id': clean(group.id, TEXT),
        **_properties(group),
        'tolerates': tolerates,
        'activity': group.activity or None,
        'progress': group.progress,
        'missing': group.missing,
        'unknown': sentence(group.unknown, TEXT) or None,
        'text': sentence(sentences.tolerance(group, tolerates), TEXT),
        'members': [
            _member(member, names, states)
            for member, names in zip(group.members, drives)
        ],
    }


def _member(member: Member, drives: Sequence[str], states: Json) -> Json:
    """Return a member, with the names and states of the drives below it."""
    return {
        'name': clean(member.name, TEXT) or None,
        'state': member.state,
        'slot': member.slot,
        'role': member.role or None,
        'detail': clean(member.detail, TEXT) or None,
        'drives': [{'name': name, 'state': states.get(name)} for name in drives],
    }


def _properties(group: Group) -> Json:
    """Return what the document says of a group both in the list of groups and with a drive."""
    return {
        'name': clean(group.name, TEXT),
        'kind': group.kind,
        'level': group.level or None,
        'used_as': [clean(use, TEXT) for use in group.used_as],
    }


def _step(step: Step) -> Json:
    """Return a step of the order of replacement."""
    return {
        'name': step.drive.name,
        'label': step.label,
        'code': step.why.code,
        'why': sentence(step.why, TEXT),
        'disks': sorted(step.drive.disks),
        'groups': list(step.groups),
    }


def depends(use: Use) -> list[Json]:
    """Return the groups that a drive is a member of, for the JSON document."""
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
# Code of a reason (redundancy in codes.json) -> the label of its replacement, and the risk of the group.
OF_CODE = {
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


def grades(
    machine: Machine, verdicts: Sequence[Verdict]
) -> dict[str, tuple[Risk, int]]:
    """Return the risk of each group and the group's place in the document, by group id."""
    groups = document(machine, verdicts)['groups']
    return {
        membership.group.id: (risk(group), place)
        for place, (membership, group) in enumerate(zip(machine.groups, groups))
    }


def risk(group: Json) -> Risk:
    """Return the risk of a group: the first of these that applies.

    - It is swap space without redundancy, which holds no data: PLAIN
    - It is not known what it tolerates: UNSURE with a failing drive, UNKNOWN without any
    - It has lost, or is about to lose, more members than it tolerates: BEYOND
    - It has no redundancy: PLAIN
    - It tolerates no further loss: LAST
    - Its members and their drives are all healthy: REDUNDANT; else DEGRADED

    group: the object of the group in the JSON document.
    """
    tolerates = group['tolerates']
    member_count = len(group['members']) + group['missing']
    # An unknown level counts as one that tolerates a loss.
    has_redundancy = member_count > 1 and TOLERANCE.get(group['level'], 1) != 0
    if group['used_as'] == ['swap'] and not has_redundancy:
        return Risk.PLAIN
    if tolerates is None:
        return Risk.UNSURE if _has_failing_drive(group) else Risk.UNKNOWN
    if tolerates < 0:
        return Risk.BEYOND
    if not has_redundancy:
        return Risk.PLAIN
    if tolerates == 0:
        return Risk.LAST
    is_whole = not group['missing'] and group['activity'] not in REBUILDING
    states = {member['state'] for member in group['members']}
    has_good_members = states <= {'in_sync', 'spare'}
    is_healthy = is_whole and has_good_members and not _has_failing_drive(group)
    return Risk.REDUNDANT if is_healthy else Risk.DEGRADED


def _has_failing_drive(group: Json) -> bool:
    """Return whether a drive of a group is CRITICAL or could not be read."""
    return any(
        drive['state'] in FAILING
        for member in group['members']
        for drive in member['drives']
    )
