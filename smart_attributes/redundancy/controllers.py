"""Ask the tools of RAID controllers for the groups of their volumes, and join these with the drives
of a run.

A tool can block on a broken controller, so it runs only if a person requests it, with a time limit
and read-only commands. controllers.json has these commands.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

from ..constants import MOST_CONTROLLERS
from ..errors import Coded
from ..model import Group, Located, Place
from ..reading import system as linux
from ..reading.smartctl_calls import program
from ..reading.system import System
from ..typed import Json, NamedTuple
from ..words import clean
from .controller_output import DATA, Fields, matching, rows
from .controller_slots import ToolDrive, joined, slot, type_of
from .controller_volumes import Volume, groups, tool_drives, volumes
from .dependence import WITH_TOOLS, Seen
from .sentences import called
from .survival import LOOK, doubt

FOLDERS: str = DATA['folders']
TOOLS: Sequence[Json] = DATA['tools']
_PROGRAMS = [
    {**tool, 'program': program, 'family': family}
    for tool in TOOLS
    for program, family in tool['programs'].items()
]
TIME_LIMIT = 10.0  # seconds for each command


class Family(NamedTuple):
    """What the tools of one controller family report."""

    volumes: Sequence[Volume]
    drives: Sequence[ToolDrive]
    why: str  # why volumes are missing; '' if the tool reports all of them
    program: str


def completed(view: Seen, system: System, located: Sequence[Located]) -> Seen:
    """Return what was seen, with the groups, notes and slots from the tools; the drives in their
    volumes are removed from the groups of controllers.
    """
    families = ask()
    of_tools = [drive for family in families.values() for drive in family.drives]
    slots = {
        tool_drive.fields['key']: slot(tool_drive.fields, tool_drive.tool)
        for tool_drive in of_tools
    }
    located_by_key = _matched(of_tools, located)
    volumes = [volume for family in families.values() for volume in family.volumes]
    in_volumes: set[str] = set()  # disks of drives, as in Place.disks
    for volume in volumes:
        for member in (*volume.drives, *volume.spares):
            if member['key'] in located_by_key:
                in_volumes.update(located_by_key[member['key']].place.disks)
    of_volumes = [
        _on_disks(group, slots, located_by_key)
        for group in _placed(volumes, in_volumes, system)
    ]
    # address of a drive -> why nothing is known about it if it is in no volume
    reasons = {
        drive.verdict.device.address: _why_left(type_of(drive.verdict), families)
        for drive in located
    }
    rest = []
    for group in view.groups:
        if group.kind != 'hardware':
            rest.append(group)
            continue
        left = _left(group, in_volumes, reasons)
        if left.members:
            rest.append(left)
    return view._replace(
        groups=(*rest, *of_volumes),
        notes=(*view.notes, *_notes(families)),
        places=tuple(
            (drive.verdict.device.address, slots[key])
            for key, drive in located_by_key.items()
        ),
    )


def _matched(
    of_tools: Sequence[ToolDrive], located: Sequence[Located]
) -> dict[str, Located]:
    """Return the drives of this run by their keys in the outputs of the tools, such as "storcli64
    controller 0 slot 32:9"; only those that are certainly the same.
    """
    drive_of = {drive.verdict.device: drive for drive in located}
    verdicts = joined(of_tools, [drive.verdict for drive in located])
    return {key: drive_of[verdict.device] for key, verdict in verdicts.items()}


def _on_disks(
    group: Group, slots: Mapping[str, Place], drives: Mapping[str, Located]
) -> Group:
    """Return the group of a volume, on the disks of its drives.

    At first, Member.on has the key of a drive, if any. The members become:
    - a drive of this run: on its disks, with the name "bus_0_megaraid_2, slot 32:9"
    - another drive that the tool lists: with the name "slot 32:9", still on its key
    - a drive without a known slot, or that the tool does not list: unchanged
    - a span, which is a group: unchanged

    slots: of the listed drives, by key. drives: those of this run, by key.
    """
    members = []
    for member in group.members:
        key = next(iter(member.on), '')
        bay = slots[key].bay if key in slots else ''
        if key in drives:
            name = called(drives[key].verdict.device.name, bay)
            on = drives[key].place.disks or member.on
            members.append(member._replace(name=clean(name), on=on))
        elif bay:
            members.append(member._replace(name=clean(bay)))
        else:
            members.append(member)
    return group._replace(members=tuple(members))


def _placed(
    volumes: Sequence[Volume], drive_disks: set[str], system: System
) -> Iterator[Group]:
    """Yield the groups of the volumes. The id of a volume that the kernel has as a disk is the name
    of this disk, "sda", so that the groups that use the disk are built on the volume.

    drive_disks: the disks of the drives in volumes. Such a disk is a drive, never a volume.
    """
    paths = [volume.fields.get('device', '') for volume in volumes]
    devices = [os.path.basename(path.replace('/cciss/', '/cciss!')) for path in paths]
    for volume, device in zip(volumes, devices):
        whole, *spans = groups(volume)
        is_disk = device and os.path.isdir(f'{system.sys}/block/{device}')
        # a name that a tool prints twice is not certain
        if is_disk and devices.count(device) == 1 and device not in drive_disks:
            whole = whole._replace(id=device)
        yield whole
        yield from spans


def _left(group: Group, in_volumes: set[str], reasons: Mapping[str, str]) -> Group:
    """Return the group of a controller's drives without those in volumes, and with the reason why
    nothing is known about the drives that are left.

    Member.on is the address of a drive. in_volumes: addresses. reasons: by address; '' if the
    former reason still holds.
    """
    members = [member for member in group.members if in_volumes.isdisjoint(member.on)]
    # all drives are behind one controller, so the reason is that of any of them
    (address,) = group.members[0].on
    unknown = reasons[address] or group.unknown
    return group._replace(members=tuple(members), unknown=unknown)


def _why_left(name: str, families: Mapping[str, Family]) -> str:
    """Return why nothing is known about a drive that is in no volume; '' if this version knows no
    tool of its controller. name: of the controller family.
    """
    if name in families:
        family = families[name]
        return family.why or f'{family.program} reports no volume with this drive'
    return 'no tool for its controller is installed' if name in WITH_TOOLS else ''


# --- commands -------------------------------------------------------------------------------------


def ask() -> dict[str, Family]:
    """Return the report of one tool for each controller family with an installed tool: of the first
    tool that reports a volume, else of the last one that reports drives, else of the first one,
    with the reason why it reports nothing.
    """
    families: dict[str, Family] = {}
    for tool in _PROGRAMS:
        name = tool['family']
        earlier = families.get(name)
        if earlier and earlier.volumes:
            continue
        if not program(tool['program'], FOLDERS):
            continue
        family = _family(tool)
        if family.volumes or family.drives or not earlier:
            families[name] = family
    return families


def _family(tool: Json) -> Family:
    """Return what a tool reports, each volume with a doubt if an output is missing."""
    program = tool['program']
    printed, why = _asked(tool)
    command = f'{program} {" ".join(tool["commands"][-1])}'
    drives = tool_drives(printed, tool, is_complete=not why)
    reported = volumes(printed, tool)
    if not reported:
        why = _why_none(why, program, command, has_drives=bool(drives))
    elif why:
        in_part = doubt(f'was not shown in full by {program}', LOOK + command)
        reported = tuple(volume._replace(doubts=(in_part,)) for volume in reported)
    return Family(reported, drives, why, program)


def _why_none(why: str, program: str, command: str, has_drives: bool) -> str:
    """Return why a tool reports no volume. why: why it failed, or ''. command: the last one that was
    run. has_drives: it reports drives.
    """
    none = why or f'{program} reports no volume'
    if os.geteuid():
        return f'{none}; run triage --controllers as root'
    if why or has_drives:
        return none
    return f'{program} printed nothing that this version understands; run: {command}'


def _notes(families: Mapping[str, Family]) -> Iterator[Coded]:
    """Yield why the redundancy of volumes is unknown."""
    unknown = 'the redundancy of RAID volumes is unknown'
    if not families:
        why = f'no tool of a RAID controller was found in {FOLDERS}'
        yield Coded('controllers-missing', f'{unknown}: {why}')
    for family in families.values():
        if family.why:
            yield Coded('controller-tool-failed', f'{unknown}: {family.why}')


def _asked(tool: Json) -> tuple[Sequence[Fields], str]:
    """Return the rows from all outputs of a tool, and why some are missing, or ''.

    After one of its "commands" fails, no further command is run. Its "more" commands only add facts
    about drives, so no rows count as missing after one fails.
    """
    numbers, why_no_numbers = _numbers(tool)
    if why_no_numbers:
        return [], why_no_numbers
    printed: list[Fields] = []
    for number in numbers:
        for command in (*tool['commands'], *tool.get('more', ())):
            words = [word.format(number) for word in command]
            text, why = linux.output((tool['program'], *words), FOLDERS, TIME_LIMIT)
            printed += rows(text, tool, number)
            if why and command in tool['commands']:
                return printed, why
    return printed, ''


def _numbers(tool: Json) -> tuple[list[str], str]:
    """Return the numbers of the controllers that a tool lists, and '', or [] and why it failed. A
    tool without such a list reports all controllers at once: [''].
    """
    if 'list' not in tool:
        return [''], ''
    text, why = linux.output((tool['program'], *tool['list']), FOLDERS, TIME_LIMIT)
    if why:
        return [], why
    matches = map(matching(tool['numbers']), text.splitlines())
    return [match[1] for match in matches if match][:MOST_CONTROLLERS], ''
