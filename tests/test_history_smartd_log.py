"""smartd's attribute logs: read from the end, ordered, and turned into points."""

from __future__ import annotations

import gzip
import os
import time
import tracemalloc
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from smart_attributes.constants import DAY
from smart_attributes.history import smartd_log
from smart_attributes.history.series import CHANGE, DAILY, Key, Observation, Point
from smart_attributes.history.smartd_log import LogRow
from smart_attributes.model import Identity

NOW = 1_795_000_000 // DAY * DAY + DAY // 2
HOUR = 3600
CRC = Key('crc_errors', 'attribute 199, raw')


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """smartd writes local time."""
    monkeypatch.setenv('TZ', 'UTC')
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def line(moment: float, **attributes: int) -> str:
    """One line as smartd writes it; a5=3 is attribute 5 with the raw value 3."""
    stamp = time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(moment))
    return (
        f'{stamp};' + ''.join(f'\t{name[1:]};100;{raw};' for name, raw in attributes.items()) + '\n'
    )


def log(folder: Path, *lines: str) -> str:
    path = folder / 'attrlog.ACME_4000-S3RIAL01.ata.csv'
    path.write_text(''.join(lines))
    return str(path)


def logs(folder: Path, *lines: str) -> list[str]:
    return [log(folder, *lines)]


def crc(rows: Sequence[LogRow]) -> list[int]:
    return [row.ata[199][1] for row in rows]


def test_a_line_is_value_and_raw_of_each_attribute(tmp_path):
    found = smartd_log.read(logs(tmp_path, line(NOW - HOUR, a5=3, a9=22184)), NOW)

    assert found == ((LogRow(NOW - HOUR, {5: (100, 3), 9: (100, 22184)}, {}),), 1, 0, 0, ())


def test_damaged_lines_are_skipped_and_counted(tmp_path):
    """A power cut in the middle of one, zeros after it; and the one that is being written now."""
    whole = line(NOW - HOUR, a9=10, a199=1)
    found = smartd_log.read(
        logs(
            tmp_path,
            line(NOW - 2 * HOUR, a9=9, a199=0),
            whole[:28] + '\n',
            '\0' * 40 + '\n',
            'x;\ty;z;\n',
            whole.replace('-', '/'),
            whole,
            whole[:25],
        ),
        NOW,
    )

    assert crc(found.rows) == [0, 1]
    assert (found.read, found.damaged) == (2, 5)


@pytest.mark.parametrize(
    'cell', ['199;x;1;', '199;100;' + '9' * 400 + 'x;', '<b>;1;', "'|=;1;", '199;100;1;1;1;']
)
def test_a_line_with_a_cell_that_smartd_never_writes_is_skipped(tmp_path, cell):
    """Another program, or somebody who may write there; the lines around it are read."""
    whole = line(NOW - HOUR, a9=10, a199=1)
    spoilt = f'{whole.rstrip()}\t{cell}\n'
    found = smartd_log.read(logs(tmp_path, line(NOW - 2 * HOUR, a9=9, a199=0), spoilt, whole), NOW)

    assert (crc(found.rows), found.damaged) == ([0, 1], 1)


def test_only_the_last_400_days_are_read(tmp_path, monkeypatch):
    """By seeking: ten years of a drive are 32 MB."""
    hours = range(0, 3000 * 24, 6)
    path = log(
        tmp_path,
        *(line(NOW - 3000 * DAY + hour * HOUR, a9=hour, a199=hour // 24) for hour in hours),
    )
    looked_at = []
    monkeypatch.setattr(
        smartd_log,
        '_lines',
        lambda text, lines=smartd_log._lines: looked_at.append(len(text)) or lines(text),
    )
    found = smartd_log.read([path], NOW)

    assert NOW - 400 * DAY <= found.rows[0].time < NOW - 399 * DAY
    assert found.rows[-1].ata[199] == (100, 2999)
    assert found.damaged == 0
    assert looked_at[0] < os.path.getsize(path) / 7


def test_a_line_of_any_length_takes_no_time(tmp_path):
    """22 MB in one line took 13 s; no drive has so many attributes. The lines beside it count."""
    path = tmp_path / 'attrlog.ACME-1.ata.csv'
    long = (
        line(NOW - DAY, a9=1)[:-1]
        + ''.join(f'\t5;100;{number};' for number in range(700_000))
        + '\n'
    )
    path.write_text(line(NOW - 2 * DAY, a9=1) + long + line(NOW - HOUR, a9=25))
    began = time.process_time()
    found = smartd_log.read([str(path)], NOW)

    assert time.process_time() - began < 5
    assert [found.read, found.damaged] == [2, 1]


@pytest.mark.parametrize(
    'wrong',
    [
        1_000_000,  # 1970
        NOW + 4000 * DAY,  # 2037
    ],
)
def test_a_line_of_a_clock_gone_wrong_is_dated_by_the_hours(tmp_path, wrong):
    """And does not take the others with it."""
    found = smartd_log.read(
        logs(
            tmp_path,
            line(NOW - 30 * HOUR, a9=70, a199=1),
            line(wrong, a9=80, a199=2),
            line(NOW - 10 * HOUR, a9=90, a199=3),
        ),
        NOW,
    )

    assert crc(found.rows) == [1, 2, 3]
    assert [row.time for row in found.rows] == [NOW - 30 * HOUR, NOW - 20 * HOUR, NOW - 10 * HOUR]


def test_a_line_of_the_future_is_left_out_where_no_hours_date_it(tmp_path):
    """Logs of SCSI drives hold no hours; the lines after it keep their times."""
    counts = [
        (NOW - 30 * HOUR, 0),
        (NOW + 4000 * DAY, 2),
        (NOW - 20 * HOUR, 2),
        (NOW - 10 * HOUR, 3),
    ]
    found = smartd_log.read(
        logs(
            tmp_path,
            *(
                f'{time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(moment))};\tread-total-unc-errors;{count};\n'
                for moment, count in counts
            ),
        ),
        NOW,
    )

    assert [(row.time, row.named['read-total-unc-errors']) for row in found.rows] == [
        (moment, count) for moment, count in counts if moment < NOW
    ]


def test_the_hour_that_autumn_has_twice_stays_in_order(tmp_path, monkeypatch):
    """Local time steps back from 3:00 to 2:00."""
    monkeypatch.setenv('TZ', 'CET-1CEST,M3.5.0,M10.5.0/3')
    time.tzset()
    autumn = 1_792_890_000  # 25 October 2026, 01:00 UTC: 3:00 becomes 2:00
    moments = [autumn + 1800 * step for step in range(-4, 5)]
    found = smartd_log.read(
        logs(
            tmp_path,
            *(
                line(moment, a9=100 + place // 2, a199=place)
                for place, moment in enumerate(moments)
            ),
        ),
        NOW,
    )

    assert crc(found.rows) == list(range(9))
    assert all(abs(row.time - moment) <= HOUR for row, moment in zip(found.rows, moments))
    assert sorted({row.time for row in found.rows}) == [row.time for row in found.rows]


def test_what_says_nothing_new_is_left_out_but_for_one_line_a_day(tmp_path):
    """A check's own entry decodes each row; 20,000 of them would take minutes."""
    lines = [
        line(
            NOW - 20 * DAY + 600 * place,
            a9=place // 6,
            a194=20 + place % 7,
            a199=5 + (place > 1000),
        )
        for place in range(20 * 144)
    ]
    found = smartd_log.read(logs(tmp_path, *lines), NOW)
    changed = next(row for row in found.rows if row.ata[199] == (100, 6))

    assert found.read == 20 * 144
    assert len([row for row in found.rows if row.ata[199] == (100, 5)]) < 1000
    assert (changed.time, changed.before) == (
        NOW - 20 * DAY + 600 * 1001,
        NOW - 20 * DAY + 600 * 1000,
    )
    assert len({row.time // DAY for row in found.rows}) == 21


def test_rows_become_points_with_the_gap_to_the_line_before(tmp_path):
    found = smartd_log.read(
        logs(
            tmp_path,
            line(NOW - 3 * DAY, a9=1, a199=5),
            line(NOW - 2 * DAY, a9=20, a199=5),
            line(NOW - 2 * DAY + 1800, a9=20, a199=7),
        ),
        NOW,
    )
    hours = Key('power_on_time', 'attribute 9')
    points = smartd_log.points(
        (
            row,
            [
                Observation(CRC, row.ata[199][1], CHANGE),
                Observation(hours, row.ata[9][1] * HOUR, DAILY),
            ],
        )
        for row in found.rows
    )

    assert points[CRC, CHANGE] == [Point(NOW - 3 * DAY, 5), Point(NOW - 2 * DAY + 1800, 7, 1800)]
    assert [point.number for point in points[hours, DAILY]] == [HOUR, 20 * HOUR]


@pytest.mark.parametrize(
    'identity, is_found',
    [
        (Identity('ATA', 'ACME 4000', '', 'S3RIAL01'), True),  # blank is underline
        (Identity('ATA', 'ACME 4000', '', 'S3RIAL02'), False),  # another serial
        (Identity('ATA', 'ACME 4000S3RIAL01', '', ''), False),  # no serial
    ],
)
def test_the_log_of_a_drive_bears_its_name(tmp_path, identity, is_found):
    path = log(tmp_path)

    assert smartd_log.logs_of(identity, smartd_log.logs(str(tmp_path))) == (
        [path] if is_found else []
    )


def test_what_is_no_file_is_not_read(tmp_path):
    """A pipe would hold the import for ever; a link of who knows whom leads anywhere."""
    os.mkfifo(tmp_path / 'pipe')
    (tmp_path / 'link').symlink_to(log(tmp_path, line(NOW - HOUR, a9=1)))

    for name in ('pipe', 'link', 'none'):
        found = smartd_log.read([str(tmp_path / name)], NOW)
        assert found.read == 0
        assert [words[:12] for _, words in found.faults] == ['was not read']
    assert smartd_log.logs(str(tmp_path / 'none')) == []


# --- rotated logs --------------------------------------------------------------------------------


def packed(
    folder: Path, ending: str, content: str, days_old: float = 0, base: str = 'ata.csv'
) -> Path:
    """A rotated log with the name that logrotate gives it, compressed as its ending says."""
    path = folder / f'attrlog.ACME_4000-S3RIAL01.{base}{ending}'
    data = content.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == '.gz' else data)
    os.utime(path, (NOW - days_old * DAY,) * 2)
    return path


DRIVE = Identity('ATA', 'ACME 4000', '', 'S3RIAL01')


def day(ago: float) -> str:
    """A line of so many days ago; attribute 199 has that number subtracted from 400."""
    return line(NOW - ago * DAY, a9=int(20_000 - 24 * ago), a199=int(400 - ago))


def scsi(ago: float) -> str:
    """The same of a SCSI drive, whose log has no hours."""
    stamp = time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(NOW - ago * DAY))
    return f'{stamp};\tread-total-unc-errors;{int(400 - ago)};\n'


def of_drive(folder: Path) -> smartd_log.Log:
    return smartd_log.read(smartd_log.logs_of(DRIVE, smartd_log.logs(str(folder))), NOW)


@pytest.mark.parametrize(
    'endings',
    [
        ('', '.1', '.2.gz'),
        ('', '.1', '.10.gz', '.9.gz'),
        ('', '-20261101.gz', '-20261001.gz'),
        ('', '-2026110100-1.gz', '-2026100100.gz'),
        ('.old',),
        ('~', '.bak'),
    ],
)
def test_rotated_logs_are_read_whatever_their_names_say_of_their_order(tmp_path, endings):
    """ ".10" stands before ".9" in a list of names; the number of a file is not its age."""
    for place, ending in enumerate(endings):
        packed(
            tmp_path, ending, ''.join(map(day, (place * 10 + 9, place * 10 + 5, place * 10 + 1)))
        )
    found = of_drive(tmp_path)

    assert (
        crc(found.rows) == sorted(crc(found.rows))
        and len(found.rows) == 3 * len(endings) == found.read
    )
    assert found.faults == ()


def test_logs_that_logrotate_renames_before_the_extension_are_read(tmp_path):
    """With "extension .csv" in its configuration."""
    packed(tmp_path, '', day(1))
    packed(tmp_path, '', day(9), base='ata.1.csv')
    packed(tmp_path, '.gz', day(19), base='ata-20261101.csv')

    assert of_drive(tmp_path).read == 3


@pytest.mark.parametrize('written', [day, scsi])
def test_a_row_that_stands_in_two_files_counts_once(tmp_path, written):
    """copytruncate leaves some in both; a copy that somebody made holds many."""
    days = [written(ago) for ago in range(60, 0, -1)]
    packed(tmp_path, '', ''.join(days[20:]), base=f'{"ata" if written is day else "scsi"}.csv')
    packed(
        tmp_path, '.1.gz', ''.join(days[10:25]), base=f'{"ata" if written is day else "scsi"}.csv'
    )
    packed(tmp_path, '.2', ''.join(days[:50]), base=f'{"ata" if written is day else "scsi"}.csv')
    found = of_drive(tmp_path)

    assert found.read == len(found.rows) == 60
    assert [row.time for row in found.rows] == [NOW - ago * DAY for ago in range(60, 0, -1)]


@pytest.mark.parametrize(
    ('ending', 'spoil', 'words', 'read'),
    [
        ('.2.gz', lambda data: data[:-12], 'is damaged (', 3),
        ('.2.gz', lambda data: data[:20] + b'\0' * 9 + data[29:], 'is damaged (', 2),
        ('.2.zst', lambda data: b'\x28\xb5\x2f\xfd' + data, 'zstd', 2),
        ('.2.gz', lambda data: b'not compressed\n', 'no line', 2),
        ('.2.gz', lambda data: gzip.compress(b'foreign\n'), 'no line', 2),
    ],
)
def test_a_damaged_or_foreign_file_is_named_and_stops_nothing(tmp_path, ending, spoil, words, read):
    """What stands before the damage counts, where it can be unpacked."""
    path = packed(tmp_path, ending, ''.join(map(day, (30, 29, 28))) + 'x' * 60, days_old=28)
    path.write_bytes(spoil(path.read_bytes()))
    packed(tmp_path, '.1', day(10), days_old=10)
    packed(tmp_path, '', day(1))
    found = of_drive(tmp_path)

    assert crc(found.rows)[-2:] == [390, 399] and found.read >= read
    [(name, fault)] = found.faults
    assert name == str(path) and words in fault


@pytest.mark.long
def test_a_file_that_unpacks_to_gigabytes_takes_neither_time_nor_history(tmp_path):
    """Here 300 MB. It is named, and the rest is read."""
    bombs = [packed(tmp_path, f'.{number}.gz', '') for number in range(2, 5)]
    bomb = gzip.compress(bytes(100 << 20))
    for path in bombs:
        path.write_bytes(bomb * 3)
    packed(tmp_path, '', day(1))
    tracemalloc.start()
    began = time.process_time()
    found = of_drive(tmp_path)

    assert (found.read, len(found.faults)) == (1, 3)
    assert 'hold more than 48 MiB' in found.faults[0][1]
    assert tracemalloc.get_traced_memory()[1] < 150e6
    assert time.process_time() - began < 15
    tracemalloc.stop()


def test_what_is_left_out_of_many_logs_is_the_oldest(tmp_path, monkeypatch):
    """Packed or not; the bound is one for all files of a drive."""
    monkeypatch.setattr(smartd_log, 'LARGEST_SMARTD_LOGS', 300)
    for ago in range(1, 40):
        packed(tmp_path, f'.{ago}{".gz" * (ago % 2)}', day(ago), days_old=ago)
    found = of_drive(tmp_path)

    assert 4 <= found.read <= 9 and found.left_out > 1000
    assert crc(found.rows) == [400 - ago for ago in range(found.read, 0, -1)]


def test_the_logs_of_two_drives_of_one_name_are_not_mixed(tmp_path):
    """Also where only a rotated log of the other one is left."""
    packed(tmp_path, '', day(1))
    packed(tmp_path, '.1', day(9)).rename(tmp_path / 'attrlog.ACME-4000_S3RIAL01.ata.csv.1')

    assert smartd_log.logs_of(DRIVE, smartd_log.logs(str(tmp_path))) == []


def test_since_when_smartd_has_kept_values_is_told_by_the_oldest_log(tmp_path):
    """One that is damaged is passed over."""
    packed(tmp_path, '', day(1))
    packed(tmp_path, '.1.gz', day(20), days_old=10)
    packed(tmp_path, '.2.gz', day(90), days_old=30).write_bytes(b'\x1f\x8bdamaged')
    os.utime(tmp_path / 'attrlog.ACME_4000-S3RIAL01.ata.csv.2.gz', (NOW - 30 * DAY,) * 2)

    assert smartd_log.begun(smartd_log.logs(str(tmp_path)), NOW) == NOW - 20 * DAY


# --- NVMe drives, since smartd 7.5 -----------------------------------------------------------------


def health(moment: float, **fields: int) -> str:
    """One line as smartd 7.5 writes it of an NVMe drive."""
    stamp = time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(moment))
    cells = ''.join(f'\t{name.replace("_", "-")};{number};' for name, number in fields.items())
    return f'{stamp};{cells}\n'


def test_a_line_of_an_nvme_drive_has_names_and_is_dated_by_its_hours(tmp_path):
    """The clock of the first line was wrong; a count that floats cannot hold is whole."""
    path = tmp_path / 'attrlog.ACME_4000-S3RIAL01.nvme.csv'
    path.write_text(
        health(NOW + 4000 * DAY, temperature=-5, data_units_read=2**63 + 1, power_on_hours=98)
        + health(NOW - HOUR, temperature=41, data_units_read=2**64 - 1, power_on_hours=99)
    )
    found = smartd_log.read([str(path)], NOW)

    assert [(row.time, row.named['temperature']) for row in found.rows] == [
        (NOW - 2 * HOUR, -5),
        (NOW - HOUR, 41),
    ]
    assert found.rows[0].named['data-units-read'] == 2**63 + 1
    assert found.damaged == 0


@pytest.mark.parametrize(
    'names, is_found',
    [
        (('ACME_4000-S3RIAL01.nvme.csv',), True),
        (('ACME_4000-S3RIAL01.nvme.csv', 'ACME_4000-S3RIAL01.nvme.csv.1.gz'), True),
        (('ACME_4000-S3RIAL01-n1.nvme.csv',), True),
        (('ACME_4000-S3RIAL01-n1.ata.csv',), False),
        (('ACME_4000-S3RIAL011.nvme.csv',), False),
        (('ACME_4000-S3RIAL01-n1.nvme.csv', 'ACME_4000-S3RIAL01-n2.nvme.csv'), False),
    ],
)
def test_the_log_of_an_nvme_drive_may_name_one_namespace(tmp_path, names, is_found):
    """Two namespaces have the same numbers, but who knows whether it is one drive."""
    for name in names:
        (tmp_path / f'attrlog.{name}').touch()
    drive = Identity('NVMe', 'ACME 4000', '', 'S3RIAL01')

    assert bool(smartd_log.logs_of(drive, smartd_log.logs(str(tmp_path)))) == is_found
