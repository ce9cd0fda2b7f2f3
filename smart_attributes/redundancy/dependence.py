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
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib import import_module

from ..constants import DEEPEST_GROUPS
from ..errors import Coded, DriveMissing
from ..model import Device, Group, Located, Member, Place, State, Use, Verdict
from ..reading import device_types
from ..reading.system import LINUX, System, disks_of, names_in
from ..typed import TYPE_CHECKING, NamedTuple
from ..wording import listed as listed_names
from . import arrays, block_devices, lvm_backup, partitions, survival
from .block_devices import Devices, Kind, listed, uses
from .partitions import Claim
from .replacement import Drive, Machine, machine
from .replacement import uses as uses_of

if TYPE_CHECKING:
    from .block_devices import Volumes

    # returns the drives that have disks, most severe first
    Drives = Callable[[Sequence[Located]], Sequence[Drive]]

_ASK = 'as root, run triage --controllers'
_ASKED = 'the tool of its controller gave no answer in time'
_NO_TOOL = 'this version knows no tool of its controller; look at the volume with the tool of its vendor'
# Controllers whose tools can be asked: names of types, see controllers.json.
WITH_TOOLS = ('megaraid', 'aacraid', 'cciss')
PROGRAMS = ('zpool', 'dmsetup', 'controllers')  # modules that run programs


class Other(NamedTuple):
    """A drive that another run checks."""

    device: Device
    is_failing: bool  # its last state is CRITICAL


class Question(NamedTuple):
    """What to read about the groups of a machine."""

    drives: Sequence[Located]
    others: Sequence[Other] = ()
    asked: Sequence[str] = ()  # the programs in PROGRAMS to run
    system: System = LINUX


class Seen(NamedTuple):
    """What was read about the groups of a machine."""

    disks: tuple[tuple[str, ...], ...] = ()  # kernel names of the disks of each drive
    others: tuple[tuple[str, ...], ...] = ()  # of each other drive
    groups: tuple[Group, ...] | None = None  # None: no group had to be read
    notes: tuple[Coded, ...] = ()  # notes about the programs that were run
    # why something is missing; without *disks*, nothing was read
    problem: Coded | None = None
    places: tuple[tuple[str, Place], ...] = ()  # address of a drive, and its slot


class Examined(NamedTuple):
    """The groups that depend on each drive, and whether the drive may be replaced."""

    uses: tuple[Use, ...]
    # the groups on the drives; None: groups were not read
    machine: Machine | None = None
    notes: tuple[Coded, ...] = ()  # notes about the programs that were run
    remarks: tuple[Coded, ...] = ()


def seen(question: Question) -> Iterator[Seen]:
    """Yield what /sys, /proc and udev show, and again after each program with what it adds.

    Recorded reports have no groups.
    """
    system = question.system
    devices = listed(system)
    placed = [
        _placed(drive, _all_paths(drive.verdict, devices)) for drive in question.drives
    ]
    view = Seen(
        disks=tuple(drive.place.disks for drive in placed),
        others=tuple(disks(drive.device, system) for drive in question.others),
    )
    if not any(view.disks):
        yield view
        return
    behind = _of_controllers(placed, 'controllers' in question.asked)
    view = view._replace(groups=(*_ordered(_all_groups(devices)), *behind))
    yield view
    for name in question.asked:
        program = import_module(f'.{name}', __package__)
        completed, notes, places = program.completed(view.groups, system, placed)
        view = view._replace(
            groups=completed,
            notes=(*view.notes, *notes),
            places=(*view.places, *places),
        )
        yield view


def examined(
    located: Sequence[Located],
    drives: Drives,
    read: Callable[[Question], Seen],
    others: Callable[[], Sequence[Other]] = tuple,
    asked: Sequence[str] = (),
) -> Examined:
    """Return the groups that depend on each drive.

    read: answers the question. others: returns the drives of other runs. asked: see Question. After
    an exception, there are no groups, and a remark gives the reason.
    """
    try:
        question = Question(located, others(), asked)
        view = read(question)
        if view.problem and not view.disks:
            return unexamined(located, drives, view.problem)
        return _decided(question, view, drives)
    except Exception as error:
        return unexamined(located, drives, problem_of(error))


def _decided(
    question: Question,
    view: Seen,
    drives: Drives,
) -> Examined:
    """Return what follows from the groups."""
    if view.groups is None:
        return Examined(tuple(Use(*drive) for drive in question.drives))
    slots = dict(view.places)
    pairs = zip(question.drives, view.disks)
    placed = [_in_slot(_placed(drive, names), slots) for drive, names in pairs]
    present = with_others(drives(placed), question.others, view.others)
    whole = machine(view.groups, present)
    judged = [_in_doubt(drive, _lacking(view.groups)) for drive in placed]
    remarks = (view.problem,) if view.problem else ()
    return Examined(
        uses=uses_of(judged, whole),
        machine=whole,
        notes=view.notes,
        remarks=remarks,
    )


def problem_of(error: Exception) -> Coded:
    """Return the message about an exception while groups were read or examined."""
    from ..failures import inside

    problem = inside(
        error, 'the use and the redundancy of the drives cannot be examined', 'lsblk'
    )
    return Coded(problem.code, str(problem))


def unexamined(
    located: Sequence[Located],
    drives: Drives,
    problem: Coded,
) -> Examined:
    """Return the drives without groups. problem: why nothing was read.

    Nobody may take this for good news: the use of each drive to replace is unknown, so its data is
    copied first, and a missing drive is CRITICAL, because a group may be degraded without it.
    """
    lacking = 'whether a group lacks a member is not known'
    judged = [_in_doubt(drive, lacking) for drive in located]
    order = Machine((), ())
    with suppress(Exception):  # the problem may be with the verdicts
        here = [drive for drive in judged if not drive.verdict.device.is_recorded]
        order = machine(
            (), drives([_placed(drive, (drive.verdict.device.name,)) for drive in here])
        )
    return Examined(uses_of(judged, order), remarks=(problem,))


def _in_doubt(drive: Located, lacking: str) -> Located:
    """Return a drive; CRITICAL if it is missing and a group may be degraded, because this is the
    drive that it lacks, or one that it can no longer afford to lose. lacking: the group, in words.
    """
    if not lacking or not _is_missing(drive.verdict):
        return drive
    words = f'{drive.verdict.problem}; {lacking}'
    return Located(
        drive.verdict._replace(state=State.CRITICAL, problem=words), drive.place
    )


def _lacking(groups: Sequence[Group]) -> str:
    """Return the groups that lack a member, in words; '' if none does."""
    degraded = [group.name for group in groups if survival.lacks_member(group)]
    lacks = 'lacks' if len(degraded) == 1 else 'lack'
    return f'{listed_names(degraded, 2)} {lacks} a member' if degraded else ''


def _placed(drive: Located, names: Sequence[str]) -> Located:
    return Located(drive.verdict, drive.place._replace(disks=tuple(names)))


def _in_slot(drive: Located, slots: Mapping[str, Place]) -> Located:
    """Return a drive in the slot that a controller's tool reports, unless the system does."""
    slot, place = slots.get(drive.verdict.device.address), drive.place
    if slot is None or place.bay:
        return drive
    place = slot._replace(disks=place.disks, drive_id=place.drive_id)
    return Located(drive.verdict, place)


def _all_paths(verdict: Verdict, devices: Devices) -> list[str]:
    """Return the disks of a drive, also those of its other namespaces and actuators, each followed
    by the first path to it.
    """
    names: dict[str, None] = {}
    for present in _passed_through(verdict, devices) or _present_disks(
        verdict, devices.system
    ):
        for name in devices.units.get(present, (present,)):
            names[name] = None
            names[devices.same.get(name, name)] = None
    return list(names)


def _passed_through(verdict: Verdict, devices: Devices) -> list[str]:
    """Return the disks with the serial number of a drive behind a RAID controller, which then is in
    no volume: the kernel has the drive itself (JBOD).
    """
    serial, device = verdict.identity.serial.strip(), verdict.device
    if (
        _is_missing(verdict)
        or not device_types.is_raid(device)
        or device.is_recorded
        or not serial
    ):
        return []
    return [name for name, of_disk in devices.serials.items() if of_disk == serial]


def with_others(
    read: Sequence[Drive],
    others: Sequence[Other],
    disks_of_others: Sequence[Sequence[str]],
) -> list[Drive]:
    """Return the drives of this run and of other runs.

    disks_of_others: the kernel names of the disks of each other drive.
    """
    drives = list(read)
    counted = {disk for drive in read for disk in drive.disks}
    for (device, is_failing), names in zip(others, disks_of_others):
        own = frozenset(names) - counted
        if own:
            counted |= own
            drives.append(Drive(device.name, own, is_failing, is_to_replace=is_failing))
    return drives


def _is_missing(verdict: Verdict) -> bool:
    return verdict.code == DriveMissing.code


def _present_disks(verdict: Verdict, system: System) -> tuple[str, ...]:
    """Return the disks of a drive; none of a missing one, whose name another drive may have.

    A drive that was read, but that /sys does not show, has its address: its use is not known.
    """
    if _is_missing(verdict):
        return ()
    names = disks(verdict.device, system)
    return names if names or verdict.device.is_recorded else (verdict.device.address,)


def disks(device: Device, system: System = LINUX) -> tuple[str, ...]:
    """Return the kernel names of a drive's block devices; behind a RAID controller or without
    sysfs, its address.
    """
    if device.is_recorded:
        return ()
    has_address = device_types.is_raid(device) or not os.path.isdir(
        f'{system.sys}/block'
    )
    return (device.address,) if has_address else tuple(disks_of(device, system))


def _of_controllers(
    drives: Sequence[Located], is_asked: bool = False
) -> Iterable[Group]:
    """Yield a group for each RAID controller, because it is unknown which drives belong to which
    volume. is_asked: this run asks their tools.
    """
    behind: dict[tuple[str, str], list[Device]] = {}
    for drive in drives:
        device = drive.verdict.device
        controller = device_types.controller(device.type)
        if controller and device.address in drive.place.disks:
            behind.setdefault((controller.name, device.path), []).append(device)
    for (name, path), devices in behind.items():
        members = [
            Member(device.name or device.address, 'unknown', on=(device.address,))
            for device in devices
        ]
        kind = device_types.base(devices[0]).partition(',')[0]
        unknown = _ASKED if is_asked else _ASK
        yield Group(
            id=f'{name} {path}',
            name=f'{name} volumes',
            kind='hardware',
            level='',
            members=tuple(members),
            unknown=unknown if kind in WITH_TOOLS else _NO_TOOL,
        )


# --- groups ---------------------------------------------------------------------------------------

# Start of the name of a block device that is built on others -> its kind.
_DRIVERS = (
    ('bcache', block_devices.BCACHE),
    ('drbd', block_devices.DRBD),
    ('', Kind('dm', '', 'this version does not know its driver')),
)


def groups(system: System = LINUX) -> tuple[Group, ...]:
    """Return the groups of a machine, lower ones first."""
    return tuple(_ordered(_all_groups(listed(system))))


def _all_groups(devices: Devices) -> list[Group]:
    """Return all groups of the machine. devices: all block devices, without their uses."""
    mapped = block_devices.volumes(_named('dm-', devices), devices.system)
    devices = devices._replace(
        inner=block_devices.inner(mapped),
        used=uses(devices.system),
        titles={
            name: block_devices.title(volume) or name for name, volume in mapped.items()
        },
    )
    file_systems = arrays.file_systems(devices)
    members = {
        name
        for group in file_systems
        for name in arrays.btrfs_members(group.id, devices)
    }
    used = {
        name: points for name, points in devices.used.items() if name not in members
    }
    devices = devices._replace(used=used)
    of_md = _arrays(devices)
    others = _stacked(devices.names - {*of_md, *mapped}, devices)
    members.update(*(arrays.md_members(name, devices) for name in of_md))
    members.update(*(volume.slaves for volume in mapped.values()), *others.values())
    claims = partitions.claims(members, devices)
    inactive, unlisted = lvm_backup.read(mapped, devices)
    in_use = [
        *_md_groups(of_md, claims, devices),
        *_volume_groups(
            volumes=mapped,
            claims=claims,
            unlisted=unlisted,
            devices=devices,
        ),
        *(_other(name, slaves, devices) for name, slaves in others.items()),
        *file_systems,
        *inactive,
    ]
    return [*in_use, *_of_rest(in_use, claims, devices)]


def _md_groups(
    names: Sequence[str],
    claims: Sequence[Claim],
    devices: Devices,
) -> Iterator[Group]:
    """Yield the arrays, with the members that they have lost."""
    notes = {claim.name: claim.notes for claim in claims if claim.notes}
    for name in names:
        array = arrays.array(name, devices)
        if array:
            yield arrays.with_removed(array, notes, devices)


def _volume_groups(
    volumes: Volumes,
    claims: Sequence[Claim],
    unlisted: Mapping[str, str],
    devices: Devices,
) -> Iterator[Group]:
    """Yield the volumes of the device mapper that hold data. unlisted: as in Group."""
    nothing = {claim.name for claim in claims if claim.kind == partitions.NOTHING}
    for name, volume in volumes.items():
        # a partition of a multipath volume, such as the ninth one of a disk of ZFS
        is_empty = name in nothing and volume.uuid.startswith('part')
        if name not in devices.inner and not is_empty:
            group = block_devices.group(name, volumes, devices)
            yield group._replace(unlisted=unlisted.get(name, ''))


def _of_rest(
    in_use: Sequence[Group],
    claims: Sequence[Claim],
    devices: Devices,
) -> Iterator[Group]:
    """Yield the groups of what no group in use accounts for."""
    removed: set[str] = set()
    for group in in_use:
        if group.kind == 'md':
            gone = [member for member in group.members if member.state == 'missing']
            removed.update(member.name for member in gone if member.on)
    rest = [
        claim
        for claim in claims
        if devices.titles.get(claim.name, claim.name) not in removed
    ]
    return partitions.groups(rest, {group.id for group in in_use}, devices)


def _arrays(devices: Devices) -> list[str]:
    folder = f'{devices.system.sys}/block'
    names = _named('md', devices)
    return [name for name in names if os.path.isdir(f'{folder}/{name}/md')]


def _named(start: str, devices: Devices) -> list[str]:
    """Return the devices with a name that starts so."""
    return _in_order(name for name in devices.names if name.startswith(start))


def _in_order(names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda name: (len(name), name))


def _stacked(names: Iterable[str], devices: Devices) -> dict[str, list[str]]:
    """Return the devices that are built on others, each with the devices below it."""
    below = {
        name: names_in(f'{devices.system.sys}/block/{name}/slaves')
        for name in _in_order(names)
    }
    return {name: slaves for name, slaves in below.items() if slaves}


def _other(
    name: str,
    slaves: list[str],
    devices: Devices,
) -> Group:
    """Return the group of a device that has another driver."""
    kind = next(kind for start, kind in _DRIVERS if name.startswith(start))
    return devices.group(
        group_id=name,
        name=name,
        kind=kind,
        members=devices.members(slaves, kind),
    )


# --- the order of groups --------------------------------------------------------------------------


def _ordered(groups: Iterable[Group]) -> list[Group]:
    """Return the groups, lower ones first. Groups that form a circle are separated."""
    rest = {group.id: group for group in groups}
    done: list[Group] = []
    for _ in range(DEEPEST_GROUPS):
        ready = [group for group in rest.values() if rest.keys().isdisjoint(_on(group))]
        done += ready
        for group in ready:
            del rest[group.id]
    return [*done, *(_cut_off(group, rest) for group in rest.values())]


def _on(group: Group) -> set[str]:
    return {name for member in group.members for name in member.on}


def _cut_off(group: Group, rest: Collection[str]) -> Group:
    members = [
        member._replace(on=tuple(name for name in member.on if name not in rest))
        for member in group.members
    ]
    return group._replace(
        level='',
        unknown=f'according to /sys, it is built on itself, or on more than {DEEPEST_GROUPS} layers',
        members=tuple(members),
    )
