"""What is wrong with a reading, case by case: rules for one reading of one metric."""

import math

import pytest
from small_database import database

from smart_attributes.devtools import reading_rules
from smart_attributes.knowledge import decode, drive_database

METRICS = drive_database.SpecDatabase(database()).metrics
NUMBER = '"states" gives words, but {} is a number; remove "states", or use a metric that is a status'
BEYOND_255 = (
    'the second number of "valid" must be at most 255 (at most 999 if "ceiling" is 255); a higher '
    'one could accept numbers that are not percentages'
)


def problems(metric, spec):
    formula = decode.parse(spec['from'])
    return [
        problem
        for rule in reading_rules.RULES
        for problem in rule(spec, formula, METRICS[metric])
    ]


def unset(row, number):
    return [
        f'{row} means "never set", but this entry converts it to {number} %; narrow the range in "valid", or add '
        f'{number:g} to the "not" list'
    ]


@pytest.mark.parametrize(
    'metric, spec, expected',
    [
        (
            'power_on_time',
            {'from': 'raw'},
            [
                '"unit" is missing: the metric is a time; write what a raw 1 stands for, such as "h" or "32MiB"'
            ],
        ),
        (
            'host_written',
            {'from': 'raw'},
            [
                '"unit" is missing: the metric is an amount of data; write what a raw 1 stands for, '
                'such as "h" or "32MiB"'
            ],
        ),
        ('power_on_time', {'from': 'raw', 'unit': 'h'}, []),
        ('pending', {'from': 'raw'}, []),
        (
            'power_on_time',
            {'from': 'raw', 'states': {'1': 'failed'}},
            [NUMBER.format('power_on_time')],
        ),
    ],
)
def test_a_time_or_an_amount_has_a_unit(metric, spec, expected):
    assert problems(metric, spec) == expected


@pytest.mark.parametrize(
    'formula, valid, expected',
    [
        (
            'raw byte 0',
            [300, None],
            [
                '"valid": [300, null] can never match: raw byte 0 is always between 0 and 255'
            ],
        ),
        (
            'raw byte 0',
            [None, -1],
            [
                '"valid": [null, -1] can never match: raw byte 0 is always between 0 and 255'
            ],
        ),
        ('raw byte 0', [255, 400], []),
        ('raw byte 0', [-9, 0], []),
        ('raw byte 0', [5, 5], []),
        (
            'raw byte 0',
            [6, 5],
            ['"valid": [6, 5] is an empty range; write the smaller number first'],
        ),
        ('raw byte 0 / 1000', None, []),
    ],
)
def test_an_interval_can_be_reached(formula, valid, expected):
    assert problems('reallocated', {'from': formula, 'valid': valid}) == expected


@pytest.mark.parametrize(
    'ceiling, end, expected',
    [
        (None, 255, []),
        (None, 256, [BEYOND_255]),
        (255, 999, []),
        (255, 1000, [BEYOND_255]),
        (254, 999, []),
        (256, 999, [BEYOND_255]),
        (255, None, [BEYOND_255]),
    ],
)
def test_endurance_beyond_255_percent_needs_a_ceiling(ceiling, end, expected):
    spec = {
        'from': 'raw bytes 0-1',
        'valid': [0, end],
        **({'ceiling': ceiling} if ceiling else {}),
    }

    assert problems('endurance_used', spec) == expected


@pytest.mark.parametrize(
    'formula, valid, expected',
    [
        ('value', [0, 255], unset('value 253', 253)),
        ('value', [None, 254], unset('value 253', 253)),
        ('value', [253, 253], unset('value 253', 253)),
        ('value', [254, 255], unset('value 255', 255)),
        ('value', [0, 252], []),
        ('100 - value', [0, 100], unset('value 0', 100)),
        ('100 - value', [0, 99], []),
        ('bits of raw', [0, 100], unset('a raw value of all ones', 48)),
        ('raw byte 3 of 17', [0, 254], []),
        ('raw byte 3 of 17', [0, 255], unset('a raw value of all ones', 255)),
    ],
)
def test_a_value_that_was_never_set_becomes_no_figure(formula, valid, expected):
    """One sentence, also where several such values would."""
    assert problems('endurance_used', {'from': formula, 'valid': valid}) == expected


@pytest.mark.parametrize(
    'states, expected',
    [
        ({'0': 'failed', '255': 'passed'}, []),
        (
            {'256': 'passed'},
            ['"states": 256 is never reached: the largest value is 255'],
        ),
        (
            {'0-11': 'failed', '11-20': 'passed'},
            [
                '"states": 0-11 and 11-20 overlap; let each number belong to one of them only'
            ],
        ),
        ({'0-10': 'failed', '11-20': 'passed'}, []),
        ({'5-5': 'failed'}, []),
    ],
)
def test_each_result_has_one_word(states, expected):
    assert (
        problems('power_loss_protection', {'from': 'value', 'states': states})
        == expected
    )


def test_a_ratio_has_no_upper_bound():
    assert reading_rules.bounds(decode.parse('100 * raw of 17 / raw of 16')) == (
        0,
        math.inf,
    )
