"""The history of one drive as a value and as text: what is written is read again, and nothing
else is.
"""

import json
import resource
import time
from collections.abc import Sequence
from typing import Any
from zlib import crc32

import pytest

from smart_attributes.constants import (
    DAY,
    HOUR,
    LARGEST_HISTORY,
    LONGEST_STATEMENT,
    MONTH,
    MOST_PLACES,
    MOST_SERIES,
)
from smart_attributes.history import drive_file
from smart_attributes.history.drive_file import Damaged, DriveHistory, Newer, Series
from smart_attributes.history.drive_records import LATEST, DrivePlace, Record
from smart_attributes.history.series import (
    CHANGE,
    DAILY,
    HIGHEST,
    LATELY,
    Key,
    Observation,
    Point,
)
from smart_attributes.model import Identity, LastFinding, LastVerdict, State

NOW = 1_795_000_000  # 18 November 2026
IDENTITY = Identity('ATA', 'ACME 4000', 'F1', 'S3RIAL01', '5000c500a1b2c3d4')
CRC, HOT = Key('crc_errors', 'attribute 199, raw'), Key('temperature', 'attribute 194')
FAILED = LastFinding(State.CRITICAL, 'smart_status', 'smart_status: FAILED')
GREW = LastFinding(
    State.WARNING, 'crc_errors', 'crc_errors grew by 3\u20ac', 3.5, 'swap it', NOW + DAY
)
VERDICT = LastVerdict(NOW, (FAILED, GREW), 'ACME 4000', is_disk=True)
WHOLE = DriveHistory(
    Record(7, IDENTITY, NOW - DAY, NOW, order=5),
    (
        DrivePlace(
            '/dev/sda',
            7,
            NOW - DAY,
            gone=NOW,
            is_scanned=True,
            slot='pci-1',
            machine='1a2b',
            newest_order=9,
        ),
    ),
    VERDICT,
    {
        CRC: Series(CHANGE, (Point(NOW - DAY, 0), Point(NOW - HOUR, 3, 300))),
        HOT: Series(HIGHEST, (Point(NOW, 30.5),), last_seen=NOW - 9),
        Key('none', 'yet'): Series(LATELY),
    },
    behind_since=NOW - 6,
)


def signed(body: bytes, version: int = drive_file.VERSION) -> bytes:
    """Return the content of a file with this body and a right checksum."""
    return b'check_smart_attributes history %d %08x\n%s\n' % (
        version,
        crc32(body, version),
        body,
    )


def forged(**changes: object) -> bytes:
    """Return the content of a file that this program would not write."""
    document = json.loads(drive_file.text(WHOLE).partition(b'\n')[2])
    return signed(json.dumps({**document, **changes}).encode())


def test_what_is_written_is_read_again():
    assert drive_file.parsed(drive_file.text(WHOLE), 7) == WHOLE
    empty = DriveHistory(Record(8, IDENTITY, NOW, NOW, 2))
    assert drive_file.parsed(drive_file.text(empty), 8) == empty


def test_each_flipped_bit_is_damage():
    content = drive_file.text(WHOLE)
    for place in range(8 * len(content) - 8):
        flipped = bytearray(content)
        flipped[place // 8] ^= 1 << place % 8
        with pytest.raises(Damaged):
            drive_file.parsed(bytes(flipped), 7)


@pytest.mark.parametrize('length', [0, 1, 40, 47, 60, -3])
def test_a_file_that_is_cut_off_is_damage(length):
    with pytest.raises(Damaged):
        drive_file.parsed(drive_file.text(WHOLE)[:length], 7)


def test_a_newer_version_is_no_damage():
    with pytest.raises(Newer):
        drive_file.parsed(signed(b'whatever', drive_file.VERSION + 1), 7)


def changed(row: Sequence[Any], field: int, value: object) -> list[Any]:
    """Return a row with another value in this field."""
    return [*row[:field], value, *row[field + 1 :]]


ROW = ['crc_errors', 'raw', CHANGE, 0]
PLACE = json.loads(json.dumps(WHOLE.places[0]))
FORGERIES = {
    'no-json': b'{',
    'list': b'[]',
    'number': b'7',
    'deep': b'[' * 100_000,
    'long-number': b'9' * 100_000,
    'no-text': b'\xff\xfe',
    'no-fields': b'{}',
}
FIELDS = {
    'identity-short': {'identity': ['ATA']},
    'identity-number': {'identity': [1, 2, 3, 4, 5]},
    'long-text': {'identity': ['A' * 401, '', '', '', '']},
    'negative-time': {'times': [1, -1, 0, 1]},
    'late': {'times': [1, LATEST + 1, 0, 1]},
    'time-with-fraction': {'times': [1.5, 2, 0, 1]},
    'times-short': {'times': [1, 2, 0]},
    'order-switch': {'times': [1, 2, 0, True]},
    'place-short': {'places': [PLACE[:-1]]},
    'place-text': {'places': [changed(PLACE, 2, '1')]},
    'place-negative': {'places': [changed(PLACE, 2, -1)]},
    'place-switch': {'places': [changed(PLACE, 4, 2)]},
    'many-places': {'places': [PLACE] * (MOST_PLACES + 1)},
    'alias-number': {'aliases': [['/dev/sdb', 1]]},
    'many-aliases': {'aliases': [['/dev/sdb', False]] * (MOST_PLACES + 1)},
    'many-series': {'series': [[*ROW, []]] * (MOST_SERIES + 1)},
    'series-short': {'series': [['a']]},
    'unknown-pace': {'series': [['a', 'b', 4, 0, []]]},
    'pace-with-fraction': {'series': [['a', 'b', 0.0, 0, []]]},
    'percentage': {'series': [['spare', 'x, %', 0, 0, [[1, 1001, 0]]]]},
}
POINTS = {
    'infinite': [1, float('inf'), 0],
    'no-number': [1, float('nan'), 0],
    'negative': [1, -1, 0],
    'huge': [1, 10**31, 0],
    'before-1970': [-NOW, 1],
    'fraction': [0.5, 1],
    'gap': [1, 1, -1],
    'point-short': [1],
}
FINDING = [2, 'smart_status', 'FAILED', '', 0, None]
VERDICTS = {
    'short': [1],
    'number': 7,
    'zero': 0,
    'text': 'OK',
    'no-findings': [NOW, '', False, None],
    'many-findings': [NOW, '', False, [FINDING] * 9],
    'time-text': ['1', '', False, []],
    'time-late': [LATEST + 1, '', False, []],
    'family-long': [NOW, 'x' * 401, False, []],
    'disk-number': [NOW, '', 1, []],
}
FINDINGS = {
    'short': FINDING[:-1],
    'long': [*FINDING, 0],
    'empty': [],
    'number': 5,
    'state-unknown': changed(FINDING, 0, 77),
    'state-ok': changed(FINDING, 0, 0),
    'state-of-no-finding': changed(FINDING, 0, 3),
    'state-text': changed(FINDING, 0, '2'),
    'metric-number': changed(FINDING, 1, 5),
    'words-long': changed(FINDING, 2, 'x' * 401),
    'ends-negative': changed(FINDING, 4, -1),
    'ends-fraction': changed(FINDING, 4, 0.5),
    'value-text': changed(FINDING, 5, '3'),
    'value-huge': changed(FINDING, 5, 1e31),
    'value-infinite': changed(FINDING, 5, float('inf')),
    'value-none': changed(FINDING, 5, float('nan')),
}


def test_the_forged_verdicts_are_damage_by_what_was_changed():
    content = forged(verdict=[NOW, '', False, [FINDING] * 8])

    assert drive_file.parsed(content, 7).verdict.state is State.CRITICAL
    assert drive_file.parsed(
        forged(verdict=[NOW, '', False, []]), 7
    ).verdict == LastVerdict(NOW)


@pytest.mark.parametrize(
    'number', [None, 0, 7, -3.5, 1e30, float('inf'), float('nan'), 1e31]
)
def test_the_verdict_of_any_drive_can_be_read_again(number):
    """A number that cannot be stored is left out, and only the worst eight findings are kept."""
    findings = (
        FAILED._replace(number=number),
        *(GREW._replace(ends=end) for end in range(9)),
    )
    stored = drive_file.text(
        WHOLE._replace(verdict=VERDICT._replace(findings=findings))
    )
    verdict = drive_file.parsed(stored, 7).verdict

    is_stored = number is not None and abs(number) <= 1e30
    assert verdict.findings[0].number == (number if is_stored else None)
    assert verdict.findings[1:] == findings[1:8]
    assert verdict.state is State.CRITICAL


BODIES = {name: signed(body) for name, body in FORGERIES.items()}
BODIES.update((name, forged(**fields)) for name, fields in FIELDS.items())
BODIES.update(
    (f'point-{name}', forged(series=[[*ROW, [row]]])) for name, row in POINTS.items()
)
BODIES['same-time'] = forged(series=[[*ROW, [[1, 1, 0], [0, 2, 0]]]])
BODIES.update(
    (f'verdict-{name}', forged(verdict=verdict)) for name, verdict in VERDICTS.items()
)
BODIES.update(
    (f'finding-{name}', forged(verdict=[NOW, '', False, [row]]))
    for name, row in FINDINGS.items()
)


def test_what_was_forged_is_damage_only_by_what_was_changed():
    fields = {
        'series': [[*ROW, [[1, 1, 0]]]],
        'places': [PLACE],
        'aliases': [['/dev/sdb', False]],
    }

    assert drive_file.parsed(forged(**fields), 7).places == WHOLE.places
    assert drive_file.parsed(signed(forged().partition(b'\n')[2].strip()), 7) == WHOLE


@pytest.mark.parametrize('content', BODIES.values(), ids=BODIES)
def test_what_this_program_would_not_write_is_damage(content):
    with pytest.raises(Damaged):
        drive_file.parsed(content, 7)


def test_forged_files_take_little_time_and_memory():
    """24 drives, as large as a file may be."""
    points = [[1, 0]] * 21_600
    content = forged(series=[[*ROW, points]]).replace(b', ', b',')
    began, before = (
        time.process_time(),
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
    )
    drives = [
        drive_file.parsed(signed(content.partition(b'\n')[2].strip()), number)
        for number in range(24)
    ]

    assert 100_000 < len(content) <= LARGEST_HISTORY and len(drives) == 24
    assert time.process_time() - began < 3
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 << 10  # kB


def many(count: int, length: int) -> dict[Key, Series]:
    points = tuple(Point(NOW - length + place, place, 1) for place in range(length))
    return {
        Key(f'metric {number}', 'x' * 300): Series(CHANGE, points, last_seen=number + 1)
        for number in range(count)
    }


@pytest.mark.parametrize(
    'count, length',
    [
        (1, 20_000),  # one
        (10, 3_000),  # ten
        (300, 2),  # texts
    ],
)
def test_a_file_that_is_too_large_is_halved_until_it_fits(count, length):
    """The newest points stay; where even these are too many, whole series go."""
    content = drive_file.text(WHOLE._replace(series=many(count, length)))
    kept = drive_file.parsed(content, 7).series

    assert LARGEST_HISTORY / 3 < len(content) <= LARGEST_HISTORY
    assert all(
        stored.points[-2:] == many(count, length)[key].points[-2:]
        for key, stored in kept.items()
    )
    assert Key(f'metric {count - 1}', 'x' * 300) in kept


def test_places_without_end_are_halved_too():
    places = tuple(
        DrivePlace('/dev/' + 'x' * 390, 7, place, slot='y' * 400)
        for place in range(200)
    )
    content = drive_file.text(WHOLE._replace(places=places, series={}))

    assert (
        len(content) <= LARGEST_HISTORY
        and drive_file.parsed(content, 7).places[-1] == places[-1]
    )


# --- with the readings of a check -----------------------------------------------------------------


def read(numbers: list[tuple[int, float]], pace: int, key: Key = CRC) -> DriveHistory:
    """Return the history of a drive after checks at these times."""
    drive = DriveHistory(Record(7, IDENTITY, *[numbers[0][0]] * 2, 1))
    for moment, number in numbers:
        drive = checked(drive, moment, Observation(key, number, pace))
    return drive


def checked(drive: DriveHistory, now: int, *seen: Observation) -> DriveHistory:
    """Return the history of a drive after a check with these readings."""
    return drive_file.with_readings(drive, IDENTITY, seen, drive.verdict, now)


MIDNIGHT = NOW // DAY * DAY


@pytest.mark.parametrize(
    'pace, kept',
    [
        (CHANGE, [(0, 5), (2 * HOUR, 7), (3 * HOUR, 6), (DAY + HOUR, 9)]),  # change
        (DAILY, [(0, 5), (DAY, 6)]),  # daily
        (HIGHEST, [(0, 7), (DAY, 9)]),  # highest
        (LATELY, [(0, 9)]),  # lately
    ],
)
def test_a_series_gets_a_point_by_its_pace(pace, kept):
    numbers = [
        (0, 5),
        (HOUR, 5),
        (2 * HOUR, 7),
        (3 * HOUR, 6),
        (DAY, 6),
        (DAY + HOUR, 9),
    ]
    drive = read([(MIDNIGHT + after, number) for after, number in numbers], pace)

    assert [
        (point.time - MIDNIGHT, point.number) for point in drive.series[CRC].points
    ] == kept
    assert drive.record[2:4] == (MIDNIGHT, MIDNIGHT + DAY + HOUR)


def test_a_number_that_is_missing_is_absent_since_its_last_reading():
    drive = read([(NOW, 1)], CHANGE)
    for moment in (NOW + 300, NOW + 600):
        drive = checked(drive, moment, Observation(HOT, 30, HIGHEST))
    assert drive.series[CRC].last_seen == drive.histories[CRC].last_read == NOW
    drive = checked(drive, NOW + 900, Observation(CRC, 2, CHANGE))

    assert drive.series[CRC] == Series(
        CHANGE, (Point(NOW, 1), Point(NOW + 900, 2, 900))
    )


@pytest.mark.parametrize(
    'key, number',
    [
        (CRC, -1),
        (CRC, float('inf')),
        (CRC, float('nan')),
        (CRC, 1e31),
        (Key('x', 'raw, %'), 1001),
        (Key('x' * 401, ''), 1),
        (Key('', 'x' * 401), 1),
    ],
)
def test_a_number_that_could_not_be_read_again_is_not_stored(key, number):
    assert read([(NOW, number)], CHANGE, key).series == {}


def test_no_drive_has_more_series_than_can_be_read_again():
    drive = DriveHistory(Record(7, IDENTITY, NOW, NOW, 1))
    seen = [
        Observation(Key('x', str(number)), 1, CHANGE)
        for number in range(MOST_SERIES + 5)
    ]
    finding = LastFinding(State.WARNING, *['x' * 500] * 2, None, 'y' * 500)
    drive = drive_file.with_readings(
        drive, IDENTITY, seen, LastVerdict(NOW, (finding,), 'z' * 500), NOW
    )
    stored = drive_file.parsed(drive_file.text(drive), 7)
    long = LONGEST_STATEMENT
    short = LastFinding(State.WARNING, *['x' * long] * 2, None, 'y' * long)

    assert list(stored.series.items()) == list(drive.series.items())[:MOST_SERIES]
    assert stored.verdict == LastVerdict(NOW, (short,), 'z' * long)


@pytest.mark.parametrize(
    'before, later, is_stored',
    [(0, 0, True), (149, 0, True), (150, 0, False), (0, 1, False)],
)
def test_of_two_checks_at_one_time_the_first_one_counts(before, later, is_stored):
    drive = read([(NOW, 1)], CHANGE)

    assert (checked(drive, NOW - before + later) is drive) is is_stored


def test_what_was_cut_or_hidden_in_the_identity_becomes_complete():
    cut = Identity('ATA', 'ACME', 'F1', '', '')
    drive = DriveHistory(Record(7, cut, NOW, NOW, 1))
    drive = drive_file.with_readings(
        drive, IDENTITY._replace(firmware='F2'), [], VERDICT, NOW
    )

    assert drive.record.identity == IDENTITY._replace(firmware='F2')


# --- clocks ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    'behind, now, is_dated, noted',
    [
        (0, NOW - DAY, False, 0),
        (0, NOW - DAY - 1, False, NOW - DAY - 1),
        (NOW - 9 * DAY, NOW - 8 * DAY - 1, False, NOW - 9 * DAY),
        (NOW - 9 * DAY, NOW - 8 * DAY, True, 0),
        (NOW - 9 * DAY, NOW - 150, False, 0),
        (60, NOW - 9 * DAY, False, NOW - 9 * DAY),
        (NOW - 9 * DAY, NOW - 10 * DAY, False, NOW - 10 * DAY),
        (60, 61 + DAY, False, 61 + DAY),
    ],
    ids=[
        'slack',
        'behind',
        'not-yet-a-day',
        'a-day',
        'caught-up',
        'since-1970',
        'further-behind',
        '1970',
    ],
)
def test_a_clock_that_stays_behind_for_a_day_is_right(behind, now, is_dated, noted):
    before = WHOLE._replace(behind_since=behind)
    drive = checked(before, now, Observation(CRC, 4, CHANGE))

    assert drive.behind_since == noted
    newest = drive.series[CRC].points[-1]
    assert (newest.time, newest.gap) == ((now, 1) if is_dated else (NOW + 1, 1))
    assert (drive.series[CRC].points[0].time <= now) is (is_dated or now >= NOW - DAY)
    if is_dated:
        assert [drive.places[0].first, drive.places[0].gone] == [now - 1] * 2
        assert drive_file.parsed(drive_file.text(drive), 7) == drive


# --- older points ---------------------------------------------------------------------------------


def test_older_points_of_what_changes_all_the_time_are_split_off_and_joined_again():
    hours = Key('power_on_time', 'attribute 9')
    drive = read([(NOW + day * DAY, day) for day in range(4)], DAILY, hours)
    kept, older = drive_file.split(drive)
    points = drive.series[hours].points

    assert (kept.series[hours].points, older[hours].points) == (points[3:], points[:3])
    assert (
        drive_file.joined({hours: Series(DAILY, points[:2])}, older, NOW + 4 * DAY)[
            hours
        ].points
        == points[:3]
    )
    assert drive_file.split(read([(NOW, 1), (NOW + DAY, 2)], CHANGE))[1] == {}


def test_a_month_at_most_is_thinned_at_a_time():
    """A clock that is ten years ahead must not throw away what a year has gathered."""
    start = NOW // MONTH * MONTH
    points = tuple(Point(start + day * DAY, day, 1) for day in range(90))
    drive = WHOLE._replace(series={CRC: Series(CHANGE, points)})
    for months in (1, 2):
        assert (
            drive_file.thinned_file(drive, start + 3650 * DAY, is_new_day=False).series
            == drive.series
        )
        drive = drive_file.thinned_file(drive, start + 3650 * DAY, is_new_day=True)
        assert len(drive.series[CRC].points) == 90 - months * (MONTH // DAY - 1)
    assert drive_file.thinned_file(drive, start + 90 * DAY, is_new_day=True) == drive


def test_places_that_were_left_long_ago_go_and_no_more_are_kept_than_can_be_read():
    places = [
        DrivePlace(f'/dev/sd{number}', 7, 1, gone=NOW - 300 + number)
        for number in range(300)
    ]
    here, old = (
        DrivePlace('/dev/sda', 7, 1),
        DrivePlace('/dev/old', 7, 1, gone=NOW - 401 * DAY),
    )
    kept = drive_file.thinned_file(
        WHOLE._replace(places=(here, *places, old)), NOW, is_new_day=True
    ).places

    assert (
        len(kept) == MOST_PLACES
        and here in kept
        and old not in kept
        and places[-1] in kept
    )
