"""What fits its schema and would yet break a check."""

from __future__ import annotations

import pytest

from smart_attributes.knowledge import data_errors

MODELS = {'models': ['ACME X1-.*']}
METRICS = {
    'reallocated': '',
    'endurance_used': '%',
    'pending': '',
    'spare_available': '%',
    'power_on_time': 's',
}
SETS = {'ata-common'}

MISTAKES = {
    'pattern': (
        {'models': ['ACME X1-[0-9']},
        'mine: models "ACME X1-[0-9" is not a valid regular expression: ',
    ),
    'huge repetition': (
        {'models': ['ACME{9999999999999999999999}']},
        'mine: models "ACME{9999999999999999999999}" is not a valid regular expression: ',
    ),
    'firmware': ({'firmware': '1.0)'}, 'mine: firmware "1.0)" is not a valid regular expression: '),
    'set': (
        {'uses': ['nvme-common']},
        'mine: uses "nvme-common", but there is no such set; did you mean ata-common?',
    ),
    'metric': (
        {'attributes': {'5': {'name': 'Some', 'readings': {'wear': {'from': 'raw'}}}}},
        'mine, attribute 5, wear: there is no such metric; did you mean endurance_used?',
    ),
    'formula': (
        {
            'attributes': {
                '5': {
                    'name': 'Some',
                    'readings': {'reallocated': [{'from': 'raw'}, {'from': '100 - normalised'}]},
                }
            }
        },
        'mine, attribute 5, reallocated, item 2: from "100 - normalised" is not a formula; write '
        'one of value, worst, raw, ',
    ),
}


@pytest.mark.parametrize('mistake', MISTAKES)
def test_an_entry_that_would_break_a_check_is_named_with_its_place(mistake):
    """The schema cannot see these; without this every drive would be UNKNOWN for no stated
    reason.
    """
    change, sentence = MISTAKES[mistake]

    found = list(
        data_errors.of_entries(
            {'entries': [{'family': 'good', **MODELS}, {'family': 'mine', **MODELS, **change}]},
            METRICS,
            SETS,
        )
    )

    assert [fault.path for fault in found] == [('entries', 1)]
    assert found[0].sentence.startswith(sentence)


def test_an_entry_falls_with_the_set_that_it_uses():
    """What the set would have given is not known."""
    broken = {
        'attributes': {'5': {'name': 'Some', 'readings': {'reallocated': {'from': 'normalised'}}}},
        'source': 'measured on 1',
    }
    data = {'entries': [{'family': 'mine', **MODELS, 'uses': ['own']}], 'sets': {'own': broken}}

    found = list(data_errors.of_entries(data, METRICS, {*SETS, 'own'}))

    assert [fault.path for fault in found] == [('sets', 'own'), ('entries', 0)]
    assert found[1].sentence == 'mine: uses "own", but that set has a mistake'


@pytest.mark.parametrize(
    ('data', 'path', 'words'),
    [
        (
            {'metrics': {'pending': {'hdd': {'warning': '5 sectors'}}}},
            ('metrics', 'pending', 'hdd', 'warning'),
            'metrics, pending, hdd, warning: "5 sectors"',
        ),
        (
            {'metrics': {'spare_available': {'critical': {'drive': 'threshold', 'else': '10%'}}}},
            ('metrics', 'spare_available', 'critical'),
            'spare_available, critical: "10%"',
        ),
        (
            {
                'overrides': [
                    {
                        'for': {'serial': 'A'},
                        'why': 'for a reason',
                        'metrics': {'endurance_used': {'warning': '9:1'}},
                    }
                ]
            },
            ('overrides', 0, 'metrics', 'endurance_used', 'warning'),
            'override for serial A, endurance_used, warning: "9:1"',
        ),
        (
            {'overrides': [{'for': {'model': '('}, 'why': 'for a reason'}]},
            ('overrides', 0),
            'model "("',
        ),
        (
            {'metrics': {'pending': {'acknowledged': 5}}},
            ('metrics', 'pending', 'acknowledged'),
            'with "serial" in "for"',
        ),
        (
            {
                'overrides': [
                    {
                        'for': {'model': 'A.*'},
                        'why': 'for a reason',
                        'metrics': {'pending': {'acknowledged': 5}},
                    }
                ]
            },
            ('overrides', 0, 'metrics', 'pending', 'acknowledged'),
            'is for one drive only',
        ),
        (
            {'metrics': {'endurance': {'warning': '5'}}},
            ('metrics', 'endurance'),
            'metrics: "endurance" is not a metric; did you mean endurance_used?',
        ),
    ],
    ids=[
        'kind',
        'else',
        'override',
        'pattern',
        'acknowledged-by-all',
        'acknowledged-by-model',
        'metric',
    ],
)
def test_a_limit_that_cannot_be_used_is_named_with_its_place(data, path, words):
    """A limit that silently never alarms is worse than none."""
    (fault,) = data_errors.of_limits(data, METRICS)

    assert fault.path == path
    assert words in fault.sentence


def test_a_mistyped_range_for_what_is_old_is_refused_and_nothing_else():
    """The rule ages the levels that are sound; null is one."""
    rule = {'after': '92d', 'warning': '5 sectors', 'critical': None, 'why': 'nothing came of them'}
    for given, place in (({'aged': rule}, ('aged',)), ({'hdd': {'aged': rule}}, ('hdd', 'aged'))):
        (fault,) = data_errors.of_limits(
            {'metrics': {'pending': {**given, 'ssd': {'aged': None}}}}, METRICS
        )

        assert fault.path == ('metrics', 'pending', *place, 'warning')
        assert fault.sentence.startswith(f'metrics, pending, {", ".join(place)}, warning: ')


@pytest.mark.parametrize('kind', ['hdd', 'ssd', 'nvme', 'sas'])
@pytest.mark.parametrize('field', ['warning', 'critical'])
def test_a_mistyped_range_is_refused_under_every_kind(kind, field):
    """Under one that is not looked at it would never alarm."""
    (fault,) = data_errors.of_limits(
        {'metrics': {'pending': {kind: {field: '5 sectors'}}}}, METRICS
    )

    assert fault.path == ('metrics', 'pending', kind, field)
    assert fault.sentence.startswith(
        f'metrics, pending, {kind}, {field}: "5 sectors" is not a Nagios range; write '
    )


@pytest.mark.parametrize(
    'data',
    [
        {},
        {'metrics': {}},
        {'overrides': [{'for': {'device': 'sda'}, 'why': 'odd', 'read': False}]},
        {'metrics': {'pending': {'warning': None, 'critical': '5'}}},
        {
            'overrides': [
                {
                    'for': {'serial': 'A', 'model': 'A.*'},
                    'why': 'odd',
                    'metrics': {'endurance_used': {'warning': '9'}},
                }
            ]
        },
    ],
)
def test_a_file_without_a_mistake_is_taken(data):
    """Whatever it leaves out."""
    assert list(data_errors.of_limits(data, METRICS)) == []


@pytest.mark.parametrize(
    ('metric', 'words'),
    [
        ('power_on_time', []),
        ('pending', ['of a metric that is a count']),
        ('endurance_used', ['of a metric that is in %']),
        ('zzz', ['is not a metric', 'of a metric that is a count']),
    ],
)
@pytest.mark.parametrize('kind', [(), ('ssd',)], ids=['all-kinds', 'one-kind'])
def test_days_are_taken_for_a_metric_in_seconds_alone(metric, words, kind):
    """30d of a count is a mistake, also where the metric itself is one."""
    limit = {'warning': '30d'}
    found = list(
        data_errors.of_limits({'metrics': {metric: {kind[0]: limit} if kind else limit}}, METRICS)
    )

    assert (
        [part in fault.sentence for fault, part in zip(found, words)]
        == [True] * len(words)
        == [True] * len(found)
    )


GROUPED = {
    'metrics': {'pending': {'hdd': {'groups': {'Seagat': {'warning': '5', 'why': 'measured'}}}}}
}


@pytest.mark.parametrize(
    'data, groups, families, path, sentence',
    [
        (
            GROUPED,
            ['Seagate', 'Toshiba'],
            None,
            ('metrics', 'pending', 'hdd', 'groups', 'Seagat'),
            'metrics, pending, hdd: unknown group "Seagat"; did you mean Seagate?',
        ),
        (
            GROUPED,
            ['Zenith', 'Acme'],
            None,
            ('metrics', 'pending', 'hdd', 'groups', 'Seagat'),
            'metrics, pending, hdd: unknown group "Seagat"; groups are Acme, Zenith',
        ),
        (
            {'groups': {'Acme': ['Acme disk', 'Acme dsk']}},
            [],
            ['Acme disk', 'Acme hard disk'],
            ('groups', 'Acme'),
            'group Acme: no entry has the family "Acme dsk"; did you mean Acme disk?',
        ),
        (
            {'overrides': [{'for': {'family': 'Zebra'}, 'why': 'odd'}]},
            [],
            ['Acme disk'],
            ('overrides', 0),
            'overrides: no entry has the family "Zebra"; triage -v shows the family of each drive',
        ),
        (
            {
                'metrics': {
                    'pending': {'hdd': {'groups': {'Acme': {'critical': 'x', 'why': 'measured'}}}}
                }
            },
            ['Acme'],
            None,
            ('metrics', 'pending', 'hdd', 'groups', 'Acme', 'critical'),
            'metrics, pending, hdd, groups, Acme, critical: "x"',
        ),
        (
            {
                'metrics': {
                    'pending': {
                        'aged': [
                            {'after': '1d', 'why': 'old'},
                            {'after': '2d', 'warning': 'x', 'why': 'old'},
                        ]
                    }
                }
            },
            [],
            None,
            ('metrics', 'pending', 'aged', 'warning'),
            'metrics, pending, aged, warning: "x"',
        ),
    ],
    ids=['group', 'unlike-any', 'family-of-a-group', 'family-of-an-override', 'range', 'stage'],
)
def test_a_limit_that_names_an_unknown_group_or_family_is_a_mistake(
    data, groups, families, path, sentence
):
    """It would never alert."""
    (fault,) = data_errors.of_limits(data, METRICS, groups, families)

    assert fault.path == path and fault.sentence.startswith(sentence)


def test_groups_of_the_file_itself_are_known_and_families_are_not_checked_without_a_list():
    data = {**GROUPED, 'groups': {'Seagat': ['no such family']}}

    assert list(data_errors.of_limits(data, METRICS, ['Seagate'])) == []


ADVISORY = {
    'id': 'acme-1',
    'models': ['ACME X1-.*'],
    'effect': 'it stops',
    'action': 'update it',
    'source': 'acme',
}


@pytest.mark.parametrize(
    ('data', 'sentence', 'path'),
    [
        (
            {'entries': [{'family': 'mine', **MODELS, 'rated_written': {'ACME(': {}}}]},
            'mine: rated_written "ACME("',
            ('entries', 0),
        ),
        (
            {'advisories': [{**ADVISORY, 'models': ['ACME(']}], 'entries': []},
            'advisory acme-1: models "ACME("',
            ('advisories', 0),
        ),
        (
            {'advisories': [{**ADVISORY, 'firmware': '1.0)'}], 'entries': []},
            'advisory acme-1: firmware "1.0)"',
            ('advisories', 0),
        ),
    ],
)
def test_every_pattern_of_a_file_is_looked_at(data, sentence, path):
    """One that does not compile would end a check, and one that is not looked at would end it
    later.
    """
    (fault,) = data_errors.of_entries(data, METRICS, SETS)

    assert fault.path == path
    assert fault.sentence.startswith(
        f'{sentence} is not a valid regular expression: '
    ) and fault.sentence.endswith('; correct it')


def test_a_mistake_in_a_set_is_named_with_the_set():
    """It would be in every entry that uses it."""
    data = {
        'entries': [],
        'sets': {
            'taste': {
                'attributes': {
                    '7': {'name': 'Taste', 'readings': {'wear': {'from': 'raw'}}},
                    '8': None,
                }
            }
        },
    }

    assert list(data_errors.of_entries(data, METRICS, SETS)) == [
        data_errors.Mistake(
            ('sets', 'taste'),
            'set taste, attribute 7, wear: there is no such metric; did you mean endurance_used?',
        )
    ]


def test_a_set_that_is_like_no_other_is_answered_with_all_of_them():
    """Nothing to guess, so the list."""
    (fault,) = data_errors.of_entries(
        {'entries': [{'family': 'mine', **MODELS, 'uses': ['zzz']}]},
        METRICS,
        {'ata-common', 'taste'},
    )

    assert (
        fault.sentence == 'mine: uses "zzz", but there is no such set; known are ata-common, taste'
    )


def test_a_mistyped_metric_is_answered_with_the_nearest():
    """Most mistakes are one letter."""
    entry = {
        'family': 'mine',
        **MODELS,
        'attributes': {'5': {'name': 'Some', 'readings': {'realocated': {'from': 'raw'}}}},
    }

    (fault,) = data_errors.of_entries({'entries': [entry]}, METRICS, SETS)

    assert fault.sentence.endswith('realocated: there is no such metric; did you mean reallocated?')


def test_an_entry_for_a_controller_names_no_models():
    """Its guards are its conditions."""
    assert (
        list(
            data_errors.of_entries(
                {'entries': [{'family': 'mine', 'generic': True, 'has': [5]}]}, METRICS, SETS
            )
        )
        == []
    )


def test_a_metric_that_is_like_no_other_is_answered_with_where_they_stand():
    """Nothing to guess."""
    (fault,) = data_errors.of_limits({'metrics': {'zzz': {'warning': '5'}}}, METRICS)

    assert fault.sentence == (
        'metrics: "zzz" is not a metric; doc/reference/metrics.md lists them, '
        'for example endurance_used'
    )


def test_what_one_drive_may_have_is_acknowledged_by_its_serial_number():
    """And nowhere else, which the sentence says how to mend."""
    given = {'pending': {'acknowledged': 5}}
    (fault,) = data_errors.of_limits({'metrics': given}, METRICS)

    assert (
        list(
            data_errors.of_limits(
                {'overrides': [{'for': {'serial': 'A'}, 'why': 'stable', 'metrics': given}]},
                METRICS,
            )
        )
        == []
    )
    assert fault.sentence == (
        'metrics, pending: "acknowledged" is for one drive only; '
        'write it in overrides, with "serial" in "for"'
    )


def test_a_metric_of_the_site_itself_is_proposed_for_a_mistyped_one():
    """In entries, in limits, and where a limit refers to another metric."""
    metrics = {**METRICS, 'squeaking': ''}
    entry = {
        'family': 'mine',
        **MODELS,
        'attributes': {'5': {'name': 'Some', 'readings': {'squeeking': {'from': 'raw'}}}},
    }
    limits = {'squeeking': {}, 'pending': {'warning': {'drive': 'squeeking', 'else': '5'}}}
    mistakes = [
        *data_errors.of_entries({'entries': [entry]}, metrics, SETS),
        *data_errors.of_limits({'metrics': limits}, metrics),
    ]

    assert [mistake.sentence.rpartition('; ')[2] for mistake in mistakes] == [
        'did you mean squeaking?'
    ] * 3


FIELD = {'metric': 'pending', 'offset': 508, 'length': 4}
ROWS = {'rows': 16, 'fields': [{**FIELD, 'offset': 12, 'row': 3}]}


@pytest.mark.parametrize(
    'layout, sentence',
    [
        ({'fields': [FIELD]}, ''),
        (ROWS, ''),
        (
            {'fields': [{**FIELD, 'metric': 'pendin'}]},
            'layout acme, pendin: unknown metric; did you mean pending?',
        ),
        (
            {'fields': [{**FIELD, 'offset': 509}]},
            'layout acme, pending: it ends at byte 513, beyond the page',
        ),
        (
            {'rows': 16, 'fields': [{**FIELD, 'offset': 13, 'row': 3}]},
            'layout acme, pending: it ends at byte 17, beyond the row',
        ),
        (
            {'fields': [{**FIELD, 'row': 3}]},
            'layout acme, pending: it has a row, but the layout has no rows',
        ),
        ({'rows': 16, 'fields': [{**FIELD, 'offset': 12}]}, 'layout acme, pending: row is missing'),
    ],
    ids=str,
)
def test_a_mistake_in_a_layout_is_named_with_its_field(layout, sentence):
    found = list(
        data_errors.of_entries({'layouts': {'acme': layout}, 'entries': []}, METRICS, SETS)
    )

    assert found == [data_errors.Mistake(('layouts', 'acme'), sentence)] * bool(sentence)


@pytest.mark.parametrize(
    'name, advice', [('acmee', 'did you mean acme?'), ('zzzz', 'layouts are acme, ocp')]
)
def test_an_entry_that_names_an_unknown_layout_gets_the_known_ones(name, advice):
    entries = [
        {'family': 'good', **MODELS, 'logs': {'0xC0': 'ocp'}},
        {'family': 'mine', **MODELS, 'logs': {'0xCA': name}},
    ]

    assert list(data_errors.of_entries({'entries': entries}, METRICS, SETS, ['ocp', 'acme'])) == [
        data_errors.Mistake(('entries', 1), f'mine: logs 0xCA: unknown layout "{name}"; {advice}')
    ]


def test_limits_that_contradict_each_other_are_told_and_neither_is_used():
    """In each part of a file; what the drive itself reports is compared with nothing."""
    data = {
        'metrics': {
            'pending': {
                'warning': '9',
                'critical': '3',
                'ssd': {'warning': '5:'},
                'hdd': {'warning': {'drive': 'threshold', 'else': '9'}, 'critical': '3'},
            }
        }
    }

    found = list(data_errors.of_limits(data, METRICS, worse={'pending': 'high'}))

    assert {(fault.path[2:], fault.sentence) for fault in found} == {
        (('warning',), 'metrics, pending: critical 3 is reached before warning 9; exchange them'),
        (('critical',), 'metrics, pending: critical 3 is reached before warning 9; exchange them'),
        (
            ('ssd', 'warning'),
            'metrics, pending, ssd: "5:" alerts below 5, but high values of this metric are bad; '
            'write 5',
        ),
        (
            ('ssd', 'critical'),
            'metrics, pending, ssd: "5:" alerts below 5, but high values of this metric are bad; '
            'write 5',
        ),
    }
