"""Convert the output of other versions of the plugin: earlier documents, and messages without a code. Pure.

Only this module handles these formats. It converts them to the present format: see output/json_document.py.
"""
from __future__ import annotations

import re
from typing import Any, List, Mapping, Sequence, Tuple

from ..knowledge import severity
from ..model import State
from ..output.advice import COPY, ORDER, READ, SEARCH
from ..output.json_document import OF_STATUS, STATUS
from ..typed import Json

VERSION = 1
MOST = 200             # entries of a list that are read
# Former name of an action -> its present name.
ACTIONS: Mapping[str, str] = {'order within 90 days': ORDER,
                              'check the array, then replace one drive at a time': COPY}
# Code -> the start of its messages, or a part of them. A message without a match does not have a code.
_SENTENCES: Sequence[Tuple[str, str]] = (
    ('sudo-rule-missing',
     r'sudo wants a password|sudo does not (?:allow|let) |may not use sudo|sudo says|sudoers rule'),
    ('sudo-blocked', r'sudo insists on a terminal|sudo may not become root'),
    ('smartctl-missing', r'smartctl is not where it was looked for|smartctl is older than'),
    ('no-such-device', r'\Ais not there:'), ('empty-slot', r'\Ais an empty slot\b'),
    ('drives-missing', r'\A[0-9]+ of [0-9]+ expected drives missing\b'), ('drive-gone', r'\A[^;]* is gone from '),
    ('no-permission', r'\Acannot be opened: (?:Permission denied|Operation not permitted)'),
    ('timeout', r'\Ano answer\b|\Awas (?:not read|read and not judged)\b'))
_PATTERNS = tuple((code, re.compile(pattern)) for code, pattern in _SENTENCES)
# Serial numbers in messages about drives that are missing or do not answer, even if the message was truncated.
_SERIALS = re.compile(r'history --forget (.+?) retires it|last seen there: .*?\(serial (.+?)(?:\), |\.\.\.|$)')


def code_of(words: str) -> str:
    """Return the code of a message that was printed without one, or '' if it is unknown."""
    return next((code for code, pattern in _PATTERNS if pattern.search(words)), '')


def serials(words: str) -> Tuple[str, ...]:
    """Return the serial numbers of other drives that a message mentions."""
    return tuple(found[1] or found[2] for found in _SERIALS.finditer(words))


def notes(texts: Any) -> List[Json]:
    """Return the messages of a document of version 1 as notes; anything that is not text is skipped."""
    return [_note(text) for text in texts[:MOST] if isinstance(text, str)] if isinstance(texts, list) else []


def action(given: Any) -> Any:
    """Return the present name of an action."""
    return ACTIONS.get(given, given) if isinstance(given, str) else given


def depends(given: Json) -> Any:
    """Return what depends on a drive; builds without groups listed it as sentences, in `carries`."""
    carries = given.get('carries')
    if 'depends' in given or not isinstance(carries, list):
        return given.get('depends')
    return [{'text': text} for text in carries[:MOST] if isinstance(text, str)]


def _note(text: str) -> Json:
    return {'code': code_of(text), 'text': text, 'serial': next(iter(serials(text)), None)}


def drive(given: Json) -> Json:
    """Return a drive of a document of version 1 in the format of version 2."""
    why = given.get('why')
    words = why if isinstance(why, str) else ''
    is_unread = given.get('action') in (READ, SEARCH)
    code = given.get('code') or (code_of(words) or 'drive-unreadable' if is_unread else None)
    said = [{**each, 'code': code} if code and each['text'] == why else each for each in notes(given.get('notes'))]
    return {**given, 'code': code, 'notes': said, 'findings': _findings(given),
            'last_seen': {'serial': next(iter(serials(words)), None)}}


def _findings(given: Json) -> List[Json]:
    """Return findings with the values of their readings; version 1 lists both in the same order."""
    texts, readings = given.get('findings'), given.get('readings')
    if not isinstance(texts, list):
        return []
    wrong = [each for each in readings[:MOST] if isinstance(each, dict) and each.get('state') != State.OK.name
             ] if isinstance(readings, list) else []
    wrong = wrong if len(wrong) == len(texts) else [{'state': given.get('state')}] * len(texts)
    return [_finding(text, reading) for text, reading in zip(texts[:MOST], wrong) if isinstance(text, str)]


def _finding(text: str, reading: Json) -> Json:
    limit = reading.get('critical' if reading.get('state') == State.CRITICAL.name else 'warning')
    return {**{key: reading.get(key) for key in ('state', 'metric', 'value', 'unit', 'source')},
            'code': _code_of_finding(reading, limit), 'text': text, 'limit': limit, 'grown': reading.get('grown')}


def _code_of_finding(reading: Json, limit: Any) -> str:
    """Return the code of a finding by its value and its limit, or '' if version 1 did not report enough."""
    metric, value = reading.get('metric'), reading.get('value')
    if isinstance(value, str):
        return OF_STATUS.get(metric, STATUS) if isinstance(metric, str) else STATUS
    if not isinstance(value, (int, float)):
        return ''
    if not isinstance(limit, str) or not severity.is_beyond(limit, value):
        return 'growth' if reading.get('growth') else ''
    return 'inside-limit' if limit.startswith('@') else 'below-limit' if limit.endswith(':') else 'above-limit'
