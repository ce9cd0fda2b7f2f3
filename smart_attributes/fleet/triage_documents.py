"""Read drives from documents that `triage --json` of any version printed on untrusted hosts."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

from .. import files, trust
from ..constants import (
    DAY,
    LARGEST_DOCUMENT,
    MOST_DRIVES_OF_HOST,
    MOST_POINTS,
)
from ..errors import Coded, SmartError
from ..knowledge import severity
from ..model import Risk, State
from ..output.codes import BY_NAME
from ..output.page_drives import compact_reading
from ..redundancy.replacement import LABELS
from ..typed import TYPE_CHECKING, Json
from ..words import visible
from ..work import actions
from ..work.dates import is_day
from ..work.work_list import of_unknown
from . import untrusted
from .plugin_output import (
    AGE,
    ENDURANCE,
    FleetDrive,
    Origin,
    Reader,
    dated,
    next_step,
    of_check,
    of_drive,
)
from .untrusted import dicts_of, is_number, is_point, pairs_of, shaped, state_of, text_of

if TYPE_CHECKING:
    from ..knowledge.severity import Weight

OLD = 2 * DAY  # seconds after which a document is out of date
_BEGINNING = re.compile(rb'\s*\{\s*"version"')
OF_A_FORECAST = ('left', 'earliest', 'latest')

_is_day = lru_cache(maxsize=1024)(is_day)


class Document(NamedTuple):
    """A document from `triage --json`."""

    host: str
    content: Json
    made: float  # seconds since 1970

    def as_of(self, now: float) -> tuple[Json, ...]:
        """Return the note that the document is out of date, or () if it is recent. now: seconds
        since 1970.
        """
        age = max(now - self.made, 0)
        return dated(now, age) if age > OLD else ()

    @property
    def notes(self) -> Sequence[Json]:
        """Return the notes on the run as a whole, which can make the run's state worse than the
        state of any drive.
        """
        # only a failed run has one
        error = {'text': self.content.get('error'), 'code': self.content.get('code')}
        return dicts_of(self.content.get('notes')) or ([error] if error['text'] else [])


class Damaged(SmartError):
    """A document cannot be read, so the drives of its host are missing."""


def read(path: str) -> Document | None:
    """Return the document in a file, or None if the file contains something else.

    If the document does not name the host, the file's name counts, or the directory's name if all
    files have the same name. Raises OSError if the file cannot be read, and Damaged if the document
    is invalid.
    """
    text = files.content(path, LARGEST_DOCUMENT, trust.foreign_secret)
    try:
        content = untrusted.parse(text)
    except ValueError:
        if _BEGINNING.match(text):
            raise Damaged(
                'it is damaged output of triage --json; copy it again from its host'
            ) from None
        return None
    if not isinstance(content, dict) or 'version' not in content:
        return None
    if not isinstance(content.get('drives'), list):
        return None
    if isinstance(content.get('fleet'), dict):
        raise Damaged('it is output of fleet; collect that of triage --json')
    made: Any = content.get('made')
    written = os.stat(path).st_mtime
    # A host whose clock is ahead must not make an old document look recent.
    is_plausible = is_number(made) and 0 <= made <= written + DAY
    host = text_of(content.get('host')) or host_of(path) or '-'
    return Document(host, content, made=float(made) if is_plausible else written)


def host_of(path: str) -> str:
    """Return the host named by a path: "web1" for web1.json and for web1/drives.json."""
    folder, name = os.path.split(path)
    stem = name.partition('.json')[0]
    return visible(
        os.path.basename(folder) if stem in ('drives', 'triage', 'smart') and folder else stem
    )


def drives(document: Document, reader: Reader, now: float) -> Iterator[FleetDrive]:
    """Yield the drives of a document, and a row for each problem of the run as a whole. now:
    seconds since 1970.
    """
    origin = Origin(
        document.host, document.as_of(now), elapsed=max(now - document.made, 0), now=now
    )
    yield from _run_rows(document, reader, origin)
    rows = document.content['drives']
    faults = []
    left_out = len(rows) - MOST_DRIVES_OF_HOST
    if left_out > 0:
        faults.append(
            f'{left_out} of {len(rows)} drives are not shown: at most {MOST_DRIVES_OF_HOST} are '
            f'read per host'
        )
    readable = dicts_of(rows[:MOST_DRIVES_OF_HOST], MOST_DRIVES_OF_HOST)
    unreadable = len(rows[:MOST_DRIVES_OF_HOST]) - len(readable)
    faults += ['a drive is not in the format of triage --json'] * unreadable
    for fault in faults:
        yield reader.row(
            '(triage)', State.UNKNOWN, why=fault, origin=origin, cause=BY_NAME['check-incomplete']
        )
    for row in readable:
        yield _drive(row, reader, origin)


def _run_rows(document: Document, reader: Reader, origin: Origin) -> Iterator[FleetDrive]:
    """Yield the row for a problem of the run as a whole, if there is one."""
    state = state_of(document.content.get('state'))
    rows = document.content['drives']
    states = [state_of(row.get('state')) for row in rows if isinstance(row, dict)]
    notes = document.notes
    is_explained = state is State.OK or (state in states and not notes)
    if rows and is_explained:
        return
    shaped_notes = [shaped('note', row) for row in notes]
    why = '; '.join(row['text'] for row in shaped_notes if row['text'])
    if not why:
        why = 'the run as a whole is in a worse state than any of its drives'
        why = why if rows else 'no drives'
    cause = of_check(Coded(shaped_notes[0]['code'] if shaped_notes else '', why))
    yield reader.row('(triage)', state, why=why, origin=origin, cause=cause)


def _drive(row: Json, reader: Reader, origin: Origin) -> FleetDrive:
    state = state_of(row.get('state'))
    facts = _facts(row, state, origin)
    readings = _readings(row.get('readings'))
    numbers: list[tuple[str, float]] = []
    weights = []
    for reading in readings:
        if reading['judged'] and is_number(reading['value']):
            numbers.append((reading['metric'], reading['value']))
        if reading['state'] != State.OK.name:
            weights.append(_weight(reading, reader, facts.get('risk')))
    largest = dict(sorted(numbers))
    return FleetDrive(
        facts,
        readings=lambda: list(map(compact_reading, readings)),
        used=largest.get(ENDURANCE),
        weights=tuple(weights),
        further=partial(_past, row.get('past')),
        age=largest.get(AGE),
    )


def _facts(row: Json, state: State, origin: Origin) -> dict[str, Any]:
    """Return the facts about a drive that are shown, of the right types."""
    action = text_of(row.get('action')) or ''
    facts: dict[str, Any] = {
        'host': origin.host,
        **shaped('drive', row),
        'depends': _shaped_rows('dependence', row.get('depends')),
        **_step_and_risk(row),
        'notes': [*origin.notes, *_shaped_rows('note', row.get('notes'))],
        'code': None,
        'state': state.name,
        'findings': _shaped_rows('finding', row.get('findings')),
        'action': action if action in actions.CODES else of_unknown(state),
    }
    facts['name'] = facts['name'] or facts['device'] or '-'
    facts['forecasts'] = _forecasts(row.get('forecasts'), origin.elapsed)
    by, code = (text_of(row.get(key)) or '' for key in ('order_by', 'code'))
    facts['order_by'] = by if _is_day(by) else None
    further = _shaped_rows('further', row.get('also'))
    also = [step for step in further if step['action'] in actions.CODES]
    if also:
        facts['also'] = also
    facts['to_do'] = text_of(row.get('to_do')) or actions.action(facts['action']).words
    is_unread = state is State.UNKNOWN or (state is not State.OK and code)
    if is_unread and facts['action'] in (actions.READ, actions.SEARCH):
        cause = of_drive(Coded(code, facts['why'] or ''))
        facts['code'] = cause.name
        if not text_of(row.get('to_do')):
            facts['to_do'] = next_step(cause)
    return facts


def _shaped_rows(part: str, rows: Any) -> list[dict[str, Any]]:
    return [shaped(part, row) for row in dicts_of(rows)]


def _readings(part: Any) -> list[dict[str, Any]]:
    rows = dicts_of(part)
    return [shaped('reading', row) for row in rows if isinstance(row.get('metric'), str)]


def _past(part: Any) -> Json:
    past = {}
    for metric, points in pairs_of(part):
        if isinstance(points, list):
            past[text_of(metric) or ''] = list(filter(is_point, points[-MOST_POINTS:]))
    return {'past': past}


def _step_and_risk(row: Json) -> Json:
    """Return whether a drive may be replaced, and how many such drives failed, if the document
    states this.
    """
    facts = {}
    for key in ('replacement', 'risk'):
        part = row.get(key)
        if isinstance(part, dict) and (key == 'risk' or part.get('label') in LABELS):
            facts[key] = shaped(key, part)
    return facts


def _weight(reading: Json, reader: Reader, risk: Json | None) -> Weight:
    """Return the weight of a finding in the order of severity. risk: of the drive."""
    state, value = State[reading['state']], reading['value']
    is_risky = risk is not None and severity.is_risky(reading['metric'], _risk(risk))
    return reader.weight(
        reading['metric'],
        state,
        number=value if is_number(value) else None,
        limit=reading['critical' if state is State.CRITICAL else 'warning'],
        grown=reading.get('grown') or 0,
        is_growing=bool(reading['growth']),
        is_risky=is_risky,
    )


def _risk(row: Json) -> Risk:
    shares = row['share_90'], row['share_365']
    return Risk(row['metric'], row['whose'], *shares, low=0, high=0, drives=0, failures=0)


def _forecasts(rows: Any, elapsed: float) -> dict[str, dict[str, object]]:
    """Return the forecasts, with times relative to the present. elapsed: age of the document in
    seconds.
    """
    forecasts = {}
    for metric, row in pairs_of(rows):
        if isinstance(row, dict) and is_number(row.get('left')):
            forecast: dict[str, object] = {}
            for key in OF_A_FORECAST:
                if is_number(row.get(key)):
                    forecast[key] = round(max(row[key] - elapsed, 0))
            forecast['estimate'] = row.get('estimate') is True
            forecasts[text_of(metric) or ''] = forecast
    return forecasts
