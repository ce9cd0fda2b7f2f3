"""How close a group of drives is to losing data, from its object in the JSON document. Pure."""
from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum

from ..redundancy.levels import TOLERANCE
from ..redundancy.replacement import BUSY, COPY, LAST, NEXT, UNKNOWN, WAIT
from ..typed import Json

IN_ORDER = ('in_sync', 'spare')        # states of members that are as they should be
FAILING = ('CRITICAL', 'UNKNOWN')      # states of drives that count as lost


class Risk(IntEnum):
    """The state of a group, the most urgent first."""

    BEYOND = 0     # it has lost, or is about to lose, more members than it tolerates
    LAST = 1       # it is redundant and tolerates no further loss
    UNSURE = 2     # a drive in it fails, and its redundancy is not known
    DEGRADED = 3   # it still tolerates a loss, but a member is not in order
    UNKNOWN = 4    # its redundancy is not known, and all its drives are in order
    REDUNDANT = 5
    PLAIN = 6      # it has no redundancy, and its data can be read


AT_RISK = (Risk.BEYOND, Risk.LAST, Risk.UNSURE)
# Code of a reason (codes.REDUNDANCY) -> the label of the replacement that it is for, and the risk of the group.
OF_CODE: Mapping[str, tuple[str, Risk]] = {
    'replace-next': (NEXT, Risk.DEGRADED), 'member-not-used': (NEXT, Risk.DEGRADED), 'only-swap': (NEXT, Risk.PLAIN),
    'data-at-risk': (COPY, Risk.BEYOND), 'no-redundancy': (COPY, Risk.BEYOND),
    'redundancy-doubtful': (UNKNOWN, Risk.UNSURE), 'members-not-checked': (UNKNOWN, Risk.UNSURE),
    'redundancy-unknown': (COPY, Risk.UNSURE), 'use-unknown': (COPY, Risk.UNKNOWN),
    'last-good-copy': (LAST, Risk.LAST), 'group-incomplete': (LAST, Risk.BEYOND),
    'group-rebuilding': (WAIT, Risk.LAST), 'second-failing-member': (WAIT, Risk.DEGRADED),
    'other-drive-first': (WAIT, Risk.DEGRADED)}


def risk(group: Json) -> Risk:
    """Return the risk of a group."""
    tolerates = group['tolerates']
    if tolerates is None:
        return Risk.UNSURE if _has_failing_drive(group) else Risk.UNKNOWN
    if tolerates < 0:
        return Risk.BEYOND
    if not is_redundant(group):
        return Risk.PLAIN
    if tolerates == 0:
        return Risk.LAST
    return Risk.DEGRADED if _is_degraded(group) else Risk.REDUNDANT


def is_redundant(group: Json) -> bool:
    """Return whether a group can lose a member when all its members are in sync; a level of one member cannot."""
    return TOLERANCE.get(group['level'] or '', 1) != 0 and len(group['members']) + group['missing'] > 1


def _has_failing_drive(group: Json) -> bool:
    return any(drive['state'] in FAILING for member in group['members'] for drive in member['drives'])


def _is_degraded(group: Json) -> bool:
    return (group['missing'] > 0 or group['activity'] in BUSY or _has_failing_drive(group)
            or any(member['state'] not in IN_ORDER for member in group['members']))
