"""What is sound in a file that a site wrote is used; what is not is told."""

import json

import pytest
from conftest import run
from days import HOUR, START, Machine, disk
from shipped import DATABASE

from smart_attributes.errors import DataError
from smart_attributes.knowledge import data_errors, drive_database, site_file

SOUND = {'warning': '55', 'critical': '60'}
WHY = 'accepted by the storage team'


def understood(data, schema='thresholds'):
    return site_file.understood(
        data if isinstance(data, str) else json.dumps(data),
        schema,
        'site.json',
        'thresholds.d/site.json',
    )


CASES = {
    'type of a limit': (
        {'metrics': {'temperature': {'warning': 55, 'critical': '60'}}},
        {'metrics': {'temperature': {'critical': '60'}}},
    ),
    # Half of such a limit would be another limit.
    'part of a limit': (
        {
            'metrics': {
                'temperature': {
                    'warning': {'drive': 'threshold', 'els': None},
                    'critical': '60',
                }
            }
        },
        {'metrics': {'temperature': {'critical': '60'}}},
    ),
    'name of a metric': (
        {'metrics': {'Temperature': SOUND, 'pending': SOUND}},
        {'metrics': {'pending': SOUND}},
    ),
    'key of the file': (
        {'metric': {}, 'metrics': {'pending': SOUND}},
        {'metrics': {'pending': SOUND}},
    ),
    'no list': (
        {'overrides': {}, 'metrics': {'pending': SOUND}},
        {'metrics': {'pending': SOUND}},
    ),
    'limit of an override': (
        {
            'overrides': [
                {
                    'for': {'serial': 'A'},
                    'why': WHY,
                    'metrics': {'pending': {'warning': 5, 'critical': '9'}},
                }
            ]
        },
        {
            'overrides': [
                {
                    'for': {'serial': 'A'},
                    'why': WHY,
                    'metrics': {'pending': {'critical': '9'}},
                }
            ]
        },
    ),
    # Without the key that is not understood, it would hold for more drives than was meant.
    'selector': (
        {
            'overrides': [
                {
                    'for': {'serial': 'A', 'modle': 'B'},
                    'why': WHY,
                    'metrics': {'pending': {'warning': None}},
                }
            ]
        },
        {'overrides': []},
    ),
    # Without its end it would hold for ever.
    'end': (
        {
            'overrides': [
                {
                    'for': {'serial': 'A'},
                    'why': WHY,
                    'until': 'soon',
                    'metrics': {'pending': {'warning': None}},
                },
                {'for': {'serial': 'B'}, 'why': WHY},
            ]
        },
        {'overrides': [{'for': {'serial': 'B'}, 'why': WHY}]},
    ),
    # Reading it could harm the drive, whatever else is wrong.
    'protection': (
        {
            'overrides': [
                {
                    'for': {'device': '/dev/sda'},
                    'why': 'short',
                    'read': False,
                    'metrics': {},
                }
            ]
        },
        {
            'overrides': [
                {
                    'for': {'device': '/dev/sda'},
                    'read': False,
                }
            ]
        },
    ),
    'protection beside an unknown key': (
        {
            'overrides': [
                {
                    'for': {'device': '/dev/sda'},
                    'why': WHY,
                    'skip': ['error'],
                    'modle': 1,
                    'metrics': {'pending': SOUND},
                },
                {
                    'for': {'device': '/dev/sdb'},
                    'why': WHY,
                    'skip': ['error', 'devices'],
                },
            ]
        },
        {
            'overrides': [
                {
                    'for': {'device': '/dev/sda'},
                    'skip': ['error'],
                }
            ]
        },
    ),
    # A drive whose presence is not clear is missed.
    'presence': (
        {'overrides': [{'for': {'serial': 'A'}, 'why': WHY, 'presence': 'required'}]},
        {'overrides': []},
    ),
}


@pytest.mark.parametrize('case', CASES)
def test_the_sound_part_of_limits_is_used_and_the_rest_is_told(case):
    """One slip of the finger must not turn off what else the site decided."""
    written, sound = CASES[case]

    found = understood(written)

    assert found.data == sound
    assert found.mistakes and all(
        mistake.startswith('thresholds.d/site.json: ') for mistake in found.mistakes
    )


def test_a_sound_file_is_used_as_it_is():
    """And nothing is told of it."""
    data = {
        'comment': 'mine',
        'metrics': {'pending': SOUND},
        'overrides': [{'for': {'serial': 'A'}, 'why': WHY}],
    }

    assert understood(data)[1:3] == (data, ())


def test_a_drive_whose_presence_is_optional_is_not_missed(tmp_path):
    """The next one is; validate knows the key and refuses other values."""
    machine = Machine(tmp_path)
    folder = machine.config / 'thresholds.d'
    folder.mkdir()
    file = folder / 'site.json'

    def written(presence: str) -> str:
        override = {'for': {'serial': 'SERIAL02'}, 'why': WHY, 'presence': presence}
        file.write_text(json.dumps({'overrides': [override]}))
        return str(file)

    assert run('validate', written('required')).code == 1
    assert run('validate', written('optional')).code == 0
    machine.holds(sda=disk(), sdb=disk('SERIAL02'), sdc=disk('SERIAL03'))
    machine.check(START, '--scan')
    machine.holds(sda=disk(), sdc=disk('SERIAL03'))
    optional = machine.check(START + HOUR, '--scan')
    machine.holds(sda=disk())
    another = machine.check(START + 2 * HOUR, '--scan')

    assert (optional.code, 'drive-missing' in optional.text) == (0, False)
    assert (another.code, another.text.count('is missing (since')) == (
        1,
        2,
    )  # in the first line, too
    assert another.line_of('sdc').startswith('WARNING')


def test_sound_entries_are_used_beside_one_that_is_not():
    """An entry is one statement: half of it is not used."""
    good, bad = (
        {'family': 'ACME X1', 'kind': 'ssd'},
        {'family': 'ACME Y2', 'kind': 'sdd'},
    )

    found = understood({'entries': [bad, good], 'sets': {'a': {}}}, 'attributes')

    assert found.data == {'entries': [good], 'sets': {}}
    assert len(found.mistakes) == 2


def test_a_metric_that_lacks_what_every_metric_has_is_none():
    """Half a metric would end the check, with or without an entry that uses it."""
    metric = {'meaning': 'how loud it is', 'unit': '', 'worse': 'high'}
    file = understood(
        {
            'metrics': {
                'noise': metric,
                'half': {key: metric[key] for key in ('meaning', 'unit')},
                'wrong': {**metric, 'worse': 'sideways'},
            },
            'entries': [],
        },
        'attributes',
    )

    assert file.data['metrics'] == {'noise': metric}
    assert len(file.mistakes) == 2
    assert (
        'noise'
        in drive_database.SpecDatabase(
            {'entries': []}, [('site.json', file.data)]
        ).metrics
    )


def test_a_metric_keeps_what_every_metric_has_beside_a_mistake():
    """Its concern may be wrong; what it must have is there."""
    metric = {'meaning': 'how loud it is', 'unit': '', 'worse': 'high'}
    file = understood(
        {'metrics': {'noise': {**metric, 'concern': 'ears'}}, 'entries': []},
        'attributes',
    )

    assert file.data['metrics'] == {'noise': metric}


def test_a_file_is_named_as_verdicts_and_as_mistakes_name_it(tmp_path):
    """One by its name, the other by its folder as well, where that is given."""
    path = tmp_path / 'mine.json'
    for data, count in (('{"metrics": {}}', 0), ('{"metrics": 5}', 1), ('{', 1)):
        path.write_text(data)
        file = site_file.load(str(path), 'thresholds', 'thresholds.d/mine.json')

        assert (file.name, file.shown, len(file.mistakes)) == (
            'mine.json',
            'thresholds.d/mine.json',
            count,
        )
        assert file.data == ({} if count else {'metrics': {}})


def test_a_file_without_a_folder_is_named_alone(tmp_path):
    path = tmp_path / 'mine.json'
    path.write_text('{"entries": 5, "sets": {}}')
    file = site_file.load(str(path), 'attributes')

    assert (file.name, file.shown, file.data) == (
        'mine.json',
        'mine.json',
        {'entries': [], 'sets': {}},
    )
    assert file.mistakes[0].startswith('mine.json: entries 5 ')
    path.write_text('{')
    assert site_file.load(str(path), 'attributes').data == {'entries': []}
    with pytest.raises(DataError):
        understood('{')
    assert site_file.understood(
        '{"metrics": {}}', 'thresholds', 'a.json', 'd/a.json'
    ) == (
        'a.json',
        {'metrics': {}},
        (),
        'd/a.json',
    )


def test_two_mistakes_at_one_place_take_it_out_once():
    """Both are reported, by the name that mistakes have for the file."""
    bound = {'drive': 'pnding', 'else': '5 sectors'}
    file = site_file.understood(
        json.dumps({'metrics': {'pending': {'warning': bound}}}),
        'thresholds',
        'site.json',
        'thresholds.d/site.json',
    )
    assert file.shown == 'thresholds.d/site.json'

    rest = site_file.without(
        file, data_errors.of_limits(file.data, DATABASE.metrics, ())
    )

    assert rest.data == {'metrics': {'pending': {}}}
    assert [sentence.split(': ')[0] for sentence in rest.mistakes] == [file.shown] * 2


def test_faults_take_out_what_they_spoil_and_nothing_else():
    """Numbers of items stay right while several are taken out."""
    data = {
        'metrics': {
            'pending': {
                'critical': '9',
                'aged': [{'after': '7d', 'warning': '5 sectors', 'why': WHY}],
            }
        },
        'overrides': [
            {'for': {'model': letter}, 'why': WHY} for letter in ('(', 'A', '[', 'B')
        ],
    }
    file = understood(data)

    found = site_file.without(
        file, data_errors.of_limits(file.data, DATABASE.metrics, ())
    )

    assert found.data['metrics']['pending'] == {
        'critical': '9',
        'aged': [{'after': '7d', 'why': WHY}],
    }
    assert [override['for']['model'] for override in found.data['overrides']] == [
        'A',
        'B',
    ]
    assert len(found.mistakes) == 3


def test_an_entry_goes_with_the_set_that_it_uses_in_whichever_file():
    """Each drive of it would be UNKNOWN."""
    reading = {'endurance_used': {'from': 'no formula'}}
    files = [
        site_file.SiteFile('a.json', {'entries': [{'family': 'A', 'uses': ['s']}]}),
        site_file.SiteFile('b.json', {'sets': {'s': {'by_name': {'X': reading}}}}),
    ]

    left = site_file.faultless_entries({}, files)

    assert [file.data for file in left] == [{'entries': []}, {'sets': {}}]


def test_an_entry_stays_without_the_log_whose_layout_has_a_mistake():
    """The family has limits of its own."""
    field = {'metric': 'pending', 'offset': 511, 'length': 4}
    data = {
        'layouts': {'acme': {'fields': [field]}},
        'entries': [{'family': 'A', 'logs': {'0xC0': 'acme'}}],
    }
    shipped = {'metrics': DATABASE.metrics}
    [left] = site_file.faultless_entries(shipped, [site_file.SiteFile('a.json', data)])

    assert left.data == {'layouts': {}, 'entries': [{'family': 'A', 'logs': {}}]}


MORE = 'thresholds.d/site.json: {} more mistakes; to see all, run: check_smart_attributes validate'


def test_a_person_is_told_ten_mistakes_and_how_many_more_there_are():
    """The output of a check is bounded; validate tells all."""
    files = {
        number: understood({'metrics': {f'metric{each}': 5 for each in range(number)}})
        for number in (10, 11, 30)
    }

    assert [len(file.mistakes) for file in files.values()] == [10, 11, 11]
    assert [files[number].mistakes[-1] for number in (11, 30)] == [
        MORE.format(1),
        MORE.format(20),
    ]
    file = understood({'metrics': {f'metric{number}': SOUND for number in range(12)}})
    rest = site_file.without(
        file, data_errors.of_limits(file.data, DATABASE.metrics, ())
    )
    assert rest.mistakes[10:] == (MORE.format(2),)
