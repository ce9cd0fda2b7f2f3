"""The losses of a history: messages, copying what is left of a damaged file, and wrong times of a wrong clock.

A check of a healthy history does not load this module. A damaged file is copied drive by drive: damage to one drive
costs that drive's readings only.

If the clock is slightly behind (set back by a minute or an hour), nothing is written until it has caught up. If it is
days behind, it is wrong now (an empty board battery at start-up) or was wrong before (a year ahead for an hour). These
cases cannot be distinguished at once, so a clock that stays far behind for a day is considered right. Meanwhile the
readings are stored as if no time passed, so that no growth is lost.
"""
from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Sequence

from ..constants import DAY
from ..sqlite_file import WRONG_CONTENT, Error, SqliteFile
from ..typed import TYPE_CHECKING
from ..wording import listed, plural
from ..words import clean
from . import commits, directory, rows
from .database import CLONED, DAMAGED, GONE, SALVAGE, SETTINGS, Database

if TYPE_CHECKING:
    from typing import TypeVar

    from .commits import Known
    from .directory import HistoryFolder
    from .drive_records import DrivePlace, Record
    from .rows import Head

    T = TypeVar('T')

SHOWN = 7 * DAY
SLACK = DAY
EARLIEST = 1_767_225_600  # 1 January 2026: this program did not exist before
_MOST_NAMED = 3


def lost(head: Head, folder: HistoryFolder, now: int) -> str:
    """Return a message if readings were lost within the last seven days because the file could not be used."""
    lost, why = _moment(head, 'lost'), head.facts.get('why', '')
    if not lost or now - lost > SHOWN:
        return ''
    why = why if why in (DAMAGED, GONE, CLONED) else DAMAGED   # other text is not quoted
    losers = set(head.facts.get('losers', '').split())
    kept = [record for record in head.records if record.first_read < lost and str(record.number) not in losers]
    old = f'(the old file: {folder.aside})'
    if not kept:
        return f'restarted on {day(lost)}, because {why}; earlier increases cannot be detected {old}'
    if not losers:
        return f'damaged on {day(lost)} and repaired; no reading was lost {old}'
    return (f'damaged on {day(lost)}: the readings of {_named(losers, head)} were lost, so their earlier increases '
            f'cannot be detected; those of {plural(len(kept), "other drive")} were kept {old}')


def recurring(head: Head, folder: HistoryFolder, now: int) -> str:
    """Return a message if the file could not be used twice within a day, the last time within the last day."""
    lost, before = _moment(head, 'lost'), _moment(head, 'lost_before')
    if not before or lost - before > DAY or now - lost > DAY:
        return ''
    return (f'damaged or lost on {day(before)} and again on {day(lost)}; check the disk with {folder.path}: '
            f'dmesg -T | tail -50')


def missing(head: Head, now: int) -> str:
    """Return a message if a loss of single commits was detected within the last seven days."""
    noticed, since, until = (_moment(head, name) for name in ('missing', 'missing_since', 'missing_until'))
    if not noticed or now - noticed > SHOWN:
        return ''
    loss, cause = (('may be missing', f'{commits.FILE} was damaged or removed')
                   if _moment(head, 'uncounted') else
                   ('were lost', 'a file of the history was damaged or removed, or the system lost power'))
    return (f'readings from {day(since)} to {day(until)} {loss}, because {cause}; earlier readings still count; '
            f'if there was no power failure, check the disk: dmesg -T | tail -50')


def day(moment: int) -> str:
    """Return a time in seconds since 1970 as a local date with hours and minutes."""
    return time.strftime('%Y-%m-%d %H:%M', time.localtime(moment))


def _moment(head: Head, name: str) -> int:
    return rows.moment(head.facts.get(name, 0))


def _named(numbers: Collection[str], head: Head) -> str:
    """Return the addresses of drives, or the models of those that have none, as a phrase."""
    at = {place.drive: place.address for place in head.places if not place.gone}
    names = [at.get(record.number) or record.identity.model for record in head.records
             if str(record.number) in numbers]
    return listed([clean(name) for name in names], _MOST_NAMED)


# --- copying -----------------------------------------------------------------------------

class OldFile(SqliteFile):
    """A damaged file that was set aside, of which each part is read alone."""

    def __init__(self, folder: HistoryFolder) -> None:
        """Open the file. If it is missing, no part of it can be read."""
        self.allow(SALVAGE)
        self.connect(':memory:', 'mode=memory', 0, ())
        if os.path.lexists(folder.damaged):
            self.part(lambda: self.connect(folder.damaged, 'mode=rw', directory.PATIENCE, SETTINGS))

    def part(self, work: Callable[[], T]) -> T | None:
        """Return the result of *work*; None if what it reads is damaged."""
        try:
            return work()
        except (Error, *WRONG_CONTENT):
            return None


def salvaged(database: Database, now: int) -> dict[str, object]:
    """Copy what is left of a damaged history, the list of known drives at least; return the facts of the new history.
    """
    folder, written, known = database.folder, database.commits, commits.read_known(database.folder)
    old = OldFile(folder)
    facts = old.part(lambda: rows.sealed(old)[0]) or {}
    losers = copy(old, database, known, written.time if written else 0)
    old.close()
    begun = min((record.first_read for record in known.drives), default=now)
    return {'begun': begun, **facts, 'lost_before': facts.get('lost', known.lost), 'lost': now,
            'losers': ' '.join(str(record.number) for record in losers)}


def copy(old: OldFile, new: SqliteFile, known: Known, last_read: int) -> list[Record]:
    """Copy all drives of a damaged history to a new one; return those whose readings are lost.

    known: drives that the history had, even if no part of it is left. last_read: when the last check read them.
    """
    listed = {record.number: (record._replace(last_read=max(last_read, record.first_read)),
                              tuple(place for place in known.places if place.drive == record.number))
              for record in known.drives}
    numbers = old.part(lambda: [int(number) for number, in old.run('SELECT number FROM drive')]) or ()
    lost = (_copied(old, new, number, listed.get(number)) for number in sorted({*listed, *numbers}))
    return [record for record in lost if record]


def _copied(old: OldFile, new: SqliteFile, number: int,
            listed: tuple[Record, tuple[DrivePlace, ...]] | None) -> Record | None:
    """Copy one drive; return it if its readings are lost. listed: as the list of known drives has it."""
    intact = old.part(lambda: rows.drive(old, number))
    found = intact or listed
    if found is None:
        return None   # a row that is damaged, or that belongs to no drive
    record, places = found
    stored = old.part(lambda: rows.stored(old, [record], rows.EVERY)[number]) if intact else None
    rows.write_drive(new, record)
    rows.write_places(new, places)
    if stored is None:
        return record
    rows.write_stored(new, number, stored)
    return None


# --- the clock ---------------------------------------------------------------------------

def doubt(now: int, latest: int, behind_since: int) -> str:
    """Return why the clock is in doubt, for a message; '' if it is not. All times are in seconds since 1970.

    latest: the latest time in the history. behind_since: when a clock far behind that was first seen; 0: never.
    """
    if now >= latest - SLACK or is_settled(now, latest, behind_since):
        return ''
    return (f'the clock is {(latest - now) // DAY} days behind the history; correct it, otherwise the stored readings '
            'get new dates after a day')


def is_settled(now: int, latest: int, behind_since: int) -> bool:
    """Return whether the clock has been far behind for a day, so the times in the history must have been wrong.

    A clock that showed a time before the first day of this program gives no start from which to count that day.
    """
    return now < latest - SLACK and EARLIEST <= behind_since <= now - DAY


def date_anew(database: Database, records: Sequence[Record], now: int) -> None:
    """Set the time of all points in the future to one second ago: their numbers are right, their times were not."""
    run, latest = database.run, now - 1
    run('DELETE FROM point WHERE time > ? AND time < (SELECT max(time) FROM point AS newest WHERE newest.series = '
        'point.series)', latest)
    run('UPDATE OR REPLACE point SET time = ?, gap = 0 WHERE time > ?', latest, latest)
    run('UPDATE drive SET first_read = min(first_read, ?), last_read = min(last_read, ?)', latest, latest)
    run('UPDATE place SET first = min(first, ?), gone = min(gone, ?)', latest, latest)
    run('UPDATE series SET absent = min(absent, ?)', latest)
    rows.sum_points(database, [record.number for record in records])
    rows.write_facts(database, behind=0, thinned=latest)
