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
from contextlib import suppress
from pathlib import Path
from typing import Callable, Dict, Iterator, List, Sequence, Tuple

import pytest

from smart_attributes import state_directory
from smart_attributes.constants import DAY
from smart_attributes.errors import HistoryUnusable
from smart_attributes.history import commits, database, directory, rows
from smart_attributes.history.drive_changes import Scope
from smart_attributes.history.series import CHANGE, DAILY, HIGHEST, Key, Observation, Point, pace
from smart_attributes.history.store import HistoryStore, Sighting, machine_id
from smart_attributes.model import Identity
from smart_attributes.reading.identity import is_same_drive

START = 1_795_000_000      # 18 November 2026
STEP = 300                 # seconds between two checks
NOBODY = 65534
DRIVE = Identity('ATA', 'ACME 4000', 'F1', 'S3RIAL01', '5000c500a1b2c3d4')
OTHER = Identity('ATA', 'ACME 4000', 'F1', 'S3RIAL02', '5000c500a1b2c3d5')
CRC = Key('crc_errors', 'attribute 199, raw')
LOG = 'history.sqlite-wal'


OPEN: List[HistoryStore] = []    # of this process


def history(path: Path, now: int = START, machine: str = 'one', writes: bool = True) -> HistoryStore:
    state = state_directory.ready(str(path)) if writes else state_directory.there(str(path))
    OPEN.append(HistoryStore(state, now, is_same_drive, machine, writes))
    return OPEN[-1]


def forked(work: Callable[[], object]) -> int:
    """Run *work* in a process that ends as a check does, without closing anything; return its number."""
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
    """Checks here wait for the disk: one that a busy disk leaves syncing would hold the lock when the next one starts.

    Real checks are minutes apart.
    """
    monkeypatch.setattr(commits, 'SYNC_TIME', 60.0)


def in_a_child(work: Callable[[], object]) -> None:
    """Run *work* in a process of its own, and wait for it."""
    assert os.waitpid(forked(work), 0)[1] == 0, 'the child failed, see above'


def check(path: Path, number: float, now: int = START, identity: Identity = DRIVE, key: Key = CRC, often: int = CHANGE,
          address: str = '/dev/sda', machine: str = 'one') -> HistoryStore:
    """One check of one drive: opened, and kept."""
    opened = history(path, now, machine)
    opened.keep([Sighting(address, identity, (Observation(key, number, often),))], Scope({address}))
    return opened


def points(path: Path, identity: Identity = DRIVE, key: Key = CRC, now: int = START + 1000 * DAY) -> Tuple[Point, ...]:
    """What a later reader finds."""
    opened = history(path, now, writes=False)
    record = opened.recall([identity])[0].match.record
    assert record is not None
    return opened.all_of(record)[key].points


def numbers(path: Path, identity: Identity = DRIVE) -> Sequence[float]:
    return [point.number for point in points(path, identity)]


def as_nobody(work: Callable[[], object]) -> None:
    """Run *work* in a process of another user."""
    if os.geteuid() != 0:
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
    if os.geteuid() == 0:
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
        check(tmp_path, 30 + hour % 24 if hour < 24 else 20, midnight + hour * 3600 + 60, key=heat, often=HIGHEST)

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
    opened.keep([Sighting('/dev/sda', DRIVE,
                          (Observation(Key('a', ''), float('nan'), CHANGE), Observation(CRC, 1, CHANGE)))], Scope())

    assert numbers(tmp_path) == [1]


@pytest.mark.parametrize(('definition', 'number', 'is_kept'), [
    ('raw', 0, True), ('raw', rows.LARGEST, True), ('raw', rows.LARGEST * 1.1, False), ('raw', -1, False),
    ('raw', float('inf'), False), ('value, %', rows.PERCENT, True), ('value, %', rows.PERCENT + 1, False)])
def test_a_number_that_no_drive_can_have_is_not_kept(tmp_path, definition, number, is_kept):
    """Neither from a check nor from the log of another program; a sum of two such numbers could be infinite."""
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
    """smartd's logs fill history; what history has read itself is not touched, and its first point has a gap now."""
    check(tmp_path, 9, START)
    opened = history(tmp_path, START + STEP)
    opened.keep_past(DRIVE,
                     {(CRC, CHANGE): [Point(START - 3 * DAY, 5), Point(START - DAY, 6, 1800), Point(START + 1, 99)]})

    assert points(tmp_path) == (Point(START - 3 * DAY, 5), Point(START - DAY, 6, 1800), Point(START, 9, DAY))


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
    assert [record.identity.serial for record in history(tmp_path, START + 3 * STEP).records] == ['S3RIAL02']
    assert [place.address for place in history(tmp_path, START + 3 * STEP).places] == ['/dev/sdb']


# --- which drive ----------------------------------------------------------------------------

def test_a_drive_is_found_again_under_a_cut_model(tmp_path):
    """A SATA drive behind SCSI shows the first 16 characters of its model."""
    check(tmp_path, 1, identity=DRIVE._replace(model='ATA     ACME 40', protocol='SCSI'))

    assert history(tmp_path, START + STEP).recall([DRIVE])[0].histories[CRC].points[-1].number == 1


def test_one_wwn_under_two_serial_numbers_is_two_drives(tmp_path):
    """Manufacturers slip."""
    check(tmp_path, 1)

    assert history(tmp_path, START + STEP).recall([DRIVE._replace(serial='S3RIAL99')])[0].match == (None, '')


def test_a_drive_without_identity_is_not_remembered_and_says_so(tmp_path):
    """Its growth would be that of any other drive without a serial number."""
    nameless = DRIVE._replace(serial='', wwn='')
    opened = history(tmp_path)
    notes = opened.keep([Sighting('/dev/sda', nameless, (Observation(CRC, 1, CHANGE),))], Scope())

    assert history(tmp_path, START + STEP).records == ()
    assert len(notes) == 1 and 'increases do not alert' in notes[0] and notes[0].startswith('/dev/sda ')


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
    assert opened.expected(OTHER) is None and opened.recall([OTHER])[0].histories[CRC].points[0].number == 2


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

    assert 'damaged' in opened.loss and 'earlier increases cannot be detected' in opened.loss
    assert (tmp_path / 'history' / directory.ASIDE).read_bytes().startswith(b'rubbish')
    assert numbers(tmp_path) == [2]
    assert history(tmp_path, START + 7 * DAY).loss and not history(tmp_path, START + 8 * DAY).loss


def test_damage_in_the_middle_is_found_when_it_is_met(tmp_path):
    """A page of points is overwritten, the head is whole."""
    history(tmp_path).keep_past(DRIVE, {(CRC, CHANGE): [Point(START + place, place) for place in range(3000)]})
    sqlite3.connect(str(tmp_path / 'history' / directory.FILE)).execute('PRAGMA wal_checkpoint(TRUNCATE)')
    data = bytearray((tmp_path / 'history' / directory.FILE).read_bytes())
    data[4096 * 6:] = b'\x55' * (len(data) - 4096 * 6)
    (tmp_path / 'history' / directory.FILE).write_bytes(data)
    found = history(tmp_path, START + DAY)
    found.recall([DRIVE])
    check(tmp_path, 9999, START + DAY)

    assert (tmp_path / 'history' / directory.ASIDE).exists()
    assert 'damaged' in history(tmp_path, START + 2 * DAY).loss


def test_a_check_that_finds_damage_while_it_keeps_is_the_first_that_the_new_file_knows(tmp_path):
    """What it had read of the old file does not hold for the new one: numbers of drives begin again there."""
    in_a_child(lambda: check(tmp_path, 1))
    _spoil_index(tmp_path)
    crc = Key(CRC.metric, 'another attribute')
    check(tmp_path, 3, START + STEP, key=crc)
    check(tmp_path, 4, START + 2 * STEP, OTHER)

    assert 'damaged' in history(tmp_path, START + DAY).loss
    assert [point.number for point in points(tmp_path, key=crc)] == [3] and numbers(tmp_path, OTHER) == [4]


def _spoil_index(path: Path) -> None:
    """Let a metric have one series only, of whatever drive, as a damaged index may."""
    file = sqlite3.connect(str(path / 'history' / directory.FILE))
    file.execute("CREATE UNIQUE INDEX wrong ON series (metric)")
    file.commit()


def test_a_loss_is_told_where_the_check_was_killed_between_setting_aside_and_beginning(tmp_path):
    """Nobody wrote down why, but the old file is there."""
    check(tmp_path, 1)
    directory.set_aside(directory.below(state_directory.ready(str(tmp_path)), is_made=False))

    assert not [path.name for path in (tmp_path / 'history').iterdir()
                if path.name in (directory.FILE, LOG, f'{directory.FILE}-shm')]
    assert 'set aside' in check(tmp_path, 1, START + STEP).loss


def test_a_first_start_is_no_loss(tmp_path):
    assert check(tmp_path, 1).loss == ''


def test_a_cloned_disk_begins_anew(tmp_path):
    """Else 24 drives of the other machine would be missing."""
    check(tmp_path, 1)
    opened = check(tmp_path, 5, START + STEP, machine='another')

    assert 'another machine' in opened.loss
    assert numbers(tmp_path) == [5]


def test_an_older_file_gets_the_steps_that_it_lacks(tmp_path, monkeypatch):
    """An update of the program keeps what is there."""
    check(tmp_path, 1)
    monkeypatch.setattr('smart_attributes.history.database.STEPS', (*database.STEPS, ('CREATE TABLE later (x)',)))
    check(tmp_path, 2, START + STEP)

    assert numbers(tmp_path) == [1, 2]
    assert sqlite3.connect(tmp_path / 'history' / directory.FILE).execute('PRAGMA user_version').fetchone() == (
        len(database.STEPS),)


def test_a_file_of_the_first_version_gets_its_checksums_in_place(tmp_path):
    """history_1.sql: two checks as the version of 22 November 2026 wrote them. No reading is lost."""
    (tmp_path / 'history').mkdir()
    old = sqlite3.connect(tmp_path / 'history' / directory.FILE)
    old.executescript((Path(__file__).parent / 'history_1.sql').read_text())
    old.close()
    opened = check(tmp_path, 226, START + 2 * STEP)

    assert (opened.loss, opened.missing) == ('', '')
    assert points(tmp_path) == (Point(START, 212), Point(START + STEP, 214, STEP), Point(START + 2 * STEP, 226, STEP))
    assert points(tmp_path, OTHER) == (Point(START, 5),)
    opened = history(tmp_path, START + 3 * STEP)
    opened.examine()
    assert (opened.loss, opened.missing) == ('', '')


def test_an_older_program_neither_reads_nor_writes_a_newer_file(tmp_path, monkeypatch):
    """It cannot know what the numbers there mean."""
    with monkeypatch.context() as newer:
        newer.setattr('smart_attributes.history.database.STEPS', (*database.STEPS, ('CREATE TABLE later (x)',)))
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


@pytest.mark.parametrize('make', [
    pytest.param(lambda path, elsewhere: path.symlink_to(elsewhere), id='symbolic'),
    pytest.param(lambda path,
                 elsewhere: path.hardlink_to(elsewhere) if hasattr(path, 'hardlink_to') else os.link(elsewhere, path),
                 id='hard')])
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
    assert os.geteuid() == 0, 'root is root again'


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
    """This one's answer is out already; nothing committed is lost, and the mark goes when there is room again."""
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
    """The limit of nagios or of a service: the commit is only not synced then, and the next check does that."""
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
    assert time.monotonic() - before < 5 * directory.PATIENCE
    holder.close()


def test_a_forged_file_takes_no_time(tmp_path):
    """nagios blows it up with ten million points; root's check goes on without."""
    check(tmp_path, 1)
    forger = sqlite3.connect(tmp_path / 'history' / directory.FILE)
    forger.execute('WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000) '
                   'INSERT INTO point SELECT 1, i, i, 1 FROM n')
    forger.commit()
    forger.close()
    before = time.process_time()

    with pytest.raises(HistoryUnusable, match='takes too long'):
        history(tmp_path, START + STEP).recall([DRIVE])
    assert time.process_time() - before < 2


def test_texts_where_numbers_belong_are_damage(tmp_path):
    """SQLite takes anything anywhere."""
    check(tmp_path, 1)
    forger = sqlite3.connect(tmp_path / 'history' / directory.FILE)
    forger.execute("UPDATE point SET number = 'x', gap = 'y'")
    forger.execute("INSERT INTO place VALUES ('/dev/sda', 77, 'x', 'y', 'z')")
    forger.commit()
    forger.close()

    opened = history(tmp_path, START + STEP)
    assert opened.recall([DRIVE])[0].histories == {} and 'damaged' in history(tmp_path, START + STEP).loss


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
    with pytest.raises(HistoryUnusable, match='364 days behind'):
        history(tmp_path, START + STEP)
    with pytest.raises(HistoryUnusable):
        history(tmp_path, START + DAY)
    check(tmp_path, 3, START + DAY + 2 * STEP)

    assert points(tmp_path) == (Point(START, 1), Point(START + DAY + 2 * STEP - 1, 2),
                                Point(START + DAY + 2 * STEP, 3, 1))


def test_a_clock_of_1970_is_never_believed(tmp_path):
    """The battery of the board is empty; nothing is dated anew, however long it stays so."""
    check(tmp_path, 1, START)
    for day in range(1, 5):
        with pytest.raises(HistoryUnusable, match='the clock'):
            history(tmp_path, day * DAY)
    check(tmp_path, 2, START + STEP)

    assert points(tmp_path) == (Point(START, 1), Point(START + STEP, 2, STEP))


def test_a_clock_of_1970_that_is_then_set_wrongly_is_doubted_for_a_day_like_any_other(tmp_path):
    """A day since 1970 has long gone by: what history holds must not be dated anew by the first guess of a board."""
    check(tmp_path, 1, START)
    behind = START - 100 * DAY
    for now in (60, behind, behind + DAY - STEP):
        with pytest.raises(HistoryUnusable, match='the clock'):
            history(tmp_path, now)
    check(tmp_path, 2, START + STEP)
    assert points(tmp_path) == (Point(START, 1), Point(START + STEP, 2, STEP))

    for now in (60, behind):
        with pytest.raises(HistoryUnusable, match='the clock'):
            history(tmp_path, now)
    check(tmp_path, 3, behind + DAY)
    assert points(tmp_path)[-1] == Point(behind + DAY, 3, 1)


def test_a_clock_far_ahead_thins_a_month_at_most(tmp_path):
    """Otherwise one check with a wrong year would throw away what a year has gathered."""
    history(tmp_path).keep_past(DRIVE, {(CRC, CHANGE): [Point(START + day * DAY, day, DAY) for day in range(99)]})
    check(tmp_path, 99, START + 99 * DAY)
    check(tmp_path, 1000, START + 3650 * DAY)

    assert len(points(tmp_path, now=START + 5000 * DAY)) >= 100 - 31


# --- bounds -----------------------------------------------------------------------------------

def test_a_counter_that_moves_at_every_check_is_thinned_to_one_a_day(tmp_path):
    """Whole for two days, so that 24 hours can be judged exactly; in between bounded."""
    moving = [Point(START + place * STEP, place, STEP) for place in range(288 * 10)]
    history(tmp_path).keep_past(DRIVE, {(CRC, CHANGE): moving})
    check(tmp_path, 288 * 10, START + 10 * DAY)

    found = points(tmp_path)
    assert len(found) < 288 * 3 + 20
    assert found[-1].number == 288 * 10
    assert len([point for point in found if point.time > START + 8 * DAY]) >= 288 * 2 - 1


@pytest.mark.long
def test_after_400_days_a_point_a_month_is_left(tmp_path):
    """Years of hours and temperatures."""
    hours = Key('power_on_time', 'attribute 9')
    opened = history(tmp_path, START + 399 * DAY)
    opened.keep_past(DRIVE, {(hours, DAILY): [Point(START + day * DAY, day * DAY, DAY) for day in range(399)]})
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
        notes += opened.keep([Sighting('/dev/sda', DRIVE._replace(serial=f'MADEUP{place}', wwn=''), ())], Scope())

    assert len(history(tmp_path, START + STEP).records) == 3
    assert len(notes) == 2 and '--forget' in notes[0]


@pytest.mark.long
def test_a_year_of_24_drives_takes_less_than_five_megabytes(tmp_path):
    """Two months of it here, log included; what is written at each check of a day does not add to it."""
    dice = random.Random(7)
    opened = history(tmp_path)
    found = [DRIVE._replace(serial=f'S3RIAL{place:02}', wwn='') for place in range(24)]
    metrics = ('temperature', 'power_on_time', 'host_written', 'host_read', 'nand_written', 'power_cycles',
               'start_stop',
               'load_cycles',
               'reallocated', 'pending', 'crc_errors', 'media_errors', 'endurance_used', 'spare_available')
    largest = 0
    for turn in range(60 * 4):
        opened.now = START + turn * DAY // 4
        opened.keep([Sighting(f'/dev/sd{place}', identity, tuple(
            Observation(Key(metric, f'attribute {number}, raw'), dice.randrange(100) if pace(metric) else turn // 100,
                        pace(metric))
            for number, metric in enumerate(metrics))) for place, identity in enumerate(found)], Scope(is_scan=True))
        largest = max(largest, sum(path.stat().st_size for path in (tmp_path / 'history').iterdir()))

    assert largest < 5_000_000 * 60 / 365


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
    for pair in range(int(os.environ.get('HISTORY_RUNS', '120')) // 2):
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

    assert [line for line in lines if line.startswith('!')] == []
    assert checked.execute('PRAGMA integrity_check').fetchall() == [('ok',)]
    assert not (tmp_path / 'history' / directory.ASIDE).exists()
    there = {*numbers(tmp_path, DRIVE), *numbers(tmp_path, OTHER)}
    assert len(committed) > 20 and set(committed) <= there


def test_two_at_once_set_a_damaged_file_aside_once(tmp_path):
    """The second must not throw away what the first has begun."""
    for turn in range(10):
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
        stored: Dict[int,
                     float] = dict(sqlite3.connect(path / 'history' / directory.FILE).execute('SELECT time, number '
                                                                                                   'FROM point'))
        assert max(committed) in stored.values()


@pytest.mark.long
def test_a_check_never_closes_what_it_wrote(tmp_path):
    """The last to close waits for the disk; the log stays, and is small."""
    in_a_child(lambda: [check(tmp_path, number, START + number * STEP) for number in range(100)])

    assert 0 < (tmp_path / 'history' / LOG).stat().st_size < 300 * 1024
    assert stat.S_IMODE((tmp_path / 'history' / directory.FILE).stat().st_mode) == 0o644


def test_the_machine_is_told_by_its_id(tmp_path):
    (tmp_path / 'id').write_text('0123456789abcdef\n')

    assert machine_id(str(tmp_path / 'id')) == '0123456789abcdef'
    assert machine_id(str(tmp_path / 'none')) == ''


# --- the directory of earlier snapshots -------------------------------------------------------------

def as_a_snapshot_left_it(state):
    """Give a history the names that snapshots of version 2.0 gave it."""
    for path in (state / 'history').iterdir():
        path.rename(path.with_name(path.name.replace('history.sqlite', 'memory.sqlite')))
    (state / 'history').rename(state / 'memory')


def test_the_history_of_an_earlier_snapshot_is_taken_over(tmp_path):
    """Its readings still count, and nothing of it is reported as lost."""
    check(tmp_path, 1)
    as_a_snapshot_left_it(tmp_path)
    opened = check(tmp_path, 2, START + STEP)

    assert (opened.loss, opened.missing) == ('', '')
    assert numbers(tmp_path) == [1, 2]
    assert sorted(path.name for path in tmp_path.iterdir()) == ['history']
    assert not list((tmp_path / 'history').glob('memory*'))


@pytest.mark.parametrize('renames', range(1, 6))
def test_a_check_that_is_killed_while_it_renames_loses_nothing(tmp_path, renames, monkeypatch):
    """The next one goes on where it ended."""
    check(tmp_path, 1)
    as_a_snapshot_left_it(tmp_path)
    left = iter([os.rename] * renames)
    with monkeypatch.context() as killed:
        killed.setattr(os, 'rename', lambda *names, **folders: next(left)(*names, **folders))
        with suppress(StopIteration):
            check(tmp_path, 2, START + STEP)
    opened = check(tmp_path, 3, START + 2 * STEP)

    assert (opened.loss, opened.missing) == ('', '')
    assert numbers(tmp_path)[-1] == 3 and numbers(tmp_path)[0] == 1


def test_a_directory_of_today_is_not_replaced_by_one_of_an_earlier_snapshot(tmp_path):
    """A snapshot that was started once more may have made it again."""
    check(tmp_path, 1)
    (tmp_path / 'memory').mkdir()
    check(tmp_path, 2, START + STEP)

    assert numbers(tmp_path) == [1, 2]
    assert (tmp_path / 'memory').is_dir()
