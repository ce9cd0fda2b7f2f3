"""A recorded report counts from its own date: forecasts, dates of orders and of firmware defects."""

import calendar
import json
from pathlib import Path
from typing import Any

import pytest
from conftest import drive, run

from smart_attributes.reading import json_report, report_date, text_report

MADE = calendar.timegm((2020, 5, 5, 9, 30, 24))
NOW = calendar.timegm((2026, 11, 29, 0, 0, 0))
YEAR = 365 * 86400
DATED = 'Local Time is:        Tue May  5 09:30:24 2020 UTC\n'
# 80 % used after 35,075 hours, so the rest lasts a year
WORN = """\
smartctl 7.1 2019-12-30 r5022 [x86_64-linux-5.4.0] (local build)
Copyright (C) 2002-19, Bruce Allen, Christian Franke, www.smartmontools.org

=== START OF INFORMATION SECTION ===
Vendor:               ACME
Product:              ARGO960
Revision:             A1.0
User Capacity:        960,197,124,096 bytes [960 GB]
Logical block size:   512 bytes
Rotation Rate:        Solid State Device
Serial number:        EXAMPLE0001
Device type:          disk
Transport protocol:   SAS (SPL-4)
{date}SMART support is:     Available - device has SMART capability.
SMART support is:     Enabled

=== START OF READ SMART DATA SECTION ===
SMART Health Status: OK

Percentage used endurance indicator: {used}%
Current Drive Temperature:     31 C
Drive Trip Temperature:        60 C

Accumulated power on time, hours:minutes 35075:29
"""


def triage(*paths: Path) -> list[dict[str, Any]]:
    words = [word for path in paths for word in ('--report', str(path))]
    document = json.loads(run('triage', '--json', '--no-history', *words).text)
    return sorted(document['drives'], key=lambda each: each['name'])


def report(folder: Path, name: str, date: str = DATED, used: int = 80) -> Path:
    path = folder / name
    path.write_text(WORN.format(date=date, used=used))
    return path


@pytest.mark.parametrize(
    'text, date',
    [
        ('Tue May  5 09:30:24 2020 UTC', MADE),
        ('Tue May 05 09:30:24 2020 CEST', MADE),
        ('Tue May  5 09:30:24 2020 Central European Standard Time', MADE),
        ('Tue May  5 09:30:24 2020', MADE),
        ('Wed Sep ... 2021 EDT', 0),
        ('Tue Mai  5 09:30:24 2020 CEST', 0),
        ('Sun Feb 30 09:30:24 2020 UTC', 0),
        ('Tue May  5 09:30:24 0000 UTC', 0),
        ('Tue May  5 09:30:24 20201 UTC', 0),
        ('', 0),
    ],
)
def test_the_date_of_a_report_is_read_as_asctime_writes_it(text, date):
    assert report_date.of_text(text) == date


@pytest.mark.parametrize(
    'date, usable',
    [(MADE, MADE), (NOW + 3600, NOW + 3600), (NOW + YEAR, 0), (0, 0), (86400, 0)],
)
def test_the_date_of_a_wrong_clock_is_not_used(date, usable):
    assert report_date.possible(date, NOW) == usable


def test_text_and_json_have_the_same_date():
    document = json.loads(drive('intel-worn'))
    document['local_time'] = {'time_t': MADE, 'asctime': 'Tue May  5 09:30:24 2020 UTC'}
    dates = [json_report.parse(json.dumps(document)).date]
    dates += [text_report.parse_text(WORN.format(date=DATED, used=80)).date]

    assert dates == [MADE] * 2


def test_forecast_and_date_of_order_count_from_the_date_of_each_report(tmp_path):
    newer = DATED.replace('2020', '2022')
    old, new = triage(report(tmp_path, 'a.txt'), report(tmp_path, 'b.txt', newer))
    screen = run('explain', '--no-history', '--report', str(tmp_path / 'a.txt')).text
    table = run('triage', '--no-history', '--report', str(tmp_path / 'a.txt')).text

    assert (old['order_by'], new['order_by']) == ('2021-02-04', '2023-02-04')
    assert 'used up about 2021-05-05' in screen
    assert '2021-05' in table
    made = json.loads(run('triage', '--json', '--report', str(tmp_path / 'a.txt')).text)
    left = made['drives'][0]['forecasts']['endurance_used']['left']
    assert abs(made['made'] + left - MADE - YEAR) < 2 * 86400


@pytest.mark.parametrize(
    'date, used, is_noted',
    [('', 80, True), ('', 100, False), ('', 1, False), (DATED, 80, False)],
)
def test_a_missing_date_is_told_only_where_a_forecast_counts_from_it(
    tmp_path, date, used, is_noted
):
    found = triage(report(tmp_path, 'a.txt', date, used))

    assert (
        'report-undated' in [note['code'] for note in found[0]['notes']]
    ) == is_noted
