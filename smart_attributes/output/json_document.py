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
from ..model import Case, Item, Judgement, LastVerdict, Risk, State, worst
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
    failures: Sequence[Coded],
    now: float,
    faults: Sequence[Coded] = (),
    demands: Sequence[tuple[State, Coded]] = (),
    remarks: Sequence[Coded] = (),
) -> Json:
    """Return the document, with the drives in order of severity. An unknown value becomes null.

    now: seconds since 1970. The other arguments are about the run as a whole, as in survey.Survey.
    """
    state = worst(
        [
            *(case.verdict.state for case in cases),
            *(state for state, _ in demands),
            *([State.CRITICAL] if failures else []),
            *([] if cases and not faults else [State.UNKNOWN]),
        ]
    )
    data: MutableJson = {
        'version': DOCUMENTS['triage'],
        'state': state.name,
        'drives': [_drive(case, now) for case in severity.worst_first(cases)],
    }
    notes = [
        {**note(text), 'state': state.name}
        for state, text in (
            *((State.CRITICAL, each) for each in failures),
            *demands,
            *((State.UNKNOWN, each) for each in faults),
        )
    ]
    if notes:
        data['notes'] = notes
    if remarks:
        data['remarks'] = list(map(note, remarks))
    return data


def as_text(document: Json) -> str:
    """Return a document as JSON text, as it is printed."""
    return json.dumps(document, indent=1)


def note(text: Coded) -> MutableJson:
    """Return a message as an object with "code", "text", and the message's values by name."""
    return {'code': text.code, 'text': sentence(text, NOTE), **text.fields}


def _drive(case: Case, now: float) -> Json:
    verdict, told, place, use = case.verdict, case.todo, case.place, case.use
    device, ago = verdict.device, now - verdict.read_at(now)
    notes = verdict.notes
    if verdict.problem:
        notes = (Coded(verdict.code, verdict.explained), *notes)
    drive: MutableJson = {
        'device': device.path,
        'type': device.type or None,
        'model': case.shown.model or None,
        'serial': case.shown.serial or None,
        'firmware': case.shown.firmware or None,
        'kind': kind(verdict) or None,
        'entry': verdict.entry,
        'state': verdict.state.name,
        'code': verdict.code or None,
        'readings': [_reading(judgement) for judgement in verdict.judgements],
        'notes': [note(each) for each in notes],
        'name': device.name,
        'action': told.action,
        'why': sentence(told.why, NOTE) or None,
        'findings': [
            _finding(judgement)
            for judgement in verdict.judgements
            if judgement.state is not State.OK
        ],
        'to_do': told.to_do,
        'order_by': told.order_by,
        'reason': told.reason or None,
    }
    seen, grade = case.last_seen, told.step
    more = {
        'also': _also(told),
        'again': told.again,
        'not_known': told.unknown,
        'risk': verdict.risk and _risk(verdict.risk),
        'bay': clean(place.bay),
        'drive_id': place.drive_id,
        'locate': visible(place.locate),
        'depends': replacement.depends(use) if use else [],
        'replacement': grade and {'label': grade.label, **note(grade.why)},
        'last_seen': seen and {'model': seen.model or None, 'serial': seen.serial or None},
        'last': verdict.last and _last(verdict.last),
        'forecasts': {
            metric: {
                'left': round(f.left - ago),
                'earliest': round(f.earliest - ago),
                'latest': round(f.latest - ago),
                'estimate': f.is_estimate,
            }
            for metric, f in case.outlook.forecasts.items()
        },
        'past': {
            metric: [[round(time), number] for time, number in points]
            for metric, points in case.outlook.past.items()
        },
    }
    return {**drive, **{key: value for key, value in more.items() if value}}


def _also(told: Item) -> list[Json]:
    return [each._asdict() for each in told.also]


def _risk(risk: Risk) -> Json:
    return {('text' if key == 'said' else key): value for key, value in risk._asdict().items()}


def work_list(items: Sequence[Item]) -> list[Json]:
    """Return the work list's drives that need an action, most urgent first."""
    return [
        {
            'name': each.drive,
            'state': each.state.name,
            'action': each.action,
            'to_do': each.to_do,
            'order_by': each.order_by,
            'reason': each.reason or None,
            **({'also': _also(each)} if each.also else {}),
            **({'not_known': each.unknown} if each.unknown else {}),
        }
        for each in items
        if each.action != actions.NOTHING
    ]


def _last(last: LastVerdict) -> Json:
    return {
        'time': last.time,
        'findings': [
            {'state': each.state.name, 'metric': each.metric, 'text': sentence(each.words, NOTE)}
            for each in last.findings
        ],
    }


def _finding(judgement: Judgement) -> Json:
    """Return a finding; "limit" is a range in base units of the value or the growth."""
    reading, growth = judgement.reading, judgement.growth_against
    value, unit = _value(judgement)
    limit = judgement.critical if judgement.state is State.CRITICAL else judgement.warning
    return {
        'code': growth.code or judgement.against.code or OF_STATUS.get(reading.metric, STATUS),
        'text': finding(judgement),
        'state': judgement.state.name,
        'metric': reading.metric,
        'value': value,
        'unit': unit,
        'limit': growth.fields.get('limit') or ranges.in_base_unit(limit, reading.unit) or None,
        'grown': judgement.grown if growth else None,
        'age': None if reading.quiet is None else round(reading.quiet),
        'source': str(reading.source),
    }


def _reading(judgement: Judgement) -> Json:
    reading = judgement.reading
    value, unit = _value(judgement)
    return {
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
        **(
            {'growth': sentence(judgement.growth, NOTE), 'grown': judgement.grown}
            if judgement.growth
            else {}
        ),
    }


def _value(judgement: Judgement) -> tuple[Any, str]:
    """Return a value and its unit; the value is a status word or a number, which is an integer
    if whole.
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
