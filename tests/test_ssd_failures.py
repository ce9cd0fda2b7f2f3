"""tools.measure FILE --ssd-failures FAILURES: what limits report of SSDs that failed, beside
healthy ones.
"""

import csv
import io
import json

import pytest
from conftest import run_tool
from measure import collection, ssd_failures
from measure.__main__ import shipped_judge

from smart_attributes.knowledge import shipped_data
from smart_attributes.model import State

pytestmark = pytest.mark.tools

VENDORS = shipped_data.load(ssd_failures.VENDORS)
COLUMNS = [
    'model',
    *(f'{side}_{name}' for name in ('5', '187', 'program') for side in 'rn'),
    'n_175',
    'n_wearout',
]
SOUND = {
    'model': 'A1',
    'r_5': '0.0',
    'n_5': '100.0',
    'r_187': '0.0',
    'n_187': '100.0',
    'n_175': '100.0',
    'n_wearout': '99.0',
}
WARNING, CRITICAL, OK = State.WARNING, State.CRITICAL, State.OK


def failures(*rows):
    text = io.StringIO()
    writer = csv.DictWriter(
        text,
        sorted(
            {
                *COLUMNS,
                *(
                    f'{side}_{name}'
                    for name in (9, 12, 174, 183, 184, 197, 199, 'erase')
                    for side in 'rn'
                ),
                'n_blocks',
            }
        ),
    )
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


@pytest.fixture
def measured(tmp_path):
    """A function that returns the rows for failed SSDs beside one healthy Intel and one of
    another vendor.
    """

    def measure(*rows):
        drives, failed = tmp_path / 'drives.jsonl', tmp_path / 'failed.csv'
        drives.write_text(
            ''.join(
                json.dumps(
                    {
                        'model': model,
                        'rotation': 'Solid State Device',
                        'health': health,
                        'attributes': [
                            [
                                5,
                                'Reallocated_Sector_Ct',
                                '-O--CK',
                                100,
                                100,
                                0,
                                '-',
                                raw,
                            ]
                        ],
                    }
                )
                + '\n'
                for model, health, raw in (
                    ('INTEL SSDSC2BB480G7', 'PASSED', '7'),
                    ('ACME', 'PASSED', '0'),
                    ('ACME', 'FAILED!', '0'),
                )
            )
        )
        failed.write_text(failures(*rows))
        return run_tool('tools.measure', str(drives), '--ssd-failures', str(failed))

    return measure


def test_failed_drives_stand_beside_healthy_ones(measured):
    """Those of their own vendor, and of all; a drive that reports FAILED is not healthy."""
    rows = json.loads(
        measured(SOUND, {**SOUND, 'r_5': '300'}, {**SOUND, 'r_187': '11'}).text
    )
    found = {
        (row['vendor'], row['metric'], row['limit']): (
            row['failed'],
            row['failed_beyond'],
            row['failed_more_percent'],
            row['healthy'],
            row['healthy_beyond'],
            row['healthy_more_percent'],
        )
        for row in rows
    }

    assert found['A', '', 'WARNING'] == (3, 2, 0.0, 1, 0, 0.0)
    assert found['A', '', 'CRITICAL'] == (3, 0, 0.0, 1, 0, 0.0)
    assert found['A', 'reallocated', 'WARNING'] == (3, 1, 0.0, 1, 0, 0.0)
    assert found['A', 'reallocated', 'above 5'] == (3, 1, 0.0, 1, 1, 100.0)
    assert found['all', 'reallocated', 'above 5'] == (3, 1, 0.0, 2, 1, 50.0)


@pytest.mark.parametrize(
    'letter, family',
    [('A', 'Intel 730, DC'), ('B', 'Samsung data center'), ('C', 'Micron 5100')],
)
def test_each_vendor_is_read_by_its_database_entry(letter, family):
    """With the metrics that its attributes are mapped to."""
    columns = {
        column: '7'
        for columns in VENDORS[letter]['attributes'].values()
        for column in columns[:2]
        if column
    }
    verdict = shipped_judge()(
        collection.report_of(
            ssd_failures.facts_of({'model': f'{letter}1', **columns}, VENDORS)
        ),
        None,
    )
    numbers = ssd_failures.judged(letter, verdict).numbers

    assert verdict.entry.startswith(family)
    assert {
        metric: numbers.get(metric)
        for metric in (
            'reallocated',
            'reported_uncorrect',
            'program_fail',
            'crc_errors',
        )
    } == dict.fromkeys(
        ('reallocated', 'reported_uncorrect', 'program_fail', 'crc_errors'), 7
    )
    assert numbers.get('endurance_used') == (None if letter == 'C' else 93)
