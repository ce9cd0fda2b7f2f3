"""smartd's attribute logs: read from the end, ordered, and turned into points."""
from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Iterator, List, Sequence

import pytest

from smart_attributes.durations import DAY
from smart_attributes.errors import MemoryUnusable
from smart_attributes.memory import smartd_log
from smart_attributes.memory.series import CHANGE, DAILY, Key, Observation, Point
from smart_attributes.memory.smartd_log import Row
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
    return f'{stamp};' + ''.join(f'\t{name[1:]};100;{raw};' for name, raw in attributes.items()) + '\n'


def log(folder: Path, *lines: str) -> str:
    path = folder / 'attrlog.ACME_4000-S3RIAL01.ata.csv'
    path.write_text(''.join(lines))
    return str(path)


def crc(rows: Sequence[Row]) -> List[int]:
    return [row.ata[199][1] for row in rows]


def test_a_line_is_value_and_raw_of_each_attribute(tmp_path):
    found = smartd_log.read(log(tmp_path, line(NOW - HOUR, a5=3, a9=22184)), NOW)

    assert found == ((Row(NOW - HOUR, {5: (100, 3), 9: (100, 22184)}, {}),), 1, 0, 0)


def test_damaged_lines_are_skipped_and_counted(tmp_path):
    """A power cut in the middle of one, zeros after it; and the one that is being written now."""
    whole = line(NOW - HOUR, a9=10, a199=1)
    found = smartd_log.read(log(tmp_path, line(NOW - 2 * HOUR, a9=9, a199=0), whole[:28] + '\n', '\0' * 40 + '\n',
                                'x;\ty;z;\n',
                                whole.replace('-', '/'), whole, whole[:25]), NOW)

    assert crc(found.rows) == [0, 1]
    assert (found.read, found.damaged) == (2, 5)


@pytest.mark.parametrize('cell', ['199;x;1;', '199;100;' + '9' * 400 + 'x;', '<b>;1;', "'|=;1;", '199;100;1;1;1;'])
def test_a_line_with_a_cell_that_smartd_never_writes_is_skipped(tmp_path, cell):
    """Another program, or somebody who may write there; the lines around it are read."""
    whole = line(NOW - HOUR, a9=10, a199=1)
    spoilt = f'{whole.rstrip()}\t{cell}\n'
    found = smartd_log.read(log(tmp_path, line(NOW - 2 * HOUR, a9=9, a199=0), spoilt, whole), NOW)

    assert (crc(found.rows), found.damaged) == ([0, 1], 1)


def test_only_the_last_400_days_are_read(tmp_path, monkeypatch):
    """By seeking: ten years of a drive are 32 MB."""
    hours = range(0, 3000 * 24, 6)
    path = log(tmp_path, *(line(NOW - 3000 * DAY + hour * HOUR, a9=hour, a199=hour // 24) for hour in hours))
    looked_at = []
    monkeypatch.setattr(smartd_log, '_lines', lambda text,
                        lines=smartd_log._lines: looked_at.append(len(text)) or lines(text))
    found = smartd_log.read(path, NOW)

    assert NOW - 400 * DAY <= found.rows[0].time < NOW - 399 * DAY
    assert found.rows[-1].ata[199] == (100, 2999)
    assert found.damaged == 0
    assert looked_at[0] < os.path.getsize(path) / 7


def test_a_log_without_end_is_read_in_part(tmp_path, monkeypatch):
    monkeypatch.setattr(smartd_log, '_LARGEST', 1000)
    found = smartd_log.read(log(tmp_path,
                                *(line(NOW - DAY + 60 * place, a9=place, a199=place) for place in range(1000))), NOW)

    assert 10 < found.read < 40 and found.damaged == 0
    assert found.rows[-1].ata[199] == (100, 999) and found.left_out > 30_000


def test_a_line_of_any_length_takes_no_time(tmp_path):
    """22 MB in one line took 13 s; no drive has so many attributes. The lines beside it count."""
    path = tmp_path / 'attrlog.ACME-1.ata.csv'
    long = line(NOW - DAY, a9=1)[:-1] + ''.join(f'\t5;100;{number};' for number in range(700_000)) + '\n'
    path.write_text(line(NOW - 2 * DAY, a9=1) + long + line(NOW - HOUR, a9=25))
    began = time.process_time()
    found = smartd_log.read(str(path), NOW)

    assert time.process_time() - began < 1
    assert [found.read, found.damaged] == [2, 1]


def test_the_newest_part_of_a_large_log_is_read_in_time(tmp_path):
    """30 MB used up the time of the whole import."""
    path = tmp_path / 'attrlog.ACME-1.ata.csv'
    path.write_text(''.join(line(NOW - place * 300, a9=9999 - place // 12,
                                 **{f'a{number}': place for number in range(10, 28)})
                            for place in range(115_000, 0, -1)))
    assert path.stat().st_size > 25e6
    began = time.process_time()
    found = smartd_log.read(str(path), NOW)

    assert time.process_time() - began < 10
    assert found.rows[-1].time > NOW - DAY and found.read > 30_000 and found.left_out > 10e6


def test_lines_are_ordered_by_the_drive_s_own_hours(tmp_path):
    """The clock was wrong when the machine started."""
    found = smartd_log.read(log(tmp_path, line(NOW - 5 * HOUR, a9=102, a199=2), line(NOW - 6 * HOUR, a9=101, a199=1)),
                            NOW)

    assert crc(found.rows) == [1, 2]


@pytest.mark.parametrize('wrong', [pytest.param(1_000_000, id='1970'), pytest.param(NOW + 4000 * DAY, id='2037')])
def test_a_line_of_a_clock_gone_wrong_is_dated_by_the_hours(tmp_path, wrong):
    """And does not take the others with it."""
    found = smartd_log.read(log(tmp_path, line(NOW - 30 * HOUR, a9=70, a199=1), line(wrong, a9=80, a199=2),
                                line(NOW - 10 * HOUR, a9=90, a199=3)), NOW)

    assert crc(found.rows) == [1, 2, 3]
    assert [row.time for row in found.rows] == [NOW - 30 * HOUR, NOW - 20 * HOUR, NOW - 10 * HOUR]


def test_a_line_of_the_future_is_left_out_where_no_hours_date_it(tmp_path):
    """Logs of SCSI drives hold no hours; the lines after it keep their times."""
    counts = [(NOW - 30 * HOUR, 0), (NOW + 4000 * DAY, 2), (NOW - 20 * HOUR, 2), (NOW - 10 * HOUR, 3)]
    found = smartd_log.read(log(tmp_path, *(
        f'{time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(moment))};\tread-total-unc-errors;{count};\n'
        for moment, count in counts)), NOW)

    assert [(row.time, row.scsi['read-total-unc-errors']) for row in found.rows] == [
        (moment, count) for moment, count in counts if moment < NOW]


def test_the_hour_that_autumn_has_twice_stays_in_order(tmp_path, monkeypatch):
    """Local time steps back from 3:00 to 2:00."""
    monkeypatch.setenv('TZ', 'CET-1CEST,M3.5.0,M10.5.0/3')
    time.tzset()
    autumn = 1_792_890_000  # 25 October 2026, 01:00 UTC: 3:00 becomes 2:00
    moments = [autumn + 1800 * step for step in range(-4, 5)]
    found = smartd_log.read(log(tmp_path, *(line(moment, a9=100 + place // 2, a199=place)
                                            for place, moment in enumerate(moments))), NOW)

    assert crc(found.rows) == list(range(9))
    assert all(abs(row.time - moment) <= HOUR for row, moment in zip(found.rows, moments))
    assert sorted({row.time for row in found.rows}) == [row.time for row in found.rows]


def test_what_says_nothing_new_is_left_out_but_for_one_line_a_day(tmp_path):
    """A check's own entry decodes each row; 20,000 of them would take minutes."""
    lines = [line(NOW - 20 * DAY + 600 * place, a9=place // 6, a194=20 + place % 7, a199=5 + (place > 1000))
             for place in range(20 * 144)]
    found = smartd_log.read(log(tmp_path, *lines), NOW)
    changed = next(row for row in found.rows if row.ata[199] == (100, 6))

    assert found.read == 20 * 144
    assert len([row for row in found.rows if row.ata[199] == (100, 5)]) < 1000
    assert (changed.time, changed.before) == (NOW - 20 * DAY + 600 * 1001, NOW - 20 * DAY + 600 * 1000)
    assert len({row.time // DAY for row in found.rows}) == 21


def test_a_counter_that_changes_all_the_time_is_left_at_one_line_a_day(tmp_path):
    lines = [line(NOW - 100 * DAY + HOUR * place, a9=place, a241=place * 77, a199=3) for place in range(2400)]

    assert 100 <= len(smartd_log.read(log(tmp_path, *lines), NOW).rows) <= 102


def test_rows_become_points_with_the_gap_to_the_line_before(tmp_path):
    found = smartd_log.read(log(tmp_path, line(NOW - 3 * DAY, a9=1, a199=5), line(NOW - 2 * DAY, a9=20, a199=5),
                                line(NOW - 2 * DAY + 1800, a9=20, a199=7)), NOW)
    hours = Key('power_on_time', 'attribute 9')
    points = smartd_log.points((row, [Observation(CRC, row.ata[199][1], CHANGE),
                                      Observation(hours, row.ata[9][1] * HOUR, DAILY)])
                               for row in found.rows)

    assert points[CRC, CHANGE] == [Point(NOW - 3 * DAY, 5), Point(NOW - 2 * DAY + 1800, 7, 1800)]
    assert [point.number for point in points[hours, DAILY]] == [HOUR, 20 * HOUR]


@pytest.mark.parametrize(('identity', 'is_found'), [
    pytest.param(Identity('ATA', 'ACME 4000', '', 'S3RIAL01'), True, id='blank-is-underline'),
    pytest.param(Identity('ATA', 'ACME 4000', '', 'S3RIAL02'), False, id='another-serial'),
    pytest.param(Identity('ATA', 'ACME 4000S3RIAL01', '', ''), False, id='no-serial')])
def test_the_log_of_a_drive_bears_its_name(tmp_path, identity, is_found):
    path = log(tmp_path)

    assert smartd_log.log_of(identity, smartd_log.logs(str(tmp_path))) == (path if is_found else None)


def test_what_is_no_file_is_not_read(tmp_path):
    """A pipe would hold the import for ever; a link of who knows whom leads anywhere."""
    os.mkfifo(tmp_path / 'pipe')
    (tmp_path / 'link').symlink_to(log(tmp_path))

    for name in ('pipe', 'link', 'none'):
        with pytest.raises(MemoryUnusable):
            smartd_log.read(str(tmp_path / name), NOW)
    assert smartd_log.logs(str(tmp_path / 'none')) == []
