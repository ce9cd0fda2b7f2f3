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


class ServiceDrives(NamedTuple):
    """The drives and remarks of a service."""

    drives: list[FleetDrive]
    remarks: tuple[Coded, ...] = ()  # some of the remarks above


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
    result = _object(own.get('last_check_result'))
    is_hard = own.get('state_type', HARD) == HARD
    if not is_hard and _number(result.get('state')) != OK:
        handling.append('soft state')
    if own.get('last_reachable') is False:
        handling.append('not reachable')
    return tuple(handling)


def _object(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def _result(row: Json) -> Result:
    output, texts = row.get('output'), row.get('performance_data')
    values: Sequence[str] = ()
    if isinstance(texts, list):
        values = [text for text in texts[:MOST_VALUES] if isinstance(text, str)]
    return Result(
        state=int(_number(row.get('state'))),
        output=output[:LONGEST_OUTPUT] if isinstance(output, str) else '',
        values=values,
        ended=_number(row.get('execution_end')),
    )


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) and abs(value) < 1e12 else 0.0


def drives_of(service: Service, reader: Reader, now: float) -> ServiceDrives:
    """Return the drives of a service; if it has no drives, one row with the reason and the state
    from Icinga.
    """
    handled = _handled(service)
    if service.result is None:
        cause = BY_NAME['never-checked']
        origin = Origin(service.host, now=now, handling=service.handling)
        row = reader.row(
            _name(service), State.UNKNOWN, why=cause.meaning, origin=origin, cause=cause
        )
        return ServiceDrives([row], (REMARKS[cause.name], *handled))
    result = service.result
    age = max(now - result.ended, 0)
    # Passive results arrive at any time, so their check interval is meaningless.
    is_stale = age > STALE * max(service.interval, LEAST if service.is_active else DAY)
    notes = dated(now, age) if is_stale else ()
    origin = Origin(service.host, notes, elapsed=age, now=now, handling=service.handling)
    text = plugin_text(result.output)
    drives, remarks = (
        _of_foreign_output(service, result, reader=reader, origin=origin)
        if text is None
        else _of_text(service, result, text=text, reader=reader, origin=origin)
    )
    remarks += handled
    if is_stale:
        remarks += (REMARKS['result-old'],)
    if result.ended > now + DAY:
        remarks += (REMARKS['clock-ahead'],)
    return ServiceDrives(drives, remarks)


def _of_foreign_output(
    service: Service,
    result: Result,
    reader: Reader,
    origin: Origin,
) -> ServiceDrives:
    cause = of_output(result.output)
    lines = [line for line in result.output[:LONGEST_HEAD].splitlines() if line.strip()] or ['']
    # the last line of a traceback has the error
    words = lines[-1 if 'Traceback' in lines[0] else 0].strip()[:LONGEST_TEXT]
    why = f'{cause.meaning}: {words}' if words else cause.meaning
    row = reader.row(_name(service), _state(result.state), why=why, origin=origin, cause=cause)
    code = 'plugin-1.6' if cause.name == 'plugin-1.6' else 'output-foreign'
    return ServiceDrives([row], (REMARKS[code],))


def _handled(service: Service) -> tuple[Coded, ...]:
    """Return the remarks on a service that a user handles in Icinga, or whose host Icinga does
    not show.
    """
    remarks = []
    for words in HANDLING.values():
        if any(handling.endswith(words) for handling in service.handling):
            remarks.append(Coded('handled', REMARKS['handled'].format(words=words)))
    remarks.sort()
    if not service.is_host_shown:
        remarks.append(REMARKS['downtime-hidden'])
    return tuple(remarks)


def _of_text(
    service: Service,
    result: Result,
    text: PluginText,
    reader: Reader,
    origin: Origin,
) -> ServiceDrives:
    name = _name(service)
    drives = reader.drives(text.lines, result.values, origin)
    rows = [
        reader.row(name, state, why=words, origin=origin, cause=of_check(words))
        for state, words in text.checks
    ]
    missing = text.counted - len(text.lines)
    if missing > 0:
        why = (
            f'output truncated: {missing} of {text.counted} drives are missing; to see all, '
            'run triage on the host'
        )
        rows.append(
            reader.row(name, State.UNKNOWN, why=why, origin=origin, cause=BY_NAME['output-cut'])
        )
    states = [line.state for line in text.lines]
    states += [State[row.facts['state']] for row in rows]
    if text.state.urgency > worst(states).urgency or not (drives or rows):
        cause = of_check(text.headline)  # the whole headline, because a part might lack the code
        row = reader.row(
            name, text.state, why=text.headline[:LONGEST_TEXT], origin=origin, cause=cause
        )
        rows.insert(0, row)
    return ServiceDrives(
        [*rows, *drives], _remarks(text, result, reader=reader, is_cut=missing > 0)
    )


def _remarks(
    text: PluginText,
    result: Result,
    reader: Reader,
    is_cut: bool,
) -> tuple[Coded, ...]:
    codes = []
    if is_cut:
        codes.append('output-cut')
    elif text.left_out:
        codes.append('output-shortened')
    read = [line for line in text.lines if line.model]
    if read and not reader.has_numbers(read, result.values):
        codes.append('no-perfdata')
    if text.lines and all(line.serial is None for line in text.lines):
        codes.append('serial-hidden')
    return tuple(REMARKS[code] for code in codes)


def _name(service: Service) -> str:
    return f'({service.name})'


def _state(number: int) -> State:
    return State(number) if 0 <= number <= 3 else State.UNKNOWN


def sentences(remarks: dict[Coded, list[str]], examples: int = 3) -> list[Coded]:
    """Return one message for each remark, with the number of its services and some of their
    names.
    """
    messages = []
    for words, names in sorted(remarks.items(), key=lambda entry: -len(entry[1])):
        named = words.format(listed(list(map(visible, names)), examples))
        messages.append(Coded(words.code, f'{plural(len(names), "service")} {named}'))
    return messages


# --- the plugin's text ---------------------------------------------------------------


def plugin_text(text: str) -> PluginText | None:
    """Return the content of the plugin's text, without perfdata; None if the text is not from
    this plugin.
    """
    head, *rest = text.splitlines() or ['']
    word, sign, headline = head.partition(' - ')
    states = [state for state in State if sign and word == f'{NAME} {state.name}']
    if not states:
        return None
    counted = re.search(_COUNTED, headline)
    checks, drives = _parted(rest)
    return PluginText(
        state=states[0],
        headline=_coded(headline),
        counted=int(counted[1]) if counted else 0,
        lines=tuple(drives),
        checks=tuple(checks),
        left_out=tuple(line[len(LEFT_OUT) :] for line in rest if line.startswith(LEFT_OUT)),
    )


def _parted(rest: Iterable[str]) -> tuple[list[tuple[State, str]], list[Line]]:
    """Return the lines about the check and the lines about drives, separately."""
    checks: list[tuple[State, str]] = []
    drives: list[Line] = []
    for line in rest:
        state = _STATES.get(line[:_START])
        if state is None:
            continue
        columns = line[_START:].split(GAP)
        if columns[0] == CHECK:
            checks.append((state, _coded(GAP.join(columns[1:]))))
        elif len(columns) >= _FEWEST:
            drives.append(_drive_line(state, columns))
    return checks, drives


def _drive_line(state: State, columns: list[str]) -> Line:
    """Return the fields of a drive's line; the firmware is missing in truncated lines and in
    lines of older builds.
    """
    name, model, findings, *further = columns
    has_firmware = further and further[-1].startswith(FIRMWARE)
    firmware = further.pop()[len(FIRMWARE) :] if has_firmware else ''
    serial = _column(further[0]) if further else None
    return Line(
        state,
        name,
        model=_column(model),
        findings=_coded(findings),
        serial=serial,
        firmware=_column(firmware),
    )


def _coded(text: str) -> str:
    """Return a text as Coded; the code is in brackets before the text."""
    code = re.match(_CODE, text)
    return Coded(code[1], text[code.end() :]) if code else text


def _column(column: str) -> str:
    return '' if column == NOT_TOLD else column
