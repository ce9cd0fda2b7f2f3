"""One drive for a person: what was read, which entry, which limit, and why."""
from __future__ import annotations

import time
from typing import Any, Iterator, List, Mapping, Optional, Sequence, Tuple

from ..knowledge.drive_database import SpecDatabase
from ..knowledge.thresholds import Thresholds, when_quiet
from ..model import Judgement, Place, Report, State, Verdict
from ..words import clean, coded, findings, kind, quantity, sentence, visible
from . import terminal_width
from .forecast_dates import lasting

WIDTH_WITHOUT_TERMINAL = 140


def print_drive(verdict: Verdict, report: Optional[Report], database: SpecDatabase, thresholds: Thresholds,
                hide_serial: bool) -> None:
    """Print everything that led to a verdict; rich is imported here."""
    from rich.table import Table
    from rich.text import Text

    console = terminal_width.console(WIDTH_WITHOUT_TERMINAL)
    for line in head(verdict, hide_serial):
        console.print(Text(visible(line)))
    if report is None:
        return
    for title, columns, rows in (('readings', ('state', 'metric', 'value', 'source', 'limit'), _reading_rows(verdict)),
                                 ('limits', ('metric', 'set by', 'why'), _limit_rows(verdict, thresholds)),
                                 ('attributes that say nothing here', ('id', 'name', 'value', 'raw'),
                                  _unused_rows(verdict, report, database))):
        table = Table(*columns, box=None, pad_edge=False, header_style='bold')
        for row in rows:
            table.add_row(*(Text(sentence(cell, 300)) for cell in row))
        if table.row_count:
            console.print(Text(f'\n{title}', 'bold'))
            console.print(table)
    for note in verdict.notes:
        console.print(Text(f'note: {sentence(note, 500)}'))


def print_faults(faults: Sequence[str]) -> None:
    """Print what is wrong with the run as a whole, before the drives that are judged all the same."""
    for fault in faults:
        print(f'{State.UNKNOWN.name}: {sentence(coded(fault), 500)}')


def head(verdict: Verdict, hide_serial: bool) -> List[str]:
    """Return the lines that say which drive this is and what became of it."""
    identity, device = verdict.identity, verdict.device
    through = f', type {device.type}' if device.type else ''
    lines = [f'{verdict.state.name}: {coded(findings(verdict))}', '',
             f'device    {device.path}{through}, called {device.name}',
             f'model     {clean(identity.model) or "-"}, firmware {clean(identity.firmware) or "-"}, kind '
             f'{kind(verdict) or "-"}']
    if not hide_serial:
        lines.append(f'serial    {clean(identity.serial) or "-"}, WWN {clean(identity.wwn) or "-"}')
    lines.append(f'entry     {verdict.entry or "none: only what holds for every drive is read"}')
    return [*lines, *_place(verdict.place),
            *(f'lasts     {lasting(metric, each, time.time())}' for metric, each in verdict.forecasts.items())]


def _place(place: Place) -> Iterator[str]:
    """Yield where the drive is and what stands on it, where that is known."""
    if place.bay:
        yield f'bay       {clean(place.bay)}'
    if place.light:
        yield f'light     echo 1 > {sentence(place.light, 300)} switches it on, echo 0 off'
    for text in place.carries:
        yield f'carries   {sentence(text, 300)}'


def _reading_rows(verdict: Verdict) -> Iterator[Tuple[str, ...]]:
    for judgement in verdict.judgements:
        reading = judgement.reading
        value = reading.verdict if reading.state is not None else quantity(reading)
        why_not = '' if reading.judged else f'not judged{": " + reading.unknown if reading.unknown else ""}'
        yield (judgement.state.name if reading.judged else '-', reading.metric, value, str(reading.source),
               why_not or _limits(judgement))


def _limits(judgement: Judgement) -> str:
    words = [f'{name} {text}' for name, text in (('warning', judgement.warning), ('critical', judgement.critical))
             if text]
    return ', '.join(words) or 'none'


def _limit_rows(verdict: Verdict, thresholds: Thresholds) -> Iterator[Tuple[str, ...]]:
    for judgement in verdict.judgements:
        if judgement.reading.judged:
            limit = thresholds.limit(judgement.reading.metric, verdict.device, verdict.identity, verdict.entry or '')
            origins = sorted({origin for origin in (limit.warning_origin, limit.critical_origin) if origin})
            if limit.why:
                yield judgement.reading.metric, ', '.join(origins) or 'default.json', limit.why
            if limit.aged is not None and when_quiet(limit, judgement.reading.quiet) is not limit:
                yield judgement.reading.metric, f'{limit.aged.origin}, aged', limit.aged.why
            for rule in limit.growth:
                yield judgement.reading.metric, limit.growth_origin, _growth(rule)


def _growth(rule: Mapping[str, Any]) -> str:
    """Return "growth within 24h: warning above 0, told for 7d: Each one is ..."."""
    limits = ', '.join(f'{name} above {rule[name]}' for name in ('warning', 'critical')
                       if rule.get(name) is not None) or 'no limit'
    why = f': {rule["why"]}' if 'why' in rule else ''
    return f'growth within {rule["within"]}: {limits}, told for {rule["for"]}{why}'


def _unused_rows(verdict: Verdict, report: Report, database: SpecDatabase) -> Iterator[Tuple[str, ...]]:
    spec = database.identify(report.identity, [row.id for row in report.attributes])
    used = {item.attribute for item in spec.readings}
    for row in report.attributes:
        if row.id not in used:
            yield str(row.id), spec.names.get(row.id, row.name), '-' if row.value is None else str(row.value), row.raw


