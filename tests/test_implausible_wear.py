"""Wear that age and written bytes contradict is shown as implausible, and judged by nobody."""

from __future__ import annotations

import csv
import gzip
import json
import re

import pytest
from conftest import run
from smartctl_output import as_json

from smart_attributes.knowledge import readings
from smart_attributes.model import Reading, Source

GB = 10**9
CAPACITY = 240 * GB


def plausible_wear(
    used: float,
    hours: float | None,
    written: float | None,
    capacity: int | None = CAPACITY,
    **more: float,
) -> list[Reading]:
    known = {
        'host_written': written,
        'power_on_time': hours and hours * 3600,
        **more,
    }
    return readings.plausible_wear(
        [Reading('endurance_used', used, '', Source('log'))],
        [
            Reading(metric, number, '', Source('log'))
            for metric, number in known.items()
            if number is not None
        ],
        capacity,
    )


def test_wear_that_an_hour_and_a_few_gigabytes_cannot_cause_is_unknown_and_says_why():
    """An SSD of 1 hour, an average erase count of 2 and 13 GB written reported 38 %."""
    [found] = plausible_wear(38, 1, 13 * GB)

    assert (found.number, found.judged) == (None, False)
    assert re.findall(r'[0-9.]+', found.unknown) == ['38', '1', '13', '5.4']


@pytest.mark.parametrize(
    'used, hours, written, capacity',
    [
        (38, 38, 13 * GB, CAPACITY),
        (38, 1, 38 * CAPACITY // 100, CAPACITY),
        (38, None, 13 * GB, CAPACITY),
        (38, 1, None, CAPACITY),
        (38, 1, 13 * GB, None),
        (0, 1, GB, CAPACITY),
        (99, 64_453, 561 * GB, 250 * GB),  # the least written of all measured
    ],
)
def test_wear_that_one_of_both_explains_is_believed(used, hours, written, capacity):
    """A drive that is worn out must not lose its alarm."""
    [found] = plausible_wear(used, hours, written, capacity)

    assert (found.number, found.judged) == (used, True)


def test_the_largest_figure_of_age_and_writes_counts():
    """It contradicts the least: flash may be written more often than the host writes."""
    [found] = plausible_wear(38, 1, 13 * GB, nand_written=130 * GB)

    assert found.number == 38


def write_report(path, hours: int) -> str:
    """Write the report of an NVMe drive that wrote 13 GB in so many hours and reports 97 % used."""
    document = as_json(
        {
            'model': 'ACME N1',
            'firmware': '1',
            'health': 'PASSED',
            'nvme': {
                'Critical Warning': '0x00',
                'Temperature': '30',
                'Available Spare': '100%',
                'Percentage Used': '97%',
                'Data Units Written': '25,390',
                'Power On Hours': str(hours),
                'Media and Data Integrity Errors': '0',
            },
        }
    )
    document['user_capacity'] = {'bytes': CAPACITY}
    path.write_text(json.dumps(document))
    return str(path)


def test_implausible_wear_is_shown_and_neither_alarms_nor_is_graphed(tmp_path):
    """The line of the drive says so without -v; the same number of a drive that is older is
    CRITICAL.
    """
    young, old = (
        run('--report', write_report(tmp_path / f'{hours}.json', hours))
        for hours in (1, 98)
    )

    assert young.code == 0 and 'endurance_used unknown (implausible: 97 %' in young.text
    assert "endurance_used'=" not in young.text
    assert old.code == 2 and "endurance_used'=97%" in old.text


def test_no_failed_drive_that_was_worn_had_lived_so_short(shared):
    """7,418 worn drives of Alibaba's fleet: whatever they had written, age alone keeps their
    alarm.
    """
    rows: list[dict[str, str]] = []
    with gzip.open(shared / 'drives/ssd_failures.csv.gz', 'rt') as file:
        rows = [row for row in csv.DictReader(file) if row['n_wearout'] and row['r_9']]
    worn = [
        (100 - float(row['n_wearout']), float(row['r_9']))
        for row in rows
        if float(row['n_wearout']) < 100
    ]

    assert len(worn) > 7000
    assert [
        known for known in worn if plausible_wear(*known, written=0)[0].number is None
    ] == []
