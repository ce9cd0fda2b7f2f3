"""History in its folder: what is kept, found again, and said when something is wrong."""

import os
import shutil
import tempfile
import traceback
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Callable

import abilities
import pytest

from smart_attributes.constants import DAY, HOUR
from smart_attributes.history import store
from smart_attributes.history.drive_records import Match, Scope
from smart_attributes.history.series import (
    CHANGE,
    DAILY,
    LATELY,
    History,
    Key,
    Observation,
    Point,
)
from smart_attributes.history.store import HistoryStore, Sighting
from smart_attributes.model import Identity, LastFinding, LastVerdict, State
from smart_attributes.reading.identity import is_same_drive

START = 1_795_000_000  # 18 November 2026
STEP = 300  # seconds between two checks
NOBODY = 65534
DRIVE = Identity('ATA', 'ACME 4000', 'F1', 'S3RIAL01', '5000c500a1b2c3d4')
OTHER = Identity('ATA', 'ACME 4000', 'F1', 'S3RIAL02', '5000c500a1b2c3d5')
CRC = Key('crc_errors', 'attribute 199, raw')
HOURS = Key('power_on_time', 'attribute 9')


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy disk delays the child that writes; the next check of a test must not start before."""
    monkeypatch.setattr(store, 'WRITING_TIME', 60.0)


def history(
    path: Path, now: int = START, machine: str = 'one', writes: bool = True
) -> HistoryStore:
    return HistoryStore(str(path), now, is_same_drive, machine, writes)


def in_a_child(work: Callable[[], object]) -> None:
    """Run *work* in a process of its own, and wait for it."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        except BaseException:
            traceback.print_exc()
        os._exit(status)
    assert os.waitpid(child, 0)[1] == 0, 'the child failed, see above'


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
    """One check of one drive: opened, read, and kept."""
    opened = history(path, now, machine)
    opened.read()
    opened.keep(
        [Sighting(address, identity, (Observation(key, number, often),))],
        Scope({address}),
    )
    return opened


def points(
    path: Path,
    identity: Identity = DRIVE,
    key: Key = CRC,
    now: int = START + 1000 * DAY,
) -> tuple[Point, ...]:
    """What a later reader finds."""
    opened = history(path, now, writes=False)
    record = opened.recall([identity])[0].record
    assert record is not None
    return opened.all_of(record.number)[key].points


def histories(opened: HistoryStore, match: Match) -> Mapping[Key, History]:
    """What the check is told of a drive."""
    return opened.drives[match.record.number].histories if match.record else {}


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


def test_what_another_check_wrote_in_between_counts(tmp_path):
    """The point says the gap to the last reading of anybody, not to the one that was recalled."""
    slow = history(tmp_path, START + 2 * STEP)
    slow.recall([DRIVE])
    check(tmp_path, 7, START + STEP)
    slow.keep([Sighting('/dev/sda', DRIVE, (Observation(CRC, 7, CHANGE),))], Scope())

    assert points(tmp_path) == (Point(START + STEP, 7),)


def test_a_forgotten_drive_leaves_nothing(tmp_path):
    """history --remove retires all drives of a serial number."""
    check(tmp_path, 1)
    check(tmp_path, 1, START + STEP, OTHER, address='/dev/sdb')
    evil = DRIVE._replace(model='EVIL 1', wwn='5000c500ffffffff')
    check(tmp_path, 1, START + STEP, evil, address='/dev/sdc')

    assert history(tmp_path, START + 2 * STEP).remove('S3RIAL01') == 2
    opened = history(tmp_path, START + 3 * STEP)
    assert [record.identity.serial for record in opened.records] == ['S3RIAL02']
    assert [place.address for place in opened.places] == ['/dev/sdb']


# --- which drive ----------------------------------------------------------------------------


def test_what_was_read_while_the_drives_were_read_is_received_after_that(tmp_path):
    """They can take longer than a check waits for the history."""
    check(tmp_path, 1)
    opened = history(tmp_path, START + STEP)
    opened._until, opened._patience = 0.0, 200.0

    assert opened.is_complete and opened.named(DRIVE) is not None


# --- what can be wrong ------------------------------------------------------------------------


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


# --- clocks -----------------------------------------------------------------------------------


def test_a_clock_far_behind_is_doubted_for_a_day_and_then_believed(tmp_path):
    """A year too much for an hour at start-up: what it dated is dated anew; no number is lost."""
    check(tmp_path, 1, START)
    check(tmp_path, 2, START + 365 * DAY)
    assert '364 days behind' in history(tmp_path, START + STEP).doubt
    check(tmp_path, 2.5, START + STEP)
    assert [point.number for point in points(tmp_path, now=START + DAY)] == [
        1,
        2,
        2.5,
    ], 'growth is stored'
    check(tmp_path, 3, START + DAY + STEP)

    assert points(tmp_path) == (
        Point(START, 1),
        Point(START + DAY + STEP - 1, 2.5),
        Point(START + DAY + STEP, 3, 1),
    )
    assert not history(tmp_path, START + DAY + STEP).doubt


# --- bounds -----------------------------------------------------------------------------------


def test_a_drive_that_makes_up_serial_numbers_does_not_fill_the_disk(
    tmp_path, monkeypatch
):
    monkeypatch.setattr('smart_attributes.history.store.MOST_DRIVES', 3)
    opened = history(tmp_path)
    for place in range(5):
        opened.now = START + place
        opened.keep(
            [Sighting('/dev/sda', DRIVE._replace(serial=f'MADEUP{place}', wwn=''), ())],
            Scope(),
        )

    assert len(history(tmp_path, START + STEP).records) == 3


# --- what the check is told -----------------------------------------------------------------------


# --- which drive and which address ----------------------------------------------------------------


def test_the_name_of_a_sleeping_drive_is_that_of_the_last_one_at_its_address(tmp_path):
    """Standby JSON has neither model nor serial number."""
    check(tmp_path, 1)
    check(tmp_path, 2, START + 1, OTHER)
    opened = history(tmp_path, START + STEP)

    record = opened.at('/dev/sda')
    assert record is not None and record.identity.serial == 'S3RIAL02'
    assert opened.at('/dev/sdb') is None


def test_known_and_new_drives_are_told_apart(tmp_path):
    check(tmp_path, 1)
    check(tmp_path, 2, START + 1, OTHER, address='/dev/sdb')
    new = DRIVE._replace(serial='S3RIAL03', wwn='5000c500a1b2c3d6')
    opened = history(tmp_path, START + STEP)
    found = opened.recall([OTHER, new, DRIVE])

    assert [
        [series.points[0].number for series in histories(opened, match).values()]
        for match in found
    ] == [[2], [], [1]]
    assert [match.record for match in found] == [
        opened.named(drive) for drive in (OTHER, new, DRIVE)
    ]
    assert [bool(match.record) for match in found] == [True, False, True]


def test_what_is_stored_for_an_hour_is_no_series_of_the_drive(tmp_path):
    """Only hysteresis needs it."""
    opened = check(tmp_path, 1)
    check(tmp_path, 40, START + STEP, key=Key('temperature', 'lately'), often=LATELY)
    opened = history(tmp_path, START + 2 * STEP)

    assert list(opened.all_of(opened.records[0].number)) == [CRC]
    assert {key.metric for key in histories(opened, opened.recall([DRIVE])[0])} == {
        'crc_errors',
        'temperature',
    }


# --- what is written when -------------------------------------------------------------------------


def test_a_check_keeps_all_drives_beside_those_that_it_cannot(tmp_path):
    """A drive in standby and one without a name stand in between."""
    opened = history(tmp_path)
    seen = (Observation(CRC, 1, CHANGE),)
    opened.keep(
        [
            Sighting('/dev/sda'),
            Sighting('/dev/sdb', DRIVE._replace(serial='', wwn=''), seen),
            Sighting('/dev/sdc', DRIVE, seen),
            Sighting('/dev/sdd', OTHER, seen),
        ],
        Scope(),
    )
    opened = history(tmp_path, START + STEP)

    assert {(place.address, place.drive) for place in opened.places} == {
        ('/dev/sdc', store.number_of(DRIVE)),
        ('/dev/sdd', store.number_of(OTHER)),
    }
    assert [
        len(histories(opened, match)) for match in opened.recall([DRIVE, OTHER])
    ] == [1, 1]


@pytest.mark.parametrize('seen', ['asleep', 'nameless'])
def test_a_drive_that_does_not_tell_its_name_has_not_left(tmp_path, seen):
    """It may be the one that was there."""
    check(tmp_path, 1)
    opened = history(tmp_path, START + STEP)
    opened.keep(
        [
            Sighting(
                '/dev/sda',
                None if seen == 'asleep' else DRIVE._replace(serial='', wwn=''),
            )
        ],
        Scope({'/dev/sda'}),
    )

    assert [place.gone for place in history(tmp_path, START + 2 * STEP).places] == [0]


def test_one_address_with_two_answers_has_the_drive_that_told_its_name(tmp_path):
    opened = history(tmp_path)
    opened.keep(
        [Sighting('/dev/sda', DRIVE), Sighting('/dev/sda')], Scope({'/dev/sda'})
    )

    opened = history(tmp_path, START + STEP)
    assert [place.drive for place in opened.places] == [
        record.number for record in opened.records
    ]


def test_a_drive_that_is_not_stored_for_want_of_room_says_what_to_do(
    tmp_path, monkeypatch
):
    """Drives that are stored already are kept on."""
    monkeypatch.setattr('smart_attributes.history.store.MOST_DRIVES', 1)
    check(tmp_path, 1)
    opened = history(tmp_path, START + STEP)
    opened.keep(
        [
            Sighting('/dev/sda', DRIVE, (Observation(CRC, 2, CHANGE),)),
            Sighting('/dev/sdb', OTHER),
        ],
        Scope(),
    )

    assert opened.recall([OTHER])[0].note == store.FULL
    nameless = DRIVE._replace(serial='', wwn='')
    assert 'has no serial number' in opened.recall([nameless])[0].note, (
        'room would not help'
    )
    assert len(history(tmp_path, START + 2 * STEP).records) == 1
    assert numbers(tmp_path) == [1, 2]


def test_who_only_looks_corrects_no_time_and_starts_no_day_of_doubt(tmp_path):
    """What is seen by triage alone is decided by the next check."""
    check(tmp_path, 1, START + 365 * DAY)
    for now in (START, START + 2 * DAY):
        assert 'the clock' in history(tmp_path, now, writes=False).doubt
    check(tmp_path, 1, START + 2 * DAY)

    assert (
        history(tmp_path, START + 3 * DAY).records[0].last_read == START + 365 * DAY + 1
    )


# --- damage -------------------------------------------------------------------------------------


def path_in(path: Path, identity: Identity = DRIVE, ending: str = '.drive') -> Path:
    return path / 'history' / f'{store.number_of(identity)}{ending}'


def three_checks(path: Path) -> None:
    for turn in range(3):
        opened = history(path, START + turn * STEP)
        seen = [
            Sighting(f'/dev/sd{place}', identity, (Observation(CRC, turn + 1, CHANGE),))
            for place, identity in (('a', DRIVE), ('b', OTHER))
        ]
        opened.keep(seen, Scope(is_scan=True))


def spoiled(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b'"crc_errors"', b'"crc_errorz"'))


def test_damage_costs_one_drive_the_readings_of_one_check_and_is_told_for_a_week(
    tmp_path,
):
    three_checks(tmp_path)
    spoiled(path_in(tmp_path))
    opened = history(tmp_path, START + HOUR)

    assert [
        len(histories(opened, match)[CRC].points)
        for match in opened.recall([DRIVE, OTHER])
    ] == [2, 3]
    [message] = opened.damage
    assert message.startswith('the history of /dev/sda is damaged')
    opened.keep([], Scope())
    assert path_in(tmp_path, ending='.damaged').exists()
    for later, count in ((DAY, 1), (7 * DAY, 1), (8 * DAY, 0)):
        messages = history(tmp_path, START + HOUR + later).old_damage
        assert sum('/dev/sda was damaged' in message for message in messages) == count
    assert numbers(tmp_path) == [1, 2]


def test_without_a_former_version_the_drive_begins_anew(tmp_path):
    three_checks(tmp_path)
    spoiled(path_in(tmp_path))
    path_in(tmp_path, ending='.former').unlink()
    opened = check(tmp_path, 9, START + HOUR)

    assert (
        'increases that happened before this check cannot be detected'
        in opened.damage[0]
    )
    assert numbers(tmp_path) == [9] and numbers(tmp_path, OTHER) == [1, 2, 3]
    assert (
        'increases that happened before then cannot be detected'
        in history(tmp_path, START + DAY).old_damage[0]
    )


def test_a_missing_file_is_replaced_by_its_former_version(tmp_path):
    three_checks(tmp_path)
    path_in(tmp_path).unlink()
    opened = check(tmp_path, 9, START + HOUR)

    assert 'is missing; ' in opened.damage[0]
    assert numbers(tmp_path) == [1, 2, 9]


def test_damaged_older_points_are_set_aside_and_told(tmp_path):
    """Once a day, by the check that adds a point."""
    for turn in range(4):
        check(tmp_path, turn, START + turn * DAY, key=HOURS, often=DAILY)
    spoiled_file = path_in(tmp_path, ending='.days')
    spoiled_file.write_bytes(b'rubbish')

    check(tmp_path, 4, START + 4 * DAY, key=HOURS, often=DAILY)
    assert [point.number for point in points(tmp_path, key=HOURS)] == [3, 4]
    assert 'days are lost' in history(tmp_path, START + 5 * DAY).old_damage[0]


def test_a_newer_version_is_that_drives_trouble_and_stays(tmp_path, monkeypatch):
    three_checks(tmp_path)
    monkeypatch.setattr(store.drive_file, 'VERSION', 2)
    check(tmp_path, 7, START + HOUR)
    monkeypatch.undo()
    newer = path_in(tmp_path).read_bytes()
    opened = check(tmp_path, 8, START + 2 * HOUR)
    check(tmp_path, 8, START + 2 * HOUR, OTHER, address='/dev/sdb')

    assert [match.note for match in opened.recall([DRIVE, OTHER])] == [store.NEWER, '']
    assert path_in(tmp_path).read_bytes() == newer and numbers(tmp_path, OTHER) == [
        1,
        2,
        3,
        8,
    ]


def test_files_beyond_the_limit_are_neither_read_nor_changed_and_it_is_told(
    tmp_path, monkeypatch
):
    three_checks(tmp_path)
    first, second = sorted((DRIVE, OTHER), key=store.number_of)
    monkeypatch.setattr(
        store.folder, 'LARGEST_HISTORIES', path_in(tmp_path, first).stat().st_size
    )
    before = path_in(tmp_path, second).read_bytes()
    opened = check(tmp_path, 9, START + HOUR, second)

    assert (
        opened.damage[0].startswith('the history of 1 drive in ')
        and '--remove' in opened.damage[0]
    )
    assert 'together exceed 3 MB' in opened.recall([second])[0].note
    assert path_in(tmp_path, second).read_bytes() == before


# --- machines -------------------------------------------------------------------------------------


def test_places_belong_to_a_machine_and_readings_to_the_drive(tmp_path):
    """A shared directory, or a machine ID that has changed."""
    check(tmp_path, 1, machine='one')
    opened = history(tmp_path, START + STEP, machine='two')
    assert opened.places == [] and opened.at('/dev/sda') is None
    check(tmp_path, 2, START + STEP, machine='two', address='/dev/sdx')
    check(tmp_path, 3, START + 2 * STEP, OTHER, machine='two', address='/dev/sdx')

    assert [
        (place.address, place.gone) for place in history(tmp_path, START + HOUR).places
    ] == [('/dev/sda', 0)]
    assert numbers(tmp_path) == [1, 2]


def test_the_last_verdict_is_stored_with_the_drive(tmp_path):
    finding = LastFinding(State.CRITICAL, 'smart_status', 'smart_status: FAILED')
    verdict = LastVerdict(START, (finding,), 'ACME 4000', is_disk=True)
    history(tmp_path).keep(
        [Sighting('/dev/sda', DRIVE, (Observation(CRC, 1, CHANGE),), verdict=verdict)],
        Scope(),
    )
    opened = history(tmp_path, START + HOUR)

    assert opened.drives[opened.records[0].number].verdict == verdict
