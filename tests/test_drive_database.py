"""Which entry speaks for a drive, and what it says."""

import itertools
import math

import pytest
from shipped import DATABASE
from small_database import database, spec_database

from smart_attributes.knowledge import data_file, decode, drive_database
from smart_attributes.model import Identity, State

SSD = Identity(protocol='ATA', model='ACME X1-240', firmware='1.0', rotation=0)


def family(*entries, identity=SSD, attributes=(9, 12, 233), local=()):
    """Return the family that wins, of these entries alone."""
    data = {
        **database(),
        'entries': [{'attributes': {}, **entry} for entry in entries],
        'advisories': [],
    }
    additions = (
        [('site.json', {'entries': [{'attributes': {}, **entry} for entry in local]})]
        if local
        else []
    )
    return (
        drive_database.SpecDatabase(data, additions)
        .identify(identity, attributes)
        .family
    )


MODELS = {'models': ['ACME X1-.*']}


# --- which entry wins ---------------------------------------------------------------


@pytest.mark.parametrize(
    'condition',
    [
        {'firmware': '1[.]0'},
        {'kind': 'ssd'},
        {'has': [233]},
        {'lacks': [5]},
        {'first': [9, 12]},
        {'only': [9, 12, 233, 1]},
    ],
)
def test_one_more_condition_wins_in_either_order(condition):
    """Order never matters: what says more about a drive knows it better."""
    plain, special = (
        {'family': 'plain', **MODELS},
        {'family': 'special', **MODELS, **condition},
    )

    assert [family(*order) for order in itertools.permutations((plain, special))] == [
        'special',
        'special',
    ]


@pytest.mark.parametrize(
    'condition',
    [
        {'firmware': '1'},
        {'firmware': '1.0.+'},
        {'kind': 'hdd'},
        {'has': [233, 5]},
        {'lacks': [233]},
        {'first': [12]},
        {'first': [9, 12, 233, 1]},
        {'only': [9, 12]},
        {'has': [[1], [5]]},
        {'models': ['ACME']},
        {'models': ['X1-240']},
    ],
)
def test_a_condition_that_does_not_hold_keeps_an_entry_out(condition):
    """Every condition must hold, and patterns match the whole name."""
    assert family({'family': 'special', **MODELS, **condition}) is None


@pytest.mark.parametrize(
    'guard',
    [
        {'has': [[1], [233]]},
        {'lacks': [[9], [1]]},
        {'first': [[1], [9]]},
        {'only': [[1], [9, 12, 233]]},
    ],
)
def test_of_several_alternatives_of_a_guard_one_must_hold(guard):
    """Models sold under one name come with several controllers."""
    assert family({'family': 'special', **MODELS, **guard}) == 'special'


def test_an_entry_for_the_model_beats_a_guess_however_well_guarded():
    """A generic entry knows a controller, not this drive."""
    guess = {
        'family': 'guess',
        'generic': True,
        'kind': 'ssd',
        'has': [233],
        'lacks': [1],
        'first': [9],
        'only': [9, 12, 233],
    }

    assert family(guess, {'family': 'known', **MODELS}) == 'known'
    assert (
        family(guess, {'family': 'last resort', 'kind': 'ssd', 'fallback': True})
        == 'guess'
    )


def test_a_drive_that_only_the_fallback_knows_has_no_entry():
    """It is read, and still said aloud to be unknown."""
    spec = spec_database().identify(SSD._replace(model='WHO'), [12])

    assert spec.family is None
    assert {item.metric for item in spec.readings} == {
        'power_on_time',
        'power_cycles',
        'temperature',
    }


@pytest.mark.parametrize(
    ('firmware', 'attributes', 'untrusted'),
    [
        ('F1', [177], ['endurance_used']),
        ('F1', [9], []),
        ('F1', [], ['endurance_used']),
        ('F2', [], []),
    ],
)
def test_without_attributes_a_statistic_is_untrusted_if_it_may_be_wrong(
    firmware, attributes, untrusted
):
    """A report whose attribute table was lost must not alert for a constant."""
    entry = {
        'family': 'constant',
        'models': ['OTHER.*'],
        'firmware': 'F1',
        'has': [177],
        'untrusted_statistics': ['endurance_used'],
    }
    identity = SSD._replace(model='OTHER 1', firmware=firmware)

    spec = spec_database({'entries': [entry]}).identify(identity, attributes)

    assert list(spec.untrusted_statistics) == untrusted


# --- additions of a site --------------------------------------------------------------


def test_a_local_entry_beats_a_stronger_shipped_one():
    """Who runs the drives has the last word."""
    shipped = {'family': 'shipped', **MODELS, 'kind': 'ssd', 'has': [233]}

    assert family(shipped, local=[{'family': 'local', **MODELS}]) == 'local'
    assert (
        family(shipped, local=[{'family': 'local', 'generic': True, 'kind': 'ssd'}])
        == 'local'
    )


def test_a_local_fallback_replaces_the_shipped_one_and_nothing_else():
    """It is the last resort of the site, no more."""
    mine = {
        'family': 'mine',
        'kind': 'ssd',
        'fallback': True,
        'attributes': {'12': {'name': 'My_Name'}},
    }
    database_with_mine = spec_database({'entries': [mine]})

    assert (
        database_with_mine.identify(SSD._replace(model='WHO'), [12]).names[12]
        == 'My_Name'
    )
    assert database_with_mine.identify(SSD, [9]).family == 'ACME X1'


def test_a_local_file_may_add_metrics_and_sets():
    """They are used by its own entries."""
    local = {
        'metrics': {
            'flavour': {'meaning': 'what it tastes like', 'unit': '', 'worse': 'none'}
        },
        'sets': {
            'taste': {
                'source': 'measured on one',
                'attributes': {
                    '7': {'name': 'Taste', 'readings': {'flavour': {'from': 'raw'}}}
                },
            }
        },
        'entries': [{'family': 'mine', **MODELS, 'uses': ['taste']}],
    }

    assert spec_database(local).identify(SSD, [7]).readings[0].metric == 'flavour'


# --- what an entry says ------------------------------------------------------------------


def test_own_attributes_come_before_those_of_sets_and_null_removes_one():
    """The first valid reading of a metric counts, so the order has a meaning."""
    entry = {
        'family': 'mine',
        **MODELS,
        'attributes': {
            '194': None,
            '190': {
                'name': 'Airflow',
                'readings': {'temperature': {'from': 'raw byte 0'}},
            },
            '12': {'name': 'Own_Name', 'readings': {'power_cycles': {'from': 'raw'}}},
        },
    }

    spec = spec_database({'entries': [entry]}).identify(SSD, [9])

    assert [(item.attribute, item.metric) for item in spec.readings] == [
        (190, 'temperature'),
        (12, 'power_cycles'),
        (9, 'power_on_time'),
    ]
    assert spec.names == {190: 'Airflow', 12: 'Own_Name', 9: 'Power_On_Hours'}


def test_what_all_drives_have_in_common_comes_last_and_an_entry_may_do_without():
    """Some controllers count hours elsewhere; nobody should have to write the rule in each of
    200 entries.
    """
    data = {
        'sets': {'taste': {'attributes': {'9': {'name': 'Own_Nine'}}}},
        'entries': [{'family': 'mine', **MODELS, 'uses': ['taste']}],
    }

    assert spec_database(data).identify(SSD, [9]).names == {
        9: 'Own_Nine',
        12: 'Power_Cycle_Count',
        194: 'Temperature_Celsius',
    }
    data['entries'][0]['uses_common'] = False
    assert spec_database(data).identify(SSD, [9]).names == {9: 'Own_Nine'}


def test_the_units_of_the_schema_are_those_that_can_be_converted():
    """A unit that one knows and the other does not would be found only on the drive."""
    assert set(data_file.schema('attributes')['definitions']['unit']['enum']) == set(
        decode.UNITS
    )


# --- what an entry, a metric and an advisory hold, whole ----------------------------------------


def only(entry):
    """Return a database of one entry, and what it says about the drive."""
    data = {**database(), 'entries': [entry], 'advisories': []}
    return drive_database.SpecDatabase(data).identify(SSD, [9])


@pytest.mark.parametrize(
    'data, date', [({'date': '2026-01-31'}, '2026-01-31'), ({}, '?')]
)
def test_a_database_tells_its_date(data, date):
    """-v prints it; a site's copy may have lost it."""
    shipped = {key: value for key, value in database().items() if key != 'date'}

    assert drive_database.SpecDatabase({**shipped, **data}).date == date


def test_an_entry_may_distrust_the_clock_and_name_further_logs():
    plain, special = (
        only({'family': 'mine', **MODELS, 'attributes': {}}),
        only(
            {
                'family': 'mine',
                **MODELS,
                'attributes': {},
                'clock': 'stops in standby',
                'farm': True,
                'logs': {'0xC0': 'ocp'},
            }
        ),
    )

    assert (plain.is_clock_trusted, plain.keeps_farm, plain.log) == (True, False, None)
    assert (special.is_clock_trusted, special.keeps_farm, special.log) == (
        False,
        True,
        ('0xC0', 'ocp'),
    )


def test_a_warranted_amount_is_that_of_the_very_model():
    """One family has many sizes; the document goes with the number."""
    entry = {
        'family': 'mine',
        **MODELS,
        'attributes': {},
        'rated_written': {
            'ACME X1-480': {'bytes': 480, 'source': 'manual 480'},
            'ACME X1-240': {'bytes': 240, 'source': 'manual 240'},
        },
    }

    assert only(entry).rated_written == (240, 'manual 240')
    assert (
        only({**entry, 'models': ['ACME X1-.*'], 'rated_written': {}}).rated_written
        is None
    )
    del entry['rated_written']
    assert only(entry).rated_written is None


def test_a_warranted_amount_does_not_depend_on_the_entry_that_reads_the_drive():
    """The firmware of another brand has its own entry; the vendor's figure is one row, in one of
    them.
    """
    named = {
        'family': 'mine',
        **MODELS,
        'rated_written': {'ACME X1-240': {'bytes': 240, 'source': 'manual'}},
    }

    data = {
        **database(),
        'entries': [
            {'family': 'other brand', **MODELS, 'firmware': '.*', 'has': [9]},
            named,
        ],
    }
    spec = drive_database.SpecDatabase(data).identify(SSD, (9,))

    assert (spec.family, spec.rated_written) == ('other brand', (240, 'manual'))


def test_a_metric_has_all_that_attributes_json_says_of_it():
    """Units, direction, plausible values, and the ends of its graph."""
    data = database()
    data['metrics']['flavour'] = {
        'meaning': 'its taste',
        'unit': '%',
        'worse': 'low',
        'valid': [1, 99],
        'verdict': True,
        'minimum': 2,
        'maximum': 98,
        'concern': 'wear',
        'remedy': 'cable',
        'perfdata': {'order': 3, 'with': 'plain'},
        'not': [50, 51],
    }
    data['metrics']['plain'] = {'meaning': 'nothing', 'unit': '', 'worse': 'none'}

    metrics = drive_database.SpecDatabase(data).metrics

    assert metrics['flavour'] == drive_database.Metric(
        'flavour',
        'its taste',
        '%',
        'low',
        (1, 99),
        True,
        2,
        98,
        'wear',
        3,
        'cable',
        'plain',
        (50, 51),
    )
    assert metrics['plain'] == drive_database.Metric(
        'plain', 'nothing', '', 'none', (0, None), False, None, None
    )


def test_a_reading_has_all_that_its_entry_says_of_it():
    """And what is left out has no effect."""
    readings = {
        'host_written': [
            {'from': 'raw', 'unit': '32MiB', 'valid': [1, 9], 'not': [5], 'ceiling': 8},
            {'from': 'value'},
        ]
    }
    some = {'name': 'Some', 'readings': readings}
    first, second, *_ = only(
        {'family': 'mine', **MODELS, 'attributes': {'241': some}}
    ).readings
    trap = only(
        {'family': 'mine', **MODELS, 'attributes': {'241': {**some, 'trap': True}}}
    )
    assert trap.readings[0].is_trap

    assert first == drive_database.ReadingSpec(
        'host_written',
        241,
        decode.parse('raw'),
        (1, 9),
        (5,),
        '32MiB',
        8,
        (),
        False,
        'raw 32MiB',
    )
    assert second == drive_database.ReadingSpec(
        'host_written',
        241,
        decode.parse('value'),
        (None, None),
        (),
        '',
        math.inf,
        (),
        False,
        'value',
    )


@pytest.mark.parametrize('firmware, count', [('1.0', 1), ('1.1', 0), ('11.0', 0)])
def test_an_advisory_concerns_the_revisions_that_it_names(firmware, count):
    """Mended drives must not be called defective."""
    assert len(spec_database().advisories(SSD._replace(firmware=firmware))) == count


ADVISORY = {
    'id': 'acme-1',
    'models': ['ACME X1-.*'],
    'effect': 'it stops',
    'action': 'update it',
    'source': 'erratum 3',
}


@pytest.mark.parametrize(
    'more, expected',
    [
        ({}, ('', None, State.WARNING)),
        (
            {'fixed_in': '1.1', 'hour': 1000, 'state': 'critical'},
            ('1.1', 1000, State.CRITICAL),
        ),
        ({'state': 'ok'}, ('', None, State.OK)),
    ],
)
def test_an_advisory_has_all_that_attributes_json_says_of_it(more, expected):
    """Without a firmware pattern it concerns every revision, also none."""
    (found,) = drive_database.SpecDatabase(
        {
            **database(),
            'advisories': [{**ADVISORY, 'too_late': ['media_errors'], **more}],
        }
    ).advisories(SSD._replace(firmware=''))

    assert found == drive_database.Advisory(
        'acme-1',
        'it stops',
        'update it',
        *expected,
        'erratum 3',
        too_late=('media_errors',),
    )


def test_the_fallback_is_for_its_own_kind():
    """A solid state drive's guess would misread a hard disk."""
    data = database()
    data['entries'].append({**data['entries'][0], 'family': 'ACME X1 again'})
    data['entries'][3] = {**data['entries'][3], 'kind': 'hdd'}

    assert (
        drive_database.SpecDatabase(data).identify(SSD, [9])._replace(notes=())
        == drive_database.NO_SPEC
    )


@pytest.mark.parametrize(
    'guard, is_held',
    [({'has': [9]}, True), ({'has': [99]}, False), ({'models': ['OTHER.*']}, False)],
)
def test_the_fallback_has_conditions_like_any_entry(guard, is_held):
    """Each of them is asked with the drive's attributes."""
    data = database()
    data['entries'].append({**data['entries'][0], 'family': 'ACME X1 again'})
    data['entries'][3] = {**data['entries'][3], **guard}

    assert (
        bool(drive_database.SpecDatabase(data).identify(SSD, [9]).readings) is is_held
    )


@pytest.mark.parametrize(
    'entry, held',
    [
        ({**MODELS, 'kind': 'ssd'}, True),
        ({'models': ['ACME X2'], 'kind': 'ssd'}, False),
        ({**MODELS, 'has': [5]}, False),
        ({'has': [9]}, True),
    ],
)
def test_an_entry_matches_where_model_and_conditions_hold(entry, held):
    """validate asks it for one entry alone."""
    assert drive_database.matches(entry, SSD, [9]) is held


# --- entries that contradict each other ----------------------------------------------------------


def claiming(*names):
    return [{'family': name, **MODELS, 'attributes': {}} for name in names]


DISPUTE = '{}: ACME X1-240 is claimed by two entries, one and two; narrow one pattern'


@pytest.mark.parametrize(
    'names, is_disputed',
    [(('one',), False), (('one', 'two'), True), (('one', 'two', 'three'), True)],
)
def test_a_dispute_is_between_entries_of_a_site(names, is_disputed):
    """Who made the mistake reads it; meanwhile the shipped entries speak."""
    disputed = spec_database({'entries': claiming(*names)})

    assert disputed.dispute(SSD, [9]) == (
        DISPUTE.format('site1.json') if is_disputed else ''
    )
    assert disputed.dispute(SSD._replace(model='WHO'), [9]) == ''
    assert disputed.identify(SSD, [9]).family == ('ACME X1' if is_disputed else 'one')


def test_a_mistake_of_ours_is_no_dispute_of_a_site():
    """It is a note on the drive, which the fallback reads, whatever a site says about others."""
    ours = database()
    data = {**ours, 'entries': [*claiming('one', 'two'), ours['entries'][3]]}
    other = (
        'site.json',
        {'entries': [{'family': 'mine', 'models': ['OTHER.*'], 'attributes': {}}]},
    )

    for sites in ([], [other]):
        known = drive_database.SpecDatabase(data, sites)
        spec = known.identify(SSD, [9])
        assert (
            known.dispute(SSD, [9])
            == known.dispute(SSD._replace(model='NOBODY'), [9])
            == ''
        )
        assert spec.notes == (DISPUTE.format('attributes.json'),)
        assert (spec.family, [item.metric for item in spec.readings]) == (
            None,
            ['power_on_time', 'power_cycles', 'temperature'],
        )
    disk = Identity(protocol='ATA', model='WHO', rotation=7200)
    assert known.identify(disk, [12]) == drive_database.NO_SPEC


def test_while_entries_of_a_site_contradict_each_other_ours_are_asked_with_all_that_is_known():
    """What guards our entries guards them then, too."""
    data = {
        **database(),
        'entries': [
            {'family': 'guarded', **MODELS, 'has': [233], 'attributes': {}},
            {'family': 'plain', **MODELS, 'attributes': {}},
        ],
    }
    disputed = drive_database.SpecDatabase(
        data, [('site.json', {'entries': claiming('one', 'two')})]
    )

    assert disputed.identify(SSD, [9, 233]).family == 'guarded'
    assert disputed.identify(SSD, [9]).family == 'plain'


def test_what_the_program_itself_says_of_a_drive_may_have_limits_without_a_unit():
    """A site may want no warning of a model that nobody knows."""
    units = DATABASE.units

    assert {units[metric] for metric in ('unknown_model', 'firmware_advisory')} == {''}
    assert units['endurance_used'] == '%'
