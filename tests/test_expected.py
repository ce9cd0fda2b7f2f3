"""Alarms to expect of growth: bounds by what drives have come to, each drive once."""

from __future__ import annotations

import csv
import json

import pytest
from conftest import ROOT
from measure import expected

from smart_attributes.knowledge.drive_database import SpecDatabase
from smart_attributes.knowledge.thresholds import Thresholds
from smart_attributes.model import Device, Identity, Judgement, Reading, Source, State, Verdict

pytestmark = pytest.mark.tools

WITHOUT_WEAR = 'limits on totals and growth, except wear'
MONTH = 30 * 86_400
METRICS = SpecDatabase(json.loads((ROOT / 'attributes.json').read_text())).metrics
RULE = {'within': '30d', 'warning': '2', 'critical': None, 'for': '30d'}
LIMITS = Thresholds(
    {
        'metrics': {
            'crc_errors': {'growth': {'within': '24h', 'warning': '0', 'for': '7d'}},
            'program_fail': {
                'growth': {'within': '24h', 'warning': None, 'critical': '10', 'for': '7d'}
            },
            'spare_available': {'growth': {**RULE, 'within': '7d'}},
            'endurance_used': {'growth': {**RULE, 'times': 3, 'gone': '180d'}},
            'reallocated': {'warning': '0'},
        }
    }
)


def life(months=10, **numbers):
    if months:
        numbers['power_on_time'] = months * MONTH
    readings = (Reading(metric, number, '', Source()) for metric, number in numbers.items())
    verdict = Verdict(
        Device('', name='drive'),
        Identity(protocol='ATA', rotation=0),
        State.OK,
        tuple(Judgement(each, State.OK) for each in readings),
    )
    return expected.life(verdict, LIMITS, METRICS)


def ssd(state=State.OK, **numbers):
    return 'ssd', state, life(**numbers)


@pytest.mark.parametrize(
    ('numbers', 'grown'),
    [
        ({'crc_errors': 1}, {'crc_errors'}),
        ({'crc_errors': 0}, set()),
        ({'program_fail': 11}, {'program_fail'}),
        ({'program_fail': 10}, set()),
        ({'spare_available': 97}, {'spare_available'}),
        ({'spare_available': 98}, set()),
        ({'endurance_used': 15}, {'endurance_used'}),
        ({'endurance_used': 14}, set()),
        ({'reallocated': 500}, set()),
    ],
)
def test_growth_can_have_told_on_a_drive_that_has_come_to_more_than_its_rule_lets_pass(
    numbers, grown
):
    """Where less is worse, what is missing; wear in a hurry takes 30/210 of a drive, or the rest
    lasts longer.
    """
    assert life(**numbers).grown == grown


def test_a_drive_that_does_not_tell_its_age_tells_no_rate():
    """Months are what alarms are counted in."""
    assert life(months=0, crc_errors=1) is None


def test_each_drive_counts_once_in_the_months_of_all_drives():
    """Three drives, 30 months: 33 alarms in 1,000 drives and month for one; wear apart, nobody
    knows its pace.
    """
    found = list(
        expected.rows(
            [
                ssd(crc_errors=5, endurance_used=0),
                ssd(State.WARNING, crc_errors=7, endurance_used=1),
                ssd(endurance_used=50),
                ssd(months=0, crc_errors=1),
            ]
        )
    )

    assert found == [
        '| ssd | growth of `crc_errors` | 2 | 2 | 66.67 |',
        '| ssd | growth of `endurance_used` | 3 | 1 | 33.33 |',
        '| ssd | limits on totals | 3 | 1 | 33.33 |',
        '| ssd | limits on totals and growth, except wear | 3 | 2 | 66.67 |',
        '| ssd | all | 3 | 3 | 100.00 |',
    ]


def test_what_the_defaults_let_expect_of_solid_state_drives_is_little():
    """At most 5 alarms in 1,000 drives and month, wear apart: the document says so."""
    text = (ROOT / 'doc/explanation/data/expected.csv').read_text()
    rows = [row for row in csv.DictReader(text.splitlines()) if row['alert'] == WITHOUT_WEAR]

    assert [row['kind'] for row in rows] == ['ssd', 'nvme']
    assert all(float(row['per_1000_drives_and_month_at_most']) <= 5 for row in rows)
