"""Calculate whether data survives the loss of disks, through all layers of groups. Pure.

The answer is True, False, or None if the redundancy of a group is unknown.
Sources: Linux, md.rst, drivers/md/raid10.c (layouts); btrfs.rst, mkfs.btrfs(8) (profiles);
zpoolconcepts(7) (vdevs).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..model import Group, Member
from ..typed import NamedTuple

Disks = frozenset[str]  # kernel names
# The states of members that may hold data of a group of unknown redundancy, which reports no states:
# it needs what lies below it, and more than that cannot be lost with a disk.
_MAY_HOLD = ('in_sync', 'unknown')
LOOK = 'run: '
ALL_BUT_ONE = -1  # every member is a full copy
# Level -> number of members, any of them, that it can lose. Unlike md raid10, btrfs puts copies on
# any two devices, so btrfs can lose only one member.
TOLERANCE = {
    'single': 0,
    'linear': 0,
    'raid0': 0,
    'dup': 0,
    'raid1': ALL_BUT_ONE,
    'mirror': ALL_BUT_ONE,
    'raid4': 1,
    'raid5': 1,
    'raid6': 2,
    'raid10-unknown-layout': 1,
    'btrfs-raid1': 1,
    'btrfs-raid10': 1,
    'btrfs-raid5': 1,
    'btrfs-raid6': 2,
    'raid1c3': 2,
    'raid1c4': 3,
    'raidz1': 1,
    'raidz2': 2,
    'raidz3': 3,
    'draid1': 1,
    'draid2': 2,
    'draid3': 3,
}


def doubt(why: str, remedy: str) -> str:
    """Return a reason to doubt a copy, and what ends it, as a clause.

    why: a clause. remedy: what to do, in words, which the document has commands for; or LOOK and a
    command that only shows more, because the program prints no command that changes storage.
    """
    if not remedy.startswith(LOOK):
        remedy = f'{remedy}, see doc/how-to/replace-a-drive.md'
    return f'{why}; {remedy}'


class Stripe(NamedTuple):
    """Some slots of a group, and how many of these slots may be lost at the same time."""

    slots: frozenset[int]
    tolerance: int


def stripes(group: Group) -> tuple[Stripe, ...] | None:
    """Return the stripes of a group, which show the slots that may be lost together; None if
    unknown.
    """
    if group.unknown or group.slots < 1:
        return None
    if group.level == 'raid10':  # md's: the slot decides who holds copies of each other
        return _raid10(group.slots, group.layout)
    tolerance = TOLERANCE.get(group.level)
    if tolerance is None:
        return None
    if tolerance == ALL_BUT_ONE:
        tolerance = group.slots - 1
    return (Stripe(frozenset(range(group.slots)), tolerance),)


def is_redundant(group: Group) -> bool | None:
    """Return whether a group can lose a member when all its members are in sync; None if
    unknown.
    """
    all_stripes = stripes(group)
    if all_stripes is None:
        return None
    return all(stripe.tolerance > 0 for stripe in all_stripes)


def lacks_member(group: Group) -> bool:
    """Return whether a group reports that a member is missing or has failed."""
    return group.missing > 0 or any(
        member.state in ('missing', 'faulty') for member in group.members
    )


def _raid10(slots: int, layout: int) -> tuple[Stripe, ...] | None:
    """Return the stripes of md's raid10; None if they are unknown.

    Near copies of a chunk lie in neighboring slots. With 3 slots and 2 near copies, chunk 0 is in
    slots 0 and 1, chunk 1 in 2 and 0, chunk 2 in 1 and 2, and chunk 3 in 0 and 1 again. Stripes can
    occur twice: with 4 slots and 2 near copies, chunks 0 and 2 are both in slots 0 and 1. With far
    copies, all slots are one stripe; if there are 3 copies, any 2 slots may be lost.

    layout: bits 0 to 7: near copies; 8 to 15: far copies; 16: offset, which does not matter here;
    17 and 18: far copies in sets of slots, which is unknown here, because a set may have all copies
    on one slot.
    """
    near = layout & 255
    far = layout >> 8 & 255
    copies = near * far
    # The far copies are in sets of slots.
    if layout >> 17:
        return None
    if copies < 2 or copies > slots:
        return None
    if far > 1:
        return (Stripe(frozenset(range(slots)), copies - 1),)
    stripes = []
    # all further chunks are in the same slots as these
    for chunk in range(slots):
        neighbors = [(chunk * near + copy) % slots for copy in range(near)]
        stripes.append(Stripe(frozenset(neighbors), near - 1))
    return tuple(stripes)


class Stack:
    """All groups of a machine, and which groups are built on which disks.

    No group is built on itself, directly or through others: dependence.groups() refuses this.
    """

    def __init__(self, groups: Iterable[Group]) -> None:
        self.groups = {group.id: group for group in groups}
        # disks, and ids of groups, that another group is built on
        self._below = {
            name
            for group in self.groups.values()
            for member in group.members
            for name in member.on
        }
        # results of earlier calls: id of a group -> disks below it
        self._disks: dict[str, Disks] = {}
        # id of a group, and lost disks below it -> whether its data is left
        self._answers: dict[tuple[str, Disks], bool | None] = {}

    def disks(self, name: str) -> Disks:
        """Return the disks below a group, or the disk itself."""
        if name not in self.groups:
            return frozenset((name,))
        if name not in self._disks:
            members = self.groups[name].members
            self._disks[name] = frozenset().union(*map(self.below, members))
        return self._disks[name]

    def below(self, member: Member) -> Disks:
        """Return the disks below a member."""
        return frozenset().union(*map(self.disks, member.on))

    def of(self, disks: Disks) -> list[Group]:
        """Return the groups that are built on any of these disks, directly or through others."""
        return [group for group in self.groups.values() if self.disks(group.id) & disks]

    def between(self, disks: Disks, group: Group) -> list[Group]:
        """Return the groups from these disks up to *group*, lowest first."""
        inside = self._inside(group.id)
        between = [lower for lower in self.of(disks) if lower.id in inside]
        # each group has more groups inside than any group below it
        return sorted(between, key=lambda lower: len(self._inside(lower.id)))

    def _inside(self, *names: str) -> set[str]:
        """Return the ids of the groups among these names, and of all groups below them."""
        inside: set[str] = set()
        todo = list(names)
        for name in todo:  # the loop adds to this list
            if name in self.groups and name not in inside:
                inside.add(name)
                for member in self.groups[name].members:
                    todo += member.on
        return inside

    def doubts(self, disks: Disks, group: Group) -> Iterator[tuple[Group, str]]:
        """Yield each reason why *group* may lack data after a drive is removed, with the group that
        the reason is about. disks: of the drive.

        These are the doubts about each group from the drive up to *group*, and about all groups
        below the members that such a group still has.
        """
        for lower in self.between(disks, group):
            yield from self._own_doubts(lower, disks)
            for member in self._remaining(lower, disks):
                # the groups below the member
                for name in sorted(self._inside(*member.on)):
                    yield from self._own_doubts(self.groups[name], disks)

    def _own_doubts(self, group: Group, disks: Disks) -> Iterator[tuple[Group, str]]:
        """Yield a group with each doubt about it, and about each member that remains without these
        disks.
        """
        for doubt in group.doubts:
            yield group, doubt
        for member in self._remaining(group, disks):
            for doubt in member.doubts:
                yield group, f'{member.name} {doubt}'

    def _remaining(self, group: Group, disks: Disks) -> list[Member]:
        """Return the members that have, or may have, their part of a group's data without these
        disks; [] if the group is then lost.
        """
        if self.loses(group, disks):
            return []
        return [
            member
            for member in group.members
            if self._has_part(member, disks) is not False
        ]

    def holds(self, name: str, disks: Disks) -> bool:
        """Return whether any of these disks holds data of a group: on the way from the disk to the
        group, each member is in sync, or its state is unknown in a group of unknown redundancy.

        A member with a role, such as a log, holds no data of its group. name: the id of the group;
        for a disk, return whether it is among *disks*.
        """
        group = self.groups.get(name)
        if group is None:
            return name in disks
        states = _MAY_HOLD if stripes(group) is None else ('in_sync',)
        for member in group.members:
            has_data = member.state in states and not member.role
            if has_data and any(self.holds(below, disks) for below in member.on):
                return True
        return False

    def lost_members(self, group: Group, lost: Disks) -> list[Member]:
        """Return the members of a group that are lost without these disks, or may be."""
        return [
            member for member in group.members if not self._is_member_left(member, lost)
        ]

    def carries_data(self, group: Group) -> bool:
        """Return whether a group has a use of its own, or is a member of no other group."""
        return bool(group.used_as) or group.id not in self._below

    def survives(self, group: Group, lost: Disks = frozenset()) -> bool | None:
        """Return whether a group's data can be read without these disks, given the present states of
        its members; None if unknown.
        """
        return self._is_left(group.id, lost)

    def loses(self, group: Group, lost: Disks = frozenset()) -> bool:
        """Return whether a group's data certainly cannot be read without these disks."""
        return self.survives(group, lost) is False

    def _is_left(self, name: str, lost: Disks) -> bool | None:
        """Return whether a disk, or the data of a group, is left; None if unknown. name: of the disk,
        or the group's id.
        """
        group = self.groups.get(name)
        if group is None:
            return name not in lost
        # the answer depends only on the lost disks below the group, so each such set is asked once
        question = name, self.disks(name) & lost
        if question not in self._answers:
            self._answers[question] = self._answer(group, lost)
        return self._answers[question]

    def _answer(self, group: Group, lost: Disks) -> bool | None:
        """Return whether a group's data is left, for _is_left(): True, False, or None if unknown.

        A group of unknown redundancy may need all of its members: True if all are left, else None.
        """
        all_stripes = stripes(group)
        if all_stripes is not None:
            have_part = self._have_part(group, lost)
            return _all(_has_enough(stripe, group, have_part) for stripe in all_stripes)
        for member in group.members:
            if member.state not in _MAY_HOLD or not self._is_member_left(member, lost):
                return None
        return True

    def _have_part(self, group: Group, lost: Disks) -> list[bool | None]:
        """Return for each member whether it has its part of the data; None if unknown."""
        return [self._has_part(member, lost) for member in group.members]

    def _has_part(self, member: Member, lost: Disks) -> bool | None:
        """Return whether a member has its part of the data; None if unknown."""
        if member.state == 'unknown':
            return None
        return member.state == 'in_sync' and self._is_member_left(member, lost)

    def _is_member_left(self, member: Member, lost: Disks) -> bool | None:
        """Return whether all that a member is built on is left without these disks; None if
        unknown.
        """
        return _all(self._is_left(below, lost) for below in member.on)

    def tolerates(self, group: Group, lost: Disks) -> int | None:
        """Return how many further members, whichever they are, may fail; negative if too many
        are already lost, None if unknown. Members on the same disk count as one.
        """
        all_stripes = stripes(group)
        if all_stripes is None:
            return None
        have_part = self._have_part(group, lost)
        spare_slots = min(
            _spare_slots(stripe, group, have_part) for stripe in all_stripes
        )
        if spare_slots < 1:
            return spare_slots
        # if each disk has 2 members, 3 spare slots are enough for the failure of one disk
        return spare_slots // self._fail_together(group, lost)

    def _fail_together(self, group: Group, lost: Disks) -> int:
        """Return how many members fail, at most, if one more disk fails: 2 if a disk has two
        partitions that are members of the group.
        """
        largest = 1
        had_part = self._have_part(group, lost)
        for disk in self.disks(group.id):
            have_part = self._have_part(group, lost | {disk})
            # the answer changes only for a member that fails, or may fail, with the disk
            failed = sum(had != has for had, has in zip(had_part, have_part))
            largest = max(largest, failed)
        return largest


def _all(answers: Iterable[bool | None]) -> bool | None:
    """Return False if any answer is False, else None if any is None, else True."""
    different = set(answers)
    if False in different:
        return False
    return None if None in different else True


def _has_enough(
    stripe: Stripe, group: Group, have_part: Sequence[bool | None]
) -> bool | None:
    """Return whether a stripe has not lost more slots than it tolerates; None if this depends on
    members of unknown state. have_part: see Stack._have_part().
    """
    # _spare_slots() counts members of unknown state as lost
    at_worst = _spare_slots(stripe, group, have_part)
    if at_worst >= 0:
        return True
    may_have_part = [has_part is not False for has_part in have_part]
    at_best = _spare_slots(stripe, group, may_have_part)
    return None if at_best >= 0 else False


def _spare_slots(stripe: Stripe, group: Group, have_part: Sequence[bool | None]) -> int:
    """Return how many more slots of a stripe may be lost; negative if too many are.

    Members of unknown state count as lost. have_part: see Stack._have_part().
    """
    good_slots = {
        member.slot for member, has_part in zip(group.members, have_part) if has_part
    }
    lost_slots = stripe.slots - good_slots
    return stripe.tolerance - len(lost_slots) - group.missing
