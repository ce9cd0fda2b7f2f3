"""Read the groups of a machine in a child process, because files of /sys and /proc can block for
ever: those of an array with a dead disk, of a suspended pool, of a controller that hangs.

The child sends disks and groups as JSON; deciding stays in the check. What has arrived by the end
is used, so a program that hangs, such as zpool, does not cost the groups that /sys shows.
"""

import json
import os
import time
from collections.abc import Sequence

from .. import alarm, child
from ..child import Child, Pipe
from ..errors import Coded
from ..model import Group, Member, Place
from ..typed import Any, Json
from . import dependence
from .dependence import Question, Seen

# seconds that a check waits; a machine with 1,000 volumes takes less than one
PATIENCE = 10.0
# seconds; each command of a program has a limit of its own
_PATIENCE_WITH_PROGRAMS = 55.0


def read(question: Question, state_dir: str) -> Seen:
    """Return what a child process has seen in time, with the problem if this is not all. state_dir:
    the argument of --state-dir, for the lock of the child.
    """
    share = 0.5  # of the time until the next alarm, so that deciding has the rest
    patience = PATIENCE
    if question.asked:
        share = 0.9
        patience = _PATIENCE_WITH_PROGRAMS
    seconds = min(alarm.time_left() * share, patience)
    reader = Child(lambda pipe: _send(pipe, question, state_dir))
    why = ''
    try:
        if not reader.wait(time.monotonic() + seconds):
            why = f'no answer within {seconds:.2g} s'
    except alarm.TimeIsOver as over:
        why = str(over)
    finally:
        reader.leave(ends=True)
    view = Seen()
    problem = None
    is_complete = False
    # each message has one of these, see _send(); a fault comes from Child
    for values, content in reader.messages():
        if 'problem' in values:
            problem = Coded(*values['problem'])
        elif 'fault' in values:
            why = values['fault']
        elif 'is_complete' in values:
            is_complete = True
        else:
            view = _seen(json.loads(content))
    # an answer that is complete counts, even if it came late
    if not is_complete and problem is None:
        problem = unread(why or 'the process that reads them was killed')
    return view._replace(problem=problem)


def unread(why: str) -> Coded:
    """Return the message that groups were not read."""
    return Coded(
        'groups-not-read',
        f'not all arrays, pools and volumes on the drives could be read ({why}), so it is uncertain '
        'which drives can be replaced; if a command hangs, see: dmesg -T',
    )


def _send(pipe: Pipe, question: Question, state_dir: str) -> None:
    """Send what is seen, and a problem after an exception."""
    lock = child.in_turn('groups.read', state_dir)
    try:
        for view in dependence.seen(question):
            notes = [(note.code, note) for note in view.notes]
            pipe.send(json.dumps({**view._asdict(), 'notes': notes}).encode('ascii'))
        pipe.send(is_complete=True)
    except Exception as error:
        problem = dependence.problem_of(error)
        pipe.send(problem=(problem.code, problem))
    if lock is not None:
        os.close(lock)


# --- from plain values ----------------------------------------------------------------------------


def _tuples(value: Any) -> Any:
    """Return a value from JSON with tuples instead of lists."""
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _seen(values: Json) -> Seen:
    """Return what _send() has sent."""
    plain = Seen(**{key: _tuples(value) for key, value in values.items()})
    return plain._replace(
        groups=tuple(map(_group, plain.groups)),
        notes=tuple(Coded(code, text) for code, text in plain.notes),
        places=tuple((address, Place(*place)) for address, place in plain.places),
    )


def _group(values: Sequence[Any]) -> Group:
    """Return a group from its fields, in their order."""
    group = Group(*values)
    return group._replace(members=tuple(Member(*member) for member in group.members))
