"""Rows of history: what a check adds to them and takes away, in a database of its own; checksums
are always right.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import history_database
import pytest

from smart_attributes.constants import DAY, HOUR
from smart_attributes.history import rows, series, upkeep
from smart_attributes.history.database import Database
from smart_attributes.history.drive_records import DrivePlace, Record
from smart_attributes.history.rows import LATEST
from smart_attributes.history.series import CHANGE, DAILY, HIGHEST, LATELY, Key, Observation, Point
from smart_attributes.model import Identity

START = 1_795_132_800  # 20 November 2026, 00:00
DRIVE = Identity('ATA', 'ACME 4000', 'F1', 'S3RIAL01', '5000c500a1b2c3d4')
CRC, HEAT = Key('crc_errors', 'attribute 199, raw'), Key('temperature', 'attribute 194')


@pytest.fixture
def database(tmp_path: Path) -> Database:
    return history_database.empty(tmp_path, START)


@pytest.fixture
def record(database: Database) -> Record:
    return new(database, DRIVE)


def new(database: Database, identity: Identity) -> Record:
    """A drive without series; the sum of those is that of nothing."""
    made = rows.new_drive(database, identity, START)
    rows.sum_series(database, [made.number])
    return made


def stored(database: Database, drive: int = 1) -> dict:
    """What is there of a drive. Raises ValueError where a checksum is wrong."""
    rows.count(database, 0, START)
    records = [record for record in rows.head(database).records if record.number == drive]
    return rows.stored(database, records, rows.EVERY)[drive]


def write(
    database: Database, record: Record, now: int, *numbers: tuple[Key, float, int]
) -> tuple[bool, bool]:
    """Write what a check at a time has read."""
    result = rows.write_readings(
        database,
        record,
        [Observation(*each) for each in numbers],
        stored(database, record.number),
        now,
    )
    rows.sum_series(database, [record.number])
    rows.read_again(database, [(record, record.identity)], now)
    return result


def fill(database: Database, record: Record, key: Key, pace: int, points: Sequence[Point]) -> None:
    upkeep.write_past(database, record, stored(database, record.number), key, pace, points)
    upkeep.sum_points(database, [record.number])


def test_a_new_drive_is_first_and_last_read_now(database):
    made = [
        rows.new_drive(database, DRIVE._replace(serial=serial), START + place)
        for place, serial in enumerate('AB')
    ]
    rows.count(database, 0, START)

    assert made == [
        Record(1, DRIVE._replace(serial='A'), START, START, rows.NO_SERIES),
        Record(2, DRIVE._replace(serial='B'), START + 1, START + 1, rows.NO_SERIES),
    ]
    assert list(rows.head(database).records) == made


@pytest.mark.parametrize(
    ('before', 'after', 'result'),
    [
        (DRIVE, DRIVE._replace(firmware='F2'), DRIVE._replace(firmware='F2')),
        (DRIVE._replace(model='ACME', serial='', wwn=''), DRIVE, DRIVE),
        (DRIVE, DRIVE._replace(model='ACME', serial='', wwn=''), DRIVE),
        (DRIVE._replace(model='Z'), DRIVE, DRIVE),
        (DRIVE, DRIVE._replace(serial='OTHER', wwn='OTHER'), DRIVE),
    ],
    ids=['new-firmware', 'names-it-lacked', 'cut-names', 'longer-not-later', 'other-names'],
)
def test_a_drive_keeps_the_longest_names_that_it_was_read_with(database, before, after, result):
    """Through some bridges models are cut and WWNs are hidden."""
    first = rows.new_drive(database, before, START)
    rows.read_again(database, [(first, after)], START + 300)
    rows.count(database, 0, START)

    assert [(each.identity, each.last_read) for each in rows.head(database).records] == [
        (result, START + 300)
    ]


@pytest.mark.parametrize(
    ('earlier', 'numbers', 'result'),
    [
        ([], [(CRC, 5, CHANGE)], (True, True)),
        ([(CRC, 5, CHANGE)], [(CRC, 5, CHANGE)], (False, False)),
        ([(CRC, 5, CHANGE)], [(CRC, 6, CHANGE)], (True, True)),
        ([], [(CRC, 5, DAILY)], (True, False)),
        ([(CRC, 5, DAILY)], [(CRC, 6, DAILY)], (False, False)),
        ([(CRC, 5, LATELY)], [(CRC, 6, LATELY)], (True, False)),
        ([], [(CRC, 5, CHANGE), (HEAT, 5, DAILY)], (True, True)),
        ([], [(HEAT, 5, DAILY), (CRC, 5, CHANGE)], (True, True)),
        ([(CRC, 5, DAILY)], [(CRC, 5, HIGHEST)], (True, False)),
        ([(CRC, 5, CHANGE)], [], (True, False)),
    ],
    ids=[
        'new',
        'ok-same',
        'changed',
        'new-daily',
        'ok-same-day',
        'lately',
        'urgent-first',
        'urgent-last',
        'other-pace',
        'lacking',
    ],
)
def test_a_check_says_whether_a_series_changed_and_a_judged_number(
    database, record, earlier, numbers, result
):
    """The first decides about checksums, the second about the disk."""
    if earlier:
        write(database, record, START, *earlier)

    assert write(database, record._replace(last_read=START), START + 300, *numbers) == result


def test_a_number_that_is_lacking_is_absent_until_it_comes_back(database, record):
    write(database, record, START, (CRC, 5, CHANGE))
    read = record._replace(last_read=START)

    assert write(database, read, START + 300) == (True, False)
    assert (stored(database)[CRC].absent, stored(database)[CRC].history.last_read) == (START, START)
    assert write(database, read._replace(last_read=START + 300), START + 600) == (False, False)
    assert write(database, read, START + 900, (CRC, 5, CHANGE)) == (True, False)
    assert (stored(database)[CRC].absent, stored(database)[CRC].history.last_read) == (
        0,
        START + 900,
    )


def test_of_what_hysteresis_needs_the_peaks_of_a_day_are_kept(database, record):
    """Each begins where the first lower one that it follows began."""
    for hour, number in enumerate([90, *range(80, 50, -1), 60]):
        write(database, record, START + hour * HOUR, (HEAT, number, LATELY))
    row = stored(database)[HEAT]

    assert [(point.time - START) // HOUR for point in row.history.points] == list(range(7, 22))
    assert [point.number for point in row.history.points] == [*range(74, 60, -1), 60]
    assert (row.settled, row.sum) == (
        series.checksum(row.history.points[:-1]),
        series.checksum(row.history.points),
    )


@pytest.mark.parametrize(
    ('least', 'before', 'number'), [(0, None, 1), (0, 5, 6), (9, 5, 10), (3, 5, 6)]
)
def test_a_commit_gets_the_next_number_and_its_time(database, least, before, number):
    database.run('DELETE FROM fact')
    if before:
        rows.write_facts(database, sequence=before)

    assert rows.count(database, least, START + 7)[0] == number
    assert rows.head(database).facts == {'sequence': str(number), 'written': str(START + 7)}


def test_what_was_read_before_history_stands_before_its_first_point(database, record):
    """The log of another program goes on after history began; of that time nothing is taken."""
    write(database, record, START, (CRC, 9, CHANGE))
    known = stored(database)
    past = [
        Point(START - 900, 5),
        Point(START - 600, 6, 300),
        Point(START, 7, 600),
        Point(START + 1, 8, 1),
    ]

    assert upkeep.write_past(database, record, known, CRC, CHANGE, past) == 2
    assert upkeep.write_past(database, record, known, HEAT, DAILY, past[:2]) == 2
    upkeep.sum_points(database, [1])
    assert stored(database)[CRC].history.points == (*past[:2], Point(START, 9, 600))
    assert (stored(database)[HEAT].absent, stored(database)[HEAT].pace) == (START - 600, DAILY)


def test_a_place_is_read_as_it_was_written(database, record):
    places = (DrivePlace('/dev/sda', 1, START, START + 5, True), DrivePlace('/dev/sdb', 1, START))
    rows.write_places(database, places)
    rows.count(database, 0, START)

    assert rows.head(database).places == places


def test_a_drive_is_removed_with_all_that_is_its_own(database, record):
    other = new(database, DRIVE._replace(serial='S3RIAL02'))
    for each in (record, other):
        write(database, each, START, (CRC, each.number, CHANGE))
        rows.write_places(database, [DrivePlace(f'/dev/sd{each.number}', each.number, START)])
    upkeep.remove(database, 1)
    rows.count(database, 0, START)

    assert [
        [each.number for each in rows.head(database).records],
        [each.drive for each in rows.head(database).places],
        *(database.run(f'SELECT count(*) FROM {table}') for table in ('series', 'point')),
    ] == [[2], [2], [(1,)], [(1,)]]
    assert stored(database, 2)[CRC].history.points == (Point(START, 2),)


def test_old_points_are_thinned_to_one_a_month_and_many_to_one_a_day(database, record):
    """Of temperatures the highest stays, of all else the last; the checksums of all drives are
    right after it.
    """
    other = new(database, DRIVE._replace(serial='S3RIAL02'))
    old, until = START // (30 * DAY) * 30 * DAY, START + 60 * DAY
    young = [Point(until + 1, 1), Point(until + 2, 2, 1)]
    fill(database, record, Key('young', ''), CHANGE, young)
    fill(database, record, CRC, CHANGE, [Point(old + hour * HOUR, hour) for hour in range(48)])
    fill(
        database, other, HEAT, HIGHEST, [Point(old + hour * HOUR, 50 - hour) for hour in range(48)]
    )
    fill(
        database, other, CRC, CHANGE, [Point(until + 600 * number, number) for number in range(501)]
    )
    rows.write_places(
        database,
        [
            DrivePlace('/dev/sda', 1, old, until),
            DrivePlace('/dev/sdb', 1, old, until + 1),
            DrivePlace('/dev/sdc', 1, old),
        ],
    )
    upkeep.thin(database, until, until + 4 * DAY)

    assert stored(database)[Key('young', '')].history.points == tuple(young)
    assert [point.number for point in stored(database)[CRC].history.points] == [47]
    assert [point.number for point in stored(database, 2)[HEAT].history.points] == [50]
    assert [point.number for point in stored(database, 2)[CRC].history.points] == [
        143,
        287,
        425,
        *range(426, 501),
    ]
    assert [place.address for place in rows.head(database).places] == ['/dev/sdb', '/dev/sdc']


@pytest.mark.parametrize(
    ('statement', 'reason'),
    [
        ('UPDATE fact SET value = 7', 'a wrong checksum'),
        ('UPDATE drive SET wwn = 7', 'a wrong seal'),
        ('DELETE FROM drive', 'a wrong checksum'),
        ("INSERT INTO place VALUES ('/dev/sdz', 1, 1, 0, 0, '')", 'a wrong seal'),
        ("INSERT INTO place VALUES ('/dev/sdz', 9, 1, 0, 0, '')", 'the place of an unknown drive'),
        ('UPDATE series SET pace = 7', 'a wrong checksum'),
        ('UPDATE point SET number = 7', 'a wrong checksum'),
    ],
)
def test_a_row_that_changed_is_damage(database, record, statement, reason):
    write(database, record, START, (CRC, 5, CHANGE))
    rows.count(database, 0, START)
    records = rows.head(database).records
    database.run(statement)

    with pytest.raises(ValueError, match=f'^{reason}$'):
        rows.head(database)
        rows.stored(database, records, rows.EVERY)


@pytest.mark.parametrize(
    ('point', 'is_possible'),
    [
        (Point(LATEST, 1), True),
        (Point(LATEST + 1, 1), False),
        (Point(0, 1), True),
        (Point(-1, 1), False),
        (Point(START, rows.HIGHEST_STORED), True),
        (Point(START, rows.HIGHEST_STORED * 2), False),
        (Point(START, -1), False),
    ],
)
@pytest.mark.parametrize('count', [1, 20])
def test_a_point_that_no_check_has_written_is_damage(database, record, count, point, is_possible):
    """Also with the right checksums; somebody has changed the history."""
    write(database, record, START, (CRC, 5, CHANGE))
    database.run('DELETE FROM point')
    database.run_all(
        'INSERT INTO point VALUES (1, ?, ?, ?)',
        [point, *(Point(START + number, number) for number in range(1, count))],
    )
    upkeep.sum_points(database, [1])
    if is_possible:
        assert point in stored(database)[CRC].history.points
    else:
        with pytest.raises(ValueError, match=r'^a number or a time that cannot be$'):
            stored(database)
