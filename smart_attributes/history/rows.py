"""Read and write drives, places, series and points as rows of the database, inside a transaction.

The checksums form a tree: each series has a checksum of its points, and each drive has a checksum
of its series. Each
drive also has a seal: a checksum of its places and its row (which includes the checksum of its
series). The seal shows whether the stored data of the drive is intact. A checksum of all facts and
seals shows whether a drive is missing. So changed numbers and missing rows are detected. CRC-32
detects only accidental damage. It does not detect changes by the owner of the file, but checks of
other users do not trust this owner's history (see store.py).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain

from ..constants import HIGHEST_PERCENTAGE, HIGHEST_STORED
from ..model import Identity
from ..sqlite_file import SqliteFile, checksum
from ..typed import Any, NamedTuple
from . import series
from .drive_records import LATEST, DrivePlace, Record, moment
from .series import History, Key, Observation, Point

AllStored = Mapping[Key, 'Stored']

NO_SERIES = checksum([])  # checksum of a drive that has no number to store
_FEW = 8
# Conditions for points: all of judged series, only the newest of others. A single condition would
# scan all points.
_NEWEST = 'p.time = (SELECT max(time) FROM point WHERE series = s.number)'
_WHOLE = (series.CHANGE, series.LATELY)
RECENT = (f's.pace IN {_WHOLE}', f's.pace NOT IN {_WHOLE} AND {_NEWEST}')
EVERY = ('s.pace >= 0',)
# The casts protect against a modified database: SQLite accepts a text in a numeric column.
_SERIES = (
    'SELECT number, drive, CAST(metric AS TEXT), CAST(definition AS TEXT), CAST(pace AS INTEGER), '
    'CAST(absent AS INTEGER), settled, sum FROM series WHERE drive IN ({})'
)
_POINTS = (
    'SELECT p.series, CAST(p.time AS INTEGER), CAST(p.number AS REAL), CAST(p.gap AS INTEGER) '
    'FROM series AS s '
    'JOIN point AS p ON p.series = s.number WHERE s.drive IN ({}) AND {} ORDER BY p.series, p.time'
)
# Everything that is read each time the database is opened.
_FACTS = "SELECT name, value FROM fact WHERE name <> 'sum' ORDER BY name"
_SUM = "SELECT value FROM fact WHERE name = 'sum'"
_DRIVES = (
    'SELECT number, first_read, last_read, protocol, model, firmware, serial, wwn, '
    'sum, seal FROM drive'
)
_PLACES = 'SELECT address, drive, first, gone, scanned, slot FROM place'


class Stored(NamedTuple):
    """A series in the database."""

    number: int
    pace: int
    # when it was last read, if later checks had no value; 0: when its drive was last read
    absent: int
    history: History
    settled: int = 0  # checksum of all points except the newest
    sum: int = 0  # checksum of all points


class Head(NamedTuple):
    """The rows that are read each time the database is opened."""

    facts: Mapping[str, str] = {}
    records: tuple[Record, ...] = ()
    places: tuple[DrivePlace, ...] = ()


def head(database: SqliteFile) -> Head:
    """Return facts, drives and places.

    Raises ValueError if they have changed since they were written.
    """
    facts, drives = sealed(database)
    places = _places(database)
    found = [_drive(row, places.pop(row[0], ())) for row in drives]
    if places:
        raise ValueError('the place of an unknown drive')
    return Head(
        facts,
        tuple(record for record, _ in found),
        tuple(chain.from_iterable(at for _, at in found)),
    )


def sealed(database: SqliteFile) -> tuple[dict[str, str], Sequence[tuple[Any, ...]]]:
    """Return the facts and the rows of the drives, without comparing the seals with the content of
    the rows.

    Raises ValueError if the facts or the list of drives have changed since they were written.
    """
    facts, drives = _facts(database), database.run(f'{_DRIVES} ORDER BY number')
    if database.run(_SUM) != [(_sum(facts, drives),)]:
        raise ValueError('a wrong checksum')
    return facts, drives


def _facts(database: SqliteFile) -> dict[str, str]:
    return {str(name): str(value) for name, value in database.run(_FACTS)}


def drive(database: SqliteFile, number: int) -> tuple[Record, tuple[DrivePlace, ...]]:
    """Return the record and the places of one drive.

    Raises ValueError if they have changed since they were written.
    """
    (row,) = database.run(f'{_DRIVES} WHERE number = ?', number)
    return _drive(row, _places(database, 'WHERE drive = ?', number).get(number, ()))


def _places(
    database: SqliteFile, condition: str = '', *values: object
) -> dict[int, list[tuple[Any, ...]]]:
    """Return the rows of places, by drive number."""
    by_drive: dict[int, list[tuple[Any, ...]]] = {}
    for row in database.run(f'{_PLACES} {condition} ORDER BY address, drive', *values):
        by_drive.setdefault(row[1], []).append(row)
    return by_drive


def _drive(
    row: tuple[Any, ...], places: Sequence[tuple[Any, ...]]
) -> tuple[Record, tuple[DrivePlace, ...]]:
    """Return a drive and its places from their rows. Raises ValueError for a wrong seal."""
    if row[-1] != _seal(row, places):
        raise ValueError('a wrong seal')
    return _values(row, places)


def _values(
    row: tuple[Any, ...], places: Sequence[tuple[Any, ...]]
) -> tuple[Record, tuple[DrivePlace, ...]]:
    number, first, last, protocol, model, firmware, serial, wwn, total, _ = row
    return (
        Record(
            int(number),
            Identity(str(protocol), str(model), str(firmware), str(serial), str(wwn)),
            moment(first),
            moment(last),
            int(total),
        ),
        tuple(
            DrivePlace(
                str(address), int(drive), moment(first), moment(gone), bool(scanned), str(slot)
            )
            for address, drive, first, gone, scanned, slot in places
        ),
    )


def _seal(row: tuple[Any, ...], places: Sequence[tuple[Any, ...]]) -> int:
    """Return one checksum over the row of a drive (without the seal) and the rows of the drive's
    places.
    """
    return checksum([row[:-1]], places)


def _sum(facts: Mapping[str, str], drives: Sequence[tuple[Any, ...]]) -> str:
    return str(checksum(sorted(facts.items()), [(row[0], row[-1]) for row in drives]))


def stored(
    database: SqliteFile, drives: Sequence[Record], points: Sequence[str]
) -> dict[int, dict[Key, Stored]]:
    """Return the series of drives, by drive number. points: RECENT or EVERY.

    Raises ValueError if they have changed since they were written, or have values that a check
    never writes.
    """
    last_read = {record.number: record.last_read for record in drives}
    by_series = points_of(database, last_read, points)
    by_drive: dict[int, dict[Key, Stored]] = {number: {} for number in last_read}
    rows = series_of(database, last_read)
    if any(checksum(rows[record.number]) != record.sum for record in drives):
        raise ValueError('a wrong checksum')
    for number, drive, metric, definition, pace, absent, settled, total in chain.from_iterable(
        rows.values()
    ):
        history = History(tuple(by_series.get(number, ())), absent or last_read[drive])
        row = by_drive[drive][Key(metric, definition)] = Stored(
            number, pace, absent, history, settled, total
        )
        _check(row, most_of(definition), points is EVERY or pace in _WHOLE)
    return by_drive


def points_of(
    database: SqliteFile, drives: Collection[int], conditions: Sequence[str]
) -> dict[int, list[Point]]:
    """Return the points of the drives' series, by series number. conditions: RECENT or EVERY."""
    by_series: dict[int, list[Point]] = {}
    for condition in conditions:
        for number, *point in database.run(_POINTS.format(_listed(drives), condition)):
            by_series.setdefault(number, []).append(Point._make(point))
    return by_series


def _check(row: Stored, most: float, is_whole: bool) -> None:
    """Raise ValueError if a check cannot have written this series. is_whole: the series has all
    its points.
    """
    points = row.history.points
    if series.checksum(points, 0 if is_whole else row.settled) != row.sum:
        raise ValueError('a wrong checksum')
    # If there are many points, only the extremes are checked, because all points are plausible if
    # the extremes are.
    for time, number, _ in (
        points if len(points) < _FEW else (map(min, zip(*points)), map(max, zip(*points)))
    ):
        if not (0 <= number <= most and 0 <= time <= LATEST):
            raise ValueError('a number or a time that cannot be')


def most_of(definition: str) -> float:
    """Return the largest number that a series can have. definition: a text that ends with the
    unit, see past.key().
    """
    return HIGHEST_PERCENTAGE if definition[-1:] == '%' else HIGHEST_STORED


def _listed(numbers: Collection[int]) -> str:
    return ','.join(f'{number:d}' for number in numbers)


def series_of(database: SqliteFile, drives: Collection[int]) -> dict[int, list[tuple[Any, ...]]]:
    """Return the rows of series, by drive number."""
    by_drive: dict[int, list[tuple[Any, ...]]] = {number: [] for number in drives}
    for row in database.run(_SERIES.format(_listed(drives))):
        by_drive[row[1]].append(row)
    for rows in by_drive.values():
        rows.sort()  # sorted by number, the first column; SQLite would take longer
    return by_drive


def new_drive(database: SqliteFile, identity: Identity, now: int) -> Record:
    """Create and return the record of a drive that is new to the history."""
    return write_drive(database, Record(0, identity, now, now))


def write_drive(database: SqliteFile, record: Record) -> Record:
    """Write the record of a drive without series; return the record, with a new number if the
    number given is 0.
    """
    who = record.identity
    database.run(
        'INSERT INTO drive (number, protocol, model, firmware, serial, wwn, first_read, '
        'last_read, sum) '
        'VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
        record.number or None,
        who.protocol,
        who.model,
        who.firmware,
        who.serial,
        who.wwn,
        record.first_read,
        record.last_read,
        NO_SERIES,
    )
    return record._replace(number=database.value('SELECT last_insert_rowid()'), sum=NO_SERIES)


def write_stored(database: SqliteFile, drive: int, known: AllStored) -> None:
    """Write series with all their points, as returned by stored(), and the checksum of their
    drive.
    """
    database.run_all(
        'INSERT INTO series VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
        [
            (row.number, drive, *key, row.pace, row.absent, row.settled, row.sum)
            for key, row in known.items()
        ],
    )
    database.run_all(
        'INSERT INTO point VALUES (?, ?, ?, ?)',
        [(row.number, *point) for row in known.values() for point in row.history.points],
    )
    sum_series(database, [drive])


def read_again(database: SqliteFile, read: Sequence[tuple[Record, Identity]], now: int) -> None:
    """Update the last read time and the firmware of the drives, and incomplete identities (cut
    models, hidden WWNs).
    """
    database.run_all(
        'UPDATE drive SET last_read = ?, firmware = ?, model = ?, serial = ?, wwn = ? WHERE '
        'number = ?',
        [
            (
                now,
                identity.firmware,
                max(record.identity.model, identity.model, key=len),
                record.identity.serial or identity.serial,
                record.identity.wwn or identity.wwn,
                record.number,
            )
            for record, identity in read
        ],
    )


def write_readings(
    database: SqliteFile,
    record: Record,
    observations: Sequence[Observation],
    known: AllStored,
    now: int,
) -> tuple[bool, bool]:
    """Write the new numbers of a drive.

    Return whether a series has changed, in which case the drive's checksum must be updated, and
    whether a judged number has changed.
    """
    numbers = {
        each.key: each._replace(number=float(each.number))
        for each in observations
        if 0 <= each.number <= most_of(each.key.definition)
    }
    points: list[tuple[object, ...]] = []
    updates: list[tuple[object, ...]] = []
    is_urgent = False
    for key, number, pace, gap in numbers.values():
        row = known.get(key) or new_series(database, record.number, key, pace)
        point = series.next_point(pace, row.history, number, now)
        if point:
            point = point._replace(gap=gap or point.gap)
            is_urgent = is_urgent or pace == series.CHANGE
            row = (
                _with(row, point)
                if pace != series.LATELY
                else _shortened(database, row, point, now)
            )
            points += [
                (row.number, *each)
                for each in (row.history.points if pace == series.LATELY else [point])
            ]
        if point or row.pace != pace or row.absent:
            updates.append((pace, row.settled, row.sum, row.number))
    database.run_all('INSERT OR REPLACE INTO point VALUES (?, ?, ?, ?)', points)
    database.run_all(
        'UPDATE series SET pace = ?, absent = 0, settled = ?, sum = ? WHERE number = ?', updates
    )
    lacking = [
        (record.last_read, row.number)
        for key, row in known.items()
        if key not in numbers and not row.absent
    ]
    database.run_all('UPDATE series SET absent = ? WHERE number = ?', lacking)
    return bool(updates or lacking), is_urgent


def _with(row: Stored, point: Point) -> Stored:
    """Add a point to a series, or replace the newest point; return the series with new
    checksums.
    """
    settled = (
        row.sum
        if not row.history.points or point.time > row.history.points[-1].time
        else row.settled
    )
    return row._replace(settled=settled, sum=series.checksum([point], settled))


def _shortened(database: SqliteFile, row: Stored, point: Point, now: int) -> Stored:
    """Delete all points of a series; return the series with only the points for hysteresis, and
    with new checksums.
    """
    grown = row.history._replace(points=(*row.history.points, point))
    rest = series.peaks(series.latest(grown, now, series.SPAN) or grown.points)
    database.run('DELETE FROM point WHERE series = ?', row.number)
    return row._replace(
        history=History(tuple(rest)), settled=series.checksum(rest[:-1]), sum=series.checksum(rest)
    )


def new_series(database: SqliteFile, drive: int, key: Key, pace: int, absent: int = 0) -> Stored:
    """Create and return a series without points."""
    database.run(
        'INSERT INTO series (drive, metric, definition, pace, absent) VALUES (?, ?, ?, ?, ?)',
        drive,
        *key,
        pace,
        absent,
    )
    return Stored(database.value('SELECT last_insert_rowid()'), pace, 0, History())


def sum_series(database: SqliteFile, drives: Collection[int]) -> None:
    """Recalculate the checksums of drives from the checksums of their series."""
    database.run_all(
        'UPDATE drive SET sum = ? WHERE number = ?',
        [(checksum(rows), number) for number, rows in series_of(database, drives).items()],
    )


def count(database: SqliteFile, least: int, now: int) -> tuple[int, Head]:
    """Write the next commit number, the seals and the checksum over everything; return the number
    and the rows of Head.

    least: the largest number so far, from the commit record. Call this at the end, just before
    COMMIT.
    """
    before = database.run("SELECT CAST(value AS INTEGER) FROM fact WHERE name = 'sequence'")
    sequence: int = max(least, *(number for (number,) in before), 0) + 1
    write_facts(database, sequence=sequence, written=now)
    places = _places(database)
    drives = [
        (*row[:-1], _seal(row, places.get(row[0], ())))
        for row in database.run(f'{_DRIVES} ORDER BY number')
    ]
    database.run_all(
        'UPDATE drive SET seal = ? WHERE number = ?', [(row[-1], row[0]) for row in drives]
    )
    facts = _facts(database)
    write_facts(database, sum=_sum(facts, drives))
    found = [_values(row, places.get(row[0], ())) for row in drives]
    return sequence, Head(
        facts,
        tuple(record for record, _ in found),
        tuple(chain.from_iterable(at for _, at in found)),
    )


def write_facts(database: SqliteFile, **facts: object) -> None:
    """Write facts about the history itself."""
    database.run_all(
        'INSERT OR REPLACE INTO fact VALUES (?, ?)',
        [(name, str(fact)) for name, fact in facts.items()],
    )


def write_places(database: SqliteFile, changed: Collection[DrivePlace]) -> None:
    """Write places that are new or have changed."""
    database.run_all('INSERT OR REPLACE INTO place VALUES (?, ?, ?, ?, ?, ?)', tuple(changed))
