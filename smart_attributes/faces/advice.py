"""What to do about a drive: the one thing that whoever orders, pulls and plugs drives wants to be told first. Pure."""
from __future__ import annotations

import re
from typing import Iterable, Mapping, NamedTuple, Tuple

from ..durations import DAY
from ..model import State, Verdict
from ..words import findings

SOON = 90 * DAY           # within which a drive that is used up must be on order

REPLACE, ORDER, CABLE, UPDATE, COOL, SEARCH, READ, WATCH, NOTHING = (
    'replace now', 'order within 90 days', 'look at the cable', 'update the firmware', 'look at the cooling',
    'look for the drive', 'find out why it cannot be read', 'watch', 'nothing')
ORDER_OF_ACTIONS: Tuple[str, ...] = (REPLACE, SEARCH, READ, ORDER, CABLE, UPDATE, COOL, WATCH, NOTHING)

# What helps where one of these is the matter, whatever the state; all else is the drive itself.
CURES: Mapping[str, str] = {
    'crc_errors': CABLE, 'link_downshift': CABLE, 'firmware_advisory': UPDATE, 'temperature': COOL,
    'temperature_warning': COOL,
    'over_temperature_time': COOL, 'critical_temperature_time': COOL, 'unknown_model': WATCH,
    'endurance_time_left': ORDER}
# Used up by plan: there is time to order.
WORN = ('endurance_used', 'spare_available')
# What is said where no drive is any more: by diagnosis, second_look, rollcall, and by whereabouts, behind its name.
# Words, since those of other hosts are all that a fleet has.
_GONE = re.compile(r'is not there:|is an empty slot\b|[0-9]+ of [0-9]+ expected drives missing\b|[^;]* is gone from ')


class Advice(NamedTuple):
    """What to do, and why."""

    action: str
    why: str


def advice(verdict: Verdict) -> Advice:
    """Return what to do about a drive."""
    if verdict.problem and verdict.state is not State.OK:
        return Advice(of_problem(verdict.problem), findings(verdict))
    alarms = [judgement for judgement in verdict.judgements if judgement.state is not State.OK]
    if alarms:
        return Advice(of_alarms((judgement.reading.role, judgement.state) for judgement in alarms), findings(verdict))
    soon = [role for role, forecast in verdict.forecasts.items() if forecast.left <= SOON]
    return Advice(ORDER, f'{soon[0]}: used up within 90 days') if soon else Advice(NOTHING, '')


def of_problem(words: str) -> str:
    """Return what to do where there is no verdict: a drive that is gone is looked for, not read."""
    return SEARCH if _GONE.match(words) else READ


def of_alarms(alarms: Iterable[Tuple[str, State]]) -> str:
    """Return the most urgent thing to do about alarms, each a role and its state."""
    return min((_action(role, state) for role, state in alarms), key=ORDER_OF_ACTIONS.index)


def _action(role: str, state: State) -> str:
    """Return what helps against one alarm."""
    if role in CURES:
        return CURES[role]
    if state is State.CRITICAL:
        return REPLACE
    return ORDER if role in WORN else WATCH
