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

from ..constants import LARGEST_FILE
from ..model import Group
from ..reading.system import System, names_in, text_of
from ..typed import NamedTuple
from .block_devices import Devices, Kind, Names, Volume, Volumes, title, udev_notes

_PREFIX, _ID = 'LVM-', 32  # of the UUID of a volume: the length of the ids in it
# An image of a mirror or RAID, its metadata or its log: not a volume of its own.
_IMAGE = '_(?:[rm]image_[0-9]+|rmeta_[0-9]+|mlog)$'


class Backup(NamedTuple):
    """The metadata of a volume group. Ids have 32 letters."""

    id: str
    name: str
    devices: Mapping[str, str]  # name of a physical volume, such as "pv0" -> its id
    volumes: Mapping[str, str]  # name -> id
    # name of a volume -> the physical volumes with its data; none for a volume on inner volumes
    areas: Mapping[str, Names]


def parsed(text: str) -> Backup | None:
    """Return the metadata of a volume group; None if the text is not complete. Pure."""
    # the sections that the line is in: "vg0", "logical_volumes", "home", "segment1"
    path: list[str] = []
    ids: dict[Names, str] = {}  # by path
    areas: dict[str, list[str]] = {}  # name of a volume -> names in its segments
    for line in text.splitlines():
        statement = re.sub(r'\s+#.*$', '', line.strip())  # without its comment
        opened = re.fullmatch(r'([A-Za-z0-9_.+-]+) \{', statement)
        own_id = re.fullmatch('id = "([A-Za-z0-9-]+)"', statement)
        is_in_volume = len(path) > 2 and path[1] == 'logical_volumes'
        if opened:
            path.append(opened[1])
        elif statement == '}' and path:
            path.pop()
        elif own_id:
            ids[tuple(path)] = own_id[1].replace('-', '')
        elif is_in_volume:
            # '"pv0", 0': a physical volume and the first extent on it
            on = re.findall('"([^"]+)", [0-9]+', statement)
            areas.setdefault(path[2], []).extend(on)
    # Only the id of the volume group itself stands directly in its section.
    names = [key[0] for key in ids if len(key) == 1]
    if path or len(names) != 1:
        return None
    (name,) = names
    devices = _ids_in('physical_volumes', ids)
    on_devices = {
        # an area can also be on an inner volume
        volume: tuple(dict.fromkeys(area for area in on if area in devices))
        for volume, on in areas.items()
    }
    return Backup(
        id=ids[(name,)],
        name=name,
        devices=devices,
        volumes=_ids_in('logical_volumes', ids),
        areas=on_devices,
    )


def _ids_in(section: str, ids: Mapping[Names, str]) -> dict[str, str]:
    """Return the id of each object of a section by its name. ids: by path in the text."""
    return {path[2]: own_id for path, own_id in ids.items() if path[1:-1] == (section,)}


def inactive(backup: Backup, active: frozenset[str]) -> dict[str, Names]:
    """Return each volume with data that is not active, with its physical volumes. Pure.

    active: ids of volumes. The images of a mirror or RAID count as the volume that they belong to.
    """
    physical_volumes: dict[str, Names] = {}
    for name, own_id in backup.volumes.items():
        whole = re.sub(_IMAGE, '', name)
        whole_id = backup.volumes.get(whole, own_id)
        is_active = own_id in active or whole_id in active
        areas = backup.areas.get(name, ())
        # _pmspare is empty, for the repair of a pool, and never active
        if areas and not is_active and not name.endswith('_pmspare'):
            # Several images may be on the same physical volume, which is returned once.
            of_images = (*physical_volumes.get(whole, ()), *areas)
            physical_volumes[whole] = tuple(dict.fromkeys(of_images))
    return physical_volumes


# --- of a machine ---------------------------------------------------------------------------------


def read(every: Volumes, devices: Devices) -> tuple[list[Group], dict[str, str]]:
    """Return the groups of the inactive volumes, and the active volumes beside which there may be
    further ones: active volume -> name of its volume group, as in Group.unlisted.

    Only volume groups with active volumes count. If "dm-3" is active in vg0, and vg0 has a backup,
    its inactive volumes are among the groups. If vg0 has no usable backup, the second value has
    {"dm-3": "vg0"}. every: the active volumes by kernel name.
    """
    by_group: dict[str, dict[str, Volume]] = {}
    for name, volume in every.items():
        if volume.uuid.startswith(_PREFIX):
            group_id, _ = _ids(volume)
            by_group.setdefault(group_id, {})[name] = volume
    backups = _backups(devices.system)
    groups: list[Group] = []
    unlisted = {}
    for group_id, volumes in by_group.items():
        active = frozenset(_ids(volume)[1] for volume in volumes.values())
        backup = backups.get(group_id)
        names = _names_of_devices(volumes, devices)
        has_all_ids = '' not in names
        # a backup that lacks an active volume is older than that volume
        if backup and has_all_ids and active.issubset(backup.volumes.values()):
            groups += _groups(backup, active, names, devices)
        else:
            for name, volume in volumes.items():
                unlisted[name] = title(volume).partition('/')[0]
    return groups, unlisted


def _ids(volume: Volume) -> tuple[str, str]:
    """Return the ids of the volume group and of the volume, from the UUID of the volume."""
    ids = volume.uuid.removeprefix(_PREFIX)
    return ids[:_ID], ids[_ID : 2 * _ID]


def _backups(system: System) -> dict[str, Backup]:
    """Return the backups of all volume groups, by the group's id; {} if they cannot be read."""
    backups = {}
    for name in names_in(system.lvm):
        backup = parsed(text_of(f'{system.lvm}/{name}', LARGEST_FILE))
        # a file with another name is a copy that somebody made, and may be old
        if backup and backup.name == name:
            backups[backup.id] = backup
    return backups


def _names_of_devices(volumes: Volumes, devices: Devices) -> dict[str, str]:
    """Return the kernel names of the physical volumes below active volumes of a volume group, by
    their ids. Those that are gone are left out. The key '' stands for one for which udev has no id.
    """
    slaves = {slave for volume in volumes.values() for slave in volume.slaves}
    names = {}
    for name in sorted(slaves.difference(volumes)):
        if devices.below(name):  # it is not gone
            uuid = udev_notes(name, devices).get('ID_FS_UUID', '')
            names[uuid.replace('-', '')] = name
    return names


def _groups(
    backup: Backup, active: frozenset[str], names: Mapping[str, str], devices: Devices
) -> Iterator[Group]:
    """Yield a group for each inactive volume; of unknown redundancy for a mirror or RAID, whose data
    is on its images. active: ids of volumes. names: of the physical volumes, by id.
    """
    for volume, areas in inactive(backup, active).items():
        name = f'{backup.name}/{volume}'
        members = []
        for slot, area in enumerate(areas):
            member = devices.member(names.get(backup.devices[area], ''), slot=slot)
            members.append(member._replace(detail='not active'))
        # A mirror or RAID has no areas of its own: inactive() returns those of its images.
        is_plain = bool(backup.areas.get(volume))
        yield devices.group(
            group_id=f'lvm {name}',
            name=name,
            kind=Kind('lvm') if is_plain else Kind('lvm', '', 'it is not active'),
            members=members,
        )
