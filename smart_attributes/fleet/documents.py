"""Documents of `triage --json`, of this version or another, from hosts that may write anything -> their drives."""
from __future__ import annotations

import json
import os
from functools import partial
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from .. import files
from ..durations import DAY
from ..faces.advice import FORMER, NOTHING, ORDER_OF_ACTIONS, READ, due
from ..faces.dates import day
from ..faces.packed import Packer
from ..model import State
from ..words import since, visible
from .drives import Drive, Origin, Reader

if TYPE_CHECKING:
    from ..knowledge.severity import Weight

Json = Mapping[str, Any]
LARGEST = 64 << 20     # bytes of a file
OLD = 2 * DAY          # seconds, after which a document tells the past
LATEST = 2 ** 36       # the year 4147: a number beyond is no time
WORDS = 500            # characters of a text
TEXTS = ('device', 'type', 'name', 'model', 'serial', 'firmware', 'kind', 'entry', 'why', 'bay', 'light')
LISTS = ('notes', 'carries', 'findings')
OF_A_READING = ('unit', 'source', 'warning', 'critical', 'reason', 'said', 'growth')
OF_A_FORECAST = ('left', 'earliest', 'latest')


class Document(NamedTuple):
    """A file of `triage --json`."""

    host: str
    content: Json
    made: float            # seconds since 1970

    @property
    def notes(self) -> List[str]:
        """Return what concerns the run as a whole, and made it worse than its drives."""
        return _texts(self.content.get('notes'))


def read(path: str) -> Optional[Document]:
    """Return the document that a file holds; None where it holds something else. Raises OSError.

    Its host is the one that it names; else the file's name, or that of its folder where all are called alike.
    """
    try:
        content = json.loads(files.content(path, LARGEST))
    except (ValueError, RecursionError):
        return None
    if not isinstance(content, dict) or not isinstance(content.get('drives'), list) or 'version' not in content:
        return None
    made: Any = content.get('made')
    return Document(_text(content.get('host')) or host_of(path) or '-', content,
                    float(made) if _is_number(made) and 0 <= made <= LATEST else os.stat(path).st_mtime)


def host_of(path: str) -> str:
    """Return the host that a path names: "web1" of web1.json, and of web1/drives.json."""
    folder, name = os.path.split(path)
    stem = name.partition('.json')[0]
    return visible(os.path.basename(folder) if stem in ('drives', 'triage', 'smart') and folder else stem)


def drives(document: Document, reader: Reader, packer: Packer, now: float) -> Iterator[Drive]:
    """Yield the drives of a document, and a row for what is wrong with the run as a whole."""
    age = max(now - document.made, 0)
    origin = Origin(document.host, (f'as of {day(document.made)}, {since(age)}',) if age > OLD else (), age, now)
    state = _state(document.content.get('state'))
    listed = document.content['drives']
    known = [_state(each.get('state')) for each in listed if isinstance(each, dict)]
    if (document.notes and state is not State.OK) or not listed or state not in (State.OK, *known):
        told = 'its run is worse than any of its drives' if listed else 'no drives'
        yield reader.row('(triage)', state, '; '.join(document.notes) or told, origin)
    for each in listed:
        if isinstance(each, dict):
            yield _drive(each, reader, packer, origin)
        else:
            yield reader.row('(triage)', State.UNKNOWN, 'a drive that is not as version 1 of triage has it', origin)


def _drive(given: Json, reader: Reader, packer: Packer, origin: Origin) -> Drive:
    state, action = _state(given.get('state')), _text(given.get('action')) or ''
    action = FORMER.get(action, action)
    facts: Dict[str, Any] = {
        'host': origin.host, **{key: _text(given.get(key)) for key in TEXTS},
        **{key: _texts(given.get(key)) for key in LISTS}, 'state': state.name,
        'action': action if action in ORDER_OF_ACTIONS else NOTHING if state is State.OK else READ}
    facts['name'] = facts['name'] or facts['device'] or '-'
    facts['notes'] = [*origin.notes, *facts['notes']]
    facts['forecasts'] = {_text(role) or '': each for role, each in _items(given.get('forecasts'), origin.elapsed)}
    left = [each['left'] for each in facts['forecasts'].values()]
    facts.update(due(facts['action'], left, origin.now)._asdict())
    facts['past'] = {_text(role) or '': [point for point in points if _is_point(point)]
                     for role, points in _pairs(given.get('past')) if isinstance(points, list)}
    readings = [_reading(each) for each in _dicts(given.get('readings')) if isinstance(each.get('role'), str)]
    used = max((each['value'] for each in readings if each['role'] == 'endurance_used' and each['judged']
                and _is_number(each['value'])), default=0)
    weights = tuple(_weight(each, reader) for each in readings if each['state'] != State.OK.name)
    return Drive(facts, partial(packer.readings, readings), used, weights)


def _weight(reading: Json, reader: Reader) -> Weight:
    """Return the weight of a finding in the order of severity."""
    state, value = State[reading['state']], reading['value']
    return reader.weight(reading['role'], state, value if _is_number(value) else None,
                         reading['critical' if state is State.CRITICAL else 'warning'],
                         reading.get('grown', 0), bool(reading['growth']))


def _reading(given: Json) -> Dict[str, Any]:
    value = given.get('value')
    return {'role': _text(given['role']) or '-', 'value': value if _is_number(value) else _text(value),
            'judged': given.get('judged') is True, 'state': _state(given.get('state')).name,
            **{key: _text(given.get(key)) or '' for key in OF_A_READING},
            **({'grown': given['grown']} if _is_number(given.get('grown')) else {})}


def _items(given: Any, elapsed: float) -> Iterator[Tuple[str, Json]]:
    """Yield forecasts, counted from now on."""
    for role, each in _pairs(given):
        if isinstance(each, dict) and _is_number(each.get('left')):
            told = {key: each[key] for key in OF_A_FORECAST if _is_number(each.get(key))}
            yield role, {**{key: round(max(seconds - elapsed, 0)) for key, seconds in told.items()},
                         'estimate': each.get('estimate') is True}


def _state(given: Any) -> State:
    return State[given] if isinstance(given, str) and given in State.__members__ else State.UNKNOWN


def _text(given: Any) -> Optional[str]:
    return visible(given[:WORDS]) if isinstance(given, str) else None


def _texts(given: Any) -> List[str]:
    return [visible(each[:WORDS]) for each in given if isinstance(each, str)] if isinstance(given, list) else []


def _dicts(given: Any) -> Sequence[Json]:
    return [each for each in given if isinstance(each, dict)] if isinstance(given, list) else []


def _pairs(given: Any) -> Sequence[Tuple[str, Any]]:
    return list(given.items()) if isinstance(given, dict) else []


def _is_number(given: Any) -> bool:
    return isinstance(given, (int, float)) and not isinstance(given, bool) and abs(given) < 1e30


def _is_point(given: Any) -> bool:
    return isinstance(given, list) and len(given) == 2 and all(map(_is_number, given))
