"""smartd's attribute logs: read from the end, ordered, and turned into points."""
from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Dict, Iterator, List, Sequence

import pytest
from simulator import descriptions
from simulator.machine import Machine

from smart_attributes import state_folder
from smart_attributes.errors import MemoryUnusable
from smart_attributes.memory import growth, smartd_log
from smart_attributes.memory.growth import Rule
from smart_attributes.memory.series import CHANGE, DAILY, DAY, Key, Observation, Point
from smart_attributes.memory.smartd_log import Row
from smart_attributes.memory.store import Memory
from smart_attributes.model import Identity
from smart_attributes.reading.identity import is_same_drive

NOW = 1_795_000_000 // DAY * DAY + DAY // 2
HOUR = 3600
CRC = Key('crc_errors', 'attribute 199, raw')
SMARTD = '/usr/sbin/smartd'


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

    assert found == ((Row(NOW - HOUR, {5: (100, 3), 9: (100, 22184)}, {}),), 1, 0)


def test_damaged_lines_are_skipped_and_counted(tmp_path):
    """A power cut in the middle of one, zeros after it; and the one that is being written now."""
    whole = line(NOW - HOUR, a9=10, a199=1)
    found = smartd_log.read(log(tmp_path, line(NOW - 2 * HOUR, a9=9, a199=0), whole[:28] + '\n', '\0' * 40 + '\n',
                                'x;\ty;z;\n',
                                whole.replace('-', '/'), whole, whole[:25]), NOW)

    assert crc(found.rows) == [0, 1]
    assert (found.read, found.damaged) == (2, 5)


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
    assert found.rows[-1].ata[199] == (100, 999)


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


# --- the real smartd -------------------------------------------------------------------------

def smartd(folder: Path, drives: Dict[str, descriptions.Description], hours_ago: int) -> None:
    """Let smartd look once; a time zone so far in the west makes it write that so many hours are missing."""
    machine = Machine(folder / f'machine-{hours_ago}')
    for address, drive in drives.items():
        machine.add(address, drive)
    configuration = machine.folder / 'smartd.conf'
    configuration.write_text(''.join(f'{address} -d {"scsi" if drive.protocol == "SCSI" else "sat"} -a\n'
                                     for address, drive in drives.items()))
    environment = {'LD_PRELOAD': str(next(machine.folder.glob('*.so'))), 'SIMULATED_MACHINE': str(machine.folder),
                   'TZ': f'WEST{hours_ago}'}
    done = subprocess.run([SMARTD, '-q', 'onecheck', '-c', str(configuration), '-A', f'{folder}/attrlog.', '-s',
                           f'{folder}/state.'],
                          env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def with_raw(drive: descriptions.Description, **raws: int) -> descriptions.Description:
    """The drive with other raw values: a199=3."""
    return drive._replace(attributes=tuple(row._replace(raw=str(raws.get(f'a{row.id}', row.raw)))
                                           for row in drive.attributes))


@pytest.mark.skipif(not shutil.which(SMARTD), reason='smartd is not installed')
def test_the_growth_that_smartd_s_log_proves_is_told_at_the_first_check(tmp_path):
    """Real logs of the real smartd over changing drives; day one of memory."""
    intel, sas = descriptions.read('intel-worn'), descriptions.read('sas-seagate-healthy')
    for ago, errors in ((23, 43), (12, 43), (3, 57)):
        smartd(tmp_path, {'/dev/sda': with_raw(intel, a9=40000 - ago, a199=errors), '/dev/sdb': sas}, ago)
    now = int(time.time())
    paths = smartd_log.logs(str(tmp_path))
    identity = Identity('ATA', intel.model, intel.firmware, intel.serial, intel.wwn)
    path = smartd_log.log_of(identity, paths)
    assert path is not None and len(paths) == 2
    found = smartd_log.read(path, now)
    state = state_folder.ready(str(tmp_path))
    Memory(state, now, is_same_drive).keep_past(identity, smartd_log.points(
        (row, [Observation(CRC, row.ata[199][1], CHANGE)]) for row in found.rows))
    history = Memory(state, now, is_same_drive).recall([identity])[0].histories[CRC]
    grown = growth.growth(history, [Rule(DAY, 7 * DAY, 0, advice='check cable and backplane')], now)

    assert (found.read, found.damaged) == (3, 0)
    assert grown is not None
    assert growth.sentence('crc_errors', '', grown,
                           now) == 'crc_errors grew by 14 in 24 h (43 to 57), 3 h ago: check cable and backplane'
    sas_path = smartd_log.log_of(Identity('SCSI', f'{sas.vendor} {sas.model}', '', sas.serial), paths)
    assert sas_path is not None
    assert smartd_log.read(sas_path, now).rows[0].scsi['read-total-unc-errors'] == 0
