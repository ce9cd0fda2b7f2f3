"""The JSON document of verdicts: `triage --json` prints it, the HTML page shows it, and the fleet
report reads it.

Policy: within a version of the document, keys may be added, but no key is removed or changes its
meaning. A reader ignores unknown keys.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..constants import DOCUMENTS
from ..errors import Coded
from ..knowledge import ranges, severity
from ..model import Case, Forecast, Item, Judgement, LastVerdict, Risk, State, worst
from ..redundancy import replacement
from ..typed import Json, MutableJson
from ..wording import HEALTH, statement
from ..words import clean, sentence, visible
from ..work import actions
from ..work.statements import finding, kind

NOTE = 500  # characters
# Metrics whose value is a status in words -> the code of their findings. All other metrics have
# limits.
OF_STATUS: Mapping[str, str] = {
    HEALTH: 'health-failed',
    'vendor_threshold': 'attribute-failing',
    'vendor_threshold_past': 'error-rate-failed-before',
    'self_test': 'self-test-failed',
    'self_test_age': 'self-test-overdue',
    'spare_warning': 'spare-below-threshold',
    'temperature_warning': 'temperature-outside-limits',
    'reliability': 'reliability-degraded',
    'write_protect': 'read-only',
    'power_loss_protection': 'power-loss-protection-failed',
    'persistent_memory': 'persistent-memory-failed',
    'firmware_advisory': 'firmware-defect',
    'background_scan': 'background-scan-halted',
    'unknown_model': 'unknown-model',
    'unread_rows': 'rows-unread',
}
STATUS = 'status-reported'  # for metrics that the local configuration defines


def document(
    cases: Sequence[Case],
    messages: Sequence[tuple[State, Coded]],
    now: float,
    remarks: Sequence[Coded] = (),
) -> Json:
    """Return the document, with the drives in order of severity. An unknown value becomes null.

    messages: about the run as a whole, each with its state. now: seconds since 1970. remarks: do
    not change the state.
    """
    states = [case.verdict.state for case in cases] or [State.UNKNOWN]
    states += [state for state, _ in messages]
    notes = [{**note(text), 'state': state.name} for state, text in messages]
    return {
        'version': DOCUMENTS['triage'],
        'state': worst(states).name,
        'drives': [_drive(case, now) for case in severity.worst_first(cases)],
        **_without_empty({'notes': notes, 'remarks': list(map(note, remarks))}),
    }


def _without_empty(values: Json) -> Json:
    return {key: value for key, value in values.items() if value}


def as_text(document: Json) -> str:
    """Return a document as JSON text, as it is printed."""
    return json.dumps(document, indent=1)


def note(text: Coded) -> MutableJson:
    """Return a message as an object with "code", "text", and the message's values by name."""
    return {'code': text.code, 'text': sentence(text, NOTE), **text.fields}


def _drive(case: Case, now: float) -> Json:
    """Return the object of a drive; the keys of `optional` are left out if they are empty."""
    verdict = case.verdict
    todo = case.todo
    place = case.place
    use = case.use
    device = verdict.device
    identity = case.shown
    seen = case.last_seen
    notes = verdict.notes
    if verdict.problem:
        notes = (Coded(verdict.code, verdict.explained), *notes)
    drive = {
        'device': device.path,
        'type': device.type or None,
        'model': identity.model or None,
        'serial': identity.serial or None,
        'firmware': identity.firmware or None,
        'kind': kind(verdict) or None,
        'entry': verdict.entry,
        'state': verdict.state.name,
        'code': verdict.code or None,
        'readings': list(map(_reading, verdict.judgements)),
        'notes': list(map(note, notes)),
        'name': device.name,
        'action': todo.action,
        'why': sentence(todo.why, NOTE) or None,
        'findings': list(map(_finding, verdict.alerts)),
        'to_do': todo.to_do,
        'order_by': todo.order_by,
        'reason': todo.reason or None,
    }
    optional = {
        'also': also(todo),
        'again': todo.again,
        'not_known': todo.unknown,
        'risk': verdict.risk and _risk(verdict.risk),
        'bay': clean(place.bay),
        'drive_id': place.drive_id,
        'locate': visible(place.locate),
        'depends': use and replacement.depends(use),
        'replacement': todo.step and {'label': todo.step.label, **note(todo.step.why)},
        'last_seen': seen
        and {'model': seen.model or None, 'serial': seen.serial or None},
        'last': verdict.last and _last(verdict.last),
        'forecasts': _forecasts(case.outlook.forecasts, now - verdict.read_at(now)),
        'past': {
            metric: [[round(time), number] for time, number in points]
            for metric, points in case.outlook.past.items()
        },
    }
    return {**drive, **_without_empty(optional)}


def also(item: Item) -> list[Json]:
    """Return the further actions for a drive."""
    return [further._asdict() for further in item.also]


def _forecasts(forecasts: Mapping[str, Forecast], age: float) -> Json:
    """Return the forecasts by metric, in seconds from now. age: seconds since the drive was read."""
    return {
        metric: {
            'left': round(forecast.left - age),
            'earliest': round(forecast.earliest - age),
            'latest': round(forecast.latest - age),
            'estimate': forecast.is_estimate,
        }
        for metric, forecast in forecasts.items()
    }


def _risk(risk: Risk) -> Json:
    values = risk._asdict()
    return {'text': values.pop('said'), **values}


def work_list(items: Sequence[Item]) -> list[Json]:
    """Return the work list's drives that need an action, most urgent first."""
    return [
        {
            'name': item.drive,
            'state': item.state.name,
            'action': item.action,
            'to_do': item.to_do,
            'order_by': item.order_by,
            'reason': item.reason or None,
            **_without_empty({'also': also(item), 'not_known': item.unknown}),
        }
        for item in items
        if item.action != actions.NOTHING
    ]


def _last(last: LastVerdict) -> Json:
    """Return when a drive was last read, and what was found then."""
    return {
        'time': last.time,
        'findings': [
            {
                'state': finding.state.name,
                'metric': finding.metric,
                'text': sentence(finding.words, NOTE),
            }
            for finding in last.findings
        ],
    }


def _finding(judgement: Judgement) -> Json:
    """Return a finding; "limit" is a range in base units of the value or the growth."""
    reading = judgement.reading
    value, unit = _value(judgement)
    against_growth = judgement.growth_against
    code = against_growth.code or judgement.against.code
    is_critical = judgement.state is State.CRITICAL
    value_limit = judgement.critical if is_critical else judgement.warning
    growth_limit = against_growth.fields.get('limit')
    limit = growth_limit or ranges.in_base_unit(value_limit, reading.unit)
    return {
        'code': code or OF_STATUS.get(reading.metric, STATUS),
        'text': finding(judgement),
        'state': judgement.state.name,
        'metric': reading.metric,
        'value': value,
        'unit': unit,
        'limit': limit or None,
        'grown': judgement.grown if against_growth else None,
        'age': None if reading.quiet is None else round(reading.quiet),
        'source': str(reading.source),
    }


def _reading(judgement: Judgement) -> Json:
    """Return a reading with its limits in base units; "growth" and "grown" only if it grew."""
    reading = judgement.reading
    value, unit = _value(judgement)
    values = {
        'metric': reading.metric,
        'value': value,
        'unit': unit,
        'source': str(reading.source),
        'judged': reading.judged,
        'state': judgement.state.name,
        'warning': ranges.in_base_unit(judgement.warning, reading.unit) or None,
        'critical': ranges.in_base_unit(judgement.critical, reading.unit) or None,
        'reason': sentence(judgement.reason, NOTE) or None,
        'said': clean(statement(reading), limit=NOTE),
    }
    if judgement.growth:
        values.update(growth=sentence(judgement.growth, NOTE), grown=judgement.grown)
    return values


def _value(judgement: Judgement) -> tuple[Any, str]:
    """Return a value and its unit: a status in words, whose unit is '', a number, which is an
    integer if whole, or None if it is unknown.
    """
    reading = judgement.reading
    if reading.number is None:
        return None, reading.unit
    if reading.state is not None:
        return clean(reading.verdict, limit=NOTE), ''
    return whole(reading.number), reading.unit


def whole(number: float) -> float:
    """Return a number as an integer if it is whole, so that JSON has no fraction."""
    return int(number) if number == int(number) else number
