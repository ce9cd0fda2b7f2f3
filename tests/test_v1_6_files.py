"""Files of version 1.6: their limits, their labels, and none of their bugs."""
from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from conftest import Result, drive, run
from fake_smartctl import FakeSmartctl

from smart_attributes.knowledge import drive_database
from smart_attributes.model import Device, Identity
from smart_attributes.reading.smartctl_calls import read_arguments
from smart_attributes.v1_6 import files, limit_conversion

Json = dict[str, Any]

# What an admin may have written for the drive of intel-s3500-healthy.
ITEMS = {5: 'RAW_VALUE', 9: 'RAW_VALUE', 170: 'VALUE', 184: 'VALUE', 187: 'RAW_VALUE', 190: 'RAW_VALUE',
         194: 'RAW_VALUE', 232: 'VALUE',
         233: 'VALUE', 241: 'RAW_VALUE', 1024: 'VALUE', 1025: 'VALUE'}
LOG = dict.fromkeys(range(17), 'RAW_VALUE')  # of an NVMe or SAS drive
MODEL = 'INTEL SSDSC2BB240G4'
SHIPPED_NVME = {'0': ['0', '0'], '1': ['50', '60'], '2': ['16:', '11:'], '4': ['85', '90'], '13': ['0', '10'],
                '14': ['0', '10'],
                '15': ['15', '30'], '16': ['15', '30'], '1025': ['0', '0']}


def entry(limits: Json, graphed: Any = (), models: Any = (MODEL,), items: Any = None) -> Json:
    """Return an entry of a database of version 1.6."""
    columns = ITEMS if items is None else items
    return {'Device': list(models), 'Threshs': limits, 'Perfs': list(graphed),
            'ID#': {str(number): {'value': column, 'comment': 'made for a test'} for number, column in columns.items()}}


def database(path: Path, **entries: Json) -> str:
    """Write a database of version 1.6; _ in a name is a blank."""
    path.write_text(json.dumps({'Devices': {name.replace('_', ' '): data for name, data in entries.items()}}))
    return str(path)


def users(path: Path, drives: Json) -> str:
    """Write a user configuration of version 1.6."""
    path.write_text(json.dumps({'Devices': drives}))
    return str(path)


def spoiled(name: str, rows: Any = None, **fields: Any) -> bytes:
    """Return a recorded report with other numbers. rows: number -> (value, raw as printed)."""
    report = json.loads(drive(name))
    report.update(fields)
    for row in report.get('ata_smart_attributes', {}).get('table', []):
        if row['id'] in (rows or {}):
            row['value'], raw = rows[row['id']]
            row['raw'] = {'string': raw, 'value': int(re.match('[0-9]+', raw)[0])}
    return json.dumps(report).encode()


def old_values(result: Result) -> dict[str, str]:
    """Return label -> value of the perfdata under labels of version 1.6; a label twice is a mistake."""
    line = result.text.splitlines()[-1]
    found = re.findall(r"'([^']+)'=([^ ]+)", line)
    assert len({label for label, _ in found}) == len(found), 'a label stands twice'
    return {label: value for label, value in found if re.search('[A-Z]', label)}


@pytest.fixture
def intel(fake) -> FakeSmartctl:
    """A stand-in with a healthy drive."""
    fake.answers(read_arguments('/dev/sda'), drive('intel-s3500-healthy'))
    return fake


def check(fake: FakeSmartctl, *arguments: str) -> Result:
    return run('-p', fake.path, '-nosudo', *arguments)


# --- what the files add ---------------------------------------------------------------

def test_limits_of_an_old_database_are_judged_beside_ours(intel, tmp_path):
    """The admin set them, and was called by them for years."""
    old = database(tmp_path / 'db.json', Mine=entry({'233': ['90:', '80:'], '241': ['2000000', '3000000']}))

    result = check(intel, '-d', '/dev/sda', '-dbj', old, '-vv')

    assert result.code == 1
    assert result.first_line.startswith(
        'SMART WARNING - sda attribute 233 Media_Wearout_Indicator 88 (warning below 90); [order] order a ')
    assert 'limit from db.json, Mine' in result.text
    assert 'attribute 241 Host_Writes_32MiB 1425233, attribute 241, warning 2000000, critical 3000000' in result.text


def test_limits_of_an_old_database_are_listed_by_what_they_say_about_the_drive(intel, tmp_path):
    """A limit on lost data comes before one on wear, whatever the numbers of their attributes."""
    old = database(tmp_path / 'db.json', Mine=entry({'9': ['1', '2000000'], '233': ['95:', '10:'],
                                                     '187': ['-1:-1', '9']}))
    line = check(intel, '-d', '/dev/sda', '-dbj', old).text.splitlines()[1]

    assert re.findall('attribute ([0-9]+) ', line) == ['187', '233', '9']


def test_labels_of_an_old_database_go_on_beside_ours(intel, tmp_path):
    """Graphs of years must not end with an update."""
    old = database(tmp_path / 'db.json', Mine=entry({'5': ['20', '40']}, ['5', '233', '190', 9]))

    result = check(intel, '-d', '/dev/sda', '-dbj', old)

    assert old_values(result) == {'sda_Reallocated_Sector_Ct': '0;20;40;;', 'sda_Media_Wearout_Indicator': '88;;;;',
                                  'sda_Temperature_Case': '22;;;;', 'sda_Power_On_Hours': '56483;;;;'}
    assert "'sda_endurance_used'=12%" in result.text


def test_all_perfdata_is_all_of_the_entry(intel, tmp_path):
    """-ap, as before; two attributes of one name get two labels."""
    old = database(tmp_path / 'db.json', Mine=entry({}, ['5']))

    labels = set(old_values(check(intel, '-d', '/dev/sda', '-dbj', old, '-ap')))

    assert labels == {f'sda_{name}' for name in (
        'Reallocated_Sector_Ct', 'Power_On_Hours', 'Available_Reservd_Space', 'Available_Reservd_Space_232',
        'End-to-End_Error',
        'Reported_Uncorrect', 'Temperature_Case', 'Temperature_Internal', 'Media_Wearout_Indicator',
        'Host_Writes_32MiB',
        'ATA_Error_Count', 'Overall_Health_Test_Result')}


def test_an_entry_that_was_shipped_adds_labels_and_no_limits(fake, tmp_path):
    """Nobody here decided about its limits, and some were wrong; -v tells where they differ from ours."""
    fake.answers(read_arguments('/dev/nvme0'), spoiled('samsung-pm983-healthy'))
    old = database(tmp_path / 'db.json', Generic_NVMe=entry(SHIPPED_NVME, ['4', '14'], items=LOG))

    result = check(fake, '-d', '/dev/nvme0', '-dbj', old, '-v')

    assert result.code == 0
    assert old_values(result) == {'nvme0_Percentage_Used': '4;;;;', 'nvme0_Error_Information_Log_Entries': '73;;;;'}
    assert ('Error_Information_Log_Entries 73 is CRITICAL (limits 0 and 10), we say OK; this limit was shipped with 1.x'
            in result.text)


def test_one_changed_limit_makes_an_entry_the_admins_own(fake, tmp_path):
    """Then all of it counts: what was left as it was may have been left on purpose."""
    fake.answers(read_arguments('/dev/nvme0'), drive('samsung-pm983-healthy'))
    old = database(tmp_path / 'db.json', Generic_NVMe=entry({**SHIPPED_NVME, '14': ['50', '100']}, items=LOG))

    result = check(fake, '-d', '/dev/nvme0', '-dbj', old)

    assert result.code == 1
    assert 'Error_Information_Log_Entries 73, warning above 50' in result.line_of('nvme0')


def test_a_fingerprint_is_of_limits_and_columns_not_of_models_and_comments():
    """Who added a drive to an entry has not decided about its limits."""
    one = entry({'5': ['20', '40']}, ['5'])
    more = {**one, 'Device': ['ACME X1'],
            'ID#': {number: {'value': item['value']} for number, item in reversed(list(one['ID#'].items()))}}

    assert files.fingerprint(one) == files.fingerprint(more)
    assert files.fingerprint(one) != files.fingerprint({**one, 'Threshs': {'5': ['20', '41']}})


def test_an_entry_with_a_known_fingerprint_counts_as_shipped(monkeypatch):
    """The list is made by tools/fingerprints.py; the databases themselves stay out of the project."""
    known = files.shipped_data.load(files.shipped_data.path(files.KNOWN))
    one = entry({'5': ['20', '40']}, ['5'])

    assert not files.is_shipped('Mine', one)
    monkeypatch.setattr(files.shipped_data, 'load', lambda path: {**known, 'entries': [files.fingerprint(one)]})
    assert files.is_shipped('Mine', one) and not files.is_shipped('Mine', entry({'5': ['20', '41']}, ['5']))
    assert len(known['entries']) > 50 and all(re.fullmatch('[0-9a-f]{16}', each) for each in known['entries'])


def test_an_absent_database_is_no_fault(intel, tmp_path):
    """Icinga names one always; the program has its own."""
    result = check(intel, '-d', '/dev/sda', '-dbj', str(tmp_path / 'plugins-config/check_smartdb.json'), '-v')

    assert result.code == 0
    assert 'check_smartdb.json does not exist; the shipped attributes.json is used' in result.text


def test_a_database_that_an_upgrade_kept_serves_the_checks_that_name_the_old_path(intel, tmp_path):
    """Their graphs go on; a check that names no database has never had its labels."""
    database(tmp_path / 'check_smartdb-1.6.json', Mine=entry({}, ['233']))
    there = ['--config', str(tmp_path), '-d', '/dev/sda', '-v']

    with_path, without = check(intel, *there, '-dbj', str(tmp_path / 'check_smartdb.json')), check(intel, *there)

    assert old_values(with_path) and not old_values(without)
    assert f"labels come from {tmp_path / 'check_smartdb-1.6.json'}, which an upgrade has kept" in with_path.text


def test_entries_of_this_version_are_taken_as_well(intel, tmp_path):
    """So that the file behind -dbj can be replaced by its successor."""
    file = tmp_path / 'check_smartdb.json'
    file.write_text(json.dumps({'entries': [{'family': 'Mine', 'models': [MODEL], 'attributes': {'9': {
        'name': 'Hours', 'readings': {'power_on_time': {'from': 'raw', 'unit': 'h'}}}}}]}))

    result = check(intel, '-d', '/dev/sda', '-dbj', str(file), '-v')

    assert 'entry: Mine' in result.text


def test_limits_of_this_version_are_taken_behind_ucfgj(intel, tmp_path):
    """The same for the user configuration."""
    file = tmp_path / 'config.json'
    file.write_text(json.dumps({'metrics': {'endurance_used': {'warning': '10'}}}))

    assert check(intel, '-d', '/dev/sda', '-ucfgj', str(file)).code == 1


@pytest.mark.parametrize(('option', 'content', 'words'), [
    ('-dbj', {'Devices': {'/dev/sda': {'Threshs': {}}}}, ['config.json', '-ucfgj']),
    ('-ucfgj', {'Devices': {'Intel 53X': {'Device': []}}}, ['config.json', '-dbj']),
    ('-dbj', {'metrics': {}}, ['config.json', 'entries']), ('-dbj', [1], ['config.json'])],
    ids=['users', 'database', 'limits', 'list'])
def test_a_file_behind_the_wrong_option_is_unknown_with_the_right_one(intel, tmp_path, option, content, words):
    """A file without effect would be believed to have one."""
    file = tmp_path / 'config.json'
    file.write_text(json.dumps(content))

    result = check(intel, '-d', '/dev/sda', option, str(file))

    assert result.code == 3
    assert [word for word in words if word not in result.first_line] == []


def test_ours_is_never_weakened_by_a_database(fake, tmp_path):
    """Its limits were often too wide; a drive that we call worn stays worn."""
    fake.answers(read_arguments('/dev/sda'), drive('intel-worn'))
    old = database(tmp_path / 'db.json', Mine=entry({'233': ['5:', '1:']}, models=['INTEL SSDSC2BB150G7']))

    result = check(fake, '-d', '/dev/sda', '-dbj', old, '-v')

    assert result.first_line.startswith('SMART WARNING - sda endurance_used 86 %')
    assert 'is OK (limits 5: and 1:), we say WARNING' in result.text


def test_a_user_configuration_stands_instead_of_ours_for_its_drive(fake, tmp_path):
    """Somebody looked at this drive and decided; the next drive is judged as ever."""
    for letter in 'ab':
        fake.answers(read_arguments(f'/dev/sd{letter}'), spoiled('intel-worn', serial_number=f'EXAMPLE000{letter}'))
    old = database(tmp_path / 'db.json', Mine=entry({}, models=['INTEL SSDSC2BB150G7']))
    config = users(tmp_path / 'user.json', {'/dev/sda': {'Threshs': {'233': ['10:', '5:']}, 'Perfs': ['233']}})

    result = check(fake, '-d', '/dev/sda', '-d', '/dev/sdb', '-dbj', old, '-ucfgj', config, '-v')

    assert result.line_of('sda').startswith('OK') and result.line_of('sdb').startswith('WARNING')
    assert 'this limit replaces ours for endurance_used' in result.text
    assert old_values(result)['sda_Media_Wearout_Indicator'].endswith(';10:;5:;;')
    assert "'sda_endurance_used'=86%;;;0;" in result.text


def test_a_user_configuration_cannot_silence_the_drives_own_word(fake, tmp_path):
    """FAILED is critical, whoever wrote a limit for it."""
    fake.answers(read_arguments('/dev/sda'), drive('hgst-failed'))
    config = users(tmp_path / 'user.json', {'/dev/sda': {'Threshs': {'1025': ['1', '1'], '5': ['10000', '10000']}}})

    result = check(fake, '-d', '/dev/sda', '-ucfgj', config)

    assert result.code == 2
    assert 'smart_status: FAILED' in result.text and 'vendor threshold' in result.text


def test_a_user_configuration_without_database_uses_the_columns_of_ours(intel, tmp_path):
    """The package removes an unchanged database; what was written for a drive must still hold."""
    config = users(tmp_path / 'user.json', {'/dev/sda': {'Threshs': {'233': ['95:', '90:'], '250': ['1', '2']}}})

    result = check(intel, '-d', '/dev/sda', '-ucfgj', config, '-v')

    assert result.code == 2
    assert 'attribute 233 Media_Wearout_Indicator 88, critical below 90' in result.text
    assert '/dev/sda, 250: neither -dbj nor attributes.json shows whether VALUE or RAW_VALUE is meant' in result.text


@pytest.mark.parametrize(('address', 'path', 'kind', 'key'), [
    ('megaraid6,/dev/sda', '/dev/sda', 'megaraid,6', '/dev/megaraid6'),
    ('megaraid,6@/dev/bus/0', '/dev/bus/0', 'megaraid,6', '/dev/megaraid6'),
    ('sat+megaraid,6@/dev/bus/0', '/dev/bus/0', 'sat+megaraid,6', '/dev/megaraid6'),
    ('3ware,8,/dev/twa0', '/dev/twa0', '3ware,8', '/dev/3ware8'),
    ('areca,1/2,/dev/sg0', '/dev/sg0', 'areca,1/2', '/dev/areca_1_2'),
    ('cciss,1_/dev/sg2', '/dev/sg2', 'cciss,1', '/dev/cciss_1_sg2'),
    ('aacraid,0,1,4,/dev/sdb', '/dev/sdb', 'aacraid,0,1,4', '/dev/aacraid_0_1_4'),
    ('/dev/disk/by-id/ata-X', '/dev/disk/by-id/ata-X', '', '/dev/disk/by-id/ata-X')])
def test_a_drive_keeps_its_key_and_its_labels(fake, tmp_path, address, path, kind, key):
    """However it is addressed now: the names of version 1.6 stand in files and graphs."""
    fake.answers(read_arguments(path, kind), drive('intel-s3500-healthy'))
    config = users(tmp_path / 'user.json', {key: {'Threshs': {'233': ['95:', '1:']}, 'Perfs': ['233']}})

    result = check(fake, '-d', address, '-ucfgj', config)

    assert result.code == 1
    assert list(old_values(result)) == [f'{key.rsplit("/", 1)[1]}_Media_Wearout_Indicator']


def test_a_key_that_is_no_drive_of_the_check_is_told(intel, tmp_path):
    """A mistyped path had no effect, and nobody knew."""
    config = users(tmp_path / 'user.json', {'/dev/sdz': {'Threshs': {'5': ['0', '0']}}})

    assert '/dev/sdz is not one of the drives of this check' in check(intel, '-d', '/dev/sda', '-ucfgj', config,
                                                                      '-v').text


def test_a_model_of_the_sites_own_database_is_not_unknown(fake, tmp_path):
    """-cu means "not in the database", and the admin put it there."""
    report = spoiled('no-name-ssd', model_name='ACME X1')
    table = [{**row, 'name': 'Some_Name'} for row in json.loads(report)['ata_smart_attributes']['table']
             if row['id'] in (9, 12, 194)]
    fake.answers(read_arguments('/dev/sda'),
                 json.dumps({**json.loads(report), 'ata_smart_attributes': {'table': table}}))
    old = database(tmp_path / 'db.json', Mine=entry({}, models=['ACME X1'], items={9: 'RAW_VALUE'}))

    assert check(fake, '-d', '/dev/sda', '-cu').code == 2
    assert check(fake, '-d', '/dev/sda', '-cu', '-dbj', old).code == 0


def test_ignoring_concerns_old_limits_too(intel, tmp_path):
    """One thing silenced is silenced, whoever judges it."""
    old = database(tmp_path / 'db.json', Mine=entry({'233': ['90:', '80:']}))

    assert check(intel, '-d', '/dev/sda', '-dbj', old, '--ignore-attribute', '233').code == 0
    assert check(intel, '-d', '/dev/sda', '-dbj', old, '--ignore-metric', 'legacy_limit').code == 0


def test_explain_shows_what_the_service_saw(intel, tmp_path):
    """The same options, the same verdict."""
    old = database(tmp_path / 'db.json', Mine=entry({'233': ['90:', '80:']}))

    result = run('explain', '-p', intel.path, '-nosudo', '-d', '/dev/sda', '-dbj', old)

    assert 'WARNING\nWhat to do: order a replacement by 20' in result.text
    assert '. Reason: attribute 233 Media_Wearout_Indicator 88' in result.text


# --- none of the bugs of version 1.6 (by their numbers in the list that the project keeps) ------

def test_bug_1_attributes_with_signs_in_their_names_are_read(fake, tmp_path):
    """End-to-End_Error had limits in 34 entries and could never alarm."""
    fake.answers(read_arguments('/dev/sda'), spoiled('intel-s3500-healthy', {184: (50, '0')}))
    old = database(tmp_path / 'db.json', Mine=entry({'184': ['95:', '90:']}, ['184']))

    result = check(fake, '-d', '/dev/sda', '-dbj', old)

    assert 'attribute 184 End-to-End_Error 50, critical below 90' in result.line_of('sda')
    assert 'sda_End-to-End_Error' in old_values(result)


def test_bug_2_a_drive_that_fails_is_critical_without_a_limit_for_its_health(fake, tmp_path):
    """14 entries had none, and the drive was OK."""
    fake.answers(read_arguments('/dev/sda'), drive('hgst-failed'))
    model = json.loads(drive('hgst-failed'))['model_name']
    old = database(tmp_path / 'db.json', Mine=entry({}, models=[model]))

    assert check(fake, '-d', '/dev/sda', '-dbj', old).code == 2


def test_bugs_3_and_4_a_drive_that_cannot_be_read_says_why_and_hides_none(fake, tmp_path):
    """Every failure was "no such device", and the first one ended the check."""
    denied = {'json_format_version': [1, 0], 'smartctl': {'version': [7, 3], 'exit_status': 2, 'messages': [
        {'string': 'Smartctl open device: /dev/sda failed: Permission denied', 'severity': 'error'}]}}
    fake.answers(read_arguments('/dev/sda'), json.dumps(denied), 2)
    fake.answers(read_arguments('/dev/sdb'), drive('samsung-worn-out'))
    old = database(tmp_path / 'db.json', Mine=entry({}))

    result = check(fake, '-d', '/dev/sda', '-d', '/dev/sdb', '-dbj', old)

    assert result.code == 2
    assert 'Permission denied' in result.line_of('sda') and result.line_of('sdb').startswith('CRITICAL')


def test_bug_5_slots_of_two_controllers_stay_two_drives(fake, tmp_path):
    """The failing one vanished behind the other, and the check was OK."""
    fake.answers(read_arguments('/dev/sda', 'megaraid,6'), spoiled('intel-s3500-healthy'))
    fake.answers(read_arguments('/dev/sdb', 'megaraid,6'),
                 spoiled('intel-s3500-healthy', {233: (3, '0')}, serial_number='EXAMPLE0099'))
    old = database(tmp_path / 'db.json', Mine=entry({'233': ['10:', '5:']}, ['233']))

    result = check(fake, '-d', 'megaraid6,/dev/sda', '-d', 'megaraid6,/dev/sdb', '-dbj', old)

    assert result.line_of('sdb_megaraid_6').startswith('CRITICAL') and result.line_of('sda_megaraid_6').startswith('OK')
    assert set(old_values(result)) == {f'sd{letter}_megaraid_6_Media_Wearout_Indicator' for letter in 'ab'}


def sas_drive(passed=True, written_wrongly=0):
    """Return smartctl's JSON of a SAS drive."""
    counters = {'gigabytes_processed': '201375.402', 'total_uncorrected_errors': 0}
    return json.dumps({
        'smartctl': {'version': [7, 3], 'argv': ['smartctl', '--json=c'], 'exit_status': 0},
        'device': {'name': '/dev/sda', 'type': 'scsi', 'protocol': 'SCSI'}, 'scsi_model_name': 'SEAGATE ST4000NM0023',
        'smart_support': {'available': True, 'enabled': True}, 'smart_status': {'passed': passed},
        'temperature': {'current': 30}, 'scsi_grown_defect_list': 0,
        'scsi_error_counter_log': {'read': counters, 'write': {**counters,
                                                               'total_uncorrected_errors': written_wrongly}}})


def test_bug_6_sas_write_counters_have_numbers_of_their_own(fake, tmp_path):
    """Uncorrected writes were counted as reads and never met their limit."""
    fake.answers(read_arguments('/dev/sda'), sas_drive(written_wrongly=5))
    old = database(tmp_path / 'db.json', Generic_SAS=entry({'14': ['2', '3']}, ['6', '7', '14'], items=LOG))

    result = check(fake, '-d', '/dev/sda', '-dbj', old)

    assert 'Total_uncorrected_write_errors 5, critical above 3' in result.line_of('sda')
    assert old_values(result) == {'sda_Total_uncorrected_write_errors': '5;2;3;;',
                                  'sda_Total_uncorrected_read_errors': '0;;;;',
                                  'sda_Total_read_gigabytes_processed': '201375.4;;;;'}


def test_bug_7_the_health_of_sas_drives_is_read(fake, tmp_path):
    """Only the words of ATA were known; a failing SAS drive was OK."""
    fake.answers(read_arguments('/dev/sda'), sas_drive(passed=False))
    old = database(tmp_path / 'db.json', Generic_SAS=entry({}, [1025], items={1025: 'VALUE'}))

    result = check(fake, '-d', '/dev/sda', '-dbj', old)

    assert result.code == 2
    assert old_values(result) == {'sda_Overall_Health_Test_Result': '1;;;;'}


def test_bug_8_minutes_of_heat_are_read(fake, tmp_path):
    """A full stop in the name hid the numbers 15 and 16 of NVMe."""
    report = json.loads(drive('samsung-pm983-healthy'))
    report['nvme_smart_health_information_log'].update(warning_temp_time=20, critical_comp_time=40)
    fake.answers(read_arguments('/dev/nvme0'), json.dumps(report))
    old = database(tmp_path / 'db.json', Generic_NVMe=entry({'15': ['15', '30'], '16': ['15', '31']}, items=LOG))

    result = check(fake, '-d', '/dev/nvme0', '-dbj', old)

    assert 'Critical_Comp_Temperature_Time 40, critical above 31' in result.text
    assert 'Warning_Comp_Temperature_Time 20, warning above 15' in result.text


def test_bug_9_separators_of_a_locale_do_not_change_numbers(tmp_path):
    """1'105 was compared as 1, and 201375,402 went into the graph as it stood."""
    (tmp_path / 'sda.txt').write_bytes(drive('seagate-sas-healthy').replace(b'201375.402', b'201375,402'))
    (tmp_path / 'nvme0.txt').write_text("""smartctl 7.3 2022-02-28 r5338 [x86_64-linux-6.1.0-18-amd64] (local build)

=== START OF INFORMATION SECTION ===
Model Number:                       ACME NVMe
Serial Number:                      EXAMPLE0100

=== START OF SMART DATA SECTION ===
SMART overall-health self-assessment test result: PASSED

SMART/Health Information (NVMe Log 0x02)
Critical Warning:                   0x00
Temperature:                        46 Celsius
Available Spare:                    100%
Available Spare Threshold:          10%
Percentage Used:                    0%
Data Units Written:                 36'848'011 [18,8 TB]
Media and Data Integrity Errors:    1'105
""")
    old = database(tmp_path / 'db.json', Generic_SAS=entry({'6': ['1', '300000']}, ['6'], items=LOG),
                   Generic_NVMe=entry({'13': ['10', '1000']}, ['6', '13'], items=LOG))

    result = run('--report', str(tmp_path / 'sda.txt'), '--report', str(tmp_path / 'nvme0.txt'), '-dbj', old)

    assert old_values(result) == {'sda_Total_read_gigabytes_processed': '201375.4;1;300000;;',
                                  'nvme0_Data_Units_Written': '18866.18;;;;',
                                  'nvme0_Media_and_Data_Integrity_Errors': '1105;10;1000;;'}
    assert result.code == 2


def test_bug_10_a_critical_number_takes_no_warning_away(intel, tmp_path):
    """Each critical removed the warning before it, whoever's that was."""
    old = database(tmp_path / 'db.json', Mine=entry({'190': ['20', '30'], '194': ['20', '30'], '241': ['1', '2']}))

    line = check(intel, '-d', '/dev/sda', '-dbj', old).line_of('sda')

    assert [word
            for word in ('Temperature_Internal 31, critical above 30', 'Host_Writes_32MiB 1425233, critical above 2',
                              'Temperature_Case 22, warning above 20') if word not in line] == []


def test_bug_11_a_shift_is_kept_and_a_wrong_one_is_named(fake, tmp_path):
    """A user's limit lost the shift, so 1 became 257 and critical; "8r" was no shift and nobody was told."""
    fake.answers(read_arguments('/dev/sda'), spoiled('intel-s3500-healthy', {241: (100, '257')}))
    old = database(tmp_path / 'db.json',
                   Mine=entry({'241': ['85', '95', 'r8'], '5': ['1', '2', '8r'], '190': ['1', '2', ',8']}, ['241']))
    config = users(tmp_path / 'user.json', {'/dev/sda': {'Threshs': {'241': ['80', '90']}}})

    result = check(fake, '-d', '/dev/sda', '-dbj', old, '-ucfgj', config, '-v')

    assert result.code == 0
    assert old_values(result) == {'sda_Host_Writes_32MiB': '1;80;90;;'}
    assert '"8r" is not a shift such as r8' in result.text and '",8" is not a shift' in result.text


@pytest.mark.parametrize(('line', 'model', 'is_named'), [
    ('INTEL SSDSC2BW120A4', 'INTEL SSDSC2BW120A4', True), ('ACME-INTEL SSDSC2BW120A4', 'INTEL SSDSC2BW120A4', False),
    ('INTEL SSDSC2BW120A4 ', 'INTEL SSDSC2BW120A4', True), ('INTEL  SSDSC2BW120A4', 'INTEL SSDSC2BW120A4', True),
    ('INTEL SSDSC2BW120A4', 'SSDSC2BW120A4', True), ('Micron_5200_MTFDDAK480TDC', 'MTFDDAK480TDC', True),
    ('Western Digital Red (AF)', 'Western Digital Red (AF)', True),
    ('Seagate Barracuda 7200.9', 'Seagate Barracuda 7200.9', True),
    ('Seagate Barracuda 7200x9', 'Seagate Barracuda 7200-9', False),
    ('INTEL SSDSC2BW120A4', 'INTEL SSDSC2BW[0-9]+A4', True),
    ('INTEL SSDSC2BW120A4', '(', False), ('INTEL SSDSC2BW120A4', '', False),
    ('INTEL SSDSC2BW120A4', 'INTEL SSD', False)])
def test_bug_12_a_model_matches_whole_words_at_the_end(line, model, is_named):
    """A regular expression without a beginning took foreign drives, and brackets never matched themselves."""
    assert files.is_named_by(line, model) is is_named


def test_bug_12_of_several_entries_the_same_one_always_wins():
    """The order of a hash decided, and with it the state, from run to run."""
    entries = {name: entry({}, models=models)
               for name, models in (('short', ['SSDSC2BB240G4']), ('long', [MODEL]), ('late', [MODEL]))}
    for order in (list(entries), list(reversed(entries))):
        found = files.entry_of(files.OldFile('db.json', {name: entries[name] for name in order}),
                               Identity('ATA', MODEL))
        assert found and found.name == next(name for name in order if name != 'short')


def test_bug_13_mistakes_of_a_database_are_named_and_the_rest_is_used(intel, tmp_path):
    """A key that stood twice lost the first, limits without a column were dead, a warning beyond critical
    never came.
    """
    file = tmp_path / 'db.json'
    one = entry({'233': ['90:', '80:']}, [233, '5'], models=['ACME'])
    two = entry({'212': ['1', '2'], '5': ['100', '0'], '9': ['1'], 'x': ['1', '2']}, ['77'])
    file.write_text(f'{{"Devices": {{"Mine": {json.dumps(one)}, "Mine": {json.dumps(two)}}}}}')

    result = check(intel, '-d', '/dev/sda', '-dbj', str(file), '-v')

    assert result.code == 0
    assert [words for words in (
        'occurs twice; both entries are used', 'Threshs 212: it is not in ID#',
        'Threshs 5: warning 100 lies beyond critical 0',
        'Threshs 9: it is not a list', '"x" is not an attribute number', 'Perfs 77: it is not in ID#')
        if words not in result.text] == []
    assert files.entry_of(files.taken(str(file), files.read(str(file)), False), Identity('ATA', 'ACME')) is not None


def test_bug_16_a_relative_link_is_followed_from_its_own_folder(tmp_path, monkeypatch):
    """It was resolved against the working directory, and smartctl called without a drive."""
    (tmp_path / 'disk').write_text('')
    (tmp_path / 'link').symlink_to('disk')
    monkeypatch.chdir('/')

    assert files.old_path(Device(f'{tmp_path}/link')) == f'{tmp_path}/disk'


def test_bug_17_a_drive_by_path_has_a_name_in_its_labels(fake, tmp_path):
    """Only by-id and by-label were known; the labels began with nothing."""
    path = '/dev/disk/by-path/pci-0000:00:1f.2-ata-1'
    fake.answers(read_arguments(path), drive('intel-s3500-healthy'))
    old = database(tmp_path / 'db.json', Mine=entry({}, ['5']))

    assert list(old_values(check(fake, '-d', path, '-dbj', old))) == ['pci-0000:00:1f.2-ata-1_Reallocated_Sector_Ct']


def test_bug_18_perfdata_are_numbers_with_their_own_limits(fake, tmp_path):
    """"45449h+00m+00.000s", "097" and the limits of another attribute were printed; a floor lost its colon."""
    fake.answers(read_arguments('/dev/sda'),
                 spoiled('intel-s3500-healthy', {9: (100, '45449h+00m+00.000s'), 233: (97, '0')}))
    old = database(tmp_path / 'db.json',
                   Mine=entry({'233': ['16:', '6:'], '5': ['@5:10', '~:20'], '9': ['', '']}, ['9', '233', '5']))

    result = check(fake, '-d', '/dev/sda', '-dbj', old)

    assert old_values(result) == {'sda_Power_On_Hours': '45449;0;0;;', 'sda_Media_Wearout_Indicator': '97;16:;6:;;',
                                  'sda_Reallocated_Sector_Ct': '0;@5:10;~:20;;'}
    assert 'Power_On_Hours 45449, critical above 0' in result.text


@pytest.mark.parametrize(('limit', 'number', 'code'), [
    ('10:20', 25, 1), ('@1:30', 25, 1), ('1.5', 2, 1), ('~:20', 25, 1), ('30:', 25, 1), ('30', 25, 0)])
def test_every_range_of_nagios_alarms(fake, tmp_path, limit, number, code):
    """Version 1.6 knew three forms; any other one never alarmed."""
    fake.answers(read_arguments('/dev/sda'), spoiled('intel-s3500-healthy', {241: (100, str(number))}))
    old = database(tmp_path / 'db.json', Mine=entry({'241': [limit, '1000']}))

    assert check(fake, '-d', '/dev/sda', '-dbj', old).code == code


def test_bug_19_entries_of_the_error_log_are_no_alarm(fake):
    """Every consumer drive collects them."""
    report = json.loads(drive('samsung-pm983-healthy'))
    report['nvme_smart_health_information_log']['num_err_log_entries'] = 5000
    fake.answers(read_arguments('/dev/nvme0'), json.dumps(report))

    assert check(fake, '-d', '/dev/nvme0').code == 0


@pytest.mark.parametrize(('content', 'word'),
                         [('{"Devices": {', 'line 1'), ('', 'line 1'), ('{"Devices": 5}', 'entries')])
def test_bug_20_a_broken_file_is_unknown_with_a_sentence(intel, tmp_path, content, word):
    """Version 1.6 left with 2 or 255 and said nothing."""
    file = tmp_path / 'db.json'
    file.write_text(content)

    result = check(intel, '-d', '/dev/sda', '-dbj', str(file))

    assert result.code == 3
    assert 'db.json' in result.first_line and word in result.first_line


def test_bug_21_nothing_but_the_result_is_printed(intel, tmp_path):
    """Warnings of the interpreter stood before it; the help of -s said the opposite."""
    old = database(tmp_path / 'db.json', Mine=entry({'5': ['', ''], '9': [0, 1]}, ['5']))

    assert check(intel, '-d', '/dev/sda', '-dbj', old).first_line.startswith('SMART ')
    assert re.search('--ssdonly +skip hard disks', run('--help-all').text)


# --- the parts ------------------------------------------------------------------------------------

@pytest.mark.parametrize(('raw', 'number'), [
    ('640 (409 5906)', 640), ('45449h+00m+00.000s', 45449), ('0/4711', 0), ('0x0042', 66), ('-5', -5),
    ('', None), ('nan', None), ('(1)', None)])
def test_a_raw_value_is_the_number_it_starts_with(raw, number):
    """What version 1.6 compared, without what stood behind it."""
    assert files.leading_number(raw) == number


@pytest.mark.parametrize(('number', 'shift', 'result'),
                         [(257, -8, 1), (30, 1, 60), (5, None, 5), (0.5, -8, 0.5), (5, 0, 5)])
def test_a_shift_moves_whole_numbers(number, shift, result):
    """"r8" and "l1"."""
    assert files.shifted(number, shift) == result


@pytest.mark.parametrize('name', ["EVIL'=1;;", 'a|b', 'line\nbreak', '(SSD) Life Left(0.01%)'])
def test_a_label_is_safe_whatever_an_attribute_is_called(name):
    """A recorded report may hold anything."""
    assert re.fullmatch(r'[A-Za-z0-9_/.:+-]+', files.slug(name))


@pytest.mark.parametrize(('text', 'shift', 'meant', 'expected'), [
    ('16:', None, limit_conversion.Meaning('endurance_used', -1, 100), '84'),
    ('85', None, limit_conversion.Meaning('endurance_used'), '85'),
    ('10', None, limit_conversion.Meaning('spare', -1, 100), '90:'),
    ('15', None, limit_conversion.Meaning('time', 60), '900'),
    ('2', -8, limit_conversion.Meaning('x'), '767'), ('2:', -8, limit_conversion.Meaning('x'), '512:'),
    ('60', 1, limit_conversion.Meaning('x'), '30'),
    ('10:20', None, limit_conversion.Meaning('x', -1, 100), '80:90'),
    ('@1:5', None, limit_conversion.Meaning('x', 3600), '@3600:18000'),
    ('~:5', None, limit_conversion.Meaning('x'), '5')])
def test_a_limit_is_converted_by_the_formula_of_its_reading(text, shift, meant, expected):
    """What was bad stays bad, and nothing else becomes it."""
    assert limit_conversion.converted(text, shift, meant) == expected


# --- validate, and conversions in tables ------------------------------------------------------------------

@pytest.mark.parametrize('data, is_database, is_users', [
    ({'Devices': {'Intel': {}}}, True, False), ({'Devices': {'/dev/sda': {}}}, False, True),
    ({'Devices': {}}, True, False), ({'Devices': []}, False, False), ([], False, False)])
def test_a_file_of_1_6_is_known_by_its_keys(data, is_database, is_users):
    is_old = files.is_of_1_6(data)

    assert (is_old and not files.is_by_path(data), is_old and files.is_by_path(data)) == (is_database, is_users)


def test_a_database_of_1_6_is_examined(tmp_path):
    """A limit whose column nobody names was never judged."""
    good = entry({'5': ['0', '10']})
    bad = entry({'5': ['0', '10'], '77': ['1', '2']}, graphed=[78])

    assert files.examine(database(tmp_path / 'a.json', Intel=good)) == ([], ['1 entry'])
    assert files.examine(database(tmp_path / 'b.json', A=bad, B=good)) == (
        ['b.json: A, Threshs 77: it is not in ID#, so version 1.6 never evaluated it',
         'b.json: A, Perfs 78: it is not in ID#, so version 1.6 never printed it'], ['2 entries'])


def test_a_user_configuration_of_1_6_is_examined(tmp_path):
    """It needs no columns; the same fault is told once."""
    given = {'/dev/sda': {'Threshs': {'5': ['0', '10']}, 'Perfs': [5]}, '/dev/sdb': 5}
    faults, counts = files.examine(users(tmp_path / 'users.json', given))

    assert counts == ['2 entries']
    assert [fault.partition(' is not an object')[0] for fault in faults] == ['users.json: /dev/sdb']


META = limit_conversion.Meaning


def specs(**readings: Json) -> Any:
    """Return what an entry with one attribute, number 5, reads from it: metric -> reading of attributes.json."""
    items = tuple(drive_database._reading_specs(5, {'readings': readings}))
    return drive_database.DriveSpec('ACME', {}, items, frozenset(), frozenset(), {}, False)


@pytest.mark.parametrize(('reading', 'column', 'meaning'), [
    ({'from': 'value'}, 'VALUE', META('a')), ({'from': 'value'}, 'RAW_VALUE', None),
    ({'from': 'raw'}, 'RAW_VALUE', META('a')), ({'from': 'raw'}, 'VALUE', None),
    ({'from': 'raw', 'unit': 'h'}, 'RAW_VALUE', META('a', 3600)),
    ({'from': '100 - value'}, 'VALUE', META('a', -1, 100)),
    ({'from': '100 - value / 2'}, 'VALUE', META('a', -0.5, 100)),
    ({'from': '100 - raw / 10', 'unit': 'h'}, 'RAW_VALUE', META('a', -360, 360_000)),
    ({'from': 'raw bytes 0-1'}, 'RAW_VALUE', META('a')), ({'from': 'raw bytes 2-3'}, 'RAW_VALUE', None),
    ({'from': 'raw of 230'}, 'RAW_VALUE', None), ({'from': 'raw + raw of 230'}, 'RAW_VALUE', None),
    ({'from': 'raw byte 0 + raw byte 2'}, 'RAW_VALUE', None), ({'from': 'worst'}, 'VALUE', None),
    ({'from': 'raw', 'states': {'1': 'passed'}}, 'RAW_VALUE', None)])
def test_a_column_of_1_6_means_what_the_formula_of_its_reading_gives(reading, column, meaning):
    """Whatever is made of more than this one number cannot be compared with a limit of version 1.6."""
    (item,) = specs(a=reading).readings

    assert limit_conversion.of_reading(item, column) == meaning
    assert limit_conversion.of_reading(item._replace(is_trap=True), column) is None


def test_meanings_of_several_entries_are_listed_once():
    plain, other = specs(a={'from': 'raw'}, b={'from': 'value'}), specs(a={'from': 'raw', 'unit': 'h'})

    assert limit_conversion.of_specs(5, 'RAW_VALUE', [plain, plain, other]) == [META('a'), META('a', 3600)]
    assert limit_conversion.of_specs(6, 'RAW_VALUE', [plain]) == []


@pytest.mark.parametrize(('readings', 'columns'), [
    ({'a': {'from': 'value'}}, {5: 'VALUE'}), ({'a': {'from': 'raw'}}, {5: 'RAW_VALUE'}),
    ({'a': {'from': 'raw'}, 'b': {'from': 'raw byte 0'}}, {5: 'RAW_VALUE'}),
    ({'a': {'from': 'raw'}, 'b': {'from': 'value'}}, {}), ({'a': {'from': 'worst'}}, {}), ({}, {})])
def test_the_column_of_an_attribute_is_known_where_its_entry_reads_only_one(readings, columns):
    assert limit_conversion.columns_of(specs(**readings)) == columns


@pytest.mark.parametrize('number, protocol, meaning', [
    (1025, 'ATA', None), (1024, 'ATA', META('error_log_count')), (99, 'NVMe', None), (99, 'SCSI', None),
    (0, 'NVMe', META('critical_warning')), (16, 'NVMe', META('critical_temperature_time', 60)), (17, 'NVMe', None),
    (5, 'NVMe', META('host_read', 1e9)), (2, 'NVMe', META('spare_available')),
    (0, 'SCSI', META('reallocated')), (7, 'SCSI', META('reported_uncorrect')), (14, 'SCSI', META('reported_uncorrect')),
    (13, 'SCSI', META('host_written', 1e9)), (15, 'SCSI', None), (1, 'SCSI', None)])
def test_numbers_of_1_6_that_are_no_attributes_have_a_meaning(number, protocol, meaning):
    assert limit_conversion.of_standard(number, protocol) == meaning


@pytest.mark.parametrize('text, shift, meaning, converted', [
    ('5', None, META('a'), '5'), ('10:', None, META('a'), '10:'), ('10:20', None, META('a'), '10:20'),
    ('@10:20', None, META('a'), '@10:20'), ('@0:20', None, META('a'), '@0:20'), ('~:5', None, META('a'), '5'),
    ('10:', None, META('a', -1, 100), '90'), ('5', None, META('a', -1, 100), '95:'),
    ('5', None, META('a', 3600), '18000'), ('~:-5', None, META('a'), '~:-5'), ('5', None, META('a', 0.1), '0.5'),
    ('1', None, META('a', 1 / 3), '0.333333'), ('2', -8, META('a'), '767'), ('10:', -8, META('a'), '2560:'),
    ('8', 2, META('a'), '2'), ('4:8', 2, META('a'), '1:2'), ('4:8', 0, META('a'), '4:8'),
    ('~:-5', 0, META('a', -1), '5:'), ('5', None, META('a', -1), '-5:'), ('0', None, META('a'), '0'),
    ('0.25', None, META('a'), '0.25'), ('5', None, META('a', 2.1), '10.5'), ('-5:5', None, META('a', 1), '-5:5')])
def test_a_range_of_1_6_is_converted_to_the_unit_of_its_metric(text, shift, meaning, converted):
    """Above 2 behind a shift of 8 bits is above 767 before it."""
    assert limit_conversion.converted(text, shift, meaning) == converted


@pytest.mark.parametrize('models, patterns', [
    (['ACME X1'], ['ACME X1']), (['X1'], ['(?:.*[ _])?X1']), (['X_1'], ['X_1']), (['A  B', 'A  B'], ['A B']), ([], [])])
def test_a_model_of_1_6_may_lack_its_vendor(models, patterns):
    assert limit_conversion.patterns(models) == patterns
