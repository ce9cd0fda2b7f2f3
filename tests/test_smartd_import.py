"""Day one: smartd has kept values of these drives for years, and the first check knows them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import smartd
from conftest import ROOT, Result
from simulator import descriptions
from simulator.descriptions import Description
from simulator.machine import Machine

_COMMAND = """
import sys
sys.path.insert(0, {root!r})
from smart_attributes.history import smartd_log
smartd_log.FOLDER = {logs!r}
from smart_attributes.main import main
main()
"""
INTEL, HGST, SEAGATE = (
    descriptions.read(name) for name in ('intel-worn', 'hgst-healthy', 'sas-seagate-healthy')
)
RAID = 'megaraid,4@/dev/bus/0'
READ = SEAGATE.log['read']
# Hours ago -> CRC errors of the SSD and of the disk, unread blocks of the SAS disk.
COURSE: Mapping[int, tuple[int, int, int]] = {
    23: (43, 0, 0),
    20: (43, 0, 0),
    17: (43, 1, 0),
    14: (43, 1, 2),
    11: (43, 3, 2),
    8: (57, 3, 2),
    5: (57, 3, 2),
}
WHY = 'Wanted at this site.'
RULE = {'within': '24h', 'warning': '1', 'critical': None, 'for': '30d', 'why': WHY}
LIMIT = {'warning': None, 'critical': None, 'growth': RULE, 'why': WHY}
SITE = {'metrics': {'reported_uncorrect': {'sas': LIMIT}}}


def drives(crc: int, of_disk: int, unread: int, hours_ago: int = 0) -> dict[str, Description]:
    """A SSD, a disk and a SAS disk behind a RAID controller with these numbers."""
    hours = 20_000 - hours_ago
    return {
        '/dev/sda': smartd.with_raw(INTEL, a9=hours, a199=crc),
        '/dev/sdb': smartd.with_statistic(
            smartd.with_raw(HGST, a9=hours, a199=of_disk), 6, 0x018, of_disk
        ),
        RAID: smartd.with_log(SEAGATE, read=[*READ[:6], unread]),
    }


class Site:
    """A machine on which smartd has run since yesterday, and where no check has."""

    def __init__(self, folder: Path) -> None:
        self.logs, self.state, self.config = (folder / name for name in ('logs', 'state', 'config'))
        for each in (self.logs, self.state, self.config / 'thresholds.d'):
            each.mkdir(parents=True)
        (self.config / 'thresholds.d/sas.json').write_text(json.dumps(SITE))
        for ago, numbers in COURSE.items():
            self.machine: Machine = smartd.look(self.logs, drives(*numbers, ago), ago)

    def run(self, *words: str, command: str = '') -> Result:
        """Run a command over the three drives."""
        addresses = [word for address in drives(0, 0, 0) for word in ('-d', address)]
        program = _COMMAND.format(root=str(ROOT), logs=str(self.logs))
        places = ['--state-dir', str(self.state), '--config', str(self.config)]
        asked = [*([command] if command else []), '-p', self.machine.smartctl, '--nosudo', *places]
        done = subprocess.run(
            [sys.executable, '-I', '-c', program, *asked, *addresses, *words],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env={
                'PATH': '/usr/bin:/bin',
                'LC_ALL': 'C',
                'TZ': 'UTC',
                'XDG_STATE_HOME': os.environ['XDG_STATE_HOME'],
            },
        )
        return Result(done.returncode, done.stdout)

    def series(self, serial: str) -> list[tuple[str, list[Any]]]:
        """What history holds of a drive: metrics with their numbers."""
        found = json.loads(self.run('--json', command='history').text)['drives']
        return [
            (series['metric'], [number for _, number in series['points']])
            for drive in found
            if drive['serial'] == serial
            for series in drive['series']
        ]


@pytest.fixture(scope='module')
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return Site(tmp_path_factory.mktemp('day-one'))


@smartd.needed
def test_what_smartds_logs_prove_is_an_alarm_at_the_first_check(site):
    """Real logs of the real smartd over changing drives, ATA and SCSI; imported whole, then one
    check. The disk is judged by its statistics.
    """
    done = site.run('--import', command='history').text.splitlines()
    first = site.run()

    assert [line.split(': ')[0] for line in done] == ['sda', 'sdb', 'bus_0_megaraid_4']
    assert [f' {len(COURSE)} lines' in line and 'damaged' not in line for line in done] == [
        True
    ] * 3
    for name, grown in (
        ('sda', 'crc_errors grew by 14 in 3 h (43 to 57), 8 h ago'),
        ('sdb', 'crc_errors grew by 3 in 9 h (0 to 3), 11 h ago'),
        ('bus_0_megaraid_4', 'reported_uncorrect grew by 2 in 3 h (0 to 2), 14 h ago'),
    ):
        assert grown in first.line_of(name)


@smartd.needed
def test_what_is_imported_and_what_checks_read_are_the_same_series(site):
    """Else nothing would have grown between them. smartd logs the attribute, and the statistics
    of the disk tell the same number: both stand in the history, each with its source.
    """
    site.run('--import', command='history')
    site.run()
    of_sas, of_disk = site.series(SEAGATE.serial), site.series(HGST.serial)
    drives = site.run(command='history').text.split(', read from ')[1:]
    shown = []
    for text in drives:
        head, *rows = text.splitlines()[1:]
        start = head.index('source')
        shown.append([(row.split()[0], row[start:]) for row in rows if '  ' in row])

    assert len(dict(of_sas)) == len(of_sas)
    assert dict(of_sas)['reported_uncorrect'] == [0, 2]
    assert {'temperature', 'host_written', 'host_read', 'non_medium_errors'} <= {*dict(of_sas)}
    assert [numbers for metric, numbers in of_disk if metric == 'crc_errors'] == [[0, 1, 3]] * 2
    assert [[metric for metric, _ in rows].count('crc_errors') for rows in shown] == [2, 2, 0]
    assert [
        rows for rows in shown if len(rows) != len({*rows}) or not all(dict(rows).values())
    ] == []
