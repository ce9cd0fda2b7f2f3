"""Verdicts -> a table or JSON: which of these drives do I replace first?"""
from __future__ import annotations

import json
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple

from ..model import Judgement, State, Verdict, worst
from ..words import amount, clean, findings, kind, sentence

JSON_VERSION = 1
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


def as_json(verdicts: Sequence[Verdict], failures: Sequence[str], hide_serial: bool, faults: Sequence[str] = ()) -> str:
    """Return the verdicts as JSON, version 1; an unknown value is null."""
    state = worst([*(verdict.state for verdict in verdicts), *([State.CRITICAL] if failures else []),
                   *([] if verdicts and not faults else [State.UNKNOWN])])
    data: Dict[str, Any] = {'version': JSON_VERSION, 'state': state.name, 'drives': [_drive(v, hide_serial) for v in worst_first(verdicts)]}
    if failures or faults:
        data['notes'] = [*failures, *(sentence(fault, 500) for fault in faults)]
    return json.dumps(data, indent=1)


def _drive(verdict: Verdict, hide_serial: bool) -> Dict[str, Any]:
    device, identity = verdict.device, verdict.identity
    return {'device': device.path, 'type': device.type or None, 'model': clean(identity.model) or None,
            'serial': None if hide_serial else clean(identity.serial) or None, 'firmware': clean(identity.firmware) or None,
            'kind': kind(identity) or None, 'entry': verdict.entry, 'state': verdict.state.name,
            'readings': [_reading(judgement) for judgement in verdict.judgements],
            'notes': [sentence(note, 500) for note in (verdict.problem, *verdict.notes) if note]}


def _reading(judgement: Judgement) -> Dict[str, Any]:
    reading = judgement.reading
    value, unit = _value(judgement)
    return {'role': reading.role, 'value': value, 'unit': unit, 'source': str(reading.source), 'judged': reading.judged,
            'state': judgement.state.name, 'warning': judgement.warning or None, 'critical': judgement.critical or None}


def _value(judgement: Judgement) -> Tuple[Any, str]:
    """Return a verdict's word or a number, whole where it is whole."""
    reading = judgement.reading
    if reading.number is None:
        return None, reading.unit
    if reading.state is not None:
        return clean(reading.verdict, limit=500), ''
    return int(reading.number) if reading.number == int(reading.number) else reading.number, reading.unit
