"""Which limit holds for a drive, and who set it."""

import pytest

from smart_attributes.knowledge import thresholds
from smart_attributes.knowledge.thresholds import (
    DriveLimit,
    Exceptions,
    Limit,
    Thresholds,
    selects,
)
from smart_attributes.model import Device, Identity

DEFAULT = {
    'metrics': {
        'endurance_used': {
            'warning': '85',
            'critical': '95',
            'graph': True,
            'why': 'rated life',
        },
        'temperature': {
            'hdd': {'warning': '50'},
            'ssd': {
                'warning': {'drive': 'temperature_limit', 'minus': 10, 'else': '60'}
            },
        },
    }
}
BY_HAND = 'set on the command line'
SDA = Device('/dev/sda', name='sda')
SSD = Identity(
    protocol='ATA', model='INTEL SSDSC2BB240G4', serial='EXAMPLE0001', rotation=0
)
HDD = Identity(
    protocol='ATA', model='ST4000NM0035', serial='EXAMPLE0002', rotation=7200
)
FAMILY = 'Intel DC S3500'


def override(selector, warning=None, **more):
    return {
        'for': selector,
        'why': 'we said so',
        'metrics': {'endurance_used': {'warning': warning}},
        **more,
    }


def warning_of(*overrides, command_line=None, metrics=None, today=''):
    site = {'overrides': list(overrides), **({'metrics': metrics} if metrics else {})}
    limits = Thresholds(
        DEFAULT, [('site.json', site)], {'warning': command_line or {}}, today
    )
    limit = limits.limit('endurance_used', SDA, SSD, FAMILY)
    return limit.warning, limit.warning_origin


def test_the_most_telling_level_wins():
    """Command line, serial, device, model, family, metric: each beats the next."""
    levels = [
        override({'serial': 'EXAMPLE0001'}, '1'),
        override({'device': '/dev/sda'}, '2'),
        override({'model': 'INTEL.*'}, '3'),
        override({'family': FAMILY}, '4'),
    ]

    assert (
        warning_of(
            *levels,
            command_line={'endurance_used': '0'},
            metrics={'endurance_used': {'warning': '5'}},
        )[0]
        == '0'
    )
    for place, expected in enumerate('1234'):
        assert (
            warning_of(*levels[place:], metrics={'endurance_used': {'warning': '5'}})[0]
            == expected
        )
    assert warning_of(metrics={'endurance_used': {'warning': '5'}}) == (
        '5',
        'site.json',
    )


def test_a_limit_of_an_override_is_merged_field_by_field_and_says_which_and_why():
    """An override of the warning leaves the critical limit alone; null means never."""
    for warning in ('70', None):
        limit = limits_of(override({'serial': 'EXAMPLE0001'}, warning)).limit(
            'endurance_used', SDA, SSD, FAMILY
        )

        assert limit[:5] == (
            warning,
            '95',
            'site.json: this serial number',
            'default.json',
            True,
        )
        assert limit.why == 'we said so'
        assert 'warning' in limit.set_fields and 'warning' in limit.own_fields


def test_a_kind_has_its_own_limits():
    """60 degrees are hot for a hard disk and nothing for an NVMe drive."""
    limits = Thresholds(DEFAULT)

    assert limits.limit('temperature', SDA, HDD, '').warning == '50'
    assert limits.limit('temperature', SDA, SSD, '').warning == DriveLimit(
        'temperature_limit', -10, '60'
    )


@pytest.mark.parametrize(
    ('selector', 'fits'),
    [
        ({'serial': 'EXAMPLE0001'}, True),
        ({'serial': ''}, False),
        ({'device': 'sda'}, True),
        ({'device': '/dev/sda'}, True),
        ({'device': '/dev/sdb'}, False),
        ({'model': 'INTEL SSDSC2BB.*'}, True),
        ({'model': 'INTEL'}, False),
        ({'family': FAMILY}, True),
        ({'family': 'ACME'}, False),
        ({'family': ''}, False),
        ({'serial': 'EXAMPLE0001', 'device': '/dev/sdb'}, False),
    ],
    ids=str,
)
def test_every_key_of_a_selector_must_fit(selector, fits):
    """A model pattern matches the whole name, as everywhere."""
    assert selects(selector, SDA, SSD, FAMILY) is fits


def test_a_drive_behind_a_controller_is_not_named_by_the_controllers_path():
    """/dev/bus/0 is many drives."""
    slot = Device('/dev/bus/0', 'megaraid,6', 'bus_0_megaraid_6')

    assert not selects({'device': '/dev/bus/0'}, slot, SSD, '')
    assert selects({'device': 'megaraid,6@/dev/bus/0'}, slot, SSD, '')


# --- what a limit says besides its ranges -----------------------------------------------------


def limits_of(*overrides, today='', **site):
    return Thresholds(
        DEFAULT, [('site.json', {'overrides': list(overrides), **site})], today=today
    )


def test_a_limit_is_whole():
    """Ranges, who set each, whether it is graphed, which fields somebody wrote, and why."""
    assert Thresholds(DEFAULT).limit('endurance_used', SDA, SSD, FAMILY) == Limit(
        '85',
        '95',
        'default.json',
        'default.json',
        True,
        frozenset(('warning', 'critical', 'graph', 'why')),
        'rated life',
        warning_why='rated life',
        critical_why='rated life',
    )


def test_each_level_has_the_reason_of_whoever_sets_it():
    """An override that sets only CRITICAL gives no reason for the shipped WARNING."""
    soon = {'endurance_used': {'critical': '99'}}
    override = {'for': {'serial': SSD.serial}, 'why': 'replaced soon', 'metrics': soon}
    limit = limits_of(override).limit('endurance_used', SDA, SSD, FAMILY)

    assert (limit.warning_origin, limit.warning_why) == ('default.json', 'rated life')
    assert (limit.critical, limit.critical_why) == ('99', 'replaced soon')

    of_others = {'groups': {'Acme': soon['endurance_used']}}
    override['metrics'] = {'pending': {'ssd': of_others}}
    assert limits_of(override).limit('pending', SDA, SSD, FAMILY) == Limit()


def test_a_metric_that_nobody_limits_has_the_empty_limit():
    """It is shown, not judged and not graphed."""
    assert Thresholds(DEFAULT).limit('power_cycles', SDA, SSD, FAMILY) == Limit()


def test_a_limit_of_the_command_line_says_so():
    """Both kinds of range, and only those that were given."""
    limits = Thresholds(
        DEFAULT,
        command_line={
            'warning': {'power_cycles': '7'},
            'critical': {'endurance_used': '50'},
        },
    )

    assert limits.limit('power_cycles', SDA, SSD, '') == Limit(
        '7',
        None,
        'command line',
        '',
        False,
        frozenset(('warning', 'why')),
        BY_HAND,
        warning_why=BY_HAND,
    )
    assert limits.limit('endurance_used', SDA, SSD, '')[:4] == (
        '85',
        '50',
        'default.json',
        'command line',
    )
    assert limits.limit('endurance_used', SDA, SSD, '').why == BY_HAND


INTEL, C2BB = {'model': 'INTEL.*'}, {'model': '.*C2BB.*'}
BOTH = (
    'site.json: model INTEL.* and site.json: model .*C2BB.* disagree and neither takes precedence; '
    'remove one of them'
)
RULE, OTHER_RULE = {'within': '24h', 'warning': '0'}, {'within': '7d', 'warning': '5'}


def of_metric(metric='endurance_used', **limits):
    return {'metrics': {metric: limits}}


DISAGREEMENTS = {
    'warning': (
        [override(INTEL, '70'), override(C2BB, '80')],
        [f'endurance_used, warning: {BOTH}'],
    ),
    'equal': ([override(INTEL, '70'), override(C2BB, '70', why='another reason')], []),
    'growth': (
        [
            override(INTEL, **of_metric(growth=RULE)),
            override(C2BB, **of_metric(growth=OTHER_RULE)),
        ],
        [f'endurance_used, growth: {BOTH}'],
    ),
    'two fields of three': (
        [
            override(INTEL, **of_metric(warning='0', graph=False)),
            override(C2BB, **of_metric(warning='1', graph=False)),
            override({'model': 'INTEL SSD.*'}, **of_metric(warning='2', graph=True)),
        ],
        [
            f'endurance_used, warning: {BOTH}',
            f'endurance_used, warning: {BOTH.replace(".*C2BB", "INTEL SSD")}',
            f'endurance_used, graph: {BOTH.replace(".*C2BB", "INTEL SSD")}',
        ],
    ),
    # Only the limits for this kind of drive are compared.
    'another kind': (
        [
            override(INTEL, **of_metric('temperature', ssd={'warning': '70'})),
            override(
                C2BB,
                **of_metric(
                    'temperature', ssd={'warning': '70'}, hdd={'warning': '40'}
                ),
            ),
            override(INTEL, **of_metric('temperature', hdd={'warning': '50'})),
        ],
        [],
    ),
    'device': (
        [override({'device': 'sda'}, '70'), override({'device': '/dev/sda'}, '80')],
        [
            'endurance_used, warning: site.json: device sda and site.json: device /dev/sda '
            'disagree and neither takes precedence; remove one of them'
        ],
    ),
}


@pytest.mark.parametrize('case', DISAGREEMENTS)
def test_where_two_equals_disagree_the_weaker_limit_holds_and_both_are_named(case):
    """The order in a file must not decide, and the drive is judged all the same."""
    overrides, sentences = DISAGREEMENTS[case]
    limits = limits_of(*overrides)

    assert limits.disagreements(SDA, SSD, FAMILY) == sentences
    assert limits.disagreements(Device('/dev/sdb', name='sdb'), HDD, 'ACME') == []
    limit = limits.limit('endurance_used', SDA, SSD, FAMILY)
    assert limit[:2] == ('70' if case == 'equal' else '85', '95')
    assert limit.warning_origin == 'default.json' or case == 'equal'


@pytest.mark.parametrize(
    ('bound', 'offset'), [({'plus': 5}, 5), ({'minus': 10}, -10), ({}, 0)]
)
def test_a_limit_may_stand_above_or_below_what_the_drive_says(bound, offset):
    """A threshold plus five, a temperature minus ten, or the drive's own number."""
    limit = warning_of(
        override(
            {'serial': 'EXAMPLE0001'}, {'drive': 'threshold', 'else': '11:', **bound}
        )
    )[0]

    assert limit == DriveLimit('threshold', offset, '11:')


@pytest.mark.parametrize(
    ('known', 'limit'), [(70, 60), (60, 50), (55, 50), (50, 50), (40, 40)]
)
def test_a_limit_goes_no_lower_than_its_floor_or_the_drives_own(known, limit):
    """Where the drive's own is lower still, nobody knows better."""
    bound = warning_of(
        override(
            {'serial': 'EXAMPLE0001'},
            {'drive': 'temperature_limit', 'minus': 10, 'at_least': 50, 'else': '60'},
        )
    )[0]

    assert bound.beside(known) == limit


@pytest.mark.parametrize(
    'selector',
    [
        {'device': 'sda'},
        {'family': FAMILY},
        {'serial': 'EXAMPLE0001'},
        {'model': 'INTEL.*'},
    ],
    ids=str,
)
def test_an_override_of_one_drive_is_no_other_s(selector):
    """What was found for one drive must not be kept for the next of its kind."""
    limits = limits_of(override(selector, '70'))
    other = Device('/dev/sdb', name='sdb')

    limit = limits.limit('endurance_used', SDA, SSD, FAMILY)
    assert limit.warning == '70'
    is_one = 'serial' in selector or 'device' in selector
    assert limit.own_fields & {'warning', 'critical'} == (
        {'warning'} if is_one else set()
    )
    assert (
        limits.limit(
            'endurance_used',
            other,
            SSD._replace(serial='EXAMPLE0009', model='ACME'),
            'ACME',
        ).warning
        == '85'
    )


def test_overrides_are_compared_with_a_drive_once_however_many_metrics_it_has(
    monkeypatch,
):
    """A site may have one for each of a thousand drives; with a comparison for each metric a
    check took seconds.
    """
    compared = []

    def counting(selector, *drive, **rest):
        compared.append(selector)
        return selects(selector, *drive, **rest)

    monkeypatch.setattr(thresholds, 'selects', counting)
    limits = limits_of(
        *(override({'serial': f'S{number}'}, '70') for number in range(10))
    )
    for metric in ('endurance_used', 'temperature', 'pending'):
        limits.limit(metric, SDA, SSD, FAMILY)
    limits.exceptions(SDA, SSD, FAMILY)

    assert len(compared) == 10


def test_an_override_ends_with_its_date_and_says_so():
    """Accepted until the end of January is not accepted in February; without a day none ends."""
    until = override({'serial': 'EXAMPLE0001'}, '99', until='2027-01-31')

    assert [
        warning_of(until, today=today)[0] for today in ('2027-01-31', '2027-02-01', '')
    ] == [
        '99',
        '85',
        '99',
    ]
    limits = limits_of(until, today='2027-02-01')
    [sentence] = limits.over(SDA, SSD, FAMILY)
    assert (
        sentence == 'site.json: the override for this serial number ended on 2027-01-31'
    )
    assert sentence.code == 'override-ended'
    assert limits.over(SDA, HDD, FAMILY) == []
    assert limits_of(until, today='2027-01-31').over(SDA, SSD, FAMILY) == []


@pytest.mark.parametrize(
    'selector',
    [
        {'serial': 'EXAMPLE0001'},
        {'model': 'INTEL.*'},
    ],
    ids=str,
)
def test_an_exception_is_found_by_whatever_names_the_drive(selector):
    """Attributes that are ignored, logs that are not read."""
    found = limits_of(
        {
            'for': selector,
            'why': 'odd',
            'attributes': {'246': None, '5': None},
            'skip': ['selftest'],
            'read': False,
            'presence': 'optional',
        },
        {'for': selector, 'why': 'odd'},
    )
    assert found.exceptions(Device('/dev/sdb'), HDD, '') == Thresholds({}).exceptions(
        SDA, SSD, ''
    )
    found = found.exceptions(SDA, SSD, FAMILY)

    assert found == Exceptions(
        ignored_attributes=frozenset((5, 246)),
        skipped_logs=frozenset(('selftest',)),
        is_read=False,
        is_reading_allowed=False,
        is_optional=True,
    )
    usual = Thresholds(DEFAULT).exceptions(SDA, SSD, FAMILY)
    assert (usual.is_read, usual.is_reading_allowed, usual.is_optional) == (
        True,
        False,
        False,
    )


# --- growth and acknowledgements ------------------------------------------------------------------


@pytest.mark.parametrize(
    ('written', 'rules'),
    [(RULE, (RULE,)), ([RULE, OTHER_RULE], (RULE, OTHER_RULE)), (None, ())],
)
def test_a_metric_has_one_rule_of_growth_or_several(written, rules):
    """null takes those of the default away."""
    limit = limits_of(metrics={'endurance_used': {'growth': written}}).limit(
        'endurance_used', SDA, SSD, FAMILY
    )

    assert (limit.growth, limit.growth_origin) == (rules, 'site.json')


def acknowledging(serial, **more):
    return {
        'for': {'serial': serial},
        'why': 'stable',
        'metrics': {'endurance_used': {'acknowledged': 90}},
        **more,
    }


def test_why_a_number_was_accepted_is_no_reason_of_a_limit():
    """explain would give it for a limit that it has nothing to do with."""
    assert limits_of(acknowledging('EXAMPLE0001')).limit(
        'endurance_used', SDA, SSD, FAMILY
    ) == Thresholds(DEFAULT).limit('endurance_used', SDA, SSD, FAMILY)


@pytest.mark.parametrize(
    ('serial', 'metric', 'until', 'is_found'),
    [
        ('EXAMPLE0001', 'endurance_used', '2027-01-31', True),
        ('EXAMPLE0001', 'endurance_used', '2027-01-30', False),
        ('EXAMPLE0001', 'reallocated', '2027-01-31', False),
        ('EXAMPLE0002', 'endurance_used', '2027-01-31', False),
    ],
)
def test_an_acknowledgement_is_of_one_metric_of_one_drive_until_its_day(
    serial, metric, until, is_found
):
    """What was accepted elsewhere, or until then, was not accepted here and now."""
    found = limits_of(
        acknowledging(serial, until=until), today='2027-01-31'
    ).acknowledged(SSD, metric)

    assert (found and found.origin) == ('site.json' if is_found else None)


def test_of_two_acknowledgements_the_last_one_given_applies():
    """Within a file; a file that is read later comes before one that is read earlier."""
    given = [acknowledging('EXAMPLE0001', by=name) for name in ('ann', 'bob', 'cid')]
    sites = [('a.json', {'overrides': given[:2]}), ('b.json', {'overrides': given[2:]})]

    def by(sites):
        found = Thresholds(DEFAULT, sites).acknowledged(SSD, 'endurance_used')
        return found and found.by

    assert [by(sites[:1]), by(sites), by(sites[::-1])] == ['bob', 'cid', 'bob']


def test_a_drive_without_serial_number_has_nothing_acknowledged():
    """Many drives tell none, and all of them would be meant."""
    assert (
        limits_of(acknowledging('')).acknowledged(
            SSD._replace(serial=''), 'endurance_used'
        )
        is None
    )


# --- groups of families ---------------------------------------------------------------------------

GROUPED = {
    'groups': {
        'Acme': ['Acme hard disk', 'OEM disk by Acme'],
        'Zenith': ['Zenith hard disk'],
    },
    'metrics': {
        'pending': {
            'graph': True,
            'hdd': {
                'warning': '0',
                'critical': None,
                'why': 'borrowed',
                'groups': {'Acme': {'critical': '8', 'why': 'measured on Acme disks'}},
            },
        }
    },
}


@pytest.mark.parametrize(
    'family, levels, why',
    [
        ('Acme hard disk', ('0', '8'), 'measured on Acme disks'),
        ('OEM disk by Acme', ('0', '8'), 'measured on Acme disks'),
        ('Zenith hard disk', ('0', None), 'borrowed'),
        ('', ('0', None), 'borrowed'),
    ],
)
def test_a_limit_may_differ_by_group_of_families(family, levels, why):
    """In the order in which drives come: one group's limit is not kept for the next."""
    limits = Thresholds(GROUPED)
    for _ in range(2):
        limits.limit('pending', SDA, HDD, 'Acme hard disk')
        limit = limits.limit('pending', SDA, HDD, family)

        assert ((limit.warning, limit.critical), limit.why, limit.is_graphed) == (
            levels,
            why,
            True,
        )
    assert limits.limit('pending', SDA, SSD, family).warning is None


def test_a_site_file_overrides_the_limits_of_a_group_and_may_have_groups_of_its_own():
    site = {
        'groups': {'Ours': ['Zenith hard disk']},
        'metrics': {
            'pending': {
                'hdd': {
                    'warning': '3',
                    'groups': {'Ours': {'warning': '5', 'why': 'tolerated'}},
                }
            }
        },
    }
    limits = Thresholds(GROUPED, [('site.json', site)])
    levels = [
        limits.limit('pending', SDA, HDD, family)[:2]
        for family in ('Acme hard disk', 'Zenith hard disk')
    ]

    assert levels == [('3', '8'), ('5', None)]
