"""Write and read the lines of the plugin's text, which daemons pass on and the fleet report reads.

Columns are separated by two spaces. No column contains two spaces: `clean` and `sentence` leave only single ones.
"""
from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from ..errors import Coded
from ..model import State, Verdict
from ..typed import NamedTuple
from ..wording import plural
from ..words import clean, coded, sentence
from .statements import findings

NAME = 'SMART'
GAP = '  '
WIDTH = max(len(state.name) for state in State)
NOT_TOLD = '-'
ACKNOWLEDGED = 'acknowledged'
CHECK = '(check)'      # replaces the drive name in lines about the check as a whole
NOTE = 'note: '
LEFT_OUT = '... '
FIRMWARE = 'firmware '
_STATES = {f'{state.name:<{WIDTH}}{GAP}': state for state in State}
_START = WIDTH + len(GAP)
_FEWEST = 3            # columns after the state: name, model, findings
_CODE = r'\[([a-z0-9.-]+)\] '
_COUNTED = r'(?:^|; )([0-9]{1,6}) drives?: (?:[0-9]+ [a-z]+(?:, )?)+$'


class Line(NamedTuple):
    """The fields of a drive's line; '' for a field that the drive does not report."""

    state: State
    name: str
    model: str
    findings: str                # Coded if it is the reason why the drive was not read
    serial: str | None = ''   # None: hidden
    firmware: str = ''           # also '' in lines of builds of 2.0 that did not yet print it


class PluginText(NamedTuple):
    """The content of the plugin's text, even if the text was truncated in transit."""

    state: State
    headline: str                # the first line after its state; Coded if it has a code
    counted: int                 # number of drives according to the first line; 0 if it gives none
    lines: tuple[Line, ...]
    checks: tuple[tuple[State, str], ...]  # about the check as a whole
    notes: tuple[str, ...]
    left_out: tuple[str, ...]    # items that the plugin reports as omitted


def line(verdict: Verdict, hide_serial: bool) -> Line:
    """Return the fields of a drive's line."""
    identity = verdict.identity
    return Line(verdict.state, verdict.device.name, clean(identity.model, limit=60), with_clause(verdict),
                None if hide_serial else clean(identity.serial, limit=40), clean(identity.firmware, limit=20))


def with_clause(verdict: Verdict) -> str:
    """Return the findings of a drive and, if it alerts, whether the groups on it allow to replace it now."""
    told, more = findings(verdict), clause(verdict)
    joined = '; '.join(part for part in (told, more) if part)
    return Coded(told.code, joined) if isinstance(told, Coded) else joined


def clause(verdict: Verdict) -> str:
    """Return whether the groups on a drive that alerts allow to replace it now, with the code; '' if not known."""
    if verdict.state is State.OK or not verdict.replacement:
        return ''
    return coded(Coded(verdict.replacement.why.code, sentence(verdict.replacement.why, 400)))


def written(told: Line) -> str:
    """Return the text of a drive's line, ending with "firmware" and its version if the drive answered."""
    columns = [_padded(told.state), told.name, told.model or NOT_TOLD, coded(told.findings)]
    if told.serial is not None:
        columns.append(told.serial or NOT_TOLD)
    if told.model or told.serial or told.firmware:
        columns.append(FIRMWARE + (told.firmware or NOT_TOLD))
    return GAP.join(columns)


def first(state: State, words: str) -> str:
    """Return the first line."""
    return f'{NAME} {state.name} - {words}'


def check_line(state: State, words: str) -> str:
    """Return a line about the check as a whole."""
    return GAP.join((_padded(state), CHECK, words))


def count(verdicts: Sequence[Verdict]) -> str:
    """Return the end of the first line, such as "4 drives: 1 critical, 1 ok, 2 acknowledged".

    Drives that are OK only because of an acknowledgement are counted separately.
    """
    of_each = Counter(map(_counted_as, verdicts))
    words = [state.name.lower() for state in sorted(State, key=lambda state: -state.urgency)]
    parts = [f'{of_each[word]} {word}' for word in (*words, ACKNOWLEDGED) if of_each[word]]
    return f'{plural(len(verdicts), "drive")}: {", ".join(parts)}' if parts else 'no drives'


def _counted_as(verdict: Verdict) -> str:
    is_accepted = verdict.state is State.OK and any(each.acknowledged for each in verdict.judgements)
    return ACKNOWLEDGED if is_accepted else verdict.state.name.lower()


def _padded(state: State) -> str:
    return f'{state.name:<{WIDTH}}'


# --- read back ---------------------------------------------------------------------

def read(text: str) -> PluginText | None:
    """Return the content of the plugin's text without its perfdata, or None if this plugin did not print it."""
    head, *rest = text.splitlines() or ['']
    word, sign, headline = head.partition(' - ')
    state = next((state for state in State if sign and word == f'{NAME} {state.name}'), None)
    if state is None:
        return None
    counted = re.search(_COUNTED, headline)
    checks, drives = _parted(rest)
    return PluginText(state, _coded(headline), int(counted[1]) if counted else 0, tuple(drives), tuple(checks),
                      tuple(each[len(NOTE):] for each in rest if each.startswith(NOTE)),
                      tuple(each[len(LEFT_OUT):] for each in rest if each.startswith(LEFT_OUT)))


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
            drives.append(_line(state, columns))
    return checks, drives


def _line(state: State, columns: list[str]) -> Line:
    """Return the fields of a drive's line; the firmware is missing in lines of older builds and truncated lines."""
    name, model, told, *more = columns
    firmware = more.pop()[len(FIRMWARE):] if more and more[-1].startswith(FIRMWARE) else ''
    return Line(state, name, _told(model), _coded(told), _told(more[0]) if more else None, _told(firmware))


def _coded(text: str) -> str:
    """Return a text as Coded, with the code that precedes it in brackets."""
    code = re.match(_CODE, text)
    return Coded(code[1], text[code.end():]) if code else text


def _told(column: str) -> str:
    return '' if column == NOT_TOLD else column
