"""Documents of triage as short as tests write them: findings and notes are sentences, which get
their codes here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from smart_attributes.knowledge import severity
from smart_attributes.model import State
from smart_attributes.output.json_document import OF_STATUS, STATUS
from smart_attributes.typed import Json
from smart_attributes.work.actions import READ, SEARCH

# Code -> the start of its messages, or a part of them. A message without a match does not have a
# code.
_SENTENCES: Sequence[tuple[str, str]] = (
    ('too-few-drives', r'\Aexpected [0-9]+ drives?, found\b'),
    ('drive-missing', r'\A[^;]* is missing from '),
    (
        'no-permission',
        r'\Acannot be opened: (?:Permission denied|Operation not permitted)',
    ),
    ('timeout', r'\Ano answer\b|\Awas (?:not read|read and not judged)\b'),
)
_PATTERNS = tuple((code, re.compile(pattern)) for code, pattern in _SENTENCES)


def code_of(words: str) -> str:
    """Return the code of a message that was printed without one, or '' if it is unknown."""
    return next((code for code, pattern in _PATTERNS if pattern.search(words)), '')


def notes(texts: Any) -> list[Json]:
    """Return sentences as notes; anything else is not changed."""
    return (
        [_note(text) if isinstance(text, str) else text for text in texts]
        if isinstance(texts, list)
        else texts
    )


def _note(text: str) -> Json:
    return {'code': code_of(text), 'text': text, 'serial': _serial_in(text)}


def drive(given: Json) -> Json:
    """Return a drive in the format of triage."""
    if not isinstance(given, dict):
        return given
    why = given.get('why')
    words = why if isinstance(why, str) else ''
    is_unread = given.get('action') in (READ, SEARCH)
    code = given.get('code') or (
        code_of(words) or 'drive-unreadable' if is_unread else None
    )
    said = notes(given.get('notes'))
    if isinstance(said, list):
        said = [
            {**each, 'code': code} if code and each['text'] == why else each
            for each in said
        ]
    seen = {'last_seen': {'serial': _serial_in(words)}}
    return {**seen, **given, 'code': code, 'notes': said, 'findings': _findings(given)}


def _findings(given: Json) -> Any:
    """Return findings with the values of their readings, which stand in the same order."""
    texts, readings = given.get('findings'), given.get('readings')
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        return texts
    wrong = (
        [
            each
            for each in readings
            if isinstance(each, dict) and each.get('state') != State.OK.name
        ]
        if isinstance(readings, list)
        else []
    )
    wrong = (
        wrong
        if len(wrong) == len(texts)
        else [{'state': given.get('state')}] * len(texts)
    )
    return [_finding(text, reading) for text, reading in zip(texts, wrong)]


def _finding(text: str, reading: Json) -> Json:
    limit = reading.get(
        'critical' if reading.get('state') == State.CRITICAL.name else 'warning'
    )
    return {
        **{
            key: reading.get(key)
            for key in ('state', 'metric', 'value', 'unit', 'source')
        },
        'code': _code_of_finding(reading, limit),
        'text': text,
        'limit': limit,
        'grown': reading.get('grown'),
    }


def _code_of_finding(reading: Json, limit: Any) -> str:
    """Return the code of a finding by its value and its limit, or ''."""
    metric, value = reading.get('metric'), reading.get('value')
    if isinstance(value, str):
        return OF_STATUS.get(metric, STATUS) if isinstance(metric, str) else STATUS
    if not isinstance(value, (int, float)):
        return ''
    if not isinstance(limit, str) or not severity.is_beyond(limit, value):
        return 'growth' if reading.get('growth') else ''
    if limit.startswith('@'):
        return 'inside-limit'
    return 'below-limit' if limit.endswith(':') else 'above-limit'


def document(given: Json) -> Json:
    """Return a document in the format of triage."""
    drives = given['drives']
    return {
        'version': 2,
        **given,
        'drives': [drive(each) for each in drives]
        if isinstance(drives, list)
        else drives,
        **({'notes': notes(given['notes'])} if 'notes' in given else {}),
    }


_SERIAL = re.compile(
    r'acknowledge --missing (.+?)(?:; |$)|last seen there: .*?\(serial (.+?)\), '
)


def _serial_in(words: str) -> str | None:
    found = _SERIAL.search(words)
    return found and (found[1] or found[2])
