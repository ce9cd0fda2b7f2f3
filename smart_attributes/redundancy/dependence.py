"""The use of each drive: the groups on it (arrays, volumes, pools, file systems), and whether to
replace it now.

Other modules decide a verdict's severity and action; `Drive` brings both to this module.
Groups are found from /sys, /proc and the udev database, which every user may read; no device is
opened. Nothing here fails: if a file cannot be read, the redundancy of its group is unknown. But
these files can block, so reading (seen) is apart from deciding (examined): a check lets a child
process read, see in_time.
Source: Linux, Documentation/ABI/stable/sysfs-block (slaves); systemd, sd-device (/run/udev/data).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from itertools import chain

from ..constants import DEEPEST_GROUPS, MOST_MEMBERS
from ..errors import Coded, DriveGone
from ..model import Device, Group, Member, Place, State, Verdict
from ..reading import device_types
from ..reading.system import LINUX, System, disks_of, names_in
from ..typed import TYPE_CHECKING, NamedTuple
from ..wording import listed as listed_names
from . import arrays, block_devices, lvm_backup, partitions, survival
from .block_devices import Devices, Kind, listed, uses
from .replacement import Drive, Machine, machine, with_replacements

if TYPE_CHECKING:
    # returns the drives that have disks, most severe first
    Drives = Callable[[Sequence[Verdict]], Sequence[Drive]]

_ASK = 'as root, run triage --controllers'
_ASKED = 'the tool of its controller gave no answer in time'
_NO_TOOL = (
    'this version knows no tool of its controller; look at the volume with the tool of its vendor'
)
# Controllers whose tools can be asked: names of types, see controllers.json.
WITH_TOOLS = ('megaraid', 'aacraid', 'cciss')
PROGRAMS = ('zpool', 'dmsetup', 'controllers')  # modules that run programs


class Other(NamedTuple):
    """A drive that another run checks."""

    device: Device
    is_failing: bool  # its last state is CRITICAL


class Question(NamedTuple):
    """What to read about the groups of a machine."""

    verdicts: Sequence[Verdict]
    others: Sequence[Other] = ()
    only_alerting: bool = False  # read only the groups on drives that alert
    asked: Sequence[str] = ()  # the programs in PROGRAMS to run
    system: System = LINUX


class Seen(NamedTuple):
    """What was read about the groups of a machine."""

    disks: tuple[tuple[str, ...], ...] = ()  # kernel names of the disks of each verdict's drive
    others: tuple[tuple[str, ...], ...] = ()  # of each other drive
    groups: tuple[Group, ...] | None = None  # None: no group had to be read
    notes: tuple[Coded, ...] = ()  # notes about the programs that were run
    # why something is missing; without *disks*, nothing was read
    problem: Coded | None = None
    places: tuple[tuple[str, Place], ...] = ()  # address of a drive, and its slot


class Examined(NamedTuple):
    """Verdicts that show which groups depend on each drive, and whether the drive may be
    replaced.
    """

    verdicts: tuple[Verdict, ...]
    machine: Machine | None = None  # the groups on the drives; None: groups were not read
    notes: tuple[Coded, ...] = ()  # notes about the programs that were run
    remarks: tuple[Coded, ...] = ()


def seen(question: Question) -> Iterator[Seen]:
    """Yield what /sys, /proc and udev show, and again after each program with what it adds.

    Recorded reports have no groups.
    """
    verdicts, system = question.verdicts, question.system
    devices = listed(system)
    placed = [_placed(verdict, _all_paths(verdict, devices)) for verdict in verdicts]
    found = Seen(
        tuple(verdict.place.disks for verdict in placed),
        tuple(disks(other.device, system) for other in question.others),
    )
    wanted = None
    if question.only_alerting and not any(map(_is_gone, placed)):
        wanted = [name for verdict in placed if verdict.state for name in verdict.place.disks]
    if not any(found.disks) or wanted == []:
        yield found
        return
    behind = _of_controllers(placed, 'controllers' in question.asked)
    groups_of_run = (*_around(_ordered(_found(devices)), wanted), *behind)
    found = found._replace(groups=groups_of_run)
    yield found
    for name in question.asked:
        program = import_module(f'.{name}', __package__)
        groups_of_run, notes, *places = program.completed(groups_of_run, system, placed)
        found = found._replace(groups=groups_of_run, notes=(*found.notes, *notes))
        found = found._replace(places=(*found.places, *chain(*places)))
        yield found


def read_here(question: Question) -> Seen:
    """Return what is seen in this process, which waits for it."""
    *_, last = seen(question)
    return last


def examined(
    verdicts: tuple[Verdict, ...],
    drives: Drives,
    only_alerting: bool = False,
    asked: Sequence[str] = (),
    system: System = LINUX,
    others: Callable[[], Sequence[Other]] = tuple,
    read: Callable[[Question], Seen] = read_here,
) -> Examined:
    """Return the verdicts, each with the groups that depend on its drive.

    only_alerting, asked: see Question. others: returns the drives of other runs. read: answers the
    question. After an exception, the verdicts lack groups, and a remark gives the reason.
    """
    try:
        further = others()
        found = read(Question(verdicts, further, only_alerting, asked, system))
        if found.problem and not found.disks:
            return unexamined(verdicts, drives, found.problem)
        return _decided(verdicts, found, drives, further)
    except Exception as error:
        return unexamined(verdicts, drives, problem_of(error))


def _decided(
    verdicts: tuple[Verdict, ...], found: Seen, drives: Drives, others: Sequence[Other]
) -> Examined:
    """Return the verdicts with what follows from the groups."""
    if found.groups is None:
        return Examined(verdicts)
    slots = dict(found.places)
    placed = [
        _in_slot(_placed(verdict, names), slots) for verdict, names in zip(verdicts, found.disks)
    ]
    whole = machine(found.groups, with_others(drives(placed), others, found.others))
    judged = [_with_degraded(verdict, found.groups) for verdict in placed]
    remarks = (found.problem,) if found.problem else ()
    return Examined(with_replacements(judged, whole), whole, found.notes, remarks)


def problem_of(error: Exception) -> Coded:
    """Return the message about an exception while groups were read or examined."""
    from ..failures import inside

    problem = inside(error, 'the use and the redundancy of the drives cannot be examined', 'lsblk')
    return Coded(problem.code, str(problem))


def unexamined(verdicts: Sequence[Verdict], drives: Drives, problem: Coded) -> Examined:
    """Return the verdicts without groups. problem: why nothing was read.

    Nobody may take this for good news: the use of each drive to replace is unknown, so its data is
    copied first, and a missing drive is CRITICAL, because a group may be degraded without it.
    """
    judged = tuple(_as_degraded(verdict) if _is_gone(verdict) else verdict for verdict in verdicts)
    with suppress(Exception):  # the problem may be with the verdicts
        here = [verdict for verdict in judged if not verdict.device.is_recorded]
        named = [_placed(verdict, (verdict.device.name,)) for verdict in here]
        judged = with_replacements(judged, machine((), drives(named)))
    return Examined(judged, remarks=(problem,))


def _as_degraded(verdict: Verdict) -> Verdict:
    words = f'{verdict.problem}; whether a group lacks a member is not known'
    return verdict._replace(state=State.CRITICAL, problem=words)


def _placed(verdict: Verdict, names: Sequence[str]) -> Verdict:
    return verdict._replace(place=verdict.place._replace(disks=tuple(names)))


def _in_slot(verdict: Verdict, slots: Mapping[str, Place]) -> Verdict:
    """Return a verdict with the slot that a controller's tool reports, unless the system does."""
    slot, place = slots.get(verdict.device.address), verdict.place
    if slot is None or place.bay:
        return verdict
    place = place._replace(bay=slot.bay, locate=slot.locate, locate_off=slot.locate_off)
    return verdict._replace(place=place)


def _all_paths(verdict: Verdict, devices: Devices) -> list[str]:
    """Return the disks of a drive, also those of its other namespaces and actuators, each followed
    by the first path to it.
    """
    names: dict[str, None] = {}
    for present in _passed_through(verdict, devices) or _present_disks(verdict, devices.system):
        for name in devices.units.get(present, (present,)):
            names[name] = None
            names[devices.same.get(name, name)] = None
    return list(names)


def _passed_through(verdict: Verdict, devices: Devices) -> list[str]:
    """Return the disks with the serial number of a drive behind a RAID controller, which then is in
    no volume: the kernel has the drive itself (JBOD).
    """
    serial, device = verdict.identity.serial.strip(), verdict.device
    if _is_gone(verdict) or not device_types.is_raid(device) or device.is_recorded or not serial:
        return []
    return [name for name, other in devices.serials.items() if other == serial]


def with_others(
    read: Sequence[Drive], others: Sequence[Other], disks_of_others: Sequence[Sequence[str]]
) -> list[Drive]:
    """Return the drives of this run and of other runs.

    disks_of_others: the kernel names of the disks of each other drive.
    """
    known = {disk for drive in read for disk in drive.disks}
    found = list(read)
    for other, names in zip(others, disks_of_others):
        own = frozenset(names) - known
        if own:
            known |= own
            found.append(Drive(other.device.name, own, other.is_failing, other.is_failing))
    return found


def _is_gone(verdict: Verdict) -> bool:
    return verdict.code == DriveGone.code


def _present_disks(verdict: Verdict, system: System) -> tuple[str, ...]:
    """Return the disks of a drive; none of a missing one, whose name another drive may have.

    A drive that was read, but that /sys does not show, has its address: its use is not known.
    """
    if _is_gone(verdict):
        return ()
    names = disks(verdict.device, system)
    return names if names or verdict.device.is_recorded else (verdict.device.address,)


def _with_degraded(verdict: Verdict, known: Sequence[Group]) -> Verdict:
    """Return the verdict on a missing drive: CRITICAL if a group lacks a member, because this is
    the drive that it lacks, or one that it can no longer afford to lose.
    """
    if not _is_gone(verdict):
        return verdict
    degraded = [group.name for group in known if survival.lacks_member(group)]
    if not degraded:
        return verdict
    words = f'{listed_names(degraded, 2)} {"lacks" if len(degraded) == 1 else "lack"} a member'
    return verdict._replace(state=State.CRITICAL, problem=f'{verdict.problem}; {words}')


def disks(device: Device, system: System = LINUX) -> tuple[str, ...]:
    """Return the kernel names of a drive's block devices; behind a RAID controller or without
    sysfs, its address.
    """
    if device.is_recorded:
        return ()
    has_address = device_types.is_raid(device) or not os.path.isdir(f'{system.sys}/block')
    return (device.address,) if has_address else tuple(disks_of(device, system))


def _of_controllers(verdicts: Sequence[Verdict], is_asked: bool = False) -> Iterable[Group]:
    """Yield a group for each RAID controller, because it is unknown which drives belong to which
    volume. is_asked: this run asks their tools.
    """
    behind: dict[tuple[str, str, bool], list[Device]] = {}
    for verdict in verdicts:
        controller = device_types.controller(verdict.device.type)
        if controller and verdict.device.address in verdict.place.disks:
            kind = device_types.base(verdict.device).partition(',')[0]
            key = controller.name, verdict.device.path, kind in WITH_TOOLS
            behind.setdefault(key, []).append(verdict.device)
    for (name, path, has_tool), devices in behind.items():
        unknown = _NO_TOOL
        if has_tool:
            unknown = _ASKED if is_asked else _ASK
        yield Group(
            f'{name} {path}',
            f'{name} volumes',
            'hardware',
            '',
            unknown=unknown,
            members=tuple(
                Member(device.name or device.address, 'unknown', None, (device.address,))
                for device in devices
            ),
        )


# --- groups ---------------------------------------------------------------------------------------

# how many are read completely; for all others, only the members are read
ARRAYS, VOLUMES = 256, 1024
# Start of the name of a block device that is built on others -> its kind.
_DRIVERS = (
    ('bcache', block_devices.BCACHE),
    ('drbd', block_devices.DRBD),
    ('md', Kind('md', '', f'only the first {ARRAYS} arrays are read')),
    ('dm-', Kind('dm', '', f'only the first {VOLUMES} volumes are read')),
    ('', Kind('dm', '', 'this version does not know its driver')),
)


def groups(disks: Iterable[str] | None = None, system: System = LINUX) -> tuple[Group, ...]:
    """Return the groups that hold data on these disks, and all groups below them; lower ones first.

    disks: kernel names, such as "sda"; None for all disks of the machine.
    """
    return tuple(_around(_ordered(_found(listed(system))), disks))


def _found(devices: Devices) -> Iterator[Group]:
    """Yield all groups of the machine. devices: all block devices, without their uses."""
    sys, of_md = devices.system.sys, _arrays(devices)
    volumes = _in_order(name for name in devices.names if name.startswith('dm-'))[:VOLUMES]
    every = block_devices.volumes(volumes, devices.system)
    others = {
        name: slaves
        for name in _in_order(devices.names - {*of_md, *every})
        for slaves in [names_in(f'{sys}/block/{name}/slaves')]
        if slaves
    }
    devices = devices._replace(
        inside=block_devices.inner(every),
        used=uses(devices.system, {each.name: name for name, each in every.items()}),
        titles={name: block_devices.title(volume) or name for name, volume in every.items()},
    )
    systems = arrays.file_systems(devices)
    taken = {each for group in systems for each in arrays.btrfs_members(group.id, devices)}
    devices = devices._replace(
        used={name: points for name, points in devices.used.items() if name not in taken}
    )
    taken.update(*(arrays.md_members(name, devices) for name in of_md))
    taken.update(*(volume.slaves for volume in every.values()), *others.values())
    held = partitions.claims(taken, devices)
    notes = {claim.name: claim.notes for claim in held if claim.notes}
    # partitions of multipath volumes, such as the ninth one of a disk of ZFS
    empty = {
        claim.name
        for claim in held
        if claim.kind in partitions.NOTHING
        and claim.name in every
        and every[claim.name].uuid.startswith('part')
    }
    inactive = lvm_backup.read(every, devices)
    found = [
        *(
            arrays.with_removed(group, notes, devices)
            for group in (arrays.array(name, devices) for name in of_md)
            if group
        ),
        *(
            block_devices.group(name, every, devices)._replace(
                unlisted=inactive.unlisted.get(name, '')
            )
            for name in every
            if name not in {*devices.inside, *empty}
        ),
        *(_other(name, slaves, devices) for name, slaves in others.items()),
        *systems,
        *inactive.groups,
    ]
    yield from found
    removed = {
        member.name
        for group in found
        if group.kind == 'md'
        for member in group.members
        if member.state == 'missing' and member.on
    }
    rest = [claim for claim in held if devices.titles.get(claim.name, claim.name) not in removed]
    yield from partitions.groups(rest, {group.id for group in found}, devices)


def _arrays(devices: Devices) -> list[str]:
    names = _in_order(name for name in devices.names if name.startswith('md'))
    return [name for name in names if os.path.isdir(f'{devices.system.sys}/block/{name}/md')][
        :ARRAYS
    ]


def _in_order(names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda name: (len(name), name))


def _other(name: str, slaves: list[str], devices: Devices) -> Group:
    """Return the group of a device that has another driver, or of an array or volume over the
    maximum number.
    """
    kind = next(kind for start, kind in _DRIVERS if name.startswith(start))
    return devices.group(name, name, kind, devices.members(slaves[:MOST_MEMBERS], kind))


# --- the order of groups --------------------------------------------------------------------------


def _ordered(found: Iterable[Group]) -> list[Group]:
    """Return the groups, lower ones first. Groups that form a circle are separated."""
    rest = {group.id: group for group in found}
    done: list[Group] = []
    for _ in range(DEEPEST_GROUPS):
        ready = [group for group in rest.values() if not any(each in rest for each in _on(group))]
        done += ready
        for group in ready:
            del rest[group.id]
    return [*done, *(_cut_off(group, rest) for group in rest.values())]


def _on(group: Group) -> set[str]:
    return {each for member in group.members for each in member.on}


def _cut_off(group: Group, rest: dict[str, Group]) -> Group:
    members = (
        member._replace(on=tuple(each for each in member.on if each not in rest))
        for member in group.members
    )
    return group._replace(
        level='',
        unknown=f'in /sys, it is built on itself, or on more than {DEEPEST_GROUPS} layers',
        members=tuple(members),
    )


def _around(ordered: list[Group], disks: Iterable[str] | None) -> list[Group]:
    """Return the groups built on these disks, directly or through other groups, and all groups
    below any of them.
    """
    if disks is None:
        return ordered
    reached, wanted = set(disks), set()
    for group in ordered:
        if _on(group) & reached:
            reached.add(group.id)
            wanted.add(group.id)
    for group in reversed(ordered):
        if group.id in wanted:
            wanted |= _on(group)
    return [group for group in ordered if group.id in wanted]
