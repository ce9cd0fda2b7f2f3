"""The text report on a fleet: counts, orders, known firmware defects, then the worst drives. Pure: prints nothing.

The worst drives, as many as a page can list, are kept in little memory.
"""
from __future__ import annotations

import json
from bisect import insort
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from ..constants import LARGEST_ROW, LARGEST_TABLE, MOST_ROWS, YEAR
from ..errors import Coded
from ..model import State
from ..output.json_document import note
from ..output.packed_document import Packer, unpacked
from ..output.triage_table import MODEL, SERIAL, WHAT, DriveRow
from ..typed import TYPE_CHECKING, Json
from ..wording import amount, plural
from ..words import sentence
from ..work import actions
from ..work.dates import FAR, day
from .plugin_output import FleetDrive
from .replacement_order import GroupsAtRisk, first_step
from .summary import Defect, Step, Summary, by_model, first, steps

if TYPE_CHECKING:
    from ..knowledge.severity import Rank

LINES = 12             # lines of one table; further lines are only counted
NOT_TOLD = '-'
GAP = '  '
TEXTS = ('step', 'by', 'host', 'drive', 'model', 'firmware', 'why')  # text columns; all others are numbers
WITHOUT = {'past': {}, 'depends': (), 'notes': (
    note(Coded('readings-left-out', 'its readings are omitted, because they are too large')),)}
_text = json.JSONEncoder(separators=(',', ':')).encode


def rows(drives: Iterable[Json], now: float) -> list[DriveRow]:
    """Return the drives as rows for output.triage_table. now: seconds since 1970."""
    return [_row(drive, now) for drive in drives]


def _row(drive: Json, now: float) -> DriveRow:
    judged = {each['metric']: each for each in drive['readings'] if each.get('judged')}
    numbers = {metric: each['value'] for metric, each in judged.items() if isinstance(each['value'], (int, float))}
    used = numbers.get('endurance_used')
    said = {metric: amount(number, judged[metric].get('unit', '')) for metric, number in numbers.items()}
    return DriveRow(State[drive['state']], drive['name'], drive.get('bay', ''),
                    sentence(drive.get('model', NOT_TOLD), MODEL), sentence(drive.get('serial', ''), SERIAL),
                    said.get('endurance_used', ''), None if used is None else max(0.0, min(used / 100, 1.0)),
                    State[judged['endurance_used']['state']] if used is not None else State.OK, _until(drive, now),
                    said.get('spare_available', ''), said.get('temperature', ''),
                    f'{numbers["power_on_time"] / YEAR:.1f} y' if 'power_on_time' in numbers else '',
                    said.get('host_written', ''), _what(drive), drive['host'])


def _until(drive: Json, now: float) -> str:
    left = min((each['left'] for each in drive.get('forecasts', {}).values()), default=None)
    if left is None:
        return ''
    return 'used up' if left <= 0 else '>10 y' if left > FAR else day(now + left, '%Y-%m')


def _what(drive: Json) -> tuple[str, ...]:
    action, why, code = drive.get('action', actions.NOTHING), drive.get('why', ''), drive.get('code', '')
    to_do, said = drive.get('to_do', action), f'[{code}] {why}' if code else why
    words = [said, to_do] if code else [to_do, said]  # a code comes first, as in every message
    notes = [note['text'] for note in drive['notes'] if drive['state'] != State.OK.name and not (
        code and note['code'] == code)]
    words = [*(each for each in words if each and each != actions.NOTHING), *drive.get('handling', ()), *notes]
    return tuple(sentence(each, WHAT) for each in words)


def heading(summary: Summary, known: Sequence[Defect]) -> Iterator[str]:
    """Yield the lines above the drives."""
    states = ', '.join(f'{summary.states[state.name]} {state.name.lower()}' for state in worst_first()
                       if summary.states[state.name])
    yield f'{plural(sum(summary.states.values()), "drive")} on {plural(len(summary.hosts), "host")}: {states or "none"}'
    checks = sum(number for state, number in summary.checks.items() if state != State.OK.name)
    if checks:
        causes = ', '.join(f'{count} {code}' for code, count in summary.codes.most_common() if count)
        yield f'and {plural(checks, "check")} with a problem: {causes}'
    yield from _groups(summary.groups)
    yield from _plan(steps(summary, known))
    yield from _told('models and firmware', ('model', 'firmware', 'drives', 'hosts', *(
        state.name.lower() for state in worst_first())), [
            (model or NOT_TOLD, firmware or NOT_TOLD, str(group.drives), str(group.hosts),
             *(str(group.states[state.name] or '') for state in worst_first()))
            for model, firmware, group in by_model(summary)])
    yield ''


def _plan(plan: Sequence[Step]) -> Iterator[str]:
    """Yield the first few steps of each kind: drives to replace, models to order, firmware to update."""
    shown = first(plan, LINES)
    yield from _told('plan', ('step', 'by', 'host', 'drive', 'model', 'firmware', 'drives', 'hosts', 'why'), [
        (step.action, step.by, step.host, step.drive, step.model or NOT_TOLD, step.firmware or NOT_TOLD,
         str(step.drives), str(step.hosts or ''), sentence(step.why, WHAT)) for step in shown], len(shown))
    if len(plan) > len(shown):
        yield f'{GAP}and {len(plan) - len(shown)} more; --plan and --json list all'


def _groups(found: GroupsAtRisk) -> Iterator[str]:
    """Yield two lines about each group at risk: first its host and state, then the first step."""
    shown = [each.facts for each in found.worst()[:LINES]]
    width = max((len(facts['host']) for facts in shown), default=0)
    yield from ('', 'groups at risk:') if shown else ()
    for facts in shown:
        text = ', '.join(each for each in (facts['text'], facts['as_of']) if each)
        yield f'{GAP}{facts["host"]:{width}}{GAP}{sentence(text, WHAT)}'
        if first_step(facts):
            yield f'{GAP}{"":{width}}{GAP}first step: {sentence(first_step(facts), WHAT)}'
    if found.count > LINES:
        yield f'{GAP}and {found.count - LINES} more; --html and --json list them'


def worst_first() -> list[State]:
    """Return all states, most urgent first."""
    return sorted(State, key=lambda state: -state.urgency)


def _told(title: str, columns: Sequence[str], found: Sequence[Sequence[str]], most: int = LINES) -> Iterator[str]:
    """Yield the lines of a small table with its title, or nothing if it is empty."""
    if not found:
        return
    yield ''
    yield f'{title}:'
    shown = [columns, *found[:most]]
    widths = [max(len(each[place]) for each in shown) for place in range(len(columns))]
    numeric = [column not in TEXTS for column in columns]
    for each in shown:
        yield GAP + _aligned(each, widths, numeric)
    if len(found) > most:
        yield f'{GAP}and {len(found) - most} more; --html and --json list all'


def _aligned(cells: Sequence[str], widths: Sequence[int], numeric: Sequence[bool]) -> str:
    return GAP.join(cell.rjust(width) if is_number else cell.ljust(width)
                    for cell, width, is_number in zip(cells, widths, numeric)).rstrip()


# --- the worst drives --------------------------------------------------------------------

class WorstDrive(NamedTuple):
    """A drive in packed form, and its sort key."""
    key: Rank
    text: str          # JSON, packed


class Kept:
    """Takes drives one by one and keeps the worst of them."""

    def __init__(self, packer: Packer, most: int = MOST_ROWS) -> None:
        self.left_out = 0
        self._packer, self._most, self._size = packer, max(most, 1), 0
        self.rows: list[WorstDrive] = []           # worst first; only the key is computed for other drives

    def add(self, drive: FleetDrive) -> None:
        """Keep a drive, unless enough worse drives are already kept."""
        facts = drive.facts
        key = drive.rank
        if len(self.rows) == self._most and key > self.rows[-1].key:
            self.left_out += 1
            return
        text = _text(self._packer.drive({**facts, **drive.more()}, drive.pairs()))
        if len(text) > LARGEST_ROW:
            text = _text(self._packer.drive({**facts, **WITHOUT}, []))
        insort(self.rows, WorstDrive(key, text))
        self._size += len(text)
        while len(self.rows) > self._most or self._size > LARGEST_TABLE:
            self._size -= len(self.rows.pop().text)
            self.left_out += 1

    def drives(self, rows: list[WorstDrive]) -> Iterator[dict[str, Any]]:
        """Yield the kept drives in the format of the JSON document."""
        tables = self._packer.tables()
        return (unpacked(json.loads(row.text), tables) for row in rows)

    def taken(self, now: float) -> str:
        """Return the kept drives as packed data for the page's script, and free their memory.

        now: seconds since 1970.
        """
        tables = json.dumps({**self._packer.tables(), 'made': round(now)}, separators=(',', ':'))
        texts = [row.text for row in self.rows]
        self.rows = []
        head, tail = '{"drives":[', f'],{tables[1:]}'
        if not texts:
            return head + tail
        texts[0] = head + texts[0]
        texts[-1] += tail
        return ','.join(texts)
