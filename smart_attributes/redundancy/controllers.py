"""Convert the volumes that tools of RAID controllers report into groups, whose members are the
drives.

A tool can block on a broken controller, so it runs only if a person requests it, with a time limit
and read-only commands. controllers.json has these commands, the format of their output, and the
meaning of states. All other states count as unknown, and so does a volume that contradicts its
level or drives, such as a failed one without lost drives.
Sources: outputs of the tools, see tests/controllers/index.json.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from .. import files
from ..constants import LONGEST_LINE, LONGEST_TOOL_OUTPUT, MOST_CONTROLLERS, MOST_MEMBERS
from ..errors import Coded
from ..model import Group, Located, Member, Place, Verdict
from ..reading import system as linux
from ..reading.device_types import base
from ..reading.system import LINUX, System
from ..typed import TYPE_CHECKING, Json, NamedTuple
from ..words import argument, clean
from .controller_slots import ToolDrive, joined, slot
from .sentences import called
from .survival import LOOK, Stack, doubt

if TYPE_CHECKING:
    Fields = dict[str, str]

_DATA = files.data('redundancy/controllers.json')
_LEVELS: Mapping[str, Json] = _DATA['levels']
FOLDERS: str = _DATA['folders']
TOOLS: Sequence[Json] = _DATA['tools']
_PROGRAMS = [(tool, *entry) for tool in TOOLS for entry in tool['programs'].items()]
FAMILIES = frozenset(family for _, _, family in _PROGRAMS)
TIME_LIMIT = 10.0  # seconds for each command
# while these run, a volume has less redundancy than its level promises
_UNREADY = ('resync', 'reshape')
_WORST = ('unknown', 'unused', 'missing', 'faulty', 'rebuilding', 'spare', 'in_sync')


class Volume(NamedTuple):
    """A volume with its drives.

    In a drive's fields, "is" holds its state for Member, and "key" holds a unique name.
    """

    tool: Json
    program: str
    fields: Fields
    # number of the span -> its members; '' if the tool shows no spans
    spans: Mapping[str, Sequence[Fields]]
    spares: Sequence[Fields]
    doubts: tuple[Coded, ...]


def rows(text: str, tool: Json, controller: str = '') -> tuple[Fields, ...]:
    """Return a tool's report on each object, with the same keys for all tools. controller: used
    if not printed.
    """
    if len(text) > LONGEST_TOOL_OUTPUT or not re.search(tool.get('end', ''), text):
        return ()
    starts = [(_matching(pattern), *_DATA['kinds'][kind]) for kind, pattern in tool['starts']]
    patterns = {kind: [_matching(each) for each in every] for kind, every in tool['fields'].items()}
    found, context = [{'kind': ''}], {'controller': controller}
    try:
        lines = [*_lines('', json.loads(text))] if tool.get('json') else [*_unlisted(text, tool)]
    except (ValueError, RecursionError):
        return ()
    for line in (each[:LONGEST_LINE] for each in lines):
        start = next(
            ((match, *known) for pattern, *known in starts for match in [pattern(line)] if match),
            None,
        )
        if start:
            found.append(
                {'kind': start[1], **{key: context[key] for key in start[2:] if context.get(key)}}
            )
        for match in (
            start[:1]
            if start
            else (pattern(line) for pattern in patterns.get(found[-1]['kind'], ()))
        ):
            _add(found[-1], match.groupdict() if match else {})
        context = context if found[-1]['kind'] in ('', 'part', 'drive') else found[-1]
    return tuple(found[1:])


def _matching(pattern: str) -> Callable[[str], re.Match[str] | None]:
    pattern = pattern[1:] if pattern.startswith('^') else f'\\s*(?:{pattern})'
    return re.compile(f'{pattern}\\s*', re.IGNORECASE).fullmatch


def _unlisted(text: str, tool: Json) -> Iterator[str]:
    """Yield the lines of a text; a line that lists several members becomes a line for each."""
    lists = [(_matching(pattern), form) for pattern, form in tool.get('lists', ())]
    for line in text.splitlines():
        matches = ((is_list(line), form) for is_list, form in lists)
        match, form = next((each for each in matches if each[0]), (None, ''))
        if match is None:
            yield line
            continue
        for slot_number, member in enumerate(match['members'].split()):
            yield form.format(slot=slot_number, member=member)


def _lines(name: str, value: object) -> Iterator[str]:
    """Yield JSON as lines: the name of each object, then its values."""
    if isinstance(value, list):
        for each in value:
            yield from _lines(name, each)
    elif isinstance(value, dict):
        yield name
        for key in sorted(
            value, key=lambda key: (isinstance(value[key], (dict, list)), key == 'Response Data')
        ):
            yield from _lines(' '.join(key.split()), value[key])
    else:
        yield f'{name} : {" ".join(str(value).split())}'


def _add(fields: Fields, more: Mapping[str, str | None]) -> None:
    """Add values to a row, except for empty ones."""
    for key, value in more.items():
        said = (value or '').strip()
        if said not in ('', '-', 'N/A') and fields.setdefault(key, said) != said:
            fields['twice'] = f'{fields.get("twice", "")} {key}'.lstrip()
    if 'bay' in fields and 'enclosure' in fields:
        fields['place'] = f'{fields["enclosure"]}:{fields["bay"]}'


def volumes(found: Sequence[Fields], tool: Json, program: str = '') -> tuple[Volume, ...]:
    """Return the volumes in the rows of all outputs of a tool. program: the tool's name in a
    command.
    """
    every: dict[tuple[str, str], Fields] = {}
    for row in found:
        number = row.get('number', row.get('where', ''))
        if row['kind'] == 'volume' and number:
            _add(every.setdefault((row.get('controller', ''), number), {'number': number}), row)
    drives = _drives(found, tool, program or tool['name'])
    return tuple(
        _volume(fields, found, drives, tool, program or tool['name']) for fields in every.values()
    )


def _drives(found: Sequence[Fields], tool: Json, program: str) -> list[Fields]:
    """Return the drives in the rows.

    A drive occurs once for each volume or array that contains it.
    """
    # controller, key, value -> the fields of this drive in all rows
    known: dict[tuple[str, ...], Fields] = {}
    parts: dict[tuple[object, ...], tuple[Fields, Fields]] = {}
    for fields in (row for row in found if row['kind'] in ('part', 'drive') and 'aside' not in row):
        keys = [
            (fields.get('controller', ''), key, fields[key])
            for key in ('place', 'serial')
            if key in fields
        ]
        drive: Fields = next((known[key] for key in keys if key in known), {})
        own: dict[str, str | None] = {
            key: fields[key] for key in ('where', 'span', 'slot') if key in fields
        }
        _add(drive, {key: value for key, value in fields.items() if key not in (*own, 'kind')})
        known.update(dict.fromkeys(keys, drive))
        _add(
            parts.setdefault(
                (own.get('where'), id(drive) if keys else tuple(fields.items())), (drive, {})
            )[1],
            own,
        )
    return [
        {
            **drive,
            **own,
            'kind': 'drive',
            'is': _state(drive, tool),
            'key': _key(drive, tool, program),
        }
        for drive, own in parts.values()
    ]


def _key(drive: Fields, tool: Json, program: str) -> str:
    """Return the unique name of a drive: "storcli64 controller 0 slot 32:9"."""
    where = slot(drive, tool, program).bay or f'drive {drive.get("place", drive.get("serial", ""))}'
    return ' '.join(filter(None, (program, 'controller', drive.get('controller'), where))).strip()


def _state(drive: Fields, tool: Json) -> str:
    """Return the state of a drive: a state as in Member, "unused", or '' for a failed spare."""
    said = [
        _meaning(tool['drive_is'], drive[key]) or 'unknown'
        for key in ('presence', 'state')
        if key in drive
    ]
    state = min(said or ['unknown'], key=_WORST.index)
    # An active spare holds the data of another drive; not all outputs name that drive.
    return (
        state
        if 'spare' not in drive
        else 'unknown'
        if 'active' in drive['spare']
        else {'in_sync': 'spare', 'unused': 'spare', 'faulty': '', 'missing': ''}.get(state, state)
    )


def _meaning(table: Mapping[str, str], said: str) -> str | None:
    return next((meaning for pattern, meaning in table.items() if _matching(pattern)(said)), None)


def _volume(
    fields: Fields, found: Sequence[Fields], drives: Sequence[Fields], tool: Json, program: str
) -> Volume:
    """Return a volume with its drives, and with the facts about its array and its controller."""
    where = fields.get('where', '')
    here = [row for row in (*found, *drives) if row.get('controller') == fields.get('controller')]
    for row in here:
        if row['kind'] in ('controller', 'section', 'array') and row.get('where', where) == where:
            _add(
                fields,
                {key: value for key, value in row.items() if key in ('trouble', *tool['doubts'])},
            )
    # by a spare, which is a member now
    replaced = {drive['instead_of'] for drive in here if 'instead_of' in drive}
    spares = [
        each
        for each in here
        if each.get('is')
        and each.get('where', where) == where
        and (each['is'] == 'spare' or each.get('place') in replaced)
    ]
    spans: dict[str, list[Fields]] = {}
    for drive in here:
        if (
            drive.get('is', 'spare') not in ('spare', '')
            and drive.get('where') == where
            and drive not in spares
        ):
            spans.setdefault(drive.get('span', ''), []).append(drive)
    names = {'program': program, 'controller': argument(fields.get('controller', ''), 'N')}
    return Volume(
        tool,
        program,
        fields,
        spans,
        spares,
        tuple(
            doubt(why, remedy.format(**names))
            for key, (why, remedy) in tool['doubts'].items()
            if key in fields
        ),
    )


def groups(volume: Volume) -> Sequence[Group]:
    """Return the group of a volume and, if it has several spans, a group for each.

    Member.on is a drive's "key".
    """
    found, state = [*_groups(volume, _why_unknown(volume))], volume.fields.get('state', '')
    is_lost = Stack(found).survives(found[0], frozenset()) is False
    if not found[0].unknown and is_lost != (_meaning(volume.tool['state_is'], state) == 'failed'):
        return [
            *_groups(
                volume,
                f'{volume.program} reports the state {clean(state)}, which its drives contradict',
            )
        ]
    return found


def _groups(volume: Volume, why: str) -> Iterator[Group]:
    fields = volume.fields
    name = clean(
        f'{volume.program} controller {fields.get("controller", "")} volume {fields["number"]}'
    )
    members = [
        (
            *(_member(drive, slot) for slot, drive in enumerate(drives)),
            *(
                Member('', 'missing', len(drives) + each)
                for each in range(min(_missing(volume, span), MOST_MEMBERS))
            ),
        )
        for span, drives in volume.spans.items()
    ]
    whole = Group(
        name,
        clean(fields.get('name', name)),
        'hardware',
        '',
        activity=_activity(volume),
        progress=float(fields['progress']) if 'progress' in fields else None,
        doubts=volume.doubts,
    )
    spares = tuple(_member(drive, None) for drive in volume.spares)
    if why or len(members) == 1:
        every = [member for span in members for member in span][:MOST_MEMBERS]
        yield whole._replace(
            level='' if why else _level(volume, *volume.spans),
            slots=len(every),
            members=(*every, *spares),
            unknown=why,
        )
    else:
        yield Group(
            name,
            whole.name,
            'hardware',
            'raid0',
            len(members),
            members=tuple(
                Member(f'span {span}', 'in_sync', slot, (f'{name} span {span}',))
                for slot, span in enumerate(volume.spans)
            ),
        )
        for span, each in zip(volume.spans, members):
            yield whole._replace(
                id=f'{name} span {span}',
                name=f'{whole.name} span {span}',
                slots=len(each),
                level=_level(volume, span),
                members=(*each, *spares),
            )


def _member(drive: Fields, slot: int | None) -> Member:
    """Return a drive as a member.

    A drive that is in a volume but has the state "unused" is a contradiction.
    """
    name, detail = (
        drive.get('place', drive.get('serial', '')),
        drive.get('state', drive.get('presence', '')),
    )
    return Member(
        clean(name),
        drive['is'].replace('unused', 'unknown'),
        slot,
        (drive['key'],) * bool(name),
        clean(detail) * (drive['is'] not in ('in_sync', 'spare')),
    )


def _missing(volume: Volume, span: str) -> int:
    """Return the least number of a span's drives that the tool does not list; negative if it
    lists too many.
    """
    fields, drives, shown = volume.fields, len(volume.spans[span]), len(volume.spans)
    # if spans are not shown, "count" is for one span
    spans = int(fields.get('depth', 1)) if shown == 1 else 1
    is_degraded = _meaning(volume.tool['state_is'], fields.get('state', '')) == 'degraded'
    return (
        int(fields['total']) // shown - drives
        if 'total' in fields
        else int(fields['count']) * spans - drives
        if 'count' in fields
        else -drives % _entry(volume).get('multiple', 1) * is_degraded
    )


def _level(volume: Volume, span: str) -> str:
    """Return the level of a span as in redundancy.survival; '' if it is unknown or does not fit
    the drives.
    """
    missing, entry = _missing(volume, span), _entry(volume)
    drives = len(volume.spans[span]) + missing
    entry = _LEVELS[entry['beyond']] if 'beyond' in entry and drives > entry['most'] else entry
    fits = missing >= 0 and entry.get('fewest', 1) <= drives <= entry.get('most', drives)
    return str(entry.get('level', '')) if fits and drives % entry.get('multiple', 1) == 0 else ''


def _entry(volume: Volume) -> Json:
    said = volume.fields.get('level', '')
    entry = _LEVELS.get(
        re.sub('raid|[^0-9a-z+]', '', volume.tool.get('levels', {}).get(said, said).lower()), {}
    )
    return _LEVELS.get(entry.get('span', ''), entry) if len(volume.spans) > 1 else entry


def _activity(volume: Volume) -> str:
    """Return the activity of a volume, as in Group."""
    said = (
        _meaning(volume.tool[f'{key}_is'], volume.fields.get(key, ''))
        for key in ('state', 'activity')
    )
    is_rebuilding = any(
        drive['is'] == 'rebuilding' for drives in volume.spans.values() for drive in drives
    )
    return next(
        (each for each in said if each in (*_UNREADY, 'check', 'recover')),
        'recover' * is_rebuilding,
    )


def _why_unknown(volume: Volume) -> str:
    """Return why the redundancy of a volume is not known, or ''."""
    fields, tool, spans, activity = volume.fields, volume.tool, volume.spans, _activity(volume)
    drives = [drive for span in spans.values() for drive in span]
    slots = [(each.get('span'), each['slot']) for each in drives if 'slot' in each]
    state, level, task = (clean(fields.get(key, 'none')) for key in ('state', 'level', 'activity'))
    meaning, states = _meaning(tool['state_is'], state), {each['is'] for each in drives}
    is_whole, is_bad = (
        meaning == 'whole',
        states != {'in_sync'} or any(_missing(volume, span) for span in spans),
    )
    is_split = len(spans) == 1 or (
        '' not in spans and int(fields.get('depth', len(spans))) == len(spans)
    )
    reasons = (
        (
            any('twice' in each for each in (fields, *drives, *volume.spares))
            or len(set(slots)) < len(slots),
            'this volume twice, with different values',
        ),
        ('controller' not in fields, 'this volume without a controller'),
        (
            'parity' in fields and 'activity' not in fields,
            'this volume without the state of its parity',
        ),
        (not 0 < len(drives) <= MOST_MEMBERS, f'{len(drives)} drives in this volume'),
        (activity in _UNREADY, f'a running {activity}, so this volume is not redundant yet'),
        (meaning is None, f'the unknown state {state}'),
        (
            'activity' in fields and _meaning(tool['activity_is'], task) is None,
            f'the unknown activity {task}',
        ),
        (
            not is_split or not all(_level(volume, span) for span in spans),
            f'the level {level} with {len(drives)} drives',
        ),
        (
            not states <= {'in_sync', 'rebuilding', 'faulty', 'missing'},
            'a drive state that this version does not know',
        ),
        (
            is_bad == is_whole or (is_whole and 'trouble' in fields),
            f'the state {state}, which its drives contradict',
        ),
    )
    return next((f'{volume.program} reports {why}' for is_so, why in reasons if is_so), '')


# --- the drives of this run -----------------------------------------------------------------------


class Answer(NamedTuple):
    """What the tools of all controllers report."""

    volumes: Sequence[Volume]
    notes: Sequence[Coded]  # why answers are missing
    drives: Sequence[ToolDrive] = ()
    # the controller family of a tool -> why the redundancy of its other volumes is unknown
    reasons: Mapping[str, str] = {}


class Completed(NamedTuple):
    """The groups of a machine after the tools were asked, and where drives are."""

    groups: tuple[Group, ...]
    notes: tuple[Coded, ...]
    places: tuple[tuple[str, Place], ...] = ()  # address of a drive, and its slot


def completed(
    known: Iterable[Group],
    system: System = LINUX,
    located: Sequence[Located] = (),
) -> Completed:
    """Return the known groups and the groups from ask(), whose drives are removed from other
    hardware groups.
    """
    answer = ask()
    verdicts = [drive.verdict for drive in located]
    same = joined(answer.drives, verdicts)
    slots = {
        drive.fields['key']: slot(drive.fields, drive.tool, drive.program)
        for drive in answer.drives
    }
    names = _called(slots, same)
    disks_of = {drive.verdict.device: drive.place.disks for drive in located}
    disks = {
        key: disks_of[verdict.device] for key, verdict in same.items() if disks_of[verdict.device]
    }
    taken = {disk for key in _in_volumes(answer.volumes) for disk in disks.get(key, ())}
    made = [
        group._replace(members=tuple(_on_disks(each, names, disks) for each in group.members))
        for group in _placed(answer.volumes, taken, system)
    ]
    rest = [_left(group, taken, answer.reasons, verdicts) for group in known]
    return Completed(
        (*(group for group in rest if group.members or group.kind != 'hardware'), *made),
        tuple(answer.notes),
        tuple((verdict.device.address, slots[key]) for key, verdict in same.items()),
    )


def _in_volumes(volumes: Iterable[Volume]) -> Iterator[str]:
    """Yield the keys of the drives in volumes, and of their spares."""
    for volume in volumes:
        for drives in (*volume.spans.values(), volume.spares):
            yield from (drive['key'] for drive in drives)


def _called(slots: Mapping[str, Place], same: Mapping[str, Verdict]) -> Mapping[str, str]:
    """Return the name of each drive in sentences, by its key: "bus_0_megaraid_2, slot 32:9"."""
    names = {key: place.bay for key, place in slots.items() if place.bay}
    for key, verdict in same.items():
        names[key] = called(verdict.device.name, slots[key].bay)
    return names


def _on_disks(
    member: Member, names: Mapping[str, str], disks: Mapping[str, tuple[str, ...]]
) -> Member:
    """Return a member with the name of its drive, and on the disks of its drive."""
    keys = [each for each in member.on if each in names]
    on = tuple(name for each in member.on for name in disks.get(each, (each,)))
    return member._replace(name=clean(names[keys[0]]) if keys else member.name, on=on)


def _placed(volumes: Sequence[Volume], taken: Collection[str], system: System) -> Iterator[Group]:
    """Yield the groups of the volumes; a volume gets the kernel name of its disk as its id, so that
    it is below the groups that use this disk. taken: the disks of drives.
    """
    devices = [
        os.path.basename(volume.fields.get('device', '').replace('/cciss/', '/cciss!'))
        for volume in volumes
    ]
    for volume, device in zip(volumes, devices):
        whole, *spans = groups(volume)
        is_alone = devices.count(device) == 1 and device not in ('', *taken)
        if is_alone and os.path.isdir(f'{system.sys}/block/{device}'):
            whole = whole._replace(id=device)
        yield from (whole, *spans)


def _left(
    group: Group, taken: Collection[str], reasons: Mapping[str, str], verdicts: Sequence[Verdict]
) -> Group:
    """Return a group; one of a controller's drives without those in volumes, and with the reason
    why nothing is known about the others. reasons: as in Answer.
    """
    if group.kind != 'hardware':
        return group
    members = tuple(each for each in group.members if not any(on in taken for on in each.on))
    addresses = {address for member in members for address in member.on}
    families = {
        base(verdict.device).partition(',')[0]
        for verdict in verdicts
        if verdict.device.address in addresses
    }
    said = [reasons[family] for family in sorted(families) if family in reasons]
    return group._replace(members=members, unknown=said[0] if said else group.unknown)


# --- commands -------------------------------------------------------------------------------------


class Family(NamedTuple):
    """What the tools of one controller family report."""

    volumes: Sequence[Volume]
    drives: Sequence[ToolDrive]
    why: str = ''  # why volumes are missing
    program: str = ''


def ask() -> Answer:
    """Return, for each controller family, what the first tool reports that reports any volume, and
    why tools failed.
    """
    found: dict[str, Family] = {}
    for tool, program, family in _PROGRAMS:
        earlier = found.get(family)
        if not (earlier and earlier.volumes) and linux.is_installed(program, FOLDERS):
            found[family] = _family(tool, program, earlier)
    reasons = {
        name: each.why or f'{each.program} reports no volume with this drive'
        for name, each in found.items()
    }
    return Answer(
        [volume for each in found.values() for volume in each.volumes],
        [*_notes([each.why for each in found.values()])],
        [drive for each in found.values() for drive in each.drives],
        {**dict.fromkeys(FAMILIES, 'no tool of its controller is installed'), **reasons},
    )


def _family(tool: Json, program: str, earlier: Family | None) -> Family:
    """Return what a tool reports. earlier: of another tool of this family, without any volume."""
    printed, why = _asked(tool, program)
    command = f'{program} {" ".join(tool["commands"][-1])}'
    drives = tool_drives(printed, tool, program, is_complete=not why)
    found = volumes(printed, tool, program)
    if not found:
        why = _why_none(why, program, command, is_read=bool(drives))
        if earlier:  # the reason of the first tool that failed counts
            return Family((), earlier.drives or drives, earlier.why or why, program)
    if found and why:
        in_part = doubt(f'was not shown in full by {program}', LOOK + command)
        found = tuple(each._replace(doubts=(*each.doubts, in_part)) for each in found)
    return Family(found, drives, why, program)


def _why_none(why: str, program: str, command: str, is_read: bool) -> str:
    """Return why a tool reports no volume. why: why it failed, or ''. is_read: it reports drives."""
    if os.geteuid():
        failed = why or f'{program} reports no volume'
        return f'{failed}; it needs root: as root, run triage --controllers'
    if why or is_read:
        return why or f'{program} reports no volume'
    return f'{program} printed nothing that this version understands; run: {command}'


def _notes(failed: Sequence[str]) -> Iterator[Coded]:
    """Yield why the redundancy of volumes is unknown. failed: a reason for each family, or ''."""
    unknown = 'the redundancy of RAID volumes is unknown'
    if not failed:
        why = f'no tool of a RAID controller was found in {FOLDERS}'
        yield Coded('controllers-missing', f'{unknown}: {why}')
    for why in filter(None, failed):
        yield Coded('controller-tool-failed', f'{unknown}: {why}')


def tool_drives(
    found: Sequence[Fields], tool: Json, program: str, is_complete: bool = True
) -> list[ToolDrive]:
    """Return the drives in the rows of all outputs of a tool, also those that are in no volume.

    is_complete: no output is missing, so there is no controller without rows.
    """
    numbers = {row['controller'] for row in found if 'controller' in row}
    is_of_only = is_complete and len(numbers) == 1
    addresses = {row.get('controller', ''): row['pci'] for row in found if 'pci' in row}
    drives = {
        drive['key']: ToolDrive(
            tool, program, drive, addresses.get(drive.get('controller', ''), ''), is_of_only
        )
        for drive in _drives(found, tool, program)
        if 'place' in drive or 'serial' in drive
    }
    return [*drives.values()]


def _asked(tool: Json, program: str) -> tuple[Sequence[Fields], str]:
    """Return the rows from all outputs of a tool, and why some are missing.

    After a failure, the tool is not rerun.
    """
    found: list[Fields] = []
    numbers = ['']
    if 'list' in tool:
        text, why = linux.output((program, *tool['list']), FOLDERS, TIME_LIMIT)
        numbers = [
            match[1] for match in map(_matching(tool['numbers']), text.splitlines()) if match
        ][:MOST_CONTROLLERS]
        if why:
            return (), why
    commands = [
        (number, command)
        for number in numbers
        for command in (*tool['commands'], *tool.get('more', ()))
    ]
    for number, command in commands:
        text, why = linux.output(
            (program, *(word.format(number) for word in command)), FOLDERS, TIME_LIMIT
        )
        found += rows(text, tool, number)
        if why:
            return found, why if command in tool['commands'] else ''
    return found, ''
