"""Volumes of LVM that are not active: the kernel does not list them, but their data lies on
physical volumes that active volumes use.

LVM writes the metadata of a volume group to a file of /etc/lvm/backup after each change; root can
read it. If the file is missing, or does not have all active volumes, nobody knows whether there are
others.
Sources: vgcfgbackup(8); LVM2, lib/format_text/export.c (format), lib/misc/lvm-string.c (names of
inner volumes), lib/activate/dev_manager.c (UUID of a volume: "LVM-", group and volume).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ..constants import LARGEST_FILE, LONGEST_GIVEN_NAME, MOST_MEMBERS
from ..model import Group, Member
from ..reading.system import System, names_in, text_of
from ..typed import TYPE_CHECKING, NamedTuple
from .block_devices import Devices, Volume, udev_notes, volume_name

if TYPE_CHECKING:
    from .block_devices import Volumes

_FILES = 256  # volume groups
_PREFIX, _ID = 'LVM-', 32  # of the UUID of a volume: the length of the ids in it
_OPENS = re.compile(r'([A-Za-z0-9_.+-]+) \{')
_IS = re.compile('id = "([A-Za-z0-9-]+)"')
_AREA = re.compile('"([^"]+)", [0-9]+')  # of a segment: physical volume, first extent
_COMMENT = re.compile(r'\s+#.*$')
# An image of a mirror or RAID, its metadata or its log: not a volume of its own.
_IMAGE = re.compile('_(?:[rm]image_[0-9]+|rmeta_[0-9]+|mlog)$')
_SPARE = '_pmspare'  # empty, for the repair of a pool; never active
NOT_ACTIVE = 'not active'


class Stored(NamedTuple):
    """A volume in the metadata."""

    id: str  # 32 letters
    areas: tuple[str, ...]  # names of the physical volumes with its data, such as "pv0"


class Backup(NamedTuple):
    """The metadata of a volume group."""

    id: str  # 32 letters
    name: str
    devices: Mapping[str, str]  # name of a physical volume -> its id
    volumes: Mapping[str, Stored]  # by name


def parsed(text: str) -> Backup | None:
    """Return the metadata of a volume group; None if the text is not complete. Pure."""
    path: list[str] = []
    ids: dict[tuple[str, ...], str] = {}
    areas: dict[str, dict[str, None]] = {}
    for line in text.splitlines():
        statement = _COMMENT.sub('', line.strip())
        opens, is_id = _OPENS.fullmatch(statement), _IS.fullmatch(statement)
        if opens:
            path.append(opens[1])
        elif statement == '}' and path:
            path.pop()
        elif is_id:
            ids[tuple(path)] = is_id[1].replace('-', '')
        elif path[1:2] == ['logical_volumes'] and len(path) > 2:
            areas.setdefault(path[2], {}).update(dict.fromkeys(_AREA.findall(statement)))
    names = [key[0] for key in ids if len(key) == 1]
    if path or len(names) != 1:
        return None
    return _backup(names[0], ids, areas)


def _backup(
    name: str,
    ids: Mapping[tuple[str, ...], str],
    areas: Mapping[str, Mapping[str, None]],
) -> Backup:
    """Return the metadata. ids: by path in the text. areas: of each volume, also inner volumes."""
    devices: dict[str, str] = {}
    volume_ids: dict[str, str] = {}
    for path, own_id in ids.items():
        if path[1:-1] == ('physical_volumes',):
            devices[path[-1]] = own_id
        elif path[1:-1] == ('logical_volumes',):
            volume_ids[path[-1]] = own_id
    volumes = {}
    for volume, volume_id in volume_ids.items():
        on = [area for area in areas.get(volume, {}) if area in devices]
        volumes[volume] = Stored(volume_id, tuple(on))
    return Backup(
        id=ids[(name,)],
        name=name,
        devices=devices,
        volumes=volumes,
    )


def inactive(backup: Backup, active: frozenset[str]) -> dict[str, tuple[str, ...]]:
    """Return each volume with data that is not active, with its physical volumes. Pure.

    active: ids of volumes. The images of a mirror or RAID count as the volume that they belong to.
    """
    areas: dict[str, dict[str, None]] = {}
    for name, stored in backup.volumes.items():
        whole = _IMAGE.sub('', name)
        ids = (stored.id, backup.volumes.get(whole, stored).id)
        if stored.areas and active.isdisjoint(ids) and not name.endswith(_SPARE):
            areas.setdefault(whole, {}).update(dict.fromkeys(stored.areas))
    return {name: tuple(on) for name, on in areas.items()}


# --- of a machine ---------------------------------------------------------------------------------


class Inactive(NamedTuple):
    """The volumes of a machine that are not active."""

    groups: tuple[Group, ...]
    # volumes of groups whose metadata could not be read -> the name of the volume group
    unlisted: Mapping[str, str]


def read(every: Volumes, devices: Devices) -> Inactive:
    """Return the inactive volumes of the volume groups that have active ones. every: the active
    volumes by kernel name.
    """
    by_group: dict[str, dict[str, Volume]] = {}
    for name, volume in every.items():
        if volume.uuid.startswith(_PREFIX):
            group_id, _ = _ids(volume)
            by_group.setdefault(group_id, {})[name] = volume
    backups = _backups(devices.system) if by_group else {}
    groups: list[Group] = []
    unlisted: dict[str, str] = {}
    for group_id, volumes in by_group.items():
        active = frozenset(_ids(volume)[1] for volume in volumes.values())
        backup = backups.get(group_id)
        if backup and active <= {stored.id for stored in backup.volumes.values()}:
            groups += _groups(
                backup=backup,
                active=active,
                volumes=volumes,
                devices=devices,
            )
            continue
        for name, volume in volumes.items():
            unlisted[name] = volume_name(volume.name).partition('/')[0]
    return Inactive(tuple(groups), unlisted)


def _ids(volume: Volume) -> tuple[str, str]:
    """Return the ids of the volume group and of the volume, from the UUID of the volume."""
    ids = volume.uuid.removeprefix(_PREFIX)
    return ids[:_ID], ids[_ID : 2 * _ID]


def _backups(system: System) -> dict[str, Backup]:
    backups = {}
    for name in names_in(system.lvm)[:_FILES]:
        backup = parsed(text_of(f'{system.lvm}/{name}', LARGEST_FILE))
        # a file with another name is a copy that somebody made, and may be old
        if backup and backup.name == name:
            backups[backup.id] = backup
    return backups


def _groups(
    backup: Backup,
    active: frozenset[str],
    volumes: Volumes,
    devices: Devices,
) -> Iterator[Group]:
    """Yield a group for each inactive volume. volumes: the active ones of the volume group."""
    below = {slave for volume in volumes.values() for slave in volume.slaves} - set(volumes)
    uuids = {name: udev_notes(name, devices).get('ID_FS_UUID', '') for name in sorted(below)}
    by_id = {uuid.replace('-', ''): name for name, uuid in uuids.items() if uuid}
    unnamed = [name for name, uuid in uuids.items() if not uuid]
    for volume, areas in inactive(backup, active).items():
        is_plain = volume in backup.volumes and bool(backup.volumes[volume].areas)
        members = [
            _member(
                name=by_id.get(backup.devices[area], ''),
                unnamed=unnamed,
                slot=slot,
                devices=devices,
            )
            for slot, area in enumerate(areas)
        ]
        yield Group(
            id=f'lvm {backup.name}/{volume}',
            name=f'{backup.name}/{volume}'[:LONGEST_GIVEN_NAME],
            kind='lvm',
            level='single' if is_plain else '',
            slots=len(members),
            members=tuple(members[:MOST_MEMBERS]),
            unknown='' if is_plain else 'it is not active',
        )


def _member(
    name: str,
    unnamed: list[str],
    slot: int,
    devices: Devices,
) -> Member:
    """Return a physical volume as a member. name: '' if it was not found: without udev, it is any
    of the unnamed devices.
    """
    if name:
        return devices.member(name, slot=slot)._replace(detail=NOT_ACTIVE)
    on = (below for device in unnamed for below in devices.below(device))
    return Member(
        name='',
        state='unknown' if unnamed else 'missing',
        slot=slot,
        on=tuple(dict.fromkeys(on)),
    )
