"""The document as one self-contained HTML file: recommended actions first, then all drives.

Strings from drives are treated as hostile. Jinja2 escapes all text in the page. The data is in a block that browsers
do not run, with `<`, `>` and `&` escaped. The content security policy of the page allows one script and one style,
by their hashes, and loads nothing. The table is plain HTML, drawn one screen at a time by 200 lines of our own code:
a grid library would add half a megabyte to every page and make sorting inaccessible to keyboards and screen readers.
"""
from __future__ import annotations

import base64
import hashlib
import json
import re
import secrets
import time
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from .. import files
from ..errors import SmartError, installing
from ..typed import Json
from ..words import visible
from .advice import NOTHING, ORDER_OF_ACTIONS, REPLACE, WATCH
from .forecast_dates import day
from .packed_document import packed
from .table_cells import changed

TEMPLATE, SCRIPT, STYLE = 'page.html', 'page.js', 'page.css'
LARGEST = 1 << 20  # bytes of one file
SHOWN = 12  # drives shown for one action; the others are in the table
SAID = ('host', 'name', 'device', 'bay', 'model', 'serial', 'state', 'why', 'to_do', 'depends', 'is_check', 'code',
        'handling')
ACTIONS = tuple(action for action in ORDER_OF_ACTIONS if action not in (WATCH, NOTHING))


class Content(NamedTuple):
    """The content of a page; its strings are safe to display."""

    data: str                                    # packed document for page.js, as JSON
    counts: Mapping[str, int]                    # by state
    todo: Mapping[str, Tuple[int, Sequence[Json]]]  # action -> number of drives, and the first of them
    notes: Sequence[str] = ()
    remarks: Sequence[str] = ()
    lately: Optional[Json] = None                # recent increases, and drives added and removed
    fleet: Optional[Json] = None                 # parts that only a fleet has
    made_by: str = 'check_smart_attributes triage'


def page(document: Json, title: str, now: float) -> str:
    """Return the HTML page of a document. now: seconds since 1970. Raises SmartError if Jinja2 is not installed."""
    document = {**document, 'drives': _readable(document['drives'])}
    found = _seen(todo(document))
    return rendered(Content(
        json.dumps(_seen({**packed(document), 'made': round(now)}), separators=(',', ':')), _counts(document),
        {action: (len(drives), drives[:SHOWN]) for action, drives in found.items()},
        _texts(document.get('notes', [])), _texts(document.get('remarks', [])), _seen(_lately(document.get('lately')))),
        title, now)


def rendered(content: Content, title: str, now: float) -> str:
    """Return the HTML page for its content. now: seconds since 1970. Raises SmartError if Jinja2 is not installed."""
    try:
        from jinja2 import Environment
    except ImportError:
        raise SmartError(f'the page requires Jinja2, which is not installed; {installing("Jinja2")}') from None
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    script, style = (_content(name) for name in (SCRIPT, STYLE))
    # Megabytes of data bypass the template, which would copy them three times.
    place = secrets.token_hex(16)
    text = environment.from_string(_content(TEMPLATE)).render(
        content._asdict(), title=title, made=time.strftime('%Y-%m-%d %H:%M %Z', time.localtime(now)),
        number=sum(content.counts.values()), data=place, replace=REPLACE,
        script=script, style=style, script_hash=_hash(script), style_hash=_hash(style))
    return text.replace(place, _as_data(content.data))


def said(drive: Json, place: int, drives: int = 1) -> Json:
    """Return the fields of a drive's card. drives: number of drives of this model that the card represents."""
    return {**{key: drive.get(key) for key in SAID}, 'place': place, 'drives': drives}


def todo(document: Json) -> Dict[str, List[Json]]:
    """Return the drives for each action, most urgent action first; drives to watch appear only in the table."""
    found: Dict[str, List[Json]] = {action: [] for action in ACTIONS}
    for place, drive in enumerate(document['drives']):
        if drive.get('action') in found:
            found[drive['action']].append(said(drive, place))
    return {action: drives for action, drives in found.items() if drives}


def _lately(lately: Optional[Json]) -> Json:
    """Return recent increases, and drives added and removed, as the page lists them; nothing if not requested."""
    if not lately:
        return {}
    told = [*(f'{each["name"]} {each["said"]}' for each in (*lately['grew'], *lately.get('fell', ()))),
            *(each['text'] for each in (*lately['came'], *lately['went']))]
    return {'day': day(lately['since']), 'said': changed(told, lately['unknown'])}


def _readable(drives: Sequence[Json]) -> List[Json]:
    """Return the drives with metric names in their reasons written as words: "endurance used" for endurance_used."""
    metrics = {reading['metric'] for drive in drives for reading in drive['readings']}
    names = re.compile(rf'\b({"|".join(sorted(metrics)) or "(?!)"})\b')
    return [{**drive, 'why': names.sub(lambda name: name[1].replace('_', ' '), drive['why'])} if drive.get('why')
            else drive
            for drive in drives]


def _seen(value: Any) -> Any:
    """Return a value with all strings made safe to display; paths and documents of other hosts may hold anything."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {key: _seen(each) for key, each in value.items()}
    return [_seen(each) for each in value] if isinstance(value, (list, tuple)) else value


def _texts(notes: Sequence[Json]) -> List[str]:
    return [visible(each['text']) for each in notes]


def _counts(document: Json) -> Dict[str, int]:
    states = [drive['state'] for drive in document['drives']]
    return {state: states.count(state) for state in ('CRITICAL', 'UNKNOWN', 'WARNING', 'OK')}


def _as_data(text: str) -> str:
    """Return JSON that cannot end a script element or start a comment, wherever it is in a page."""
    return text.replace('&', '\\u0026').replace('<', '\\u003c').replace('>', '\\u003e')


def _hash(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def _content(name: str) -> str:
    return files.content(f'{files.PROGRAM}/output/{name}', LARGEST).decode()
