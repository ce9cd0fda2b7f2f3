"""The plan for a fleet: what to replace, in which order, what to order by when, and which firmware to update. Pure."""
from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..output.advice import UPDATE, WATCH
from ..typed import Json
from .summary import NOW, Defect, Summary, planned

FORMULA = '=+-@\t\r'   # first characters of a formula in a spreadsheet
SHOWN = 50             # steps of each kind on the page
BUY = 'order'


class Step(NamedTuple):
    """A row of the plan; '' is unknown, or does not apply."""

    action: str
    by: str            # "now", "2027-Q1", "no forecast"
    host: str
    drive: str
    serial: str
    model: str
    firmware: str
    drives: int
    hosts: int         # 0: unknown
    why: str


def steps(summary: Summary, known: Sequence[Defect]) -> list[Step]:
    """Return the plan. known: firmware defects; an update is advised only to a version that exists."""
    return [*map(_replaced, summary.replace.drives(summary.groups.worst())),
            *(Step(BUY, by, '', '', '', model, '', group.drives, group.hosts, '')
              for by, model, group in planned(summary)),
            *(Step(UPDATE if each.is_fixed else WATCH, '', '', '', '', each.model, each.firmware, each.group.drives,
                   each.group.hosts, each.words) for each in known)]


def _replaced(facts: Json) -> Step:
    return Step(facts.get('to_do') or facts['action'], NOW, facts['host'], facts['name'], facts['serial'] or '',
                facts['model'] or '', facts['firmware'] or '', 1, 1, facts.get('why') or '')


def first(plan: Sequence[Step], most: int = SHOWN) -> list[Step]:
    """Return the first steps of each kind: drives to replace, models to order, firmware to update."""
    shown: Counter[str] = Counter()
    found = []
    for step in plan:
        kind = '' if step.drive else step.action
        shown[kind] += 1
        if shown[kind] <= most:
            found.append(step)
    return found


def as_csv(plan: Iterable[Step]) -> str:
    """Return the plan as CSV; text from other machines is always text in a spreadsheet, never a formula."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator='\n')
    writer.writerow(Step._fields)
    for step in plan:
        writer.writerow([_as_text(cell) if isinstance(cell, str) else cell or '' for cell in step])
    return text.getvalue()


def _as_text(model: str) -> str:
    """Return a cell that spreadsheets do not evaluate as a formula, even those that ignore leading spaces."""
    return f"'{model}" if model.strip()[:1] in tuple(FORMULA) else model
