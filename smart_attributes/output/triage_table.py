"""The table of `triage`, with the drives to replace first at the top.

Rows have two forms: one line per drive or, on a narrow terminal, a line of numbers and, below it,
the findings. A pipe has no width and gets one line per drive, for grep and less -S, unless COLUMNS is
set to a width.
"""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from ..constants import YEAR
from ..knowledge import severity
from ..model import Case, Item, State, Verdict
from ..typed import TYPE_CHECKING, NamedTuple
from ..wording import amount, columns, listed
from ..words import clean, coded, sentence, visible
from ..work import actions
from ..work.dates import date
from ..work.statements import also, finding, is_worth_showing, problem

if TYPE_CHECKING:
    from rich.console import Console

# These colors have a contrast of 4.46 or more with black and with white. Yellow on white has only
# 1.1.
COLOURS = {
    State.OK: 'color(28)',
    State.WARNING: 'color(130)',
    State.CRITICAL: 'bold color(131)',
    State.UNKNOWN: 'color(98)',
}
NAMES = ('host', 'drive', 'bay', 'model', 'serial')
NUMBERS = ('used', 'until', 'spare', 'temp', 'age', 'written')
# of NUMBERS -> its metric
METRICS: Mapping[str, str] = {
    'used': 'endurance_used',
    'spare': 'spare_available',
    'temp': 'temperature',
    'age': 'power_on_time',
    'written': 'host_written',
}
TITLES = {'until': 'worn out'}  # of columns that are not called as their field
RIGHT = ('used', 'spare', 'temp', 'age')
IDENTITY = ('model', 'serial')  # on a narrow terminal, below the line of the drive
# omitted on a narrow terminal, in this order
DROPPED = ('written', 'spare', 'bay', 'age', 'temp', 'until', 'used')
GAP = 2  # columns between two cells
ROOM = 36  # minimum width of findings in columns, with one line per drive
INDENT = 10  # columns, for lines below the first line
NARROWEST = 40  # columns; on a narrower terminal, states would be truncated
WIDEST = 10_000  # columns that rich can fill in reasonable time
USUAL_WIDTH, HEIGHT = 80, 24  # assumed if a terminal does not report its size
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

    usual = USUAL_WIDTH if sys.stdout.isatty() else pipe_width
    width = shutil.get_terminal_size((usual, HEIGHT)).columns
    # With rich 9, which Debian 11 has, the width cannot be changed later.
    return Console(width=max(NARROWEST, min(width, WIDEST)), height=HEIGHT)


def print_rows(
    shown: Sequence[DriveRow], messages: Iterable[tuple[State, str]]
) -> None:
    """Print the messages about the run as a whole, then the rows. Imports rich only when called."""
    from rich.text import Text

    screen = console(WIDEST)
    for state, text in messages:
        screen.print(Text(sentence(coded(text), 500), COLOURS[state]))
    if not shown:
        return
    names = [
        name for name in (*NAMES, *NUMBERS) if any(getattr(row, name) for row in shown)
    ]
    lines = _lines(shown, names)
    width = max(map(len, lines)) + GAP
    findings = ['; '.join(row.what) for row in shown]
    longest = max(map(len, findings))
    room = screen.width - width  # beside the columns
    is_below_minimum = room < min(longest, ROOM)
    needs_over_three_lines = room < longest // 3
    if is_below_minimum or needs_over_three_lines:
        _print_narrow(shown, names, screen)
        return
    screen.print(Text(f'{lines[0]:{width}}what', 'bold'))
    for row, line, text in zip(shown, lines[1:], findings):
        parts = textwrap.wrap(
            f'{line:{width}}{text}',
            screen.width,
            subsequent_indent=' ' * width,
            break_on_hyphens=False,
        )
        _print_drive(row, parts, screen)


def _lines(shown: Sequence[DriveRow], names: Sequence[str]) -> list[str]:
    """Return a heading and a line for each drive: its state and these fields in columns."""
    titles = ['state', *(TITLES.get(name, name) for name in names)]
    rows = [[row.state.name, *(getattr(row, name) for name in names)] for row in shown]
    right = [place for place, name in enumerate(names, 1) if name in RIGHT]
    return columns([titles, *rows], right)


def _print_drive(row: DriveRow, lines: Sequence[str], screen: Console) -> None:
    """Print the lines of a drive, which begin with its state."""
    from rich.text import Text

    text = Text('\n'.join(lines))
    text.stylize(COLOURS[row.state], 0, len(row.state.name))
    screen.print(text)


def _print_narrow(
    shown: Sequence[DriveRow], names: Sequence[str], screen: Console
) -> None:
    """Print a line of columns for each drive and, if it is not OK, its identity and its findings
    below. names: of the columns; as many are left out as needed.
    """
    from rich.text import Text

    kept = [name for name in names if name not in IDENTITY]
    for name in DROPPED:
        if name in kept and max(map(len, _lines(shown, kept))) > screen.width:
            kept.remove(name)
    heading, *lines = _lines(shown, kept)
    screen.print(Text(heading, 'bold'))
    for row, line in zip(shown, lines):
        below = []
        if row.state is not State.OK:
            identity = ', '.join(filter(None, (row.model, row.serial)))
            text = ': '.join(filter(None, (identity, '; '.join(row.what))))
            below = _folded(text, screen.width, ' ' * INDENT)
        _print_drive(row, [line, *below], screen)


# --- the cells of a row --------------------------------------------------------------------------


def rows(cases: Iterable[Case], now: float) -> list[DriveRow]:
    """Return the rows, worst drive first. now: seconds since 1970."""
    return [_row(case, now) for case in severity.worst_first(cases)]


def _row(case: Case, now: float) -> DriveRow:
    """Return the row of a drive. now: seconds since 1970."""
    verdict = case.verdict
    identity = case.shown
    numbers = []
    for judgement in verdict.judgements:
        reading = judgement.reading
        if reading.judged and reading.number is not None:
            numbers.append((reading.metric, reading.number, reading.unit))
    return DriveRow(
        verdict.state,
        verdict.device.name,
        bay=clean(case.place.bay, limit=PLACE),
        model=sentence(identity.model, MODEL) or '-',
        serial=sentence(identity.serial or '', SERIAL),
        until=until(case, now),
        what=_what(verdict),
        **cells(numbers),
    )


def cells(numbers: Iterable[tuple[str, float, str]]) -> dict[str, str]:
    """Return the cells of a row that show numbers, by field of DriveRow; '' for unknown ones.

    numbers: metric, number and unit, the worst one of a metric first; the others do not count.
    """
    texts: dict[str, str] = {}
    for metric, number, unit in numbers:
        text = amount(number, unit)
        if metric == 'power_on_time':
            text = f'{number / YEAR:.1f} y'
        texts.setdefault(metric, text)
    by_field = {field: texts.get(metric, '') for field, metric in METRICS.items()}
    if by_field['written'] and 'rated_written' in texts:  # by the vendor
        by_field['written'] += f' of {texts["rated_written"]}'
    return by_field


def _what(verdict: Verdict) -> tuple[str, ...]:
    """Return why a drive was not read, else its findings, and whether its model, its health status
    or its wear is unknown.

    Other facts have their own columns.
    """
    if verdict.problem:
        return (coded(problem(verdict, WHAT)),)
    shown = []
    for judgement in verdict.judgements:
        reading = judgement.reading
        is_alert = judgement.state is not State.OK
        if is_alert or reading.metric == 'unknown_model' or is_worth_showing(reading):
            shown.append(finding(judgement))
    return tuple(shown)


def until(case: Case, now: float) -> str:
    """Return the earliest predicted wear-out date of a drive, or '' without a forecast."""
    forecasts = case.outlook.forecasts.values()
    soonest = min(forecasts, key=lambda forecast: forecast.left, default=None)
    if soonest is None:
        return ''
    sign = '~' if soonest.is_estimate else ''
    return date(soonest.left, case.verdict.read_at(now), sign)


def work_list(items: Sequence[Item], counted: str) -> list[str]:
    """Return what is to do for each drive and, below it, a line with the number of drives by
    state. counted: the numbers as text.
    """
    width = console(WIDEST).width
    needing = [item for item in items if item.action != actions.NOTHING]
    lines = ['to do:'] if needing else []
    for item, others in _alike(needing):
        names = item.drive
        if item.place.where:
            names += f' ({sentence(item.place.where, PLACE)})'
        if others:
            names += f', {listed(others, NAMED)}'
        words = f'{names}: {item.to_do}: {item.reason}'
        if item.is_unread:
            words = f'{names} {item.reason}; {item.to_do}'
        parts = [words, also(item), _about_groups(item)]
        lines += _folded('; '.join(filter(None, parts)), width, '  ')
        if item.place.locate:  # not wrapped, so that it can be pasted
            lines.append(f'      locate LED: {visible(item.place.locate)}')
    return [*lines, *_folded(counted, width)]


def _about_groups(item: Item) -> str:
    """Return what follows from the groups on a drive, or what is not known about them. '' for a
    drive without findings: its only reason is this, and Item.reason has it.
    """
    words = item.step.why if item.step else item.unknown
    return '' if words == item.why else sentence(words, WHAT)


def _alike(items: Sequence[Item]) -> Iterator[tuple[Item, list[str]]]:
    """Yield an item for each row of the work list, with the names of the other drives in its row:
    the healthy drives that directly follow a healthy drive, and have the same action for the same
    reason in their groups. A drive that is not healthy, or has no groups, has a row of its own.
    """

    def key(item: Item) -> object:
        if item.step and item.state is State.OK:
            return item.to_do, item.step.why
        # A name is unlike all other keys, so the item stays alone.
        return item.drive

    for _, (first, *others) in groupby(items, key):
        yield first, [item.drive for item in others]


def _folded(text: str, width: int, indent: str = '') -> list[str]:
    """Return a text as lines; those after the first are indented by four more columns."""
    return textwrap.wrap(
        text, width, initial_indent=indent, subsequent_indent=f'{indent}    '
    )
