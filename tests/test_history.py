"""The job history: what memory holds, filled from smartd's logs, and forgotten."""
from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from days import DAY, HOUR, START, Machine, disk

from smart_attributes.faces.history import graph
from smart_attributes.memory import smartd_log


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    found = Machine(tmp_path)
    for day, sectors in enumerate((0, 0, 4, 8)):
        found.holds(sda=disk(a5=sectors))
        found.check(START + day * DAY)
    return found


def test_what_memory_holds_of_a_drive_is_a_table(machine):
    """First and last number, when it changed, and its course."""
    result = machine.run(START + 3 * DAY, 'history', '-d', '/dev/sda', 'reallocated')

    head, _, row = result.text.splitlines()
    assert head == 'ACME HD4000 SERIAL01, read from 2026-11-20 to 2026-11-23'
    assert row.split()[:5] == ['reallocated', '0', '8', '2026-11-23', '3']
    assert (row.split()[5][0], row.split()[5][-1]) == ('▁', '█')


def test_all_points_are_there_as_json(machine):
    """For whoever draws better graphs."""
    data = json.loads(machine.run(START + 3 * DAY, 'history', '-d', '/dev/sda', '--json').text)

    series = {each['role']: each['points'] for each in data['drives'][0]['series']}
    assert series['reallocated'] == [[START, 0], [START + 2 * DAY, 4], [START + 3 * DAY, 8]]
    assert len(series['temperature']) == 4


def test_a_drive_that_is_retired_is_forgotten(machine):
    """And is no longer missing."""
    assert machine.run(START + 3 * DAY, 'history', '--forget', 'SERIAL01').first_line == '1 forgotten'
    assert machine.run(START + 3 * DAY, 'history', '--forget', 'SERIAL01').code == 3
    assert machine.run(START + 3 * DAY, 'history', '-d',
                       '/dev/sda').first_line == 'nothing is remembered of these drives'


@pytest.mark.parametrize(('points', 'expected'), [
    ([(0, 5)], ''), ([(0, 5), (10, 5)], ''), ([(0, 0), (50, 7)], '▁▁▁█████'), ([(0, 7), (100, 0)], '███████▁'),
    ([(0, 0), (25, 7), (75, 0)], '▁████▁▁▁')])
def test_a_graph_is_as_high_as_the_number_was(points, expected):
    """Nothing where it never moved."""
    assert graph(points, 100, 8) == expected


def test_the_growth_that_smartds_log_proves_is_there_at_the_first_check(tmp_path, monkeypatch):
    """Day one: no check has run before, and yet the cable is known to be bad."""
    machine, name = Machine(tmp_path), 'attrlog.ACME_HD4000-SERIAL01.ata.csv'
    logs = tmp_path / 'smartmontools'
    logs.mkdir()
    stamp = [time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(START - hours * HOUR)) for hours in (72, 48, 24)]
    (logs / name).write_text(''.join(f'{when};\t9;90;{20_000 - hours};\t199;100;{crc};\n'
                                     for when, hours, crc in zip(stamp, (72, 48, 24), (5, 5, 9))) + 'damaged\n')
    monkeypatch.setattr('days._AT', AT.replace('LOGS', repr(str(logs))))
    machine.holds(sda=disk(a199=9))

    done = machine.run(START, 'history', '--import', '-d', '/dev/sda')

    assert 'points from 3 lines' in done.first_line and '1 damaged lines skipped' in done.first_line
    assert 'crc_errors grew by 4 in 24 h (5 to 9), 24 h ago' in machine.check(START).first_line


AT = """
import sys, time
sys.path.insert(0, {root!r})
time.time = lambda: {now!r}
from smart_attributes.memory import smartd_log
from smart_attributes import importing
importing.imported.__defaults__ = (LOGS,)
from smart_attributes.main import main
main()
"""


def test_the_folder_of_the_logs_is_smartds_own():
    """Debian, Fedora and SUSE build smartd with it."""
    assert smartd_log.FOLDER == '/var/lib/smartmontools'
