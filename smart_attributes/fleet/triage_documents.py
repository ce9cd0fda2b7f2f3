"""Read drives from documents that `triage --json` of any version printed on untrusted hosts."""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import groupby
from typing import Any, NamedTuple

from .. import files, trust
from ..constants import (
    DAY,
    LARGEST_DOCUMENT,
    LARGEST_FLEET,
    LONGEST_IDENTITY,
    MOST_DRIVES_OF_HOST,
    MOST_POINTS,
)
from ..errors import Coded, DriveGone, SmartError
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
    of_check,
    of_drive,
    unread,
)
from .untrusted import dicts_of, is_number, is_point, pairs_of, shaped, state_of, text_of

if TYPE_CHECKING:
    from ..knowledge.severity import Weight

OLD = 2 * DAY  # seconds after which a document is out of date
_BEGINNING = re.compile(rb'\s*\{\s*"version"')
_OF_A_FLEET = re.compile(rb'\{"version": [0-9]+, "made": ([0-9]{1,12}), "drives": \[\n')
_END_OF_A_FLEET = b'\n], "state": "'
# The readings of an OK drive that determine its place in the order, or that charts count.
_OF_AN_OK_DRIVE = re.compile(
    rb'"metric": "(endurance_used|power_on_time)",\n     "value": ([0-9.]{1,30}),'
    rb'(?:\n     (?!"judged").*)*\n     "judged": true'
)
OF_A_FORECAST = ('left', 'earliest', 'latest')
# Parts of a document as triage prints it. Texts in JSON never contain a line break, so no other
# part looks like these.
PRINTED, LARGE = (
    b'{\n "version": ',
    ((b'\n   "readings": [\n', b'\n   ]'), (b'\n   "past": {\n', b'\n   }')),
)


_is_day = lru_cache(maxsize=1024)(is_day)


class Document(NamedTuple):
    """A document from `triage --json`."""

    host: str
    content: Json
    made: float  # seconds since 1970
    path: str = ''
    # parts that *content* refers to by number; parsed only for drives that are shown
    large: Sequence[bytes] = ()

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
        return dicts_of(self.content.get('notes')) or [error] * bool(error['text'])


class Damaged(SmartError):
    """A document cannot be read, so the drives of its host are missing."""


def read(path: str) -> Iterable[Document] | None:
    """Return the document of each host in a file, or None if the file contains something else.

    If the document does not name the host, the file's name counts, or the directory's name if all
    files have the same name. Raises OSError if the file cannot be read, and Damaged if the document
    is invalid.
    """
    text = _content(path)
    of_fleet = _OF_A_FLEET.match(text)
    if of_fleet:
        return _of_fleet(text, float(of_fleet[1]), path)
    text, large = _parted(text)
    try:
        content = untrusted.parse(text)
    except untrusted.JsonTooLarge:
        raise Damaged(
            'it is too large for the drives of one host; check how the file was created'
        ) from None
    except ValueError:
        if _BEGINNING.match(text):
            raise Damaged(
                'it is damaged output of triage --json; copy it again from its host'
            ) from None
        return None
    if (
        not isinstance(content, dict)
        or not isinstance(content.get('drives'), list)
        or 'version' not in content
    ):
        return None
    if isinstance(content.get('fleet'), dict):
        raise Damaged(
            'it is output of fleet --json that another program has rewritten; copy the original '
            'again'
        )
    made: Any = content.get('made')
    written = os.stat(path).st_mtime
    # A host whose clock is ahead must not make an old document look recent.
    is_known = is_number(made) and 0 <= made <= written + DAY
    return (
        Document(
            text_of(content.get('host')) or host_of(path) or '-',
            content,
            float(made) if is_known else written,
            path,
            large,
        ),
    )


def _content(path: str) -> bytes:
    try:
        return files.content(path, LARGEST_DOCUMENT, trust.foreign_secret)
    except OSError as error:
        with open(path, 'rb') if error.errno == errno.EFBIG else contextlib.nullcontext() as file:
            if not (file and _OF_A_FLEET.match(file.read(99))):
                raise
    return files.content(path, LARGEST_FLEET, trust.foreign_secret)


def _of_fleet(text: bytes, made: float, path: str) -> Iterator[Document]:
    """Split the output of `fleet --json`, which has one drive per line, into one document per host.

    Raises Damaged.
    """
    end = text.rfind(_END_OF_A_FLEET)
    if end < 0:
        raise Damaged('it is damaged output of fleet --json; copy it again')
    drives = map(_line, re.finditer(rb'^\{.*\}(?=,?$)', text[:end], re.MULTILINE))
    for host, found in groupby(drives, lambda each: text_of(each.get('host')) or '-'):
        yield Document(
            host, {'drives': list(found), 'state': State.OK.name, 'is_fleet': True}, made, path
        )


def _line(found: re.Match[bytes]) -> Json:
    try:
        drive = untrusted.parse(found[0])
    except (ValueError, untrusted.JsonTooLarge):
        raise Damaged('it is damaged output of fleet --json; copy it again') from None
    return drive if isinstance(drive, dict) else {}


def _parted(text: bytes) -> tuple[bytes, Sequence[bytes]]:
    """Return two values: the document, with each large part replaced by a number, and the
    replaced parts.
    """
    large: list[bytes] = []
    for begin, end in LARGE if text.startswith(PRINTED) else ():
        kept, place = [], 0
        while (start := text.find(begin, place)) >= 0 and (stop := text.find(end, start)) >= 0:
            kept += [text[place : start + len(begin) - 2], b'%d' % len(large)]
            place = stop + len(end)
            large.append(text[start + len(begin) - 2 : place])
        text = b''.join((*kept, text[place:])) if kept else text
    return text, large


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
    origin = Origin(document.host, document.as_of(now), max(now - document.made, 0), now)
    state = state_of(document.content.get('state'))
    listed = document.content['drives']
    known = [state_of(each.get('state')) for each in listed if isinstance(each, dict)]
    notes = document.notes
    if (notes and state is not State.OK) or not listed or state not in (State.OK, *known):
        said = [shaped('note', each) for each in notes]
        why = '; '.join(each['text'] for each in said if each['text']) or (
            'the run as a whole is in a worse state than any of its drives'
            if listed
            else 'no drives'
        )
        cause = of_check(Coded(said[0]['code'] if said else '', why))
        yield reader.row('(triage)', state, why, origin, cause, _serials(notes))
    left_out = len(listed) - MOST_DRIVES_OF_HOST
    faults = (
        [
            f'{left_out} of {len(listed)} drives are not shown: at most {MOST_DRIVES_OF_HOST} are '
            f'read per host'
        ]
        if left_out > 0
        else []
    )
    faults += [
        'a drive is not in the format of triage --json'
        for each in listed[:MOST_DRIVES_OF_HOST]
        if not isinstance(each, dict)
    ]
    for fault in faults:
        yield reader.row('(triage)', State.UNKNOWN, fault, origin, BY_NAME['check-incomplete'])
    for each in listed[:MOST_DRIVES_OF_HOST]:
        if isinstance(each, dict):
            is_check = document.content.get('is_fleet') and each.get('is_check') is True
            yield (
                _row(each, reader, origin)
                if is_check
                else _drive(each, reader, origin, document.large)
            )


def _row(given: Json, reader: Reader, origin: Origin) -> FleetDrive:
    why = text_of(given.get('why')) or ''
    return reader.row(
        text_of(given.get('name')) or '-',
        state_of(given.get('state')),
        why,
        origin,
        of_check(Coded(text_of(given.get('code')) or '', why)),
    )


def _drive(given: Json, reader: Reader, origin: Origin, large: Sequence[bytes]) -> FleetDrive:
    state = state_of(given.get('state'))
    facts = _facts(given, state, origin)
    listed, past = (
        large[part] if type(part) is int and 0 <= part < len(large) else part
        for part in (given.get('readings'), given.get('past'))
    )
    unread_part = listed if isinstance(listed, bytes) and state is State.OK else b''
    some = [] if unread_part else _readings(listed)
    found = sorted(_OF_AN_OK_DRIVE.findall(unread_part))
    # the largest value of a metric
    known = {metric.decode(): float(value) for metric, value in found} or dict(
        sorted(
            (each['metric'], each['value'])
            for each in some
            if each['judged'] and is_number(each['value'])
        )
    )
    weights = tuple(
        _weight(each, reader, facts.get('risk')) for each in some if each['state'] != State.OK.name
    )
    return FleetDrive(
        facts,
        lambda: list(map(compact_reading, _readings(listed))),
        known.get(ENDURANCE),
        weights,
        _serials(_of_drives(given)),
        partial(_past, past),
        known.get(AGE),
    )


def _facts(given: Json, state: State, origin: Origin) -> dict[str, Any]:
    action = text_of(given.get('action')) or ''
    facts: dict[str, Any] = {
        'host': origin.host,
        **shaped('drive', given),
        'depends': [shaped('dependence', each) for each in dicts_of(given.get('depends'))],
        **_step_and_risk(given),
        'notes': [*origin.notes, *(shaped('note', each) for each in dicts_of(given.get('notes')))],
        'code': None,
        'state': state.name,
        'findings': [shaped('finding', each) for each in dicts_of(given.get('findings'))],
        'action': action if action in actions.CODES else of_unknown(state),
    }
    facts['name'] = facts['name'] or facts['device'] or '-'
    facts['forecasts'] = _forecasts(given.get('forecasts'), origin.elapsed)
    by, code = (text_of(given.get(key)) or '' for key in ('order_by', 'code'))
    facts['order_by'] = by if _is_day(by) else None
    also = [shaped('further', each) for each in dicts_of(given.get('also'))]
    also = [each for each in also if each['action'] in actions.CODES]
    facts.update({'also': also} if also else {})
    facts['to_do'] = text_of(given.get('to_do')) or actions.action(facts['action']).words
    if (
        facts['action'] in (actions.READ, actions.SEARCH)
        and state is not State.OK
        and (code or state is State.UNKNOWN)
    ):
        facts.update(unread(of_drive(Coded(code, facts['why'] or ''))))
    return facts


def _parsed(given: Any) -> Any:
    """Return a part of a document; None if it is damaged or too large."""
    try:
        return untrusted.parse(given) if isinstance(given, bytes) else given
    except (ValueError, untrusted.JsonTooLarge):
        return None


def _readings(listed: Any) -> list[dict[str, Any]]:
    return [
        shaped('reading', each)
        for each in dicts_of(_parsed(listed))
        if isinstance(each.get('metric'), str)
    ]


def _past(given: Any) -> Json:
    return {
        'past': {
            text_of(metric) or '': [point for point in points[-MOST_POINTS:] if is_point(point)]
            for metric, points in pairs_of(_parsed(given))
            if isinstance(points, list)
        }
    }


def _step_and_risk(given: Json) -> Json:
    """Return whether a drive may be replaced, and how many such drives failed, if the document
    states this.
    """
    found = {key: given[key] for key in ('replacement', 'risk') if isinstance(given.get(key), dict)}
    return {
        key: shaped(key, each)
        for key, each in found.items()
        if key == 'risk' or each.get('label') in LABELS
    }


def _of_drives(given: Json) -> list[Json]:
    """Return the parts of a drive's row whose serial numbers its messages can mention: the message
    about a missing drive has that of the drive itself.
    """
    own = [given] if given.get('code') == DriveGone.code else []
    return [*own, *dicts_of(given.get('notes')), *dicts_of([given.get('last_seen')])]


def _serials(given: Sequence[Json]) -> tuple[str, ...]:
    """Return the serial numbers in these parts of a document."""
    return tuple(
        each[:LONGEST_IDENTITY] for each in (text_of(row.get('serial')) for row in given) if each
    )


def _weight(reading: Json, reader: Reader, risk: Json | None) -> Weight:
    """Return the weight of a finding in the order of severity. risk: of the drive."""
    state, value = State[reading['state']], reading['value']
    return reader.weight(
        reading['metric'],
        state,
        value if is_number(value) else None,
        reading['critical' if state is State.CRITICAL else 'warning'],
        reading.get('grown') or 0,
        bool(reading['growth']),
        risk is not None and severity.is_risky(reading['metric'], _risk(risk)),
    )


def _risk(given: Json) -> Risk:
    shares = given['share_90'], given['share_365']
    return Risk(given['metric'], given['whose'], *shares, low=0, high=0, drives=0, failures=0)


def _forecasts(given: Any, elapsed: float) -> dict[str, dict[str, object]]:
    """Return the forecasts, with times relative to the present. elapsed: age of the document in
    seconds.
    """
    forecasts = {}
    for metric, each in pairs_of(given):
        if isinstance(each, dict) and is_number(each.get('left')):
            forecast: dict[str, object] = {
                key: round(max(each[key] - elapsed, 0))
                for key in OF_A_FORECAST
                if is_number(each.get(key))
            }
            forecast['estimate'] = each.get('estimate') is True
            forecasts[text_of(metric) or ''] = forecast
    return forecasts
