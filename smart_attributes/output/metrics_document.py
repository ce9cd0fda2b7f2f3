"""The JSON document of `metrics --json`: the state, the findings and the graphed values of each
drive.

The document is small, because Zabbix 6.0 accepts at most 512 KB from a command. Lists are flat, and
each value has a
key that stays with the drive. Source: Zabbix 6.0, "User parameters". The document of `triage
--json` has more details.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from ..constants import DOCUMENTS
from ..errors import Coded
from ..knowledge import severity
from ..model import Case, Device, State, Verdict
from ..typed import Json
from ..words import clean, coded, sentence
from . import json_document, plugin
from .metrics import graphed

TEXT = 500  # characters


def as_text(
    cases: Sequence[Case],
    outcome: plugin.Outcome,
    *,
    of_itself: State,
    problems: Sequence[str],
    remarks: Sequence[Coded],
    host: str,
    now: float,
) -> str:
    """Return the document of a run as JSON text on one line.

    outcome: of a check. of_itself: state of the run as a whole: missing drives, errors in the local
    configuration. problems: about the run as a whole. now: seconds since 1970.
    """
    keys = ids(cases)
    ordered = severity.worst_first(cases)
    verdicts = [case.verdict for case in ordered]
    words = '; '.join(sentence(coded(problem), TEXT) for problem in problems)
    # A drive in standby is OK unless options give it another state.
    unread = sum(
        verdict.problem != '' and verdict.state is not State.OK for verdict in verdicts
    )
    readings = [
        reading
        for verdict in verdicts
        for reading in _readings(verdict, keys[verdict.device])
    ]
    return json.dumps(
        {
            'version': DOCUMENTS['metrics'],
            'state': outcome.state.name,
            'summary': outcome.text.partition('\n')[0],
            'run': f'{of_itself.name}: {words or plugin.count(verdicts)}',
            'remarks': list(map(json_document.note, remarks)),
            'unread': unread,
            'host': host,
            'made': int(now),
            'drives': [_drive(case, keys[case.verdict.device]) for case in ordered],
            'readings': readings,
        },
        separators=(',', ':'),
    )


def ids(cases: Sequence[Case]) -> Mapping[Device, str]:
    """Return a key for each drive: the serial number, which survives a change of device name, else
    the name.

    An unreadable drive gets the serial number that was last seen at the drive's address. A name
    that equals another drive's serial number gets the prefix "device:". All characters except
    letters, digits and ._- become _, so that a key never needs quotes.
    """
    serials = {case.verdict.device: _serial(case) for case in cases}
    drives_with = Counter(serials.values())
    return {
        device: _key(device, serial, drives_with) for device, serial in serials.items()
    }


def _key(device: Device, serial: str, drives_with: Counter[str]) -> str:
    """Return the key of a drive: its serial number if no other drive has it, else its name, with
    "device:" before a name that is also the serial number of a drive.

    serial: '' if unknown. drives_with: serial number -> number of drives.
    """
    if serial and drives_with[serial] == 1:
        return serial
    name = _plain(device.name)
    is_also_serial = name in drives_with
    return f'device:{name}' if is_also_serial else name


def _serial(case: Case) -> str:
    """Return the serial number of a drive, or the one last seen at its address; '' if unknown."""
    serial = case.shown.serial
    if not serial and case.last_seen:
        serial = case.last_seen.serial
    return _plain(serial or '')


def _plain(text: str) -> str:
    return re.sub(r'[^A-Za-z0-9._-]', '_', clean(text))


def _drive(case: Case, key: str) -> Json:
    """Return the JSON object of a drive.

    Unknown values are left out, because Zabbix would store null as a word.
    """
    line = plugin.line(case)
    item = case.todo
    identity = {'model': line.model, 'serial': line.serial}
    return {
        'id': key,
        'name': line.name,
        'title': f'{line.name} {line.model}'.strip(),
        **{name: text for name, text in identity.items() if text},
        'state': line.state.name,
        'text': f'{line.state.name}: {sentence(coded(line.findings), TEXT)}',
        'action': item.action,
        'to_do': item.to_do,
        'also': json_document.also(item),
    }


def _readings(verdict: Verdict, key: str) -> Iterator[Json]:
    """Yield the JSON object of each graphed reading. key: of the drive."""
    for judgement in graphed(verdict):
        reading = judgement.reading
        yield {
            'id': f'{key} {reading.metric}',
            'drive': key,
            'name': verdict.device.name,
            'metric': reading.metric,
            'value': json_document.whole(reading.number or 0),
            'unit': reading.unit,
        }
