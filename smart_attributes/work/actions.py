"""The possible actions for a drive, most urgent first, and their texts.

Programs use only the codes.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..constants import DAY
from ..model import State
from ..typed import NamedTuple

REPLACE, COPY, DRAIN, KEEP, WAIT, REJOIN, SEARCH, REPAIR = (
    'replace',
    'copy',
    'drain',
    'keep',
    'wait',
    'rejoin',
    'search',
    'repair',
)
READ, ORDER_COPY, ORDER, CABLE, FIRMWARE, COOLING, WATCH, NOTHING = (
    'read',
    'order-copy',
    'order',
    'cable',
    'firmware',
    'cooling',
    'watch',
    'nothing',
)
REPLACING = (REPLACE, COPY, DRAIN, KEEP, WAIT, REJOIN)
FAILING = 'failing'  # kind of an action: the drive itself is failing


class Action(NamedTuple):
    """The text of an action, and the time at which to check the drive again."""

    words: str
    again: int = 0  # seconds from now; 0: no time is set


_ACTIONS: Mapping[str, Action] = {  # in order of urgency
    REPLACE: Action('replace now'),
    COPY: Action('copy the data, then replace'),
    DRAIN: Action('let the cluster move its data, then replace'),
    KEEP: Action('keep in place: last good copy'),
    WAIT: Action('wait, then replace'),
    REJOIN: Action('replace, or add to its array again'),
    SEARCH: Action('look for the drive'),
    REPAIR: Action('repair the check'),
    READ: Action('find out why it cannot be read'),
    ORDER_COPY: Action('order a replacement, copy the data first'),
    ORDER: Action('order a replacement'),
    CABLE: Action('look at the cable'),
    FIRMWARE: Action('update the firmware'),
    COOLING: Action('look at the cooling'),
    WATCH: Action('watch: look again in a month', again=30 * DAY),
    NOTHING: Action('nothing'),
}
CODES = tuple(_ACTIONS)
_SELF_TEST = Action('watch: run an extended self-test, look again in a week', again=7 * DAY)
# Code and kind -> the action, if its text depends on the kind.
_OF_KIND: Mapping[tuple[str, str], Action] = {
    (KEEP, FAILING): Action('copy the data, and keep in place: last good copy'),
    (WATCH, 'health'): _SELF_TEST,
    (WATCH, 'data'): _SELF_TEST,
    (WATCH, 'errors'): _SELF_TEST,
    (WATCH, 'protection'): Action('watch: look again in a week', again=7 * DAY),
}


def action(code: str, kind: str = '') -> Action:
    """Return an action. kind: the kind of concern, or FAILING; a kind without a text of its own
    counts as ''.
    """
    return _OF_KIND.get((code, kind)) or _ACTIONS[code]


def needs_spare(code: str, state: State) -> bool:
    """Return whether a new drive is needed now.

    A CRITICAL drive needs one even if it must stay in place at first.
    """
    return code in (REPLACE, COPY, DRAIN, WAIT, ORDER_COPY) or (
        code == KEEP and state is State.CRITICAL
    )


def urgency(code: str) -> int:
    """Return the place of an action in the order of urgency; 0 is the most urgent."""
    return CODES.index(code)
