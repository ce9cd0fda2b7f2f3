"""What fits its schema and would yet break a check."""

import pytest
from shipped import DATABASE

from smart_attributes.knowledge import data_errors

MODELS = {'models': ['ACME X1-.*']}
NAMES = ('reallocated', 'endurance_used', 'pending', 'spare_available', 'power_on_time')
METRICS = {name: DATABASE.metrics[name] for name in NAMES}


def entry(**change):
    return {
        'entries': [
            {'family': 'good', **MODELS},
            {'family': 'mine', **MODELS, **change},
        ]
    }


def attribute(readings):
    return {'5': {'name': 'Some', 'readings': readings}}


def advisory(**change):
    return {
        'advisories': [{'id': 'acme-1', **MODELS, 'source': 'acme', **change}],
        'entries': [],
    }


def layout(*fields, **more):
    field = {'metric': 'pending', 'offset': 508, 'length': 4}
    fields = [{**field, **each} for each in fields or ({},)]
    return {'layouts': {'acme': {'fields': fields, **more}}, 'entries': []}


ENTRY, LAYOUT = ('entries', 1), ('layouts', 'acme')
IN_ENTRIES = {
    'pattern': (
        entry(models=['ACME X1-[0-9']),
        [
            (
                ENTRY,
                'mine: models "ACME X1-[0-9" is not a valid regular expression: unterminated',
            )
        ],
    ),
    'firmware': (
        entry(firmware='1.0)'),
        [
            (
                ENTRY,
                'mine: firmware "1.0)" is not a valid regular expression: '
                'unbalanced parenthesis at position 3; correct it',
            )
        ],
    ),
    'rating': (
        entry(rated_written={'ACME(': {}}),
        [(ENTRY, 'mine: rated_written "ACME(" is not a valid ')],
    ),
    'firmware of an advisory': (
        advisory(firmware='1.0)'),
        [
            (
                ('advisories', 0),
                'advisory acme-1: firmware "1.0)" is not a valid regular expression: ',
            )
        ],
    ),
    'set': (
        entry(uses=['nvme-common']),
        [
            (
                ENTRY,
                'mine: the set "nvme-common" in "uses" is missing or has a mistake; did you mean ata-common?',
            )
        ],
    ),
    'metric': (
        entry(attributes=attribute({'realocated': {'from': 'raw'}})),
        [
            (
                ENTRY,
                'mine, attribute 5, realocated: there is no such metric; did you mean reallocated?',
            )
        ],
    ),
    'formula': (
        entry(
            attributes=attribute(
                {'reallocated': [{'from': 'raw'}, {'from': '100 - normalised'}]}
            )
        ),
        [
            (
                ENTRY,
                'mine, attribute 5, reallocated, item 2: "from": "100 - normalised" is not a formula; write "value"',
            )
        ],
    ),
    # What the set would have given is not known.
    'set with a mistake': (
        {
            'entries': [{'family': 'mine', **MODELS, 'uses': ['own']}],
            'sets': {
                'own': {
                    'attributes': {**attribute({'wear': {'from': 'raw'}}), '8': None}
                }
            },
        },
        [
            (
                ('sets', 'own'),
                'set own, attribute 5, wear: there is no such metric; doc/reference/metrics.md',
            ),
            (('entries', 0), 'mine: the set "own" in "uses" has a mistake'),
        ],
    ),
    'layout': (layout(), []),
    'layout with rows': (layout({'offset': 12, 'row': 3}, rows=16), []),
    'metric of a layout': (
        layout({'metric': 'pendin'}),
        [(LAYOUT, 'layout acme, pendin: unknown metric; did you mean pending?')],
    ),
    'end of the page': (
        layout({'offset': 509}),
        [
            (
                LAYOUT,
                'layout acme, pending: it ends at byte 513, after the end of the page',
            )
        ],
    ),
    'end of the row': (
        layout({'offset': 13, 'row': 3}, rows=16),
        [
            (
                LAYOUT,
                'layout acme, pending: it ends at byte 17, after the end of the row',
            )
        ],
    ),
    'row without rows': (
        layout({'row': 3}),
        [
            (
                LAYOUT,
                'layout acme, pending: it names a table row, but the layout of this log has no table',
            )
        ],
    ),
    'rows without a row': (
        layout({'offset': 12}, rows=16),
        [(LAYOUT, 'layout acme, pending: row is missing')],
    ),
    'unknown layout': (
        entry(logs={'0xCA': 'acmee'}),
        [
            (
                (*ENTRY, 'logs', '0xCA'),
                'mine: in "logs", 0xCA: the layout "acmee" is missing or has a mistake; did you mean '
                'acme?',
            )
        ],
    ),
    'known layout': (entry(logs={'0xC0': 'ocp'}), []),
}


@pytest.mark.parametrize('case', IN_ENTRIES)
def test_an_entry_that_would_break_a_check_is_named_with_its_place(case):
    """The schema cannot see these; without this every drive would be UNKNOWN for no stated
    reason.
    """
    data, expected = IN_ENTRIES[case]

    found = list(
        data_errors.of_entries(
            data,
            [
                {'metrics': METRICS},
                {
                    'sets': {'ata-common': {}, 'own': {}},
                    'layouts': {'ocp': {}, 'acme': {}},
                },
            ],
        )
    )

    assert [fault.path for fault in found] == [path for path, _ in expected]
    assert all(
        fault.sentence.startswith(words) for fault, (_, words) in zip(found, expected)
    )


def limit(**written):
    return {'metrics': {'pending': written}}


def override(written, **selector):
    selector = selector or {'serial': 'A'}
    return {'overrides': [{'for': selector, 'why': 'for a reason', 'metrics': written}]}


PENDING = 'metrics', 'pending'
RULE = {
    'after': '92d',
    'warning': '5 sectors',
    'critical': None,
    'why': 'nothing came of them',
}
IN_LIMITS = {
    'never': (limit(warning=None, critical='5'), []),
    'protection': (
        {'overrides': [{'for': {'device': 'sda'}, 'why': 'odd', 'read': False}]},
        [],
    ),
    'two selectors': (
        override({'endurance_used': {'warning': '9'}}, serial='A', model='A.*'),
        [],
    ),
    'days': (
        {'metrics': {'power_on_time': {'warning': '30d', 'ssd': {'warning': '30d'}}}},
        [],
    ),
    'acknowledged': (override({'pending': {'acknowledged': 5}}), []),
    **{
        f'{field} of {kind}': (
            limit(**{kind: {field: '5 sectors'}}),
            [
                (
                    (*PENDING, kind, field),
                    f'metrics, pending, {kind}, {field}: "5 sectors" is not a Nagios range; write ',
                )
            ],
        )
        for kind in ('hdd', 'ssd', 'nvme', 'sas')
        for field in ('warning', 'critical')
    },
    'days of a percentage': (
        {'metrics': {'endurance_used': {'ssd': {'warning': '30d'}}}},
        [
            (
                ('metrics', 'endurance_used', 'ssd', 'warning'),
                'metrics, endurance_used, ssd, warning: "30d" is not a Nagios range of a metric that is in %; ',
            )
        ],
    ),
    'metric': (
        {'metrics': {'zzz': {'warning': '30d'}}},
        [
            (
                ('metrics', 'zzz'),
                'metrics: "zzz" is not a metric; doc/reference/metrics.md lists them, for example endurance_used',
            ),
        ],
    ),
    'metric of a drive': (
        limit(warning={'drive': 'endurance', 'else': '5'}),
        [((*PENDING, 'warning'), 'metrics, pending, warning: ')],
    ),
    'else': (
        {
            'metrics': {
                'spare_available': {'critical': {'drive': 'threshold', 'else': '10%'}}
            }
        },
        [
            (
                ('metrics', 'spare_available', 'critical'),
                'metrics, spare_available, critical: "10%"',
            )
        ],
    ),
    'override': (
        override({'endurance_used': {'warning': '9:1'}}),
        [
            (
                ('overrides', 0, 'metrics', 'endurance_used', 'warning'),
                'override for serial A, endurance_used, warning: "9:1"',
            )
        ],
    ),
    'pattern': (override({}, model='('), [(('overrides', 0), 'overrides, model "("')]),
    'acknowledged by all': (
        limit(acknowledged=5),
        [
            (
                (*PENDING, 'acknowledged'),
                'metrics, pending: "acknowledged" can apply to one drive only; '
                'move it to an override whose "for" has a "serial"',
            )
        ],
    ),
    'acknowledged by model': (
        override({'pending': {'acknowledged': 5}}, model='A.*'),
        [
            (
                ('overrides', 0, 'metrics', 'pending', 'acknowledged'),
                'override for model A.*, pending: "acknowledged" can apply to one drive only; ',
            )
        ],
    ),
    'aged': (
        limit(aged=RULE, ssd={'aged': None}),
        [
            (
                (*PENDING, 'aged', 'warning'),
                'metrics, pending, aged, warning: "5 sectors"',
            )
        ],
    ),
    'second stage': (
        limit(aged=[{'after': '1d', 'why': 'old'}, RULE]),
        [
            (
                (*PENDING, 'aged', 1, 'warning'),
                'metrics, pending, aged, item 2, warning: "5 sectors"',
            )
        ],
    ),
    'group': (
        limit(hdd={'groups': {'Acmee': {'warning': '5', 'why': 'measured'}}}),
        [
            (
                (*PENDING, 'hdd', 'groups', 'Acmee'),
                'metrics, pending, hdd: unknown group "Acmee"; did you mean Acme?',
            )
        ],
    ),
    'group of the file': (
        {
            **limit(hdd={'groups': {'Seagat': {'warning': '5', 'why': 'measured'}}}),
            'groups': {'Seagat': ['Acme disk']},
        },
        [],
    ),
    'range of a group': (
        limit(hdd={'groups': {'Acme': {'critical': 'x', 'why': 'measured'}}}),
        [
            (
                (*PENDING, 'hdd', 'groups', 'Acme', 'critical'),
                'metrics, pending, hdd, groups, Acme, critical: "x"',
            )
        ],
    ),
    'family of a group': (
        {'groups': {'Acme': ['Acme disk', 'Acme dsk']}},
        [
            (
                ('groups', 'Acme'),
                'group Acme: no entry has the family "Acme dsk"; did you mean Acme disk?',
            )
        ],
    ),
    'family of an override': (
        override({}, family='Zebra'),
        [
            (
                ('overrides', 0),
                'overrides: no entry has the family "Zebra"; to see the family of each drive, '
                'run: check_smart_attributes triage -v',
            )
        ],
    ),
}


@pytest.mark.parametrize('case', IN_LIMITS)
def test_a_limit_that_cannot_be_used_is_named_with_its_place(case):
    """A limit that silently never alarms is worse than none."""
    data, expected = IN_LIMITS[case]

    found = list(
        data_errors.of_limits(
            data, METRICS, ['Zenith', 'Acme'], ['Acme disk', 'Acme hard disk']
        )
    )

    assert [fault.path for fault in found] == [path for path, _ in expected]
    assert all(
        fault.sentence.startswith(words) for fault, (_, words) in zip(found, expected)
    )


def test_families_are_not_checked_without_a_list():
    assert (
        list(
            data_errors.of_limits(
                {'groups': {'Seagat': ['no such family']}}, METRICS, ()
            )
        )
        == []
    )


def test_a_metric_of_the_site_itself_is_proposed_for_a_mistyped_one():
    """In entries, in limits, and where a limit refers to another metric."""
    metrics = {**METRICS, 'squeaking': METRICS['pending']}
    limits = {
        'squeeking': {},
        'pending': {'warning': {'drive': 'squeeking', 'else': '5'}},
    }
    mistakes = [
        *data_errors.of_entries(
            entry(attributes=attribute({'squeeking': {'from': 'raw'}})),
            [{'metrics': metrics}],
        ),
        *data_errors.of_limits({'metrics': limits}, metrics, ()),
    ]

    assert [mistake.sentence.rpartition(' ')[2] for mistake in mistakes] == [
        'squeaking?'
    ] * 3


REVERSED = 'metrics, pending: critical 3 is reached before warning 9; swap them'
OTHER_SIDE = (
    'metrics, pending, ssd: "5:" alerts below 5, but high values of this metric are bad; to alert '
    'above 5, write "5"'
)


def test_limits_that_contradict_each_other_are_told_and_neither_is_used():
    """In each part of a file; what the drive itself reports is compared with nothing."""
    data = {
        'metrics': {
            'pending': {
                'warning': '9',
                'critical': '3',
                'ssd': {'warning': '5:'},
                'hdd': {
                    'warning': {'drive': 'threshold', 'else': '9'},
                    'critical': '3',
                },
            }
        }
    }

    found = list(data_errors.of_limits(data, METRICS, ()))

    assert {(fault.path[2:], fault.sentence) for fault in found} == {
        (('warning',), REVERSED),
        (('critical',), REVERSED),
        (('ssd', 'warning'), OTHER_SIDE),
        (('ssd', 'critical'), OTHER_SIDE),
    }


def test_readings_by_name_are_readings_like_others():
    """A metric that no file knows would end a check."""
    reading = {'from': '100 - value', 'valid': [1, 99]}
    entry = {'family': 'ACME', 'by_name': {'Life_Left': {'endurance_usd': reading}}}

    assert list(data_errors.written_readings({'entries': [entry]})) == [
        (('entries', 0), 'ACME, Life_Left, endurance_usd', 'endurance_usd', reading)
    ]
