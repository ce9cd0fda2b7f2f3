"""Which limit holds for a drive, and who set it."""

import pytest

from smart_attributes.knowledge import thresholds
from smart_attributes.knowledge.thresholds import (
    CommandLineLimits,
    DriveLimit,
    Limit,
    Thresholds,
    selects,
)
from smart_attributes.model import Device, Identity

DEFAULT = {
    'metrics': {
        'endurance_used': {'warning': '85', 'critical': '95', 'graph': True, 'why': 'rated life'},
        'temperature': {
            'hdd': {'warning': '50'},
            'ssd': {'warning': {'drive': 'temperature_limit', 'minus': 10, 'else': '60'}},
        },
    }
}
SDA = Device('/dev/sda', name='sda')
SSD = Identity(protocol='ATA', model='INTEL SSDSC2BB240G4', serial='EXAMPLE0001', rotation=0)
HDD = Identity(protocol='ATA', model='ST4000NM0035', serial='EXAMPLE0002', rotation=7200)
FAMILY = 'Intel DC S3500'


def override(selector, warning=None, **more):
    return {
        'for': selector,
        'why': 'because we said so',
        'metrics': {'endurance_used': {'warning': warning}},
        **more,
    }


def warning_of(*overrides, command_line=None, metrics=None, today=''):
    site = {'overrides': list(overrides), **({'metrics': metrics} if metrics else {})}
    limits = Thresholds(
        DEFAULT, [('site.json', site)], CommandLineLimits(command_line or {}, {}), today
    )
    limit = limits.limit('endurance_used', SDA, SSD, FAMILY)
    return limit.warning, limit.warning_origin


def test_without_a_site_file_the_default_holds():
    """And says where it comes from."""
    assert Thresholds(DEFAULT).limit('endurance_used', SDA, SSD, FAMILY)[:5] == (
        '85',
        '95',
        'default.json',
        'default.json',
        True,
    )


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
            warning_of(*levels[place:], metrics={'endurance_used': {'warning': '5'}})[0] == expected
        )
    assert warning_of(metrics={'endurance_used': {'warning': '5'}}) == ('5', 'site.json')


def test_levels_are_merged_field_by_field():
    """An override of the warning leaves the critical limit alone."""
    limit = Thresholds(
        DEFAULT, [('site.json', {'overrides': [override({'serial': 'EXAMPLE0001'}, '70')]})]
    ).limit('endurance_used', SDA, SSD, FAMILY)

    assert (limit.warning, limit.critical, limit.critical_origin) == ('70', '95', 'default.json')


def test_null_means_never_and_is_not_the_same_as_left_out():
    """Somebody decided that this metric is only graphed."""
    limit = Thresholds(
        DEFAULT, [('site.json', {'overrides': [override({'serial': 'EXAMPLE0001'}, None)]})]
    ).limit('endurance_used', SDA, SSD, FAMILY)

    assert limit.warning is None and 'warning' in limit.set_fields and limit.is_graphed


def test_where_two_equals_disagree_the_weaker_limit_holds_and_both_are_named():
    """The order in a file must not decide, and the drive is judged all the same."""
    overrides = [override({'model': 'INTEL.*'}, '70'), override({'model': '.*C2BB.*'}, '80')]
    limits = Thresholds(DEFAULT, [('site.json', {'overrides': overrides})])

    assert warning_of(*overrides) == ('85', 'default.json')
    assert limits.disagreements(SDA, SSD, FAMILY) == [
        'endurance_used, warning: site.json: model INTEL.* and site.json: model .*C2BB.* disagree '
        'and neither takes precedence; remove one of them'
    ]
    assert limits.disagreements(SDA, HDD, FAMILY) == []


def test_two_equals_that_agree_are_none():
    """Nothing is wrong with saying it twice."""
    assert (
        warning_of(override({'model': 'INTEL.*'}, '70'), override({'model': '.*C2BB.*'}, '70'))[0]
        == '70'
    )


def test_an_override_ends_with_its_date_and_says_so():
    """Accepted until the end of January is not accepted in February."""
    until = override({'serial': 'EXAMPLE0001'}, '99', until='2027-01-31')

    assert warning_of(until, today='2027-01-31')[0] == '99'
    assert warning_of(until, today='2027-02-01')[0] == '85'
    assert Thresholds(DEFAULT, [('site.json', {'overrides': [until]})], today='2027-02-01').over(
        SDA, SSD, FAMILY
    ) == ['site.json: the override for this serial number ended on 2027-01-31']


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


def test_exceptions_before_reading_need_the_device():
    """A drive that must not be read cannot be asked for its model."""
    site = {
        'overrides': [
            {'for': {'device': '/dev/sda'}, 'why': 'reading it loses data', 'read': False},
            {
                'for': {'device': '/dev/sdb'},
                'why': 'hangs on its self-test log',
                'skip': ['selftest'],
            },
        ]
    }
    limits = Thresholds({}, [('site.json', site)])

    assert limits.exceptions(SDA, Identity(), '').is_read is False
    assert limits.exceptions(Device('/dev/sdb', name='sdb'), Identity(), '').skipped_logs == {
        'selftest'
    }


# --- what a limit says besides its ranges -----------------------------------------------------


def limits_of(*overrides, today='', **site):
    return Thresholds(DEFAULT, [('site.json', {'overrides': list(overrides), **site})], today=today)


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
    )


def test_a_metric_may_be_taken_off_the_graphs():
    """false is an answer, too."""
    limits = limits_of(metrics={'endurance_used': {'graph': False}})

    assert limits.limit('endurance_used', SDA, SSD, FAMILY).is_graphed is False


def test_a_metric_that_nobody_limits_has_the_empty_limit():
    """It is shown, not judged and not graphed."""
    assert Thresholds(DEFAULT).limit('power_cycles', SDA, SSD, FAMILY) == Limit()


def test_a_limit_of_the_command_line_says_so():
    """Both kinds of range, and only those that were given."""
    limits = Thresholds(
        DEFAULT, command_line=CommandLineLimits({'power_cycles': '7'}, {'endurance_used': '50'})
    )

    assert limits.limit('power_cycles', SDA, SSD, '') == Limit(
        '7',
        None,
        'command line',
        '',
        False,
        frozenset(('warning', 'why')),
        'set on the command line',
    )
    assert limits.limit('endurance_used', SDA, SSD, '')[:4] == (
        '85',
        '50',
        'default.json',
        'command line',
    )
    assert limits.limit('endurance_used', SDA, SSD, '').why == 'set on the command line'


def test_a_limit_of_an_override_says_which_and_why():
    """The reason is required, so it is told."""
    limit = limits_of(override({'serial': 'EXAMPLE0001'}, '70')).limit(
        'endurance_used', SDA, SSD, FAMILY
    )

    assert (limit.warning_origin, limit.why) == (
        'site.json: this serial number',
        'because we said so',
    )


def test_two_equals_may_have_different_reasons():
    """Only the limits must agree."""
    twice = (
        override({'model': 'INTEL.*'}, '70'),
        override({'model': '.*C2BB.*'}, '70', why='another reason'),
    )

    assert limits_of(*twice).limit('endurance_used', SDA, SSD, FAMILY).warning == '70'


def test_two_equals_that_disagree_in_a_later_field_are_told_too():
    """Each field is compared, also behind one that only the other has."""
    first = {**override({'model': 'INTEL.*'}), 'metrics': {'endurance_used': {'critical': '90'}}}
    second = {**override({'model': '.*C2BB.*'}), 'metrics': {'endurance_used': {'critical': '91'}}}

    (sentence,) = limits_of(first, second).disagreements(SDA, SSD, FAMILY)

    assert sentence.startswith('endurance_used, critical: ') and sentence.endswith(
        ' disagree and neither takes precedence; remove one of them'
    )


def test_every_disagreement_is_named_and_left_to_weaker_limits():
    """Whether a metric is graphed may be disagreed on as well; three may disagree as well as
    two.
    """
    patterns = ('INTEL.*', '.*C2BB.*', 'INTEL SSD.*')
    limits = limits_of(
        *(
            {
                'for': {'model': pattern},
                'why': 'x',
                'metrics': {'endurance_used': {'warning': str(number), 'graph': number > 1}},
            }
            for number, pattern in enumerate(patterns)
        )
    )
    first, second, third = (f'site.json: model {pattern}' for pattern in patterns)

    assert limits.disagreements(SDA, SSD, FAMILY) == [
        f'endurance_used, {field}: {first} and {other} disagree and neither takes precedence; '
        f'remove one of them'
        for field, other in (('warning', second), ('warning', third), ('graph', third))
    ]
    assert limits.limit('endurance_used', SDA, SSD, FAMILY)[:5] == (
        '85',
        '95',
        'default.json',
        'default.json',
        True,
    )
    assert limits.disagreements(SDA, HDD, '') == []


@pytest.mark.parametrize(
    'selector', [{'device': 'sda'}, {'serial': 'EXAMPLE0001'}, {'family': FAMILY}], ids=str
)
def test_a_disagreement_is_found_by_whatever_names_the_drive(selector):
    """And it is of this drive only."""
    limits = limits_of(override(selector, '70'), override(selector, '80'))

    assert len(limits.disagreements(SDA, SSD, FAMILY)) == 1
    assert limits.disagreements(Device('/dev/sdb', name='sdb'), HDD, 'ACME') == []


def test_a_number_in_a_file_is_a_range_too():
    """JSON writes 85 without quotes as gladly."""
    assert warning_of(override({'serial': 'EXAMPLE0001'}, 70))[0] == '70'


@pytest.mark.parametrize(('bound', 'offset'), [({'plus': 5}, 5), ({'minus': 10}, -10), ({}, 0)])
def test_a_limit_may_stand_above_or_below_what_the_drive_says(bound, offset):
    """A threshold plus five, a temperature minus ten, or the drive's own number."""
    limit = warning_of(
        override({'serial': 'EXAMPLE0001'}, {'drive': 'threshold', 'else': '11:', **bound})
    )[0]

    assert limit == DriveLimit('threshold', offset, '11:')


@pytest.mark.parametrize(('known', 'limit'), [(70, 60), (60, 50), (55, 50), (50, 50), (40, 40)])
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
    [{'device': 'sda'}, {'family': FAMILY}, {'serial': 'EXAMPLE0001'}, {'model': 'INTEL.*'}],
    ids=str,
)
def test_an_override_of_one_drive_is_no_other_s(selector):
    """What was found for one drive must not be kept for the next of its kind."""
    limits = limits_of(override(selector, '70'))
    other = Device('/dev/sdb', name='sdb')

    assert limits.limit('endurance_used', SDA, SSD, FAMILY).warning == '70'
    assert (
        limits.limit(
            'endurance_used', other, SSD._replace(serial='EXAMPLE0009', model='ACME'), 'ACME'
        ).warning
        == '85'
    )


def test_overrides_are_compared_with_a_drive_once_however_many_metrics_it_has(monkeypatch):
    """A site may have one for each of a thousand drives; with a comparison for each metric a
    check took seconds.
    """
    compared = []
    monkeypatch.setattr(
        thresholds, 'selects', lambda *given: compared.append(given) or selects(*given)
    )
    limits = limits_of(*(override({'serial': f'S{number}'}, '70') for number in range(10)))
    for metric in ('endurance_used', 'temperature', 'pending'):
        limits.limit(metric, SDA, SSD, FAMILY)
    limits.exceptions(SDA, SSD, FAMILY)

    assert len(compared) == 10


def test_an_override_for_other_things_leaves_limits_alone():
    """It names attributes, or logs, and no metric."""
    assert (
        limits_of({'for': {'device': 'sda'}, 'why': 'odd', 'attributes': {'246': None}})
        .limit('endurance_used', SDA, SSD, FAMILY)
        .warning
        == '85'
    )


def test_an_override_without_a_date_never_ends():
    """And none ends where no day is asked for."""
    assert warning_of(override({'serial': 'EXAMPLE0001'}, '70'), today='9998-12-31')[0] == '70'
    assert (
        warning_of(override({'serial': 'EXAMPLE0001'}, '70', until='2020-01-01'), today='')[0]
        == '70'
    )


@pytest.mark.parametrize(
    ('selector', 'is_told'),
    [
        ({'serial': 'EXAMPLE0001'}, True),
        ({'device': '/dev/sda'}, True),
        ({'family': FAMILY}, True),
        ({'model': 'INTEL.*'}, True),
        ({'serial': 'EXAMPLE0002'}, False),
        ({'device': '/dev/sdb'}, False),
        ({'family': 'ACME'}, False),
        ({'model': 'ACME'}, False),
    ],
    ids=str,
)
def test_an_override_that_has_ended_is_told_of_its_own_drive_only(selector, is_told):
    """It was about one drive, and so is its end."""
    limits = limits_of(override(selector, '99', until='2027-01-31'), today='2027-02-01')

    assert bool(limits.over(SDA, SSD, FAMILY)) is is_told


def test_an_override_that_still_holds_is_not_told_as_ended():
    """Nothing is wrong with it."""
    held = (
        override({'serial': 'EXAMPLE0001'}, '99', until='2027-01-31'),
        override({'serial': 'EXAMPLE0001'}, '99'),
    )

    assert limits_of(*held, today='2027-01-31').over(SDA, SSD, FAMILY) == []


@pytest.mark.parametrize(
    'selector',
    [{'serial': 'EXAMPLE0001'}, {'device': 'sda'}, {'family': FAMILY}, {'model': 'INTEL.*'}],
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
        }
    ).exceptions(SDA, SSD, FAMILY)

    assert (found.ignored_attributes, found.skipped_logs, found.is_read) == (
        frozenset((5, 246)),
        frozenset(('selftest',)),
        True,
    )


def test_without_a_site_file_there_are_no_exceptions():
    """Everything is read, and nothing ignored."""
    found = Thresholds(DEFAULT).exceptions(SDA, SSD, FAMILY)

    assert (found.ignored_attributes, found.skipped_logs, found.is_read) == (
        frozenset(),
        frozenset(),
        True,
    )


def test_every_metric_with_a_limit_is_listed():
    """Of the command line, of the files, and of their overrides."""
    command_line = CommandLineLimits({'pending': '1'}, {'reallocated': '1'})
    sites = [
        (
            'site.json',
            {
                'overrides': [
                    {'for': {'device': 'sda'}, 'why': 'x', 'metrics': {'crc_errors': {}}},
                    {'for': {}, 'why': 'y'},
                ]
            },
        ),
        ('other.json', {'metrics': {'power_cycles': {}}}),
    ]

    assert Thresholds(DEFAULT, sites, command_line).metrics() == {
        'pending',
        'reallocated',
        'crc_errors',
        'power_cycles',
        'endurance_used',
        'temperature',
    }


@pytest.mark.parametrize('family', ['', 'ACME'])
def test_a_family_selects_its_own_drives_only(family):
    """A drive without an entry has no family, and another family is another."""
    assert not selects({'family': FAMILY}, SDA, SSD, family)
    assert not selects({'family': ''}, SDA, SSD, family)


# --- growth and acknowledgements ------------------------------------------------------------------

RULE, OTHER_RULE = {'within': '24h', 'warning': '0'}, {'within': '7d', 'warning': '5'}


@pytest.mark.parametrize(
    ('written', 'rules'), [(RULE, (RULE,)), ([RULE, OTHER_RULE], (RULE, OTHER_RULE)), (None, ())]
)
def test_a_metric_has_one_rule_of_growth_or_several(written, rules):
    """null takes those of the default away."""
    limit = limits_of(metrics={'endurance_used': {'growth': written}}).limit(
        'endurance_used', SDA, SSD, FAMILY
    )

    assert (limit.growth, limit.growth_origin) == (rules, 'site.json')


def test_two_equals_that_disagree_about_growth_are_named_too():
    """Each field is compared."""
    limits = limits_of(
        *(
            {'for': {'model': pattern}, 'why': 'x', 'metrics': {'endurance_used': {'growth': rule}}}
            for pattern, rule in (('INTEL.*', RULE), ('.*C2BB.*', OTHER_RULE))
        )
    )

    assert [sentence.split(':')[0] for sentence in limits.disagreements(SDA, SSD, FAMILY)] == [
        'endurance_used, growth'
    ]


@pytest.mark.parametrize(
    ('selector', 'own'),
    [
        ({'serial': 'EXAMPLE0001'}, {'warning'}),
        ({'device': 'sda'}, {'warning'}),
        ({'model': 'INTEL.*'}, set()),
        ({'family': FAMILY}, set()),
    ],
    ids=str,
)
def test_serial_and_device_name_one_drive(selector, own):
    """Who sets a limit there has looked at this very drive."""
    assert (
        limits_of(override(selector, '70')).limit('endurance_used', SDA, SSD, FAMILY).own_fields
        & {'warning', 'critical'}
        == own
    )


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


def test_an_acknowledgement_tells_the_file_that_it_stands_in():
    """An admin has to find it."""
    assert (
        limits_of(acknowledging('EXAMPLE0001')).acknowledged(SSD, 'endurance_used').origin
        == 'site.json'
    )


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
    found = limits_of(acknowledging(serial, until=until), today='2027-01-31').acknowledged(
        SSD, metric
    )

    assert (found is not None) is is_found


def test_a_drive_without_serial_number_has_nothing_acknowledged():
    """Many drives tell none, and all of them would be meant."""
    assert (
        limits_of(acknowledging('')).acknowledged(SSD._replace(serial=''), 'endurance_used') is None
    )


BY_KIND = {'ssd': {'warning': '70'}, 'hdd': {'warning': '50'}}


@pytest.mark.parametrize(('identity', 'warning'), [(SSD, '70'), (HDD, '50')])
def test_an_override_has_limits_for_a_kind_of_drive(identity, warning):
    """As the limits of all drives have."""
    limits = limits_of({'for': {'model': '.*'}, 'why': 'x', 'metrics': {'temperature': BY_KIND}})

    assert limits.limit('temperature', SDA, identity, '').warning == warning


def test_overrides_of_another_kind_of_drive_do_not_disagree():
    """Only the limits for this one are compared."""
    for kind, count in (('hdd', 0), ('ssd', 1)):
        metrics = {'INTEL.*': BY_KIND, '.*C2BB.*': {**BY_KIND, kind: {'warning': '40'}}}
        limits = limits_of(
            *(
                {'for': {'model': pattern}, 'why': 'x', 'metrics': {'temperature': metric}}
                for pattern, metric in metrics.items()
            )
        )

        assert len(limits.disagreements(SDA, SSD, FAMILY)) == count


def test_two_reasons_for_one_limit_are_no_disagreement():
    """Two admins may want the same for different reasons."""
    limits = limits_of(
        *(
            {'for': {'model': pattern}, 'why': why, 'metrics': {'temperature': {'warning': '70'}}}
            for pattern, why in (('INTEL.*', 'a hot room'), ('.*C2BB.*', 'a hot shelf'))
        )
    )

    assert limits.disagreements(SDA, SSD, FAMILY) == []
    assert limits.limit('temperature', SDA, SSD, FAMILY).why in ('a hot room', 'a hot shelf')


def test_an_override_that_ended_has_a_code():
    limits = limits_of(
        override({'serial': 'EXAMPLE0001'}, '70', until='2027-01-30'), today='2027-01-31'
    )

    assert [sentence.code for sentence in limits.over(SDA, SSD, FAMILY)] == ['override-ended']


# --- groups of families ---------------------------------------------------------------------------

GROUPED = {
    'groups': {'Acme': ['Acme hard disk', 'OEM disk by Acme'], 'Zenith': ['Zenith hard disk']},
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

        assert ((limit.warning, limit.critical), limit.why, limit.is_graphed) == (levels, why, True)
    assert limits.limit('pending', SDA, SSD, family).warning is None


def test_a_site_file_overrides_the_limits_of_a_group_and_may_have_groups_of_its_own():
    site = {
        'groups': {'Ours': ['Zenith hard disk']},
        'metrics': {
            'pending': {
                'hdd': {'warning': '3', 'groups': {'Ours': {'warning': '5', 'why': 'tolerated'}}}
            }
        },
    }
    limits = Thresholds(GROUPED, [('site.json', site)])
    levels = [
        limits.limit('pending', SDA, HDD, family)[:2]
        for family in ('Acme hard disk', 'Zenith hard disk')
    ]

    assert levels == [('3', '8'), ('5', None)]
