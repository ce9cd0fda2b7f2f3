"""Read the volumes of the device mapper from /sys/block/dm-N: LVM, LUKS, multipath and others.

LVM builds a volume from inner ones (images of a mirror, data of a thin pool). These are left out: the members of a
volume are the devices below them. /sys has neither the level nor the state of LVM RAID.
Sources: Linux, Documentation/ABI/testing/sysfs-block-dm; LVM2, lib/misc/lvm-string.c (names of inner volumes).
"""
from __future__ import annotations

import re

from ..model import Group, Member
from ..typed import TYPE_CHECKING, NamedTuple
from .block_devices import MEMBERS, NAME, names_in, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet

    from .block_devices import Devices, System

NO_STATUS = 'its level and state are not in /sys; as root, run triage --dmsetup'
CEPH = 'only the Ceph cluster knows its redundancy'
_TARGET = 'its target is not in /sys'
# Start of the UUID -> kind, level, and why the level is not known. The UUID is set by the program that made the volume.
KINDS = (('LVM-', 'lvm', 'single', ''), ('CRYPT-', 'luks', 'single', ''), ('part[0-9]+-', 'partition', 'single', ''),
         ('mpath-', 'multipath', '', 'its members are paths to a drive or volume'), ('', 'dm', '', _TARGET))
_INNER = re.compile('_(?:[rm]image|rmeta|mlog|[tc]data|[tc]meta|corig|cvol|wcorig|vdata|iorig|imeta)(?:_|$)')
_IMAGE = re.compile('_(?:[rm]image|rmeta)_([0-9]{1,4})$')  # of a mirror; its metadata fails with it


class Volume(NamedTuple):
    """A volume as the device mapper describes it."""

    name: str                 # "vg0-home"
    uuid: str                 # "LVM-", 64 letters, and for an inner volume a suffix
    slaves: tuple[str, ...]   # "sda2", "dm-1"


def volumes(names: list[str], system: System) -> dict[str, Volume]:
    """Return each volume by its kernel name, such as "dm-3"."""
    return {name: Volume(text_of(f'{system.sys}/block/{name}/dm/name'), text_of(f'{system.sys}/block/{name}/dm/uuid'),
                         tuple(names_in(f'{system.sys}/block/{name}/slaves')[:MEMBERS])) for name in names}


def inner(every: Mapping[str, Volume]) -> dict[str, tuple[str, ...]]:
    """Return the inner volumes of LVM without copies of their own, each with the devices that it lies on.

    '' is a device that is gone: LVM puts an empty volume in its place.
    """
    hidden = {name for name, volume in every.items() if _is_inner(volume) and not _images(volume, every)}
    return {name: _through(every[name].slaves or ('',), hidden, every) for name in hidden}


def _is_inner(volume: Volume) -> bool:
    return volume.uuid.startswith('LVM-') and ('-' in volume.uuid[4:] or bool(_INNER.search(volume.name)))


def _through(slaves: tuple[str, ...], hidden: AbstractSet[str], every: Mapping[str, Volume]) -> tuple[str, ...]:
    """Return the devices below, through any number of inner volumes; a volume that is below itself ends there."""
    todo, seen, found = list(slaves), set(), []
    for name in todo:  # grows meanwhile
        if name in seen:
            continue
        seen.add(name)
        if name in hidden:
            todo += every[name].slaves or ('',)
        else:
            found.append(name)
    return tuple(found[:MEMBERS]) or ('',)


def volume_name(name: str) -> str:
    """Return the name of a volume of LVM as people write it: "vg0/home-old" of vg0-home--old."""
    group, dash, volume = name.replace('--', '\0').partition('-')
    return f'{group}/{volume}'.replace('\0', '-') if dash else name


def title(volume: Volume) -> str:
    """Return what people call a volume; '' if it has no name."""
    return (volume_name(volume.name) if volume.uuid.startswith('LVM-') else volume.name)[:NAME]


def group(name: str, every: Mapping[str, Volume], devices: Devices) -> Group:
    """Return a volume with the devices below it as members; those of a mirror or RAID in the order of its images."""
    volume, called = every[name], title(every[name]) or name
    kind, level, unknown = next(row[1:] for row in KINDS if re.match(row[0], volume.uuid))
    if kind == 'lvm' and called.startswith('ceph-'):
        kind, level, unknown = 'ceph', '', CEPH
    images = _images(volume, every)
    if images:
        level, unknown = '', NO_STATUS
        members = [_image(number, images[number], devices) for number in sorted(images)]
    else:
        state = 'in_sync' if level else 'unknown'
        members = [devices.member(each, state, slot) for slot, each in enumerate(_below(volume.slaves, devices))]
    return Group(name, called, kind, level, len(members), 0, tuple(members[:MEMBERS]),
                 used_as=devices.used.get(name, ()), unknown=unknown)


def _images(volume: Volume, every: Mapping[str, Volume]) -> dict[int, list[str]]:
    """Return the inner volumes that make up each image of a mirror or RAID, by its number; {} for other volumes."""
    images: dict[int, list[str]] = {}
    for slave in volume.slaves:
        found = _IMAGE.search(every[slave].name) if slave in every else None
        if found:
            images.setdefault(int(found[1]), []).append(slave)
    return images


def _image(number: int, parts: list[str], devices: Devices) -> Member:
    """Return an image as a member under the names of its devices: "sdb1"; it is missing if any of them is."""
    pieces = [devices.member(each) for each in _below(tuple(parts), devices)]
    state = 'unknown' if all(piece.on for piece in pieces) else 'missing'
    return Member(', '.join(piece.name for piece in pieces if piece.name)[:NAME], state, number,
                  tuple(dict.fromkeys(disk for piece in pieces for disk in piece.on)))


def _below(slaves: tuple[str, ...], devices: Devices) -> tuple[str, ...]:
    """Return the devices of slaves, with those of inner volumes instead of these."""
    return tuple(dict.fromkeys(each for slave in slaves or ('',) for each in devices.inside.get(slave, (slave,))))
