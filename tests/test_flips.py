"""A flipped bit takes nothing from the history in silence; `make flips FLIPS=300` tries many
more.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import sqlite3
from pathlib import Path
from zlib import crc32

import abilities
import pytest
from days import DAY, HOUR, START, Machine, disk
from flips import LOG, NOW, RECORD, SAID, Flipper, flip

STATE = 'history/history.sqlite'


@pytest.mark.long
def test_no_bit_of_the_history_is_lost_in_silence(tmp_path: Path) -> None:
    """In the database, its log and the record of commits, young and old."""
    flipper = Flipper(tmp_path, random.randrange(10**6))
    flipper.flip(int(os.environ.get('FLIPS', '24')))

    assert flipper.silent == [], f'seed {flipper.seed}'
    assert sum(count for what, count in flipper.counted.items() if what.endswith('said')) >= 6, (
        flipper.counted
    )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Three checks of a drive whose errors did not grow; they grow now."""
    found = Machine(tmp_path)
    found.holds(sda=disk(a199=10))
    for hours in (3, 2, 1):
        found.check(NOW - hours * HOUR)
    found.holds(sda=disk(a199=99))
    return found


def test_growth_that_damage_hides_is_reported_as_a_loss(machine: Machine) -> None:
    """The case of the review: three checks, one bit of the log, and SMART OK without a word."""
    flip(machine.state / 'history' / LOG, 8 * 40)
    told = machine.check(NOW)

    assert 'WARNING' in told.text.splitlines()[0] or any(words in told.text for words in SAID), (
        told.text
    )
    assert 'readings from 2027-12-24 21:00 to 2027-12-24 23:00 were lost' in told.text


@pytest.mark.parametrize('gone', [LOG, RECORD, 'history.sqlite'])
def test_a_file_that_is_gone_is_reported_for_a_week(machine: Machine, gone: str) -> None:
    (machine.state / 'history' / gone).unlink()

    assert any(words in machine.check(NOW).text for words in SAID)
    assert any(words in machine.check(NOW + 6 * DAY).text for words in SAID)
    assert not any(words in machine.check(NOW + 8 * DAY).text for words in SAID)


@pytest.mark.parametrize(
    'content', [b'', b'x y', b'1 2 3 4 5 6', b'1 2 3 4 5 x boot', b'1 2 3 4 5 6 7 boot']
)
def test_a_record_that_no_check_has_written_counts_as_damaged(
    machine: Machine, content: bytes
) -> None:
    """Its checksum is right. The history stays, and the next check has a record again."""
    content = content.ljust(150)
    line = b'%08x %s\n' % (crc32(content.strip()), content)
    (machine.state / 'history' / RECORD).write_bytes(line)
    first, second = machine.check(NOW), machine.check(NOW + HOUR)

    assert len(line) == 160 and 'readings from' in first.text and 'may be missing' in first.text, (
        first.text
    )
    assert 'crc_errors grew by 89' in first.text and 'no history' not in first.text + second.text


def test_a_log_of_yesterday_is_not_taken_for_that_of_today(machine: Machine) -> None:
    """A backup that was put back, or a disk that kept an old sector."""
    saved = shutil.copytree(machine.state, machine.folder / 'saved')
    machine.holds(sda=disk(a199=50))
    machine.check(NOW)
    shutil.copy(saved / 'history' / LOG, machine.state / 'history' / LOG)
    shutil.copy(saved / STATE, machine.state / STATE)

    assert 'were lost' in machine.check(NOW + HOUR).text


DAMAGE = {
    'not-utf-8': "UPDATE series SET definition = cast(x'61ff62' AS TEXT) WHERE metric = "
    "'temperature'",
    'more-than-all': 'UPDATE point SET number = 100099 WHERE number = 10',
    'no-series': "DELETE FROM series WHERE metric = 'crc_errors'",
    'no-points': 'DELETE FROM point',
    'no-drive': 'DELETE FROM drive',
    'no-place': 'DELETE FROM place',
    'no-facts': 'DELETE FROM fact',
    'no-table': 'DROP TABLE point',
    'no-column': 'ALTER TABLE place RENAME COLUMN gone TO "database is locked"',
    'no-version': 'PRAGMA user_version = 0',
    'wrong-version': 'PRAGMA user_version = 66',
    'view': 'ALTER TABLE drive RENAME TO d; CREATE VIEW drive AS SELECT * FROM d',
}


@pytest.mark.parametrize('name', DAMAGE)
def test_a_table_that_cannot_be_read_is_damage_and_is_not_quoted(
    machine: Machine, name: str
) -> None:
    """Set aside and reported once; the check after it has a history again."""
    database = sqlite3.connect(machine.state / STATE)
    database.executescript(DAMAGE[name])
    database.close()
    first, second = machine.check(NOW), machine.check(NOW + HOUR)

    # what a view returns can be read, not changed
    for told in (first, second) if name != 'view' else [second]:
        assert re.search('(restarted|damaged) on 2027-12-25 00:00', told.text), told.text
        assert (
            'no history' not in told.text
            and 'decode' not in told.text
            and 'locked' not in told.text
        )
    machine.holds(sda=disk(a199=120))
    assert re.search('crc_errors grew by (21|110) ', machine.check(NOW + 2 * HOUR).text)


@pytest.mark.parametrize('offset, byte', [(18, 3), (19, 3), (47, 5), (59, 3)])
def test_a_damaged_head_of_the_file_is_damage(machine: Machine, offset: int, byte: int) -> None:
    """SQLite calls it read-only, or a version of its own: none of that ever ends by itself."""
    database = sqlite3.connect(machine.state / STATE)
    database.execute('PRAGMA wal_checkpoint(TRUNCATE)')
    database.close()
    data = bytearray((machine.state / STATE).read_bytes())
    data[offset] = byte
    (machine.state / STATE).write_bytes(data)

    first, second = machine.check(NOW), machine.check(NOW + HOUR)
    assert 'no history' not in first.text + second.text, first.text + second.text
    assert 'crc_errors grew by 89' in second.text or any(words in second.text for words in SAID), (
        second.text
    )


@abilities.disk
def test_doctor_reads_what_no_check_reads(machine: Machine) -> None:
    """A check needs the newest temperature only.

    What is set aside is named, and the next examination is good.
    """
    machine.holds(sda=disk(a194=31))
    machine.check(NOW + DAY)
    database = sqlite3.connect(machine.state / STATE)
    changed = database.execute(
        'UPDATE point SET number = 29 WHERE number = 30 AND series IN '
        "(SELECT number FROM series WHERE metric = 'temperature')"
    )
    assert changed.rowcount == 1
    database.commit()
    database.close()

    assert not any(words in machine.check(NOW + DAY + HOUR).text for words in SAID)
    told = machine.run(NOW + DAY + 2 * HOUR, 'doctor', '-d', '/dev/sda').text
    assert 'because the old one was damaged' in ' '.join(told.split()), told


def test_a_percentage_that_cannot_be_is_damage_though_its_checksum_is_right(tmp_path: Path) -> None:
    """100,099 % spare would be an alarm of 30 days."""
    from test_history_store import DRIVE, check, history

    from smart_attributes.history import upkeep
    from smart_attributes.history.series import Key

    opened = check(tmp_path, 99, key=Key('spare_available', 'attribute 232, %'))

    def forge() -> None:
        opened._database.run('UPDATE point SET number = 100099')
        upkeep.sum_points(opened._database, [1])

    opened._writing(forge)
    later = history(tmp_path, int(START) + 1)
    later.recall([DRIVE])

    assert 'damaged' in later.losses.restart


def damaged_twice(machine: Machine) -> None:
    machine.holds(sda=disk(a199=10))
    for hours in (0, 1):
        assert machine.check(NOW + hours * HOUR).code == 0
        for name in (STATE, f'history/{LOG}'):
            (machine.state / name).write_bytes(b'rubbish' * 1000)


def test_damage_that_recurs_within_a_day_is_a_finding(machine: Machine) -> None:
    """A disk that flips bits; the state is that of --history-required, where it is given."""
    damaged_twice(machine)
    told = machine.check(NOW + 2 * HOUR)

    assert (told.code, '[history-restarts] history: damaged or lost on' in told.first_line) == (
        1,
        True,
    ), told.text
    assert [
        machine.check(NOW + 3 * HOUR, '--history-required', state).code
        for state in ('critical', 'ok')
    ] == [2, 0]
    assert machine.check(NOW + 27 * HOUR).code == 0


@abilities.disk
def test_doctor_names_damage_that_recurs(machine: Machine) -> None:
    damaged_twice(machine)
    told = ' '.join(machine.run(NOW + 2 * HOUR, 'doctor', '-d', '/dev/sda').text.split())

    assert 'TO DO history' in told and 'and again on' in told, told


def has_a_long_log(machine: Machine) -> Path:
    """Write a log of 18 MB, by a process that ends without closing the file, and return it."""
    child = os.fork()
    if child == 0:
        database = sqlite3.connect(machine.state / STATE, isolation_level=None)
        for statement in (
            'PRAGMA wal_autocheckpoint = 0',
            'PRAGMA synchronous = OFF',
            'CREATE TABLE other (x)',
            'INSERT INTO other VALUES (zeroblob(9000000))',
            'DROP TABLE other',
        ):
            database.execute(statement)
        os._exit(0)
    os.waitpid(child, 0)
    log = machine.state / 'history' / LOG
    assert log.stat().st_size > 8 << 20
    return log


def test_a_log_that_has_grown_is_shortened_by_the_next_check(machine: Machine) -> None:
    """After its output, and nothing is lost."""
    machine.holds(sda=disk(a199=10))
    log = has_a_long_log(machine)
    told = machine.check(NOW).text

    assert 'note: history' not in told, told
    assert log.stat().st_size < 1 << 18


@abilities.disk
def test_doctor_names_a_log_that_has_grown(machine: Machine) -> None:
    log = has_a_long_log(machine)
    told = ' '.join(machine.run(NOW, 'doctor', '-d', '/dev/sda').text.split())

    assert re.search(r'its log had grown to 18\.\d MB -> it is short again', told), told
    assert log.stat().st_size < 1 << 18


def test_a_restart_is_noted_once_and_only_after_commits_that_were_not_synced(
    machine: Machine,
) -> None:
    """The state does not change for it."""
    machine.holds(sda=disk(a199=10))
    restarted = machine.check(NOW, boot='second')
    again = machine.check(NOW + HOUR, boot='second')
    machine.holds(sda=disk(a199=11))
    grown = machine.check(NOW + 2 * HOUR, boot='second')  # growth is synced
    third = machine.check(NOW + 3 * HOUR, boot='third')

    noted = [
        (
            'the system has restarted since the last check; if it lost power, readings since '
            '2027-12-24 21:00 may be '
            'missing'
        )
        in each.text
        for each in (restarted, again, grown, third)
    ]
    assert noted == [True, False, False, False] and restarted.code == again.code == 0
    assert 'the system has restarted' in machine.check(NOW + 4 * HOUR, boot='fourth').text
