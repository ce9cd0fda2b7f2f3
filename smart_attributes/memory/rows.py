"""Drives, places, series and points as rows of the database. Whoever calls this is inside a transaction."""
from __future__ import annotations

from ..model import Identity
from ..typed import TYPE_CHECKING, NamedTuple
from . import series
from .changes import Place
from .clock import LATEST, moment
from .database import Database
from .drives import Record
from .series import History, Key, Observation, Point

if TYPE_CHECKING:
    from typing import Collection, Dict, List, Mapping, Sequence, Tuple

LARGEST = 1e30     # beyond is no number of a drive, and sums of two could be infinite
# Which points: of series that are judged all. Two statements, for an OR would walk through all of the others.
_NEWEST = 'p.time = (SELECT max(time) FROM point WHERE series = s.number)'
RECENT = (f's.pace = {series.CHANGE}', f's.pace <> {series.CHANGE} AND {_NEWEST}')
EVERY = ('s.pace >= 0',)
# The casts are for a database that somebody has been at: SQLite takes a text where a number belongs.
_SERIES = ('SELECT number, drive, CAST(role AS TEXT), CAST(definition AS TEXT), CAST(pace AS INTEGER), CAST(absent AS '
           'INTEGER) '
           'FROM series WHERE drive IN ({})')
_POINTS = ('SELECT p.series, CAST(p.time AS INTEGER), CAST(p.number AS REAL), CAST(p.gap AS INTEGER) FROM series AS s '
           'JOIN point AS p ON p.series = s.number WHERE s.drive IN ({}) AND {} ORDER BY p.series, p.time')


class Stored(NamedTuple):
    """A series in the database."""

    number: int
    pace: int
    absent: int          # when it was last read, where later checks had no number for it; 0: whenever its drive was
    history: History


if TYPE_CHECKING:
    AllStored = Mapping[Key, Stored]


# --- reading ---------------------------------------------------------------------------

def records(database: Database) -> Tuple[Record, ...]:
    """Return all drives."""
    found = database.run('SELECT number, first_read, last_read, protocol, model, firmware, serial, wwn FROM drive '
                         'ORDER BY number')
    return tuple(Record(int(number), Identity(str(protocol), str(model), str(firmware), str(serial), str(wwn)),
                        moment(first), moment(last))
                 for number, first, last, protocol, model, firmware, serial, wwn in found)


def places(database: Database) -> Tuple[Place, ...]:
    """Return all places."""
    found = database.run('SELECT address, drive, first, gone, scanned FROM place '
                         'WHERE drive IN (SELECT number FROM drive)')
    return tuple(Place(str(address), int(drive), moment(first), moment(gone), bool(scanned))
                 for address, drive, first, gone, scanned in found)


def stored(database: Database, wanted: Sequence[Record], points: Sequence[str]) -> Dict[int, Dict[Key, Stored]]:
    """Return the series of drives, by the numbers of these. points: RECENT or EVERY."""
    last_read = {record.number: record.last_read for record in wanted}
    numbers = ','.join(f'{number:d}' for number in last_read)
    by_series: Dict[int, List[Point]] = {}
    for condition in points:
        for number, *point in database.run(_POINTS.format(numbers, condition)):
            by_series.setdefault(number, []).append(_sound(Point._make(point)))
    found: Dict[int, Dict[Key, Stored]] = {number: {} for number in last_read}
    for number, drive, role, definition, pace, absent in database.run(_SERIES.format(numbers)):
        history = History(tuple(by_series.get(number, ())), absent or last_read[drive])
        found[drive][Key(role, definition)] = Stored(number, pace, absent, history)
    return found


def _sound(point: Point) -> Point:
    """Return a point that can be reckoned with. Raises ValueError for one that no check has written."""
    if not (-LARGEST < point.number < LARGEST and 0 <= point.time <= LATEST):
        raise ValueError('no number, or no time')
    return point


# --- writing ---------------------------------------------------------------------------

def new_drive(database: Database, identity: Identity, now: int) -> Record:
    """Make a record for a drive that memory meets for the first time."""
    database.run('INSERT INTO drive (protocol, model, firmware, serial, wwn, first_read, last_read) VALUES (?, ?, ?, '
                 '?, ?, ?, ?)',
                 identity.protocol, identity.model, identity.firmware, identity.serial, identity.wwn, now, now)
    return Record(database.value('SELECT last_insert_rowid()'), identity, now, now)


def read_again(database: Database, read: Sequence[Tuple[Record, Identity]], now: int) -> None:
    """Note when drives were read, with which firmware, and names that they lacked: cut models and hidden WWNs grow
    whole.
    """
    database.run_all('UPDATE drive SET last_read = ?, firmware = ?, model = ?, serial = ?, wwn = ? WHERE number = ?', [
        (now, identity.firmware, max(record.identity.model, identity.model, key=len),
         record.identity.serial or identity.serial,
         record.identity.wwn or identity.wwn, record.number) for record, identity in read])


def write_readings(database: Database, record: Record, observations: Sequence[Observation], known: AllStored,
                   now: int) -> None:
    """Write what this check read of a drive, as far as it says anything new."""
    numbers = {key: (number, pace) for key, number, pace in observations if abs(number) < LARGEST}
    points: List[Tuple[object, ...]] = []
    for key, (number, pace) in numbers.items():
        row = known.get(key) or _new_series(database, record.number, key, pace)
        if row.pace != pace or row.absent:
            database.run('UPDATE series SET pace = ?, absent = 0 WHERE number = ?', pace, row.number)
        point = series.next_point(pace, row.history, number, now)
        points += [(row.number, *point)] if point else []
    database.run_all('INSERT OR REPLACE INTO point VALUES (?, ?, ?, ?)', points)
    lacking = [(record.last_read, row.number) for key, row in known.items() if key not in numbers and not row.absent]
    database.run_all('UPDATE series SET absent = ? WHERE number = ?', lacking)


def _new_series(database: Database, drive: int, key: Key, pace: int, absent: int = 0) -> Stored:
    database.run('INSERT INTO series (drive, role, definition, pace, absent) VALUES (?, ?, ?, ?, ?)', drive, *key, pace,
                 absent)
    return Stored(database.value('SELECT last_insert_rowid()'), pace, 0, History())


def write_past(database: Database, record: Record, known: AllStored, key: Key, pace: int,
               points: Sequence[Point]) -> int:
    """Write what is older than all that memory has of a series; return how many points."""
    row = known.get(key) or _new_series(database, record.number, key, pace, absent=points[-1].time)
    first = database.value('SELECT min(time) FROM point WHERE series = ?', row.number)
    older = [point for point in points if first is None or point.time < first]
    database.run_all('INSERT INTO point VALUES (?, ?, ?, ?)', [(row.number, *point) for point in older])
    if older and first is not None:  # what was the first has one before it now
        database.run('UPDATE point SET gap = ? WHERE series = ? AND time = ?', first - older[-1].time, row.number,
                     first)
    return len(older)


def write_places(database: Database, changed: Collection[Place]) -> None:
    """Write places that are new or not what they were."""
    database.run_all('INSERT OR REPLACE INTO place VALUES (?, ?, ?, ?, ?)', tuple(changed))


def remove(database: Database, drive: int) -> None:
    """Remove all that is known of a drive."""
    database.run('DELETE FROM point WHERE series IN (SELECT number FROM series WHERE drive = ?)', drive)
    for table, column in (('series', 'drive'), ('place', 'drive'), ('drive', 'number')):
        database.run(f'DELETE FROM {table} WHERE {column} = ?', drive)  # noqa: S608


def thin(database: Database, until: int, now: int) -> None:
    """Thin what is older than *until* to a point a month, and what changes all the time to one a day."""
    counts = database.run('SELECT s.number, s.pace, count(*), min(p.time) FROM series AS s '
                          'JOIN point AS p ON p.series = s.number GROUP BY s.number')
    for number, pace, count, first in counts:
        days = series.day_limit(count, now) if pace == series.CHANGE else 0
        if first >= max(until, days):
            continue
        points = [Point(*row) for row in database.run('SELECT time, number, gap FROM point WHERE series = ? AND time '
                                                      '< ? ORDER BY time',
                                                      number, max(until, days))]
        kept = set(series.thinned(points, until, pace))
        database.run_all('DELETE FROM point WHERE series = ? AND time = ?',
                         [(number, point.time) for point in points if point not in kept])
    database.run('DELETE FROM place WHERE gone BETWEEN 1 AND ?', until)
