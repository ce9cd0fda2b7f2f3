"""History in its folder: what is kept, found again, and said when something is wrong."""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import sqlite3
import stat
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Callable
from zlib import crc32

import abilities
import pytest
from conftest import SOON

from smart_attributes import state_directory
from smart_attributes.constants import DAY, HOUR
from smart_attributes.errors import HistoryUnusable
from smart_attributes.history import database, directory, losses, rows, upkeep
from smart_attributes.history.database import Database
from smart_attributes.history.drive_records import Scope
from smart_attributes.history.series import (
    CHANGE,
    DAILY,
    HIGHEST,
    LATELY,
    Key,
    Observation,
    Point,
    pace,
)
from smart_attributes.history.store import HistoryStore, Sighting
from smart_attributes.model import Identity
from smart_attributes.reading.identity import is_same_drive

START = 1_795_000_000  # 18 November 2026
STEP = 300  # seconds between two checks
NOBODY = 65534
DRIVE = Identity('ATA', 'ACME 4000', 'F1', 'S3RIAL01', '5000c500a1b2c3d4')
OTHER = Identity('ATA', 'ACME 4000', 'F1', 'S3RIAL02', '5000c500a1b2c3d5')
CRC = Key('crc_errors', 'attribute 199, raw')
HOURS = Key('power_on_time', 'attribute 9')
LOG = 'history.sqlite-wal'


OPEN: list[HistoryStore] = []  # of this process


def history(
    path: Path, now: int = START, machine: str = 'one', writes: bool = True
) -> HistoryStore:
    state = state_directory.ready(str(path)) if writes else state_directory.there(str(path))
    OPEN.append(HistoryStore(state, now, is_same_drive, machine, writes))
    return OPEN[-1]


def forked(work: Callable[[], object]) -> int:
    """Run *work* in a process that ends as a check does, without closing anything; return its
    number.
    """
    while OPEN:  # SQLite forbids to take a connection through a fork
        OPEN.pop()._database._connection.close()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        except BaseException:
            traceback.print_exc()
        os._exit(status)
    return child


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checks here wait for the disk: one that a busy disk leaves syncing would hold the lock when
    the next one starts.

    Real checks are minutes apart.
    """
    monkeypatch.setattr(directory, 'SYNC_TIME', 60.0)


def in_a_child(work: Callable[[], object]) -> None:
    """Run *work* in a process of its own, and wait for it."""
    assert os.waitpid(forked(work), 0)[1] == 0, 'the child failed, see above'


def check(
    path: Path,
    number: float,
    now: int = START,
    identity: Identity = DRIVE,
    key: Key = CRC,
    often: int = CHANGE,
    address: str = '/dev/sda',
    machine: str = 'one',
) -> HistoryStore:
    """One check of one drive: opened, and kept."""
    opened = history(path, now, machine)
    opened.keep([Sighting(address, identity, (Observation(key, number, often),))], Scope({address}))
    return opened


def points(
    path: Path, identity: Identity = DRIVE, key: Key = CRC, now: int = START + 1000 * DAY
) -> tuple[Point, ...]:
    """What a later reader finds."""
    opened = history(path, now, writes=False)
    record = opened.recall([identity])[0].match.record
    assert record is not None
    return opened.all_of(record)[key].points


def numbers(path: Path, identity: Identity = DRIVE) -> Sequence[float]:
    return [point.number for point in points(path, identity)]


def as_nobody(work: Callable[[], object]) -> None:
    """Run *work* in a process of another user."""
    if not abilities.IS_ROOT:
        pytest.skip('only root can become another user')

    def theirs() -> None:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        work()

    in_a_child(theirs)


@pytest.fixture
def theirs() -> Iterator[Path]:
    """A folder that belongs to nobody, below one that only root can write to."""
    above = Path(tempfile.mkdtemp(prefix='check-smart-history-'))
    above.chmod(0o755)
    path = above / 'state'
    path.mkdir()
    if abilities.IS_ROOT:
        os.chown(path, NOBODY, NOBODY)
    yield path
    shutil.rmtree(above)


# --- what is kept ------------------------------------------------------------------------


def test_a_counter_gets_a_point_at_each_change_and_no_other(tmp_path):
    """Every value of every check would be 144 MB a year."""
    for place, number in enumerate((212, 212, 212, 226, 226)):
        check(tmp_path, number, START + place * STEP)

    assert points(tmp_path) == (Point(START, 212), Point(START + 3 * STEP, 226, STEP))


def test_a_point_tells_how_long_nobody_looked(tmp_path):
    """Growth over a week without checks is no growth of five minutes."""
    check(tmp_path, 1)
    check(tmp_path, 2, START + 7 * DAY)

    assert points(tmp_path)[1].gap == 7 * DAY


def test_a_number_that_was_missing_in_between_is_told_with_its_own_gap(tmp_path):
    """The drive was read, this number of it was not."""
    check(tmp_path, 1)
    check(tmp_path, 30, START + STEP, key=Key('temperature', 'attribute 194'), often=HIGHEST)
    check(tmp_path, 2, START + 2 * STEP)

    assert points(tmp_path)[1] == Point(START + 2 * STEP, 2, 2 * STEP)


def test_a_number_that_came_back_is_read_like_the_others(tmp_path):
    """Only the checks that lacked it count as not having looked."""
    check(tmp_path, 1)
    check(tmp_path, 30, START + STEP, key=Key('temperature', 'attribute 194'), often=HIGHEST)
    check(tmp_path, 1, START + 2 * STEP)
    check(tmp_path, 2, START + 3 * STEP)

    assert points(tmp_path)[1] == Point(START + 3 * STEP, 2, STEP)


def test_what_moves_all_the_time_gets_a_point_a_day(tmp_path):
    """The first of each day; of temperatures the day's highest."""
    hours, heat = Key('power_on_time', 'attribute 9'), Key('temperature', 'attribute 194')
    midnight = START // DAY * DAY
    for hour in range(48):
        check(tmp_path, hour * 3600, midnight + hour * 3600, key=hours, often=DAILY)
        check(
            tmp_path,
            30 + hour % 24 if hour < 24 else 20,
            midnight + hour * 3600 + 60,
            key=heat,
            often=HIGHEST,
        )

    assert [point.number for point in points(tmp_path, key=hours)] == [0, 86400]
    assert [point.number for point in points(tmp_path, key=heat)] == [53, 20]


def test_another_definition_is_another_series(tmp_path):
    """When an entry or a unit changes, nothing has grown."""
    check(tmp_path, 5)
    check(tmp_path, 5000, START + STEP, key=Key('crc_errors', 'attribute 199, raw, 512B'))

    assert numbers(tmp_path) == [5]


def test_what_is_no_number_is_not_kept(tmp_path):
    """A drive can make up anything; the rest of its numbers still count."""
    opened = history(tmp_path)
    opened.keep(
        [
            Sighting(
                '/dev/sda',
                DRIVE,
                (Observation(Key('a', ''), float('nan'), CHANGE), Observation(CRC, 1, CHANGE)),
            )
        ],
        Scope(),
    )

    assert numbers(tmp_path) == [1]


@pytest.mark.parametrize(
    ('definition', 'number', 'is_kept'),
    [
        ('raw', 0, True),
        ('raw', rows.HIGHEST_STORED, True),
        ('raw', rows.HIGHEST_STORED * 1.1, False),
        ('raw', -1, False),
        ('raw', float('inf'), False),
        ('value, %', rows.HIGHEST_PERCENTAGE, True),
        ('value, %', rows.HIGHEST_PERCENTAGE + 1, False),
    ],
)
def test_a_number_that_no_drive_can_have_is_not_kept(tmp_path, definition, number, is_kept):
    """Neither from a check nor from the log of another program; a sum of two such numbers could
    be infinite.
    """
    key, elsewhere = Key('crc_errors', definition), Key('pending', definition)
    opened = check(tmp_path, number, key=key)
    opened.keep_past(DRIVE, {(elsewhere, CHANGE): [Point(START - DAY, number)]})
    record = opened.recall([DRIVE])[0].match.record
    stored = opened.all_of(record)

    assert (key in stored, bool(stored[elsewhere].points)) == (is_kept, is_kept)


def test_a_check_that_read_earlier_does_not_overwrite_a_later_one(tmp_path):
    """Two at once: whoever writes last has not read last."""
    early = history(tmp_path, START + 1)
    check(tmp_path, 8, START + 2)
    early.keep([Sighting('/dev/sda', DRIVE, (Observation(CRC, 7, CHANGE),))], Scope())

    assert numbers(tmp_path) == [8]


def test_what_another_check_wrote_in_between_counts(tmp_path):
    """The point says the gap to the last reading of anybody, not to the one that was recalled."""
    slow = history(tmp_path, START + 2 * STEP)
    slow.recall([DRIVE])
    check(tmp_path, 7, START + STEP)
    slow.keep([Sighting('/dev/sda', DRIVE, (Observation(CRC, 7, CHANGE),))], Scope())

    assert points(tmp_path) == (Point(START + STEP, 7),)


def test_what_elsewhere_was_read_before_stands_before_it(tmp_path):
    """smartd's logs fill history; what history has read itself is not touched, and its first
    point has a gap now.
    """
    check(tmp_path, 9, START)
    opened = history(tmp_path, START + STEP)
    opened.keep_past(
        DRIVE,
        {
            (CRC, CHANGE): [
                Point(START - 3 * DAY, 5),
                Point(START - DAY, 6, 1800),
                Point(START + 1, 99),
            ]
        },
    )

    assert points(tmp_path) == (
        Point(START - 3 * DAY, 5),
        Point(START - DAY, 6, 1800),
        Point(START, 9, DAY),
    )


def test_a_drive_known_from_elsewhere_only_grows_at_its_first_check(tmp_path):
    """The alarm of growth that smartd's log proves is there on day one."""
    history(tmp_path).keep_past(DRIVE, {(CRC, CHANGE): [Point(START - DAY, 5)]})
    check(tmp_path, 6, START)

    assert points(tmp_path) == (Point(START - DAY, 5), Point(START, 6, DAY))


def test_a_forgotten_drive_leaves_nothing(tmp_path):
    """history --forget retires it."""
    check(tmp_path, 1)
    check(tmp_path, 1, START + STEP, OTHER, address='/dev/sdb')
    opened = history(tmp_path, START + 2 * STEP)

    assert opened.forget('S3RIAL01') == 1
    assert [record.identity.serial for record in history(tmp_path, START + 3 * STEP).records] == [
        'S3RIAL02'
    ]
    assert [place.address for place in history(tmp_path, START + 3 * STEP).places] == ['/dev/sdb']


# --- which drive ----------------------------------------------------------------------------


def test_a_drive_is_found_again_under_a_cut_model(tmp_path):
    """A SATA drive behind SCSI shows the first 16 characters of its model."""
    check(tmp_path, 1, identity=DRIVE._replace(model='ATA     ACME 40', protocol='SCSI'))

    assert history(tmp_path, START + STEP).recall([DRIVE])[0].histories[CRC].points[-1].number == 1


def test_one_wwn_under_two_serial_numbers_is_two_drives(tmp_path):
    """Manufacturers slip."""
    check(tmp_path, 1)

    assert history(tmp_path, START + STEP).recall([DRIVE._replace(serial='S3RIAL99')])[0].match == (
        None,
        '',
    )


def test_a_drive_without_identity_is_not_remembered_and_says_so(tmp_path):
    """Its growth would be that of any other drive without a serial number."""
    nameless = DRIVE._replace(serial='', wwn='')
    opened = history(tmp_path)
    notes = opened.keep([Sighting('/dev/sda', nameless, (Observation(CRC, 1, CHANGE),))], Scope())

    assert history(tmp_path, START + STEP).records == ()
    assert (
        len(notes) == 1
        and 'increases cause no alerts' in notes[0]
        and notes[0].startswith('/dev/sda ')
    )


def test_two_drives_of_a_run_that_fit_one_record_have_no_history(tmp_path):
    """The numbers of one must not be taken for the growth of the other."""
    check(tmp_path, 1)
    twin = DRIVE._replace(wwn='')
    found = history(tmp_path, START + STEP).recall([DRIVE, twin])

    assert [bool(each.match.note) for each in found] == [True, True]
    assert [each.match.record for each in found] == [None, None]


def test_a_drive_that_fits_two_records_has_no_history(tmp_path):
    """Once seen by its WWN alone, once by its serial number alone: whose growth would it be?"""
    check(tmp_path, 1, identity=DRIVE._replace(serial=''))
    check(tmp_path, 2, START + STEP, DRIVE._replace(wwn=''))
    found = history(tmp_path, START + 2 * STEP).recall([DRIVE])[0]

    assert found.match.record is None and 'cannot be distinguished from another' in found.match.note


def test_what_is_read_ahead_is_what_is_recalled_in_the_end(tmp_path):
    """While drives think; of drives that are where they were."""
    check(tmp_path, 1)
    check(tmp_path, 2, START + STEP, OTHER, address='/dev/sdb')
    opened = history(tmp_path, START + 2 * STEP)

    assert opened.expect(['/dev/sda', '/dev/sdc']) == [DRIVE]
    assert opened.expected(DRIVE) == opened.recall([DRIVE])[0]
    assert opened.expected(DRIVE).histories[CRC].points == (Point(START, 1),)
    assert (
        opened.expected(OTHER) is None
        and opened.recall([OTHER])[0].histories[CRC].points[0].number == 2
    )


def test_what_another_check_writes_after_it_was_read_ahead_counts(tmp_path):
    """Two checks of one drive at once: the later word is the newer."""
    check(tmp_path, 1)
    opened = history(tmp_path, START + 2 * STEP)
    opened.expect(['/dev/sda'])

    check(tmp_path, 9, START + STEP)

    assert opened.recall([DRIVE])[0].histories[CRC].points[-1].number == 9


def test_the_name_of_a_sleeping_drive_is_that_of_its_address(tmp_path):
    """Standby JSON has neither model nor serial number."""
    check(tmp_path, 1)

    record = history(tmp_path, START + STEP).at('/dev/sda')
    assert record is not None and record.identity.serial == 'S3RIAL01'
    assert history(tmp_path, START + STEP).at('/dev/sdb') is None


# --- what can be wrong ------------------------------------------------------------------------


def test_a_damaged_file_is_set_aside_and_told_for_seven_days(tmp_path):
    """It is never silently absent."""
    in_a_child(lambda: check(tmp_path, 1))
    (tmp_path / 'history' / LOG).unlink()
    (tmp_path / 'history' / directory.FILE).write_bytes(b'rubbish' * 1000)
    opened = check(tmp_path, 2, START + STEP)

    assert (
        'damaged' in opened.losses.restart
        and 'earlier increases cannot be detected' in opened.losses.restart
    )
    assert (tmp_path / 'history' / directory.ASIDE).read_bytes().startswith(b'rubbish')
    assert numbers(tmp_path) == [2]
    assert (
        history(tmp_path, START + 7 * DAY).losses.restart
        and not history(tmp_path, START + 8 * DAY).losses.restart
    )


def test_damage_in_the_middle_is_found_when_it_is_met(tmp_path):
    """A page of points is overwritten, the head is whole."""
    history(tmp_path).keep_past(
        DRIVE, {(CRC, CHANGE): [Point(START + place, place) for place in range(3000)]}
    )
    sqlite3.connect(str(tmp_path / 'history' / directory.FILE)).execute(
        'PRAGMA wal_checkpoint(TRUNCATE)'
    )
    data = bytearray((tmp_path / 'history' / directory.FILE).read_bytes())
    data[4096 * 6 :] = b'\x55' * (len(data) - 4096 * 6)
    (tmp_path / 'history' / directory.FILE).write_bytes(data)
    found = history(tmp_path, START + DAY)
    found.recall([DRIVE])
    check(tmp_path, 9999, START + DAY)

    assert (tmp_path / 'history' / directory.ASIDE).exists()
    assert 'damaged' in history(tmp_path, START + 2 * DAY).losses.restart


def test_a_check_that_finds_damage_while_it_keeps_is_the_first_that_the_new_file_knows(tmp_path):
    """What it had read of the old file does not hold for the new one: numbers of drives begin
    again there.
    """
    in_a_child(lambda: check(tmp_path, 1))
    _spoil_index(tmp_path)
    crc = Key(CRC.metric, 'another attribute')
    check(tmp_path, 3, START + STEP, key=crc)
    check(tmp_path, 4, START + 2 * STEP, OTHER)

    assert 'damaged' in history(tmp_path, START + DAY).losses.restart
    assert [point.number for point in points(tmp_path, key=crc)] == [3] and numbers(
        tmp_path, OTHER
    ) == [4]


def _spoil_index(path: Path) -> None:
    """Let a metric have one series only, of whatever drive, as a damaged index may."""
    file = sqlite3.connect(str(path / 'history' / directory.FILE))
    file.execute('CREATE UNIQUE INDEX wrong ON series (metric)')
    file.commit()


def test_a_check_that_is_killed_before_it_has_copied_a_damaged_file_leaves_that_to_the_next_one(
    tmp_path,
):
    """Nobody wrote down why, but the old file is there."""
    check(tmp_path, 1)
    folder = directory.below(state_directory.ready(str(tmp_path)), is_made=False)
    losses.set_aside(folder, folder.damaged)

    assert not [
        path.name
        for path in (tmp_path / 'history').iterdir()
        if path.name in (directory.FILE, LOG, f'{directory.FILE}-shm')
    ]
    assert 'repaired; no reading was lost' in check(tmp_path, 2, START + STEP).losses.restart
    assert numbers(tmp_path) == [1, 2]
    assert (tmp_path / 'history' / directory.ASIDE).exists() and not (
        tmp_path / 'history' / directory.DAMAGED
    ).exists()


def test_damage_after_a_copy_that_was_killed_at_its_end_loses_nothing_newer(tmp_path):
    """Everything was copied, but the damaged file still has the name of one that was not."""
    check(tmp_path, 1)
    folder = directory.below(state_directory.ready(str(tmp_path)), is_made=False)
    shutil.copy(folder.file, folder.damaged)
    check(tmp_path, 2, START + STEP)
    file = sqlite3.connect(folder.file)
    file.execute("UPDATE fact SET value = 7 WHERE name = 'begun'")
    file.commit()

    assert 'no reading was lost' in history(tmp_path, START + 2 * STEP).losses.restart
    assert numbers(tmp_path) == [1, 2]


DAMAGE = {
    'a-point': ('UPDATE point SET number = 7 WHERE series = 1', [1]),
    'no-points': ('DELETE FROM point', [1, 2, 3]),
    'a-series': ('DELETE FROM series WHERE drive = 2', [2]),
    'a-drive': ("UPDATE drive SET model = '' WHERE number = 3", [3]),
    'no-drive': ('DELETE FROM drive WHERE number = 2', [2]),
    'a-place': ('UPDATE place SET gone = 1 WHERE drive = 1', [1]),
    'no-table': ('DROP TABLE series', [1, 2, 3]),
    'a-fact': ("UPDATE fact SET value = 7 WHERE name = 'begun'", []),
    'no-facts': ('DELETE FROM fact', []),
    'no-places': ('DELETE FROM place', [1, 2, 3]),
}


@pytest.mark.parametrize('damage', DAMAGE)
def test_damage_costs_the_readings_of_the_drives_that_it_is_about(tmp_path, damage):
    """All others are kept, and no drive and no address is forgotten."""
    drives = [DRIVE._replace(serial=f'S3RIAL0{number}', wwn='') for number in (1, 2, 3)]
    statement, losers = DAMAGE[damage]
    for time_, crc in ((START, 1), (START + STEP, 2)):
        history(tmp_path, time_).keep(
            [
                Sighting(f'/dev/sd{number}', drive, (Observation(CRC, crc, CHANGE),))
                for number, drive in enumerate(drives, 1)
            ],
            Scope(is_scan=True),
        )
    before = history(tmp_path, START + STEP).places
    file = sqlite3.connect(str(tmp_path / 'history' / directory.FILE))
    file.execute(statement)
    file.commit()
    opened = history(tmp_path, START + 2 * STEP)
    found = opened.recall(drives)

    assert [number for number, each in enumerate(found, 1) if not each.histories] == losers
    assert [each.match.record.identity for each in found] == drives
    assert opened.places == before
    assert all(f'/dev/sd{number}' in opened.losses.restart for number in losers) or len(losers) == 3
    opened.examine()
    assert opened.recall(drives)[0].match.record is not None


@pytest.mark.parametrize(
    'statement, begun',
    [('DELETE FROM series', START), ('DELETE FROM fact', START + STEP)],
    ids=['intact facts', 'no facts'],
)
def test_a_repaired_history_has_begun_when_it_did_or_with_its_first_drive(
    tmp_path, statement, begun
):
    history(tmp_path, START).keep([], Scope())
    check(tmp_path, 1, START + STEP)
    file = sqlite3.connect(str(tmp_path / 'history' / directory.FILE))
    file.execute(statement)
    file.commit()
    opened = history(tmp_path, START + DAY)
    opened.recall([DRIVE])

    assert (opened.begun, 'damaged' in opened.losses.restart) == (begun, True)


def test_a_drive_without_numbers_is_stored_like_any_other(tmp_path):
    """Its checksum is that of no series; SAN volumes and bridges report no number."""
    for number in range(3):
        opened = history(tmp_path, START + number * STEP)
        opened.keep(
            [
                Sighting('/dev/sda', DRIVE),
                Sighting('/dev/sdb', OTHER, (Observation(CRC, number, CHANGE),)),
            ],
            Scope(),
        )
        assert [bool(each.histories) for each in opened.recall([DRIVE, OTHER])] == [False, True], (
            opened.losses.restart
        )

    assert (opened.losses.restart, len(opened.records)) == ('', 2)


def test_known_drives_outlast_their_history(tmp_path):
    """A drive that is gone when the history is lost is still missed."""
    check(tmp_path, 1)
    check(tmp_path, 1, START + STEP, OTHER, address='/dev/sdb')
    for path in (tmp_path / 'history').glob('history.sqlite*'):
        path.write_bytes(b'rubbish' * 1000)
    opened = history(tmp_path, START + DAY)

    assert [record.identity for record in opened.records] == [DRIVE, OTHER]
    assert [place.address for place in opened.places] == ['/dev/sda', '/dev/sdb']
    assert opened.losses.restart.startswith('restarted on ')


@pytest.mark.parametrize(
    'content',
    [
        b'',
        b'[',
        b'00000000\n[1, [], []]',
        b'\0' * 99,
        b'%08x\n' % crc32(b'[' * 99_999) + b'[' * 99_999,
    ],
)
def test_a_damaged_list_of_known_drives_is_written_again(tmp_path, content):
    """The history itself is whole, so nothing is lost."""
    opened = check(tmp_path, 1)
    right = (tmp_path / 'history' / directory.DRIVES).read_bytes()
    (tmp_path / 'history' / directory.DRIVES).write_bytes(content)

    assert directory.read_known(opened.folder) == directory.Known()
    assert check(tmp_path, 2, START + STEP).losses.restart == ''
    assert (tmp_path / 'history' / directory.DRIVES).read_bytes() == right


@pytest.mark.parametrize(
    ('between', 'later', 'is_told'),
    [(DAY, 0, True), (DAY, DAY, True), (DAY, DAY + 1, False), (DAY + 1, 0, False)],
)
def test_the_second_damage_within_a_day_is_reported_as_such(tmp_path, between, later, is_told):
    """Even if nothing at all is left of the file."""
    check(tmp_path, 1)
    for moment in (START + STEP, START + STEP + between):
        assert history(tmp_path, moment).losses.recurring == ''
        (tmp_path / 'history' / directory.FILE).write_bytes(b'rubbish' * 1000)
        (tmp_path / 'history' / LOG).unlink()
        check(tmp_path, 2, moment)
    opened = history(tmp_path, START + STEP + between + later)

    assert bool(opened.losses.recurring) is is_told
    assert not is_told or opened.losses.recurring == (
        f'damaged or lost on {day(START + STEP)} and again on {day(START + STEP + between)}; '
        f'check the disk with '
        f'{tmp_path}/history: dmesg -T | tail -50'
    )


def test_a_first_start_is_no_loss(tmp_path):
    assert check(tmp_path, 1).losses.restart == ''


def test_a_cloned_disk_begins_anew(tmp_path):
    """Else 24 drives of the other machine would be missing."""
    check(tmp_path, 1)
    opened = check(tmp_path, 5, START + STEP, machine='another')

    assert 'another machine' in opened.losses.restart
    assert numbers(tmp_path) == [5]


def test_a_file_with_tables_of_an_unknown_version_is_set_aside(tmp_path):
    """It is damaged, or no published version has written it."""
    (tmp_path / 'history').mkdir()
    old = sqlite3.connect(tmp_path / 'history' / directory.FILE)
    old.executescript('CREATE TABLE fact (x); PRAGMA user_version = 3')
    old.close()
    opened = check(tmp_path, 226)

    assert 'because the old one was damaged' in opened.losses.restart
    assert numbers(tmp_path) == [226]
    assert sorted(path.name for path in (tmp_path / 'history').glob('*.aside*')) == [
        directory.ASIDE
    ]


def test_an_older_program_neither_reads_nor_writes_a_newer_file(tmp_path, monkeypatch):
    """It cannot know what the numbers there mean."""
    with monkeypatch.context() as newer:
        newer.setattr('smart_attributes.history.directory.VERSION', directory.VERSION + 1)
        check(tmp_path, 1)
    before = (tmp_path / 'history' / directory.FILE).read_bytes()

    with pytest.raises(HistoryUnusable, match='newer version of this program'):
        history(tmp_path, START + STEP)
    assert (tmp_path / 'history' / directory.FILE).read_bytes() == before


def test_the_database_of_another_program_is_left_alone(tmp_path):
    """It is not damaged, it is not ours."""
    (tmp_path / 'history').mkdir()
    other = sqlite3.connect(tmp_path / 'history' / directory.FILE)
    other.execute('CREATE TABLE mail (x)')
    other.close()

    with pytest.raises(HistoryUnusable, match='another program'):
        history(tmp_path)


@pytest.mark.parametrize(
    'make',
    [
        pytest.param(lambda path, elsewhere: path.symlink_to(elsewhere), id='symbolic'),
        pytest.param(
            lambda path, elsewhere: (
                path.hardlink_to(elsewhere)
                if hasattr(path, 'hardlink_to')
                else os.link(elsewhere, path)
            ),
            id='hard',
        ),
    ],
)
def test_links_are_refused(tmp_path, make):
    """Root must not write where a link of nagios leads."""
    elsewhere = tmp_path / 'elsewhere'
    elsewhere.write_bytes(b'')
    (tmp_path / 'history').mkdir()
    make(tmp_path / 'history' / directory.FILE, elsewhere)

    with pytest.raises(HistoryUnusable, match='link'):
        history(tmp_path)
    assert elsewhere.read_bytes() == b''


def test_a_folder_where_others_write_is_refused(tmp_path):
    """What lies in it could be anybody's."""
    (tmp_path / 'history').mkdir()
    (tmp_path / 'history').chmod(0o777)

    with pytest.raises(HistoryUnusable, match='writable by others'):
        history(tmp_path)


def test_who_only_looks_makes_nothing(tmp_path):
    """triage and explain, where no check has been yet."""
    with pytest.raises(HistoryUnusable, match='does not exist'):
        history(tmp_path, writes=False)
    assert list(tmp_path.iterdir()) == []


def test_root_before_nagios_leaves_what_nagios_can_write(theirs):
    """A file of root's would be read-only for nagios for ever."""
    as_nobody(lambda: None)
    before = os.umask(0o077)
    check(theirs, 1)
    os.umask(before)
    as_nobody(lambda: check(theirs, 2, START + STEP))
    check(theirs, 3, START + 2 * STEP)
    as_nobody(lambda: check(theirs, 4, START + 3 * STEP))

    assert numbers(theirs) == [1, 2, 3, 4]
    assert {path.stat().st_uid for path in theirs.rglob('*')} == {NOBODY}
    assert abilities.IS_ROOT, 'root is root again'


def test_another_user_reads_and_writes_nothing(theirs):
    """triage by an admin: with the log there, and after it is gone."""
    as_nobody(lambda: None)
    path = theirs.parent / 'mine'
    path.mkdir()
    in_a_child(lambda: check(path, 1))
    as_nobody(lambda: numbers(path) == [1] or pytest.fail('not read'))
    sqlite3.connect(path / 'history' / directory.FILE).execute('PRAGMA journal_mode = DELETE')
    sqlite3.connect(path / 'history' / directory.FILE).execute('PRAGMA journal_mode = WAL')
    assert not (path / 'history' / LOG).exists()
    as_nobody(lambda: numbers(path) == [1] or pytest.fail('not read without the log'))

    def writes() -> None:
        with pytest.raises(state_directory.Unusable, match='belongs to another user'):
            check(path, 2, START + STEP)

    as_nobody(writes)


def test_a_read_only_file_is_told_before_the_answer(theirs):
    """Opening it for a check finds out, so that the answer can say it."""
    as_nobody(lambda: check(theirs, 1))
    (theirs / 'history' / directory.FILE).chmod(0o444)

    def again() -> None:
        with pytest.raises(HistoryUnusable, match='Permission denied'):
            history(theirs, START + STEP)

    as_nobody(again)


def test_a_full_disk_is_told_by_the_next_check(tmp_path):
    """This one's answer is out already; nothing committed is lost, and the mark goes when there
    is room again.
    """
    in_a_child(lambda: [check(tmp_path, 1, START - place) for place in range(20, -1, -1)])
    limit = (tmp_path / 'history' / LOG).stat().st_size

    def full() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))  # as a disk without room for more
        with pytest.raises(HistoryUnusable):
            check(tmp_path, 2, START + STEP)

    in_a_child(full)
    then = history(tmp_path, START + 2 * STEP)

    assert 'nothing could be written since' in then.not_written
    check(tmp_path, 3, START + 3 * STEP)
    assert history(tmp_path, START + 4 * STEP).not_written == ''
    assert numbers(tmp_path) == [1, 3]


def test_a_user_who_may_start_no_further_process_keeps_readings(theirs):
    """The limit of nagios or of a service: the commit is only not synced then, and the next
    check does that.
    """

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
        check(theirs, 1)
        check(theirs, 2, START + STEP)

    as_nobody(limited)

    assert numbers(theirs) == [1, 2]


@pytest.mark.xdist_group('time')
def test_one_that_another_process_holds_is_told_within_the_patience(tmp_path):
    """A shell of sqlite3 left open must not hang the check."""
    check(tmp_path, 1)
    holder = sqlite3.connect(tmp_path / 'history' / directory.FILE, isolation_level=None)
    holder.execute('BEGIN IMMEDIATE')
    before = time.monotonic()

    with pytest.raises(HistoryUnusable, match='another process has locked it'):
        history(tmp_path, START + STEP)
    assert time.monotonic() - before < SOON
    holder.close()


def test_a_forged_file_takes_no_time(tmp_path):
    """nagios blows it up with ten million points; root's check goes on without."""
    check(tmp_path, 1)
    forger = sqlite3.connect(tmp_path / 'history' / directory.FILE)
    forger.execute(
        'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000000) '
        'INSERT INTO point SELECT 1, i, i, 1 FROM n'
    )
    forger.commit()
    forger.close()
    before = time.process_time()

    with pytest.raises(HistoryUnusable, match='takes too long'):
        history(tmp_path, START + STEP).recall([DRIVE])
    assert time.process_time() - before < 5


def test_texts_where_numbers_belong_are_damage(tmp_path):
    """SQLite takes anything anywhere."""
    check(tmp_path, 1)
    forger = sqlite3.connect(tmp_path / 'history' / directory.FILE)
    forger.execute("UPDATE point SET number = 'x', gap = 'y'")
    forger.execute("INSERT INTO place VALUES ('/dev/sda', 77, 'x', 'y', 'z', 7)")
    forger.commit()
    forger.close()

    opened = history(tmp_path, START + STEP)
    assert (
        opened.recall([DRIVE])[0].histories == {}
        and 'damaged' in history(tmp_path, START + STEP).losses.restart
    )


# --- clocks -----------------------------------------------------------------------------------


def test_a_clock_a_little_behind_writes_nothing_and_loses_nothing(tmp_path):
    """It catches up."""
    check(tmp_path, 1)
    check(tmp_path, 2, START - 3600)
    check(tmp_path, 3, START + STEP)

    assert numbers(tmp_path) == [1, 3]


def test_a_clock_far_behind_is_doubted_for_a_day_and_then_believed(tmp_path):
    """A year too much for an hour at start-up: what it dated is dated anew; no number is lost."""
    check(tmp_path, 1, START)
    check(tmp_path, 2, START + 365 * DAY)
    assert '364 days behind' in history(tmp_path, START + STEP).doubt
    check(tmp_path, 2.5, START + DAY)
    assert [point.number for point in points(tmp_path, now=START + DAY)] == [1, 2, 2.5], (
        'growth is stored'
    )
    check(tmp_path, 3, START + DAY + 2 * STEP)

    assert points(tmp_path) == (
        Point(START, 1),
        Point(START + DAY + 2 * STEP - 1, 2.5),
        Point(START + DAY + 2 * STEP, 3, 1),
    )


def test_a_clock_of_1970_is_never_believed(tmp_path):
    """The battery of the board is empty; nothing is dated anew, however long it stays so."""
    check(tmp_path, 1, START)
    for day in range(1, 5):
        assert 'the clock' in history(tmp_path, day * DAY).doubt
    check(tmp_path, 2, START + STEP)

    assert points(tmp_path) == (Point(START, 1), Point(START + STEP, 2, STEP))


def test_a_clock_of_1970_that_is_then_set_wrongly_is_doubted_for_a_day_like_any_other(tmp_path):
    """A day since 1970 has long gone by: what history holds must not be dated anew by the first
    guess of a board.
    """
    check(tmp_path, 1, START)
    behind = START - 100 * DAY
    for now in (60, behind, behind + DAY - STEP):
        assert 'the clock' in history(tmp_path, now).doubt
    check(tmp_path, 2, START + STEP)
    assert points(tmp_path) == (Point(START, 1), Point(START + STEP, 2, STEP))

    for now in (60, behind):
        assert 'the clock' in history(tmp_path, now).doubt
    check(tmp_path, 3, behind + DAY)
    assert points(tmp_path)[-1] == Point(behind + DAY, 3, 1)


def test_a_clock_far_ahead_thins_a_month_at_most(tmp_path):
    """Otherwise one check with a wrong year would throw away what a year has gathered."""
    history(tmp_path).keep_past(
        DRIVE, {(CRC, CHANGE): [Point(START + day * DAY, day, DAY) for day in range(99)]}
    )
    check(tmp_path, 99, START + 99 * DAY)
    check(tmp_path, 1000, START + 3650 * DAY)

    assert len(points(tmp_path, now=START + 5000 * DAY)) >= 100 - 31


# --- bounds -----------------------------------------------------------------------------------


def test_a_counter_that_moves_at_every_check_is_thinned_to_one_a_day(tmp_path):
    """Whole for 25 hours, so that 24 hours can be judged exactly; in between bounded."""
    moving = [Point(START + place * STEP, place, STEP) for place in range(288 * 10)]
    history(tmp_path).keep_past(DRIVE, {(CRC, CHANGE): moving})
    check(tmp_path, 288 * 10, START + 10 * DAY)

    found = points(tmp_path)
    assert len(found) < 288 * 2 + 20
    assert found[-1].number == 288 * 10
    assert len([point for point in found if point.time > START + 9 * DAY - HOUR]) >= 300 - 1


@pytest.mark.long
def test_after_400_days_a_point_a_month_is_left(tmp_path):
    """Years of hours and temperatures."""
    hours = Key('power_on_time', 'attribute 9')
    opened = history(tmp_path, START + 399 * DAY)
    opened.keep_past(
        DRIVE, {(hours, DAILY): [Point(START + day * DAY, day * DAY, DAY) for day in range(399)]}
    )
    for day in range(399, 500):
        opened.now = START + day * DAY
        opened.keep([Sighting('/dev/sda', DRIVE, (Observation(hours, day * DAY, DAILY),))], Scope())

    found = points(tmp_path, key=hours)
    assert 400 <= len(found) <= 400 + 6 + 31
    assert found[-1].number == 499 * DAY


def test_a_drive_that_makes_up_serial_numbers_does_not_fill_the_disk(tmp_path, monkeypatch):
    monkeypatch.setattr('smart_attributes.history.store.MOST_DRIVES', 3)
    opened = history(tmp_path)
    notes = []
    for place in range(5):
        opened.now = START + place
        notes += opened.keep(
            [Sighting('/dev/sda', DRIVE._replace(serial=f'MADEUP{place}', wwn=''), ())], Scope()
        )

    assert len(history(tmp_path, START + STEP).records) == 3
    assert len(notes) == 2 and '--forget' in notes[0]


@pytest.mark.long
def test_a_year_of_24_drives_takes_less_than_five_megabytes(tmp_path):
    """40 days of it here, log included; what is written at each check of a day does not add to
    it.
    """
    dice = random.Random(7)
    opened = history(tmp_path)
    found = [DRIVE._replace(serial=f'S3RIAL{place:02}', wwn='') for place in range(24)]
    metrics = (
        'temperature',
        'power_on_time',
        'host_written',
        'host_read',
        'nand_written',
        'power_cycles',
        'start_stop',
        'load_cycles',
        'reallocated',
        'pending',
        'crc_errors',
        'media_errors',
        'endurance_used',
        'spare_available',
    )
    largest = 0
    for turn in range(40 * 2):
        opened.now = START + turn * DAY // 2
        opened.keep(
            [
                Sighting(
                    f'/dev/sd{place}',
                    identity,
                    tuple(
                        Observation(
                            Key(metric, f'attribute {number}, raw'),
                            dice.randrange(100) if pace(metric) else turn // 40,
                            pace(metric),
                        )
                        for number, metric in enumerate(metrics)
                    ),
                )
                for place, identity in enumerate(found)
            ],
            Scope(is_scan=True),
        )
        largest = max(
            largest, sum(path.stat().st_size for path in (tmp_path / 'history').iterdir())
        )

    assert largest < 5_000_000 * 40 / 365


# --- two at once, and killed -----------------------------------------------------------------


def start(path: Path, number: int, report: int) -> int:
    """Start a check as a process; it tells *report* what it has committed."""

    def one() -> None:
        identity, address = (DRIVE, '/dev/sda') if number % 2 else (OTHER, '/dev/sdb')
        try:
            check(path, number, START + number * STEP, identity, address=address)
            os.write(report, b'%d\n' % number)
        except HistoryUnusable as error:
            os.write(report, b'! %s\n' % str(error).encode())
        except BaseException:
            os.write(report, b'!! %s\n' % traceback.format_exc().replace('\n', ' ').encode())

    return forked(one)


@pytest.mark.long
def test_no_committed_value_is_lost_when_checks_run_two_at_a_time_and_a_third_is_killed(tmp_path):
    """SIGKILL at any moment, also while the file is made; HISTORY_RUNS=1000 is the whole run."""
    dice = random.Random(12)
    reader, writer = os.pipe()
    for pair in range(int(os.environ.get('HISTORY_RUNS', '80')) // 2):
        children = [start(tmp_path, 2 * pair + place, writer) for place in (0, 1)]
        for child in children:
            if dice.random() < 1 / 3:
                time.sleep(dice.random() * 0.006)
                os.kill(child, signal.SIGKILL)
        for child in children:
            os.waitpid(child, 0)
    os.close(writer)
    with os.fdopen(reader) as file:
        lines = file.read().splitlines()
    committed = [int(line) for line in lines if line.isdigit()]
    checked = sqlite3.connect(tmp_path / 'history' / directory.FILE)

    # Where the disk is slow, a check waits too long for the other one, and says so; it has
    # committed nothing then.
    assert [
        line
        for line in lines
        if line.startswith('!') and 'is locked by another process' not in line
    ] == []
    assert checked.execute('PRAGMA integrity_check').fetchall() == [('ok',)]
    assert not (tmp_path / 'history' / directory.ASIDE).exists()
    there = {*numbers(tmp_path, DRIVE), *numbers(tmp_path, OTHER)}
    assert len(committed) > 20 and set(committed) <= there


def test_two_at_once_set_a_damaged_file_aside_once(tmp_path):
    """The second must not throw away what the first has begun."""
    for turn in range(5):
        path = tmp_path / str(turn)
        (path / 'history').mkdir(parents=True)
        (path / 'history' / directory.FILE).write_bytes(b'rubbish' * 1000)
        reader, writer = os.pipe()
        for child in [start(path, number, writer) for number in range(4)]:
            os.waitpid(child, 0)
        os.close(writer)
        with os.fdopen(reader) as file:
            lines = file.read().splitlines()

        assert [line for line in lines if line.startswith('!!')] == []
        committed = {int(line) for line in lines if line.isdigit()}
        assert (path / 'history' / directory.ASIDE).read_bytes().startswith(b'rubbish')
        stored: dict[int, float] = dict(
            sqlite3.connect(path / 'history' / directory.FILE).execute(
                'SELECT time, number FROM point'
            )
        )
        assert max(committed) in stored.values()


@pytest.mark.long
def test_a_check_never_closes_what_it_wrote(tmp_path):
    """The last to close waits for the disk.

    The log stays and is small, though each check finds it and adds to it.
    """
    sizes = []
    for number in range(40):
        in_a_child(lambda number=number: check(tmp_path, number, START + number * STEP))
        sizes.append((tmp_path / 'history' / LOG).stat().st_size)

    assert max(sizes) < database.LOG_SIZE + (64 << 10) and sum(size > 0 for size in sizes) > 32
    assert stat.S_IMODE((tmp_path / 'history' / directory.FILE).stat().st_mode) == 0o644


def test_the_machine_is_told_by_its_id(tmp_path):
    (tmp_path / 'id').write_text('0123456789abcdef\n')

    assert directory.identifier(str(tmp_path / 'id')) == '0123456789abcdef'
    assert directory.identifier(str(tmp_path / 'none')) == ''


# --- what the check is told -----------------------------------------------------------------------


def day(moment: int) -> str:
    return time.strftime('%Y-%m-%d %H:%M', time.localtime(moment))


def change_record(path: Path, **fields: object) -> None:
    """Change the record of commits."""
    folder = directory.below(state_directory.ready(str(path)), is_made=False)
    directory.change_commits(folder, lambda record: record._replace(**fields))


def test_a_lost_history_is_told_with_day_reason_and_the_old_file(tmp_path):
    """To the last second of seven days."""
    check(tmp_path, 1)
    since = START + STEP
    said = history(tmp_path, since, 'another').losses.restart

    assert said == (
        f'restarted on {day(since)}, because the old one is from another machine, for example '
        f'because a '
        'disk was cloned (machine-id); earlier increases cannot be detected (the old file: '
        f'{tmp_path}/history/history.sqlite.aside)'
    )
    assert [
        history(tmp_path, since + after, 'another').losses.restart
        for after in (7 * DAY, 7 * DAY + 1)
    ] == [said, '']


@pytest.mark.parametrize(
    ('facts', 'why'),
    [
        ({'why': '<b>'}, 'was damaged'),
        ({}, 'was damaged'),
        ({'why': losses.DAMAGED}, 'was damaged'),
        ({'why': losses.GONE}, 'was gone or empty'),
        ({'why': losses.CLONED}, 'is from another machine, '),
    ],
    ids=['foreign', 'none', 'damaged', 'gone', 'cloned'],
)
def test_only_reasons_of_ours_are_told(tmp_path, facts, why):
    """What nagios has forged there is not printed by root."""
    opened = history(tmp_path)
    opened._writing(lambda: opened._set(lost=START, **facts))

    assert history(tmp_path, START + STEP).losses.restart.startswith(
        f'restarted on {day(START)}, because the old one {why}'
    )


@pytest.mark.parametrize('writes', [True, False], ids=['writes', 'reads'])
@pytest.mark.parametrize(
    ('is_counted', 'until', 'how'),
    [
        (
            True,
            START + 2 * STEP,
            'were lost, because a file of the history was damaged or removed, or the system lost '
            'power',
        ),
        (
            False,
            START + DAY,
            'may be missing, because history.sqlite.commits was damaged or removed',
        ),
    ],
    ids=['counted', 'uncounted'],
)
def test_missing_readings_are_told_with_their_time_and_the_cause(
    tmp_path, writes, is_counted, until, how
):
    check(tmp_path, 1)
    if is_counted:
        change_record(tmp_path, sequence=99, time=START + 2 * STEP)
    else:
        (tmp_path / 'history' / directory.COMMITS).unlink()

    assert history(tmp_path, START + DAY, writes=writes).losses.missing == (
        f'readings from {day(START)} to {day(until)} {how}; earlier readings still count; if '
        f'there was no power '
        'failure, check the disk: dmesg -T | tail -50'
    )


def test_missing_readings_are_told_for_seven_days(tmp_path):
    """Since they were noticed: nothing is missing any more then."""
    check(tmp_path, 1)
    change_record(tmp_path, sequence=99, time=START + STEP)
    said = history(tmp_path, START + DAY).losses.missing

    assert said
    moments = 2 * DAY, 8 * DAY, 8 * DAY + 1
    assert [history(tmp_path, START + later).losses.missing for later in moments] == [
        said,
        said,
        '',
    ]


@pytest.mark.parametrize(
    ('fields', 'since'),
    [
        ({'synced_at': START + 7, 'boot': 'another'}, START + 7),
        ({'synced_at': 0, 'boot': 'another'}, START),
        ({'synced_at': 0}, None),
    ],
    ids=['synced', 'never-synced', 'no-restart'],
)
def test_a_restart_is_told_with_the_time_since_which_readings_may_be_missing(
    tmp_path, fields, since
):
    check(tmp_path, 1)
    change_record(tmp_path, is_open=1, **fields)
    opened = history(tmp_path, START + DAY)

    assert opened.restarted == (
        ''
        if since is None
        else (
            'the system has restarted since the last check; if it lost power, readings since '
            f'{day(since)} may be missing; earlier readings still count'
        )
    )
    assert opened.losses.missing == ''


@pytest.mark.parametrize(
    ('reason', 'said'), [('', ''), ('no space', ': no space')], ids=['unknown', 'known']
)
def test_what_could_not_be_written_is_told_with_time_and_reason(tmp_path, reason, said):
    opened = check(tmp_path, 1)
    directory.leave_mark(opened.folder, reason)
    os.utime(tmp_path / 'history' / directory.NOT_WRITTEN, (START, START))

    assert (
        history(tmp_path, START + STEP).not_written
        == f'nothing could be written since {day(START)}{said}'
    )
    assert history(tmp_path, START + STEP, writes=False).not_written == ''


def test_a_check_that_cannot_write_leaves_its_reason(tmp_path, monkeypatch):
    opened = history(tmp_path)
    monkeypatch.setattr(opened._database, 'commit', refused)
    with pytest.raises(HistoryUnusable, match=r'^no space$'):
        opened.keep([], Scope())

    assert directory.mark(opened.folder)[1] == 'no space'


def refused(*_: object) -> None:
    raise HistoryUnusable('no space')


def test_nothing_is_told_of_a_history_without_faults(tmp_path):
    check(tmp_path, 1)
    opened = check(tmp_path, 2, START + STEP)

    assert (opened.losses.restart, opened.losses.missing, opened.restarted, opened.not_written) == (
        '',
        '',
        '',
        '',
    )
    assert (opened.begun, opened.is_own) == (START, True)


def test_a_history_without_facts_about_itself_begins_now_and_is_of_this_machine(tmp_path):
    """Its owner can remove them."""
    opened = check(tmp_path, 1)
    opened._writing(
        lambda: opened._database.run("DELETE FROM fact WHERE name IN ('begun', 'machine')")
    )
    opened = history(tmp_path, START + STEP)

    assert (opened.begun, opened.losses.restart, len(opened.records)) == (START + STEP, '', 1)


def test_a_history_is_made_where_nothing_else_is_said(tmp_path):
    """Without an ID of the machine: the next check has one, and takes the history for its own."""
    HistoryStore(state_directory.ready(str(tmp_path)), START, is_same_drive)

    assert (
        history(tmp_path, START + STEP).begun,
        history(tmp_path, START + STEP).losses.restart,
    ) == (START, '')


@pytest.mark.parametrize(
    ('first', 'then', 'writes', 'is_told'),
    [
        ('one', 'one', True, False),
        ('one', 'two', True, True),
        ('one', 'two', False, False),
        ('one', '', True, False),
        ('', 'two', True, False),
    ],
    ids=['the-same', 'another', 'only-reads', 'without-id', 'had-none'],
)
def test_a_history_begins_anew_only_where_both_machines_have_an_id(
    tmp_path, first, then, writes, is_told
):
    check(tmp_path, 1, machine=first)
    opened = history(tmp_path, START + STEP, then, writes)

    assert (bool(opened.losses.restart), opened.begun) == (
        is_told,
        START + STEP if is_told else START,
    )
    assert len(opened.records) == (0 if is_told else 1)


@pytest.mark.parametrize('is_forgotten', [False, True])
def test_a_log_that_was_imported_is_known_until_its_drive_is_forgotten(tmp_path, is_forgotten):
    """Since when history has the drive, nobody can tell then."""
    check(tmp_path, 1)
    opened = check(tmp_path, 1, START + 1, OTHER, address='/dev/sdb')
    assert (opened.has_taken, opened.knows_since(opened.records[0])) == (False, START)
    opened.keep_past(DRIVE, {(CRC, CHANGE): [Point(START - DAY, 1)]})
    if is_forgotten:
        assert opened.forget('nobody') == 0 and opened.forget('S3RIAL01') == 1
    opened = history(tmp_path, START + STEP)

    assert opened.has_taken is not is_forgotten
    assert [opened.knows_since(record) for record in opened.records] == (
        [] if is_forgotten else [0]
    ) + [START + 1]


def test_all_drives_of_a_serial_number_are_forgotten(tmp_path):
    check(tmp_path, 1)
    opened = check(
        tmp_path,
        1,
        START + 1,
        DRIVE._replace(model='EVIL 1', wwn='5000c500ffffffff'),
        address='/dev/sdb',
    )

    assert opened.forget('S3RIAL01') == 2 and history(tmp_path, START + STEP).records == ()


# --- which drive and which address ----------------------------------------------------------------


def test_a_drive_that_has_left_its_address_is_not_expected_there(tmp_path):
    check(tmp_path, 1)
    check(tmp_path, 2, START + 1, OTHER)  # at the same address
    opened = history(tmp_path, START + STEP)

    assert opened.expect(['/dev/sda']) == [OTHER] and opened.expected(DRIVE) is None
    record = opened.at('/dev/sda')
    assert record is not None and record.identity.serial == 'S3RIAL02'


def test_after_a_drive_was_read_ahead_others_are_still_found(tmp_path):
    """Some of the drives of a run were expected, some not, and some are new."""
    check(tmp_path, 1)
    check(tmp_path, 2, START + 1, OTHER, address='/dev/sdb')
    new = DRIVE._replace(serial='S3RIAL03', wwn='5000c500a1b2c3d6')
    opened = history(tmp_path, START + STEP)
    opened.expect(['/dev/sda'])
    found = opened.recall([OTHER, new, DRIVE])

    assert [each.histories[CRC].points[0].number if each.histories else None for each in found] == [
        2,
        None,
        1,
    ]
    assert [bool(each.match.record) for each in found] == [True, False, True]


def test_a_drive_that_is_read_ahead_and_cannot_be_stored_is_not_expected(tmp_path):
    """Two addresses of two drives that look the same now."""
    check(tmp_path, 1)
    opened = history(tmp_path, START + STEP)
    opened._head = rows.Head(
        {},
        (opened.records[0], opened.records[0]._replace(number=2)),
        (opened.places[0], opened.places[0]._replace(drive=2)),
    )

    assert opened.expect(['/dev/sda']) == [DRIVE, DRIVE] and opened.expected(DRIVE) is None
    assert opened.at('/dev/sda') is None


def test_what_was_recalled_is_read_again_only_for_other_drives_or_after_a_write(
    tmp_path, monkeypatch
):
    """The check asks twice."""
    check(tmp_path, 1)
    check(tmp_path, 2, START + 1, OTHER, address='/dev/sdb')
    opened = history(tmp_path, START + STEP)
    read: list[list[int]] = []
    stored = rows.stored
    monkeypatch.setattr(
        rows,
        'stored',
        lambda database, records, points: (
            read.append([record.number for record in records]) or stored(database, records, points)
        ),
    )
    for identities in ([DRIVE], [DRIVE], [DRIVE, OTHER], [DRIVE, OTHER], [OTHER]):
        opened.recall(identities)
    assert read == [[1], [1, 2], [2]]

    opened.keep([Sighting('/dev/sdb', OTHER, (Observation(CRC, 3, CHANGE),))], Scope())
    assert opened.recall([OTHER])[0].histories[CRC].points[-1].number == 3


def test_drives_that_were_read_ahead_are_not_read_again(tmp_path, monkeypatch):
    """In whatever order they answer."""
    check(tmp_path, 1)
    check(tmp_path, 2, START + 1, OTHER, address='/dev/sdb')
    opened = history(tmp_path, START + STEP)
    opened.expect(['/dev/sda', '/dev/sdb'])
    monkeypatch.setattr(rows, 'stored', lambda *_: pytest.fail('read again'))

    assert [each.histories[CRC].points[0].number for each in opened.recall([OTHER, DRIVE])] == [
        2,
        1,
    ]


def test_a_history_is_read_while_another_check_writes(tmp_path):
    """A reader needs no lock."""
    check(tmp_path, 1)
    opened = history(tmp_path, START + STEP)
    holder = sqlite3.connect(tmp_path / 'history' / directory.FILE, isolation_level=None)
    holder.execute('BEGIN IMMEDIATE')
    try:
        assert opened.recall([DRIVE])[0].histories[CRC].points == (Point(START, 1),)
    finally:
        holder.close()


def test_what_is_stored_for_an_hour_is_no_series_of_the_drive(tmp_path):
    """Only hysteresis needs it."""
    opened = check(tmp_path, 1)
    opened = check(tmp_path, 40, START + STEP, key=Key('temperature', 'lately'), often=LATELY)

    assert list(opened.all_of(opened.records[0])) == [CRC]
    assert {key.metric for key in opened.recall([DRIVE])[0].histories} == {
        'crc_errors',
        'temperature',
    }


def test_a_drive_that_was_forgotten_meanwhile_has_no_series(tmp_path):
    check(tmp_path, 1)
    opened = history(tmp_path, START + STEP)
    opened.forget('S3RIAL01')

    assert opened.all_of(opened.records[0]) == {}


# --- the entire history ---------------------------------------------------------------------------


def test_damage_that_no_check_meets_is_found_where_all_is_examined(tmp_path):
    """In a point that is neither the newest of its series nor of a series that is judged."""
    for number in range(3):
        check(tmp_path, number, START + number * DAY, key=HOURS, often=DAILY)
    forger = sqlite3.connect(tmp_path / 'history' / directory.FILE)
    forger.executescript('UPDATE point SET number = 7 WHERE time = (SELECT min(time) FROM point)')
    forger.close()
    opened = history(tmp_path, START + 3 * DAY)
    assert (
        opened.recall([DRIVE])[0].histories[HOURS].points[-1].number == 2
        and opened.losses.restart == ''
    )
    opened.examine()

    assert 'damaged' in opened.losses.restart and opened.recall([DRIVE])[0].histories == {}


def test_damage_that_only_sqlite_sees_is_found_where_all_is_examined(tmp_path, monkeypatch):
    opened = check(tmp_path, 1)
    run, answers = opened._database.run, iter([[('row 1 missing from index',)]])
    monkeypatch.setattr(
        opened._database,
        'run',
        lambda statement, *values: (
            next(answers, run(statement, *values))
            if ('integrity' in statement)
            else run(statement, *values)
        ),
    )
    opened.examine()

    assert 'damaged' in opened.losses.restart


def test_a_whole_history_is_examined_and_stays_as_it_is(tmp_path, monkeypatch):
    """It may take longer than what a check reads."""
    opened = check(tmp_path, 1)
    budgets: list[float] = []
    guarded = opened._database.guarded
    monkeypatch.setattr(
        opened._database,
        'guarded',
        lambda work, budget=0.5: budgets.append(budget) or guarded(work, budget),
    )
    opened.examine()

    assert budgets == [20.0, 0.5] and opened.losses.restart == '' and len(opened.records) == 1
    assert numbers(tmp_path) == [1]


# --- what is written when -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ('seen', 'is_urgent'),
    [
        ([('/dev/sda', DRIVE, 1, 7), ('/dev/sdb', OTHER, 1, 7)], False),
        ([('/dev/sda', DRIVE, 2, 7), ('/dev/sdb', OTHER, 1, 7)], True),
        ([('/dev/sda', DRIVE, 1, 7), ('/dev/sdb', OTHER, 2, 7)], True),
        ([('/dev/sda', DRIVE, 1, 8), ('/dev/sdb', OTHER, 1, 7)], False),
        ([('/dev/sdc', DRIVE, 1, 7), ('/dev/sdb', OTHER, 1, 7)], True),
    ],
    ids=['nothing', 'first-grew', 'last-grew', 'hours-only', 'moved'],
)
def test_growth_and_moves_are_on_the_disk_at_once(tmp_path, monkeypatch, seen, is_urgent):
    """All else may be lost to a power cut."""

    def keep(now: int, sightings: Sequence[tuple[str, Identity, int, int]]) -> None:
        history(tmp_path, now).keep(
            [
                Sighting(
                    address,
                    identity,
                    (Observation(CRC, number, CHANGE), Observation(HOURS, hours, DAILY)),
                )
                for address, identity, number, hours in sightings
            ],
            Scope(),
        )

    told: list[bool] = []
    monkeypatch.setattr(Database, 'sync', lambda self, now: told.append(self.is_urgent))
    keep(START, [('/dev/sda', DRIVE, 1, 7), ('/dev/sdb', OTHER, 1, 7)])
    keep(START + DAY, seen)

    assert told == [True, is_urgent]


def test_a_check_keeps_all_drives_beside_those_that_it_cannot(tmp_path):
    """A drive in standby and one without a name stand in between."""
    opened = history(tmp_path)
    seen = (Observation(CRC, 1, CHANGE),)
    notes = opened.keep(
        [
            Sighting('/dev/sda'),
            Sighting('/dev/sdb', DRIVE._replace(serial='', wwn=''), seen),
            Sighting('/dev/sdc', DRIVE, seen),
            Sighting('/dev/sdd', OTHER, seen),
        ],
        Scope(),
    )
    opened = history(tmp_path, START + STEP)

    assert [note.partition(' ')[0] for note in notes] == ['/dev/sdb']
    assert [(place.address, place.drive) for place in opened.places] == [
        ('/dev/sdc', 1),
        ('/dev/sdd', 2),
    ]
    assert [len(each.histories) for each in opened.recall([DRIVE, OTHER])] == [1, 1]


@pytest.mark.parametrize('seen', ['asleep', 'nameless'])
def test_a_drive_that_does_not_tell_its_name_has_not_left(tmp_path, seen):
    """It may be the one that was there."""
    check(tmp_path, 1)
    opened = history(tmp_path, START + STEP)
    opened.keep(
        [Sighting('/dev/sda', None if seen == 'asleep' else DRIVE._replace(serial='', wwn=''))],
        Scope({'/dev/sda'}),
    )

    assert [place.gone for place in history(tmp_path, START + 2 * STEP).places] == [0]


def test_one_address_with_two_answers_has_the_drive_that_told_its_name(tmp_path):
    opened = history(tmp_path)
    opened.keep([Sighting('/dev/sda', DRIVE), Sighting('/dev/sda')], Scope({'/dev/sda'}))

    assert [place.drive for place in history(tmp_path, START + STEP).places] == [1]


def test_of_two_checks_within_a_second_the_first_counts(tmp_path):
    check(tmp_path, 1)
    check(tmp_path, 2)

    assert numbers(tmp_path) == [1]


def test_a_drive_without_identity_says_so_also_where_there_is_no_room(tmp_path, monkeypatch):
    """Room would not help."""
    monkeypatch.setattr('smart_attributes.history.store.MOST_DRIVES', 1)
    check(tmp_path, 1)
    notes = history(tmp_path, START + STEP).keep(
        [Sighting('/dev/sdb', DRIVE._replace(serial='', wwn=''))], Scope()
    )

    assert len(notes) == 1 and 'has no serial number' in notes[0]


def test_a_drive_that_is_not_stored_for_want_of_room_says_what_to_do(tmp_path, monkeypatch):
    """Drives that are stored already are kept on."""
    monkeypatch.setattr('smart_attributes.history.store.MOST_DRIVES', 1)
    check(tmp_path, 1)
    opened = history(tmp_path, START + STEP)
    notes = opened.keep(
        [Sighting('/dev/sda', DRIVE, (Observation(CRC, 2, CHANGE),)), Sighting('/dev/sdb', OTHER)],
        Scope(),
    )

    assert notes == [
        '/dev/sdb is not stored: the history already has 1 drives; to make room, use history '
        '--forget '
        'SERIAL'
    ]
    assert numbers(tmp_path) == [1, 2]


@pytest.mark.parametrize(
    ('past', 'until', 'last_read'),
    [
        (
            {(CRC, CHANGE): [Point(START - 3 * DAY, 1), Point(START - 2 * DAY, 2)]},
            (),
            START - 2 * DAY,
        ),
        (
            {(CRC, CHANGE): [Point(START - 3 * DAY, 1)], (HOURS, DAILY): [Point(START - DAY, 1)]},
            (0,),
            START - DAY,
        ),
        ({(CRC, CHANGE): [Point(START - 3 * DAY, 1)], (HOURS, DAILY): []}, (START - 5,), START - 5),
        ({(HOURS, DAILY): []}, (), START),
        ({}, (), START),
    ],
    ids=['one-series', 'two-series', 'until', 'without-points', 'nothing'],
)
def test_a_drive_of_another_log_was_last_read_when_that_log_ends(tmp_path, past, until, last_read):
    written = history(tmp_path).keep_past(DRIVE, past, *until)
    opened = history(tmp_path, START + STEP)

    assert written == sum(map(len, past.values()))
    assert [(record.first_read, record.last_read) for record in opened.records] == [
        (last_read, last_read)
    ]
    assert {key: each.points for key, each in opened.all_of(opened.records[0]).items()} == {
        key: tuple(points) for (key, _), points in past.items() if points
    }


def test_the_log_of_a_drive_without_a_name_is_refused(tmp_path):
    with pytest.raises(HistoryUnusable, match=r'^ACME 4000 S3RIAL01 cannot be distinguished'):
        twice = check(tmp_path, 1, identity=DRIVE._replace(serial='')) and check(
            tmp_path, 2, START + STEP, DRIVE._replace(wwn='')
        )
        twice.keep_past(DRIVE, {})


def thinned(path: Path, monkeypatch: pytest.MonkeyPatch, *moments: int) -> list[tuple[int, int]]:
    """Return what checks at some moments thin: until when, and at which time."""
    told: list[tuple[int, int]] = []
    with monkeypatch.context() as patched:
        patched.setattr(upkeep, 'thin', lambda _, until, now: told.append((until, now)))
        for number, now in enumerate(moments):
            check(path, number, now)
    return told


@pytest.mark.parametrize(
    ('moments', 'done'),
    [
        ([0, 1, DAY - 1], []),
        ([0, DAY], [(DAY - 400 * DAY, DAY)]),
        ([0, DAY, DAY + 1, 2 * DAY - 1], [(-399 * DAY, DAY)]),
        ([0, DAY, 2 * DAY], [(-399 * DAY, DAY), (-398 * DAY, 2 * DAY)]),
        ([0, 2 * DAY, 2 * DAY - 1], [(-398 * DAY, 2 * DAY), (-398 * DAY - 1, 2 * DAY - 1)]),
        ([0, 405 * DAY], [(5 * DAY, 405 * DAY)]),
        (
            [0, 500 * DAY, 501 * DAY, 502 * DAY, 503 * DAY, 504 * DAY],
            [
                (30 * DAY, 500 * DAY),
                (60 * DAY, 501 * DAY),
                (90 * DAY, 502 * DAY),
                (103 * DAY, 503 * DAY),
                (104 * DAY, 504 * DAY),
            ],
        ),
    ],
    ids=[
        'first-day',
        'next-day',
        'once-a-day',
        'every-day',
        'set-back',
        'after-400-days',
        'a-month-at-a-time',
    ],
)
def test_a_check_a_day_thins_what_is_400_days_old_a_month_at_a_time(
    tmp_path, monkeypatch, moments, done
):
    """All in seconds since the history began."""
    told = thinned(tmp_path, monkeypatch, *(START + moment for moment in moments))

    assert [(until - START, now - START) for until, now in told] == done


# --- times that were wrong ------------------------------------------------------------------------


def test_all_times_of_a_clock_that_was_ahead_become_those_of_the_right_one(tmp_path, monkeypatch):
    """Of each series the newest number stays; a place, a drive and a series have no time in the
    future.
    """
    ahead = START + 365 * DAY
    for number in range(3):
        check(tmp_path, number, ahead + number * STEP)
    check(tmp_path, 5, ahead + STEP, OTHER, address='/dev/sdb')
    check(tmp_path, 7, ahead + 3 * STEP, OTHER, key=HOURS, often=DAILY, address='/dev/sdc')
    history(tmp_path, ahead + 4 * STEP).keep(
        [Sighting('/dev/sdb', DRIVE)], Scope({'/dev/sda', '/dev/sdb'})
    )
    assert history(tmp_path, START).doubt
    now = START + DAY
    opened = history(tmp_path, now)

    assert [(record.first_read, record.last_read) for record in opened.records] == [
        (now - 1, now - 1)
    ] * 2
    assert {(place.first, place.gone) for place in opened.places} == {
        (now - 1, 0),
        (now - 1, now - 1),
    }
    assert [
        {key.metric: (each.points, each.last_read) for key, each in opened.all_of(record).items()}
        for record in opened.records
    ] == [
        {'crc_errors': ((Point(now - 1, 2),), now - 1)},
        {
            'crc_errors': ((Point(now - 1, 5),), now - 1),
            'power_on_time': ((Point(now - 1, 7),), now - 1),
        },
    ]
    opened.examine()
    assert (opened.losses.restart, opened.losses.missing) == ('', '')


def test_after_times_were_corrected_a_clock_far_behind_is_doubted_again_for_a_day(
    tmp_path, monkeypatch
):
    """And the next thinning is due a day later."""
    check(tmp_path, 1, START + 365 * DAY)
    assert history(tmp_path, START).doubt
    now = START + DAY
    assert thinned(tmp_path, monkeypatch, now, now + DAY - 2) == []
    assert len(thinned(tmp_path, monkeypatch, now + DAY - 1)) == 1
    for behind in (now - 100 * DAY, now - 99 * DAY - 1):
        assert 'the clock' in history(tmp_path, behind).doubt
    history(tmp_path, now - 99 * DAY)


def test_the_day_of_doubt_begins_anew_after_times_were_corrected(tmp_path):
    """Also where no check has run in between."""
    check(tmp_path, 1, START + 365 * DAY)
    assert history(tmp_path, START).doubt
    history(tmp_path, START + 10 * DAY)

    assert 'the clock is 4 days behind' in history(tmp_path, START + 5 * DAY).doubt


def test_who_only_looks_corrects_no_time_and_starts_no_day_of_doubt(tmp_path):
    """What is seen by triage alone is decided by the next check."""
    check(tmp_path, 1, START + 365 * DAY)
    for now, writes in ((START, False), (START + 2 * DAY, False), (START + 2 * DAY, True)):
        assert 'the clock' in history(tmp_path, now, writes=writes).doubt

    now = START + 3 * DAY
    assert [
        history(tmp_path, now, writes=writes).records[0].last_read
        for writes in (False, False, True)
    ] == [START + 365 * DAY, START + 365 * DAY, now - 1]
