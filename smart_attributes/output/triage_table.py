"""The table of `triage`, with the drives to replace first at the top.

Rows have two forms: one line per drive or, on a narrow terminal, a line of numbers and, below it,
the findings. A pipe has no width and gets one line per drive, for grep and less -S, unless COLUMNS is
set to a width. A pipe never gets bars.
"""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from ..constants import YEAR
from ..knowledge import severity
from ..model import Case, Item, Judgement, State, Verdict
from ..typed import TYPE_CHECKING, NamedTuple
from ..wording import amount, listed
from ..words import clean, coded, sentence, visible
from ..work import actions
from ..work.dates import date
from ..work.statements import also, finding, is_worth_showing, problem

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

# These colors have a contrast of 4.46 or more with black and with white. Yellow on white has only
# 1.1.
BARS = {
    State.OK: 'color(28)',
    State.WARNING: 'color(130)',
    State.CRITICAL: 'color(131)',
    State.UNKNOWN: 'color(98)',
}
COLOURS = {**BARS, State.CRITICAL: f'bold {BARS[State.CRITICAL]}'}
NAMES = ('host', 'drive', 'bay', 'model', 'serial')
NUMBERS = ('used', 'until', 'spare', 'temp', 'age', 'written')
TITLES = {'until': 'worn out'}  # of columns that are not called as their field
RIGHT = ('spare', 'temp', 'age')
SPARED = (
    'written',
    'spare',
    'bay',
    'age',
    'temp',
    'until',
    'used',
)  # omitted on a narrow terminal, in this order
GAP = 2  # columns between two cells
ROOM = 36  # minimum width of findings in columns, with one line per drive
INDENT = 10  # columns, for lines below the first line
NO_BARS = '', ''
NARROWEST = 40  # columns; on a narrower terminal, states would be truncated
WIDEST = 10_000  # columns that rich can fill in reasonable time
_SIZE = 80, 24  # assumed if a terminal does not report its size
BAR = 8  # characters
NAMED = 12  # maximum number of drives named in one row of the work list
MODEL, SERIAL, PLACE, WHAT = 40, 40, 60, 2000  # characters at most


class DriveRow(NamedTuple):
    """The row of one drive in a table; '' represents an unknown value."""

    state: State
    drive: str
    bay: str
    model: str
    serial: str
    used: str  # "86 %"
    filled: float | None  # filled fraction of the bar, 0 to 1
    wear: State  # sets the colour of the bar
    until: str  # "~2027-03"
    spare: str
    temp: str
    age: str
    written: str
    what: tuple[str, ...]  # findings, worst first
    host: str = ''  # host of a drive in a fleet


def console(pipe_width: int) -> Console:
    """Return rich's console for standard output.

    pipe_width: columns to use if standard output is not a terminal and COLUMNS is not set to a
    width. rich ignores COLUMNS in a pipe and raises ValueError for values such as "²", so both
    width and height are set here. shutil ignores values that are not positive numbers.
    """
    from rich.console import Console

    usual = _SIZE[0] if Console(width=_SIZE[0], height=_SIZE[1]).is_terminal else pipe_width
    # With rich 9, which Debian 11 has, the width cannot be changed later.
    return Console(
        width=max(NARROWEST, min(shutil.get_terminal_size((usual, _SIZE[1])).columns, WIDEST)),
        height=_SIZE[1],
    )


def print_rows(shown: Sequence[DriveRow], told: Iterable[tuple[State, str]] = ()) -> None:
    """Print the messages about the run as a whole, then the rows. Imports rich only when called."""
    from rich.text import Text

    screen = console(WIDEST)
    for state, text in told:
        screen.print(Text(sentence(coded(text), 500), COLOURS[state]))
    if not shown:
        return
    kept = [name for name in (*NAMES, *NUMBERS) if any(getattr(row, name) for row in shown)]
    signs = _signs(screen)
    widest = _widths(shown, kept, signs)
    if _width(shown, kept, widest) > screen.width:
        _print_narrow(shown, kept, screen, widest, signs)
    elif screen.is_terminal:
        screen.print(_lines(shown, (*kept, 'what'), widest, signs))
    else:
        _print_plain(_lines(shown, (*kept, 'what'), widest, signs), screen)


def _print_plain(table: Table, console: Console) -> None:
    """Print a table without the trailing spaces of its last column."""
    with console.capture() as captured:
        console.print(table)
    for line in captured.get().splitlines():
        print(line.rstrip())


def _signs(console: Console) -> tuple[str, str]:
    """Return the two characters for bars: filled and empty."""
    if not console.is_terminal:
        return NO_BARS
    return ('#', '-') if console.options.ascii_only else ('\u2588', '\u2591')


def _lines(
    shown: Sequence[DriveRow],
    kept: Sequence[str],
    widest: Mapping[str, int],
    signs: tuple[str, str],
) -> Table:
    """Return a table with one line per drive."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style='bold')
    titles = [name for name in kept if name != 'what']
    for title in ('state', *titles):
        table.add_column(
            TITLES.get(title, title), no_wrap=True, justify='right' if title in RIGHT else 'left'
        )
    if 'what' in kept:
        table.add_column('what', overflow='fold')
    for row in shown:
        # Text, never markup: a drive's name may be "[red]".
        cells = [
            _used(row, signs, widest['used']) if name == 'used' else Text(getattr(row, name))
            for name in titles
        ]
        if 'what' in kept:
            cells.append(Text('; '.join(row.what)))
        table.add_row(Text(row.state.name, COLOURS[row.state]), *cells)
    return table


def _used(row: DriveRow, signs: tuple[str, str], width: int) -> Text:
    from rich.text import Text

    text = Text()
    if row.filled is not None and signs[0]:
        text.append(bar(row.filled, *signs), BARS[row.wear])
        text.append(' ')
    return text.append(row.used.rjust(width))


def _widths(
    shown: Sequence[DriveRow], kept: Sequence[str], signs: tuple[str, str]
) -> dict[str, int]:
    """Return the width of each column without its bars, and the width of a bar with the space
    after it.
    """
    from rich.cells import cell_len

    return {
        'bar': BAR + 1 if any(signs) else 0,
        'used': 0,
        **{name: max(cell_len(getattr(row, name)) for row in shown) for name in kept},
    }


def _width(shown: Sequence[DriveRow], kept: Sequence[str], widest: Mapping[str, int]) -> int:
    """Return the terminal width required for one line per drive, with findings wrapped at most
    twice.
    """
    longest = max((len('; '.join(row.what)) for row in shown), default=0)
    return _columns_width(kept, widest) + GAP + max(min(longest, ROOM), longest // 3)


def _columns_width(names: Sequence[str], widest: Mapping[str, int]) -> int:
    """Return the width of the state and these columns."""
    cells = sum(GAP + max(widest[name], len(TITLES.get(name, name))) for name in names)
    return len(State.CRITICAL.name) + cells + (widest['bar'] if 'used' in names else 0)


def _print_narrow(
    shown: Sequence[DriveRow],
    kept: Sequence[str],
    screen: Console,
    widest: Mapping[str, int],
    signs: tuple[str, str],
) -> None:
    """Print a line of columns for each drive and, if it is not OK, its identity and its findings
    below.
    """
    from rich.text import Text

    columns = [name for name in kept if name not in ('model', 'serial')]
    for name in SPARED:
        if _columns_width(columns, widest) > screen.width and name in columns:
            columns.remove(name)
    with screen.capture() as captured:
        screen.print(_lines(shown, columns, widest, signs))
    heading, *lines = captured.get().splitlines()
    print(heading.rstrip())
    for row, line in zip(shown, lines):
        print(line.rstrip())
        if row.state is not State.OK:
            identity = ', '.join(part for part in (row.model, row.serial) if part)
            text = (
                '; '.join((f'{identity}: {row.what[0]}', *row.what[1:])) if row.what else identity
            )
            for folded in _folded(text, screen.width, ' ' * INDENT):
                screen.print(Text(folded, COLOURS[row.state]))


# --- the cells of a row: plain text and bars ------------------------------------------------------


def rows(cases: Iterable[Case], now: float) -> list[DriveRow]:
    """Return the rows, worst drive first. now: seconds since 1970."""
    return [_row(case, now) for case in severity.worst_first(cases)]


def _row(case: Case, now: float) -> DriveRow:
    verdict, identity = case.verdict, case.shown
    judged: dict[str, Judgement] = {}  # the worst one of each metric
    for judgement in verdict.judgements:
        if judgement.reading.judged and judgement.reading.number is not None:
            judged.setdefault(judgement.reading.metric, judgement)
    said = {
        metric: amount(each.reading.number, each.reading.unit) for metric, each in judged.items()
    }
    worn, age = judged.get('endurance_used'), judged.get('power_on_time')
    used = worn.reading.number if worn else None
    return DriveRow(
        verdict.state,
        verdict.device.name,
        clean(case.place.bay, limit=PLACE),
        sentence(identity.model, MODEL) or '-',
        sentence(identity.serial or '', SERIAL),
        said.get('endurance_used', ''),
        None if used is None else max(0.0, min(used / 100, 1.0)),
        worn.state if worn else State.OK,
        until(case, now),
        said.get('spare_available', ''),
        said.get('temperature', ''),
        f'{(age.reading.number or 0) / YEAR:.1f} y' if age else '',
        _written(said.get('host_written', ''), said.get('rated_written', '')),
        _what(verdict),
    )


def _written(host: str, rated: str) -> str:
    """Return the amount written, as "398 TB of 700 TB" if the vendor specifies the endurance."""
    return f'{host} of {rated}' if host and rated else host


def _what(verdict: Verdict) -> tuple[str, ...]:
    """Return the findings of a drive, and whether its model is unknown.

    Other facts have their own columns.
    """
    if verdict.problem:
        return (coded(problem(verdict, WHAT)),)
    return tuple(
        finding(judgement)
        for judgement in verdict.judgements
        if judgement.state is not State.OK
        or judgement.reading.metric == 'unknown_model'
        or is_worth_showing(judgement.reading)
    )


def until(case: Case, now: float) -> str:
    """Return the earliest predicted wear-out date of a drive, or '' without a forecast."""
    forecasts = case.outlook.forecasts.values()
    soonest = min(forecasts, key=lambda forecast: forecast.left, default=None)
    if soonest is None:
        return ''
    return date(soonest.left, case.verdict.read_at(now), '~' if soonest.is_estimate else '')


def work_list(items: Sequence[Item], counted: str) -> list[str]:
    """Return what is to do for each drive and, below it, a line with the number of drives by state
    and the most urgent drive. counted: the numbers as text.
    """
    width, shown = console(WIDEST).width, [each for each in items if each.action != actions.NOTHING]
    lines = ['to do:'] if shown else []
    for item, others in _alike(shown):
        place = f' ({sentence(item.place.where, PLACE)})' if item.place.where else ''
        names = f'{item.drive}{place}' + (f', {listed(others, NAMED)}' if others else '')
        groups = item.step.why if item.step else item.unknown
        told = f'{names}: {item.to_do}: {item.reason}'
        if item.is_unread:
            told = f'{names} {item.reason}; {item.to_do}'
        parts = [told, also(item)]
        if groups != item.why:  # else they are the reason
            parts.append(sentence(groups, WHAT))
        lines += _folded('; '.join(part for part in parts if part), width, '  ')
        if item.place.locate:  # not wrapped, so that it can be pasted
            lines.append(f'      locate LED: {visible(item.place.locate)}')
    first = f'; most urgent: {shown[0].drive}: {shown[0].to_do}' if shown else ''
    return [*lines, *_folded(counted + first, width)]


def _alike(items: Sequence[Item]) -> Iterator[tuple[Item, list[str]]]:
    """Yield each item with the names of the healthy drives that follow it and have the same
    reason.
    """

    def key(each: Item) -> object:
        return (each.to_do, each.step.why) if each.step and each.state is State.OK else each.drive

    for _, (first, *others) in groupby(items, key):
        yield first, [each.drive for each in others]


def _folded(text: str, width: int, indent: str = '') -> list[str]:
    return textwrap.wrap(text, width, initial_indent=indent, subsequent_indent=f'{indent}    ')


def bar(filled: float, full: str, empty: str) -> str:
    """Return a bar of BAR characters. It is empty only for 0 and full only for 1."""
    count = round(filled * BAR)
    if 0 < filled < 1:
        count = max(1, min(count, BAR - 1))
    return full * count + empty * (BAR - count)
