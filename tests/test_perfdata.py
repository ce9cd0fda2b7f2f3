"""Values for graphs: labels, units, limits and ends, as the Monitoring Plugins guidelines have
them.
"""

import pytest
from shipped import DATABASE

from smart_attributes.fleet import plugin_output
from smart_attributes.model import (
    Device,
    Identity,
    Judgement,
    Reading,
    Source,
    State,
    Verdict,
)
from smart_attributes.output import perfdata

METRICS = DATABASE.metrics


def judged(
    metric, number, unit='', warning='', critical='', graphed=True, is_judged=True
):
    return Judgement(
        Reading(metric, number, unit, Source('log'), judged=is_judged),
        State.OK,
        warning,
        critical,
        graphed=graphed,
    )


def drive(*judgements, name='sda', **more):
    return Verdict(
        Device(f'/dev/{name}', name=name), Identity(), State.OK, judgements, **more
    )


@pytest.mark.parametrize(
    'judgement, text',
    [
        (
            judged('endurance_used', 9, '%', '85', '95'),
            "'sda_endurance_used'=9%;85;95;0;",
        ),
        (judged('temperature', 31, 'C', '60', '70'), "'sda_temperature'=31;60;70;;"),
        (judged('host_written', 512, 'B'), "'sda_host_written'=512B;;;0;"),
        (
            judged('power_on_time', 7200, 's', '30d:'),
            "'sda_power_on_time'=7200s;2592000:;;0;",
        ),
        (judged('temperature', -4.5, 'C'), "'sda_temperature'=-4.5;;;;"),
        (judged('pending', 0), "'sda_pending'=0;;;0;"),
    ],
    ids=['percent', 'no-unit-C', 'bytes', 'limit-in-days', 'negative', 'zero'],
)
def test_a_value_has_all_fields(judgement, text):
    assert [
        value.text for value in perfdata.values([drive(judgement)], METRICS, False)
    ] == [text]


def test_a_value_knows_its_metric_and_the_length_of_its_limits():
    [value] = perfdata.values(
        [drive(judged('endurance_used', 9, '%', '85', '95'))], METRICS, False
    )

    assert (value.metric, value.limits) == ('endurance_used', '8595')


def test_values_are_ordered_by_label():
    found = perfdata.values(
        [
            drive(judged('temperature', 1), judged('pending', 2), name='sdb'),
            drive(judged('endurance_used', 3)),
        ],
        METRICS,
        False,
    )

    assert [value.text.partition('=')[0] for value in found] == [
        "'sda_endurance_used'",
        "'sdb_pending'",
        "'sdb_temperature'",
    ]


@pytest.mark.parametrize(
    'judgement, is_all, is_graphed',
    [
        (judged('pending', 3), False, True),
        (judged('pending', None), False, False),
        (judged('pending', 0), False, True),
        (judged('pending', 3, graphed=False), False, False),
        (judged('pending', 3, graphed=False), True, True),
        (judged('pending', 3, is_judged=False), True, False),
        (judged('smart_status', 1, is_judged=False), False, True),
        (judged('smart_status', 1, is_judged=False, graphed=False), False, False),
    ],
    ids=[
        'number',
        'no-number',
        'zero',
        'no-graph',
        'no-graph-but-all',
        'not-judged',
        'own-word',
        'own-word-no-graph',
    ],
)
def test_only_numbers_that_are_judged_are_drawn(judgement, is_all, is_graphed):
    assert perfdata.is_graphed(judgement, is_all) is is_graphed


@pytest.mark.parametrize(
    'text, value',
    [
        ("'sda_used'=86%;85;95;0;", ('sda_used', 86, '85;95;0;')),
        ('a=1;;;;', ('a', 1, ';;;')),
        ("'a'=-2.50s;1:2;@~:3;;", ('a', -2.5, '1:2;@~:3;;')),
        ("'a'=5B;;;0;9", ('a', 5, ';;0;9')),
        ("'" + 'a' * 200 + "'=1;;;;", ('a' * 200, 1, ';;;')),
        (f"'a'={'9' * 30};;;;", ('a', int('9' * 30), ';;;')),
        (f"'a'=1;{'1' * 197};;;", ('a', 1, '1' * 197 + ';;;')),
    ],
)
def test_a_value_is_read_back(text, value):
    assert plugin_output.read_values([text]) == [value]
    assert [type(number) for _, number, _ in plugin_output.read_values([text])] == [
        type(value[1])
    ]


@pytest.mark.parametrize(
    'text',
    [
        "'" + 'a' * 201 + "'=1;;;;",
        f"'a'={'9' * 31};;;;",
        f"'a'=1;{'1' * 198};;;",
        "'a'=1x;;;;",
        "'a'=٣;;;;",
        '=1;;;;',
    ],
)
def test_what_is_longer_than_any_of_ours_is_not_read(text):
    assert plugin_output.read_values([text]) == []


@pytest.mark.parametrize(
    'limits, found',
    [
        ('85;95;0;', ('85', '95')),
        (';95;;', ('', '95')),
        ('', ('', '')),
        ('85', ('85', '')),
        ('85;95', ('85', '95')),
    ],
)
def test_limits_are_parted(limits, found):
    assert plugin_output.levels(limits) == found
