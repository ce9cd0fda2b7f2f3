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
from ..redundancy.survival import IN_SYNC, Stack, is_redundant
from ..typed import TYPE_CHECKING, NamedTuple
from ..words import argument, clean, sentence
from . import actions
from .plan_steps import (
    ANSWERS,
    GROUPS,
    MIRRORS,
    MISMATCH,
    MISSING,
    MOVABLE,
    NEW,
    OF_GROUP,
    OVERWRITTEN,
    PARTS,
    RECREATING,
    REPAIRED,
    SPARE,
    STEPS,
    TITLES,
    PlanStep,
    Task,
)

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
    tasks = (task for item in items for task in maker.of_item(item, steps.get(item.drive)))
    found: list[Task] = []
    for task in (*tasks, *maker.degraded()):
        # A group has only one task at a time, even if several drives call for one.
        if task.code not in OF_GROUP or not any(each.group == task.group for each in found):
            found.append(task)
    return tuple(found)


class _Maker:
    """Makes the tasks of one machine."""

    def __init__(self, machine: Machine, around: Around) -> None:
        self._around, self._steps = around, machine.steps
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
                            [_step('find-behind', words)])
            return
        code, group = step.why.code, self._stack.groups.get(str(step.why.fields.get('group', '')))
        places = self._places(step.drive)
        lacking = next((each.group for each in places if is_redundant(each.group) and _lacks(each.group)), None)
        if lacking and code in ('replace-next', 'data-at-risk'):   # a rebuild would use the new member
            code, group = 'degraded', lacking
        if code == 'redundancy-doubtful' and group and group.kind == 'lvm' and (
                _lacks(group) or self._stack.disks(group.id) & self._around.dead):
            code = 'degraded'   # LVM repairs nothing while a disk is missing
        if code == 'redundancy-doubtful' and group and group.kind == 'btrfs' and step.drive.disks <= self._around.dead:
            code = 'replace-next'   # btrfs does not drop disks, and cannot scrub a dead one
        if is_replaced or code in (*OF_GROUP, 'member-not-used'):   # the cable or the firmware may be the cause
            yield from self._of_code(code, step.drive, group, places, words)

    def degraded(self) -> Iterator[Task]:
        """Yield a task for each group that lacks a member but has lost no data."""
        for group in self._stack.groups.values():
            if is_redundant(group) and _lacks(group) and group.activity not in BUSY and self._stack.survives(
                    group, frozenset()):
                yield from self._of_code('degraded', None, group, (), {'drive': '', 'asked': self._around.asked})

    def _of_code(self, code: str, drive: Drive | None, group: Group | None, places: Sequence[_Place],
                 words: Json) -> Iterator[Task]:
        disk = next((each for each in sorted(drive.disks if drive else ()) if each in self._around.sizes), '')
        words = {**words, **self._of_disk(disk), **(self._of_group(group) if group else {})}
        parts = PARTS.get(f'{code} {group.kind if group else ""}') or PARTS.get(code, ())
        if group and 'restore' in parts:
            places = self._beside(group)
            disk = next((self._disk(place.kernel) for place in places), '')
        is_dead = bool(drive and drive.disks <= self._around.dead)
        about = _About(drive, group, places, {**words, **self._of_new(disk)}, is_dead, disk)
        steps = list(dict.fromkeys(each for part in parts for each in _PART[part](self, about)))
        if steps:
            yield _task(code, about, steps)

    # --- the members that are replaced ------------------------------------------------------------------------

    def _places(self, drive: Drive) -> list[_Place]:
        """Return, for each use of a drive, the lowest member that can be replaced while the group is in use."""
        found: dict[object, _Place] = {}
        is_dead = drive.disks <= self._around.dead   # nothing can be moved off it
        for group in filter(self._stack.carries_data, self._stack.of(drive.disks)):
            chain = self._stack.between(drive.disks, group)
            holder = next((each for each in chain if is_redundant(each) or (each.kind in MOVABLE and not is_dead)),
                          chain[0])
            for part, member in ((each, one) for each in chain for one in each.members):
                if (part is holder or member.role) and self._stack.is_on(member, drive.disks):
                    key = ('lvm', part.name.partition('/')[0]) if part.kind == 'lvm' else (part.id, member.name)
                    found.setdefault(key, self._place(part, member, drive.disks)._replace(
                        layers=tuple(chain[:chain.index(part)])))
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
        return [self._place(group, each, frozenset())._replace(spare='') for each in good[:1]]

    def _new(self, place: _Place) -> str:
        """Return the device that becomes the new member, quoted for a command."""
        if place.spare:
            return self._around.path(place.spare)
        crypt = next((each for each in reversed(place.layers) if each.kind == 'luks'), None)
        return f'/dev/mapper/{argument(crypt.name, "NAME")}-new' if crypt else _new_device(place.part)

    # --- the parts of a task ------------------------------------------------------------------------------------

    def _prepare(self, about: _About) -> Iterator[PlanStep]:
        """Yield the steps for a new disk, partitioned like the old disk or, if that is missing, like another disk."""
        if about.places and not any(map(_needs_disk, about.places)):
            return
        parts, source = self._parts(about.disk), self._source(about)
        yield _step('new-disk', about.words)
        if parts:
            yield _step('partitions', {**about.words, 'source': self._around.path(source), 'source_name': source,
                                       'count': len(parts)})
        for place in about.places:
            for group in place.layers:
                yield from self._operation('layer', group, place, about)

    def _parts(self, disk: str) -> set[int]:
        return {part.number for part in self._around.parts.values() if part.disk == disk}

    def _source(self, about: _About) -> str:
        """Return the disk whose partitions a new disk gets: the old disk or, if that is dead, one partitioned alike."""
        beside = (each for place in about.places if about.is_dead for each in self._beside(place.group))
        twins = (disk for disk in (self._disk(each.kernel) for each in beside)
                 if disk != about.disk and self._parts(disk) == self._parts(about.disk))
        return next(twins, about.disk)

    def _members(self, about: _About) -> Iterator[PlanStep]:
        """Yield a drive's steps: members without redundancy come first; if the disk is dead, remedies come last."""
        single, others = ([each for each in about.places if is_redundant(each.group) is flag] for flag in (False, True))
        remedy = list(self._remedy(about)) if any(not each.member.role for each in others) else []
        exchange = list(self._exchanges(others, about))
        yield from self._exchanges(single, about)
        yield from [*exchange, *remedy] if about.is_dead else [*remedy, *exchange]

    def _exchanges(self, places: Iterable[_Place], about: _About) -> Iterator[PlanStep]:
        for place in places:
            # No data can be moved off a disk that does not answer; LVM and md recreate the data from other copies.
            is_gone = place.member.state != IN_SYNC or (about.is_dead and place.group.kind in RECREATING
                                                        and place.group.id not in self._around.containers)
            state = 'drop' if is_gone else 'replace'
            name = place.member.role or (
                state if is_redundant(place.group) else 'replace' if place.group.kind in MOVABLE else 'move')
            if name == 'drop':
                yield from self._halves(place.group, about, OVERWRITTEN.get(place.group.kind, ()))
            yield from self._operation(name, place.group, place, about)

    def _restore(self, about: _About) -> Iterator[PlanStep]:
        for place in about.places:
            yield from self._halves(place.group, about, OVERWRITTEN.get(place.group.kind, ()))
            yield from self._operation('restore', place.group, place, about)

    def _copy(self, about: _About) -> Iterator[PlanStep]:
        if about.group:
            kind = '' if any(use.startswith('/') for use in about.group.used_as) else about.group.kind
            yield _step('copy-place', about.words)
            yield from self._operation('copy', about.group._replace(kind=kind), None, about)

    def _copy_dying(self, about: _About) -> Iterator[PlanStep]:
        if about.group and any(step.drive.is_failing and self._stack.survives(about.group, step.drive.disks) is False
                               for step in self._steps):
            yield from self._copy(about)

    def _rescue(self, about: _About) -> Iterator[PlanStep]:
        yield _step('copy-place', about.words)
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
            yield from self._halves(self._stack.groups[name], about, REPAIRED)
        for name, doubt in found:
            if self._stack.groups[name].kind == 'btrfs' and any(self._stack.is_on(member, self._around.dead - disks)
                                                                for member in self._stack.groups[name].members):
                continue   # a scrub fails while a dead disk is a member; the dead disk has its own task
            yield from self._operation('remedy', self._stack.groups[name], None, about._replace(
                words={**about.words, **doubt.fields}))

    def _halves(self, group: Group, about: _About, levels: Sequence[str]) -> Iterator[PlanStep]:
        """Yield the steps that copy each member of a group of these levels if its members may differ."""
        may_differ = any(group.level in MIRRORS or MISMATCH in each.fields['of'] for each in group.doubts)
        if may_differ and group.level in levels and 'halves' in GROUPS.get(group.kind, ()):
            yield _step('copy-place', {**about.words, **self._of_group(group)})
            for member in group.members:
                if member.state == IN_SYNC:
                    yield from self._operation('halves', group, self._place(group, member, frozenset()), about)

    def _boot(self, about: _About) -> Iterator[PlanStep]:
        """Yield the steps that make the machine boot from the new disk, if it boots from the old disk.

        If the data moved to spares, the new disk becomes the next spare.
        """
        if about.places and all(place.spare for place in about.places):
            about = about._replace(places=[place._replace(spare='') for place in about.places])
            yield from self._prepare(about)
            for place in about.places:
                yield from self._operation('spare', place.group, place, about)
        disks = about.drive.disks if about.drive else ()
        parts = {part.number: (name, part) for name, part in self._around.parts.items() if part.disk in disks}
        for name, part in parts.values():
            if part.role == EFI:
                words = {**about.words, 'part': self._around.path(name), 'new': _new_device(part),
                         'number': part.number}
                is_moved = any(place.kernel == name for place in about.places)
                yield from [_step('efi', words)] * (not is_moved) + [_step('boot-entry', words)] * self._around.has_efi
        is_system = any({'/', '/boot'} & set(group.used_as) for group in self._stack.of(frozenset(disks)))
        if any(part.role == BIOS for _, part in parts.values()) or (is_system and parts and not self._around.has_efi):
            yield _step('boot-loader', about.words)

    def _pull(self, about: _About) -> Iterator[PlanStep]:
        if about.words['light']:
            yield _step('light', about.words)
        new = next((self._around.path(place.spare) if place.spare else NEW for place in about.places
                    if place.spare or _needs_disk(place)), '')
        yield _step('pull', {**about.words, 'answers': ANSWERS.format(new) if new else 'true'})

    # --- words ------------------------------------------------------------------------------------------------

    def _operation(self, name: str, group: Group, place: _Place | None, about: _About) -> Iterator[PlanStep]:
        """Yield the steps of an operation on a group, with the names of group and member filled in."""
        is_stopped = group.kind == 'md' and group.id not in self._around.paths   # its member is copied unchanged
        kind = GROUPS.get('imsm' if group.id in self._around.containers else '' if is_stopped and name == 'move' else
                          group.kind, {})
        entries = kind.get(name) or (kind.get('restore') if name == 'drop' else None) or GROUPS[''].get(name, ())
        words = {**about.words, **self._of_group(group), **(self._of_place(place) if place else {})}
        is_dead = about.is_dead and (place is None or place.member.state == IN_SYNC)   # its group has not noticed
        facts = {'spare': bool(place and place.spare), 'dead': is_dead,
                 'lacks': _lacks(group) or bool(is_dead and place and not place.spare),
                 'held': not (place and place.member.state == 'missing')}   # md still lists the disk as a member
        for entry in entries:
            if all(entry.get(key, fact) == fact for key, fact in facts.items()):
                yield _step(entry['code'], words, entry if 'what' in entry else None)

    def _of_disk(self, disk: str) -> Json:
        around = self._around
        is_disk = disk in around.sizes
        light = {'light': f'ledctl locate={around.path(disk)}'} if around.has_led_tool and is_disk else {}
        return {'disk': around.path(disk) if is_disk else '', **light,
                'delete': f'echo 1 > {around.deletes[disk]}' if disk in around.deletes else '',
                'mounted': f'lsblk --noheadings --output MOUNTPOINT {around.path(disk)}' if is_disk else 'true'}

    def _of_new(self, disk: str) -> Json:
        """Return the placeholders about the new disk: its minimum size, and the smallest unused disk that suffices."""
        around, size = self._around, self._around.sizes.get(disk, 0)
        unused = next((each for each in around.unused if around.sizes[each] >= size and each not in self._bad), '')
        return {'size': size, 'unused': f'; {unused} looks unused ({around.path(unused)})' if unused else ''}

    def _of_group(self, group: Group) -> Json:
        around = self._around
        vg, _, lv = group.name.partition('/')
        lost = next((each.name for each in group.members if each.state in ('missing', 'faulty') and each.name), '')
        pool = group.id.partition(' ')[2].partition('/')[0]   # of "zfs tank/mirror-0"
        points = [argument(use, 'MOUNTPOINT') for use in group.used_as if use.startswith('/')]
        mount = next(iter(points), 'MOUNTPOINT')
        return {'name': named(group), 'id': argument(group.id, 'ARRAY'), 'array': around.path(group.id),
                'title': argument(group.name, 'NAME'), 'container': around.path(around.containers.get(group.id, '')),
                'mount': mount,
                'vg': argument(vg, 'GROUP'), 'lv': argument(lv, 'VOLUME'),
                'profile': group.level.replace('btrfs-', ''), 'pool': argument(pool, 'POOL'),
                'lost': argument(lost, 'DEVICE'),
                'devid': next(iter(around.missing.get(group.id, ())), MISSING.format(mount)),
                'unmount': '; '.join(f'umount {point}' for point in points),
                'mount_again': '; '.join(f'mount {around.path(group.id)} {point}' for point in points)}

    def _of_place(self, place: _Place) -> Json:
        path = self._around.path(place.kernel)
        return {'member': path, 'pv': path, 'kernel': argument(place.kernel, 'DEVICE'),
                'device': argument(place.member.name, 'DEVICE'), 'new': self._new(place), 'slot': place.member.slot}


_PART: Mapping[str, Callable[[_Maker, _About], Iterable[PlanStep]]] = {
    'prepare': _Maker._prepare, 'members': _Maker._members, 'restore': _Maker._restore, 'copy': _Maker._copy,
    'copy-dying': _Maker._copy_dying, 'rescue': _Maker._rescue, 'remedy': _Maker._remedy, 'boot': _Maker._boot,
    'pull': _Maker._pull, 'ask': lambda maker, about: maker._whole('ask', about),
    'wait': lambda maker, about: maker._whole('wait', about), 'look': lambda _, about: [_step('look', about.words)],
    'find': lambda _, about: [_step('find' if about.words['disk'] else 'find-behind', about.words)]}


def _lacks(group: Group) -> bool:
    """Return whether a group lacks a member that no spare has replaced."""
    filled = {each.slot for each in group.members if each.state in (IN_SYNC, 'rebuilding') and each.slot is not None}
    is_lost = any(each.state in ('missing', 'faulty') for each in group.members) and len(filled) < group.slots
    return bool(group.missing or is_lost) and not any((each.state, each.role) in (('rebuilding', ''), SPARE)
                                                      for each in group.members)


def _needs_disk(place: _Place) -> bool:
    """Return whether a new disk is needed to replace a member; False if there is a spare or the group is complete."""
    is_unused = place.group.kind == 'md' and place.member.state != IN_SYNC and not _lacks(place.group)
    return not (place.spare or (is_unused and not place.member.role) or place.group.kind == 'hardware')


def _new_device(part: Part | None) -> str:
    return f'{NEW}-part{part.number}' if part else NEW


def _task(code: str, about: _About, steps: Sequence[PlanStep]) -> Task:
    """Return a task. Its last step is to print the plan again."""
    again = _step('again', about.words)
    more = () if steps[-1].run == again.run or code == 'use-unknown' else (again,)
    title = TITLES.get(f'{code} {steps[0].code}') or TITLES[code]
    return Task(code, sentence(title.format_map(about.words), LONGEST_TEXT),
                about.drive.name if about.drive else '', about.group.id if about.group else '', (*steps, *more))


def _step(code: str, words: Json, entry: Json | None = None) -> PlanStep:
    """Return a step with its placeholders filled in. entry: the step in plan.json; None: STEPS[code]."""
    entry = STEPS[code] if entry is None else entry
    text = {key: entry.get(key, '').format_map(words) for key in ('what', 'need', 'see', 'until', 'check')}
    run = tuple(each for command in entry.get('run', ()) for each in [command.format_map(words)] if each)
    return PlanStep(code, sentence(text['what'], LONGEST_TEXT), sentence(text['need'], LONGEST_TEXT), text['see'], run,
                    text['until'], text['check'])
