"""Convert ZFS pools, as zpool reports them, into groups: a pool needs its virtual devices, which
need their devices.

`zpool status` blocks on some suspended pools, so it runs only if a person requests it, and with a
time limit.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from ..constants import LONGEST_GIVEN_NAME
from ..errors import Coded
from ..model import Group, Member
from ..reading import system as linux
from ..reading.system import LINUX, System
from ..typed import TYPE_CHECKING, NamedTuple
from ..words import clean
from . import partitions, zpool_status
from .survival import doubt
from .zpool_status import ABOVE, REMEDY, Pool, Scan, Vdev

if TYPE_CHECKING:
    DisksOf = Callable[[str], tuple[str, ...]]

COMMAND = ('zpool', 'status', '-P')
_STATES = {
    'ONLINE': 'in_sync',
    'DEGRADED': 'in_sync',
    'FAULTED': 'faulty',
    'OFFLINE': 'faulty',
    'UNAVAIL': 'missing',
    'REMOVED': 'missing',
}
_WORKS = ('ONLINE', 'DEGRADED')
_ACTIVITIES = {'resilver': 'recover', 'scrub': 'check'}
_NESTED = re.compile('(replacing|spare)-[0-9]+')
_TWICE = 'zpool reports a device twice'
_OTHER = 'zpool reports no pool with this device'
_CONTRADICTION = 'zpool reports it as DEGRADED, but all of its devices as ONLINE'


class _Kind(NamedTuple):
    """The kind of a virtual device, taken from the name of the device."""

    level: str  # '' if the name has an unknown format
    fewest: int = 1  # number of devices
    most: int = 100_000


class _View(NamedTuple):
    """The facts about a pool that are needed to convert its virtual devices."""

    # name of the resilvered virtual device ('': all that need it) -> resilver
    resilvers: Mapping[str, Scan]
    scrub: Scan | None
    is_marked: bool  # zpool shows that at least one device of the pool lacks data
    disks_of: DisksOf
    doubts: tuple[Coded, ...] = ()  # why all devices of the pool may lack data


def groups(text: str, disks_of: DisksOf) -> tuple[Group, ...]:
    """Return the groups of all pools in the output of zpool status; no groups if the format is
    unknown. Pure.

    disks_of: returns the disks, or the group ids, below a device with the given path.
    """
    found: dict[str, Group] = {}
    for pool in zpool_status.pools(text):
        for group in _groups_of_pool(pool, disks_of):
            is_second = group.id in found
            found[group.id] = group._replace(level='', unknown=_TWICE) if is_second else group
    return tuple(found.values())


def completed(
    known: Iterable[Group],
    system: System = LINUX,
    _drives: object = (),
) -> tuple[tuple[Group, ...], tuple[Coded, ...]]:
    """Return two values: the known groups, in which zpool's groups replace others of the same
    pools, and notes.
    """
    text, problem = ask()
    before = {group.id: group for group in known}
    # The use of a pool is kept, and so are its disks if zpool's output could not be parsed.
    devices = set[str]()

    def disks_of(path: str) -> tuple[str, ...]:
        devices.add(os.path.basename(os.path.realpath(path)))
        return below(path, system)

    found = {
        group.id: group._replace(
            used_as=known_as.used_as, members=group.members or known_as.members
        )
        for group in groups(text, disks_of)
        for known_as in [before.get(group.id, group)]
    }
    before = {group.id: group for group in _left(before.values(), found, devices)}
    if text.strip() and not found:
        problem = Coded(
            'zpool-status-missing',
            'the redundancy of ZFS pools is unknown: zpool status reports no pool',
        )
    return (*before.values(), *found.values()), (problem,) * bool(problem)


def _left(known: Iterable[Group], found: Mapping[str, Group], devices: set[str]) -> Iterator[Group]:
    """Yield the known groups without the devices that zpool reports.

    Without udev, only zpool knows that it uses a partition. A spare has no name of a pool, and
    another pool may have the name of this one. found: the groups of zpool. devices: of its pools.
    """
    for group in known:
        is_pool = group.kind == 'zfs'
        if not is_pool and not partitions.is_unknown(group):
            yield group
            continue
        left = [each for each in group.members if devices.isdisjoint((each.name, *each.on))]
        if group.id not in found:
            if left or not group.members:
                yield group._replace(members=tuple(left))
            continue
        others = tuple(each for each in left if each not in found[group.id].members)
        if others:
            name = f'{group.id}, other'
            yield group._replace(id=name, members=others, used_as=(), unknown=_OTHER)


def ask() -> tuple[str, Coded]:
    """Return the output of zpool status, or '' and the reason for its absence."""
    text, why = linux.output(COMMAND)
    return text, Coded(
        'zpool-status-missing', f'the redundancy of ZFS pools is unknown: {why}' if why else ''
    )


def below(path: str, system: System = LINUX) -> tuple[str, ...]:
    """Return the disk of a device or partition with this path, or a group id such as "dm-3"; ()
    for a file.
    """
    if not path.startswith('/dev/'):
        return ()
    try:
        folder = os.path.realpath(
            f'{system.sys}/class/block/{os.path.basename(os.path.realpath(path))}'
        )
    except (OSError, ValueError):
        return ()
    name = os.path.basename(
        os.path.dirname(folder) if os.path.exists(f'{folder}/partition') else folder
    )
    return (name,) if os.path.isdir(f'{system.sys}/block/{name}') else ()


# --- pools ----------------------------------------------------------------------------------------


def _groups_of_pool(pool: Pool, disks_of: DisksOf) -> Iterator[Group]:
    """Yield the group of a pool, and the groups of the pool's virtual devices at all levels."""
    unknown = pool.unknown or _doubt(pool)
    others = (*pool.logs, *pool.cache)
    names = {vdev.name for vdev in (*pool.vdevs, *others)}
    # A resilver of an unlisted virtual device may concern any of the listed devices.
    resilvers = {
        scan.vdev if scan.vdev in names else '': scan
        for scan in pool.scans
        if scan.function == 'resilver'
    }
    vdevs = tuple(_marked(vdev, bool(resilvers)) for vdev in pool.vdevs)
    is_marked = any(leaf.is_resilvering for vdev in (*vdevs, *others) for leaf in _leaves(vdev))
    name = clean(pool.name, LONGEST_GIVEN_NAME)
    view = _View(
        resilvers,
        next((scan for scan in pool.scans if scan.function == 'scrub'), None),
        is_marked,
        disks_of,
        tuple(doubt(why, remedy) for why, remedy in pool.doubts),
    )
    members = [
        Member(
            _short(vdev),
            'in_sync' if vdev.state in (*_WORKS, '') else 'faulty',
            place,
            (_id(f'zfs {name}', vdev),),
        )
        for place, vdev in enumerate(vdevs)
    ]
    spares = [
        _member(vdev, None, disks_of)._replace(state='spare')
        for vdev in pool.spares
        if vdev.state == 'AVAIL'
    ]
    aside = [
        _member(leaf, None, disks_of)._replace(role=role, doubts=_doubts(leaf))
        for role, found in (('log', pool.logs), ('cache', pool.cache))
        for vdev in found
        for leaf in _leaves(vdev)
    ]
    yield Group(
        f'zfs {name}',
        name,
        'zfs',
        '' if unknown else 'raid0',
        len(members),
        members=(*members, *spares, *aside),
        unknown=unknown,
    )
    for vdev in vdevs:
        for group in _groups_of_vdev(vdev, f'zfs {name}', view):
            yield group._replace(level='', unknown=unknown) if unknown else group


def _doubts(vdev: Vdev) -> tuple[Coded, ...]:
    """Return why a working virtual device may lack data.

    A group has no other state than its devices' states.
    """
    is_bad = vdev.state in _WORKS and (
        vdev.has_errors or (vdev.state == 'DEGRADED' and not vdev.children)
    )
    why = f'{"has errors" if vdev.has_errors else "is degraded"}, so it may lack data'
    return (doubt(why, REMEDY),) * is_bad


def _doubt(pool: Pool) -> str:
    """Return why the redundancy of the whole pool is unknown, or ''."""
    if pool.state not in _WORKS:
        todo = ': connect its devices, then clear its errors' if pool.state == 'SUSPENDED' else ''
        return (
            f'zpool reports the state {clean(pool.state)}{todo}'
            if pool.state
            else 'zpool does not report its state'
        )
    if not pool.vdevs:
        return 'zpool does not report its devices'
    every = (*pool.vdevs, *pool.logs, *pool.cache)
    names = [name for vdev in every for name in _names(vdev, '')]
    if len(set(names)) < len(names):
        return _TWICE
    is_contradiction = pool.state == 'DEGRADED' and all(vdev.state == 'ONLINE' for vdev in every)
    return _CONTRADICTION if is_contradiction else ''


def _names(vdev: Vdev, parent: str) -> Iterator[str]:
    """Yield the names below a virtual device: device names unchanged, group names with the
    parent group.
    """
    name = vdev.path or f'{parent} {vdev.name}'
    yield name
    for child in vdev.children:
        yield from _names(child, name)


def _marked(vdev: Vdev, is_resilver: bool) -> Vdev:
    """Return a copy of a virtual device, with each device that replaces another marked as
    incomplete.

    zpool marks a device only after a write to the device; it omits finished replacements, but still
    lists spares.
    """
    children = [_marked(child, is_resilver) for child in vdev.children]
    match = _NESTED.fullmatch(vdev.name)
    if match and (is_resilver or match[1] == 'replacing'):
        children[1:] = map(_incomplete, children[1:])
    return vdev._replace(children=tuple(children))


def _incomplete(vdev: Vdev) -> Vdev:
    """Return a virtual device with all of its devices marked as incomplete."""
    return vdev._replace(is_resilvering=True, children=tuple(map(_incomplete, vdev.children)))


# --- virtual devices ------------------------------------------------------------------------------


def _groups_of_vdev(vdev: Vdev, parent: str, view: _View) -> Iterator[Group]:
    """Yield the group of a virtual device, and the groups below it."""
    own = _id(parent, vdev)
    members = tuple(
        (
            _nested(child, place, own) if child.children else _member(child, place, view.disks_of)
        )._replace(doubts=_doubts(child))
        for place, child in enumerate(vdev.children or (vdev,))
    )
    unknown = _doubt_about(vdev, view)
    scan = _running(vdev, view)
    above = [doubt(ABOVE, REMEDY)] * bool(vdev.children and vdev.has_errors)
    yield Group(
        own,
        _short(vdev),
        'zfs',
        '' if unknown else _kind(vdev).level,
        len(members),
        members=members,
        activity=_ACTIVITIES[scan.function] if scan else '',
        progress=scan.progress if scan else None,
        unknown=unknown,
        doubts=(*view.doubts, *above),
    )
    for child in vdev.children:
        if child.children:
            yield from _groups_of_vdev(child, own, view)


def _short(vdev: Vdev) -> str:
    """Return a short name for a virtual device.

    For a disk, this is the path without the directory in /dev.
    """
    return clean(
        os.path.basename(vdev.name) if vdev.name.startswith('/dev/') else vdev.name,
        LONGEST_GIVEN_NAME,
    )


def _id(parent: str, vdev: Vdev) -> str:
    return f'{parent}/{clean(vdev.name, LONGEST_GIVEN_NAME)}'.replace('//dev/', '/')


def _kind(vdev: Vdev) -> _Kind:
    """Return the kind of a virtual device by its name, such as "raidz2-0" or "draid1:4d:8c:1s-0".

    A device's name is a path, the number of a missing device, or the name of a distributed spare
    (space on a dRAID).
    """
    if not vdev.children:
        return _Kind(
            'single'
            if vdev.path or re.fullmatch('/.+|[0-9]+|draid[123]-[0-9]+-[0-9]+', vdev.name)
            else ''
        )
    if re.fullmatch('(mirror|replacing|spare)-[0-9]+', vdev.name):
        return _Kind('mirror', 2)
    raidz = re.fullmatch('(raidz([123]))-[0-9]+', vdev.name)
    if raidz:
        return _Kind(raidz[1], int(raidz[2]) + 1)
    draid = re.fullmatch('(draid[123]):[0-9]+d:([0-9]{1,5})c:[0-9]+s-[0-9]+', vdev.name)
    return _Kind(draid[1], int(draid[2]), int(draid[2])) if draid else _Kind('')


def _doubt_about(vdev: Vdev, view: _View) -> str:
    """Return why the redundancy of a virtual device is not known, or ''."""
    kind, leaves, is_nested = _kind(vdev), list(_leaves(vdev)), bool(_NESTED.fullmatch(vdev.name))
    is_odd = any(child.children and not _NESTED.fullmatch(child.name) for child in vdev.children)
    if is_odd or not all(_kind(each).level for each in (vdev, *leaves)):
        return 'this version does not know its type'
    if vdev.children and not kind.fewest <= len(vdev.children) <= kind.most:
        return f'its number of devices ({len(vdev.children)}) does not fit its type'
    if not is_nested and vdev.state not in _WORKS:
        return f'zpool reports the state {clean(vdev.state)}'
    if any(
        leaf.state not in _STATES or (leaf.state in _WORKS and leaf.detail.startswith('was '))
        for leaf in leaves
    ):
        return 'zpool reports a state of a device that this version does not know'
    if (
        vdev.children
        and vdev.state == 'DEGRADED'
        and all(leaf.state == 'ONLINE' and not leaf.is_resilvering for leaf in leaves)
    ):
        return _CONTRADICTION
    return _doubt_while_resilvering(vdev, leaves, view)


def _doubt_while_resilvering(vdev: Vdev, leaves: list[Vdev], view: _View) -> str:
    """Return why it is unknown which devices a resilver has completed, or ''.

    A dRAID marks each that gets data.
    """
    names = view.resilvers
    is_marked = any(leaf.is_resilvering for leaf in leaves)
    is_hidden = ('' in names and not view.is_marked) or (vdev.name in names and not is_marked)
    is_spread = bool(names) and is_marked and vdev.name.startswith('draid')
    return (
        'a resilver is running, and zpool does not report which devices are complete'
        if is_hidden or is_spread
        else ''
    )


def _running(vdev: Vdev, view: _View) -> Scan | None:
    """Return the scan that affects a virtual device: a scrub, or a resilver of the device or of
    devices below it.
    """
    lacks_data = any(leaf.is_resilvering for leaf in _leaves(vdev)) or not view.is_marked
    return (
        view.resilvers.get(vdev.name)
        or (view.resilvers.get('') if lacks_data else None)
        or view.scrub
    )


def _leaves(vdev: Vdev) -> Iterator[Vdev]:
    """Yield the devices at the lowest level of a virtual device."""
    if not vdev.children:
        yield vdev
    for child in vdev.children:
        yield from _leaves(child)


# --- members --------------------------------------------------------------------------------------


def _member(vdev: Vdev, place: int | None, disks_of: DisksOf) -> Member:
    """Return a device as a member."""
    state = _STATES.get(vdev.state, 'unknown')
    state = 'rebuilding' if state == 'in_sync' and vdev.is_resilvering else state
    detail = (
        ''
        if vdev.state in ('ONLINE', 'AVAIL')
        else ', '.join(filter(None, (vdev.state, vdev.detail)))
    )
    return Member(
        _short(vdev),
        state,
        place,
        disks_of(vdev.path) if vdev.path else (),
        clean(detail, LONGEST_GIVEN_NAME),
    )


def _nested(vdev: Vdev, place: int, parent: str) -> Member:
    """Return a device and its replacements as one member.

    Its state is the best state of these devices.
    """
    states = [_member(leaf, 0, lambda _: ()).state for leaf in _leaves(vdev)]
    best = next(
        (state for state in ('in_sync', 'rebuilding', 'unknown', 'faulty') if state in states),
        'missing',
    )
    return Member(_short(vdev), best, place, (_id(parent, vdev),))
