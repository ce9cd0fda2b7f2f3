"""migrate: files of version 1.6 become files of this one, and nothing is lost in silence."""
from __future__ import annotations

import json
import os

import pytest
from conftest import Result, drive, run
from fake_smartctl import FakeSmartctl
from test_v1_6_files import LOG, MODEL, SHIPPED_NVME, database, entry, users

from smart_attributes.reading.smartctl_calls import read_arguments


def files_of(result: Result) -> dict:
    """Return the files that were printed: name -> data."""
    found, _, _ = result.text.partition('\ncarried over: ')
    found, _, _ = found.partition('\nnot carried over: ')
    parts = found.split('\n}')
    return {part.strip().partition(':\n')[0]: json.loads(part.partition(':\n')[2] + '\n}') for part in parts
            if ':\n' in part}


@pytest.fixture
def intel(fake) -> FakeSmartctl:
    """A stand-in with a healthy drive."""
    fake.answers(read_arguments('/dev/sda'), drive('intel-s3500-healthy'))
    return fake


def test_limits_of_a_known_model_move_to_metrics(tmp_path):
    """attributes.json knows what its attributes mean; the limit is converted by the same formula."""
    old = database(tmp_path / 'old.json',
                   Mine=entry({'233': ['20:', '10:'], '5': ['3', '10'], '1024': ['0', '10'], '1025': ['0', '0']}))

    result = run('migrate', old)

    assert result.code == 0
    assert files_of(result) == {'thresholds.d/old.json': {'overrides': [{
        'for': {'model': MODEL}, 'why': 'carried over from version 1.6, old.json, Mine', 'metrics': {
            'reallocated': {'warning': '3', 'critical': '10'}, 'endurance_used': {'warning': '80', 'critical': '90'},
            'error_log_count': {'warning': '0', 'critical': '10'}}}]}}
    assert ('carried over: old.json, Mine: attribute 233 VALUE, "20:" and "10:": endurance_used of INTEL '
            'SSDSC2BB240G4, '
            'warning 80, critical 90, instead of warning 85, critical 95') in result.text


def test_what_was_migrated_judges_as_it_did(intel, tmp_path):
    """The proof of a migration: the same drive, the same state, without the old file."""
    old = database(tmp_path / 'old.json', Mine=entry({'233': ['90:', '80:']}))
    assert run('migrate', old, '-o', str(tmp_path / 'etc')).code == 0

    result = run('-p', intel.path, '--nosudo', '-d', '/dev/sda', '--config', str(tmp_path / 'etc'))

    assert result.first_line.startswith('SMART WARNING - sda endurance_used 12 % (warning above 10); [order] ')


def test_entries_that_were_shipped_are_not_migrated(tmp_path):
    """Nobody decided about them; attributes.json knows these drives better."""
    old = database(tmp_path / 'old.json', Generic_NVMe=entry(SHIPPED_NVME, items=LOG))

    result = run('migrate', old)

    assert result.code == 0
    assert (result.text == 'carried over: old.json: 1 entries are unchanged from version 1.x; attributes.json covers '
                           'their drives\n')


def test_changed_limits_of_nvme_move_to_all_nvme_drives(tmp_path):
    """In base units: minutes become seconds."""
    old = database(tmp_path / 'old.json',
                   Generic_NVMe=entry({'4': ['70', '90'], '15': ['10', '20'], '3': ['1', '2']}, ['15'], items=LOG))

    result = run('migrate', old)

    metrics = files_of(result)['thresholds.d/old.json']['metrics']
    assert {metric: fields['nvme']['warning']
            for metric, fields in metrics.items()} == {'endurance_used': '70', 'over_temperature_time': '600'}
    assert metrics['over_temperature_time']['graph'] is True
    assert result.code == 1
    assert ('not carried over: old.json, Generic NVMe: number 3, "1" and "2": attributes.json reads no number from it'
            in result.text)


def test_a_model_that_we_do_not_know_gets_an_entry_that_compares_numbers(fake, tmp_path):
    """What they mean is in no old database; the entry gives way to any that knows. A shift becomes part of the
    limit.
    """
    report = json.loads(drive('no-name-ssd'))
    rows = [{**row, 'id': number, 'name': 'Some_Name', 'raw': {'value': raw, 'string': str(raw)}}
            for row, number, raw in zip(
        report['ata_smart_attributes']['table'], (230, 9, 12), (22016, 10, 5))]
    fake.answers(read_arguments('/dev/sda'),
                 json.dumps({**report, 'model_name': 'ACME X9 240GB', 'ata_smart_attributes': {'table': rows}}))
    old = database(tmp_path / 'old.json',
                   ACME=entry({'230': ['85', '95', 'r8']}, models=['ACME X9 240GB'], items={230: 'RAW_VALUE'}))

    migrated = run('migrate', old, '-o', str(tmp_path / 'etc'))
    result = run('-p', fake.path, '--nosudo', '-d', '/dev/sda', '--config', str(tmp_path / 'etc'), '-v')

    assert migrated.code == 1 and 'attributes.json does not describe the attributes of' in migrated.text
    assert 'attribute_230_raw 22016, warning above 22015' in result.line_of('sda')
    assert 'entry: none' in result.text
    assert run('-p', fake.path, '--nosudo', '-d', '/dev/sda', '-dbj', old).code == 1


@pytest.mark.parametrize(('limits', 'models', 'words'), [
    ({'175': ['100:', '100:']}, [MODEL],
     'attribute 175 VALUE, "100:" and "100:": attributes.json reads no number from it'),
    ({'12': ['1', '2']}, [MODEL], 'Threshs 12: it is not in ID#'),
    ({'5': ['1', 'x']}, [MODEL], 'Threshs 5: "x" is not a Nagios range'),
    ({'5': ['1', '2', 'q']}, [MODEL], 'Threshs 5: "q" is not a shift'),
    ({'5': ['1', '2']}, ['Western Digital Red'], '"Western Digital Red" names a family of smartctl'),
    ({'194': ['40', '50'], '190': ['30', '40']}, [MODEL],
     'this is temperature, which already has a limit from another number'),
    ({'1025': ['1', '1']}, [MODEL], 'a drive that reports FAILED is critical'),
], ids=['verdict', 'no-column', 'no-range', 'no-shift', 'family', 'two-numbers', 'health'])
def test_what_cannot_be_carried_over_is_a_sentence(tmp_path, limits, models, words):
    """Whoever removes the old file must know what ends with it."""
    columns = {5: 'RAW_VALUE', 175: 'VALUE', 190: 'RAW_VALUE', 194: 'RAW_VALUE', 1025: 'VALUE'}
    old = database(tmp_path / 'old.json', Mine=entry(limits, models=models, items=columns))

    result = run('migrate', old)

    assert result.code == 1
    assert any(line.startswith('not carried over: ') and words in line for line in result.text.splitlines())


def test_a_user_configuration_is_understood_by_reading_its_drive(fake, tmp_path):
    """The same attribute means something else on another drive, and a slot has got another address."""
    fake.answers(read_arguments('/dev/bus/0', 'megaraid,6'), drive('intel-s3500-healthy'))
    config = users(tmp_path / 'user.json', {'/dev/megaraid6': {'Threshs': {'233': ['35:', '30:'], '241': ['1', '2']}}})

    result = run('migrate', config, '-p', fake.path, '--nosudo', '-d', 'megaraid,6@/dev/bus/0')

    override, = files_of(result)['thresholds.d/user.json']['overrides']
    assert override['for'] == {'device': 'megaraid,6@/dev/bus/0'}
    assert override['metrics']['endurance_used'] == {'warning': '65', 'critical': '70'}


def test_a_user_configuration_keeps_the_shift_of_its_database(intel, tmp_path):
    """Without it 257 would be critical where 1 was meant."""
    old = database(tmp_path / 'old.json', Mine=entry({'5': ['1', '2', 'r8']}))
    config = users(tmp_path / 'user.json', {'/dev/sda': {'Threshs': {'5': ['3', '4']}}})

    result = run('migrate', config, old, '-p', intel.path, '--nosudo', '-d', '/dev/sda')

    by_device = [each for each in files_of(result)['thresholds.d/user.json']['overrides'] if 'device' in each['for']]
    assert by_device[0]['metrics'] == {'reallocated': {'warning': '1023', 'critical': '1279'}}


def test_a_user_configuration_alone_says_what_it_lacks(tmp_path):
    """Better nothing than a limit for something else."""
    config = users(tmp_path / 'user.json', {
        '/dev/sda': {'Threshs': {'233': ['35:', '30:']}}, '/dev/megaraid6': {'Threshs': {'5': ['1', '2']}},
        '/dev/nvme0': {'Threshs': {'4': ['50', '60']}}})

    result = run('migrate', config)

    assert result.code == 1
    assert [each['for']
            for each in files_of(result)['thresholds.d/user.json']['overrides']] == [{'device': '/dev/nvme0'}]
    assert 'name the drive with -d' in result.text and 'the current address of this drive is not known' in result.text


def test_files_are_written_once_and_never_overwritten(tmp_path):
    """They may have been edited since."""
    old = database(tmp_path / 'old.json', Mine=entry({'5': ['3', '10']}))

    first, second = (run('migrate', old, '-o', str(tmp_path / 'etc')) for _ in range(2))

    assert first.text.startswith(f'written: {tmp_path}/etc/thresholds.d/old.json\n')
    assert os.stat(tmp_path / 'etc/thresholds.d/old.json').st_mode & 0o777 == 0o644
    assert second.code == 3 and 'File exists' in second.first_line


@pytest.mark.parametrize(('content', 'words'),
                         [('{"entries": []}', 'not a file of version 1.6'), ('{', 'line 1'), (None, 'cannot be read')])
def test_a_file_of_another_kind_is_refused(tmp_path, content, words):
    """One sentence, no traceback."""
    if content is not None:
        (tmp_path / 'old.json').write_text(content)

    result = run('migrate', str(tmp_path / 'old.json'))

    assert result.code == 3
    assert words in result.first_line


def test_hostile_names_stay_text(tmp_path):
    """A key of a file may be anything."""
    old = database(tmp_path / 'old.json',
                   **{'EVIL\x1b[2J|': entry({'5': ['1', '2']}, models=['ACME\x1b[2J 1234', MODEL])})

    result = run('migrate', old)

    assert '\x1b' not in result.text
    assert files_of(result)['thresholds.d/old.json']['overrides'][1]['metrics'] == {'reallocated': {'warning': '1',
                                                                                                    'critical': '2'}}


def test_a_limit_on_logical_sectors_becomes_one_on_those_of_4_kib():
    """Where the drive has smaller ones it alarms earlier than before, never later."""
    from smart_attributes.knowledge import drive_database
    from smart_attributes.v1_6 import limit_conversion
    (item,) = drive_database._reading_specs(5,
                                            {'readings': {'reallocated': {'from': 'raw', 'unit': 'logical sectors'}}})

    assert limit_conversion.converted('40', None, limit_conversion.of_reading(item, limit_conversion.RAW)) == '5'
