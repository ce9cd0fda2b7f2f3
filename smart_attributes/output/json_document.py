"""Verdicts -> the document that `triage --json` prints, the page shows and a fleet is made of. Version 1; keys are only
added.
"""
from __future__ import annotations

import json
from typing import Any, List, Mapping, Optional, Sequence, Tuple

from ..knowledge import ranges, severity
from ..model import Forecast, Judgement, Lately, Place, State, Verdict, worst
from ..typed import Json, MutableJson
from ..words import clean, finding, kind, sentence, statement
from .advice import advice

VERSION = 1
NOTE = 500  # characters


def document(verdicts: Sequence[Verdict], failures: Sequence[str], hide_serial: bool, now: float,
             faults: Sequence[str] = (), demands: Sequence[Tuple[State, str]] = (), remarks: Sequence[str] = (),
             lately: Optional[Lately] = None) -> Json:
    """Return the verdicts in order of severity; an unknown value is null.

    now: seconds since 1970. The others: what concerns the run as a whole, as survey.Survey has it.
    """
    state = worst([*(verdict.state for verdict in verdicts), *(state for state, _ in demands),
                   *([State.CRITICAL] if failures else []), *([] if verdicts and not faults else [State.UNKNOWN])])
    data: MutableJson = {'version': VERSION, 'state': state.name,
                  'drives': [_drive(v, hide_serial, now) for v in sorted(verdicts, key=severity.of_verdict)]}
    said = {'notes': (*failures, *(words for _, words in demands), *faults), 'remarks': remarks}
    data.update((key, [sentence(text, NOTE) for text in texts]) for key, texts in said.items() if texts)
    return {**data, 'lately': _lately(lately)} if lately else data


def as_text(document: Json) -> str:
    """Return a document as it is printed."""
    return json.dumps(document, indent=1)


def _drive(verdict: Verdict, hide_serial: bool, now: float) -> Json:
    device, identity = verdict.device, verdict.identity
    todo = advice(verdict, now)
    drive: MutableJson = {
        'device': device.path, 'type': device.type or None, 'model': clean(identity.model) or None,
        'serial': None if hide_serial else clean(identity.serial) or None, 'firmware': clean(identity.firmware) or None,
        'kind': kind(verdict) or None, 'entry': verdict.entry, 'state': verdict.state.name,
        'readings': [_reading(judgement) for judgement in verdict.judgements],
        'notes': [sentence(note, NOTE) for note in (verdict.problem, *verdict.notes) if note],
        'name': device.name, 'action': todo.action, 'why': sentence(todo.why, NOTE) or None,
        'findings': _findings(verdict), **todo.due._asdict()}
    drive.update(_place(verdict.place))
    drive.update({key: value for key, value in (('forecasts', _forecasts(verdict.forecasts)),
                                                ('past', _past(verdict.past))) if value})
    return drive


def _lately(lately: Lately) -> Json:
    grew = [{'name': each.drive, 'metric': each.metric, 'before': each.before, 'after': each.after,
             'noticed': round(each.noticed), 'said': sentence(each.said, NOTE)} for each in lately.grew]
    came, went = ([sentence(text, NOTE) for text in texts] for texts in (lately.came, lately.went))
    return {'since': round(lately.since), 'grew': grew, 'came': came, 'went': went,
            'unknown': sentence(lately.unknown, NOTE) or None}


def _findings(verdict: Verdict) -> List[str]:
    """Return what is wrong, each with its limit."""
    return [finding(judgement) for judgement in verdict.judgements if judgement.state is not State.OK]


def _reading(judgement: Judgement) -> Json:
    reading = judgement.reading
    value, unit = _value(judgement)
    return {'metric': reading.metric, 'value': value, 'unit': unit, 'source': str(reading.source),
            'judged': reading.judged,
            'state': judgement.state.name, 'warning': ranges.in_base_unit(judgement.warning, reading.unit) or None,
            'critical': ranges.in_base_unit(judgement.critical, reading.unit) or None,
            'reason': sentence(judgement.reason, NOTE) or None, 'said': clean(statement(reading), limit=NOTE),
            **({'growth': sentence(judgement.growth, NOTE), 'grown': judgement.grown} if judgement.growth else {})}


def _value(judgement: Judgement) -> Tuple[Any, str]:
    """Return a verdict's word or a number, whole where it is whole."""
    reading = judgement.reading
    if reading.number is None:
        return None, reading.unit
    if reading.state is not None:
        return clean(reading.verdict, limit=NOTE), ''
    return int(reading.number) if reading.number == int(reading.number) else reading.number, reading.unit


def _place(place: Place) -> Json:
    known = {'bay': clean(place.bay), 'light': sentence(place.light, NOTE),
             'carries': [sentence(text, NOTE) for text in place.carries]}
    return {key: value for key, value in known.items() if value}


def _forecasts(forecasts: Mapping[str, Forecast]) -> Json:
    """Return seconds from now."""
    return {metric: {'left': round(f.left), 'earliest': round(f.earliest), 'latest': round(f.latest),
                     'estimate': f.is_estimate}
            for metric, f in forecasts.items()}


def _past(past: Mapping[str, Sequence[Tuple[float, float]]]) -> Json:
    return {metric: [[round(time), number] for time, number in points] for metric, points in past.items()}
