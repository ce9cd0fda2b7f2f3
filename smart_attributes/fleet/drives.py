"""A drive of a fleet, from a row in the format of `triage --json`, and rows about checks.

Rows come from documents, or from the plugin's text; other hosts wrote both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..constants import MOST_POINTS
from ..errors import Coded
from ..knowledge import severity
from ..knowledge.drive_database import Metrics
from ..model import State
from ..output.codes import BY_NAME, CAUSES, Code
from ..output.json_document import note
from ..redundancy.replacement import LABELS
from ..typed import Json
from ..wording import since
from ..work import actions
from ..work.dates import day, is_day
from ..work.work_list import of_problem
from .untrusted import (
    dicts_of,
    is_number,
    is_point,
    pairs_of,
    shaped,
    state_of,
    text_of,
)

ENDURANCE = 'endurance_used'
INCOMPLETE = 'check-incomplete'


class Origin(NamedTuple):
    """The service or document from which drives come."""

    host: str
    # notes that apply to each drive, such as the age of the result
    notes: tuple[Json, ...] = ()
    elapsed: float = 0  # seconds since the check
    # how users handle the problem in Icinga; None: the origin is not Icinga
    handling: Sequence[str] | None = None


class FleetDrive(NamedTuple):
    """A drive of a fleet: its facts and readings."""

    facts: dict[str, Any]  # as in the document: host, name, model, state, action ...
    # called only for the few drives that need them
    readings: Callable[[], list[Json]] = list
    numbers: Mapping[str, float] = {}  # by metric, in base units
    weights: tuple[severity.Weight, ...] = ()  # of its findings

    @property
    def rank(self) -> severity.Rank:
        """Return the drive's rank by severity."""
        return severity.of_drive(
            State[self.facts['state']],
            self.weights,
            worn=self.numbers.get(ENDURANCE, 0),
            name=self.facts['name'],
            host=self.facts['host'],
        )


def dated(now: float, age: float) -> tuple[Json, ...]:
    """Return a note which states that a drive's data is *age* seconds old."""
    return (note(Coded('result-old', f'as of {day(now - age)}, {since(age)}')),)


def fleet_drive(
    row: Json,
    readings: Callable[[], list[Json]],
    numbers: Iterable[tuple[str, float]],
    origin: Origin,
    metrics: Metrics,
) -> FleetDrive:
    """Return the drive of a row.

    readings: returns the readings of the drive; not called for a drive that is OK. numbers: values
    by metric; of several values of a metric, the largest counts.
    """
    facts = _facts(row, origin)
    weights = []
    if facts['state'] != State.OK.name:
        further = [step['action'] for step in facts.get('also', ())]
        is_risky = actions.ORDER_COPY in (facts['action'], *further)
        for reading in readings():
            if reading['state'] != State.OK.name:
                weights.append(_weight(reading, metrics, is_risky))
    # of the numbers of one metric, the largest comes last and stays
    return FleetDrive(facts, readings, dict(sorted(numbers)), tuple(weights))


def check_row(name: str, state: State, why: str, origin: Origin) -> FleetDrive:
    """Return a row for a check without drives, or for a problem of the check as a whole.

    why: Coded if the cause has a code, even that of a newer version.
    """
    code = getattr(why, 'code', '') or INCOMPLETE
    action = of_problem(code)
    if action == actions.READ:  # there is no drive to read
        action = actions.REPAIR
    to_do = next_step(BY_NAME.get(code) or BY_NAME[INCOMPLETE])
    if state is State.OK:
        action = actions.NOTHING
        to_do = actions.NOTHING
    row = {
        'name': name,
        'state': state.name,
        'why': why,
        'action': action,
        'to_do': to_do,
    }
    return FleetDrive({**_facts(row, origin), 'code': code, 'is_check': True})


def _facts(row: Json, origin: Origin) -> dict[str, Any]:
    """Return the facts about a drive that are shown, of the right types.

    "replacement" and "also" are left out if the row has none that this version knows.
    """
    state = state_of(row.get('state'))
    action = text_of(row.get('action'))
    if action not in actions.CODES:  # of a later version
        action = actions.NOTHING if state is State.OK else actions.READ
    order_by = text_of(row.get('order_by'))
    facts: dict[str, Any] = {
        'host': origin.host,
        **shaped('drive', row),
        'depends': shaped_rows('dependence', row.get('depends')),
        'notes': [*origin.notes, *shaped_rows('note', row.get('notes'))],
        'code': None,
        'state': state.name,
        'findings': shaped_rows('finding', row.get('findings')),
        'action': action,
        'forecasts': _forecasts(row.get('forecasts'), origin.elapsed),
        'order_by': order_by if order_by and is_day(order_by) else None,
        'handling': origin.handling,
        'past': _past(row.get('past')),
    }
    facts['name'] = facts['name'] or facts['device'] or '-'
    replacement = row.get('replacement')
    if isinstance(replacement, dict) and replacement.get('label') in LABELS:
        facts['replacement'] = shaped('replacement', replacement)
    steps = shaped_rows('further', row.get('also'))
    known_steps = [step for step in steps if step['action'] in actions.CODES]
    if known_steps:
        facts['also'] = known_steps
    facts['to_do'] = text_of(row.get('to_do')) or actions.action(action).words
    if state is not State.OK and action in actions.ABOUT_READING:
        facts['code'] = text_of(row.get('code')) or 'drive-unreadable'
    return facts


def shaped_rows(part: str, rows: Any) -> list[dict[str, Any]]:
    """Return the objects in a list, as shaped() does."""
    return [shaped(part, row) for row in dicts_of(rows)]


def _past(history: Any) -> Json:
    """Return the newest points by metric; invalid points are left out."""
    past = {}
    for metric, points in pairs_of(history):
        if isinstance(points, list):
            newest = points[-MOST_POINTS:]
            past[text_of(metric) or ''] = list(filter(is_point, newest))
    return past


def _forecasts(rows: Any, elapsed: float) -> Json:
    """Return the valid forecasts by metric, with times relative to the present. elapsed: age of the
    row in seconds.
    """
    forecasts = {}
    for metric, row in pairs_of(rows):
        has_time_left = isinstance(row, dict) and is_number(row.get('left'))
        if not has_time_left:
            continue
        forecast = {
            key: round(max(row[key] - elapsed, 0))
            for key in ('left', 'earliest', 'latest')
            if is_number(row.get(key))
        }
        if 'estimate' in row:
            forecast['estimate'] = row['estimate'] is True
        forecasts[text_of(metric) or ''] = forecast
    return forecasts


def _weight(reading: Json, metrics: Metrics, is_risky: bool) -> severity.Weight:
    """Return the weight of a finding in the order of severity; an unknown metric counts as one
    without remedy and concern.

    is_risky: many drives with such a finding failed, so a replacement is ordered.
    """
    metric = metrics.get(reading['metric'])
    state = State[reading['state']]
    alarm = severity.Alarm('', '', state, is_risky)
    if metric:
        alarm = alarm._replace(remedy=metric.remedy, concern=metric.concern)
    value = reading['value']
    limit = reading['critical'] if state is State.CRITICAL else reading['warning']
    return severity.weight(
        alarm,
        number=value if is_number(value) else None,
        limit=limit or '',
        unit=metric.unit if metric else '',
        grown=reading.get('grown') or 0,
        is_growing=bool(reading.get('growth')),
    )


def next_step(cause: Code) -> str:
    """Return the next step, worded for a reader on another host."""
    return cause.remedy if cause.name in CAUSES else f'on the host: {cause.remedy}'
