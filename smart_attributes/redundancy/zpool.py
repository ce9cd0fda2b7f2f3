"""Convert ZFS pools, as zpool reports them, into groups: a pool needs its virtual devices, which
need their devices.

`zpool status` blocks on some suspended pools, so it runs only if a person requests it, and with a
time limit.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence

from ..constants import LONGEST_GIVEN_NAME
from ..errors import Coded
from ..model import Group, Member
from ..reading import system as linux
from ..reading.system import System
from ..words import clean
from . import partitions, zpool_status
from .block_devices import Names, listed
from .dependence import Seen
from .survival import doubt
from .zpool_status import ABOVE, REMEDY, Pool, Scan, Vdev

DisksOf = Callable[[str], Names]
COMMAND = ('zpool', 'status', '-P')
_STATES = {
    'ONLINE': 'in_sync',
    'DEGRADED': 'in_sync',
    'FAULTED': 'faulty',
    'OFFLINE': 'faulty',
    'UNAVAIL': 'missing',
    'REMOVED': 'missing',
}
_BEST_FIRST = ('in_sync', 'rebuilding', 'unknown', 'faulty', 'missing')
_WORKS = ('ONLINE', 'DEGRADED')
_ACTIVITIES = {'resilver': 'recover', 'scrub': 'check'}
# a device and its replacements, as one device of the group above it
_NESTED = re.compile('(replacing|spare)-[0-9]+')
_TWICE = 'zpool reports a device twice'
_CONTRADICTION = 'zpool reports it as DEGRADED, but all of its devices as ONLINE'


def groups(text: str, disks_of: DisksOf) -> tuple[Group, ...]:
    """Return the groups of all pools in the output of zpool status; no groups if the format is
    unknown. Pure.

    disks_of: returns the disks, or the group ids, below a device with the given path.
    """
    by_id: dict[str, Group] = {}
    for pool in zpool_status.pools(text):
        for group in _groups_of_pool(pool, disks_of):
            by_id[group.id] = _of_unknown(group, _TWICE) if group.id in by_id else group
    return tuple(by_id.values())


def completed(view: Seen, system: System, _drives: object = ()) -> Seen:
    """Return what was seen, in which zpool's groups replace others of the same pools, and a note if
    zpool failed or reports no pool.

    _drives: not used; each module in dependence.PROGRAMS has such a function.
    """
    text, why = linux.output(COMMAND)
    every = listed(system)

    def disks_of(path: str) -> Names:
        """Return the disk of a device or partition, or a group id such as "dm-3"; () for a file."""
        return every.below(_kernel_name(path)) if path.startswith('/dev/') else ()

    of_zpool = groups(text, disks_of)
    merged = tuple(_merged(view.groups, of_zpool, _reported(text)))
    has_no_pool = text.strip() and not of_zpool
    problem = 'zpool status reports no pool' if has_no_pool else why
    notes = view.notes
    if problem:
        note = Coded(
            'zpool-status-missing',
            f'the redundancy of ZFS pools is unknown: {problem}',
        )
        notes = (*notes, note)
    return view._replace(groups=merged, notes=notes)


def _merged(
    of_sys: Sequence[Group], of_zpool: Sequence[Group], reported: set[str]
) -> Iterator[Group]:
    """Yield the groups that /sys and udev show, without the devices that zpool reports, then the
    groups that zpool reports, with the uses that /sys shows.

    If zpool's output about a pool could not be parsed, its group has no members: it gets those that
    /sys shows. reported: kernel names of devices.
    """
    earlier = {group.id: group for group in of_sys}
    ids = {group.id for group in of_zpool}
    unparsed = {group.id for group in of_zpool if not group.members}
    for group in earlier.values():
        # without udev, a partition of a pool is of unknown use
        may_be_reported = group.kind == 'zfs' or partitions.is_unknown(group)
        if not may_be_reported:
            yield group
        # A pool whose output could not be parsed comes below, with the members that /sys shows.
        elif group.id not in unparsed:
            yield from _unreported(group, reported, ids)
    for group in of_zpool:
        of_same_pool = earlier.get(group.id, group)
        members = group.members or of_same_pool.members
        yield group._replace(used_as=of_same_pool.used_as, members=members)


def _kernel_name(path: str) -> str:
    """Return the name of a device in /sys: "sda1" for "/dev/disk/by-id/ata-EXAMPLE-part1"."""
    return os.path.basename(os.path.realpath(path))


def _reported(text: str) -> set[str]:
    """Return the kernel names of all devices in the output of zpool status."""
    names: set[str] = set()
    for pool in zpool_status.pools(text):
        for vdev in (*pool.in_use, *pool.spares):
            names.update(_kernel_name(leaf.path) for leaf in vdev.leaves() if leaf.path)
    return names


def _unreported(
    group: Group, reported: set[str], of_zpool: set[str]
) -> Iterator[Group]:
    """Yield a group that /sys and udev show, without the devices that zpool reports; nothing if
    zpool reports all of them.

    reported: kernel names of devices, also of spares, which name no pool. of_zpool: ids of groups.
    """
    rest = [
        member
        for member in group.members
        if reported.isdisjoint((member.name, *member.on))
    ]
    unreported = group._replace(members=tuple(rest))
    if rest and group.id in of_zpool:
        # another pool with the same name, which is not imported
        yield unreported._replace(
            id=f'{group.id}, other',
            used_as=(),
            unknown='zpool reports no pool with this device',
        )
    elif rest:
        yield unreported


# --- pools ----------------------------------------------------------------------------------------


def _groups_of_pool(pool: Pool, disks_of: DisksOf) -> Iterator[Group]:
    """Yield the group of a pool, and the groups of the pool's virtual devices at all levels; all of
    unknown redundancy if that of the pool is unknown.
    """
    is_resilvering = bool(_resilvers(pool))
    vdevs = tuple(_marked(vdev, is_resilvering) for vdev in pool.vdevs)
    pool = pool._replace(vdevs=vdevs)
    whole = _whole(pool, disks_of)
    yield whole
    for vdev in vdevs:
        for group in _groups_of_vdev(vdev, whole.id, pool, disks_of):
            yield _of_unknown(group, whole.unknown) if whole.unknown else group


def _whole(pool: Pool, disks_of: DisksOf) -> Group:
    """Return the group of a pool. Its members are virtual devices, spares, logs and caches."""
    unknown = pool.unknown or _why_unknown(pool)
    name = clean(pool.name, LONGEST_GIVEN_NAME)
    pool_id = f'zfs {name}'
    members = []
    for slot, vdev in enumerate(pool.vdevs):
        state = 'in_sync' if vdev.state in _WORKS else 'faulty'
        members.append(Member(_short(vdev), state, slot, on=(_id(pool_id, vdev),)))
    return Group(
        id=pool_id,
        name=name,
        kind='zfs',
        level='' if unknown else 'raid0',
        slots=len(members),
        members=(*members, *_aside(pool, disks_of)),
        unknown=unknown,
    )


def _of_unknown(group: Group, why: str) -> Group:
    """Return a group, with its redundancy unknown."""
    return group._replace(level='', unknown=why)


def _resilvers(pool: Pool) -> dict[str, Scan]:
    """Return the resilvers of a pool, each by the name of the virtual device that it concerns. The
    name is '', for any virtual device of the pool, if zpool does not name it or does not list it.
    """
    resilvers = {}
    for scan in pool.scans:
        if scan.function == 'resilver':
            is_listed = any(vdev.name == scan.vdev for vdev in pool.in_use)
            resilvers[scan.vdev if is_listed else ''] = scan
    return resilvers


def _aside(pool: Pool, disks_of: DisksOf) -> Iterator[Member]:
    """Yield the members of a pool that hold no data: spares, logs and caches."""
    for spare in pool.spares:
        yield _member(spare, disks_of)._replace(state='spare')
    for role, vdevs in (('log', pool.logs), ('cache', pool.cache)):
        for vdev in vdevs:
            for leaf in vdev.leaves():
                yield _member(leaf, disks_of)._replace(role=role, doubts=_doubts(leaf))


def _doubts(vdev: Vdev) -> tuple[str, ...]:
    """Return the reason why a working virtual device may lack data; () if there is none."""
    if vdev.state not in _WORKS:
        return ()
    if vdev.has_errors:
        trouble = 'has errors'
    # a group is DEGRADED if a device in it is, which has its own doubt
    elif vdev.state == 'DEGRADED' and not vdev.children:
        trouble = 'is degraded'
    else:
        return ()
    return (doubt(f'{trouble}, so it may lack data', REMEDY),)


def _why_unknown(pool: Pool) -> str:
    """Return why the redundancy of the whole pool is unknown; '' if it is known."""
    if pool.state == 'SUSPENDED':
        return 'zpool reports the state SUSPENDED: connect its devices, then clear its errors'
    if pool.state not in _WORKS:
        return f'zpool reports the state {clean(pool.state)}'
    if not pool.vdevs:
        return 'zpool does not report its devices'
    names = [name for vdev in pool.in_use for name in _names(vdev, '')]
    if len(set(names)) < len(names):
        return _TWICE
    if pool.state == 'DEGRADED' and {vdev.state for vdev in pool.in_use} == {'ONLINE'}:
        return _CONTRADICTION
    return ''


def _names(vdev: Vdev, parent: str) -> Iterator[str]:
    """Yield the name of a virtual device, and the names below it: the path of a device, and of a
    group its name after that of the group above it.
    """
    name = vdev.path or f'{parent} {vdev.name}'
    yield name
    for child in vdev.children:
        yield from _names(child, name)


def _marked(vdev: Vdev, is_resilvering: bool) -> Vdev:
    """Return a copy of a virtual device, in which each device that replaces another is marked as
    incomplete; zpool marks a device only after a write to it. is_resilvering: a resilver of the
    pool runs.
    """
    children = [_marked(child, is_resilvering) for child in vdev.children]
    nested = _NESTED.fullmatch(vdev.name)
    kind = nested[1] if nested else ''
    # zpool lists a replacement only until it is complete. A spare in use remains listed, so only a
    # resilver shows that it may be incomplete.
    if kind == 'replacing' or (kind == 'spare' and is_resilvering):
        # the first one is the device that the others replace
        children = [*children[:1], *map(_incomplete, children[1:])]
    return vdev._replace(children=tuple(children))


def _incomplete(vdev: Vdev) -> Vdev:
    """Return a virtual device with all of its devices marked as incomplete."""
    return vdev._replace(
        is_resilvering=True, children=tuple(map(_incomplete, vdev.children))
    )


# --- virtual devices ------------------------------------------------------------------------------


def _groups_of_vdev(
    vdev: Vdev, parent: str, pool: Pool, disks_of: DisksOf
) -> Iterator[Group]:
    """Yield the group of a virtual device, and the groups below it. parent: the id of the group
    above it. pool: after _marked().
    """
    own_id = _id(parent, vdev)
    members = []
    # a single device is the only member of its group
    for slot, child in enumerate(vdev.children or (vdev,)):
        member = _nested(child, own_id) if child.children else _member(child, disks_of)
        members.append(member._replace(slot=slot, doubts=_doubts(child)))
    unknown = _why_vdev_unknown(vdev, pool)
    scrubs = (scan for scan in pool.scans if scan.function == 'scrub')
    scan = _resilver_of(vdev, pool) or next(scrubs, None)
    doubts = pool.doubts
    if vdev.children and vdev.has_errors:
        doubts = (*doubts, doubt(ABOVE, REMEDY))
    yield Group(
        id=own_id,
        name=_short(vdev),
        kind='zfs',
        level='' if unknown else _level(vdev),
        slots=len(members),
        members=tuple(members),
        activity=_ACTIVITIES[scan.function] if scan else '',
        progress=scan.progress if scan else None,
        unknown=unknown,
        doubts=doubts,
    )
    for child in vdev.children:
        if child.children:
            yield from _groups_of_vdev(child, own_id, pool, disks_of)


def _short(vdev: Vdev) -> str:
    """Return a short name for a virtual device.

    For a disk, this is the path without the directory in /dev.
    """
    name = os.path.basename(vdev.name) if vdev.name.startswith('/dev/') else vdev.name
    return clean(name, LONGEST_GIVEN_NAME)


def _id(parent: str, vdev: Vdev) -> str:
    """Return the id of a virtual device's group: "zfs tank/mirror-0", "zfs tank/sda1"."""
    return f'{parent}/{clean(vdev.name, LONGEST_GIVEN_NAME)}'.replace('//dev/', '/')


def _level(vdev: Vdev) -> str:
    """Return the level of a virtual device by its name, such as "raidz2-0" or
    "draid1:4d:8c:1s-0"; '' if this version does not know the name, or its devices are too few.

    A device's name is a path, the number of a missing device, or the name of a distributed spare
    (space on a dRAID).
    """
    devices = len(vdev.children)
    if not devices:
        pattern = '/.+|[0-9]+|draid[123]-[0-9]+-[0-9]+'
        is_device = vdev.path or re.fullmatch(pattern, vdev.name)
        return 'single' if is_device else ''
    if re.fullmatch('(mirror|replacing|spare)-[0-9]+', vdev.name):
        return 'mirror' if devices > 1 else ''
    raidz = re.fullmatch('(raidz([123]))-[0-9]+', vdev.name)
    if raidz:
        return raidz[1] if devices > int(raidz[2]) else ''
    draid = re.fullmatch('(draid[123]):[0-9]+d:([0-9]{1,5})c:[0-9]+s-[0-9]+', vdev.name)
    return draid[1] if draid and devices == int(draid[2]) else ''


def _why_vdev_unknown(vdev: Vdev, pool: Pool) -> str:
    """Return why the redundancy of a virtual device is not known; '' if it is known."""
    leaves = list(vdev.leaves())
    has_known_level = _level(vdev) != ''
    has_known_devices = all(_level(leaf) == 'single' for leaf in leaves)
    # A group directly below it is of the type "replacing-0" or "spare-0".
    has_known_groups = all(
        _NESTED.fullmatch(child.name) for child in vdev.children if child.children
    )
    if not (has_known_level and has_known_devices and has_known_groups):
        return 'this version of the plugin does not know its type'
    # of a group such as replacing-0, only the states of its devices count, see _nested()
    if vdev.state not in _WORKS and not _NESTED.fullmatch(vdev.name):
        return f'zpool reports the state {clean(vdev.state)}'
    if not all(map(_has_known_state, leaves)):
        return 'zpool reports a device state that the plugin does not know'
    is_degraded = vdev.children and vdev.state == 'DEGRADED'
    are_leaves_online = all(leaf.state == 'ONLINE' for leaf in leaves)
    # A device that is ONLINE, but lacks data, is a reason for the state DEGRADED.
    if is_degraded and are_leaves_online and not vdev.lacks_data:
        return _CONTRADICTION
    if _is_resilver_unclear(vdev, pool):
        return 'a resilver is running, and zpool does not report which devices are complete'
    return ''


def _is_resilver_unclear(vdev: Vdev, pool: Pool) -> bool:
    """Return whether a resilver runs, and zpool does not show which devices of a virtual device are
    complete.

    - zpool has marked none of its devices: True if a resilver concerns this virtual device
    - zpool has marked devices of a dRAID: True if any resilver of the pool runs, because zpool then
      also marks complete devices, and does not show for which resilver
    - zpool has marked devices of any other type: False, because these are the incomplete ones
    """
    # A device lacks data if zpool has marked it.
    if not vdev.lacks_data:
        return _resilver_of(vdev, pool) is not None
    if vdev.name.startswith('draid'):
        return bool(_resilvers(pool))
    return False


def _has_known_state(leaf: Vdev) -> bool:
    """Return whether this version knows the state of a device; it does not if the device works and
    has the remark "was /dev/sda1".
    """
    has_moved = leaf.state in _WORKS and leaf.detail.startswith('was ')
    return leaf.state in _STATES and not has_moved


def _resilver_of(vdev: Vdev, pool: Pool) -> Scan | None:
    """Return the resilver that concerns a virtual device; None if there is none."""
    resilvers = _resilvers(pool)
    if vdev.name in resilvers:
        return resilvers[vdev.name]
    # '': the resilver may concern any virtual device
    if '' not in resilvers:
        return None
    # Once zpool has marked any device of the pool, only marked ones lack data.
    is_any_marked = any(part.lacks_data for part in pool.in_use)
    if is_any_marked and not vdev.lacks_data:
        return None
    return resilvers['']


# --- members --------------------------------------------------------------------------------------


def _member(vdev: Vdev, disks_of: DisksOf) -> Member:
    """Return a device as a member without a slot."""
    detail = ''
    if vdev.state not in ('ONLINE', 'AVAIL'):
        detail = ', '.join(filter(None, (vdev.state, vdev.detail)))
    return Member(
        name=_short(vdev),
        state=_state(vdev),
        on=disks_of(vdev.path) if vdev.path else (),
        detail=clean(detail, LONGEST_GIVEN_NAME),
    )


def _state(vdev: Vdev) -> str:
    """Return the state of a device, as in Member."""
    state = _STATES.get(vdev.state, 'unknown')
    return 'rebuilding' if state == 'in_sync' and vdev.is_resilvering else state


def _nested(vdev: Vdev, parent: str) -> Member:
    """Return a device and its replacements as one member without a slot. parent: the id of the group
    that it is a member of.

    Its state is the best state of these devices.
    """
    best = min(map(_state, vdev.leaves()), key=_BEST_FIRST.index)
    return Member(_short(vdev), best, on=(_id(parent, vdev),))
