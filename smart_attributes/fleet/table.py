"""The text report on a fleet: counts, then the worst drives.

Pure: prints nothing.

The worst drives, as many as a page can list, are kept in little memory.
"""

from __future__ import annotations

import json
from bisect import insort
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from ..constants import LARGEST_TABLE
from ..knowledge.severity import Rank
from ..model import WORST_FIRST, State
from ..output.page_drives import compact
from ..output.triage_table import METRICS, MODEL, SERIAL, WHAT, DriveRow, cells
from ..typed import Json
from ..wording import plural
from ..words import sentence
from ..work import actions
from ..work.dates import date
from .drives import FleetDrive
from .summary import Summary

_text = json.JSONEncoder(separators=(',', ':')).encode


def rows(drives: Iterable[Json], now: float) -> list[DriveRow]:
    """Return the drives as rows for output.triage_table. now: seconds since 1970."""
    return [_row(drive, now) for drive in drives]


def _row(drive: Json, now: float) -> DriveRow:
    """Return the row of a drive, in the form of in_table(); '' for each number that it lacks."""
    numbers = [
        (reading['metric'], reading['value'], reading.get('unit', ''))
        for reading in drive['readings']
        if isinstance(reading['value'], (int, float))
    ]
    return DriveRow(
        State[drive['state']],
        drive['name'],
        bay=drive.get('bay', ''),
        model=sentence(drive.get('model', '-'), MODEL),
        serial=sentence(drive.get('serial', ''), SERIAL),
        until=_until(drive, now),
        what=_what(drive),
        host=drive['host'],
        **cells(numbers),
    )


def _until(drive: Json, now: float) -> str:
    """Return the date of the earliest forecast, or '' without one."""
    left = [forecast['left'] for forecast in drive.get('forecasts', {}).values()]
    return date(min(left), now) if left else ''


def _what(drive: Json) -> tuple[str, ...]:
    """Return the texts about a drive, without empty ones and the action "nothing", in this order:

    - a drive that was read: the action, then the reason
    - a drive that was not read, which has a "code": "[no-permission] REASON", then the action
    - further actions: "also check the cable"
    - how users handle the problem in Icinga: "host in downtime"
    - an alert of a service: the notes, such as how old the result is
    """
    # An alert of a document has a "reason": the worst finding. That of a service has none, but a
    # "why" with all findings. A drive that is OK can have neither.
    reason = drive.get('reason')
    why = reason or drive.get('why', '')
    is_alert_of_service = drive['state'] != State.OK.name and not reason
    code = drive.get('code')
    parts = [f'[{code}] {why}', drive['to_do']] if code else [drive['to_do'], why]
    words = [part for part in parts if part and part != actions.NOTHING]
    words += [f'also {row["to_do"]}' for row in drive.get('also', ())]
    words += drive.get('handling', ())
    if is_alert_of_service:
        # A note with the code of the drive only repeats *why*.
        words += [note['text'] for note in drive['notes'] if note['code'] != code]
    return tuple(sentence(text, WHAT) for text in words)


def heading(summary: Summary) -> Iterator[str]:
    """Yield the lines above the drives: how many there are, then the problems of checks, if any."""
    states = [
        f'{summary.states[state.name]} {state.name.lower()}'
        for state in WORST_FIRST
        if summary.states[state.name]
    ]
    yield (
        f'{plural(sum(summary.states.values()), "drive")} on '
        f'{plural(len(summary.hosts), "host")}: {", ".join(states) or "none"}'
    )
    causes = [f'{count} {code}' for code, count in summary.codes.most_common()]
    if causes:
        checks = sum(summary.codes.values())
        yield f'and {plural(checks, "check")} with a problem: {", ".join(causes)}'
    yield ''


# --- the worst drives --------------------------------------------------------------------


class WorstDrive(NamedTuple):
    """A drive as text, and what it is sorted by: the worst first."""

    rank: Rank
    text: str  # JSON


def in_table(drive: FleetDrive) -> Json:
    """Return what the table shows of a drive."""
    readings = [
        reading
        for reading in drive.readings()
        if reading['metric'] in METRICS.values() and reading.get('judged')
    ]
    # The table does not show the history: compact() leaves out an empty value.
    return compact({**drive.facts, 'past': {}, 'readings': readings})


def in_page(drive: FleetDrive) -> Json:
    """Return what the page shows of a drive."""
    return compact({**drive.facts, 'readings': drive.readings()})


class Kept:
    """Takes drives one by one and keeps all that are urgent, and the worst of the others."""

    def __init__(
        self,
        most: int,
        shown: Callable[[FleetDrive], Json],
        is_urgent: Callable[[Json], bool] = lambda facts: False,
    ) -> None:
        """Create an empty collection.

        most: how many drives that are not urgent to keep, at least one. shown: returns the part of a
        drive to keep. is_urgent: called with facts.
        """
        self._most = max(most, 1)
        self._shown = shown
        self._is_urgent = is_urgent
        self._size = 0  # characters of all texts
        # numbers of drives given to add(), kept or not
        self._urgent_added = 0
        self._others_added = 0
        # both sorted, the worst first, which has the lowest rank
        self._urgent: list[WorstDrive] = []
        self._others: list[WorstDrive] = []

    def add(self, drive: FleetDrive) -> None:
        """Keep a drive, unless it is not urgent and enough worse drives are already kept."""
        others = self._others
        if self._is_urgent(drive.facts):
            self._urgent_added += 1
            kept = self._urgent
        else:
            self._others_added += 1
            kept = others
            # The first drive is the worst and has the lowest rank; the last drive is the best and
            # has the greatest. A full list is not empty, because _most is at least 1.
            is_full = len(others) == self._most
            if is_full and drive.rank > others[-1].rank:
                return
        text = _text(self._shown(drive))
        insort(kept, WorstDrive(drive.rank, text))
        self._size += len(text)
        while len(others) > self._most or self._size > LARGEST_TABLE:
            # Remove the best drive; an urgent one only if no others are left.
            best = others.pop() if others else self._urgent.pop()
            self._size -= len(best.text)

    def counts(self, is_urgent: bool) -> tuple[int, int]:
        """Return how many drives are kept, and how many were added: urgent drives, or others."""
        if is_urgent:
            return len(self._urgent), self._urgent_added
        return len(self._others), self._others_added

    def drives(self, most: int | None = None) -> Iterator[dict[str, Any]]:
        """Yield the kept drives: urgent ones, then the others, each worst first. most: how many;
        None means all.
        """
        rows = [*self._urgent, *self._others]
        return (json.loads(row.text) for row in rows[:most])

    def taken(self, now: float) -> str:
        """Return the kept drives as data for the page's script, and free their memory:
        '{"drives":[...],"made":1800000000}'. now: seconds since 1970.
        """
        drives = ','.join(row.text for row in (*self._urgent, *self._others))
        self._urgent = []
        self._others = []
        return f'{{"drives":[{drives}],"made":{round(now)}}}'
