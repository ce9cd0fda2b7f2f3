"""migrate: limits of version 1.6 become limits of this one, once, and nothing is lost in
silence.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from conftest import Result, drive, drive_path, run
from fake_smartctl import FakeSmartctl
from test_v1_6_files import LOG, MODEL, SHIPPED_NVME, database, entry, users

from smart_attributes.model import Device
from smart_attributes.reading.smartctl_calls import read_arguments
from smart_attributes.v1_6 import migrate


def migrated(folder: Path, *words: str) -> Result:
    return run('migrate', *words, '--config', str(folder / 'etc'))


def made(folder: Path, name: str = 'old') -> dict[str, Any]:
    """Return the data of the file that was written, without the checksums of the old files."""
    data = json.loads((folder / f'etc/thresholds.d/{name}.json').read_text())
    data.pop('migrated')
    return data


def lost(result: Result) -> list[str]:
    return re.findall('^not converted: (.*)$', result.text, re.MULTILINE)


@pytest.fixture
def intel(fake) -> FakeSmartctl:
    """A stand-in with a healthy drive."""
    fake.answers(read_arguments('/dev/sda'), drive('intel-s3500-healthy'))
    return fake


def test_limits_of_a_known_model_move_to_metrics(tmp_path):
    """attributes.json knows what its attributes mean; the limit is converted by the same formula.

    All of it is said.
    """
    old = database(
        tmp_path / 'old.json',
        Mine=entry(
            {
                '233': ['20:', '10:'],
                '5': ['3', '10'],
                '1024': ['0', '10'],
                '1025': ['0', '0'],
            }
        ),
    )

    result = migrated(tmp_path, old)

    assert result.code == 0
    assert made(tmp_path) == {
        'overrides': [
            {
                'for': {'model': MODEL},
                'why': 'migrated from version 1.6, old.json, Mine',
                'metrics': {
                    'reallocated': {'warning': '3', 'critical': '10'},
                    'endurance_used': {'warning': '80', 'critical': '90'},
                    'error_log_count': {'warning': '0', 'critical': '10'},
                },
            }
        ]
    }
    assert result.text.splitlines() == [
        f'written: {tmp_path}/etc/thresholds.d/old.json',
        f'converted: old.json, Mine: "20:" and "10:" of ID 233 become the limits of endurance_used for {MODEL}: '
        f'warning 80, critical 90',
        f'converted: old.json, Mine: "3" and "10" of ID 5 become the limits of reallocated for {MODEL}: '
        f'warning 3, critical 10',
        f'converted: old.json, Mine: "0" and "10" of ID 1024 become the limits of error_log_count for {MODEL}: '
        f'warning 0, critical 10',
        f'The converted limits are in force for every check with the configuration directory '
        f'{tmp_path}/etc.',
        'To see the limits of a drive and who set them, run: check_smart_attributes explain -v -d '
        'ADDRESS',
        '"Perfs" lists are not converted, because this version has other labels; -ap prints all '
        'performance data.',
    ]


def test_what_was_migrated_judges_as_it_did(intel, tmp_path):
    """The proof of a migration: the same drive, the same state, without the old file; explain -v
    shows who set it.
    """
    old = database(tmp_path / 'old.json', Mine=entry({'233': ['90:', '80:']}))
    assert migrated(tmp_path, old).code == 0
    there = [
        '-p',
        intel.path,
        '--nosudo',
        '-d',
        '/dev/sda',
        '--config',
        str(tmp_path / 'etc'),
    ]

    assert run(*there).first_line.startswith(
        'SMART WARNING - sda: used write endurance 12 % '
    )
    assert 'old.json, Mine' in ' '.join(run('explain', '-v', *there).text.split())


def test_entries_that_were_shipped_are_not_migrated(tmp_path):
    """Nobody decided about them; attributes.json knows these drives better."""
    old = database(
        tmp_path / 'old.json',
        Generic_NVMe=entry(SHIPPED_NVME, items=LOG),
        Mine=entry({'5': ['3', '10']}),
    )

    result = migrated(tmp_path, old)

    assert result.code == 0 and 'converted: old.json: 1 of 2 ' in result.text
    assert [each['for'] for each in made(tmp_path)['overrides']] == [{'model': MODEL}]


def test_changed_limits_of_nvme_move_to_all_nvme_drives(tmp_path):
    """In base units: minutes become seconds."""
    old = database(
        tmp_path / 'old.json',
        Generic_NVMe=entry(
            {'4': ['70', '90'], '15': ['10', '20'], '3': ['1', '2']}, items=LOG
        ),
        Generic_SAS=entry(
            {'0': ['5', '10'], '7': ['1', '2'], '14': ['1', '2']}, items=LOG
        ),
    )

    result = migrated(tmp_path, old)

    assert {
        (metric, kind): limits['warning']
        for metric, kinds in made(tmp_path)['metrics'].items()
        for kind, limits in kinds.items()
    } == {
        ('endurance_used', 'nvme'): '70',
        ('over_temperature_time', 'nvme'): '600',
        ('reallocated', 'sas'): '5',
        ('reported_uncorrect', 'sas'): '1',
    }
    [line] = lost(result)
    assert result.code == 1 and line.startswith(
        'old.json, Generic NVMe: ID 3 (["1", "2"]) '
    )


def test_a_model_without_an_entry_has_the_meanings_that_all_drives_share(tmp_path):
    """What the others mean is in no old database."""
    items = {194: 'RAW_VALUE', 230: 'RAW_VALUE'}
    limits = {'194': ['40', '50'], '230': ['85', '95']}
    old = database(
        tmp_path / 'old.json', ACME=entry(limits, models=['X9-240GB'], items=items)
    )

    result = migrated(tmp_path, old)

    (override,) = made(tmp_path)['overrides']
    assert (override['for'], override['metrics']) == (
        {'model': '(?:.*[ _])?X9-240GB'},
        {'temperature': {'warning': '40', 'critical': '50'}},
    )
    assert [
        line.endswith(': check_smart_attributes draft') for line in lost(result)
    ] == [True]


REFUSED = [
    (
        {'175': ['100:', '100:']},
        [MODEL],
        'attributes.json does not say what this number means',
    ),
    (
        {'12': ['1', '2']},
        [MODEL],
        '"ID#" does not list this number, so version 1.6 never evaluated it',
    ),
    ({'5': ['1', 'x']}, [MODEL], '"x" is not a Nagios range'),
    ({'5': ['1']}, [MODEL], 'it is not a list of two limits'),
    ({'5': '1'}, [MODEL], 'it is not a list of two limits'),
    ({'x': ['1', '2']}, [MODEL], 'not an attribute number'),
    (
        {'5': ['1', '2', 'r8']},
        [MODEL],
        'this version cannot shift the bits of a raw value',
    ),
    ({'5': ['0:', '0']}, [MODEL], '"0:" gives every value the same state'),
    (
        {'5': ['2', '1']},
        [MODEL],
        'as reallocated, critical 1 is reached before warning 2',
    ),
    (
        {'5': ['2:', '1:']},
        [MODEL],
        '"2:" alerts below 2, but high values of this metric are bad',
    ),
    (
        {'5': ['1', '2']},
        ['Western Digital Red'],
        '"Western Digital Red" is not one model',
    ),
    ({'5': ['1', '2']}, ['INTEL SSD[0-9]+'], '"INTEL SSD[0-9]+" is not one model'),
    ({'5': ['1', '2']}, [], '"Device" lists no models'),
    (
        {'194': ['40', '50'], '190': ['30', '40']},
        [MODEL],
        'temperature already has limits from another attribute ID',
    ),
    ({'1025': ['1', '1']}, [MODEL], 'a drive that reports FAILED is critical'),
]


def test_what_cannot_be_converted_is_a_sentence(tmp_path):
    """Whoever removes the old file must know what ends with it.

    The old file counts as migrated all the same.
    """
    columns = {
        5: 'RAW_VALUE',
        175: 'VALUE',
        190: 'RAW_VALUE',
        194: 'RAW_VALUE',
        1025: 'VALUE',
    }
    entries = {
        f'E{place}': entry(limits, models=models, items=columns)
        for place, (limits, models, _) in enumerate(REFUSED)
    }
    old = database(tmp_path / 'old.json', **entries)

    result = migrated(tmp_path, old)
    beside = run(
        '--report',
        drive_path('intel-worn'),
        '-dbj',
        old,
        '--config',
        str(tmp_path / 'etc'),
    )

    assert result.code == 1 and len(lost(result)) == len(REFUSED)
    for line, (place, (_, _, words)) in zip(lost(result), enumerate(REFUSED)):
        assert line.startswith(f'old.json, E{place}: ') and words in line
    assert 'limits-not-migrated' not in beside.text


def test_a_user_configuration_is_understood_by_reading_its_drives(intel, tmp_path):
    """The same attribute means something else on another drive; a slot has got another address."""
    intel.answers(
        read_arguments('/dev/sda', 'megaraid,6'),
        drive('intel-s3500-healthy').replace(b'EXAMPLE0001', b'EXAMPLE0002'),
    )
    limits = {'Threshs': {'233': ['35:', '30:'], '250': ['1', '2']}}
    config = users(
        tmp_path / 'old.json', {'/dev/sda': limits, '/dev/megaraid6': limits}
    )
    there = ['-p', intel.path, '--nosudo']
    addresses = ['/dev/sda', 'megaraid,6@/dev/sda']

    alone = migrated(tmp_path / 'a', config, *there)
    named = migrated(tmp_path, config, *there, '-d', addresses[0], '-d', addresses[1])

    assert [each['for'] for each in made(tmp_path / 'a')['overrides']] == [
        {'device': '/dev/sda'}
    ]
    assert lost(alone)[1].startswith('old.json, /dev/megaraid6: ')
    assert [
        (each['for']['device'], each['metrics']) for each in made(tmp_path)['overrides']
    ] == [
        (address, {'endurance_used': {'warning': '65', 'critical': '70'}})
        for address in addresses
    ]
    assert [line.split(' (')[0] for line in lost(named)] == [
        'old.json, /dev/sda: ID 250',
        'old.json, /dev/megaraid6: ID 250',
    ]


@pytest.mark.parametrize(
    ('path', 'kind', 'key'),
    [
        ('/dev/bus/0', 'megaraid,6', '/dev/megaraid6'),
        ('/dev/bus/0', 'sat+megaraid,6', '/dev/megaraid6'),
        ('/dev/sg0', 'areca,1/2', '/dev/areca_1_2'),
        ('/dev/sg2', 'cciss,1', '/dev/cciss_1_sg2'),
        ('/dev/sg2', 'sat', '/dev/sg2'),
        ('/dev/disk/by-id/ata-X', '', '/dev/disk/by-id/ata-X'),
    ],
)
def test_a_drive_has_the_key_of_version_1_6(path, kind, key):
    assert key in migrate.keys_of(Device(path, kind))


def test_a_link_has_the_key_of_its_target_and_a_slot_not_that_of_its_path(tmp_path):
    (tmp_path / 'link').symlink_to('disk')

    assert f'{tmp_path}/disk' in migrate.keys_of(Device(f'{tmp_path}/link'))
    assert '/dev/sda' not in migrate.keys_of(
        Device('/dev/sda', 'megaraid,6', name='sda')
    )


def test_both_files_of_a_check_become_one(intel, tmp_path):
    """Each of them counts as migrated."""
    old = database(tmp_path / 'old.json', Mine=entry({'5': ['1', '2']}))
    config = users(tmp_path / 'user.json', {'/dev/sda': {'Threshs': {'5': ['3', '4']}}})
    there = ['-p', intel.path, '--nosudo', '-d', '/dev/sda']

    assert migrated(tmp_path, old, config, *there).code == 0
    assert [each['for'] for each in made(tmp_path)['overrides']] == [
        {'model': MODEL},
        {'device': '/dev/sda'},
    ]
    assert (
        run(
            *there, '-dbj', old, '-ucfgj', config, '--config', str(tmp_path / 'etc')
        ).code
        == 0
    )


def test_a_file_is_written_once_and_never_overwritten(tmp_path):
    """It may have been edited since."""
    old = database(tmp_path / 'old.json', Mine=entry({'5': ['3', '10']}))

    assert migrated(tmp_path, old).code == 0
    second = migrated(tmp_path, old)
    assert second.code == 3 and 'File exists; ' in second.first_line


@pytest.mark.parametrize(
    ('content', 'words'),
    [
        ('{"entries": []}', 'no "Devices"'),
        ('{', 'line 1'),
        (None, 'specify a readable'),
    ],
)
def test_a_file_of_another_kind_is_refused(tmp_path, content, words):
    """One sentence, no traceback."""
    if content is not None:
        (tmp_path / 'old.json').write_text(content)

    result = migrated(tmp_path, str(tmp_path / 'old.json'))

    assert result.code == 3 and words in result.first_line
    assert not (tmp_path / 'etc').exists()


def test_hostile_names_stay_text(tmp_path):
    """A key of a file may be anything."""
    old = database(
        tmp_path / 'old.json',
        **{
            'EVIL\x1b[2J|': entry(
                {'5': ['1', '2'], '\x1b[2J': 5},
                models=['ACME\x1b[2J 1234', 'ACME\x1b 1234', MODEL],
            )
        },
    )

    result = migrated(tmp_path, old)

    assert '\x1b' not in result.text
    assert made(tmp_path)['overrides'][-1]['metrics'] == {
        'reallocated': {'warning': '1', 'critical': '2'}
    }
