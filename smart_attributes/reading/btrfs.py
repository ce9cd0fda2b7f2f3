"""Read mounted btrfs file systems from /sys/fs/btrfs: their devices, profiles and stale copies.

/sys does not have the number of each device, so errors and missing devices are counted but not named.
Source: Linux, fs/btrfs/sysfs.c (devinfo since 5.6, error_stats since 5.14).
"""
from __future__ import annotations

import re

from ..model import Group, Member
from ..typed import TYPE_CHECKING
from ..words import argument, clean
from .block_devices import MEMBERS, NAME, names_in, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .block_devices import Devices

# Profile -> its level, weakest first. RAID1 and RAID10 of btrfs lose data with any second device.
PROFILES = {'raid0': 'raid0', 'single': 'single', 'dup': 'dup', 'raid5': 'btrfs-raid5', 'raid1': 'btrfs-raid1',
            'raid10': 'btrfs-raid10', 'raid6': 'btrfs-raid6', 'raid1c3': 'raid1c3', 'raid1c4': 'raid1c4'}
_SPACES = ('data', 'metadata', 'system', 'mixed')
_ERRORS = re.compile('_errs 0*[1-9]')
_DOUBT = ('btrfs has counted errors of its devices; run: btrfs scrub start -B {0}, and if it corrects all of them: '
          'btrfs device stats -z {0}')
_FILE_SYSTEMS = 256


def file_systems(devices: Devices) -> list[Group]:
    """Return each mounted btrfs file system, named by its label, else by a mount point, else by its UUID."""
    every = [each for each in names_in(f'{devices.system.sys}/fs/btrfs') if re.fullmatch('[0-9a-f-]{36}', each)]
    return [_file_system(uuid, devices) for uuid in every[:_FILE_SYSTEMS]]


def members_of(group: str, devices: Devices) -> list[str]:
    """Return the kernel's names of the devices of a file system. group: its id, "btrfs UUID"."""
    return names_in(f'{devices.system.sys}/fs/{group.replace(" ", "/")}/devices')[:MEMBERS]


def _file_system(uuid: str, devices: Devices) -> Group:
    folder = f'{devices.system.sys}/fs/btrfs/{uuid}'
    names = members_of(f'btrfs {uuid}', devices)
    entries = [f'{folder}/devinfo/{each}' for each in names_in(f'{folder}/devinfo')[:MEMBERS]]
    targets = {each for each in entries if text_of(f'{each}/replace_target') == '1'}
    gone = sum(text_of(f'{each}/missing') != '0' for each in entries if each not in targets)
    is_doubtful = any(_ERRORS.search(text_of(f'{each}/error_stats')) for each in entries)
    # The target of a replacement counts like the others, since nobody knows which device it is.
    members = [devices.member(each, slot=slot) for slot, each in enumerate(names)]
    members += [Member('', 'missing', slot) for slot in range(len(names), len(entries))]
    level, unknown = _level(_profiles(folder), bool(entries) and all(map(_has_counters, entries)))
    used = tuple(dict.fromkeys(use for each in names for use in devices.used.get(each, ())))
    name = text_of(f'{folder}/label')[:NAME] or (used[0] if used else uuid)
    doubts = (_DOUBT.format(argument(used[0] if used else '', 'MOUNTPOINT')),) if is_doubtful else ()
    # A device that was pulled out is already counted as a member.
    missing = max(gone - sum(member.state == 'missing' for member in members), 0)
    return Group(f'btrfs {uuid}', name, 'btrfs', level, len(members), 0, tuple(members), 'replace' if targets else '',
                 None, used, missing, unknown, doubts)


def _has_counters(entry: str) -> bool:
    return text_of(f'{entry}/error_stats').startswith('write_errs ')


def _profiles(folder: str) -> set[str]:
    """Return the profiles that hold data or metadata: several during a conversion. An empty one is left from mkfs."""
    return {profile for space, profile in _listed(folder)
            if text_of(f'{folder}/allocation/{space}/{profile}/used_bytes') != '0'}


def _listed(folder: str) -> Iterator[tuple[str, str]]:
    for space in _SPACES:
        for name in names_in(f'{folder}/allocation/{space}'):
            if name in PROFILES or names_in(f'{folder}/allocation/{space}/{name}'):  # else it is a file
                yield space, name


def _level(profiles: set[str], has_states: bool) -> tuple[str, str]:
    """Return the weakest level, or '' and why it is not known. has_states: /sys has the states of all devices."""
    unheard = sorted(profiles - set(PROFILES))
    if unheard:
        return '', f'this version does not know profile "{clean(unheard[0], 40)}" of btrfs'
    if not has_states or not profiles:
        return '', f'{"the states of its devices" if profiles else "its profiles"} could not be read from /sys'
    return next(level for profile, level in PROFILES.items() if profile in profiles), ''
