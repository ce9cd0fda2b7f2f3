"""Services from Icinga 2's API: their latest result, and how users handle problems. Pure.

Source: Icinga 2, doc/09-object-types.md ("Checkable"), doc/08-advanced-topics.md ("CheckResult").
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..constants import (
    DAY,
    LONGEST_HEAD,
    LONGEST_OUTPUT,
    LONGEST_SERVICE_NAME,
    LONGEST_TEXT,
    MOST_VALUES,
)
from ..errors import Coded
from ..knowledge.drive_database import Metrics
from ..model import State, worst
from ..output.codes import BY_NAME
from ..typed import Json
from ..words import visible
from . import plugin_output
from .drives import FleetDrive, Origin, check_row, dated

# Attributes that are above 0 while a user handles a problem.
HANDLING: Mapping[str, str] = {
    'downtime_depth': 'in downtime',
    'acknowledgement': 'acknowledged',
}
ASKED = (
    '__name',
    'last_check_result',
    'check_interval',
    'enable_active_checks',
    *HANDLING,
)
# Icinga shows these only to an ApiUser that may query hosts; for other users, it omits them without
# an error.
JOINED = tuple(f'host.{attribute}' for attribute in HANDLING)


class Result(NamedTuple):
    """The latest result of a check."""

    state: int  # as Icinga recorded it
    output: str
    values: Sequence[str]  # texts of the perfdata
    ended: float  # seconds since 1970


class Service(NamedTuple):
    """A service that runs the plugin."""

    host: str
    name: str
    result: Result | None  # None: not checked yet
    interval: float  # seconds between two checks
    is_active: bool  # scheduled by Icinga; passive results arrive at any time
    # "host in downtime", "service acknowledged"
    handling: tuple[str, ...] = ()
    # Icinga shows the host, too, so the downtime of the host is known
    is_host_shown: bool = False

    def __str__(self) -> str:
        """Return the service's name in Icinga."""
        return f'{self.host}!{self.name}'


def service(row: Json) -> Service:
    """Return a service; values that do not match Icinga's documentation are treated as missing."""
    host, _, name = str(row.get('name', '')).partition('!')
    own = _object(row.get('attrs'))
    of_host = _object(_object(row.get('joins')).get('host'))
    result = own.get('last_check_result')
    return Service(
        host=visible(host[:LONGEST_SERVICE_NAME]) or '-',
        name=visible(name[:LONGEST_SERVICE_NAME]),
        result=_result(result) if isinstance(result, dict) else None,
        interval=_number(own.get('check_interval')),
        is_active=own.get('enable_active_checks') is not False,
        handling=_handling(own, of_host),
        is_host_shown=bool(of_host),
    )


def _handling(own: Json, of_host: Json) -> tuple[str, ...]:
    """Return how users handle a problem. own, of_host: attributes of the service and its host."""
    handling = []
    for thing, attributes in (('host', of_host), ('service', own)):
        for key, words in HANDLING.items():
            if _number(attributes.get(key)) > 0:
                handling.append(f'{thing} {words}')
    return tuple(handling)


def _object(value: object) -> Json:
    """Return an object; {} for any other value."""
    return value if isinstance(value, dict) else {}


def _result(row: Json) -> Result:
    """Return a result; '' for an output that is no text, 0 for a number that is invalid."""
    output = row.get('output')
    texts = row.get('performance_data')
    if not isinstance(texts, list):
        texts = []
    return Result(
        state=int(_number(row.get('state'))),
        output=output[:LONGEST_OUTPUT] if isinstance(output, str) else '',
        values=[text for text in texts[:MOST_VALUES] if isinstance(text, str)],
        ended=_number(row.get('execution_end')),
    )


def _number(value: object) -> float:
    """Return a number; 0 for any other value, and for numbers that are no possible time."""
    if isinstance(value, (int, float)) and abs(value) < 1e12:
        return float(value)
    return 0.0


def drives_of(
    service: Service, metrics: Metrics, now: float
) -> tuple[list[FleetDrive], bool]:
    """Return the drives of a service, with rows about its check, and whether its result is out of
    date. If it has no drives, one row has the reason and the state from Icinga.
    """
    name = f'({service.name})'
    result = service.result
    if result is None:
        origin = Origin(service.host, handling=service.handling)
        why = _because('never-checked')
        return [check_row(name, State.UNKNOWN, why, origin)], False
    age = now - result.ended
    # Checks are not punctual to the second. Passive results arrive at any time, so they are old
    # after days, whatever their interval.
    shortest_interval = 5 * 60 if service.is_active else DAY
    interval = max(service.interval, shortest_interval)
    is_old = age > 2 * interval or age < -DAY  # the clock of the host may be ahead
    notes = dated(now, age) if is_old else ()
    origin = Origin(service.host, notes, elapsed=max(age, 0), handling=service.handling)
    text = plugin_output.plugin_text(result.output)
    if text is None:
        return [_foreign_row(name, result, origin)], is_old
    drives = plugin_output.drives(
        text.lines,
        result.values,
        checked=now - origin.elapsed,
        origin=origin,
        metrics=metrics,
    )
    return [*_check_rows(name, text, origin), *drives], is_old


def _foreign_row(name: str, result: Result, origin: Origin) -> FleetDrive:
    """Return the row of a check whose output is not from this plugin, in the state that Icinga has."""
    output = result.output[:LONGEST_HEAD].strip()
    code = 'output-foreign'
    if re.match(r'(?:OK|Warning|Critical) \([^)]*\)', output):
        code = 'plugin-1.6'
    elif not output or output.startswith('(No output'):
        code = 'no-output'
    state = State(result.state) if 0 <= result.state <= 3 else State.UNKNOWN
    first_line = output.partition('\n')[0].strip()
    return check_row(name, state, _because(code, first_line[:LONGEST_TEXT]), origin)


def _because(code: str, words: str = '') -> Coded:
    """Return the meaning of a cause, and the words of the check, if it printed any."""
    meaning = BY_NAME[code].meaning
    return Coded(code, f'{meaning}: {words}' if words else meaning)


def _check_rows(
    name: str, text: plugin_output.PluginText, origin: Origin
) -> list[FleetDrive]:
    """Return the rows about a check: what it reports about itself, drives that are missing in the
    text, and a state that is worse than that of all drives and rows. [] if there is nothing to
    report.
    """
    rows = [check_row(name, state, words, origin) for state, words in text.checks]
    missing = text.counted - len(text.lines)
    if missing > 0:
        why = (
            f'output truncated: {missing} of {text.counted} drives are not shown; to see all, '
            'run "triage" on the host'
        )
        rows.append(check_row(name, State.UNKNOWN, Coded('output-cut', why), origin))
    states = [line.state for line in text.lines]
    states += [State[row.facts['state']] for row in rows]
    if not states or text.state.urgency > worst(states).urgency:
        rows.insert(0, check_row(name, text.state, text.headline, origin))
    return rows
