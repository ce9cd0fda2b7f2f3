"""Services from Icinga 2's API: their latest result, how users handle problems, and the text of the
plugin. Pure.

Nothing is guessed, and each omission is reported.
Source: Icinga 2, doc/09-object-types.md ("Checkable"), doc/08-advanced-topics.md ("CheckResult").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
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
from ..model import State, worst
from ..output.budget import LEFT_OUT
from ..output.codes import BY_NAME
from ..output.plugin import CHECK, FIRMWARE, GAP, NAME, NOT_TOLD, WIDTH, Line
from ..typed import Json
from ..wording import listed, plural
from ..words import visible
from .plugin_output import FleetDrive, Origin, Reader, dated, of_check, of_output

STALE = 2  # check intervals after which a result is out of date
LEAST = 5 * 60  # shortest interval in seconds, because checks are not punctual to the second
OK, HARD = 0, 1  # values of `state` and `state_type`
# Attributes that are above 0 while a user handles a problem.
HANDLING: Mapping[str, str] = {'downtime_depth': 'in downtime', 'acknowledgement': 'acknowledged'}
ASKED = (
    '__name',
    'last_check_result',
    'check_interval',
    'enable_active_checks',
    'state_type',
    'last_reachable',
    *HANDLING,
)
# Icinga shows these only to an ApiUser that may query hosts; for other users, it omits them without
# an error.
JOINED = tuple(f'host.{attribute}' for attribute in HANDLING)

_STATES = {f'{state.name:<{WIDTH}}{GAP}': state for state in State}
_START = WIDTH + len(GAP)
_FEWEST = 3  # columns after the state: name, model, findings
_CODE = r'\[([a-z0-9.-]+)\] '
_COUNTED = r'(?:^|; )([0-9]{1,6}) drives?: (?:[0-9]+ [a-z]+(?:, )?)+$'

# Remarks that apply to several services. The output puts the number of services before each, and
# some names into {}.
_REMARKS: Mapping[str, str] = {
    'never-checked': 'not checked yet: {}',
    'plugin-1.6': 'checked by version 1.6, which prints neither models nor serial numbers: {}',
    'output-foreign': 'whose output is not from this plugin, but from Icinga, a daemon or another '
    'program: {}',
    'result-old': 'with a result older than two check intervals (drives are shown as they were '
    'then): {}',
    'clock-ahead': 'with a result dated in the future (correct the clock of the host): {}',
    'output-cut': 'whose output was truncated in transit, so drives are missing: {}',
    'output-shortened': 'whose output the plugin shortened: {}',
    'no-perfdata': 'without perfdata, so their drives have no values: {}',
    'serial-hidden': 'without serial numbers: {}',
    'handled': 'marked in Icinga as {words}: {{}}',
    'downtime-hidden': 'whose host may be in downtime, which Icinga does not show to this ApiUser '
    '(give it the permission '
    'objects/query/Host): {}',
}
REMARKS: Mapping[str, Coded] = {code: Coded(code, words) for code, words in _REMARKS.items()}


class Result(NamedTuple):
    """The latest result of a check."""

    state: int  # as Icinga recorded it
    output: str
    values: Sequence[str]  # texts of the perfdata
    ended: float  # seconds since 1970
    status: int = 0  # exit status of the check


class Service(NamedTuple):
    """A service that runs the plugin."""

    host: str
    name: str
    result: Result | None  # None: not checked yet
    interval: float  # seconds between two checks
    is_active: bool  # scheduled by Icinga; passive results arrive at any time
    # "host in downtime", "service acknowledged", "soft state", "not reachable"
    handling: tuple[str, ...] = ()
    is_host_shown: bool = False  # Icinga shows the host, too, so the downtime of the host is known


class PluginText(NamedTuple):
    """The content of the plugin's text, even if the text was truncated in transit."""

    state: State
    headline: str  # the first line without the state; Coded if it has a code
    counted: int  # number of drives according to the first line; 0 if unknown
    lines: tuple[Line, ...]
    checks: tuple[tuple[State, str], ...]  # about the check as a whole
    left_out: tuple[str, ...]  # items that the plugin reports as omitted


class Told(NamedTuple):
    """The drives and remarks of a service."""

    drives: list[FleetDrive]
    remarks: tuple[Coded, ...] = ()  # some of the remarks above


def service(found: Json) -> Service:
    """Return a service; values that do not match Icinga's documentation are treated as missing."""
    host, _, name = str(found.get('name', '')).partition('!')
    own = _object(found.get('attrs'))
    of_host = _object(_object(found.get('joins')).get('host'))
    result = own.get('last_check_result')
    return Service(
        visible(host[:LONGEST_SERVICE_NAME]) or '-',
        visible(name[:LONGEST_SERVICE_NAME]),
        _result(result) if isinstance(result, dict) else None,
        _number(own.get('check_interval')),
        own.get('enable_active_checks') is not False,
        _handling(own, of_host),
        bool(of_host),
    )


def _handling(own: Json, of_host: Json) -> tuple[str, ...]:
    result = _object(own.get('last_check_result'))
    is_soft = own.get('state_type') != HARD and _number(result.get('state')) != OK
    return (
        *(
            f'{thing} {words}'
            for thing, attributes in (('host', of_host), ('service', own))
            for key, words in HANDLING.items()
            if _number(attributes.get(key)) > 0
        ),
        *(['soft state'] if is_soft and 'state_type' in own else []),
        *(['not reachable'] if own.get('last_reachable') is False else []),
    )


def _object(found: object) -> Json:
    return found if isinstance(found, dict) else {}


def _result(found: Json) -> Result:
    values = found.get('performance_data')
    output = found.get('output')
    return Result(
        int(_number(found.get('state'))),
        output[:LONGEST_OUTPUT] if isinstance(output, str) else '',
        [each for each in values[:MOST_VALUES] if isinstance(each, str)]
        if isinstance(values, list)
        else (),
        _number(found.get('execution_end')),
        int(_number(found.get('exit_status'))),
    )


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) and abs(value) < 1e12 else 0.0


def told(service: Service, reader: Reader, now: float) -> Told:
    """Return the drives of a service; if it has no drives, one row with the reason and the state
    from Icinga.
    """
    handled = _handled(service)
    if service.result is None:
        cause = BY_NAME['never-checked']
        origin = Origin(service.host, now=now, handling=service.handling)
        row = reader.row(_name(service), State.UNKNOWN, cause.meaning, origin, cause)
        return Told([row], (REMARKS[cause.name], *handled))
    result = service.result
    age = max(now - result.ended, 0)
    # Passive results arrive at any time, so their check interval is meaningless.
    is_stale = age > STALE * max(service.interval, LEAST if service.is_active else DAY)
    origin = Origin(service.host, dated(now, age) if is_stale else (), age, now, service.handling)
    text = plugin_text(result.output)
    found = (
        _told_otherwise(service, result, reader, origin)
        if text is None
        else _told(service, result, text, reader, origin)
    )
    is_ahead = result.ended > now + DAY
    return found._replace(
        remarks=(
            *found.remarks,
            *handled,
            *((REMARKS['result-old'],) if is_stale else ()),
            *((REMARKS['clock-ahead'],) if is_ahead else ()),
        )
    )


def _told_otherwise(service: Service, result: Result, reader: Reader, origin: Origin) -> Told:
    cause = of_output(result.output, result.status)
    said = [line for line in result.output[:LONGEST_HEAD].splitlines() if line.strip()] or ['']
    words = said[-1 if cause.name == 'python-traceback' else 0].strip()[:LONGEST_TEXT]
    why = f'{cause.meaning}: {words}' if words else cause.meaning
    row = reader.row(_name(service), _state(result.state), why, origin, cause)
    return Told([row], (REMARKS[cause.name if cause.name == 'plugin-1.6' else 'output-foreign'],))


def _handled(service: Service) -> tuple[Coded, ...]:
    """Return the remarks on a service that a user handles in Icinga, or whose host Icinga does
    not show.
    """
    found = {
        Coded('handled', REMARKS['handled'].format(words=words))
        for words in HANDLING.values()
        if any(each.endswith(words) for each in service.handling)
    }
    return (*sorted(found), *(() if service.is_host_shown else (REMARKS['downtime-hidden'],)))


def _told(
    service: Service, result: Result, text: PluginText, reader: Reader, origin: Origin
) -> Told:
    drives = reader.drives(text.lines, result.values, origin)
    rows = [
        reader.row(_name(service), state, words, origin, of_check(words))
        for state, words in text.checks
    ]
    missing = text.counted - len(text.lines)
    if missing > 0:
        rows.append(
            reader.row(
                _name(service),
                State.UNKNOWN,
                f'output truncated: {missing} of {text.counted} drives are missing; to see all, '
                'run triage on the host',
                origin,
                BY_NAME['output-cut'],
            )
        )
    known = worst(
        {*(line.state for line in text.lines), *(State[row.facts['state']] for row in rows)}
    )
    if text.state.urgency > known.urgency or not (drives or rows):
        cause = of_check(text.headline)  # the whole headline, because a part might lack the code
        rows.insert(
            0, reader.row(_name(service), text.state, text.headline[:LONGEST_TEXT], origin, cause)
        )
    return Told([*rows, *drives], tuple(_remarks(text, result, reader, missing > 0)))


def _remarks(text: PluginText, result: Result, reader: Reader, is_cut: bool) -> list[Coded]:
    read = [line for line in text.lines if line.model]
    found: dict[Coded, object] = {
        REMARKS['output-cut']: is_cut,
        REMARKS['output-shortened']: text.left_out and not is_cut,
        REMARKS['no-perfdata']: read and not reader.has_numbers(read, result.values),
        REMARKS['serial-hidden']: text.lines and all(line.serial is None for line in text.lines),
    }
    return [words for words, holds in found.items() if holds]


def _name(service: Service) -> str:
    return f'({service.name})'


def _state(number: int) -> State:
    return State(number) if 0 <= number <= 3 else State.UNKNOWN


def sentences(remarks: dict[Coded, list[str]], examples: int = 3) -> list[Coded]:
    """Return one message for each remark, with the number of its services and some of their
    names.
    """
    found = []
    for words, names in sorted(remarks.items(), key=lambda entry: -len(entry[1])):
        named = words.format(listed(list(map(visible, names)), examples))
        found.append(Coded(words.code, f'{plural(len(names), "service")} {named}'))
    return found


# --- the plugin's text ---------------------------------------------------------------


def plugin_text(text: str) -> PluginText | None:
    """Return the content of the plugin's text, without perfdata; None if the text is not from
    this plugin.
    """
    head, *rest = text.splitlines() or ['']
    word, sign, headline = head.partition(' - ')
    state = next((state for state in State if sign and word == f'{NAME} {state.name}'), None)
    if state is None:
        return None
    counted = re.search(_COUNTED, headline)
    checks, drives = _parted(rest)
    return PluginText(
        state,
        _coded(headline),
        int(counted[1]) if counted else 0,
        tuple(drives),
        tuple(checks),
        tuple(each[len(LEFT_OUT) :] for each in rest if each.startswith(LEFT_OUT)),
    )


def _parted(rest: Iterable[str]) -> tuple[list[tuple[State, str]], list[Line]]:
    """Return the lines about the check and the lines about drives, separately."""
    checks: list[tuple[State, str]] = []
    drives: list[Line] = []
    for each in rest:
        state = _STATES.get(each[:_START])
        if state is None:
            continue
        columns = each[_START:].split(GAP)
        if columns[0] == CHECK:
            checks.append((state, _coded(GAP.join(columns[1:]))))
        elif len(columns) >= _FEWEST:
            drives.append(_drive_line(state, columns))
    return checks, drives


def _drive_line(state: State, columns: list[str]) -> Line:
    """Return the fields of a drive's line; the firmware is missing in truncated lines and in
    lines of older builds.
    """
    name, model, told, *more = columns
    firmware = more.pop()[len(FIRMWARE) :] if more and more[-1].startswith(FIRMWARE) else ''
    return Line(
        state,
        name,
        _column(model),
        _coded(told),
        _column(more[0]) if more else None,
        _column(firmware),
    )


def _coded(text: str) -> str:
    """Return a text as Coded; the code is in brackets before the text."""
    code = re.match(_CODE, text)
    return Coded(code[1], text[code.end() :]) if code else text


def _column(column: str) -> str:
    return '' if column == NOT_TOLD else column
