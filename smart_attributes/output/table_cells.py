"""The cells of a drive's row in a terminal table, as plain text and bars. Pure: nothing here prints."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..constants import YEAR
from ..knowledge import severity
from ..model import Judgement, Lately, State, Verdict
from ..wording import amount
from ..words import clean, coded, sentence
from .advice import ORDER, advice, date, day
from .statements import finding, is_worth_showing, problem

BAR = 8                   # characters
BEGUN = 16                # fewest characters of a finding worth showing if the rest does not fit
MODEL, SERIAL, PLACE, WHAT = 40, 40, 60, 2000  # characters at most


class DriveRow(NamedTuple):
    """The row of one drive in a table; '' for an unknown value."""

    state: State
    drive: str
    bay: str
    model: str
    serial: str
    used: str                 # "86 %"
    filled: float | None   # filled fraction of the bar, 0 to 1
    wear: State               # sets the colour of the bar
    until: str                # "~2027-03"
    spare: str
    temp: str
    age: str
    written: str
    what: tuple[str, ...]     # findings, worst first
    host: str = ''            # of a fleet


def rows(verdicts: Iterable[Verdict], hide_serial: bool, now: float) -> list[DriveRow]:
    """Return the rows, worst drive first. now: seconds since 1970."""
    return [_row(verdict, hide_serial, now) for verdict in sorted(verdicts, key=severity.of_verdict)]


def _row(verdict: Verdict, hide_serial: bool, now: float) -> DriveRow:
    worn, identity = _judged(verdict, 'endurance_used'), verdict.identity
    used = worn.reading.number if worn else None
    return DriveRow(verdict.state, verdict.device.name, clean(verdict.place.bay, limit=PLACE),
                    clean(identity.model, limit=MODEL) or '-',
                    '' if hide_serial else clean(identity.serial, limit=SERIAL), _said(verdict, 'endurance_used', '%'),
                    None if used is None else max(0.0, min(used / 100, 1.0)), worn.state if worn else State.OK,
                    until(verdict, now),
                    _said(verdict, 'spare_available', '%'), _said(verdict, 'temperature', 'C'), _age(verdict),
                    _written(verdict), _what(verdict, now))


def _judged(verdict: Verdict, metric: str) -> Judgement | None:
    return next((j for j in verdict.judgements if j.reading.metric == metric and j.reading.judged
                 and j.reading.number is not None), None)


def _number(verdict: Verdict, metric: str) -> float | None:
    found = _judged(verdict, metric)
    return found.reading.number if found else None


def _said(verdict: Verdict, metric: str, unit: str) -> str:
    number = _number(verdict, metric)
    return '' if number is None else amount(number, unit)


def _age(verdict: Verdict) -> str:
    number = _number(verdict, 'power_on_time')
    return '' if number is None else f'{number / YEAR:.1f} y'


def _written(verdict: Verdict) -> str:
    """Return the amount written, as "398 TB of 700 TB" if the vendor specifies the endurance."""
    host, rated = (_said(verdict, metric, 'B') for metric in ('host_written', 'rated_written'))
    return f'{host} of {rated}' if host and rated else host


def _what(verdict: Verdict, now: float) -> tuple[str, ...]:
    """Return the findings, an unknown model and the order date of a drive; its other numbers have their own columns."""
    if verdict.problem:
        return (coded(problem(verdict, WHAT)),)
    told = advice(verdict, now)
    return (*(finding(judgement) for judgement in verdict.judgements
              if judgement.state is not State.OK or judgement.reading.metric == 'unknown_model'
              or is_worth_showing(judgement.reading)),
            *([told.due.to_do] if told.action == ORDER else []))


def until(verdict: Verdict, now: float) -> str:
    """Return the earliest predicted wear-out date of a drive, or '' without a forecast."""
    soonest = min(verdict.forecasts.values(), key=lambda forecast: forecast.left, default=None)
    return '' if soonest is None else date(soonest, now)


def lately_lines(lately: Lately) -> list[str]:
    """Return lines on recent increases and on drives added and removed, and on periods that are not known."""
    told = (*(f'{each.drive} {each.said}' for each in (*lately.grew, *lately.fell)), *lately.came, *lately.went)
    return [f'since {day(lately.since)}:', *(f'  {sentence(text, WHAT)}' for text in changed(told, lately.unknown))]


def changed(told: Iterable[str], unknown: str | None) -> list[str]:
    """Return messages about changes, or a single message that there were none or that they are unknown."""
    return [text for text in (*told, unknown) if text] or ['no increases, no drives added or removed']


def bar(filled: float, full: str, empty: str) -> str:
    """Return a bar of BAR characters. It is empty only for 0 and full only for 1."""
    count = round(filled * BAR)
    if 0 < filled < 1:
        count = max(1, min(count, BAR - 1))
    return full * count + empty * (BAR - count)


def fitting(what: Sequence[str], width: int) -> str:
    """Return as many findings as fit, the start of the next one if there is room, and the number of the others."""
    whole = '; '.join(what)
    if len(whole) <= width:
        return whole
    kept = next((count for count in range(len(what) - 1, 0, -1) if len(_counted(what, count)) <= width), 0)
    first, rest = ''.join(f'{each}; ' for each in what[:kept]), len(what) - kept - 1
    end = f'...; {rest} more' if rest else '...'
    begun = what[kept][:max(width - len(first) - len(end), 0)].rstrip()
    return _counted(what, kept) if kept and len(begun) < BEGUN else first + begun + end


def _counted(what: Sequence[str], kept: int) -> str:
    """Return the first *kept* findings, and the number of the others."""
    return f'{"; ".join(what[:kept])}; {len(what) - kept} more'
