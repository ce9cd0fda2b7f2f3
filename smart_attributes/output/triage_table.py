"""The table of `triage`, with the drives to replace first at the top.

Rows have two forms: one line per drive or, on a narrow terminal, two lines and a third one for
findings. A pipe has no width and gets one line per drive, for grep and less -S, unless COLUMNS is
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

# These colors have a contrast of at least 3.9 with black and with white. Yellow on white has only
# 1.1.
BARS = {
    State.OK: 'color(28)',
    State.WARNING: 'color(130)',
    State.CRITICAL: 'color(160)',
    State.UNKNOWN: 'color(129)',
}
COLOURS = {**BARS, State.CRITICAL: f'bold {BARS[State.CRITICAL]}'}
NAMES = ('host', 'drive', 'bay', 'model', 'serial')
NUMBERS = ('used', 'until', 'spare', 'temp', 'age', 'written')
RIGHT = ('spare', 'temp', 'age')
SPARED = ('temp', 'spare', 'age')  # columns omitted on a narrow terminal, in this order
WORDS = {'until': 'until ', 'spare': 'spare '}
GAP = 2
ROOM = 36  # minimum width of findings in columns, with one line per drive
INDENT = 10  # columns, for lines below the first line
NO_BARS = '', ''
NARROWEST = 40  # columns; on a narrower terminal, states would be truncated
WIDEST = 10_000  # columns that rich can fill in reasonable time
_SIZE = 80, 24  # assumed if a terminal does not report its size
BAR = 8  # characters
NAMED = 12  # maximum number of drives named in one row of the work list
BEGUN = 16  # a finding is cut only if at least this many characters fit
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
        _print_cards(shown, kept, screen, widest, signs)
    elif screen.is_terminal:
        screen.print(_lines(shown, kept, widest, signs))
    else:
        _print_plain(_lines(shown, kept, widest, signs), screen)


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
    for title in ('state', *kept):
        table.add_column(title, no_wrap=True, justify='right' if title in RIGHT else 'left')
    table.add_column('what', overflow='fold')
    for row in shown:
        # Text, never markup: a drive's name may be "[red]".
        cells = [
            _used(row, signs, widest['used']) if name == 'used' else Text(getattr(row, name))
            for name in kept
        ]
        table.add_row(Text(row.state.name, COLOURS[row.state]), *cells, Text('; '.join(row.what)))
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
    bars = widest['bar'] if 'used' in kept else 0
    return (
        len(State.CRITICAL.name)
        + sum(max(widest[name], len(name)) + 1 for name in kept)
        + bars
        + 1
        + max(min(longest, ROOM), longest // 3)
    )


def _print_cards(
    shown: Sequence[DriveRow],
    kept: Sequence[str],
    console: Console,
    widest: Mapping[str, int],
    signs: tuple[str, str],
) -> None:
    from rich.text import Text

    begin = INDENT + _name_width(widest, console.width) + GAP
    fields = _fields(kept, widest, console.width, begin)
    for row in shown:
        numbers = _number_line(row, fields, widest, signs)
        if row.state is State.OK:
            lines = [_ok_line(row, numbers, widest, console.width)]
        else:
            lines = [_name_line(row, widest, console.width)]
            if numbers.plain:
                lines.append(Text(' ' * begin) + numbers)
            if row.what:
                words = fitting(row.what, console.width - INDENT)
                lines.append(Text(' ' * INDENT + words, COLOURS[row.state]))
        for line in lines:
            line.rstrip()
            console.print(line, no_wrap=True, overflow='ellipsis')


def _name_line(row: DriveRow, widest: Mapping[str, int], width: int) -> Text:
    from rich.text import Text

    line = Text(row.state.name.ljust(INDENT), COLOURS[row.state])
    line.append(f'{row.host} {row.drive}'.lstrip().ljust(_name_width(widest, width)), 'bold')
    for part in (row.bay, row.model, row.serial):
        if part:
            line.append(f'  {part}', 'not bold default')
    return line


def _name_width(widest: Mapping[str, int], width: int) -> int:
    return min(widest['drive'] + widest.get('host', -1) + 1, width // 4)


def _ok_line(row: DriveRow, numbers: Text, widest: Mapping[str, int], width: int) -> Text:
    """Return the only line of an OK drive: its name, its numbers and, if there is room, its
    identity.
    """
    line = _name_line(row._replace(bay='', model='', serial=''), widest, width)
    line.append(' ' * GAP).append_text(numbers)
    for part in filter(None, (*row.what, row.bay, row.model, row.serial)):
        room = width - len(line) - GAP
        line.append(
            f'{" " * GAP}{part}' if room >= min(len(part), BEGUN) else '', 'not bold default'
        )
    return line


def _fields(
    kept: Sequence[str], widest: Mapping[str, int], width: int, begin: int = INDENT
) -> list[str]:
    """Return the columns that fit.

    A column is omitted first if its bad values also appear as findings.

    begin: width of the text to the left of the numbers.
    """
    fields = [name for name in NUMBERS if name in kept]
    for name in SPARED:
        if begin + sum(_field_width(field, widest) for field in fields) > width and name in fields:
            fields.remove(name)
    return fields


def _field_width(name: str, widest: Mapping[str, int]) -> int:
    return widest[name] + len(WORDS.get(name, '')) + (widest['bar'] if name == 'used' else GAP)


def _number_line(
    row: DriveRow, fields: Sequence[str], widest: Mapping[str, int], signs: tuple[str, str]
) -> Text:
    """Return the numbers of a drive, aligned with the numbers of other drives."""
    from rich.text import Text

    line = Text()
    for name in fields:
        text, room = getattr(row, name), _field_width(name, widest)
        if name == 'used' and text:
            line.append_text(_used(row, signs, widest[name]))
        elif text:
            line.append(
                (
                    ' ' * GAP
                    + WORDS.get(name, '')
                    + (text.rjust(widest[name]) if name in RIGHT else text)
                ).ljust(room)
            )
        else:
            line.append(' ' * room)
    line.rstrip()
    return line


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
    """Return the work list and, below it, a line with the number of drives by state and the most
    urgent drive.

    A drive's action and reason are complete; only the effect of its groups may be cut. counted: the
    numbers as text.
    """
    width, shown = console(WIDEST).width, [each for each in items if each.action != actions.NOTHING]
    lines = ['work list:'] if shown else []
    for each, others in _alike(shown):
        place = f' ({sentence(each.place.where, PLACE)})' if each.place.where else ''
        place += f', {listed(others, NAMED)}' if others else ''
        more = each.step.why if each.step else each.unknown
        # only the groups are the reason
        reason = sentence(more, WHAT) if more == each.why else each.reason
        told = '; '.join(filter(None, (f'{each.drive}{place}: {each.to_do}: {reason}', also(each))))
        folded = _folded(told, width, '  ')
        room = width - len(folded[-1]) - len('; ')
        folded[-1] += (
            f'; {sentence(more, min(room, WHAT))}'
            if more and more != each.why and room >= BEGUN
            else ''
        )
        lines += folded
        if each.place.locate:  # not wrapped, so that it can be pasted
            lines.append(f'      locate LED: {visible(each.place.locate)}')
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


def fitting(what: Sequence[str], width: int) -> str:
    """Return as many findings as fit, the start of the next finding if there is room, and the
    number of the rest.
    """
    whole = '; '.join(what)
    if len(whole) <= width:
        return whole
    kept = next(
        (count for count in range(len(what) - 1, 0, -1) if len(_counted(what, count)) <= width), 0
    )
    first, rest = ''.join(f'{each}; ' for each in what[:kept]), len(what) - kept - 1
    end = f'...; {rest} more' if rest else '...'
    begun = what[kept][: max(width - len(first) - len(end), 0)].rstrip()
    return _counted(what, kept) if kept and len(begun) < BEGUN else first + begun + end


def _counted(what: Sequence[str], kept: int) -> str:
    """Return the first *kept* findings, and the number of the remaining findings."""
    return f'{"; ".join(what[:kept])}; {len(what) - kept} more'
