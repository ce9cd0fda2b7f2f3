"""The lines of a local check for Checkmk: one service for the check as a whole, and one for each drive. Pure.

Source: Checkmk documentation, "Local checks", and cmk/plugins/collection/agent_based/local.py of Checkmk 2.4: the four
parts of a line are separated by one blank, the name is in quotation marks, "|" separates metrics, and a backslash
followed by n begins a new line of details.
"""
from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..knowledge import severity
from ..model import State, Verdict
from ..wording import plain
from ..words import clean, coded, sentence
from . import perfdata, plugin
from .plugin import Face, Whole

NAME = plugin.NAME  # service of the whole check, and the first word of each drive's service
NO_METRICS = '-'
LINE = 2000            # characters of each line of text
# Checkmk defines this metric itself, in degrees Celsius. Other names get a prefix, because Checkmk could define them
# with another unit. Source: Checkmk documentation, "Local checks", section "Names and units used by metrics".
SHARED = ('temperature',)
_NEW_LINE = '\\n'


def render(verdicts: Iterable[Verdict], face: Face, whole: Whole) -> str:
    """Return the output of a check as lines of a local check.

    The first line has the plugin's state, so that a drive without a Checkmk service is not overlooked. No
    limits are printed: Checkmk ignores them on lines with a fixed state.
    """
    ordered = sorted(verdicts, key=severity.of_verdict)
    state, reason, milder = plugin.state_and_reasons(ordered, whole)
    first = plugin.first_line(ordered, reason, whole.nobody[1], milder=milder)
    text = plugin.lines(ordered, face, whole)
    lines = [_line(state, NAME, NO_METRICS, [first, *text.checks, *text.notes])]
    return ''.join(f'{line}\n' for line in (*lines, *(_drive(verdict, face) for verdict in ordered)))


def _drive(verdict: Verdict, face: Face) -> str:
    """Return the line of a drive: its findings and, in the details, its identity."""
    told = plugin.line(verdict, face.hide_serial)
    fields = (('model', told.model), ('serial', told.serial), ('firmware', told.firmware),
              ('device', clean(verdict.device.address)))
    identity = ', '.join(f'{name} {value}' for name, value in fields if value)
    return _line(verdict.state, f'{NAME} {told.name}', _metrics(verdict, face.all_perfdata),
                 [coded(told.findings), identity, *plugin.drive_lines(verdict, face)[1:]])


def _metrics(verdict: Verdict, is_all: bool) -> str:
    """Return the numbers of a drive in base units, such as "smart_endurance_used=9|temperature=30"."""
    values = sorted(f'{_metric(each.reading.metric)}={plain(each.reading.number or 0)}' for each in verdict.judgements
                    if perfdata.is_graphed(each, is_all))
    return '|'.join(values) or NO_METRICS


def _metric(name: str) -> str:
    return name if name in SHARED or name.startswith('smart_') else f'smart_{name}'


def _line(state: State, name: str, metrics: str, text: Sequence[str]) -> str:
    # A backslash, for example in a path, could begin a new line. Checkmk refuses an empty first line.
    lines: list[str] = [sentence(each.replace('\\', '/'), LINE) or plugin.NOT_TOLD for each in text]
    return f'{int(state)} "{name}" {metrics} {_NEW_LINE.join(lines)}'
