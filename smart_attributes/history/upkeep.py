"""Changes to the history that few checks make: thin or redate readings, import smartd's logs,
remove drives.

A check that only adds its readings does not load this module.
If the clock is slightly behind (set back by a minute or an hour), nothing is written until it has
caught up. If it is days behind, it is wrong now (an empty board battery at start-up) or was wrong
before (a year ahead for an hour). These cases cannot be distinguished at once, so a clock that
stays far behind for a day is considered right. During this day, readings are stored as if no time
passed, so that no growth is lost.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..constants import DAY, HOUR, MONTH
from ..sqlite_file import SqliteFile
from . import rows, series
from .drive_records import Record
from .rows import AllStored
from .series import CHANGE, HIGHEST, MANY, Key, Point

SLACK = DAY
EARLIEST = 1_767_225_600  # 1 January 2026: before this date, this program did not exist
# older points of a series that changes at every check are reduced to one per day
KEPT_WHOLE = 25 * HOUR


def sum_points(database: SqliteFile, drives: Collection[int]) -> None:
    """Recalculate the checksums of all series of drives from their points, then the checksums of
    the drives.
    """
    points = rows.points_of(database, drives, rows.EVERY)
    database.run_all(
        'UPDATE series SET settled = ?, sum = ? WHERE number = ?',
        [
            (series.checksum(own[:-1]), series.checksum(own), number)
            for found in rows.series_of(database, drives).values()
            for number, *_ in found
            for own in [points.get(number, [])]
        ],
    )
    rows.sum_series(database, drives)


def write_past(
    database: SqliteFile,
    record: Record,
    known: AllStored,
    key: Key,
    pace: int,
    points: Sequence[Point],
) -> int:
    """Write points older than the first point of a series; return their number.

    The caller updates the checksums.
    """
    row = known.get(key) or rows.new_series(
        database, record.number, key, pace, absent=points[-1].time
    )
    first = database.value('SELECT min(time) FROM point WHERE series = ?', row.number)
    most = rows.most_of(key.definition)
    older = [
        point
        for point in points
        if (first is None or point.time < first) and 0 <= point.number <= most
    ]
    database.run_all(
        'INSERT INTO point VALUES (?, ?, ?, ?)',
        [(row.number, time, float(number), gap) for time, number, gap in older],
    )
    if older and first is not None:  # the former first point has a predecessor now
        gap = first - older[-1].time
        database.run(
            'UPDATE point SET gap = ? WHERE series = ? AND time = ?', gap, row.number, first
        )
    return len(older)


def remove(database: SqliteFile, drive: int) -> None:
    """Delete all data of a drive. drive: number of its record."""
    database.run(
        'DELETE FROM point WHERE series IN (SELECT number FROM series WHERE drive = ?)', drive
    )
    for table, column in (('series', 'drive'), ('place', 'drive'), ('drive', 'number')):
        database.run(f'DELETE FROM {table} WHERE {column} = ?', drive)  # noqa: S608


def thin(database: SqliteFile, until: int, now: int) -> None:
    """Thin points before *until* to one per month, and later points of constantly changing
    series to one per day.
    """
    counts = database.run(
        'SELECT s.number, s.drive, s.pace, count(*), min(p.time) FROM series AS s '
        'JOIN point AS p ON p.series = s.number GROUP BY s.number'
    )
    touched: set[int] = set()
    for number, drive, pace, length, first in counts:
        before = max(until, now - KEPT_WHOLE if pace == CHANGE and length > MANY else 0)
        if first >= before:
            continue
        points = [
            Point(*row)
            for row in database.run(
                'SELECT time, number, gap FROM point WHERE series = ? AND time < ? ORDER BY time',
                number,
                before,
            )
        ]
        rest = set(thinned(points, until, pace))
        gone = [(number, point.time) for point in points if point not in rest]
        database.run_all('DELETE FROM point WHERE series = ? AND time = ?', gone)
        touched |= {drive} if gone else set()
    sum_points(database, touched)
    database.run('DELETE FROM place WHERE gone BETWEEN 1 AND ?', until)


def thinned(points: Sequence[Point], old: int, pace: int = CHANGE) -> list[Point]:
    """Return the points to keep: one of each month before *old*, and one of each day after *old*.

    For HIGHEST, the highest point is kept; otherwise the last point, whose number still applies
    afterwards.
    """
    newest: dict[tuple[int, int], Point] = {}
    for point in points:
        span = MONTH if point.time < old else DAY
        before = newest.get((span, point.time // span))
        if pace != HIGHEST or before is None or point.number > before.number:
            newest[span, point.time // span] = point
    return list(newest.values())


def doubt(now: int, latest: int, behind_since: int) -> str:
    """Return the reason to doubt the clock, for a message, or ''.

    All times are in seconds since 1970.

    latest: the latest time in the history. behind_since: when the clock was first found far behind
    this time; 0: never.
    """
    if now >= latest - SLACK or is_settled(now, latest, behind_since):
        return ''
    return (
        f'the clock is {(latest - now) // DAY} days behind the history; correct the clock within '
        f'a day, '
        'otherwise the plugin changes the dates of the stored readings'
    )


def is_settled(now: int, latest: int, behind_since: int) -> bool:
    """Return whether the clock has been far behind for a day, so the times in the history must have
    been wrong.

    If the clock showed a time before the first day of this program, the day cannot be counted from
    that time.
    """
    return now < latest - SLACK and EARLIEST <= behind_since <= now - DAY


def date_anew(database: SqliteFile, records: Sequence[Record], now: int) -> None:
    """Set the time of all points in the future to one second ago: only their times were wrong,
    not their numbers.
    """
    run, latest = database.run, now - 1
    run(
        'DELETE FROM point WHERE time > ? AND time < (SELECT max(time) FROM point AS newest WHERE '
        'newest.series = '
        'point.series)',
        latest,
    )
    run('UPDATE OR REPLACE point SET time = ?, gap = 0 WHERE time > ?', latest, latest)
    run(
        'UPDATE drive SET first_read = min(first_read, ?), last_read = min(last_read, ?)',
        latest,
        latest,
    )
    run('UPDATE place SET first = min(first, ?), gone = min(gone, ?)', latest, latest)
    run('UPDATE series SET absent = min(absent, ?)', latest)
    sum_points(database, [record.number for record in records])
    rows.write_facts(database, behind=0, thinned=latest)
