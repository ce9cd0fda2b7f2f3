"""Complete LVM RAID volumes with the level and the states of members that only root can read, by `dmsetup status`.

Source: Linux, Documentation/admin-guide/device-mapper/dm-raid.rst and drivers/md/dm-raid.c (raid_status).
"""
from __future__ import annotations

import re

from ..coded import Coded
from ..model import Member
from ..typed import TYPE_CHECKING, NamedTuple
from ..words import argument
from . import system_command
from .block_devices import LINUX, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ..model import Group
    from .block_devices import System

# --noflush: the state of other targets is not written to disk first.
COMMAND = ('dmsetup', 'status', '--target', 'raid', '--noflush')
_LINE = re.compile('(.+): [0-9]+ [0-9]+ raid(?: (.*))?')
_RAID = re.compile('([a-z0-9_]+) ([0-9]{1,3}) ([AaD-]+) ([0-9]{1,20})/([0-9]{1,20})'
                   ' (idle|frozen|init|resync|recover|check|repair|reshape) ([0-9]+)(?: [0-9]+(?: [AaD-])?)?')
_DOUBT = 'its members differ from each other (mismatch count of dm-raid); run: lvchange --syncaction repair {}'
# The level of each type. The layout of raid10 is only in `dmsetup table`: whatever it is, one member may fail.
_LEVELS = {'raid0': 'raid0', 'raid0_meta': 'raid0', 'raid1': 'raid1', 'raid4': 'raid4',
           **dict.fromkeys((f'raid5_{layout}' for layout in ('n', 'la', 'ra', 'ls', 'rs')), 'raid5'),
           **dict.fromkeys((f'raid6_{layout}' for layout in ('zr', 'nr', 'nc', 'n_6', 'la_6', 'ra_6', 'ls_6', 'rs_6')),
                           'raid6'),
           **dict.fromkeys(('raid10', 'raid10_near', 'raid10_far', 'raid10_offset'), 'raid10-unknown-layout')}
_ACTIVITIES = {'idle': '', 'frozen': '', 'init': 'resync'}  # where they differ from those of Group
_STATES = {'A': 'in_sync', 'a': 'rebuilding', 'D': 'faulty', '-': 'missing'}


class Status(NamedTuple):
    """The state of a RAID volume as the device mapper reports it."""

    level: str                      # '' if it is not known
    health: str = ''                # one character for each member, in order
    activity: str = ''              # as in Group
    progress: float | None = None   # of the activity, %
    unknown: str = ''               # why the level is not known
    has_mismatches: bool = False    # found by its last check


def statuses(text: str) -> Mapping[str, Status]:
    """Return the state of each RAID volume by its device mapper name, from the output of `dmsetup status`. Pure."""
    found: dict[str, Status] = {}
    for line in text.split('\n'):
        match = _LINE.fullmatch(line.rstrip(' '))
        if match:
            found[match[1]] = _status(match[2] or '') if match[1] not in found else \
                Status('', unknown='dmsetup reports more than one RAID in it')
    return found


def _status(text: str) -> Status:
    """Return the state that the text after "raid" describes."""
    match = _RAID.fullmatch(text)
    if not match or match[1] not in _LEVELS or int(match[2]) != len(match[3]):
        return Status('', unknown='the output of dmsetup status is not understood')
    done, total = int(match[4]), int(match[5])
    activity = _ACTIVITIES.get(match[6], match[6])
    progress = min(100.0, 100 * done / total) if activity and total else None
    if activity in ('resync', 'reshape'):
        # During these, dm-raid shows the same character for all members that work.
        return Status('', match[3], activity, progress, f'a {activity} is running, and dm-raid does not report which '
                                                        f'members are complete')
    return Status(_LEVELS[match[1]], match[3], activity, progress, has_mismatches=bool(match[7].strip('0')))


def with_status(group: Group, status: Status) -> Group:
    """Return a volume completed with its state. A member that is known to be worse stays so. Pure."""
    unknown = status.unknown
    places = {member.slot: member for member in group.members if member.slot is not None}
    if not unknown and (len(places) < len(group.members) or not set(places) <= set(range(len(status.health)))):
        unknown = 'dmsetup and /sys report different members'
    if unknown:
        return group._replace(level='', unknown=unknown, activity=status.activity, progress=status.progress)
    members = tuple(_member(places.get(place, Member('', 'missing', place)), _STATES[character])
                    for place, character in enumerate(status.health))
    return group._replace(level=status.level, slots=len(members), members=members, activity=status.activity,
                          progress=status.progress, unknown='',
                          doubts=(_DOUBT.format(argument(group.name, 'VOLUME')),) * status.has_mismatches)


def _member(member: Member, state: str) -> Member:
    """Return a member in a state, unless /sys knows that it is gone."""
    return member if member.state in ('faulty', 'missing') and state != 'faulty' else member._replace(state=state)


def completed(known: Iterable[Group], ask: Callable[[], tuple[str, Coded]], system: System = LINUX,
              ) -> tuple[tuple[Group, ...], tuple[Coded, ...]]:
    """Return the known groups, with LVM volumes of unknown level completed, and notes.

    ask: returns the output of dmsetup status, or the reason for its absence.
    """
    known = tuple(known)
    if not any(map(_is_incomplete, known)):
        return known, ()
    text, problem = ask()
    found = statuses(text)
    names = {group.id: text_of(f'{system.sys}/block/{group.id}/dm/name') for group in known if _is_incomplete(group)}
    return tuple(with_status(group, found[names[group.id]]) if names.get(group.id) in found else group
                 for group in known), (problem,) if problem else ()


def _is_incomplete(group: Group) -> bool:
    return group.kind == 'lvm' and not group.level


def ask() -> tuple[str, Coded]:
    """Return the output of dmsetup status, or '' and the reason for its absence."""
    text, why = system_command.output(COMMAND)
    return text, Coded('dmsetup-status-missing', f'the redundancy of LVM volumes is unknown: {why}' if why else '')
