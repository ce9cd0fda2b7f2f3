"""Convert the rows from a RAID controller's tool into volumes, and volumes into groups, whose
members are the drives. Pure.

controllers.json has the meaning of states. All other states count as unknown, and so does a volume
that contradicts its level or drives, such as a failed one without lost drives.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from ..constants import MOST_MEMBERS
from ..model import Group, Member
from ..typed import Json, NamedTuple
from ..words import argument, clean
from .controller_output import DATA, Fields, add, meaning
from .controller_slots import ToolDrive, slot
from .survival import Stack, doubt

Rows = Sequence[Fields]  # about objects in the outputs of a tool
_LEVELS: Mapping[str, Json] = DATA['levels']
# while these run, a volume has less redundancy than its level promises
_UNREADY = ('resync', 'reshape')
_ACTIVITIES = (*_UNREADY, 'check', 'recover')
_WORST_FIRST = (
    'unknown',
    'unused',
    'missing',
    'faulty',
    'rebuilding',
    'spare',
    'in_sync',
)
# state of a drive -> the state of a spare; a failed spare is none
_STATE_OF_SPARE = {'in_sync': 'spare', 'unused': 'spare', 'faulty': '', 'missing': ''}
# keys of a row that differ between the volumes that use a drive; all others are facts of the drive
_OF_USE = ('where', 'span', 'slot')


class Volume(NamedTuple):
    """A volume with its drives.

    The fields of a drive include:
    - "is": its state, as in Member, or "unused"; '' for a failed spare
    - "key": a unique name, "storcli64 controller 0 slot 32:9"
    - "place": what the tool calls it, "32:9"
    - "where": the array that contains it; a spare for all arrays has none
    - "span": the number of its span, if the tool shows spans
    """

    tool: Json
    fields: Fields
    # number of the span -> its members; '' if the tool shows no spans
    spans: Mapping[str, Rows]
    spares: Rows
    doubts: tuple[str, ...] = ()  # in addition to those in "fields"

    @property
    def drives(self) -> list[Fields]:
        """Return the drives of all spans."""
        return list(chain(*self.spans.values()))

    @property
    def state(self) -> str | None:
        """Return the state as controllers.json has it: "whole", "degraded" or "failed"."""
        return meaning(self.tool['state_is'], self.fields.get('state', ''))


def volumes(rows: Rows, tool: Json) -> tuple[Volume, ...]:
    """Return the volumes in the rows of all outputs of a tool."""
    # controller and number of a volume -> the facts about it from all rows
    by_number: dict[tuple[str, str], Fields] = {}
    for row in rows:
        number = row.get('number', row.get('where', ''))
        if row['kind'] == 'volume' and number:
            key = (row.get('controller', ''), number)
            add(by_number.setdefault(key, {'number': number}), row)
    uses = _uses(rows, tool)
    return tuple(_volume(fields, rows, uses, tool) for fields in by_number.values())


def tool_drives(rows: Rows, tool: Json, is_complete: bool) -> list[ToolDrive]:
    """Return the drives in the rows of all outputs of a tool, also those that are in no volume.

    is_complete: no output is missing, so there is no controller without rows.
    """
    numbers = {row['controller'] for row in rows if 'controller' in row}
    is_of_only_controller = is_complete and len(numbers) == 1
    # by controller; None: the tool does not number its controllers
    addresses = {row.get('controller'): row['pci'] for row in rows if 'pci' in row}
    drives = {}
    for use in _uses(rows, tool):
        if _name(use):
            pci = addresses.get(use.get('controller'), '')
            # One for each key: the last use of a drive replaces its earlier ones.
            drives[use['key']] = ToolDrive(tool, use, pci, is_of_only_controller)
    return [*drives.values()]


def _uses(rows: Rows, tool: Json) -> list[Fields]:
    """Return the uses of the drives in the rows, each with all facts about its drive.

    A use is a drive in an array, or a drive in a row without an array. If the rows of a drive name
    array 0, array 1, array 0 and no array, it has three uses.
    """
    # "aside": the device is not a drive, but an enclosure, for example
    of_drives = [
        row for row in rows if row['kind'] in ('part', 'drive') and 'aside' not in row
    ]
    numbered = list(zip(of_drives, _drive_numbers(of_drives)))
    facts = _facts(numbered, tool)
    # number of a drive, and its array (None: the row names none) -> the facts about this use
    uses: dict[object, Fields] = {}
    for row, number in numbered:
        use = (number, row.get('where'))
        if use not in uses:
            uses[use] = facts[number].copy()
        add(uses[use], {key: row.get(key) for key in _OF_USE})
    return [*uses.values()]


def _facts(numbered: Sequence[tuple[Fields, int]], tool: Json) -> dict[int, Fields]:
    """Return the facts about each drive from all of its rows, with its state and its key, by its
    number. numbered: the rows, each with the number of its drive.
    """
    by_number: dict[int, Fields] = {}
    for row, number in numbered:
        of_drive = {key: row[key] for key in row if key not in ('kind', *_OF_USE)}
        add(by_number.setdefault(number, {}), of_drive)
    for facts in by_number.values():
        facts['is'] = _state(facts, tool)
        facts['key'] = _key(facts, tool)
    return by_number


def _drive_numbers(rows: Rows) -> Iterator[int]:
    """Yield for each row the number of its drive: the index of the first row about this drive.

    Rows about the same drive have the same controller, and the same place or serial number. A row
    with neither place nor serial number is about the same drive only as an equal row. If a row has
    the place of one drive and the serial number of another, it is about the drive in this place,
    and the serial number counts as that of this drive from then on.
    """
    # such as ("0", "place", "32:9") -> the number of this drive
    by_identity: dict[object, int] = {}
    for index, row in enumerate(rows):
        identities: list[object] = [
            (row.get('controller'), key, row[key])
            for key in ('place', 'serial')
            if key in row
        ]
        if not identities:
            identities = [tuple(row.items())]
        # the number by the place comes first
        earlier = (by_identity[name] for name in identities if name in by_identity)
        number = next(earlier, index)
        # The place and the serial number have this number from now on, even if the serial number
        # had the number of another drive.
        for identity in identities:
            by_identity[identity] = number
        yield number


def _name(drive: Fields) -> str:
    """Return what the tool calls a drive: its place, else its serial number; '' without both."""
    return drive.get('place', drive.get('serial', ''))


def _key(drive: Fields, tool: Json) -> str:
    """Return the unique name of a drive: "storcli64 controller 0 slot 32:9"."""
    where = slot(drive, tool).bay or f'drive {_name(drive)}'
    words = (tool['program'], 'controller', drive.get('controller'), where)
    return ' '.join(filter(None, words))


def _state(drive: Fields, tool: Json) -> str:
    """Return the state of a drive: a state as in Member, "unused", or '' for a failed spare."""
    words = [drive[key] for key in ('presence', 'state') if key in drive]
    states = [meaning(tool['drive_is'], word) or 'unknown' for word in words]
    state = min(states, key=_WORST_FIRST.index, default='unknown')
    if 'spare' not in drive:
        return state
    # An active spare holds the data of another drive; not all outputs name that drive.
    if 'active' in drive['spare']:
        return 'unknown'
    return _STATE_OF_SPARE.get(state, state)


def _add_troubles(fields: Fields, rows: Rows, tool: Json) -> None:
    """Add to a volume's fields the troubles that the rows about its array and its controller
    report. rows: of this controller; a "section" is a part of its report, such as its status.
    """
    array = fields.get('where', '')
    keys = ('trouble', *tool['doubts'])
    for row in rows:
        has_troubles = row['kind'] in ('controller', 'section', 'array')
        # a row without an array is about the whole controller
        is_about_volume = row.get('where', array) == array
        if has_troubles and is_about_volume:
            add(fields, {key: row[key] for key in keys if key in row})


def _volume(fields: Fields, rows: Rows, uses: Rows, tool: Json) -> Volume:
    """Return a volume with the drives of its array, and the spares for this array or for all
    arrays. If its array is unknown, it has only the spares for all arrays.

    fields: the facts from its rows; the troubles of its array and controller are added to them.
    rows, uses: all of the tool. A drive has several uses if it is in several arrays, see _uses().
    """
    controller = fields.get('controller')
    here = [row for row in rows if row.get('controller') == controller]
    _add_troubles(fields, here, tool)
    # places of drives that a spare has replaced; such a drive is a spare itself now
    replaced = {row['instead_of'] for row in here if 'instead_of' in row}
    keys_in_arrays = {use['key'] for use in uses if 'where' in use}
    spans: dict[str, list[Fields]] = {}
    spares = []
    for use in uses:
        # The state '' is that of a failed spare.
        if use['is'] == '' or use.get('controller') != controller:
            continue
        is_of_array = 'where' in use and use['where'] == fields.get('where')
        is_spare = use['is'] == 'spare' or use.get('place') in replaced
        # No use of the drive names an array. As a spare, it is for all arrays.
        is_of_no_array = use['key'] not in keys_in_arrays
        if is_spare:
            if is_of_array or is_of_no_array:
                spares.append(use)
        elif is_of_array:
            spans.setdefault(use.get('span', ''), []).append(use)
    return Volume(tool, fields, spans, spares)


# --- groups ---------------------------------------------------------------------------------------


def groups(volume: Volume) -> list[Group]:
    """Return the group of a volume and, if it has several spans, a group for each.

    Member.on is a drive's "key".
    """
    groups = _groups(volume, _why_unknown(volume))
    whole = groups[0]
    is_lost = Stack(groups).loses(whole)
    has_failed = volume.state == 'failed'
    if whole.unknown or is_lost == has_failed:
        return groups
    state = clean(volume.fields.get('state', ''))
    why = (
        f'{volume.tool["program"]} reports the volume as {state}, which contradicts the states of '
        'its drives'
    )
    return _groups(volume, why)


def _groups(volume: Volume, why: str) -> list[Group]:
    """Return the group of a volume, then one for each of several spans; only the former if the
    redundancy is unknown. why: why it is unknown, or ''.
    """
    whole = _whole(volume)
    spares = tuple(_member(drive, None) for drive in volume.spares)
    spans = {span: _members(volume, span) for span in volume.spans}
    drives = list(chain(*spans.values()))[:MOST_MEMBERS]
    without_spans = whole._replace(slots=len(drives), members=(*drives, *spares))
    if why:
        return [without_spans._replace(unknown=why)]
    if len(spans) == 1:
        (span,) = spans
        return [without_spans._replace(level=_level(volume, span))]
    groups = []
    stripes = []
    for place, (span, members) in enumerate(spans.items()):
        group = whole._replace(
            id=f'{whole.id} span {span}',
            name=f'{whole.name} span {span}',
            slots=len(members),
            level=_level(volume, span),
            members=(*members, *spares),
        )
        groups.append(group)
        stripes.append(Member(f'span {span}', 'in_sync', place, on=(group.id,)))
    # its spans have its activity and its doubts
    striped = Group(
        id=whole.id,
        name=whole.name,
        kind='hardware',
        level='raid0',
        slots=len(stripes),
        members=tuple(stripes),
    )
    return [striped, *groups]


def _whole(volume: Volume) -> Group:
    """Return the group of a volume, without its level and its members."""
    fields = volume.fields
    where = f'{volume.tool["program"]} controller {fields.get("controller", "")}'
    name = clean(f'{where} volume {fields["number"]}')
    return Group(
        id=name,
        name=clean(fields.get('name', name)),
        kind='hardware',
        level='',
        activity=_activity(volume),
        progress=float(fields['progress']) if 'progress' in fields else None,
        doubts=(*_doubts(volume), *volume.doubts),
    )


def _doubts(volume: Volume) -> Iterator[str]:
    """Yield why the drives of a volume may lack data."""
    program = volume.tool['program']
    controller = argument(volume.fields.get('controller', ''), 'N')
    for key, (why, remedy) in volume.tool['doubts'].items():
        if key in volume.fields:
            yield doubt(why, remedy.format(program=program, controller=controller))


def _members(volume: Volume, span: str) -> list[Member]:
    """Return the members of a span, also those that the tool does not list."""
    drives = volume.spans[span]
    listed = [_member(drive, slot) for slot, drive in enumerate(drives)]
    unlisted = range(len(drives), _drives_in_span(volume, span))[:MOST_MEMBERS]
    return [*listed, *(Member('', 'missing', slot) for slot in unlisted)]


def _member(drive: Fields, slot: int | None) -> Member:
    """Return a drive as a member; of unknown state if it is "unused", which contradicts that it is
    in a volume.
    """
    name = _name(drive)
    is_healthy = drive['is'] in ('in_sync', 'spare')
    detail = '' if is_healthy else clean(drive.get('state', drive.get('presence', '')))
    return Member(
        name=clean(name),
        state=drive['is'].replace('unused', 'unknown'),
        slot=slot,
        on=(drive['key'],) if name else (),
        detail=detail,
    )


def _drives_in_span(volume: Volume, span: str) -> int:
    """Return how many drives a listed span should have. The tool may list fewer or more.

    - A tool reports "total" 8 for RAID 50 with 2 spans of 4 drives: 4 if it lists both spans; 8 if
      it shows no spans, because it then lists all drives in one
    - It reports "count" 4 and "depth" 2 for the same volume: 4 or 8, as above
    - It reports neither, and 3 drives of a degraded RAID 10: 4, because RAID 10 has an even number
    - It reports neither, and the volume is not degraded: as many as it lists
    """
    fields = volume.fields
    listed = len(volume.spans[span])
    spans = len(volume.spans)
    if 'total' in fields:
        return int(fields['total']) // spans
    if 'count' in fields:
        count = int(fields['count'])
        # A single listed span has the drives of all spans.
        return count * int(fields.get('depth', 1)) if spans == 1 else count
    if volume.state == 'degraded':
        # The level needs a multiple of this number of drives, so *listed* is rounded up to it.
        multiple: int = _entry(volume).get('multiple', 1)
        return math.ceil(listed / multiple) * multiple
    return listed


def _level(volume: Volume, span: str) -> str:
    """Return the level of a span as in redundancy.survival; '' if it is unknown or does not fit
    the drives.
    """
    drives = _drives_in_span(volume, span)
    # The span should have fewer drives than the tool lists, so the report contradicts itself.
    lists_too_many = len(volume.spans[span]) > drives
    if lists_too_many:
        return ''
    entry = _entry(volume)
    if 'beyond' in entry and drives > entry['most']:
        # some tools report RAID 10 as RAID 1 with more than two drives
        entry = _LEVELS[entry['beyond']]
    is_in_range = entry.get('fewest', 1) <= drives <= entry.get('most', drives)
    is_multiple = drives % entry.get('multiple', 1) == 0
    return str(entry.get('level', '')) if is_in_range and is_multiple else ''


def _entry(volume: Volume) -> Json:
    """Return the entry of a volume's level in controllers.json; {} for an unknown level.

    For a volume with several spans, this is the entry for the level of one span: of RAID 1 if the
    volume is RAID 10.
    """
    printed = volume.fields.get('level', '')
    level = volume.tool.get('levels', {}).get(printed, printed)
    entry = _LEVELS.get(re.sub('raid|[^0-9a-z+]', '', level.lower()), {})
    # A level without "span", such as RAID 0, is also the level of its spans.
    if len(volume.spans) > 1 and 'span' in entry:
        return _LEVELS[entry['span']]
    return entry


def _activity(volume: Volume) -> str:
    """Return the activity of a volume, as in Group; '' if there is none."""
    for key in ('state', 'activity'):
        activity = meaning(volume.tool[f'{key}_is'], volume.fields.get(key, ''))
        if activity in _ACTIVITIES:
            return activity
    is_rebuilding = any(drive['is'] == 'rebuilding' for drive in volume.drives)
    return 'recover' if is_rebuilding else ''


# --- why the redundancy is unknown ----------------------------------------------------------------


def _why_unknown(volume: Volume) -> str:
    """Return why the redundancy of a volume is not known, or ''."""
    problem = next(chain(_gaps(volume), _contradictions(volume)), '')
    return f'{volume.tool["program"]} {problem}' if problem else ''


def _gaps(volume: Volume) -> Iterator[str]:
    """Yield what is missing, repeated or impossible in the report, as texts that complete
    "storcli64 ...".
    """
    fields = volume.fields
    drives = volume.drives
    slots = [(drive.get('span'), drive['slot']) for drive in drives if 'slot' in drive]
    # add() sets "twice" if a field gets a second, different value
    has_two_values = any('twice' in row for row in (fields, *drives, *volume.spares))
    if has_two_values or len(set(slots)) < len(slots):
        yield 'reports this volume twice, with different values'
    if 'controller' not in fields:
        yield 'does not report the controller of this volume'
    if 'parity' in fields and 'activity' not in fields:
        yield 'does not report the parity state of this volume'
    if not 0 < len(drives) <= MOST_MEMBERS:
        yield f'reports {len(drives)} drives in this volume'


def _contradictions(volume: Volume) -> Iterator[str]:
    """Yield the words that this version does not know, and what does not fit together, as texts
    that complete "storcli64 ...".
    """
    fields = volume.fields
    printed_state = clean(fields.get('state', 'none'))
    level = clean(fields.get('level', 'none'))
    task = clean(fields.get('activity', 'none'))
    activity = _activity(volume)
    if activity in _UNREADY:
        yield f'reports a running {activity}, so this volume is not redundant yet'
    if volume.state is None:
        yield f'reports the unknown state {printed_state}'
    if 'activity' in fields and meaning(volume.tool['activity_is'], task) is None:
        yield f'reports the unknown activity {task}'
    has_known_levels = all(_level(volume, span) for span in volume.spans)
    if not has_known_levels or not _has_all_spans(volume):
        yield f'reports the level {level} with {len(volume.drives)} drives'
    drive_states = {drive['is'] for drive in volume.drives}
    if not drive_states <= {'in_sync', 'rebuilding', 'faulty', 'missing'}:
        yield 'reports a drive state that this version does not know'
    if _contradicts_drives(volume):
        yield f'reports the volume as {printed_state}, which contradicts the states of its drives'


def _contradicts_drives(volume: Volume) -> bool:
    """Return whether the state of a volume contradicts its drives: it is whole, but a drive is not
    in sync or not listed, or there is trouble; or it is not whole, but all drives are listed
    and in sync.
    """
    are_in_sync = {drive['is'] for drive in volume.drives} == {'in_sync'}
    has_all_drives = are_in_sync and all(
        _drives_in_span(volume, span) == len(drives)
        for span, drives in volume.spans.items()
    )
    if volume.state == 'whole':
        return not has_all_drives or 'trouble' in volume.fields
    # The state is "degraded", "failed" or unknown.
    return has_all_drives


def _has_all_spans(volume: Volume) -> bool:
    """Return whether the tool lists all spans of a volume, each with a number.

    True for a single span, which may stand for several. If the tool does not report how many spans
    there are, those that it lists count as all.
    """
    listed = len(volume.spans)
    if listed == 1:
        return True
    # '' stands for drives without the number of their span
    if '' in volume.spans:
        return False
    # "depth" is the number of spans
    return int(volume.fields.get('depth', listed)) == listed
