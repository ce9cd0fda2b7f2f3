"""The replacement plan of a fleet as CSV: the models to order by each quarter."""
from __future__ import annotations

import csv
import io

from .summary import Summary, planned

COLUMNS = ('quarter', 'model', 'drives', 'hosts')
FORMULA = '=+-@\t\r'   # first characters of a formula in a spreadsheet


def as_csv(summary: Summary) -> str:
    """Return the plan as CSV; a model name is always text in a spreadsheet, never a formula."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator='\n')
    writer.writerow(COLUMNS)
    for quarter, model, group in planned(summary):
        writer.writerow((quarter, _as_text(model), group.drives, group.hosts))
    return text.getvalue()


def _as_text(model: str) -> str:
    """Return a cell that spreadsheets do not evaluate as a formula, even those that ignore leading spaces."""
    return f"'{model}" if model.strip()[:1] in tuple(FORMULA) else model
