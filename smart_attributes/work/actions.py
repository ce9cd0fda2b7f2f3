"""The possible actions for a drive, most urgent first, and their texts.

Programs use only the codes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ..constants import DAY
from ..knowledge import severity
from ..model import State
from ..typed import NamedTuple

REPLACE, READ, ORDER_COPY, ORDER, CABLE, FIRMWARE, COOLING, WATCH = severity.ACTIONS
COPY = 'copy'
DRAIN = 'drain'
KEEP = 'do-not-remove'
WAIT = 'wait'
REJOIN = 'rejoin'
ORDER_SEARCH = 'order-search'
SEARCH = 'search'
REPAIR = 'repair'
NOTHING = 'nothing'
REPLACING = (REPLACE, COPY, DRAIN, KEEP, WAIT, REJOIN)
ABOUT_READING = (ORDER_SEARCH, SEARCH, READ)  # of a drive that was not read
FAILING = 'failing'  # kind of an action: the drive itself is failing
# Action -> the actions that it makes needless. A new drive does not cool its bay.
_INCLUDED: Mapping[str, Collection[str]] = {
    REPLACE: (READ, ORDER_COPY, ORDER, CABLE, FIRMWARE, WATCH),
    READ: (WATCH,),
    ORDER_COPY: (ORDER, WATCH),
}


class Action(NamedTuple):
    """The text of an action, and the time at which to check the drive again."""

    words: str
    again: int = 0  # seconds from now; 0: no time is set


_ACTIONS: Mapping[str, Action] = {  # in order of urgency
    REPLACE: Action('replace it now'),
    COPY: Action('copy the data now, then replace it'),
    DRAIN: Action('let the cluster move the data, then replace the drive'),
    KEEP: Action('do not pull the drive'),
    WAIT: Action('wait before you replace it'),
    REJOIN: Action('replace it, or add it to its array again'),
    ORDER_SEARCH: Action('order a replacement, and look for the drive'),
    SEARCH: Action('look for the drive'),
    REPAIR: Action('repair the check'),
    READ: Action('find out why it cannot be read'),
    ORDER_COPY: Action('copy the data now, and order a replacement'),
    ORDER: Action('order a replacement'),
    CABLE: Action('check the cable'),
    FIRMWARE: Action('update the firmware'),
    COOLING: Action('check the cooling'),
    WATCH: Action('look again in a month', again=30 * DAY),
    NOTHING: Action('nothing'),
}
CODES = tuple(_ACTIONS)
_SELF_TEST = Action('run an extended self-test', again=7 * DAY)
# Code and kind -> the action, if its text depends on the kind.
_OF_KIND: Mapping[tuple[str, str], Action] = {
    (KEEP, FAILING): Action('copy the data now, and do not pull the drive'),
    (WATCH, 'health'): _SELF_TEST,
    (WATCH, severity.DATA): _SELF_TEST,
    (WATCH, 'errors'): _SELF_TEST,
    (FIRMWARE, severity.DATA): Action('copy the data now, then update the firmware'),
    (WATCH, 'protection'): Action('look again in a week', again=7 * DAY),
}


def action(code: str, kind: str = '') -> Action:
    """Return an action. kind: the kind of concern, or FAILING; a kind without a text of its own
    counts as ''.
    """
    return _OF_KIND.get((code, kind)) or _ACTIONS[code]


def is_included(code: str, kind: str, first: str) -> bool:
    """Return whether another action, *first*, includes an action. A drive that needs any other
    action is looked at again anyway.
    """
    is_idle = code == WATCH and (code, kind) not in _OF_KIND
    return is_idle or code in (first, NOTHING, *_INCLUDED.get(first, ()))


def needs_self_test(code: str, kind: str) -> bool:
    """Return whether an action is to run an extended self-test. kind: as in action()."""
    return _OF_KIND.get((code, kind)) is _SELF_TEST


def needs_spare(code: str, state: State) -> bool:
    """Return whether a new drive is needed now.

    A CRITICAL drive needs one even if it must stay in place at first.
    """
    if code == KEEP:
        return state is State.CRITICAL
    return code in (REPLACE, COPY, DRAIN, WAIT, ORDER_SEARCH, ORDER_COPY)


def copies(code: str, kind: str) -> bool:
    """Return whether an action copies data. kind: as in action()."""
    copying_kinds = (KEEP, FAILING), (FIRMWARE, severity.DATA)
    return code in (COPY, ORDER_COPY) or (code, kind) in copying_kinds


def urgency(code: str) -> int:
    """Return the place of an action in the order of urgency; 0 is the most urgent."""
    return CODES.index(code)
