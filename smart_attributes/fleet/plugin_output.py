"""Read the plugin's text and perfdata: its drives as rows in the format of `triage --json`.

Only columns, codes and perfdata are read; findings stay the text that the plugin printed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from ..errors import Coded
from ..knowledge import severity
from ..knowledge.drive_database import Metric, Metrics
from ..model import State
from ..output.codes import BY_NAME
from ..output.perfdata import UNITS
from ..output.plugin import CHECK, FIRMWARE, GAP, NAME, NOT_TOLD, WIDTH, Line
from ..redundancy.replacement import OF_CODE, STRICTEST
from ..typed import Json
from ..work import actions
from ..work.dates import day
from ..work.work_list import due
from .drives import ENDURANCE, FleetDrive, Origin, fleet_drive, next_step

# Words for the numbers that perfdata has for a status.
WORDS: Mapping[float, str] = {1: 'good', 0.5: 'warning', 0: 'bad'}
_HEADS = {f'{NAME} {state.name}': state for state in State}
_STATES = {f'{state.name:<{WIDTH}}{GAP}': state for state in State}
_START = WIDTH + len(GAP)
# "24 drives: 1 critical, 23 ok", or in a long line "24 drives, 1 not ok"
_COUNTED = (
    r'(?:^|; )([0-9]{1,6}) drives?(?:: (?:[0-9]+ [a-z]+(?:, )?)+|, [0-9]+ not ok)$'
)
_CLAUSE = re.compile(rf'; \[({"|".join(OF_CODE)})\] ')
# The words of an action can contain a semicolon, but no code.
_CODED = rf'\[({"|".join(actions.CODES)})\] ((?:(?!; (?:also )?\[).)*)'
_ALSO = re.compile(rf'; also {_CODED}')
_ACTION = re.compile(rf'; {_CODED}((?:{_ALSO.pattern})*)\Z')
# A value is a label, a number with a unit, and limits: "'sda_endurance_used'=9%;85;95;0;".
_LABEL = r"[^'=\n]{1,200}"
# Drives report shorter numbers, and int() refuses 5,000 digits.
_NUMBER = r'-?[0-9]{1,30}(?:\.[0-9]{1,30})?'
_LIMITS = r'[\w.:;@~-]{0,200}'
_VALUE = re.compile(
    rf"^'?({_LABEL})'?=({_NUMBER})[{UNITS}]?;({_LIMITS})$", re.MULTILINE | re.ASCII
)

# A metric or a label, its number, and its limits "warning;critical;minimum;maximum". A plain tuple,
# because a fleet has millions of them.
Labelled = tuple[str, float, str]


class PluginText(NamedTuple):
    """The content of the plugin's text, even if the text was truncated in transit."""

    state: State
    headline: str  # the first line without the state; Coded if it has a code
    counted: int  # number of drives according to the first line; 0 if unknown
    lines: Sequence[Line]
    checks: Sequence[tuple[State, str]]  # about the check as a whole


def plugin_text(text: str) -> PluginText | None:
    """Return the content of the plugin's text, without perfdata; None if the text is not from
    this plugin.
    """
    first_line, *rest = text.splitlines() or ['']
    head, dash, headline = first_line.partition(' - ')
    if not dash or head not in _HEADS:
        return None
    counted = re.search(_COUNTED, headline)
    checks, drives = _parted(rest)
    return PluginText(
        state=_HEADS[head],
        headline=_coded(headline),
        counted=int(counted[1]) if counted else 0,
        lines=drives,
        checks=checks,
    )


def _parted(rows: Iterable[str]) -> tuple[list[tuple[State, str]], list[Line]]:
    """Return the lines about the check and the lines about drives, separately; other lines are left
    out.
    """
    checks = []
    drives = []
    for row in rows:
        state = _STATES.get(row[:_START])
        if state is None:
            continue
        columns = row[_START:].split(GAP)
        if columns[0] == CHECK:
            checks.append((state, _coded(GAP.join(columns[1:]))))
        elif len(columns) >= 3:  # name, model, findings
            drives.append(_drive_line(state, columns))
    return checks, drives


def _drive_line(state: State, columns: list[str]) -> Line:
    """Return the fields of a drive's line; the last ones are missing in truncated lines."""
    name, model, findings, *further = columns
    firmware = ''
    if further and further[-1].startswith(FIRMWARE):
        firmware = further.pop().removeprefix(FIRMWARE)
    return Line(
        state,
        name,
        model=_column(model),
        findings=_coded(findings),
        serial=_column(further[0]) if further else None,
        firmware=_column(firmware),
    )


def _coded(text: str) -> str:
    """Return a text as Coded; the code is in brackets before the text."""
    code = re.match(r'\[([a-z0-9.-]+)\] ', text)
    return Coded(code[1], text[code.end() :]) if code else text


def _column(column: str) -> str:
    """Return the text of a column; '' for the dash that stands for an unknown value."""
    return '' if column == NOT_TOLD else column


# --- drives ------------------------------------------------------------------------------


def drives(
    lines: Sequence[Line],
    texts: Iterable[str],
    checked: float,
    origin: Origin,
    metrics: Metrics,
) -> list[FleetDrive]:
    """Return the drives of one check. texts: the perfdata. checked: seconds since 1970."""
    by_drive: dict[str, list[Labelled]] = {line.name: [] for line in lines}
    for label, number, limits in read_values(texts):
        name, metric = _owner(label, by_drive, metrics)
        if metric:
            by_drive[name].append((metric, number, limits))
    of_lines = []
    for line in lines:
        values = by_drive[line.name]
        numbers = {metric: number for metric, number, _ in values}
        of_lines.append(
            fleet_drive(
                as_row(line, numbers.get('endurance_time_left'), checked),
                readings=partial(_readings, values, line.state, metrics),
                numbers=numbers.items(),
                origin=origin,
                metrics=metrics,
            )
        )
    return of_lines


def as_row(line: Line, left: float | None, checked: float) -> Json:
    """Return a line as a row. left: seconds until wear-out; None if unknown. checked: seconds since
    1970.
    """
    code = getattr(line.findings, 'code', '')
    row = {
        'name': line.name,
        'model': line.model or None,
        'serial': line.serial or None,
        'firmware': line.firmware or None,
        'state': line.state.name,
        # why the drive could not be read; '' if it was
        'code': code,
    }
    forecasts = []
    if left is not None:
        forecasts = [left]
        row['forecasts'] = {ENDURANCE: {'left': left}}
    if line.state is State.OK:
        return {**row, **_of_ok(forecasts, checked)}
    action = _ACTION.search(line.findings)
    if action:
        findings = line.findings[: action.start()]
        return {**row, **_reason(findings), **_stated(action, forecasts, checked)}
    row.update(_reason(line.findings))
    was_read = not code and line.state is not State.UNKNOWN
    if was_read:
        # the line of a drive that was read ends with an action, so it was cut off
        cut = BY_NAME['output-cut']
        row.update(code=cut.name, to_do=next_step(cut))
    return row


def _reason(findings: str) -> Json:
    """Return all findings as "why" and, if one of them is a clause about groups, this clause also
    as "replacement".

    findings: without the action, such as "pending is 16; [replace-next] its mirror is complete;
    [slot-unknown] drive ID 4". They become

        "why": "pending is 16; its mirror is complete"
        "replacement": {"label": "next", "code": "replace-next", "text": "its mirror is complete"}
    """
    without_slot = re.sub(r'; \[slot-unknown\] [^;]*\Z', '', findings)
    clauses = list(_CLAUSE.finditer(without_slot))
    if not clauses:
        return {'why': without_slot}
    # The true clause is the last finding, but text from a drive or a mount point before it can
    # imitate one. The strictest of them counts, so that an imitation cannot make the label milder.
    strictest = min(clauses, key=lambda clause: STRICTEST.index(_label(clause[1])))
    code = strictest[1]
    # If an imitation is the strictest, this text is its words and the true clause after them.
    words = without_slot[strictest.end() :]
    return {
        'why': _CLAUSE.sub('; ', without_slot),
        'replacement': {'label': _label(code), 'code': code, 'text': words},
    }


def _label(code: str) -> str:
    return OF_CODE[code][0]


def _of_ok(left: Sequence[float], checked: float) -> Json:
    """Return the fields of a drive that is OK about the order of its replacement:

    - to order on the day of the check, or overdue: {"action": "order", "to_do": "order a
      replacement now", "order_by": "2027-01-15"}
    - to order later, so that it needs no action now: {"order_by": "2027-03-04"}
    - no date is known: {"order_by": None}
    """
    order = due(actions.ORDER, left, checked)
    # due() returns this day for an overdue order, too.
    is_due_now = order.order_by == day(checked)
    if is_due_now:
        return {'action': actions.ORDER, **order._asdict()}
    return {'order_by': order.order_by}


def _stated(action: re.Match[str], left: Sequence[float], checked: float) -> Json:
    """Return the actions at the end of a line, and the first date by which to order: None if there
    is none.

    action: a match of _ACTION. left: seconds until wear-out, if there is a forecast.
    """
    code = action[1]
    words = action[2]
    further = _ALSO.findall(action[3])
    steps = [(code, words)]
    if code not in actions.REPLACING:  # a new drive needs no further order
        steps += further
    # An action without a date has None.
    dates = [_order_by(step, to_do, left, checked) for step, to_do in steps]
    return {
        'action': code,
        'to_do': words,
        'also': [{'action': step, 'to_do': to_do} for step, to_do in further],
        'order_by': min(filter(None, dates), default=None),
    }


def _order_by(
    code: str, words: str, left: Sequence[float], checked: float
) -> str | None:
    """Return the date in the words of an action; without one, a calculated date; None if no order
    is needed or no forecast is known.
    """
    if code == actions.ORDER:
        dated = re.search(r' by ([0-9]{4,}-[0-9]{2}-[0-9]{2}) \(', words)
        if dated:
            return dated[1]
        if words.endswith(' now'):
            return day(checked)
    return due(code, left, checked).order_by


# --- perfdata --------------------------------------------------------------------------


def read_values(texts: Iterable[str]) -> list[Labelled]:
    """Return the values in texts such as "'sda_temperature'=22;60;70;;".

    A text without fields for limits is truncated and is skipped: our values always have these
    fields. Also skipped are invalid numbers, and numbers and labels that are too long.
    """
    return [
        (label, float(number) if '.' in number else int(number), limits)
        for label, number, limits in _VALUE.findall('\n'.join(texts))
    ]


def _owner(
    label: str, names: Mapping[str, object], metrics: Metrics
) -> tuple[str, str]:
    """Return the drive name and the metric in a label, the longest metric that fits; ('', '') for
    labels that are not ours.

    names: of the drives, which can contain the name of another drive and a metric.
    """
    words = label.split('_')
    for place in range(1, len(words)):
        name = '_'.join(words[:place])
        metric = '_'.join(words[place:])
        if metric in metrics and name in names:
            return name, metric
    return '', ''


def _readings(values: Iterable[Labelled], state: State, metrics: Metrics) -> list[Json]:
    """Return the readings of a drive. state: of the drive."""
    return [_reading(value, state, metrics[value[0]]) for value in values]


def _reading(value: Labelled, drive_state: State, metric: Metric) -> Json:
    """Return a value as a reading: the state of a number is what its limits say, that of a bad
    status is that of the drive.
    """
    name, number, limits = value
    warning, critical = levels(limits)
    state = State.OK
    if severity.is_beyond(critical, number):
        state = State.CRITICAL
    elif severity.is_beyond(warning, number):
        state = State.WARNING
    if metric.is_verdict and number < 1:
        state = drive_state
    return {
        'metric': name,
        'value': WORDS.get(number, number) if metric.is_verdict else number,
        'unit': metric.unit,
        'source': 'perfdata',
        'judged': True,
        'state': state.name,
        'warning': warning or None,
        'critical': critical or None,
        'reason': None,
    }


def levels(limits: str) -> tuple[str, str]:
    """Return the ranges for WARNING and for CRITICAL, which are the first two fields of the limits
    of a value, such as "60;70;;"; '' for a missing one.
    """
    warning, _, further = limits.partition(';')
    return warning, further.partition(';')[0]
