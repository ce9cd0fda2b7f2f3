"""The document -> one self-contained HTML file: first what to do, then all drives.

Strings of drives are hostile here, too: Jinja2 escapes what stands in the page, the data stand in a block that no
browser runs, with `<`, `>` and `&` as escapes, and the policy of the page runs one script and one style, by their
hashes, and loads nothing. The table is a plain one, drawn a screenful at a time by 200 lines of our own: a grid library
would bring half a megabyte into every page and take the keyboard and the screen reader away from sorting.
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
LARGEST = 1 << 20  # bytes of one of them
SHOWN = 12  # drives of one action; the table has the others
SAID = ('host', 'name', 'device', 'bay', 'model', 'serial', 'state', 'why', 'to_do', 'carries', 'is_check', 'code',
        'handling')
ACTIONS = tuple(action for action in ORDER_OF_ACTIONS if action not in (WATCH, NOTHING))


class Content(NamedTuple):
    """What a page shows; its strings as one can look at them."""

    data: str                                    # what page.js unpacks, as JSON
    counts: Mapping[str, int]                    # by state
    todo: Mapping[str, Tuple[int, Sequence[Json]]]  # what to do -> how many drives, and the first of them
    notes: Sequence[str] = ()
    remarks: Sequence[str] = ()
    lately: Optional[Json] = None                # what grew, came and went
    fleet: Optional[Json] = None                 # what only a fleet shows
    made_by: str = 'check_smart_attributes triage'


def page(document: Json, title: str, now: float) -> str:
    """Return the page of a document. Raises SmartError where Jinja2 is not installed."""
    document = {**document, 'drives': _readable(document['drives'])}
    found = _seen(todo(document))
    return rendered(Content(
        json.dumps(_seen({**packed(document), 'made': round(now)}), separators=(',', ':')), _counts(document),
        {action: (len(drives), drives[:SHOWN]) for action, drives in found.items()},
        _texts(document.get('notes', [])), _texts(document.get('remarks', [])), _seen(_lately(document.get('lately')))),
        title, now)


def rendered(content: Content, title: str, now: float) -> str:
    """Return the page. Raises SmartError where Jinja2 is not installed."""
    try:
        from jinja2 import Environment
    except ImportError:
        raise SmartError(f'the page is made with Jinja2, which is not installed; {installing("Jinja2")}') from None
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    script, style = (_content(name) for name in (SCRIPT, STYLE))
    # Megabytes of data go around the template, which would copy them three times.
    place = secrets.token_hex(16)
    text = environment.from_string(_content(TEMPLATE)).render(
        content._asdict(), title=title, made=time.strftime('%Y-%m-%d %H:%M %Z', time.localtime(now)),
        number=sum(content.counts.values()), data=place, replace=REPLACE,
        script=script, style=style, script_hash=_hash(script), style_hash=_hash(style))
    return text.replace(place, _as_data(content.data))


def said(drive: Json, place: int, drives: int = 1) -> Json:
    """Return what a card shows of a drive. drives: of its model, for which the card stands."""
    return {**{key: drive.get(key) for key in SAID}, 'place': place, 'drives': drives}


def todo(document: Json) -> Dict[str, List[Json]]:
    """Return what to do -> the drives to do it with, most urgent first; what only wants watching is in the table."""
    found: Dict[str, List[Json]] = {action: [] for action in ACTIONS}
    for place, drive in enumerate(document['drives']):
        if drive.get('action') in found:
            found[drive['action']].append(said(drive, place))
    return {action: drives for action, drives in found.items() if drives}


def _lately(lately: Optional[Json]) -> Json:
    """Return what grew, came and went as the page lists it; nothing where nobody asked."""
    if not lately:
        return {}
    told = [*(f'{each["name"]} {each["said"]}' for each in lately['grew']),
            *(each['text'] for each in (*lately['came'], *lately['went']))]
    return {'day': day(lately['since']), 'said': changed(told, lately['unknown'])}


def _readable(drives: Sequence[Json]) -> List[Json]:
    """Return the drives with reasons as a person says them: "endurance used" is the metric endurance_used."""
    metrics = {reading['metric'] for drive in drives for reading in drive['readings']}
    names = re.compile(rf'\b({"|".join(sorted(metrics)) or "(?!)"})\b')
    return [{**drive, 'why': names.sub(lambda name: name[1].replace('_', ' '), drive['why'])} if drive.get('why')
            else drive
            for drive in drives]


def _seen(value: Any) -> Any:
    """Return a value whose strings are safe to show; paths and documents of other hosts may hold anything."""
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
    """Return JSON that ends no script element and starts no comment, wherever it stands in a page."""
    return text.replace('&', '\\u0026').replace('<', '\\u003c').replace('>', '\\u003e')


def _hash(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def _content(name: str) -> str:
    return files.content(f'{files.PROGRAM}/output/{name}', LARGEST).decode()
