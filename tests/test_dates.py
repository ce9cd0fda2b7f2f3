"""Dates that are told to the drives of a collection: counted so that a soon one that is invented
shows.
"""

from __future__ import annotations

import json

import pytest
from conftest import run_tool
from measure import dates
from measure.dates import Lasting

from smart_attributes.constants import YEAR

pytestmark = pytest.mark.tools


def rows(*drives):
    return list(dates.table(drives))


@pytest.mark.parametrize(
    'used, age, is_half_new',
    [(49.9, 1.1 * YEAR, True), (50, 1.1 * YEAR, False), (10, YEAR, False), (10, None, False)],
)
def test_half_new_is_used_below_50_percent_in_more_than_a_year(used, age, is_half_new):
    """The drives that need no new one soon, whatever an estimator says."""
    assert Lasting(used, age).is_half_new is is_half_new


def test_a_soon_date_of_a_half_new_drive_is_counted():
    """Of the date itself, and of the early end of its range; other drives may have one."""
    half_new = 20, 2 * YEAR
    assert rows(
        ('ssd', Lasting(*half_new, YEAR, YEAR / 2)),
        ('ssd', Lasting(*half_new, 1.1 * YEAR, YEAR)),
        ('ssd', Lasting(*half_new, 9 * YEAR, 2 * YEAR)),
        ('ssd', Lasting(*half_new)),
        ('ssd', Lasting(90, 2 * YEAR, YEAR / 9, YEAR / 20)),
        ('ssd', None),
    ) == ['| ssd | 5 | 4 | 4 | 1, 25.0 % | 2, 50.0 % |']


def test_each_kind_has_a_row_and_hard_disks_have_none():
    """What they put in that field has no meaning; a kind without such drives has no share."""
    assert rows(
        ('ssd', Lasting(2, None)),
        ('hdd', Lasting(20, 2 * YEAR, 1, 1)),
        ('nvme', Lasting(20, 2 * YEAR)),
    ) == ['| nvme | 1 | 0 | 1 | 0, 0.0 % | 0, 0.0 % |', '| ssd | 1 | 0 | 0 | - | - |']


def test_the_command_tells_the_dates_of_a_file(tmp_path):
    """tools.measure FILE --verdicts, over three drives: half used, hardly used, worn within a
    year.
    """
    file = tmp_path / 'drives.jsonl'
    file.write_text(
        ''.join(
            json.dumps(
                {
                    'model': 'ACME N1',
                    'health': 'PASSED',
                    'nvme': {
                        'Critical Warning': '0x00',
                        'Percentage Used': f'{used}%',
                        'Available Spare': '100%',
                        'Available Spare Threshold': '10%',
                        'Power On Hours': str(hours),
                    },
                }
            )
            + '\n'
            for used, hours in ((40, 9000), (1, 9000), (80, 5000))
        )
    )

    assert (
        '| nvme | 3 | 2 | 2 | 0, 0.0 % | 1, 50.0 % |'
        in run_tool('tools.measure', str(file), '--verdicts').text
    )
