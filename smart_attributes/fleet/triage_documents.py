"""Read drives from documents that `triage --json` of any version printed on untrusted hosts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, NamedTuple

from .. import files, trust
from ..constants import DAY, LARGEST_DOCUMENT, MOST_DRIVES_OF_HOST
from ..errors import Coded, SmartError
from ..knowledge.drive_database import Metrics
from ..model import State
from ..typed import Json
from ..words import visible
from . import untrusted
from .drives import FleetDrive, Origin, check_row, dated, fleet_drive, shaped_rows
from .untrusted import dicts_of, is_number, shaped, state_of, text_of

OLD = 2 * DAY  # seconds after which a document is out of date


class Document(NamedTuple):
    """A document from `triage --json`."""

    host: str
    content: Json
    made: float  # seconds since 1970


def read(path: str) -> Document:
    """Return the document in a file.

    If the document does not name the host, the file's name counts. Raises OSError if the file
    cannot be read, and SmartError if it is not a document.
    """
    try:
        content = untrusted.parse(
            files.content(path, LARGEST_DOCUMENT, trust.foreign_secret)
        )
    except ValueError:
        raise SmartError('it is damaged; copy it again from its host') from None
    if not isinstance(content, dict) or not isinstance(content.get('drives'), list):
        raise SmartError('it was not written by "triage --json"')
    if isinstance(content.get('fleet'), dict):
        raise SmartError(
            'it was written by the fleet command; collect the files that "triage --json" writes'
        )
    made: Any = content.get('made')
    written = os.stat(path).st_mtime
    # A host whose clock is ahead must not make an old document look recent.
    is_plausible = is_number(made) and 0 <= made <= written + DAY
    name, _, _ = os.path.basename(path).partition('.json')
    host = text_of(content.get('host')) or visible(name) or '-'
    return Document(host, content, made=float(made) if is_plausible else written)


def drives(document: Document, metrics: Metrics, now: float) -> Iterator[FleetDrive]:
    """Yield a row for each problem of the run as a whole and for unreadable drives, then the drives
    of a document. now: seconds since 1970.
    """
    age = max(now - document.made, 0)
    notes = dated(now, age) if age > OLD else ()
    origin = Origin(document.host, notes, elapsed=age)
    yield from _run_rows(document, origin)
    all_rows = document.content['drives']
    rows = all_rows[:MOST_DRIVES_OF_HOST]
    faults = []
    left_out = len(all_rows) - len(rows)
    if left_out:
        faults.append(
            f'{left_out} of {len(all_rows)} drives are not shown: at most {MOST_DRIVES_OF_HOST} are read per host'
        )
    readable = dicts_of(rows, len(rows))
    unreadable = len(rows) - len(readable)
    faults += [
        'the entry of a drive is not in the format of "triage --json"'
    ] * unreadable
    for fault in faults:
        yield check_row('(triage)', State.UNKNOWN, fault, origin)
    for row in readable:
        yield _drive(row, origin, metrics)


def _run_rows(document: Document, origin: Origin) -> Iterator[FleetDrive]:
    """Yield the row for a problem of the run as a whole, or nothing. The first case that applies:

    - without drives: a row with the notes, or with "no drives"
    - OK: nothing
    - not OK, with notes: a row with the notes
    - not OK, without notes, and no drive has this state: a row that states this
    - not OK, without notes, and a drive has this state: nothing
    """
    content = document.content
    state = state_of(content.get('state'))
    rows = content['drives']
    states = [state_of(row.get('state')) for row in rows if isinstance(row, dict)]
    notes = shaped_rows('note', content.get('notes'))
    if not notes and content.get('error'):  # of a run that failed
        error = {'text': content['error'], 'code': content.get('code')}
        notes = [shaped('note', error)]
    texts = [note['text'] for note in notes if note['text']]
    words = '; '.join(texts)
    if not rows:
        why = words or 'no drives'
    elif state is State.OK:
        return
    elif words:
        why = words
    elif state not in states:
        why = 'the check as a whole has a worse state than any drive'
    else:
        return  # the drives show this state
    code = notes[0]['code'] if notes else ''
    yield check_row('(triage)', state, Coded(code, why), origin)


def _drive(row: Json, origin: Origin, metrics: Metrics) -> FleetDrive:
    """Return the drive of a row; readings whose metric is no text are left out."""
    readings: list[Json] = []
    numbers = []
    for reading in dicts_of(row.get('readings')):
        if isinstance(reading.get('metric'), str):
            safe = shaped('reading', reading)
            readings.append(safe)
            if safe['judged'] and is_number(safe['value']):
                numbers.append((safe['metric'], safe['value']))
    return fleet_drive(
        row, readings=lambda: readings, numbers=numbers, origin=origin, metrics=metrics
    )
