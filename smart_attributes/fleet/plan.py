"""The plan of a fleet as CSV: which models to order by which quarter."""
from __future__ import annotations

import csv
import io

from .summary import Summary, planned

COLUMNS = ('quarter', 'model', 'drives', 'hosts')
FORMULA = '=+-@\t\r'   # what a spreadsheet would calculate


def as_csv(summary: Summary) -> str:
    """Return the plan; what a drive calls itself stays a text in every spreadsheet."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator='\n')
    writer.writerow(COLUMNS)
    for quarter, model, group in planned(summary):
        writer.writerow((quarter, _as_text(model), group.drives, group.hosts))
    return text.getvalue()


def _as_text(model: str) -> str:
    """Return a cell that no spreadsheet calculates, also one that leaves out blanks at its start."""
    return f"'{model}" if model.strip()[:1] in tuple(FORMULA) else model
