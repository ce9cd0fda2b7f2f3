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
from importlib import import_module

from ..constants import DEEPEST_GROUPS
from ..errors import Coded
from ..model import Device, Group, Located, Member, Place, State, Use, Verdict
from ..reading import device_types
from ..reading.system import LINUX, System, disks_of, names_in
from ..typed import NamedTuple
from ..wording import listed as listed_names
from . import arrays, block_devices, lvm_backup, partitions, survival
from .block_devices import Devices, Kind, Names, Volumes, listed, uses
from .partitions import Claim
from .replacement import Drive, Machine, machine
from .replacement import uses as uses_of

# returns the drives that have disks, most severe first, with what their verdicts say
ToDrives = Callable[[Sequence[Located]], Sequence[Drive]]
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

    disks: tuple[Names, ...] = ()  # the disks of each drive in Question.drives
    others: tuple[Names, ...] = ()  # the disks of each drive in Question.others
    groups: tuple[Group, ...] = ()  # none if no drive has a disk
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

    If no drive has a disk, as with recorded reports, yield once, without groups.
    """
    system = question.system
    devices = listed(system)
    placed = [
        _placed(drive, _all_paths(drive.verdict, devices)) for drive in question.drives
    ]
    view = Seen(
        disks=tuple(drive.place.disks for drive in placed),
        others=tuple(disks(other.device, system) for other in question.others),
    )
    if not any(view.disks):
        yield view
        return
    behind = _of_controllers(placed, 'controllers' in question.asked)
    view = view._replace(groups=(*groups(devices), *behind))
    yield view
    for name in question.asked:
        program = import_module(f'.{name}', __package__)
        view = program.completed(view, system, placed)
        yield view


def examined(
    located: Sequence[Located],
    to_drives: ToDrives,
    read: Callable[[Question], Seen],
    others: Callable[[], Sequence[Other]] = tuple,
    asked: Sequence[str] = (),
) -> Examined:
    """Return the groups that depend on each drive; if they could not be read, or after an
    exception, no groups, and a remark with the reason.

    read: answers the question. others: returns the drives of other runs. asked: see Question.
    """
    try:
        question = Question(located, others(), asked)
        view = read(question)
        if view.problem and not view.disks:
            return unexamined(located, to_drives, view.problem)
        return _decided(question, view, to_drives)
    except Exception as error:
        return unexamined(located, to_drives, problem_of(error))


def _decided(question: Question, view: Seen, to_drives: ToDrives) -> Examined:
    """Return what follows from the groups in *view*; only the drives if none has a disk."""
    if not any(view.disks):
        return Examined(
            tuple(Use(verdict, place) for verdict, place in question.drives)
        )
    slots = dict(view.places)
    placed = [
        _in_slot(_placed(drive, names), slots)
        for drive, names in zip(question.drives, view.disks)
    ]
    drives = with_others(to_drives(placed), question.others, view.others)
    all_groups = machine(view.groups, drives)
    degraded = _degraded(view.groups)
    # a missing drive may be the member that a group lacks
    judged = [_critical_if_missing(drive, degraded) for drive in placed]
    return Examined(
        uses=uses_of(judged, all_groups),
        machine=all_groups,
        notes=view.notes,
        remarks=(view.problem,) if view.problem else (),
    )


def problem_of(error: Exception) -> Coded:
    """Return the message about an exception while groups were read or examined."""
    from ..failures import inside

    problem = inside(
        error, 'the arrays, pools and volumes on the drives cannot be examined', 'lsblk'
    )
    return Coded(problem.code, str(problem))


def unexamined(
    located: Sequence[Located], to_drives: ToDrives, problem: Coded
) -> Examined:
    """Return the drives after the groups could not be read or examined, with *problem*, the reason
    for this, as a remark.

    As any group may be degraded, a missing drive is CRITICAL. As any drive may hold the only copy
    of data, each drive to replace is "copy first".
    """
    judged = [
        _critical_if_missing(drive, 'it is not known whether a group lacks a member')
        for drive in located
    ]
    # machine() returns "copy first" for a drive that has disks, but no group. The real disks may be
    # unknown, so each drive gets a fake disk, which has the name of the drive.
    placed = [
        _placed(drive, (drive.verdict.device.name,))
        for drive in judged
        if not drive.verdict.device.is_recorded
    ]
    try:
        without_groups = machine((), to_drives(placed))
    except Exception:
        # *problem* may come from to_drives(), which then fails again
        without_groups = Machine((), ())
    return Examined(uses_of(judged, without_groups), remarks=(problem,))


def _critical_if_missing(drive: Located, degraded: str) -> Located:
    """Return a drive, made CRITICAL if it is missing while a group lacks a member: this is the
    drive that it lacks, or one that it can no longer afford to lose.

    degraded: a clause, "md0 lacks a member"; '' if no group does, so the drive is unchanged.
    """
    if not degraded or not drive.verdict.is_missing:
        return drive
    verdict = drive.verdict._replace(
        state=State.CRITICAL, problem=f'{drive.verdict.problem}; {degraded}'
    )
    return drive._replace(verdict=verdict)


def _degraded(groups: Sequence[Group]) -> str:
    """Return "md0 and md1 lack a member", with the groups that do; '' if none does."""
    names = [group.name for group in groups if survival.lacks_member(group)]
    if not names:
        return ''
    lacks = 'lacks' if len(names) == 1 else 'lack'
    return f'{listed_names(names, 2)} {lacks} a member'


def _placed(drive: Located, names: Sequence[str]) -> Located:
    """Return a drive with these disks. names: kernel names."""
    return drive._replace(place=drive.place._replace(disks=tuple(names)))


def _in_slot(drive: Located, slots: Mapping[str, Place]) -> Located:
    """Return a drive in the slot that a controller's tool reports, unless the system reports one.
    slots: by address of a drive.
    """
    place = drive.place
    slot = slots.get(drive.verdict.device.address)
    if slot is None or place.bay:
        return drive
    return drive._replace(
        place=slot._replace(disks=place.disks, drive_id=place.drive_id)
    )


def _all_paths(verdict: Verdict, devices: Devices) -> list[str]:
    """Return the kernel names of a drive's disks, also of its other namespaces and actuators.

    If a name is that of a further path to a disk, the name of the first path is added, because
    groups are built on the first path. If /sys has no disk of the drive, return its address: its
    use is then unknown. Return [] for a recorded report, and for a missing drive, whose name
    another drive may have.
    """
    device = verdict.device
    if verdict.is_missing or device.is_recorded:
        return []
    present = _passed_through(verdict, devices) or disks(device, devices.system)
    names = []
    # disks() returns () if /sys exists, but has no disk of this drive.
    for disk in present or (device.address,):
        for name in devices.units.get(disk, (disk,)):
            # the name, and that of the first path
            names += [name, devices.same.get(name, name)]
    return list(dict.fromkeys(names))


def _passed_through(verdict: Verdict, devices: Devices) -> list[str]:
    """Return the disks with the serial number of a drive behind a RAID controller, which then is in
    no volume: the kernel has the drive itself (JBOD). [] for other drives.
    """
    serial = verdict.identity.serial
    if not serial or not device_types.is_raid(verdict.device):
        return []
    return [name for name, of_disk in devices.serials.items() if of_disk == serial]


def with_others(
    read: Sequence[Drive],
    others: Sequence[Other],
    disks_of_others: Sequence[Sequence[str]],
) -> list[Drive]:
    """Return the drives of this run, and those of other runs, without the disks that an earlier
    drive has.

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


def disks(device: Device, system: System) -> Names:
    """Return the kernel names of a drive's block devices; behind a RAID controller or without
    sysfs, its address.
    """
    has_sysfs = os.path.isdir(f'{system.sys}/block')
    if device_types.is_raid(device) or not has_sysfs:
        return (device.address,)
    return tuple(disks_of(device, system))


def _of_controllers(drives: Sequence[Located], is_asked: bool) -> Iterator[Group]:
    """Yield a group of unknown redundancy for each RAID controller, with its drives, because it is
    unknown which drives belong to which volume. is_asked: this run asks the controllers' tools.
    """
    behind: dict[tuple[str, str], list[Device]] = {}
    for drive in drives:
        device = drive.verdict.device
        controller = device_types.controller(device.type)
        # Place.disks has the address of the drive if the kernel does not have the drive as a disk,
        # see _all_paths(). A drive that is a disk (JBOD) is in no volume.
        is_behind_controller = device.address in drive.place.disks
        if controller and is_behind_controller:
            behind.setdefault((controller.name, device.path), []).append(device)
    for (name, path), devices in behind.items():
        yield Group(
            id=f'{name} {path}',
            name=f'{name} volumes',
            kind='hardware',
            level='',
            members=tuple(
                Member(device.name, 'unknown', on=(device.address,))
                for device in devices
            ),
            unknown=_why_not_shown(devices[0], is_asked),
        )


def _why_not_shown(device: Device, is_asked: bool) -> str:
    """Return why the volumes of a controller are unknown. device: a drive behind it."""
    if device_types.base(device).partition(',')[0] not in WITH_TOOLS:
        return (
            'this version supports no tool for the controller of the volume; look at the volume with '
            "the vendor's tool"
        )
    if is_asked:
        return 'the tool of its controller did not answer in time'
    return 'as root, run triage --controllers'


# --- groups ---------------------------------------------------------------------------------------

# Name, without the number, of a block device that is built on others -> its kind.
_DRIVERS = {'bcache': block_devices.BCACHE, 'drbd': block_devices.DRBD}


def groups(devices: Devices) -> list[Group]:
    """Return the groups of a machine, lower ones first: those in use, then those of what the other
    disks and partitions hold (claims). devices: all block devices, without their uses.
    """
    of_mapper = _in_order(name for name in devices.names if name.startswith('dm-'))
    volumes = block_devices.volumes(of_mapper, devices.system)
    titles = {
        name: block_devices.title(volume) or name for name, volume in volumes.items()
    }
    with_uses = devices._replace(
        inner=block_devices.inner(volumes), used=uses(devices.system), titles=titles
    )
    file_systems = arrays.file_systems(with_uses)
    of_btrfs = {
        name
        for group in file_systems
        for name in arrays.btrfs_members(group.id, devices)
    }
    # a mount point of btrfs is that of the file system, not of one of its devices
    used = {name: use for name, use in with_uses.used.items() if name not in of_btrfs}
    return _with_file_systems(
        file_systems, of_btrfs, volumes, with_uses._replace(used=used)
    )


def _with_file_systems(
    file_systems: Sequence[Group],
    of_btrfs: set[str],
    volumes: Volumes,
    devices: Devices,
) -> list[Group]:
    """Return the btrfs file systems and all other groups of a machine, in the order of groups().

    of_btrfs: the devices of the file systems. volumes: all of the device mapper. devices: with
    their uses, except for the mount points of btrfs.
    """
    md_arrays = _in_order(
        name
        for name in devices.names
        if os.path.isdir(f'{devices.system.sys}/block/{name}/md')
    )
    stacked = _stacked(devices.names - {*md_arrays, *volumes}, devices)
    members = of_btrfs.union(*stacked.values())
    for name in md_arrays:
        members.update(arrays.md_members(name, devices))
    for volume in volumes.values():
        members.update(volume.slaves)
    claims = partitions.claims(members, devices)
    inactive, unlisted = lvm_backup.read(volumes, devices)
    # the groups of devices that are built on others, and of inactive volumes
    built = [
        *_md_groups(md_arrays, claims, devices),
        *_volume_groups(volumes, claims, devices, unlisted),
        *(_other(name, slaves, devices) for name, slaves in stacked.items()),
        *file_systems,
        *inactive,
    ]
    not_lost = _without_lost(claims, built, devices)
    ids = {group.id for group in built}
    return _ordered([*built, *partitions.groups(not_lost, ids, devices)])


def _md_groups(
    names: Sequence[str], claims: Sequence[Claim], devices: Devices
) -> Iterator[Group]:
    """Yield the arrays, with the members that they have lost."""
    notes = {claim.name: claim.notes for claim in claims}
    for name in names:
        array = arrays.array(name, devices)
        if array:
            yield arrays.with_removed(array, notes, devices)


def _volume_groups(
    volumes: Volumes,
    claims: Sequence[Claim],
    devices: Devices,
    unlisted: Mapping[str, str],
) -> Iterator[Group]:
    """Yield the volumes of the device mapper that hold data. unlisted: by volume, as in Group."""
    nothing = {claim.name for claim in claims if claim.kind == partitions.NOTHING}
    for name, volume in volumes.items():
        # A partition of a multipath volume can be empty, such as the ninth one, which ZFS makes on
        # each disk.
        is_partition = volume.uuid.startswith('part')
        is_empty = is_partition and name in nothing
        if name not in devices.inner and not is_empty:
            yield block_devices.group(name, volumes, devices)._replace(
                unlisted=unlisted.get(name, '')
            )


def _without_lost(
    claims: Sequence[Claim], groups: Sequence[Group], devices: Devices
) -> list[Claim]:
    """Return the claims without those of devices that arrays have lost: these are members already.

    arrays.with_removed() adds such a device as a missing member with disks.
    """
    lost = {
        member.name
        for group in groups
        for member in group.members
        if group.kind == 'md' and member.state == 'missing' and member.on
    }
    # A member that is a volume has its title as its name ("vg0/home"), any other its kernel name.
    return [
        claim
        for claim in claims
        if devices.titles.get(claim.name, claim.name) not in lost
    ]


def _in_order(names: Iterable[str]) -> list[str]:
    """Return names sorted by the numbers in them: "dm-9" before "dm-10"."""
    return sorted(names, key=lambda name: (len(name), name))


def _stacked(names: Iterable[str], devices: Devices) -> dict[str, list[str]]:
    """Return the devices that are built on others, each with the devices below it."""
    below = {
        name: names_in(f'{devices.system.sys}/block/{name}/slaves')
        for name in _in_order(names)
    }
    return {name: slaves for name, slaves in below.items() if slaves}


def _other(name: str, slaves: list[str], devices: Devices) -> Group:
    """Return the group of a device that has another driver. slaves: the devices below it."""
    other = Kind('dm', '', 'its driver is unknown to this version')
    kind = _DRIVERS.get(name.rstrip('0123456789'), other)
    members = devices.members(slaves, kind)
    return devices.group(group_id=name, name=name, kind=kind, members=members)


# --- the order of groups --------------------------------------------------------------------------


def _ordered(groups: Iterable[Group]) -> list[Group]:
    """Return the groups, lower ones first. Groups that form a circle are separated."""
    rest = {group.id: group for group in groups}
    ordered = []
    for _ in range(DEEPEST_GROUPS):
        lowest = [
            group for group in rest.values() if rest.keys().isdisjoint(_on(group))
        ]
        ordered += lowest
        for group in lowest:
            del rest[group.id]
    return [*ordered, *(_cut_off(group, rest) for group in rest.values())]


def _on(group: Group) -> set[str]:
    """Return the disks and the ids of groups that a group is built on."""
    return {name for member in group.members for name in member.on}


def _cut_off(group: Group, rest: Collection[str]) -> Group:
    """Return a group of unknown redundancy that is not built on the groups in *rest* (ids)."""
    members = tuple(
        member._replace(on=tuple(name for name in member.on if name not in rest))
        for member in group.members
    )
    return group._replace(
        level='',
        unknown=f'according to /sys, it is built on itself, or on more than {DEEPEST_GROUPS} layers',
        members=members,
    )
