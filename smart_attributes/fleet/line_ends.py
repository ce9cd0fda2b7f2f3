"""Parse the end of a line about a drive: whether its groups allow replacing the drive now, and
the action.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ..errors import Coded
from ..model import State
from ..output.plugin import Line
from ..redundancy.replacement import OF_CODE, STRICTEST
from ..typed import Json
from ..words import visible
from ..work import actions
from ..work.dates import day
from ..work.work_list import Due, due, in_its_groups

_CLAUSE = re.compile(rf'; \[({"|".join(OF_CODE)})\] ')
_ACTION = re.compile(rf'; \[({"|".join(actions.CODES)})\] ([^;]*)\Z')
_DATED = re.compile(r' by ([0-9]{4,}-[0-9]{2}-[0-9]{2}) \(')


class Clause(NamedTuple):
    """The end of a drive's line: whether the groups on the drive allow its replacement now."""

    label: str  # as in the document: "next", "copy first", "last good copy" or "wait"
    code: str  # a name in codes.REDUNDANCY
    text: str


class ToDo(NamedTuple):
    """The action at the end of a drive's line."""

    code: str  # in work/actions.py
    words: str


def split(line: Line) -> tuple[Line, Clause | None, ToDo | None]:
    """Return three values: the line without its final clause and action, the clause, and the
    action.

    If text from a drive or a mount point imitates a clause, the strictest clause counts.
    """
    if line.state is State.OK:
        return line, None, None
    code, told = getattr(line.findings, 'code', ''), _ACTION.search(line.findings)
    text = line.findings[: told.start()] if told else line.findings
    found = list(_CLAUSE.finditer(text))
    rest = text[: found[0].start()] if found else text
    one = min(found, key=lambda each: STRICTEST.index(OF_CODE[each[1]][0]), default=None)
    return (
        line._replace(findings=Coded(code, rest) if code else rest),
        one and Clause(OF_CODE[one[1]][0], one[1], shown(text[one.end() :])),
        told and ToDo(told[1], shown(told[2])),
    )


def stated(told: ToDo, left: Sequence[float], now: float, elapsed: float) -> Json:
    """Return the action of a line, with the date in the line or, without one, a calculated date.

    left: as in work_list.due(). now: seconds since 1970. elapsed: age of the line in seconds.
    """
    dated = _DATED.search(told.words) if told.code == actions.ORDER else None
    is_now = told.code == actions.ORDER and ' now' in told.words
    by = dated[1] if dated else day(now - elapsed) if is_now else None
    return {
        'action': told.code,
        **Due(told.words, by or due(told.code, left, now).order_by)._asdict(),
    }


def of_groups(facts: Json, clause: Clause) -> Json:
    """Return the facts about a drive that depend on its groups."""
    return {
        'action': in_its_groups(facts['action'], clause.label, clause.code),
        'why': f'{facts["why"]}; {clause.text}',
        'replacement': clause._asdict(),
    }


def shown(text: str) -> str:
    """Return a string from another host, made safe to display."""
    return text if text.isprintable() else visible(text)
