"""The possible actions for a drive, most urgent first; actions.json has their texts.

Programs use only the codes.
"""

from __future__ import annotations

from .. import files
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


_DATA = files.data('work/actions.json')
CODES: tuple[str, ...] = tuple(_DATA)  # in order of urgency
_KINDS = {
    (code, kind): Action(entry['words'], DAY * entry.get('again', 0))
    for code, each in _DATA.items()
    for kind, entry in (('', each), *each.get('kinds', {}).items())
}


def action(code: str, kind: str = '') -> Action:
    """Return an action. kind: the kind of concern, or FAILING; a kind without a text of its own
    counts as ''.
    """
    return _KINDS.get((code, kind)) or _KINDS[code, '']


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
