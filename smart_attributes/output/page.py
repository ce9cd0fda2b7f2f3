"""The document as one self-contained HTML file: a list of all drives in work list order, charts of
their history, and their bays.

Strings from drives may be hostile. Jinja2 escapes all text. The data is in a block that browsers do
not run, with `<`, `>` and `&` escaped. The content security policy allows one script and one style,
by their hashes, and loads nothing. The list is plain HTML, drawn one screen at a time by our own
code: a grid library would add half a megabyte and make sorting inaccessible to keyboards and screen
readers. Without JavaScript, the page shows the list and static charts.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import socket
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .. import files
from ..constants import LARGEST_SMALL_FILE, YEAR
from ..failures import missing
from ..redundancy import sentences
from ..redundancy.replacement import Risk, risk
from ..typed import Json
from ..words import visible
from ..work import actions
from ..work.dates import day
from .page_charts import FEWEST, Points, charts, shares, shelves, thinned
from .page_drives import compact, readable

# how many of these show readings; points in the histories of all drives
READ = 200
TRENDS = 20_000
WORDS = {code: actions.action(code).words for code in actions.CODES}
# Class in the page's style, by which a risk is coloured.
OF_RISK: Mapping[Risk, str] = {
    Risk.BEYOND: 'CRITICAL',
    Risk.LAST: 'WARNING',
    Risk.UNSURE: 'UNKNOWN',
    Risk.DEGRADED: 'WARNING',
    Risk.UNKNOWN: 'UNKNOWN',
}
# states of the drives of a member, the worst first
RANKS = ('CRITICAL', 'UNKNOWN', 'WARNING', None, 'OK')


class Content(NamedTuple):
    """The content of a page. All strings are safe to display."""

    data: str  # for page.js, as JSON: the shown drives, and when they were read
    counts: Mapping[str, int]  # by state
    # for readers without script; of a fleet, the first drives
    drives: Sequence[Json] = ()
    shown: str = ''  # which drives the page of a fleet shows; '' means all
    notes: Sequence[str] = ()
    remarks: Sequence[str] = ()
    groups: Sequence[Json] = ()  # arrays and volumes
    places: Mapping[str, int] = {}  # drive -> its place in the list
    charts: Mapping[str, Any] = {}  # of page_charts
    shelves: Sequence[tuple[str, Sequence[Json]]] = ()  # drives by enclosure
    fleet: Json | None = None  # parts that only a fleet has


def as_text(document: Json) -> str:
    """Return the page of a document of `triage` on this host.

    Raises SmartError if Jinja2 is not installed.
    """
    return page(document, f'Drives of {socket.gethostname()}', document['made'])


def page(document: Json, title: str, now: float) -> str:
    """Return the HTML page of a document. now: seconds since 1970.

    Raises SmartError if Jinja2 is not installed.
    """
    readable_drives = map(_with_readable_reason, _listed(document))
    numbered = [
        {**drive, 'place': place} for place, drive in enumerate(readable_drives)
    ]
    safe = _made_visible({**document, 'drives': numbered})
    drives = safe['drives']
    # the script gets the drives in a shorter form, and with their history
    data = {'drives': list(map(compact, _with_trends(drives))), 'made': round(now)}
    content = Content(
        json.dumps(data, separators=(',', ':')),
        _counts(drives),
        drives,
        notes=[note['text'] for note in safe.get('notes', ())],
        remarks=[remark['text'] for remark in safe.get('remarks', ())],
        groups=groups(safe),
        places={drive['name']: drive['place'] for drive in drives},
        charts=charts(safe, now),
        shelves=shelves(drives),
    )
    return ''.join(rendered(content, title, now))


def _listed(document: Json) -> list[Json]:
    """Return the drives in work list order, then the others. A drive of the work list that no check
    reads has no readings.
    """
    by_name = {drive['name']: drive for drive in document['drives']}
    in_order = []
    for item in document.get('work', ()):
        drive = by_name.get(item['name'])
        if drive is None:
            drive = {
                **item,
                'why': item['reason'],
                'device': None,
                'unread': True,
                'readings': [],
                'notes': [],
            }
        in_order.append(drive)
    # Object ids, because *by_name* has only one of two drives with the same name; both are listed.
    taken = set(map(id, in_order))
    others = [drive for drive in document['drives'] if id(drive) not in taken]
    return in_order + others


def _with_trends(drives: Sequence[Json]) -> list[Json]:
    """Return the drives with as much history as the page has room for, without values that never
    changed, and with the time of the oldest reading as "since", or None.
    """
    series = [points for drive in drives for points in drive.get('past', {}).values()]
    changed = sum(map(_has_changed, series))
    most = max(FEWEST, TRENDS // max(changed, 1))  # points of one series
    with_trends: list[Json] = []
    for drive in drives:
        past = drive.get('past', {})
        begins = [min(points)[0] for points in past.values() if points]
        trends = {
            metric: thinned(sorted(points), most)
            for metric, points in past.items()
            if _has_changed(points)
        }
        with_trends.append(
            {**drive, 'since': min(begins, default=None), 'past': trends}
        )
    return with_trends


def _has_changed(points: Points) -> bool:
    return len({number for _, number in points}) > 1


def rendered(content: Content, title: str, now: float) -> tuple[str, ...]:
    """Return the HTML page with the given content, in parts. now: seconds since 1970.

    Raises SmartError if Jinja2 is not installed.
    """
    try:
        from jinja2 import Environment
    except ImportError:
        raise missing('the page requires', 'Jinja2') from None
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    script = _content('page.js')
    style = _content('page.css')
    # Megabytes of data bypass the template, which would copy them three times. As a separate
    # string, they take one byte per character, whatever characters the rest of the page contains.
    # So the template gets a random placeholder, which the data then replaces.
    placeholder = secrets.token_hex(16)
    text = environment.from_string(_content('page.html')).render(
        content._asdict(),
        title=title,
        made=time.strftime('%Y-%m-%d %H:%M %Z', time.localtime(now)),
        data=placeholder,
        codes=json.dumps(WORDS),
        read=READ,
        day=day,
        at=now,
        year=YEAR,
        shares=shares,
        script=script,
        style=style,
        script_hash=_hash(script),
        style_hash=_hash(style),
    )
    head, _, tail = text.partition(placeholder)
    # so that the data cannot end its script element or start a comment
    data = (
        content.data.replace('&', '\\u0026')
        .replace('<', '\\u003c')
        .replace('>', '\\u003e')
    )
    return head, data, tail


def _with_readable_reason(drive: Json) -> Json:
    """Return a drive whose reason has words instead of metric names."""
    metrics = {reading['metric'] for reading in drive['readings']}
    return {**drive, 'why': readable(drive.get('why') or '', metrics)}


def _made_visible(value: Any) -> Any:
    """Return a value with all strings made safe to display; paths and documents of other hosts
    may hold anything.
    """
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {key: _made_visible(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_made_visible(part) for part in value]
    return value


def _counts(drives: Sequence[Json]) -> dict[str, int]:
    """Return how many drives have each state; drives that no check reads do not count."""
    states = [drive['state'] for drive in drives if not drive.get('unread')]
    return {state: states.count(state) for state in RANKS if state}


def _hash(text: str) -> str:
    """Return the source expression of a script or style, for the content security policy."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _content(name: str) -> str:
    """Return a file of the page."""
    return files.content(f'{files.PROGRAM}/output/{name}', LARGEST_SMALL_FILE).decode()


# --- groups: those at risk first -----------------------------------------------------


def groups(document: Json) -> list[Json]:
    """Return the groups of a document, those at risk first, without those that have no redundancy
    of their own.
    """
    ordered = sorted(document.get('groups', ()), key=risk)
    return [_group(group) for group in ordered if risk(group) is not Risk.PLAIN]


def _group(group: Json) -> Json:
    """Return a group in words, with the members in slot order and, within a member, the worst
    drive first.
    """
    level = group['level'] or ''
    tolerates = group['tolerates']
    if tolerates is None:
        tolerance = ': '.join(filter(None, ('redundancy not known', group['unknown'])))
    else:
        tolerance = sentences.losses(tolerates, level)
    members = []
    for member in group['members']:
        drives = sorted(member['drives'], key=lambda drive: RANKS.index(drive['state']))
        members.append({**member, 'drives': drives})
    # members without a slot come last
    members.sort(key=lambda member: (member['slot'] is None, member['slot'] or 0))
    return {
        **group,
        'level': sentences.of_level(group['kind'], level),
        'state': OF_RISK.get(risk(group), 'OK'),
        'tolerance': tolerance,
        'activity': sentences.BUSY.get(group['activity'], group['activity']),
        'members': members,
    }
