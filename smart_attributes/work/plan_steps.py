"""The tasks and steps of a plan, and the tables that decide which steps a task has. Pure."""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from .. import files
from ..constants import LONGEST_TEXT
from ..typed import TYPE_CHECKING, NamedTuple
from ..words import sentence

if TYPE_CHECKING:
    from ..typed import Json

_DATA = files.data('work/plan.json')
PARTS: Mapping[str, Sequence[str]] = _DATA['parts']      # code of a reason -> the parts of its task
TITLES: Mapping[str, str] = _DATA['titles']
STEPS: Mapping[str, Json] = _DATA['steps']
GROUPS: Mapping[str, Mapping[str, Sequence[Json]]] = _DATA['groups']   # kind of a group -> operation -> steps
OF_GROUP = ('degraded', 'last-good-copy', 'group-incomplete', 'group-rebuilding', 'redundancy-doubtful')
MOVABLE = ('lvm', 'btrfs', 'zfs', 'swap')   # kinds that can move a member's data to a new member while in use
SEVERAL = ('btrfs', 'zfs')   # kinds with several file systems; a mount point shows only one of them
MIRRORS = ('raid1', 'raid10', 'raid10-unknown-layout')   # levels whose repair copies one member over another
REPAIRED = (*MIRRORS, 'raid4', 'raid5', 'raid6')   # levels whose repair overwrites a copy or the parity
# Kind of a group -> levels whose members are copied before one is rebuilt, if they may differ: Linux then overwrites
# the other parity of raid6 where it differs (raid5.c), and dm-raid forgets which volumes differ.
OVERWRITTEN: Mapping[str, Sequence[str]] = {'md': ('raid6',), 'lvm': REPAIRED}
RECREATING = ('lvm', 'md')   # kinds that drop a disk that does not answer
MISMATCH = 'mismatch_cnt'    # the field of md and dm-raid that shows whether members differ
BAD_BLOCKS = 'bad_blocks'    # md's field: blocks that a member cannot read
# The number of a device that is gone, of which btrfs has not noticed this.
MISSING = "$(btrfs filesystem show {} | sed -nE 's/^\\s*devid +([0-9]+) .*MISSING.*/\\1/p' | head -n 1)"
ANSWERS = 'dd if={} of=/dev/null bs=64k count=1 iflag=direct status=none'
NEW = '"$NEW"'                              # the variable that an admin sets to the path of the new disk


class PlanStep(NamedTuple):
    """One step: the precondition, the commands, the time to wait, and the sign of success."""
    code: str
    what: str
    need: str = ''              # what must be true before the step, as text
    see: str = ''               # command whose exit status is 0 if *need* is true; '': none
    run: tuple[str, ...] = ()   # commands
    until: str = ''             # command that runs until the wait is over; '': nothing to wait for
    check: str = ''             # command whose exit status is 0 if the step has worked; '': none


class Task(NamedTuple):
    """The steps for one drive or one group. A later task is valid only if `triage --plan` still prints it."""
    code: str               # code of the reason: a key of PARTS
    title: str
    drive: str              # its name in all outputs; '' for a group
    group: str              # id of the group that decides; '' if none does
    steps: tuple[PlanStep, ...]


def filled(code: str, words: Json, entry: Json | None = None) -> PlanStep:
    """Return a step with its placeholders filled in. entry: the step in plan.json; None: STEPS[code]."""
    entry = STEPS[code] if entry is None else entry
    text = {key: entry.get(key, '').format_map(words) for key in ('what', 'need', 'see', 'until', 'check')}
    run = tuple(each for command in entry.get('run', ()) for each in [command.format_map(words)] if each)
    return PlanStep(code, sentence(text['what'], LONGEST_TEXT), sentence(text['need'], LONGEST_TEXT), text['see'], run,
                    text['until'], text['check'])


def document(tasks: Iterable[Task]) -> list[Json]:
    """Return the tasks as objects of the JSON document."""
    return [{**task._asdict(), 'steps': [{**step._asdict(), 'run': list(step.run)} for step in task.steps]}
            for task in tasks]
