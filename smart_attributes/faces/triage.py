"""Verdicts -> a table or JSON: which of these drives do I replace first?"""
from __future__ import annotations

from typing import Iterable, List, Optional, Sequence

from ..model import State, Verdict
from ..words import amount, clean, findings, sentence

COLUMNS = (('used', 'endurance_used'), ('spare', 'spare_available'), ('temp', 'temperature'), ('age', 'power_on_time'))
COLOURS = {State.OK: 'green', State.WARNING: 'yellow', State.CRITICAL: 'bold red', State.UNKNOWN: 'magenta'}
WIDTH_WITHOUT_TERMINAL = 160
YEAR = 365.25 * 24 * 3600


def worst_first(verdicts: Iterable[Verdict]) -> List[Verdict]:
    """Order by urgency, then by endurance used, then by name."""
    return sorted(verdicts, key=lambda verdict: (-verdict.state.urgency, -(_number(verdict, 'endurance_used') or 0),
                                                 verdict.device.name))


def _number(verdict: Verdict, role: str) -> Optional[float]:
    return next((j.reading.number for j in verdict.judgements if j.reading.role == role and j.reading.judged), None)


def print_table(verdicts: Sequence[Verdict], failures: Sequence[str], hide_serial: bool, faults: Sequence[str] = ()) -> None:
    """Print the table, worst drive first; rich is imported here, by the only job that draws."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDTH_WITHOUT_TERMINAL)
    table = Table(box=None, pad_edge=False, header_style='bold')
    for title in ('state', 'drive', 'model', *(title for title, _ in COLUMNS), *(() if hide_serial else ('serial',)), 'what'):
        table.add_column(title, overflow='fold')
    for verdict in worst_first(verdicts):
        # Text, never markup: a drive may call itself "[red]".
        table.add_row(Text(verdict.state.name, COLOURS[verdict.state]), *(Text(cell) for cell in _cells(verdict, hide_serial)))
    for failure in failures:
        console.print(Text(failure, COLOURS[State.CRITICAL]))
    for fault in faults:
        console.print(Text(sentence(fault, 500), COLOURS[State.UNKNOWN]))
    console.print(table)


def _cells(verdict: Verdict, hide_serial: bool) -> List[str]:
    identity = verdict.identity
    numbers = [_cell(role, _number(verdict, role)) for _, role in COLUMNS]
    serial = [] if hide_serial else [clean(identity.serial, limit=40) or '-']
    return [verdict.device.name, clean(identity.model, limit=60) or '-', *numbers, *serial, findings(verdict)]


def _cell(role: str, number: Optional[float]) -> str:
    if number is None:
        return '-'
    if role == 'power_on_time':
        return f'{number / YEAR:.1f} y'
    return amount(number, 'C' if role == 'temperature' else '%')
