"""The plan of a machine: steps with commands for each drive to replace, and for each group that lacks a member.

plan.json holds all texts and commands; the documentation is made from it, too. The modules redundancy.replacement and
work_list decide which drives may be replaced, and in which order. A plan is only printed, never carried out. Pure.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from ..constants import LONGEST_TEXT
from ..model import Group, Item, Member
from ..redundancy.replacement import BUSY, Drive, Step
from ..redundancy.sentences import named
from ..redundancy.surroundings import BIOS, EFI, Around, Part
from ..redundancy.survival import IN_SYNC, SPARE, Stack, is_redundant, lacks
from ..typed import TYPE_CHECKING, NamedTuple
from ..words import argument, clean, sentence
from . import actions
from . import plan_steps as tables
from .plan_steps import GROUPS, NEW, PlanStep, Task, filled

if TYPE_CHECKING:
    from ..redundancy.replacement import Machine
    from ..typed import Json


class _Place(NamedTuple):
    """A member of a group that will be replaced, and its replacement."""
    group: Group
    member: Member
    kernel: str                      # name of its device in /sys: "sda1"
    part: Part | None                # None: not a partition
    spare: str = ''                  # a spare that the group has; '': a new disk is needed
    layers: tuple[Group, ...] = ()   # between the disk and the group, the lowest first


class _About(NamedTuple):
    """The drive or group that a task is about."""
    drive: Drive | None
    group: Group | None
    places: Sequence[_Place]
    words: Json                      # values of the placeholders in plan.json
    is_dead: bool = False            # the kernel has given up its drive
    disk: str = ''                   # the disk whose size and partitions a new disk needs


def plan(machine: Machine, items: Iterable[Item], around: Around) -> tuple[Task, ...]:
    """Return a machine's tasks: for drives in work list order, then for groups that lack a member."""
    maker = _Maker(machine, around)
    steps = {step.drive.name: step for step in machine.steps}
    return (*(task for item in items for task in maker.of_item(item, steps.get(item.drive))), *maker.degraded())


class _Maker:
    """Makes the tasks of one machine."""

    def __init__(self, machine: Machine, around: Around) -> None:
        self._around, self._steps = around, machine.steps
        self._done = set[str]()   # groups with a task: a group has only one of its own, even if several drives need it
        self._stack = Stack(each.group for each in machine.groups)
        self._bad = frozenset(disk for step in machine.steps for disk in step.drive.disks
                              if step.drive.is_failing or step.drive.is_to_replace)

    def of_item(self, item: Item, step: Step | None) -> Iterator[Task]:
        """Yield the task for a drive, if there is a task now."""
        words = {'drive': clean(item.drive), 'asked': self._around.asked,
                 'where': f' ({clean(item.place.bay)})' if item.place.bay else '',
                 'light': f'echo 1 > {argument(item.place.light, "FILE")}' if item.place.light else '',
                 'why': sentence(step.why if step else '', LONGEST_TEXT)}
        is_replaced = item.action in (*actions.REPLACING, actions.ORDER, actions.ORDER_COPY)
        if step is None:
            if is_replaced:
                yield _task('use-unknown', _About(Drive(item.drive, frozenset()), None, (), words),
                            [filled('find-behind', words)])
            return
        code, group = step.why.code, self._stack.groups.get(str(step.why.fields.get('group', '')))
        places = self._places(step.drive)
        lacking = next((each.group for each in places if is_redundant(each.group) and lacks(each.group)), None)
        if lacking and code in ('replace-next', 'data-at-risk'):   # a rebuild would use the new member
            code, group = 'degraded', lacking
        if code == 'redundancy-doubtful' and group and group.kind == 'lvm' and (
                lacks(group) or self._stack.disks(group.id) & self._around.dead):
            code = 'degraded'   # LVM repairs nothing while a disk is missing
        if code == 'redundancy-doubtful' and group and group.kind == 'btrfs' and step.drive.disks <= self._around.dead:
            code = 'replace-next'   # btrfs does not drop disks, and cannot scrub a dead one
        if is_replaced or code in (*tables.OF_GROUP, 'member-not-used'):   # the cable or the firmware may be the cause
            yield from self._of_code(code, step.drive, group, places, words)

    def degraded(self) -> Iterator[Task]:
        """Yield a task for each group that lacks a member but has lost no data."""
        for group in self._stack.groups.values():
            if is_redundant(group) and lacks(group) and group.activity not in BUSY and self._stack.survives(
                    group, frozenset()):
                yield from self._of_code('degraded', None, group, (), {'drive': '', 'asked': self._around.asked})

    def _of_code(self, code: str, drive: Drive | None, group: Group | None, places: Sequence[_Place],
                 words: Json) -> Iterator[Task]:
        disk = next((each for each in sorted(drive.disks if drive else ()) if each in self._around.sizes), '')
        words = {**words, **self._of_disk(disk), **(self._of_group(group) if group else {})}
        parts = tables.PARTS.get(f'{code} {group.kind if group else ""}') or tables.PARTS.get(code, ())
        if group and code in tables.OF_GROUP and group.id in self._done:
            return
        if group and 'restore' in parts:
            places = [place for each in self._alike(group) for place in self._beside(each)]
            disk = next(map(self._below, places), '')
        is_dead = bool(drive and drive.disks <= self._around.dead)
        about = _About(drive, group, places, {**words, **self._of_new(disk)}, is_dead, disk)
        steps = list(dict.fromkeys(each for part in parts for each in _PART[part](self, about)))
        first = next((each for each in steps if NEW in ' '.join((each.see, *each.run))), None)
        if first and first.code != 'new-disk':   # an earlier task has connected the new disk
            steps.insert(steps.index(first), filled('set-new', about.words))
        if steps:
            self._done.update([group.id] if group else (), (each.group.id for each in places if 'restore' in parts))
            yield _task(code, about, steps)

    def _alike(self, group: Group) -> list[Group]:
        """Return the groups that the task for a group restores: all incomplete volumes if it is in a volume group."""
        vg = group.name.partition('/')[0]
        return [group, *(each for each in self._stack.groups.values() if each != group and is_redundant(each)
                         and each.kind == group.kind == 'lvm' and each.name.partition('/')[0] == vg and lacks(each))]

    # --- the members that are replaced ------------------------------------------------------------------------

    def _places(self, drive: Drive) -> list[_Place]:
        """Return, for each use of a drive, the lowest member that can be replaced while the group is in use."""
        found: dict[object, _Place] = {}
        is_dead = drive.disks <= self._around.dead   # nothing can be moved off it
        for group in filter(self._stack.carries_data, self._stack.of(drive.disks)):
            chain = self._stack.between(drive.disks, group)
            holder = next((each for each in chain if is_redundant(each) or (
                each.kind in tables.MOVABLE and not is_dead)), chain[0])
            for part, member in ((each, one) for each in chain for one in each.members):
                if (part is holder or member.role) and self._stack.is_on(member, drive.disks):
                    place = self._place(part, member, drive.disks)._replace(layers=tuple(chain[:chain.index(part)]))
                    key = place.kernel if part.kind == 'lvm' and not is_dead else (part.id, member.name)
                    found.setdefault(key, place)   # all volumes of LVM on a device are moved at once
        return list(found.values())

    def _place(self, group: Group, member: Member, disks: frozenset[str]) -> _Place:
        """Return a member with the device below it. For an image of LVM, the member's name lists several devices."""
        names = [self._around.kernel.get(name, name) for name in member.name.split(', ')]
        kernel = next((name for name in names if {name, self._disk(name)} & disks), names[0])
        spare = next((each.name for each in group.members if (each.state, each.role) == SPARE and not each.doubts
                      and not any(self._stack.disks(below) & self._bad for below in each.on)), '')
        return _Place(group, member, kernel, self._around.parts.get(kernel), spare * (
            not member.role and 'spare' in GROUPS.get(group.kind, ())))

    def _disk(self, name: str) -> str:
        return self._around.parts[name].disk if name in self._around.parts else name

    def _beside(self, group: Group) -> list[_Place]:
        """Return a list with one healthy member of a group, as model for a new one; [] if no member is healthy."""
        good = [each for each in group.members if each.state == IN_SYNC]
        good.sort(key=lambda each: any(self._stack.disks(below) & self._bad for below in each.on))
        disks = [frozenset(disk for below in each.on for disk in self._stack.disks(below)) for each in good[:1]]
        return [self._place(group, each, below)._replace(
            spare='', layers=tuple(self._stack.between(below, group)[:-1])) for each, below in zip(good, disks)]

    def _below(self, place: _Place) -> str:
        """Return the disk below a member, which can be an encrypted volume on it."""
        crypt = next((each.members[0] for each in place.layers if each.kind == 'luks'), None)
        return self._disk(crypt.name if crypt else place.kernel)

    def _new(self, place: _Place) -> str:
        """Return the device that becomes the new member, quoted for a command."""
        if place.spare:
            return self._around.path(place.spare)
        crypt = next((each for each in reversed(place.layers) if each.kind == 'luks'), None)
        return f'/dev/mapper/{argument(crypt.name, "NAME")}-new' if crypt else _new_device(place.part)

    # --- the parts of a task ------------------------------------------------------------------------------------

    def _prepare(self, about: _About, is_sure: bool = False) -> Iterator[PlanStep]:
        """Yield the steps for a new disk, partitioned like the old disk or another disk. is_sure: a disk is needed."""
        if about.places and not any(map(_needs_disk, about.places)) and not is_sure:
            return
        parts, source = self._parts(about.disk), self._source(about)
        yield filled('new-disk', about.words)
        if parts:
            yield filled('partitions', {**about.words, 'source': self._around.path(source), 'source_name': source,
                                       'count': len(parts)})
        for place in about.places:
            for group in place.layers:
                lowest = self._place(group, group.members[0], frozenset())
                yield from self._operation('layer', group, lowest, about)

    def _parts(self, disk: str) -> set[int]:
        return {part.number for part in self._around.parts.values() if part.disk == disk}

    def _source(self, about: _About) -> str:
        """Return the disk whose partitions a new disk gets: the old disk or, if that is dead, one partitioned alike."""
        beside = (each for place in about.places if about.is_dead for each in self._beside(place.group))
        twins = (disk for disk in map(self._below, beside)
                 if disk != about.disk and self._parts(disk) == self._parts(about.disk))
        return next(twins, about.disk)

    def _members(self, about: _About) -> Iterator[PlanStep]:
        """Yield a drive's steps: members without redundancy come first; if the disk is dead, remedies come last."""
        single, others = ([each for each in about.places if is_redundant(each.group) is flag] for flag in (False, True))
        remedy = list(self._remedy(about)) if any(not each.member.role for each in others) else []
        exchange, moves = list(self._exchanges(others, about)), list(self._exchanges(single, about))
        # A dead disk may never give its own data, so whatever is on other disks too is complete before that is tried.
        yield from [*exchange, *remedy, *moves] if about.is_dead else [*moves, *remedy, *exchange]

    def _exchanges(self, places: Iterable[_Place], about: _About, name: str = '') -> Iterator[PlanStep]:
        """Yield the steps that replace members. name: the operation for all of them; '': each member decides."""
        lost = []
        for place in places:
            group, operation = place.group, name or self._exchange(place, about)
            is_bad = self._can_rewrite(group, [place.member] if operation == 'replace' else group.members)
            lost += [place] * (operation in ('drop', 'restore'))
            yield from self._halves(group, about, tables.REPAIRED if is_bad else
                                    tables.OVERWRITTEN.get(group.kind, ()) if place in lost else ())
            yield from self._operation(operation, group, place, about, is_bad)
        for place in lost:
            yield from self._operation('forget', place.group, place, about)

    def _can_rewrite(self, group: Group, members: Iterable[Member]) -> bool:
        """Return whether md has recorded bad blocks of one of these members, and other members have copies of them."""
        return group.level != 'raid10' and any(   # a repair of raid10 rewrites none
            each.state == IN_SYNC and not self._stack.is_on(each, self._around.dead)
            and any(tables.BAD_BLOCKS in doubt.fields['of'] for doubt in each.doubts)
            and self._stack.survives(group, frozenset().union(*map(self._stack.disks, each.on))) for each in members)

    def _exchange(self, place: _Place, about: _About) -> str:
        """Return the operation that replaces a member; '' if the group no longer uses it and has no other copy."""
        group, state = place.group, place.member.state
        if place.member.role or is_redundant(group):
            # No data can be moved off a disk that does not answer; LVM and md recreate the data from other copies.
            is_gone = state != IN_SYNC or (about.is_dead and group.kind in tables.RECREATING
                                           and group.id not in self._around.containers)
            return place.member.role or ('drop' if is_gone else 'replace')
        if state in ('missing', 'faulty'):
            return ''
        if about.is_dead and (group.kind == 'lvm' or self._twin(about, place.part)):
            return 'leave'
        is_swap = group.kind == 'luks' and group.used_as == ('swap',)
        return 'swap' if is_swap else 'replace' if group.kind in tables.MOVABLE else 'move'

    def _copy(self, about: _About) -> Iterator[PlanStep]:
        if about.group:
            is_mounted = any(use.startswith('/') for use in about.group.used_as)
            kind = '' if is_mounted and about.group.kind not in tables.SEVERAL else about.group.kind
            yield filled('copy-place', about.words)
            yield from self._operation('copy', about.group._replace(kind=kind), None, about)

    def _copy_dying(self, about: _About) -> Iterator[PlanStep]:
        dying = frozenset(disk for step in self._steps if step.drive.is_failing for disk in step.drive.disks)
        if about.group and self._stack.survives(about.group, dying) is False:
            yield from self._copy(about)

    def _rescue(self, about: _About) -> Iterator[PlanStep]:
        yield filled('copy-place', about.words)
        for member in about.group.members if about.group else ():
            if about.group and member.on and not self._stack.is_on(member, self._around.dead):
                place = self._place(about.group, member, frozenset())
                yield from self._operation('rescue', about.group, place, about)

    def _whole(self, name: str, about: _About) -> Iterator[PlanStep]:
        yield from self._operation(name, about.group, None, about) if about.group else ()

    def _remedy(self, about: _About) -> Iterator[PlanStep]:
        disks = about.drive.disks if about.drive else frozenset()
        found = dict.fromkeys((each.id, doubt) for group in self._stack.of(disks)
                              for each, doubt in self._stack.doubts(disks, group))
        for name in dict.fromkeys(name for name, _ in found):
            yield from self._halves(self._stack.groups[name], about, tables.REPAIRED)
        for name, doubt in found:
            if self._stack.groups[name].kind == 'btrfs' and any(self._stack.is_on(member, self._around.dead - disks)
                                                                for member in self._stack.groups[name].members):
                continue   # a scrub fails while a dead disk is a member; the dead disk has its own task
            yield from self._operation('remedy', self._stack.groups[name], None, about._replace(
                words={**about.words, **doubt.fields}))

    def _halves(self, group: Group, about: _About, levels: Sequence[str]) -> Iterator[PlanStep]:
        """Yield the steps that copy each member of a group of these levels if its members may differ."""
        may_differ = any(group.level in tables.MIRRORS or tables.MISMATCH in each.fields['of'] for each in group.doubts)
        if may_differ and group.level in levels and 'halves' in GROUPS.get(group.kind, ()):
            yield filled('copy-place', {**about.words, **self._of_group(group)})
            for member in group.members:
                if member.state == IN_SYNC:
                    yield from self._operation('halves', group, self._place(group, member, frozenset()), about)

    def _boot(self, about: _About) -> Iterator[PlanStep]:
        """Yield the steps that make the machine boot from the new disk, if it boots from the old disk.

        If the data moved to spares, the new disk becomes the next spare.
        """
        if about.places and all(place.spare for place in about.places):
            about = about._replace(places=[place._replace(spare='') for place in about.places])
            yield from self._prepare(about, is_sure=True)
            for place in about.places:
                yield from self._operation('spare', place.group, place, about)
        disks = about.drive.disks if about.drive else ()
        parts = {part.number: (name, part) for name, part in self._around.parts.items() if part.disk in disks}
        for name, part in parts.values():
            source = self._twin(about, part) if about.is_dead else name
            if part.role == EFI and source:
                words = {**about.words, 'part': self._around.path(source), 'new': _new_device(part),
                         'number': part.number}
                is_moved = any(each.kernel == name and self._exchange(each, about) == 'move' for each in about.places)
                yield from [filled('efi', words)] * (not is_moved)
                yield from [filled('boot-entry', words)] * self._around.has_efi
        is_system = any({'/', '/boot'} & set(group.used_as) for group in self._stack.of(frozenset(disks)))
        if any(part.role == BIOS for _, part in parts.values()) or (is_system and parts and not self._around.has_efi):
            yield filled('boot-loader', about.words)

    def _twin(self, about: _About, part: Part | None) -> str:
        """Return the EFI partition on another disk of the same groups that is like one on a dead disk, else ''."""
        disk = self._source(about)
        return next((name for name, each in self._around.parts.items() if part and part.role == each.role == EFI
                     and each.disk == disk != part.disk and each.number == part.number), '')

    def _pull(self, about: _About) -> Iterator[PlanStep]:
        yield from [filled('light', about.words)] * bool(about.words['light'])
        new = next((self._around.path(place.spare) if place.spare else NEW for place in about.places
                    if place.spare or _needs_disk(place)), '')
        yield filled('pull', {**about.words, 'answers': tables.ANSWERS.format(new) if new else 'true'})

    # --- words ------------------------------------------------------------------------------------------------

    def _operation(self, name: str, group: Group, place: _Place | None, about: _About,
                   is_bad: bool = False) -> Iterator[PlanStep]:
        """Yield the steps of an operation on a group, with names filled in. is_bad: it can rewrite bad blocks."""
        is_stopped = group.kind == 'md' and group.id not in self._around.paths   # its member is copied unchanged
        kind = GROUPS.get('' if is_stopped and name == 'move' else group.kind, {})
        if group.id in self._around.containers and group.kind:
            kind = {**kind, **GROUPS['imsm']}
        entries = kind.get(name) or (kind.get('restore') if name == 'drop' else None) or GROUPS[''].get(name, ())
        words = {**about.words, **self._of_group(group), **(self._of_place(place) if place else {})}
        is_dead = about.is_dead and (place is None or place.member.state == IN_SYNC)   # its group has not noticed
        facts = {'spare': bool(place and place.spare), 'dead': is_dead,
                 'bad': is_bad, 'lacks': lacks(group) or bool(is_dead and place and not place.spare),
                 'held': not (place and place.member.state == 'missing')}   # md still lists the disk as a member
        for entry in entries:
            if all(entry.get(key, fact) == fact for key, fact in facts.items()):
                yield filled(entry['code'], words, entry if 'what' in entry else None)

    def _of_disk(self, disk: str) -> Json:
        around, is_disk = self._around, disk in self._around.sizes
        light = {'light': f'ledctl locate={around.path(disk)}'} if around.has_led_tool and is_disk else {}
        return {'disk': around.path(disk) if is_disk else '', **light,
                'delete': f'echo 1 > {around.deletes[disk]}' if disk in around.deletes else '',
                'mounted': f'lsblk --noheadings --output MOUNTPOINT {around.path(disk)}' if is_disk else 'true'}

    def _of_new(self, disk: str) -> Json:
        """Return the placeholders about the new disk: its minimum size, and the smallest unused disk that suffices."""
        around, size = self._around, self._around.sizes.get(disk, 0)
        unused = next((each for each in around.unused if around.sizes[each] >= size > 0 and each not in self._bad), '')
        return {'size': size, 'least': f'has at least {size} bytes' if size else 'is at least as large as the old one',
                'unused': f'; {unused} looks unused ({around.path(unused)})' if unused else ''}

    def _of_group(self, group: Group) -> Json:
        around = self._around
        vg, _, lv = group.name.partition('/')
        lost = next((each.name for each in group.members if each.state in ('missing', 'faulty') and each.name), '')
        pool = group.id.partition(' ')[2].partition('/')[0]   # of "zfs tank/mirror-0"
        points = [argument(use, 'MOUNTPOINT') for use in group.used_as if use.startswith('/')]
        mount = next(iter(points), 'MOUNTPOINT')
        return {'name': named(group), 'id': argument(group.id, 'ARRAY'), 'array': around.path(group.id),
                'title': argument(group.name, 'NAME'), 'container': around.path(around.containers.get(group.id, '')),
                'mount': mount, 'members': ' '.join(around.path(each.name) for each in group.members if each.on),
                'vg': argument(vg, 'GROUP'), 'lv': argument(lv, 'VOLUME'),
                'profile': group.level.replace('btrfs-', ''), 'pool': argument(pool, 'POOL'),
                'lost': argument(lost, 'DEVICE'),
                'devid': next(iter(around.missing.get(group.id, ())), tables.MISSING.format(mount)),
                'unmount': '; '.join(f'umount {point}' for point in points),
                'mount_again': '; '.join(f'mount {around.path(group.id)} {point}' for point in points)}

    def _of_place(self, place: _Place) -> Json:
        return {'member': self._around.path(place.kernel), 'kernel': argument(place.kernel, 'DEVICE'),
                'device': argument(place.member.name, 'DEVICE'), 'new': self._new(place), 'slot': place.member.slot}


_PART: Mapping[str, Callable[[_Maker, _About], Iterable[PlanStep]]] = {
    'prepare': _Maker._prepare, 'members': _Maker._members, 'copy': _Maker._copy, 'copy-dying': _Maker._copy_dying,
    'rescue': _Maker._rescue, 'remedy': _Maker._remedy, 'boot': _Maker._boot, 'pull': _Maker._pull,
    'restore': lambda maker, about: maker._exchanges(about.places, about, 'restore'),
    'ask': lambda maker, about: maker._whole('ask', about), 'wait': lambda maker, about: maker._whole('wait', about),
    'look': lambda _, about: [filled('look', about.words)],
    'find': lambda _, about: [filled('find' if about.words['disk'] else 'find-behind', about.words)]}


def _needs_disk(place: _Place) -> bool:
    """Return whether a new disk is needed to replace a member; False if there is a spare or the group is complete."""
    is_unused = place.group.kind == 'md' and place.member.state != IN_SYNC and not lacks(place.group)
    return not (place.spare or (is_unused and not place.member.role) or place.group.kind == 'hardware')


def _new_device(part: Part | None) -> str:
    return f'{NEW}-part{part.number}' if part else NEW


def _task(code: str, about: _About, steps: Sequence[PlanStep]) -> Task:
    """Return a task. Its last step is to print the plan again."""
    again = filled('again', about.words)
    more = () if steps[-1].run == again.run or code == 'use-unknown' else (again,)
    title = tables.TITLES.get(f'{code} {steps[0].code}') or tables.TITLES[code]
    return Task(code, sentence(title.format_map(about.words), LONGEST_TEXT),
                about.drive.name if about.drive else '', about.group.id if about.group else '', (*steps, *more))
