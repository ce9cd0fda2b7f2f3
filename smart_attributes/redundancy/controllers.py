"""Ask the tools of RAID controllers for the slots of the drives of a run.

A tool can block on a broken controller, so it runs only if a person requests it, with a time limit
and read-only commands. controllers.json has these commands.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from ..constants import MOST_CONTROLLERS
from ..errors import Coded
from ..model import Group, Located, Place
from ..reading import system as linux
from ..reading.system import LINUX, System
from ..typed import TYPE_CHECKING, Json, NamedTuple
from .controller_output import DATA, matching, merged, rows
from .controller_slots import ToolDrive, joined, slot
from .sentences import called

if TYPE_CHECKING:
    from .controller_output import Fields

FOLDERS: str = DATA['folders']
TOOLS: Sequence[Json] = DATA['tools']
_PROGRAMS: Sequence[Json] = [
    {**tool, 'program': program, 'family': family}
    for tool in TOOLS
    for program, family in tool['programs'].items()
]
TIME_LIMIT = 10.0  # seconds for each command


class Completed(NamedTuple):
    """The groups of a machine, and where drives are."""

    groups: tuple[Group, ...]
    notes: tuple[Coded, ...]
    places: tuple[tuple[str, Place], ...] = ()  # address of a drive, and its slot


def completed(
    before: Iterable[Group],
    system: System = LINUX,
    located: Sequence[Located] = (),
) -> Completed:
    """Return the groups with the slots in the names of members, and the slots of the drives."""
    drives, notes = ask()
    verdict_of = joined(drives, [drive.verdict for drive in located])
    places: dict[str, Place] = {}
    for drive in drives:
        verdict = verdict_of.get(drive.fields['key'])
        if verdict:
            places[verdict.device.address] = slot(drive.fields, drive.tool)
    groups = tuple(_with_slots(group, places) for group in before)
    return Completed(groups, tuple(notes), tuple(places.items()))


def _with_slots(group: Group, places: Mapping[str, Place]) -> Group:
    """Return a group; one of a controller's drives with their slots."""
    if group.kind != 'hardware':
        return group
    members = []
    for member in group.members:
        place = places.get(member.on[0], Place())
        members.append(member._replace(name=called(member.name, place.bay)))
    return group._replace(members=tuple(members))


def ask() -> tuple[Sequence[ToolDrive], Sequence[Coded]]:
    """Return the drives that the first tool of each controller family reports, and why tools
    failed.
    """
    drives: dict[str, Sequence[ToolDrive]] = {}
    whys: dict[str, str] = {}
    for tool in _PROGRAMS:
        family = tool['family']
        if not drives.get(family) and linux.is_installed(tool['program'], FOLDERS):
            drives[family], why = _asked(tool)
            whys[family] = why if drives[family] else whys.get(family) or why
    return [drive for of_family in drives.values() for drive in of_family], [*_notes(whys.values())]


def _notes(whys: Collection[str]) -> Iterator[Coded]:
    """Yield why slots are unknown. whys: a reason for each family with a tool, or ''."""
    unknown = 'the slots of drives are unknown'
    if not whys:
        why = f'no tool of a RAID controller was found in {FOLDERS}'
        yield Coded('controllers-missing', f'{unknown}: {why}')
    for why in filter(None, whys):
        yield Coded('controller-tool-failed', f'{unknown}: {why}')


def _asked(tool: Json) -> tuple[Sequence[ToolDrive], str]:
    """Return the drives that a tool reports, and why some are missing."""
    printed, why = _printed(tool)
    drives = tool_drives(printed, tool, is_complete=not why)
    if not drives and not why:
        words = ' '.join(tool['commands'][-1])
        why = f'{tool["program"]} reports no drive; run: {tool["program"]} {words}'
    return drives, why


def _printed(tool: Json) -> tuple[Sequence[Fields], str]:
    """Return the rows from all outputs of a tool, and why some are missing.

    After a failure, the tool is not rerun.
    """
    numbers, why = _numbers(tool)
    printed: list[Fields] = []
    for number in numbers:
        for command in (*tool['commands'], *tool.get('more', ())):
            words = [word.format(number) for word in command]
            text, why = linux.output((tool['program'], *words), FOLDERS, TIME_LIMIT)
            printed += rows(text, tool, number)
            if why:
                return printed, why if command in tool['commands'] else ''
    return printed, why


def tool_drives(
    printed: Sequence[Fields],
    tool: Json,
    is_complete: bool = True,
) -> list[ToolDrive]:
    """Return the drives in the rows of all outputs of a tool.

    is_complete: no output is missing, so there is no controller without rows.
    """
    numbers = {row['controller'] for row in printed if 'controller' in row}
    addresses = {row.get('controller', ''): row['pci'] for row in printed if 'pci' in row}
    drives = []
    for drive in merged(printed):
        controller = drive.get('controller', '')
        drive['key'] = f'{controller} {drive.get("place", drive.get("serial"))}'
        drives.append(
            ToolDrive(
                tool=tool,
                fields=drive,
                pci=addresses.get(controller, ''),
                is_of_only=is_complete and len(numbers) == 1,
            )
        )
    return drives


def _numbers(tool: Json) -> tuple[list[str], str]:
    """Return the numbers of the controllers that a tool lists, and why it failed. A tool without
    such a list reports all controllers at once: [''].
    """
    if 'list' not in tool:
        return [''], ''
    text, why = linux.output((tool['program'], *tool['list']), FOLDERS, TIME_LIMIT)
    if why:
        return [], why
    matches = map(matching(tool['numbers']), text.splitlines())
    return [match[1] for match in matches if match][:MOST_CONTROLLERS], ''
