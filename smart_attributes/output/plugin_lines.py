"""Write the lines of the plugin's text, which daemons pass on and fleet.services reads.

Columns are separated by two spaces. No column contains two spaces: `clean` and `sentence` leave only single ones.
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

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


class Line(NamedTuple):
    """The fields of a drive's line; '' for a field that the drive does not report."""

    state: State
    name: str
    model: str
    findings: str                # Coded if it is the reason why the drive was not read
    serial: str | None = ''   # None: hidden
    firmware: str = ''           # also '' in lines of builds of 2.0 that did not yet print it


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
